//! The tools for files: reading, writing, appending, editing, listing, searching, renaming, deleting.

use serde_json::{Value, json};

use super::plan::{Excerpt, Planned};
use super::tool::{Arguments, Tool};
use crate::gate::{PROPOSE_CHANGES, Power};
use crate::workspace::vfs::{FileOperation, WorkspacePath};

/// No path is longer, in characters.
pub const PATH_CHARS_AT_MOST: usize = 400;
/// No text that a call brings is longer: whatever its letters, it stays within what the workspace reads back (1 MiB).
pub const CONTENT_CHARS_AT_MOST: usize = 256 * 1024;

/// Reads a file.
pub(super) fn read() -> Tool {
    Tool::new(
        "vfs_read",
        "Read a file of the workspace. A long file is cut; read on with from_line, the number of the line to \
                  begin with.",
        object(
            json!({
                "path": path("The file, such as artifacts/spec.md."),
                "from_line": { "type": "integer", "minimum": 1, "description": "First line to show, counted from 1." },
                "lines": { "type": "integer", "minimum": 1, "description": "How many lines to show." },
            }),
            &["path"],
        ),
        |arguments, planning| {
            let (from_line, lines) = (arguments.number("from_line"), arguments.number("lines"));
            let path = path_below(planning.bounds.folder_for("vfs_read"), arguments)?;
            if from_line.is_none() && lines.is_none() {
                return file(FileOperation::Read { path });
            }
            let from_line = from_line.unwrap_or(1);
            let excerpt = Some(Excerpt { first_line: from_line, lines, as_data: false });
            Ok(Planned::files(FileOperation::ReadLines { path, from_line, lines }, excerpt))
        },
    )
    .by_default(Power::Read)
    .also_called(&["Read", "NotebookRead", "view_file"])
    .also_offered_as("read_file")
    .with_argument_aliases(&[("file_path", "path"), ("offset", "from_line"), ("limit", "lines")])
}

/// Writes a whole file.
pub(super) fn write() -> Tool {
    Tool::new(
        "vfs_write",
        "Write or overwrite a file of the workspace with a whole text. Results belong in artifacts/, notes \
                  in memory/.",
        object(
            json!({
                "path": path("Where, such as artifacts/spec.md."),
                "content": content("The whole new text of the file."),
            }),
            &["path", "content"],
        ),
        |arguments, planning| {
            let path = path_below(planning.bounds.folder_for("vfs_write"), arguments)?;
            file(FileOperation::Write { path, content: arguments.text("content") })
        },
    )
    .by_default(Power::Write)
    .also_called(&["Write", "create_file"])
    .also_offered_as("write_file")
    .with_argument_aliases(&[("file_path", "path")])
}

/// Puts a text behind a file.
pub(super) fn append() -> Tool {
    Tool::new(
        "vfs_append",
        "Add a text at the end of a file, or begin the file with it. Nothing is put between the two: begin \
                  with a line break where the text is to stand on a line of its own. Write what is long in parts.",
        {
            let text = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": CONTENT_CHARS_AT_MOST,
                "description": "What is added, letter for letter.",
            });
            object(json!({ "path": path("The file, such as artifacts/report.md."), "text": text }), &["path", "text"])
        },
        |arguments, _| file(FileOperation::Append { path: path_of(arguments)?, text: arguments.text("text") }),
    )
    .by_default(Power::Write)
    .also_called(&["append_file", "append_to_file"])
    .with_argument_aliases(&[("file_path", "path"), ("content", "text")])
}

/// Makes a folder.
pub(super) fn create_directory() -> Tool {
    Tool::new(
        "create_directory",
        "Make a folder in the workspace, with those that it lies in. A folder that is there already is fine. Writing a file \
         makes its folders by itself.",
        object(json!({ "path": path("The folder, such as artifacts/reports.") }), &["path"]),
        |arguments, _| {
            let given = arguments.text("path");
            let path = WorkspacePath::new(given.trim_end_matches('/')).map_err(|refusal| format!("'path': {refusal}"))?;
            file(FileOperation::CreateFolder { path: path.as_str().to_owned() })
        },
    )
    .with_power(Power::Write)
    .also_called(&["make_directory", "mkdir", "create_folder"])
    .with_argument_aliases(&[("directory", "path"), ("folder", "path"), ("directory_path", "path")])
}

/// Replaces a passage.
pub(super) fn edit() -> Tool {
    Tool::new(
        "vfs_edit",
        "Replace one passage of a file. The passage must stand there exactly once, letter for letter.",
        {
            let old = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": CONTENT_CHARS_AT_MOST,
                "description": "The passage as it stands, with enough around it to be the only one.",
            });
            let new = content("What takes its place; empty to remove it.");
            object(json!({ "path": path("The file."), "old": old, "new": new }), &["path", "old", "new"])
        },
        |arguments, _| {
            let (old, new) = (arguments.text("old"), arguments.text("new"));
            if old == new {
                return Err("'old' and 'new' are the same; nothing would change".to_owned());
            }
            file(FileOperation::Edit { path: path_of(arguments)?, old, new })
        },
    )
    .by_default(Power::Write)
    .also_called(&["Edit", "MultiEdit", "NotebookEdit", "edit_file", "str_replace"])
    .with_argument_aliases(&[
        ("file_path", "path"),
        ("old_string", "old"),
        ("new_string", "new"),
        ("old_str", "old"),
        ("new_str", "new"),
    ])
}

/// Names files.
pub(super) fn list() -> Tool {
    Tool::new(
        "vfs_list",
        "List the files whose paths begin with a prefix; all of them without one.",
        {
            let prefix = json!({
                "type": "string",
                "maxLength": PATH_CHARS_AT_MOST,
                "description": "What the paths begin with, such as artifacts/.",
            });
            object(json!({ "prefix": prefix }), &[])
        },
        |arguments, _| file(FileOperation::List { prefix: arguments.text("prefix") }),
    )
    .by_default(Power::Find)
    .also_called(&["LS", "list_files"])
    .also_offered_as("list_directory")
    .with_argument_aliases(&[("path", "prefix"), ("directory", "prefix")])
}

/// Finds lines or files.
pub(super) fn search() -> Tool {
    Tool::new(
        "vfs_search",
        "Find the lines that hold a text, in upper or lower case, or, without a text, the files that a glob \
                  names.",
        object(
            json!({
                "text": { "type": "string", "maxLength": 1000, "description": "The text to find; not a pattern." },
                "glob": {
                    "type": "string",
                    "maxLength": PATH_CHARS_AT_MOST,
                    "description": "In which files, such as memory/**/*.md; all of them without it.",
                },
            }),
            &[],
        ),
        |arguments, _| {
            let (text, glob) = (arguments.some_text("text"), arguments.some_text("glob"));
            if text.is_none() && glob.is_none() {
                return Err("give a text to find, a glob, or both".to_owned());
            }
            file(FileOperation::Search { text, glob })
        },
    )
    .by_default(Power::Find)
    .also_called(&["Grep", "Glob"])
    .also_offered_as("search_files")
    .with_argument_aliases(&[("query", "text")])
}

/// Proposes what was done in the agent's own copy.
pub(super) fn propose_changes() -> Tool {
    Tool::new(
        PROPOSE_CHANGES,
        "You work in your own copy of the workspace. Propose what you changed in it: a person sees the difference and \
                  takes it over or says why not. Do so once you are done; it is done for you if you forget it.",
        object(json!({}), &[]),
        |_, _| file(FileOperation::MergeWorktree { hash: 0 }),
    )
    .with_power(Power::Write)
}

/// Takes a file away.
pub(super) fn delete() -> Tool {
    Tool::new(
        "vfs_delete",
        "Delete a file of the workspace.",
        object(json!({ "path": path("The file.") }), &["path"]),
        |arguments, _| file(FileOperation::Delete { path: path_of(arguments)? }),
    )
    .by_default(Power::Delete)
    .also_called(&["delete_file", "remove_file"])
    .with_argument_aliases(&[("file_path", "path")])
}

/// Gives a file another path. Whoever may not take files away may not take them from their place either.
pub(super) fn rename() -> Tool {
    Tool::new(
        "vfs_rename",
        "Give a file of the workspace another name or folder. Its versions go with it. Nothing may be there \
                  yet.",
        object(
            json!({
                "from": path("The file as it is called now."),
                "to": path("What it is to be called, such as artifacts/final.md."),
            }),
            &["from", "to"],
        ),
        |arguments, _| {
            let (from, to) = (normal(arguments, "from")?, normal(arguments, "to")?);
            if from == to {
                return Err("'from' and 'to' are the same; nothing would change".to_owned());
            }
            file(FileOperation::Rename { from, to })
        },
    )
    .by_default(Power::Delete)
    .also_called(&["move_file", "rename_file"])
    .with_argument_aliases(&[
        ("path", "from"),
        ("old_path", "from"),
        ("new_path", "to"),
        ("source", "from"),
        ("destination", "to"),
    ])
}

/// The path that a call names, in the one form that paths have.
fn path_of(arguments: &Arguments) -> Result<String, String> {
    normal(arguments, "path")
}

/// The path that a call names, from this folder; the workspace where it is empty.
fn path_below(folder: &str, arguments: &Arguments) -> Result<String, String> {
    if folder.is_empty() {
        return path_of(arguments);
    }
    path_from(folder, &arguments.text("path")).map_err(|refusal| format!("'path': {refusal}"))
}

/// A path as whoever lives in a folder writes it, as one of the workspace: from that folder, unless it names the folder
/// itself.
pub(super) fn path_from(folder: &str, path: &str) -> Result<String, String> {
    let path = path.trim();
    if path.starts_with('/') || path.contains('\\') {
        return Err(format!("{path:?} is no path from the folder of the agent"));
    }
    let is_whole = path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
    let joined = if is_whole || folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Err(format!("{path:?} points outside the workspace")),
            ".." => {}
            part => parts.push(part),
        }
    }
    let path = WorkspacePath::new(&parts.join("/")).map_err(|refusal| format!("{path:?}: {refusal}"))?;
    Ok(path.as_str().to_owned())
}

fn normal(arguments: &Arguments, name: &str) -> Result<String, String> {
    let path = WorkspacePath::new(&arguments.text(name)).map_err(|refusal| format!("'{name}': {refusal}"))?;
    Ok(path.as_str().to_owned())
}

fn file(operation: FileOperation) -> Result<Planned, String> {
    Ok(Planned::files(operation, None))
}

fn path(about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": PATH_CHARS_AT_MOST, "description": about })
}

fn content(about: &str) -> Value {
    json!({ "type": "string", "maxLength": CONTENT_CHARS_AT_MOST, "description": about })
}

/// The schema of an object with these properties and no other.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
