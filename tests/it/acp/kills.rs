//! Rooms and coding agents that are killed at different moments: no process of an agent is left running.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use super::{is_gone, on_disk, script};
use crate::cases;
use crate::servers::processes;

pub fn cases() -> Vec<Trial> {
    cases![killing_an_agent_or_the_room_leaves_no_process]
}

/// Returns whether the process that this round waits for is running: the agent, its child, or the relay to the room's
/// tools.
fn has_reached_moment(round: usize, word: &str, case: &str) -> bool {
    match round % 3 {
        0 => !processes(word).is_empty(),
        1 => !processes(&format!("{word} child")).is_empty(),
        _ => has_relay(case),
    }
}

/// Returns whether a relay to the room's tools runs for the agent of this test.
pub(super) fn has_relay(case: &str) -> bool {
    let named = format!("ODD_CASE={case}");
    let has_case = |relay: &String| {
        let variables = std::fs::read(format!("/proc/{relay}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == named.as_bytes())
    };
    processes("__relay-tools").iter().any(has_case)
}

/// Waits up to 30 seconds for the condition. Returns whether it became true.
fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn killing_an_agent_or_the_room_leaves_no_process() {
    let kills = std::env::var("WORKSHOP_MORE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    for round in 0..kills {
        // Each round has its own workspace, because killed work continues when its workspace is opened again.
        let case = format!("killed{round}");
        let (_folder, config, workspace) = on_disk("brood", &case, "blackboard_read");
        let word = format!("{} brood {case}", script().display());
        let arguments = ["run", "--agent", "lead", "--task", "do:tools\ndo:wait", "--until", "idle"];
        let mut command = crate::program::workshop(&workspace, &arguments);
        command.env("WORKSHOP_CONFIG_DIR", config.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let mut room = command.stderr(Stdio::null()).spawn().expect("the process starts");
        assert!(wait_until(|| has_reached_moment(round, &word, &case)), "round {round}: the agent does not start");
        if round % 2 == 1 {
            // The agent is killed from outside; parts of it may have ended by themselves.
            let _ = Command::new("sh")
                .args(["-c", "kill -KILL \"$@\"", "sh"])
                .args(processes(&word))
                .stderr(Stdio::null())
                .status();
        }
        room.kill().expect("the room runs");
        room.wait().expect("the room was started");
        assert!(is_gone("brood", &case), "round {round}: {:?}", processes(&word));
        assert!(wait_until(|| !has_relay(&case)), "round {round}: a relay is left");
    }
}
