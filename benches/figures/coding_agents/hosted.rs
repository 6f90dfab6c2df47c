//! A room on disk whose agents are all the same coding agent, each in its own process, driven like a room without a
//! window.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_workshop::app::clock_driver::{EventTap, Step};
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::gateway::acp::agent_of;
use agent_workshop::gateway::peers::allow_peer;
use agent_workshop::gateway::{Environment, GatewayEnvironment, LiveText, RequestQueue};
use agent_workshop::log::events::Complete;
use agent_workshop::schedule::{InputQueue, SimClock, Speed};
use agent_workshop::simulation::TaskCommand;
use agent_workshop::workspace::starter;
use bevy::ecs::prelude::*;

use super::{AGENTS, TIMEOUT};

/// The agent's script.
const AGENT: &str = include_str!("agent.py");

/// A workspace that contains the agent and allows it, and the folder with that permission.
pub struct Place {
    _workspace: tempfile::TempDir,
    config: tempfile::TempDir,
    /// The workspace.
    pub folder: PathBuf,
    /// The agent's script.
    pub script: PathBuf,
}

impl Place {
    /// Creates one with this many agents, each started with these arguments.
    pub fn new(agents: usize, arguments: &str) -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder can be made");
        let (workspace, config) = (folder(), folder());
        let folder = workspace.path().canonicalize().expect("it should exist");
        starter::init(&folder).expect("the starter kit can be written");
        let script = folder.join("agent.py");
        let line = format!("python3 {} {arguments}", script.display());
        let line = line.trim_end();
        let mut scene = String::from("name: Hosted\nseed: 7\nelements: []\nagents:\n");
        for at in 0..agents {
            let _ = writeln!(scene, "  - {{ id: a{at}, profile: lead, position: [{}, 0] }}", at * 120);
        }
        let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [vfs_write]\n---\nYou lead.\n", format!("acp:{line}"));
        let settings = format!(
            "gateway: {{ max_concurrent_requests: {AGENTS} }}\nkernel: {{ max_concurrent_activations: {AGENTS}, max_turns: 1000 }}\n\
             knowledge: {{ learns_from_work: false }}\n"
        );
        let files = [
            ("agent.py", AGENT),
            ("agents/lead.md", &lead),
            ("scenes/hosted.yaml", &scene),
            ("settings.yaml", &settings),
        ];
        std::fs::create_dir_all(folder.join("artifacts")).expect("folders can be made");
        for (path, text) in files {
            std::fs::write(folder.join(path), text).expect("files can be written");
        }
        let place = Self { _workspace: workspace, config, folder, script };
        let agent = agent_of(line, &BTreeMap::new()).expect("it is a command line");
        allow_peer(&place.environment(), &place.folder, &agent).expect("it can be kept");
        place
    }

    fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(&self.folder)
    }

    /// The folder that holds what the person has allowed.
    pub fn config(&self) -> &Path {
        self.config.path()
    }
}

/// A running room.
pub struct Hosted {
    room: Room,
    /// The final answers of the agents' tasks.
    pub said: Vec<String>,
    /// The workspace of the room.
    pub place: Place,
}

impl Hosted {
    /// Opens a room with this many agents.
    pub fn open(agents: usize, speed: Speed) -> Self {
        let place = Place::new(agents, "");
        let options =
            OpenOptions { folder: place.folder.clone(), scene: Some("hosted".into()), ..OpenOptions::trusted() };
        let (mut room, problems) = Room::open(&options).expect("it opens");
        assert!(problems.is_empty(), "{problems:?}");
        let world = room.app.world_mut();
        world.insert_resource(GatewayEnvironment(place.environment()));
        world.insert_resource(EventTap::default());
        world.resource_mut::<SimClock>().speed = speed;
        Self { room, said: Vec::new(), place }
    }

    fn world(&mut self) -> &mut World {
        self.room.app.world_mut()
    }

    /// Gives an agent a task.
    pub fn task(&mut self, agent: usize, text: &str) {
        let task = TaskCommand { agent: format!("a{agent}").into(), text: text.into() };
        self.world().resource_mut::<InputQueue<TaskCommand>>().push(task);
    }

    fn collect_answers(&mut self) {
        let events = self.world().resource_mut::<EventTap>().take();
        self.said.extend(events.iter().filter_map(|event| event.read::<Complete>()).map(|done| done.text));
    }

    /// Runs the next tick if one may run; otherwise waits a little.
    pub fn step(&mut self) {
        self.room.driver.step(self.room.app.world_mut());
        self.collect_answers();
    }

    /// Runs the room until a condition holds.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let until = Instant::now() + TIMEOUT;
        while !holds(self) {
            assert!(Instant::now() < until, "{what}: it never comes to that; said so far: {:?}", self.said);
            self.step();
        }
    }

    /// Runs the room for one frame, as the window does. Returns the live text at the end of it.
    pub fn frame(&mut self, length: Duration) -> String {
        let begun = Instant::now();
        while self.room.driver.try_step(self.room.app.world_mut()) == Step::Ticked {}
        self.collect_answers();
        let said = self.live();
        std::thread::sleep(length.saturating_sub(begun.elapsed()));
        said
    }

    fn is_asked(&self) -> bool {
        self.room.app.world().resource::<RequestQueue>().in_flight() > 0
    }

    /// The text that is currently streamed.
    pub fn live(&self) -> String {
        self.room.app.world().resource::<LiveText>().iter().map(|(_, text)| text).collect()
    }

    /// Measures the time from the tick that sends a task until the first chunk of its answer.
    pub fn first_chunk(&mut self) -> Duration {
        let (done, mut begun) = (self.said.len(), Instant::now());
        self.task(0, "do:1 0 0");
        while !self.is_asked() {
            begun = Instant::now();
            self.step();
        }
        while self.live().is_empty() {
            assert!(begun.elapsed() < TIMEOUT, "nothing is said");
            self.step();
        }
        let took = begun.elapsed();
        self.until("the end of an answer", |room| room.said.len() > done);
        took
    }
}
