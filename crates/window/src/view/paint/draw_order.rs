//! The order in which agents, elements and furniture are painted, so that those in front cover those behind.

use bevy::math::Vec2 as World;

use super::Seen;
use super::element::SIZE;
use crate::simulation::State;
use crate::view::furniture;
use crate::view::model::{AgentView, RoomModel};

/// Agents above this share of the upper half of an object are behind it, others in front, so that no agent is ever
/// completely hidden.
const HIDDEN_FROM: f32 = 0.3;

/// Something that stands on the floor, as an index into the list of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DrawItem {
    /// An agent, and whether it stands in front of an object that its ring overlaps.
    Agent(u32, bool),
    /// An element.
    Element(usize),
    /// A piece of furniture.
    Decor(usize),
}

/// Everything visible that stands on the floor, farthest first.
pub(super) fn back_to_front(room: &RoomModel, seen: &Seen, with_agents: bool) -> Vec<DrawItem> {
    let elements = seen.elements.iter().map(|index| {
        let element = &room.elements[*index];
        (hidden_from_y(element.position, SIZE), DrawItem::Element(*index), element.position, SIZE)
    });
    let decor = seen.decor.iter().filter(|index| !furniture::is_flat(&room.decor[**index].kind)).map(|index| {
        let decor = &room.decor[*index];
        (hidden_from_y(decor.position, decor.size), DrawItem::Decor(*index), decor.position, decor.size)
    });
    let things: Vec<(f32, DrawItem, World, World)> = elements.chain(decor).collect();
    let is_before = |agent: &AgentView| {
        things.iter().any(|(hidden_from_y, _, middle, size)| {
            let from = (agent.position - *middle).abs();
            depth(agent) <= *hidden_from_y && from.x < 0.5 * size.x + 18.0 && from.y < 0.5 * size.y + 10.0
        })
    };
    let mut all: Vec<(f32, DrawItem)> =
        things.iter().map(|(hidden_from_y, thing, ..)| (*hidden_from_y, *thing)).collect();
    if with_agents {
        all.extend(seen.agents.iter().map(|index| {
            let agent = &room.agents[*index as usize];
            (depth(agent), DrawItem::Agent(*index, is_before(agent)))
        }));
    }
    // The sort is stable: at equal depth, agents are in front of objects.
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.into_iter().map(|(_, standing)| standing).collect()
}

/// The y coordinate above which agents are behind an object.
fn hidden_from_y(middle: World, size: World) -> f32 {
    middle.y + HIDDEN_FROM * 0.5 * size.y
}

/// The depth of an agent; one that is dragged is in front of everything.
fn depth(agent: &AgentView) -> f32 {
    if agent.state == State::Dragged { f32::NEG_INFINITY } else { agent.position.y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::camera::Camera;
    use crate::view::model::ContentView;
    use crate::view::model::DecorView;
    use crate::view::paint::tests::{agent, element};

    fn order(places: &[(f32, f32, State)]) -> Vec<DrawItem> {
        let agents = places.iter().enumerate().map(|(key, (x, y, state))| {
            let mut agent = agent(key as u32, "Ada", *state);
            agent.position = World::new(*x, *y);
            agent
        });
        let room = RoomModel {
            agents: agents.collect(),
            elements: vec![element(0, "pinboard", "Ideas", World::ZERO, ContentView::Text(String::new()))],
            decor: vec![
                DecorView { kind: "rug".into(), position: World::ZERO, size: World::splat(300.0), turned: false },
                DecorView {
                    kind: "plant".into(),
                    position: World::new(0.0, 200.0),
                    size: World::splat(60.0),
                    turned: false,
                },
            ]
            .into(),
            ..RoomModel::default()
        };
        back_to_front(&room, &Seen::of(&room, Camera::default()), true)
    }

    #[test]
    fn agents_at_the_upper_edge_of_a_board_are_behind_it_and_others_in_front() {
        let idle = State::Idle;
        let order = order(&[(10.0, -20.0, idle), (0.0, 30.0, idle), (0.0, 60.0, idle)]);
        let (board, plant) = (DrawItem::Element(0), DrawItem::Decor(1));
        let agents = [DrawItem::Agent(0, true), DrawItem::Agent(1, false), DrawItem::Agent(2, false)];
        assert_eq!(order, [plant, agents[2], agents[1], board, agents[0]], "rugs lie and do not stand");
    }

    #[test]
    fn a_dragged_agent_is_in_front_of_everything() {
        let order = order(&[(0.0, 35.0, State::Dragged), (0.0, -300.0, State::Idle)]);
        assert_eq!(order.last(), Some(&DrawItem::Agent(0, true)));
    }
}
