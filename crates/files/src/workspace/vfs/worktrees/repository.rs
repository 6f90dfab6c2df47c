//! The history of an agent's copy: a bare git repository created by this program, and the only code that uses libgit2.
//! Git never checks out or adds anything: blobs and trees are made from bytes read here, so there are no filters,
//! attributes, hooks, external programs or network access.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, ObjectType, Oid, RepositoryInitOptions, Signature, TreeWalkMode, TreeWalkResult};

use super::tree::{Blob, TreeFile, TreeFiles};

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
        let parent = self.newest(line)?;
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
        let author = Signature::now(&name, &format!("{}@agents.invalid", name.replace(' ', "-")))?;
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
