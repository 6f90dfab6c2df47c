//! Programs that the room runs for coding agents: what a person is asked first, what the agents learn of them, and when
//! they end.

use std::time::{Duration, Instant};

use agent_workshop::base::AllowScope;
use agent_workshop::kernel::KernelCommand;
use libtest_mimic::Trial;
use serde_json::json;

use super::{Place, asked, decide, ended, ended_allowing, is_gone};
use crate::cases;
use crate::servers::processes;
use crate::workshop::Workshop;

pub fn cases() -> Vec<Trial> {
    cases![
        a_terminal_runs_as_a_command_does_once_it_is_allowed,
        a_terminal_that_is_not_allowed_runs_nothing,
        what_a_terminal_says_is_cut_at_its_beginning_and_odd_names_are_refused,
        a_terminal_that_never_ends_is_ended_by_its_time_the_agent_or_the_turn,
        work_that_is_stopped_and_rooms_that_close_end_their_terminals,
    ]
}

fn a_terminal_runs_as_a_command_does_once_it_is_allowed() {
    let place = Place::new();
    let task = "do:term echo one two\ndo:term ls nothing-here\ndo:termline echo $ODD | tr a-z A-Z\n\
                do:termin artifacts pwd\ndo:termin ../.. pwd";
    let mut room = place.allowed("good", "terminal", "execute_command", "", task);
    let question = asked(&mut room);
    assert_eq!(question["data"]["tool"], "open_terminal", "{question}");
    assert!(question["data"]["wants"].to_string().contains("run `echo one two`"), "{question}");
    let text = ended_allowing(&mut room);
    for part in ["term echo one two: 0 'one two' False", "line: A B", "term ls nothing-here: 2", "/artifacts"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("no terminal for pwd") && text.contains("'cwd'"), "{text}");
    let ran = room.events("terminal");
    assert_eq!(ran.len(), 4, "{ran:#?}");
    assert_eq!((&ran[0]["data"]["command"], &ran[0]["data"]["exit_code"]), (&json!("echo one two"), &json!(0)));
    let wants: String = room.events("approval_requested").iter().map(|event| event["data"].to_string()).collect();
    assert!(wants.contains("ODD=a b"), "what is set is judged and shown with it: {wants}");
}

fn a_terminal_that_is_not_allowed_runs_nothing() {
    let place = Place::new();
    let mut room = place.allowed("good", "terminal_unlisted", "vfs_read", "", "do:term touch made.txt");
    let text = ended(&mut room);
    assert!(text.contains("no terminal for touch") && text.contains("execute_command"), "{text}");
    assert!(room.events("approval_requested").is_empty(), "nobody is asked about what is denied");
    let mut room = place.allowed("good", "terminal_refused", "execute_command", "", "do:term touch made.txt");
    asked(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let text = ended(&mut room);
    assert!(text.contains("no terminal for touch") && text.contains("a person refused"), "{text}");
    assert!(!place.workspace.path().join("made.txt").exists() && room.events("terminal").is_empty());
}

fn what_a_terminal_says_is_cut_at_its_beginning_and_odd_names_are_refused() {
    let place = Place::new();
    let task = "do:termlimit\ndo:termodd\ndo:termmany";
    let mut room = place.allowed("good", "terminal_odd", "execute_command", "", task);
    let text = ended_allowing(&mut room);
    let no = "there is no such terminal";
    for part in ["limit: cdü True 0", &format!("odd: done; {no}; {no}; {no}; {no}; {no}"), "many: 15"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("there are already 16 terminals"), "{text}");
    drop(room);
    assert!(is_gone("good", "terminal_odd"));
}

/// Whether no process with this command line is left, after a short wait.
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

fn a_terminal_that_never_ends_is_ended_by_its_time_the_agent_or_the_turn() {
    let place = Place::new();
    let settings = "commands: { timeout_secs_at_most: 1 }\n";
    let mut room = place.allowed("good", "terminal_slow", "execute_command", settings, "do:term sleep 54321");
    let text = ended_allowing(&mut room);
    assert!(text.contains("term sleep 54321: None") && text.contains("longer than 1 s"), "{text}");
    assert_eq!(room.events("terminal")[0]["data"]["end"], "timed_out");
    let task = "do:termkill sleep 54322\ndo:termleave sleep 54323";
    let mut room = place.allowed("good", "terminal_left", "execute_command", "", task);
    let text = ended_allowing(&mut room);
    assert!(text.contains("killed: None None SIGKILL True") && text.contains("left running"), "{text}");
    for line in ["sleep 54321", "sleep 54322", "sleep 54323"] {
        assert!(has_ended(line), "{line} is ended with all that it started, while the room goes on");
    }
    assert_eq!(room.events("terminal").len(), 2);
}

/// Runs the room until a program with this command line runs.
fn until_it_runs(room: &mut Workshop, line: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while processes(line).is_empty() {
        agent_workshop::schedule::advance(room.world());
        assert!(Instant::now() < until, "it never runs");
    }
}

fn work_that_is_stopped_and_rooms_that_close_end_their_terminals() {
    for (line, closes) in [("sleep 54324", false), ("sleep 54325", true)] {
        let place = Place::new();
        let task = format!("do:termleave {line}\ndo:wait");
        let mut room = place.allowed("good", "terminal_stopped", "execute_command", "", &task);
        asked(&mut room);
        decide(&mut room, true, AllowScope::Once);
        until_it_runs(&mut room, line);
        if closes {
            drop(room);
        } else {
            room.push(KernelCommand::KillAgent { agent: "lead".into() });
            room.until(10.0, "abort", |_| true);
        }
        assert!(has_ended(line), "{line}");
    }
}
