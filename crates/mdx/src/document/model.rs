//! The content of a document.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parameter::{Parameter, parameters_schema};
use crate::source::{ByteRange, SourceProblem};

/// What an agent is called whose document does not say.
pub const UNNAMED: &str = "UnnamedAgent";

/// An agent as its document defines it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AgentDocument {
    /// The keys of the front matter as written; empty if there is none or it cannot be read.
    pub front_matter: Map<String, Value>,
    /// What the heading `# Agent: Name` says, else `name:` of the front matter, else [`UNNAMED`].
    pub name: String,
    /// Whether the document says the name.
    pub is_named: bool,
    /// The text above the first section.
    pub introduction: String,
    /// What the agent is for.
    pub purpose: Option<Section>,
    /// What it can do.
    pub capabilities: Option<Section>,
    /// What it must or must not do.
    pub constraints: Option<Section>,
    /// How it speaks.
    pub personality: Option<Section>,
    /// Every other section, in the document's order.
    pub other_sections: Vec<Section>,
    /// The tools that can be used, in the document's order; no two have the same name.
    pub tools: Vec<ToolDefinition>,
    /// What is wrong, in the order of the text.
    pub problems: Vec<SourceProblem>,
}

/// A heading and the text below it, up to the next one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// The heading without its marks.
    pub title: String,
    /// The text below the heading, without tools and comments, with `\n` between its lines.
    pub text: String,
    /// The entries of the lists in it, each without its mark. An entry in an entry belongs to its text.
    pub items: Vec<String>,
    /// From the heading to the end of the section.
    pub range: ByteRange,
    /// The range below the heading.
    pub body: ByteRange,
}

/// A tool that a document defines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name that a model calls it by: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it does, for the engine.
    pub code: ToolCode,
    /// From `<Tool` to the end of `</Tool>`.
    pub range: ByteRange,
}

impl ToolDefinition {
    /// The JSON schema of the arguments, as providers of models want it.
    pub fn schema(&self) -> Value {
        parameters_schema(&self.parameters)
    }
}

/// The code of a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCode {
    /// TypeScript, with `\n` between its lines.
    pub text: String,
    /// The line of the document where the code begins, counted from 1.
    pub first_line: usize,
    /// The code in the document.
    pub range: ByteRange,
}
