//! Parameters that are sent with prompts.

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
    cases![stop_sequences_and_reasoning_effort_are_sent_to_models_that_accept_them]
}

/// Sends a request in OpenAI's format. Returns its body.
fn sent_body(request: ProviderRequest) -> Value {
    let received = Arc::new(Mutex::new(String::new()));
    let recorder = received.clone();
    let server = Server::start(move |stream, request, _| {
        *recorder.lock().unwrap() = request.to_owned();
        stream_of(&[text_event("Fine."), end_event("stop")]).iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    assert_eq!(ask_request("openai", &server.url, request, &short_timeouts()).reply().text, "Fine.");
    let request = received.lock().unwrap().clone();
    let body = &request[request.find('{').unwrap_or(0)..];
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {request}"))
}

fn stop_sequences_and_reasoning_effort_are_sent_to_models_that_accept_them() {
    let request = |model: &str, kind| ProviderRequest {
        model: model.to_owned(),
        kind,
        stops: vec!["\nBob:".to_owned()],
        ..model_requests::request("Who counts?")
    };
    let plain = sent_body(request("gpt-4o-mini", CallKind::Conversation));
    assert_eq!((&plain["stop"], &plain["reasoning_effort"]), (&json!(["\nBob:"]), &Value::Null));
    let reasoning = sent_body(request("gpt-5-mini", CallKind::Conversation));
    assert_eq!((&reasoning["stop"], &reasoning["reasoning_effort"]), (&Value::Null, &json!("low")));
    assert_eq!(
        sent_body(request("gpt-5-mini", CallKind::Task))["reasoning_effort"],
        Value::Null,
        "work has no limit on reasoning"
    );
}
