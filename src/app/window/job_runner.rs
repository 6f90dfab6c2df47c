//! Runs slow jobs of the window and its panes: a few at a time in the background, shown and cancellable in the window.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::background_jobs::{BackgroundJobs, SHOWN_AFTER};
use crate::base::JobControl;
use crate::ui::UiState;
use crate::ui::commands::job::{Job, JobResult, WINDOW};
use crate::ui::shell::parts::WindowParts;
use crate::ui::state::dock::{Dock, Tab};
use crate::ui::state::jobs::RunningJob;

/// Maximum number of queued jobs.
const MAX_JOBS: usize = 16;
/// Number of threads, so that a job that waits for the network does not delay the graph layout.
const THREADS: usize = 3;

/// The jobs of the window and its panes, with their threads.
#[derive(Default)]
pub(super) struct JobRunner {
    runner: Option<BackgroundJobs<Job, (Job, JobResult)>>,
    /// Queued and running jobs.
    running: Vec<Running>,
}

struct Running {
    name: String,
    pane: &'static str,
    control: JobControl,
    since: Instant,
    /// Whether its pane was open while it ran: a job can be started without its pane.
    was_open: bool,
    /// Whether it was cancelled for a newer job of the same kind, so that its result is ignored.
    is_superseded: bool,
}

impl JobRunner {
    /// Starts a job as soon as a thread is free. If too many are waiting, it is cancelled and the person is told.
    pub(super) fn start(&mut self, job: Job, state: &mut UiState) {
        if self.runner.is_none() {
            let started = BackgroundJobs::start_several("window jobs", THREADS, MAX_JOBS, run);
            self.runner = started.inspect_err(|error| tracing::warn!("background jobs cannot run: {error}")).ok();
        }
        let (name, pane, control) = (job.name.clone(), job.pane, job.control.clone());
        if !self.runner.as_ref().is_some_and(|runner| runner.push(job)) {
            control.cancel();
            state.notify(format!("{name} was not started: too much is running. Try again."), false);
            return;
        }
        let alike = |other: &&mut Running| other.pane == pane && other.name == name && other.control.is_cancelled();
        self.running.iter_mut().filter(alike).for_each(|other| other.is_superseded = true);
        let (since, was_open, is_superseded) = (Instant::now(), false, false);
        self.running.push(Running { name, pane, control, since, was_open, is_superseded });
    }

    /// Hands panes the results of their jobs, and cancels those of closed panes. Called once a frame.
    pub(super) fn take_results(&mut self, state: &mut UiState, parts: &mut WindowParts) {
        for job in self.running.iter_mut().filter(|job| job.pane != WINDOW) {
            let is_open = is_open(&state.dock, job.pane);
            if job.was_open && !is_open {
                job.control.cancel();
            }
            job.was_open |= is_open;
        }
        while let Some((job, result)) = self.runner.as_ref().and_then(BackgroundJobs::try_next) {
            self.running.retain(|running| running.control != job.control);
            if job.control.is_cancelled() {
                continue;
            }
            if let Err(why) = &result {
                state.notify(format!("{} failed: {why}", job.name), false);
            }
            if let Some(pane) = parts.panes.find_mut(job.pane) {
                pane.finish(&job.name, result);
            }
        }
    }

    /// Whether a job is running or waiting.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Jobs that run long enough to be shown.
    pub(super) fn shown(&self) -> impl Iterator<Item = RunningJob> {
        let shown = self.running.iter().filter(|job| !job.is_superseded && job.since.elapsed() >= SHOWN_AFTER);
        shown.map(|job| RunningJob { name: job.name.clone(), control: Some(job.control.clone()) })
    }

    /// Cancels all jobs, for when the window closes or another workspace is opened.
    pub(super) fn close(&mut self) {
        self.running.drain(..).for_each(|job| job.control.cancel());
        self.runner = None;
    }
}

impl Drop for JobRunner {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether the pane with this id is open, visible or in a background tab.
fn is_open(dock: &Dock, pane: &'static str) -> bool {
    dock.is_shown(&Tab::named(pane))
}

fn run(job: Job) -> (Job, JobResult) {
    // It was cancelled while it was queued.
    let result = if job.control.is_cancelled() {
        Err("it was cancelled".to_owned())
    } else {
        // A panic fails only its job, not the thread.
        catch_unwind(AssertUnwindSafe(|| job.run())).unwrap_or_else(|_| Err("it stopped because of a bug".into()))
    };
    (job, result)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crossbeam_channel::bounded;
    use serde_json::Value;

    use super::*;
    use crate::ui::state::tab;

    fn graph_job(run: impl Fn(&JobControl) + Send + Sync + 'static) -> Job {
        let run = move |control: &JobControl| {
            run(control);
            Ok(Value::Null)
        };
        Job::new(tab::GRAPH, "Laying out", run)
    }

    fn until_idle(jobs: &mut JobRunner, state: &mut UiState) {
        let began = Instant::now();
        while jobs.is_busy() && began.elapsed() < Duration::from_secs(20) {
            jobs.take_results(state, &mut WindowParts::default());
            std::thread::yield_now();
        }
        assert!(!jobs.is_busy(), "it came to an end");
    }

    #[test]
    fn closing_a_pane_cancels_its_jobs_and_no_others() {
        let (mut jobs, mut state) = (JobRunner::default(), UiState::default());
        let (open, gate) = bounded::<()>(0);
        let wait = move |control: &JobControl| {
            while !control.is_cancelled() && gate.try_recv() != Err(crossbeam_channel::TryRecvError::Disconnected) {
                std::thread::yield_now();
            }
        };
        let (of_graph, wait_too) = (graph_job(wait.clone()), wait);
        let of_window = Job::new(WINDOW, "Testing", move |control| {
            wait_too(control);
            Ok(Value::Null)
        });
        let (graph, window) = (of_graph.control.clone(), of_window.control.clone());
        jobs.start(of_graph, &mut state);
        jobs.start(of_window, &mut state);
        jobs.take_results(&mut state, &mut WindowParts::default());
        assert!(!graph.is_cancelled(), "the graph stands behind the room, and is open");
        state.dock.close(&Tab::GRAPH);
        jobs.take_results(&mut state, &mut WindowParts::default());
        assert!(graph.is_cancelled() && !window.is_cancelled());
        drop(open);
        until_idle(&mut jobs, &mut state);
        assert!(
            state.notices.outcomes().is_empty(),
            "what was cancelled is no failure: {:?}",
            state.notices.outcomes()
        );
    }

    #[test]
    fn jobs_beyond_the_queue_limit_are_cancelled_and_reported() {
        let (mut jobs, mut state) = (JobRunner::default(), UiState::default());
        let (open, gate) = bounded::<()>(0);
        let controls: Vec<JobControl> = (0..2 * MAX_JOBS)
            .map(|_| {
                let gate = gate.clone();
                let job = graph_job(move |_| gate.recv().unwrap_or_default());
                let control = job.control.clone();
                jobs.start(job, &mut state);
                control
            })
            .collect();
        let refused = controls.iter().filter(|control| control.is_cancelled()).count();
        assert!((MAX_JOBS - THREADS..=MAX_JOBS).contains(&refused), "{refused} had no place");
        assert_eq!(
            state.notices.recent().iter().filter(|told| told.text.contains("too much is running")).count(),
            refused
        );
        drop(open);
        until_idle(&mut jobs, &mut state);
    }
}
