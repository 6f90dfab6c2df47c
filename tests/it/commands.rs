//! Commands that agents run: checked against a person's rules, sandboxed, killed together with their children, and
//! never run twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Instant;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use agent_workshop::gateway::sandbox::{Level, SUPERVISOR_ARGUMENT};

use crate::cases;
use crate::program::{Running, json_lines, succeed};
use crate::sandbox_modes::{MODES, output_in, sandboxes, succeed_in, with_python, workshop_in};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        an_allowed_command_runs_and_reports_its_result,
        a_command_without_a_rule_needs_approval_and_a_forbidden_one_never_runs,
        a_line_that_needs_a_shell_is_approved_as_a_shell_command,
        an_approval_is_not_valid_for_a_script_that_changed_meanwhile,
        a_script_that_a_rule_names_is_asked_about_after_a_change,
        what_a_script_loads_is_asked_about_after_a_change,
        sources_that_a_tool_finds_by_itself_are_asked_about_unless_a_rule_says_otherwise,
        code_that_cannot_be_followed_whole_asks_each_time,
        what_an_agent_wrote_for_a_script_to_load_is_asked_about,
        programs_that_a_planted_repository_names_are_asked_about,
        a_rule_does_not_hold_in_a_folder_that_an_agent_filled,
        git_runs_nothing_that_a_repository_made_by_an_agent_names,
        a_program_is_sandboxed,
        what_others_left_among_temporary_files_keeps_no_command_from_starting,
        a_program_cannot_act_as_a_person_and_leaves_nothing_behind,
        a_program_cannot_read_keys_or_reach_sockets,
        under_landlock_a_program_cannot_write_protected_files,
        total_memory_and_file_sizes_are_limited,
        a_program_that_does_not_end_is_killed_with_its_children,
        output_and_process_count_are_limited,
        a_command_that_was_running_at_a_kill_is_not_run_again,
        a_run_with_commands_replays_without_running_them,
        what_a_command_changed_is_its_agents_and_is_undone,
    ];
    with_python("the tests of commands", cases)
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str =
    "---\nname: Lead\nsafety_mode: balanced\nbehaviour: stationary\ntools: [execute_command]\n---\nYou lead.\n";

/// Creates a workspace with these rules and the folder `artifacts` whose agent runs this command.
pub fn room(rules: &str, command: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "agents:\n  lead:\n    - when: {{ contains: \"your task\" }}\n      tools: [ {{ name: execute_command, arguments: {command} }} ]\n      repeat: true\n    - when: {{ kind: task }}\n      text: \"Done.\"\n      repeat: true\n"
    );
    let files = [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", LEAD),
        ("script.yaml", &*script),
        ("storage/terminal-cmd-allowlist.yaml", rules),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(folder.path().join("artifacts")).unwrap();
    folder
}

pub fn command_arguments(command: &str) -> Value {
    serde_json::json!({ "command": command })
}

const TASK: [&str; 12] = [
    "run",
    "--agent",
    "lead",
    "--task",
    "Do it",
    "--speed",
    "max",
    "--provider",
    "scripted:script.yaml",
    "--events",
    "-",
    "--quiet",
];
/// Additional arguments for a computer without a sandbox, where every command needs approval.
const ALLOWED: [&str; 2] = ["--on-ask", "allow"];

/// Runs the agent's task in this kind of sandbox. Returns the data of the `tool_result` event.
fn run_task(level: Level, room: &Path) -> Value {
    let arguments = if level == Level::None { [&TASK[..11], &ALLOWED[..]].concat() } else { TASK[..11].to_vec() };
    result_of(&output_in(level, room, &arguments))
}

/// Returns the data of the `tool_result` event.
fn result_of(ended: &Output) -> Value {
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let result = events.iter().find(|event| event["type"] == "tool_result");
    result.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&ended.stderr)))["data"].clone()
}

fn text_of(result: &Value) -> &str {
    result["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn an_allowed_command_runs_and_reports_its_result() {
    for level in MODES.iter().copied() {
        let room = room("ls: true\n", &command_arguments("ls agents"));
        let result = run_task(level, room.path());
        assert!(text_of(&result).starts_with("exit code 0") && text_of(&result).contains("lead.md"), "{result}");
        let failing = self::room("ls: true\n", &command_arguments("ls nowhere"));
        let result = run_task(level, failing.path());
        assert!(text_of(&result).contains("exit code 2") && text_of(&result).contains("stderr:"), "{result}");
        let missing = self::room("no-such-program: true\n", &command_arguments("no-such-program"));
        assert!(text_of(&run_task(level, missing.path())).contains("no program"), "the missing program is reported");
    }
}

fn a_command_without_a_rule_needs_approval_and_a_forbidden_one_never_runs() {
    for level in MODES.iter().copied() {
        let unknown = room("ls: true\n", &command_arguments("touch artifacts/made"));
        let ended = output_in(level, unknown.path(), &TASK[..9]);
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(4), "{stderr}");
        assert!(stderr.contains("run `touch artifacts/made`"), "{stderr}");
        let file = fs::read_to_string(unknown.path().join("tasks/approvals.task.md")).unwrap();
        for part in [
            "approval_type: terminal_command",
            "risk: \"high: a program runs on this computer",
            "| touch artifacts/made",
        ] {
            assert!(file.contains(part) || file.contains(&part.replace('"', "")), "{part} in {file}");
        }
        assert!(!unknown.path().join("artifacts/made").exists());
        fs::write(unknown.path().join("tasks/approvals.task.md"), file.replace("- [ ] A", "- [x] A")).unwrap();
        let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];
        succeed_in(level, unknown.path(), &go_on);
        assert!(unknown.path().join("artifacts/made").exists(), "the person's approval in the file counts");
        let forbidden = room("touch: false\n", &command_arguments("env touch artifacts/made"));
        let ended = output_in(level, forbidden.path(), &[&TASK[..9], &ALLOWED[..]].concat());
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "no approval is requested: {stderr}");
        assert!(!forbidden.path().join("artifacts/made").exists());
    }
}

fn a_line_that_needs_a_shell_is_approved_as_a_shell_command() {
    for level in MODES.iter().copied() {
        let line = "echo one > artifacts/made; echo two >> artifacts/made";
        let room = room("echo: true\n", &command_arguments(line));
        let ended = output_in(level, room.path(), &TASK[..9]);
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(4), "{stderr}");
        assert!(stderr.contains(&format!("sh -c '{line}'")), "{stderr}");
        let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];
        succeed_in(level, room.path(), &[&go_on[..], &ALLOWED[..]].concat());
        let made = fs::read_to_string(room.path().join("artifacts/made")).unwrap();
        assert_eq!(made, "one\ntwo\n", "exactly the approved line runs");
    }
}

/// Continues a room until nothing can go on without a person.
const GO_ON: [&str; 7] = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];

fn approvals(room: &Path) -> String {
    fs::read_to_string(room.join("tasks/approvals.task.md")).unwrap_or_default()
}

/// Marks all open approvals in the file as allowed.
fn allow_in_file(room: &Path) {
    fs::write(room.join("tasks/approvals.task.md"), approvals(room).replace("- [ ] A", "- [x] A")).unwrap();
}

fn an_approval_is_not_valid_for_a_script_that_changed_meanwhile() {
    // Without a sandbox, marks in the file are not accepted.
    for level in sandboxes() {
        let room = room("", &command_arguments("sh artifacts/run.sh"));
        let script = room.path().join("artifacts/run.sh");
        fs::write(&script, "echo harmless > artifacts/first\n").unwrap();
        assert_eq!(output_in(level, room.path(), &TASK[..9]).status.code(), Some(4), "{}", approvals(room.path()));
        fs::write(&script, "echo other > artifacts/second\n").unwrap();
        allow_in_file(room.path());
        let ended = output_in(level, room.path(), &GO_ON);
        assert_eq!(ended.status.code(), Some(4), "it is asked again: {}", String::from_utf8_lossy(&ended.stderr));
        assert!(!room.path().join("artifacts/second").exists(), "the changed script did not run");
        let asked = approvals(room.path());
        for part in ["artifacts/run.sh, which it runs, changed", "- echo harmless", "+ echo other"] {
            assert!(asked.contains(part), "{part} in {asked}");
        }
        allow_in_file(room.path());
        succeed_in(level, room.path(), &GO_ON);
        assert!(room.path().join("artifacts/second").exists(), "what was shown is allowed: {}", approvals(room.path()));
    }
}

fn a_script_that_a_rule_names_is_asked_about_after_a_change() {
    for level in sandboxes() {
        let room = room("sh artifacts/run.sh: true\n", &command_arguments("sh artifacts/run.sh"));
        let script = room.path().join("artifacts/run.sh");
        fs::write(&script, "echo one\n").unwrap();
        for _ in 0..2 {
            assert!(text_of(&run_task(level, room.path())).contains("one"));
        }
        fs::write(&script, "echo two\n").unwrap();
        let ended = output_in(level, room.path(), &TASK[..9]);
        assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(approvals(room.path()).contains("which it runs, changed"), "{}", approvals(room.path()));
    }
}

/// Commands with the files that they name, and the files that these load, which print "one" or "two".
const LOADING: [(&str, &[(&str, &str)], (&str, &str)); 5] = [
    ("sh artifacts/build.sh", &[("artifacts/build.sh", ". artifacts/lib.sh\n")], ("artifacts/lib.sh", "echo one\n")),
    ("sh artifacts/build.sh", &[("artifacts/build.sh", "sh artifacts/next\n")], ("artifacts/next", "echo one\n")),
    (
        "python3 artifacts/tool.py",
        &[("artifacts/tool.py", "import helper\n")],
        ("artifacts/helper.py", "print('one')\n"),
    ),
    (
        "python3 artifacts/tool.py",
        &[("artifacts/tool.py", "from pkg import (\n    part,\n)\n"), ("artifacts/pkg/__init__.py", "")],
        ("artifacts/pkg/part.py", "print('one')\n"),
    ),
    ("python3 -m tools.main", &[("tools/main.py", "from . import part\n")], ("tools/part.py", "print('one')\n")),
];

fn what_a_script_loads_is_asked_about_after_a_change() {
    for level in sandboxes() {
        for (command, named, (path, text)) in LOADING {
            let room = room(&format!("{command}: true\n"), &command_arguments(command));
            for (path, text) in named.iter().copied().chain([(path, text)]) {
                crate::program::write(room.path(), path, text);
            }
            for _ in 0..2 {
                let result = run_task(level, room.path());
                assert!(text_of(&result).contains("one"), "{command}: {result}");
            }
            fs::write(room.path().join(path), text.replace("one", "two")).unwrap();
            let ended = output_in(level, room.path(), &TASK[..9]);
            assert_eq!(ended.status.code(), Some(4), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
            let asked = approvals(room.path());
            assert!(asked.contains(&format!("{path}, which it loads, changed")) && asked.contains("two"), "{asked}");
        }
    }
}

/// A test that a test runner finds by itself.
const FOUND_TEST: &str =
    "import unittest\nclass Found(unittest.TestCase):\n    def test_it(self):\n        print('mark-one')\n";

fn sources_that_a_tool_finds_by_itself_are_asked_about_unless_a_rule_says_otherwise() {
    let command = "python3 -m unittest discover -s artifacts";
    for level in sandboxes() {
        for (says, is_asked) in [("true", true), ("edited", false)] {
            let room = room(&format!("{command}: {says}\n"), &command_arguments(command));
            let path = room.path().join("artifacts/test_found.py");
            fs::write(&path, FOUND_TEST).unwrap();
            for _ in 0..2 {
                let result = run_task(level, room.path());
                assert!(text_of(&result).contains("mark-one"), "{says}: {result}");
            }
            fs::write(&path, FOUND_TEST.replace("mark-one", "mark-second")).unwrap();
            if !is_asked {
                let result = run_task(level, room.path());
                assert!(text_of(&result).contains("mark-second"), "{says}: {result}");
                continue;
            }
            let ended = output_in(level, room.path(), &TASK[..9]);
            assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
            let asked = approvals(room.path());
            assert!(asked.contains("artifacts/test_found.py, which it loads, changed"), "{asked}");
            let count = asked.matches("mark-second").count();
            assert_eq!(count, 1, "what changed is shown once: {asked}");
            let listed: Value = serde_json::from_str(&succeed(room.path(), &["approvals", "list", "--json"])).unwrap();
            let id = listed["approvals"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}"));
            succeed(room.path(), &["approvals", "allow", id, "--edited"]);
            succeed_in(level, room.path(), &GO_ON);
            let rules = fs::read_to_string(room.path().join("storage/terminal-cmd-allowlist.yaml")).unwrap();
            assert_eq!(rules, format!("{command}: edited\n"));
            fs::write(&path, FOUND_TEST.replace("mark-one", "mark-third")).unwrap();
            let result = run_task(level, room.path());
            assert!(text_of(&result).contains("mark-third"), "it runs unasked: {result}");
        }
    }
}

fn code_that_cannot_be_followed_whole_asks_each_time() {
    for level in sandboxes() {
        let room = room("sh artifacts/run.sh: true\n", &command_arguments("sh artifacts/run.sh"));
        let long = format!("echo one\n{}", "# a long script\n".repeat(20_000));
        fs::write(room.path().join("artifacts/run.sh"), long).unwrap();
        for _ in 0..2 {
            let ended = output_in(level, room.path(), &TASK[..9]);
            assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
            let asked = approvals(room.path());
            let why = "its code could not be followed whole: artifacts/run.sh: only the first 256 KiB are read";
            assert!(asked.contains(why), "{asked}");
            allow_in_file(room.path());
            succeed_in(level, room.path(), &GO_ON);
        }
    }
}

fn what_an_agent_wrote_for_a_script_to_load_is_asked_about() {
    // The second script composes the name, so that no text has it.
    let builds = [". artifacts/lib.sh\n", "name=lib\n. \"artifacts/$name.sh\"\n"];
    for (level, build) in sandboxes().flat_map(|level| builds.map(|build| (level, build))) {
        let room = room("sh artifacts/build.sh: true\n", &command_arguments("sh artifacts/build.sh"));
        let script = "agents:\n  lead:\n    - when: { contains: \"your task\" }\n      tools:\n        \
            - { name: vfs_write, arguments: { path: artifacts/lib.sh, content: \"echo two > artifacts/ran\" } }\n        \
            - { name: execute_command, arguments: { command: sh artifacts/build.sh } }\n      repeat: true\n    \
            - when: { kind: task }\n      text: \"Done.\"\n      repeat: true\n";
        fs::write(room.path().join("script.yaml"), script).unwrap();
        fs::write(
            room.path().join("agents/lead.md"),
            LEAD.replace("[execute_command]", "[execute_command, vfs_write]"),
        )
        .unwrap();
        fs::write(room.path().join("artifacts/build.sh"), build).unwrap();
        let ended = output_in(level, room.path(), &TASK[..9]);
        assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(!room.path().join("artifacts/ran").exists());
        let asked = approvals(room.path());
        assert!(asked.contains("artifacts/lib.sh, which it loads, was written by lead"), "{asked}");
        allow_in_file(room.path());
        succeed_in(level, room.path(), &GO_ON);
        assert!(room.path().join("artifacts/ran").exists(), "what was shown is allowed: {}", approvals(room.path()));
    }
}

fn programs_that_a_planted_repository_names_are_asked_about() {
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return;
    }
    for level in sandboxes() {
        for (file, text) in [
            (".git/config", "[diff]\n\texternal = sh artifacts/x.sh\n"),
            (".git/config", "[include]\n\tpath = more\n"),
            (".git/config", "[filter \"own\"]\n\tclean = sh artifacts/x.sh\n"),
            ("sub/.git/config", "[core]\n\tfsmonitor = sh artifacts/x.sh\n"),
        ] {
            let room = room("git diff: true\n", &command_arguments("git diff"));
            let made =
                std::process::Command::new("git").args(["init", "-q"]).current_dir(room.path()).status().unwrap();
            assert!(made.success());
            let result = run_task(level, room.path());
            assert!(text_of(&result).contains("exit code 0"), "an ordinary repository asks nothing: {result}");
            fs::write(room.path().join("artifacts/x.sh"), "echo ran > artifacts/ran\n").unwrap();
            fs::write(room.path().join(".gitattributes"), "* filter=own\n").unwrap();
            fs::write(room.path().join(".git/more"), "[diff]\n\texternal = sh artifacts/x.sh\n").unwrap();
            crate::program::write(room.path(), file, text);
            let ended = output_in(level, room.path(), &TASK[..9]);
            assert_eq!(ended.status.code(), Some(4), "{text}: {}", String::from_utf8_lossy(&ended.stderr));
            let asked = approvals(room.path());
            assert!(asked.contains("name programs that git may run") && asked.contains("sh artifacts/x.sh"), "{asked}");
            assert!(!room.path().join("artifacts/ran").exists());
        }
    }
}

fn a_rule_does_not_hold_in_a_folder_that_an_agent_filled() {
    for level in MODES.iter().copied() {
        let arguments = serde_json::json!({ "command": "sh tools/run.sh", "cwd": "artifacts/made" });
        let room = room("sh tools/run.sh: true\n", &arguments);
        fs::create_dir_all(room.path().join("artifacts/made/tools")).unwrap();
        fs::write(room.path().join("artifacts/made/tools/run.sh"), "echo made > ran\n").unwrap();
        let ended = output_in(level, room.path(), &TASK[..9]);
        assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(!room.path().join("artifacts/made/ran").exists());
        let asked = approvals(room.path());
        assert!(asked.contains("holds in the top of the workspace only"), "{asked}");
    }
}

fn git_runs_nothing_that_a_repository_made_by_an_agent_names() {
    for level in sandboxes() {
        if std::process::Command::new("git").arg("--version").output().is_err() {
            return;
        }
        let arguments = serde_json::json!({ "command": "git status", "cwd": "artifacts/r" });
        let room = room("git status: true\n", &arguments);
        let bare = room.path().join("artifacts/r");
        for folder in ["objects", "refs"] {
            fs::create_dir_all(bare.join(folder)).unwrap();
        }
        let monitor = bare.join("x.sh");
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = format!("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = sh {}\n", monitor.display());
        fs::write(bare.join("config"), config).unwrap();
        fs::write(&monitor, format!("echo ran > {}\n", bare.join("ran").display())).unwrap();
        let ended = output_in(level, room.path(), &TASK[..9]);
        assert_eq!(ended.status.code(), Some(4), "it is asked: {}", String::from_utf8_lossy(&ended.stderr));
        succeed_in(level, room.path(), &[&GO_ON[..], &ALLOWED[..]].concat());
        assert!(!bare.join("ran").exists(), "nor does it run if a person allows git");
    }
}

fn a_program_is_sandboxed() {
    for level in sandboxes() {
        let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let target = outside.path().join("made");
        let script = format!(
            "import os, socket\nfor path in [{:?}, 'artifacts/within', 'new', 'settings.yaml', 'storage/terminal-cmd-allowlist.yaml']:\n    try:\n        open(path, 'a').write('x')\n        print('wrote', os.path.basename(path))\n    except OSError:\n        print('kept from', os.path.basename(path))\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n    print('network', error.errno)\nprint('key', os.environ.get('OPENAI_API_KEY'))\n",
            target.display().to_string()
        );
        let room = room("python3 check.py: true\n", &command_arguments("python3 check.py"));
        fs::write(room.path().join("check.py"), script).unwrap();
        let ended = workshop_in(level, room.path(), &TASK[..11]).env("OPENAI_API_KEY", "sk-0123456789abcdef").output();
        let result = result_of(&ended.unwrap());
        let result = text_of(&result);
        assert!(result.contains("kept from made") && result.contains("wrote within"), "{result}");
        let is_new_kept = if level == Level::Bubblewrap { "wrote new" } else { "kept from new" };
        assert!(result.contains(is_new_kept), "{}: {result}", level.word());
        assert_eq!(room.path().join("new").exists(), level == Level::Bubblewrap);
        assert!(!target.exists());
        assert!(result.contains("key None"), "{result}");
        for path in ["settings.yaml", "terminal-cmd-allowlist.yaml"] {
            assert!(result.contains(&format!("kept from {path}")), "{result}");
        }
    }
}

/// A program that runs in the workspace and tries every known way to act with a person's rights.
const FORGING: &str = r#"
import ctypes, os, shutil, subprocess
def attempt(act):
    try:
        act()
    except (OSError, subprocess.SubprocessError):
        pass
def write(path, text='forged'):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    open(path, 'w').write(text)
guarded = ['tasks', 'agents', 'scenes', 'storage', 'templates', 'workflows', 'boards', 'memory', 'inbox', 'outbox',
           'sessions', '.workshop', '.git', '.vscode', '.githooks']
for name in guarded:
    attempt(lambda: os.rename(name, name + '-away'))
    attempt(lambda: os.rename('artifacts', name))
    attempt(lambda: shutil.rmtree(name))
    attempt(lambda: os.mkdir(name))
    attempt(lambda: os.symlink('artifacts', name))
    attempt(lambda: write(name + '/forged.md'))
    attempt(lambda: os.link('artifacts/mine.md', name + '/linked.md'))
for path in ['tasks/approvals.task.md', 'storage/terminal-cmd-allowlist.yaml', 'agents/evil.md', 'scenes/evil.yaml',
             'templates/evil.agent.yaml', 'workflows/evil.md', '.workshop/answers/1-1-0-abcd', '.git/hooks/pre-commit',
             '.git/config', '.git/commondir', 'settings.yaml', 'settings.yml', 'Settings.yml', '.mcp.json', '.envrc',
             'AGENTS.md', 'CLAUDE.md', 'claude.md']:
    attempt(lambda: write(path))
    attempt(lambda: os.replace('artifacts/mine.md', path))
    attempt(lambda: write('artifacts/mine.md', 'mine'))
libc = ctypes.CDLL(None)
for name in guarded + ['.']:
    libc.umount2(os.path.abspath(name).encode(), 2)
    libc.mount(None, os.path.abspath(name).encode(), None, 32 | 4096, None)
    attempt(lambda: write(name + '/unmounted.md'))
for folder in ['made', 'Storage']:
    attempt(lambda: write(folder + '/file.txt', 'new'))
attempt(lambda: write('top.txt', 'new'))
attempt(lambda: write('README.md', 'changed'))
attempt(lambda: write('artifacts/mine.md', 'mine'))
print('done')
"#;

/// The names that temporary files have are free, also if they were guessed, or if processes with the same id left theirs.
fn what_others_left_among_temporary_files_keeps_no_command_from_starting() {
    for level in sandboxes() {
        let temporary = tempfile::tempdir().unwrap();
        let place = temporary.path().join("room");
        fs::rename(room("ls: true\n", &command_arguments("ls agents")).keep(), &place).unwrap();
        // Of the next processes, as far as that can be foreseen.
        for process in std::process::id()..std::process::id() + 4_000 {
            for purpose in ["empty", "program"] {
                fs::create_dir(temporary.path().join(format!("workshop-{purpose}-{process}"))).unwrap();
            }
        }
        let result =
            result_of(&workshop_in(level, &place, &TASK[..11]).env("TMPDIR", temporary.path()).output().unwrap());
        assert!(text_of(&result).starts_with("exit code 0"), "{}: {result}", level.word());
        let left = fs::read_dir(temporary.path()).unwrap().count();
        assert_eq!(left, 8_001, "{}: what was made for the command is deleted", level.word());
    }
}

/// Reads the workspace's files, except for the workshop's own files; the text of a folder is `folder`.
fn files(room: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut pending = vec![room.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path().strip_prefix(room).unwrap().to_string_lossy().into_owned();
            if path.starts_with(".workshop") || path.starts_with("sessions") {
                continue;
            }
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|_| "folder".to_owned());
            files.insert(path, text);
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
        }
    }
    files
}

/// Describes the files in which two sets differ.
fn difference(actual: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) -> Vec<String> {
    let paths: BTreeSet<&String> = actual.keys().chain(expected.keys()).collect();
    let differs = paths.into_iter().filter(|path| actual.get(*path) != expected.get(*path));
    differs.map(|path| format!("{path}: {:?}, not {:?}", actual.get(path), expected.get(path))).collect()
}

/// Creates a workspace with a few files and the program [`FORGING`].
fn forging_room() -> TempDir {
    let room = room("python3 artifacts/forging.py: true\n", &command_arguments("python3 artifacts/forging.py"));
    for (path, text) in [
        ("artifacts/forging.py", FORGING),
        ("artifacts/mine.md", "mine"),
        ("tasks/work.task.md", "- [ ] @human \"Decide\"\n"),
        (".git/config", "[core]\n"),
        ("README.md", "read"),
    ] {
        let path = room.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    room
}

fn a_program_cannot_act_as_a_person_and_leaves_nothing_behind() {
    for (level, has_rules) in sandboxes().flat_map(|level| [(level, true), (level, false)]) {
        let room = forging_room();
        if !has_rules {
            // The program must not be able to create the missing folders.
            fs::remove_dir_all(room.path().join("storage")).unwrap();
            fs::remove_dir_all(room.path().join(".git")).unwrap();
        }
        let before = files(room.path());
        let result = result_of(&output_in(level, room.path(), &[&TASK[..11], &ALLOWED[..]].concat()));
        assert!(text_of(&result).contains("done"), "{result}");
        let mut expected = before;
        expected.insert("README.md".into(), "changed".into());
        if level == Level::Bubblewrap {
            let new = [("made", "folder"), ("made/file.txt", "new"), ("top.txt", "new"), ("unmounted.md", "forged")];
            for (path, text) in new {
                expected.insert(path.into(), text.into());
            }
            assert!(text_of(&result).contains("Storage was created by the program and was not kept"), "{result}");
        }
        let mut actual = files(room.path());
        if !has_rules {
            // The room writes the approval request.
            assert!(!actual.remove("tasks/approvals.task.md").unwrap_or_default().contains("forged"));
        }
        assert_eq!(difference(&actual, &expected), Vec::<String>::new(), "{}", level.word());
        assert!(!room.path().join(".workshop/programs").exists() && !room.path().join(".workshop/answers").exists());
        let report = succeed(room.path(), &["approvals", "list", "--json"]);
        assert!(!report.contains("forged"), "{report}");
    }
}

/// Files of a home, with whether programs can read them.
const HOME: [(&str, &str, bool); 13] = [
    (".ssh/id_ed25519", "secret-1", false),
    (".aws/credentials", "secret-2", false),
    (".netrc", "secret-3", false),
    (".git-credentials", "secret-4", false),
    (".config/some/keys", "secret-5", false),
    (".cargo/credentials.toml", "secret-6", false),
    (".local/share/keyrings/login", "secret-7", false),
    (".bash_history", "secret-8", false),
    ("run/bus", "secret-9", false),
    (".gitconfig", "[user]", true),
    (".config/git/config", "[core]", true),
    (".cargo/config.toml", "[build]", true),
    ("Documents/letter.txt", "letter", true),
];

fn a_program_cannot_read_keys_or_reach_sockets() {
    for level in sandboxes() {
        // Not in the system's temporary folder, because the sandbox has its own.
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let run = home.path().join("run");
        let room = room("python3 artifacts/look.py: true\n", &command_arguments("python3 artifacts/look.py"));
        for (path, text, _) in HOME {
            crate::program::write(home.path(), path, text);
        }
        fs::write(room.path().join(".env"), "KEY=secret-10").unwrap();
        let home_paths = HOME.map(|(path, ..)| format!("{:?}", home.path().join(path).display().to_string()));
        let script = format!(
            "import os\nfor path in ['.env', {}]:\n    try:\n        print('saw', os.path.basename(path), open(path).read())\n    except OSError:\n        print('kept from', path)\nprint('run', os.listdir('/run'))\n",
            home_paths.join(", ")
        );
        fs::write(room.path().join("artifacts/look.py"), script).unwrap();
        let mut command = workshop_in(level, room.path(), &TASK[..11]);
        command.env("HOME", home.path()).env("XDG_RUNTIME_DIR", &run).env_remove("XDG_CONFIG_HOME");
        let result = result_of(&command.output().unwrap());
        let result = text_of(&result);
        assert!(!result.contains("secret"), "{}: {result}", level.word());
        for (path, text, is_readable) in HOME {
            let name = path.rsplit('/').next().unwrap();
            assert_eq!(result.contains(&format!("saw {name} {text}")), is_readable, "{path} in {result}");
        }
        if level == Level::Bubblewrap {
            assert!(result.contains("run []") || result.contains("run ['"), "{result}");
            for socket in ["docker.sock", "dbus", "systemd", "postgresql"] {
                assert!(!result.contains(&format!("'{socket}'")), "{result}");
            }
        }
    }
}

fn under_landlock_a_program_cannot_write_protected_files() {
    if !MODES.contains(&Level::Landlock) {
        return;
    }
    let room = forging_room();
    fs::create_dir(room.path().join(".workshop")).unwrap();
    let before = files(room.path());
    let mut watcher = std::process::Command::new(env!("CARGO_BIN_EXE_workshop"));
    watcher.arg(SUPERVISOR_ARGUMENT).arg("--within").arg(room.path());
    watcher.args(["--", "python3", "artifacts/forging.py"]).current_dir(room.path());
    let ended = watcher.output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("done"), "{stderr}");
    let mut expected = before;
    expected.insert("README.md".into(), "changed".into());
    assert_eq!(difference(&files(room.path()), &expected), Vec::<String>::new());
    assert_eq!(fs::read_dir(room.path().join(".workshop")).unwrap().count(), 0);
}

fn total_memory_and_file_sizes_are_limited() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for level in MODES.iter().copied() {
        let script = "import os, time\nfor step in range(8):\n    if os.fork() == 0:\n        mine = bytearray(40 * 1024 * 1024)\n        time.sleep(600)\ntime.sleep(600)\n";
        let greedy = room("python3 greedy.py: true\n", &command_arguments("python3 greedy.py"));
        fs::write(greedy.path().join("greedy.py"), script).unwrap();
        fs::write(greedy.path().join("settings.yaml"), "commands:\n  max_memory_mib: 200\n  timeout_secs: 60\n")
            .unwrap();
        let result = run_task(level, greedy.path());
        assert!(text_of(&result).contains("exit code 137"), "{result}");
        assert!(text_of(&result).contains("its processes used more than 200 MiB"), "{result}");
        let long = room("python3 long.py: true\n", &command_arguments("python3 long.py"));
        let script = "with open('artifacts/long.bin', 'wb') as file:\n    for step in range(20):\n        file.write(b'x' * 1024 * 1024)\n        file.flush()\n";
        fs::write(long.path().join("long.py"), script).unwrap();
        fs::write(long.path().join("settings.yaml"), "commands:\n  max_file_mib: 5\n").unwrap();
        let result = run_task(level, long.path());
        assert!(!text_of(&result).starts_with("exit code 0"), "{result}");
        assert_eq!(fs::metadata(long.path().join("artifacts/long.bin")).unwrap().len(), 5 * 1024 * 1024);
    }
}

/// Counts the processes whose command line contains `mark`.
fn count_processes(mark: &str) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_mark = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|words| String::from_utf8_lossy(&words).contains(mark))
    };
    all.filter(has_mark).count()
}

fn a_program_that_does_not_end_is_killed_with_its_children() {
    let script = "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor step in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\nprint('begun', flush=True)\nsys.stdin.read()\ntime.sleep(600)\n";
    for level in MODES.iter().copied() {
        let mark = format!("stubborn-check-{}", level.word());
        let command = serde_json::json!({ "command": format!("python3 stubborn.py {mark}"), "timeout_secs": 1 });
        let room = room("python3 stubborn.py: true\n", &command);
        fs::write(room.path().join("stubborn.py"), script).unwrap();
        let begun = Instant::now();
        let result = run_task(level, room.path());
        assert!(text_of(&result).contains("took longer than 1 s") && text_of(&result).contains("begun"), "{result}");
        assert!(begun.elapsed().as_secs() < 60);
        if cfg!(target_os = "linux") {
            assert_eq!(count_processes(&mark), 0, "no process is left");
        }
    }
}

fn output_and_process_count_are_limited() {
    for level in MODES.iter().copied() {
        let loud = room("python3 loud.py: true\n", &command_arguments("python3 loud.py"));
        fs::write(
            loud.path().join("loud.py"),
            "import sys\nfor step in range(1024):\n    sys.stdout.write('x' * 1024 * 1024)\n",
        )
        .unwrap();
        let result = run_task(level, loud.path());
        assert!(
            text_of(&result).contains("wrote too much") && text_of(&result).len() < 40_000,
            "{}",
            text_of(&result).len()
        );
        if !cfg!(target_os = "linux") {
            return;
        }
        let forking = room("python3 forking.py: true\n", &command_arguments("python3 forking.py"));
        let settings = "commands:\n  max_processes: 20\n  timeout_secs: 30\n";
        fs::write(forking.path().join("settings.yaml"), settings).unwrap();
        let script = "import os, time\nfor step in range(60):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)\n";
        fs::write(forking.path().join("forking.py"), script).unwrap();
        let result = run_task(level, forking.path());
        assert!(text_of(&result).contains("exit code 137"), "the process limit ends it, not the time limit: {result}");
    }
}

fn a_command_that_was_running_at_a_kill_is_not_run_again() {
    for level in MODES.iter().copied() {
        let script = "import time\nwith open('artifacts/runs', 'a') as runs:\n    runs.write('x')\ntime.sleep(600)\n";
        let room = room("python3 slow.py: true\n", &command_arguments("python3 slow.py"));
        fs::write(room.path().join("slow.py"), script).unwrap();
        let run = ["run", "--agent", "lead", "--task", "Do it", "--provider", "scripted:script.yaml", "--events", "-"];
        let mut running = Running::of(workshop_in(level, room.path(), &[&run[..], &ALLOWED[..]].concat()));
        running.wait_for("the call", |event| event["type"] == "tool_call");
        let until = Instant::now();
        let runs = room.path().join("artifacts/runs");
        while fs::read_to_string(&runs).unwrap_or_default().is_empty() {
            assert!(until.elapsed().as_secs() < 60, "the command never ran");
            std::thread::yield_now();
        }
        running.kill();
        let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml", "--events", "-"];
        let ended = output_in(level, room.path(), &[&go_on[..], &ALLOWED[..]].concat());
        assert!(result_of(&ended).to_string().contains("its outcome is unknown"), "the agent gets a result");
        assert_eq!(fs::read_to_string(runs).unwrap(), "x", "the command ran once");
    }
}

fn a_run_with_commands_replays_without_running_them() {
    for level in MODES.iter().copied() {
        let room = room("python3 count.py: true\n", &command_arguments("python3 count.py"));
        let script = "open('artifacts/runs', 'a').write('x')\nprint('counted')\n";
        fs::write(room.path().join("count.py"), script).unwrap();
        assert!(text_of(&run_task(level, room.path())).contains("counted"));
        // The sandbox of the computer on which it is replayed does not matter.
        let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
        assert!(report.contains("\"differs_at\":null"), "{report}");
        assert_eq!(fs::read_to_string(room.path().join("artifacts/runs")).unwrap(), "x");
    }
}

/// Changes, creates and deletes files of the workspace as a build script does.
const CHANGING: &str = "import os\nopen('src/text.py', 'a').write('more\\n')\nopen('src/new.py', 'w').write('new\\n')\nos.remove('src/old.py')\nos.rename('src/from.py', 'src/to.py')\n";

fn what_a_command_changed_is_its_agents_and_is_undone() {
    for level in MODES.iter().copied() {
        let room = room("python3 src/change.py: true\n", &command_arguments("python3 src/change.py"));
        let files =
            [("src/change.py", CHANGING), ("src/text.py", "one\n"), ("src/old.py", "old\n"), ("src/from.py", "x\n")];
        fs::create_dir_all(room.path().join("src")).unwrap();
        for (path, text) in files {
            fs::write(room.path().join(path), text).unwrap();
        }
        let allowed = if level == Level::None { &ALLOWED[..] } else { &ALLOWED[..0] };
        let ended = output_in(level, room.path(), &[&TASK[..9], &["--json"], allowed].concat());
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        let listed = |change: &str| -> BTreeSet<String> {
            let files = report["files_changed"].as_array().unwrap().iter();
            let its = files.filter(|file| file["change"] == change && file["by"] == "lead");
            its.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(listed("written"), ["src/new.py", "src/text.py", "src/to.py"].map(String::from).into(), "{report}");
        assert_eq!(listed("deleted"), ["src/from.py", "src/old.py"].map(String::from).into(), "{report}");
        let log = succeed(room.path(), &["export", ".", "--events", "-"]);
        let log = json_lines(&log);
        let changes: Vec<&Value> = log
            .iter()
            .filter(|event| {
                event["type"] == "file_change"
                    && event["data"]["path"].as_str().is_some_and(|path| path.starts_with("src/"))
            })
            .collect();
        assert!(changes.len() == 5 && changes.iter().all(|event| event["data"]["by"] == "lead"), "{changes:#?}");
        assert!(
            changes.iter().all(|event| event["agent"] == "lead" && event["activation"].is_string()),
            "{changes:#?}"
        );
        let result = log.iter().find(|event| event["type"] == "tool_result").unwrap();
        assert!(text_of(&result["data"]).contains("Changed files: src/from.py, src/new.py"), "{result}");
        succeed(room.path(), &["undo", "lead", "--to", "1", "--yes"]);
        for (path, text) in files {
            assert_eq!(fs::read_to_string(room.path().join(path)).ok().as_deref(), Some(text), "{path}");
        }
        assert!(!room.path().join("src/new.py").exists() && !room.path().join("src/to.py").exists());
    }
}
