//! What building a prompt costs, and how soon a reply takes effect.

use std::collections::HashMap;
use std::hint::black_box;

use agent_workshop::agent::Roster;
use agent_workshop::mind::{self, ModelReply, ModelRequest, PromptParts, compose};
use agent_workshop::schedule::TICKS_PER_SEC;
use agent_workshop::simulation::ThinkDone;
use bevy::ecs::message::MessageCursor;

use super::measure::{Figure, Times, digits};
use super::rooms;

/// Prompts built per measured repetition: a single one is too short to time.
const BATCH: usize = 100;

/// Builds the prompt of an agent in the starter kit's room after that has run for a while.
pub fn prompt_built() -> Vec<Figure> {
    let mut room = rooms::kit("studio");
    let world = room.world_mut();
    rooms::run(world, 180 * TICKS_PER_SEC);
    let (agent, _) = world.resource::<Roster>().iter().next().expect("the studio has agents");
    let parts = PromptParts::default();
    let context = mind::context_at_work(world, agent).expect("the agent has a mind");
    let chars = compose::render(&parts, &context).chars();
    let whole = Times::of(20, 200, || {
        for _ in 0..BATCH {
            let context = mind::context_at_work(world, agent).expect("the agent has a mind");
            black_box(compose::render(&parts, &context));
        }
    });
    let rendered = Times::of(20, 200, || {
        for _ in 0..BATCH {
            black_box(compose::render(&parts, black_box(&context)));
        }
    });
    let micros = |times: &Times| times.median() * 1e3 / BATCH as f64;
    vec![Figure {
        what: "building the prompt of one agent (studio)".into(),
        limit: "50 µs".into(),
        measured: format!("{} µs", digits(micros(&whole))),
        against: format!("{chars} characters; rendering alone {} µs", digits(micros(&rendered))),
        holds: Some(micros(&whole) <= 50.0),
    }]
}

/// Counts the ticks between the arrival of an answer and its effect in the room.
pub fn reply_acted_on() -> Vec<Figure> {
    let mut room = rooms::kit("newsroom");
    let world = room.world_mut();
    let mut cursors = (MessageCursor::<ModelRequest>::default(), MessageCursor::<ModelReply>::default());
    let mut acts = MessageCursor::<ThinkDone>::default();
    let (mut asked, mut answered) = (HashMap::new(), HashMap::new());
    let mut waits = Vec::new();
    for tick in 1..=300 * TICKS_PER_SEC {
        rooms::run(world, 1);
        for request in cursors.0.read(world.resource()) {
            asked.insert(request.id, (request.agent, request.activity));
        }
        for reply in cursors.1.read(world.resource()) {
            if let Some(thought) = asked.remove(&reply.request) {
                answered.insert(thought, tick);
            }
        }
        // It is emitted in the tick in which the agent continues; the room reacts before the tick ends.
        for done in acts.read(world.resource()) {
            if let Some(let_in) = answered.remove(&(done.agent, done.activity)) {
                waits.push(tick - let_in + 1);
            }
        }
    }
    let most = waits.iter().copied().max().unwrap_or(u64::MAX);
    vec![Figure {
        what: "reply received until it takes effect".into(),
        limit: "the next tick".into(),
        measured: format!("{} of {} replies within {most} tick", waits.len(), waits.len() + answered.len()),
        against: String::new(),
        holds: Some(most == 1 && answered.is_empty()),
    }]
}
