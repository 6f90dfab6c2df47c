//! The file formats that define agents: the list that a new format adds one line to.

use super::markdown;
use super::profile::AgentProfile;
use crate::base::{Id, Problem, free_id, is_reserved, text};

/// One format of agent files.
pub struct AgentFormat {
    /// Whether a file belongs to it, by its path in the workspace.
    pub matches: fn(path: &str) -> bool,
    /// Reads a file. A file is never an error, only a profile with problems.
    pub read: fn(path: &str, text: &str) -> AgentFile,
}

/// What a file says.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentFile {
    /// The agent as defined; the least that can be made of an unusable file.
    pub profile: AgentProfile,
    /// Whether the file names its id itself, so that the id survives a renaming.
    pub has_explicit_id: bool,
    /// The id that the file asks for and does not get, because it stands for something else.
    pub reserved_id: Option<Id>,
    /// Whether the file could not be used as what it is meant to be.
    pub malformed: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Every format.
pub static FORMATS: &[&AgentFormat] = &[&markdown::FORMAT];

/// The format of the file at this path, if it defines an agent at all.
pub fn format_of(path: &str) -> Option<&'static AgentFormat> {
    FORMATS.iter().copied().find(|format| (format.matches)(path))
}

/// The last part of a path without its ending: `ada` for `agents/ada.md`.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

/// A stem as a name: `data-analyst` becomes `Data Analyst`.
pub fn title(stem: &str) -> String {
    let words = stem.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words
        .map(|word| {
            let mut characters = word.chars();
            characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
        })
        .collect();
    words.join(" ")
}

/// The id that a path stands for where the file gives none; never empty.
pub fn id_of_path(path: &str) -> String {
    let id = text::slug(stem(path));
    if id.is_empty() { "agent".to_owned() } else { id }
}

/// The id that a file's agent goes by, with the one that it cannot have, if that is another, and what is wrong then.
pub fn claim_id(path: &str, wanted: String) -> (Id, Option<(Id, Problem)>) {
    let wanted: Id = wanted.into();
    let id = free_id(wanted.clone());
    let reserved = is_reserved(&wanted).then(|| {
        let what = format!("the id {wanted:?} stands for something else in the room; this agent goes by {id:?}");
        let problem = Problem::error(path, what, "give it another id in its front matter, or the file another name");
        (wanted, problem)
    });
    (id, reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_agent_files_have_a_format() {
        assert!(format_of("agents/ada.md").is_some());
        assert!(format_of("agents/ada/skills/cook/SKILL.md").is_none());
        assert!(format_of("boards/rules.md").is_none());
        assert!(format_of("agents/.md").is_none());
    }

    #[test]
    fn stems_become_ids_and_names() {
        assert_eq!(id_of_path("agents/Data Analyst.md"), "data-analyst");
        assert_eq!(id_of_path("agents/***.md"), "agent");
        assert_eq!(title(stem("agents/data-analyst.md")), "Data Analyst");
    }
}
