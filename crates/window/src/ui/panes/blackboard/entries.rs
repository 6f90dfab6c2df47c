//! A blackboard entry: shown, edited, removed or kept. Each change can be undone.

use egui::{RichText, Ui};

use super::{BlackboardPane, Changes, Editing, Place, texts};
use crate::base::Id;
use crate::base::ids::USER;
use crate::orchestration::{ArchivedEntry, CollaborationCommand};
use crate::schedule::TICKS_PER_SEC;
use crate::tools::collaboration::value_of;
use crate::ui::context::ViewerContext;
use crate::ui::texts::YOU;
use crate::ui::widgets::{self, EditEnd};
use crate::view::collaboration::{ArchivedEntryView, BoardView, EntryView};
use crate::view::theme::Theme;

/// The number of lines of the value editor.
const ROWS: usize = 3;
/// The maximum number of lines of a collapsed value.
const MAX_LINES: usize = 8;
/// The maximum number of characters of a collapsed value.
const MAX_CHARS: usize = 600;

/// An entry, ready to be drawn.
pub(super) struct Row<'a> {
    place: Place,
    key: &'a str,
    /// The value as the user edits it.
    value: &'a str,
    who: String,
    /// Whether it is kept when the run ends; `None` if that does not apply.
    shared: Option<bool>,
    /// Earlier values, newest first, each with a description of its version.
    before: Vec<(String, &'a str)>,
    is_fixed: bool,
    kept: Option<&'a ArchivedEntry>,
}

impl<'a> Row<'a> {
    /// Returns an entry of a run's blackboard.
    pub(super) fn of_entry(board: &BoardView, entry: &'a EntryView, cx: &ViewerContext<'_>) -> Self {
        let before = |(version, by, tick, value): &'a (u64, Id, u64, String)| {
            (texts::version_by(*version, cx.room.called(by), &when(tick / TICKS_PER_SEC)), value.as_str())
        };
        Self {
            place: Place::Run(board.run),
            key: &entry.key,
            value: &entry.value,
            who: texts::written_by(cx.room.called(&entry.by), &when(entry.tick / TICKS_PER_SEC)),
            shared: Some(entry.shared),
            before: entry.before.iter().map(before).collect(),
            is_fixed: board.is_over,
            kept: None,
        }
    }

    /// Returns an entry kept from an earlier run.
    pub(super) fn of_kept(kept: &'a ArchivedEntryView, cx: &ViewerContext<'_>) -> Self {
        let ArchivedEntry { key, by, run, secs, .. } = &kept.entry;
        let who = if by.is_empty() { YOU } else { cx.room.called(by) };
        let who = if run.is_empty() { who.to_owned() } else { texts::written_in_run(who, run, &when(*secs)) };
        Self {
            place: Place::Kept,
            key,
            value: &kept.value,
            who,
            shared: None,
            before: Vec::new(),
            is_fixed: false,
            kept: Some(&kept.entry),
        }
    }

    /// Returns a new, empty entry.
    pub(super) fn new_in(board: &BoardView, key: &'a str) -> Self {
        Self {
            place: Place::Run(board.run),
            key,
            value: "",
            who: String::new(),
            shared: None,
            before: Vec::new(),
            is_fixed: false,
            kept: None,
        }
    }

    /// Whether its name or value contains `search`, which is in lower case.
    pub(super) fn matches(&self, search: &str) -> bool {
        search.is_empty() || self.key.to_lowercase().contains(search) || self.value.to_lowercase().contains(search)
    }

    /// Returns the command that sets the value and its inverse. `is_new` if the entry does not exist yet.
    fn write(
        &self,
        value: Option<&str>,
        shared: Option<bool>,
        is_new: bool,
    ) -> (CollaborationCommand, CollaborationCommand) {
        let value = value.filter(|value| value.trim() != "null");
        let was = (!is_new).then_some(self.value);
        match self.place {
            Place::Run(run) => {
                let command = |value: Option<&str>, shared, was: Option<&str>| CollaborationCommand::Write {
                    run,
                    key: self.key.to_owned(),
                    value: value.map(str::to_owned),
                    shared,
                    was: was.map(str::to_owned),
                };
                (command(value, shared, was), command(was, self.shared, value))
            }
            Place::Kept => {
                let now = value.map(|value| ArchivedEntry {
                    key: self.key.to_owned(),
                    value: value_of(value),
                    by: USER.into(),
                    run: "".into(),
                    secs: 0,
                });
                let command = |now: Option<Box<ArchivedEntry>>, was: Option<Box<ArchivedEntry>>| {
                    CollaborationCommand::WriteKept { key: self.key.to_owned(), now, was }
                };
                let (now, was) = (now.map(Box::new), self.kept.cloned().map(Box::new));
                (command(now.clone(), was.clone()), command(was, now))
            }
        }
    }
}

impl BlackboardPane {
    /// Draws an entry.
    pub(super) fn entry_ui(&mut self, ui: &mut Ui, theme: &Theme, row: &Row<'_>, changes: &mut Changes) {
        title(ui, row.key);
        ui.label(widgets::small(&row.who, theme));
        let is_edited =
            self.editing.as_ref().is_some_and(|editing| editing.place == row.place && editing.key == row.key);
        if is_edited {
            self.edit_ui(ui, theme, row, changes);
        } else {
            self.value_ui(ui, row);
        }
        if !row.is_fixed {
            ui.horizontal_wrapped(|ui| {
                let change = ui.button(texts::EDIT);
                widgets::name(&change, texts::edit_entry(row.key));
                if !is_edited && change.clicked() {
                    let (place, key, text) = (row.place, row.key.to_owned(), row.value.to_owned());
                    self.editing = Some(Editing { place, key, is_new: false, text, is_focused: false });
                }
                let remove = ui.button(texts::REMOVE);
                widgets::name(&remove, texts::remove_entry(row.key));
                if remove.clicked() {
                    changes.push(undoable(row.write(None, None, false)));
                }
                let Some(shared) = row.shared else { return };
                let switch = widgets::switch(ui, shared, texts::KEEP_FOR_LATER_RUNS, theme);
                widgets::name(&switch, texts::keep_entry_for_later_runs(row.key));
                if switch.clicked() {
                    changes.push(undoable(row.write(Some(row.value), Some(!shared), false)));
                }
            });
        }
        earlier_values(ui, theme, row);
    }

    /// Draws the value. A long one is collapsed at first.
    fn value_ui(&mut self, ui: &mut Ui, row: &Row<'_>) {
        let id = (row.place, row.key.to_owned());
        let beginning = visible_part(row.value).filter(|_| !self.expanded.contains(&id));
        let shown = beginning.unwrap_or(row.value);
        let text = RichText::new(if beginning.is_some() { format!("{shown} …") } else { shown.to_owned() });
        ui.label(if row.value.starts_with(['{', '[']) { text.monospace() } else { text });
        if visible_part(row.value).is_some() {
            let is_open = beginning.is_none();
            let more = ui.button(if is_open { texts::SHOW_LESS } else { texts::SHOW_ALL });
            widgets::name(&more, if is_open { texts::show_less_of(row.key) } else { texts::show_all_of(row.key) });
            if more.clicked() && !self.expanded.remove(&id) {
                self.expanded.insert(id);
            }
        }
    }

    /// Draws the value editor with its buttons.
    pub(super) fn edit_ui(&mut self, ui: &mut Ui, theme: &Theme, row: &Row<'_>, changes: &mut Changes) {
        let Some(editing) = &mut self.editing else { return };
        let field = (&mut editing.text, &mut editing.is_focused);
        let label = texts::value_of(row.key);
        let buttons = (texts::SAVE, texts::CANCEL);
        let end = widgets::editor(ui, field, (&label, texts::WHAT_A_VALUE_IS), ROWS, buttons, theme);
        if end == Some(EditEnd::Save) {
            changes.push(undoable(row.write(Some(&editing.text), None, editing.is_new)));
        }
        if end.is_some() {
            self.editing = None;
        }
    }
}

fn undoable(
    (change, inverse): (CollaborationCommand, CollaborationCommand),
) -> (CollaborationCommand, Option<CollaborationCommand>) {
    (change, Some(inverse))
}

/// Draws a title, wrapped.
pub(super) fn title(ui: &mut Ui, key: &str) {
    ui.add(egui::Label::new(RichText::new(key).strong()).wrap());
}

/// Draws the earlier values of an entry, collapsed.
fn earlier_values(ui: &mut Ui, theme: &Theme, row: &Row<'_>) {
    if row.before.is_empty() {
        return;
    }
    let title = texts::earlier_values(row.before.len());
    let id = (row.place, row.key, "before");
    egui::CollapsingHeader::new(widgets::small(title, theme)).id_salt(format!("{id:?}")).show(ui, |ui| {
        for (who, value) in &row.before {
            ui.label(widgets::small(who, theme));
            ui.label(*value);
        }
    });
}

/// Returns the visible part of a long value; `None` if the value is short.
fn visible_part(value: &str) -> Option<&str> {
    let line = value.match_indices('\n').nth(MAX_LINES - 1).map(|(at, _)| at);
    let chars = value.char_indices().nth(MAX_CHARS).map(|(at, _)| at);
    let at = match (line, chars) {
        (Some(line), Some(chars)) => line.min(chars),
        (line, chars) => line.or(chars)?,
    };
    value.get(..at)
}

/// Returns a simulated time in words.
fn when(secs: u64) -> String {
    texts::at(secs / 60, secs % 60)
}
