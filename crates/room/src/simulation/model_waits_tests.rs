//! While a model cannot be called, conversations of a person and compactions wait, and cost no calls.

use proptest::prelude::*;

use super::settings::AttentionSettings;
use super::tests::{SimulatedRoom, read, talk};
use super::*;
use crate::base::{ActivationKey, AgentKey, Behaviour, ConversationKey, Seq};
use crate::log::events;
use crate::schedule::ticks;

fn said(_: &ThinkDue) -> Option<ThinkOutcome> {
    Some(ThinkOutcome::Said { text: "So it is.".into() })
}

fn unreachable(_: &ThinkDue) -> Option<ThinkOutcome> {
    Some(ThinkOutcome::Failed { why: "openai cannot be reached".into(), cause: FailureCause::Model })
}

/// Ada and Ben, near enough to talk.
fn pair() -> (SimulatedRoom, [AgentKey; 2]) {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    let ben = room.agent("ben", (60.0, 0.0), Behaviour::Stationary);
    room.app.world_mut().resource_mut::<ConversationSettings>().banter_per_hour = 0;
    room.run(1);
    (room, [ada, ben])
}

fn set_away(room: &mut SimulatedRoom, agents: &[AgentKey], is_away: bool) {
    room.answer = if is_away { unreachable } else { said };
    for agent in agents {
        let waits_because = is_away.then(|| "openai cannot be reached".to_owned());
        room.say(ModelAvailability { agent: *agent, waits_because });
    }
}

fn ends(room: &SimulatedRoom) -> Vec<String> {
    room.events::<events::ConversationEnd>().into_iter().map(|end| end.why).collect()
}

#[test]
fn a_talk_that_a_person_starts_in_an_outage_waits_and_goes_before_reading() {
    let (mut room, agents) = pair();
    let rules = room.element("rules", (0.0, 100.0), None);
    room.run(1);
    set_away(&mut room, &agents, true);
    room.run(1);
    talk(&mut room, &["ada", "ben"]);
    room.run(ticks(5.0));
    room.enqueue(agents[0], read(rules));
    room.run(ticks(600.0));
    assert_eq!((room.dues.len(), ends(&room)), (0, vec![]), "nobody is asked, and nothing fails");
    let why = room.get::<AgentState>(agents[0]).0.why().to_owned();
    assert_eq!(why, "waits until its model can be called: openai cannot be reached");
    assert!(is_idle(room.app.world_mut()), "nothing can happen until the model answers");
    let waiting: usize = waiting_for_model(room.app.world()).iter().map(|agent| agent.count).sum();
    assert_eq!(waiting, 2, "the turn and the reading");
    // The turn is what is tried first.
    for tries in 1..=3 {
        room.say(TryModel { agents: agents.to_vec(), at_most: 1 });
        room.run(ticks(30.0));
        assert_eq!(room.dues.len(), tries);
    }
    set_away(&mut room, &agents, false);
    room.run(ticks(60.0));
    let is_turn = |due: &ThinkDue| matches!(due.think, Think::Turn { .. });
    assert!(room.dues[..9].iter().all(is_turn), "{:?}", room.dues);
    assert_eq!(room.dues[9].think, Think::Read { element: rules });
    assert_eq!(room.events::<events::Message>().len(), 6, "what failed is no turn");
    assert_eq!(ends(&room), ["everything was said"]);
}

#[test]
fn what_a_person_says_in_a_talk_is_answered_after_the_outage() {
    let (mut room, agents) = pair();
    room.answer = |_| None;
    talk(&mut room, &["ada", "ben"]);
    room.run(3);
    let due = room.dues[0].clone();
    room.answer_to(&due, ThinkOutcome::Said { text: "Hello.".into() });
    set_away(&mut room, &agents, true);
    room.run(2);
    let conversation = ConversationKey(0);
    room.say(ConversationCommand::Speak { conversation, text: "Bring an umbrella.".into() });
    room.run(ticks(300.0));
    let failed = room.dues.len();
    assert!(failed <= 2, "at most the turn that was under way failed: {:?}", room.dues);
    set_away(&mut room, &agents, false);
    room.run(ticks(60.0));
    assert_eq!((room.events::<events::Message>().len(), ends(&room)), (7, vec!["everything was said".to_owned()]));
    assert_eq!(room.events::<events::Warning>(), []);
}

#[test]
fn a_talk_that_waits_gives_way_to_what_its_participants_can_do() {
    let (mut room, [ada, ben]) = pair();
    let rules = room.element("rules", (60.0, 100.0), None);
    room.run(1);
    set_away(&mut room, &[ada], true);
    // Only Ada's model cannot be called.
    room.answer = said;
    talk(&mut room, &["ada", "ben"]);
    room.run(ticks(5.0));
    assert_eq!(room.state(ben), State::Conversing);
    room.enqueue(ben, read(rules));
    room.run(ticks(30.0));
    assert_eq!(room.get::<Activity>(ben).version_read(rules), Some(1));
    assert_eq!(room.state(ben), State::Conversing, "it came back");
    let activation = ActivationKey::numbered(7);
    room.say(WorkRequested { agent: ada, activation, from: None, at: None, cause: Seq(1) });
    room.run(ticks(10.0));
    assert_eq!(room.state(ada), State::Working, "its work does not wait for the talk");
    let activity = room.get::<Activity>(ada).awaited.expect("it works");
    let text = "Done.".to_owned();
    room.say(ThinkDone { agent: ada, activity, think: None, outcome: ThinkOutcome::Said { text }, cause: Seq(1) });
    room.run(ticks(20.0));
    set_away(&mut room, &[ada], false);
    room.run(ticks(60.0));
    let ends = ends(&room);
    assert_eq!(ends.last().map(String::as_str), Some("everything was said"), "{ends:?}");
    assert!(ends[..ends.len() - 1].iter().all(|why| why.contains("they continue later")), "{ends:?}");
    assert_eq!(room.events::<events::Message>().len(), 6);
}

#[test]
fn what_a_person_says_while_a_talk_waits_to_go_on_is_answered_and_a_stopped_one_does_not_go_on() {
    for is_stopped in [false, true] {
        let (mut room, [ada, ben]) = pair();
        set_away(&mut room, &[ada], true);
        talk(&mut room, &["ada", "ben"]);
        room.run(ticks(5.0));
        let activation = ActivationKey::numbered(7);
        room.say(WorkRequested { agent: ben, activation, from: None, at: None, cause: Seq(1) });
        room.run(ticks(10.0));
        assert_eq!((room.state(ben), ends(&room).len()), (State::Working, 1));
        let conversation = ConversationKey(0);
        room.say(ConversationCommand::Speak { conversation, text: "Bring an umbrella.".into() });
        room.run(1);
        assert_eq!(room.events::<events::Warning>(), []);
        if is_stopped {
            room.say(ConversationCommand::Stop { conversation });
        }
        let activity = room.get::<Activity>(ben).awaited.expect("it works");
        let text = "Done.".to_owned();
        room.say(ThinkDone { agent: ben, activity, think: None, outcome: ThinkOutcome::Said { text }, cause: Seq(1) });
        set_away(&mut room, &[ada], false);
        room.run(ticks(60.0));
        let messages = room.events::<events::Message>();
        assert_eq!(messages[0].text, "Bring an umbrella.");
        let starts = room.events::<events::ConversationStart>().len();
        assert_eq!((messages.len(), starts), if is_stopped { (1, 1) } else { (7, 2) });
        assert_eq!(room.events::<events::Warning>().len(), usize::from(is_stopped), "that it did not start is told");
    }
}

#[test]
fn agents_that_talk_without_a_person_end_it_when_a_model_cannot_be_called() {
    let mut room = SimulatedRoom::new();
    room.answer = |_| None;
    let agents = [("ada", 0.0), ("ben", 50.0)].map(|(id, x)| room.agent(id, (x, 0.0), Behaviour::Stationary));
    for _ in 0..600 {
        if !room.dues.is_empty() {
            break;
        }
        room.run(ticks(1.0));
    }
    let due = room.dues[0].clone();
    assert!(matches!(due.think, Think::Turn { .. }), "{due:?}");
    set_away(&mut room, &agents, true);
    let outcome = unreachable(&due).expect("it fails");
    room.answer_to(&due, outcome);
    room.run(ticks(60.0));
    assert_eq!(room.dues.len(), 1, "the other is not asked, too");
    assert_eq!(ends(&room), ["a model cannot be called: openai cannot be reached"]);
}

#[test]
fn a_compaction_waits_and_is_the_last_to_be_tried() {
    let (mut room, agents) = pair();
    let rules = room.element("rules", (0.0, 100.0), None);
    room.run(1);
    set_away(&mut room, &agents, true);
    room.run(1);
    for agent in agents {
        room.say(CompactionWanted { agent, cause: Seq(1) });
    }
    room.run(ticks(600.0));
    assert_eq!(room.dues.len(), 0);
    room.enqueue(agents[1], read(rules));
    room.say(TryModel { agents: agents.to_vec(), at_most: 1 });
    room.run(ticks(30.0));
    assert_eq!(room.dues.iter().map(|due| due.think.clone()).collect::<Vec<_>>(), [Think::Read { element: rules }]);
    set_away(&mut room, &agents, false);
    room.run(ticks(60.0));
    let compactions = room.dues.iter().filter(|due| due.think == Think::Compact);
    assert_eq!(compactions.map(|due| due.agent).collect::<Vec<_>>(), agents, "each once");
}

#[test]
fn a_compaction_that_an_outage_interrupts_is_done_afterwards() {
    for outcome in [unreachable as fn(&ThinkDue) -> _, |_| Some(ThinkOutcome::PutOff)] {
        let (mut room, agents) = pair();
        room.answer = |_| None;
        room.say(CompactionWanted { agent: agents[0], cause: Seq(1) });
        room.run(3);
        let due = room.dues[0].clone();
        set_away(&mut room, &agents, true);
        room.answer_to(&due, outcome(&due).expect("it ends"));
        room.run(ticks(600.0));
        assert_eq!(room.dues.len(), 1, "it is not asked for beside an outage that is known");
        set_away(&mut room, &agents, false);
        room.run(ticks(200.0));
        assert_eq!(room.dues.len(), 2, "{:?}", room.dues);
    }
}

proptest! {
    // For each stretch of time: whether the model is away, whether a person starts a talk in it, and how long it lasts.
    #[test]
    fn after_any_outages_every_talk_of_a_person_was_held_whole(
        stretches in prop::collection::vec((any::<bool>(), any::<bool>(), 1_u8..20), 1..8),
    ) {
        let (mut room, agents) = pair();
        let (mut talks, mut may_fail) = (0, 0);
        for (is_away, starts_talk, secs) in stretches {
            set_away(&mut room, &agents, is_away);
            // In the first tick, a turn may be under way.
            may_fail += 2 * usize::from(is_away);
            if starts_talk {
                talk(&mut room, &["ada", "ben"]);
                talks += 1;
            }
            room.run(1);
            room.say(TryModel { agents: agents.to_vec(), at_most: 1 });
            room.run(ticks(f32::from(secs)));
        }
        set_away(&mut room, &agents, false);
        room.run(ticks(120.0));
        prop_assert_eq!(ends(&room), vec!["everything was said"; talks]);
        prop_assert_eq!(room.events::<events::Message>().len(), 6 * talks);
        prop_assert!(room.dues.len() <= 6 * talks + may_fail, "{} calls for {talks} talks", room.dues.len());
        prop_assert_eq!(room.events::<events::Warning>(), []);
    }
}
