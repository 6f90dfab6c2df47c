//! What an act touches: an order to files, the start of an agent or a word to a parent, taken apart into what
//! the gate judges. Whatever writes an agent's file is judged by what that file would say afterwards.

use serde::{Deserialize, Serialize};

use super::authority::{Authority, ToolNames};
use super::paths;
use crate::agent::{AgentProfile, Profiles};
use crate::base::Id;
use crate::workspace::KnownFiles;
use crate::workspace::vfs::FileOperation;

/// Something that is about to be done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Act {
    /// The tool that does it.
    pub tool: String,
    /// All that it touches.
    pub touches: Vec<Touch>,
}

/// One thing that an act touches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Touch {
    /// A file is read.
    Read {
        /// Which.
        path: String,
    },
    /// Files are named or searched, as far as they may be read.
    Look,
    /// A file gets another text.
    Write {
        /// Which.
        path: String,
    },
    /// A file is taken away.
    Delete {
        /// Which.
        path: String,
    },
    /// A file gets another path.
    Rename {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// What an agent is changes.
    Profile(Box<ProfileChange>),
    /// What an agent is changes, and what it would be is not known: why, and what to do instead.
    UnknownProfile {
        /// Its file.
        path: String,
        /// What to do instead.
        remedy: String,
    },
    /// Another agent is started.
    Spawn {
        /// Its file.
        path: String,
        /// Whether a file with another text is there already.
        is_taken: bool,
    },
    /// The agent that started this one is told something.
    Signal,
    /// Something that is for nobody who acts through tools.
    Forbidden,
}

/// What an agent's file would say after an act, and what there is now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileChange {
    /// The file.
    pub path: String,
    /// The id that it would define.
    pub id: Id,
    /// What the agent might do then.
    pub authority: Authority,
    /// What the agent of this id, or of this file, may do now.
    pub current: Option<Authority>,
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
}

impl Act {
    /// An order to files.
    pub fn of_files(tool: &str, operation: &FileOperation, there: &dyn Surroundings, names: &ToolNames) -> Self {
        let judge = Judge { there, names };
        let mut touches = Vec::new();
        match operation {
            FileOperation::Read { path } => touches.push(Touch::Read { path: path.clone() }),
            FileOperation::List { .. } | FileOperation::Search { .. } => touches.push(Touch::Look),
            FileOperation::Write { path, content } => {
                touches.push(Touch::Write { path: path.clone() });
                touches.extend(judge.profile(path, None, |_| Some(content.clone())));
            }
            FileOperation::Edit { path, old, new } => {
                // Replacing a passage tells whether it stands there.
                touches.push(Touch::Read { path: path.clone() });
                touches.push(Touch::Write { path: path.clone() });
                touches.extend(judge.profile(path, None, |path| {
                    // A passage that does not stand in the known text may stand in a newer one on disk.
                    let text = there.text(path).filter(|text| text.matches(old.as_str()).count() == 1)?;
                    Some(text.replacen(old.as_str(), new, 1))
                }));
            }
            FileOperation::Delete { path } => touches.push(Touch::Delete { path: path.clone() }),
            FileOperation::Rename { from, to } => {
                touches.push(Touch::Rename { from: from.clone(), to: to.clone() });
                let text = paths::clean(from).and_then(|from| there.text(&from).map(str::to_owned));
                touches.extend(judge.profile(to, Some(from), |_| text.clone()));
            }
            FileOperation::Restore { path, .. } => {
                touches.push(Touch::Write { path: path.clone() });
                touches.extend(judge.profile(path, None, |_| None));
            }
            FileOperation::Save { .. } | FileOperation::Record { .. } => touches.push(Touch::Forbidden),
        }
        Self { tool: tool.to_owned(), touches }
    }

    /// The start of an agent whose file would say this.
    pub fn of_spawn(tool: &str, path: &str, content: &str, there: &dyn Surroundings, names: &ToolNames) -> Self {
        let standing = paths::clean(path).and_then(|path| there.text(&path));
        let is_taken = standing.is_some_and(|text| text != content);
        let mut touches = vec![Touch::Spawn { path: path.to_owned(), is_taken }];
        match (Judge { there, names }).profile(path, None, |_| Some(content.to_owned())) {
            Some(change) => touches.push(change),
            // What defines no agent cannot be started.
            None => touches.push(Touch::Forbidden),
        }
        Self { tool: tool.to_owned(), touches }
    }

    /// A word to the agent that started this one.
    pub fn of_signal(tool: &str) -> Self {
        Self { tool: tool.to_owned(), touches: vec![Touch::Signal] }
    }
}

struct Judge<'a> {
    there: &'a dyn Surroundings,
    names: &'a ToolNames,
}

impl Judge<'_> {
    /// What becomes of the agent that a file at this path defines, if it defines one in any spelling. `text` gives
    /// what would stand in the file; `from` is where it stood before.
    fn profile(&self, path: &str, from: Option<&str>, text: impl Fn(&str) -> Option<String>) -> Option<Touch> {
        let (place, format) = paths::profile_place(path)?;
        let Some(text) = text(&place) else {
            let remedy = "what it would say then is not known here; read it, and write its whole text".to_owned();
            return Some(Touch::UnknownProfile { path: path.to_owned(), remedy });
        };
        let profile = (format.read)(&place, &text).profile;
        let authority = |path: &str, profile: &AgentProfile| Authority::of(path, profile, self.names).0;
        let there = self.there.profile(&profile.id);
        let is_own = |held: &str| held == place || from.and_then(paths::clean).is_some_and(|from| held == from);
        let standing = self.there.text(&place).map(|text| (format.read)(&place, text).profile);
        let current = there.map(|(path, profile)| authority(path, profile));
        Some(Touch::Profile(Box::new(ProfileChange {
            current: current.or_else(|| standing.map(|profile| authority(&place, &profile))),
            holder: there.map(|(held, _)| held.to_owned()).filter(|held| !is_own(held)),
            authority: authority(&place, &profile),
            holds_code: place.ends_with(".mdx") && text.to_lowercase().contains("<tool"),
            id: profile.id,
            path: place,
        })))
    }
}
