//! Replies that are currently streaming and the tools being called, for the screen only: not saved and not part of the
//! world.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use crate::base::{Id, RequestId};
use crate::gateway::providers::tool_call_assembly::MAX_CALLS;

/// The number of bytes of a call's arguments that are kept: they contain a path, while the written text does not
/// matter.
const ARGUMENT_BYTES: usize = 400;

/// The maximum length of the thoughts that are kept, in bytes.
const THOUGHT_BYTES: usize = 64 * 1024;

/// A reply that is streaming.
#[derive(Debug)]
struct LiveReply {
    agent: Id,
    text: String,
    thought: String,
    calls: Vec<LiveCall>,
}

/// The streamed text of every running answer.
#[derive(Resource, Default, Debug)]
pub struct LiveText(BTreeMap<RequestId, LiveReply>);

impl LiveText {
    /// Returns the part of the answer to a request that has arrived.
    pub fn of(&self, request: RequestId) -> Option<&str> {
        self.0.get(&request).map(|live| live.text.as_str())
    }

    /// Returns the tools that the answer to a request has begun to call, in order.
    pub fn calls(&self, request: RequestId) -> &[LiveCall] {
        self.0.get(&request).map_or(&[], |live| &live.calls)
    }

    /// Iterates over the agents that are receiving answers and the parts that have arrived, in order of requests.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &str)> {
        self.0.values().map(|live| (&live.agent, live.text.as_str()))
    }

    /// Returns the part of a coding agent's thoughts that has arrived for this agent's request.
    pub fn reasoning(&self, agent: &str) -> &str {
        self.0.values().find(|live| *live.agent == *agent).map_or("", |live| &live.thought)
    }

    /// Iterates over the agents that are calling tools and their calls, in order of requests.
    pub fn iter_calls(&self) -> impl Iterator<Item = (&Id, &[LiveCall])> {
        self.0.values().filter(|live| !live.calls.is_empty()).map(|live| (&live.agent, live.calls.as_slice()))
    }

    pub(in crate::gateway) fn begin(&mut self, request: RequestId, agent: Id) {
        self.0.insert(request, LiveReply { agent, text: String::new(), thought: String::new(), calls: Vec::new() });
    }

    pub(in crate::gateway) fn append(&mut self, request: RequestId, text: &str) {
        if let Some(live) = self.0.get_mut(&request) {
            live.text.push_str(text);
        }
    }

    pub(in crate::gateway) fn think(&mut self, request: RequestId, text: &str) {
        let Some(live) = self.0.get_mut(&request) else { return };
        let room = THOUGHT_BYTES.saturating_sub(live.thought.len());
        live.thought.push_str(&text[..text.floor_char_boundary(room)]);
    }

    pub(in crate::gateway) fn call(&mut self, request: RequestId, position: usize, call: LiveCall) {
        let Some(live) = self.0.get_mut(&request) else { return };
        if let Some(known) = live.calls.get_mut(position) {
            *known = call;
        } else if live.calls.len() < MAX_CALLS {
            live.calls.push(call);
        }
    }

    pub(in crate::gateway) fn end(&mut self, request: RequestId) {
        self.0.remove(&request);
    }
}

/// A tool call that is being streamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveCall {
    /// The name of the tool.
    pub name: String,
    /// The beginning of its arguments: JSON that may end anywhere.
    arguments: String,
}

impl LiveCall {
    /// Creates a call from the arguments that have arrived.
    pub fn new(name: &str, arguments: &str) -> Self {
        Self { name: name.to_owned(), arguments: Self::kept(arguments).to_owned() }
    }

    /// Returns the part of the arguments that is kept.
    pub(in crate::gateway) fn kept(arguments: &str) -> &str {
        &arguments[..arguments.floor_char_boundary(ARGUMENT_BYTES)]
    }

    /// Returns the part of a text argument that has arrived, such as `artifacts/a.md` of a `path`.
    pub fn argument(&self, key: &str) -> Option<String> {
        let json = self.arguments.as_str();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(byte) = json.as_bytes().get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let after = string_end(json, at)?;
                    let is_key = depth == 1 && parse_string(&json[at..after]).as_deref() == Some(key);
                    let value = json[after..].trim_start().strip_prefix(':').map(str::trim_start);
                    if let (true, Some(value)) = (is_key, value) {
                        return value.starts_with('"').then(|| string_so_far(value))?;
                    }
                    at = after;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// Returns the end of the string that begins here, if it has arrived.
fn string_end(json: &str, start: usize) -> Option<usize> {
    let mut is_escaped = false;
    let ends = |byte: &u8| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    };
    json.as_bytes()[start + 1..].iter().position(ends).map(|length| start + length + 2)
}

fn parse_string(quoted: &str) -> Option<String> {
    serde_json::from_str(quoted).ok()
}

/// Parses the string at the start of a text, without an incomplete escape at its end.
fn string_so_far(json: &str) -> Option<String> {
    if let Some(end) = string_end(json, 0) {
        return parse_string(&json[..end]);
    }
    // The longest escape is a surrogate pair: twelve bytes.
    let shorter = (0..=12).filter_map(|cut| json.get(..json.len().checked_sub(cut)?)).filter(|text| !text.is_empty());
    shorter.map(|text| format!("{text}\"")).find_map(|text| parse_string(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(arguments: &str) -> Option<String> {
        LiveCall::new("vfs_write", arguments).argument("path")
    }

    #[test]
    fn a_partial_argument_is_available() {
        let table = [
            ("", None),
            ("{\"pa", None),
            ("{\"path\"", None),
            ("{\"path\": ", None),
            ("{\"path\": \"", Some("")),
            ("{\"path\": \"artifacts/a", Some("artifacts/a")),
            ("{\"path\": \"a.md\", \"content\": \"# A", Some("a.md")),
            ("{\"content\": \"the \\\"path\\\": x\", \"path\": \"b.md\"}", Some("b.md")),
            ("{\"content\": {\"path\": \"inner\"}, \"path\": \"outer\"}", Some("outer")),
            ("{\"path\": \"gr\\u00fc\\u00", Some("grü")),
            ("{\"path\": \"a\\", Some("a")),
            ("{\"path\": 3}", None),
            ("no JSON at all \"path\"", None),
        ];
        for (arguments, wanted) in table {
            assert_eq!(path(arguments).as_deref(), wanted, "{arguments}");
        }
    }

    #[test]
    fn only_the_start_of_long_arguments_is_kept() {
        let long = format!("{{\"path\": \"a.md\", \"content\": \"{}\"}}", "ü".repeat(1000));
        let call = LiveCall::new("vfs_write", &long);
        assert!(call.arguments.len() <= ARGUMENT_BYTES);
        assert_eq!(call.argument("path").as_deref(), Some("a.md"));
    }

    #[test]
    fn calls_are_shown_in_order_until_the_answer_ends() {
        let mut live = LiveText::default();
        let id = RequestId(3);
        live.call(id, 0, LiveCall::new("vfs_read", ""));
        assert!(live.calls(id).is_empty(), "nobody is being answered");
        live.begin(id, "ada-1".into());
        live.call(id, 0, LiveCall::new("vfs_read", ""));
        live.call(id, 1, LiveCall::new("vfs_write", ""));
        live.call(id, 0, LiveCall::new("vfs_read", "{\"path\": \"a"));
        assert_eq!(live.calls(id)[0].argument("path").as_deref(), Some("a"));
        let names: Vec<_> = live.iter_calls().map(|(agent, calls)| (agent.to_string(), calls.len())).collect();
        assert_eq!(names, [("ada-1".to_owned(), 2)]);
        live.begin(id, "ada-1".into());
        assert!(live.calls(id).is_empty(), "another try begins at nothing");
        live.end(id);
        assert_eq!(live.of(id), None);
    }
}
