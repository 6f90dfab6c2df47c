//! Tests of what is kept about a workspace that a person trusts: decisions, widenings and runs.

use proptest::prelude::*;

use crate::gateway::trust::trusted_workspaces::*;

fn widening(value: &str) -> Widening {
    Widening::new("settings.yaml", "commands.network", value, "")
}

/// A config folder and a workspace in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    fn config(&self) -> Option<&Path> {
        Some(self.0.path())
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().join("mine")
    }

    fn known(&self) -> TrustedWorkspace {
        load(self.config(), &self.workspace()).expect("it can be read")
    }

    fn note(&self, run: &str, history: &[String]) {
        note_run(self.config(), &self.workspace(), run, history).expect("it can be saved");
    }

    fn accept(&self, history: &[String]) {
        trust(self.config(), &self.workspace(), [], history).expect("it can be saved");
    }

    /// Whether a saved room with these runs continues.
    fn continues(&self, history: &[String]) -> bool {
        let known = self.known();
        let newest: Vec<&String> = history.iter().take(MAX_RUNS).collect();
        known.known_runs().is_none_or(|runs| newest.iter().all(|run| runs.contains(run)))
    }

    /// Writes a file as an older program did, which noted no runs of a trusted workspace.
    fn write_old(&self) {
        let file = trust(self.config(), &self.workspace(), [widening("true")], &[]).expect("it can be saved");
        let old = TrustedWorkspace { trusted_runs: None, ..self.known() };
        let text = serde_yaml::to_string(&old).expect("it can be written as text");
        assert!(!text.contains("trusted_runs"), "{text}");
        std::fs::write(file, text).expect("it can be written");
        assert!(self.known().is_trusted && self.known().known_runs().is_none());
    }
}

fn names(runs: &[&str]) -> Vec<String> {
    runs.iter().map(ToString::to_string).collect()
}

#[test]
fn a_workspace_is_trusted_by_path_and_content_until_that_is_revoked() {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let (mine, other) = (config.path().join("mine"), config.path().join("other"));
    let config = Some(config.path());
    let of = |workspace: &Path| load(config, workspace).expect("it can be read").trust();
    assert_eq!(of(&mine), WorkspaceTrust::Nothing);
    trust(config, &mine, [widening("true")], &[]).expect("it can be saved");
    assert!(of(&mine).allows(&widening("true")) && !of(&mine).allows(&widening("yes")));
    assert_eq!(of(&other), WorkspaceTrust::Nothing);
    revoke(config, &mine).expect("it can be saved");
    assert_eq!(of(&mine), WorkspaceTrust::Nothing);
}

#[test]
fn an_unreadable_file_trusts_nothing_and_says_so() {
    let config = tempfile::tempdir().expect("a temporary folder can be made");
    let mine = config.path().join("mine");
    let file = trust(Some(config.path()), &mine, [], &[]).expect("it can be saved");
    std::fs::write(file, "[ broken").expect("it can be written");
    let problem = load(Some(config.path()), &mine).expect_err("it cannot be read");
    assert!(problem.what.contains("not trusted"), "{problem}");
    assert_eq!(load(None, &mine).map(|known| known.trust()), Ok(WorkspaceTrust::Nothing));
    let problem = note_run(Some(config.path()), &mine, "r-1", &[]).expect_err("it is not overwritten");
    assert!(problem.what.contains("wait for your trust"), "{problem}");
    trust(Some(config.path()), &mine, [], &[]).expect("a decision replaces it");
}

#[test]
fn only_the_newest_runs_are_kept() {
    let place = Place::new();
    for run in 0..60 {
        place.note(&format!("r-{run}"), &[]);
    }
    let known = place.known();
    let runs = known.known_runs().expect("a restricted workspace has a list");
    assert_eq!((runs.len(), runs.last().map(String::as_str)), (MAX_RUNS, Some("r-59")));
    assert!(known.trust().is_restricted());
}

#[test]
fn runs_that_begin_while_a_workspace_is_restricted_and_trusted_are_kept_apart() {
    let place = Place::new();
    place.note("r-1", &[]);
    assert!(place.continues(&names(&["r-1"])) && !place.continues(&names(&["r-0"])));
    place.accept(&names(&["r-0"]));
    place.note("r-2", &names(&["r-1", "r-0"]));
    assert!(place.continues(&names(&["r-2", "r-1", "r-0"])));
    assert!(!place.continues(&names(&["r-3", "r-2", "r-1", "r-0"])), "a run from elsewhere");
    revoke(place.config(), &place.workspace()).expect("it can be saved");
    assert!(!place.continues(&names(&["r-2"])), "what was saved while it was trusted waits");
}

#[test]
fn a_file_of_an_older_program_knows_the_saved_room_that_is_there_when_the_workspace_is_next_opened() {
    let place = Place::new();
    place.write_old();
    let there = names(&["r-9", "r-8"]);
    assert!(place.continues(&there));
    place.note("r-10", &there);
    assert!(place.continues(&names(&["r-10", "r-9", "r-8"])), "its owner goes on");
    assert!(!place.continues(&names(&["r-11", "r-10", "r-9"])), "from now on, runs are noted");
    assert!(place.known().trust().allows(&widening("true")), "what was trusted stays so");
}

#[test]
fn many_runs_that_never_began_do_not_push_out_those_that_did() {
    for is_trusted in [false, true] {
        let place = Place::new();
        if is_trusted {
            place.accept(&[]);
        }
        let mut history = Vec::new();
        for run in 0..MAX_RUNS {
            place.note(&format!("r-{run}"), &history);
            history.insert(0, format!("r-{run}"));
        }
        for run in 0..3 * MAX_RUNS {
            place.note(&format!("r-never-{run}"), &history);
        }
        assert!(place.continues(&history), "trusted: {is_trusted}");
        assert!(place.known().known_runs().is_some_and(|runs| runs.len() <= 2 * MAX_RUNS));
    }
}

#[test]
fn a_workspace_that_was_moved_brings_the_runs_of_its_earlier_path() {
    let place = Place::new();
    let (other, foreign) = (place.0.path().join("other"), place.0.path().join("foreign"));
    trust(place.config(), &other, [], &names(&["r-1"])).expect("it can be saved");
    note_run(place.config(), &foreign, "r-2", &[]).expect("it can be saved");
    let all = runs_of_all(place.config());
    assert!(all.contains("r-1") && !all.contains("r-2"), "only of workspaces that are trusted: {all:?}");
    assert!(runs_of_all(None).is_empty());
}

#[test]
fn programs_that_begin_runs_and_decide_at_once_are_all_noted() {
    const THREADS: usize = 6;
    const EACH: usize = 5;
    let place = Place::new();
    place.accept(&[]);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let place = &place;
            scope.spawn(move || {
                for index in 0..EACH {
                    place.note(&format!("r-{thread}-{index}"), &[]);
                    let part = BTreeSet::from([format!("part-{thread}-{index}")]);
                    add_parts(place.config(), &place.workspace(), &part).expect("it can be saved");
                }
            });
        }
    });
    let known = place.known();
    let runs: BTreeSet<&String> = known.known_runs().into_iter().flatten().collect();
    assert_eq!((runs.len(), known.parts.len()), (THREADS * EACH, THREADS * EACH), "{known:?}");
}

#[test]
fn what_is_allowed_in_a_room_is_only_added_to_a_workspace_that_is_still_trusted() {
    let place = Place::new();
    let added = BTreeSet::from([widening("true").hash()]);
    let add = || add_parts(place.config(), &place.workspace(), &added).expect("it can be saved");
    assert_eq!(add(), WorkspaceTrust::Nothing);
    assert!(!place.known().is_trusted);
    place.accept(&names(&["r-1"]));
    assert!(add().allows(&widening("true")) && place.known().trust().allows(&widening("true")));
    assert!(place.continues(&names(&["r-1"])));
    revoke(place.config(), &place.workspace()).expect("it can be saved");
    assert_eq!(add(), WorkspaceTrust::Nothing);
}

#[test]
fn a_file_is_read_again_once_it_has_changed() {
    let place = Place::new();
    let mut file = TrustFile::of(place.config(), &place.workspace());
    assert_eq!(file.look(), None);
    place.accept(&[]);
    assert_eq!(file.look(), Some(WorkspaceTrust::Parts { parts: BTreeSet::new() }));
    assert_eq!(file.look(), None);
    let path = revoke(place.config(), &place.workspace()).expect("it can be saved");
    assert_eq!(file.look(), Some(WorkspaceTrust::Nothing));
    std::fs::write(&path, "[ broken").expect("it can be written");
    assert_eq!(file.look(), Some(WorkspaceTrust::Nothing), "an unreadable file trusts nothing");
}

/// What happens to a workspace.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The owner opens it, if it may be opened; the run is saved.
    Open,
    /// The owner opens it, and is killed between the note and the first save.
    KilledBeforeSaving,
    /// The owner starts over from the scene file.
    Fresh,
    /// The owner accepts what is there.
    Accept,
    /// A pull replaces the saved room.
    Pull,
    /// The file is one of an older program from here on.
    OldProgram,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => Just(Act::Open),
        2 => Just(Act::KilledBeforeSaving),
        1 => Just(Act::Fresh),
        1 => Just(Act::Accept),
        1 => Just(Act::Pull),
        1 => Just(Act::OldProgram),
    ];
    proptest::collection::vec(act, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_trusted_room_continues_exactly_if_its_runs_are_the_owners(acts in acts()) {
        let place = Place::new();
        place.accept(&[]);
        // The saved room, the newest run first, and what of it the owner began or accepted.
        let (mut history, mut owned): (Vec<String>, BTreeSet<String>) = Default::default();
        let newest = |history: &[String]| history.iter().take(MAX_RUNS).cloned().collect::<Vec<_>>();
        let mut notes_runs = true;
        for (index, act) in acts.into_iter().enumerate() {
            let run = format!("r-{index}");
            let is_owned = newest(&history).iter().all(|run| owned.contains(run));
            prop_assert_eq!(place.continues(&history), is_owned || !notes_runs, "before {:?} {}", act, index);
            let may_open = place.continues(&history) || matches!(act, Act::Fresh);
            match act {
                Act::Open | Act::Fresh | Act::KilledBeforeSaving if may_open => {
                    if !notes_runs {
                        owned.extend(newest(&history));
                        notes_runs = true;
                    }
                    place.note(&run, &newest(&history));
                    owned.insert(run.clone());
                    if !matches!(act, Act::KilledBeforeSaving) {
                        history.insert(0, run);
                    }
                }
                Act::Open | Act::Fresh | Act::KilledBeforeSaving => {}
                Act::Accept => {
                    place.accept(&newest(&history));
                    owned.extend(newest(&history));
                    notes_runs = true;
                }
                Act::Pull => history = vec![format!("r-pulled-{index}"), format!("r-older-{index}")],
                Act::OldProgram => {
                    place.write_old();
                    notes_runs = false;
                }
            }
        }
    }
}
