//! The answers of this run, so that a repeated order gets the same answer even if nothing changed.

use std::collections::{BTreeMap, VecDeque};

use super::order::{FileAnswer, FileFailure};
use crate::base::Id;

/// The maximum number of cached answers.
const MAX_COUNT: usize = 1024;
/// The maximum number of bytes of the texts in cached answers.
const MAX_BYTES: usize = 8 * 1024 * 1024;

type Answer = Result<FileAnswer, FileFailure>;

/// The most recent answers.
#[derive(Default)]
pub(super) struct Recent {
    answers: BTreeMap<Id, (u64, Answer)>,
    order: VecDeque<(Id, usize)>,
    bytes: usize,
}

impl Recent {
    /// Returns the cached answer to an order.
    pub(super) fn answer(&self, key: &Id, what: u64) -> Option<Answer> {
        self.answers.get(key).filter(|(asked, _)| *asked == what).map(|(_, answer)| answer.clone())
    }

    pub(super) fn insert(&mut self, key: &Id, what: u64, answer: &Answer) {
        let bytes = match answer {
            Ok(FileAnswer::Text { content, .. }) => content.len(),
            _ => 256,
        };
        if self.answers.insert(key.clone(), (what, answer.clone())).is_none() {
            self.order.push_back((key.clone(), bytes));
            self.bytes += bytes;
        }
        while self.order.len() > MAX_COUNT || self.bytes > MAX_BYTES {
            let Some((key, bytes)) = self.order.pop_front() else { return };
            self.answers.remove(&key);
            self.bytes -= bytes;
        }
    }
}
