//! The bar above the room: which scene, whether and how fast time passes, what goes on, who answers.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Align, Layout, PopupCloseBehavior, RichText, Ui};

use crate::base::text;
use crate::gateway::price_source;
use crate::schedule::Speed;
use crate::simulation::ConversationCommand;
use crate::ui::commands::table::{CommandContext, CommandTable, Menu};
use crate::ui::commands::{RoomAct, WindowCommand, keys};
use crate::ui::shell::provider::provider_ui;
use crate::ui::state::Purpose;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::ui::widgets::{provider_health, room_status};
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// The speeds on the bar, slow to fast.
pub const SPEEDS: [Speed; 4] = [Speed::Times(1), Speed::Times(4), Speed::Times(16), Speed::Max];

/// A window that is narrower than this has the bar in two rows, and under the second in three.
const ONE_ROW_POINTS: f32 = 940.0;
const TWO_ROWS_POINTS: f32 = 720.0;

/// Draws the bar.
pub fn top_bar_ui(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    table: &CommandTable,
) -> Vec<Command> {
    widgets::dress(ui.style_mut(), theme);
    let mut commands = Vec::new();
    let width = ui.available_width();
    let from_the_right = Layout::right_to_left(Align::Center);
    ui.horizontal(|ui| {
        if width >= TWO_ROWS_POINTS {
            workspace_menu(ui, room, theme, state, table, &mut commands);
        }
        scene_menu(ui, room, theme, state, table, &mut commands);
        ui.add_space(SPACE[1]);
        run_bar(ui, room, theme, &mut commands);
        ui.add_space(SPACE[1]);
        if width >= TWO_ROWS_POINTS {
            ui.with_layout(from_the_right, |ui| {
                toggles(ui, room, theme, state, &mut commands);
                ui.add_space(SPACE[1]);
                if width >= ONE_ROW_POINTS {
                    provider_menu(ui, room, theme, state, &mut commands);
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| status(ui, room, theme, state));
                }
            });
        }
    });
    if width < TWO_ROWS_POINTS {
        ui.horizontal(|ui| {
            workspace_menu(ui, room, theme, state, table, &mut commands);
            ui.with_layout(from_the_right, |ui| toggles(ui, room, theme, state, &mut commands));
        });
    }
    if width < ONE_ROW_POINTS {
        ui.horizontal(|ui| {
            provider_menu(ui, room, theme, state, &mut commands);
            status(ui, room, theme, state);
        });
    }
    commands
}

/// Right to left: settings, the sidebar, notices, the keys, the theme, the master switch for talk.
fn toggles(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &UiState, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = SPACE[0];
    let wrong = state.board.open();
    let notices = if wrong == 0 { "Notices".to_owned() } else { format!("Notices: {wrong} open") };
    let talks = state.dock.is_in_front(&Tab::Talks);
    let (light, light_label) = if state.dark { (Icon::Sun, "Light theme") } else { (Icon::Moon, "Dark theme") };
    let buttons = [
        (Icon::Gear, "Settings", state.settings.is_some(), WindowCommand::ToggleSettings, "window.settings"),
        (Icon::Bell, &*notices, state.notices_open, WindowCommand::ToggleNotices, ""),
        (Icon::Chat, "Conversations", talks, WindowCommand::ToggleTab(Tab::Talks), "pane.conversations"),
        (Icon::Question, "Keys", state.help, WindowCommand::ToggleKeys, "window.keys"),
        (light, light_label, false, WindowCommand::ToggleTheme, ""),
    ];
    for (icon, label, is_on, command, id) in buttons {
        let button = widgets::icon_button(ui, icon, label, is_on, theme);
        if icon == Icon::Bell && wrong > 0 {
            ui.painter().circle_filled(button.rect.right_top() + egui::vec2(-7.0, 7.0), 3.5, theme.bad);
        }
        let keys = keys::shown(ui.ctx(), id);
        let button = if keys.is_empty() { button } else { button.on_hover_text(keys) };
        if button.clicked() {
            commands.push(command.into());
        }
    }
    ui.add_space(SPACE[1]);
    let about = "Whether agents may talk to each other. Off ends all conversations; tasks go on.";
    if widgets::switch(ui, room.talk_on, "Talk", theme).on_hover_text(about).clicked() {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
        commands.push(Command::Act(act, None));
    }
}

/// The workspace: others to open, what to bring in and take out.
fn workspace_menu(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &UiState,
    table: &CommandTable,
    commands: &mut Vec<Command>,
) {
    let name = text::truncate(&room.workspace, 24);
    let button = ui.menu_button(RichText::new(format!("{name}    ")).color(theme.text_soft), |ui| {
        widgets::dress(ui.style_mut(), theme);
        ui.set_min_width(240.0);
        let row = |ui: &mut Ui, label: &str| {
            ui.add(egui::Button::new(label).frame(false).min_size(egui::vec2(220.0, 28.0))).clicked()
        };
        ui.menu_button("Open another workspace", |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_min_width(260.0);
            for folder in &state.known_workspaces {
                let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                let open = ui.add(egui::Button::new(name).min_size(egui::vec2(240.0, 28.0)).truncate());
                if open.on_hover_text(folder.display().to_string()).clicked() {
                    commands.push(Command::OpenWorkspace(folder.clone()));
                    ui.close();
                }
            }
            if row(ui, "Choose a folder…") {
                commands.push(WindowCommand::Browse(Purpose::OpenWorkspace).into());
                ui.close();
            }
        });
        entries(ui, room, state, (table, Menu::Workspace), commands);
        ui.menu_button("Panes", |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_min_width(260.0);
            entries(ui, room, state, (table, Menu::Panes), commands);
        });
    });
    widgets::caret(ui, &button.response, theme);
    widgets::name(&button.response, "Workspace menu");
}

fn scene_menu(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &UiState,
    table: &CommandTable,
    commands: &mut Vec<Command>,
) {
    let shown = if room.scene.is_empty() { "No scene".to_owned() } else { room.scene.clone() };
    let button = ui.menu_button(RichText::new(format!("{shown}    ")).size(TYPE[2]), |ui| {
        widgets::dress(ui.style_mut(), theme);
        ui.set_min_width(240.0);
        ui.label(widgets::small("Scenes of this workspace", theme));
        ui.separator();
        egui::ScrollArea::vertical().max_height(280.0).show(ui, |ui| {
            for scene in room.scenes.iter() {
                let open = *scene == room.scene;
                let row = ui.add(egui::Button::selectable(open, scene.as_str()).min_size(egui::vec2(220.0, 28.0)));
                widgets::name(&row, format!("Open scene {scene}"));
                if row.clicked() && !open {
                    commands.push(Command::OpenScene(scene.clone()));
                    ui.close();
                }
            }
        });
        ui.separator();
        entries(ui, room, state, (table, Menu::Scene), commands);
    });
    widgets::caret(ui, &button.response, theme);
    widgets::name(&button.response, "Scene menu");
}

/// The commands that the table has for a menu of the bar.
fn entries(
    ui: &mut Ui,
    room: &RoomModel,
    state: &UiState,
    (table, menu): (&CommandTable, Menu),
    commands: &mut Vec<Command>,
) {
    let cx = CommandContext { room, ui: state };
    for (command, label) in table.in_menu(menu) {
        let keys = keys::first_shown(ui.ctx(), command);
        let applies = (command.applies)(&cx);
        let button = egui::Button::new(label).frame(false).shortcut_text(keys).min_size(egui::vec2(220.0, 28.0));
        let button = ui.add_enabled(applies.is_ok(), button);
        widgets::name(&button, label);
        if button.on_disabled_hover_text(applies.err().unwrap_or_default()).clicked() {
            commands.extend(command.run(&cx));
            ui.close();
        }
    }
}

fn run_bar(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    let (icon, label) = if room.paused { (Icon::Play, "Continue") } else { (Icon::Pause, "Pause") };
    if widgets::icon_button(ui, icon, label, room.paused, theme).clicked() {
        commands.push(Command::SetPaused(!room.paused));
    }
    let choices: Vec<(String, String)> =
        SPEEDS.into_iter().map(|speed| (words::speed(speed), format!("Speed {}", words::speed(speed)))).collect();
    let chosen = SPEEDS.iter().position(|speed| Some(*speed) == room.speed);
    if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
        commands.push(Command::SetSpeed(SPEEDS[index]));
    }
}

fn status(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) {
    let (waiting, under_way) = room.questions;
    let sentence = widgets::soft(room_status::status(room), theme);
    let text = ui.add(egui::Label::new(sentence).truncate().sense(egui::Sense::click()));
    let calls = words::tally(&room.spent);
    let prices = price_source();
    let why = room_status::why_quiet(room).map(|why| format!("{}\n", why.long)).unwrap_or_default();
    let text = text.on_hover_text(format!(
        "{why}{calls} in this run\n{under_way} questions under way, {waiting} waiting\nCost by {prices}\n\
         Click for caps and providers"
    ));
    let setting = room.cap_name.as_ref().map(|name| format!("budget.{name}"));
    if text.clicked() {
        state.show_settings(setting.as_deref());
    }
    if let Some(cap) = &room.cap_reached {
        let button = ui.add(egui::Button::new(RichText::new("Cap reached").color(theme.warn)).frame(false));
        if button.on_hover_text(cap).clicked() {
            state.show_settings(Some(setting.as_deref().unwrap_or("budget.cost_per_run_usd")));
        }
    }
}

fn provider_menu(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    // Choosing a provider must not close the menu: its model and the buttons stand below.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let stand_in = if room.settings.stand_in.is_some() { "for everyone: " } else { "" };
    let fault = provider_health::of_room(room);
    let mut name = RichText::new(format!("{stand_in}{}    ", room.provider));
    if fault.is_some() {
        name = name.color(theme.bad);
    }
    let menu = MenuButton::new(name).config(config);
    let (button, _) = menu.ui(ui, |ui| {
        widgets::dress(ui.style_mut(), theme);
        ui.set_width(300.0);
        ui.label(widgets::small("Who answers, unless an agent's file says otherwise", theme));
        if let Some(fault) = fault {
            let text = RichText::new(provider_health::long(fault, room)).color(theme.bad);
            ui.add(egui::Label::new(text).wrap());
        }
        if provider_ui(ui, room, theme, state, commands) {
            ui.close();
        }
    });
    widgets::caret(ui, &button, theme);
    let button = match fault {
        Some(fault) => button.on_hover_text(provider_health::long(fault, room)),
        None => button,
    };
    widgets::name(&button, "Provider menu");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::vendors::VENDORS;
    use crate::ui::state::Dialog;
    use crate::ui::testing::{Stage, stage};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn bar() -> Harness<'static, Stage> {
        stage(UiState::default(), |ui, room, _, theme, state| {
            top_bar_ui(ui, room, theme, state, CommandTable::standard())
        })
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
    fn a_reached_cap_leads_to_its_field_and_a_picture_is_one_click() {
        let mut window = bar();
        window.state_mut().room.cap_reached = Some("the cap of 9 calls a run is reached".into());
        window.state_mut().room.cap_name = Some("calls_per_run".into());
        window.run_steps(2);
        click(&mut window, "Cap reached");
        let lead_to = window.state().state.settings.as_ref().and_then(|shown| shown.lead_to.as_deref());
        assert_eq!(lead_to, Some("budget.calls_per_run"));
        click(&mut window, "Scene menu");
        click(&mut window, "Save a picture");
        assert_eq!(window.state().commands, [Command::Screenshot(None)]);
    }

    #[test]
    fn the_toggles_are_the_window_s_own() {
        let mut window = bar();
        for label in ["Dark theme", "Keys", "Conversations", "Settings", "Notices"] {
            click(&mut window, label);
        }
        let state = &window.state().state;
        assert!(
            state.dark
                && state.help
                && state.dock.is_in_front(&Tab::Talks)
                && state.settings.is_some()
                && state.notices_open
        );
        assert_eq!(state.look.light, crate::ui::state::Light::Evening, "it was chosen, so it is remembered");
        assert!(window.state().commands.is_empty());
    }

    /// The bar in a window of this width: where each of its parts stands.
    fn places(width: f32) -> Vec<(String, egui::Rect)> {
        let mut bar = bar();
        bar.set_size(egui::vec2(width, 800.0));
        bar.run_steps(3);
        let names = ["Scene menu", "Pause", "Speed 1×", "Speed Max", "Provider menu", "Talk", "Settings", "Notices"];
        names.into_iter().map(|name| (name.to_owned(), bar.get_by_label(name).rect())).collect()
    }

    #[test]
    fn nothing_on_the_bar_lies_on_anything_else_however_narrow_the_window_is() {
        for width in [360.0, 480.0, 640.0, 800.0, 1280.0] {
            let places = places(width);
            for (index, (name, rect)) in places.iter().enumerate() {
                assert!(rect.left() >= 0.0 && rect.right() <= width, "{name} sticks out at {width}: {rect:?}");
                for (other, covered) in &places[index + 1..] {
                    let shared = rect.shrink(1.0).intersect(covered.shrink(1.0));
                    assert!(!shared.is_positive(), "{name} lies on {other} at {width}: {rect:?} {covered:?}");
                }
            }
        }
    }
}
