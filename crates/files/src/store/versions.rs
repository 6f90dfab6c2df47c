//! The versions of the workspace's files: a separate connection next to the log's, for the thread that writes files. It
//! stores texts, numbers and authors; their meaning is up to the caller.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::compression::{pack, unpack};
use super::db::{self, MAX_NUMBER};
use super::error::StoreError;
use super::location::{DatabaseLocation, LocationStatus, path_in};
use super::reader::LATEST_MS;
use crate::base::hash::content_hash;
use crate::log::now_ms;

/// The length in bytes from which texts are compressed.
const PACK_FROM_BYTES: usize = 512;
/// The number of orders whose answers are kept.
const ORDERS_KEPT: i64 = 20_000;
/// Old orders are deleted after every this many new ones.
const ORDERS_PRUNED_EVERY: i64 = 256;

/// How long to wait for the log to rewrite a history that was deleted while the room is open.
const ANEW_WITHIN: Duration = Duration::from_secs(5);
/// The interval at which that is checked.
const ANEW_LOOK: Duration = Duration::from_millis(20);

/// The current entry of a file in the history.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileHead {
    /// The permanent number of the file, whatever its path.
    pub file: i64,
    /// The present path, or the last one of a deleted file.
    pub path: String,
    /// Whether the file exists.
    pub is_there: bool,
    /// The number of its newest version; 0 if it has none.
    pub version: u64,
    /// The hash of that version's text.
    pub hash: u64,
    /// The size on disk in bytes when the file was last examined.
    pub size: u64,
    /// The modification time at that moment, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// A version without its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileVersion {
    /// The number, counted from 1 per file.
    pub number: u64,
    /// When it was stored, in milliseconds since 1970.
    pub time_ms: u64,
    /// The author.
    pub author: String,
    /// The activation, if it was part of one.
    pub activation: Option<String>,
    /// The key of the order that created it.
    pub order_key: Option<String>,
    /// The length of the text in characters.
    pub chars: u64,
}

/// A version to be stored.
#[derive(Clone, Copy, Debug)]
pub struct VersionDraft<'a> {
    /// The author.
    pub author: &'a str,
    /// The activation, if it is part of one.
    pub activation: Option<&'a str>,
    /// The key of the order that creates it.
    pub order_key: Option<&'a str>,
    /// The text.
    pub text: &'a str,
}

/// How durable a transaction must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// The data survives the process.
    Process,
    /// The data survives a power failure, which requires waiting for the disk.
    Power,
}

/// The open history of files.
pub struct FileVersions {
    connection: Connection,
    surety: Durability,
    /// The location of the database; `None` if it is only read.
    place: Option<DatabaseLocation>,
}

impl FileVersions {
    /// Opens the history in this `.workshop` folder for writing, or creates it. Only the process that holds the
    /// workspace ([`super::Store`]) may do so.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(StoreError::file(dir))?;
        let connection = db::open_beside(&path_in(dir))?;
        Ok(Self { connection, surety: Durability::Process, place: Some(DatabaseLocation::of(dir)?) })
    }

    /// Opens the history for reading, whether or not another process writes it.
    pub fn open_to_read(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: db::open_read_only(dir)?, surety: Durability::Process, place: None })
    }

    /// Returns every existing and every deleted file, sorted by path.
    pub fn heads(&self) -> Result<Vec<FileHead>, StoreError> {
        let sql = "SELECT number, path, state, newest, hash, size, modified_ns FROM files \
                   WHERE state <> 'displaced' ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read the files"))?;
        let mut rows = statement.query([]).map_err(failed("read the files"))?;
        let mut heads = Vec::new();
        while let Some(row) = rows.next().map_err(failed("read the files"))? {
            match head(row) {
                Ok(head) => heads.push(head),
                // If a row is unreadable, only the history of that file is lost.
                Err(error) => tracing::warn!("skipped the damaged history of a file: {error}"),
            }
        }
        Ok(heads)
    }

    /// Returns the file at a path, even if it was deleted.
    pub fn head(&self, path: &str) -> Result<Option<FileHead>, StoreError> {
        let sql = "SELECT number, path, state, newest, hash, size, modified_ns FROM files \
                   WHERE state <> 'displaced' AND path = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read a file"))?;
        statement.query_row([path], head).optional().map_err(failed("read a file"))
    }

    /// Returns the deleted file that was last at a path before another file took the path.
    pub fn displaced(&self, path: &str) -> Result<Option<FileHead>, StoreError> {
        let sql = "SELECT number, path, state, newest, hash, size, modified_ns FROM files \
                   WHERE state = 'displaced' AND path = ?1 ORDER BY \
                   (SELECT max(time_ms) FROM file_versions WHERE file = files.number) DESC, number DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read a file"))?;
        statement.query_row([path], head).optional().map_err(failed("read a file"))
    }

    /// Returns the versions of a file, newest first.
    pub fn versions(&self, file: i64) -> Result<Vec<FileVersion>, StoreError> {
        let sql = "SELECT number, time_ms, author, activation, order_key, chars FROM file_versions \
                   WHERE file = ?1 ORDER BY number DESC";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read versions"))?;
        let rows = statement.query_map([file], version);
        rows.and_then(Iterator::collect).map_err(failed("read versions"))
    }

    /// Returns the author of a version, if it is still stored.
    pub fn author(&self, file: i64, version: u64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT author FROM file_versions WHERE file = ?1 AND number = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read versions"))?;
        let row = statement.query_row(params![file, version.cast_signed()], |row| row.get(0)).optional();
        row.map_err(failed("read versions"))
    }

    /// Returns the text of a version, if it is still stored.
    pub fn text(&self, file: i64, version: u64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT packing, text FROM file_versions WHERE file = ?1 AND number = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read a version"))?;
        let found = statement
            .query_row(params![file, version.cast_signed()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
            })
            .optional()
            .map_err(failed("read a version"))?;
        found.map(|(packing, bytes)| unpack(packing, bytes)).transpose()
    }

    /// Permanently removes the histories of some files, selected by their path or by a text that they once had. For
    /// copies that leave the workspace.
    pub fn drop_histories(&mut self, is_left_out: impl Fn(&str, Option<&str>) -> bool) -> Result<usize, StoreError> {
        let doing = "take histories out of the copy";
        let sql = "SELECT number, path FROM files";
        let files: Vec<(i64, String)> = {
            let mut statement = self.connection.prepare(sql).map_err(failed(doing))?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed(doing))?;
            rows.collect::<Result<_, _>>().map_err(failed(doing))?
        };
        let mut dropped = 0;
        for (file, path) in files {
            let mut is_dropped = is_left_out(&path, None);
            for version in self.versions(file)? {
                is_dropped |=
                    !is_dropped && self.text(file, version.number)?.is_some_and(|text| is_left_out(&path, Some(&text)));
            }
            if is_dropped {
                for sql in ["DELETE FROM file_versions WHERE file = ?1", "DELETE FROM files WHERE number = ?1"] {
                    self.connection.execute(sql, [file]).map_err(failed(doing))?;
                }
                dropped += 1;
            }
        }
        if dropped > 0 {
            // Deleted data stays in the database file until it is rewritten.
            self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed(doing))?;
        }
        Ok(dropped)
    }

    /// Returns the answer to the order with this key, and the hash of the request.
    pub fn answer(&self, key: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT what, answer FROM file_orders WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read an order"))?;
        let found = statement.query_row([key], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)));
        found.optional().map_err(failed("read an order"))
    }

    /// Returns the pending steps, which may not have reached the disk, by number, oldest first.
    pub fn steps(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT number, step FROM file_steps ORDER BY number")
            .map_err(failed("read what was begun"))?;
        let rows = statement.query_map([], |row| {
            let step = row.get_ref(1)?.as_bytes().map(String::from_utf8_lossy).unwrap_or_default();
            Ok((row.get(0)?, step.into_owned()))
        });
        rows.and_then(Iterator::collect).map_err(failed("read what was begun"))
    }

    /// Changes the history: everything that `act` does, or nothing.
    pub fn change<T>(
        &mut self,
        surety: Durability,
        act: impl FnOnce(&FileChanges<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.ensure_place()?;
        if self.surety != surety {
            let word = if surety == Durability::Power { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", word).map_err(failed("set up the history"))?;
            self.surety = surety;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed("begin to write the history"))?;
        let changes = FileChanges { transaction };
        let done = act(&changes)?;
        changes.transaction.commit().map_err(failed("write the history"))?;
        Ok(done)
    }

    /// Checks the location before a change. If the history was deleted while the room is open, the log rewrites it
    /// within a moment, and all later changes must go there.
    fn ensure_place(&mut self) -> Result<(), StoreError> {
        let Some(place) = &self.place else { return Ok(()) };
        let until = Instant::now() + ANEW_WITHIN;
        loop {
            let standing = place.look_at_database();
            match standing {
                LocationStatus::InPlace | LocationStatus::LockGone => return Ok(()),
                LocationStatus::Replaced => {
                    let dir = place.dir().to_owned();
                    self.connection = db::open_beside(&path_in(&dir))?;
                    self.place = Some(DatabaseLocation::of(&dir)?);
                    self.surety = Durability::Process;
                    return Ok(());
                }
                LocationStatus::HistoryGone if Instant::now() < until => std::thread::sleep(ANEW_LOOK),
                LocationStatus::HistoryGone | LocationStatus::WorkspaceGone => {
                    return place.problem(standing).map_or(Ok(()), Err);
                }
            }
        }
    }
}

/// A transaction on the history.
pub struct FileChanges<'a> {
    transaction: Transaction<'a>,
}

impl FileChanges<'_> {
    /// Adds a file without versions. Returns its number.
    pub fn add_file(&self, path: &str) -> Result<i64, StoreError> {
        let sql = "INSERT INTO files (path, state, newest, hash, size, modified_ns) VALUES (?1, 'there', 0, 0, 0, 0)";
        self.run(sql, params![path])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Adds a version of a file, which then exists. Returns the number of the version.
    pub fn add_version(&self, file: i64, draft: &VersionDraft<'_>) -> Result<u64, StoreError> {
        // An impossibly high number is damage: counting continues after the existing versions.
        let sql = "UPDATE files SET hash = ?2, state = 'there', newest = 1 + \
                   CASE WHEN newest BETWEEN 0 AND ?3 THEN newest ELSE coalesce( \
                       (SELECT max(number) FROM file_versions WHERE file = ?1 AND number <= ?3), 0) END \
                   WHERE number = ?1 RETURNING newest";
        let hash = content_hash(draft.text.as_bytes()).cast_signed();
        let mut statement = self.transaction.prepare_cached(sql).map_err(failed("write a version"))?;
        let number: i64 = statement
            .query_row(params![file, hash, MAX_NUMBER], |row| row.get(0))
            .map_err(failed("write a version"))?;
        let packing = i64::from(draft.text.len() >= PACK_FROM_BYTES);
        self.run(
            "INSERT INTO file_versions \
             (file, number, time_ms, author, activation, order_key, chars, packing, text) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                file,
                number,
                now_ms().cast_signed(),
                draft.author,
                draft.activation,
                draft.order_key,
                draft.text.chars().count() as i64,
                packing,
                pack(packing, draft.text)?,
            ],
        )?;
        Ok(number.cast_unsigned())
    }

    /// Removes the newest version, which was never visible to others, and restores the previous head.
    pub fn remove_newest_version(&self, file: i64, version: u64, before: Option<&FileHead>) -> Result<(), StoreError> {
        self.drop_version(file, version)?;
        match before {
            Some(head) => self.set_head(head),
            None => self.run("DELETE FROM files WHERE number = ?1", params![file]),
        }
    }

    /// Updates the entry of a file.
    pub fn set_head(&self, head: &FileHead) -> Result<(), StoreError> {
        let state = if head.is_there { "there" } else { "gone" };
        self.run(
            "UPDATE files SET path = ?2, state = ?3, newest = ?4, hash = ?5, size = ?6, modified_ns = ?7 \
             WHERE number = ?1",
            params![
                head.file,
                head.path,
                state,
                head.version.cast_signed(),
                head.hash.cast_signed(),
                head.size.cast_signed(),
                head.modified_ns
            ],
        )
    }

    /// Releases the path of a deleted file for another file. Its history is kept, under no path that is in use.
    pub fn displace(&self, file: i64) -> Result<(), StoreError> {
        self.run("UPDATE files SET state = 'displaced' WHERE number = ?1", params![file])
    }

    /// Gives a displaced file its path again.
    pub fn restore_path(&self, file: i64) -> Result<(), StoreError> {
        self.run("UPDATE files SET state = 'gone' WHERE number = ?1", params![file])
    }

    /// Deletes a version that is not the newest.
    pub fn drop_version(&self, file: i64, version: u64) -> Result<(), StoreError> {
        self.run("DELETE FROM file_versions WHERE file = ?1 AND number = ?2", params![file, version.cast_signed()])
    }

    /// Deletes all but `kept` versions: the first one, which nothing else can bring back, and the newest.
    pub fn prune(&self, file: i64, kept: u64) -> Result<(), StoreError> {
        let newest = kept.saturating_sub(1).max(1);
        self.run(
            "DELETE FROM file_versions WHERE file = ?1 \
             AND number <= (SELECT number FROM file_versions WHERE file = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2) \
             AND (?3 < 2 OR number > (SELECT min(number) FROM file_versions WHERE file = ?1))",
            params![file, newest.cast_signed(), kept.cast_signed()],
        )
    }

    /// Stores the answer to an order, and the hash of the request.
    pub fn keep_answer(&self, key: &str, what: u64, answer: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO file_orders (key, what, answer) VALUES (?1, ?2, ?3)";
        self.run(sql, params![key, what.cast_signed(), answer])?;
        let number = self.transaction.last_insert_rowid();
        if number % ORDERS_PRUNED_EVERY == 0 {
            self.run("DELETE FROM file_orders WHERE number <= ?1", params![number - ORDERS_KEPT])?;
        }
        Ok(())
    }

    /// Deletes the answer to an order that was not carried out after all.
    pub fn delete_answer(&self, key: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM file_orders WHERE key = ?1", params![key])
    }

    /// Records a step: until [`end_step`](Self::end_step), the disk may differ from the history, and `step` says how to
    /// make them equal.
    pub fn begin_step(&self, step: &str) -> Result<i64, StoreError> {
        self.run("INSERT INTO file_steps (step) VALUES (?1)", params![step])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Removes a completed step.
    pub fn end_step(&self, number: i64) -> Result<(), StoreError> {
        self.run("DELETE FROM file_steps WHERE number = ?1", params![number])
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        let mut statement = self.transaction.prepare_cached(sql).map_err(failed("write the history"))?;
        statement.execute(values).map(drop).map_err(failed("write the history"))
    }
}

fn failed(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    StoreError::while_doing(doing)
}

fn version(row: &Row<'_>) -> rusqlite::Result<FileVersion> {
    Ok(FileVersion {
        number: row.get::<_, i64>(0)?.cast_unsigned(),
        time_ms: row.get::<_, i64>(1)?.cast_unsigned().min(LATEST_MS),
        author: row.get(2)?,
        activation: row.get(3)?,
        order_key: row.get(4)?,
        chars: row.get::<_, i64>(5)?.cast_unsigned(),
    })
}

fn head(row: &Row<'_>) -> rusqlite::Result<FileHead> {
    Ok(FileHead {
        file: row.get(0)?,
        path: row.get(1)?,
        is_there: row.get::<_, String>(2)? == "there",
        version: row.get::<_, i64>(3)?.cast_unsigned(),
        hash: row.get::<_, i64>(4)?.cast_unsigned(),
        size: row.get::<_, i64>(5)?.cast_unsigned(),
        modified_ns: row.get(6)?,
    })
}
