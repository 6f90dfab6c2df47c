//! Limits on starting agents and on signals to parents: depth, number and repetition.

use thiserror::Error;

use super::activation::{Origin, Report, RunNode};
use super::core::{Kernel, NewWork, request_hash};
use super::settings::KernelSettings;
use crate::base::{ActivationKey, Id};
use crate::gate::Authority;
use crate::mind::{PromptMessage, Role};
use crate::tools::Terms;

/// The reason why an agent was not started or woken.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Refusal {
    /// The depth limit is reached.
    #[error("depth limit {most}/{most}")]
    Depth {
        /// The limit.
        most: u32,
    },
    /// The limit on agents started by one agent is reached.
    #[error("fan-out limit {most}/{most}: this agent has already started that many")]
    FanOut {
        /// The limit.
        most: u32,
    },
    /// The same agent received the same request before in this run.
    #[error("{agent} was already given exactly this in this run (loop detection); say what is different")]
    Loop {
        /// The id of the agent.
        agent: Id,
    },
    /// The agent delegated a task to an agent that is waiting for it.
    #[error("this would create a loop: {way}")]
    Cycle {
        /// The agents of the cycle, in order.
        way: String,
    },
    /// The limit on queued and running work is reached.
    #[error("{most} pieces of work are already waiting or running")]
    TooMany {
        /// The limit.
        most: u32,
    },
    /// The agent was started by a person and not by another agent.
    #[error("there is no parent: a person started this agent; answer in plain words instead")]
    NoParent,
    /// The work has ended.
    #[error("this work is over")]
    Over,
}

/// The effect of a signal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignalEffect {
    /// The file name of the agent that received the signal.
    pub to: String,
    /// The id of that agent.
    pub agent: Id,
    /// Whether the signal woke the agent, that is, queued a new piece of work for it.
    pub woke: bool,
    /// Whether a person stopped the agent, so that the signal is only stored in its session.
    pub is_kept: bool,
}

/// A report on ended work to the agent that started it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reported {
    /// The id of the reporting agent.
    pub from: Id,
    /// The activation that ended.
    pub activation: ActivationKey,
    /// The text of the report.
    pub words: String,
    /// For delegated work: whether there is a result, and the result or the reason why there is none.
    pub gave: Option<(bool, String)>,
    /// The effect of the report.
    pub delivered: SignalEffect,
}

impl Kernel {
    /// Checks whether an agent may be started with this task. Returns its depth.
    pub fn may_spawn(
        &self,
        parent: ActivationKey,
        agent: &str,
        task: &str,
        settings: &KernelSettings,
    ) -> Result<u32, Refusal> {
        let thread =
            self.activations.get(&parent).and_then(|one| self.threads.get(&one.thread)).ok_or(Refusal::Over)?;
        let most = self.depth_at_most(settings);
        if thread.depth >= most {
            // Agents that agents start, start further ones only down to a limited depth.
            rule!("starting-agents-has-a-depth-limit");
            return Err(Refusal::Depth { most });
        }
        if thread.children >= settings.max_fan_out {
            // One agent starts only a limited number of others in a task.
            rule!("starting-agents-has-a-fan-out-limit");
            return Err(Refusal::FanOut { most: settings.max_fan_out });
        }
        if self.activations.len() >= settings.max_activations as usize {
            return Err(Refusal::TooMany { most: settings.max_activations });
        }
        if self.asked.get(&thread.root).is_some_and(|asked| asked.contains(&request_hash(agent, task))) {
            // No agent is started twice with the same task in a run.
            rule!("the-same-task-is-given-once");
            return Err(Refusal::Loop { agent: agent.into() });
        }
        Ok(thread.depth + 1)
    }

    /// Queues work for an agent started by another one, with authority limited to that of `starters`. Returns its
    /// depth.
    pub fn spawn(
        &mut self,
        parent: ActivationKey,
        work: NewWork,
        starters: Vec<Authority>,
        settings: &KernelSettings,
    ) -> Result<u32, Refusal> {
        let depth = self.may_spawn(parent, &work.agent, &work.input, settings)?;
        let request = request_hash(&work.agent, &work.input);
        let node = RunNode { depth, starters, ..RunNode::of(&work) };
        self.queue_child(parent, (work, Origin::Spawn), node, request)?;
        Ok(depth)
    }

    /// Queues the work of an agent that `from` started or delegated to, without checking limits. `node` becomes its node
    /// under that of `from`, which sets its `parent` and `root`. `request` is the hash that prevents the same request
    /// from being made twice in the run.
    pub(super) fn queue_child(
        &mut self,
        from: ActivationKey,
        (work, origin): (NewWork, Origin),
        node: RunNode,
        request: u64,
    ) -> Result<(), Refusal> {
        let parent = self.activations.get(&from).map(|one| one.thread).ok_or(Refusal::Over)?;
        let above = self.threads.get_mut(&parent).ok_or(Refusal::Over)?;
        above.children += 1;
        let root = above.root;
        self.asked.entry(root).or_default().insert(request);
        let key = work.key;
        self.threads.insert(key, RunNode { parent: Some(parent), root, ..node });
        self.queue(work, key, origin, Vec::new());
        Ok(())
    }

    /// The thread and node of the agent that receives signals from this work, and the node of the sender.
    fn parent_of(&self, from: ActivationKey) -> Result<(ActivationKey, &RunNode, &RunNode), Refusal> {
        let thread = self.activations.get(&from).and_then(|one| self.threads.get(&one.thread)).ok_or(Refusal::Over)?;
        let parent = thread.parent.ok_or(Refusal::NoParent)?;
        let above = self.threads.get(&parent).ok_or(Refusal::NoParent)?;
        Ok((parent, above, thread))
    }

    /// Sends a message to the agent that started this one. If that agent must be woken, `key`, `now` and `cause` are
    /// used for the work that continues its session.
    pub fn signal(
        &mut self,
        from: ActivationKey,
        message: &str,
        terms: &Terms,
        (key, now, cause): (ActivationKey, u64, crate::base::Seq),
        settings: &KernelSettings,
    ) -> Result<SignalEffect, Refusal> {
        let (parent, above, thread) = self.parent_of(from)?;
        let (to, agent, root) = (above.file_name.clone(), above.agent.clone(), above.root);
        let described = terms.describe("It needs an answer within", "The answer should be");
        let described = if described.is_empty() { described } else { format!("\n{described}") };
        let text = format!("Signal from {}: {message}{described}", thread.agent);
        let (is_running, is_kept) = (above.live.is_some(), above.live.is_none() && above.is_stopped);
        if !is_running && !is_kept && self.activations.len() >= settings.max_activations as usize {
            return Err(Refusal::TooMany { most: settings.max_activations });
        }
        // The same text about another piece of work is a different message.
        if !self.asked.entry(root).or_default().insert(request_hash(&agent, &format!("{} {text}", from.id()))) {
            return Err(Refusal::Loop { agent });
        }
        if let Some(activation) = self.activations.get_mut(&from) {
            activation.last_signal = Some(message.to_owned());
        }
        self.deliver(parent, text, terms.rank(), (key, now, cause));
        Ok(SignalEffect { to, agent, woke: !is_running && !is_kept, is_kept })
    }

    /// Delivers a message to an agent, with its next request or as new work that continues its session. If a person
    /// stopped the agent, the message is only stored.
    fn deliver(
        &mut self,
        thread: ActivationKey,
        text: String,
        priority: i32,
        (key, now, cause): (ActivationKey, u64, crate::base::Seq),
    ) {
        let Some(above) = self.threads.get_mut(&thread) else { return };
        if let Some(live) = above.live.and_then(|live| self.activations.get_mut(&live)) {
            live.mail.push_back(text);
            live.is_unwritten = true;
            self.is_unsettled = true;
            return;
        }
        if above.is_stopped {
            above.messages.push(PromptMessage::plain(Role::User, text));
            return;
        }
        above.live = Some(key);
        above.report = None;
        let messages = std::mem::take(&mut above.messages);
        let work = NewWork {
            key,
            agent: above.agent.clone(),
            profile: above.profile.clone(),
            file_name: above.file_name.clone(),
            input: text,
            priority,
            now,
            cause,
        };
        self.queue(work, thread, Origin::Signal, messages);
    }

    /// Delivers a message to the agent of a session. Returns whether that woke the agent, or `None` if there is no
    /// such session or a person stopped the agent.
    pub(super) fn deliver_message(
        &mut self,
        thread: ActivationKey,
        text: String,
        at: (ActivationKey, u64, crate::base::Seq),
    ) -> Option<bool> {
        let there = self.threads.get(&thread)?;
        let (wakes, is_kept) = (there.live.is_none(), there.live.is_none() && there.is_stopped);
        self.deliver(thread, text, 0, at);
        (!is_kept).then_some(wakes)
    }

    /// The thread whose report is due now that work of `ended` has ended: that thread, or one above it whose agent was
    /// waiting. `None` if anything below is unfinished.
    pub fn due_report(&self, ended: ActivationKey) -> Option<ActivationKey> {
        let mut at = ended;
        loop {
            let thread = self.threads.get(&at)?;
            if !self.has_ended(at) {
                return None;
            }
            if thread.report.is_some() {
                return Some(at);
            }
            at = thread.parent?;
        }
    }

    /// Whether a thread and everything that it started have ended, and no report to it is outstanding.
    pub fn has_ended(&self, top: ActivationKey) -> bool {
        let is_busy =
            |key: ActivationKey, thread: &RunNode| thread.live.is_some() || (key != top && thread.report.is_some());
        !self.threads.iter().any(|(key, thread)| is_busy(*key, thread) && self.is_below(*key, top))
    }

    /// Whether a thread is this one or was started by it, directly or indirectly.
    fn is_below(&self, key: ActivationKey, top: ActivationKey) -> bool {
        let parent = |key: &ActivationKey| self.threads.get(key)?.parent;
        std::iter::successors(Some(key), parent).any(|above| above == top)
    }

    /// Whether anything started by this thread is still running.
    pub(super) fn has_live_children(&self, top: ActivationKey) -> bool {
        let live = self.threads.iter().filter(|(key, thread)| **key != top && thread.live.is_some());
        live.into_iter().any(|(key, _)| self.is_below(*key, top))
    }

    /// Delivers the due report of a thread to the agent that started it.
    pub fn report(&mut self, thread: ActivationKey, at: (ActivationKey, u64, crate::base::Seq)) -> Option<Reported> {
        let reporter = self.threads.get_mut(&thread)?;
        let Report { activation, words, given } = reporter.report.take()?;
        let (from, parent) = (reporter.agent.clone(), reporter.parent?);
        // A result is returned only once; later reports are ordinary signals.
        let gave = reporter.handed.take().zip(given).map(|(handed, given)| handed.report_for(&given));
        let (words, gave) = match gave {
            Some((words, is_done, result)) => (words, Some((is_done, result))),
            None => (words, None),
        };
        let above = self.threads.get(&parent)?;
        let is_kept = above.live.is_none() && above.is_stopped;
        let woke = above.live.is_none() && !is_kept;
        let delivered = SignalEffect { to: above.file_name.clone(), agent: above.agent.clone(), woke, is_kept };
        self.deliver(parent, format!("Signal from {from}: {words}"), 0, at);
        Some(Reported { from, activation, words, gave, delivered })
    }
}
