//! Hostile command lines, run by the built program: under no rules, typical and careless ones, in each sandbox, and by
//! root as well as by an ordinary user. None may run unasked.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use serde_json::{Value, json};

use super::child::binary;
use super::plan::{Case, Fault, Plan, Report};

/// The corpus of the gate's own tests: the folder, a tab, and the line.
const LINES: &str = include_str!("../../../crates/work/src/gate/commands/corpus/hostile_lines.txt");
/// The rules of a person: none, usual ones, and ones that trust too much.
const RULES: [(&str, &str); 3] = [
    ("no rules", ""),
    ("typical rules", include_str!("../../../crates/work/src/gate/commands/corpus/typical.yaml")),
    ("careless rules", include_str!("../../../crates/work/src/gate/commands/corpus/careless.yaml")),
];
/// The kinds of sandbox. Where one does not work, the program starts nothing at all, or asks.
const SANDBOXES: [&str; 3] = ["bubblewrap", "landlock", "none"];
/// The ids of the user and the group `nobody`.
const NOBODY: u32 = 65_534;
/// How many lines an agent calls in one turn.
const LINES_PER_CASE: usize = 64;
/// What a person allowed, so that the check can fail.
const ALLOWED: &str = "ls artifacts";
const SCENE: &str = "name: Room\nseed: 5\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const AGENT: &str = "---\nid: lead\ntools: [execute_command]\n---\nYou lead.\n";
const RUN: [&str; 13] = [
    "run",
    "--agent",
    "lead",
    "--task",
    "Do it",
    "--provider",
    "scripted:script.yaml",
    "--speed",
    "max",
    "--on-ask",
    "deny",
    "--events",
    "-",
];

/// Runs the loop: every combination once.
pub fn run(plan: &Plan) -> Report {
    let parts = lines().count().div_ceil(LINES_PER_CASE);
    plan.sweep("commands", (parts * RULES.len() * SANDBOXES.len() * users().len()) as u64, try_case)
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

/// The users as whom the program runs: this one, and nobody where this one is root and others may start the program.
fn users() -> &'static [Option<u32>] {
    let is_root = Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0);
    let binary = binary();
    let may_start = |path: &Path| path.metadata().is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    let is_open = Path::new(&binary).ancestors().filter(|path| !path.as_os_str().is_empty()).all(may_start);
    if is_root && is_open { &[None, Some(NOBODY)] } else { &[None] }
}

fn try_case(case: &mut Case) {
    let number = case.number as usize;
    let (rules_name, rules) = RULES[number % RULES.len()];
    let sandbox = SANDBOXES[number / RULES.len() % SANDBOXES.len()];
    let user = users()[number / (RULES.len() * SANDBOXES.len()) % users().len()];
    let part = number / (RULES.len() * SANDBOXES.len() * users().len());
    let lines: Vec<_> = lines().skip(part * LINES_PER_CASE).take(LINES_PER_CASE).collect();
    let about = format!("{rules_name}, {sandbox}, {}", if user.is_some() { "nobody" } else { "this user" });
    lay(case, rules, &lines);
    let launch = case.launch(&RUN).env("WORKSHOP_SANDBOX", sandbox);
    let launch = match user {
        Some(user) => match give_to(case.folder(), user) {
            Ok(()) => launch.run_by(user),
            Err(error) => return case.found(Fault::Silent, format!("{about}: {error}")),
        },
        None => launch,
    };
    let ended = case.run(launch);
    let results: Vec<Value> = ended
        .out()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|event: &Value| event["type"] == "tool_result")
        .collect();
    if results.len() != lines.len() + 1 {
        let what =
            format!("{about}: {} of {} lines were answered: {}", results.len(), lines.len() + 1, ended.last_words());
        return case.found(Fault::Silent, what);
    }
    case.count("lines", lines.len() as u64);
    for ((folder, line), result) in lines.iter().zip(&results) {
        let text = result["data"]["text"].as_str().unwrap_or_default();
        let is_refused = text.contains("needs the approval of a person") || text.starts_with("Error: not allowed");
        if result["data"]["ok"] != false || !is_refused {
            case.found(Fault::Escaped, format!("{about}: `{line}` in {folder:?} was not asked about: {text}"));
        }
    }
    if case.at("artifacts/ran.md").exists() {
        case.found(Fault::Escaped, format!("{about}: the planted script ran"));
    }
    let control = results.last().map(|result| result["data"]["text"].to_string()).unwrap_or_default();
    // Without a sandbox, a person is asked about each command, also about one that a rule allows.
    let (is_run, is_asked) = (control.contains("exit code 0"), control.contains("needs the approval of a person"));
    if is_run {
        case.count("allowed commands that ran", 1);
    } else if is_asked {
        case.count("allowed commands without this sandbox", 1);
    } else {
        case.found(Fault::Silent, format!("{about}: the allowed command neither ran nor was asked about: {control}"));
    }
    if is_run && sandbox == "none" {
        case.found(Fault::Escaped, format!("{about}: a command ran without a sandbox: {control}"));
    }
}

/// Writes the workspace: the rules, the planted script, and an agent that calls the lines and then an allowed one.
fn lay(case: &Case, rules: &str, lines: &[(&str, &str)]) {
    std::fs::create_dir_all(case.folder().join("home")).expect("folders can be made");
    let call = |(folder, line): &(&str, &str)| json!({ "name": "execute_command", "arguments": { "command": line, "cwd": folder } });
    let calls: Vec<Value> = lines.iter().chain([&("", ALLOWED)]).map(call).collect();
    let script = json!({ "agents": { "lead": [{ "tools": calls }, { "text": "Done." }] } });
    case.write("script.yaml", script.to_string());
    case.write("settings.yaml", format!("gate: {{ allow: {{ lead: ['execute_command({ALLOWED})'] }} }}\n"));
    case.write("scenes/room.yaml", SCENE);
    case.write("agents/lead.md", AGENT);
    case.write("artifacts/made.sh", "echo ran > artifacts/ran.md\n");
    case.write("README.md", "# Files\n");
    if !rules.is_empty() {
        case.write("storage/terminal-cmd-allowlist.yaml", rules);
    }
}

/// Gives a folder with everything in it to a user.
fn give_to(folder: &Path, user: u32) -> io::Result<()> {
    chown(folder, Some(user), Some(user))?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { give_to(&path, user)? } else { chown(&path, Some(user), Some(user))? }
    }
    Ok(())
}
