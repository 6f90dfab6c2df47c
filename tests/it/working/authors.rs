//! Who did it: what the room does by itself is neither the person's nor somebody else's.

use std::fs;

use agent_workshop::app::clock_driver::EventTap;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::schedule::{SimClock, Speed};
use libtest_mimic::Trial;
use serde_json::Value;

use super::{SCENE, Studio, spawn};
use crate::cases;

pub fn trials() -> Vec<Trial> {
    cases![
        the_room_gives_started_agents_their_places,
        a_scene_that_the_room_saved_before_a_kill_is_not_somebody_elses,
        a_scene_that_the_room_saved_is_not_somebody_elses_for_another_scene,
        a_scene_that_a_person_edited_between_two_runs_is,
    ]
}

/// A room whose agent started another one, which is in the scene now.
fn with_started_agent() -> Studio {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: Done.\ndefault: [ {{ text: Noted. }} ]\n",
        spawn("ada")
    );
    let other = SCENE.replace("name: Test", "name: Other");
    let mut studio = Studio::new(&script, &[("scenes/other.yaml", &other)]);
    studio.task("lead", "Start her.");
    studio.idle();
    studio.until("her place is in the scene", |studio| studio.read("scenes/test.yaml").contains("id: ada"));
    studio
}

fn changes_of_scene(studio: &Studio) -> Vec<Value> {
    let changes = studio.all("file_change").into_iter().map(|event| event["data"].clone());
    changes.filter(|change| change["path"].as_str().is_some_and(|path| path.starts_with("scenes/"))).collect()
}

/// Opens another scene of the workspace, and runs it for a moment.
fn open_scene(studio: &mut Studio, scene: &str) {
    let options = OpenOptions {
        folder: studio.folder.path().to_owned(),
        scene: Some(scene.to_owned()),
        provider: Some(studio.provider.clone()),
        ..OpenOptions::trusted()
    };
    let (mut room, _) = Room::open(&options).unwrap();
    room.app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
    room.app.world_mut().insert_resource(EventTap::default());
    studio.room = Some(room);
    for _ in 0..30 {
        studio.tick();
    }
}

fn the_room_gives_started_agents_their_places() {
    let studio = with_started_agent();
    let homes: Vec<&Value> =
        studio.all("input").into_iter().filter(|event| event["data"]["act"] == "set_home").collect();
    assert!(!homes.is_empty() && homes.iter().all(|event| event["data"]["by"] == "room"), "{homes:#?}");
}

fn a_scene_that_the_room_saved_before_a_kill_is_not_somebody_elses() {
    let mut studio = with_started_agent();
    // The files are written, but the state of the world is not saved, as if the program had been killed.
    studio.room = None;
    studio.events.clear();
    open_scene(&mut studio, "test");
    let changes = changes_of_scene(&studio);
    assert!(changes.iter().all(|change| change["by"] == "room"), "{changes:#?}");
}

fn a_scene_that_the_room_saved_is_not_somebody_elses_for_another_scene() {
    let mut studio = with_started_agent();
    studio.close();
    open_scene(&mut studio, "other");
    studio.close();
    // The second scene knows the first one as it is now; the first one changes again.
    let before = studio.read("scenes/test.yaml");
    open_scene(&mut studio, "test");
    let moved = agent_workshop::agent::AgentCommand::Place {
        agent: "lead".into(),
        position: bevy::math::Vec2::new(50.0, 60.0),
    };
    studio.world().resource_mut::<agent_workshop::schedule::InputQueue<_>>().push(moved);
    studio.until("the place is saved", |studio| studio.read("scenes/test.yaml") != before);
    studio.close();
    studio.events.clear();
    open_scene(&mut studio, "other");
    let changes = changes_of_scene(&studio);
    assert!(!changes.is_empty() && changes.iter().all(|change| change["by"] == "room"), "{changes:#?}");
}

fn a_scene_that_a_person_edited_between_two_runs_is() {
    let mut studio = with_started_agent();
    studio.close();
    let text = studio.read("scenes/test.yaml");
    fs::write(studio.folder.path().join("scenes/test.yaml"), format!("{text}# mine\n")).unwrap();
    studio.events.clear();
    open_scene(&mut studio, "test");
    let changes = changes_of_scene(&studio);
    assert!(changes.iter().any(|change| change["by"] == "outside"), "{changes:#?}");
}
