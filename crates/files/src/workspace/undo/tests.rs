//! Tests that undoing never loses text by others, and restores the earlier text where no one else changed it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::vfs::{FileOperation, FileOrder, FileRights, FileService, FileServiceOptions};
use super::*;
use crate::base::{Author, Seq};

/// The history of one file: the actions of each author in turn, with the resulting text.
#[derive(Default)]
struct Life {
    story: FileTimeline,
    texts: Vec<String>,
    now: Option<String>,
}

impl Life {
    fn of(path: &str) -> Self {
        Self { story: FileTimeline { path: path.to_owned(), entries: Vec::new() }, ..Self::default() }
    }

    fn act(&mut self, by: &str, deed: FileAction) {
        let time_ms = self.story.entries.len() as u64;
        self.story.entries.push(TimelineEntry { time_ms, by: by.to_owned(), activation: None, action: deed });
    }

    fn write(mut self, by: &str, text: &str) -> Self {
        self.texts.push(text.to_owned());
        let is_new = self.now.is_none();
        self.act(by, FileAction::Wrote { version: self.texts.len() as u64, is_new });
        self.now = Some(text.to_owned());
        self
    }

    fn delete(mut self, by: &str) -> Self {
        self.act(by, FileAction::Deleted);
        self.now = None;
        self
    }

    fn rename(mut self, by: &str, to: &str) -> Self {
        let from = std::mem::replace(&mut self.story.path, to.to_owned());
        self.act(by, FileAction::Renamed { from, to: to.to_owned() });
        self
    }

    /// Plans to undo everything that Ada did since this activation.
    fn undo_from(&self, since: u64) -> Option<FilePlan> {
        let text = |version: u64| self.texts.get(version as usize - 1).cloned();
        let is_undone = |act: &TimelineEntry| act.by == "ada" && act.time_ms >= since;
        plan_file(&self.story, self.now.as_deref(), is_undone, text, |path| path.starts_with("taken"))
    }

    fn outcome(&self) -> Option<Outcome> {
        self.undo_from(0).map(|plan| plan.outcome)
    }
}

fn put(text: &str) -> Option<Outcome> {
    Some(Outcome::Write { text: text.to_owned(), to: None })
}

fn stays(outcome: Option<Outcome>) -> String {
    match outcome {
        Some(Outcome::Unchanged { why }) => why,
        other => panic!("it does not stay: {other:?}"),
    }
}

#[test]
fn changes_by_the_agent_alone_are_undone_completely() {
    let life = || Life::of("a.md").write("user", "one\n");
    assert_eq!(life().outcome(), None, "she did nothing");
    assert_eq!(life().write("ada", "two\n").write("ada", "three\n").outcome(), put("one\n"));
    assert_eq!(life().delete("ada").outcome(), put("one\n"));
    assert_eq!(life().write("ada", "two\n").delete("ada").outcome(), put("one\n"));
    assert_eq!(Life::of("a.md").write("ada", "new\n").outcome(), Some(Outcome::Delete));
    assert_eq!(Life::of("a.md").write("ada", "new\n").delete("ada").outcome(), None, "nothing is left of it");
    let moved = Some(Outcome::Write { text: "one\n".into(), to: Some("a.md".into()) });
    assert_eq!(life().rename("ada", "b.md").outcome(), moved);
    assert_eq!(life().rename("ada", "b.md").write("ada", "x\n").rename("ada", "c.md").outcome(), moved);
    assert_eq!(life().rename("ada", "b.md").delete("ada").outcome(), moved);
    let since = Life::of("a.md").write("ada", "one\n").write("ada", "two\n").undo_from(1).map(|plan| plan.outcome);
    assert_eq!(since, put("one\n"), "what she did before that moment stays");
}

#[test]
fn later_changes_by_others_are_kept() {
    checks_rule!("undo-never-overwrites-others");
    let life = || Life::of("a.md").write("user", "a\nb\nc\nd\n").write("ada", "a\nB\nc\nd\n");
    assert_eq!(life().write("user", "a\nB\nc\nd\nmine\n").outcome(), put("a\nb\nc\nd\nmine\n"));
    assert_eq!(life().write("bob", "a\nB\nc\nD\n").write("ada", "A\nB\nc\nD\n").outcome(), put("a\nb\nc\nD\n"));
    assert_eq!(life().write("user", "a\nb\nc\nd\n").outcome(), None, "it was undone by hand");
    assert!(stays(life().write("user", "a\nBB\nc\nd\n").outcome()).contains("same lines"));
    assert!(stays(life().delete("user").outcome()).contains("deleted it since"));
    assert!(
        stays(Life::of("a.md").write("ada", "a\n").write("user", "a\nb\n").outcome()).contains("since it was created")
    );
    let anew = Life::of("a.md").write("user", "a\n").delete("ada").write("user", "other\n");
    assert!(stays(anew.outcome()).contains("created it again"));
    assert_eq!(Life::of("a.md").write("ada", "a\n").delete("user").outcome(), None);
    let renamed = Life::of("a.md").write("user", "a\n").rename("ada", "b.md").rename("user", "c.md");
    assert_eq!(renamed.outcome(), None, "the person's name for it stays");
    let in_the_way = Life::of("taken.md").write("user", "a\n").rename("ada", "b.md");
    assert!(stays(in_the_way.outcome()).contains("another file has this name"));
    let mut unseen = Life::of("a.md").write("user", "a\nb\nc\n").write("ada", "A\nb\nc\n");
    unseen.now = Some("A\nb\nC\n".into());
    assert_eq!(unseen.outcome(), put("a\nb\nC\n"), "an edit that has no version yet");
}

#[test]
fn versions_that_are_no_longer_stored_are_never_guessed() {
    let mut life = Life::of("a.md").write("user", "a\n").delete("ada").write("user", "b\n").write("ada", "c\n");
    life.story.entries.remove(2);
    assert!(
        stays(life.undo_from(2).map(|plan| plan.outcome)).contains("no longer stored"),
        "the text before hers is missing"
    );
    life.story.entries.drain(..2);
    assert!(stays(life.outcome()).contains("no longer stored"));
}

#[test]
fn a_text_first_stored_on_deletion_existed_before_it() {
    let version = |number, time_ms, author: &str| crate::store::FileVersion {
        number,
        time_ms,
        author: author.into(),
        activation: None,
        order_key: None,
        chars: 1,
    };
    let act = |time_ms, by: &str, deed| TimelineEntry { time_ms, by: by.into(), activation: None, action: deed };
    let gone = act(10, "ada", FileAction::Deleted);
    let acts = super::agent_history::joined(vec![gone.clone()], vec![version(1, 9, "outside")]);
    assert_eq!(acts[1], gone, "{acts:?}");
    // The order of the log counts, whatever the clock said when it was written.
    let anew = act(11, "bob", FileAction::Wrote { version: 2, is_new: true });
    let acts =
        super::agent_history::joined(vec![gone.clone(), anew], vec![version(2, 10, "bob"), version(1, 9, "outside")]);
    assert_eq!((acts.len(), &acts[1], &acts[2].action), (3, &gone, &FileAction::Wrote { version: 2, is_new: true }));
}

/// An edit: removes lines, and inserts unique lines.
type Turn = (bool, u8, Vec<(usize, bool)>);

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let changes = proptest::collection::vec((0..20_usize, any::<bool>()), 1..4);
    proptest::collection::vec((any::<bool>(), 0..12_u8, changes), 1..12)
}

fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// Builds a file whose lines say who inserted them and when. Also records the lines of persons that must not be lost.
fn lived(turns: &[Turn]) -> Life {
    let mut life = Life::of("a.md").write("user", &(0..8).map(|n| format!("first {n}\n")).collect::<String>());
    for (at, (is_agent, fate, changes)) in turns.iter().enumerate() {
        let by = if *is_agent { "ada" } else { "user" };
        if *fate == 0 && life.now.is_some() {
            life = life.delete(by);
            continue;
        }
        let mut now: Vec<String> = life.now.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
        for (nth, (place, is_added)) in changes.iter().enumerate() {
            let place = place % (now.len() + 1);
            if *is_added || place >= now.len() {
                now.insert(place, format!("{by} {at} {nth}"));
            } else {
                now.remove(place);
            }
        }
        let text = now.iter().map(|line| format!("{line}\n")).collect::<String>();
        if life.now.as_deref() != Some(&*text) {
            life = life.write(by, &text);
        }
    }
    life
}

proptest! {
    #[test]
    fn undoing_keeps_all_lines_of_others_and_removes_the_agents(turns in turns(), since in 0..8_u64) {
        let life = lived(&turns);
        let Some(plan) = life.undo_from(since) else { return Ok(()) };
        let now = life.now.clone().unwrap_or_default();
        let after = plan.after().unwrap_or_default().to_owned();
        for line in lines(&now) {
            let is_persons = line.starts_with("user") || line.starts_with("first");
            prop_assert!(!is_persons || lines(&after).contains(line), "{line:?} is lost: {plan:?}");
        }
        if plan.changes() {
            let written = |line: &&str| line.starts_with("ada");
            let before: BTreeSet<String> = life.story.entries.iter().filter(|act| act.time_ms < since)
                .filter_map(|act| match act.action { FileAction::Wrote { version, .. } => Some(version), _ => None })
                .flat_map(|version| life.texts[version as usize - 1].lines().map(str::to_owned)).collect();
            for line in lines(&after).into_iter().filter(written) {
                prop_assert!(before.contains(line), "{line:?} of hers is still there: {plan:?}");
            }
        }
    }

    #[test]
    fn undoing_restores_the_previous_text_if_nobody_else_wrote_since(turns in turns(), since in 1..8_u64) {
        let mut life = lived(&turns);
        for act in life.story.entries.iter_mut().filter(|act| act.time_ms >= since) {
            act.by = "ada".into();
        }
        let Some(first) = life.story.entries.iter().position(|act| act.time_ms >= since) else { return Ok(()) };
        let before = match life.story.entries[first - 1].action {
            FileAction::Wrote { version, .. } => Some(life.texts[version as usize - 1].clone()),
            _ => None,
        };
        let plan = life.undo_from(since);
        prop_assert_eq!(plan.as_ref().map_or(life.now.as_deref(), FilePlan::after), before.as_deref(), "{:?}", plan);
    }

    #[test]
    fn reverting_an_undo_restores_everything(turns in turns(), since in 0..8_u64) {
        let life = lived(&turns);
        let Some(plan) = life.undo_from(since) else { return Ok(()) };
        let back = revert(plan.after(), plan.now.as_deref(), plan.after());
        let back = back.flatten();
        prop_assert_eq!(back.as_deref(), life.now.as_deref());
    }
}

/// A workspace in which agents and a person wrote through the service, with its state.
struct UndoWorkspace {
    folder: tempfile::TempDir,
    orders: u32,
}

impl UndoWorkspace {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made"), orders: 0 }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn dir(&self) -> std::path::PathBuf {
        self.root().join(".workshop")
    }

    fn act(&mut self, by: &str, activation: &str, operation: FileOperation) {
        let service = FileService::open(FileServiceOptions::new(self.root())).expect("the files can be opened");
        self.orders += 1;
        let order = FileOrder {
            key: format!("order-{}", self.orders).into(),
            author: Author(by.into()),
            activation: Some(activation.into()),
            operation,
            rights: FileRights::default(),
            cause: Seq(1),
            worktree: None,
        };
        service.send(order).expect("there is room");
        let outcome = service.next(std::time::Duration::from_secs(20)).expect("it answers");
        outcome.result.expect("it can be done");
    }

    fn write(&mut self, by: &str, activation: &str, path: &str, text: &str) {
        self.act(by, activation, FileOperation::Write { path: path.into(), content: text.into() });
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    fn pasts(&self) -> AgentHistories {
        AgentHistories::read(self.root(), &self.dir()).expect("the history can be read")
    }
}

/// A workspace in which Ada had two activations while the person wrote, too.
fn busy() -> UndoWorkspace {
    let mut fixture = UndoWorkspace::new();
    fixture.write("user", "x", "notes/a.md", "one\ntwo\nthree\n");
    fixture.write("ada", "act-1", "notes/a.md", "one\n2\nthree\n");
    fixture.write("ada", "act-1", "notes/new.md", "hers\n");
    fixture.write("bob", "act-2", "notes/b.md", "his\n");
    fixture.write("ada", "act-3", "notes/b.md", "ours\n");
    fixture.write("user", "x", "notes/a.md", "one\n2\nthree\nmine\n");
    fixture
}

#[test]
fn restore_points_are_activations_newest_first() {
    let fixture = busy();
    let agents = fixture.pasts().agents();
    let told: Vec<(&str, Vec<&str>)> = agents
        .iter()
        .map(|past| (&*past.agent, past.points.iter().filter_map(|point| point.activation.as_deref()).collect()))
        .collect();
    assert_eq!(told, [("ada", vec!["act-3", "act-1"]), ("bob", vec!["act-2"])]);
    let files: Vec<(&str, usize)> =
        agents[0].points[1].files.iter().map(|(path, count)| (path.as_str(), *count)).collect();
    assert_eq!(files, [("notes/a.md", 1), ("notes/new.md", 1)]);
}

#[test]
fn files_are_restored_as_the_person_and_that_can_be_reverted() {
    for is_room_open in [false, true] {
        let fixture = busy();
        let _room = is_room_open.then(|| crate::store::Store::open(&fixture.dir()).expect("the history can be held"));
        let pasts = fixture.pasts();
        let since = pasts.points("ada")[1].first_ms;
        let plan = pasts.plan("ada", since);
        let changed: Vec<(&str, Option<&str>)> =
            plan.files.iter().map(|file| (file.path_after(), file.after())).collect();
        let wanted =
            [("notes/a.md", Some("one\ntwo\nthree\nmine\n")), ("notes/b.md", Some("his\n")), ("notes/new.md", None)];
        assert_eq!(changed, wanted);
        fs::write(fixture.root().join("notes/b.md"), "edited meanwhile\n").expect("files can be written");
        let (undone, not_done) = apply_plan(fixture.root(), &fixture.dir(), &plan, None).expect("it can be undone");
        assert_eq!((undone.files.len(), not_done.len()), (3, 1), "{not_done:?}");
        assert_eq!(not_done[0].path, "notes/b.md");
        assert_eq!(fixture.text("notes/a.md").as_deref(), Some("one\ntwo\nthree\nmine\n"));
        assert_eq!(fixture.text("notes/b.md").as_deref(), Some("edited meanwhile\n"));
        assert_eq!(fixture.text("notes/new.md"), None);

        fs::write(fixture.root().join("notes/a.md"), "one\ntwo\nthree\nmine\nand more\n").expect("it can be written");
        let (back, not_done) = revert_latest(fixture.root(), &fixture.dir()).expect("it should be undoable");
        assert_eq!(back.number, undone.number);
        assert_eq!(not_done.len(), 1, "{not_done:?}");
        assert_eq!(fixture.text("notes/a.md").as_deref(), Some("one\n2\nthree\nmine\nand more\n"));
        assert_eq!(fixture.text("notes/b.md").as_deref(), Some("edited meanwhile\n"));
        assert_eq!(fixture.text("notes/new.md").as_deref(), Some("hers\n"));
        assert!(matches!(revert_latest(fixture.root(), &fixture.dir()), Err(UndoError::Nothing)));
        let (again, _) =
            toggle_undone(fixture.root(), &fixture.dir(), undone.number, None).expect("it can be done again");
        assert!(!again.is_taken_back);
        assert_eq!(fixture.text("notes/a.md").as_deref(), Some("one\ntwo\nthree\nmine\nand more\n"));
        assert_eq!(fixture.text("notes/new.md"), None);
    }
}

#[test]
fn a_kill_between_two_files_is_repaired_by_undoing_again() {
    let fixture = busy();
    let plan = fixture.pasts().plan("ada", 0);
    let only = UndoPlan { files: vec![plan.files[0].clone()], ..plan.clone() };
    apply_plan(fixture.root(), &fixture.dir(), &only, None).expect("it can be undone");
    // As if all files had been recorded, and the program had been killed before it changed the last one.
    let record = fixture.dir().join("undone/000001.json");
    let mut undone: UndoRecord =
        serde_json::from_str(&fs::read_to_string(&record).expect("it should exist")).expect("json");
    undone.files.extend(plan.files[1..].iter().map(|file| UndoneFile {
        path: file.path.clone(),
        to: None,
        before: file.now.clone(),
        after: file.after().map(str::to_owned),
    }));
    fs::write(&record, serde_json::to_string(&undone).expect("json")).expect("files can be written");
    let (_, not_done) = revert_latest(fixture.root(), &fixture.dir()).expect("it should be undoable");
    assert_eq!(not_done, []);
    assert_eq!(fixture.text("notes/a.md").as_deref(), Some("one\n2\nthree\nmine\n"));
    assert_eq!(fixture.text("notes/new.md").as_deref(), Some("hers\n"));
    assert_eq!(fixture.text("notes/b.md").as_deref(), Some("ours\n"));
}

#[test]
fn a_difference_has_the_format_of_a_patch() {
    let diff = unified_diff(("a.md", "a.md"), Some("one\ntwo\n"), Some("one\n2\n"));
    assert_eq!(diff, "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert!(unified_diff(("a.md", "a.md"), None, Some("x\n")).starts_with("--- /dev/null\n+++ b/a.md\n"));
}
