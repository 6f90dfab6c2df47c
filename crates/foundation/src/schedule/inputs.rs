//! The only entry point for input: everything that was not computed inside of the world enters here, in
//! [`WorkshopSystems::Ingest`], stamped with its tick and recorded, so that the same start and the same inputs produce
//! the same world.
//!
//! A kind of input is a message type that implements [`Input`]. Code that receives something from outside pushes the
//! value to its [`InputQueue`]; the next tick admits it as a message. Systems inside of the world may write the same
//! message directly, without the queue: what the world computes is computed again on replay.

use std::collections::VecDeque;

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use bevy::ecs::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{InPhase, Layer, SimClock, Tick, TickMessageExt, WorkshopSystems};

/// A message that may come from outside.
pub trait Input: Message + Serialize + DeserializeOwned {
    /// The name of this kind in the journal. A stored format: never change it.
    const KIND: &'static str;
}

/// The inputs of one kind that wait for the next tick. Filled between ticks, or by a layer's own collecting system in
/// [`Layer::Inputs`] of `Ingest`.
#[derive(Resource)]
pub struct InputQueue<T: Input>(VecDeque<T>);

impl<T: Input> Default for InputQueue<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Input> InputQueue<T> {
    /// Adds an input, which the next tick admits.
    pub fn push(&mut self, input: T) {
        self.0.push_back(input);
    }

    /// Iterates over the waiting inputs, the first one first.
    pub fn waiting(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Whether there are no waiting inputs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A recorded input: enough to replay it in the same tick.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordedInput {
    /// The tick that admitted it.
    pub tick: u64,
    /// The [`Input::KIND`].
    pub kind: String,
    /// The value, as JSON.
    pub data: String,
}

/// The inputs admitted since the journal was last taken, or the inputs to replay.
#[derive(Resource, Default)]
pub struct InputJournal {
    recorded: Vec<RecordedInput>,
    replay: Option<VecDeque<RecordedInput>>,
}

impl InputJournal {
    /// Removes and returns the inputs recorded since the last call, in order.
    pub fn take_recorded(&mut self) -> Vec<RecordedInput> {
        std::mem::take(&mut self.recorded)
    }

    /// Starts a replay: only these inputs are admitted, each in its tick, and input from outside is ignored.
    pub fn replay(&mut self, inputs: impl IntoIterator<Item = RecordedInput>) {
        self.replay = Some(inputs.into_iter().collect());
    }

    /// Ends the replay: input from outside is admitted again.
    pub fn end_replay(&mut self) {
        self.replay = None;
    }

    /// Whether recorded inputs are being replayed.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Returns the number of recorded inputs that are still to be replayed.
    pub fn replay_left(&self) -> usize {
        self.replay.as_ref().map_or(0, VecDeque::len)
    }
}

/// The registered kinds, in order of registration, which is the order in which they are admitted in a tick.
#[derive(Resource, Default, Clone)]
struct InputKinds(Vec<InputKind>);

#[derive(Clone, Copy)]
struct InputKind {
    name: &'static str,
    waits: fn(&World) -> bool,
    admit: fn(&mut World),
    replay: fn(&mut World, &str) -> Result<(), serde_json::Error>,
}

/// Registers kinds of input.
pub trait InputExt {
    /// Admits values of `T` from its queue as tick messages. Adding a kind again changes nothing.
    fn add_input<T: Input>(&mut self) -> &mut Self;
}

impl InputExt for App {
    fn add_input<T: Input>(&mut self) -> &mut Self {
        self.add_tick_message::<T>().init_resource::<InputQueue<T>>();
        let mut kinds = self.world_mut().resource_mut::<InputKinds>();
        if kinds.0.iter().any(|kind| kind.name == T::KIND) {
            return self;
        }
        kinds.0.push(InputKind {
            name: T::KIND,
            waits: |world| !world.resource::<InputQueue<T>>().is_empty(),
            admit: admit::<T>,
            replay: |world, data| {
                let input: T = serde_json::from_str(data)?;
                world.resource_mut::<Messages<T>>().write(input);
                Ok(())
            },
        });
        self
    }
}

/// Whether any input of any kind is waiting.
pub fn any_input_waits(world: &World) -> bool {
    world.resource::<InputKinds>().0.iter().any(|kind| (kind.waits)(world))
}

/// Systems that fill input queues from channels, before inputs are admitted.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CollectInputs;

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<InputKinds>().init_resource::<InputJournal>();
    app.add_systems(Tick, drain_input_queues.in_set(InPhase(WorkshopSystems::Ingest, Layer::Inputs)));
    app.configure_sets(Tick, CollectInputs.before(InPhase(WorkshopSystems::Ingest, Layer::Inputs)));
}

pub(super) fn drain_input_queues(world: &mut World) {
    let kinds = world.resource::<InputKinds>().0.clone();
    if world.resource::<InputJournal>().is_replaying() {
        replay_due(world, &kinds);
        return;
    }
    for kind in kinds {
        (kind.admit)(world);
    }
}

fn admit<T: Input>(world: &mut World) {
    let waiting = std::mem::take(&mut world.resource_mut::<InputQueue<T>>().0);
    if waiting.is_empty() {
        return;
    }
    let tick = world.resource::<SimClock>().tick();
    for input in waiting {
        match serde_json::to_string(&input) {
            Ok(data) => {
                let recorded = RecordedInput { tick, kind: T::KIND.to_owned(), data };
                world.resource_mut::<InputJournal>().recorded.push(recorded);
                world.resource_mut::<Messages<T>>().write(input);
            }
            // Admitting an input that cannot be recorded would make the world impossible to replay.
            Err(error) => {
                tracing::error!("an input of kind {} could not be recorded and was rejected: {error}", T::KIND)
            }
        }
    }
}

fn replay_due(world: &mut World, kinds: &[InputKind]) {
    let tick = world.resource::<SimClock>().tick();
    loop {
        let mut journal = world.resource_mut::<InputJournal>();
        let due = journal.replay.as_mut().and_then(|queue| queue.pop_front_if(|next| next.tick <= tick));
        let Some(input) = due else { return };
        let Some(kind) = kinds.iter().find(|kind| kind.name == input.kind) else {
            tracing::error!("recorded input of unknown kind {:?} at tick {tick} was skipped", input.kind);
            continue;
        };
        if let Err(error) = (kind.replay)(world, &input.data) {
            tracing::error!("recorded input {:?} at tick {tick} could not be read: {error}", input.kind);
        }
    }
}
