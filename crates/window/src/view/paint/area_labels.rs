//! Labels of areas in the zoomed-out view, where names no longer fit: how many agents are near each element and on each
//! part of the floor, and how many of them are busy or need a person.

use egui::{Rect, Vec2};

use super::label::{self, Label, Measure, Style, Wanted};
use super::label_input::LabelInput;
use super::label_layout::{self, LabelObstacles, LabelPlaces, LabelReach, LabelRequest, Owner, PlacedLabel};
use super::occupancy::Occupancy;
use super::{Detail, element};
use crate::simulation::State;
use crate::view::activity_text::Importance;
use crate::view::areas::{Area, AreaPlace};
use crate::view::theme::state_colour;

/// Distance between the middle of a crowd and its label, in points.
const AIR_POINTS: f32 = 14.0;

/// The labels of all visible areas.
pub(super) fn wanted<'a>(input: &LabelInput<'a>, areas: &[Area], measure: Measure<'_>) -> Wanted<'a> {
    let mut wanted = Wanted::default();
    if input.detail == Detail::Names {
        return wanted;
    }
    let camera = input.scene.camera;
    let (size, small) = (label::type_size(11.0, camera.zoom), label::type_size(10.0, camera.zoom));
    for area in areas {
        let (style, importance) = look(area);
        let (label, owner, body) = match area.place {
            AreaPlace::Element(key) => {
                let Some(board) = input.room.element_of(key) else { continue };
                let body = camera.rect_to_screen(board.position, element::SIZE);
                let label = Label::new(&board.label, size, style).with_line(area.label(), small);
                (label, Owner::About(key), body)
            }
            // A single agent needs no count.
            AreaPlace::Square(..) if area.count < 2 => continue,
            AreaPlace::Square(row, column) => {
                let body = Rect::from_center_size(camera.to_screen(area.middle), Vec2::splat(2.0 * AIR_POINTS));
                (Label::from_text(area.label(), size, style), Owner::Square(row, column), body)
            }
        };
        if !camera.viewport.contains(body.center()) {
            continue;
        }
        let home = body.center_bottom() + egui::vec2(0.0, 2.0);
        let (size, distance, reach) = (label.size(measure), input.distance(home), LabelReach::Around);
        wanted.push(LabelRequest { owner, body, home, size, importance, distance, reach }, label);
    }
    wanted
}

/// Style and importance of a label, by the most urgent state in its area.
fn look(area: &Area) -> (Style, Importance) {
    match (area.needing, area.working) {
        (1.., _) => (Style::Busy(state_colour(State::Waiting)), Importance::NeedsYou),
        (0, 1..) => (Style::Busy(state_colour(State::Working)), Importance::Working),
        (0, 0) => (Style::Element, Importance::Reading),
    }
}

/// Places the labels near their areas. In a crowd, every place covers a face; labels may then cover faces but never
/// another area's label.
pub(super) fn place(
    wanted: &Wanted<'_>,
    ground: LabelObstacles<'_>,
    taken: &mut Occupancy,
    previous: &LabelPlaces,
) -> Vec<PlacedLabel> {
    let mut placed = label_layout::place(&wanted.requests, ground, taken, previous);
    let mut is_placed = vec![false; wanted.requests.len()];
    placed.iter().for_each(|label| is_placed[label.request] = true);
    let rest: Vec<usize> = (0..is_placed.len()).filter(|index| !is_placed[*index]).collect();
    if rest.is_empty() {
        return placed;
    }
    let nobody = Occupancy::new(ground.view);
    let crowded = LabelObstacles { faces: &nobody, bodies: ground.faces, ..ground };
    let request = |index: &usize| LabelRequest { reach: LabelReach::Anywhere, ..wanted.requests[*index] };
    let requests: Vec<LabelRequest> = rest.iter().map(request).collect();
    let mut more = label_layout::place(&requests, crowded, taken, previous);
    more.iter_mut().for_each(|label| label.request = rest[label.request]);
    placed.extend(more);
    placed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bevy::math::Vec2 as World;

    use super::*;
    use crate::view::areas::areas;
    use crate::view::camera::Camera;
    use crate::view::model::{ContentView, RoomModel};
    use crate::view::paint::tests::{agent, element as board};
    use crate::view::paint::{Chosen, PaintParameters, Seen, clusters};
    use crate::view::recent_events::Recent;
    use crate::view::theme::Theme;

    /// A label as shown: its owner, text and rectangle.
    type Shown = (Owner, String, Rect);

    fn shown(room: &RoomModel, camera: Camera) -> Vec<Shown> {
        let (selected, recent) = (BTreeSet::new(), Recent::default());
        let scene = PaintParameters {
            camera,
            theme: Theme::of(false),
            now_secs: 0.0,
            selected: &selected,
            hovered: None,
            pointer: None,
            quiet: false,
            who_knows: None,
            still: true,
        };
        let (seen, chosen) = (Seen::of(room, camera), Chosen::of(&scene));
        let detail = Detail::at(camera.zoom);
        let everybody = seen.agents.iter().map(|index| (*index, &room.agents[*index as usize]));
        let clusters = if detail == Detail::Dots { clusters::group(everybody, camera.zoom) } else { Vec::new() };
        let input = LabelInput {
            room,
            recent: &recent,
            seen: &seen,
            chosen: &chosen,
            scene: &scene,
            detail,
            clusters: &clusters,
        };
        let mut measure = |text: &str| egui::vec2(0.55 * text.chars().count() as f32, 1.3);
        let wanted = wanted(&input, &areas(room, camera.zoom), &mut measure);
        let (faces, bodies) = (input.faces(), input.bodies());
        let ground = LabelObstacles { view: camera.viewport.shrink(2.0), faces: &faces, bodies: &bodies };
        let placed = place(&wanted, ground, &mut Occupancy::new(camera.viewport), &LabelPlaces::default());
        let label = |one: &PlacedLabel| {
            let owner = wanted.requests[one.request].owner;
            (owner, wanted.labels[one.request].text(), one.rect)
        };
        placed.iter().map(label).collect()
    }

    fn do_not_overlap(shown: &[Shown]) {
        for (index, one) in shown.iter().enumerate() {
            let other = shown[..index].iter().find(|other| one.2.intersect(other.2).is_positive());
            assert_eq!(other, None, "{one:?} covers it");
        }
    }

    fn crowd(count: u32, states: &[State]) -> RoomModel {
        let side = f64::from(count).sqrt().ceil() as u32;
        let agents = (0..count).map(|key| {
            let mut agent = agent(key, "Ada", states[key as usize % states.len()]);
            agent.position =
                (World::new((key % side) as f32, (key / side) as f32) - World::splat(side as f32 / 2.0)) * 52.0;
            agent
        });
        RoomModel { agents: agents.collect(), ..RoomModel::default() }
    }

    #[test]
    fn zoomed_out_boards_show_counts_and_activities() {
        let mut room = crowd(9, &[State::Idle, State::Working, State::Waiting]);
        room.elements = vec![board(0, "pinboard", "Ideas", World::new(0.0, 90.0), ContentView::Pins(Vec::new()))];
        for zoom in [0.2, 0.3, 0.44] {
            let words: Vec<String> =
                shown(&room, Camera { zoom, ..Camera::default() }).into_iter().map(|it| it.1).collect();
            assert_eq!(words, ["Ideas 9 · 3 working · 3 need you"], "at {zoom}");
        }
        assert_eq!(shown(&room, Camera::default()), [], "near, everybody has a name");
    }

    #[test]
    fn with_ten_thousand_agents_every_visible_square_has_a_label_and_none_overlap() {
        for zoom in [0.1, 0.15, 0.2, 0.26, 0.4] {
            let room = crowd(10_000, &State::ALL);
            let camera = Camera { zoom, ..Camera::default() };
            let shown = shown(&room, camera);
            do_not_overlap(&shown);
            let of_view = |area: &&Area| area.count > 1 && camera.viewport.contains(camera.to_screen(area.middle));
            let all = areas(&room, zoom);
            let wanted = all.iter().filter(of_view).count();
            assert!(shown.len() == wanted && wanted > 1, "at {zoom}: {} of {wanted}", shown.len());
            assert!(shown.iter().all(|(_, words, _)| words.contains("working") && words.contains("need you")));
        }
    }

    #[test]
    fn adjacent_boards_all_get_labels() {
        let mut room = crowd(64, &[State::Reading, State::Working]);
        let place = |key: u32| World::new((key % 4) as f32 * 130.0 - 195.0, (key / 4) as f32 * 130.0 - 195.0);
        let boards =
            (0..16).map(|key| board(key, "pinboard", "A board of ideas", place(key), ContentView::Pins(Vec::new())));
        room.elements = boards.collect();
        let shown = shown(&room, Camera { zoom: 0.25, ..Camera::default() });
        do_not_overlap(&shown);
        assert_eq!(shown.len(), areas(&room, 0.25).len(), "{shown:?}");
    }
}
