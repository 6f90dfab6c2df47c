//! The bar for finding and replacing above a text.

use egui::{Key, Modifiers, Response, RichText, Ui};

use super::field::{FieldView, JumpTarget, field_id};
use super::find::Find;
use super::tab::Tab;
use super::texts;
use crate::ui::commands::keys;
use crate::ui::menus::keys_tip;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{TYPE, Theme};

/// Width of the text fields.
const FIELD_POINTS: f32 = 220.0;

/// An action of the find bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FindBarAction {
    Next,
    Previous,
    ReplaceOne,
    ReplaceAll,
    Close,
}

/// Handles the keys that open the find bar and step through the matches, while the editor has the focus.
pub fn keys(ui: &Ui, tab: &Tab, view: &mut FieldView, find: &mut Find) {
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    let selected = || {
        let (one, other) = (view.cursor.byte.min(view.anchor), view.cursor.byte.max(view.anchor));
        tab.text.get(one..other).unwrap_or_default().to_owned()
    };
    // Some systems use this shortcut to hide the application; the button works there.
    if keys::consume(ui, "editor.replace") {
        find.open(true, &selected());
    } else if keys::consume(ui, "editor.find") {
        find.open(find.shows_replace, &selected());
    }
    if find.is_open {
        let backward = pressed(Modifiers::SHIFT, Key::F3);
        if backward || pressed(Modifiers::NONE, Key::F3) {
            step(view, find, !backward);
        }
    }
}

/// Draws the find bar. Returns whether it changed the text.
pub fn find_bar_ui(
    ui: &mut Ui,
    path: &str,
    tab: &mut Tab,
    view: &mut FieldView,
    find: &mut Find,
    theme: &Theme,
) -> bool {
    find.update(&tab.text, tab.generation);
    let mut action = None;
    widgets::in_card(ui, theme, |ui| {
        ui.horizontal_wrapped(|ui| {
            let field = one_line(ui, &mut find.query.needle, texts::FIND, texts::FIND, (path, "find"));
            if std::mem::take(&mut find.wants_focus) {
                field.request_focus();
            }
            action = action.or(enter(ui, &field));
            toggle(ui, &mut find.query.match_case, texts::CASE, texts::MATCH_CASE);
            toggle(ui, &mut find.query.whole_word, texts::WORD, texts::MATCH_WHOLE_WORD);
            toggle(ui, &mut find.query.is_expression, texts::EXPRESSION, texts::REGULAR_EXPRESSION);
            let button = |ui: &mut Ui, icon, label, id| {
                keys_tip(widgets::icon_button(ui, icon, label, false, theme), id).clicked()
            };
            if button(ui, Icon::Up, texts::PREVIOUS, "finding.previous") {
                action = Some(FindBarAction::Previous);
            }
            if button(ui, Icon::Down, texts::NEXT, "finding.next") {
                action = Some(FindBarAction::Next);
            }
            ui.label(widgets::small(find.count(), theme));
            let shown = if find.shows_replace { texts::HIDE_REPLACE } else { texts::SHOW_REPLACE };
            if ui.button(shown).clicked() {
                find.shows_replace = !find.shows_replace;
            }
            if button(ui, Icon::Cross, texts::CLOSE_SEARCH, "finding.close") {
                action = Some(FindBarAction::Close);
            }
        });
        if find.shows_replace {
            ui.horizontal_wrapped(|ui| {
                let hint = if find.query.is_expression { texts::FIRST_GROUP_HINT } else { texts::REPLACE_WITH };
                let field = one_line(ui, &mut find.replacement, texts::REPLACE_WITH, hint, (path, "replace"));
                if widgets::entered(ui, &field) {
                    action = Some(FindBarAction::ReplaceOne);
                }
                ui.add_enabled_ui(!find.matches.is_empty(), |ui| {
                    if ui.button(texts::REPLACE).clicked() {
                        action = Some(FindBarAction::ReplaceOne);
                    }
                    if ui.button(texts::REPLACE_ALL).clicked() {
                        action = Some(FindBarAction::ReplaceAll);
                    }
                });
            });
        }
        if let Some(error) = &find.error {
            ui.label(RichText::new(error).size(TYPE[0]).color(theme.bad));
        }
    });
    find.update(&tab.text, tab.generation);
    if escape_pressed(ui, path) {
        action = action.or(Some(FindBarAction::Close));
    }
    action.is_some_and(|action| run_action(ui, path, tab, view, find, action))
}

/// Whether Escape was pressed in one of the fields, which have lost the focus by then.
fn escape_pressed(ui: &Ui, path: &str) -> bool {
    let left = |name| ui.ctx().read_response(bar_id(path, name)).is_some_and(|field| field.lost_focus());
    // Another handler may have consumed the key press.
    ui.input(|input| input.key_down(Key::Escape) || input.key_pressed(Key::Escape)) && (left("find") || left("replace"))
}

/// Whether one of the fields has the keyboard focus.
pub fn has_focus(ui: &Ui, path: &str) -> bool {
    ui.memory(|memory| memory.has_focus(bar_id(path, "find")) || memory.has_focus(bar_id(path, "replace")))
}

fn bar_id(path: &str, name: &str) -> egui::Id {
    egui::Id::new(("editor", path, name))
}

fn one_line(ui: &mut Ui, text: &mut String, label: &str, hint: &str, id: (&str, &str)) -> Response {
    let field = widgets::text_line(text).id(bar_id(id.0, id.1)).hint_text(hint.to_owned()).desired_width(FIELD_POINTS);
    let response = ui.add(field.margin(egui::Margin::symmetric(8, 5)));
    widgets::name(&response, label);
    response
}

fn toggle(ui: &mut Ui, on: &mut bool, shown: &str, label: &str) {
    let button = ui.selectable_label(*on, shown).on_hover_text(label);
    button.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Checkbox, true, *on, label));
    if button.clicked() {
        *on = !*on;
    }
}

fn enter(ui: &Ui, field: &Response) -> Option<FindBarAction> {
    if !widgets::entered(ui, field) {
        return None;
    }
    // Keeps the focus, so that Enter can be pressed again for the next match.
    field.request_focus();
    Some(if ui.input(|input| input.modifiers.shift) { FindBarAction::Previous } else { FindBarAction::Next })
}

fn step(view: &mut FieldView, find: &mut Find, forward: bool) {
    if let Some(place) = find.step(view.cursor.byte, forward) {
        jump_to(view, place);
    }
}

fn jump_to(view: &mut FieldView, place: std::ops::Range<usize>) {
    (view.anchor, view.cursor.byte) = (place.start, place.end);
    view.jump = Some(JumpTarget::Bytes(place));
}

fn run_action(
    ui: &Ui,
    path: &str,
    tab: &mut Tab,
    view: &mut FieldView,
    find: &mut Find,
    action: FindBarAction,
) -> bool {
    match action {
        FindBarAction::Next => step(view, find, true),
        FindBarAction::Previous => step(view, find, false),
        FindBarAction::Close => {
            find.close();
            ui.memory_mut(|memory| memory.request_focus(field_id(path)));
        }
        FindBarAction::ReplaceOne => {
            // Without a current match, the first press only shows what would be replaced.
            let Some((text, place)) = find.replace_one(&tab.text) else {
                step(view, find, true);
                return false;
            };
            tab.write(text);
            find.update(&tab.text, tab.generation);
            find.current = None;
            match find.step(place.end, true) {
                Some(next) => jump_to(view, next),
                None => jump_to(view, place),
            }
            return true;
        }
        FindBarAction::ReplaceAll => {
            let Some((text, count)) = find.replace_all(&tab.text).filter(|(_, count)| *count > 0) else { return false };
            tab.write(text);
            find.update(&tab.text, tab.generation);
            find.replaced = Some(count);
            return true;
        }
    }
    false
}
