//! Assembles tool calls from the pieces of a stream, without trusting any of them.
//!
//! genai's own assembly resizes a vector to whatever index a server sends, and merges calls that share an index; so it
//! is disabled, and calls are assembled here by their ids, with limits.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::provider::{ErrorCause, ProviderError};
use crate::gateway::vendors::vendor::WireFormat;
use crate::mind::{Reasoning, ReasoningBlock, ToolCall};

/// The maximum number of calls in one answer.
pub const MAX_CALLS: usize = 64;
/// The maximum size of one answer in bytes, text and arguments together.
pub const MAX_BYTES: usize = 1_000_000;

/// How a vendor streams the arguments of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentStyle {
    /// Pieces to be joined; later pieces of the N-th call have `call_N` in place of the id (OpenAI).
    Pieces,
    /// The complete text each time (Anthropic, OpenAI Responses).
    Cumulative,
    /// One whole call at a time (Gemini, Ollama).
    Whole,
}

/// One streamed piece of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// The provider's id, or `call_N`.
    pub id: String,
    /// The name of the tool; empty in later pieces.
    pub name: String,
    /// Arguments, or a piece of them.
    pub arguments: Value,
    /// The provider's signature of the call.
    pub signature: Option<String>,
}

/// A call that is being assembled.
#[derive(Debug)]
struct Open {
    id: String,
    /// The index in later pieces, if the vendor numbers calls.
    index: usize,
    name: String,
    text: String,
    value: Option<Value>,
    signature: Option<String>,
}

/// Assembles calls and counts their bytes.
#[derive(Debug)]
pub struct Assembly {
    style: ArgumentStyle,
    calls: Vec<Open>,
    bytes: usize,
}

impl Assembly {
    /// Creates an empty assembly.
    pub fn new(style: ArgumentStyle) -> Self {
        Self { style, calls: Vec::new(), bytes: 0 }
    }

    /// Counts received bytes; an error if there are too many.
    pub fn count(&mut self, bytes: usize) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            let detail = format!("more than {MAX_BYTES} bytes in one answer");
            return Err(ProviderError::new(ErrorCause::TooMuch, detail));
        }
        Ok(())
    }

    /// Adds a piece, and returns the index of its call.
    pub fn add(&mut self, piece: Piece) -> Result<usize, ProviderError> {
        let (text, value) = match piece.arguments {
            Value::String(text) => (text, None),
            Value::Null => (String::new(), None),
            other => (String::new(), Some(other)),
        };
        let value_bytes = value.as_ref().map_or(0, |value| value.to_string().len());
        match self.style {
            // Earlier content was repeated: only the new part counts.
            ArgumentStyle::Cumulative => {
                let before = self.calls.iter().find(|call| call.id == piece.id).map_or(0, |call| call.text.len());
                self.count(text.len().saturating_sub(before) + value_bytes)?;
            }
            _ => self.count(text.len() + piece.name.len() + value_bytes)?,
        }
        self.count(piece.signature.as_ref().map_or(0, String::len))?;
        match self.find(&piece.id, &piece.name) {
            Some(position) => {
                let open = &mut self.calls[position];
                if self.style == ArgumentStyle::Cumulative {
                    open.text = text;
                } else {
                    open.text.push_str(&text);
                }
                if value.is_some() {
                    open.value = value;
                }
                if piece.signature.is_some() {
                    open.signature = piece.signature;
                }
                Ok(position)
            }
            None => self.begin(piece.id, piece.name, (text, value), piece.signature),
        }
    }

    /// Returns the call that a piece continues; `None` if it begins one.
    fn find(&self, id: &str, name: &str) -> Option<usize> {
        match self.style {
            ArgumentStyle::Whole => None,
            ArgumentStyle::Cumulative => self.calls.iter().position(|call| call.id == id),
            ArgumentStyle::Pieces => {
                // A name begins a call, even with the index of another one: two calls that are both sent with index 0
                // are two calls. If a server repeats the id with the name, the call continues.
                if !name.is_empty() {
                    return self.calls.iter().position(|call| call.id == id && !is_counted(id));
                }
                let by_id = self.calls.iter().rposition(|call| call.id == id);
                by_id.or_else(|| {
                    let index = counted(id)?;
                    self.calls.iter().rposition(|call| call.index == index)
                })
            }
        }
    }

    fn begin(
        &mut self,
        id: String,
        name: String,
        (text, value): (String, Option<Value>),
        signature: Option<String>,
    ) -> Result<usize, ProviderError> {
        if self.calls.len() >= MAX_CALLS {
            let detail = format!("more than {MAX_CALLS} tool calls in one answer");
            return Err(ProviderError::new(ErrorCause::TooMuch, detail));
        }
        if name.is_empty() {
            return Err(ProviderError::new(ErrorCause::Garbage, "a tool call without a name"));
        }
        let index = counted(&id).unwrap_or(self.calls.len());
        self.calls.push(Open { id, index, name, text, value, signature });
        Ok(self.calls.len() - 1)
    }

    /// Returns the tool of a call, and the part of its arguments that has arrived, as text.
    pub fn so_far(&self, position: usize) -> Option<(&str, Cow<'_, str>)> {
        let call = self.calls.get(position)?;
        let arguments = match &call.value {
            Some(value) => Cow::Owned(value.to_string()),
            None => Cow::Borrowed(call.text.as_str()),
        };
        Some((&call.name, arguments))
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the calls with parsed arguments: empty ones become `{}`, and invalid JSON is kept as text. Signatures of
    /// single calls are those of this wire format; `blocks` is the reasoning before all calls, which is attached to the
    /// first.
    pub fn finish(self, wire: WireFormat, blocks: Vec<ReasoningBlock>) -> Vec<ToolCall> {
        let mut before = blocks;
        let mut taken: Vec<String> = Vec::new();
        self.calls
            .into_iter()
            .enumerate()
            .map(|(position, call)| {
                let id = if call.id.is_empty() || taken.contains(&call.id) {
                    (position..).map(|number| stand_in(wire, &call.name, number)).find(|id| !taken.contains(id))
                } else {
                    Some(call.id)
                };
                let id = id.expect("among all numbers one is free");
                taken.push(id.clone());
                let arguments = call.value.unwrap_or_else(|| parse(call.text));
                let mut blocks = std::mem::take(&mut before);
                blocks.extend(call.signature.map(|signature| ReasoningBlock::Signed { text: None, signature }));
                let reasoning = Reasoning { wire: wire.as_str().to_owned(), blocks };
                let reasoning = (!reasoning.blocks.is_empty()).then(|| Box::new(reasoning));
                ToolCall { reasoning, ..ToolCall::new(id, call.name, arguments) }
            })
            .collect()
    }
}

/// Returns an id for a call without one. For Gemini, it is a placeholder that genai recognises and never sends.
fn stand_in(wire: WireFormat, name: &str, number: usize) -> String {
    match wire {
        WireFormat::Gemini => format!("call#{name}#{number}"),
        WireFormat::OpenAi | WireFormat::Anthropic | WireFormat::Ollama => format!("call_{number}"),
    }
}

/// Parses arguments: empty ones become `{}`, and invalid JSON is kept as text.
pub(in crate::gateway) fn parse(text: String) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Returns the number in `call_N`, which genai uses for a piece with an index and no id.
fn counted(id: &str) -> Option<usize> {
    id.strip_prefix("call_")?.parse().ok()
}

fn is_counted(id: &str) -> bool {
    counted(id).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assemble(style: ArgumentStyle, pieces: &[(&str, &str, Value)]) -> Vec<(String, String, Value)> {
        let mut assembly = Assembly::new(style);
        for (id, name, arguments) in pieces {
            let piece = Piece { id: (*id).into(), name: (*name).into(), arguments: arguments.clone(), signature: None };
            assembly.add(piece).unwrap();
        }
        assembly
            .finish(WireFormat::OpenAi, Vec::new())
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect()
    }

    #[test]
    fn pieces_without_an_id_are_joined_by_index() {
        let calls = assemble(
            ArgumentStyle::Pieces,
            &[
                ("abc", "read", json!("{\"a\"")),
                ("xyz", "write", json!("{\"b\"")),
                ("call_0", "", json!(":1}")),
                ("call_1", "", json!(":2}")),
            ],
        );
        let wanted = [("abc", "read", json!({"a": 1})), ("xyz", "write", json!({"b": 2}))];
        assert_eq!(calls, wanted.map(|(id, name, value)| (id.to_owned(), name.to_owned(), value)));
    }

    #[test]
    fn two_calls_with_the_same_index_stay_separate() {
        let calls =
            assemble(ArgumentStyle::Pieces, &[("a", "read", json!("{\"n\":1}")), ("b", "read", json!("{\"n\":2}"))]);
        assert_eq!(calls[0].2, json!({"n": 1}));
        assert_eq!(calls[1].2, json!({"n": 2}));
        let without_ids = assemble(
            ArgumentStyle::Pieces,
            &[("call_0", "read", json!("{\"n\":1}")), ("call_0", "read", json!("{\"n\":2}"))],
        );
        assert_eq!(without_ids.len(), 2);
        assert_ne!(without_ids[0].0, without_ids[1].0, "each has an id of its own");
    }

    #[test]
    fn a_huge_index_costs_nothing() {
        let calls = assemble(
            ArgumentStyle::Pieces,
            &[("call_30000000", "read", json!("")), ("call_30000000", "", json!("{}"))],
        );
        assert_eq!(calls, [("call_30000000".to_owned(), "read".to_owned(), json!({}))]);
    }

    #[test]
    fn cumulative_arguments_replace_and_whole_calls_are_complete() {
        let pieces = [("t", "read", json!("")), ("t", "read", json!("{\"a\"")), ("t", "read", json!("{\"a\":1}"))];
        assert_eq!(assemble(ArgumentStyle::Cumulative, &pieces)[0].2, json!({"a": 1}));
        let whole = [("c", "read", json!({"a": 1})), ("c", "read", json!({"a": 2}))];
        assert_eq!(assemble(ArgumentStyle::Whole, &whole).len(), 2);
    }

    #[test]
    fn empty_arguments_are_an_object_and_invalid_json_stays_text() {
        assert_eq!(assemble(ArgumentStyle::Pieces, &[("a", "now", json!(""))])[0].2, json!({}));
        assert_eq!(assemble(ArgumentStyle::Pieces, &[("a", "now", json!("{oops"))])[0].2, json!("{oops"));
    }

    #[test]
    fn partial_arguments_are_available() {
        let mut assembly = Assembly::new(ArgumentStyle::Pieces);
        let piece = |id: &str, name: &str, text: &str| Piece {
            id: id.into(),
            name: name.into(),
            arguments: json!(text),
            signature: None,
        };
        assert_eq!(assembly.add(piece("a", "read", "")), Ok(0));
        assert_eq!(assembly.add(piece("b", "write", "{\"pa")), Ok(1));
        assert_eq!(assembly.add(piece("call_1", "", "th\"")), Ok(1));
        assert_eq!(assembly.so_far(0), Some(("read", "".into())));
        assert_eq!(assembly.so_far(1), Some(("write", "{\"path\"".into())));
    }

    #[test]
    fn signatures_stay_with_their_calls_and_reasoning_with_the_first() {
        let mut assembly = Assembly::new(ArgumentStyle::Whole);
        for signature in [Some("one".to_owned()), None] {
            assembly.add(Piece { id: String::new(), name: "n".into(), arguments: Value::Null, signature }).unwrap();
        }
        let before = ReasoningBlock::Plain { text: "hm".into() };
        let calls = assembly.finish(WireFormat::Gemini, vec![before.clone()]);
        let signed = ReasoningBlock::Signed { text: None, signature: "one".into() };
        let wanted = Reasoning { wire: "gemini".into(), blocks: vec![before, signed] };
        assert_eq!(calls[0].reasoning.as_deref(), Some(&wanted));
        assert_eq!(calls[1].reasoning, None);
    }

    #[test]
    fn limits_hold() {
        let mut assembly = Assembly::new(ArgumentStyle::Whole);
        let call = || Piece { id: "a".into(), name: "n".into(), arguments: Value::Null, signature: None };
        for _ in 0..MAX_CALLS {
            assembly.add(call()).unwrap();
        }
        assert_eq!(assembly.add(call()).unwrap_err().cause, ErrorCause::TooMuch);
        assert_eq!(Assembly::new(ArgumentStyle::Pieces).count(MAX_BYTES + 1).unwrap_err().cause, ErrorCause::TooMuch);
    }
}
