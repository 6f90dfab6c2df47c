//! Shows the current approval card next to the raised hand of its agent.

use egui::{Pos2, Rect, Sense, Stroke, Ui, UiBuilder, Vec2, pos2, vec2};

use crate::ui::approval_card::{CardSize, Turn, approval_card, height_of};
use crate::ui::panes::inspector::has_room_for_question;
use crate::ui::state::RoomView;
use crate::ui::state::dock::Tab;
use crate::ui::{Command, ViewerContext};
use crate::view::pick::RoomObject;
use crate::view::theme::{APPROVAL, LINE, SPACE};

/// Heights of the card's parts on the canvas: the request with its risk, and the preview of its effect.
pub const CARD: CardSize = CardSize { head: 104.0, preview: 84.0 };
/// Offset from an agent's position to its raised hand, in world units.
const HAND_UNITS: [f32; 2] = [22.0, 46.0];
/// Distance between the hand and the card.
const GAP_POINTS: f32 = 18.0;
/// Margin around the asking agent that stays visible: the hand above it and the name below it.
const VISIBLE_MARGIN_POINTS: f32 = 56.0;

/// Returns the screen rectangle of the card, or `None` where it does not fit, the asking agent is out of view, the
/// inspector already shows the same card, or an open element would cover it (the run bar shows it then). Labels,
/// bubbles and other cards keep clear of this rectangle.
pub(super) fn place(cx: &ViewerContext<'_>, view: &RoomView, room_rect: Rect) -> Option<Rect> {
    if is_in_inspector(cx) || cx.ui.front.element().is_some() {
        return None;
    }
    popup_rect(asker(cx, view)?, view.camera.zoom, room_rect)
}

/// Draws the card at `rect`, with a line to the agent's hand, clipped to `room_rect`.
pub(super) fn approval_popup_ui(
    ui: &mut Ui,
    (room_rect, rect): (Rect, Rect),
    cx: &ViewerContext<'_>,
    view: &RoomView,
) -> Vec<Command> {
    let Some((_, question, at, count)) = cx.ui.questions.front(cx.room) else { return Vec::new() };
    let Some(agent_point) = asker(cx, view) else { return Vec::new() };
    let hand = hand_point(agent_point, view.camera.zoom, rect.center().x >= agent_point.x);
    let edge = pos2(if rect.center().x >= agent_point.x { rect.left() } else { rect.right() }, hand.y);
    let edge = pos2(edge.x, edge.y.clamp(rect.top() + SPACE[2], rect.bottom() - SPACE[2]));
    ui.painter_at(room_rect).line_segment([hand, edge], Stroke::new(LINE[1], cx.theme.warn));
    // Clicks on the card must not reach the room.
    let id = ui.id().with("the card of a question");
    ui.interact(rect, id, Sense::CLICK | Sense::DRAG);
    let mut child = ui.new_child(UiBuilder::new().id_salt("the card of a question").max_rect(rect));
    child.set_clip_rect(room_rect);
    crate::ui::widgets::apply_style(child.style_mut(), cx.theme);
    approval_card(&mut child, cx, question, ("room", CARD, Some(Turn { at, count })))
}

/// Whether the preview of the effect is visible, either next to the agent or in the inspector.
pub fn shows_preview(cx: &ViewerContext<'_>) -> bool {
    let (view, room_rect) = (&cx.ui.view, cx.ui.view.camera.viewport);
    is_in_inspector(cx) || cx.ui.dock.is_visible(&Tab::ROOM) && place(cx, view, room_rect).is_some()
}

/// Returns the screen position of the agent whose request is in front.
pub(super) fn asker(cx: &ViewerContext<'_>, view: &RoomView) -> Option<Pos2> {
    let (task_piece, ..) = cx.ui.questions.front(cx.room)?;
    Some(view.camera.to_screen(cx.room.agent(&task_piece.agent)?.position))
}

/// Returns how far to pan the view so that an agent at `agent_point`, visible in the room rectangle `before`, stays
/// visible in the new rectangle `now`, for example after a panel opened.
pub(super) fn pan_to_keep_visible(agent_point: Pos2, before: Rect, now: Rect) -> Vec2 {
    let margin = vec2(VISIBLE_MARGIN_POINTS, VISIBLE_MARGIN_POINTS).min(now.size() / 2.0);
    let inner = now.shrink2(margin);
    if before.contains(agent_point) && !inner.contains(agent_point) {
        inner.clamp(agent_point) - agent_point
    } else {
        Vec2::ZERO
    }
}

/// Whether the inspector is visible and shows the card, because only the asking agent is selected.
fn is_in_inspector(cx: &ViewerContext<'_>) -> bool {
    let Some((task_piece, ..)) = cx.ui.questions.front(cx.room) else { return false };
    let is_selected = cx.ui.selection.things().iter().eq([&RoomObject::Agent(task_piece.agent.clone())]);
    is_selected && cx.ui.dock.is_visible(&Tab::INSPECTOR) && has_room_for_question(cx)
}

fn hand_point(agent_point: Pos2, zoom: f32, is_right: bool) -> Pos2 {
    let side = if is_right { HAND_UNITS[0] } else { -HAND_UNITS[0] };
    agent_point + vec2(side, -HAND_UNITS[1]) * zoom
}

/// Returns the card's rectangle to the right of the hand, or else to the left, above the widgets in the room's corners.
/// Returns `None` if neither side has room or the agent is out of view.
fn popup_rect(agent_point: Pos2, zoom: f32, room_rect: Rect) -> Option<Rect> {
    let size = vec2(APPROVAL.width, height_of(CARD));
    let inner = room_rect.shrink(SPACE[1]);
    if !room_rect.contains(agent_point) || inner.height() < size.y {
        return None;
    }
    let right = hand_point(agent_point, zoom, true).x + GAP_POINTS;
    let left = hand_point(agent_point, zoom, false).x - GAP_POINTS - size.x;
    let at = |x: f32| {
        let is_over = |corner: &Rect| corner.left() < x + size.x && corner.right() > x;
        let above = super::corner_rects(room_rect).into_iter().filter(is_over).map(|corner| corner.top() - SPACE[0]);
        let lowest = above.fold(inner.bottom(), f32::min) - size.y;
        let fits = x >= inner.left() && x + size.x <= inner.right() && lowest >= inner.top();
        let top = (agent_point.y - HAND_UNITS[1] * zoom - size.y / 2.0).min(lowest).max(inner.top());
        fits.then(|| Rect::from_min_size(pos2(x, top), size))
    };
    at(right).or_else(|| at(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_panel_does_not_hide_the_asking_agent() {
        let before = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 500.0));
        let now = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 260.0));
        for (agent_point, moves) in [(pos2(300.0, 150.0), 0.0), (pos2(300.0, 400.0), -146.0), (pos2(300.0, 600.0), 0.0)]
        {
            assert_eq!(pan_to_keep_visible(agent_point, before, now), vec2(0.0, moves), "{agent_point:?}");
        }
        let tiny = Rect::from_min_size(pos2(100.0, 50.0), vec2(40.0, 20.0));
        assert_eq!(pos2(300.0, 400.0) + pan_to_keep_visible(pos2(300.0, 400.0), before, tiny), tiny.center());
    }

    #[test]
    fn the_card_lies_beside_the_asking_agent_and_inside_the_room() {
        let room = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 500.0));
        for x in [110.0, 300.0, 550.0, 800.0, 990.0] {
            for y in [60.0, 300.0, 540.0] {
                let agent_point = pos2(x, y);
                let card = popup_rect(agent_point, 1.0, room).expect("there is room");
                assert!(room.contains_rect(card), "{card:?}");
                assert!(super::super::corner_rects(room).iter().all(|corner| !corner.intersects(card)), "{card:?}");
                assert!(
                    card.left() > x + HAND_UNITS[0] || card.right() < x - HAND_UNITS[0],
                    "it does not cover the agent: {card:?}"
                );
            }
        }
        assert_eq!(popup_rect(pos2(50.0, 300.0), 1.0, room), None, "out of sight");
        let low = Rect::from_min_size(pos2(0.0, 0.0), vec2(900.0, 200.0));
        assert_eq!(popup_rect(pos2(300.0, 100.0), 1.0, low), None, "no room for it");
        let narrow = Rect::from_min_size(pos2(0.0, 0.0), vec2(500.0, 500.0));
        assert_eq!(popup_rect(pos2(250.0, 100.0), 1.0, narrow), None);
    }
}
