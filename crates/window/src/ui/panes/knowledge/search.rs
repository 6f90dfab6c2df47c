//! Searches memories in the background by meaning and by word, as agents recall them, with the parts of each score.

use serde::{Deserialize, Serialize};

use super::{WORD, texts};
use crate::base::Id;
use crate::base::calendar::SECS_PER_DAY;
use crate::knowledge::{Filter, MemoryKind, Viewer};
use crate::learning::{MemoryQuery, MemorySearch};
use crate::log::events::RecalledScore;
use crate::ui::commands::job::Job;

/// The maximum number of results.
const MAX_RESULTS: usize = 50;

/// How old the shown memories may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Since {
    /// Any age.
    #[default]
    Ever,
    /// The last day.
    Day,
    /// The last seven days.
    Week,
    /// The last thirty days.
    Month,
}

impl Since {
    /// All variants in display order.
    pub(super) const ALL: [Self; 4] = [Self::Ever, Self::Day, Self::Week, Self::Month];

    /// Returns the display name.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Ever => texts::ANY_TIME,
            Self::Day => texts::LAST_DAY,
            Self::Week => texts::LAST_7_DAYS,
            Self::Month => texts::LAST_30_DAYS,
        }
    }

    fn days(self) -> Option<i64> {
        match self {
            Self::Ever => None,
            Self::Day => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
        }
    }
}

/// The search text and filters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct SearchForm {
    /// The search text; empty lists all memories.
    pub(super) text: String,
    /// The agent whose accessible memories are searched; all memories if `None`.
    pub(super) viewer: Option<Id>,
    /// Only shared memories.
    pub(super) is_shared: bool,
    /// Only memories of this kind.
    pub(super) kind: Option<MemoryKind>,
    /// Only memories with this tag.
    pub(super) tag: Option<String>,
    /// Only memories of this age.
    pub(super) since: Since,
}

impl SearchForm {
    /// Returns the filter at the time `now`, in seconds since the Unix epoch.
    pub(super) fn filter(&self, now: i64) -> Filter {
        Filter {
            kinds: self.kind.into_iter().collect(),
            tags: self.tag.iter().cloned().collect(),
            is_shared: self.is_shared,
            since: self.since.days().map(|days| now - days * SECS_PER_DAY),
            ..Filter::default()
        }
    }

    /// Returns as whom the memories are viewed.
    pub(super) fn viewer(&self) -> Viewer {
        self.viewer.clone().map_or(Viewer::Person, Viewer::Agent)
    }

    /// Returns a search job, which results in a list of [`SearchHit`].
    pub(super) fn job(&self, search: &MemorySearch, now: i64) -> Job {
        let query = MemoryQuery {
            viewer: self.viewer(),
            text: self.text.clone(),
            filter: self.filter(now),
            now,
            limit: MAX_RESULTS,
        };
        let search = search.clone();
        Job::new(WORD, texts::searching_for(self.text.trim()), move |_| {
            let found: Vec<SearchHit> = search.find(query.clone())?.into_iter().map(SearchHit).collect();
            serde_json::to_value(found).map_err(|error| error.to_string())
        })
    }
}

/// A search result with the parts of its score.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SearchHit(pub(super) RecalledScore);

impl SearchHit {
    /// Returns the parts of the score in words.
    pub(super) fn why(&self) -> String {
        score_words(&self.0)
    }

    /// Whether the memory is relevant, and not only the least dissimilar.
    pub(super) fn is_relevant(&self) -> bool {
        self.0.similarity.is_some_and(|similarity| similarity >= RELEVANCE_THRESHOLD)
            || self.0.coverage >= RELEVANCE_THRESHOLD
    }
}

/// The minimum similarity or word coverage of a relevant memory.
const RELEVANCE_THRESHOLD: f32 = 0.4;

/// Returns the parts of a score in words.
pub fn score_words(score: &RecalledScore) -> String {
    let share = |share: f32| format!("{:.0} %", share * 100.0);
    let meaning = score.similarity.map_or_else(|| texts::NOT_NEAR.to_owned(), |near| texts::meaning(&share(near)));
    let (words, fresh, matters) = (share(score.coverage), share(score.recency), share(score.importance));
    texts::score(score.score, &meaning, &words, &fresh, &matters)
}
