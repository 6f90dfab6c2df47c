//! Label tests in rooms where agents walk around for a minute: no label covers another, every important agent has a
//! label, and no label jumps.

use std::collections::{BTreeSet, HashMap};

use super::super::label_input::face;
use super::super::label_layout::{self, LabelObstacles};
use super::super::tests::{agent, element};
use super::super::text_layer;
use super::super::{Chosen, Occupancy, PaintParameters, Seen, clusters};
use super::*;
use crate::simulation::State;
use crate::view::camera::Camera;
use crate::view::model::{ContentView, RoomModel};
use crate::view::recent_events::Recent;

/// A deterministic pseudo-random number generator.
struct Dice(u64);

impl Dice {
    /// A number from 0 to 1.
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// A room that fits into the view, and the direction in which each agent walks.
struct Walk {
    room: RoomModel,
    steps: Vec<World>,
    dice: Dice,
    half: World,
}

/// Nearly half of the agents rest; one in twelve needs a person.
fn state(dice: &mut Dice) -> State {
    match (dice.roll() * 12.0) as u32 {
        0 => State::Waiting,
        1 => State::Working,
        2 => State::Conversing,
        3..=5 => State::Reading,
        6..=8 => State::Wandering,
        _ => State::Idle,
    }
}

impl Walk {
    fn of(count: u32, zoom: f32) -> Self {
        let mut dice = Dice(u64::from(count));
        let half = World::new(620.0, 380.0) / zoom;
        let agents = (0..count).map(|key| {
            let mut agent = agent(key, "Somebody", state(&mut dice));
            agent.position = (World::new(dice.roll(), dice.roll()) * 2.0 - World::ONE) * half;
            agent
        });
        let agents: Vec<AgentView> = agents.collect();
        let board = |key: u32| {
            let place = World::new(key as f32 * 260.0 - 390.0, 120.0);
            element(key, "pinboard", "Ideas", place, ContentView::Pins(Vec::new()))
        };
        let steps = agents.iter().map(|_| (World::new(dice.roll(), dice.roll()) - World::splat(0.5)) * 24.0).collect();
        let room = RoomModel { agents, elements: (0..4).map(board).collect(), ..RoomModel::default() };
        Self { room, steps, dice, half }
    }

    /// Advances the room by a fifth of a second.
    fn step(&mut self) {
        for (agent, step) in self.room.agents.iter_mut().zip(&mut self.steps) {
            agent.position += *step;
            if agent.position.abs().cmpgt(self.half).any() {
                agent.position = agent.position.clamp(-self.half, self.half);
                *step = (World::new(self.dice.roll(), self.dice.roll()) - World::splat(0.5)) * 24.0;
            }
            if self.dice.roll() < 0.02 {
                agent.state = state(&mut self.dice);
            }
        }
    }
}

/// A label as shown: its owner, importance, rectangle and leader line.
type Shown = (Owner, Importance, Rect, Option<[Pos2; 2]>);

fn laid_out(room: &RoomModel, camera: Camera, labels: &mut Labels) -> (Vec<Shown>, Vec<LabelRequest>, Vec<Rect>) {
    let (selected, recent) = (BTreeSet::new(), Recent::default());
    let theme = Theme::of(false);
    let scene = PaintParameters {
        camera,
        theme,
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
    let input =
        LabelInput { room, recent: &recent, seen: &seen, chosen: &chosen, scene: &scene, detail, clusters: &clusters };
    let [first, later] = text_layer::wanted(&input, &mut |text| vec2(0.55 * text.chars().count() as f32, 1.3));
    let (faces, bodies) = (input.faces(), Occupancy::new(camera.viewport));
    let ground = LabelObstacles { view: camera.viewport, faces: &faces, bodies: &bodies };
    let mut taken = Occupancy::new(camera.viewport);
    let mut shown = Vec::new();
    let mut places = LabelPlaces::default();
    for wanted in [&first, &later] {
        let placed = label_layout::place(&wanted.requests, ground, &mut taken, &labels.places);
        places.remember(&wanted.requests, &placed);
        shown.extend(placed.iter().map(|label| {
            let request = &wanted.requests[label.request];
            (request.owner, request.importance, label.rect, label.leader)
        }));
    }
    labels.places = places;
    let faces = match detail {
        // Of agents shown as dots, only those that stand out must not be covered.
        Detail::Dots => {
            clusters.iter().map(|cluster| clusters::place(cluster, camera)).filter(|it| it.1).map(|it| it.0).collect()
        }
        _ => input.agents().map(|agent| face(agent, &input)).collect(),
    };
    (shown, first.requests, faces)
}

fn overlap(one: Rect, other: Rect) -> bool {
    one.intersect(other).is_positive() && other.is_positive()
}

/// Simulates a minute with five label layouts per second, and passes each to `look`.
fn for_a_minute(
    count: u32,
    zoom: f32,
    mut look: impl FnMut(&RoomModel, Camera, (Vec<Shown>, Vec<LabelRequest>, Vec<Rect>)),
) {
    let mut walk = Walk::of(count, zoom);
    let camera = Camera { zoom, ..Camera::default() };
    let mut labels = Labels::default();
    for _ in 0..300 {
        walk.step();
        let laid = laid_out(&walk.room, camera, &mut labels);
        look(&walk.room, camera, laid);
    }
}

#[test]
fn no_label_covers_a_face_or_label_and_no_important_agent_lacks_one() {
    for (count, zoom) in [(1, 1.0), (12, 1.0), (30, 1.0), (30, 2.0), (300, 0.5)] {
        for_a_minute(count, zoom, |_, camera, (shown, requests, faces)| {
            for (index, (owner, _, rect, leader)) in shown.iter().enumerate() {
                // Parts outside the view cover nothing.
                let seen = rect.intersect(camera.viewport);
                let other = shown[..index].iter().find(|other| overlap(other.2, seen));
                assert_eq!(other, None, "{count} at {zoom}: the label of {owner:?} covers another");
                assert!(!faces.iter().any(|face| overlap(*face, seen)), "{count} at {zoom}: {owner:?} covers a face");
                assert!(leader.is_none_or(|[from, _]| rect.expand(0.5).contains(from)));
            }
            let input: BTreeSet<Owner> = shown.iter().map(|label| label.0).collect();
            let in_view = |request: &&LabelRequest| {
                request.reach == LabelReach::Anywhere && camera.viewport.contains(request.body.center())
            };
            for request in requests.iter().filter(in_view) {
                assert!(input.contains(&request.owner), "{count} at {zoom}: {:?} has no label", request.owner);
            }
        });
    }
}

#[test]
fn zoomed_out_labels_cover_neither_labels_nor_important_agents() {
    for (count, zoom) in [(12, 0.3), (300, 0.3), (30, 0.15), (300, 0.15)] {
        let mut labels = 0;
        for_a_minute(count, zoom, |_, camera, (shown, _, faces)| {
            labels += shown.len();
            for (index, (owner, _, rect, _)) in shown.iter().enumerate() {
                let seen = rect.intersect(camera.viewport);
                let other = shown[..index].iter().find(|other| overlap(other.2, seen));
                assert_eq!(other, None, "{count} at {zoom}: the label of {owner:?} covers another");
                assert!(!faces.iter().any(|face| overlap(*face, seen)), "{count} at {zoom}: {owner:?} covers somebody");
            }
        });
        assert!(labels > 0, "{count} at {zoom}: somebody is told of");
    }
}

#[test]
fn a_label_away_from_its_owner_has_a_leader_line() {
    let mut leaders = 0;
    for_a_minute(30, 1.0, |room, camera, (shown, _, _)| {
        for (owner, importance, rect, leader) in shown {
            let Owner::Agent(key) = owner else { continue };
            let agent = room.agent_of(key).expect("it is here");
            let body = body(agent, camera, 1.0);
            match leader {
                Some([_, to]) => {
                    leaders += 1;
                    assert!(body.contains(to), "it leads to its owner");
                    assert!(importance != Importance::Rest, "who rests has its name beside it or none");
                }
                None => assert!(rect.intersects(body.expand(CLOSE_ENOUGH)), "{owner:?} stands far away without a line"),
            }
        }
    });
    assert!(leaders > 20, "{leaders}");
}

/// Maximum distance between a label without leader line and its owner, in points.
const CLOSE_ENOUGH: f32 = 17.0;

#[test]
fn labels_do_not_jump() {
    for (count, zoom) in [(12, 1.0), (30, 1.0)] {
        let mut before: HashMap<Owner, (Pos2, World)> = HashMap::new();
        let (mut kept, mut jumps) = (0, 0);
        for_a_minute(count, zoom, |room, _, (shown, _, _)| {
            let now = shown.iter().filter_map(|(owner, _, rect, _)| {
                let Owner::Agent(key) = owner else { return None };
                Some((*owner, (rect.center_top(), room.agent_of(*key)?.position)))
            });
            let now: HashMap<Owner, (Pos2, World)> = now.collect();
            for (owner, (at, place)) in &now {
                let Some((was, stood)) = before.get(owner) else { continue };
                // The label moves with its owner, except at the edge of the view, where it may lag by one step.
                let along = (*place - *stood) * zoom;
                let moved = *at - *was - vec2(along.x, -along.y);
                if moved.length() < 18.0 { kept += 1 } else { jumps += 1 }
            }
            before = now;
        });
        // All agents walk all the time, and pass another agent every few seconds.
        assert!(jumps * 20 < kept, "{count} at {zoom}: {jumps} jumps, {kept} kept");
    }
}

#[test]
fn selected_agents_always_show_name_and_activity() {
    let mut room = Walk::of(30, 1.0).room;
    room.agents[3].state = State::Idle;
    room.agents[3].position = World::new(0.0, 0.0);
    let selected = BTreeSet::from([crate::view::pick::RoomObject::Agent(room.agents[3].id.clone())]);
    let (recent, camera) = (Recent::default(), Camera { zoom: 0.3, ..Camera::default() });
    let theme = Theme::of(true);
    let scene = PaintParameters {
        camera,
        theme,
        now_secs: 0.0,
        selected: &selected,
        hovered: None,
        pointer: None,
        quiet: false,
        who_knows: None,
        still: true,
    };
    let (seen, chosen) = (Seen::of(&room, camera), Chosen::of(&scene));
    let detail = Detail::Figures;
    let input =
        LabelInput { room: &room, recent: &recent, seen: &seen, chosen: &chosen, scene: &scene, detail, clusters: &[] };
    let [first, _] = text_layer::wanted(&input, &mut |_| vec2(1.0, 1.0));
    let own = first.requests.iter().position(|request| request.owner == Owner::Agent(room.agents[3].key));
    let label = &first.labels[own.expect("it has one from afar as well")];
    assert_eq!((&*label.name.0, label.line.as_ref().map(|line| &*line.0)), ("Somebody", Some("Idle")));
    let busy = |agent: &&AgentView| Importance::of(agent) <= Importance::Working;
    assert_eq!(first.requests.len(), 1 + room.agents.iter().filter(busy).count(), "others only where they matter");
}

#[test]
fn multi_line_names_are_joined_and_long_ones_truncated() {
    assert_eq!(shown("Ada\nof the\tarchive"), "Ada of the archive");
    assert!(shown(&"ß".repeat(200)).chars().count() <= MAX_LETTERS);
    assert!(matches!(shown("Ada"), Cow::Borrowed("Ada")));
}
