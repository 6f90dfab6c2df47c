//! Searches memories in the background, as an agent recalls them: by meaning and by word, each with the parts of its
//! score.

use serde::{Deserialize, Serialize};

use super::{WORD, texts};
use crate::base::Id;
use crate::base::calendar::SECS_PER_DAY;
use crate::knowledge::{Filter, MemoryKind, Viewer};
use crate::learning::{MemoryQuery, MemorySearch};
use crate::log::events::RecalledScore;
use crate::ui::commands::job::Job;

/// The maximum number of results.
const FOUND_AT_MOST: usize = 50;

/// Since when memories are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Since {
    /// All of them.
    #[default]
    Ever,
    /// Of the last day.
    Day,
    /// Of the last seven days.
    Week,
    /// Of the last thirty days.
    Month,
}

impl Since {
    /// All choices.
    pub(super) const ALL: [Self; 4] = [Self::Ever, Self::Day, Self::Week, Self::Month];

    /// For people.
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

/// What is looked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Wanted {
    /// In words; all where empty.
    pub(super) text: String,
    /// As whom: as an agent, only what it may know; as the person if absent.
    pub(super) viewer: Option<Id>,
    /// Only what everybody knows.
    pub(super) is_shared: bool,
    /// Only of this kind.
    pub(super) kind: Option<MemoryKind>,
    /// Only with this tag.
    pub(super) tag: Option<String>,
    /// Only since then.
    pub(super) since: Since,
}

impl Wanted {
    /// Which memories at all, seen from this moment in seconds since 1970.
    pub(super) fn filter(&self, now: i64) -> Filter {
        Filter {
            kinds: self.kind.into_iter().collect(),
            tags: self.tag.iter().cloned().collect(),
            is_shared: self.is_shared,
            since: self.since.days().map(|days| now - days * SECS_PER_DAY),
            ..Filter::default()
        }
    }

    /// Who looks.
    pub(super) fn viewer(&self) -> Viewer {
        self.viewer.clone().map_or(Viewer::Person, Viewer::Agent)
    }

    /// A search job; its results are [`Found`].
    pub(super) fn job(&self, search: &MemorySearch, now: i64) -> Job {
        let query = MemoryQuery {
            viewer: self.viewer(),
            text: self.text.clone(),
            filter: self.filter(now),
            now,
            limit: FOUND_AT_MOST,
        };
        let search = search.clone();
        Job::new(WORD, texts::searching_for(self.text.trim()), move |_| {
            let found: Vec<Found> = search.find(query.clone())?.into_iter().map(Found).collect();
            serde_json::to_value(found).map_err(|error| error.to_string())
        })
    }
}

/// A memory that was found, with what its score is made of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Found(pub(super) RecalledScore);

impl Found {
    /// Why it has its position.
    pub(super) fn why(&self) -> String {
        score_words(&self.0)
    }

    /// Whether it is about what was looked for, and not only the least unlike.
    pub(super) fn is_about_it(&self) -> bool {
        self.0.similarity.is_some_and(|similarity| similarity >= ABOUT_FROM) || self.0.coverage >= ABOUT_FROM
    }
}

/// What is as near as this, in meaning or in words, is about what was looked for.
const ABOUT_FROM: f32 = 0.4;

/// What a score is made of, in words.
pub fn score_words(score: &RecalledScore) -> String {
    let share = |share: f32| format!("{:.0} %", share * 100.0);
    let meaning = score.similarity.map_or_else(|| texts::NOT_NEAR.to_owned(), |near| texts::meaning(&share(near)));
    let (words, fresh, matters) = (share(score.coverage), share(score.recency), share(score.importance));
    texts::score(score.score, &meaning, &words, &fresh, &matters)
}
