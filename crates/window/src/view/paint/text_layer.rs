//! Paints the texts in the room: bubbles, names and activity lines. The most important ones are placed first, bubbles
//! and other names take the remaining space, and nothing covers a face.

use std::sync::Arc;

use bevy::math::Vec2 as World;
use egui::{Painter, Rect, Vec2, vec2};

use super::area_labels;
use super::batch::Batch;
use super::label::{self, Labels, Measure, Wanted};
use super::label_input::LabelInput;
use super::label_layout::{self, LabelObstacles, LabelPlaces, Owner, PlacedLabel};
use super::talk::{self, Air};
use super::zoomed_out;
use super::{Detail, Occupancy};
use crate::view::activity_text::ActivityTexts;
use crate::view::art::Sheet;
use crate::view::bubble::Bubble;
use crate::view::model::AgentView;

/// With fewer bubbles than this, bubbles avoid figures.
const MANNERLY_BUBBLES: usize = 60;
/// Space reserved for the handle of a selected agent, in points.
const HANDLE: Vec2 = vec2(20.0, 20.0);

/// The wanted labels: first those that are always shown and those of elements, then other names and those on ropes.
pub(super) fn wanted<'a>(input: &LabelInput<'a>, measure: Measure<'_>) -> [Wanted<'a>; 2] {
    let (mut first, mut later) = (Wanted::default(), Wanted::default());
    let doings = ActivityTexts::of(input.room);
    label::of_agents(input, &doings, measure, [&mut first, &mut later]);
    zoomed_out::wanted(input, input.clusters, &doings, measure, &mut first);
    label::of_elements(input, measure, &mut first);
    if input.detail == Detail::Names {
        label::of_ropes(input, measure, &mut later);
    }
    [first, later]
}

/// Paints all texts.
pub(super) fn paint(painter: &Painter, input: &LabelInput<'_>, sheet: &Sheet, labels: &mut Labels) {
    let (camera, theme) = (input.scene.camera, input.scene.theme);
    let (faces, bodies) = (input.faces(), input.bodies());
    let ground = LabelObstacles { view: camera.viewport.shrink(2.0), faces: &faces, bodies: &bodies };
    labels.begin_frame(painter.ctx());
    let [first, later] = wanted(input, &mut |text| labels.measure(painter, text));
    let mut taken = Occupancy::new(camera.viewport);
    labels.covered.into_iter().for_each(|covered| taken.claim(covered));
    for agent in input.agents().filter(|agent| input.chosen.agents.contains(&*agent.id)) {
        taken.claim(Rect::from_center_size(talk::handle_place(agent, camera), HANDLE));
    }
    let areas = if input.detail < Detail::Names { labels.areas.of(input.room, camera.zoom) } else { Arc::default() };
    let about = area_labels::wanted(input, &areas, &mut |text| labels.measure(painter, text));
    let placed_about = area_labels::place(&about, ground, &mut taken, &labels.places);
    let placed = label_layout::place(&first.requests, ground, &mut taken, &labels.places);
    if input.detail > Detail::Dots {
        bubbles(painter, input, ground, &mut taken, sheet);
        signs(painter, input, (&first, &placed), &mut taken);
    }
    let placed_later = label_layout::place(&later.requests, ground, &mut taken, &labels.places);
    labels.places = LabelPlaces::default();
    labels.places.remember(&about.requests, &placed_about);
    labels.places.remember(&first.requests, &placed);
    labels.places.remember(&later.requests, &placed_later);
    let all = [(&later, &placed_later), (&first, &placed), (&about, &placed_about)];
    labels.shown.clear();
    labels.shown.extend(labels.covered);
    labels.shown.extend(all.iter().flat_map(|(_, placed)| placed.iter().map(|label| label.rect)));
    for (wanted, placed) in all {
        placed.iter().for_each(|place| label::paint_leader(painter, place, &wanted.labels[place.request], theme));
    }
    for (wanted, placed) in all {
        placed
            .iter()
            .rev()
            .for_each(|place| label::paint(painter, place.rect, &wanted.labels[place.request], camera, theme));
    }
}

/// Paints bubbles: those of selected agents first, then the nearest to the pointer, or the newest. An agent whose
/// bubble has no room gets three dots.
fn bubbles(
    painter: &Painter,
    input: &LabelInput<'_>,
    ground: LabelObstacles<'_>,
    taken: &mut Occupancy,
    sheet: &Sheet,
) {
    let LabelInput { recent, chosen, scene, detail, .. } = *input;
    let camera = scene.camera;
    let speakers = input.agents().filter_map(|agent| Some((agent, recent.bubbles.get(&agent.id)?)));
    let mut speakers: Vec<(u8, f32, &AgentView, &Bubble)> = speakers
        .map(|(agent, bubble)| {
            let rank = u8::from(!chosen.agents.contains(&*agent.id));
            // Without a pointer, the newest come first.
            let newest = -bubble.born_secs as f32;
            let near = scene.pointer.map_or(newest, |_| input.distance(camera.to_screen(agent.position)));
            (rank, near, agent, bubble)
        })
        .collect();
    speakers.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    // Bubbles avoid figures unless there are too many of them.
    let spared = (speakers.len() < MANNERLY_BUBBLES).then_some(ground.bodies);
    let air = Air { view: camera.viewport.shrink(4.0), faces: ground.faces, spared };
    let mut unheard = Vec::new();
    for (rank, _, agent, bubble) in speakers {
        let legible = (detail == Detail::Names && !scene.quiet) || rank == 0;
        let shown = legible && talk::bubble(painter, agent, bubble, scene, air, taken, rank == 0);
        if !shown {
            unheard.push(agent);
        }
    }
    let mut small = Batch::new(sheet, 0);
    for agent in unheard {
        // Dots must not cover texts or other agents' faces.
        let place = talk::folded_place(agent, camera);
        if taken.is_free(place) && ground.faces.is_free(place) {
            talk::folded(&mut small, agent, camera, scene.theme);
        }
    }
    small.paint(painter);
}

/// Paints temporary signs over heads, and the refusal texts of selected agents.
fn signs(
    painter: &Painter,
    input: &LabelInput<'_>,
    (wanted, placed): (&Wanted<'_>, &[PlacedLabel]),
    taken: &mut Occupancy,
) {
    let LabelInput { recent, chosen, scene, detail, .. } = *input;
    if detail < Detail::Names || (recent.reactions.is_empty() && recent.refusals.is_empty()) {
        return;
    }
    for agent in input.agents() {
        if let Some((sign, since)) = recent.reactions.get(&agent.id) {
            talk::reaction(painter, agent, (*sign, *since), scene.now_secs, scene.camera, scene.theme);
        }
        let Some(refused) = recent.refusals.get(&agent.id) else { continue };
        talk::refusal(painter, agent, refused.1, scene);
        // In quiet mode, the card beside each agent shows the reason.
        if chosen.agents.contains(&*agent.id) && !scene.quiet {
            let name = placed.iter().find(|label| wanted.requests[label.request].owner == Owner::Agent(agent.key));
            let home = scene.camera.to_screen(agent.position - World::new(0.0, 9.0));
            let top = name.map_or(home, |label| label.rect.center_bottom() + vec2(0.0, 3.0));
            taken.claim(talk::refusal_words(painter, top, refused, scene));
        }
    }
}
