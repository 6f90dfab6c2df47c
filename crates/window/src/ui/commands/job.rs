//! Background jobs: a pane starts one, the window shows it and can cancel it, and its result is passed back to the
//! pane.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::base::JobControl;

/// The result of a job, or a message why it failed.
pub type JobResult = Result<Value, String>;

/// The owner of jobs that the window itself starts.
pub const WINDOW: &str = "";

/// A background job.
#[derive(Clone)]
pub struct Job {
    /// The name of the pane that gets the result, or [`WINDOW`]. The job is cancelled when that pane closes.
    pub pane: &'static str,
    /// What the job does, for people.
    pub name: String,
    /// Its progress and cancellation.
    pub control: JobControl,
    run: Arc<dyn Fn(&JobControl) -> JobResult + Send + Sync>,
}

impl Job {
    /// Creates a job of this pane.
    pub fn new(
        pane: &'static str,
        name: impl Into<String>,
        run: impl Fn(&JobControl) -> JobResult + Send + Sync + 'static,
    ) -> Self {
        Self { pane, name: name.into(), control: JobControl::default(), run: Arc::new(run) }
    }

    /// Runs the job to its end; this may take long.
    pub fn run(&self) -> JobResult {
        (self.run)(&self.control)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("pane", &self.pane).field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.control == other.control
    }
}
