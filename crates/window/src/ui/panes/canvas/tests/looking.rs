//! Tests of what the room shows: the hover card, active agents and agents that need the user, overlapping agents that
//! move apart under the pointer, and the hint on an empty floor.

use super::*;
use crate::ui::state::ShelfItem;

impl Window {
    /// Rests the pointer for some frames.
    fn rest(&mut self, at: Pos2, frames: usize) {
        self.move_to(at);
        self.0.run_steps(frames);
    }

    fn shows(&self, label: &str) -> bool {
        self.0.query_by_label(label).is_some()
    }
}

#[test]
fn a_hover_card_appears_after_a_delay_and_closes_when_the_pointer_leaves() {
    let mut window = Window::new();
    let (ada, ideas, floor) = (window.agent("ada-1"), window.element("ideas"), window.screen(0.0, -150.0));
    window.rest(ada, 6);
    assert!(!window.shows("Nothing queued") && !window.shows("Why"), "not yet");
    window.rest(ada, 40);
    assert!(window.shows("Read House rules (high), and 1 more"), "what comes next");
    window.rest(ideas, 40);
    assert!(window.shows("Contents") && window.shows("1 pin, 0 votes, 0 comments"));
    window.rest(floor, 4);
    assert!(!window.shows("Contents") && !window.shows("Why"));
    window.press(ada);
    window.rest(ada + vec2(30.0, 0.0), 60);
    assert!(window.is_holding() && !window.shows("Why"), "not while an agent is dragged");
}

#[test]
fn active_agents_are_framed_and_agents_in_need_are_visited_in_turn() {
    let mut window = Window::new();
    assert!(!window.shows("Show active agents") && !window.shows("Next agent that needs you"), "nobody is");
    window.room().agents[0].position = Vec2::new(-4_000.0, 0.0);
    window.room().agents[0].state = State::Reading;
    window.room().agents[1].state = State::Error;
    window.0.run_steps(2);
    window.0.get_by_label("Show active agents").click();
    window.0.run_steps(4);
    let far = window.agent("ada-1");
    assert!(window.state().view.camera.viewport.contains(far), "both are in view");
    window.room().agents[0].state = State::Waiting;
    window.0.run_steps(2);
    for expected in ["ada-1", "bram-1", "ada-1"] {
        window.0.get_by_label("Next agent that needs you").click();
        window.0.run_steps(4);
        assert_eq!(window.selected(), [Id::from(expected)]);
    }
    let floor = window.screen(-4_000.0, -90.0);
    window.click(floor, Modifiers::NONE);
    window.key(Modifiers::NONE, Key::N);
    assert_eq!(window.selected(), [Id::from("ada-1")], "by key as well");
    window.key(Modifiers::NONE, Key::B);
    let bram = window.agent("bram-1");
    assert!(window.state().view.camera.viewport.contains(bram));
}

#[test]
fn overlapping_agents_can_be_clicked_one_by_one() {
    let mut window = Window::new();
    for agent in &mut window.room().agents {
        agent.position = Vec2::new(4.0 * agent.key.0 as f32, -60.0);
    }
    let both = window.screen(2.0, -40.0);
    window.rest(both, 30);
    let apart = window.0.state().parts.pane::<RoomPane>().canvas.clone().spread;
    let mut shown = window.room().clone();
    apart.apply(&mut shown);
    for agent in &shown.agents {
        let face = window.screen(agent.position.x, agent.position.y + 38.0);
        window.click(face, Modifiers::NONE);
        assert_eq!(window.selected(), std::slice::from_ref(&agent.id));
    }
    let floor = window.screen(-300.0, -190.0);
    window.rest(floor, 30);
    let mut shown = window.room().clone();
    window.0.state().parts.pane::<RoomPane>().canvas.spread.clone().apply(&mut shown);
    assert_eq!(shown.agents[0].position, Vec2::new(0.0, -60.0), "they go back");
}

#[test]
fn an_empty_floor_shows_a_hint_until_an_agent_is_added() {
    let mut window = Window::new();
    assert!(!window.shows("Drag an agent here"));
    window.room().agents.clear();
    window.0.run_steps(2);
    assert!(window.shows("Drag an agent here"));
    window.state().transfer.dragging = Some(ShelfItem::Profile("ada".into()));
    window.0.run_steps(1);
    assert!(!window.shows("Drag an agent here"), "not while an agent is being dragged in");
}
