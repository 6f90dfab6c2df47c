//! Which tests need a feature of the program. Without it they are ignored, and the feature is printed.

use libtest_mimic::Trial;

/// A feature that is on by default, whether this program was built with it, and the tests that need it: whole modules,
/// or single tests.
struct Feature {
    name: &'static str,
    is_built_in: bool,
    needed_by: &'static [&'static str],
}

const FEATURES: [Feature; 2] = [
    Feature {
        name: "worktrees",
        is_built_in: cfg!(feature = "worktrees"),
        needed_by: &[
            "worktrees::",
            "honest_endings::changes_that_conflict_are_a_failure_and_a_problem",
            "honest_endings::a_person_can_take_the_version_of_the_agent_after_a_conflict",
            "honest_endings::an_option_never_chooses_between_two_versions",
        ],
    },
    Feature {
        name: "typescript",
        is_built_in: cfg!(feature = "typescript"),
        needed_by: &[
            "agent_command::",
            "agent_modules::",
            "agent_terminal::",
            "documents::",
            "restricted::code_that_a_pull_brings_runs_only_once_it_is_seen",
        ],
    },
];

/// Ignores the tests of features that this program was built without. Fails if a feature names a test that does not
/// exist.
pub fn ignore_missing(trials: Vec<Trial>) -> Vec<Trial> {
    for test in FEATURES.iter().flat_map(|feature| feature.needed_by) {
        let exists = trials.iter().any(|trial| trial.name().starts_with(test));
        // Some modules are not for every system.
        assert!(exists || !cfg!(unix), "no test is called {test}");
    }
    let missing: Vec<&Feature> = FEATURES.iter().filter(|feature| !feature.is_built_in).collect();
    for feature in &missing {
        eprintln!("tests are ignored: this program was built without its feature {}", feature.name);
    }
    let needs = |trial: &Trial, feature: &Feature| feature.needed_by.iter().any(|test| trial.name().starts_with(test));
    let ignored = |trial: Trial| {
        if missing.iter().any(|feature| needs(&trial, feature)) { trial.with_ignored_flag(true) } else { trial }
    };
    trials.into_iter().map(ignored).collect()
}
