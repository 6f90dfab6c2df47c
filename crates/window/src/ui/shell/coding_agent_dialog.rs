//! The dialog that adds one of the person's own coding agents: which are available, how each is started, whether it is
//! allowed, a test, and its name in the room.

use egui::{Label, RichText, Ui};

use super::provider::trial_ui;
use crate::gateway::acp::{AvailableAgent, PROVIDER};
use crate::gateway::peers::Consent;
use crate::gateway::server_status_text;
use crate::ui::shell::texts::coding_agent_dialog as texts;
use crate::ui::state::file_texts::FileTextRequest;
use crate::ui::state::{CodingAgents, DropPlace};
use crate::ui::widgets::{self, dialog, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::theme::{SPACE, TYPE, Theme};

/// The current choices and inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct CodingAgentChoice {
    /// The name after `acp:` of the one selected in the list.
    chosen: Option<String>,
    /// The command line typed instead.
    line: String,
    /// The name in the room; if empty, the coding agent's usual name.
    name: String,
}

impl CodingAgentChoice {
    /// Returns the selected coding agent, once its status is known.
    fn of<'a>(&self, agents: &'a CodingAgents) -> Option<&'a AvailableAgent> {
        match &self.chosen {
            Some(chosen) => agents.listed.iter().find(|agent| agent.name == *chosen),
            None => match &agents.written {
                Some((line, Ok(agent))) if *line == self.line => Some(agent),
                _ => None,
            },
        }
    }
}

/// Draws the dialog. Returns its result once it is answered; other commands are added to `commands`.
pub(super) fn add_coding_agent(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    own: &mut CodingAgentChoice,
    commands: &mut Vec<Command>,
) -> Option<Vec<Command>> {
    let ViewerContext { theme, ui: state, .. } = *cx;
    state.texts.want(FileTextRequest::CodingAgents(own.line.clone()));
    dialog::scrolled(ui, |ui| {
        ui.add(Label::new(widgets::secondary_text(texts::ABOUT, theme)).wrap());
        ui.add_space(SPACE[1]);
        choose(ui, &state.coding_agents, own, theme);
        if let Some(agent) = own.of(&state.coding_agents) {
            ui.add_space(SPACE[1]);
            widgets::in_card(ui, theme, |ui| chosen_ui(ui, agent, cx, commands));
        }
    });
    let agent = own.of(&state.coding_agents);
    ui.add_space(SPACE[1]);
    ui.label(widgets::small(texts::NAME_IN_THE_ROOM, theme));
    let default_name = agent.map_or("", |agent| agent.title.as_str());
    let field = widgets::field(ui, &mut own.name, texts::NAME_IN_THE_ROOM, default_name);
    let name = match own.name.trim() {
        "" => default_name,
        name => name,
    };
    let add = agent.filter(|agent| agent.is_installed && agent.consent == Consent::Given && !name.is_empty());
    let is_entered = widgets::entered(ui, &field);
    let mut answer = None;
    ui.add_space(SPACE[2]);
    ui.horizontal_wrapped(|ui| {
        let button = widgets::primary(ui, add.is_some(), texts::ADD_TO_THE_ROOM, theme);
        let is_confirmed = button.on_disabled_hover_text(texts::CHOOSE_AND_ALLOW_FIRST).clicked() || is_entered;
        if let Some(agent) = add.filter(|_| is_confirmed) {
            let place = DropPlace { position: state.view.camera.middle, exactly: false };
            let model = format!("{PROVIDER}:{}", agent.name);
            answer = Some(vec![Command::AddCodingAgent { name: name.to_owned(), model, place }]);
        }
        if ui.button(texts::CANCEL).clicked() {
            answer = Some(Vec::new());
        }
    });
    answer
}

/// Draws the list and the field for a command line.
fn choose(ui: &mut Ui, agents: &CodingAgents, own: &mut CodingAgentChoice, theme: &Theme) {
    for agent in &agents.listed {
        let note = if agent.is_installed { server_status_text::consent(agent.consent) } else { texts::NOT_INSTALLED };
        let row = egui::Button::selectable(own.chosen.as_ref() == Some(&agent.name), &agent.title)
            .right_text(widgets::small(note, theme))
            .min_size(egui::vec2(ui.available_width(), 26.0));
        let row = ui.add(row);
        widgets::name(&row, &agent.title);
        if row.clicked() {
            own.chosen = Some(agent.name.clone());
        }
    }
    for problem in &agents.problems {
        let text = text_format::sentence(&texts::problem(&problem.place, &problem.what));
        ui.add(Label::new(RichText::new(text).size(TYPE[0]).color(theme.warn)).wrap());
    }
    ui.add_space(SPACE[0]);
    ui.label(widgets::small(texts::OR_A_COMMAND_LINE, theme));
    if widgets::field(ui, &mut own.line, texts::COMMAND_LINE, texts::COMMAND_LINE_HINT).changed() {
        own.chosen = None;
    }
    if let (None, Some((line, Err(problem)))) = (&own.chosen, &agents.written)
        && *line == own.line
    {
        let (what, remedy) = (text_format::sentence(&problem.what), text_format::sentence(&problem.remedy));
        let text = texts::two_sentences(&what, &remedy);
        ui.add(Label::new(RichText::new(text).size(TYPE[0]).color(theme.warn)).wrap());
    }
}

/// Draws the status of the selected coding agent and the buttons for it.
fn chosen_ui(ui: &mut Ui, agent: &AvailableAgent, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { theme, ui: state, .. } = *cx;
    ui.add(Label::new(RichText::new(agent.agent.details()).monospace().size(TYPE[0])).wrap());
    if let Some(known) = agent.known {
        let what = match agent.is_installed {
            true => texts::log_in_once(known.login),
            false => texts::to_install(known.install),
        };
        ui.add(Label::new(widgets::small(what, theme)).wrap());
        let own = known.own_places().iter().map(|place| place.display().to_string()).collect::<Vec<_>>();
        ui.add(Label::new(widgets::small(texts::own_files(&own), theme)).wrap());
    }
    if !agent.is_installed {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let is_allowed = agent.consent == Consent::Given;
        if is_allowed {
            if ui.button(texts::FORBID).on_hover_text(texts::FORBID_HINT).clicked() {
                commands.push(Command::ForbidServer(Box::new(agent.agent.clone())));
            }
        } else {
            if ui.button(texts::ALLOW).on_hover_text(texts::ALLOW_HINT).clicked() {
                commands.push(Command::AllowServer(Box::new(agent.agent.clone())));
            }
        }
        let is_testing = state.providers.trial.as_ref().is_some_and(|trial| trial.outcome.is_none());
        let test = ui.add_enabled(is_allowed && !is_testing, egui::Button::new(texts::TEST));
        if test.on_hover_text(texts::TEST_HINT).on_disabled_hover_text(texts::ALLOW_FIRST).clicked() {
            commands.push(Command::TestProvider(format!("{PROVIDER}:{}", agent.name)));
        }
        ui.label(widgets::small(text_format::capitalised(server_status_text::consent(agent.consent)), theme));
    });
    // The trial has the name that was requested if it could not be resolved.
    let names = [format!("{PROVIDER} · {}", agent.name), format!("{PROVIDER}:{}", agent.name)];
    if let Some(trial) = state.providers.trial.as_ref().filter(|trial| names.contains(&trial.of)) {
        trial_ui(ui, trial, state.time.now_secs, theme, commands);
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::gateway::Environment;
    use crate::gateway::acp::AcpSettings;
    use crate::ui::UiState;
    use crate::ui::shell::dialogs::dialogs_ui;
    use crate::ui::state::Dialog;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};

    fn agent(name: &str, is_installed: bool, consent: Consent) -> AvailableAgent {
        let agent = AvailableAgent::of(name, &AcpSettings::default(), &Environment::default()).expect("it can be read");
        AvailableAgent { is_installed, consent, ..agent }
    }

    fn open_dialog(listed: Vec<AvailableAgent>) -> Harness<'static, PaneHarness> {
        let mut state = UiState::default();
        state.front.ask(Dialog::AddCodingAgent);
        state.coding_agents.listed = listed;
        let mut window =
            pane_of(PaneHarness::new(sample_room(), state), |ui, cx, panes| dialogs_ui(ui, cx, &mut panes.dialogs));
        window.run_steps(3);
        window
    }

    fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn a_coding_agent_must_be_allowed_before_it_is_added() {
        let mut window = open_dialog(vec![agent("claude", true, Consent::None)]);
        click(&mut window, "Add to the room");
        click(&mut window, "Claude Code");
        for label in ["Test", "Add to the room"] {
            click(&mut window, label);
        }
        assert!(window.state().commands.is_empty(), "{:?}", window.state().commands);
        assert!(window.query_by_label_contains("claude-agent-acp").is_some(), "the command line is shown");
        click(&mut window, "Allow");
        let claude = agent("claude", true, Consent::None).agent;
        assert_eq!(window.state().commands, [Command::AllowServer(Box::new(claude))]);
    }

    #[test]
    fn an_allowed_coding_agent_can_be_tested_named_and_added() {
        let mut window = open_dialog(vec![agent("claude", true, Consent::Given)]);
        click(&mut window, "Claude Code");
        click(&mut window, "Test");
        window.state_mut().parts.dialogs.coding_agent.name = "Claudia".into();
        click(&mut window, "Add to the room");
        let commands = &window.state().commands;
        assert_eq!(commands[0], Command::TestProvider("acp:claude".into()));
        let [_, Command::AddCodingAgent { name, model, .. }] = &commands[..] else { panic!("{commands:?}") };
        assert_eq!((name.as_str(), model.as_str()), ("Claudia", "acp:claude"));
        assert_eq!(window.state().state.front.dialog(), None);
    }

    #[test]
    fn a_missing_coding_agent_and_an_invalid_command_line_show_what_to_do() {
        let mut window = open_dialog(vec![agent("claude", false, Consent::None)]);
        click(&mut window, "Claude Code");
        assert!(window.query_by_label_contains("npm install -g @agentclientprotocol/claude-agent-acp").is_some());
        assert!(window.query_by_label("Allow").is_none());
        let problem = AvailableAgent::of("clade", &AcpSettings::default(), &Environment::default());
        window.state_mut().state.coding_agents.written = Some(("clade".into(), problem));
        let own = &mut window.state_mut().parts.dialogs.coding_agent;
        (own.chosen, own.line) = (None, "clade".into());
        window.run_steps(3);
        assert!(window.query_by_label_contains("Did you mean acp:claude?").is_some());
    }
}
