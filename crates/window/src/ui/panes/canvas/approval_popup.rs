//! Shows the current approval card next to the raised hand of its agent.

use egui::{Pos2, Rect, Sense, Stroke, Ui, UiBuilder, Vec2, pos2, vec2};

use crate::ui::approval_card::{CardSize, Turn, approval_card, height_of};
use crate::ui::panes::inspector::has_room_for_question;
use crate::ui::state::RoomView;
use crate::ui::state::dock::Tab;
use crate::ui::{Command, ViewerContext};
use crate::view::pick::Thing;
use crate::view::theme::{APPROVAL, LINE, SPACE};

/// What the card takes here: who wants what and what may go wrong, and what would happen.
pub const CARD: CardSize = CardSize { head: 92.0, preview: 96.0 };
/// From where an agent stands to its raised hand, in units of the room.
const HAND_UNITS: [f32; 2] = [22.0, 46.0];
/// Between the hand and the card.
const GAP_POINTS: f32 = 18.0;
/// What of whoever asks is to be seen around where it stands: its hand above, its name below.
const SEEN_POINTS: f32 = 56.0;

/// Where the card stands, where there is room for it and whoever asks is in sight. In the inspector the same card
/// stands of whoever is selected: then it is not said twice. Names, bubbles and other cards keep away from this place;
/// an element that is open would lie over it, so that the card is in the bar below alone meanwhile.
pub(super) fn place(cx: &ViewerContext<'_>, view: &RoomView, room_rect: Rect) -> Option<Rect> {
    if is_in_inspector(cx) || cx.ui.front.element().is_some() {
        return None;
    }
    beside(asker(cx, view)?, view.camera.zoom, room_rect)
}

/// Draws the card in this part of the room, at its place.
pub(super) fn asking_ui(
    ui: &mut Ui,
    (room_rect, rect): (Rect, Rect),
    cx: &ViewerContext<'_>,
    view: &RoomView,
) -> Vec<Command> {
    let Some((_, question, at, count)) = cx.ui.questions.front(cx.room) else { return Vec::new() };
    let Some(stands) = asker(cx, view) else { return Vec::new() };
    let hand = hand_of(stands, view.camera.zoom, rect.center().x >= stands.x);
    let edge = pos2(if rect.center().x >= stands.x { rect.left() } else { rect.right() }, hand.y);
    let edge = pos2(edge.x, edge.y.clamp(rect.top() + SPACE[2], rect.bottom() - SPACE[2]));
    ui.painter_at(room_rect).line_segment([hand, edge], Stroke::new(LINE[1], cx.theme.warn));
    // What is pressed on the card is not pressed in the room; the keyboard comes to what stands on it.
    let id = ui.id().with("the card of a question");
    ui.interact(rect, id, Sense::CLICK | Sense::DRAG);
    let mut child = ui.new_child(UiBuilder::new().id_salt("the card of a question").max_rect(rect));
    child.set_clip_rect(room_rect);
    crate::ui::widgets::dress(child.style_mut(), cx.theme);
    approval_card(&mut child, cx, question, ("room", CARD, Some(Turn { at, count })))
}

/// Whether what would happen is to be seen beside whoever asks, or in the inspector.
pub fn shows_what_happens(cx: &ViewerContext<'_>) -> bool {
    let (view, room_rect) = (&cx.ui.view, cx.ui.view.camera.viewport);
    is_in_inspector(cx) || cx.ui.dock.is_seen(&Tab::Room) && place(cx, view, room_rect).is_some()
}

/// Where whoever asks the question in front stands on screen.
pub(super) fn asker(cx: &ViewerContext<'_>, view: &RoomView) -> Option<Pos2> {
    let (piece, ..) = cx.ui.questions.front(cx.room)?;
    Some(view.camera.to_screen(cx.room.agent(&piece.agent)?.position))
}

/// By how much everything in the room moves on screen where a panel takes a part of its place away, such as the card
/// of a question: whoever asks stays in sight, if it was before.
pub(super) fn kept_in_sight(stands: Pos2, before: Rect, now: Rect) -> Vec2 {
    let margin = vec2(SEEN_POINTS, SEEN_POINTS).min(now.size() / 2.0);
    let seen = now.shrink2(margin);
    if before.contains(stands) && !seen.contains(stands) { seen.clamp(stands) - stands } else { Vec2::ZERO }
}

/// Whether whoever asks the question in front is alone selected, and the inspector is seen.
fn is_in_inspector(cx: &ViewerContext<'_>) -> bool {
    let Some((piece, ..)) = cx.ui.questions.front(cx.room) else { return false };
    let is_selected = cx.ui.selection.things().iter().eq([&Thing::Agent(piece.agent.clone())]);
    is_selected && cx.ui.dock.is_seen(&Tab::Inspector) && has_room_for_question(cx)
}

fn hand_of(stands: Pos2, zoom: f32, is_right: bool) -> Pos2 {
    let side = if is_right { HAND_UNITS[0] } else { -HAND_UNITS[0] };
    stands + vec2(side, -HAND_UNITS[1]) * zoom
}

/// Where the card stands: at the right of the hand, or at its left where that has no room, and over what stands in the
/// corners of the room; nothing where neither has room, or where who asks is out of sight.
fn beside(stands: Pos2, zoom: f32, room_rect: Rect) -> Option<Rect> {
    let size = vec2(APPROVAL.width, height_of(CARD));
    let inner = room_rect.shrink(SPACE[1]);
    if !room_rect.contains(stands) || inner.height() < size.y {
        return None;
    }
    let right = hand_of(stands, zoom, true).x + GAP_POINTS;
    let left = hand_of(stands, zoom, false).x - GAP_POINTS - size.x;
    let at = |x: f32| {
        let is_over = |corner: &Rect| corner.left() < x + size.x && corner.right() > x;
        let above = super::corners(room_rect).into_iter().filter(is_over).map(|corner| corner.top() - SPACE[0]);
        let lowest = above.fold(inner.bottom(), f32::min) - size.y;
        let fits = x >= inner.left() && x + size.x <= inner.right() && lowest >= inner.top();
        let top = (stands.y - HAND_UNITS[1] * zoom - size.y / 2.0).min(lowest).max(inner.top());
        fits.then(|| Rect::from_min_size(pos2(x, top), size))
    };
    at(right).or_else(|| at(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_that_opens_hides_nobody_who_asks() {
        let before = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 500.0));
        let now = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 260.0));
        for (stands, moves) in [(pos2(300.0, 150.0), 0.0), (pos2(300.0, 400.0), -146.0), (pos2(300.0, 600.0), 0.0)] {
            assert_eq!(kept_in_sight(stands, before, now), vec2(0.0, moves), "{stands:?}");
        }
        let tiny = Rect::from_min_size(pos2(100.0, 50.0), vec2(40.0, 20.0));
        assert_eq!(pos2(300.0, 400.0) + kept_in_sight(pos2(300.0, 400.0), before, tiny), tiny.center());
    }

    #[test]
    fn the_card_stands_beside_who_asks_and_within_the_room() {
        let room = Rect::from_min_size(pos2(100.0, 50.0), vec2(900.0, 500.0));
        for x in [110.0, 300.0, 550.0, 800.0, 990.0] {
            for y in [60.0, 300.0, 540.0] {
                let stands = pos2(x, y);
                let card = beside(stands, 1.0, room).expect("there is room");
                assert!(room.contains_rect(card), "{card:?}");
                assert!(super::super::corners(room).iter().all(|corner| !corner.intersects(card)), "{card:?}");
                assert!(
                    card.left() > x + HAND_UNITS[0] || card.right() < x - HAND_UNITS[0],
                    "it hides nobody: {card:?}"
                );
            }
        }
        assert_eq!(beside(pos2(50.0, 300.0), 1.0, room), None, "out of sight");
        let low = Rect::from_min_size(pos2(0.0, 0.0), vec2(900.0, 200.0));
        assert_eq!(beside(pos2(300.0, 100.0), 1.0, low), None, "no room for it");
        let narrow = Rect::from_min_size(pos2(0.0, 0.0), vec2(500.0, 500.0));
        assert_eq!(beside(pos2(250.0, 100.0), 1.0, narrow), None);
    }
}
