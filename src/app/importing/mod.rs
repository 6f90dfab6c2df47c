//! Imports existing content into a workspace: agents of other products, skills, rules, scenes and files. First a
//! [`Plan`] lists what would be imported and what not, then it is executed. Nothing is overwritten, no link is
//! followed.

mod plan;
mod scan;
mod summary;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::hash::content_hash;
use crate::base::text::slug;
use crate::base::{JobControl, Problem, unique_names};
use crate::safe_fs;
use crate::workspace::vfs::{self, FileHandle, NewFile, TextOrigin};

pub use plan::plan;

/// The limits of one import: the number of files, the depth of folders, and the bytes per file.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 16;
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum number of names tried for a file whose name is taken.
const MAX_NUMBERS: usize = 1_000;
/// Maximum number of unusable files that are named; the rest is counted.
const MAX_NAMED: usize = 5;

/// The role of a file in the workspace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An agent definition.
    Agent,
    /// A part of a skill.
    Skill,
    /// Instructions, which become the text of a rulebook.
    Rules,
    /// A scene.
    Scene,
    /// Any other file.
    File,
}

/// A file that would be imported.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Item {
    /// The source path.
    pub from: PathBuf,
    /// The destination path in the workspace.
    pub to: String,
    /// The role of the file.
    pub kind: Kind,
    /// Whether the file already exists with exactly this content.
    pub is_there: bool,
    /// The name of the agent, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The converted text, if the file is not copied unchanged.
    #[serde(skip)]
    text: Option<String>,
}

/// What an import would add, and what it would leave out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    /// The files to import, sorted by destination.
    pub items: Vec<Item>,
    /// What is left out, and why.
    pub left_out: Vec<Problem>,
    /// Number of files that are beside imported ones and are not part of them.
    pub beside: usize,
    /// Notes about what is imported.
    pub notes: Vec<String>,
    /// Where the files come from.
    pub origin: TextOrigin,
}

impl Plan {
    /// A plan for a new agent with this name and file text, which the person chose in this program.
    pub fn of_agent(name: &str, text: String) -> Self {
        let item = Item {
            from: PathBuf::new(),
            to: format!("agents/{}.md", slug(name)),
            kind: Kind::Agent,
            is_there: false,
            name: Some(name.to_owned()),
            text: Some(text),
        };
        Self { items: vec![item], origin: TextOrigin::Person, ..Self::default() }
    }
}

/// The destination of imported files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination<'a> {
    /// Each file goes to the folder of its kind.
    ByKind,
    /// All files go into this folder of the workspace.
    Folder(&'a str),
    /// Into a room: only agents and scenes, and every Markdown file is an agent.
    Room,
}

/// An imported file.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportedFile {
    /// Its path in the workspace.
    pub path: String,
    /// Its role.
    pub kind: Kind,
    /// Its content, if it is an agent file.
    pub text: Option<String>,
    /// The file that was written; `None` if it existed already.
    pub made: Option<NewFile>,
}

/// The result of an import.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Imported {
    /// The imported files, in plan order.
    pub files: Vec<ImportedFile>,
    /// What was left out, and why; long lists are shortened.
    pub problems: Vec<Problem>,
    /// Number of planned files that were not reached because the import was cancelled.
    pub not_reached: usize,
}

impl Imported {
    /// The paths of all imported files.
    pub fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.path.as_str()).collect()
    }

    /// The files that were newly written.
    pub fn made(&self) -> Vec<NewFile> {
        self.files.iter().filter_map(|file| file.made.clone()).collect()
    }
}

/// Writes new files of a workspace.
pub trait NewFiles {
    /// Creates a file, without following links; fails if it exists.
    fn create(&self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile>;

    /// Deletes an imported file if nobody has changed it since; otherwise returns why not.
    fn take_back(&self, file: &NewFile) -> Result<(), String>;

    /// Waits until all earlier operations are on disk; reports those that are not.
    fn flush(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The file service, if the workspace is open here. What the program writes past it is exported through it.
    fn handle(&self) -> Option<FileHandle> {
        None
    }
}

/// A workspace that is not open: no versions are kept.
impl NewFiles for PathBuf {
    fn create(&self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile> {
        vfs::write_new(self, path, bytes)?;
        Ok(NewFile { path: path.to_owned(), version: None, hash: content_hash(bytes), origin })
    }

    fn take_back(&self, file: &NewFile) -> Result<(), String> {
        Err(format!("'{}' was kept: without a version it could not be restored.", file.path))
    }
}

impl NewFiles for FileHandle {
    fn create(&self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile> {
        Self::create(self, path, bytes, origin)
    }

    fn take_back(&self, file: &NewFile) -> Result<(), String> {
        Self::delete_added(self, file)
    }

    fn flush(&self) -> Vec<Problem> {
        Self::flush(self)
    }

    fn handle(&self) -> Option<FileHandle> {
        Some(self.clone())
    }
}

/// Executes a plan, writing through `files`. After a cancellation, files that were already copied stay.
pub fn import_files(workspace: &Path, files: &dyn NewFiles, plan: &Plan, control: &JobControl) -> Imported {
    let mut imported = Imported { problems: plan.left_out_problems(), ..Imported::default() };
    let count = plan.items.len();
    for (done, item) in plan.items.iter().enumerate() {
        if control.is_cancelled() {
            imported.not_reached = count - done;
            break;
        }
        control.set_done(done, count);
        match copy(workspace, files, item, plan.origin) {
            Ok(file) => imported.files.push(file),
            Err(error) => {
                let what = format!("it cannot be copied: {error}");
                let place = item.from.display().to_string();
                imported.problems.push(Problem::warning(place, what, "check that the disk has room"));
            }
        }
    }
    imported
}

fn copy(workspace: &Path, files: &dyn NewFiles, item: &Item, origin: TextOrigin) -> io::Result<ImportedFile> {
    let bytes = match &item.text {
        Some(text) => text.clone().into_bytes(),
        None => safe_fs::read_bytes(&item.from, MAX_BYTES)?,
    };
    for path in unique_names::candidates(&item.to).take(MAX_NUMBERS) {
        let made = match files.create(&path, &bytes, origin) {
            Ok(made) => Some(made),
            // The same file was already imported.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !safe_fs::read_bytes(&workspace.join(&path), MAX_BYTES).is_ok_and(|there| there == bytes) {
                    continue;
                }
                None
            }
            Err(error) => return Err(error),
        };
        let text = (item.kind == Kind::Agent).then(|| String::from_utf8(bytes).ok()).flatten();
        return Ok(ImportedFile { path, kind: item.kind, text, made });
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "there are already a thousand files with that name"))
}
