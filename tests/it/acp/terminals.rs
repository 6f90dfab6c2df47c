//! Programs that the room runs for coding agents: which permissions they need, what the agents see of them, and when
//! they end.

use std::time::{Duration, Instant};

use agent_workshop::base::AllowScope;
use agent_workshop::kernel::KernelCommand;
use libtest_mimic::Trial;
use serde_json::json;

use super::{TestWorkspace, completed_text, completed_text_allowing_all, decide, is_gone, wait_for_approval};
use crate::cases;
use crate::servers::processes;
use crate::workshop::Workshop;

pub fn cases() -> Vec<Trial> {
    cases![
        an_allowed_terminal_runs_like_a_command,
        a_terminal_that_is_not_allowed_runs_nothing,
        a_terminal_runs_no_other_code_than_was_allowed,
        long_terminal_output_loses_its_beginning_and_invalid_ids_are_refused,
        a_terminal_ends_with_its_time_limit_the_agents_request_or_the_turn,
        stopping_work_or_closing_the_room_ends_terminals,
    ]
}

fn an_allowed_terminal_runs_like_a_command() {
    let workspace = TestWorkspace::new();
    let task = "do:term echo one two\ndo:term ls nothing-here\ndo:termline echo $ODD | tr a-z A-Z\n\
                do:termin artifacts pwd\ndo:termin ../.. pwd";
    let mut room = workspace.allowed("good", "terminal", "execute_command", "", task);
    let question = wait_for_approval(&mut room);
    assert_eq!(question["data"]["tool"], "open_terminal", "{question}");
    assert!(question["data"]["wants"].to_string().contains("run `echo one two`"), "{question}");
    let text = completed_text_allowing_all(&mut room);
    for part in ["term echo one two: 0 'one two' False", "line: A B", "term ls nothing-here: 2", "/artifacts"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("no terminal for pwd") && text.contains("'cwd'"), "{text}");
    let ran = room.events("terminal");
    assert_eq!(ran.len(), 4, "{ran:#?}");
    assert_eq!((&ran[0]["data"]["command"], &ran[0]["data"]["exit_code"]), (&json!("echo one two"), &json!(0)));
    let wants: String = room.events("approval_requested").iter().map(|event| event["data"].to_string()).collect();
    assert!(wants.contains("ODD=a b"), "environment variables are part of the question: {wants}");
}

fn a_terminal_that_is_not_allowed_runs_nothing() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "terminal_unlisted", "vfs_read", "", "do:term touch made.txt");
    let text = completed_text(&mut room);
    assert!(text.contains("no terminal for touch") && text.contains("execute_command"), "{text}");
    assert!(room.events("approval_requested").is_empty(), "denied calls need no approval");
    let mut room = workspace.allowed("good", "terminal_refused", "execute_command", "", "do:term touch made.txt");
    wait_for_approval(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("no terminal for touch") && text.contains("a person refused"), "{text}");
    assert!(!workspace.workspace.path().join("made.txt").exists() && room.events("terminal").is_empty());
}

fn a_terminal_runs_no_other_code_than_was_allowed() {
    let workspace = TestWorkspace::new();
    let path = |name: &str| workspace.workspace.path().join(name);
    std::fs::write(path("build.sh"), ". ./lib.sh\n").unwrap();
    std::fs::write(path("lib.sh"), "echo harmless\n").unwrap();
    let mut room = workspace.allowed("good", "terminal_code", "execute_command", "", "do:term sh build.sh");
    wait_for_approval(&mut room);
    std::fs::write(path("lib.sh"), "echo other\n").unwrap();
    decide(&mut room, true, AllowScope::Once);
    let question = wait_for_approval(&mut room);
    let why = question["data"]["why"].to_string();
    assert!(why.contains("lib.sh, which it loads, changed") && room.events("terminal").is_empty(), "{question}");
    let text = completed_text_allowing_all(&mut room);
    assert!(text.contains("term sh build.sh: 0 'other'"), "{text}");
}

fn long_terminal_output_loses_its_beginning_and_invalid_ids_are_refused() {
    let workspace = TestWorkspace::new();
    let task = "do:termlimit\ndo:termodd\ndo:termmany";
    let mut room = workspace.allowed("good", "terminal_odd", "execute_command", "", task);
    let text = completed_text_allowing_all(&mut room);
    let no = "there is no such terminal";
    for part in ["limit: cdü True 0", &format!("odd: done; {no}; {no}; {no}; {no}; {no}"), "many: 15"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("there are already 16 terminals"), "{text}");
    drop(room);
    assert!(is_gone("good", "terminal_odd"));
}

/// Waits up to ten seconds until no process with this command line is left. Returns whether that happened.
fn has_ended(line: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while !processes(line).is_empty() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn a_terminal_ends_with_its_time_limit_the_agents_request_or_the_turn() {
    let workspace = TestWorkspace::new();
    let settings = "commands: { max_timeout_secs: 1 }\n";
    let mut room = workspace.allowed("good", "terminal_slow", "execute_command", settings, "do:term sleep 54321");
    let text = completed_text_allowing_all(&mut room);
    assert!(text.contains("term sleep 54321: None") && text.contains("longer than 1 s"), "{text}");
    assert_eq!(room.events("terminal")[0]["data"]["end"], "timed_out");
    let task = "do:termkill sleep 54322\ndo:termleave sleep 54323";
    let mut room = workspace.allowed("good", "terminal_left", "execute_command", "", task);
    let text = completed_text_allowing_all(&mut room);
    assert!(text.contains("killed: None None SIGKILL True") && text.contains("left running"), "{text}");
    for line in ["sleep 54321", "sleep 54322", "sleep 54323"] {
        assert!(has_ended(line), "{line} and its children have ended, although the room goes on");
    }
    assert_eq!(room.events("terminal").len(), 2);
}

/// Runs the room until a process with this command line exists.
fn run_until_started(room: &mut Workshop, line: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while processes(line).is_empty() {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "the program never starts");
    }
}

fn stopping_work_or_closing_the_room_ends_terminals() {
    for (line, closes) in [("sleep 54324", false), ("sleep 54325", true)] {
        let workspace = TestWorkspace::new();
        let task = format!("do:termleave {line}\ndo:wait");
        let mut room = workspace.allowed("good", "terminal_stopped", "execute_command", "", &task);
        wait_for_approval(&mut room);
        decide(&mut room, true, AllowScope::Once);
        run_until_started(&mut room, line);
        if closes {
            drop(room);
        } else {
            room.push(KernelCommand::KillAgent { agent: "lead".into() });
            room.until(10.0, "abort", |_| true);
        }
        assert!(has_ended(line), "{line}");
    }
}
