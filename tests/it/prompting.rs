//! Prompts as they are sent: everything beside the words.

use std::io::Write;
use std::sync::{Arc, Mutex};

use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::mind::CallKind;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::hostile_server::{Server, end_event, stream_of, text_event};
use crate::model_requests::{self, ask_request, short_timeouts};

pub fn trials() -> Vec<Trial> {
    cases![a_model_is_told_where_to_stop_and_how_hard_to_think_where_it_takes_that]
}

/// The body of a request in OpenAI's format, as it was sent.
fn sent(request: ProviderRequest) -> Value {
    let seen = Arc::new(Mutex::new(String::new()));
    let heard = seen.clone();
    let server = Server::start(move |stream, request, _| {
        *heard.lock().unwrap() = request.to_owned();
        stream_of(&[text_event("Fine."), end_event("stop")]).iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    assert_eq!(ask_request("openai", &server.url, request, &short_timeouts()).reply().text, "Fine.");
    let request = seen.lock().unwrap().clone();
    let body = &request[request.find('{').unwrap_or(0)..];
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn a_model_is_told_where_to_stop_and_how_hard_to_think_where_it_takes_that() {
    let asked = |model: &str, kind| ProviderRequest {
        model: model.to_owned(),
        kind,
        stops: vec!["\nBob:".to_owned()],
        ..model_requests::request("Who counts?")
    };
    let plain = sent(asked("gpt-4o-mini", CallKind::Conversation));
    assert_eq!((&plain["stop"], &plain["reasoning_effort"]), (&json!(["\nBob:"]), &Value::Null));
    let thinks = sent(asked("gpt-5-mini", CallKind::Conversation));
    assert_eq!((&thinks["stop"], &thinks["reasoning_effort"]), (&Value::Null, &json!("low")));
    assert_eq!(sent(asked("gpt-5-mini", CallKind::Task))["reasoning_effort"], Value::Null, "work may take its time");
}
