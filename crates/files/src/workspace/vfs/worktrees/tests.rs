//! Agents' work in their own copies: nothing appears in the workspace before a person allows it, and nothing that
//! others wrote meanwhile is lost.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::limits::FileLimits;
use super::super::order::{FileAnswer, FileFailure, FileOperation, FileRights, WorktreeChanges};
use super::merging::MAX_DIFF_CHARS;
use super::*;
use crate::base::{Author, Seq};

/// A workspace whose agents have copies.
struct WorktreeWorkspace {
    folder: tempfile::TempDir,
    workspace: Executor,
    worktrees: Worktrees,
    orders: u32,
    activation: u32,
    told: WorktreeChanges,
}

impl WorktreeWorkspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            put(folder.path(), path, text.as_bytes());
        }
        let (workspace, worktrees) = open(folder.path());
        Self { folder, workspace, worktrees, orders: 0, activation: 1, told: WorktreeChanges::default() }
    }

    /// Opens everything again, as after a kill.
    fn reopen(&mut self) {
        (self.workspace, self.worktrees) = open(self.folder.path());
    }

    fn order(&mut self, agent: &str, operation: FileOperation) -> FileOrder {
        self.orders += 1;
        FileOrder {
            key: format!("order-{}", self.orders).into(),
            author: Author(agent.into()),
            activation: Some(format!("act-{}", self.activation).into()),
            operation,
            rights: FileRights::default(),
            cause: Seq(7),
            worktree: Some(agent.into()),
        }
    }

    fn run(&mut self, agent: &str, operation: FileOperation) -> Result<FileAnswer, FileFailure> {
        let order = self.order(agent, operation);
        self.carry_out(&order)
    }

    fn carry_out(&mut self, order: &FileOrder) -> Result<FileAnswer, FileFailure> {
        let agent = order.worktree.clone().expect("it is for a copy");
        let outcome = self.worktrees.carry_out(&agent, order, &mut self.workspace);
        if let Some(changes) = outcome.worktree {
            self.told = *changes;
        }
        outcome.result
    }

    fn write(&mut self, agent: &str, path: &str, text: &str) {
        self.run(agent, FileOperation::Write { path: path.into(), content: text.into() }).expect("it can be written");
    }

    fn read(&mut self, agent: &str, path: &str) -> String {
        match self.run(agent, FileOperation::Read { path: path.into() }) {
            Ok(FileAnswer::Text { content, .. }) => content,
            other => panic!("it cannot be read: {other:?}"),
        }
    }

    /// Begins another activation.
    fn begin(&mut self, agent: &str) {
        self.activation += 1;
        self.run(agent, FileOperation::CommitWorktree { what: "nothing".into() }).expect("it can be committed");
    }

    fn merge(&mut self, agent: &str) -> (Vec<String>, Vec<String>) {
        let hash = self.told.hash;
        match self.run(agent, FileOperation::MergeWorktree { hash }) {
            Ok(FileAnswer::Merged { crossed, left_out, .. }) => (crossed, left_out),
            other => panic!("it cannot be merged: {other:?}"),
        }
    }

    fn in_workspace(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(path)).ok()
    }

    fn copy(&self, agent: &str) -> PathBuf {
        place_of(&self.folder.path().join(".workshop"), agent).expect("it has a place").join(FILES)
    }

    fn log(&self, agent: &str) -> Vec<(String, String)> {
        self.worktrees.open[agent].repository.log()
    }
}

fn open(folder: &Path) -> (Executor, Worktrees) {
    let dir = folder.join(".workshop");
    let workspace = Executor::open(folder, &dir, FileLimits::default()).expect("it can be opened");
    (workspace, Worktrees::new(&dir))
}

fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let full = folder.join(path);
    fs::create_dir_all(full.parent().expect("it should be in the folder")).expect("folders can be made");
    fs::write(full, bytes).expect("files can be written");
}

#[test]
fn each_action_is_a_commit_with_its_cause_and_invisible_in_the_workspace() {
    let mut fixture = WorktreeWorkspace::new(&[("notes/a.md", "one\n"), ("notes/b.md", "two\n")]);
    fixture.write("ada", "notes/a.md", "1\n");
    fixture.write("ada", "artifacts/new.md", "new\n");
    fixture.run("ada", FileOperation::Rename { from: "notes/b.md".into(), to: "notes/c.md".into() }).expect("it can");
    fixture.run("ada", FileOperation::Delete { path: "notes/c.md".into() }).expect("it can");
    let log = fixture.log("ada");
    let words: Vec<&str> = log.iter().filter_map(|(_, message)| message.lines().next()).collect();
    let wanted = [
        "delete notes/c.md",
        "rename notes/b.md to notes/c.md",
        "create artifacts/new.md",
        "write notes/a.md",
        "merge changes from the workspace",
    ];
    assert_eq!(words, wanted);
    assert_eq!(log[0].0, "ada");
    assert_eq!(log[0].1, "delete notes/c.md\n\nOrder: order-4\nRecord: 7\nWork: act-1\n");
    assert_eq!(fixture.in_workspace("notes/a.md").as_deref(), Some("one\n"));
    assert_eq!(fixture.in_workspace("artifacts/new.md"), None);
    let told: Vec<(&str, usize, usize)> =
        fixture.told.files.iter().map(|file| (file.path.as_str(), file.added, file.removed)).collect();
    assert_eq!(told, [("artifacts/new.md", 1, 0), ("notes/a.md", 1, 1), ("notes/b.md", 0, 1)]);
    assert!(fixture.told.diff.contains("--- a/notes/a.md\n+++ b/notes/a.md\n@@ -1 +1 @@\n-one\n+1\n"));
}

#[test]
fn approved_changes_are_merged_with_those_of_others() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "1\n2\n3\n4\n"), ("b.md", "b\n"), ("gone.md", "gone\n")]);
    fixture.write("ada", "a.md", "one\n2\n3\n4\n");
    fixture.write("ada", "b.md", "hers\n");
    fixture.run("ada", FileOperation::Delete { path: "gone.md".into() }).expect("it can be deleted");
    put(fixture.folder.path(), "a.md", b"1\n2\n3\nmine\n");
    put(fixture.folder.path(), "b.md", b"mine\n");
    let (crossed, left_out) = fixture.merge("ada");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("one\n2\n3\nmine\n"));
    assert_eq!(fixture.in_workspace("b.md").as_deref(), Some("mine\n"), "both changed it");
    assert_eq!(fixture.in_workspace("gone.md"), None);
    assert!(crossed.len() == 1 && crossed[0].contains("b.md") && left_out.is_empty(), "{crossed:?} {left_out:?}");
    let versions =
        super::super::history::FileHistory::open(fixture.folder.path(), &fixture.folder.path().join(".workshop"))
            .and_then(|history| Ok(history.versions("a.md")?))
            .expect("the history can be read");
    let authors: Vec<&str> = versions.iter().map(|version| version.author.as_str()).collect();
    assert_eq!(authors, ["ada", "outside"], "the merge is hers, and what she merged with is kept");
    let left: Vec<&str> = fixture.told.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(left, ["b.md"], "what could not be merged stays in her copy");
    assert_eq!(fixture.read("ada", "a.md"), "one\n2\n3\nmine\n", "her copy has what the workspace has");
}

#[test]
fn what_is_too_long_to_be_shown_whole_is_not_merged_and_the_rest_is_proposed_afterwards() {
    let mut fixture = WorktreeWorkspace::new(&[("small.md", "one\n")]);
    let line = "a line of a long text that an agent wrote\n";
    let long = line.repeat(MAX_DIFF_CHARS / line.len() / 2 + 1_000);
    let endless = line.repeat(MAX_DIFF_CHARS / line.len() + 1_000);
    for (path, text) in [("a.md", &*long), ("b.md", &*long), ("endless.md", &*endless), ("small.md", "two\n")] {
        fixture.write("ada", path, text);
    }
    let left = |fixture: &WorktreeWorkspace| {
        let files = fixture.told.files.iter().filter(|file| file.is_too_long);
        files.map(|file| file.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(left(&fixture), ["b.md", "endless.md"], "small.md still fits");
    let added = fixture.told.diff.lines().filter(|shown| *shown == format!("+{}", line.trim_end())).count();
    assert_eq!(added, long.lines().count(), "nothing of a.md is cut");
    assert!(fixture.told.diff.ends_with("-one\n+two\n"), "nothing of small.md is cut");
    let (crossed, left_out) = fixture.merge("ada");
    assert!(crossed.is_empty() && left_out.len() == 2, "{crossed:?} {left_out:?}");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some(&*long));
    assert_eq!((fixture.in_workspace("b.md"), fixture.in_workspace("endless.md")), (None, None));
    assert_eq!(left(&fixture), ["endless.md"], "the next proposal has room for b.md");
    fixture.merge("ada");
    assert_eq!(fixture.in_workspace("b.md").as_deref(), Some(&*long));
    assert_eq!((fixture.in_workspace("endless.md"), fixture.told.diff.as_str()), (None, ""));
    let in_copy = fs::read_to_string(fixture.copy("ada").join("endless.md")).expect("it is still there");
    assert_eq!(in_copy, endless);
}

#[test]
fn after_a_conflict_exactly_the_version_that_was_shown_is_replaced() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "one\n"), ("b.md", "one\n")]);
    fixture.write("ada", "a.md", "hers\n");
    fixture.write("ada", "b.md", "two\n");
    assert!(fixture.told.files.iter().all(|file| !file.is_conflict));
    let first = fixture.told.hash;
    put(fixture.folder.path(), "a.md", b"mine\n");
    assert_eq!(fixture.merge("ada").0.len(), 1);
    assert_eq!(fixture.in_workspace("b.md").as_deref(), Some("two\n"), "the other file is merged");
    assert!(fixture.told.files[0].is_conflict && fixture.told.hash != first, "{:?}", fixture.told);
    assert!(fixture.told.diff.ends_with("-mine\n+hers\n"), "{}", fixture.told.diff);
    put(fixture.folder.path(), "a.md", b"mine again\n");
    assert_eq!(fixture.merge("ada").0.len(), 1, "what was not shown is not replaced");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("mine again\n"));
    assert!(fixture.told.diff.ends_with("-mine again\n+hers\n"), "{}", fixture.told.diff);
    let shown = fixture.told.hash;
    fixture.reopen();
    let (crossed, _) = fixture.merge("ada");
    assert!(crossed.is_empty(), "it is decided about in another run: {crossed:?}");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("hers\n"));
    assert!(fixture.told.files.is_empty() && fixture.told.hash != shown, "{:?}", fixture.told);
}

#[test]
fn a_conflict_is_forgotten_when_both_versions_fit_together_again() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "1\n2\n3\n4\n")]);
    fixture.write("ada", "a.md", "one\n2\n3\n4\n");
    put(fixture.folder.path(), "a.md", b"eins\n2\n3\n4\n");
    assert_eq!(fixture.merge("ada").0.len(), 1);
    put(fixture.folder.path(), "a.md", b"1\n2\n3\nmine\n");
    fixture.begin("ada");
    assert!(fixture.told.files.iter().all(|file| !file.is_conflict), "{:?}", fixture.told);
    assert!(fixture.merge("ada").0.is_empty());
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("one\n2\n3\nmine\n"));
}

#[test]
fn a_copy_that_changed_after_the_request_is_not_merged() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "one\n")]);
    fixture.write("ada", "a.md", "two\n");
    let shown = fixture.told.hash;
    put(&fixture.copy("ada"), "a.md", b"something else\n");
    let refused = fixture.run("ada", FileOperation::MergeWorktree { hash: shown }).expect_err("it changed").what;
    assert!(refused.contains("changed since"), "{refused}");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("one\n"));
    assert_ne!(fixture.told.hash, shown);
    fixture.merge("ada");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("something else\n"));
}

#[test]
fn the_persons_changes_are_merged_with_the_next_activation_without_loss() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "1\n2\n3\n4\n"), ("b.md", "b\n"), ("c.md", "c\n")]);
    fixture.write("ada", "a.md", "one\n2\n3\n4\n");
    fixture.write("ada", "b.md", "hers\n");
    put(fixture.folder.path(), "a.md", b"1\n2\n3\nmine\n");
    put(fixture.folder.path(), "b.md", b"mine\n");
    put(fixture.folder.path(), "new.md", b"new\n");
    fs::remove_file(fixture.folder.path().join("c.md")).expect("it should exist");
    assert_eq!(fixture.read("ada", "a.md"), "one\n2\n3\n4\n", "in the middle of her work nothing moves under her");
    fixture.begin("ada");
    assert_eq!(fixture.told.crossed, ["b.md"]);
    assert_eq!(fixture.read("ada", "a.md"), "one\n2\n3\nmine\n");
    assert_eq!(fixture.read("ada", "b.md"), "hers\n");
    assert_eq!(fixture.read("ada", "new.md"), "new\n");
    assert!(fixture.run("ada", FileOperation::Read { path: "c.md".into() }).is_err());
    let (crossed, _) = fixture.merge("ada");
    assert_eq!(crossed.len(), 1, "{crossed:?}");
    assert_eq!(fixture.in_workspace("b.md").as_deref(), Some("mine\n"));
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("one\n2\n3\nmine\n"));
}

#[test]
fn a_kill_between_write_and_commit_loses_and_repeats_nothing() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "one\n")]);
    fixture.write("ada", "b.md", "b\n");
    let append = fixture.order("ada", FileOperation::Append { path: "a.md".into(), text: "two\n".into() });
    fixture.worktrees.open.get_mut("ada").expect("it is open").is_killed_before_commit = true;
    let killed = catch_unwind(AssertUnwindSafe(|| fixture.carry_out(&append)));
    assert!(killed.is_err(), "it was stopped as if killed");
    // A lock that was left by the kill must not block her work for ever.
    put(&fixture.copy("ada").join("../history.git"), "refs/heads/main.lock", b"");
    fixture.reopen();
    fixture.carry_out(&append).expect("the same order is sent again");
    assert_eq!(fixture.read("ada", "a.md"), "one\ntwo\n", "it happened once");
    let log = fixture.log("ada");
    assert!(log[0].1.starts_with("recovered: "), "{log:?}");
    assert_eq!(fixture.told.files.len(), 2, "{:?}", fixture.told);
}

#[test]
fn files_of_commands_are_committed_and_ignored_ones_are_not_copied() {
    let mut fixture = WorktreeWorkspace::new(&[
        (".gitignore", "target/\n*.log\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("target/big.bin", "big"),
        ("run.log", "x"),
        (".env", "KEY=secret"),
        ("settings.yaml", ""),
        ("sessions/x.session.yaml", "x"),
        (".git/config", "[core]\n"),
    ]);
    fixture.begin("ada");
    let copy = fixture.copy("ada");
    for (path, is_there) in [
        ("src/main.rs", true),
        (".gitignore", true),
        ("target/big.bin", false),
        ("run.log", false),
        (".env", false),
        ("settings.yaml", false),
        ("sessions/x.session.yaml", false),
        (".git", false),
    ] {
        assert_eq!(copy.join(path).exists(), is_there, "{path}");
    }
    put(&copy, "target/out.o", b"o");
    put(&copy, "src/lib.rs", b"pub fn a() {}\n");
    put(&copy, "picture.png", &[0xff, 0xfe, 0]);
    fs::remove_file(copy.join("src/main.rs")).expect("it should exist");
    fixture.run("ada", FileOperation::CommitWorktree { what: "run `make`".into() }).expect("it can be committed");
    let told: Vec<&str> = fixture.told.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(told, ["picture.png", "src/lib.rs", "src/main.rs"]);
    assert!(fixture.log("ada")[0].1.starts_with("run `make`"));
    let (crossed, left_out) = fixture.merge("ada");
    assert!(crossed.is_empty() && left_out.len() == 1 && left_out[0].contains("not text"), "{left_out:?}");
    assert_eq!(fixture.in_workspace("src/lib.rs").as_deref(), Some("pub fn a() {}\n"));
    assert_eq!(fixture.in_workspace("src/main.rs"), None);
}

#[test]
fn files_of_the_room_or_the_person_are_never_merged_from_a_copy() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "a\n"), ("agents/ada.md", "You are Ada.\n")]);
    let write = |path: &str| FileOperation::Write { path: path.into(), content: "x\n".into() };
    for path in ["agents/ada.md", "agents/new.md", "scenes/s.yaml", "tasks/t.task.md", "settings.yaml", ".git/config"] {
        assert!(fixture.run("ada", write(path)).is_err(), "{path}");
    }
    for path in ["agents/ada.md", "settings.yaml", ".github/workflow.yml", "scenes/s.yaml"] {
        put(&fixture.copy("ada"), path, b"from a command\n");
    }
    fixture.run("ada", FileOperation::CommitWorktree { what: "run".into() }).expect("it can be committed");
    let (_, left_out) = fixture.merge("ada");
    assert!(left_out.iter().any(|one| one.contains("agents/ada.md")), "{left_out:?}");
    assert_eq!(fixture.in_workspace("agents/ada.md").as_deref(), Some("You are Ada.\n"));
    for path in ["settings.yaml", ".github/workflow.yml", "scenes/s.yaml"] {
        assert_eq!(fixture.in_workspace(path), None, "{path}");
    }
}

#[test]
fn rights_apply_in_a_copy_and_when_it_is_merged() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "a\n"), ("own/b.md", "b\n")]);
    let rights = FileRights { writes: vec![vec!["own/**".into()]], ..FileRights::default() };
    let write = fixture.order("ada", FileOperation::Write { path: "a.md".into(), content: "x\n".into() });
    let refused = fixture.carry_out(&FileOrder { rights: rights.clone(), ..write }).expect_err("it is not hers");
    assert!(refused.is_refusal);
    put(&fixture.copy("ada"), "a.md", b"from a command\n");
    put(&fixture.copy("ada"), "own/b.md", b"from a command\n");
    fixture.run("ada", FileOperation::CommitWorktree { what: "run".into() }).expect("it can be committed");
    let merge = fixture.order("ada", FileOperation::MergeWorktree { hash: fixture.told.hash });
    let answer = fixture.carry_out(&FileOrder { rights, ..merge }).expect("it can be merged in part");
    let FileAnswer::Merged { crossed, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(crossed.len(), 1, "{crossed:?}");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("a\n"));
    assert_eq!(fixture.in_workspace("own/b.md").as_deref(), Some("from a command\n"));
}

#[test]
fn the_copies_of_two_agents_are_both_merged() {
    let mut fixture = WorktreeWorkspace::new(&[("a.md", "1\n2\n3\n4\n5\n")]);
    fixture.write("ada", "a.md", "one\n2\n3\n4\n5\n");
    let of_ada = fixture.told.clone();
    fixture.write("bob", "a.md", "1\n2\n3\n4\nfive\n");
    assert_eq!(fixture.read("ada", "a.md"), "one\n2\n3\n4\n5\n", "neither sees the other");
    fixture.merge("bob");
    fixture.told = of_ada;
    fixture.merge("ada");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("one\n2\n3\n4\nfive\n"));
    fixture.begin("bob");
    assert_eq!(fixture.read("bob", "a.md"), "one\n2\n3\n4\nfive\n");
}

/// A person's repository and a copy, both with hooks and filters that would run a program at every step.
#[cfg(unix)]
#[test]
fn nothing_in_a_hostile_repository_is_executed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let mark = tempfile::tempdir().expect("a temporary folder can be made");
    let marked = mark.path().join("marked");
    let program = mark.path().join("evil.sh");
    fs::write(&program, format!("#!/bin/sh\necho ran >> {}\ncat\n", marked.display())).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it should exist");
    let evil = program.display();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {evil}\n\thooksPath = {hooks}\n\tsshCommand = {evil}\n\
         \teditor = {evil}\n\tpager = {evil}\n\tautocrlf = true\n[filter \"evil\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\
         \tprocess = {evil}\n\trequired = true\n[diff \"evil\"]\n\ttextconv = {evil}\n\tcommand = {evil}\n\
         [merge \"evil\"]\n\tdriver = {evil}\n[diff]\n\texternal = {evil}\n[include]\n\tpath = {hooks}/more\n\
         [gpg]\n\tprogram = {evil}\n[commit]\n\tgpgsign = true\n[submodule \"evil\"]\n\tupdate = !{evil}\n",
        hooks = mark.path().display()
    );
    let attributes = "* filter=evil diff=evil merge=evil text eol=crlf ident\n";
    let mut fixture = WorktreeWorkspace::new(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", &config),
        (".gitattributes", attributes),
        (".gitmodules", "[submodule \"evil\"]\n\tpath = sub\n\turl = /nowhere\n"),
        ("a.md", "one $Id$\r\ntwo\n"),
    ]);
    let hooks =
        ["pre-commit", "post-commit", "post-checkout", "reference-transaction", "pre-merge-commit", "commit-msg"];
    for hook in hooks {
        for place in [fixture.folder.path().join(".git/hooks"), mark.path().to_owned()] {
            fs::create_dir_all(&place).expect("it can be made");
            fs::copy(&program, place.join(hook)).expect("it can be copied");
        }
    }
    fixture.begin("ada");
    let copy = fixture.copy("ada");
    assert_eq!(fs::read(copy.join("a.md")).expect("it should exist"), b"one $Id$\r\ntwo\n", "byte for byte");
    // A command of the agent may leave a repository of its own, attributes, and links that lead out.
    put(&copy, ".git/config", config.as_bytes());
    put(&copy, ".git/HEAD", b"ref: refs/heads/main\n");
    put(&copy, ".gitattributes", attributes.as_bytes());
    symlink(mark.path(), copy.join("out")).expect("links can be made");
    symlink(&program, copy.join("link.md")).expect("links can be made");
    fixture.write("ada", "a.md", "1 $Id$\r\ntwo\n");
    fixture.run("ada", FileOperation::CommitWorktree { what: "run".into() }).expect("it can be committed");
    put(fixture.folder.path(), "out/x.md", b"x\n");
    put(fixture.folder.path(), "a.md", b"one $Id$\r\ntwo\nthree\n");
    assert!(fixture.told.files.iter().all(|file| !file.path.starts_with("out") && file.path != "link.md"));
    fixture.merge("ada");
    assert_eq!(fixture.in_workspace("a.md").as_deref(), Some("1 $Id$\r\ntwo\nthree\n"));
    // A file of the workspace is never written through a link of the copy.
    fixture.activation += 1;
    let through = fixture.run("ada", FileOperation::CommitWorktree { what: "nothing".into() });
    assert!(through.is_err() && !mark.path().join("x.md").exists(), "{through:?}");
    fs::remove_file(copy.join("out")).expect("it should exist");
    fixture.begin("ada");
    assert_eq!(fixture.read("ada", "out/x.md"), "x\n");
    assert!(!marked.exists(), "something was run: {}", fs::read_to_string(&marked).unwrap_or_default());
    let names = ["HEAD", "config", "hooks"];
    let mut left: Vec<String> = fs::read_dir(fixture.folder.path().join(".git"))
        .expect("it should exist")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    left.sort_unstable();
    assert_eq!(left, names, "nothing was added to the person's repository");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever the two write, the merged text has every line of the person and every line of the agent, or the
    /// conflict is named.
    #[test]
    fn no_line_is_lost_when_a_copy_is_merged(
        hers in proptest::collection::vec((0..8_usize, any::<bool>()), 1..4),
        mine in proptest::collection::vec((0..8_usize, any::<bool>()), 1..4),
        takes_over in any::<bool>(),
    ) {
        let first: Vec<String> = (0..8).map(|n| format!("first {n}")).collect();
        let edited = |by: &str, changes: &[(usize, bool)]| {
            let mut lines = first.clone();
            for (at, (place, is_added)) in changes.iter().enumerate() {
                let place = place % (lines.len() + 1);
                if *is_added || place == lines.len() { lines.insert(place, format!("{by} {at}")) } else { lines.remove(place); }
            }
            lines.iter().map(|line| format!("{line}\n")).collect::<String>()
        };
        let start = first.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut fixture = WorktreeWorkspace::new(&[("a.md", &start)]);
        let (of_ada, of_person) = (edited("ada", &hers), edited("me", &mine));
        fixture.write("ada", "a.md", &of_ada);
        put(fixture.folder.path(), "a.md", of_person.as_bytes());
        if takes_over {
            fixture.begin("ada");
        }
        // An edit that she reverted is not a change, so there is nothing to merge.
        let is_merged = !fixture.told.files.is_empty();
        let crossed = if is_merged { fixture.merge("ada").0 } else { Vec::new() };
        let now = fixture.in_workspace("a.md").unwrap_or_default();
        for line in of_person.lines().filter(|line| line.starts_with("me")) {
            prop_assert!(now.contains(line), "{line} is lost: {now}");
        }
        for line in of_ada.lines().filter(|line| line.starts_with("ada")) {
            let in_copy = fixture.read("ada", "a.md").contains(line);
            prop_assert!(now.contains(line) || (!crossed.is_empty() && in_copy), "{line} is lost: {now} {crossed:?}");
        }
        prop_assert!(!is_merged || !crossed.is_empty() || fixture.read("ada", "a.md") == now);
    }
}
