//! The tools with which working agents manage tasks in files, send each other messages and, as planners, supervise
//! others' sessions. A call becomes a [`DeskOrder`], which the desk executes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::files::{MAX_PATH_CHARS, object, text_schema};
use super::order::ToolOrder;
use super::plan::{Planned, Work};
use super::tool::{Arguments, Tool};
use crate::base::text;
use crate::gate::{DeclaredTouch, Power, ToolScope, TouchKind};
pub use crate::workspace::task_files::task_edit::{TaskDraft, TaskUpdate};
use crate::workspace::vfs::WorkspacePath;

/// The executor of orders about tasks, messages and sessions.
pub const DESK: &str = "desk";
/// The default task file.
pub const USUAL_TASK_FILE: &str = "tasks/work.task.md";
/// The type of agents that can see the sessions of others.
pub const PLANNER: &str = "planner";

const MAX_QUERY_CHARS: usize = 2_000;
const MAX_TITLE_CHARS: usize = 300;
const MAX_TEXT_CHARS: usize = 8_000;
const MAX_SESSION_CHARS: usize = 200_000;
pub(super) const MAX_NAME_CHARS: usize = 100;
const MAX_NAMES: usize = 40;

/// An order of an agent to the desk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum DeskOrder {
    /// Finds tasks.
    QueryTasks {
        /// The query.
        query: String,
    },
    /// Creates a task in a file.
    CreateTask {
        /// The path of the file.
        file: String,
        /// The task.
        task: TaskDraft,
    },
    /// Changes a task.
    UpdateTask {
        /// The path of the file.
        file: String,
        /// The id of the task.
        id: String,
        /// The change.
        update: TaskUpdate,
    },
    /// Sends a message to another agent, in its session.
    SendMessage {
        /// The receiver, as given by the model.
        to: String,
        /// The message.
        message: String,
    },
    /// Lists all sessions.
    ListSessions,
    /// Reads a session.
    ReadSession {
        /// The session as listed, or its agent.
        session: String,
    },
    /// Replaces the text of another agent's session, or adds guidance to it.
    EditSession {
        /// The session as listed, or its agent.
        session: String,
        /// The new text of its whole file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// A message to append.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        guidance: Option<String>,
    },
    /// Reads messages received from Slack.
    SlackRead {
        /// Only messages in this channel.
        channel: Option<String>,
        /// Only messages of this person.
        from: Option<String>,
        /// The maximum number, newest first.
        count: usize,
    },
    /// Sends a message to Slack.
    SlackSend {
        /// The channel or person.
        channel: String,
        /// The text.
        text: String,
        /// The timestamp of the message that it replies to.
        thread: Option<String>,
    },
}

impl DeskOrder {
    /// Reads the order from a tool order; the error says why it is invalid.
    pub fn of(order: &ToolOrder) -> Result<Self, String> {
        let Work::Order { order } = &order.plan.work else { return Err("this is not for the desk".to_owned()) };
        serde_json::from_value(order.clone()).map_err(|error| format!("it cannot be read: {error}"))
    }
}

/// Describes the order for a person who decides about it.
pub(super) fn wants(order: &Value) -> Option<String> {
    let short = |words: &str| text::truncate(words, MAX_TITLE_CHARS / 3);
    Some(match serde_json::from_value(order.clone()).ok()? {
        DeskOrder::QueryTasks { .. } => "look through the task files".to_owned(),
        DeskOrder::CreateTask { file, task } => format!("add a task to {}: {}", short(&file), short(&task.title)),
        DeskOrder::UpdateTask { file, id, .. } => format!("change the task {} in {}", short(&id), short(&file)),
        DeskOrder::SendMessage { to, .. } => format!("write to {}", short(&to)),
        DeskOrder::ListSessions => "list the sessions of other agents".to_owned(),
        DeskOrder::ReadSession { session } => format!("read the session {}", short(&session)),
        DeskOrder::EditSession { session, content: Some(_), .. } => {
            format!("replace the content of the session {}", short(&session))
        }
        DeskOrder::EditSession { session, .. } => format!("add guidance to the session {}", short(&session)),
        DeskOrder::SlackRead { .. } => "read messages from Slack".to_owned(),
        DeskOrder::SlackSend { channel, .. } => format!("send a message to {} in Slack", short(&channel)),
    })
}

pub(super) fn order(order: &DeskOrder, touches: Vec<DeclaredTouch>, doing: (&str, &str)) -> Planned {
    let order = serde_json::to_value(order).expect("an order is plain data with text keys");
    Planned::order(DESK, order, touches, doing)
}

fn names(about: &str) -> Value {
    let one = json!({ "type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS });
    json!({ "type": "array", "items": one, "maxItems": MAX_NAMES, "description": about })
}

/// The task file that a call names.
fn task_file(arguments: &Arguments) -> Result<String, String> {
    let Some(given) = arguments.some_text("file") else { return Ok(USUAL_TASK_FILE.to_owned()) };
    let given = if given.contains('/') { given } else { format!("tasks/{given}") };
    let path = WorkspacePath::new(&given).map_err(|refusal| format!("'file': {refusal}"))?;
    if !path.as_str().starts_with("tasks/") || !path.as_str().ends_with(".task.md") {
        return Err(format!("'file': {path} is not a task file; use one such as {USUAL_TASK_FILE}"));
    }
    Ok(path.as_str().to_owned())
}

/// Names without the markers that they have in task files.
fn list(arguments: &Arguments, name: &str) -> Option<Vec<String>> {
    let values = arguments.value(name)?.as_array()?;
    let names =
        values.iter().filter_map(Value::as_str).map(|name| name.trim().trim_start_matches(['@', '#']).to_owned());
    Some(names.filter(|name| !name.is_empty()).collect())
}

fn writes(file: &str) -> Vec<DeclaredTouch> {
    vec![DeclaredTouch::new(TouchKind::FILE_READ, file), DeclaredTouch::new(TouchKind::FILE_WRITE, file)]
}

const FILE_ABOUT: &str = "The task file; default tasks/work.task.md.";

/// The tool that finds tasks.
pub(super) fn query_tasks() -> Tool {
    Tool::new(
        "query_tasks",
        "Find tasks in the task files with a query: SELECT id, title, status, stakeholders FROM tasks/*.task.md WHERE status \
         = open AND stakeholders CONTAINS executor-001 ORDER BY priority LIMIT 20. Columns: id, title, status (open, \
         completed, skipped), priority, stakeholders, tags, parent, depends_on, file, and any key of a task; * for all.",
        object(json!({ "query": text_schema(MAX_QUERY_CHARS, "A SELECT query.") }), &["query"]),
        |arguments, _| {
            let query = arguments.text("query");
            let touches = vec![DeclaredTouch::new(TouchKind::FILE_FIND, "")];
            Ok(order(&DeskOrder::QueryTasks { query: query.clone() }, touches, ("looking through tasks:", &query)))
        },
    )
    .with_power(Power::Find)
    .with_argument_aliases(&[("sql", "query")])
}

/// The tool that creates a task.
pub(super) fn create_task() -> Tool {
    Tool::new(
        "create_task",
        "Add a task to a task file. A task assigned to an agent becomes that agent's work once its dependencies are \
         done, and you receive its result; a task assigned to human waits for a person.",
        object(
            json!({
                "title": text_schema(MAX_TITLE_CHARS, "What to do, in one line."),
                "assignee": text_schema(MAX_NAME_CHARS, "Who should do it: the id of an agent, or human."),
                "description": text_schema(MAX_TEXT_CHARS, "Everything that the assignee needs to know."),
                "file": text_schema(MAX_PATH_CHARS, FILE_ABOUT),
                "priority": { "type": "string", "enum": ["A", "B", "C", "D"], "maxLength": 1,
                              "description": "A is the most urgent." },
                "tags": names("What it is about."),
                "depends_on": names("Ids of tasks that must be done first."),
                "parent": text_schema(MAX_NAME_CHARS, "The id of its parent task in the same file."),
            }),
            &["title"],
        ),
        |arguments, _| {
            let (file, title) = (task_file(arguments)?, arguments.text("title"));
            let task = TaskDraft {
                title: title.clone(),
                assignees: arguments.some_text("assignee").iter().map(|name| bare(name)).collect(),
                priority: arguments.some_text("priority"),
                tags: list(arguments, "tags").unwrap_or_default(),
                depends_on: list(arguments, "depends_on").unwrap_or_default(),
                parent: arguments.some_text("parent"),
                description: arguments.some_text("description"),
            };
            let touches = writes(&file);
            Ok(order(&DeskOrder::CreateTask { file, task }, touches, ("writing a task:", &title)))
        },
    )
    .with_power(Power::Write)
    .with_argument_aliases(&[("assigned_to", "assignee"), ("stakeholder", "assignee"), ("content", "description")])
}

fn bare(name: &str) -> String {
    name.trim().trim_start_matches('@').to_owned()
}

/// The tool that changes a task.
pub(super) fn update_task() -> Tool {
    Tool::new(
        "update_task",
        "Change a task in a task file: mark it as completed or skipped, change its title, priority or assignee, or \
         set its note.",
        object(
            json!({
                "id": text_schema(MAX_NAME_CHARS, "The task's id."),
                "file": text_schema(MAX_PATH_CHARS, FILE_ABOUT),
                "status": { "type": "string", "enum": ["open", "completed", "skipped"], "maxLength": 12,
                            "description": "The new status." },
                "note": text_schema(MAX_TEXT_CHARS, "A note about it."),
                "priority": { "type": "string", "enum": ["A", "B", "C", "D"], "maxLength": 1,
                              "description": "A is the most urgent." },
                "title": text_schema(MAX_TITLE_CHARS, "The new title."),
                "assignee": text_schema(MAX_NAME_CHARS, "The new assignee."),
            }),
            &["id"],
        ),
        |arguments, _| {
            let (file, id) = (task_file(arguments)?, arguments.text("id"));
            let update = TaskUpdate {
                status: arguments.some_text("status"),
                priority: arguments.some_text("priority"),
                title: arguments.some_text("title"),
                assignees: arguments.some_text("assignee").map(|name| vec![bare(&name)]),
                fields: arguments.some_text("note").map(|note| ("note".to_owned(), note)).into_iter().collect(),
            };
            if update == TaskUpdate::default() {
                return Err("say what to change: status, note, priority, title or assignee".to_owned());
            }
            let touches = writes(&file);
            let doing = ("updating task", id.clone());
            Ok(order(&DeskOrder::UpdateTask { file, id, update }, touches, (doing.0, &doing.1)))
        },
    )
    .with_power(Power::Write)
    .with_argument_aliases(&[("task_id", "id")])
}

/// The tool that sends a message to another agent.
pub(super) fn send_message() -> Tool {
    Tool::new(
        "send_message",
        "Send a message to another agent, by id or name. It reads the message on its next turn, or is activated for \
         it; do not wait. You receive its answer, if any, in the same way.",
        object(
            json!({
                "to": text_schema(MAX_NAME_CHARS, "The agent's id or name."),
                "message": text_schema(MAX_TEXT_CHARS, "What it should know or do."),
            }),
            &["to", "message"],
        ),
        |arguments, _| {
            let (to, message) = (bare(&arguments.text("to")), arguments.text("message"));
            if message.trim().is_empty() {
                return Err("'message' is empty".to_owned());
            }
            let touches = vec![DeclaredTouch::new(TouchKind::MESSAGE_SEND, &*to)];
            let target = format!("{to}: {message}");
            Ok(order(&DeskOrder::SendMessage { to, message }, touches, ("writing to", &target)))
        },
    )
    .with_power(Power::Talk)
    .with_argument_aliases(&[("agent", "to"), ("recipient", "to"), ("agent_id", "to"), ("content", "message")])
}

/// The tool that lists sessions.
pub(super) fn list_active_sessions() -> Tool {
    Tool::new(
        "list_active_sessions",
        "List the active sessions of agents: whose they are, their task and progress, and what each is waiting for.",
        object(json!({}), &[]),
        |_, _| Ok(order(&DeskOrder::ListSessions, sees_sessions(), ("looking at", "all sessions"))),
    )
    .with_power(Power::Listen)
    .within(ToolScope::Role(PLANNER.into()))
}

/// The tool that reads a session.
pub(super) fn read_session() -> Tool {
    Tool::new(
        "read_session",
        "Read the session of an agent, to see its progress and where it is stuck. Of a long session, you get the end.",
        object(
            json!({ "session": text_schema(MAX_NAME_CHARS, "The session, as listed by list_active_sessions.") }),
            &["session"],
        ),
        |arguments, _| {
            let session = arguments.text("session");
            let wanted = DeskOrder::ReadSession { session: session.clone() };
            Ok(order(&wanted, sees_sessions(), ("reading session", &session)))
        },
    )
    .with_power(Power::Listen)
    .within(ToolScope::Role(PLANNER.into()))
    .with_argument_aliases(&[("session_id", "session")])
}

/// The tool that edits a session.
pub(super) fn edit_session() -> Tool {
    Tool::new(
        "edit_session",
        "Change the session of another agent that is stuck: add guidance at its end, or replace the whole session \
         with content, a session file with agent_id and messages (role, content) in the format of read_session and \
         its file. A person is asked each time, and the old text is kept. This is not possible while a turn of that \
         session is running.",
        object(
            json!({
                "session": text_schema(MAX_NAME_CHARS, "The session, as listed by list_active_sessions."),
                "guidance": text_schema(MAX_TEXT_CHARS, "What the agent should know or do; it continues with this."),
                "content": text_schema(MAX_SESSION_CHARS, "The whole new text of the session, in YAML."),
            }),
            &["session"],
        ),
        |arguments, _| {
            let session = arguments.text("session");
            let (content, guidance) = (arguments.some_text("content"), arguments.some_text("guidance"));
            if content.is_some() == guidance.is_some() {
                return Err("give either 'guidance' or 'content'".to_owned());
            }
            let touches = vec![DeclaredTouch::new(TouchKind::SESSION_EDIT, &*session)];
            let wanted = DeskOrder::EditSession { session: session.clone(), content, guidance };
            Ok(order(&wanted, touches, ("editing session", &session)))
        },
    )
    .with_power(Power::Talk)
    .within(ToolScope::Role(PLANNER.into()))
    .with_argument_aliases(&[("session_id", "session"), ("message", "guidance"), ("new_content", "content")])
}

fn sees_sessions() -> Vec<DeclaredTouch> {
    vec![DeclaredTouch::new(TouchKind::MESSAGE_READ, "the sessions of other agents")]
}
