//! A tool: its declaration for models, and the plan of a call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::plan::Planned;
use super::schema::Checker;
use crate::gate::{Bounds, Power, ToolName, ToolNames, ToolScope};
use crate::mind::{ToolDeclaration, ToolSchema};

/// Plans a call with these arguments, which match the schema. The error is a sentence for the model.
pub type Planner = Arc<dyn Fn(&Arguments, &Planning<'_>) -> Result<Planned, String> + Send + Sync>;

/// A function that a model may call. Register it with [`Tools::register`](super::Tools::register).
#[derive(Clone)]
pub struct Tool {
    /// The name in profiles: at most 64 letters, digits, `_` and `-`, as every provider accepts.
    pub name: String,
    /// Names of equivalent tools in other products, which profiles may list.
    pub aliases: Vec<String>,
    /// The aliases under which a model gets it if a profile lists them.
    pub offered_as: Vec<String>,
    /// The agents to which it is available.
    pub scope: ToolScope,
    /// Whether agents whose profiles list no tools have it.
    pub is_default: bool,
    /// The kind of access that it gives an agent, for limits by kind of tool.
    pub power: Power,
    /// The description for the model.
    pub description: String,
    /// The arguments: a JSON schema of an object.
    pub parameters: ToolSchema,
    /// Names of arguments in other products, each with ours.
    pub argument_aliases: Vec<(String, String)>,
    /// Text arguments that contain JSON: a model may also send a JSON value, which is converted to text.
    pub json_arguments: Vec<String>,
    /// The function that plans a call.
    pub plan: Planner,
}

/// The context of planning a call.
#[derive(Clone, Copy)]
pub struct Planning<'a> {
    /// The permissions of the caller.
    pub bounds: &'a Bounds,
    /// The names of all tools.
    pub names: &'a ToolNames,
}

impl Tool {
    /// Creates a tool for everyone whose profile lists it, with access outside the workspace.
    pub fn new(
        name: &str,
        description: &str,
        parameters: Value,
        plan: impl Fn(&Arguments, &Planning<'_>) -> Result<Planned, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            aliases: Vec::new(),
            offered_as: Vec::new(),
            scope: ToolScope::Everyone,
            is_default: false,
            power: Power::Reach,
            description: description.to_owned(),
            parameters: parameters.into(),
            argument_aliases: Vec::new(),
            json_arguments: Vec::new(),
            plan: Arc::new(plan),
        }
    }

    /// Restricts the tool to a scope.
    pub fn within(self, scope: ToolScope) -> Self {
        Self { scope, ..self }
    }

    /// Sets the kind of access that the tool gives an agent.
    pub(super) fn with_power(self, power: Power) -> Self {
        Self { power, ..self }
    }

    /// Makes the tool available also to agents whose profiles list no tools, and sets the kind of access that it gives.
    pub(crate) fn by_default(self, power: Power) -> Self {
        Self { is_default: true, power, ..self }
    }

    /// Adds names that it has in other products.
    pub fn also_called(mut self, aliases: &[&str]) -> Self {
        self.aliases.extend(aliases.iter().map(|alias| (*alias).to_owned()));
        self
    }

    /// Adds an alias under which the tool is also offered if a profile lists it.
    pub fn also_offered_as(mut self, alias: &str) -> Self {
        self.offered_as.push(alias.to_owned());
        self.also_called(&[alias])
    }

    /// Adds names that arguments have in other products, each with ours.
    pub fn with_argument_aliases(mut self, aliases: &[(&str, &str)]) -> Self {
        let owned = |(alias, meant): &(&str, &str)| ((*alias).to_owned(), (*meant).to_owned());
        self.argument_aliases.extend(aliases.iter().map(owned));
        self
    }

    /// Sets which text arguments contain JSON.
    pub fn with_json_arguments(mut self, names: &[&str]) -> Self {
        self.json_arguments.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// Converts JSON values to text in the arguments that contain JSON as text.
    fn with_texts<'a>(&self, arguments: &'a Value) -> Cow<'a, Value> {
        let is_value = |name: &String| !matches!(arguments.get(name), None | Some(Value::String(_)));
        let named: Vec<&String> = self.json_arguments.iter().filter(|name| is_value(name)).collect();
        if named.is_empty() {
            return Cow::Borrowed(arguments);
        }
        let mut arguments = arguments.clone();
        for name in named {
            arguments[name.as_str()] = Value::String(arguments[name.as_str()].to_string());
        }
        Cow::Owned(arguments)
    }

    /// The name and aliases, as profiles may list them.
    pub(super) fn named(&self) -> ToolName {
        ToolName {
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            offered_as: self.offered_as.clone(),
            scope: self.scope.clone(),
            is_default: self.is_default,
            power: self.power,
        }
    }

    /// The declaration for a model that gets it under this name.
    pub(super) fn declaration(&self, name: &str) -> ToolDeclaration {
        ToolDeclaration {
            name: name.to_owned(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }

    /// Plans a call with these arguments. The error is a sentence for the model.
    pub(super) fn planned(
        &self,
        checker: &Checker,
        arguments: &Value,
        planning: &Planning<'_>,
    ) -> Result<Planned, String> {
        let aliases: Vec<(&str, &str)> =
            self.argument_aliases.iter().map(|(alias, meant)| (alias.as_str(), meant.as_str())).collect();
        let arguments = checker.check(&self.with_texts(arguments), &aliases)?;
        (self.plan)(&Arguments(arguments), planning)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// Arguments that match a tool's schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// A text argument; empty if absent.
    pub fn text(&self, name: &str) -> String {
        self.some_text(name).unwrap_or_default()
    }

    /// A text argument, if present and not empty.
    pub fn some_text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A whole number, if present.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    /// Whether a flag was set.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A value as given, unless absent or null.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// All arguments as a JSON value, for an executor.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map())
    }

    /// All arguments by name.
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.clone()
    }
}
