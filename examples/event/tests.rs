//! What must hold for an event that another crate adds.

use std::fs;
use std::path::Path;
use std::time::Instant;

use agent_workshop::app::clock_driver::{EventTap, Step};
use agent_workshop::app::display_names::RoomNames;
use agent_workshop::app::opening::state_folder;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::base::JobControl;
use agent_workshop::log::{EventData, EventDraft, EventLog, EventRecord};
use agent_workshop::schedule::{InPhase, Layer, SimClock, Speed, Tick, WorkshopSystems};
use agent_workshop::store::{Reader, StoreError, export_events};
use agent_workshop::ui::state::dock::Tab;
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::Schedules;
use egui::{Context, Pos2, RawInput, Rect, vec2};
use example_event::{Milk, TeaBreak, add};
use serde_json::{Value, json};

const SENTENCE: &str = "Ada had tea with some milk and 3 biscuits. What to do: buy more";
const UNKNOWN: &str = "Tea break (this version cannot read its data: {\"biscuits\":3,\"milk\":\"some\"})";

fn tea() -> TeaBreak {
    TeaBreak { biscuits: 3, milk: Milk::Some }
}

/// Registers the event and a system that logs it.
fn add_with_tea_time(world: &mut World) {
    add(world);
    let write = |mut log: ResMut<EventLog>| {
        log.write(EventDraft::of(&tea()).agent(&"ada-1".into()));
    };
    let position = InPhase(WorkshopSystems::Simulate, Layer::Simulation);
    world.resource_mut::<Schedules>().add_systems(Tick, write.in_set(position));
}

pub fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("settings.yaml", "");
    write("agents/ada.md", "---\nname: Ada\n---\nYou are Ada.");
    write("scenes/test.yaml", "name: Test\nagents: [ { id: ada-1, profile: ada, position: [0, 0] } ]\n");
    folder
}

fn options(folder: &Path) -> OpenOptions {
    OpenOptions { folder: folder.to_owned(), provider: Some("offline".to_owned()), ..OpenOptions::trusted() }
}

pub fn open(folder: &Path) -> Room {
    let (mut room, _) = Room::open(&options(folder)).unwrap();
    let world = room.app.world_mut();
    world.insert_resource(EventTap::default());
    world.resource_mut::<SimClock>().speed = Speed::Max;
    room
}

/// Runs one tick. Returns its events.
pub fn tick(room: &mut Room) -> Vec<EventRecord> {
    while room.driver.step(room.app.world_mut()) != Step::Ticked {}
    room.app.world_mut().resource_mut::<EventTap>().take()
}

/// Reads the tea events of the log on disk.
fn stored_events(folder: &Path) -> Vec<EventRecord> {
    let mut events = Vec::new();
    let visit = |record: EventRecord| {
        events.extend(Some(record).filter(|record| record.draft.kind == TeaBreak::KIND));
        Ok::<_, StoreError>(())
    };
    Reader::open(&state_folder(folder)).unwrap().for_each_event(None, visit).unwrap();
    events
}

/// Exports the log. Returns the agent and the data of its tea events.
fn exported_events(folder: &Path) -> Vec<Value> {
    let mut out = Vec::new();
    export_events(&Reader::open(&state_folder(folder)).unwrap(), None, &mut out, &JobControl::default()).unwrap();
    let lines = std::str::from_utf8(&out).unwrap().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let teas = lines.filter(|line| line["type"] == "tea_break");
    teas.map(|tea| json!([tea["agent"], tea["data"]])).collect()
}

fn sentences(room: &Room, records: &[EventRecord]) -> Vec<String> {
    let names = RoomNames(room.app.world());
    let narrator = names.narrator();
    records.iter().map(|record| narrator.sentence(record)).collect()
}

#[test]
fn an_added_event_is_logged_stored_read_back_and_narrated() {
    let folder = workspace();
    let mut room = open(folder.path());
    tick(&mut room);
    add_with_tea_time(room.app.world_mut());
    let records = tick(&mut room);
    assert!(sentences(&room, &records).contains(&SENTENCE.to_owned()), "{:?}", sentences(&room, &records));
    assert!(records.iter().any(|record| record.read() == Some(tea())));
    room.close("the test closed it", |_| {}).unwrap();
    let before = stored_events(folder.path());
    assert_eq!(before.iter().map(EventRecord::read).collect::<Vec<_>>(), [Some(tea())]);
    let mut again = open(folder.path());
    add_with_tea_time(again.app.world_mut());
    assert_eq!(
        sentences(&again, &stored_events(folder.path())),
        [SENTENCE],
        "the sentence is the same after a restart"
    );
    tick(&mut again);
    again.close("the test closed it", |_| {}).unwrap();
    assert_eq!(exported_events(folder.path()), vec![json!(["ada-1", { "biscuits": 3, "milk": "some" }]); 2]);
}

#[test]
fn an_unknown_event_is_kept_as_it_was_written() {
    let folder = workspace();
    let mut room = open(folder.path());
    add_with_tea_time(room.app.world_mut());
    tick(&mut room);
    room.close("the test closed it", |_| {}).unwrap();
    let before = exported_events(folder.path());
    let mut again = open(folder.path());
    tick(&mut again);
    assert_eq!(sentences(&again, &stored_events(folder.path())), [UNKNOWN]);
    again.close("the test closed it", |_| {}).unwrap();
    assert_eq!((exported_events(folder.path()), before.len()), (before, 1));
}

#[test]
fn the_log_pane_shows_an_added_event_now_and_after_a_restart() {
    let folder = workspace();
    let mut room = OpenRoom::open(options(folder.path())).unwrap();
    add_with_tea_time(room.world().unwrap());
    room.run_ticks(1);
    draw_until_shown(&mut room, SENTENCE);
    room.close("the test closed it");
    // Events of the earlier run are read from the disk.
    let mut unknown = OpenRoom::open(options(folder.path())).unwrap();
    draw_until_shown(&mut unknown, UNKNOWN);
    add(unknown.world().unwrap());
    draw_until_shown(&mut unknown, SENTENCE);
    unknown.close("the test closed it");
}

/// Draws the log pane until a row contains this text.
fn draw_until_shown(room: &mut OpenRoom, expected: &str) {
    let began = Instant::now();
    let mut screen = Screen::new(Some(false));
    screen.state.dock.show(&Tab::Log, |_| true);
    let context = Context::default();
    context.enable_accesskit();
    for frame in 0.. {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0))),
            time: Some(f64::from(frame) / 30.0),
            ..RawInput::default()
        };
        let mut output = screen.frame(&context, room, input);
        output.textures_delta.clear();
        let nodes = output.platform_output.accesskit_update.map(|update| update.nodes).unwrap_or_default();
        if nodes.iter().filter_map(|(_, node)| node.label()).any(|label| label.contains(expected)) {
            return;
        }
        assert!(began.elapsed().as_secs() < 60, "no row contains {expected:?}");
        std::thread::yield_now();
    }
}
