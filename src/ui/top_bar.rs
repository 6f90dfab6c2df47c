//! The bar above the room: which scene, whether and how fast time passes, what goes on, who answers.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align, Layout, PopupCloseBehavior, RichText, Ui};

use super::command::RoomAct;
use super::dialogs::dialogs_ui;
use super::icons::Icon;
use super::state::Dialog;
use super::{Command, UiState, kit, words};
use crate::gateway::vendor::VENDORS;
use crate::schedule::Speed;
use crate::simulation::ConversationCommand;
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// The speeds on the bar, slow to fast.
pub const SPEEDS: [Speed; 4] = [Speed::Times(1), Speed::Times(4), Speed::Times(16), Speed::Max];

/// The draft that holds the provider chosen in the menu.
const PROVIDER: &str = "provider";

/// Draws the bar, and whatever question is open.
pub fn top_bar_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    kit::dress(ui.style_mut(), theme);
    let mut commands = Vec::new();
    ui.horizontal(|ui| {
        scene_menu(ui, room, theme, state, &mut commands);
        ui.add_space(SPACE[1]);
        run_bar(ui, room, theme, &mut commands);
        ui.add_space(SPACE[1]);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            toggles(ui, room, theme, state, &mut commands);
            ui.add_space(SPACE[1]);
            provider_menu(ui, room, theme, state, &mut commands);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| status(ui, room, theme));
        });
    });
    commands.extend(dialogs_ui(ui, room, theme, state));
    commands
}

/// Right to left: the sidebar, the keys, the theme, the master switch for talk.
fn toggles(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = SPACE[0];
    state.sidebar ^= kit::icon_button(ui, Icon::Chat, "Conversations", state.sidebar, theme).clicked();
    state.help ^= kit::icon_button(ui, Icon::Question, "Keys", state.help, theme).clicked();
    let (icon, label) = if state.dark { (Icon::Sun, "Light theme") } else { (Icon::Moon, "Dark theme") };
    state.dark ^= kit::icon_button(ui, icon, label, false, theme).clicked();
    ui.add_space(SPACE[1]);
    let about = "Whether agents may talk to each other. Off ends all conversations; tasks go on.";
    if kit::switch(ui, room.talk_on, "Talk", theme).on_hover_text(about).clicked() {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
        commands.push(Command::Act(act, None));
    }
}

fn scene_menu(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    let shown = if room.scene.is_empty() { "No scene".to_owned() } else { room.scene.clone() };
    let button = ui.menu_button(RichText::new(format!("{shown}    ")).size(TYPE[2]), |ui| {
        kit::dress(ui.style_mut(), theme);
        ui.set_min_width(240.0);
        ui.label(kit::small(format!("Workspace {}", room.workspace), theme));
        ui.separator();
        egui::ScrollArea::vertical().max_height(280.0).show(ui, |ui| {
            for scene in &room.scenes {
                let open = *scene == room.scene;
                let row = ui.add(egui::Button::selectable(open, scene.as_str()).min_size(egui::vec2(220.0, 28.0)));
                kit::name(&row, format!("Open scene {scene}"));
                if row.clicked() && !open {
                    commands.push(Command::OpenScene(scene.clone()));
                    ui.close();
                }
            }
        });
        ui.separator();
        for (label, dialog) in [
            ("New scene…", Dialog::NewScene),
            ("Save scene as…", Dialog::SaveSceneAs),
            ("Begin scene again…", Dialog::ResetScene),
        ] {
            if ui.add(egui::Button::new(label).frame(false).min_size(egui::vec2(220.0, 28.0))).clicked() {
                state.dialog = Some(dialog);
                ui.close();
            }
        }
    });
    kit::caret(ui, &button.response, theme);
    kit::name(&button.response, "Scene menu");
}

fn run_bar(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    let (icon, label) = if room.paused { (Icon::Play, "Continue") } else { (Icon::Pause, "Pause") };
    if kit::icon_button(ui, icon, label, room.paused, theme).clicked() {
        commands.push(Command::SetPaused(!room.paused));
    }
    let choices: Vec<(String, String)> =
        SPEEDS.into_iter().map(|speed| (words::speed(speed), format!("Speed {}", words::speed(speed)))).collect();
    let chosen = SPEEDS.iter().position(|speed| Some(*speed) == room.speed);
    if let Some(index) = kit::segments(ui, &choices, chosen, theme) {
        commands.push(Command::SetSpeed(SPEEDS[index]));
    }
}

fn status(ui: &mut Ui, room: &RoomModel, theme: &Theme) {
    let (waiting, under_way) = room.questions;
    let text = ui.add(egui::Label::new(kit::soft(words::status(room), theme)).truncate());
    let calls = words::tally(&room.spent);
    text.on_hover_text(format!("{calls} in this run\n{under_way} questions under way, {waiting} waiting"));
    if let Some(cap) = &room.cap_reached {
        ui.label(RichText::new("Cap reached").color(theme.warn)).on_hover_text(cap);
    }
}

/// The providers that a person can choose, and the model each is asked unless another is named.
fn providers() -> impl Iterator<Item = (&'static str, Option<&'static str>, Option<&'static str>)> {
    let vendors = VENDORS.into_iter().map(|vendor| (vendor.name, Some(vendor.model), vendor.key_name));
    std::iter::once(("offline", None, None)).chain(vendors)
}

/// What names a provider and a model: `offline`, `openai:gpt-x`.
fn spec(provider: &str, model: &str) -> String {
    if model.trim().is_empty() { provider.to_owned() } else { format!("{provider}:{}", model.trim()) }
}

fn provider_menu(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    // Choosing a provider must not close the menu: its model and the buttons stand below.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let menu = MenuButton::new(format!("{}    ", room.provider)).config(config);
    let (button, _) = menu.ui(ui, |ui| {
        kit::dress(ui.style_mut(), theme);
        ui.set_width(280.0);
        ui.label(kit::small("Who answers, unless an agent's file says otherwise", theme));
        let (current, current_model) = room.provider.split_once([':', '/']).unwrap_or((&room.provider, ""));
        let chosen = state.drafts.get(PROVIDER).cloned().unwrap_or_else(|| current.to_owned());
        for (provider, _, _) in providers() {
            let row = egui::Button::selectable(provider == chosen, provider).min_size(egui::vec2(260.0, 26.0));
            let row = ui.add(row);
            kit::name(&row, format!("Provider {provider}"));
            if row.clicked() {
                state.drafts.insert(PROVIDER.to_owned(), provider.to_owned());
            }
        }
        let Some((_, model, key)) = providers().find(|(provider, ..)| *provider == chosen) else { return };
        let mut spec_now = chosen.clone();
        if let Some(model) = model {
            ui.add_space(SPACE[0]);
            ui.label(kit::small("Model", theme));
            let usual = if chosen == current && !current_model.is_empty() { current_model } else { model };
            let draft = state.drafts.entry(format!("model of {chosen}")).or_insert_with(|| usual.to_owned());
            kit::field(ui, draft, "Model", model);
            spec_now = spec(&chosen, draft);
            let about = match key {
                Some(key) => format!("Needs {key} in the environment. What agents read is sent to {chosen}."),
                None => "Asks the program on this machine. Nothing leaves it.".to_owned(),
            };
            ui.label(kit::small(about, theme));
        } else {
            ui.label(kit::small("Answers from the room itself: no network, no key, no cost.", theme));
        }
        ui.add_space(SPACE[0]);
        ui.horizontal(|ui| {
            if kit::primary(ui, true, "Use", theme).clicked() {
                commands.push(Command::SetProvider(spec_now.clone()));
                ui.close();
            }
            let test = ui.button("Test").on_hover_text("Asks something small, to see whether it answers");
            if test.clicked() {
                commands.push(Command::TestProvider(spec_now.clone()));
            }
        });
        if let Some(outcome) = state.outcomes.last() {
            let colour = if outcome.good { theme.good } else { theme.bad };
            ui.label(RichText::new(&outcome.text).size(TYPE[0]).color(colour));
        }
    });
    kit::caret(ui, &button, theme);
    kit::name(&button, "Provider menu");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{Stage, stage};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn bar() -> Harness<'static, Stage> {
        stage(UiState::default(), |ui, room, _, theme, state| top_bar_ui(ui, room, theme, state))
    }

    fn click(window: &mut Harness<'static, Stage>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn time_is_stopped_and_sped_up_from_the_bar() {
        let mut window = bar();
        click(&mut window, "Pause");
        click(&mut window, "Speed 16×");
        click(&mut window, "Speed 1×");
        let expected = [Command::SetPaused(true), Command::SetSpeed(Speed::Times(16))];
        assert_eq!(window.state().commands, expected, "the speed that holds is not set again");
        window.state_mut().room.paused = true;
        window.run_steps(2);
        click(&mut window, "Continue");
        assert_eq!(window.state().commands.last(), Some(&Command::SetPaused(false)));
    }

    #[test]
    fn the_switch_for_talk_turns_it_off() {
        let mut window = bar();
        click(&mut window, "Talk");
        let act = RoomAct::Talk(ConversationCommand::Switch { on: false });
        assert_eq!(window.state().commands, [Command::Act(act, None)]);
    }

    #[test]
    fn a_scene_is_opened_from_the_menu_and_reset_is_asked_about() {
        let mut window = bar();
        click(&mut window, "Scene menu");
        click(&mut window, "Open scene evening");
        assert_eq!(window.state().commands, [Command::OpenScene("evening".into())]);
        click(&mut window, "Scene menu");
        click(&mut window, "Begin scene again…");
        assert_eq!(window.state().state.dialog, Some(Dialog::ResetScene));
        assert_eq!(window.state().commands.len(), 1);
    }

    #[test]
    fn a_provider_is_tested_and_used_with_its_model() {
        let mut window = bar();
        click(&mut window, "Provider menu");
        click(&mut window, "Provider ollama");
        let model = VENDORS.into_iter().find(|vendor| vendor.name == "ollama").unwrap().model;
        click(&mut window, "Test");
        click(&mut window, "Use");
        let spec = format!("ollama:{model}");
        assert_eq!(window.state().commands, [Command::TestProvider(spec.clone()), Command::SetProvider(spec)]);
    }

    #[test]
    fn the_toggles_are_the_window_s_own() {
        let mut window = bar();
        for label in ["Dark theme", "Keys", "Conversations"] {
            click(&mut window, label);
        }
        let state = &window.state().state;
        assert!(state.dark && state.help && state.sidebar);
        assert!(window.state().commands.is_empty());
    }
}
