//! Which parts of a workspace a program run by an agent can write: everything except protected paths, decided for each
//! top-level entry. This is the only code that turns the list of [`protected_paths`](crate::workspace::protected_paths)
//! into permissions of programs.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::workspace::layout::is_agent_folder;
use crate::workspace::path::is_closed_name;
use crate::workspace::protected_paths::{MODULES, guarded};

/// The kind of an entry at the workspace's top level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::gateway) enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A link, with its target as written.
    Link(PathBuf),
}

/// The access of a program to an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::gateway) enum ProgramAccess {
    /// The program can read and write it.
    Write,
    /// The program can read it.
    Read,
    /// The program cannot see its content.
    Hidden,
}

/// A top-level entry of the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::gateway::programs) struct WorkspaceEntry {
    pub(in crate::gateway) name: OsString,
    pub(in crate::gateway) kind: EntryKind,
    pub(in crate::gateway) access: ProgramAccess,
}

/// Returns why programs must not create or change an entry of this name in a workspace; `None` if they may. Modules are
/// protected if the workspace itself is an agent; elsewhere a folder of that name belongs to the user's project.
pub(in crate::gateway) fn refused(workspace: &Path, name: &OsStr) -> Option<&'static str> {
    let place = guarded(&name.to_string_lossy())?;
    (place.name != MODULES || is_agent_folder(workspace)).then_some(place.why)
}

/// Returns the top-level entries of the workspace, sorted by name, with their access. Sockets, pipes and devices are
/// left out: programs cannot use them.
pub(in crate::gateway) fn entries(workspace: &Path) -> io::Result<Vec<WorkspaceEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(workspace)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let kind = match () {
            () if kind.is_symlink() => EntryKind::Link(std::fs::read_link(entry.path())?),
            () if kind.is_dir() => EntryKind::Folder,
            () if kind.is_file() => EntryKind::File,
            () => continue,
        };
        let access = match () {
            () if is_hidden(&name) => ProgramAccess::Hidden,
            () if refused(workspace, &name).is_some() => ProgramAccess::Read,
            () => ProgramAccess::Write,
        };
        entries.push(WorkspaceEntry { name, kind, access });
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    protect_targets(workspace, &mut entries);
    Ok(entries)
}

/// Whether programs cannot see the content of an entry with this name. Git needs to read its own folder.
fn is_hidden(name: &OsStr) -> bool {
    is_closed_name(&name.to_string_lossy()) && name != ".git"
}

/// Returns the paths in a workspace whose content programs cannot see, for a program that runs in a part of it.
pub(in crate::gateway::programs) fn hidden_in(workspace: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(workspace).into_iter().flatten().flatten();
    entries.filter(|entry| is_hidden(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// If a protected path is a link to another folder of the workspace, protects that folder, too.
fn protect_targets(workspace: &Path, entries: &mut [WorkspaceEntry]) {
    let Ok(root) = workspace.canonicalize() else { return };
    let target = |entry: &&WorkspaceEntry| {
        let is_guarded_link = matches!(entry.kind, EntryKind::Link(_)) && entry.access != ProgramAccess::Write;
        let real = is_guarded_link.then(|| workspace.join(&entry.name).canonicalize().ok())??;
        match real.strip_prefix(&root).ok()?.components().next()? {
            Component::Normal(first) => Some(first.to_owned()),
            _ => None,
        }
    };
    let targets: BTreeSet<OsString> = entries.iter().filter_map(|entry| target(&entry)).collect();
    for entry in entries.iter_mut().filter(|entry| targets.contains(&entry.name)) {
        if entry.access == ProgramAccess::Write {
            entry.access = ProgramAccess::Read;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::protected_paths::PROTECTED_PATHS;

    #[test]
    fn programs_cannot_write_protected_paths() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let at = |name: &str| folder.path().join(name);
        for place in PROTECTED_PATHS {
            match place.name.contains('.') {
                true => std::fs::write(at(place.name), "").expect("files can be written"),
                false => std::fs::create_dir(at(place.name)).expect("folders can be made"),
            }
        }
        for name in [".git", ".workshop", ".vscode", "artifacts", "src"] {
            std::fs::create_dir(at(name)).expect("folders can be made");
        }
        for name in [".env", ".mcp.json", ".envrc", "README.md", "agent.mdx"] {
            std::fs::write(at(name), "").expect("files can be written");
        }
        let entries = entries(folder.path()).expect("it can be listed");
        let with = |access: ProgramAccess| -> Vec<&str> {
            entries.iter().filter(|entry| entry.access == access).filter_map(|entry| entry.name.to_str()).collect()
        };
        assert_eq!(with(ProgramAccess::Write), ["README.md", "artifacts", "src"]);
        assert_eq!(with(ProgramAccess::Hidden), [".env", ".mcp.json", ".workshop"]);
        assert_eq!(entries.len(), PROTECTED_PATHS.len() + 10);
        let mut hidden = hidden_in(folder.path());
        hidden.sort();
        assert_eq!(hidden, [".env", ".mcp.json", ".workshop"].map(at));
        let is_refused = |name: &str| refused(folder.path(), OsStr::new(name)).is_some();
        for place in PROTECTED_PATHS {
            assert!(is_refused(place.name), "{}", place.name);
        }
        assert!(is_refused("Storage") && !is_refused("target"));
        std::fs::remove_file(at("agent.mdx")).expect("it should exist");
        assert!(!is_refused("modules") && is_refused("skills"), "of a project, modules are its own");
    }

    #[cfg(unix)]
    #[test]
    fn a_protected_link_protects_its_target() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir_all(folder.path().join("team/agents")).expect("folders can be made");
        std::fs::create_dir(folder.path().join("src")).expect("folders can be made");
        std::os::unix::fs::symlink("team/agents", folder.path().join("agents")).expect("links can be made");
        let entries = entries(folder.path()).expect("it can be listed");
        let access = |name: &str| entries.iter().find(|entry| entry.name == *name).map(|entry| entry.access);
        assert_eq!((access("team"), access("src")), (Some(ProgramAccess::Read), Some(ProgramAccess::Write)));
    }
}
