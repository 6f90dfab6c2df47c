//! A tool: its declaration for models, and the plan of a call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::plan::Planned;
use super::schema::Checker;
use crate::gate::{Bounds, Power, ToolName, ToolNames, ToolScope};
use crate::mind::ToolDeclaration;

/// Plans a call with these arguments, which match the schema. The error is a sentence for the model.
pub type Planner = Arc<dyn Fn(&Arguments, &Planning<'_>) -> Result<Planned, String> + Send + Sync>;

/// A function that a model may call. Register it with [`Tools::register`](super::Tools::register).
#[derive(Clone)]
pub struct Tool {
    /// Its name; profiles list it. Letters, digits, `_` and `-`, at most 64: what every provider takes.
    pub name: String,
    /// What other products call a tool that does the same, where profiles list it.
    pub aliases: Vec<String>,
    /// Its aliases under which a model gets it if a profile lists them.
    pub offered_as: Vec<String>,
    /// Who may have it.
    pub scope: ToolScope,
    /// Whether an agent whose profile lists no tools has it.
    pub is_default: bool,
    /// What it lets an agent do, for limits that tell tools apart.
    pub power: Power,
    /// What it does, for the model.
    pub description: String,
    /// Its arguments: a JSON schema of an object.
    pub parameters: Arc<Value>,
    /// Names of arguments in other products, each with ours.
    pub argument_aliases: Vec<(String, String)>,
    /// Texts among its arguments that hold JSON: what a model sends there as a value is taken as its text.
    pub json_arguments: Vec<String>,
    /// What a call is to do.
    pub plan: Planner,
}

/// The context of planning a call.
#[derive(Clone, Copy)]
pub struct Planning<'a> {
    /// What whoever calls may do.
    pub bounds: &'a Bounds,
    /// The tools that there are.
    pub names: &'a ToolNames,
}

impl Tool {
    /// A tool for everyone whose profile lists it, which reaches outside the workspace.
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
            parameters: Arc::new(parameters),
            argument_aliases: Vec::new(),
            json_arguments: Vec::new(),
            plan: Arc::new(plan),
        }
    }

    /// The same, for those who may have it.
    pub fn within(self, scope: ToolScope) -> Self {
        Self { scope, ..self }
    }

    /// The same, which lets an agent do this.
    pub(super) fn with_power(self, power: Power) -> Self {
        Self { power, ..self }
    }

    /// The same, also for agents whose profiles list no tools, with the powers that it gives.
    pub(crate) fn by_default(self, power: Power) -> Self {
        Self { is_default: true, power, ..self }
    }

    /// The same, under the names that it has in other products.
    pub fn also_called(mut self, aliases: &[&str]) -> Self {
        self.aliases.extend(aliases.iter().map(|alias| (*alias).to_owned()));
        self
    }

    /// The same tool, also offered under an alias if a profile lists that.
    pub fn also_offered_as(mut self, alias: &str) -> Self {
        self.offered_as.push(alias.to_owned());
        self.also_called(&[alias])
    }

    /// The same, with names that arguments have in other products, each with ours.
    pub fn with_argument_aliases(mut self, aliases: &[(&str, &str)]) -> Self {
        let owned = |(alias, meant): &(&str, &str)| ((*alias).to_owned(), (*meant).to_owned());
        self.argument_aliases.extend(aliases.iter().map(owned));
        self
    }

    /// The same, with texts among its arguments that hold JSON.
    pub fn with_json_arguments(mut self, names: &[&str]) -> Self {
        self.json_arguments.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// Arguments with values where JSON is taken as a text put into that text.
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

    /// As profiles may name it.
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

    /// The declaration for a model that knows it by this name.
    pub(super) fn declaration(&self, name: &str) -> ToolDeclaration {
        ToolDeclaration {
            name: name.to_owned(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }

    /// The plan of a call with these arguments. The error says what does not fit.
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

    /// Whether a flag was set.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A value as it was given, unless it was null.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// All of them, for an executor.
    pub fn to_value(&self) -> Value {
        Value::Object(self.to_map())
    }

    /// The same by name.
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.clone()
    }
}
