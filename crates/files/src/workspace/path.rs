//! Workspace paths: a [`WorkspacePath`] can only be created by normalising a given path. Paths that would lead
//! elsewhere, on this machine or on another to which the workspace may be copied, are rejected.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::protected_paths::{AgentWriteRule, guarded, is_agent_at_top};
use crate::base::text::truncate;
use crate::base::text_normalization::{folded, is_unseen, nfc, skeleton};

/// What agents ask a person, as tasks that the person answers in an editor. Nobody else writes it.
pub const APPROVALS_FILE: &str = "tasks/approvals.task.md";

/// Longest part of a path, in bytes: what the common file systems take.
const PART_BYTES_AT_MOST: usize = 255;
/// Longest path, in bytes: leaves room for the workspace's own place within what Windows takes.
const PATH_BYTES_AT_MOST: usize = 1024;
/// Folders within folders, the file included.
const PARTS_AT_MOST: usize = 16;
/// Folders that mean something to this program; another spelling of one would land in it on some machines.
const KNOWN_NAMES: [&str; 15] = [
    "agents",
    "templates",
    "memory",
    "artifacts",
    "scenes",
    "boards",
    "tasks",
    "sessions",
    "storage",
    "workflows",
    "settings.yaml",
    "approvals.task.md",
    ".workshop",
    ".git",
    ".mcp.json",
];
/// Hidden files that hold keys by custom: as closed as the program's own.
const SECRET_NAMES: [&str; 10] =
    [".env", ".ssh", ".netrc", ".npmrc", ".pypirc", ".aws", ".gnupg", ".docker", ".git-credentials", ".mcp.json"];

/// The path of a file in the workspace: relative, `/` between parts, normalised (NFC), and never outside by its
/// spelling. Links on disk are handled separately: see `resolve` in [`super::vfs`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(Arc<str>);

/// Why a text is not a valid path of the workspace, described for the model or person that gave it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{given} {why}")]
pub struct PathRefusal {
    /// What was given, quoted, cut short, without control characters.
    pub given: String,
    /// Why not, and what to give instead.
    pub why: &'static str,
}

/// What a folder is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileKind {
    /// What an agent is.
    Agent,
    /// What agents share and remember.
    Memory,
    /// What they make.
    Artifact,
    /// A room.
    Scene,
    /// What elements hold.
    Board,
    /// Tasks and approvals.
    Task,
    /// The program's record of a conversation with a model.
    Session,
    /// Anything else.
    Unknown,
}

impl FileKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Memory => "memory",
            Self::Artifact => "artifact",
            Self::Scene => "scene",
            Self::Board => "board",
            Self::Task => "task",
            Self::Session => "session",
            Self::Unknown => "unknown",
        }
    }
}

/// Who may do what with a path, regardless of their own permissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// File tools may read and write it.
    Open,
    /// File tools may read it.
    ReadOnly,
    /// File tools may read it; the program keeps its own records there.
    Records,
    /// Nobody reads or writes it through here.
    Closed,
}

impl WorkspacePath {
    /// The only way to make one.
    pub fn new(given: &str) -> Result<Self, PathRefusal> {
        normalise(given).map(|path| Self(path.into())).map_err(|why| PathRefusal { given: quoted(given), why })
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its parts, outermost first.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The path of the folder that it lies in, empty for the workspace itself.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// What its folder is for.
    pub fn kind(&self) -> FileKind {
        kind_of(&self.0)
    }

    /// Who may do what with it.
    pub fn reach(&self) -> Reach {
        if self.parts().any(is_closed_name) {
            return Reach::Closed;
        }
        match guarded(&self.0) {
            Some(place) if place.name == "sessions" => Reach::Records,
            Some(place) if place.writes == AgentWriteRule::Never => Reach::ReadOnly,
            _ if folded(&self.0) == APPROVALS_FILE => Reach::ReadOnly,
            _ => Reach::Open,
        }
    }
}

/// Whether whatever has this name is closed to file tools, with all that lies in it: the program's own, and keys.
pub fn is_closed_name(name: &str) -> bool {
    let name = folded(name);
    name == ".workshop"
        || name == ".git"
        || SECRET_NAMES.iter().any(|secret| name == *secret || name.starts_with(&format!("{secret}.")))
}

/// What a path's folder is for; also for paths that a listing names.
pub fn kind_of(path: &str) -> FileKind {
    match path.split_once('/').map_or("", |(first, _)| first) {
        "agents" | "templates" => FileKind::Agent,
        "" if is_agent_at_top(path) => FileKind::Agent,
        "memory" => FileKind::Memory,
        "artifacts" => FileKind::Artifact,
        "scenes" => FileKind::Scene,
        "boards" => FileKind::Board,
        "tasks" => FileKind::Task,
        "sessions" => FileKind::Session,
        _ => FileKind::Unknown,
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, out)
    }
}

impl Borrow<str> for WorkspacePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for WorkspacePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Serialize for WorkspacePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WorkspacePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A text in quotes, fit to be shown: short, on one line, nothing invisible.
pub(super) fn quoted(given: &str) -> String {
    let shown: String = truncate(given, 200).chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect();
    format!("'{shown}'")
}

fn normalise(given: &str) -> Result<String, &'static str> {
    if given.len() > PATH_BYTES_AT_MOST {
        return Err("is too long: at most 1024 bytes");
    }
    if given.is_empty() {
        return Err("is not a path; name a file, such as 'artifacts/plan.md'");
    }
    if given.starts_with(['/', '~']) {
        return Err("is not inside the workspace; use a relative path, such as 'artifacts/plan.md'");
    }
    let path = nfc(given);
    let path = path.strip_prefix("./").unwrap_or(&path);
    let parts: Vec<&str> = path.split('/').collect();
    if parts.len() > PARTS_AT_MOST {
        return Err("is nested too deeply: at most 16 parts");
    }
    parts.iter().try_for_each(|part| check_part(part))?;
    check_known_names(&parts)?;
    if path.len() > PATH_BYTES_AT_MOST {
        return Err("is too long: at most 1024 bytes");
    }
    Ok(path.to_owned())
}

fn check_part(part: &str) -> Result<(), &'static str> {
    if part.is_empty() {
        return Err("has an empty part: remove double or trailing '/'");
    }
    if part.len() > PART_BYTES_AT_MOST {
        return Err("has a part that is too long: at most 255 bytes");
    }
    if part.chars().any(is_unseen) {
        return Err("has an invisible character");
    }
    // What a character stands for counts as much as what it is: '／' lands elsewhere on some machine.
    let plain = folded(part);
    for part in [part, plain.as_str()] {
        if part == "." || part == ".." {
            return Err("must not use '..': name the file from the workspace root, such as 'artifacts/plan.md'");
        }
        if part.contains(['/', '\\', ':', '<', '>', '"', '|', '?', '*']) {
            return Err("has a character that is special on other systems; use letters, digits, '-', '_' and '.'");
        }
        if part.ends_with(['.', ' ']) || part.starts_with(' ') {
            return Err("has a part that starts with a space, or ends with a space or a dot");
        }
    }
    if part.chars().any(stands_for_another) || (plain.starts_with('.') && !part.starts_with('.')) {
        return Err("has a look-alike character; use letters, digits, '-', '_' and '.'");
    }
    if has_escape(part) {
        return Err("has an escape such as '%2e'; write the character itself");
    }
    if is_short_name(part) {
        return Err("looks like the short name of another file, such as 'GIT~1'");
    }
    if is_device(&plain) {
        return Err("has a part that is a device name on Windows; choose another name");
    }
    Ok(())
}

/// Another spelling of a name that means something: it would be that one where case does not count, or look like it.
fn check_known_names(parts: &[&str]) -> Result<(), &'static str> {
    let depth = |name: &str| match name {
        "approvals.task.md" => 1,
        _ => 0,
    };
    for (at, part) in parts.iter().enumerate() {
        let likeness = skeleton(part);
        let same = KNOWN_NAMES.iter().find(|name| likeness == **name && (depth(name) == at || name.starts_with('.')));
        if same.is_some_and(|name| name != part) {
            return Err("is another spelling of a reserved name; write it in lower case");
        }
    }
    Ok(())
}

/// Looks like a separator, a dot or a colon and is none, and does not become one by [`folded`] either.
fn stands_for_another(c: char) -> bool {
    matches!(
        c,
        '\u{2044}'
            | '\u{2215}'
            | '\u{2216}'
            | '\u{29f5}'
            | '\u{29f8}'
            | '\u{29f9}'
            | '\u{2571}'
            | '\u{2572}'
            | '\u{27cb}'
            | '\u{27cd}'
            | '\u{1735}'
            | '\u{338}'
            | '\u{337}'
            | '\u{2236}'
            | '\u{a789}'
            | '\u{2d0}'
    )
}

fn has_escape(part: &str) -> bool {
    let bytes = part.as_bytes();
    bytes.windows(3).any(|window| window[0] == b'%' && window[1].is_ascii_hexdigit() && window[2].is_ascii_hexdigit())
        || bytes.windows(2).any(|window| window[0] == b'%' && matches!(window[1], b'u' | b'%'))
}

/// `GITHUB~1.MD`: the name that Windows may have given to another file.
fn is_short_name(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part);
    stem.rsplit_once('~').is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_device(folded: &str) -> bool {
    let stem = folded.split('.').next().unwrap_or(folded).trim_end();
    let numbered = |name: &str| {
        stem.strip_prefix(name).is_some_and(|rest| matches!(rest.as_bytes(), [digit] if digit.is_ascii_digit()))
    };
    matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" | "clock$")
        || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
#[path = "path_tests.rs"]
pub(in crate::workspace) mod tests;
