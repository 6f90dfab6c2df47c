//! Does what a person asked for in the window: the only place where commands change anything.

use std::path::Path;

use bevy::ecs::prelude::*;

use super::editing;
use super::open_room::OpenRoom;
use crate::base::{Problem, Severity};
use crate::schedule::{Door, Input, SimClock};
use crate::ui::command::RoomAct;
use crate::ui::dialogs::LONGEST_STEM_BYTES;
use crate::ui::state::Place;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::workspace::starter;

/// What is to happen after a command.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// The window is to be closed.
    Quit,
    /// This place is to be opened by the program that the person's system has for it.
    Open(String),
    /// This is to be done by whoever steers beside the room.
    Steer(Box<Command>),
}

/// Does one command. What cannot be done becomes a notice.
pub fn perform(room: &mut OpenRoom, model: &RoomModel, state: &mut UiState, command: Command) -> Outcome {
    match command {
        Command::Act(act, back) => act_all(room, vec![(act, back)]),
        Command::Acts(acts) => act_all(room, acts),
        Command::Delete(things) => {
            let acts = room.world().map(|world| editing::removals(world, model, &things)).unwrap_or_default();
            state.selected.retain(|thing| !things.contains(thing));
            act_all(room, acts);
        }
        Command::Duplicate(things) => {
            let acts = room.world().map(|world| editing::copies(world, model, &things, None)).unwrap_or_default();
            act_all(room, acts);
        }
        Command::Copy(things) => state.copied = things,
        Command::Paste(position) => {
            let things = state.copied.clone();
            let at = Some(position);
            let acts = room.world().map(|world| editing::copies(world, model, &things, at)).unwrap_or_default();
            act_all(room, acts);
        }
        Command::Undo => {
            let acts = room.history.undo();
            push_all(room, acts);
        }
        Command::Redo => {
            let acts = room.history.redo();
            push_all(room, acts);
        }
        Command::SetPaused(paused) => with_clock(room, |clock| clock.paused = paused),
        Command::SetSpeed(speed) => with_clock(room, |clock| {
            clock.speed = speed;
            clock.paused = false;
        }),
        Command::OpenScene(scene) => open_scene(room, state, scene),
        Command::NewScene(name) => new_scene(room, state, &name, None),
        Command::SaveSceneAs(name) => {
            let text = room.world().and_then(|world| editing::scene_text(world));
            new_scene(room, state, &name, text);
        }
        Command::ResetScene => {
            if reopen(room, state, None, true) {
                state.tell("The scene begins again, as its file has it.", true);
            }
        }
        Command::Import { paths, position } => {
            let (acts, problems) = editing::import(room.folder(), model, &paths, position);
            room.notices.extend(problems);
            act_all(room, acts);
        }
        Command::OpenFile(path) => {
            let file = room.folder().join(path);
            return Outcome::Open(format!("file://{}", file.display()));
        }
        Command::SetProvider(_)
        | Command::TestProvider(_)
        | Command::StopTrial
        | Command::EndStandIn
        | Command::SetSettings(_)
        | Command::Screenshot(_) => return Outcome::Steer(Box::new(command)),
        Command::Quit => return Outcome::Quit,
    }
    Outcome::Done
}

fn act_all(room: &mut OpenRoom, acts: Vec<(RoomAct, Option<RoomAct>)>) {
    let undoable = acts.iter().filter_map(|(act, back)| Some((act.clone(), back.clone()?))).collect();
    room.history.note(undoable);
    push_all(room, acts.into_iter().map(|(act, _)| act).collect());
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

/// Whether it worked; why not is among the notices otherwise.
fn reopen(room: &mut OpenRoom, state: &mut UiState, scene: Option<String>, fresh: bool) -> bool {
    let before = room.notices.len();
    room.reopen(scene, fresh);
    state.forget_room();
    room.notices.iter().skip(before).all(|notice| notice.severity != Severity::Error)
}

fn open_scene(room: &mut OpenRoom, state: &mut UiState, scene: String) {
    let text = format!("The scene {scene} is open.");
    if reopen(room, state, Some(scene), false) {
        state.tell(text, true);
    }
}

/// Writes a scene of this name beside the others and opens it; one that is there is opened as it is.
fn new_scene(room: &mut OpenRoom, state: &mut UiState, name: &str, text: Option<String>) {
    let stem = crate::base::text::slug(name);
    if stem.is_empty() || stem.len() > LONGEST_STEM_BYTES {
        let what = if stem.is_empty() { "a scene needs a name" } else { "the name is too long for a file" };
        room.notices.push(Problem::warning("scene", what, "give it a short one with letters or digits"));
        return;
    }
    let file = room.folder().join("scenes").join(format!("{stem}.yaml"));
    if file.exists() {
        room.notices.push(Problem::warning(
            format!("scenes/{stem}.yaml"),
            "there is a scene of that name",
            "choose another name; the scene that is there stays as it is",
        ));
        return;
    }
    let done = if text.is_some() { "saved" } else { "made" };
    let text = text.unwrap_or_else(|| starter::empty_scene(name));
    match write(&file, &text) {
        Ok(()) => {
            let place = format!("scenes/{stem}.yaml");
            if reopen(room, state, Some(stem), false) {
                state.tell_of(format!("{place} was {done} and is open."), true, Some(Place::File(place, None)));
            }
        }
        Err(error) => room.notices.push(Problem::error(
            format!("scenes/{stem}.yaml"),
            format!("it cannot be written: {error}"),
            "see that the folder may be written to",
        )),
    }
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}
