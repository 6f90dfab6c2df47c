//! Files of the workspace that the scripts of an MCP server or a coding agent load, directly or through each other. As for
//! commands, data that they only read is not among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::named_files::{contents, existing};
use crate::agent::{McpServer, McpTransport};
use crate::base::paths::folder_of;
use crate::gateway::programs::code::code_folder::CodeFolder;
use crate::gateway::programs::code::loaded_code::loaded_by;
use crate::gateway::programs::code::seen_file::{CodeText, look};

/// Stands for code that could not be followed whole, among the paths of the files: if the reasons change, the code is
/// another one.
const NOT_FOLLOWED: &str = "code that could not be followed whole";
/// The file that Python runs before a module of its folder.
const PACKAGE_FILE: &str = "__init__.py";

/// Returns the hashes of the files that the named ones load, by path.
pub(super) fn loaded(server: &McpServer, workspace: &Path) -> BTreeMap<String, String> {
    let McpTransport::Stdio { cwd, .. } = &server.transport else { return BTreeMap::new() };
    let Ok(root) = workspace.canonicalize() else { return BTreeMap::new() };
    let relative = |place: &Path| Some(place.strip_prefix(&root).ok()?.to_str()?.to_owned());
    let named: BTreeSet<String> = existing(server, &root)
        .into_iter()
        .filter_map(|(path, place)| if Path::new(&path).is_absolute() { relative(&place) } else { Some(path) })
        .collect();
    let mut texts: BTreeMap<String, CodeText> = BTreeMap::new();
    let mut loaded = BTreeMap::new();
    let folder = CodeFolder::of(&root);
    for path in &named {
        texts.extend(look(&root, path, &folder.limits).ok().map(|(_, text)| (path.clone(), text)));
    }
    texts.retain(|_, text| !text.is_binary);
    if texts.is_empty() {
        return loaded;
    }
    for path in named.iter().flat_map(|path| packages_of(path)).filter(|path| !named.contains(path)) {
        if let Ok((file, text)) = look(&root, &path, &folder.limits) {
            loaded.insert(path.clone(), file.hash);
            texts.insert(path, text);
        }
    }
    let running_in = root.join(cwd.as_deref().unwrap_or_default()).canonicalize().ok();
    let running_in = running_in.and_then(|folder| relative(&folder)).unwrap_or_default();
    let found = loaded_by(&folder, &texts, &named, &running_in, None);
    loaded.extend(found.into_iter().map(|(path, file)| (path, file.hash)));
    loaded.extend(folder.gaps.described().map(|reasons| (NOT_FOLLOWED.to_owned(), reasons)));
    loaded
}

/// The files of the packages around a module of Python.
fn packages_of(path: &str) -> Vec<String> {
    let is_module = path.ends_with(".py");
    let folders = std::iter::successors(Some(folder_of(path)), |folder| Some(folder_of(folder)));
    let folders = folders.take_while(|folder| is_module && !folder.is_empty());
    folders.map(|folder| format!("{folder}/{PACKAGE_FILE}")).collect()
}

/// Returns the hashes of all files of the workspace that a server runs: those that its command line names and those that
/// these load. A file that cannot be read has an empty one.
pub(super) fn all(server: &McpServer, workspace: &Path) -> BTreeMap<String, String> {
    let named = contents(server, workspace).into_iter().map(|(path, hash)| (path, hash.unwrap_or_default()));
    loaded(server, workspace).into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::mcp_server;

    /// The files that a server loads in a workspace with these files.
    fn loaded_by(words: &[&str], cwd: Option<&str>, files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            std::fs::write(path, text).expect("files can be written");
        }
        // `@` stands for the workspace.
        let root = folder.path().display().to_string();
        let words: Vec<String> = words.iter().map(|word| word.replace('@', &root)).collect();
        let mut written = json!({ "command": words[0], "args": words[1..] });
        if let Some(cwd) = cwd {
            written["cwd"] = json!(cwd);
        }
        let server = mcp_server::read(&json!({ "s": written })).defined().next().expect("a server is defined");
        loaded(&server, folder.path()).into_keys().collect()
    }

    #[test]
    fn what_the_scripts_of_a_server_load_is_found_in_every_form_and_data_is_not_code() {
        let python = [
            ("tools/server.py", "import helper\nopen('data.json')\n"),
            ("tools/helper.py", "from deep import more\n"),
            ("tools/deep/__init__.py", ""),
            ("tools/deep/more.py", ""),
            ("tools/other.py", ""),
            ("data.json", "{}"),
        ];
        let expected = ["tools/deep/__init__.py", "tools/deep/more.py", "tools/helper.py"];
        assert_eq!(loaded_by(&["python3", "tools/server.py"], None, &python), expected);
        assert_eq!(loaded_by(&["python3", "server.py"], Some("tools"), &python), expected);
        assert_eq!(loaded_by(&["python3", "@/tools/server.py"], None, &python), expected);
        assert_eq!(loaded_by(&["sh", "-c", "cd tools && python3 tools/server.py"], None, &python), expected);
        let module = [("pkg/__init__.py", "import base"), ("pkg/server.py", ""), ("pkg/base.py", "")];
        assert_eq!(loaded_by(&["python3", "-m", "pkg.server"], None, &module), ["pkg/__init__.py", "pkg/base.py"]);
        let node = [("srv/index.js", "const x = require('./lib')"), ("srv/lib.js", ""), ("srv/notes.md", "lib2.js")];
        assert_eq!(loaded_by(&["node", "srv/index.js"], None, &node), ["srv/lib.js"]);
        let shell = [("run.sh", ". ./lib.sh\nexec python3 srv.py --db data.db"), ("lib.sh", ""), ("srv.py", "")];
        assert_eq!(loaded_by(&["./run.sh"], None, &shell), ["lib.sh", "srv.py"]);
    }

    #[test]
    fn a_server_that_runs_nothing_of_the_workspace_loads_nothing_of_it() {
        let files = [("server.py", "import helper"), ("helper.py", ""), ("app", "\0elf helper.py")];
        assert_eq!(loaded_by(&["npx", "-y", "@scope/server"], None, &files), [] as [&str; 0]);
        assert_eq!(loaded_by(&["./app"], None, &files), [] as [&str; 0]);
    }
}
