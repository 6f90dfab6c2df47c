//! What people have already comes into a workspace: agents of other products, skills, rules, scenes and files. First
//! a [`Plan`] says what would come in and what not, then it is carried out. Nothing is written over, no link followed.

mod found;
mod plan;
#[cfg(test)]
mod tests;
mod told;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::Problem;
use crate::safe_fs;
use crate::workspace::vfs::{self, FileHandle};

pub use plan::plan;

/// One import brings in so many files at most, from folders so deep, each of so many bytes at most.
const FILES_AT_MOST: usize = 10_000;
const DEPTH_AT_MOST: usize = 16;
const BYTES_AT_MOST: u64 = 64 * 1024 * 1024;
/// So many files that cannot be used are named; the rest is counted.
const NAMED_AT_MOST: usize = 5;

/// What a file is to the workspace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It defines an agent.
    Agent,
    /// It is part of a skill.
    Skill,
    /// It says how to work: the text of a rulebook.
    Rules,
    /// A room.
    Scene,
    /// Anything else.
    File,
}

/// One file that would come in.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Item {
    /// Where it is.
    pub from: PathBuf,
    /// Where it goes, in the workspace.
    pub to: String,
    /// What it is.
    pub kind: Kind,
    /// Whether exactly this stands there already.
    pub is_there: bool,
    /// The agent's name, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its text becomes on the way in, where it is not copied as it is.
    #[serde(skip)]
    text: Option<String>,
}

/// What an import would bring, and what it would leave out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    /// What would come in, in order of place.
    pub items: Vec<Item>,
    /// What would not, and why.
    pub left_out: Vec<Problem>,
    /// Files that lie beside what comes in and are none of it.
    pub beside: usize,
    /// What there is to know about what comes in.
    pub notes: Vec<String>,
}

/// What an import brought.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Imported {
    /// Files that are in the workspace now, by path.
    pub paths: Vec<String>,
    /// What was left out, and why, as far as it is named.
    pub problems: Vec<Problem>,
}

/// Where new files are written.
pub trait NewFiles {
    /// Writes a file of the workspace that is not there yet, behind no link; one that is there stays as it is.
    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Waits until what was ordered before is on disk; says what is not.
    fn flush(&self) -> Vec<Problem> {
        Vec::new()
    }
}

/// The folder of a workspace that is not open.
impl NewFiles for PathBuf {
    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        vfs::write_new(self, path, bytes)
    }
}

impl NewFiles for FileHandle {
    fn create(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        Self::create(self, path, bytes)
    }

    fn flush(&self) -> Vec<Problem> {
        Self::flush(self)
    }
}

/// Copies what a plan says into the workspace, by way of `files`.
pub fn carry_out(workspace: &Path, files: &dyn NewFiles, plan: &Plan) -> Imported {
    let mut imported = Imported { problems: plan.left_out_named(), ..Imported::default() };
    for item in &plan.items {
        match copy(workspace, files, item) {
            Ok(path) => imported.paths.push(path),
            Err(error) => {
                let what = format!("it cannot be copied: {error}");
                let place = item.from.display().to_string();
                imported.problems.push(Problem::warning(place, what, "check that the disk has room"));
            }
        }
    }
    imported
}

fn copy(workspace: &Path, files: &dyn NewFiles, item: &Item) -> io::Result<String> {
    let bytes = match &item.text {
        Some(text) => text.clone().into_bytes(),
        None => safe_fs::read_bytes(&item.from, BYTES_AT_MOST)?,
    };
    for path in numbered(&item.to) {
        match files.create(&path, &bytes) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // The same once more is there already.
                if safe_fs::read_bytes(&workspace.join(&path), BYTES_AT_MOST).is_ok_and(|there| there == bytes) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "there are a thousand files of that name"))
}

/// A path, and those that stand for it where it is taken: `plan.md`, `plan-2.md`, …
fn numbered(wanted: &str) -> impl Iterator<Item = String> + '_ {
    let (stem, ending) = match wanted.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && !stem.ends_with('/') && !ending.contains('/') => {
            (stem, format!(".{ending}"))
        }
        _ => (wanted, String::new()),
    };
    (1..1_000).map(move |number| match number {
        1 => wanted.to_owned(),
        number => format!("{stem}-{number}{ending}"),
    })
}
