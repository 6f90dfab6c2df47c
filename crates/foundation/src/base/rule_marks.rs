//! Marks that tie a rule of the product to the test that keeps it: `rule!` stands in the branch that carries out the
//! rule, and `checks_rule!` at the start of its test, which fails if that branch was not reached.
//!
//! `docs/rules.md` lists every rule; it is made from the comments above the marks. Branches are only counted while a
//! test checks a rule, and nothing that the program computes depends on the counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether branches are counted: only in builds with debug assertions, such as those of tests.
pub const ARE_COUNTED: bool = cfg!(debug_assertions);

/// The number of checks that are running.
static CHECKS: AtomicUsize = AtomicUsize::new(0);
/// How often the branch of each rule was reached, on any thread, while a check was running.
static REACHED: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Marks the branch that carries out a rule of the product, such as `rule!("keys-are-sent-encrypted");`. The comment
/// directly above it is the rule as a sentence for users.
#[macro_export]
macro_rules! rule {
    ($name:literal) => {
        if $crate::base::rule_marks::ARE_COUNTED {
            $crate::base::rule_marks::note_reached($name);
        }
    };
}

/// Makes a test fail if it ends without having reached the branch of this rule. It stands at the start of the test.
#[macro_export]
macro_rules! checks_rule {
    ($name:literal) => {
        let _check = $crate::base::rule_marks::RuleCheck::start($name);
    };
}

/// Counts that the branch of a rule was reached, if a check is running.
pub fn note_reached(rule: &'static str) {
    if CHECKS.load(Ordering::Relaxed) > 0 {
        *counts().entry(rule).or_default() += 1;
    }
}

fn counts() -> MutexGuard<'static, BTreeMap<&'static str, u64>> {
    REACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(rule: &str) -> u64 {
    counts().get(rule).copied().unwrap_or_default()
}

/// A test's check that the branch of a rule is reached before it ends. Tests that run at the same time share the
/// counts, so that another one may have reached the branch: each test also asserts by itself what the rule promises.
#[derive(Debug)]
#[must_use = "the check ends when this is dropped"]
pub struct RuleCheck {
    rule: &'static str,
    count_before: u64,
}

impl RuleCheck {
    /// Starts the check.
    pub fn start(rule: &'static str) -> Self {
        CHECKS.fetch_add(1, Ordering::Relaxed);
        Self { rule, count_before: count(rule) }
    }
}

impl Drop for RuleCheck {
    fn drop(&mut self) {
        let is_reached = count(self.rule) > self.count_before;
        CHECKS.fetch_sub(1, Ordering::Relaxed);
        // A second panic would end the process and hide the first.
        if ARE_COUNTED && !is_reached && !std::thread::panicking() {
            panic!("the branch with rule!({:?}) was not reached, so this test does not check that rule", self.rule);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_check_passes_if_the_branch_was_reached_on_any_thread() {
        let _check = RuleCheck::start("reached-by-a-test");
        std::thread::scope(|scope| {
            scope.spawn(|| note_reached("reached-by-a-test"));
        });
    }

    #[test]
    fn a_check_fails_if_the_branch_was_not_reached_since_it_began() {
        let _other = RuleCheck::start("reached-too-early");
        note_reached("reached-too-early");
        let outcome = catch_unwind(|| drop(RuleCheck::start("reached-too-early")));
        assert_eq!(outcome.is_err(), ARE_COUNTED);
    }

    #[test]
    fn a_test_that_fails_by_itself_keeps_its_own_message() {
        let outcome: std::thread::Result<()> = catch_unwind(|| {
            let _check = RuleCheck::start("never-reached");
            panic!("its own");
        });
        let message = outcome.expect_err("it panics").downcast_ref::<&str>().copied();
        assert_eq!(message, Some("its own"));
    }
}
