//! The basic widgets of all panes: cards, headings, badges, buttons, fields, switches, and zooming with the mouse.

use egui::{
    Align, AsIdSalt, Color32, CornerRadius, FontId, Frame, Layout, Margin, Response, RichText, Sense, Shadow, Stroke,
    StrokeKind, Style, TextEdit, Ui, UiBuilder, vec2,
};

use crate::ui::widgets::icons::Icon;
use crate::view::theme::{BUTTON_RADIUS, LINE, RADIUS, SPACE, TYPE, Theme};

/// Exponential zoom factor per scrolled point of the mouse wheel.
const WHEEL_PER_POINT: f32 = 0.004;

/// Applies the theme's style to all widgets; every panel calls it first.
pub fn apply_style(style: &mut Style, theme: &Theme) {
    let tint = |share: f32| mix(theme.card, theme.accent, share);
    let widgets = &mut style.visuals.widgets;
    for widget in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active, &mut widgets.open] {
        widget.corner_radius = CornerRadius::same(BUTTON_RADIUS);
        widget.expansion = 0.0;
        widget.fg_stroke = Stroke::new(LINE[1], theme.text);
    }
    (widgets.inactive.weak_bg_fill, widgets.inactive.bg_stroke) =
        (theme.card, Stroke::new(LINE[0], theme.field_line()));
    (widgets.hovered.weak_bg_fill, widgets.hovered.bg_fill) = (tint(0.10), tint(0.10));
    widgets.hovered.bg_stroke = Stroke::new(LINE[0], mix(theme.field_line(), theme.accent, 0.5));
    (widgets.active.weak_bg_fill, widgets.active.bg_fill) = (tint(0.22), tint(0.22));
    widgets.active.bg_stroke = Stroke::new(LINE[0], theme.accent);
    (widgets.open.weak_bg_fill, widgets.open.bg_stroke) = (tint(0.10), Stroke::new(LINE[0], theme.field_line()));
    widgets.noninteractive.bg_stroke = Stroke::new(LINE[0], theme.line);
    style.visuals.selection.bg_fill = tint(0.28);
    style.visuals.selection.stroke = Stroke::new(LINE[0], theme.text);
    style.visuals.window_corner_radius = CornerRadius::same(RADIUS[2]);
    style.visuals.menu_corner_radius = CornerRadius::same(RADIUS[1]);
    style.visuals.text_edit_bg_color = Some(theme.card);
    style.spacing.item_spacing = vec2(SPACE[1], SPACE[1]);
    style.spacing.button_padding = vec2(SPACE[2], 5.0);
    style.spacing.interact_size.y = 28.0;
    style.spacing.menu_margin = Margin::same(SPACE[1] as i8);
    style.spacing.scroll.floating = true;
    // The default fade blends into a grey smudge over light backgrounds.
    style.spacing.scroll.fade.strength = 0.0;
}

/// Returns the zoom factors of this frame: of the mouse wheel and of a pinch gesture, where they were used.
pub fn zoom_factors(ui: &Ui) -> impl Iterator<Item = f32> + use<> {
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    let wheel = (scroll != 0.0).then(|| (scroll * WHEEL_PER_POINT).exp());
    wheel.into_iter().chain((pinch != 1.0).then_some(pinch))
}

/// Returns a mixture of two colours; `share` is that of the second.
pub fn mix(one: Color32, other: Color32, share: f32) -> Color32 {
    one.lerp_to_gamma(other, share)
}

/// Returns the frame of a card on a panel.
pub fn card(theme: &Theme) -> Frame {
    Frame::new()
        .fill(theme.card)
        .stroke(Stroke::new(LINE[0], theme.line))
        .corner_radius(CornerRadius::same(RADIUS[1]))
        .inner_margin(Margin::same(SPACE[2] as i8))
}

/// Returns the frame of a window above the room.
pub fn window(theme: &Theme) -> Frame {
    Frame::new()
        .fill(theme.panel)
        .stroke(Stroke::new(LINE[0], theme.line))
        .corner_radius(CornerRadius::same(RADIUS[2]))
        .inner_margin(Margin::same(SPACE[3] as i8))
        .shadow(Shadow { offset: [0, 6], blur: 24, spread: 0, color: theme.shadow })
}

/// Returns small secondary text.
pub fn small(text: impl Into<String>, theme: &Theme) -> RichText {
    RichText::new(text).size(TYPE[0]).color(theme.text_soft)
}

/// Returns secondary text.
pub fn secondary_text(text: impl Into<String>, theme: &Theme) -> RichText {
    RichText::new(text).size(TYPE[1]).color(theme.text_soft)
}

/// Returns the heading of a card.
pub fn heading(text: impl Into<String>, theme: &Theme) -> RichText {
    RichText::new(text).heading().size(TYPE[2]).color(theme.text)
}

/// Begins a section of a panel: a small title with space above.
pub fn section(ui: &mut Ui, title: &str, theme: &Theme) {
    ui.add_space(SPACE[1]);
    ui.label(section_title(title, theme));
}

/// Begins a section with widgets at the right of its title.
pub fn section_with<R>(ui: &mut Ui, title: &str, theme: &Theme, right: impl FnOnce(&mut Ui) -> R) -> R {
    ui.add_space(SPACE[1]);
    line(ui, title, |ui| drop(ui.label(section_title(title, theme))), right)
}

fn section_title(title: &str, theme: &Theme) -> RichText {
    RichText::new(title).heading().size(TYPE[1]).color(theme.accent)
}

/// Begins a group of settings: a title and a description.
pub fn group(ui: &mut Ui, title: &str, about: &str, theme: &Theme) {
    ui.add_space(SPACE[2]);
    ui.label(RichText::new(title).size(TYPE[2]).color(theme.accent));
    ui.add(egui::Label::new(small(about, theme)).wrap());
    ui.add_space(SPACE[0]);
}

/// Sets the accessible name of a widget.
pub fn name(response: &Response, name: impl Into<String>) {
    let name = name.into();
    response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
}

/// The primary button of a card.
pub fn primary(ui: &mut Ui, enabled: bool, text: &str, theme: &Theme) -> Response {
    let fill = if enabled { theme.accent } else { mix(theme.card, theme.accent, 0.3) };
    let label = RichText::new(text).color(if enabled { theme.on_accent } else { theme.text_soft });
    ui.add_enabled(enabled, egui::Button::new(label).fill(fill).stroke(Stroke::NONE))
}

/// A button for an action that is not easily undone.
pub fn danger(ui: &mut Ui, text: &str, theme: &Theme) -> Response {
    let stroke = Stroke::new(LINE[0], mix(theme.line, theme.bad, 0.6));
    ui.add(egui::Button::new(RichText::new(text).color(theme.bad)).stroke(stroke))
}

/// A round icon button; `label` is its accessible name and its tooltip.
pub fn icon_button(ui: &mut Ui, icon: Icon, label: &str, on: bool, theme: &Theme) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Button, ui.is_enabled(), on, label));
    if ui.is_rect_visible(rect) {
        let share = if on { 0.26 } else { 0.0 } + if response.hovered() { 0.10 } else { 0.0 };
        if share > 0.0 {
            let fill = mix(theme.panel, theme.accent, share);
            ui.painter().rect_filled(rect, CornerRadius::same(BUTTON_RADIUS), fill);
        }
        let colour = if on { theme.accent } else { theme.text };
        icon.paint(ui.painter(), rect.shrink(7.0), colour);
    }
    response.on_hover_text(label)
}

/// A row of exclusive choices, each as short label and accessible name. Returns the index of the one clicked.
pub fn segments(ui: &mut Ui, choices: &[(String, String)], chosen: Option<usize>, theme: &Theme) -> Option<usize> {
    segments_with_tips(ui, choices, &[], chosen, theme)
}

/// A row of exclusive choices with a tooltip each.
pub fn segments_with_tips(
    ui: &mut Ui,
    choices: &[(String, String)],
    tips: &[String],
    chosen: Option<usize>,
    theme: &Theme,
) -> Option<usize> {
    let mut clicked = None;
    let frame = Frame::new()
        .fill(mix(theme.panel, theme.line, 0.5))
        .corner_radius(CornerRadius::same(RADIUS[1]))
        .inner_margin(Margin::same(2));
    frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding = vec2(SPACE[1], 3.0);
        ui.spacing_mut().interact_size.y = 24.0;
        ui.horizontal(|ui| {
            for (index, (shown, whole)) in choices.iter().enumerate() {
                let on = chosen == Some(index);
                let text = RichText::new(shown).color(if on { theme.text } else { theme.text_soft });
                let fill = if on { theme.card } else { Color32::TRANSPARENT };
                let stroke = if on { Stroke::new(LINE[0], theme.line) } else { Stroke::NONE };
                let button = egui::Button::new(text).fill(fill).stroke(stroke).selected(false);
                let response = ui.add(button.corner_radius(CornerRadius::same(BUTTON_RADIUS)));
                response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::RadioButton, true, on, whole));
                let response = match tips.get(index).filter(|tip| !tip.is_empty()) {
                    Some(tip) => response.on_hover_text(tip),
                    None => response,
                };
                if response.clicked() && !on {
                    clicked = Some(index);
                }
            }
        });
    });
    clicked
}

/// A switch with a label.
pub fn switch(ui: &mut Ui, on: bool, label: &str, theme: &Theme) -> Response {
    let galley = ui.painter().layout_no_wrap(label.to_owned(), FontId::proportional(TYPE[1]), theme.text);
    let size = vec2(30.0 + SPACE[1] + galley.size().x, 28.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Checkbox, true, on, label));
    if ui.is_rect_visible(rect) {
        let share = ui.ctx().animate_bool_responsive(response.id, on);
        let track = egui::Rect::from_min_size(rect.left_center() - vec2(0.0, 8.0), vec2(28.0, 16.0));
        let fill = mix(mix(theme.panel, theme.text_soft, 0.45), theme.accent, share);
        ui.painter().rect_filled(track, CornerRadius::same(track.height() as u8 / 2), fill);
        let knob = egui::lerp((track.left() + 8.0)..=(track.right() - 8.0), share);
        ui.painter().circle_filled(egui::pos2(knob, track.center().y), 6.0, theme.card);
        if response.hovered() {
            let ring = Stroke::new(LINE[0], theme.accent);
            let corners = CornerRadius::same(RADIUS[1]);
            ui.painter().rect_stroke(track.expand(2.0), corners, ring, StrokeKind::Outside);
        }
        let text = egui::pos2(track.right() + SPACE[1], rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(text, galley, theme.text);
    }
    response
}

/// A badge with a coloured dot; its text keeps the panel's colour, so that it is legible.
pub fn badge(ui: &mut Ui, text: &str, colour: Color32, theme: &Theme) -> Response {
    let galley = ui.painter().layout_no_wrap(text.to_owned(), FontId::proportional(TYPE[0]), theme.text);
    let size = galley.size() + vec2(SPACE[1] * 2.0 + 10.0, 6.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Label, true, text));
    ui.painter().rect_filled(rect, CornerRadius::same(RADIUS[1]), mix(theme.card, colour, 0.22));
    ui.painter().circle_filled(rect.left_center() + vec2(SPACE[1] + 2.0, 0.0), 3.5, colour);
    ui.painter().galley(rect.left_center() + vec2(SPACE[1] + 10.0, -galley.size().y / 2.0), galley, theme.text);
    response
}

/// A text field of one line. It keeps the focus when Enter is pressed, so that what is typed next is text, too; Escape
/// leaves it.
pub fn text_line(text: &mut String) -> TextEdit<'_> {
    TextEdit::singleline(text).return_key(None)
}

/// A single-line text field with a name.
pub fn field(ui: &mut Ui, text: &mut String, label: &str, hint: &str) -> Response {
    let response = ui.add(
        text_line(text)
            .hint_text(hint.to_owned())
            .margin(Margin::symmetric(8, 5))
            .desired_width(f32::INFINITY)
            .id_salt(label),
    );
    name(&response, label);
    response
}

/// A multi-line text field.
pub fn area(ui: &mut Ui, text: &mut String, label: &str, hint: &str, rows: usize) -> Response {
    let response = ui.add(
        TextEdit::multiline(text)
            .hint_text(hint.to_owned())
            .margin(Margin::symmetric(8, 6))
            .desired_rows(rows)
            .desired_width(f32::INFINITY)
            .id_salt(label),
    );
    name(&response, label);
    response
}

/// Focuses a text field, with the cursor at the end of its text.
pub fn focus_at_end(ui: &Ui, field: &Response, text: &str) {
    use egui::text::{CCursor, CCursorRange};
    field.request_focus();
    let mut edit = egui::text_edit::TextEditState::load(ui.ctx(), field.id).unwrap_or_default();
    edit.cursor.set_char_range(Some(CCursorRange::one(CCursor::new(text.chars().count()))));
    edit.store(ui.ctx(), field.id);
}

/// Selects the whole text of a field.
pub fn select_all(ui: &Ui, field: &Response, text: &str) {
    use egui::text::{CCursor, CCursorRange};
    let mut edit = egui::text_edit::TextEditState::load(ui.ctx(), field.id).unwrap_or_default();
    let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
    edit.cursor.set_char_range(Some(all));
    edit.store(ui.ctx(), field.id);
}

/// Whether Enter was pressed in a single-line text field, which keeps the focus.
pub fn entered(ui: &Ui, response: &Response) -> bool {
    response.has_focus() && !response.gained_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter))
}

/// Whether the text of a single-line field is complete: Enter was pressed, or the focus moved on.
pub fn committed(ui: &Ui, response: &Response) -> bool {
    response.lost_focus() || entered(ui, response)
}

/// How the editing of a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EditEnd {
    /// The text is to be saved.
    Save,
    /// The changes are to be discarded.
    Cancel,
}

/// A multi-line field that was opened for editing, with its buttons. It takes the focus once `is_focused` is false, with
/// the cursor at the end; Ctrl+Enter saves, Escape cancels.
pub fn editor(
    ui: &mut Ui,
    (text, is_focused): (&mut String, &mut bool),
    (label, hint): (&str, &str),
    rows: usize,
    (save, cancel): (&str, &str),
    theme: &Theme,
) -> Option<EditEnd> {
    let field = area(ui, text, label, hint, rows);
    if !std::mem::replace(is_focused, true) {
        focus_at_end(ui, &field, text);
    }
    let (escapes, saves) = ui.input(|input| {
        let enters = input.key_pressed(egui::Key::Enter) && input.modifiers.command;
        (input.key_pressed(egui::Key::Escape), enters)
    });
    let can_save = !text.trim().is_empty();
    let mut end = (field.lost_focus() && escapes).then_some(EditEnd::Cancel);
    if field.has_focus() && saves && can_save {
        end = Some(EditEnd::Save);
    }
    ui.horizontal(|ui| {
        if primary(ui, can_save, save, theme).on_hover_text("Ctrl+Enter").clicked() {
            end = Some(EditEnd::Save);
        }
        if ui.button(cancel).on_hover_text("Escape").clicked() {
            end = Some(EditEnd::Cancel);
        }
    });
    end
}

/// Draws the background of a portrait, in the colour of the room's floor.
pub fn portrait_background(painter: &egui::Painter, rect: egui::Rect, theme: &Theme) {
    painter.rect_filled(rect, CornerRadius::same(RADIUS[1]), mix(theme.floor, theme.panel, 0.35));
}

/// The placeholder of an empty panel: a description of its usual content, and how to create some.
pub fn empty(ui: &mut Ui, icon: Icon, title: &str, how: &str, theme: &Theme) {
    ui.vertical_centered(|ui| {
        ui.add_space(SPACE[4]);
        let (rect, _) = ui.allocate_exact_size(vec2(34.0, 34.0), Sense::hover());
        icon.paint(ui.painter(), rect, mix(theme.panel, theme.text_soft, 0.6));
        ui.add_space(SPACE[0]);
        ui.label(RichText::new(title).size(TYPE[1]).color(theme.text));
        ui.label(small(how, theme));
        ui.add_space(SPACE[4]);
    });
}

/// A wrapping text with one button at the right edge, whose position does not depend on the text. For several buttons
/// use [`line()`], which keeps them in reading order.
pub fn beside_button<R>(
    ui: &mut Ui,
    text: impl Into<egui::WidgetText>,
    button: impl FnOnce(&mut Ui) -> R,
) -> (Response, R) {
    let inner = ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
        let pressed = button(ui);
        let rest = ui.available_width();
        let label = ui.allocate_ui_with_layout(vec2(rest, 0.0), Layout::top_down(Align::Min), |ui| {
            ui.add(egui::Label::new(text).wrap())
        });
        (label.inner, pressed)
    });
    inner.inner
}

/// One line with a part at its left edge and one at its right edge, both laid out from left to right, so that they are
/// read and focused with Tab in the order in which they are added. `salt` distinguishes the line from others of the
/// same parent.
pub fn line<R>(ui: &mut Ui, salt: impl AsIdSalt, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| line_parts(ui, salt, left, right)).inner
}

/// Like [`line()`], within the rest of a line. The width of the right part is that of the previous frame; if it has
/// changed, the frame is laid out again.
pub fn line_parts<R>(
    ui: &mut Ui,
    salt: impl AsIdSalt,
    left: impl FnOnce(&mut Ui),
    right: impl FnOnce(&mut Ui) -> R,
) -> R {
    let id = ui.id().with(("width of the right part", salt));
    let previous = ui.data(|data| data.get_temp::<f32>(id));
    let (whole, spacing) = (ui.available_rect_before_wrap(), ui.spacing().item_spacing.x);
    // Half of the line in the first pass, so that code measuring the content does not see it as wider.
    let split = whole.right() - previous.unwrap_or(whole.width() / 2.0);
    let layout = Layout::left_to_right(ui.layout().vertical_align());
    let part = |rect| UiBuilder::new().max_rect(rect).layout(layout);
    ui.scope_builder(part(whole.with_max_x((split - spacing).max(whole.left()))), left);
    let (inner, width) = ui
        .scope_builder(part(whole.with_min_x(split)), |ui| {
            let inner = right(ui);
            (inner, ui.min_rect().width())
        })
        .inner;
    if previous.is_none_or(|previous| (previous - width).abs() > 0.5) {
        ui.data_mut(|data| data.insert_temp(id, width));
        ui.ctx().request_discard("the right part of a line has another width");
    }
    inner
}

/// Content that fills a panel and a footer below, added in this order, so that Tab follows the reading order. The
/// height of the footer is that of the previous frame.
pub fn with_footer<R>(ui: &mut Ui, salt: &str, above: impl FnOnce(&mut Ui), foot: impl FnOnce(&mut Ui) -> R) -> R {
    let id = ui.id().with(("height of the foot", salt));
    let previous = ui.data(|data| data.get_temp::<f32>(id));
    let whole = ui.available_rect_before_wrap();
    let split = (whole.bottom() - previous.unwrap_or(0.0)).max(whole.top());
    let part = |rect, salt: &str| UiBuilder::new().id_salt(salt).max_rect(rect);
    ui.scope_builder(part(whole.with_max_y(split), "above"), above);
    let (inner, height) = ui
        .scope_builder(part(whole.with_min_y(split), "foot"), |ui| {
            let inner = foot(ui);
            (inner, ui.min_rect().height())
        })
        .inner;
    if previous.is_none_or(|previous| (previous - height).abs() > 0.5) {
        ui.data_mut(|data| data.insert_temp(id, height));
        ui.ctx().request_discard("the foot of a panel has another height");
    }
    inner
}

/// A card of the full width; `content` is drawn inside its margin.
pub fn in_card<R>(ui: &mut Ui, theme: &Theme, content: impl FnOnce(&mut Ui) -> R) -> R {
    card(theme)
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            content(ui)
        })
        .inner
}

/// A selectable row of a list: two lines, always of the same height, so that lists draw only the visible rows.
pub struct ChoiceRow<'a> {
    /// The accessible name.
    pub name: String,
    /// The first line.
    pub title: &'a str,
    /// The second line.
    pub about: String,
    /// Whether the row is selected.
    pub chosen: bool,
}

impl ChoiceRow<'_> {
    /// The height of every row, in points.
    pub const POINTS: f32 = 46.0;

    /// Draws the row; `mark` draws something at its left edge. Returns whether it was clicked.
    pub fn show(self, ui: &mut Ui, theme: &Theme, mark: impl FnOnce(&egui::Painter, egui::Rect)) -> bool {
        self.show_with(ui, theme, 20.0, mark)
    }

    /// Draws the row with a mark of this width, in points.
    pub fn show_with(
        self,
        ui: &mut Ui,
        theme: &Theme,
        mark_points: f32,
        mark: impl FnOnce(&egui::Painter, egui::Rect),
    ) -> bool {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), Self::POINTS), Sense::click());
        let Self { name, title, about, chosen } = self;
        response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Button, true, chosen, &name));
        let share = if chosen {
            0.18
        } else if response.hovered() {
            0.07
        } else {
            0.0
        };
        let fill = mix(theme.card, theme.accent, share);
        ui.painter().rect(
            rect,
            CornerRadius::same(RADIUS[0]),
            fill,
            Stroke::new(LINE[0], theme.line),
            StrokeKind::Inside,
        );
        mark(ui.painter(), rect);
        let inner = rect.shrink2(vec2(SPACE[2], 6.0)).with_min_x(rect.left() + mark_points);
        let mut cell = ui.new_child(UiBuilder::new().max_rect(inner));
        cell.spacing_mut().item_spacing.y = 2.0;
        cell.spacing_mut().interact_size.y = 14.0;
        cell.add(egui::Label::new(title).truncate().selectable(false));
        cell.add(egui::Label::new(small(about, theme)).truncate().selectable(false));
        response.clicked()
    }
}

/// Draws `content` in a child of `ui` with the theme's style.
pub fn dressed<R>(ui: &mut Ui, theme: &Theme, content: impl FnOnce(&mut Ui) -> R) -> R {
    ui.scope_builder(UiBuilder::new(), |ui| {
        apply_style(ui.style_mut(), theme);
        content(ui)
    })
    .inner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::view::theme::{DARK, LIGHT, contrast, state_colour, word_colour};

    /// Text colours and the backgrounds on which panels draw them, mixed as above and in the panels.
    fn pairs(theme: &Theme) -> Vec<(String, Color32, Color32)> {
        let Theme { card, panel, accent, line, text, text_soft, bubble, bubble_text, .. } = *theme;
        let mut pairs = Vec::new();
        for (share, what) in [(0.07, "hovered"), (0.10, "hovered button"), (0.18, "chosen"), (0.28, "selected")] {
            pairs.push((format!("text, {what}"), text, mix(card, accent, share)));
            if share < 0.2 {
                pairs.push((format!("soft text, {what}"), text_soft, mix(card, accent, share)));
            }
        }
        pairs.push(("segments".into(), text_soft, mix(panel, line, 0.5)));
        pairs.push(("code".into(), bubble_text, mix(card, line, 0.6)));
        pairs.push(("names".into(), bubble_text, mix(bubble, theme.floor, 0.18)));
        pairs.push(("names of elements".into(), text, mix(panel, theme.floor, 0.12)));
        pairs.push(("remarks in bubbles".into(), mix(bubble_text, bubble, 0.25), bubble));
        for (what, colour) in [("accent", accent), ("good", theme.good), ("warn", theme.warn), ("bad", theme.bad)] {
            pairs.push((format!("{what} on cards"), colour, card));
        }
        for state in State::ALL {
            pairs.push((format!("badge {state:?}"), text, mix(card, state_colour(state), 0.22)));
            pairs.push((format!("number on a dot {state:?}"), DOT_INK, state_colour(state)));
        }
        for word in ["Rulebooks", "Its file", "Its notes", "Its mail", "ada-1", "user", "What it is asked now"] {
            let colour = word_colour(word);
            pairs.push((format!("said by {word}"), bubble_text, mix(bubble, colour, 0.08)));
            pairs.push((format!("prompt of {word}"), text_soft, mix(card, mix(colour, text, 0.12), 0.10)));
        }
        pairs
    }

    /// The colour of numbers on dots.
    const DOT_INK: Color32 = crate::view::paint::DOT_INK;

    #[test]
    fn text_has_enough_contrast_on_every_background() {
        for theme in [LIGHT, DARK] {
            for (what, foreground, background) in pairs(&theme) {
                let contrast = contrast(foreground, background);
                assert!(contrast >= 4.5, "{what}, dark={}: {contrast:.2}", theme.dark);
            }
        }
    }
}
