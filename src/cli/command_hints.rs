//! Commands that a person is told to type.

use crate::kernel::ApprovalId;

/// The commands to suggest to a person, spelled for the command line of this run.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    /// The workspace, where it was named.
    pub(super) workspace: Option<String>,
    /// The scene, where it was named.
    pub(super) scene: Option<String>,
    /// The provider, where it was named.
    pub(super) provider: Option<String>,
    /// The words of another command that continues the rest, unless it is `workshop run`.
    pub(super) go_on: Option<Vec<String>>,
}

impl Commands {
    /// How a question is answered from elsewhere.
    pub(super) fn answer(&self, id: &ApprovalId) -> String {
        let folder = self.folder();
        format!("answer with: workshop approvals allow {id}{folder}, or: workshop approvals refuse {id}{folder}")
    }

    /// How the rest is continued.
    pub(super) fn run_on(&self) -> String {
        if let Some(words) = &self.go_on {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            return format!("workshop {}", words.join(" "));
        }
        format!("workshop run{}{} --until idle", self.folder(), self.options())
    }

    /// How an unfinished piece of work is continued.
    pub(super) fn resume(&self, id: &str) -> String {
        let options = self.options();
        format!("workshop run{}{options} --resume {id}", self.folder())
    }

    fn options(&self) -> String {
        let scene = self.scene.as_ref().map(|scene| format!(" --scene {}", quoted(scene))).unwrap_or_default();
        let provider = self.provider.as_ref().map(|name| format!(" --provider {}", quoted(name))).unwrap_or_default();
        scene + &provider
    }

    fn folder(&self) -> String {
        self.workspace.as_ref().map(|folder| format!(" {}", quoted(folder))).unwrap_or_default()
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-:".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_that_are_suggested_can_be_typed_as_they_are() {
        let commands = Commands {
            workspace: Some("my room's".into()),
            scene: Some("newsroom".into()),
            provider: Some("scripted:script.yaml".into()),
            go_on: None,
        };
        let told = commands.answer(&ApprovalId::parse("7-1-0-abcd").expect("it has the shape"));
        assert!(told.contains("workshop approvals allow 7-1-0-abcd 'my room'\\''s'"), "{told}");
        let run = commands.run_on();
        assert_eq!(run, "workshop run 'my room'\\''s' --scene newsroom --provider scripted:script.yaml --until idle");
        let of_talk = Commands { go_on: Some(vec!["agent".into(), "my room".into()]), ..Commands::default() };
        assert_eq!(of_talk.run_on(), "workshop agent 'my room'");
        assert_eq!(Commands::default().run_on(), "workshop run --until idle");
    }
}
