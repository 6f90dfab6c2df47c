//! What an act touches: an order to files, the start of an agent or a signal to a parent, broken down into what the
//! gate checks. A change of an agent's file is checked by what the file would say afterwards.

use serde::{Deserialize, Serialize};

use super::authority::{Authority, ToolNames};
use super::commands::{self, ALLOWLIST_FILE, CommandRules, Judged};
use super::paths;
use super::touch::{DeclaredTouch, TouchEffect, TouchKind};
use crate::agent::agent_file::longer_ids_of_path;
use crate::agent::{AgentProfile, Former, McpEntry, Profiles};
use crate::base::Id;
use crate::gateway::acp::PROVIDER;
use crate::gateway::mcp::McpHints;
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

/// One thing that an act touches, as the gate judges it. Paths have one form, in which the files' own door takes them.
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
    /// A message to the agent that started this one.
    Signal,
    /// A tool of an MCP server is called.
    Call {
        /// The server, as people know it.
        server: String,
        /// The tool, as the server calls it.
        tool: String,
        /// The server's key.
        key: Id,
        /// What the server says of it.
        hints: McpHints,
    },
    /// A command is run.
    Command {
        /// Its words, on one line.
        line: String,
        /// What the person's rules for commands say of it.
        judged: Judged,
        /// Whether anything on this computer keeps it in.
        is_kept_in: bool,
    },
    /// Something of another kind, which is judged by its name alone.
    Other {
        /// Which kind.
        kind: TouchKind,
        /// What is touched.
        target: String,
    },
    /// Something that is not a path of the workspace, and why.
    NoPath {
        /// The file service's reason for refusing it.
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
    /// The reserved id that the file requests.
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
    /// Whether it defines an MCP server that the agent's file does not define now.
    #[serde(default)]
    pub defines_servers: bool,
    /// Whether it names a coding agent of the person's that the agent's file does not name now.
    #[serde(default)]
    pub names_coding_agent: bool,
}

/// What there is now, as far as a judgement needs it.
pub trait GateContext {
    /// The text of a file, by its path as it is written in the workspace.
    fn text(&self, path: &str) -> Option<&str>;
    /// The profile with an id and the file that defines it, or did as long as an agent runs it.
    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)>;
    /// The former rights of an id whose file was deleted and that nobody runs any more.
    fn former(&self, id: &str) -> Former<'_>;
    /// Whether anything on this computer keeps programs in that agents run.
    fn keeps_programs_in(&self) -> bool {
        false
    }
    /// The longer id by which the agent of this file goes, where another file has the one of its name.
    fn longer_id_at(&self, _path: &str) -> Option<Id> {
        None
    }
}

/// The world's files and profiles.
#[derive(Clone, Copy)]
pub struct RoomGateContext<'a> {
    /// Texts of files.
    pub files: &'a KnownFiles,
    /// What agents are.
    pub profiles: &'a Profiles,
    /// Whether anything on this computer keeps programs in.
    pub keeps_programs_in: bool,
}

impl GateContext for RoomGateContext<'_> {
    fn text(&self, path: &str) -> Option<&str> {
        self.files.text(path)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        Some((self.profiles.path(id)?, self.profiles.get(id)?))
    }

    fn former(&self, id: &str) -> Former<'_> {
        self.profiles.former(id)
    }

    fn keeps_programs_in(&self) -> bool {
        self.keeps_programs_in
    }

    fn longer_id_at(&self, path: &str) -> Option<Id> {
        let id = self.profiles.id_at(path)?;
        longer_ids_of_path(path).iter().any(|longer| **longer == **id).then(|| id.clone())
    }
}

impl Act {
    /// What a call says that it touches.
    pub fn of(tool: &str, declared: &[DeclaredTouch], there: &dyn GateContext, names: &ToolNames) -> Self {
        let judge = Judge { there, names };
        let touches = declared.iter().flat_map(|touch| judge.touches(touch).unwrap_or_else(|no_path| vec![no_path]));
        Self { tool: tool.to_owned(), touches: touches.collect() }
    }

    /// The same, where files are changed in the agent's own copy alone: what happens there changes nothing in the room,
    /// and no file that the room itself reads can be changed there.
    #[must_use]
    pub fn in_worktree(mut self) -> Self {
        let of_copy = |path: &WorkspacePath| Touch::Other { kind: TouchKind::COPY_WRITE, target: path.to_string() };
        self.touches.retain(|touch| !matches!(touch, Touch::Profile(_) | Touch::UnknownProfile { .. }));
        for touch in &mut self.touches {
            if let Touch::Write { path } | Touch::Delete { path } | Touch::Rename { from: path, .. } = touch {
                *touch = of_copy(path);
            }
        }
        self
    }

    /// An order to files.
    pub fn of_files(tool: &str, operation: &FileOperation, there: &dyn GateContext, names: &ToolNames) -> Self {
        Self::of(tool, &file_touches(operation), there, names)
    }

    /// The start of an agent whose file would say this.
    pub fn of_spawn(tool: &str, path: &str, content: &str, there: &dyn GateContext, names: &ToolNames) -> Self {
        let becomes = TouchEffect::Text { content: content.to_owned() };
        Self::of(tool, &[DeclaredTouch::new(TouchKind::AGENT_SPAWN, path).becoming(becomes)], there, names)
    }

    /// The start of an agent that is there, by its id. Its file stays as it is.
    pub fn of_start(tool: &str, id: &str, there: &dyn GateContext, names: &ToolNames) -> Self {
        Self::of(tool, &[DeclaredTouch::new(TouchKind::AGENT_START, id)], there, names)
    }

    /// A word to the agent that started this one.
    pub fn of_signal(tool: &str) -> Self {
        Self { tool: tool.to_owned(), touches: vec![Touch::Signal] }
    }
}

/// What an order to files touches; nothing, which is never allowed, where it is none for tools.
pub fn file_touches(operation: &FileOperation) -> Vec<DeclaredTouch> {
    let touch = |kind: TouchKind, path: &str| DeclaredTouch::new(kind, path);
    // The new content of a file counts only if it defines an agent.
    let says = |path: &str, becomes: &dyn Fn() -> TouchEffect| {
        let is_profile = WorkspacePath::new(path).is_ok_and(|path| paths::profile_place(&path).is_some());
        if is_profile { becomes() } else { TouchEffect::Unknown }
    };
    match operation {
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => vec![touch(TouchKind::FILE_READ, path)],
        FileOperation::List { .. } | FileOperation::Search { .. } => vec![touch(TouchKind::FILE_FIND, "")],
        FileOperation::Write { path, content } => {
            let becomes = says(path, &|| TouchEffect::Text { content: content.clone() });
            vec![touch(TouchKind::FILE_WRITE, path).becoming(becomes)]
        }
        FileOperation::Edit { path, old, new } => {
            let becomes = says(path, &|| TouchEffect::Passage { old: old.clone(), new: new.clone() });
            // Replacing a passage reveals whether it exists.
            vec![touch(TouchKind::FILE_READ, path), touch(TouchKind::FILE_WRITE, path).becoming(becomes)]
        }
        FileOperation::Append { path, .. } => {
            // The present content may be newer than the known one, and appended text can change its meaning. The new
            // length reveals the old one.
            vec![touch(TouchKind::FILE_READ, path), touch(TouchKind::FILE_WRITE, path)]
        }
        FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => {
            vec![touch(TouchKind::FILE_DELETE, path)]
        }
        FileOperation::Rename { from, to } => {
            vec![touch(TouchKind::FILE_RENAME, from).becoming(TouchEffect::Path { to: to.clone() })]
        }
        FileOperation::CreateFolder { path } => {
            // It reveals whether a file with this name exists.
            vec![touch(TouchKind::FILE_READ, path), touch(TouchKind::FILE_WRITE, path)]
        }
        FileOperation::Restore { path, .. } => vec![touch(TouchKind::FILE_WRITE, path)],
        FileOperation::Save { .. }
        | FileOperation::Record { .. }
        | FileOperation::KeepRecord { .. }
        | FileOperation::CommitWorktree { .. }
        | FileOperation::MergeWorktree { .. } => Vec::new(),
    }
}

/// The one form of a path, or why it is none.
fn place(given: &str) -> Result<WorkspacePath, Touch> {
    WorkspacePath::new(given).map_err(|refusal| Touch::NoPath { why: refusal.to_string() })
}

struct Judge<'a> {
    there: &'a dyn GateContext,
    names: &'a ToolNames,
}

impl Judge<'_> {
    /// The effect of a declared touch, including its effect on an agent.
    fn touches(&self, declared: &DeclaredTouch) -> Result<Vec<Touch>, Touch> {
        let DeclaredTouch { kind, target, becomes } = declared;
        let touches = match kind.as_str() {
            "file.read" => vec![Touch::Read { path: place(target)? }],
            "file.find" => vec![Touch::Look],
            "file.write" | "profile.write" => {
                let path = place(target)?;
                let change = self.profile(&path, None, |path| self.text_after(path, becomes));
                std::iter::once(Touch::Write { path }).chain(change).collect()
            }
            "file.delete" => vec![Touch::Delete { path: place(target)? }],
            "file.rename" => {
                let TouchEffect::Path { to } = becomes else {
                    return Err(Touch::NoPath { why: "the new name of the file is missing".to_owned() });
                };
                let (from, to) = (place(target)?, place(to)?);
                let text = self.there.text(from.as_str()).map(str::to_owned);
                let change = self.profile(&to, Some(&from), |_| text.clone());
                std::iter::once(Touch::Rename { from, to }).chain(change).collect()
            }
            "agent.spawn" => {
                let path = place(target)?;
                let text = self.text_after(path.as_str(), becomes);
                let is_taken = self.there.text(path.as_str()).is_some_and(|there| Some(there) != text.as_deref());
                // What defines no agent cannot be started.
                let change = self.profile(&path, None, |_| text.clone()).unwrap_or(Touch::Forbidden);
                vec![Touch::Spawn { path, is_taken }, change]
            }
            "agent.start" => match self.there.profile(target) {
                None => vec![Touch::Forbidden],
                Some((path, profile)) => {
                    let path = place(path)?;
                    let authority = Box::new(Authority::of(path.as_str(), profile, self.names).0);
                    vec![Touch::Start { path, id: target.as_str().into(), authority }]
                }
            },
            "agent.signal" => vec![Touch::Signal],
            "process.run" => {
                let text = self.there.text(ALLOWLIST_FILE).unwrap_or_default();
                let judged = commands::judge(target, &CommandRules::parse(text).0);
                vec![Touch::Command { line: target.clone(), judged, is_kept_in: self.there.keeps_programs_in() }]
            }
            "mcp.call" => match becomes {
                TouchEffect::Called { server, tool, key, hints } => {
                    vec![Touch::Call { server: server.clone(), tool: tool.clone(), key: key.clone(), hints: *hints }]
                }
                _ => vec![Touch::Other { kind: kind.clone(), target: target.clone() }],
            },
            _ => vec![Touch::Other { kind: kind.clone(), target: target.clone() }],
        };
        Ok(touches)
    }

    /// The resulting content of a file, if it is known.
    fn text_after(&self, path: &str, becomes: &TouchEffect) -> Option<String> {
        match becomes {
            TouchEffect::Text { content } => Some(content.clone()),
            TouchEffect::Passage { old, new } => {
                // A passage that is not in the known text may be in a newer one on disk.
                let text = self.there.text(path).filter(|text| text.matches(old.as_str()).count() == 1)?;
                Some(text.replacen(old.as_str(), new, 1))
            }
            TouchEffect::Unknown | TouchEffect::Path { .. } | TouchEffect::Called { .. } => None,
        }
    }

    /// The effect on the agent that a file at this path defines, if it defines one. `text` gives the new content;
    /// `from` is the previous path.
    fn profile(
        &self,
        path: &WorkspacePath,
        from: Option<&WorkspacePath>,
        text: impl Fn(&str) -> Option<String>,
    ) -> Option<Touch> {
        let (place, format) = paths::profile_place(path)?;
        let Some(text) = text(place.as_str()) else {
            let remedy = "its new content is unknown; read the file, and write its whole text".to_owned();
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
        let defined = |profile: &AgentProfile| -> Vec<Id> {
            let entries = profile.mcp_servers.iter().flatten();
            entries
                .filter_map(|entry| if let McpEntry::Defined(server) = entry { Some(server.key()) } else { None })
                .collect()
        };
        let standing_defines = standing.as_ref().map(&defined).unwrap_or_default();
        let defines_servers = defined(&profile).iter().any(|key| !standing_defines.contains(key));
        let coding_agent = |profile: &AgentProfile| {
            let model = profile.model.as_deref().map(str::trim).unwrap_or_default();
            model.split(':').next().is_some_and(|name| name == PROVIDER).then(|| model.to_owned())
        };
        let named = coding_agent(&profile);
        let names_coding_agent = named.is_some() && standing.as_ref().and_then(&coding_agent) != named;
        let current = match (there, &standing, former) {
            (Some((path, profile)), _, _) => Some(authority(path, profile)),
            (None, Some(profile), _) | (None, None, Former::Known(profile)) => Some(authority(place.as_str(), profile)),
            (None, None, Former::Never | Former::Unknown) => None,
        };
        Some(Touch::Profile(Box::new(ProfileChange {
            defines_servers,
            names_coding_agent,
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
