//! The view of the room, and what the pointer is over.

use std::collections::BTreeSet;

use bevy::math::Vec2;

use super::furniture_editing::Arranging;
use crate::base::AgentKey;
use crate::view::activity_text::Importance;
use crate::view::camera::Camera;
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::Thing;

/// From this zoom on, faces can be distinguished and words on boards can be read.
const COSY_ZOOM: f32 = 0.55;
/// An agent that is opened is seen at least this near.
const NEAR_ZOOM: f32 = 1.6;
/// What the view glides to is seen at least this near.
const CLEAR_ZOOM: f32 = 0.8;
/// The duration of a move of the view.
const WAY_SECS: f64 = 0.45;
/// The zoom must be unchanged for this long before the view counts as still: a wheel turns in steps.
const SETTLES_SECS: f64 = 0.15;
/// What is nearer to the edge of the view than this does not count as seen.
const EDGE_POINTS: f32 = 40.0;

/// Where a thing stands.
pub fn place_of(room: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => room.agent(id).map(|agent| agent.position),
        Thing::Element(id) => room.element(id).map(|element| element.position),
    }
}

/// Everybody who works, talks or reads.
pub fn active(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent).is_active())
}

/// Everybody who needs a person.
pub fn in_need(room: &RoomModel) -> impl Iterator<Item = &AgentView> {
    room.agents.iter().filter(|agent| Importance::of(agent) == Importance::NeedsYou)
}

/// Who needs a person next after this agent; the first again after the last.
pub fn next_in_need(room: &RoomModel, after: Option<AgentKey>) -> Option<&AgentView> {
    let later = in_need(room).find(|agent| after.is_some_and(|after| agent.key > after));
    later.or_else(|| in_need(room).next())
}

/// From where the room is seen. The canvas gives it back changed after each frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoomView {
    /// The part of the room that is seen.
    pub camera: Camera,
    /// What the pointer is over.
    pub hovered: Option<Thing>,
    /// Whether the view was set for this room; it is framed once otherwise.
    pub is_framed: bool,
    /// Whether the debug overlay is on.
    pub debug_overlay: bool,
    /// Whether the story strip is folded.
    pub is_story_folded: bool,
    /// While the furniture is arranged.
    pub arranging: Option<Arranging>,
    /// The way that the view is on.
    pub(in crate::ui) way: Option<Way>,
    /// The zoom of the last frame, and when it began to be that.
    pub(in crate::ui) zoomed: Option<(f32, f64)>,
}

/// When the view sets out, and whether nothing is to move: it is there at once then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Departure {
    /// In seconds of real time.
    pub now_secs: f64,
    /// Whether the person wants little to move.
    pub is_still: bool,
}

/// A way of the view to a place. Who moves the view meanwhile moves where it ends, too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::ui) struct Way {
    /// Middle and zoom at its beginning and at its end.
    from: (Vec2, f32),
    to: (Vec2, f32),
    since_secs: f64,
    /// The middle and the zoom that it set last.
    set: (Vec2, f32),
}

impl RoomView {
    /// Shows these things, or everything where there are none.
    pub fn frame(&mut self, room: &RoomModel, things: &BTreeSet<Thing>) {
        let chosen = |thing: Thing| things.is_empty() || things.contains(&thing);
        let agents = room.agents.iter().filter(|agent| chosen(Thing::Agent(agent.id.clone())));
        let elements = room.elements.iter().filter(|element| chosen(Thing::Element(element.id.clone())));
        let places: Vec<_> =
            agents.map(|agent| agent.position).chain(elements.map(|element| element.position)).collect();
        let mut furnished = self.camera;
        furnished.frame(places.iter().copied().chain(room.decor.iter().map(|decor| decor.position)));
        let alone = places.is_empty();
        self.camera.frame(places);
        // The whole room with its furniture, unless everyone in it would look too small for that.
        if things.is_empty() && (alone || furnished.zoom >= COSY_ZOOM.min(self.camera.zoom)) {
            self.camera = furnished;
        }
    }

    /// Shows everybody who works, talks or needs a person; nobody changes nothing.
    pub fn frame_active(&mut self, room: &RoomModel) {
        self.camera.frame(active(room).chain(in_need(room)).map(|agent| agent.position));
    }

    /// Sets out for a thing that will not be seen from where the view is, or comes to be.
    pub fn reveal(&mut self, room: &RoomModel, thing: &Thing, departure: Departure) {
        let Some(place) = place_of(room, thing) else { return };
        let (middle, zoom) = self.way.map_or((self.camera.middle, self.camera.zoom), |way| way.to);
        let there = Camera { middle, zoom, ..self.camera };
        if !there.viewport.shrink(EDGE_POINTS).contains(there.to_screen(place)) {
            self.set_out((place, zoom), departure);
        }
    }

    /// Sets out to have a thing in the middle, near enough for its face to be seen.
    pub fn come_near(&mut self, room: &RoomModel, thing: &Thing, departure: Departure) {
        if let Some(place) = place_of(room, thing) {
            self.set_out((place, self.camera.zoom.max(NEAR_ZOOM)), departure);
        }
    }

    /// Sets out for a thing: near enough to be told apart, and never farther than it is seen now.
    pub fn glide_to(&mut self, room: &RoomModel, thing: &Thing, departure: Departure) {
        if let Some(place) = place_of(room, thing) {
            self.set_out((place, self.camera.zoom.max(CLEAR_ZOOM)), departure);
        }
    }

    fn set_out(&mut self, to: (Vec2, f32), Departure { now_secs, is_still }: Departure) {
        let from = (self.camera.middle, self.camera.zoom);
        let since_secs = if is_still { f64::NEG_INFINITY } else { now_secs };
        self.way = Some(Way { from, to, since_secs, set: from });
        self.glide(now_secs);
    }

    /// Moves the view on along its way. Whether it is not there yet.
    pub fn glide(&mut self, now_secs: f64) -> bool {
        let Some(way) = &mut self.way else { return false };
        if self.camera.zoom != way.set.1 {
            // A person who zooms wants to look elsewhere.
            self.way = None;
            return false;
        }
        let drift = self.camera.middle - way.set.0;
        (way.from.0, way.to.0) = (way.from.0 + drift, way.to.0 + drift);
        let share = ((now_secs - way.since_secs) / WAY_SECS).clamp(0.0, 1.0) as f32;
        let eased = share * share * (3.0 - 2.0 * share);
        way.set = (way.from.0.lerp(way.to.0, eased), way.from.1 + (way.to.1 - way.from.1) * eased);
        (self.camera.middle, self.camera.zoom) = way.set;
        if share >= 1.0 {
            self.way = None;
        }
        self.way.is_some()
    }

    /// Notes whether everything becomes larger or smaller just now, seen at this moment in seconds. How long it will be
    /// until that counts as over.
    pub fn note_zoom(&mut self, now_secs: f64) -> Option<f64> {
        let zoom = self.camera.zoom;
        let since = match self.zoomed {
            Some((before, since)) if before == zoom => since,
            Some(_) if self.is_framed => now_secs,
            // A room that is seen for the first time was not zoomed.
            _ => f64::NEG_INFINITY,
        };
        self.zoomed = Some((zoom, since));
        let left = SETTLES_SECS - (now_secs - since);
        self.camera.is_zooming = left > 0.0;
        self.camera.is_zooming.then_some(left)
    }

    /// Another room is open.
    pub fn forget_room(&mut self) {
        (self.hovered, self.is_framed, self.way, self.arranging) = (None, false, None, None);
        self.zoomed = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::State;
    use crate::ui::testing::{agent, sample_room};

    #[test]
    fn the_view_rests_a_moment_after_the_last_turn_of_the_wheel() {
        let mut view = RoomView { is_framed: true, ..RoomView::default() };
        assert_eq!(view.note_zoom(1.0), None, "nobody zoomed");
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
            assert!(left.is_none_or(|left| left > 0.0 && left <= SETTLES_SECS));
        }
        view.forget_room();
        view.camera.zoom = 0.7;
        assert_eq!(view.note_zoom(9.1), None, "another room is seen, and nobody zoomed");
    }

    const AT_10: Departure = Departure { now_secs: 10.0, is_still: false };

    fn bram() -> (RoomModel, Thing, Vec2) {
        let room = sample_room();
        let thing = Thing::Agent("bram-1".into());
        let place = place_of(&room, &thing).expect("he is in the room");
        (room, thing, place)
    }

    #[test]
    fn the_view_glides_to_a_thing_and_is_there_after_a_moment() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.camera.zoom = 0.3;
        view.glide_to(&room, &thing, AT_10);
        assert_eq!(view.camera.middle, Vec2::ZERO, "nothing jumps");
        assert!(view.glide(10.0 + WAY_SECS / 2.0));
        assert!(view.camera.middle.x > 1.0 && view.camera.middle.x < place.x - 1.0, "{}", view.camera.middle);
        assert!(!view.glide(11.0));
        assert_eq!((view.camera.middle, view.camera.zoom), (place, CLEAR_ZOOM));
        assert!(!view.glide(12.0));
    }

    #[test]
    fn what_is_asked_for_next_is_looked_for_from_where_the_view_is_going() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.camera.viewport = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(800.0, 600.0));
        view.camera.middle = place + Vec2::new(5_000.0, 0.0);
        view.reveal(&room, &thing, AT_10);
        let ada = Thing::Agent("ada-1".into());
        view.reveal(&room, &ada, Departure { now_secs: 10.1, is_still: false });
        view.glide(12.0);
        for thing in [ada, thing] {
            let at = view.camera.to_screen(place_of(&room, &thing).expect("it is in the room"));
            assert!(view.camera.viewport.contains(at), "{thing:?}");
        }
    }

    #[test]
    fn with_reduced_motion_it_is_there_at_once() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.glide_to(&room, &thing, Departure { is_still: true, ..AT_10 });
        assert_eq!(view.camera.middle, place);
    }

    #[test]
    fn whoever_moves_the_view_meanwhile_has_moved_it_and_whoever_zooms_stops_it() {
        let (room, thing, place) = bram();
        let mut view = RoomView::default();
        view.glide_to(&room, &thing, AT_10);
        view.camera.middle.y += 50.0;
        view.glide(11.0);
        assert_eq!(view.camera.middle, place + Vec2::new(0.0, 50.0));
        view.camera.middle = Vec2::ZERO;
        view.glide_to(&room, &thing, Departure { now_secs: 20.0, is_still: false });
        view.camera.zoom = 2.0;
        assert!(!view.glide(20.1));
        assert_eq!((view.camera.middle, view.camera.zoom), (Vec2::ZERO, 2.0));
    }

    #[test]
    fn who_needs_a_person_comes_one_after_another_and_from_the_first_again() {
        let mut room = RoomModel::default();
        for (key, state) in [State::Waiting, State::Idle, State::Error, State::Working].into_iter().enumerate() {
            room.agents.push(AgentView { state, ..agent(key as u32, &format!("ada-{key}"), "Ada") });
        }
        let next = |after: Option<u32>| next_in_need(&room, after.map(AgentKey)).map(|agent| agent.key.0);
        assert_eq!([None, Some(0), Some(1), Some(2), Some(3)].map(next), [0, 2, 2, 0, 0].map(Some));
        assert_eq!(next_in_need(&RoomModel::default(), None).map(|agent| agent.key), None);
    }

    #[test]
    fn showing_who_is_active_shows_all_of_them() {
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
        assert_eq!(view, before, "nobody is active");
    }
}
