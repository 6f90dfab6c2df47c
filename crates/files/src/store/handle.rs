//! The room's handle to the store, which passes records to the writer thread. A tick never waits for that thread, as
//! long as the driver of the clock checks [`Store::has_room`] first.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, TrySendError, bounded};

use super::error::StoreError;
use super::opening;
use super::quarantine::QuarantinedDatabase;
use super::record::{RunStart, Snapshot, TickRecord};
use super::retention::HistoryLimits;
use super::thread::{Command, ComputeEntry, Shared, WriterThread};
use super::writer::{Entry, NUMBERS_AHEAD, Writer};
use crate::base::{Problem, Seq};
use crate::log::now_ms;

/// The capacity of the queue of commands.
const COMMANDS_WAITING: usize = 4096;
/// The part of the capacity that is reserved for the start and end of a run and for flushes.
const COMMANDS_RESERVED: usize = 8;
/// The number of copies of the world that may wait to be formatted or hashed.
const MAX_COMPUTED: usize = 8;
/// The memory limit of queued records in bytes, above which the clock has to wait; one more batch of any size is
/// accepted.
const BYTES_WAITING: usize = 128 << 20;
/// How long starting, ending, flushing and a tick without room wait for a slow writer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of ticks that a driver which ignores [`Store::has_room`] may run ahead before it is blocked.
const OVERFLOW_TICKS: usize = 1024;
/// How long closing waits for a busy writer, and then again after telling it to stop.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// The same while writing is known to fail, so that closing ends soon.
const PATIENCE_IN_TROUBLE: Duration = Duration::from_secs(1);
/// The maximum number of records in a tick; the clock waits before a record could get a number that is not reserved.
const NUMBERS_PER_TICK: u64 = NUMBERS_AHEAD / 4;
/// The interval at which a flush checks whether the writer has failed.
const FLUSH_LOOK: Duration = Duration::from_millis(20);
/// The interval at which it is checked whether records may be shown.
const SHOW_LOOK: Duration = Duration::from_millis(1);

/// The open log of a workspace. Dropping it writes pending data and closes the database.
#[derive(Resource)]
pub struct Store {
    /// `None` only while dropping.
    commands: Option<Sender<Command>>,
    shared: Arc<Shared>,
    /// Ticks for which there was no room, oldest first; these are sent before anything else.
    overflow: VecDeque<TickRecord>,
    /// Dropped to tell a writer that cannot write to stop retrying.
    keep_trying: Option<Sender<()>>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    last_seq: Seq,
    /// The number of the newest record that was sent.
    sent_seq: u64,
    /// The number of ticks with events or inputs that were sent.
    eventful_sent: u64,
    aside: Option<QuarantinedDatabase>,
    dir: PathBuf,
}

impl Store {
    /// Opens the log in this `.workshop` folder for writing; creates the folder and the log if necessary. Also returns
    /// a problem for everything that was set aside or replaced.
    pub fn open(dir: &Path) -> Result<(Self, Vec<Problem>), StoreError> {
        Self::open_after_quarantine(dir, None)
    }

    /// Like [`Self::open`], after a damaged database was set aside: record numbers continue above those of the old one.
    pub fn open_after_quarantine(
        dir: &Path,
        aside: Option<&QuarantinedDatabase>,
    ) -> Result<(Self, Vec<Problem>), StoreError> {
        let mut opened = opening::open(dir, aside)?;
        let problems = std::mem::take(&mut opened.problems);
        let (last_seq, aside) = (opened.last_seq, opened.aside.take());
        let (commands, commands_in) = bounded(COMMANDS_WAITING);
        let (keep_trying, keep_trying_in) = bounded(0);
        let (ended_out, ended) = bounded(0);
        let shared = Arc::new(Shared::default());
        let worker = WriterThread::new(Writer::new(opened), commands_in, keep_trying_in, Arc::clone(&shared));
        let thread = thread::Builder::new()
            .name("workshop log".to_owned())
            .spawn(move || {
                // Dropped last, after the database is closed.
                let _ended = ended_out;
                worker.run();
            })
            .map_err(StoreError::file(dir))?;
        let store = Self {
            commands: Some(commands),
            shared,
            overflow: VecDeque::new(),
            keep_trying: Some(keep_trying),
            ended,
            thread: Some(thread),
            last_seq,
            sent_seq: last_seq.0,
            eventful_sent: 0,
            aside,
            dir: dir.to_owned(),
        };
        Ok((store, problems))
    }

    /// Returns the `.workshop` folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the damaged database that was set aside on opening, if any.
    pub fn quarantined(&self) -> Option<&QuarantinedDatabase> {
        self.aside.as_ref()
    }

    /// Returns the highest number that any record had on opening, or may have been shown with; 0 if there was none. The
    /// first event of a new run gets a higher number.
    pub fn last_seq_at_open(&self) -> Seq {
        self.last_seq
    }

    /// Begins a run. An earlier run that was not ended counts as interrupted.
    pub fn start_run(&mut self, start: RunStart) -> Result<(), StoreError> {
        self.sent_seq = self.sent_seq.max(start.first_seq.0 - 1);
        self.send_waiting(Command::Write(Entry::RunStart { start, time_ms: now_ms() }))
    }

    /// Ends the run, with a reason.
    pub fn end_run(&mut self, reason: &str) -> Result<(), StoreError> {
        self.send_waiting(Command::Write(Entry::RunEnd { reason: reason.to_owned(), time_ms: now_ms() }))
    }

    /// Whether the records of the next tick can be accepted. The driver of the clock checks this before each tick and
    /// waits if not, so that no record is discarded.
    pub fn has_room(&self) -> bool {
        let Some(commands) = &self.commands else { return false };
        let reserved = self.shared.reserved.load(Ordering::Acquire);
        self.overflow.is_empty()
            && self.channel_has_room(commands)
            && reserved >= self.sent_seq + NUMBERS_PER_TICK
            && !self.shared.is_displaced.load(Ordering::Acquire)
    }

    /// Whether a record with this number may be shown, because no other record can get that number, even if this
    /// process is killed.
    pub fn may_show(&self, seq: Seq) -> bool {
        self.shared.reserved.load(Ordering::Acquire) >= seq.0
    }

    /// Waits until the record may be shown, at most `timeout`.
    pub fn wait_to_show(&self, seq: Seq, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while !self.may_show(seq) && self.shared.write_error().is_none() && Instant::now() < deadline {
            thread::sleep(SHOW_LOOK);
        }
        self.may_show(seq)
    }

    /// Whether every sent tick with events or inputs is in the database, where it survives this process.
    pub fn has_written_all(&self) -> bool {
        self.overflow.is_empty() && self.shared.eventful_written.load(Ordering::Acquire) >= self.eventful_sent
    }

    /// Returns the problem that prevents recording until a person acts, while the room is paused; `None` if recording
    /// works.
    pub fn lost(&self) -> Option<Problem> {
        let displaced = self.shared.is_displaced.load(Ordering::Acquire);
        let damaged = self.shared.is_damaged.load(Ordering::Acquire);
        let remedy = match (displaced, damaged) {
            (false, false) => return None,
            (true, _) => {
                "close the room; if the folder was moved, open it at its new location: its history moved with it"
            }
            (false, true) => "close the room and open it again: the readable part of the history is used",
        };
        let why = self.shared.write_error()?;
        Some(Problem::error(super::error::PLACE, why, remedy))
    }

    /// Returns why nothing can be recorded at the moment, even if that may pass by itself; `None` if recording works.
    pub fn write_error(&self) -> Option<Problem> {
        self.lost().or_else(|| {
            let remedy = "free up disk space and make .workshop/ writable; the room waits until then";
            self.shared.write_error().map(|why| Problem::error(super::error::PLACE, why, remedy))
        })
    }

    /// Sets how much history is kept. `false` if the queue is full.
    pub fn set_limits(&mut self, limits: HistoryLimits) -> bool {
        self.commands.as_ref().is_some_and(|commands| commands.try_send(Command::Limits(limits)).is_ok())
    }

    /// Writes all pending records and closes the database. The error says what could not be written. Takes no longer
    /// than a few seconds if nothing can be written.
    pub fn close(mut self) -> Result<(), StoreError> {
        let waiting = self.stop_writer();
        let given_up = self.shared.given_up.lock().unwrap_or_else(PoisonError::into_inner).take();
        match given_up {
            None if waiting == 0 => Ok(()),
            given_up => {
                let why = given_up.as_ref().map(|given_up| given_up.why.clone());
                Err(StoreError::Lost {
                    events: given_up.as_ref().map_or(0, |given_up| given_up.events) + waiting,
                    tick: given_up.and_then(|given_up| given_up.written_tick),
                    why: why.unwrap_or_else(|| "the disk is too slow".to_owned()),
                })
            }
        }
    }

    /// Sends a tick, in order. Returns it if there is no room.
    pub fn send_tick(&mut self, record: TickRecord) -> Result<(), TickRecord> {
        self.retry_overflow();
        if self.overflow.is_empty() { self.try_send(record) } else { Err(record) }
    }

    /// Sends a snapshot of the room after a tick that was sent. The writer's thread computes it. Returns `false` if the
    /// queue is full.
    pub fn save_snapshot(
        &mut self,
        compute: impl FnOnce() -> Result<Snapshot, serde_json::Error> + Send + 'static,
    ) -> bool {
        self.send_computed(Box::new(|| match compute() {
            Ok(snapshot) => Some(Entry::Snapshot(Box::new(snapshot))),
            Err(error) => {
                tracing::error!("the room could not be saved: {error}");
                None
            }
        }))
    }

    /// Records the hash of the world after a tick that was sent, for comparison by replays. The writer's thread computes
    /// it. `false` if the queue is full; without the hash, a replay compares one tick less.
    pub fn note_hash(&mut self, tick: u64, compute: impl FnOnce() -> u64 + Send + 'static) -> bool {
        self.send_computed(Box::new(move || Some(Entry::Hash { tick, hash: compute() })))
    }

    /// Whether the thread keeps up with the entries that it computes. Each of them holds a copy of the world.
    pub fn keeps_up(&self) -> bool {
        self.shared.to_compute.load(Ordering::Acquire) < MAX_COMPUTED
    }

    fn send_computed(&mut self, compute: ComputeEntry) -> bool {
        self.retry_overflow();
        match &self.commands {
            Some(commands) if self.overflow.is_empty() && self.channel_has_room(commands) => {
                self.shared.to_compute.fetch_add(1, Ordering::AcqRel);
                let is_sent = commands.try_send(Command::Compute(compute)).is_ok();
                if !is_sent {
                    self.shared.to_compute.fetch_sub(1, Ordering::AcqRel);
                }
                is_sent
            }
            _ => false,
        }
    }

    /// Waits until everything that was sent is in the database, where it survives this process. Fails while the
    /// database cannot be written; even then, the records are kept and retried. Fails for good if the open run was
    /// refused.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        let (done, written) = bounded(1);
        self.send_waiting(Command::Flush(done))?;
        loop {
            match written.recv_timeout(FLUSH_LOOK) {
                // Without a run, nothing that follows can be written.
                Ok(()) => return self.shared.refused_start().map_or(Ok(()), |why| Err(StoreError::RunRefused { why })),
                Err(RecvTimeoutError::Disconnected) => return Err(StoreError::Stopped),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(why) = self.shared.write_error() {
                        return Err(StoreError::NotWritten { why });
                    }
                }
            }
        }
    }

    /// Removes and returns the problems of writing since the last call.
    pub fn take_problems(&self) -> Vec<Problem> {
        std::mem::take(&mut *self.shared.problems.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a tick for the system that records, which cannot take it back. If there is no room, the tick waits here,
    /// and a driver that ignores [`Self::has_room`] is finally blocked.
    pub(super) fn keep_tick(&mut self, record: TickRecord) {
        if let Some(last) = record.events.last() {
            self.sent_seq = last.seq.0;
        }
        self.eventful_sent += u64::from(!record.is_quiet());
        let Err(record) = self.send_tick(record) else { return };
        if self.overflow.len() >= OVERFLOW_TICKS {
            // An error means that the writer is still behind; its own problem says why, and the record is kept.
            let _still_behind = self.empty_overflow(Instant::now() + PATIENCE);
        }
        self.overflow.push_back(record);
        self.retry_overflow();
    }

    fn channel_has_room(&self, commands: &Sender<Command>) -> bool {
        commands.len() < COMMANDS_WAITING - COMMANDS_RESERVED
            && self.shared.bytes_waiting.load(Ordering::Acquire) < BYTES_WAITING
    }

    fn try_send(&self, record: TickRecord) -> Result<(), TickRecord> {
        let Some(commands) = self.commands.as_ref().filter(|commands| self.channel_has_room(commands)) else {
            return Err(record);
        };
        let bytes = record.bytes();
        self.shared.bytes_waiting.fetch_add(bytes, Ordering::AcqRel);
        commands.try_send(Command::Write(Entry::Tick(record))).map_err(|refused| {
            self.shared.bytes_waiting.fetch_sub(bytes, Ordering::AcqRel);
            let (TrySendError::Full(command) | TrySendError::Disconnected(command)) = refused;
            match command {
                Command::Write(Entry::Tick(record)) => record,
                _ => unreachable!("a channel gives back what was sent"),
            }
        })
    }

    fn retry_overflow(&mut self) {
        while let Some(record) = self.overflow.pop_front() {
            if let Err(record) = self.try_send(record) {
                self.overflow.push_front(record);
                return;
            }
        }
    }

    fn empty_overflow(&mut self, deadline: Instant) -> Result<(), StoreError> {
        loop {
            self.retry_overflow();
            if self.overflow.is_empty() {
                return Ok(());
            }
            // The writer never sends anything here, so this waits until the deadline or until the writer ends.
            match self.ended.recv_timeout(FLUSH_LOOK) {
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.not_written()),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Err(StoreError::Stopped),
            }
        }
    }

    fn send_waiting(&mut self, command: Command) -> Result<(), StoreError> {
        let deadline = Instant::now() + self.patience();
        self.empty_overflow(deadline)?;
        let commands = self.commands.as_ref().ok_or(StoreError::Stopped)?;
        commands.send_deadline(command, deadline).map_err(|refused| match refused {
            SendTimeoutError::Timeout(_) => self.not_written(),
            SendTimeoutError::Disconnected(_) => StoreError::Stopped,
        })
    }

    fn not_written(&self) -> StoreError {
        StoreError::NotWritten { why: self.shared.write_error().unwrap_or_else(|| "the disk is too slow".to_owned()) }
    }

    fn patience(&self) -> Duration {
        if self.shared.write_error().is_some() { PATIENCE_IN_TROUBLE } else { PATIENCE }
    }

    fn wait_for_end(&self) -> bool {
        let until = Instant::now() + CLOSE_WAIT;
        loop {
            match self.ended.recv_timeout(FLUSH_LOOK) {
                Err(RecvTimeoutError::Timeout) if self.shared.write_error().is_some() && self.keep_trying.is_some() => {
                    return false;
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                ended => return matches!(ended, Err(RecvTimeoutError::Disconnected)),
            }
        }
    }

    /// Stops the writer. Returns the number of events that were never sent to it.
    fn stop_writer(&mut self) -> usize {
        if self.commands.is_none() {
            return 0;
        }
        let _behind = self.empty_overflow(Instant::now() + self.patience());
        let waiting = std::mem::take(&mut self.overflow).iter().map(|record| record.events.len()).sum();
        self.commands = None;
        let has_ended = self.wait_for_end() || {
            self.keep_trying = None;
            self.wait_for_end()
        };
        if !has_ended {
            tracing::error!("the log did not close in time; it keeps writing in the background while the process runs");
            return waiting;
        }
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the thread that writes the log has panicked");
        }
        waiting
    }
}

#[cfg(test)]
impl Store {
    /// Runs this on the writer's thread, between two transactions.
    pub(super) fn run_on_writer(&self, act: impl FnOnce() + Send + 'static) {
        self.commands.as_ref().unwrap().send(Command::Run(Box::new(act))).unwrap();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let waiting = self.stop_writer();
        let given_up = self.shared.given_up.lock().unwrap_or_else(PoisonError::into_inner).take();
        let events = given_up.map_or(0, |given_up| given_up.events) + waiting;
        if events > 0 {
            tracing::error!("{events} events could not be written and are lost");
        }
    }
}
