//! Edits of task files as orders: what is ordered, what becomes of the results, and what was under way when a room was
//! saved, now and by earlier versions.

use std::fs;

use bevy::ecs::message::Messages;

use super::super::saved::DeskSaved;
use super::super::task_assignments::AssignmentStage;
use super::*;
use crate::base::ids::ROOM;
use crate::schedule::{Section, TICKS_PER_SEC};
use crate::workspace::task_files::task_edit::{TaskDraft, TaskUpdate};
use crate::workspace::vfs::{FileFailure, FileService, FileServiceOptions};

const SHOP: &str = "tasks/shop.task.md";
const TEA: &str = "- [ ] \"Buy tea\"\n  id: tea\n";
/// What two orders for each edit looked like in a saved room.
const SAVED: &str = include_str!("fixtures/saved_with_two_orders_an_edit.json");

/// A desk and the files of a workspace on disk, without the rest of a room.
struct DeskOnDisk {
    folder: tempfile::TempDir,
    service: FileService,
    world: World,
}

fn open(folder: &tempfile::TempDir) -> FileService {
    FileService::open(FileServiceOptions::new(folder.path())).expect("it can be opened")
}

impl DeskOnDisk {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir_all(folder.path().join("tasks")).expect("folders can be made");
        for (path, text) in files {
            fs::write(folder.path().join(path), text).expect("files can be written");
        }
        let mut world = World::new();
        world.init_resource::<TaskWrites>();
        world.init_resource::<TaskAssignments>();
        world.init_resource::<SimClock>();
        world.insert_resource(KnownFiles::default());
        world.init_resource::<Messages<FileOutcome>>();
        world.init_resource::<Messages<FileOrder>>();
        world.init_resource::<Messages<OrderOutcome>>();
        let service = open(&folder);
        Self { folder, service, world }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).expect("it should exist")
    }

    fn push(&mut self, write: TaskWrite) {
        let order = self.world.resource_mut::<TaskWrites>().push("r", write);
        self.world.write_message(order);
    }

    /// Carries out an order on disk.
    fn carry_out(&self, order: FileOrder) -> FileOutcome {
        assert!(self.service.send(order).is_ok(), "there is room");
        self.service.next(std::time::Duration::from_secs(20)).expect("it is answered")
    }

    /// Runs until no edit is under way, and returns the answers to the calls.
    fn run(&mut self) -> Vec<OrderOutcome> {
        for _ in 0..20 {
            let orders: Vec<FileOrder> = self.world.resource_mut::<Messages<FileOrder>>().drain().collect();
            for order in orders {
                let outcome = self.carry_out(order);
                self.world.write_message(outcome);
            }
            self.world.run_system_cached(apply_written_edits).expect("its resources are there");
            if self.world.resource::<TaskWrites>().is_empty() {
                return self.world.resource_mut::<Messages<OrderOutcome>>().drain().collect();
            }
        }
        panic!("edits are still under way: {:?}", self.world.resource::<TaskWrites>());
    }
}

fn call(number: u32) -> WriteFor {
    WriteFor::Call(format!("act-7-3kq9x2mf/1/{number}/0123456789abcdef").parse().expect("it names a call"))
}

fn write(made_for: WriteFor, edit: TaskEdit) -> TaskWrite {
    let author = if matches!(made_for, WriteFor::Call(_)) { "ada" } else { ROOM };
    TaskWrite {
        path: SHOP.to_owned(),
        edit,
        made_for,
        author: Author(author.into()),
        activation: None,
        rights: FileRights::default(),
        cause: Seq(0),
    }
}

fn create(title: &str) -> TaskEdit {
    TaskEdit::Create { task: TaskDraft { title: title.to_owned(), ..TaskDraft::default() }, keys: Vec::new() }
}

fn complete(id: &str) -> TaskEdit {
    let update = TaskUpdate { status: Some("completed".to_owned()), ..TaskUpdate::default() };
    TaskEdit::Update { id: id.to_owned(), update }
}

fn texts(answers: Vec<OrderOutcome>) -> Vec<Result<String, String>> {
    let text = |answer: OrderOutcome| match answer.news {
        OrderReport::Done { output } => Ok(output.text),
        OrderReport::Failed { why } => Err(why),
        other => panic!("{other:?}"),
    };
    answers.into_iter().map(text).collect()
}

#[test]
fn each_edit_is_one_order_and_edits_of_a_file_are_made_one_after_another() {
    let mut desk = DeskOnDisk::new(&[(SHOP, TEA)]);
    desk.push(write(call(0), create("Buy milk")));
    desk.push(write(call(1), complete("buy-milk")));
    desk.push(write(call(2), complete("coffee")));
    assert_eq!(desk.world.resource::<Messages<FileOrder>>().len(), 3);
    let WriteFor::Call(first) = call(0) else { panic!("it is a call") };
    assert!(desk.world.resource::<TaskWrites>().has_call(first));
    let texts = texts(desk.run());
    assert_eq!(texts[0].as_deref(), Ok("Written: task buy-milk “Buy milk” in tasks/shop.task.md."));
    assert_eq!(texts[1].as_deref(), Ok("Changed: task buy-milk “Buy milk” in tasks/shop.task.md."));
    let why = texts[2].as_ref().expect_err("there is no such task");
    assert!(why.starts_with("tasks/shop.task.md: there is no task \"coffee\" in it"), "{why}");
    assert_eq!(desk.read(SHOP), format!("{TEA}- [x] \"Buy milk\"\n  id: buy-milk\n"));
}

fn failed(key: &Id, is_refusal: bool) -> FileOutcome {
    FileOutcome {
        key: key.clone(),
        author: Author(ROOM.into()),
        activation: None,
        result: Err(FileFailure { what: "the disk is full".to_owned(), is_refusal }),
        cause: Seq(0),
        worktree: None,
        restores: false,
    }
}

#[test]
fn only_the_rooms_edits_are_tried_again_with_growing_delays_under_new_keys() {
    let known: KnownFiles = [(SHOP.to_owned(), TEA.to_owned())].into_iter().collect();
    let ended = Err(("the disk is full".to_owned(), content_hash(TEA.as_bytes())));
    for (made_for, is_refusal) in [(call(0), false), (call(0), true), (WriteFor::Mark(1), true)] {
        let mut writes = TaskWrites::default();
        let key = writes.push("r", write(made_for, complete("tea"))).key;
        let (_, result) = writes.apply(&failed(&key, is_refusal), &known, 0).expect("it is over");
        assert_eq!(result, ended);
        assert!(writes.is_empty());
    }
    let mut writes = TaskWrites::default();
    let (mut now, mut waits, mut keys) = (0, Vec::new(), Vec::new());
    let mut key = writes.push("r", write(WriteFor::Close(1), complete("tea"))).key;
    let result = loop {
        keys.push(key.clone());
        let outcome = failed(&key, false);
        if let Some((_, result)) = writes.apply(&outcome, &known, now) {
            break result;
        }
        assert_eq!(writes.apply(&outcome, &known, now), None, "the same answer counts once");
        let since = now;
        let order = loop {
            if let Some(order) = writes.take_due(now).pop() {
                break order;
            }
            now += 1;
        };
        assert!(matches!(order.operation, FileOperation::EditWith { .. }));
        waits.push((now - since) / TICKS_PER_SEC);
        key = order.key;
    };
    assert_eq!(result, ended);
    assert_eq!(waits, [5, 10, 20, 40, 60, 60, 60]);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), MAX_TRIES as usize, "each order has a key of its own");
}

#[test]
fn edits_under_way_are_saved_with_the_room() {
    let mut writes = TaskWrites::default();
    let known = KnownFiles::default();
    let key = writes.push("r", write(WriteFor::Mark(1), complete("tea"))).key;
    let _order = writes.push("r", write(call(0), create("Buy milk")));
    assert_eq!(writes.apply(&failed(&key, false), &known, 30), None);
    let saved = serde_json::to_value(&writes).expect("it can be saved");
    let mut again: TaskWrites = serde_json::from_value(saved).expect("it can be loaded");
    assert_eq!(again, writes);
    let next = |writes: &mut TaskWrites| writes.push("r", write(call(1), create("Post it"))).key;
    assert_eq!(next(&mut again), next(&mut writes), "further orders have the same keys");
}

/// The state of a room's file when the room is opened whose edit was being saved.
#[derive(Clone, Copy, PartialEq, Debug)]
enum AtOpening {
    /// The process was killed before the text was written.
    Unwritten,
    /// It was killed after that, before the answer arrived.
    Written,
    /// A person changed the file before the text was written.
    ChangedByPerson,
}

#[test]
fn edits_under_way_in_a_room_that_was_saved_with_two_orders_for_each_go_on() {
    for at_opening in [AtOpening::Unwritten, AtOpening::Written, AtOpening::ChangedByPerson] {
        let rest = "- [ ] Rest\n";
        let mut desk = DeskOnDisk::new(&[(SHOP, TEA), ("tasks/plan.task.md", rest), ("tasks/board.task.md", rest)]);
        let mut saved: serde_json::Value = serde_json::from_str(SAVED).expect("it is JSON");
        saved["files"]["under_way"][0]["operation"]["base"] = content_hash(TEA.as_bytes()).into();
        let orders: Vec<FileOrder> =
            serde_json::from_value(saved["files"]["under_way"].clone()).expect("they can be read");
        match at_opening {
            AtOpening::Unwritten => {}
            AtOpening::Written => drop(desk.carry_out(orders[0].clone())),
            AtOpening::ChangedByPerson => {
                let theirs = format!("{TEA}- [ ] \"Post it\"\n  id: post\n");
                fs::write(desk.folder.path().join(SHOP), theirs).expect("files can be written");
            }
        }
        let section: DeskSaved = serde_json::from_value(saved["desk"].clone()).expect("it can be read");
        section.load(&mut desk.world);
        desk.world.write_message_batch(orders);
        let mut texts = texts(desk.run());
        texts.sort();
        let expected = [
            "Changed: task rest “Rest” in tasks/board.task.md.",
            "Changed: task rest “Rest” in tasks/plan.task.md.",
            "Written: task buy-milk “Buy milk” in tasks/shop.task.md.",
        ];
        assert_eq!(texts, expected.map(|text| Ok(text.to_owned())), "{at_opening:?}");
        let shop = desk.read(SHOP);
        assert_eq!(shop.matches("Buy milk").count(), 1, "{at_opening:?}: {shop}");
        assert!(shop.contains("created_by: ada\n") && shop.contains("id: tea\n  status: working\n"), "{shop}");
        assert_eq!(shop.contains("Post it"), at_opening == AtOpening::ChangedByPerson, "{shop}");
        assert_eq!(desk.read("tasks/plan.task.md"), "- [x] Rest\n  id: rest\n");
        assert_eq!(desk.read("tasks/board.task.md"), "- [-] Rest\n  id: rest\n");
        let stages: Vec<AssignmentStage> =
            desk.world.resource::<TaskAssignments>().iter().map(|assignment| assignment.stage.clone()).collect();
        assert_eq!(stages, [AssignmentStage::Ready { not_before: 0 }], "{at_opening:?}");
    }
}
