//! Drops from the shelf or the computer's desktop into the room: the position of the new item, and its preview.

use egui::{
    Align2, CornerRadius, CursorIcon, FontId, Key, Label, Painter, Pos2, Rect, Response, RichText, Shape, Stroke,
    StrokeKind, Ui, pos2, vec2,
};

use super::texts;
use crate::ui::commands::{WindowCommand, create};
use crate::ui::state::ShelfItem;
use crate::ui::state::dock::Tab;
use crate::ui::{Command, UiState, ViewerContext};
use crate::view::camera::Camera;
use crate::view::paint::{self, Ghost};
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};

/// Adds the item dragged from the shelf when it is released over the room.
pub(super) fn handle_drop(
    ui: &Ui,
    response: &Response,
    cx: &ViewerContext<'_>,
    camera: Camera,
    commands: &mut Vec<Command>,
) {
    let (room, Some(item)) = (cx.room, cx.ui.transfer.dragging.clone()) else { return };
    let (released, pointer, exactly, cancelled) = ui.input(|input| {
        let cancelled = input.key_pressed(Key::Escape) || !input.focused;
        (input.pointer.any_released(), input.pointer.latest_pos(), create::is_exact(input.modifiers), cancelled)
    });
    if cancelled || released {
        commands.push(WindowCommand::Drag(None).into());
    }
    let over_room = pointer.filter(|pointer| response.rect.contains(*pointer) && response.contains_pointer());
    let Some(pointer) = over_room.filter(|_| released && !cancelled) else { return };
    let place = camera.to_world(pointer);
    match item {
        ShelfItem::Profile(profile) => {
            commands.extend(create::add_agent(room, &profile, place, exactly));
        }
        ShelfItem::Element(kind) => commands.push(create::element_at(room, &kind, place)),
    }
}

/// Paints a preview of the item dragged from the shelf at the position where it would be added.
pub(super) fn paint_ghost(ui: &Ui, painter: &Painter, cx: &ViewerContext<'_>, camera: Camera) {
    let ViewerContext { room, art, theme, ui: state, .. } = *cx;
    let pointer = ui.input(|input| input.pointer.latest_pos());
    let over = pointer.filter(|pointer| camera.viewport.contains(*pointer));
    let (Some(item), Some(pointer)) = (&state.transfer.dragging, over) else { return };
    let place = camera.to_world(pointer);
    let (ghost, place) = match item {
        ShelfItem::Profile(id) => {
            let profile = room.profiles.iter().find(|profile| profile.id == *id);
            let exactly = ui.input(|input| create::is_exact(input.modifiers));
            let look = profile.map_or(id, |profile| &profile.look).clone();
            (Ghost::Agent(look), create::spawn_place(room, place, exactly))
        }
        ShelfItem::Element(kind) => (Ghost::Element(kind.clone()), place),
    };
    paint::ghost(painter, art, camera, *theme, &ghost, place);
    if let Ghost::Agent(_) = ghost
        && place.distance(camera.to_world(pointer)) > 1.0
    {
        paint_lift_hint(painter, theme, camera, pointer, camera.to_screen(place));
    }
    ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
}

/// Explains next to a lifted preview why it is not at the pointer, with a dashed line from the pointer to it.
fn paint_lift_hint(painter: &Painter, theme: &Theme, camera: Camera, pointer: Pos2, feet: Pos2) {
    const MAX_WIDTH: f32 = 210.0;
    painter.extend(Shape::dashed_line(&[pointer, feet], Stroke::new(LINE[1], theme.accent), 5.0, 4.0));
    let galley = painter.layout(create::LIFTED.to_owned(), FontId::proportional(TYPE[0]), theme.text, MAX_WIDTH);
    let size = galley.size() + vec2(16.0, 10.0);
    let beside = vec2(30.0 * camera.zoom + 8.0, -0.5 * size.y - 24.0 * camera.zoom);
    let right = Rect::from_min_size(feet + beside, size);
    let left = Rect::from_min_size(feet + vec2(-beside.x - size.x, beside.y), size);
    let view = camera.viewport.shrink(4.0);
    let card = paint::inside(if right.right() <= view.right() { right } else { left }, view);
    painter.rect(
        card,
        CornerRadius::same(RADIUS[0]),
        theme.panel,
        Stroke::new(LINE[0], theme.line),
        StrokeKind::Outside,
    );
    painter.galley(card.min + vec2(8.0, 5.0), galley, theme.text);
}

/// Shows on an empty floor how to add agents, with an arrow to the shelf if that is open.
pub(super) fn empty_floor_ui(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>) {
    let ViewerContext { room, theme, ui: state, .. } = *cx;
    if !room.agents.is_empty() || state.transfer.dragging.is_some() || !state.transfer.hovering_files.is_empty() {
        return;
    }
    let from_shelf = state.dock.is_shown(&Tab::SHELF);
    let how = if from_shelf { texts::DRAG_FROM_SHELF } else { texts::RIGHT_CLICK_FLOOR };
    let card = Rect::from_center_size(rect.center(), vec2(290.0_f32.min(rect.width() - 2.0 * SPACE[2]), 74.0));
    let painter = ui.painter_at(rect);
    painter.rect_filled(card, CornerRadius::same(RADIUS[1]), theme.panel);
    let dashes = [card.left_top(), card.right_top(), card.right_bottom(), card.left_bottom(), card.left_top()];
    painter.extend(Shape::dashed_line(&dashes, Stroke::new(LINE[1], theme.accent), 7.0, 5.0));
    if from_shelf {
        let (from, to) = (card.left_center() - vec2(SPACE[1], 0.0), pos2(rect.left() + SPACE[2], card.center().y));
        painter.arrow(from, to - from, Stroke::new(LINE[2], theme.accent));
    }
    let line = |ui: &mut Ui, y: f32, text: RichText| {
        let place = Rect::from_center_size(pos2(card.center().x, y), vec2(card.width() - 2.0 * SPACE[1], 34.0));
        ui.put(place, Label::new(text).selectable(false).wrap());
    };
    line(ui, card.top() + 22.0, RichText::new(texts::DRAG_AN_AGENT_HERE).size(TYPE[2]).strong().color(theme.text));
    line(ui, card.bottom() - 24.0, RichText::new(how).size(TYPE[0]).color(theme.text_soft));
}

/// Shows over the room what dropping the files held over the window would do.
pub(super) fn paint_file_drop_hint(painter: &Painter, rect: Rect, theme: &Theme, state: &UiState) {
    let text = match state.transfer.hovering_files.as_slice() {
        [] => return,
        [one] => texts::drop_file(one),
        several => texts::drop_files(several.len()),
    };
    painter.rect_filled(rect, CornerRadius::ZERO, theme.accent.gamma_multiply(0.08));
    painter.rect_stroke(rect.shrink(4.0), f32::from(RADIUS[1]), Stroke::new(LINE[2], theme.accent), StrokeKind::Inside);
    let galley = painter.layout(text, FontId::proportional(TYPE[2]), theme.text, rect.width() - 80.0);
    let more = texts::DROPPED_FILES_HINT.to_owned();
    let about = painter.layout_no_wrap(more, FontId::proportional(TYPE[0]), theme.text_soft);
    let size = vec2(galley.size().x.max(about.size().x), galley.size().y + about.size().y + 4.0);
    let card = Align2::CENTER_CENTER.align_size_within_rect(size, rect).expand2(vec2(18.0, 12.0));
    painter.rect(
        card,
        CornerRadius::same(RADIUS[1]),
        theme.panel,
        Stroke::new(LINE[0], theme.line),
        StrokeKind::Outside,
    );
    let top = card.center_top() + vec2(0.0, 12.0);
    let below = top + vec2(-about.size().x / 2.0, galley.size().y + 4.0);
    painter.galley(top - vec2(galley.size().x / 2.0, 0.0), galley, theme.text);
    painter.galley(below, about, theme.text_soft);
}
