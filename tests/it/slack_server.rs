//! A mock server with the parts of Slack's Web API and incoming webhooks that the program uses. Tests can make it fail
//! in various ways.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::hostile_server::{Server, status};

/// What the server does with a call instead of answering it correctly.
#[derive(Clone, Debug)]
pub enum Wrong {
    /// Sends these bytes.
    Says(Vec<u8>),
    /// Accepts the message and hangs up without an answer.
    TakesAndHangsUp,
    /// Accepts nothing and hangs up without an answer.
    HangsUp,
    /// Accepts the message and stays silent until the client disconnects.
    TakesAndIsSilent,
}

/// The server's messages, and what it has received.
#[derive(Default)]
pub struct State {
    /// Messages of the channel `C0000OPS1`, oldest first.
    pub messages: Vec<Value>,
    /// The posted messages, from the Web API and from the webhook.
    pub posted: Vec<Value>,
    /// Calls, as method and body.
    pub calls: Vec<(String, String)>,
    /// The tokens of the calls.
    pub tokens: Vec<String>,
    /// The failures that are still to come, with their methods.
    pub wrong: VecDeque<(&'static str, Wrong)>,
    /// The maximum number of messages per page.
    pub page: usize,
}

pub struct FakeSlack {
    server: Server,
    state: Arc<Mutex<State>>,
}

impl FakeSlack {
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State { page: 2, ..State::default() }));
        let server_state = state.clone();
        let server = Server::start(move |stream, request, _| answer(&server_state, stream, request));
        Self { server, state }
    }

    /// Returns the address of the Web API.
    pub fn api(&self) -> String {
        format!("{}slack/", self.server.url)
    }

    /// Returns the address of the webhook.
    pub fn webhook(&self) -> String {
        format!("{}services/T0/B0/verysecret", self.api())
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the number of posted messages.
    pub fn posts(&self) -> usize {
        self.state().posted.len()
    }

    /// Returns the number of received calls.
    pub fn asked(&self) -> usize {
        self.state().calls.len()
    }

    /// Adds a message of a user to the channel.
    pub fn say(&self, ts: &str, user: &str, text: &str) {
        self.state().messages.push(json!({ "type": "message", "ts": ts, "user": user, "text": text }));
    }

    /// Makes the next call of a method fail like this.
    pub fn wrong(&self, method: &'static str, wrong: Wrong) {
        self.state().wrong.push_back((method, wrong));
    }

    /// Returns how often a method was called.
    pub fn count(&self, method: &str) -> usize {
        self.state().calls.iter().filter(|(called, _)| called == method).count()
    }
}

fn answer(state: &Mutex<State>, stream: &mut TcpStream, request: &str) {
    let line = request.lines().next().unwrap_or_default();
    let path = line.split(' ').nth(1).unwrap_or_default();
    let method = path.rsplit('/').next().unwrap_or_default().to_owned();
    // `request` has no empty line after the head, so the body follows the last header.
    let body = request.rsplit("\r\n").next().unwrap_or_default().to_owned();
    let bearer = request
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("authorization: bearer ").map(str::to_owned));
    if !path.starts_with("/v1/slack/") {
        // The request was meant for a server that had this port before.
        return;
    }
    let mut state = state.lock().unwrap();
    state.calls.push((method.clone(), body.clone()));
    state.tokens.extend(bearer);
    let at = state.wrong.iter().position(|(wrong, _)| *wrong == method);
    let wrong = at.and_then(|at| state.wrong.remove(at)).map(|(_, wrong)| wrong);
    match wrong {
        Some(Wrong::Says(bytes)) => return drop(stream.write_all(&bytes)),
        Some(Wrong::HangsUp) => return,
        Some(Wrong::TakesAndHangsUp) => return drop(answer_correctly(&mut state, &method, &body)),
        Some(Wrong::TakesAndIsSilent) => {
            drop(answer_correctly(&mut state, &method, &body));
            drop(state);
            let mut byte = [0];
            // Returns when the client disconnects.
            let _ = std::io::Read::read(stream, &mut byte);
            return;
        }
        None => {}
    }
    let response = answer_correctly(&mut state, &method, &body);
    drop(state);
    // The client may be gone already.
    let _ = stream.write_all(&response);
}

fn answer_correctly(state: &mut State, method: &str, body: &str) -> Vec<u8> {
    if method == "verysecret" {
        let Ok(message) = serde_json::from_str::<Value>(body) else {
            return status("400 Bad Request", "", "invalid_payload");
        };
        if message["text"].as_str().unwrap_or_default().is_empty() {
            return status("400 Bad Request", "", "no_text");
        }
        state.posted.push(message);
        return status("200 OK", "content-type: text/html\r\n", "ok");
    }
    let form = |name: &str| {
        body.split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.to_owned())
    };
    let answer = match method {
        "auth.test" => {
            json!({ "ok": true, "team": "Acme", "user": "workshop", "user_id": "U0000BOT1", "bot_id": "B0000BOT1" })
        }
        "conversations.list" => {
            json!({ "ok": true, "channels": [{ "id": "C0000OPS1", "name": "ops" }], "response_metadata": { "next_cursor": "" } })
        }
        "users.info" => json!({ "ok": true, "user": { "name": "sarah", "profile": { "display_name": "Sarah" } } }),
        "users.list" => {
            json!({ "ok": true, "members": [{ "id": "U0000SAR1", "name": "sarah", "real_name": "Sarah Smith" }] })
        }
        "conversations.history" | "conversations.replies" => history(state, &form),
        "chat.postMessage" => match serde_json::from_str::<Value>(body) {
            Ok(message) => posted(state, message),
            Err(_) => json!({ "ok": false, "error": "invalid_arguments" }),
        },
        _ => json!({ "ok": false, "error": "unknown_method" }),
    };
    status("200 OK", "content-type: application/json; charset=utf-8\r\n", &answer.to_string())
}

fn history(state: &State, form: &dyn Fn(&str) -> Option<String>) -> Value {
    if form("channel").as_deref() != Some("C0000OPS1") {
        return json!({ "ok": false, "error": "channel_not_found" });
    }
    let number = |ts: &str| ts.parse::<f64>().unwrap_or_default();
    let oldest = form("oldest").map_or(0.0, |oldest| number(&oldest));
    let after = |message: &&Value| number(message["ts"].as_str().unwrap_or_default()) > oldest;
    let newest_first: Vec<Value> = state.messages.iter().filter(after).rev().cloned().collect();
    let from = form("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0_usize);
    let page: Vec<Value> = newest_first.iter().skip(from).take(state.page).cloned().collect();
    let next = from + page.len();
    let next = if next < newest_first.len() { next.to_string() } else { String::new() };
    json!({ "ok": true, "messages": page, "has_more": !next.is_empty(), "response_metadata": { "next_cursor": next } })
}

fn posted(state: &mut State, message: Value) -> Value {
    let channel = message["channel"].as_str().unwrap_or_default();
    if !matches!(channel, "#ops" | "C0000OPS1" | "U0000SAR1") {
        return json!({ "ok": false, "error": "channel_not_found" });
    }
    let ts = format!("9000000000.{:06}", state.posted.len() + 1);
    state.posted.push(message.clone());
    state.messages.push(json!({
        "type": "message", "ts": ts, "user": "U0000BOT1", "bot_id": "B0000BOT1", "text": message["text"], "metadata": message["metadata"],
    }));
    json!({ "ok": true, "channel": "C0000OPS1", "ts": ts })
}
