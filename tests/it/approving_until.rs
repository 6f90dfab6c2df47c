//! Permissions that expire by the room's clock, command patterns, and marks in the approvals file under difficult
//! conditions.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use agent_workshop::gateway::HasSandbox;
use agent_workshop::gateway::sandbox::Level;
use agent_workshop::kernel::Kernel;
use agent_workshop::schedule::RoomOpened;
use agent_workshop::simulation::TaskCommand;
use agent_workshop::tools::PendingToolOrders;
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::{FileChanged, KnownFiles, Problems};

use crate::cases;
use crate::program::{output, succeed};
use crate::sandbox_modes::{output_in, sandboxes, succeed_in};
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_permission_until_a_time_applies_until_then,
        a_past_or_invalid_time_is_not_an_answer,
        a_time_is_given_and_shown_on_the_command_line_and_replays,
        a_pattern_is_added_to_the_rules_file,
        a_mark_made_while_an_unconfined_program_runs_does_not_count,
        a_renamed_or_concurrently_edited_file_is_answered_once,
    ]
}

const FILE: &str = "tasks/approvals.task.md";
const RULES: &str = "storage/terminal-cmd-allowlist.yaml";
const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
const SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I may not."
      repeat: true
    - when: { contains: "your task" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "first line" } } ]
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
"#;
/// Sunday, 22 November 2026, 14:05, in local seconds since 1970.
const NOW: i64 = 1_795_356_300;

fn room() -> Workshop {
    // Without a disk, the agent sends a message instead of writing a file.
    let lead = LEAD.replace("stationary\n", "stationary\ntools: [send_message]\n");
    let call = "{ name: vfs_write, arguments: { path: artifacts/a.md, content: \"first line\" } }";
    let script = SCRIPT.replace(call, "{ name: send_message, arguments: { to: nobody, message: hello } }");
    let mut room = Setup::scene(SCENE).file("agents/lead.md", &lead).script(&script).open();
    room.push(RoomOpened { local_secs: NOW });
    room.advance(0.2);
    room
}

fn task(room: &mut Workshop, text: &str) {
    room.push(TaskCommand { agent: "lead".into(), text: text.into() });
}

/// Gives the agent a task. Returns whether it finished without an approval request.
fn finishes_without_approval(room: &mut Workshop, text: &str) -> bool {
    let approvals_before = room.events("approval_requested").len();
    let completed_before = room.events("complete").len();
    task(room, text);
    for _ in 0..600 {
        room.tick();
        if room.events("approval_requested").len() > approvals_before {
            return false;
        }
        if room.events("complete").len() > completed_before {
            return true;
        }
    }
    panic!("the task {text:?} never ends");
}

/// Runs until a task has finished.
fn finish(room: &mut Workshop) {
    for _ in 0..1_800 {
        if !room.events("complete").is_empty() {
            return;
        }
        room.tick();
    }
    panic!("no task has completed");
}

fn room_with_pending_approval() -> Workshop {
    let mut room = room();
    assert!(!finishes_without_approval(&mut room, "Write it down"));
    room.advance(0.2);
    room
}

fn approvals_text(room: &mut Workshop) -> String {
    room.world().resource::<KnownFiles>().text(FILE).unwrap_or_default().to_owned()
}

fn change(room: &mut Workshop, text: &str) {
    room.push(FileChanged::new(FILE, FileContent::Text(text.to_owned())));
    room.advance(0.5);
}

fn marked(text: &str, reach: &str) -> String {
    text.replace("- [ ] A", "- [x] A").replace("  status: pending\n", &format!("  status: pending\n  for: {reach}\n"))
}

fn is_pending(room: &mut Workshop) -> bool {
    room.world().resource::<Kernel>().approvals().next().is_some()
}

fn file_problems(room: &mut Workshop) -> String {
    let problems = room.world().resource::<Problems>();
    problems.iter().filter(|problem| problem.place == FILE).map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn a_permission_until_a_time_applies_until_then() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    assert!(
        text.contains("for: until end of day: Until the end of the day, Lead and agents that it starts may"),
        "{text}"
    );
    change(&mut room, &marked(&text, "until 18:00"));
    assert!(!is_pending(&mut room), "{}", file_problems(&mut room));
    finish(&mut room);
    assert!(approvals_text(&mut room).contains("  for: until 2026-11-22T18:00:00\n"), "{}", approvals_text(&mut room));
    assert!(finishes_without_approval(&mut room, "Write more"), "the permission applies to other tasks, too");
    let decided = room.events("approval_decided").last().map(|event| event["data"]["scope"].clone());
    assert_eq!(decided, Some(json!({ "until": { "at": 1_795_370_400 } })));
    let mut again = room.reopened();
    again.push(RoomOpened { local_secs: NOW + 3 * 3_600 });
    again.advance(0.2);
    assert!(finishes_without_approval(&mut again, "Write after a restart"));
    // If the clock is set back to before the answer, the permission does not apply.
    let mut earlier = room.reopened();
    earlier.push(RoomOpened { local_secs: NOW - 3_600 });
    earlier.advance(0.2);
    assert!(!finishes_without_approval(&mut earlier, "Write earlier"));
    again.push(RoomOpened { local_secs: NOW + 4 * 3_600 });
    again.advance(0.2);
    assert!(!finishes_without_approval(&mut again, "Write too late"), "the permission has expired");
    assert!(again.world().resource::<Kernel>().granted_until(Some(NOW)).is_empty(), "expired permissions are removed");
}

fn a_past_or_invalid_time_is_not_an_answer() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    for (reach, why) in
        [("until 13:00", "it is already"), ("until soon", "is not a valid time"), ("until 9000-01-01T00:00", "31 days")]
    {
        change(&mut room, &marked(&text, reach));
        assert!(is_pending(&mut room), "{reach}");
        assert!(file_problems(&mut room).contains(why), "{reach}: {}", file_problems(&mut room));
    }
    change(&mut room, &marked(&text, "2h"));
    assert!(!is_pending(&mut room) && file_problems(&mut room).is_empty(), "{}", file_problems(&mut room));
}

const TASK: [&str; 9] =
    ["run", "--agent", "lead", "--task", "Do it", "--speed", "max", "--provider", "scripted:script.yaml"];
const CONTINUE: [&str; 7] = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("settings.yaml", ""), ("scenes/test.yaml", SCENE)].iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn approval_id(room: &Path) -> String {
    let listed: Value = serde_json::from_str(&succeed(room, &["approvals", "list", "--json"])).unwrap();
    listed["approvals"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
}

fn a_time_is_given_and_shown_on_the_command_line_and_replays() {
    let room = folder(&[("agents/lead.md", LEAD), ("script.yaml", SCRIPT)]);
    assert_eq!(output(room.path(), &TASK).status.code(), Some(4));
    let id = approval_id(room.path());
    for time in ["soon", "2020-01-01T00:00", "9000-01-01T00:00"] {
        assert_eq!(output(room.path(), &["approvals", "allow", &id, "--until", time]).status.code(), Some(2), "{time}");
    }
    let answered = succeed(room.path(), &["approvals", "allow", &id, "--until", "2h", "--json"]);
    assert!(answered.contains("\"answer_scope\":{\"until\":{\"secs\":7200}}"), "{answered}");
    assert_eq!(succeed(room.path(), &CONTINUE).trim(), "It is written.");
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
    let status: Value = serde_json::from_str(&succeed(room.path(), &["status", "--json"])).unwrap();
    let allowed = &status["allowed_until"][0];
    assert_eq!(
        (&allowed["agent"], &allowed["may"]),
        (&"lead".into(), &"change files with vfs_write".into()),
        "{status}"
    );
    assert!(succeed(room.path(), &["status"]).contains("lead may change files with vfs_write until 2"));
    assert_eq!(succeed(room.path(), &TASK).trim(), "It is written.", "no approval is needed after a restart");
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
}

fn a_pattern_is_added_to_the_rules_file() {
    // Without a sandbox, each command needs approval.
    sandboxes().for_each(a_pattern_is_added_in);
}

fn a_pattern_is_added_in(level: Level) {
    let script = |command: &str| {
        format!(
            "agents:\n  lead:\n    - when: {{ contains: \"your task\" }}\n      tools: [ {{ name: execute_command, arguments: {{ command: \"{command}\" }} }} ]\n      repeat: true\n    - {{ text: \"Done.\", repeat: true }}\n"
        )
    };
    let lead = "---\nsafety_mode: balanced\nbehaviour: stationary\ntools: [execute_command]\n---\nYou lead.\n";
    let rules = "# Mine.\nrm: false   # never\n";
    let files = [("agents/lead.md", lead), ("script.yaml", &*script("ls agents")), (RULES, rules)];
    let room = folder(&files);
    assert_eq!(output_in(level, room.path(), &TASK).status.code(), Some(4));
    let id = approval_id(room.path());
    let shown = succeed(room.path(), &["approvals", "show", &id]);
    assert!(shown.contains("The pattern: ") && shown.contains("ls: true"), "{shown}");
    succeed(room.path(), &["approvals", "allow", &id, "--pattern"]);
    assert_eq!(succeed_in(level, room.path(), &CONTINUE).trim(), "Done.");
    let written = fs::read_to_string(room.path().join(RULES)).unwrap();
    assert!(written.starts_with(rules) && written.contains("ls: true"), "{written}");
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
    for (command, ending) in [("ls -l scenes", 0), ("ls; touch made", 4), ("env ls", 4)] {
        fs::write(room.path().join("script.yaml"), script(command)).unwrap();
        assert_eq!(output_in(level, room.path(), &TASK).status.code(), Some(ending), "{command}");
        if ending == 4 {
            let refused =
                output_in(level, room.path(), &["approvals", "allow", &approval_id(room.path()), "--pattern"]);
            assert_eq!(refused.status.code(), Some(2), "{command} has no pattern");
            succeed(room.path(), &["approvals", "refuse", &approval_id(room.path())]);
            succeed_in(level, room.path(), &CONTINUE);
        }
    }
}

/// Adds a running program of another agent to the room.
fn add_running_program(room: &mut Workshop) {
    let order = json!([{
        "key": "act-900/1/0/0123456789abcdef/5dh0vb81", "agent": "other", "profile": "other", "cause": 1, "rights": {
            "reads": [], "writes": [], "unreadable": [], "unwritable": [], "records_of": null },
        "plan": { "tool": "execute_command", "executor": "commands", "touches": [],
            "work": { "work": "order", "order": { "words": ["true"], "cwd": "", "timeout_secs": null } },
            "doing": { "verb": "running", "target": "true" } },
    }]);
    let orders: PendingToolOrders = serde_json::from_value(order).expect("the order is valid");
    room.world().insert_resource(orders);
}

fn a_mark_made_while_an_unconfined_program_runs_does_not_count() {
    for is_sandboxed in [true, false] {
        let mut room = room_with_pending_approval();
        let text = approvals_text(&mut room);
        room.world().insert_resource(HasSandbox(is_sandboxed));
        add_running_program(&mut room);
        room.tick();
        change(&mut room, &marked(&text, "once"));
        assert_eq!(is_pending(&mut room), !is_sandboxed, "only an unconfined program could have made the mark");
        if is_sandboxed {
            continue;
        }
        assert!(
            file_problems(&mut room).contains("while an unconfined program was running"),
            "{}",
            file_problems(&mut room)
        );
        room.advance(10.0);
        change(&mut room, &format!("{}\nA word of the person's.\n", marked(&text, "once")));
        assert!(is_pending(&mut room), "the same mark still does not count");
        change(&mut room, &text);
        change(&mut room, &marked(&text, "once"));
        assert!(!is_pending(&mut room) && file_problems(&mut room).is_empty(), "{}", file_problems(&mut room));
    }
}

fn a_renamed_or_concurrently_edited_file_is_answered_once() {
    let mut room = room_with_pending_approval();
    let text = approvals_text(&mut room);
    // A person renames the file and marks the new one, which is not the approvals file: the request is written again.
    room.push(FileChanged::new(FILE, FileContent::Removed));
    room.push(FileChanged::new("tasks/old.task.md", FileContent::Text(marked(&text, "once"))));
    room.advance(0.5);
    assert!(is_pending(&mut room), "a mark in another file is not an answer");
    assert_eq!(approvals_text(&mut room), text);
    // A person saves a version that lacks what the room has just written.
    let crossed = marked(&text, "once");
    let mine = FileChanged::new(FILE, FileContent::Text(format!("{crossed}\n- [ ] Mine\n")));
    room.push(FileChanged { base: Some(text.clone()), ..mine });
    room.advance(0.5);
    assert!(!is_pending(&mut room));
    // Another person saves what they read before that, with the opposite answer.
    let late = text.replace("- [ ] A", "- [-] A");
    room.push(FileChanged { base: Some(text), ..FileChanged::new(FILE, FileContent::Text(late)) });
    finish(&mut room);
    room.advance(0.5);
    let decisions: Vec<Value> =
        room.events("approval_decided").iter().map(|event| event["data"]["decision"].clone()).collect();
    assert_eq!(decisions, [json!("allow")], "there is one decision");
    let file = approvals_text(&mut room);
    assert!(file.contains("  status: approved\n"), "{file}");
}
