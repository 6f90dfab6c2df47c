//! What another crate adds to every room of its program is there whenever a room is made, and before anything of it is
//! restored.

use agent_workshop::agent::Roster;
use agent_workshop::app;
use agent_workshop::base::Author;
use agent_workshop::log::{EventDraft, EventLog, EventRecord};
use agent_workshop::schedule::inputs::InputExt;
use agent_workshop::schedule::{InPhase, Input, InputQueue, Layer, Tick, TickMessageExt, WorkshopSystems};
use agent_workshop::simulation::{Interest, Urgency, WakeAgent};
use bevy::app::App;
use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use example_reason::Doorbell;
use serde::{Deserialize, Serialize};

use crate::event::{open, tick, workspace};
use crate::workshop::Setup;

/// What an extension adds.
#[derive(Resource, Default)]
struct Lamp;

/// An input that an extension adds: somebody struck the gong.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
struct GongStruck;

impl Input for GongStruck {
    const KIND: &'static str = "gong";
}

fn wake_for_gong(
    mut gongs: MessageReader<GongStruck>,
    roster: Res<Roster>,
    mut log: ResMut<EventLog>,
    mut wakes: MessageWriter<WakeAgent>,
) {
    for GongStruck in gongs.read() {
        let agent = roster.key("ada-1").expect("the agent is in the room");
        let cause = log.write(EventDraft::of(&Doorbell { visitor: "Gong".to_owned() }));
        let interest = Interest::new("gong", "The gong was struck", Urgency::Mail, "Say what it is for.");
        wakes.write(WakeAgent { agent, interest, by: Author("gong".into()), cause });
    }
}

fn add_gong(app: &mut App) {
    app.add_input::<GongStruck>().add_tick_message::<WakeAgent>();
    app.add_systems(Tick, wake_for_gong.in_set(InPhase(WorkshopSystems::Decide, Layer::Kernel)));
}

/// The program of `docs/extending.md`, which is compiled here.
#[expect(dead_code, reason = "a test is not the whole program")]
fn main_of_the_page() -> std::process::ExitCode {
    example_element::add().expect("the word is free");
    example_pane::add();
    agent_workshop::app::extend(|app| example_tool::add(app).expect("the name is free"));
    agent_workshop::app::extend(|app| example_event::add(app.world_mut()));
    agent_workshop::cli::main()
}

#[test]
fn the_page_shows_a_program_that_compiles() {
    let page = include_str!("../../docs/extending.md");
    let lines =
        include_str!("extending.rs").lines().map(str::trim).skip_while(|line| !line.starts_with("fn main_of_the_page"));
    let body = lines.skip(1).take_while(|line| *line != "}");
    assert!(body.clone().count() > 3, "the program was not found");
    for line in body {
        assert!(page.contains(line), "docs/extending.md does not show: {line}");
    }
}

#[test]
fn an_extension_is_in_each_room_when_it_is_made_begun_and_reopened() {
    app::extend(|app| {
        app.init_resource::<Lamp>();
    });
    assert!(app::headless().world().contains_resource::<Lamp>());
    let mut room = Setup::scene("name: Test\nagents: []\n").open();
    assert!(room.world().contains_resource::<Lamp>());
    room.tick();
    assert!(room.reopened().world().contains_resource::<Lamp>());
}

/// Whether an agent was woken, and its model answered.
fn is_wake(record: &EventRecord) -> bool {
    let event = serde_json::to_value(record).expect("an event can be written");
    event["type"] == "model_call" && event["data"]["kind"] == "wake"
}

/// What was recorded since the room was last saved is computed again from the inputs when it is opened.
#[test]
fn an_input_of_an_extension_that_came_in_last_is_not_lost_with_its_process() {
    app::extend(add_gong);
    let folder = workspace();
    let mut room = open(folder.path());
    tick(&mut room);
    room.app.world_mut().resource_mut::<InputQueue<GongStruck>>().push(GongStruck);
    assert!(!tick(&mut room).iter().any(is_wake), "the agent does not wake within one tick");
    // What was sent to the log is written, but the room is not closed.
    drop(room);
    let mut again = open(folder.path());
    let is_woken = (0..900).any(|_| tick(&mut again).iter().any(is_wake));
    assert!(is_woken, "the gong was lost");
    again.close("the test closed it", |_| {}).unwrap();
}
