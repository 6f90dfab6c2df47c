//! The content of a file that defines an agent, and the properties derived from a path: whether the file defines an
//! agent, and its default id and name.

use super::profile::AgentProfile;
use crate::base::{Id, Problem, free_id, is_reserved, paths, text};
use crate::workspace::layout::{HEARTBEAT_FILE, is_agent_at_top};

/// One format of agent files.
pub struct AgentFormat {
    /// Whether a file has this format, by its path in the workspace.
    pub matches: fn(path: &str) -> bool,
    /// Parses a file. The result is never an error, only a profile with problems.
    pub read: fn(path: &str, text: &str) -> AgentFile,
}

/// The parsed content of an agent file.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentFile {
    /// The profile; a minimal one if the file cannot be used.
    pub profile: AgentProfile,
    /// Whether the file states its id, so that the id survives renaming the file.
    pub has_explicit_id: bool,
    /// The id that the file requests but cannot have, because it is reserved.
    pub reserved_id: Option<Id>,
    /// Whether the file could not be parsed as intended.
    pub malformed: bool,
    /// The problems of the file.
    pub problems: Vec<Problem>,
}

/// How a malformed file is used if there is no earlier version of it; the end of the remedies of its problems.
pub(super) const USED_AS_INSTRUCTIONS: &str = "until then the whole file is used as instructions, without tools";
/// How it is used otherwise.
const LAST_GOOD_USED: &str = "until then the last good version stays in use";

/// Returns the problems of a malformed file whose last good version stays in use.
pub(super) fn problems_beside_last_good(mut problems: Vec<Problem>) -> Vec<Problem> {
    for problem in &mut problems {
        problem.remedy = problem.remedy.replace(USED_AS_INSTRUCTIONS, LAST_GOOD_USED);
    }
    problems
}

/// The usual names of files that only describe a collection; such a file is not an agent.
const DOCUMENTS: &[&str] =
    &["readme", "changelog", "changes", "contributing", "contributors", "license", "licence", "code_of_conduct"];

/// Names of such files only if in capitals: in lower case they may be an agent's name.
const DOCUMENTS_IN_CAPITALS: &[&str] = &[
    "AGENT",
    "AGENTS",
    "AGENT_TEMPLATE",
    "ARCHITECTURE",
    "AUTHORS",
    "CLAUDE",
    "CODEX",
    "COPYING",
    "GEMINI",
    "INDEX",
    "INSTALL",
    "INSTRUCTIONS",
    "MEMORY",
    "NOTICE",
    "QUICKSTART",
    "ROADMAP",
    "SECURITY",
    "SKILL",
    "SUPPORT",
    "TEMPLATE",
    "TODO",
    "USAGE",
];

/// Folders whose files belong to something else: the skills, commands and records of agents.
const OTHER_FOLDERS: &[&str] =
    &["commands", "hooks", "logs", "modules", "references", "scripts", "sessions", "skills", "state"];

/// The name of the document of an agent that is a folder; the folder's name is the agent's.
pub const DOCUMENT_OF_FOLDER: &str = "agent.mdx";

/// Whether a file with this stem only describes others, such as `README` or `LICENSE`.
pub fn is_document(stem: &str) -> bool {
    let folded = stem.to_lowercase().replace('-', "_");
    let is_it = |name: &str| folded.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    DOCUMENTS_IN_CAPITALS.contains(&stem) || DOCUMENTS.iter().any(|name| is_it(name))
}

/// The folders and the name of a file that may define an agent, by its path: it is in `agents/` at any depth, and
/// neither it nor a folder above it is something else; or it makes the workspace's own folder an agent.
pub fn place_of_agent(path: &str) -> Option<(&str, &str)> {
    if is_agent_at_top(path) {
        return Some(("", path));
    }
    place_below(path.strip_prefix("agents/")?)
}

/// The folders and the name of such a file, by its path relative to the folder of the agents or a similar one.
pub(super) fn place_below(below: &str) -> Option<(&str, &str)> {
    let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
    let is_odd = |part: &str| part.is_empty() || part.starts_with('.') || OTHER_FOLDERS.contains(&part);
    let is_elsewhere =
        below.contains('/') && (folders.split('/').any(is_odd) || name.eq_ignore_ascii_case(HEARTBEAT_FILE));
    (!is_elsewhere && !name.starts_with('.') && !is_document(stem(name))).then_some((folders, name))
}

/// The name of a file without its extension: `ada` for `agents/ada.md`, `powershell-5.1` for `powershell-5.1.md`. For
/// an agent that is a folder, the folder's name: `ada` for `agents/ada/agent.mdx`.
pub fn stem(path: &str) -> &str {
    if let Some(folder) = folder_of_agent(path).filter(|folder| !folder.is_empty()) {
        return paths::file_name(folder);
    }
    let name = paths::file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = [".agent", ".task", ".session"].iter().find_map(|kind| stem.strip_suffix(kind)).unwrap_or(stem);
    if stem.is_empty() { name } else { stem }
}

/// The folder that is an agent, by the path of its document: `agents/ada` for `agents/ada/agent.mdx`, and the empty
/// path, which is the workspace itself, for `agent.mdx` and for a document there that a person named.
pub fn folder_of_agent(path: &str) -> Option<&str> {
    let Some((folder, name)) = path.rsplit_once('/') else {
        let is_document = path.to_ascii_lowercase().ends_with(".mdx") && is_agent_at_top(path);
        return is_document.then_some("");
    };
    (name.eq_ignore_ascii_case(DOCUMENT_OF_FOLDER) && folder != "agents").then_some(folder)
}

/// Converts a stem to a name: `data-analyst` becomes `Data Analyst`.
pub fn title(stem: &str) -> String {
    let words = stem.split(|character: char| !character.is_alphanumeric() && character != '.');
    let words = words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    words.map(text::capitalised).collect::<Vec<_>>().join(" ")
}

/// The id derived from a path if the file gives none; never empty.
pub fn id_of_path(path: &str) -> String {
    let id = id_of_name(stem(path));
    if id.is_empty() { "agent".to_owned() } else { id }
}

/// The id of an agent that is the workspace's own folder, if its file has none: derived from the agent's name, because
/// the file's name is the same for all agents.
pub(super) fn id_at_top(path: &str, name: &str) -> Option<String> {
    let is_nameless = is_agent_at_top(path) && stem(path) == "agent";
    is_nameless.then(|| id_of_name(name)).filter(|id| !id.is_empty())
}

/// The fallback ids of a file whose path-derived id is taken, best first: `team-two` for `agents/team/two.md`, then
/// `all-team-two`.
pub fn longer_ids_of_path(path: &str) -> Vec<String> {
    let path_of_agent = folder_of_agent(path).unwrap_or(path);
    let below = path_of_agent.strip_prefix("agents/").or_else(|| path_of_agent.strip_prefix("templates/"));
    let folders = below.and_then(|below| below.rsplit_once('/')).map_or("", |(folders, _)| folders);
    let mut ids: Vec<String> = Vec::new();
    for folder in folders.rsplit('/').map(id_of_name).filter(|folder| !folder.is_empty()) {
        let shorter = ids.last().cloned().unwrap_or_else(|| id_of_path(path));
        ids.push(format!("{folder}-{shorter}"));
    }
    ids
}

/// Converts a name to an id: lower case letters and digits with single dashes between them, and with dots within
/// numbers.
pub fn id_of_name(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let is_inner_dot = |at: usize| {
        characters[at] == '.'
            && at > 0
            && characters[at - 1].is_ascii_digit()
            && characters.get(at + 1).is_some_and(char::is_ascii_digit)
    };
    let mut parts = vec![String::new()];
    for (at, character) in characters.iter().enumerate() {
        match is_inner_dot(at) {
            true => parts.push(String::new()),
            false => parts.last_mut().expect("there is always one").push(*character),
        }
    }
    parts.iter().map(|part| text::slug(part)).collect::<Vec<_>>().join(".")
}

/// The id of a file's agent, and the requested id with its problem if it cannot be used.
pub fn claim_id(path: &str, wanted: String) -> (Id, Option<(Id, Problem)>) {
    let wanted: Id = wanted.into();
    let id = free_id(wanted.clone());
    let reserved = is_reserved(&wanted).then(|| {
        let what = format!("the id {wanted:?} is already used in the room; this agent is now {id:?}");
        let problem = Problem::error(path, what, "give it another id in its front matter, or rename the file");
        (wanted, problem)
    });
    (id, reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_dots_and_folders_lengthen_ids() {
        assert_eq!(id_of_path("agents/powershell-5.1-expert.md"), "powershell-5.1-expert");
        assert_eq!(id_of_path("agents/dotnet.framework.4.8.md"), "dotnet-framework-4.8");
        assert_eq!(title(stem("agents/powershell-5.1-expert.md")), "Powershell 5.1 Expert");
        assert_eq!(id_of_path("agents/ada.agent.yaml"), "ada");
        assert_eq!(longer_ids_of_path("agents/all/My Team/two.md"), ["my-team-two", "all-my-team-two"]);
        assert_eq!(longer_ids_of_path("agents/two.md"), [] as [&str; 0]);
        assert_eq!(longer_ids_of_path("agents/team/two/agent.mdx"), ["team-two"]);
    }

    #[test]
    fn stems_become_ids_and_names() {
        assert_eq!(id_of_path("agents/Data Analyst.md"), "data-analyst");
        assert_eq!(id_of_path("agents/***.md"), "agent");
        assert_eq!(id_of_path("agents/team/ada/agent.mdx"), "ada");
        assert_eq!(id_of_path("agents/ada.mdx"), "ada");
        assert_eq!((id_of_path("agent.mdx"), folder_of_agent("agent.mdx")), ("agent".to_owned(), Some("")));
        assert_eq!(id_at_top("agent.mdx", "Weather Man").as_deref(), Some("weather-man"));
        assert_eq!(id_at_top("agents/ada/agent.mdx", "Weather Man"), None);
        assert_eq!(title(stem("agents/data-analyst.md")), "Data Analyst");
    }
}
