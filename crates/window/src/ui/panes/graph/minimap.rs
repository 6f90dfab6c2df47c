//! The minimap of the graph: shows the visible part, and moves the view.

use egui::{CornerRadius, Mesh, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2};

use super::cards::{Cards, status_colour};
use super::model::YOU;
use super::texts;
use super::visibility::CARD;
use crate::ui::widgets;
use crate::view::theme::{LINE, MARK_RADIUS, RADIUS};

const SIZE: egui::Vec2 = vec2(168.0, 112.0);
const EDGE: f32 = 8.0;
/// Minimum number of agents for the minimap to be shown, unless parts of the graph are out of view.
const LARGE: usize = 24;

/// Whether the graph is large enough, or zoomed in so far, that the minimap helps.
pub fn is_useful(cards: &Cards, bounds: Rect) -> bool {
    let pane = cards.view.rect;
    let has_room = pane.width() > 2.4 * SIZE.x && pane.height() > 2.4 * SIZE.y;
    has_room
        && bounds.is_positive()
        && (cards.shown.blocks.len() > LARGE || !cards.view.visible().contains_rect(bounds))
}

/// Draws the minimap. Returns the position to move the view to, if it was clicked or dragged.
pub fn show(ui: &mut Ui, cards: &Cards, bounds: Rect) -> Option<Pos2> {
    let (view, theme) = (cards.view, cards.theme);
    let map = Rect::from_min_size(view.rect.max - SIZE - vec2(EDGE, EDGE), SIZE);
    let response = ui.interact(map, ui.id().with("graph minimap"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::MINIMAP));
    let inner = map.shrink(6.0);
    let scale = (inner.width() / bounds.width()).min(inner.height() / bounds.height());
    let to_map = |place: Pos2| inner.center() + (place - bounds.center()) * scale;
    let painter = ui.painter().with_clip_rect(map.intersect(ui.clip_rect()));
    let line = Stroke::new(LINE[0], theme.line);
    painter.rect(
        map,
        CornerRadius::same(RADIUS[0]),
        widgets::mix(theme.panel, theme.card, 0.5),
        line,
        StrokeKind::Inside,
    );
    let mut mesh = Mesh::default();
    for block in &cards.shown.blocks {
        let Some(corner) = cards.positions.corner(block.agent) else { continue };
        let status = cards.live.status(&cards.model.agents[block.agent]);
        let colour = if block.agent == YOU { theme.accent } else { status_colour(status, theme) };
        let small = Rect::from_min_size(to_map(corner), (CARD * scale).max(vec2(2.0, 1.5)));
        mesh.add_colored_rect(small, widgets::mix(theme.card, colour, 0.8));
    }
    painter.add(Shape::mesh(mesh));
    let visible = view.visible();
    let frame = Rect::from_min_max(to_map(visible.min), to_map(visible.max)).intersect(map.shrink(1.0));
    if frame.is_positive() {
        painter.rect_stroke(
            frame,
            CornerRadius::same(MARK_RADIUS),
            Stroke::new(LINE[1], theme.accent),
            StrokeKind::Inside,
        );
    }
    let pressed = (response.clicked() || response.dragged()).then(|| response.interact_pointer_pos()).flatten();
    pressed.map(|pointer| bounds.center() + (pointer - inner.center()) / scale)
}
