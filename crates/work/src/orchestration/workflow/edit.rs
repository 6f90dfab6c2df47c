//! A person's changes of a workflow in the graph: edits exactly the affected keys in the file's text, keeping comments
//! and order.
//!
//! The text is edited by [`scene_patch`], where the reason for not using `yamlpatch` is documented with measurements.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::definition::AnswerKind;
use super::format::stem;
use super::front_matter_keys::quoted_braces;
use super::template::{self, NAME_RULE, is_identifier};
use crate::agent::front_matter;
use crate::base::hash::content_hash;
use crate::base::text::slug;
use crate::base::unique_names;
use crate::workspace::yaml_syntax::parse_syntax;
use crate::workspace::{scene_patch, yaml};

/// The keys of a step that contain numbers.
const NUMBERS: [&str; 2] = ["retry", "max_turns"];
/// The keys of a step that contain placeholders.
const TEMPLATES: [&str; 6] = ["prompt", "when", "for_each", "repeat_until", "with", "outputs"];

/// A change of a workflow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum WorkflowEdit {
    /// Adds a step at the end.
    AddStep {
        /// Who executes it.
        #[serde(flatten)]
        doer: StepAssignee,
        /// The step that it depends on, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// Removes a step and the dependencies on it.
    RemoveStep {
        /// The step.
        step: String,
    },
    /// Adds a dependency.
    Depend {
        /// The step.
        step: String,
        /// The step that it depends on.
        on: String,
    },
    /// Removes a dependency.
    Free {
        /// The step.
        step: String,
        /// The step that it no longer depends on.
        of: String,
    },
    /// Renames a step, with all references to it.
    Rename {
        /// The step.
        step: String,
        /// The new id.
        to: String,
    },
    /// Changes who executes a step.
    Assign {
        /// The step.
        step: String,
        /// The new assignee.
        #[serde(flatten)]
        doer: StepAssignee,
    },
    /// Sets the variables of a nested workflow.
    With {
        /// The step.
        step: String,
        /// The value of each variable; an empty value removes it.
        variables: BTreeMap<String, String>,
    },
    /// Sets a key of the workflow itself; an empty value removes it.
    SetOwn {
        /// The key: `name`, `description` or `trigger`.
        key: String,
        /// The value.
        text: String,
    },
    /// Sets a key of a step; an empty value removes it.
    Set {
        /// The step.
        step: String,
        /// The key, such as `prompt`, `when` or `retry`.
        key: String,
        /// The value.
        text: String,
    },
    /// Sets the names of the outputs of a step.
    Outputs {
        /// The step.
        step: String,
        /// Its outputs, in order; other properties of remaining ones are kept.
        names: Vec<String>,
    },
    /// Replaces the whole text if it still is the expected one: undoes a change.
    Replace {
        /// The hash of the expected text.
        of: u64,
        /// The new text.
        text: String,
    },
}

/// Who executes a step, as named in the file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepAssignee {
    /// An agent of the room or a profile, by id.
    Agent(String),
    /// A person.
    Person(AnswerKind),
    /// Another workflow, by file or name.
    Workflow(String),
}

impl Default for StepAssignee {
    fn default() -> Self {
        Self::Agent(String::new())
    }
}

impl StepAssignee {
    /// The keys for the assignee; a step has one of them.
    const KEYS: [&'static str; 3] = ["agent", "person", "workflow"];

    /// The key and value in the file.
    fn entry(&self) -> (&'static str, &str) {
        match self {
            Self::Agent(agent) => ("agent", agent),
            Self::Person(AnswerKind::Approval) => ("person", "approval"),
            Self::Person(AnswerKind::Form) => ("person", "form"),
            Self::Workflow(workflow) => ("workflow", workflow),
        }
    }

    /// The preferred id of a new step, and its other keys.
    fn first(&self) -> (String, Value) {
        let named = |name: &str| Some(slug(name)).filter(|id| is_identifier(id)).unwrap_or_else(|| "step".to_owned());
        match self {
            Self::Agent(agent) => (named(agent), json!({ "prompt": "Say what to do", "outputs": [] })),
            Self::Person(AnswerKind::Approval) => ("approval".to_owned(), json!({ "prompt": "Is this good?" })),
            Self::Person(AnswerKind::Form) => {
                ("form".to_owned(), json!({ "prompt": "Say what you need to know", "outputs": ["answer"] }))
            }
            Self::Workflow(workflow) => (named(stem(workflow)), json!({})),
        }
    }
}

/// The edit that undoes a change from `before` to `after`.
pub fn inverse(before: &str, after: &str) -> WorkflowEdit {
    WorkflowEdit::Replace { of: content_hash(after.as_bytes()), text: before.to_owned() }
}

/// Applies a change to the text of a workflow file. The error says why it is not possible.
pub fn apply(text: &str, edit: &WorkflowEdit) -> Result<String, String> {
    if let WorkflowEdit::Replace { of, text: other } = edit {
        let is_meant = content_hash(text.as_bytes()) == *of;
        return if is_meant { Ok(other.clone()) } else { Err("its file was changed in the meantime".to_owned()) };
    }
    let windows = text.contains("\r\n");
    let plain = front_matter::normalise(text);
    let (front, _) = front_matter::fenced(&plain)
        .map_err(|error| error.what)?
        .ok_or("this file has no front matter; write `---`, `steps:` and `---` first")?;
    let start =
        plain.find(front).filter(|_| !front.is_empty()).unwrap_or_else(|| plain.find('\n').map_or(4, |at| at + 1));
    let end = start + front.len();
    let readable = quoted_braces(front);
    let old = yaml::parse(&readable).map_err(|error| format!("the front matter is not valid YAML: {}", error.what))?;
    let old = if old.is_null() { Value::Object(Map::new()) } else { old };
    let mut new = old.clone();
    change(&mut new, edit)?;
    if new == old {
        return Ok(text.to_owned());
    }
    let (readable, old) = match edit {
        WorkflowEdit::Rename { step, to } => with_id(&readable, &old, step, to),
        _ => (readable.into_owned(), old),
    };
    let patched = scene_patch::patch(&readable, &old, &new);
    let whole = format!("{}{patched}{}", &plain[..start], &plain[end..]);
    Ok(if windows { whole.replace('\n', "\r\n") } else { whole })
}

/// Changes the id of one step in the text and its data, if possible. Because steps are identified by their ids,
/// patching would otherwise rewrite the whole step.
fn with_id(text: &str, data: &Value, step: &str, to: &str) -> (String, Value) {
    let mut renamed = data.clone();
    let mut write = || {
        let steps = renamed.get_mut("steps")?.as_array_mut()?;
        let index = steps.iter().position(|one| id_of(one) == Some(step))?;
        let outline = parse_syntax(text).ok()?;
        let id = outline.get("steps")?.items().get(index)?.value.get("id")?;
        steps[index]["id"] = json!(to);
        Some(format!("{}{}{}", &text[..id.start], yaml::scalar(to), &text[id.end..]))
    };
    match write() {
        Some(written) => (written, renamed),
        None => (text.to_owned(), data.clone()),
    }
}

fn change(root: &mut Value, edit: &WorkflowEdit) -> Result<(), String> {
    let root = root.as_object_mut().ok_or("the front matter is not a mapping of keys")?;
    if let WorkflowEdit::SetOwn { key, text } = edit {
        set(root, key, text);
        return Ok(());
    }
    let steps = root.entry("steps").or_insert(Value::Null);
    if steps.is_null() {
        *steps = Value::Array(Vec::new());
    }
    let steps = steps.as_array_mut().ok_or("steps: is not a list")?;
    match edit {
        WorkflowEdit::AddStep { doer, after } => add_step(steps, doer, after.as_deref()),
        WorkflowEdit::RemoveStep { step } => {
            let before = steps.len();
            steps.retain(|one| id_of(one) != Some(step));
            if steps.len() == before {
                return Err(no_step(step));
            }
            steps.iter_mut().filter_map(Value::as_object_mut).for_each(|one| remove_dependency(one, step));
            Ok(())
        }
        WorkflowEdit::Depend { step, on } => depend(steps, step, on),
        WorkflowEdit::Free { step, of } => {
            remove_dependency(find(steps, step)?, of);
            Ok(())
        }
        WorkflowEdit::Rename { step, to } => rename(steps, step, to),
        WorkflowEdit::Assign { step, doer } => {
            assign(find(steps, step)?, doer);
            Ok(())
        }
        WorkflowEdit::With { step, variables } => {
            let one = find(steps, step)?;
            let said = variables.iter().filter(|(_, text)| !text.trim().is_empty());
            let said: Map<String, Value> = said.map(|(name, text)| (name.clone(), json!(text))).collect();
            match said.is_empty() {
                true => drop(one.shift_remove("with")),
                false => drop(one.insert("with".to_owned(), Value::Object(said))),
            }
            Ok(())
        }
        WorkflowEdit::Set { step, key, text } => {
            if key == "id" {
                return Err("a step is renamed, so that what names it follows".to_owned());
            }
            set(find(steps, step)?, key, text);
            Ok(())
        }
        WorkflowEdit::Outputs { step, names } => {
            if let Some(odd) = names.iter().find(|name| !is_identifier(name)) {
                return Err(format!("{odd:?} is not a valid output name: {NAME_RULE}"));
            }
            let one = find(steps, step)?;
            let outputs = outputs(one.get("outputs"), names);
            one.insert("outputs".to_owned(), outputs);
            Ok(())
        }
        // These change the workflow itself or the whole text, not steps.
        WorkflowEdit::SetOwn { .. } | WorkflowEdit::Replace { .. } => Ok(()),
    }
}

fn add_step(steps: &mut Vec<Value>, doer: &StepAssignee, after: Option<&str>) -> Result<(), String> {
    let (base, more) = doer.first();
    let is_taken = |id: &str| steps.iter().any(|step| id_of(step) == Some(id));
    let id = unique_names::first_free(unique_names::candidates(&base), is_taken);
    let mut step = Map::from_iter([("id".to_owned(), json!(id))]);
    assign(&mut step, doer);
    step.extend(more.as_object().cloned().unwrap_or_default());
    if let Some(after) = after {
        if steps.iter().all(|one| id_of(one) != Some(after)) {
            return Err(no_step(after));
        }
        step.insert("depends_on".to_owned(), json!([after]));
    }
    steps.push(Value::Object(step));
    Ok(())
}

fn depend(steps: &mut [Value], step: &str, on: &str) -> Result<(), String> {
    if step == on {
        return Err(format!("step {step:?} cannot wait for itself"));
    }
    if steps.iter().all(|one| id_of(one) != Some(on)) {
        return Err(no_step(on));
    }
    if let Some(way) = dependency_path(steps, on, step) {
        let way = way.join(" → ");
        return Err(format!("{on:?} already waits for {step:?} ({way}): they would wait for each other"));
    }
    let one = find(steps, step)?;
    let mut before = listed(one, "depends_on");
    if before.iter().all(|known| known != on) {
        before.push(on.to_owned());
    }
    one.insert("depends_on".to_owned(), json!(before));
    Ok(())
}

/// Renames a step, with the dependencies on it and references to its outputs.
fn rename(steps: &mut [Value], step: &str, to: &str) -> Result<(), String> {
    if !is_identifier(to) {
        return Err(format!("{to:?} is not a valid step name: {NAME_RULE}"));
    }
    if step != to && steps.iter().any(|one| id_of(one) == Some(to)) {
        return Err(format!("there is already a step {to:?}"));
    }
    find(steps, step)?.insert("id".to_owned(), json!(to));
    for one in steps.iter_mut().filter_map(Value::as_object_mut) {
        let mut before = listed(one, "depends_on");
        if before.iter().any(|id| id == step) {
            before.iter_mut().filter(|id| *id == step).for_each(|id| to.clone_into(id));
            one.insert("depends_on".to_owned(), json!(before));
        }
        for (_, value) in one.iter_mut().filter(|(key, _)| TEMPLATES.contains(&key.as_str())) {
            rename_within(value, step, to);
        }
    }
    Ok(())
}

/// Renames a step in every text within a value.
fn rename_within(value: &mut Value, step: &str, to: &str) {
    match value {
        Value::String(text) => {
            if let Some(renamed) = template::with_step_renamed(text, step, to) {
                *text = renamed;
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| rename_within(entry, step, to)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| rename_within(entry, step, to)),
        _ => {}
    }
}

/// Sets the assignee of a step and removes the keys of other kinds of assignee.
fn assign(step: &mut Map<String, Value>, doer: &StepAssignee) {
    let (key, text) = doer.entry();
    for other in StepAssignee::KEYS.into_iter().filter(|other| *other != key) {
        step.shift_remove(other);
    }
    if key != "workflow" {
        step.shift_remove("with");
    }
    step.insert(key.to_owned(), json!(text));
}

/// Sets a key, as a number if the key contains one; an empty text removes the key.
fn set(keys: &mut Map<String, Value>, key: &str, text: &str) {
    let number = NUMBERS.contains(&key).then(|| text.trim().parse::<u32>().ok()).flatten();
    match number {
        _ if text.trim().is_empty() => drop(keys.shift_remove(key)),
        Some(number) => drop(keys.insert(key.to_owned(), json!(number))),
        None => drop(keys.insert(key.to_owned(), json!(text))),
    }
}

/// Outputs with these names, in the notation used in the file.
fn outputs(old: Option<&Value>, names: &[String]) -> Value {
    match old {
        Some(Value::Object(known)) => {
            let about = |name: &String| (name.clone(), known.get(name).cloned().unwrap_or_else(|| "".into()));
            Value::Object(names.iter().map(about).collect())
        }
        Some(Value::Array(known)) => {
            let named =
                |entry: &&Value, name: &str| entry.as_str().or_else(|| entry.get("name")?.as_str()) == Some(name);
            let about =
                |name: &String| known.iter().find(|entry| named(entry, name)).cloned().unwrap_or_else(|| json!(name));
            Value::Array(names.iter().map(about).collect())
        }
        _ => json!(names),
    }
}

fn id_of(step: &Value) -> Option<&str> {
    step.get("id")?.as_str()
}

fn no_step(id: &str) -> String {
    format!("there is no step {id:?}")
}

fn find<'a>(steps: &'a mut [Value], id: &str) -> Result<&'a mut Map<String, Value>, String> {
    let step = steps.iter_mut().find(|one| id_of(one) == Some(id)).and_then(Value::as_object_mut);
    step.ok_or_else(|| no_step(id))
}

fn listed(step: &Map<String, Value>, key: &str) -> Vec<String> {
    match step.get(key) {
        Some(Value::Array(entries)) => entries.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(words)) => words.split(',').map(|word| word.trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

fn remove_dependency(step: &mut Map<String, Value>, of: &str) {
    let before = listed(step, "depends_on");
    let left: Vec<&String> = before.iter().filter(|id| *id != of).collect();
    match (left.len() == before.len(), left.is_empty()) {
        (true, _) => {}
        (false, true) => drop(step.shift_remove("depends_on")),
        (false, false) => drop(step.insert("depends_on".to_owned(), json!(left))),
    }
}

/// The path of dependencies from one step to another, starting at the step that is waited for.
fn dependency_path<'a>(steps: &'a [Value], step: &'a str, waited_for: &str) -> Option<Vec<&'a str>> {
    let known = steps.iter().filter_map(|one| Some((id_of(one)?, listed(one.as_object()?, "depends_on"))));
    let before: BTreeMap<&str, Vec<String>> = known.collect();
    let ids: BTreeMap<&str, &str> = before.keys().map(|id| (*id, *id)).collect();
    let mut came: BTreeMap<&str, Option<&str>> = BTreeMap::from([(step, None)]);
    let mut due = VecDeque::from([step]);
    while let Some(id) = due.pop_front() {
        if id == waited_for {
            let ways = std::iter::successors(Some(id), |id| came.get(id).copied().flatten());
            return Some(ways.collect());
        }
        for next in before.get(id).into_iter().flatten().filter_map(|next| ids.get(next.as_str()).copied()) {
            if let Entry::Vacant(place) = came.entry(next) {
                place.insert(Some(id));
                due.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
