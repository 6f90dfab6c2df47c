//! A workflow as its file defines it: plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::condition::Condition;
use super::template::{Template, Token};
use super::value::OutputKind;
use crate::base::Id;

/// The output that every step has: the agent's last message.
pub const RESULT: &str = "result";
/// The output of an approval: yes or no.
pub const APPROVED: &str = "approved";
/// The output of an approval: the person's comment.
pub const COMMENT: &str = "comment";

/// The maximum depth of nested workflows.
pub const MAX_DEPTH: usize = 16;

/// A workflow.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workflow {
    /// Its file, such as `workflows/research-pipeline.md`.
    pub path: String,
    /// The name.
    pub name: String,
    /// The purpose, in one line.
    pub description: String,
    /// When it starts.
    pub trigger: Trigger,
    /// Its variables, in the order in which a person is asked for them.
    pub variables: Vec<Variable>,
    /// Its steps, in the order of the file.
    pub steps: Vec<Step>,
    /// The text below the front matter.
    pub body: String,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
    /// The line of each key.
    pub lines: BTreeMap<String, usize>,
}

impl Workflow {
    /// The step with this id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The line of a key, counted from 1.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }
}

/// When a workflow starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "snake_case")]
pub enum Trigger {
    /// When a person starts it.
    #[default]
    Manual,
    /// When the room is opened.
    Auto,
    /// When a file that matches this glob changes.
    Change {
        /// The glob.
        glob: String,
    },
    /// At this interval, in simulated seconds.
    Every {
        /// The interval in seconds.
        secs: u64,
    },
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual => f.write_str("manual"),
            Self::Auto => f.write_str("auto"),
            Self::Change { glob } => write!(f, "on change of {glob}"),
            Self::Every { secs } => {
                write!(f, "every {}", humantime::format_duration(std::time::Duration::from_secs(*secs)))
            }
        }
    }
}

/// A variable of a workflow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Variable {
    /// The name in prompts.
    pub name: String,
    /// The description for the person who is asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether the file declares it, rather than only using it.
    #[serde(default)]
    pub is_declared: bool,
}

/// Who executes a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Assignee {
    /// An agent of the room, or a profile that is added to it.
    Agent {
        /// The id of the agent or profile.
        agent: Id,
    },
    /// A person.
    Person {
        /// The kind of answer.
        wants: AnswerKind,
    },
    /// Another workflow.
    Workflow {
        /// Its file or name.
        workflow: String,
        /// The values of its variables.
        with: BTreeMap<String, Template>,
    },
    /// No agent: the step represents the end of a nested workflow and has its outputs.
    Join,
}

/// The kind of answer that a step wants from a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Approval: yes or no.
    Approval,
    /// A form with the outputs as fields.
    Form,
}

/// A required output of a step.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Output {
    /// The name in other steps.
    pub name: String,
    /// The description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The file that contains it when the step is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Template>,
    /// The kind of value.
    #[serde(default)]
    pub kind: OutputKind,
    /// For the end of a nested workflow: the inner output that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Template>,
}

/// The repetition of a step for each entry of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ForEach {
    /// The list.
    pub list: Template,
    /// The maximum number of entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
}

impl fmt::Display for ForEach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at_most {
            Some(most) => write!(f, "{} at most {most}", self.list),
            None => write!(f, "{}", self.list),
        }
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at most {}", self.until, self.at_most)
    }
}

impl ForEach {
    /// The placeholder of the list.
    pub fn token(&self) -> Option<&Token> {
        self.list.tokens().next()
    }
}

/// The repetition of a step, and of all steps between it and the one in the condition, until the condition holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repeat {
    /// The condition.
    pub until: Condition,
    /// The maximum number of rounds.
    pub at_most: u32,
}

/// One step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The id.
    pub id: String,
    /// Who executes it.
    pub doer: Assignee,
    /// The task.
    pub prompt: Template,
    /// The ids of the steps that it waits for.
    pub depends_on: Vec<String>,
    /// The outputs it must provide.
    pub outputs: Vec<Output>,
    /// The step is skipped unless this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Repeats the step for each entry of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// How often it is retried after a failure.
    #[serde(default)]
    pub retry: u32,
    /// The maximum number of model requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The model to use instead of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Repeats the step until a condition holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_until: Option<Repeat>,
    /// The raw text of keys whose values are invalid.
    #[serde(skip)]
    pub unread: BTreeMap<String, String>,
    /// The line of each key; `id` has the line of the step.
    #[serde(skip)]
    pub lines: BTreeMap<String, usize>,
    /// Unknown keys, which are preserved.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Step {
    /// Creates a step with this assignee and nothing else.
    pub fn new(id: &str, doer: Assignee) -> Self {
        Self {
            id: id.to_owned(),
            doer,
            prompt: Template::default(),
            depends_on: Vec::new(),
            outputs: Vec::new(),
            when: None,
            for_each: None,
            retry: 0,
            max_turns: None,
            model: None,
            repeat_until: None,
            unread: BTreeMap::new(),
            lines: BTreeMap::new(),
            extra: Map::new(),
        }
    }

    /// The line of a key, or that of the step, counted from 1.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).or_else(|| self.lines.get("id")).copied()
    }

    /// Whether it has this output.
    pub fn gives(&self, output: &str) -> bool {
        let is_listed = self.outputs.iter().any(|one| one.name == output);
        let is_person = matches!(self.doer, Assignee::Person { wants: AnswerKind::Approval });
        is_listed || output == RESULT || (is_person && [APPROVED, COMMENT].contains(&output))
    }

    /// The names of its outputs, separated by commas.
    pub fn given(&self) -> String {
        let mut names: Vec<&str> = self.outputs.iter().map(|output| output.name.as_str()).collect();
        if matches!(self.doer, Assignee::Person { wants: AnswerKind::Approval }) {
            names.extend([APPROVED, COMMENT]);
        }
        names.push(RESULT);
        names.join(", ")
    }

    /// All placeholders in the step, each with the key that contains it.
    pub fn placeholders(&self) -> Vec<(&'static str, &Token)> {
        let mut uses: Vec<(&'static str, &Token)> = self.prompt.tokens().map(|token| ("prompt", token)).collect();
        if let Assignee::Workflow { with, .. } = &self.doer {
            uses.extend(with.values().flat_map(Template::tokens).map(|token| ("with", token)));
        }
        let files = self.outputs.iter().filter_map(|output| output.file.as_ref());
        uses.extend(files.flat_map(Template::tokens).map(|token| ("outputs", token)));
        uses.extend(self.when.iter().flat_map(Condition::tokens).map(|token| ("when", token)));
        uses.extend(self.for_each.iter().flat_map(|each| each.list.tokens()).map(|token| ("for_each", token)));
        let until = self.repeat_until.iter().flat_map(|repeat| repeat.until.tokens());
        uses.extend(until.map(|token| ("repeat_until", token)));
        uses
    }
}
