//! Messages from higher floors to working agents: added to their next request, or waking them.

use bevy::ecs::message::Message;

use super::access::{LOGGED_CHARS, RoomAccess};
use super::core::Kernel;
use super::settings::KernelSettings;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::{EventDraft, events};
use crate::mind::headings;

/// A message for an agent's session. Send it in `Ingest`, after the kernel's own systems, so that it is received in the
/// same tick. The sender must first check that the session accepts it ([`Kernel::next_turn_of`],
/// [`Kernel::may_be_woken`]).
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct WorkNotice {
    /// The session that they are for.
    pub thread: ActivationKey,
    /// The words.
    pub text: String,
    /// Whose they are, by id.
    pub from: Id,
    /// The work in which that one said them.
    pub from_work: Option<ActivationKey>,
    /// The record that they come from.
    pub cause: Seq,
}

impl Kernel {
    /// The session in which an agent has its next turn, unless news wait there already: one turn brings so much and no
    /// more, however long it has to wait for its place.
    pub fn next_turn_of(&self, agent: &str) -> Option<ActivationKey> {
        let its = self.activations().filter(|one| *one.agent == *agent);
        let next = its.min_by_key(|one| (!one.has_begun(), one.priority, one.key))?;
        let has_news = next.mail.iter().any(|text| text.starts_with(headings::NEWS));
        (!has_news).then_some(next.thread)
    }

    /// Whether anything waits for an agent or goes on.
    pub fn has_work(&self, agent: &str) -> bool {
        self.activations().any(|one| *one.agent == *agent)
    }

    /// The session of an agent that has nothing to do, if it has one that may be woken: this one, else its newest.
    pub fn may_be_woken(
        &self,
        agent: &str,
        this: Option<ActivationKey>,
        settings: &KernelSettings,
    ) -> Option<ActivationKey> {
        if self.has_work(agent) || self.activations().count() >= settings.activations_at_most as usize {
            return None;
        }
        let rests = |key: &ActivationKey| {
            self.thread(*key).is_some_and(|one| *one.agent == *agent && one.live.is_none() && !one.is_stopped)
        };
        let newest = || self.threads().map(|(key, _)| key).filter(|key| rests(key)).max();
        this.filter(rests).or_else(newest)
    }

    /// The run that a session belongs to: the session that a person began it with.
    pub fn run_of(&self, thread: ActivationKey) -> Option<ActivationKey> {
        self.thread(thread).map(|thread| thread.root)
    }
}

impl RoomAccess<'_, '_> {
    /// Puts words before an agent, and says in the log that they woke it.
    pub(super) fn deliver_notice(&mut self, kernel: &mut Kernel, news: &WorkNotice) {
        let key = kernel.next_key(self.run());
        let at = (key, self.clock.tick(), news.cause);
        if kernel.deliver_words(news.thread, news.text.clone(), at) != Some(true) {
            return;
        }
        let Some(agent) = kernel.thread(news.thread).map(|thread| thread.agent.clone()) else { return };
        let woken = events::Activation {
            task: truncate(&news.text, LOGGED_CHARS),
            by: news.from.clone(),
            signal_of: news.from_work.map(ActivationKey::id),
            ..events::Activation::default()
        };
        let draft = EventDraft::of(&woken).agent(&agent).activation(&key.id());
        let record = self.log.write(draft.cause(news.cause));
        kernel.note_queued(key, record);
    }
}
