//! Models that answer over a real connection and depend only on the request, so that a process that was killed and asks
//! again gets the same answer.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::child::KEY;
use super::plan::Fault;
use super::wires::{Call, Wire, body_of};
use crate::hostile_server::Server;

/// A request in OpenAI's format.
pub struct Question {
    /// The whole request body.
    pub body: Value,
}

impl Question {
    /// The messages.
    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether it is about work: such requests offer tools.
    pub fn is_work(&self) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    /// The results of tools so far.
    pub fn results(&self) -> Vec<&str> {
        let results = self.messages().iter().filter(|message| message["role"] == "tool");
        results.map(|message| message["content"].as_str().unwrap_or_default()).collect()
    }

    /// The number of answered calls of a job, from the number in the newest result, because long sessions omit the
    /// oldest ones.
    pub fn answered(&self, job: &str) -> usize {
        let ids = self.messages().iter().filter_map(|message| message["tool_call_id"].as_str());
        let numbers = ids.filter_map(|id| id.strip_prefix(job)?.strip_prefix('-')?.parse::<usize>().ok());
        numbers.max().map_or(0, |newest| newest + 1)
    }

    /// The first of these words that occurs in the system prompt or the user's messages.
    pub fn word(&self, prefix: &str) -> Option<String> {
        let said = self.messages().iter().filter(|message| message["role"] != "tool" && message["role"] != "assistant");
        let texts = said.map(|message| message["content"].as_str().unwrap_or_default());
        texts.rev().find_map(|text| word_in(text, prefix))
    }

    /// The one of these words that occurs first; later ones do not count.
    pub fn first_word(&self, prefix: &str) -> Option<String> {
        let said = self.messages().iter().filter(|message| message["role"] == "user");
        said.map(|message| message["content"].as_str().unwrap_or_default()).find_map(|text| word_in(text, prefix))
    }

    /// How often `text` occurs in messages that are not the model's own.
    pub fn said(&self, text: &str) -> usize {
        let said = self.messages().iter().filter(|message| message["role"] == "user");
        said.map(|message| message["content"].as_str().unwrap_or_default().matches(text).count()).sum()
    }

    /// Calls in the history that do not have exactly one result.
    pub fn unpaired_calls(&self) -> Vec<(Fault, String)> {
        let ids = self.messages().iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        let results: Vec<&Value> = self.messages().iter().map(|message| &message["tool_call_id"]).collect();
        let count = |id: &Value| results.iter().filter(|result| **result == id).count();
        let counted = ids.map(|call| (&call["id"], count(&call["id"])));
        let unpaired = counted.filter(|(_, count)| *count != 1);
        let fault = |count| if count == 0 { Fault::Lost } else { Fault::Doubled };
        unpaired.map(|(id, count)| (fault(count), format!("the call {id} has {count} results"))).collect()
    }
}

/// The first word of a text that begins with this prefix.
fn word_in(text: &str, prefix: &str) -> Option<String> {
    let at = text.find(prefix)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    Some(text[at..].chars().take_while(|c| is_word(*c)).collect())
}

/// The answer of a model: its words, and the tools that it calls.
pub type Reply = (String, Vec<Call>);

/// A server with a model behind it, in OpenAI's wire format.
pub struct Model {
    /// The server.
    pub server: Server,
    /// Forbidden texts that were found in requests.
    seen: Arc<Mutex<Vec<(Fault, String)>>>,
}

impl Model {
    /// Starts the server; `forbidden` are texts that no request may contain.
    pub fn start(
        forbidden: Vec<String>,
        latency: Duration,
        reply: impl Fn(&Question) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<(Fault, String)>>> = Arc::default();
        let told = seen.clone();
        let server = Server::start(move |stream, request, _| {
            let question = Question { body: body_of(request) };
            {
                let mut told = told.lock().expect("no thread panics while holding it");
                let leaked = forbidden.iter().filter(|text| request.contains(*text));
                told.extend(leaked.map(|text| (Fault::Escaped, text.clone())));
                if question.body.to_string().contains(KEY) {
                    told.push((Fault::Escaped, "the key in the body of a question".to_owned()));
                }
                if question.body.is_null() && is_whole(request) {
                    let begins: String = request.chars().take(200).collect();
                    told.push((Fault::Lost, format!("a question that is no JSON: {begins}")));
                }
                told.extend(question.unpaired_calls());
            }
            let (text, calls) = reply(&question);
            std::thread::sleep(latency);
            // A process that was killed does not read the answer.
            let _ = stream.write_all(&Wire::OpenAi.answer(&text, &calls));
        });
        Self { server, seen }
    }

    /// The forbidden texts that were found in requests.
    pub fn seen(&self) -> Vec<(Fault, String)> {
        let mut seen = self.seen.lock().expect("no thread panics while holding it").clone();
        seen.sort();
        seen.dedup();
        seen
    }
}

/// Whether a request is complete: a process that is killed may have sent only a part of it, or nothing.
fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.and_then(|(_, bytes)| bytes.trim().parse::<usize>().ok()).is_none_or(|bytes| body.len() >= bytes)
}
