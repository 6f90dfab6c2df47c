//! Reads the log while another thread or process writes it: runs, inputs, events, snapshots.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use serde_json::Value;

use super::error::StoreError;
use super::location::path_in;
use super::record::Snapshot;
use super::writer::snapshot_hash;
use super::{attachments, db};
use crate::base::hash::content_hash;
use crate::base::{Id, Seq};
use crate::log::{EventDraft, EventJson, EventKind, EventRecord};
use crate::schedule::RecordedInput;

/// A recorded run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunInfo {
    /// The name of the run.
    pub id: Id,
    /// The name of the scene.
    pub scene: String,
    /// The seed of the room.
    pub seed: u64,
    /// When it began, in milliseconds since 1970.
    pub started_ms: u64,
    /// When and why it ended; `None` if it is still running or was interrupted.
    pub end: Option<RunEnd>,
    /// The number of its first event.
    pub first_seq: Seq,
    /// The tick of the room before the first tick of this run.
    pub first_tick: u64,
    /// The last recorded tick.
    pub last_tick: u64,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct RunEnd {
    /// When it ended, in milliseconds since 1970.
    pub time_ms: u64,
    /// The reason.
    pub reason: String,
}

/// Everything needed to restore a room to the last recorded state of a run: load the snapshot, or the run's start, then
/// replay the inputs up to the run's last tick.
#[derive(Clone, PartialEq, Debug)]
pub struct Reopening {
    /// The run.
    pub run: RunInfo,
    /// The starting point.
    pub from: ReopenFrom,
    /// The inputs after the starting point.
    pub inputs: Vec<RecordedInput>,
    /// The last tick that the inputs can replay: the run's last, or an earlier one if inputs are damaged.
    pub last_tick: u64,
}

/// The point from which a run's inputs are replayed.
#[derive(Clone, PartialEq, Debug)]
pub enum ReopenFrom {
    /// The run's newest snapshot.
    Snapshot(Snapshot),
    /// The run's start, because there is no snapshot.
    Start(Value),
}

/// A read-only connection to the history.
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

pub(super) const RUN_COLUMNS: &str =
    "id, scene, seed, started_ms, first_seq, first_tick, last_tick, ended_ms, end_reason";

impl Reader {
    /// Opens the log in this `.workshop` folder, whether or not another process writes it.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: db::open_read_only(dir)?, path: path_in(dir) })
    }

    /// Returns all runs, newest first, with their ticks limited to the recorded ones.
    pub fn runs(&self) -> Result<Vec<RunInfo>, StoreError> {
        let runs = self.all(&format!("SELECT {RUN_COLUMNS} FROM runs ORDER BY number DESC"), &[], run_info)?;
        runs.into_iter().map(|run| self.bounded(run)).collect()
    }

    /// Returns the ids of the newest runs, newest first.
    pub fn newest_run_ids(&self, at_most: usize) -> Result<Vec<Id>, StoreError> {
        let sql = format!("SELECT id FROM runs ORDER BY number DESC LIMIT {at_most}");
        self.all(&sql, &[], |row| Ok(row.get::<_, String>(0)?.into()))
    }

    /// Opens a database that was set aside, whatever its state.
    pub fn open_quarantined(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: db::read_as_it_is(path)?, path: path.to_owned() })
    }

    /// Returns the run with this name, with its ticks limited to the recorded ones.
    pub fn run(&self, id: &str) -> Result<RunInfo, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE id = :id");
        let run = self.one(&sql, named_params! { ":id": id }, run_info)?;
        self.bounded(run.ok_or_else(|| StoreError::UnknownRun(id.to_owned()))?)
    }

    /// Returns the start of a run.
    pub fn start(&self, run: &str) -> Result<Value, StoreError> {
        let has_hash = self.has_column("run_starts", "hash");
        let hash = if has_hash { "run_starts.hash" } else { "NULL" };
        let thinned = if has_hash { "thinned" } else { "0" };
        let sql =
            format!("SELECT start, {hash}, {thinned} FROM runs LEFT JOIN run_starts ON run = number WHERE id = :run");
        let found = self.one(&sql, named_params! { ":run": run }, |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, i64>(2)?))
        })?;
        let (start, hash, thinned) = found.ok_or_else(|| StoreError::UnknownRun(run.to_owned()))?;
        let Some(start) = start.filter(|_| thinned == 0) else { return Err(StoreError::Thinned(run.to_owned())) };
        self.check(hash, content_hash(start.as_bytes()).cast_signed(), "what a run began with")?;
        parse(&start)
    }

    /// Returns the inputs of a run after this tick, in order; all of them after tick 0.
    pub fn inputs(&self, run: &str, after_tick: u64) -> Result<Vec<RecordedInput>, StoreError> {
        let sql = "SELECT inputs.tick, kind, data FROM inputs JOIN runs ON run = runs.number \
                   WHERE runs.id = :run AND inputs.tick > :after ORDER BY inputs.tick, inputs.number";
        self.all(sql, named_params! { ":run": run, ":after": after_tick.cast_signed() }, |row| {
            Ok(RecordedInput { tick: unsigned(row, 0)?, kind: row.get(1)?, data: row.get(2)? })
        })
    }

    /// Returns the recorded hashes of a run's world, by tick.
    pub fn hashes(&self, run: &str) -> Result<BTreeMap<u64, u64>, StoreError> {
        let sql = "SELECT tick, hash FROM hashes JOIN runs ON run = runs.number WHERE runs.id = :run";
        let read = |row: &Row<'_>| Ok((unsigned(row, 0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        Ok(self.all(sql, named_params! { ":run": run }, read)?.into_iter().collect())
    }

    /// Calls `visit` for every event of a run, or of all runs, in order, without keeping them in memory. Stops at the
    /// first error.
    pub fn for_each_event<E: From<StoreError>>(
        &self,
        run: Option<&str>,
        mut visit: impl FnMut(EventRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let (first, end) = match run {
            Some(run) => self.seqs_of(run)?,
            None => (0, i64::MAX),
        };
        let failed = StoreError::while_doing;
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seq, events.tick, time_ms, runs.id, type, agent, activation, session, cause, data \
                 FROM events JOIN runs ON run = runs.number WHERE seq >= ?1 AND seq < ?2 ORDER BY seq",
            )
            .map_err(failed("read the events"))?;
        let mut rows = statement.query([first, end]).map_err(failed("read the events"))?;
        while let Some(row) = rows.next().map_err(failed("read the events"))? {
            match event(row) {
                Ok(event) => visit(event)?,
                // A damaged record does not prevent reading the others.
                Err(error) => tracing::warn!("skipped a damaged log record: {error}"),
            }
        }
        Ok(())
    }

    /// Calls `visit` for every event of these kinds, in all runs, in order.
    pub fn for_each_event_of(&self, kinds: &[EventKind], mut visit: impl FnMut(EventRecord)) -> Result<(), StoreError> {
        let failed = StoreError::while_doing;
        let words: Vec<&str> = kinds.iter().map(EventKind::as_str).collect();
        let marks = vec!["?"; words.len()].join(", ");
        let sql = format!(
            "SELECT seq, events.tick, time_ms, runs.id, type, agent, activation, session, cause, data \
             FROM events JOIN runs ON run = runs.number WHERE type IN ({marks}) ORDER BY seq"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed("read the events"))?;
        let mut rows = statement.query(rusqlite::params_from_iter(words)).map_err(failed("read the events"))?;
        while let Some(row) = rows.next().map_err(failed("read the events"))? {
            match event(row) {
                Ok(event) => visit(event),
                Err(error) => tracing::warn!("skipped a damaged log record: {error}"),
            }
        }
        Ok(())
    }

    /// Returns at most `count` events before `seq`, of any run, in order.
    pub fn events_before(&self, seq: Seq, count: usize) -> Result<Vec<EventRecord>, StoreError> {
        let failed = StoreError::while_doing;
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seq, events.tick, time_ms, runs.id, type, agent, activation, session, cause, data \
                 FROM events JOIN runs ON run = runs.number WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
            )
            .map_err(failed("read the events"))?;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let before = i64::try_from(seq.0).unwrap_or(i64::MAX);
        let mut rows = statement.query([before, count]).map_err(failed("read the events"))?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(failed("read the events"))? {
            match event(row) {
                Ok(event) => events.push(event),
                Err(error) => tracing::warn!("skipped a damaged log record: {error}"),
            }
        }
        events.reverse();
        Ok(events)
    }

    /// Copies the current database into a new file, even while another process writes it.
    pub fn copy_into(&self, file: &Path) -> Result<(), StoreError> {
        let name = file.display().to_string();
        let copied = self.connection.execute("VACUUM INTO ?1", [name]);
        copied.map(|_| ()).map_err(StoreError::while_doing("copy the history"))
    }

    /// Returns the text that is stored beside a record, if it still exists.
    pub fn attachment(&self, seq: Seq) -> Result<Option<String>, StoreError> {
        attachments::read(&self.connection, seq)
    }

    /// Returns the number of the newest event; 0 if there is none.
    pub fn last_seq(&self) -> Result<Seq, StoreError> {
        db::last_seq(&self.connection).map_err(StoreError::while_doing("read the newest record"))
    }

    /// Returns the newest snapshot of a scene, of any run.
    pub fn latest_snapshot(&self, scene: &str) -> Result<Option<Snapshot>, StoreError> {
        self.snapshot("snapshots.scene = :word", &scene)
    }

    /// Returns the errors in the database; empty if it is intact. Reads all of it.
    pub fn integrity(&self) -> Result<Vec<String>, StoreError> {
        db::check(&self.connection).map_err(StoreError::while_doing("check the database"))
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the range of a run's event numbers, the end exclusive; runs do not overlap.
    pub(super) fn seqs_of(&self, run: &str) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT first_seq, (SELECT min(later.first_seq) FROM runs later WHERE later.number > runs.number) \
                   FROM runs WHERE id = :run";
        let range = self.one(sql, named_params! { ":run": run }, |row| {
            Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.unwrap_or(i64::MAX)))
        })?;
        range.ok_or_else(|| StoreError::UnknownRun(run.to_owned()))
    }

    pub(super) fn snapshot(&self, condition: &str, word: &dyn rusqlite::ToSql) -> Result<Option<Snapshot>, StoreError> {
        let hash = if self.has_column("snapshots", "hash") { "snapshots.hash" } else { "NULL" };
        let sql = format!(
            "SELECT snapshots.scene, runs.id, tick, next_seq, sections, files, {hash} FROM snapshots \
             JOIN runs ON run = runs.number WHERE {condition} ORDER BY snapshots.number DESC LIMIT 1"
        );
        let found = self.one(&sql, &[(":word", word)], |row| {
            let texts: (String, String, Option<i64>) = (row.get(4)?, row.get(5)?, row.get(6)?);
            Ok((row.get(0)?, row.get::<_, String>(1)?, unsigned(row, 2)?, unsigned(row, 3)?, texts))
        })?;
        let Some((scene, run, tick, next_seq, (sections, files, hash))) = found else { return Ok(None) };
        self.check(hash, snapshot_hash(&sections, &files, tick, next_seq), "a snapshot")?;
        let (sections, files) = (parse(&sections)?, parse(&files)?);
        Ok(Some(Snapshot { scene, run: run.into(), tick, next_seq: Seq(next_seq), sections, files }))
    }

    pub(super) fn one<T>(
        &self,
        sql: &str,
        values: &[(&str, &dyn rusqlite::ToSql)],
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.query_row(values, read).optional());
        found.map_err(StoreError::while_doing("read the log"))
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: &[(&str, &dyn rusqlite::ToSql)],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let found =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.query_map(values, read)?.collect());
        found.map_err(StoreError::while_doing("read the log"))
    }
}

pub(super) fn run_info(row: &Row<'_>) -> rusqlite::Result<RunInfo> {
    let time = |column| unsigned(row, column).map(|time_ms| time_ms.min(LATEST_MS));
    let ended_ms: Option<i64> = row.get(7)?;
    let reason: Option<String> = row.get(8)?;
    Ok(RunInfo {
        id: row.get::<_, String>(0)?.into(),
        scene: row.get(1)?,
        seed: unsigned(row, 2)?,
        started_ms: time(3)?,
        first_seq: Seq(unsigned(row, 4)?),
        first_tick: unsigned(row, 5)?,
        last_tick: unsigned(row, 6)?,
        end: ended_ms.map(|time_ms| RunEnd {
            time_ms: time_ms.cast_unsigned().min(LATEST_MS),
            reason: reason.unwrap_or_default(),
        }),
    })
}

/// The end of the year 9999, the latest time that can be formatted, in milliseconds since 1970.
pub(super) const LATEST_MS: u64 = 253_402_300_799_999;

pub(super) fn event(row: &Row<'_>) -> Result<EventRecord, StoreError> {
    let columns = || -> rusqlite::Result<_> {
        let id = |column| row.get::<_, Option<String>>(column).map(|word| word.map(Id::from));
        let cause = row.get::<_, Option<i64>>(8)?.map(|cause| Seq(cause.cast_unsigned()));
        let stamp = (Seq(unsigned(row, 0)?), unsigned(row, 1)?, unsigned(row, 2)?, row.get::<_, String>(3)?);
        let texts = (row.get::<_, String>(4)?, row.get::<_, String>(9)?);
        Ok((stamp, (id(5)?, id(6)?, id(7)?), cause, texts))
    };
    let (stamp, about, cause, (word, data)) = columns().map_err(StoreError::while_doing("read an event"))?;
    let (seq, tick, time_ms, run) = stamp;
    let (agent, activation, session) = about;
    let data = EventJson::from_stored(data).map_err(|error| StoreError::Unreadable { seq, what: error.to_string() })?;
    let mut draft = EventDraft::from_stored(EventKind::from_name(&word), data);
    (draft.agent, draft.activation, draft.session, draft.cause) = (agent, activation, session, cause);
    Ok(EventRecord { seq, tick, time_ms: time_ms.min(LATEST_MS), run: run.into(), draft })
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

pub(super) fn parse(text: &str) -> Result<Value, StoreError> {
    serde_json::from_str(text).map_err(StoreError::json("read a room"))
}
