//! Invalid files and replies: each causes a problem or warning with a place and a remedy, affects no other agent, and
//! loses nothing.

use agent_workshop::agent::Profiles;
use agent_workshop::workspace::Problems;
use libtest_mimic::Trial;

use crate::cases;
use crate::workshop::{Setup, Workshop};

const SCENE: &str = r#"
name: Test
seed: 5
elements:
  - { id: rules, kind: rulebook, label: House rules, position: [0, 0], text: Be brief. }
  - { id: ideas, kind: pinboard, label: Ideas, position: [-100, 0], pins: [] }
agents:
  - { id: ada-1, profile: ada, position: [0, 120], behaviour: stationary }
  - { id: bram-1, profile: bram, position: [80, 120], behaviour: stationary }
"#;

pub fn trials() -> Vec<Trial> {
    cases![
        invalid_scenes_leave_the_last_valid_one_in_use,
        invalid_entries_are_reported_and_the_rest_works,
        invalid_agent_files_get_the_least_privileges,
        invalid_restrictions_in_settings_still_restrict,
        a_failing_provider_does_not_affect_other_agents,
        unrequested_tool_calls_are_reported,
        impossible_markers_in_a_reply_are_reported_in_the_next_prompt,
        a_huge_reply_is_cut,
        a_slow_provider_times_out,
        invalid_positions_are_refused,
    ]
}

fn setup() -> Setup {
    Setup::scene(SCENE).profile("ada", "You find things out.").profile("bram", "You write.")
}

fn problems(room: &mut Workshop) -> Vec<String> {
    room.world().resource::<Problems>().iter().map(ToString::to_string).collect()
}

fn with_rules(text: &str) -> String {
    SCENE.replace("Be brief.", text)
}

fn invalid_scenes_leave_the_last_valid_one_in_use() {
    let bomb = {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let refs = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
        }
        bomb
    };
    for (what, text) in [
        ("broken YAML", "elements: [ {".to_owned()),
        ("a list", "- a\n- b\n".to_owned()),
        ("an alias bomb", bomb),
        ("deep nesting", "[".repeat(100_000)),
        ("too much", format!("name: {}\n", "x".repeat(11 << 20))),
        ("a NUL", "name: \u{0}\nelements: 3\n".to_owned()),
    ] {
        let mut room = setup().script("default: [ { text: Fine. } ]\n").open();
        room.advance(0.5);
        room.edit("scenes/test.yaml", &text);
        room.advance(0.5);
        let problems = problems(&mut room);
        assert!(problems.iter().any(|problem| problem.contains("scenes/test.yaml")), "{what}: {problems:?}");
        let saved = room.saved();
        assert!(saved["elements"].to_string().contains("Be brief."), "{what} removed the elements");
        assert!(saved["agents"].to_string().contains("ada-1"), "{what} removed the agents");
        room.edit("scenes/test.yaml", &with_rules("Be kind."));
        room.until(60.0, "read", |_| true);
        let problems = self::problems(&mut room);
        assert!(problems.is_empty(), "{what} is corrected, but the problem remains: {problems:?}");
    }
}

fn invalid_entries_are_reported_and_the_rest_works() {
    let scene = SCENE
        .replace(
            "elements:\n",
            "elements:\n  - { id: rules2, kind: rulbook, position: [9, 9] }\n  - { kind: pinboard }\n",
        )
        .replace("agents:\n", "agents:\n  - { id: ada-1, profile: bram }\n  - { id: zoe-1, profile: zoe }\n  - 7\n");
    let mut room =
        Setup::scene(&scene).profile("ada", "x").profile("bram", "y").script("default: [ { text: Fine. } ]\n").open();
    room.advance(0.5);
    let all = problems(&mut room).join("\n");
    for word in ["rulbook", "rulebook", "zoe", "ada-1"] {
        assert!(all.contains(word), "{word} is not named in:\n{all}");
    }
    assert_eq!(room.events("agent_added").len(), 2);
}

fn invalid_agent_files_get_the_least_privileges() {
    let hostile = [
        ("no end", "---\nname: Ada\nYou find things out.\n", true),
        ("a list", "---\n- name\n---\nYou find things out.\n", true),
        ("no lines of keys", "---\n{ name: [unclosed\n---\nYou find things out.\n", true),
        ("a limit that is not understood", "---\nrestrictions: { files: few }\n---\nYou find things out.\n", true),
        // Only one entry is invalid; it restricts as much as it could possibly mean.
        ("broken YAML", "---\nname: [unclosed\ntools: [vfs_read\n---\nYou find things out.\n", false),
        ("a key twice", "---\ntools: [vfs_write]\ntools: [vfs_read]\n---\nYou find things out.\n", false),
        ("tools that are none", "---\ntools: { write: { all: true } }\n---\nYou find things out.\n", false),
    ];
    for (what, text, is_least) in hostile {
        let mut room = setup().profile("ada", text).script("default: [ { text: Fine. } ]\n").open();
        room.advance(0.2);
        let world = room.world();
        let profile = world.resource::<Profiles>().get("ada").expect("the profile is registered");
        let (authority, _) = agent_workshop::tools::builtin().authority("agents/ada.md", profile);
        assert!(authority.tools.is_empty() && (authority.is_minimal() || !is_least), "{what}: {authority:?}");
        assert!(problems(&mut room).iter().any(|problem| problem.contains("agents/ada.md:")), "{what} is not reported");
        room.edit("agents/ada.md", "---\nname: Ada\n---\nYou find things out.\n");
        room.advance(0.2);
        assert!(problems(&mut room).is_empty(), "{what}: {:?}", problems(&mut room));
        // The last valid version stays in use while the new text is invalid.
        room.edit("agents/ada.md", "---\nname: Bea\nYou find things out.\n");
        room.advance(0.2);
        assert!(problems(&mut room).iter().any(|problem| problem.contains("agents/ada.md")));
        let profile = room.world().resource::<Profiles>().get("ada").expect("the profile is registered");
        assert_eq!(profile.name, "Ada");
    }
}

fn invalid_restrictions_in_settings_still_restrict() {
    use agent_workshop::gate::{GatePolicy, TouchKind, Verdict};
    use agent_workshop::workspace::vfs::WorkspacePath;
    let path = WorkspacePath::new("artifacts/a.md").unwrap();
    for (text, verdict) in [
        ("gate: { deny: [artifacts/**] }\n", Verdict::Deny),
        ("gate: { dney: [artifacts/**] }\n", Verdict::Deny),
        ("gate: { deny: artifacts/** }\n", Verdict::Deny),
        ("gate: { deny: ['artifacts/[a-z]*'] }\n", Verdict::Deny),
        ("gaet: { deny: [artifacts/**] }\n", Verdict::Deny),
        ("gate: { file_wirte: deny }\n", Verdict::Deny),
        ("gate: { file_write: false }\n", Verdict::Deny),
        ("gate: deny\n", Verdict::Deny),
        ("gate: { deny: [artifacts/**\n", Verdict::Ask),
        ("- gate\n", Verdict::Ask),
        ("gate: { ask: [memory/**] }\n", Verdict::Allow),
    ] {
        let mut room = setup().file("settings.yaml", text).script("default: [ { text: Fine. } ]\n").open();
        room.advance(0.2);
        let policy = room.world().resource::<GatePolicy>();
        let kind = TouchKind::FILE_WRITE;
        let at_path = policy.at_path(&path).map_or(Verdict::Allow, |(verdict, _)| verdict);
        let actual = at_path.max(policy.verdict_and_source(&kind).0).max(policy.strictness(&kind));
        assert_eq!(actual, verdict, "{text}: {policy:?}");
        let is_clean = problems(&mut room).is_empty();
        assert_eq!(
            is_clean,
            text.contains("deny: [artifacts/**] }") && text.starts_with("gate") || text.contains("ask:"),
            "{text}"
        );
        // Valid settings stay in use while a person is in the middle of an edit.
        room.edit("settings.yaml", "gate: { deny: [\n");
        room.advance(0.2);
        let policy = room.world().resource::<GatePolicy>();
        let at_path = policy.at_path(&path).map_or(Verdict::Allow, |(verdict, _)| verdict);
        assert_eq!(at_path.max(policy.verdict_and_source(&kind).0).max(policy.strictness(&kind)), verdict, "{text}");
    }
}

fn a_failing_provider_does_not_affect_other_agents() {
    for status in [401, 404, 500] {
        let script = format!(
            "agents:\n  ada: [ {{ error: {{ status: {status} }}, repeat: true }} ]\ndefault: [ {{ text: Fine. }} ]\n"
        );
        let mut room = setup().script(&script).open();
        room.advance(0.5);
        room.edit("scenes/test.yaml", &with_rules("Be kind."));
        room.until(60.0, "read", |event| event["agent"] == "bram-1");
        let failed = room.log().iter().find(|event| event["agent"] == "ada-1" && event["type"] == "model_call");
        let failed =
            failed.cloned().unwrap_or_else(|| room.until(60.0, "model_call", |event| event["agent"] == "ada-1"));
        assert!(failed["data"].to_string().contains(&status.to_string()), "{failed}");
        let calls = room.events("model_call").len();
        room.advance(60.0);
        assert!(room.events("model_call").len() < calls + 20, "a failing provider is called again and again");
    }
}

fn unrequested_tool_calls_are_reported() {
    let script = "agents:\n  ada: [ { tools: [ { name: launch, arguments: { what: rocket } } ], when: { kind: read } } ]\ndefault: [ { text: Fine. } ]\n";
    let mut room = setup().script(script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    let warning = room.until(60.0, "warning", |event| event["agent"] == "ada-1");
    assert!(warning["data"].to_string().contains("launch"), "{warning}");
}

fn impossible_markers_in_a_reply_are_reported_in_the_next_prompt() {
    use agent_workshop::mind::LastPrompt;
    let script = "agents:\n  ada: [ { text: \"[SEND to Nobody: hello] [VOTE_UP: p99] Fine.\", when: { kind: read } } ]\ndefault: [ { text: Fine. } ]\n";
    let mut room = setup().script(script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    room.until(60.0, "warning", |event| event["agent"] == "ada-1" && event["data"].to_string().contains("Nobody"));
    room.advance(1.0);
    room.edit("scenes/test.yaml", &with_rules("Be bold."));
    room.until(60.0, "model_call", |event| event["agent"] == "ada-1");
    let world = room.world();
    let mut prompts = world.query::<&LastPrompt>();
    let is_reported = prompts.iter(world).any(|last| {
        let text = last.0.text();
        text.contains("Nobody") && text.contains("p99")
    });
    assert!(is_reported, "the refusals are not in the next prompt");
}

fn a_huge_reply_is_cut() {
    let script = format!("default: [ {{ text: \"{}\" }} ]\n", "[PIN: x ".repeat(50_000));
    let mut room = setup().script(&script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    room.until(60.0, "read", |_| true);
    room.advance(10.0);
    assert!(room.saved().to_string().len() < 4 << 20, "the reply is saved whole");
    let longest = room.log().iter().map(|event| event["data"].to_string().len()).max().unwrap_or_default();
    assert!(longest < 256 << 10, "an event of {longest} bytes");
}

fn a_slow_provider_times_out() {
    let script = "agents:\n  ada: [ { text: Late., latency: 3600, repeat: true } ]\ndefault: [ { text: Fine. } ]\n";
    let mut room = setup().script(script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    let call = room.until(200.0, "model_call", |event| event["agent"] == "ada-1");
    assert!(call["data"].to_string().contains("time"), "{call}");
    room.advance(0.1);
    let has_stopped = room.events("state").into_iter().any(|event| {
        event["agent"] == "ada-1"
            && event["data"]["from"] == "reading"
            && event["tick"].as_u64() >= call["tick"].as_u64()
    });
    assert!(has_stopped, "the agent never stops reading");
}

fn invalid_positions_are_refused() {
    use agent_workshop::agent::AgentCommand;
    let mut room = setup().script("default: [ { text: Fine. } ]\n").open();
    room.advance(0.2);
    for position in [f32::NAN, f32::INFINITY] {
        let position = bevy::math::Vec2::splat(position);
        let world = room.world();
        // Written directly: JSON has no NaN, so the inbox itself would refuse it.
        world.write_message(AgentCommand::Add {
            id: None,
            profile: "ada".into(),
            position,
            behaviour: None,
            exactly: true,
        });
        world.write_message(AgentCommand::PickUp { agent: "bram-1".into() });
        world.write_message(AgentCommand::Carry { agent: "bram-1".into(), position });
        world.write_message(AgentCommand::PutDown { agent: "bram-1".into() });
    }
    room.advance(2.0);
    let saved = room.saved().to_string();
    assert!(!saved.contains("[null,null]"), "an invalid position was saved");
    for bad in [".nan", ".inf", "1e30"] {
        let scene = SCENE.replace("position: [0, 120]", &format!("position: [{bad}, 120]"));
        let mut room = Setup::scene(&scene).profile("ada", "x").profile("bram", "y").provider("offline").open();
        room.advance(0.5);
        assert!(
            problems(&mut room).iter().any(|problem| problem.contains("position")),
            "{bad}: {:?}",
            problems(&mut room)
        );
    }
}
