//! Guarded files stay as they are beside programs that change their attributes, and a person is told.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crossbeam_channel::{Receiver, unbounded};
use futures_util::future::join_all;

use crate::gateway::programs::sandbox::attribute_watch::*;

/// A workspace with programs that can change attributes of its guarded files.
struct Scene {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    listener: PutBackListener,
    reports: Receiver<AttributesPutBack>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("agents")).expect("folders can be made");
        for path in ["settings.yaml", "agents/ada.md"] {
            fs::write(folder.path().join(path), "text").expect("files can be written");
            set_mode(&folder.path().join(path), 0o644);
        }
        let (sender, reports) = unbounded();
        let listener = PutBackListener::new(move |report| sender.send(report).expect("the test receives it"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        Self { folder, runtime, listener, reports }
    }

    fn begin(&self, name: &str) -> WatchedProgram {
        let begun = WatchedProgram::begin(name.to_owned(), self.folder.path(), self.listener.clone());
        self.runtime.block_on(begun).expect("the workspace can be read")
    }

    fn compare(&self, program: &WatchedProgram) {
        self.runtime.block_on(program.compare());
    }

    fn change(&self, path: &str) {
        set_mode(&self.folder.path().join(path), 0o601);
    }

    fn is_put_back(&self, path: &str) -> bool {
        self.folder.path().join(path).metadata().expect("it should exist").mode() & 0o7777 == 0o644
    }

    /// The programs and files of the reports so far.
    fn told(&self) -> Vec<(Vec<String>, Vec<String>)> {
        let paths = |report: &AttributesPutBack| report.changes.iter().map(|change| change.path.clone()).collect();
        self.reports.try_iter().map(|report| (report.programs.clone(), paths(&report))).collect()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it can be changed");
}

fn report_of(programs: &[&str], paths: &[&str]) -> (Vec<String>, Vec<String>) {
    let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    (owned(programs), owned(paths))
}

#[test]
fn what_changes_during_calls_between_them_and_until_the_end_is_put_back_and_told() {
    let scene = Scene::new();
    let git = scene.begin("git");
    scene.compare(&git);
    assert_eq!(scene.told(), []);
    for _ in 0..2 {
        scene.change("settings.yaml");
        scene.compare(&git);
        assert!(scene.is_put_back("settings.yaml"));
        assert_eq!(scene.told(), [report_of(&["git"], &["settings.yaml"])]);
    }
    scene.change("agents/ada.md");
    scene.runtime.block_on(git.end());
    assert!(scene.is_put_back("agents/ada.md"));
    assert_eq!(scene.told(), [report_of(&["git"], &["agents/ada.md"])]);
    scene.change("settings.yaml");
    scene.runtime.block_on(git.end());
    assert!(!scene.is_put_back("settings.yaml"), "what changes while no program runs is the person's");
    let again = scene.begin("git");
    scene.compare(&again);
    assert_eq!(scene.told(), []);
}

#[test]
fn a_report_names_every_program_that_may_have_done_it_and_comes_once() {
    let scene = Scene::new();
    let (git, codex) = (scene.begin("git"), scene.begin("codex"));
    scene.change("settings.yaml");
    scene.compare(&codex);
    scene.compare(&git);
    assert_eq!(scene.told(), [report_of(&["codex", "git"], &["settings.yaml"])]);
    scene.runtime.block_on(codex.end());
    scene.change("settings.yaml");
    scene.compare(&git);
    assert_eq!(scene.told(), [report_of(&["git"], &["settings.yaml"])]);
    scene.change("settings.yaml");
    // What happened before another program starts was not done by it.
    let _other = scene.begin("other");
    assert_eq!(scene.told(), [report_of(&["git"], &["settings.yaml"])]);
}

#[test]
fn calls_that_end_together_are_told_once() {
    let scene = Scene::new();
    let git = scene.begin("git");
    scene.change("settings.yaml");
    scene.runtime.block_on(join_all((0..50).map(|_| git.compare())));
    assert_eq!(scene.told().len(), 1);
    assert!(scene.is_put_back("settings.yaml"));
}

#[test]
fn a_program_that_is_dropped_is_compared_for_the_last_time() {
    let scene = Scene::new();
    let git = scene.begin("git");
    scene.change("settings.yaml");
    drop(git);
    let report = scene.reports.recv_timeout(Duration::from_secs(30)).expect("the change is told");
    assert_eq!(report.programs, ["git"]);
    assert!(scene.is_put_back("settings.yaml"));
}

#[test]
fn a_person_is_told_the_program_the_files_and_how_often() {
    let change = |path: &str, failure: Option<&str>| AttributeChange {
        path: path.into(),
        changed: "the rights".into(),
        failure: failure.map(str::to_owned),
    };
    let report = AttributesPutBack {
        programs: vec!["the MCP server git".into()],
        changes: vec![change("settings.yaml", None), change("agents", Some("read-only"))],
        more: 3,
        compared_only: None,
    };
    let (first, second) = (report.problem(1), report.problem(2));
    for part in ["the MCP server git", "the rights of settings.yaml", "3 more files", "agents", "read-only"] {
        assert!(first.what.contains(part), "{part}: {first}");
    }
    assert_ne!(first.what, second.what, "a problem that happens again is told again");
    let json = serde_json::to_string(&report).expect("it can be written");
    assert_eq!(serde_json::from_str::<AttributesPutBack>(&json).expect("it can be read"), report);
}
