//! An approval as a task: its text in the file, and the check that a task still has this text. Pure.

use serde::{Deserialize, Serialize};

use crate::base::text::{first_paragraph, one_line, truncate};
use crate::kernel::Approval;
use crate::orchestration::workflow::PersonQuestion;
use crate::tools::Preview;
use crate::workspace::task_files::model::Value;
use crate::workspace::task_files::render::NewTask;
use crate::workspace::task_files::{Priority, Task};

/// The maximum number of lines of a description.
const MAX_LINES: usize = 200;
/// The maximum length of a line in characters.
const LINE_CHARS: usize = 400;
/// The maximum length of a title in characters.
const TITLE_CHARS: usize = 300;

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
}

impl QuestionTask {
    /// The question of an agent called `name`. `scene` is the name of the room's scene, and `time` is when it was
    /// asked, if known.
    pub fn by_agent(approval: &Approval, preview: &Preview, name: &str, scene: &str, time: Option<String>) -> Self {
        let fills: Vec<String> = approval.fields().iter().map(|field| field.name.clone()).collect();
        let mut description = vec![format!("Tool: {}", approval.tool)];
        description.extend(preview.lines().iter().map(crate::tools::PreviewLine::marked));
        let mut fields = vec![
            (keys::TYPE, kind_of(preview, approval).to_owned()),
            (keys::SCENE, scene.to_owned()),
            ("agent", approval.agent.to_string()),
            ("requesting_agent_session_id", approval.activation.id().to_string()),
            ("task", line(&first_paragraph(&approval.task))),
            ("risk", line(&approval.risk.summary())),
            ("why", line(&approval.because)),
        ];
        fields.extend(time.map(|time| ("created", time)));
        let scopes = approval.scopes(name).into_iter().filter(|(scope, _)| !scope.is_once());
        let reaches: Vec<String> = scopes.map(|(scope, told)| format!("{}: {told}", scope.to_text())).collect();
        if !reaches.is_empty() {
            description.push("To allow more than this once, add one of these lines below the task:".to_owned());
            description.extend(reaches.into_iter().map(|told| format!("  {}: {told}", keys::REACH)));
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
        let description: Vec<String> = question.asks.lines().map(str::to_owned).chain(described).collect();
        let fills = question.fields.iter().map(|field| field.name.clone()).collect();
        Self::new(question.id.clone(), &question.sentence(), fields, &description, fills)
    }

    fn new(id: String, title: &str, fields: Vec<(&str, String)>, description: &[String], fills: Vec<String>) -> Self {
        let said = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let mut fields: Vec<(String, String)> = said.map(|(key, value)| (key.to_owned(), value)).collect();
        fields.push((keys::DESCRIPTION.to_owned(), described(description)));
        Self { id, title: truncate(&one_line(title), TITLE_CHARS), fields, fills }
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
    truncate(&one_line(text), LINE_CHARS)
}

/// Joins lines to a block that is read back from the file unchanged.
fn described(lines: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in lines.iter().take(MAX_LINES) {
        let visible: String =
            line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect();
        kept.push(truncate(&visible, LINE_CHARS).trim_end().to_owned());
    }
    if lines.len() > MAX_LINES {
        kept.push(format!("… {} more lines, in the window or with: workshop approvals show", lines.len() - MAX_LINES));
    }
    kept.join("\n").trim().to_owned()
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
