//! Executes commands of the window: the only place where commands change anything.

use std::path::PathBuf;

use super::file_jobs::FileJob;
use super::file_results::{self, new_scene, order};
use super::inverse_commands;
use super::open_room::{OpenRoom, Opening};
use super::reversal;
use super::room_commands::{act_all, open_soon};
use super::workspace_opening::{OpenProgress, OpeningWorkspace};
use crate::base::{Problem, Severity, text};
use crate::log::EventLog;
use crate::schedule::SimClock;
use crate::ui::commands::undo::Step;
use crate::ui::commands::{EditorCommand, PaneCommand, RoomAct, act_labels};
use crate::ui::panes::event_log::EventLogPane;
use crate::ui::shell::Shell;
use crate::ui::shell::dialogs::working_among;
use crate::ui::shell::parts::WindowParts;
use crate::ui::shell::window_commands::follow_rename;
use crate::ui::state::dock::Tab;
use crate::ui::state::{Dialog, DropPlace, ImportQuestion, tab};
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::workspace::{order_saves, yaml};

/// Number of frames that show that a scene is being opened before it is opened: one is drawn, one presented.
const FRAMES_BEFORE_OPENING: u32 = 2;

/// What the caller must do after a command.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// Close the window.
    Quit,
    /// Close the window as soon as all files are saved.
    QuitWhenSaved,
    /// Set whether the window closes as soon as no work is running.
    QuitWhenDone(bool),
    /// Open this path or address with the system's default program.
    Open(String),
    /// Pass the command to the window's services.
    Service(Box<Command>),
}

/// Executes one command. Failures become notices.
pub fn handle_command(
    room: &mut OpenRoom,
    model: &RoomModel,
    state: &mut UiState,
    shell: &mut Shell,
    command: Command,
) -> Outcome {
    let parts = &mut shell.parts;
    match command {
        Command::Window(command) => {
            // `apply` returns commands for the room; window commands among them are ignored.
            for command in shell.apply(command, model, state) {
                if !matches!(command, Command::Window(_)) {
                    handle_command(room, model, state, shell, command);
                }
            }
        }
        Command::Act(act, back) => act_as_step(room, model, state, vec![(act, back)]),
        Command::Acts(acts) => act_as_step(room, model, state, acts),
        Command::Nudge(elements, by) => {
            let acts = inverse_commands::nudges(model, &elements, by);
            let label = act_labels::label(acts.iter().map(|(act, _)| act), model);
            act_all(room, state, acts, Step { nudged: elements, ..Step::of(label) });
        }
        Command::Delete(things) if !working_among(model, &things).is_empty() => {
            state.front.ask(Dialog::DeleteWorking(things));
        }
        Command::Delete(things) | Command::DeleteSurely(things) => {
            let acts = room.world().map(|world| inverse_commands::removals(world, model, &things)).unwrap_or_default();
            state.selection.remove(&things);
            act_as_step(room, model, state, acts);
        }
        Command::Duplicate(things) => {
            let acts =
                room.world().map(|world| inverse_commands::copies(world, model, &things, None)).unwrap_or_default();
            act_as_step(room, model, state, acts);
        }
        Command::Copy(things) => state.transfer.copied = things,
        Command::Paste(position) => {
            let things = state.transfer.copied.clone();
            let at = Some(position);
            let acts =
                room.world().map(|world| inverse_commands::copies(world, model, &things, at)).unwrap_or_default();
            act_as_step(room, model, state, acts);
        }
        Command::Undo => reversal::undo(room, state),
        Command::Redo => reversal::redo(room, state),
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
        Command::Import { paths, place } => order(room, FileJob::ImportDropped { paths, place, is_seen: false }),
        Command::AddCodingAgent { name, model, place } => {
            let text = coding_agent_file(&name, &model);
            // It was not dropped, so its position need not be reported.
            let (position, _) = file_results::spawn_place(room, place);
            let place = DropPlace { position, exactly: true };
            order(room, FileJob::CreateAgent { name, text, place });
        }
        Command::OpenFile(path, line) => {
            if let Some(line) = line {
                parts.apply(&PaneCommand::new(tab::FILE, EditorCommand::GoToLine(path.clone(), line)), model, state);
            }
            show(state, parts, &Tab::file(path));
        }
        Command::Show(tab) => show(state, parts, &tab),
        Command::ImportFiles { paths, folder } => order(room, FileJob::Import { paths, folder, is_seen: false }),
        Command::LookBack { agent, since_ms } => order(room, FileJob::LookBack { agent, since_ms }),
        Command::UndoWork(plan) => order(room, FileJob::UndoWork { plan }),
        Command::ImportSeen(ImportQuestion { paths, folder, place, .. }) => {
            order(
                room,
                match place {
                    Some(place) => FileJob::ImportDropped { paths, place, is_seen: true },
                    None => FileJob::Import { paths, folder, is_seen: true },
                },
            );
        }
        Command::ExportLog(file) => {
            let log = parts.panes.get::<EventLogPane>();
            let run = log.and_then(|log| log.shown_log.as_ref()).map(|(run, _)| run.to_string());
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
        Command::OpenWorkspace(folder) => return open_workspace(room, state, folder),
        Command::ShowRun(run) => {
            parts.panes.get_mut::<EventLogPane>().into_iter().for_each(|log| log.shown_log = None);
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
        | Command::EndProviderOverride
        | Command::ShowTrust(_)
        | Command::TrustWorkspace(_)
        | Command::RevokeTrust(_)
        | Command::SetSettings(_)
        | Command::TestServer(_)
        | Command::AllowServer(_)
        | Command::ForbidServer(_)
        | Command::Screenshot(_)
        | Command::Run(_) => return Outcome::Service(Box::new(command)),
        Command::Quit => {
            let nothing_open = model.work.pieces.is_empty() && parts.unsaved().is_empty();
            // Requesting it again while the dialog is open confirms it.
            if nothing_open || state.front.dialog() == Some(&Dialog::Close) {
                return Outcome::Quit;
            }
            state.front.ask(Dialog::Close);
        }
        Command::QuitNow => return Outcome::Quit,
        Command::QuitWhenSaved => return Outcome::QuitWhenSaved,
        Command::QuitWhenDone(is_so) => return Outcome::QuitWhenDone(is_so),
    }
    Outcome::Done
}

/// Performs actions that are undone as one.
fn act_as_step(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, acts: Vec<(RoomAct, Option<RoomAct>)>) {
    let step = Step::of(act_labels::label(acts.iter().map(|(act, _)| act), model));
    act_all(room, state, acts, step);
}

/// The agent file for an agent that is answered by a coding agent of the person.
fn coding_agent_file(name: &str, model: &str) -> String {
    let (name, model) = (yaml::scalar(name), yaml::scalar(model));
    format!(
        "---\nname: {name}\ndescription: A coding agent that runs outside the workshop.\nmodel: {model}\n---\n\
         You work in the folder of this workspace, together with the others in the room.\n"
    )
}

fn show(state: &mut UiState, parts: &WindowParts, tab: &Tab) {
    state.dock.show(tab, |path| parts.panes.is_unsaved(path));
}

/// Starts opening another workspace in the background; cancels an earlier request.
pub(super) fn open_workspace(room: &mut OpenRoom, state: &mut UiState, folder: PathBuf) -> Outcome {
    let (job, opening) = OpeningWorkspace::begin(room.options_for(folder), room.folder());
    room.opening_workspace.replace(opening).iter().for_each(OpeningWorkspace::cancel);
    state.transfer.dragging = None;
    Outcome::Service(Box::new(Command::Run(job)))
}

/// Switches to the requested workspace once it is open. Returns whether it did.
fn switch_to_opened_workspace(room: &mut OpenRoom, state: &mut UiState, parts: &mut WindowParts) -> bool {
    let opened = match room.opening_workspace.as_ref().map(OpeningWorkspace::progress) {
        None | Some(OpenProgress::Pending) => return false,
        Some(OpenProgress::Ended) => {
            room.opening_workspace = None;
            return false;
        }
        Some(OpenProgress::NotTrusted(folder)) => {
            room.opening_workspace = None;
            state.trust.refused = Some(folder);
            return false;
        }
        Some(OpenProgress::Ready(opened)) => opened,
    };
    room.opening_workspace = None;
    if let Err(error) = room.move_to(*opened) {
        room.notices.push(Problem::error("workspace", error.to_string(), error.remedy()));
        return false;
    }
    state.forget_room();
    parts.forget_room();
    state.notify("The workspace is open", true);
    true
}

/// Continues operations that take more than one frame: applies the results of file jobs, and opens a requested scene.
/// Called once a frame, before drawing. Returns whether another workspace was opened, whose window state must still be
/// restored.
pub fn continue_pending(room: &mut OpenRoom, state: &mut UiState, parts: &mut WindowParts) -> bool {
    for finished in room.file_jobs.take_finished() {
        file_results::apply_result(room, state, finished);
    }
    for reversed in std::mem::take(&mut room.reversed) {
        reversal::report(state, &reversed);
    }
    for done in room.renames.take_done(&room.recent) {
        follow_rename(&done.from, &done.to, state, parts);
    }
    let has_moved = switch_to_opened_workspace(room, state, parts);
    if let Some(opening) = &mut room.opening {
        opening.frames += 1;
        if opening.frames > FRAMES_BEFORE_OPENING
            && let Some(opening) = room.opening.take()
        {
            open_scene(room, state, parts, opening);
        }
    }
    room.is_active |= room.opening.is_some() || room.opening_workspace.is_some() || !room.file_jobs.is_idle();
    has_moved
}

/// Opens another scene of the workspace, or reopens the current one.
fn open_scene(room: &mut OpenRoom, state: &mut UiState, parts: &mut WindowParts, opening: Opening) {
    let before = room.notices.len();
    let label = match (&opening.scene, opening.fresh) {
        (_, true) => "The scene was restarted from its file".to_owned(),
        (Some(scene), false) => format!("The scene {scene} is open"),
        (None, false) => "The scene was reopened".to_owned(),
    };
    room.reopen(opening.scene, opening.fresh);
    state.forget_room();
    parts.forget_room();
    if room.notices.iter().skip(before).all(|notice| notice.severity != Severity::Error) {
        state.notify(label, true);
    }
}

fn with_clock(room: &mut OpenRoom, change: impl FnOnce(&mut SimClock)) {
    if let Some(world) = room.world() {
        change(&mut world.resource_mut::<SimClock>());
    }
}
