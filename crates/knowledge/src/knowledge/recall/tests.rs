//! What is recalled, in which order, and by whom.

use proptest::prelude::*;

use super::*;
use crate::knowledge::embedding::{Embedder, WordLlama};
use crate::knowledge::file::Owner;

const DAY: i64 = SECS_PER_DAY;

fn model() -> WordLlama {
    WordLlama::built_in().expect("the table should be complete")
}

fn index() -> Index {
    let model = model();
    Index::new(model.model(), model.dimensions())
}

fn put(index: &mut Index, memory: Memory) {
    let embedding = model().embed(&memory.content).ok();
    index.insert(memory, RecallCount::default(), embedding.as_ref()).expect("it is of the model");
}

fn asked<'a>(index: &'a Index, viewer: &Viewer, text: &str, now: i64) -> Vec<Recalled<'a>> {
    let embedding = model().embed(text).ok();
    let query = Query {
        viewer: viewer.clone(),
        text,
        embedding: embedding.as_ref(),
        now,
        limit: 10,
        filter: Filter::default(),
    };
    index.recall(&query)
}

#[test]
fn the_three_documented_cases_have_the_computed_scores() {
    let now = 1_000 * DAY;
    let memory = |kind, created, importance| Memory {
        kind,
        importance,
        ..Memory::new(&"ada".into(), "x", Some(now - created * DAY))
    };
    let of =
        |memory: &Memory, last: Option<i64>, (meaning_rank, word_rank): (Option<usize>, Option<usize>), coverage| {
            let recalls = RecallCount { last: last.map(|days| now - days * DAY), times: 1 };
            let parts = ScoreParts { meaning_rank, word_rank, coverage, ..ScoreParts::default() };
            score(&ScoreParts {
                relevance: relevance(&parts),
                recency: recency(memory, recalls, now),
                importance: memory.importance,
                ..parts
            })
        };
    // First in both with all words, just created, of default importance: 11/2 × (1/11 + 1/11) × 1 × 1.
    assert!((of(&memory(MemoryKind::Fact, 0, 0.5), None, (Some(1), Some(1)), 1.0) - 1.0).abs() < 1e-6);
    // Third by meaning alone, a fact of 90 days, important: 11/2 × 1/13 × 0.95 × 1.06.
    assert!((of(&memory(MemoryKind::Fact, 90, 0.8), None, (Some(3), None), 0.0) - 0.426_038).abs() < 1e-5);
    // Second by meaning, fifth by words with half of them, observed 100 days ago, recalled 14 days ago, unimportant:
    // 11/2 × (1/12 + 0.25/15) × 0.925 × 0.94.
    let observation = memory(MemoryKind::Observation, 100, 0.2);
    assert!((of(&observation, Some(14), (Some(2), Some(5)), 0.5) - 0.478_225).abs() < 1e-5);
}

#[test]
fn undated_and_pinned_memories_do_not_age_and_future_dates_count_as_now() {
    let plain = Memory::new(&"ada".into(), "x", None);
    let pinned = Memory { pinned: true, ..Memory::new(&"ada".into(), "x", Some(0)) };
    let future = Memory::new(&"ada".into(), "x", Some(900 * DAY));
    for memory in [plain, pinned, future] {
        assert_eq!(recency(&memory, RecallCount::default(), 800 * DAY), 1.0);
    }
}

#[test]
fn an_agent_never_recalls_the_memories_of_another() {
    checks_rule!("memories-are-private");
    let mut index = index();
    put(&mut index, Memory::new(&"ada".into(), "The key is under the mat", None));
    assert_eq!(asked(&index, &Viewer::Agent("ada".into()), "key", 0).len(), 1);
    assert!(asked(&index, &Viewer::Agent("bob".into()), "key", 0).is_empty());
}

#[test]
fn hybrid_recall_is_better_than_meaning_alone_and_words_alone() {
    checks_rule!("recall-is-by-meaning-and-words");
    let mut index = index();
    let lines = include_str!("../../../fixtures/questions.tsv").lines();
    let pairs: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('\t')).collect();
    for (note, _) in &pairs {
        put(&mut index, Memory::new(&"ada".into(), note, None));
    }
    let mut tables = [(0.0, 0), (0.0, 0), (0.0, 0)];
    let mut firsts = [0; 3];
    for (note, question) in &pairs {
        let embedding = model().embed(question).ok();
        let blank = |text, embedding| Query {
            viewer: Viewer::Person,
            text,
            embedding,
            now: 0,
            limit: 50,
            filter: Filter::default(),
        };
        let ways = [blank(*question, embedding.as_ref()), blank("", embedding.as_ref()), blank(*question, None)];
        for (((reciprocal, hits), first), query) in tables.iter_mut().zip(&mut firsts).zip(&ways) {
            let recalled = index.recall(query);
            let rank = recalled.iter().position(|one| one.entry.memory.content == *note);
            *reciprocal += rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0)) / pairs.len() as f64;
            *hits += usize::from(rank.is_some_and(|rank| rank < 5));
            *first += usize::from(rank == Some(0));
        }
    }
    let [hybrid, meaning, words] = tables;
    let told = format!("hybrid {hybrid:?}, meaning {meaning:?}, words {words:?} of {}", pairs.len());
    assert!(hybrid.0 > meaning.0 && hybrid.0 > words.0, "{told}");
    // As documented for `workshop doctor` and in `docs/knowledge.md`.
    assert_eq!((pairs.len(), firsts), (64, [54, 52, 36]), "{told}");
    assert!(hybrid.1 >= meaning.1 && hybrid.1 >= words.1 && hybrid.0 > 0.88, "{told}");
}

#[test]
fn odd_queries_do_not_fail() {
    let mut index = index();
    put(&mut index, Memory::new(&"ada".into(), "it's \"broken\" NEAR(a OR b)*", Some(0)));
    for text in ["", " ", "\"", "it's \"broken\"", "NEAR(", "*", "\0", "…", "東"] {
        asked(&index, &Viewer::Person, text, 0);
    }
    assert_eq!(asked(&index, &Viewer::Person, "broken", 0).len(), 1);
    let none =
        Query { viewer: Viewer::Person, text: "broken", embedding: None, now: 0, limit: 0, filter: Filter::default() };
    assert!(index.recall(&none).is_empty());
}

#[test]
fn filters_apply_and_vectors_of_another_model_are_ignored() {
    let mut index = index();
    let tagged = Memory { tags: vec!["build".into()], ..Memory::new(&"ada".into(), "Use mold for linking", None) };
    put(&mut index, tagged.clone());
    put(
        &mut index,
        Memory { kind: MemoryKind::Mistake, ..Memory::new(&"bob".into(), "Linking twice was wrong", None) },
    );
    let embedding = model().embed("linking").expect("it should have an embedding");
    let query = |filter| Query {
        viewer: Viewer::Person,
        text: "linking",
        embedding: Some(&embedding),
        now: 0,
        limit: 5,
        filter,
    };
    let ids =
        |filter| index.recall(&query(filter)).iter().map(|one| one.entry.memory.agent.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(Filter::default()).len(), 2);
    assert_eq!(ids(Filter { kinds: vec![MemoryKind::Mistake], ..Filter::default() }), ["bob"]);
    assert_eq!(ids(Filter { tags: vec!["build".into()], ..Filter::default() }), ["ada"]);
    assert_eq!(ids(Filter { is_shared: true, ..Filter::default() }), [""; 0]);
    assert_eq!(asked(&index, &Viewer::Person, "build", 0)[0].entry.memory.id, tagged.id, "a tag is a word");
    let foreign =
        Embedding::new(&crate::knowledge::ModelId("other".into()), 256, &[1.0; 256]).expect("it should be valid");
    let query = Query { embedding: Some(&foreign), ..query(Filter::default()) };
    assert!(index.recall(&query).iter().all(|one| one.parts.meaning_rank.is_none()));
    assert!(index.insert(tagged, RecallCount::default(), Some(&foreign)).is_err());
}

/// A change of the memories.
#[derive(Clone, Debug)]
enum Act {
    Put { agent: u8, text: u8, shared: bool },
    Move { which: u8, shared: bool },
    Remove { which: u8 },
    Recall { which: u8 },
    Link { from: u8, to: u8 },
}

const TEXTS: [&str; 6] = [
    "Port 8080 is taken by the proxy",
    "The proxy password is swordfish",
    "Dana likes short lists",
    "Start the preview on port 8199",
    "The office in Lisbon closes early",
    "会議室の予約は三日前までに必要です",
];

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0u8..3, 0u8..6, any::<bool>()).prop_map(|(agent, text, shared)| Act::Put { agent, text, shared }),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(which, shared)| Act::Move { which, shared }),
        1 => any::<u8>().prop_map(|which| Act::Remove { which }),
        1 => any::<u8>().prop_map(|which| Act::Recall { which }),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(from, to)| Act::Link { from, to }),
    ]
}

fn carry_out(index: &mut Index, act: &Act, now: i64) {
    let chosen = |index: &Index, which: u8| {
        let all = index.all(&Viewer::Person);
        (!all.is_empty()).then(|| all[usize::from(which) % all.len()].memory.clone())
    };
    match act {
        Act::Put { agent, text, shared } => {
            let agent = ["ada", "bob", "eve"][usize::from(*agent)];
            let memory = Memory::new(&agent.into(), TEXTS[usize::from(*text)], Some(now));
            put(index, Memory { shared: *shared, ..memory });
        }
        Act::Move { which, shared } => {
            let Some(memory) = chosen(index, *which) else { return };
            put(index, Memory { shared: *shared, ..memory });
        }
        Act::Remove { which } => {
            let Some(memory) = chosen(index, *which) else { return };
            index.remove(&memory.id).expect("it should exist");
        }
        Act::Recall { which } => {
            let Some(memory) = chosen(index, *which) else { return };
            index.note_recalled(&memory.id, now).expect("it should exist");
        }
        Act::Link { from, to } => {
            let (Some(mut from), Some(to)) = (chosen(index, *from), chosen(index, *to)) else { return };
            let relation = crate::knowledge::Relation::Supports;
            from.edges.push(crate::knowledge::Edge { relation, target: to.id, weight: 1.0 });
            put(index, from);
        }
    }
}

/// Returns everything that an agent can learn from an index.
fn learned(index: &Index, viewer: &Viewer, now: i64) -> String {
    let mut learned = String::new();
    for text in TEXTS.into_iter().chain(["swordfish", "port", "list"]) {
        for one in asked(index, viewer, text, now) {
            learned += &format!("{text}: {} {:?} {:?}\n", one.entry.memory.id, one.score, one.parts);
        }
        if let Ok(embedding) = model().embed(text) {
            for (entry, similarity) in index.similar(viewer, &embedding, 20) {
                learned += &format!("{} {similarity}\n", entry.memory.id);
            }
        }
    }
    for entry in index.all(&Viewer::Person) {
        let seen = index.get(viewer, &entry.memory.id);
        learned += &format!("{:?}", seen.map(|entry| &entry.memory.content));
        for (from, edge) in index.edges_at(viewer, &entry.memory.id) {
            learned += &format!("{} {edge:?}\n", from.memory.id);
        }
    }
    learned.replace("None", "")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_result_depends_on_another_agents_memories(acts in proptest::collection::vec(any_act(), 0..24)) {
        let mut index = index();
        for (step, act) in acts.iter().enumerate() {
            carry_out(&mut index, act, step as i64 * DAY);
        }
        let now = acts.len() as i64 * DAY;
        for agent in ["ada", "bob", "eve"] {
            let viewer = Viewer::Agent(agent.into());
            let all = index.all(&viewer);
            prop_assert!(all.iter().all(|entry| entry.memory.is_known_to(agent)));
            // An index that never contained anything else has exactly the same results.
            let mut alone = super::tests::index();
            for entry in all {
                let embedding = model().embed(&entry.memory.content).ok();
                alone.insert(entry.memory.clone(), entry.recalls, embedding.as_ref()).expect("it is of the model");
            }
            prop_assert_eq!(learned(&index, &viewer, now), learned(&alone, &viewer, now));
        }
        prop_assert!(index.all(&Viewer::Person).iter().all(|entry| Viewer::Person.may_see(&Owner::of(&entry.memory))));
    }

    #[test]
    fn recall_does_not_depend_on_the_order_of_insertion(
        texts in proptest::collection::vec((0u8..6, 0u8..3, any::<bool>()), 1..20),
        seed in any::<u64>(),
    ) {
        let memories: Vec<Memory> = texts.iter().enumerate().map(|(at, (text, agent, shared))| {
            let agent = ["ada", "bob", "eve"][usize::from(*agent)];
            let memory = Memory::new(&agent.into(), TEXTS[usize::from(*text)], Some(at as i64));
            Memory { shared: *shared, ..memory }
        }).collect();
        let (mut one, mut other) = (index(), index());
        memories.iter().for_each(|memory| put(&mut one, memory.clone()));
        let mut mixed = memories.clone();
        mixed.sort_by_key(|memory| crate::base::hash::content_hash(format!("{seed}{}", memory.id).as_bytes()));
        mixed.iter().for_each(|memory| put(&mut other, memory.clone()));
        for viewer in [Viewer::Person, Viewer::Agent("ada".into())] {
            prop_assert_eq!(learned(&one, &viewer, 99), learned(&other, &viewer, 99));
        }
    }
}
