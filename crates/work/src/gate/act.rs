//! Acts and their touches: a file operation, the start of an agent or a signal to a parent, broken down into parts that
//! the gate checks. A change of an agent's file is checked by the resulting content of the file.

use serde::{Deserialize, Serialize};

use super::authority::{Authority, ToolNames};
use super::commands::{self, ALLOWLIST_FILE, CommandRules, CommandVerdict};
use super::paths;
use super::touch::{DeclaredTouch, TouchEffect, TouchKind};
use crate::agent::agent_file::{DOCUMENT_OF_FOLDER, longer_ids_of_path};
use crate::agent::{AgentProfile, McpEntry, Profiles, RemovedProfile};
use crate::base::Id;
use crate::base::paths::folder_of;
use crate::element::PrivatePlaces;
use crate::gateway::acp::PROVIDER;
use crate::gateway::mcp::McpHints;
use crate::memory::MemoryCounts;
use crate::workspace::vfs::{FileOperation, WorkspacePath};
use crate::workspace::{KnownFiles, WorkspaceTrust};

/// An act that is to be checked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Act {
    /// The name of the tool that performs the act.
    pub tool: String,
    /// Everything that the act touches.
    pub touches: Vec<Touch>,
}

/// A part of an act, as checked by the gate. Paths are normalized in the same way as by the file service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Touch {
    /// Reads a file.
    Read {
        /// The file.
        path: WorkspacePath,
    },
    /// Lists or searches files that the agent may read.
    Look,
    /// Writes a file.
    Write {
        /// The file.
        path: WorkspacePath,
    },
    /// Deletes a file.
    Delete {
        /// The file.
        path: WorkspacePath,
    },
    /// Renames a file.
    Rename {
        /// The old path.
        from: WorkspacePath,
        /// The new path.
        to: WorkspacePath,
    },
    /// Changes an agent's profile.
    Profile(Box<ProfileChange>),
    /// Changes an agent's profile to unknown content.
    UnknownProfile {
        /// The agent's file.
        path: WorkspacePath,
        /// What to do instead.
        remedy: String,
    },
    /// Starts an agent from a new file.
    Spawn {
        /// The agent's file.
        path: WorkspacePath,
        /// Whether a file with different content already exists.
        is_taken: bool,
    },
    /// Starts an existing agent.
    Start {
        /// The agent's file.
        path: WorkspacePath,
        /// The agent's id.
        id: Id,
        /// The agent's own authority.
        authority: Box<Authority>,
    },
    /// Sends a message to the agent that started this one.
    Signal,
    /// Calls a tool of an MCP server.
    Call {
        /// The display name of the server.
        server: String,
        /// The name of the tool on the server.
        tool: String,
        /// The key of the server.
        key: Id,
        /// The server's hints about the tool.
        hints: McpHints,
    },
    /// Runs a command.
    Command {
        /// The command line.
        line: String,
        /// The folder of the workspace in which it runs, empty for the top; `None` if it is unknown.
        #[serde(default)]
        folder: Option<String>,
        /// The verdict of the person's rules for commands.
        judged: CommandVerdict,
        /// Whether a sandbox is available on this computer.
        is_kept_in: bool,
    },
    /// A touch of another kind, which is checked by its kind alone.
    Other {
        /// The kind.
        kind: TouchKind,
        /// The target of the touch.
        target: String,
    },
    /// A target that is not a path in the workspace.
    NoPath {
        /// The file service's reason for rejecting it.
        why: String,
    },
    /// Something that no tool may do.
    Forbidden,
}

/// An agent's file as it would be after an act, compared with the current one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileChange {
    /// The path of the file.
    pub path: WorkspacePath,
    /// The id that the file would define.
    pub id: Id,
    /// The reserved id that the file requests.
    pub reserved_id: Option<Id>,
    /// The authority that the file would give.
    pub authority: Authority,
    /// The current authority of the agent with this id or of this file, or its last authority if the file was deleted.
    pub current: Option<Authority>,
    /// Whether it is unknown if there was an agent with this id, because its record may have been dropped.
    pub may_be_forgotten: bool,
    /// Another file that defines this id, or that defined it for an agent that still uses it.
    pub holder: Option<String>,
    /// Whether the file contains code that would run.
    pub holds_code: bool,
    /// Whether an agent with this id has or had other instructions.
    #[serde(default)]
    pub changes_instructions: bool,
    /// The folder of another document that the file is part of.
    #[serde(default)]
    pub in_folder_of_agent: Option<String>,
    /// Whether the file defines an MCP server that the current file does not define.
    #[serde(default)]
    pub defines_servers: bool,
    /// Whether the file names a coding agent of the person that the current file does not name.
    #[serde(default)]
    pub names_coding_agent: bool,
    /// Whether the file makes a new agent with the id of an earlier one, whose memories, sessions and mail it would get.
    #[serde(default)]
    pub would_inherit: bool,
}

/// The state of the workspace that the gate needs for its checks.
pub trait GateContext {
    /// The text of the file at this path.
    fn text(&self, path: &str) -> Option<&str>;
    /// The profile with this id and the path of its file, also if the file was deleted but an agent still uses it.
    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)>;
    /// The former permissions of an id whose file was deleted and that no agent uses any more.
    fn former(&self, id: &str) -> RemovedProfile<'_>;
    /// Whether an agent with this id, which need not exist any more, has private memories, saved sessions or mail.
    fn has_private_records(&self, _id: &str) -> bool {
        false
    }
    /// What the person trusts of the workspace.
    fn trust(&self) -> Option<&WorkspaceTrust> {
        None
    }
    /// Whether a sandbox is available for the programs that agents run.
    fn keeps_programs_in(&self) -> bool {
        false
    }
    /// The longer id of the agent in this file, if another file has the id that its name suggests.
    fn longer_id_at(&self, _path: &str) -> Option<Id> {
        None
    }
}

/// The files and profiles of the room.
#[derive(Clone, Copy)]
pub struct RoomGateContext<'a> {
    /// The known files of the workspace.
    pub files: &'a KnownFiles,
    /// The profiles.
    pub profiles: &'a Profiles,
    /// The memories and saved sessions of agents.
    pub memories: &'a MemoryCounts,
    /// The inboxes of all scenes.
    pub inboxes: &'a PrivatePlaces,
    /// What the person trusts of the workspace.
    pub trust: &'a WorkspaceTrust,
    /// Whether a sandbox is available on this computer.
    pub keeps_programs_in: bool,
}

impl GateContext for RoomGateContext<'_> {
    fn trust(&self) -> Option<&WorkspaceTrust> {
        Some(self.trust)
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.text(path)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        Some((self.profiles.path(id)?, self.profiles.get(id)?))
    }

    fn former(&self, id: &str) -> RemovedProfile<'_> {
        self.profiles.removed_profile(id)
    }

    fn has_private_records(&self, id: &str) -> bool {
        self.memories.has_private(id) || self.inboxes.has_any_of(id)
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
    /// Creates an act from the touches that a call declares.
    pub fn of(tool: &str, declared: &[DeclaredTouch], context: &dyn GateContext, names: &ToolNames) -> Self {
        let resolver = TouchResolver { context, names };
        let touches = declared.iter().flat_map(|touch| resolver.touches(touch).unwrap_or_else(|no_path| vec![no_path]));
        Self { tool: tool.to_owned(), touches: touches.collect() }
    }

    /// Converts the act to one in the agent's worktree. Changes there do not affect the room, and none of them touches
    /// a file that the room reads.
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

    /// The act of a file operation.
    pub fn of_files(tool: &str, operation: &FileOperation, context: &dyn GateContext, names: &ToolNames) -> Self {
        Self::of(tool, &file_touches(operation), context, names)
    }

    /// The act of starting an agent whose file would have this content.
    pub fn of_spawn(tool: &str, path: &str, content: &str, context: &dyn GateContext, names: &ToolNames) -> Self {
        let becomes = TouchEffect::Text { content: content.to_owned() };
        Self::of(tool, &[DeclaredTouch::new(TouchKind::AGENT_SPAWN, path).becoming(becomes)], context, names)
    }

    /// The act of starting an existing agent by its id, which does not change its file.
    pub fn of_start(tool: &str, id: &str, context: &dyn GateContext, names: &ToolNames) -> Self {
        Self::of(tool, &[DeclaredTouch::new(TouchKind::AGENT_START, id)], context, names)
    }

    /// The act of sending a message to the agent that started this one.
    pub fn of_signal(tool: &str) -> Self {
        Self { tool: tool.to_owned(), touches: vec![Touch::Signal] }
    }
}

/// The touches of a file operation. They are empty, which is never allowed, for operations that tools cannot perform.
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
        | FileOperation::EditWith { .. }
        | FileOperation::Record { .. }
        | FileOperation::KeepRecord { .. }
        | FileOperation::CommitWorktree { .. }
        | FileOperation::MergeWorktree { .. } => Vec::new(),
    }
}

/// Normalizes a path.
fn place(given: &str) -> Result<WorkspacePath, Touch> {
    WorkspacePath::new(given).map_err(|refusal| Touch::NoPath { why: refusal.to_string() })
}

struct TouchResolver<'a> {
    context: &'a dyn GateContext,
    names: &'a ToolNames,
}

impl TouchResolver<'_> {
    /// Converts a declared touch to the touches that are checked, including a change of a profile.
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
                let text = self.context.text(from.as_str()).map(str::to_owned);
                let change = self.profile(&to, Some(&from), |_| text.clone());
                std::iter::once(Touch::Rename { from, to }).chain(change).collect()
            }
            "agent.spawn" => {
                let path = place(target)?;
                let text = self.text_after(path.as_str(), becomes);
                let is_taken = self.context.text(path.as_str()).is_some_and(|current| Some(current) != text.as_deref());
                // A file that defines no agent cannot be started.
                let change = self.profile(&path, None, |_| text.clone()).unwrap_or(Touch::Forbidden);
                vec![Touch::Spawn { path, is_taken }, change]
            }
            "agent.start" => match self.context.profile(target) {
                None => vec![Touch::Forbidden],
                Some((path, profile)) => {
                    let path = place(path)?;
                    let authority = Box::new(Authority::of(path.as_str(), profile, self.names).0);
                    vec![Touch::Start { path, id: target.as_str().into(), authority }]
                }
            },
            "agent.signal" => vec![Touch::Signal],
            "process.run" => {
                let text = self.context.text(ALLOWLIST_FILE).unwrap_or_default();
                let folder = match becomes {
                    TouchEffect::RunsIn { folder } => Some(folder.clone()),
                    _ => None,
                };
                let rules = CommandRules::of(text);
                let judged = match self.context.trust() {
                    Some(trust) if !trust.is_everything() => {
                        commands::judge(target, folder.as_deref(), &CommandRules::clone(&rules).trusted(trust))
                    }
                    _ => commands::judge(target, folder.as_deref(), &rules),
                };
                let is_kept_in = self.context.keeps_programs_in();
                vec![Touch::Command { line: target.clone(), folder, judged, is_kept_in }]
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

    /// The content of a file after the change, if it is known.
    fn text_after(&self, path: &str, becomes: &TouchEffect) -> Option<String> {
        match becomes {
            TouchEffect::Text { content } => Some(content.clone()),
            TouchEffect::Passage { old, new } => {
                // A passage that is not in the known text may be in a newer one on disk.
                let text = self.context.text(path).filter(|text| text.matches(old.as_str()).count() == 1)?;
                Some(text.replacen(old.as_str(), new, 1))
            }
            TouchEffect::Unknown
            | TouchEffect::Path { .. }
            | TouchEffect::Called { .. }
            | TouchEffect::RunsIn { .. } => None,
        }
    }

    /// The folder of an agent that contains this file, which is not its document.
    fn folder_of_agent(&self, path: &WorkspacePath) -> Option<String> {
        let folders = std::iter::successors(Some(folder_of(path.as_str())), |folder| Some(folder_of(folder)));
        let mut folders = folders.take_while(|folder| !folder.is_empty());
        let is_of_agent = |folder: &&str| {
            let document = format!("{folder}/{DOCUMENT_OF_FOLDER}");
            document != path.as_str() && self.context.text(&document).is_some()
        };
        folders.find(is_of_agent).map(str::to_owned)
    }

    /// The change to the agent that is defined by the file at this path, if there is one. `text` returns the new
    /// content; `from` is the previous path.
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
            && let Some(id) = self.context.longer_id_at(place.as_str())
        {
            profile.id = id;
        }
        let authority = |path: &str, profile: &AgentProfile| Authority::of(path, profile, self.names).0;
        let existing = self.context.profile(&profile.id);
        let is_own = |held: &str| held == place.as_str() || from.is_some_and(|from| held == from.as_str());
        let old_profile = self.context.text(place.as_str()).map(|text| (format.read)(place.as_str(), text).profile);
        let former = self.context.former(&profile.id);
        let is_unchanged = |path: &str| self.context.text(path) == Some(text.as_str());
        let is_unchanged = is_unchanged(place.as_str()) || from.is_some_and(|from| is_unchanged(from.as_str()));
        let defined = |profile: &AgentProfile| -> Vec<Id> {
            let entries = profile.mcp_servers.iter().flatten();
            entries
                .filter_map(|entry| if let McpEntry::Defined(server) = entry { Some(server.key()) } else { None })
                .collect()
        };
        let old_servers = old_profile.as_ref().map(&defined).unwrap_or_default();
        let defines_servers = defined(&profile).iter().any(|key| !old_servers.contains(key));
        let coding_agent = |profile: &AgentProfile| {
            let model = profile.model.as_deref().map(str::trim).unwrap_or_default();
            model.split(':').next().is_some_and(|name| name == PROVIDER).then(|| model.to_owned())
        };
        let named = coding_agent(&profile);
        let names_coding_agent = named.is_some() && old_profile.as_ref().and_then(&coding_agent) != named;
        let has_same_id = old_profile.as_ref().is_some_and(|old| old.id == profile.id);
        let is_new = existing.is_none() && !has_same_id;
        let has_earlier = matches!(former, RemovedProfile::Known(_)) || self.context.has_private_records(&profile.id);
        let current = match (existing, &old_profile, former) {
            (Some((path, profile)), _, _) => Some(authority(path, profile)),
            (None, Some(profile), _) | (None, None, RemovedProfile::Known(profile)) => {
                Some(authority(place.as_str(), profile))
            }
            (None, None, RemovedProfile::Never | RemovedProfile::Unknown) => None,
        };
        Some(Touch::Profile(Box::new(ProfileChange {
            changes_instructions: current.is_some() && !is_unchanged,
            in_folder_of_agent: self.folder_of_agent(&place),
            defines_servers,
            names_coding_agent,
            would_inherit: is_new && has_earlier,
            may_be_forgotten: current.is_none() && matches!(former, RemovedProfile::Unknown),
            current,
            holder: existing.map(|(held, _)| held.to_owned()).filter(|held| !is_own(held)),
            authority: authority(place.as_str(), &profile),
            holds_code: place.as_str().ends_with(".mdx") && text.to_lowercase().contains("<tool"),
            id: profile.id,
            reserved_id: file.reserved_id,
            path: place,
        })))
    }
}
