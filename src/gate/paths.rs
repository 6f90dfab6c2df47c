//! Paths as the gate judges them: cleaned, with every spelling that some disk takes for the same file folded
//! together, and the places in a workspace that are more than ordinary files.

use super::policy::Verdict;
use crate::agent::formats::{AgentFormat, format_of};

/// A path relative to the workspace with one `/` between its parts; nothing where it leads outside or holds
/// control characters.
pub fn clean(path: &str) -> Option<String> {
    if path.contains(char::is_control) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// A path as a disk that is careless about case, blanks, dots and invisible characters may take it. Only for
/// judging: two paths with the same fold may be one file.
pub fn fold(path: &str) -> String {
    let letters = fold_letters(path);
    let cleaned = clean(&letters).unwrap_or(letters);
    let parts: Vec<&str> = cleaned.split('/').map(|part| part.trim_start().trim_end_matches([' ', '.'])).collect();
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// The same text in lower case, without characters that are not seen.
pub fn fold_letters(text: &str) -> String {
    // Upper case first: only so does the long s become an s, and the sign for kelvin a k.
    text.chars().filter(|c| !is_unseen(*c)).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Characters that some disks leave out when they compare names.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The spelling under which a path defines an agent, with the format that reads it there.
pub fn profile_place(path: &str) -> Option<(String, &'static AgentFormat)> {
    let cleaned = clean(path)?;
    if let Some(format) = format_of(&cleaned) {
        return Some((cleaned, format));
    }
    let folded = fold(path);
    format_of(&folded).map(|format| (folded, format))
}

/// What is said of changing a file because of where it lies, and why; nothing for ordinary files and for files
/// that define agents, which are judged by what they say.
pub fn guard(path: &str) -> Option<(Verdict, &'static str)> {
    let folded = fold(path);
    let parts: Vec<&str> = folded.split('/').collect();
    // A dot at the front survives the fold only where something follows it.
    if parts.iter().any(|part| part.starts_with('.')) {
        return Some((Verdict::Deny, "files that begin with a dot are the program's own"));
    }
    match parts.as_slice() {
        ["tasks", "approvals.task.md"] => Some((Verdict::Deny, "only a person answers approvals")),
        ["settings.yaml" | "settings.yml"] => Some((Verdict::Deny, "only a person changes the settings")),
        ["scenes", ..] => Some((Verdict::Ask, "a scene says which agents there are and carries settings")),
        ["storage", ..] => Some((Verdict::Deny, "only a person changes what the program goes by")),
        ["sessions", ..] => Some((Verdict::Deny, "the program alone writes sessions")),
        ["agents", ..] if profile_place(path).is_none() => {
            Some((Verdict::Ask, "this folder holds what agents are and are taught"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_or_refused() {
        assert_eq!(clean("./a//b/../c.md").as_deref(), Some("a/c.md"));
        assert_eq!(clean("a\\b").as_deref(), Some("a/b"));
        for path in ["..", "a/../..", "", "/", ".", "a\0b", "a\nb"] {
            assert_eq!(clean(path), None, "{path:?}");
        }
    }

    #[test]
    fn every_spelling_of_an_agent_file_is_one() {
        for path in [
            "agents/ada.md",
            "Agents/Ada.MD",
            "./agents/./ada.md",
            "artifacts/../agents/ada.md",
            "agents\\ada.md",
            "/agents/ada.md",
            "agents/ada.md.",
            "agents /ada.md ",
            "agent\u{17f}/ada.md",
            "agen\u{200c}ts/ada.md",
            "\u{feff}agents/ada.md",
        ] {
            assert!(profile_place(path).is_some(), "{path:?}");
        }
        for path in ["artifacts/ada.md", "agents/ada/notes.md", "xagents/ada.md", "agents.md"] {
            assert!(profile_place(path).is_none(), "{path:?}");
        }
    }

    #[test]
    fn places_that_carry_power_are_guarded_in_every_spelling() {
        for (path, verdict) in [
            ("tasks/approvals.task.md", Verdict::Deny),
            ("Tasks/Approvals.Task.md", Verdict::Deny),
            ("memory/../tasks/approvals.task.md", Verdict::Deny),
            (".workshop/workshop.db", Verdict::Deny),
            ("a/.git/hooks/x", Verdict::Deny),
            ("SETTINGS.yaml", Verdict::Deny),
            ("settings.yaml ", Verdict::Deny),
            ("scenes/studio.yaml", Verdict::Ask),
            ("storage/terminal-cmd-allowlist.yaml", Verdict::Deny),
            ("sessions/ada.session.yaml", Verdict::Deny),
            ("agents/ada/modules/x.ts", Verdict::Ask),
        ] {
            assert_eq!(guard(path).map(|(verdict, _)| verdict), Some(verdict), "{path}");
        }
        for path in ["agents/ada.md", "artifacts/a.md", "memory/settings.yaml", "tasks/a.task.md"] {
            assert_eq!(guard(path), None, "{path}");
        }
    }
}
