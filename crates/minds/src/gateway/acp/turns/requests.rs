//! Requests of an agent during its answer, as calls of the room's tools, and their results as answers of the protocol.

use std::path::Path;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    CLIENT_METHOD_NAMES, ClientCapabilities, CreateTerminalRequest, CreateTerminalResponse, FileSystemCapabilities,
    Implementation, InitializeRequest, KillTerminalResponse, PermissionOptionKind, ReadTextFileRequest,
    ReadTextFileResponse, ReleaseTerminalResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, ToolCallContent, ToolKind, WaitForTerminalExitResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Error, UntypedMessage};
use serde_json::{Map, Value, json};

use super::agent_tool_calls::{apply, relative};
use super::answer_context::AnswerContext;
use super::room_tools::{OfferedTools, RoomToolCall};
use super::terminals::{Terminals, command_words};
use crate::mind::{AgentToolCall, CallEnd, PromptMessage, ToolCall};

/// The tool that reads a file for an agent; its result is JSON.
pub const READ_TEXT: &str = "read_text";
/// The tool that asks for permission to use one of the agent's own tools.
pub const OWN_TOOL: &str = "use_own_tool";
/// The tool that writes a file.
const WRITE: &str = "vfs_write";
/// The tool that runs a program for an agent.
pub const OPEN_TERMINAL: &str = "open_terminal";

/// Whether a tool exists only for requests of the protocol. If it were called in another way, it would report something
/// as allowed or done that never happens.
pub(super) fn is_of_protocol(tool: &str) -> bool {
    [READ_TEXT, OWN_TOOL, OPEN_TERMINAL].contains(&tool)
}

/// Returns the description and capabilities of this client: files and terminals.
pub(in crate::gateway::acp) fn hello() -> InitializeRequest {
    let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
    InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files).terminal(true))
        .client_info(Implementation::new("agent-workshop", env!("CARGO_PKG_VERSION")))
}

/// The parameters of a request.
enum RequestKind {
    Read(ReadTextFileRequest),
    Write(WriteTextFileRequest),
    Permission(Box<RequestPermissionRequest>),
    Terminal(Box<CreateTerminalRequest>, Vec<String>),
}

/// A request of the agent that waits for an answer.
pub(in crate::gateway::acp) enum OpenRequest {
    /// A request of the protocol.
    Request(Box<Request>),
    /// A call of one of the room's tools.
    Tool(RoomToolCall),
}

impl OpenRequest {
    /// Whether a person is usually asked about it: the agent's own tools, and programs.
    pub(in crate::gateway::acp) fn may_wait_for_a_person(&self) -> bool {
        match self {
            Self::Request(request) => matches!(request.wanted, RequestKind::Permission(_) | RequestKind::Terminal(..)),
            Self::Tool(_) => false,
        }
    }

    /// Converts it to a call of the room's tools.
    pub(in crate::gateway) fn call(&self, id: String, workspace: &Path) -> ToolCall {
        match self {
            Self::Request(request) => request.call(id, workspace),
            Self::Tool(call) => call.call(id),
        }
    }

    /// Answers the request with the result of the call. Returns a text that the agent must get with the next prompt, if
    /// there is one.
    pub(in crate::gateway) fn answer(self, result: &PromptMessage, context: &AnswerContext<'_>) -> Option<String> {
        match self {
            Self::Request(request) => request.answer(result, context),
            Self::Tool(call) => call.answer(result, context),
        }
    }

    /// Refuses the request, with the reason.
    pub(in crate::gateway::acp) fn refuse(self, why: &str) {
        match self {
            Self::Request(request) => request.refuse(why),
            Self::Tool(call) => call.refuse(why),
        }
    }

    /// Answers that the request will not be decided any more.
    pub(in crate::gateway::acp) fn withdraw(self) {
        match self {
            Self::Request(request) => request.withdraw(),
            Self::Tool(call) => call.withdraw(),
        }
    }
}

/// A request of the protocol that waits for an answer.
pub(in crate::gateway::acp) struct Request {
    wanted: RequestKind,
    responder: Responder,
}

impl Request {
    /// Parses a request of the agent, and returns its session. Unsupported requests are answered at once.
    pub(in crate::gateway) fn of(request: UntypedMessage, responder: Responder) -> Option<(String, Box<Self>)> {
        let (method, params) = request.into_parts();
        let parsed = if method == CLIENT_METHOD_NAMES.fs_read_text_file {
            serde_json::from_value(params)
                .map(|read: ReadTextFileRequest| (read.session_id.to_string(), RequestKind::Read(read)))
        } else if method == CLIENT_METHOD_NAMES.fs_write_text_file {
            serde_json::from_value(params)
                .map(|write: WriteTextFileRequest| (write.session_id.to_string(), RequestKind::Write(write)))
        } else if method == CLIENT_METHOD_NAMES.session_request_permission {
            serde_json::from_value(params).map(|permission: RequestPermissionRequest| {
                (permission.session_id.to_string(), RequestKind::Permission(Box::new(permission)))
            })
        } else if method == CLIENT_METHOD_NAMES.terminal_create {
            serde_json::from_value(params).and_then(|create: CreateTerminalRequest| {
                let words = command_words(&create).map_err(serde::de::Error::custom)?;
                Ok((create.session_id.to_string(), RequestKind::Terminal(Box::new(create), words)))
            })
        } else {
            // If the connection is closed, the agent no longer waits for the answer.
            let _ = responder.respond_with_error(Error::method_not_found());
            return None;
        };
        match parsed {
            Ok((session, wanted)) => Some((session, Box::new(Self { wanted, responder }))),
            Err(error) => {
                let _ = responder.respond_with_error(Error::invalid_params().data(Value::from(error.to_string())));
                None
            }
        }
    }

    /// Converts it to a call of the room's tools.
    fn call(&self, id: String, workspace: &Path) -> ToolCall {
        let (name, arguments) = match &self.wanted {
            RequestKind::Read(read) => {
                let mut arguments = Map::new();
                arguments.insert("path".to_owned(), relative(&read.path, workspace).into());
                if let Some(line) = read.line {
                    arguments.insert("from_line".to_owned(), line.max(1).into());
                }
                if let Some(limit) = read.limit {
                    arguments.insert("lines".to_owned(), limit.max(1).into());
                }
                (READ_TEXT, Value::Object(arguments))
            }
            RequestKind::Write(write) => {
                (WRITE, json!({ "path": relative(&write.path, workspace), "content": write.content }))
            }
            RequestKind::Permission(permission) => (OWN_TOOL, own_tool(permission, workspace)),
            RequestKind::Terminal(create, words) => {
                let mut arguments = json!({ "words": words });
                if let Some(folder) = folder_of(create, workspace) {
                    arguments["cwd"] = folder.into();
                }
                (OPEN_TERMINAL, arguments)
            }
        };
        ToolCall::new(id, name, arguments)
    }

    /// Answers with the result of the call. The protocol has no field for a person's reason to refuse it.
    fn answer(self, result: &PromptMessage, context: &AnswerContext<'_>) -> Option<String> {
        let is_done = result.end == Some(CallEnd::Done);
        let words = result.text.as_str();
        // If the connection is closed, the agent no longer waits for the answer.
        let _ = match self.wanted {
            RequestKind::Read(_) => self.responder.respond_with_result(match content_of(words).filter(|_| is_done) {
                Some(content) => value(&ReadTextFileResponse::new(content)),
                None => Err(error(words)),
            }),
            RequestKind::Write(_) if is_done => {
                self.responder.respond_with_result(value(&WriteTextFileResponse::new()))
            }
            // Even if a different text was written, the agent would otherwise have wrong information about the file.
            RequestKind::Write(_) => self.responder.respond_with_error(error(words)),
            RequestKind::Terminal(create, argv) if is_done => {
                let folder = folder_of(&create, context.workspace).unwrap_or_default();
                let opened =
                    context.terminals.create(argv, &folder, create.output_byte_limit, (context.terminal_environment)());
                self.responder.respond_with_result(match opened {
                    Ok(id) => value(&CreateTerminalResponse::new(id)),
                    Err(why) => Err(error(&why)),
                })
            }
            RequestKind::Terminal(..) => self.responder.respond_with_error(error(words)),
            RequestKind::Permission(permission) => {
                let outcome = outcome(&permission, is_done);
                let _ = self.responder.respond_with_result(value(&RequestPermissionResponse::new(outcome)));
                let what = permission.tool_call.fields.title.unwrap_or_default();
                return (!is_done)
                    .then(|| format!("About “{}”, the room says: {words}", crate::gateway::peers::plain(&what, 200)));
            }
        };
        None
    }

    /// Permits the request if the agent asks whether it may call one of the room's tools: the call itself is checked
    /// when it arrives. Other requests are returned.
    pub(super) fn let_call(self: Box<Self>, offered: &OfferedTools) -> Result<(), Box<Self>> {
        match &self.wanted {
            RequestKind::Permission(permission) if is_of_room(permission, offered) => {
                let outcome = outcome(permission, true);
                // If the connection is closed, the agent no longer waits for the answer.
                let _ = self.responder.respond_with_result(value(&RequestPermissionResponse::new(outcome)));
                Ok(())
            }
            _ => Err(self),
        }
    }

    /// Refuses the request, with the reason.
    fn refuse(self, why: &str) {
        let _ = match self.wanted {
            RequestKind::Permission(permission) => {
                let outcome = outcome(&permission, false);
                self.responder.respond_with_result(value(&RequestPermissionResponse::new(outcome)))
            }
            _ => self.responder.respond_with_error(error(why)),
        };
    }

    /// Answers that the request will not be decided any more.
    fn withdraw(self) {
        let _ = match self.wanted {
            RequestKind::Permission(_) => {
                let cancelled = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
                self.responder.respond_with_result(value(&cancelled))
            }
            RequestKind::Read(_) | RequestKind::Write(_) | RequestKind::Terminal(..) => {
                self.responder.respond_with_error(Error::request_cancelled())
            }
        };
    }
}

/// Returns the working folder of a program, relative to the workspace; `None` for the workspace itself.
fn folder_of(create: &CreateTerminalRequest, workspace: &Path) -> Option<String> {
    let folder = create.cwd.as_deref()?;
    let is_whole = || Some(folder.canonicalize().ok()? == workspace.canonicalize().ok()?);
    if folder.as_os_str().is_empty() || folder == workspace || is_whole().unwrap_or(false) {
        return None;
    }
    Some(relative(folder, workspace))
}

/// Whether a request is about an open terminal, and so needs no permission.
pub(in crate::gateway::acp) fn is_of_terminal(method: &str) -> bool {
    let names = &CLIENT_METHOD_NAMES;
    [names.terminal_output, names.terminal_wait_for_exit, names.terminal_kill, names.terminal_release].contains(&method)
}

/// Answers a request about an open terminal. Never waits.
pub(in crate::gateway::acp) fn serve_terminal(
    request: UntypedMessage,
    responder: Responder,
    terminals: Option<&Terminals>,
) {
    let (method, params) = request.into_parts();
    let id = params.get("terminalId").and_then(Value::as_str).unwrap_or_default();
    let names = &CLIENT_METHOD_NAMES;
    let answer = match terminals {
        None => None,
        Some(terminals) if method == names.terminal_output => terminals.output(id).map(|said| value(&said)),
        Some(terminals) if method == names.terminal_kill => {
            terminals.kill(id).then(|| value(&KillTerminalResponse::new()))
        }
        Some(terminals) if method == names.terminal_release => {
            terminals.release(id).then(|| value(&ReleaseTerminalResponse::new()))
        }
        Some(terminals) => match terminals.wait(id) {
            None => None,
            Some(ended) => {
                tokio::spawn(async move {
                    let answer = value(&WaitForTerminalExitResponse::new(ended.await));
                    // If the connection is closed, the agent no longer waits for the answer.
                    let _ = responder.respond_with_result(answer);
                });
                return;
            }
        },
    };
    let _ = responder.respond_with_result(answer.unwrap_or_else(|| Err(error("there is no such terminal"))));
}

fn value(response: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(response).map_err(Error::into_internal_error)
}

fn error(result: &str) -> Error {
    let words = result.trim_start_matches("Error:").trim();
    Error::new(-32000 - 10, words)
}

/// Returns the text of a file from the result of the tool; `None` if reading failed.
fn content_of(result: &str) -> Option<String> {
    let value: Value = serde_json::from_str(result).ok()?;
    value.get("content")?.as_str().map(str::to_owned)
}

/// Selects the agent's own option for the decision. A permission is always given once: its scope is managed by the
/// room, which is asked again each time. If an agent offers only permanent permissions, none is given.
fn outcome(permission: &RequestPermissionRequest, is_allowed: bool) -> RequestPermissionOutcome {
    let of = |kind| permission.options.iter().find(|option| option.kind == kind);
    let option = match is_allowed {
        true => of(PermissionOptionKind::AllowOnce),
        false => of(PermissionOptionKind::RejectOnce),
    };
    let option =
        option.or_else(|| of(PermissionOptionKind::RejectOnce)).or_else(|| of(PermissionOptionKind::RejectAlways));
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    })
}

/// Whether a permission is requested only for a call of one of the room's tools, and can be given once.
fn is_of_room(permission: &RequestPermissionRequest, offered: &OfferedTools) -> bool {
    let fields = &permission.tool_call.fields;
    let names_nothing_else = fields.kind.is_none_or(|kind| kind == ToolKind::Other)
        && fields.locations.as_ref().is_none_or(Vec::is_empty)
        && !fields.content.iter().flatten().any(|content| matches!(content, ToolCallContent::Diff(_)));
    let can_be_once = permission.options.iter().any(|option| option.kind == PermissionOptionKind::AllowOnce);
    names_nothing_else && can_be_once && fields.title.as_ref().is_some_and(|title| offered.is_named(title))
}

/// Returns a permission request as arguments of the tool that asks for it.
fn own_tool(permission: &RequestPermissionRequest, workspace: &Path) -> Value {
    let mut call = AgentToolCall { kind: "other".to_owned(), ..AgentToolCall::default() };
    apply(&mut call, &permission.tool_call, workspace);
    let input = permission.tool_call.fields.raw_input.as_ref();
    let word = |keys: &[&str]| {
        let input = input?;
        keys.iter().find_map(|key| input.get(key)).map(|value| match value {
            Value::String(text) => text.clone(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            other => other.to_string(),
        })
    };
    if call.paths.is_empty() {
        let named = word(&["path", "file_path", "filePath", "abs_path", "absolute_path"]);
        call.paths.extend(named.map(|path| relative(Path::new(&path), workspace)));
    }
    for change in &call.changes {
        if !call.paths.contains(&change.path) {
            call.paths.push(change.path.clone());
        }
    }
    let mut arguments = json!({ "title": call.title, "kind": call.kind });
    if let Value::Object(arguments) = &mut arguments {
        if !call.paths.is_empty() {
            arguments.insert("paths".to_owned(), json!(call.paths));
        }
        if let Some(command) = word(&["command", "cmd"]) {
            arguments.insert("command".to_owned(), command.chars().take(4_000).collect::<String>().into());
        }
        if let Some(address) = word(&["url", "uri"]) {
            arguments.insert("address".to_owned(), address.chars().take(1_000).collect::<String>().into());
        }
        if let Some(change) = call.changes.first() {
            arguments.insert("change".to_owned(), json!({ "path": change.path, "old": change.old, "new": change.new }));
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{PermissionOption, ToolCallUpdate, ToolCallUpdateFields, ToolKind};

    use super::*;

    fn permission(kinds: &[PermissionOptionKind]) -> RequestPermissionRequest {
        let fields = ToolCallUpdateFields::new()
            .title("Run `rm x`".to_owned())
            .kind(ToolKind::Execute)
            .raw_input(json!({ "command": "rm x", "path": "/w/../etc/passwd" }));
        let option = |(at, kind): (usize, &PermissionOptionKind)| PermissionOption::new(format!("o{at}"), "x", *kind);
        let options = kinds.iter().enumerate().map(option).collect();
        RequestPermissionRequest::new("s", ToolCallUpdate::new("t", fields), options)
    }

    #[test]
    fn permissions_are_given_once_and_never_permanently() {
        use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let chosen = |kinds: &[PermissionOptionKind], is_allowed| match outcome(&permission(kinds), is_allowed) {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
            _ => "cancelled".to_owned(),
        };
        assert_eq!(chosen(&[AllowAlways, AllowOnce, RejectOnce], true), "o1");
        assert_eq!(chosen(&[AllowAlways, AllowOnce, RejectOnce], false), "o2");
        assert_eq!(chosen(&[AllowAlways, RejectAlways], true), "o1", "it would never ask again");
        assert_eq!(chosen(&[AllowAlways], true), "cancelled");
        assert_eq!(chosen(&[AllowOnce], false), "cancelled");
    }

    #[test]
    fn a_permission_for_a_room_tool_must_name_only_that_tool() {
        use crate::mind::ToolDeclaration;
        let tool = ToolDeclaration { name: "signal".into(), description: String::new(), parameters: json!({}).into() };
        let offered = OfferedTools::new(vec![tool]);
        let of = |title: &str, kind: ToolKind, option: PermissionOptionKind| {
            let mut permission = permission(&[option]);
            permission.tool_call.fields.title = Some(title.to_owned());
            permission.tool_call.fields.kind = Some(kind);
            is_of_room(&permission, &offered)
        };
        let once = PermissionOptionKind::AllowOnce;
        assert!(of("mcp__workshop__signal", ToolKind::Other, once));
        assert!(!of("mcp__workshop__signal", ToolKind::Execute, once), "a command may be called so");
        assert!(!of("mcp__workshop__other", ToolKind::Other, once), "it is not offered");
        assert!(!of("mcp__workshop__signal", ToolKind::Other, PermissionOptionKind::AllowAlways));
    }

    #[test]
    fn a_permission_request_describes_the_action() {
        let arguments = own_tool(&permission(&[]), Path::new("/w"));
        assert_eq!(
            arguments,
            json!({ "title": "Run `rm x`", "kind": "execute", "paths": ["../etc/passwd"], "command": "rm x" })
        );
    }

    #[test]
    fn paths_inside_the_workspace_are_relative() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let here = folder.path();
        assert_eq!(relative(&here.join("a/b.md"), here), "a/b.md");
        assert_eq!(relative(Path::new("a/b.md"), here), "a/b.md");
        assert_eq!(relative(Path::new("/etc/passwd"), here), "/etc/passwd");
        assert_eq!(relative(&here.join("../x"), here), "../x");
    }

    #[test]
    fn only_a_json_result_is_the_text_of_a_file() {
        assert_eq!(content_of("{\"content\":\"Error: no\"}").as_deref(), Some("Error: no"));
        assert_eq!(content_of("Error: there is no file"), None);
        assert_eq!(content_of("[… cut"), None);
    }
}
