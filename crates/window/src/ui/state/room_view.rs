//! The view of the room, and the thing under the pointer.

use std::collections::BTreeSet;

use bevy::math::Vec2;

use super::SpaceBar;
use super::furniture_editing::FurnitureEditing;
use crate::base::AgentKey;
use crate::view::activity_text::Importance;
use crate::view::camera::Camera;
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::RoomObject;

/// The smallest zoom at which faces can be distinguished and words on boards can be read.
const LEGIBLE_ZOOM: f32 = 0.55;
/// The minimum zoom on an agent that is opened.
const AGENT_ZOOM: f32 = 1.6;
/// The minimum zoom after a camera movement to a thing.
const THING_ZOOM: f32 = 0.8;
/// The duration of a camera movement, in seconds.
const MOVE_SECS: f64 = 0.45;
/// Seconds for which the zoom must be unchanged before zooming counts as over: a mouse wheel turns in steps.
const ZOOM_SETTLE_SECS: f64 = 0.15;
/// Things nearer to the edge of the view than this, in points, do not count as visible.
const EDGE_POINTS: f32 = 40.0;

/// Returns the position of a thing.
pub fn place_of(room: &RoomModel, thing: &RoomObject) -> Option<Vec2> {
    match thing {
        RoomObject::Agent(id) => room.agent(id).map(|agent| agent.position),
        RoomObject::Element(id) => room.element(id).map(|element| element.position),
    }
}

/// Returns all agents that work, talk or read.
pub fn active(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent).is_active())
}

/// Returns all agents that need the person.
pub fn needing_attention(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent) == Importance::NeedsYou)
}

/// Returns the next agent after this one that needs the person; after the last, the first again.
pub fn next_needing_attention(room: &RoomModel, after: Option<AgentKey>) -> Option<&AgentView> {
    let later = needing_attention(room).find(|agent| after.is_some_and(|after| agent.key > after));
    later.or_else(|| needing_attention(room).next())
}

/// The view of the room. The canvas returns it changed after each frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoomView {
    /// The camera.
    pub camera: Camera,
    /// The thing under the pointer.
    pub hovered: Option<RoomObject>,
    /// Whether the camera was set for this room; otherwise the room is fitted into the view once.
    pub is_framed: bool,
    /// Whether the debug overlay is on.
    pub debug_overlay: bool,
    /// Whether the story strip is collapsed.
    pub is_story_folded: bool,
    /// The state while furniture is being arranged.
    pub arranging: Option<FurnitureEditing>,
    /// The state of the space bar, which pans or pauses.
    pub space_bar: SpaceBar,
    /// The current camera movement.
    pub(in crate::ui) movement: Option<CameraMove>,
    /// The zoom of the last frame, and since when it has had this value.
    pub(in crate::ui) zoomed: Option<(f32, f64)>,
}

/// The start of a camera movement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveStart {
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
    /// Whether motion is reduced: the camera jumps then.
    pub is_still: bool,
}

/// A camera movement. If the person pans meanwhile, its end moves too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::ui) struct CameraMove {
    /// Middle and zoom at the beginning.
    from: (Vec2, f32),
    /// Middle and zoom at the end.
    to: (Vec2, f32),
    since_secs: f64,
    /// The middle and the zoom that were set last.
    set: (Vec2, f32),
}

impl RoomView {
    /// Fits these things into the view, or everything if there are none.
    pub fn frame(&mut self, room: &RoomModel, things: &BTreeSet<RoomObject>) {
        let chosen = |thing: RoomObject| things.is_empty() || things.contains(&thing);
        let agents = room.agents.iter().filter(|agent| chosen(RoomObject::Agent(agent.id.clone())));
        let elements = room.elements.iter().filter(|element| chosen(RoomObject::Element(element.id.clone())));
        let places: Vec<_> =
            agents.map(|agent| agent.position).chain(elements.map(|element| element.position)).collect();
        let mut with_furniture = self.camera;
        with_furniture.frame(places.iter().copied().chain(room.decor.iter().map(|decor| decor.position)));
        let has_no_things = places.is_empty();
        self.camera.frame(places);
        // The whole room with its furniture, unless agents would be too small then.
        if things.is_empty() && (has_no_things || with_furniture.zoom >= LEGIBLE_ZOOM.min(self.camera.zoom)) {
            self.camera = with_furniture;
        }
    }

    /// Fits all agents that work, talk, read or need the person into the view; does nothing if there are none.
    pub fn frame_active(&mut self, room: &RoomModel) {
        self.camera.frame(active(room).chain(needing_attention(room)).map(|agent| agent.position));
    }

    /// Moves the camera to a thing that is not visible, or will not be at the end of the current movement.
    pub fn reveal(&mut self, room: &RoomModel, thing: &RoomObject, move_start: MoveStart) {
        let Some(place) = place_of(room, thing) else { return };
        let (middle, zoom) = self.movement.map_or((self.camera.middle, self.camera.zoom), |movement| movement.to);
        let target = Camera { middle, zoom, ..self.camera };
        if !target.viewport.shrink(EDGE_POINTS).contains(target.to_screen(place)) {
            self.start_move((place, zoom), move_start);
        }
    }

    /// Moves the camera to a thing, near enough to see an agent's face.
    pub fn zoom_to(&mut self, room: &RoomModel, thing: &RoomObject, move_start: MoveStart) {
        if let Some(place) = place_of(room, thing) {
            self.start_move((place, self.camera.zoom.max(AGENT_ZOOM)), move_start);
        }
    }

    /// Moves the camera to a thing, near enough to recognise it, and never farther than now.
    pub fn move_camera_to(&mut self, room: &RoomModel, thing: &RoomObject, move_start: MoveStart) {
        if let Some(place) = place_of(room, thing) {
            self.start_move((place, self.camera.zoom.max(THING_ZOOM)), move_start);
        }
    }

    fn start_move(&mut self, to: (Vec2, f32), MoveStart { now_secs, is_still }: MoveStart) {
        let from = (self.camera.middle, self.camera.zoom);
        let since_secs = if is_still { f64::NEG_INFINITY } else { now_secs };
        self.movement = Some(CameraMove { from, to, since_secs, set: from });
        self.advance_camera(now_secs);
    }

    /// Advances the camera movement. Returns whether it is still running.
    pub fn advance_camera(&mut self, now_secs: f64) -> bool {
        let Some(movement) = &mut self.movement else { return false };
        if self.camera.zoom != movement.set.1 {
            // A person who zooms wants to look elsewhere.
            self.movement = None;
            return false;
        }
        let drift = self.camera.middle - movement.set.0;
        (movement.from.0, movement.to.0) = (movement.from.0 + drift, movement.to.0 + drift);
        let share = ((now_secs - movement.since_secs) / MOVE_SECS).clamp(0.0, 1.0) as f32;
        let eased = share * share * (3.0 - 2.0 * share);
        movement.set =
            (movement.from.0.lerp(movement.to.0, eased), movement.from.1 + (movement.to.1 - movement.from.1) * eased);
        (self.camera.middle, self.camera.zoom) = movement.set;
        if share >= 1.0 {
            self.movement = None;
        }
        self.movement.is_some()
    }

    /// Records whether the zoom is changing at this time, in seconds. Returns the seconds until zooming counts as over.
    pub fn note_zoom(&mut self, now_secs: f64) -> Option<f64> {
        let zoom = self.camera.zoom;
        let since = match self.zoomed {
            Some((before, since)) if before == zoom => since,
            Some(_) if self.is_framed => now_secs,
            // Opening a room is not zooming.
            _ => f64::NEG_INFINITY,
        };
        self.zoomed = Some((zoom, since));
        let left = ZOOM_SETTLE_SECS - (now_secs - since);
        self.camera.is_zooming = left > 0.0;
        self.camera.is_zooming.then_some(left)
    }

    /// Forgets everything about the previous room, because another one is open.
    pub fn forget_room(&mut self) {
        (self.hovered, self.is_framed, self.movement, self.arranging) = (None, false, None, None);
        self.zoomed = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::ui::testing::{agent, sample_room};

    #[test]
    fn zooming_counts_as_over_a_moment_after_the_last_wheel_step() {
        let mut view = RoomView { is_framed: true, ..RoomView::default() };
        assert_eq!(view.note_zoom(1.0), None, "the zoom is unchanged");
        for (at, zoom, moves) in [
            (2.0, 1.1, true),
            (2.1, 1.1, true),
            (2.12, 1.2, true),
            (2.25, 1.2, true),
            (2.3, 1.2, false),
            (9.0, 1.2, false),
        ] {
            view.camera.zoom = zoom;
            let left = view.note_zoom(at);
            assert_eq!((left.is_some(), view.camera.is_zooming), (moves, moves), "at {at}");
            assert!(left.is_none_or(|left| left > 0.0 && left <= ZOOM_SETTLE_SECS));
        }
        view.forget_room();
        view.camera.zoom = 0.7;
        assert_eq!(view.note_zoom(9.1), None, "opening a room is not zooming");
    }

    const AT_10: MoveStart = MoveStart { now_secs: 10.0, is_still: false };

    fn bram() -> (RoomModel, RoomObject, Vec2) {
        let room = sample_room();
        let thing = RoomObject::Agent("bram-1".into());
        let place = place_of(&room, &thing).expect("he is in the room");
        (room, thing, place)
    }

    #[test]
    fn the_camera_glides_to_a_thing() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.camera.zoom = 0.3;
        view.move_camera_to(&room, &thing, AT_10);
        assert_eq!(view.camera.middle, Vec2::ZERO, "it does not jump");
        assert!(view.advance_camera(10.0 + MOVE_SECS / 2.0));
        assert!(view.camera.middle.x > 1.0 && view.camera.middle.x < place.x - 1.0, "{}", view.camera.middle);
        assert!(!view.advance_camera(11.0));
        assert_eq!((view.camera.middle, view.camera.zoom), (place, THING_ZOOM));
        assert!(!view.advance_camera(12.0));
    }

    #[test]
    fn a_second_reveal_starts_from_the_end_of_the_first() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.camera.viewport = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(800.0, 600.0));
        view.camera.middle = place + Vec2::new(5_000.0, 0.0);
        view.reveal(&room, &thing, AT_10);
        let ada = RoomObject::Agent("ada-1".into());
        view.reveal(&room, &ada, MoveStart { now_secs: 10.1, is_still: false });
        view.advance_camera(12.0);
        for thing in [ada, thing] {
            let at = view.camera.to_screen(place_of(&room, &thing).expect("it is in the room"));
            assert!(view.camera.viewport.contains(at), "{thing:?}");
        }
    }

    #[test]
    fn with_reduced_motion_the_camera_jumps() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.move_camera_to(&room, &thing, MoveStart { is_still: true, ..AT_10 });
        assert_eq!(view.camera.middle, place);
    }

    #[test]
    fn panning_shifts_a_camera_movement_and_zooming_stops_it() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.move_camera_to(&room, &thing, AT_10);
        view.camera.middle.y += 50.0;
        view.advance_camera(11.0);
        assert_eq!(view.camera.middle, place + Vec2::new(0.0, 50.0));
        view.camera.middle = Vec2::ZERO;
        view.move_camera_to(&room, &thing, MoveStart { now_secs: 20.0, is_still: false });
        view.camera.zoom = 2.0;
        assert!(!view.advance_camera(20.1));
        assert_eq!((view.camera.middle, view.camera.zoom), (Vec2::ZERO, 2.0));
    }

    #[test]
    fn agents_that_need_the_person_come_in_turn() {
        let mut room = RoomModel::default();
        for (key, state) in [State::Waiting, State::Idle, State::Error, State::Working].into_iter().enumerate() {
            room.agents.push(AgentView { state, ..agent(key as u32, &format!("ada-{key}"), "Ada") });
        }
        let next = |after: Option<u32>| next_needing_attention(&room, after.map(AgentKey)).map(|agent| agent.key.0);
        assert_eq!([None, Some(0), Some(1), Some(2), Some(3)].map(next), [0, 2, 2, 0, 0].map(Some));
        assert_eq!(next_needing_attention(&RoomModel::default(), None).map(|agent| agent.key), None);
    }

    #[test]
    fn framing_the_active_agents_shows_all_of_them() {
        let mut room = RoomModel::default();
        for (key, state) in [State::Conversing, State::Idle, State::Working].into_iter().enumerate() {
            let position = Vec2::new(key as f32 * 3_000.0, 0.0);
            room.agents.push(AgentView { state, position, ..agent(key as u32, "ada", "Ada") });
        }
        let mut view = RoomView::default();
        view.frame_active(&room);
        assert!(active(&room).all(|agent| view.camera.viewport.contains(view.camera.to_screen(agent.position))));
        let before = view.clone();
        view.frame_active(&RoomModel::default());
        assert_eq!(view, before, "no agent is active");
    }
}
