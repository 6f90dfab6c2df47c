//! Turns actions in the explorer into commands with their inverses.

use super::dialogs::{NewFile, Question, Renaming};
use super::templates::Template;
use super::tree::{RowTarget, folder_of, name_of};
use super::{Explorer, templates, texts};
use crate::base::Id;
use crate::ui::Command;
use crate::ui::commands::{FilesCommand, RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::workspace::vfs::{FileKind, FileOperation};
use crate::workspace::workflow_templates;

/// Something that is done as soon as something else is known.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Pending {
    /// A second file is made when the text of the first is read.
    Copy { from: String, to: String },
    /// A file is opened when the order that makes it is carried out.
    Open { order: Id, path: String },
}

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

fn file_act(cx: &ViewerContext<'_>, operation: FileOperation) -> RoomAct {
    RoomAct::File(cx.ui.file_command(operation))
}

/// One change, or several that are taken back as one.
fn command_of(mut acts: Acts) -> Vec<Command> {
    match acts.len() {
        0 => Vec::new(),
        1 => acts.pop().map(|(act, back)| Command::Act(act, back)).into_iter().collect(),
        _ => vec![Command::Acts(acts)],
    }
}

impl Explorer {
    /// Does what is asked for.
    pub(super) fn perform(&mut self, ask: FilesCommand, cx: &ViewerContext<'_>) -> Vec<Command> {
        match ask {
            FilesCommand::Open(paths) => self.open(paths),
            FilesCommand::New(folder) => {
                let new = NewFile::in_folder(&folder, |path| self.tree.there(path).is_some());
                self.ask_question(Question::New(new))
            }
            FilesCommand::Rename(path) => {
                if self.refuses(&path, cx) {
                    return Vec::new();
                }
                self.ask_question(Question::Rename(Renaming::of_file(&path)))
            }
            FilesCommand::RenameFolder(folder) => {
                let below = self.tree.below(&folder);
                if below.iter().any(|path| self.refuses(path, cx)) {
                    return Vec::new();
                }
                self.ask_question(Question::Rename(Renaming::of_folder(&folder, below)))
            }
            FilesCommand::Duplicate(paths) => self.duplicate(paths),
            FilesCommand::Delete(paths) => {
                let is_certain = paths.len() < 2 && !paths.iter().any(|path| cx.is_unsaved(path));
                if is_certain { self.delete(paths, cx) } else { self.ask_question(Question::Delete(paths)) }
            }
            FilesCommand::DeleteSurely(paths) => self.delete(paths, cx),
            FilesCommand::Restore(paths) => self.restore(paths, cx),
            FilesCommand::Move(paths, folder) => self.move_into(paths, &folder, cx),
            FilesCommand::GivePaths(pairs) => self.give_paths(pairs, cx),
            FilesCommand::Make(path, text) => self.make(path, text, cx),
            FilesCommand::NewEmptyWorkflow => self.new_empty_workflow(cx),
            FilesCommand::NewWorkflow(template) => self.new_workflow(template, cx),
            FilesCommand::Find => {
                self.wants_filter = true;
                Vec::new()
            }
            // The drawing code has access to the clipboard.
            FilesCommand::CopyPaths(_) => Vec::new(),
            FilesCommand::FoldAll(folds) => {
                let all = self.tree.folder_paths().map(str::to_owned);
                self.remembered.folded = if folds { all.collect() } else { Default::default() };
                Vec::new()
            }
        }
    }

    /// Does what waited for something that is known now.
    pub(super) fn run_pending(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut commands = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            match &pending {
                Pending::Copy { from, to } => match cx.ui.texts.text(from).cloned() {
                    None => self.pending.push(pending),
                    Some(Ok(Some(read))) => {
                        let is_agent = crate::agent::formats::format_of(to).is_some();
                        let text = if is_agent { templates::with_id(&read.text, to) } else { read.text.to_string() };
                        commands.extend(self.make(to.clone(), text, cx));
                    }
                    Some(Ok(None)) => self.notify(texts::copied_file_is_gone(from), false),
                    Some(Err(why)) => self.notify(texts::could_not_be_copied(from, &why), false),
                },
                Pending::Open { order, path } => match cx.recent.order(order) {
                    None => self.pending.push(pending),
                    Some(Ok(())) => commands.extend(self.open(vec![path.clone()])),
                    // The code that performs the operations reports failures.
                    Some(Err(_)) => {}
                },
            }
        }
        commands
    }

    fn ask_question(&mut self, question: Question) -> Vec<Command> {
        self.question = Some(question);
        Vec::new()
    }

    /// Opens files; the last is the one that is chosen.
    fn open(&mut self, paths: Vec<String>) -> Vec<Command> {
        if let Some(last) = paths.last() {
            self.choose(last);
        }
        for path in &paths {
            self.mark_seen(path);
        }
        paths.into_iter().map(|path| Command::OpenFile(path, None)).collect()
    }

    /// A file that is not saved keeps its path: what was written would be left behind.
    fn refuses(&mut self, path: &str, cx: &ViewerContext<'_>) -> bool {
        let is_unsaved = cx.is_unsaved(path);
        if is_unsaved {
            self.notify(texts::save_first(path), false);
        }
        is_unsaved
    }

    fn make(&mut self, path: String, text: String, cx: &ViewerContext<'_>) -> Vec<Command> {
        let save = cx.ui.file_command(FileOperation::Save { path: path.clone(), base: None, content: text });
        self.pending.push(Pending::Open { order: save.key.clone(), path: path.clone() });
        if let Some(seen) = &mut self.remembered.seen {
            seen.insert(path.clone(), 1);
        }
        let back = file_act(cx, FileOperation::Delete { path });
        vec![Command::Act(RoomAct::File(save), Some(back))]
    }

    /// A workflow without steps, shown in the graph, in which they are drawn.
    fn new_empty_workflow(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        let template = Template::Workflow;
        let path = template.free_path("workflows", template.first_stem(), |path| self.tree.there(path).is_some());
        let save = FileOperation::Save { path: path.clone(), base: None, content: template.text(&path) };
        let back = file_act(cx, FileOperation::Delete { path: path.clone() });
        let shows = WindowCommand::ShowWorkflow { path: Some(path), runs: false };
        vec![Command::Act(file_act(cx, save), Some(back)), shows.into()]
    }

    /// A workflow from a template, with the agents that it names and that are not there, all taken back as one. It is
    /// shown in the graph.
    fn new_workflow(&mut self, template: &str, cx: &ViewerContext<'_>) -> Vec<Command> {
        let Some(template) = workflow_templates::find(template) else {
            self.notify(texts::no_such_template(template), false);
            return Vec::new();
        };
        let path = templates::free_path(&template.path(), |path| self.tree.there(path).is_some());
        let agents =
            workflow_templates::agents(&template).into_iter().filter(|(path, _)| self.tree.there(path).is_none());
        let files = std::iter::once((path.clone(), template.text_at(&path))).chain(agents);
        let acts = files.map(|(path, content)| {
            let back = file_act(cx, FileOperation::Delete { path: path.clone() });
            (file_act(cx, FileOperation::Save { path, base: None, content }), Some(back))
        });
        let mut commands = command_of(acts.collect());
        commands.push(WindowCommand::ShowWorkflow { path: Some(path), runs: false }.into());
        commands
    }

    fn duplicate(&mut self, paths: Vec<String>) -> Vec<Command> {
        for from in paths.into_iter().filter(|path| self.tree.there(path).is_some()) {
            let is_meant =
                |path: &str| self.pending.iter().any(|other| matches!(other, Pending::Copy { to, .. } if to == path));
            let to = templates::free_path(&from, |path| self.tree.there(path).is_some() || is_meant(path));
            self.pending.push(Pending::Copy { from, to });
        }
        Vec::new()
    }

    fn delete(&mut self, paths: Vec<String>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut acts = Vec::new();
        for path in paths {
            let Some(file) = self.tree.there(&path) else { continue };
            if file.kind == FileKind::Session {
                self.notify(texts::own_record(&path), false);
                continue;
            }
            let version = file.version;
            let delete = file_act(cx, FileOperation::Delete { path: path.clone() });
            let back = (version > 0).then(|| file_act(cx, FileOperation::Restore { path, version }));
            acts.push((delete, back));
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
        let lead = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for path in paths.into_iter().filter(|path| folder_of(path) != folder) {
            let to = format!("{lead}{}", name_of(&path));
            let is_taken = self.tree.there(&to).is_some() || pairs.iter().any(|(_, other)| *other == to);
            if is_taken {
                self.notify(texts::already_exists(&to), false);
            } else if !self.refuses(&path, cx) {
                pairs.push((path, to));
            }
        }
        self.give_paths(pairs, cx)
    }

    fn give_paths(&mut self, pairs: Vec<(String, String)>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let mut acts = Vec::new();
        for (from, to) in pairs {
            let forth = file_act(cx, FileOperation::Rename { from: from.clone(), to: to.clone() });
            let back = file_act(cx, FileOperation::Rename { from: to.clone(), to: from.clone() });
            acts.push((forth, Some(back)));
        }
        command_of(acts)
    }

    /// A file has another path now: what was known of it goes with it.
    pub fn follow_rename(&mut self, from: &str, to: &str) {
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

    /// Does what a command of the window asks of it, in the next frame.
    pub fn ask(&mut self, command: FilesCommand) {
        match command {
            FilesCommand::Find => self.wants_filter = true,
            command => self.asked.push(command),
        }
    }

    pub(super) fn notify(&mut self, text: String, is_good: bool) {
        self.out.push(WindowCommand::Tell(text, is_good).into());
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
