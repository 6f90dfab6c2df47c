//! A whole workshop in memory, for short tests: no disk except for scripts, no network, and no waiting in real time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agent_workshop::app;
use agent_workshop::base::Seq;
use agent_workshop::base::hash::content_hash;
use agent_workshop::gateway;
use agent_workshop::log::EventLog;
use agent_workshop::schedule::{self, InputJournal, InputQueue, RecordedInput, SimClock, Speed, TICKS_PER_SEC, saved};
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::{FileChanged, KnownFiles, RoomStart};
use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::Value;

/// The limit of real time for a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// A room under test, with everything that it has logged.
pub struct Workshop {
    pub app: App,
    pub start: RoomStart,
    pub inputs: Vec<RecordedInput>,
    events: Vec<Value>,
}

/// Builds the start of a room under test.
#[derive(Default)]
pub struct Setup {
    files: BTreeMap<String, String>,
    script: Option<String>,
    provider: Option<String>,
}

impl Setup {
    /// Starts with this text as `scenes/test.yaml`.
    pub fn scene(yaml: &str) -> Self {
        Self::default().file("settings.yaml", "").file("scenes/test.yaml", yaml)
    }

    /// Starts from the starter kit.
    pub fn starter_kit() -> Self {
        let kit = agent_workshop::workspace::starter::files();
        let files = kit.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes.to_vec()).unwrap()));
        Self { files: files.collect(), ..Self::default() }
    }

    /// Adds or replaces a file.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Adds an agent file with this text.
    pub fn profile(self, id: &str, instructions: &str) -> Self {
        self.file(&format!("agents/{id}.md"), instructions)
    }

    /// Uses this script instead of the offline brain.
    pub fn script(mut self, yaml: &str) -> Self {
        self.script = Some(yaml.to_owned());
        self
    }

    /// Uses this provider.
    pub fn provider(mut self, provider: &str) -> Self {
        self.provider = Some(provider.to_owned());
        self
    }

    /// Opens the scene `scenes/test.yaml`.
    pub fn open(self) -> Workshop {
        self.open_scene("test")
    }

    /// Opens a scene of these files.
    pub fn open_scene(self, scene: &str) -> Workshop {
        let scripted = self.script.map(|yaml| format!("scripted:{}", script_file(&yaml).display()));
        let start = RoomStart {
            scene: format!("scenes/{scene}.yaml"),
            files: self.files,
            provider: scripted.or(self.provider),
            ..RoomStart::default()
        };
        Workshop::begin(start, Seq(1))
    }
}

/// Writes a script to the temporary folder. The same script has the same path, because the path is part of the start
/// that two rooms share.
pub fn script_file(yaml: &str) -> PathBuf {
    let folder = std::env::temp_dir().join("agent-workshop-tests");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{:016x}.yaml", content_hash(yaml.as_bytes())));
    if !file.exists() {
        let written = tempfile::NamedTempFile::new_in(&folder).unwrap();
        std::fs::write(written.path(), yaml).unwrap();
        written.persist(&file).unwrap();
    }
    file
}

impl Workshop {
    /// Opens a room with an existing start.
    pub fn begin(start: RoomStart, first_seq: Seq) -> Self {
        Self::with(app::begin(start.clone(), "r-test".into(), first_seq).unwrap(), start)
    }

    /// Opens another room from the current state of this one.
    pub fn reopened(&mut self) -> Self {
        self.reopened_as("r-test")
    }

    /// Opens another room from the current state of this one, as the run with this name.
    pub fn reopened_as(&mut self, run: &str) -> Self {
        let mut start = self.start.clone();
        start.files = self.world().resource::<KnownFiles>().all().clone();
        start.carried = Some(self.saved());
        let next_seq = self.world().resource::<EventLog>().next_seq();
        Self::with(app::resume(start.clone(), run.into(), next_seq).unwrap(), start)
    }

    /// Runs at full speed, where simulated time stops during real waits, so that an external program is never too slow
    /// for a limit in simulated seconds.
    fn with(mut app: App, start: RoomStart) -> Self {
        app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
        Self { app, start, inputs: Vec::new(), events: Vec::new() }
    }

    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// Runs one tick, waiting in real time for outstanding replies.
    pub fn tick(&mut self) {
        let world = self.app.world_mut();
        let began = Instant::now();
        while gateway::must_wait(world) {
            gateway::wait_for_reply(world, Duration::from_millis(50));
            assert!(began.elapsed() < REPLY_TIMEOUT, "a pending reply does not arrive");
        }
        schedule::advance(world);
        let events = world.resource_mut::<EventLog>().take();
        self.events.extend(events.iter().map(|event| serde_json::to_value(event).unwrap()));
        self.inputs.extend(world.resource_mut::<InputJournal>().take_recorded());
    }

    /// Runs for this many simulated seconds.
    pub fn advance(&mut self, secs: f64) {
        for _ in 0..(secs * TICKS_PER_SEC as f64).round() as u64 {
            self.tick();
        }
    }

    /// Runs until an event of this type that satisfies the condition is logged; fails after `secs`.
    pub fn until(&mut self, secs: f64, kind: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let seen = self.events.len();
        for _ in 0..(secs * TICKS_PER_SEC as f64) as u64 {
            self.tick();
            let found = self.events[seen..].iter().find(|event| event["type"] == kind && condition(event));
            if let Some(found) = found {
                return found.clone();
            }
        }
        panic!("no matching {kind} within {secs} s; there were: {:#?}", self.events(kind));
    }

    /// Changes a file as a person does.
    pub fn edit(&mut self, path: &str, text: &str) {
        let change = FileChanged::new(path, FileContent::Text(text.to_owned()));
        self.push(change);
    }

    /// Queues an input of the room.
    pub fn push<T: agent_workshop::schedule::Input>(&mut self, input: T) {
        self.world().resource_mut::<InputQueue<T>>().push(input);
    }

    /// Returns the logged events of one type.
    pub fn events(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// Returns all logged events.
    pub fn log(&self) -> &[Value] {
        &self.events
    }

    /// Returns the event with this sequence number.
    pub fn record(&self, seq: &Value) -> Option<&Value> {
        self.events.iter().find(|event| event["seq"] == *seq)
    }

    pub fn now(&mut self) -> u64 {
        self.world().resource::<SimClock>().tick()
    }

    pub fn hash(&mut self) -> u64 {
        saved::world_hash(self.world())
    }

    /// Returns the state that would be saved now.
    pub fn saved(&mut self) -> Value {
        saved::save_world(self.world()).unwrap()
    }

    /// Replays all of this from the recorded inputs alone; fails if the world or the log differ.
    pub fn replayed(&mut self) -> Self {
        let ticks = self.now();
        let mut again = Self::begin(self.start.clone(), Seq(1));
        again.world().resource_mut::<InputJournal>().replay(self.inputs.clone());
        while again.now() < ticks {
            again.tick();
        }
        again.assert_same_world(self);
        assert_eq!(again.log().len(), self.log().len(), "the replay logged different events");
        again
    }

    /// Fails with the differing values if the states of two rooms differ.
    pub fn assert_same_world(&mut self, other: &mut Self) {
        let (mine, theirs) = (saved::section_hashes(self.world()), saved::section_hashes(other.world()));
        if mine != theirs {
            let (mine, theirs) = (self.saved(), other.saved());
            let mut differing = String::new();
            append_differences("", &mine, &theirs, &mut differing);
            panic!("the worlds differ at tick {}:{differing}", self.now());
        }
    }
}

/// Appends where two values differ, one path per line.
fn append_differences(path: &str, one: &Value, other: &Value, differences: &mut String) {
    match (one, other) {
        (Value::Object(ones), Value::Object(others)) => {
            let keys: std::collections::BTreeSet<&String> = ones.keys().chain(others.keys()).collect();
            for key in keys {
                append_differences(&format!("{path}/{key}"), &one[key.as_str()], &other[key.as_str()], differences);
            }
        }
        (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => {
            for (index, (one, other)) in ones.iter().zip(others).enumerate() {
                append_differences(&format!("{path}/{index}"), one, other, differences);
            }
        }
        _ if one != other => differences.push_str(&format!("\n{path}: {one} instead of {other}")),
        _ => {}
    }
}
