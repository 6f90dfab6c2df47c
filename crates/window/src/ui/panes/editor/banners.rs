//! Banners above the text: someone else changed or deleted the file, an agent of the file is working, or saving failed.

use egui::{RichText, Ui};

use super::tab::{DraftStatus, FileStatus, Tab};
use super::texts;
use crate::ui::widgets;
use crate::ui::widgets::conflicts::{ConflictResolution, conflicts_ui};
use crate::view::theme::Theme;
use crate::workspace::text_merge::Choice;

/// A button pressed on a banner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Save the text, or create a deleted file again.
    Save,
    /// Save now, although an agent of this file is working.
    Apply,
    /// Do not save automatically when the agent's work ends.
    DoNotApply,
    /// Merge both versions.
    Merge,
    /// Resolve the conflict with this index.
    Choose(usize, Choice),
    /// Cancel the merge.
    StopMerge,
    /// Keep the unsaved changes; the next save overwrites the other version.
    KeepMine,
    /// Discard the unsaved changes.
    TakeTheirs,
    /// Show or hide the comparison of both versions.
    Compare,
    /// Dismiss the error.
    DismissError,
    /// Open the file in another program.
    OpenOutside,
}

/// Draws the banners. `at_work` names the working agents of this file, and `is_comparing` is whether the comparison is
/// shown.
pub fn banners_ui(
    ui: &mut Ui,
    tab: &Tab,
    at_work: Option<&str>,
    is_comparing: bool,
    theme: &Theme,
) -> Option<Decision> {
    let mut decision = None;
    match tab.draft_status() {
        DraftStatus::Conflicted => match &tab.merging {
            Some(merging) => {
                decision = conflicts_ui(ui, &merging.merge, theme).map(|resolution| match resolution {
                    ConflictResolution::Choose(place, choice) => Decision::Choose(place, choice),
                    ConflictResolution::Stop => Decision::StopMerge,
                });
            }
            None => conflict_ui(ui, is_comparing, theme, &mut decision),
        },
        DraftStatus::Deleted => deleted_ui(ui, theme, &mut decision),
        DraftStatus::Clean | DraftStatus::Unsaved => {}
    }
    if let FileStatus::Unreadable(why) = &tab.status {
        banner(ui, &texts::no_longer_readable(why), theme, |ui| {
            if ui.button(texts::OPEN_IN_ANOTHER_PROGRAM).clicked() {
                decision = Some(Decision::OpenOutside);
            }
            if widgets::danger(ui, texts::DISCARD_MY_CHANGES, theme).clicked() {
                decision = Some(Decision::TakeTheirs);
            }
        });
    }
    if let Some(agents) = at_work {
        at_work_ui(ui, tab, agents, theme, &mut decision);
    }
    if let Some(why) = &tab.error {
        banner(ui, &texts::failed(why), theme, |ui| {
            if ui.button(texts::DISMISS).clicked() {
                decision = Some(Decision::DismissError);
            }
        });
    }
    decision
}

fn banner(ui: &mut Ui, what: &str, theme: &Theme, buttons: impl FnOnce(&mut Ui)) {
    widgets::in_card(ui, theme, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(what).color(theme.warn));
            buttons(ui);
        });
    });
}

fn conflict_ui(ui: &mut Ui, is_comparing: bool, theme: &Theme, decision: &mut Option<Decision>) {
    banner(ui, texts::CHANGED_MEANWHILE, theme, |ui| {
        let mut button = |text: &str, hint: &str, on_click: Decision, is_first: bool| {
            let button = if is_first { widgets::primary(ui, true, text, theme) } else { ui.button(text) };
            if button.on_hover_text(hint).clicked() {
                *decision = Some(on_click);
            }
        };
        button(texts::MERGE, texts::MERGE_TIP, Decision::Merge, true);
        button(texts::KEEP_MINE, texts::KEEP_MINE_TIP, Decision::KeepMine, false);
        button(texts::USE_THEIRS, texts::DISCARDS_CHANGES_TIP, Decision::TakeTheirs, false);
        let compare = if is_comparing { texts::STOP_COMPARING } else { texts::COMPARE };
        button(compare, texts::COMPARE_TIP, Decision::Compare, false);
    });
}

fn deleted_ui(ui: &mut Ui, theme: &Theme, decision: &mut Option<Decision>) {
    banner(ui, texts::DELETED_MEANWHILE, theme, |ui| {
        if widgets::primary(ui, true, texts::SAVE_AGAIN, theme).on_hover_text(texts::SAVE_AGAIN_TIP).clicked() {
            *decision = Some(Decision::Save);
        }
        if widgets::danger(ui, texts::CLOSE, theme).on_hover_text(texts::DISCARDS_CHANGES_TIP).clicked() {
            *decision = Some(Decision::TakeTheirs);
        }
    });
}

fn at_work_ui(ui: &mut Ui, tab: &Tab, agents: &str, theme: &Theme, decision: &mut Option<Decision>) {
    let is_pending = tab.draft.as_ref().is_some_and(|draft| draft.applies_when_idle);
    let what = if is_pending { texts::changes_are_a_draft(agents) } else { texts::changes_are_kept(agents) };
    let can_apply = tab.draft.is_some() && !tab.is_saving() && tab.draft_status() == DraftStatus::Unsaved;
    banner(ui, &what, theme, |ui| {
        if widgets::primary(ui, can_apply, texts::APPLY, theme).on_hover_text(texts::APPLY_TIP).clicked() {
            *decision = Some(Decision::Apply);
        }
        if is_pending && ui.button(texts::DO_NOT_APPLY).on_hover_text(texts::DO_NOT_APPLY_TIP).clicked() {
            *decision = Some(Decision::DoNotApply);
        }
    });
}
