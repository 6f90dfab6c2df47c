//! What becomes of a piece of work when its model has answered and when its tools have.

use super::activation::{Activation, Call, CallProgress, Ending, Phase, outcome_hash};
use super::core::{Effect, Kernel, NoReply};
use super::session::is_left_out;
use super::settings::KernelSettings;
use crate::base::ActivationKey;
use crate::mind::{PromptMessage, Role, WorkReply};
use crate::schedule::ticks;

/// No wait after a failure is longer than this.
const WAIT_AT_MOST_SECS: f32 = 600.0;

/// What a step without progress is answered with, once.
const NUDGE: &str = "Progress check: your last step brought nothing new: no words, and no tool result that you had \
                     not seen. Go on with a tool call that moves the task forward, or conclude with your final answer.";

/// The same where agents are at work that this one started.
const NUDGE_TO_WAIT: &str = "Progress check: your last step brought nothing new. The agents that you started report to \
                             you by themselves: end your turn with a few words, and you are activated again with \
                             what they say.";

impl Kernel {
    /// The model answered a question.
    pub fn replied(&mut self, key: ActivationKey, turn: u32, reply: WorkReply, settings: &KernelSettings) {
        let Some(activation) = self.asked_now(key, turn) else { return };
        activation.failures = 0;
        let has_said = !reply.text.trim().is_empty();
        let concludes = reply.tool_calls.is_empty() && has_said && !reply.was_cut;
        if has_said || !reply.tool_calls.is_empty() {
            activation.messages.push(PromptMessage::calls(reply.text.clone(), reply.tool_calls.clone()));
        }
        activation.is_unwritten = true;
        self.rate_limits = 0;
        self.is_unsettled = true;
        let Some(activation) = self.activations.get_mut(&key) else { return };
        if concludes {
            // What came in while it was asked may change its mind.
            if activation.mail.is_empty() {
                self.end(key, Ending::Completed { text: reply.text });
            } else {
                activation.phase = Phase::Due;
            }
            return;
        }
        let calls: Vec<Call> = reply
            .tool_calls
            .into_iter()
            .map(|call| Call { call, progress: CallProgress::Pending, is_allowed: false, record: None })
            .collect();
        if calls.is_empty() {
            activation.phase = Phase::Due;
            self.strike(key, settings);
        } else {
            // Whether it brought anything, its results will say.
            activation.phase = Phase::Calling { calls };
        }
    }

    /// A step without progress: a nudge, and in the end a stop.
    fn strike(&mut self, key: ActivationKey, settings: &KernelSettings) {
        let waits = self.activations.get(&key).is_some_and(|one| self.has_live_children(one.thread));
        let Some(activation) = self.activations.get_mut(&key) else { return };
        activation.strikes += 1;
        let strikes = activation.strikes;
        if strikes >= settings.strikes_at_most {
            let why = format!("stopped after {strikes} steps without progress (kernel.strikes_at_most)");
            self.end(key, Ending::Aborted { why, by_person: false });
            return;
        }
        let nudge = if waits { NUDGE_TO_WAIT } else { NUDGE };
        activation.messages.push(PromptMessage::words(Role::User, nudge));
        let what = format!("a step without progress, {strikes} of {}", settings.strikes_at_most);
        self.outgoing.push_back(Effect::Warn { activation: key, what });
    }

    /// The model did not answer a question.
    pub fn failed(&mut self, key: ActivationKey, turn: u32, failure: NoReply, now: u64, settings: &KernelSettings) {
        let Some(activation) = self.asked_now(key, turn) else { return };
        // The question was not answered: it is asked again under the same number.
        activation.phase = Phase::Due;
        activation.turn -= 1;
        activation.has_slot = false;
        match failure {
            NoReply::RateLimited { retry_after_secs, why } => {
                let secs = retry_after_secs.unwrap_or_else(|| doubled(settings.rate_limit_secs, self.rate_limits));
                let resume = now + ticks(secs.clamp(1.0, WAIT_AT_MOST_SECS)).max(1);
                self.rate_limits = self.rate_limits.saturating_add(1);
                self.resume_tick = Some(self.resume_tick.map_or(resume, |tick| tick.max(resume)));
                let what = format!("{why}; all work waits {:.0} s", secs.clamp(1.0, WAIT_AT_MOST_SECS));
                self.outgoing.push_back(Effect::Warn { activation: key, what });
            }
            NoReply::OverBudget { scope, wait, why } => self.over_budget(key, (scope, wait), why, now),
            NoReply::Passing { why } if activation.failures < settings.retries_at_most => {
                activation.not_before = now + ticks(doubled(settings.retry_secs, activation.failures)).max(1);
                activation.failures += 1;
                self.outgoing.push_back(Effect::Warn { activation: key, what: format!("{why}; it is tried again") });
            }
            NoReply::Passing { why } | NoReply::Lasting { why } => {
                self.end(key, Ending::Failed { why });
            }
        }
        self.is_unsettled = true;
    }

    /// The activation, if this is the question that it waits for an answer to.
    fn asked_now(&mut self, key: ActivationKey, turn: u32) -> Option<&mut Activation> {
        self.activations.get_mut(&key).filter(|one| one.phase == Phase::Asking && one.turn == turn)
    }

    /// The call that is being carried out, if it is this one.
    pub fn running_call(&self, key: ActivationKey, turn: u32, index: usize) -> Option<&Call> {
        let activation = self.activations.get(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &activation.phase else { return None };
        calls.get(index).filter(|call| call.progress == CallProgress::Running)
    }

    fn running_call_mut(&mut self, key: ActivationKey, turn: u32, index: usize) -> Option<&mut Call> {
        let activation = self.activations.get_mut(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &mut activation.phase else { return None };
        calls.get_mut(index).filter(|call| call.progress == CallProgress::Running)
    }

    /// A tool call was carried out, or refused: this is what the model is told. Whether anybody waited for it.
    pub fn answered(
        &mut self,
        (key, turn, index): (ActivationKey, u32, usize),
        text: String,
        settings: &KernelSettings,
    ) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.progress = CallProgress::Answered(text);
        self.is_unsettled = true;
        let Some(activation) = self.activations.get_mut(&key) else { return false };
        activation.is_unwritten = true;
        if activation.current_call().is_none() {
            self.close_turn(key, settings);
        }
        true
    }

    /// Every call of a turn was answered: the session has the results, and whether they brought anything is judged.
    fn close_turn(&mut self, key: ActivationKey, settings: &KernelSettings) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let Phase::Calling { calls } = std::mem::replace(&mut activation.phase, Phase::Due) else { return };
        let answered = |call: &Call| match &call.progress {
            CallProgress::Answered(text) => Some(text.clone()),
            _ => None,
        };
        let mut is_progress = false;
        let mut results = Vec::with_capacity(calls.len());
        for call in &calls {
            let Some(text) = answered(call) else { continue };
            is_progress |= activation.made.insert(outcome_hash(&call.call, &text));
            results.push(PromptMessage::result(&call.call, text));
        }
        // Where an older result is not sent any more, the words in its place ask to call again.
        let most = settings.session_chars_at_most;
        is_progress = is_progress || calls.iter().any(|one| is_left_out(&activation.messages, most, &one.call));
        activation.messages.extend(results);
        if is_progress {
            activation.strikes = 0;
        } else {
            self.strike(key, settings);
        }
    }

    /// A person must decide about a call. Its place is free for others meanwhile.
    pub fn ask_person(&mut self, key: ActivationKey, turn: u32, index: usize, why: String) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.progress = CallProgress::Asked(why);
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.has_slot = false;
            activation.is_unwritten = true;
        }
        self.is_unsettled = true;
        true
    }

    /// A person decided about a call: it goes on, or is answered with the refusal. Whether it was asked about.
    pub fn decided(
        &mut self,
        (key, turn, index): (ActivationKey, u32, usize),
        refusal: Option<String>,
        settings: &KernelSettings,
    ) -> bool {
        let Some(activation) = self.activations.get_mut(&key).filter(|one| one.turn == turn) else { return false };
        let Phase::Calling { calls } = &mut activation.phase else { return false };
        let Some(call) = calls.get_mut(index).filter(|call| matches!(call.progress, CallProgress::Asked(_))) else {
            return false;
        };
        self.is_unsettled = true;
        match refusal {
            None => {
                call.is_allowed = true;
                call.progress = CallProgress::Pending;
                true
            }
            Some(text) => {
                call.progress = CallProgress::Running;
                self.answered((key, turn, index), text, settings)
            }
        }
    }
}

fn doubled(secs: f32, times: u32) -> f32 {
    (secs * f32::from(2_u8).powi(i32::try_from(times.min(16)).unwrap_or(16))).min(WAIT_AT_MOST_SECS)
}
