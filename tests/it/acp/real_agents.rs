//! Real third-party coding agents, each with a mock of its vendor's API: their work goes through the room and its
//! permission checks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_workshop::base::AllowScope;
use agent_workshop::gateway::{Environment, GatewayEnvironment};
use agent_workshop::kernel::KernelCommand;
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{SCENE, completed_text, completed_text_allowing_all, decide, wait_for_approval};
use crate::cases;
use crate::peers::{self, is_ignored};
use crate::program::{folder, json_lines, succeed};
use crate::servers::run_in;
use crate::workshop::{Setup, Workshop};

pub fn cases() -> Vec<Trial> {
    let of_claude = cases![
        claude_writes_under_the_gate,
        claude_calls_the_rooms_tools,
        claude_runs_allowed_commands_and_no_refused_ones,
        claude_is_stopped_and_does_the_next_task,
        claude_continues_in_a_reopened_room,
    ];
    let of_gemini = cases![
        gemini_writes_through_the_rooms_files_under_the_gate,
        gemini_calls_the_rooms_tools,
        gemini_runs_allowed_commands_and_no_refused_ones,
        gemini_is_stopped_and_does_the_next_task,
        gemini_starts_over_in_a_reopened_room_and_the_loss_is_reported,
    ];
    let missing = peers::aimock().and(peers::coding_agent()).err();
    let ignored = is_ignored("the Claude Code tests", missing);
    let of_claude = of_claude.into_iter().map(move |case| case.with_ignored_flag(ignored));
    let missing = peers::aimock().and(peers::other_coding_agent()).err();
    let ignored = is_ignored("the Gemini CLI tests", missing);
    of_claude.chain(of_gemini.into_iter().map(move |case| case.with_ignored_flag(ignored))).collect()
}

/// Returns the settings that start an agent, given the URL of its mock API and its home folder.
type Agent = fn(&str, &Path) -> Value;

fn claude(mock: &str, home: &Path) -> Value {
    let script = peers::coding_agent().expect("the agent is installed");
    json!({ "command": "node", "args": [script], "env": {
        "ANTHROPIC_BASE_URL": mock, "ANTHROPIC_API_KEY": "x", "IS_SANDBOX": "1", "HOME": home,
    } })
}

fn gemini(mock: &str, home: &Path) -> Value {
    let script = peers::other_coding_agent().expect("the agent is installed");
    // With a choice of models it would first ask the user for one in a form of its own.
    json!({ "command": "node", "args": [script, "--experimental-acp"], "env": {
        "GOOGLE_GEMINI_BASE_URL": mock, "GEMINI_API_KEY": "x", "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true", "HOME": home,
    } })
}

/// A workspace in which a real coding agent works, with the mock of its vendor's API.
struct Real {
    _folders: [tempfile::TempDir; 2],
    _mock: peers::Peer,
    workspace: PathBuf,
    config: PathBuf,
    lead: String,
}

impl Real {
    fn new(agent: Agent, tools: &str, gate: &str, fixtures: impl FnOnce(&Path) -> Value) -> Self {
        let (parent, config) = (folder(), folder());
        let workspace = parent.path().join("w");
        for part in ["artifacts", "agents", "home"] {
            std::fs::create_dir_all(workspace.join(part)).expect("the folder can be created");
        }
        let workspace = workspace.canonicalize().expect("the folder exists");
        succeed(&workspace, &["init", "--bare", "."]);
        let file = config.path().join("fixtures.json");
        std::fs::write(&file, fixtures(&workspace).to_string()).expect("the file can be written");
        let mock = peers::start_aimock(&file, &[]).expect("the mock starts");
        let agents = json!({ "real": agent(&mock.url, &workspace.join("home")) });
        let settings = std::fs::read_to_string(workspace.join("settings.yaml")).expect("the settings exist");
        let settings = format!("{settings}\nacp: {{ agents: {agents} }}\n{gate}");
        std::fs::write(workspace.join("settings.yaml"), settings).expect("the file can be written");
        let lead = format!("---\nid: lead\nmodel: acp:real\ntools: [{tools}]\n---\nYou lead.\n");
        std::fs::write(workspace.join("agents/lead.md"), &lead).expect("the file can be written");
        let allowed = run_in(&workspace, config.path(), &["acp", "allow", "real", "--yes"]);
        assert_eq!(allowed.0, Some(0), "{}", allowed.1);
        let config_path = config.path().to_owned();
        Self { _folders: [parent, config], _mock: mock, workspace, config: config_path, lead }
    }

    fn environment(&self) -> GatewayEnvironment {
        GatewayEnvironment(Environment::new([], Some(self.config.clone())).in_workspace(&self.workspace))
    }

    /// Opens an in-memory room with the same agent and this task.
    fn room(&self, task: &str) -> Workshop {
        let settings = std::fs::read_to_string(self.workspace.join("settings.yaml")).expect("the settings exist");
        let mut room = Setup::scene(SCENE).profile("lead", &self.lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(self.environment());
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    fn run(&self, task: &str) -> String {
        let arguments = ["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"];
        let (code, output) = run_in(&self.workspace, &self.config, &arguments);
        assert_eq!(code, Some(0), "{output}");
        output
    }
}

/// Returns the names of the room's tools that were called, in order.
fn calls(output: &str) -> Vec<String> {
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let calls = events.iter().filter(|event| event["type"] == "tool_call");
    calls.filter_map(|event| event["data"]["tool"].as_str().map(str::to_owned)).collect()
}

/// Returns mock answers: a tool call where the prompt contains a phrase, and text after its result.
fn fixtures(calls: &[(&str, &str, Value)]) -> Value {
    let mut fixtures = vec![json!({ "match": { "hasToolResult": true }, "response": { "content": "That was it." } })];
    fixtures.extend(calls.iter().map(|(prompt, tool, arguments)| {
        let call = json!({ "name": tool, "arguments": arguments.to_string() });
        json!({ "match": { "userMessage": prompt }, "response": { "toolCalls": [call] } })
    }));
    fixtures.push(json!({ "match": {}, "response": { "content": "Hello." } }));
    json!({ "fixtures": fixtures })
}

const GATE: &str = "gate: { deny: [\"artifacts/secret/**\"] }\n";

/// Returns mock answers that write both files with one of the agent's own tools.
fn write_fixtures(workspace: &Path, tool: &str) -> Value {
    let file = |path: &str| json!({ "file_path": workspace.join(path), "content": "by a coding agent" });
    fixtures(&[
        ("the open file", tool, file("artifacts/open.md")),
        ("the secret file", tool, file("artifacts/secret/x.md")),
    ])
}

fn claude_writes_under_the_gate() {
    let real = Real::new(claude, "vfs_read, vfs_write", GATE, |workspace| write_fixtures(workspace, "Write"));
    let output = real.run("Write the open file.");
    assert!(
        output.contains("That was it.") && output.contains("use_own_tool") && output.contains("own_tool"),
        "{output}"
    );
    assert!(output.contains("own_options") && output.contains("acceptEdits"), "its modes are listed: {output}");
    let text = std::fs::read_to_string(real.workspace.join("artifacts/open.md")).expect("the file was written");
    assert_eq!(text, "by a coding agent");
    let output = real.run("Write the secret file.");
    assert!(output.contains("That was it."), "{output}");
    assert!(!real.workspace.join("artifacts/secret/x.md").exists(), "the denied file is not written");
}

fn claude_calls_the_rooms_tools() {
    let plan = json!({ "key": "plan", "value": "walls first" });
    let real = Real::new(claude, "vfs_read, blackboard_write", "", |_| {
        fixtures(&[("the plan", "mcp__workshop__blackboard_write", plan)])
    });
    let output = real.run("Write down the plan.");
    assert!(output.contains("That was it."), "{output}");
    assert_eq!(calls(&output), ["blackboard_write"], "{output}");
    assert!(!output.contains("approval_requested") && !output.contains("\"own_tool\""), "{output}");
}

fn gemini_writes_through_the_rooms_files_under_the_gate() {
    let real = Real::new(gemini, "vfs_read, vfs_write", GATE, |workspace| write_fixtures(workspace, "write_file"));
    // Gemini treats a missing file as a client error, so both files exist.
    for path in ["artifacts/open.md", "artifacts/secret/x.md"] {
        let file = real.workspace.join(path);
        std::fs::create_dir_all(file.parent().expect("the path has a parent")).expect("the folder can be created");
        std::fs::write(file, "old").expect("the file can be written");
    }
    let output = real.run("Write the open file.");
    assert!(output.contains("That was it."), "{output}");
    let (calls, text) = (calls(&output), std::fs::read_to_string(real.workspace.join("artifacts/open.md")));
    assert!(calls.contains(&"use_own_tool".to_owned()) && calls.contains(&"vfs_write".to_owned()), "{output}");
    assert_eq!(text.expect("the file exists"), "by a coding agent");
    assert!(output.contains("own_options") && output.contains("yolo"), "its modes are listed: {output}");
    let output = real.run("Write the secret file.");
    assert!(output.contains("That was it."), "{output}");
    let text = std::fs::read_to_string(real.workspace.join("artifacts/secret/x.md")).expect("the file exists");
    assert_eq!(text, "old", "the denied file is not written");
}

fn gemini_calls_the_rooms_tools() {
    let plan = json!({ "key": "plan", "value": "walls first" });
    let real = Real::new(gemini, "vfs_read, blackboard_write", "", |_| {
        fixtures(&[("the plan", "mcp_workshop_blackboard_write", plan)])
    });
    let output = real.run("Write down the plan.");
    assert!(output.contains("That was it."), "{output}");
    assert_eq!(calls(&output), ["blackboard_write"], "{output}");
    assert!(!output.contains("approval_requested"), "{output}");
}

/// Starts an agent that runs commands with its own tool of this name.
fn with_command_fixtures(agent: Agent, tool: &str) -> Real {
    let run = |command: &str| json!({ "command": command, "description": "Makes a file" });
    Real::new(agent, "vfs_read, execute_command", "", |_| {
        fixtures(&[
            ("the first command", tool, run("touch artifacts/first.md")),
            ("the second command", tool, run("touch artifacts/second.md")),
        ])
    })
}

fn runs_allowed_commands_and_no_refused_ones(agent: Agent, tool: &str) {
    let real = with_command_fixtures(agent, tool);
    let mut room = real.room("Run the first command.");
    let question = wait_for_approval(&mut room);
    assert!(question["data"]["wants"].to_string().contains("touch artifacts/first.md"), "{question}");
    assert!(!real.workspace.join("artifacts/first.md").exists(), "the command waits for the answer");
    decide(&mut room, true, AllowScope::Once);
    assert!(completed_text(&mut room).contains("That was it."));
    assert!(real.workspace.join("artifacts/first.md").exists());
    room.push(TaskCommand { agent: "lead".into(), text: "Run the second command.".into() });
    wait_for_approval(&mut room);
    decide(&mut room, false, AllowScope::Once);
    completed_text(&mut room);
    assert!(!real.workspace.join("artifacts/second.md").exists(), "the refused command is not run");
}

fn is_stopped_and_does_the_next_task(agent: Agent, tool: &str) {
    let real = with_command_fixtures(agent, tool);
    let mut room = real.room("Run the first command.");
    wait_for_approval(&mut room);
    room.push(KernelCommand::KillAgent { agent: "lead".into() });
    room.until(10.0, "abort", |_| true);
    room.push(TaskCommand { agent: "lead".into(), text: "Say hello.".into() });
    assert!(completed_text(&mut room).contains("Hello."));
    assert!(!real.workspace.join("artifacts/first.md").exists());
}

fn contains_any_file(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.path().is_file() || contains_any_file(&entry.path()))
}

/// Closes the room while an approval is pending and reopens it. Returns the warnings after that.
fn warnings_after_reopening(agent: Agent, tool: &str, session_folder: &str) -> String {
    let real = with_command_fixtures(agent, tool);
    let mut room = real.room("Run the first command.");
    wait_for_approval(&mut room);
    // The agent saves its session some time later.
    let until = Instant::now() + Duration::from_secs(30);
    while !contains_any_file(&real.workspace.join("home").join(session_folder)) && Instant::now() < until {
        room.tick();
    }
    let mut again = room.reopened();
    drop(room);
    again.world().insert_resource(real.environment());
    completed_text_allowing_all(&mut again);
    again.events("warning").iter().map(|event| event["data"].to_string()).collect()
}

/// The tools with which the agents run commands.
const BASH: &str = "Bash";
const SHELL: &str = "run_shell_command";

fn claude_runs_allowed_commands_and_no_refused_ones() {
    runs_allowed_commands_and_no_refused_ones(claude, BASH);
}

fn gemini_runs_allowed_commands_and_no_refused_ones() {
    runs_allowed_commands_and_no_refused_ones(gemini, SHELL);
}

fn claude_is_stopped_and_does_the_next_task() {
    is_stopped_and_does_the_next_task(claude, BASH);
}

fn gemini_is_stopped_and_does_the_next_task() {
    is_stopped_and_does_the_next_task(gemini, SHELL);
}

fn claude_continues_in_a_reopened_room() {
    let warned = warnings_after_reopening(claude, BASH, ".claude/projects");
    assert!(!warned.contains("is lost"), "{warned}");
}

fn gemini_starts_over_in_a_reopened_room_and_the_loss_is_reported() {
    // Gemini does not find a session in which no turn was finished.
    let warned = warnings_after_reopening(gemini, SHELL, ".gemini/tmp");
    assert!(warned.contains("it starts a new one") && warned.contains("is lost"), "{warned}");
}
