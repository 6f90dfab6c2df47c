//! Tests that agents' changes are collected, that chain reactions end, and that no agent waits for one that is waiting
//! itself.

use serde_json::{Value, json};

use super::tests::SimulatedRoom;
use super::*;
use crate::base::{AgentKey, Author, Behaviour, ElementKey, Seq};
use crate::element::{ElementAct, ElementCommand, ElementEdit, PinAct, TextAct};
use crate::log::events;
use crate::schedule::ticks;

/// Ada, Ben and Cy beside a pinboard; only changes wake them.
fn beside_a_board() -> (SimulatedRoom, [AgentKey; 3], ElementKey) {
    let mut room = SimulatedRoom::furnished();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    room.say(ConversationCommand::Switch { on: false });
    let agents = [("ada", 0.0), ("ben", 60.0), ("cy", 120.0)];
    let agents = agents.map(|(id, x)| room.agent(id, (x, 80.0), Behaviour::Stationary));
    let board = place(&mut room, "ideas", "pinboard", json!({}));
    (room, agents, board)
}

fn place(room: &mut SimulatedRoom, id: &str, kind: &str, rest: Value) -> ElementKey {
    let mut keys = json!({ "id": id, "kind": kind, "position": [60, 0] });
    keys.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    room.say(ElementCommand::Add { keys: keys.as_object().unwrap().clone() });
    room.run(1);
    room.app.world().resource::<Elements>().key(id).unwrap()
}

fn edit(room: &mut SimulatedRoom, element: &str, by: &str, act: ElementAct) {
    room.say(ElementEdit { element: element.into(), act, by: Author(by.into()), cause: None });
    room.run(1);
}

fn pin(room: &mut SimulatedRoom, by: &str, text: &str) {
    edit(room, "ideas", by, PinAct::AddPin { id: None, text: text.into() }.into());
}

fn reads(room: &SimulatedRoom, agent: AgentKey) -> usize {
    room.dues.iter().filter(|due| due.agent == agent && matches!(due.think, Think::Read { .. })).count()
}

#[test]
fn pins_by_agents_are_collected_until_some_time_after_the_last_read() {
    let (mut room, [ada, ben, cy], board) = beside_a_board();
    let collects_secs = room.app.world().resource::<AttentionSettings>().collect_secs;
    pin(&mut room, "user", "from outside");
    room.run(ticks(20.0));
    assert_eq!([ada, ben, cy].map(|agent| reads(&room, agent)), [1, 1, 1], "what a person pins is read at once");
    for number in 0..5 {
        pin(&mut room, "ben", &format!("thought {number}"));
        room.run(ticks(40.0));
    }
    let queued: Vec<_> =
        room.get::<Queue>(ada).0.iter().map(|queued| (queued.action.clone(), queued.not_before)).collect();
    let last_look = room.get::<Activity>(ada).read[&board].tick;
    let waits = (Action::ReadElement { element: board, high: false }, last_look + ticks(collects_secs));
    assert_eq!((queued, reads(&room, ada)), (vec![waits], 1), "it is queued, and it waits");
    room.run(ticks(collects_secs - 190.0));
    assert_eq!([ada, ben, cy].map(|agent| reads(&room, agent)), [2, 1, 2], "all five at once");
}

#[test]
fn changes_that_concern_the_reader_or_come_from_a_person_are_read_at_once() {
    let vote = |up| PinAct::Vote { id: "p1".into(), up }.into();
    let comment = PinAct::Comment { id: "p1".into(), text: "Which?".into() }.into();
    let add = |text: &str| PinAct::AddPin { id: None, text: text.into() }.into();
    for (what, by, act, expected) in [
        ("her pin is voted on", "ben", vote(true), [1, 0]),
        ("her pin is commented", "ben", comment, [1, 0]),
        ("she is named", "ben", add("What does ADA say?"), [1, 0]),
        ("she is not quite named", "ben", add("What does Adam say?"), [0, 0]),
        ("a person pins", "user", add("From outside"), [1, 1]),
    ] {
        let (mut room, [ada, _, cy], _) = beside_a_board();
        pin(&mut room, "ada", "her own");
        pin(&mut room, "user", "from outside");
        room.run(ticks(20.0));
        let before = [ada, cy].map(|agent| reads(&room, agent));
        edit(&mut room, "ideas", by, act);
        room.run(ticks(20.0));
        let after = [ada, cy].map(|agent| reads(&room, agent));
        assert_eq!([after[0] - before[0], after[1] - before[1]], expected, "{what}");
    }
}

#[test]
fn a_persons_change_makes_a_delayed_read_due() {
    let (mut room, [ada, ..], _) = beside_a_board();
    pin(&mut room, "user", "from outside");
    room.run(ticks(20.0));
    pin(&mut room, "ben", "a thought");
    room.run(ticks(20.0));
    assert_eq!(reads(&room, ada), 1);
    pin(&mut room, "user", "again from outside");
    room.run(ticks(20.0));
    assert_eq!((reads(&room, ada), room.get::<Queue>(ada).0.len()), (2, 0), "both are read");
}

#[test]
fn changes_passed_on_too_often_wake_nobody_and_are_not_sought() {
    let (mut room, [ada, ben, cy], board) = beside_a_board();
    let mut minds = room.app.world_mut().resource_mut::<AttentionSettings>();
    (minds.max_hops, minds.collect_secs) = (1, 0.0);
    pin(&mut room, "user", "from outside");
    room.run(ticks(20.0));
    pin(&mut room, "ada", "what she makes of it");
    room.run(ticks(20.0));
    assert_eq!([ada, ben, cy].map(|agent| reads(&room, agent)), [1, 2, 2]);
    pin(&mut room, "ben", "what he makes of that");
    room.run(ticks(20.0));
    assert_eq!([ada, ben, cy].map(|agent| reads(&room, agent)), [1, 2, 2], "it has gone round enough");
    room.enqueue(cy, Action::SeekInfo { element: board });
    room.run(ticks(20.0));
    assert_eq!(reads(&room, cy), 2, "whoever looks asks no model");
    assert_eq!(
        room.events::<events::Read>().last().expect("it looked").why.as_deref(),
        Some("nothing new from outside")
    );
    pin(&mut room, "user", "again from outside");
    room.run(ticks(20.0));
    assert_eq!([ada, ben, cy].map(|agent| reads(&room, agent)), [2, 3, 3], "now everyone sees all of it");
}

fn news_of(agent: AgentKey, element: ElementKey, note: &str) -> NewsNoted {
    NewsNoted { agent, element, version: 1, note: note.into(), may_tell: true, cause: Seq(1) }
}

/// Agents in a ring, each nearest to the next, and each with news about an element of its own.
fn with_news(ids: &[&str]) -> (SimulatedRoom, Vec<AgentKey>, Vec<ElementKey>) {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let places = [(0.0, 0.0), (300.0, 0.0), (150.0, 260.0)];
    let agents: Vec<_> = ids.iter().zip(places).map(|(id, at)| room.agent(id, at, Behaviour::Stationary)).collect();
    let elements: Vec<_> = ids.iter().map(|id| room.element(&format!("of-{id}"), (0.0, 5_000.0), None)).collect();
    room.run(1);
    for (agent, element) in agents.iter().zip(&elements) {
        room.say(news_of(*agent, *element, "there is something new"));
    }
    (room, agents, elements)
}

#[test]
fn two_agents_that_want_to_tell_each_other_something_begin_at_once() {
    let (mut room, agents, elements) = with_news(&["ada", "ben"]);
    room.run(ticks(8.0));
    assert_eq!(room.events::<events::ConversationStart>().len(), 1);
    for agent in &agents {
        let activity: Activity = room.get(*agent);
        assert!(
            elements.iter().all(|element| activity.told.contains_key(element)),
            "each was told both: {:?}",
            activity.told
        );
        assert_eq!(activity.news, None);
    }
    room.run(ticks(60.0));
    let starts = room.events::<events::ConversationStart>();
    assert_eq!(starts.iter().filter(|start| start.kind == "tell").count(), 1, "one talk was enough: {starts:?}");
}

#[test]
fn nobody_waits_for_an_agent_that_waits() {
    let (mut room, agents, elements) = with_news(&["ada", "ben", "cy"]);
    room.run(ticks(30.0));
    let tells = room.events::<events::ConversationStart>().iter().filter(|start| start.kind == "tell").count();
    assert!(tells >= 2, "{tells}");
    assert!(room.events::<events::ActionDropped>().iter().all(|dropped| dropped.why != "too few of them could meet"));
    let told: usize = agents.iter().map(|agent| room.get::<Activity>(*agent).told.len()).sum();
    assert!(told >= elements.len() * 2 - 1, "what each had to tell was told");
}

#[test]
fn an_agent_on_its_way_to_tell_something_first_reads_what_is_urgent() {
    for waits in [false, true] {
        let mut room = SimulatedRoom::furnished();
        room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
        let news = place(&mut room, "news", "messageboard", json!({ "position": [0, 9000] }));
        let rules = place(&mut room, "rules", "rulebook", json!({ "position": [0, 60] }));
        let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
        let ben = room.agent("ben", (380.0, 0.0), Behaviour::Stationary);
        room.run(1);
        let mut heard = news_of(ada, news, "the bridge is closed");
        heard.version = 0;
        room.say(heard);
        if waits {
            // She walks to him and waits, because a person is dragging him.
            room.say(AgentCommand::PickUp { agent: "ben".into() });
        }
        room.run(ticks(if waits { 8.0 } else { 2.0 }));
        let doing = room.get::<Activity>(ada).doing;
        assert!(
            matches!((&doing, waits), (ActivityKind::Telling { .. }, false) | (ActivityKind::Gathering { .. }, true)),
            "{doing:?}"
        );
        edit(&mut room, "rules", "user", TextAct::SetText { text: "Be brief.".into() }.into());
        room.run(2);
        assert_eq!(room.state(ada), State::Reading, "waiting: {waits}");
        room.say(AgentCommand::PutDown { agent: "ben".into() });
        room.run(ticks(30.0));
        assert_eq!(room.get::<Activity>(ada).version_read(rules), Some(1));
        assert_eq!(room.get::<Activity>(ben).told.get(&news), Some(&0), "what she had to tell was told");
    }
}

#[test]
fn an_agent_carries_its_news_until_the_conversation_begins() {
    let mut room = SimulatedRoom::furnished();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let news = place(&mut room, "news", "messageboard", json!({ "position": [0, 9000] }));
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.agent("ben", (380.0, 0.0), Behaviour::Stationary);
    room.run(1);
    room.say(NewsNoted { version: 0, ..news_of(ada, news, "the bridge is closed") });
    // She reaches him and waits, because a person holds him.
    room.say(AgentCommand::PickUp { agent: "ben".into() });
    room.run(2);
    let held = |room: &SimulatedRoom, activity: &Activity| {
        let state = room.state(ada);
        Held::of(Posture::of(state, &room.get::<Walk>(ada), activity), state, activity, None)
    };
    let mut waited = 0;
    for tick in 0..ticks(20.0) {
        if tick == ticks(8.0) {
            room.say(AgentCommand::PutDown { agent: "ben".into() });
        }
        let activity = room.get::<Activity>(ada);
        if room.state(ada) == State::Conversing {
            break;
        }
        assert_eq!(held(&room, &activity), Some(Held::Letter), "{:?}", activity.doing);
        waited += u64::from(matches!(activity.doing, ActivityKind::Gathering { .. }));
        room.run(1);
    }
    assert!(waited > 0, "she had to wait for him");
    let activity = room.get::<Activity>(ada);
    assert_eq!((room.state(ada), held(&room, &activity)), (State::Conversing, None));
}

#[test]
fn an_idle_room_shows_activity_in_every_minute() {
    use bevy::ecs::message::{MessageCursor, Messages};
    for behaviour in [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol] {
        let mut room = SimulatedRoom::furnished();
        room.say(ConversationCommand::Switch { on: false });
        room.agent("ada", (0.0, 0.0), behaviour);
        room.agent("ben", (90.0, 0.0), behaviour);
        place(&mut room, "ideas", "pinboard", json!({}));
        room.run(ticks(300.0));
        let asked = room.dues.len();
        let mut cursor = MessageCursor::<Reacted>::default();
        for minute in 0..5 {
            let mut seen = 0;
            for _ in 0..ticks(60.0) {
                room.run(1);
                seen += cursor.read(room.app.world().resource::<Messages<Reacted>>()).count();
            }
            assert!(seen > 0, "{behaviour:?}, minute {minute}");
        }
        let calls = room.dues[asked..].iter().filter(|due| !matches!(due.think, Think::Read { .. })).count();
        assert_eq!(calls, 0, "a look at a board that is known asks no model");
    }
}
