//! The overlay of a message board or rulebook: an editor and preview of its text. Drafts are kept when it closes.

use egui::{FontId, RichText, ScrollArea, TextEdit, Ui};

use super::{Overlays, edit, texts};
use crate::base::text::truncate;
use crate::element::TextAct;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::widgets;
use crate::ui::widgets::conflicts::{ConflictResolution, conflicts_ui};
use crate::view::model::ElementView;
use crate::view::theme::{SPACE, TYPE, Theme};
use crate::workspace::text_merge::TextMerge;

/// The maximum number of characters of a preview, which is laid out again at every keystroke.
const PREVIEW_CHARS: usize = 20_000;

/// The views of a text.
const VIEWS: [&str; 3] = [texts::WRITE_VIEW, texts::READ_VIEW, texts::BOTH_VIEWS];

/// Returns the key of the draft of an element's text.
pub fn draft_name(id: &str) -> String {
    format!("text of {id}")
}

pub(super) fn text_ui(
    ui: &mut Ui,
    element: &ElementView,
    written: &str,
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let name = draft_name(&element.id);
    // A draft that equals the current text is obsolete: it was saved, or someone else wrote the same.
    if overlays.drafts.get(&name).is_some_and(|draft| draft == written) {
        overlays.drafts.remove(&name);
        overlays.draft_bases.remove(&name);
    }
    let view_id = ui.id().with("text view");
    let mut view: usize = ui.data(|data| data.get_temp(view_id)).unwrap_or(0);
    let unsaved = overlays.drafts.contains_key(&name);
    let has_conflict = unsaved && overlays.draft_bases.get(&name).is_some_and(|base| base != written);
    ui.horizontal(|ui| {
        let choices = VIEWS.map(|view| (view.to_owned(), texts::view_name(view)));
        if let Some(chosen) = widgets::segments(ui, &choices, Some(view), theme) {
            view = chosen;
            ui.data_mut(|data| data.insert_temp(view_id, view));
        }
        if unsaved {
            ui.label(RichText::new(texts::NOT_SAVED_YET).size(TYPE[0]).color(theme.warn));
        }
    });
    if has_conflict {
        conflict_ui(ui, &name, written, theme, overlays);
    }
    let mut draft = overlays.drafts.get(&name).cloned().unwrap_or_else(|| written.to_owned());
    let height = (ui.available_height() - 52.0).max(120.0);
    let changed = match view {
        0 => editor_ui(ui, &mut draft, height),
        1 => {
            preview_ui(ui, &draft, height, theme, commands);
            false
        }
        _ => {
            let mut changed = false;
            ui.columns(2, |columns| {
                changed = editor_ui(&mut columns[0], &mut draft, height);
                preview_ui(&mut columns[1], &draft, height, theme, commands);
            });
            changed
        }
    };
    if changed {
        overlays.draft_bases.entry(name.clone()).or_insert_with(|| written.to_owned());
        overlays.drafts.insert(name.clone(), draft.clone());
    }
    ui.add_space(SPACE[0]);
    ui.horizontal(|ui| {
        let save = widgets::primary(ui, unsaved && !has_conflict, texts::SAVE, theme);
        let by_key = ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, egui::Key::S));
        if unsaved && !has_conflict && (save.clicked() || by_key) {
            let set = |text: &str| edit(&element.id, TextAct::SetText { text: text.to_owned() }.into());
            commands.push(Command::Act(set(&draft), Some(set(written))));
        }
        if unsaved && ui.button(texts::DISCARD_DRAFT).clicked() {
            overlays.drafts.remove(&name);
            overlays.draft_bases.remove(&name);
        }
        ui.label(widgets::small(texts::length_of_markdown(draft.chars().count()), theme));
    });
}

/// A merge of a draft with a text written by someone else, whose conflicts the user resolves.
#[derive(Clone)]
struct Merging {
    /// The draft and the element's text at the start of the merge, which the choices refer to.
    mine: String,
    theirs: String,
    merge: TextMerge,
}

/// Draws the notice that someone else changed the text, with the choice to merge.
fn conflict_ui(ui: &mut Ui, name: &str, written: &str, theme: &Theme, overlays: &mut Overlays) {
    let mine = overlays.drafts.get(name).cloned().unwrap_or_default();
    let id = ui.id().with(("merge", name));
    let begun = ui.data(|data| data.get_temp::<Option<Merging>>(id)).flatten();
    let mut merging = begun.filter(|merging| merging.mine == mine && merging.theirs == written);
    match &mut merging {
        Some(begun) => match conflicts_ui(ui, &begun.merge, theme) {
            Some(ConflictResolution::Choose(place, choice)) => begun.merge.choose(place, choice),
            Some(ConflictResolution::Stop) => merging = None,
            None => {}
        },
        None => merging = conflict_choice_ui(ui, name, mine, written, theme, overlays),
    }
    if let Some(text) = merging.as_ref().and_then(|merging| merging.merge.text()) {
        overlays.drafts.insert(name.to_owned(), text);
        overlays.draft_bases.insert(name.to_owned(), written.to_owned());
        merging = None;
    }
    ui.data_mut(|data| data.insert_temp(id, merging));
}

/// Draws the choice between merging, keeping and discarding the draft. Returns a merge if it was chosen.
fn conflict_choice_ui(
    ui: &mut Ui,
    name: &str,
    mine: String,
    written: &str,
    theme: &Theme,
    overlays: &mut Overlays,
) -> Option<Merging> {
    let mut merging = None;
    widgets::in_card(ui, theme, |ui| {
        ui.label(RichText::new(texts::CHANGED_BY_SOMEONE_ELSE).color(theme.warn));
        ui.collapsing(texts::CURRENT_TEXT, |ui| {
            ScrollArea::vertical().max_height(120.0).show(ui, |ui| ui.label(truncate(written, PREVIEW_CHARS)));
        });
        ui.horizontal(|ui| {
            let merge = widgets::primary(ui, true, texts::MERGE, theme);
            if merge.on_hover_text(texts::MERGE_HINT).clicked() {
                let base = overlays.draft_bases.get(name).map_or("", String::as_str);
                let merge = TextMerge::new(base, &mine, written);
                merging = Some(Merging { mine, theirs: written.to_owned(), merge });
            }
            if ui.button(texts::KEEP_MINE).on_hover_text(texts::KEEP_MINE_HINT).clicked() {
                overlays.draft_bases.insert(name.to_owned(), written.to_owned());
            }
            if ui.button(texts::USE_THEIRS).on_hover_text(texts::USE_THEIRS_HINT).clicked() {
                overlays.drafts.remove(name);
                overlays.draft_bases.remove(name);
            }
        });
    });
    merging
}

fn editor_ui(ui: &mut Ui, draft: &mut String, height: f32) -> bool {
    ScrollArea::vertical()
        .id_salt("writer")
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, |ui| {
            let edit = TextEdit::multiline(draft)
                .font(FontId::monospace(TYPE[1]))
                .margin(egui::Margin::same(10))
                .hint_text(texts::WRITE_MARKDOWN)
                .desired_width(f32::INFINITY)
                .min_size(egui::vec2(0.0, height - 4.0));
            let response = ui.add(edit);
            widgets::name(&response, texts::TEXT);
            response.changed()
        })
        .inner
}

fn preview_ui(ui: &mut Ui, draft: &str, height: f32, theme: &Theme, commands: &mut Vec<Command>) {
    ScrollArea::vertical().id_salt("reader").max_height(height).min_scrolled_height(height).auto_shrink(false).show(
        ui,
        |ui| {
            widgets::in_card(ui, theme, |ui| {
                if draft.trim().is_empty() {
                    ui.label(widgets::secondary_text(texts::EMPTY, theme));
                } else if draft.chars().count() > PREVIEW_CHARS {
                    markdown(ui, &truncate(draft, PREVIEW_CHARS), theme, commands);
                    ui.label(widgets::small(texts::PREVIEW_IS_CUT, theme));
                } else {
                    markdown(ui, draft, theme, commands);
                }
            });
        },
    );
}
