//! The conflicts of a merge: shown side by side and resolved one by one.

use egui::{RichText, ScrollArea, Ui};

use super::{in_card, name, small, texts};
use crate::view::theme::{SPACE, TYPE, Theme};
use crate::workspace::text_merge::{Choice, Conflict, TextMerge};

/// The maximum number of lines that are shown of each side of a conflict.
const LINES_SHOWN: usize = 12;
/// The maximum height of the list of conflicts, in points.
const LIST_POINTS: f32 = 260.0;

/// The person's action on the conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConflictResolution {
    /// Resolved the conflict at this index.
    Choose(usize, Choice),
    /// Stopped the merge.
    Stop,
}

/// Draws the conflicts of a merge with the choices made so far; returns what the person did.
pub fn conflicts_ui(ui: &mut Ui, merge: &TextMerge, theme: &Theme) -> Option<ConflictResolution> {
    let mut resolution = None;
    in_card(ui, theme, |ui| {
        let (all, resolved) = merge
            .conflicts()
            .fold((0, 0), |(all, resolved), (_, _, chosen)| (all + 1, resolved + usize::from(chosen.is_some())));
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(texts::resolved(resolved, all)).color(theme.warn));
            if ui.button(texts::STOP_MERGING).clicked() {
                resolution = Some(ConflictResolution::Stop);
            }
        });
        ScrollArea::vertical().id_salt("conflicts").max_height(LIST_POINTS).auto_shrink([false, true]).show(ui, |ui| {
            for (number, (place, conflict, chosen)) in (1..).zip(merge.conflicts()) {
                ui.add_space(SPACE[0]);
                if let Some(choice) = conflict_ui(ui, number, conflict, chosen, theme) {
                    resolution = Some(ConflictResolution::Choose(place, choice));
                }
            }
        });
    });
    resolution
}

fn conflict_ui(
    ui: &mut Ui,
    number: usize,
    Conflict { base, mine, theirs }: &Conflict,
    chosen: Option<Choice>,
    theme: &Theme,
) -> Option<Choice> {
    let mut choice = None;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(texts::place(number)).size(TYPE[1]).color(theme.accent));
        for (of, shown) in [(Choice::Mine, texts::MINE), (Choice::Theirs, texts::THEIRS), (Choice::Both, texts::BOTH)] {
            let button = ui.selectable_label(chosen == Some(of), shown);
            name(&button, texts::choice_at_place(shown, number));
            if button.clicked() {
                choice = Some(of);
            }
        }
    });
    for (what, lines) in [(texts::BEFORE, base), (texts::MINE, mine), (texts::THEIRS, theirs)] {
        ui.label(small(what, theme));
        ui.label(RichText::new(excerpt(lines)).monospace().color(theme.text));
    }
    choice
}

/// Returns the first lines of a text, with a note on the rest.
fn excerpt(lines: &str) -> String {
    let more = lines.lines().count().saturating_sub(LINES_SHOWN);
    let mut shown: Vec<&str> = lines.lines().take(LINES_SHOWN).collect();
    let note = texts::more_lines(more);
    if more > 0 {
        shown.push(&note);
    }
    if shown.is_empty() { texts::NO_LINES.to_owned() } else { shown.join("\n") }
}
