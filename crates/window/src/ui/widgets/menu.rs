//! Menus in one style: plain rows with the shortcut at the right, and the same triangle for all submenus.

use egui::containers::menu::{MenuButton, MenuConfig, SubMenuButton};
use egui::{
    Align, Button, Color32, ComboBox, Layout, Painter, PopupCloseBehavior, Rect, Response, Stroke, Ui, WidgetText, vec2,
};

use super::controls::{apply_style, name};
use super::icons::Icon;
use crate::view::theme::{MENU, SPACE, Theme};

/// The text that reserves space for the triangle of a button.
const TRIANGLE_SPACE: &str = "   ";
/// The side of the triangle, in points.
const TRIANGLE_POINTS: f32 = 7.0;
/// The text that reserves space for the picture of a row.
const PICTURE_SPACE: &str = "       ";
/// The side of the picture, in points.
const PICTURE_POINTS: f32 = 24.0;

/// Applies the style of a menu: rows of this width without frames, and texts that are not stretched.
pub fn content<R>(ui: &mut Ui, theme: &Theme, width: f32, add: impl FnOnce(&mut Ui) -> R) -> R {
    apply_style(ui.style_mut(), theme);
    let style = ui.style_mut();
    style.spacing.item_spacing.y = 2.0;
    style.spacing.button_padding.x = SPACE[1];
    let widgets = &mut style.visuals.widgets;
    (widgets.inactive.weak_bg_fill, widgets.inactive.bg_stroke) = (Color32::TRANSPARENT, Stroke::NONE);
    for widget in [&mut widgets.hovered, &mut widgets.active, &mut widgets.open] {
        widget.bg_stroke = Stroke::NONE;
    }
    ui.set_width(width);
    ui.with_layout(Layout::top_down(Align::Min), add).inner
}

/// A menu row for a command, with its shortcut at the right. A click closes the menu.
pub fn entry(ui: &mut Ui, label: impl Into<WidgetText>, keys: &str) -> Response {
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let button = Button::new(label.into()).truncate().min_size(size);
    let response = ui.add(if keys.is_empty() { button } else { button.shortcut_text(keys) });
    if response.clicked() {
        ui.close();
    }
    response
}

/// A menu row for a list item: an agent, a folder, a recent task. Rows for actions are commands of the table
/// (`ui::menus`). A click closes the menu.
pub fn listed(ui: &mut Ui, what: impl Into<WidgetText>) -> Response {
    entry(ui, what, "")
}

/// A menu row for one of several exclusive options, such as the open scene.
pub fn choice(ui: &mut Ui, is_chosen: bool, label: &str) -> Response {
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let response = ui.add(Button::selectable(is_chosen, label).truncate().min_size(size));
    if response.clicked() {
        ui.close();
    }
    response
}

/// A menu row for an exclusive option with a picture at the left.
pub fn choice_with_picture(ui: &mut Ui, is_chosen: bool, label: &str, paint: impl FnOnce(&Painter, Rect)) -> Response {
    let row = choice(ui, is_chosen, &with_room_for_picture(label));
    name(&row, label);
    picture(ui, &row, paint);
    row
}

/// Returns the label of a row with space for a picture at the left.
pub fn with_room_for_picture(label: &str) -> String {
    format!("{PICTURE_SPACE}{label}")
}

/// Draws the picture of such a row.
pub fn picture(ui: &Ui, row: &Response, paint: impl FnOnce(&Painter, Rect)) {
    let middle = row.rect.left_center() + vec2(PICTURE_POINTS / 2.0 + SPACE[0], 0.0);
    let place = Rect::from_center_size(middle, vec2(PICTURE_POINTS, PICTURE_POINTS));
    if ui.is_rect_visible(place) {
        paint(ui.painter(), place);
    }
}

/// A menu row that opens a submenu.
pub fn submenu(ui: &mut Ui, label: &str, width: f32, theme: &Theme, add: impl FnOnce(&mut Ui)) -> Response {
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    let button = Button::new(label).right_text(TRIANGLE_SPACE).min_size(size);
    let (button, _) = SubMenuButton::from_button(button).ui(ui, |ui| content(ui, theme, width, add));
    triangle(ui, &button, Icon::Play, theme);
    name(&button, label);
    button
}

/// A button that opens a menu.
pub fn menu_button(
    ui: &mut Ui,
    text: impl Into<WidgetText>,
    accessible_name: &str,
    width: f32,
    theme: &Theme,
    add: impl FnOnce(&mut Ui),
) -> Response {
    menu_button_with(ui, text.into(), (accessible_name, width), PopupCloseBehavior::CloseOnClick, theme, add)
}

/// A button that opens a menu that stays open when something in it is clicked.
pub fn menu_button_that_stays(
    ui: &mut Ui,
    text: impl Into<WidgetText>,
    accessible_name: &str,
    width: f32,
    theme: &Theme,
    add: impl FnOnce(&mut Ui),
) -> Response {
    menu_button_with(ui, text.into(), (accessible_name, width), PopupCloseBehavior::CloseOnClickOutside, theme, add)
}

fn menu_button_with(
    ui: &mut Ui,
    text: WidgetText,
    (accessible_name, width): (&str, f32),
    close_behavior: PopupCloseBehavior,
    theme: &Theme,
    add: impl FnOnce(&mut Ui),
) -> Response {
    let config = MenuConfig::new().close_behavior(close_behavior);
    let button = Button::new(text).right_text(TRIANGLE_SPACE);
    let menu = MenuButton::from_button(button).config(config);
    let (button, _) = menu.ui(ui, |ui| content(ui, theme, width, add));
    triangle(ui, &button, Icon::Down, theme);
    if !accessible_name.is_empty() {
        name(&button, accessible_name);
    }
    button
}

/// A field that shows the selected option and opens the list of options.
pub fn drop_down(
    ui: &mut Ui,
    accessible_name: &str,
    shown: impl Into<WidgetText>,
    width: f32,
    theme: &Theme,
    add: impl FnOnce(&mut Ui),
) -> Response {
    let colour = theme.text_soft;
    let menu = ComboBox::from_id_salt(accessible_name)
        .selected_text(shown)
        .width(width)
        .truncate()
        .icon(move |ui, rect, _, _| {
            let square = Rect::from_center_size(rect.center(), vec2(TRIANGLE_POINTS, TRIANGLE_POINTS));
            Icon::Down.paint(ui.painter(), square, colour);
        })
        .show_ui(ui, |ui| content(ui, theme, width.max(MENU[0]), add));
    name(&menu.response, accessible_name);
    menu.response
}

/// Draws the triangle at the right end of a button that opens a list.
fn triangle(ui: &Ui, button: &Response, icon: Icon, theme: &Theme) {
    let middle = button.rect.right_center() - vec2(SPACE[2], 0.0);
    icon.paint(ui.painter(), Rect::from_center_size(middle, vec2(TRIANGLE_POINTS, TRIANGLE_POINTS)), theme.text_soft);
}
