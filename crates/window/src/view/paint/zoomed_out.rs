//! Paints the zoomed-out room: a badge with a face for each agent, and one with a number for a cluster. Resting agents
//! are grey; agents that need a person, work or talk are coloured, larger and glowing.

use egui::{Align2, Color32, Painter, Pos2, Rect, Vec2, vec2};

use super::batch::{Batch, mixed};
use super::clusters::{Cluster, radius};
use super::label::{self, Label, Measure, Style, Wanted};
use super::label_input::LabelInput;
use super::label_layout::{LabelReach, LabelRequest, Owner};
use super::text_scaling;
use super::{MARGIN, figure, pulse};
use crate::view::activity_text::{ActivityTexts, Importance};
use crate::view::art::Sprite;
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::theme::{Theme, state_colour};

/// Above this number of single agents, faces are left out.
const MAX_FACES: usize = 700;
/// Maximum number of single agents with a text label.
const MAX_TOLD: usize = 40;

/// Colour of numbers on dots: black is legible on every state colour, in both themes.
pub const DOT_INK: Color32 = Color32::BLACK;

/// Paints the dots: resting agents first, so that they cover no important one, and faces before clusters, so that no
/// face covers a number.
pub(super) fn paint(
    batch: &mut Batch,
    clusters: &[Cluster],
    room: &RoomModel,
    (camera, theme): (Camera, Theme),
    pulse: f32,
) {
    let alone = clusters.iter().filter(|cluster| cluster.count == 1).count();
    let have_faces = alone <= MAX_FACES;
    let mut order: Vec<&Cluster> = clusters.iter().collect();
    order.sort_by_key(|cluster| (cluster.importance.stands_out(), cluster.count > 1));
    for cluster in order {
        let at = camera.to_screen(cluster.middle);
        let radius = radius(cluster, have_faces);
        let colour = colour(cluster, theme);
        if cluster.importance.stands_out() {
            let around = Rect::from_center_size(at, Vec2::splat(radius * 5.0));
            batch.fill(Sprite::Glow, around, colour.gamma_multiply(0.75 * pulse));
        }
        batch.disc(at + vec2(0.0, 1.0), radius + 2.0, theme.shadow);
        batch.disc(at, radius + 1.0, mixed(colour, theme.bubble, 0.85));
        batch.disc(at, radius, colour);
        if cluster.count == 1 && have_faces {
            let grey = if cluster.importance == Importance::Rest { Some(theme.at_rest()) } else { None };
            figure::badge(batch, &room.agents[cluster.first as usize].look, at, radius - 2.0, grey);
        }
    }
}

fn colour(cluster: &Cluster, theme: Theme) -> Color32 {
    if cluster.importance == Importance::Rest { theme.at_rest() } else { state_colour(cluster.state) }
}

/// Paints the number of each cluster.
pub(super) fn counts(painter: &Painter, clusters: &[Cluster], camera: Camera) {
    for cluster in clusters.iter().filter(|cluster| cluster.count > 1) {
        let at: Pos2 = camera.to_screen(cluster.middle);
        let text = if cluster.count < 1000 { cluster.count.to_string() } else { "999+".to_owned() };
        let size = if text.len() > 2 { 9.0 } else { 10.0 };
        text_scaling::paint_line(painter, (at, Align2::CENTER_CENTER), text, size, DOT_INK, camera);
    }
}

/// The labels of single agents that work or need a person.
pub(super) fn wanted<'a>(
    input: &LabelInput<'a>,
    clusters: &[Cluster],
    doings: &ActivityTexts<'_>,
    measure: Measure<'_>,
    wanted: &mut Wanted<'a>,
) {
    let camera = input.scene.camera;
    let matters = |cluster: &Cluster| matches!(cluster.importance, Importance::NeedsYou | Importance::Working);
    // Clusters farther outside the view only exist because squares at the edge are counted whole.
    let near = camera.viewport.expand(MARGIN * camera.zoom);
    let is_told =
        |cluster: &&Cluster| cluster.count == 1 && matters(cluster) && near.contains(camera.to_screen(cluster.middle));
    let mut first: Vec<&Cluster> = clusters.iter().filter(is_told).collect();
    first.sort_by_key(|cluster| (cluster.importance, cluster.square));
    for cluster in first.into_iter().take(MAX_TOLD) {
        let agent = &input.room.agents[cluster.first as usize];
        // Selected and hovered agents have a label of their own.
        if input.chosen.agents.contains(&*agent.id) {
            continue;
        }
        let style = Style::Busy(colour(cluster, input.scene.theme));
        let (size, small) = (label::type_size(11.0, camera.zoom), label::type_size(10.0, camera.zoom));
        let label = Label::new(&agent.name, size, style).with_line(doings.line(agent), small);
        let at = camera.to_screen(cluster.middle);
        let body = Rect::from_center_size(at, Vec2::splat(2.0 * radius(cluster, true)));
        let is_needed = cluster.importance == Importance::NeedsYou && camera.viewport.contains(at);
        let request = LabelRequest {
            owner: Owner::Single(cluster.square.0, cluster.square.1),
            body,
            home: body.center_bottom() + vec2(0.0, 7.0),
            size: label.size(measure),
            importance: cluster.importance,
            distance: input.distance(at),
            reach: if is_needed { LabelReach::Anywhere } else { LabelReach::Around },
        };
        wanted.push(request, label);
    }
}

/// Strength of the glow of agents that stand out.
pub(super) fn glow_at(now_secs: f64, is_still: bool) -> f32 {
    if is_still { 0.8 } else { pulse(now_secs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::view::model::AgentView;
    use crate::view::paint::clusters::group;
    use crate::view::paint::tests::agent;
    use crate::view::theme::contrast;
    use bevy::math::Vec2 as World;

    fn agents(states: &[State]) -> Vec<AgentView> {
        let made = states.iter().enumerate().map(|(key, state)| {
            let mut agent = agent(key as u32, "Ada", *state);
            agent.position = World::new(key as f32, 3.0);
            agent
        });
        made.collect()
    }

    fn numbered(agents: &[AgentView]) -> impl Iterator<Item = (u32, &AgentView)> {
        agents.iter().enumerate().map(|(index, agent)| (index as u32, agent))
    }

    #[test]
    fn agents_close_together_are_one_dot_with_a_number() {
        let mut agents = agents(&[State::Idle, State::Idle, State::Waiting, State::Idle, State::Idle]);
        agents[4].position = World::new(5000.0, 0.0);
        let clusters = group(numbered(&agents), 0.2);
        assert_eq!(clusters.iter().map(|cluster| cluster.count).collect::<Vec<_>>(), [4, 1]);
        assert_eq!((clusters[0].state, clusters[0].first), (State::Waiting, 2), "who needs a person is seen from afar");
    }

    #[test]
    fn resting_agents_are_grey_and_important_ones_large_and_coloured() {
        for dark in [false, true] {
            let theme = Theme::of(dark);
            let of = |state| group(numbered(&agents(&[state])), 0.2).remove(0);
            for calm in [State::Idle, State::Wandering, State::Patrolling, State::Cooldown, State::Paused] {
                assert_eq!(colour(&of(calm), theme), theme.at_rest());
            }
            for input in [State::Waiting, State::Error, State::Working, State::Conversing] {
                assert_eq!(colour(&of(input), theme), state_colour(input));
                assert!(radius(&of(input), true) > radius(&of(State::Idle), true));
            }
            assert!(contrast(DOT_INK, theme.at_rest()) >= 4.5, "numbers are read on grey");
        }
    }

    #[test]
    fn nothing_pulses_with_reduced_motion() {
        let moments = [0.0, 0.4, 0.9, 1.7];
        assert!(moments.iter().all(|now| glow_at(*now, true) == glow_at(0.0, true)));
        assert!(moments.iter().any(|now| glow_at(*now, false) != glow_at(0.0, false)));
    }
}
