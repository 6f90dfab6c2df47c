//! The state shared by a slow job and its caller: its progress, and whether it should be cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The value for work that has not reported its progress.
const UNKNOWN: u32 = u32::MAX;

/// Observes and cancels one slow job. All clones refer to the same job.
#[derive(Clone, Debug, Default)]
pub struct JobControl(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    per_mille: AtomicU32,
    is_cancelled: AtomicBool,
}

impl Default for Shared {
    fn default() -> Self {
        Self { per_mille: AtomicU32::new(UNKNOWN), is_cancelled: AtomicBool::new(false) }
    }
}

impl PartialEq for JobControl {
    /// The same job, not one that is as far.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl JobControl {
    /// Says how much is done, from 0 to 1.
    pub fn set_progress(&self, share: f32) {
        self.0.per_mille.store((share.clamp(0.0, 1.0) * 1e3) as u32, Ordering::Relaxed);
    }

    /// Says that so many of so many are done.
    pub fn set_done(&self, done: usize, of: usize) {
        self.set_progress(done as f32 / of.max(1) as f32);
    }

    /// How much is done, from 0 to 1; nothing where the work does not say.
    pub fn progress(&self) -> Option<f32> {
        let per_mille = self.0.per_mille.load(Ordering::Relaxed);
        (per_mille != UNKNOWN).then_some(per_mille as f32 / 1e3)
    }

    /// Asks the job to give up.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the job is to give up: it looks now and then.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_about_the_same_work_which_says_how_far_it_is() {
        let (job, other) = (JobControl::default(), JobControl::default());
        let copy = job.clone();
        assert_eq!((copy.progress(), copy.is_cancelled()), (None, false));
        job.set_done(3, 4);
        job.cancel();
        assert_eq!((copy.progress(), copy.is_cancelled()), (Some(0.75), true));
        assert!(copy == job && copy != other);
        other.set_done(7, 0);
        assert_eq!(other.progress(), Some(1.0), "a share is never more than all of it");
    }
}
