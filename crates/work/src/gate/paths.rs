//! Special places in a workspace, by normalized path.

use super::verdict::Verdict;
use crate::agent::agent_file::AgentFormat;
use crate::agent::formats::format_of;
use crate::base::paths::file_name;
use crate::base::text_normalization::folded;
use crate::workspace::layout::{APPROVALS_FILE, INSTRUCTIONS};
use crate::workspace::protected_paths::{AgentWriteRule, guarded};
use crate::workspace::vfs::WorkspacePath;

/// The path and format with which a file defines an agent. On file systems that ignore case, this may be a different
/// path from the given one.
pub fn profile_place(path: &WorkspacePath) -> Option<(WorkspacePath, &'static AgentFormat)> {
    if let Some(format) = format_of(path.as_str()) {
        return Some((path.clone(), format));
    }
    let format = format_of(&folded(path.as_str()))?;
    Some((WorkspacePath::new(&folded(path.as_str())).unwrap_or_else(|_| path.clone()), format))
}

/// The verdict on changing a file because of its place, with the reason; `None` for ordinary files and for files that
/// are checked by their content.
pub fn guard(path: &WorkspacePath) -> Option<(Verdict, &'static str)> {
    if folded(path.as_str()) == APPROVALS_FILE {
        return Some((Verdict::Deny, "only a person answers approvals"));
    }
    let place = guarded(path.as_str());
    if is_instructions(path) && place.is_none_or(|place| place.writes == AgentWriteRule::Checked) {
        return Some((Verdict::Ask, "it contains instructions for agents"));
    }
    let place = place?;
    match place.writes {
        AgentWriteRule::Never => Some((Verdict::Deny, place.why)),
        // A file that defines an agent is checked by its content.
        AgentWriteRule::Asked if profile_place(path).is_some() => None,
        AgentWriteRule::Asked => Some((Verdict::Ask, place.why)),
        AgentWriteRule::Checked => None,
    }
}

/// Whether agents of this or another product read this file as their instructions, in whichever folder it is.
fn is_instructions(path: &WorkspacePath) -> bool {
    let path = folded(path.as_str());
    INSTRUCTIONS.iter().chain(&["GEMINI.md"]).any(|name| folded(name) == file_name(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> WorkspacePath {
        WorkspacePath::new(path).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    #[test]
    fn agent_files_are_recognized_in_every_spelling() {
        for given in
            ["agents/ada.md", "./agents/ada.md", "agents/Ada.MD", "agents/jos\u{e9}.md", "agents/jose\u{301}.md"]
        {
            assert!(profile_place(&path(given)).is_some(), "{given:?}");
        }
        assert_eq!(profile_place(&path("agents/jose\u{301}.md")).unwrap().0, path("agents/jos\u{e9}.md"));
        for given in
            ["artifacts/ada.md", "agents/ada/skills/notes.md", "agents/README.md", "xagents/ada.md", "agents.md"]
        {
            assert!(profile_place(&path(given)).is_none(), "{given:?}");
        }
    }

    #[test]
    fn places_that_grant_power_are_guarded() {
        for (given, verdict) in [
            ("tasks/approvals.task.md", Verdict::Deny),
            (".workshop/workshop.db", Verdict::Deny),
            ("a/.git/hooks/x", Verdict::Deny),
            ("settings.yaml", Verdict::Deny),
            ("settings.yml", Verdict::Deny),
            ("./scenes/studio.yaml", Verdict::Ask),
            ("storage/terminal-cmd-allowlist.yaml", Verdict::Deny),
            ("sessions/ada.session.yaml", Verdict::Deny),
            ("agents/ada/modules/x.ts", Verdict::Ask),
            ("agents/x.txt", Verdict::Ask),
            ("AGENTS.md", Verdict::Ask),
            ("claude.md", Verdict::Ask),
            ("src/deep/Agents.MD", Verdict::Ask),
            ("boards/GEMINI.md", Verdict::Ask),
            (".cursor/AGENTS.md", Verdict::Deny),
            ("agents/ada/heartbeat.md", Verdict::Ask),
            ("agents/ada/skills/cook/SKILL.md", Verdict::Ask),
            ("templates/notes.txt", Verdict::Ask),
            ("inbox/slack-messages.jsonl", Verdict::Deny),
            ("outbox/slack-messages.jsonl", Verdict::Deny),
        ] {
            assert_eq!(guard(&path(given)).map(|(verdict, _)| verdict), Some(verdict), "{given}");
        }
        for given in ["agents/ada.md", "artifacts/a.md", "memory/settings.yaml", "tasks/a.task.md"] {
            assert_eq!(guard(&path(given)), None, "{given}");
        }
    }
}
