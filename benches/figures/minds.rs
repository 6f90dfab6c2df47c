//! What a prompt costs to build, and how soon a reply is acted on.

use std::hint::black_box;

use agent_workshop::agent::Roster;
use agent_workshop::mind::{self, prompt};
use agent_workshop::schedule::TICKS_PER_SEC;
use agent_workshop::store::{EventKind, EventLog, EventRecord};

use super::measure::{Figure, Times, digits};
use super::rooms;

/// Prompts built in one measured repetition: one alone is too short to time.
const BATCH: usize = 100;

/// The prompt of an agent in the room of the starter kit, after it has lived there for a while.
pub fn prompt_built() -> Vec<Figure> {
    let mut room = rooms::kit("studio");
    let world = room.world_mut();
    rooms::run(world, 180 * TICKS_PER_SEC);
    let (agent, _) = world.resource::<Roster>().iter().next().expect("the studio has agents");
    let task = "Say what you would do next, and why.";
    let context = mind::context_for_task(world, agent, task).expect("the agent has a mind");
    let chars = prompt::render(&context).chars();
    let whole = Times::of(20, 200, || {
        for _ in 0..BATCH {
            let context = mind::context_for_task(world, agent, task).expect("the agent has a mind");
            black_box(prompt::render(&context));
        }
    });
    let rendered = Times::of(20, 200, || {
        for _ in 0..BATCH {
            black_box(prompt::render(black_box(&context)));
        }
    });
    let micros = |times: &Times| times.median() * 1e3 / BATCH as f64;
    vec![Figure {
        what: "prompt for one agent built, gathered and rendered (studio)".into(),
        limit: "50 µs".into(),
        measured: format!("{} µs", digits(micros(&whole))),
        against: format!("{chars} characters; rendering alone {} µs", digits(micros(&rendered))),
        holds: Some(micros(&whole) <= 50.0),
    }]
}

/// How many ticks lie between the record of a model's answer and what the agent made of it.
pub fn reply_acted_on() -> Vec<Figure> {
    let mut room = rooms::kit("newsroom");
    let world = room.world_mut();
    rooms::run(world, 180 * TICKS_PER_SEC);
    let events = world.resource::<EventLog>().unwritten();
    let acts = [EventKind::Read, EventKind::Message, EventKind::Complete, EventKind::Memory];
    let waits: Vec<u64> = events
        .iter()
        .enumerate()
        .filter(|(_, event)| event.draft.kind == EventKind::ModelCall)
        .filter_map(|(index, call)| {
            let is_its =
                |later: &&EventRecord| later.draft.agent == call.draft.agent && acts.contains(&later.draft.kind);
            // An answer is let in at the beginning of the tick that records the call.
            events[index..].iter().find(is_its).map(|act| act.tick - call.tick + 1)
        })
        .collect();
    let most = waits.iter().copied().max().unwrap_or(u64::MAX);
    vec![Figure {
        what: "reply received until acted on".into(),
        limit: "the next tick".into(),
        measured: format!("{most} tick at most, of {} replies", waits.len()),
        against: String::new(),
        holds: Some(most == 1),
    }]
}
