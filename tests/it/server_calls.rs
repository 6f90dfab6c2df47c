//! Concurrent calls of MCP servers: stopped, asked about, and made while the server does something else.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use agent_workshop::gateway::mcp::{McpCommand, McpEvent, McpFault, McpNews, McpReply};
use agent_workshop::gateway::messages::{GatewayCommand, GatewayEvent};
use agent_workshop::gateway::worker::Worker;
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
use crate::workshop::Workshop;

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        a_call_that_is_stopped_ends_at_once_and_the_server_hears_of_it,
        calls_continue_while_a_server_is_asked_again_what_it_offers,
        a_server_that_changes_its_lists_without_end_is_followed_more_slowly,
        a_question_is_about_the_call_that_the_server_names,
        a_question_about_no_call_says_so_where_there_are_several,
        a_server_that_was_killed_is_connected_again_and_its_call_is_reported,
        a_server_that_does_not_start_is_tried_more_and_more_seldom,
        all_who_need_a_server_share_one_process,
        lists_that_grow_and_shrink_are_followed_of_every_kind,
        tools_that_come_and_go_in_mid_session_can_be_called_while_they_are_there,
        a_server_that_nobody_needs_any_more_is_ended_after_a_while,
        what_a_person_stops_is_stopped_in_the_middle_of_a_call,
        a_call_that_was_under_way_when_the_room_was_killed_is_not_made_again,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the cases of calls of MCP servers", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// A worker with one connected server.
struct Office {
    worker: Worker,
    mode: &'static str,
    place: TestWorkspace,
}

impl Office {
    fn new(mode: &'static str) -> Self {
        let office = Self::of(mode);
        office.ready();
        office
    }

    /// The same, where nothing is known of the server yet.
    fn of(mode: &'static str) -> Self {
        let workspace = TestWorkspace::new();
        workspace.allow(&mock_server(mode));
        let office = Self { worker: Worker::start(workspace.environment(), BTreeMap::new()).unwrap(), mode, workspace };
        office.connect();
        office
    }

    fn send(&self, command: McpCommand) {
        self.worker.send(GatewayCommand::Mcp(command)).unwrap();
    }

    fn connect(&self) {
        self.send(McpCommand::Connect { server: Box::new(mock_server(self.mode)), terms: Box::new(terms()) });
    }

    fn ready(&self) {
        self.until("it is there", |event| {
            matches!(event, McpEvent::Standing { news: McpNews::Ready { .. }, .. }).then_some(())
        });
    }

    fn call(&self, id: &str, name: &str) {
        let request = Box::new(tool(name, json!({ "a": 1, "b": 2 })));
        self.send(McpCommand::Call { id: id.into(), key: mock_server(self.mode).key(), request });
    }

    fn until<T>(&self, what: &str, mut is_it: impl FnMut(McpEvent) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(GatewayEvent::Mcp(event)) = self.worker.next(Duration::from_millis(50))
                && let Some(found) = is_it(event)
            {
                return found;
            }
        }
        panic!("{what}: it did not happen");
    }

    /// Waits until the server has recorded this many requests.
    fn noted(&self, lines: usize) {
        let file = self.place.folder.path().join("artifacts/called.txt");
        let until = Instant::now() + PATIENCE;
        while std::fs::read_to_string(&file).unwrap_or_default().lines().count() < lines {
            assert!(Instant::now() < until, "the server was never asked");
            std::thread::yield_now();
        }
    }

    /// The result of a call: its text, or the failure.
    fn done(&self, id: &str) -> Result<String, McpFault> {
        self.until("the call ended", |event| match event {
            McpEvent::Done { id: done, outcome } if *done == *id => {
                Some(outcome.map(|answer| answer.text).map_err(|failure| failure.fault))
            }
            _ => None,
        })
    }
}

fn a_call_that_is_stopped_ends_at_once_and_the_server_hears_of_it() {
    let office = Office::new("patient-stopped");
    office.call("one", "slow");
    office.call("two", "slow");
    office.noted(2);
    office.send(McpCommand::Cancel { id: "one".into() });
    let begun = Instant::now();
    assert_eq!(office.done("one"), Err(McpFault::Stopped));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let noted = office.place.folder.path().join("artifacts/noted.txt");
    let until = Instant::now() + PATIENCE;
    while std::fs::read_to_string(&noted).unwrap_or_default().is_empty() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_to_string(&noted).unwrap(), "cancelled\n", "it hears of that one, and of it once");
    office.send(McpCommand::Cancel { id: "two".into() });
    assert_eq!(office.done("two"), Err(McpFault::Stopped));
    // Stopping a call that has ended, or that never existed, does no harm.
    for id in ["two", "nobody's"] {
        office.send(McpCommand::Cancel { id: id.into() });
    }
    drop(office);
    assert!(is_gone("patient-stopped"));
}

fn calls_continue_while_a_server_is_asked_again_what_it_offers() {
    let office = Office::new("relisting");
    office.call("one", "add");
    assert_eq!(office.done("one"), Ok("The sum is 3.".to_owned()));
    // It is asked for its tools again, and never answers.
    office.noted(1);
    let begun = Instant::now();
    office.call("two", "add");
    assert_eq!(office.done("two"), Ok("The sum is 3.".to_owned()));
    assert!(begun.elapsed() < Duration::from_millis(1_500), "{:?}", begun.elapsed());
}

fn a_server_that_changes_its_lists_without_end_is_followed_more_slowly() {
    let office = Office::new("restless");
    let until = Instant::now() + Duration::from_secs(4);
    let mut offers = Vec::new();
    while Instant::now() < until {
        if let Some(GatewayEvent::Mcp(McpEvent::Standing { news: McpNews::Ready { offer }, .. })) =
            office.worker.next(Duration::from_millis(50))
        {
            offers.push(offer);
        }
    }
    assert!((5..=10).contains(&offers.len()), "{} times", offers.len());
    assert!(!offers[0].is_restless && offers[offers.len() - 1].is_restless);
    assert!(offers.windows(2).all(|two| two[0] != two[1]), "what is the same is not said again");
    // A person who tests it does not wait for that.
    office.connect();
    let begun = Instant::now();
    office.ready();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Two calls at once; for which the server is said to ask, and with which words.
fn asked(mode: &'static str) -> (String, String) {
    let office = Office::new(mode);
    office.call("one", "ask");
    // In this order.
    office.noted(1);
    office.call("two", "ask");
    let (id, question) = office.until("it asks", |event| match event {
        McpEvent::Asks { id, question } => Some((id, question)),
        _ => None,
    });
    let content: Map<String, Value> = json!({ "branch": "main" }).as_object().cloned().unwrap();
    let (key, number) = (mock_server(mode).key(), question.number);
    office.send(McpCommand::Answer { id: id.clone(), key, number, reply: McpReply::Given { content } });
    // In whichever order they end.
    let mut ended = BTreeMap::new();
    office.until("both ended", |event| {
        if let McpEvent::Done { id, outcome } = event {
            ended.insert(id.to_string(), outcome.map(|answer| answer.text).map_err(|failure| failure.fault));
        }
        (ended.len() == 2).then_some(())
    });
    assert!(ended.values().all(|outcome| *outcome == Ok("accept".to_owned())), "{ended:?}");
    (id.to_string(), question.message.clone())
}

fn a_question_is_about_the_call_that_the_server_names() {
    assert_eq!(asked("asks-for-second"), ("two".to_owned(), "Which branch?".to_owned()));
}

fn a_question_about_no_call_says_so_where_there_are_several() {
    let (id, message) = asked("asks-for-nobody");
    assert_eq!(id, "one");
    assert!(message.contains("does not say for which of 2 calls") && message.contains("Which branch?"), "{message}");
}

fn a_server_that_was_killed_is_connected_again_and_its_call_is_reported() {
    let office = Office::new("patient-killed");
    office.call("one", "slow");
    office.noted(1);
    for process in processes(&format!("{} patient-killed", script().display())) {
        Command::new("kill").args(["-KILL", &process]).status().unwrap();
    }
    assert_eq!(office.done("one"), Err(McpFault::Gone), "nothing is made twice, and nobody waits for ever");
    let begun = Instant::now();
    office.ready();
    assert!(begun.elapsed() < Duration::from_secs(10), "it comes again by itself");
}

fn a_server_that_does_not_start_is_tried_more_and_more_seldom() {
    let office = Office::of("starts-in-vain");
    office.noted(3);
    let text = std::fs::read_to_string(office.place.folder.path().join("artifacts/called.txt")).unwrap();
    let times: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    let gaps: Vec<f64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps[0] > 0.9 && gaps[1] > 1.9, "{gaps:?}");
}

fn lists_that_grow_and_shrink_are_followed_of_every_kind() {
    for mode in ["growing-tools", "growing-resources", "growing-prompts"] {
        let office = Office::new(mode);
        for (call, is_more) in [("grow", true), ("shrink", false), ("grow", true)] {
            office.call(call, call);
            office.until("it says so", |event| {
                let McpEvent::Standing { news: McpNews::Ready { offer }, .. } = event else { return None };
                let has = [
                    offer.tools.iter().any(|tool| tool.name == "ripe"),
                    offer.resources.iter().any(|resource| resource.name == "note:///ripe"),
                    offer.prompts.iter().any(|prompt| prompt.name == "ripe"),
                ];
                (has.iter().filter(|has| **has).count() == usize::from(is_more)).then_some(())
            });
        }
        drop(office);
        assert!(is_gone(mode));
    }
}

/// Nothing but the work is asked of models, and nothing ends in the time of a room at full speed.
const STAYS: &str =
    "gate:\n  mcp: { \"mcp:odd:*\": allow }\nmcp:\n  idle_secs: 86400\nknowledge: { learns_from_work: false }\n";

fn tools_that_come_and_go_in_mid_session_can_be_called_while_they_are_there() {
    let turn =
        |tool: &str| format!("    - tools: [ {{ name: mcp__odd__{tool}, arguments: {{}} }} ]\n    - text: Done.\n");
    let script = ["grow", "ripe", "shrink", "ripe"].map(turn).concat();
    let workspace = TestWorkspace::new();
    let script = format!("latency: 0.1\nagents:\n  lead:\n{script}");
    let mut room = room_with(&workspace, "growing-tools", STAYS, &script);
    room.until(60.0, "complete", |_| true);
    let offers_it = |room: &mut Workshop, is_there: bool| {
        let until = Instant::now() + PATIENCE;
        let has = |room: &mut Workshop| {
            let servers = room.world().resource::<McpServers>();
            let mut ready = servers.ready().flat_map(|(_, offer)| &offer.tools);
            ready.any(|tool| tool.name == "ripe")
        };
        while has(room) != is_there {
            assert!(Instant::now() < until, "the room does not hear of it");
            room.tick();
            std::thread::yield_now();
        }
    };
    let next = |room: &mut Workshop| {
        room.push(TaskCommand { agent: "lead".into(), text: "Go on.".into() });
        room.until(60.0, "complete", |_| true);
        results(room).last().map(|result| result.to_string()).unwrap_or_default()
    };
    offers_it(&mut room, true);
    let said = next(&mut room);
    assert!(said.contains("ripe indeed"), "{said}");
    next(&mut room);
    offers_it(&mut room, false);
    let said = next(&mut room);
    assert!(!said.contains("ripe indeed"), "{said}");
}

fn a_server_that_nobody_needs_any_more_is_ended_after_a_while() {
    let workspace = TestWorkspace::new();
    let settings =
        "gate:\n  mcp: { \"mcp:odd:*\": allow }\nmcp:\n  idle_secs: 5\nknowledge: { learns_from_work: false }\n";
    let mut room = room_with(&workspace, "idle", settings, &script_of_a_call("add", "{ a: 2, b: 3 }"));
    room.until(60.0, "complete", |_| true);
    let key = room.world().resource::<McpServers>().written()[0].key.clone();
    let word = format!("{} idle", script().display());
    assert!(!processes(&word).is_empty(), "it is there for a while after the work");
    let begun = room.now();
    while matches!(room.world().resource::<McpServers>().status(&key), McpServerStatus::Ready(_)) {
        room.tick();
        assert!(room.now() - begun < 20 * TICKS_PER_SEC, "it is never ended");
    }
    assert_eq!(room.world().resource::<McpServers>().status(&key), &McpServerStatus::Off);
    assert!(is_gone("idle"), "its process ends while the room goes on");
    drop(room);
}

fn all_who_need_a_server_share_one_process() {
    let office = Office::new("shared");
    for id in ["one", "two", "three"] {
        office.connect();
        office.call(id, "add");
        assert_eq!(office.done(id), Ok("The sum is 3.".to_owned()));
    }
    let word = format!("{} shared", script().display());
    let servers = processes(&word).into_iter().filter(|process| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.starts_with(b"python3")
            || line.split(|byte| *byte == 0).next().is_some_and(|word| word.ends_with(b"/python3"))
    });
    assert_eq!(servers.count(), 1);
    drop(office);
    assert!(is_gone("shared"));
}

const ALLOWED: &str = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";

fn what_a_person_stops_is_stopped_in_the_middle_of_a_call() {
    let workspace = TestWorkspace::new();
    let mut room = room_with(&workspace, "patient-room", ALLOWED, &script_of_a_call("slow", "{}"));
    room.until(60.0, "tool_call", |_| true);
    let until = Instant::now() + PATIENCE;
    while !workspace.folder.path().join("artifacts/called.txt").exists() && Instant::now() < until {
        room.tick();
    }
    room.push(KernelCommand::KillAll);
    room.until(60.0, "abort", |_| true);
    let noted = workspace.folder.path().join("artifacts/noted.txt");
    while std::fs::read_to_string(&noted).unwrap_or_default().is_empty() && Instant::now() < until {
        room.tick();
    }
    assert_eq!(std::fs::read_to_string(&noted).unwrap(), "cancelled\n");
    drop(room);
    assert!(is_gone("patient-room"));
}

fn a_call_that_was_under_way_when_the_room_was_killed_is_not_made_again() {
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
    assert_eq!(std::fs::read_to_string(&called).unwrap(), "called\n", "it is not made a second time");
}
