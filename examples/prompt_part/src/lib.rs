//! A part of prompts that is defined only in this crate: its text comes from outside, some ticks after it was requested.
//! [`add`] is all that a program calls, when a room is created or while it runs.

use std::collections::BTreeMap;

use agent_workshop::mind::parts::DuplicatePart;
use agent_workshop::mind::{GatherKey, PartGathered, PartProvider, PendingRequests, PromptParts, Share, Slot};
use agent_workshop::schedule::{InPhase, InputJournal, InputQueue, Layer, SimClock, Tick, WorkshopSystems};
use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::json;

/// The id of the part.
pub const RECALL: &str = "recall";

/// The source of the texts: the delay in ticks, and the outcome; `None` if it never answers.
#[derive(Resource, Clone)]
pub struct Answers(pub Option<(u64, Result<String, String>)>);

/// Adds the part, and the system that looks up its text in this source, to a room.
pub fn add(app: &mut App, answers: Answers) -> Result<(), DuplicatePart> {
    app.world_mut().resource_mut::<PromptParts>().register(recall())?;
    app.insert_resource(answers);
    app.add_systems(Tick, gather.in_set(InPhase(WorkshopSystems::Dispatch, Layer::Mind)));
    Ok(())
}

/// Returns the part: memories that match the agent's prompt, limited to 1/960 of the prompt.
fn recall() -> PartProvider {
    let names = (RECALL, "What it recalls", "## What you recall");
    PartProvider::looked_up(names, Slot::Changing, |context| Some(json!({ "who": context.who.name })))
        .with_share(Share::Whole(960))
}

fn gather(
    pending: Res<PendingRequests>,
    (clock, journal, answers): (Res<SimClock>, Res<InputJournal>, Res<Answers>),
    mut since: Local<BTreeMap<GatherKey, u64>>,
    mut outcomes: ResMut<InputQueue<PartGathered>>,
) {
    if journal.is_replaying() {
        return;
    }
    let Some((after, outcome)) = &answers.0 else { return };
    for order in pending.orders_of(RECALL) {
        let start = *since.entry(order.key.clone()).or_insert(clock.tick());
        if clock.tick() == start + after {
            outcomes.push(PartGathered { key: order.key, outcome: outcome.clone() });
        }
    }
}
