//! The table of commands as text for people and programs: for `workshop --help-keys` and for the page of keys in the
//! documentation.

use std::fmt::Write;

use egui::{KeyboardShortcut, ModifierNames};
use serde::Serialize;

use super::keys::spelled;
use super::table::CommandTable;
use super::texts;

/// A command as it is listed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedCommand {
    /// Names it for ever.
    pub id: &'static str,
    /// What it does.
    pub name: &'static str,
    /// More about it; empty where the name says it all.
    pub about: &'static str,
    /// Its keys. "Ctrl" is the command key on a Mac.
    pub keys: Vec<String>,
    /// Where these work; empty where there are none.
    pub works: &'static str,
    /// What it is called in menus.
    pub menus: Vec<&'static str>,
    /// Whether the palette has it.
    pub in_palette: bool,
    /// How it is taken back.
    pub undone: &'static str,
}

/// Every command, in the order of the table.
pub fn listed(table: &CommandTable) -> Vec<ListedCommand> {
    let of = |command: &super::table::CommandInfo| ListedCommand {
        id: command.id,
        name: command.name,
        about: command.about,
        keys: command.keys.iter().map(written).collect(),
        works: if command.keys.is_empty() { "" } else { command.context.label() },
        menus: command.menus.iter().map(|(_, label)| *label).collect(),
        in_palette: command.is_in_palette,
        undone: command.undone.label(),
    };
    table.all().iter().map(of).collect()
}

fn written(keys: &KeyboardShortcut) -> String {
    spelled(keys).map_or_else(|| keys.format(&ModifierNames::NAMES, false), str::to_owned)
}

/// As columns: keys, command, where the keys work, how it is undone, and the id.
pub fn as_text(table: &CommandTable) -> String {
    let rows: Vec<[String; 5]> = listed(table)
        .into_iter()
        .map(|one| [one.keys.join(", "), one.name.into(), one.works.into(), one.undone.into(), one.id.into()])
        .collect();
    let head = [texts::KEYS, texts::COMMAND, texts::WHERE, texts::UNDONE, texts::ID].map(str::to_owned);
    let width =
        |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in [&head].into_iter().chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Writing into a text does not fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The commands with keys as a table in Markdown.
pub fn as_markdown(table: &CommandTable) -> String {
    let mut text = texts::HEAD_IN_MARKDOWN.to_owned();
    for one in listed(table).into_iter().filter(|one| !one.keys.is_empty()) {
        let keys: Vec<String> = one.keys.iter().map(|keys| format!("`` {keys} ``")).collect();
        let what = texts::name_and_about(one.name, one.about);
        let _ = writeln!(text, "| {} | {what} | {} | {} |", keys.join(", "), one.works, one.undone);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_a_line_and_keys_are_spelled_out() {
        let table = CommandTable::standard();
        let text = as_text(table);
        assert_eq!(text.lines().count(), table.all().len() + 1, "one line each, and the head");
        let line = |id: &str| text.lines().find(|line| line.ends_with(id)).expect("it is listed").to_owned();
        assert!(line("window.palette").starts_with("Ctrl+K "), "{}", line("window.palette"));
        assert!(line("window.keys").starts_with("?, F1 "), "{}", line("window.keys"));
        assert!(line("edit.redo").contains("Ctrl+Shift+Z, Ctrl+Y"), "{}", line("edit.redo"));
    }
}
