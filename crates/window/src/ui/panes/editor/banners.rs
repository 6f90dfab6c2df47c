//! Banners above a text that needs a decision: somebody else changed or deleted the file, an agent is working with it,
//! or it could not be saved.

use egui::{RichText, Ui};

use super::tab::{DraftStatus, FileStatus, Tab};
use super::texts;
use crate::ui::widgets;
use crate::ui::widgets::conflicts::{ConflictResolution, conflicts_ui};
use crate::view::theme::Theme;
use crate::workspace::text_merge::Choice;

/// What a person decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Save, or bring back what is gone.
    Save,
    /// Save over whatever is there, although an agent is at work by it.
    Apply,
    /// Not to save by itself any more.
    DoNotApply,
    /// Join both.
    Merge,
    /// Settle one conflict, by its place.
    Choose(usize, Choice),
    /// Do not merge after all.
    StopMerge,
    /// Go on with what was written here.
    KeepMine,
    /// Give up what was written here.
    TakeTheirs,
    /// Show both, or stop doing so.
    Compare,
    /// Put the message aside.
    PutAside,
    /// Look at the file in another program.
    OpenOutside,
}

/// Draws what needs a decision. `at_work` is who works by this file; `compares` whether both are shown.
pub fn banners_ui(ui: &mut Ui, tab: &Tab, at_work: Option<&str>, compares: bool, theme: &Theme) -> Option<Decision> {
    let mut decision = None;
    match tab.draft_status() {
        DraftStatus::Overtaken => match &tab.merging {
            Some(merging) => {
                decision = conflicts_ui(ui, &merging.merge, theme).map(|settling| match settling {
                    ConflictResolution::Choose(place, choice) => Decision::Choose(place, choice),
                    ConflictResolution::Stop => Decision::StopMerge,
                });
            }
            None => overtaken_ui(ui, compares, theme, &mut decision),
        },
        DraftStatus::Deleted => deleted_ui(ui, theme, &mut decision),
        DraftStatus::Clean | DraftStatus::Written => {}
    }
    if let FileStatus::Unreadable(why) = &tab.seen {
        banner(ui, &texts::no_longer_readable(why), theme, |ui| {
            if ui.button(texts::OPEN_IN_ANOTHER_PROGRAM).clicked() {
                decision = Some(Decision::OpenOutside);
            }
            if widgets::danger(ui, texts::DISCARD_MY_CHANGES, theme).clicked() {
                decision = Some(Decision::TakeTheirs);
            }
        });
    }
    if let Some(working) = at_work {
        at_work_ui(ui, tab, working, theme, &mut decision);
    }
    if let Some(why) = &tab.failed {
        banner(ui, &texts::failed(why), theme, |ui| {
            if ui.button(texts::DISMISS).clicked() {
                decision = Some(Decision::PutAside);
            }
        });
    }
    decision
}

fn banner(ui: &mut Ui, what: &str, theme: &Theme, acts: impl FnOnce(&mut Ui)) {
    widgets::in_card(ui, theme, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(what).color(theme.warn));
            acts(ui);
        });
    });
}

fn overtaken_ui(ui: &mut Ui, compares: bool, theme: &Theme, decision: &mut Option<Decision>) {
    banner(ui, texts::CHANGED_MEANWHILE, theme, |ui| {
        let mut button = |text: &str, hint: &str, wish: Decision, is_first: bool| {
            let button = if is_first { widgets::primary(ui, true, text, theme) } else { ui.button(text) };
            if button.on_hover_text(hint).clicked() {
                *decision = Some(wish);
            }
        };
        button(texts::MERGE, texts::MERGE_TIP, Decision::Merge, true);
        button(texts::KEEP_MINE, texts::KEEP_MINE_TIP, Decision::KeepMine, false);
        button(texts::USE_THEIRS, texts::DISCARDS_CHANGES_TIP, Decision::TakeTheirs, false);
        let compare = if compares { texts::STOP_COMPARING } else { texts::COMPARE };
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

fn at_work_ui(ui: &mut Ui, tab: &Tab, working: &str, theme: &Theme, decision: &mut Option<Decision>) {
    let waits = tab.begun.as_ref().is_some_and(|begun| begun.applies_when_idle);
    let what = if waits { texts::changes_are_a_draft(working) } else { texts::changes_are_kept(working) };
    let can_apply = tab.begun.is_some() && !tab.is_saving() && tab.draft_status() == DraftStatus::Written;
    banner(ui, &what, theme, |ui| {
        if widgets::primary(ui, can_apply, texts::APPLY, theme).on_hover_text(texts::APPLY_TIP).clicked() {
            *decision = Some(Decision::Apply);
        }
        if waits && ui.button(texts::DO_NOT_APPLY).on_hover_text(texts::DO_NOT_APPLY_TIP).clicked() {
            *decision = Some(Decision::DoNotApply);
        }
    });
}
