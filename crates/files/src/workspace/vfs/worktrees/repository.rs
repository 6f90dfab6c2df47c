//! The history of an agent's copy: a bare git repository created by this program, and the only code that uses libgit2.
//! Git never checks out or adds anything: blobs and trees are made from bytes read here, so there are no filters,
//! attributes, hooks, external programs or network access.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, ObjectType, Oid, RepositoryInitOptions, Signature, Time, TreeWalkMode, TreeWalkResult};

use super::tree::{Blob, TreeFile, TreeFiles};
use crate::log::now_ms;

/// The branch with the agent's actions.
const ACTS: &str = "refs/heads/main";
/// The branch with the workspace as it was last merged, which the agent's changes are compared with.
const BASE: &str = "refs/workshop/base";
/// Lock files that a killed process may leave behind and that would block every later operation.
const LOCKS: [&str; 5] =
    ["HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock", "refs/workshop/base.lock"];

/// Why the history cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("its history cannot be used: {}", .0.message())]
pub(super) struct GitError(#[from] git2::Error);

fn blob_of(id: Oid) -> Result<Blob, GitError> {
    let bytes = id.as_bytes().try_into();
    Ok(Blob(bytes.map_err(|_| git2::Error::from_str("it uses another kind of hash"))?))
}

fn id_of(blob: Blob) -> Result<Oid, GitError> {
    Ok(Oid::from_bytes(&blob.0)?)
}

/// One of the two branches of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Branch {
    /// The agent's actions.
    Acts,
    /// The state of the workspace that they are compared with.
    Base,
}

impl Branch {
    fn name(self) -> &'static str {
        match self {
            Self::Acts => ACTS,
            Self::Base => BASE,
        }
    }
}

/// An open history.
pub(super) struct Repository(git2::Repository);

impl Repository {
    /// Opens the history at `place`, or creates it. The `.gitignore` files are read from the folder `files`.
    pub(super) fn open(place: &Path, files: &Path) -> Result<Self, GitError> {
        for lock in LOCKS {
            // Only the owner of the workspace gets here, so a lock was left behind by a killed process.
            let _ = std::fs::remove_file(place.join(lock));
        }
        let git = match git2::Repository::open_bare(place) {
            Ok(git) => git,
            Err(error) if error.code() == git2::ErrorCode::NotFound => {
                let mut options = RepositoryInitOptions::new();
                options.bare(true).external_template(false).initial_head("main");
                git2::Repository::init_opts(place, &options)?
            }
            Err(error) => return Err(error.into()),
        };
        git.set_workdir(files, false)?;
        Ok(Self(git))
    }

    /// Returns the files of a branch's newest commit; `None` if there is no commit.
    pub(super) fn files(&self, line: Branch) -> Result<Option<TreeFiles>, GitError> {
        let Some(commit) = self.newest(line)? else { return Ok(None) };
        let mut files = TreeFiles::new();
        commit.tree()?.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if entry.kind() == Some(ObjectType::Blob)
                && let Ok(name) = std::str::from_utf8(entry.name_bytes())
                && let Ok(blob) = blob_of(entry.id())
            {
                let is_program = entry.filemode() == i32::from(FileMode::BlobExecutable);
                files.insert(format!("{folder}{name}"), TreeFile { blob, is_program });
            }
            TreeWalkResult::Ok
        })?;
        Ok(Some(files))
    }

    fn newest(&self, line: Branch) -> Result<Option<git2::Commit<'_>>, GitError> {
        match self.0.find_reference(line.name()) {
            Ok(reference) => Ok(Some(reference.peel_to_commit()?)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores the content of a file as a blob.
    pub(super) fn store_blob(&self, bytes: &[u8]) -> Result<Blob, GitError> {
        blob_of(self.0.blob(bytes)?)
    }

    /// Returns the content of a blob.
    pub(super) fn bytes(&self, blob: Blob) -> Result<Vec<u8>, GitError> {
        Ok(self.0.find_blob(id_of(blob)?)?.content().to_vec())
    }

    /// Adds a commit to a branch, in which these files differ from the previous one.
    pub(super) fn commit(
        &self,
        line: Branch,
        changed: &[(String, Option<TreeFile>)],
        author: &str,
        message: &str,
    ) -> Result<(), GitError> {
        let now_secs = i64::try_from(now_ms() / 1_000).unwrap_or(i64::MAX);
        self.commit_at(line, changed, author, message, now_secs)
    }

    /// Like [`Self::commit`], at this time in seconds since 1970 by the person's clock, as the times of versions. A
    /// commit is never older than those before it, also if the clock was set back.
    fn commit_at(
        &self,
        line: Branch,
        changed: &[(String, Option<TreeFile>)],
        author: &str,
        message: &str,
        now_secs: i64,
    ) -> Result<(), GitError> {
        let parent = self.newest(line)?;
        let mut secs = now_secs;
        for branch in [Branch::Acts, Branch::Base] {
            secs = secs.max(self.newest(branch)?.map_or(i64::MIN, |commit| commit.time().seconds()));
        }
        let before = match &parent {
            Some(parent) => parent.tree()?,
            None => self.0.find_tree(self.0.treebuilder(None)?.write()?)?,
        };
        let mut update = TreeUpdateBuilder::new();
        for (path, file) in changed {
            match file {
                Some(TreeFile { blob, is_program }) => {
                    let mode = if *is_program { FileMode::BlobExecutable } else { FileMode::Blob };
                    update.upsert(path.as_str(), id_of(*blob)?, mode);
                }
                None => {
                    update.remove(path.as_str());
                }
            }
        }
        let tree = self.0.find_tree(update.create_updated(&self.0, &before)?)?;
        // Characters that separate names from addresses are not allowed in a name.
        let name: String = author.chars().map(|c| if "<>\n\r".contains(c) { ' ' } else { c }).collect();
        let address = format!("{}@agents.invalid", name.replace(' ', "-"));
        let offset_minutes = Signature::now(&name, &address)?.when().offset_minutes();
        let author = Signature::new(&name, &address, &Time::new(secs, offset_minutes))?;
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        self.0.commit(Some(line.name()), &author, &author, message, &tree, &parents)?;
        Ok(())
    }

    /// Whether the `.gitignore` files of the folder exclude a path.
    pub(super) fn is_ignored(&self, path: &str) -> bool {
        self.0.is_path_ignored(path).unwrap_or(false)
    }

    /// Returns the first line and the author of each commit of the agent's actions, newest first. For tests.
    #[cfg(test)]
    pub(super) fn log(&self) -> Vec<(String, String)> {
        let mut commit = self.newest(Branch::Acts).expect("the history can be read");
        let mut log = Vec::new();
        while let Some(one) = commit {
            let message = String::from_utf8_lossy(one.message_bytes()).into_owned();
            log.push((String::from_utf8_lossy(one.author().name_bytes()).into_owned(), message));
            commit = one.parent(0).ok();
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The times of a branch's commits, newest first.
    fn times(repository: &Repository, line: Branch) -> Vec<i64> {
        let mut commit = repository.newest(line).expect("the history can be read");
        let mut times = Vec::new();
        while let Some(one) = commit {
            times.push(one.time().seconds());
            commit = one.parent(0).ok();
        }
        times
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn no_commit_is_older_than_those_before_it_whatever_the_clock_says(
            clock in prop::collection::vec((any::<bool>(), 0_i64..4_000_000_000), 1..8),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let repository = Repository::open(&folder.path().join("history.git"), folder.path()).expect("it opens");
            let mut latest = i64::MIN;
            for (number, (is_base, now_secs)) in clock.into_iter().enumerate() {
                let blob = repository.store_blob(format!("{number}").as_bytes()).expect("it is stored");
                let changed = [("a.md".to_owned(), Some(TreeFile { blob, is_program: false }))];
                let line = if is_base { Branch::Base } else { Branch::Acts };
                repository.commit_at(line, &changed, "ada", "write a.md", now_secs).expect("it is committed");
                latest = latest.max(now_secs);
                prop_assert_eq!(times(&repository, line)[0], latest);
            }
            for line in [Branch::Base, Branch::Acts] {
                prop_assert!(times(&repository, line).is_sorted_by(|newer, older| newer >= older));
            }
        }
    }

    #[test]
    fn a_commit_has_the_time_of_the_persons_clock() {
        let folder = tempfile::tempdir().expect("a folder");
        let repository = Repository::open(&folder.path().join("history.git"), folder.path()).expect("it opens");
        let blob = repository.store_blob(b"text").expect("it is stored");
        let changed = [("a.md".to_owned(), Some(TreeFile { blob, is_program: false }))];
        let secs = || i64::try_from(now_ms() / 1_000).expect("a date of this time");
        let before = secs();
        repository.commit(Branch::Acts, &changed, "ada", "write a.md").expect("it is committed");
        assert!((before..=secs()).contains(&times(&repository, Branch::Acts)[0]));
    }
}
