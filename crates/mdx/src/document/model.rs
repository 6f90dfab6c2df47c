//! The content of a document.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parameter::{Parameter, parameters_schema};
use crate::source::{ByteRange, SourceProblem};

/// The name of an agent whose document has none.
pub const UNNAMED: &str = "UnnamedAgent";

/// An agent as its document defines it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AgentDocument {
    /// The keys of the front matter as written; empty if there is none or it is invalid.
    pub front_matter: Map<String, Value>,
    /// The name: from the heading `# Agent: Name`, otherwise `name:` in the front matter, otherwise [`UNNAMED`].
    pub name: String,
    /// Whether the document contains the name.
    pub is_named: bool,
    /// The text above the first section.
    pub introduction: String,
    /// The section about the agent's purpose.
    pub purpose: Option<Section>,
    /// The section about the agent's capabilities.
    pub capabilities: Option<Section>,
    /// The section about what the agent must or must not do.
    pub constraints: Option<Section>,
    /// The section about the agent's style.
    pub personality: Option<Section>,
    /// All other sections, in document order.
    pub other_sections: Vec<Section>,
    /// The usable tools, in document order; their names are unique.
    pub tools: Vec<ToolDefinition>,
    /// The problems, in text order.
    pub problems: Vec<SourceProblem>,
}

/// A heading and the text below it, up to the next one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// The heading without its markup.
    pub title: String,
    /// The text below the heading, without tools and comments, with `\n` between its lines.
    pub text: String,
    /// The list entries in it, each without its bullet. Nested entries belong to the text of their parent.
    pub items: Vec<String>,
    /// The range from the heading to the end of the section.
    pub range: ByteRange,
    /// The range below the heading.
    pub body: ByteRange,
}

/// A tool that a document defines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name for the model: at most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The code.
    pub code: ToolCode,
    /// The range from `<Tool` to the end of `</Tool>`.
    pub range: ByteRange,
}

impl ToolDefinition {
    /// Returns the JSON schema of the arguments, in the form that model providers require.
    pub fn schema(&self) -> Value {
        parameters_schema(&self.parameters)
    }
}

/// The code of a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCode {
    /// The TypeScript code, with `\n` between its lines.
    pub text: String,
    /// The line of the document where the code begins, counted from 1.
    pub first_line: usize,
    /// The range of the code in the document.
    pub range: ByteRange,
}
