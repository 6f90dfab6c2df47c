//! What work costs: a run of six agents in a workspace on disk, a thousand pieces of work, and ten thousand agent
//! files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use agent_workshop::agent::Profiles;
use agent_workshop::app::clock_driver::{EventTap, Step};
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::kernel::Kernel;
use agent_workshop::log::{Event, EventKind, EventRecord};
use agent_workshop::schedule::{InputQueue, SimClock, Speed};
use agent_workshop::simulation::TaskCommand;

use super::measure::{Figure, Times, digits};
use crate::wild;

const SPECIALISTS: [&str; 5] = ["ada", "bob", "cem", "dan", "eva"];
const PIECES: usize = 1_000;
const WORKERS: usize = 8;
const PROFILES: usize = 10_000;
/// The time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// An open workspace that runs at full speed.
pub(super) struct Studio {
    pub(super) room: Room,
    events: Vec<Event>,
    _folder: tempfile::TempDir,
}

impl Studio {
    pub(super) fn open(files: &[(String, String)], script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            write(folder.path(), path, text);
        }
        write(folder.path(), "script.yaml", script);
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            provider: Some(format!("scripted:{}", folder.path().join("script.yaml").display())),
            ..OpenOptions::trusted()
        };
        let (mut room, _) = Room::open(&options).expect("the workspace opens");
        let world = room.app.world_mut();
        world.resource_mut::<SimClock>().speed = Speed::Max;
        world.insert_resource(EventTap::default());
        Self { room, events: Vec::new(), _folder: folder }
    }

    pub(super) fn task(&mut self, agent: &str, text: String) {
        let task = TaskCommand { agent: agent.into(), text };
        self.room.app.world_mut().resource_mut::<InputQueue<TaskCommand>>().push(task);
    }

    /// Runs the next tick. Returns the busy time of the room's thread, without the waits for the disk and for replies,
    /// during which a window draws frames.
    pub(super) fn tick(&mut self) -> Duration {
        let busy = loop {
            let began = Instant::now();
            if self.room.driver.step(self.room.app.world_mut()) == Step::Ticked {
                break began.elapsed();
            }
        };
        let events = self.room.app.world_mut().resource_mut::<EventTap>().take();
        self.events.extend(events.iter().map(EventRecord::event));
        busy
    }

    fn run_until_idle(&mut self) {
        let until = Instant::now() + TIMEOUT;
        self.tick();
        self.tick();
        while !self.room.app.world().resource::<Kernel>().is_idle() && Instant::now() < until {
            self.tick();
        }
    }

    pub(super) fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|one| one.kind() == kind).count()
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    let parent = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).expect("the workspace can be written");
}

pub(super) fn file(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

/// Measures a run in which one agent splits the task, and five others write and signal.
pub fn six_agents() -> Vec<Figure> {
    let spawn = |name: &str| {
        format!(
            "{{ name: spawn_agent, arguments: {{ filename: {name}.md, content: \"# {name}\", task: \"Write {name}.\" }} }}"
        )
    };
    let spawns: Vec<String> = SPECIALISTS.iter().map(|name| spawn(name)).collect();
    let mut script =
        format!("agents:\n  lead:\n    - tools: [ {} ]\n    - text: I wait for them.\n", spawns.join(", "));
    for name in SPECIALISTS {
        script.push_str(&format!(
            "  {name}:\n    - tools: [ {{ name: vfs_write, arguments: {{ path: artifacts/{name}.md, content: \"# {name}\" }} }}, {{ name: signal_parent, arguments: {{ message: \"{name} is there\" }} }} ]\n    - text: Done.\n"
        ));
    }
    script.push_str("default: [ { text: Noted. } ]\n");
    let files = [
        file("settings.yaml", ""),
        file("agents/lead.md", "You lead.\n"),
        file("scenes/test.yaml", "name: Test\nagents: [ { id: lead, profile: lead, position: [0, 0] } ]\n"),
    ];
    let mut told = String::new();
    let times = Times::from_each((0..5).map(|_| {
        let mut studio = Studio::open(&files, &script);
        let began = Instant::now();
        studio.task("lead", "Write five things.".into());
        studio.run_until_idle();
        let took = began.elapsed();
        let is_artifact =
            |event: &&Event| matches!(event, Event::FileChange(change) if change.path.starts_with("artifacts/"));
        let artifacts = studio.events.iter().filter(is_artifact);
        told = format!(
            "{} spawns, {} signals, {} artifacts, {} errors",
            studio.count(EventKind::Spawn),
            studio.count(EventKind::Signal),
            artifacts.count(),
            studio.count(EventKind::Error)
        );
        took
    }));
    vec![Figure::at_most_ms("a scripted run of 6 agents on disk, at full speed", 2_000.0, &times).against(told)]
}

/// Measures a thousand pieces of work for eight agents, eight in parallel.
pub fn thousand_pieces() -> Vec<Figure> {
    let agents: Vec<String> = (0..WORKERS).map(|number| format!("worker-{number}")).collect();
    let mut files = vec![file(
        "settings.yaml",
        "kernel: { max_concurrent_activations: 8 }\ngateway: { max_concurrent_requests: 8 }\nbudget: { calls_per_run: 100000, tokens_per_run: 1000000000 }\n",
    )];
    let mut scene = "name: Test\nagents:\n".to_owned();
    for agent in &agents {
        files.push((format!("agents/{agent}.md"), "You work.\n".to_owned()));
        scene.push_str(&format!("  - {{ id: {agent}, profile: {agent}, position: [0, 0], behaviour: stationary }}\n"));
    }
    files.push((String::from("scenes/test.yaml"), scene));
    let mut studio = Studio::open(&files, "latency: 0\ndefault: [ { text: Done. } ]\n");
    studio.tick();
    let began = Instant::now();
    for piece in 0..PIECES {
        studio.task(&agents[piece % WORKERS], format!("Piece {piece}."));
    }
    studio.run_until_idle();
    let took = began.elapsed();
    let done = studio.count(EventKind::Complete);
    let memory = peak_memory_mb();
    vec![
        Figure {
            what: "1,000 pieces of work through the kernel, 8 at once".into(),
            limit: "5,000 ms".into(),
            measured: format!("{} ms", digits(took.as_secs_f64() * 1e3)),
            against: format!("{done} completed"),
            holds: Some(took.as_secs_f64() <= 5.0 && done == PIECES),
        },
        Figure {
            what: "peak memory of this process so far".into(),
            limit: "300 MB".into(),
            measured: memory.map_or("not available on this system".into(), |memory| format!("{} MB", digits(memory))),
            against: String::new(),
            holds: memory.map(|memory| memory <= 300.0),
        },
    ]
}

/// The peak memory of this process in MB, as Linux reports it.
fn peak_memory_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Measures opening a workspace with ten thousand agent files until every profile is known.
pub fn ten_thousand_profiles() -> Vec<Figure> {
    let mut files = vec![file("settings.yaml", ""), file("scenes/test.yaml", "name: Test\n")];
    files.extend((0..PROFILES).map(|number| {
        let text = format!("---\nname: Agent {number}\ndescription: One of many.\n---\nYou are number {number}.\n");
        (format!("agents/agent-{number}.md"), text)
    }));
    // A quarter of the files should take a quarter of the time, because the cost is linear.
    let quarter = &files[..files.len() - PROFILES * 3 / 4];
    vec![
        opened("loading and registering 2,500 agent files", 500.0, quarter, PROFILES / 4),
        opened("loading and registering 10,000 agent files", 2_000.0, &files, PROFILES),
    ]
}

/// Measures opening agent files of other products in their three published layouts, unchanged.
pub fn wild_collections() -> Vec<Figure> {
    let wild = wild::collections();
    let agents = wild.iter().filter(|file| file.is_agent).count();
    let mut files = vec![file("settings.yaml", ""), file("scenes/test.yaml", "name: Test\n")];
    files.extend(wild.into_iter().map(|file| (format!("agents/{}", file.path), file.text)));
    vec![opened(&format!("loading and registering {agents} published agent files"), 1_000.0, &files, agents)]
}

/// Measures the time from opening a workspace of these files until all of its profiles are known.
fn opened(what: &str, limit_ms: f64, files: &[(String, String)], agents: usize) -> Figure {
    let mut known = 0;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    let times = Times::from_each((0..3).map(|_| {
        let options = OpenOptions { folder: folder.path().to_owned(), fresh: true, ..OpenOptions::trusted() };
        let began = Instant::now();
        let (mut room, _) = Room::open(&options).expect("the workspace opens");
        room.app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
        while room.driver.step(room.app.world_mut()) != Step::Ticked {}
        let took = began.elapsed();
        known = room.app.world().resource::<Profiles>().iter().count();
        took
    }));
    let mut figure = Figure::at_most_ms(what, limit_ms, &times);
    figure.against = format!("{known} registered");
    figure.holds = figure.holds.map(|holds| holds && known == agents);
    figure
}
