//! Rooms and coding agents that are killed at any moment and by anyone: no process of an agent is left running.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use super::{is_gone, on_disk, script};
use crate::cases;
use crate::servers::processes;

pub fn cases() -> Vec<Trial> {
    cases![nothing_of_an_agent_stays_however_often_it_or_the_room_is_killed]
}

/// The processes that must run before something is killed: the agent, what it started, and the relay to the room's
/// tools.
fn moment(round: usize, word: &str, case: &str) -> bool {
    match round % 3 {
        0 => !processes(word).is_empty(),
        1 => !processes(&format!("{word} child")).is_empty(),
        _ => has_relay(case),
    }
}

/// Whether a relay to the room's tools runs for the agent of this case.
pub(super) fn has_relay(case: &str) -> bool {
    let named = format!("ODD_CASE={case}");
    let is_its = |relay: &String| {
        let variables = std::fs::read(format!("/proc/{relay}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == named.as_bytes())
    };
    processes("__relay-tools").iter().any(is_its)
}

/// Waits for something with a time limit. Returns whether it happened.
fn comes(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn nothing_of_an_agent_stays_however_often_it_or_the_room_is_killed() {
    let kills = std::env::var("WORKSHOP_MORE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    for round in 0..kills {
        // Each round has a workspace of its own: killed work continues where it was when its workspace is opened again.
        let case = format!("killed{round}");
        let (_workspace, config, place) = on_disk("brood", &case, "blackboard_read");
        let word = format!("{} brood {case}", script().display());
        let arguments = ["run", "--agent", "lead", "--task", "do:tools\ndo:wait", "--until", "idle"];
        let mut command = crate::program::workshop(&place, &arguments);
        command.env("WORKSHOP_CONFIG_DIR", config.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let mut room = command.stderr(Stdio::null()).spawn().expect("it starts");
        assert!(comes(|| moment(round, &word, &case)), "round {round}: the agent does not start");
        if round % 2 == 1 {
            // The agent is killed from outside; parts of it may have ended by themselves.
            let _ = Command::new("kill").arg("-KILL").args(processes(&word)).stderr(Stdio::null()).status();
        }
        room.kill().expect("it runs");
        room.wait().expect("it was started");
        assert!(is_gone("brood", &case), "round {round}: {:?}", processes(&word));
        assert!(comes(|| !has_relay(&case)), "round {round}: a relay is left");
    }
}
