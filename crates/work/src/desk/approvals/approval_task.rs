//! An approval as a task: what the file says about it, and whether a task there still says the same. Pure.

use serde::{Deserialize, Serialize};

use crate::base::text::{first_paragraph, one_line, truncate};
use crate::kernel::Approval;
use crate::orchestration::workflow::PersonQuestion;
use crate::tools::Preview;
use crate::workspace::task_files::model::Value;
use crate::workspace::task_files::render::NewTask;
use crate::workspace::task_files::{Priority, Task};

/// No description has more lines; the rest is counted.
const LINES_AT_MOST: usize = 200;
/// No line of it is longer, in characters.
const LINE_CHARS: usize = 400;
/// No title is longer, in characters.
const TITLE_CHARS: usize = 300;

/// The keys of a question's task that others go by.
pub mod keys {
    /// What kind of thing is asked.
    pub use crate::workspace::task_files::columns::QUESTION_KEY as TYPE;
    /// Whose room asks.
    pub const SCENE: &str = "scene";
    /// How far it is: `pending`, `approved`, `refused`, `withdrawn`.
    pub const STATUS: &str = "status";
    /// Everything that would happen.
    pub const DESCRIPTION: &str = "description";
    /// How far a yes reaches: `once`, `task`, `until 18:00`, `pattern`, `always`. A person's.
    pub const REACH: &str = "for";
    /// A person's word to the agent.
    pub const BECAUSE: &str = "because";
    /// What a person fills in begins so.
    pub const FILL: &str = "fill_";
}

/// Nobody has answered.
pub const PENDING: &str = "pending";

/// What is asked, as its task says it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// Names the question.
    pub id: String,
    /// Who wants what.
    pub title: String,
    /// The keys of the task and what they say, without `id` and `status`.
    pub fields: Vec<(String, String)>,
    /// What a person may fill in, by name.
    pub fills: Vec<String>,
}

impl Asked {
    /// What an agent called `name` asks in the room of this scene; `time` is when, as far as that is known.
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

    /// What a step of a workflow asks in the room of this scene.
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

    /// The task that asks it.
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

    /// The first thing in which a task says something else than what is asked; nothing where it says the same.
    pub fn differs_in(&self, task: &Task) -> Option<&str> {
        if plain(&task.title.text) != plain(&self.title) {
            return Some("title");
        }
        let differs = |(key, value): &&(String, String)| {
            task.field(key).is_none_or(|field| plain(field.value.text()) != plain(value))
        };
        self.fields.iter().find(differs).map(|(key, _)| key.as_str())
    }
}

/// A text without what an editor may change of it while it is saved: ends of lines, and blanks before them.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn line(text: &str) -> String {
    truncate(&one_line(text), LINE_CHARS)
}

/// Lines as a block that comes back from the file as it was.
fn described(lines: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for line in lines.iter().take(LINES_AT_MOST) {
        let visible: String =
            line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect();
        kept.push(truncate(&visible, LINE_CHARS).trim_end().to_owned());
    }
    if lines.len() > LINES_AT_MOST {
        kept.push(format!(
            "… {} more lines, in the window or with: workshop approvals show",
            lines.len() - LINES_AT_MOST
        ));
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
