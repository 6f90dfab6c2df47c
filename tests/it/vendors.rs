//! Every vendor's wire format, as a third-party mock implements it.

use std::io::Write;

use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::mind::{FailureKind, Finish};
use libtest_mimic::Trial;
use serde_json::json;

use crate::model_requests::{self, KEY, short_timeouts};
use crate::peers::{self, Peer};
use crate::vendor_tools;

/// The names of all vendors.
pub const VENDORS: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];

fn fixtures() -> serde_json::Value {
    let usage = json!({ "prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30 });
    let call = |name: &str, path: &str| json!({ "name": name, "arguments": { "path": path } });
    json!({ "fixtures": [
        { "match": { "userMessage": "greet" },
          "response": { "content": "Hello from the peer: Grüße, 東京.", "usage": usage } },
        { "match": { "userMessage": "are you there" },
          "response": { "content": "Here I am.", "usage": usage } },
        { "match": { "userMessage": "long" },
          "response": { "content": "word ".repeat(200), "finishReason": "length" } },
        { "match": { "userMessage": "tools" },
          "response": { "toolCalls": [call("read", "a.md"), call("write", "b.md")] } },
        { "match": { "userMessage": "limit" },
          "response": { "error": { "message": "Rate limited", "type": "rate_limit_error" }, "status": 429 } },
        { "match": { "userMessage": "cut" },
          "response": { "content": "This will be cut short in the middle of it, I am afraid, said the peer." },
          "truncateAfterChunks": 3, "latency": 30 },
        { "match": { "userMessage": "malformed" },
          "response": { "content": "never seen" }, "chaos": { "malformedRate": 1.0 } },
    ] })
}

/// Starts the mock. Returns it with the file of its fixtures.
fn mock() -> (Peer, tempfile::NamedTempFile) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().expect("the file can be written");
    write!(file, "{}", fixtures()).expect("the file can be written");
    let peer = peers::start_aimock(file.path(), &["--chunk-size", "8"]).expect("the mock starts");
    (peer, file)
}

/// Text is streamed, arrives complete, and has the vendor's usage.
fn text_and_usage(vendor: &str) {
    let (peer, _file) = mock();
    let asked = model_requests::ask(vendor, &peer.url, "greet", &short_timeouts());
    assert!(asked.pieces > 0, "the text is streamed");
    let reply = asked.reply();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello from the peer: Grüße, 東京.", Finish::Stop));
    // In Ollama's format, this mock always reports zero; the gateway then records its estimate.
    let usage = if vendor == "ollama" { (0, 0) } else { (21, 9) };
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), usage, "{vendor}");
    let long = model_requests::ask(vendor, &peer.url, "long", &short_timeouts()).reply();
    // In Ollama's format this mock never gives a reason other than "stop".
    let finish = if vendor == "ollama" { Finish::Stop } else { Finish::Length };
    assert_eq!((long.text.len(), long.finish), (1000, finish));
    assert_request_recorded(vendor, &peer);
}

/// Checks that the request contains the model, the system text, the message and the limit, and that the key is not in
/// the URL.
fn assert_request_recorded(vendor: &str, peer: &Peer) {
    let journal = peer.get("/__aimock/journal").expect("the mock keeps a journal");
    for sent in ["test-model", "You are a test.", "greet", "64"] {
        assert!(journal.contains(sent), "{vendor} did not get {sent:?}: {journal}");
    }
    let path = match vendor {
        "openai" => "/v1/chat/completions",
        "anthropic" => "/v1/messages",
        "gemini" => "/v1beta/models/test-model:streamGenerateContent",
        _ => "/api/chat",
    };
    assert!(journal.contains(path), "{journal}");
    assert!(!journal.contains(&format!("key={KEY}")), "the key is not in the URL");
}

/// Two calls in one turn, with their names and arguments.
fn tool_calls(vendor: &str) {
    let (peer, _file) = mock();
    let reply = model_requests::ask(vendor, &peer.url, "tools", &short_timeouts()).reply();
    let calls: Vec<_> = reply.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
    assert_eq!(calls, [("read", json!({ "path": "a.md" })), ("write", json!({ "path": "b.md" }))]);
    assert_ne!(reply.tool_calls[0].id, reply.tool_calls[1].id);
    assert_eq!(reply.finish, Finish::ToolCalls);
}

/// Status 429 is retried and then reported.
fn rate_limit(vendor: &str) {
    let (peer, _file) = mock();
    let failure = model_requests::ask(vendor, &peer.url, "limit", &short_timeouts()).failure();
    assert_eq!(failure.kind, FailureKind::RateLimited);
    assert!(failure.what.contains("429") && failure.what.contains("tried 4 times"), "{}", failure.what);
    assert_eq!(failure.retry_after_secs, Some(1.0), "the mock's retry delay is a second");
}

/// A stream that is cut is a failure.
fn cut_stream(vendor: &str) {
    let (peer, _file) = mock();
    let failure = model_requests::ask(vendor, &peer.url, "cut", &short_timeouts()).failure();
    assert_eq!(failure.kind, FailureKind::Malformed, "{failure:?}");
}

/// A malformed stream is a failure.
fn malformed_stream(vendor: &str) {
    let (peer, _file) = mock();
    let settings = GatewaySettings { max_attempts: 1, ..short_timeouts() };
    let failure = model_requests::ask(vendor, &peer.url, "malformed", &settings).failure();
    assert_eq!(failure.kind, FailureKind::Malformed, "{failure:?}");
}

/// A test from the window returns the answer and its usage, and a failure after the server has stopped.
fn tested_from_the_window(vendor: &str) {
    let (peer, _file) = mock();
    let workshop = model_requests::room_of(vendor, &peer.url);
    let tried = model_requests::try_provider(&workshop, &format!("{vendor}:test-model"));
    let reply = tried.outcome.expect("the mock answers");
    assert_eq!(reply.text, "Here I am.");
    assert!(tried.used.tokens > 0 && tried.used.calls == 1, "{:?}", tried.used);
    let url = peer.url.clone();
    drop(peer);
    let failure = model_requests::try_provider(&workshop, &format!("{vendor}:test-model"))
        .outcome
        .expect_err("the server has stopped");
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.what.contains(url.trim_start_matches("http://")), "{}", failure.what);
}

/// A test of one vendor.
type Test = fn(&'static str);

/// Lists the tests of this file, each of them for each vendor.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 6] = [
        ("text_and_usage", text_and_usage),
        ("tool_calls", tool_calls),
        ("rate_limit", rate_limit),
        ("cut_stream", cut_stream),
        ("malformed_stream", malformed_stream),
        ("tested_from_the_window", tested_from_the_window),
    ];
    let ignored = peers::is_ignored("vendors::*", peers::aimock().err());
    let mut trials = Vec::new();
    for vendor in VENDORS {
        for (name, test) in tests {
            let trial = Trial::test(format!("vendors::{vendor}::{name}"), move || {
                test(vendor);
                Ok(())
            });
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    trials.extend(vendor_tools::trials(ignored));
    trials
}
