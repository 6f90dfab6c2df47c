//! Opening a workspace as a living room, and closing it: everything on disk around one world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::{Value, json};
use thiserror::Error;

use super::drive::Driver;
use crate::base::{Id, Problem, Seq};
use crate::schedule::{Door, InputJournal, RecordedInput, RoomSeed, SimClock, saved};
use crate::store::{
    self, EventDraft, EventKind, EventLog, EventRecord, Reader, ReopenFrom, RunStart, Store, StoreError,
};
use crate::workspace::files::FileContent;
use crate::workspace::layout::read_folder;
use crate::workspace::starter::STARTER_SCENE;
use crate::workspace::vfs::{DeskError, DeskPlace, FileDesk, FileLimits, FileLine};
use crate::workspace::{self, Disk, FileChanged, KnownFiles, RoomStart, Saver, Watcher};

/// What to open and how.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The workspace's folder.
    pub folder: PathBuf,
    /// The scene by its file's stem (`studio`); the starter kit's or the first there is where absent.
    pub scene: Option<String>,
    /// Stands in for the scene's seed.
    pub seed: Option<u64>,
    /// Stands in for every agent's provider.
    pub provider: Option<String>,
    /// Begin as the scene file says: forget where agents stood and what they remember.
    pub fresh: bool,
    /// Notice a person's edits while the room runs.
    pub watch: bool,
}

/// Why a workspace could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A thread could not be started.
    #[error("the files cannot be watched: {0}")]
    Files(#[from] std::io::Error),
    /// The history cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files or their history cannot be used.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// There is no such scene.
    #[error("there is no scene {wanted:?} in {folder}; there are: {there}")]
    NoSuchScene {
        /// What was asked for.
        wanted: String,
        /// Where.
        folder: String,
        /// What there is.
        there: String,
    },
    /// A saved world cannot be read.
    #[error("the saved room cannot be read: {0}; run with --fresh to begin as the scene file says")]
    Saved(#[from] serde_json::Error),
}

/// A workspace open in a world of its own.
pub struct Room {
    /// The world and its schedule.
    pub app: App,
    /// The scene's file, relative to the workspace.
    pub scene: String,
    /// The name of this run in the log.
    pub run: Id,
    /// Drives the clock.
    pub driver: Driver,
}

impl Room {
    /// Opens a workspace: what it was when it was last acknowledged, plus what a person changed since.
    pub fn open(options: &OpenOptions) -> Result<(Self, Vec<Problem>), OpenError> {
        let (on_disk, mut problems) = read_folder(&options.folder);
        let (mut store, store_problems) = Store::open(&state_folder(&options.folder))?;
        problems.extend(store_problems);
        let scene = choose_scene(&on_disk, options)?;

        let carried = if options.fresh { None } else { recover(&store, &scene)? };
        let (files, carried) = match carried {
            Some(saved) => (saved.files, Some(saved.sections)),
            None => (on_disk.clone(), None),
        };
        let start = RoomStart {
            scene: scene.clone(),
            files: files.clone(),
            seed: options.seed,
            provider: options.provider.clone(),
            carried,
        };
        let run = store::new_run_id();
        let first_seq = Seq(store.last_seq_at_open().0 + 1);
        let mut app = super::begin(start.clone(), run.clone(), first_seq)?;
        let world = app.world_mut();
        store.start_run(RunStart {
            id: run.clone(),
            scene: scene.clone(),
            seed: world.resource::<RoomSeed>().0,
            first_seq,
            first_tick: world.resource::<SimClock>().tick(),
            start: serde_json::to_value(&start)?,
        })?;
        world.insert_resource(store);
        push_edits_while_closed(world, &files, &on_disk);
        // The watcher at once finds what changed since the folder was read.
        let disk = Disk::new(&options.folder, &on_disk);
        world.insert_resource(Saver::start(disk.clone())?);
        let desk = FileDesk::open(DeskPlace {
            root: options.folder.clone(),
            dir: state_folder(&options.folder),
            limits: world.resource::<FileLimits>().clone(),
            disk: Some(disk.clone()),
            watch: options.watch,
        })?;
        world.insert_resource(FileLine::new(desk));
        if options.watch {
            world.insert_resource(Watcher::start(disk)?);
        }
        Ok((Self { app, scene, run, driver: Driver::default() }, problems))
    }

    /// Closes the room: everything that happened is on disk when this returns. The last events, among them the
    /// run's end, go through `last_events` as well.
    /// Gives back what could not be saved.
    pub fn close(mut self, reason: &str, last_events: impl FnOnce(&[EventRecord])) -> Result<Vec<Problem>, StoreError> {
        let world = self.app.world_mut();
        let scene = self.scene;
        // Orders that are taken are finished; what they came to is asked again by the same room when it goes on.
        drop(world.remove_resource::<FileLine>());
        world.init_resource::<FileLine>();
        let unsaved = workspace::save_now(world);
        world.resource_mut::<EventLog>().write(EventDraft::new(EventKind::RunEnd, json!({ "why": reason })));
        last_events(world.resource::<EventLog>().unwritten());
        store::record_now(world);
        super::drive::note_hash(world);
        super::drive::save_snapshot(world, &scene);
        world.remove_resource::<Saver>();
        let Some(mut store) = world.remove_resource::<Store>() else { return Ok(unsaved) };
        store.end_run(reason)?;
        store.flush()?;
        Ok(unsaved)
    }
}

/// The scene to open: the one asked for, the starter kit's, or the first there is.
fn choose_scene(files: &BTreeMap<String, String>, options: &OpenOptions) -> Result<String, OpenError> {
    let stem = |path: &str| {
        let file = path.strip_prefix("scenes/")?;
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).map(str::to_owned)
    };
    let scenes: Vec<(&String, String)> = files.keys().filter_map(|path| Some((path, stem(path)?))).collect();
    let found = match &options.scene {
        Some(wanted) => scenes.iter().find(|(path, stem)| stem == wanted || *path == wanted),
        None => scenes.iter().find(|(path, _)| *path == STARTER_SCENE).or_else(|| scenes.first()),
    };
    found.map(|(path, _)| (*path).clone()).ok_or_else(|| OpenError::NoSuchScene {
        wanted: options.scene.clone().unwrap_or_default(),
        folder: options.folder.display().to_string(),
        there: scenes.into_iter().map(|(_, stem)| stem).collect::<Vec<_>>().join(", "),
    })
}

/// A world as it was saved, and the files that it knew.
struct SavedRoom {
    sections: Value,
    files: BTreeMap<String, String>,
}

/// The world as it was last acknowledged: the newest snapshot of the scene's newest run, or what that began with,
/// and the inputs recorded since, played again up to the last recorded tick.
fn recover(store: &Store, scene: &str) -> Result<Option<SavedRoom>, OpenError> {
    let Some(reopening) = Reader::open(store.dir())?.reopen(scene)? else { return Ok(None) };
    let run = reopening.run;
    let (start, next_seq) = match reopening.from {
        ReopenFrom::Snapshot(snapshot) => {
            let files: BTreeMap<String, String> = serde_json::from_value(snapshot.files)?;
            if snapshot.tick >= run.last_tick {
                return Ok(Some(SavedRoom { sections: snapshot.sections, files }));
            }
            let carried = Some(snapshot.sections);
            (RoomStart { scene: scene.to_owned(), files, seed: None, provider: None, carried }, snapshot.next_seq)
        }
        ReopenFrom::Start(start) => {
            let app = super::begin(serde_json::from_value(start)?, run.id, run.first_seq)?;
            return Ok(Some(play(app, reopening.inputs, run.last_tick)?));
        }
    };
    let app = super::resume(start, run.id, next_seq)?;
    Ok(Some(play(app, reopening.inputs, run.last_tick)?))
}

fn play(mut app: App, inputs: Vec<RecordedInput>, last_tick: u64) -> Result<SavedRoom, serde_json::Error> {
    let world = app.world_mut();
    world.resource_mut::<InputJournal>().replay(inputs);
    super::drive::replay_to(world, last_tick);
    Ok(SavedRoom { sections: saved::save_world(world)?, files: world.resource::<KnownFiles>().all().clone() })
}

/// What a person did to the files while nobody looked comes in as if it had happened now.
fn push_edits_while_closed(world: &mut World, known: &BTreeMap<String, String>, on_disk: &BTreeMap<String, String>) {
    let mut door = world.resource_mut::<Door<FileChanged>>();
    for (path, text) in on_disk {
        if known.get(path) != Some(text) {
            door.push(FileChanged { path: path.clone(), content: FileContent::Text(text.clone()) });
        }
    }
    for path in known.keys().filter(|path| !on_disk.contains_key(*path)) {
        door.push(FileChanged { path: path.clone(), content: FileContent::Removed });
    }
}

/// The folder that holds what may be deleted.
pub fn state_folder(workspace: &Path) -> PathBuf {
    workspace.join(".workshop")
}
