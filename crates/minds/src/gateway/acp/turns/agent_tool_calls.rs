//! Converts reports about an agent's own tool calls to the terms and paths of the room.

use std::path::Path;

use agent_client_protocol::v1::schema::{ContentBlock, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind};

use crate::base::text;
use crate::gateway::peers::plain;
use crate::mind::{AgentToolCall, OwnChange};

/// The maximum length of the title of a tool call, in characters.
const TITLE_CHARS: usize = 200;
/// The maximum number of files and file changes that are reported per tool use.
const MAX_PATHS: usize = 16;
/// The maximum length of a path in characters, longer than any that the room accepts.
const PATH_CHARS: usize = 1_000;
/// The maximum length of each side of a file change, in characters.
const CHANGE_CHARS: usize = 4_000;
/// Parts of error messages of programs that the system did not let write something.
const REFUSALS: [&str; 6] =
    ["EACCES", "EROFS", "EPERM", "Permission denied", "Read-only file system", "Operation not permitted"];

/// Applies an update to a tool call.
pub(super) fn apply(call: &mut AgentToolCall, update: &ToolCallUpdate, workspace: &Path) {
    let fields = &update.fields;
    if let Some(title) = &fields.title {
        call.title = plain(title, TITLE_CHARS);
    }
    if let Some(kind) = fields.kind {
        call.kind = kind_word(kind).to_owned();
    }
    if let Some(status) = fields.status {
        call.status = status_word(status).to_owned();
    }
    if let Some(locations) = &fields.locations {
        let path = |path: &Path| plain(&relative(path, workspace), PATH_CHARS);
        call.paths = locations.iter().take(MAX_PATHS).map(|location| path(&location.path)).collect();
    }
    if let Some(content) = &fields.content {
        call.images = u32::try_from(content.iter().filter(is_image).count()).unwrap_or(u32::MAX);
    }
    let shown = || fields.content.iter().flatten().filter_map(text_of);
    let raw = || fields.raw_output.iter().map(ToString::to_string);
    let is_refusal = |text: String| REFUSALS.iter().any(|sign| text.contains(sign));
    call.is_refused_access |= shown().chain(raw()).any(is_refusal);
    let changes = fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(OwnChange {
            path: plain(&relative(&diff.path, workspace), PATH_CHARS),
            old: diff.old_text.as_ref().map(|old| text::truncate(old, CHANGE_CHARS)),
            new: text::truncate(&diff.new_text, CHANGE_CHARS),
        }),
        _ => None,
    });
    let changes: Vec<OwnChange> = changes.take(MAX_PATHS).collect();
    if !changes.is_empty() {
        call.changes = changes;
    }
}

/// Returns the text of a result of a tool call.
fn text_of(content: &ToolCallContent) -> Option<String> {
    match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a result of a tool call is an image.
fn is_image(content: &&ToolCallContent) -> bool {
    match content {
        ToolCallContent::Content(content) => matches!(content.content, ContentBlock::Image(_)),
        _ => false,
    }
}

/// Returns what the screen shows of a tool call, in the form of arguments.
pub(in crate::gateway::acp) fn shown(call: &AgentToolCall) -> String {
    call.paths.first().map_or_else(|| "{}".to_owned(), |path| serde_json::json!({ "path": path }).to_string())
}

/// Returns the protocol's name for a kind of tool.
fn kind_word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        _ => "other",
    }
}

fn status_word(status: ToolCallStatus) -> &'static str {
    match status {
        ToolCallStatus::InProgress => "in_progress",
        ToolCallStatus::Completed => "completed",
        ToolCallStatus::Failed => "failed",
        _ => "pending",
    }
}

/// Returns a path in the room's form: relative if it is in the workspace, otherwise unchanged, which the room refuses.
pub(super) fn relative(path: &Path, workspace: &Path) -> String {
    let below = path.strip_prefix(workspace).ok();
    let below = below.map(Path::to_owned).or_else(|| {
        // A folder may have several names; the file itself need not exist yet.
        let parent = path.parent()?.canonicalize().ok()?;
        let whole = workspace.canonicalize().ok()?;
        Some(parent.strip_prefix(whole).ok()?.join(path.file_name()?))
    });
    let shown = below.as_deref().unwrap_or(path).to_string_lossy();
    if cfg!(windows) { shown.replace('\\', "/") } else { shown.into_owned() }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{TextContent, ToolCallUpdateFields};

    use super::*;

    #[test]
    fn a_refusal_of_the_system_is_recognized_in_results() {
        let here = Path::new("/w");
        let after = |text: &str| {
            let mut call = AgentToolCall::default();
            let content = ContentBlock::Text(TextContent::new(text)).into();
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Failed).content(vec![content]);
            apply(&mut call, &ToolCallUpdate::new("a", fields), here);
            call.is_refused_access
        };
        assert!(after("Error: EACCES: permission denied, mkdir '/w/artifacts'"));
        assert!(after("touch: cannot touch 'x': Read-only file system"));
        assert!(!after("The file was not found."));
        let mut call = AgentToolCall::default();
        let raw = serde_json::json!({ "error": { "code": "EPERM" } });
        apply(&mut call, &ToolCallUpdate::new("a", ToolCallUpdateFields::new().raw_output(raw)), here);
        assert!(call.is_refused_access);
    }
}
