//! The command table as text: for `workshop --help-keys` and for the page of keyboard shortcuts in the documentation.

use std::fmt::Write;

use egui::{KeyboardShortcut, ModifierNames};
use serde::Serialize;

use super::keys::symbol;
use super::table::CommandTable;
use super::texts;

/// A command in the listing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedCommand {
    /// The permanent id.
    pub id: &'static str,
    /// The name.
    pub name: &'static str,
    /// The description; empty if the name is sufficient.
    pub about: &'static str,
    /// The shortcuts. "Ctrl" stands for the command key on a Mac.
    pub keys: Vec<String>,
    /// Where the shortcuts apply; empty if there are none.
    pub works: &'static str,
    /// The labels in menus.
    pub menus: Vec<&'static str>,
    /// Whether the palette lists it.
    pub in_palette: bool,
    /// How it is undone.
    pub undone: &'static str,
}

/// Returns every command, in the order of the table.
pub fn listed(table: &CommandTable) -> Vec<ListedCommand> {
    let of = |command: &super::table::CommandInfo| ListedCommand {
        id: command.id,
        name: command.name,
        about: command.about,
        keys: command.keys.iter().map(format_keys).collect(),
        works: if command.keys.is_empty() { "" } else { command.place() },
        menus: command.menus.iter().map(|(_, label)| *label).collect(),
        in_palette: command.is_in_palette,
        undone: command.undone.label(),
    };
    table.all().iter().map(of).collect()
}

fn format_keys(keys: &KeyboardShortcut) -> String {
    symbol(keys).map_or_else(|| keys.format(&ModifierNames::NAMES, false), str::to_owned)
}

/// Returns the listing as columns: shortcuts, name, where they apply, how it is undone, and id.
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
            // Writing to a `String` cannot fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the commands with shortcuts as a Markdown table.
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
    fn every_command_is_one_line_with_its_shortcuts() {
        let table = CommandTable::standard();
        let text = as_text(table);
        assert_eq!(text.lines().count(), table.all().len() + 1, "one line each, and the header");
        let line = |id: &str| text.lines().find(|line| line.ends_with(id)).expect("it is listed").to_owned();
        assert!(line("window.palette").starts_with("Ctrl+K "), "{}", line("window.palette"));
        assert!(line("window.keys").starts_with("?, F1 "), "{}", line("window.keys"));
        assert!(line("edit.redo").contains("Ctrl+Shift+Z, Ctrl+Y"), "{}", line("edit.redo"));
    }
}
