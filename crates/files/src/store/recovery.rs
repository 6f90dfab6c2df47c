//! The points from which a room can continue after it was closed or interrupted, even with a damaged history: the best
//! first, each verified when it is read.

use rusqlite::named_params;

use super::db::MAX_NUMBER;
use super::error::StoreError;
use super::reader::{RUN_COLUMNS, Reader, ReopenFrom, Reopening, RunInfo, run_info, unsigned};
use crate::schedule::RecordedInput;

/// A point from which a room can continue; not read yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveryPoint {
    /// The number of the run.
    run: i64,
    /// The number of the snapshot; `None` for the start of the run.
    snapshot: Option<i64>,
}

impl RecoveryPoint {
    /// Whether it is the start of a run, rather than a snapshot.
    pub fn is_start(&self) -> bool {
        self.snapshot.is_none()
    }
}

/// The maximum number of ticks that a run continues without a hash, a snapshot or a record; a higher number is damage.
const MAX_QUIET_TICKS: u64 = 10_000;

impl Reader {
    /// Returns every point from which a scene's room can continue, the best first: the snapshots of its newest run, the
    /// start of that run, and snapshots of earlier runs.
    pub fn recovery_points(&self, scene: &str) -> Result<Vec<RecoveryPoint>, StoreError> {
        let newest =
            self.one("SELECT max(number) FROM runs WHERE scene = :scene", named_params! { ":scene": scene }, |row| {
                row.get::<_, Option<i64>>(0)
            });
        // Even if the list of runs cannot be read, snapshots may be readable.
        let newest = newest.ok().flatten().flatten();
        let snapshots = self.all(
            "SELECT run, number FROM snapshots WHERE scene = :scene ORDER BY number DESC",
            named_params! { ":scene": scene },
            |row| Ok(RecoveryPoint { run: row.get(0)?, snapshot: Some(row.get(1)?) }),
        );
        let snapshots = match (snapshots, newest) {
            (Ok(snapshots), _) => snapshots,
            (Err(_), Some(_)) => Vec::new(),
            (Err(error), None) => return Err(error),
        };
        let (of_newest, earlier): (Vec<_>, Vec<_>) = snapshots.into_iter().partition(|way| Some(way.run) == newest);
        let start = newest.map(|run| RecoveryPoint { run, snapshot: None });
        Ok(of_newest.into_iter().chain(start).chain(earlier).collect())
    }

    /// Reads everything that is needed to continue from a point.
    pub fn restore(&self, way: &RecoveryPoint) -> Result<Reopening, StoreError> {
        // Uses one transaction, so that a running room cannot interfere.
        let transaction =
            self.connection.unchecked_transaction().map_err(StoreError::while_doing("read the last run"))?;
        let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE number = :run");
        let run = self.one(&sql, named_params! { ":run": way.run }, run_info)?;
        let run = self.bounded(run.ok_or_else(|| StoreError::UnknownRun(way.run.to_string()))?)?;
        let (from, tick) = match way.snapshot {
            Some(number) => {
                let snapshot = self.snapshot("snapshots.number = :word", &number)?;
                let snapshot = snapshot.ok_or_else(|| StoreError::UnknownRun(run.id.to_string()))?;
                let tick = snapshot.tick;
                (ReopenFrom::Snapshot(snapshot), tick)
            }
            None => (ReopenFrom::Start(self.start(&run.id)?), run.first_tick),
        };
        let (inputs, damaged_at) = self.readable_inputs(way.run, tick)?;
        drop(transaction);
        let last_tick = damaged_at.map_or(run.last_tick, |damaged| damaged.saturating_sub(1).min(run.last_tick));
        let inputs = inputs.into_iter().filter(|input| input.tick <= last_tick).collect();
        Ok(Reopening { run, from, inputs, last_tick })
    }

    /// Returns the inputs of a run after this tick, up to the first unreadable one, and the tick of that one.
    fn readable_inputs(&self, run: i64, after: u64) -> Result<(Vec<RecordedInput>, Option<u64>), StoreError> {
        let failed = StoreError::while_doing;
        let sql = "SELECT tick, kind, data FROM inputs WHERE run = ?1 AND tick > ?2 ORDER BY tick, number";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read the inputs"))?;
        let mut rows = statement.query([run, after.cast_signed()]).map_err(failed("read the inputs"))?;
        let mut inputs: Vec<RecordedInput> = Vec::new();
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok((inputs, None)),
                Err(_) => {
                    // The remaining inputs cannot even be counted, and some of them may be from the tick of the last
                    // readable one.
                    let damaged = inputs.last().map_or(after + 1, |input| input.tick);
                    return Ok((inputs, Some(damaged)));
                }
            };
            let tick = unsigned(row, 0).map_err(failed("read the inputs"))?;
            let read = || -> rusqlite::Result<_> { Ok((row.get::<_, String>(1)?, row.get::<_, String>(2)?)) };
            match read() {
                Ok((kind, data)) if serde_json::from_str::<serde::de::IgnoredAny>(&data).is_ok() => {
                    inputs.push(RecordedInput { tick, kind, data });
                }
                _ => return Ok((inputs, Some(tick))),
            }
        }
    }

    /// Limits the first and last tick of a run to the recorded ones, in case they are damaged.
    pub(super) fn bounded(&self, mut run: RunInfo) -> Result<RunInfo, StoreError> {
        let (first, end) = self.seqs_of(&run.id)?;
        // Inputs arrive after the first tick; other records may belong to it. Negative ticks are damage.
        let sql = "WITH this AS (SELECT number FROM runs WHERE id = ?1) \
                   SELECT min(earliest), max(latest) FROM ( \
                       SELECT min(tick) - 1 AS earliest, max(tick) AS latest FROM inputs \
                           WHERE run = (SELECT number FROM this) AND tick BETWEEN 1 AND ?4 \
                       UNION ALL SELECT min(tick), max(tick) FROM hashes \
                           WHERE run = (SELECT number FROM this) AND tick BETWEEN 0 AND ?4 \
                       UNION ALL SELECT min(tick), max(tick) FROM snapshots \
                           WHERE run = (SELECT number FROM this) AND tick BETWEEN 0 AND ?4 \
                       UNION ALL SELECT * FROM (SELECT tick, tick FROM events WHERE seq >= ?2 AND seq < ?3 \
                           AND tick BETWEEN 0 AND ?4 ORDER BY seq LIMIT 1) \
                       UNION ALL SELECT * FROM (SELECT tick, tick FROM events WHERE seq >= ?2 AND seq < ?3 \
                           AND tick BETWEEN 0 AND ?4 ORDER BY seq DESC LIMIT 1))";
        let ticks = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?));
        let (earliest, latest) = self
            .connection
            .query_row(sql, rusqlite::params![&*run.id, first, end, MAX_NUMBER], ticks)
            .map_err(StoreError::while_doing("read the ends of a run"))?;
        let known = |tick: Option<i64>| tick.and_then(|tick| u64::try_from(tick).ok());
        if run.first_tick > MAX_NUMBER.cast_unsigned() {
            run.first_tick = 0;
        }
        if let Some(earliest) = known(earliest) {
            run.first_tick = run.first_tick.min(earliest);
        }
        let newest = known(latest).unwrap_or(0).max(run.first_tick);
        if run.last_tick < newest || run.last_tick > newest.saturating_add(MAX_QUIET_TICKS) {
            run.last_tick = newest;
        }
        Ok(run)
    }

    /// Whether a column exists: a database that was set aside may have an older format.
    pub(super) fn has_column(&self, table: &str, column: &str) -> bool {
        let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        self.connection.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0)
    }

    pub(super) fn check(&self, kept: Option<i64>, found: i64, what: &str) -> Result<(), StoreError> {
        if kept.is_none_or(|kept| kept == found) {
            return Ok(());
        }
        Err(StoreError::Damaged { path: self.path.clone(), what: format!("{what} is not what was written") })
    }

    /// Returns the data that restores a scene's room to the last recorded state of its newest run, whether that ended
    /// or was interrupted; `None` if the scene was never opened.
    pub fn reopen(&self, scene: &str) -> Result<Option<Reopening>, StoreError> {
        self.recovery_points(scene)?.first().map(|way| self.restore(way)).transpose()
    }
}
