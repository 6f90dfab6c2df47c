//! Commands that are suggested to a person in hints.

use crate::kernel::ApprovalId;
use crate::text::shell_words::quote;

/// Builds suggested commands with the options of the current command line.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandHints {
    /// The workspace, if it was given.
    pub(super) workspace: Option<String>,
    /// The scene, if it was given.
    pub(super) scene: Option<String>,
    /// The provider, if it was given.
    pub(super) provider: Option<String>,
    /// The arguments of the command that continues unfinished work, if it is not `workshop run`.
    pub(super) continue_command: Option<Vec<String>>,
}

impl CommandHints {
    /// The hint on how to answer an approval from another terminal.
    pub(super) fn answer(&self, id: &ApprovalId) -> String {
        let folder = self.folder();
        format!("answer with: workshop approvals allow {id}{folder}, or: workshop approvals refuse {id}{folder}")
    }

    /// The command that continues all unfinished work.
    pub(super) fn continue_work(&self) -> String {
        if let Some(words) = &self.continue_command {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            return format!("workshop {}", words.join(" "));
        }
        format!("workshop run{}{} --until idle", self.folder(), self.options())
    }

    /// The command that resumes one piece of unfinished work.
    pub(super) fn resume(&self, id: &str) -> String {
        let options = self.options();
        format!("workshop run{}{options} --resume {id}", self.folder())
    }

    fn options(&self) -> String {
        let scene = self.scene.as_ref().map(|scene| format!(" --scene {}", quote(scene))).unwrap_or_default();
        let provider = self.provider.as_ref().map(|name| format!(" --provider {}", quote(name))).unwrap_or_default();
        scene + &provider
    }

    fn folder(&self) -> String {
        self.workspace.as_ref().map(|folder| format!(" {}", quote(folder))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_commands_are_quoted_for_the_shell() {
        let hints = CommandHints {
            workspace: Some("my room's".into()),
            scene: Some("newsroom".into()),
            provider: Some("scripted:script.yaml".into()),
            continue_command: None,
        };
        let hint = hints.answer(&ApprovalId::parse("7-1-0-abcd").expect("it has the shape"));
        assert!(hint.contains("workshop approvals allow 7-1-0-abcd 'my room'\\''s'"), "{hint}");
        let run = hints.continue_work();
        assert_eq!(run, "workshop run 'my room'\\''s' --scene newsroom --provider scripted:script.yaml --until idle");
        let of_talk =
            CommandHints { continue_command: Some(vec!["agent".into(), "my room".into()]), ..CommandHints::default() };
        assert_eq!(of_talk.continue_work(), "workshop agent 'my room'");
        assert_eq!(CommandHints::default().continue_work(), "workshop run --until idle");
    }
}
