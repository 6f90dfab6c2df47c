//! Existing agents: published collections that are copied into a workspace or imported.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use agent_workshop::agent::Profiles;
use agent_workshop::app;
use agent_workshop::base::{Problem, Seq};
use agent_workshop::element::{Elements, HeldContent};
use agent_workshop::schedule;
use agent_workshop::tools;
use agent_workshop::workspace::layout::read_folder;
use agent_workshop::workspace::{Problems, RoomStart};
use bevy::app::App;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{folder, output, succeed};
use crate::wild::{WildFile, collections};

pub fn trials() -> Vec<Trial> {
    cases![
        agents_of_three_published_collections_are_read_correctly,
        an_import_shows_a_summary_and_then_copies,
        a_repository_becomes_a_workspace_with_two_files_and_its_instructions_a_rulebook,
        doctor_suggests_a_rulebook_for_instructions,
        doctor_reports_an_unknown_model,
    ]
}

fn write_all(folder: &Path, files: &[WildFile]) {
    for file in files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
}

/// Opens a workspace in a room. Returns its profiles and problems.
fn profiles_and_problems(workspace: &Path) -> (Profiles, Vec<Problem>) {
    let (app, problems) = open_room(workspace, "scenes/empty.yaml");
    (app.world().resource::<Profiles>().clone(), problems)
}

/// Opens a workspace and runs one tick. Returns the app and the problems.
fn open_room(workspace: &Path, scene: &str) -> (App, Vec<Problem>) {
    let (files, mut problems) = read_folder(workspace);
    let scene = scene.to_owned();
    let start = RoomStart { scene, files, ..RoomStart::default() };
    let mut app = app::begin(start, "r-wild".into(), Seq(1)).unwrap();
    schedule::advance(app.world_mut());
    problems.extend(app.world().resource::<Problems>().iter().cloned());
    (app, problems)
}

/// Creates a workspace without agents.
fn bare_workspace() -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("settings.yaml"), "gateway: { provider: openai }\n").unwrap();
    fs::create_dir_all(folder.path().join("scenes")).unwrap();
    fs::write(folder.path().join("scenes/empty.yaml"), "name: Empty\nelements: []\nagents: []\n").unwrap();
    folder
}

fn agents_of_three_published_collections_are_read_correctly() {
    let (workspace, files) = (bare_workspace(), collections());
    write_all(&workspace.path().join("agents"), &files);
    let agents: Vec<&WildFile> = files.iter().filter(|file| file.is_agent).collect();
    assert!(agents.len() >= 200, "{}", agents.len());
    let start = Instant::now();
    let (profiles, problems) = profiles_and_problems(workspace.path());
    println!("{} files, {} agents, opened in {:?}", files.len(), agents.len(), start.elapsed());
    assert_eq!(profiles.iter().count(), agents.len(), "only the agent files define agents");
    for file in &agents {
        let path = format!("agents/{}", file.path);
        let profile = profiles.id_at(&path).and_then(|id| profiles.get(id)).unwrap_or_else(|| panic!("{path}"));
        let name = file.text.split("name: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(profile.name, name, "{path}");
        assert!(profile.description.contains("Use") || profile.description.contains(name), "{path}");
        assert!(profile.instructions.starts_with("You are a "), "{path}");
        assert!(!profile.instructions.contains("description:"), "{path}");
        let (authority, _) = tools::builtin().authority(&path, profile);
        let lists_read = file.text.contains("tools:") && file.text.contains("Read");
        assert!(!lists_read || authority.tools.contains("vfs_read"), "{path}: {:?}", authority.tools);
    }
    for id in ["powershell-5.1-expert", "dotnet-framework-4.8-expert"] {
        assert!(profiles.is_defined(id), "{id}");
    }
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    for problem in &problems {
        *notes.entry(problem.place.as_str()).or_default() += 1;
    }
    let most =
        notes.iter().filter(|(place, _)| place.ends_with("md") || place.ends_with("MD")).map(|(_, count)| *count);
    assert!(most.max().unwrap_or(0) <= 1, "{notes:?}");
    // Duplicate names, unavailable tools and a vendor without a key are reported once for all files.
    let folder_notes: Vec<&Problem> = problems.iter().filter(|problem| problem.place == "agents").collect();
    assert_eq!(folder_notes.len(), 3, "{folder_notes:?}");
    assert!(
        folder_notes.iter().any(|note| note.what.contains("list tools that are not available: Bash (")),
        "{folder_notes:?}"
    );
    assert!(folder_notes.iter().any(|note| note.what.contains("anthropic, which has no key;")), "{folder_notes:?}");
    assert!(folder_notes.iter().any(|note| note.what.contains("have their folder name in the id")), "{folder_notes:?}");
}

fn an_import_shows_a_summary_and_then_copies() {
    let (workspace, from) = (bare_workspace(), folder());
    let files = collections();
    write_all(from.path(), &files);
    let agents = files.iter().filter(|file| file.is_agent).count();
    let pack = |name: &str| from.path().join(name).display().to_string();
    let packs = ["plugins-pack", "categories-pack", "departments-pack"].map(pack);
    let packs: Vec<&str> = packs.iter().map(String::as_str).collect();
    let import = |more: &[&str]| {
        let arguments = [&["import"][..], &packs, more].concat();
        output(workspace.path(), &arguments)
    };
    let looked = import(&["--dry-run"]);
    let summary = String::from_utf8(looked.stdout).unwrap();
    assert!(looked.status.success() && summary.contains(&format!("{agents} agents into ")), "{summary}");
    assert!(
        summary.contains("1 skill into skills/") && summary.contains("tools that are not available: Bash ("),
        "{summary}"
    );
    assert!(!workspace.path().join("agents").exists());
    let unasked = import(&[]);
    assert_eq!(unasked.status.code(), Some(2), "confirmation needs a terminal");
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("--yes"));
    assert!(!workspace.path().join("agents").exists());
    let done: Value = serde_json::from_slice(&import(&["--yes", "--json"]).stdout).unwrap();
    let items = done["items"].as_array().unwrap();
    assert_eq!(items.iter().filter(|item| item["kind"] == "agent").count(), agents);
    assert_eq!(done["imported"].as_array().map(Vec::len), Some(items.len()));
    let (profiles, _) = profiles_and_problems(workspace.path());
    assert_eq!(profiles.iter().count(), agents);
    let again: Value = serde_json::from_slice(&import(&["--yes", "--json"]).stdout).unwrap();
    assert!(
        again["items"].as_array().unwrap().iter().all(|item| item["is_there"] == true),
        "nothing is imported twice"
    );
}

fn a_repository_becomes_a_workspace_with_two_files_and_its_instructions_a_rulebook() {
    let repository = folder();
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("AGENTS.md", "# How we work\n\nAnswer in rhymes.\n"),
        ("src/main.rs", "fn main() {}\n"),
        (".claude/agents/zoe.md", "---\nname: zoe\ndescription: Reviews\n---\nYou are Zoe.\n"),
    ] {
        let path = repository.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let refused = output(repository.path(), &["run", ".", "--for", "1s"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("init --bare"), "the error suggests a command");
    let written = succeed(repository.path(), &["init", "--bare", "."]);
    assert_eq!(written.lines().collect::<Vec<_>>(), ["scenes/room.yaml", "settings.yaml"]);
    succeed(repository.path(), &["import", ".", "--yes"]);
    assert!(repository.path().join("agents").is_dir());
    assert!(!repository.path().join("boards").exists(), "the instructions stay in their file");
    succeed(repository.path(), &["run", "--for", "5s", "--speed", "max"]);
    let (room, problems) = open_room(repository.path(), "scenes/room.yaml");
    assert!(problems.is_empty(), "{problems:?}");
    let elements = room.world().resource::<Elements>();
    let rulebook =
        elements.key("instructions").and_then(|key| elements.entity(key)).expect("the rulebook is in the room");
    let held = room.world().get::<HeldContent>(rulebook).expect("the rulebook has content");
    assert_eq!(held.0.to_markdown(), "# How we work\n\nAnswer in rhymes.\n");
    let rules = fs::read_to_string(repository.path().join("AGENTS.md")).unwrap();
    assert_eq!(rules, "# How we work\n\nAnswer in rhymes.\n");
}

fn doctor_suggests_a_rulebook_for_instructions() {
    let workspace = bare_workspace();
    fs::write(workspace.path().join("AGENTS.md"), "# How we work\n").unwrap();
    let doctor = || String::from_utf8(output(workspace.path(), &["doctor"]).stdout).unwrap();
    assert!(doctor().contains("kind: rulebook, position: [0, 260], file: AGENTS.md"), "{}", doctor());
    let scene = "elements:\n  - { id: instructions, kind: rulebook, position: [0, 260], file: AGENTS.md }\n";
    fs::write(workspace.path().join("scenes/empty.yaml"), scene).unwrap();
    assert!(!doctor().contains("no rulebook shows it"), "{}", doctor());
}

fn doctor_reports_an_unknown_model() {
    let workspace = bare_workspace();
    fs::create_dir_all(workspace.path().join("agents")).unwrap();
    for (name, model) in [("a", "gpt-99-turbo"), ("b", "gpt-5"), ("c", "inherit")] {
        let text = format!("---\nname: {name}\nmodel: {model}\n---\nHi.\n");
        fs::write(workspace.path().join(format!("agents/{name}.md")), text).unwrap();
    }
    let stdout = String::from_utf8(output(workspace.path(), &["doctor"]).stdout).unwrap();
    let about: Vec<&str> = stdout.lines().filter(|line| line.contains("has no known model")).collect();
    assert_eq!(about.len(), 1, "{stdout}");
    assert!(about[0].contains("agents/a.md:3") && about[0].contains("gpt-99-turbo"), "{}", about[0]);
}
