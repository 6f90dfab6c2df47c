//! Finding memories beside the frames, as an agent is reminded of them: by meaning and by word, each with what its score
//! is made of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::WORD;
use crate::base::Id;
use crate::knowledge::{Db, Filter, KnowledgeBase, MemoryKind, Owner, Viewer, WordLlama};
use crate::ui::commands::job::{Job, JobResult};

/// So many memories are found.
const FOUND_AT_MOST: usize = 50;

/// What is looked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Wanted {
    /// In words; all where empty.
    pub(super) text: String,
    /// As whom: as an agent, only what it may know; the person where absent.
    pub(super) viewer: Option<Id>,
    /// Only what everybody knows.
    pub(super) is_shared: bool,
    /// Only of this kind.
    pub(super) kind: Option<MemoryKind>,
}

impl Wanted {
    /// Which memories at all.
    pub(super) fn filter(&self) -> Filter {
        Filter { kinds: self.kind.into_iter().collect(), is_shared: self.is_shared, ..Filter::default() }
    }

    /// Who looks.
    pub(super) fn viewer(&self) -> Viewer {
        self.viewer.clone().map_or(Viewer::Person, Viewer::Agent)
    }
}

/// A memory that was found, with what its score is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) id: Id,
    pub(super) score: f32,
    pub(super) similarity: Option<f32>,
    pub(super) coverage: f32,
    pub(super) recency: f32,
    pub(super) importance: f32,
}

impl Found {
    /// Why it stands where it stands.
    pub(super) fn why(&self) -> String {
        let share = |share: f32| format!("{:.0} %", share * 100.0);
        let meaning =
            self.similarity.map_or_else(|| "not near in meaning".to_owned(), |near| format!("meaning {}", share(near)));
        let (words, fresh, matters) = (share(self.coverage), share(self.recency), share(self.importance));
        format!("Score {:.2}: {meaning}, words {words}, fresh {fresh}, importance {matters}", self.score)
    }
}

/// The index that searches share, with the version of the files that it was made of.
#[derive(Clone, Default)]
pub(super) struct SearchIndex(Arc<Mutex<Option<(u64, KnowledgeBase)>>>);

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SearchIndex")
    }
}

impl SearchIndex {
    /// A job that looks for something among these texts.
    pub(super) fn job(&self, wanted: Wanted, (version, texts): (u64, BTreeMap<Owner, String>), now: i64) -> Job {
        let index = self.clone();
        Job::new(WORD, format!("Searching memories for “{}”", wanted.text.trim()), move |_| {
            index.search(&wanted, (version, &texts), now)
        })
    }

    fn search(&self, wanted: &Wanted, (version, texts): (u64, &BTreeMap<Owner, String>), now: i64) -> JobResult {
        let mut index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if index.as_ref().is_none_or(|(made_of, _)| *made_of != version) {
            let told = |error: &dyn std::fmt::Display| error.to_string();
            let embedder = WordLlama::built_in().map_err(|error| told(&error))?;
            let db = Db::in_memory().map_err(|error| told(&error))?;
            let mut known = KnowledgeBase::new(db, Box::new(embedder)).map_err(|error| told(&error))?;
            known.read(texts.clone()).map_err(|error| told(&error))?;
            *index = Some((version, known));
        }
        let Some((_, known)) = &*index else { return Err("there is nothing to search in".to_owned()) };
        let found = known.recall(&wanted.viewer(), &wanted.text, now, FOUND_AT_MOST, wanted.filter());
        let found: Vec<Found> = found
            .iter()
            .map(|found| Found {
                id: found.entry.memory.id.clone(),
                score: found.score,
                similarity: found.parts.similarity,
                coverage: found.parts.coverage,
                recency: found.parts.recency,
                importance: found.parts.importance,
            })
            .collect();
        serde_json::to_value(found).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_found_by_meaning_as_whoever_looks_may_know_them() {
        let texts: BTreeMap<Owner, String> = [
            (Owner::Agent("ada".into()), "- Port 8080 is taken by the proxy. <!-- k-1 -->\n".to_owned()),
            (Owner::Shared, "- Dana prefers short lists. <!-- k-2 kind=preference by=ada -->\n".to_owned()),
        ]
        .into();
        let index = SearchIndex::default();
        let ids = |wanted: Wanted| -> Vec<String> {
            let found = index.search(&wanted, (1, &texts), 0).expect("it can be searched");
            let found: Vec<Found> = serde_json::from_value(found).expect("it is what was found");
            found.iter().map(|found| found.id.to_string()).collect()
        };
        let wanted = |text: &str| Wanted { text: text.to_owned(), ..Wanted::default() };
        assert_eq!(ids(wanted("Which port is in use?"))[0], "k-1");
        assert_eq!(ids(wanted("How does Dana want it?"))[0], "k-2");
        let bob = Wanted { viewer: Some("bob".into()), ..wanted("Which port is in use?") };
        assert!(!ids(bob).contains(&"k-1".to_owned()), "what ada keeps to herself is not shown as bob");
        let facts = Wanted { kind: Some(MemoryKind::Fact), ..wanted("Dana") };
        assert!(!ids(facts).contains(&"k-2".to_owned()));
    }
}
