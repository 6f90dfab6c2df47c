//! Images in tool results: sent to models that accept them, in every vendor's wire format, and only mentioned to
//! others.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

use agent_workshop::gateway::GatewayEnvironment;
use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::mind::{AgentImage, Prompt, PromptMessage, Role, ToolCall};
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::caching::sent_to;
use crate::cases;
use crate::hostile_server::{Server, calls_event, end_event, status, stream_of, text_event};
use crate::model_requests;
use crate::peers::is_ignored;
use crate::servers::{LEAD, SCENE, TestWorkspace, mock_server, script};
use crate::vendors::VENDORS;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let mut all = cases![images_follow_their_results_in_every_vendors_format];
    let with_server = cases![
        a_model_that_accepts_images_gets_the_servers_image,
        a_model_without_known_image_support_gets_a_note_instead,
        a_model_that_refuses_images_is_called_again_without_them,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the tests of images from MCP servers", missing);
    all.extend(with_server.into_iter().map(|case| case.with_ignored_flag(ignored)));
    all
}

/// The start of a PNG image, as the mock server sends it.
const PNG: &str = "iVBORw0KGgo=";

fn images_follow_their_results_in_every_vendors_format() {
    let call = ToolCall::new("c1", "picture", json!({}));
    let image = AgentImage { media_type: "image/png".into(), base64: PNG.into() };
    let result = PromptMessage { images: vec![image], ..PromptMessage::result(&call, "[image: image/png, 1 KB]") };
    let history = vec![PromptMessage::plain(Role::User, "Look."), PromptMessage::calls("", vec![call]), result];
    for vendor in VENDORS {
        let prompt = Prompt::of_messages("You are a test.", history.clone());
        let sent = sent_to(vendor, [ProviderRequest { prompt, ..model_requests::request("") }])
            .pop()
            .expect("a request was sent");
        let messages = if vendor == "gemini" { &sent["contents"] } else { &sent["messages"] };
        let last = messages.as_array().and_then(|messages| messages.last()).expect("there are messages");
        assert_eq!(last["role"], "user", "{vendor}: {sent}");
        let (text, image, wanted) = match vendor {
            "openai" => {
                let url = format!("data:image/png;base64,{PNG}");
                let wanted = json!({ "type": "image_url", "image_url": { "url": url } });
                (&last["content"][0]["text"], &last["content"][1], wanted)
            }
            "anthropic" => {
                let source = json!({ "type": "base64", "media_type": "image/png", "data": PNG });
                (&last["content"][0]["text"], &last["content"][1], json!({ "type": "image", "source": source }))
            }
            "gemini" => {
                let wanted = json!({ "inline_data": { "mime_type": "image/png", "data": PNG } });
                (&last["parts"][0]["text"], &last["parts"][1], wanted)
            }
            _ => (&last["content"], &last["images"], json!([PNG])),
        };
        assert_eq!(*image, wanted, "{vendor}: {sent}");
        assert!(text.as_str().is_some_and(|text| text.ends_with("picture (image/png)")), "{vendor}: {sent}");
    }
}

/// The bodies of the requests that were sent.
type Sent = Arc<Mutex<Vec<Value>>>;

/// Runs a room whose agent uses this OpenAI model, which calls the tool that returns a picture. `refuses` makes the
/// model refuse images. Returns the room and the sent bodies.
fn room(workspace: &TestWorkspace, model: &str, refuses: bool) -> (Workshop, Sent) {
    let sent = Sent::default();
    let notes = sent.clone();
    let server = Server::start(move |stream, request, _| {
        let body = &request[request.find('{').unwrap_or(request.len())..];
        let body: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        notes.lock().unwrap().push(body.clone());
        if refuses && has_image(&body) {
            let error = json!({ "error": { "message": "this model does not take images" } });
            return drop(stream.write_all(&status("400 Bad Request", "", &error.to_string())));
        }
        let call = json!([{ "index": 0, "id": "c1", "function": { "name": "mcp__odd__picture", "arguments": "{}" } }]);
        let is_result = |message: &Value| message["role"] == "tool";
        let events = match body["messages"].as_array().is_some_and(|messages| messages.iter().any(is_result)) {
            false => [calls_event(call), end_event("tool_calls")],
            true => [text_event("I see."), end_event("stop")],
        };
        stream_of(&events).iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    workspace.allow(&mock_server("seen"));
    let settings = format!(
        "gateway:\n  provider: openai\n  model: {model}\n  base_urls: {{ openai: {:?} }}\n\
         mcp_servers:\n  odd: {{ command: python3, args: [{:?}, seen], network: true }}\n\
         gate:\n  mcp: {{ \"mcp:odd:*\": allow }}\nknowledge: {{ learns_from_work: false }}\n",
        server.url,
        script().display().to_string()
    );
    let mut room = Setup::scene(SCENE).profile("lead", LEAD).file("settings.yaml", &settings).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "What do you see?".into() });
    room.until(120.0, "complete", |_| true);
    (room, sent)
}

fn has_image(sent: &Value) -> bool {
    sent.to_string().contains("image_url")
}

fn a_model_that_accepts_images_gets_the_servers_image() {
    let workspace = TestWorkspace::new();
    let (mut live, sent) = room(&workspace, "gpt-4o-mini", false);
    let sent = sent.lock().unwrap().clone();
    assert_eq!(sent.iter().map(has_image).collect::<Vec<_>>(), [false, true], "{sent:#?}");
    assert!(sent[1].to_string().contains("[image: image/png, 1 KB]"), "{:#}", sent[1]);
    live.replayed();
}

fn a_model_without_known_image_support_gets_a_note_instead() {
    let workspace = TestWorkspace::new();
    let (_room, sent) = room(&workspace, "some-model", false);
    let sent = sent.lock().unwrap().clone();
    assert_eq!(sent.iter().map(has_image).collect::<Vec<_>>(), [false, false], "{sent:#?}");
    assert!(sent[1].to_string().contains("[image: image/png, 1 KB, not shown to this model]"), "{:#}", sent[1]);
}

fn a_model_that_refuses_images_is_called_again_without_them() {
    let workspace = TestWorkspace::new();
    let (room, sent) = room(&workspace, "gpt-4o-mini", true);
    let sent = sent.lock().unwrap().clone();
    assert_eq!(sent.iter().map(has_image).collect::<Vec<_>>(), [false, true, false], "{sent:#?}");
    let warned = room.events("warning");
    let is_retry_note = |event: &&Value| event["data"]["what"].to_string().contains("asked again without images");
    assert_eq!(warned.iter().filter(|event| is_retry_note(event)).count(), 1, "{warned:#?}");
}
