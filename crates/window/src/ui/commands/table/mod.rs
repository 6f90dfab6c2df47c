//! The command table, from which shortcuts, menus, the palette, the shortcuts dialog, tooltips and
//! `workshop --help-keys` are generated. Shortcuts with more modifiers come before those with fewer.

mod approvals;
mod files;
mod furniture;
mod info;
mod room;
mod window;
mod workflows;

use std::sync::LazyLock;

pub use self::info::{Applies, CommandContext, CommandInfo, KeyContext, Menu, UndoKind};

/// All commands: the built-in ones and those of added panes.
#[derive(Clone, Debug)]
pub struct CommandTable(Vec<CommandInfo>);

impl Default for CommandTable {
    fn default() -> Self {
        let all = [
            room::COMMANDS,
            window::COMMANDS,
            files::COMMANDS,
            workflows::COMMANDS,
            approvals::COMMANDS,
            furniture::COMMANDS,
        ];
        Self(all.concat())
    }
}

impl CommandTable {
    /// Returns the built-in commands.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<CommandTable> = LazyLock::new(CommandTable::default);
        &STANDARD
    }

    /// Adds commands.
    pub fn add(&mut self, commands: impl IntoIterator<Item = CommandInfo>) {
        self.0.extend(commands);
    }

    /// Returns all commands, in order.
    pub fn all(&self) -> &[CommandInfo] {
        &self.0
    }

    /// Returns the command with this id.
    pub fn find(&self, id: &str) -> Option<&CommandInfo> {
        self.0.iter().find(|command| command.id == id)
    }

    /// Returns the commands of a menu, in order, with their labels there.
    pub fn in_menu(&self, menu: Menu) -> impl Iterator<Item = (&CommandInfo, &'static str)> {
        self.0.iter().filter_map(move |command| Some((command, command.in_menu(menu)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use egui::KeyboardShortcut;

    use super::*;

    fn shown(keys: &KeyboardShortcut) -> String {
        format!("{keys:?}")
    }

    #[test]
    fn every_command_has_a_unique_id_and_name() {
        let all = CommandTable::standard().all();
        let ids: BTreeSet<&str> = all.iter().map(|command| command.id).collect();
        let names: BTreeSet<&str> = all.iter().map(|command| command.name).collect();
        assert_eq!((ids.len(), names.len()), (all.len(), all.len()));
        for command in all {
            let is_named =
                command.id.split_once('.').is_some_and(|(group, word)| !group.is_empty() && !word.is_empty());
            assert!(is_named && command.name.starts_with(char::is_uppercase), "{command:?}");
            assert!(!command.name.ends_with('.') && !command.about.ends_with('.'), "{}", command.name);
        }
    }

    #[test]
    fn no_two_commands_share_a_shortcut_where_both_apply() {
        // A shortcut that applies everywhere also applies in each pane.
        let reach = |context| match context {
            KeyContext::Everywhere => vec![KeyContext::Room, KeyContext::Files, KeyContext::Editor, KeyContext::Graph],
            // Nothing is typed in the file list or the graph; a pane's own shortcuts take precedence over those of the
            // window.
            KeyContext::NotWriting => vec![KeyContext::Room],
            one => vec![one],
        };
        let mut seen: BTreeMap<(KeyContext, String), &str> = BTreeMap::new();
        for command in CommandTable::standard().all() {
            for keys in command.keys {
                for context in reach(command.context) {
                    let other = seen.insert((context, shown(keys)), command.id);
                    assert_eq!(other, None, "{} and {other:?} share {keys:?}", command.id);
                }
            }
        }
    }

    #[test]
    fn shortcuts_with_more_modifiers_come_before_those_with_fewer() {
        // Panes test their own shortcuts in an order of their own.
        let of_window = |command: &&CommandInfo| {
            matches!(command.context, KeyContext::Everywhere | KeyContext::NotWriting | KeyContext::Room)
        };
        let all: Vec<&CommandInfo> = CommandTable::standard().all().iter().filter(of_window).collect();
        for (at, command) in all.iter().enumerate() {
            for keys in command.keys.iter().filter(|keys| keys.modifiers.is_none()) {
                let later = all[at + 1..].iter().flat_map(|later| later.keys);
                let mut hidden = later.filter(|later| later.logical_key == keys.logical_key && later.modifiers.shift);
                assert_eq!(hidden.next(), None, "{} takes the keys of a later one", command.id);
            }
        }
    }
}
