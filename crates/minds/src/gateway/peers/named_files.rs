//! Files of the workspace that the command line of an MCP server or a coding agent names, such as the script of
//! `python3 server.py`: their content is part of what a person allows to run. Other files that such a file loads are
//! unknown here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::agent::{McpServer, McpTransport};
use crate::workspace::vfs::WorkspacePath;

/// The number of bytes from which a file is identified by its first part and its length.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Returns the paths in the workspace that the command and its arguments may name, whether or not they exist.
pub fn named_paths(server: &McpServer) -> BTreeSet<String> {
    let McpTransport::Stdio { command, args, cwd, .. } = &server.transport else { return BTreeSet::new() };
    let words = std::iter::once(command).chain(args);
    // `--config=server.toml` also names a file.
    let words = words.flat_map(|word| word.split_once('=').map(|(_, value)| value).into_iter().chain([word.as_str()]));
    let mut paths = BTreeSet::new();
    for word in words.filter(|word| !word.starts_with('-')) {
        let plain = word.trim_start_matches("./");
        let below = cwd.as_deref().map(|cwd| format!("{}/{plain}", cwd.trim_start_matches("./").trim_end_matches('/')));
        let named = below.iter().map(String::as_str).chain([plain]);
        paths.extend(named.filter_map(|path| Some(WorkspacePath::new(path).ok()?.as_str().to_owned())));
    }
    paths
}

/// Returns the hashes of the workspace files that the command line names; `None` for a file that exists and cannot be
/// read.
pub(super) fn contents(server: &McpServer, workspace: &Path) -> BTreeMap<String, Option<String>> {
    let McpTransport::Stdio { command, args, .. } = &server.transport else { return BTreeMap::new() };
    let Ok(whole) = workspace.canonicalize() else { return BTreeMap::new() };
    let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
    let absolute = std::iter::once(command).chain(args).filter(|word| Path::new(word).is_absolute()).cloned();
    for path in named_paths(server).into_iter().chain(absolute) {
        // Links are followed, because their target is what runs.
        let Ok(place) = whole.join(&path).canonicalize() else { continue };
        if place.is_file() && (place.starts_with(&whole) || !Path::new(&path).is_absolute()) {
            files.insert(path, hash_of(&place));
        }
    }
    files
}

fn hash_of(place: &Path) -> Option<String> {
    let file = File::open(place).ok()?;
    let length = file.metadata().ok()?.len();
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut file.take(MAX_BYTES), &mut hasher).ok()?;
    hasher.update(&length.to_le_bytes());
    Some(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::mcp_server;

    fn server(value: serde_json::Value) -> McpServer {
        mcp_server::read(&json!({ "s": value })).defined().next().expect("a server is defined")
    }

    #[test]
    fn workspace_files_in_a_command_line_are_found() {
        let paths = |value| named_paths(&server(value)).into_iter().collect::<Vec<_>>();
        assert_eq!(
            paths(json!({ "command": "python3", "args": ["-u", "./tools/server.py", "--config=conf/a.toml"] })),
            ["--config=conf/a.toml", "conf/a.toml", "python3", "tools/server.py"]
                .into_iter()
                .filter(|path| !path.starts_with('-'))
                .collect::<Vec<_>>()
        );
        assert!(paths(json!({ "command": "./run.sh", "cwd": "tools" })).contains(&"tools/run.sh".to_owned()));
        assert_eq!(paths(json!({ "url": "https://a.example/mcp" })), Vec::<String>::new());
        assert!(
            !paths(json!({ "command": "cat", "args": ["/etc/passwd", "../out"] }))
                .iter()
                .any(|path| path.contains(".."))
        );
    }

    #[test]
    fn only_existing_files_have_contents() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("server.py"), "one").expect("it can be written");
        let server = server(json!({ "command": "python3", "args": ["server.py", "stdio"] }));
        let before = contents(&server, folder.path());
        assert_eq!(before.keys().collect::<Vec<_>>(), ["server.py"]);
        std::fs::write(folder.path().join("server.py"), "two").expect("it can be written");
        assert_ne!(contents(&server, folder.path()), before);
    }
}
