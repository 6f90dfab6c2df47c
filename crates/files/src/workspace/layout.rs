//! The layout of a workspace on disk: detecting workspaces, the files that a room uses, and reading them safely.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::files::{FileContent, FolderContent, ReadFailure};
pub use super::path::APPROVALS_FILE;
use super::path::{FileKind, WorkspacePath, kind_of};
use super::protected_paths::{MODULES, may_be_named};
pub use super::protected_paths::{is_agent_at_top, name_agent_at_top};
use crate::base::text_normalization::nfc;
use crate::base::{Problem, paths};
use crate::safe_fs::{EntryKind, Folder};

/// The file that makes a folder a workspace.
pub const SETTINGS_FILE: &str = "settings.yaml";
/// The default name of a new workspace, in the current folder.
pub const DEFAULT_FOLDER: &str = "my-workshop";
/// The maximum size of a file that a room reads, in bytes.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// The maximum size of a scene, in bytes: an entry for each of 100,000 agents takes some megabytes.
pub const MAX_SCENE_BYTES: usize = 9 * 1024 * 1024;
/// The maximum number of files that a room reads.
pub const MAX_FILES: usize = 20_000;
/// The maximum depth of files that a room reads.
pub const MAX_DEPTH: usize = 8;

/// Whether a folder is a workspace.
pub fn is_workspace(folder: &Path) -> bool {
    folder.join(SETTINGS_FILE).is_file()
}

/// The path of the scene of an agent folder that has no scene file. No such file is ever written.
pub const SCENE_OF_AGENT: &str = "scenes/agent.yaml";

/// The prefix of the scene of a single file that a person opened as an agent.
const NAMED_SCENE: &str = "scenes/agent.";

/// Whether a folder defines an agent: an agent document is directly in it.
pub fn is_agent_folder(folder: &Path) -> bool {
    agents_at_top(folder).next().is_some()
}

/// Returns the names of the files directly in a folder that define agents.
pub fn agents_at_top(folder: &Path) -> impl Iterator<Item = String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_agent_at_top(name) && nfc(name) == name.as_str())
}

/// Returns the scene of a file that a person opened as an agent: each has a room of its own, even in the same folder.
/// No such file is ever written, either.
pub fn scene_of_named_agent(name: &str) -> String {
    format!("{NAMED_SCENE}{name}.yaml")
}

/// Returns the file that was opened as an agent, given its scene.
pub fn agent_of_scene(scene: &str) -> Option<&str> {
    scene.strip_prefix(NAMED_SCENE)?.strip_suffix(".yaml").filter(|name| may_be_named(name))
}

/// Whether a room with this scene needs no scene file because an agent folder or file was opened.
pub fn needs_no_file(scene: &str) -> bool {
    scene == SCENE_OF_AGENT || agent_of_scene(scene).is_some()
}

/// Returns the workspace to use: the named one, else the current folder if it is one, else `my-workshop` in it. It need
/// not exist yet.
pub fn find(named: Option<&Path>, current: &Path) -> PathBuf {
    match named {
        Some(named) => current.join(named),
        None if is_workspace(current) => current.to_owned(),
        None => current.join(DEFAULT_FOLDER),
    }
}

/// Whether a room uses the file at this path relative to the workspace.
pub fn is_used_by_room(path: &str) -> bool {
    if path == MCP_FILE {
        return true;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let odd = |part: &&str| part.is_empty() || part.starts_with('.') || part.contains(['\\', '\0']);
    if parts.len() > MAX_DEPTH || parts.iter().any(odd) {
        return false;
    }
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match parts.as_slice() {
        [name] => {
            *name == SETTINGS_FILE || *name == HEARTBEAT_FILE || INSTRUCTIONS.contains(name) || is_agent_at_top(name)
        }
        ["scenes", _] => matches!(extension, "yaml" | "yml"),
        ["agents", ..] => {
            let ending = extension.to_ascii_lowercase();
            let is_no_code = || parts.iter().take_while(|part| **part != MODULES).any(|part| NO_CODE.contains(part));
            let is_code = || ending == "ts" && !is_no_code();
            matches!(ending.as_str(), "md" | "markdown" | "mdx" | "yaml" | "yml") || is_code()
        }
        ["skills", .., name] => name.eq_ignore_ascii_case("SKILL.md"),
        [MODULES, .., name] => name.to_ascii_lowercase().ends_with(".ts"),
        ["templates", .., name] => {
            let name = name.to_ascii_lowercase();
            name.ends_with(".agent.yaml") || name.ends_with(".agent.yml")
        }
        ["tasks", ..] => path.ends_with(".task.md"),
        ["inbox", _] => extension == "jsonl",
        ["boards" | "workflows", ..] => extension == "md",
        _ => is_room_file(path),
    }
}

/// The folders that contain files for a room.
pub(super) const ROOM_FOLDERS: [&str; 8] =
    ["scenes", "agents", "templates", "boards", "tasks", "inbox", "workflows", "skills"];

/// Subfolders of agents whose files are not the agents' code: their own data and packages.
const NO_CODE: [&str; 4] = ["state", "sessions", "logs", "node_modules"];

/// The file in an agent folder that says when its agent wakes.
pub const HEARTBEAT_FILE: &str = "heartbeat.md";

/// The file in which other products configure the MCP servers of a workspace: the only hidden file that a room reads.
pub const MCP_FILE: &str = ".mcp.json";

/// The commands that a person allowed or forbade.
pub const ALLOWLIST_FILE: &str = "storage/terminal-cmd-allowlist.yaml";

/// The schedule and state of planner check-ins.
pub const CHECK_IN_FILE: &str = "storage/planner-checkin.yaml";

/// The shared entries of the blackboards of completed runs.
pub const KEPT_BLACKBOARD: &str = "memory/knowledge/blackboard.yaml";

/// Whether the room maintains this file, in addition to the scene and the contents of elements: it writes the whole
/// file, and applies a person's edits to it.
pub(super) fn is_room_file(path: &str) -> bool {
    [KEPT_BLACKBOARD, APPROVALS_FILE, ALLOWLIST_FILE, CHECK_IN_FILE].contains(&path)
}

/// Instructions for agents at the top of the workspace, as in many repositories: a rulebook may show them.
pub const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The remedy for an element that names a file which cannot hold its content.
pub const ELEMENT_FILE_REMEDY: &str = "name a file like boards/rules.md, or tasks/work.task.md for a task board";

/// Whether a file holds tasks, as a task board shows them.
pub fn is_task_file(path: &str) -> bool {
    kind_of(path) == FileKind::Task && is_used_by_room(path)
}

/// Returns the canonical path of a file that an element names. The error says why the file cannot hold the content of
/// an element: agent files, settings, scenes, sessions and the program's own files cannot.
pub fn element_file(given: &str) -> Result<String, String> {
    let path = WorkspacePath::new(given).map_err(|refusal| refusal.to_string())?;
    let is_kept_by_elements = matches!(path.kind(), FileKind::Board | FileKind::Task) && is_used_by_room(path.as_str());
    if INSTRUCTIONS.contains(&path.as_str()) || is_kept_by_elements {
        return Ok(path.as_str().to_owned());
    }
    Err(format!("'{path}' is not a valid place for the content of an element"))
}

/// Returns a path relative to the workspace in canonical form: `/` between parts, and NFC as in [`WorkspacePath`]. This
/// is the only place that composes characters.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    Some(nfc(&as_written(root, path)?).into_owned())
}

/// Returns a path relative to the workspace with the characters as on disk, for opening the file.
fn as_written(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// Reads every file that a room uses. Also returns a problem for each that was left out.
pub fn read_folder(root: &Path) -> (BTreeMap<String, String>, Vec<Problem>) {
    let content = read_content(root);
    (content.files, content.problems)
}

/// Like [`read_folder`], and returns which files exist but cannot be read.
pub fn read_content(root: &Path) -> FolderContent {
    let (paths, problems) = list(root);
    let mut content = FolderContent { problems, ..FolderContent::default() };
    for path in paths {
        match read_file(root, &path) {
            FileContent::Text(text) => {
                content.files.insert(path, text);
            }
            FileContent::Removed => {}
            FileContent::Unusable { what, remedy } => {
                let failure = ReadFailure { what, remedy };
                content.problems.push(failure.problem(&path));
                content.unreadable.0.insert(path, failure);
            }
        }
    }
    content
}

/// Lists the paths of every file that a room uses, sorted.
pub(super) fn list(root: &Path) -> (Vec<String>, Vec<Problem>) {
    let mut walk = Walk { root, paths: Vec::new(), problems: Vec::new(), seen: 0 };
    for name in
        [SETTINGS_FILE, MCP_FILE, KEPT_BLACKBOARD, APPROVALS_FILE, ALLOWLIST_FILE, CHECK_IN_FILE, HEARTBEAT_FILE]
            .into_iter()
            .chain(INSTRUCTIONS)
    {
        if root.join(name).symlink_metadata().is_ok() {
            walk.paths.push(name.to_owned());
        }
    }
    let agents: Vec<String> = agents_at_top(root).collect();
    for folder in ROOM_FOLDERS.into_iter().chain((!agents.is_empty()).then_some(MODULES)) {
        walk.folder(&root.join(folder), 1);
    }
    walk.paths.extend(agents);
    walk.paths.sort();
    (walk.paths, walk.problems)
}

struct Walk<'a> {
    root: &'a Path,
    paths: Vec<String>,
    problems: Vec<Problem>,
    seen: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let place = relative(self.root, folder).unwrap_or_else(|| folder.display().to_string());
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => {
                let what = format!("this folder cannot be read: {error}");
                self.problems.push(Problem::error(place, what, "check that it is a folder and that you may read it"));
                return;
            }
        };
        if depth > MAX_DEPTH {
            let what = format!("folders are nested more than {MAX_DEPTH} deep; deeper files are skipped");
            self.problems.push(Problem::warning(place, what, "move its files up"));
            return;
        }
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        let names: BTreeSet<OsString> = entries.iter().map(fs::DirEntry::file_name).collect();
        for entry in entries {
            let name = entry.file_name();
            let composed = name.to_str().map(|name| OsString::from(nfc(name).as_ref()));
            // If the file system itself composes names, both names are this file's; otherwise the composed name is
            // another file's.
            let is_known_as_written = composed.is_none_or(|composed| {
                composed == name || (!names.contains(&composed) && folder.join(&composed).symlink_metadata().is_ok())
            });
            if is_known_as_written {
                self.entry(&entry, depth);
            } else {
                let what = "its name uses decomposed accents (not NFC); it is skipped";
                let place = relative(self.root, &entry.path()).unwrap_or_else(|| entry.path().display().to_string());
                self.problems.push(Problem::warning(place, what, "rename it by typing the name again"));
            }
        }
    }

    fn entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let path = entry.path();
        let Some(place) = relative(self.root, &path) else {
            let what = "a file name is not UTF-8; the file is skipped";
            self.problems.push(Problem::warning(path.display().to_string(), what, "rename it"));
            return;
        };
        if entry.file_name().to_string_lossy().starts_with('.') {
            return;
        }
        self.seen += 1;
        if self.seen > MAX_FILES {
            if self.seen == MAX_FILES + 1 {
                let what = format!("there are more than {MAX_FILES} files; the rest are skipped");
                self.problems.push(Problem::warning(place, what, "move files that do not belong here elsewhere"));
            }
            return;
        }
        let Ok(kind) = entry.file_type() else { return };
        if kind.is_dir() {
            // Scenes are directly in their folder.
            if !place.starts_with("scenes/") {
                self.folder(&path, depth + 1);
            }
            // What a file with this name would forbid stays forbidden.
            if is_used_by_room(&place) {
                self.paths.push(place);
            }
        } else if kind.is_symlink() && path.is_dir() && !is_used_by_room(&place) {
            let what = "links to folders are not followed";
            self.problems.push(Problem::warning(place, what, "replace the link with the folder itself"));
        } else if is_used_by_room(&place) {
            self.paths.push(place);
        }
    }
}

/// Returns the maximum size in bytes of a file that a room reads.
pub(super) fn most_bytes(path: &str) -> usize {
    if path.starts_with("scenes/") { MAX_SCENE_BYTES } else { MAX_FILE_BYTES }
}

/// Reads the current content of a file.
pub(super) fn read_file(root: &Path, path: &str) -> FileContent {
    let unusable = |what: String, remedy: &str| FileContent::Unusable { what, remedy: remedy.to_owned() };
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileContent::Removed,
        _ => unusable(format!("cannot be read: {error}"), "check that you may read it"),
    };
    let real = match real_place(root, path) {
        Ok(real) => real,
        Err(why) => return why,
    };
    // Opened relative to folder handles and without blocking on a pipe, so that the checked file is the one that is
    // read.
    let opened = folder_of(root, &real).and_then(|folder| folder.open_file(paths::file_name(&real)));
    let (file, found) = match opened {
        Ok(opened) => opened,
        Err(error) => return cannot(error),
    };
    match found.kind {
        EntryKind::File => {}
        EntryKind::Folder => {
            return unusable(
                "is a folder where a file should be".into(),
                "replace it with a text \
            file",
            );
        }
        EntryKind::Link | EntryKind::Other => {
            return unusable("is not a regular file".into(), "replace it with a text file");
        }
    }
    let most = most_bytes(path);
    let mut bytes = Vec::new();
    let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
    match read {
        Err(error) => cannot(error),
        Ok(_) if bytes.len() > most => {
            unusable(format!("is larger than {} KiB", most / 1024), "split it, or move it out of the workspace")
        }
        Ok(_) => String::from_utf8(bytes).map_or_else(
            |error| {
                let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
                unusable(format!("is not UTF-8 text (line {line})"), "save it as UTF-8")
            },
            FileContent::Text,
        ),
    }
}

/// Reads a file below a folder of the workspace. Returns its text and its real path below that folder; `None` if it
/// cannot be read or a link leads out of the folder.
pub fn read_below(root: &Path, folder: &str, path: &str) -> Option<(String, String)> {
    let full = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let real = real_place(root, &full).ok()?;
    let below = if folder.is_empty() { &*real } else { real.strip_prefix(folder)?.strip_prefix('/')? };
    match read_file(root, &full) {
        FileContent::Text(text) => Some((below.to_owned(), text)),
        FileContent::Removed | FileContent::Unusable { .. } => None,
    }
}

/// Resolves links in a path of the workspace as long as they stay in the workspace and lead to nothing hidden. A path
/// that does not exist resolves to itself.
pub(super) fn real_place(root: &Path, path: &str) -> Result<String, FileContent> {
    let unusable = |what: &str| FileContent::Unusable {
        what: what.into(),
        remedy: "replace the link with the file \
        itself"
            .into(),
    };
    let full = root.join(path);
    let real = match full.canonicalize().and_then(|full| Ok((full, root.canonicalize()?))) {
        Ok((full, root)) => {
            relative(&root, &full).ok_or_else(|| unusable("is a link to a place outside the workspace"))?
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let is_link = full.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
            return if is_link { Err(unusable("is a broken link")) } else { Ok(path.to_owned()) };
        }
        Err(error) => return Err(unusable(&format!("cannot be read: {error}"))),
    };
    if real != MCP_FILE && real.split('/').any(|part| part.starts_with('.')) {
        return Err(unusable("is a link to a hidden file"));
    }
    Ok(real)
}

/// Opens the folder that contains the file at a resolved path, without following links.
fn folder_of(root: &Path, real: &str) -> std::io::Result<Folder> {
    let way = paths::folder_of(real);
    let parts = way.split('/').filter(|part| !part.is_empty());
    parts.into_iter().try_fold(Folder::open(root)?, |folder, part| folder.child(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, bytes) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it should be in the folder")).expect("folders can be made");
            fs::write(path, bytes).expect("files can be written");
        }
        folder
    }

    #[test]
    fn only_relevant_files_are_read() {
        let folder = folder(&[
            ("settings.yaml", b"a: 1\r\n"),
            ("scenes/s.yaml", "\u{feff}name: ünï\n".as_bytes()),
            ("scenes/old/s.yaml", b"x"),
            ("agents/team/x/agent.mdx", b"hi"),
            ("agents/.ada.md.swp", b"x"),
            ("agents/ada.md~", b"x"),
            ("boards/notes/a.md", b"n"),
            ("README.md", b"x"),
            (".mcp.json", b"{}"),
            (".env", b"x"),
            ("agents/.mcp.json", b"{}"),
        ]);
        let (files, problems) = read_folder(folder.path());
        let paths: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [".mcp.json", "agents/team/x/agent.mdx", "boards/notes/a.md", "scenes/s.yaml", "settings.yaml"]
        );
        assert_eq!(
            (files["settings.yaml"].as_str(), files["scenes/s.yaml"].as_str()),
            ("a: 1\r\n", "\u{feff}name: ünï\n")
        );
        assert_eq!(problems, []);
        assert!(is_workspace(folder.path()) && !is_workspace(&folder.path().join("agents")));
    }

    #[test]
    fn agents_code_is_relevant_outside_of_their_own_data_folders() {
        for (path, does) in [
            ("agents/ada/modules/a.ts", true),
            ("agents/ada/lib/deep/a.ts", true),
            ("agents/ada/modules/state/a.ts", true),
            ("agents/ada/state/a.ts", false),
            ("agents/ada/sessions/a.ts", false),
            ("agents/ada/node_modules/x/a.ts", false),
            ("modules/a.ts", true),
            ("lib/a.ts", false),
        ] {
            assert_eq!(is_used_by_room(path), does, "{path}");
        }
    }

    #[test]
    fn a_file_is_read_below_a_folder_and_no_link_leads_out_of_it() {
        let folder =
            folder(&[("agents/ada/lib/a.ts", b"a"), ("agents/bob/b.ts", b"b"), ("agents/ada/state/s.ts", b"s")]);
        let root = folder.path();
        let read = |path: &str| read_below(root, "agents/ada", path);
        assert_eq!(read("lib/a.ts"), Some(("lib/a.ts".to_owned(), "a".to_owned())));
        assert_eq!(read_below(root, "", "agents/bob/b.ts").map(|(_, text)| text).as_deref(), Some("b"));
        assert_eq!(read("lib/none.ts"), None);
        #[cfg(unix)]
        {
            let ada = root.join("agents/ada");
            std::os::unix::fs::symlink(root.join("agents/bob/b.ts"), ada.join("out.ts")).expect("links can be made");
            std::os::unix::fs::symlink(root.join("agents/bob"), ada.join("bob")).expect("links can be made");
            std::os::unix::fs::symlink(ada.join("state/s.ts"), ada.join("in.ts")).expect("links can be made");
            assert_eq!((read("out.ts"), read("bob/b.ts")), (None, None));
            assert_eq!(read("in.ts"), Some(("state/s.ts".to_owned(), "s".to_owned())), "it is told where it lies");
        }
    }

    #[test]
    fn unusable_files_are_reported_and_left_out() {
        let large = vec![b'x'; MAX_FILE_BYTES + 1];
        let folder = folder(&[
            ("settings.yaml", b""),
            ("agents/large.md", &large),
            ("agents/latin.md", b"ok\n\xe9"),
            ("boards/x.md/y", b""),
        ]);
        let outside = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.path().join("agents/out.md")).expect("links can be made");
            std::os::unix::fs::symlink(folder.path(), folder.path().join("agents/loop")).expect("links can be made");
        }
        let deep = folder.path().join("agents/a/b/c/d/e/f/g/h/i");
        fs::create_dir_all(&deep).expect("folders can be made");
        let (files, problems) = read_folder(folder.path());
        assert_eq!(files.keys().collect::<Vec<_>>(), ["settings.yaml"]);
        let all = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for expected in ["large.md: is larger than", "latin.md: is not UTF-8 text (line 2)", "nested more than 8"] {
            assert!(all.contains(expected), "{expected} in {all}");
        }
        #[cfg(unix)]
        assert!(
            all.contains("out.md: is a link to a place outside") && all.contains("agents/loop: links to folders"),
            "{all}"
        );
        drop(outside);
    }

    #[test]
    fn a_file_has_only_its_composed_name() {
        let folder = folder(&[("settings.yaml", b""), ("agents/jos\u{e9}.md", b"one")]);
        fs::write(folder.path().join("agents/jose\u{301}.md"), b"two").expect("files can be written");
        fs::write(folder.path().join("agents/ame\u{301}lie.md"), b"three").expect("files can be written");
        let (files, problems) = read_folder(folder.path());
        assert!(files.contains_key("agents/jos\u{e9}.md"));
        assert!(files.keys().all(|path| nfc(path) == *path), "{files:?}");
        let left_out = problems.iter().filter(|problem| problem.what.contains("NFC")).count();
        assert!(!cfg!(target_os = "linux") || left_out == 2, "{problems:?}");
        let written = folder.path().join("agents/ame\u{301}lie.md");
        assert_eq!(relative(folder.path(), &written).as_deref(), Some("agents/am\u{e9}lie.md"));
    }

    #[test]
    fn the_intended_workspace_is_found() {
        let folder = folder(&[("w/settings.yaml", b"")]);
        let current = folder.path();
        assert_eq!(find(Some(Path::new("other")), current), current.join("other"));
        assert_eq!(find(None, &current.join("w")), current.join("w"));
        assert_eq!(find(None, current), current.join("my-workshop"));
    }

    #[test]
    fn element_contents_are_only_stored_in_boards_or_instructions() {
        for path in ["boards/a.md", "boards/deep/jos\u{e9}.md", "AGENTS.md", "CLAUDE.md", "tasks/work.task.md"] {
            assert_eq!(element_file(path).as_deref(), Ok(path));
        }
        assert_eq!(element_file("./boards/jose\u{301}.md").as_deref(), Ok("boards/jos\u{e9}.md"), "one spelling");
        for path in [
            "agents/ada.md",
            "settings.yaml",
            "scenes/s.yaml",
            "sessions/ada/1.session.yaml",
            ".workshop/x.md",
            "boards/../agents/ada.md",
            "boards/.x.md",
            "boards/x.yaml",
            "README.md",
            "agents.md",
            "boards/AGENTS.md/../x.md",
            "Boards/x.md",
            "/boards/x.md",
            "tasks/notes.md",
            "memory/x.md",
            "",
        ] {
            assert!(element_file(path).is_err(), "{path}");
        }
    }

    #[test]
    fn paths_that_lead_outside_are_not_relevant() {
        for path in [
            "../settings.yaml",
            "agents/../../x.md",
            "agents//x.md",
            "/agents/x.md",
            "agents/.x.md",
            "agents\\x.md",
            "boards/a.txt",
        ] {
            assert!(!is_used_by_room(path), "{path}");
        }
    }
}
