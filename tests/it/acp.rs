//! Coding agents, well-behaved and not: what they do for the room, which permissions they need, and that none of their
//! processes are left running.

mod kills;
mod real_agents;
mod room_tools;
mod terminals;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use agent_workshop::base::AllowScope;
use agent_workshop::gateway::acp::agent_of;
use agent_workshop::gateway::peers::{allow_peer, forbid_peer};
use agent_workshop::gateway::unconfined::UNCONFINED_FILE;
use agent_workshop::gateway::{Environment, GatewayEnvironment, LiveText};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::{folder, json_lines, succeed};
use crate::sandbox_modes::use_supervisor;
use crate::servers::{processes, run_in};
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        an_agent_reads_and_writes_files_of_the_workspace,
        an_agent_starts_only_if_exactly_this_command_line_was_allowed,
        forbidding_a_running_agent_ends_it,
        a_person_is_asked_before_own_tools_and_once_if_allowed_for_the_task,
        a_refused_tool_is_not_run_and_the_turn_continues,
        tools_that_its_file_does_not_list_are_denied_without_asking,
        a_deny_rule_applies_without_asking,
        an_agent_that_offers_only_permanent_permission_is_not_allowed,
        paths_outside_the_workspace_are_refused,
        own_tools_plans_and_commands_are_logged,
        files_that_an_agent_changes_by_itself_are_logged_as_its_changes,
        thoughts_are_shown_and_saved_but_are_not_part_of_the_answer,
        images_in_an_answer_are_mentioned_and_saved,
        reported_tokens_and_costs_are_recorded,
        misbehaving_agents_are_reported_in_time_and_leave_no_process,
        an_agent_that_dies_during_a_turn_is_restarted_and_reported,
        messages_after_the_end_of_a_turn_are_ignored,
        stopping_work_stops_the_agent,
        an_agent_that_ignores_cancellation_is_killed,
        a_write_that_an_element_rejects_is_not_reported_as_written,
        an_agent_that_died_continues_in_its_session,
        a_reopened_room_continues_in_the_agents_session,
        a_lost_session_is_reported,
        options_of_an_agent_are_chosen_in_the_settings,
        an_invalid_option_is_reported_with_the_valid_ones,
        a_mode_with_fewer_questions_needs_a_persons_permission,
        an_agent_that_switches_to_such_a_mode_by_itself_is_stopped,
        a_run_replays_without_the_agent,
        an_agent_that_only_talks_in_the_room_uses_no_tools,
        an_agent_keeps_its_session_and_is_sent_only_new_messages,
        the_command_line_lists_allows_and_forbids,
    ];
    use_supervisor();
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the coding agent tests", missing);
    let own = cases
        .into_iter()
        .chain(terminals::cases())
        .chain(room_tools::cases())
        .chain(kills::cases())
        .map(|case| case.with_ignored_flag(ignored));
    own.chain(real_agents::cases()).collect()
}

/// Returns the path of the mock agent's script, `odd_agent.py`, written to the temporary folder once per process.
fn script() -> &'static Path {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = place.join(format!("odd_agent-{}.py", std::process::id()));
        std::fs::write(&file, include_str!("odd_agent.py")).expect("the file can be written");
        file
    })
}

/// Returns the command line of the mock agent in this mode; `case` distinguishes its processes from those of other
/// tests.
fn command_line(mode: &str, case: &str) -> String {
    format!("python3 {} {mode} {case}", script().display())
}

/// Waits up to five seconds until no process of this test is left. Returns whether that happened.
fn is_gone(mode: &str, case: &str) -> bool {
    let word = format!("{} {mode} {case}", script().display());
    let until = Instant::now() + Duration::from_secs(5);
    while !processes(&word).is_empty() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const SHORT_TIMEOUTS: &str = "gateway: { max_attempts: 2, min_retry_delay_secs: 0.05 }\n\
                       acp: { start_timeout_secs: 5, silence_timeout_secs: 2, cancel_timeout_secs: 1 }\n";

/// A temporary workspace with a configuration folder of its own; its rooms have their files in memory.
struct TestWorkspace {
    workspace: tempfile::TempDir,
    config: tempfile::TempDir,
}

impl TestWorkspace {
    fn new() -> Self {
        let workspace = Self { workspace: folder(), config: folder() };
        std::fs::create_dir(workspace.workspace.path().join("artifacts")).expect("the folder can be created");
        workspace
    }

    fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(self.workspace.path())
    }

    fn allow(&self, command_line: &str) {
        let agent = agent_of(command_line, &std::collections::BTreeMap::new()).expect("the command line is valid");
        allow_peer(&self.environment(), self.workspace.path(), &agent).expect("the permission can be saved");
    }

    /// Opens a room whose agent is the mock agent, with these tools, settings and task.
    fn room(&self, command_line: &str, tools: &str, settings: &str, task: &str) -> Workshop {
        let lead =
            format!("---\nid: lead\nmodel: {:?}\ntools: [{tools}]\n---\nYou lead.\n", format!("acp:{command_line}"));
        let settings = format!("{SHORT_TIMEOUTS}{settings}");
        let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(GatewayEnvironment(self.environment()));
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    /// Allows the mock agent and opens a room with these choices for the options that it offers.
    fn allowed_with_options(&self, mode: &str, case: &str, options: &str, task: &str) -> Workshop {
        let command_line = command_line(mode, case);
        self.allow(&command_line);
        let lead =
            format!("---\nid: lead\nmodel: {:?}\ntools: [vfs_read]\n---\nYou lead.\n", format!("acp:{command_line}"));
        let chosen = format!("acp: {{ options: {{ {command_line:?}: {{ {options} }} }}, ");
        let settings = SHORT_TIMEOUTS.replace("acp: { ", &chosen);
        let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(GatewayEnvironment(self.environment()));
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    fn allowed(&self, mode: &str, case: &str, tools: &str, settings: &str, task: &str) -> Workshop {
        let command_line = command_line(mode, case);
        self.allow(&command_line);
        self.room(&command_line, tools, settings, task)
    }
}

/// Runs the room until the work is completed. Returns the agent's final text.
fn completed_text(room: &mut Workshop) -> String {
    let seen = room.log().len();
    for _ in 0..3_600 {
        room.tick();
        if let Some(done) = room.log()[seen..].iter().find(|event| event["type"] == "complete") {
            return done["data"]["text"].as_str().unwrap_or_default().to_owned();
        }
    }
    panic!("the work never completes: {:#?}", &room.log()[seen.saturating_sub(5)..]);
}

/// Runs the room until work fails. Returns the error as the person reads it, with its remedy.
fn error_text(room: &mut Workshop) -> String {
    room.until(300.0, "error", |event| event["data"].to_string().contains("turns"))["data"].to_string()
}

fn decide(room: &mut Workshop, allow: bool, scope: AllowScope) {
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    room.push(approval.answer(allow, scope, None));
}

fn wait_for_approval(room: &mut Workshop) -> Value {
    room.until(60.0, "approval_requested", |_| true)
}

/// Creates a workspace on disk whose agent is the mock agent, and allows it. Returns the temporary folders of the
/// workspace and the configuration, and the workspace's path.
fn on_disk(mode: &str, case: &str, tools: &str) -> (tempfile::TempDir, tempfile::TempDir, PathBuf) {
    let (parent, config) = (folder(), folder());
    let workspace = parent.path().join("w");
    std::fs::create_dir_all(workspace.join("artifacts")).expect("the folder can be created");
    succeed(&workspace, &["init", "--bare", "."]);
    let command_line = command_line(mode, case);
    let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [{tools}]\n---\nYou lead.\n", format!("acp:{command_line}"));
    std::fs::create_dir_all(workspace.join("agents")).expect("the folder can be created");
    std::fs::write(workspace.join("agents/lead.md"), lead).expect("the file can be written");
    std::fs::write(workspace.join("artifacts/a.md"), "first\nsecond\nError: third\n").expect("the file can be written");
    let allowed = run_in(&workspace, config.path(), &["acp", "allow", &command_line, "--yes"]);
    assert_eq!(allowed.0, Some(0), "{}", allowed.1);
    (parent, config, workspace)
}

fn an_agent_reads_and_writes_files_of_the_workspace() {
    let (_folder, config, workspace) = on_disk("good", "files", "vfs_read, vfs_write");
    let task = "do:read artifacts/a.md\ndo:write artifacts/b.md made by an agent\ndo:both artifacts/a.md artifacts/b.md\n\
                do:read artifacts/none.md\ndo:write settings.yaml x";
    let (code, output) = run_in(
        &workspace,
        config.path(),
        &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{output}");
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let text = std::fs::read_to_string(workspace.join("artifacts/b.md")).expect("the file was written");
    assert_eq!(text, "made by an agent");
    let complete = of("complete")[0]["data"]["text"].to_string();
    assert!(complete.contains("not written settings.yaml"), "{complete}");
    let all = events.iter().map(Value::to_string).collect::<String>();
    for part in ["Error: third", "wrote artifacts/b.md", "not read artifacts/none.md"] {
        assert!(all.contains(part), "{part} in {output}");
    }
    let calls = of("tool_call");
    let tools: Vec<&str> = calls.iter().filter_map(|call| call["data"]["tool"].as_str()).collect();
    assert_eq!(tools, ["read_text", "vfs_write", "read_text", "read_text", "read_text", "vfs_write"], "{output}");
    assert!(of("write").iter().chain(&of("file")).all(|event| event["agent"] == "lead"), "{output}");
    assert!(is_gone("good", "files"));
}

fn an_agent_starts_only_if_exactly_this_command_line_was_allowed() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.room(&command_line("good", "unasked"), "vfs_read", "", "do:say hi");
    let why = error_text(&mut room);
    assert!(why.contains("needs your permission") && why.contains("workshop acp allow"), "{why}");
    assert!(processes(&format!("{} good unasked", script().display())).is_empty());
    workspace.allow(&command_line("good", "other"));
    let mut room = workspace.room(&command_line("good", "unasked"), "vfs_read", "", "do:say hi");
    assert!(error_text(&mut room).contains("needs your permission"));
}

fn forbidding_a_running_agent_ends_it() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "forbidden", "execute_command", "", "do:say one\ndo:run echo two");
    wait_for_approval(&mut room);
    let agent = agent_of(&command_line("good", "forbidden"), &std::collections::BTreeMap::new())
        .expect("the command line is valid");
    forbid_peer(&workspace.environment(), workspace.workspace.path(), &agent).expect("the permission can be saved");
    assert!(is_gone("good", "forbidden"), "also in the middle of a turn");
    decide(&mut room, true, AllowScope::Once);
    assert!(outcome_text(&mut room).contains("needs your permission"));
}

fn outcome_text(room: &mut Workshop) -> String {
    for _ in 0..3_000 {
        room.tick();
        let over = room.log().iter().rev().find(|event| {
            event["type"] == "complete"
                || event["type"] == "abort"
                || (event["type"] == "error" && event["activation"].is_string())
        });
        if let Some(over) = over {
            return over["data"].to_string();
        }
    }
    panic!("the work never ends");
}

fn a_person_is_asked_before_own_tools_and_once_if_allowed_for_the_task() {
    let workspace = TestWorkspace::new();
    let task = "do:run echo one\ndo:edit artifacts/x.md\ndo:edit artifacts/y.md";
    let mut room =
        workspace.allowed("good", "asked", "execute_command, vfs_write", "gate: { file_write: ask }\n", task);
    let question = wait_for_approval(&mut room);
    assert_eq!(question["data"]["tool"], "use_own_tool", "{question}");
    assert!(question["data"]["wants"].to_string().contains("run `echo one`"), "{question}");
    decide(&mut room, true, AllowScope::Once);
    let question = wait_for_approval(&mut room);
    assert!(question["data"]["wants"].to_string().contains("change artifacts/x.md"), "{question}");
    decide(&mut room, true, AllowScope::Task);
    let text = completed_text(&mut room);
    for part in ["ran echo one: one", "edit artifacts/x.md: yes", "edit artifacts/y.md: yes"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(room.events("approval_requested").len(), 2, "a permission for the task is asked for once");
    drop(room);
    assert!(is_gone("good", "asked"));
}

fn a_refused_tool_is_not_run_and_the_turn_continues() {
    let workspace = TestWorkspace::new();
    let mut room =
        workspace.allowed("good", "refused", "execute_command", "", "do:run touch made.txt\ndo:say afterwards");
    wait_for_approval(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("did not run touch made.txt: no") && text.contains("afterwards"), "{text}");
    assert!(!workspace.workspace.path().join("made.txt").exists());
}

fn tools_that_its_file_does_not_list_are_denied_without_asking() {
    let workspace = TestWorkspace::new();
    let task = "do:run echo one\ndo:write artifacts/a.md x\ndo:edit artifacts/a.md";
    let mut room = workspace.allowed("good", "unlisted", "vfs_read", "", task);
    let text = completed_text(&mut room);
    for part in ["did not run echo one: no", "not written artifacts/a.md", "edit artifacts/a.md: no"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(room.events("approval_requested").is_empty());
}

fn a_deny_rule_applies_without_asking() {
    let workspace = TestWorkspace::new();
    let gate = "gate: { deny: [\"artifacts/secret/**\"] }\n";
    let mut room = workspace.allowed("good", "denied", "vfs_write", gate, "do:edit artifacts/secret/x.md");
    let text = completed_text(&mut room);
    assert!(text.contains("edit artifacts/secret/x.md: no"), "{text}");
    assert!(room.events("approval_requested").is_empty());
}

fn an_agent_that_offers_only_permanent_permission_is_not_allowed() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("greedy", "greedy", "execute_command", "", "do:run touch made.txt");
    wait_for_approval(&mut room);
    decide(&mut room, true, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("did not run touch made.txt: cancelled"), "{text}");
}

fn paths_outside_the_workspace_are_refused() {
    let workspace = TestWorkspace::new();
    let task = "do:read /etc/passwd\ndo:read ../x.md\ndo:write ../x.md x\ndo:write /tmp/x.md x\ndo:edit /etc/passwd";
    let mut room = workspace.allowed("good", "outside", "vfs_read, vfs_write", "", task);
    let text = completed_text(&mut room);
    for part in
        ["not read /etc/passwd", "not read ../x.md", "not written ../x.md", "not written /tmp/x.md", "/etc/passwd: no"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(room.events("approval_requested").is_empty(), "denied calls need no approval");
}

fn own_tools_plans_and_commands_are_logged() {
    let workspace = TestWorkspace::new();
    let mut room =
        workspace.allowed("good", "told", "vfs_read", "", "do:tool Look around\ndo:plan\ndo:commands\ndo:say done");
    completed_text(&mut room);
    let used = room.events("own_tool")[0]["data"].clone();
    assert_eq!(
        (&used["title"], &used["kind"], &used["status"]),
        (&json!("Look around"), &json!("search"), &json!("completed"))
    );
    assert_eq!(used["paths"], json!(["a.md"]));
    assert_eq!(room.events("own_commands")[0]["data"]["commands"][0]["name"], "review");
    assert_eq!(room.events("own_plan")[0]["data"]["steps"].as_array().map(Vec::len), Some(2));
}

fn files_that_an_agent_changes_by_itself_are_logged_as_its_changes() {
    let (_folder, config, workspace) = on_disk("good", "by_itself", "vfs_read, vfs_write");
    let task = "do:selfwrite artifacts/own.md mine\ndo:write artifacts/ours.md ours";
    let (code, output) = run_in(
        &workspace,
        config.path(),
        &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{output}");
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let seen: Vec<&Value> = events.iter().filter(|event| event["type"] == "own_change").collect();
    assert_eq!(seen.len(), 1, "a write through the room is not an own change: {output}");
    assert_eq!((&seen[0]["data"]["path"], &seen[0]["agent"]), (&json!("artifacts/own.md"), &json!("lead")), "{output}");
}

/// Reads the only session file of a workspace.
fn session_of(place: &Path) -> Value {
    let mut files = std::fs::read_dir(place.join("sessions")).expect("the folder exists").flatten();
    let text =
        std::fs::read_to_string(files.next().expect("at least one exists").path()).expect("the file can be read");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn thoughts_are_shown_and_saved_but_are_not_part_of_the_answer() {
    let (_folder, config, workspace) = on_disk("good", "thinks", "vfs_read");
    let task = "do:think Where could it be?\ndo:read artifacts/a.md\ndo:think Ah, there.\ndo:say Found.";
    let (code, output) = run_in(
        &workspace,
        config.path(),
        &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{output}");
    let session = session_of(&workspace);
    let messages = session["messages"].as_array().expect("it is a list");
    let thoughts: Vec<&str> =
        messages.iter().filter_map(|message| message["metadata"]["thoughts"].as_str().map(str::trim)).collect();
    assert_eq!(thoughts, ["Where could it be?", "Ah, there."], "{session:#}");
    let answer_text: String = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"].to_string())
        .collect();
    assert!(answer_text.contains("Found.") && !answer_text.contains("could it be"), "{answer_text}");
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let done = events.iter().find(|event| event["type"] == "complete").expect("the work is completed");
    assert!(!done["data"]["text"].to_string().contains("could it be"), "{done}");
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "thinking", "vfs_read", "", "do:think Let me see\ndo:wait");
    let until = Instant::now() + Duration::from_secs(20);
    while room.world().resource::<LiveText>().reasoning("lead").trim() != "Let me see" {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "the thought is never shown");
    }
    assert!(
        room.world().resource::<LiveText>().iter().all(|(_, answer_text)| answer_text.is_empty()),
        "the agent has said nothing yet"
    );
}

fn images_in_an_answer_are_mentioned_and_saved() {
    let (_folder, config, workspace) = on_disk("good", "pictures", "vfs_read");
    let task = "do:say Look:\ndo:picture";
    let (code, output) = run_in(
        &workspace,
        config.path(),
        &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("[an image (image/png), 1 KB]"), "{output}");
    let session = session_of(&workspace);
    let messages = session["messages"].as_array().expect("it is a list");
    let images: Vec<&Value> = messages.iter().filter_map(|message| message["metadata"]["images"].get(0)).collect();
    assert_eq!(images, [&json!({ "media_type": "image/png", "base64": "aGk=" })], "{session:#}");
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let shot = events.iter().find(|event| event["type"] == "own_tool").expect("the agent used a tool");
    assert_eq!(shot["data"]["images"], 1, "{shot}");
}

fn reported_tokens_and_costs_are_recorded() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("paid", "paid", "vfs_read", "", "do:say done");
    completed_text(&mut room);
    let call = room.events("model_call").last().expect("the model was called")["data"].clone();
    assert_eq!(
        (&call["tokens_in"], &call["tokens_out"], &call["cost_usd"]),
        (&json!(1000), &json!(100), &json!(0.25)),
        "{call}"
    );
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "unpaid", "vfs_read", "", "do:say done");
    completed_text(&mut room);
    let call = room.events("model_call").last().expect("the model was called")["data"].clone();
    assert!(call["cost_usd"].is_null() && call["estimated"] == true, "the cost is unknown: {call}");
}

fn misbehaving_agents_are_reported_in_time_and_leave_no_process() {
    for (mode, words) in [
        ("mute", "sent nothing for 2 s"),
        ("endless", "too long"),
        ("babble", "does not speak the Agent Client Protocol"),
        ("flood", "a response that is too large"),
        ("version", "answered with an error"),
        ("gone", "no such model"),
        ("login", "needs you to log in first"),
        ("nolimit", "its own limit of requests"),
        ("stubborn", "sent nothing for 2 s"),
    ] {
        let workspace = TestWorkspace::new();
        let mut room = workspace.allowed(mode, "bad", "vfs_read", "", "do:say hi");
        let why = error_text(&mut room);
        assert!(why.contains(words), "{mode}: {why}");
        drop(room);
        assert!(is_gone(mode, "bad"), "{mode}");
    }
    for (mode, words) in
        [("garbage", "hello"), ("loud", "hello"), ("stranger", "there is no such session"), ("family", "hello")]
    {
        let workspace = TestWorkspace::new();
        let mut room = workspace.allowed(mode, "odd", "vfs_read", "", "do:say hello");
        let text = completed_text(&mut room);
        assert!(text.contains(words), "{mode}: {text}");
        drop(room);
        assert!(is_gone(mode, "odd"), "{mode}");
    }
    assert!(processes("sleep 12345").is_empty(), "its child processes end with it");
}

fn an_agent_that_dies_during_a_turn_is_restarted_and_reported() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "dies", "execute_command", "", "do:die");
    let why = error_text(&mut room);
    assert!(why.contains("out of luck") && why.contains("tried 2 times"), "{why}");
    drop(room);
    let mut room = workspace.allowed("good", "dies", "execute_command", "", "do:say first\ndo:run echo x\ndo:die");
    wait_for_approval(&mut room);
    decide(&mut room, true, AllowScope::Once);
    let why = error_text(&mut room);
    assert!(why.contains("out of luck"), "{why}");
    drop(room);
    assert!(is_gone("good", "dies"));
}

fn messages_after_the_end_of_a_turn_are_ignored() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("late", "late", "execute_command", "", "do:say in time");
    assert_eq!(completed_text(&mut room).trim(), "in time");
    room.advance(2.0);
    let all: String = room.log().iter().map(Value::to_string).collect();
    assert!(!all.contains("LATE WORDS") && room.events("approval_requested").is_empty(), "{all}");
    drop(room);
    assert!(is_gone("late", "late"));
}

/// Runs the room until the agent starts to answer.
fn run_until_it_speaks(room: &mut Workshop) {
    let until = Instant::now() + Duration::from_secs(20);
    while room.world().resource::<LiveText>().iter().all(|(_, said)| said.is_empty()) {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "the agent never says anything");
    }
}

fn stopping_work_stops_the_agent() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "stopped", "execute_command", "", "do:run echo x\ndo:wait");
    wait_for_approval(&mut room);
    room.push(KernelCommand::KillAgent { agent: "lead".into() });
    room.until(10.0, "abort", |_| true);
    room.push(TaskCommand { agent: "lead".into(), text: "do:say again".into() });
    assert_eq!(completed_text(&mut room).trim(), "again", "the agent answers the next task");
    drop(room);
    assert!(is_gone("good", "stopped"));
}

fn an_agent_that_ignores_cancellation_is_killed() {
    let workspace = TestWorkspace::new();
    let settings = "acp: { silence_timeout_secs: 60, cancel_timeout_secs: 0.3 }\n";
    let command_line = command_line("stubborn", "unstopped");
    workspace.allow(&command_line);
    let lead = format!("---\nid: lead\nmodel: {:?}\n---\nYou lead.\n", format!("acp:{command_line}"));
    let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", settings).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "do:say hi".into() });
    run_until_it_speaks(&mut room);
    room.push(KernelCommand::KillAll);
    let until = Instant::now() + Duration::from_secs(20);
    while !processes(&format!("{} stubborn unstopped", script().display())).is_empty() {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "the agent is never killed");
    }
}

/// Like [`completed_text`], but allows every pending approval.
fn completed_text_allowing_all(room: &mut Workshop) -> String {
    let seen = room.log().len();
    for _ in 0..3_600 {
        room.tick();
        if let Some(done) = room.log()[seen..].iter().find(|event| event["type"] == "complete") {
            return done["data"]["text"].as_str().unwrap_or_default().to_owned();
        }
        let answer = room
            .world()
            .resource::<Kernel>()
            .approvals()
            .next()
            .map(|approval| approval.answer(true, AllowScope::Once, None));
        if let Some(answer) = answer {
            room.push(answer);
        }
    }
    panic!("the work never completes: {:#?}", &room.log()[seen.max(room.log().len().saturating_sub(5))..]);
}

fn a_write_that_an_element_rejects_is_not_reported_as_written() {
    let (_folder, config, workspace) = on_disk("good", "kept_out", "vfs_read, vfs_write");
    let scenes = std::fs::read_dir(workspace.join("scenes")).expect("the workspace has scenes").flatten();
    let scene = scenes.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "yaml"));
    let text = "name: Test\nseed: 3\nelements:\n  - { id: mail, kind: inbox, owner: other, position: [200, 0], file: \
                boards/mail.md }\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: \
                other, position: [90, 0] }\n";
    std::fs::write(scene.expect("at least one exists"), text).expect("the file can be written");
    std::fs::write(workspace.join("agents/other.md"), "---\nid: other\n---\nYou wait.\n")
        .expect("the file can be written");
    let task = "do:write boards/mail.md x\ndo:write artifacts/y.md y";
    let arguments = ["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"];
    let (code, output) = run_in(&workspace, config.path(), &arguments);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("wrote artifacts/y.md"), "{output}");
    assert!(output.contains("not written boards/mail.md") && !output.contains("wrote boards/mail.md"), "{output}");
}

fn an_agent_that_died_continues_in_its_session() {
    for mode in ["keeps", "resumes"] {
        let workspace = TestWorkspace::new();
        let mut room = workspace.allowed(mode, "ended", "vfs_read", "", "do:dieonce\ndo:say afterwards");
        let text = completed_text(&mut room);
        assert!(text.contains("resumed s") && text.contains("afterwards"), "{mode}: {text}");
        let all: String = room.log().iter().map(Value::to_string).collect();
        assert!(!all.contains("REPLAYED"), "replayed messages are not reported again: {all}");
        drop(room);
        assert!(is_gone(mode, "ended"));
    }
}

fn a_reopened_room_continues_in_the_agents_session() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("keeps", "reopened", "execute_command", "", "do:run echo one");
    wait_for_approval(&mut room);
    let mut again = room.reopened();
    drop(room);
    assert!(is_gone("keeps", "reopened"), "the agent ended with the room");
    again.world().insert_resource(GatewayEnvironment(workspace.environment()));
    decide(&mut again, true, AllowScope::Once);
    let text = completed_text(&mut again);
    assert!(text.contains("resumed s") && !text.contains("REPLAYED"), "{text}");
    drop(again);
    assert!(is_gone("keeps", "reopened"));
}

fn a_lost_session_is_reported() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("forgets", "lost", "execute_command", "", "do:run echo one\ndo:say fresh");
    wait_for_approval(&mut room);
    let mut again = room.reopened();
    drop(room);
    again.world().insert_resource(GatewayEnvironment(workspace.environment()));
    let text = completed_text_allowing_all(&mut again);
    assert!(text.contains("fresh") && !text.contains("resumed"), "{text}");
    let warned: String = again.events("warning").iter().map(|event| event["data"].to_string()).collect();
    assert!(warned.contains("no such session is kept") && warned.contains("is lost"), "{warned}");
}

fn options_of_an_agent_are_chosen_in_the_settings() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed_with_options("modes", "chosen", "mode: plan, model: small", "do:mode");
    assert_eq!(completed_text(&mut room).trim(), "mode: plan model: small");
    let options = room.events("own_options")[0]["data"]["options"].clone();
    assert_eq!((&options[0]["current"], &options[1]["current"]), (&json!("plan"), &json!("small")), "{options}");
    assert_eq!(options[0]["values"][2]["asks_less"], true, "{options}");
    assert!(room.events("approval_requested").is_empty());
}

fn an_invalid_option_is_reported_with_the_valid_ones() {
    let workspace = TestWorkspace::new();
    let why = error_text(&mut workspace.allowed_with_options("modes", "unchosen", "mode: fast", "do:mode"));
    assert!(why.contains("default, plan, bypassPermissions") && why.contains("acp.options"), "{why}");
    let why = error_text(&mut workspace.allowed_with_options("good", "unchosen", "model: big", "do:mode"));
    assert!(why.contains("no option") && why.contains("acp.options"), "{why}");
}

fn a_mode_with_fewer_questions_needs_a_persons_permission() {
    for (mode, allow, expected) in [
        ("modes", true, "mode: bypassPermissions"),
        ("modes", false, "mode: default"),
        ("reckless", true, "mode: bypass"),
    ] {
        let workspace = TestWorkspace::new();
        let options = if mode == "modes" { "mode: bypassPermissions" } else { "" };
        let mut room = workspace.allowed_with_options(mode, "less", options, "do:mode\ndo:say done");
        let question = wait_for_approval(&mut room);
        assert!(question["data"].to_string().contains("Bypass Permissions"), "{question}");
        decide(&mut room, allow, AllowScope::Once);
        let text = completed_text(&mut room);
        assert!(text.contains(expected), "{expected} in {text}");
        assert_eq!(room.events("approval_requested").len(), 1, "one approval is requested");
    }
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed_with_options("reckless", "never", "", "do:mode");
    wait_for_approval(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let why = error_text(&mut room);
    assert!(why.contains("only works in its mode"), "{why}");
}

fn an_agent_that_switches_to_such_a_mode_by_itself_is_stopped() {
    let workspace = TestWorkspace::new();
    let mut room =
        workspace.allowed_with_options("modes", "beyond", "mode: plan", "do:switch bypassPermissions\ndo:say done");
    let why = error_text(&mut room);
    assert!(why.contains("switched by itself to its mode “Bypass Permissions”"), "{why}");
    drop(room);
    assert!(is_gone("modes", "beyond"));
}

fn a_run_replays_without_the_agent() {
    let workspace = TestWorkspace::new();
    let task = "do:tool Look around\ndo:run echo one\ndo:say done";
    let mut live = workspace.allowed("good", "replayed", "execute_command", "", task);
    wait_for_approval(&mut live);
    decide(&mut live, true, AllowScope::Once);
    completed_text(&mut live);
    let again = live.replayed();
    assert_eq!(again.events("own_tool").len(), 1);
    assert_eq!(again.events("own_tool")[0]["data"], live.events("own_tool")[0]["data"]);
    drop(live);
    assert!(is_gone("good", "replayed"), "the replay starts no process");
}

fn an_agent_that_only_talks_in_the_room_uses_no_tools() {
    let workspace = TestWorkspace::new();
    let command_line = command_line("good", "room");
    workspace.allow(&command_line);
    let scene = "name: Test\nseed: 3\nelements:\n  - { id: news, kind: messageboard, label: News, position: [60, 0], \
                 text: \"do:read /etc/passwd\" }\nagents:\n  - { id: lead, profile: lead, position: [10, 0] }\n";
    let lead = format!("---\nid: lead\nmodel: {:?}\n---\nYou lead.\n", format!("acp:{command_line}"));
    let mut room = Setup::scene(scene).profile("lead", &lead).file("settings.yaml", SHORT_TIMEOUTS).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    let call = room.until(300.0, "model_call", |event| event["data"]["provider"] == "acp");
    assert!(call["data"]["error"].is_null(), "{call}");
    assert!(room.events("tool_call").is_empty());
}

fn an_agent_keeps_its_session_and_is_sent_only_new_messages() {
    let workspace = TestWorkspace::new();
    let log = workspace.config.path().join("prompts.jsonl");
    let agents = json!({ "noted": {
        "command": "python3", "args": [script(), "good", "noted"], "env": { "ODD_LOG": log },
    } });
    let agent = agent_of("noted", &serde_json::from_value(agents.clone()).expect("it is a table"))
        .expect("the agent is defined");
    allow_peer(&workspace.environment(), workspace.workspace.path(), &agent).expect("the permission can be saved");
    // The agent writes its log outside of the workspace.
    let place = workspace.workspace.path().canonicalize().expect("it exists");
    std::fs::write(workspace.config.path().join(UNCONFINED_FILE), format!("{}: [acp]\n", place.display()))
        .expect("it can be written");
    let settings = format!("acp: {{ agents: {agents} }}\nkernel: {{ max_strikes: 3 }}\n");
    let lead = "---\nid: lead\nmodel: acp:noted\ntools: [execute_command]\n---\nYou lead.\n";
    let mut room = Setup::scene(SCENE).profile("lead", lead).file("settings.yaml", &settings).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    // After a turn without text, a reminder follows in the same session.
    room.push(TaskCommand { agent: "lead".into(), text: "do:tool Look".into() });
    outcome_text(&mut room);
    let prompts = json_lines(&std::fs::read_to_string(&log).expect("the prompts were logged"));
    assert!(prompts.len() >= 2, "{prompts:?}");
    assert!(prompts[0].to_string().contains("You lead.") && prompts[0].to_string().contains("do:tool Look"));
    assert!(
        prompts[1].to_string().contains("Progress check") && !prompts[1].to_string().contains("You lead."),
        "{prompts:?}"
    );
}

fn the_command_line_lists_allows_and_forbids() {
    let (_folder, config, workspace) = on_disk("good", "listed", "vfs_read");
    let (code, output) = run_in(&workspace, config.path(), &["acp", "list", "--json"]);
    assert_eq!(code, Some(0), "{output}");
    let listed: Value = serde_json::from_str(&output).expect("it is JSON");
    let models: Vec<&str> =
        listed["agents"].as_array().expect("it is a list").iter().filter_map(|agent| agent["model"].as_str()).collect();
    assert!(models.contains(&"acp:claude") && models.contains(&"acp:gemini"), "{models:?}");
    let model = format!("acp:{}", command_line("good", "listed"));
    let (code, output) = run_in(&workspace, config.path(), &["doctor", "--try", &model]);
    assert!(code == Some(0) && output.contains("answered after"), "{output}");
    assert!(is_gone("good", "listed"), "an agent that was only tried out does not stay running");
    let (code, output) = run_in(&workspace, config.path(), &["acp", "forbid", &command_line("good", "listed")]);
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = run_in(&workspace, config.path(), &["doctor", "--try", &model]);
    assert!(code == Some(1) && output.contains("workshop acp allow"), "{output}");
    let (_, output) =
        run_in(&workspace, config.path(), &["run", "--agent", "lead", "--task", "do:say hi", "--until", "idle"]);
    assert!(output.contains("workshop acp allow"), "{output}");
    let (code, output) = run_in(&workspace, config.path(), &["acp", "allow", "clade", "--yes"]);
    assert!(code != Some(0) && output.contains("acp:claude"), "{output}");
    let (_, output) = run_in(&workspace, config.path(), &["doctor"]);
    assert!(output.contains("coding agents"), "{output}");
}
