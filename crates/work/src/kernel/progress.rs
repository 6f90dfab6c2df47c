//! Decides whether a step of work brought progress, reminds the agent if it did not, and stops work that repeats itself.

use super::activation::{Activation, Call, CallOutcome};
use super::core::{Kernel, KernelAction};
use super::settings::KernelSettings;
use crate::base::ActivationKey;
use crate::base::hash::content_hash;
use crate::mind::history_trimming::is_left_out;
use crate::mind::{Ending, PromptMessage, Role};
use crate::tools::call_hash;

/// How often the same call may return the same result in a session, alternating with other results, and still count as
/// progress. A file that changes back and forth is not progress.
const MAX_SAME_RESULTS: u32 = 3;

/// The reminder sent after a step without progress.
const NUDGE: &str = "Progress check: your last step brought nothing new: no text, and no tool result that you had not \
    already seen. Continue with a tool call that moves the task forward, or conclude with your final answer.";

/// The reminder sent after a step without progress while agents started by this one are still running.
const NUDGE_TO_WAIT: &str = "Progress check: your last step brought nothing new. The agents that you started report \
    to you automatically: end your turn with a few words, and you will be activated again with their reports.";

/// The final text of work that only supervised other agents and said nothing itself.
const WAITS: &str = "Waiting for the agents that were started.";

impl Activation {
    /// Records the result of a call, and returns whether it is progress: the result differs from the call's last one,
    /// the call changed a file, it was interrupted, or its earlier result is no longer among the `chars_at_most`
    /// characters that are sent and was replaced by a placeholder. Frequent repetition is never progress, except for
    /// interruptions in different runs: the agent cannot help it if the program is ended again and again.
    pub(super) fn note_outcome(&mut self, call: &Call, answer: &str, chars_at_most: usize) -> bool {
        let answer_hash = match &call.interrupted_in {
            Some(run) => content_hash(format!("{run}\n{answer}").as_bytes()),
            None => content_hash(answer.as_bytes()),
        };
        let call_hash = call_hash(&call.call);
        let last = self.outcomes.iter().rfind(|one| one.call == call_hash).map(|one| one.answer);
        let known = self.outcomes.iter().position(|one| (one.call, one.answer) == (call_hash, answer_hash));
        let before = known.map_or(0, |at| self.outcomes.remove(at).times);
        let times = before.saturating_add(1);
        self.outcomes.push(CallOutcome { call: call_hash, answer: answer_hash, times });
        let is_another = before == 0 || call.has_changed || call.interrupted_in.is_some() || last != Some(answer_hash);
        // This is checked last because it scans the whole session.
        let was_left_out = || is_left_out(&self.messages, chars_at_most, &call.call);
        times <= MAX_SAME_RESULTS && (is_another || was_left_out())
    }
}

impl Kernel {
    /// Counts a step without progress: first the agent is reminded, in the end the work is stopped. Work whose
    /// children are still running only waits for them. Messages that arrived meanwhile make a reminder unnecessary.
    /// `because` says what happened, if it is known.
    pub(super) fn strike(
        &mut self,
        key: ActivationKey,
        nudge: Option<&str>,
        because: Option<&str>,
        settings: &KernelSettings,
    ) {
        let waits = self.activations.get(&key).is_some_and(|one| self.has_live_children(one.thread));
        let Some(activation) = self.activations.get_mut(&key) else { return };
        if !activation.mail.is_empty() {
            return;
        }
        activation.strikes += 1;
        let strikes = activation.strikes;
        if strikes >= settings.max_strikes {
            // Work that brings nothing new is reminded once, and stopped at its second step without progress.
            rule!("work-without-progress-is-stopped");
            let because = because.map(|because| format!(": {because}")).unwrap_or_default();
            let why = format!("stopped after {strikes} steps without progress (kernel.max_strikes){because}");
            let last = activation.messages.iter().rev().find(|one| one.role == Role::Assistant && !one.text.is_empty());
            let words = last.map_or_else(|| WAITS.to_owned(), |last| last.text.clone());
            let ending = match waits {
                true => Ending::Completed { text: words },
                false => Ending::Aborted { why, by_person: false },
            };
            self.end(key, ending);
            return;
        }
        let nudge = nudge.unwrap_or(if waits { NUDGE_TO_WAIT } else { NUDGE });
        activation.messages.push(PromptMessage::plain(Role::User, nudge));
        let because = because.map(|because| format!(": {because}")).unwrap_or_default();
        let what = format!("a step without progress, {strikes} of {}{because}", settings.max_strikes);
        self.outgoing.push_back(KernelAction::Warn { activation: key, what });
    }
}
