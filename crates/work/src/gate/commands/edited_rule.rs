//! The rule with which a command also runs sources that changed: which one it would be, and how it is added to the file.
//! Pure.

use serde::{Deserialize, Serialize};

use super::rules::EDITED;
use super::words::{Command, join};
use super::{ALLOWLIST_FILE, CommandRules, runs_edited, with_entry};

/// A rule that allows a command also with sources that changed since a person last saw them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EditedRule {
    /// The words that a command has to begin with.
    pub command: String,
    /// The folder in which the rule holds; empty for the top of the workspace.
    pub folder: String,
}

impl EditedRule {
    /// The rule that would let this command in this folder run changed sources, beside the rules in `text`: the one that
    /// allows the command already, if it has no wildcard, or one for the whole command. `None` if neither does that, or if
    /// a rule requires approval for the command.
    pub fn for_command(line: &str, folder: &str, text: &str) -> Option<Self> {
        let Command::Plain(words) = Command::parse(line) else { return None };
        let rules = CommandRules::of(text);
        if rules.approval_rule(&words).is_some() {
            return None;
        }
        let own = rules.allowing(&words, Some(folder)).map(join).filter(|own| !own.contains('*'));
        let rule = |command| Self { command, folder: folder.to_owned() };
        let covers = |rule: &Self| {
            let added = rule.added_to(text);
            added.is_ok_and(|added| runs_edited(line, folder, &CommandRules::parse(&added).0))
        };
        own.into_iter().chain([join(&words)]).map(rule).find(covers)
    }

    /// The file of rules with this one, and with everything else in it. The error says why that is impossible.
    pub fn added_to(&self, text: &str) -> Result<String, String> {
        with_entry(text, &self.folder, &self.command, EDITED.into())
    }

    /// What the rule allows and where it is written, as a sentence without a full stop.
    pub fn description(&self) -> String {
        let Self { command, folder } = self;
        let (place, below) = match folder.as_str() {
            "" => (String::new(), String::new()),
            folder => (format!(" in {folder}/"), format!(", below {folder}/")),
        };
        format!(
            "Agents may change sources and run them with {command:?}{place} without asking you; changed build files and \
            scripts still ask. Adds to {ALLOWLIST_FILE}{below}: {command}: {EDITED}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file after the rule for a command was added, if one can be offered.
    fn added(line: &str, folder: &str, text: &str) -> Option<String> {
        let rule = EditedRule::for_command(line, folder, text)?;
        let added = rule.added_to(text).expect("an offered rule can be added");
        assert!(runs_edited(line, folder, &CommandRules::parse(&added).0), "{added}");
        Some(added)
    }

    #[test]
    fn an_offered_rule_lets_the_command_run_changed_sources_and_keeps_the_file() {
        for (line, folder, text) in [
            ("cargo test", "", "# mine\ncargo test: true\n"),
            ("cargo test", "", "cargo test: allow # as always\nrm: false\n"),
            ("cargo test", "", "cargo  test: true\n"),
            ("cargo test --all", "", "cargo test: true\n"),
            ("cargo test --all", "", "cargo test --all: true\n"),
            ("npm test", "web", "web/:\n  # here\n  npm test: true\n"),
            ("npm test", "web", "npm test: true\nweb/:\n  npm test: true\n"),
            ("cargo test", "", "patterns:\n  cargo test: true\n"),
            ("cargo test", "", ""),
        ] {
            let after = added(line, folder, text).unwrap_or_else(|| panic!("{line} in {text}"));
            for comment in ["# mine", "# as always", "# here", "rm: false"] {
                assert_eq!(after.contains(comment), text.contains(comment), "{comment} in {after}");
            }
            let count = |text: &str| CommandRules::parse(text).0.allowed().count();
            let is_new = !text.contains(line.split(" --").next().unwrap_or(line)) && !text.contains("cargo  test");
            assert_eq!(count(&after), count(text) + usize::from(is_new), "{after}");
        }
    }

    #[test]
    fn a_rule_that_would_not_help_is_not_offered() {
        for (line, text) in [
            ("cargo test; ls", "cargo test: true\n"),
            ("cargo test", "cargo test: ask\n"),
            ("cargo test", "cargo: false\n"),
            ("cargo test", "- not a list of commands\n"),
        ] {
            assert_eq!(EditedRule::for_command(line, "", text), None, "{line} in {text}");
        }
    }

    #[test]
    fn its_description_names_the_command_the_folder_and_the_line_that_is_written() {
        let rule = |folder: &str| EditedRule { command: "cargo test".into(), folder: folder.into() }.description();
        assert!(rule("").ends_with("storage/terminal-cmd-allowlist.yaml: cargo test: edited"), "{}", rule(""));
        assert!(rule("web").contains(" in web/ ") && rule("web").contains(", below web/: cargo test: edited"));
    }
}
