//! What whole processes and the disk cost: starting and stopping, the log, and a replay.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agent_workshop::app::clock_driver::Step;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::base::Seq;
use agent_workshop::log::events::State;
use agent_workshop::log::{EventDraft, EventLog};
use agent_workshop::schedule::{self, SimClock, Speed, TICKS_PER_SEC};
use agent_workshop::store::{self, Store};
use agent_workshop::workspace::starter;
use bevy::app::App;
use bevy::ecs::prelude::*;

use super::measure::{Figure, Times, digits, timed};

/// Takes the events from the log queue and counts those of one type.
pub fn count_events(world: &mut World, word: &str) -> usize {
    let events = world.resource_mut::<EventLog>().take();
    events.iter().filter(|event| event.draft.kind.as_str() == word).count()
}

fn workshop(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_workshop"))
        .args(arguments)
        .current_dir(folder)
        .env("WORKSHOP_TRUST", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Runs the empty room from start to idle and exit.
pub fn run_until_idle() -> Vec<Figure> {
    let arguments = ["run", "--scene", "empty", "--until", "idle", "--speed", "max", "--provider", "offline"];
    let old = tempfile::tempdir().expect("a temporary folder can be made");
    starter::init(old.path()).expect("the starter kit can be written");
    let again = Times::of(2, 20, || drop(workshop(old.path(), &arguments)));
    let at_first = Times::from_each((0..10).map(|_| {
        let new = tempfile::tempdir().expect("a temporary folder can be made");
        timed(|| drop(workshop(new.path(), &arguments)))
    }));
    vec![
        Figure::at_most_ms("`run --until idle` on the empty room, whole process", 50.0, &again),
        Figure {
            what: "the same in an empty folder, which writes the starter kit first".into(),
            limit: String::new(),
            measured: at_first.to_string(),
            against: String::new(),
            holds: None,
        },
    ]
}

/// A million records, as the room writes them, through the log to the disk.
pub fn event_log() -> Vec<Figure> {
    const TICKS: u64 = 1_000;
    const PER_TICK: u64 = 1_000;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut log, _) = Store::open(folder.path()).expect("a new log opens");
    log.start_run(store::RunStart {
        id: "r-figures".into(),
        scene: "scenes/none.yaml".into(),
        seed: 0,
        first_seq: Seq(1),
        first_tick: 0,
        start: serde_json::json!({}),
    })
    .expect("a run begins");
    let mut app = App::empty();
    app.add_plugins((schedule::plugin, store::plugin));
    app.insert_resource(log).insert_resource(EventLog::new("r-figures".into(), Seq(1)));
    let agent = "researcher-1".into();
    let began = Instant::now();
    for _ in 0..TICKS {
        let world = app.world_mut();
        while !world.resource::<Store>().has_room() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut log = world.resource_mut::<EventLog>();
        for number in 0..PER_TICK {
            let why = "walking to House rules to read it";
            let draft = EventDraft::of(&State { from: "wandering".into(), to: "reading".into(), why: why.into() });
            log.write(draft.agent(&agent).cause(Seq(number + 1)));
        }
        schedule::advance(world);
    }
    app.world_mut().resource_mut::<Store>().flush().expect("the disk has room");
    let secs = began.elapsed().as_secs_f64();
    let rate = (TICKS * PER_TICK) as f64 / secs;
    vec![Figure {
        what: "event log: writing a million records to disk".into(),
        limit: "at least 50,000/s".into(),
        measured: format!("{rate:.0}/s"),
        against: format!("{} s in total", digits(secs)),
        holds: Some(rate >= 50_000.0),
    }]
}

/// Five minutes of the newsroom, recorded and then replayed.
pub fn replay() -> Vec<Figure> {
    const SIMULATED_SECS: u64 = 300;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    starter::init(folder.path()).expect("the starter kit can be written");
    let options = OpenOptions {
        folder: folder.path().to_owned(),
        scene: Some("newsroom".into()),
        provider: Some("offline".into()),
        ..OpenOptions::trusted()
    };
    let (mut room, problems) = Room::open(&options).expect("the newsroom opens");
    assert!(problems.is_empty(), "{problems:?}");
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = Speed::Max;
    let began = Instant::now();
    let mut ticks = 0;
    while ticks < SIMULATED_SECS * TICKS_PER_SEC {
        if room.driver.step(world) == Step::Ticked {
            ticks += 1;
        }
    }
    let lived = began.elapsed().as_secs_f64();
    let unsaved = room.close("measured", |_| ()).expect("the room closes");
    assert!(unsaved.is_empty(), "{unsaved:?}");
    let times = Times::of(1, 5, || {
        let told = workshop(folder.path(), &["replay", "last", "--verify", "--json"]);
        assert!(told.contains("\"differs_at\":null"), "{told}");
    });
    let speed = SIMULATED_SECS as f64 * 1e3 / times.median();
    vec![Figure {
        what: format!("replay of {SIMULATED_SECS} s of the newsroom, whole process"),
        limit: "at least 100 × real time".into(),
        measured: format!("{} ×", digits(speed)),
        against: format!("{times}; recorded at {} ×", digits(SIMULATED_SECS as f64 / lived)),
        holds: Some(speed >= 100.0),
    }]
}
