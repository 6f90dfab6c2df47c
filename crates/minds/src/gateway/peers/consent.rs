//! Which MCP servers and coding agents a person allowed a workspace to use: a small file in the config folder, never in
//! the workspace.
//!
//! A permission covers exactly one definition: its command line, its variables with their values, its folder, or its
//! address and headers; and, if the command line names files of the workspace, the content of these and of the code that
//! they load. Anything else is another server and needs permission again. A permission that was given before loaded code
//! was looked at does not cover it, and stays valid.
//!
//! Permissions are stored by label: `db` is the workspace's server, `ada/db` that of the agent ada. They are
//! independent of each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{loaded_files, named_files};
use crate::agent::McpServer;
use crate::base::Problem;
use crate::gateway::keys::Environment;
use crate::gateway::trust::consent::name_of;
use crate::gateway::trust::personal_files::{Turn, read_small};
use crate::text::yaml;

/// The name of the file in the config folder.
const FILE: &str = "allowed-servers.yaml";
/// The comment at the beginning of the file.
const HEAD: &str =
    "# MCP servers and coding agents that you allowed a workspace to use. Remove one to be asked again.\n";
/// The folder in the config folder with a list of files for each permission, which tells a person what changed.
const CODE_FOLDER: &str = "allowed-code";
/// The maximum number of files in such a list.
const MAX_LISTED: usize = 400;
/// The number of characters of hashes in it. It decides nothing.
const LISTED_HASH_CHARS: usize = 16;
/// The maximum number of changed files that a person is told.
const MAX_CHANGED: usize = 5;
/// The maximum number of entries for a workspace; the oldest are removed.
const MAX_SERVERS: usize = 200;

/// An allowed server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Allowed {
    /// The label: the name, after the owner if it belongs to an agent.
    name: String,
    /// The command line or the URL, for the person who reads the file.
    what: String,
    /// A hash of the whole definition and the files that it names.
    hash: String,
    /// A hash of the code that these load; `None` if it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loaded: Option<String>,
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
    let mut same = allowed.iter().filter(|one| one.hash == hash).peekable();
    if same.peek().is_some() {
        // Looking for loaded code takes longer, so it is only done where it matters.
        let loaded = std::cell::LazyCell::new(|| loaded_hash(server, workspace));
        let is_covered = same.any(|one| one.loaded.as_ref().is_none_or(|allowed| *allowed == *loaded));
        return if is_covered { Consent::Given } else { Consent::OfAnother };
    }
    match () {
        () if allowed.iter().any(|one| one.name == label) => Consent::OfAnother,
        () => Consent::None,
    }
}

/// Allows a workspace to use exactly this server. Returns the path of the file.
fn allow_in(config_folder: Option<&Path>, workspace: &Path, server: &McpServer) -> Result<PathBuf, Problem> {
    let (name, what, hash) = (server.label(), server.shown(), hash(server, workspace));
    let loaded = Some(loaded_hash(server, workspace));
    let file = change(config_folder, workspace, |allowed| {
        allowed.retain(|one| one.name != name);
        allowed.push(Allowed { name, what, hash, loaded });
        let more = allowed.len().saturating_sub(MAX_SERVERS);
        allowed.drain(..more);
    })?;
    if let Some(list) = config_folder.map(|folder| code_list(folder, workspace, &server.label()))
        && let Err(error) = write_code_list(&list, &loaded_files::all(server, workspace))
    {
        // The permission holds without it; a later change is only told less exactly.
        tracing::warn!("{}: {error}", list.display());
    }
    Ok(file)
}

/// Returns the files that a server of the open workspace runs and that changed since the person allowed it, as far as
/// they are known.
pub fn changed_code(environment: &Environment, peer: &McpServer) -> Vec<String> {
    changed_since(environment.config_folder(), environment.workspace(), peer)
}

/// Returns the files that a server runs and that changed since the person allowed it.
pub(in crate::gateway) fn changed_since(
    config_folder: Option<&Path>,
    workspace: Option<&Path>,
    server: &McpServer,
) -> Vec<String> {
    let (Some(config_folder), Some(workspace)) = (config_folder, workspace) else { return Vec::new() };
    let Ok(Some(text)) = read_small(&code_list(config_folder, workspace, &server.label())) else { return Vec::new() };
    let Ok(before) = yaml::from_str::<BTreeMap<String, String>>(&text) else { return Vec::new() };
    let now = listed(&loaded_files::all(server, workspace));
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let changed = paths.into_iter().filter(|path| before.get(*path) != now.get(*path));
    changed.take(MAX_CHANGED).cloned().collect()
}

/// Describes what changed since the person allowed a server, and that it needs a new permission.
pub(in crate::gateway) fn changed_sentence(
    config_folder: Option<&Path>,
    workspace: Option<&Path>,
    server: &McpServer,
) -> String {
    let changed = changed_since(config_folder, workspace, server);
    let files = if changed.is_empty() { String::new() } else { format!(" ({})", changed.join(", ")) };
    format!("or a file that it runs, has changed since you allowed it{files} and needs your permission again")
}

/// Returns the path of the list of files for a permission.
fn code_list(config_folder: &Path, workspace: &Path, label: &str) -> PathBuf {
    let name = blake3::hash(format!("{}\n{label}", name_of(workspace)).as_bytes()).to_hex();
    config_folder.join(CODE_FOLDER).join(format!("{}.yaml", &name[..32]))
}

/// Returns the list of these files.
fn listed(code: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let short = |hash: &String| hash.chars().take(LISTED_HASH_CHARS).collect();
    code.iter().take(MAX_LISTED).map(|(path, hash)| (path.clone(), short(hash))).collect()
}

fn write_code_list(list: &Path, code: &BTreeMap<String, String>) -> std::io::Result<()> {
    if code.is_empty() {
        return match std::fs::remove_file(list) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let text = serde_yaml::to_string(&listed(code)).map_err(std::io::Error::other)?;
    Turn::take(list)?.write(&text)
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
    let unkept = |error: &dyn std::fmt::Display| {
        let what = format!("cannot be written: {error}");
        Problem::error(file.display().to_string(), what, "check that the folder is writable")
    };
    let turn = Turn::take(&file).map_err(|error| unkept(&error))?;
    let mut all = read(&file)?;
    change(all.entry(name_of(workspace)).or_default());
    all.retain(|_, allowed| !allowed.is_empty());
    let text = serde_yaml::to_string(&all).map_err(|error| unkept(&error))?;
    turn.write(&format!("{HEAD}{text}")).map_err(|error| unkept(&error))?;
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

/// Returns a cryptographic hash of the code that the files of a server load.
fn loaded_hash(server: &McpServer, workspace: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, hash) in loaded_files::loaded(server, workspace) {
        hasher.update(format!("\n{path}\n{hash}").as_bytes());
    }
    hasher.finalize().to_hex().to_string()
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
    fn changed_code_that_a_script_loads_asks_again_and_is_named() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        std::fs::create_dir(&mine).expect("it can be made");
        let write = |path: &str, text: &str| std::fs::write(mine.join(path), text).expect("it can be written");
        write("server.py", "import helper\nopen('data.json')\n");
        write("helper.py", "print('harmless')");
        write("data.json", "{}");
        let own = server(json!({ "command": "python3", "args": ["server.py"] }));
        let consent = || of(Some(config.path()), Some(&mine), &own);
        let changed = || changed_since(Some(config.path()), Some(&mine), &own);
        allow_in(Some(config.path()), &mine, &own).expect("it can be kept");
        assert_eq!((consent(), changed()), (Consent::Given, vec![]));
        write("data.json", "{ \"more\": 1 }");
        write("unrelated.py", "");
        assert_eq!((consent(), changed()), (Consent::Given, vec![]), "data and other code are not run");
        write("helper.py", "print('something else')");
        assert_eq!((consent(), changed()), (Consent::OfAnother, vec!["helper.py".to_owned()]));
        allow_in(Some(config.path()), &mine, &own).expect("it can be kept");
        assert_eq!((consent(), changed()), (Consent::Given, vec![]));
        // A module that hides one of the system is new code.
        write("server.py", "import helper\nimport json\n");
        assert_eq!((consent(), changed()), (Consent::OfAnother, vec!["server.py".to_owned()]));
        allow_in(Some(config.path()), &mine, &own).expect("it can be kept");
        write("json.py", "");
        assert_eq!((consent(), changed()), (Consent::OfAnother, vec!["json.py".to_owned()]));
        std::fs::remove_dir_all(config.path().join(CODE_FOLDER)).expect("it can be removed");
        assert_eq!((consent(), changed()), (Consent::OfAnother, vec![]), "the list decides nothing");
        std::fs::remove_file(mine.join("json.py")).expect("it can be removed");
        assert_eq!(consent(), Consent::Given);
    }

    #[test]
    fn a_permission_from_before_loaded_code_was_looked_at_stays_as_it_was() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        std::fs::create_dir(&mine).expect("it can be made");
        let write = |path: &str, text: &str| std::fs::write(mine.join(path), text).expect("it can be written");
        write("server.py", "import helper\n");
        write("helper.py", "one");
        let own = server(json!({ "command": "python3", "args": ["server.py"] }));
        let consent = || of(Some(config.path()), Some(&mine), &own);
        allow_in(Some(config.path()), &mine, &own).expect("it can be kept");
        let file = config.path().join(FILE);
        let text = std::fs::read_to_string(&file).expect("it should exist");
        let old: String =
            text.lines().filter(|line| !line.contains("loaded:")).map(|line| format!("{line}\n")).collect();
        assert_ne!(old, text);
        std::fs::write(&file, old).expect("it can be written");
        write("helper.py", "two");
        assert_eq!(consent(), Consent::Given);
        write("server.py", "import other\n");
        assert_eq!(consent(), Consent::OfAnother);
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
