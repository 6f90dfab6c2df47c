//! Computes layouts in the background, as jobs of the window: a newer request cancels the previous one.

use std::sync::{Arc, Mutex, PoisonError};

use egui::Pos2;
use serde_json::Value;

use super::layout::{LayoutRequest, lay_out};
use super::texts;
use crate::base::JobControl;
use crate::ui::commands::job::Job;
use crate::ui::state::dock::Tab;

/// A layout that is there.
#[derive(Clone, Debug)]
pub struct LaidOut {
    /// Of what.
    pub request: Arc<LayoutRequest>,
    /// The upper left corner of each.
    pub corners: Arc<Vec<Pos2>>,
}

/// The layout that was asked for last, and the newest that is there.
#[derive(Clone, Debug)]
pub struct LayoutJobs {
    /// Whose layouts they are, by the word of the pane.
    pane: &'static str,
    asked: Option<(Arc<LayoutRequest>, JobControl)>,
    newest: Arc<Mutex<Option<LaidOut>>>,
}

/// Those of the graph of agents.
impl Default for LayoutJobs {
    fn default() -> Self {
        Self::of(Tab::Graph.word())
    }
}

/// The name of such a job.
pub const LAYING_OUT: &str = texts::LAYING_OUT;

impl LayoutJobs {
    /// Those of a pane.
    pub fn of(pane: &'static str) -> Self {
        Self { pane, asked: None, newest: Arc::default() }
    }

    /// A job that lays this out, in place of the one before; nothing where this was asked for last.
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
                *newest = Some(LaidOut { request: wanted.clone(), corners });
            }
            Ok(Value::Null)
        });
        if let Some((_, before)) = self.asked.replace((request.clone(), job.control.clone())) {
            before.cancel();
        }
        Some(job)
    }

    /// Whether exactly this was asked for last.
    pub fn is_asked(&self, request: &LayoutRequest) -> bool {
        self.asked.as_ref().is_some_and(|(asked, _)| **asked == *request)
    }

    /// The pane was closed meanwhile: what was given up then can be asked for again.
    pub fn forget_cancelled(&mut self) -> bool {
        let is_cancelled = self.asked.as_ref().is_some_and(|(_, control)| control.is_cancelled());
        if is_cancelled {
            self.asked = None;
        }
        is_cancelled
    }

    /// The newest layout that is there. It stays there, so that a second look at the same pane sees it too.
    pub fn newest(&self) -> Option<LaidOut> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was asked for last.
    #[cfg(test)]
    pub fn asked(&self) -> Option<&Arc<LayoutRequest>> {
        self.asked.as_ref().map(|(request, _)| request)
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
    fn a_newer_request_cancels_the_one_before_it_which_then_takes_no_place() {
        let mut jobs = LayoutJobs::default();
        let old = jobs.ask(&request(40)).expect("nothing was asked for yet");
        assert!(jobs.ask(&request(40)).is_none(), "it is asked for once");
        let new = jobs.ask(&request(3)).expect("it is another");
        assert!(old.control.is_cancelled() && !new.control.is_cancelled());
        assert_eq!(new.run(), Ok(Value::Null));
        assert_eq!(old.run(), Ok(Value::Null), "it was under way already");
        assert_eq!(laid_out(&jobs), Some(3));
    }

    #[test]
    fn a_second_look_at_the_same_pane_takes_nothing_from_the_first() {
        let mut jobs = LayoutJobs::default();
        let second = jobs.clone();
        let job = jobs.ask(&request(4)).expect("nothing was asked for yet");
        assert_eq!(job.run(), Ok(Value::Null));
        assert_eq!((laid_out(&second), laid_out(&jobs)), (Some(4), Some(4)));
    }

    #[test]
    fn what_was_cancelled_with_its_pane_can_be_asked_for_again() {
        let mut jobs = LayoutJobs::default();
        let job = jobs.ask(&request(4)).expect("nothing was asked for yet");
        assert!(!jobs.forget_cancelled(), "it goes on");
        job.control.cancel();
        assert!(jobs.forget_cancelled() && jobs.ask(&request(4)).is_some());
    }
}
