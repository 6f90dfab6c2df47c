//! A server's question to a model during a call: a bounded text and nothing else. Pure: the text is data. The server's
//! preferences for the model (which one, its temperature, which context) are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::peers::plain;

/// The maximum number of messages in a question.
const MAX_MESSAGES: usize = 64;
/// The maximum total length of a question in characters.
const MAX_CHARS: usize = 100_000;
/// The maximum number of stop sequences.
const MAX_STOPS: usize = 4;
/// The maximum length of a stop sequence in characters.
const MAX_STOP_CHARS: usize = 64;

/// A server's question to a model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct McpSampling {
    /// The number of the question, counted per connection.
    pub number: u64,
    /// The system prompt; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The messages, oldest first.
    pub messages: Vec<SampledMessage>,
    /// The maximum number of output tokens.
    pub max_tokens: u32,
    /// The stop sequences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<String>,
}

/// A message of such a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SampledMessage {
    /// Whether the server attributes it to a model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_model: bool,
    /// The text.
    pub text: String,
}

impl McpSampling {
    /// Parses a server's question; the error says why it is not passed on.
    pub fn of(number: u64, asked: &Value) -> Result<Self, String> {
        let is_filled = |key: &str| asked.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if is_filled("tools") {
            return Err("it wants the model to use tools".to_owned());
        }
        let messages = asked.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            return Err(format!("it has {} messages, but needs 1 to {MAX_MESSAGES}", messages.len()));
        }
        let messages = messages.iter().map(SampledMessage::of).collect::<Result<Vec<_>, _>>()?;
        let system = asked.get("systemPrompt").and_then(Value::as_str).unwrap_or_default().to_owned();
        let texts = messages.iter().map(|message| &message.text).chain([&system]);
        let chars: usize = texts.map(|text| text.chars().count()).sum();
        if chars > MAX_CHARS {
            return Err(format!("it has {chars} characters, and {MAX_CHARS} are allowed"));
        }
        let max_tokens = asked.get("maxTokens").and_then(Value::as_u64).unwrap_or_default();
        let max_tokens = u32::try_from(max_tokens).unwrap_or(u32::MAX);
        if max_tokens == 0 {
            return Err("it asks for zero tokens (maxTokens)".to_owned());
        }
        let stops = asked.get("stopSequences").and_then(Value::as_array).into_iter().flatten();
        let fits = |stop: &&str| !stop.is_empty() && stop.chars().count() <= MAX_STOP_CHARS;
        let stops = stops.filter_map(Value::as_str).filter(fits).take(MAX_STOPS).map(str::to_owned).collect();
        Ok(Self { number, system, messages, max_tokens, stops })
    }
}

impl SampledMessage {
    fn of(message: &Value) -> Result<Self, String> {
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(block) => std::slice::from_ref(block),
            None => &[],
        };
        let texts = blocks.iter().map(block_text).collect::<Result<Vec<_>, _>>()?;
        let by_model = message.get("role").and_then(Value::as_str) == Some("assistant");
        Ok(Self { by_model, text: texts.join("\n") })
    }
}

/// Returns a part of a message as text; other content is described.
fn block_text(block: &Value) -> Result<String, String> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => Ok(text("text").to_owned()),
        kind @ ("image" | "audio") => {
            let media_type = plain(text("mimeType"), 64);
            // Four characters of base64 are three bytes.
            let kib = (text("data").len() * 3 / 4).div_ceil(1024);
            Ok(format!("[{kind}: {media_type}, {kib} KB, not shown to this model]"))
        }
        "tool_use" | "tool_result" => Err("it wants the model to use tools".to_owned()),
        _ => Err("a message has no known content".to_owned()),
    }
}

/// A model's answer to a server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct McpSampled {
    /// The text.
    pub text: String,
    /// The name of the model.
    pub model: String,
    /// Why it stopped, as a term of the protocol.
    pub stop_reason: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(more: &Value) -> Result<McpSampling, String> {
        let mut asked = json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Say yes." } }],
            "maxTokens": 10,
        });
        let keys = asked.as_object_mut().expect("it is a table");
        keys.extend(more.as_object().cloned().unwrap_or_default());
        McpSampling::of(1, &asked)
    }

    #[test]
    fn a_question_is_its_text_without_model_preferences() {
        let content = json!([
            { "type": "text", "text": "Look:" },
            { "type": "image", "mimeType": "image/png\u{1b}[2J", "data": "x".repeat(4_000) },
        ]);
        let asked = json!({
            "messages": [{ "role": "assistant", "content": content }],
            "systemPrompt": "Be short.",
            "modelPreferences": { "hints": [{ "name": "the-dearest" }] },
            "includeContext": "allServers",
            "stopSequences": ["END", "", "x".repeat(100)],
        });
        let question = of(&asked).expect("it can be asked");
        assert_eq!((question.system.as_str(), question.max_tokens), ("Be short.", 10));
        assert_eq!(question.stops, ["END"]);
        let text = "Look:\n[image: image/png [2J, 3 KB, not shown to this model]".to_owned();
        assert_eq!(question.messages, [SampledMessage { by_model: true, text }]);
        let saved = serde_json::to_string(&question).expect("it can be saved");
        assert!(!saved.contains("dearest") && !saved.contains("allServers"), "{saved}");
    }

    #[test]
    fn refused_questions_have_a_reason() {
        let many = vec![json!({ "role": "user", "content": { "type": "text", "text": "x" } }); 65];
        let long = json!([{ "role": "user", "content": { "type": "text", "text": "x".repeat(100_001) } }]);
        let result = json!([{ "role": "user", "content": { "type": "tool_result", "toolUseId": "1", "content": [] } }]);
        for (more, told) in [
            (json!({ "messages": [] }), "it has 0 messages"),
            (json!({ "messages": many }), "it has 65 messages"),
            (json!({ "messages": long }), "it has 100001 characters"),
            (json!({ "messages": result }), "it wants the model to use tools"),
            (json!({ "messages": [{ "role": "user" , "content": 7 }] }), "a message has no known content"),
            (json!({ "tools": [{ "name": "x" }] }), "it wants the model to use tools"),
            (json!({ "maxTokens": 0 }), "it asks for zero tokens"),
        ] {
            let why = of(&more).expect_err("nobody is asked that");
            assert!(why.starts_with(told), "{why}");
        }
        assert!(of(&json!({ "tools": [], "maxTokens": u64::MAX })).is_ok_and(|asked| asked.max_tokens == u32::MAX));
    }
}
