//! Commands that agents run: judged by a person's rules, sandboxed, ended with everything that they started, and never
//! run twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use agent_workshop::gateway::sandbox::{Confinement, Level, watch_with};

use crate::cases;
use crate::program::{Running, json_lines, output, succeed};

pub fn trials() -> Vec<Trial> {
    cases![
        a_command_that_a_rule_allows_runs_and_says_what_came_of_it,
        a_command_without_a_rule_asks_and_one_that_is_forbidden_never_runs,
        a_line_that_needs_a_shell_is_asked_about_as_the_shell_that_reads_it,
        a_program_is_sandboxed,
        a_program_forges_no_hand_of_a_person_and_leaves_nothing_behind,
        a_program_sees_no_keys_and_reaches_no_sockets,
        under_landlock_a_program_writes_nothing_that_is_guarded,
        all_processes_together_and_each_file_are_bounded,
        a_program_that_does_not_end_is_ended_with_all_that_it_started,
        a_program_that_says_a_gigabyte_or_forks_without_end_is_bounded,
        a_command_that_ran_when_the_workshop_was_killed_is_not_run_again,
        a_run_with_commands_replays_without_running_any,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str =
    "---\nname: Lead\nsafety_mode: balanced\nbehaviour: stationary\ntools: [execute_command]\n---\nYou lead.\n";

/// A workspace whose agent runs this command, with these rules.
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

fn line(command: &str) -> Value {
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
/// The same on a computer without a sandbox, where a person is asked in any case.
const ALLOWED: [&str; 2] = ["--on-ask", "allow"];

fn keeps_in() -> bool {
    watch_with(Path::new(env!("CARGO_BIN_EXE_workshop")));
    Confinement::of_this_computer().level() != Level::None
}

/// The result of the tool call.
fn result(room: &Path) -> Value {
    let arguments = if keeps_in() { TASK[..11].to_vec() } else { [&TASK[..11], &ALLOWED[..]].concat() };
    let ended = output(room, &arguments);
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let found = events.iter().find(|event| event["type"] == "tool_result");
    found.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&ended.stderr)))["data"].clone()
}

fn text_of(result: &Value) -> &str {
    result["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn a_command_that_a_rule_allows_runs_and_says_what_came_of_it() {
    let room = room("ls: true\n", &line("ls agents"));
    let told = result(room.path());
    assert!(text_of(&told).starts_with("exit code 0") && text_of(&told).contains("lead.md"), "{told}");
    let failing = self::room("ls: true\n", &line("ls nowhere"));
    let told = result(failing.path());
    assert!(text_of(&told).contains("exit code 2") && text_of(&told).contains("stderr:"), "{told}");
    let missing = self::room("no-such-program: true\n", &line("no-such-program"));
    assert!(text_of(&result(missing.path())).contains("no program"), "it says so");
}

fn a_command_without_a_rule_asks_and_one_that_is_forbidden_never_runs() {
    let unknown = room("ls: true\n", &line("touch made"));
    let ended = output(unknown.path(), &TASK[..9]);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(told.contains("run `touch made`"), "{told}");
    let file = fs::read_to_string(unknown.path().join("tasks/approvals.task.md")).unwrap();
    for part in ["approval_type: terminal_command", "risk: \"high: a program runs on this computer", "| touch made"] {
        assert!(file.contains(part) || file.contains(&part.replace('"', "")), "{part} in {file}");
    }
    assert!(!unknown.path().join("made").exists());
    fs::write(unknown.path().join("tasks/approvals.task.md"), file.replace("- [ ] A", "- [x] A")).unwrap();
    succeed(unknown.path(), &["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"]);
    assert!(unknown.path().join("made").exists(), "a person allowed it in the file");
    let forbidden = room("touch: false\n", &line("env touch made"));
    let ended = output(forbidden.path(), &[&TASK[..9], &ALLOWED[..]].concat());
    assert_eq!(ended.status.code(), Some(0), "nobody is asked: {}", String::from_utf8_lossy(&ended.stderr));
    assert!(!forbidden.path().join("made").exists());
}

fn a_line_that_needs_a_shell_is_asked_about_as_the_shell_that_reads_it() {
    let room = room("echo: true\n", &line("echo one > made; echo two >> made"));
    let ended = output(room.path(), &TASK[..9]);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{told}");
    assert!(told.contains("sh -c 'echo one > made; echo two >> made'"), "{told}");
    let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml", "--on-ask", "allow"];
    succeed(room.path(), &go_on);
    assert_eq!(fs::read_to_string(room.path().join("made")).unwrap(), "one\ntwo\n", "a person allowed exactly that");
}

fn a_program_is_sandboxed() {
    if !keeps_in() {
        return;
    }
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = outside.path().join("made");
    let script = format!(
        "import os, socket\nfor path in [{:?}, 'within', 'settings.yaml', 'storage/terminal-cmd-allowlist.yaml']:\n    try:\n        open(path, 'a').write('x')\n        print('wrote', os.path.basename(path))\n    except OSError:\n        print('kept from', os.path.basename(path))\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n    print('network', error.errno)\nprint('key', os.environ.get('OPENAI_API_KEY'))\n",
        target.display().to_string()
    );
    let room = room("python3 check.py: true\n", &line("python3 check.py"));
    fs::write(room.path().join("check.py"), script).unwrap();
    let told = result(room.path());
    let told = text_of(&told);
    assert!(told.contains("kept from made") && told.contains("wrote within"), "{told}");
    assert!(!target.exists());
    assert!(told.contains("key None"), "{told}");
    for path in ["settings.yaml", "terminal-cmd-allowlist.yaml"] {
        assert!(told.contains(&format!("kept from {path}")), "{told}");
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

/// The workspace's files with their texts, except for the workshop's own files.
fn files(room: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut due = vec![room.to_owned()];
    while let Some(folder) = due.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path().strip_prefix(room).unwrap().to_string_lossy().into_owned();
            if path.starts_with(".workshop") || path.starts_with("sessions") {
                continue;
            }
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|_| "folder".to_owned());
            files.insert(path, text);
            if entry.file_type().unwrap().is_dir() {
                due.push(entry.path());
            }
        }
    }
    files
}

/// The files in which two sets differ.
fn difference(found: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) -> Vec<String> {
    let paths: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let differs = paths.into_iter().filter(|path| found.get(*path) != expected.get(*path));
    differs.map(|path| format!("{path}: {:?}, not {:?}", found.get(path), expected.get(path))).collect()
}

/// A workspace with a few files, and a program that tries everything.
fn forging_room() -> TempDir {
    let room = room("python3 artifacts/forging.py: true\n", &line("python3 artifacts/forging.py"));
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

fn a_program_forges_no_hand_of_a_person_and_leaves_nothing_behind() {
    if !keeps_in() {
        eprintln!("not proved here: nothing keeps programs in");
        return;
    }
    for has_rules in [true, false] {
        let room = forging_room();
        if !has_rules {
            // It must not be able to create what is absent.
            fs::remove_dir_all(room.path().join("storage")).unwrap();
            fs::remove_dir_all(room.path().join(".git")).unwrap();
        }
        let before = files(room.path());
        let ended = output(room.path(), &[&TASK[..11], &ALLOWED[..]].concat());
        let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
        let told = events.iter().find(|event| event["type"] == "tool_result").unwrap()["data"].clone();
        assert!(text_of(&told).contains("done"), "{told}");
        let mut expected = before;
        expected.insert("README.md".into(), "changed".into());
        if Confinement::of_this_computer().level() == Level::Bubblewrap {
            let new = [("made", "folder"), ("made/file.txt", "new"), ("top.txt", "new"), ("unmounted.md", "forged")];
            for (path, text) in new {
                expected.insert(path.into(), text.into());
            }
            assert!(text_of(&told).contains("Storage was created by the program and was not kept"), "{told}");
        }
        let mut found = files(room.path());
        if !has_rules {
            // The room records the question.
            assert!(!found.remove("tasks/approvals.task.md").unwrap_or_default().contains("forged"));
        }
        assert_eq!(difference(&found, &expected), Vec::<String>::new());
        assert!(!room.path().join(".workshop/programs").exists() && !room.path().join(".workshop/answers").exists());
        let report = succeed(room.path(), &["approvals", "list", "--json"]);
        assert!(!report.contains("forged"), "{report}");
    }
}

fn a_program_sees_no_keys_and_reaches_no_sockets() {
    keeps_in();
    if Confinement::of_this_computer().level() != Level::Bubblewrap {
        eprintln!("not proved here: {}", Confinement::of_this_computer().summary());
        return;
    }
    // Not in the system's temporary folder, which every program has to itself in the sandbox.
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
    let room = room("python3 artifacts/look.py: true\n", &line("python3 artifacts/look.py"));
    fs::create_dir(room.path().join("artifacts")).unwrap();
    fs::write(room.path().join("artifacts/look.py"), script).unwrap();
    fs::write(room.path().join(".env"), "KEY=secret-9").unwrap();
    let mut command = crate::program::workshop(room.path(), &TASK[..11]);
    command.env("HOME", home.path()).env("XDG_RUNTIME_DIR", &run).env_remove("XDG_CONFIG_HOME");
    let ended = command.output().unwrap();
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let told = events.iter().find(|event| event["type"] == "tool_result").unwrap()["data"].clone();
    let told = text_of(&told);
    assert!(told.contains("saw .gitconfig [user]") && told.contains("saw Documents/letter.txt letter"), "{told}");
    assert!(!told.contains("secret") && !told.contains("run/bus"), "{told}");
    assert!(told.contains("run []") || told.contains("run ['"), "{told}");
    for socket in ["docker.sock", "dbus", "systemd", "postgresql"] {
        assert!(!told.contains(&format!("'{socket}'")), "{told}");
    }
}

fn under_landlock_a_program_writes_nothing_that_is_guarded() {
    keeps_in();
    let room = forging_room();
    fs::create_dir(room.path().join(".workshop")).unwrap();
    let before = files(room.path());
    let mut watcher = std::process::Command::new(env!("CARGO_BIN_EXE_workshop"));
    watcher.arg(agent_workshop::gateway::sandbox::WATCH_WORD).arg("--within").arg(room.path());
    watcher.args(["--", "python3", "artifacts/forging.py"]).current_dir(room.path());
    let ended = watcher.output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    if ended.status.code() == Some(127) {
        eprintln!("not proved here: this system has no Landlock: {told}");
        return;
    }
    assert!(String::from_utf8_lossy(&ended.stdout).contains("done"), "{told}");
    let mut expected = before;
    expected.insert("README.md".into(), "changed".into());
    assert_eq!(difference(&files(room.path()), &expected), Vec::<String>::new());
    assert_eq!(fs::read_dir(room.path().join(".workshop")).unwrap().count(), 0);
}

fn all_processes_together_and_each_file_are_bounded() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let script = "import os, time\nfor step in range(8):\n    if os.fork() == 0:\n        mine = bytearray(40 * 1024 * 1024)\n        time.sleep(600)\ntime.sleep(600)\n";
    let greedy = room("python3 greedy.py: true\n", &line("python3 greedy.py"));
    fs::write(greedy.path().join("greedy.py"), script).unwrap();
    fs::write(greedy.path().join("settings.yaml"), "commands:\n  memory_mb: 200\n  timeout_secs: 60\n").unwrap();
    let told = result(greedy.path());
    assert!(text_of(&told).contains("exit code 137"), "{told}");
    assert!(text_of(&told).contains("its processes used more than 200 MB"), "{told}");
    let long = room("python3 long.py: true\n", &line("python3 long.py"));
    let script = "with open('artifacts/long.bin', 'wb') as file:\n    for step in range(20):\n        file.write(b'x' * 1024 * 1024)\n        file.flush()\n";
    fs::create_dir(long.path().join("artifacts")).unwrap();
    fs::write(long.path().join("long.py"), script).unwrap();
    fs::write(long.path().join("settings.yaml"), "commands:\n  file_mb_at_most: 5\n").unwrap();
    let told = result(long.path());
    assert!(!text_of(&told).starts_with("exit code 0"), "{told}");
    assert_eq!(fs::metadata(long.path().join("artifacts/long.bin")).unwrap().len(), 5 * 1024 * 1024);
}

/// The processes whose command line contains this.
fn running(mark: &str) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_meant = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|words| String::from_utf8_lossy(&words).contains(mark))
    };
    all.filter(is_meant).count()
}

fn a_program_that_does_not_end_is_ended_with_all_that_it_started() {
    let script = "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor step in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\nprint('begun', flush=True)\nsys.stdin.read()\ntime.sleep(600)\n";
    let mark = "stubborn-check-7";
    let command = serde_json::json!({ "command": format!("python3 stubborn.py {mark}"), "timeout_secs": 1 });
    let room = room("python3 stubborn.py: true\n", &command);
    fs::write(room.path().join("stubborn.py"), script).unwrap();
    let begun = Instant::now();
    let told = result(room.path());
    assert!(text_of(&told).contains("took longer than 1 s") && text_of(&told).contains("begun"), "{told}");
    assert!(begun.elapsed().as_secs() < 60);
    if cfg!(target_os = "linux") {
        assert_eq!(running(mark), 0, "nothing of it is left");
    }
}

fn a_program_that_says_a_gigabyte_or_forks_without_end_is_bounded() {
    let loud = room("python3 loud.py: true\n", &line("python3 loud.py"));
    fs::write(
        loud.path().join("loud.py"),
        "import sys\nfor step in range(1024):\n    sys.stdout.write('x' * 1024 * 1024)\n",
    )
    .unwrap();
    let told = result(loud.path());
    assert!(text_of(&told).contains("wrote too much") && text_of(&told).len() < 40_000, "{}", text_of(&told).len());
    if !cfg!(target_os = "linux") {
        return;
    }
    let forking = room("python3 forking.py: true\n", &line("python3 forking.py"));
    fs::write(forking.path().join("settings.yaml"), "commands:\n  processes_at_most: 20\n  timeout_secs: 30\n")
        .unwrap();
    let script =
        "import os, time\nfor step in range(60):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)\n";
    fs::write(forking.path().join("forking.py"), script).unwrap();
    let told = result(forking.path());
    assert!(text_of(&told).contains("exit code 137"), "it is ended by their number, not by its time: {told}");
}

fn a_command_that_ran_when_the_workshop_was_killed_is_not_run_again() {
    let script = "import time\nwith open('runs', 'a') as runs:\n    runs.write('x')\ntime.sleep(600)\n";
    let room = room("python3 slow.py: true\n", &line("python3 slow.py"));
    fs::write(room.path().join("slow.py"), script).unwrap();
    let run = ["run", "--agent", "lead", "--task", "Do it", "--provider", "scripted:script.yaml", "--events", "-"];
    // New files at the top level appear only after it has ended.
    fs::write(room.path().join("runs"), "").unwrap();
    let mut running = Running::start(room.path(), &[&run[..], &ALLOWED[..]].concat());
    running.wait_for("the call", |event| event["type"] == "tool_call");
    let until = Instant::now();
    while fs::read_to_string(room.path().join("runs")).unwrap_or_default().is_empty() {
        assert!(until.elapsed().as_secs() < 60, "it never ran");
        std::thread::yield_now();
    }
    running.kill();
    let go_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml", "--events", "-"];
    let ended = output(room.path(), &[&go_on[..], &ALLOWED[..]].concat());
    let events = json_lines(&String::from_utf8_lossy(&ended.stdout));
    let told = events.iter().find(|event| event["type"] == "tool_result").expect("the agent is told");
    assert!(told["data"].to_string().contains("its outcome is unknown"), "{told}");
    assert_eq!(fs::read_to_string(room.path().join("runs")).unwrap(), "x", "it ran once");
}

fn a_run_with_commands_replays_without_running_any() {
    let room = room("python3 count.py: true\n", &line("python3 count.py"));
    fs::write(room.path().join("count.py"), "open('runs', 'a').write('x')\nprint('counted')\n").unwrap();
    assert!(text_of(&result(room.path())).contains("counted"));
    let report = succeed(room.path(), &["replay", "last", "--verify", "--json"]);
    assert!(report.contains("\"differs_at\":null"), "{report}");
    assert_eq!(fs::read_to_string(room.path().join("runs")).unwrap(), "x");
}
