//! Places labels: a pure function of the requested labels, the positions of faces, and the previous places of labels.
//!
//! No label covers a face or another label. The most important labels are placed first and always get a place, if
//! necessary away from their owner, with a leader line. A label keeps its last place as long as it is free, so that
//! none jumps.

use bevy::platform::collections::HashMap;
use egui::{Pos2, Rect, Vec2, pos2, vec2};

use super::occupancy::Occupancy;
use crate::base::{AgentKey, ElementKey};
use crate::view::activity_text::Importance;

/// Distance of a new place from other labels, in points, so that it is not lost again at once.
const AIR: f32 = 3.0;
/// A label returns to its preferred place if it has this much free space around it, in points.
const HOME_AIR: f32 = 14.0;
/// A label closer than this to its owner needs no leader line, in points.
const CLOSE: f32 = 7.0;
/// Distances that a label moves aside before it looks for a new place, in points.
const NUDGES: [f32; 2] = [6.0, 12.0];
const MAX_NUDGED: f32 = 30.0;
/// Maximum number of labels per frame that search the whole view; the others stay as they are.
const WIDE_SEARCHES: usize = 48;
/// Step of the search in the whole view, in points.
const STEP: Vec2 = vec2(18.0, 12.0);

/// The owner of a label.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    /// An agent.
    Agent(AgentKey),
    /// An element.
    Element(ElementKey),
    /// An agent alone in its square of the zoomed-out view.
    Single(i32, i32),
    /// The agents near an element, in the zoomed-out view.
    About(ElementKey),
    /// The agents in a square of the floor, in the zoomed-out view.
    Square(i32, i32),
    /// A rope, by the index of its tie.
    Rope(usize),
}

/// A request to show a label.
#[derive(Clone, Copy, Debug)]
pub struct LabelRequest {
    /// The owner.
    pub owner: Owner,
    /// The screen rectangle of the owner.
    pub body: Rect,
    /// The top centre of the preferred place.
    pub home: Pos2,
    /// The size of the label.
    pub size: Vec2,
    /// The importance; the most important labels are placed first.
    pub importance: Importance,
    /// Distance from the pointer, which decides between equally important labels.
    pub distance: f32,
    /// How far the label may be from its owner.
    pub reach: LabelReach,
}

/// How far a label may be from its owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LabelReach {
    /// Only at the preferred place.
    Home,
    /// Only below its owner.
    Under,
    /// Anywhere around its owner.
    Around,
    /// Anywhere in the view: the label is always shown.
    Anywhere,
}

/// A placed label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlacedLabel {
    /// Index of its request.
    pub request: usize,
    /// The screen rectangle.
    pub rect: Rect,
    /// The leader line to its owner, if it is not close.
    pub leader: Option<[Pos2; 2]>,
    spot: Spot,
}

/// The place of a label relative to its owner.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Spot {
    /// Index of one of the standard places; 0 is the preferred one.
    index: usize,
    /// Offset from that place, in points.
    by: Vec2,
}

impl Spot {
    const HOME: Self = Self::near(0);

    const fn near(index: usize) -> Self {
        Self { index, by: Vec2::ZERO }
    }

    /// Whether this place is within the given reach.
    fn is_within(self, reach: LabelReach) -> bool {
        let is_beside = self.index < spots(reach) && self.by.length() <= MAX_NUDGED;
        match reach {
            LabelReach::Home => self == Self::HOME,
            LabelReach::Under => is_beside && self.by.y == 0.0,
            LabelReach::Around => is_beside,
            LabelReach::Anywhere => true,
        }
    }
}

/// The places of all labels in the last frame.
#[derive(Clone, Debug, Default)]
pub struct LabelPlaces(HashMap<Owner, Spot>);

impl LabelPlaces {
    /// Records the places of labels.
    pub fn remember<'a>(&mut self, requests: &[LabelRequest], placed: impl IntoIterator<Item = &'a PlacedLabel>) {
        self.0.extend(placed.into_iter().map(|label| (requests[label.request].owner, label.spot)));
    }
}

/// Number of standard places: preferred, below left and right, beside right and left, above, further below.
const NEAR_SPOTS: usize = 7;
const UNDER_SPOTS: usize = 3;

fn spots(reach: LabelReach) -> usize {
    match reach {
        LabelReach::Home => 1,
        LabelReach::Under => UNDER_SPOTS,
        LabelReach::Around | LabelReach::Anywhere => NEAR_SPOTS,
    }
}

fn near(request: &LabelRequest, index: usize) -> Rect {
    let LabelRequest { body, size, .. } = *request;
    let home = home(request);
    let beside = body.top() + 0.6 * body.height() - 0.5 * size.y;
    match index {
        0 => home,
        1 => home.translate(vec2(-0.42 * size.x, 0.0)),
        2 => home.translate(vec2(0.42 * size.x, 0.0)),
        3 => Rect::from_min_size(pos2(body.right() + 3.0, beside), size),
        4 => Rect::from_min_size(pos2(body.left() - 3.0 - size.x, beside), size),
        5 => Rect::from_min_size(pos2(home.left(), body.top() - 5.0 - size.y), size),
        _ => home.translate(vec2(0.0, size.y + 4.0)),
    }
}

fn home(request: &LabelRequest) -> Rect {
    Rect::from_center_size(request.home + vec2(0.0, 0.5 * request.size.y), request.size)
}

/// Obstacles for labels.
#[derive(Clone, Copy)]
pub struct LabelObstacles<'a> {
    /// The view; labels that are always shown stay within it.
    pub view: Rect,
    /// Faces, which no label may cover.
    pub faces: &'a Occupancy,
    /// Figures and boards, which labels avoid if possible.
    pub bodies: &'a Occupancy,
}

/// Places labels and marks their rectangles as taken. Labels without a place are missing from the result.
pub fn place(
    requests: &[LabelRequest],
    ground: LabelObstacles<'_>,
    taken: &mut Occupancy,
    previous: &LabelPlaces,
) -> Vec<PlacedLabel> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    let rank = |index: usize| {
        let request = &requests[index];
        (request.importance, request.reach == LabelReach::Home, !previous.0.contains_key(&request.owner))
    };
    order.sort_by(|one, other| {
        let (here, there) = (&requests[*one], &requests[*other]);
        rank(*one).cmp(&rank(*other)).then(here.distance.total_cmp(&there.distance)).then(here.owner.cmp(&there.owner))
    });
    let mut search = Search { ground, taken, wide_left: WIDE_SEARCHES, is_full: false };
    let mut placed: Vec<PlacedLabel> = Vec::with_capacity(requests.len());
    let mut rest = order.as_slice();
    while let Some(first) = rest.first() {
        let importance = requests[*first].importance;
        let (class, others) = rest.split_at(rest.partition_point(|index| requests[*index].importance == importance));
        let from = placed.len();
        // Labels keep their places before others search for new ones.
        let mut seekers = Vec::new();
        for index in class {
            match previous.0.get(&requests[*index].owner).and_then(|spot| search.keep(&requests[*index], *spot)) {
                Some((rect, spot)) => placed.push(label(requests, *index, rect, spot)),
                None => seekers.push(*index),
            }
        }
        for index in seekers {
            if let Some((rect, spot)) = search.find(&requests[index]) {
                placed.push(label(requests, index, rect, spot));
            }
        }
        for shown in &mut placed[from..] {
            if let Some(rect) = search.go_home(&requests[shown.request], shown) {
                *shown = label(requests, shown.request, rect, Spot::HOME);
            }
        }
        rest = others;
    }
    placed
}

fn label(requests: &[LabelRequest], request: usize, rect: Rect, spot: Spot) -> PlacedLabel {
    let LabelRequest { body, reach, .. } = requests[request];
    let to = pos2(body.center().x, body.bottom() - 0.25 * body.height());
    let from = rect.clamp(to);
    let is_under = spot.index < UNDER_SPOTS && spot.by.length() <= CLOSE;
    let is_close = is_under || (spot.is_within(LabelReach::Around) && rect.intersects(body.expand(CLOSE)));
    let leader = (!is_close && reach > LabelReach::Under).then_some([from, to]);
    PlacedLabel { request, rect, leader, spot }
}

/// The search for places in one frame.
struct Search<'a> {
    ground: LabelObstacles<'a>,
    taken: &'a mut Occupancy,
    wide_left: usize,
    /// Whether the whole view was searched without success.
    is_full: bool,
}

impl Search<'_> {
    fn is_free(&self, rect: Rect) -> bool {
        self.ground.faces.is_free(rect) && self.taken.is_free(rect)
    }

    /// Takes a place if it is free.
    fn take(&mut self, rect: Rect, spot: Spot) -> Option<(Rect, Spot)> {
        self.taken.occupy(rect).then_some((rect, spot))
    }

    /// The rectangle, moved into the view if the label is always shown.
    fn held(&self, request: &LabelRequest, rect: Rect) -> Rect {
        if request.reach == LabelReach::Anywhere { inside(rect, self.ground.view) } else { rect }
    }

    /// The previous place, or one close to it, if it is still free and within reach.
    fn keep(&mut self, request: &LabelRequest, spot: Spot) -> Option<(Rect, Spot)> {
        if !spot.is_within(request.reach) {
            return None;
        }
        let at = |spot: Spot| near(request, spot.index).translate(spot.by);
        let rect = self.held(request, at(spot));
        if self.is_free(rect) {
            return self.take(rect, spot);
        }
        // Moving aside a little is better than moving elsewhere.
        let sides = [vec2(1.0, 0.0), vec2(-1.0, 0.0), vec2(0.0, 1.0), vec2(0.0, -1.0)];
        let nudges = NUDGES.into_iter().flat_map(|by| sides.map(|side| side * by));
        for by in nudges {
            let nudged = Spot { by: spot.by + by, ..spot };
            let rect = self.held(request, at(nudged));
            if nudged.is_within(request.reach) && self.is_free(rect) {
                return self.take(rect, nudged);
            }
        }
        None
    }

    /// Finds a new place: the standard place with the lowest cost, else one farther away.
    fn find(&mut self, request: &LabelRequest) -> Option<(Rect, Spot)> {
        let mut best: Option<(usize, usize)> = None;
        for index in 0..spots(request.reach) {
            let rect = self.held(request, near(request, index));
            if !self.is_free(rect.expand(AIR)) {
                continue;
            }
            let covered = self.ground.bodies.crowding(rect);
            // The name of a resting agent covers no figures at all.
            if request.reach == LabelReach::Under && covered > 0 {
                continue;
            }
            let cost = covered + 3 * index;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, index));
            }
        }
        if let Some((_, index)) = best {
            return self.take(self.held(request, near(request, index)), Spot::near(index));
        }
        if request.reach == LabelReach::Anywhere { self.find_away(request) } else { None }
    }

    /// Searches in rings around the owner, then in the whole view.
    fn find_away(&mut self, request: &LabelRequest) -> Option<(Rect, Spot)> {
        if self.wide_left == 0 || self.is_full {
            return None;
        }
        self.wide_left -= 1;
        let home = home(request);
        let free = |search: &Self, by: Vec2| {
            let rect = inside(home.translate(by), search.ground.view);
            search.is_free(rect.expand(1.0)).then_some((rect, Spot { index: 0, by: rect.min - home.min }))
        };
        for ring in 1..=5 {
            let reach = vec2(0.5 * request.size.x + 20.0 * ring as f32, request.size.y + 16.0 * ring as f32);
            for step in 0..16 {
                // Below first, then upward along both sides.
                let turn = std::f32::consts::TAU * ((step + 1) / 2) as f32 / 16.0;
                let side = if step % 2 == 0 { 1.0 } else { -1.0 };
                let by = vec2(side * turn.sin() * reach.x, turn.cos() * reach.y);
                if let Some((rect, spot)) = free(self, by) {
                    return self.take(rect, spot);
                }
            }
        }
        let nearest = self.anywhere(home);
        self.is_full = nearest.is_none();
        let (rect, spot) = nearest?;
        self.take(rect, spot)
    }

    /// The free place in the whole view that is nearest to the preferred one. Searches rows and columns outward, until
    /// no nearer one is possible.
    fn anywhere(&self, home: Rect) -> Option<(Rect, Spot)> {
        let view = self.ground.view;
        let room = view.size() - home.size();
        let from = (home.min - view.min) / STEP;
        let (columns, rows) = (outward(from.x, room.x / STEP.x), outward(from.y, room.y / STEP.y));
        let mut nearest: Option<(f32, Rect)> = None;
        for row in &rows {
            let away_y = ((*row as f32 - from.y) * STEP.y).powi(2);
            if nearest.is_some_and(|(least, _)| away_y >= least) {
                break;
            }
            for column in &columns {
                let away = away_y + ((*column as f32 - from.x) * STEP.x).powi(2);
                if nearest.is_some_and(|(least, _)| away >= least) {
                    break;
                }
                let rect = Rect::from_min_size(view.min + vec2(*column as f32, *row as f32) * STEP, home.size());
                if self.is_free(rect) {
                    nearest = Some((away, rect));
                    break;
                }
            }
        }
        nearest.map(|(_, rect)| (rect, Spot { index: 0, by: rect.min - home.min }))
    }

    /// Moves a label back to its preferred place if there is enough free space for it to stay there.
    fn go_home(&mut self, request: &LabelRequest, shown: &PlacedLabel) -> Option<Rect> {
        if shown.spot == Spot::HOME {
            return None;
        }
        self.taken.free(shown.rect);
        let home = self.held(request, near(request, 0));
        let is_roomy = self.is_free(home.expand(HOME_AIR)) && self.ground.bodies.crowding(home) == 0;
        self.taken.occupy(if is_roomy { home } else { shown.rect });
        is_roomy.then_some(home)
    }
}

/// The integers from 0 to `last`, nearest to `from` first.
fn outward(from: f32, last: f32) -> Vec<i32> {
    let mut all: Vec<i32> = (0..=last.floor() as i32).collect();
    all.sort_by(|one, other| (*one as f32 - from).abs().total_cmp(&(*other as f32 - from).abs()));
    all
}

/// Moves a rectangle into another, as far as it fits.
pub fn inside(rect: Rect, view: Rect) -> Rect {
    let shift = |low: f32, high: f32, from: f32, to: f32| {
        if high - low > to - from { from - low } else { (from - low).max(0.0) + (to - high).min(0.0) }
    };
    rect.translate(vec2(
        shift(rect.left(), rect.right(), view.left(), view.right()),
        shift(rect.top(), rect.bottom(), view.top(), view.bottom()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Rect = Rect { min: Pos2::ZERO, max: pos2(1_280.0, 800.0) };

    fn request(key: u32, x: f32, importance: Importance) -> LabelRequest {
        let reach = match importance {
            Importance::Rest => LabelReach::Under,
            Importance::Reading => LabelReach::Around,
            _ => LabelReach::Anywhere,
        };
        let body = Rect::from_min_size(pos2(x - 12.0, 252.0), vec2(24.0, 48.0));
        let (home, size) = (pos2(x, 309.0), vec2(60.0, 18.0));
        LabelRequest { owner: Owner::Agent(AgentKey(key)), body, home, size, importance, distance: 0.0, reach }
    }

    fn laid(requests: &[LabelRequest], faces: &Occupancy, previous: &LabelPlaces) -> Vec<PlacedLabel> {
        let bodies = Occupancy::new(VIEW);
        place(requests, LabelObstacles { view: VIEW, faces, bodies: &bodies }, &mut Occupancy::new(VIEW), previous)
    }

    fn remembered(requests: &[LabelRequest], placed: &[PlacedLabel]) -> LabelPlaces {
        let mut places = LabelPlaces::default();
        places.remember(requests, placed);
        places
    }

    #[test]
    fn more_important_labels_win_and_optional_ones_are_dropped() {
        use Importance::{NeedsYou, Reading, Rest, Selected, Talking, Working};
        let faces = Occupancy::new(VIEW);
        for (more, less) in [(NeedsYou, Selected), (Selected, Working), (Working, Talking), (Talking, Reading)] {
            let requests = [request(0, 400.0, less), request(1, 410.0, more)];
            let placed = laid(&requests, &faces, &LabelPlaces::default());
            assert_eq!(placed[0].request, 1, "{more:?} before {less:?}");
            assert_eq!((placed[0].rect, placed[0].leader), (home(&requests[1]), None));
            assert_eq!(placed.len(), 2, "{less:?} finds another place");
        }
        let requests =
            [request(0, 400.0, Rest), request(1, 402.0, Rest), request(2, 398.0, Rest), request(3, 401.0, Rest)];
        assert!(laid(&requests, &faces, &LabelPlaces::default()).len() < 4, "those at rest may have none");
    }

    #[test]
    fn a_label_avoids_a_face_and_gets_a_leader_line() {
        let mut faces = Occupancy::new(VIEW);
        let worker = [request(0, 400.0, Importance::Working)];
        faces.claim(Rect::from_center_size(pos2(400.0, 300.0), vec2(300.0, 200.0)));
        let placed = laid(&worker, &faces, &LabelPlaces::default());
        let [from, to] = placed[0].leader.expect("it stands away from its owner");
        assert!(placed[0].rect.expand(0.1).contains(from) && worker[0].body.contains(to));
        assert!(faces.is_free(placed[0].rect));
        faces.claim(Rect::from_min_max(pos2(0.0, 40.0), VIEW.max));
        let placed = laid(&worker, &faces, &LabelPlaces::default());
        assert!(placed[0].rect.bottom() < 40.0 && VIEW.contains_rect(placed[0].rect), "the last free corner is found");
        let resting = [request(0, 400.0, Importance::Rest)];
        assert!(laid(&resting, &faces, &LabelPlaces::default()).is_empty());
    }

    #[test]
    fn a_label_returns_only_to_a_spacious_home() {
        let mut faces = Occupancy::new(VIEW);
        let requests = [request(0, 400.0, Importance::Working)];
        let face = |x: f32| Rect::from_center_size(pos2(x, 318.0), vec2(12.0, 12.0));
        faces.claim(face(400.0));
        let away = laid(&requests, &faces, &LabelPlaces::default());
        assert_ne!(away[0].rect, home(&requests[0]));
        let mut beside = Occupancy::new(VIEW);
        beside.claim(face(442.0));
        let previous = remembered(&requests, &away);
        assert_eq!(laid(&requests, &beside, &previous)[0].rect, away[0].rect, "its home is free, and narrow");
        assert_eq!(laid(&requests, &Occupancy::new(VIEW), &previous)[0].rect, home(&requests[0]));
    }

    #[test]
    fn resting_agents_keep_the_names_they_have() {
        let faces = Occupancy::new(VIEW);
        let mut requests = [request(0, 400.0, Importance::Rest), request(1, 404.0, Importance::Rest)];
        requests.iter_mut().for_each(|request| request.reach = LabelReach::Home);
        requests[0].distance = 5.0;
        let first = laid(&requests, &faces, &LabelPlaces::default());
        assert_eq!(first.iter().map(|label| label.request).collect::<Vec<_>>(), [1], "the nearest to the pointer");
        requests[0].distance = 1.0;
        requests[1].distance = 5.0;
        let next = laid(&requests, &faces, &remembered(&requests, &first));
        assert_eq!(next.iter().map(|label| label.request).collect::<Vec<_>>(), [1], "it is not taken away again");
    }

    #[test]
    fn moving_into_the_view_keeps_the_size() {
        let view = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0));
        let moved = inside(Rect::from_min_size(pos2(-50.0, 280.0), vec2(100.0, 60.0)), view);
        assert!(view.contains_rect(moved));
        assert_eq!(moved.size(), vec2(100.0, 60.0));
    }
}
