//! State transitions of a piece of work after a model reply or a tool result.

use std::collections::BTreeMap;

use super::activation::{Activation, Call, CallProgress, Phase};
use super::approval_question::CallQuestion;
use super::core::{Kernel, KernelAction, NoReply};
use super::hand_over::ResultCheck;
use super::message_notes::Attached;
use super::settings::KernelSettings;
use crate::base::text::{one_line, truncate};
use crate::base::{ActivationKey, Backoff, RunTag};
use crate::gateway::mcp::McpElicitation;
use crate::mind::{CallEnd, Ending, PromptMessage, Role, ToolCall, WorkReply};
use crate::schedule::ticks;
use crate::tools::{OrderKey, ToolPlan};

/// The maximum length in characters of the changes that were not merged, and of the agent's answer, in a failure to merge.
const UNMERGED_CHARS: usize = 1_000;
/// The maximum waiting time after a failure.
const MAX_WAIT_SECS: f32 = 600.0;

/// The message sent after a reply that was withheld by the provider's filter, at least in part.
const FILTERED: &str = "Your provider's filter blocked your last reply, so nobody received it. Rephrase it, or \
    continue with another part of the task.";
/// The maximum length in characters of what a person is shown of a blocked reply.
const FILTERED_CHARS: usize = 300;

/// How often a request that exceeds the model's context length is shortened, by half each time.
const MAX_SHORTER: u32 = 3;
/// The minimum length in characters to which a session is shortened.
const MIN_SESSION_CHARS: usize = 1_000;

impl Kernel {
    /// Applies a model's reply.
    pub fn replied(&mut self, key: ActivationKey, turn: u32, reply: WorkReply, settings: &KernelSettings) {
        let Some(activation) = self.awaiting_reply(key, turn) else { return };
        (activation.failures, activation.refused_lengths) = (0, 0);
        let has_text = !reply.text.trim().is_empty();
        if has_text || !reply.tool_calls.is_empty() {
            activation.messages.push(PromptMessage::calls(reply.text.clone(), reply.tool_calls.clone()));
        }
        activation.is_unwritten = true;
        activation.cuts = if reply.cut_at_tokens.is_some() { activation.cuts.saturating_add(1) } else { 0 };
        self.rate_limits = 0;
        self.is_unsettled = true;
        match reply.cut_at_tokens {
            Some(tokens) => self.replied_in_part(key, reply, tokens, settings),
            None => self.replied_in_full(key, reply, settings),
        }
    }

    fn replied_in_full(&mut self, key: ActivationKey, reply: WorkReply, settings: &KernelSettings) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let earlier_text = std::mem::take(&mut activation.unfinished);
        if !reply.tool_calls.is_empty() {
            // Whether there was progress is decided once the results are there.
            activation.phase = Phase::Calling { calls: calls_of(reply.tool_calls, reply.answered) };
            if activation.current_call().is_none() {
                self.close_turn(key, settings);
            }
        } else if reply.was_filtered {
            // What the provider let through of it, if anything, says why, and is no result.
            activation.phase = Phase::Due;
            self.strike(key, Some(FILTERED), Some(&filtered_text(&reply.text)), settings);
        } else if reply.text.trim().is_empty() {
            activation.phase = Phase::Due;
            self.strike(key, None, None, settings);
        } else if !activation.mail.is_empty() {
            // Messages that arrived during the request may change the result.
            activation.phase = Phase::Due;
        } else {
            let text = if earlier_text.is_empty() { reply.text } else { earlier_text + &reply.leading + &reply.text };
            self.conclude(key, text);
        }
    }

    /// Ends work whose agent has concluded. Delegated work is returned to its agent once if the result does not have
    /// the requested form.
    fn conclude(&mut self, key: ActivationKey, text: String) {
        match self.check_result(key, &text) {
            ResultCheck::Valid => {
                let unmerged = self.activations.get(&key).map_or(&[][..], |one| &one.unmerged);
                let ending = if unmerged.is_empty() { Ending::Completed { text } } else { not_merged(unmerged, &text) };
                self.end(key, ending);
            }
            ResultCheck::Invalid(why) => {
                self.end(key, Ending::Failed { why });
            }
            ResultCheck::Retry(words) => {
                if let Some(activation) = self.activations.get_mut(&key) {
                    activation.phase = Phase::Due;
                    activation.messages.push(PromptMessage::plain(Role::User, words.clone()));
                }
                let what = format!("its result was sent back: {}", first_sentence(&words));
                self.outgoing.push_back(KernelAction::Warn { activation: key, what });
            }
        }
    }

    /// Applies a reply that was cut off at its output limit: complete calls are executed, an incomplete call is
    /// answered with an error, and text is continued by the next reply.
    fn replied_in_part(&mut self, key: ActivationKey, reply: WorkReply, tokens: u32, settings: &KernelSettings) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        activation.phase = Phase::Due;
        if activation.cuts > settings.max_cut_replies {
            let why = format!(
                "stopped after {} replies in a row that were cut off at the limit of {tokens} tokens \
                 (mind.max_work_output_tokens, kernel.max_cut_replies)",
                activation.cuts
            );
            self.end(key, Ending::Aborted { why, by_person: false });
            return;
        }
        let mut calls = calls_of(reply.tool_calls, reply.answered);
        if let Some(last) = calls.last_mut() {
            activation.unfinished.clear();
            if is_incomplete(&last.call) {
                last.end = Some(CallEnd::NotDone);
                last.progress = CallProgress::Answered(incomplete_call_message(tokens));
            } else {
                activation.mail.push_back(cut_after_calls_message(tokens));
            }
            activation.phase = Phase::Calling { calls };
            if activation.current_call().is_none() {
                self.close_turn(key, settings);
            }
        } else if reply.text.trim().is_empty() {
            self.strike(key, Some(&cut_empty_message(tokens)), None, settings);
        } else {
            if !activation.unfinished.is_empty() {
                activation.unfinished.push_str(&reply.leading);
            }
            activation.unfinished.push_str(&reply.text);
            activation.messages.push(PromptMessage::plain(Role::User, cut_text_message(tokens)));
        }
    }

    /// Applies a failed model request.
    pub fn failed(&mut self, key: ActivationKey, turn: u32, failure: NoReply, now: u64, settings: &KernelSettings) {
        let Some(activation) = self.awaiting_reply(key, turn) else { return };
        // The request is repeated with the same turn number.
        activation.phase = Phase::Due;
        activation.turn -= 1;
        activation.has_slot = false;
        match failure {
            NoReply::RateLimited { retry_after_secs, why } => {
                let secs = retry_after_secs.unwrap_or_else(|| backoff_secs(settings.rate_limit_secs, self.rate_limits));
                let resume = now + ticks(secs.clamp(1.0, MAX_WAIT_SECS)).max(1);
                self.rate_limits = self.rate_limits.saturating_add(1);
                self.resume_tick = Some(self.resume_tick.map_or(resume, |tick| tick.max(resume)));
                let what = format!("{why}; all work waits {:.0} s", secs.clamp(1.0, MAX_WAIT_SECS));
                self.outgoing.push_back(KernelAction::Warn { activation: key, what });
            }
            NoReply::Held { why } => {
                let what = format!("{why}; this work waits and then continues by itself");
                self.outgoing.push_back(KernelAction::Warn { activation: key, what });
            }
            NoReply::OverBudget { scope, wait, why } => self.over_budget(key, (scope, wait), why, now),
            NoReply::TooLong { sent_chars, why } => {
                let shorter = (sent_chars / 2).max(MIN_SESSION_CHARS);
                activation.refused_lengths += 1;
                if activation.refused_lengths > MAX_SHORTER || sent_chars <= MIN_SESSION_CHARS {
                    self.end(key, Ending::Failed { why });
                } else {
                    activation.session_chars_at_most = Some(shorter);
                    let what = format!("{why}; it is asked again with {shorter} characters of its session");
                    self.outgoing.push_back(KernelAction::Warn { activation: key, what });
                }
            }
            NoReply::Passing { why } if activation.failures < settings.max_retries => {
                activation.not_before =
                    now + ticks(backoff_secs(settings.min_retry_delay_secs, activation.failures)).max(1);
                activation.failures += 1;
                self.outgoing
                    .push_back(KernelAction::Warn { activation: key, what: format!("{why}; it is tried again") });
            }
            NoReply::Rejected { why } if activation.sends_images => {
                (activation.sends_images, activation.is_without_images) = (false, true);
                let what = format!("{why}; it is asked again without images");
                self.outgoing.push_back(KernelAction::Warn { activation: key, what });
            }
            NoReply::Rejected { why } | NoReply::Passing { why } | NoReply::Lasting { why } => {
                self.end(key, Ending::Failed { why });
            }
        }
        self.is_unsettled = true;
    }

    /// Records the maximum number of session characters sent with a request.
    pub(super) fn note_sent(&mut self, key: ActivationKey, turn: u32, chars_at_most: usize) {
        if let Some(activation) = self.awaiting_reply(key, turn) {
            activation.sent_chars_at_most = chars_at_most;
        }
    }

    /// Records that a running call changed a file.
    pub(super) fn note_change(&mut self, (key, turn, index): (ActivationKey, u32, usize), path: &str) {
        let Some(call) = self.running_call_mut(key, turn, index) else { return };
        call.has_changed = true;
        // The call whose code made this call has changed the file too.
        if let Some(whole) = call.within.as_ref().map(|within| within.call)
            && let Some(call) = self.running_call_mut(key, turn, whole)
        {
            call.has_changed = true;
        }
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.note_output(path);
        }
    }

    /// Records that a running call was interrupted by something outside of the work, such as the end of the program,
    /// which does not count as a failure of the agent.
    pub(super) fn note_interruption(&mut self, (key, turn, index): (ActivationKey, u32, usize), run: RunTag) {
        if let Some(call) = self.running_call_mut(key, turn, index) {
            call.interrupted_in = Some(run.to_string());
        }
    }

    /// Stores the plan of a running call.
    pub(super) fn keep_plan(&mut self, (key, turn, index): (ActivationKey, u32, usize), plan: &ToolPlan) {
        if let Some(call) = self.running_call_mut(key, turn, index) {
            call.plan = Some(Box::new(plan.clone()));
        }
    }

    /// Records the hash of the worktree changes that a person is asked about.
    pub(super) fn note_proposed(&mut self, key: ActivationKey, hash: u64) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.proposed = Some(hash);
        }
    }

    /// Records which changes of the worktree could not be merged into the workspace.
    pub(super) fn note_unmerged(&mut self, key: ActivationKey, unmerged: &[String]) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.unmerged = unmerged.to_vec();
        }
    }

    /// Stores the key of the order that a call placed. Only outcomes with this key belong to the call.
    pub(super) fn keep_order(&mut self, order: OrderKey) {
        if let Some(call) = self.running_call_mut(order.activation, order.turn, order.call) {
            call.order = Some(order);
        }
    }

    /// Returns the running call that waits for this order. Rooms saved by older versions did not store the keys of
    /// orders, so these are derived.
    pub fn waits_for(&self, order: OrderKey) -> Option<&Call> {
        let call = self.running_call(order.activation, order.turn, order.call)?;
        let older = || OrderKey::new(order.activation.run(), (order.activation, order.turn, order.call), &call.call);
        (call.order.unwrap_or_else(older) == order).then_some(call)
    }

    /// The activation, if it waits for the reply of this turn.
    fn awaiting_reply(&mut self, key: ActivationKey, turn: u32) -> Option<&mut Activation> {
        self.activations.get_mut(&key).filter(|one| one.phase == Phase::Asking && one.turn == turn)
    }

    /// The call with this index, if it is running.
    pub fn running_call(&self, key: ActivationKey, turn: u32, index: usize) -> Option<&Call> {
        let activation = self.activations.get(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &activation.phase else { return None };
        calls.get(index).filter(|call| call.is_executing())
    }

    pub(super) fn running_call_mut(&mut self, key: ActivationKey, turn: u32, index: usize) -> Option<&mut Call> {
        let activation = self.activations.get_mut(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &mut activation.phase else { return None };
        calls.get_mut(index).filter(|call| call.is_executing())
    }

    /// Delivers a tool call's result or refusal to the model. Returns false if the call was not running.
    pub fn answered(
        &mut self,
        (key, turn, index): (ActivationKey, u32, usize),
        (text, end): (String, CallEnd),
        settings: &KernelSettings,
    ) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.end = Some(end);
        call.progress = CallProgress::Answered(text);
        (call.plan, call.question) = (None, None);
        let withdrawn = call.end_sample();
        self.outgoing.extend(withdrawn);
        self.close_nested_calls(key, index);
        self.is_unsettled = true;
        let Some(activation) = self.activations.get_mut(&key) else { return false };
        activation.is_unwritten = true;
        if activation.current_call().is_none() {
            self.close_turn(key, settings);
        }
        true
    }

    /// Attaches output other than text to a running call.
    pub(super) fn attach(&mut self, (key, turn, index): (ActivationKey, u32, usize), attached: Option<Box<Attached>>) {
        if let Some(call) = self.running_call_mut(key, turn, index) {
            call.attached = attached;
        }
    }

    /// Ends a turn whose calls have all been answered: adds the results to the session and decides whether there was
    /// progress.
    fn close_turn(&mut self, key: ActivationKey, settings: &KernelSettings) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let Phase::Calling { calls } = std::mem::replace(&mut activation.phase, Phase::Due) else { return };
        let answered = |call: &Call| match &call.progress {
            CallProgress::Answered(text) => Some(text.clone()),
            _ => None,
        };
        let most = match activation.sent_chars_at_most {
            0 => settings.max_session_chars,
            sent => sent,
        };
        let mut is_progress = false;
        let mut results = Vec::with_capacity(calls.len());
        for call in calls.iter().filter(|call| call.within.is_none()) {
            let Some(text) = answered(call) else { continue };
            is_progress |= activation.note_outcome(call, &text, most);
            if let (Some(attached), Some(thread)) = (&call.attached, self.threads.get_mut(&activation.thread)) {
                thread.unnoted_attached.insert(activation.messages.len() + results.len(), attached.clone());
            }
            results.push(PromptMessage::result(&call.call, text).ended(call.end));
        }
        activation.messages.extend(results);
        if is_progress {
            activation.strikes = 0;
        } else {
            self.strike(key, None, None, settings);
        }
    }

    /// Pauses a call until a person decides about it. Its slot is free meanwhile.
    pub fn ask_person(&mut self, key: ActivationKey, turn: u32, index: usize, question: CallQuestion) -> bool {
        let Some(call) = self.running_call_mut(key, turn, index) else { return false };
        call.progress = CallProgress::Asked(question.text());
        call.question = Some(Box::new(question));
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.has_slot = false;
            activation.is_unwritten = true;
        }
        self.is_unsettled = true;
        true
    }

    /// Marks a call whose MCP server asks a person something. The call keeps its slot and continues outside of the
    /// kernel.
    pub(super) fn ask_for_server(&mut self, (key, turn, index): (ActivationKey, u32, usize), question: CallQuestion) {
        let Some(call) = self.running_call_mut(key, turn, index) else { return };
        call.progress = CallProgress::Asked(question.text());
        call.question = Some(Box::new(question));
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.is_unwritten = true;
        }
    }

    /// Continues a call after a person has answered its MCP server's question. Returns the question, if there was one.
    pub(super) fn answered_for_server(
        &mut self,
        (key, turn, index): (ActivationKey, u32, usize),
    ) -> Option<Box<McpElicitation>> {
        let call = self.running_call_mut(key, turn, index)?;
        let question = call.question.take_if(|question| question.of_server.is_some())?;
        call.progress = CallProgress::Running;
        self.activations.get_mut(&key)?.is_unwritten = true;
        question.of_server
    }

    /// Applies a person's decision: the call continues, or is answered with the refusal. Returns false if the call did
    /// not wait for a decision.
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
                (call.is_allowed, call.is_code_current) = (true, false);
                call.progress = CallProgress::Pending;
                true
            }
            Some(text) => {
                call.progress = CallProgress::Running;
                self.answered((key, turn, index), (text, CallEnd::NotDone), settings)
            }
        }
    }
}

fn first_sentence(words: &str) -> &str {
    words.split(". ").next().unwrap_or(words)
}

/// Whether the last call of a truncated reply is incomplete, that is, its arguments are empty or missing.
fn is_incomplete(call: &ToolCall) -> bool {
    call.arguments.as_object().is_none_or(serde_json::Map::is_empty)
}

fn incomplete_call_message(tokens: u32) -> String {
    format!(
        "Error: your reply was cut off at the limit of {tokens} tokens in the middle of this call, so it was not \
         carried out. Repeat it in smaller parts: start a long file with vfs_write and continue with vfs_append."
    )
}

fn cut_after_calls_message(tokens: u32) -> String {
    format!(
        "Your last reply was cut off at the limit of {tokens} tokens. The calls shown were carried out; if you \
         intended more calls, make them now."
    )
}

/// What a person is told about a reply that the provider's filter blocked, or with which the model refused.
fn filtered_text(text: &str) -> String {
    let text = truncate(&one_line(text), FILTERED_CHARS);
    let partial = if text.is_empty() { String::new() } else { format!("; all of it that came was: “{text}”") };
    format!("the provider's filter blocked the reply, or the model refused{partial}")
}

fn cut_text_message(tokens: u32) -> String {
    format!(
        "Your reply was cut off at the limit of {tokens} tokens. Continue exactly where it ended, without repeating \
         anything and without mentioning it; your next reply is appended to it. Put long texts in a file: start it \
         with vfs_write and continue with vfs_append."
    )
}

fn cut_empty_message(tokens: u32) -> String {
    format!(
        "Your reply was cut off at the limit of {tokens} tokens before it said anything. Think less, and take one \
         small step: one tool call or a short answer."
    )
}

/// Creates the calls of a reply. Those that have been answered already, by their positions, are not carried out again.
fn calls_of(calls: Vec<ToolCall>, mut answered: BTreeMap<usize, (String, CallEnd)>) -> Vec<Call> {
    let calls = calls.into_iter().enumerate().map(|(index, call)| {
        let call = Call::new(call);
        match answered.remove(&index) {
            Some((text, end)) => Call { progress: CallProgress::Answered(text), end: Some(end), ..call },
            None => call,
        }
    });
    calls.collect()
}

fn backoff_secs(secs: f32, times: u32) -> f32 {
    Backoff::new(secs, MAX_WAIT_SECS).wait_secs(times) as f32
}
/// The ending of work whose changes were not merged into the workspace, whatever its agent says.
fn not_merged(unmerged: &[String], text: &str) -> Ending {
    let unmerged = truncate(&unmerged.join("; "), UNMERGED_CHARS);
    let text = truncate(text.trim(), UNMERGED_CHARS);
    Ending::Failed { why: format!("its changes were not merged into the workspace: {unmerged}. It said: {text}") }
}
