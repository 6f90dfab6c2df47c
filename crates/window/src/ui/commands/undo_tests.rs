//! Tests of the undo history: order, steps that cannot be undone, and the answers to file operations.

use bevy::math::Vec2;

use super::*;
use crate::element::ElementCommand;
use crate::workspace::vfs::TextOrigin;

fn to(x: f32) -> RoomAct {
    RoomAct::Element(ElementCommand::Move { element: "rules".into(), position: Vec2::new(x, 0.0) })
}

/// A step of moves with these inverses.
fn step(acts: &[(f32, &[f32])]) -> Step {
    let acts = acts.iter().map(|(x, back)| StepAct::new(to(*x), back.iter().map(|x| to(*x)).collect()));
    Step { acts: acts.collect(), ..Step::of("Move House rules") }
}

fn file(key: &str, operation: FileOperation) -> RoomAct {
    RoomAct::File(FileCommand { key: key.into(), operation })
}

fn delete(key: &str) -> RoomAct {
    file(key, FileOperation::Delete { path: "a.md".into() })
}

fn deleted(version: u64) -> Result<FileAnswer, String> {
    let done = FileResult::Deleted { path: "a.md".into(), version };
    Ok(FileAnswer::Changed { done, conflict_with: Vec::new() })
}

fn written(version: u64, is_new: bool) -> Result<FileAnswer, String> {
    let done = FileResult::Written { path: "a.md".into(), version, chars: 1, is_new, content: None };
    Ok(FileAnswer::Changed { done, conflict_with: Vec::new() })
}

impl History {
    fn undo_at(&mut self, now_secs: f64) -> Result<Reversal, Stop> {
        self.undo(now_secs, |act| act, |_| None)
    }

    fn undone(&mut self) -> Vec<RoomAct> {
        self.undo_at(0.0).map(|reversal| reversal.acts).unwrap_or_default()
    }

    fn redone(&mut self) -> Vec<RoomAct> {
        self.redo(|act| act).map(|reversal| reversal.acts).unwrap_or_default()
    }
}

#[test]
fn changes_are_undone_last_first_and_redone() {
    let mut history = History::default();
    history.note(step(&[(1.0, &[0.0]), (2.0, &[1.0])]));
    history.note(step(&[(3.0, &[2.0])]));
    assert_eq!(history.undone(), [to(2.0)]);
    assert_eq!(history.undone(), [to(1.0), to(0.0)]);
    assert_eq!(history.undo_at(0.0), Err(Stop::Nothing));
    assert_eq!(history.redone(), [to(1.0), to(2.0)]);
    history.note(step(&[(9.0, &[2.0])]));
    assert_eq!(history.redone(), [], "another change was made meanwhile");
}

#[test]
fn a_step_that_cannot_be_undone_stops_the_undo_and_names_the_one_before() {
    checks_rule!("undo-stops-at-what-cannot-be-undone");
    let mut history = History::default();
    history.note(Step { label: "Move House rules".into(), ..step(&[(1.0, &[0.0])]) });
    for label in ["Give Ada a task", "Give Bram a task"] {
        history.note(Step { acts: vec![StepAct::irreversible(to(5.0), "it was given")], ..Step::of(label) });
    }
    let stop = Err(Stop::Cannot {
        label: "Give Bram a task".into(),
        why: "it was given".into(),
        before: Some("Move House rules".into()),
    });
    for now_secs in [0.0, 0.4, 0.9] {
        assert_eq!(history.undo_at(now_secs), stop, "a held key changes nothing");
    }
    let reversal = history.undo_at(2.0).expect("another press goes on with the step that was named");
    assert_eq!((reversal.label.as_str(), reversal.acts), ("Move House rules", vec![to(0.0)]));
    assert_eq!(history.undo_at(3.0), Err(Stop::Nothing));
}

#[test]
fn what_only_sends_something_leaves_the_redo_as_it_was() {
    let mut history = History::default();
    history.note(step(&[(1.0, &[0.0])]));
    history.undone();
    history.note(Step { acts: vec![StepAct::irreversible(to(5.0), "it was sent")], ..Step::of("Send a message") });
    assert_eq!(history.redone(), [to(1.0)]);
    assert_eq!(history.undone(), [to(0.0)], "it is the newest step again");
    history.redone();
    history.note(Step { acts: vec![StepAct::new(delete("1"), Vec::new())], ..Step::of("Delete a.md") });
    assert_eq!(history.redone(), []);
}

#[test]
fn a_new_step_is_announced_even_right_after_a_stop() {
    let mut history = History::default();
    history.note(step(&[(1.0, &[0.0])]));
    let blocked = || Step { acts: vec![StepAct::irreversible(to(5.0), "it was given")], ..Step::of("Give a task") };
    history.note(blocked());
    assert!(history.undo_at(0.0).is_err());
    history.note(blocked());
    assert!(matches!(history.undo_at(9.0), Err(Stop::Cannot { .. })));
}

#[test]
fn a_deletion_is_undone_with_the_version_that_its_answer_names() {
    for given in [None, Some(file("back", FileOperation::Restore { path: "a.md".into(), version: 3 }))] {
        let mut history = History::default();
        history.note(step(&[(1.0, &[0.0])]));
        let act = match given {
            Some(back) => StepAct::new(delete("1"), vec![back]),
            None => StepAct::irreversible(delete("1"), "it is still being deleted"),
        };
        history.note(Step { acts: vec![act], ..Step::of("Delete a.md") });
        assert_eq!(history.note_answer(&"1".into(), &deleted(4)), None);
        let restore = file("1", FileOperation::Restore { path: "a.md".into(), version: 4 });
        assert_eq!(history.undone(), [restore]);
    }
    let mut history = History::default();
    history.note(step(&[(1.0, &[0.0])]));
    history.note(Step { acts: vec![StepAct::new(delete("1"), Vec::new())], ..Step::of("Delete a.md") });
    history.note_answer(&"1".into(), &deleted(0));
    assert!(matches!(history.undo_at(0.0), Err(Stop::Cannot { label, .. }) if label == "Delete a.md"));
}

#[test]
fn an_operation_that_did_nothing_is_no_step() {
    let unchanged = Ok(FileAnswer::Unchanged { path: "a.md".into(), version: 2 });
    for answer in [Err("the disk is full".to_owned()), unchanged] {
        let mut history = History::default();
        history.note(step(&[(1.0, &[0.0])]));
        history.note(Step { acts: vec![StepAct::new(delete("1"), Vec::new())], ..Step::of("Delete a.md") });
        history.note_answer(&"1".into(), &answer);
        assert_eq!(history.len(), (1, 0));
    }
}

#[test]
fn a_restored_version_is_undone_only_while_the_file_is_as_it_was_left() {
    let restore = |key: &str, version| file(key, FileOperation::Restore { path: "a.md".into(), version });
    let mut history = History::default();
    history.note(Step { acts: vec![StepAct::new(restore("1", 2), Vec::new())], ..Step::of("Restore a.md") });
    history.note_answer(&"1".into(), &written(6, false));
    let changed = |done: &StepAct| done.version.filter(|version| *version < 7).map(|_| "it changed".to_owned());
    assert!(matches!(history.undo(0.0, |act| act, changed), Err(Stop::Cannot { why, .. }) if why == "it changed"));
    assert_eq!(history.undone(), [restore("1", 5)]);
    let mut history = History::default();
    history.note(Step { acts: vec![StepAct::new(restore("1", 2), Vec::new())], ..Step::of("Restore a.md") });
    history.note_answer(&"1".into(), &written(6, true));
    assert_eq!(history.undone(), [delete("1")], "it was deleted before");
}

#[test]
fn a_failed_undo_is_told_and_stops_the_next_one() {
    let mut history = History::default();
    history.note(step(&[(1.0, &[0.0])]));
    let save = |key: &str| file(key, FileOperation::Save { path: "a.md".into(), base: Some(1), content: "x".into() });
    history.note(Step { acts: vec![StepAct::new(save("1"), vec![save("2")])], ..Step::of("Edit a.md") });
    history.note_answer(&"1".into(), &written(2, false));
    assert_eq!(history.undone(), [save("2")]);
    let reversed = history.note_answer(&"2".into(), &Err("it was changed in the meantime".to_owned()));
    let failure = Some("it was changed in the meantime".to_owned());
    assert_eq!(reversed, Some(Reversed { label: "Edit a.md".into(), is_undo: true, failure }));
    assert!(matches!(history.undo_at(0.0), Err(Stop::Cannot { label, .. }) if label == "Edit a.md"));
    assert_eq!(history.len(), (2, 0), "the older step is untouched");
}

#[test]
fn a_complete_undo_of_files_is_told_once() {
    let mut history = History::default();
    let acts = ["1", "2"].map(|key| StepAct::new(delete(key), vec![delete(&format!("back {key}"))]));
    history.note(Step { acts: acts.to_vec(), ..Step::of("Delete both") });
    history.undone();
    assert_eq!(history.note_answer(&"back 1".into(), &written(3, true)), None);
    let reversed = history.note_answer(&"back 2".into(), &written(3, true));
    assert_eq!(reversed, Some(Reversed { label: "Delete both".into(), is_undo: true, failure: None }));
}

#[test]
fn added_files_are_removed_by_undo_and_restored_by_redo() {
    let mut history = History::default();
    let files = vec![NewFile { path: "agents/zoe.md".into(), version: Some(1), hash: 7, origin: TextOrigin::Copy }];
    history.note(Step { files: files.clone(), ..Step::of("Import zoe.md") });
    assert_eq!(history.undo_at(0.0).map(|reversal| reversal.files), Ok(files.clone()));
    assert_eq!(history.redo(|act| act).map(|reversal| reversal.files), Some(files));
}

#[test]
fn repeated_nudges_of_the_same_elements_are_one_step() {
    let mut history = History::default();
    let nudge = |to: f32, from: f32| Step { nudged: vec!["rules".into()], ..step(&[(to, &[from])]) };
    history.note(nudge(1.0, 0.0));
    history.note(nudge(2.0, 1.0));
    assert_eq!(history.len(), (1, 0));
    assert_eq!(history.undone(), [to(0.0)]);
    assert_eq!(history.redone(), [to(2.0)]);
    history.note(nudge(3.0, 2.0));
    assert_eq!(history.len(), (2, 0), "a redone step is complete");
}

#[test]
fn the_number_of_steps_is_bounded() {
    let mut history = History::default();
    for x in 0..MAX_STEPS + 50 {
        history.note(step(&[(x as f32 + 1.0, &[x as f32])]));
    }
    assert_eq!((0..).take_while(|_| history.undo_at(0.0).is_ok()).count(), MAX_STEPS);
}
