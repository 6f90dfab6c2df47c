//! Reads an agent from a YAML file: `agents/*.agent.yaml` and `templates/*.agent.yaml`, with the keys that such files
//! have in other programs (`agent_id`, `agent_type`, `system_prompt`, `capabilities`, `metadata`).

use serde_json::{Map, Value};

use super::agent_file::{AgentFile, AgentFormat, place_below};
use super::front_matter::{FrontMatter, FrontMatterError, normalise};
use super::keys::{KEYS, our_spelling};
use super::lenient_front_matter::Entry;
use super::markdown::{malformed, read_entries};
use crate::base::Problem;
use crate::workspace::layout::is_agent_at_top;
use crate::workspace::protected_paths::AGENT_ENDINGS;
use crate::workspace::yaml;

/// The format of `agents/**/*.agent.yaml` and `templates/**/*.agent.yaml`, ignoring case, also as `.yml`.
pub static FORMAT: AgentFormat = AgentFormat { matches: is_agent_file, read };

const REMEDY: &str = "fix it";

/// Other names of our keys, in files of this kind.
const ALIASES: [(&str, &str); 4] =
    [("agent_id", "id"), ("type", "agent_type"), ("capabilities", "tools"), ("instructions", PROMPT)];

/// The key of the instructions.
const PROMPT: &str = "system_prompt";

fn is_agent_file(path: &str) -> bool {
    let at_top = || is_agent_at_top(path).then_some(path);
    let below = path.strip_prefix("agents/").or_else(|| path.strip_prefix("templates/")).or_else(at_top);
    let name = below.and_then(place_below).map(|(_, name)| name.to_ascii_lowercase()).unwrap_or_default();
    AGENT_ENDINGS.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| !stem.is_empty()))
}

/// Parses the file; see [`AgentFile`]. A file that is not a mapping becomes the instructions of an agent with the least
/// privileges.
pub fn read(path: &str, text: &str) -> AgentFile {
    let text = normalise(text);
    let keys = match yaml::parse(&text) {
        Ok(Value::Object(keys)) => keys,
        Ok(_) => {
            let what = "the file is not a mapping of keys such as agent_id: planner-001".to_owned();
            return malformed(path, &text, &FrontMatterError { what, line: Some(1) }, REMEDY);
        }
        Err(error) => {
            let what = format!("the file is not valid YAML: {}", error.what);
            return malformed(path, &text, &FrontMatterError { what, line: error.line }, REMEDY);
        }
    };
    // Lines are counted as in front matter, which has one more line above it.
    let lines = FrontMatter { yaml: &text, ..FrontMatter::default() };
    let line = |key: &str| lines.line_of(key).map(|line| line - 1);
    let (mut entries, mut prompts) = (Vec::new(), Vec::new());
    for (key, value) in &keys {
        let ours = our_name(key);
        let entry = Entry { key: key.clone(), value: value.clone(), is_bare: false, line: line(key) };
        match ours.as_str() {
            PROMPT => prompts.push(entry),
            _ if KEYS.contains(&ours.as_str()) => entries.push(Entry { key: ours, ..entry }),
            _ => entries.push(entry),
        }
    }
    entries.extend(of_metadata(&keys, &entries, line("metadata")));
    let (instructions, problems) = instructions(path, &prompts);
    let mut file = read_entries(path, &text, &entries, (&instructions, None));
    file.problems.extend(problems);
    file.problems.sort_by_key(|problem| problem.line);
    file
}

fn our_name(key: &str) -> String {
    let spelling = our_spelling(key);
    ALIASES.iter().find(|(alias, _)| *alias == spelling).map_or(spelling, |(_, ours)| (*ours).to_owned())
}

/// The name and the description under `metadata`, if the file has none itself.
fn of_metadata(keys: &Map<String, Value>, entries: &[Entry], line: Option<usize>) -> Vec<Entry> {
    let metadata = keys.get("metadata").and_then(Value::as_object);
    let is_given = |name: &str| entries.iter().any(|entry| entry.key == name);
    let found = ["name", "description"].into_iter().filter(|name| !is_given(name));
    found
        .filter_map(|name| {
            let value = metadata?.get(name).filter(|value| value.is_string())?.clone();
            Some(Entry { key: name.to_owned(), value, is_bare: false, line })
        })
        .collect()
}

/// The agent's instructions, and the problems with how they are written.
fn instructions(path: &str, prompts: &[Entry]) -> (String, Vec<Problem>) {
    let mut problems = Vec::new();
    let Some(first) = prompts.first() else {
        let remedy = "write system_prompt: | and its instructions below, indented";
        problems.push(Problem::warning(path, "the file has no system_prompt; the agent has no instructions", remedy));
        return (String::new(), problems);
    };
    for more in &prompts[1..] {
        let what = format!("the instructions appear twice, under {:?} and {:?}", first.key, more.key);
        problems.push(Problem::warning(path, what, format!("remove {:?}; it is ignored", more.key)).at_line(more.line));
    }
    let text = first.value.as_str().map(|text| text.trim_start_matches('\n').to_owned());
    if text.is_none() {
        let what = format!("the key {:?} must be text; the agent has no instructions", first.key);
        problems.push(Problem::warning(path, what, "write text after it").at_line(first.line));
    }
    (text.unwrap_or_default(), problems)
}

#[cfg(test)]
#[path = "yaml_file_tests.rs"]
mod tests;
