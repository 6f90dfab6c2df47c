//! Files that come in for a person: imports, what was dropped, a new scene. Each is an order of the person's, written
//! once and never over what is there; what is a text has a version.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::files::{FileChanged, FileContent};
use super::super::layout;
use super::executor::Executor;
use super::news::{News, OutsideChange};
use super::order::{FileAnswer, FileDone, FileOperation, FileOrder, FileRights};
use super::path::WorkspacePath;
use super::resolve::Trouble;
use crate::base::{Author, Id, Seq};
use crate::safe_fs;

/// Writes a file that is not there yet, behind no link, where no service has the files; one that is there stays as it
/// is.
pub fn write_new(workspace: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = safe_fs::create_new(workspace, path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would be taken for a whole one; if it cannot be removed either, the error says enough.
        let _ = std::fs::remove_file(workspace.join(path));
    }
    written
}

impl Executor {
    /// Writes a file that is not there yet for the person, and has the world told of it.
    pub(super) fn create(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = WorkspacePath::new(path).map_err(|why| io::Error::new(ErrorKind::InvalidInput, why.to_string()))?;
        match self.root.look(&path) {
            Err(Trouble::Missing) => {}
            Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
            Err(trouble) => return Err(io::Error::other(trouble.words(path.as_str()))),
        }
        let most = self.limits.bytes_at_most(&path);
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= most);
        let version = match text {
            Some(text) => self.create_text(&path, text)?,
            // What no version can keep is written all the same: it is the person's.
            None => {
                let (count, total) = self.used();
                let beyond = (bytes.len() as u64).saturating_sub(most);
                let allowed = self.limits.allow(&path, most.min(bytes.len() as u64), None, count, total + beyond);
                allowed.map_err(io::Error::other)?;
                write_new(self.root.path(), path.as_str(), bytes)?;
                None
            }
        };
        if let Ok(found) = self.root.look(&path) {
            self.index.note(path.as_str(), &found);
            self.note_changed(path.as_str());
        }
        self.report_created(&path, text.filter(|_| version.is_some()), version);
        Ok(())
    }

    fn create_text(&mut self, path: &WorkspacePath, text: &str) -> io::Result<Option<u64>> {
        // Every file that comes in is an order of its own, which nobody sends twice.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let order = FileOrder {
            key: format!("new-{}-{path}", since_1970.as_nanos()).into(),
            author: Author::user(),
            activation: None,
            operation: FileOperation::Save { path: path.as_str().into(), base: None, content: text.to_owned() },
            rights: FileRights::default(),
            cause: Seq(0),
        };
        match self.carry_out(&order).result {
            Ok(FileAnswer::Changed { done: FileDone::Written { version, .. }, .. }) => Ok(Some(version)),
            Ok(_) => Ok(None),
            Err(_) if self.root.look(path).is_ok() => Err(ErrorKind::AlreadyExists.into()),
            Err(failure) => Err(io::Error::other(failure.what)),
        }
    }

    fn report_created(&mut self, path: &WorkspacePath, text: Option<&str>, version: Option<u64>) {
        let path = path.as_str().to_owned();
        self.news.push(match text.filter(|_| layout::matters(&path) && self.room.is_some()) {
            Some(text) => {
                let change = FileChanged::new(path, FileContent::Text(text.to_owned()));
                News::Changed(FileChanged { version, is_ordered: true, ..change })
            }
            None => {
                let by = Some(Id::from("user"));
                let version = version.unwrap_or(0);
                News::Outside(OutsideChange { path, version, is_gone: false, displaced_by: None, by })
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::limits::FileLimits;
    use super::super::room_files::RoomFiles;
    use super::*;

    #[test]
    fn what_comes_in_is_the_persons_has_a_version_and_takes_no_place() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = folder.path().join(".workshop");
        let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        files.room = Some(RoomFiles::new(folder.path(), &std::collections::BTreeMap::new(), true));
        files.create("agents/zoe.md", b"You are Zoe.").expect("it can be written");
        files.create("artifacts/plan.md", b"tea").expect("it can be written");
        files.create("artifacts/cup.png", &[0xff, 0]).expect("what is no text comes in, too");
        let taken = files.create("agents/zoe.md", b"You are another.").expect_err("it is there");
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(folder.path().join("agents/zoe.md")).expect("it is there"), b"You are Zoe.");
        let told: Vec<(String, Option<u64>)> = (files.news.take(9).into_iter())
            .map(|news| match news {
                News::Changed(change) if change.is_ordered => (change.path, change.version),
                News::Outside(change) if change.by.as_deref() == Some("user") => (change.path, Some(change.version)),
                other => panic!("{other:?}"),
            })
            .collect();
        let told: Vec<_> = told.iter().map(|(path, version)| (path.as_str(), *version)).collect();
        assert_eq!(told, [("agents/zoe.md", Some(1)), ("artifacts/plan.md", Some(1)), ("artifacts/cup.png", Some(0))]);
        for path in ["agents/zoe.md", "artifacts/plan.md", "artifacts/cup.png"] {
            files.look(path);
        }
        assert!(files.news.is_empty(), "nobody takes it for somebody else's");
        files.limits.count_at_most = 3;
        let full = files.create("artifacts/more.md", b"x").expect_err("there are three").to_string();
        assert!(full.contains("files.count_at_most"), "{full}");
        for path in ["../out.md", ".workshop/x.md", "sessions/x.md"] {
            assert!(files.create(path, b"x").is_err(), "{path}");
        }
        drop(files);
        let history = super::super::FileHistory::open(folder.path(), &state).expect("it can be read");
        let kept = history.versions("artifacts/plan.md").expect("they can be read");
        assert_eq!((kept.len(), kept[0].author.as_str()), (1, "user"));
    }
}
