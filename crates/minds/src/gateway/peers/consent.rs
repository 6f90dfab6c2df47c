//! Which MCP servers and coding agents a person allowed a workspace to use: a small file in the config folder, never in
//! the workspace.
//!
//! A permission covers exactly one definition: its command line, its variables with their values, its folder, or its
//! address and headers; and, if the command line names files of the workspace, their content. Anything else is another
//! server and needs permission again.
//!
//! Permissions are stored by label: `db` is the workspace's server, `ada/db` that of the agent ada. They are
//! independent of each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::consent::name_of;
use super::super::keys::Environment;
use super::super::personal_files::{read_small, write_private};
use super::named_files;
use crate::agent::McpServer;
use crate::base::{Problem, yaml};

/// The name of the file in the config folder.
const FILE: &str = "allowed-servers.yaml";
/// The comment at the beginning of the file.
const HEAD: &str =
    "# MCP servers and coding agents that you allowed a workspace to use. Remove one to be asked again.\n";
/// The maximum number of entries for a workspace; the oldest are removed.
const MAX_SERVERS: usize = 200;

/// An allowed server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Allowed {
    /// The label: the name, after the owner if it belongs to an agent.
    name: String,
    /// The command line or the URL, for the person who reads the file.
    what: String,
    /// A hash of the whole definition.
    hash: String,
}

/// A person's decision about a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consent {
    /// It is allowed.
    Given,
    /// It is not allowed.
    None,
    /// Only another definition with the same label is allowed.
    OfAnother,
}

/// Returns the person's decision about a server or a coding agent in the open workspace.
pub fn consent_of(environment: &Environment, peer: &McpServer) -> Consent {
    of(environment.config_folder(), environment.workspace(), peer)
}

/// Allows a workspace to use exactly this definition. Returns the path of the file.
pub fn allow_peer(environment: &Environment, workspace: &Path, peer: &McpServer) -> Result<PathBuf, Problem> {
    allow_in(environment.config_folder(), workspace, peer)
}

/// Revokes the permission of this definition, and of any that differs only in where it is configured: they are the
/// same.
pub fn forbid_peer(environment: &Environment, workspace: &Path, peer: &McpServer) -> Result<PathBuf, Problem> {
    forbid_in(environment.config_folder(), workspace, peer)
}

/// Revokes the permission of a label that no definition has any more; `None` if there is none.
pub fn forbid_label(environment: &Environment, workspace: &Path, label: &str) -> Result<Option<PathBuf>, Problem> {
    let mut is_found = false;
    let file = change(environment.config_folder(), workspace, |allowed| {
        is_found = allowed.iter().any(|one| one.name == label);
        allowed.retain(|one| one.name != label);
    })?;
    Ok(is_found.then_some(file))
}

/// Returns the person's decision about this server in this workspace. An unreadable file allows nothing.
pub(in crate::gateway) fn of(config_folder: Option<&Path>, workspace: Option<&Path>, server: &McpServer) -> Consent {
    let (Some(config_folder), Some(workspace)) = (config_folder, workspace) else { return Consent::None };
    let Ok(all) = read(&config_folder.join(FILE)) else { return Consent::None };
    let allowed = all.get(&name_of(workspace)).map_or(&[][..], Vec::as_slice);
    let (label, hash) = (server.label(), hash(server, workspace));
    match () {
        () if allowed.iter().any(|one| one.hash == hash) => Consent::Given,
        () if allowed.iter().any(|one| one.name == label) => Consent::OfAnother,
        () => Consent::None,
    }
}

/// Allows a workspace to use exactly this server. Returns the path of the file.
fn allow_in(config_folder: Option<&Path>, workspace: &Path, server: &McpServer) -> Result<PathBuf, Problem> {
    change(config_folder, workspace, |allowed| {
        let (name, what, hash) = (server.label(), server.shown(), hash(server, workspace));
        allowed.retain(|one| one.name != name);
        allowed.push(Allowed { name, what, hash });
        let more = allowed.len().saturating_sub(MAX_SERVERS);
        allowed.drain(..more);
    })
}

fn forbid_in(config_folder: Option<&Path>, workspace: &Path, server: &McpServer) -> Result<PathBuf, Problem> {
    let (label, hash) = (server.label(), hash(server, workspace));
    change(config_folder, workspace, |allowed| allowed.retain(|one| one.name != label && one.hash != hash))
}

fn change(
    config_folder: Option<&Path>,
    workspace: &Path,
    change: impl FnOnce(&mut Vec<Allowed>),
) -> Result<PathBuf, Problem> {
    let Some(file) = config_folder.map(|folder| folder.join(FILE)) else {
        let remedy = "set WORKSHOP_CONFIG_DIR to a folder that you own";
        return Err(Problem::error(FILE, "no folder for personal files was found on this computer", remedy));
    };
    let mut all = read(&file)?;
    change(all.entry(name_of(workspace)).or_default());
    all.retain(|_, allowed| !allowed.is_empty());
    let unkept = |error: &dyn std::fmt::Display| {
        let what = format!("cannot be written: {error}");
        Problem::error(file.display().to_string(), what, "check that the folder is writable")
    };
    let text = serde_yaml::to_string(&all).map_err(|error| unkept(&error))?;
    write_private(&file, &format!("{HEAD}{text}")).map_err(|error| unkept(&error))?;
    Ok(file)
}

fn read(file: &Path) -> Result<BTreeMap<String, Vec<Allowed>>, Problem> {
    let Some(text) = read_small(file)? else { return Ok(BTreeMap::new()) };
    let parsed: Result<Option<BTreeMap<String, Vec<Allowed>>>, _> = yaml::from_str(&text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let what = format!("is not a list of servers by workspace: {error}");
        Problem::error(file.display().to_string(), what, "fix it, or delete it and allow the servers again")
    })
}

/// Returns a cryptographic hash of the definition and of the files of the workspace that it runs.
fn hash(server: &McpServer, workspace: &Path) -> String {
    let mut all = server.canonical();
    for (path, content) in named_files::contents(server, workspace) {
        all.push_str(&format!("\n{path}\n{}", content.as_deref().unwrap_or("cannot be read")));
    }
    blake3::hash(all.as_bytes()).to_hex().to_string()
}

/// Returns when the file was last written, to detect that a person has changed it.
pub(in crate::gateway) fn stamp(config_folder: Option<&Path>) -> Option<(std::time::SystemTime, u64)> {
    let metadata = std::fs::metadata(config_folder?.join(FILE)).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::mcp_server;

    fn server(value: serde_json::Value) -> McpServer {
        mcp_server::read(&json!({ "git": value })).defined().next().expect("a server is defined")
    }

    #[test]
    fn a_permission_covers_exactly_one_server_in_one_workspace() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let (mine, other) = (config.path().join("mine"), config.path().join("other"));
        let git = server(json!({ "command": "git-server", "args": ["--here"], "env": { "A": "b" } }));
        let consent = |workspace: &Path, server: &McpServer| of(Some(config.path()), Some(workspace), server);
        assert_eq!(consent(&mine, &git), Consent::None);
        for _ in 0..2 {
            allow_in(Some(config.path()), &mine, &git).expect("it can be kept");
        }
        assert_eq!((consent(&mine, &git), consent(&other, &git)), (Consent::Given, Consent::None));
        for changed in [
            json!({ "command": "git-server", "args": ["--here", "--all"], "env": { "A": "b" } }),
            json!({ "command": "git-server", "args": ["--here"], "env": { "A": "c" } }),
            json!({ "command": "git-server", "args": ["--here"], "env": { "A": "b", "C": "" } }),
            json!({ "command": "git-server", "args": ["--here"], "env": { "A": "b" }, "network": true }),
            json!({ "command": "git-server", "args": ["--here"], "env": { "A": "b" }, "sampling": true }),
            json!({ "url": "https://git.example/mcp" }),
        ] {
            assert_eq!(consent(&mine, &server(changed)), Consent::OfAnother);
        }
        let text = std::fs::read_to_string(config.path().join(FILE)).expect("it should exist");
        assert_eq!(text.matches("git-server --here").count(), 1);
        forbid_in(Some(config.path()), &mine, &git).expect("it can be kept");
        assert_eq!(consent(&mine, &git), Consent::None);
    }

    #[test]
    fn allowing_a_server_does_not_allow_an_agents_server_of_the_same_name() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        let of_workspace = server(json!({ "command": "db-server" }));
        let of_ada = McpServer { of: Some("ada".into()), ..server(json!({ "command": "ada-db-server" })) };
        let consents = || [&of_workspace, &of_ada].map(|server| of(Some(config.path()), Some(&mine), server));
        let allow = |server| allow_in(Some(config.path()), &mine, server).expect("it can be kept");
        allow(&of_workspace);
        assert_eq!(consents(), [Consent::Given, Consent::None]);
        allow(&of_ada);
        assert_eq!(consents(), [Consent::Given, Consent::Given]);
        forbid_in(Some(config.path()), &mine, &of_workspace).expect("it can be kept");
        assert_eq!(consents(), [Consent::None, Consent::Given]);
        let changed = McpServer { of: of_ada.of.clone(), ..server(json!({ "command": "other" })) };
        assert_eq!(of(Some(config.path()), Some(&mine), &changed), Consent::OfAnother);
        // A definition that differs only in where it is configured is revoked as well: it is the same process.
        let same = McpServer { of: Some("bob".into()), ..of_ada.clone() };
        assert_eq!(of(Some(config.path()), Some(&mine), &same), Consent::Given);
        forbid_in(Some(config.path()), &mine, &same).expect("it can be kept");
        assert_eq!(consents(), [Consent::None, Consent::None]);
    }

    #[test]
    fn a_changed_script_is_another_server() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        std::fs::create_dir(&mine).expect("it can be made");
        let script = mine.join("server.py");
        std::fs::write(&script, "print('harmless')").expect("it can be written");
        let own = server(json!({ "command": "python3", "args": ["server.py"] }));
        let consent = || of(Some(config.path()), Some(&mine), &own);
        allow_in(Some(config.path()), &mine, &own).expect("it can be kept");
        assert_eq!(consent(), Consent::Given);
        std::fs::write(&script, "print('something else')").expect("it can be written");
        assert_eq!(consent(), Consent::OfAnother);
        std::fs::remove_file(&script).expect("it can be removed");
        assert_eq!(consent(), Consent::OfAnother);
        std::fs::write(&script, "print('harmless')").expect("it can be written");
        assert_eq!(consent(), Consent::Given, "the same text is the same server");
    }

    #[test]
    fn an_unreadable_file_allows_nothing_and_is_not_overwritten() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(config.path().join(FILE), "[ broken").expect("it can be written");
        let git = server(json!({ "command": "git-server" }));
        assert_eq!(of(Some(config.path()), Some(Path::new("w")), &git), Consent::None);
        assert!(allow_in(Some(config.path()), Path::new("w"), &git).is_err());
        assert_eq!(std::fs::read_to_string(config.path().join(FILE)).expect("it should exist"), "[ broken");
    }
}
