//! Every command beside a room that another process has open, has stopped or left behind, and in a workspace that
//! nobody trusts: each answers within five seconds.

use std::time::Duration;

use crate::beside_commands::{FILES, commands};

use super::plan::{Case, Fault, Plan, Report};

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a room may take to open.
const OPENING: Duration = Duration::from_secs(20);

/// The state of the room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Running,
    Stopped,
    Killed,
    Nobody,
}

const OWNERS: [Owner; 4] = [Owner::Running, Owner::Stopped, Owner::Killed, Owner::Nobody];

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("beside", OWNERS.len() as u64, try_case)
}

fn try_case(case: &mut Case) {
    let owner = OWNERS[(case.number % OWNERS.len() as u64) as usize];
    FILES.iter().for_each(|(path, text)| case.write(path, text));
    let mut running = None;
    if owner != Owner::Nobody {
        let mut opened = case.launch(&["daemon", "--watch", "--provider", "offline", "--events", "-"]).start();
        let mut waited = Duration::ZERO;
        while !is_open(case) {
            let step = Duration::from_millis(20);
            waited += step;
            if opened.is_over_within(step) || waited > OPENING {
                return case.found(Fault::Silent, "the room was not opened");
            }
        }
        match owner {
            Owner::Killed => drop(opened.kill()),
            _ => {
                opened.signal(if owner == Owner::Stopped { "-STOP" } else { "-CONT" });
                running = Some(opened);
            }
        }
    }
    let trusted = if owner == Owner::Nobody { "0" } else { "1" };
    for (words, must_succeed) in commands() {
        let ended = case.run(case.launch(words).env("WORKSHOP_TRUST", trusted).within(LIMIT));
        case.count("commands", 1);
        if must_succeed && owner != Owner::Nobody && !ended.timed_out && !ended.status.success() {
            case.found(Fault::Silent, format!("{owner:?}: {} failed: {}", ended.command, ended.last_words()));
        }
    }
    if let Some(running) = running {
        running.signal("-CONT");
        drop(running.interrupt());
    }
}

/// Whether the room has begun its run.
fn is_open(case: &Case) -> bool {
    let history = case.at(".workshop/workshop.db");
    let Ok(history) = rusqlite::Connection::open_with_flags(history, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return false;
    };
    let begun = history.query_row("SELECT count(*) FROM events WHERE type = 'run_start'", [], |row| row.get(0));
    begun.is_ok_and(|count: i64| count > 0)
}
