//! Well-formed server output in each vendor's wire format: text, tool calls and ends.

use serde_json::{Value, json};

use crate::hostile_server::Server;

/// A wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// `chat/completions`.
    OpenAi,
    /// `messages`.
    Anthropic,
    /// `streamGenerateContent`.
    Gemini,
    /// `api/chat`.
    Ollama,
}

/// A tool call: its id, its name and its arguments.
pub type Call = (String, String, Value);

impl Wire {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The provider that uses it.
    pub fn provider(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The environment variable for the provider's address, and its value for this server.
    pub fn base_url(self, server: &Server) -> (&'static str, String) {
        let origin = server.url.trim_end_matches("v1/");
        match self {
            Self::OpenAi => ("OPENAI_BASE_URL", server.url.clone()),
            Self::Anthropic => ("ANTHROPIC_BASE_URL", server.url.clone()),
            Self::Gemini => ("GEMINI_BASE_URL", format!("{origin}v1beta/")),
            Self::Ollama => ("OLLAMA_BASE_URL", origin.to_owned()),
        }
    }

    /// The content type of its stream.
    pub fn content_type(self) -> &'static str {
        if self == Self::Ollama { "application/x-ndjson" } else { "text/event-stream" }
    }

    /// The head of a stream with these additional headers.
    pub fn head(self, headers: &str) -> String {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {}\r\nconnection: close\r\n{headers}\r\n", self.content_type())
    }

    /// One event of its stream.
    pub fn event(self, value: &Value) -> String {
        match self {
            Self::Ollama => format!("{value}\n"),
            Self::Anthropic => {
                format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or("ping"))
            }
            _ => format!("data: {value}\n\n"),
        }
    }

    /// Everything that comes before the content.
    pub fn begin(self) -> String {
        if self != Self::Anthropic {
            return String::new();
        }
        let usage = json!({ "input_tokens": 11, "output_tokens": 1 });
        let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                              "stop_reason": null, "stop_sequence": null, "usage": usage });
        self.event(&json!({ "type": "message_start", "message": message }))
    }

    /// A piece of text.
    pub fn text(self, text: &str) -> String {
        match self {
            Self::OpenAi => self.event(&json!({ "choices": [{ "index": 0, "delta": { "content": text } }] })),
            Self::Anthropic => {
                let block = json!({ "type": "text", "text": "" });
                self.block(0, &block, &json!({ "type": "text_delta", "text": text }))
            }
            Self::Gemini => {
                let content = json!({ "role": "model", "parts": [{ "text": text }] });
                self.event(&json!({ "candidates": [{ "content": content, "index": 0 }] }))
            }
            Self::Ollama => {
                self.event(&json!({ "model": "m", "message": { "role": "assistant", "content": text }, "done": false }))
            }
        }
    }

    /// Tool calls.
    pub fn calls(self, calls: &[Call]) -> String {
        match self {
            Self::OpenAi => calls.iter().enumerate().fold(String::new(), |said, (index, (id, name, arguments))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                let call = json!([{ "index": index, "id": id, "type": "function", "function": function }]);
                said + &self.event(&json!({ "choices": [{ "index": 0, "delta": { "tool_calls": call } }] }))
            }),
            Self::Anthropic => calls.iter().enumerate().fold(String::new(), |said, (index, (id, name, arguments))| {
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                let delta = json!({ "type": "input_json_delta", "partial_json": arguments.to_string() });
                said + &self.block(index + 1, &block, &delta)
            }),
            Self::Gemini => {
                let parts: Vec<Value> = calls
                    .iter()
                    .map(|(_, name, arguments)| json!({ "functionCall": { "name": name, "args": arguments } }))
                    .collect();
                let content = json!({ "role": "model", "parts": parts });
                self.event(&json!({ "candidates": [{ "content": content, "index": 0 }] }))
            }
            Self::Ollama => {
                let calls: Vec<Value> = calls
                    .iter()
                    .map(|(_, name, arguments)| json!({ "function": { "name": name, "arguments": arguments } }))
                    .collect();
                let message = json!({ "role": "assistant", "content": "", "tool_calls": calls });
                self.event(&json!({ "model": "m", "message": message, "done": false }))
            }
        }
    }

    fn block(self, index: usize, block: &Value, delta: &Value) -> String {
        self.event(&json!({ "type": "content_block_start", "index": index, "content_block": block }))
            + &self.event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
            + &self.event(&json!({ "type": "content_block_stop", "index": index }))
    }

    /// The end, with token counts.
    pub fn end(self, has_calls: bool) -> String {
        self.end_with_usage(has_calls, &json!(11), &json!(5))
    }

    /// The end, with these token counts.
    pub fn end_with_usage(self, has_calls: bool, input: &Value, output: &Value) -> String {
        match self {
            Self::OpenAi => {
                let reason = if has_calls { "tool_calls" } else { "stop" };
                let usage = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": 16 });
                let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
                self.event(&json!({ "choices": [choice], "usage": usage })) + "data: [DONE]\n\n"
            }
            Self::Anthropic => {
                let reason = if has_calls { "tool_use" } else { "end_turn" };
                let delta = json!({ "stop_reason": reason, "stop_sequence": null });
                let usage = json!({ "input_tokens": input, "output_tokens": output });
                self.event(&json!({ "type": "message_delta", "delta": delta, "usage": usage }))
                    + &self.event(&json!({ "type": "message_stop" }))
            }
            Self::Gemini => {
                let usage = json!({ "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": 16 });
                let content = json!({ "role": "model", "parts": [{ "text": "" }] });
                let candidate = json!({ "content": content, "finishReason": "STOP", "index": 0 });
                self.event(&json!({ "candidates": [candidate], "usageMetadata": usage }))
            }
            Self::Ollama => {
                let message = json!({ "role": "assistant", "content": "" });
                let end = json!({ "model": "m", "message": message, "done": true, "done_reason": "stop",
                                  "prompt_eval_count": input, "eval_count": output });
                self.event(&end)
            }
        }
    }

    /// A complete answer.
    pub fn answer(self, text: &str, calls: &[Call]) -> Vec<u8> {
        let mut said = self.head("") + &self.begin();
        if !text.is_empty() {
            said += &self.text(text);
        }
        if !calls.is_empty() {
            said += &self.calls(calls);
        }
        (said + &self.end(!calls.is_empty())).into_bytes()
    }
}

/// The body of a request, as far as it is JSON.
pub fn body_of(request: &str) -> Value {
    let start = request.find("\r\n{").or_else(|| request.find("\n{")).or_else(|| request.find('{'));
    let text = start.map_or("", |at| request[at..].trim_start());
    serde_json::from_str(text).unwrap_or(Value::Null)
}
