//! Applies edits, each exactly once and with one report, and writes the element's content to its file or the scene.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::message::MessageCursor;
use bevy::ecs::prelude::*;

use super::act::{ActContext, Actor, ElementAct, News};
use super::change::ElementChange;
use super::content::{Element, ElementChanged, ElementEdit, ElementRefused, HeldContent, ItemLost};
use super::directory::{Elements, HeldBack};
use super::kind::Kind;
use super::kinds::kind;
use super::message_ids::MessageCount;
use super::recent_changes::RecentChanges;
use super::settings::ElementSettings;
use crate::agent::lifecycle::read;
use crate::agent::{Agent, Roster};
use crate::base::ids::ROOM;
use crate::base::{Author, ElementKey, Id, MessageKey, Seq, text};
use crate::log::events::{self, ElementChangeKind, Warning};
use crate::log::{EventDraft, EventLog};
use crate::schedule::SimClock;
use crate::workspace::SceneWrite;
use crate::workspace::path::{PathAccess, WorkspacePath};

/// The cursor of processed edits, shared by the two points in a tick at which they are applied, so that none is applied
/// twice.
#[derive(Resource, Default)]
pub(super) struct EditsRead(MessageCursor<ElementEdit>);

/// Elements whose content must be written before the tick ends.
#[derive(Resource, Default)]
pub(super) struct Unwritten(pub(super) BTreeSet<ElementKey>);

/// Whether an owner is this agent: the owner is the id of the agent or of its profile.
pub fn owns(owner: Option<&Id>, agent: &Agent) -> bool {
    owner.is_some_and(|owner| *owner == agent.id || *owner == agent.profile)
}

/// Applies the pending edits.
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
    let kind = kind_of(world, entity);
    let is_open = kind.is_some_and(|kind| kind.act(edit.act.as_str()).doer == Actor::Anyone);
    if !is_open && !may_keep(world, entity, &edit.by) {
        return Err(format!("{} is not yours", edit.element));
    }
    if let Some(file) =
        world.get::<Element>(entity).and_then(|element| element.file.as_deref()).filter(|file| !is_open_file(file))
    {
        return Err(format!("{file} cannot be changed here: answer on the approval card, or in the file"));
    }
    // A message and the sender's copy of it have the same id.
    let message = next_message(world);
    do_act_as(world, entity, &edit.act, (&edit.by, message), edit.cause)?;
    // It is attributed to the actual author, whatever the act says.
    if let Some(kind) = kind
        && let Some(kept) = (kind.kept_by_doer)(&edit.act)
        && let Some(own) = first_owned(world, kind, &edit.by)
    {
        do_act_as(world, own, &kept, (&edit.by, message), edit.cause)?;
    }
    sync_task_boards(world, entity, edit);
    Ok(())
}

/// Whether the room may write an element's content to this file. The room's own records are only shown.
fn is_open_file(file: &str) -> bool {
    WorkspacePath::new(file).is_ok_and(|path| path.reach() == PathAccess::Open)
}

/// Updates the other task boards of the same file at once, so that none overwrites a change made on another.
fn sync_task_boards(world: &mut World, entity: Entity, edit: &ElementEdit) {
    let Some((element, held)) = world.get::<Element>(entity).zip(world.get::<HeldContent>(entity)) else { return };
    let Some(file) = element.file.clone().filter(|_| kind(&element.kind).is_some_and(|kind| kind.task_file)) else {
        return;
    };
    let now = held.0.boxed_clone();
    let others: Vec<Entity> = world.resource::<Elements>().iter().map(|(_, other)| other).collect();
    for other in others.into_iter().filter(|other| *other != entity) {
        let is_of_file = world.get::<Element>(other).is_some_and(|element| element.file.as_deref() == Some(&file));
        let Some(held) = world.get::<HeldContent>(other).filter(|_| is_of_file) else { continue };
        for act in held.0.acts_to(&*now) {
            if let Err(why) = do_act(world, other, &act, &edit.by, edit.cause) {
                refuse(world, &edit.by, &edit.element, why, Some(&file), edit.cause);
            }
        }
    }
}

/// The entity with this id, or an error with the most similar id.
pub(super) fn find(world: &World, id: &str) -> Result<Entity, String> {
    let elements = world.resource::<Elements>();
    elements.key(id).and_then(|key| elements.entity(key)).ok_or_else(|| {
        let meant = text::nearest(id, elements.ids().map(|id| &**id));
        let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        format!("there is no element {id}{hint}")
    })
}

/// Whether someone may see an element and keep its contents: everyone may, unless it is another's inbox.
pub(super) fn may_keep(world: &World, entity: Entity, by: &Author) -> bool {
    by.is_user() || !is_private(world, entity) || is_owned_by(world, entity, by)
}

fn is_private(world: &World, entity: Entity) -> bool {
    kind_of(world, entity).is_some_and(|kind| kind.private)
}

fn is_owned_by(world: &World, entity: Entity, who: &Author) -> bool {
    let roster = world.resource::<Roster>();
    let agent = roster.key(&who.0).and_then(|key| roster.entity(key)).and_then(|entity| world.get::<Agent>(entity));
    world.get::<Element>(entity).zip(agent).is_some_and(|(element, agent)| owns(element.owner.as_ref(), agent))
}

/// The first element of this kind that belongs to this agent.
fn first_owned(world: &World, kind: &Kind, who: &Author) -> Option<Entity> {
    let is_it = |entity: &Entity| kind_of(world, *entity).is_some_and(|other| other.word == kind.word);
    let mut all = world.resource::<Elements>().iter().map(|(_, entity)| entity);
    all.find(|entity| is_it(entity) && is_owned_by(world, *entity, who))
}

fn kind_of(world: &World, entity: Entity) -> Option<&'static Kind> {
    world.get::<Element>(entity).and_then(|element| kind(&element.kind))
}

/// Performs one act and reports each change.
pub(super) fn do_act(
    world: &mut World,
    entity: Entity,
    act: &ElementAct,
    by: &Author,
    cause: Option<Seq>,
) -> Result<(), String> {
    let message = next_message(world);
    do_act_as(world, entity, act, (by, message), cause)
}

/// The id of the message that an act creates, if it creates one.
fn next_message(world: &World) -> MessageKey {
    world.resource::<MessageCount>().next(world.resource::<EventLog>())
}

/// Performs one act with a given id for the message that it creates.
fn do_act_as(
    world: &mut World,
    entity: Entity,
    act: &ElementAct,
    (by, message): (&Author, MessageKey),
    cause: Option<Seq>,
) -> Result<(), String> {
    let limits = world.resource::<ElementSettings>().clone();
    let context = ActContext { by, now_secs: world.resource::<SimClock>().secs(), limits: &limits, message };
    let kind = kind_of(world, entity);
    let Some(mut held) = world.get_mut::<HeldContent>(entity) else { return Err("it no longer exists".to_owned()) };
    let changes = held.0.apply(act, &context)?;
    for also in changes.iter().filter_map(|change| (kind?.follows)(act, change)) {
        held.0.apply(&also, &ActContext { by: &Author::user(), ..context })?;
    }
    if changes.is_empty() {
        return Ok(());
    }
    let Some(mut element) = world.get_mut::<Element>(entity) else { return Err("it no longer exists".to_owned()) };
    let is_news = match kind.map(|kind| kind.act(act.as_str()).news) {
        // The room's own changes of files result from actions of agents, so they are not news to these agents.
        _ if *by.0 == *ROOM => false,
        None | Some(News::Always) => true,
        Some(News::OfPerson) => by.is_user(),
        Some(News::Never) => false,
    };
    if is_news {
        element.version += 1;
    }
    let element = element.clone();
    if changes.iter().any(|change| change.message() == Some(message)) {
        world.resource_scope(|world, mut made: Mut<MessageCount>| made.issue(world.resource::<EventLog>()));
    }
    for change in changes {
        record_change(world, &element, change, by, cause);
    }
    world.resource_mut::<Unwritten>().0.insert(element.key);
    Ok(())
}

/// Logs a change and sends the message about it.
pub(super) fn record_change(
    world: &mut World,
    element: &Element,
    change: ElementChange,
    by: &Author,
    cause: Option<Seq>,
) {
    world.resource_mut::<RecentChanges>().note(element, &change, by);
    let mut draft = EventDraft::of(&events::ElementChanged {
        element: element.id.clone(),
        kind: element.kind.clone(),
        by: by.0.clone(),
        change: ElementChangeKind::of(change.as_str()),
        said: kind(&element.kind)
            .and_then(|kind| kind.change(&change))
            .map(|kind| kind.says.to_owned())
            .filter(|said| !said.is_empty()),
        id: change.item().cloned(),
        why: change.why().map(str::to_owned),
        message: change.message().map(MessageKey::id),
    })
    .cause(cause);
    if !by.is_user() {
        draft = draft.agent(&by.0);
    }
    let cause = world.resource_mut::<EventLog>().write(draft);
    if let (Some(author), Some(id)) = (change.loser().filter(|author| !author.is_user()), change.item()) {
        let why = change.why().unwrap_or("a limit was reached");
        let what = format!("your pin {id} was removed: {why}");
        world.write_message(ItemLost { author: author.clone(), what, cause });
    }
    world.write_message(ElementChanged { element: element.key, change, by: by.clone(), cause });
}

/// Logs a refusal and reports it to the author; `file` is the file, if the edit was a change of one.
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

/// Writes each changed element once, to its file or into the scene. A file with errors is not written until it is
/// fixed.
pub(super) fn write_back(
    mut unwritten: ResMut<Unwritten>,
    held_back: Res<HeldBack>,
    elements: Res<Elements>,
    held: Query<(&Element, &HeldContent)>,
    mut writes: MessageWriter<SceneWrite>,
) {
    for key in std::mem::take(&mut unwritten.0).into_iter().filter(|key| !held_back.0.contains_key(key)) {
        let Some((element, held)) = elements.entity(key).and_then(|entity| held.get(entity).ok()) else { continue };
        writes.write(match &element.file {
            Some(path) if !is_open_file(path) => continue,
            Some(path) => SceneWrite::File { path: path.clone(), text: held.0.to_markdown() },
            None => SceneWrite::Element { id: element.id.clone(), keys: held.0.to_scene() },
        });
    }
}

/// Updates the current owners of all private elements.
pub(super) fn set_readers(agents: Query<&Agent>, mut elements: Query<(&Element, &mut HeldContent)>) {
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
