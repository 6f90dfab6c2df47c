//! Tests of the explorer's commands and their inverses.

use std::sync::Arc;

use super::super::tree::tests::{deleted_file, file};
use super::*;
use crate::orchestration::workflow::format::NO_STEPS;
use crate::ui::UiState;
use crate::ui::shell::window_commands::follow_rename;
use crate::ui::state::file_texts::TextRead;
use crate::ui::testing::{PaneHarness, sample_room};
use crate::workspace::vfs::FileInfo;

/// An explorer in a window without a screen.
struct TestExplorer(PaneHarness);

fn window(files: Vec<FileInfo>) -> TestExplorer {
    let mut bench = TestExplorer(PaneHarness::new(sample_room(), UiState::default()));
    bench.with_files(files);
    bench
}

impl TestExplorer {
    fn with_files(&mut self, files: Vec<FileInfo>) {
        self.0.state.texts.files = Some(Ok(Arc::new(files)));
        self.update();
    }

    fn update(&mut self) {
        self.0.with_context(|cx, panes| panes.pane_mut::<Explorer>().update(cx));
    }

    fn explorer(&mut self) -> &mut Explorer {
        self.0.parts.pane_mut::<Explorer>()
    }

    /// Runs commands of the window itself and returns the others.
    fn done(&mut self, commands: Vec<Command>) -> Vec<Command> {
        let mut all = std::mem::take(&mut self.explorer().out);
        all.extend(commands);
        self.0.run(all);
        std::mem::take(&mut self.0.commands)
    }

    fn perform(&mut self, ask: FilesCommand) -> Vec<Command> {
        let commands = self.0.with_context(|cx, panes| panes.pane_mut::<Explorer>().perform(ask, cx));
        self.done(commands)
    }

    fn run_pending(&mut self) -> Vec<Command> {
        let commands = self.0.with_context(|cx, panes| panes.pane_mut::<Explorer>().run_pending(cx));
        self.done(commands)
    }

    fn choose(&mut self, path: &str) {
        self.explorer().choose(path);
        self.done(Vec::new());
        self.update();
    }

    fn has_notice(&self, words: &str) -> bool {
        self.0.state.notices.outcomes().iter().any(|notice| notice.text.contains(words))
    }
}

fn sample() -> TestExplorer {
    window(vec![
        file("agents/ada.md", 2),
        file("artifacts/plan.md", 5),
        file("new.md", 0),
        deleted_file("old.md", 3),
        file("sessions/act-1.md", 0),
    ])
}

/// Returns the file operations and their inverses.
fn operations(commands: &[Command]) -> Vec<(FileOperation, Option<FileOperation>)> {
    let of = |act: &RoomAct| match act {
        RoomAct::File(command) => command.operation.clone(),
        other => panic!("{other:?}"),
    };
    let pair = |(act, back): &(RoomAct, Option<RoomAct>)| (of(act), back.as_ref().map(of));
    let all = commands.iter().flat_map(|command| match command {
        Command::Act(act, back) => vec![pair(&(act.clone(), back.clone()))],
        Command::Acts(acts) => acts.iter().map(pair).collect(),
        _ => Vec::new(),
    });
    all.collect()
}

fn delete(path: &str) -> FileOperation {
    FileOperation::Delete { path: path.into() }
}

fn restore(path: &str, version: u64) -> FileOperation {
    FileOperation::Restore { path: path.into(), version }
}

fn rename(from: &str, to: &str) -> FileOperation {
    FileOperation::Rename { from: from.into(), to: to.into() }
}

#[test]
fn undoing_a_deletion_restores_the_newest_version() {
    let mut bench = sample();
    for (path, back) in [("artifacts/plan.md", Some(restore("artifacts/plan.md", 5))), ("new.md", None)] {
        let commands = bench.perform(FilesCommand::Delete(vec![path.into()]));
        assert_eq!(operations(&commands), [(delete(path), back)]);
    }
    for path in ["old.md", "nowhere.md", "sessions/act-1.md"] {
        assert_eq!(bench.perform(FilesCommand::Delete(vec![path.into()])), []);
    }
    assert!(bench.has_notice("own record"));
}

#[test]
fn deleting_several_files_needs_confirmation_and_is_undone_as_one() {
    let mut bench = sample();
    let both = vec!["agents/ada.md".to_owned(), "artifacts/plan.md".to_owned()];
    assert_eq!(bench.perform(FilesCommand::Delete(both.clone())), []);
    assert_eq!(bench.explorer().dialog, Some(FileDialog::Delete(both.clone())));
    let commands = bench.perform(FilesCommand::DeleteSurely(both));
    assert!(matches!(&commands[..], [Command::Acts(acts)] if acts.len() == 2), "{commands:?}");
    let back: Vec<_> = operations(&commands).into_iter().filter_map(|(_, back)| back).collect();
    assert_eq!(back, [restore("agents/ada.md", 2), restore("artifacts/plan.md", 5)]);
}

#[test]
fn a_deleted_file_is_restored_to_its_last_version() {
    let mut bench = sample();
    let paths = vec!["old.md".to_owned(), "artifacts/plan.md".to_owned()];
    let commands = bench.perform(FilesCommand::Restore(paths));
    assert_eq!(
        operations(&commands),
        [(restore("old.md", 3), Some(delete("old.md")))],
        "existing files are not restored"
    );
}

#[test]
fn files_are_moved_into_a_folder_unless_the_name_is_taken() {
    let mut bench = window(vec![file("a.md", 1), file("b/a.md", 1), file("c.md", 1), file("d/c.md", 1)]);
    let paths = ["a.md", "c.md", "b/a.md"].map(str::to_owned).to_vec();
    let commands = bench.perform(FilesCommand::Move(paths, "b".into()));
    assert_eq!(operations(&commands), [(rename("c.md", "b/c.md"), Some(rename("b/c.md", "c.md")))]);
    assert!(bench.has_notice("b/a.md already exists"));
    let both = vec!["c.md".to_owned(), "d/c.md".to_owned()];
    let commands = bench.perform(FilesCommand::Move(both, "e".into()));
    assert_eq!(operations(&commands).len(), 1, "two files of the same name are not moved to one path");
}

#[test]
fn the_selection_is_kept_until_a_rename_has_happened() {
    let mut bench = sample();
    bench.choose("artifacts/plan.md");
    bench.perform(FilesCommand::GivePaths(vec![("artifacts/plan.md".to_owned(), "plan.md".to_owned())]));
    assert_eq!(bench.0.state.selection.file(), Some("artifacts/plan.md"));
    assert!(bench.explorer().selected.contains("artifacts/plan.md"), "the result is not known yet");
}

#[test]
fn the_state_of_a_file_follows_its_rename() {
    let mut bench = sample();
    bench.choose("artifacts/plan.md");
    let PaneHarness { state, parts, .. } = &mut bench.0;
    follow_rename("artifacts/plan.md", "plan.md", state, parts);
    assert_eq!(state.selection.file(), Some("plan.md"));
    bench.with_files(vec![file("agents/ada.md", 2), file("plan.md", 5)]);
    assert!(bench.explorer().selected.contains("plan.md"));
    assert!(!bench.explorer().is_changed(&file("plan.md", 5)), "a renamed file does not count as changed");
}

#[test]
fn a_copy_is_created_once_the_original_was_read() {
    let mut bench = sample();
    let twice = vec!["agents/ada.md".to_owned(), "artifacts/plan.md".to_owned(), "nowhere.md".to_owned()];
    assert_eq!(bench.perform(FilesCommand::Duplicate(twice)), []);
    assert_eq!(bench.run_pending(), [], "no text was read yet");
    let text = |text: &str| Ok(Some(TextRead::new(text)));
    bench.0.state.texts.texts.insert("agents/ada.md".into(), text("---\nid: ada\n---\n"));
    bench.0.state.texts.texts.insert("artifacts/plan.md".into(), Err("it is no UTF-8 text".into()));
    let commands = bench.run_pending();
    let save =
        FileOperation::Save { path: "agents/ada-2.md".into(), base: None, content: "---\nid: \"ada-2\"\n---\n".into() };
    assert_eq!(operations(&commands), [(save, Some(delete("agents/ada-2.md")))]);
    assert!(bench.has_notice("no UTF-8"));
    // The copy is opened once it exists.
    assert_eq!(bench.run_pending(), []);
    let Command::Act(RoomAct::File(order), _) = &commands[0] else { panic!("{commands:?}") };
    bench.0.recent.record_file_outcomes([(order.key.clone(), Ok(()))]);
    let opened = bench.run_pending();
    assert_eq!(opened, [Command::OpenFile("agents/ada-2.md".into(), None)]);
    assert_eq!(bench.run_pending(), []);
}

#[test]
fn a_file_that_could_not_be_created_is_not_opened() {
    let mut bench = sample();
    let commands = bench.perform(FilesCommand::Make("x.md".into(), String::new()));
    let Command::Act(RoomAct::File(order), _) = &commands[0] else { panic!("{commands:?}") };
    bench.0.recent.record_file_outcomes([(order.key.clone(), Err("the disk is full".to_owned()))]);
    assert_eq!(bench.run_pending(), []);
    assert!(bench.explorer().pending.is_empty());
}

#[test]
fn every_file_operation_has_a_unique_key() {
    let mut bench = sample();
    let mut commands = bench.perform(FilesCommand::Restore(vec!["old.md".into()]));
    commands.extend(bench.perform(FilesCommand::Delete(vec!["artifacts/plan.md".into()])));
    let mut keys = Vec::new();
    for command in &commands {
        let Command::Act(RoomAct::File(act), Some(RoomAct::File(back))) = command else { panic!("{command:?}") };
        keys.extend([act.key.clone(), back.key.clone()]);
    }
    let unique: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(unique.len(), 4);
}

#[test]
fn all_folders_can_be_collapsed_and_expanded() {
    let mut bench = sample();
    bench.perform(FilesCommand::FoldAll(true));
    bench.update();
    assert_eq!(bench.explorer().tree.rows().len(), 3 + 1 + 1, "three folders, a file beside them and the bin");
    bench.perform(FilesCommand::FoldAll(false));
    bench.update();
    assert_eq!(bench.explorer().tree.rows().len(), 3 + 4 + 1);
}

#[test]
fn a_workflow_template_adds_missing_agents_and_is_undone_as_one() {
    let files = vec![file("workflows/chain.md", 1), file("agents/writer.md", 1)];
    let mut window = window(files);
    let asked = window.perform(FilesCommand::NewWorkflow("chain"));
    let [Command::Acts(acts)] = &asked[..] else { panic!("{asked:?}") };
    let saved = |act: &RoomAct| match act {
        RoomAct::File(command) => match &command.operation {
            FileOperation::Save { path, content, .. } => {
                (path.clone(), content.lines().nth(1).unwrap_or_default().to_owned())
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let saved: Vec<(String, String)> = acts.iter().map(|(act, _)| saved(act)).collect();
    let paths: Vec<&str> = saved.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths[0], "workflows/chain-2.md");
    assert_eq!(saved[0].1, "name: Chain 2");
    assert!(paths.contains(&"agents/researcher.md") && !paths.contains(&"agents/writer.md"), "{paths:?}");
    assert!(acts.iter().all(|(_, back)| back.is_some()));
}

#[test]
fn an_empty_workflow_gets_an_unused_path_and_opens_in_the_graph() {
    let mut window = window(vec![file("workflows/new-workflow.md", 1)]);
    let asked = window.perform(FilesCommand::NewEmptyWorkflow);
    let [Command::Act(RoomAct::File(save), Some(RoomAct::File(back)))] = &asked[..] else { panic!("{asked:?}") };
    let path = "workflows/new-workflow-2.md".to_owned();
    let FileOperation::Save { path: saved, base: None, content } = &save.operation else { panic!("{save:?}") };
    assert_eq!(*saved, path);
    let problems = crate::orchestration::workflow::format::read(saved, content).problems;
    assert_eq!(problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>(), [NO_STEPS]);
    assert_eq!(back.operation, FileOperation::Delete { path });
}
