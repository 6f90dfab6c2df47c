//! The limits within which the code of a command is followed, and what lies beyond: a person is told, and asked each time.

use std::cell::RefCell;
use std::collections::BTreeSet;

/// The number of reasons that are kept; more are counted.
const MAX_REASONS: usize = 5;

/// The limits within which the code of a command is followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::gateway) struct CodeLimits {
    /// The number of files that one command loads.
    pub(in crate::gateway) loaded: usize,
    /// The number of names that are looked up for one command.
    pub(super) references: usize,
    /// The number of names that are looked up for one file.
    pub(super) references_of_file: usize,
    /// The number of files in which one is found by its name alone.
    pub(in crate::gateway) files: usize,
    /// The number of files and folders that are listed for one command.
    pub(in crate::gateway) entries: usize,
    /// The number of files that one name or pattern can mean.
    pub(in crate::gateway) meant: usize,
    /// The depth of folders.
    pub(in crate::gateway) depth: usize,
    /// The number of bytes of a file in which names of other files are looked for.
    pub(super) script_bytes: usize,
    /// The number of bytes of a file from which it is identified by its first part and its length.
    pub(super) hashed_bytes: u64,
}

impl Default for CodeLimits {
    fn default() -> Self {
        Self {
            loaded: 500,
            references: 20_000,
            references_of_file: 2_000,
            files: 50_000,
            entries: 200_000,
            meant: 100,
            depth: 16,
            script_bytes: 256 * 1024,
            hashed_bytes: 256 * 1024 * 1024,
        }
    }
}

/// Why the code of a command could not be followed whole.
#[derive(Debug, Default)]
pub(in crate::gateway) struct CodeGaps {
    reasons: RefCell<BTreeSet<String>>,
}

impl CodeGaps {
    /// Adds a reason, as a clause such as "more than 500 files are loaded".
    pub(in crate::gateway) fn add(&self, reason: impl Into<String>) {
        self.reasons.borrow_mut().insert(reason.into());
    }

    /// All reasons as one clause; `None` if there are none.
    pub(in crate::gateway) fn described(&self) -> Option<String> {
        let reasons = self.reasons.borrow();
        let named: Vec<&str> = reasons.iter().take(MAX_REASONS).map(String::as_str).collect();
        let more = reasons.len().saturating_sub(MAX_REASONS);
        let more = if more > 0 { format!("; and {more} more reasons") } else { String::new() };
        (!named.is_empty()).then(|| format!("{}{more}", named.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_named_once_and_the_rest_is_counted() {
        let gaps = CodeGaps::default();
        assert_eq!(gaps.described(), None);
        for number in [3, 1, 2, 1] {
            gaps.add(format!("reason {number}"));
        }
        assert_eq!(gaps.described().as_deref(), Some("reason 1; reason 2; reason 3"));
        (4..9).for_each(|number| gaps.add(format!("reason {number}")));
        assert!(gaps.described().is_some_and(|reasons| reasons.ends_with("reason 5; and 3 more reasons")));
    }
}
