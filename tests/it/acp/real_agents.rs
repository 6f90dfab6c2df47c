//! Real third-party coding agents, each with a mock of its vendor's API: what they do through the room, under its
//! permission checks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_workshop::base::AllowScope;
use agent_workshop::gateway::{Environment, GatewayEnvironment};
use agent_workshop::kernel::KernelCommand;
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{SCENE, asked, decide, ended, ended_allowing};
use crate::cases;
use crate::peers::{self, is_ignored};
use crate::program::{folder, json_lines, succeed};
use crate::servers::run_in;
use crate::workshop::{Setup, Workshop};

pub fn cases() -> Vec<Trial> {
    let of_claude = cases![
        claude_writes_under_the_gate,
        claude_calls_the_rooms_tools,
        claude_runs_a_command_once_it_is_allowed_and_not_what_is_refused,
        claude_is_stopped_and_takes_the_next_task,
        claude_continues_in_a_room_that_was_opened_again,
    ];
    let of_gemini = cases![
        gemini_writes_through_the_rooms_files_under_the_gate,
        gemini_calls_the_rooms_tools,
        gemini_runs_a_command_once_it_is_allowed_and_not_what_is_refused,
        gemini_is_stopped_and_takes_the_next_task,
        gemini_starts_over_in_a_room_that_was_opened_again_and_says_so,
    ];
    let missing = peers::aimock().and(peers::coding_agent()).err();
    let ignored = is_ignored("the cases of Claude Code", missing);
    let of_claude = of_claude.into_iter().map(move |case| case.with_ignored_flag(ignored));
    let missing = peers::aimock().and(peers::other_coding_agent()).err();
    let ignored = is_ignored("the cases of Gemini CLI", missing);
    of_claude.chain(of_gemini.into_iter().map(move |case| case.with_ignored_flag(ignored))).collect()
}

/// How an agent is started, with the mock at this address and with this home folder.
type Agent = fn(&str, &Path) -> Value;

fn claude(mock: &str, home: &Path) -> Value {
    let script = peers::coding_agent().expect("it was looked for");
    json!({ "command": "node", "args": [script], "env": {
        "ANTHROPIC_BASE_URL": mock, "ANTHROPIC_API_KEY": "x", "IS_SANDBOX": "1", "HOME": home,
    } })
}

fn gemini(mock: &str, home: &Path) -> Value {
    let script = peers::other_coding_agent().expect("it was looked for");
    // With a choice of models it would first ask the user for one in a form of its own.
    json!({ "command": "node", "args": [script, "--experimental-acp"], "env": {
        "GOOGLE_GEMINI_BASE_URL": mock, "GEMINI_API_KEY": "x", "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true", "HOME": home,
    } })
}

/// A workspace in which one of them works, with the mock of its vendor's API.
struct Real {
    _folders: [tempfile::TempDir; 2],
    _mock: peers::Peer,
    place: PathBuf,
    config: PathBuf,
    lead: String,
}

impl Real {
    fn new(agent: Agent, tools: &str, gate: &str, fixtures: impl FnOnce(&Path) -> Value) -> Self {
        let (workspace, config) = (folder(), folder());
        let place = workspace.path().join("w");
        for part in ["artifacts", "agents", "home"] {
            std::fs::create_dir_all(place.join(part)).expect("folders can be made");
        }
        let place = place.canonicalize().expect("it should exist");
        succeed(&place, &["init", "--bare", "."]);
        let file = config.path().join("fixtures.json");
        std::fs::write(&file, fixtures(&place).to_string()).expect("files can be written");
        let mock = peers::start_aimock(&file, &[]).expect("the mock starts");
        let agents = json!({ "real": agent(&mock.url, &place.join("home")) });
        let settings = std::fs::read_to_string(place.join("settings.yaml")).expect("it should exist");
        let settings = format!("{settings}\nacp: {{ agents: {agents} }}\n{gate}");
        std::fs::write(place.join("settings.yaml"), settings).expect("files can be written");
        let lead = format!("---\nid: lead\nmodel: acp:real\ntools: [{tools}]\n---\nYou lead.\n");
        std::fs::write(place.join("agents/lead.md"), &lead).expect("files can be written");
        let allowed = run_in(&place, config.path(), &["acp", "allow", "real", "--yes"]);
        assert_eq!(allowed.0, Some(0), "{}", allowed.1);
        let kept = config.path().to_owned();
        Self { _folders: [workspace, config], _mock: mock, place, config: kept, lead }
    }

    fn surroundings(&self) -> GatewayEnvironment {
        GatewayEnvironment(Environment::new([], Some(self.config.clone())).in_workspace(&self.place))
    }

    /// An in-memory room with the same agent and this task.
    fn room(&self, task: &str) -> Workshop {
        let settings = std::fs::read_to_string(self.place.join("settings.yaml")).expect("it should exist");
        let mut room = Setup::scene(SCENE).profile("lead", &self.lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(self.surroundings());
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    fn run(&self, task: &str) -> String {
        let arguments = ["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"];
        let (code, told) = run_in(&self.place, &self.config, &arguments);
        assert_eq!(code, Some(0), "{told}");
        told
    }
}

/// The tools that the room was asked for, in order.
fn calls(told: &str) -> Vec<String> {
    let events: Vec<Value> = told.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let calls = events.iter().filter(|event| event["type"] == "tool_call");
    calls.filter_map(|event| event["data"]["tool"].as_str().map(str::to_owned)).collect()
}

/// A model's answers: a call where the prompt names something, and words after it.
fn fixtures(calls: &[(&str, &str, Value)]) -> Value {
    let mut fixtures = vec![json!({ "match": { "hasToolResult": true }, "response": { "content": "That was it." } })];
    fixtures.extend(calls.iter().map(|(asked, tool, arguments)| {
        let call = json!({ "name": tool, "arguments": arguments.to_string() });
        json!({ "match": { "userMessage": asked }, "response": { "toolCalls": [call] } })
    }));
    fixtures.push(json!({ "match": {}, "response": { "content": "Hello." } }));
    json!({ "fixtures": fixtures })
}

const GATE: &str = "gate: { deny: [\"artifacts/secret/**\"] }\n";

/// Both files, written by one of the agent's own tools.
fn writes(place: &Path, tool: &str) -> Value {
    let file = |path: &str| json!({ "file_path": place.join(path), "content": "by a coding agent" });
    fixtures(&[
        ("the open file", tool, file("artifacts/open.md")),
        ("the secret file", tool, file("artifacts/secret/x.md")),
    ])
}

fn claude_writes_under_the_gate() {
    let real = Real::new(claude, "vfs_read, vfs_write", GATE, |place| writes(place, "Write"));
    let told = real.run("Write the open file.");
    assert!(told.contains("That was it.") && told.contains("use_own_tool") && told.contains("own_tool"), "{told}");
    assert!(told.contains("own_options") && told.contains("acceptEdits"), "its modes are known: {told}");
    let text = std::fs::read_to_string(real.place.join("artifacts/open.md")).expect("it was written");
    assert_eq!(text, "by a coding agent");
    let told = real.run("Write the secret file.");
    assert!(told.contains("That was it."), "{told}");
    assert!(!real.place.join("artifacts/secret/x.md").exists(), "what the gate denies is not done");
}

fn claude_calls_the_rooms_tools() {
    let plan = json!({ "key": "plan", "value": "walls first" });
    let real = Real::new(claude, "vfs_read, blackboard_write", "", |_| {
        fixtures(&[("the plan", "mcp__workshop__blackboard_write", plan)])
    });
    let told = real.run("Write down the plan.");
    assert!(told.contains("That was it."), "{told}");
    assert_eq!(calls(&told), ["blackboard_write"], "{told}");
    assert!(!told.contains("approval_requested") && !told.contains("\"own_tool\""), "{told}");
}

fn gemini_writes_through_the_rooms_files_under_the_gate() {
    let real = Real::new(gemini, "vfs_read, vfs_write", GATE, |place| writes(place, "write_file"));
    // It takes a missing file for a fault of the client, so both files exist.
    for path in ["artifacts/open.md", "artifacts/secret/x.md"] {
        let file = real.place.join(path);
        std::fs::create_dir_all(file.parent().expect("it should have one")).expect("folders can be made");
        std::fs::write(file, "old").expect("files can be written");
    }
    let told = real.run("Write the open file.");
    assert!(told.contains("That was it."), "{told}");
    let (calls, text) = (calls(&told), std::fs::read_to_string(real.place.join("artifacts/open.md")));
    assert!(calls.contains(&"use_own_tool".to_owned()) && calls.contains(&"vfs_write".to_owned()), "{told}");
    assert_eq!(text.expect("it should exist"), "by a coding agent");
    assert!(told.contains("own_options") && told.contains("yolo"), "its modes are known: {told}");
    let told = real.run("Write the secret file.");
    assert!(told.contains("That was it."), "{told}");
    let text = std::fs::read_to_string(real.place.join("artifacts/secret/x.md")).expect("it should exist");
    assert_eq!(text, "old", "what the gate denies is not done");
}

fn gemini_calls_the_rooms_tools() {
    let plan = json!({ "key": "plan", "value": "walls first" });
    let real = Real::new(gemini, "vfs_read, blackboard_write", "", |_| {
        fixtures(&[("the plan", "mcp_workshop_blackboard_write", plan)])
    });
    let told = real.run("Write down the plan.");
    assert!(told.contains("That was it."), "{told}");
    assert_eq!(calls(&told), ["blackboard_write"], "{told}");
    assert!(!told.contains("approval_requested"), "{told}");
}

/// An agent that runs commands with its own tool of this name.
fn with_commands(agent: Agent, tool: &str) -> Real {
    let run = |command: &str| json!({ "command": command, "description": "Makes a file" });
    Real::new(agent, "vfs_read, execute_command", "", |_| {
        fixtures(&[
            ("the first command", tool, run("touch artifacts/first.md")),
            ("the second command", tool, run("touch artifacts/second.md")),
        ])
    })
}

fn runs_a_command_once_it_is_allowed_and_not_what_is_refused(agent: Agent, tool: &str) {
    let real = with_commands(agent, tool);
    let mut room = real.room("Run the first command.");
    let question = asked(&mut room);
    assert!(question["data"]["wants"].to_string().contains("touch artifacts/first.md"), "{question}");
    assert!(!real.place.join("artifacts/first.md").exists(), "it waits for the answer");
    decide(&mut room, true, AllowScope::Once);
    assert!(ended(&mut room).contains("That was it."));
    assert!(real.place.join("artifacts/first.md").exists());
    room.push(TaskCommand { agent: "lead".into(), text: "Run the second command.".into() });
    asked(&mut room);
    decide(&mut room, false, AllowScope::Once);
    ended(&mut room);
    assert!(!real.place.join("artifacts/second.md").exists(), "what is refused is not done");
}

fn is_stopped_and_takes_the_next_task(agent: Agent, tool: &str) {
    let real = with_commands(agent, tool);
    let mut room = real.room("Run the first command.");
    asked(&mut room);
    room.push(KernelCommand::KillAgent { agent: "lead".into() });
    room.until(10.0, "abort", |_| true);
    room.push(TaskCommand { agent: "lead".into(), text: "Say hello.".into() });
    assert!(ended(&mut room).contains("Hello."));
    assert!(!real.place.join("artifacts/first.md").exists());
}

fn any_file_below(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.path().is_file() || any_file_below(&entry.path()))
}

/// The warnings for the person after the room was closed during the agent's question and opened again.
fn goes_on_in_a_room_that_was_opened_again(agent: Agent, tool: &str, kept: &str) -> String {
    let real = with_commands(agent, tool);
    let mut room = real.room("Run the first command.");
    asked(&mut room);
    // It saves what it needs to continue at some later moment.
    let until = Instant::now() + Duration::from_secs(30);
    while !any_file_below(&real.place.join("home").join(kept)) && Instant::now() < until {
        room.tick();
    }
    let mut again = room.reopened();
    drop(room);
    again.world().insert_resource(real.surroundings());
    ended_allowing(&mut again);
    again.events("warning").iter().map(|event| event["data"].to_string()).collect()
}

/// The tools with which they run commands.
const BASH: &str = "Bash";
const SHELL: &str = "run_shell_command";

fn claude_runs_a_command_once_it_is_allowed_and_not_what_is_refused() {
    runs_a_command_once_it_is_allowed_and_not_what_is_refused(claude, BASH);
}

fn gemini_runs_a_command_once_it_is_allowed_and_not_what_is_refused() {
    runs_a_command_once_it_is_allowed_and_not_what_is_refused(gemini, SHELL);
}

fn claude_is_stopped_and_takes_the_next_task() {
    is_stopped_and_takes_the_next_task(claude, BASH);
}

fn gemini_is_stopped_and_takes_the_next_task() {
    is_stopped_and_takes_the_next_task(gemini, SHELL);
}

fn claude_continues_in_a_room_that_was_opened_again() {
    let warned = goes_on_in_a_room_that_was_opened_again(claude, BASH, ".claude/projects");
    assert!(!warned.contains("is lost"), "{warned}");
}

fn gemini_starts_over_in_a_room_that_was_opened_again_and_says_so() {
    // It does not find a session in which no turn was finished.
    let warned = goes_on_in_a_room_that_was_opened_again(gemini, SHELL, ".gemini/tmp");
    assert!(warned.contains("it starts a new one") && warned.contains("is lost"), "{warned}");
}
