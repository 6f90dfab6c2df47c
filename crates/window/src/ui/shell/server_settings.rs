//! The list of MCP servers in the settings: the status of each, its tools and other offers, whether it is allowed, and
//! a test.

use egui::{CollapsingHeader, Label, RichText, Ui};

use crate::gateway::mcp::McpOffer;
use crate::gateway::peers::Consent;
use crate::gateway::{McpServerStatus, server_status_text};
use crate::ui::shell::texts::settings as texts;
use crate::ui::state::file_texts::FileTextRequest;
use crate::ui::widgets;
use crate::ui::{Command, ViewerContext};
use crate::view::model::ServerView;
use crate::view::theme::{SPACE, TYPE, Theme};

/// Draws the list.
pub(super) fn servers_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, ui: state, .. } = *cx;
    widgets::group(ui, texts::MCP_SERVERS, texts::MCP_SERVERS_ABOUT, theme);
    if room.servers.is_empty() {
        ui.label(widgets::secondary_text(texts::NO_MCP_SERVERS, theme));
        return;
    }
    state.texts.want(FileTextRequest::ServerConsents);
    for server in room.servers.iter() {
        let consent = state.server_consents.get(&server.written.key).copied();
        widgets::in_card(ui, theme, |ui| server_ui(ui, server, consent, theme, commands));
        ui.add_space(SPACE[0]);
    }
}

fn server_ui(
    ui: &mut Ui,
    ServerView { written, standing }: &ServerView,
    consent: Option<Consent>,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let (server, name, label) = (&written.server, &written.server.name, written.server.label());
    let left = |ui: &mut Ui| {
        ui.label(RichText::new(name).strong());
        widgets::badge(ui, server_status_text::status(standing), colour(standing, theme), theme);
    };
    widgets::line(ui, &written.key, left, |ui| {
        if consent == Some(Consent::Given) {
            let forbid = ui.button(texts::FORBID);
            widgets::name(&forbid, texts::forbid_server(&label));
            if forbid.on_hover_text(texts::FORBID_HINT).clicked() {
                commands.push(Command::ForbidServer(Box::new(server.clone())));
            }
        } else if consent.is_some() {
            let allow = ui.button(texts::ALLOW);
            widgets::name(&allow, texts::allow_server(&label));
            if allow.on_hover_text(texts::ALLOW_HINT).clicked() {
                commands.push(Command::AllowServer(Box::new(server.clone())));
            }
        }
        let is_connecting = *standing == McpServerStatus::Connecting;
        let test = ui.add_enabled(consent == Some(Consent::Given) && !is_connecting, egui::Button::new(texts::TEST));
        widgets::name(&test, texts::test_server(&label));
        if test.on_hover_text(texts::TEST_HINT).on_disabled_hover_text(texts::ALLOW_FIRST).clicked() {
            commands.push(Command::TestServer(written.key.clone()));
        }
    });
    ui.add(Label::new(RichText::new(server.details()).monospace().size(TYPE[0])).wrap());
    let consent_text = consent.map(server_status_text::consent);
    let place = texts::consent_and_place(consent_text, &server_status_text::place(written));
    let place = widgets::text_format::capitalised(&place);
    ui.add(Label::new(widgets::small(place, theme)).wrap());
    match standing {
        McpServerStatus::Failed(failure) => {
            let text = widgets::text_format::capitalised(&format!("{}.", failure.sentence()));
            ui.add(Label::new(RichText::new(text).size(TYPE[0]).color(theme.bad)).wrap());
        }
        McpServerStatus::Ready(offer) => offer_ui(ui, &written.key, offer, theme),
        McpServerStatus::Off | McpServerStatus::Connecting => {}
    }
}

/// Draws the names of the things that a server offers; details are in tooltips.
fn offer_ui(ui: &mut Ui, key: &str, offer: &McpOffer, theme: &Theme) {
    let title = widgets::small(server_status_text::offer(offer), theme);
    CollapsingHeader::new(title).id_salt(("server", key)).show(ui, |ui| {
        for tool in &offer.tools {
            let name = texts::tool_and_hints(&tool.name, server_status_text::hints(tool.hints));
            let line = ui.add(Label::new(widgets::small(name, theme)).wrap());
            if !tool.description.is_empty() {
                line.on_hover_text(&tool.description);
            }
        }
        let kinds = [
            (texts::RESOURCE, &offer.resources),
            (texts::RESOURCE_TEMPLATE, &offer.templates),
            (texts::PROMPT, &offer.prompts),
        ];
        for (kind, listed) in kinds {
            for item in listed {
                ui.add(Label::new(widgets::small(texts::kind_and_name(kind, &item.name), theme)).wrap());
            }
        }
        for left_out in &offer.left_out {
            ui.add(Label::new(RichText::new(texts::left_out(left_out)).size(TYPE[0]).color(theme.warn)).wrap());
        }
    });
}

fn colour(standing: &McpServerStatus, theme: &Theme) -> egui::Color32 {
    match standing {
        McpServerStatus::Off => theme.text_soft,
        McpServerStatus::Connecting => theme.warn,
        McpServerStatus::Ready(_) => theme.good,
        McpServerStatus::Failed(_) => theme.bad,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;
    use serde_json::json;

    use super::*;
    use crate::agent::mcp_server;
    use crate::gateway::mcp::configured_servers::ConfiguredServer;
    use crate::gateway::mcp::{McpFailure, McpFault, McpHints, McpTool};
    use crate::ui::UiState;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};

    fn server(name: &str, standing: McpServerStatus) -> ServerView {
        let defined = json!({ name: { "command": format!("{name}-server"), "args": ["--all"] } });
        let server = mcp_server::read(&defined).defined().next().expect("a server is defined");
        let written = ConfiguredServer { key: server.key(), server, place: "settings.yaml".into() };
        ServerView { written, standing }
    }

    fn ready() -> ServerView {
        let tool = McpTool {
            name: "status".into(),
            description: "Says how it is.".into(),
            parameters: json!({ "type": "object" }),
            hints: McpHints { read_only: true, destructive: false },
        };
        let offer = McpOffer { server: "git 1.0".into(), tools: vec![tool], ..McpOffer::default() };
        server("git", McpServerStatus::Ready(Arc::new(offer)))
    }

    fn list(servers: Vec<ServerView>, consents: &[Option<Consent>]) -> Harness<'static, PaneHarness> {
        let mut state = UiState::default();
        for (server, consent) in servers.iter().zip(consents) {
            consent.map(|consent| state.server_consents.insert(server.written.key.clone(), consent));
        }
        let room = crate::view::model::RoomModel { servers: Arc::new(servers), ..sample_room() };
        let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, _| {
            let mut commands = Vec::new();
            servers_ui(ui, cx, &mut commands);
            commands
        });
        window.run_steps(3);
        window
    }

    #[test]
    fn a_ready_server_shows_its_tools_and_can_be_tested_or_forbidden() {
        let mut window = list(vec![ready()], &[Some(Consent::Given)]);
        for label in ["git", "Ready", "Allowed; settings.yaml"] {
            assert!(window.query_by_label(label).is_some(), "{label}");
        }
        assert!(window.query_by_label_contains("git-server --all").is_some());
        assert!(window.query_by_label("Allow git").is_none());
        window.get_by_label("git 1.0, 1 tool").click();
        window.run_steps(12);
        assert!(window.query_by_label("status (read-only, according to the server)").is_some());
        window.get_by_label("Test git").click();
        window.run_steps(2);
        window.get_by_label("Forbid git").click();
        window.run_steps(2);
        let ConfiguredServer { key, server, .. } = ready().written;
        assert_eq!(window.state().commands, [Command::TestServer(key), Command::ForbidServer(Box::new(server))]);
    }

    #[test]
    fn servers_with_the_same_name_are_distinguished_by_owner() {
        let mut own = server("git", McpServerStatus::Off);
        own.written.server.of = Some("ada".into());
        own.written.key = "git#ada".into();
        let all = vec![server("git", McpServerStatus::Off), own.clone()];
        let mut window = list(all, &[Some(Consent::Given), Some(Consent::None)]);
        assert!(window.query_by_label("Forbid git").is_some());
        window.get_by_label("Allow ada/git").click();
        window.run_steps(2);
        assert_eq!(window.state().commands, [Command::AllowServer(Box::new(own.written.server))]);
    }

    #[test]
    fn a_failed_server_shows_why_and_can_be_allowed() {
        let failure = McpFailure::new(McpFault::NotAllowed, "git-server waits for you to allow it", "allow it");
        let waiting = server("git", McpServerStatus::Failed(failure));
        let mut window = list(vec![waiting.clone()], &[Some(Consent::OfAnother)]);
        for label in
            ["Failed", "Git-server waits for you to allow it; allow it.", "Changed since you allowed it; settings.yaml"]
        {
            assert!(window.query_by_label(label).is_some(), "{label}");
        }
        window.get_by_label("Test git").click();
        window.get_by_label("Allow git").click();
        window.run_steps(2);
        let server = Box::new(waiting.written.server);
        assert_eq!(
            window.state().commands,
            [Command::AllowServer(server)],
            "a server that is not allowed cannot be tested"
        );
    }

    #[test]
    fn no_buttons_are_shown_before_the_consent_is_known() {
        let window = list(vec![server("git", McpServerStatus::Off)], &[None]);
        assert!(window.query_by_label("Allow git").is_none() && window.query_by_label("Forbid git").is_none());
        let window = list(Vec::new(), &[]);
        assert!(window.query_by_label("No MCP servers in this workspace.").is_some());
    }
}
