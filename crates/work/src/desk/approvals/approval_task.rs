//! An approval as a task: its text in the file, and the check that a task still has this text. Pure.
//!
//! The description contains everything that would happen, with every character visible. What is too long for a file that
//! people edit is not cut: the task then says where it is shown whole, and cannot be allowed in the file.

use serde::{Deserialize, Serialize};

use crate::base::text::{first_paragraph, truncate};
use crate::base::visible_text::{visible, visible_in_order};
use crate::kernel::Approval;
use crate::orchestration::workflow::PersonQuestion;
use crate::tools::{Preview, PreviewLine, PreviewLineKind};
use crate::workspace::task_files::model::Value;
use crate::workspace::task_files::render::NewTask;
use crate::workspace::task_files::{Priority, Task};

/// The maximum size of a description in bytes.
const MAX_DESCRIPTION_BYTES: usize = 64 * 1024;
/// The maximum size of the beginning that is shown of a longer one, in bytes.
const MAX_BEGINNING_BYTES: usize = 4 * 1024;
/// The length of the rows into which a long line is broken, in characters.
const ROW_CHARS: usize = 120;
/// The maximum length of a value on one line, in characters.
const VALUE_CHARS: usize = 4_000;

/// The keys of a question's task that other code uses.
pub mod keys {
    /// The kind of question.
    pub use crate::workspace::task_files::columns::QUESTION_KEY as TYPE;
    /// The name of the scene.
    pub const SCENE: &str = "scene";
    /// The state: `pending`, `approved`, `refused` or `withdrawn`.
    pub const STATUS: &str = "status";
    /// A description of everything that would happen.
    pub const DESCRIPTION: &str = "description";
    /// The scope of a permission, which a person may add: `once`, `task`, `until 18:00`, `pattern` or `always`.
    pub const REACH: &str = "for";
    /// The person's comment to the agent.
    pub const BECAUSE: &str = "because";
    /// The prefix of the keys of form fields.
    pub const FILL: &str = "fill_";
}

/// The state of an unanswered question.
pub const PENDING: &str = "pending";

/// A question in the form of its task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuestionTask {
    /// The id of the question.
    pub id: String,
    /// The title: who wants to do what.
    pub title: String,
    /// The keys and values of the task, without `id` and `status`.
    pub fields: Vec<(String, String)>,
    /// The names of the form fields.
    pub fills: Vec<String>,
    /// Whether the description is too long for the file, so that the question cannot be allowed there.
    #[serde(default)]
    pub is_partial: bool,
}

impl QuestionTask {
    /// The question of an agent called `name`. `scene` is the name of the room's scene, and `time` is when it was
    /// asked, if known.
    pub fn by_agent(approval: &Approval, preview: &Preview, name: &str, scene: &str, time: Option<String>) -> Self {
        let fills: Vec<String> = approval.fields().iter().map(|field| field.name.clone()).collect();
        let mut description = vec![format!("Tool: {}", visible(&approval.tool))];
        description.extend(Some(approval.secret_warning()).filter(|warning| !warning.is_empty()));
        description.extend(approval.lines(preview).iter().flat_map(|line| line.rows(ROW_CHARS)));
        let mut fields = vec![
            (keys::TYPE, kind_of(preview, approval).to_owned()),
            (keys::SCENE, scene.to_owned()),
            ("agent", approval.agent.to_string()),
            ("requesting_agent_session_id", approval.activation.id().to_string()),
            ("task", line(&first_paragraph(&approval.task))),
            ("risk", line(&approval.risk_summary())),
            ("why", line(&approval.because)),
        ];
        fields.extend(time.map(|time| ("created", time)));
        let scopes = approval.scopes(name).into_iter().filter(|(scope, _)| !scope.is_once());
        let reaches: Vec<String> = scopes.map(|(scope, words)| format!("{}: {words}", scope.to_text())).collect();
        if !reaches.is_empty() {
            description.push("To allow more than this once, add one of these lines below the task:".to_owned());
            description.extend(reaches.into_iter().map(|reach| format!("  {}: {}", keys::REACH, visible(&reach))));
        }
        Self::new(approval.id.to_string(), &approval.sentence(name), fields, &description, fills)
    }

    /// The question of a workflow step.
    pub fn by_workflow(question: &PersonQuestion, scene: &str, time: Option<String>) -> Self {
        let mut fields = vec![
            (keys::TYPE, "workflow_step".to_owned()),
            (keys::SCENE, scene.to_owned()),
            ("workflow_run", question.run.to_string()),
        ];
        fields.extend(time.map(|time| ("created", time)));
        let described = question.fields.iter().filter(|field| !field.description.is_empty());
        let described = described.map(|field| format!("{}: {}", field.name, field.description));
        let lines = question.asks.trim().lines().map(str::to_owned).chain(described);
        let lines = lines.map(|text| PreviewLine {
            mark: PreviewLineKind::Plain,
            text: visible_in_order(&visible(&text)).into_owned(),
        });
        let heading = PreviewLine { mark: PreviewLineKind::Heading, text: "Question".to_owned() };
        let description: Vec<String> =
            [heading].into_iter().chain(lines).flat_map(|line| line.rows(ROW_CHARS)).collect();
        let fills = question.fields.iter().map(|field| field.name.clone()).collect();
        Self::new(question.id.clone(), &question.sentence(), fields, &description, fills)
    }

    fn new(id: String, title: &str, fields: Vec<(&str, String)>, description: &[String], fills: Vec<String>) -> Self {
        let said = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let mut fields: Vec<(String, String)> = said.map(|(key, value)| (key.to_owned(), value)).collect();
        let is_partial = description.iter().map(|line| line.len() + 1).sum::<usize>() > MAX_DESCRIPTION_BYTES;
        let shown = if is_partial { beginning(description, &id) } else { joined(description) };
        fields.push((keys::DESCRIPTION.to_owned(), shown));
        Self { id, title: line(title), fields, fills, is_partial }
    }

    /// The task that asks the question.
    pub fn task(&self) -> NewTask {
        let text = |text: &str| Value::Text(text.into());
        let mut fields = vec![("id".to_owned(), text(&self.id)), (keys::STATUS.to_owned(), text(PENDING))];
        fields.extend(self.fields.iter().map(|(key, value)| (key.clone(), text(value))));
        NewTask {
            priority: Some(Priority::A),
            stakeholders: vec!["human".to_owned()],
            tags: vec!["approval".to_owned()],
            fields,
            ..NewTask::new(self.title.clone())
        }
    }

    /// The first key in which a task differs from the question; `None` if it does not.
    pub fn first_difference(&self, task: &Task) -> Option<&str> {
        if plain(&task.title.text) != plain(&self.title) {
            return Some("title");
        }
        let differs = |(key, value): &&(String, String)| {
            task.field(key).is_none_or(|field| plain(field.value.text()) != plain(value))
        };
        self.fields.iter().find(differs).map(|(key, _)| key.as_str())
    }
}

/// Removes differences that an editor may introduce when it saves a file: line endings and trailing spaces.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn line(text: &str) -> String {
    truncate(&visible_in_order(&visible(text.trim())), VALUE_CHARS)
}

/// Joins lines to a block that is read back from the file unchanged.
fn joined(lines: &[String]) -> String {
    let line = |line: &String| match line.trim_end() {
        // A block cannot have a line that ends like a comment.
        line if line.ends_with("-->") => format!("{}‹U+003E›", &line[..line.len() - 1]),
        line => line.to_owned(),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The beginning of a description that is too long for the file, below a note that says so.
fn beginning(lines: &[String], id: &str) -> String {
    let mut bytes = 0;
    let shown = lines.iter().take_while(|line| {
        bytes += line.len() + 1;
        bytes <= MAX_BEGINNING_BYTES
    });
    let shown: Vec<String> = shown.cloned().collect();
    let note = format!(
        "This is too long for this file, so it cannot be allowed here. See all of it and answer in the window, or with:\n\
         workshop approvals show {id}\nworkshop approvals allow {id}\nIt begins ({} of {} rows):",
        shown.len(),
        lines.len()
    );
    joined(&[vec![note], shown].concat())
}

fn kind_of(preview: &Preview, approval: &Approval) -> &'static str {
    if approval.of_server.is_some() {
        return "server_question";
    }
    match preview {
        Preview::Write { .. } | Preview::Change { .. } | Preview::Addition { .. } => "file_write",
        Preview::Patch { .. } => "merge_changes",
        Preview::Deletion { .. } => "file_delete",
        Preview::Rename { .. } => "file_rename",
        Preview::NewAgent { .. } => "agent_create",
        Preview::Task { .. } => "agent_start",
        Preview::Command { .. } => "terminal_command",
        Preview::Address { .. } => "network",
        Preview::Arguments { .. } => "tool_call",
    }
}
