//! The pane **Blackboard**: blackboards of runs and entries kept from earlier ones, which can be edited, and channels
//! with their listeners and last messages.

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
/// How many entries of a board are shown at first, and how many more with each click.
const SHOWN_AT_ONCE: usize = 50;
/// From this many entries on there is a search field.
const FOUND_BY_EYE: usize = 12;

/// The place of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    /// On the blackboard of this run.
    Run(ActivationKey),
    /// Among what runs that are over left.
    Kept,
}

/// An entry that is edited.
#[derive(Clone, Debug)]
struct Editing {
    place: Place,
    key: String,
    /// Whether there is no such entry yet.
    is_new: bool,
    text: String,
}

/// What is done about channels and blackboards, each with what takes it back, where something does.
type Acts = Vec<(CollaborationCommand, Option<CollaborationCommand>)>;

/// What the pane keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct BlackboardPane {
    editing: Option<Editing>,
    /// The name of an entry that is to be added, by board.
    new_key: BTreeMap<Place, String>,
    /// What is to be said, by channel.
    drafts: BTreeMap<String, String>,
    /// What is looked for.
    filter: String,
    /// How many entries are shown, by board, if it is not the default.
    shown: BTreeMap<Place, usize>,
    /// Long values that are shown whole.
    opened: BTreeSet<(Place, String)>,
}

impl Pane for BlackboardPane {
    fn word(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        texts::BLACKBOARD
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("blackboard.show", texts::SHOW_BLACKBOARD, |_| {
                vec![Command::Show(Tab::Pane(WORD.to_owned()))]
            })
            .menus(&[(Menu::Panes, texts::BLACKBOARD)]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::dress(ui.style_mut(), cx.theme);
        let together = &cx.room.together;
        let (mut acts, mut commands) = (Acts::new(), Vec::new());
        if together.boards.is_empty() && together.channels.is_empty() && together.kept.is_empty() {
            widgets::empty(ui, Icon::Chat, texts::BLACKBOARD_IS_EMPTY, texts::HOW_VALUES_COME, cx.theme);
            return Vec::new();
        }
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            self.find(ui, cx);
            for board in &together.boards {
                self.board(ui, cx, board, &mut acts);
            }
            if !together.kept.is_empty() {
                widgets::section(ui, texts::FROM_EARLIER_RUNS, cx.theme);
                ui.label(widgets::small(texts::ABOUT_EARLIER_RUNS, cx.theme));
                let rows: Vec<Row> = together.kept.iter().map(|kept| Row::of_kept(kept, cx)).collect();
                self.rows(ui, cx.theme, Place::Kept, &rows, &mut acts);
            }
            if !together.channels.is_empty() {
                widgets::section(ui, texts::CHANNELS, cx.theme);
            }
            for channel in &together.channels {
                self.channel(ui, cx, channel, &mut acts, &mut commands);
            }
        });
        let command = |(forth, back): (CollaborationCommand, Option<CollaborationCommand>)| {
            Command::Act(RoomAct::Together(forth), back.map(RoomAct::Together))
        };
        acts.into_iter().map(command).chain(commands).collect()
    }

    fn boxed_clone(&self) -> Box<dyn Pane> {
        Box::new(self.clone())
    }
}

impl BlackboardPane {
    /// The field to find entries, where there are many.
    fn find(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let together = &cx.room.together;
        let count = together.boards.iter().map(|board| board.entries.len()).sum::<usize>() + together.kept.len();
        if count > FOUND_BY_EYE {
            widgets::field(ui, &mut self.filter, texts::FIND_ENTRIES, texts::FIND_BY_NAME_OR_VALUE);
        } else {
            self.filter.clear();
        }
    }

    fn board(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, board: &BoardView, acts: &mut Acts) {
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
        self.rows(ui, theme, place, &rows, acts);
        if !board.is_over {
            self.new_entry(ui, theme, board, acts);
        }
        ui.add_space(SPACE[1]);
    }

    /// The entries of a board that are looked for, as many as are shown at once.
    fn rows(&mut self, ui: &mut Ui, theme: &Theme, place: Place, rows: &[Row<'_>], acts: &mut Acts) {
        let wanted = self.filter.trim().to_lowercase();
        let found: Vec<&Row> = rows.iter().filter(|row| row.is_found(&wanted)).collect();
        let most = self.shown.get(&place).copied().unwrap_or(SHOWN_AT_ONCE);
        for row in found.iter().take(most) {
            widgets::in_card(ui, theme, |ui| self.row(ui, theme, row, acts));
            ui.add_space(SPACE[0]);
        }
        if found.is_empty() && !rows.is_empty() {
            ui.label(widgets::small(texts::NO_RESULTS, theme));
        }
        let left = found.len().saturating_sub(most);
        if left > 0 && ui.button(texts::show_more(left.min(SHOWN_AT_ONCE), left)).clicked() {
            self.shown.insert(place, most + SHOWN_AT_ONCE);
        }
    }

    /// The field for the name of a new entry, and the entry while it is written.
    fn new_entry(&mut self, ui: &mut Ui, theme: &Theme, board: &BoardView, acts: &mut Acts) {
        let place = Place::Run(board.run);
        let key = self.new_key.entry(place).or_default();
        let field = widgets::field(ui, key, &texts::new_entry_of(&board.run.to_string()), texts::NAME_OF_A_NEW_ENTRY);
        let name = key.trim().to_owned();
        if widgets::entered(ui, &field) && !name.is_empty() {
            key.clear();
            // Where there is such an entry, that is what is edited.
            let there = board.entries.iter().find(|entry| entry.key == name.to_lowercase());
            let (key, text) = there.map_or((name, String::new()), |there| (there.key.clone(), there.value.clone()));
            self.editing = Some(Editing { place, key, is_new: there.is_none(), text });
        }
        let new = self.editing.as_ref().filter(|editing| editing.place == place && editing.is_new);
        if let Some(key) = new.map(|editing| editing.key.clone()) {
            widgets::in_card(ui, theme, |ui| {
                entries::title(ui, &key);
                self.edit(ui, theme, &Row::new_in(board, &key), acts);
            });
        }
    }
}
