//! Opens another workspace in the background, while the current one stays open and running. The current one is closed
//! once the other is ready, and stays open if that fails.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;

use crate::app::opening::OpenError;
use crate::app::room::{MovableRoom, OpenOptions, Room};
use crate::app::trust::trust_created;
use crate::base::{JobControl, Problem};
use crate::gateway::Environment;
use crate::ui::commands::job::{Job, JobResult, WINDOW};
use crate::workspace::layout::is_workspace;
use crate::workspace::starter;

/// An opened workspace, and messages about it.
pub(super) struct OpenedWorkspace {
    pub(super) room: MovableRoom,
    pub(super) problems: Vec<Problem>,
    pub(super) options: OpenOptions,
}

impl OpenedWorkspace {
    /// Closes it because it is no longer wanted.
    fn close(self) {
        if let Err(error) = self.room.arrive().close("another workspace was opened first", |_| {}) {
            tracing::warn!("a workspace that is no longer needed could not be closed: {error}");
        }
    }
}

/// A workspace that is being opened.
pub(super) struct OpeningWorkspace {
    control: JobControl,
    opened: Receiver<Opened>,
}

/// What became of opening a workspace.
enum Opened {
    /// It is open.
    Ready(Box<OpenedWorkspace>),
    /// The person must decide about it first.
    NotTrusted(PathBuf),
}

/// The progress of opening a workspace.
pub(super) enum OpenProgress {
    /// Still opening.
    Pending,
    /// It is open.
    Ready(Box<OpenedWorkspace>),
    /// The person must decide first whether they trust the workspace in this folder. The job runner reports why.
    NotTrusted(PathBuf),
    /// It failed, which the job runner reports, or was cancelled.
    Ended,
}

impl OpeningWorkspace {
    /// A job that opens a workspace while `present` is open, or creates one in an empty folder.
    pub(super) fn begin(options: OpenOptions, present: &Path) -> (Job, Self) {
        let (sender, opened) = bounded(1);
        let present = present.to_owned();
        let name = format!("Opening {}", options.folder.display());
        let job = Job::new(WINDOW, name, move |control| open(&options, &present, control, &sender));
        let control = job.control.clone();
        (job, Self { control, opened })
    }

    /// The current progress.
    pub(super) fn progress(&self) -> OpenProgress {
        match self.opened.try_recv() {
            Ok(Opened::Ready(opened)) if self.control.is_cancelled() => {
                opened.close();
                OpenProgress::Ended
            }
            Ok(Opened::Ready(opened)) => OpenProgress::Ready(opened),
            Ok(Opened::NotTrusted(folder)) => OpenProgress::NotTrusted(folder),
            Err(error) if error.is_disconnected() => OpenProgress::Ended,
            Err(_) => OpenProgress::Pending,
        }
    }

    /// Cancels it because another workspace was requested.
    pub(super) fn cancel(&self) {
        self.control.cancel();
    }
}

fn open(options: &OpenOptions, present: &Path, control: &JobControl, done: &Sender<Opened>) -> JobResult {
    let folder = &options.folder;
    let is_present = folder.canonicalize().is_ok_and(|folder| present.canonicalize().is_ok_and(|open| open == folder));
    if is_present {
        return Err("this workspace is already open".to_owned());
    }
    make_workspace(folder)?;
    let (room, problems) = Room::open_watched(options, control).map_err(|error| {
        if matches!(error, OpenError::NotTrusted { .. }) {
            // Nobody waits for it if another workspace was requested meanwhile.
            let _ = done.send(Opened::NotTrusted(folder.clone()));
        }
        format!("{error}; {}", error.remedy())
    })?;
    let opened = OpenedWorkspace { room: room.into_movable(), problems, options: options.clone() };
    if control.is_cancelled() {
        opened.close();
    } else if let Err(unwanted) = done.send(Opened::Ready(Box::new(opened)))
        && let Opened::Ready(opened) = unwanted.into_inner()
    {
        opened.close();
    }
    Ok(Value::Null)
}

/// Checks that a folder is a workspace; turns an empty one into a workspace.
fn make_workspace(folder: &Path) -> Result<(), String> {
    if is_workspace(folder) {
        return Ok(());
    }
    let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        return Err("this folder is not a workspace: it has no settings.yaml. Choose a workspace, or an empty \
         folder to create one."
            .to_owned());
    }
    let made = starter::init(folder).map_err(|error| format!("a workspace cannot be created here: {error}"))?;
    match trust_created(folder, &made.written, &Environment::of_process()) {
        Ok(_) => Ok(()),
        Err(problem) => Err(format!("the new workspace is not trusted yet: {problem}")),
    }
}
