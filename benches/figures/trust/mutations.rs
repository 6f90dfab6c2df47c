//! Corrupted files of every kind: the room opens or reports why it does not, in bounded time, and leaves the files
//! unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;

use super::chance::Chance;
use super::child::Launch;
use super::evidence::{StoredTexts, Thing, Tree, copy_folder};
use super::mutate;
use super::plan::{Case, Fault, Plan, Report};

/// Corrupted files in the full loop, approximately; each case corrupts up to three.
const FILES: u64 = 5_200;
/// The time limit of a command with a corrupted workspace.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Files that the program writes itself and may write again.
const OWN: [&str; 2] = [".workshop", "sessions"];

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("mutations", FILES / 2, try_case)
}

/// The kinds of files that a case corrupts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scene,
    Board,
    Agent,
    Settings,
    Session,
    Script,
    Database,
}

const KINDS: [Kind; 7] =
    [Kind::Scene, Kind::Board, Kind::Agent, Kind::Settings, Kind::Session, Kind::Script, Kind::Database];

/// A workspace with a bit of everything, created once by the program itself.
fn intact_workspace() -> &'static Path {
    static SOUND: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = SOUND.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (workspace, home) = (folder.path().join("workspace"), folder.path().join("home"));
        fs::create_dir_all(&workspace).and_then(|()| fs::create_dir(&home)).expect("folders can be made");
        let succeed = |arguments: &[&str]| {
            let ended = Launch::new(&workspace, &home, arguments).start().wait();
            assert!(ended.status.success(), "{}: {}", ended.command, ended.errors());
        };
        succeed(&["init", "."]);
        let scene = "name: Boards\nseed: 4\nelements:\n  - { id: rules, kind: rulebook, position: [0, 0], file: \
                     boards/rules.md }\n  - { id: pins, kind: pinboard, position: [200, 0], file: boards/pins.md }\n  - \
                     { id: mail, kind: inbox, owner: ada, position: [-200, 0], file: boards/mail.md }\nagents:\n  - { id: \
                     ada, profile: researcher, position: [0, 60] }\n";
        let mail = "- **Hello**\n  Are you there? <!-- mail \
                    {\"id\":\"m1\",\"from\":\"user\",\"status\":\"closed\",\"read\":1.0} -->\n";
        for (path, text) in [
            ("scenes/boards.yaml", scene),
            ("boards/rules.md", "# Rules\n\nBe brief.\n"),
            ("boards/pins.md", "# Pins\n\n- one <!-- pin {\"id\":\"p1\",\"author\":\"user\"} -->\n- two\n"),
            ("boards/mail.md", mail),
            ("script.yaml", &script()),
        ] {
            let path = workspace.join(path);
            fs::create_dir_all(path.parent().expect("it should be in the workspace")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let task = ["--agent", "researcher", "--task", "Write."];
        let run = ["run", "--scene", "boards", "--speed", "max", "--provider", "scripted:script.yaml"];
        succeed(&[&run[..], &task[..]].concat());
        folder
    });
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| folder.path().join("workspace"))
}

/// Agents that do a little work and never touch an element: a person's texts must then stay unchanged.
fn script() -> String {
    let write = json!({ "name": "vfs_write", "arguments": { "path": "artifacts/a.md", "content": "# A\n" } });
    let edit = json!({ "name": "vfs_edit", "arguments": { "path": "artifacts/a.md", "old": "A", "new": "B" } });
    let work = json!([{ "tools": [write, edit], "when": { "kind": "task" } }]);
    let script = json!({ "latency": 0.1, "agents": { "researcher": work }, "default": [{ "text": "Understood." }] });
    // JSON is valid YAML; one key per line, so that a line is something to corrupt.
    serde_json::to_string_pretty(&script).expect("it is JSON") + "\n"
}

fn try_case(case: &mut Case) {
    let workspace = case.workspace();
    fs::remove_dir(&workspace).expect("it is empty");
    copy_folder(intact_workspace(), &workspace);
    fs::write(case.folder().join("outside/canary.md"), "SECRET-outside\n").expect("files can be written");
    let outside = Tree::of(&case.folder().join("outside"), &[]);
    let first = KINDS[case.number as usize % KINDS.len()];
    let mut told = vec![spoil(case, first)];
    for _ in 0..case.chance.between(0, 2) {
        let kind = *case.chance.one_of(&KINDS);
        told.push(spoil(case, kind));
    }
    case.count("mutated files", told.len() as u64);
    let before = Tree::of(&workspace, &OWN);
    let texts: Vec<(String, Vec<u8>)> =
        before.0.iter().filter_map(|(path, thing)| file(&workspace, path, thing)).collect();

    let scene = if case.number.is_multiple_of(3) { "studio" } else { "boards" };
    let run = ["run", "--scene", scene, "--ticks", "60", "--speed", "max", "--provider", "scripted:script.yaml"];
    for arguments in [&run[..], &["doctor"][..]] {
        let launch = case.launch(arguments).within(TIME_LIMIT);
        let ended = case.run(launch);
        if !ended.timed_out && !ended.status.success() && ended.errors.is_empty() && ended.out.is_empty() {
            case.found(Fault::Silent, format!("{} ended with {:?}: {told:?}", ended.command, ended.status.code()));
        }
        if (ended.out() + &ended.errors()).contains("SECRET-outside") {
            case.found(Fault::Escaped, format!("{} shows what lies outside: {told:?}", ended.command));
        }
    }
    let kept = StoredTexts::of(&workspace);
    let now = Tree::of(&workspace, &OWN);
    for (path, text) in texts {
        let is_as_it_was = now.0.get(&path) == before.0.get(&path) || has_its_words(&workspace, &path, &text);
        if !is_as_it_was && !kept.holds(&path, &text) {
            case.found(Fault::Lost, format!("{path} is not as it was, and what stood there is nowhere: {told:?}"));
        }
    }
    for change in before.changes(&now).iter().filter(|change| is_odd_change(&before, change)) {
        case.found(Fault::Escaped, format!("{change}: {told:?}"));
    }
    for change in outside.changes(&Tree::of(&case.folder().join("outside"), &[])) {
        case.found(Fault::Escaped, format!("outside of the workspace {change}: {told:?}"));
    }
}

/// A file written by a person, with its text.
fn file(workspace: &Path, path: &str, thing: &Thing) -> Option<(String, Vec<u8>)> {
    let is_own = path.starts_with("artifacts/");
    let text = matches!(thing, Thing::File(..)).then(|| fs::read(workspace.join(path)).ok()).flatten();
    text.filter(|_| !is_own).map(|text| (path.to_owned(), text))
}

/// Whether a board to which the room has added ids still has every word that a person wrote.
fn has_its_words(workspace: &Path, path: &str, text: &[u8]) -> bool {
    let words = |bytes: &[u8]| -> BTreeSet<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
    };
    let now = fs::read(workspace.join(path)).unwrap_or_default();
    path.starts_with("boards/") && words(text).is_subset(&words(&now))
}

/// A link, pipe or folder that has become something else.
fn is_odd_change(before: &Tree, change: &str) -> bool {
    let path = change.split(" was ").next().unwrap_or_default();
    change.ends_with("was changed") && !matches!(before.0.get(path), Some(Thing::File(..)))
}

/// Corrupts one file of a kind. Returns which one and how.
fn spoil(case: &mut Case, kind: Kind) -> String {
    let Some(path) = file_of(case, kind) else { return "nothing".to_owned() };
    let shown = path.strip_prefix(case.workspace()).expect("it should exist").display().to_string();
    let outside = case.folder().join("outside");
    if kind == Kind::Database && case.chance.percent(40) {
        return format!("{shown}: {}", spoil_rows(&mut case.chance, &path));
    }
    if case.chance.percent(8) {
        return format!("{shown} is {}", mutate::replaced(&mut case.chance, &path, &outside));
    }
    // Something put in its place by an earlier step is neither read nor written through.
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let Some(bytes) = is_file.then(|| fs::read(&path).ok()).flatten() else { return format!("{shown} as before") };
    let spoiled = mutate::spoiled(&mut case.chance, bytes, kind != Kind::Database);
    fs::write(&path, spoiled).expect("files can be written");
    shown
}

fn file_of(case: &mut Case, kind: Kind) -> Option<PathBuf> {
    let folder = match kind {
        Kind::Settings => return Some(case.at("settings.yaml")),
        Kind::Script => return Some(case.at("script.yaml")),
        Kind::Database => {
            let names = ["workshop.db", "workshop.db", "workshop.db", "workshop.db-wal", "lock"];
            let name = *case.chance.one_of(&names);
            return Some(case.at(&format!(".workshop/{name}")));
        }
        Kind::Scene => "scenes",
        Kind::Board => "boards",
        Kind::Agent => "agents",
        Kind::Session => "sessions",
    };
    let entries = fs::read_dir(case.at(folder)).ok()?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    if paths.is_empty() { None } else { Some(case.chance.one_of(&paths).clone()) }
}

/// Corrupts the database in ways that SQLite does not notice.
fn spoil_rows(chance: &mut Chance, path: &Path) -> String {
    let number = *chance.one_of(&["9223372036854775807", "-5", "50000000", "0"]);
    let choices = [
        format!("UPDATE runs SET last_tick = {number}"),
        format!("UPDATE runs SET first_tick = {number}"),
        "UPDATE runs SET ended_ms = NULL".to_owned(),
        format!("UPDATE runs SET first_seq = {number}"),
        "DELETE FROM runs".to_owned(),
        "DELETE FROM run_starts".to_owned(),
        "UPDATE run_starts SET start = substr(start, 1, 100)".to_owned(),
        "UPDATE run_starts SET start = '{}'".to_owned(),
        "UPDATE snapshots SET sections = substr(sections, 1, length(sections) / 2)".to_owned(),
        "UPDATE snapshots SET sections = '[]'".to_owned(),
        format!("UPDATE snapshots SET tick = {number}"),
        format!("UPDATE snapshots SET next_seq = {number}"),
        "UPDATE snapshots SET files = 'no json'".to_owned(),
        "UPDATE inputs SET data = 'no json'".to_owned(),
        format!("UPDATE inputs SET tick = {number} + number"),
        "DELETE FROM inputs".to_owned(),
        "UPDATE events SET data = 'no json'".to_owned(),
        "UPDATE events SET data = CAST(x'ff00fe' AS TEXT)".to_owned(),
        "DELETE FROM events WHERE seq % 2 = 0".to_owned(),
        "UPDATE events SET seq = seq + 9000000000000000000".to_owned(),
        "UPDATE file_versions SET text = x'ffffff', packing = 1".to_owned(),
        "UPDATE files SET newest = 99".to_owned(),
        "INSERT INTO file_steps (step) VALUES ('no step')".to_owned(),
        "DROP TABLE snapshots".to_owned(),
        "DROP TABLE events".to_owned(),
        "PRAGMA user_version = 99".to_owned(),
        "PRAGMA user_version = 1".to_owned(),
        "PRAGMA user_version = -3".to_owned(),
    ];
    let sql = chance.one_of(&choices).clone();
    let done = Connection::open(path).and_then(|connection| connection.execute_batch(&sql));
    match done {
        Ok(()) => sql,
        Err(error) => format!("{sql} ({error})"),
    }
}
