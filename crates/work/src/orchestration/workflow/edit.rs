//! Changes of a workflow that a person makes where it is drawn: in the text of its file, at exactly the keys that they are
//! about, with comments and order kept.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::keys::quoted_braces;
use super::template::is_word;
use crate::agent::front_matter;
use crate::base::hash::content_hash;
use crate::base::text::slug;
use crate::workspace::{scene_patch, yaml};

/// A change of a workflow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum WorkflowEdit {
    /// A step for an agent, at the end.
    AddStep {
        /// Who, by id.
        agent: String,
    },
    /// A step is taken out, and with it what others depend on.
    RemoveStep {
        /// Which.
        step: String,
    },
    /// A step comes after another.
    Depend {
        /// Which.
        step: String,
        /// After which.
        on: String,
    },
    /// It does so no longer.
    Free {
        /// Which.
        step: String,
        /// Of which.
        of: String,
    },
    /// What a key of a step says; empty takes it out.
    Set {
        /// Of which step.
        step: String,
        /// Which key: `prompt`, `agent`, `when`.
        key: String,
        /// What.
        text: String,
    },
    /// The names of what a step must give.
    Outputs {
        /// Which step.
        step: String,
        /// Its outputs, in order; what is known of one that stays is kept.
        names: Vec<String>,
    },
    /// The whole text is another, if it still is the one that is meant: takes a change back.
    Replace {
        /// The hash of the text that is meant.
        of: u64,
        /// What it says then.
        text: String,
    },
}

/// What takes a change back that made one text another.
pub fn inverse(before: &str, after: &str) -> WorkflowEdit {
    WorkflowEdit::Replace { of: content_hash(after.as_bytes()), text: before.to_owned() }
}

/// The text of a workflow's file after a change. The error says why it cannot be changed so.
pub fn apply(text: &str, edit: &WorkflowEdit) -> Result<String, String> {
    if let WorkflowEdit::Replace { of, text: other } = edit {
        let is_meant = content_hash(text.as_bytes()) == *of;
        return if is_meant { Ok(other.clone()) } else { Err("its file was changed otherwise meanwhile".to_owned()) };
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
    let patched = scene_patch::patch(&readable, &old, &new);
    let whole = format!("{}{patched}{}", &plain[..start], &plain[end..]);
    Ok(if windows { whole.replace('\n', "\r\n") } else { whole })
}

fn change(root: &mut Value, edit: &WorkflowEdit) -> Result<(), String> {
    let root = root.as_object_mut().ok_or("the front matter is not a list of keys")?;
    let steps = root.entry("steps").or_insert_with(|| Value::Array(Vec::new()));
    let steps = steps.as_array_mut().ok_or("steps: is not a list")?;
    match edit {
        WorkflowEdit::AddStep { agent } => {
            let base = Some(slug(agent)).filter(|id| is_word(id)).unwrap_or_else(|| "step".to_owned());
            let is_free = |id: &String| steps.iter().all(|step| id_of(step) != Some(id));
            let numbered = (2..).map(|number| format!("{base}-{number}"));
            let id = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base);
            steps.push(json!({ "id": id, "agent": agent, "prompt": "Say what is to be done", "outputs": [] }));
            Ok(())
        }
        WorkflowEdit::RemoveStep { step } => {
            let before = steps.len();
            steps.retain(|one| id_of(one) != Some(step));
            if steps.len() == before {
                return Err(no_step(step));
            }
            steps.iter_mut().filter_map(Value::as_object_mut).for_each(|one| free(one, step));
            Ok(())
        }
        WorkflowEdit::Depend { step, on } => {
            if step == on {
                return Err(format!("step {step:?} cannot wait for itself"));
            }
            if steps.iter().all(|one| id_of(one) != Some(on)) {
                return Err(no_step(on));
            }
            if let Some(way) = way(steps, on, step) {
                let way = way.join(" → ");
                return Err(format!("{on:?} waits for {step:?} already ({way}): they would wait for each other"));
            }
            let one = find(steps, step)?;
            let mut before = listed(one, "depends_on");
            if !before.contains(on) {
                before.push(on.clone());
            }
            one.insert("depends_on".to_owned(), json!(before));
            Ok(())
        }
        WorkflowEdit::Free { step, of } => {
            free(find(steps, step)?, of);
            Ok(())
        }
        WorkflowEdit::Set { step, key, text } => {
            if key == "id" {
                return Err("a step keeps its id here; change it in the file".to_owned());
            }
            let one = find(steps, step)?;
            if text.trim().is_empty() {
                one.shift_remove(key);
            } else {
                one.insert(key.clone(), text.as_str().into());
            }
            Ok(())
        }
        WorkflowEdit::Outputs { step, names } => {
            if let Some(odd) = names.iter().find(|name| !is_word(name)) {
                return Err(format!("{odd:?} cannot be the name of an output: use letters, digits, - and _"));
            }
            let one = find(steps, step)?;
            let outputs = outputs(one.get("outputs"), names);
            one.insert("outputs".to_owned(), outputs);
            Ok(())
        }
        // The whole text, not its keys.
        WorkflowEdit::Replace { .. } => Ok(()),
    }
}

/// Outputs of these names, in the shape in which they stand there.
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

fn free(step: &mut Map<String, Value>, of: &str) {
    let before = listed(step, "depends_on");
    let left: Vec<&String> = before.iter().filter(|id| *id != of).collect();
    match (left.len() == before.len(), left.is_empty()) {
        (true, _) => {}
        (false, true) => drop(step.shift_remove("depends_on")),
        (false, false) => drop(step.insert("depends_on".to_owned(), json!(left))),
    }
}

/// The way by which one step comes to wait for another, directly or not: from the one that is waited for.
fn way<'a>(steps: &'a [Value], step: &'a str, waited_for: &str) -> Option<Vec<&'a str>> {
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
mod tests {
    use super::super::format;
    use super::*;

    const TEXT: &str = "---
# A pipeline of ours.
name: Tea
colour: green
steps:
  # First we look.
  - id: look
    agent: ada
    prompt: \"Look at {topic}\"   # at all of it
    outputs: [found]

  - { id: write, agent: bram, prompt: \"{look.found}\", depends_on: [look] }
---

# Tea

Words of ours.
";

    fn applied(text: &str, edit: &WorkflowEdit) -> String {
        let changed = apply(text, edit).unwrap_or_else(|why| panic!("{edit:?}: {why}"));
        for kept in
            ["# A pipeline of ours.\nname: Tea\ncolour: green\n", "  # First we look.\n", "\n# Tea\n\nWords of ours.\n"]
        {
            assert!(changed.contains(kept), "{kept} in {changed}");
        }
        let file = format::read("workflows/tea.md", &changed);
        assert!(file.is_usable(), "{:?} {changed}", file.problems);
        changed
    }

    #[test]
    fn what_is_changed_changes_and_the_rest_stands_as_it_was_written() {
        let step = "look".to_owned();
        let set = |key: &str, text: &str| WorkflowEdit::Set { step: "look".into(), key: key.into(), text: text.into() };
        let changed = applied(TEXT, &set("prompt", "Look again\nat {topic}\n"));
        assert!(changed.contains("Look again\n") && changed.contains("# at all of it"), "{changed}");
        let changed = applied(TEXT, &set("when", "{topic} == tea"));
        assert!(changed.contains("    outputs: [found]\n    when: "), "{changed}");
        assert!(applied(&changed, &set("when", "")).contains("outputs: [found]\n\n"), "and away again");
        let changed = applied(TEXT, &WorkflowEdit::Outputs { step, names: vec!["found".into(), "more".into()] });
        assert!(changed.contains("    outputs: [found, more]\n"), "{changed}");
        let changed = applied(TEXT, &WorkflowEdit::AddStep { agent: "cleo".into() });
        assert!(changed.contains("id: cleo"), "{changed}");
        let changed = applied(&changed, &WorkflowEdit::Depend { step: "cleo".into(), on: "write".into() });
        let steps = format::read("workflows/tea.md", &changed).workflow.steps;
        assert_eq!(steps[2].depends_on, ["write"]);
        let changed = applied(&changed, &WorkflowEdit::RemoveStep { step: "write".into() });
        let steps = format::read("workflows/tea.md", &changed).workflow.steps;
        assert_eq!((steps.len(), steps[1].depends_on.len()), (2, 0), "{changed}");
        assert_eq!(apply(TEXT, &WorkflowEdit::Free { step: "look".into(), of: "write".into() }).as_deref(), Ok(TEXT));
    }

    #[test]
    fn a_change_is_taken_back_to_the_letter_unless_somebody_else_changed_the_file() {
        for edit in [
            WorkflowEdit::RemoveStep { step: "look".into() },
            WorkflowEdit::Outputs { step: "look".into(), names: Vec::new() },
            WorkflowEdit::Free { step: "write".into(), of: "look".into() },
        ] {
            let changed = apply(TEXT, &edit).expect("it can be changed");
            let back = inverse(TEXT, &changed);
            assert_eq!(apply(&changed, &back).as_deref(), Ok(TEXT), "{edit:?}");
            let why = apply(&format!("{changed}More words."), &back).expect_err("it is another text");
            assert!(why.contains("changed otherwise"), "{why}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        let depend = |step: &str, on: &str| WorkflowEdit::Depend { step: step.into(), on: on.into() };
        for (edit, part) in [
            (
                depend("look", "write"),
                "\"write\" waits for \"look\" already (look → write): they would wait for each other",
            ),
            (depend("look", "look"), "wait for itself"),
            (depend("look", "nothing"), "no step"),
            (WorkflowEdit::RemoveStep { step: "nothing".into() }, "no step"),
            (WorkflowEdit::Outputs { step: "look".into(), names: vec!["a b".into()] }, "cannot be the name"),
        ] {
            assert!(apply(TEXT, &edit).is_err_and(|why| why.contains(part)), "{edit:?}");
        }
        assert!(apply("# No front matter\n", &depend("a", "b")).is_err());
    }

    #[test]
    fn line_ends_of_other_systems_and_braces_without_quotes_are_no_trouble() {
        let text = "---\r\nsteps:\r\n  - id: a\r\n    agent: x\r\n    prompt: go\r\n    outputs: [ok]\r\n    repeat_until: {a.ok} at most 2\r\n---\r\nBody\r\n";
        let edit = WorkflowEdit::Set { step: "a".into(), key: "prompt".into(), text: "stop".into() };
        let changed = apply(text, &edit).expect("it can be changed");
        assert!(changed.contains("    prompt: stop\r\n") && changed.ends_with("---\r\nBody\r\n"), "{changed}");
        assert!(changed.contains("repeat_until: \"{a.ok} at most 2\"\r\n"), "{changed}");
    }
}
