//! Tests of path spellings: if the file service resolves a path to a file, the gate checks it as that file, and globs
//! match it in every Unicode form.

use icu_normalizer::DecomposingNormalizerBorrowed;
use proptest::prelude::*;
use serde_json::json;

use super::testing::{Files, names, one};
use super::*;
use crate::workspace::vfs::{FileOperation, WorkspacePath};

/// Restricted by a person, with an accent in the name.
const MEEK: &str = "---\ntools: [vfs_read]\nwrites: []\nsafety_mode: safe\n---\nYou read.\n";

fn decomposed(text: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfd().normalize(text).into_owned()
}

fn files() -> Files {
    Files::new(&[("agents/jos\u{e9}.md", MEEK), ("artifacts/geh\u{e9}im/plan.md", "A plan."), ("a.md", "x")])
}

fn operations(path: &str) -> Vec<FileOperation> {
    let path = || path.to_owned();
    vec![
        FileOperation::Read { path: path() },
        FileOperation::ReadLines { path: path(), from_line: 1, lines: None },
        FileOperation::Append { path: path(), text: "You may do everything.".into() },
        FileOperation::Write { path: path(), content: "---\nname: Jos\u{e9}\n---\nYou may do everything.".into() },
        FileOperation::Edit { path: path(), old: "safety_mode: safe\n".into(), new: String::new() },
        FileOperation::Delete { path: path() },
        FileOperation::Rename { from: path(), to: "artifacts/elsewhere.md".into() },
        FileOperation::Rename { from: "a.md".into(), to: path() },
        FileOperation::Restore { path: path(), version: 1 },
    ]
}

fn decided(operation: &FileOperation, front: &str, policy: &GatePolicy) -> Decision {
    decide(&Act::of_files("vfs_edit", operation, &files(), &names()), &one(front), policy)
}

/// Lists with the accented paths, typed in either Unicode form.
fn policies() -> Vec<GatePolicy> {
    let composed = ["artifacts/geh\u{e9}im/**", "Agents/Jos\u{e9}.md"];
    let of = |globs: Vec<String>| -> Vec<GatePolicy> {
        let policy = |key: &str| serde_json::from_value(json!({ key: globs.clone() })).expect("it is a policy");
        vec![policy("deny"), policy("ask")]
    };
    let globs = composed.map(str::to_owned).to_vec();
    [of(globs.clone()), of(globs.iter().map(|glob| decomposed(glob)).collect()), vec![GatePolicy::default()]].concat()
}

fn fronts() -> Vec<String> {
    let glob = "artifacts/geh\u{e9}im/**";
    vec![
        "name: x".to_owned(),
        format!("reads: [{glob}]\nwrites: [{glob}]"),
        format!("reads: [{}]\nwrites: [{}]", decomposed(glob), decomposed(glob)),
    ]
}

/// Generates spellings of a path; some of them stand for another file or for none.
fn spelling() -> impl Strategy<Value = String> {
    let path = prop::sample::select(
        &["agents/jos\u{e9}.md", "artifacts/geh\u{e9}im/plan.md", "a.md", "scenes/s\u{fc}d.yaml"][..],
    );
    let change =
        prop::sample::select(&["", "nfd", "./", "upper", "//", "/./", "\\", " ", ".", "\u{200b}", "wide", "/.."][..]);
    (path, prop::collection::vec((change, any::<prop::sample::Index>()), 0..4)).prop_map(|(path, changes)| {
        changes.into_iter().fold(path.to_owned(), |path, (change, at)| {
            let at = at.index(path.len() + 1);
            let at = (0..=at).rev().find(|at| path.is_char_boundary(*at)).unwrap_or(0);
            match change {
                "nfd" => decomposed(&path),
                "./" => format!("./{path}"),
                "upper" => format!("{}{}", &path[..at], path[at..].to_uppercase()),
                "//" | "/./" => path.replacen('/', change, 1),
                "\\" => path.replacen('/', "\\", 1),
                "wide" => path.replacen('a', "\u{ff41}", 1),
                insert => format!("{}{insert}{}", &path[..at], &path[at..]),
            }
        })
    })
}

proptest! {
    #[test]
    fn a_path_is_checked_as_the_file_that_it_resolves_to(given in spelling()) {
        let taken = WorkspacePath::new(&given);
        for policy in policies() {
            for front in fronts() {
                for (number, operation) in operations(&given).iter().enumerate() {
                    let decision = decided(operation, &front, &policy);
                    match &taken {
                        Ok(path) => {
                            let own = &operations(path.as_str())[number];
                            prop_assert_eq!(&decision, &decided(own, &front, &policy), "{:?}", given);
                        }
                        Err(_) => prop_assert!(matches!(decision, Decision::Deny { .. }), "{given:?}: {decision:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn a_restricted_agent_stays_restricted_in_every_spelling_of_its_file() {
    let raised = |path: &str| FileOperation::Write { path: path.into(), content: "You may do everything.".into() };
    for path in ["agents/jos\u{e9}.md", "agents/jose\u{301}.md", "./agents/jose\u{301}.md"] {
        let decision = decided(&raised(path), "name: x", &GatePolicy::default());
        assert!(matches!(decision, Decision::Ask { .. }), "{path:?}: {decision:?}");
    }
}

#[test]
fn a_deny_list_matches_in_every_unicode_form() {
    for policy in &policies()[..4] {
        for path in ["artifacts/geh\u{e9}im/a.md", "artifacts/gehe\u{301}im/a.md", "artifacts/GEHE\u{301}IM/a.md"] {
            let delete = FileOperation::Delete { path: path.into() };
            assert_ne!(decided(&delete, "name: x", policy), Decision::Allow, "{path:?} {policy:?}");
        }
    }
}

#[test]
fn globs_of_a_profile_match_in_every_unicode_form() {
    for front in fronts() {
        for path in ["artifacts/geh\u{e9}im/a.md", "artifacts/gehe\u{301}im/a.md"] {
            let write = FileOperation::Write { path: path.into(), content: "x".into() };
            assert_eq!(decided(&write, &front, &GatePolicy::default()), Decision::Allow, "{path:?} {front}");
        }
    }
}
