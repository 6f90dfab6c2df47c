//! The room that is open in the window, and the UI state that is kept about it between frames.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::file_cache::FileCache;
use super::file_job_queue::FileJobs;
use super::renames::Renames;
use super::workspace_opening::{OpenedWorkspace, OpeningWorkspace};
use crate::agent::AgentCommand;
use crate::app::clock_driver::{EventTap, Step};
use crate::app::display_names::RoomNames;
use crate::app::opening::OpenError;
use crate::app::room::{OpenOptions, Room};
use crate::base::Problem;
use crate::log::EventLog;
use crate::schedule::{InputQueue, SimClock, Speed, TICKS_PER_SEC};
use crate::simulation::{AgentState, State, Walk};
use crate::store::Store;
use crate::ui::commands::undo::{History, Reversed};
use crate::ui::state::jobs::RunningJob;
use crate::view::extract::{DetailRequest, RoomExtractor};
use crate::view::model::RoomModel;
use crate::view::recent_events::Recent;
use crate::workspace::vfs::{FileBridge, UserCommandResults};

/// Maximum time that a frame spends on ticks, to keep the frame rate smooth at any speed.
const MAX_TICKS: Duration = Duration::from_millis(9);

/// An open room with everything that the UI needs.
pub struct OpenRoom {
    /// The room; `None` only while another is being opened, and after the window was closed.
    room: Option<Room>,
    /// The options with which it was opened.
    pub options: OpenOptions,
    /// Recent events.
    pub recent: Recent,
    /// The undo history.
    pub history: History,
    /// The results of undoing and redoing that were not reported yet.
    pub(super) reversed: Vec<Reversed>,
    /// Notices shown to the person until they are closed.
    pub notices: Vec<Problem>,
    /// The problem that currently prevents recording; it is among the notices as long as it lasts.
    trouble: Option<Problem>,
    reader: RoomExtractor,
    began: Instant,
    /// Whether the last frame's ticks changed anything visible.
    pub is_active: bool,
    /// The queue of file jobs.
    pub file_jobs: FileJobs,
    /// Reads files and history for the panes.
    pub(super) file_cache: FileCache,
    /// The scene to open next, once the screen has shown it.
    pub opening: Option<Opening>,
    /// Another workspace that is being opened in the background.
    pub(super) opening_workspace: Option<OpeningWorkspace>,
    /// Pending renames of files.
    pub(super) renames: Renames,
}

/// A scene that is about to be opened. This takes longer than a frame.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The scene's file stem; `None` for the current scene.
    pub scene: Option<String>,
    /// Whether to restart it from its file.
    pub fresh: bool,
    /// The number of frames in which this was shown.
    pub frames: u32,
}

impl Opening {
    /// The label while it is being opened.
    fn label(&self) -> String {
        match self {
            Self { scene: Some(scene), .. } => format!("Opening {scene}"),
            Self { fresh: true, .. } => "Restarting the scene".to_owned(),
            _ => "Reopening the scene".to_owned(),
        }
    }
}

impl OpenRoom {
    /// Opens a workspace.
    pub fn open(options: OpenOptions) -> Result<Self, OpenError> {
        let (room, notices) = Room::open(&options)?;
        Self::of(room, notices, options)
    }

    /// Wraps a newly opened room and the messages about it.
    fn of(mut room: Room, notices: Vec<Problem>, options: OpenOptions) -> Result<Self, OpenError> {
        room.app.world_mut().insert_resource(EventTap::default());
        put_down_everyone(room.app.world_mut());
        let closed = || std::io::Error::other("the file thread has stopped");
        let service = room.app.world().resource::<FileBridge>().service().ok_or_else(closed)?;
        let (handle, feed) = (service.handle().ok_or_else(closed)?, service.feed());
        let file_jobs = FileJobs::start(options.folder.clone(), handle)?;
        let log = room.app.world().resource::<EventLog>();
        let first = log.unwritten().first().map_or(log.next_seq(), |record| record.seq);
        let file_cache = FileCache::start(options.folder.clone(), feed, first)?;
        Ok(Self {
            room: Some(room),
            options,
            recent: Recent::default(),
            history: History::default(),
            reversed: Vec::new(),
            notices,
            trouble: None,
            reader: RoomExtractor::default(),
            began: Instant::now(),
            is_active: true,
            file_jobs,
            file_cache,
            opening: None,
            opening_workspace: None,
            renames: Renames::default(),
        })
    }

    /// The options for opening another workspace from here.
    pub(super) fn options_for(&self, folder: PathBuf) -> OpenOptions {
        OpenOptions { folder, scene: None, fresh: false, ..self.options.clone() }
    }

    /// Closes this workspace and continues with another one that was opened. If that fails, this one stays open.
    pub(super) fn move_to(&mut self, opened: OpenedWorkspace) -> Result<(), OpenError> {
        let OpenedWorkspace { room, problems, options } = opened;
        let other = Self::of(room.arrive(), problems, options)?;
        let time = self.time();
        self.close("another workspace was opened");
        self.replace_with(other, time);
        Ok(())
    }

    /// Closes the current scene and opens another, or the same one again. If that fails, the previous one is reopened.
    pub fn reopen(&mut self, scene: Option<String>, fresh: bool) {
        let before = self.options.clone();
        let options = OpenOptions { scene: scene.or(before.scene.clone()), fresh, ..before };
        self.open_instead(options, "another scene was opened");
    }

    fn open_instead(&mut self, wanted: OpenOptions, why: &str) {
        let time = self.time();
        self.close(why);
        let before = self.options.clone();
        let opened = Self::open(wanted).or_else(|error| {
            self.notices.push(Problem::error("scene", error.to_string(), "choose another"));
            Self::open(OpenOptions { fresh: false, ..before })
        });
        match opened {
            Ok(opened) => self.replace_with(opened, time),
            Err(error) => self.notices.push(Problem::error("workspace", error.to_string(), "start the workshop again")),
        }
    }

    /// The speed of the room, and whether it is paused.
    fn time(&mut self) -> (Speed, bool) {
        self.world().map_or((Speed::Times(1), false), |world| {
            let clock = world.resource::<SimClock>();
            (clock.speed, clock.paused)
        })
    }

    /// Replaces this room, which is closed, by another one.
    fn replace_with(&mut self, mut other: Self, (speed, paused): (Speed, bool)) {
        other.notices.splice(0..0, std::mem::take(&mut self.notices));
        other.options.fresh = false;
        // Real time goes on.
        other.began = self.began;
        *self = other;
        if let Some(world) = self.world() {
            let mut clock = world.resource_mut::<SimClock>();
            (clock.speed, clock.paused) = (speed, paused);
        }
    }

    /// Saves everything and ends the run. Closing twice does nothing.
    pub fn close(&mut self, why: &str) {
        let Some(room) = self.room.take() else { return };
        match room.close(why, |_| {}) {
            Ok(unsaved) => self.notices.extend(unsaved),
            Err(error) => {
                tracing::error!("the room could not be closed: {error}");
                self.notices.push(Problem::error("history", error.to_string(), "free some disk space"));
            }
        }
    }

    /// The jobs that are shown. Opening is shown at once, because nothing can be drawn once it has begun.
    pub(super) fn running(&self) -> impl Iterator<Item = RunningJob> {
        let opening = self.opening.as_ref().map(|opening| RunningJob { name: opening.label(), control: None });
        opening.into_iter().chain(self.file_jobs.shown())
    }

    /// The room's world, if one is open.
    pub fn world(&mut self) -> Option<&mut World> {
        self.room.as_mut().map(|room| room.app.world_mut())
    }

    /// The workspace's folder.
    pub fn folder(&self) -> &PathBuf {
        &self.options.folder
    }

    /// The name of the workspace for titles.
    pub fn workspace_name(&self) -> String {
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().clone());
        folder.file_name().map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Seconds of real time since the room was opened.
    pub fn now_secs(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Runs the ticks that are due, within the time budget of a frame.
    pub fn live(&mut self) {
        self.report_log_problems();
        let now_secs = self.now_secs();
        let Some(room) = &mut self.room else { return };
        let world = room.app.world_mut();
        let began = Instant::now();
        let was_quiet = !self.is_active;
        while began.elapsed() < MAX_TICKS && room.driver.try_step(world) == Step::Ticked {
            if was_quiet && has_activity(world) {
                // After a pause between frames, an agent that starts to walk must not appear halfway.
                room.driver.reset_pacing();
                break;
            }
        }
        let events = world.resource_mut::<EventTap>().take();
        let shown = world.resource_mut::<EventTap>().take_reactions();
        let results = world.resource_mut::<UserCommandResults>().take();
        for (key, answer) in results {
            self.reversed.extend(self.history.note_answer(&key, &answer));
            self.recent.record_file_outcomes([(key, answer.map(|_| ()))]);
        }
        self.recent.record_reactions(shown, now_secs);
        self.is_active = !events.is_empty();
        self.recent.apply_events(events, &RoomNames(world).narrator(), now_secs);
        self.is_active |= self.recent.fade(now_secs);
    }

    /// Whether everything that happened is in the log on disk.
    pub(super) fn is_log_written(&self) -> bool {
        let store = self.room.as_ref().and_then(|room| room.app.world().get_resource::<Store>());
        store.is_none_or(Store::has_written_all)
    }

    /// Reports problems with writing the log. That recording is impossible is only reported while it lasts.
    fn report_log_problems(&mut self) {
        let store = self.room.as_ref().and_then(|room| room.app.world().get_resource::<Store>());
        let Some((problems, trouble)) = store.map(|store| (store.take_problems(), store.write_error())) else { return };
        let is_reported = |problem: &Problem| trouble.as_ref().is_some_and(|trouble| trouble.what == problem.what);
        for problem in problems.into_iter().filter(|problem| !is_reported(problem)) {
            if !self.notices.contains(&problem) {
                self.notices.push(problem);
            }
        }
        if trouble != self.trouble {
            let over = std::mem::replace(&mut self.trouble, trouble);
            self.notices.retain(|notice| Some(notice) != over.as_ref());
            self.notices.extend(self.trouble.clone());
        }
    }

    /// Runs this many ticks at once, waiting for pending results. Their events are dated as if they had run at normal
    /// speed.
    pub fn run_ticks(&mut self, ticks: u64) {
        let now_secs = self.now_secs();
        let Some(room) = &mut self.room else { return };
        let world = room.app.world_mut();
        let speed = std::mem::replace(&mut world.resource_mut::<SimClock>().speed, Speed::Max);
        for left in (0..ticks).rev() {
            while room.driver.step(world) != Step::Ticked {}
            let mut tap = world.resource_mut::<EventTap>();
            let (events, shown) = (tap.take(), tap.take_reactions());
            let names = RoomNames(world);
            let then_secs = now_secs - left as f64 / TICKS_PER_SEC as f64;
            self.recent.apply_events(events, &names.narrator(), then_secs);
            self.recent.record_reactions(shown, then_secs);
        }
        world.resource_mut::<SimClock>().speed = speed;
        self.recent.fade(now_secs);
    }

    /// The current snapshot of the room.
    pub fn model(&mut self, wanted: &DetailRequest) -> RoomModel {
        let workspace = self.workspace_name();
        let Some(room) = &mut self.room else { return RoomModel { workspace, ..RoomModel::default() } };
        let share = room.driver.share();
        let wanted = DetailRequest { share, ..*wanted };
        let mut model = self.reader.read(room.app.world_mut(), &wanted);
        model.workspace = workspace;
        model.notices.clone_from(&self.notices);
        self.is_active |= !model.paused && model.agents.iter().any(|agent| agent.walks || agent.thinking);
        model
    }

    /// Takes back the snapshot of the last frame, so that its allocations are reused.
    pub fn reuse(&mut self, model: RoomModel) {
        self.reader.reuse(model.agents);
    }
}

/// Agents that were being dragged when the room was last closed are put back on the floor.
fn put_down_everyone(world: &mut World) {
    let mut agents = world.query::<(&crate::agent::Agent, &AgentState)>();
    let held = agents.iter(world).filter(|(_, state)| state.0.state() == State::Dragged);
    let held: Vec<AgentCommand> = held.map(|(agent, _)| AgentCommand::PutDown { agent: agent.id.clone() }).collect();
    let mut queue = world.resource_mut::<InputQueue<AgentCommand>>();
    held.into_iter().for_each(|command| queue.push(command));
}

impl Drop for OpenRoom {
    fn drop(&mut self) {
        // After a panic the world may be inconsistent; the last tick is on disk.
        if !std::thread::panicking() {
            self.close("the window ended");
        }
    }
}

/// Whether an event happened or an agent is walking, after a quiet period.
fn has_activity(world: &mut World) -> bool {
    world.resource::<EventTap>().has_events() || world.query::<&Walk>().iter(world).any(|walk| walk.course.moves())
}
