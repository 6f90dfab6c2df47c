//! Does what a person asked for in the window: the only place where commands change anything.

use std::path::PathBuf;

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::dropped::{Dropped, TakenFile};
use super::file_jobs::{FileJob, FileJobDone};
use super::inverse_commands::{self, PendingRoom};
use super::open_room::{OpenRoom, Opening};
use crate::agent::formats::{format_of, longer_ids_of_path};
use crate::agent::{AgentCommand, Profiles};
use crate::base::{Id, Problem, Severity, text};
use crate::log::EventLog;
use crate::schedule::{Door, Input, SimClock};
use crate::ui::command::RoomAct;
use crate::ui::dialogs::LONGEST_STEM_BYTES;
use crate::ui::dock::Tab;
use crate::ui::notices::sentence;
use crate::ui::state::{Dialog, ImportQuestion, Place};
use crate::ui::undo::Step;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::workspace::layout::is_workspace;
use crate::workspace::vfs::{FileCommand, FileOperation};
use crate::workspace::{order_saves, starter};

/// A scene that is about to be opened is shown to be so in this many frames: drawn, and on the screen.
const FRAMES_BEFORE_OPENING: u32 = 2;

/// What is to happen after a command.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// The window is to be closed.
    Quit,
    /// This place is to be opened by the program that the person's system has for it.
    Open(String),
    /// This is for the window's services.
    Service(Box<Command>),
}

/// Does one command. What cannot be done becomes a notice.
pub fn perform(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, command: Command) -> Outcome {
    match command {
        Command::Act(act, back) => act_all(room, state, vec![(act, back)], Vec::new()),
        Command::Acts(acts) => act_all(room, state, acts, Vec::new()),
        Command::Nudge(elements, by) => {
            act_all(room, state, inverse_commands::nudges(model, &elements, by), elements);
        }
        Command::Delete(things) => {
            let acts = room.world().map(|world| inverse_commands::removals(world, model, &things)).unwrap_or_default();
            state.selected.retain(|thing| !things.contains(thing));
            act_all(room, state, acts, Vec::new());
        }
        Command::Duplicate(things) => {
            let acts =
                room.world().map(|world| inverse_commands::copies(world, model, &things, None)).unwrap_or_default();
            act_all(room, state, acts, Vec::new());
        }
        Command::Copy(things) => state.copied = things,
        Command::Paste(position) => {
            let things = state.copied.clone();
            let at = Some(position);
            let acts =
                room.world().map(|world| inverse_commands::copies(world, model, &things, at)).unwrap_or_default();
            act_all(room, state, acts, Vec::new());
        }
        Command::Undo => {
            let acts = room.history.undo();
            do_again(room, state, acts);
        }
        Command::Redo => {
            let acts = room.history.redo();
            do_again(room, state, acts);
        }
        Command::SetPaused(paused) => with_clock(room, |clock| clock.paused = paused),
        Command::SetSpeed(speed) => with_clock(room, |clock| {
            clock.speed = speed;
            clock.paused = false;
        }),
        Command::OpenScene(scene) => open_soon(room, state, Some(scene), false),
        Command::NewScene(name) => new_scene(room, &name, None),
        Command::SaveSceneAs(name) => {
            let text = room.world().and_then(|world| inverse_commands::scene_text(world));
            new_scene(room, &name, text);
        }
        Command::ResetScene => open_soon(room, state, None, true),
        Command::Import { paths, position } => order(room, FileJob::TakeIn { paths, position, is_seen: false }),
        Command::OpenFile(path, line) => {
            if let Some(line) = line {
                state.studio.editors.lead_to(&path, line);
            }
            show(state, &Tab::File(path));
        }
        Command::Show(tab) => show(state, &tab),
        Command::ImportFiles { paths, folder } => order(room, FileJob::Import { paths, folder, is_seen: false }),
        Command::ImportSeen(ImportQuestion { paths, folder, position, .. }) => {
            order(
                room,
                match position {
                    Some(position) => FileJob::TakeIn { paths, position, is_seen: true },
                    None => FileJob::Import { paths, folder, is_seen: true },
                },
            );
        }
        Command::ExportLog(file) => {
            let run = state.studio.shown_run.as_ref().map(|(run, _)| run.to_string());
            let run = run.or_else(|| room.world().map(|world| world.resource::<EventLog>().run().to_string()));
            let name = if model.scene.is_empty() { "room".to_owned() } else { model.scene.clone() };
            order(room, FileJob::ExportLog { run: run.unwrap_or_default(), file, name });
        }
        Command::ExportZip(file) => {
            let name = text::slug(&model.workspace);
            let name = if name.is_empty() { "workspace".to_owned() } else { name };
            room.world().into_iter().for_each(order_saves);
            order(room, FileJob::ExportZip { file, name });
        }
        Command::OpenWorkspace(folder) => open_workspace(room, state, folder),
        Command::ShowRun(run) => {
            state.studio.shown_run = None;
            if let Some(run) = run {
                room.file_cache.want_run(&run);
            }
        }
        Command::OpenOutside(path) => {
            let file = room.folder().join(path);
            return Outcome::Open(format!("file://{}", file.display()));
        }
        Command::SetProvider(_)
        | Command::TestProvider(_)
        | Command::KeepKey(..)
        | Command::StopTrial
        | Command::EndStandIn
        | Command::SetSettings(_)
        | Command::Screenshot(_) => return Outcome::Service(Box::new(command)),
        Command::Quit => {
            let nothing_open = model.work.pieces.is_empty() && state.studio.editors.unsaved().is_empty();
            // Who asks twice does not want to be asked again.
            if nothing_open || state.closes_now || state.dialog == Some(Dialog::Close) {
                return Outcome::Quit;
            }
            state.dialog = Some(Dialog::Close);
        }
    }
    Outcome::Done
}

fn show(state: &mut UiState, tab: &Tab) {
    let editors = &state.studio.editors;
    state.dock.show(tab, |path| editors.is_unsaved(path));
}

/// Opens another workspace once the screen has shown that it will.
fn open_workspace(room: &mut OpenRoom, state: &mut UiState, folder: PathBuf) {
    if !is_workspace(&folder) {
        let is_empty = std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none());
        if !is_empty {
            let what = "this folder is no workspace: it has no settings.yaml";
            let remedy = "choose a workspace, or an empty folder to begin a new one in";
            room.notices.push(Problem::warning(folder.display().to_string(), what, remedy));
            return;
        }
        if let Err(error) = starter::init(&folder) {
            let what = format!("no workspace can be made here: {error}");
            room.notices.push(Problem::error(folder.display().to_string(), what, "choose another folder"));
            return;
        }
    }
    if room.opening.is_none() {
        room.opening = Some(Opening { folder: Some(folder), scene: None, fresh: false, frames: 0 });
        state.dragging = None;
    }
}

/// Goes on with what takes more than one frame: takes in what came of file jobs, and opens the scene that was to be
/// opened. Once a frame, before anything is drawn.
pub fn continue_pending(room: &mut OpenRoom, state: &mut UiState) {
    for finished in room.file_jobs.take_finished() {
        take_in(room, state, finished);
    }
    follow_renames(room, state);
    if let Some(opening) = &mut room.opening {
        opening.frames += 1;
        if opening.frames > FRAMES_BEFORE_OPENING
            && let Some(opening) = room.opening.take()
        {
            let before = room.notices.len();
            let told = match (&opening.scene, opening.fresh) {
                _ if opening.folder.is_some() => "The workspace is open".to_owned(),
                (_, true) => "The scene begins again, as its file has it".to_owned(),
                (Some(scene), false) => format!("The scene {scene} is open"),
                (None, false) => "The scene was opened again".to_owned(),
            };
            let is_other = opening.folder.is_some();
            match opening.folder {
                Some(folder) => room.move_to(folder),
                None => room.reopen(opening.scene, opening.fresh),
            }
            state.forget_room();
            state.moved |= is_other;
            if room.notices.iter().skip(before).all(|notice| notice.severity != Severity::Error) {
                state.tell(told, true);
            }
        }
    }
    state.under_way = match &room.opening {
        Some(Opening { folder: Some(folder), .. }) => Some(format!("Opening {}", folder.display())),
        Some(Opening { scene: Some(scene), .. }) => Some(format!("Opening {scene}")),
        Some(Opening { fresh: true, .. }) => Some("Beginning the scene again".to_owned()),
        Some(_) => Some("Opening the scene again".to_owned()),
        None => room.file_jobs.shown(),
    };
    room.is_astir |= room.opening.is_some() || !room.file_jobs.is_idle();
}

/// Does acts that belong together, notes what takes them back, and says what could not be done.
fn act_all(room: &mut OpenRoom, state: &mut UiState, acts: Vec<(RoomAct, Option<RoomAct>)>, nudged: Vec<Id>) {
    let mut step = Step { nudged, ..Step::default() };
    let mut done = Vec::new();
    let Some(world) = room.world() else { return };
    let mut pending = acts.iter().any(|(act, _)| !passes_by(act)).then(|| PendingRoom::of(world));
    for (act, back) in acts {
        let resolved = match pending.as_mut().filter(|_| !passes_by(&act)) {
            Some(pending) => pending.resolve(act, back),
            None => Ok((act, back.into_iter().collect())),
        };
        match resolved {
            Ok((act, back)) => {
                if !back.is_empty() {
                    step.forth.push(act.clone());
                    step.back.splice(0..0, back);
                }
                done.push(act);
            }
            Err(why) => state.tell(sentence(&why), false),
        }
    }
    room.history.note(step);
    for act in &done {
        if let RoomAct::File(FileCommand { key, operation: FileOperation::Rename { from, to } }) = act {
            state.studio.renames.push((key.clone(), from.clone(), to.clone()));
        }
    }
    push_all(room, done);
}

/// What happens while a hand moves: it changes nothing that could be taken back, and comes with every frame.
fn passes_by(act: &RoomAct) -> bool {
    use AgentCommand::{Carry, PickUp, PutDown};
    matches!(
        act,
        RoomAct::Agent(Carry { .. } | PickUp { .. } | PutDown { .. })
            | RoomAct::Talk(_)
            | RoomAct::Task(_)
            | RoomAct::Work(_)
            | RoomAct::File(_)
    )
}

/// Does acts as they were noted; says which do not fit the room any more.
fn do_again(room: &mut OpenRoom, state: &mut UiState, acts: Vec<RoomAct>) {
    let Some(world) = room.world() else { return };
    let mut pending = PendingRoom::of(world);
    let fits = |act: &RoomAct| match pending.resolve(act.clone(), None) {
        Ok(_) => true,
        Err(why) => {
            state.tell(sentence(&format!("part of it could not be done: {why}")), false);
            false
        }
    };
    let acts: Vec<RoomAct> = acts.into_iter().filter(fits).collect();
    let acts = acts.into_iter().map(|act| match act {
        // The same name would be the same order, which is carried out once.
        RoomAct::File(command) => RoomAct::File(state.file_command(command.operation)),
        act => act,
    });
    let acts = acts.collect();
    push_all(room, acts);
}

/// A tab goes along with its file.
fn follow_renames(room: &OpenRoom, state: &mut UiState) {
    let done = |key: &Id| room.recent.order(key).cloned();
    let renames = std::mem::take(&mut state.studio.renames);
    for (key, from, to) in renames {
        match done(&key) {
            None => state.studio.renames.push((key, from, to)),
            Some(Err(_)) => {}
            Some(Ok(())) => {
                state.studio.editors.rename(&from, &to);
                state.dock.rename(&from, &to);
                if state.studio.chosen_file.as_ref() == Some(&from) {
                    state.studio.chosen_file = Some(to);
                }
            }
        }
    }
}

fn push_all(room: &mut OpenRoom, acts: Vec<RoomAct>) {
    room.is_astir = true;
    let Some(world) = room.world() else { return };
    for act in acts {
        match act {
            RoomAct::Agent(command) => push(world, command),
            RoomAct::Element(command) => push(world, command),
            RoomAct::Edit(edit) => push(world, edit),
            RoomAct::Talk(command) => push(world, command),
            RoomAct::Task(command) => push(world, command),
            RoomAct::Relate(command) => push(world, command),
            RoomAct::Work(command) => push(world, command),
            RoomAct::File(command) => push(world, command),
        }
    }
}

fn push<T: Input>(world: &mut World, input: T) {
    world.resource_mut::<Door<T>>().push(input);
}

fn with_clock(room: &mut OpenRoom, change: impl FnOnce(&mut SimClock)) {
    if let Some(world) = room.world() {
        change(&mut world.resource_mut::<SimClock>());
    }
}

/// Opens a scene once the screen has shown that it will; until then another wish changes nothing.
fn open_soon(room: &mut OpenRoom, state: &mut UiState, scene: Option<String>, fresh: bool) {
    if room.opening.is_none() {
        room.opening = Some(Opening { folder: None, scene, fresh, frames: 0 });
        state.dragging = None;
    }
}

fn order(room: &mut OpenRoom, job: FileJob) {
    if let Err(refusal) = room.file_jobs.order(job) {
        room.notices.push(refusal);
    }
}

/// Has a scene of this name written beside the others; it is opened when it is there.
fn new_scene(room: &mut OpenRoom, name: &str, text: Option<String>) {
    let stem = text::slug(name);
    if stem.is_empty() || stem.len() > LONGEST_STEM_BYTES {
        let what = if stem.is_empty() { "a scene needs a name" } else { "the name is too long for a file" };
        room.notices.push(Problem::warning("scene", what, "give it a short one with letters or digits"));
        return;
    }
    let text = text.unwrap_or_else(|| starter::empty_scene(name));
    order(room, FileJob::WriteScene { stem, text });
}

/// Takes in what came of a file job.
fn take_in(room: &mut OpenRoom, state: &mut UiState, finished: FileJobDone) {
    match finished {
        FileJobDone::Failed(problem) => room.notices.push(problem),
        FileJobDone::SceneWritten { stem } => {
            let path = format!("scenes/{stem}.yaml");
            state.tell_of(format!("The scene was written into {path}"), true, Some(Place::File(path.clone(), None)));
            open_soon(room, state, Some(stem), false);
        }
        FileJobDone::ImportFound(question) => state.dialog = Some(Dialog::Import(question)),
        FileJobDone::Imported(imported) => {
            room.notices.extend(imported.problems);
            match imported.paths.as_slice() {
                [] => {}
                [path] => {
                    state.tell_of(format!("{path} was imported"), true, Some(Place::File(path.clone(), None)));
                }
                paths => state.tell(format!("{} files were imported", paths.len()), true),
            }
        }
        FileJobDone::Exported { file, what, left_out } => {
            let shown = file.strip_prefix(room.folder()).unwrap_or(&file).display().to_string();
            state.tell(format!("{what} went to {shown}"), true);
            if !left_out.is_empty() {
                let what = format!("Left out: {}", left_out.join("; "));
                state.tell(what, false);
            }
        }
        FileJobDone::TakenIn { dropped, position } => welcome(room, state, dropped, position),
    }
}

/// Puts an agent of each file into the room. A scene that came alone is opened.
fn welcome(room: &mut OpenRoom, state: &mut UiState, dropped: Dropped, position: Vec2) {
    let Dropped { agents, scenes, mut problems } = dropped;
    let mut acts = Vec::new();
    for file in agents {
        match profile_of(room, &file) {
            Ok(profile) => {
                let index = acts.len();
                let beside = Vec2::new((index % 6) as f32 * 70.0, -((index / 6) as f32) * 80.0);
                let position = inverse_commands::tenths(position + beside);
                let add = AgentCommand::Add { id: None, profile, position, behaviour: None, exactly: false };
                acts.push((RoomAct::Agent(add), None));
            }
            Err(problem) => problems.push(problem),
        }
    }
    room.notices.extend(problems);
    let alone = acts.is_empty() && scenes.len() == 1;
    act_all(room, state, acts, Vec::new());
    for scene in scenes {
        let stem = scene.path.trim_start_matches("scenes/").trim_end_matches(".yaml").to_owned();
        if alone {
            open_soon(room, state, Some(stem), false);
        } else {
            state.tell(format!("The scene {stem} was added; open it from the list of scenes"), true);
        }
    }
}

/// The id of the profile that a file defines, unless another file defines it already.
fn profile_of(room: &mut OpenRoom, file: &TakenFile) -> Result<Id, Problem> {
    let refused = |what: String| Problem::warning(&*file.path, what, "give it another id in its front matter");
    let format = format_of(&file.path).ok_or_else(|| refused("it is no agent file".to_owned()))?;
    let read = (format.read)(&file.path, &file.text);
    // A file in a folder may have to go by a longer id; the longest always means it.
    if let Some(longest) = longer_ids_of_path(&file.path).pop().filter(|_| !read.has_explicit_id) {
        return Ok(longest.into());
    }
    let id = read.profile.id;
    let defined = room.world().and_then(|world| {
        let profiles = world.resource::<Profiles>();
        profiles.path(&id).filter(|path| profiles.is_defined(&id) && *path != file.path).map(str::to_owned)
    });
    defined.map_or(Ok(id.clone()), |other| Err(refused(format!("{other} defines an agent of the id {id} already"))))
}
