//! Counts agents by area for the zoomed-out view: those near each element, and those on each other part of the floor. A
//! pure function of the room, computed at most once per tick.

use std::sync::Arc;

use bevy::math::Vec2;
use bevy::platform::collections::HashMap;

use super::activity_text::Importance;
use super::counts::need_you;
use super::model::{ElementView, RoomModel};
use crate::base::ElementKey;
use crate::simulation::State;

/// Agents within this distance of an element are counted there, in world units.
const REACH_UNITS: f32 = 220.0;
/// Below this zoom, elements are too small to be told apart.
const BOARDS_FROM: f32 = 0.18;
/// Minimum width of a floor square on screen, in points, so that its label fits.
const PART_POINTS: f32 = 240.0;

/// The location of an area.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AreaPlace {
    /// Near an element.
    Element(ElementKey),
    /// A square of the floor, by row and column.
    Square(i32, i32),
}

/// The agents in one area.
#[derive(Clone, PartialEq, Debug)]
pub struct Area {
    /// The location.
    pub place: AreaPlace,
    /// The mean of the agents' positions.
    pub middle: Vec2,
    /// Number of agents.
    pub count: usize,
    /// Number of agents that work.
    pub working: usize,
    /// Number of agents that need a person.
    pub needing: usize,
}

impl Area {
    /// The label, such as “12 · 3 working · 1 needs you”.
    pub fn label(&self) -> String {
        let mut words = self.count.to_string();
        if self.working > 0 {
            words.push_str(&format!(" · {} working", self.working));
        }
        if self.needing > 0 {
            words.push_str(&format!(" · {}", need_you(self.needing)));
        }
        words
    }
}

/// The areas of the room at this zoom, sorted by place. Each agent is in exactly one.
pub fn areas(room: &RoomModel, zoom: f32) -> Vec<Area> {
    let side = side_at(zoom);
    let boards = if zoom >= BOARDS_FROM { Boards::of(&room.elements) } else { Boards::default() };
    let mut areas: Vec<Area> = Vec::new();
    let mut indices: HashMap<AreaPlace, usize> = HashMap::default();
    for agent in room.agents.iter().filter(|agent| agent.position.is_finite()) {
        let place = boards.about(agent.position).map_or_else(|| square(agent.position, side), AreaPlace::Element);
        let index = *indices.entry(place).or_insert_with(|| {
            areas.push(Area { place, middle: Vec2::ZERO, count: 0, working: 0, needing: 0 });
            areas.len() - 1
        });
        let area = &mut areas[index];
        let importance = Importance::of(agent);
        area.middle += agent.position;
        area.count += 1;
        area.working += usize::from(importance == Importance::Working);
        area.needing += usize::from(importance == Importance::NeedsYou);
    }
    for area in &mut areas {
        area.middle /= area.count as f32;
    }
    areas.sort_unstable_by_key(|area| area.place);
    areas
}

/// The side of the squares at a zoom: a power of two, so that squares are stable while zooming.
fn side_at(zoom: f32) -> f32 {
    2.0_f32.powi((PART_POINTS / zoom).log2().ceil() as i32)
}

fn square(at: Vec2, side: f32) -> AreaPlace {
    let (column, row) = cell(at, side);
    AreaPlace::Square(row, column)
}

fn cell(at: Vec2, side: f32) -> (i32, i32) {
    let cell = (at / side).floor();
    (cell.x as i32, cell.y as i32)
}

/// The elements near which agents are counted, in a spatial hash of floor cells.
#[derive(Default)]
struct Boards(HashMap<(i32, i32), Vec<(ElementKey, Vec2)>>);

impl Boards {
    fn of(elements: &[ElementView]) -> Self {
        let mut boards = Self::default();
        for element in elements.iter().filter(|element| element.position.is_finite()) {
            let reach = Vec2::splat(REACH_UNITS);
            let (low, high) =
                (cell(element.position - reach, REACH_UNITS), cell(element.position + reach, REACH_UNITS));
            for column in low.0..=high.0 {
                for row in low.1..=high.1 {
                    boards.0.entry((column, row)).or_default().push((element.key, element.position));
                }
            }
        }
        boards
    }

    /// The nearest element within [`REACH_UNITS`].
    fn about(&self, here: Vec2) -> Option<ElementKey> {
        let near = self.0.get(&cell(here, REACH_UNITS))?.iter();
        let far = near.map(|(key, at)| (at.distance_squared(here), *key));
        let (far, key) = far.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        (far <= REACH_UNITS * REACH_UNITS).then_some(key)
    }
}

/// The areas of the last frame, recomputed once per tick, when something is dragged, and when zooming changes the
/// squares.
#[derive(Clone, Debug, Default)]
pub struct AreaCache {
    cache_key: Option<CacheKey>,
    areas: Arc<Vec<Area>>,
    #[cfg(test)]
    computations: usize,
}

/// The inputs that the areas depend on, as far as they can change between ticks.
#[derive(Clone, PartialEq, Debug)]
struct CacheKey {
    tick: u64,
    side: f32,
    has_boards: bool,
    count: (usize, usize),
    /// Address of the furniture list, which tells rooms apart.
    decor: usize,
    /// Positions of everything that can be dragged while the simulation is paused and no tick reports it.
    moved: Vec<[u32; 2]>,
}

/// Positions of dragged agents and of all elements, as bits.
fn draggable_positions(room: &RoomModel) -> Vec<[u32; 2]> {
    let held = room.agents.iter().filter(|agent| agent.state == State::Dragged).map(|agent| agent.position);
    held.chain(room.elements.iter().map(|element| element.position))
        .map(|at| [at.x.to_bits(), at.y.to_bits()])
        .collect()
}

impl AreaCache {
    /// The areas of the room at this zoom.
    pub fn of(&mut self, room: &RoomModel, zoom: f32) -> Arc<Vec<Area>> {
        let cache_key = CacheKey {
            tick: room.tick,
            side: side_at(zoom),
            has_boards: zoom >= BOARDS_FROM,
            count: (room.agents.len(), room.elements.len()),
            decor: Arc::as_ptr(&room.decor).addr(),
            moved: if room.paused { draggable_positions(room) } else { Vec::new() },
        };
        if self.cache_key.as_ref() != Some(&cache_key) {
            self.cache_key = Some(cache_key);
            self.areas = Arc::new(areas(room, zoom));
            #[cfg(test)]
            {
                self.computations += 1;
            }
        }
        self.areas.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::model::ContentView;
    use crate::view::paint::tests::{agent, element};

    /// A room with a board in the middle and one far to the right, and agents at these positions.
    fn room(agents: &[(f32, f32, State)]) -> RoomModel {
        let board = |key, x: f32| element(key, "pinboard", "Ideas", Vec2::new(x, 0.0), ContentView::Pins(Vec::new()));
        let agents = agents.iter().zip(0..).map(|((x, y, state), key)| {
            let mut agent = agent(key, "Ada", *state);
            agent.position = Vec2::new(*x, *y);
            agent
        });
        RoomModel { agents: agents.collect(), elements: vec![board(0, 0.0), board(1, 300.0)], ..RoomModel::default() }
    }

    fn labels_of(room: &RoomModel, zoom: f32) -> Vec<(AreaPlace, String)> {
        areas(room, zoom).iter().map(|area| (area.place, area.label())).collect()
    }

    #[test]
    fn each_agent_is_counted_at_the_nearest_board_or_its_floor_square() {
        let (idle, works, waits) = (State::Idle, State::Working, State::Waiting);
        let room = room(&[
            (0.0, -100.0, idle),
            (100.0, -100.0, works),
            (200.0, -100.0, waits),
            (310.0, 60.0, State::Error),
            (9_000.0, 9_000.0, idle),
        ]);
        let [left, right] = [0, 1].map(|key| AreaPlace::Element(ElementKey(key)));
        let expected = [(left, "2 · 1 working"), (right, "2 · 2 need you"), (AreaPlace::Square(8, 8), "1")];
        assert_eq!(labels_of(&room, 0.3), expected.map(|(place, words)| (place, words.to_owned())));
        assert_eq!(areas(&room, 0.3).iter().map(|area| area.count).sum::<usize>(), room.agents.len());
    }

    #[test]
    fn zoomed_far_out_boards_have_no_areas() {
        let room = room(&[(10.0, 10.0, State::Waiting), (300.0, 10.0, State::Working), (200.0, 90.0, State::Idle)]);
        assert_eq!(labels_of(&room, 0.1), [(AreaPlace::Square(0, 0), "3 · 1 working · 1 needs you".to_owned())]);
    }

    #[test]
    fn floor_squares_fit_their_label_and_are_stable_while_zooming() {
        for zoom in [0.1, 0.15, 0.24, 0.3, 0.44] {
            let points = side_at(zoom) * zoom;
            assert!((PART_POINTS..2.0 * PART_POINTS + 1.0).contains(&points), "{zoom}: {points}");
        }
        assert_eq!(side_at(0.26), side_at(0.28));
    }

    #[test]
    fn areas_are_computed_once_per_tick() {
        let mut room = room(&[(0.0, 0.0, State::Idle)]);
        let mut cache = AreaCache::default();
        for tick in 0..3 {
            room.tick = tick;
            for _ in 0..10 {
                assert_eq!(cache.of(&room, 0.3)[0].count, 1);
            }
        }
        assert_eq!(cache.computations, 3);
    }

    #[test]
    fn in_a_paused_room_areas_are_recomputed_only_after_a_drag() {
        let mut room = room(&[(0.0, 0.0, State::Idle), (40.0, 0.0, State::Idle)]);
        room.paused = true;
        let mut cache = AreaCache::default();
        let first = cache.of(&room, 0.3);
        for _ in 0..10 {
            assert!(Arc::ptr_eq(&first, &cache.of(&room, 0.3)), "nothing has moved");
        }
        (room.agents[0].position, room.agents[0].state) = (Vec2::new(5_000.0, 0.0), State::Dragged);
        let carried = cache.of(&room, 0.3);
        assert_eq!(carried.iter().map(|area| area.count).collect::<Vec<_>>(), [1, 1], "it was carried away meanwhile");
        // Drop the agent there, and move the board.
        room.agents[0].state = State::Idle;
        room.elements[0].position = Vec2::new(-5_000.0, 0.0);
        let put = cache.of(&room, 0.3);
        assert!(put.iter().all(|area| area.place != AreaPlace::Element(ElementKey(0))), "{put:?}");
        assert!(Arc::ptr_eq(&put, &cache.of(&room, 0.3)));
        assert_eq!(cache.computations, 3);
    }

    #[test]
    fn ten_thousand_agents_are_counted_and_invalid_positions_are_skipped() {
        let states = [State::Idle, State::Working, State::Waiting, State::Reading];
        let place = |key: usize| ((key % 100) as f32 * 52.0, (key / 100) as f32 * 52.0, states[key % 4]);
        let mut room = room(&(0..10_000).map(place).collect::<Vec<_>>());
        room.agents[7].position = Vec2::NAN;
        room.elements[0].position = Vec2::new(f32::INFINITY, 0.0);
        let areas = areas(&room, 0.15);
        assert_eq!(areas.iter().map(|area| area.count).sum::<usize>(), 9_999);
        assert_eq!(areas.iter().map(|area| area.working).sum::<usize>(), 2_500);
        assert!(areas.len() <= 16, "{}", areas.len());
    }
}
