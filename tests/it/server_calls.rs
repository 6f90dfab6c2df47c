//! Concurrent calls of MCP servers: stopping them, questions during them, and changes of the server in the meantime.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use agent_workshop::gateway::mcp::{McpCommand, McpEvent, McpFault, McpReply, McpStatus};
use agent_workshop::gateway::{McpServerStatus, McpServers};
use agent_workshop::kernel::KernelCommand;
use agent_workshop::schedule::TICKS_PER_SEC;
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Map, Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::PATIENCE;
use crate::servers::{
    TestWorkspace, is_gone, mock_server, processes, results, room_with, run_in, script, script_of_a_call, terms, tool,
    workspace_on_disk,
};
use crate::servers_alone::ServersAlone;
use crate::workshop::Workshop;

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        a_stopped_call_ends_at_once_and_the_server_is_notified,
        calls_continue_while_the_tools_are_listed_again,
        a_server_that_keeps_changing_its_lists_is_polled_more_slowly,
        a_question_belongs_to_the_call_that_the_server_names,
        a_question_without_a_call_says_so_if_there_are_several,
        a_killed_server_is_reconnected_and_its_call_fails,
        a_server_that_does_not_start_is_retried_with_growing_delays,
        all_users_of_a_server_share_one_process,
        changes_to_every_kind_of_list_are_noticed,
        tools_added_during_a_session_can_be_called_until_removed,
        an_idle_server_is_ended_after_a_while,
        stopping_work_stops_a_call_in_progress,
        a_call_in_progress_at_a_kill_is_not_made_again,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the tests of MCP server calls", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// A pool with one MCP server.
struct ConnectedServer {
    servers: ServersAlone,
    mode: &'static str,
    workspace: TestWorkspace,
}

impl ConnectedServer {
    fn new(mode: &'static str) -> Self {
        let server = Self::of(mode);
        server.ready();
        server
    }

    /// Starts a pool that is still connecting to the server.
    fn of(mode: &'static str) -> Self {
        let workspace = TestWorkspace::new();
        workspace.allow(&mock_server(mode));
        let server = Self { servers: ServersAlone::new(&workspace.environment()), mode, workspace };
        server.connect();
        server
    }

    fn send(&self, command: McpCommand) {
        self.servers.send(command);
    }

    fn connect(&self) {
        self.send(McpCommand::Connect { server: Box::new(mock_server(self.mode)), terms: Box::new(terms()) });
    }

    fn ready(&self) {
        self.until("the connection", |event| {
            matches!(event, McpEvent::Standing { news: McpStatus::Ready { .. }, .. }).then_some(())
        });
    }

    fn call(&self, id: &str, name: &str) {
        let request = Box::new(tool(name, json!({ "a": 1, "b": 2 })));
        self.send(McpCommand::Call { id: id.into(), key: mock_server(self.mode).key(), request, observer: None });
    }

    fn until<T>(&self, what: &str, mut is_it: impl FnMut(McpEvent) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(event) = self.servers.next(Duration::from_millis(50))
                && let Some(found) = is_it(event)
            {
                return found;
            }
        }
        panic!("{what} did not happen");
    }

    /// Waits until the server has recorded this many requests.
    fn wait_for_requests(&self, lines: usize) {
        let file = self.workspace.folder.path().join("artifacts/called.txt");
        let until = Instant::now() + PATIENCE;
        while std::fs::read_to_string(&file).unwrap_or_default().lines().count() < lines {
            assert!(Instant::now() < until, "the server never got the requests");
            std::thread::yield_now();
        }
    }

    /// Waits for the end of a call. Returns its text or the fault.
    fn wait_for_result(&self, id: &str) -> Result<String, McpFault> {
        self.until("the end of the call", |event| match event {
            McpEvent::Done { id: done, outcome } if *done == *id => {
                Some(outcome.map(|answer| answer.text).map_err(|failure| failure.fault))
            }
            _ => None,
        })
    }
}

fn a_stopped_call_ends_at_once_and_the_server_is_notified() {
    let server = ConnectedServer::new("patient-stopped");
    server.call("one", "slow");
    server.call("two", "slow");
    server.wait_for_requests(2);
    server.send(McpCommand::Cancel { id: "one".into() });
    let begun = Instant::now();
    assert_eq!(server.wait_for_result("one"), Err(McpFault::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let notes = server.workspace.folder.path().join("artifacts/noted.txt");
    let until = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&notes).unwrap_or_default().is_empty() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "cancelled\n", "the server is notified once, about this call");
    server.send(McpCommand::Cancel { id: "two".into() });
    assert_eq!(server.wait_for_result("two"), Err(McpFault::Stopped));
    // Stopping a call that has ended or never existed has no effect.
    for id in ["two", "nobody's"] {
        server.send(McpCommand::Cancel { id: id.into() });
    }
    drop(server);
    assert!(is_gone("patient-stopped"));
}

fn calls_continue_while_the_tools_are_listed_again() {
    let server = ConnectedServer::new("relisting");
    server.call("one", "add");
    assert_eq!(server.wait_for_result("one"), Ok("The sum is 3.".to_owned()));
    // The server is asked for its tools again and never answers.
    server.wait_for_requests(1);
    let begun = Instant::now();
    server.call("two", "add");
    assert_eq!(server.wait_for_result("two"), Ok("The sum is 3.".to_owned()));
    assert!(begun.elapsed() < Duration::from_millis(1_500), "{:?}", begun.elapsed());
}

fn a_server_that_keeps_changing_its_lists_is_polled_more_slowly() {
    let server = ConnectedServer::new("restless");
    let until = Instant::now() + Duration::from_secs(4);
    let mut offers = Vec::new();
    while Instant::now() < until {
        if let Some(McpEvent::Standing { news: McpStatus::Ready { offer }, .. }) =
            server.servers.next(Duration::from_millis(50))
        {
            offers.push(offer);
        }
    }
    assert!((5..=10).contains(&offers.len()), "{} times", offers.len());
    assert!(!offers[0].is_restless && offers[offers.len() - 1].is_restless);
    assert!(offers.windows(2).all(|two| two[0] != two[1]), "an unchanged offer is not reported again");
    // A test by a person does not wait for the next poll.
    server.connect();
    let begun = Instant::now();
    server.ready();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Makes two calls at once during which the server asks a question. Returns the id of the call that the question is
/// attributed to, and its message.
fn question_during_two_calls(mode: &'static str) -> (String, String) {
    let server = ConnectedServer::new(mode);
    server.call("one", "ask");
    // The first call must arrive first.
    server.wait_for_requests(1);
    server.call("two", "ask");
    let (id, question) = server.until("the question", |event| match event {
        McpEvent::Asks { id, question } => Some((id, question)),
        _ => None,
    });
    let content: Map<String, Value> = json!({ "branch": "main" }).as_object().cloned().unwrap();
    let (key, number) = (mock_server(mode).key(), question.number);
    server.send(McpCommand::Answer { id: id.clone(), key, number, reply: McpReply::Given { content } });
    // The calls may end in any order.
    let mut ended = BTreeMap::new();
    server.until("the end of both calls", |event| {
        if let McpEvent::Done { id, outcome } = event {
            ended.insert(id.to_string(), outcome.map(|answer| answer.text).map_err(|failure| failure.fault));
        }
        (ended.len() == 2).then_some(())
    });
    assert!(ended.values().all(|outcome| *outcome == Ok("accept".to_owned())), "{ended:?}");
    (id.to_string(), question.message.clone())
}

fn a_question_belongs_to_the_call_that_the_server_names() {
    assert_eq!(question_during_two_calls("asks-for-second"), ("two".to_owned(), "Which branch?".to_owned()));
}

fn a_question_without_a_call_says_so_if_there_are_several() {
    let (id, message) = question_during_two_calls("asks-for-nobody");
    assert_eq!(id, "one");
    assert!(message.contains("does not say for which of 2 calls") && message.contains("Which branch?"), "{message}");
}

fn a_killed_server_is_reconnected_and_its_call_fails() {
    let server = ConnectedServer::new("patient-killed");
    server.call("one", "slow");
    server.wait_for_requests(1);
    for process in processes(&format!("{} patient-killed", script().display())) {
        Command::new("sh").args(["-c", "kill -KILL \"$@\"", "sh", &process]).status().unwrap();
    }
    assert_eq!(server.wait_for_result("one"), Err(McpFault::Gone), "the call fails and is not repeated");
    let begun = Instant::now();
    server.ready();
    assert!(begun.elapsed() < Duration::from_secs(10), "the server is reconnected by itself");
}

fn a_server_that_does_not_start_is_retried_with_growing_delays() {
    let server = ConnectedServer::of("starts-in-vain");
    server.wait_for_requests(3);
    let text = std::fs::read_to_string(server.workspace.folder.path().join("artifacts/called.txt")).unwrap();
    let times: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let gaps: Vec<f64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps[0] > 0.9 && gaps[1] > 1.9, "{gaps:?}");
}

fn changes_to_every_kind_of_list_are_noticed() {
    for mode in ["growing-tools", "growing-resources", "growing-prompts"] {
        let server = ConnectedServer::new(mode);
        for (call, is_more) in [("grow", true), ("shrink", false), ("grow", true)] {
            server.call(call, call);
            server.until("the changed list", |event| {
                let McpEvent::Standing { news: McpStatus::Ready { offer }, .. } = event else { return None };
                let has = [
                    offer.tools.iter().any(|tool| tool.name == "ripe"),
                    offer.resources.iter().any(|resource| resource.name == "note:///ripe"),
                    offer.prompts.iter().any(|prompt| prompt.name == "ripe"),
                ];
                (has.iter().filter(|has| **has).count() == usize::from(is_more)).then_some(())
            });
        }
        drop(server);
        assert!(is_gone(mode));
    }
}

/// Settings with which models are called only for the work, and servers do not become idle in a room at full speed.
const NO_IDLE_LIMIT: &str =
    "gate:\n  mcp: { \"mcp:odd:*\": allow }\nmcp:\n  idle_secs: 86400\nknowledge: { learns_from_work: false }\n";

fn tools_added_during_a_session_can_be_called_until_removed() {
    let turn =
        |tool: &str| format!("    - tools: [ {{ name: mcp__odd__{tool}, arguments: {{}} }} ]\n    - text: Done.\n");
    let script = ["grow", "ripe", "shrink", "ripe"].map(turn).concat();
    let workspace = TestWorkspace::new();
    let script = format!("latency: 0.1\nagents:\n  lead:\n{script}");
    let mut room = room_with(&workspace, "growing-tools", NO_IDLE_LIMIT, &script);
    room.until(60.0, "complete", |_| true);
    let wait_for_tool = |room: &mut Workshop, is_there: bool| {
        let until = Instant::now() + PATIENCE;
        let has = |room: &mut Workshop| {
            let servers = room.world().resource::<McpServers>();
            let mut ready = servers.ready().flat_map(|(_, offer)| &offer.tools);
            ready.any(|tool| tool.name == "ripe")
        };
        while has(room) != is_there {
            assert!(Instant::now() < until, "the room does not notice the change");
            room.tick();
            std::thread::yield_now();
        }
    };
    let next = |room: &mut Workshop| {
        room.push(TaskCommand { agent: "lead".into(), text: "Go on.".into() });
        room.until(60.0, "complete", |_| true);
        results(room).last().map(|result| result.to_string()).unwrap_or_default()
    };
    wait_for_tool(&mut room, true);
    let result = next(&mut room);
    assert!(result.contains("ripe indeed"), "{result}");
    next(&mut room);
    wait_for_tool(&mut room, false);
    let result = next(&mut room);
    assert!(!result.contains("ripe indeed"), "{result}");
}

fn an_idle_server_is_ended_after_a_while() {
    let workspace = TestWorkspace::new();
    let settings =
        "gate:\n  mcp: { \"mcp:odd:*\": allow }\nmcp:\n  idle_secs: 5\nknowledge: { learns_from_work: false }\n";
    let mut room = room_with(&workspace, "idle", settings, &script_of_a_call("add", "{ a: 2, b: 3 }"));
    room.until(60.0, "complete", |_| true);
    let key = room.world().resource::<McpServers>().configured()[0].key.clone();
    let word = format!("{} idle", script().display());
    assert!(!processes(&word).is_empty(), "the server stays for a while after the work");
    let begun = room.now();
    while matches!(room.world().resource::<McpServers>().status(&key), McpServerStatus::Ready(_)) {
        room.tick();
        assert!(room.now() - begun < 20 * TICKS_PER_SEC, "the idle server is never ended");
    }
    assert_eq!(room.world().resource::<McpServers>().status(&key), &McpServerStatus::Off);
    // What a tick decides is carried out in the next one.
    room.tick();
    assert!(is_gone("idle"), "the process ends while the room continues");
    drop(room);
}

fn all_users_of_a_server_share_one_process() {
    let server = ConnectedServer::new("shared");
    for id in ["one", "two", "three"] {
        server.connect();
        server.call(id, "add");
        assert_eq!(server.wait_for_result(id), Ok("The sum is 3.".to_owned()));
    }
    let word = format!("{} shared", script().display());
    let servers = processes(&word).into_iter().filter(|process| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.starts_with(b"python3")
            || line.split(|byte| *byte == 0).next().is_some_and(|word| word.ends_with(b"/python3"))
    });
    assert_eq!(servers.count(), 1);
    drop(server);
    assert!(is_gone("shared"));
}

const ALLOWED: &str = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";

fn stopping_work_stops_a_call_in_progress() {
    let workspace = TestWorkspace::new();
    let mut room = room_with(&workspace, "patient-room", ALLOWED, &script_of_a_call("slow", "{}"));
    room.until(60.0, "tool_call", |_| true);
    let until = Instant::now() + PATIENCE;
    while !workspace.folder.path().join("artifacts/called.txt").exists() && Instant::now() < until {
        room.tick();
    }
    room.push(KernelCommand::KillAll);
    room.until(60.0, "abort", |_| true);
    let notes = workspace.folder.path().join("artifacts/noted.txt");
    while std::fs::read_to_string(&notes).unwrap_or_default().is_empty() && Instant::now() < until {
        room.tick();
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "cancelled\n");
    drop(room);
    assert!(is_gone("patient-room"));
}

fn a_call_in_progress_at_a_kill_is_not_made_again() {
    let (_folder, config, workspace) = workspace_on_disk("patient-again", ALLOWED);
    let model = crate::workshop::script_file(&script_of_a_call("slow", "{}"));
    let provider = format!("scripted:{}", model.display());
    let task = ["run", "--agent", "lead", "--task", "Take your time.", "--provider", &provider, "--speed", "4"];
    let mut running = crate::program::workshop(&workspace, &task);
    let mut running = running.env("WORKSHOP_CONFIG_DIR", config.path()).spawn().unwrap();
    let called = workspace.join("artifacts/called.txt");
    let until = Instant::now() + PATIENCE;
    let has_called = || std::fs::read_to_string(&called).is_ok_and(|text| text == "called\n");
    while !has_called() && Instant::now() < until {
        std::thread::yield_now();
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let again = ["run", "--until", "idle", "--speed", "max", "--provider", &provider, "--events", "-"];
    let (_, output) = run_in(&workspace, config.path(), &again);
    assert!(output.contains("its outcome is unknown"), "{output}");
    assert_eq!(std::fs::read_to_string(&called).unwrap(), "called\n", "the call is not made a second time");
}
