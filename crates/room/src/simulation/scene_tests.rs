//! Hours in each of the shipped scenes, with several seeds: no agent overlaps anybody or anything, and every agent that
//! sets out arrives.

use std::collections::{BTreeMap, VecDeque};

use bevy::math::Vec2;

use super::components::Route;
use super::tests::{SimulatedRoom, read};
use super::*;
use crate::base::{AgentKey, Author, ElementKey, Seq};
use crate::element::{Element, ElementChange};
use crate::log::events;
use crate::navigation::furniture::{decor_footprint, element_footprint};
use crate::navigation::{BODY_UNITS, Footprint};
use crate::schedule::{RoomSeed, ticks};
use crate::workspace::scene_file::{SceneDoc, parse};
use crate::workspace::{Decor, SceneEdit, starter};

/// How long agents that are too near to each other have to separate.
const PARTING_TICKS: u32 = 30;
/// The duration of a model call in these rooms.
const THINKING_TICKS: u64 = 75;
/// How often a person changes a board.
const CHANGE_TICKS: u64 = 4_500;

fn scenes() -> Vec<(String, SceneDoc)> {
    let all = starter::files();
    let scenes = all.iter().filter(|(path, _)| path.starts_with("scenes/"));
    let parsed = scenes.map(|(path, text)| {
        let text = String::from_utf8_lossy(text);
        (path.clone(), parse(path, &text).0.expect("starter scenes can be read"))
    });
    parsed.collect()
}

/// A shipped scene with models that answer after a while.
struct Stage {
    room: SimulatedRoom,
    agents: Vec<AgentKey>,
    elements: Vec<ElementKey>,
    footprints: Vec<Footprint>,
    thinking: VecDeque<(u64, ThinkDue)>,
    now: u64,
}

impl Stage {
    fn of(doc: &SceneDoc, seed: u64) -> Self {
        let mut room = SimulatedRoom::new();
        room.answer = |_| None;
        room.app.insert_resource(RoomSeed(seed));
        let decor = Decor::all_of(&doc.root);
        let mut footprints: Vec<Footprint> = decor.iter().filter_map(decor_footprint).collect();
        room.say(SceneEdit::Decor(decor));
        let elements = doc.elements.iter().map(|entry| {
            footprints.extend(element_footprint(entry.position));
            room.element(&entry.id, entry.position.into(), entry.owner.as_deref())
        });
        let elements = elements.collect();
        let agents = doc.agents.iter().map(|entry| {
            let at = entry.position.expect("everyone has a place");
            room.agent(&entry.id, at.into(), entry.behaviour.unwrap_or_default())
        });
        let agents = agents.collect();
        Self { room, agents, elements, footprints, thinking: VecDeque::new(), now: 0 }
    }

    fn tick(&mut self) {
        self.now += 1;
        if self.now.is_multiple_of(CHANGE_TICKS) && !self.elements.is_empty() {
            let turn = (self.now / CHANGE_TICKS) as usize;
            self.change(self.elements[turn % self.elements.len()]);
        }
        let asked = self.room.dues.len();
        self.room.run(1);
        for due in self.room.dues.split_off(asked.min(self.room.dues.len())) {
            self.thinking.push_back((self.now + THINKING_TICKS, due));
        }
        while self.thinking.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, due) = self.thinking.pop_front().expect("there should be one");
            self.room.answer_to(&due, ThinkOutcome::Said { text: "So it is.".into() });
        }
    }

    /// A person changes a board, so that all agents that may read it do.
    fn change(&mut self, element: ElementKey) {
        let entity = self.room.app.world().resource::<Elements>().entity(element).expect("it should exist");
        self.room.app.world_mut().get_mut::<Element>(entity).expect("it is an element").version += 1;
        let change = ElementChange::new(ElementChange::ADDED);
        self.room.say(ElementChanged { element, change, by: Author::user(), cause: Seq(1) });
        for agent in self.agents.clone() {
            self.room.enqueue(agent, read(element));
        }
    }

    fn standing(&self) -> Vec<(AgentKey, Vec2)> {
        let stands = |agent: &&AgentKey| !self.room.get::<Walk>(**agent).course.moves();
        self.agents.iter().filter(stands).map(|agent| (*agent, self.room.position(*agent))).collect()
    }
}

/// Overlaps and standstills that last too long, by agent.
#[derive(Default)]
struct Watch {
    near: BTreeMap<(AgentKey, AgentKey), u32>,
    inside: BTreeMap<AgentKey, u32>,
    wrong: Vec<String>,
    /// The ticks that agents spent at furniture, in total.
    visiting: u64,
}

impl Watch {
    fn look(&mut self, stage: &Stage) {
        let standing = stage.standing();
        let mut near = BTreeMap::new();
        for (index, (one, at)) in standing.iter().enumerate() {
            for (other, there) in &standing[index + 1..] {
                if at.distance(*there) < BODY_UNITS - 1.0 {
                    let ticks = self.near.get(&(*one, *other)).map_or(1, |ticks| ticks + 1);
                    near.insert((*one, *other), ticks);
                    if ticks == PARTING_TICKS + 1 {
                        let apart = at.distance(*there);
                        self.wrong.push(format!("{}: {one:?} and {other:?} stand {apart} apart at {at}", stage.now));
                    }
                }
            }
        }
        self.near = near;
        for agent in &stage.agents {
            self.visiting += u64::from(stage.room.get::<Activity>(*agent).visit.is_some_and(|it| it.until.is_some()));
            let at = stage.room.position(*agent);
            if stage.footprints.iter().any(|footprint| footprint.holds(at)) {
                let ticks = self.inside.entry(*agent).or_default();
                *ticks += 1;
                if *ticks == 2 {
                    self.wrong.push(format!("{}: {agent:?} is in something at {at}", stage.now));
                }
            } else {
                self.inside.remove(agent);
            }
        }
    }
}

/// The environment variable with the number of other seeds to try for an hour each; without it, [`SHORT_SEEDS`] are
/// tried for [`SHORT_SECS`] each.
const MORE_SEEDS: &str = "WORKSHOP_MORE_SEEDS";
/// The number of other seeds that are tried by default.
const SHORT_SEEDS: u64 = 2;
const SHORT_SECS: f32 = 1_200.0;
const HOUR_SECS: f32 = 3_600.0;

/// Runs the scene with this name with other seeds than its own.
fn from_other_seeds(name: &str) {
    let asked = std::env::var(MORE_SEEDS).ok();
    let asked = asked.map(|count| count.parse::<u64>().expect("WORKSHOP_MORE_SEEDS is a number"));
    let secs = if asked.is_some() { HOUR_SECS } else { SHORT_SECS };
    let (path, doc) = scene(name);
    let others = (1..).filter(|seed| Some(*seed) != doc.seed);
    for seed in others.take(asked.unwrap_or(SHORT_SEEDS) as usize) {
        run_scene(&path, &doc, seed, secs);
    }
}

/// Runs a scene for an hour with its own seed.
fn an_hour_of(name: &str) {
    let (path, doc) = scene(name);
    run_scene(&path, &doc, doc.seed.unwrap_or(0), HOUR_SECS);
}

fn scene(name: &str) -> (String, SceneDoc) {
    scenes().into_iter().find(|(path, _)| path.contains(name)).expect("it is shipped")
}

/// Runs a scene for this long: no agent overlaps anybody or anything, and every agent that sets out arrives.
fn run_scene(path: &str, doc: &SceneDoc, seed: u64, secs: f32) {
    let mut stage = Stage::of(doc, seed);
    let mut watch = Watch::default();
    for _ in 0..ticks(secs) {
        stage.tick();
        watch.look(&stage);
    }
    let wrong = &watch.wrong;
    assert!(wrong.is_empty(), "{path}, seed {seed}: {} times: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
    let dropped = stage.room.events::<events::ActionDropped>();
    let lost: Vec<_> =
        dropped.iter().filter(|it| it.why.contains("cannot be reached") || it.why.contains("get there")).collect();
    assert!(lost.is_empty(), "{path}, seed {seed}: {lost:?}");
    let reads = stage.room.events::<events::Read>().len();
    let changes = ticks(secs) / CHANGE_TICKS;
    assert!(reads as u64 > changes, "{path}, seed {seed}: {reads} reads after {changes} changes");
    if secs >= HOUR_SECS {
        assert!(watch.visiting > ticks(300.0), "{path}, seed {seed}: those at rest use the room: {}", watch.visiting);
    }
}

#[test]
fn for_an_hour_nobody_in_the_studio_stands_in_anybody_or_anything() {
    an_hour_of("studio");
}

#[test]
fn for_an_hour_nobody_in_the_newsroom_stands_in_anybody_or_anything() {
    an_hour_of("newsroom");
}

#[test]
fn for_an_hour_nobody_at_the_desk_stands_in_anybody_or_anything() {
    an_hour_of("desk");
}

#[test]
fn every_shipped_scene_with_agents_is_lived_through_for_an_hour() {
    let with_agents = scenes().into_iter().filter(|(_, doc)| !doc.agents.is_empty());
    let paths: Vec<String> = with_agents.map(|(path, _)| path).collect();
    assert_eq!(paths, ["scenes/desk.yaml", "scenes/newsroom.yaml", "scenes/studio.yaml"], "one test above for each");
}

#[test]
fn from_other_seeds_nobody_in_the_studio_stands_in_anybody_or_anything() {
    from_other_seeds("studio");
}

#[test]
fn from_other_seeds_nobody_in_the_newsroom_stands_in_anybody_or_anything() {
    from_other_seeds("newsroom");
}

#[test]
fn from_other_seeds_nobody_at_the_desk_stands_in_anybody_or_anything() {
    from_other_seeds("desk");
}

#[test]
fn a_scene_with_ways_and_places_continues_after_it_was_loaded_as_it_would_have() {
    let doc = &scenes().into_iter().find(|(path, _)| path.contains("newsroom")).expect("it is shipped").1;
    let (mut one, mut other) = (Stage::of(doc, 5), Stage::of(doc, 5));
    for _ in 0..ticks(20.0) {
        one.tick();
        other.tick();
    }
    assert_eq!(one.room.hash(), other.room.hash(), "the same start makes the same world");
    for agent in one.agents.clone() {
        one.room.enqueue(agent, read(one.elements[0]));
    }
    one.room.run(25);
    assert!(one.agents.iter().any(|agent| one.room.get::<Route>(*agent) != Route::default()), "somebody is on its way");
    let saved_world = crate::schedule::saved::save_world(one.room.app.world_mut()).expect("it can be saved");
    let next_seq = one.room.app.world().resource::<crate::log::EventLog>().next_seq();
    crate::schedule::saved::load_world(other.room.app.world_mut(), &saved_world).expect("it can be loaded");
    other.room.app.world_mut().insert_resource(crate::log::EventLog::new("r-1".into(), next_seq));
    for second in 0..40 {
        assert_eq!(one.room.hash(), other.room.hash(), "second {second}");
        one.room.run(30);
        other.room.run(30);
    }
}
