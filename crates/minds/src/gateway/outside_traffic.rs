//! The external activities of tool calls, by id: running programs, and web requests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::base::Id;

/// The final report of an external activity.
pub(super) trait Reported {
    /// Returns the id of the activity.
    fn id(&self) -> &Id;

    /// Creates the report of an activity whose result will never arrive.
    fn lost(id: Id) -> Self;
}

/// Activities without a result yet, and results that were not admitted yet.
#[derive(Debug)]
pub(super) struct OutsideTraffic<Report> {
    under_way: BTreeSet<Id>,
    results: VecDeque<Report>,
}

impl<Report> Default for OutsideTraffic<Report> {
    fn default() -> Self {
        Self { under_way: BTreeSet::new(), results: VecDeque::new() }
    }
}

impl<Report: Reported> OutsideTraffic<Report> {
    /// Removes and returns the results since the last call.
    pub(super) fn take(&mut self) -> VecDeque<Report> {
        std::mem::take(&mut self.results)
    }

    pub(super) fn sent(&mut self, id: &Id) {
        self.under_way.insert(id.clone());
    }

    pub(super) fn receive(&mut self, ended: Report) {
        if self.under_way.remove(ended.id()) {
            self.results.push_back(ended);
        }
    }

    /// Reports all running activities as lost, because the worker has ended.
    pub(super) fn lost(&mut self) {
        self.results.extend(std::mem::take(&mut self.under_way).into_iter().map(Report::lost));
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.under_way.is_empty()
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.results.is_empty()
    }
}

/// The cancellation tokens of the worker's running activities, by id.
#[derive(Clone, Default)]
pub(super) struct Stoppable(Arc<Mutex<BTreeMap<Id, CancellationToken>>>);

impl Stoppable {
    pub(super) fn begin(&self, id: &Id, all: &CancellationToken) -> CancellationToken {
        let cancel = all.child_token();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), cancel.clone());
        cancel
    }

    pub(super) fn stop(&self, id: &Id) {
        if let Some(cancel) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            cancel.cancel();
        }
    }

    pub(super) fn end(&self, id: &Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
