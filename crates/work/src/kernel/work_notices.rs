//! Messages from higher layers to working agents, which are added to the next request or wake the agent.

use bevy::ecs::message::Message;

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::Activation;
use super::core::Kernel;
use super::settings::KernelSettings;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::{EventDraft, events};
use crate::mind::headings;

/// A message for an agent's session. Send it in `Ingest`, after the kernel's own systems, so that it is delivered in
/// the same tick. The sender must first check that the session accepts it ([`Kernel::next_turn_of`],
/// [`Kernel::may_be_woken`]).
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct WorkNotice {
    /// The thread of the session.
    pub thread: ActivationKey,
    /// The text of the message.
    pub text: String,
    /// The id of the sending agent.
    pub from: Id,
    /// The activation in which the agent sent it.
    pub from_work: Option<ActivationKey>,
    /// The log record that caused the message.
    pub cause: Seq,
}

impl Kernel {
    /// The agent's work that takes the next turn: the running one, otherwise the most urgent (the lowest `priority`),
    /// otherwise the oldest.
    pub fn next_work_of(&self, agent: &str) -> Option<&Activation> {
        let its = self.activations().filter(|one| *one.agent == *agent);
        its.min_by_key(|one| (!one.has_begun(), one.priority, one.key))
    }

    /// The session in which an agent takes its next turn. `None` if notices are waiting there already, because each
    /// turn delivers a limited number of them.
    pub fn next_turn_of(&self, agent: &str) -> Option<ActivationKey> {
        let next = self.next_work_of(agent)?;
        let has_notice = next.mail.iter().any(|text| text.starts_with(headings::NEWS));
        (!has_notice).then_some(next.thread)
    }

    /// Whether the agent has queued or running work.
    pub fn has_work(&self, agent: &str) -> bool {
        self.activations().any(|one| *one.agent == *agent)
    }

    /// The session of an idle agent that can be woken: `this` one if possible, otherwise the newest one.
    pub fn may_be_woken(
        &self,
        agent: &str,
        this: Option<ActivationKey>,
        settings: &KernelSettings,
    ) -> Option<ActivationKey> {
        if self.has_work(agent) || self.activations().count() >= settings.max_activations as usize {
            return None;
        }
        let rests = |key: &ActivationKey| {
            self.thread(*key).is_some_and(|one| *one.agent == *agent && one.live.is_none() && !one.is_stopped)
        };
        let newest = || self.threads().map(|(key, _)| key).filter(|key| rests(key)).max();
        this.filter(rests).or_else(newest)
    }

    /// The run that a session belongs to.
    pub fn run_of(&self, thread: ActivationKey) -> Option<ActivationKey> {
        self.thread(thread).map(|thread| thread.root)
    }
}

impl RoomAccess<'_, '_> {
    /// Delivers a notice to an agent, and records in the log if that woke the agent.
    pub(super) fn deliver_notice(&mut self, kernel: &mut Kernel, notice: &WorkNotice) {
        let key = kernel.next_key(self.run());
        let at = (key, self.clock.tick(), notice.cause);
        if kernel.deliver_message(notice.thread, notice.text.clone(), at) != Some(true) {
            return;
        }
        let Some(agent) = kernel.thread(notice.thread).map(|thread| thread.agent.clone()) else { return };
        let woken = events::Activation {
            task: truncate(&notice.text, LOGGED_CHARS),
            by: notice.from.clone(),
            signal_of: notice.from_work.map(ActivationKey::id),
            ..events::Activation::default()
        };
        let draft = EventDraft::of(&woken).agent(&agent).activation(&key.id());
        let record = self.log.write(draft.cause(notice.cause));
        kernel.note_queued(key, record);
    }
}
