//! Interface texts of the commands, except those in the table.

/// Shown if an agent is added elsewhere than it was dropped.
pub(super) const LIFTED: &str =
    "Agents appear above the elements. Hold Alt or Ctrl while dropping to place one exactly.";

// The list of commands
pub(super) const KEYS: &str = "Keys";
pub(super) const COMMAND: &str = "Command";
pub(super) const WHERE: &str = "Where";
pub(super) const UNDONE: &str = "Undone";
pub(super) const ID: &str = "Id";
pub(super) const HEAD_IN_MARKDOWN: &str = "| keys | what they do | where | undone |\n|---|---|---|---|\n";

pub(super) fn name_and_about(name: &str, about: &str) -> String {
    if about.is_empty() { name.to_owned() } else { format!("{name}: {}", about.to_lowercase()) }
}
