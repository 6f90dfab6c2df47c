//! The memories of agents on the command line: searching, listing, showing, forgetting and exporting, with the files as
//! the source of truth.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{output, succeed, write};

pub fn trials() -> Vec<Trial> {
    cases![
        memories_are_found_by_meaning_and_by_word,
        no_agent_sees_private_memories_of_another,
        a_memory_is_shown_with_its_source,
        forgetting_removes_one_line_and_needs_a_flag_for_pinned_memories,
        a_broken_line_is_reported_and_everything_else_works,
        deleting_the_index_loses_no_memory,
        the_graph_is_exported_as_files
    ]
}

const ADA: &str = "# What ada knows\r\n\r\n- Start the preview on port 8199. <!-- k-1 kind=procedure tags=build \
                   created=2026-11-20T10:00:00 run=r-1 session=s-1 record=42 contradicts=k-2 -->\r\n- The safe code is 4711.\r\n- \
                   Dana likes short lists. <!-- k-3 kind=preference pinned -->\r\n";
const SHARED: &str = "- The preview runs on port 8080. <!-- k-2 by=bob -->\n";

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in
        [("settings.yaml", ""), ("memory/knowledge/ada.md", ADA), ("memory/knowledge/shared.md", SHARED)]
    {
        write(folder.path(), path, text);
    }
    folder
}

fn text(room: &TempDir, path: &str) -> String {
    fs::read_to_string(room.path().join(path)).unwrap()
}

fn json(room: &TempDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(room.path(), arguments)).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    list["memories"].as_array().unwrap().iter().map(|memory| memory["id"].as_str().unwrap()).collect()
}

fn memories_are_found_by_meaning_and_by_word() {
    let room = room();
    let found = json(&room, &["knowledge", "query", "which", "port", "for the preview", "--json"]);
    let first = &found["memories"][0];
    assert!(ids(&found)[..2].contains(&"k-1") && ids(&found)[..2].contains(&"k-2"), "{found}");
    assert!(first["score"].as_f64().unwrap() > 0.5 && first["parts"]["meaning_rank"].is_u64(), "{found}");
    let found = json(&room, &["knowledge", "query", "4711", "--json", "--limit", "1"]);
    assert_eq!(found["memories"][0]["content"], "The safe code is 4711.");
    let plain = succeed(room.path(), &["knowledge", "query", "How does Dana want it?"]);
    assert!(plain.lines().next().unwrap().contains("k-3  ada, preference, pinned: Dana likes"), "{plain}");
    let wrong = output(room.path(), &["knowledge", "query", "x", "--kind", "fat"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert_eq!(ids(&json(&room, &["knowledge", "list", "--kind", "procedure", "--json"])), ["k-1"]);
    assert_eq!(ids(&json(&room, &["knowledge", "list", "--tag", "build", "--json"])), ["k-1"]);
}

fn no_agent_sees_private_memories_of_another() {
    let room = room();
    assert_eq!(ids(&json(&room, &["knowledge", "list", "--agent", "bob", "--json"])), ["k-2"]);
    let found = |words: &str| json(&room, &["knowledge", "query", words, "--agent", "bob", "--json"]);
    assert_eq!(ids(&found("start the preview on port 8199")), ["k-2"]);
    assert!(ids(&found("the safe code is 4711")).iter().all(|id| *id == "k-2"));
    assert_eq!(ids(&json(&room, &["knowledge", "list", "--agent", "ada", "--json"])).len(), 4);
    assert_eq!(ids(&json(&room, &["knowledge", "export", "--agent", "bob", "--json"])), ["k-2"]);
}

fn a_memory_is_shown_with_its_source() {
    let room = room();
    let shown = json(&room, &["knowledge", "show", "k-1", "--json"]);
    assert_eq!(shown["place"], "memory/knowledge/ada.md:3", "{shown}");
    assert_eq!(shown["source"]["record"], 42, "{shown}");
    assert_eq!(shown["edges"][0]["relation"], "contradicts", "{shown}");
    let plain = succeed(room.path(), &["knowledge", "show", "k-2"]);
    assert!(plain.contains("shared, from bob") && plain.contains("contradicts this"), "{plain}");
    let wrong = output(room.path(), &["knowledge", "show", "k-9"]);
    assert_eq!(wrong.status.code(), Some(2));
    let several = output(room.path(), &["knowledge", "show", "k-"]);
    assert!(String::from_utf8_lossy(&several.stderr).contains("use a longer prefix of the id"));
}

fn forgetting_removes_one_line_and_needs_a_flag_for_pinned_memories() {
    let room = room();
    let refused = output(room.path(), &["knowledge", "forget", "k-3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(text(&room, "memory/knowledge/ada.md"), ADA);
    succeed(room.path(), &["knowledge", "forget", "k-1"]);
    let left: String = ADA.split_inclusive('\n').filter(|line| !line.contains("k-1")).collect();
    assert_eq!(text(&room, "memory/knowledge/ada.md"), left);
    let forgotten = json(&room, &["knowledge", "forget", "k-3", "--pinned", "--json"]);
    assert_eq!(forgotten["forgotten"]["content"], "Dana likes short lists.");
    let plain = json(&room, &["knowledge", "list", "--agent", "ada", "--json"]);
    assert_eq!(plain["memories"].as_array().unwrap().len(), 2);
}

fn a_broken_line_is_reported_and_everything_else_works() {
    let room = room();
    let broken = format!("{ADA}- odd <!-- k-7 kind=fat -->\r\n- twice <!-- k-1 -->\r\n");
    write(room.path(), "memory/knowledge/ada.md", &broken);
    let listed = output(room.path(), &["knowledge", "list", "--json"]);
    let stderr = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(stderr.contains("memory/knowledge/ada.md:6: kind: \"fat\" is not one of"), "{stderr}");
    assert!(stderr.contains("memory/knowledge/ada.md:7: the id k-1 is used on two lines"), "{stderr}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(ids(&listed).len(), 5, "{listed}");
    assert_eq!(text(&room, "memory/knowledge/ada.md"), broken);
}

fn deleting_the_index_loses_no_memory() {
    let room = room();
    let before = json(&room, &["knowledge", "list", "--json"]);
    assert!(room.path().join(".workshop/knowledge.db").exists());
    fs::remove_dir_all(room.path().join(".workshop")).unwrap();
    assert_eq!(json(&room, &["knowledge", "list", "--json"]), before);
    write(room.path(), ".workshop/knowledge.db", &"no database ".repeat(500));
    assert_eq!(json(&room, &["knowledge", "list", "--json"]), before);
    let read = json(&room, &["knowledge", "reindex", "--json"]);
    assert_eq!((&read["memories"], &read["embedded"]), (&4.into(), &4.into()), "{read}");
    assert_eq!(text(&room, "memory/knowledge/ada.md"), ADA, "reindexing changes no memory file");
}

fn the_graph_is_exported_as_files() {
    let room = room();
    let stdout = succeed(room.path(), &["knowledge", "export"]);
    assert_eq!(stdout.trim(), "memory/knowledge/graph.json\nmemory/knowledge/graph.mmd");
    let graph: Value = serde_json::from_str(&text(&room, "memory/knowledge/graph.json")).unwrap();
    assert_eq!((ids(&graph).len(), &graph["edges"][0]["target_id"]), (4, &"k-2".into()), "{graph}");
    let chart = text(&room, "memory/knowledge/graph.mmd");
    assert!(chart.starts_with("flowchart LR\n") && chart.contains("-.->|contradicts|"), "{chart}");
    succeed(room.path(), &["knowledge", "export"]);
    assert_eq!(text(&room, "memory/knowledge/graph.mmd"), chart, "the export is deterministic");
}
