//! Commands that agents run: checked against a person's rules, sandboxed, killed together with their children, and
//! never run twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use agent_workshop::gateway::sandbox::{Confinement, Level, set_supervisor};

use crate::cases;
use crate::program::{Running, json_lines, output, succeed};

pub fn trials() -> Vec<Trial> {
    cases![
        an_allowed_command_runs_and_reports_its_result,
        a_command_without_a_rule_needs_approval_and_a_forbidden_one_never_runs,
        a_line_that_needs_a_shell_is_approved_as_a_shell_command,
        a_program_is_sandboxed,
        a_program_cannot_act_as_a_person_and_leaves_nothing_behind,
        a_program_cannot_read_keys_or_reach_sockets,
        under_landlock_a_program_cannot_write_protected_files,
        total_memory_and_file_sizes_are_limited,
        a_program_that_does_not_end_is_killed_with_its_children,
        output_and_process_count_are_limited,
        a_command_that_was_running_at_a_kill_is_not_run_again,
        a_run_with_commands_replays_without_running_them,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str =
    "---\nname: Lead\nsafety_mode: balanced\nbehaviour: stationary\ntools: [execute_command]\n---\nYou lead.\n";

/// Creates a workspace with these rules whose agent runs this command.
fn room(rules: &str, command: &Value) -> TempDir {
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
    folder
}

fn command_arguments(command: &str) -> Value {
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

fn is_sandbox_available() -> bool {
    set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
    Confinement::of_this_computer().level() != Level::None
}

/// Runs the agent's task. Returns the data of the `tool_result` event.
fn run_task(room: &Path) -> Value {
    let arguments = if is_sandbox_available() { TASK[..11].to_vec() } else { [&TASK[..11], &ALLOWED[..]].concat() };
    let ended = output(room, &arguments);
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let result = events.iter().find(|event| event["type"] == "tool_result");
    result.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&ended.stderr)))["data"].clone()
}

fn text_of(result: &Value) -> &str {
    result["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn an_allowed_command_runs_and_reports_its_result() {
    let room = room("ls: true\n", &command_arguments("ls agents"));
    let result = run_task(room.path());
    assert!(text_of(&result).starts_with("exit code 0") && text_of(&result).contains("lead.md"), "{result}");
    let failing = self::room("ls: true\n", &command_arguments("ls nowhere"));
    let result = run_task(failing.path());
    assert!(text_of(&result).contains("exit code 2") && text_of(&result).contains("stderr:"), "{result}");
    let missing = self::room("no-such-program: true\n", &command_arguments("no-such-program"));
    assert!(text_of(&run_task(missing.path())).contains("no program"), "the missing program is reported");
}

fn a_command_without_a_rule_needs_approval_and_a_forbidden_one_never_runs() {
    let unknown = room("ls: true\n", &command_arguments("touch made"));
    let ended = output(unknown.path(), &TASK[..9]);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("run `touch made`"), "{stderr}");
    let file = fs::read_to_string(unknown.path().join("tasks/approvals.task.md")).unwrap();
    for part in ["approval_type: terminal_command", "risk: \"high: a program runs on this computer", "| touch made"] {
        assert!(file.contains(part) || file.contains(&part.replace('"', "")), "{part} in {file}");
    }
    assert!(!unknown.path().join("made").exists());
    fs::write(unknown.path().join("tasks/approvals.task.md"), file.replace("- [ ] A", "- [x] A")).unwrap();
    succeed(unknown.path(), &["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"]);
    assert!(unknown.path().join("made").exists(), "the person's approval in the file counts");
    let forbidden = room("touch: false\n", &command_arguments("env touch made"));
    let ended = output(forbidden.path(), &[&TASK[..9], &ALLOWED[..]].concat());
    assert_eq!(ended.status.code(), Some(0), "no approval is requested: {}", String::from_utf8_lossy(&ended.stderr));
    assert!(!forbidden.path().join("made").exists());
}

fn a_line_that_needs_a_shell_is_approved_as_a_shell_command() {
    let room = room("echo: true\n", &command_arguments("echo one > made; echo two >> made"));
    let ended = output(room.path(), &TASK[..9]);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("sh -c 'echo one > made; echo two >> made'"), "{stderr}");
    let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml", "--on-ask", "allow"];
    succeed(room.path(), &go_on);
    assert_eq!(fs::read_to_string(room.path().join("made")).unwrap(), "one\ntwo\n", "exactly the approved line runs");
}

fn a_program_is_sandboxed() {
    if !is_sandbox_available() {
        return;
    }
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = outside.path().join("made");
    let script = format!(
        "import os, socket\nfor path in [{:?}, 'within', 'settings.yaml', 'storage/terminal-cmd-allowlist.yaml']:\n    try:\n        open(path, 'a').write('x')\n        print('wrote', os.path.basename(path))\n    except OSError:\n        print('kept from', os.path.basename(path))\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n    print('network', error.errno)\nprint('key', os.environ.get('OPENAI_API_KEY'))\n",
        target.display().to_string()
    );
    let room = room("python3 check.py: true\n", &command_arguments("python3 check.py"));
    fs::write(room.path().join("check.py"), script).unwrap();
    let result = run_task(room.path());
    let result = text_of(&result);
    assert!(result.contains("kept from made") && result.contains("wrote within"), "{result}");
    assert!(!target.exists());
    assert!(result.contains("key None"), "{result}");
    for path in ["settings.yaml", "terminal-cmd-allowlist.yaml"] {
        assert!(result.contains(&format!("kept from {path}")), "{result}");
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
    if !is_sandbox_available() {
        eprintln!("not tested here: there is no sandbox");
        return;
    }
    for has_rules in [true, false] {
        let room = forging_room();
        if !has_rules {
            // The program must not be able to create the missing folders.
            fs::remove_dir_all(room.path().join("storage")).unwrap();
            fs::remove_dir_all(room.path().join(".git")).unwrap();
        }
        let before = files(room.path());
        let ended = output(room.path(), &[&TASK[..11], &ALLOWED[..]].concat());
        let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
        let result = events.iter().find(|event| event["type"] == "tool_result").unwrap()["data"].clone();
        assert!(text_of(&result).contains("done"), "{result}");
        let mut expected = before;
        expected.insert("README.md".into(), "changed".into());
        if Confinement::of_this_computer().level() == Level::Bubblewrap {
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
        assert_eq!(difference(&actual, &expected), Vec::<String>::new());
        assert!(!room.path().join(".workshop/programs").exists() && !room.path().join(".workshop/answers").exists());
        let report = succeed(room.path(), &["approvals", "list", "--json"]);
        assert!(!report.contains("forged"), "{report}");
    }
}

fn a_program_cannot_read_keys_or_reach_sockets() {
    is_sandbox_available();
    if Confinement::of_this_computer().level() != Level::Bubblewrap {
        eprintln!("not tested here: {}", Confinement::of_this_computer().summary());
        return;
    }
    // Not in the system's temporary folder, because the sandbox has its own.
    let home = tempfile::tempdir_in("/var/tmp").unwrap();
    let run = home.path().join("run");
    for (path, text) in [
        (".ssh/id_ed25519", "secret-1"),
        (".aws/credentials", "secret-2"),
        (".netrc", "secret-3"),
        (".git-credentials", "secret-4"),
        (".config/some/keys", "secret-5"),
        (".cargo/credentials.toml", "secret-6"),
        (".local/share/keyrings/login", "secret-7"),
        (".bash_history", "secret-8"),
        (".gitconfig", "[user]"),
        ("Documents/letter.txt", "letter"),
        ("run/bus", ""),
    ] {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let script = "import os\nfor folder, _, files in os.walk(os.environ['HOME']):\n    for name in files:\n        path = os.path.join(folder, name)\n        print('saw', os.path.relpath(path, os.environ['HOME']), open(path).read())\nprint('run', os.listdir('/run'), os.path.exists('.env') and open('.env').read())\n";
    let room = room("python3 artifacts/look.py: true\n", &command_arguments("python3 artifacts/look.py"));
    fs::create_dir(room.path().join("artifacts")).unwrap();
    fs::write(room.path().join("artifacts/look.py"), script).unwrap();
    fs::write(room.path().join(".env"), "KEY=secret-9").unwrap();
    let mut command = crate::program::workshop(room.path(), &TASK[..11]);
    command.env("HOME", home.path()).env("XDG_RUNTIME_DIR", &run).env_remove("XDG_CONFIG_HOME");
    let ended = command.output().unwrap();
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let result = events.iter().find(|event| event["type"] == "tool_result").unwrap()["data"].clone();
    let result = text_of(&result);
    assert!(result.contains("saw .gitconfig [user]") && result.contains("saw Documents/letter.txt letter"), "{result}");
    assert!(!result.contains("secret") && !result.contains("run/bus"), "{result}");
    assert!(result.contains("run []") || result.contains("run ['"), "{result}");
    for socket in ["docker.sock", "dbus", "systemd", "postgresql"] {
        assert!(!result.contains(&format!("'{socket}'")), "{result}");
    }
}

fn under_landlock_a_program_cannot_write_protected_files() {
    is_sandbox_available();
    let room = forging_room();
    fs::create_dir(room.path().join(".workshop")).unwrap();
    let before = files(room.path());
    let mut watcher = std::process::Command::new(env!("CARGO_BIN_EXE_workshop"));
    watcher.arg(agent_workshop::gateway::sandbox::SUPERVISOR_ARGUMENT).arg("--within").arg(room.path());
    watcher.args(["--", "python3", "artifacts/forging.py"]).current_dir(room.path());
    let ended = watcher.output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    if ended.status.code() == Some(127) {
        eprintln!("not tested here: this system has no Landlock: {stderr}");
        return;
    }
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
    let script = "import os, time\nfor step in range(8):\n    if os.fork() == 0:\n        mine = bytearray(40 * 1024 * 1024)\n        time.sleep(600)\ntime.sleep(600)\n";
    let greedy = room("python3 greedy.py: true\n", &command_arguments("python3 greedy.py"));
    fs::write(greedy.path().join("greedy.py"), script).unwrap();
    fs::write(greedy.path().join("settings.yaml"), "commands:\n  memory_mb: 200\n  timeout_secs: 60\n").unwrap();
    let result = run_task(greedy.path());
    assert!(text_of(&result).contains("exit code 137"), "{result}");
    assert!(text_of(&result).contains("its processes used more than 200 MiB"), "{result}");
    let long = room("python3 long.py: true\n", &command_arguments("python3 long.py"));
    let script = "with open('artifacts/long.bin', 'wb') as file:\n    for step in range(20):\n        file.write(b'x' * 1024 * 1024)\n        file.flush()\n";
    fs::create_dir(long.path().join("artifacts")).unwrap();
    fs::write(long.path().join("long.py"), script).unwrap();
    fs::write(long.path().join("settings.yaml"), "commands:\n  file_mb_at_most: 5\n").unwrap();
    let result = run_task(long.path());
    assert!(!text_of(&result).starts_with("exit code 0"), "{result}");
    assert_eq!(fs::metadata(long.path().join("artifacts/long.bin")).unwrap().len(), 5 * 1024 * 1024);
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
    let mark = "stubborn-check-7";
    let command = serde_json::json!({ "command": format!("python3 stubborn.py {mark}"), "timeout_secs": 1 });
    let room = room("python3 stubborn.py: true\n", &command);
    fs::write(room.path().join("stubborn.py"), script).unwrap();
    let begun = Instant::now();
    let result = run_task(room.path());
    assert!(text_of(&result).contains("took longer than 1 s") && text_of(&result).contains("begun"), "{result}");
    assert!(begun.elapsed().as_secs() < 60);
    if cfg!(target_os = "linux") {
        assert_eq!(count_processes(mark), 0, "no process is left");
    }
}

fn output_and_process_count_are_limited() {
    let loud = room("python3 loud.py: true\n", &command_arguments("python3 loud.py"));
    fs::write(
        loud.path().join("loud.py"),
        "import sys\nfor step in range(1024):\n    sys.stdout.write('x' * 1024 * 1024)\n",
    )
    .unwrap();
    let result = run_task(loud.path());
    assert!(
        text_of(&result).contains("wrote too much") && text_of(&result).len() < 40_000,
        "{}",
        text_of(&result).len()
    );
    if !cfg!(target_os = "linux") {
        return;
    }
    let forking = room("python3 forking.py: true\n", &command_arguments("python3 forking.py"));
    fs::write(forking.path().join("settings.yaml"), "commands:\n  processes_at_most: 20\n  timeout_secs: 30\n")
        .unwrap();
    let script =
        "import os, time\nfor step in range(60):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)\n";
    fs::write(forking.path().join("forking.py"), script).unwrap();
    let result = run_task(forking.path());
    assert!(text_of(&result).contains("exit code 137"), "the process limit ends it, not the time limit: {result}");
}

fn a_command_that_was_running_at_a_kill_is_not_run_again() {
    let script = "import time\nwith open('runs', 'a') as runs:\n    runs.write('x')\ntime.sleep(600)\n";
    let room = room("python3 slow.py: true\n", &command_arguments("python3 slow.py"));
    fs::write(room.path().join("slow.py"), script).unwrap();
    let run = ["run", "--agent", "lead", "--task", "Do it", "--provider", "scripted:script.yaml", "--events", "-"];
    // New files at the top level appear only after the program has ended.
    fs::write(room.path().join("runs"), "").unwrap();
    let mut running = Running::start(room.path(), &[&run[..], &ALLOWED[..]].concat());
    running.wait_for("the call", |event| event["type"] == "tool_call");
    let until = Instant::now();
    while fs::read_to_string(room.path().join("runs")).unwrap_or_default().is_empty() {
        assert!(until.elapsed().as_secs() < 60, "the command never ran");
        std::thread::yield_now();
    }
    running.kill();
    let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml", "--events", "-"];
    let ended = output(room.path(), &[&go_on[..], &ALLOWED[..]].concat());
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let result = events.iter().find(|event| event["type"] == "tool_result").expect("the agent gets a result");
    assert!(result["data"].to_string().contains("its outcome is unknown"), "{result}");
    assert_eq!(fs::read_to_string(room.path().join("runs")).unwrap(), "x", "the command ran once");
}

fn a_run_with_commands_replays_without_running_them() {
    let room = room("python3 count.py: true\n", &command_arguments("python3 count.py"));
    fs::write(room.path().join("count.py"), "open('runs', 'a').write('x')\nprint('counted')\n").unwrap();
    assert!(text_of(&run_task(room.path())).contains("counted"));
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
    assert_eq!(fs::read_to_string(room.path().join("runs")).unwrap(), "x");
}
