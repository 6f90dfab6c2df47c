//! The keys as they are now: read again when a person has changed a file that they come from.

use std::sync::Arc;

use super::{Environment, FilesStamp, Keys};

/// Reads keys, and keeps them until one of their files changes.
pub(in crate::gateway) struct KeyReader {
    environment: Environment,
    known: Option<(FilesStamp, Arc<Keys>)>,
}

impl KeyReader {
    /// Creates a reader that has read nothing yet.
    pub(in crate::gateway) fn new(environment: Environment) -> Self {
        Self { environment, known: None }
    }

    /// Returns the environment as of the last reading.
    pub(in crate::gateway) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether it has read the keys.
    pub(in crate::gateway) fn has_read(&self) -> bool {
        self.known.is_some()
    }

    /// Returns the keys, and whether a person has changed them since the last reading. Reads files.
    pub(in crate::gateway) fn read(&mut self) -> (Arc<Keys>, bool) {
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
