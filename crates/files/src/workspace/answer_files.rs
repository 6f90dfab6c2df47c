//! A person's answers to approvals, stored as files in `.workshop/answers/` by commands without a window. A running
//! room applies them within a moment, because the workspace's watcher also watches this folder; a closed room applies
//! them when it is next opened. Agents may not write there.
//!
//! A file is kept until the effect of the answer is on disk, so that a kill in between does not lose the answer.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::AllowScope;

/// The folder of the answers, in `.workshop/`.
const FOLDER: &str = "answers";
/// The maximum number of pending answers.
const MAX_FILES: usize = 1_000;
/// The maximum size of an answer in bytes.
const MAX_BYTES: u64 = 16_384;

/// A person's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the approval.
    pub id: String,
    /// The path of the scene in which the approval was requested.
    pub scene: String,
    /// Whether the action is allowed.
    pub allow: bool,
    /// How far the permission extends.
    #[serde(default, skip_serializing_if = "AllowScope::is_once")]
    pub scope: AllowScope,
    /// The person's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The values of a form, by field, if the approval requested one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// Why an answer could not be saved.
#[derive(Debug, Error)]
pub enum AnswerError {
    /// The approval already has a different answer.
    #[error("{} was already answered: {}", .0.id, if .0.allow { "allowed" } else { "refused" })]
    Answered(Answer),
    /// There are too many pending answers.
    #[error("{MAX_FILES} answers are already waiting; open the workspace to apply them")]
    TooMany,
    /// The answer could not be written.
    #[error("{path} could not be written: {source}")]
    Write {
        /// The path of the file.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

/// Stores an answer for the room in its `.workshop` folder. Only the first answer to an approval counts.
pub fn store(state_folder: &Path, answer: &Answer) -> Result<(), AnswerError> {
    let folder = state_folder.join(FOLDER);
    let file = folder.join(&answer.id);
    let failed = |source| AnswerError::Write { path: file.display().to_string(), source };
    make_folder(&folder).map_err(failed)?;
    let there = list(&folder);
    if let Some(Some(before)) = there.get(&answer.id) {
        return Err(AnswerError::Answered(before.clone()));
    }
    if there.len() >= MAX_FILES {
        return Err(AnswerError::TooMany);
    }
    let text = serde_json::to_string(answer).map_err(|error| failed(error.into()))?;
    // The file must be new, so that a link of this name is not followed.
    let mut written = OpenOptions::new().write(true).create_new(true).open(&file).map_err(failed)?;
    written.write_all(text.as_bytes()).and_then(|()| written.sync_all()).map_err(failed)
}

/// Returns the pending answers in a `.workshop` folder, by the id of the approval.
pub fn pending(state_folder: &Path) -> BTreeMap<String, Answer> {
    let answers = list(&state_folder.join(FOLDER));
    answers.into_iter().filter_map(|(id, answer)| Some((id, answer?))).collect()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir_all(folder) {
        Ok(()) if is_folder(folder) => Ok(()),
        Ok(()) => Err(io::Error::new(ErrorKind::NotADirectory, "it is a link")),
        Err(error) => Err(error),
    }
}

/// Whether this is a real folder and not a link.
fn is_folder(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Lists the files in the folder by name, with `None` for one that cannot be read (yet).
fn list(folder: &Path) -> BTreeMap<String, Option<Answer>> {
    if !is_folder(folder) {
        return BTreeMap::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let names = entries.flatten().take(MAX_FILES).filter_map(|entry| entry.file_name().into_string().ok());
    names.map(|name| (name.clone(), read(&folder.join(&name), &name))).collect()
}

fn read(file: &Path, name: &str) -> Option<Answer> {
    // Reading a pipe could block forever, and a link could lead anywhere.
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok().filter(|answer: &Answer| answer.id == name)
}

/// The pending answers of a running room: filled by the watcher, emptied by the room.
#[derive(Resource)]
pub struct AnswerFolder {
    folder: PathBuf,
    waiting: Arc<Mutex<VecDeque<Answer>>>,
    /// The names of received answers, whose files are deleted once their effect is on disk.
    taken: Vec<String>,
}

impl AnswerFolder {
    /// Opens the answers of this scene's room, and creates their watcher. Existing answers are applied in the first
    /// tick.
    pub fn open(state_folder: &Path, scene: &str) -> (Self, AnswerWatcher) {
        let folder = state_folder.join(FOLDER);
        let waiting = Arc::new(Mutex::new(VecDeque::new()));
        let look = AnswerWatcher {
            folder: folder.clone(),
            scene: scene.to_owned(),
            seen: HashSet::new(),
            waiting: Arc::clone(&waiting),
        };
        (Self { folder, waiting, taken: Vec::new() }, look)
    }

    /// Whether there are pending answers.
    pub fn has_news(&self) -> bool {
        !lock(&self.waiting).is_empty()
    }

    /// Removes and returns the pending answers.
    pub fn take_pending(&mut self) -> Vec<Answer> {
        let answers: Vec<Answer> = lock(&self.waiting).drain(..).collect();
        self.taken.extend(answers.iter().map(|answer| answer.id.clone()));
        answers
    }

    /// Deletes the files of all received answers, whose effect is now on disk.
    pub fn finish(self) {
        for id in self.taken {
            if let Err(error) = fs::remove_file(self.folder.join(&id))
                && error.kind() != ErrorKind::NotFound
            {
                tracing::warn!("the answer to {id} was applied, but its file could not be removed: {error}");
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The watcher's side of an [`AnswerFolder`].
pub struct AnswerWatcher {
    folder: PathBuf,
    scene: String,
    seen: HashSet<String>,
    waiting: Arc<Mutex<VecDeque<Answer>>>,
}

impl AnswerWatcher {
    /// Returns the folder of the answers once it exists; `None` if something else is in its place.
    pub(super) fn folder(&self) -> Option<&Path> {
        is_folder(&self.folder).then_some(&self.folder)
    }

    /// Whether a path is in the folder of the answers; if so, the folder is read.
    pub(super) fn is_about(&mut self, path: &Path) -> bool {
        let is_here = path.starts_with(&self.folder);
        if is_here {
            self.once();
        }
        is_here
    }

    /// Passes on the answers that are new since the last call. One that cannot be read yet is tried again.
    pub(super) fn once(&mut self) {
        let there = list(&self.folder);
        self.seen.retain(|id| there.contains_key(id));
        for (id, answer) in there {
            if let Some(answer) = answer.filter(|answer| answer.scene == self.scene)
                && self.seen.insert(id)
            {
                lock(&self.waiting).push_back(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str, allow: bool) -> Answer {
        let (scope, because) = (AllowScope::Task, Some("it is fine".to_owned()));
        let fields = BTreeMap::new();
        Answer { id: id.into(), scene: "scenes/studio.yaml".into(), allow, scope, because, fields }
    }

    #[test]
    fn the_first_answer_counts_and_is_delivered_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        store(folder.path(), &answer("7-1-0-abcd", true)).expect("it can be kept");
        let again = store(folder.path(), &answer("7-1-0-abcd", false)).expect_err("it is answered");
        assert!(again.to_string().contains("allowed"), "{again}");
        let elsewhere = Answer { scene: "scenes/other.yaml".into(), ..answer("8-1-0-abcd", true) };
        store(folder.path(), &elsewhere).expect("it can be kept");

        let (mut answers, mut look) = AnswerFolder::open(folder.path(), "scenes/studio.yaml");
        look.once();
        look.once();
        assert_eq!(answers.take_pending(), [answer("7-1-0-abcd", true)]);
        assert_eq!(pending(folder.path()).len(), 2);
    }

    #[test]
    fn files_are_deleted_when_they_are_finished_and_not_before() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        store(folder.path(), &answer("7-1-0-abcd", false)).expect("it can be kept");
        let taken = |finish: bool| {
            let (mut answers, mut look) = AnswerFolder::open(folder.path(), "scenes/studio.yaml");
            look.once();
            assert_eq!(answers.take_pending(), [answer("7-1-0-abcd", false)]);
            if finish {
                answers.finish();
            }
        };
        taken(false);
        taken(true);
        assert!(pending(folder.path()).is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn links_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let outside = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join(FOLDER);
        fs::create_dir_all(&path).expect("it can be made");
        let secret = outside.path().join("secret");
        fs::write(&secret, serde_json::to_string(&answer("7-1-0-abcd", true)).expect("plain data")).expect("written");
        std::os::unix::fs::symlink(&secret, path.join("7-1-0-abcd")).expect("links can be made");
        fs::write(path.join("8-1-0-abcd"), "{ half").expect("it can be written");
        assert!(pending(folder.path()).is_empty());
        assert!(store(folder.path(), &answer("7-1-0-abcd", false)).is_err(), "a link is not written through");

        fs::remove_dir_all(&path).expect("it can be removed");
        std::os::unix::fs::symlink(outside.path(), &path).expect("links can be made");
        assert!(matches!(store(folder.path(), &answer("9-1-0-abcd", true)), Err(AnswerError::Write { .. })));
        assert_eq!(fs::read_dir(outside.path()).expect("it should exist").count(), 1);
    }
}
