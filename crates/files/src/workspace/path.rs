//! Workspace paths: a [`WorkspacePath`] can only be created by normalising a given path. Paths that would lead
//! elsewhere, on this machine or on another to which the workspace may be copied, are rejected.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::protected_paths::{AgentWriteRule, guarded, is_agent_at_top};
use crate::base::paths;
use crate::base::text::truncate;
use crate::base::text_normalization::{folded, is_invisible, nfc, skeleton};

/// The agents' questions to a person, as tasks that the person answers in an editor. Agents cannot write this file.
pub const APPROVALS_FILE: &str = "tasks/approvals.task.md";

/// The maximum length of a path component in bytes, as in common file systems.
const MAX_PART_BYTES: usize = 255;
/// The maximum length of a path in bytes. It leaves room for the path of the workspace itself within the limit of
/// Windows.
const MAX_PATH_BYTES: usize = 1024;
/// The maximum number of components, including the file.
const MAX_PARTS: usize = 16;
/// Names that have a meaning in this program; on some machines, another spelling would address the same file.
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
/// Hidden files that usually contain keys; they are as inaccessible as the program's own.
const SECRET_NAMES: [&str; 10] =
    [".env", ".ssh", ".netrc", ".npmrc", ".pypirc", ".aws", ".gnupg", ".docker", ".git-credentials", ".mcp.json"];

/// The path of a file in the workspace: relative, with `/` between parts, normalised (NFC), and spelled so that it
/// cannot lead outside. Links on disk are handled separately: see `resolve` in [`super::vfs`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(Arc<str>);

/// Why a text is not a valid path of the workspace, described for the model or person that gave it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{given} {why}")]
pub struct PathRefusal {
    /// The given text, quoted and shortened, without control characters.
    pub given: String,
    /// The reason, and what to use instead.
    pub why: &'static str,
}

/// The purpose of a file, by its folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileKind {
    /// The definition of an agent.
    Agent,
    /// Memories and shared entries of agents.
    Memory,
    /// Results of agents' work.
    Artifact,
    /// A scene.
    Scene,
    /// The content of an element.
    Board,
    /// Tasks and approvals.
    Task,
    /// The program's record of a conversation with a model.
    Session,
    /// Anything else.
    Unknown,
}

impl FileKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
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

/// The access of file tools to a path, regardless of the caller's permissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathAccess {
    /// File tools may read and write it.
    Open,
    /// File tools may read it.
    ReadOnly,
    /// File tools may read it; the program keeps its own records there.
    Records,
    /// File tools may neither read nor write it.
    Closed,
}

impl WorkspacePath {
    /// Normalises and checks a path.
    pub fn new(given: &str) -> Result<Self, PathRefusal> {
        normalise(given).map(|path| Self(path.into())).map_err(|why| PathRefusal { given: quoted(given), why })
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the components, outermost first.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the last component.
    pub fn name(&self) -> &str {
        paths::file_name(&self.0)
    }

    /// Returns the path of the containing folder; empty for the workspace itself.
    pub fn folder(&self) -> &str {
        paths::folder_of(&self.0)
    }

    /// Returns the purpose of the file.
    pub fn kind(&self) -> FileKind {
        kind_of(&self.0)
    }

    /// Returns the access of file tools to the path.
    pub fn reach(&self) -> PathAccess {
        if self.parts().any(is_closed_name) {
            // File tools can neither read nor write keys, `.git` and the program's own folder, wherever they are.
            rule!("keys-are-closed-to-file-tools");
            return PathAccess::Closed;
        }
        match guarded(&self.0) {
            Some(place) if place.name == "sessions" => PathAccess::Records,
            Some(place) if place.writes == AgentWriteRule::Never => PathAccess::ReadOnly,
            _ if folded(&self.0) == APPROVALS_FILE => PathAccess::ReadOnly,
            _ => PathAccess::Open,
        }
    }
}

/// Whether a file or folder of this name is inaccessible to file tools, with everything in it: the program's own, and
/// keys.
pub fn is_closed_name(name: &str) -> bool {
    let name = folded(name);
    name == ".workshop"
        || name == ".git"
        || SECRET_NAMES.iter().any(|secret| name == *secret || name.starts_with(&format!("{secret}.")))
}

/// Returns the purpose of the file at a path that need not be normalised.
pub fn kind_of(path: &str) -> FileKind {
    // What a file is for follows from the folder at the top of the workspace in which it is.
    rule!("a-files-kind-is-its-folder");
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

/// Quotes a text for display: short, on one line, without invisible characters.
pub(super) fn quoted(given: &str) -> String {
    let shown: String = truncate(given, 200).chars().map(|c| if is_invisible(c) { '\u{fffd}' } else { c }).collect();
    format!("'{shown}'")
}

fn normalise(given: &str) -> Result<String, &'static str> {
    if given.len() > MAX_PATH_BYTES {
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
    if parts.len() > MAX_PARTS {
        return Err("is nested too deeply: at most 16 parts");
    }
    parts.iter().try_for_each(|part| check_part(part))?;
    check_known_names(&parts)?;
    if path.len() > MAX_PATH_BYTES {
        return Err("is too long: at most 1024 bytes");
    }
    Ok(path.to_owned())
}

fn check_part(part: &str) -> Result<(), &'static str> {
    if part.is_empty() {
        return Err("has an empty part: remove double or trailing '/'");
    }
    if part.len() > MAX_PART_BYTES {
        return Err("has a part that is too long: at most 255 bytes");
    }
    if part.chars().any(is_invisible) {
        return Err("has an invisible character");
    }
    // Compatibility forms count, too: '／' is a separator on some machines.
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

/// Rejects another spelling of a meaningful name: it would be the same name where case is ignored, or look like it.
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

/// Whether a character looks like a separator, a dot or a colon, is none, and is not turned into one by [`folded`]
/// either.
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

/// Whether this is a short name such as `GITHUB~1.MD`, which Windows may have given to another file.
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
