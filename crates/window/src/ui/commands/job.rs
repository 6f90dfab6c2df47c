//! Slow work that a pane requests: it runs in the background, is shown in the window and can be cancelled, and its
//! result is passed back to the pane.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::base::JobControl;

/// What came of a job, or in words why nothing did.
pub type JobResult = Result<Value, String>;

/// The owner of jobs of the window itself, which no pane asked for.
pub const WINDOW: &str = "";

/// Something slow to do.
#[derive(Clone)]
pub struct Job {
    /// The pane that gets the result, by its word; [`WINDOW`] where none does. It is cancelled when that pane closes.
    pub pane: &'static str,
    /// What it does, for people.
    pub name: String,
    /// How far it is, and whether it is to give up.
    pub control: JobControl,
    run: Arc<dyn Fn(&JobControl) -> JobResult + Send + Sync>,
}

impl Job {
    /// A job of this pane.
    pub fn new(
        pane: &'static str,
        name: impl Into<String>,
        run: impl Fn(&JobControl) -> JobResult + Send + Sync + 'static,
    ) -> Self {
        Self { pane, name: name.into(), control: JobControl::default(), run: Arc::new(run) }
    }

    /// Does it. Takes as long as it takes.
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
