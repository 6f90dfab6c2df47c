//! What stands above a text when something needs a decision: somebody else changed the file, it is gone, an agent is
//! at work by it, or it could not be saved.

use egui::{RichText, Ui};

use super::tab::{DraftStatus, FileStatus, Tab};
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
    match tab.standing() {
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
        banner(ui, &format!("The file can no longer be shown: {why}. Your changes are kept."), theme, |ui| {
            if ui.button("Open in another program").clicked() {
                decision = Some(Decision::OpenOutside);
            }
            if widgets::danger(ui, "Discard my changes", theme).clicked() {
                decision = Some(Decision::TakeTheirs);
            }
        });
    }
    if let Some(name) = at_work {
        at_work_ui(ui, tab, name, theme, &mut decision);
    }
    if let Some(why) = &tab.failed {
        banner(ui, &format!("Failed: {why}"), theme, |ui| {
            if ui.button("Dismiss").clicked() {
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
    banner(ui, "Someone else changed this file while you were editing.", theme, |ui| {
        let mut button = |text: &str, hint: &str, wish: Decision, is_first: bool| {
            let button = if is_first { widgets::primary(ui, true, text, theme) } else { ui.button(text) };
            if button.on_hover_text(hint).clicked() {
                *decision = Some(wish);
            }
        };
        button("Merge", "Merges both; asks where both changed the same lines", Decision::Merge, true);
        button("Keep mine", "Saving then overwrites the other changes", Decision::KeepMine, false);
        button("Use theirs", "Discards your changes", Decision::TakeTheirs, false);
        let compare = if compares { "Stop comparing" } else { "Compare" };
        button(compare, "Shows the other version beside yours", Decision::Compare, false);
    });
}

fn deleted_ui(ui: &mut Ui, theme: &Theme, decision: &mut Option<Decision>) {
    banner(ui, "Someone else deleted this file while you were editing.", theme, |ui| {
        if widgets::primary(ui, true, "Save again", theme).on_hover_text("Restores the file with your text").clicked() {
            *decision = Some(Decision::Save);
        }
        if widgets::danger(ui, "Close", theme).on_hover_text("Discards your changes").clicked() {
            *decision = Some(Decision::TakeTheirs);
        }
    });
}

fn at_work_ui(ui: &mut Ui, tab: &Tab, name: &str, theme: &Theme, decision: &mut Option<Decision>) {
    let waits = tab.begun.as_ref().is_some_and(|begun| begun.applies_when_idle);
    let what = if waits {
        format!("{name} is working. Your changes are a draft and are applied when the work ends.")
    } else {
        format!(
            "{name} is working. Your changes are kept as a draft and applied when the work ends; Apply changes \
             the agent now."
        )
    };
    let can_apply = tab.begun.is_some() && !tab.is_saving() && tab.standing() == DraftStatus::Written;
    banner(ui, &what, theme, |ui| {
        if widgets::primary(ui, can_apply, "Apply", theme).on_hover_text("Changes the agent while it works").clicked() {
            *decision = Some(Decision::Apply);
        }
        if waits && ui.button("Do not apply").on_hover_text("Keeps the draft without saving it").clicked() {
            *decision = Some(Decision::DoNotApply);
        }
    });
}
