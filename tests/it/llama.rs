//! A real but tiny model behind a real server: llama.cpp.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_workshop::base::RequestId;
use agent_workshop::gateway::messages::{GatewayCommand, GatewayEvent};
use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::gateway::{self, LiveText, RequestQueue};
use agent_workshop::kernel::KernelCommand;
use agent_workshop::learning::Lessons;
use agent_workshop::mind::{FailureKind, Finish};
use agent_workshop::orchestration::workflow::{RunStatus, WorkflowCommand, WorkflowRuns};
use agent_workshop::schedule::InputQueue;
use agent_workshop::simulation::{ConversationCommand, TaskCommand};
use libtest_mimic::Trial;

use crate::model_requests;
use crate::peers::{self, Peer};
use crate::working::Studio;
use crate::workshop::{Setup, Workshop};

/// Allows one model at a time: each uses all cores, and two would slow each other beyond every time limit.
static ONE_MODEL: Mutex<()> = Mutex::new(());

/// Starts a server with the model, which no other test can use at the same time.
fn start_model() -> (MutexGuard<'static, ()>, Peer) {
    let turn = ONE_MODEL.lock().unwrap_or_else(PoisonError::into_inner);
    (turn, peers::start_llama().expect("the server starts"))
}

/// Returns settings with long time limits, because the machine may be busy.
fn long_timeouts() -> GatewaySettings {
    GatewaySettings { stall_timeout_secs: 50.0, ..GatewaySettings::default() }
}

/// Text arrives while it is generated, followed by the usage, in both formats that the server supports.
fn text_is_streamed() {
    let (_turn, peer) = start_model();
    for vendor in ["openai", "anthropic"] {
        let asked = model_requests::ask(vendor, &peer.url, "Say hello to the workshop.", &long_timeouts());
        assert!(asked.pieces > 1, "{vendor}: {} pieces", asked.pieces);
        let live = asked.live.clone();
        let reply = asked.reply();
        assert!(!reply.text.trim().is_empty() && reply.text.starts_with(&live), "{vendor}: {reply:?}");
        assert!(matches!(reply.finish, Finish::Stop | Finish::Length));
        assert!(reply.usage.input_tokens > 5 && (1..=64).contains(&reply.usage.output_tokens), "{:?}", reply.usage);
    }
}

/// After a cancellation, the server, which has only one slot, is free for the next request.
fn a_request_is_cancelled() {
    let (_turn, peer) = start_model();
    let worker = model_requests::worker();
    worker
        .send(model_requests::command(1, "openai", &peer.url, "Count to a thousand.", &long_timeouts()))
        .expect("the queue has room");
    while !matches!(worker.next(Duration::from_secs(60)), Some(GatewayEvent::Delta { .. })) {}
    worker.send(GatewayCommand::Cancel { id: RequestId(1) }).expect("the queue has room");
    assert_eq!(model_requests::wait_for_reply(&worker).failure().kind, FailureKind::Cancelled);
    worker
        .send(model_requests::command(2, "openai", &peer.url, "Say hello.", &long_timeouts()))
        .expect("the queue has room");
    assert!(!model_requests::wait_for_reply(&worker).reply().text.is_empty());
}

/// A test from the window returns a short text of a real model and its usage.
fn a_provider_is_tested() {
    let (_turn, peer) = start_model();
    let workshop = model_requests::room_of("openai", &peer.url);
    let tried = model_requests::try_provider(&workshop, "openai:tiny");
    let reply = tried.outcome.expect("the model answers");
    assert!(!reply.text.trim().is_empty() && tried.used.tokens > 5, "{reply:?} {:?}", tried.used);
}

/// Runs the room in real time until a condition holds.
fn run_until(room: &mut Workshop, what: &str, condition: impl Fn(&mut Workshop) -> bool) {
    let began = Instant::now();
    while !condition(room) {
        gateway::wait_for_reply(room.world(), Duration::from_millis(10));
        room.tick();
        let is_late = began.elapsed() > Duration::from_secs(120);
        assert!(!is_late, "{what} did not happen; the newest events: {:#?}", newest_events(room));
    }
}

/// Returns the first event that ended work, except for stops by a person.
fn first_ending(room: &Workshop) -> Option<&serde_json::Value> {
    let stopped = room.events("abort").into_iter().filter(|event| event["data"]["by_person"] == false);
    room.events("complete").into_iter().chain(room.events("error")).chain(stopped).next()
}

/// Returns the newest events, except for changes of state.
fn newest_events(room: &Workshop) -> Vec<&serde_json::Value> {
    room.log().iter().rev().filter(|event| event["type"] != "state").take(8).collect()
}

fn is_streaming(room: &mut Workshop) -> bool {
    room.world().resource::<LiveText>().iter().any(|(_, text)| !text.trim().is_empty())
}

/// Work with a real model is streamed, stopped in the middle, paused before it starts, and resumed.
fn work_is_stopped_paused_and_resumed() {
    let (_turn, peer) = start_model();
    let settings = format!(
        "gateway:\n  provider: openai\n  base_urls: {{ openai: \"{}\" }}\n  stall_timeout_secs: 50\nmind: {{ max_work_output_tokens: 120 }}\n",
        peer.url
    );
    let scene = "agents: [ { id: ada, profile: ada, position: [0, 0], behaviour: stationary } ]\n";
    let profile = "---\ntools: []\n---\nYou answer in plain words.\n";
    let mut room = Setup::scene(scene).file("settings.yaml", &settings).file("agents/ada.md", profile).open();
    let task = |text: &str| TaskCommand { agent: "ada".into(), text: text.into() };
    room.advance(0.2);
    room.push(task("Tell a long story about a lighthouse."));
    run_until(&mut room, "the first words", is_streaming);
    room.push(KernelCommand::KillAll);
    run_until(&mut room, "the stop", |room| !room.events("abort").is_empty());
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "no call is in flight");
    room.push(task("Say hello to the workshop."));
    room.advance(2.0);
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "all work is paused after a stop");
    room.push(KernelCommand::Resume);
    run_until(&mut room, "words again", is_streaming);
    run_until(&mut room, "the end", |room| first_ending(room).is_some());
    let first_ending = first_ending(&room).expect("it was just found").clone();
    if first_ending["type"] == "complete" {
        assert!(!first_ending["data"]["text"].as_str().unwrap_or_default().trim().is_empty(), "{first_ending}");
    } else {
        // A model this small sometimes talks until it is cut off, and again after each reminder.
        let what = first_ending["data"]["what"].as_str().unwrap_or_default();
        let (repeats, is_cut) = (what.contains("without progress"), what.contains("mind.max_work_output_tokens"));
        assert!(repeats || is_cut, "{first_ending}");
    }
    assert!(first_ending["data"]["tokens"].as_u64().unwrap_or_default() > 10, "{first_ending}");
}

/// In a workflow of two steps with a real model, the prompt of the second contains the output of the first.
fn a_workflow_is_completed() {
    let (_turn, peer) = start_model();
    let settings = format!(
        "gateway:\n  provider: openai\n  base_urls: {{ openai: \"{}\" }}\n  stall_timeout_secs: 50\nmind: {{ max_work_output_tokens: 80 }}\n",
        peer.url
    );
    let workflow = "---\nname: Pair\nsteps:\n  - { id: first, agent: ada, prompt: Name one colour in one word. }\n  \
        - { id: second, agent: ada, depends_on: [first], prompt: \"Say this again, in one word: {first.result}\" }\n---\n";
    let scene = "agents: [ { id: ada, profile: ada, position: [0, 0], behaviour: stationary } ]\n";
    let profile = "---\ntools: []\n---\nYou answer in one word.\n";
    let mut room = Setup::scene(scene)
        .file("settings.yaml", &settings)
        .file("agents/ada.md", profile)
        .file("workflows/pair.md", workflow)
        .open();
    room.push(WorkflowCommand::Start { workflow: "workflows/pair.md".into(), variables: BTreeMap::new() });
    let newest = |room: &mut Workshop| room.world().resource::<WorkflowRuns>().iter().last().cloned();
    run_until(&mut room, "the end of the workflow", |room| newest(room).is_some_and(|run| !run.is_running()));
    let run = newest(&mut room).expect("it was just found");
    let results: Vec<&str> =
        room.events("complete").iter().filter_map(|event| event["data"]["text"].as_str()).collect();
    if run.status == RunStatus::Done {
        assert_eq!(results.len(), 2, "{results:?}");
        let asked = room.events("activation")[1]["data"]["task"].as_str().unwrap_or_default();
        assert!(asked.contains(results[0].trim()), "{asked}");
        assert_eq!(run.result_text().trim(), results[1].trim());
    } else {
        // A model this small sometimes talks until it is cut off; then the step reports that.
        let why: Vec<&str> = run.steps.iter().map(|step| step.why.as_str()).filter(|why| !why.is_empty()).collect();
        let is_cut = |why: &&str| why.contains("without progress") || why.contains("mind.max_work_output_tokens");
        assert!(why.iter().any(is_cut), "{why:?}");
    }
}

/// Two agents talk with a real model and reflect on the conversation: both requests are made, and the answers become
/// memories in their files, are reported as unusable, or are empty.
fn a_conversation_is_learned_from() {
    let (_turn, peer) = start_model();
    let settings = format!(
        "gateway:\n  provider: openai\n  base_urls: {{ openai: \"{}\" }}\n  stall_timeout_secs: 50\nmind: {{ max_output_tokens: 60 }}\n\
         knowledge: {{ min_conversation_chars: 1 }}\n",
        peer.url
    );
    let scene = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n  - { id: bob, profile: ada, position: [60, 0] }\n";
    let shared = "- Port 8080 is taken by the proxy. <!-- k-1 -->\n";
    let files = [
        ("scenes/test.yaml", scene),
        ("settings.yaml", settings.as_str()),
        ("agents/ada.md", "You answer in one short sentence.\n"),
        ("memory/knowledge/shared.md", shared),
    ];
    let mut studio = Studio::with_provider("openai:tiny".to_owned(), &files);
    let topic = "Port 8080 is taken by the proxy, so the preview starts on port 8199.".to_owned();
    let talk = ConversationCommand::Start { participants: vec!["ada".into(), "bob".into()], topic };
    studio.world().resource_mut::<InputQueue<ConversationCommand>>().push(talk);
    let learning_agents = |studio: &Studio| -> BTreeSet<String> {
        let calls = studio.all("model_call");
        let calls = calls.iter().filter(|event| event["data"]["kind"] == "learning");
        calls.map(|event| event["agent"].as_str().unwrap_or("").to_owned()).collect()
    };
    // One after the other, because each may take long on a busy machine.
    studio.until("one agent has learned", |studio| !learning_agents(studio).is_empty());
    studio.until("the other agent has learned", |studio| learning_agents(studio).len() == 2);
    // Nothing is logged if a model finds nothing worth remembering, which a model this small may do.
    studio.until("all lessons were processed", |studio| studio.world().resource::<Lessons>().is_empty());
    let added: Vec<(String, String)> = studio
        .all("knowledge")
        .iter()
        .filter(|event| event["data"]["change"] == "added")
        .map(|event| {
            (event["agent"].as_str().unwrap_or("").to_owned(), event["data"]["id"].as_str().unwrap_or("").to_owned())
        })
        .collect();
    studio.close();
    for (agent, id) in added {
        let own = studio.read(&format!("memory/knowledge/{agent}.md"));
        assert_eq!(own.matches(&id).count(), 1, "{own}");
    }
    assert!(studio.read("memory/knowledge/shared.md").contains(shared), "shared memories are not changed");
}

/// Lists the tests of this file.
pub fn trials() -> Vec<Trial> {
    let ignored = peers::is_ignored("llama::*", peers::llama().err());
    let tests: [(&str, fn()); 6] = [
        ("text_is_streamed", text_is_streamed),
        ("a_request_is_cancelled", a_request_is_cancelled),
        ("a_provider_is_tested", a_provider_is_tested),
        ("work_is_stopped_paused_and_resumed", work_is_stopped_paused_and_resumed),
        ("a_workflow_is_completed", a_workflow_is_completed),
        ("a_conversation_is_learned_from", a_conversation_is_learned_from),
    ];
    let named = |(name, test): (&str, fn())| {
        let trial = Trial::test(format!("llama::{name}"), move || {
            test();
            Ok(())
        });
        trial.with_ignored_flag(ignored)
    };
    tests.into_iter().map(named).collect()
}
