//! The menu of providers: what each needs, its model, and a test.

use std::collections::BTreeMap;

use egui::{RichText, Ui};

use crate::gateway::keys::Secret;
use crate::gateway::vendors::VENDORS;
use crate::ui::shell::texts::{provider as texts, trust_dialog as trust_texts};
use crate::ui::state::TrialView;
use crate::ui::state::file_texts::FileTextRequest;
use crate::ui::widgets;
use crate::ui::widgets::text_format;
use crate::ui::{Command, ViewerContext};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// The inputs that have not been applied yet.
#[derive(Clone, Debug, Default)]
pub struct ProviderChoice {
    /// The selected provider.
    chosen: Option<String>,
    /// The typed models, by provider.
    models: BTreeMap<String, String>,
    /// The typed keys, by the names of their environment variables; never shown.
    keys: BTreeMap<&'static str, String>,
}

/// The width of the button that saves a key and of the space before it, in points.
const SAVE_POINTS: f32 = 112.0;
/// Seconds after which a running test shows its progress and can be stopped.
const PROGRESS_AFTER_SECS: f64 = 0.5;

/// Returns the providers that can be chosen, each with its default model and the name of its key.
fn providers() -> impl Iterator<Item = (&'static str, Option<&'static str>, Option<&'static str>)> {
    let vendors = VENDORS.into_iter().map(|vendor| (vendor.name, Some(vendor.model), vendor.key_name));
    std::iter::once(("offline", None, None)).chain(vendors)
}

/// Returns the setting for a provider and a model: `offline`, `openai:gpt-x`.
fn spec(provider: &str, model: &str) -> String {
    if model.trim().is_empty() { provider.to_owned() } else { format!("{provider}:{}", model.trim()) }
}

/// Returns the current provider and model.
fn current(room: &RoomModel) -> (&str, &str) {
    match room.provider.split_once(" · ") {
        Some((provider, model)) => (provider, model),
        None => (&room.provider, ""),
    }
}

/// Draws the list, the fields that the selected provider needs, and the test. Returns whether a provider was applied.
pub fn provider_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    choice: &mut ProviderChoice,
    commands: &mut Vec<Command>,
) -> bool {
    let ViewerContext { room, theme, ui: state, .. } = *cx;
    state.texts.want(FileTextRequest::Providers);
    provider_override(ui, room, theme, commands);
    let (current_provider, current_model) = current(room);
    let chosen = choice.chosen.clone().unwrap_or_else(|| current_provider.to_owned());
    for (provider, _, key) in providers() {
        let missing = state.providers.statuses.iter().any(|status| status.name == provider && !status.ready);
        let note = if missing { key.map(texts::needs_key).unwrap_or_default() } else { String::new() };
        let row = egui::Button::selectable(provider == chosen, provider)
            .right_text(widgets::small(note, theme))
            .min_size(egui::vec2(ui.available_width(), 26.0));
        let row = ui.add(row);
        widgets::name(&row, texts::provider_name(provider));
        if row.clicked() {
            choice.chosen = Some(provider.to_owned());
        }
    }
    let entry = providers().find(|(provider, ..)| *provider == chosen);
    let model = entry.and_then(|(_, model, _)| model);
    let mut new_spec = if entry.is_some() { chosen.clone() } else { spec(current_provider, current_model) };
    if let Some(model) = model {
        ui.add_space(SPACE[0]);
        ui.label(widgets::small(texts::MODEL, theme));
        let default_model = if chosen == current_provider && !current_model.is_empty() { current_model } else { model };
        let draft = choice.models.entry(chosen.clone()).or_insert_with(|| default_model.to_owned());
        widgets::field(ui, draft, texts::MODEL, model);
        new_spec = spec(&chosen, draft);
    }
    let key = entry.and_then(|(.., key)| key);
    requirements_ui(ui, &chosen, key, cx);
    if let Some(name) = key {
        key_ui(ui, name, choice.keys.entry(name).or_default(), commands);
    }
    ui.add_space(SPACE[0]);
    let mut is_applied = false;
    ui.horizontal(|ui| {
        let is_testing = state.providers.trial.as_ref().is_some_and(|trial| trial.outcome.is_none());
        if widgets::primary(ui, true, texts::USE, theme).clicked() {
            commands.push(Command::SetProvider(new_spec.clone()));
            choice.chosen = None;
            is_applied = true;
        }
        let test = ui.add_enabled(!is_testing, egui::Button::new(texts::TEST));
        if test.on_hover_text(texts::TEST_HINT).clicked() {
            commands.push(Command::TestProvider(new_spec));
        }
    });
    if let Some(trial) = &state.providers.trial {
        trial_ui(ui, trial, state.time.now_secs, theme, commands);
    }
    is_applied
}

/// Says that the command line overrides the provider for all agents, with a button that ends this.
fn provider_override(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    let Some(provider_override) = &room.settings.provider_override else {
        return restricted(ui, room, theme, commands);
    };
    widgets::in_card(ui, theme, |ui| {
        ui.add(egui::Label::new(widgets::secondary_text(texts::provider_override(provider_override), theme)).wrap());
        if ui.button(texts::USE_SETTINGS).clicked() {
            commands.push(Command::EndProviderOverride);
        }
    });
}

/// Says that the offline model answers in a workspace that the person does not trust, with a button that shows what it
/// wants.
fn restricted(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    if !room.is_restricted {
        return;
    }
    widgets::in_card(ui, theme, |ui| {
        ui.add(egui::Label::new(widgets::secondary_text(trust_texts::PROVIDER_OF_RESTRICTED, theme)).wrap());
        if ui.button(trust_texts::SHOW_WHAT_IT_WANTS).clicked() {
            commands.push(Command::ShowTrust(None));
        }
    });
}

/// Draws what is missing before a provider can be used, and its address if known.
fn requirements_ui(ui: &mut Ui, provider: &str, key: Option<&str>, cx: &ViewerContext<'_>) {
    let ViewerContext { theme, ui: state, .. } = *cx;
    let status = state.providers.statuses.iter().find(|status| status.name == provider);
    let about = match (status, key) {
        (Some(status), Some(key)) if !status.ready && status.detail.starts_with("no key") => texts::needs_a_key(key),
        (Some(status), _) if !status.ready => texts::to_do(&status.detail, &status.remedy),
        (Some(status), Some(_)) => texts::sends_what_agents_read(&status.detail, provider),
        (None, Some(key)) => texts::needs_key_in_environment(key, provider),
        _ if provider == "offline" => texts::IS_OFFLINE.to_owned(),
        _ if provider == "scripted" => texts::IS_SCRIPTED.to_owned(),
        _ => texts::IS_LOCAL.to_owned(),
    };
    let colour = if status.is_some_and(|status| !status.ready) { theme.warn } else { theme.text_soft };
    let text = text_format::capitalised(&about);
    ui.add(egui::Label::new(RichText::new(text).size(TYPE[0]).color(colour)).wrap());
}

/// Draws the field for a key. The key is saved among the person's own files and never shown again.
fn key_ui(ui: &mut Ui, name: &'static str, draft: &mut String, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let width = (ui.available_width() - SAVE_POINTS).max(80.0);
        let field = widgets::text_line(draft).password(true).hint_text(name).desired_width(width);
        let field = ui.add(field.margin(egui::Margin::symmetric(8, 4)));
        widgets::name(&field, texts::key_name(name));
        let is_typed = !draft.trim().is_empty();
        let save = ui.add_enabled(is_typed, egui::Button::new(texts::SAVE_KEY)).on_hover_text(texts::SAVE_KEY_HINT);
        if is_typed && (save.clicked() || widgets::entered(ui, &field)) {
            commands.push(Command::KeepKey(name, Secret::new(std::mem::take(draft).trim())));
        }
    });
}

/// Draws a test: that it is running, or its outcome.
pub(super) fn trial_ui(ui: &mut Ui, trial: &TrialView, now_secs: f64, theme: &Theme, commands: &mut Vec<Command>) {
    let waited = now_secs - trial.since_secs;
    match &trial.outcome {
        None if waited < PROGRESS_AFTER_SECS => {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(PROGRESS_AFTER_SECS));
        }
        None => {
            ui.horizontal(|ui| {
                ui.add(egui::Spinner::new().size(SPACE[2]).color(theme.accent));
                ui.label(widgets::small(texts::asking_for(&trial.of, &text_format::duration(waited)), theme));
                if ui.small_button(texts::STOP_TEST).clicked() {
                    commands.push(Command::StopTrial);
                }
            });
        }
        Some(outcome) => {
            let colour = if outcome.good { theme.good } else { theme.bad };
            ui.add(egui::Label::new(RichText::new(&outcome.text).size(TYPE[0]).color(colour)).wrap());
            if !outcome.remedy.is_empty() {
                ui.add(egui::Label::new(widgets::small(&outcome.remedy, theme)).wrap());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::ProviderStatus;
    use crate::ui::UiState;
    use crate::ui::state::TrialOutcome;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn choice(room: RoomModel, state: UiState) -> Harness<'static, PaneHarness> {
        let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, panes| {
            widgets::apply_style(ui.style_mut(), cx.theme);
            let mut commands = Vec::new();
            provider_ui(ui, cx, &mut panes.provider, &mut commands);
            commands
        });
        window.run_steps(3);
        window
    }

    fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn a_key_is_saved_and_not_shown_again() {
        let mut window = choice(sample_room(), UiState::default());
        click(&mut window, "Provider gemini");
        window.get_by_label("Key for GEMINI_API_KEY").focus();
        window.run_steps(1);
        window.get_by_label("Key for GEMINI_API_KEY").type_text("some-key-123");
        window.run_steps(2);
        click(&mut window, "Save key");
        let expected = Command::KeepKey("GEMINI_API_KEY", Secret::new("some-key-123"));
        assert_eq!(window.state().commands, [expected]);
        assert!(!format!("{:?}", window.state().parts.provider).contains("some-key"));
        assert!(!format!("{:?}", window.state().commands).contains("some-key"));
    }

    #[test]
    fn an_override_is_shown_and_can_be_ended() {
        let mut room = sample_room();
        assert!(choice(room.clone(), UiState::default()).query_by_label("Use settings").is_none());
        room.settings.provider_override = Some("offline".into());
        let mut window = choice(room, UiState::default());
        click(&mut window, "Use settings");
        assert_eq!(window.state().commands, [Command::EndProviderOverride]);
    }

    #[test]
    fn a_restricted_workspace_says_why_the_offline_model_answers_and_has_nothing_to_end() {
        let room = RoomModel { is_restricted: true, ..sample_room() };
        let mut window = choice(room.clone(), UiState::default());
        assert!(window.query_by_label("Use settings").is_none());
        assert!(window.query_by_label_contains("because this workspace is restricted").is_some());
        click(&mut window, "Show what it wants");
        assert_eq!(window.state().commands, [Command::ShowTrust(None)]);
        let mut named = room;
        named.settings.provider_override = Some("ollama:x".into());
        let mut window = choice(named, UiState::default());
        click(&mut window, "Use settings");
        assert_eq!(window.state().commands, [Command::EndProviderOverride]);
    }

    #[test]
    fn the_current_model_is_shown() {
        let room = RoomModel { provider: "ollama · llama3:8b".into(), ..sample_room() };
        let mut window = choice(room, UiState::default());
        click(&mut window, "Test");
        assert_eq!(window.state().commands, [Command::TestProvider("ollama:llama3:8b".into())]);
        click(&mut window, "Provider offline");
        click(&mut window, "Use");
        assert_eq!(window.state().commands.last(), Some(&Command::SetProvider("offline".into())));
    }

    #[test]
    fn a_missing_key_is_named() {
        let missing = ProviderStatus {
            name: "openai".into(),
            ready: false,
            detail: "no key; would be asked at https://api.openai.com/v1/".into(),
            remedy: "set OPENAI_API_KEY in the environment".into(),
        };
        let mut window = {
            let mut state = UiState::default();
            state.providers.statuses = vec![missing];
            choice(sample_room(), state)
        };
        click(&mut window, "Provider openai");
        assert!(window.query_by_label("Needs an API key. Paste it here, or set OPENAI_API_KEY.").is_some());
    }

    #[test]
    fn a_test_shows_progress_after_half_a_second_can_be_stopped_and_shows_its_outcome() {
        let trial = TrialView { of: "ollama · x".into(), since_secs: 10.0, outcome: None };
        let mut state = UiState::default();
        (state.providers.trial, state.time.now_secs) = (Some(trial), 10.2);
        let mut window = choice(sample_room(), state);
        assert!(window.query_by_label("Stop test").is_none());
        window.state_mut().state.time.now_secs = 12.0;
        window.run_steps(2);
        assert!(window.query_by_label("Waiting for ollama · x, 2 s so far").is_some());
        click(&mut window, "Stop test");
        assert_eq!(window.state().commands, [Command::StopTrial]);
        let outcome =
            TrialOutcome { good: false, text: "It cannot be reached.".into(), remedy: "Start the server.".into() };
        window.state_mut().state.providers.trial.as_mut().unwrap().outcome = Some(outcome);
        window.run_steps(2);
        for shown in ["It cannot be reached.", "Start the server."] {
            assert!(window.query_by_label(shown).is_some(), "{shown}");
        }
    }
}
