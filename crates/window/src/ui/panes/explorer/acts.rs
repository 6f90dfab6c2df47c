//! What a person asks the explorer for, as commands: looked up in the tree, with what takes it back.

use super::questions::{NewFile, Question, Renaming};
use super::tree::{folder_of, name_of};
use super::{Explorer, templates};
use crate::base::Id;
use crate::ui::commands::RoomAct;
use crate::ui::commands::keys;
use crate::ui::panes::canvas;
use crate::ui::panes::shelf;
use crate::ui::state::dock::Tab;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::recent::Recent;
use crate::workspace::vfs::{FileKind, FileOperation};

/// Something that is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// To open files in tabs.
    Open(Vec<String>),
    /// To open files in the programs that the system has for them.
    OpenOutside(Vec<String>),
    /// To make a file, in this folder.
    New(String),
    /// To give a file another path.
    Rename(String),
    /// To give a folder another path.
    RenameFolder(String),
    /// To make a second one of each.
    Duplicate(Vec<String>),
    /// To take files away.
    Delete(Vec<String>),
    /// The same, after it was asked whether that is meant.
    DeleteSurely(Vec<String>),
    /// To bring files from elsewhere into this folder.
    Import(String),
    /// To show something in the room.
    ShowInRoom(Thing),
    /// To put an agent of this profile into the room.
    AddToRoom(Id),
    /// To show a file on a rulebook in the room.
    AddRulebook(String),
    /// To open a scene, by its stem.
    OpenScene(String),
    /// To have files back.
    Restore(Vec<String>),
    /// To put files into a folder.
    Move(Vec<String>, String),
    /// To give files other paths: from and to.
    GivePaths(Vec<(String, String)>),
    /// To make a file with this text.
    Make(String, String),
    /// To fold all folders, or to unfold them.
    FoldAll(bool),
}

/// Something that is done as soon as something else is known.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Pending {
    /// A second file is made when the text of the first is read.
    Copy { from: String, to: String },
    /// A file is opened when the order that makes it is carried out.
    Open { order: Id, path: String },
}

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

fn file_act(state: &mut UiState, operation: FileOperation) -> RoomAct {
    RoomAct::File(state.file_command(operation))
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
    pub(super) fn perform(&mut self, ask: Ask, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
        match ask {
            Ask::Open(paths) => self.open(paths, state),
            Ask::OpenOutside(paths) => paths.into_iter().map(Command::OpenOutside).collect(),
            Ask::New(folder) => {
                let new = NewFile::in_folder(&folder, |path| self.tree.there(path).is_some());
                self.ask_question(Question::New(new))
            }
            Ask::Rename(path) => {
                if self.refuses(&path, state) {
                    return Vec::new();
                }
                self.ask_question(Question::Rename(Renaming::of_file(&path)))
            }
            Ask::RenameFolder(folder) => {
                let below = self.tree.below(&folder);
                if below.iter().any(|path| self.refuses(path, state)) {
                    return Vec::new();
                }
                self.ask_question(Question::Rename(Renaming::of_folder(&folder, below)))
            }
            Ask::Duplicate(paths) => self.duplicate(paths),
            Ask::Delete(paths) => {
                let is_certain = paths.len() < 2 && !paths.iter().any(|path| state.studio.editors.is_unsaved(path));
                if is_certain { self.delete(paths, state) } else { self.ask_question(Question::Delete(paths)) }
            }
            Ask::DeleteSurely(paths) => self.delete(paths, state),
            Ask::Import(folder) => {
                self.wants_import = Some(folder);
                Vec::new()
            }
            Ask::ShowInRoom(thing) => {
                state.selected = [thing].into();
                state.rope = None;
                keys::frame(room, state);
                vec![Command::Show(Tab::Room)]
            }
            Ask::AddToRoom(profile) => {
                let place = canvas::spawn_place(room, state.camera.middle, false);
                vec![canvas::add_agent(room, &profile, place)]
            }
            Ask::AddRulebook(path) => {
                vec![shelf::rulebook_of(room, &path, state.camera.middle), Command::Show(Tab::Room)]
            }
            Ask::OpenScene(stem) => vec![Command::OpenScene(stem)],
            Ask::Restore(paths) => self.restore(paths, state),
            Ask::Move(paths, folder) => self.move_into(paths, &folder, state),
            Ask::GivePaths(pairs) => self.give_paths(pairs, state),
            Ask::Make(path, text) => self.make(path, text, state),
            Ask::FoldAll(folds) => {
                let all = self.tree.folder_paths().map(str::to_owned);
                self.remembered.folded = if folds { all.collect() } else { Default::default() };
                Vec::new()
            }
        }
    }

    /// Does what waited for something that is known now.
    pub(super) fn go_on(&mut self, recent: &Recent, state: &mut UiState) -> Vec<Command> {
        let mut commands = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            match &pending {
                Pending::Copy { from, to } => match state.studio.library.text(from).cloned() {
                    None => self.pending.push(pending),
                    Some(Ok(Some(read))) => {
                        let is_agent = crate::agent::formats::format_of(to).is_some();
                        let text = if is_agent { templates::with_id(&read.text, to) } else { read.text.to_string() };
                        commands.extend(self.make(to.clone(), text, state));
                    }
                    Some(Ok(None)) => state.tell(format!("{from} is gone, so that nothing could be copied."), false),
                    Some(Err(why)) => state.tell(format!("{from} could not be copied: {why}"), false),
                },
                Pending::Open { order, path } => match recent.order(order) {
                    None => self.pending.push(pending),
                    Some(Ok(())) => commands.extend(self.open(vec![path.clone()], state)),
                    // Whoever carries orders out says what went wrong.
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
    fn open(&mut self, paths: Vec<String>, state: &mut UiState) -> Vec<Command> {
        if let Some(last) = paths.last() {
            self.choose(last, state);
        }
        for path in &paths {
            self.mark_seen(path);
        }
        paths.into_iter().map(|path| Command::OpenFile(path, None)).collect()
    }

    /// A file that is not saved keeps its path: what was written would be left behind.
    fn refuses(&self, path: &str, state: &mut UiState) -> bool {
        let is_unsaved = state.studio.editors.is_unsaved(path);
        if is_unsaved {
            state.tell(format!("Save {path} first: what you wrote into it would be left behind."), false);
        }
        is_unsaved
    }

    fn make(&mut self, path: String, text: String, state: &mut UiState) -> Vec<Command> {
        let save = state.file_command(FileOperation::Save { path: path.clone(), base: None, content: text });
        self.pending.push(Pending::Open { order: save.key.clone(), path: path.clone() });
        if let Some(seen) = &mut self.remembered.seen {
            seen.insert(path.clone(), 1);
        }
        let back = file_act(state, FileOperation::Delete { path });
        vec![Command::Act(RoomAct::File(save), Some(back))]
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

    fn delete(&mut self, paths: Vec<String>, state: &mut UiState) -> Vec<Command> {
        let mut acts = Vec::new();
        for path in paths {
            let Some(file) = self.tree.there(&path) else { continue };
            if file.kind == FileKind::Session {
                state.tell(format!("{path} is the program's own record and stays."), false);
                continue;
            }
            let version = file.version;
            let delete = file_act(state, FileOperation::Delete { path: path.clone() });
            let back = (version > 0).then(|| file_act(state, FileOperation::Restore { path, version }));
            acts.push((delete, back));
        }
        command_of(acts)
    }

    fn restore(&mut self, paths: Vec<String>, state: &mut UiState) -> Vec<Command> {
        let mut acts = Vec::new();
        for path in paths {
            let Some(file) = self.tree.info(&path).filter(|file| !file.is_there && file.version > 0) else { continue };
            let restore = FileOperation::Restore { path: path.clone(), version: file.version };
            let restore = file_act(state, restore);
            acts.push((restore, Some(file_act(state, FileOperation::Delete { path }))));
        }
        command_of(acts)
    }

    fn move_into(&mut self, paths: Vec<String>, folder: &str, state: &mut UiState) -> Vec<Command> {
        let lead = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for path in paths.into_iter().filter(|path| folder_of(path) != folder) {
            let to = format!("{lead}{}", name_of(&path));
            let is_taken = self.tree.there(&to).is_some() || pairs.iter().any(|(_, other)| *other == to);
            if is_taken {
                state.tell(format!("{to} is there already. Rename one of the two first."), false);
            } else if !self.refuses(&path, state) {
                pairs.push((path, to));
            }
        }
        self.give_paths(pairs, state)
    }

    fn give_paths(&mut self, pairs: Vec<(String, String)>, state: &mut UiState) -> Vec<Command> {
        let mut acts = Vec::new();
        for (from, to) in pairs {
            let forth = file_act(state, FileOperation::Rename { from: from.clone(), to: to.clone() });
            let back = file_act(state, FileOperation::Rename { from: to.clone(), to: from.clone() });
            acts.push((forth, Some(back)));
            self.follow_path(&from, &to, state);
        }
        command_of(acts)
    }

    /// What was known of a file goes with it.
    fn follow_path(&mut self, from: &str, to: &str, state: &mut UiState) {
        if let Some(seen) = &mut self.remembered.seen
            && let Some(version) = seen.get(from).copied()
        {
            seen.insert(to.to_owned(), version);
        }
        if self.selected.remove(from) {
            self.selected.insert(to.to_owned());
        }
        if state.studio.chosen_file.as_deref() == Some(from) {
            state.studio.chosen_file = Some(to.to_owned());
        }
    }
}

#[cfg(test)]
#[path = "acts_tests.rs"]
mod tests;
