//! A view of a room that another process has open: which process, whether it has loaded the current files, what is
//! running and which questions are pending. Read-only.

use std::path::Path;

use bevy::ecs::world::World;

use super::opening::{OpenError, state_folder};
use super::recovery::last_committed_world;
use crate::base::Id;
use crate::kernel::Kernel;
use crate::store::{self, Reader, StoreError};
use crate::workspace::layout::read_folder;
use crate::workspace::{KnownFiles, answer_files};

/// The newest run of a workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewestRun {
    /// The run's id.
    pub id: Id,
    /// The scene file.
    pub scene: String,
    /// Whether it was closed properly; `false` while it runs or after a crash.
    pub is_over: bool,
}

/// The newest run of a workspace, if there is one.
pub fn newest_run(workspace: &Path) -> Result<Option<NewestRun>, OpenError> {
    let reader = match Reader::open(&state_folder(workspace)) {
        Ok(reader) => reader,
        Err(StoreError::NoHistory { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let newest = reader.runs()?.into_iter().max_by_key(|run| (run.first_seq, run.started_ms));
    Ok(newest.map(|run| NewestRun { is_over: run.end.is_some(), id: run.id, scene: run.scene }))
}

/// The process that has a workspace open, if it is known.
pub fn owner(workspace: &Path) -> Option<u32> {
    store::holder(&state_folder(workspace))
}

/// Whether a process is running; `true` if that cannot be determined.
pub fn is_running(process: u32) -> bool {
    store::runs(process)
}

/// The process that has a workspace open, if it is stopped: it answers nothing until it is continued.
pub fn stopped_owner(workspace: &Path) -> Option<u32> {
    owner(workspace).filter(|process| store::is_stopped(*process))
}

/// Whether an open room has loaded the current files of its workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadStatus {
    /// The paths of files whose content on disk differs from the room's.
    pub behind: Vec<String>,
    /// Number of answers that it has not processed.
    pub answers: usize,
    /// Whether it runs every piece of work for one turn and then exits.
    pub is_pump: bool,
}

impl LoadStatus {
    /// Whether it has processed everything.
    pub fn is_complete(&self) -> bool {
        self.behind.is_empty() && self.answers == 0
    }
}

/// Reads the last committed state of a scene's room and the files on disk; passes the world to `inspect`.
pub fn inspect_open_room<T>(
    workspace: &Path,
    scene: &str,
    inspect: impl FnOnce(&World) -> T,
) -> Result<Option<(LoadStatus, T)>, OpenError> {
    // Read the disk first: what is written in the meantime is not counted as missed by the room.
    let (on_disk, _) = read_folder(workspace);
    let waiting =
        answer_files::pending(&state_folder(workspace)).values().filter(|answer| answer.scene == scene).count();
    let Some(app) = last_committed_world(workspace, scene)? else { return Ok(None) };
    let world = app.world();
    let known = world.resource::<KnownFiles>().all();
    let mut behind: Vec<String> =
        on_disk.iter().filter(|(path, text)| known.get(*path) != Some(*text)).map(|(path, _)| path.clone()).collect();
    behind.extend(known.keys().filter(|path| !on_disk.contains_key(*path)).cloned());
    let kernel = world.resource::<Kernel>();
    let load = LoadStatus { behind, answers: waiting, is_pump: kernel.is_single_step() };
    Ok(Some((load, inspect(world))))
}
