//! Agents that start agents and agents that wake the one that started them: how deep, how many, how often.

use thiserror::Error;

use super::activation::{Origin, Thread};
use super::core::{Kernel, NewWork};
use super::settings::KernelSettings;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, Id};
use crate::gate::Authority;

/// Why an agent was not started or woken.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Refusal {
    /// Agents start agents no deeper.
    #[error("depth limit {most}/{most}")]
    Depth {
        /// The limit.
        most: u32,
    },
    /// One agent starts no more.
    #[error("fan-out limit {most}/{most}: this agent has started that many already")]
    FanOut {
        /// The limit.
        most: u32,
    },
    /// The same agent was asked the same in this run.
    #[error("{agent} was given exactly this in this run already (loop detection); say what is different")]
    Loop {
        /// Whom.
        agent: Id,
    },
    /// There is too much work.
    #[error("{most} pieces of work wait or go on already")]
    TooMany {
        /// The limit.
        most: u32,
    },
    /// Nobody started it.
    #[error("there is no parent: a person started this agent; answer in plain words instead")]
    NoParent,
    /// It is over.
    #[error("this work is over")]
    Over,
}

/// What a signal did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signalled {
    /// The file name of the agent that was told.
    pub to: String,
    /// Its id.
    pub agent: Id,
    /// Whether it had to be woken: a new piece of work was queued for it.
    pub woke: bool,
}

/// What an agent is asked, for loop detection: by its id, not by what its file says, so that an agent that
/// rewrites itself does not escape.
pub(super) fn asking(agent: &str, input: &str) -> u64 {
    content_hash(format!("{agent}\n{input}").as_bytes())
}

impl Kernel {
    /// Whether an agent may start this one with this task; if so, how deep it will be.
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
            return Err(Refusal::Depth { most });
        }
        if thread.children >= settings.fan_out_at_most {
            return Err(Refusal::FanOut { most: settings.fan_out_at_most });
        }
        if self.activations.len() >= settings.activations_at_most as usize {
            return Err(Refusal::TooMany { most: settings.activations_at_most });
        }
        if self.asked.get(&thread.root).is_some_and(|asked| asked.contains(&asking(agent, task))) {
            return Err(Refusal::Loop { agent: agent.into() });
        }
        Ok(thread.depth + 1)
    }

    /// Queues work for an agent that another one started, and that may never do more than `starters`; says how deep
    /// it is.
    pub fn spawn(
        &mut self,
        parent: ActivationKey,
        work: NewWork,
        starters: Vec<Authority>,
        settings: &KernelSettings,
    ) -> Result<u32, Refusal> {
        let depth = self.may_spawn(parent, &work.agent, &work.input, settings)?;
        let parent = self.activations.get(&parent).map(|one| one.thread).ok_or(Refusal::Over)?;
        let above = self.threads.get_mut(&parent).ok_or(Refusal::Over)?;
        above.children += 1;
        let root = above.root;
        let thread = Thread {
            agent: work.agent.clone(),
            profile: work.profile.clone(),
            file_name: work.file_name.clone(),
            parent: Some(parent),
            root,
            depth,
            children: 0,
            live: Some(work.key),
            messages: Vec::new(),
            starters,
        };
        self.asked.entry(root).or_default().insert(asking(&work.agent, &work.input));
        self.threads.insert(work.key, thread);
        let key = work.key;
        self.queue(work, key, Origin::Spawn, Vec::new());
        Ok(depth)
    }

    /// Whom a signal from this piece of work would reach: thread and agent.
    fn above(&self, from: ActivationKey) -> Result<(ActivationKey, &Thread, &Thread), Refusal> {
        let thread = self.activations.get(&from).and_then(|one| self.threads.get(&one.thread)).ok_or(Refusal::Over)?;
        let parent = thread.parent.ok_or(Refusal::NoParent)?;
        let above = self.threads.get(&parent).ok_or(Refusal::NoParent)?;
        Ok((parent, above, thread))
    }

    /// Tells the agent that started this one. `key`, `now` and `cause` are for the work that wakes it, if it has to
    /// be woken: it goes on with its session.
    pub fn signal(
        &mut self,
        from: ActivationKey,
        message: &str,
        (key, now, cause): (ActivationKey, u64, crate::base::Seq),
        settings: &KernelSettings,
    ) -> Result<Signalled, Refusal> {
        let (parent, above, thread) = self.above(from)?;
        let (to, agent, root) = (above.file_name.clone(), above.agent.clone(), above.root);
        let text = format!("Signal from {}: {message}", thread.agent);
        let is_told = above.live.is_some();
        if !is_told && self.activations.len() >= settings.activations_at_most as usize {
            return Err(Refusal::TooMany { most: settings.activations_at_most });
        }
        if !self.asked.entry(root).or_default().insert(asking(&agent, &text)) {
            return Err(Refusal::Loop { agent });
        }
        if let Some(activation) = self.activations.get_mut(&from) {
            activation.has_signalled = true;
        }
        self.deliver(parent, text, (key, now, cause));
        Ok(Signalled { to, agent, woke: !is_told })
    }

    /// Puts words before an agent: with its next question, or as a new piece of work that goes on with its session.
    fn deliver(
        &mut self,
        thread: ActivationKey,
        text: String,
        (key, now, cause): (ActivationKey, u64, crate::base::Seq),
    ) {
        let Some(above) = self.threads.get_mut(&thread) else { return };
        if let Some(live) = above.live.and_then(|live| self.activations.get_mut(&live)) {
            live.mail.push_back(text);
            self.is_unsettled = true;
            return;
        }
        above.live = Some(key);
        let messages = std::mem::take(&mut above.messages);
        let work = NewWork {
            key,
            agent: above.agent.clone(),
            profile: above.profile.clone(),
            file_name: above.file_name.clone(),
            input: text,
            priority: 0,
            now,
            cause,
        };
        self.queue(work, thread, Origin::Signal, messages);
    }

    /// Whom the end of a piece of work is to be told to: the thread of the agent that started it, if it was told
    /// nothing yet and its run goes on.
    pub fn owed_a_report(&self, thread: ActivationKey, has_signalled: bool) -> Option<(ActivationKey, &Thread)> {
        let parent = self.threads.get(&thread)?.parent.filter(|_| !has_signalled)?;
        Some((parent, self.threads.get(&parent)?))
    }

    /// Tells the agent that started one how that one's work ended; whether it had to be woken.
    pub fn report(
        &mut self,
        thread: ActivationKey,
        words: &str,
        at: (ActivationKey, u64, crate::base::Seq),
    ) -> Option<Signalled> {
        let (parent, above) = self.owed_a_report(thread, false)?;
        let from = self.threads.get(&thread)?.agent.clone();
        let told = Signalled { to: above.file_name.clone(), agent: above.agent.clone(), woke: above.live.is_none() };
        self.deliver(parent, format!("Signal from {from}: {words}"), at);
        Some(told)
    }
}
