//! Opening a workspace as a living room, and closing it: everything on disk around one world.

use std::path::{Path, PathBuf};

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::Value;
use thiserror::Error;

use super::drive::Driver;
use crate::base::{Id, Problem, Seq};
use crate::schedule::{InputJournal, RoomSeed, SimClock, saved};
use crate::store::{self, Reader, RunStart, Snapshot, Store, StoreError};
use crate::workspace::{self, FileChanged, FileContent, KnownFiles, LayoutError, RoomStart, Saver, Watcher};

/// What to open and how.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The workspace's folder.
    pub folder: PathBuf,
    /// The scene by its file's stem (`studio`); the workspace's default where absent.
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
    /// The folder is not a workspace or cannot be read.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The history cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
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
        // The watcher is armed before the first read, so that no edit falls between.
        let watcher = options.watch.then(|| Watcher::start(&options.folder));
        let (on_disk, mut problems) = workspace::read_folder(&options.folder)?;
        let (store, store_problems) = Store::open(&options.folder.join(workspace::STATE_FOLDER))?;
        problems.extend(store_problems);
        let reader = Reader::open(&options.folder.join(workspace::STATE_FOLDER))?;
        let scene = choose_scene(&on_disk, options)?;

        let carried = if options.fresh { None } else { recover(&reader, &scene)? };
        let (files, carried) = match carried {
            Some(carried) => (carried.files, Some(carried.sections)),
            None => (on_disk.clone(), None),
        };
        let start = RoomStart {
            scene: scene.clone(),
            files: files.clone(),
            seed: options.seed,
            provider: options.provider.clone(),
            carried,
        };
        let run: Id = store::new_run_id().into();
        let first_seq = reader.next_seq()?;
        let mut app = super::begin(start.clone(), run.clone(), first_seq)?;
        let world = app.world_mut();
        store.start_run(RunStart {
            id: run.clone(),
            scene: scene.clone(),
            seed: world.resource::<RoomSeed>().0,
            first_seq,
            start: serde_json::to_string(&start)?,
            first_tick: world.resource::<SimClock>().tick(),
        });
        world.insert_resource(store);
        push_edits_while_closed(world, &files, &on_disk);
        let saver = Saver::start(&options.folder, &scene, &on_disk);
        if let Some(mut watcher) = watcher {
            watcher.share_hashes(&saver, &on_disk);
            world.insert_resource(watcher);
        }
        world.insert_resource(saver);
        store::log_run_start(world, &scene);
        Ok((Self { app, scene, run, driver: Driver::default() }, problems))
    }

    /// Closes the room: everything that happened is on disk when this returns.
    pub fn close(mut self, reason: &str) -> Result<(), StoreError> {
        let world = self.app.world_mut();
        store::log_run_end(world, reason);
        super::drive::hand_over(world);
        super::drive::save_snapshot(world);
        if let Some(saver) = world.remove_resource::<Saver>() {
            saver.flush();
        }
        let Some(store) = world.remove_resource::<Store>() else { return Ok(()) };
        store.end_run(reason);
        store.flush()
    }
}

/// The scene to open: the one asked for, the one that `settings.yaml` names, `studio`, or the first there is.
fn choose_scene(files: &std::collections::BTreeMap<String, String>, options: &OpenOptions) -> Result<String, OpenError> {
    let stem = |path: &str| {
        let file = path.strip_prefix("scenes/")?;
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).map(str::to_owned)
    };
    let scenes: Vec<(&String, String)> = files.keys().filter_map(|path| Some((path, stem(path)?))).collect();
    let found = match &options.scene {
        Some(wanted) => scenes.iter().find(|(path, stem)| stem == wanted || *path == wanted),
        None => {
            let preferred = workspace::default_scene(files);
            scenes
                .iter()
                .find(|(_, stem)| Some(stem) == preferred.as_ref())
                .or_else(|| scenes.iter().find(|(_, stem)| stem == "studio"))
                .or_else(|| scenes.first())
        }
    };
    found.map(|(path, _)| (*path).clone()).ok_or_else(|| OpenError::NoSuchScene {
        wanted: options.scene.clone().unwrap_or_default(),
        folder: options.folder.display().to_string(),
        there: scenes.into_iter().map(|(_, stem)| stem).collect::<Vec<_>>().join(", "),
    })
}

/// The world as it was last acknowledged: the newest snapshot, and if the run behind it never ended, the inputs
/// that were recorded since, played again up to the last recorded tick.
fn recover(reader: &Reader, scene: &str) -> Result<Option<Snapshot>, OpenError> {
    let Some(run) = reader.last_run(scene)? else { return Ok(None) };
    let snapshot = reader.latest_snapshot(scene)?.filter(|snapshot| snapshot.run == run.id);
    if let Some(snapshot) = &snapshot
        && snapshot.tick >= run.last_tick
    {
        return Ok(Some(snapshot.clone()));
    }
    let recorded: RoomStart = serde_json::from_str(&reader.run_start(&run.id)?)?;
    let (start, from_tick, first_seq) = match snapshot {
        Some(snapshot) => {
            let start = RoomStart { files: snapshot.files, carried: Some(snapshot.sections), ..recorded };
            (start, snapshot.tick, snapshot.next_seq)
        }
        None => (recorded, run.first_tick, run.first_seq),
    };
    let inputs = reader.inputs(&run.id)?.into_iter().filter(|input| input.tick > from_tick);
    let mut app = super::begin(start, run.id.clone(), first_seq)?;
    let world = app.world_mut();
    world.resource_mut::<InputJournal>().replay(inputs);
    super::drive::run_to(world, run.last_tick);
    Ok(Some(snapshot_of(world, scene)?))
}

/// The world as it would be saved now.
pub(super) fn snapshot_of(world: &mut World, scene: &str) -> Result<Snapshot, serde_json::Error> {
    let sections: Value = saved::save_world(world)?;
    let log = world.resource::<store::EventLog>();
    Ok(Snapshot {
        scene: scene.to_owned(),
        run: log.run().clone(),
        tick: world.resource::<SimClock>().tick(),
        next_seq: log.next_seq(),
        sections,
        files: world.resource::<KnownFiles>().all().clone(),
    })
}

/// What a person did to the files while nobody looked comes in as if it had happened now.
fn push_edits_while_closed(
    world: &mut World,
    known: &std::collections::BTreeMap<String, String>,
    on_disk: &std::collections::BTreeMap<String, String>,
) {
    let mut door = world.resource_mut::<crate::schedule::Door<FileChanged>>();
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
    workspace.join(workspace::STATE_FOLDER)
}

/// The first seq of a log that has no records.
pub const FIRST_SEQ: Seq = Seq(1);
