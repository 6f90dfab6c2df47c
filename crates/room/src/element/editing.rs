//! Edits become changes: each is applied once, told once, and written to where the element's content stands.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::message::MessageCursor;
use bevy::ecs::prelude::*;
use serde_json::{Map, Value};

use super::content::{Element, ElementAct, ElementChange, ElementChanged, ElementEdit, ElementRefused, Held};
use super::directory::Elements;
use super::kind::kind;
use super::merging::HeldBack;
use super::recent::RecentChanges;
use super::settings::ElementSettings;
use crate::agent::presence::read;
use crate::agent::{Agent, Roster};
use crate::base::{Author, ElementKey, Id, Seq, text};
use crate::log::events::{self, Warning};
use crate::log::{EventDraft, EventLog};
use crate::schedule::SimClock;
use crate::workspace::SceneWrite;

/// Where the edits were read up to: shared by the two times in a tick at which they are applied, so that
/// none is applied twice.
#[derive(Resource, Default)]
pub(super) struct EditsRead(MessageCursor<ElementEdit>);

/// Elements whose content is to be written before the tick ends.
#[derive(Resource, Default)]
pub(super) struct Unwritten(pub(super) BTreeSet<ElementKey>);

/// Whether an element belongs to an agent: it names the agent, or the profile that the agent runs.
pub fn owns(element: &Element, agent: &Agent) -> bool {
    element.owner.as_ref().is_some_and(|owner| *owner == agent.id || *owner == agent.profile)
}

/// Applies the edits that are due.
pub(super) fn apply_edits(world: &mut World) {
    let edits = world.resource_scope(|world, mut cursor: Mut<EditsRead>| read(world, &mut cursor.0));
    for edit in edits {
        if let Err(why) = apply_edit(world, &edit) {
            refuse(world, &edit.by, &edit.element, why, None, edit.cause);
        }
    }
}

fn apply_edit(world: &mut World, edit: &ElementEdit) -> Result<(), String> {
    let entity = find(world, &edit.element)?;
    let is_delivery = matches!(edit.act, ElementAct::AddMail { .. });
    if !is_delivery && !may_keep(world, entity, &edit.by) {
        return Err(format!("{} is not yours", edit.element));
    }
    do_act(world, entity, &edit.act, &edit.by, edit.cause)?;
    // The copy goes to whoever did it, whatever the letter says.
    if let ElementAct::AddMail { to, subject, text, attachments, .. } = &edit.act
        && let Some(own) = inbox_of(world, &edit.by.0)
    {
        let (to, subject, text, attachments) = (to.clone(), subject.clone(), text.clone(), attachments.clone());
        do_act(world, own, &ElementAct::KeepSent { to, subject, text, attachments }, &edit.by, edit.cause)?;
    }
    Ok(())
}

/// The entity of an id, or why there is none, with the id that was perhaps meant.
pub(super) fn find(world: &World, id: &str) -> Result<Entity, String> {
    let elements = world.resource::<Elements>();
    elements.key(id).and_then(|key| elements.entity(key)).ok_or_else(|| {
        let meant = text::nearest(id, elements.ids().map(|id| &**id));
        let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        format!("there is no element {id}{hint}")
    })
}

/// Whether someone may look into an element and keep what it holds: everyone, unless it is somebody else's inbox.
pub(super) fn may_keep(world: &World, entity: Entity, by: &Author) -> bool {
    by.is_user() || !is_private(world, entity) || is_owned_by(world, entity, by)
}

fn is_private(world: &World, entity: Entity) -> bool {
    world.get::<Element>(entity).and_then(|element| kind(&element.kind)).is_some_and(|kind| kind.private)
}

fn is_owned_by(world: &World, entity: Entity, who: &Author) -> bool {
    let roster = world.resource::<Roster>();
    let agent = roster.key(&who.0).and_then(|key| roster.entity(key)).and_then(|entity| world.get::<Agent>(entity));
    world.get::<Element>(entity).zip(agent).is_some_and(|(element, agent)| owns(element, agent))
}

/// The first inbox that belongs to this agent.
fn inbox_of(world: &World, agent: &Id) -> Option<Entity> {
    let who = Author(agent.clone());
    let elements = world.resource::<Elements>();
    elements
        .iter()
        .map(|(_, entity)| entity)
        .find(|entity| is_private(world, *entity) && is_owned_by(world, *entity, &who))
}

/// What follows from an edited letter: nobody has read what it says now, unless the edit itself says so.
fn unread_again(act: &ElementAct, change: &ElementChange) -> Option<ElementAct> {
    let (ElementAct::Correct { list, keys, .. }, ElementChange::MailEdited { id }) = (act, change) else { return None };
    let keys = (!keys.contains_key("read")).then(|| Map::from_iter([("read".to_owned(), Value::Null)]))?;
    Some(ElementAct::Correct { list: *list, id: id.clone(), keys })
}

/// Does one act and tells each change.
pub(super) fn do_act(
    world: &mut World,
    entity: Entity,
    act: &ElementAct,
    by: &Author,
    cause: Option<Seq>,
) -> Result<(), String> {
    let now_secs = world.resource::<SimClock>().secs();
    let limits = world.resource::<ElementSettings>().clone();
    let Some(mut held) = world.get_mut::<Held>(entity) else { return Err("it is gone".to_owned()) };
    let changes = held.0.apply(act, by, now_secs, &limits)?;
    for unread in changes.iter().filter_map(|change| unread_again(act, change)) {
        held.0.apply(&unread, &Author::user(), now_secs, &limits)?;
    }
    if changes.is_empty() {
        return Ok(());
    }
    let Some(mut element) = world.get_mut::<Element>(entity) else { return Err("it is gone".to_owned()) };
    // What an agent does with mail of its own is no news to it.
    let is_own = matches!(act, ElementAct::SetMailStatus { .. }) && !by.is_user();
    if !is_own && !matches!(act, ElementAct::MarkMailRead { .. } | ElementAct::KeepSent { .. }) {
        element.version += 1;
    }
    let element = element.clone();
    for change in changes {
        tell(world, &element, change, by, cause);
    }
    world.resource_mut::<Unwritten>().0.insert(element.key);
    Ok(())
}

/// Writes the record of a change and sends the news of it.
pub(super) fn tell(world: &mut World, element: &Element, change: ElementChange, by: &Author, cause: Option<Seq>) {
    world.resource_mut::<RecentChanges>().note(element, &change, by);
    let mut draft = EventDraft::of(&events::ElementChanged {
        element: element.id.clone(),
        kind: element.kind.clone(),
        by: by.0.clone(),
        change: change.deed(),
        id: change.item().cloned(),
        why: change.why().map(str::to_owned),
    })
    .cause(cause);
    if !by.is_user() {
        draft = draft.agent(&by.0);
    }
    let cause = world.resource_mut::<EventLog>().write(draft);
    world.write_message(ElementChanged { element: element.key, change, by: by.clone(), cause });
}

/// Writes the record of a refusal and tells the one who tried; `file` is where, if it was tried by changing one.
pub(super) fn refuse(
    world: &mut World,
    by: &Author,
    element: &Id,
    why: String,
    file: Option<&str>,
    cause: Option<Seq>,
) {
    let (by_id, path) = (Some(by.0.clone()), file.map(Id::from));
    let warning = Warning { element: Some(element.clone()), by: by_id, path, ..Warning::new(why.clone()) };
    let mut draft = EventDraft::of(&warning).cause(cause);
    if !by.is_user() {
        draft = draft.agent(&by.0);
    }
    let cause = world.resource_mut::<EventLog>().write(draft);
    world.write_message(ElementRefused { by: by.clone(), why, file: file.map(str::to_owned), cause });
}

/// Writes each changed element once, to its file or into the scene. A file with faults is left to whoever mends it.
pub(super) fn write_back(
    mut unwritten: ResMut<Unwritten>,
    held_back: Res<HeldBack>,
    elements: Res<Elements>,
    held: Query<(&Element, &Held)>,
    mut writes: MessageWriter<SceneWrite>,
) {
    for key in std::mem::take(&mut unwritten.0).into_iter().filter(|key| !held_back.0.contains_key(key)) {
        let Some((element, held)) = elements.entity(key).and_then(|entity| held.get(entity).ok()) else { continue };
        writes.write(match &element.file {
            Some(path) => SceneWrite::File { path: path.clone(), text: held.0.to_markdown() },
            None => SceneWrite::Element { id: element.id.clone(), keys: held.0.to_scene() },
        });
    }
}

/// Tells every private element which agents it belongs to now.
pub(super) fn set_readers(agents: Query<&Agent>, mut elements: Query<(&Element, &mut Held)>) {
    let mut owned: BTreeMap<Id, BTreeSet<Id>> = elements
        .iter()
        .filter(|(element, _)| kind(&element.kind).is_some_and(|kind| kind.private))
        .filter_map(|(element, _)| Some((element.owner.clone()?, BTreeSet::new())))
        .collect();
    for agent in &agents {
        for word in [&agent.id, &agent.profile] {
            if let Some(readers) = owned.get_mut(word) {
                readers.insert(agent.id.clone());
            }
        }
    }
    let nobody = BTreeSet::new();
    for (element, mut held) in &mut elements {
        if kind(&element.kind).is_some_and(|kind| kind.private) {
            let readers = element.owner.as_ref().and_then(|owner| owned.get(owner)).unwrap_or(&nobody);
            held.bypass_change_detection().0.set_readers(readers);
        }
    }
}
