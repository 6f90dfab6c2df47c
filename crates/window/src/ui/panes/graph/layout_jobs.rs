//! Computes layouts in background jobs. A newer request cancels the previous one.

use std::sync::{Arc, Mutex, PoisonError};

use egui::Pos2;
use serde_json::Value;

use super::layout::{LayoutRequest, lay_out};
use super::texts;
use crate::base::JobControl;
use crate::ui::commands::job::Job;
use crate::ui::state::tab;

/// A finished layout.
#[derive(Clone, Debug)]
pub struct FinishedLayout {
    /// The request it was computed for.
    pub request: Arc<LayoutRequest>,
    /// Upper left corner of each node, in the order of the request.
    pub corners: Arc<Vec<Pos2>>,
}

/// The latest requested layout and the newest finished one.
#[derive(Clone, Debug)]
pub struct LayoutJobs {
    /// The pane that shows the layouts, by its id, which owns the jobs.
    pane: &'static str,
    requested: Option<(Arc<LayoutRequest>, JobControl)>,
    newest: Arc<Mutex<Option<FinishedLayout>>>,
}

/// The layouts of the agent graph.
impl Default for LayoutJobs {
    fn default() -> Self {
        Self::of(tab::GRAPH)
    }
}

/// The name of a layout job.
pub const LAYING_OUT: &str = texts::LAYING_OUT;

impl LayoutJobs {
    /// Creates the layouts of a pane.
    pub fn of(pane: &'static str) -> Self {
        Self { pane, requested: None, newest: Arc::default() }
    }

    /// Returns a job that computes this layout and cancels the previous job, or `None` if this layout is the latest
    /// request.
    pub fn ask(&mut self, request: &Arc<LayoutRequest>) -> Option<Job> {
        if self.is_asked(request) {
            return None;
        }
        let (wanted, newest) = (request.clone(), self.newest.clone());
        let job = Job::new(self.pane, LAYING_OUT, move |control| {
            let corners = Arc::new(lay_out(&wanted));
            let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
            // A superseded result must not replace a newer one.
            if !control.is_cancelled() {
                *newest = Some(FinishedLayout { request: wanted.clone(), corners });
            }
            Ok(Value::Null)
        });
        if let Some((_, before)) = self.requested.replace((request.clone(), job.control.clone())) {
            before.cancel();
        }
        Some(job)
    }

    /// Whether this is the latest request.
    pub fn is_asked(&self, request: &LayoutRequest) -> bool {
        self.requested.as_ref().is_some_and(|(requested, _)| **requested == *request)
    }

    /// Forgets the latest request if its job was cancelled, for example because the pane was closed, so that it can be
    /// requested again. Returns whether it was.
    pub fn forget_cancelled(&mut self) -> bool {
        let is_cancelled = self.requested.as_ref().is_some_and(|(_, control)| control.is_cancelled());
        if is_cancelled {
            self.requested = None;
        }
        is_cancelled
    }

    /// Returns the newest finished layout. It is kept, so that clones of this pane see it too.
    pub fn newest(&self) -> Option<FinishedLayout> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the latest request.
    #[cfg(test)]
    pub fn requested(&self) -> Option<&Arc<LayoutRequest>> {
        self.requested.as_ref().map(|(request, _)| request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::vec2;

    fn request(count: usize) -> Arc<LayoutRequest> {
        let links = (1..count).map(|number| (0, number)).collect();
        let (agents, sizes) = ((0..count).collect(), vec![vec2(100.0, 40.0); count]);
        Arc::new(LayoutRequest { beginning: 1, agents, sizes, links })
    }

    fn laid_out(jobs: &LayoutJobs) -> Option<usize> {
        jobs.newest().map(|laid_out| laid_out.corners.len())
    }

    #[test]
    fn a_newer_request_cancels_the_previous_one_whose_result_is_discarded() {
        let mut jobs = LayoutJobs::default();
        let old = jobs.ask(&request(40)).expect("nothing was requested yet");
        assert!(jobs.ask(&request(40)).is_none(), "it is requested once");
        let new = jobs.ask(&request(3)).expect("it is another");
        assert!(old.control.is_cancelled() && !new.control.is_cancelled());
        assert_eq!(new.run(), Ok(Value::Null));
        assert_eq!(old.run(), Ok(Value::Null), "it was already running");
        assert_eq!(laid_out(&jobs), Some(3));
    }

    #[test]
    fn clones_of_a_pane_share_the_newest_layout() {
        let mut jobs = LayoutJobs::default();
        let second = jobs.clone();
        let job = jobs.ask(&request(4)).expect("nothing was requested yet");
        assert_eq!(job.run(), Ok(Value::Null));
        assert_eq!((laid_out(&second), laid_out(&jobs)), (Some(4), Some(4)));
    }

    #[test]
    fn a_cancelled_layout_can_be_requested_again() {
        let mut jobs = LayoutJobs::default();
        let job = jobs.ask(&request(4)).expect("nothing was requested yet");
        assert!(!jobs.forget_cancelled(), "it is still running");
        job.control.cancel();
        assert!(jobs.forget_cancelled() && jobs.ask(&request(4)).is_some());
    }
}
