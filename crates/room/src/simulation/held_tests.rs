//! An agent that is dragged by a person, or that fails, does not delay others; stationary agents end up at home; old
//! conversations are dropped.

use bevy::math::Vec2;

use super::queue::Action;
use super::settings::{AttentionSettings, ConversationSettings};
use super::tests::{SimulatedRoom, read, talk};
use super::{Activity, Conversations, FailureCause, Home, State, Think, ThinkOutcome, WorkRequested};
use crate::agent::{AgentCommand, Roster};
use crate::base::{ActivationKey, AgentKey, Behaviour, ElementKey, Seq};
use crate::log::events;
use crate::schedule::ticks;

/// Agents in a row, near enough to talk.
fn row(room: &mut SimulatedRoom, ids: &[&str]) -> Vec<AgentKey> {
    let at = |index: usize| (index as f32 * 60.0, 0.0);
    ids.iter().enumerate().map(|(index, id)| room.agent(id, at(index), Behaviour::Stationary)).collect()
}

#[test]
fn a_paused_agent_leaves_its_conversation_and_the_others_continue() {
    for speaker in ["ada", "ben"] {
        let mut room = SimulatedRoom::new();
        let agents = row(&mut room, &["ada", "ben", "cy"]);
        room.app.world_mut().resource_mut::<ConversationSettings>().task_turns = 10_000;
        room.answer = |_| None;
        talk(&mut room, &["ada", "ben", "cy"]);
        room.run(2);
        let due = room.dues.last().expect("somebody speaks").clone();
        room.answer_to(&due, ThinkOutcome::Said { text: "Hello.".into() });
        room.say(AgentCommand::Pause { agent: speaker.into() });
        room.run(2);
        assert_eq!(room.app.world().resource::<Conversations>().iter().count(), 1, "it may be let go on soon");
        room.answer = |_| Some(ThinkOutcome::Said { text: "Go on.".into() });
        room.run(ticks(11.0));
        assert_eq!(room.app.world().resource::<Conversations>().iter().count(), 1);
        let held = if speaker == "ada" { agents[0] } else { agents[1] };
        let others: Vec<AgentKey> = agents.iter().copied().filter(|agent| *agent != held).collect();
        let conversation =
            room.app.world().resource::<Conversations>().iter().next().expect("it should continue").clone();
        assert_eq!((conversation.participants, conversation.left), (others, vec![held]));
        assert_eq!(room.state(held), State::Paused);
    }
}

#[test]
fn two_end_their_talk_when_one_stays_paused_and_both_keep_what_was_said() {
    let mut room = SimulatedRoom::new();
    let agents = row(&mut room, &["ada", "ben"]);
    room.answer = |_| None;
    talk(&mut room, &["ada", "ben"]);
    room.run(2);
    let due = room.dues[0].clone();
    room.answer_to(&due, ThinkOutcome::Said { text: "Hello.".into() });
    room.say(AgentCommand::Pause { agent: "ben".into() });
    room.run(ticks(9.0));
    assert_eq!(room.state(agents[0]), State::Conversing);
    room.run(ticks(2.0));
    assert_eq!(room.events::<events::ConversationEnd>()[0].why, "nobody was left to talk to");
    assert_eq!(room.app.world().resource::<Conversations>().earlier(agents[0], agents[1]).len(), 1);
    room.say(WorkRequested {
        agent: agents[0],
        activation: ActivationKey::numbered(7),
        from: None,
        at: None,
        cause: Seq(1),
    });
    room.run(ticks(5.0));
    assert_eq!(room.state(agents[0]), State::Working, "its work does not wait for the other");
    room.say(AgentCommand::Resume { agent: "ben".into() });
    room.run(ticks(5.0));
    assert_eq!(room.state(agents[1]), State::Idle, "and that one is not left conversing");
}

#[test]
fn a_failed_action_delays_only_itself() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let elements = [room.element("rules", (50.0, 0.0), None), room.element("news", (60.0, 0.0), None)];
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.answer = |due| match due.think {
        Think::Read { element: ElementKey(1) } => Some(ThinkOutcome::Said { text: "Noted.".into() }),
        _ => Some(ThinkOutcome::Failed { why: "no network".into(), cause: FailureCause::Passing }),
    };
    room.run(1);
    room.enqueue(ada, Action::CompactContext);
    room.run(2);
    assert_eq!((room.dues.len(), room.state(ada)), (1, State::Idle), "nobody waits for a compaction that failed");
    room.enqueue(ada, read(elements[0]));
    room.enqueue(ada, read(elements[1]));
    room.run(ticks(9.0));
    assert_eq!(room.get::<Activity>(ada).version_read(elements[1]), Some(1), "the other read went on");
    room.run(ticks(90.0));
    let failed = room.dues.iter().filter(|due| due.think == Think::Read { element: elements[0] }).count();
    assert_eq!(failed, 4, "what failed was tried again 10, 20 and 40 seconds later");
    room.say(WorkRequested { agent: ada, activation: ActivationKey::numbered(7), from: None, at: None, cause: Seq(1) });
    room.run(ticks(6.0));
    assert_eq!(room.state(ada), State::Working);
}

#[test]
fn a_stationary_agent_ends_at_home_and_not_beside_it() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let rules = room.element("rules", (95.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.enqueue(ada, read(rules));
    room.run(ticks(3.0));
    assert_eq!(room.dues.len(), 1, "it went and read");
    assert!(room.position(ada).distance(room.get::<Home>(ada).0) <= 3.0, "{}", room.position(ada));
}

#[test]
fn two_agents_with_the_same_home_come_to_rest() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    room.app.world_mut().resource_mut::<AttentionSettings>().heartbeat_units = 0.0;
    let agents =
        [room.agent("ada", (0.0, 0.0), Behaviour::Stationary), room.agent("ben", (4.0, 0.0), Behaviour::Stationary)];
    room.run(ticks(60.0));
    let places: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
    assert!(places[0].distance(places[1]) >= 20.0, "{places:?}");
    room.run(ticks(60.0));
    let later: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
    assert!(places.iter().zip(&later).all(|(one, other)| one.distance(*other) < 1.0), "{places:?} {later:?}");
}

#[test]
fn conversations_are_kept_for_a_limited_number_of_pairs_and_not_for_removed_agents() {
    let mut room = SimulatedRoom::new();
    let mut settings = room.app.world_mut().resource_mut::<ConversationSettings>();
    (settings.history_pairs, settings.banter_per_hour) = (2, 0);
    let agents = row(&mut room, &["ada", "ben", "cy"]);
    let earlier = |room: &SimulatedRoom, one: usize, other: usize| {
        room.app.world().resource::<Conversations>().earlier(agents[one], agents[other]).len()
    };
    for pair in [["ada", "ben"], ["ben", "cy"], ["ada", "cy"]] {
        talk(&mut room, &pair);
        room.run(ticks(20.0));
    }
    assert_eq!((earlier(&room, 0, 1), earlier(&room, 1, 2), earlier(&room, 0, 2)), (0, 6, 6));
    let entity = room.app.world().resource::<Roster>().entity(agents[2]).expect("cy is here");
    room.app.world_mut().despawn(entity);
    room.app.world_mut().resource_mut::<Roster>().remove(agents[2], "cy");
    room.run(1);
    assert_eq!((earlier(&room, 1, 2), earlier(&room, 0, 2)), (0, 0));
}
