//! Limits how much of a session is sent to a model. Beyond the limit, the oldest content is replaced by notes that say
//! how much is missing and how to see it again. Every call keeps its result, and the task always comes first.

use std::collections::BTreeMap;

use serde_json::Value;

use super::message::{PromptMessage, Role, ToolCall};
use crate::base::text::truncate;

/// Number of newest tool results that are left out only as a last resort.
const NEWEST_RESULTS: usize = 6;
/// Texts up to this length are not left out.
const SHORT_CHARS: usize = 300;
/// Trimming leaves out a further 1/`STEPS` of the limit, so that the next requests start the same and stay in the
/// provider's cache.
const STEPS: usize = 4;
/// Characters reserved for the note that whole steps are missing.
const NOTE_CHARS: usize = 250;
/// Lengths to which every text is cut, one after another, if leaving out old ones is not enough.
const CAPS: [usize; 8] = [16_000, 8_000, 4_000, 2_000, 1_000, 500, 200, 60];

/// A session as sent to a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FittedSession {
    /// The messages to send.
    pub messages: Vec<PromptMessage>,
    /// The positions of the session's messages that are included in full.
    whole: Vec<usize>,
}

impl FittedSession {
    /// Returns the length in characters.
    pub fn chars(&self) -> usize {
        self.messages.iter().map(PromptMessage::chars).sum()
    }
}

/// Trims messages to `chars_at_most`. `place` is the path of the file with the whole session.
pub fn fitted(messages: &[PromptMessage], chars_at_most: usize, place: &str) -> FittedSession {
    let total: usize = messages.iter().map(PromptMessage::chars).sum();
    if total <= chars_at_most {
        return FittedSession { messages: messages.to_vec(), whole: (0..messages.len()).collect() };
    }
    let step = (chars_at_most / STEPS).max(1);
    let excess = (total - chars_at_most).div_ceil(step).saturating_mul(step);
    let goal = total.saturating_sub(excess).max(chars_at_most.saturating_sub(step)).saturating_sub(NOTE_CHARS);
    let mut session = Session::new(messages, goal, place);
    session.leave_out(NEWEST_RESULTS, Session::shorten_tools);
    session.leave_out(0, Session::shorten_tools);
    session.leave_out(0, Session::shorten_words);
    session.drop_oldest();
    session.cap(chars_at_most);
    session.finish(messages)
}

/// Whether the last result of a call with these arguments is no longer sent in full.
pub fn is_left_out(messages: &[PromptMessage], chars_at_most: usize, call: &ToolCall) -> bool {
    let sent = fitted(messages, chars_at_most, "");
    let mut open = std::collections::VecDeque::new();
    let mut last = None;
    for (at, message) in messages.iter().enumerate() {
        if message.role != Role::Tool {
            open = message.tool_calls.iter().collect();
        } else if let Some(answered) = open.pop_front()
            && (&answered.name, &answered.arguments) == (&call.name, &call.arguments)
        {
            last = Some(at);
        }
    }
    last.is_some_and(|at| !sent.whole.contains(&at))
}

/// A session being trimmed.
struct Session<'a> {
    /// The remaining messages by their position.
    messages: BTreeMap<usize, PromptMessage>,
    chars: usize,
    goal: usize,
    place: &'a str,
    /// The position of the last step: the agent's last message, followed by its results.
    newest: usize,
    dropped: usize,
}

impl<'a> Session<'a> {
    fn new(messages: &[PromptMessage], goal: usize, place: &'a str) -> Self {
        let newest = messages
            .iter()
            .rposition(|message| message.role == Role::Assistant)
            .unwrap_or(messages.len().saturating_sub(1));
        let chars = messages.iter().map(PromptMessage::chars).sum();
        let messages = messages.iter().cloned().enumerate().collect();
        Self { messages, chars, goal, place, newest, dropped: 0 }
    }

    fn is_done(&self) -> bool {
        self.chars <= self.goal
    }

    /// Shortens messages, oldest first, keeping this many tool results from the end, and never in the last step.
    fn leave_out(&mut self, results_kept: usize, shorten: impl Fn(&Self, usize) -> Option<PromptMessage>) {
        let results: Vec<usize> =
            self.messages.iter().filter(|(_, message)| message.role == Role::Tool).map(|(at, _)| *at).collect();
        let kept = results.len().checked_sub(results_kept).and_then(|first| results.get(first)).copied();
        let end = if results_kept == 0 { self.newest } else { kept.unwrap_or(0).min(self.newest) };
        for at in 1..end {
            if self.is_done() {
                return;
            }
            if let Some(shorter) = shorten(self, at) {
                self.put(at, shorter);
            }
        }
    }

    fn put(&mut self, at: usize, message: PromptMessage) {
        let chars = message.chars();
        if let Some(old) = self.messages.insert(at, message) {
            self.chars = (self.chars + chars).saturating_sub(old.chars());
        }
    }

    /// Returns the message without a long result or long arguments; `None` if it has none.
    fn shorten_tools(&self, at: usize) -> Option<PromptMessage> {
        let message = self.messages.get(&at)?;
        let long = message.text.chars().count();
        match message.role {
            Role::Tool if long > SHORT_CHARS => {
                let text = format!("[… left out, {long} characters; call the tool again if you need it]");
                Some(PromptMessage { text, ..message.clone() }.without_images())
            }
            Role::Assistant if message.tool_calls.iter().any(|call| call.chars() > SHORT_CHARS) => {
                let tool_calls = message.tool_calls.iter().map(|call| shortened_call(call, self.place)).collect();
                let shorter = PromptMessage { tool_calls, ..message.clone() };
                (shorter.chars() < message.chars()).then_some(shorter)
            }
            _ => None,
        }
    }

    /// Returns the message without a long text; `None` if it has none.
    fn shorten_words(&self, at: usize) -> Option<PromptMessage> {
        let message = self.messages.get(&at)?;
        let long = message.text.chars().count();
        if long <= SHORT_CHARS || message.role == Role::Tool {
            return None;
        }
        let start = truncate(&message.text, SHORT_CHARS / 2);
        let text = format!("{start}\n[… left out, {long} characters in all; {}]", self.location_hint());
        Some(PromptMessage { text, ..message.clone() })
    }

    fn location_hint(&self) -> String {
        location_hint(self.place)
    }

    /// Removes the oldest steps (calls with their results), except the first message and the last step.
    fn drop_oldest(&mut self) {
        let mut at = 1;
        while !self.is_done() && at < self.newest {
            // Everything up to the agent's next message is removed together.
            let end = (at + 1..self.newest)
                .find(|next| self.messages.get(next).is_none_or(|message| message.role != Role::Tool))
                .unwrap_or(self.newest);
            for gone in at..end {
                if let Some(message) = self.messages.remove(&gone) {
                    self.chars = self.chars.saturating_sub(message.chars());
                    self.dropped += 1;
                }
            }
            at = end;
        }
        if self.dropped > 0
            && let Some(mut first) = self.messages.get(&0).cloned()
        {
            let place = truncate(&self.location_hint(), NOTE_CHARS / 2);
            let note = format!("\n[… {} earlier messages are left out; {place}]", self.dropped);
            first.text.push_str(&note);
            self.put(0, first);
        }
    }

    /// Cuts all texts to ever smaller lengths until the session fits.
    fn cap(&mut self, chars_at_most: usize) {
        let before = self.messages.clone();
        for cap in CAPS {
            if self.chars <= chars_at_most {
                return;
            }
            for (at, message) in &before {
                let mut shorter = message.clone();
                shorter.text = capped(&message.text, cap);
                for call in &mut shorter.tool_calls {
                    if call.chars() > cap {
                        call.arguments = cap_value(std::mem::take(&mut call.arguments), cap);
                        call.reasoning = None;
                    }
                }
                self.put(*at, shorter);
            }
        }
    }

    fn finish(self, original: &[PromptMessage]) -> FittedSession {
        let is_whole = |(at, message): &(&usize, &PromptMessage)| original.get(**at) == Some(*message);
        let whole = self.messages.iter().filter(is_whole).map(|(at, _)| *at).collect();
        FittedSession { messages: self.messages.into_values().collect(), whole }
    }
}

fn location_hint(place: &str) -> String {
    if place.is_empty() { "your session's file has it".to_owned() } else { format!("the whole session is in {place}") }
}

/// Returns a call without its long arguments and without its reasoning, which belongs to the original call.
fn shortened_call(call: &ToolCall, place: &str) -> ToolCall {
    if call.chars() <= SHORT_CHARS {
        return call.clone();
    }
    let path = call.arguments.get("path").and_then(Value::as_str).filter(|path| path.len() <= SHORT_CHARS);
    let again = path.map_or_else(|| location_hint(place), |path| format!("read {path} if you need it"));
    let note = |text: &str| format!("[… left out, {} characters; {again}]", text.chars().count());
    let arguments =
        replace_strings(call.arguments.clone(), &|text| (text.chars().count() > SHORT_CHARS).then(|| note(text)));
    ToolCall { arguments, reasoning: None, ..call.clone() }
}

fn cap_value(value: Value, cap: usize) -> Value {
    replace_strings(value, &|text| (text.chars().count() > cap).then(|| capped(text, cap)))
}

/// Returns a JSON value with the strings replaced for which `other` returns a replacement.
fn replace_strings(value: Value, other: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(other(&text).unwrap_or(text)),
        Value::Array(items) => items.into_iter().map(|item| replace_strings(item, other)).collect(),
        Value::Object(keys) => {
            Value::Object(keys.into_iter().map(|(key, value)| (key, replace_strings(value, other))).collect())
        }
        other => other,
    }
}

fn capped(text: &str, cap: usize) -> String {
    let long = text.chars().count();
    if long <= cap {
        return text.to_owned();
    }
    let start: String = text.chars().take(cap * 3 / 4).collect();
    format!("{start}\n[… cut, {} of {long} characters are shown]", cap * 3 / 4)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PLACE: &str = "sessions/ada.act-7.session.yaml";

    fn task(chars: usize) -> PromptMessage {
        PromptMessage::plain(Role::User, "x".repeat(chars))
    }

    /// A call that writes `chars` characters, and its result.
    fn writes(at: usize, chars: usize) -> [PromptMessage; 2] {
        let arguments = json!({ "path": format!("artifacts/{at}.md"), "content": "y".repeat(chars) });
        let call = ToolCall::new(format!("c{at}"), "vfs_write", arguments);
        [PromptMessage::calls("I write.", vec![call.clone()]), PromptMessage::result(&call, "Written.")]
    }

    /// A call that reads `chars` characters, and its result.
    fn reads(at: usize, chars: usize) -> [PromptMessage; 2] {
        let call = ToolCall::new(format!("c{at}"), "vfs_read", json!({ "path": format!("artifacts/{at}.md") }));
        [PromptMessage::calls("", vec![call.clone()]), PromptMessage::result(&call, "z".repeat(chars))]
    }

    fn chars(messages: &[PromptMessage]) -> usize {
        messages.iter().map(PromptMessage::chars).sum()
    }

    #[test]
    fn a_session_that_fits_is_unchanged() {
        let messages: Vec<_> = [task(50)].into_iter().chain(reads(1, 1_000)).collect();
        assert_eq!(fitted(&messages, 10_000, PLACE).messages, messages);
    }

    #[test]
    fn older_results_are_left_out_first_and_the_newest_stay() {
        let messages: Vec<_> = [task(1_000)].into_iter().chain((0..12).flat_map(|at| reads(at, 1_000))).collect();
        let cut = fitted(&messages, 11_000, PLACE).messages;
        assert_eq!(cut.len(), messages.len());
        assert_eq!(cut[0], messages[0]);
        assert!(cut[2].text.starts_with("[… left out, 1000 characters; call the tool again"), "{}", cut[2].text);
        let whole = cut.iter().filter(|message| message.text.starts_with('z')).count();
        assert!((6..12).contains(&whole), "{whole}");
        assert!(chars(&cut) <= 11_000);
    }

    #[test]
    fn long_arguments_are_replaced_by_a_note_with_the_session_file() {
        let messages: Vec<_> = [task(100)].into_iter().chain((0..22).flat_map(|at| writes(at, 28_000))).collect();
        let cut = fitted(&messages, 120_000, PLACE).messages;
        assert!(chars(&cut) <= 120_000, "{}", chars(&cut));
        let content = cut[1].tool_calls[0].arguments["content"].as_str().expect("it is still a text");
        assert_eq!(content, "[… left out, 28000 characters; read artifacts/0.md if you need it]");
        assert_eq!(cut[1].tool_calls[0].arguments["path"], "artifacts/0.md");
        let last = &cut[cut.len() - 2].tool_calls[0].arguments["content"];
        assert_eq!(last.as_str().map(str::len), Some(28_000), "the newest is whole");
    }

    #[test]
    fn consecutive_requests_share_a_prefix() {
        let mut messages = vec![task(100)];
        let mut changes = 0;
        let mut before: Vec<PromptMessage> = Vec::new();
        for at in 0..200 {
            messages.extend(reads(at, 1_000));
            let sent = fitted(&messages, 20_000, PLACE).messages;
            changes += usize::from(!sent.starts_with(&before));
            before = sent;
        }
        assert!((1..=90).contains(&changes), "a prefix that a provider keeps changed {changes} times in 200 questions");
    }

    #[test]
    fn whole_steps_are_removed_as_a_last_resort_with_a_note() {
        let messages: Vec<_> = [task(100)].into_iter().chain((0..500).flat_map(|at| reads(at, 100))).collect();
        let cut = fitted(&messages, 10_000, PLACE).messages;
        assert!(chars(&cut) <= 10_000);
        let note = &cut[0].text;
        assert!(note.contains("earlier messages are left out") && note.contains(PLACE), "{note}");
        assert_eq!(cut[cut.len() - 2..], messages[messages.len() - 2..]);
    }

    #[test]
    fn the_last_results_are_cut_if_they_alone_are_too_long() {
        let calls: Vec<ToolCall> =
            (0..3).map(|at| ToolCall::new(format!("c{at}"), "vfs_read", json!({ "path": "a" }))).collect();
        let mut messages = vec![task(100), PromptMessage::calls("", calls.clone())];
        messages.extend(calls.iter().map(|call| PromptMessage::result(call, "z".repeat(40_000))));
        let cut = fitted(&messages, 30_000, PLACE).messages;
        assert!(chars(&cut) <= 30_000);
        assert!(cut[2].text.starts_with("zzz") && cut[2].text.contains("of 40000 characters are shown"));
    }

    #[test]
    fn a_call_with_a_trimmed_result_is_recognized() {
        let messages: Vec<_> = [task(100)].into_iter().chain((0..12).flat_map(|at| reads(at, 1_000))).collect();
        let call = |at: usize| messages[1 + 2 * at].tool_calls[0].clone();
        assert!(is_left_out(&messages, 8_000, &call(0)) && !is_left_out(&messages, 8_000, &call(11)));
        assert!(!is_left_out(&messages, 100_000, &call(0)));
        let never = ToolCall::new("x", "vfs_read", json!({ "path": "never" }));
        assert!(!is_left_out(&messages, 8_000, &never));
    }

    /// One step: argument and result lengths of its calls, the length of its text, and whether a user message follows.
    type Step = (Vec<(usize, usize)>, usize, bool);

    fn session(task_chars: usize, steps: &[Step]) -> Vec<PromptMessage> {
        let mut messages = vec![task(task_chars)];
        for (at, (calls, words, is_told)) in steps.iter().enumerate() {
            let made: Vec<ToolCall> = calls
                .iter()
                .enumerate()
                .map(|(index, (arguments, _))| {
                    let arguments = json!({ "path": "a.md", "content": "ü".repeat(*arguments) });
                    ToolCall::new(format!("c{at}-{index}"), "vfs_write", arguments)
                })
                .collect();
            messages.push(PromptMessage::calls("w".repeat(*words), made.clone()));
            let results =
                made.iter().zip(calls).map(|(call, (_, result))| PromptMessage::result(call, "r".repeat(*result)));
            messages.extend(results);
            if *is_told {
                messages.push(PromptMessage::plain(Role::User, "Signal from kid: done".repeat(*words / 20 + 1)));
            }
        }
        messages
    }

    proptest! {
        #[test]
        fn every_session_fits_and_every_call_keeps_its_result(
            task_chars in 0..5_000_usize,
            steps in proptest::collection::vec(
                (proptest::collection::vec((0..4_000_usize, 0..4_000_usize), 0..3), 0..2_000_usize, any::<bool>()),
                0..24,
            ),
            most in 3_000..40_000_usize,
        ) {
            let messages = session(task_chars, &steps);
            let cut = fitted(&messages, most, PLACE).messages;
            prop_assert!(chars(&cut) <= most, "{} of {}", chars(&cut), most);
            prop_assert_eq!(cut[0].role, Role::User);
            let mut open: Vec<String> = Vec::new();
            for message in &cut {
                match message.role {
                    Role::Tool => {
                        prop_assert!(!open.is_empty(), "an answer without its call");
                        let call = open.remove(0);
                        prop_assert_eq!(message.answers.as_deref(), Some(call.as_str()));
                    }
                    _ => {
                        prop_assert!(open.is_empty(), "a call without its answer");
                        open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
                    }
                }
            }
            prop_assert!(open.is_empty());
            let last = messages.iter().rposition(|message| message.role == Role::Assistant);
            if let Some(last) = last {
                let kept = cut.iter().rev().find(|message| message.role == Role::Assistant).map(|message| message.tool_calls.len());
                prop_assert_eq!(kept, Some(messages[last].tool_calls.len()), "the last step stays");
            }
        }
    }
}
