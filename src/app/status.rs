//! The unfinished work of a workspace, whether or not its rooms are running: what it is, its cost so far, and what it
//! waits for; and the communication between its agents.

use std::path::Path;

use bevy::ecs::world::World;
use serde::Serialize;

use super::display_names::name_of;
use super::opening::OpenError;
use super::recovery::look_at_each;
use crate::base::{ActivationKey, Id, calendar};
use crate::gateway::ledger::Tally;
use crate::gateway::{ExchangeCounts, RequestQueue};
use crate::kernel::{Kernel, UnfinishedHandOver, UnfinishedPiece, UnfinishedRun};
use crate::orchestration::{Channel, Channels};
use crate::schedule::{RoomDate, SimClock};

/// An unfinished task, as last saved.
#[derive(Clone, PartialEq, Debug)]
pub struct UnfinishedTask {
    /// The scene in which it was given: its file.
    pub scene: String,
    /// The piece of work that it began with: what it is called.
    pub root: ActivationKey,
    /// Who got it, by id.
    pub agent: String,
    /// What that agent is called.
    pub name: String,
    /// The task.
    pub task: String,
    /// What waits or goes on of it.
    pub pieces: Vec<UnfinishedPiece>,
    /// What a person allowed until it is over, in words, with the agent that it was allowed to.
    pub granted: Vec<(Id, String)>,
    /// What models were asked for it and what that cost, in all runs of the room.
    pub used: Tally,
    /// What its agents exchanged with each other.
    pub exchanged: ExchangeCounts,
}

/// A channel, as last saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChannelStatus {
    /// The scene in whose room it is: its file.
    pub scene: String,
    /// Its name.
    pub name: String,
    /// So many messages were said in all.
    pub messages: u64,
    /// So many messages were refused.
    pub refused: u64,
    /// Who listens.
    pub subscribers: Vec<SubscriberStatus>,
}

/// A subscriber of a channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SubscriberStatus {
    /// Its id.
    pub agent: Id,
    /// So many messages wait for it.
    pub waiting: u64,
}

/// An unfinished task that was handed over, and in which room.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HandOverStatus {
    /// The scene in whose room it is: its file.
    pub scene: String,
    /// What it is and how far.
    #[serde(flatten)]
    pub work: UnfinishedHandOver,
}

/// The communication between a workspace's agents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collaboration {
    /// The channels, by scene and name.
    pub channels: Vec<ChannelStatus>,
    /// What was handed over and is not over, scene by scene, the oldest first.
    pub hand_overs: Vec<HandOverStatus>,
    /// What a person allowed until a time that is not over by the clocks of the rooms.
    pub allowed: Vec<AllowedUntil>,
}

/// A time-limited permission of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AllowedUntil {
    /// The scene in whose room it is: its file.
    pub scene: String,
    /// Whom, by id.
    pub agent: Id,
    /// What, in words.
    pub may: String,
    /// Until which date of the room.
    pub until: String,
}

/// Everything of a workspace that is not over, and what its agents do together. Nothing is changed, and the rooms may
/// be running.
pub fn status(workspace: &Path) -> Result<(Vec<UnfinishedTask>, Collaboration), OpenError> {
    let (mut tasks, mut together) = (Vec::new(), Collaboration::default());
    look_at_each(workspace, |scene, world| {
        tasks.extend(tasks_of(scene, world));
        let channels = world.resource::<Channels>();
        together.channels.extend(channels.iter().map(|(name, channel)| channel_status(scene, name, channel)));
        let hand_overs = world.resource::<Kernel>().unfinished_hand_overs().into_iter();
        together.hand_overs.extend(hand_overs.map(|work| HandOverStatus { scene: scene.to_owned(), work }));
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

/// Every task of a workspace that is not over, scene by scene. Nothing is changed, and the rooms may be running.
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
