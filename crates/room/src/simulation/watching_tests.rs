//! Changes in a furnished room that wake agents, what a person does to agents, and how standing agents make room.

use serde_json::{Value, json};

use super::components::AttentionCalendar;
use super::tests::SimulatedRoom;
use super::*;
use crate::base::{AgentKey, Author, Behaviour, ConversationKey, ElementKey, Id, Seq};
use crate::element::{ElementAct, ElementCommand, ElementEdit, ItemList, ListAct, MailAct, PinAct, TextAct};
use crate::log::events;
use crate::schedule::{saved as saving, ticks};
use crate::workspace::FileChanged;
use crate::workspace::files::FileContent;
use bevy::ecs::message::{MessageCursor, Messages};
use bevy::math::Vec2;

/// Two agents far from everything, so that only a change wakes them.
fn furnished() -> (SimulatedRoom, AgentKey, AgentKey) {
    let mut room = SimulatedRoom::furnished();
    room.answer = |_| None;
    let ada = room.agent("ada", (5000.0, 0.0), Behaviour::Stationary);
    let ben = room.agent("ben", (5300.0, 0.0), Behaviour::Stationary);
    room.run(1);
    (room, ada, ben)
}

fn place(room: &mut SimulatedRoom, id: &str, kind: &str, rest: Value) -> ElementKey {
    let mut keys = json!({ "id": id, "kind": kind, "position": [0, 0] });
    keys.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    room.say(ElementCommand::Add { keys: keys.as_object().unwrap().clone() });
    room.run(1);
    room.app.world().resource::<Elements>().key(id).unwrap()
}

fn edit(room: &mut SimulatedRoom, element: &str, by: &str, act: ElementAct) {
    room.say(ElementEdit { element: element.into(), act, by: Author(by.into()), cause: None });
}

fn queued(room: &SimulatedRoom, agent: AgentKey) -> Vec<Action> {
    room.get::<Queue>(agent).0.iter().map(|queued| queued.action.clone()).collect()
}

fn text(text: &str) -> ElementAct {
    TextAct::SetText { text: text.into() }.into()
}

fn pin(text: &str) -> ElementAct {
    PinAct::AddPin { id: None, text: text.into() }.into()
}

fn mail() -> ElementAct {
    MailAct::AddMail {
        id: None,
        from: "ben".into(),
        to: "ada".into(),
        subject: "Hello".into(),
        text: "Are you there?".into(),
        attachments: Vec::new(),
    }
    .into()
}

#[test]
fn each_kind_of_change_wakes_those_whom_it_concerns() {
    // The kind, who changes it, what, and how urgently Ada and Ben want to read it then.
    let table = [
        ("rulebook", "user", text("Be brief."), Some(true), Some(true)),
        ("messageboard", "user", text("The bridge is closed."), Some(true), Some(true)),
        ("pinboard", "user", pin("an idea"), Some(false), Some(false)),
        ("pinboard", "ada", pin("an idea"), None, Some(false)),
        ("inbox", "ben", mail(), Some(true), None),
    ];
    for (kind, by, act, adas, bens) in table {
        let (mut room, ada, ben) = furnished();
        let owner = if kind == "inbox" { json!({ "owner": "ada" }) } else { json!({}) };
        let element = place(&mut room, "it", kind, owner);
        room.run(3);
        assert_eq!((queued(&room, ada), queued(&room, ben)), (vec![], vec![]), "first sight of a {kind} wakes nobody");
        edit(&mut room, "it", by, act);
        room.run(1);
        let wanted = |high: Option<bool>| Vec::from_iter(high.map(|high| Action::ReadElement { element, high }));
        assert_eq!(queued(&room, ada), wanted(adas), "ada, {kind} by {by}");
        assert_eq!(queued(&room, ben), wanted(bens), "ben, {kind} by {by}");
        let records = room.events::<events::ActionQueued>().len();
        assert_eq!(records, usize::from(adas.is_some()) + usize::from(bens.is_some()));
    }
}

#[test]
fn a_task_board_is_read_when_it_changes_and_the_record_of_questions_to_a_person_is_not() {
    for (file, is_read) in [("tasks/work.task.md", true), ("tasks/approvals.task.md", false)] {
        let (mut room, ada, ben) = furnished();
        let says = |text: &str| FileChanged::new(file, FileContent::Text(text.to_owned()));
        room.say(says("## TODO\n"));
        let board = place(&mut room, "board", "taskboard", json!({ "file": file }));
        room.run(3);
        room.say(says("## TODO\n\n- [ ] A @human \"Run it\"\n"));
        room.run(1);
        assert_eq!(element(&room, board).version, 1, "{file}: the board shows it");
        let reads = [ada, ben].map(|agent| !queued(&room, agent).is_empty());
        assert_eq!(reads, [is_read; 2], "{file}");
    }
}

#[test]
fn trap_an_edited_letter_is_read_again_by_its_owner() {
    let (mut room, ada, ben) = furnished();
    let letter =
        json!({ "id": "m1", "from": "ben", "text": "The meeting is on Monday", "read": 1.0, "status": "closed" });
    let element = place(&mut room, "it", "inbox", json!({ "owner": "ada", "items": [letter] }));
    room.run(1);
    let keys = |value: Value| value.as_object().unwrap().clone();
    let correct = |value| ListAct::Correct { list: ItemList::Items, id: "m1".into(), keys: keys(value) }.into();
    edit(&mut room, "it", "user", correct(json!({ "status": "pending" })));
    room.run(1);
    assert_eq!(queued(&room, ada), [], "where it stands is no news");
    edit(&mut room, "it", "user", correct(json!({ "text": "The meeting is on Tuesday" })));
    room.run(1);
    assert_eq!(queued(&room, ada), [Action::ReadElement { element, high: true }]);
    assert_eq!(queued(&room, ben), []);
    let held = room.app.world().resource::<Elements>().entity(element).unwrap();
    let held = room.app.world().get::<crate::element::HeldContent>(held).unwrap();
    let inbox = held.0.as_any().downcast_ref::<crate::element::inbox::Inbox>().unwrap();
    assert_eq!((inbox.items[0].read, inbox.items[0].text.as_str()), (None, "The meeting is on Tuesday"));
}

#[test]
fn an_element_is_read_as_it_is_on_arrival() {
    let (mut room, ada, _) = furnished();
    let board = place(&mut room, "news", "messageboard", json!({}));
    edit(&mut room, "news", "user", text("Closed."));
    room.run(ticks(2.0));
    assert!(
        matches!(room.get::<Activity>(ada).doing, ActivityKind::Reading { .. })
            && room.get::<Activity>(ada).awaited.is_none()
    );
    edit(&mut room, "news", "user", text("Open again."));
    room.run(1);
    let version = element(&room, board).version;
    let mut walked = 0;
    while room.get::<Activity>(ada).awaited.is_none() && walked < ticks(120.0) {
        room.run(1);
        walked += 1;
    }
    let ActivityKind::Reading { version: read, .. } = room.get::<Activity>(ada).doing else { panic!("it reads") };
    assert_eq!(read, version);
}

#[test]
fn trap_an_edit_in_the_same_tick_as_a_removal_is_noticed() {
    let (mut room, ada, ben) = furnished();
    let board = place(&mut room, "ideas", "pinboard", json!({ "pins": ["old"] }));
    let version = element(&room, board).version;
    edit(&mut room, "ideas", "user", PinAct::RemovePin { id: "p1".into() }.into());
    edit(&mut room, "ideas", "user", pin("new"));
    room.run(1);
    assert_eq!(element(&room, board).version, version + 2);
    for agent in [ada, ben] {
        assert_eq!(queued(&room, agent), [Action::ReadElement { element: board, high: false }]);
    }
    // One element is removed in the same tick in which another is changed.
    let news = place(&mut room, "news", "messageboard", json!({}));
    room.say(ElementCommand::Remove { element: "ideas".into() });
    edit(&mut room, "news", "user", text("Ideas are gone."));
    room.run(1);
    let elements: Vec<_> = queued(&room, ada).into_iter().filter_map(|action| action.element()).collect();
    let walks_there =
        matches!(room.get::<Activity>(ada).doing, ActivityKind::Reading { element, .. } if element == board);
    assert!(elements.contains(&news) && !walks_there, "{elements:?}");
}

fn element(room: &SimulatedRoom, key: ElementKey) -> crate::element::Element {
    let entity = room.app.world().resource::<Elements>().entity(key).unwrap();
    room.app.world().get::<crate::element::Element>(entity).unwrap().clone()
}

#[test]
fn a_removal_alone_wakes_nobody() {
    let (mut room, ada, _) = furnished();
    place(&mut room, "ideas", "pinboard", json!({ "pins": ["old"] }));
    edit(&mut room, "ideas", "user", PinAct::RemovePin { id: "p1".into() }.into());
    room.run(1);
    assert_eq!(queued(&room, ada), []);
}

#[test]
fn a_paused_agent_keeps_its_queue_and_continues_when_it_may() {
    let (mut room, ada, _) = furnished();
    place(&mut room, "rules", "rulebook", json!({}));
    room.say(AgentCommand::Pause { agent: "ada".into() });
    edit(&mut room, "rules", "user", text("Be brief."));
    room.run(90);
    assert_eq!((room.state(ada), queued(&room, ada).len()), (State::Paused, 1));
    assert_eq!(room.position(ada), Vec2::new(5000.0, 0.0));
    room.say(AgentCommand::Resume { agent: "ada".into() });
    room.run(30);
    assert_eq!((room.state(ada), queued(&room, ada).len()), (State::Reading, 0));
    assert!(room.position(ada).x < 4950.0);
}

#[test]
fn an_agent_goes_to_a_new_home_and_it_is_written_however_near_it_is() {
    let (mut room, ada, _) = furnished();
    let mut writes = MessageCursor::<SceneWrite>::default();
    for x in [5200.0, 5215.0] {
        room.say(AgentCommand::SetHome { agent: "ada".into(), position: Vec2::new(x, 0.04), by: None });
        room.run(1);
        let written = writes.read(room.app.world().resource::<Messages<SceneWrite>>()).last().cloned();
        let Some(SceneWrite::Agent { id, keys }) = written else { panic!("the scene is told") };
        assert_eq!((&*id, &keys["position"]), ("ada", &json!([x, 0.0])));
        room.run(ticks(3.0));
        assert_eq!(room.get::<Home>(ada).0, Vec2::new(x, 0.0));
        assert!(room.position(ada).distance(Vec2::new(x, 0.0)) <= 3.0, "{}", room.position(ada));
    }
}

#[test]
fn trap_another_behaviour_during_a_conversation_takes_effect_after_it() {
    let (mut room, ada, _) = furnished();
    let participants = vec![Id::from("ada"), Id::from("ben")];
    room.say(ConversationCommand::Start { participants, topic: "the weather".into() });
    room.run(ticks(6.0));
    assert_eq!(room.state(ada), State::Conversing);
    room.say(AgentCommand::SetBehaviour { agent: "ada".into(), behaviour: Behaviour::Patrol });
    room.run(5);
    assert_eq!(room.state(ada), State::Conversing);
    room.say(ConversationCommand::Stop { conversation: ConversationKey(0) });
    room.run(1);
    assert_eq!(room.state(ada), State::Cooldown);
    room.run(ticks(4.0));
    assert_eq!(room.state(ada), State::Patrolling);
    assert_eq!(room.get::<Activity>(ada).behaviour, Behaviour::Patrol);
}

#[test]
fn compaction_comes_first_and_its_failure_delays_nothing() {
    let (mut room, ada, _) = furnished();
    place(&mut room, "rules", "rulebook", json!({}));
    edit(&mut room, "rules", "user", text("Be brief."));
    room.say(CompactionWanted { agent: ada, cause: Seq(1) });
    room.answer = |_| Some(ThinkOutcome::Failed { why: "no network".into(), cause: FailureCause::Passing });
    room.run(2);
    assert_eq!(room.get::<AgentState>(ada).0.why(), "summing up what it knows");
    assert!(matches!(room.dues[..], [ThinkDue { think: Think::Compact, .. }]));
    assert_eq!(queued(&room, ada).len(), 1, "the reading waits");
    room.run(2);
    assert_eq!((room.state(ada), queued(&room, ada)), (State::Reading, vec![]), "nothing waits for what failed");
    room.answer = |_| Some(ThinkOutcome::Said { text: String::new() });
    room.say(CompactionWanted { agent: ada, cause: Seq(1) });
    room.run(ticks(80.0));
    assert_eq!(room.dues.iter().filter(|due| due.think == Think::Compact).count(), 2, "whoever keeps it asks again");
}

#[test]
fn an_agent_that_cannot_reach_its_listener_gives_up_after_a_minute() {
    let mut room = SimulatedRoom::furnished();
    room.answer = |_| None;
    let news = place(&mut room, "news", "messageboard", json!({ "position": [0, 9000] }));
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.agent("ben", (300.0, 0.0), Behaviour::Stationary);
    room.run(1);
    let note = "the party is on Friday".into();
    room.say(NewsNoted { agent: ada, element: news, version: 0, note, may_tell: true, cause: Seq(1) });
    room.say(AgentCommand::PickUp { agent: "ben".into() });
    room.run(2);
    assert!(room.get::<AgentState>(ada).0.is_on_errand());
    room.say(AgentCommand::Carry { agent: "ben".into(), position: Vec2::new(90_000.0, 0.0) });
    room.run(ticks(59.0));
    assert!(room.get::<AgentState>(ada).0.is_on_errand());
    room.run(ticks(2.0));
    assert_eq!((room.state(ada), room.get::<Activity>(ada).news), (State::Idle, None));
    let dropped = room.events::<events::ActionDropped>();
    assert_eq!(
        (dropped[0].action.as_deref(), &*dropped[0].why),
        (Some("approachAgent"), "could not be reached in time")
    );
}

#[test]
fn a_person_speaks_in_a_conversation_and_is_told_when_it_is_over() {
    let (mut room, ada, ben) = furnished();
    let participants = vec![Id::from("ada"), Id::from("ben")];
    room.say(ConversationCommand::Start { participants, topic: "the weather".into() });
    room.run(ticks(6.0));
    let key = ConversationKey(0);
    let speak = ConversationCommand::Speak { conversation: key, text: "Bring an umbrella.".into() };
    room.say(speak.clone());
    room.run(1);
    let conversation = room.app.world().resource::<Conversations>().get(key).unwrap();
    let said = &conversation.said[0];
    assert_eq!((said.by.is_user(), &*said.text, conversation.speaker), (true, "Bring an umbrella.", 0));
    assert_eq!(room.events::<events::Message>()[0].by.as_deref(), Some("user"));
    // It does not take an agent's turn: Ada, who was asked, still answers, and then it is Ben's turn.
    let due = room.dues[0].clone();
    assert_eq!(due.agent, ada);
    room.answer_to(&due, ThinkOutcome::Said { text: "I will.".into() });
    room.run(2);
    assert_eq!(room.dues.last().unwrap().agent, ben);
    room.say(ConversationCommand::Stop { conversation: key });
    room.run(1);
    assert!(room.events::<events::Warning>().is_empty());
    room.say(speak);
    room.run(1);
    assert_eq!(room.events::<events::Warning>()[0].text.as_deref(), Some("Bring an umbrella."));
}

/// Agents that stay where they are, all at one point.
fn heap(agents: usize) -> (SimulatedRoom, Vec<AgentKey>) {
    let mut room = SimulatedRoom::new();
    let mut minds = room.app.world_mut().resource_mut::<AttentionSettings>();
    (minds.min_heartbeat_secs, minds.max_heartbeat_secs) = (1.0e5, 1.0e5);
    room.say(ConversationCommand::Switch { on: false });
    let agents = (0..agents).map(|index| room.agent(&format!("a{index}"), (7.0, -3.0), Behaviour::Stationary));
    let agents = agents.collect();
    (room, agents)
}

fn least_gap(room: &SimulatedRoom, agents: &[AgentKey]) -> f32 {
    let places: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
    let pairs =
        places.iter().enumerate().flat_map(|(index, one)| places[index + 1..].iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| one.distance(*other)).fold(f32::INFINITY, f32::min)
}

#[test]
fn agents_at_one_point_softly_part_and_then_stand_still() {
    for count in [2, 3, 25] {
        let (mut room, agents) = heap(count);
        room.run(1);
        let first: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
        assert!(first.iter().all(|place| place.distance(Vec2::new(7.0, -3.0)) < 2.0), "no jumps: {first:?}");
        room.run(ticks(30.0));
        assert!(least_gap(&room, &agents) >= 30.0, "{count}: {}", least_gap(&room, &agents));
        assert!(room.app.world().resource::<AttentionCalendar>().stopped.is_empty(), "nothing is left to do");
        let places = |room: &SimulatedRoom| Vec::from_iter(agents.iter().map(|agent| room.position(*agent)));
        let at_rest = places(&room);
        room.run(30);
        assert_eq!(places(&room), at_rest, "nobody moves any more");
    }
}

#[test]
fn parting_continues_after_a_restart_as_it_would_have() {
    let (mut one, _) = heap(9);
    one.run(4);
    let saved_world = saving::save_world(one.app.world_mut()).unwrap();
    let (mut other, _) = heap(9);
    other.run(1);
    saving::load_world(other.app.world_mut(), &saved_world).unwrap();
    for _ in 0..200 {
        one.run(1);
        other.run(1);
        assert_eq!(one.hash(), other.hash());
    }
}

#[test]
fn a_carried_agent_moves_nobody_and_is_not_moved() {
    let (mut room, agents) = heap(1);
    let ben = room.agent("ben", (500.0, 0.0), Behaviour::Stationary);
    room.say(AgentCommand::PickUp { agent: "ben".into() });
    room.run(1);
    room.say(AgentCommand::Carry { agent: "ben".into(), position: Vec2::new(7.0, -3.0) });
    room.run(60);
    assert_eq!((room.position(agents[0]), room.position(ben)), (Vec2::new(7.0, -3.0), Vec2::new(7.0, -3.0)));
    room.say(AgentCommand::PutDown { agent: "ben".into() });
    room.run(ticks(5.0));
    assert!(least_gap(&room, &[agents[0], ben]) >= 30.0);
}
