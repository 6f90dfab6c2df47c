//! Commands beside a room that is open in another process: each answers soon, whether that process runs, is stopped or
//! was killed, and what it writes takes effect once.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::beside_commands::{FILES, PLAN, TASKS, commands};
use crate::cases;
use crate::program::{Running, output, succeed, workshop, write};

pub fn trials() -> Vec<Trial> {
    cases![
        every_command_answers_beside_a_room,
        a_writing_query_beside_a_room_takes_effect_once,
        queries_beside_each_other_and_a_room_lose_nothing,
        a_query_does_not_keep_a_room_from_opening,
        a_pump_does_not_wait_for_a_stopped_room,
    ]
}

/// How long a command may take here, where many tests share the computer; it usually answers within a fraction of a
/// second.
const LIMIT: Duration = Duration::from_secs(20);

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        write(folder.path(), path, text);
    }
    folder
}

/// The state of the process that has the room open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Running,
    Stopped,
    Killed,
}

const OWNERS: [Owner; 3] = [Owner::Running, Owner::Stopped, Owner::Killed];

/// Opens the room in another process, which is then in this state.
fn opened(room: &Path, owner: Owner) -> Running {
    let watch = ["daemon", "--watch", "--provider", "offline", "--events", "-"];
    let mut running = Running::start(room, &watch);
    running.wait_for("the room", |event| event["type"] == "run_start");
    match owner {
        Owner::Running => {}
        Owner::Stopped => signal(&running, "-STOP"),
        Owner::Killed => {
            running.child.kill().unwrap();
            running.child.wait().unwrap();
        }
    }
    running
}

fn signal(running: &Running, signal: &str) {
    crate::program::signal(signal, running.child.id());
}

/// Ends the process, however it was.
fn close(running: Running, owner: Owner) {
    match owner {
        Owner::Killed => {}
        Owner::Stopped => {
            signal(&running, "-CONT");
            drop(running.interrupt());
        }
        Owner::Running => drop(running.interrupt()),
    }
}

/// Runs a command. Returns its exit code and what it printed; fails if it does not end.
fn answer(room: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let config = room.join(".config");
    let mut command = workshop(room, arguments);
    command.env("WORKSHOP_CONFIG_DIR", config).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut out, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let printed = std::thread::spawn(move || {
        let (mut text, mut rest) = (Vec::new(), Vec::new());
        let _ = out.read_to_end(&mut text);
        let _ = errors.read_to_end(&mut rest);
        text.extend(rest);
        String::from_utf8_lossy(&text).into_owned()
    });
    let began = Instant::now();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if began.elapsed() > LIMIT => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{arguments:?} does not answer: {}", printed.join().unwrap());
            }
            None => std::thread::yield_now(),
        }
    };
    (code, printed.join().unwrap())
}

fn every_command_answers_beside_a_room() {
    let help = succeed(Path::new("."), &["--help"]);
    let listed = help.split_once("Commands:").unwrap().1.lines().skip(1).take_while(|line| !line.trim().is_empty());
    for name in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        assert!(commands().iter().any(|(words, _)| words[0] == name), "{name} is not tried");
    }
    for owner in OWNERS {
        let room = room();
        let running = opened(room.path(), owner);
        for (words, must_succeed) in commands() {
            // A killed room is taken over, which may do anything that a room does.
            let (code, printed) = answer(room.path(), words);
            assert!(code.is_some(), "{owner:?}: {words:?} was killed: {printed}");
            assert!(!must_succeed || code == Some(0), "{owner:?}: {words:?} ended with {code:?}: {printed}");
            assert!(!printed.contains("this is a bug"), "{owner:?}: {words:?}: {printed}");
        }
        close(running, owner);
    }
}

fn a_pump_does_not_wait_for_a_stopped_room() {
    // Elsewhere, the state of a process is not known.
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let room = room();
    let running = opened(room.path(), Owner::Stopped);
    // There is something that the room has not read.
    write(room.path(), PLAN, &TASKS.replace("First", "Changed"));
    let began = Instant::now();
    let (_, printed) = answer(room.path(), &["daemon", "--pump", "--provider", "offline"]);
    assert!(printed.contains("is stopped, so work waits"), "{printed}");
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}: {printed}", began.elapsed());
    close(running, Owner::Stopped);
}

fn ids_and_notes(room: &Path) -> String {
    succeed(room, &["task", "SELECT id, note FROM tasks/plan.task.md", "--json"])
}

fn a_writing_query_beside_a_room_takes_effect_once() {
    for owner in OWNERS {
        let room = room();
        let running = opened(room.path(), owner);
        for query in [
            "UPDATE tasks/plan.task.md SET note = 'changed' WHERE id = 'first'",
            "INSERT INTO tasks/plan.task.md SET title = 'Fourth', stakeholders = 'human'",
            "DELETE FROM tasks/plan.task.md WHERE id = 'third'",
        ] {
            let (code, printed) = answer(room.path(), &["task", query]);
            assert_eq!(code, Some(0), "{owner:?}: {query}: {printed}");
        }
        let text = fs::read_to_string(room.path().join(PLAN)).unwrap();
        assert!(text.contains("- [ ] @human \"Second\"\n  weight: 2\n"), "{owner:?}: {text}");
        assert_eq!(text.matches("note: changed").count(), 1, "{owner:?}: {text}");
        assert_eq!((text.matches("Fourth").count(), text.contains("Third")), (1, false), "{owner:?}: {text}");
        let before = ids_and_notes(room.path());
        close(running, owner);
        // The room reads the changes, or continues with them, and writes none of them again.
        output(room.path(), &["run", "--for", "3s", "--speed", "max", "--provider", "offline"]);
        assert_eq!(ids_and_notes(room.path()), before, "{owner:?}");
    }
}

fn queries_beside_each_other_and_a_room_lose_nothing() {
    for file in [PLAN, "top.task.md"] {
        let room = room();
        write(room.path(), file, TASKS);
        let running = opened(room.path(), Owner::Running);
        let started: Vec<_> = (0..8)
            .map(|number| {
                let query = format!("INSERT INTO {file} SET title = 'New {number}', stakeholders = 'human'");
                let mut command = workshop(room.path(), &["task", &query]);
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in started {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        let text = fs::read_to_string(room.path().join(file)).unwrap();
        for number in 0..8 {
            assert_eq!(text.matches(&format!("New {number}")).count(), 1, "{file}: {text}");
        }
        close(running, Owner::Running);
    }
}

fn a_query_does_not_keep_a_room_from_opening() {
    let room = room();
    // Another command has its turn, and is stopped in it.
    fs::create_dir_all(room.path().join(".workshop")).unwrap();
    let held = ["tasks", ".workshop"].map(|folder| {
        let folder = fs::File::open(room.path().join(folder)).unwrap();
        folder.lock().unwrap();
        folder
    });
    let run = ["run", "--for", "1s", "--speed", "max", "--provider", "offline"];
    let (code, printed) = answer(room.path(), &run);
    assert_eq!(code, Some(0), "{printed}");
    let insert = "INSERT INTO tasks/plan.task.md SET title = 'Fourth'";
    let (code, printed) = answer(room.path(), &["task", insert]);
    assert_eq!(code, Some(0), "{printed}");
    drop(held);
}
