//! Background jobs as the window lists them, with progress and a button to cancel.

use super::texts;
use crate::base::JobControl;

/// A job that takes long enough to be shown.
#[derive(Clone, PartialEq, Debug)]
pub struct RunningJob {
    /// What the job does, for people.
    pub name: String,
    /// Progress and cancellation; absent if the job supports neither.
    pub control: Option<JobControl>,
}

impl RunningJob {
    /// Returns the name and, if known, the progress.
    pub fn status_text(&self) -> String {
        let name = &self.name;
        match &self.control {
            Some(control) if control.is_cancelled() => texts::cancelling(name),
            Some(control) => match control.progress() {
                Some(share) => texts::running_percent(name, (share * 100.0).round()),
                None => texts::running(name),
            },
            None => texts::running(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_shows_its_progress_if_known() {
        let control = JobControl::default();
        let job = RunningJob { name: "Importing files".into(), control: Some(control.clone()) };
        assert_eq!(job.status_text(), "Importing files…");
        control.set_progress(0.456);
        assert_eq!(job.status_text(), "Importing files, 46 %");
        control.cancel();
        assert_eq!(job.status_text(), "Importing files, cancelling");
        assert_eq!(RunningJob { control: None, ..job }.status_text(), "Importing files…");
    }
}
