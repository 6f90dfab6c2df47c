//! Applies changes of elements' files as acts of the author, under the element's rules. Rejected changes are left out,
//! and the file is rewritten to match the element.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::message::MessageCursor;
use bevy::ecs::prelude::*;

use super::content::{Content, Element, HeldContent};
use super::directory::{Elements, HeldBack};
use super::editing::{Unwritten, do_act, may_keep, refuse};
use super::kind::Kind;
use super::kinds::kind;
use super::problem_reports::{report, scene_path};
use crate::agent::lifecycle::read;
use crate::base::ids::ROOM;
use crate::base::{Author, Id, Problem, Seq};
use crate::workspace::files::FileContent;
use crate::workspace::layout::{APPROVALS_FILE, ELEMENT_FILE_REMEDY};
use crate::workspace::{ElementEntry, FileChanged, FileWritten, KnownFiles};

/// The maximum number of reported reasons per change of a file.
const MAX_REASONS: usize = 8;

/// The author and the file of merged content.
pub(super) struct Writer<'a> {
    pub(super) by: &'a Author,
    pub(super) cause: Option<Seq>,
    pub(super) file: &'a str,
}

impl Writer<'_> {
    /// Reports to the author that the element refused a change.
    pub(super) fn refuse(&self, world: &mut World, element: &Id, why: String) {
        refuse(world, self.by, element, why, Some(self.file), self.cause);
    }
}

pub(super) fn known_text(world: &World, path: &str) -> Option<String> {
    world.get_resource::<KnownFiles>().and_then(|files| files.text(path)).map(str::to_owned)
}

/// The content of an element according to its entry, and the problems with it.
pub(super) fn kind_from_entry(world: &World, kind: &Kind, entry: &ElementEntry) -> (Box<dyn Content>, Vec<Problem>) {
    let place = format!("{}, element {}", scene_path(world), entry.id);
    let (inline, mut problems) = (kind.from_scene)(&entry.keys, &place);
    if kind.private && entry.owner.is_none() {
        let what = format!("the {} {:?} has no owner", kind.name, entry.id);
        problems.push(Problem::warning(&place, what, "add owner: with the id of an agent or profile"));
    }
    if let Some(Err(why)) = entry.file.as_deref().map(|file| kind.check_file(file)) {
        let what = format!("element {:?} keeps its content in this scene: {why}", entry.id);
        problems.push(Problem::warning(&place, what, ELEMENT_FILE_REMEDY));
    } else if kind.task_file && entry.file.is_none() {
        let what = format!("the {} {:?} has no task file, so nobody works on its tasks", kind.name, entry.id);
        problems.push(Problem::warning(&place, what, "add file: with a task file, such as tasks/work.task.md"));
    }
    let problems =
        problems.into_iter().map(|problem| if problem.line.is_none() { problem.at_line(entry.line) } else { problem });
    let mut problems: Vec<Problem> = problems.collect();
    let Some(path) = &fitting_file(kind, entry) else { return (inline, problems) };
    match known_text(world, path) {
        Some(text) => {
            problems.extend(faults(kind, path, &text));
            ((kind.from_markdown)(&text), problems)
        }
        None => {
            // The record of questions is created with the first question.
            if path != APPROVALS_FILE {
                let what = format!("the file {path} does not exist");
                let remedy = "create it, or wait: it is created when something is added to the element";
                problems.push(Problem::warning(place, what, remedy).at_line(entry.line));
            }
            let begun = (!kind.file_begins.is_empty()).then(|| (kind.from_markdown)(kind.file_begins));
            (begun.unwrap_or(inline), problems)
        }
    }
}

/// The file that an entry names, if an element of its kind can store its content in it.
pub(super) fn fitting_file(kind: &Kind, entry: &ElementEntry) -> Option<String> {
    entry.file.clone().filter(|file| kind.check_file(file).is_ok())
}

/// The faults of a file's text, as problems.
fn faults(kind: &Kind, path: &str, text: &str) -> Vec<Problem> {
    let faults = (kind.faults)(text).into_iter();
    let remedy = "fix the line; until then the last readable text is used, and the file is left as it is";
    faults.map(|fault| Problem::error(path, fault.what, remedy).at_line(Some(fault.line))).collect()
}

/// Holds back an element and its file if the file has faults; returns whether it has.
pub(super) fn hold_back_faulty(world: &mut World, kind: &Kind, entity: Entity) -> bool {
    let Some((element, held)) = world.get::<Element>(entity).zip(world.get::<HeldContent>(entity)) else {
        return false;
    };
    let text = element.file.as_deref().and_then(|path| known_text(world, path));
    let (key, held) = (element.key, held.0.to_saved());
    let is_faulty = text.is_some_and(|text| !(kind.faults)(&text).is_empty());
    if is_faulty {
        world.resource_mut::<HeldBack>().0.insert(key, held);
    }
    is_faulty
}

/// Applies the changes between `base` and `written` to the present content of the element (or between the content and
/// `written` if there is no base), as acts of the author. If the two then differ, the element is written again.
pub(super) fn merge(
    world: &mut World,
    entity: Entity,
    base: Option<&dyn Content>,
    written: &dyn Content,
    writer: &Writer,
) -> Vec<Problem> {
    let Some((held, element)) = world.get::<HeldContent>(entity).zip(world.get::<Element>(entity)) else {
        return Vec::new();
    };
    let (key, id, kind) = (element.key, element.id.clone(), kind(&element.kind));
    let acts = match base {
        Some(base) => held.0.acts_since(base, written),
        None => held.0.acts_to(written),
    };
    let was_unwritten = world.resource::<Unwritten>().0.contains(&key);
    let mut problems = Vec::new();
    let mut reasons = BTreeSet::new();
    if !may_keep(world, entity, writer.by) {
        if !acts.is_empty() {
            reasons.insert(format!("{id} is not yours"));
        }
    } else {
        for act in acts {
            let own_act = kind.filter(|_| !writer.by.is_user()).map(|kind| kind.own_act);
            let act = own_act.map_or_else(|| Ok(act.clone()), |own_act| own_act(act.clone(), writer.by));
            let done = act.and_then(|act| do_act(world, entity, &act, writer.by, writer.cause));
            match done {
                Ok(()) => {}
                Err(why) if writer.by.is_user() => problems.push(Problem::warning(
                    format!("element {id}"),
                    format!("an edit of the file no longer applies: {why}"),
                    "check the element and change it again",
                )),
                Err(why) => drop(reasons.insert(why)),
            }
        }
    }
    for why in reasons.into_iter().take(MAX_REASONS) {
        writer.refuse(world, &id, why);
    }
    let same = world.get::<HeldContent>(entity).is_some_and(|held| held.0.to_scene() == written.to_scene());
    if same && !was_unwritten {
        world.resource_mut::<Unwritten>().0.remove(&key);
    } else if !same {
        world.resource_mut::<Unwritten>().0.insert(key);
    }
    problems
}

/// Applies changes of elements' files.
pub(super) fn follow_files(world: &mut World, mut cursor: Local<MessageCursor<FileChanged>>) {
    let changes = read(world, &mut cursor);
    if changes.is_empty() {
        return;
    }
    let mut naming: BTreeMap<String, Vec<Entity>> = BTreeMap::new();
    for (_, entity) in world.resource::<Elements>().iter() {
        if let Some(file) = world.get::<Element>(entity).and_then(|element| element.file.clone()) {
            naming.entry(file).or_default().push(entity);
        }
    }
    for change in changes {
        for entity in naming.get(&change.path).into_iter().flatten() {
            follow_file(world, *entity, &change);
        }
    }
}

/// Shows task files that the room itself wrote (questions to a person, another board of the same file); at first all of
/// them, so that no change made while the room was closed is missed.
pub(super) fn follow_own_writes(
    world: &mut World,
    mut cursor: Local<MessageCursor<FileWritten>>,
    mut has_begun: Local<bool>,
) {
    let written: BTreeSet<String> = read(world, &mut cursor).into_iter().map(|written| written.path).collect();
    let is_first = !std::mem::replace(&mut *has_begun, true);
    if written.is_empty() && !is_first {
        return;
    }
    let by = Author(ROOM.into());
    let all: Vec<Entity> = world.resource::<Elements>().iter().map(|(_, entity)| entity).collect();
    for entity in all {
        let Some((element, held)) = world.get::<Element>(entity).zip(world.get::<HeldContent>(entity)) else {
            continue;
        };
        let Some(kind) = kind(&element.kind).filter(|kind| kind.task_file) else { continue };
        let Some(path) = element.file.clone().filter(|path| is_first || written.contains(path)) else { continue };
        let Some(text) = known_text(world, &path).filter(|text| *text != held.0.to_markdown()) else { continue };
        if !world.resource::<Unwritten>().0.contains(&element.key) {
            let writer = Writer { by: &by, cause: None, file: &path };
            merge(world, entity, None, &*(kind.from_markdown)(&text), &writer);
        }
    }
}

fn follow_file(world: &mut World, entity: Entity, change: &FileChanged) {
    let Some(element) = world.get::<Element>(entity).cloned() else { return };
    let Some(kind) = kind(&element.kind) else { return };
    let path = &change.path;
    let writer = Writer { by: &change.by, cause: change.cause, file: path };
    let problems = match &change.content {
        FileContent::Text(text) => follow_text(world, entity, &element, kind, (text, change.base.as_deref()), &writer),
        FileContent::Removed if !change.by.is_user() => {
            world.resource_mut::<Unwritten>().0.insert(element.key);
            writer.refuse(
                world,
                &element.id,
                format!(
                    "the file of {} was kept: only the user can remove \
                it",
                    element.id
                ),
            );
            Vec::new()
        }
        FileContent::Removed => {
            world.resource_mut::<HeldBack>().0.remove(&element.key);
            // Changes that the room made meanwhile are written again.
            if change.base.is_some() {
                world.resource_mut::<Unwritten>().0.insert(element.key);
            }
            vec![Problem::warning(
                path,
                format!("the file was deleted; {} keeps its content", element.id),
                "restore it, or wait: it is created again when something is added to the element",
            )]
        }
        FileContent::Unusable { what, remedy } => vec![Problem::error(path, what.clone(), remedy.clone())],
    };
    report(world, &element.id, problems);
}

fn follow_text(
    world: &mut World,
    entity: Entity,
    element: &Element,
    kind: &Kind,
    (text, crossed): (&str, Option<&str>),
    writer: &Writer,
) -> Vec<Problem> {
    let faults = faults(kind, writer.file, text);
    if !faults.is_empty() && !writer.by.is_user() {
        world.resource_mut::<Unwritten>().0.insert(element.key);
        let lines: Vec<String> =
            faults.iter().take(3).filter_map(|fault| Some(format!("line {}: {}", fault.line?, fault.what))).collect();
        writer.refuse(world, &element.id, format!("none of it is used, because of {}", lines.join("; ")));
        return Vec::new();
    }
    let crossed = crossed.map(|base| (kind.from_markdown)(base));
    if !faults.is_empty() {
        let held = world.get::<HeldContent>(entity).map(|held| crossed.as_ref().unwrap_or(&held.0).to_saved());
        let mut held_back = world.resource_mut::<HeldBack>();
        if let Some(held) = held {
            held_back.0.entry(element.key).or_insert(held);
        }
        return faults;
    }
    let held_back = world.resource_mut::<HeldBack>().0.remove(&element.key);
    let base = held_back.map(|keys| (kind.from_scene)(&keys, "").0).or(crossed);
    merge(world, entity, base.as_deref(), &*(kind.from_markdown)(text), writer)
}
