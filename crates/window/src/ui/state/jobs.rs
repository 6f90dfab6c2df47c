//! Slow work that a pane has under way beside the frames: how far it is, and that it is to be given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What the window and a job have in common while it runs.
#[derive(Clone, Debug, Default)]
pub struct JobControl(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    per_mille: AtomicU32,
    is_cancelled: AtomicBool,
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

    /// How much is done, from 0 to 1.
    pub fn progress(&self) -> f32 {
        self.0.per_mille.load(Ordering::Relaxed) as f32 / 1e3
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

/// A job as the window shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct RunningJob {
    /// What it does, for people.
    pub name: String,
    /// How far it is.
    pub control: JobControl,
}
