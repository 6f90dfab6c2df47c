//! Commands about settings: which provider answers, the workspace's settings, and testing an MCP server.

use serde_json::json;

use super::open_room::OpenRoom;
use crate::base::Id;
use crate::gateway::settings::parse_spec;
use crate::gateway::{McpTry, ProviderOverride};
use crate::schedule::{Input, InputQueue};
use crate::ui::UiState;
use crate::ui::state::NoticeTarget;
use crate::ui::widgets::text_format::sentence;
use crate::view::model::RoomModel;
use crate::workspace::SettingsEdit;

/// Sets the provider: for everyone in this run if a replacement is active, otherwise as the workspace's default.
pub(super) fn choose_provider(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, spec: &str) {
    let (provider, wanted) = match parse_spec(spec) {
        Ok(parsed) => parsed,
        Err(problem) => {
            state.notify_at(format!("{} {}", sentence(&problem.what), sentence(&problem.remedy)), false, None);
            return;
        }
    };
    let who = named(&provider, wanted.as_deref().unwrap_or(&provider));
    // A workspace that is not trusted names no provider, so only the person's word for this run counts.
    if model.settings.provider_override.is_some() || model.is_restricted {
        // It also applies to scenes opened later in this run.
        room.options.provider = Some(spec.to_owned());
        push(room, ProviderOverride { provider: Some(spec.to_owned()) });
        state.notify(format!("{who} answers for everyone until the workshop is closed."), true);
        return;
    }
    let mut edit = SettingsEdit::set("gateway", "provider", json!(provider));
    match wanted {
        Some(wanted) => drop(edit.keys.insert("model".to_owned(), json!(wanted))),
        None => edit.defaults.push("model".to_owned()),
    }
    push(room, edit);
    report_setting(model, state, &["gateway.provider", "gateway.model"], format!("{who} now answers."));
}

/// Ends the override: settings and agents choose the provider again.
pub(super) fn end_provider_override(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState) {
    room.options.provider = None;
    push(room, ProviderOverride { provider: None });
    let text = match model.is_restricted {
        true => "The offline model answers again, because this workspace is restricted and names no model.",
        false => "Answers follow settings and agent files again.",
    };
    state.notify(text, true);
}

/// Changes the workspace's settings.
pub(super) fn set_settings(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, edit: SettingsEdit) {
    let shown = |value: &serde_json::Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
    let set = edit.keys.iter().map(|(key, value)| (key, format!("is {} now", shown(value))));
    let reset = edit.defaults.iter().map(|key| (key, "is back to its default".to_owned()));
    let changes: Vec<(String, String)> =
        set.chain(reset).map(|(key, how)| (format!("{}.{key}", edit.section), how)).collect();
    push(room, edit);
    for (setting, how) in changes {
        report_setting(model, state, &[&setting], format!("{setting} {how}."));
    }
}

/// Connects to an MCP server to test it.
pub(super) fn test_server(room: &mut OpenRoom, key: Id) {
    push(room, McpTry { key });
}

/// Reports that a setting was saved, or that the scene overrides it.
fn report_setting(model: &RoomModel, state: &mut UiState, settings: &[&str], text: String) {
    let of_scene = |setting: &&&str| {
        let bare = setting.rsplit('.').next().unwrap_or(setting);
        model.settings.of_scene.iter().any(|made| made == **setting || made == bare)
    };
    if let Some(setting) = settings.iter().find(|setting| of_scene(setting)) {
        let scene = format!("scenes/{}.yaml", model.scene);
        let text = format!("Saved in settings.yaml, but {scene} sets {setting} itself and overrides it.");
        state.notify_at(text, false, Some(NoticeTarget::File(scene, None)));
    } else {
        state.notify_at(text, true, Some(NoticeTarget::File("settings.yaml".to_owned(), None)));
    }
}

fn push<T: Input>(room: &mut OpenRoom, input: T) {
    room.is_active = true;
    if let Some(world) = room.world() {
        world.resource_mut::<InputQueue<T>>().push(input);
    }
}

/// The display name of a provider and its model.
pub(super) fn named(provider: &str, model: &str) -> String {
    if provider == model { provider.to_owned() } else { format!("{provider} · {model}") }
}
