//! Reads an agent from a Markdown file: optional front matter, and the body as its instructions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};

use serde_json::{Map, Value};

use super::agent_file::{
    AgentFile, AgentFormat, USED_AS_INSTRUCTIONS, claim_id, id_at_top, id_of_name, id_of_path, place_of_agent, stem,
    title,
};
use super::front_matter::{self, FrontMatterError};
use super::keys::{KEYS, Keys, LIMITING_KEYS, MIN_SAFETY_MODE, our_spelling};
use super::lenient_front_matter::{self, Entry};
use super::limits::{self, KeyMeaning, Limit};
use super::misplaced_front_matter;
use super::profile::{AgentProfile, KeyLines};
use crate::base::{Problem, Severity, text};
use crate::source::first_heading;

/// The format of `agents/**/*.md`; see [`place_of_agent`] for exceptions.
pub static FORMAT: AgentFormat = AgentFormat {
    matches: |path| {
        let ending = place_of_agent(path).and_then(|(_, name)| name.rsplit_once('.')).map(|(_, ending)| ending);
        ending.is_some_and(|ending| ["md", "markdown"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
    },
    read,
};

/// Parses the file; see [`AgentFile`]. Front matter that is not valid YAML is read line by line; if that fails as well,
/// the whole text becomes the instructions of an agent with the least privileges.
pub fn read(path: &str, text: &str) -> AgentFile {
    let text = front_matter::normalise(text);
    let error = match front_matter::split(&text) {
        Ok(front) => {
            let entry = |(key, value): (&String, &Value)| Entry {
                key: key.clone(),
                value: value.clone(),
                is_bare: false,
                line: front.line_of(key),
            };
            let entries: Vec<Entry> = front.keys.iter().map(entry).collect();
            let mut file = read_entries(path, &text, &entries, (front.body, None));
            if entries.is_empty() {
                apply_misplaced_limits(path, &text, front.body, &mut file);
            }
            return file;
        }
        Err(error) => error,
    };
    match lenient_front_matter::split(&text, &|key| KEYS.contains(&our_spelling(key).as_str())) {
        Some((entries, body)) => read_entries(path, &text, &entries, (body, Some(&error))),
        None => malformed(path, &text, &error, MALFORMED_REMEDY),
    }
}

/// Applies the limits of keys that were meant as front matter, to a file without front matter.
fn apply_misplaced_limits(path: &str, text: &str, body: &str, file: &mut AgentFile) {
    let Some(misplaced) = misplaced_front_matter::find(body) else { return };
    let lines_above = text[..text.len() - body.len()].matches('\n').count();
    file.problems.push(misplaced.problem(path, lines_above));
    file.profile.share_workspace_info &= !misplaced.limits.contains(&Limit::NotTheBoards);
    file.profile.limits.extend(misplaced.limits);
}

/// The information about an agent's identity in a file, for telling agent files from other texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IdentityHints {
    /// Whether it has front matter with a key.
    pub has_keys: bool,
    /// Whether there is a name.
    pub has_name: bool,
    /// Whether there is a description.
    pub has_description: bool,
}

/// Reads the information about the agent's identity in a file.
pub fn identity_hints(text: &str) -> IdentityHints {
    let text = front_matter::normalise(text);
    let entries: Vec<(String, bool)> = match front_matter::split(&text) {
        Ok(front) => front.keys.iter().map(|(key, value)| (our_spelling(key), value.is_null())).collect(),
        Err(_) => {
            let loose = lenient_front_matter::split(&text, &|key| KEYS.contains(&our_spelling(key).as_str()));
            let entries = loose.map(|(entries, _)| entries).unwrap_or_default();
            entries.iter().map(|entry| (our_spelling(&entry.key), entry.value.is_null())).collect()
        }
    };
    let has = |key: &str| entries.iter().any(|(known, is_empty)| known == key && !is_empty);
    IdentityHints { has_keys: !entries.is_empty(), has_name: has("name"), has_description: has("description") }
}

const MALFORMED_REMEDY: &str = "fix the lines between the two ---";

/// The result for a file that cannot be parsed: its whole text as the instructions of an agent that may do nothing.
pub(super) fn malformed(path: &str, text: &str, error: &FrontMatterError, remedy: &str) -> AgentFile {
    let (id, reserved) = claim_id(path, id_of_path(path));
    let profile = AgentProfile {
        id,
        name: name_of_path(path),
        instructions: text.to_owned(),
        tools: Some(Vec::new()),
        mcp_servers: Some(Vec::new()),
        share_workspace_info: false,
        share_user_info: false,
        safety_mode: Some(MIN_SAFETY_MODE.to_owned()),
        reads: Some(Vec::new()),
        writes: Some(Vec::new()),
        ..AgentProfile::default()
    };
    let remedy = format!("{remedy}; {USED_AS_INSTRUCTIONS}");
    let mut problems = vec![Problem::error(path, error.what.clone(), remedy).at_line(error.line)];
    let reserved_id = reserved.map(|(id, problem)| {
        problems.push(problem);
        id
    });
    AgentFile { profile, has_explicit_id: false, reserved_id, malformed: true, problems }
}

pub(super) fn name_of_path(path: &str) -> String {
    let name = title(stem(path));
    if name.is_empty() { "Agent".to_owned() } else { name }
}

/// Reads the keys; `broken` says why they had to be read line by line.
pub(super) fn read_entries(
    path: &str,
    text: &str,
    entries: &[Entry],
    (body, broken): (&str, Option<&FrontMatterError>),
) -> AgentFile {
    let mut problems = Vec::new();
    if let Some(error) = broken {
        let remedy = format!("it is read line by line instead; {}", remedy_for_bare(entries));
        problems.push(Problem::warning(path, error.what.clone(), remedy).at_line(error.line));
    }
    let mut known: BTreeMap<String, &Entry> = BTreeMap::new();
    let mut extra = Map::new();
    let mut limits = Vec::new();
    let mut lines = KeyLines::default();
    for entry in entries {
        let ours = our_spelling(&entry.key);
        if !KEYS.contains(&ours.as_str()) {
            let of_other = other_key(path, entry, &mut limits);
            // When reading line by line, something that looks like a key may just be a line of text.
            problems.extend(of_other.filter(|problem| broken.is_none() || problem.severity == Severity::Error));
            extra.entry(entry.key.clone()).or_insert_with(|| entry.value.clone());
            continue;
        }
        match known.entry(ours) {
            Occupied(place) => problems.push(twice(path, entry, place.key(), &mut limits)),
            Vacant(place) => {
                lines.0.extend(entry.line.map(|line| (place.key().clone(), line)));
                place.insert(entry);
            }
        }
    }
    let mut keys = Keys { path, text, known, limits, problems };
    let explicit_id = keys.text("id").map(|id| id_of_name(&id)).filter(|id| !id.is_empty());
    let has_explicit_id = explicit_id.is_some();
    let name = keys.text("name").map(|name| text::one_line(&name)).filter(|name| !name.is_empty());
    let heading = || first_heading(body).map(|heading| text::one_line(&heading));
    let name = name.or_else(heading).unwrap_or_else(|| name_of_path(path));
    let id_by_itself = || id_at_top(path, &name).unwrap_or_else(|| id_of_path(path));
    let (id, reserved) = claim_id(path, explicit_id.unwrap_or_else(id_by_itself));
    let reserved_id = reserved.map(|(id, problem)| {
        let line = keys.line("id");
        keys.problems.push(problem.at_line(line));
        id
    });
    let profile = AgentProfile {
        id,
        name,
        description: keys.text("description").map(|text| text::one_line(&text)).unwrap_or_default(),
        instructions: body.trim_end().to_owned(),
        role: keys.text("agent_type").map(|role| id_of_name(&role)).filter(|role| !role.is_empty()),
        model: keys.text("model").map(|model| model.trim().to_owned()).filter(|model| !leaves_model_open(model)),
        tools: keys.tools(),
        mcp_servers: keys.servers(),
        skills: keys.list("skills").unwrap_or_default(),
        share_workspace_info: keys.flag("share_workspace_info").unwrap_or(true),
        share_user_info: keys.flag("share_user_info").unwrap_or(false),
        behaviour: keys.behaviour(),
        avatar: keys.text("avatar"),
        safety_mode: keys.safety_mode(),
        reads: keys.list("reads"),
        writes: keys.list("writes"),
        has_worktree: keys.worktree(),
        limits: Vec::new(),
        own_tools: Vec::new(),
        lines,
        extra,
    };
    let share_workspace_info = profile.share_workspace_info && !keys.limits.contains(&Limit::NotTheBoards);
    let profile = AgentProfile { share_workspace_info, limits: keys.limits, ..profile };
    let mut problems = keys.problems;
    problems.sort_by_key(|problem| problem.line);
    AgentFile { profile, has_explicit_id, reserved_id, malformed: false, problems }
}

/// What to do about values that YAML cannot read.
fn remedy_for_bare(entries: &[Entry]) -> String {
    let mut bare = entries.iter().filter(|entry| entry.is_bare);
    let has_colon = |entry: &&Entry| entry.value.as_str().is_some_and(|text| text.contains(": "));
    match bare.clone().find(has_colon).or_else(|| bare.next()) {
        Some(entry) if has_colon(&entry) => {
            format!("put the value of {}, which contains a colon, in quotes", entry.key)
        }
        Some(entry) => format!("put the value of {} in quotes", entry.key),
        None => "indent the lines that belong to a key, and write each key once".to_owned(),
    }
}

/// The problem of a known key that occurs twice: restrictions count both times, the rest is ignored.
fn twice(path: &str, entry: &Entry, ours: &str, limits: &mut Vec<Limit>) -> Problem {
    let key = &entry.key;
    let remedy = if LIMITING_KEYS.contains(&ours) || ours == "share_workspace_info" {
        limits.extend(limits::of_own(ours, &entry.value));
        format!("remove {key:?} or the other one; until then both limit the agent")
    } else {
        format!("remove {key:?}; it is ignored")
    };
    Problem::warning(path, format!("the key {ours:?} appears twice"), remedy).at_line(entry.line)
}

/// Whether `model:` has a value that leaves the choice open, as in files of other products.
pub fn leaves_model_open(model: &str) -> bool {
    matches!(model.to_lowercase().as_str(), "" | "inherit" | "default")
}

/// Adds the limits of an unknown key, and returns its problem.
fn other_key(path: &str, entry: &Entry, limits: &mut Vec<Limit>) -> Option<Problem> {
    let key = &entry.key;
    let problem = match limits::meaning(key, &entry.value) {
        KeyMeaning::NoLimit => return unknown_key(path, entry),
        KeyMeaning::Limits(found) => {
            limits.extend(found);
            return None;
        }
        KeyMeaning::Mistyped(meant, found) => {
            limits.extend(found);
            let what = format!("unknown key {key:?}; it is treated as {meant:?} if that limits the agent");
            Problem::warning(path, what, format!("write {meant:?}, or remove it"))
        }
        KeyMeaning::Unclear => {
            limits.push(Limit::Nothing);
            let what =
                format!("the key {key:?} looks like a limit but is unknown; until then the agent may do nothing");
            Problem::error(path, what, "use tools, reads, writes and safety_mode instead, or remove it")
        }
    };
    Some(problem.at_line(entry.line))
}

/// Keys of other programs that look like mistyped ones of ours.
const KEYS_ELSEWHERE: &[&str] =
    &["category", "display_name", "mode", "modes", "role", "tags", "title", "topics", "type", "types"];

/// A warning if an unknown key looks like a mistyped one; other keys belong to other programs.
fn unknown_key(path: &str, entry: &Entry) -> Option<Problem> {
    let spelling = our_spelling(&entry.key);
    let meant = text::nearest(&spelling, KEYS.iter().copied()).filter(|_| !KEYS_ELSEWHERE.contains(&&*spelling))?;
    let problem = Problem::warning(path, format!("unknown key {:?}", entry.key), format!("did you mean {meant:?}?"));
    Some(problem.at_line(entry.line))
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
