//! Changes of files outside of the room: a person's imports, drops, new scenes and their undo, and memories that are
//! written for an agent. Each is an order that is executed once and never overwrites someone else's text; texts have
//! versions.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::files::{FileChanged, FileContent};
use super::super::layout;
use super::executor::Executor;
use super::order::{FileAnswer, FileFailure, FileOperation, FileOrder, FileResult, FileRights};
use super::path::WorkspacePath;
use super::resolve::PathError;
use super::service_events::{OutsideChange, ServiceEvent};
use crate::base::hash::content_hash;
use crate::base::{Author, Seq};
use crate::safe_fs;

/// Creates a file in a workspace that no service has open. Links are not followed, and an existing file is left alone.
pub fn write_new(workspace: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    safe_fs::write_new(workspace, path, |mut file| file.write_all(bytes))
}

/// A file that a person added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewFile {
    /// The path of the file.
    pub path: String,
    /// The number of its version; `None` if none is kept because it is not text or the workspace is not open.
    pub version: Option<u64>,
    /// The hash of its content.
    pub hash: u64,
}

impl Executor {
    /// Creates a new file for the person, and reports it to the world.
    pub(super) fn create(&mut self, path: &str, bytes: &[u8]) -> io::Result<NewFile> {
        let path = WorkspacePath::new(path).map_err(|why| io::Error::new(ErrorKind::InvalidInput, why.to_string()))?;
        match self.root.metadata(&path) {
            Err(PathError::Missing) => {}
            Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
            Err(trouble) => return Err(io::Error::other(trouble.message(path.as_str()))),
        }
        let most = self.limits.bytes_at_most(&path);
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= most);
        let version = match text {
            Some(text) => self.create_text(&path, text)?,
            // Bytes that cannot be kept as a version are written all the same, since they are the person's.
            None => {
                self.create_bytes(&path, bytes, most)?;
                None
            }
        };
        Ok(NewFile { path: path.as_str().to_owned(), version, hash: content_hash(bytes) })
    }

    fn create_text(&mut self, path: &WorkspacePath, text: &str) -> io::Result<Option<u64>> {
        let save = FileOperation::Save { path: path.as_str().into(), base: None, content: text.to_owned() };
        match self.change_for_user(save) {
            Ok(FileAnswer::Changed { done: FileResult::Written { version, .. }, .. }) => Ok(Some(version)),
            Ok(_) => Ok(None),
            Err(_) if self.root.metadata(path).is_ok() => Err(ErrorKind::AlreadyExists.into()),
            Err(failure) => Err(io::Error::other(failure.what)),
        }
    }

    fn create_bytes(&mut self, path: &WorkspacePath, bytes: &[u8], most: u64) -> io::Result<()> {
        let (count, total) = self.used();
        let beyond = (bytes.len() as u64).saturating_sub(most);
        let allowed = self.limits.allow(path, most.min(bytes.len() as u64), None, count, total + beyond);
        allowed.map_err(io::Error::other)?;
        write_new(self.root.path(), path.as_str(), bytes)?;
        if let Ok(found) = self.root.metadata(path) {
            self.index.note(path.as_str(), &found);
            self.note_changed(path.as_str());
        }
        self.report(&Author::user(), path.as_str(), None, None);
        Ok(())
    }

    /// The program itself is about to write a new file for the person: until it is written, nobody examines it.
    pub(super) fn begin_export(&mut self, path: &str) {
        self.ignored.insert(path.to_owned());
    }

    /// The file was written, and is reported as the person's; or it could not be.
    pub(super) fn end_export(&mut self, path: &str) {
        self.ignored.remove(path);
        let Ok(path) = WorkspacePath::new(path) else { return };
        if let Ok(found) = self.root.metadata(&path) {
            self.index.note(path.as_str(), &found);
            self.note_changed(path.as_str());
            self.report(&Author::user(), path.as_str(), None, None);
        }
    }

    /// Performs a person's operation that does not come from the room, and reports it to the world.
    pub(super) fn change_for_user(&mut self, operation: FileOperation) -> Result<FileAnswer, FileFailure> {
        self.change_beside_room(Author::user(), operation)
    }

    /// Performs an operation from outside of the room, on someone's behalf, and reports it to the world.
    pub(super) fn change_beside_room(
        &mut self,
        author: Author,
        operation: FileOperation,
    ) -> Result<FileAnswer, FileFailure> {
        // Every such operation is unique and never sent twice.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.changes_beside_room += 1;
        let order = FileOrder {
            key: format!("beside-{}-{}", since_1970.as_nanos(), self.changes_beside_room).into(),
            author: author.clone(),
            activation: None,
            operation,
            rights: FileRights::default(),
            cause: Seq(0),
            worktree: None,
        };
        let answer = self.execute(&order).result?;
        if let FileAnswer::Changed { done, .. } = &answer {
            match done {
                FileResult::Written { path, version, content, .. } => {
                    let content = content.clone().map(FileContent::Text);
                    self.report(&author, path, content, Some(*version));
                }
                FileResult::Deleted { path, .. } => self.report(&author, path, Some(FileContent::Removed), None),
                FileResult::Renamed { from, to, content } => {
                    self.report(&author, from, Some(FileContent::Removed), None);
                    self.report(&author, to, content.clone().map(FileContent::Text), None);
                }
            }
        }
        Ok(answer)
    }

    /// Reports a change of a file by `by` to the world.
    fn report(&self, by: &Author, path: &str, content: Option<FileContent>, version: Option<u64>) {
        let path = path.to_owned();
        let is_gone = content == Some(FileContent::Removed);
        self.news.push(match content.filter(|_| layout::is_used_by_room(&path) && self.room.is_some()) {
            Some(content) => {
                let by = by.clone();
                let change = FileChanged::new(path, content);
                ServiceEvent::Changed(FileChanged { version, by, is_ordered: true, is_seen: true, ..change })
            }
            None => {
                let by = Some(by.0.clone());
                let version = version.unwrap_or(0);
                ServiceEvent::Outside(OutsideChange { path, version, is_gone, displaced_by: None, by, program: None })
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::history::FileHistory;
    use super::super::limits::FileLimits;
    use super::super::room_files::RoomFiles;
    use super::*;

    #[test]
    fn an_added_file_is_a_version_of_the_person_and_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = folder.path().join(".workshop");
        let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        files.room = Some(RoomFiles::new(folder.path(), &std::collections::BTreeMap::new(), true));
        files.create("agents/zoe.md", b"You are Zoe.").expect("it can be written");
        files.create("artifacts/plan.md", b"tea").expect("it can be written");
        files.create("artifacts/cup.png", &[0xff, 0]).expect("what is no text comes in, too");
        let taken = files.create("agents/zoe.md", b"You are another.").expect_err("it exists already");
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(folder.path().join("agents/zoe.md")).expect("it should exist"), b"You are Zoe.");
        let told: Vec<(String, Option<u64>)> = (files.news.take(9).into_iter())
            .map(|news| match news {
                ServiceEvent::Changed(change) if change.is_ordered => (change.path, change.version),
                ServiceEvent::Outside(change) if change.by.as_deref() == Some("user") => {
                    (change.path, Some(change.version))
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let told: Vec<_> = told.iter().map(|(path, version)| (path.as_str(), *version)).collect();
        assert_eq!(told, [("agents/zoe.md", Some(1)), ("artifacts/plan.md", Some(1)), ("artifacts/cup.png", Some(0))]);
        for path in ["agents/zoe.md", "artifacts/plan.md", "artifacts/cup.png"] {
            files.examine(path);
        }
        assert!(files.news.is_empty(), "nobody takes it for somebody else's");
        files.limits.count_at_most = 3;
        let full = files.create("artifacts/more.md", b"x").expect_err("there are three").to_string();
        assert!(full.contains("files.count_at_most"), "{full}");
        for path in ["../out.md", ".workshop/x.md", "sessions/x.md"] {
            assert!(files.create(path, b"x").is_err(), "{path}");
        }
        drop(files);
        let history = FileHistory::open(folder.path(), &state).expect("it can be read");
        let kept = history.versions("artifacts/plan.md").expect("they can be read");
        assert_eq!((kept.len(), kept[0].author.as_str()), (1, "user"));
    }

    #[test]
    fn an_export_is_the_persons_and_later_changes_are_not() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = folder.path().join(".workshop");
        let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        fs::create_dir_all(folder.path().join("exports")).expect("folders can be made");
        files.begin_export("exports/a.jsonl");
        fs::write(folder.path().join("exports/a.jsonl"), "{}").expect("files can be written");
        files.examine("exports/a.jsonl");
        assert!(files.news.is_empty(), "it is not examined while it is written");
        files.end_export("exports/a.jsonl");
        files.examine("exports/a.jsonl");
        files.examine_everything();
        let told = files.news.take(9);
        assert!(
            matches!(&told[..], [ServiceEvent::Outside(change)] if change.by.as_deref() == Some("user")),
            "{told:?}"
        );
        fs::write(folder.path().join("exports/a.jsonl"), "changed").expect("files can be written");
        files.examine_everything();
        let told = files.news.take(9);
        assert!(matches!(&told[..], [ServiceEvent::Outside(change)] if change.by.is_none()), "{told:?}");
        files.begin_export("exports/never.zip");
        files.end_export("exports/never.zip");
        assert!(files.news.is_empty());
    }

    #[test]
    fn adding_a_file_is_undone_unless_it_changed_since() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = folder.path().join(".workshop");
        let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        files.room = Some(RoomFiles::new(folder.path(), &std::collections::BTreeMap::new(), true));
        let brought = ["agents/zoe.md", "artifacts/plan.md", "artifacts/tea.md"]
            .map(|path| files.create(path, b"one").expect("it can be written"));
        files.news.take(9);
        fs::write(folder.path().join("artifacts/plan.md"), "mine").expect("files can be written");
        fs::remove_file(folder.path().join("artifacts/tea.md")).expect("it should exist");
        let mut take_back = |file: &NewFile| {
            files.change_for_user(FileOperation::DeleteUnchanged { path: file.path.clone(), hash: file.hash })
        };
        assert!(matches!(take_back(&brought[0]), Ok(FileAnswer::Changed { done: FileResult::Deleted { .. }, .. })));
        let changed = take_back(&brought[1]).expect_err("it was changed").what;
        assert!(changed.contains("changed in the meantime"), "{changed}");
        assert!(matches!(take_back(&brought[2]), Ok(FileAnswer::Unchanged { .. })), "gone already is well");
        assert_eq!(fs::read(folder.path().join("artifacts/plan.md")).expect("it should exist"), b"mine");
        assert!(!folder.path().join("agents/zoe.md").exists());
        let told = files.news.take(9);
        let is_told = |news: &ServiceEvent| matches!(news, ServiceEvent::Changed(change) if change.is_ordered && change.content == FileContent::Removed);
        assert!(told.iter().any(is_told), "{told:?}");
        let kept = FileHistory::open(folder.path(), &state).expect("it can be read");
        assert_eq!(kept.text("agents/zoe.md", 1).expect("it can be read").as_deref(), Some("one"));
    }
}
