//! Follows an agent's answer: turns changes in the room into events and history entries.

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;

use super::events::{ASSISTANT, AgentEvent};
use super::history::{CalledTool, Entry, Speaker};
use crate::base::{ActivationKey, Id};
use crate::gateway::LiveText;
use crate::kernel::{Activation, Call, CallProgress, Kernel, Phase};
use crate::log::EventRecord;
use crate::log::events::ToolResult;
use crate::mind::{CallEnd, PromptMessage, Role};
use crate::tools::{OrderOutcome, OrderReport};

/// The result of a call that was never carried out.
const NOT_CARRIED_OUT: &str = "Not carried out: the work was stopped.";

/// A tool call of the current turn.
struct TurnCall {
    call: CalledTool,
    is_started: bool,
    is_finished: bool,
    /// Whether its result is already in the history.
    is_recorded: bool,
    /// Its result according to the log (truncated), and whether it failed.
    logged: Option<(String, bool)>,
}

/// The state of a followed session: what was already reported.
pub(super) struct Progress {
    thread: ActivationKey,
    /// The agent that works on it, once known.
    agent: Option<Id>,
    /// The number of messages of the session that were processed.
    seen: usize,
    turn: u32,
    is_turn_open: bool,
    is_message_open: bool,
    /// The text of the open message that was reported.
    reported: String,
    calls: Vec<TurnCall>,
    /// The session's activation, as of the last check.
    work: Option<ActivationKey>,
    /// Reads the progress messages of calls.
    outcomes: MessageCursor<OrderOutcome>,
    /// Whether the last message is an answer without tool calls.
    has_concluded: bool,
    events: Vec<AgentEvent>,
    entries: Vec<Entry>,
}

impl Progress {
    /// Follows a session whose first messages, `seen`, are already in the history.
    pub(super) fn new(thread: ActivationKey, seen: &[PromptMessage]) -> Self {
        let mut calls: Vec<TurnCall> = Vec::new();
        for message in seen {
            match message.role {
                Role::Assistant => calls = turn_calls(message),
                Role::Tool => calls.retain(|call| message.answers.as_deref() != Some(&*call.call.id)),
                Role::User => {}
            }
        }
        Self {
            thread,
            agent: None,
            seen: seen.len(),
            turn: 0,
            is_turn_open: false,
            is_message_open: false,
            reported: String::new(),
            calls,
            work: None,
            outcomes: MessageCursor::default(),
            has_concluded: false,
            events: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// The new events since the last call.
    pub(super) fn take_events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    /// The new history entries since the last call.
    pub(super) fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// The number of turns so far.
    pub(super) fn turns(&self) -> u32 {
        self.turn
    }

    /// Stores the logged results of calls, for work that ends before the next [`Self::update`].
    pub(super) fn apply_records(&mut self, world: &World, records: &[EventRecord]) {
        let agent = world.resource::<Kernel>().thread(self.thread).map(|thread| thread.agent.clone());
        if agent.is_some() {
            self.agent = agent;
        }
        for record in records.iter().filter(|record| record.draft.agent == self.agent) {
            let Some(result) = record.read::<ToolResult>() else { continue };
            if let Some(call) = self.calls.iter_mut().find(|call| call.call.id == result.id) {
                call.logged = Some((result.text, !result.ok));
            }
        }
    }

    /// Processes new messages and progress in the room.
    pub(super) fn update(&mut self, world: &World) {
        let kernel = world.resource::<Kernel>();
        let updates = self.outcomes.read(world.resource::<Messages<OrderOutcome>>());
        let updates: Vec<OrderOutcome> =
            updates.filter(|update| matches!(update.news, OrderReport::Progress { .. })).cloned().collect();
        self.update_calls(&updates);
        let Some(thread) = kernel.thread(self.thread) else { return };
        let live = thread.live.and_then(|live| kernel.activation(live));
        self.work = live.map(|live| live.key).or(self.work);
        let messages = live.map_or(&thread.messages, |live| &live.messages);
        self.seen = self.seen.min(messages.len());
        for message in &messages[self.seen..] {
            self.message(message);
        }
        self.seen = messages.len();
        if let Some(live) = live {
            self.phase(live, world.resource::<LiveText>());
        }
    }

    /// Reports the progress of the current turn's calls. This comes before their results, which may arrive in the same
    /// tick.
    fn update_calls(&mut self, updates: &[OrderOutcome]) {
        let work = self.work;
        for OrderOutcome { key, news } in updates.iter().filter(|update| Some(update.key.activation) == work) {
            if let OrderReport::Progress { text } = news
                && key.call < self.calls.len()
            {
                self.update_call(key.call, text);
            }
        }
    }

    /// Ends the report: `result` is the result of the work, if it has one.
    pub(super) fn finish(&mut self, result: Option<&str>) {
        // The room may have removed the work with its last message before it was processed.
        if let Some(result) = result.filter(|_| !self.has_concluded) {
            self.complete_message(result, Vec::new());
        }
        self.close_message();
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            let (id, is_told, is_recorded) =
                (call.call.id.clone(), call.is_started && !call.is_finished, call.is_recorded);
            // Results that arrived with the end are only in the log.
            let logged = self.calls[at].logged.take();
            let is_known = logged.is_some();
            let (text, is_error) = logged.unwrap_or_else(|| (NOT_CARRIED_OUT.to_owned(), true));
            if is_told || (is_known && !self.calls[at].is_finished) {
                self.end_call(at, &text, is_error);
            }
            if !is_recorded {
                self.entries.push(Entry::result(&id, text, is_error));
            }
        }
        self.calls.clear();
        self.close_turn();
    }

    fn message(&mut self, message: &PromptMessage) {
        match message.role {
            Role::Assistant => {
                let calls = turn_calls(message);
                self.complete_message(&message.text, calls);
            }
            Role::Tool => self.result(message),
            Role::User => {
                // Messages of the room are part of the session that the model sees.
                self.has_concluded = false;
                self.entries.push(Entry::text(Speaker::User, &*message.text));
            }
        }
    }

    fn phase(&mut self, live: &Activation, text: &LiveText) {
        match &live.phase {
            Phase::Asking => {
                self.open_turn();
                if let Some((_, text)) = text.iter().find(|(agent, _)| **agent == live.agent) {
                    self.add_text(text);
                }
            }
            Phase::Calling { calls } => calls.iter().for_each(|call| self.call(call)),
            Phase::Queued | Phase::Summoned | Phase::Due => {}
        }
    }

    /// Reports a complete message of the model with its tool calls.
    fn complete_message(&mut self, text: &str, calls: Vec<TurnCall>) {
        self.open_turn();
        let is_new = !self.is_message_open;
        let rest = if is_new { Some(text) } else { unreported_part(&self.reported, text) };
        if is_new {
            self.events.push(AgentEvent::MessageStart { role: ASSISTANT });
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            self.events.push(AgentEvent::MessageUpdate { delta: rest.to_owned() });
        }
        (self.is_message_open, self.has_concluded) = (false, calls.is_empty());
        self.reported.clear();
        let tool_calls: Vec<CalledTool> = calls.iter().map(|call| call.call.clone()).collect();
        let content = text.to_owned();
        self.events.push(AgentEvent::MessageEnd { role: ASSISTANT, content, tool_calls: tool_calls.clone() });
        self.entries.push(Entry { tool_calls, ..Entry::text(Speaker::Assistant, text) });
        self.calls = calls;
        if self.calls.is_empty() {
            self.close_turn();
        }
    }

    /// Reports the new part of a message whose text so far is `text`.
    fn add_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.is_message_open && !text.starts_with(&self.reported) {
            // The model was called again.
            self.close_message();
        }
        if !self.is_message_open {
            self.is_message_open = true;
            self.events.push(AgentEvent::MessageStart { role: ASSISTANT });
        }
        let delta = text[self.reported.len()..].to_owned();
        if !delta.is_empty() {
            self.reported.push_str(&delta);
            self.events.push(AgentEvent::MessageUpdate { delta });
        }
    }

    /// Reports a change of a call of the current turn.
    fn call(&mut self, call: &Call) {
        let Some(at) = self.calls.iter().position(|known| known.call.id == call.call.id) else { return };
        match &call.progress {
            CallProgress::Pending => {}
            CallProgress::Running | CallProgress::Asked(_) => self.begin_call(at),
            CallProgress::Answered(text) => self.end_call(at, text, call.end == Some(CallEnd::NotDone)),
        }
    }

    /// Records the result of a call from the session.
    fn result(&mut self, message: &PromptMessage) {
        let id = message.answers.as_deref().unwrap_or_default();
        let is_error = message.end == Some(CallEnd::NotDone);
        self.entries.push(Entry::result(id, &*message.text, is_error));
        if let Some(at) = self.calls.iter().position(|known| known.call.id == id) {
            self.end_call(at, &message.text, is_error);
            self.calls[at].is_recorded = true;
        }
        if self.calls.iter().all(|call| call.is_recorded) {
            self.calls.clear();
            self.close_turn();
        }
    }

    fn begin_call(&mut self, at: usize) {
        let call = &mut self.calls[at];
        if !std::mem::replace(&mut call.is_started, true) {
            let CalledTool { id, name, arguments } = call.call.clone();
            self.events.push(AgentEvent::ToolExecutionStart { tool_call_id: id, name, args: arguments });
        }
    }

    fn update_call(&mut self, at: usize, text: &str) {
        self.begin_call(at);
        let TurnCall { call, is_finished, .. } = &self.calls[at];
        if !is_finished {
            let CalledTool { id, name, .. } = call.clone();
            let partial_result = text.to_owned();
            self.events.push(AgentEvent::ToolExecutionUpdate { tool_call_id: id, name, partial_result });
        }
    }

    fn end_call(&mut self, at: usize, result: &str, is_error: bool) {
        self.begin_call(at);
        let call = &mut self.calls[at];
        if !std::mem::replace(&mut call.is_finished, true) {
            let CalledTool { id, name, .. } = call.call.clone();
            let result = result.to_owned();
            self.events.push(AgentEvent::ToolExecutionEnd { tool_call_id: id, name, result, is_error });
        }
    }

    fn open_turn(&mut self) {
        if !std::mem::replace(&mut self.is_turn_open, true) {
            self.turn += 1;
            self.events.push(AgentEvent::TurnStart { turn: self.turn });
        }
    }

    fn close_turn(&mut self) {
        if std::mem::replace(&mut self.is_turn_open, false) {
            self.events.push(AgentEvent::TurnEnd { turn: self.turn });
        }
    }

    /// Ends the open message, which was interrupted.
    fn close_message(&mut self) {
        if std::mem::replace(&mut self.is_message_open, false) {
            let content = std::mem::take(&mut self.reported);
            self.events.push(AgentEvent::MessageEnd { role: ASSISTANT, content, tool_calls: Vec::new() });
        }
    }
}

/// The tool calls of a message, none of them started.
fn turn_calls(message: &PromptMessage) -> Vec<TurnCall> {
    let call = |call| TurnCall {
        call: CalledTool::from(call),
        is_started: false,
        is_finished: false,
        is_recorded: false,
        logged: None,
    };
    message.tool_calls.iter().map(call).collect()
}

/// The part of `text` after `reported`, which was already reported; `None` if `text` does not start with it.
fn unreported_part<'a>(reported: &str, text: &'a str) -> Option<&'a str> {
    text.strip_prefix(reported).or_else(|| text.strip_prefix(reported.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mind::ToolCall;

    fn progress() -> Progress {
        Progress::new(ActivationKey::numbered(1), &[PromptMessage::plain(Role::User, "Hi")])
    }

    fn reported(progress: &mut Progress) -> Vec<Value> {
        let events = progress.take_events();
        events.into_iter().map(|event| serde_json::to_value(event).expect("it is plain data")).collect()
    }

    fn types(progress: &mut Progress) -> Vec<String> {
        reported(progress).iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn a_streamed_answer_is_reported_once() {
        let mut progress = progress();
        progress.open_turn();
        progress.add_text("It ");
        progress.add_text("It rains");
        progress.message(&PromptMessage::plain(Role::Assistant, "It rains."));
        let events = reported(&mut progress);
        let deltas: Vec<&str> = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(deltas, ["It ", "rains", "."]);
        progress.finish(Some("It rains."));
        assert_eq!(reported(&mut progress), [] as [Value; 0]);
        assert_eq!(progress.take_entries().len(), 1);
    }

    #[test]
    fn a_call_and_its_result_are_reported_and_added_to_the_history() {
        let mut progress = progress();
        let call = ToolCall::new("call-1", "forecast", json!({ "city": "Ulm" }));
        let asked = PromptMessage { tool_calls: vec![call.clone()], ..PromptMessage::plain(Role::Assistant, "") };
        progress.message(&asked);
        progress.message(&PromptMessage::result(&call, "rain"));
        progress.finish(Some("It rains."));
        let wanted = [
            "turn_start",
            "message_start",
            "message_end",
            "tool_execution_start",
            "tool_execution_end",
            "turn_end",
            "turn_start",
            "message_start",
            "message_update",
            "message_end",
            "turn_end",
        ];
        assert_eq!(types(&mut progress), wanted);
        let entries = progress.take_entries();
        assert_eq!(entries[0].tool_calls[0].id, "call-1");
        assert_eq!((entries[1].tool_call_id.as_deref(), entries[1].content.as_str()), (Some("call-1"), "rain"));
        assert_eq!(entries[2].content, "It rains.");
    }

    #[test]
    fn stopped_work_leaves_no_call_without_a_result() {
        let mut progress = progress();
        let call = ToolCall::new("call-1", "forecast", json!({}));
        let asked = PromptMessage { tool_calls: vec![call], ..PromptMessage::plain(Role::Assistant, "Wait.") };
        progress.message(&asked);
        progress.begin_call(0);
        progress.finish(None);
        assert_eq!(types(&mut progress).last().map(String::as_str), Some("turn_end"));
        let entries = progress.take_entries();
        assert_eq!((entries.len(), entries[1].is_error), (2, Some(true)));
        // The same for a session that was saved while it waited for a person.
        let seen = [PromptMessage::plain(Role::User, "Hi"), asked];
        let mut later = Progress::new(ActivationKey::numbered(1), &seen);
        later.message(&PromptMessage::result(&ToolCall::new("call-1", "forecast", json!({})), "rain"));
        assert_eq!(types(&mut later), ["tool_execution_start", "tool_execution_end"]);
    }
}
