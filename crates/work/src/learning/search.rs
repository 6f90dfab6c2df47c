//! Searches memories from outside the world, for a person in the window, with the same index and model as the agents'
//! recall. A search changes nothing and does not affect recall counts.

use std::time::Duration;

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::knowledge_calls::score_of;
use crate::knowledge::{Filter, Viewer};
use crate::log::events::RecalledScore;

/// The maximum number of queued searches; further callers block.
const SEARCHES_WAITING: usize = 8;
/// How long a search waits to be queued, and then for its answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A search query.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryQuery {
    /// The person or agent that searches; only memories visible to it are found.
    pub viewer: Viewer,
    /// The search text.
    pub text: String,
    /// A filter on the memories.
    pub filter: Filter,
    /// The current time, in seconds since 1970.
    pub now: i64,
    /// The maximum number of results.
    pub limit: usize,
}

/// A running search.
pub(super) struct Search {
    query: MemoryQuery,
    answer: Sender<Result<Vec<RecalledScore>, String>>,
}

impl Search {
    /// Executes the search and sends its result. The requester may be gone.
    pub(super) fn answer(self, opened: Result<&KnowledgeFiles, KnowledgeFilesError>) {
        let found = opened.map(|files| {
            let MemoryQuery { viewer, text, filter, now, limit } = &self.query;
            files.known().recall(viewer, text, *now, *limit, filter.clone()).iter().map(score_of).collect()
        });
        let _is_received = self.answer.send(found.map_err(|error| error.to_string()));
    }
}

/// A handle for searching. Cheap to clone; searching blocks, so use it on a separate thread.
#[derive(Clone)]
pub struct MemorySearch(Sender<Search>);

impl std::fmt::Debug for MemorySearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemorySearch")
    }
}

/// Creates a search handle and the receiver of its searches.
pub(super) fn searches() -> (MemorySearch, Receiver<Search>) {
    let (search, searches) = bounded(SEARCHES_WAITING);
    (MemorySearch(search), searches)
}

impl MemorySearch {
    /// Returns the memories that match best, best first. Waits for the answer.
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
