//! Marks that tie a rule of the product to the test that keeps it: `rule!` stands in the branch that carries out the
//! rule, and `checks_rule!` at the start of its test, which fails if that branch was not reached.
//!
//! `docs/rules.md` lists every rule; it is made from the comments above the marks. Each thread counts for itself, and only
//! while a test on it checks a rule, so that a test that runs beside cannot satisfy a check. Nothing that the program
//! computes depends on the counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Whether branches are counted: only in builds with debug assertions, such as those of tests.
pub const ARE_COUNTED: bool = cfg!(debug_assertions);

/// What the tests on a thread count.
#[derive(Default)]
struct Counts {
    /// The number of checks that are running.
    checks: usize,
    /// How often the branch of each rule was reached while a check was running.
    reached: BTreeMap<&'static str, u64>,
}

thread_local! {
    static COUNTS: RefCell<Counts> = RefCell::default();
}

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

/// Makes a test fail if it ends without having reached the branch of this rule on its own thread. It stands at the start
/// of the test.
#[macro_export]
macro_rules! checks_rule {
    ($name:literal) => {
        let _check = $crate::base::rule_marks::RuleCheck::start($name);
    };
}

/// Counts that the branch of a rule was reached, if a check is running on this thread.
pub fn note_reached(rule: &'static str) {
    // A thread that is ending checks nothing.
    let _ = COUNTS.try_with(|counts| {
        let mut counts = counts.borrow_mut();
        if counts.checks > 0 {
            *counts.reached.entry(rule).or_default() += 1;
        }
    });
}

fn count(rule: &str) -> u64 {
    COUNTS.with_borrow(|counts| counts.reached.get(rule).copied().unwrap_or_default())
}

/// A test's check that the branch of a rule is reached on its thread before it ends.
#[derive(Debug)]
#[must_use = "the check ends when this is dropped"]
pub struct RuleCheck {
    rule: &'static str,
    count_before: u64,
    /// It stays on the thread that counts for it.
    thread: PhantomData<*const ()>,
}

impl RuleCheck {
    /// Starts the check.
    pub fn start(rule: &'static str) -> Self {
        COUNTS.with_borrow_mut(|counts| counts.checks += 1);
        Self { rule, count_before: count(rule), thread: PhantomData }
    }
}

impl Drop for RuleCheck {
    fn drop(&mut self) {
        let is_reached = count(self.rule) > self.count_before;
        COUNTS.with_borrow_mut(|counts| counts.checks -= 1);
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
    fn a_check_passes_if_the_branch_was_reached() {
        let _check = RuleCheck::start("reached-by-a-test");
        note_reached("reached-by-a-test");
    }

    #[test]
    fn a_check_is_not_satisfied_by_a_test_that_runs_beside_it() {
        let outcome = catch_unwind(|| {
            let check = RuleCheck::start("reached-beside");
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _its_own = RuleCheck::start("reached-beside");
                    note_reached("reached-beside");
                });
            });
            drop(check);
        });
        assert_eq!(outcome.is_err(), ARE_COUNTED);
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
