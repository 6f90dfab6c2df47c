//! What of a workspace's work is unfinished, whether its rooms are running or at rest: what it is, what it cost so far,
//! and what it waits for.

use std::path::Path;

use super::naming::name_of;
use super::opening::OpenError;
use super::recovery::look_at_each;
use crate::base::{ActivationKey, Id};
use crate::gateway::RequestQueue;
use crate::gateway::ledger::Tally;
use crate::kernel::{Kernel, UnfinishedPiece, UnfinishedRun};

/// A task that is not over, as it was last acknowledged.
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
}

/// Every task of a workspace that is not over, scene by scene. Nothing is changed, and the rooms may be running.
pub fn unfinished_tasks(workspace: &Path) -> Result<Vec<UnfinishedTask>, OpenError> {
    let mut tasks = Vec::new();
    look_at_each(workspace, |scene, world| {
        let ledger = world.resource::<RequestQueue>().ledger();
        tasks.extend(world.resource::<Kernel>().unfinished_runs().into_iter().map(|run| {
            let UnfinishedRun { root, agent, task, pieces, granted, activations } = run;
            let used = activations.iter().fold(Tally::default(), |sum, key| sum.plus(ledger.activation(&key.id())));
            let (scene, name) = (scene.to_owned(), name_of(world, &agent));
            UnfinishedTask { scene, root, agent: agent.to_string(), name, task, pieces, granted, used }
        }));
    })?;
    Ok(tasks)
}
