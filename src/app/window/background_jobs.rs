//! The window's background threads: each runs jobs in order, so that no frame waits for disk, network or computation.
//! Queues of jobs and results are bounded.

use std::convert::Infallible;
use std::io;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded, never};

/// Jobs that take longer than this are shown to the person.
pub(super) const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// Some jobs recurse deeply, such as the layout of a long chain. Unused stack costs nothing.
const STACK_BYTES: usize = 64 << 20;
/// Maximum time to wait for discarded jobs, which were cancelled and which nothing depends on.
const MAX_DISCARDED: Duration = Duration::from_secs(2);

/// What happens to queued jobs when the runner is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OnDrop {
    /// They are run first, because they write something.
    Finish,
    /// They are dropped, because they only read or compute.
    Discard,
}

/// Threads that run jobs in order; each job has one result. Dropping it waits for the threads, which then do not wait
/// for their results to be taken.
pub(super) struct BackgroundJobs<Job, Done> {
    name: &'static str,
    on_drop: OnDrop,
    /// `None` only while dropping.
    jobs: Option<Sender<Job>>,
    results: Receiver<Done>,
    threads: Vec<JoinHandle<()>>,
    /// Disconnected once all threads have ended.
    ended: Receiver<Infallible>,
}

impl<Job: Send + 'static, Done: Send + 'static> BackgroundJobs<Job, Done> {
    /// Starts one thread. At most `capacity` jobs are queued, and as many results.
    pub(super) fn start(
        name: &'static str,
        capacity: usize,
        on_drop: OnDrop,
        run: impl FnMut(Job) -> Done + Send + 'static,
    ) -> io::Result<Self> {
        Self::spawn(name, capacity, on_drop, vec![run])
    }

    /// Starts this many threads, each of which takes the next job: results arrive in the order in which jobs end.
    pub(super) fn start_several(
        name: &'static str,
        threads: usize,
        capacity: usize,
        run: impl FnMut(Job) -> Done + Clone + Send + 'static,
    ) -> io::Result<Self> {
        Self::spawn(name, capacity, OnDrop::Discard, vec![run; threads])
    }

    fn spawn<Run: FnMut(Job) -> Done + Send + 'static>(
        name: &'static str,
        capacity: usize,
        on_drop: OnDrop,
        runs: Vec<Run>,
    ) -> io::Result<Self> {
        let (jobs, queued) = bounded::<Job>(capacity);
        let (done, results) = bounded(capacity);
        let (alive, ended) = bounded(0);
        let spawn_one = |mut run: Run| {
            let (queued, done, alive) = (queued.clone(), done.clone(), alive.clone());
            let work = move || {
                let _alive: Sender<Infallible> = alive;
                for job in queued {
                    // Jobs are completed even if nobody takes their results any more.
                    if done.send(run(job)).is_err() && on_drop == OnDrop::Discard {
                        break;
                    }
                }
            };
            std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work)
        };
        let threads = runs.into_iter().map(spawn_one).collect::<io::Result<_>>()?;
        Ok(Self { name, on_drop, jobs: Some(jobs), results, threads, ended })
    }

    /// Queues a job without waiting. Returns `false` if the queue is full.
    pub(super) fn push(&self, job: Job) -> bool {
        match self.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => true,
            Some(Err(TrySendError::Full(_))) => false,
            Some(Err(TrySendError::Disconnected(_))) | None => {
                tracing::warn!("the thread \"{}\" has ended", self.name);
                false
            }
        }
    }

    /// Queues one of the last jobs, waiting for room. No results can be taken afterwards.
    pub(super) fn push_last(&mut self, job: Job) {
        self.results = never();
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_err()) {
            tracing::warn!("the thread \"{}\" has ended; its last job was not finished", self.name);
        }
    }

    /// The next result, if there is one. Never waits.
    pub(super) fn try_next(&self) -> Option<Done> {
        self.results.try_recv().ok()
    }

    /// The next result, waiting until `deadline`.
    pub(super) fn next_until(&self, deadline: Instant) -> Option<Done> {
        self.results.recv_deadline(deadline).ok()
    }
}

impl<Job, Done> Drop for BackgroundJobs<Job, Done> {
    fn drop(&mut self) {
        self.jobs = None;
        self.results = never();
        if self.on_drop == OnDrop::Discard && self.ended.recv_timeout(MAX_DISCARDED) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("a job of the thread \"{}\" did not stop in time and was abandoned", self.name);
            return;
        }
        let has_panicked = self.threads.drain(..).filter_map(|thread| thread.join().err()).count() > 0;
        if has_panicked {
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
    fn jobs_run_in_order_and_the_queue_is_bounded() {
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
    fn threads_are_independent_and_uncancellable_jobs_are_abandoned() {
        let (go, gate) = bounded::<()>(0);
        let run = move |job: u32| {
            if job == 1 {
                let _ = gate.recv();
            }
            job
        };
        let jobs = BackgroundJobs::start_several("test", 2, 4, run).expect("threads can be started");
        assert!(jobs.push(1) && jobs.push(2) && jobs.push(3));
        let done: Vec<u32> = (0..2).filter_map(|_| jobs.next_until(in_a_while())).collect();
        assert_eq!(done, [2, 3], "the first still waits");
        let began = Instant::now();
        drop(jobs);
        assert!(began.elapsed() < MAX_DISCARDED * 5, "nobody waits for ever");
        drop(go);
    }

    #[test]
    fn dropping_finishes_or_discards_queued_jobs() {
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
    fn untaken_results_do_not_block_the_thread() {
        let mut jobs = BackgroundJobs::start("test", 1, OnDrop::Finish, |job: u32| job).expect("a thread");
        (0..9).for_each(|job| jobs.push_last(job));
        assert_eq!(jobs.try_next(), None);
    }
}
