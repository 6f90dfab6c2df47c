//! The state that a slow job shares with its caller: its progress, and whether it should be cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The value for a job that has not reported its progress.
const UNKNOWN: u32 = u32::MAX;

/// A handle to observe and cancel one slow job. All clones refer to the same job.
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
    /// Compares the identity of the jobs, not their progress.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl JobControl {
    /// Sets the progress, from 0 to 1.
    pub fn set_progress(&self, share: f32) {
        self.0.per_mille.store((share.clamp(0.0, 1.0) * 1e3) as u32, Ordering::Relaxed);
    }

    /// Sets the progress to `done` of `of` items.
    pub fn set_done(&self, done: usize, of: usize) {
        self.set_progress(done as f32 / of.max(1) as f32);
    }

    /// Returns the progress, from 0 to 1; `None` if the job does not report it.
    pub fn progress(&self) -> Option<f32> {
        let per_mille = self.0.per_mille.load(Ordering::Relaxed);
        (per_mille != UNKNOWN).then_some(per_mille as f32 / 1e3)
    }

    /// Requests cancellation of the job.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether cancellation was requested; the job checks this regularly.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_progress_and_cancellation() {
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
