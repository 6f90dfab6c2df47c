//! The writer thread: collects waiting data into one transaction, and retries if it fails.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::error::{PLACE, StoreError};
use super::record::TickRecord;
use super::retention::{self, HistoryLimits, THIN_EVERY};
use super::snapshot_retention::thin_snapshots;
use super::writer::{Entry, Writer};
use crate::base::Problem;

/// The maximum memory of a transaction's records.
const BATCH_BYTES: usize = 32 << 20;
/// How long ticks without events wait for the next event, because they are not worth a transaction each. A kill loses
/// at most this much of an uneventful time.
const QUIET_WAIT: Duration = Duration::from_secs(1);
/// The delay before the first retry; it doubles up to [`RETRY_WAIT_MAX`].
const RETRY_WAIT: Duration = Duration::from_millis(100);
/// The longest delay between two attempts.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(5);
/// The interval at which the location of the history is checked while there is nothing to write.
const PLACE_LOOK: Duration = Duration::from_secs(1);
/// The maximum number of problems that are kept until they are read.
const PROBLEMS_KEPT: usize = 100;

/// Computes an entry; `None` if it cannot be computed, which it reports itself.
pub(super) type ComputeEntry = Box<dyn FnOnce() -> Option<Entry> + Send>;

/// A command to the writer thread.
pub(super) enum Command {
    /// Write this entry.
    Write(Entry),
    /// Compute an entry on this thread, and write it.
    Compute(ComputeEntry),
    /// Reply when everything before this is written.
    Flush(Sender<()>),
    /// Set how much history is kept.
    Limits(HistoryLimits),
    /// Run this on the thread, to delay it in tests.
    #[cfg(test)]
    Run(Box<dyn FnOnce() + Send>),
}

/// The state that both sides share.
#[derive(Default)]
pub(super) struct Shared {
    /// The memory used by queued records, in bytes.
    pub(super) bytes_waiting: AtomicUsize,
    /// The number of entries that the thread still has to compute.
    pub(super) to_compute: AtomicUsize,
    pub(super) problems: Mutex<Vec<Problem>>,
    /// The error of the latest attempt; `None` if it succeeded.
    trouble: Mutex<Option<String>>,
    /// Record numbers up to this one may be given out: no later run uses them.
    pub(super) reserved: AtomicU64,
    /// The number of ticks with events or inputs that are in the database.
    pub(super) eventful_written: AtomicU64,
    /// Whether the history was moved or deleted.
    pub(super) is_displaced: AtomicBool,
    /// Whether the database is damaged, so that it can never be written again.
    pub(super) is_damaged: AtomicBool,
    /// Why the start of the open run can never be written; `None` if it was.
    refused_start: Mutex<Option<String>>,
    /// The records that were given up on closing.
    pub(super) given_up: Mutex<Option<GivenUp>>,
}

/// Records that could not be written before the store was closed.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GivenUp {
    /// The last tick in the database.
    pub(super) written_tick: Option<u64>,
    pub(super) events: usize,
    pub(super) why: String,
}

impl Shared {
    /// Returns why nothing can be written at the moment; `None` if writing works.
    pub(super) fn write_error(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns why the start of the open run can never be written.
    pub(super) fn refused_start(&self) -> Option<String> {
        self.refused_start.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        let mut now = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.is_none()
            && let Some(over) = &*now
        {
            // If the caller has not read the problem yet, it need not know any more that the room waited.
            self.problems.lock().unwrap_or_else(PoisonError::into_inner).retain(|problem| problem.what != *over);
        }
        *now = trouble;
    }

    fn report(&self, problem: Problem) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < PROBLEMS_KEPT && !problems.contains(&problem) {
            tracing::error!("{problem}");
            problems.push(problem);
        }
    }
}

/// The thread behind a [`super::Store`].
pub(super) struct WriterThread {
    writer: Writer,
    commands: Receiver<Command>,
    /// Never receives anything; a disconnection means to stop retrying.
    keep_trying: Receiver<()>,
    shared: Arc<Shared>,
    /// The latest tick without events, and when the first such tick after the last transaction arrived.
    quiet: Option<(TickRecord, Instant)>,
    /// Whether records were given up. Later ones must not be written either, because the database contains a prefix.
    gave_up: bool,
    limits: HistoryLimits,
    thinned_at: Option<Instant>,
}

impl WriterThread {
    pub(super) fn new(
        writer: Writer,
        commands: Receiver<Command>,
        keep_trying: Receiver<()>,
        shared: Arc<Shared>,
    ) -> Self {
        shared.reserved.store(writer.reserved(), Ordering::Release);
        let limits = HistoryLimits::default();
        Self { writer, commands, keep_trying, shared, quiet: None, gave_up: false, limits, thinned_at: None }
    }

    /// Writes until the store is dropped and the queue is empty.
    pub(super) fn run(mut self) {
        while let Some(first) = self.next() {
            self.write_batch(first);
        }
        self.write(Vec::new());
    }

    /// Returns the next command that is worth a transaction.
    fn next(&mut self) -> Option<Command> {
        loop {
            let received = match &self.quiet {
                Some((_, since)) => self.commands.recv_deadline(*since + QUIET_WAIT),
                None => self.commands.recv_timeout(PLACE_LOOK),
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
                Err(RecvTimeoutError::Timeout) => {
                    self.write(Vec::new());
                    // An error is reported, and checked again before anything is written.
                    let _told = self.ensure_place();
                    self.thin();
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn write_batch(&mut self, first: Command) {
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
                Command::Compute(compute) => {
                    // The records so far must not wait for the computation: other threads wait until they are in the database.
                    self.write_entries(std::mem::take(&mut entries));
                    entries.extend(compute());
                    self.shared.to_compute.fetch_sub(1, Ordering::AcqRel);
                }
                Command::Flush(done) => flushes.push(done),
                Command::Limits(limits) => self.limits = limits,
                #[cfg(test)]
                Command::Run(act) => act(),
            }
            next = if bytes < BATCH_BYTES { self.commands.try_recv().ok() } else { None };
        }
        self.write_entries(entries);
        self.thin();
        self.shared.bytes_waiting.fetch_sub(bytes, Ordering::AcqRel);
        for done in flushes {
            // The caller may have stopped waiting.
            let _gone = done.try_send(());
        }
    }

    /// Writes these entries, and counts the ticks with events or inputs among them.
    fn write_entries(&mut self, entries: Vec<Entry>) {
        let eventful = entries.iter().filter(|entry| entry.is_eventful()).count();
        let has_snapshot = entries.iter().any(|entry| matches!(entry, Entry::Snapshot(_)));
        self.write(entries);
        if has_snapshot {
            self.thin_snapshots();
        }
        self.shared.eventful_written.fetch_add(eventful as u64, Ordering::AcqRel);
    }

    /// Writes these entries after the pending quiet tick, if there is one.
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
            if self.gave_up {
                return self.give_up(entries);
            }
            match self.ensure_place().and_then(|()| self.writer.write(entries)) {
                Ok(()) => {
                    if entries.iter().any(|entry| matches!(entry, Entry::RunStart { .. })) {
                        *self.shared.refused_start.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    }
                    self.shared.reserved.store(self.writer.reserved(), Ordering::Release);
                    self.shared.is_damaged.store(false, Ordering::Release);
                    return self.shared.set_trouble(None);
                }
                Err(error) if error.is_refusal() => return self.refuse(entries, &error),
                Err(error) => self.fail(&error),
            }
            if self.keep_trying.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                // If a folder was moved, its history moved with it, so the last write is found there.
                if self.writer.write(entries).is_err() {
                    self.give_up(entries);
                }
                return;
            }
            wait = (wait * 2).min(RETRY_WAIT_MAX);
        }
    }

    /// Checks that written data will be found again; a deleted history is written again first.
    fn ensure_place(&mut self) -> Result<(), StoreError> {
        match self.writer.check_place() {
            Ok(is_anew) => {
                if is_anew {
                    let what =
                        "the history was deleted while the room was open, and was written again: nothing is missing";
                    let remedy =
                        "nothing to do; to start without a history, close the room before you delete .workshop/";
                    self.shared.report(Problem::warning(PLACE, what, remedy));
                }
                if self.shared.is_displaced.swap(false, Ordering::AcqRel) {
                    self.shared.set_trouble(None);
                }
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::Displaced { .. } | StoreError::InUse { .. }) {
                    self.shared.is_displaced.store(true, Ordering::Release);
                }
                self.fail(&error);
                Err(error)
            }
        }
    }

    /// Deletes data beyond the limits, a little at a time.
    fn thin(&mut self) {
        if self.gave_up || self.thinned_at.is_some_and(|at| at.elapsed() < THIN_EVERY) {
            return;
        }
        match retention::thin(self.writer.connection(), &self.limits) {
            // There is more to delete, which continues with the next batch.
            Ok(true) => {}
            Ok(false) => self.thinned_at = Some(Instant::now()),
            Err(error) => {
                tracing::warn!("old records could not be pruned: {error}");
                self.thinned_at = Some(Instant::now());
            }
        }
    }

    fn thin_snapshots(&mut self) {
        if self.gave_up {
            return;
        }
        if let Err(error) = thin_snapshots(self.writer.connection(), &self.limits) {
            tracing::warn!("old snapshots could not be pruned: {error}");
        }
    }

    fn give_up(&mut self, entries: &[Entry]) {
        self.gave_up = true;
        let why = self.shared.write_error().unwrap_or_else(|| "the database refused them".to_owned());
        let mut given_up = self.shared.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        let events = entries.iter().map(Entry::events).sum::<usize>();
        let written_tick = self.writer.written_tick();
        given_up.get_or_insert(GivenUp { written_tick, events: 0, why }).events += events;
    }

    fn fail(&self, error: &StoreError) {
        if error.is_damage() {
            self.shared.is_damaged.store(true, Ordering::Release);
        }
        let what = format!("the history cannot be written: {error}");
        if self.shared.write_error().is_none() {
            let since = match self.writer.written_tick() {
                Some(tick) => format!("what happened after tick {tick}"),
                None => "what happens".to_owned(),
            };
            let remedy = format!(
                "{}; the room waits, and {since} is only in memory: closing the room now loses it",
                error.remedy()
            );
            self.shared.report(Problem::error(PLACE, what.clone(), remedy));
        }
        self.shared.set_trouble(Some(what));
    }

    /// Finds the entry that can never be written, so that the others are not lost.
    fn refuse(&mut self, entries: &[Entry], error: &StoreError) {
        let [entry] = entries else {
            let (front, back) = entries.split_at(entries.len() / 2);
            self.write_until_done(front);
            return self.write_until_done(back);
        };
        if matches!(entry, Entry::RunStart { .. }) {
            self.writer.close_run();
            let mut refused = self.shared.refused_start.lock().unwrap_or_else(PoisonError::into_inner);
            *refused = Some(error.to_string());
        }
        self.shared.report(error.problem());
    }
}
