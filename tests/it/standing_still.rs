//! A paused room: no agent acts, a person can still make changes, and the run replays.

use agent_workshop::app::clock_driver::Step;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::base::{Author, Seq};
use agent_workshop::element::{ElementCommand, ElementEdit, TextAct};
use agent_workshop::schedule::{InputJournal, InputQueue, SetRoomPaused, SimClock};
use agent_workshop::simulation::{AgentState, Position, Queue, State};
use agent_workshop::workspace::starter;
use bevy::math::Vec2;
use libtest_mimic::Trial;

use crate::cases;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        nobody_moves_or_acts_while_the_room_is_paused,
        changes_during_a_pause_apply_at_once_and_are_read_later,
        a_run_with_pauses_replays,
        a_paused_room_ticks_only_for_input_of_a_person,
        a_room_that_was_closed_while_paused_continues_when_opened,
    ]
}

fn newsroom() -> Workshop {
    Setup::starter_kit().provider("offline").open_scene("newsroom")
}

fn set_paused(room: &mut Workshop, on: bool) {
    room.push(SetRoomPaused { on });
    room.tick();
}

fn positions_and_states(room: &mut Workshop) -> Vec<(Vec2, State)> {
    let world = room.world();
    let mut agents = world.query::<(&Position, &AgentState)>();
    agents.iter(world).map(|(place, state)| (place.0, state.0.state())).collect()
}

fn write_rules(room: &mut Workshop, text: &str) {
    let act = TextAct::SetText { text: text.to_owned() }.into();
    room.push(ElementEdit { element: "editorial-rules".into(), act, by: Author::user(), cause: None });
}

fn nobody_moves_or_acts_while_the_room_is_paused() {
    let mut room = newsroom();
    room.advance(45.0);
    set_paused(&mut room, true);
    // Earlier requests are still answered; then nothing happens.
    room.advance(10.0);
    let before = positions_and_states(&mut room);
    let event_count = room.log().len();
    room.advance(60.0);
    assert_eq!(positions_and_states(&mut room), before);
    assert_eq!(room.log().len(), event_count, "{:?}", room.log().last());
    set_paused(&mut room, false);
    room.advance(20.0);
    assert_ne!(positions_and_states(&mut room), before, "the room did not continue");
}

fn changes_during_a_pause_apply_at_once_and_are_read_later() {
    let mut room = newsroom();
    room.advance(30.0);
    set_paused(&mut room, true);
    room.advance(10.0);
    let reads = room.events("read").len();
    write_rules(&mut room, "Write short sentences.");
    room.push(ElementCommand::Move { element: "story-ideas".into(), position: Vec2::new(12.0, 34.0) });
    room.tick();
    let world = room.world();
    let queued = world.query::<&Queue>().iter(world).filter(|queue| !queue.0.is_empty()).count();
    let agents = world.query::<&AgentState>().iter(world).count();
    assert_eq!(queued, agents, "not every agent has queued the new rules");
    room.advance(30.0);
    assert_eq!(room.events("read").len(), reads, "an agent read while the room was paused");
    set_paused(&mut room, false);
    room.until(120.0, "read", |event| event["data"]["element"] == "editorial-rules");
}

fn a_run_with_pauses_replays() {
    let mut live = newsroom();
    for _ in 0..3 {
        live.advance(17.3);
        set_paused(&mut live, true);
        live.advance(3.1);
        write_rules(&mut live, "Say what you mean.");
        live.advance(2.0);
        set_paused(&mut live, false);
    }
    let mut reopened = live.reopened();
    reopened.assert_same_world(&mut live);
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    while again.now() < live.now() {
        again.tick();
    }
    again.assert_same_world(&mut live);
}

fn on_disk(folder: &std::path::Path) -> Room {
    let provider = Some("offline".to_owned());
    let options = OpenOptions { folder: folder.to_owned(), provider, ..OpenOptions::trusted() };
    Room::open(&options).unwrap().0
}

/// Steps until the driver has nothing to do. Returns the tick.
fn step_until_paused(room: &mut Room) -> u64 {
    for _ in 0..2_000 {
        if room.driver.step(room.app.world_mut()) == Step::Paused {
            return room.app.world().resource::<SimClock>().tick();
        }
    }
    panic!("a paused room never came to rest");
}

fn a_paused_room_ticks_only_for_input_of_a_person() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let mut room = on_disk(folder.path());
    room.app.world_mut().resource_mut::<SimClock>().paused = true;
    let paused_tick = step_until_paused(&mut room);
    for _ in 0..5 {
        assert_eq!(room.driver.try_step(room.app.world_mut()), Step::Paused);
    }
    let place = Vec2::new(-300.0, -70.0);
    let queue = &mut room.app.world_mut().resource_mut::<InputQueue<ElementCommand>>();
    queue.push(ElementCommand::Move { element: "rules".into(), position: place });
    assert!(step_until_paused(&mut room) > paused_tick, "the person's input was not processed");
    room.close("tested", |_| ()).unwrap();
    let scene = std::fs::read_to_string(folder.path().join("scenes/studio.yaml")).unwrap();
    assert!(scene.contains("[-300, -70]"), "{scene}");
}

fn a_room_that_was_closed_while_paused_continues_when_opened() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let mut room = on_disk(folder.path());
    room.app.world_mut().resource_mut::<SimClock>().paused = true;
    step_until_paused(&mut room);
    room.close("tested", |_| ()).unwrap();
    let mut room = on_disk(folder.path());
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = agent_workshop::schedule::Speed::Max;
    for _ in 0..400 {
        room.driver.step(world);
    }
    let walked = world.query::<&AgentState>().iter(world).any(|state| state.0.since_tick() > 1);
    assert!(walked, "no agent acts");
}
