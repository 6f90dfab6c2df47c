//! Bad files and bad replies: each causes a problem or a warning that says where it is and what to do, affects no other
//! agent, and loses nothing.

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
        hostile_scenes_keep_the_last_good_one,
        entries_that_make_no_sense_are_named_and_the_rest_works,
        hostile_agent_files_are_registered_with_the_least_privileges,
        settings_that_limit_and_cannot_be_understood_limit_nevertheless,
        a_failing_provider_costs_the_others_nothing,
        tool_calls_that_nobody_asked_for_are_reported_back,
        what_a_reply_cannot_do_is_reported_back_in_the_next_prompt,
        an_endless_reply_is_cut_and_kept_within_bounds,
        a_provider_that_takes_too_long_is_given_up,
        positions_that_are_no_numbers_are_refused,
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

fn hostile_scenes_keep_the_last_good_one() {
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
        assert!(saved["elements"].to_string().contains("Be brief."), "{what} took the elements away");
        assert!(saved["agents"].to_string().contains("ada-1"), "{what} took the agents away");
        room.edit("scenes/test.yaml", &with_rules("Be kind."));
        room.until(60.0, "read", |_| true);
        let problems = self::problems(&mut room);
        assert!(problems.is_empty(), "{what} is mended, and still: {problems:?}");
    }
}

fn entries_that_make_no_sense_are_named_and_the_rest_works() {
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

fn hostile_agent_files_are_registered_with_the_least_privileges() {
    let hostile = [
        ("no end", "---\nname: Ada\nYou find things out.\n", true),
        ("a list", "---\n- name\n---\nYou find things out.\n", true),
        ("no lines of keys", "---\n{ name: [unclosed\n---\nYou find things out.\n", true),
        ("a limit that is not understood", "---\nrestrictions: { files: few }\n---\nYou find things out.\n", true),
        // The faulty entry is known; it restricts as far as it could possibly mean.
        ("broken YAML", "---\nname: [unclosed\ntools: [vfs_read\n---\nYou find things out.\n", false),
        ("a key twice", "---\ntools: [vfs_write]\ntools: [vfs_read]\n---\nYou find things out.\n", false),
        ("tools that are none", "---\ntools: { write: { all: true } }\n---\nYou find things out.\n", false),
    ];
    for (what, text, is_least) in hostile {
        let mut room = setup().profile("ada", text).script("default: [ { text: Fine. } ]\n").open();
        room.advance(0.2);
        let world = room.world();
        let profile = world.resource::<Profiles>().get("ada").expect("it is registered");
        let (authority, _) = agent_workshop::tools::builtin().authority("agents/ada.md", profile);
        assert!(authority.tools.is_empty() && (authority.is_minimal() || !is_least), "{what}: {authority:?}");
        assert!(problems(&mut room).iter().any(|problem| problem.contains("agents/ada.md:")), "{what} is not told");
        room.edit("agents/ada.md", "---\nname: Ada\n---\nYou find things out.\n");
        room.advance(0.2);
        assert!(problems(&mut room).is_empty(), "{what}: {:?}", problems(&mut room));
        // The last valid version stays in use while the new text is invalid.
        room.edit("agents/ada.md", "---\nname: Bea\nYou find things out.\n");
        room.advance(0.2);
        assert!(problems(&mut room).iter().any(|problem| problem.contains("agents/ada.md")));
        let profile = room.world().resource::<Profiles>().get("ada").expect("it is registered");
        assert_eq!(profile.name, "Ada");
    }
}

fn settings_that_limit_and_cannot_be_understood_limit_nevertheless() {
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
        let said = at_path.max(policy.verdict_and_source(&kind).0).max(policy.strictness(&kind));
        assert_eq!(said, verdict, "{text}: {policy:?}");
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

fn a_failing_provider_costs_the_others_nothing() {
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
        assert!(room.events("model_call").len() < calls + 20, "a failing provider is asked again and again");
    }
}

fn tool_calls_that_nobody_asked_for_are_reported_back() {
    let script = "agents:\n  ada: [ { tools: [ { name: launch, arguments: { what: rocket } } ], when: { kind: read } } ]\ndefault: [ { text: Fine. } ]\n";
    let mut room = setup().script(script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    let warning = room.until(60.0, "warning", |event| event["agent"] == "ada-1");
    assert!(warning["data"].to_string().contains("launch"), "{warning}");
}

fn what_a_reply_cannot_do_is_reported_back_in_the_next_prompt() {
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
    let told = prompts.iter(world).any(|last| {
        let text = last.0.text();
        text.contains("Nobody") && text.contains("p99")
    });
    assert!(told, "the refusals are not in the next prompt");
}

fn an_endless_reply_is_cut_and_kept_within_bounds() {
    let script = format!("default: [ {{ text: \"{}\" }} ]\n", "[PIN: x ".repeat(50_000));
    let mut room = setup().script(&script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    room.until(60.0, "read", |_| true);
    room.advance(10.0);
    assert!(room.saved().to_string().len() < 4 << 20, "one reply fills the memory");
    let longest = room.log().iter().map(|event| event["data"].to_string().len()).max().unwrap_or_default();
    assert!(longest < 256 << 10, "a record of {longest} bytes");
}

fn a_provider_that_takes_too_long_is_given_up() {
    let script = "agents:\n  ada: [ { text: Late., latency: 3600, repeat: true } ]\ndefault: [ { text: Fine. } ]\n";
    let mut room = setup().script(script).open();
    room.advance(0.5);
    room.edit("scenes/test.yaml", &with_rules("Be kind."));
    let call = room.until(200.0, "model_call", |event| event["agent"] == "ada-1");
    assert!(call["data"].to_string().contains("time"), "{call}");
    room.advance(0.1);
    let left = room.events("state").into_iter().any(|event| {
        event["agent"] == "ada-1"
            && event["data"]["from"] == "reading"
            && event["tick"].as_u64() >= call["tick"].as_u64()
    });
    assert!(left, "the agent reads for ever");
}

fn positions_that_are_no_numbers_are_refused() {
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
    assert!(!saved.contains("[null,null]"), "a position is no number");
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
