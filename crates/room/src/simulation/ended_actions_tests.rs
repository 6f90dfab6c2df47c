//! Every action that was queued has a record of how it ended.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::conversation_state::ConversationState;
use super::queue::Action;
use super::tests::{Room, read, talk};
use super::*;
use crate::agent::Roster;
use crate::base::{AgentKey, Author, Behaviour, ElementKey, Seq};
use crate::log::{EventKind, EventLog, events};
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
    room: Room,
    agents: Vec<AgentKey>,
    elements: Vec<Option<ElementKey>>,
}

impl Scene {
    fn new() -> Self {
        let mut room = Room::new();
        let places = (0..4).map(|index| room.element(&format!("e{index}"), (index as f32 * 120.0, 150.0), None));
        let elements = places.map(Some).collect();
        let agents =
            (0..3).map(|index| room.agent(&format!("a{index}"), (index as f32 * 80.0, 0.0), Behaviour::Stationary));
        let agents = agents.collect();
        room.run(1);
        Self { room, agents, elements }
    }

    fn happen(&mut self, happening: Happening) {
        let room = &mut self.room;
        match happening {
            Happening::Read(agent, of, high) => {
                let Some(element) = self.elements[of] else { return };
                let action = if high { read(element) } else { Action::ReadElement { element, high } };
                room.enqueue(self.agents[agent], action);
            }
            Happening::Seek(agent, of) => {
                let Some(element) = self.elements[of] else { return };
                room.enqueue(self.agents[agent], Action::SeekInfo { element });
            }
            Happening::Wake(agent, reason) => {
                let interest = Interest::new(format!("bell{reason}"), "somebody rings", Urgency::Read, "Look.");
                room.say(WakeAgent { agent: self.agents[agent], interest, by: Author::user(), cause: Seq(1) });
            }
            Happening::Compact(agent) => room.say(CompactionWanted { agent: self.agents[agent], cause: Seq(1) }),
            Happening::News(agent, of) => {
                let Some(element) = self.elements[of] else { return };
                let (agent, note) = (self.agents[agent], "Tea is at four.".into());
                room.say(NewsNoted { agent, element, version: 1, note, may_tell: true, cause: Seq(1) });
            }
            Happening::Talk(one, other) => talk(room, &[&format!("a{one}"), &format!("a{other}")]),
            Happening::RemoveElement(of) => {
                if let Some(element) = self.elements[of].take() {
                    room.remove_element(element, &format!("e{of}"));
                }
            }
            Happening::Model(agent, is_away) => {
                let waits_because = is_away.then(|| "openai cannot be reached".to_owned());
                room.say(ModelAvailability { agent: self.agents[agent], waits_because });
            }
            Happening::Try => room.say(TryModel { agents: self.agents.clone(), at_most: 1 }),
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

    /// The queued actions that are over without a record of it.
    fn without_end(&self) -> Vec<String> {
        let records = self.room.app.world().resource::<EventLog>().unwritten();
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
        queued.filter(|record| !over.contains(&record.seq)).map(|record| format!("{record:?}")).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_queued_action_has_a_record_of_its_end(
        happenings in prop::collection::vec((any_happening(), 0_u64..90), 1..40),
    ) {
        let mut scene = Scene::new();
        for (happening, ticks) in happenings {
            scene.happen(happening);
            scene.room.run(ticks);
            prop_assert_eq!(scene.without_end(), Vec::<String>::new(), "after {:?}", happening);
        }
        scene.room.run(ticks(60.0));
        prop_assert_eq!(scene.without_end(), Vec::<String>::new());
    }
}
