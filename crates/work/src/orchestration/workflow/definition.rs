//! A workflow as its file defines it: plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::condition::Condition;
use super::template::{Template, Token};
use super::value::OutputKind;
use crate::base::Id;

/// The output that every step has: what was said last.
pub const RESULT: &str = "result";
/// What a person's approval gives: yes or no.
pub const APPROVED: &str = "approved";
/// What a person says of it.
pub const COMMENT: &str = "comment";

/// Workflows within workflows.
pub const DEPTH_AT_MOST: usize = 16;

/// A workflow.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workflow {
    /// Its file: `workflows/research-pipeline.md`.
    pub path: String,
    /// What it is called.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// When it begins.
    pub trigger: Trigger,
    /// What it is asked about, in the order in which it is asked.
    pub variables: Vec<Variable>,
    /// Its steps, in the order of the file.
    pub steps: Vec<Step>,
    /// The text below the front matter.
    pub body: String,
    /// Keys that are not known here.
    pub extra: Map<String, Value>,
    /// The lines of its keys.
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
    /// When a person says so.
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
        /// How often.
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
    /// As prompts name it.
    pub name: String,
    /// What it is, for whoever is asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it is where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether the file declares it, and does not only use it.
    #[serde(default)]
    pub is_declared: bool,
}

/// Who does a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Assignee {
    /// An agent of the room, or a profile that comes into it.
    Agent {
        /// Which, by id.
        agent: Id,
    },
    /// A person.
    Person {
        /// What they are asked for.
        wants: PersonWants,
    },
    /// Another workflow.
    Workflow {
        /// Its file, or its name.
        workflow: String,
        /// What it is asked about.
        with: BTreeMap<String, Template>,
    },
    /// No agent: the step represents the end of a nested workflow and has its outputs.
    Join,
}

/// What a person is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonWants {
    /// Yes or no.
    Approval,
    /// Each of the outputs.
    Form,
}

/// An output that a step must give.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Output {
    /// As other steps name it.
    pub name: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The file that holds it when the step is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Template>,
    /// What kind of thing it is.
    #[serde(default)]
    pub kind: OutputKind,
    /// Of the end of another workflow: which of its outputs it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Template>,
}

/// The repetition of a step for each entry of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ForEach {
    /// The list.
    pub list: Template,
    /// So many entries at most.
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
    /// Where the list comes from.
    pub fn token(&self) -> Option<&Token> {
        self.list.tokens().next()
    }
}

/// The repetition of a step, and of all steps between it and the one in the condition, until the condition holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repeat {
    /// The condition.
    pub until: Condition,
    /// So often in all.
    pub at_most: u32,
}

/// One step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Names it.
    pub id: String,
    /// Who does it.
    pub doer: Assignee,
    /// What is to be done.
    pub prompt: Template,
    /// The steps that come before it.
    pub depends_on: Vec<String>,
    /// What it must give.
    pub outputs: Vec<Output>,
    /// It is passed over unless this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// It is done for each entry of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// So often it is tried again where it fails.
    #[serde(default)]
    pub retry: u32,
    /// So many questions to a model at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The model that is asked in place of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// It is done again until something holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_until: Option<Repeat>,
    /// The raw text of keys whose values could not be understood.
    #[serde(skip)]
    pub unread: BTreeMap<String, String>,
    /// The lines of its keys; `id` has that of the step.
    #[serde(skip)]
    pub lines: BTreeMap<String, usize>,
    /// Keys that are not known here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Step {
    /// A step of this doer that nothing else is said of.
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

    /// Whether it gives this.
    pub fn gives(&self, output: &str) -> bool {
        let is_listed = self.outputs.iter().any(|one| one.name == output);
        let is_person = matches!(self.doer, Assignee::Person { wants: PersonWants::Approval });
        is_listed || output == RESULT || (is_person && [APPROVED, COMMENT].contains(&output))
    }

    /// What it can be asked of by others, in words.
    pub fn given(&self) -> String {
        let mut names: Vec<&str> = self.outputs.iter().map(|output| output.name.as_str()).collect();
        if matches!(self.doer, Assignee::Person { wants: PersonWants::Approval }) {
            names.extend([APPROVED, COMMENT]);
        }
        names.push(RESULT);
        names.join(", ")
    }

    /// Everything of other steps and of the person that it uses, each with the key that does.
    pub fn uses(&self) -> Vec<(&'static str, &Token)> {
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
