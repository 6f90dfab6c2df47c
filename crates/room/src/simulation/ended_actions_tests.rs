//! Every action that was queued has a record of how it ended, and ends once: a read that fails goes on as a later action,
//! or is dropped. The actions of an agent that is removed end with it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::conversation_state::ConversationState;
use super::queue::Action;
use super::tests::{SimulatedRoom, read, talk};
use super::*;
use crate::agent::{Agent, AgentCommand, Roster};
use crate::base::{AgentKey, Author, Behaviour, ElementKey, Id, Seq};
use crate::log::events::ReadOutcome;
use crate::log::{EventDraft, EventKind, EventLog, EventRecord, events};
use crate::schedule::ticks;

/// Something that happens in the room.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Read(usize, usize, bool),
    Seek(usize, usize),
    Wake(usize, u8),
    Compact(usize),
    News(usize, usize),
    Talk(usize, usize),
    RemoveElement(usize),
    Model(usize, bool),
    Try,
    Answer(u8),
    Pause(usize, bool),
    RemoveAgent(usize),
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let (agent, element) = (|| 0_usize..3, || 0_usize..4);
    prop_oneof![
        4 => (agent(), element(), any::<bool>()).prop_map(|(agent, of, high)| Happening::Read(agent, of, high)),
        2 => (agent(), element()).prop_map(|(agent, of)| Happening::Seek(agent, of)),
        2 => (agent(), 0_u8..4).prop_map(|(agent, reason)| Happening::Wake(agent, reason)),
        1 => agent().prop_map(Happening::Compact),
        2 => (agent(), element()).prop_map(|(agent, of)| Happening::News(agent, of)),
        1 => (agent(), agent()).prop_map(|(one, other)| Happening::Talk(one, other)),
        1 => element().prop_map(Happening::RemoveElement),
        1 => (agent(), any::<bool>()).prop_map(|(agent, is_away)| Happening::Model(agent, is_away)),
        1 => Just(Happening::Try),
        1 => (0_u8..5).prop_map(Happening::Answer),
        2 => (agent(), any::<bool>()).prop_map(|(agent, is_paused)| Happening::Pause(agent, is_paused)),
        1 => agent().prop_map(Happening::RemoveAgent),
    ]
}

fn failed(cause: FailureCause) -> Option<ThinkOutcome> {
    Some(ThinkOutcome::Failed { why: "it failed".into(), cause })
}

/// The ways in which thoughts end.
const ANSWERS: [fn(&ThinkDue) -> Option<ThinkOutcome>; 5] = [
    |_| Some(ThinkOutcome::Said { text: "So it is.".into() }),
    |_| Some(ThinkOutcome::Nothing { why: "nothing new".into() }),
    |_| failed(FailureCause::Passing),
    |_| failed(FailureCause::Model),
    |_| failed(FailureCause::Content),
];

struct Scene {
    room: SimulatedRoom,
    /// Those that are still there.
    agents: Vec<Option<AgentKey>>,
    elements: Vec<Option<ElementKey>>,
}

impl Scene {
    fn new() -> Self {
        let mut room = SimulatedRoom::new();
        // The record that everything here names as its cause is no action itself.
        let first = EventDraft::of(&events::AgentRemoved { profile: "nobody".into() }).agent(&"nobody".into());
        assert_eq!(room.app.world_mut().resource_mut::<EventLog>().write(first), Seq(1));
        let places = (0..4).map(|index| room.element(&format!("e{index}"), (index as f32 * 120.0, 150.0), None));
        let elements = places.map(Some).collect();
        let agents =
            (0..3).map(|index| room.agent(&format!("a{index}"), (index as f32 * 80.0, 0.0), Behaviour::Stationary));
        let agents = agents.map(Some).collect();
        room.run(1);
        Self { room, agents, elements }
    }

    fn happen(&mut self, happening: Happening) {
        let room = &mut self.room;
        match happening {
            Happening::Read(agent, of, high) => {
                let (Some(agent), Some(element)) = (self.agents[agent], self.elements[of]) else { return };
                let action = if high { read(element) } else { Action::ReadElement { element, high } };
                room.enqueue(agent, action);
            }
            Happening::Seek(agent, of) => {
                let (Some(agent), Some(element)) = (self.agents[agent], self.elements[of]) else { return };
                room.enqueue(agent, Action::SeekInfo { element });
            }
            Happening::Wake(agent, reason) => {
                let Some(agent) = self.agents[agent] else { return };
                let interest = Interest::new(format!("bell{reason}"), "somebody rings", Urgency::Read, "Look.");
                room.say(WakeAgent { agent, interest, by: Author::user(), cause: Seq(1) });
            }
            Happening::Compact(agent) => {
                let Some(agent) = self.agents[agent] else { return };
                room.say(CompactionWanted { agent, cause: Seq(1) });
            }
            Happening::News(agent, of) => {
                let (Some(agent), Some(element)) = (self.agents[agent], self.elements[of]) else { return };
                let note = "Tea is at four.".into();
                room.say(NewsNoted { agent, element, version: 1, note, may_tell: true, cause: Seq(1) });
            }
            Happening::Talk(one, other) if [one, other].iter().any(|agent| self.agents[*agent].is_none()) => {}
            Happening::Talk(one, other) => talk(room, &[&format!("a{one}"), &format!("a{other}")]),
            Happening::RemoveElement(of) => {
                if let Some(element) = self.elements[of].take() {
                    room.remove_element(element, &format!("e{of}"));
                }
            }
            Happening::Model(agent, is_away) => {
                let waits_because = is_away.then(|| "openai cannot be reached".to_owned());
                let Some(agent) = self.agents[agent] else { return };
                room.say(ModelAvailability { agent, waits_because });
            }
            Happening::Try => {
                room.say(TryModel { agents: self.agents.iter().flatten().copied().collect(), at_most: 1 });
            }
            Happening::Pause(agent, is_paused) => {
                if self.agents[agent].is_some() {
                    let agent = format!("a{agent}").into();
                    room.say(if is_paused { AgentCommand::Pause { agent } } else { AgentCommand::Resume { agent } });
                }
            }
            Happening::RemoveAgent(agent) => {
                let Some(key) = self.agents[agent].take() else { return };
                let (id, world): (Id, _) = (format!("a{agent}").into(), room.app.world_mut());
                let entity = world.resource::<Roster>().entity(key).expect("it is there");
                let profile = world.get::<Agent>(entity).expect("it is an agent").profile.clone();
                let draft = EventDraft::of(&events::AgentRemoved { profile }).agent(&id);
                world.resource_mut::<EventLog>().write(draft);
                world.resource_mut::<Roster>().remove(key, &id);
                world.despawn(entity);
            }
            Happening::Answer(answer) => room.answer = ANSWERS[usize::from(answer)],
        }
    }

    /// The records of actions that wait or are carried out now.
    fn current(&self) -> BTreeSet<Seq> {
        let world = self.room.app.world();
        let mut current: BTreeSet<Seq> =
            world.resource::<ConversationState>().waiting.iter().map(|proposal| proposal.cause).collect();
        for (_, entity) in world.resource::<Roster>().iter() {
            let queue = world.get::<Queue>(entity).expect("each agent has one");
            current.extend(queue.0.iter().map(|queued| queued.cause));
            match &world.get::<Activity>(entity).expect("each agent has one").doing {
                ActivityKind::Reading { cause, .. }
                | ActivityKind::Attending { cause, .. }
                | ActivityKind::Compacting { cause, .. }
                | ActivityKind::Telling { cause, .. } => {
                    current.insert(*cause);
                }
                _ => {}
            }
        }
        current
    }

    /// The queued actions with more than one record of how they ended. News that an agent tells may lead to several
    /// talks, and is not among them.
    fn ended_twice(&self) -> Vec<String> {
        let records = self.room.app.world().resource::<EventLog>().unwritten();
        let ends = |seq: Seq| records.iter().filter(|record| record.draft.cause == Some(seq) && is_end(record)).count();
        let queued = records.iter().filter(|record| {
            let action: Option<events::ActionQueued> = record.read();
            action.is_some_and(|queued| &*queued.action != "approachAgent")
        });
        queued.filter(|record| ends(record.seq) > 1).map(|record| format!("{record:?}")).collect()
    }

    /// The queued actions that are over without a record of it.
    fn without_end(&self) -> Vec<String> {
        let records = self.room.app.world().resource::<EventLog>().unwritten();
        let is_gone = |record: &&EventRecord| record.draft.kind == EventKind::AgentRemoved;
        let gone: Vec<&Option<Id>> = records.iter().filter(is_gone).map(|record| &record.draft.agent).collect();
        let mut over = self.current();
        for record in records {
            let ends = match record.draft.kind {
                EventKind::ActionDropped
                | EventKind::ActionQueued
                | EventKind::Read
                | EventKind::Message
                | EventKind::ConversationStart => true,
                EventKind::State => {
                    let state: events::State = record.read().expect("it is one");
                    matches!(&*state.from, "reading" | "working" | "waiting")
                }
                _ => false,
            };
            over.extend(record.draft.cause.filter(|_| ends));
        }
        let queued = records.iter().filter(|record| record.draft.kind == EventKind::ActionQueued);
        let open = queued.filter(|record| !over.contains(&record.seq) && !gone.contains(&&record.draft.agent));
        open.map(|record| format!("{record:?}")).collect()
    }
}

/// Whether a record says by itself how the action that caused it ended. A read that fails is an attempt: what comes of it
/// is recorded as well.
fn is_end(record: &EventRecord) -> bool {
    match record.draft.kind {
        EventKind::ActionDropped | EventKind::ActionQueued | EventKind::Message => true,
        EventKind::Read => {
            let read: events::Read = record.read().expect("it is one");
            read.outcome != ReadOutcome::Failed
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_queued_action_has_exactly_one_record_of_its_end(
        happenings in prop::collection::vec((any_happening(), 0_u64..90), 1..40),
    ) {
        let mut scene = Scene::new();
        for (happening, ticks) in happenings {
            scene.happen(happening);
            scene.room.run(ticks);
            prop_assert_eq!(scene.without_end(), Vec::<String>::new(), "after {:?}", happening);
            prop_assert_eq!(scene.ended_twice(), Vec::<String>::new(), "after {:?}", happening);
        }
        scene.room.run(ticks(60.0));
        prop_assert_eq!(scene.without_end(), Vec::<String>::new());
        prop_assert_eq!(scene.ended_twice(), Vec::<String>::new());
    }
}

#[test]
fn an_action_that_leads_to_nothing_while_its_agent_is_paused_ends_with_a_record() {
    let mut scene = Scene::new();
    scene.room.answer = |_| None;
    scene.happen(Happening::Wake(0, 1));
    scene.room.run(30);
    let due = scene.room.dues.pop().expect("it thinks about the bell");
    scene.happen(Happening::Pause(0, true));
    scene.room.run(2);
    scene.room.answer_to(&due, ThinkOutcome::Nothing { why: "nothing new".into() });
    scene.room.run(2);
    assert_eq!(scene.without_end(), Vec::<String>::new());
    assert!(!scene.current().contains(&due.cause), "it is over");
}
