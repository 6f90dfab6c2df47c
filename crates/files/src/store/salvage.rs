//! Copies the readable rows of a damaged database into a new one. If rows are missing, data that depends on them does
//! not count as complete: a run is never replayed across lost inputs.

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params, params_from_iter};

use super::db::{self, MAX_NUMBER};
use super::error::StoreError;

/// The tables, sorted so that each comes after those that it references.
const TABLES: [&str; 11] = [
    "runs",
    "run_starts",
    "events",
    "inputs",
    "snapshots",
    "hashes",
    "enclosures",
    "files",
    "file_versions",
    "file_orders",
    "file_steps",
];
/// The maximum number of damaged ranges of a table, after which it is not read any further.
const MAX_GAPS: usize = 10_000;
/// The placeholder for lost inputs. It is not JSON, so that reading the run's inputs stops there as at any other
/// unreadable input.
const LOST_INPUT: &str = "lost";

/// The data that was copied from a damaged database.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Salvaged {
    /// The number of events.
    pub(super) records: u64,
    /// The number of inputs.
    pub(super) inputs: u64,
    /// The number of file versions.
    pub(super) versions: u64,
    /// Whether every row of every table could be read.
    pub(super) is_whole: bool,
}

impl Salvaged {
    /// Describes the copied data, as the end of a sentence.
    pub(super) fn describe(&self) -> String {
        let Self { records, inputs, versions, is_whole } = self;
        match (is_whole, records + inputs + versions) {
            (true, _) => "all of it was readable and was copied into a new history".to_owned(),
            (false, 0) => "nothing in it could be read, and a new history was started".to_owned(),
            (false, _) => format!(
                "{records} records, {inputs} inputs and {versions} file versions were copied into a new history; the \
                    rest is lost"
            ),
        }
    }
}

/// The rows between two others that could not be read; `None` for an end of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gap {
    after: Option<i64>,
    before: Option<i64>,
}

/// Copies everything readable into a new database with the current, empty tables. An error means that the new one
/// cannot be written.
pub(super) fn copy_readable(from: &Connection, into: &mut Connection) -> Result<Salvaged, StoreError> {
    let failed = StoreError::while_doing;
    let transaction = into.transaction().map_err(failed("copy the history"))?;
    let mut salvaged = Salvaged { is_whole: true, ..Salvaged::default() };
    let mut lost_inputs = Vec::new();
    for table in TABLES {
        let (rows, gaps) = copy_table(from, &transaction, table)?;
        salvaged.is_whole &= gaps.is_empty();
        match table {
            "events" => salvaged.records = rows,
            "inputs" => (salvaged.inputs, lost_inputs) = (rows, gaps),
            "file_versions" => salvaged.versions = rows,
            _ => {}
        }
    }
    insert_placeholder_runs(&transaction).map_err(failed("copy the history"))?;
    for gap in lost_inputs {
        mark_lost_inputs(&transaction, gap).map_err(failed("mark what is lost"))?;
    }
    delete_orphans(&transaction).map_err(failed("copy the history"))?;
    // Numbers that may have been shown are not used again.
    let numbers = [db::newest_number(from), db::last_seq(from)].into_iter().flatten().map(|seq| seq.0.cast_signed());
    let reserved = numbers.filter(|numbers| (0..=MAX_NUMBER).contains(numbers)).max().unwrap_or_default();
    transaction.execute("UPDATE numbers SET reserved = ?1", [reserved]).map_err(failed("copy the history"))?;
    transaction.commit().map_err(failed("copy the history"))?;
    Ok(salvaged)
}

/// Adds a run for records whose run was lost. Nobody can know its id beforehand: a person who accepts what was saved by a
/// lost run accepts this one.
fn insert_placeholder_runs(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "INSERT INTO runs (number, id, scene, seed, started_ms, first_seq, first_tick, last_tick, ended_ms, end_reason, \
             thinned) \
         SELECT run, 'r-lost-' || run || '-' || lower(hex(randomblob(8))), '', 0, min(time_ms), min(seq), min(tick), \
             max(tick), max(time_ms), 'what this run was is lost', 1 \
         FROM events WHERE run NOT IN (SELECT number FROM runs) GROUP BY run",
    )
}

/// Deletes rows whose run or file is missing.
fn delete_orphans(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM run_starts WHERE run NOT IN (SELECT number FROM runs);
         DELETE FROM inputs WHERE run NOT IN (SELECT number FROM runs);
         DELETE FROM snapshots WHERE run NOT IN (SELECT number FROM runs);
         DELETE FROM hashes WHERE run NOT IN (SELECT number FROM runs);
         DELETE FROM file_versions WHERE file NOT IN (SELECT number FROM files);",
    )
}

/// Marks every run that may have had inputs in a gap: it cannot be replayed, and no snapshot of it is replayed further
/// than to where inputs may be missing.
fn mark_lost_inputs(connection: &Connection, gap: Gap) -> rusqlite::Result<()> {
    let input = |row: Option<i64>| -> rusqlite::Result<Option<(i64, i64, i64)>> {
        let Some(row) = row else { return Ok(None) };
        let sql = "SELECT run, tick, number FROM inputs WHERE rowid = ?1";
        connection.query_row(sql, [row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
    };
    let (last, next) = (input(gap.after)?, input(gap.before)?);
    if let (Some((run, _, number)), Some((next_run, _, next_number))) = (last, next)
        && run == next_run
        && next_number == number + 1
    {
        return Ok(());
    }
    let (first_run, last_run) = (last.map_or(0, |last| last.0), next.map_or(i64::MAX, |next| next.0));
    let mut statement = connection.prepare("SELECT number FROM runs WHERE number BETWEEN ?1 AND ?2")?;
    let runs = statement.query_map([first_run, last_run], |row| row.get(0))?;
    for run in runs.collect::<rusqlite::Result<Vec<i64>>>()? {
        let from = last.filter(|last| last.0 == run).map_or(0, |last| last.1);
        let until = next.filter(|next| next.0 == run).map_or(i64::MAX, |next| next.1);
        // Lost inputs after a snapshot in the gap are marked as well, before the first readable one.
        connection.execute(
            "INSERT OR IGNORE INTO inputs (run, tick, number, kind, data) \
             SELECT ?1, ?2, ?4, ?5, ?5 UNION ALL \
             SELECT ?1, tick + 1, ?4, ?5, ?5 FROM snapshots WHERE run = ?1 AND tick >= ?2 AND tick < ?3",
            params![run, from, until, i64::MAX, LOST_INPUT],
        )?;
        connection.execute("UPDATE runs SET thinned = 1 WHERE number = ?1", [run])?;
    }
    Ok(())
}

/// Copies the readable rows of a table. Returns their number and the gaps between them.
fn copy_table(from: &Connection, into: &Connection, table: &str) -> Result<(u64, Vec<Gap>), StoreError> {
    let columns = columns_of(into, table).map_err(StoreError::while_doing("read the tables"))?;
    // A database that was set aside may have an older format, or an unreadable one.
    let known = columns_of(from, table).unwrap_or_default();
    let columns: Vec<String> = columns.into_iter().filter(|column| known.contains(column)).collect();
    if columns.is_empty() {
        return Ok((0, vec![Gap { after: None, before: None }]));
    }
    let marks = vec!["?"; columns.len() + 1].join(", ");
    let insert = format!("INSERT OR IGNORE INTO {table} (rowid, {}) VALUES ({marks})", columns.join(", "));
    let mut copier = Copier { from, into, table, columns: columns.join(", "), insert, count: columns.len(), rows: 0 };
    let gaps = copier.copy_all()?;
    Ok((copier.rows, gaps))
}

/// Returns the columns of a table, except the alias of the row number.
fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_info(?1) \
               WHERE pk = 0 OR (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) > 1";
    let mut statement = connection.prepare(sql)?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// The order in which rows are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowOrder {
    Up,
    Down,
}

/// The result of copying a contiguous range of rows.
#[derive(Clone, Copy, Default)]
struct Stretch {
    first: Option<i64>,
    last: Option<i64>,
    /// Whether all rows of the range were read.
    is_whole: bool,
}

struct Copier<'a> {
    from: &'a Connection,
    into: &'a Connection,
    table: &'a str,
    columns: String,
    insert: String,
    count: usize,
    rows: u64,
}

impl Copier<'_> {
    fn copy_all(&mut self) -> Result<Vec<Gap>, StoreError> {
        let (mut gaps, mut above, end) = (Vec::new(), 0, MAX_NUMBER + 1);
        // The newest row that was copied, and the row after which a gap began that is still open.
        let (mut newest, mut open): (Option<i64>, Option<Option<i64>>) = (None, None);
        loop {
            let up = self.copy(above, end, RowOrder::Up)?;
            if up.first.is_some() {
                gaps.extend(open.take().map(|after| Gap { after, before: up.first }));
            }
            newest = up.last.or(newest);
            above = up.last.unwrap_or(above);
            if up.is_whole {
                break;
            }
            open.get_or_insert(newest);
            let next = self.next_readable(above, end).filter(|_| gaps.len() < MAX_GAPS);
            // The rows in between are read from the other end, as far as possible.
            let down = self.copy(above, next.unwrap_or(end), RowOrder::Down)?;
            if down.last.is_some() {
                gaps.extend(open.take().map(|after| Gap { after, before: down.last }));
            }
            newest = down.first.or(newest);
            let Some(next) = next else { break };
            above = next - 1;
        }
        gaps.extend(open.map(|after| Gap { after, before: None }));
        Ok(gaps)
    }

    /// Finds the number of a readable row at some distance above an unreadable range.
    fn next_readable(&self, above: i64, end: i64) -> Option<i64> {
        let sql = format!("SELECT rowid, {} FROM {} WHERE rowid > ?1 ORDER BY rowid LIMIT 1", self.columns, self.table);
        let mut step: i64 = 1;
        loop {
            let from = above.saturating_add(step);
            let found = self
                .from
                .prepare_cached(&sql)
                .and_then(|mut statement| statement.query_row([from], |row| row.get::<_, i64>(0)).optional());
            match found {
                Ok(found) => return found.filter(|found| *found > from && *found < end),
                Err(_) if from < end => step = step.saturating_mul(2),
                Err(_) => return None,
            }
        }
    }

    /// Copies rows between two numbers up to the first that cannot be read.
    fn copy(&mut self, above: i64, below: i64, way: RowOrder) -> Result<Stretch, StoreError> {
        let order = if way == RowOrder::Up { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT rowid, {} FROM {} WHERE rowid > ?1 AND rowid < ?2 ORDER BY rowid {order}",
            self.columns, self.table
        );
        let mut stretch = Stretch::default();
        let Ok(mut statement) = self.from.prepare_cached(&sql) else { return Ok(stretch) };
        let Ok(mut rows) = statement.query([above, below]) else { return Ok(stretch) };
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(Stretch { is_whole: true, ..stretch }),
                Err(_) => return Ok(stretch),
            };
            let values: Option<Vec<Value>> =
                (0..=self.count).map(|column| Value::try_from(row.get_ref(column).ok()?).ok()).collect();
            let Some(Value::Integer(number)) = values.as_ref().and_then(|values| values.first()) else {
                return Ok(stretch);
            };
            // Damaged pages that refer to each other would cause an endless loop.
            let (number, before) = (*number, stretch.last.unwrap_or(if way == RowOrder::Up { above } else { below }));
            let moves_on =
                if way == RowOrder::Up { number > before && number < below } else { number < before && number > above };
            if !moves_on || !self.insert(values.unwrap_or_default())? {
                return Ok(stretch);
            }
            stretch.first.get_or_insert(number);
            stretch.last = Some(number);
        }
    }

    /// Inserts a row. Returns whether it fits the new table.
    fn insert(&mut self, values: Vec<Value>) -> Result<bool, StoreError> {
        let inserted = self
            .into
            .prepare_cached(&self.insert)
            .and_then(|mut statement| statement.execute(params_from_iter(values)));
        match inserted {
            Ok(count) => {
                self.rows += count as u64;
                Ok(count > 0)
            }
            Err(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(StoreError::while_doing("copy the history")(error)),
        }
    }
}
