//! Slow work of panes: one job after the other on a thread of its own, seen and cancelled in the window.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::background_jobs::{BackgroundJobs, OnDrop};
use crate::ui::UiState;
use crate::ui::commands::job::{Job, JobResult};
use crate::ui::shell::pane_states::PaneStates;
use crate::ui::state::jobs::{JobControl, RunningJob};

/// Jobs that wait at most.
const JOBS_AT_MOST: usize = 16;

/// The jobs of panes, and the thread that does them.
#[derive(Default)]
pub(super) struct PaneJobs {
    runner: Option<BackgroundJobs<Job, (Job, JobResult)>>,
    /// Those that wait or run.
    running: Vec<JobControl>,
}

impl PaneJobs {
    /// Begins a job as soon as those before it are done; the window shows it from now on.
    pub(super) fn start(&mut self, job: Job, state: &mut UiState) {
        if self.runner.is_none() {
            let started = BackgroundJobs::start("pane jobs", JOBS_AT_MOST, OnDrop::Discard, run);
            self.runner = started.inspect_err(|error| tracing::warn!("panes can do nothing slow: {error}")).ok();
        }
        let (name, control) = (job.name.clone(), job.control.clone());
        if !self.runner.as_ref().is_some_and(|runner| runner.push(job)) {
            state.tell(format!("{name} was not started: too much is under way. Try again."), false);
            return;
        }
        self.running.push(control.clone());
        state.jobs.push(RunningJob { name, control });
    }

    /// Hands panes what came of their jobs. Once a frame.
    pub(super) fn take_results(&mut self, state: &mut UiState, panes: &mut PaneStates) {
        while let Some((job, result)) = self.runner.as_ref().and_then(BackgroundJobs::try_next) {
            self.running.retain(|control| *control != job.control);
            state.jobs.retain(|shown| shown.control != job.control);
            if job.control.is_cancelled() {
                continue;
            }
            if let Err(why) = &result {
                state.tell(format!("{} failed: {why}", job.name), false);
            }
            if let Some(pane) = panes.added.find(job.pane) {
                pane.finish(&job.name, result);
            }
        }
    }

    /// Whether something is under way.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Gives up whatever is under way. For when the window closes or another workspace is opened.
    pub(super) fn close(&mut self, state: &mut UiState) {
        self.cancel();
        state.jobs.clear();
    }

    fn cancel(&mut self) {
        self.running.drain(..).for_each(|control| control.cancel());
        self.runner = None;
    }
}

impl Drop for PaneJobs {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn run(job: Job) -> (Job, JobResult) {
    // One that was cancelled while it waited is not begun.
    let result = if job.control.is_cancelled() {
        Err("it was cancelled".to_owned())
    } else {
        // A pane's mistake costs its job, not the thread of all others.
        catch_unwind(AssertUnwindSafe(|| job.run()))
            .unwrap_or_else(|_| Err("it stopped by a mistake of its own".into()))
    };
    (job, result)
}
