//! Facts that an agent has saved are recalled for matching questions, after many compactions of the session and among
//! many other memories.

use std::collections::BTreeSet;
use std::fmt::Write;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::program::write;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![facts_survive_fifty_compactions_and_five_hundred_other_memories]
}

/// Facts and questions about them, written for the recall targets and not used for tuning the formula.
const QUESTIONS: &str = include_str!("../../crates/knowledge/fixtures/questions.tsv");
const FACTS: usize = 20;
const PINNED: usize = 5;
const OTHER_MEMORIES: usize = 500;
const COMPACTIONS: usize = 50;

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n";
const SETTINGS: &str =
    "mind: { compact_after_turns: 1, compaction_keeps_messages: 2 }\nknowledge: { learns_from_work: false }\n";

/// Generates other memories: half of them private, half of them shared.
fn other_memories() -> [String; 2] {
    let things = ["crane", "ledger", "harbour", "violin", "garden", "ticket", "engine", "novel", "bridge", "lantern"];
    let deeds = [
        "was repaired by",
        "stands beside",
        "was sold to",
        "waits for",
        "belongs to",
        "was painted by",
        "is older than",
    ];
    let people = ["Otto", "Irene", "Samir", "Yuki", "Lena", "Pavel", "Noor", "Bruno", "Edda", "Tariq", "Mina"];
    let mut files = [String::new(), String::new()];
    for index in 0..OTHER_MEMORIES {
        let (thing, deed, person) = (things[index % 10], deeds[(index / 10) % 7], people[(index / 3) % 11]);
        let _ = writeln!(files[index % 2], "- The {thing} number {index} {deed} {person}. <!-- k-other-{index} -->");
    }
    files
}

fn facts_survive_fifty_compactions_and_five_hundred_other_memories() {
    let questions: Vec<(&str, &str)> =
        QUESTIONS.lines().rev().take(FACTS).filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(questions.len(), FACTS);
    let contribution = |(fact, _): &(&str, &str)| {
        let arguments = json!({ "content": fact, "private": true });
        format!("{{ name: knowledge_contribute, arguments: {arguments} }}")
    };
    let contributions: Vec<String> = questions.iter().map(contribution).collect();
    let script = format!(
        "latency: 0.1\nagents:\n  ada:\n    - tools: [ {} ]\n    - {{ text: Done., repeat: true }}\ndefault: [ {{ text: Noted. }} ]\n",
        contributions.join(", ")
    );
    let files = [("scenes/test.yaml", SCENE), ("settings.yaml", SETTINGS), ("agents/ada.md", "You are Ada.\n")];
    let mut studio = Studio::new(&script, &files);
    studio.task("ada", "Remember these.");
    studio.idle();
    let own = studio.read("memory/knowledge/ada.md");
    assert_eq!(own.matches("<!-- k-").count(), FACTS, "{own}");
    let before = recalled_facts(&mut studio, &questions);
    assert!(before.len() >= FACTS * 3 / 4, "{before:?}");
    studio.close();
    // A person pins some facts, and many other memories are added.
    let mut pinned = 0;
    let pin = |line: &str| {
        pinned += usize::from(line.contains("<!-- k-"));
        let is_pinned = line.contains("<!-- k-") && pinned <= PINNED;
        if is_pinned { line.replace(" -->", " pinned -->") } else { line.to_owned() }
    };
    let own: Vec<String> = own.lines().map(pin).collect();
    let [more, shared] = other_memories();
    write(studio.folder.path(), "memory/knowledge/ada.md", &format!("{}\n{more}", own.join("\n")));
    write(studio.folder.path(), "memory/knowledge/shared.md", &shared);
    studio.open();
    let compactions =
        |studio: &Studio| studio.all("model_call").iter().filter(|event| event["data"]["kind"] == "compaction").count();
    let mut turns = 0;
    while compactions(&studio) < COMPACTIONS {
        turns += 1;
        assert!(turns < 10 * COMPACTIONS, "only {} compactions", compactions(&studio));
        studio.task("ada", &format!("Greet guest {turns}."));
        studio.idle();
    }
    let after = recalled_facts(&mut studio, &questions);
    // Facts that were not recalled among few memories, because the question uses other words, do not count.
    let lost: BTreeSet<&str> = before.difference(&after).copied().collect();
    let own = studio.read("memory/knowledge/ada.md");
    let is_pinned = |fact: &&&str| own.lines().any(|line| line.contains(**fact) && line.contains(" pinned"));
    assert_eq!(lost.iter().filter(is_pinned).count(), 0, "a pinned fact is not recalled: {lost:?}");
    let unpinned = before.iter().filter(|fact| !is_pinned(fact)).count();
    let remaining = unpinned - lost.len();
    assert!(remaining as f64 >= 0.95 * unpinned as f64, "{remaining} of {unpinned}: {lost:#?}");
}

/// Asks all questions. Returns the facts that were recalled.
fn recalled_facts<'a>(studio: &mut Studio, questions: &[(&'a str, &str)]) -> BTreeSet<&'a str> {
    let mut recalled = BTreeSet::new();
    for (fact, question) in questions {
        let before = studio.all("knowledge").len();
        studio.task("ada", question);
        studio.idle();
        let is_fact = |memory: &Value| memory["text"] == **fact;
        let has_fact = |event: &&Value| event["data"]["memories"].as_array().is_some_and(|all| all.iter().any(is_fact));
        if studio.all("knowledge")[before..].iter().any(has_fact) {
            recalled.insert(*fact);
        }
    }
    recalled
}
