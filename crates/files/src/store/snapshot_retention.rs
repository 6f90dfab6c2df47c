//! Selects which snapshots of a scene are kept: the newest, and older ones at growing intervals, so that a few cover
//! the whole history of a room.

use rusqlite::{Connection, params};

use super::error::StoreError;
use super::retention::HistoryLimits;

/// The number of newest snapshots that are always kept: if one cannot be read, the other can.
const NEWEST_KEPT: usize = 2;

/// The properties of a snapshot that matter for retention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct StoredSnapshot {
    /// The number, which increases with every snapshot.
    number: i64,
    bytes: u64,
}

/// Deletes surplus snapshots of every scene.
pub(super) fn thin_snapshots(connection: &mut Connection, limits: &HistoryLimits) -> Result<(), StoreError> {
    let failed = StoreError::while_doing;
    let scenes = {
        let mut statement =
            connection.prepare_cached("SELECT DISTINCT scene FROM snapshots").map_err(failed("list the snapshots"))?;
        let scenes = statement.query_map([], |row| row.get(0)).map_err(failed("list the snapshots"))?;
        scenes.collect::<rusqlite::Result<Vec<String>>>().map_err(failed("list the snapshots"))?
    };
    for scene in scenes {
        let snapshots = {
            let sql = "SELECT number, octet_length(sections) + octet_length(files) FROM snapshots \
                       WHERE scene = ?1 ORDER BY number";
            let mut statement = connection.prepare_cached(sql).map_err(failed("list the snapshots"))?;
            let read = |row: &rusqlite::Row<'_>| {
                let bytes: i64 = row.get(1)?;
                Ok(StoredSnapshot { number: row.get(0)?, bytes: bytes.unsigned_abs() })
            };
            let snapshots = statement.query_map([&scene], read).map_err(failed("list the snapshots"))?;
            snapshots.collect::<rusqlite::Result<Vec<StoredSnapshot>>>().map_err(failed("list the snapshots"))?
        };
        for number in surplus(snapshots, limits) {
            let sql = "DELETE FROM snapshots WHERE number = ?1";
            connection.execute(sql, params![number]).map_err(failed("prune the snapshots"))?;
        }
    }
    Ok(())
}

/// Returns the numbers of the snapshots to delete, given all of a scene, oldest first.
fn surplus(mut snapshots: Vec<StoredSnapshot>, limits: &HistoryLimits) -> Vec<i64> {
    let most = usize::try_from(limits.max_snapshots).unwrap_or(usize::MAX).max(NEWEST_KEPT);
    let most_bytes = (limits.max_snapshots_mib * 1_048_576.0).round() as u64;
    let mut bytes: u64 = snapshots.iter().map(|one| one.bytes).sum();
    let mut removed = Vec::new();
    while snapshots.len() > most || (snapshots.len() > NEWEST_KEPT && bytes > most_bytes) {
        let one = snapshots.remove(least_missed(&snapshots));
        bytes -= one.bytes;
        removed.push(one.number);
    }
    removed
}

/// Returns the index of the snapshot whose removal leaves the smallest gap for its age. The oldest is removed only if
/// it is the only one.
fn least_missed(snapshots: &[StoredSnapshot]) -> usize {
    let newest = snapshots.last().map_or(0, |one| one.number);
    let gap_by_age = |at: usize| {
        let (gap, age) = (snapshots[at + 1].number - snapshots[at - 1].number, newest - snapshots[at].number);
        gap as f64 / age as f64
    };
    let inner = 1..snapshots.len().saturating_sub(NEWEST_KEPT);
    inner.min_by(|one, other| gap_by_age(*one).total_cmp(&gap_by_age(*other))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(max_snapshots: u64, mib: u64) -> HistoryLimits {
        HistoryLimits { max_snapshots, max_snapshots_mib: mib as f64, ..HistoryLimits::default() }
    }

    /// Returns the remaining snapshots after this many were taken, with retention applied after each.
    fn taken(count: i64, bytes: u64, limits: &HistoryLimits) -> Vec<i64> {
        let mut snapshots: Vec<StoredSnapshot> = Vec::new();
        for number in 1..=count {
            snapshots.push(StoredSnapshot { number, bytes });
            let removed = surplus(snapshots.clone(), limits);
            snapshots.retain(|one| !removed.contains(&one.number));
        }
        snapshots.into_iter().map(|one| one.number).collect()
    }

    #[test]
    fn the_newest_snapshots_are_kept_and_older_ones_at_growing_intervals() {
        let snapshots = taken(10_000, 1, &limits(24, 1));
        assert_eq!((snapshots.len(), snapshots[0]), (24, 1));
        assert!(snapshots.ends_with(&[9_998, 9_999, 10_000]), "{snapshots:?}");
        for pair in snapshots.windows(2).skip(1) {
            let (gap, age) = (pair[1] - pair[0], 10_001 - pair[1]);
            assert!(gap <= age.max(1) * 2, "a gap of {gap} at an age of {age}: {snapshots:?}");
        }
    }

    #[test]
    fn fewer_large_snapshots_are_kept_but_always_two() {
        assert_eq!(taken(100, 400_000, &limits(40, 2)).len(), 5);
        assert_eq!(taken(100, 50_000_000, &limits(40, 2)), [99, 100]);
        assert_eq!(taken(100, 1, &limits(0, 0)), [99, 100]);
    }

    proptest! {
        #[test]
        fn any_number_of_any_size_stays_within_the_limits(
            count in 0..400_i64, bytes in 0..3_000_000_u64, kept_at_most in 0..50_u64, mib in 0..20_u64,
        ) {
            let snapshots = taken(count, bytes, &limits(kept_at_most, mib));
            let least = usize::try_from(count).unwrap().min(NEWEST_KEPT);
            prop_assert!(snapshots.len() >= least && snapshots.len() as u64 <= kept_at_most.max(NEWEST_KEPT as u64));
            prop_assert!(snapshots.len() <= NEWEST_KEPT || snapshots.len() as u64 * bytes <= mib * 1_048_576);
            prop_assert!(snapshots.iter().rev().take(least).eq((1..=count).rev().take(least).collect::<Vec<_>>().iter()));
        }
    }
}
