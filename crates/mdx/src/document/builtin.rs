//! The tools that every agent with a document has, as the reference of the format lists them.

use super::parameter::{Parameter, ParameterType};

/// A tool that needs no code in the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinTool {
    /// The name that a model calls it by.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    parameters: &'static [(&'static str, ParameterType, bool, &'static str)],
}

impl BuiltinTool {
    /// What it takes.
    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |(name, kind, is_required, description): &(&str, ParameterType, bool, &str)| Parameter {
            name: (*name).to_owned(),
            kind: *kind,
            description: (*description).to_owned(),
            is_required: *is_required,
        };
        self.parameters.iter().map(parameter).collect()
    }
}

/// Every built-in tool, in the reference's order.
pub const BUILTIN_TOOLS: [BuiltinTool; 3] = [
    BuiltinTool {
        name: "bash",
        description: "Run a shell command in the agent's folder. The default time limit is 30 seconds.",
        parameters: &[
            ("command", ParameterType::String, true, "The command"),
            ("timeout", ParameterType::Number, false, "The time limit in seconds (default 30)"),
        ],
    },
    BuiltinTool {
        name: "read_file",
        description: "Read a file. A relative path starts at the agent's folder.",
        parameters: &[
            ("path", ParameterType::String, true, "The file"),
            ("offset", ParameterType::Number, false, "The first line to read, counted from 1"),
            ("limit", ParameterType::Number, false, "How many lines to read"),
        ],
    },
    BuiltinTool {
        name: "write_file",
        description: "Write a file. Folders that do not exist are created. A relative path starts at the agent's folder.",
        parameters: &[
            ("path", ParameterType::String, true, "The file"),
            ("content", ParameterType::String, true, "The whole new content"),
        ],
    },
];
