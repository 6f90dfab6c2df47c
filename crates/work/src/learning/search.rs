//! Searches memories from outside the world, as a person does in the window: with the same index and model as the
//! agents' recall. It changes nothing and does not affect recall counts.

use std::time::Duration;

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::knowledge_calls::score_of;
use crate::knowledge::{Filter, Viewer};
use crate::log::events::RecalledScore;

/// Searches that wait; more wait where they are asked.
const SEARCHES_WAITING: usize = 8;
/// How long a search waits for its turn, and for its answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A search query.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryQuery {
    /// Who looks: only what it may know is found.
    pub viewer: Viewer,
    /// In words.
    pub text: String,
    /// Which memories at all.
    pub filter: Filter,
    /// What time it is, in seconds since 1970.
    pub now: i64,
    /// How many at most.
    pub limit: usize,
}

/// A running search.
pub(super) struct Search {
    query: MemoryQuery,
    answer: Sender<Result<Vec<RecalledScore>, String>>,
}

impl Search {
    /// Answers the request. The requester may be gone.
    pub(super) fn answer(self, opened: Result<&KnowledgeFiles, KnowledgeFilesError>) {
        let found = opened.map(|files| {
            let MemoryQuery { viewer, text, filter, now, limit } = &self.query;
            files.known().recall(viewer, text, *now, *limit, filter.clone()).iter().map(score_of).collect()
        });
        let _is_heard = self.answer.send(found.map_err(|error| error.to_string()));
    }
}

/// Access to the search. Cheap to clone; searching blocks, so use it on a separate thread.
#[derive(Clone)]
pub struct MemorySearch(Sender<Search>);

impl std::fmt::Debug for MemorySearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemorySearch")
    }
}

/// A way to search, and where searches come out.
pub(super) fn searches() -> (MemorySearch, Receiver<Search>) {
    let (search, searches) = bounded(SEARCHES_WAITING);
    (MemorySearch(search), searches)
}

impl MemorySearch {
    /// What is known about something, the best first. Waits for the answer.
    pub fn find(&self, query: MemoryQuery) -> Result<Vec<RecalledScore>, String> {
        let (answer, answers) = bounded(1);
        self.0.send_timeout(Search { query, answer }, PATIENCE).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => "the knowledge service is busy; try again in a moment".to_owned(),
            SendTimeoutError::Disconnected(_) => "the room is closed".to_owned(),
        })?;
        let gone = "memories could not be searched in time; try again in a moment";
        answers.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(gone.to_owned()))
    }
}
