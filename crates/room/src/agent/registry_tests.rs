//! Agent files that are added, changed, moved and removed.

use super::*;

fn text(text: &str) -> FileContent {
    FileContent::Text(text.into())
}

fn apply(profiles: &mut Profiles, tick: u64, changes: &[(&str, FileContent)]) -> Outcome {
    profiles.apply_file_changes(changes.iter().map(|(path, content)| (*path, content)), tick, 60)
}

#[test]
fn files_are_added_and_changed() {
    let mut profiles = Profiles::default();
    let outcome = apply(&mut profiles, 1, &[("agents/ada.md", text("# Ada")), ("boards/x.md", text("x"))]);
    assert_eq!(outcome.changed, BTreeSet::from(["ada".into()]));
    assert_eq!(profiles.path("ada"), Some("agents/ada.md"));
    assert!(apply(&mut profiles, 2, &[("agents/ada.md", text("# Ada"))]).changed.is_empty());
    apply(&mut profiles, 3, &[("agents/ada.md", text("# Bea"))]);
    assert_eq!(profiles.get("ada").unwrap().name, "Bea");
}

#[test]
fn the_last_good_version_stays_while_the_new_text_is_unusable() {
    let mut profiles = Profiles::default();
    apply(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
    for bad in [text("---\nname: [\n"), FileContent::Unusable { what: "not UTF-8".into(), remedy: "save it so".into() }]
    {
        let outcome = apply(&mut profiles, 2, &[("agents/ada.md", bad)]);
        assert!(outcome.changed.is_empty());
        assert_eq!(profiles.get("ada").unwrap().name, "Ada");
        assert_eq!(profiles.problems("agents/ada.md").len(), 1);
    }
    apply(&mut profiles, 3, &[("agents/ada.md", text("# Ada"))]);
    assert_eq!(profiles.problems("agents/ada.md"), []);
}

#[test]
fn a_file_that_is_half_written_leaves_the_last_good_one_in_use() {
    let whole = "---\nname: Critic\ndescription: Reads what others write\ntools: [vfs_read]\n---\nYou criticise.";
    for half in [
        "---\nname: [broken\n---\nhi",
        "---\nname: Critic\ndescription: \"Reads what\n---\nhi",
        "---\nname: Critic\ntools: [vfs_read\n---\nhi",
        "---\nname: Critic\ndescription: it is: so\ntools: {vfs_read: [\n---\nhi",
        "---\nname: Critic\ndescription: Reads",
    ] {
        let mut profiles = Profiles::default();
        apply(&mut profiles, 1, &[("agents/critic.md", text(whole))]);
        let good = profiles.get("critic").unwrap().clone();
        assert!(apply(&mut profiles, 2, &[("agents/critic.md", text(half))]).changed.is_empty(), "{half}");
        assert_eq!(profiles.get("critic").unwrap(), &good, "{half}");
        let problems = profiles.problems("agents/critic.md");
        assert!(problems[0].remedy.ends_with("until then the last good version stays in use"), "{problems:?}");
        // Without a last good version, it may do nothing.
        let mut fresh = Profiles::default();
        apply(&mut fresh, 1, &[("agents/critic.md", text(half))]);
        assert_eq!(fresh.get("critic").unwrap().tools, Some(Vec::new()), "{half}");
        let problems = fresh.problems("agents/critic.md");
        assert!(problems[0].remedy.ends_with("used as instructions, without tools"), "{problems:?}");
    }
}

#[test]
fn the_first_of_two_files_with_one_id_wins_and_the_problem_names_both() {
    let mut profiles = Profiles::default();
    let second = text("---\nid: ada\nname: Second\n---\n");
    apply(&mut profiles, 1, &[("agents/zoe.md", second), ("agents/ada.md", text("# First"))]);
    assert_eq!(profiles.get("ada").unwrap().name, "First");
    let what = &profiles.problems("agents/zoe.md")[0].what;
    assert!(what.contains("agents/ada.md") && what.contains("agents/zoe.md"), "{what}");
    let outcome = apply(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed)]);
    assert_eq!(profiles.get("ada").unwrap().name, "Second");
    assert!(outcome.touched.contains("agents/zoe.md") && profiles.problems("agents/zoe.md").is_empty());
}

#[test]
fn a_renamed_file_is_followed() {
    for later in [0, 60] {
        let mut profiles = Profiles::default();
        apply(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
        let mut renamed = Vec::new();
        if later == 0 {
            let both = [("agents/bea.md", text("# Ada")), ("agents/ada.md", FileContent::Removed)];
            renamed.extend(apply(&mut profiles, 2, &both).renamed);
        } else {
            renamed.extend(apply(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed)]).renamed);
            assert!(profiles.get("ada").is_some());
            let outcome = apply(&mut profiles, 2 + later, &[("agents/bea.md", text("# Ada"))]);
            renamed.extend(outcome.renamed);
        }
        assert_eq!(renamed, [("ada".into(), "bea".into())]);
        assert!(profiles.get("ada").is_none());
    }
}

#[test]
fn a_late_or_different_file_is_a_new_one() {
    let mut profiles = Profiles::default();
    apply(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
    apply(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed), ("agents/bea.md", text("# B"))]);
    assert!(apply(&mut profiles, 63, &[("agents/cy.md", text("# Ada"))]).renamed.is_empty());
    assert!(!profiles.is_defined("ada") && profiles.get("ada").is_some());
    profiles.forget(&BTreeSet::from(["ada".into()]), 10);
    assert!(profiles.get("ada").is_none());
}

#[test]
fn limits_of_a_profile_are_remembered_after_its_file_was_deleted_and_after_reopening() {
    let mut profiles = Profiles::default();
    let meek = text("---\ntools: [vfs_read]\nwrites: []\n---\nYou read.");
    apply(&mut profiles, 1, &[("agents/meek.md", meek.clone())]);
    apply(&mut profiles, 2, &[("agents/meek.md", FileContent::Removed)]);
    profiles.forget(&BTreeSet::from(["meek".into()]), 1_000);
    assert!(profiles.get("meek").is_none(), "nobody runs it");
    let mut reopened: Profiles =
        serde_json::from_str(&serde_json::to_string(&profiles).expect("it can be saved")).expect("it can be read");
    let RemovedProfile::Known(bounds) = reopened.removed_profile("meek") else {
        panic!("{:?}", reopened.removed_profile("meek"))
    };
    assert_eq!(bounds.writes, Some(Vec::new()));
    assert_eq!(bounds.tools, Some(vec!["vfs_read".to_owned()]));
    assert!(bounds.instructions.is_empty(), "its words bound nothing");
    assert_eq!(reopened.removed_profile("other"), RemovedProfile::Never);
    apply(&mut reopened, 2_000, &[("agents/meek.md", meek)]);
    assert_eq!(reopened.removed_profile("meek"), RemovedProfile::Never, "its file says what it may do");
}

#[test]
fn beyond_the_limit_former_profiles_are_unknown_rather_than_absent() {
    let mut profiles = Profiles::default();
    for number in 0..=MAX_FORMER {
        profiles.remember(&format!("a{number}").into(), &AgentProfile::default());
    }
    assert_eq!(profiles.former.len(), MAX_FORMER);
    assert!(matches!(profiles.removed_profile("a0"), RemovedProfile::Known(_)));
    assert_eq!(profiles.removed_profile("new"), RemovedProfile::Unknown);
}

const GONE: FileContent = FileContent::Removed;

#[test]
fn a_renamed_file_is_followed_in_any_order_of_events() {
    for came_first in [true, false] {
        for later in [0, 9, 60] {
            let mut profiles = Profiles::default();
            apply(&mut profiles, 1, &[("agents/one.md", text("# One"))]);
            let (came, gone) = (("agents/first.md", text("# One")), ("agents/one.md", GONE));
            let (a, b) = if came_first { (came, gone) } else { (gone, came) };
            let mut renamed = apply(&mut profiles, 10, &[a]).renamed;
            renamed.extend(apply(&mut profiles, 10 + later, &[b]).renamed);
            assert_eq!(renamed, [("one".into(), "first".into())], "{came_first} {later}");
            assert_eq!(profiles.withdrawn().count(), 0);
            assert!(profiles.get("one").is_none() && profiles.is_defined("first"));
        }
    }
}

#[test]
fn a_file_that_states_its_id_keeps_it_when_moved() {
    for came_first in [true, false] {
        let mut profiles = Profiles::default();
        let (old, new) = (text("---\nid: ada\n---\nOld."), text("---\nid: ada\n---\nNew."));
        apply(&mut profiles, 1, &[("agents/one.md", old)]);
        let (came, gone) = (("agents/team/first.md", new), ("agents/one.md", GONE));
        let (a, b) = if came_first { (came, gone) } else { (gone, came) };
        apply(&mut profiles, 10, &[a]);
        let outcome = apply(&mut profiles, 19, &[b]);
        assert_eq!((outcome.renamed, profiles.path("ada")), (Vec::new(), Some("agents/team/first.md")));
        assert_eq!(profiles.get("ada").unwrap().instructions, "New.");
        assert!(profiles.problems("agents/team/first.md").is_empty() && profiles.withdrawn().count() == 0);
    }
}

#[test]
fn a_file_that_is_moved_into_a_folder_keeps_its_id() {
    for came_first in [true, false] {
        let mut profiles = Profiles::default();
        apply(&mut profiles, 1, &[("agents/two.md", text("# Two"))]);
        let (came, gone) = (("agents/team/two.md", text("# Two")), ("agents/two.md", GONE));
        let (a, b) = if came_first { (came, gone) } else { (gone, came) };
        let mut renamed = apply(&mut profiles, 10, &[a]).renamed;
        renamed.extend(apply(&mut profiles, 19, &[b]).renamed);
        assert!(renamed.iter().all(|(_, to)| &**to == "two"), "{renamed:?}");
        assert_eq!(profiles.path("two"), Some("agents/team/two.md"));
        assert_eq!(profiles.ids().count(), 1);
    }
}

#[test]
fn a_file_being_moved_is_not_reported_as_a_duplicate() {
    for (old, new, front) in
        [("agents/two.md", "agents/team/two.md", ""), ("agents/two.md", "agents/x.md", "---\nid: two\n---\n")]
    {
        let content = || text(&format!("{front}# Two"));
        let mut profiles = Profiles::default();
        apply(&mut profiles, 1, &[(old, content())]);
        profiles.copies_to_report(9);
        apply(&mut profiles, 10, &[(new, content())]);
        let told = |profiles: &Profiles| profiles.with_longer_ids().count() + profiles.problems(new).len();
        assert_eq!(told(&profiles), 0, "{new}");
        assert!(!profiles.has_undecided_moves(10) && profiles.has_undecided_moves(11));
        assert_eq!(profiles.copies_to_report(11), [new]);
        assert_eq!(told(&profiles), 1, "both stay: {new}");
    }
}

#[test]
fn a_copy_is_a_different_agent() {
    let mut profiles = Profiles::default();
    apply(&mut profiles, 1, &[("agents/one.md", text("# One"))]);
    assert!(apply(&mut profiles, 10, &[("agents/copy.md", text("# One"))]).renamed.is_empty());
    assert!(apply(&mut profiles, 99, &[("agents/one.md", GONE)]).renamed.is_empty());
    assert_eq!(profiles.withdrawn().count(), 1);
}

#[test]
fn a_file_in_a_folder_yields_its_id_and_its_agents_follow_it() {
    let mut profiles = Profiles::default();
    apply(&mut profiles, 1, &[("agents/team/two.md", text("# Of the team"))]);
    assert_eq!(profiles.path("two"), Some("agents/team/two.md"));
    assert_eq!(profiles.resolve(&"team-two".into()), "two".into());
    let outcome = apply(&mut profiles, 2, &[("agents/two.md", text("# Alone"))]);
    assert_eq!(outcome.renamed, [("two".into(), "team-two".into())]);
    assert_eq!((profiles.path("two"), profiles.path("team-two")), (Some("agents/two.md"), Some("agents/team/two.md")));
    assert_eq!(profiles.get("team-two").unwrap().id, "team-two".into());
    assert_eq!(profiles.with_longer_ids().count(), 1);
    // An edit does not change any of that, and neither does the removal of the other one.
    apply(&mut profiles, 3, &[("agents/team/two.md", text("# Of a team"))]);
    assert_eq!(profiles.get("team-two").unwrap().name, "Of a team");
    let outcome = apply(&mut profiles, 4, &[("agents/two.md", GONE)]);
    assert_eq!((outcome.renamed, profiles.path("team-two")), (Vec::new(), Some("agents/team/two.md")));
}

#[test]
fn ids_do_not_depend_on_the_order_of_files() {
    let files = ["agents/a/two.md", "agents/b/two.md", "agents/two.md"].map(|path| (path, text(path)));
    let ids = |order: [usize; 3]| {
        let mut profiles = Profiles::default();
        apply(&mut profiles, 1, &order.map(|index| files[index].clone()));
        profiles.ids().map(|id| (id.clone(), profiles.path(id).unwrap().to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(ids([0, 1, 2]), ids([2, 1, 0]));
    assert_eq!(ids([0, 1, 2]), ids([1, 2, 0]));
}

#[test]
fn many_files_are_registered_and_moved_in_one_go() {
    let mut profiles = Profiles::default();
    let files: Vec<(String, FileContent)> =
        (0..5_000).map(|number| (format!("agents/{number}.md"), text(&format!("# {number}")))).collect();
    let outcome = profiles.apply_file_changes(files.iter().map(|(path, content)| (path.as_str(), content)), 1, 60);
    assert_eq!((outcome.changed.len(), outcome.touched.len()), (5_000, 5_000));
    let moved: Vec<(String, FileContent)> = files
        .iter()
        .flat_map(|(path, content)| [(path.clone(), GONE), (path.replace("agents/", "agents/all/"), content.clone())])
        .collect();
    let outcome = profiles.apply_file_changes(moved.iter().map(|(path, content)| (path.as_str(), content)), 2, 60);
    assert!(outcome.renamed.is_empty() && profiles.withdrawn().count() == 0);
    assert_eq!(profiles.path("17"), Some("agents/all/17.md"));
}
