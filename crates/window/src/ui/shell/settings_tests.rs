//! Tests of the settings: widgets are found by name and operated with mouse and keys.

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, pane_of, sample_room};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};

fn settings(room: RoomModel, scroll_to: Option<&str>) -> Harness<'static, PaneHarness> {
    let mut stage = PaneHarness::new(room, UiState::default());
    stage.run(vec![WindowCommand::ShowSettings(scroll_to.map(str::to_owned)).into()]);
    (stage.commands, stage.asked) = Default::default();
    let mut window = pane_of(stage, |ui, cx, panes| settings_ui(ui, cx, &mut panes.settings, &mut panes.provider));
    window.run_steps(6);
    window
}

fn room() -> RoomModel {
    let settings = SettingsView { max_concurrent_requests: 4, conversations_at_once: 3, ..SettingsView::default() };
    RoomModel { settings, ..sample_room() }
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).scroll_to_me();
    window.run_steps(4);
    window.get_by_label(label).click();
    window.run_steps(3);
}

/// Replaces the text of the focused field and presses Enter.
fn enter(window: &mut Harness<'static, PaneHarness>, text: &str) {
    window.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    window.run_steps(1);
    if text.is_empty() {
        window.key_press(Key::Delete);
    } else {
        window.event(egui::Event::Text(text.to_owned()));
    }
    window.run_steps(1);
    window.key_press(Key::Enter);
    window.run_steps(3);
}

#[test]
fn tab_follows_the_reading_order_of_the_settings_and_every_control_has_a_name() {
    let mut window = settings(room(), None);
    controls_have_names(&window);
    let among = [
        "Close settings",
        "Provider offline",
        "Use",
        "Test",
        "Set Calls in parallel",
        "Set Conversations in parallel",
        "Set Cost",
        "Set Calls per task",
        "Theme of the system",
        "Smaller text",
        "Larger text",
        "Language of dates",
        "Reduce motion",
    ];
    are_as_read(&tab_stops(&mut window), &among);
}

#[test]
fn every_cap_of_the_gateway_has_a_row() {
    let Value::Object(fields) = serde_json::to_value(BudgetSettings::default()).unwrap() else { panic!("no fields") };
    let shown: Vec<&str> = CAPS.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.key)).collect();
    assert_eq!(shown.len(), fields.len());
    assert!(fields.keys().all(|field| shown.contains(&field.as_str())), "{shown:?}");
    let labels: std::collections::BTreeSet<&str> =
        CAPS.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.label)).collect();
    assert_eq!(labels.len(), shown.len(), "each label is unique");
}

#[test]
fn an_empty_field_hints_at_the_default_which_is_within_its_bounds() {
    let defaults = [
        (&CALLS_IN_PARALLEL, u64::from(GatewaySettings::default().max_concurrent_requests)),
        (&CONVERSATIONS_IN_PARALLEL, ConversationSettings::default().max_concurrent_conversations as u64),
    ];
    for (row, default) in defaults {
        assert_eq!(row.hint, default.to_string(), "{}", row.key);
        let (least, most) = row.range();
        assert!((least..=most).contains(&default) && most < u64::MAX, "{}", row.key);
    }
}

#[test]
fn showing_a_setting_focuses_its_field_and_a_new_cap_is_one_command() {
    let mut window = settings(room(), Some("budget.tokens_per_run"));
    assert_eq!(window.state().parts.settings.scroll_target(), None, "it was scrolled to");
    enter(&mut window, "250000");
    let edit = SettingsEdit::set("budget", "tokens_per_run", json!(250_000));
    assert_eq!(window.state().commands, [Command::SetSettings(edit)]);
    // The chosen value arrives, and the field shows the value in effect.
    window.state_mut().room.settings.budget.tokens_per_run = Some(250_000);
    window.run_steps(3);
    assert!(window.state().parts.settings.typed.is_empty());
}

#[test]
fn an_emptied_cap_is_no_cap_whatever_its_default() {
    let mut window = settings(room(), Some("budget.cost_per_run_usd"));
    enter(&mut window, "");
    let mut with_count = room();
    with_count.settings.budget.calls_per_hour = Some(9);
    let expected = SettingsEdit::set("budget", "cost_per_run_usd", Value::Null);
    assert_eq!(window.state().commands, [Command::SetSettings(expected)]);
    let mut window = settings(with_count, Some("budget.calls_per_hour"));
    enter(&mut window, "");
    assert_eq!(window.state().commands, [Command::SetSettings(SettingsEdit::reset("budget", "calls_per_hour"))]);
}

#[test]
fn an_invalid_number_is_reported_and_not_sent() {
    let mut window = settings(room(), Some("budget.cost_per_run_usd"));
    enter(&mut window, "a lot");
    assert!(window.query_by_label("An amount in dollars, like 2.50.").is_some());
    assert!(window.state().commands.is_empty());
    for (text, unit, expected) in [
        ("$2.50", Unit::Dollars, Some(json!(2.5))),
        ("-1", Unit::Dollars, None),
        ("NaN", Unit::Dollars, None),
        ("1_000 000", Unit::Count, Some(json!(1_000_000))),
        ("1.5", Unit::Count, None),
    ] {
        assert_eq!(cap_value(text, unit, "calls_per_hour").ok().flatten(), expected, "{text}");
    }
}

#[test]
fn an_overriding_scene_is_named() {
    let mut room = room();
    let text = "scenes/morning.yaml sets this and overrides your choice here.";
    assert!(settings(room.clone(), None).query_by_label(text).is_none());
    room.settings.of_scene = vec!["max_concurrent_conversations".into()];
    assert!(settings(room, None).query_by_label(text).is_some());
}

#[test]
fn the_appearance_is_not_a_workspace_setting() {
    let mut window = settings(room(), None);
    for label in ["Always dark", "Larger text", "Larger text", "Reduce motion"] {
        click(&mut window, label);
    }
    let look = window.state().state.appearance.look;
    assert_eq!((look.light, look.text_size, look.calm), (ThemeChoice::Evening, 1.2, true));
    click(&mut window, "Reset");
    assert_eq!(window.state().state.appearance.look.text_size, 1.0);
    assert!(window.state().commands.is_empty(), "the workspace does not change");
}

#[test]
fn conversations_can_be_turned_off_and_the_settings_closed() {
    let mut window = settings(room(), None);
    click(&mut window, "Allow conversations");
    let act = RoomAct::Talk(ConversationCommand::Switch { on: false });
    assert_eq!(window.state().commands, [Command::Act(act, None)]);
    click(&mut window, "Close settings");
    assert!(!window.state().state.front.is_open(FrontPanel::Settings));
}
