//! Tests of what counts as seen: in files that are read, and as the room goes on.

use bevy::ecs::message::Messages;
use bevy::ecs::prelude::*;

use super::*;
use crate::workspace::files::FileContent;

const HEARTBEAT: &str = "# Schedule\n\n- @every: 15m\n\n# On wake\n\n- Look around\n";
const REACHING: &str = "---\ntools: [execute_command]\n---\nYou help.\n";

/// A room in a workspace that the person trusts with what these files want.
fn trusted_room(files: &[(&str, &str)]) -> World {
    let mut world = World::new();
    let parts = files.iter().flat_map(|(path, text)| widenings_of_file(path, text)).map(|widening| widening.hash());
    world.insert_resource(WorkspaceTrust::Parts { parts: parts.collect() });
    world.init_resource::<UnseenAgents>();
    world.init_resource::<Roster>();
    world.init_resource::<Profiles>();
    world.init_resource::<GatePolicy>();
    world.init_resource::<Messages<FileChanged>>();
    world.init_resource::<Messages<TrustAdded>>();
    world.init_resource::<Messages<ProblemReport>>();
    know(&mut world, files);
    run(&mut world);
    world
}

fn know(world: &mut World, files: &[(&str, &str)]) {
    let files: KnownFiles = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    world.insert_resource(files);
}

fn run(world: &mut World) {
    world.run_system_cached(trust_seen_changes).expect("its resources are there");
}

/// What the room trusts in addition after this change.
fn added(world: &mut World, change: FileChanged) -> Vec<String> {
    world.resource_mut::<Messages<TrustAdded>>().clear();
    world.resource_mut::<Messages<ProblemReport>>().clear();
    world.write_message(change);
    run(world);
    let added = world.resource_mut::<Messages<TrustAdded>>().drain().collect::<Vec<_>>();
    added.into_iter().flat_map(|TrustAdded(added)| added).map(|widening| widening.place).collect()
}

fn problems(world: &mut World) -> String {
    let reports = world.resource_mut::<Messages<ProblemReport>>().drain().collect::<Vec<_>>();
    reports.into_iter().flat_map(|report| report.problems).map(|problem| format!("{problem}\n")).collect()
}

fn change(path: &str, text: &str) -> FileChanged {
    FileChanged::new(path, FileContent::Text(text.to_owned()))
}

#[test]
fn heartbeats_triggers_code_and_agents_that_reach_outside_are_widenings() {
    let workflow = "---\nname: Tea\ntrigger: every 2h\n---\n\n## a\n\nagent: ada\n\nMake tea.\n";
    for (path, text) in [
        ("agents/ada/heartbeat.md", HEARTBEAT),
        ("agents/ada/modules/clock.ts", "export default {};\n"),
        ("agents/ada/lib/help.ts", "export const x = 1;\n"),
        ("modules/clock.ts", "export default {};\n"),
        ("agents/ada.md", REACHING),
        ("workflows/tea.md", workflow),
    ] {
        let found = widenings_of_file(path, text);
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert_eq!(found[0].place, path);
    }
    for (path, text) in [
        ("agents/bo.md", "You help.\n"),
        ("agents/ada/heartbeat.md", ""),
        ("agents/ada/modules/clock.d.ts", "declare const x: number;\n"),
        ("tasks/work.task.md", "## todo\n\n- [ ] A @lead \"Do it\"\n"),
    ] {
        assert_eq!(widenings_of_file(path, text), [], "{path}");
    }
}

#[test]
fn one_other_character_of_code_and_another_time_are_other_wishes_and_other_words_are_not() {
    let of = |path, text: &str| widenings_of_file(path, text).remove(0).hash();
    let code = "agents/ada/modules/clock.ts";
    assert_ne!(of(code, "export default {};\n"), of(code, "export default {} ;\n"));
    let path = "agents/ada/heartbeat.md";
    assert_eq!(of(path, HEARTBEAT), of(path, &HEARTBEAT.replace("Look around", "Look twice")));
    assert_ne!(of(path, HEARTBEAT), of(path, &HEARTBEAT.replace("15m", "1m")));
}

#[test]
fn what_a_pull_brings_waits_and_is_reported() {
    let mut world = trusted_room(&[("agents/ada.md", "You help.\n")]);
    assert_eq!(problems(&mut world), "");
    know(&mut world, &[("agents/ada.md", "You help.\n"), ("agents/ada/heartbeat.md", HEARTBEAT)]);
    assert_eq!(added(&mut world, change("agents/ada/heartbeat.md", HEARTBEAT)), [""; 0]);
    let shown = problems(&mut world);
    assert!(shown.contains("agents/ada/heartbeat.md") && shown.contains("workshop trust"), "{shown}");
}

#[test]
fn what_the_person_changes_in_the_program_is_trusted_at_once_and_nothing_that_waited() {
    let mut world = trusted_room(&[]);
    know(&mut world, &[("agents/ada.md", REACHING)]);
    assert_eq!(added(&mut world, change("agents/ada.md", REACHING)), [""; 0], "it was pulled");
    // The person adds a heartbeat, and renames the agent that waits.
    know(&mut world, &[("agents/ada.md", REACHING), ("agents/ada/heartbeat.md", HEARTBEAT)]);
    let seen = |path, text| FileChanged { is_seen: true, ..change(path, text) };
    assert_eq!(added(&mut world, seen("agents/ada/heartbeat.md", HEARTBEAT)), ["agents/ada/heartbeat.md"]);
    know(&mut world, &[("agents/zoe.md", REACHING)]);
    world.write_message(FileChanged { is_seen: true, ..FileChanged::new("agents/ada.md", FileContent::Removed) });
    assert_eq!(added(&mut world, seen("agents/zoe.md", REACHING)), [""; 0], "it goes on waiting under another name");
}

#[test]
fn what_is_imported_put_back_or_moved_from_elsewhere_waits() {
    let seen =
        || FileChanged { is_seen: true, is_ordered: true, version: Some(1), ..change("agents/zoe.md", REACHING) };
    for (what, change, expected) in [
        ("written in the program", seen(), &["agents/zoe.md"][..]),
        ("imported", FileChanged { is_seen: false, is_copy: true, ..seen() }, &[]),
        ("imported, by a log in which everything of a person is seen", FileChanged { is_copy: true, ..seen() }, &[]),
        ("moved from where it did not count", FileChanged { from: Some("notes/zoe.md".into()), ..seen() }, &[]),
    ] {
        let mut world = trusted_room(&[]);
        know(&mut world, &[("agents/zoe.md", REACHING)]);
        assert_eq!(added(&mut world, change), expected, "{what}");
    }
}

#[test]
fn what_is_trusted_stays_so_when_it_is_renamed_or_copied() {
    let mut world = trusted_room(&[("agents/ada.md", REACHING)]);
    know(&mut world, &[("agents/zoe.md", REACHING)]);
    world.write_message(FileChanged { is_seen: true, ..FileChanged::new("agents/ada.md", FileContent::Removed) });
    let renamed =
        FileChanged { from: Some("agents/ada.md".into()), is_seen: true, ..change("agents/zoe.md", REACHING) };
    assert_eq!(added(&mut world, renamed), ["agents/zoe.md"]);
    let mut world = trusted_room(&[("agents/ada.md", REACHING)]);
    know(&mut world, &[("agents/ada.md", REACHING), ("agents/zoe.md", REACHING)]);
    let copied = FileChanged { is_seen: true, ..change("agents/zoe.md", REACHING) };
    assert_eq!(added(&mut world, copied), ["agents/zoe.md"]);
}

#[test]
fn a_text_that_waited_goes_on_waiting_when_an_undo_brings_it_back() {
    let mut world = trusted_room(&[]);
    let seen = |text: &str| FileChanged { is_seen: true, ..change("agents/zoe.md", text) };
    know(&mut world, &[("agents/zoe.md", REACHING)]);
    assert_eq!(added(&mut world, change("agents/zoe.md", REACHING)), [""; 0], "it was pulled");
    know(&mut world, &[("agents/zoe.md", "You help.\n")]);
    assert_eq!(added(&mut world, seen("You help.\n")), [""; 0]);
    know(&mut world, &[("agents/zoe.md", REACHING)]);
    assert_eq!(added(&mut world, seen(REACHING)), [""; 0], "the edit was undone");
    // Other words of the same kind are the person's own.
    let own = REACHING.replace("You help", "You help me");
    know(&mut world, &[("agents/zoe.md", REACHING), ("agents/own.md", &own)]);
    let written = FileChanged { is_seen: true, ..change("agents/own.md", &own) };
    assert_eq!(added(&mut world, written), ["agents/own.md"]);
}

#[test]
fn what_somebody_unknown_or_a_program_of_an_agent_changes_waits() {
    let mut world = trusted_room(&[]);
    know(&mut world, &[("agents/zoe.md", REACHING)]);
    let by = |is_seen| FileChanged { by: Author("ada".into()), is_seen, ..change("agents/zoe.md", REACHING) };
    assert_eq!(added(&mut world, by(false)), [""; 0], "a program wrote it");
    assert_eq!(added(&mut world, by(true)), [""; 0], "no such agent is in the room");
}

#[test]
fn agents_that_reach_outside_are_reported_only_where_a_rule_frees_them() {
    let mut world = trusted_room(&[]);
    know(&mut world, &[("agents/ada.md", REACHING)]);
    added(&mut world, change("agents/ada.md", REACHING));
    assert_eq!(problems(&mut world), "", "everything outside is asked anyway");
    let rules = (ALLOWLIST_FILE, "git: true\n");
    know(&mut world, &[("agents/ada.md", REACHING), rules]);
    added(&mut world, change(rules.0, rules.1));
    assert!(problems(&mut world).contains("agents/ada.md"));
}

#[test]
fn a_coding_agent_that_a_pull_names_as_a_model_waits_and_other_models_do_not() {
    const CODING: &str = "---\nmodel: acp:claude\n---\nYou help.\n";
    let step = "---\nsteps:\n  - { id: a, agent: ada, prompt: Go, model: \"acp:claude\" }\n---\n";
    for (path, text) in [("agents/ada.md", CODING), ("workflows/tea.md", step)] {
        let mut world = trusted_room(&[]);
        know(&mut world, &[(path, text)]);
        assert_eq!(added(&mut world, change(path, text)), [""; 0], "{path} was pulled");
        let shown = problems(&mut world);
        assert!(shown.contains("acp:claude is not used") && shown.contains("workshop trust"), "{path}: {shown}");
        let mut world = trusted_room(&[]);
        know(&mut world, &[(path, text)]);
        assert_eq!(
            added(&mut world, FileChanged { is_seen: true, ..change(path, text) }),
            [MODELS],
            "{path} was saved"
        );
    }
    let other = CODING.replace("acp:claude", "openai:gpt-5");
    assert_eq!(widenings_of_file("agents/ada.md", &other), []);
}

#[test]
fn an_alias_of_a_coding_agent_is_that_coding_agent() {
    const ALIASED: &str = "---\nmodel: Coder\n---\nYou help.\n";
    let step = "---\nsteps:\n  - { id: a, agent: ada, prompt: Go, model: coder }\n---\n";
    let with_alias = || GatewaySettings {
        provider: "openai".into(),
        models: [("coder".to_owned(), "acp:claude".to_owned())].into(),
        ..GatewaySettings::default()
    };
    for (path, text) in [("agents/ada.md", ALIASED), ("workflows/tea.md", step)] {
        let mut world = trusted_room(&[]);
        world.insert_resource(with_alias());
        know(&mut world, &[(path, text)]);
        assert_eq!(added(&mut world, change(path, text)), [""; 0], "{path} was pulled");
        assert!(problems(&mut world).contains("acp:claude is not used"), "{path}");
        let mut world = trusted_room(&[]);
        world.insert_resource(with_alias());
        run(&mut world);
        know(&mut world, &[(path, text)]);
        let saved = FileChanged { is_seen: true, ..change(path, text) };
        assert_eq!(added(&mut world, saved), [MODELS], "{path} was saved");
    }
    // The alias comes after the agent that names it.
    let mut world = trusted_room(&[("agents/ada.md", ALIASED)]);
    assert_eq!(problems(&mut world), "");
    world.insert_resource(with_alias());
    run(&mut world);
    assert!(problems(&mut world).contains("acp:claude is not used"));
}

#[test]
fn in_a_workspace_where_everything_is_trusted_nothing_waits() {
    let mut world = trusted_room(&[]);
    world.insert_resource(WorkspaceTrust::Everything);
    know(&mut world, &[("agents/ada/heartbeat.md", HEARTBEAT)]);
    assert_eq!(added(&mut world, change("agents/ada/heartbeat.md", HEARTBEAT)), [""; 0]);
    assert_eq!(problems(&mut world), "");
}
