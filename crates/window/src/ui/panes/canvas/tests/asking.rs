//! Tests that the approval card in the room covers no text, at every window size, wherever the asking agent is and
//! however many others talk around it.

use super::*;
use crate::ui::testing::{agent, asking_piece};
use crate::view::bubble::Bubble;

/// Window sizes, from small to large.
const SIZES: [egui::Vec2; 6] = [
    vec2(760.0, 600.0),
    vec2(900.0, 900.0),
    vec2(1_000.0, 800.0),
    vec2(1_280.0, 800.0),
    vec2(1_440.0, 1_000.0),
    vec2(1_920.0, 1_080.0),
];

/// Collects the texts of a shape with their rectangles on screen.
fn texts(shape: &Shape, clip: Rect, into: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Text(text) => {
            into.push((text.galley.text().to_owned(), text.visual_bounding_rect().intersect(clip)));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, clip, into)),
        _ => {}
    }
}

/// A room where Ada asks for approval, surrounded by three dozen agents that talk, work and rest.
fn crowded() -> Window {
    let mut room = sample_room();
    room.elements.clear();
    room.agents[0].state = State::Waiting;
    room.agents[0].position = Vec2::ZERO;
    for key in 2..38_u32 {
        let mut one = agent(key, &format!("other-{key}"), &format!("Other {key}"));
        one.position = Vec2::new((key % 9) as f32 * 120.0 - 480.0, (key / 9) as f32 * 130.0 - 260.0);
        one.state = [State::Working, State::Conversing, State::Idle][key as usize % 3];
        room.agents.push(one);
    }
    room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
    let mut state = UiState::default();
    state.notices.is_hint_closed = true;
    (state.view.is_framed, state.appearance.look.calm) = (true, true);
    let mut window = Window::of(room, state);
    let ids: Vec<Id> = window.room().agents.iter().map(|agent| agent.id.clone()).collect();
    for id in ids {
        let bubble = Bubble { text: "I think that we should try it.".to_owned(), born_secs: -1.0, aloud: true };
        window.0.state_mut().recent.bubbles.insert(id, bubble);
    }
    window
}

impl Window {
    /// Returns the rectangle of the approval card, if the room shows it.
    fn asking(&mut self) -> Option<Rect> {
        self.0.state_mut().with_context(|cx, _| approval_popup::place(cx, &cx.ui.view, cx.ui.view.camera.viewport))
    }

    /// Returns the texts painted in the room before the card, at its position.
    fn written_under(&self, card: Rect) -> Vec<(String, Rect)> {
        let is_card = |shape: &Shape| match shape {
            Shape::Rect(rect) => {
                rect.rect.min.distance(card.min) < 3.0 && (rect.rect.width() - card.width()).abs() < 6.0
            }
            _ => false,
        };
        let shapes = &self.0.output().shapes;
        let end = shapes.iter().rposition(|painted| is_card(&painted.shape)).expect("the card is painted");
        let mut covered = Vec::new();
        shapes[..end].iter().for_each(|painted| texts(&painted.shape, painted.clip_rect, &mut covered));
        covered.retain(|(_, place)| place.shrink(1.0).intersect(card).is_positive());
        covered
    }
}

#[test]
fn the_approval_card_covers_no_text_at_any_window_size() {
    let mut window = crowded();
    let mut visible_count = 0;
    for size in SIZES {
        window.0.set_size(size);
        for middle in [Vec2::ZERO, Vec2::new(260.0, 90.0), Vec2::new(-260.0, -90.0)] {
            window.state().view.camera.zoom = 1.0;
            window.state().view.camera.middle = middle;
            // Labels avoid the card's rectangle of the frame before.
            window.0.run_steps(4);
            let Some(card) = window.asking() else { continue };
            visible_count += 1;
            let under = window.written_under(card);
            assert!(under.is_empty(), "at {size}, {middle}: {card:?} lies over {under:?}");
        }
    }
    assert!(visible_count >= 5, "the card was visible {visible_count} times");
}

#[test]
fn while_an_element_is_open_the_run_bar_shows_the_preview() {
    let mut window = Window::new();
    window.room().work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
    window.0.run_steps(4);
    let preview_count = |window: &Window| window.0.query_all_by_label_contains("At the end of notes.md").count();
    assert!(window.asking().is_some(), "the card lies beside Ada");
    assert_eq!(preview_count(&window), 1, "and the preview is not shown twice");
    window.state().front.open_element("news".into());
    window.0.run_steps(4);
    assert_eq!(window.asking(), None, "the board would cover it");
    assert_eq!(preview_count(&window), 1);
}
