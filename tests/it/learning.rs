//! Memory across runs: agents recall relevant memories, search and add to them, and never see the private memories of
//! others.

use std::fs;

use agent_workshop::agent::Roster;
use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::knowledge::{Filter, Viewer};
use agent_workshop::learning::{KnowledgeBridge, Lessons, MemoryQuery};
use agent_workshop::memory::MemoryCounts;
use agent_workshop::mind::LastPrompt;
use agent_workshop::mind::parts::REMEMBERED;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::program::{succeed, write};
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        relevant_memories_are_part_of_the_prompt,
        without_memories_nothing_is_queried,
        shared_memories_are_found_by_others_and_not_added_twice,
        no_tool_reveals_another_agents_memories,
        edited_memory_files_are_reloaded,
        what_one_agent_shared_is_not_rewritten_by_another,
        a_rewritten_memory_has_the_source_of_its_new_words,
        a_run_with_memories_replays_without_them,
        work_adds_new_memories_and_updates_known_ones,
        failed_learning_calls_are_reported_and_results_kept_where_possible,
        a_lesson_is_learned_once_even_if_the_room_is_killed,
        learning_and_recall_work_without_a_model,
        learning_and_recall_can_be_turned_off,
        unreadable_memories_do_not_hold_up_work,
        the_prompt_contains_only_as_many_long_memories_as_fit,
        a_persons_search_uses_the_same_index_as_recall,
        added_memories_have_relations_and_contradictions_are_reported
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n  - { id: bob, profile: bob, position: [90, 0] }\n";
const ADA: &str = "- Port 8080 is taken by the proxy; start the preview on 8199. <!-- k-1 kind=procedure \
                   created=2026-11-20T10:00:00 run=r-1 record=42 -->\n- Dana wants short lists. <!-- k-2 kind=preference -->\n";
const BOB: &str = "- The safe code of the preview port is 4711. <!-- k-3 -->\n";

fn call(name: &str, arguments: &Value) -> String {
    format!("{{ name: {name}, arguments: {arguments} }}")
}

/// Opens a room with these scripted turns of Ada and Bob.
fn studio(ada: &str, bob: &str, files: &[(&str, &str)]) -> Studio {
    let script = format!(
        "latency: 0.1\nagents:\n  ada:\n{ada}    - text: Done.\n  bob:\n{bob}    - text: Done.\ndefault: [ {{ text: Noted. }} ]\n"
    );
    let own = [("scenes/test.yaml", SCENE), ("agents/ada.md", "You are Ada.\n"), ("agents/bob.md", "You are Bob.\n")];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    Studio::new(&script, &all)
}

/// Returns the part of the agent's last prompt that contains memories.
fn recalled_part(studio: &mut Studio, agent: &str) -> Option<String> {
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key)).expect("the agent is in the room");
    let prompt = &world.get::<LastPrompt>(entity).expect("the agent has had a prompt").0;
    prompt.parts_from(REMEMBERED).next().map(|part| part.text.clone())
}

fn knowledge_events(studio: &Studio, change: &str) -> Vec<Value> {
    let events = studio.all("knowledge").into_iter().filter(|event| event["data"]["change"] == change);
    events.cloned().collect()
}

fn relevant_memories_are_part_of_the_prompt() {
    let files = [("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB)];
    let mut studio = studio("", "", &files);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    let part = recalled_part(&mut studio, "ada").expect("a memory is recalled");
    assert!(part.contains("start the preview on 8199. (procedure, 2026-11-20)"), "{part}");
    assert!(!part.contains("Dana"), "irrelevant memories are left out: {part}");
    assert!(!part.contains("4711"), "private memories of others are left out: {part}");
    let recalled = knowledge_events(&studio, "recalled");
    assert_eq!(recalled.len(), 1, "{recalled:#?}");
    let memory = &recalled[0]["data"]["memories"][0];
    assert_eq!((&recalled[0]["agent"], &memory["id"]), (&json!("ada"), &json!("k-1")));
    for part in ["score", "relevance", "recency", "importance", "similarity"] {
        assert!(memory[part].is_number(), "the log says why it was recalled: {memory}");
    }
    let cause = recalled[0]["cause"].clone();
    assert!(studio.log_of_all().iter().any(|event| event["seq"] == cause), "the cause is in the log");
    studio.close();
    assert_eq!(studio.read("memory/knowledge/ada.md"), ADA, "recall changes no file");
}

fn without_memories_nothing_is_queried() {
    let mut studio = studio("", "", &[]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert!(recalled_part(&mut studio, "ada").is_none() && knowledge_events(&studio, "recalled").is_empty());
    assert_eq!(*studio.world().resource::<MemoryCounts>(), MemoryCounts::default());
    studio.close();
    assert!(!studio.exists(".workshop/knowledge.db"), "no database is created without memories");
}

fn shared_memories_are_found_by_others_and_not_added_twice() {
    let content = "Use `make schema` to change the database schema.";
    let add = |content: &str| {
        call("knowledge_contribute", &json!({ "content": content, "kind": "procedure", "tags": ["build"] }))
    };
    let ada = format!(
        "    - tools: [ {} ]\n    - tools: [ {} ]\n",
        add(content),
        add("use make schema to change the database schema")
    );
    let bob = format!(
        "    - tools: [ {} ]\n",
        call("knowledge_query", &json!({ "query": "How do I change the schema of the database?" }))
    );
    let mut studio = studio(&ada, &bob, &[]);
    studio.task("ada", "Tell everybody.");
    studio.idle();
    let shared = studio.read("memory/knowledge/shared.md");
    let lines: Vec<&str> = shared.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 1, "{shared}");
    assert!(lines[0].starts_with(&format!("- {content} <!-- k-")), "{shared}");
    for part in ["kind=procedure", "tags=build", "by=ada", "run=r-", "session=act-", "record="] {
        assert!(lines[0].contains(part), "{part}: {shared}");
    }
    let results = studio.results();
    assert!(results[0].starts_with("Saved as k-") && results[0].ends_with(", for everybody."), "{results:?}");
    assert!(results[1].starts_with("This is already known, as k-"), "{results:?}");
    assert_eq!((knowledge_events(&studio, "added").len(), knowledge_events(&studio, "known").len()), (1, 1));
    let written: Vec<_> = studio.all("file_change").into_iter().map(|event| event["data"].clone()).collect();
    assert!(written.iter().any(|change| change["path"] == "memory/knowledge/shared.md" && change["by"] == "ada"));
    // Bob has no memory of his own, but finds the shared one in the next run.
    studio.close();
    studio.open();
    studio.task("bob", "Change the schema.");
    studio.idle();
    let found = studio.results().pop().unwrap();
    assert!(found.contains(content) && found.contains("shared by ada"), "{found}");
    let part = recalled_part(&mut studio, "bob").expect("the shared memory is recalled");
    assert!(part.contains(content), "{part}");
}

fn what_one_agent_shared_is_not_rewritten_by_another() {
    let shared = "The office dog is called Rex.";
    let longer = "The office dog is called Rex and bites everyone from finance.";
    let add =
        |content: &str| call("knowledge_contribute", &json!({ "content": content, "kind": "fact", "importance": 0.5 }));
    let bob = format!("    - tools: [ {} ]\n", add(longer));
    let line = format!("- {shared} <!-- k-s1 by=ada created=2026-01-01T10:00:00 run=r-1 session=s-1 record=42 -->\n");
    let mut studio = studio("", &bob, &[("memory/knowledge/shared.md", &line)]);
    studio.task("bob", "Tell everybody.");
    studio.idle();
    let file = studio.read("memory/knowledge/shared.md");
    assert!(file.starts_with(&line), "Ada's words stay hers: {file}");
    let own: Vec<&str> = file.lines().filter(|line| line.contains(longer)).collect();
    assert!(own.len() == 1 && own[0].contains("by=bob") && !own[0].contains("<!-- k-s1"), "{file}");
    let results = studio.results();
    assert!(results[0].starts_with("Saved as k-"), "{results:?}");
}

fn a_rewritten_memory_has_the_source_of_its_new_words() {
    let longer = "The office dog is called Rex and bites everyone from finance.";
    let add = call("knowledge_contribute", &json!({ "content": longer, "kind": "fact", "importance": 0.5 }));
    let line = "- The office dog is called Rex. <!-- k-s1 by=ada created=2026-01-01T10:00:00 run=r-1 session=s-1 record=42 -->\n";
    let mut studio = studio(&format!("    - tools: [ {add} ]\n"), "", &[("memory/knowledge/shared.md", line)]);
    studio.task("ada", "Tell everybody.");
    studio.idle();
    let file = studio.read("memory/knowledge/shared.md");
    assert!(file.contains(longer) && file.contains("k-s1") && file.contains("by=ada"), "{file}");
    assert!(file.contains("session=act-") && file.contains("updated="), "{file}");
    assert!(!file.contains("session=s-1") && !file.contains("record=42") && !file.contains("run=r-1 "), "{file}");
}

fn no_tool_reveals_another_agents_memories() {
    let ada = [
        call("vfs_read", &json!({ "path": "memory/knowledge/bob.md" })),
        call("vfs_search", &json!({ "text": "4711" })),
        call("vfs_list", &json!({ "prefix": "memory" })),
        call("vfs_write", &json!({ "path": "memory/knowledge/bob.md", "content": "- x" })),
        call("vfs_read", &json!({ "path": "memory/knowledge/ada.md" })),
        call("knowledge_query", &json!({ "query": "The safe code of the preview port" })),
        call(
            "knowledge_contribute",
            &json!({ "content": "The safe code of the preview port is 4711.", "private": true }),
        ),
    ];
    let ada: String = ada.iter().map(|call| format!("    - tools: [ {call} ]\n")).collect();
    let mut studio = studio(&ada, "", &[("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB)]);
    studio.task("ada", "Find out what Bob knows.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].contains("says what others remember, and is not yours to read"), "{results:#?}");
    for result in [&results[1], &results[2], &results[5]] {
        assert!(!result.contains("bob.md") && !result.contains("is 4711"), "{results:#?}");
    }
    assert!(results[3].contains("Error"), "{results:#?}");
    assert!(results[4].contains("8199"), "an agent may read its own memories: {results:#?}");
    assert!(results[6].starts_with("Saved as k-"), "the result does not reveal that Bob knows it too: {results:#?}");
    assert_eq!(studio.read("memory/knowledge/bob.md"), BOB);
}

fn edited_memory_files_are_reloaded() {
    let folder = tempfile::tempdir().unwrap();
    let ada = "---\nname: Ada\n---\nYou are Ada.\n";
    for (path, text) in
        [("settings.yaml", ""), ("scenes/test.yaml", SCENE), ("agents/ada.md", ada), ("agents/bob.md", ada)]
    {
        write(folder.path(), path, text);
    }
    let options = OpenOptions { folder: folder.path().to_owned(), watch: true, ..OpenOptions::trusted() };
    let (mut room, _) = Room::open(&options).unwrap();
    let wait_for_count = |room: &mut Room, wanted: usize| {
        let begun = std::time::Instant::now();
        while begun.elapsed() < crate::program::PATIENCE {
            room.driver.step(room.app.world_mut());
            if room.app.world().resource::<MemoryCounts>().of("ada") == wanted {
                return begun.elapsed();
            }
        }
        panic!("the changed file is not loaded");
    };
    write(folder.path(), "memory/knowledge/ada.md", ADA);
    wait_for_count(&mut room, 2);
    write(folder.path(), "memory/knowledge/ada.md", "- Only this.\n");
    wait_for_count(&mut room, 1);
    fs::remove_file(folder.path().join("memory/knowledge/ada.md")).unwrap();
    wait_for_count(&mut room, 0);
    room.close("closed by the test", |_| {}).unwrap();
}

fn a_run_with_memories_replays_without_them() {
    let add = call("knowledge_contribute", &json!({ "content": "The preview starts on port 8199." }));
    let mut studio = studio(&format!("    - tools: [ {add} ]\n"), "", &[("memory/knowledge/ada.md", ADA)]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert_eq!(knowledge_events(&studio, "recalled").len(), 1);
    studio.close();
    fs::remove_dir_all(studio.folder.path().join("memory")).unwrap();
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

/// Runs until all work has ended, including learning.
fn run_until_settled(studio: &mut Studio) {
    studio.idle();
    studio.until("all lessons were processed", |studio| studio.world().resource::<Lessons>().is_empty());
    studio.tick();
}

/// Returns the turns of an agent that reads a file, finishes, and answers the two learning calls like this.
fn learning_turns(extract: &str, weigh: &str) -> String {
    let read = call("vfs_read", &json!({ "path": "agents/ada.md" }));
    format!(
        "    - tools: [ {read} ]\n    - text: The proxy was restarted.\n    - {{ when: {{ kind: learning, contains: \"is worth remembering\" }}, {extract} }}\n    - {{ when: {{ kind: learning, contains: \"for each candidate\" }}, {weigh} }}\n"
    )
}

fn text(answer: &Value) -> String {
    format!("text: {}", json!(answer.to_string()))
}

fn lines(studio: &Studio) -> Vec<String> {
    let file = studio.folder.path().join("memory/knowledge/ada.md");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

/// Returns whether the text contains this id as a whole word.
fn mentions_id(text: &str, id: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').any(|word| word == id)
}

const NEW: &str = "Restart the proxy with `systemctl restart px` after each change.";

fn work_adds_new_memories_and_updates_known_ones() {
    let extract = text(&json!([
        { "content": NEW, "kind": "procedure", "importance": 0.8 },
        { "content": "Port 8080 is taken by the proxy; start the preview on port 8200 since 24 November 2026." },
    ]));
    let better = "Port 8080 is taken by the proxy; start the preview on 8200.";
    let weigh = text(&json!([
        { "candidate": 1, "act": "ADD", "supports": ["k-1", "k-9"] },
        { "candidate": 2, "act": "UPDATE", "id": "k-1", "content": better },
    ]));
    let mut studio = studio(&learning_turns(&extract, &weigh), "", &[("memory/knowledge/ada.md", ADA)]);
    studio.task("ada", "Look after the proxy on port 8080.");
    run_until_settled(&mut studio);
    let lines = lines(&studio);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(
        lines[0].starts_with(&format!("- {better} <!-- k-1 kind=procedure")) && lines[0].contains("updated="),
        "{lines:#?}"
    );
    assert!(lines[2].starts_with(&format!("- {NEW} <!-- k-")) && lines[2].contains("importance=0.8"), "{lines:#?}");
    for part in ["run=r-", "session=act-", "record=", "kind=procedure"] {
        assert!(lines[2].contains(part), "{part}: {lines:#?}");
    }
    assert!(!mentions_id(&lines[2], "k-9"), "relations to unknown memories are dropped");
    let learned = knowledge_events(&studio, "learned");
    assert_eq!(learned.len(), 1, "{:#?}", studio.all("knowledge"));
    assert_eq!((&learned[0]["data"]["added"], &learned[0]["data"]["updated"]), (&json!(1), &json!(1)));
    let ends = studio.all("complete");
    assert_eq!(learned[0]["cause"], ends[0]["seq"], "the end of the work is the cause");
    let calls = studio.all("model_call");
    let learning_calls = calls.iter().filter(|call| call["data"]["kind"] == "learning").count();
    assert_eq!(learning_calls, 2, "there are two calls of the kind `learning`");
    let written = studio.all("file_change");
    let own = written.iter().filter(|event| event["data"]["path"] == "memory/knowledge/ada.md");
    assert!(own.clone().count() >= 1 && own.clone().all(|event| event["data"]["by"] == "ada"), "{written:#?}");
}

fn failed_learning_calls_are_reported_and_results_kept_where_possible() {
    let fails = "error: { status: 400, message: no }";
    let mut first = studio(&learning_turns(fails, fails), "", &[("memory/knowledge/ada.md", ADA)]);
    first.task("ada", "Look after the proxy on port 8080.");
    run_until_settled(&mut first);
    assert_eq!(lines(&first).len(), 2, "nothing was learned");
    assert_eq!(knowledge_events(&first, "failed").len(), 1, "{:#?}", first.all("knowledge"));
    let extract = text(&json!([{ "content": "Port 8080 is taken by the new proxy, px." }]));
    let mut second = studio(&learning_turns(&extract, fails), "", &[("memory/knowledge/ada.md", ADA)]);
    second.task("ada", "Look after the proxy on port 8080.");
    run_until_settled(&mut second);
    assert_eq!(lines(&second).len(), 3, "the unweighed memory is kept: {:#?}", second.all("knowledge"));
    let learned = knowledge_events(&second, "learned");
    assert!(learned[0]["data"]["but"].as_str().is_some_and(|but| !but.is_empty()), "{learned:#?}");
}

fn a_lesson_is_learned_once_even_if_the_room_is_killed() {
    let extract = text(&json!([{ "content": NEW }, { "content": "Port 8080 is taken by the new proxy, px." }]));
    let weigh = text(&json!([{ "candidate": 1, "act": "ADD" }, { "candidate": 2, "act": "ADD" }]));
    let kills = std::env::var("WORKSHOP_MORE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    for kill in 0..kills {
        let mut studio = studio(&learning_turns(&extract, &weigh), "", &[("memory/knowledge/ada.md", ADA)]);
        studio.task("ada", "Look after the proxy on port 8080.");
        studio.idle();
        // Killed, as by a power failure, and again a little later.
        for at in [kill % 23, kill / 23 + kill % 7] {
            for _ in 0..at {
                studio.tick();
            }
            drop(studio.room.take());
            studio.open();
        }
        run_until_settled(&mut studio);
        let lines = lines(&studio);
        assert_eq!(lines.len(), 4, "killed at {kill}: {lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains("systemctl")).count(), 1, "{lines:#?}");
    }
}

fn learning_and_recall_work_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("settings.yaml", ""),
        ("scenes/test.yaml", SCENE),
        ("agents/ada.md", "You are Ada.\n"),
        ("agents/bob.md", "You are Bob.\n"),
    ] {
        write(folder.path(), path, text);
    }
    let run = |task: &str| {
        succeed(folder.path(), &["run", "--provider", "offline", "--agent", "ada", "--task", task, "--speed", "max"])
    };
    run("Write a note. Always start the preview on port 8199. Dana prefers short lists over long paragraphs.");
    let memories = fs::read_to_string(folder.path().join("memory/knowledge/ada.md")).unwrap_or_default();
    assert!(
        memories.contains("- Always start the preview on port 8199. <!-- k-") && memories.contains("kind=procedure"),
        "{memories}"
    );
    assert!(memories.contains("kind=preference"), "{memories}");
    let before = memories.lines().filter(|line| line.contains("port 8199")).count();
    run("Write a note. Always start the preview on port 8199.");
    let memories = fs::read_to_string(folder.path().join("memory/knowledge/ada.md")).unwrap();
    assert_eq!(
        memories.lines().filter(|line| line.contains("port 8199")).count(),
        before,
        "the known memory is not added again: {memories}"
    );
    let log = succeed(folder.path(), &["export", "--events", "-"]);
    assert!(log.contains("\"change\":\"recalled\""), "the memory is recalled in the second run");
}

fn learning_and_recall_can_be_turned_off() {
    let settings = "knowledge: { learns_from_work: false, max_recalled_memories: 0 }\n";
    let extract = text(&json!([{ "content": NEW }]));
    let files = [("memory/knowledge/ada.md", ADA), ("settings.yaml", settings)];
    let mut studio = studio(&learning_turns(&extract, "text: x"), "", &files);
    studio.task("ada", "Which port do I start the preview on?");
    run_until_settled(&mut studio);
    assert!(studio.all("knowledge").is_empty() && recalled_part(&mut studio, "ada").is_none());
    assert_eq!(lines(&studio).len(), 2);
}

fn unreadable_memories_do_not_hold_up_work() {
    let query = call("knowledge_query", &json!({ "query": "Which port?" }));
    let mut studio = studio(&format!("    - tools: [ {query} ]\n"), "", &[]);
    studio.close();
    write(studio.folder.path(), "memory/knowledge", "no folder");
    let problems = studio.open_with(false);
    assert!(problems.iter().any(|problem| problem.to_string().contains("memory/knowledge")), "{problems:?}");
    studio.task("ada", "Which port do I start the preview on?");
    run_until_settled(&mut studio);
    assert!(studio.results()[0].contains("memories cannot be read in this run"), "{:?}", studio.results());
    assert_eq!(studio.read("memory/knowledge"), "no folder");
}

fn the_prompt_contains_only_as_many_long_memories_as_fit() {
    let long: String = (0..40)
        .map(|n| {
            format!(
                "- Start the preview on port {n}, {}. <!-- k-{n} -->\n",
                "which port to start the preview on ".repeat(60)
            )
        })
        .collect();
    let settings = "knowledge: { max_recalled_memories: 40 }\nmind: { max_prompt_chars: 12000 }\n";
    let mut studio = studio("", "", &[("memory/knowledge/ada.md", &long), ("settings.yaml", settings)]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert!(recalled_part(&mut studio, "ada").is_some(), "only memories that do not fit are left out");
}

fn a_persons_search_uses_the_same_index_as_recall() {
    let files = [("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB)];
    let mut studio = studio("", "", &files);
    let search = studio.world().resource::<KnowledgeBridge>().search().expect("the search is available");
    let find = |viewer: Viewer| {
        let text = "Which port do I start the preview on?".to_owned();
        let query = MemoryQuery { viewer, text, filter: Filter::default(), now: 1_795_255_200, limit: 5 };
        let found = search.find(query).expect("the search succeeds");
        found.iter().map(|found| found.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(find(Viewer::Agent("ada".into()))[0], "k-1");
    assert!(!find(Viewer::Agent("ada".into())).contains(&"k-3".to_owned()), "Bob's private memory is hidden from Ada");
    assert!(find(Viewer::Person).contains(&"k-3".to_owned()));
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    let recalled = knowledge_events(&studio, "recalled").pop().expect("a memory is recalled");
    assert_eq!(recalled["data"]["memories"][0]["id"], "k-1", "recall ranks the same memory first");
    studio.close();
    let query_after_closing =
        MemoryQuery { viewer: Viewer::Person, text: "port".into(), filter: Filter::default(), now: 0, limit: 5 };
    assert!(search.find(query_after_closing).is_err(), "the room is closed");
}

fn added_memories_have_relations_and_contradictions_are_reported() {
    let shared = "- The preview starts on port 8080. <!-- k-9 by=bob -->\n";
    let add = |content: &str, relations: Value| {
        call("knowledge_contribute", &json!({ "content": content, "relations": relations }))
    };
    let free = "The deployment of the preview needs port 9000, and never 8080.";
    let ada = format!(
        "    - tools: [ {} ]\n    - tools: [ {} ]\n    - tools: [ {} ]\n",
        add(free, json!([{ "relation": "contradicts", "to": "k-9" }])),
        add("Bob keeps codes in a safe place of his own.", json!([{ "relation": "supports", "to": "k-3" }])),
        add("Lists for Dana are to be short ones, always.", json!([{ "relation": "supports", "to": "k-2" }])),
    );
    let files =
        [("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB), ("memory/knowledge/shared.md", shared)];
    let mut studio = studio(&ada, "", &files);
    studio.task("ada", "Tell everybody.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].starts_with("Saved as k-"), "{results:?}");
    assert!(results[1].contains("there is no memory k-3"), "Bob's private memory does not exist for Ada: {results:?}");
    assert!(results[2].contains("only you know"), "{results:?}");
    let warnings: Vec<String> = studio.all("warning").iter().map(|event| event["data"]["what"].to_string()).collect();
    assert_eq!(warnings.iter().filter(|what| what.contains("contradict each other")).count(), 1, "{warnings:?}");
    studio.close();
    let shared = studio.read("memory/knowledge/shared.md");
    assert!(shared.contains("contradicts=k-9"), "{shared}");
    assert!(!mentions_id(&shared, "k-2") && !mentions_id(&shared, "k-3"), "{shared}");
}
