//! Turns actions in the explorer into commands with their inverses.

use super::dialogs::{FileDialog, NewFile, Renaming};
use super::templates::Template;
use super::tree::RowTarget;
use super::{Explorer, templates, texts};
use crate::base::Id;
use crate::base::paths::{file_name, folder_of};
use crate::ui::Command;
use crate::ui::commands::{FilesCommand, GraphCommand, RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::workspace::vfs::{FileKind, FileOperation};
use crate::workspace::workflow_templates;

/// An action that waits for a result.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Pending {
    /// Create `to` as a copy once the text of `from` has been read.
    Copy { from: String, to: String },
    /// Open `path` once the file operation with this key has finished.
    Open { order: Id, path: String },
}

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

fn file_act(cx: &ViewerContext<'_>, operation: FileOperation) -> RoomAct {
    RoomAct::File(cx.ui.file_command(operation))
}

/// Makes one command of the changes, which are undone together.
fn command_of(mut acts: Acts) -> Vec<Command> {
    match acts.len() {
        0 => Vec::new(),
        1 => acts.pop().map(|(act, inverse)| Command::Act(act, inverse)).into_iter().collect(),
        _ => vec![Command::Acts(acts)],
    }
}

impl Explorer {
    /// Executes a file command.
    pub(super) fn perform(&mut self, ask: FilesCommand, cx: &ViewerContext<'_>) -> Vec<Command> {
        match ask {
            FilesCommand::Open(paths) => self.open(paths),
            FilesCommand::New(folder) => {
                let new = NewFile::in_folder(&folder, |path| self.tree.existing(path).is_some());
                self.open_dialog(FileDialog::New(new))
            }
            FilesCommand::Rename(path) => {
                if self.refuse_unsaved(&path, cx) {
                    return Vec::new();
                }
                self.open_dialog(FileDialog::Rename(Renaming::of_file(&path)))
            }
            FilesCommand::RenameFolder(folder) => {
                let below = self.tree.files_below(&folder);
                if below.iter().any(|path| self.refuse_unsaved(path, cx)) {
                    return Vec::new();
                }
                self.open_dialog(FileDialog::Rename(Renaming::of_folder(&folder, below)))
            }
            FilesCommand::Duplicate(paths) => self.duplicate(paths),
            FilesCommand::Delete(paths) => {
                let is_certain = paths.len() < 2 && !paths.iter().any(|path| cx.is_unsaved(path));
                if is_certain { self.delete(paths, cx) } else { self.open_dialog(FileDialog::Delete(paths)) }
            }
            FilesCommand::DeleteSurely(paths) => self.delete(paths, cx),
            FilesCommand::Restore(paths) => self.restore(paths, cx),
            FilesCommand::Move(paths, folder) => self.move_into(paths, &folder, cx),
            FilesCommand::GivePaths(pairs) => self.rename_files(pairs, cx),
            FilesCommand::Make(path, text) => self.create_file(path, text, cx),
            FilesCommand::NewEmptyWorkflow => self.new_empty_workflow(cx),
            FilesCommand::NewWorkflow(template) => self.new_workflow(template, cx),
            FilesCommand::Find => {
                self.wants_filter = true;
                Vec::new()
            }
            // Handled by the drawing code, which has access to the clipboard.
            FilesCommand::CopyPaths(_) => Vec::new(),
            FilesCommand::FoldAll(folds) => {
                let all = self.tree.folder_paths().map(str::to_owned);
                self.remembered.folded = if folds { all.collect() } else { Default::default() };
                Vec::new()
            }
        }
    }

    /// Executes the pending actions whose results have arrived.
    pub(super) fn run_pending(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut commands = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            match &pending {
                Pending::Copy { from, to } => match cx.ui.texts.text(from).cloned() {
                    None => self.pending.push(pending),
                    Some(Ok(Some(read))) => {
                        let is_agent = crate::agent::formats::format_of(to).is_some();
                        let text = if is_agent { templates::with_id(&read.text, to) } else { read.text.to_string() };
                        commands.extend(self.create_file(to.clone(), text, cx));
                    }
                    Some(Ok(None)) => self.notify(texts::copied_file_is_gone(from), false),
                    Some(Err(why)) => self.notify(texts::could_not_be_copied(from, &why), false),
                },
                Pending::Open { order, path } => match cx.recent.order(order) {
                    None => self.pending.push(pending),
                    Some(Ok(())) => commands.extend(self.open(vec![path.clone()])),
                    // The code that executes file operations reports failures.
                    Some(Err(_)) => {}
                },
            }
        }
        commands
    }

    fn open_dialog(&mut self, dialog: FileDialog) -> Vec<Command> {
        self.dialog = Some(dialog);
        Vec::new()
    }

    /// Opens files and selects the last.
    fn open(&mut self, paths: Vec<String>) -> Vec<Command> {
        if let Some(last) = paths.last() {
            self.choose(last);
        }
        for path in &paths {
            self.mark_seen(path);
        }
        paths.into_iter().map(|path| Command::OpenFile(path, None)).collect()
    }

    /// Returns true and notifies the user if a file has unsaved changes: they would stay behind under the old path.
    fn refuse_unsaved(&mut self, path: &str, cx: &ViewerContext<'_>) -> bool {
        let is_unsaved = cx.is_unsaved(path);
        if is_unsaved {
            self.notify(texts::save_first(path), false);
        }
        is_unsaved
    }

    fn create_file(&mut self, path: String, text: String, cx: &ViewerContext<'_>) -> Vec<Command> {
        let save = cx.ui.file_command(FileOperation::Save { path: path.clone(), base: None, content: text });
        self.pending.push(Pending::Open { order: save.key.clone(), path: path.clone() });
        if let Some(seen) = &mut self.remembered.seen {
            seen.insert(path.clone(), 1);
        }
        let inverse = file_act(cx, FileOperation::Delete { path });
        vec![Command::Act(RoomAct::File(save), Some(inverse))]
    }

    /// Creates a workflow without steps and opens it in the graph, where steps can be drawn.
    fn new_empty_workflow(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        let template = Template::Workflow;
        let path = template.free_path("workflows", template.default_stem(), |path| self.tree.existing(path).is_some());
        let save = FileOperation::Save { path: path.clone(), base: None, content: template.text(&path) };
        let inverse = file_act(cx, FileOperation::Delete { path: path.clone() });
        let shows = GraphCommand::ShowWorkflow { path: Some(path), runs: false };
        vec![Command::Act(file_act(cx, save), Some(inverse)), shows.into()]
    }

    /// Creates a workflow from a template along with the agents that it needs and that do not exist, undone as one.
    /// Opens it in the graph.
    fn new_workflow(&mut self, template: &str, cx: &ViewerContext<'_>) -> Vec<Command> {
        let Some(template) = workflow_templates::find(template) else {
            self.notify(texts::no_such_template(template), false);
            return Vec::new();
        };
        let path = templates::free_path(&template.path(), |path| self.tree.existing(path).is_some());
        let agents =
            workflow_templates::agents(&template).into_iter().filter(|(path, _)| self.tree.existing(path).is_none());
        let files = std::iter::once((path.clone(), template.text_at(&path))).chain(agents);
        let acts = files.map(|(path, content)| {
            let inverse = file_act(cx, FileOperation::Delete { path: path.clone() });
            (file_act(cx, FileOperation::Save { path, base: None, content }), Some(inverse))
        });
        let mut commands = command_of(acts.collect());
        commands.push(GraphCommand::ShowWorkflow { path: Some(path), runs: false }.into());
        commands
    }

    fn duplicate(&mut self, paths: Vec<String>) -> Vec<Command> {
        for from in paths.into_iter().filter(|path| self.tree.existing(path).is_some()) {
            let is_planned =
                |path: &str| self.pending.iter().any(|other| matches!(other, Pending::Copy { to, .. } if to == path));
            let to = templates::free_path(&from, |path| self.tree.existing(path).is_some() || is_planned(path));
            self.pending.push(Pending::Copy { from, to });
        }
        Vec::new()
    }

    fn delete(&mut self, paths: Vec<String>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut acts = Vec::new();
        for path in paths {
            let Some(file) = self.tree.existing(&path) else { continue };
            if file.kind == FileKind::Session {
                self.notify(texts::own_record(&path), false);
                continue;
            }
            let version = file.version;
            let delete = file_act(cx, FileOperation::Delete { path: path.clone() });
            let inverse = (version > 0).then(|| file_act(cx, FileOperation::Restore { path, version }));
            acts.push((delete, inverse));
        }
        command_of(acts)
    }

    fn restore(&mut self, paths: Vec<String>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut acts = Vec::new();
        for path in paths {
            let Some(file) = self.tree.info(&path).filter(|file| !file.is_there && file.version > 0) else { continue };
            let restore = FileOperation::Restore { path: path.clone(), version: file.version };
            let restore = file_act(cx, restore);
            acts.push((restore, Some(file_act(cx, FileOperation::Delete { path }))));
        }
        command_of(acts)
    }

    fn move_into(&mut self, paths: Vec<String>, folder: &str, cx: &ViewerContext<'_>) -> Vec<Command> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for path in paths.into_iter().filter(|path| folder_of(path) != folder) {
            let to = format!("{prefix}{}", file_name(&path));
            let is_taken = self.tree.existing(&to).is_some() || pairs.iter().any(|(_, other)| *other == to);
            if is_taken {
                self.notify(texts::already_exists(&to), false);
            } else if !self.refuse_unsaved(&path, cx) {
                pairs.push((path, to));
            }
        }
        self.rename_files(pairs, cx)
    }

    fn rename_files(&mut self, pairs: Vec<(String, String)>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut acts = Vec::new();
        for (from, to) in pairs {
            let rename = file_act(cx, FileOperation::Rename { from: from.clone(), to: to.clone() });
            let inverse = file_act(cx, FileOperation::Rename { from: to.clone(), to: from.clone() });
            acts.push((rename, Some(inverse)));
        }
        command_of(acts)
    }

    /// Moves the state of a renamed file to its new path.
    pub(super) fn follow_rename(&mut self, from: &str, to: &str) {
        if let Some(seen) = &mut self.remembered.seen
            && let Some(version) = seen.get(from).copied()
        {
            seen.insert(to.to_owned(), version);
        }
        if self.selected.remove(from) {
            self.selected.insert(to.to_owned());
        }
        if self.active == Some(RowTarget::File(from.to_owned())) {
            self.active = Some(RowTarget::File(to.to_owned()));
        }
    }

    /// Queues a command of the window for the next frame.
    pub(super) fn ask(&mut self, command: FilesCommand) {
        match command {
            FilesCommand::Find => self.wants_filter = true,
            command => self.queued.push(command),
        }
    }

    pub(super) fn notify(&mut self, text: String, is_good: bool) {
        self.out.push(WindowCommand::Tell(text, is_good).into());
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
