//! Background jobs as the window shows them: in one place, each with its progress and a button to cancel it.

use super::texts;
use crate::base::JobControl;

/// A job that takes long enough to be shown.
#[derive(Clone, PartialEq, Debug)]
pub struct RunningJob {
    /// What it does, for people.
    pub name: String,
    /// How far it is, and a way to cancel it; absent where it can be neither said nor done.
    pub control: Option<JobControl>,
}

impl RunningJob {
    /// What is said of it: its name, and how far it is where that is known.
    pub fn status_text(&self) -> String {
        let name = &self.name;
        match &self.control {
            Some(control) if control.is_cancelled() => texts::cancelling(name),
            Some(control) => match control.progress() {
                Some(share) => texts::under_way_by(name, (share * 100.0).round()),
                None => texts::under_way(name),
            },
            None => texts::under_way(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_says_how_far_it_is_where_that_is_known() {
        let control = JobControl::default();
        let job = RunningJob { name: "Importing files".into(), control: Some(control.clone()) };
        assert_eq!(job.status_text(), "Importing files …");
        control.set_progress(0.456);
        assert_eq!(job.status_text(), "Importing files, 46 %");
        control.cancel();
        assert_eq!(job.status_text(), "Importing files, cancelling");
        assert_eq!(RunningJob { control: None, ..job }.status_text(), "Importing files …");
    }
}
