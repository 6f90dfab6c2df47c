//! The keys as they are now: read again when a person has changed a file that they come from.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Environment, FilesStamp, Keys};

/// The keys as they are now, for every thread that needs them. Clones share them.
#[derive(Clone, Default)]
pub(in crate::gateway) struct CurrentKeys {
    reader: Arc<Mutex<Option<KeyReader>>>,
    /// The environment after the last change by a person, until the world has it.
    changed: Arc<Mutex<Option<Environment>>>,
}

impl CurrentKeys {
    /// Returns the keys and the environment that they belong to; `environment` is what the process began with. Reads
    /// files, so it must not be called on the thread of the world.
    pub(in crate::gateway) fn read(&self, environment: &Environment) -> (Arc<Keys>, Environment) {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = reader.get_or_insert_with(|| KeyReader::new(environment.clone()));
        let (keys, is_changed) = reader.read();
        let environment = reader.environment.clone();
        if is_changed {
            *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = Some(environment.clone());
        }
        (keys, environment)
    }

    /// Whether the keys have been read.
    pub(in crate::gateway) fn has_read(&self) -> bool {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Removes and returns the environment if a person has changed keys or addresses since the last call.
    pub(in crate::gateway) fn take_changed(&self) -> Option<Environment> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reads keys, and keeps them until one of their files changes.
struct KeyReader {
    environment: Environment,
    known: Option<(FilesStamp, Arc<Keys>)>,
}

impl KeyReader {
    /// Creates a reader that has read nothing yet.
    fn new(environment: Environment) -> Self {
        Self { environment, known: None }
    }

    /// Returns the keys, and whether a person has changed them since the last reading. Reads files.
    fn read(&mut self) -> (Arc<Keys>, bool) {
        let stamp = self.environment.stamp();
        if let Some((known, keys)) = &self.known
            && *known == stamp
        {
            return (keys.clone(), false);
        }
        if self.known.is_some() {
            self.environment = std::mem::take(&mut self.environment).read_again();
        }
        let (keys, problems) = Keys::load(&self.environment);
        for problem in problems {
            tracing::warn!("{}", keys.redact(&problem.to_string()));
        }
        let keys = Arc::new(keys);
        let is_changed = self.known.replace((stamp, keys.clone())).is_some();
        (keys, is_changed)
    }
}
