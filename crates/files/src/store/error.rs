//! Errors of the log, and what a person can do about them.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::base::{Problem, Seq};

/// The source of this layer's problems, relative to the workspace.
pub(super) const PLACE: &str = ".workshop/workshop.db";

/// Why the log could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the workspace open for writing.
    #[error("the workspace is already open{holder} (lock {})", lock.display())]
    InUse {
        /// The path of the lock file.
        lock: PathBuf,
        /// ` in process 4711`, or empty if that is not known.
        holder: String,
    },
    /// The database has a format that this version does not know.
    #[error("{} has format {found}, but this version only supports formats up to {known}", path.display())]
    Newer {
        /// The path of the database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: usize,
    },
    /// There is no database.
    #[error("{} does not exist: nothing has been recorded yet", path.display())]
    NoHistory {
        /// The expected path of the database.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The path of the database.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// SQLite reported an error.
    #[error("could not {doing}: {source}")]
    Database {
        /// The operation.
        doing: &'static str,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file system reported an error.
    #[error("could not use {}: {source}", path.display())]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A value of a run could not be converted to JSON or back.
    #[error("could not {doing}: {source}")]
    Json {
        /// The operation.
        doing: &'static str,
        /// The error of the conversion.
        source: serde_json::Error,
    },
    /// A record has a lower number than one that is already stored, or belongs to no run. Writing it will never
    /// succeed.
    #[error("refused a record out of order: {0}")]
    OutOfOrder(String),
    /// A stored record could not be parsed.
    #[error("record {seq} could not be read: {what}")]
    Unreadable {
        /// The number of the record.
        seq: Seq,
        /// The reason.
        what: String,
    },
    /// There is no run with this name.
    #[error("there is no run {0:?}")]
    UnknownRun(String),
    /// The start of the run, or some of its inputs, are no longer stored.
    #[error("run {0:?} cannot be replayed: its start or some of its inputs were pruned or damaged")]
    Thinned(String),
    /// The history or the workspace was moved or deleted after it was opened.
    #[error("{what}")]
    Displaced {
        /// What is missing, and where.
        what: String,
    },
    /// The room was closed before everything could be written.
    #[error(
        "{events} events could not be written and are lost ({why}); {}workspace files are not affected",
        goes_on_from(*tick)
    )]
    Lost {
        /// The number of lost events.
        events: usize,
        /// The last tick that was written.
        tick: Option<u64>,
        /// The reason.
        why: String,
    },
    /// The records are in memory, but not on disk yet.
    #[error("not written yet: {why}")]
    NotWritten {
        /// The latest error of the writer.
        why: String,
    },
    /// The start of the run can never be written, so that nothing of the run can.
    #[error("the run cannot be recorded: {why}")]
    RunRefused {
        /// The error of the database.
        why: String,
    },
    /// The writer thread has stopped.
    #[error("the writer has stopped")]
    Stopped,
}

impl StoreError {
    /// Adds the operation to an error of SQLite: `.map_err(StoreError::while_doing("read the runs"))`.
    pub(super) fn while_doing(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { doing, source }
    }

    /// Adds the operation to an error of JSON.
    pub(super) fn json(doing: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Json { doing, source }
    }

    /// Adds the path to an error of the file system.
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// Whether the database is damaged, so that it must be set aside.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Database { source, .. } => is_damage(source),
            Self::Json { .. } | Self::Unreadable { .. } => true,
            _ => false,
        }
    }

    /// Whether the database is on a read-only file system.
    pub(super) fn is_read_only(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        matches!(
            source.sqlite_error_code(),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
        )
    }

    /// Whether the disk is full.
    pub(super) fn is_full(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        source.sqlite_error_code() == Some(ErrorCode::DiskFull)
    }

    /// Whether writing the same data can never succeed.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::OutOfOrder(_) | Self::Json { .. } => true,
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
            ),
            _ => false,
        }
    }

    /// Returns what a person can do about the error.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::InUse { .. } => "close the other window or stop the other command, then try again",
            Self::Newer { .. } => {
                "open the workspace with the newer version, or move .workshop/ away: this loses the history, \
                    positions, memories and unfinished work, but no workspace files"
            }
            Self::NoHistory { .. } => "open the room once with `workshop run` or the window",
            error if error.is_damage() => {
                "open the workspace in the window or with `workshop run`: this moves the damaged file aside and copies \
                    everything readable into a new one"
            }
            error if error.is_full() => "free up disk space, then try again",
            error if error.is_read_only() => "make .workshop/ writable, or copy the workspace to a writable place",
            Self::Database { .. } | Self::File { .. } | Self::NotWritten { .. } => {
                "check that the disk has free space and that .workshop/ is writable"
            }
            Self::RunRefused { .. } => {
                "move .workshop/ away, and open the workspace again: this loses the history, positions, memories and \
                    unfinished work, but no workspace files"
            }
            Self::Lost { .. } => "free up disk space and make .workshop/ writable before you open the room again",
            Self::UnknownRun(_) => "list the runs with `workshop replay`",
            Self::Thinned(_) => {
                "its remaining events can still be exported; raise history.max_replayable_runs and history.max_inputs in \
                    settings.yaml to keep more of future runs"
            }
            Self::Displaced { .. } => "close the room; move the folder back, or open the workspace at its new location",
            Self::Damaged { .. }
            | Self::Json { .. }
            | Self::OutOfOrder(_)
            | Self::Unreadable { .. }
            | Self::Stopped => "this is a bug: export the log and report it",
        }
    }

    /// Returns the error as a problem, for the person who can fix it.
    pub fn problem(&self) -> Problem {
        Problem::error(PLACE, self.to_string(), self.remedy())
    }
}

fn goes_on_from(tick: Option<u64>) -> String {
    tick.map_or_else(String::new, |tick| format!("when reopened, the room continues from tick {tick}; "))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => true,
        Error::SqliteFailure(code, words) => {
            matches!(code.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                || words.as_deref().is_some_and(|words| words.starts_with("no such ") || words.contains("malformed"))
        }
        _ => false,
    }
}
