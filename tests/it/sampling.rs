//! MCP servers that call a model during a tool call (sampling): only with a person's permission, within the calling
//! agent's budget, and stopped together with its work.

use std::process::Command;
use std::time::Instant;

use agent_workshop::agent::{McpServer, mcp_server};
use agent_workshop::gateway::{GatewayEnvironment, RequestQueue};
use agent_workshop::kernel::KernelCommand;
use agent_workshop::mind::CallKind;
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::PATIENCE;
use crate::servers::{TestWorkspace, files, is_gone, results, script};
use crate::workshop::Workshop;

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        an_allowed_server_gets_answers_from_its_agents_model,
        a_run_with_sampling_replays_without_server_and_model,
        sampling_is_sequential_and_limited_per_call,
        sampling_counts_towards_the_agents_budget,
        a_model_failure_is_reported_to_the_server_without_details,
        stopping_work_stops_sampling,
        sampling_ends_if_the_server_stops_waiting,
        adding_sampling_needs_a_new_permission,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the sampling tests", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// Settings that allow the server and turn off learning, so that models are called only for the work.
const ALLOWED: &str = "gate:\n  mcp: { \"mcp:odd:*\": allow }\nknowledge: { learns_from_work: false }\n";

/// Returns the mock server with permission to call models.
fn sampling_server(mode: &str) -> McpServer {
    let defined = json!({ "odd": {
        "command": "python3", "args": [script(), mode], "network": true, "sampling": true,
    } });
    mcp_server::read(&defined).defined().next().expect("a server is defined")
}

/// Returns a script in which the agent calls this tool of the server; `turns` are the model's answers to the server,
/// one per line.
fn script_of(tool: &str, arguments: &str, turns: &str) -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {{ name: mcp__odd__{tool}, arguments: {arguments} }} ]\n    \
         - text: It is done.\n{turns}"
    )
}

/// Opens a room whose agent calls the server, which may call models.
fn room(workspace: &TestWorkspace, settings: &str, script_of_model: &str) -> Workshop {
    workspace.allow(&sampling_server("asks"));
    let mut room = files("asks", ", sampling: true", settings, script_of_model).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "Let it ask.".into() });
    room
}

fn sampling_calls(room: &Workshop) -> Vec<&Value> {
    room.events("model_call").into_iter().filter(|call| call["data"]["kind"] == "sampling").collect()
}

fn result(room: &Workshop) -> String {
    results(room)[0]["text"].as_str().unwrap_or_default().to_owned()
}

const TWICE: &str = "    - { when: { kind: sampling, contains: \"say yes, 0\" }, text: Yes. }\n    \
                     - { when: { kind: sampling, contains: \"say yes, 1\" }, text: Yes again. }\n";

fn an_allowed_server_gets_answers_from_its_agents_model() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{ times: 2 }", TWICE));
    room.until(120.0, "complete", |_| true);
    let text = result(&room);
    assert!(text.contains("s0 scripted endTurn: Yes.\ns1 scripted endTurn: Yes again."), "{text}");
    let call = room.events("tool_call")[0]["seq"].clone();
    let calls_made = sampling_calls(&room);
    assert_eq!(calls_made.len(), 2);
    for one in &calls_made {
        assert_eq!((&one["cause"], &one["agent"]), (&call, &json!("lead")), "the tool call is the cause: {one}");
        assert!(one["activation"].is_string() && one["data"]["tokens_in"].as_u64() > Some(0), "{one}");
    }
    let used = room.world().resource::<RequestQueue>().ledger().clone();
    assert_eq!(used.kinds()[&CallKind::Sampling].calls, 2);
    let calls = &room.events("complete")[0]["data"]["calls"];
    assert_eq!(*calls, 4, "two calls of the agent and two for the server");
    drop(room);
    assert!(is_gone("asks"));
}

fn a_run_with_sampling_replays_without_server_and_model() {
    let workspace = TestWorkspace::new();
    let mut live = room(&workspace, ALLOWED, &script_of("sample", "{ times: 2 }", TWICE));
    live.until(120.0, "complete", |_| true);
    let again = live.replayed();
    assert_eq!(results(&again), results(&live));
    assert_eq!(sampling_calls(&again).len(), 2);
}

fn sampling_is_sequential_and_limited_per_call() {
    let workspace = TestWorkspace::new();
    let turn = "    - { when: { kind: sampling }, text: Yes., latency: 3, repeat: true }\n";
    let mut both = room(&workspace, ALLOWED, &script_of("at_once", "{}", turn));
    both.until(120.0, "complete", |_| true);
    let text = result(&both);
    assert!(text.contains("refused -1: the answer to another question is still to come"), "{text}");
    assert_eq!((text.matches("endTurn: Yes.").count(), sampling_calls(&both).len()), (1, 1), "{text}");
    drop(both);
    let few = format!("{ALLOWED}mcp: {{ max_samples: 2 }}\n");
    let mut many = room(&workspace, &few, &script_of("sample", "{ times: 4 }", turn));
    many.until(120.0, "complete", |_| true);
    let text = result(&many);
    assert_eq!((text.matches("endTurn").count(), sampling_calls(&many).len()), (2, 2), "{text}");
    assert_eq!(text.matches("refused -1: a model is asked at most 2 times in one call").count(), 2, "{text}");
}

fn sampling_counts_towards_the_agents_budget() {
    let workspace = TestWorkspace::new();
    let capped = format!("{ALLOWED}budget: {{ calls_per_activation: 2 }}\n");
    let mut room = room(&workspace, &capped, &script_of("sample", "{ times: 2 }", TWICE));
    room.until(120.0, "abort", |_| true);
    let text = result(&room);
    assert!(text.contains("s0 scripted endTurn: Yes."), "{text}");
    assert!(text.contains("s1 refused -1: the budget for models is used up"), "{text}");
    assert!(!text.contains("calls_per_activation"), "the server does not learn the limit: {text}");
    let warned = room.events("warning");
    assert!(warned.iter().any(|one| one["data"]["what"].to_string().contains("calls_per_activation")), "{warned:#?}");
    assert_eq!(sampling_calls(&room).iter().filter(|call| call["data"]["error"].is_null()).count(), 1);
}

fn a_model_failure_is_reported_to_the_server_without_details() {
    let workspace = TestWorkspace::new();
    let fails = "    - { when: { kind: sampling }, error: { status: 400, message: the secret prompt } }\n";
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{}", fails));
    room.until(300.0, "complete", |_| true);
    let text = result(&room);
    assert!(text.contains("refused -1: the model did not answer") && !text.contains("secret"), "{text}");
}

/// Runs until a model is called for the server.
fn run_until_model_called(room: &mut Workshop) {
    let until = Instant::now() + PATIENCE;
    let is_asked = |room: &mut Workshop| {
        let calls = room.events("tool_call").len();
        calls > 0 && room.world().resource::<RequestQueue>().in_flight() > 0
    };
    while !is_asked(room) {
        assert!(Instant::now() < until, "no model is called: {:#?}", room.log());
        room.tick();
    }
}

const SLOW: &str = "    - { when: { kind: sampling }, text: Yes., latency: 3000 }\n";

fn stopping_work_stops_sampling() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{}", SLOW));
    run_until_model_called(&mut room);
    room.push(KernelCommand::KillAll);
    room.until(60.0, "abort", |_| true);
    let noted = workspace.folder.path().join("artifacts/noted.txt");
    let until = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&noted).unwrap_or_default().is_empty() && Instant::now() < until {
        room.tick();
    }
    assert_eq!(std::fs::read_to_string(&noted).unwrap_or_default(), "cancelled\n", "the server is notified");
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "no call is in flight");
    drop(room);
    assert!(is_gone("asks"));
}

fn sampling_ends_if_the_server_stops_waiting() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("leave", "{}", SLOW));
    room.until(120.0, "complete", |_| true);
    assert!(result(&room).contains("left"), "{}", result(&room));
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "no call is in flight");
    let unexpected = room.events("warning").into_iter().filter(|one| one["data"]["what"].to_string().contains("reply"));
    assert_eq!(unexpected.count(), 0);
}

fn adding_sampling_needs_a_new_permission() {
    let workspace = TestWorkspace::new();
    workspace.allow(&crate::servers::mock_server("asks"));
    let mut room = files("asks", ", sampling: true", ALLOWED, &script_of("sample", "{}", TWICE)).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "Let it ask.".into() });
    room.until(120.0, "complete", |_| true);
    assert!(sampling_calls(&room).is_empty());
    assert!(!result(&room).contains("endTurn"), "{}", result(&room));
}
