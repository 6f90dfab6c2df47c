//! A cache of code whose types were already removed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::program::{Program, StripError};
use super::strip::strip;

/// The number of programs that are cached: more than a room has frequently called tools.
const PROGRAMS_KEPT: usize = 512;

/// Caches programs by their source, so that a tool that is called again is not parsed again.
#[derive(Default, Debug)]
pub struct ProgramCache {
    kept: Mutex<HashMap<Arc<str>, CachedProgram>>,
}

#[derive(Clone, Debug)]
struct CachedProgram {
    program: Result<Arc<Program>, StripError>,
    /// When it was last used, counted in uses.
    used: u64,
}

impl ProgramCache {
    /// Returns the program of this code, and parses it if it is new. Parsing takes milliseconds, so this must not be
    /// called on a rendering thread.
    pub fn program(&self, code: &str, bytes_at_most: usize) -> Result<Arc<Program>, StripError> {
        if let Some(program) = self.known(code) {
            return program;
        }
        let program = strip(code, bytes_at_most).map(Arc::new);
        if code.len() <= bytes_at_most {
            self.keep(code, program.clone());
        }
        program
    }

    fn known(&self, code: &str) -> Option<Result<Arc<Program>, StripError>> {
        let mut kept = self.kept.lock().ok()?;
        let now = kept.values().map(|kept| kept.used).max().unwrap_or(0) + 1;
        let found = kept.get_mut(code)?;
        found.used = now;
        Some(found.program.clone())
    }

    fn keep(&self, code: &str, program: Result<Arc<Program>, StripError>) {
        let Ok(mut kept) = self.kept.lock() else { return };
        if kept.len() >= PROGRAMS_KEPT
            && let Some(oldest) = kept.iter().min_by_key(|(_, kept)| kept.used).map(|(code, _)| code.clone())
        {
            kept.remove(&oldest);
        }
        let used = kept.values().map(|kept| kept.used).max().unwrap_or(0) + 1;
        kept.insert(code.into(), CachedProgram { program, used });
    }
}

#[cfg(all(test, feature = "typescript"))]
mod tests {
    use super::*;

    #[test]
    fn parsed_code_is_cached_and_the_least_recently_used_is_evicted() {
        let cache = ProgramCache::default();
        let first = cache.program("export const a = 1;", 100).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.program("export const a = 1;", 100).unwrap()));
        let program = first.clone();
        for number in 0..PROGRAMS_KEPT - 1 {
            cache.keep(&number.to_string(), Ok(program.clone()));
        }
        assert!(cache.known("export const a = 1;").is_some());
        cache.keep("one more", Ok(program));
        assert!(cache.known("export const a = 1;").is_some(), "it was used last");
        assert!(cache.known("0").is_none());
    }
}
