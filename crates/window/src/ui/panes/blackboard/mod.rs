//! The **Blackboard** pane: blackboards of runs and entries kept from earlier runs, which can be edited, and channels
//! with their listeners and latest messages.

mod channels;
mod entries;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use egui::{ScrollArea, Ui};

use super::pane::Pane;
use crate::base::ActivationKey;
use crate::orchestration::CollaborationCommand;
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::commands::table::{CommandInfo, Menu};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::collaboration::BoardView;
use crate::view::theme::{SPACE, Theme};

use entries::Row;

const WORD: &str = "blackboard";
/// The number of entries shown at first and added by each click on "Show more".
const PAGE_SIZE: usize = 50;
/// The search field is shown above this number of entries.
const SEARCH_FROM_ENTRIES: usize = 12;

/// Where an entry is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    /// The blackboard of this run.
    Run(ActivationKey),
    /// The entries kept from earlier runs.
    Kept,
}

/// An entry that is being edited.
#[derive(Clone, Debug)]
struct Editing {
    place: Place,
    key: String,
    /// Whether the entry does not exist yet.
    is_new: bool,
    text: String,
    /// Whether the field has taken the focus.
    is_focused: bool,
}

/// Changes of channels and blackboards, each with its inverse if it can be undone.
type Changes = Vec<(CollaborationCommand, Option<CollaborationCommand>)>;

/// The state of the blackboard pane.
#[derive(Clone, Debug, Default)]
pub struct BlackboardPane {
    editing: Option<Editing>,
    /// The name typed for a new entry, by board.
    new_key: BTreeMap<Place, String>,
    /// Unsent messages, by channel.
    drafts: BTreeMap<String, String>,
    /// The search text.
    filter: String,
    /// The number of entries shown, by board, if it is not the default.
    shown_counts: BTreeMap<Place, usize>,
    /// Long values that are shown in full.
    expanded: BTreeSet<(Place, String)>,
}

impl Pane for BlackboardPane {
    fn id(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        texts::BLACKBOARD
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("blackboard.show", texts::SHOW_BLACKBOARD, |_| vec![Command::Show(Tab::named(WORD))])
                .menus(&[(Menu::Panes, texts::BLACKBOARD)]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::apply_style(ui.style_mut(), cx.theme);
        let together = &cx.room.collaboration;
        let (mut changes, mut commands) = (Changes::new(), Vec::new());
        if together.boards.is_empty() && together.channels.is_empty() && together.kept.is_empty() {
            widgets::empty(ui, Icon::Chat, texts::BLACKBOARD_IS_EMPTY, texts::HOW_VALUES_COME, cx.theme);
            return Vec::new();
        }
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            self.search_ui(ui, cx);
            for board in &together.boards {
                self.board_ui(ui, cx, board, &mut changes);
            }
            if !together.kept.is_empty() {
                widgets::section(ui, texts::FROM_EARLIER_RUNS, cx.theme);
                ui.label(widgets::small(texts::ABOUT_EARLIER_RUNS, cx.theme));
                let rows: Vec<Row> = together.kept.iter().map(|kept| Row::of_kept(kept, cx)).collect();
                self.entries_ui(ui, cx.theme, Place::Kept, &rows, &mut changes);
            }
            if !together.channels.is_empty() {
                widgets::section(ui, texts::CHANNELS, cx.theme);
            }
            for channel in &together.channels {
                self.channel_ui(ui, cx, channel, &mut changes, &mut commands);
            }
        });
        let command = |(change, inverse): (CollaborationCommand, Option<CollaborationCommand>)| {
            Command::Act(RoomAct::Together(change), inverse.map(RoomAct::Together))
        };
        changes.into_iter().map(command).chain(commands).collect()
    }
}

impl BlackboardPane {
    /// Draws the search field if there are many entries.
    fn search_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let together = &cx.room.collaboration;
        let count = together.boards.iter().map(|board| board.entries.len()).sum::<usize>() + together.kept.len();
        if count > SEARCH_FROM_ENTRIES {
            widgets::field(ui, &mut self.filter, texts::FIND_ENTRIES, texts::FIND_BY_NAME_OR_VALUE);
        } else {
            self.filter.clear();
        }
    }

    fn board_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, board: &BoardView, changes: &mut Changes) {
        let theme = cx.theme;
        let whose = board.agent.as_ref().map_or(texts::A_PAST_RUN, |agent| cx.room.called(agent));
        let title = if board.task.is_empty() { whose.to_owned() } else { texts::run_for(whose, &board.task) };
        widgets::section(ui, &title, theme);
        if board.is_over {
            ui.label(widgets::small(texts::RUN_HAS_ENDED, theme));
        }
        if !board.exchanged.is_empty() {
            ui.label(widgets::small(texts::exchanged(&board.exchanged), theme));
        }
        let place = Place::Run(board.run);
        let rows: Vec<Row> = board.entries.iter().map(|entry| Row::of_entry(board, entry, cx)).collect();
        self.entries_ui(ui, theme, place, &rows, changes);
        if !board.is_over {
            self.new_entry_ui(ui, theme, board, changes);
        }
        ui.add_space(SPACE[1]);
    }

    /// Draws the entries that match the search, up to the number shown.
    fn entries_ui(&mut self, ui: &mut Ui, theme: &Theme, place: Place, rows: &[Row<'_>], changes: &mut Changes) {
        let search = self.filter.trim().to_lowercase();
        let found: Vec<&Row> = rows.iter().filter(|row| row.matches(&search)).collect();
        let limit = self.shown_counts.get(&place).copied().unwrap_or(PAGE_SIZE);
        for row in found.iter().take(limit) {
            widgets::in_card(ui, theme, |ui| self.entry_ui(ui, theme, row, changes));
            ui.add_space(SPACE[0]);
        }
        if found.is_empty() && !rows.is_empty() {
            ui.label(widgets::small(texts::NO_RESULTS, theme));
        }
        let left = found.len().saturating_sub(limit);
        if left > 0 && ui.button(texts::show_more(left.min(PAGE_SIZE), left)).clicked() {
            self.shown_counts.insert(place, limit + PAGE_SIZE);
        }
    }

    /// Draws the field for the name of a new entry, and the editor of its value.
    fn new_entry_ui(&mut self, ui: &mut Ui, theme: &Theme, board: &BoardView, changes: &mut Changes) {
        let place = Place::Run(board.run);
        let key = self.new_key.entry(place).or_default();
        let field = widgets::field(ui, key, &texts::new_entry_of(&board.run.to_string()), texts::NAME_OF_A_NEW_ENTRY);
        let name = key.trim().to_owned();
        if widgets::entered(ui, &field) && !name.is_empty() {
            key.clear();
            // If the entry exists, it is edited instead.
            let existing = board.entries.iter().find(|entry| entry.key == name.to_lowercase());
            let (key, text) = existing.map_or((name, String::new()), |entry| (entry.key.clone(), entry.value.clone()));
            self.editing = Some(Editing { place, key, is_new: existing.is_none(), text, is_focused: false });
        }
        let new = self.editing.as_ref().filter(|editing| editing.place == place && editing.is_new);
        if let Some(key) = new.map(|editing| editing.key.clone()) {
            widgets::in_card(ui, theme, |ui| {
                entries::title(ui, &key);
                self.edit_ui(ui, theme, &Row::new_in(board, &key), changes);
            });
        }
    }
}
