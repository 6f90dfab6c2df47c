//! Opens a workspace as a running room and closes it: everything on disk around one world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::app::{App, SubApp};
use bevy::ecs::prelude::*;

use super::clock_driver::Driver;
use super::opening::{OpenError, state_folder};
use super::persons_clock::local_secs;
use super::recovery;
use super::trust::{Decided, TrustChoice};
use super::unfinished_work::{Before, drop_unknown};
use crate::base::ids::ROOM;
use crate::base::{Author, Id, JobControl, Problem, Seq};
use crate::desk;
use crate::desk::session_files::is_news;
use crate::gateway::sandbox::Confinement;
use crate::gateway::unconfined::unconfined_problems;
use crate::gateway::{self, Environment, GatewayEnvironment, SandboxDetected, private_variables, trusted_workspaces};
use crate::kernel::{self, Kernel};
use crate::knowledge::file::KNOWLEDGE_FOLDER;
use crate::learning::{KnowledgeBridge, KnowledgeNotices, KnowledgeService, KnowledgeServiceOptions, count_memories};
use crate::log::events::RunEnd;
use crate::log::{EventDraft, EventLog, EventRecord};
use crate::memory::{MemoriesCounted, MemoryCounts};
use crate::orchestration;
use crate::schedule::{InputQueue, RoomOpened, RoomSeed, SimClock};
use crate::store::{self, QuarantinedDatabase, RunStart, Store, StoreError};
use crate::workspace::cleaning::complete_before_opening;
use crate::workspace::files::{FileContent, FolderContent, ReadFailure};
use crate::workspace::layout::{SCENE_OF_AGENT, agent_of_scene, is_agent_at_top, read_content};
use crate::workspace::starter::STARTER_SCENE;
use crate::workspace::vfs::records::{record_heads, records_edited_while_closed};
use crate::workspace::vfs::{
    FileBridge, FileHistory, FileLimits, FileService, FileServiceOptions, RecordChanged, finish_interrupted, hand_over,
};
use crate::workspace::{self, AnswerFolder, FileChanged, RoomStart, UnreadableFiles};

/// How long closing waits for the log before file operations are sent; the others are sent when the room is opened
/// again.
const SENT_WITHIN: Duration = Duration::from_secs(2);

/// How long closing waits for agents' modules to stop.
const MODULES_STOP_WITHIN: Duration = Duration::from_secs(2);

/// What to open, and how.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The workspace's folder.
    pub folder: PathBuf,
    /// The scene's file stem (`studio`); `None` for the starter kit's scene or the first one.
    pub scene: Option<String>,
    /// Overrides the scene's seed.
    pub seed: Option<u64>,
    /// Overrides every agent's provider.
    pub provider: Option<String>,
    /// Whether to start from the scene file, discarding the agents' positions and memories.
    pub fresh: bool,
    /// Whether to watch for a person's edits while the room runs.
    pub watch: bool,
    /// Files that the program writes for the person in the meantime. Within the workspace, they do not count as
    /// external edits.
    pub writes: Vec<PathBuf>,
    /// Whose word it is that the workspace is trusted.
    pub trust: TrustChoice,
}

impl OpenOptions {
    /// The options for a workspace that the caller made, and so trusts.
    pub fn trusted() -> Self {
        Self { trust: TrustChoice::Everything, ..Self::default() }
    }
}

/// An open workspace with its own world.
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

/// A room being moved to another thread: an `App` cannot be sent, but its parts can.
pub struct MovableRoom {
    world: SubApp,
    scene: String,
    run: Id,
    driver: Driver,
}

impl MovableRoom {
    /// Unpacks the room on its new thread.
    pub fn arrive(self) -> Room {
        let Self { world, scene, run, driver } = self;
        let mut app = App::empty();
        *app.main_mut() = world;
        Room { app, scene, run, driver }
    }
}

impl Room {
    /// Prepares the room for being moved to another thread.
    pub fn into_movable(mut self) -> MovableRoom {
        let world = std::mem::take(self.app.main_mut());
        MovableRoom { world, scene: self.scene, run: self.run, driver: self.driver }
    }

    /// Opens a workspace: its last committed state plus what a person has changed since. A damaged history is set
    /// aside; what can be read of it is copied and used.
    pub fn open(options: &OpenOptions) -> Result<(Self, Vec<Problem>), OpenError> {
        Self::open_watched(options, &JobControl::default())
    }

    /// Like [`open`](Self::open), for a caller that shows progress and can cancel it.
    pub fn open_watched(options: &OpenOptions, control: &JobControl) -> Result<(Self, Vec<Problem>), OpenError> {
        detect_sandbox();
        let dir = state_folder(&options.folder);
        let cleaned = complete_before_opening(&options.folder, &dir);
        let (room, mut problems) = Self::open_or_recover(options, &dir, control)?;
        problems.extend(cleaned);
        Ok((room, problems))
    }

    fn open_or_recover(
        options: &OpenOptions,
        dir: &Path,
        control: &JobControl,
    ) -> Result<(Self, Vec<Problem>), OpenError> {
        match Self::try_open(options, None, control) {
            Err(error) if error.is_damage() => {
                let aside = store::quarantine(dir, &error.to_string())?;
                match Self::try_open(options, Some(&aside), control) {
                    // The damage may be in the copied part.
                    Err(again) if again.is_damage() => {
                        let copy = store::quarantine_without_salvage(dir, &again.to_string())?;
                        Self::try_open(options, Some(&copy), control)
                    }
                    opened => opened,
                }
            }
            opened => opened,
        }
    }

    fn try_open(
        options: &OpenOptions,
        aside: Option<&QuarantinedDatabase>,
        control: &JobControl,
    ) -> Result<(Self, Vec<Problem>), OpenError> {
        let FolderContent { files: mut on_disk, mut unreadable, mut problems } = read_content(&options.folder);
        let scene = choose_scene((&on_disk, &unreadable), &problems, options)?;
        report_progress(control, 0.2)?;
        let surroundings = Environment::of_process();
        let decided = Decided::of(&options.trust, &surroundings, &options.folder);
        problems.extend(decided.problem.clone());
        refuse_foreign(options, &decided, &decided.newest_runs(&options.folder))?;
        let (mut store, store_problems) = Store::open_after_quarantine(&state_folder(&options.folder), aside)?;
        problems.extend(store_problems);
        // A damaged history can be read only now, and only now can no other program replace it.
        let history = decided.newest_runs(&options.folder);
        refuse_foreign(options, &decided, &history)?;
        // Files completed now are not external edits.
        let (was_cut_off, file_problems) = finish_interrupted(&options.folder, store.dir())?;
        problems.extend(file_problems);
        if was_cut_off {
            let again = read_content(&options.folder);
            (on_disk, unreadable) = (again.files, again.unreadable);
        }

        report_progress(control, 0.4)?;
        let records = record_heads(&options.folder);
        let carried = if options.fresh {
            None
        } else {
            // What could not be copied into this history was not looked at with it.
            let is_seen = history.is_ok() && store.quarantined().is_none_or(QuarantinedDatabase::is_copied);
            let is_trusted = |run: &str| is_seen || decided.known.has(run);
            let (carried, recovery_problems) =
                recovery::recover(store.dir(), store.quarantined(), &scene, &is_trusted)?;
            problems.extend(recovery_problems);
            carried
        };
        let before = match &carried {
            Some(_) => Before::Carried,
            None if options.fresh => Before::Fresh,
            None => Before::Nothing,
        };
        let (files, carried) = match carried {
            Some(saved) => (saved.files, Some(saved.sections)),
            None => (on_disk.clone(), None),
        };
        report_progress(control, 0.7)?;
        let start = RoomStart {
            scene: scene.clone(),
            files: files.clone(),
            seed: options.seed,
            provider: options.provider.clone(),
            carried,
            unreadable: Some(unreadable.clone()),
            trust: Some(decided.trust.clone()),
        };
        let run = store::new_run_id();
        let first_seq = Seq(store.last_seq_at_open().0.saturating_add(1));
        let mut app = super::begin(start.clone(), run.clone(), first_seq)?;
        // Before the run is saved: a history with a run that is not noted counts as one from elsewhere.
        if let Some(folder) = &decided.noted {
            let history = history.unwrap_or_default();
            let noted = trusted_workspaces::note_run(surroundings.config_folder(), folder, &run, &history);
            problems.extend(noted.err());
        }
        // From here on it is a run, which must be closed properly.
        report_progress(control, 0.8)?;
        let world = app.world_mut();
        store.start_run(RunStart {
            id: run.clone(),
            scene: scene.clone(),
            seed: world.resource::<RoomSeed>().0,
            first_seq,
            first_tick: world.resource::<SimClock>().tick(),
            start: serde_json::to_value(&start)?,
        })?;
        // If the start cannot be recorded, the whole room would be lost: fail now.
        store.flush()?;
        if let Some(file) = decided.file {
            world.insert_resource(file);
        }
        let history = FileHistory::open(&options.folder, store.dir())?;
        world.insert_resource(store);
        let mut surroundings = world.resource_mut::<GatewayEnvironment>();
        surroundings.0 = std::mem::take(&mut surroundings.0).in_workspace(&options.folder);
        problems.extend(unconfined_problems(&surroundings.0));
        problems.extend(private_variables::problems());
        problems.extend(Confinement::of_this_computer().problem());
        push_edits_while_closed(world, &files, (&on_disk, &unreadable), &history);
        world.resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: local_secs() });
        world.resource_mut::<InputQueue<SandboxDetected>>().push(SandboxDetected::on_this_computer());
        problems.extend(drop_unknown(world, (&options.folder, &records), &scene, before));
        let edited = records_edited_while_closed(&options.folder).into_iter();
        for edited in edited.filter(|edited| is_news(world.resource::<Kernel>(), edited)).collect::<Vec<_>>() {
            world.resource_mut::<InputQueue<RecordChanged>>().push(edited);
        }
        let (answers, look) = options.watch.then(|| AnswerFolder::open(&state_folder(&options.folder), &scene)).unzip();
        // The service immediately reports what changed since the folder was read.
        let mut files = FileService::open(FileServiceOptions {
            root: options.folder.clone(),
            dir: state_folder(&options.folder),
            limits: world.resource::<FileLimits>().clone(),
            room: Some(on_disk),
            watch: options.watch,
            answers: look,
            ignored: options.writes.iter().filter_map(|path| place_in(&options.folder, path)).collect(),
        })?;
        problems.extend(files.take_problems());
        if let Some(bridge) = open_knowledge(&options.folder, world, &files, &mut problems) {
            world.insert_resource(bridge);
        }
        world.insert_resource(FileBridge::new(files));
        if let Some(answers) = answers {
            world.insert_resource(answers);
        }
        Ok((Self { app, scene, run, driver: Driver::default() }, problems))
    }

    /// The problem that prevents recording until a person acts; `None` if recording works. The room is paused
    /// meanwhile; a caller without a person closes it.
    pub fn lost(&self) -> Option<Problem> {
        self.app.world().get_resource::<Store>().and_then(Store::lost)
    }

    /// Closes the room: when this returns, everything that happened is on disk. The last events, including the end of
    /// the run, are also passed to `last_events`. Returns what could not be saved.
    pub fn close(mut self, reason: &str, last_events: impl FnOnce(&[EventRecord])) -> Result<Vec<Problem>, StoreError> {
        let world = self.app.world_mut();
        let scene = self.scene;
        desk::modules::stop_all(world, MODULES_STOP_WITHIN);
        workspace::vfs::send_all(world, SENT_WITHIN);
        // The final status of all unfinished work, for readers while the room is closed.
        let mut sessions = kernel::sessions_at_rest(world);
        sessions.extend(orchestration::workflow::runs_at_rest(world));
        if !hand_over(world, sessions) {
            tracing::error!("some sessions could not be written while the room was closed");
        }
        // Accepted operations are completed; the room asks for their results again when it is reopened. Results that
        // are not in its file yet are reported below, once they are known.
        let is_saved = workspace::save_now(world).is_empty();
        // Its pending writes are completed before the files are closed.
        world.insert_resource(KnowledgeBridge::default());
        let files = world.remove_resource::<FileBridge>().unwrap_or_default();
        world.init_resource::<FileBridge>();
        world.resource_mut::<EventLog>().write(EventDraft::of(&RunEnd { why: reason.to_owned() }));
        last_events(world.resource::<EventLog>().unwritten());
        store::record_now(world);
        super::clock_driver::note_hash(world);
        // After the hash, because a replay of this run has no disk.
        if is_saved {
            workspace::forget_saved(world);
        }
        if world.resource::<Kernel>().is_idle() {
            gateway::end_run(world);
        }
        super::clock_driver::save_snapshot(world, &scene);
        let unsaved = files.close();
        let answers = world.remove_resource::<AnswerFolder>();
        let Some(mut store) = world.remove_resource::<Store>() else { return Ok(unsaved) };
        let ended = store.end_run(reason).and_then(|()| store.flush());
        // Records that could not be written are counted in this error.
        store.close().and(ended)?;
        // All decisions are on disk now, so the answer files are no longer needed.
        if let Some(answers) = answers {
            answers.finish();
        }
        Ok(unsaved)
    }
}

/// Refuses a saved room that would be continued although the person has not trusted it.
fn refuse_foreign(
    options: &OpenOptions,
    decided: &Decided,
    history: &Result<Vec<String>, StoreError>,
) -> Result<(), OpenError> {
    match !options.fresh && decided.is_foreign(history) {
        true => Err(OpenError::NotTrusted { folder: options.folder.display().to_string() }),
        false => Ok(()),
    }
}

/// Starts detecting the sandbox in the background while files are read, because that starts a process. The result is
/// cached; if no thread can be started, the room detects it on demand.
fn detect_sandbox() {
    // The result is cached; the room asks again.
    let look = || {
        SandboxDetected::on_this_computer();
    };
    if let Err(error) = std::thread::Builder::new().name("confinement".into()).spawn(look) {
        tracing::debug!("the sandbox will be looked for later: {error}");
    }
}

/// The knowledge of a workspace, for a room that is being opened; its size is reported with the first tick.
fn open_knowledge(
    folder: &Path,
    world: &mut World,
    files: &FileService,
    problems: &mut Vec<Problem>,
) -> Option<KnowledgeBridge> {
    let remedy = "agents remember nothing in this run; fix that and reopen the workspace";
    let counted = count_memories(folder).map_err(|error| error.to_string());
    let counted = match counted {
        Ok((counted, wrong)) => {
            problems.extend(wrong);
            counted
        }
        Err(why) => {
            problems.push(Problem::warning(KNOWLEDGE_FOLDER, why, remedy));
            return None;
        }
    };
    if *world.resource::<MemoryCounts>() != counted {
        world.resource_mut::<InputQueue<MemoriesCounted>>().push(MemoriesCounted(counted.clone()));
    }
    let (workspace, state_folder) = (folder.to_owned(), state_folder(folder));
    let (files, notices) = (files.handle()?, KnowledgeNotices::of(world));
    let options = KnowledgeServiceOptions { workspace, state_folder, files, counted, notices };
    match KnowledgeService::start(options) {
        Ok(service) => Some(KnowledgeBridge::new(service)),
        Err(error) => {
            problems.push(Problem::warning(KNOWLEDGE_FOLDER, error.to_string(), remedy));
            None
        }
    }
}

/// Reports the progress of opening a room. Fails if it was cancelled.
fn report_progress(control: &JobControl, share: f32) -> Result<(), OpenError> {
    control.set_progress(share);
    if control.is_cancelled() { Err(OpenError::Cancelled) } else { Ok(()) }
}

/// The scene to open: the requested one, the starter kit's, or the first one; without any, a scene for a single agent.
fn choose_scene(
    (files, unreadable): (&BTreeMap<String, String>, &UnreadableFiles),
    problems: &[Problem],
    options: &OpenOptions,
) -> Result<String, OpenError> {
    let stem = |path: &str| {
        let file = path.strip_prefix("scenes/")?;
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).map(str::to_owned)
    };
    let scenes: Vec<(&String, String)> = files.keys().filter_map(|path| Some((path, stem(path)?))).collect();
    // An agent file that a person named is opened without a scene.
    if let Some(named) = options.scene.as_deref().filter(|scene| agent_of_scene(scene).is_some_and(is_agent_at_top)) {
        return Ok(named.to_owned());
    }
    // Another scene may permit what the settings of an unreadable one forbid.
    let wanted = match &options.scene {
        None if unreadable.failure(STARTER_SCENE).is_some() => Some(STARTER_SCENE.to_owned()),
        wanted => wanted.clone(),
    };
    let found = match &wanted {
        Some(wanted) => scenes.iter().find(|(path, stem)| stem == wanted || *path == wanted),
        None => scenes.iter().find(|(path, _)| *path == STARTER_SCENE).or_else(|| scenes.first()),
    };
    // So is a folder that is itself an agent.
    let is_alone = wanted.is_none() && files.keys().any(|path| is_agent_at_top(path));
    if found.is_none() && is_alone {
        return Ok(SCENE_OF_AGENT.to_owned());
    }
    // An existing scene that cannot be used is an error with its reason.
    let why = |wanted: &str| {
        problems.iter().find(|problem| stem(&problem.place).as_deref() == Some(wanted) || problem.place == wanted)
    };
    let why = wanted.as_deref().and_then(why).map(|problem| format!(": {problem}")).unwrap_or_default();
    found.map(|(path, _)| (*path).clone()).ok_or_else(|| OpenError::NoSuchScene {
        wanted: wanted.unwrap_or_default(),
        why,
        folder: options.folder.display().to_string(),
        there: match scenes.is_empty() {
            true => "none (the folder scenes/ has no scene file)".to_owned(),
            false => scenes.into_iter().map(|(_, stem)| stem).collect::<Vec<_>>().join(", "),
        },
    })
}

/// Queues changes that were made to files while the room was closed as if they happened now: an agent's change whose
/// result the room did not receive as the agent's, everything else as a person's.
fn push_edits_while_closed(
    world: &mut World,
    known: &BTreeMap<String, String>,
    (on_disk, unreadable): (&BTreeMap<String, String>, &UnreadableFiles),
    history: &FileHistory,
) {
    let mut queue = world.resource_mut::<InputQueue<FileChanged>>();
    for (path, text) in on_disk {
        if known.get(path) != Some(text) {
            let by = history.writer(path, text).unwrap_or_else(|error| {
                tracing::warn!("the author of {path} is unknown, so it is treated as a person's: {error}");
                None
            });
            let change = FileChanged::new(path.clone(), FileContent::Text(text.clone()));
            let is_ordered = by.as_ref().is_some_and(Author::is_user);
            let is_rooms = by.as_ref().is_some_and(|by| *by.0 == *ROOM);
            // What the room saved may contain a person's changes in the window, so it is applied like a person's.
            let by = by.filter(|_| !is_rooms).unwrap_or_else(Author::user);
            queue.push(FileChanged { by, is_ordered, is_rooms, ..change });
        }
    }
    for path in known.keys().filter(|path| !on_disk.contains_key(*path)) {
        // The last text of a file that cannot be read stays in use.
        let content = unreadable.failure(path).cloned().map_or(FileContent::Removed, ReadFailure::into_content);
        queue.push(FileChanged::new(path.clone(), content));
    }
}

/// The path relative to the workspace, if it is inside; the file need not exist.
fn place_in(workspace: &Path, path: &Path) -> Option<String> {
    let full = std::path::absolute(path).ok()?;
    let full = full.parent()?.canonicalize().ok()?.join(full.file_name()?);
    let parts: Option<Vec<&str>> =
        full.strip_prefix(workspace.canonicalize().ok()?).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}
