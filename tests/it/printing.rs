//! Output: nothing that a terminal would execute, whatever models, names, settings and files contain; and how commands
//! behave when their output is closed or cannot be written.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use agent_workshop::base::terminal_text::{is_control, printable_json};
use libtest_mimic::Trial;

use crate::cases;
use crate::program::{PATIENCE, json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        nothing_that_is_printed_is_obeyed_by_a_terminal,
        json_is_printable_and_means_what_it_meant,
        a_reader_that_goes_ends_a_command_quietly,
        a_reader_that_goes_ends_a_run_and_loses_nothing,
        a_disk_without_room_is_an_error_that_says_so,
    ]
}

/// Title, clear screen, clipboard, C1 forms of the same, a bidirectional override, a bell and a backspace.
const HOSTILE: &str =
    "\u{1b}]0;mine\u{7}\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J\u{9d}0;x\u{9c}\u{202e}drow\u{2066}\u{8}\r\u{7f}";

/// A workspace in which every text contains this one.
fn hostile_room() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // YAML files may not contain such characters literally, only as escapes.
    let quoted = |text: &str| printable_json(&serde_json::to_string(text).unwrap()).into_owned();
    let json = quoted(HOSTILE);
    let write = |path: &str, text: String| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("settings.yaml", format!("{json}: 1\nbudget: {{ {json}: 2 }}\n"));
    let board = format!(
        "{{ id: ideas, kind: pinboard, label: {json}, position: [0, 0], pins: [ {{ id: p1, text: {json}, author: user }} ] }}"
    );
    write(
        "scenes/test.yaml",
        format!(
            "name: {json}\nelements:\n  - {board}\nagents:\n  - {{ id: lead, profile: lead, position: [0, 60] }}\n"
        ),
    );
    write("agents/lead.md", format!("---\nname: {json}\n{json}: 1\nsafety_mode: safe\n---\nYou lead.\n"));
    let said = quoted(&format!("{HOSTILE} [PIN: {HOSTILE}] [REMEMBER: {HOSTILE}]"));
    write("script.yaml", format!("default:\n  - {{ text: {said}, repeat: true }}\n"));
    let path = quoted(&format!("artifacts/{HOSTILE}.md"));
    let asks = format!(
        "{{ name: vfs_write, arguments: {{ path: {path}, content: {json} }} }}, {{ name: vfs_delete, arguments: {{ path: agents/lead.md }} }}"
    );
    write("asks.yaml", format!("agents:\n  lead:\n    - tools: [ {asks} ]\n    - {{ text: {said}, repeat: true }}\n"));
    #[cfg(unix)]
    write("agents/\u{1b}[2J\u{202e}.md", "---\nname: [open\n---\n".to_owned());
    folder
}

fn assert_printable(what: &str, printed: &Output) {
    for (where_to, bytes) in [("stdout", &printed.stdout), ("stderr", &printed.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        let found = text.chars().find(|character| *character != '\n' && is_control(*character));
        assert_eq!(found, None, "{what}: {where_to} holds a control character: {text:?}");
    }
}

fn nothing_that_is_printed_is_obeyed_by_a_terminal() {
    let room = hostile_room();
    let task = ["run", "--agent", "lead", "--speed", "max", "--task"];
    let commands: Vec<Vec<&str>> = vec![
        vec!["doctor"],
        vec!["run", "--for", "60s", "--speed", "max", "--provider", "scripted:script.yaml"],
        [&task[..], &[HOSTILE, "--provider", "scripted:script.yaml"]].concat(),
        [&task[..], &["go", "--provider", "scripted:asks.yaml"]].concat(),
        vec!["approvals", "list"],
        vec!["run", "--agent", HOSTILE, "--task", "x", "--speed", "max"],
        vec!["run", "--scene", HOSTILE, "--ticks", "1"],
        vec!["run", HOSTILE],
        vec!["run", "--provider", HOSTILE],
        vec!["run", "--events", "no\u{1b}[2J/such/file", "--ticks", "1"],
        vec!["replay", HOSTILE],
        vec!["export", "--run", HOSTILE, "--events", "-"],
        vec![HOSTILE, "--screenshot", "x.png"],
        vec!["--size", HOSTILE],
        vec!["init", "settings.yaml/\u{1b}[2J"],
    ];
    for arguments in commands {
        let printed = workshop(room.path(), &arguments).env("WORKSHOP_LOG", "info").output().unwrap();
        assert_printable(&format!("{arguments:?}"), &printed);
        assert!(printed.status.code().is_some_and(|code| code != 101), "{arguments:?} panicked");
    }
    let task = workshop(room.path(), &["run", "--agent", "lead", "--task", "x", "--speed", "max"])
        .args(["--provider", "scripted:script.yaml", "--fresh"])
        .output()
        .unwrap();
    let result = String::from_utf8_lossy(&task.stdout).into_owned();
    assert!(result.contains("␛]0;mine"), "what was replaced is seen: {result:?}");
}

fn json_is_printable_and_means_what_it_meant() {
    let room = hostile_room();
    let run = ["run", "--for", "60s", "--speed", "max", "--provider", "scripted:script.yaml", "--json"];
    let report = output(room.path(), &run);
    assert_printable("run --json", &report);
    serde_json::from_slice::<serde_json::Value>(&report.stdout).unwrap();
    assert_printable("doctor --json", &output(room.path(), &["doctor", "--json"]));
    let exported = output(room.path(), &["export", "--events", "-"]);
    assert_printable("export", &exported);
    let events = json_lines(&String::from_utf8(exported.stdout).unwrap());
    let holds = |event: &serde_json::Value| {
        event["data"].as_object().is_some_and(|data| {
            data.values().filter_map(serde_json::Value::as_str).any(|text| text.contains("\u{9b}2J"))
        })
    };
    assert!(events.iter().any(holds), "what was said is still in the log, as it was said");
}

/// Starts a command whose standard output is not read from the beginning.
fn without_reader(room: &Path, arguments: &[&str]) -> Output {
    let mut child = workshop(room, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

fn a_reader_that_goes_ends_a_command_quietly() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init", "."]);
    succeed(folder.path(), &["run", "--for", "5s", "--speed", "max"]);
    let commands: [&[&str]; 7] = [
        &["doctor"],
        &["doctor", "--json"],
        &["--help"],
        &["run", "--for", "1s", "--speed", "max", "--json"],
        &["replay", "last", "--json"],
        &["export", "--events", "-"],
        &["init", "other"],
    ];
    for arguments in commands {
        let ended = without_reader(folder.path(), arguments);
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(141), "{arguments:?}: {told}");
        assert_eq!(told, "", "{arguments:?}");
    }
}

fn a_reader_that_goes_ends_a_run_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init", "."]);
    let began = Instant::now();
    let ended = without_reader(folder.path(), &["run", "--speed", "16", "--events", "-"]);
    assert_eq!(ended.status.code(), Some(141), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(began.elapsed() < PATIENCE.min(Duration::from_secs(30)));
    let stored = json_lines(&succeed(folder.path(), &["export", "--run", "last", "--events", "-"]));
    assert_eq!(stored.last().unwrap()["type"], "run_end", "the room was closed as always");
}

fn a_disk_without_room_is_an_error_that_says_so() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init", "."]);
    succeed(folder.path(), &["run", "--for", "5s", "--speed", "max"]);
    let commands: [&[&str]; 6] = [
        &["doctor"],
        &["--help"],
        &["run", "--for", "1s", "--speed", "max", "--json"],
        &["run", "--for", "5m", "--speed", "max", "--events", "-"],
        &["export", "--events", "-"],
        &["replay", "last"],
    ];
    for arguments in commands {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = workshop(folder.path(), arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("standard output could not be written"), "{arguments:?}: {told}");
        assert!(!told.contains("panicked") && !told.contains("internal error"), "{told}");
    }
    let into_file = output(folder.path(), &["run", "--for", "5m", "--speed", "max", "--events", "/dev/full"]);
    assert_eq!(into_file.status.code(), Some(1), "events that are not delivered are no success");
}
