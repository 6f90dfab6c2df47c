//! Prompt caching: requests start with stable prefixes, and the prefixes are marked where the vendor needs that.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::mind::{Prompt, PromptMessage, PromptOrigin, PromptPart, Role, ToolCall, ToolDeclaration};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::hostile_server::{Server, status};
use crate::model_requests::{self, short_timeouts};

pub fn trials() -> Vec<Trial> {
    cases![
        continued_work_is_read_from_the_cache,
        changing_parts_follow_the_cache_mark,
        only_vendors_that_need_cache_marks_get_them,
    ]
}

/// The bodies of the requests that were sent.
type Sent = Arc<Mutex<Vec<Value>>>;

/// Starts a server that records requests and refuses them.
fn recording_server() -> (Server, Sent) {
    let sent = Sent::default();
    let notes = sent.clone();
    let server = Server::start(move |stream, request, _| {
        let body = request.split_once("{").map(|(_, body)| format!("{{{body}")).unwrap_or_default();
        notes.lock().unwrap().push(serde_json::from_str(&body).unwrap_or(Value::Null));
        drop(stream.write_all(&status("400 Bad Request", "", "no")));
    });
    (server, sent)
}

/// Sends requests to a provider. Returns the bodies that were sent.
pub fn sent_to(provider: &str, requests: impl IntoIterator<Item = ProviderRequest>) -> Vec<Value> {
    let (server, sent) = recording_server();
    let settings = GatewaySettings { max_attempts: 1, ..short_timeouts() };
    for request in requests {
        model_requests::ask_request(provider, &server.url, request, &settings).failure();
    }
    let sent = sent.lock().unwrap();
    sent.clone()
}

/// Returns a request with this stable and changing part of the system text, this history and this moment.
fn request_with(stable: &str, changing: &str, history: Vec<PromptMessage>, moment: Option<&str>) -> ProviderRequest {
    let part = |text: &&str| PromptPart::new(PromptOrigin::of("system"), *text);
    let prompt = Prompt {
        system: [stable, changing].iter().filter(|text| !text.is_empty()).map(part).collect(),
        stable_parts: usize::from(!stable.is_empty()),
        history,
        moment: moment.unwrap_or_default().to_owned(),
        ..Prompt::default()
    };
    let tool = |name: &str| ToolDeclaration {
        name: name.into(),
        description: "Does something.".into(),
        parameters: json!({ "type": "object" }).into(),
    };
    ProviderRequest { prompt, tools: vec![tool("look"), tool("write")], ..model_requests::request("") }
}

/// Returns the history of work after this many turns.
fn work_history(turns: usize) -> Vec<PromptMessage> {
    let mut history = vec![PromptMessage::plain(Role::User, "Your task: look at everything.")];
    for turn in 0..turns {
        let call = ToolCall::new(format!("c{turn}"), "look", json!({ "path": format!("{turn}.md") }));
        history.push(PromptMessage::calls("I look.", vec![call.clone()]));
        history.push(PromptMessage::result(&call, "There is much to be seen here. ".repeat(20)));
    }
    history
}

/// Returns the blocks of a request in caching order, and the numbers of blocks that precede each mark.
fn blocks(sent: &Value) -> (Vec<String>, Vec<usize>) {
    let (mut blocks, mut marks) = (Vec::new(), Vec::new());
    let mut add = |place: &str, block: &Value| {
        let mut block = block.clone();
        let is_marked = block.as_object_mut().is_some_and(|keys| keys.remove("cache_control").is_some());
        // A text without a mark may be sent without a block around it.
        let block = block.as_str().map_or(block.clone(), |text| json!({ "type": "text", "text": text }));
        blocks.push(format!("{place} {block}"));
        if is_marked {
            marks.push(blocks.len());
        }
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    list(&sent["tools"]).iter().for_each(|tool| add("tool", tool));
    list(&sent["system"]).iter().for_each(|block| add("system", block));
    for message in list(&sent["messages"]) {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        list(&message["content"]).iter().for_each(|block| add(&role, block));
    }
    (blocks, marks)
}

/// Returns, for every request, the percentage of its length that an earlier one has cached.
fn read_from_cache(sent: &[Value]) -> Vec<usize> {
    let mut cached: BTreeSet<String> = BTreeSet::new();
    let mut shares = Vec::new();
    for request in sent {
        let (blocks, marks) = blocks(request);
        let whole = blocks.concat().len();
        let prefixes: Vec<String> = (0..=blocks.len()).map(|count| blocks[..count].concat()).collect();
        let found = prefixes.iter().rev().find(|begin| cached.contains(*begin)).map_or(0, String::len);
        shares.push(100 * found / whole);
        cached.extend(marks.into_iter().map(|mark| prefixes[mark].clone()));
    }
    shares
}

fn continued_work_is_read_from_the_cache() {
    let rules = "Be kind to everyone in the room. ".repeat(20);
    let sent = sent_to("anthropic", (0..6).map(|turns| request_with(&rules, "", work_history(turns), None)));
    let shares = read_from_cache(&sent);
    assert_eq!(shares[0], 0, "the first request is not cached");
    assert!(shares[1..].iter().all(|share| *share >= 50), "{shares:?}");
    assert!(shares[3..].iter().all(|share| *share >= 75), "{shares:?}");
    for request in &sent {
        assert!((1..=4).contains(&blocks(request).1.len()), "a request has one to four marks: {request}");
    }
}

fn changing_parts_follow_the_cache_mark() {
    let rules = "Be kind to everyone in the room. ".repeat(20);
    let position = |turn: usize| format!("You stand at ({turn}, 3).");
    let talk = |turn| request_with(&rules, &position(turn), work_history(turn), Some("Your turn."));
    let shares = read_from_cache(&sent_to("anthropic", (1..4).map(talk)));
    assert!(shares[1..].iter().all(|share| *share > 15), "the rules are cached: {shares:?}");
    let sent =
        sent_to("anthropic", [talk(2), request_with("", "You stand there.", work_history(1), Some("Your turn."))]);
    let (all, marks) = blocks(&sent[0]);
    assert_eq!(marks.len(), 1, "there is no mark after the changing part: {}", sent[0]);
    assert!(all[marks[0] - 1].contains("Be kind") && all[marks[0]].contains("You stand at"), "{all:?}");
    let (all, marks) = blocks(&sent[1]);
    assert!(marks.len() == 1 && all[marks[0] - 1].starts_with("tool"), "at least the tools are cached: {}", sent[1]);
    // The moment differs in each request, so the mark is before it.
    let (all, marks) =
        blocks(&sent_to("anthropic", [request_with(&rules, "", work_history(1), Some("Your turn."))])[0]);
    assert!(all.last().is_some_and(|last| last.contains("Your turn.")) && marks.last() < Some(&all.len()), "{all:?}");
}

fn only_vendors_that_need_cache_marks_get_them() {
    let rules = "Be kind.";
    for provider in ["openai", "gemini", "ollama"] {
        let sent = sent_to(
            provider,
            (0..2).map(|turns| request_with(rules, "You stand there.", work_history(turns), Some("Now."))),
        );
        assert!(!format!("{sent:?}").contains("cache_control"), "{provider}: {sent:?}");
        let body = sent[1].to_string();
        assert!(body.contains("Be kind.\\n\\nYou stand there."), "{provider}: {body}");
    }
}
