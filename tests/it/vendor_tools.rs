//! Conversations with tools in every vendor's wire format: the requests, as sent and as a third-party mock parses them,
//! and the replies.

use std::io::Write;
use std::sync::{Arc, Mutex};

use agent_workshop::gateway::LiveCall;
use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::mind::{
    Completion, FailureKind, Finish, PromptMessage, ReasoningBlock, Role, ToolCall, ToolDeclaration,
};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::hostile_server::{STREAM_HEAD, Server};
use crate::model_requests::{self, short_timeouts};
use crate::peers::{self, Peer, Tap};
use crate::vendors::VENDORS;

fn fixtures() -> Value {
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments.to_string() });
    let both = json!([call("vfs_read", json!({ "path": "a.md" })), call("vfs_read", json!({ "path": "b.md" }))]);
    let long = call("vfs_write", json!({ "path": "artifacts/long.md", "content": "word ".repeat(100) }));
    let limited = json!({ "error": { "message": "Rate limited", "type": "rate_limit_error" }, "status": 429 });
    json!({ "fixtures": [
        { "match": { "userMessage": "compare", "hasToolResult": true }, "response": { "content": "They agree." } },
        { "match": { "userMessage": "compare" }, "response": { "content": "I look.", "toolCalls": both } },
        { "match": { "userMessage": "write" }, "response": { "toolCalls": [long] }, "latency": 10 },
        { "match": { "userMessage": "patience", "sequenceIndex": 0 }, "response": limited },
        { "match": { "userMessage": "patience" }, "response": { "toolCalls": both } },
        { "match": { "userMessage": "nonsense" },
          "response": { "toolCalls": [{ "name": "vfs_read", "arguments": "{oops" }] } },
        { "match": { "userMessage": "odd" }, "response": { "content": "Understood all the same." } },
        { "match": { "userMessage": "think", "hasToolResult": true }, "response": { "content": "Thought through." } },
        { "match": { "userMessage": "think" },
          "response": { "toolCalls": both, "reasoning": "Both files matter.", "reasoningSignature": "c2lnbmVk",
                        "redactedThinking": ["c2VhbGVk"] } },
    ] })
}

/// A mock server, and a proxy that records its requests.
struct Mock {
    tap: Tap,
    peer: Peer,
    _file: tempfile::NamedTempFile,
}

fn mock() -> Mock {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().expect("the file can be written");
    write!(file, "{}", fixtures()).expect("the file can be written");
    let peer = peers::start_aimock(file.path(), &["--chunk-size", "8"]).expect("the mock starts");
    Mock { tap: Tap::before(&peer), peer, _file: file }
}

impl Mock {
    fn ask(&self, vendor: &str, request: ProviderRequest) -> model_requests::Exchange {
        model_requests::ask_request(vendor, &self.tap.url, request, &short_timeouts())
    }

    /// Returns the last request as it was sent.
    fn last_sent(&self) -> Value {
        self.tap.bodies().pop().expect("a request was sent")
    }

    /// Returns the last request as the mock parsed it: in OpenAI's format, whatever the wire format.
    fn last_understood(&self) -> Value {
        let journal = self.peer.get("/__aimock/journal").expect("the mock keeps a journal");
        let (from, to) = (journal.find('[').expect("it is a list"), journal.rfind(']').expect("it is a list"));
        let entries: Value = serde_json::from_str(&journal[from..=to]).expect("the journal is JSON");
        let last = entries.as_array().and_then(|entries| entries.last()).expect("the mock received a request");
        assert_eq!(last["response"]["status"], 200, "{last}");
        last["body"].clone()
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
}

fn request(words: &str) -> ProviderRequest {
    let tool = |name: &str| ToolDeclaration {
        name: name.to_owned(),
        description: format!("Does what {name} says."),
        parameters: schema().into(),
    };
    ProviderRequest { tools: vec![tool("vfs_read"), tool("vfs_write")], ..model_requests::request(words) }
}

/// Returns the request that follows a reply whose calls had these results.
fn after(mut request: ProviderRequest, reply: &Completion, results: &[&str]) -> ProviderRequest {
    request.prompt.history.push(PromptMessage::calls(reply.text.clone(), reply.tool_calls.clone()));
    let answered = reply.tool_calls.iter().zip(results);
    request.prompt.history.extend(answered.map(|(call, result)| PromptMessage::result(call, *result)));
    request
}

fn paths(reply: &Completion) -> Vec<String> {
    reply.tool_calls.iter().map(|call| call.arguments["path"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Two calls in one turn, their results, and the final text, in the format that the vendor documents.
fn conversation(vendor: &str) {
    let mock = mock();
    let first = request("compare");
    let asked = mock.ask(vendor, first.clone());
    let names: Vec<_> = asked.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["vfs_read", "vfs_read"], "the calls are reported as they arrive");
    assert_declared(vendor, &mock.last_sent());
    let looks = asked.reply();
    assert_eq!((looks.text.as_str(), looks.finish), ("I look.", Finish::ToolCalls));
    assert_eq!(paths(&looks), ["a.md", "b.md"]);

    let asked = mock.ask(vendor, after(first, &looks, &["# A", "# B"]));
    assert_wire_format(vendor, &mock.last_sent(), &looks.tool_calls);
    assert_understood(&mock.last_understood(), vendor);
    let ends = asked.reply();
    assert_eq!((ends.text.as_str(), ends.finish, ends.tool_calls.len()), ("They agree.", Finish::Stop, 0));
}

/// Checks that every tool is declared with its name, description and schema.
fn assert_declared(vendor: &str, body: &Value) {
    let expected = match vendor {
        "gemini" => json!({ "name": "vfs_read", "description": "Does what vfs_read says.",
                            "parametersJsonSchema": schema() }),
        "anthropic" => json!({ "name": "vfs_read", "description": "Does what vfs_read says.",
                               "input_schema": schema() }),
        "openai" => json!({ "type": "function", "function": { "name": "vfs_read",
                            "description": "Does what vfs_read says.", "parameters": schema(), "strict": false } }),
        _ => json!({ "type": "function", "function": { "name": "vfs_read",
                     "description": "Does what vfs_read says.", "parameters": schema() } }),
    };
    let tools = if vendor == "gemini" { &body["tools"][0]["functionDeclarations"] } else { &body["tools"] };
    assert_eq!((&tools[0], tools.as_array().map(Vec::len)), (&expected, Some(2)), "{vendor}: {body}");
}

/// The results of the tools as the model gets them: untrusted text is fenced.
const FENCED_A: &str = "```text\n# A\n```";
const FENCED_B: &str = "```text\n# B\n```";

/// Checks the history with calls and results in the vendor's format.
fn assert_wire_format(vendor: &str, body: &Value, calls: &[ToolCall]) {
    let [a, b] = calls else { panic!("expected two calls") };
    let (path_a, path_b) = (json!({ "path": "a.md" }), json!({ "path": "b.md" }));
    let system = json!({ "role": "system", "content": "You are a test." });
    let user = json!({ "role": "user", "content": "compare" });
    let (key, wanted) = match vendor {
        "openai" => {
            let call = |call: &ToolCall, arguments: &Value| {
                json!({ "type": "function", "id": call.id,
                        "function": { "name": "vfs_read", "arguments": arguments.to_string() } })
            };
            let result =
                |call: &ToolCall, text: &str| json!({ "role": "tool", "tool_call_id": call.id, "content": text });
            let says = json!({ "role": "assistant", "content": "I look.",
                               "tool_calls": [call(a, &path_a), call(b, &path_b)] });
            ("messages", json!([system, user, says, result(a, FENCED_A), result(b, FENCED_B)]))
        }
        "anthropic" => {
            let uses = |call: &ToolCall, input: &Value| json!({ "type": "tool_use", "id": call.id, "name": "vfs_read", "input": input });
            let result =
                |call: &ToolCall, text: &str| json!({ "type": "tool_result", "tool_use_id": call.id, "content": text });
            let says = json!({ "role": "assistant", "content": [
                { "type": "text", "text": "I look." }, uses(a, &path_a), uses(b, &path_b) ] });
            let results = json!({ "role": "user", "content": [result(a, FENCED_A), result(b, FENCED_B)] });
            ("messages", json!([user, says, results]))
        }
        "gemini" => {
            let with_id = |mut part: Value, call: &ToolCall| {
                if !call.id.starts_with("call#") {
                    part["id"] = json!(call.id);
                }
                part
            };
            let calls = |call: &ToolCall, args: &Value| json!({ "functionCall": with_id(json!({ "name": "vfs_read", "args": args }), call) });
            let result = |call: &ToolCall, text: &str| {
                let response = json!({ "name": "vfs_read", "response": { "name": "vfs_read", "content": text } });
                json!({ "functionResponse": with_id(response, call) })
            };
            let says = json!({ "role": "model", "parts": [
                { "text": "I look." }, calls(a, &path_a), calls(b, &path_b) ] });
            let asks = json!({ "role": "user", "parts": [{ "text": "compare" }] });
            ("contents", json!([asks, says, { "role": "user", "parts": [result(a, FENCED_A), result(b, FENCED_B)] }]))
        }
        _ => {
            let call = |arguments: &Value| json!({ "function": { "name": "vfs_read", "arguments": arguments } });
            let says =
                json!({ "role": "assistant", "content": "I look.", "tool_calls": [call(&path_a), call(&path_b)] });
            let result = |text: &str| json!({ "role": "tool", "content": text });
            ("messages", json!([system, user, says, result(FENCED_A), result(FENCED_B)]))
        }
    };
    assert_eq!(body[key], wanted, "{vendor}: {body}");
}

/// Checks that the mock matches each result with its call.
fn assert_understood(body: &Value, vendor: &str) {
    let messages = body["messages"].as_array().expect("there are messages");
    let says = messages.iter().find(|message| message["role"] == "assistant").expect("the agent's turn exists");
    let called = says["tool_calls"].as_array().expect("the turn has calls");
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!((called.len(), results.len()), (2, 2), "{vendor}: {body}");
    for (call, result) in called.iter().zip(results) {
        // Ollama's format has no ids; the mock invents some, but only for the calls.
        assert!(vendor == "ollama" || call["id"] == result["tool_call_id"], "{vendor}: {body}");
    }
}

/// The call is announced before it is complete.
fn early_call(vendor: &str) {
    let asked = mock().ask(vendor, request("write"));
    let path = asked.calls.first().and_then(|call: &LiveCall| call.argument("path"));
    assert_eq!(path.as_deref(), Some("artifacts/long.md"));
    assert_eq!(asked.reply().tool_calls[0].arguments["content"].as_str().map(str::len), Some(500));
}

/// A stream that is cut in the middle of a call is a failure.
fn cut(vendor: &str) {
    let mut mock = mock();
    mock.tap = Tap::cutting(&mock.peer, "word");
    let failure = mock.ask(vendor, request("write")).failure();
    assert_eq!(failure.kind, FailureKind::Malformed, "{failure:?}");
    assert_eq!(mock.tap.bodies().len(), 1, "a cut answer was paid for and is not requested again");
}

/// Status 429, and then an answer with calls.
fn rate_limited_once(vendor: &str) {
    let mock = mock();
    assert_eq!(paths(&mock.ask(vendor, request("patience")).reply()), ["a.md", "b.md"]);
    assert_eq!(mock.tap.bodies().len(), 2);
}

/// Arguments that are not JSON arrive as plain text and are sent back as an object that contains the text.
fn malformed_arguments(vendor: &str) {
    let mock = mock();
    // In other formats this mock repairs the arguments itself before it sends them.
    let streams_text = ["openai"].contains(&vendor);
    let reply = mock.ask(vendor, request("nonsense")).reply();
    let arguments = &reply.tool_calls[0].arguments;
    assert_eq!(*arguments, if streams_text { json!("{oops") } else { json!({}) });
    let broken = Completion { tool_calls: vec![ToolCall::new("c-1", "vfs_read", json!("{oops"))], ..reply };
    let asked = mock.ask(vendor, after(request("odd"), &broken, &["Error: the arguments were no JSON."]));
    let sent = mock.last_sent();
    let expected = json!({ "unreadable_arguments": "{oops" });
    let sent_back = match vendor {
        "openai" => {
            let text = sent["messages"][2]["tool_calls"][0]["function"]["arguments"].as_str().expect("it is a string");
            serde_json::from_str(text).expect("the string contains JSON")
        }
        "anthropic" => sent["messages"][1]["content"][0]["input"].clone(),
        "gemini" => sent["contents"][1]["parts"][0]["functionCall"]["args"].clone(),
        _ => sent["messages"][2]["tool_calls"][0]["function"]["arguments"].clone(),
    };
    assert_eq!(sent_back, expected, "{sent}");
    assert_eq!(asked.reply().text, "Understood all the same.");
}

/// Histories that were shortened, come from another vendor or lack results are accepted.
fn unusual_histories(vendor: &str) {
    let mock = mock();
    let lost = ToolCall::new("call#vfs_read#0", "vfs_read", json!({ "path": "a.md" }));
    let other = ToolCall::new("toolu_01 with a blank", "functions.vfs_read", json!({ "path": "b.md" }));
    let mut request = request("odd");
    request.prompt.history = vec![
        PromptMessage::result(&lost, "the result of a call that was cut away"),
        PromptMessage::calls("", vec![lost.clone(), other.clone()]),
        PromptMessage::plain(Role::User, "Signal from ben-1: odd news"),
        PromptMessage::result(&other, "late"),
        PromptMessage::plain(Role::Assistant, ""),
        PromptMessage::plain(Role::User, "Progress check: odd?"),
    ];
    assert_eq!(mock.ask(vendor, request).reply().text, "Understood all the same.");
    let understood = mock.last_understood();
    let roles: Vec<_> = understood["messages"].as_array().into_iter().flatten().map(|m| m["role"].clone()).collect();
    assert!(
        roles.starts_with(&[
            json!("system"),
            json!("user"),
            json!("assistant"),
            json!("tool"),
            json!("tool"),
            json!("user")
        ]),
        "{understood}"
    );
}

/// Anthropic's thinking is sent back unchanged before the calls, with its signature; the reasoning of OpenAI-compatible
/// vendors is sent back in their format; other vendors get none.
fn reasoning(vendor: &str) {
    let mock = mock();
    let first = request("think");
    let thinks = mock.ask(vendor, first.clone()).reply();
    let blocks = thinks.tool_calls[0].reasoning.as_ref().map(|reasoning| reasoning.blocks.clone()).unwrap_or_default();
    assert!(thinks.tool_calls[1].reasoning.is_none(), "the reasoning belongs to the first call");
    let ends = mock.ask(vendor, after(first, &thinks, &["# A", "# B"])).reply();
    assert_eq!(ends.text, "Thought through.");
    let sent = mock.last_sent();
    match vendor {
        "anthropic" => {
            let content = &sent["messages"][1]["content"];
            let thought = content.as_array().into_iter().flatten().filter(|block| block["type"] != "tool_use");
            let thought: Vec<_> = thought.cloned().collect();
            let signed = json!({ "type": "thinking", "thinking": "Both files matter.", "signature": "c2lnbmVk" });
            let sealed = json!({ "type": "redacted_thinking", "data": "c2VhbGVk" });
            assert!(thought.contains(&signed) && thought.contains(&sealed) && thought.len() == 2, "{sent}");
            assert_eq!(content[2]["type"], "tool_use", "{sent}");
        }
        "openai" => {
            assert_eq!(blocks, [ReasoningBlock::Plain { text: "Both files matter.".into() }]);
            assert_eq!(sent["messages"][2]["reasoning_content"], "Both files matter.");
        }
        _ => assert!(blocks.is_empty() && !sent.to_string().contains("Both files matter"), "{sent}"),
    }
}

/// Gemini's signatures and ids of calls are sent back unchanged. A turn of another vendor gets the placeholder
/// signature that Gemini documents.
fn gemini_signatures() {
    let received: Arc<Mutex<Vec<Value>>> = Arc::default();
    let bodies = received.clone();
    let server = Server::start(move |stream, request, number| {
        let body = request.split_once("{").map_or(String::new(), |(_, body)| format!("{{{body}"));
        bodies.lock().expect("the lock is not poisoned").push(serde_json::from_str(&body).unwrap_or_default());
        let call = |id: &str, path: &str| json!({ "id": id, "name": "vfs_read", "args": { "path": path } });
        let parts = if number == 0 {
            json!([{ "functionCall": call("g-1", "a.md"), "thoughtSignature": "c2lnbmVk" }, { "functionCall": call("g-2", "b.md") }])
        } else {
            json!([{ "text": "done" }])
        };
        let usage = json!({ "promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7 });
        let end = json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }],
                          "usageMetadata": usage });
        drop(stream.write_all(format!("{STREAM_HEAD}data: {end}\r\n\r\n").as_bytes()));
    });
    let mut first = request("go");
    first.model = "gemini-3-pro-preview".to_owned();
    let settings = GatewaySettings { max_attempts: 1, ..short_timeouts() };
    let reply = model_requests::ask_request("gemini", &server.url, first.clone(), &settings).reply();
    let next = after(first.clone(), &reply, &["# A", "# B"]);
    assert_eq!(model_requests::ask_request("gemini", &server.url, next, &settings).reply().text, "done");
    let unsigned = Completion { tool_calls: vec![ToolCall::new("c-1", "vfs_read", json!({}))], ..reply };
    assert_eq!(
        model_requests::ask_request("gemini", &server.url, after(first, &unsigned, &["# A"]), &settings).reply().text,
        "done"
    );
    let received = received.lock().expect("the lock is not poisoned");
    let call = |id: &str, path: &str| json!({ "id": id, "name": "vfs_read", "args": { "path": path } });
    assert_eq!(
        received[1]["contents"][1]["parts"],
        json!([{ "functionCall": call("g-1", "a.md"), "thoughtSignature": "c2lnbmVk" }, { "functionCall": call("g-2", "b.md") }])
    );
    assert_eq!(received[1]["contents"][2]["parts"][1]["functionResponse"]["id"], "g-2");
    assert_eq!(received[2]["contents"][1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
}

/// Gemini reports the retry delay only in the error body.
fn gemini_retry_delay() {
    let delay = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41s" });
    let body = json!([{ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "details": [delay] } }]).to_string();
    let server = Server::saying(vec![crate::hostile_server::status("429 Too Many Requests", "", &body)]);
    let failure = model_requests::ask_request("gemini", &server.url, request("go"), &short_timeouts()).failure();
    assert_eq!((failure.kind, failure.retry_after_secs), (FailureKind::RateLimited, Some(41.0)));
    assert_eq!(server.seen(), 1, "the gateway leaves a long delay to its caller");
}

/// Lists the tests of this file, most of them once for each vendor.
pub fn trials(ignored: bool) -> Vec<Trial> {
    let tests: [(&str, fn(&str)); 7] = [
        ("tools_conversation", conversation),
        ("tools_early_call", early_call),
        ("tools_cut", cut),
        ("tools_rate_limited_once", rate_limited_once),
        ("tools_malformed_arguments", malformed_arguments),
        ("tools_unusual_histories", unusual_histories),
        ("tools_reasoning", reasoning),
    ];
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
    for (name, test) in [("signatures", gemini_signatures as fn()), ("delay", gemini_retry_delay)] {
        trials.push(Trial::test(format!("vendors::gemini::{name}"), move || {
            test();
            Ok(())
        }));
    }
    trials
}
