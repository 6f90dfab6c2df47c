//! The task of the command line, from the giving to the end of everything that it set going.

use bevy::ecs::prelude::*;

use super::{Complaint, Ending};
use crate::agent::{Profiles, Roster};
use crate::app::drive::EventTap;
use crate::base::text::nearest;
use crate::base::{ActivationKey, Id};
use crate::kernel::{Ending as WorkEnding, Kernel};
use crate::schedule::{Door, SimClock};
use crate::simulation::TaskCommand;
use crate::store::{EventKind, EventRecord};

/// A task for an agent in the scene, or for a profile, which then comes into it.
pub(super) struct Task {
    agent: Id,
    text: String,
    is_given: bool,
    /// The run that it began.
    run: Option<ActivationKey>,
}

impl Task {
    /// This task for this agent.
    pub(super) fn new(agent: &str, text: String) -> Self {
        Self { agent: agent.into(), text, is_given: false, run: None }
    }

    /// Gives the task once the room has come in.
    pub(super) fn give(&mut self, world: &mut World) -> Result<(), Complaint> {
        if self.is_given || world.resource::<SimClock>().tick() == 0 || !world.resource::<EventTap>().has_ticked {
            return Ok(());
        }
        let profiles = world.resource::<Profiles>();
        let roster = world.resource::<Roster>();
        if roster.key(&self.agent).is_none() && !profiles.is_defined(&self.agent) {
            let known = nearest(&self.agent, profiles.ids().map(|id| &**id));
            let complaint = Complaint::usage(format!("there is no agent and no profile {:?}", self.agent));
            return Err(match known {
                Some(near) => complaint.hint(format!("did you mean {near:?}?")),
                None => complaint,
            });
        }
        let command = TaskCommand { agent: self.agent.clone(), text: self.text.clone() };
        world.resource_mut::<Door<TaskCommand>>().push(command);
        self.is_given = true;
        Ok(())
    }

    /// Looks which run it began.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        if self.run.is_none() && self.is_given {
            let its = |event: &&EventRecord| {
                event.draft.kind == EventKind::Activation && event.draft.agent.as_ref() == Some(&self.agent)
            };
            // The record that queues work has its number.
            self.run = events.iter().find(its).map(|event| ActivationKey(event.seq.0));
        }
    }

    /// Whether it and everything that it set going is over.
    pub(super) fn is_over(&self, world: &World) -> bool {
        let Some(run) = self.run else { return false };
        !world.resource::<Kernel>().threads().any(|(_, thread)| thread.root == run)
    }

    /// How it ended: what the agent said last is the result.
    pub(super) fn ending(&self, world: &World) -> Ending {
        let kernel = world.resource::<Kernel>();
        let its = kernel.finished().filter(|one| Some(one.root) == self.run && one.agent == self.agent);
        match its.last().map(|one| &one.ending) {
            _ if !self.is_over(world) => {
                eprintln!("error: the time was over before the task was");
                Ending::Failed
            }
            Some(WorkEnding::Completed { text }) => {
                println!("{text}");
                Ending::Done
            }
            Some(WorkEnding::Aborted { why, by_person: false }) => {
                eprintln!("stopped: {why}");
                Ending::Limited
            }
            Some(WorkEnding::Failed { why } | WorkEnding::Aborted { why, .. }) => {
                eprintln!("error: {why}");
                Ending::Failed
            }
            None => {
                eprintln!("error: how the task ended is not known any more; it stands in the log");
                Ending::Failed
            }
        }
    }
}
