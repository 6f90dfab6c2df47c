//! Files and index agree, whatever happens to either.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::knowledge::embedding::{ModelId, WordLlama};

fn ada() -> Owner {
    Owner::Agent("ada".into())
}

fn base() -> KnowledgeBase {
    let embedder = Box::new(WordLlama::built_in().expect("the table should be complete"));
    KnowledgeBase::new(Db::in_memory().expect("there is memory"), embedder).expect("it is empty")
}

/// An embedder that counts its calls.
struct Counting(ModelId, Arc<AtomicUsize>);

impl Embedder for Counting {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        3
    }

    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let length = if text.contains("NaN") { f32::NAN } else { text.len() as f32 };
        Embedding::new(
            &self.0,
            3,
            &[length, 1.0, if text.contains("short") { return Embedding::new(&self.0, 3, &[1.0]) } else { 2.0 }],
        )
    }
}

/// An embedder that counts as slow, and is unavailable while the flag is set.
struct Slow(ModelId, Arc<std::sync::atomic::AtomicBool>);

impl Embedder for Slow {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError> {
        if self.1.load(Ordering::Relaxed) {
            return Err(EmbeddingError::Unavailable { model: self.0.clone(), why: "nobody listens there".to_owned() });
        }
        Embedding::new(&self.0, 2, &[text.len() as f32, if text.contains("nothing") { f32::NAN } else { 1.0 }])
    }

    fn is_quick(&self) -> bool {
        false
    }
}

#[test]
fn vectors_of_a_slow_model_are_computed_gradually_and_failures_are_retried() {
    let is_away = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let embedder = Box::new(Slow(ModelId("slow".into()), is_away.clone()));
    let mut known = KnowledgeBase::new(Db::in_memory().expect("there is memory"), embedder).expect("it is empty");
    let text = "- One thing.\n- Another thing.\n- A third.\n- That says nothing.\n".to_owned();
    assert_eq!(known.read([(ada(), text)]).expect("it can be read"), ReadSummary { changed: 4, gone: 0, embedded: 0 });
    let found = |known: &KnowledgeBase| {
        let found = known.recall(&Viewer::Agent("ada".into()), "third", 0, 5, Filter::default());
        found.first().map(|found| (found.entry.memory.content.clone(), found.parts.similarity.is_some()))
    };
    assert_eq!(found(&known), Some(("A third.".to_owned(), false)), "by its words");
    assert_eq!(
        (known.embed_pending(10).expect("it should be reported"), known.due()),
        (0, 4),
        "it cannot be asked now"
    );
    is_away.store(false, Ordering::Relaxed);
    while known.due() > 0 {
        let before = known.due();
        known.embed_pending(3).expect("it is made");
        assert_eq!(known.due(), before.saturating_sub(3));
    }
    assert!(found(&known).is_some_and(|(_, is_near)| is_near));
    // Memories that are added while it is unavailable are due; removed ones are not any more.
    is_away.store(true, Ordering::Relaxed);
    let memory = Memory { id: "k-new".into(), ..Memory::new(&"ada".into(), "Something new.", None) };
    known.add(&memory).expect("it can be added");
    assert_eq!(known.due(), 1);
    known.forget("k-new").expect("it should exist");
    assert_eq!(known.due(), 0);
}

fn applied(texts: &mut BTreeMap<Owner, String>, change: &FileChange) {
    let text = texts.entry(change.owner.clone()).or_default();
    match &change.write {
        Write::Append(more) => text.push_str(more),
        Write::Replace(all) => *text = all.clone(),
    }
}

#[test]
fn the_same_text_is_embedded_once_per_model_even_across_restarts() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let place = folder.path().join("state/knowledge.db");
    let asked = Arc::new(AtomicUsize::new(0));
    let texts = || [(ada(), "- one\n- two\n- one\n".to_owned()), (Owner::Shared, "- one\n".to_owned())];
    let open = |model: &str| {
        let embedder = Box::new(Counting(ModelId(model.into()), asked.clone()));
        KnowledgeBase::new(Db::open(&place).expect("it can be opened"), embedder).expect("it can be read")
    };
    let mut known = open("a");
    assert_eq!(known.read(texts()).expect("it can be read"), ReadSummary { changed: 4, gone: 0, embedded: 2 });
    assert_eq!(known.read(texts()).expect("it can be read"), ReadSummary::default());
    drop(known);
    let mut known = open("a");
    assert_eq!(known.read(texts()).expect("it can be read").embedded, 0);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    drop(known);
    let mut known = open("b");
    assert_eq!(known.read(texts()).expect("it can be read").embedded, 2);
    assert_eq!(known.reindex().expect("it should be possible to rebuild it").embedded, 2);
    assert_eq!(known.index().len(), 4);
}

#[test]
fn memories_are_found_by_words_if_the_model_fails() {
    let embedder = Box::new(Counting(ModelId("odd".into()), Arc::default()));
    let mut known = KnowledgeBase::new(Db::in_memory().expect("there is memory"), embedder).expect("it is empty");
    let text = "- a NaN memory\n- a short memory\n- a memory\n".to_owned();
    assert_eq!(known.read([(ada(), text)]).expect("it can be read").changed, 3);
    let found = known.recall(&Viewer::Person, "NaN", 0, 10, Filter::default());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].parts.meaning_rank, found[0].parts.word_rank), (None, Some(1)));
}

#[test]
fn recall_counts_are_stored_without_writing_files() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let place = folder.path().join("knowledge.db");
    let open = || {
        let embedder = Box::new(WordLlama::built_in().expect("the table should be complete"));
        let mut known =
            KnowledgeBase::new(Db::open(&place).expect("it can be opened"), embedder).expect("it can be read");
        known.read([(ada(), "- one <!-- k-1 -->\n".to_owned())]).expect("it can be read");
        known
    };
    let mut known = open();
    known.note_recalled(["k-1", "k-none"], 70).expect("it can be kept");
    known.note_recalled(["k-1"], 60).expect("it can be kept");
    let count = |known: &KnowledgeBase| known.index().get(&Viewer::Person, "k-1").map(|entry| entry.recalls);
    let twice = Some(RecallCount { last: Some(70), times: 2 });
    assert_eq!(count(&known), twice);
    known.reindex().expect("it should be possible to rebuild it");
    assert_eq!(count(&known), twice);
    drop(known);
    assert_eq!(count(&open()), twice);
    std::fs::write(&place, "no database at all, but long enough to look like one".repeat(100))
        .expect("it can be written");
    let known = open();
    assert_eq!(count(&known), Some(RecallCount::default()));
    assert!(known.problems()[0].what.contains("was rebuilt"));
}

#[test]
fn obstacles_in_place_of_the_database_are_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::create_dir(folder.path().join("knowledge.db")).expect("it can be made");
    let error = Db::open(&folder.path().join("knowledge.db")).err().expect("it is a folder").to_string();
    assert!(error.contains("it is a folder where a file should be"), "{error}");
}

#[test]
fn a_memory_cannot_be_emptied() {
    let mut known = base();
    let memory = Memory::new(&"ada".into(), "Port 8080 is taken", Some(9));
    known.add(&memory).expect("it is new");
    for shared in [false, true] {
        let emptied = Memory { content: " ".to_owned(), shared, ..memory.clone() };
        assert!(matches!(known.update(&emptied), Err(KnowledgeError::File(FileError::Empty { .. }))));
    }
    assert_eq!(known.index().get(&Viewer::Person, &memory.id).map(|entry| &entry.memory), Some(&memory));
}

#[test]
fn sharing_moves_the_line_and_forgetting_removes_it() {
    let (mut known, mut texts) = (base(), BTreeMap::new());
    let memory = Memory::new(&"ada".into(), "Port 8080 is taken", Some(9));
    applied(&mut texts, &known.add(&memory).expect("it is new"));
    assert!(matches!(known.add(&memory), Err(KnowledgeError::File(FileError::Taken { .. }))));
    known.note_recalled([&*memory.id], 50).expect("it can be kept");
    for change in known.update(&Memory { shared: true, ..memory.clone() }).expect("it is known") {
        applied(&mut texts, &change);
    }
    assert_eq!(texts[&ada()], "# What ada knows\n\n");
    assert!(texts[&Owner::Shared].contains("by=ada"), "{}", texts[&Owner::Shared]);
    let bob = Viewer::Agent("bob".into());
    assert_eq!(known.index().get(&bob, &memory.id).map(|entry| entry.recalls.times), Some(1));
    applied(&mut texts, &known.forget(&memory.id).expect("it is known"));
    assert_eq!(texts[&Owner::Shared], "# What everybody knows\n\n");
    assert!(known.index().is_empty() && known.forget(&memory.id).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn files_and_index_agree(
        acts in proptest::collection::vec((0u8..5, any::<prop::sample::Index>(), "[a-z]{1,4}( [a-z]{1,4})?", any::<bool>()), 0..30),
    ) {
        let (mut known, mut texts) = (base(), BTreeMap::new());
        for (at, (act, which, text, flag)) in acts.iter().enumerate() {
            let all: Vec<Memory> = known.index().all(&Viewer::Person).iter().map(|entry| entry.memory.clone()).collect();
            let agent = if *flag { "ada" } else { "bob" };
            if *act < 2 || all.is_empty() {
                let memory = Memory { shared: *act == 1, ..Memory::new(&agent.into(), text, Some(at as i64)) };
                applied(&mut texts, &known.add(&memory).expect("it is new"));
                continue;
            }
            let memory = which.get(&all).clone();
            let changes = match act {
                2 => vec![known.forget(&memory.id).expect("it is known")],
                3 => known.update(&Memory { content: text.clone(), pinned: *flag, ..memory }).expect("it is known"),
                _ => known.update(&Memory { shared: *flag, ..memory }).expect("it is known"),
            };
            changes.iter().for_each(|change| applied(&mut texts, change));
        }
        let mut again = base();
        again.read(texts.clone()).expect("it can be read");
        prop_assert_eq!(again.problems(), []);
        let all = |known: &KnowledgeBase| known.index().all(&Viewer::Person).iter().map(|entry| entry.memory.clone()).collect::<Vec<_>>();
        prop_assert_eq!(all(&again), all(&known));
        prop_assert_eq!(known.read(texts).expect("it can be read"), ReadSummary::default());
    }
}
