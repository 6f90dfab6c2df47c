//! What an act touches: an order to files, the start of an agent or a word to a parent, taken apart into what
//! the gate judges. Whatever writes an agent's file is judged by what that file would say afterwards.

use serde::{Deserialize, Serialize};

use super::authority::{Authority, ToolNames};
use super::paths;
use crate::agent::formats::longer_ids_of_path;
use crate::agent::{AgentProfile, Former, Profiles};
use crate::base::Id;
use crate::workspace::KnownFiles;
use crate::workspace::vfs::{FileOperation, WorkspacePath};

/// Something that is about to be done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Act {
    /// The tool that does it.
    pub tool: String,
    /// All that it touches.
    pub touches: Vec<Touch>,
}

/// One thing that an act touches. Paths have one form, in which the files' own door takes them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Touch {
    /// A file is read.
    Read {
        /// Which.
        path: WorkspacePath,
    },
    /// Files are named or searched, as far as they may be read.
    Look,
    /// A file gets another text.
    Write {
        /// Which.
        path: WorkspacePath,
    },
    /// A file is taken away.
    Delete {
        /// Which.
        path: WorkspacePath,
    },
    /// A file gets another path.
    Rename {
        /// From where.
        from: WorkspacePath,
        /// To where.
        to: WorkspacePath,
    },
    /// What an agent is changes.
    Profile(Box<ProfileChange>),
    /// What an agent is changes, and what it would be is not known: why, and what to do instead.
    UnknownProfile {
        /// Its file.
        path: WorkspacePath,
        /// What to do instead.
        remedy: String,
    },
    /// Another agent is started.
    Spawn {
        /// Its file.
        path: WorkspacePath,
        /// Whether a file with another text is there already.
        is_taken: bool,
    },
    /// An agent that is there is started.
    Start {
        /// Its file.
        path: WorkspacePath,
        /// Its id.
        id: Id,
        /// What it may do by itself.
        authority: Box<Authority>,
    },
    /// The agent that started this one is told something.
    Signal,
    /// Something that is no path of the workspace, and why.
    NoPath {
        /// The refusal of the files' own door.
        why: String,
    },
    /// Something that is for nobody who acts through tools.
    Forbidden,
}

/// What an agent's file would say after an act, and what there is now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileChange {
    /// The file.
    pub path: WorkspacePath,
    /// The id that it would define.
    pub id: Id,
    /// An id that stands for something else in the room and that the file asks for.
    pub reserved_id: Option<Id>,
    /// What the agent might do then.
    pub authority: Authority,
    /// What the agent of this id, or of this file, may do now, or could do when its file went.
    pub current: Option<Authority>,
    /// Whether it is no longer known if there was an agent of this id, and what it could do.
    pub may_be_forgotten: bool,
    /// Another file that defines this id, or did and is still run.
    pub holder: Option<String>,
    /// Whether the file holds code that would run.
    pub holds_code: bool,
}

/// What there is now, as far as a judgement needs it.
pub trait Surroundings {
    /// The text of a file, by its path as it is written in the workspace.
    fn text(&self, path: &str) -> Option<&str>;
    /// The profile with an id and the file that defines it, or did as long as an agent runs it.
    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)>;
    /// What an id could do whose file went and that nobody runs any more.
    fn former(&self, id: &str) -> Former<'_>;
    /// The longer id by which the agent of this file goes, where another file has the one of its name.
    fn longer_id_at(&self, _path: &str) -> Option<Id> {
        None
    }
}

/// The world's files and profiles.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// Texts of files.
    pub files: &'a KnownFiles,
    /// What agents are.
    pub profiles: &'a Profiles,
}

impl Surroundings for Room<'_> {
    fn text(&self, path: &str) -> Option<&str> {
        self.files.text(path)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        Some((self.profiles.path(id)?, self.profiles.get(id)?))
    }

    fn former(&self, id: &str) -> Former<'_> {
        self.profiles.former(id)
    }

    fn longer_id_at(&self, path: &str) -> Option<Id> {
        let id = self.profiles.id_at(path)?;
        longer_ids_of_path(path).iter().any(|longer| **longer == **id).then(|| id.clone())
    }
}

impl Act {
    /// An order to files.
    pub fn of_files(tool: &str, operation: &FileOperation, there: &dyn Surroundings, names: &ToolNames) -> Self {
        let touches = touches(operation, &Judge { there, names }).unwrap_or_else(|no_path| vec![no_path]);
        Self { tool: tool.to_owned(), touches }
    }

    /// The start of an agent whose file would say this.
    pub fn of_spawn(tool: &str, path: &str, content: &str, there: &dyn Surroundings, names: &ToolNames) -> Self {
        let touches = place(path).map_or_else(
            |no_path| vec![no_path],
            |path| {
                let is_taken = there.text(path.as_str()).is_some_and(|text| text != content);
                // What defines no agent cannot be started.
                let change = (Judge { there, names }).profile(&path, None, |_| Some(content.to_owned()));
                vec![Touch::Spawn { path, is_taken }, change.unwrap_or(Touch::Forbidden)]
            },
        );
        Self { tool: tool.to_owned(), touches }
    }

    /// The start of an agent that is there, by its id. Its file stays as it is.
    pub fn of_start(tool: &str, id: &str, there: &dyn Surroundings, names: &ToolNames) -> Self {
        let touch = match there.profile(id) {
            None => Touch::Forbidden,
            Some((path, profile)) => match place(path) {
                Err(no_path) => no_path,
                Ok(path) => {
                    let authority = Box::new(Authority::of(path.as_str(), profile, names).0);
                    Touch::Start { path, id: id.into(), authority }
                }
            },
        };
        Self { tool: tool.to_owned(), touches: vec![touch] }
    }

    /// A word to the agent that started this one.
    pub fn of_signal(tool: &str) -> Self {
        Self { tool: tool.to_owned(), touches: vec![Touch::Signal] }
    }
}

/// The one form of a path, or why it is none.
fn place(given: &str) -> Result<WorkspacePath, Touch> {
    WorkspacePath::new(given).map_err(|refusal| Touch::NoPath { why: refusal.to_string() })
}

fn touches(operation: &FileOperation, judge: &Judge<'_>) -> Result<Vec<Touch>, Touch> {
    let there = judge.there;
    let (touch, change) = match operation {
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => {
            (vec![Touch::Read { path: place(path)? }], None)
        }
        FileOperation::List { .. } | FileOperation::Search { .. } => (vec![Touch::Look], None),
        FileOperation::Write { path, content } => {
            let path = place(path)?;
            let change = judge.profile(&path, None, |_| Some(content.clone()));
            (vec![Touch::Write { path }], change)
        }
        FileOperation::Edit { path, old, new } => {
            let path = place(path)?;
            let change = judge.profile(&path, None, |path| {
                // A passage that does not stand in the known text may stand in a newer one on disk.
                let text = there.text(path).filter(|text| text.matches(old.as_str()).count() == 1)?;
                Some(text.replacen(old.as_str(), new, 1))
            });
            // Replacing a passage tells whether it stands there.
            (vec![Touch::Read { path: path.clone() }, Touch::Write { path }], change)
        }
        FileOperation::Append { path, .. } => {
            let path = place(path)?;
            // What stands there may be newer than what is known, and what comes behind it says what it means.
            let change = judge.profile(&path, None, |_| None);
            // How long it is now tells how long it was.
            (vec![Touch::Read { path: path.clone() }, Touch::Write { path }], change)
        }
        FileOperation::Delete { path } => (vec![Touch::Delete { path: place(path)? }], None),
        FileOperation::Rename { from, to } => {
            let (from, to) = (place(from)?, place(to)?);
            let text = there.text(from.as_str()).map(str::to_owned);
            let change = judge.profile(&to, Some(&from), |_| text.clone());
            (vec![Touch::Rename { from, to }], change)
        }
        FileOperation::Restore { path, .. } => {
            let path = place(path)?;
            let change = judge.profile(&path, None, |_| None);
            (vec![Touch::Write { path }], change)
        }
        FileOperation::Save { .. } | FileOperation::Record { .. } => (vec![Touch::Forbidden], None),
    };
    Ok(touch.into_iter().chain(change).collect())
}

struct Judge<'a> {
    there: &'a dyn Surroundings,
    names: &'a ToolNames,
}

impl Judge<'_> {
    /// What becomes of the agent that a file at this path defines, if it defines one. `text` gives what would stand
    /// in the file; `from` is where it stood before.
    fn profile(
        &self,
        path: &WorkspacePath,
        from: Option<&WorkspacePath>,
        text: impl Fn(&str) -> Option<String>,
    ) -> Option<Touch> {
        let (place, format) = paths::profile_place(path)?;
        let Some(text) = text(place.as_str()) else {
            let remedy = "what it would say then is not known here; read it, and write its whole text".to_owned();
            return Some(Touch::UnknownProfile { path: path.clone(), remedy });
        };
        let file = (format.read)(place.as_str(), &text);
        let mut profile = file.profile;
        if !file.has_explicit_id
            && let Some(id) = self.there.longer_id_at(place.as_str())
        {
            profile.id = id;
        }
        let authority = |path: &str, profile: &AgentProfile| Authority::of(path, profile, self.names).0;
        let there = self.there.profile(&profile.id);
        let is_own = |held: &str| held == place.as_str() || from.is_some_and(|from| held == from.as_str());
        let standing = self.there.text(place.as_str()).map(|text| (format.read)(place.as_str(), text).profile);
        let former = self.there.former(&profile.id);
        let current = match (there, &standing, former) {
            (Some((path, profile)), _, _) => Some(authority(path, profile)),
            (None, Some(profile), _) | (None, None, Former::Known(profile)) => Some(authority(place.as_str(), profile)),
            (None, None, Former::Never | Former::Unknown) => None,
        };
        Some(Touch::Profile(Box::new(ProfileChange {
            may_be_forgotten: current.is_none() && matches!(former, Former::Unknown),
            current,
            holder: there.map(|(held, _)| held.to_owned()).filter(|held| !is_own(held)),
            authority: authority(place.as_str(), &profile),
            holds_code: place.as_str().ends_with(".mdx") && text.to_lowercase().contains("<tool"),
            id: profile.id,
            reserved_id: file.reserved_id,
            path: place,
        })))
    }
}
