//! What becomes of a piece of work when its model has answered and when its tools have.

use super::activation::{Activation, Call, CallProgress, Ending, Phase, call_hash};
use super::core::{Effect, Kernel, NoReply};
use super::settings::KernelSettings;
use crate::base::ActivationKey;
use crate::mind::{PromptMessage, Role, WorkReply};
use crate::schedule::ticks;

/// No wait after a failure is longer than this.
const WAIT_AT_MOST_SECS: f32 = 600.0;

/// What a step without progress is answered with, once.
const NUDGE: &str = "Progress check: your last step called no new tool and said nothing new. \
                     Go on with a tool call that moves the task forward, or conclude with your final answer.";

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
        let made = activation.made.len();
        activation.made.extend(reply.tool_calls.iter().map(call_hash));
        let is_new = activation.made.len() > made;
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
        let has_calls = !calls.is_empty();
        activation.phase = if has_calls { Phase::Calling { calls } } else { Phase::Due };
        if is_new {
            activation.strikes = 0;
            return;
        }
        activation.strikes += 1;
        self.strike(key, has_calls, settings);
    }

    /// A step without progress: a nudge, and in the end a stop.
    fn strike(&mut self, key: ActivationKey, has_calls: bool, settings: &KernelSettings) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let strikes = activation.strikes;
        if strikes >= settings.strikes_at_most {
            let why = format!("stopped after {strikes} steps without progress (kernel.strikes_at_most)");
            self.end(key, Ending::Aborted { why, by_person: false });
            return;
        }
        // Behind the results of its calls, where there are any: a call must be followed by its answer.
        if has_calls {
            activation.mail.push_front(NUDGE.to_owned());
        } else {
            activation.messages.push(PromptMessage::words(Role::User, NUDGE));
        }
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
            NoReply::OverBudget { why } => {
                self.outgoing.push_back(Effect::Warn { activation: key, what: format!("all work stopped: {why}") });
                self.stopped_by = Some(why);
            }
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
    pub fn answered(&mut self, key: ActivationKey, turn: u32, index: usize, text: String) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.progress = CallProgress::Answered(text);
        self.is_unsettled = true;
        let Some(activation) = self.activations.get_mut(&key) else { return false };
        let Phase::Calling { calls } = &activation.phase else { return false };
        if activation.current_call().is_some() {
            return true;
        }
        let results: Vec<PromptMessage> = calls
            .iter()
            .filter_map(|call| match &call.progress {
                CallProgress::Answered(text) => Some(PromptMessage::result(&call.call, text.clone())),
                _ => None,
            })
            .collect();
        activation.messages.extend(results);
        activation.phase = Phase::Due;
        true
    }

    /// A person must decide about a call. Its place is free for others meanwhile.
    pub fn ask_person(&mut self, key: ActivationKey, turn: u32, index: usize, why: String) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.progress = CallProgress::Asked(why);
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.has_slot = false;
        }
        self.is_unsettled = true;
        true
    }

    /// A person decided about a call: it goes on, or is answered with the refusal. Whether it was asked about.
    pub fn decided(&mut self, key: ActivationKey, turn: u32, index: usize, refusal: Option<String>) -> bool {
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
                self.answered(key, turn, index, text)
            }
        }
    }
}

fn doubled(secs: f32, times: u32) -> f32 {
    (secs * f32::from(2_u8).powi(i32::try_from(times.min(16)).unwrap_or(16))).min(WAIT_AT_MOST_SECS)
}
