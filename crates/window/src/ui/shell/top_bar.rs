//! The bar above the room: the scene, the speed, the status, and the provider.

use egui::{RichText, Ui};

use crate::base::text;
use crate::gateway::price_source;
use crate::schedule::Speed;
use crate::simulation::ConversationCommand;
use crate::ui::commands::table::Menu;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::menus::{self, command_tip};
use crate::ui::shell::provider::{ProviderChoice, provider_ui};
use crate::ui::shell::texts::top_bar as texts;
use crate::ui::state::FrontPanel;
use crate::ui::state::dock::Tab;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::{self, menu, provider_health, room_status, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::theme::{MENU, SPACE, TYPE};

/// The speeds in the bar, slow to fast.
pub const SPEEDS: [Speed; 4] = [Speed::Times(1), Speed::Times(4), Speed::Times(16), Speed::Max];
/// The commands of the speeds.
const SPEED_COMMANDS: [&str; 4] = ["time.speed_1", "time.speed_4", "time.speed_16", "time.speed_max"];

/// Windows narrower than this, in points, have a bar of two rows.
const ONE_ROW_POINTS: f32 = 940.0;
/// Windows narrower than this, in points, have a bar of three rows.
const TWO_ROWS_POINTS: f32 = 720.0;
/// The maximum height of the list of scenes, in points.
const SCENES_POINTS: f32 = 280.0;

/// Draws the bar.
pub fn top_bar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, choice: &mut ProviderChoice) -> Vec<Command> {
    widgets::apply_style(ui.style_mut(), cx.theme);
    let mut commands = Vec::new();
    let width = ui.available_width();
    let mut status_commands = Vec::new();
    ui.horizontal(|ui| {
        if width >= TWO_ROWS_POINTS {
            workspace_menu(ui, cx, &mut commands);
        }
        scene_menu(ui, cx, &mut commands);
        ui.add_space(SPACE[1]);
        time_ui(ui, cx, &mut commands);
        ui.add_space(SPACE[1]);
        let status_part = |ui: &mut Ui| {
            if width >= ONE_ROW_POINTS {
                status(ui, cx, &mut status_commands);
            }
        };
        if width >= TWO_ROWS_POINTS {
            widgets::line_parts(ui, "top bar", status_part, |ui| {
                if width >= ONE_ROW_POINTS {
                    provider_menu(ui, cx, choice, &mut commands);
                    ui.add_space(SPACE[1]);
                }
                ui.scope(|ui| toggles(ui, cx, &mut commands));
            });
        }
    });
    commands.extend(status_commands);
    if width < TWO_ROWS_POINTS {
        ui.horizontal(|ui| {
            workspace_menu(ui, cx, &mut commands);
            widgets::line_parts(ui, "toggles", |_| {}, |ui| toggles(ui, cx, &mut commands));
        });
    }
    if width < ONE_ROW_POINTS {
        ui.horizontal(|ui| {
            provider_menu(ui, cx, choice, &mut commands);
            status(ui, cx, &mut commands);
        });
    }
    commands
}

/// Draws the switch for conversations and the buttons for theme, shortcuts, conversations, notices and settings.
fn toggles(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = SPACE[0];
    let front = &cx.ui.front;
    let problem_count = cx.ui.notices.board().open();
    let notices = texts::notices(problem_count);
    let talks = cx.ui.dock.is_in_front(&Tab::TALKS);
    let is_dark = cx.ui.appearance.is_dark();
    let (light, light_label) = if is_dark { (Icon::Sun, texts::LIGHT_THEME) } else { (Icon::Moon, texts::DARK_THEME) };
    let buttons = [
        (light, light_label, false, "view.theme"),
        (Icon::Question, texts::KEYS, front.is_open(FrontPanel::Keys), "window.keys"),
        (Icon::Chat, texts::CONVERSATIONS, talks, "pane.conversations"),
        (Icon::Bell, &*notices, front.is_open(FrontPanel::Notices), "window.toggle_notices"),
        (Icon::Gear, texts::SETTINGS, front.is_open(FrontPanel::Settings), "window.settings"),
    ];
    let switch = widgets::switch(ui, cx.room.talk_on, texts::CONVERSATIONS_ON, cx.theme);
    if command_tip(switch, cx, "settings.talk").clicked() {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !cx.room.talk_on });
        commands.push(Command::Act(act, None));
    }
    ui.add_space(SPACE[1]);
    for (icon, label, is_on, id) in buttons {
        let button = widgets::icon_button(ui, icon, label, is_on, cx.theme);
        if icon == Icon::Bell && problem_count > 0 {
            ui.painter().circle_filled(button.rect.right_top() + egui::vec2(-7.0, 7.0), 3.5, cx.theme.bad);
        }
        if command_tip(button, cx, id).clicked() {
            commands.extend(menus::run(cx, id));
        }
    }
}

/// Draws the workspace menu: opening others, importing and exporting.
fn workspace_menu(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let name = RichText::new(text::truncate(&cx.room.workspace, 24)).color(cx.theme.text_soft);
    menu::menu_button(ui, name, texts::WORKSPACE_MENU, MENU[1], cx.theme, |ui| {
        menu::submenu(ui, texts::OPEN_ANOTHER_WORKSPACE, MENU[1], cx.theme, |ui| {
            for folder in &cx.ui.recents.workspaces {
                let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                if menu::listed(ui, name).on_hover_text(folder.display().to_string()).clicked() {
                    commands.push(Command::OpenWorkspace(folder.clone()));
                }
            }
            menus::entries(ui, cx, Menu::OpenWorkspace, commands);
        });
        menus::entries(ui, cx, Menu::Workspace, commands);
        menu::submenu(ui, texts::PANES, MENU[1], cx.theme, |ui| menus::entries(ui, cx, Menu::Panes, commands));
    });
}

fn scene_menu(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let room = cx.room;
    let shown = if room.scene.is_empty() { texts::NO_SCENE.to_owned() } else { room.scene.clone() };
    menu::menu_button(ui, RichText::new(shown).strong(), texts::SCENE_MENU, MENU[1], cx.theme, |ui| {
        ui.label(widgets::small(texts::SCENES_OF_THIS_WORKSPACE, cx.theme));
        egui::ScrollArea::vertical().max_height(SCENES_POINTS).show(ui, |ui| {
            for scene in room.scenes.iter() {
                let is_open = *scene == room.scene;
                let row = menu::choice(ui, is_open, scene);
                widgets::name(&row, texts::open_scene(scene));
                if row.clicked() && !is_open {
                    commands.push(Command::OpenScene(scene.clone()));
                }
            }
        });
        ui.separator();
        menus::entries(ui, cx, Menu::Scene, commands);
    });
}

fn time_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let room = cx.room;
    let (icon, label) =
        if room.paused { (Icon::Play, texts::RESUME_THE_ROOM) } else { (Icon::Pause, texts::PAUSE_THE_ROOM) };
    let button = widgets::icon_button(ui, icon, label, room.paused, cx.theme);
    if command_tip(button, cx, "time.pause").clicked() {
        commands.extend(menus::run(cx, "time.pause"));
    }
    let tips = SPEED_COMMANDS.map(|id| menus::tip(ui.ctx(), cx.table, id));
    let choices: Vec<(String, String)> = SPEEDS
        .into_iter()
        .map(|speed| (text_format::speed(speed), texts::speed_name(&text_format::speed(speed))))
        .collect();
    let chosen = SPEEDS.iter().position(|speed| Some(*speed) == room.speed);
    if let Some(index) = widgets::segments_with_tips(ui, &choices, &tips, chosen, cx.theme) {
        commands.extend(menus::run(cx, SPEED_COMMANDS[index]));
    }
}

fn status(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let room = cx.room;
    let mut show = |setting: Option<String>| commands.push(WindowCommand::ShowSettings(setting).into());
    let sentence = widgets::secondary_text(room_status::status(room), cx.theme);
    let text = ui.add(egui::Label::new(sentence).truncate().sense(egui::Sense::click()));
    let calls = text_format::tally(&room.spent);
    let why = room_status::quiet_reason(room).map(|why| why.long);
    let text = text.on_hover_text(texts::usage(why.as_deref(), &calls, room.model_requests, price_source()));
    let setting = room.cap_name.as_ref().map(|name| format!("budget.{name}"));
    if text.clicked() {
        show(setting.clone());
    }
    if let Some(cap) = &room.cap_reached {
        let button = ui.add(egui::Button::new(RichText::new(texts::LIMIT_REACHED).color(cx.theme.warn)).frame(false));
        if button.on_hover_text(cap).clicked() {
            show(Some(setting.unwrap_or_else(|| "budget.cost_per_run_usd".to_owned())));
        }
    }
}

fn provider_menu(ui: &mut Ui, cx: &ViewerContext<'_>, choice: &mut ProviderChoice, commands: &mut Vec<Command>) {
    let (room, theme) = (cx.room, cx.theme);
    let provider = match room.settings.provider_override {
        Some(_) => texts::for_everyone(&room.provider),
        None => room.provider.clone(),
    };
    let fault = provider_health::of_room(room);
    let mut name = RichText::new(provider).size(TYPE[1]);
    if fault.is_some() {
        name = name.color(theme.bad);
    }
    // Choosing a provider must not close the menu: its model and the buttons are below.
    let button = menu::menu_button_that_stays(ui, name, texts::PROVIDER_MENU, MENU[2], theme, |ui| {
        // It is a form rather than a list of commands, so its buttons and fields have frames.
        widgets::apply_style(ui.style_mut(), theme);
        ui.label(widgets::small(texts::PROVIDER_ABOUT, theme));
        if let Some(fault) = fault {
            let text = RichText::new(provider_health::long(fault, room)).color(theme.bad);
            ui.add(egui::Label::new(text).wrap());
        }
        if provider_ui(ui, cx, choice, commands) {
            ui.close();
        }
    });
    if let Some(fault) = fault {
        button.on_hover_text(provider_health::long(fault, room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::vendors::VENDORS;
    use crate::ui::UiState;
    use crate::ui::state::Dialog;
    use crate::ui::testing::{PaneHarness, stage_pane};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn bar() -> Harness<'static, PaneHarness> {
        stage_pane(UiState::default(), |ui, cx, panes| top_bar_ui(ui, cx, &mut panes.provider))
    }

    fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn the_room_is_paused_and_sped_up_from_the_bar() {
        let mut window = bar();
        click(&mut window, "Pause the room");
        click(&mut window, "Speed 16×");
        click(&mut window, "Speed 1×");
        let expected = [Command::SetPaused(true), Command::SetSpeed(Speed::Times(16))];
        assert_eq!(window.state().commands, expected, "the current speed is not set again");
        window.state_mut().room.paused = true;
        window.run_steps(2);
        click(&mut window, "Resume the room");
        assert_eq!(window.state().commands.last(), Some(&Command::SetPaused(false)));
    }

    #[test]
    fn the_switch_turns_conversations_off() {
        let mut window = bar();
        click(&mut window, "Conversations on");
        let act = RoomAct::Talk(ConversationCommand::Switch { on: false });
        assert_eq!(window.state().commands, [Command::Act(act, None)]);
    }

    #[test]
    fn a_scene_is_opened_from_the_menu_and_a_restart_needs_confirmation() {
        let mut window = bar();
        click(&mut window, "Scene menu");
        click(&mut window, "Open scene evening");
        assert_eq!(window.state().commands, [Command::OpenScene("evening".into())]);
        click(&mut window, "Scene menu");
        click(&mut window, "Restart scene…");
        assert_eq!(window.state().state.front.dialog(), Some(&Dialog::ResetScene));
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
    fn a_reached_cap_opens_its_setting_and_a_picture_is_one_click() {
        let mut window = bar();
        window.state_mut().room.cap_reached = Some("the cap of 9 calls a run is reached".into());
        window.state_mut().room.cap_name = Some("calls_per_run".into());
        window.run_steps(2);
        click(&mut window, "Limit reached");
        assert!(window.state().state.front.is_open(FrontPanel::Settings));
        assert_eq!(window.state().parts.settings.scroll_target(), Some("budget.calls_per_run"));
        click(&mut window, "Scene menu");
        click(&mut window, "Save a picture");
        assert_eq!(window.state().commands, [Command::Screenshot(None)]);
    }

    #[test]
    fn the_toggles_change_only_the_window() {
        let mut window = bar();
        for label in ["Dark theme", "Keys", "Conversations", "Settings", "Notices"] {
            click(&mut window, label);
        }
        let state = &window.state().state;
        assert!(
            state.appearance.is_dark()
                && state.dock.is_in_front(&Tab::TALKS)
                && [FrontPanel::Keys, FrontPanel::Settings, FrontPanel::Notices]
                    .into_iter()
                    .all(|panel| state.front.is_open(panel))
        );
        assert_eq!(
            state.appearance.look.light,
            crate::ui::state::ThemeChoice::Evening,
            "it was chosen, so it is remembered"
        );
        assert!(window.state().commands.is_empty());
    }

    /// The rectangles of the bar's parts in a window of this width.
    fn places(width: f32) -> Vec<(String, egui::Rect)> {
        let mut bar = bar();
        bar.set_size(egui::vec2(width, 800.0));
        bar.run_steps(3);
        let names = [
            "Scene menu",
            "Pause the room",
            "Speed 1×",
            "Speed Max",
            "Provider menu",
            "Conversations on",
            "Settings",
            "Notices",
        ];
        names.into_iter().map(|name| (name.to_owned(), bar.get_by_label(name).rect())).collect()
    }

    #[test]
    fn no_parts_overlap_however_narrow_the_window_is() {
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
