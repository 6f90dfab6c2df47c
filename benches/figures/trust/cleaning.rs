//! Kills while a workspace is cleaned: whatever moment it is, the next cleaning restores every text of the person, keeps
//! every text of the agent, and leaves the history in one place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::plan::{Case, Fault, Plan, Report};

/// Kills in the full loop.
const KILLS: u64 = 300;
/// The files of the person that the agent changes, and new ones that it makes.
const FILES: usize = 12;
/// How many times one cleaning is killed before it may end.
const MAX_KILLS: u64 = 3;
/// The longest wait before a kill; a cleaning takes about half of that.
const MAX_WAIT: Duration = Duration::from_millis(80);

const SCENE: &str = "name: Work\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [60, 40] }\n";

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("cleaning", KILLS.div_ceil(MAX_KILLS), try_case)
}

fn persons(number: usize) -> (String, String) {
    (format!("notes/{number}.md"), format!("The person's note {number}.\n"))
}

fn agents(path: &str) -> String {
    format!("Written by the agent into {path}.\n")
}

fn try_case(case: &mut Case) {
    case.write("settings.yaml", "kernel: { max_strikes: 500 }\n");
    case.write("scenes/room.yaml", SCENE);
    case.write("agents/lead.md", "---\nid: lead\nsafety_mode: auto\n---\nYou lead.\n");
    (0..FILES).map(persons).for_each(|(path, text)| case.write(&path, text));
    let paths: Vec<String> =
        (0..FILES).flat_map(|number| [persons(number).0, format!("artifacts/{number}.md")]).collect();
    let write = |path: &String| json!({ "name": "vfs_write", "arguments": { "path": path, "content": agents(path) } });
    let tools: Vec<_> = paths.iter().map(write).collect();
    let turns =
        json!({ "latency": 0.1, "agents": { "lead": [{ "tools": tools }, { "text": "Done.", "repeat": true }] } });
    case.write("script.yaml", turns.to_string());
    let task = ["run", "--agent", "lead", "--task", "Write it.", "--until", "idle", "--speed", "max"];
    let worked = case.run(case.launch(&[&task[..], &["--provider", "scripted:script.yaml"]].concat()));
    let is_written =
        paths.iter().all(|path| std::fs::read_to_string(case.at(path)).is_ok_and(|text| text == agents(path)));
    if !worked.status.success() || !is_written {
        return case.found(Fault::Silent, format!("the agent did not write everything: {}", worked.last_words()));
    }
    for _ in 0..MAX_KILLS {
        let running = case.launch(&["clean", "--yes"]).start();
        let wait = case.chance.up_to(MAX_WAIT);
        std::thread::sleep(wait);
        let ended = running.kill();
        case.judge(&ended);
        case.count("kills", 1);
        check_nothing_lost(case, &paths);
    }
    let last = case.run(case.launch(&["clean", "--yes"]));
    if !last.status.success() {
        return case.found(Fault::Silent, format!("the last cleaning failed: {}", last.last_words()));
    }
    check_nothing_lost(case, &paths);
    for number in 0..FILES {
        let (path, text) = persons(number);
        if std::fs::read_to_string(case.at(&path)).ok().as_ref() != Some(&text) {
            case.found(Fault::Lost, format!("{path} does not have the person's text"));
        }
        if case.at(&format!("artifacts/{number}.md")).exists() {
            case.found(Fault::Silent, format!("artifacts/{number}.md was not moved aside"));
        }
    }
    let histories = files_below(&case.at(".workshop")).into_keys().filter(|path| path.ends_with("workshop.db")).count();
    if histories != 1 {
        case.found(Fault::Lost, format!("the history is in {histories} places"));
    }
}

/// At any time, each text of the agent is somewhere in the workspace.
fn check_nothing_lost(case: &mut Case, paths: &[String]) {
    let everything = files_below(&case.workspace());
    for path in paths {
        let wanted = agents(path).into_bytes();
        if !everything.values().any(|content| *content == wanted) {
            case.found(Fault::Lost, format!("the agent's text of {path} is nowhere"));
        }
    }
}

/// Every file below a folder, with its content.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => drop(found.insert(path.clone(), std::fs::read(path).unwrap_or_default())),
            }
        }
    }
    found
}
