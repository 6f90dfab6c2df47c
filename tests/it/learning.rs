//! What agents remember across runs: they are reminded of memories that matter, find them, add to them, and never see
//! the private memories of others.

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
        what_it_remembers_stands_in_the_prompt_where_it_matters,
        nobody_is_asked_where_nothing_is_remembered,
        what_one_adds_others_find_and_nothing_is_added_twice,
        no_tool_shows_what_another_remembers,
        what_a_person_writes_into_a_file_counts_and_wins,
        a_run_with_memories_replays_without_them,
        what_was_worth_knowing_is_remembered_and_known_memories_are_weighed,
        where_a_question_fails_that_is_reported_and_no_more_is_lost_than_must_be,
        what_is_learned_is_learned_once_wherever_it_is_killed,
        without_a_model_it_learns_and_is_reminded_nevertheless,
        who_is_not_to_learn_does_not,
        where_what_is_known_cannot_be_read_nobody_waits_for_it,
        of_memories_that_are_long_the_prompt_has_what_fits,
        a_person_searches_what_is_known_by_the_index_that_agents_are_reminded_by,
        what_one_adds_is_related_to_what_is_known_and_a_contradiction_is_reported
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n  - { id: bob, profile: bob, position: [90, 0] }\n";
const ADA: &str = "- Port 8080 is taken by the proxy; start the preview on 8199. <!-- k-1 kind=procedure \
                   created=2026-11-20T10:00:00 run=r-1 record=42 -->\n- Dana wants short lists. <!-- k-2 kind=preference -->\n";
const BOB: &str = "- The safe code of the preview port is 4711. <!-- k-3 -->\n";

fn call(name: &str, arguments: &Value) -> String {
    format!("{{ name: {name}, arguments: {arguments} }}")
}

/// Ada and Bob at work; Ada's work comes first.
fn studio(ada: &str, bob: &str, files: &[(&str, &str)]) -> Studio {
    let script = format!(
        "latency: 0.1\nagents:\n  ada:\n{ada}    - text: Done.\n  bob:\n{bob}    - text: Done.\ndefault: [ {{ text: Noted. }} ]\n"
    );
    let own = [("scenes/test.yaml", SCENE), ("agents/ada.md", "You are Ada.\n"), ("agents/bob.md", "You are Bob.\n")];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    Studio::new(&script, &all)
}

/// The part of an agent's last prompt that contains its memories.
fn remembered(studio: &mut Studio, agent: &str) -> Option<String> {
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key)).expect("it should be here");
    let prompt = &world.get::<LastPrompt>(entity).expect("it was asked").0;
    prompt.parts_from(REMEMBERED).next().map(|part| part.text.clone())
}

fn told(studio: &Studio, change: &str) -> Vec<Value> {
    let told = studio.all("knowledge").into_iter().filter(|event| event["data"]["change"] == change);
    told.cloned().collect()
}

fn what_it_remembers_stands_in_the_prompt_where_it_matters() {
    let files = [("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB)];
    let mut studio = studio("", "", &files);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    let part = remembered(&mut studio, "ada").expect("she is reminded");
    assert!(part.contains("start the preview on 8199. (procedure, 2026-11-20)"), "{part}");
    assert!(!part.contains("Dana"), "what has nothing to do with it is left out: {part}");
    assert!(!part.contains("4711"), "what another keeps to itself is not told: {part}");
    let recalled = told(&studio, "recalled");
    assert_eq!(recalled.len(), 1, "{recalled:#?}");
    let memory = &recalled[0]["data"]["memories"][0];
    assert_eq!((&recalled[0]["agent"], &memory["id"]), (&json!("ada"), &json!("k-1")));
    for part in ["score", "relevance", "recency", "importance", "similarity"] {
        assert!(memory[part].is_number(), "why it was recalled is told: {memory}");
    }
    let cause = recalled[0]["cause"].clone();
    assert!(studio.log_of_all().iter().any(|event| event["seq"] == cause), "and where that comes from");
    studio.close();
    assert_eq!(studio.read("memory/knowledge/ada.md"), ADA, "being reminded changes no file");
}

fn nobody_is_asked_where_nothing_is_remembered() {
    let mut studio = studio("", "", &[]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert!(remembered(&mut studio, "ada").is_none() && told(&studio, "recalled").is_empty());
    assert_eq!(*studio.world().resource::<MemoryCounts>(), MemoryCounts::default());
    studio.close();
    assert!(!studio.exists(".workshop/knowledge.db"), "nothing is opened for nothing");
}

fn what_one_adds_others_find_and_nothing_is_added_twice() {
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
    assert_eq!((told(&studio, "added").len(), told(&studio, "known").len()), (1, 1));
    let written: Vec<_> = studio.all("file_change").into_iter().map(|event| event["data"].clone()).collect();
    assert!(written.iter().any(|change| change["path"] == "memory/knowledge/shared.md" && change["by"] == "ada"));
    // Bob has no memory of his own, but finds the shared one, today and in the next run.
    studio.close();
    studio.open();
    studio.task("bob", "Change the schema.");
    studio.idle();
    let found = studio.results().pop().unwrap();
    assert!(found.contains(content) && found.contains("shared by ada"), "{found}");
    let part = remembered(&mut studio, "bob").expect("he is reminded of it at once");
    assert!(part.contains(content), "{part}");
}

fn no_tool_shows_what_another_remembers() {
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
    for seen in [&results[1], &results[2], &results[5]] {
        assert!(!seen.contains("bob.md") && !seen.contains("is 4711"), "{results:#?}");
    }
    assert!(results[3].contains("Error"), "{results:#?}");
    assert!(results[4].contains("8199"), "her own she may read: {results:#?}");
    assert!(results[6].starts_with("Saved as k-"), "that Bob knows it too is not told: {results:#?}");
    assert_eq!(studio.read("memory/knowledge/bob.md"), BOB);
}

fn what_a_person_writes_into_a_file_counts_and_wins() {
    let folder = tempfile::tempdir().unwrap();
    let ada = "---\nname: Ada\n---\nYou are Ada.\n";
    for (path, text) in
        [("settings.yaml", ""), ("scenes/test.yaml", SCENE), ("agents/ada.md", ada), ("agents/bob.md", ada)]
    {
        write(folder.path(), path, text);
    }
    let options = OpenOptions { folder: folder.path().to_owned(), watch: true, ..OpenOptions::default() };
    let (mut room, _) = Room::open(&options).unwrap();
    let counted = |room: &mut Room, wanted: usize| {
        let begun = std::time::Instant::now();
        while begun.elapsed() < crate::program::PATIENCE {
            room.driver.step(room.app.world_mut());
            if room.app.world().resource::<MemoryCounts>().of("ada") == wanted {
                return begun.elapsed();
            }
        }
        panic!("it does not count");
    };
    write(folder.path(), "memory/knowledge/ada.md", ADA);
    counted(&mut room, 2);
    write(folder.path(), "memory/knowledge/ada.md", "- Only this.\n");
    counted(&mut room, 1);
    fs::remove_file(folder.path().join("memory/knowledge/ada.md")).unwrap();
    counted(&mut room, 0);
    room.close("closed by the test", |_| {}).unwrap();
}

fn a_run_with_memories_replays_without_them() {
    let add = call("knowledge_contribute", &json!({ "content": "The preview starts on port 8199." }));
    let mut studio = studio(&format!("    - tools: [ {add} ]\n"), "", &[("memory/knowledge/ada.md", ADA)]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert_eq!(told(&studio, "recalled").len(), 1);
    studio.close();
    fs::remove_dir_all(studio.folder.path().join("memory")).unwrap();
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

/// Runs until everything has ended, including learning.
fn settle(studio: &mut Studio) {
    studio.idle();
    studio.until("it has looked back", |studio| studio.world().resource::<Lessons>().is_empty());
    studio.tick();
}

/// Ada reads a file and reports that she is done; then she is asked what is worth remembering.
fn learning(extract: &str, weigh: &str) -> String {
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

/// Whether this id occurs, and not only as the beginning of a longer one.
fn names(text: &str, id: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').any(|word| word == id)
}

const NEW: &str = "Restart the proxy with `systemctl restart px` after each change.";

fn what_was_worth_knowing_is_remembered_and_known_memories_are_weighed() {
    let extract = text(&json!([
        { "content": NEW, "kind": "procedure", "importance": 0.8 },
        { "content": "Port 8080 is taken by the proxy; start the preview on port 8200 since 24 November 2026." },
    ]));
    let better = "Port 8080 is taken by the proxy; start the preview on 8200.";
    let weigh = text(&json!([
        { "candidate": 1, "act": "ADD", "supports": ["k-1", "k-9"] },
        { "candidate": 2, "act": "UPDATE", "id": "k-1", "content": better },
    ]));
    let mut studio = studio(&learning(&extract, &weigh), "", &[("memory/knowledge/ada.md", ADA)]);
    studio.task("ada", "Look after the proxy on port 8080.");
    settle(&mut studio);
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
    assert!(!names(&lines[2], "k-9"), "it relates to nothing that it was not shown");
    let learned = told(&studio, "learned");
    assert_eq!(learned.len(), 1, "{:#?}", studio.all("knowledge"));
    assert_eq!((&learned[0]["data"]["added"], &learned[0]["data"]["updated"]), (&json!(1), &json!(1)));
    let ends = studio.all("complete");
    assert_eq!(learned[0]["cause"], ends[0]["seq"], "it was learned from what is over");
    let calls = studio.all("model_call");
    let looked_back = calls.iter().filter(|call| call["data"]["kind"] == "learning").count();
    assert_eq!(looked_back, 2, "two questions, counted as what they are");
    let written = studio.all("file_change");
    let own = written.iter().filter(|event| event["data"]["path"] == "memory/knowledge/ada.md");
    assert!(own.clone().count() >= 1 && own.clone().all(|event| event["data"]["by"] == "ada"), "{written:#?}");
}

fn where_a_question_fails_that_is_reported_and_no_more_is_lost_than_must_be() {
    let fails = "error: { status: 400, message: no }";
    let mut first = studio(&learning(fails, fails), "", &[("memory/knowledge/ada.md", ADA)]);
    first.task("ada", "Look after the proxy on port 8080.");
    settle(&mut first);
    assert_eq!(lines(&first).len(), 2, "nothing was learned");
    assert_eq!(told(&first, "failed").len(), 1, "{:#?}", first.all("knowledge"));
    let extract = text(&json!([{ "content": "Port 8080 is taken by the new proxy, px." }]));
    let mut second = studio(&learning(&extract, fails), "", &[("memory/knowledge/ada.md", ADA)]);
    second.task("ada", "Look after the proxy on port 8080.");
    settle(&mut second);
    assert_eq!(lines(&second).len(), 3, "what may be worth it is remembered: {:#?}", second.all("knowledge"));
    let learned = told(&second, "learned");
    assert!(learned[0]["data"]["but"].as_str().is_some_and(|but| !but.is_empty()), "{learned:#?}");
}

fn what_is_learned_is_learned_once_wherever_it_is_killed() {
    let extract = text(&json!([{ "content": NEW }, { "content": "Port 8080 is taken by the new proxy, px." }]));
    let weigh = text(&json!([{ "candidate": 1, "act": "ADD" }, { "candidate": 2, "act": "ADD" }]));
    let more = std::env::var("WORKSHOP_MORE_KILLS").ok().and_then(|more| more.parse().ok()).unwrap_or(20);
    for kill in 0..more {
        let mut studio = studio(&learning(&extract, &weigh), "", &[("memory/knowledge/ada.md", ADA)]);
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
        settle(&mut studio);
        let lines = lines(&studio);
        assert_eq!(lines.len(), 4, "killed at {kill}: {lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains("systemctl")).count(), 1, "{lines:#?}");
    }
}

fn without_a_model_it_learns_and_is_reminded_nevertheless() {
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
    let known = fs::read_to_string(folder.path().join("memory/knowledge/ada.md")).unwrap_or_default();
    assert!(
        known.contains("- Always start the preview on port 8199. <!-- k-") && known.contains("kind=procedure"),
        "{known}"
    );
    assert!(known.contains("kind=preference"), "{known}");
    let before = known.lines().filter(|line| line.contains("port 8199")).count();
    run("Write a note. Always start the preview on port 8199.");
    let known = fs::read_to_string(folder.path().join("memory/knowledge/ada.md")).unwrap();
    assert_eq!(known.lines().filter(|line| line.contains("port 8199")).count(), before, "it knows it already: {known}");
    let log = succeed(folder.path(), &["export", "--events", "-"]);
    assert!(log.contains("\"change\":\"recalled\""), "it was reminded of it the second time");
}

fn who_is_not_to_learn_does_not() {
    let settings = "knowledge: { learns_from_work: false, recalled_at_most: 0 }\n";
    let extract = text(&json!([{ "content": NEW }]));
    let files = [("memory/knowledge/ada.md", ADA), ("settings.yaml", settings)];
    let mut studio = studio(&learning(&extract, "text: x"), "", &files);
    studio.task("ada", "Which port do I start the preview on?");
    settle(&mut studio);
    assert!(studio.all("knowledge").is_empty() && remembered(&mut studio, "ada").is_none());
    assert_eq!(lines(&studio).len(), 2);
}

fn where_what_is_known_cannot_be_read_nobody_waits_for_it() {
    let query = call("knowledge_query", &json!({ "query": "Which port?" }));
    let mut studio = studio(&format!("    - tools: [ {query} ]\n"), "", &[]);
    studio.close();
    write(studio.folder.path(), "memory/knowledge", "no folder");
    let problems = studio.open_with(false);
    assert!(problems.iter().any(|problem| problem.to_string().contains("memory/knowledge")), "{problems:?}");
    studio.task("ada", "Which port do I start the preview on?");
    settle(&mut studio);
    assert!(studio.results()[0].contains("memories cannot be read in this run"), "{:?}", studio.results());
    assert_eq!(studio.read("memory/knowledge"), "no folder");
}

fn of_memories_that_are_long_the_prompt_has_what_fits() {
    let long: String = (0..40)
        .map(|n| {
            format!(
                "- Start the preview on port {n}, {}. <!-- k-{n} -->\n",
                "which port to start the preview on ".repeat(60)
            )
        })
        .collect();
    let settings = "knowledge: { recalled_at_most: 40 }\nmind: { max_prompt_chars: 12000 }\n";
    let mut studio = studio("", "", &[("memory/knowledge/ada.md", &long), ("settings.yaml", settings)]);
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    assert!(remembered(&mut studio, "ada").is_some(), "what does not fit is left out, and not all of it");
}

fn a_person_searches_what_is_known_by_the_index_that_agents_are_reminded_by() {
    let files = [("memory/knowledge/ada.md", ADA), ("memory/knowledge/bob.md", BOB)];
    let mut studio = studio("", "", &files);
    let search = studio.world().resource::<KnowledgeBridge>().search().expect("the room has memories");
    let find = |viewer: Viewer| {
        let text = "Which port do I start the preview on?".to_owned();
        let query = MemoryQuery { viewer, text, filter: Filter::default(), now: 1_795_255_200, limit: 5 };
        let found = search.find(query).expect("it can be searched");
        found.iter().map(|found| found.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(find(Viewer::Agent("ada".into()))[0], "k-1");
    assert!(!find(Viewer::Agent("ada".into())).contains(&"k-3".to_owned()), "what bob keeps to himself");
    assert!(find(Viewer::Person).contains(&"k-3".to_owned()));
    studio.task("ada", "Which port do I start the preview on?");
    studio.idle();
    let recalled = told(&studio, "recalled").pop().expect("she is reminded");
    assert_eq!(recalled["data"]["memories"][0]["id"], "k-1", "by the same index");
    studio.close();
    let gone = MemoryQuery { viewer: Viewer::Person, text: "port".into(), filter: Filter::default(), now: 0, limit: 5 };
    assert!(search.find(gone).is_err(), "the room is closed");
}

fn what_one_adds_is_related_to_what_is_known_and_a_contradiction_is_reported() {
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
    assert!(results[1].contains("there is no memory k-3"), "what bob keeps to himself is not there: {results:?}");
    assert!(results[2].contains("only you know"), "{results:?}");
    let warnings: Vec<String> = studio.all("warning").iter().map(|event| event["data"]["what"].to_string()).collect();
    assert_eq!(warnings.iter().filter(|what| what.contains("contradict each other")).count(), 1, "{warnings:?}");
    studio.close();
    let shared = studio.read("memory/knowledge/shared.md");
    assert!(shared.contains("contradicts=k-9"), "{shared}");
    assert!(!names(&shared, "k-2") && !names(&shared, "k-3"), "{shared}");
}
