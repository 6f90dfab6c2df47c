//! Adds an event that is defined only in this file: it is logged, stored, read back, narrated and shown in the log pane
//! like any other; and a program without the event still keeps it as it was written.

use std::fs;
use std::path::Path;

use agent_workshop::app::clock_driver::{EventTap, Step};
use agent_workshop::app::display_names::RoomNames;
use agent_workshop::app::opening::state_folder;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::base::JobControl;
use agent_workshop::log::events::enum_name;
use agent_workshop::log::narration::{NarrationContext, counted};
use agent_workshop::log::{AddedEvents, EventData, EventDraft, EventKind, EventLog, EventRecord, Word};
use agent_workshop::schedule::{InPhase, Layer, SimClock, Speed, Tick, WorkshopSystems};
use agent_workshop::store::{Reader, StoreError, export_events};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::Schedules;
use libtest_mimic::Trial;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cases;

pub fn trials() -> Vec<Trial> {
    let trials =
        cases![an_added_event_is_logged_stored_read_back_and_narrated, an_unknown_event_is_kept_as_it_was_written,];
    #[cfg(feature = "window")]
    let trials = trials.into_iter().chain(cases![the_log_pane_shows_an_added_event_now_and_after_a_restart]).collect();
    trials
}

/// A field type of the added event: whether the tea came with milk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Milk {
    Some,
}

/// The event: an agent had tea.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct TeaBreak {
    biscuits: u32,
    milk: Milk,
}

impl EventData for TeaBreak {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("tea_break"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let biscuits = counted(self.biscuits.into(), "biscuit", "biscuits");
        format!("{} had tea with {} milk and {biscuits}", context.who(), enum_name(self.milk))
    }

    fn remedy(&self) -> &str {
        if self.biscuits > 2 { "buy more" } else { "" }
    }
}

const SENTENCE: &str = "Ada had tea with some milk and 3 biscuits. What to do: buy more";
const UNKNOWN: &str = "Tea break (this version cannot read its data: {\"biscuits\":3,\"milk\":\"some\"})";

fn tea() -> TeaBreak {
    TeaBreak { biscuits: 3, milk: Milk::Some }
}

/// Registers the event and a system that logs it.
fn add(world: &mut World) {
    world.resource_mut::<AddedEvents>().add::<TeaBreak>();
    let write = |mut log: ResMut<EventLog>| {
        log.write(EventDraft::of(&tea()).agent(&"ada-1".into()));
    };
    let position = InPhase(WorkshopSystems::Simulate, Layer::Simulation);
    world.resource_mut::<Schedules>().add_systems(Tick, write.in_set(position));
}

fn workspace() -> tempfile::TempDir {
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

fn open(folder: &Path) -> Room {
    let (mut room, _) = Room::open(&options(folder)).unwrap();
    let world = room.app.world_mut();
    world.insert_resource(EventTap::default());
    world.resource_mut::<SimClock>().speed = Speed::Max;
    room
}

/// Runs one tick. Returns its events.
fn tick(room: &mut Room) -> Vec<EventRecord> {
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

fn an_added_event_is_logged_stored_read_back_and_narrated() {
    let folder = workspace();
    let mut room = open(folder.path());
    tick(&mut room);
    add(room.app.world_mut());
    let records = tick(&mut room);
    assert!(sentences(&room, &records).contains(&SENTENCE.to_owned()), "{:?}", sentences(&room, &records));
    assert!(records.iter().any(|record| record.read() == Some(tea())));
    room.close("the test closed it", |_| {}).unwrap();
    let before = stored_events(folder.path());
    assert_eq!(before.iter().map(EventRecord::read).collect::<Vec<_>>(), [Some(tea())]);
    let mut again = open(folder.path());
    add(again.app.world_mut());
    assert_eq!(
        sentences(&again, &stored_events(folder.path())),
        [SENTENCE],
        "the sentence is the same after a restart"
    );
    tick(&mut again);
    again.close("the test closed it", |_| {}).unwrap();
    assert_eq!(exported_events(folder.path()), vec![json!(["ada-1", { "biscuits": 3, "milk": "some" }]); 2]);
}

fn an_unknown_event_is_kept_as_it_was_written() {
    let folder = workspace();
    let mut room = open(folder.path());
    add(room.app.world_mut());
    tick(&mut room);
    room.close("the test closed it", |_| {}).unwrap();
    let before = exported_events(folder.path());
    let mut again = open(folder.path());
    tick(&mut again);
    assert_eq!(sentences(&again, &stored_events(folder.path())), [UNKNOWN]);
    again.close("the test closed it", |_| {}).unwrap();
    assert_eq!((exported_events(folder.path()), before.len()), (before, 1));
}

#[cfg(feature = "window")]
fn the_log_pane_shows_an_added_event_now_and_after_a_restart() {
    use agent_workshop::app::window::OpenRoom;
    let folder = workspace();
    let mut room = OpenRoom::open(options(folder.path())).unwrap();
    add(room.world().unwrap());
    room.run_ticks(1);
    draw_until_shown(&mut room, SENTENCE);
    room.close("the test closed it");
    // Events of the earlier run are read from the disk.
    let mut unknown = OpenRoom::open(options(folder.path())).unwrap();
    draw_until_shown(&mut unknown, UNKNOWN);
    unknown.world().unwrap().resource_mut::<AddedEvents>().add::<TeaBreak>();
    draw_until_shown(&mut unknown, SENTENCE);
    unknown.close("the test closed it");
}

/// Draws the log pane until a row contains this text.
#[cfg(feature = "window")]
fn draw_until_shown(room: &mut agent_workshop::app::window::OpenRoom, expected: &str) {
    use agent_workshop::app::window::Screen;
    use agent_workshop::ui::state::dock::Tab;
    use egui::{Context, Pos2, RawInput, Rect, vec2};
    let began = std::time::Instant::now();
    let mut screen = Screen::new(Some(false));
    screen.state.dock.show(&Tab::LOG, |_| true);
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
