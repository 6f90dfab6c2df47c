//! A cache of the parsed task files, shared by all parts of the desk.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use super::task_assignments::TaskTexts;
use crate::base::Seq;
use crate::element::{Element, ElementChanged, Elements};
use crate::workspace::layout::{APPROVALS_FILE, is_task_file};
use crate::workspace::task_files::{self, Status};
use crate::workspace::{FileChanged, FileWritten, KnownFiles};

/// The task files as last changed by an editor, an agent or a board. Marked as changed only if a file has changed.
/// Written by this module only, and read again when a room is reopened.
#[derive(Resource, Default)]
pub(super) struct KnownTasks {
    texts: TaskTexts,
    /// The log records of the last changes.
    causes: BTreeMap<String, Seq>,
    is_read: bool,
}

impl KnownTasks {
    /// The task files by path.
    pub(super) fn texts(&self) -> &TaskTexts {
        &self.texts
    }

    /// The task files by path; `None` if no system of the room has read them.
    pub(super) fn texts_if_read(&self) -> Option<&TaskTexts> {
        self.is_read.then_some(&self.texts)
    }

    /// The log record of a file's last change.
    pub(super) fn cause(&self, path: &str) -> Seq {
        self.causes.get(path).copied().unwrap_or(Seq(0))
    }

    /// The number of open, assigned tasks, without questions to a person.
    pub(super) fn open_count(&self) -> usize {
        let files = self.texts.iter().filter(|(path, _)| *path != APPROVALS_FILE);
        let tasks = files.flat_map(|(_, file)| &file.tasks);
        tasks.filter(|task| task.status == Status::Open && !task.stakeholders.is_empty()).count()
    }

    fn read(&mut self, known: &KnownFiles, path: &str) {
        self.texts.remove(path);
        let text = known.text(path).map(task_files::parse);
        self.texts.extend(text.map(|file| (path.to_owned(), file)));
    }
}

/// Parses the task files among the files of a room.
pub(super) fn texts_of(known: &KnownFiles) -> TaskTexts {
    let paths = known.all().keys().filter(|path| is_task_file(path));
    paths.filter_map(|path| Some((path.clone(), task_files::parse(known.text(path)?)))).collect()
}

/// Updates the cache from changed files. Changes made on boards are recorded as the cause of work that results from a
/// file.
pub(super) fn follow(
    mut tasks: ResMut<KnownTasks>,
    known: Res<KnownFiles>,
    (elements, things): (Res<Elements>, Query<&Element>),
    (mut changes, mut written): (MessageReader<FileChanged>, MessageReader<FileWritten>),
    mut on_boards: MessageReader<ElementChanged>,
) {
    let own = tasks.bypass_change_detection();
    for changed in on_boards.read() {
        let element = elements.entity(changed.element).and_then(|entity| things.get(entity).ok());
        let file = element.and_then(|element| element.file.as_ref()).filter(|file| is_task_file(file));
        own.causes.extend(file.map(|file| (file.clone(), changed.cause)));
    }
    let mut is_other = false;
    for written in written.read().filter(|written| is_task_file(&written.path)) {
        is_other = true;
        own.read(&known, &written.path);
    }
    for change in changes.read().filter(|change| is_task_file(&change.path)) {
        is_other = true;
        own.causes.extend(change.cause.map(|cause| (change.path.clone(), cause)));
        own.read(&known, &change.path);
    }
    if !std::mem::replace(&mut own.is_read, true) {
        is_other = true;
        for path in known.all().keys().filter(|path| is_task_file(path)) {
            own.read(&known, path);
        }
    }
    if is_other {
        tasks.set_changed();
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::message::Messages;
    use bevy::ecs::system::RunSystemOnce;

    use super::*;

    const PATH: &str = "tasks/shop.task.md";

    fn room(files: &[(&str, &str)]) -> World {
        let mut world = World::new();
        world.init_resource::<KnownTasks>();
        world.init_resource::<Elements>();
        world.init_resource::<Messages<FileChanged>>();
        world.init_resource::<Messages<FileWritten>>();
        world.init_resource::<Messages<ElementChanged>>();
        know(&mut world, files);
        world
    }

    fn know(world: &mut World, files: &[(&str, &str)]) {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        world.insert_resource(files.collect::<KnownFiles>());
    }

    fn open_after_following(world: &mut World) -> usize {
        world.run_system_once(follow).expect("it runs");
        world.resource::<KnownTasks>().open_count()
    }

    #[test]
    fn open_tasks_count_assigned_tasks_outside_of_the_approvals_file() {
        let shop = "## TODO\n- [ ] @ada Buy milk\n- [ ] Nobody's\n- [x] @ada Done\n";
        let mut world =
            room(&[(PATH, shop), (APPROVALS_FILE, "- [ ] @human Run it\n"), ("notes.md", "- [ ] @ada x\n")]);
        assert_eq!(open_after_following(&mut world), 1);
    }

    #[test]
    fn changes_by_boards_count_like_changes_by_editors() {
        let mut world = room(&[(PATH, "- [ ] @ada Buy milk\n")]);
        assert_eq!(open_after_following(&mut world), 1);
        know(&mut world, &[(PATH, "- [x] @ada Buy milk\n")]);
        world.write_message(FileWritten { path: PATH.to_owned() });
        assert_eq!(open_after_following(&mut world), 0);
    }
}
