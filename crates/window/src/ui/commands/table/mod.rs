//! The table of commands, one line for each, from which the keys, the menus, the palette, the keys dialog, tooltips and
//! `workshop --help-keys` are generated. Keys with more modifiers come before those with fewer.

mod approvals;
mod files;
mod furniture;
mod info;
mod room;
mod window;
mod workflows;

use std::sync::LazyLock;

pub use self::info::{Applies, CommandContext, CommandInfo, KeyContext, Menu, Undone};

/// Every command: those of the house, and those of panes that were added.
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
    /// The commands of the house.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<CommandTable> = LazyLock::new(CommandTable::default);
        &STANDARD
    }

    /// Adds commands.
    pub fn add(&mut self, commands: impl IntoIterator<Item = CommandInfo>) {
        self.0.extend(commands);
    }

    /// All of them, in order.
    pub fn all(&self) -> &[CommandInfo] {
        &self.0
    }

    /// The command of this id.
    pub fn find(&self, id: &str) -> Option<&CommandInfo> {
        self.0.iter().find(|command| command.id == id)
    }

    /// The commands of a menu, in order, with what each is called there.
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
    fn every_command_has_an_id_and_a_name_of_its_own() {
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
    fn no_two_commands_share_keys_where_both_would_work() {
        // What works everywhere works in every other place too.
        let reach = |context| match context {
            KeyContext::Everywhere => vec![KeyContext::Room, KeyContext::Files, KeyContext::Editor, KeyContext::Graph],
            // Who looks through files or the graph writes nothing; a pane's own keys go before those of the window.
            KeyContext::NotWriting => vec![KeyContext::Room],
            one => vec![one],
        };
        let mut known: BTreeMap<(KeyContext, String), &str> = BTreeMap::new();
        for command in CommandTable::standard().all() {
            for keys in command.keys {
                for context in reach(command.context) {
                    let other = known.insert((context, shown(keys)), command.id);
                    assert_eq!(other, None, "{} and {other:?} share {keys:?}", command.id);
                }
            }
        }
    }

    #[test]
    fn keys_with_more_modifiers_stand_before_those_with_fewer() {
        // Panes look for theirs in an order of their own.
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
