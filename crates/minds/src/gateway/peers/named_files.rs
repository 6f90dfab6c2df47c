//! Files of the workspace that the command line of an MCP server or a coding agent runs: its program, the script of
//! `python3 server.py`, the module of `python3 -m server`, the words of `sh -c '…'`, and its configuration. Their content
//! is part of what a person allows to run. Data that a server works on is not, since the server itself changes it. What
//! these files load is found by [`super::loaded_files`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::agent::{McpServer, McpTransport};
use crate::base::paths::file_name;
use crate::gateway::programs::code::code_references::is_data_name;
use crate::gateway::programs::code::seen_file::hash_of;
use crate::text::shell_words::parts;
use crate::workspace::vfs::WorkspacePath;

/// How deep commands may stand within the words of a command: `sh -c "sh -c '…'"`.
const MAX_DEPTH: usize = 3;
/// Words in the name of an option whose value is data: `--db-path`, `--log-file`.
const DATA_OPTIONS: &[&str] =
    &["cache", "data", "database", "db", "history", "log", "logs", "memory", "out", "output", "store", "storage"];
/// Programs whose first operand is code, whatever its name.
const INTERPRETERS: &[&str] = &[
    "ash",
    "bash",
    "bun",
    "dash",
    "deno",
    "fish",
    "java",
    "ksh",
    "lua",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "py",
    "pypy",
    "python",
    "ruby",
    "sh",
    "ts-node",
    "tsx",
    "wasmtime",
    "zsh",
];

/// Returns the paths in the workspace that the command line may run, whether or not they exist.
pub fn named_paths(server: &McpServer) -> BTreeSet<String> {
    let McpTransport::Stdio { command, args, cwd, .. } = &server.transport else { return BTreeSet::new() };
    let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
    let mut named = BTreeSet::new();
    add_code(&words, 0, &mut named);
    let mut paths = BTreeSet::new();
    for word in named {
        let plain = word.trim_start_matches("./");
        let below = cwd.as_deref().map(|cwd| format!("{}/{plain}", cwd.trim_start_matches("./").trim_end_matches('/')));
        let places = below.iter().map(String::as_str).chain([plain]);
        paths.extend(places.filter_map(|path| Some(WorkspacePath::new(path).ok()?.as_str().to_owned())));
    }
    paths
}

/// Adds the words of a command that name code or configuration.
fn add_code(words: &[&str], depth: usize, named: &mut BTreeSet<String>) {
    let Some((program, arguments)) = words.split_first() else { return };
    named.insert((*program).to_owned());
    let mut has_script = !is_interpreter(program);
    let mut option = "";
    for word in arguments {
        // The option whose value this word is: `--log a.txt` or `--log=a.txt`.
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if word.starts_with('-') => (name, value),
            _ if word.starts_with('-') => {
                option = *word;
                continue;
            }
            _ => (std::mem::take(&mut option), *word),
        };
        if depth < MAX_DEPTH && value.contains(char::is_whitespace) {
            for part in parts(value) {
                add_code(&part.iter().map(String::as_str).collect::<Vec<_>>(), depth + 1, named);
            }
        }
        if name == "-m" {
            let module = value.replace('.', "/");
            named.extend([format!("{module}.py"), format!("{module}/__main__.py"), format!("{module}/__init__.py")]);
        }
        // The value of an option that is not known to have one may be the script.
        if !has_script || !is_data(name, value) {
            named.insert(value.to_owned());
        }
        // Variables and other programs in front of an interpreter: `env A=b python3 server.py`.
        if is_interpreter(value) {
            has_script = false;
        } else if name.is_empty() {
            has_script = true;
        }
        if let Some((_, value)) = word.split_once('=').filter(|_| name.is_empty()) {
            named.insert(value.to_owned());
        }
    }
}

/// Whether a program runs the file that its first operand names; versions in names (`python3.11`) do not matter.
fn is_interpreter(program: &str) -> bool {
    let name = file_name(program).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')))
}

/// Whether a value is data, by the name of its option or by its extension.
fn is_data(option: &str, value: &str) -> bool {
    let mut words = option.split(|c: char| !c.is_alphanumeric());
    words.any(|word| DATA_OPTIONS.contains(&word.to_ascii_lowercase().as_str())) || is_data_name(value)
}

/// Returns the hashes of the workspace files that the command line names; `None` for a file that exists and cannot be
/// read.
pub(super) fn contents(server: &McpServer, workspace: &Path) -> BTreeMap<String, Option<String>> {
    existing(server, workspace).into_iter().map(|(path, place)| (path, hash_of(&place))).collect()
}

/// Returns the workspace files that the command line names, as it names them, with the places where they are.
pub(super) fn existing(server: &McpServer, workspace: &Path) -> BTreeMap<String, PathBuf> {
    let McpTransport::Stdio { command, args, .. } = &server.transport else { return BTreeMap::new() };
    let mut named = BTreeSet::new();
    add_code(&std::iter::once(command).chain(args).map(String::as_str).collect::<Vec<_>>(), 0, &mut named);
    let Ok(whole) = workspace.canonicalize() else { return BTreeMap::new() };
    let mut files = BTreeMap::new();
    let absolute = named.into_iter().filter(|word| Path::new(word).is_absolute());
    for path in named_paths(server).into_iter().chain(absolute) {
        // Links are followed, because their target is what runs.
        let Ok(place) = whole.join(&path).canonicalize() else { continue };
        if place.is_file() && (place.starts_with(&whole) || !Path::new(&path).is_absolute()) {
            files.insert(path, place);
        }
    }
    files
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
    fn code_is_found_in_every_form_and_data_is_not_code() {
        let named = |words: &[&str]| named_paths(&server(json!({ "command": words[0], "args": words[1..] })));
        for (words, path) in [
            (&["sh", "-c", "python3 srv.py"][..], "srv.py"),
            (&["bash", "-lc", "cd tools && exec ./srv.sh --db a.db"], "srv.sh"),
            (&["sh", "-c", "sh -c 'node srv.js'"], "srv.js"),
            (&["python3", "-m", "srv"], "srv.py"),
            (&["python3", "-u", "-m", "tools.srv"], "tools/srv/__main__.py"),
            (&["env", "A=b", "python3", "srv"], "srv"),
            (&["node", "--require", "./hook.js", "srv.js"], "hook.js"),
            (&["node", "--import=./hook.mjs", "srv.js"], "hook.mjs"),
            (&["python3.11", "notes.md"], "notes.md"),
            (&["./tools/server", "--config", "conf/a.toml"], "conf/a.toml"),
            (&["uv", "run", "srv.py"], "srv.py"),
        ] {
            assert!(named(words).contains(path), "{words:?}: {:?}", named(words));
        }
        for (words, path) in [
            (&["mcp-server-sqlite", "--db-path", "data/test.db"][..], "data/test.db"),
            (&["mcp-server-sqlite", "--db-path=data/test.anything"], "data/test.anything"),
            (&["server", "--log", "server.log"], "server.log"),
            (&["server", "--memory-file", "memory.json"], "memory.json"),
            (&["python3", "srv.py", "data/test.sqlite3"], "data/test.sqlite3"),
            (&["sh", "-c", "python3 srv.py --log x.txt"], "x.txt"),
        ] {
            assert!(!named(words).contains(path), "{words:?}: {:?}", named(words));
        }
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
