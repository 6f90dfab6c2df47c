//! MCP servers that call a model during a tool call: only with a person's permission, on the account of the calling
//! agent, and never while its work is on hold.

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
        a_server_that_may_is_answered_by_the_model_of_its_agent,
        what_a_server_asks_models_replays_without_both,
        a_server_asks_one_question_after_the_other_and_no_more_than_it_may,
        what_a_server_asks_counts_for_the_budget_of_its_agent,
        a_model_that_fails_is_told_to_the_server_in_few_words,
        what_a_person_stops_is_stopped_while_a_model_is_asked_for_a_server,
        a_server_that_does_not_wait_for_its_answer_is_not_paid_for_on,
        what_was_allowed_without_it_is_asked_about_again,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the cases of servers that ask models", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// Models are called only for the work here.
const ALLOWED: &str = "gate:\n  mcp: { \"mcp:odd:*\": allow }\nknowledge: { learns_from_work: false }\n";

/// The odd server, which may call models.
fn asking(mode: &str) -> McpServer {
    let defined = json!({ "odd": {
        "command": "python3", "args": [script(), mode], "network": true, "sampling": true,
    } });
    mcp_server::read(&defined).defined().next().expect("a server is defined")
}

/// A script in which the agent calls this tool of the server and then reports that it is done; `turns` are those for
/// the server, each on a line of its own.
fn script_of(tool: &str, arguments: &str, turns: &str) -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {{ name: mcp__odd__{tool}, arguments: {arguments} }} ]\n    \
         - text: It is done.\n{turns}"
    )
}

/// A room whose agent calls the server, which may call models.
fn room(workspace: &TestWorkspace, settings: &str, script_of_model: &str) -> Workshop {
    workspace.allow(&asking("asks"));
    let mut room = files("asks", ", sampling: true", settings, script_of_model).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "Let it ask.".into() });
    room
}

fn sampled(room: &Workshop) -> Vec<&Value> {
    room.events("model_call").into_iter().filter(|call| call["data"]["kind"] == "sampling").collect()
}

fn result(room: &Workshop) -> String {
    results(room)[0]["text"].as_str().unwrap_or_default().to_owned()
}

const TWICE: &str = "    - { when: { kind: sampling, contains: \"say yes, 0\" }, text: Yes. }\n    \
                     - { when: { kind: sampling, contains: \"say yes, 1\" }, text: Yes again. }\n";

fn a_server_that_may_is_answered_by_the_model_of_its_agent() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{ times: 2 }", TWICE));
    room.until(120.0, "complete", |_| true);
    let told = result(&room);
    assert!(told.contains("s0 scripted endTurn: Yes.\ns1 scripted endTurn: Yes again."), "{told}");
    let call = room.events("tool_call")[0]["seq"].clone();
    let asked = sampled(&room);
    assert_eq!(asked.len(), 2);
    for one in &asked {
        assert_eq!((&one["cause"], &one["agent"]), (&call, &json!("lead")), "it stands beneath the call: {one}");
        assert!(one["activation"].is_string() && one["data"]["tokens_in"].as_u64() > Some(0), "{one}");
    }
    let used = room.world().resource::<RequestQueue>().ledger().clone();
    assert_eq!(used.kinds()[&CallKind::Sampling].calls, 2);
    let calls = &room.events("complete")[0]["data"]["calls"];
    assert_eq!(*calls, 4, "two of the agent's own, two for the server");
    drop(room);
    assert!(is_gone("asks"));
}

fn what_a_server_asks_models_replays_without_both() {
    let workspace = TestWorkspace::new();
    let mut live = room(&workspace, ALLOWED, &script_of("sample", "{ times: 2 }", TWICE));
    live.until(120.0, "complete", |_| true);
    let again = live.replayed();
    assert_eq!(results(&again), results(&live));
    assert_eq!(sampled(&again).len(), 2);
}

fn a_server_asks_one_question_after_the_other_and_no_more_than_it_may() {
    let workspace = TestWorkspace::new();
    let turn = "    - { when: { kind: sampling }, text: Yes., latency: 3, repeat: true }\n";
    let mut both = room(&workspace, ALLOWED, &script_of("at_once", "{}", turn));
    both.until(120.0, "complete", |_| true);
    let told = result(&both);
    assert!(told.contains("refused -1: the answer to another question is still to come"), "{told}");
    assert_eq!((told.matches("endTurn: Yes.").count(), sampled(&both).len()), (1, 1), "{told}");
    drop(both);
    let few = format!("{ALLOWED}mcp: {{ samples_at_most: 2 }}\n");
    let mut many = room(&workspace, &few, &script_of("sample", "{ times: 4 }", turn));
    many.until(120.0, "complete", |_| true);
    let told = result(&many);
    assert_eq!((told.matches("endTurn").count(), sampled(&many).len()), (2, 2), "{told}");
    assert_eq!(told.matches("refused -1: a model is asked at most 2 times in one call").count(), 2, "{told}");
}

fn what_a_server_asks_counts_for_the_budget_of_its_agent() {
    let workspace = TestWorkspace::new();
    let capped = format!("{ALLOWED}budget: {{ calls_per_activation: 2 }}\n");
    let mut room = room(&workspace, &capped, &script_of("sample", "{ times: 2 }", TWICE));
    room.until(120.0, "abort", |_| true);
    let told = result(&room);
    assert!(told.contains("s0 scripted endTurn: Yes."), "{told}");
    assert!(told.contains("s1 refused -1: the budget for models is used up"), "{told}");
    assert!(!told.contains("calls_per_activation"), "limits are nothing for a server: {told}");
    let warned = room.events("warning");
    assert!(warned.iter().any(|one| one["data"]["what"].to_string().contains("calls_per_activation")), "{warned:#?}");
    assert_eq!(sampled(&room).iter().filter(|call| call["data"]["error"].is_null()).count(), 1);
}

fn a_model_that_fails_is_told_to_the_server_in_few_words() {
    let workspace = TestWorkspace::new();
    let fails = "    - { when: { kind: sampling }, error: { status: 400, message: the secret prompt } }\n";
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{}", fails));
    room.until(300.0, "complete", |_| true);
    let told = result(&room);
    assert!(told.contains("refused -1: the model did not answer") && !told.contains("secret"), "{told}");
}

/// Runs until a model is called for a server.
fn until_asked(room: &mut Workshop) {
    let until = Instant::now() + PATIENCE;
    let is_asked = |room: &mut Workshop| {
        let calls = room.events("tool_call").len();
        calls > 0 && room.world().resource::<RequestQueue>().in_flight() > 0
    };
    while !is_asked(room) {
        assert!(Instant::now() < until, "no model is asked: {:#?}", room.log());
        room.tick();
    }
}

const SLOW: &str = "    - { when: { kind: sampling }, text: Yes., latency: 3000 }\n";

fn what_a_person_stops_is_stopped_while_a_model_is_asked_for_a_server() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("sample", "{}", SLOW));
    until_asked(&mut room);
    room.push(KernelCommand::KillAll);
    room.until(60.0, "abort", |_| true);
    let noted = workspace.folder.path().join("artifacts/noted.txt");
    let until = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&noted).unwrap_or_default().is_empty() && Instant::now() < until {
        room.tick();
    }
    assert_eq!(std::fs::read_to_string(&noted).unwrap_or_default(), "cancelled\n", "the server hears of it");
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "nobody is asked any more");
    drop(room);
    assert!(is_gone("asks"));
}

fn a_server_that_does_not_wait_for_its_answer_is_not_paid_for_on() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, ALLOWED, &script_of("leave", "{}", SLOW));
    room.until(120.0, "complete", |_| true);
    assert!(result(&room).contains("left"), "{}", result(&room));
    assert_eq!(room.world().resource::<RequestQueue>().in_flight(), 0, "nobody is asked any more");
    let unasked = room.events("warning").into_iter().filter(|one| one["data"]["what"].to_string().contains("reply"));
    assert_eq!(unasked.count(), 0);
}

fn what_was_allowed_without_it_is_asked_about_again() {
    let workspace = TestWorkspace::new();
    workspace.allow(&crate::servers::mock_server("asks"));
    let mut room = files("asks", ", sampling: true", ALLOWED, &script_of("sample", "{}", TWICE)).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "Let it ask.".into() });
    room.until(120.0, "complete", |_| true);
    assert!(sampled(&room).is_empty());
    assert!(!result(&room).contains("endTurn"), "{}", result(&room));
}
