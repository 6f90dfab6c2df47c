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

/// Where the text comes from that a person puts into a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TextOrigin {
    /// The person made it in this program, so they have seen what it permits.
    Person,
    /// A file from elsewhere, or an earlier text that comes back: the person need not have read it.
    #[default]
    Copy,
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
    /// Where its content comes from.
    pub origin: TextOrigin,
}

impl Executor {
    /// Creates a new file for the person, and reports it to the world.
    pub(super) fn create(&mut self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile> {
        let path = WorkspacePath::new(path).map_err(|why| io::Error::new(ErrorKind::InvalidInput, why.to_string()))?;
        match self.root.metadata(&path) {
            Err(PathError::Missing) => {}
            Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
            Err(trouble) => return Err(io::Error::other(trouble.message(path.as_str()))),
        }
        let most = self.limits.bytes_at_most(&path);
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= most);
        let version = match text {
            Some(text) => self.create_text(&path, text, origin)?,
            // Bytes that cannot be kept as a version are written all the same, since they are the person's.
            None => {
                self.create_bytes(&path, bytes, most)?;
                None
            }
        };
        Ok(NewFile { path: path.as_str().to_owned(), version, hash: content_hash(bytes), origin })
    }

    fn create_text(&mut self, path: &WorkspacePath, text: &str, origin: TextOrigin) -> io::Result<Option<u64>> {
        let save = FileOperation::Save { path: path.as_str().into(), base: None, content: text.to_owned() };
        match self.change_and_report(Author::user(), save, origin) {
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
        self.report_bytes(path.as_str());
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
            self.report_bytes(path.as_str());
        }
    }

    /// Performs an operation from outside of the room, on someone's behalf, and reports it to the world. Its text is an
    /// earlier one, or one that a program made.
    pub(super) fn change_beside_room(
        &mut self,
        author: Author,
        operation: FileOperation,
    ) -> Result<FileAnswer, FileFailure> {
        self.change_and_report(author, operation, TextOrigin::Copy)
    }

    fn change_and_report(
        &mut self,
        author: Author,
        operation: FileOperation,
        origin: TextOrigin,
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
            let of = |path| Reported { by: &author, path, version: None, from: None, origin };
            match done {
                FileResult::Written { path, version, content, .. } => {
                    let content = content.clone().map(FileContent::Text);
                    self.report(Reported { version: Some(*version), ..of(path) }, content);
                }
                FileResult::Deleted { path, .. } => self.report(of(path), Some(FileContent::Removed)),
                FileResult::Renamed { from, to, content } => {
                    self.report(of(from), Some(FileContent::Removed));
                    self.report(Reported { from: Some(from), ..of(to) }, content.clone().map(FileContent::Text));
                }
            }
        }
        Ok(answer)
    }

    /// Reports a person's file that is not known as text.
    fn report_bytes(&self, path: &str) {
        let by = &Author::user();
        self.report(Reported { by, path, version: None, from: None, origin: TextOrigin::Copy }, None);
    }

    /// Reports a changed file to the world; without content if no room uses it as text.
    fn report(&self, changed: Reported, content: Option<FileContent>) {
        let path = changed.path.to_owned();
        let is_gone = content == Some(FileContent::Removed);
        self.news.push(match content.filter(|_| layout::is_used_by_room(&path) && self.room.is_some()) {
            Some(content) => ServiceEvent::Changed(FileChanged {
                by: changed.by.clone(),
                version: changed.version,
                from: changed.from.map(str::to_owned),
                is_ordered: true,
                is_seen: changed.origin == TextOrigin::Person,
                is_copy: changed.origin == TextOrigin::Copy,
                ..FileChanged::new(path, content)
            }),
            None => {
                let by = Some(changed.by.0.clone());
                let version = changed.version.unwrap_or(0);
                ServiceEvent::Outside(OutsideChange { path, version, is_gone, displaced_by: None, by, program: None })
            }
        });
    }
}

/// A change of a file, as it is reported to the world.
struct Reported<'a> {
    by: &'a Author,
    path: &'a str,
    version: Option<u64>,
    /// The former path, if it was renamed.
    from: Option<&'a str>,
    origin: TextOrigin,
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
        files.create("agents/zoe.md", b"You are Zoe.", TextOrigin::Copy).expect("it can be written");
        files.create("artifacts/plan.md", b"tea", TextOrigin::Copy).expect("it can be written");
        files.create("artifacts/cup.png", &[0xff, 0], TextOrigin::Copy).expect("what is no text comes in, too");
        let taken =
            files.create("agents/zoe.md", b"You are another.", TextOrigin::Copy).expect_err("it exists already");
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(folder.path().join("agents/zoe.md")).expect("it should exist"), b"You are Zoe.");
        let reported: Vec<(String, Option<u64>)> = (files.news.take(9).into_iter())
            .map(|event| match event {
                ServiceEvent::Changed(change) if change.is_ordered => (change.path, change.version),
                ServiceEvent::Outside(change) if change.by.as_deref() == Some("user") => {
                    (change.path, Some(change.version))
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let reported: Vec<_> = reported.iter().map(|(path, version)| (path.as_str(), *version)).collect();
        assert_eq!(
            reported,
            [("agents/zoe.md", Some(1)), ("artifacts/plan.md", Some(1)), ("artifacts/cup.png", Some(0))]
        );
        for path in ["agents/zoe.md", "artifacts/plan.md", "artifacts/cup.png"] {
            files.examine(path);
        }
        assert!(files.news.is_empty(), "nobody takes it for somebody else's");
        files.limits.max_files = 3;
        let full = files.create("artifacts/more.md", b"x", TextOrigin::Copy).expect_err("there are three").to_string();
        assert!(full.contains("files.max_files"), "{full}");
        for path in ["../out.md", ".workshop/x.md", "sessions/x.md"] {
            assert!(files.create(path, b"x", TextOrigin::Copy).is_err(), "{path}");
        }
        drop(files);
        let history = FileHistory::open(folder.path(), &state).expect("it can be read");
        let kept = history.versions("artifacts/plan.md").expect("they can be read");
        assert_eq!((kept.len(), kept[0].author.as_str()), (1, "user"));
    }

    #[test]
    fn only_what_the_person_made_in_the_program_is_seen() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = folder.path().join(".workshop");
        let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        files.room = Some(RoomFiles::new(folder.path(), &std::collections::BTreeMap::new(), true));
        let path = "agents/zoe.md";
        let mut act = |operation| {
            files.change_beside_room(Author::user(), operation).expect("it can be done");
        };
        act(FileOperation::Write { path: path.into(), content: "one".into() });
        act(FileOperation::Write { path: path.into(), content: "two".into() });
        act(FileOperation::Restore { path: path.into(), version: 1 });
        act(FileOperation::Rename { from: path.into(), to: "agents/zora.md".into() });
        let made = files.create("agents/ada.md", b"mine", TextOrigin::Person).expect("it can be written");
        assert_eq!(made.origin, TextOrigin::Person);
        files.create("agents/imported.md", b"theirs", TextOrigin::Copy).expect("it can be written");
        let changes = files.news.take(99).into_iter().filter_map(|event| match event {
            ServiceEvent::Changed(change) => Some(change),
            _ => None,
        });
        let persons: Vec<String> = changes.filter(FileChanged::is_persons).map(|change| change.path).collect();
        assert_eq!(persons, ["agents/ada.md"]);
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
        let events = files.news.take(9);
        assert!(
            matches!(&events[..], [ServiceEvent::Outside(change)] if change.by.as_deref() == Some("user")),
            "{events:?}"
        );
        fs::write(folder.path().join("exports/a.jsonl"), "changed").expect("files can be written");
        files.examine_everything();
        let events = files.news.take(9);
        assert!(matches!(&events[..], [ServiceEvent::Outside(change)] if change.by.is_none()), "{events:?}");
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
            .map(|path| files.create(path, b"one", TextOrigin::Copy).expect("it can be written"));
        files.news.take(9);
        fs::write(folder.path().join("artifacts/plan.md"), "mine").expect("files can be written");
        fs::remove_file(folder.path().join("artifacts/tea.md")).expect("it should exist");
        let mut take_back = |file: &NewFile| {
            files.change_beside_room(
                Author::user(),
                FileOperation::DeleteUnchanged { path: file.path.clone(), hash: file.hash },
            )
        };
        assert!(matches!(take_back(&brought[0]), Ok(FileAnswer::Changed { done: FileResult::Deleted { .. }, .. })));
        let changed = take_back(&brought[1]).expect_err("it was changed").what;
        assert!(changed.contains("changed in the meantime"), "{changed}");
        assert!(matches!(take_back(&brought[2]), Ok(FileAnswer::Unchanged { .. })), "gone already is well");
        assert_eq!(fs::read(folder.path().join("artifacts/plan.md")).expect("it should exist"), b"mine");
        assert!(!folder.path().join("agents/zoe.md").exists());
        let events = files.news.take(9);
        let is_removal = |event: &ServiceEvent| matches!(event, ServiceEvent::Changed(change) if change.is_ordered && change.content == FileContent::Removed);
        assert!(events.iter().any(is_removal), "{events:?}");
        let kept = FileHistory::open(folder.path(), &state).expect("it can be read");
        assert_eq!(kept.text("agents/zoe.md", 1).expect("it can be read").as_deref(), Some("one"));
    }
}
