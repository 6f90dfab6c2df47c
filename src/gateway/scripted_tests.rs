//! What a script may rely on.

use super::*;
use crate::mind::{PromptMessage, Role};

fn script(text: &str) -> ScriptedProvider {
    ScriptedProvider::from_yaml(text, "demo.yaml").expect("a good script")
}

fn problem(text: &str) -> Problem {
    ScriptedProvider::from_yaml(text, "demo.yaml").expect_err("a bad script").remove(0)
}

fn request(agent: &str, profile: &str, kind: CallKind, moment: &str) -> ProviderRequest {
    ProviderRequest {
        agent: agent.into(),
        profile: profile.into(),
        kind,
        model: "script".into(),
        system: String::new(),
        messages: vec![PromptMessage::words(Role::User, moment)],
        tools: Vec::new(),
        max_output_tokens: 100,
        seed: 0,
    }
}

fn said(provider: &mut ScriptedProvider, agent: &str, kind: CallKind, moment: &str) -> String {
    provider.answer(&request(agent, "researcher", kind, moment)).outcome.expect("a reply").text
}

#[test]
fn turns_come_in_order_for_each_agent_and_then_the_default_repeats() {
    let mut provider = script("agents:\n  researcher:\n    - text: one\n    - text: two\ndefault:\n  - text: again\n");
    let mut say = |agent: &str| said(&mut provider, agent, CallKind::Read, "x");
    assert_eq!([say("r-1"), say("r-1"), say("r-1"), say("r-1")], ["one", "two", "again", "again"]);
    assert_eq!(say("r-2"), "one", "another instance of the profile plays it from the start");
}

#[test]
fn the_agents_own_turns_go_before_its_profiles() {
    let mut provider = script("agents:\n  researcher: [ { text: profile } ]\n  r-1: [ { text: own } ]\n");
    assert_eq!(said(&mut provider, "r-1", CallKind::Read, "x"), "own");
    assert_eq!(said(&mut provider, "r-2", CallKind::Read, "x"), "profile");
}

#[test]
fn turns_with_a_condition_wait_for_it_without_holding_up_others() {
    let text = "agents:\n  researcher:\n    - text: lamps!\n      when: { kind: read, contains: Lamps }\n    - text: plain\n\
                default: [ { text: done } ]\n";
    let mut provider = script(text);
    assert_eq!(said(&mut provider, "r-1", CallKind::Task, "the lamps"), "plain");
    assert_eq!(said(&mut provider, "r-1", CallKind::Read, "ten lamps"), "lamps!");
    assert_eq!(said(&mut provider, "r-1", CallKind::Read, "ten lamps"), "done", "a turn is used once");
}

#[test]
fn a_repeating_turn_is_used_whenever_it_fits() {
    let mut provider =
        script("agents:\n  researcher:\n    - { text: hi, when: { kind: conversation }, repeat: true }\n");
    for _ in 0..3 {
        assert_eq!(said(&mut provider, "r-1", CallKind::Conversation, "x"), "hi");
    }
    assert_eq!(said(&mut provider, "r-1", CallKind::Read, "x"), "", "nothing fits and there is no default");
}

#[test]
fn errors_tools_and_latency_come_as_written() {
    let text = "latency: 0.2\nagents:\n  researcher:\n    - error: { status: 429, retry_after: 2 }\n      latency: 1.5\n    \
                - tools: [ { name: vfs_write, arguments: { path: a.md } } ]\n";
    let mut provider = script(text);
    let failed = provider.answer(&request("r-1", "researcher", CallKind::Task, "x"));
    assert_eq!(failed.latency_secs, 1.5);
    let error = failed.outcome.expect_err("the error of the script");
    assert_eq!((error.status, error.retry_after_secs), (429, Some(2.0)));
    let called = provider.answer(&request("r-1", "researcher", CallKind::Task, "x"));
    assert_eq!(called.latency_secs, 0.2);
    let completion = called.outcome.expect("a reply");
    assert_eq!(completion.finish, Finish::ToolCalls);
    assert_eq!(completion.tool_calls[0].name, "vfs_write");
    assert_eq!(completion.tool_calls[0].arguments["path"], "a.md");
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_a_suggestion() {
    let problem = problem("agents:\n  researcher:\n    - txet: hello\n      text: x\n");
    assert_eq!(problem.line, Some(3));
    assert!(problem.what.contains("`txet`"), "{problem}");
    assert_eq!(problem.remedy, "did you mean `text`?");
}

#[test]
fn every_mistake_says_what_and_what_to_do() {
    let mistakes = [
        ("agents: [", "is not YAML"),
        ("- text", "not a map"),
        ("agents: 3", "`agents` is not a map"),
        ("default: hello", "not a list"),
        ("default: [ { latency: 1 } ]", "says and does nothing"),
        ("default: [ { text: 3 } ]", "`text` is not a text"),
        ("latency: -1", "not a number of seconds"),
        ("default: [ { error: { status: 200 } } ]", "no status between"),
        ("default: [ { text: a, when: { kind: raed } } ]", "no kind of call `raed`"),
        ("default: [ { tools: [ { arguments: {} } ] } ]", "has no name"),
    ];
    for (text, expected) in mistakes {
        let problem = problem(text);
        assert!(problem.what.contains(expected), "{text}: {problem}");
        assert!(!problem.remedy.is_empty());
    }
}
