//! Resolves a command against the current room: its actions, the ids of new things, and its inverse.
//!
//! Panels know the room as it was drawn. Inverses are computed here, from the world's state and pending inputs, so that
//! undo restores exactly the previous state.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use crate::agent::spawn_position::tenths;
use crate::agent::{AgentCommand, Roster};
use crate::base::{Author, Id, MessageKey, RunTag, unique_names};
use crate::element::{
    ActContext, Content, ElementAct, ElementChange, ElementCommand, ElementEdit, ElementSettings, Elements,
    HeldContent, TextAct,
};
use crate::orchestration::workflow::edit::{self, WorkflowEdit};
use crate::orchestration::workflow::{WorkflowCommand, Workflows};
use crate::schedule::{InputQueue, SimClock};
use crate::simulation::{FurnishCommand, Home, RelationshipCommand, relationship_commands, relationships};
use crate::ui::commands::RoomAct;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::workspace::{AgentEntry, Decor, ElementEntry, KnownFiles, Relationship, RoomStart, SceneState};

/// An action and its inverse, in order; the inverse is empty if it cannot be undone.
pub type Resolved = (RoomAct, Vec<RoomAct>);

/// The room as it will be once all pending commands are executed.
pub struct PendingRoom<'w> {
    world: &'w World,
    agents: BTreeSet<Id>,
    elements: BTreeSet<Id>,
    ties: Vec<Relationship>,
    decor: Vec<Decor>,
    contents: BTreeMap<Id, Box<dyn Content>>,
    /// Texts of changed workflow files, by path.
    workflows: BTreeMap<String, String>,
}

impl<'w> PendingRoom<'w> {
    /// The state of the world, with its pending inputs applied.
    pub fn of(world: &'w World) -> Self {
        let roster = world.resource::<Roster>();
        let agents = roster.iter().filter_map(|(_, entity)| world.get::<crate::agent::Agent>(entity));
        let mut pending = Self {
            world,
            agents: agents.map(|agent| agent.id.clone()).collect(),
            elements: world.resource::<Elements>().ids().cloned().collect(),
            ties: relationships(world).to_vec(),
            decor: world.get_resource::<SceneState>().map_or_else(Vec::new, |scene| Decor::all_of(&scene.doc.root)),
            contents: BTreeMap::new(),
            workflows: BTreeMap::new(),
        };
        for command in world.resource::<InputQueue<AgentCommand>>().waiting() {
            pending.count_agent(command);
        }
        for command in world.resource::<InputQueue<ElementCommand>>().waiting() {
            pending.count_element(command);
        }
        for command in world.resource::<InputQueue<FurnishCommand>>().waiting() {
            // An input that the world will refuse has no effect here either.
            let _ = command.0.apply(&mut pending.decor);
        }
        for command in world.resource::<InputQueue<RelationshipCommand>>().waiting() {
            // An input that the world will refuse has no effect here either.
            let _ = pending.relate(command);
        }
        for command in world.resource::<InputQueue<WorkflowCommand>>().waiting() {
            if let WorkflowCommand::Edit { path, edit } = command {
                // An input that the world will refuse has no effect here either.
                let _ = pending.edit_workflow(path.clone(), edit.clone());
            }
        }
        pending
    }

    fn count_agent(&mut self, command: &AgentCommand) {
        match command {
            AgentCommand::Add { id: Some(id), .. } => drop(self.agents.insert(id.clone())),
            AgentCommand::Remove { agent } => {
                self.agents.remove(agent);
                self.ties.retain(|tie| tie.from != *agent && tie.to != *agent);
            }
            _ => {}
        }
    }

    fn count_element(&mut self, command: &ElementCommand) {
        match command {
            ElementCommand::Add { keys } => {
                self.elements.extend(keys.get("id").and_then(|id| id.as_str()).map(Id::from));
            }
            ElementCommand::Remove { element } => drop(self.elements.remove(element)),
            _ => {}
        }
    }

    /// Resolves one action, and applies it, so that the next one is resolved against its result. The error says why it
    /// is not possible.
    pub fn resolve(&mut self, act: RoomAct, back: Option<RoomAct>) -> Result<Resolved, String> {
        let given = || back.clone().into_iter().collect();
        match act {
            RoomAct::Agent(command @ AgentCommand::Add { .. }) => Ok(self.add_agent(command)),
            RoomAct::Agent(command) => {
                let gone = !self.agents.contains(command.agent());
                if gone {
                    return Err(format!("{} has left the room", command.agent()));
                }
                self.count_agent(&command);
                let back = match &command {
                    // Its home returns to the previous position.
                    AgentCommand::Place { agent, .. } => self.home(agent).into_iter().collect(),
                    AgentCommand::Pause { agent } => {
                        vec![RoomAct::Agent(AgentCommand::Resume { agent: agent.clone() })]
                    }
                    AgentCommand::Resume { agent } => {
                        vec![RoomAct::Agent(AgentCommand::Pause { agent: agent.clone() })]
                    }
                    _ => given(),
                };
                Ok((RoomAct::Agent(command), back))
            }
            RoomAct::Element(command @ ElementCommand::Add { .. }) => Ok(self.add_element(command)),
            RoomAct::Element(command) => self.rearrange(command, given()),
            RoomAct::Edit(edit) if edit.by.is_user() => self.edit(edit),
            RoomAct::Relate(command) => self.relate(&command),
            RoomAct::Furnish(command) => self.furnish(command),
            RoomAct::Workflow(WorkflowCommand::Edit { path, edit }) => self.edit_workflow(path, edit),
            act => Ok((act, given())),
        }
    }

    /// Edits the text of a workflow file; the inverse restores the previous text.
    fn edit_workflow(&mut self, path: String, edit: WorkflowEdit) -> Result<Resolved, String> {
        let (workflows, known) = (self.world.resource::<Workflows>(), self.world.resource::<KnownFiles>());
        let before = self.workflows.get(&path).map(String::as_str).or_else(|| workflows.text(known, &path));
        let before = before.ok_or_else(|| format!("the workflow {path} no longer exists"))?;
        let after = edit::apply(before, &edit).map_err(|why| format!("{path} was not changed: {why}"))?;
        let back = edit::inverse(before, &after);
        let is_same = *before == after;
        self.workflows.insert(path.clone(), after);
        let command = |edit: WorkflowEdit| RoomAct::Workflow(WorkflowCommand::Edit { path: path.clone(), edit });
        Ok((command(edit), if is_same { Vec::new() } else { vec![command(back)] }))
    }

    /// An action that sets an agent's home to its current position.
    fn home(&self, agent: &Id) -> Option<RoomAct> {
        let roster = self.world.resource::<Roster>();
        let entity = roster.key(agent).and_then(|key| roster.entity(key))?;
        let position = self.world.get::<Home>(entity)?.0;
        Some(RoomAct::Agent(AgentCommand::SetHome { agent: agent.clone(), position, by: None }))
    }

    /// Gives a new agent an unused id, by which the inverse removes it.
    fn add_agent(&mut self, command: AgentCommand) -> Resolved {
        let AgentCommand::Add { id, profile, position, behaviour, exactly } = command else {
            return (RoomAct::Agent(command), Vec::new());
        };
        let wanted = id.unwrap_or_else(|| format!("{profile}-1").into());
        // Agents that wait for their profile have ids as well.
        let entries = &self.world.resource::<SceneState>().doc.agents;
        let id = unused_id(&wanted, |id| self.agents.contains(id) || entries.iter().any(|entry| entry.id == *id));
        self.agents.insert(id.clone());
        let add = AgentCommand::Add { id: Some(id.clone()), profile, position, behaviour, exactly };
        (RoomAct::Agent(add), vec![RoomAct::Agent(AgentCommand::Remove { agent: id })])
    }

    fn add_element(&mut self, command: ElementCommand) -> Resolved {
        let ElementCommand::Add { mut keys } = command else { return (RoomAct::Element(command), Vec::new()) };
        let word = |key: &str| keys.get(key).and_then(|word| word.as_str()).map(str::to_owned);
        let wanted: Id = word("id").unwrap_or_else(|| format!("{}-1", word("kind").unwrap_or_default())).into();
        let id = unused_id(&wanted, |id| self.elements.contains(id));
        self.elements.insert(id.clone());
        keys.insert("id".to_owned(), json!(id));
        let back = RoomAct::Element(ElementCommand::Remove { element: id });
        (RoomAct::Element(ElementCommand::Add { keys }), vec![back])
    }

    fn rearrange(&mut self, command: ElementCommand, mut back: Vec<RoomAct>) -> Result<Resolved, String> {
        let id = match &command {
            ElementCommand::Remove { element }
            | ElementCommand::Move { element, .. }
            | ElementCommand::Relabel { element, .. }
            | ElementCommand::SetOwner { element, .. }
            | ElementCommand::SetChannel { element, .. } => element,
            ElementCommand::Add { .. } => return Ok((RoomAct::Element(command), back)),
        };
        if !self.elements.contains(id) {
            return Err(format!("{id} is no longer in the room"));
        }
        for act in &mut back {
            // An element without a label is displayed with its id.
            if let RoomAct::Element(ElementCommand::Relabel { element, label }) = act
                && **label == **element
            {
                label.clear();
            }
        }
        back.extend(self.text_before_channel(&back));
        self.count_element(&command);
        Ok((RoomAct::Element(command), back))
    }

    /// The inverse for a board that showed no channel before: its previous text.
    fn text_before_channel(&self, back: &[RoomAct]) -> Option<RoomAct> {
        let [RoomAct::Element(ElementCommand::SetChannel { element, channel: None })] = back else { return None };
        let text = match self.contents.get(element) {
            Some(content) => content.text().map(str::to_owned),
            None => waiting_content(self.world, element).ok()?.text().map(str::to_owned),
        };
        let act = TextAct::SetText { text: text? }.into();
        Some(RoomAct::Edit(ElementEdit { element: element.clone(), act, by: Author::user(), cause: None }))
    }

    /// Tries an edit on a copy: the difference back to the current state is the inverse, and ids assigned on the copy
    /// are used in the room.
    fn edit(&mut self, edit: ElementEdit) -> Result<Resolved, String> {
        let world = self.world;
        let before = match self.contents.remove(&edit.element) {
            Some(content) => content,
            None => waiting_content(world, &edit.element)?,
        };
        let mut after = before.boxed_clone();
        let tried = apply(world, &mut *after, &edit);
        let changes = match tried {
            Ok(changes) => changes,
            Err(why) => {
                self.contents.insert(edit.element, before);
                return Err(why);
            }
        };
        let back_to = |act| ElementEdit { act, cause: None, ..edit.clone() };
        let back = after.acts_back_to(&*before).into_iter().map(|act| RoomAct::Edit(back_to(act))).collect();
        self.contents.insert(edit.element.clone(), after);
        Ok((RoomAct::Edit(ElementEdit { act: with_id(edit.act, &changes), ..edit }), back))
    }

    fn furnish(&mut self, command: FurnishCommand) -> Result<Resolved, String> {
        let before = self.decor.clone();
        command.0.apply(&mut self.decor)?;
        let back = command.0.inverse(&before).map(|change| RoomAct::Furnish(FurnishCommand(change)));
        Ok((RoomAct::Furnish(command), back.into_iter().collect()))
    }

    fn relate(&mut self, command: &RelationshipCommand) -> Result<Resolved, String> {
        let before = self.ties.clone();
        let agents = &self.agents;
        relationship_commands::change(&mut self.ties, command, |id| agents.contains(id))
            .map_err(|(what, remedy)| format!("{what}; {remedy}"))?;
        let place = |tie: &Relationship| before.iter().position(|other| other == tie);
        let back = match command {
            RelationshipCommand::Add { .. } => {
                let new = self.ties.iter().find(|tie| place(tie).is_none()).cloned();
                new.map(|relationship| RelationshipCommand::Remove { relationship })
            }
            RelationshipCommand::Remove { relationship } => {
                Some(RelationshipCommand::Add { relationship: relationship.clone(), at: place(relationship) })
            }
            RelationshipCommand::Relabel { relationship, label } => Some(RelationshipCommand::Relabel {
                relationship: Relationship { label: relationship_commands::label_of(label), ..relationship.clone() },
                label: relationship.label.clone(),
            }),
        };
        let back = if self.ties == before { None } else { back };
        Ok((RoomAct::Relate(command.clone()), back.map(RoomAct::Relate).into_iter().collect()))
    }
}

/// The id itself, or a numbered variant that is not taken: `rules-3` after `rules-2`.
fn unused_id(wanted: &Id, is_taken: impl Fn(&Id) -> bool) -> Id {
    if !is_taken(wanted) {
        return wanted.clone();
    }
    let numbered = wanted.rsplit_once('-').and_then(|(stem, number)| Some((stem, number.parse::<u64>().ok()?)));
    let (stem, first) = numbered.map_or((&**wanted, 2), |(stem, number)| (stem, number.saturating_add(1)));
    unique_names::first_free(unique_names::numbered(stem, "", first), |id| is_taken(&id.into())).into()
}

/// The content of an element after its pending edits.
fn waiting_content(world: &World, id: &Id) -> Result<Box<dyn Content>, String> {
    let elements = world.resource::<Elements>();
    let entity = elements.key(id).and_then(|key| elements.entity(key));
    let held = entity.and_then(|entity| world.get::<HeldContent>(entity));
    let mut content = held.map(|held| held.0.boxed_clone()).ok_or_else(|| format!("there is no element {id}"))?;
    for edit in world.resource::<InputQueue<ElementEdit>>().waiting().filter(|edit| edit.element == *id) {
        // A refused edit has no effect, here as in the room.
        let _ = apply(world, &mut *content, edit);
    }
    Ok(content)
}

fn apply(world: &World, content: &mut dyn Content, edit: &ElementEdit) -> Result<Vec<ElementChange>, String> {
    let context = ActContext {
        by: &edit.by,
        now_secs: world.resource::<SimClock>().secs(),
        limits: world.resource::<ElementSettings>(),
        // Only the result is checked: the room assigns the real key when the message is sent.
        message: MessageKey::new(0, RunTag::default()),
    };
    content.apply(&edit.act, &context)
}

/// The action with the id that was assigned to what it adds.
fn with_id(act: ElementAct, changes: &[ElementChange]) -> ElementAct {
    // Additions come after removals that make room for them.
    let added = changes.last().and_then(ElementChange::item);
    match (act.arguments().get("id"), added) {
        (Some(Value::Null), Some(id)) => act.with("id", json!(id)),
        _ => act,
    }
}

/// The offset of a copy from its original.
const COPY_OFFSET: Vec2 = Vec2::new(90.0, -50.0);

type Acts = Vec<(RoomAct, Option<RoomAct>)>;

/// Removes things from the room; the inverse restores their scene entries, content and relationships.
pub fn removals(world: &World, model: &RoomModel, things: &[RoomObject]) -> Acts {
    let leaves = |id: &Id| things.iter().any(|thing| thing.agent() == Some(id));
    let ties = relationships(world).iter().filter(|tie| leaves(&tie.from) || leaves(&tie.to)).cloned();
    let untie = |relationship| (RoomAct::Relate(RelationshipCommand::Remove { relationship }), None);
    let removal = |thing: &RoomObject| match thing {
        RoomObject::Agent(id) => {
            let agent = model.agent(id)?;
            let entry = agent_entry(world, id);
            let home = agent.detail.as_ref().map(|detail| detail.home);
            let back = AgentCommand::Add {
                id: Some(id.clone()),
                profile: agent.profile.clone(),
                position: home.or(entry.and_then(|entry| entry.position)).unwrap_or(agent.position),
                behaviour: entry.and_then(|entry| entry.behaviour),
                exactly: true,
            };
            Some((RoomAct::Agent(AgentCommand::Remove { agent: id.clone() }), Some(RoomAct::Agent(back))))
        }
        RoomObject::Element(id) => {
            let back = ElementCommand::Add { keys: entry_keys(world, model, id)? };
            let removal = ElementCommand::Remove { element: id.clone() };
            Some((RoomAct::Element(removal), Some(RoomAct::Element(back))))
        }
    };
    ties.map(untie).chain(things.iter().filter_map(removal)).collect()
}

/// Copies things beside the originals, or around a position.
pub fn copies(world: &World, model: &RoomModel, things: &[RoomObject], at: Option<Vec2>) -> Acts {
    let first = things.iter().find_map(|thing| place_of(model, thing));
    let Some(first) = first else { return Vec::new() };
    let shift = at.map_or(COPY_OFFSET, |at| at - first);
    let copy = |thing: &RoomObject| {
        let position = tenths(place_of(model, thing)? + shift);
        match thing {
            RoomObject::Agent(id) => {
                let agent = model.agent(id)?;
                let behaviour = agent_entry(world, id).and_then(|entry| entry.behaviour);
                let profile = agent.profile.clone();
                Some((
                    RoomAct::Agent(AgentCommand::Add { id: None, profile, position, behaviour, exactly: true }),
                    None,
                ))
            }
            RoomObject::Element(id) => {
                let kind = model.element(id)?.kind.clone();
                let mut keys = entry_keys(world, model, id)?;
                keys.insert("id".to_owned(), json!(format!("{kind}-1")));
                keys.insert("position".to_owned(), json!([position.x, position.y]));
                // Two elements in one file would overwrite each other, so the copy stores its content itself. Task
                // boards only show their file, however many there are.
                let shows_file = crate::element::kinds::kind(&kind).is_some_and(|kind| kind.task_file);
                if !shows_file && keys.shift_remove("file").is_some() {
                    keys.extend(held(world, model, id)?.to_scene());
                }
                Some((RoomAct::Element(ElementCommand::Add { keys }), None))
            }
        }
    };
    things.iter().filter_map(copy).collect()
}

/// Moves elements by an offset.
pub fn nudges(model: &RoomModel, elements: &[Id], by: Vec2) -> Acts {
    let nudge = |id: &Id| {
        let from = model.element(id)?.position;
        let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
        Some((to(tenths(from + by)), Some(to(from))))
    };
    elements.iter().filter_map(nudge).collect()
}

fn place_of(model: &RoomModel, thing: &RoomObject) -> Option<Vec2> {
    match thing {
        RoomObject::Agent(id) => model.agent(id).map(|agent| agent.position),
        RoomObject::Element(id) => model.element(id).map(|element| element.position),
    }
}

fn agent_entry<'a>(world: &'a World, id: &str) -> Option<&'a AgentEntry> {
    world.resource::<SceneState>().doc.agents.iter().find(|entry| &*entry.id == id)
}

/// The scene entry of an element, updated with what has changed since the scene was saved.
fn entry_keys(world: &World, model: &RoomModel, id: &str) -> Option<Map<String, Value>> {
    let element = model.element(id)?;
    let scene = world.resource::<SceneState>();
    let entry: Option<&ElementEntry> = scene.doc.elements.iter().find(|entry| &*entry.id == id);
    let mut keys = entry.map(|entry| entry.keys.clone()).unwrap_or_default();
    keys.insert("id".to_owned(), json!(id));
    keys.insert("kind".to_owned(), json!(element.kind));
    if *element.label != *id {
        keys.insert("label".to_owned(), json!(element.label));
    }
    if entry.is_none_or(|entry| entry.position != element.position) {
        keys.insert("position".to_owned(), json!([element.position.x, element.position.y]));
    }
    if element.file.is_none() {
        let held = held(world, model, id)?;
        if !is_written(held, &element.kind, &keys) {
            keys.extend(held.to_scene());
        }
    }
    Some(keys)
}

/// The content of an element.
fn held<'a>(world: &'a World, model: &RoomModel, id: &str) -> Option<&'a dyn Content> {
    let entity = world.resource::<Elements>().entity(model.element(id)?.key)?;
    Some(&*world.get::<HeldContent>(entity)?.0)
}

/// Whether an entry already contains the element's content.
fn is_written(held: &dyn Content, kind: &str, keys: &Map<String, Value>) -> bool {
    let kind = crate::element::kinds::kind(kind);
    kind.is_some_and(|kind| (kind.from_scene)(keys, "").0.to_scene() == held.to_scene())
}

/// The current text of the open scene's file.
pub fn scene_text(world: &World) -> Option<String> {
    let path = &world.get_resource::<RoomStart>()?.scene;
    world.get_resource::<KnownFiles>()?.all().get(path).cloned()
}
