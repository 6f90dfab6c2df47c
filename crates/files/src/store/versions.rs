//! The versions of the workspace's files: a separate connection next to the log's, for the thread that writes files. It
//! stores texts, numbers and authors; their meaning is up to the caller.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::compression::{pack, unpack};
use super::db::{self, NUMBER_AT_MOST};
use super::error::StoreError;
use super::location::{DatabaseLocation, LocationStatus, path_in};
use super::reader::LATEST_MS;
use crate::base::hash::content_hash;
use crate::log::now_ms;

/// Shorter texts are kept as they are.
const PACK_FROM_BYTES: usize = 512;
/// Orders whose answers are kept.
const ORDERS_KEPT: i64 = 20_000;
/// How often the oldest orders are thrown away.
const ORDERS_PRUNED_EVERY: i64 = 256;

/// How long it may take to rewrite a history that was deleted under the room.
const ANEW_WITHIN: Duration = Duration::from_secs(5);
/// How often is looked whether it is.
const ANEW_LOOK: Duration = Duration::from_millis(20);

/// The current entry of a file in the history.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileHead {
    /// Names the file for ever, whatever its path.
    pub file: i64,
    /// Its path, or the one that it had.
    pub path: String,
    /// Whether it is there.
    pub is_there: bool,
    /// The number of its newest version; 0 where it has none.
    pub version: u64,
    /// The hash of that version's text.
    pub hash: u64,
    /// Bytes on disk when it was last looked at.
    pub size: u64,
    /// When it was last written, as the disk said then, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// A version without its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileVersion {
    /// Counted from 1 per file.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// Who wrote it.
    pub author: String,
    /// As part of which piece of work.
    pub activation: Option<String>,
    /// By which order.
    pub order_key: Option<String>,
    /// Characters of the text.
    pub chars: u64,
}

/// A version to be stored.
#[derive(Clone, Copy, Debug)]
pub struct VersionDraft<'a> {
    /// Who wrote it.
    pub author: &'a str,
    /// As part of which piece of work.
    pub activation: Option<&'a str>,
    /// By which order.
    pub order_key: Option<&'a str>,
    /// The whole text.
    pub text: &'a str,
}

/// How durable a transaction must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// It outlives the process.
    Process,
    /// It outlives a failure of power: waits for the disk.
    Power,
}

/// The open history of files.
pub struct FileVersions {
    connection: Connection,
    surety: Durability,
    /// Where it lies; none where it is only read.
    place: Option<DatabaseLocation>,
}

impl FileVersions {
    /// Opens the history in this `.workshop` folder for writing; makes it if it is not there. Only whoever holds
    /// the workspace ([`super::Store`]) may do so.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(StoreError::file(dir))?;
        let connection = db::open_beside(&path_in(dir))?;
        Ok(Self { connection, surety: Durability::Process, place: Some(DatabaseLocation::of(dir)?) })
    }

    /// Opens it for reading, whether or not someone writes it.
    pub fn open_to_read(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: db::open_read_only(dir)?, surety: Durability::Process, place: None })
    }

    /// Every file that is there or gone, in order of paths.
    pub fn heads(&self) -> Result<Vec<FileHead>, StoreError> {
        let sql = "SELECT number, path, state, newest, hash, size, modified_ns FROM files \
                   WHERE state <> 'displaced' ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read the files"))?;
        let mut rows = statement.query([]).map_err(failed("read the files"))?;
        let mut heads = Vec::new();
        while let Some(row) = rows.next().map_err(failed("read the files"))? {
            match head(row) {
                Ok(head) => heads.push(head),
                // One row that cannot be read costs one file its history, and no other.
                Err(error) => tracing::warn!("skipped the damaged history of a file: {error}"),
            }
        }
        Ok(heads)
    }

    /// The file at a path, be it gone.
    pub fn head(&self, path: &str) -> Result<Option<FileHead>, StoreError> {
        let sql = "SELECT number, path, state, newest, hash, size, modified_ns FROM files \
                   WHERE state <> 'displaced' AND path = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read a file"))?;
        statement.query_row([path], head).optional().map_err(failed("read a file"))
    }

    /// The versions of a file, the newest first.
    pub fn versions(&self, file: i64) -> Result<Vec<FileVersion>, StoreError> {
        let sql = "SELECT number, time_ms, author, activation, order_key, chars FROM file_versions \
                   WHERE file = ?1 ORDER BY number DESC";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read versions"))?;
        let rows = statement.query_map([file], version);
        rows.and_then(Iterator::collect).map_err(failed("read versions"))
    }

    /// The text of a version, if it is kept.
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

    /// Permanently removes the histories of some files, selected by their path or by a text that they once had. For a
    /// copy that leaves the workspace.
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
            // Deleted data stays in the file until it is rewritten.
            self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed(doing))?;
        }
        Ok(dropped)
    }

    /// What was answered to the order with this key, and the number of what it asked for.
    pub fn answer(&self, key: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT what, answer FROM file_orders WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed("read an order"))?;
        let found = statement.query_row([key], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)));
        found.optional().map_err(failed("read an order"))
    }

    /// What may not have reached the disk, oldest first, by number.
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

    /// Changes the history: all that `act` does, or nothing.
    pub fn change<T>(
        &mut self,
        surety: Durability,
        act: impl FnOnce(&FileChanges<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.look_after_place()?;
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

    /// If the history was deleted under the room, the log rewrites it within a moment: everything from then on must be
    /// written there.
    fn look_after_place(&mut self) -> Result<(), StoreError> {
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
                    return place.trouble(standing).map_or(Ok(()), Err);
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
    /// A file that the history did not know; it has no version yet.
    pub fn add_file(&self, path: &str) -> Result<i64, StoreError> {
        let sql = "INSERT INTO files (path, state, newest, hash, size, modified_ns) VALUES (?1, 'there', 0, 0, 0, 0)";
        self.run(sql, params![path])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// A version on top of those that there are; says its number. The file is there from now on.
    pub fn add_version(&self, file: i64, draft: &VersionDraft<'_>) -> Result<u64, StoreError> {
        // A number that no file reaches is damage: counting continues after the existing versions.
        let sql = "UPDATE files SET hash = ?2, state = 'there', newest = 1 + \
                   CASE WHEN newest BETWEEN 0 AND ?3 THEN newest ELSE coalesce( \
                       (SELECT max(number) FROM file_versions WHERE file = ?1 AND number <= ?3), 0) END \
                   WHERE number = ?1 RETURNING newest";
        let hash = content_hash(draft.text.as_bytes()).cast_signed();
        let mut statement = self.transaction.prepare_cached(sql).map_err(failed("write a version"))?;
        let number: i64 = statement
            .query_row(params![file, hash, NUMBER_AT_MOST], |row| row.get(0))
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

    /// Takes the newest version back, which was never seen; the head is as it was before.
    pub fn take_version_back(&self, file: i64, version: u64, before: Option<&FileHead>) -> Result<(), StoreError> {
        self.drop_version(file, version)?;
        match before {
            Some(head) => self.set_head(head),
            None => self.run("DELETE FROM files WHERE number = ?1", params![file]),
        }
    }

    /// Makes a file's row what this says.
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

    /// Another file gets the path of one that is gone: its history stays, under no path that is in use.
    pub fn displace(&self, file: i64) -> Result<(), StoreError> {
        self.run("UPDATE files SET state = 'displaced' WHERE number = ?1", params![file])
    }

    /// A displaced file has its path again.
    pub fn put_back(&self, file: i64) -> Result<(), StoreError> {
        self.run("UPDATE files SET state = 'gone' WHERE number = ?1", params![file])
    }

    /// Throws a version away that is not the newest.
    pub fn drop_version(&self, file: i64, version: u64) -> Result<(), StoreError> {
        self.run("DELETE FROM file_versions WHERE file = ?1 AND number = ?2", params![file, version.cast_signed()])
    }

    /// Throws away all but so many of the newest versions.
    pub fn prune(&self, file: i64, kept: u64) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM file_versions WHERE file = ?1 AND number <= \
             (SELECT number FROM file_versions WHERE file = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
            params![file, kept.cast_signed()],
        )
    }

    /// Keeps what was answered to an order, and the number of what it asked for.
    pub fn keep_answer(&self, key: &str, what: u64, answer: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO file_orders (key, what, answer) VALUES (?1, ?2, ?3)";
        self.run(sql, params![key, what.cast_signed(), answer])?;
        let number = self.transaction.last_insert_rowid();
        if number % ORDERS_PRUNED_EVERY == 0 {
            self.run("DELETE FROM file_orders WHERE number <= ?1", params![number - ORDERS_KEPT])?;
        }
        Ok(())
    }

    /// Forgets that an order was carried out: it was not.
    pub fn take_answer_back(&self, key: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM file_orders WHERE key = ?1", params![key])
    }

    /// From now on, until [`end_step`](Self::end_step), the disk may not be as recorded; this says how to make it so.
    pub fn begin_step(&self, step: &str) -> Result<i64, StoreError> {
        self.run("INSERT INTO file_steps (step) VALUES (?1)", params![step])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// The disk is as recorded.
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
