//! Limits the size of the history: the oldest data is removed a little at a time, but never data that a room needs to
//! continue.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::error::StoreError;

/// The interval between removals of old data, in wall-clock time.
pub(super) const THIN_EVERY: Duration = Duration::from_secs(60);
/// The maximum number of rows of each kind that one transaction deletes, so that it never blocks others for long.
const ROWS_AT_ONCE: i64 = 2_000;

settings! {
    /// How much history is kept. The data that a room needs to continue is always kept: the newest run of each scene,
    /// its snapshots, and its inputs since.
    pub struct HistoryLimits {
        /// The number of newest events in the log.
        pub max_events: u64 = 1_000_000, in 0.0..=1_000_000_000_000.0, once "events_kept";
        /// The number of newest inputs; with the start of a run, they replay it.
        pub max_inputs: u64 = 500_000, in 0.0..=1_000_000_000_000.0, once "inputs_kept";
        /// The number of newest runs whose start, a whole world each, is kept.
        pub max_replayable_runs: u64 = 50, in 0.0..=1_000_000_000_000.0, once "replayable_runs";
        /// The number of newest hashes of the world, for comparison by replays.
        pub max_hashes: u64 = 200_000, in 0.0..=1_000_000_000_000.0, once "hashes_kept";
        /// The number of newest versions of all files in total; the newest and the first version of each existing file
        /// are always kept.
        pub max_versions: u64 = 100_000, in 0.0..=1_000_000_000_000.0, once "versions_kept";
        /// Seconds of simulated time between snapshots of the whole room.
        pub snapshot_secs: u64 = 30, in 0.0..=604_800.0;
        /// The number of snapshots of each scene: the newest, and older ones at growing intervals; at least 2.
        pub max_snapshots: u64 = 40, in 0.0..=1_000_000_000_000.0, once "snapshots_kept";
        /// The maximum size of all snapshots of a scene in MiB; 2 are always kept.
        pub max_snapshots_mib: f64 = 128.0, in 0.0..=1_000_000_000_000.0,
            once "snapshots_mb_at_most" * 0.95367431640625;
    }
}

/// The runs whose inputs since the last snapshot but one are needed to continue a room: the newest of each scene.
/// Without snapshots, all of their inputs are needed.
const NEEDED_RUNS: &str = "SELECT max(number) FROM runs GROUP BY scene";

/// Deletes old data, up to a number of rows of each kind. Returns whether there is more to delete.
pub(super) fn thin(connection: &mut Connection, limits: &HistoryLimits) -> Result<bool, StoreError> {
    let failed = StoreError::while_doing;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed("begin to prune the history"))?;
    let mut more = false;
    let limit = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let run = |sql: &str, values: &[i64]| {
        let mut statement = transaction.prepare_cached(sql).map_err(failed("prune the history"))?;
        statement.execute(rusqlite::params_from_iter(values)).map_err(failed("prune the history"))
    };

    let events = "DELETE FROM events WHERE seq IN \
                  (SELECT seq FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?1 ORDER BY seq LIMIT ?2)";
    more |= run(events, &[limit(limits.max_events.max(1)), ROWS_AT_ONCE])? as i64 == ROWS_AT_ONCE;

    let old_inputs = format!(
        "SELECT rowid FROM inputs AS input WHERE rowid <= (SELECT max(rowid) FROM inputs) - ?1 \
         AND (run NOT IN ({NEEDED_RUNS}) OR tick <= coalesce( \
             (SELECT min(tick) FROM (SELECT tick FROM snapshots WHERE snapshots.run = input.run \
              ORDER BY tick DESC LIMIT 2)), -1)) \
         ORDER BY rowid LIMIT ?2"
    );
    // A run with missing inputs can no longer be replayed, and is marked as such.
    let mark = format!(
        "UPDATE runs SET thinned = 1 WHERE thinned = 0 AND number IN \
         (SELECT run FROM inputs WHERE rowid IN ({old_inputs}))"
    );
    let values = [limit(limits.max_inputs), ROWS_AT_ONCE];
    run(&mark, &values)?;
    more |= run(&format!("DELETE FROM inputs WHERE rowid IN ({old_inputs})"), &values)? as i64 == ROWS_AT_ONCE;

    let old_starts = format!(
        "SELECT run FROM run_starts WHERE run NOT IN ({NEEDED_RUNS}) \
         AND run NOT IN (SELECT number FROM runs ORDER BY number DESC LIMIT ?1) ORDER BY run LIMIT 20"
    );
    let values = [limit(limits.max_replayable_runs)];
    run(&format!("UPDATE runs SET thinned = 1 WHERE number IN ({old_starts})"), &values)?;
    more |= run(&format!("DELETE FROM run_starts WHERE run IN ({old_starts})"), &values)? == 20;
    // Without its beginning, the rest of a run cannot be replayed.
    let orphans = format!(
        "SELECT rowid FROM inputs WHERE run IN (SELECT number FROM runs WHERE thinned = 1) \
         AND run NOT IN (SELECT run FROM run_starts) AND run NOT IN ({NEEDED_RUNS}) LIMIT ?1"
    );
    more |= run(&format!("DELETE FROM inputs WHERE rowid IN ({orphans})"), &[ROWS_AT_ONCE])? as i64 == ROWS_AT_ONCE;

    let hashes = "DELETE FROM hashes WHERE rowid IN (SELECT rowid FROM hashes WHERE rowid <= \
                  (SELECT max(rowid) FROM hashes) - ?1 ORDER BY rowid LIMIT ?2)";
    more |= run(hashes, &[limit(limits.max_hashes), ROWS_AT_ONCE])? as i64 == ROWS_AT_ONCE;

    let versions = "DELETE FROM file_versions WHERE rowid IN \
                    (SELECT version.rowid FROM file_versions AS version JOIN files ON files.number = version.file \
                     WHERE version.rowid <= (SELECT max(rowid) FROM file_versions) - ?1 \
                     AND NOT (files.state = 'there' AND (version.number = files.newest OR version.number = \
                         (SELECT min(number) FROM file_versions WHERE file = version.file))) \
                     ORDER BY version.rowid LIMIT ?2)";
    more |= run(versions, &[limit(limits.max_versions.max(1)), ROWS_AT_ONCE])? as i64 == ROWS_AT_ONCE;

    // A file whose path was taken by another file can only be found by its versions.
    run("DELETE FROM files WHERE state = 'displaced' AND number NOT IN (SELECT file FROM file_versions)", &[])?;
    transaction
        .execute("DELETE FROM enclosures WHERE seq < (SELECT min(seq) FROM events)", params![])
        .map_err(failed("prune the history"))?;
    transaction.commit().map_err(failed("prune the history"))?;
    Ok(more)
}
