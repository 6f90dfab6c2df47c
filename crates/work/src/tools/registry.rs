//! Every tool that there is, what models are told of it, and how a call becomes a plan.
//!
//! A new tool is one file (or one more in its family's) and one line in [`TOOLS`].

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::plan::{ToolPlan, Work};
use super::{agents, files, schema};
use crate::agent::AgentProfile;
use crate::base::{Problem, text};
use crate::gate::{Authority, Bounds, Power, ToolName, ToolNames, ToolScope};
use crate::mind::{ToolCall, ToolDeclaration};

/// Every tool, in the order in which models are told of them.
pub static TOOLS: &[&Tool] = &[
    &files::READ,
    &files::WRITE,
    &files::APPEND,
    &files::EDIT,
    &files::LIST,
    &files::SEARCH,
    &files::RENAME,
    &files::DELETE,
    &agents::SPAWN,
    &agents::SIGNAL,
];

/// A function that a model may call.
pub struct Tool {
    /// Its name; profiles list it.
    pub name: &'static str,
    /// What other products call a tool that does the same, where profiles list it.
    pub aliases: &'static [&'static str],
    /// Whether an agent whose profile lists no tools has it.
    pub is_default: bool,
    /// What it lets an agent do, for limits that tell tools apart.
    pub power: Power,
    /// What it does, for the model.
    pub description: &'static str,
    /// Its arguments: a JSON schema of an object, of the kind that [`schema`] knows.
    pub parameters: fn() -> Value,
    /// Names of arguments in other products, each with ours.
    pub argument_aliases: &'static [(&'static str, &'static str)],
    /// What a call with these arguments, which fit the schema, is to do. The error is a sentence for the model.
    pub plan: fn(&Arguments, &Bounds) -> Result<Work, String>,
}

/// Arguments that fit a tool's schema.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// A text; empty where it was left out.
    pub fn text(&self, name: &str) -> String {
        self.some_text(name).unwrap_or_default()
    }

    /// A text that is not empty, if one was given.
    pub fn some_text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A whole number, if one was given.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    }
}

/// The names of all tools, as profiles may list them.
pub fn names() -> &'static ToolNames {
    static NAMES: LazyLock<ToolNames> = LazyLock::new(|| {
        let name = |tool: &&Tool| {
            let Tool { name, aliases, is_default, power, .. } = **tool;
            let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
            ToolName { name: name.to_owned(), aliases, scope: ToolScope::Everyone, is_default, power }
        };
        ToolNames(TOOLS.iter().map(name).collect())
    });
    &NAMES
}

/// What a profile may do, and what in it cannot be used; `place` is its file.
pub fn authority(place: &str, profile: &AgentProfile) -> (Authority, Vec<Problem>) {
    Authority::of(place, profile, names())
}

/// The tools that may be used within these bounds, as a model is told of them, always in the same order.
pub fn declarations(bounds: &Bounds) -> Vec<ToolDeclaration> {
    let own = bounds.tools();
    let declaration = |tool: &&Tool| ToolDeclaration {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        parameters: (tool.parameters)(),
    };
    TOOLS.iter().filter(|tool| own.contains(tool.name)).map(declaration).collect()
}

/// What a model's call comes to within these bounds. The error is the result for the model: it says what is wrong
/// and how to do better.
pub fn parse(call: &ToolCall, bounds: &Bounds) -> Result<ToolPlan, String> {
    let own = bounds.tools();
    let name = call.name.trim();
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name && own.contains(name)) else {
        return Err(no_tool(name, bounds));
    };
    let parameters = (tool.parameters)();
    schema::check(&parameters, &call.arguments, tool.argument_aliases)
        .and_then(|arguments| (tool.plan)(&Arguments(arguments), bounds))
        .map(|work| ToolPlan { tool: tool.name.to_owned(), work })
        .map_err(|what| format!("Error: {name}: {what}. Its arguments: {}.", schema::summary(&parameters)))
}

fn no_tool(name: &str, bounds: &Bounds) -> String {
    let own = bounds.tools();
    let listed: Vec<&str> = TOOLS.iter().map(|tool| tool.name).filter(|tool| own.contains(tool)).collect();
    let yours = match listed.as_slice() {
        [] => "You have no tools.".to_owned(),
        tools => format!("Your tools: {}.", tools.join(", ")),
    };
    if TOOLS.iter().any(|tool| tool.name == name) {
        return format!("Error: the tool '{name}' is not among yours. {yours}");
    }
    let meant = names().meant(name).filter(|tool| own.contains(tool));
    let meant = meant.or_else(|| text::nearest(name, listed.iter().copied()));
    let meant = meant.map(|tool| format!(" Did you mean '{tool}'?")).unwrap_or_default();
    let name = text::truncate(&text::one_line(name), 60);
    format!("Error: there is no tool '{name}'.{meant} {yours}")
}
