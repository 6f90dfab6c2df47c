//! The thread that writes: gathers what waits into one transaction, and tries again where that fails.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::error::{PLACE, StoreError};
use super::record::TickRecord;
use super::writer::{Entry, Writer};
use crate::base::Problem;

/// A transaction takes no more records once they take this much memory.
const BATCH_BYTES: usize = 32 << 20;
/// Ticks in which nothing happened are not worth a transaction each: they wait for something that happens,
/// but no longer than this. A kill loses at most so much of a time in which nothing happened.
const QUIET_WAIT: Duration = Duration::from_secs(1);
/// The first wait after a failure; it doubles up to [`RETRY_WAIT_MAX`].
const RETRY_WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(5);
/// Problems kept until someone takes them.
const PROBLEMS_KEPT: usize = 100;

/// What the store asks of the thread.
pub(super) enum Command {
    /// Write this.
    Write(Entry),
    /// Say when all before this is written.
    Flush(Sender<()>),
    /// Do this on the thread, to hold it up.
    #[cfg(test)]
    Meddle(Box<dyn FnOnce() + Send>),
}

/// What both sides look at.
#[derive(Default)]
pub(super) struct Shared {
    /// Memory that the records between the two sides take.
    pub(super) bytes_waiting: AtomicUsize,
    pub(super) problems: Mutex<Vec<Problem>>,
    /// Why the latest attempt failed; `None` if it did not.
    trouble: Mutex<Option<String>>,
}

impl Shared {
    /// Why nothing can be written at the moment, if so.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    fn report(&self, problem: Problem) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < PROBLEMS_KEPT && !problems.contains(&problem) {
            tracing::error!("{problem}");
            problems.push(problem);
        }
    }
}

/// The far side of a [`super::Store`].
pub(super) struct WriterThread {
    writer: Writer,
    commands: Receiver<Command>,
    /// Never brings anything; its end means to give up what cannot be written.
    keep_trying: Receiver<()>,
    shared: Arc<Shared>,
    /// The latest tick in which nothing happened, and when the first such after the last transaction came.
    quiet: Option<(TickRecord, Instant)>,
}

impl WriterThread {
    pub(super) fn new(
        writer: Writer,
        commands: Receiver<Command>,
        keep_trying: Receiver<()>,
        shared: Arc<Shared>,
    ) -> Self {
        Self { writer, commands, keep_trying, shared, quiet: None }
    }

    /// Writes until the store is dropped and nothing waits.
    pub(super) fn run(mut self) {
        while let Some(first) = self.next() {
            self.write_with_what_waits(first);
        }
        self.write(Vec::new());
    }

    /// The next command that is worth a transaction.
    fn next(&mut self) -> Option<Command> {
        loop {
            let received = match &self.quiet {
                Some((_, since)) => self.commands.recv_deadline(*since + QUIET_WAIT),
                None => self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(Command::Write(Entry::Tick(record))) if record.is_quiet() => {
                    let since = self.quiet.take().map_or_else(Instant::now, |(_, since)| since);
                    if since.elapsed() >= QUIET_WAIT {
                        return Some(Command::Write(Entry::Tick(record)));
                    }
                    self.quiet = Some((record, since));
                }
                Ok(command) => return Some(command),
                Err(RecvTimeoutError::Timeout) => self.write(Vec::new()),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn write_with_what_waits(&mut self, first: Command) {
        let (mut entries, mut flushes, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut next = Some(first);
        while let Some(command) = next {
            match command {
                Command::Write(entry) => {
                    if let Entry::Tick(record) = &entry {
                        bytes += record.bytes();
                    }
                    entries.push(entry);
                }
                Command::Flush(done) => flushes.push(done),
                #[cfg(test)]
                Command::Meddle(act) => act(),
            }
            next = if bytes < BATCH_BYTES { self.commands.try_recv().ok() } else { None };
        }
        self.write(entries);
        self.shared.bytes_waiting.fetch_sub(bytes, Ordering::AcqRel);
        for done in flushes {
            // Whoever asked may have stopped waiting.
            let _gone = done.try_send(());
        }
    }

    /// Writes these after the quiet tick, if there is one.
    fn write(&mut self, mut entries: Vec<Entry>) {
        if let Some((record, _)) = self.quiet.take() {
            entries.insert(0, Entry::Tick(record));
        }
        if !entries.is_empty() {
            self.write_until_done(&entries);
        }
    }

    fn write_until_done(&mut self, entries: &[Entry]) {
        let mut wait = RETRY_WAIT;
        loop {
            match self.writer.write(entries) {
                Ok(()) => return self.shared.set_trouble(None),
                Err(error) if error.is_refusal() => return self.refuse(entries, &error),
                Err(error) => self.fail(&error),
            }
            if self.keep_trying.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                tracing::error!("{} entries of the log are lost: closed before they could be written", entries.len());
                return;
            }
            wait = (wait * 2).min(RETRY_WAIT_MAX);
        }
    }

    fn fail(&self, error: &StoreError) {
        let what = format!("the history cannot be written: {error}");
        if self.shared.trouble().is_none() {
            let remedy = "make room on the disk and let .workshop/ be written; nothing is lost meanwhile, \
                          the room waits";
            self.shared.report(Problem::error(PLACE, what.clone(), remedy));
        }
        self.shared.set_trouble(Some(what));
    }

    /// Finds the entry that will never be written, so that it costs no other.
    fn refuse(&mut self, entries: &[Entry], error: &StoreError) {
        let [entry] = entries else {
            let (front, back) = entries.split_at(entries.len() / 2);
            self.write_until_done(front);
            return self.write_until_done(back);
        };
        if matches!(entry, Entry::RunStart { .. }) {
            self.writer.close_run();
        }
        self.shared.report(error.problem());
    }
}
