//! From what a person means to what enters the room: taking out, copying and bringing in, each with its way back.

use std::path::{Path, PathBuf};

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use crate::agent::AgentCommand;
use crate::base::{Id, Problem};
use crate::element::ElementCommand;
use crate::ui::command::RoomAct;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::workspace::{KnownFiles, RoomStart, SceneState};

/// A copy stands so far beside what it is a copy of.
const BESIDE: Vec2 = Vec2::new(90.0, -50.0);
/// One drop brings in so many files at most.
const FILES_AT_MOST: usize = 200;

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

/// Takes things out of the room; taken back, they stand where they stood and hold what they held.
pub fn removals(world: &World, model: &RoomModel, things: &[Thing]) -> Acts {
    let removal = |thing: &Thing| match thing {
        Thing::Agent(id) => {
            let agent = model.agent(id)?;
            let behaviour = agent.detail.as_ref().map(|detail| detail.behaviour);
            let back = AgentCommand::Add {
                id: Some(id.clone()),
                profile: agent.profile.clone(),
                position: agent.position,
                behaviour,
                exactly: true,
            };
            Some((RoomAct::Agent(AgentCommand::Remove { agent: id.clone() }), Some(RoomAct::Agent(back))))
        }
        Thing::Element(id) => {
            let back = ElementCommand::Add { keys: entry_keys(world, model, id)? };
            let removal = ElementCommand::Remove { element: id.clone() };
            Some((RoomAct::Element(removal), Some(RoomAct::Element(back))))
        }
    };
    things.iter().filter_map(removal).collect()
}

/// Puts a second one of each beside it, or all of them around a place.
pub fn copies(world: &World, model: &RoomModel, things: &[Thing], at: Option<Vec2>) -> Acts {
    let places: Vec<Vec2> = things.iter().filter_map(|thing| place_of(model, thing)).collect();
    let Some(first) = places.first().copied() else { return Vec::new() };
    let shift = at.map_or(BESIDE, |at| at - first);
    let mut taken: Vec<Id> = model.elements.iter().map(|element| element.id.clone()).collect();
    taken.extend(model.agents.iter().map(|agent| agent.id.clone()));
    let copy = |thing: &Thing| {
        let position = place_of(model, thing)? + shift;
        match thing {
            Thing::Agent(id) => {
                let agent = model.agent(id)?;
                let new_id = fresh_id(&agent.profile, &mut taken);
                let behaviour = agent.detail.as_ref().map(|detail| detail.behaviour);
                let profile = agent.profile.clone();
                let add = AgentCommand::Add { id: Some(new_id.clone()), profile, position, behaviour, exactly: true };
                let back = AgentCommand::Remove { agent: new_id };
                Some((RoomAct::Agent(add), Some(RoomAct::Agent(back))))
            }
            Thing::Element(id) => {
                let kind = model.element(id)?.kind.clone();
                let new_id = fresh_id(&kind, &mut taken);
                let mut keys = entry_keys(world, model, id)?;
                keys.insert("id".to_owned(), json!(new_id));
                keys.insert("position".to_owned(), json!([position.x, position.y]));
                // Two elements in one file would overwrite each other.
                keys.shift_remove("file");
                let back = ElementCommand::Remove { element: new_id };
                Some((RoomAct::Element(ElementCommand::Add { keys }), Some(RoomAct::Element(back))))
            }
        }
    };
    things.iter().filter_map(copy).collect()
}

fn place_of(model: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => model.agent(id).map(|agent| agent.position),
        Thing::Element(id) => model.element(id).map(|element| element.position),
    }
}

/// `rulebook-2`, or whatever number nobody has.
fn fresh_id(word: &str, taken: &mut Vec<Id>) -> Id {
    let fresh = (1..).map(|number| Id::from(format!("{word}-{number}"))).find(|id| !taken.contains(id));
    let id = fresh.expect("there are more numbers than things");
    taken.push(id.clone());
    id
}

/// The entry of an element as the scene has it, with where it stands now.
fn entry_keys(world: &World, model: &RoomModel, id: &str) -> Option<Map<String, Value>> {
    let element = model.element(id)?;
    let scene = world.resource::<SceneState>();
    let entry = scene.doc.elements.iter().find(|entry| &*entry.id == id);
    let mut keys = entry.map(|entry| entry.keys.clone()).unwrap_or_default();
    keys.insert("id".to_owned(), json!(id));
    keys.insert("kind".to_owned(), json!(element.kind));
    keys.insert("label".to_owned(), json!(element.label));
    keys.insert("position".to_owned(), json!([element.position.x, element.position.y]));
    let entity = world.resource::<crate::element::Elements>().entity(element.key)?;
    if element.file.is_none() {
        keys.extend(world.get::<crate::element::Held>(entity)?.0.to_scene());
    }
    Some(keys)
}

/// The text of the open scene, as its file has it.
pub fn scene_text(world: &World) -> Option<String> {
    let path = &world.get_resource::<RoomStart>()?.scene;
    world.get_resource::<KnownFiles>()?.all().get(path).cloned()
}

/// Copies agent files into the workspace, never over one that is there, and puts an agent of each into the room.
pub fn import(workspace: &Path, model: &RoomModel, paths: &[PathBuf], position: Vec2) -> (Acts, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files, &mut problems, 0);
    }
    if files.len() > FILES_AT_MOST {
        problems.push(Problem::warning(
            "files",
            format!("{} files were dropped; the first {FILES_AT_MOST} were taken", files.len()),
            "drop the others after these",
        ));
        files.truncate(FILES_AT_MOST);
    }
    let mut taken: Vec<Id> = model.agents.iter().map(|agent| agent.id.clone()).collect();
    let mut acts = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let target = workspace.join("agents").join(&name);
        let is_same = target.canonicalize().ok().zip(file.canonicalize().ok()).is_some_and(|(one, other)| one == other);
        if target.exists() && !is_same {
            problems.push(Problem::warning(
                format!("agents/{name}"),
                "an agent file of that name is there already",
                "rename the file and drop it again",
            ));
            continue;
        }
        if !is_same && let Err(error) = copy(file, &target) {
            problems.push(Problem::error(
                format!("agents/{name}"),
                format!("it could not be copied: {error}"),
                "copy the file into the folder agents yourself",
            ));
            continue;
        }
        let profile = name.split('.').next().unwrap_or_default().to_owned();
        let id = fresh_id(&profile, &mut taken);
        let column = Vec2::new((index % 6) as f32 * 70.0, -((index / 6) as f32) * 80.0);
        let add = AgentCommand::Add {
            id: Some(id.clone()),
            profile: profile.as_str().into(),
            position: position + column,
            behaviour: None,
            exactly: false,
        };
        acts.push((RoomAct::Agent(add), Some(RoomAct::Agent(AgentCommand::Remove { agent: id }))));
    }
    (acts, problems)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::copy(from, to).map(drop)
}

/// The agent files among what was dropped; folders are looked through, but not far.
fn collect(path: &Path, files: &mut Vec<PathBuf>, problems: &mut Vec<Problem>, depth: usize) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.sort();
        for entry in entries.iter().filter(|_| depth < 2) {
            collect(entry, files, problems, depth + 1);
        }
        return;
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => files.push(path.to_owned()),
        _ if depth == 0 => problems.push(Problem::warning(
            path.display().to_string(),
            "it is no agent file",
            "drop Markdown files (.md), one agent in each",
        )),
        _ => {}
    }
}
