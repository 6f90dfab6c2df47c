//! Data that is stored in addition to the files: vectors, so that no text is embedded twice, and how often each memory
//! was recalled. Everything except the counts can be recomputed, so a damaged database is replaced by a new one.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};
use workshop_foundation::safe_fs::check_own;

use super::embedding::{Embedding, ModelId};
use super::index::RecallCount;
use crate::base::Id;

/// The version of the tables; they are created again if it differs.
const VERSION: i64 = 1;
const TABLES: &str = "
    CREATE TABLE vectors (model TEXT NOT NULL, text_hash INTEGER NOT NULL, scale REAL NOT NULL, levels BLOB NOT NULL,
        PRIMARY KEY (model, text_hash)) WITHOUT ROWID;
    CREATE TABLE recalls (memory TEXT PRIMARY KEY, last INTEGER, times INTEGER NOT NULL) WITHOUT ROWID;";

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// A different kind of file exists at its path.
    #[error("{}: {error}", place.display())]
    Place {
        /// The path.
        place: PathBuf,
        /// The kind of file, and what to do about it.
        error: io::Error,
    },
    /// SQLite reported an error.
    #[error("{}: {error}: free up disk space, or delete the file to have it rebuilt", place.display())]
    Sqlite {
        /// The path.
        place: PathBuf,
        /// The error.
        error: rusqlite::Error,
    },
}

/// The open database.
pub struct Db {
    connection: Connection,
    place: PathBuf,
    was_damaged: bool,
}

impl Db {
    /// Opens the database at a path, or creates it. A damaged one, or one of another version, is replaced.
    pub fn open(place: &Path) -> Result<Self, DbError> {
        let wrong = |error| DbError::Place { place: place.to_owned(), error };
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        let files = ["", "-wal", "-shm"].map(|end| {
            let mut name = place.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        for file in &files {
            check_own(file).map_err(|error| DbError::Place { place: file.clone(), error })?;
        }
        match Connection::open(place).and_then(|connection| prepare(&connection).map(|()| connection)) {
            Ok(connection) => return Ok(Self { connection, place: place.to_owned(), was_damaged: false }),
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(DbError::Sqlite { place: place.to_owned(), error }),
        }
        for file in &files {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(wrong(error)),
                _ => {}
            }
        }
        let opened = Connection::open(place).and_then(|connection| prepare(&connection).map(|()| connection));
        let connection = opened.map_err(|error| DbError::Sqlite { place: place.to_owned(), error })?;
        Ok(Self { connection, place: place.to_owned(), was_damaged: true })
    }

    /// Creates a database in memory.
    pub fn in_memory() -> Result<Self, DbError> {
        let place = PathBuf::from(":memory:");
        let opened = Connection::open_in_memory().and_then(|connection| prepare(&connection).map(|()| connection));
        let connection = opened.map_err(|error| DbError::Sqlite { place: place.clone(), error })?;
        Ok(Self { connection, place, was_damaged: false })
    }

    /// Whether the database was damaged and was replaced, so that the recall counts are lost.
    pub fn was_damaged(&self) -> bool {
        self.was_damaged
    }

    fn note_damage<T>(&self, done: rusqlite::Result<T>) -> Result<T, DbError> {
        done.map_err(|error| DbError::Sqlite { place: self.place.clone(), error })
    }

    /// Performs several changes in one transaction.
    pub(super) fn in_transaction<T>(&self, act: impl FnOnce(&Self) -> Result<T, DbError>) -> Result<T, DbError> {
        let transaction = self.note_damage(self.connection.unchecked_transaction())?;
        let done = act(self)?;
        self.note_damage(transaction.commit())?;
        Ok(done)
    }

    /// Returns the stored vector of a text for this model; `None` for a malformed one.
    pub(super) fn vector(&self, model: &ModelId, dimensions: usize, text: u64) -> Result<Option<Embedding>, DbError> {
        let statement = "SELECT scale, levels FROM vectors WHERE model = ?1 AND text_hash = ?2";
        let found = self.connection.prepare_cached(statement).and_then(|mut statement| {
            let row = statement.query_row(params![&*model.0, text.cast_signed()], |row| {
                Ok((row.get::<_, f64>(0)?, row.get_ref(1)?.as_blob()?.to_vec()))
            });
            row.optional()
        });
        let embedding = |(scale, levels): (f64, Vec<u8>)| {
            let levels: Vec<i8> = levels.into_iter().map(u8::cast_signed).collect();
            Embedding::from_stored(model, dimensions, scale as f32, &levels).ok()
        };
        Ok(self.note_damage(found)?.and_then(embedding))
    }

    /// Returns the dimension of a model's stored vectors, if there are any.
    pub fn dimensions_of(&self, model: &ModelId) -> Result<Option<usize>, DbError> {
        let statement = "SELECT length(levels) FROM vectors WHERE model = ?1 LIMIT 1";
        let found = self.connection.query_row(statement, params![&*model.0], |row| row.get::<_, i64>(0)).optional();
        Ok(self.note_damage(found)?.and_then(|length| usize::try_from(length).ok()))
    }

    /// Stores the vector of a text.
    pub(super) fn keep_vector(&self, text: u64, embedding: &Embedding) -> Result<(), DbError> {
        let levels: Vec<u8> = embedding.levels().iter().map(|level| level.cast_unsigned()).collect();
        let statement = "INSERT OR REPLACE INTO vectors (model, text_hash, scale, levels) VALUES (?1, ?2, ?3, ?4)";
        let kept = self.connection.prepare_cached(statement).and_then(|mut statement| {
            statement.execute(params![&*embedding.model().0, text.cast_signed(), f64::from(embedding.scale()), levels])
        });
        self.note_damage(kept).map(|_| ())
    }

    /// Deletes all vectors.
    pub(super) fn clear_vectors(&self) -> Result<(), DbError> {
        self.note_damage(self.connection.execute("DELETE FROM vectors", [])).map(|_| ())
    }

    /// Returns how often each memory was recalled.
    pub(super) fn recalls(&self) -> Result<HashMap<Id, RecallCount>, DbError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT memory, last, times FROM recalls")?;
            let rows = statement.query_map([], |row| {
                let memory: String = row.get(0)?;
                Ok((Id::from(memory), RecallCount { last: row.get(1)?, times: row.get(2)? }))
            })?;
            rows.collect()
        };
        self.note_damage(read())
    }

    /// Stores how often a memory was recalled.
    pub(super) fn keep_recalls(&self, memory: &str, recalls: RecallCount) -> Result<(), DbError> {
        let statement = "INSERT OR REPLACE INTO recalls (memory, last, times) VALUES (?1, ?2, ?3)";
        let kept = self.connection.prepare_cached(statement);
        let kept = kept.and_then(|mut statement| statement.execute(params![memory, recalls.last, recalls.times]));
        self.note_damage(kept).map(|_| ())
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == VERSION {
        return Ok(());
    }
    connection.execute_batch("DROP TABLE IF EXISTS vectors; DROP TABLE IF EXISTS recalls;")?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
