//! The rooms that are measured: large generated ones, and those of the starter kit.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use agent_workshop::app;
use agent_workshop::base::Seq;
use agent_workshop::schedule::{self, InputQueue};
use agent_workshop::simulation::ConversationCommand;
use agent_workshop::workspace::{RoomStart, starter};
use agent_workshop::{agent, element, gateway, simulation, store, workspace};
use bevy::app::App;
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use bevy::tasks::{ComputeTaskPool, TaskPool};

/// Each agent of a large room has a square of its own with this side.
const UNITS_PER_AGENT: f32 = 150.0;
/// Elements of a large room.
const ELEMENTS: usize = 20;

/// The positions of the agents of a large room: row by row, each at a random place in its own square.
pub fn places(agents: usize) -> Vec<Vec2> {
    let columns = (agents as f32).sqrt().ceil() as usize;
    let mut noise = 0x9E37_79B9_u32;
    let mut unit = || {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        (noise >> 8) as f32 / (1_u32 << 24) as f32
    };
    (0..agents)
        .map(|index| Vec2::new((index % columns) as f32 + unit(), (index / columns) as f32 + unit()) * UNITS_PER_AGENT)
        .map(|place| (place * 10.0).round() / 10.0)
        .collect()
}

/// A scene with this many wandering agents and twenty elements among them.
fn crowd(agents: usize) -> RoomStart {
    let places = places(agents);
    let mut scene = String::from("name: Crowd\nseed: 7\nelements:\n");
    let kinds = ["rulebook", "messageboard", "pinboard"];
    for index in 0..ELEMENTS {
        let place = places[(index * agents) / ELEMENTS];
        let kind = kinds[if index == 0 { 0 } else { 1 + index % 2 }];
        let _ = writeln!(scene, "  - id: e{index}\n    kind: {kind}\n    position: [{}, {}]", place.x, place.y);
    }
    scene.push_str("agents:\n");
    for (index, place) in places.iter().enumerate() {
        let _ = writeln!(scene, "  - id: a{index}\n    profile: walker\n    position: [{}, {}]", place.x, place.y);
    }
    let walker = "---\nname: Walker\nbehaviour: wander\n---\nYou walk about.\n";
    let files = [("settings.yaml", ""), ("agents/walker.md", walker), ("scenes/crowd.yaml", &scene)];
    start(files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect(), "crowd")
}

fn start(files: BTreeMap<String, String>, scene: &str) -> RoomStart {
    let provider = Some("offline".to_owned());
    RoomStart { scene: format!("scenes/{scene}.yaml"), files, provider, ..RoomStart::default() }
}

/// A large room without minds: everything up to the simulation, with all behaviour, queues, attention and meetings.
pub fn mindless_crowd(agents: usize) -> App {
    ComputeTaskPool::get_or_init(TaskPool::default);
    let mut app = App::empty();
    app.add_plugins((
        schedule::plugin,
        store::plugin,
        workspace::plugin,
        agent::plugin,
        element::plugin,
        simulation::plugin,
    ));
    let start = crowd(agents);
    app.insert_resource(RoomStart { files: BTreeMap::new(), ..start.clone() });
    workspace::begin(app.world_mut(), start);
    app
}

/// The same with every layer, but without conversations between agents.
pub fn crowd_with_minds(agents: usize) -> App {
    crowd_answered_by(agents, "offline")
}

/// The same, answered by this provider.
pub fn crowd_answered_by(agents: usize, provider: &str) -> App {
    let start = RoomStart { provider: Some(provider.to_owned()), ..crowd(agents) };
    let mut app = app::begin(start, "r-figures".into(), Seq(1)).expect("a fresh room begins");
    app.world_mut().resource_mut::<InputQueue<ConversationCommand>>().push(ConversationCommand::Switch { on: false });
    app
}

/// Keeps a script for the `scripted` provider under this name. Returns the provider's name.
pub fn scripted(name: &str, yaml: &str) -> String {
    let folder = std::env::temp_dir().join("agent-workshop-figures");
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let file = folder.join(name).with_extension("yaml");
    std::fs::write(&file, yaml).expect("the script can be written");
    format!("scripted:{}", file.display())
}

/// A scene of the starter kit with the offline brain.
pub fn kit(scene: &str) -> App {
    let files = starter::files().into_iter().map(|(path, bytes)| (path, String::from_utf8_lossy(bytes).into_owned()));
    app::begin(start(files.collect(), scene), "r-figures".into(), Seq(1)).expect("a fresh room begins")
}

/// One agent of the starter kit alone with a rulebook and a message board.
pub fn one_agent() -> App {
    let scene = "name: One\nelements:\n  - { id: rules, kind: rulebook, position: [0, 0], text: Be kind. }\n  \
                 - { id: news, kind: messageboard, position: [200, 0], text: The bridge is closed. }\nagents:\n  \
                 - { id: ada, profile: researcher, position: [100, 150] }\n";
    let mut files: BTreeMap<String, String> = starter::files()
        .into_iter()
        .filter(|(path, _)| path.starts_with("agents/"))
        .map(|(path, bytes)| (path, String::from_utf8_lossy(bytes).into_owned()))
        .collect();
    files.insert("scenes/one.yaml".to_owned(), scene.to_owned());
    app::begin(start(files, "one"), "r-figures".into(), Seq(1)).expect("a fresh room begins")
}

/// Runs ticks; each waits for the outstanding answers.
pub fn run(world: &mut World, ticks: u64) {
    for _ in 0..ticks {
        assert!(gateway::wait_before_tick(world, Duration::from_secs(30)), "an answer never came");
        schedule::advance(world);
    }
}
