//! The room from afar: a dot in the state's colour for each agent, and one dot with a number where they pile up.

use std::collections::BTreeMap;

use bevy::math::Vec2 as World;
use egui::{Align2, Color32, FontId, Painter, Pos2, vec2};

use super::batch::{Batch, mixed};
use crate::simulation::State;
use crate::view::camera::Camera;
use crate::view::model::AgentView;
use crate::view::theme::{Theme, state_colour};

/// Agents within one square of this side are drawn as one dot, in points.
const HEAP_POINTS: f32 = 26.0;

/// Numbers on dots: black on every state's colour, which are bright in both themes.
pub const DOT_INK: Color32 = Color32::BLACK;

/// Agents that stand close together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Heap {
    /// The middle of them all.
    pub(super) middle: World,
    /// How many.
    pub(super) count: usize,
    /// The state that matters most among them.
    pub(super) state: State,
}

/// Puts agents that would cover each other at this zoom on one heap. Squares lie fast in the room, so that heaps
/// stay what they are while the view moves.
pub(super) fn heaps<'a>(agents: impl Iterator<Item = &'a AgentView>, zoom: f32) -> Vec<Heap> {
    let side = HEAP_POINTS / zoom;
    let mut heaps: BTreeMap<(i32, i32), Heap> = BTreeMap::new();
    for agent in agents {
        let square = (agent.position / side).floor();
        let heap = heaps.entry((square.y as i32, square.x as i32)).or_insert(Heap {
            middle: World::ZERO,
            count: 0,
            state: agent.state,
        });
        heap.middle += agent.position;
        heap.count += 1;
        if urgency(agent.state) > urgency(heap.state) {
            heap.state = agent.state;
        }
    }
    let mut heaps: Vec<Heap> = heaps.into_values().collect();
    for heap in &mut heaps {
        heap.middle /= heap.count as f32;
    }
    heaps
}

/// What is to be seen first from afar: what needs a person, then what happens.
fn urgency(state: State) -> u8 {
    match state {
        State::Error => 5,
        State::Waiting => 4,
        State::Working | State::Reading => 3,
        State::Conversing => 2,
        State::Heartbeat | State::Dragged => 1,
        _ => 0,
    }
}

/// Paints the dots into the batch.
pub(super) fn paint(batch: &mut Batch, heaps: &[Heap], camera: Camera, theme: Theme) {
    for heap in heaps {
        let at = camera.to_screen(heap.middle);
        let radius = radius(heap, camera.zoom);
        batch.disc(at + vec2(0.0, 1.0), radius + 2.0, theme.shadow);
        batch.disc(at, radius + 1.0, mixed(state_colour(heap.state), theme.bubble, 0.85));
        batch.disc(at, radius, state_colour(heap.state));
    }
}

/// Writes the numbers of those that are more than one.
pub(super) fn counts(painter: &Painter, heaps: &[Heap], camera: Camera) {
    for heap in heaps.iter().filter(|heap| heap.count > 1) {
        let at: Pos2 = camera.to_screen(heap.middle);
        let text = if heap.count < 1000 { heap.count.to_string() } else { "999+".to_owned() };
        let font = FontId::proportional(if text.len() > 2 { 8.5 } else { 10.0 });
        painter.text(at, Align2::CENTER_CENTER, text, font, DOT_INK);
    }
}

fn radius(heap: &Heap, zoom: f32) -> f32 {
    if heap.count == 1 { (18.0 * zoom).clamp(3.2, 5.0) } else { (6.0 + 1.1 * (heap.count as f32).log2()).min(11.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::paint::tests::agent;

    #[test]
    fn those_who_stand_close_together_are_one_dot_with_a_number() {
        let mut agents: Vec<AgentView> = (0..5).map(|key| agent(key, "Ada", State::Idle)).collect();
        for (index, agent) in agents.iter_mut().enumerate() {
            agent.position = if index < 4 { World::new(index as f32, 3.0) } else { World::new(5000.0, 0.0) };
        }
        agents[2].state = State::Waiting;
        let heaps = heaps(agents.iter(), 0.2);
        assert_eq!(heaps.iter().map(|heap| heap.count).collect::<Vec<_>>(), [4, 1]);
        assert_eq!(heaps[0].state, State::Waiting, "who needs a person is seen from afar");
    }
}
