//! Output: free of terminal control sequences, whatever models, names, settings and files contain; and the behaviour of
//! commands when their output is closed or cannot be written.

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
        output_contains_no_control_characters,
        json_output_is_printable_and_keeps_its_content,
        a_command_ends_quietly_when_its_reader_goes_away,
        a_run_closes_properly_when_its_reader_goes_away,
        a_full_disk_is_reported_as_an_error,
    ]
}

/// Escape sequences for title, clear screen and clipboard, also in C1 form, a bidirectional override, a bell and a
/// backspace.
const HOSTILE: &str =
    "\u{1b}]0;mine\u{7}\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J\u{9d}0;x\u{9c}\u{202e}drow\u{2066}\u{8}\r\u{7f}";

/// Creates a workspace in which every text contains [`HOSTILE`].
fn hostile_room() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // YAML files may contain such characters only as escapes.
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
    let reply = quoted(&format!("{HOSTILE}\n[PIN: {HOSTILE}] [REMEMBER: {HOSTILE}]"));
    write("script.yaml", format!("default:\n  - {{ text: {reply}, repeat: true }}\n"));
    let path = quoted(&format!("artifacts/{HOSTILE}.md"));
    let asks = format!(
        "{{ name: vfs_write, arguments: {{ path: {path}, content: {json} }} }}, {{ name: vfs_delete, arguments: {{ path: agents/lead.md }} }}"
    );
    write("asks.yaml", format!("agents:\n  lead:\n    - tools: [ {asks} ]\n    - {{ text: {reply}, repeat: true }}\n"));
    #[cfg(unix)]
    write("agents/\u{1b}[2J\u{202e}.md", "---\nname: [open\n---\n".to_owned());
    folder
}

fn assert_printable(what: &str, printed: &Output) {
    for (stream, bytes) in [("stdout", &printed.stdout), ("stderr", &printed.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        let found = text.chars().find(|character| *character != '\n' && is_control(*character));
        assert_eq!(found, None, "{what}: {stream} contains a control character: {text:?}");
    }
}

fn output_contains_no_control_characters() {
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
    assert!(result.contains("␛]0;mine"), "replaced characters are visible: {result:?}");
}

fn json_output_is_printable_and_keeps_its_content() {
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
    assert!(events.iter().any(holds), "the log keeps the original text");
}

/// Runs a command whose stdout is closed from the start.
fn run_without_reader(room: &Path, arguments: &[&str]) -> Output {
    let mut child = workshop(room, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

fn a_command_ends_quietly_when_its_reader_goes_away() {
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
        let ended = run_without_reader(folder.path(), arguments);
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(141), "{arguments:?}: {stderr}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}

fn a_run_closes_properly_when_its_reader_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["init", "."]);
    let began = Instant::now();
    let ended = run_without_reader(folder.path(), &["run", "--speed", "16", "--events", "-"]);
    assert_eq!(ended.status.code(), Some(141), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(began.elapsed() < PATIENCE.min(Duration::from_secs(30)));
    let stored = json_lines(&succeed(folder.path(), &["export", "--run", "last", "--events", "-"]));
    assert_eq!(stored.last().unwrap()["type"], "run_end", "the room was closed properly");
}

fn a_full_disk_is_reported_as_an_error() {
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
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("standard output could not be written"), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("internal error"), "{stderr}");
    }
    let into_file = output(folder.path(), &["run", "--for", "5m", "--speed", "max", "--events", "/dev/full"]);
    assert_eq!(into_file.status.code(), Some(1), "undelivered events are an error");
}
