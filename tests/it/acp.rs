//! Coding agents, well-behaved and not: what they do for the room, what a person is asked first, and that none of their
//! processes remain.

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
use agent_workshop::gateway::sandbox::watch_with;
use agent_workshop::gateway::{Environment, GatewayEnvironment, LiveText};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::{folder, json_lines, succeed};
use crate::servers::{processes, run_in};
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        a_task_is_done_with_files_of_the_workspace,
        no_agent_starts_that_no_person_allowed_exactly_so,
        an_agent_that_is_forbidden_meanwhile_is_ended,
        a_person_is_asked_before_a_tool_of_its_own_and_for_a_task_once,
        what_is_refused_is_refused_and_the_answer_continues,
        what_its_file_does_not_list_is_denied_without_asking,
        what_a_rule_denies_is_denied_without_asking,
        an_agent_that_would_only_be_allowed_permanently_is_not,
        paths_outside_are_refused,
        what_it_tells_of_itself_is_in_the_log,
        what_it_changes_by_itself_is_its_act_in_the_log,
        what_it_thinks_is_seen_and_kept_and_is_nobodys_words,
        images_of_its_answer_are_said_and_kept,
        what_it_tells_of_tokens_and_cost_is_booked,
        agents_that_misbehave_are_reported_in_time_and_leave_nothing,
        an_agent_that_ends_in_the_middle_is_started_again_and_told,
        what_comes_after_the_end_of_a_turn_is_not_heard,
        work_that_is_stopped_stops_the_agent,
        an_agent_that_does_not_stop_is_ended,
        what_an_element_does_not_take_over_is_not_reported_as_written,
        an_agent_that_was_ended_continues_in_its_session,
        a_room_that_is_opened_again_continues_in_the_session_of_the_agent,
        a_session_that_is_lost_is_said_to_be_lost,
        what_an_agent_lets_be_chosen_is_chosen_by_the_settings,
        what_cannot_be_chosen_is_reported_with_what_can,
        a_mode_in_which_it_asks_less_asks_a_person_first,
        an_agent_that_goes_into_such_a_mode_by_itself_is_stopped,
        a_run_replays_without_the_agent,
        an_agent_in_the_room_speaks_and_touches_nothing,
        it_keeps_its_session_and_is_sent_only_what_is_new,
        the_command_line_lists_allows_and_forbids,
    ];
    watch_with(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the cases of coding agents", missing);
    let own = cases
        .into_iter()
        .chain(terminals::cases())
        .chain(room_tools::cases())
        .chain(kills::cases())
        .map(|case| case.with_ignored_flag(ignored));
    own.chain(real_agents::cases()).collect()
}

/// The script of the odd agent; `None` where it cannot be started.
fn script() -> &'static Path {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = place.join(format!("odd_agent-{}.py", std::process::id()));
        std::fs::write(&file, include_str!("odd_agent.py")).expect("files can be written");
        file
    })
}

/// The command line of the odd agent in this mode; `case` distinguishes its processes from those of other cases.
fn line(mode: &str, case: &str) -> String {
    format!("python3 {} {mode} {case}", script().display())
}

/// Whether no process of this case is left, after a short wait.
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
const PATIENT: &str = "gateway: { attempts: 2, retry_first_delay_secs: 0.05 }\n\
                       acp: { start_timeout_secs: 5, silence_timeout_secs: 2, cancel_timeout_secs: 1 }\n";

/// The in-memory files of a room, with a folder for the person's own configuration.
struct Place {
    workspace: tempfile::TempDir,
    config: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { workspace: folder(), config: folder() };
        std::fs::create_dir(place.workspace.path().join("artifacts")).expect("folders can be made");
        place
    }

    fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(self.workspace.path())
    }

    fn allow(&self, line: &str) {
        let agent = agent_of(line, &std::collections::BTreeMap::new()).expect("it is a command line");
        allow_peer(&self.environment(), self.workspace.path(), &agent).expect("it can be kept");
    }

    /// A room whose agent is the odd agent, with these tools and settings and this task.
    fn room(&self, line: &str, tools: &str, settings: &str, task: &str) -> Workshop {
        let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [{tools}]\n---\nYou lead.\n", format!("acp:{line}"));
        let settings = format!("{PATIENT}{settings}");
        let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(GatewayEnvironment(self.environment()));
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    /// The same with these choices for the options that the agent offers.
    fn choosing(&self, mode: &str, case: &str, options: &str, task: &str) -> Workshop {
        let line = line(mode, case);
        self.allow(&line);
        let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [vfs_read]\n---\nYou lead.\n", format!("acp:{line}"));
        let chosen = format!("acp: {{ options: {{ {line:?}: {{ {options} }} }}, ");
        let settings = PATIENT.replace("acp: { ", &chosen);
        let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).open();
        room.world().insert_resource(GatewayEnvironment(self.environment()));
        room.push(TaskCommand { agent: "lead".into(), text: task.into() });
        room
    }

    fn allowed(&self, mode: &str, case: &str, tools: &str, settings: &str, task: &str) -> Workshop {
        let line = line(mode, case);
        self.allow(&line);
        self.room(&line, tools, settings, task)
    }
}

/// What the agent said when it was done.
fn ended(room: &mut Workshop) -> String {
    let seen = room.log().len();
    for _ in 0..3_600 {
        room.tick();
        if let Some(done) = room.log()[seen..].iter().find(|event| event["type"] == "complete") {
            return done["data"]["text"].as_str().unwrap_or_default().to_owned();
        }
    }
    panic!("it is never done: {:#?}", &room.log()[seen.saturating_sub(5)..]);
}

/// What the person reads about failed work: what happened, and what to do.
fn failed(room: &mut Workshop) -> String {
    room.until(300.0, "error", |event| event["data"].to_string().contains("turns"))["data"].to_string()
}

fn decide(room: &mut Workshop, allow: bool, scope: AllowScope) {
    let approval = room.world().resource::<Kernel>().approvals().next().expect("it should ask");
    room.push(approval.answer(allow, scope, None));
}

fn asked(room: &mut Workshop) -> Value {
    room.until(60.0, "approval_requested", |_| true)
}

/// A workspace on disk whose agent is the odd agent, and the folder of a person.
fn on_disk(mode: &str, case: &str, tools: &str) -> (tempfile::TempDir, tempfile::TempDir, PathBuf) {
    let (workspace, config) = (folder(), folder());
    let place = workspace.path().join("w");
    std::fs::create_dir_all(place.join("artifacts")).expect("folders can be made");
    succeed(&place, &["init", "--bare", "."]);
    let line = line(mode, case);
    let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [{tools}]\n---\nYou lead.\n", format!("acp:{line}"));
    std::fs::create_dir_all(place.join("agents")).expect("folders can be made");
    std::fs::write(place.join("agents/lead.md"), lead).expect("files can be written");
    std::fs::write(place.join("artifacts/a.md"), "first\nsecond\nError: third\n").expect("files can be written");
    let allowed = run_in(&place, config.path(), &["acp", "allow", &line, "--yes"]);
    assert_eq!(allowed.0, Some(0), "{}", allowed.1);
    (workspace, config, place)
}

fn a_task_is_done_with_files_of_the_workspace() {
    let (_workspace, config, place) = on_disk("good", "files", "vfs_read, vfs_write");
    let task = "do:read artifacts/a.md\ndo:write artifacts/b.md made by an agent\ndo:both artifacts/a.md artifacts/b.md\n\
                do:read artifacts/none.md\ndo:write settings.yaml x";
    let (code, told) =
        run_in(&place, config.path(), &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"]);
    assert_eq!(code, Some(0), "{told}");
    let events: Vec<Value> = told.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let text = std::fs::read_to_string(place.join("artifacts/b.md")).expect("it was written");
    assert_eq!(text, "made by an agent");
    let complete = of("complete")[0]["data"]["text"].to_string();
    assert!(complete.contains("not written settings.yaml"), "{complete}");
    let all = events.iter().map(Value::to_string).collect::<String>();
    for part in ["Error: third", "wrote artifacts/b.md", "not read artifacts/none.md"] {
        assert!(all.contains(part), "{part} in {told}");
    }
    let calls = of("tool_call");
    let tools: Vec<&str> = calls.iter().filter_map(|call| call["data"]["tool"].as_str()).collect();
    assert_eq!(tools, ["read_text", "vfs_write", "read_text", "read_text", "read_text", "vfs_write"], "{told}");
    assert!(of("write").iter().chain(&of("file")).all(|event| event["agent"] == "lead"), "{told}");
    assert!(is_gone("good", "files"));
}

fn no_agent_starts_that_no_person_allowed_exactly_so() {
    let place = Place::new();
    let mut room = place.room(&line("good", "unasked"), "vfs_read", "", "do:say hi");
    let why = failed(&mut room);
    assert!(why.contains("needs your permission") && why.contains("workshop acp allow"), "{why}");
    assert!(processes(&format!("{} good unasked", script().display())).is_empty());
    place.allow(&line("good", "other"));
    let mut room = place.room(&line("good", "unasked"), "vfs_read", "", "do:say hi");
    assert!(failed(&mut room).contains("needs your permission"));
}

fn an_agent_that_is_forbidden_meanwhile_is_ended() {
    let place = Place::new();
    let mut room = place.allowed("good", "forbidden", "execute_command", "", "do:say one\ndo:run echo two");
    asked(&mut room);
    let agent = agent_of(&line("good", "forbidden"), &std::collections::BTreeMap::new()).expect("it is one");
    forbid_peer(&place.environment(), place.workspace.path(), &agent).expect("it can be kept");
    assert!(is_gone("good", "forbidden"), "also in the middle of its answer");
    decide(&mut room, true, AllowScope::Once);
    assert!(ended_or_failed(&mut room).contains("needs your permission"));
}

fn ended_or_failed(room: &mut Workshop) -> String {
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
    panic!("it never ends");
}

fn a_person_is_asked_before_a_tool_of_its_own_and_for_a_task_once() {
    let place = Place::new();
    let task = "do:run echo one\ndo:edit artifacts/x.md\ndo:edit artifacts/y.md";
    let mut room = place.allowed("good", "asked", "execute_command, vfs_write", "gate: { file_write: ask }\n", task);
    let question = asked(&mut room);
    assert_eq!(question["data"]["tool"], "use_own_tool", "{question}");
    assert!(question["data"]["wants"].to_string().contains("run `echo one`"), "{question}");
    decide(&mut room, true, AllowScope::Once);
    let question = asked(&mut room);
    assert!(question["data"]["wants"].to_string().contains("change artifacts/x.md"), "{question}");
    decide(&mut room, true, AllowScope::Task);
    let text = ended(&mut room);
    for part in ["ran echo one: one", "edit artifacts/x.md: yes", "edit artifacts/y.md: yes"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(room.events("approval_requested").len(), 2, "what is allowed for a task is asked once");
    drop(room);
    assert!(is_gone("good", "asked"));
}

fn what_is_refused_is_refused_and_the_answer_continues() {
    let place = Place::new();
    let mut room = place.allowed("good", "refused", "execute_command", "", "do:run touch made.txt\ndo:say afterwards");
    asked(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let text = ended(&mut room);
    assert!(text.contains("did not run touch made.txt: no") && text.contains("afterwards"), "{text}");
    assert!(!place.workspace.path().join("made.txt").exists());
}

fn what_its_file_does_not_list_is_denied_without_asking() {
    let place = Place::new();
    let task = "do:run echo one\ndo:write artifacts/a.md x\ndo:edit artifacts/a.md";
    let mut room = place.allowed("good", "unlisted", "vfs_read", "", task);
    let text = ended(&mut room);
    for part in ["did not run echo one: no", "not written artifacts/a.md", "edit artifacts/a.md: no"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(room.events("approval_requested").is_empty());
}

fn what_a_rule_denies_is_denied_without_asking() {
    let place = Place::new();
    let gate = "gate: { deny: [\"artifacts/secret/**\"] }\n";
    let mut room = place.allowed("good", "denied", "vfs_write", gate, "do:edit artifacts/secret/x.md");
    let text = ended(&mut room);
    assert!(text.contains("edit artifacts/secret/x.md: no"), "{text}");
    assert!(room.events("approval_requested").is_empty());
}

fn an_agent_that_would_only_be_allowed_permanently_is_not() {
    let place = Place::new();
    let mut room = place.allowed("greedy", "greedy", "execute_command", "", "do:run touch made.txt");
    asked(&mut room);
    decide(&mut room, true, AllowScope::Once);
    let text = ended(&mut room);
    assert!(text.contains("did not run touch made.txt: cancelled"), "{text}");
}

fn paths_outside_are_refused() {
    let place = Place::new();
    let task = "do:read /etc/passwd\ndo:read ../x.md\ndo:write ../x.md x\ndo:write /tmp/x.md x\ndo:edit /etc/passwd";
    let mut room = place.allowed("good", "outside", "vfs_read, vfs_write", "", task);
    let text = ended(&mut room);
    for part in
        ["not read /etc/passwd", "not read ../x.md", "not written ../x.md", "not written /tmp/x.md", "/etc/passwd: no"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(room.events("approval_requested").is_empty(), "nobody is asked about what is denied");
}

fn what_it_tells_of_itself_is_in_the_log() {
    let place = Place::new();
    let mut room =
        place.allowed("good", "told", "vfs_read", "", "do:tool Look around\ndo:plan\ndo:commands\ndo:say done");
    ended(&mut room);
    let used = room.events("own_tool")[0]["data"].clone();
    assert_eq!(
        (&used["title"], &used["kind"], &used["status"]),
        (&json!("Look around"), &json!("search"), &json!("completed"))
    );
    assert_eq!(used["paths"], json!(["a.md"]));
    assert_eq!(room.events("own_commands")[0]["data"]["commands"][0]["name"], "review");
    assert_eq!(room.events("own_plan")[0]["data"]["steps"].as_array().map(Vec::len), Some(2));
}

fn what_it_changes_by_itself_is_its_act_in_the_log() {
    let (_workspace, config, place) = on_disk("good", "by_itself", "vfs_read, vfs_write");
    let task = "do:selfwrite artifacts/own.md mine\ndo:write artifacts/ours.md ours";
    let (code, told) =
        run_in(&place, config.path(), &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"]);
    assert_eq!(code, Some(0), "{told}");
    let events: Vec<Value> = told.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let seen: Vec<&Value> = events.iter().filter(|event| event["type"] == "own_change").collect();
    assert_eq!(seen.len(), 1, "what it wrote through the room is none: {told}");
    assert_eq!((&seen[0]["data"]["path"], &seen[0]["agent"]), (&json!("artifacts/own.md"), &json!("lead")), "{told}");
}

/// The only session of a workspace, as it is in its file.
fn session_of(place: &Path) -> Value {
    let mut files = std::fs::read_dir(place.join("sessions")).expect("there are some").flatten();
    let text = std::fs::read_to_string(files.next().expect("there should be one").path()).expect("it can be read");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn what_it_thinks_is_seen_and_kept_and_is_nobodys_words() {
    let (_workspace, config, place) = on_disk("good", "thinks", "vfs_read");
    let task = "do:think Where could it be?\ndo:read artifacts/a.md\ndo:think Ah, there.\ndo:say Found.";
    let (code, told) =
        run_in(&place, config.path(), &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"]);
    assert_eq!(code, Some(0), "{told}");
    let session = session_of(&place);
    let messages = session["messages"].as_array().expect("a list");
    let thoughts: Vec<&str> =
        messages.iter().filter_map(|message| message["metadata"]["thoughts"].as_str().map(str::trim)).collect();
    assert_eq!(thoughts, ["Where could it be?", "Ah, there."], "{session:#}");
    let said: String = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["content"].to_string())
        .collect();
    assert!(said.contains("Found.") && !said.contains("could it be"), "{said}");
    let events: Vec<Value> = told.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let done = events.iter().find(|event| event["type"] == "complete").expect("it is done");
    assert!(!done["data"]["text"].to_string().contains("could it be"), "{done}");
    let place = Place::new();
    let mut room = place.allowed("good", "thinking", "vfs_read", "", "do:think Let me see\ndo:wait");
    let until = Instant::now() + Duration::from_secs(20);
    while room.world().resource::<LiveText>().reasoning("lead").trim() != "Let me see" {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "nothing is seen of it");
    }
    assert!(room.world().resource::<LiveText>().iter().all(|(_, said)| said.is_empty()), "it said nothing yet");
}

fn images_of_its_answer_are_said_and_kept() {
    let (_workspace, config, place) = on_disk("good", "pictures", "vfs_read");
    let task = "do:say Look:\ndo:picture";
    let (code, told) =
        run_in(&place, config.path(), &["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("[an image (image/png), 1 KB]"), "{told}");
    let session = session_of(&place);
    let messages = session["messages"].as_array().expect("a list");
    let images: Vec<&Value> = messages.iter().filter_map(|message| message["metadata"]["images"].get(0)).collect();
    assert_eq!(images, [&json!({ "media_type": "image/png", "base64": "aGk=" })], "{session:#}");
    let events: Vec<Value> = told.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let shot = events.iter().find(|event| event["type"] == "own_tool").expect("it used one");
    assert_eq!(shot["data"]["images"], 1, "{shot}");
}

fn what_it_tells_of_tokens_and_cost_is_booked() {
    let place = Place::new();
    let mut room = place.allowed("paid", "paid", "vfs_read", "", "do:say done");
    ended(&mut room);
    let call = room.events("model_call").last().expect("it was asked")["data"].clone();
    assert_eq!(
        (&call["tokens_in"], &call["tokens_out"], &call["cost_usd"]),
        (&json!(1000), &json!(100), &json!(0.25)),
        "{call}"
    );
    let place = Place::new();
    let mut room = place.allowed("good", "unpaid", "vfs_read", "", "do:say done");
    ended(&mut room);
    let call = room.events("model_call").last().expect("it was asked")["data"].clone();
    assert!(call["cost_usd"].is_null() && call["estimated"] == true, "nobody knows what it cost: {call}");
}

fn agents_that_misbehave_are_reported_in_time_and_leave_nothing() {
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
        let place = Place::new();
        let mut room = place.allowed(mode, "bad", "vfs_read", "", "do:say hi");
        let why = failed(&mut room);
        assert!(why.contains(words), "{mode}: {why}");
        drop(room);
        assert!(is_gone(mode, "bad"), "{mode}");
    }
    for (mode, words) in
        [("garbage", "hello"), ("loud", "hello"), ("stranger", "there is no such session"), ("family", "hello")]
    {
        let place = Place::new();
        let mut room = place.allowed(mode, "odd", "vfs_read", "", "do:say hello");
        let text = ended(&mut room);
        assert!(text.contains(words), "{mode}: {text}");
        drop(room);
        assert!(is_gone(mode, "odd"), "{mode}");
    }
    assert!(processes("sleep 12345").is_empty(), "what it started ends with it");
}

fn an_agent_that_ends_in_the_middle_is_started_again_and_told() {
    let place = Place::new();
    let mut room = place.allowed("good", "dies", "execute_command", "", "do:die");
    let why = failed(&mut room);
    assert!(why.contains("out of luck") && why.contains("tried 2 times"), "{why}");
    drop(room);
    let mut room = place.allowed("good", "dies", "execute_command", "", "do:say first\ndo:run echo x\ndo:die");
    asked(&mut room);
    decide(&mut room, true, AllowScope::Once);
    let why = failed(&mut room);
    assert!(why.contains("out of luck"), "{why}");
    drop(room);
    assert!(is_gone("good", "dies"));
}

fn what_comes_after_the_end_of_a_turn_is_not_heard() {
    let place = Place::new();
    let mut room = place.allowed("late", "late", "execute_command", "", "do:say in time");
    assert_eq!(ended(&mut room).trim(), "in time");
    room.advance(2.0);
    let all: String = room.log().iter().map(Value::to_string).collect();
    assert!(!all.contains("LATE WORDS") && room.events("approval_requested").is_empty(), "{all}");
    drop(room);
    assert!(is_gone("late", "late"));
}

/// Runs the room until the agent has begun to answer.
fn until_it_speaks(room: &mut Workshop) {
    let until = Instant::now() + Duration::from_secs(20);
    while room.world().resource::<LiveText>().iter().all(|(_, said)| said.is_empty()) {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "it never says anything");
    }
}

fn work_that_is_stopped_stops_the_agent() {
    let place = Place::new();
    let mut room = place.allowed("good", "stopped", "execute_command", "", "do:run echo x\ndo:wait");
    asked(&mut room);
    room.push(KernelCommand::KillAgent { agent: "lead".into() });
    room.until(10.0, "abort", |_| true);
    room.push(TaskCommand { agent: "lead".into(), text: "do:say again".into() });
    assert_eq!(ended(&mut room).trim(), "again", "it answers the next task");
    drop(room);
    assert!(is_gone("good", "stopped"));
}

fn an_agent_that_does_not_stop_is_ended() {
    let place = Place::new();
    let settings = "acp: { silence_timeout_secs: 60, cancel_timeout_secs: 0.3 }\n";
    let line = line("stubborn", "unstopped");
    place.allow(&line);
    let lead = format!("---\nid: lead\nmodel: {:?}\n---\nYou lead.\n", format!("acp:{line}"));
    let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", settings).open();
    room.world().insert_resource(GatewayEnvironment(place.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "do:say hi".into() });
    until_it_speaks(&mut room);
    room.push(KernelCommand::KillAll);
    let until = Instant::now() + Duration::from_secs(20);
    while !processes(&format!("{} stubborn unstopped", script().display())).is_empty() {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "it is never ended");
    }
}

/// What the agent said when it was done, with everything allowed that it asked for.
fn ended_allowing(room: &mut Workshop) -> String {
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
            .map(|asked| asked.answer(true, AllowScope::Once, None));
        if let Some(answer) = answer {
            room.push(answer);
        }
    }
    panic!("it is never done: {:#?}", &room.log()[seen.max(room.log().len().saturating_sub(5))..]);
}

fn what_an_element_does_not_take_over_is_not_reported_as_written() {
    let (_workspace, config, place) = on_disk("good", "kept_out", "vfs_read, vfs_write");
    let scenes = std::fs::read_dir(place.join("scenes")).expect("it has scenes").flatten();
    let scene = scenes.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "yaml"));
    let text = "name: Test\nseed: 3\nelements:\n  - { id: mail, kind: inbox, owner: other, position: [200, 0], file: \
                boards/mail.md }\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: other, profile: \
                other, position: [90, 0] }\n";
    std::fs::write(scene.expect("there should be one"), text).expect("files can be written");
    std::fs::write(place.join("agents/other.md"), "---\nid: other\n---\nYou wait.\n").expect("files can be written");
    let task = "do:write boards/mail.md x\ndo:write artifacts/y.md y";
    let arguments = ["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"];
    let (code, told) = run_in(&place, config.path(), &arguments);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("wrote artifacts/y.md"), "{told}");
    assert!(told.contains("not written boards/mail.md") && !told.contains("wrote boards/mail.md"), "{told}");
}

fn an_agent_that_was_ended_continues_in_its_session() {
    for mode in ["keeps", "resumes"] {
        let place = Place::new();
        let mut room = place.allowed(mode, "ended", "vfs_read", "", "do:dieonce\ndo:say afterwards");
        let text = ended(&mut room);
        assert!(text.contains("resumed s") && text.contains("afterwards"), "{mode}: {text}");
        let all: String = room.log().iter().map(Value::to_string).collect();
        assert!(!all.contains("REPLAYED"), "what it tells again is not new: {all}");
        drop(room);
        assert!(is_gone(mode, "ended"));
    }
}

fn a_room_that_is_opened_again_continues_in_the_session_of_the_agent() {
    let place = Place::new();
    let mut room = place.allowed("keeps", "reopened", "execute_command", "", "do:run echo one");
    asked(&mut room);
    let mut again = room.reopened();
    drop(room);
    assert!(is_gone("keeps", "reopened"), "it ended with the room");
    again.world().insert_resource(GatewayEnvironment(place.environment()));
    decide(&mut again, true, AllowScope::Once);
    let text = ended(&mut again);
    assert!(text.contains("resumed s") && !text.contains("REPLAYED"), "{text}");
    drop(again);
    assert!(is_gone("keeps", "reopened"));
}

fn a_session_that_is_lost_is_said_to_be_lost() {
    let place = Place::new();
    let mut room = place.allowed("forgets", "lost", "execute_command", "", "do:run echo one\ndo:say fresh");
    asked(&mut room);
    let mut again = room.reopened();
    drop(room);
    again.world().insert_resource(GatewayEnvironment(place.environment()));
    let text = ended_allowing(&mut again);
    assert!(text.contains("fresh") && !text.contains("resumed"), "{text}");
    let warned: String = again.events("warning").iter().map(|event| event["data"].to_string()).collect();
    assert!(warned.contains("no such session is kept") && warned.contains("is lost"), "{warned}");
}

fn what_an_agent_lets_be_chosen_is_chosen_by_the_settings() {
    let place = Place::new();
    let mut room = place.choosing("modes", "chosen", "mode: plan, model: small", "do:mode");
    assert_eq!(ended(&mut room).trim(), "mode: plan model: small");
    let options = room.events("own_options")[0]["data"]["options"].clone();
    assert_eq!((&options[0]["current"], &options[1]["current"]), (&json!("plan"), &json!("small")), "{options}");
    assert_eq!(options[0]["values"][2]["asks_less"], true, "{options}");
    assert!(room.events("approval_requested").is_empty());
}

fn what_cannot_be_chosen_is_reported_with_what_can() {
    let place = Place::new();
    let why = failed(&mut place.choosing("modes", "unchosen", "mode: fast", "do:mode"));
    assert!(why.contains("default, plan, bypassPermissions") && why.contains("acp.options"), "{why}");
    let why = failed(&mut place.choosing("good", "unchosen", "model: big", "do:mode"));
    assert!(why.contains("no option") && why.contains("acp.options"), "{why}");
}

fn a_mode_in_which_it_asks_less_asks_a_person_first() {
    for (mode, allow, expected) in [
        ("modes", true, "mode: bypassPermissions"),
        ("modes", false, "mode: default"),
        ("reckless", true, "mode: bypass"),
    ] {
        let place = Place::new();
        let options = if mode == "modes" { "mode: bypassPermissions" } else { "" };
        let mut room = place.choosing(mode, "less", options, "do:mode\ndo:say done");
        let question = asked(&mut room);
        assert!(question["data"].to_string().contains("Bypass Permissions"), "{question}");
        decide(&mut room, allow, AllowScope::Once);
        let text = ended(&mut room);
        assert!(text.contains(expected), "{expected} in {text}");
        assert_eq!(room.events("approval_requested").len(), 1, "once");
    }
    let place = Place::new();
    let mut room = place.choosing("reckless", "never", "", "do:mode");
    asked(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let why = failed(&mut room);
    assert!(why.contains("only works in its mode"), "{why}");
}

fn an_agent_that_goes_into_such_a_mode_by_itself_is_stopped() {
    let place = Place::new();
    let mut room = place.choosing("modes", "beyond", "mode: plan", "do:switch bypassPermissions\ndo:say done");
    let why = failed(&mut room);
    assert!(why.contains("switched by itself to its mode “Bypass Permissions”"), "{why}");
    drop(room);
    assert!(is_gone("modes", "beyond"));
}

fn a_run_replays_without_the_agent() {
    let place = Place::new();
    let task = "do:tool Look around\ndo:run echo one\ndo:say done";
    let mut live = place.allowed("good", "replayed", "execute_command", "", task);
    asked(&mut live);
    decide(&mut live, true, AllowScope::Once);
    ended(&mut live);
    let again = live.replayed();
    assert_eq!(again.events("own_tool").len(), 1);
    assert_eq!(again.events("own_tool")[0]["data"], live.events("own_tool")[0]["data"]);
    drop(live);
    assert!(is_gone("good", "replayed"), "the replay starts nothing");
}

fn an_agent_in_the_room_speaks_and_touches_nothing() {
    let place = Place::new();
    let line = line("good", "room");
    place.allow(&line);
    let scene = "name: Test\nseed: 3\nelements:\n  - { id: news, kind: messageboard, label: News, position: [60, 0], \
                 text: \"do:read /etc/passwd\" }\nagents:\n  - { id: lead, profile: lead, position: [10, 0] }\n";
    let lead = format!("---\nid: lead\nmodel: {:?}\n---\nYou lead.\n", format!("acp:{line}"));
    let mut room = Setup::scene(scene).profile("lead", &lead).file("settings.yaml", PATIENT).open();
    room.world().insert_resource(GatewayEnvironment(place.environment()));
    let call = room.until(300.0, "model_call", |event| event["data"]["provider"] == "acp");
    assert!(call["data"]["error"].is_null(), "{call}");
    assert!(room.events("tool_call").is_empty());
}

fn it_keeps_its_session_and_is_sent_only_what_is_new() {
    let place = Place::new();
    let log = place.config.path().join("prompts.jsonl");
    let agents = json!({ "noted": {
        "command": "python3", "args": [script(), "good", "noted"], "env": { "ODD_LOG": log },
    } });
    let agent =
        agent_of("noted", &serde_json::from_value(agents.clone()).expect("a table")).expect("it should be valid");
    allow_peer(&place.environment(), place.workspace.path(), &agent).expect("it can be kept");
    let settings = format!("acp: {{ confined: false, agents: {agents} }}\nkernel: {{ strikes_at_most: 3 }}\n");
    let lead = "---\nid: lead\nmodel: acp:noted\ntools: [execute_command]\n---\nYou lead.\n";
    let mut room = Setup::scene(SCENE).profile("lead", lead).file("settings.yaml", &settings).open();
    room.world().insert_resource(GatewayEnvironment(place.environment()));
    // A turn without words is followed by a reminder in the same session.
    room.push(TaskCommand { agent: "lead".into(), text: "do:tool Look".into() });
    ended_or_failed(&mut room);
    let prompts = json_lines(&std::fs::read_to_string(&log).expect("it noted them"));
    assert!(prompts.len() >= 2, "{prompts:?}");
    assert!(prompts[0].to_string().contains("You lead.") && prompts[0].to_string().contains("do:tool Look"));
    assert!(
        prompts[1].to_string().contains("Progress check") && !prompts[1].to_string().contains("You lead."),
        "{prompts:?}"
    );
}

fn the_command_line_lists_allows_and_forbids() {
    let (_workspace, config, place) = on_disk("good", "listed", "vfs_read");
    let (code, told) = run_in(&place, config.path(), &["acp", "list", "--json"]);
    assert_eq!(code, Some(0), "{told}");
    let listed: Value = serde_json::from_str(&told).expect("it is JSON");
    let models: Vec<&str> =
        listed["agents"].as_array().expect("a list").iter().filter_map(|agent| agent["model"].as_str()).collect();
    assert!(models.contains(&"acp:claude") && models.contains(&"acp:gemini"), "{models:?}");
    let model = format!("acp:{}", line("good", "listed"));
    let (code, told) = run_in(&place, config.path(), &["doctor", "--try", &model]);
    assert!(code == Some(0) && told.contains("answered after"), "{told}");
    assert!(is_gone("good", "listed"), "one that is tried out stays no longer than that");
    let (code, told) = run_in(&place, config.path(), &["acp", "forbid", &line("good", "listed")]);
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = run_in(&place, config.path(), &["doctor", "--try", &model]);
    assert!(code == Some(1) && told.contains("workshop acp allow"), "{told}");
    let (_, told) =
        run_in(&place, config.path(), &["run", "--agent", "lead", "--task", "do:say hi", "--until", "idle"]);
    assert!(told.contains("workshop acp allow"), "{told}");
    let (code, told) = run_in(&place, config.path(), &["acp", "allow", "clade", "--yes"]);
    assert!(code != Some(0) && told.contains("acp:claude"), "{told}");
    let (_, told) = run_in(&place, config.path(), &["doctor"]);
    assert!(told.contains("coding agents"), "{told}");
}
