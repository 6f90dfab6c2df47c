//! The file tools: reading, writing, appending, editing, listing, searching, renaming, deleting.

use serde_json::{Value, json};

use super::plan::{Excerpt, Planned};
use super::tool::{Arguments, Tool};
use crate::gate::{PROPOSE_CHANGES, Power};
use crate::workspace::vfs::{FileOperation, WorkspacePath};

/// The maximum length of a path, in characters.
pub const MAX_PATH_CHARS: usize = 400;
/// The maximum length of a text in a call, in characters. In any encoding it stays below the 1 MiB that the workspace
/// reads.
pub const MAX_CONTENT_CHARS: usize = 256 * 1024;

/// The tool that reads a file.
pub(super) fn read() -> Tool {
    Tool::new(
        "vfs_read",
        "Read a file of the workspace. A long file is cut; continue with from_line, the number of the first line to \
         show.",
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

/// The tool that writes a whole file.
pub(super) fn write() -> Tool {
    Tool::new(
        "vfs_write",
        "Write a whole file of the workspace, or overwrite it. Put results in artifacts/ and notes in memory/.",
        object(
            json!({
                "path": path("The path, such as artifacts/spec.md."),
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

/// The tool that appends to a file.
pub(super) fn append() -> Tool {
    Tool::new(
        "vfs_append",
        "Append text to a file, or create the file with it. Nothing is inserted before the text: start it with a line \
         break if it should begin on a new line. Write long texts in parts.",
        {
            let text = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_CONTENT_CHARS,
                "description": "The exact text to append.",
            });
            object(json!({ "path": path("The file, such as artifacts/report.md."), "text": text }), &["path", "text"])
        },
        |arguments, _| file(FileOperation::Append { path: path_of(arguments)?, text: arguments.text("text") }),
    )
    .by_default(Power::Write)
    .also_called(&["append_file", "append_to_file"])
    .with_argument_aliases(&[("file_path", "path"), ("content", "text")])
}

/// The tool that creates a folder.
pub(super) fn create_directory() -> Tool {
    Tool::new(
        "create_directory",
        "Create a folder in the workspace, including its parent folders. An existing folder is not an error. Writing \
         a file creates its folders automatically.",
        object(json!({ "path": path("The folder, such as artifacts/reports.") }), &["path"]),
        |arguments, _| {
            let given = arguments.text("path");
            let path =
                WorkspacePath::new(given.trim_end_matches('/')).map_err(|refusal| format!("'path': {refusal}"))?;
            file(FileOperation::CreateFolder { path: path.as_str().to_owned() })
        },
    )
    .with_power(Power::Write)
    .also_called(&["make_directory", "mkdir", "create_folder"])
    .with_argument_aliases(&[("directory", "path"), ("folder", "path"), ("directory_path", "path")])
}

/// The tool that replaces a passage of a file.
pub(super) fn edit() -> Tool {
    Tool::new(
        "vfs_edit",
        "Replace one passage of a file. The passage must occur exactly once, character for character.",
        {
            let old = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_CONTENT_CHARS,
                "description": "The current passage, with enough context to be unique.",
            });
            let new = content("The replacement; empty to remove the passage.");
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

/// The tool that lists files.
pub(super) fn list() -> Tool {
    Tool::new(
        "vfs_list",
        "List the files whose paths begin with a prefix, or all files.",
        {
            let prefix = json!({
                "type": "string",
                "maxLength": MAX_PATH_CHARS,
                "description": "The beginning of the paths, such as artifacts/.",
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

/// The tool that searches lines or files.
pub(super) fn search() -> Tool {
    Tool::new(
        "vfs_search",
        "Find the lines that contain a text, ignoring case, or, without a text, the files that match a glob.",
        object(
            json!({
                "text": { "type": "string", "maxLength": 1000, "description": "The text to find; not a pattern." },
                "glob": {
                    "type": "string",
                    "maxLength": MAX_PATH_CHARS,
                    "description": "The files to search, such as memory/**/*.md; default all files.",
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

/// The tool that proposes the changes in the agent's own copy of the workspace.
pub(super) fn propose_changes() -> Tool {
    Tool::new(
        PROPOSE_CHANGES,
        "You work in your own copy of the workspace. Propose your changes: a person reviews the diff and accepts it \
         or says why not. Call this when you are done; if you forget, it is done for you.",
        object(json!({}), &[]),
        |_, _| file(FileOperation::MergeWorktree { hash: 0 }),
    )
    .with_power(Power::Write)
}

/// The tool that deletes a file.
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

/// The tool that renames a file. An agent that may not delete files may not rename them either.
pub(super) fn rename() -> Tool {
    Tool::new(
        "vfs_rename",
        "Rename or move a file of the workspace. Its versions are kept. The new path must not exist yet.",
        object(
            json!({
                "from": path("The current path."),
                "to": path("The new path, such as artifacts/final.md."),
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

/// The path that a call names, normalized.
fn path_of(arguments: &Arguments) -> Result<String, String> {
    normal(arguments, "path")
}

/// The path that a call names, relative to this folder; relative to the workspace if the folder is empty.
fn path_below(folder: &str, arguments: &Arguments) -> Result<String, String> {
    if folder.is_empty() {
        return path_of(arguments);
    }
    path_from(folder, &arguments.text("path")).map_err(|refusal| format!("'path': {refusal}"))
}

/// Converts a path written by an agent in a folder to a path of the workspace: relative to that folder, unless it
/// begins with the folder itself.
pub(super) fn path_from(folder: &str, path: &str) -> Result<String, String> {
    let path = path.trim();
    if path.starts_with('/') || path.contains('\\') {
        return Err(format!("{path:?} is not a path relative to the agent's folder"));
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

/// The schema of a text argument that is not empty and has at most this number of characters.
pub(super) fn text_schema(chars_at_most: usize, about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": chars_at_most, "description": about })
}

fn path(about: &str) -> Value {
    text_schema(MAX_PATH_CHARS, about)
}

fn content(about: &str) -> Value {
    json!({ "type": "string", "maxLength": MAX_CONTENT_CHARS, "description": about })
}

/// The schema of an object with these properties and no others.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
