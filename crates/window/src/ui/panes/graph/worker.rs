//! A thread that lays graphs out beside the frames: the newest request is worked at, older ones are forgotten.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use egui::{Context, Pos2};

use super::layout::{LayoutRequest, lay_out, lay_out_as_tree};

/// Layouts of long chains go deep.
const STACK_BYTES: usize = 64 << 20;

/// A layout that is there.
#[derive(Clone, Debug)]
pub struct LaidOut {
    /// Of what.
    pub request: Arc<LayoutRequest>,
    /// The upper left corner of each.
    pub corners: Arc<Vec<Pos2>>,
}

struct Job {
    request: Arc<LayoutRequest>,
    context: Context,
}

struct Line {
    jobs: Sender<Job>,
    waiting: Receiver<Job>,
}

/// Asks the thread, which begins with the first request and ends when nobody can ask any more.
#[derive(Clone, Default)]
pub struct Worker {
    line: Option<Arc<Line>>,
    newest: Arc<Mutex<Option<LaidOut>>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("has_begun", &self.line.is_some()).finish()
    }
}

impl Worker {
    /// Asks for a layout; the context is drawn anew when it is there.
    pub fn ask(&mut self, request: Arc<LayoutRequest>, context: &Context) {
        if self.line.is_none() {
            self.line = begin(&self.newest);
        }
        let mut job = Job { request, context: context.clone() };
        let Some(line) = &self.line else {
            // Without a thread there is the layout that is quick.
            let corners = Arc::new(lay_out_as_tree(&job.request));
            keep(&self.newest, LaidOut { request: job.request, corners });
            return;
        };
        while let Err(TrySendError::Full(refused)) = line.jobs.try_send(job) {
            // What nobody has begun with is of no use any more.
            drop(line.waiting.try_recv());
            job = refused;
        }
    }

    /// The newest layout that is there. It stays there, so that a second look at the same pane sees it too.
    pub fn newest(&self) -> Option<LaidOut> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn keep(newest: &Mutex<Option<LaidOut>>, laid_out: LaidOut) {
    *newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(laid_out);
}

fn begin(newest: &Arc<Mutex<Option<LaidOut>>>) -> Option<Arc<Line>> {
    let (jobs, waiting) = bounded::<Job>(1);
    let (work, newest) = (waiting.clone(), newest.clone());
    let labour = move || {
        while let Ok(Job { request, context }) = work.recv() {
            let corners = Arc::new(lay_out(&request));
            keep(&newest, LaidOut { request, corners });
            context.request_repaint();
        }
    };
    let thread = std::thread::Builder::new().name("graph layout".to_owned()).stack_size(STACK_BYTES).spawn(labour);
    match thread {
        Ok(_) => Some(Arc::new(Line { jobs, waiting })),
        Err(error) => {
            tracing::warn!("the graph is laid out as a tree, because no thread could be had: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::vec2;

    fn request(count: usize) -> Arc<LayoutRequest> {
        let links = (1..count).map(|number| (0, number)).collect();
        let (agents, sizes) = ((0..count).collect(), vec![vec2(100.0, 40.0); count]);
        Arc::new(LayoutRequest { beginning: 1, agents, sizes, links })
    }

    fn wait_for(worker: &Worker, request: &Arc<LayoutRequest>) -> LaidOut {
        loop {
            match worker.newest() {
                Some(laid_out) if Arc::ptr_eq(&laid_out.request, request) => return laid_out,
                _ => std::thread::yield_now(),
            }
        }
    }

    #[test]
    fn the_newest_request_is_answered_and_old_ones_may_be_forgotten() {
        let (mut worker, context) = (Worker::default(), Context::default());
        let newest = request(3);
        for count in 40..60 {
            worker.ask(request(count), &context);
        }
        worker.ask(newest.clone(), &context);
        assert_eq!(wait_for(&worker, &newest).corners.len(), 3);
    }

    #[test]
    fn a_second_look_at_the_same_pane_takes_nothing_from_the_first() {
        let (mut worker, context) = (Worker::default(), Context::default());
        let request = request(4);
        worker.ask(request.clone(), &context);
        let second = worker.clone();
        wait_for(&second, &request);
        assert_eq!(worker.newest().map(|laid_out| laid_out.corners.len()), Some(4));
    }

    #[test]
    fn the_thread_ends_with_the_last_who_could_ask() {
        let (mut worker, context) = (Worker::default(), Context::default());
        let request = request(2);
        worker.ask(request.clone(), &context);
        wait_for(&worker, &request);
        let waiting = worker.line.as_ref().map(|line| line.waiting.clone()).expect("a thread began");
        let second = worker.clone();
        drop(worker);
        assert!(second.line.as_ref().is_some_and(|line| line.jobs.try_send(Job { request, context }).is_ok()));
        drop(second);
        // What was asked is still answered; then nobody can ask any more.
        while !waiting.is_empty() {
            std::thread::yield_now();
        }
        assert!(waiting.recv().is_err());
    }
}
