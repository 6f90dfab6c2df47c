//! The unfinished work of a workspace, whether or not its rooms are running: what it is, what it has cost so far, and
//! what it waits for; and the communication between its agents.

use std::collections::BTreeSet;
use std::path::Path;

use bevy::ecs::world::World;
use serde::Serialize;

use super::display_names::name_of;
use super::opening::OpenError;
use super::recovery::for_each_scene;
use crate::base::{ActivationKey, Id, calendar};
use crate::desk::person_tasks::{self, PersonTask};
use crate::gateway::health::ProviderFault;
use crate::gateway::ledger::Tally;
use crate::gateway::{ExchangeCounts, ProviderHealth, RequestQueue};
use crate::kernel::{Kernel, UnfinishedActivation, UnfinishedHandOver, UnfinishedRun};
use crate::orchestration::{Channel, Channels};
use crate::schedule::{RoomDate, SimClock, TICKS_PER_SEC};
use crate::simulation::{WaitingForModel, waiting_for_model};

/// An unfinished task, as last saved.
#[derive(Clone, PartialEq, Debug)]
pub struct UnfinishedTask {
    /// The scene file.
    pub scene: String,
    /// The activation that it started with.
    pub root: ActivationKey,
    /// The agent's id.
    pub agent: String,
    /// The agent's display name.
    pub name: String,
    /// The task.
    pub task: String,
    /// Its waiting and running pieces of work.
    pub pieces: Vec<UnfinishedActivation>,
    /// Permissions granted until it ends, in words, each with the agent's id.
    pub granted: Vec<(Id, String)>,
    /// Its model usage, in all runs of the room.
    pub used: Tally,
    /// How much its agents exchanged with each other.
    pub exchanged: ExchangeCounts,
}

/// Reading that waits until an agent's model can be called, as last saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WaitingReads {
    /// The scene file of its room.
    pub scene: String,
    /// The agent's id.
    pub agent: Id,
    /// How much is waiting.
    pub count: usize,
    /// Why the model cannot be called.
    pub why: String,
}

/// A channel, as last saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChannelStatus {
    /// The scene file of its room.
    pub scene: String,
    /// The channel's name.
    pub name: String,
    /// Number of messages sent.
    pub messages: u64,
    /// Number of messages rejected.
    pub refused: u64,
    /// The subscribers.
    pub subscribers: Vec<SubscriberStatus>,
}

/// A subscriber of a channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SubscriberStatus {
    /// The agent's id.
    pub agent: Id,
    /// Number of unread messages.
    pub waiting: u64,
}

/// An unfinished task that was handed over, and its room.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HandOverStatus {
    /// The scene file of its room.
    pub scene: String,
    /// The task and its progress.
    #[serde(flatten)]
    pub work: UnfinishedHandOver,
}

/// The communication between a workspace's agents.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collaboration {
    /// Reading that waits until a model can be called.
    pub reading: Vec<WaitingReads>,
    /// The channels, sorted by scene and name.
    pub channels: Vec<ChannelStatus>,
    /// Unfinished tasks that were handed over, by scene, oldest first.
    pub hand_overs: Vec<HandOverStatus>,
    /// Permissions that have not expired according to the rooms' clocks.
    pub allowed: Vec<AllowedUntil>,
    /// The providers that failed when the room was last saved.
    pub faults: Vec<FaultStatus>,
    /// The tasks in files that only a person can continue, while work of agents waits for them.
    pub person_tasks: BTreeSet<PersonTask>,
}

/// A failing provider, and its room.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FaultStatus {
    /// The scene file of its room.
    pub scene: String,
    /// For how many simulated seconds it has been failing.
    pub for_secs: u64,
    /// The failure.
    #[serde(flatten)]
    pub fault: ProviderFault,
}

/// A time-limited permission of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AllowedUntil {
    /// The scene file of its room.
    pub scene: String,
    /// The agent's id.
    pub agent: Id,
    /// The permission, in words.
    pub may: String,
    /// The room's date at which it expires.
    pub until: String,
}

/// All unfinished tasks of a workspace, and the communication of its agents. Read-only; the rooms may be running.
pub fn status(workspace: &Path) -> Result<(Vec<UnfinishedTask>, Collaboration), OpenError> {
    let (mut tasks, mut together) = (Vec::new(), Collaboration::default());
    for_each_scene(workspace, |scene, world| {
        tasks.extend(tasks_of(scene, world));
        let channels = world.resource::<Channels>();
        together.channels.extend(channels.iter().map(|(name, channel)| channel_status(scene, name, channel)));
        let tick = world.resource::<SimClock>().tick();
        together.faults.extend(world.resource::<ProviderHealth>().faults().into_iter().map(|fault| FaultStatus {
            scene: scene.to_owned(),
            for_secs: tick.saturating_sub(fault.since_tick) / TICKS_PER_SEC,
            fault,
        }));
        together.person_tasks.extend(person_tasks::behind_all(world).of_person);
        let hand_overs = world.resource::<Kernel>().unfinished_hand_overs().into_iter();
        together.hand_overs.extend(hand_overs.map(|work| HandOverStatus { scene: scene.to_owned(), work }));
        let reading = waiting_for_model(world).into_iter().map(|WaitingForModel { agent, count, why }| WaitingReads {
            scene: scene.to_owned(),
            agent,
            count,
            why,
        });
        together.reading.extend(reading);
        let now = world.resource::<RoomDate>().secs(world.resource::<SimClock>());
        let allowed = world.resource::<Kernel>().granted_until(now).into_iter();
        together.allowed.extend(allowed.map(|(agent, may, until)| {
            let until = calendar::stamp(until);
            AllowedUntil { scene: scene.to_owned(), agent, may, until }
        }));
    })?;
    Ok((tasks, together))
}

fn channel_status(scene: &str, name: &str, channel: &Channel) -> ChannelStatus {
    let subscribers = channel
        .subscribers()
        .map(|(agent, one)| SubscriberStatus { agent: agent.clone(), waiting: channel.waits(one) });
    ChannelStatus {
        scene: scene.to_owned(),
        name: name.to_owned(),
        messages: channel.message_count(),
        refused: channel.counts().1,
        subscribers: subscribers.collect(),
    }
}

/// All unfinished tasks of a workspace, scene by scene. Read-only; the rooms may be running.
pub fn unfinished_tasks(workspace: &Path) -> Result<Vec<UnfinishedTask>, OpenError> {
    status(workspace).map(|(tasks, _)| tasks)
}

fn tasks_of(scene: &str, world: &World) -> Vec<UnfinishedTask> {
    let ledger = world.resource::<RequestQueue>().ledger();
    let tasks = world.resource::<Kernel>().unfinished_runs().into_iter().map(|run| {
        let UnfinishedRun { root, agent, task, pieces, granted, activations } = run;
        let used = activations.iter().fold(Tally::default(), |sum, key| sum.plus(ledger.activation(&key.id())));
        let exchanged = ledger.exchanges_of(&root.id());
        let (scene, name) = (scene.to_owned(), name_of(world, &agent));
        UnfinishedTask { scene, root, agent: agent.to_string(), name, task, pieces, granted, used, exchanged }
    });
    tasks.collect()
}
