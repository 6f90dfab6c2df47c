//! Starts agents in the room and delivers signals to parents.

use bevy::math::Vec2;

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::Activation;
use super::core::{Kernel, NewWork};
use super::outbox::Outbox;
use super::spawn_limits::{Refusal, Reported, SignalEffect};
use crate::agent::AgentCommand;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Seq};
use crate::gate::Bounds;
use crate::gateway::ExchangeKind;
use crate::log::{EventDraft, events};
use crate::tools::{Terms, agent_file_name, result_text, started};
use crate::workspace::vfs::FileFailure;

/// The distance between a new agent and the agent that started it, in world units.
const BESIDE_UNITS: f32 = 50.0;
/// The distance between a new agent's place and the agent that started it, in world units.
const PLACE_UNITS: f32 = 150.0;

/// An agent to be started.
pub(super) struct Child<'a> {
    /// The path of the file that defines the agent.
    pub(super) path: &'a str,
    /// The id of the agent.
    pub(super) agent: Id,
    /// The id of its profile.
    pub(super) profile: Id,
    /// The task text.
    pub(super) task: &'a str,
    /// Whether the file was written to start this agent.
    pub(super) is_new: bool,
}

/// The log event of work that an activation gives to an agent.
pub(super) fn work_event(one: &Activation, task: &str, profile: &Id, depth: u32) -> events::Activation {
    events::Activation {
        task: task.to_owned(),
        by: one.agent.clone(),
        parent: Some(one.key.id()),
        depth: Some(depth),
        profile: Some(profile.clone()),
        signal_of: None,
    }
}

impl RoomAccess<'_, '_> {
    /// The id of the agent that this file defines.
    pub(super) fn child_of(&self, path: &str, content: &str) -> Id {
        let read = crate::agent::formats::format_of(path).map(|format| (format.read)(path, content).profile.id);
        read.unwrap_or_else(|| path.into())
    }

    /// Queues work for an agent started by this work, and adds the agent to the room if necessary.
    pub(super) fn spawn(
        &mut self,
        kernel: &mut Kernel,
        outbox: &mut Outbox,
        one: &Activation,
        child: Child<'_>,
        bounds: Bounds,
        cause: Seq,
    ) -> result_text::Outcome {
        let Child { path, agent, profile, task, is_new } = child;
        let depth_limit = kernel.depth_at_most(&self.settings);
        let input = task.to_owned();
        if let Err(refusal) = kernel.may_spawn(one.key, &agent, &input, &self.settings) {
            return result_text::spawned(path, &refused_spawn(&refusal));
        }
        let parent = kernel.thread(one.thread);
        let (number, depth) = parent.map_or((0, 1), |thread| (thread.children, thread.depth + 1));
        let given = work_event(one, task, &profile, depth);
        let key = kernel.next_key(self.run());
        let queued = self.record_queued(key, &agent, &given, Some(cause));
        let spawn = events::Spawn { child: agent.clone(), path: path.into(), depth, activation: key.id() };
        self.record(one, queued, &spawn);
        let work = NewWork {
            key,
            agent: agent.clone(),
            profile: profile.clone(),
            file_name: agent_file_name(path).to_owned(),
            input,
            priority: 0,
            now: self.clock.tick(),
            cause: queued,
        };
        let outcome = match kernel.spawn(one.key, work, bounds.all().to_vec(), &self.settings) {
            Err(refusal) => refused_spawn(&refusal),
            Ok(depth) => {
                self.add_agent(outbox, one, (&agent, &profile), number);
                match kernel.stopped_by() {
                    Some(_) => result_text::Spawned::Deferred { why: "token budget reached".to_owned() },
                    None => result_text::Spawned::Activated { depth, depth_limit, is_new },
                }
            }
        };
        result_text::spawned(path, &outcome)
    }

    /// The agent and profile with this name: an agent in the room, by its id or profile, otherwise a profile that is
    /// to be added to the room. It is the starting agent itself only if named by id.
    pub(super) fn agent_to_start(&self, one: &Activation, name: &str) -> Option<(Id, Id)> {
        if let Some(agent) = self.agent(name.trim()) {
            return Some((agent.id.clone(), agent.profile.clone()));
        }
        let profile: Id = started(name, &self.gate_context())?.into();
        if self.roster.key(&profile).is_some() {
            return Some((profile.clone(), profile));
        }
        let running = self.all_agents().filter(|(_, agent)| agent.profile == profile && agent.id != one.agent);
        let first = running.min_by_key(|(key, _)| *key).map(|(_, agent)| agent.id.clone());
        Some((first.unwrap_or_else(|| profile.clone()), profile))
    }

    /// The result text for an unknown agent name, with suggestions.
    pub(super) fn no_such_agent(&self, one: &Activation, name: &str) -> String {
        let there = result_text::suggested_agents(name, self.profiles.ids(), Some(&one.profile));
        result_text::spawned(name, &result_text::Spawned::Unknown { there }).words
    }

    /// Adds a started agent to the room beside the agent that started it.
    fn add_agent(&self, outbox: &mut Outbox, one: &Activation, (child, profile): (&Id, &Id), number: u32) {
        if self.roster.key(child).is_some() {
            return;
        }
        let entity = one.agent_key.and_then(|agent| self.roster.entity(agent));
        let here = entity.and_then(|entity| self.agents.get(entity).ok()).and_then(|(_, position)| position);
        let here = here.map_or(Vec2::ZERO, |position| position.0);
        // Children are spread behind the starter, away from the boards, from the middle outwards: 0, 1, -1, 2, -2.
        let step = number.div_ceil(2) as f32 * if number % 2 == 1 { 1.0 } else { -1.0 };
        let angle = std::f32::consts::FRAC_PI_2 - step * 0.6;
        let towards = Vec2::from_angle(angle);
        outbox.agents.push(AgentCommand::Add {
            id: Some(child.clone()),
            profile: profile.clone(),
            position: here + towards * BESIDE_UNITS,
            behaviour: None,
            exactly: true,
        });
        outbox.places.push((child.clone(), here + towards * PLACE_UNITS));
    }

    pub(super) fn signal(
        &mut self,
        kernel: &mut Kernel,
        one: &Activation,
        (message, terms): (&str, &Terms),
        cause: Seq,
    ) -> result_text::Outcome {
        let key = kernel.next_key(self.run());
        let at = (key, self.clock.tick(), cause);
        match kernel.signal(one.key, message, terms, at, &self.settings) {
            Err(refusal) => match refusal {
                Refusal::Loop { agent } => {
                    result_text::signalled(&self.file_name(&agent), &result_text::SignalOutcome::Again)
                }
                Refusal::NoParent | Refusal::Over => result_text::signalled("", &result_text::SignalOutcome::NoParent),
                other => result_text::Outcome::error(&other.to_string()),
            },
            Ok(delivered) => {
                self.count_exchange(kernel, one, ExchangeKind::Signal);
                self.record_signal(kernel, (&one.agent, one.key), &delivered, (key, message), cause);
                let outcome = match kernel.stopped_by() {
                    _ if delivered.is_kept => result_text::SignalOutcome::Kept,
                    Some(_) => result_text::SignalOutcome::Deferred { why: "token budget reached".to_owned() },
                    None => result_text::SignalOutcome::Sent,
                };
                result_text::signalled(&delivered.to, &outcome)
            }
        }
    }

    /// Records a signal, after the work that it woke.
    fn record_signal(
        &mut self,
        kernel: &mut Kernel,
        (from, activation): (&Id, ActivationKey),
        delivered: &SignalEffect,
        (key, message): (ActivationKey, &str),
        cause: Seq,
    ) {
        let mut cause = cause;
        if delivered.woke {
            let woken = events::Activation {
                task: message.to_owned(),
                by: from.clone(),
                signal_of: Some(activation.id()),
                ..events::Activation::default()
            };
            cause = self.record_queued(key, &delivered.agent, &woken, Some(cause));
            kernel.note_queued(key, cause);
        }
        let signal = events::Signal {
            to: delivered.agent.clone(),
            message: truncate(message, LOGGED_CHARS),
            woke: delivered.woke,
            kept: delivered.is_kept,
        };
        let draft = EventDraft::of(&signal).agent(from).activation(&activation.id());
        self.log.write(draft.cause(cause));
    }

    /// Delivers all reports that are due now that work of this thread has ended.
    pub(super) fn report_due(&mut self, kernel: &mut Kernel, ended: ActivationKey, cause: Seq) {
        while let Some(thread) = kernel.due_report(ended) {
            let key = kernel.next_key(self.run());
            let reported = kernel.report(thread, (key, self.clock.tick(), cause));
            let Some(Reported { from, activation, words, gave, delivered }) = reported else { break };
            let mut cause = cause;
            if let Some((ok, result)) = gave {
                let back = events::TaskResultReturned {
                    to: delivered.agent.clone(),
                    ok,
                    result: truncate(&result, LOGGED_CHARS),
                };
                let draft = EventDraft::of(&back).agent(&from).activation(&activation.id());
                cause = self.log.write(draft.cause(cause));
            }
            self.record_signal(kernel, (&from, activation), &delivered, (key, &words), cause);
        }
    }
}

pub(super) fn refused_spawn(refusal: &Refusal) -> result_text::Spawned {
    match refusal {
        Refusal::Depth { most } => result_text::Spawned::TooDeep { depth_limit: *most },
        Refusal::FanOut { most } => result_text::Spawned::TooMany { fan_out_limit: *most },
        Refusal::Loop { .. } => result_text::Spawned::Again,
        other => result_text::Spawned::NotWritten(FileFailure { what: other.to_string(), is_refusal: false }),
    }
}
