//! What memories cost: a tick while nobody recalls anything, adding one memory, and opening a workspace with many.

use std::fmt::Write;
use std::path::Path;

use agent_workshop::base::Author;
use agent_workshop::knowledge::{Embedder, Memory, WordLlama};
use agent_workshop::learning::{
    EmbedderChoice, KnowledgeBridge, KnowledgeFiles, KnowledgeNotices, KnowledgeService, KnowledgeServiceOptions,
};
use agent_workshop::memory::MemoryCounts;
use agent_workshop::schedule::{self, outside};
use agent_workshop::workspace::vfs::{FileService, FileServiceOptions};
use bevy::ecs::prelude::*;

use super::measure::{Figure, Times, digits, timed};
use super::rooms;

const AGENTS: usize = 1_000;
/// The ticks until all agents have read everything: after that, an unchanged room makes no model calls.
const WARM_UP: u64 = 9_000;
const TICKS: usize = 3_000;
const MEMORIES: usize = 10_000;
const ADDED: usize = 200;

/// The memories of a workspace as text, one per line.
fn lines(count: usize) -> String {
    const THINGS: [&str; 8] = ["port", "schema", "proxy", "report", "invoice", "deadline", "server", "customer"];
    const SAID: [&str; 6] = ["is taken by", "was moved to", "needs", "fails without", "is older than", "belongs to"];
    let mut text = String::new();
    for index in 0..count {
        let (one, other) = (THINGS[index % 8], THINGS[(index / 8 + 3) % 8]);
        let said = SAID[(index / 64) % 6];
        let _ = writeln!(text, "- The {one} {index} {said} the {other} of team {}. <!-- k-{index} -->", index % 97);
    }
    text
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
    std::fs::write(path, text).expect("files can be written");
}

/// Compares a tick of a large room with memories to one without memories, while nobody recalls any.
pub fn tick() -> Vec<Figure> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(folder.path(), "memory/knowledge/shared.md", &lines(MEMORIES));
    let files = FileService::open(FileServiceOptions::new(folder.path())).expect("the workspace can be opened");
    let counted = MemoryCounts { shared: MEMORIES, ..MemoryCounts::default() };
    let mut without = rooms::crowd_with_minds(AGENTS);
    let mut with = rooms::crowd_with_minds(AGENTS);
    let service = KnowledgeService::start(KnowledgeServiceOptions {
        workspace: folder.path().to_owned(),
        state_folder: folder.path().join(".workshop"),
        files: files.handle().expect("the files are open"),
        counted: counted.clone(),
        notices: KnowledgeNotices::of(with.world()),
    });
    with.world_mut().insert_resource(counted);
    with.world_mut().insert_resource(KnowledgeBridge::new(service.expect("a thread can be started")));
    for room in [&mut without, &mut with] {
        for _ in 0..WARM_UP {
            settle(room.world_mut());
            rooms::run(room.world_mut(), 1);
        }
    }
    let pairs: Vec<_> = (0..TICKS)
        .map(|number| {
            // Recalls are answered outside of ticks and are not measured here.
            settle(without.world_mut());
            settle(with.world_mut());
            // Alternate the order, so that neither always runs on a cold cache.
            let mut one = || timed(|| step(without.world_mut()));
            let mut other = || timed(|| step(with.world_mut()));
            if number % 2 == 0 {
                let first = one();
                (first, other())
            } else {
                let first = other();
                (one(), first)
            }
        })
        .collect();
    let base = Times::from_each(pairs.iter().map(|pair| pair.0));
    let full = Times::from_each(pairs.iter().map(|pair| pair.1));
    let ratio = full.median() / base.median();
    vec![Figure {
        what: format!("a tick of {AGENTS} agents with {MEMORIES} shared memories, without recalls"),
        limit: "1.02 ×".into(),
        measured: format!("{} ×", digits(ratio)),
        against: format!("{full} against {base}"),
        holds: Some(ratio <= 1.02),
    }]
}

/// Does what every driver of a room does for a tick.
fn step(world: &mut World) {
    assert!(!outside::must_wait(world, true), "everything that was asked is answered");
    schedule::advance(world);
}

fn settle(world: &mut World) {
    while outside::must_wait(world, true) {
        outside::wait(world, std::time::Duration::from_millis(5));
    }
}

/// Writes a file next to its target, syncs and renames it, and syncs its folder.
fn put_in_place(folder: &Path, content: &[u8]) -> std::io::Result<()> {
    let (beside, place) = (folder.join("beside"), folder.join("place"));
    let mut file = std::fs::File::create(&beside)?;
    std::io::Write::write_all(&mut file, content)?;
    file.sync_all()?;
    std::fs::rename(&beside, &place)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Measures adding one memory as an agent does in an open room, and opening a workspace with many.
pub fn files() -> Vec<Figure> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    write(folder.path(), "memory/knowledge/shared.md", &lines(1_000));
    let service = FileService::open(FileServiceOptions::new(folder.path())).expect("the workspace can be opened");
    let (state, choice) = (folder.path().join(".workshop"), EmbedderChoice::default());
    let handle = service.handle().expect("the files are open");
    let mut known = KnowledgeFiles::open_in_room(folder.path(), &state, handle, &choice).expect("memories can be read");
    let by = Author::agent(&"ada".into());
    let text = |index: usize| format!("The migration of table {index} waits for the lock of the nightly report.");
    let mut index = 0;
    let added = Times::of(20, ADDED, || {
        index += 1;
        let memory =
            Memory { id: format!("k-new-{index}").into(), ..Memory::new(&"ada".into(), &text(index), Some(1)) };
        known.add(&memory, &by).expect("it can be added");
    });
    let model = WordLlama::built_in().expect("the table should be complete");
    let embedded = Times::of(20, ADDED, || {
        index += 1;
        let _vector = model.embed(&text(index));
    });
    drop(known);
    drop(service);
    // The time of the disk alone for a file of this size. Adding a memory waits for the disk twice: for the version and
    // for the line.
    let line = std::fs::read(folder.path().join("memory/knowledge/ada.md")).expect("memories of hers are there");
    let in_place = Times::of(20, ADDED, || put_in_place(folder.path(), &line).expect("files can be written"));
    let many = tempfile::tempdir().expect("a temporary folder can be made");
    write(many.path(), "memory/knowledge/shared.md", &lines(MEMORIES));
    let state = many.path().join(".workshop");
    let open = || drop(KnowledgeFiles::open(many.path(), &state, &choice).expect("memories can be read"));
    // With their vectors in the index, after the first time.
    let opened = Times::of(1, 9, open);
    vec![
        Figure::at_most_ms(
            "adding a memory in an open room with 1,000: its line and version on disk, indexed".to_owned(),
            1.0,
            &added,
        )
        .against(format!("including its embedding: {embedded}; only writing a file of this size durably: {in_place}")),
        Figure::at_most_ms(format!("opening {MEMORIES} memories"), 300.0, &opened),
    ]
}
