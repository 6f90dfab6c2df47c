//! UI tests of the inspector.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::element::ElementCommand;
use crate::simulation::TaskCommand;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::testing::{PaneHarness, draw_inspector, stage_pane};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};

fn inspect(things: &[RoomObject]) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.selection.select(things.iter().cloned());
    let mut window = stage_pane(state, draw_inspector);
    window.run_steps(3);
    window
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn ada() -> RoomObject {
    RoomObject::Agent("ada-1".into())
}

fn post() -> RoomObject {
    RoomObject::Element("post".into())
}

#[test]
fn an_agent_shows_its_state_reason_and_queue() {
    let mut window = inspect(&[ada()]);
    for shown in ["Ada", "Idle", "for 4 s", "nothing calls", "Loading…"] {
        assert!(window.query_by_label(shown).is_some(), "{shown}");
    }
    click(&mut window, "About of the agent");
    for shown in ["1. read House rules (high)", "2. go and tell Bram"] {
        assert!(window.query_by_label(shown).is_some(), "{shown}");
    }
}

#[test]
fn tab_follows_the_reading_order_and_every_stop_has_a_name() {
    let head = ["Pause agent", "Open its file", "Chat of the agent", "About of the agent", "Prompts of the agent"];
    for (side, more) in [
        ("Chat of the agent", &["Task"][..]),
        ("About of the agent", &["Behaviour wander", "Behaviour patrol", "Duplicate", "Delete"][..]),
        ("Memory of the agent", &["Open the Knowledge pane"][..]),
        ("Prompts of the agent", &[][..]),
    ] {
        let mut window = inspect(&[ada()]);
        click(&mut window, side);
        controls_have_names(&window);
        are_as_read(&tab_stops(&mut window), &[&head[..], more].concat());
    }
    let mut window = inspect(&[post()]);
    controls_have_names(&window);
    are_as_read(&tab_stops(&mut window), &["Label", "Owner", "Open", "Duplicate", "Delete"]);
}

#[test]
fn the_newest_events_are_not_shown_beside_the_log() {
    let mut window = inspect(&[]);
    assert!(window.query_by_label("Whole log").is_some());
    window.state_mut().state.dock.show(&Tab::LOG, |_| false);
    window.run_steps(3);
    assert!(window.query_by_label("Whole log").is_none(), "the log itself is visible");
}

#[test]
fn setting_a_behaviour_can_be_undone() {
    let mut window = inspect(&[ada()]);
    click(&mut window, "About of the agent");
    click(&mut window, "Behaviour patrol");
    let set = |behaviour| RoomAct::Agent(AgentCommand::SetBehaviour { agent: "ada-1".into(), behaviour });
    let expected = Command::Act(set(Behaviour::Patrol), Some(set(Behaviour::Wander)));
    assert_eq!(window.state().commands, [expected]);
}

#[test]
fn a_task_is_given_as_typed() {
    let mut window = inspect(&[ada()]);
    click(&mut window, "Give task");
    assert!(window.state().commands.is_empty(), "an empty text is no task");
    window.get_by_label("Task").focus();
    window.run_steps(1);
    window.get_by_label("Task").type_text("Water the plants");
    window.run_steps(2);
    click(&mut window, "Give task");
    let task = TaskCommand { agent: "ada-1".into(), text: "Water the plants".into() };
    assert_eq!(window.state().commands, [Command::Act(RoomAct::Task(task), None)]);
    assert_eq!(window.state().parts.pane::<Inspector>().drafts["task of ada-1"], "");
}

#[test]
fn an_agent_is_paused_duplicated_and_deleted() {
    let mut window = inspect(&[ada()]);
    for label in ["Pause agent", "About of the agent", "Duplicate", "Delete"] {
        click(&mut window, label);
    }
    let expected = [
        Command::Act(RoomAct::Agent(AgentCommand::Pause { agent: "ada-1".into() }), None),
        Command::Duplicate(vec![ada()]),
        Command::Delete(vec![ada()]),
    ];
    assert_eq!(window.state().commands, expected);
}

#[test]
fn an_element_is_renamed_when_its_field_loses_focus() {
    let mut window = inspect(&[post()]);
    window.get_by_label("Label").focus();
    window.run_steps(1);
    window.get_by_label("Label").type_text(" office");
    window.run_steps(2);
    assert!(window.state().commands.is_empty());
    window.key_press(egui::Key::Enter);
    window.run_steps(2);
    let relabel =
        |label: &str| RoomAct::Element(ElementCommand::Relabel { element: "post".into(), label: label.into() });
    assert_eq!(window.state().commands, [Command::Act(relabel("post office"), Some(relabel("post")))]);
}

#[test]
fn an_inbox_can_be_assigned_and_opened() {
    let mut window = inspect(&[post()]);
    click(&mut window, "Owner");
    click(&mut window, "Bram");
    let set = |owner: Option<&str>| {
        RoomAct::Element(ElementCommand::SetOwner { element: "post".into(), owner: owner.map(Into::into) })
    };
    assert_eq!(window.state().commands, [Command::Act(set(Some("bram-1")), Some(set(None)))]);
    click(&mut window, "Open");
    assert_eq!(window.state().state.front.element().map(|id| &**id), Some("post"));
}

#[test]
fn a_message_board_shows_a_channel_or_none() {
    use crate::view::collaboration::{ChannelView, CollaborationView};
    use crate::view::model::ContentView;
    let mut window = inspect(&[RoomObject::Element("news".into())]);
    let room = &mut window.state_mut().room;
    room.elements.push(crate::ui::testing::element(9, "news", "messageboard", ContentView::Text("Hello".into())));
    let channel = |name: &str| ChannelView { name: name.into(), ..ChannelView::default() };
    let together =
        CollaborationView { channels: vec![channel("findings"), channel("talk")], ..CollaborationView::default() };
    room.collaboration = together.clone().into();
    window.run_steps(3);
    click(&mut window, "Channel");
    click(&mut window, "#talk");
    let set = |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        RoomAct::Element(ElementCommand::SetChannel { element: "news".into(), channel })
    };
    assert_eq!(window.state().commands, [Command::Act(set(Some("talk")), Some(set(None)))]);
    window.state_mut().commands.clear();
    let shown = [("news".into(), "talk".into())].into();
    window.state_mut().room.collaboration = CollaborationView { shown, ..together }.into();
    window.run_steps(3);
    click(&mut window, "Channel");
    click(&mut window, "No channel");
    assert_eq!(window.state().commands, [Command::Act(set(None), Some(set(Some("talk"))))]);
}

#[test]
fn several_items_are_counted_and_an_empty_selection_explains_itself() {
    let mut window = inspect(&[ada(), post()]);
    assert!(window.query_by_label("1 agent, 1 element").is_some());
    click(&mut window, "Delete");
    assert_eq!(window.state().commands, [Command::Delete(vec![ada(), post()])]);
    assert!(inspect(&[]).query_by_label("Event log").is_some(), "the events of the whole room");
    assert!(inspect(&[RoomObject::Agent("gone".into())]).query_by_label("gone has left the room").is_some());
}

#[test]
fn the_last_prompt_shows_its_sources() {
    use crate::mind::{LeftOut, Prompt, PromptOrigin, PromptPart};
    let mut window = inspect(&[ada()]);
    let mut detail = (**window.state().room.agents[0].detail.as_ref().unwrap()).clone();
    let part = PromptPart::new(PromptOrigin::of_element("board", "news"), "All is well");
    let origin = PromptOrigin { label: "The weather".into(), ..PromptOrigin::of("weather") };
    let left_out = vec![LeftOut { origin, why: "no answer".into() }];
    let prompt = Prompt { system: vec![part], moment: "Read it.".into(), left_out, ..Prompt::default() };
    detail.last_prompt = Some(prompt);
    window.state_mut().room.agents[0].detail = Some(detail.into());
    window.run_steps(2);
    click(&mut window, "Prompts of the agent");
    click(&mut window, "Last prompt, about 5 tokens");
    window.run_steps(20);
    assert!(window.query_by_label("Message board news, 3 tokens").is_some());
    assert!(window.query_by_label("What it is asked now, 2 tokens").is_some());
    assert!(window.query_by_label("Left out: The weather, no answer").is_some());
}

mod agents;
mod files;
