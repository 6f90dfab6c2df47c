//! Runs the window's background jobs: a thread that does one job after the other, so that no frame waits for a disk,
//! with a bounded queue to it and a bounded queue of results back.

use std::io;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never};

/// What becomes of queued jobs when the runner is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OnDrop {
    /// They are done first: they write something.
    Finish,
    /// They are left undone: they only read.
    Discard,
}

/// A thread that does jobs in the order in which they were pushed; each has one result. Dropping it waits for the
/// thread, which never waits for anybody to take results then.
pub(super) struct BackgroundJobs<Job, Done> {
    name: &'static str,
    /// `None` only while dropping.
    jobs: Option<Sender<Job>>,
    results: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
}

impl<Job: Send + 'static, Done: Send + 'static> BackgroundJobs<Job, Done> {
    /// Starts the thread. At most `capacity` jobs are queued, and as many results.
    pub(super) fn start(
        name: &'static str,
        capacity: usize,
        on_drop: OnDrop,
        mut run: impl FnMut(Job) -> Done + Send + 'static,
    ) -> io::Result<Self> {
        let (jobs, queued) = bounded(capacity);
        let (done, results) = bounded(capacity);
        let work = move || {
            for job in queued {
                // Where nobody takes results any more, what is done is done all the same.
                if done.send(run(job)).is_err() && on_drop == OnDrop::Discard {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(work)?;
        Ok(Self { name, jobs: Some(jobs), results, thread: Some(thread) })
    }

    /// Queues a job without waiting; `false` where the queue is full.
    pub(super) fn push(&self, job: Job) -> bool {
        match self.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => true,
            Some(Err(TrySendError::Full(_))) => false,
            Some(Err(TrySendError::Disconnected(_))) | None => {
                tracing::warn!("the thread \"{}\" is gone", self.name);
                false
            }
        }
    }

    /// Queues one of the last jobs, waiting until there is room. No results can be taken afterwards.
    pub(super) fn push_last(&mut self, job: Job) {
        self.results = never();
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_err()) {
            tracing::warn!("the thread \"{}\" is gone; its last job is not done", self.name);
        }
    }

    /// The next result, if there is one. Never waits.
    pub(super) fn try_next(&self) -> Option<Done> {
        self.results.try_recv().ok()
    }

    /// The next result, waiting for it until then.
    pub(super) fn next_until(&self, deadline: Instant) -> Option<Done> {
        self.results.recv_deadline(deadline).ok()
    }
}

impl<Job, Done> Drop for BackgroundJobs<Job, Done> {
    fn drop(&mut self) {
        self.jobs = None;
        self.results = never();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread \"{}\" panicked; its last jobs may not be done", self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn in_a_while() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn jobs_are_done_in_order_and_the_queue_is_bounded() {
        let (go, gate) = bounded::<()>(0);
        let jobs = BackgroundJobs::start("test", 2, OnDrop::Finish, move |job: u32| {
            let _ = gate.recv();
            job * 10
        });
        let jobs = jobs.expect("a thread can be started");
        let pushed = (1..=9).filter(|job| jobs.push(*job)).count();
        assert!((2..=3).contains(&pushed), "two are queued beside the one under way: {pushed}");
        assert_eq!(jobs.try_next(), None);
        drop(go);
        let done: Vec<u32> = (0..pushed).filter_map(|_| jobs.next_until(in_a_while())).collect();
        assert_eq!(done, [10, 20, 30][..pushed]);
        assert!(jobs.push(4), "there is room again");
    }

    #[test]
    fn dropping_finishes_what_writes_and_discards_what_reads() {
        for (on_drop, done) in [(OnDrop::Finish, 4), (OnDrop::Discard, 1)] {
            let (go, gate) = bounded::<()>(0);
            let (ran, runs) = bounded(9);
            let run = move |job: u32| {
                let _ = gate.recv();
                let _ = ran.send(job);
            };
            let mut jobs = BackgroundJobs::start("test", 4, on_drop, run).expect("a thread can be started");
            (1..=4).for_each(|job| jobs.push_last(job));
            drop(go);
            drop(jobs);
            assert_eq!(runs.iter().count(), done, "{on_drop:?}");
        }
    }

    #[test]
    fn results_that_nobody_takes_do_not_keep_the_thread() {
        let mut jobs = BackgroundJobs::start("test", 1, OnDrop::Finish, |job: u32| job).expect("a thread");
        (0..9).for_each(|job| jobs.push_last(job));
        assert_eq!(jobs.try_next(), None);
    }
}
