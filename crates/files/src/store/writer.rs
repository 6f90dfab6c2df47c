//! Turns queued data into transactions: each batch is written completely or not at all, in order, once.

use rusqlite::{CachedStatement, Connection, TransactionBehavior, params};
use serde_json::Value;

use super::attachments;
use super::db::{self, Lock};
use super::error::StoreError;
use super::location::{DatabaseLocation, LocationStatus};
use super::opening::Opened;
use super::record::{RunStart, Snapshot, TickRecord};
use crate::base::Id;
use crate::base::hash::content_hash;
use crate::log::EventRecord;
use crate::schedule::RecordedInput;

/// The number of record numbers that the database reserves in advance. An interrupted run leaves a gap of at most this
/// size in the numbers.
pub(super) const NUMBERS_AHEAD: u64 = 10_000;

/// An item to write.
#[derive(Debug)]
pub(super) enum Entry {
    /// A room was opened at this wall-clock time, in milliseconds since 1970.
    RunStart { start: RunStart, time_ms: u64 },
    /// A tick of the open run.
    Tick(TickRecord),
    /// A snapshot of the open run's room.
    Snapshot(Box<Snapshot>),
    /// The hash of the open run's world after a tick.
    Hash { tick: u64, hash: u64 },
    /// The room was closed, with the reason.
    RunEnd { reason: String, time_ms: u64 },
}

impl Entry {
    /// Whether it is a tick with events or inputs.
    pub(super) fn is_eventful(&self) -> bool {
        matches!(self, Self::Tick(record) if !record.is_quiet())
    }

    /// Returns the number of events in it.
    pub(super) fn events(&self) -> usize {
        match self {
            Self::Tick(record) => record.events.len(),
            _ => 0,
        }
    }
}

/// The position of the log. Only committed transactions change it.
#[derive(Clone, Debug)]
struct Position {
    last_seq: u64,
    /// Numbers up to this one may be given out: no later run begins below.
    reserved: u64,
    /// The number of texts that were stored beside the log.
    enclosures: u64,
    run: Option<OpenRun>,
}

#[derive(Clone, Debug)]
struct OpenRun {
    number: i64,
    id: Id,
    last_tick: u64,
    /// The last tick in the database.
    written_tick: u64,
    next_input: i64,
}

/// The only connection that writes.
pub(super) struct Writer {
    connection: Connection,
    at: Position,
    place: DatabaseLocation,
    /// The lock, held until the connection is closed: fields are dropped in this order.
    lock: Lock,
}

impl Writer {
    pub(super) fn new(opened: Opened) -> Self {
        let Opened { connection, lock, place, last_seq, .. } = opened;
        let at = Position { last_seq: last_seq.0, reserved: last_seq.0, enclosures: 0, run: None };
        Self { connection, at, place, lock }
    }

    /// Checks that written data can be found again. A history that was deleted while the room is open is written again:
    /// the open file still has all of it. Anything that cannot be repaired remains an error.
    pub(super) fn check_place(&mut self) -> Result<bool, StoreError> {
        let standing = self.place.check();
        if !matches!(standing, LocationStatus::LockGone | LocationStatus::HistoryGone) {
            return self.place.problem(standing).map_or(Ok(false), Err);
        }
        let dir = self.place.dir().to_owned();
        if self.place.has_other_lock() && !self.lock.holds_workspace() {
            return self.place.problem(LocationStatus::Replaced).map_or(Ok(false), Err);
        }
        // While the workspace is locked, a process that left another lock file there was refused, and has released it
        // or soon will.
        if !self.place.has_lock() {
            db::lock_again(&dir, &mut self.lock)?;
        }
        if standing == LocationStatus::HistoryGone {
            self.connection = db::copy_to_new(&self.connection, &dir)?;
        }
        self.place = DatabaseLocation::of(&dir)?;
        Ok(standing == LocationStatus::HistoryGone)
    }

    /// Returns the highest record number that may be given out.
    pub(super) fn reserved(&self) -> u64 {
        self.at.reserved
    }

    /// Returns the last tick of the open run that is in the database.
    pub(super) fn written_tick(&self) -> Option<u64> {
        self.at.run.as_ref().map(|run| run.written_tick)
    }

    /// Returns the connection, for deleting old data.
    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Writes all of these entries or none. If the error is a [`StoreError::is_refusal`], it will occur every time.
    pub(super) fn write(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut at = self.at.clone();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(StoreError::while_doing("begin to write"))?;
        for entry in entries {
            write_entry(&transaction, &mut at, entry)?;
        }
        write_progress(&transaction, &mut at)?;
        reserve_numbers(&transaction, &mut at)?;
        transaction.commit().map_err(StoreError::while_doing("write the log"))?;
        self.at = at;
        Ok(())
    }

    /// Closes the open run, because nothing may be added to it if the next one could not begin.
    pub(super) fn close_run(&mut self) {
        self.at.run = None;
    }
}

fn write_entry(connection: &Connection, at: &mut Position, entry: &Entry) -> Result<(), StoreError> {
    match entry {
        Entry::RunStart { start, time_ms } => write_start(connection, at, start, *time_ms),
        Entry::Tick(record) => write_tick(connection, at, record),
        Entry::Snapshot(snapshot) => write_snapshot(connection, at, snapshot),
        Entry::Hash { tick, hash } => write_hash(connection, at, *tick, *hash),
        Entry::RunEnd { reason, time_ms } => write_end(connection, at, reason, *time_ms),
    }
}

fn write_start(connection: &Connection, at: &mut Position, start: &RunStart, time_ms: u64) -> Result<(), StoreError> {
    write_progress(connection, at)?;
    if start.first_seq.0 <= at.last_seq {
        let problem = format!("run {} would begin at {}, but {} is there", start.id, start.first_seq, at.last_seq);
        return Err(StoreError::OutOfOrder(problem));
    }
    let tick = start.first_tick.cast_signed();
    let doing = "write the start of a run";
    prepare(
        connection,
        "INSERT INTO runs (id, scene, seed, started_ms, first_seq, first_tick, last_tick) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    )?
    .execute(params![
        &*start.id,
        start.scene,
        start.seed.cast_signed(),
        time_ms.cast_signed(),
        start.first_seq.0.cast_signed(),
        tick
    ])
    .map_err(StoreError::while_doing(doing))?;
    let number = connection.last_insert_rowid();
    let world = json(&start.start)?;
    let hash = content_hash(world.as_bytes()).cast_signed();
    prepare(connection, "INSERT INTO run_starts (run, start, hash) VALUES (?1, ?2, ?3)")?
        .execute(params![number, world, hash])
        .map_err(StoreError::while_doing(doing))?;
    // Lower numbers were given out before.
    at.last_seq = start.first_seq.0 - 1;
    at.run = Some(OpenRun {
        number,
        id: start.id.clone(),
        last_tick: start.first_tick,
        written_tick: start.first_tick,
        next_input: 0,
    });
    Ok(())
}

fn write_tick(connection: &Connection, at: &mut Position, record: &TickRecord) -> Result<(), StoreError> {
    let Position { last_seq, enclosures, run, .. } = at;
    let run = open_run(run)?;
    if record.tick < run.last_tick {
        let problem = format!("tick {} of run {} after tick {}", record.tick, run.id, run.last_tick);
        return Err(StoreError::OutOfOrder(problem));
    }
    run.last_tick = record.tick;
    write_events(connection, last_seq, run, &record.events)?;
    for event in &record.events {
        if let Some(text) = &event.draft.enclosure {
            attachments::write(connection, event.seq, text, *enclosures)?;
            *enclosures += 1;
        }
    }
    write_inputs(connection, run, &record.inputs)
}

fn write_events(
    connection: &Connection,
    last_seq: &mut u64,
    run: &OpenRun,
    events: &[EventRecord],
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let mut insert = prepare(
        connection,
        "INSERT INTO events (seq, run, tick, time_ms, type, agent, activation, session, cause, data) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for event in events {
        let seq = event.seq.0;
        if seq <= *last_seq {
            return Err(StoreError::OutOfOrder(format!("event {seq} of run {} after event {last_seq}", event.run)));
        }
        if event.run != run.id {
            return Err(StoreError::OutOfOrder(format!("event {seq} of run {} in run {}", event.run, run.id)));
        }
        *last_seq = seq;
        insert
            .execute(params![
                seq.cast_signed(),
                run.number,
                event.tick.cast_signed(),
                event.time_ms.cast_signed(),
                event.draft.kind.as_str(),
                event.draft.agent.as_deref(),
                event.draft.activation.as_deref(),
                event.draft.session.as_deref(),
                event.draft.cause.map(|cause| cause.0.cast_signed()),
                event.draft.data().as_json(),
            ])
            .map_err(StoreError::while_doing("write an event"))?;
    }
    Ok(())
}

fn write_inputs(connection: &Connection, run: &mut OpenRun, inputs: &[RecordedInput]) -> Result<(), StoreError> {
    if inputs.is_empty() {
        return Ok(());
    }
    let mut insert =
        prepare(connection, "INSERT INTO inputs (run, tick, number, kind, data) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for input in inputs {
        if input.tick > run.last_tick {
            let problem = format!("an input of tick {} in tick {}", input.tick, run.last_tick);
            return Err(StoreError::OutOfOrder(problem));
        }
        insert
            .execute(params![run.number, input.tick.cast_signed(), run.next_input, input.kind, input.data])
            .map_err(StoreError::while_doing("write an input"))?;
        run.next_input += 1;
    }
    Ok(())
}

fn write_snapshot(connection: &Connection, at: &mut Position, snapshot: &Snapshot) -> Result<(), StoreError> {
    let run = open_run(&mut at.run)?;
    // Inputs after the snapshot must still be to come, because reopening would skip them otherwise.
    if snapshot.tick > run.last_tick {
        let problem = format!("a snapshot of tick {} when only {} was recorded", snapshot.tick, run.last_tick);
        return Err(StoreError::OutOfOrder(problem));
    }
    let doing = "write a snapshot";
    let (sections, files) = (json(&snapshot.sections)?, json(&snapshot.files)?);
    prepare(
        connection,
        "INSERT OR REPLACE INTO snapshots (scene, run, tick, next_seq, sections, files, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        snapshot.scene,
        run.number,
        snapshot.tick.cast_signed(),
        snapshot.next_seq.0.cast_signed(),
        sections,
        files,
        snapshot_hash(&sections, &files, snapshot.tick, snapshot.next_seq.0),
    ])
    .map_err(StoreError::while_doing(doing))?;
    Ok(())
}

fn write_hash(connection: &Connection, at: &mut Position, tick: u64, hash: u64) -> Result<(), StoreError> {
    let run = open_run(&mut at.run)?;
    prepare(connection, "INSERT OR REPLACE INTO hashes (run, tick, hash) VALUES (?1, ?2, ?3)")?
        .execute(params![run.number, tick.cast_signed(), hash.cast_signed()])
        .map_err(StoreError::while_doing("write the hash of a world"))?;
    Ok(())
}

fn write_end(connection: &Connection, at: &mut Position, reason: &str, time_ms: u64) -> Result<(), StoreError> {
    write_progress(connection, at)?;
    let run = open_run(&mut at.run)?;
    prepare(connection, "UPDATE runs SET ended_ms = ?2, end_reason = ?3 WHERE number = ?1")?
        .execute(params![run.number, time_ms.cast_signed(), reason])
        .map_err(StoreError::while_doing("write the end of a run"))?;
    at.run = None;
    // Every reserved number is written, so the next run continues without a gap.
    at.reserved = at.last_seq;
    write_reserved(connection, at)
}

/// Reserves record numbers, once per batch.
fn reserve_numbers(connection: &Connection, at: &mut Position) -> Result<(), StoreError> {
    if at.run.is_none() || at.reserved >= at.last_seq + NUMBERS_AHEAD / 2 {
        return Ok(());
    }
    at.reserved = at.last_seq + NUMBERS_AHEAD;
    write_reserved(connection, at)
}

fn write_reserved(connection: &Connection, at: &Position) -> Result<(), StoreError> {
    prepare(connection, "INSERT OR REPLACE INTO numbers (only, reserved) VALUES (1, ?1)")?
        .execute([at.reserved.cast_signed()])
        .map_err(StoreError::while_doing("write how far numbers are given out"))?;
    Ok(())
}

/// Returns the hash of the content of a snapshot.
pub(super) fn snapshot_hash(sections: &str, files: &str, tick: u64, next_seq: u64) -> i64 {
    let texts = content_hash(sections.as_bytes()).rotate_left(1) ^ content_hash(files.as_bytes());
    (texts ^ content_hash(format!("{tick} {next_seq}").as_bytes()).rotate_left(2)).cast_signed()
}

/// Writes the position of the clock, once per batch rather than per tick.
fn write_progress(connection: &Connection, at: &mut Position) -> Result<(), StoreError> {
    let Some(run) = at.run.as_mut().filter(|run| run.last_tick != run.written_tick) else { return Ok(()) };
    prepare(connection, "UPDATE runs SET last_tick = ?2 WHERE number = ?1")?
        .execute(params![run.number, run.last_tick.cast_signed()])
        .map_err(StoreError::while_doing("write the last tick"))?;
    run.written_tick = run.last_tick;
    Ok(())
}

fn open_run(run: &mut Option<OpenRun>) -> Result<&mut OpenRun, StoreError> {
    run.as_mut().ok_or_else(|| StoreError::OutOfOrder("no run is open".to_owned()))
}

fn prepare<'a>(connection: &'a Connection, sql: &str) -> Result<CachedStatement<'a>, StoreError> {
    connection.prepare_cached(sql).map_err(StoreError::while_doing("write the log"))
}

fn json(value: &Value) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::json("put a room into words"))
}
