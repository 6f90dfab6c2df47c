//! Handles results of file jobs: adds agents of dropped files to the room, opens a new scene, and reports the rest.

use bevy::math::Vec2;

use super::file_jobs::{FileJob, FileJobDone};
use super::open_room::OpenRoom;
use super::room_commands::{act_all, open_soon, repeat_acts};
use crate::agent::agent_file::longer_ids_of_path;
use crate::agent::formats::format_of;
use crate::agent::spawn_position::{self, tenths};
use crate::agent::{AgentCommand, AgentSettings, Profiles, TopmostElement};
use crate::app::importing::{Imported, ImportedFile, Kind};
use crate::base::{Id, Problem, text};
use crate::ui::UiState;
use crate::ui::commands::undo::Step;
use crate::ui::commands::{RoomAct, create};
use crate::ui::shell::dialogs::LONGEST_STEM_BYTES;
use crate::ui::state::{Dialog, DropPlace, NoticeTarget};
use crate::workspace::starter;

/// The maximum number of agents that one drop adds to the room.
const MAX_AGENTS: usize = 200;
/// Maximum number of files left alone by an undo that are named; the rest is counted.
const MAX_NAMED: usize = 3;

/// Queues a file job, or reports why that is not possible now.
pub(super) fn order(room: &mut OpenRoom, job: FileJob) {
    if let Err(refusal) = room.file_jobs.order(job) {
        room.notices.push(refusal);
    }
}

/// Writes a new scene with this name; it is opened once it is saved.
pub(super) fn new_scene(room: &mut OpenRoom, name: &str, text: Option<String>) {
    let stem = text::slug(name);
    if stem.is_empty() || stem.len() > LONGEST_STEM_BYTES {
        let what = if stem.is_empty() { "a scene needs a name" } else { "the name is too long for a file" };
        room.notices.push(Problem::warning("scene", what, "give it a short one with letters or digits"));
        return;
    }
    let text = text.unwrap_or_else(|| starter::empty_scene(name));
    order(room, FileJob::WriteScene { stem, text });
}

/// Applies the result of a file job.
pub(super) fn apply_result(room: &mut OpenRoom, state: &mut UiState, finished: FileJobDone) {
    match finished {
        FileJobDone::Failed(problem) => room.notices.push(problem),
        FileJobDone::Cancelled { label } => state.notify(format!("{label} was cancelled"), true),
        FileJobDone::SceneWritten { stem } => {
            let path = format!("scenes/{stem}.yaml");
            state.notify_at(
                format!("The scene was saved to {path}"),
                true,
                Some(NoticeTarget::File(path.clone(), None)),
            );
            open_soon(room, state, Some(stem), false);
        }
        FileJobDone::ImportFound(question) => state.front.ask(Dialog::Import(question)),
        FileJobDone::LookedBack(question) if question.points.is_empty() => {
            state.notify("This agent has not changed any files yet", true);
        }
        FileJobDone::LookedBack(question) => state.front.ask(Dialog::UndoWork(Box::new(question))),
        FileJobDone::WorkUndone { undone, kept, is_new } => {
            let count = undone.files.len().saturating_sub(kept.len());
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let words =
                if undone.is_taken_back { "to the agent's version" } else { "to the version before the agent's work" };
            state.notify(format!("{files} restored {words}"), true);
            for why in kept.iter().take(MAX_NAMED) {
                state.notify(why.clone(), false);
            }
            if is_new {
                room.history.note(Step { undone: Some(undone.number), ..Step::of("Undo an agent's work") });
            }
        }
        FileJobDone::Imported(imported) => {
            room.history.note(Step { files: imported.made(), ..Step::of("Import files") });
            report_not_reached(state, &imported);
            match imported.paths().as_slice() {
                [] => {}
                [path] => {
                    let place = NoticeTarget::File((*path).to_owned(), None);
                    state.notify_at(format!("{path} was imported"), true, Some(place));
                }
                paths => state.notify(format!("{} files were imported", paths.len()), true),
            }
            room.notices.extend(imported.problems);
        }
        FileJobDone::ImportUndone { count, kept } => {
            report_reversal(state, "was removed", "were removed", count, &kept)
        }
        FileJobDone::RedoImport { count, kept, acts } => {
            report_reversal(state, "was restored", "were restored", count, &kept);
            repeat_acts(room, state, acts);
        }
        FileJobDone::Exported { file, what, left_out } => {
            let shown = file.strip_prefix(room.folder()).unwrap_or(&file).display().to_string();
            state.notify(format!("{what}: exported to {shown}"), true);
            if !left_out.is_empty() {
                let what = format!("Left out: {}", left_out.join("; "));
                state.notify(what, false);
            }
        }
        FileJobDone::DropImported { imported, place } => add_imported_agents(room, state, imported, place),
    }
}

/// Reports how many files a cancelled import left out.
fn report_not_reached(state: &mut UiState, imported: &Imported) {
    match imported.not_reached {
        0 => {}
        1 => state.notify("The import was cancelled: 1 file was not imported", false),
        files => state.notify(format!("The import was cancelled: {files} files were not imported"), false),
    }
}

/// Reports the result of undoing or redoing an import.
fn report_reversal(state: &mut UiState, one: &str, many: &str, count: usize, kept: &[String]) {
    match count - kept.len() {
        0 => {}
        1 => state.notify(format!("1 imported file {one}"), true),
        files => state.notify(format!("{files} imported files {many}"), true),
    }
    for why in kept.iter().take(MAX_NAMED) {
        state.notify(why.clone(), false);
    }
    if kept.len() > MAX_NAMED {
        state.notify(format!("{} more files were not changed", kept.len() - MAX_NAMED), false);
    }
}

/// Adds an agent for each imported agent file. A single imported scene is opened.
fn add_imported_agents(room: &mut OpenRoom, state: &mut UiState, imported: Imported, place: DropPlace) {
    let made = imported.made();
    report_not_reached(state, &imported);
    let Imported { files, mut problems, .. } = imported;
    let (agents, scenes): (Vec<_>, Vec<_>) =
        files.into_iter().filter(|file| matches!(file.kind, Kind::Agent | Kind::Scene)).partition(is_agent);
    if agents.len() > MAX_AGENTS {
        let what = format!("{} agents were imported; the first {MAX_AGENTS} are added to the room", agents.len());
        problems.push(Problem::warning("agents", what, "drag the others from the shelf"));
    }
    let (first, is_lifted) = spawn_place(room, place);
    let mut acts = Vec::new();
    for file in agents.iter().take(MAX_AGENTS) {
        match profile_of(room, file) {
            Ok(profile) => {
                let index = acts.len();
                // Upward, so that no agent of a large group is among the elements.
                let beside = Vec2::new((index % 6) as f32 * 70.0, (index / 6) as f32 * 80.0);
                let position = tenths(first + beside);
                let add = AgentCommand::Add { id: None, profile, position, behaviour: None, exactly: true };
                acts.push((RoomAct::Agent(add), None));
            }
            Err(problem) => problems.push(problem),
        }
    }
    room.notices.extend(problems);
    let alone = acts.is_empty() && scenes.len() == 1;
    if is_lifted && !acts.is_empty() {
        state.notify(create::LIFTED, true);
    }
    act_all(room, state, acts, Step { files: made, ..Step::of("Add imported agents") });
    for scene in scenes {
        let stem = scene.path.trim_start_matches("scenes/").trim_end_matches(".yaml").to_owned();
        if alone {
            open_soon(room, state, Some(stem), false);
        } else {
            state.notify(format!("The scene {stem} was added; open it from the list of scenes"), true);
        }
    }
}

/// The position of the agents of dropped files, and whether it differs from the drop position.
pub(super) fn spawn_place(room: &mut OpenRoom, DropPlace { position, exactly }: DropPlace) -> (Vec2, bool) {
    let Some(world) = room.world().filter(|_| !exactly) else { return (position, false) };
    let margin = world.resource::<AgentSettings>().spawn_margin();
    let place = spawn_position::spawn_place(position, world.resource::<TopmostElement>().0, margin);
    (place, place != position)
}

fn is_agent(file: &ImportedFile) -> bool {
    file.kind == Kind::Agent
}

/// The id of the profile that a file defines, or why it defines none.
fn profile_of(room: &mut OpenRoom, file: &ImportedFile) -> Result<Id, Problem> {
    let refused = |what: String| Problem::warning(&*file.path, what, "give it another id in its front matter");
    let format = format_of(&file.path).ok_or_else(|| refused("it is not an agent file".to_owned()))?;
    let read = (format.read)(&file.path, file.text.as_deref().unwrap_or_default());
    // A file in a folder may need a longer id; the longest one is always unambiguous.
    if let Some(longest) = longer_ids_of_path(&file.path).pop().filter(|_| !read.has_explicit_id) {
        return Ok(longest.into());
    }
    let id = read.profile.id;
    let defined = room.world().and_then(|world| {
        let profiles = world.resource::<Profiles>();
        profiles.path(&id).filter(|path| profiles.is_defined(&id) && *path != file.path).map(str::to_owned)
    });
    defined.map_or(Ok(id.clone()), |other| Err(refused(format!("{other} already defines an agent with the id {id}"))))
}
