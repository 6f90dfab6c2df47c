//! Carries out orders of higher layers: starting, continuing, ending and releasing work.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::access::RoomAccess;
use super::core::{Kernel, NewWork};
use super::outbox::Outbox;
use super::session_edit::EditedSession;
use super::work_orders::{WorkAnswer, WorkOrder, WorkTerms, WorkWanted};
use crate::agent::AgentCommand;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::events;
use crate::tools::started;

impl Kernel {
    /// Queues work that a higher layer ordered, as a run of its own.
    pub fn start_ordered(&mut self, work: NewWork, terms: WorkTerms) {
        let key = work.key;
        self.start(work);
        if let Some(thread) = self.threads.get_mut(&key) {
            thread.terms = terms;
        }
    }

    /// The terms of a thread's work.
    pub fn terms(&self, thread: ActivationKey) -> Option<&WorkTerms> {
        self.threads.get(&thread).map(|thread| &thread.terms)
    }

    /// Whether the work is evaluated together with the other work of its run, instead of separately.
    pub(super) fn is_part_of_more(&self, thread: ActivationKey) -> bool {
        let root = self.threads.get(&thread).and_then(|thread| self.threads.get(&thread.root));
        root.is_some_and(|root| root.terms.is_part_of_more)
    }

    /// Keeps a thread after its work has ended, because it will be continued.
    pub fn retain_thread(&mut self, thread: ActivationKey) {
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.terms.is_kept = true;
        }
    }

    /// Stops keeping a thread, so that it is removed with its run.
    pub fn release_thread(&mut self, thread: ActivationKey) {
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.terms.is_kept = false;
        }
    }

    /// The number of the agent's unfinished pieces of work, for load balancing.
    fn load(&self, agent: &Id) -> usize {
        self.activations.values().filter(|one| one.agent == *agent).count()
    }
}

/// Carries out the orders of this tick.
pub(super) fn apply_orders(
    mut room: RoomAccess,
    mut kernel: ResMut<Kernel>,
    mut outbox: ResMut<Outbox>,
    (mut orders, mut sessions): (MessageReader<WorkOrder>, MessageReader<EditedSession>),
) {
    for taken in sessions.read() {
        room.apply_session_edit(&mut kernel, &mut outbox, taken);
    }
    let mut is_freed = false;
    for order in orders.read() {
        match order {
            WorkOrder::Begin(wanted) => {
                let answer = begin(&mut room, &mut kernel, &mut outbox, wanted);
                room.work_answers.write(answer);
            }
            WorkOrder::Continue { order, thread, text, by, cause } => {
                let answer = continue_work(&mut room, &mut kernel, (order, *thread), text, (by, *cause));
                room.work_answers.write(answer);
            }
            WorkOrder::Keep { thread } => kernel.retain_thread(*thread),
            WorkOrder::Release { thread } => {
                kernel.release_thread(*thread);
                is_freed = true;
            }
            WorkOrder::End { activation, why } => {
                kernel.kill(*activation, why, None);
            }
        }
    }
    if is_freed {
        room.forget_finished_runs(&mut kernel);
    }
}

fn begin(room: &mut RoomAccess, kernel: &mut Kernel, outbox: &mut Outbox, wanted: &WorkWanted) -> WorkAnswer {
    let refused = |why: String| WorkAnswer::Refused { order: wanted.order.clone(), why };
    let most = room.settings.max_activations;
    if kernel.activations().count() >= most as usize {
        return refused(format!("{most} pieces of work are already waiting (kernel.max_activations)"));
    }
    let Some((agent, profile)) = room.worker(kernel, &wanted.agent) else {
        return refused(format!("no such agent or profile: {:?}", &*wanted.agent));
    };
    let is_coming = || {
        outbox.agents.iter().any(|command| matches!(command, AgentCommand::Add { id: Some(id), .. } if *id == agent))
    };
    if room.agent(&agent).is_none() && !is_coming() {
        outbox.agents.push(AgentCommand::Add {
            id: Some(agent.clone()),
            profile: profile.clone(),
            position: Vec2::ZERO,
            behaviour: None,
            exactly: false,
        });
    }
    let given = events::Activation {
        task: wanted.task.clone(),
        by: wanted.by.clone(),
        depth: Some(0),
        profile: Some(profile.clone()),
        ..events::Activation::default()
    };
    let key = kernel.next_key(room.run());
    let cause = room.record_queued(key, &agent, &given, Some(wanted.cause));
    let work = NewWork {
        key,
        agent: agent.clone(),
        file_name: room.file_name(&profile),
        profile,
        input: wanted.task.clone(),
        priority: 0,
        now: room.clock.tick(),
        cause,
    };
    kernel.start_ordered(work, wanted.terms.clone());
    WorkAnswer::Begun { order: wanted.order.clone(), activation: key, thread: key, agent }
}

fn continue_work(
    room: &mut RoomAccess,
    kernel: &mut Kernel,
    (order, thread): (&Id, ActivationKey),
    text: &str,
    (by, cause): (&Id, Seq),
) -> WorkAnswer {
    let known = kernel.thread(thread).filter(|thread| thread.live.is_none() && !thread.is_stopped);
    let Some((agent, profile)) = known.map(|thread| (thread.agent.clone(), thread.profile.clone())) else {
        let why = "its session no longer exists, or was stopped".to_owned();
        return WorkAnswer::Refused { order: order.clone(), why };
    };
    if room.worker(kernel, &agent).is_none() {
        let why = format!("the agent {:?} no longer exists", &*agent);
        return WorkAnswer::Refused { order: order.clone(), why };
    }
    let woken = events::Activation {
        task: text.to_owned(),
        by: by.clone(),
        depth: Some(0),
        profile: Some(profile),
        ..events::Activation::default()
    };
    let key = kernel.next_key(room.run());
    let record = room.record_queued(key, &agent, &woken, Some(cause));
    kernel.deliver_message(thread, text.to_owned(), (key, room.clock.tick(), record));
    WorkAnswer::Begun { order: order.clone(), activation: key, thread, agent }
}

impl RoomAccess<'_, '_> {
    /// The agent and profile that take work ordered from this name: the agent with this id, the least busy agent with
    /// this profile, or the profile itself, which is then added to the room.
    fn worker(&self, kernel: &Kernel, name: &Id) -> Option<(Id, Id)> {
        if let Some(agent) = self.agent(name) {
            return Some((agent.id.clone(), agent.profile.clone()));
        }
        let profile: Id = started(name, &self.gate_context())?.into();
        let running = self.all_agents().filter(|(_, agent)| agent.profile == profile);
        let first =
            running.min_by_key(|(key, agent)| (kernel.load(&agent.id), *key)).map(|(_, agent)| agent.id.clone());
        match first {
            Some(agent) => Some((agent, profile)),
            None => self.profiles.is_defined(&profile).then(|| (profile.clone(), profile)),
        }
    }
}
