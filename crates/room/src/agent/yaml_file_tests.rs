//! Tests of agents in YAML files.

use super::*;
use crate::agent::keys::MIN_SAFETY_MODE;

const PATH: &str = "templates/planner-001.agent.yaml";

const PLANNER: &str = "\
agent_id: planner-001
agent_type: planner
model: claude-sonnet-4.5
system_prompt: |
  You are a task planning agent.

  You MUST use tools.
tools:
  - create_task
  - send_message
metadata:
  description: Breaks down goals into tasks
  version: '0.0.1'
owner: platform team
";

#[test]
fn the_keys_of_such_files_say_what_an_agent_is() {
    let file = read(PATH, PLANNER);
    assert_eq!(file.problems, []);
    let profile = file.profile;
    assert_eq!((&*profile.id, profile.name.as_str()), ("planner-001", "Planner 001"));
    assert_eq!((profile.role.as_deref(), profile.model.as_deref()), (Some("planner"), Some("claude-sonnet-4.5")));
    assert_eq!(profile.instructions, "You are a task planning agent.\n\nYou MUST use tools.");
    assert_eq!(profile.tools, Some(vec!["create_task".to_owned(), "send_message".to_owned()]));
    assert_eq!(profile.description, "Breaks down goals into tasks");
    assert_eq!(profile.extra["metadata"]["version"], "0.0.1");
    assert_eq!(profile.extra["owner"], "platform team");
    assert_eq!(profile.lines.of("tools"), Some(8));
    assert!(file.has_explicit_id && !file.malformed);
}

#[test]
fn aliases_and_spellings_mean_the_same() {
    let text = PLANNER
        .replace("agent_id", "id")
        .replace("agent_type", "type")
        .replace("tools:", "capabilities:")
        .replace("system_prompt", "systemPrompt");
    let (one, other) = (read(PATH, PLANNER).profile, read(PATH, &text).profile);
    assert_eq!((one.id, one.role, one.tools), (other.id, other.role, other.tools));
    assert_eq!(one.instructions, other.instructions);
}

#[test]
fn a_key_of_ours_counts_as_in_markdown() {
    let file = read(PATH, "agent_id: x\nsafety_mode: safe\nwrites: []\nname: Xena\nsystem_prompt: Hi\n");
    assert_eq!(file.profile.safety_mode.as_deref(), Some("safe"));
    assert_eq!((file.profile.writes, file.profile.name.as_str()), (Some(Vec::new()), "Xena"));
}

#[test]
fn mistakes_are_named_with_their_line() {
    let problems = |text: &str| {
        let problems = read(PATH, text).problems;
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect::<Vec<_>>()
    };
    let typo = problems("agent_id: x\nsystem_prompt: Hi\ntoolz: [a]\n");
    assert!(matches!(typo.as_slice(), [(Some(3), what)] if what.contains("toolz")), "{typo:?}");
    let empty = problems("agent_id: x\n");
    assert!(matches!(empty.as_slice(), [(None, what)] if what.contains("no system_prompt")), "{empty:?}");
    let list = problems("agent_id: x\nsystem_prompt: [a]\n");
    assert!(matches!(list.as_slice(), [(Some(2), what)] if what.contains("must be text")), "{list:?}");
    let twice = problems("agent_id: x\nid: y\nsystem_prompt: Hi\n");
    assert!(matches!(twice.as_slice(), [(Some(2), what)] if what.contains("twice")), "{twice:?}");
}

#[test]
fn an_unreadable_file_gives_an_agent_without_permissions() {
    for text in ["", "---", "just words", "- a\n- b\n", "agent_id: x\ntools: [a\n", "a: 1\na: 2\n"] {
        let file = read(PATH, text);
        assert!(file.malformed && !file.problems.is_empty(), "{text:?}");
        assert_eq!(file.profile.tools, Some(Vec::new()));
        assert_eq!(file.profile.safety_mode.as_deref(), Some(MIN_SAFETY_MODE));
        assert_eq!(&*file.profile.id, "planner-001");
    }
}
