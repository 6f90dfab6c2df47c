//! Parses a workflow from a Markdown file: front matter with its steps, and a body with its description.
//!
//! Parsing never fails, and all problems are reported with their line; problems that depend on other files and agents
//! are found by `check`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::condition::Condition;
use super::definition::{AnswerKind, Assignee, ForEach, Output, Repeat, Step, Trigger, Variable, Workflow};
use super::front_matter_keys::{Keys, Lines, quoted_braces};
use super::template::{NAME_RULE, Template, Token, is_identifier};
use super::value::OutputKind;
use crate::agent::front_matter;
use crate::base::globs;
use crate::base::paths::file_name;
use crate::base::text::{capitalised, nearest, one_line};
use crate::base::{Problem, Severity};
use crate::workspace::yaml;

/// The maximum number of steps; further ones are ignored.
pub const MAX_STEPS: usize = 10_000;
/// The maximum number of rounds of a loop.
pub const MAX_ROUNDS: u32 = 1_000;

/// The maximum number of problems reported for one file.
pub const MAX_PROBLEMS: usize = 200;

/// The problem of a workflow without steps.
pub const NO_STEPS: &str = "this workflow has no steps";

const KEYS: &[&str] = &["name", "description", "trigger", "variables", "steps"];
const STEP_KEYS: &[&str] = &[
    "id",
    "agent",
    "person",
    "workflow",
    "with",
    "prompt",
    "depends_on",
    "outputs",
    "when",
    "for_each",
    "retry",
    "max_turns",
    "model",
    "repeat_until",
];
/// Keys of a step whose value may be invalid.
const MAY_BE_UNREAD: [&str; 5] = ["when", "for_each", "repeat_until", "retry", "max_turns"];
const VARIABLE_KEYS: &[&str] = &["name", "description", "default"];
const OUTPUT_KEYS: &[&str] = &["name", "description", "file", "kind"];

/// A parsed workflow file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkflowFile {
    /// The workflow, as far as it could be parsed.
    pub workflow: Workflow,
    /// The problems of the file.
    pub problems: Vec<Problem>,
}

impl WorkflowFile {
    /// Whether it can run, judging by the file alone.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Whether a path of the workspace is that of a workflow.
pub fn is_workflow(path: &str) -> bool {
    let name = path.strip_prefix("workflows/").and_then(|rest| rest.rsplit('/').next()).unwrap_or_default();
    let is_document = ["readme.md", "changelog.md", "license.md"].contains(&name.to_lowercase().as_str());
    name.ends_with(".md") && name.len() > 3 && !name.starts_with('.') && !is_document
}

/// The file name without folder and extension, such as `research-pipeline`.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Limits the problems to the reported number, sorted by line; errors are kept before warnings.
pub fn limit_problems(mut problems: Vec<Problem>) -> Vec<Problem> {
    if problems.len() > MAX_PROBLEMS {
        problems.sort_by_key(|problem| (problem.severity != Severity::Error, problem.line));
        problems.truncate(MAX_PROBLEMS);
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

/// Parses a workflow file.
pub fn read(path: &str, text: &str) -> WorkflowFile {
    let text = front_matter::normalise(text);
    let named = Workflow { path: path.to_owned(), name: stem(path).to_owned(), ..Workflow::default() };
    let broken = |what: String, line: Option<usize>, remedy: &str| WorkflowFile {
        workflow: named.clone(),
        problems: vec![Problem::error(path, what, remedy).at_line(line)],
    };
    let (front, body) = match front_matter::fenced(&text) {
        Ok(Some(parts)) => parts,
        Ok(None) => {
            let what = "this file has no front matter, so it has no steps".to_owned();
            return broken(what, Some(1), "start it with a line ---, `steps:` and another line ---");
        }
        Err(error) => return broken(error.what, error.line, "close the front matter with a line ---"),
    };
    let front = quoted_braces(front);
    let value = match yaml::parse(&front) {
        Ok(value) => value,
        Err(error) => {
            let what = format!("the front matter is not valid YAML: {}", error.what);
            let remedy = "fix this line; put text that contains a colon or starts with { in quotes";
            return broken(what, error.line.map(|line| line + 1), remedy);
        }
    };
    let Value::Object(entries) = value else {
        return broken("the front matter is not a mapping of keys".to_owned(), Some(2), "write `name:` and `steps:`");
    };
    let lines = Lines::of(&front);
    let mut reader = Reader { path, problems: Vec::new() };
    let mut workflow = reader.workflow(&entries, &lines, named);
    workflow.body = body.trim_end().to_owned();
    WorkflowFile { workflow, problems: limit_problems(reader.problems) }
}

struct Reader<'a> {
    path: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn error(&mut self, line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem::error(self.path, what, remedy).at_line(line));
    }

    fn warning(&mut self, line: Option<usize>, what: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem::warning(self.path, what, remedy).at_line(line));
    }

    fn workflow(&mut self, entries: &Map<String, Value>, lines: &Lines, named: Workflow) -> Workflow {
        let mut keys = Keys::new(entries, lines.lines_of_keys(&[]));
        let name = keys.text("name").map(|name| one_line(&name)).filter(|name| !name.is_empty());
        let description = keys.text("description").map(|text| one_line(&text)).unwrap_or_default();
        let trigger = match keys.text("trigger").map(|word| trigger(&word)) {
            None => Trigger::Manual,
            Some(Ok(trigger)) => trigger,
            Some(Err(why)) => {
                let remedy = "write manual, auto, `on change of GLOB` or `every 10m`";
                self.error(keys.line("trigger"), format!("invalid trigger: {why}"), remedy);
                Trigger::Manual
            }
        };
        let declared = self.variables(&mut keys);
        let steps = self.steps(&mut keys, lines);
        let mut variables = declared;
        let is_declaring = entries.contains_key("variables");
        for (step, (key, token)) in
            steps.iter().flat_map(|step| step.placeholders().into_iter().map(move |used| (step, used)))
        {
            let Token::Variable(name) = token else { continue };
            if variables.iter().any(|variable| variable.name == *name) {
                continue;
            }
            if is_declaring {
                let known: Vec<&str> = variables.iter().map(|one| one.name.as_str()).collect();
                let near = nearest(name, known.iter().copied());
                let remedy = match near {
                    Some(near) => format!("did you mean {{{near}}}? or add {name} to variables:"),
                    None => format!("add {name} to variables:, or write {{{{{name}}}}} for literal braces"),
                };
                self.error(
                    step.line(key),
                    format!("step {:?} uses {{{name}}}, which is not declared", step.id),
                    remedy,
                );
            } else {
                variables.push(Variable { name: name.clone(), ..Variable::default() });
            }
        }
        self.note_unused(&variables, &steps, keys.line("variables"));
        let (extra, problems) = keys.rest(self.path, KEYS, "workflow");
        self.problems.extend(problems);
        let lines = keys.lines();
        Workflow {
            name: name.unwrap_or_else(|| title(&named.name)),
            description,
            trigger,
            variables,
            steps,
            extra,
            lines,
            ..named
        }
    }

    fn note_unused(&mut self, variables: &[Variable], steps: &[Step], line: Option<usize>) {
        let used: std::collections::BTreeSet<&str> = steps
            .iter()
            .flat_map(Step::placeholders)
            .filter_map(|(_, token)| match token {
                Token::Variable(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        for unused in variables.iter().filter(|variable| !used.contains(variable.name.as_str())) {
            let what = format!("the variable {:?} is declared but never used", unused.name);
            self.warning(line, what, format!("use it as {{{}}}, or remove it", unused.name));
        }
    }

    /// Reads `variables: [topic]`, `variables: { topic: "what it is" }`, or a list of maps.
    fn variables(&mut self, keys: &mut Keys<'_>) -> Vec<Variable> {
        let line = keys.line("variables");
        let Some(value) = keys.value("variables") else { return Vec::new() };
        let mut variables: Vec<Variable> = Vec::new();
        let mut add = |reader: &mut Self, variable: Variable| {
            if !is_identifier(&variable.name) || ["item", "index", "round"].contains(&variable.name.as_str()) {
                let what = format!("{:?} is not a valid variable name", variable.name);
                reader.error(line, what, format!("{NAME_RULE}; item, index and round are taken"));
            } else if variables.iter().any(|known| known.name == variable.name) {
                reader.error(line, format!("the variable {:?} is declared twice", variable.name), "remove one of them");
            } else {
                variables.push(variable);
            }
        };
        let declared = |name: &str| Variable { name: name.to_owned(), is_declared: true, ..Variable::default() };
        match value {
            Value::Array(entries) => {
                for entry in entries {
                    match entry {
                        Value::String(name) => add(self, declared(name)),
                        Value::Object(map) => {
                            let mut inner = Keys::new(map, BTreeMap::new());
                            let name = inner.text("name").unwrap_or_default();
                            let description = inner.text("description").unwrap_or_default();
                            let default = inner.text("default");
                            add(self, Variable { description, default, ..declared(&name) });
                            let (_, problems) = inner.rest(self.path, VARIABLE_KEYS, "variable");
                            self.problems.extend(problems.into_iter().map(|problem| problem.at_line(line)));
                        }
                        _ => self.error(line, "an entry of variables: is not a name", "write variables: [topic]"),
                    }
                }
            }
            Value::Object(map) => {
                for (name, value) in map {
                    let (description, default) = match value {
                        Value::Object(about) => {
                            let mut inner = Keys::new(about, BTreeMap::new());
                            (inner.text("description").unwrap_or_default(), inner.text("default"))
                        }
                        Value::String(text) => (text.clone(), None),
                        _ => (String::new(), None),
                    };
                    add(self, Variable { description, default, ..declared(name) });
                }
            }
            _ => self.error(line, "variables: is not a list of names", "write variables: [topic]"),
        }
        variables
    }

    fn steps(&mut self, keys: &mut Keys<'_>, lines: &Lines) -> Vec<Step> {
        let line = keys.line("steps");
        let remedy =
            "add one in the graph, or write steps: and below it, for each, `- id: NAME`, `agent: ID` and `prompt: …`";
        let entries = match keys.value("steps") {
            Some(Value::Array(entries)) if !entries.is_empty() => entries,
            Some(Value::Array(_)) | None => {
                self.error(line.or(Some(1)), NO_STEPS, remedy);
                return Vec::new();
            }
            Some(_) => {
                self.error(line, "steps: is not a list", remedy);
                return Vec::new();
            }
        };
        if entries.len() > MAX_STEPS {
            let what = format!("there are {} steps, more than {MAX_STEPS}; the rest are ignored", entries.len());
            self.error(line, what, "split it into several workflows");
        }
        let mut steps: Vec<Step> = Vec::new();
        let mut known: BTreeMap<String, Option<usize>> = BTreeMap::new();
        for (index, entry) in entries.iter().take(MAX_STEPS).enumerate() {
            let its_lines = lines.of_item("steps", index);
            let Value::Object(map) = entry else {
                self.error(
                    lines.line_of_item("steps", index),
                    format!("step {} is not a mapping of keys", index + 1),
                    remedy,
                );
                continue;
            };
            let step = self.step(map, its_lines, index);
            let at = step.line("id");
            match known.get(&step.id) {
                Some(first) => {
                    let where_first = first.map(|line| format!(" (line {line})")).unwrap_or_default();
                    let what = format!("two steps have the id {:?}{where_first}", step.id);
                    self.error(at, what, "give one of them another id");
                }
                None => {
                    known.insert(step.id.clone(), at);
                    steps.push(step);
                }
            }
        }
        steps
    }

    fn step(&mut self, map: &Map<String, Value>, lines: BTreeMap<String, usize>, index: usize) -> Step {
        let mut keys = Keys::new(map, lines);
        let first_line = keys.first_line();
        let id = keys.text("id").map(|id| id.trim().to_owned()).unwrap_or_default();
        if id.is_empty() {
            self.error(first_line, format!("step {} has no id", index + 1), "add `id:` with a unique name");
        } else if !is_identifier(&id) {
            self.error(keys.line("id"), format!("{id:?} is not a valid step id"), NAME_RULE);
        }
        let id = if is_identifier(&id) { id } else { format!("step-{}", index + 1) };
        let doer = self.doer(&id, &mut keys);
        let prompt = Template::parse(&keys.text("prompt").unwrap_or_default());
        if prompt.is_blank() && !matches!(doer, Assignee::Workflow { .. } | Assignee::Join) {
            let line = keys.line("prompt").or(first_line);
            self.error(line, format!("step {id:?} has no prompt"), "add `prompt:` and say what to do");
        }
        let outputs = self.outputs(&id, &mut keys);
        let when = self.condition(&id, "when", &mut keys);
        let for_each = self.for_each(&id, &mut keys);
        let repeat_until = self.repeat(&id, &mut keys);
        if let (Some(_), false) = (&for_each, matches!(doer, Assignee::Agent { .. })) {
            let remedy = "assign it to an agent, or remove for_each:";
            self.error(
                keys.line("for_each"),
                format!("step {id:?} has for_each:, which is only for steps of agents"),
                remedy,
            );
        }
        let is_agents = matches!(doer, Assignee::Agent { .. });
        for key in ["retry", "max_turns", "model"] {
            if !is_agents && keys.value(key).is_some() {
                self.warning(
                    keys.line(key),
                    format!("{key}: has no effect in step {id:?}: it is not a step of an agent"),
                    "remove it",
                );
            }
        }
        let turns = self.number(&id, "max_turns", 10_000, &mut keys);
        let retry = self.number(&id, "retry", 100, &mut keys);
        let is_read = |key: &str| match key {
            "when" => when.is_some(),
            "for_each" => for_each.is_some(),
            "repeat_until" => repeat_until.is_some(),
            "retry" => retry.is_some(),
            _ => turns.is_some(),
        };
        let unread = MAY_BE_UNREAD.into_iter().filter(|key| !is_read(key));
        let unread = unread.filter_map(|key| Some((key.to_owned(), keys.braced(key)?))).collect();
        let step = Step {
            depends_on: keys.string_list("depends_on"),
            retry: retry.unwrap_or(0),
            max_turns: turns.filter(|turns| *turns > 0),
            model: keys.text("model").map(|model| model.trim().to_owned()).filter(|model| !model.is_empty()),
            prompt,
            outputs,
            when,
            for_each,
            repeat_until,
            unread,
            ..Step::new(&id, doer)
        };
        let (extra, problems) = keys.rest(self.path, STEP_KEYS, "step");
        self.problems.extend(problems);
        let mut lines = keys.lines();
        if let Some(first) = first_line {
            lines.entry("id".to_owned()).or_insert(first);
        }
        Step { extra, lines, ..step }
    }

    fn doer(&mut self, id: &str, keys: &mut Keys<'_>) -> Assignee {
        let agent = keys.text("agent").map(|agent| agent.trim().to_owned()).filter(|agent| !agent.is_empty());
        let person = keys.text("person").map(|word| word.trim().to_lowercase());
        let workflow = keys.text("workflow").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let with = keys.value("with");
        let line = keys.first_line();
        let count = usize::from(agent.is_some()) + usize::from(person.is_some()) + usize::from(workflow.is_some());
        if count != 1 {
            let what = match count {
                0 => format!("step {id:?} does not say who does it"),
                _ => format!("step {id:?} has more than one of agent, person and workflow"),
            };
            self.error(line, what, "write one of `agent: ID`, `person: approval`, `person: form` and `workflow: FILE`");
        }
        if with.is_some() && workflow.is_none() {
            self.error(keys.line("with"), format!("step {id:?} has with:, but no workflow:"), "remove it");
        }
        if let Some(workflow) = workflow {
            let with = match with {
                Some(Value::Object(map)) => map
                    .iter()
                    .map(|(name, value)| (name.clone(), Template::parse(&super::value::text(value))))
                    .collect(),
                None => BTreeMap::new(),
                Some(_) => {
                    let remedy = "write with: { topic: \"{research.findings}\" }";
                    self.error(
                        keys.line("with"),
                        format!(
                            "with: of step {id:?} is not a mapping of \
                        variables"
                        ),
                        remedy,
                    );
                    BTreeMap::new()
                }
            };
            return Assignee::Workflow { workflow, with };
        }
        match (agent, person.as_deref()) {
            (Some(agent), _) => Assignee::Agent { agent: agent.as_str().into() },
            (None, Some("approval")) => Assignee::Person { wants: AnswerKind::Approval },
            (None, Some("form")) => Assignee::Person { wants: AnswerKind::Form },
            (None, Some(other)) => {
                let what = format!("unknown person step {other:?}");
                self.error(keys.line("person"), what, "write person: approval, or person: form");
                Assignee::Person { wants: AnswerKind::Approval }
            }
            // Reported above.
            (None, None) => Assignee::Agent { agent: "".into() },
        }
    }

    /// Reads `outputs: [findings]`, `outputs: { findings: "what was found" }`, or a list of maps.
    fn outputs(&mut self, id: &str, keys: &mut Keys<'_>) -> Vec<Output> {
        let line = keys.line("outputs");
        let mut outputs: Vec<Output> = Vec::new();
        let found: Vec<Output> = match keys.value("outputs") {
            None => Vec::new(),
            Some(Value::String(name)) => {
                name.split(',').map(|name| Output { name: name.trim().to_owned(), ..Output::default() }).collect()
            }
            Some(Value::Object(map)) => map
                .iter()
                .map(|(name, value)| {
                    let description = one_line(&super::value::text(value));
                    Output { name: name.clone(), description, ..Output::default() }
                })
                .collect(),
            Some(Value::Array(entries)) => entries.iter().filter_map(|entry| self.output(id, entry, line)).collect(),
            Some(_) => {
                self.error(line, format!("outputs: of step {id:?} is not a list"), "write outputs: [findings]");
                Vec::new()
            }
        };
        for output in found {
            if !is_identifier(&output.name) || output.name == super::definition::RESULT {
                let what = format!("{:?} is not a valid output name in step {id:?}", output.name);
                self.error(line, what, format!("{NAME_RULE}; every step already has the output result"));
            } else if outputs.iter().any(|known| known.name == output.name) {
                let what = format!("step {id:?} declares the output {:?} twice", output.name);
                self.error(line, what, "remove one of them");
            } else {
                outputs.push(output);
            }
        }
        outputs
    }

    fn output(&mut self, id: &str, entry: &Value, line: Option<usize>) -> Option<Output> {
        match entry {
            Value::String(name) => Some(Output { name: name.trim().to_owned(), ..Output::default() }),
            Value::Object(map) => {
                let mut inner = Keys::new(map, BTreeMap::new());
                let kind = match inner.text("kind").as_deref() {
                    None | Some("text") => OutputKind::Text,
                    Some("list") => OutputKind::List,
                    Some("yes or no" | "yes_no" | "bool" | "boolean") => OutputKind::YesNo,
                    Some(other) => {
                        let what = format!("unknown kind {other:?} for an output of step {id:?}");
                        self.error(line, what, "write kind: text, kind: list or kind: yes or no");
                        OutputKind::Text
                    }
                };
                let output = Output {
                    name: inner.text("name").map(|name| name.trim().to_owned()).unwrap_or_default(),
                    description: inner.text("description").map(|text| one_line(&text)).unwrap_or_default(),
                    file: inner.text("file").map(|file| Template::parse(file.trim())),
                    kind,
                    from: None,
                };
                let (_, problems) = inner.rest(self.path, OUTPUT_KEYS, "output");
                self.problems.extend(problems.into_iter().map(|problem| problem.at_line(line)));
                Some(output)
            }
            other => {
                let what = format!("{other} is not a valid output name in step {id:?}");
                self.error(line, what, format!("{NAME_RULE}: outputs: [findings]"));
                None
            }
        }
    }

    fn condition(&mut self, id: &str, key: &str, keys: &mut Keys<'_>) -> Option<Condition> {
        let given = keys.braced(key)?;
        match Condition::parse(&given) {
            Ok(condition) => Some(condition),
            Err(why) => {
                let what = format!("invalid {key}: in step {id:?}: {why}");
                self.error(keys.line(key), what, "write it as \"{review.approved}\" or \"{count.words} > 200\"");
                None
            }
        }
    }

    fn for_each(&mut self, id: &str, keys: &mut Keys<'_>) -> Option<ForEach> {
        let line = keys.line("for_each");
        let given = keys.braced("for_each")?;
        let (list, at_most) = bounded(&given);
        let list = Template::parse(list.trim());
        let is_one = list.tokens().count() == 1 && list.to_string() == list.tokens().next()?.to_string();
        match at_most {
            Err(why) => {
                self.error(line, format!("for_each: of step {id:?}: {why}"), "write \"{plan.topics} at most 10\"")
            }
            Ok(at_most) if is_one => return Some(ForEach { list, at_most }),
            Ok(_) => {
                let what = format!("for_each: of step {id:?} has no list");
                self.error(line, what, "use an output of a step: \"{plan.topics}\"");
            }
        }
        None
    }

    fn repeat(&mut self, id: &str, keys: &mut Keys<'_>) -> Option<Repeat> {
        let line = keys.line("repeat_until");
        let given = keys.braced("repeat_until")?;
        let remedy = "write it as \"{review.approved} at most 3\"";
        let (until, at_most) = bounded(&given);
        let at_most = match at_most {
            Ok(Some(at_most)) => at_most,
            Ok(None) => {
                self.error(line, format!("repeat_until: of step {id:?} has no limit"), remedy);
                return None;
            }
            Err(why) => {
                self.error(line, format!("repeat_until: of step {id:?}: {why}"), remedy);
                return None;
            }
        };
        match Condition::parse(until) {
            Ok(until) => Some(Repeat { until, at_most }),
            Err(why) => {
                self.error(line, format!("invalid repeat_until: in step {id:?}: {why}"), remedy);
                None
            }
        }
    }

    fn number(&mut self, id: &str, key: &str, most: u32, keys: &mut Keys<'_>) -> Option<u32> {
        let value = keys.value(key)?;
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number <= most);
        if number.is_none() {
            let what = format!("{key}: of step {id:?} is not a number from 0 to {most}");
            self.error(keys.line(key), what, format!("write a number, such as {key}: 2"));
        }
        number
    }
}

/// Splits off `at most N`; returns the text before it, and N.
fn bounded(given: &str) -> (&str, Result<Option<u32>, String>) {
    let Some(at) = given.rfind("at most") else { return (given, Ok(None)) };
    let number = given[at + "at most".len()..].trim();
    let most = number.parse::<u32>().ok().filter(|most| (1..=MAX_ROUNDS).contains(most));
    let most = most.map(Some).ok_or_else(|| format!("{number:?} is not a number from 1 to {MAX_ROUNDS}"));
    (given[..at].trim(), most)
}

fn trigger(word: &str) -> Result<Trigger, String> {
    let word = word.trim();
    let lower = word.to_lowercase();
    if let Some(time) = lower.strip_prefix("every ") {
        let time = humantime::parse_duration(time.trim()).map_err(|error| format!("{time:?}: {error}"))?;
        return match time.as_secs() {
            0 => Err("it would run all the time; the minimum is one second".to_owned()),
            secs => Ok(Trigger::Every { secs }),
        };
    }
    if lower.starts_with("on change of ") {
        let glob = word["on change of ".len()..].trim();
        return match globs::plain(glob) {
            Ok(_) => Ok(Trigger::Change { glob: glob.to_owned() }),
            Err(error) => Err(format!("{glob:?}: {error}")),
        };
    }
    match lower.as_str() {
        "manual" | "" => Ok(Trigger::Manual),
        "auto" => Ok(Trigger::Auto),
        _ => Err(format!("{word:?}")),
    }
}

fn title(stem: &str) -> String {
    let words = stem.replace(['-', '_'], " ");
    if words.is_empty() { "Workflow".to_owned() } else { capitalised(&words) }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
