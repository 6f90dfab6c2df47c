//! The behaviour that scripts can rely on.

use crate::gateway::providers::scripted::*;
use crate::mind::{Prompt, PromptMessage, Role};

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
        prompt: Prompt::of_messages("", vec![PromptMessage::plain(Role::User, moment)]),
        tools: Vec::new(),
        max_output_tokens: 100,
        stops: Vec::new(),
        said_before: Default::default(),
        seed: 0,
        script: None,
        work: None,
        agent_session: None,
        result_images: Default::default(),
    }
}

fn said(provider: &mut ScriptedProvider, agent: &str, kind: CallKind, moment: &str) -> String {
    provider.answer(&request(agent, "researcher", kind, moment)).outcome.expect("a reply").text
}

#[cfg(unix)]
#[test]
fn only_a_regular_file_is_a_script_and_pipes_never_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("script.yaml"), "default:\n  - text: again\n").expect("files can be written");
    std::os::unix::fs::symlink("script.yaml", at("link.yaml")).expect("links can be made");
    std::os::unix::fs::symlink("/dev/zero", at("endless.yaml")).expect("links can be made");
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe.yaml"), rustix::fs::Mode::RWXU).expect("pipes can be made");
    for good in ["script.yaml", "link.yaml"] {
        assert!(ScriptedProvider::from_file(&at(good)).is_ok(), "{good}");
    }
    for (bad, why) in
        [("endless.yaml", "regular file"), ("pipe.yaml", "regular file"), ("none.yaml", "no such"), ("", "")]
    {
        let problem = ScriptedProvider::from_file(&at(bad)).expect_err(bad).remove(0).to_string();
        assert!(problem.contains(why) && problem.contains("name a script"), "{problem}");
    }
}

#[test]
fn turns_are_played_in_order_per_agent_and_then_the_default_repeats() {
    let mut provider = script("agents:\n  researcher:\n    - text: one\n    - text: two\ndefault:\n  - text: again\n");
    let mut say = |agent: &str| said(&mut provider, agent, CallKind::Read, "x");
    assert_eq!([say("r-1"), say("r-1"), say("r-1"), say("r-1")], ["one", "two", "again", "again"]);
    assert_eq!(say("r-2"), "one", "another instance of the profile plays it from the start");
}

#[test]
fn the_agents_own_turns_precede_its_profiles() {
    let mut provider = script("agents:\n  researcher: [ { text: profile } ]\n  r-1: [ { text: own } ]\n");
    assert_eq!(said(&mut provider, "r-1", CallKind::Read, "x"), "own");
    assert_eq!(said(&mut provider, "r-2", CallKind::Read, "x"), "profile");
}

#[test]
fn conditional_turns_wait_without_blocking_others() {
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
fn errors_tools_and_latency_are_played_as_written() {
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

/// Returns the request that follows a reply: its calls and their results.
fn after_tools(before: &ProviderRequest, reply: &Completion, results: &[&str]) -> ProviderRequest {
    let mut next = before.clone();
    next.prompt.history.push(PromptMessage::calls(reply.text.clone(), reply.tool_calls.clone()));
    let answered = reply.tool_calls.iter().zip(results);
    next.prompt.history.extend(answered.map(|(call, result)| PromptMessage::result(call, *result)));
    next
}

#[test]
fn a_conversation_with_tools_continues_turn_by_turn_and_branches_on_results() {
    let text = "agents:\n  researcher:\n    - text: I look.\n      tools:\n        - { name: vfs_read, arguments: { path: a.md } }\n        \
                - { name: vfs_list, arguments: '{\"prefix\": \"b\"}' }\n    \
                - text: lost\n      when: { kind: task, contains: NOT FOUND }\n    \
                - tools: [ { name: vfs_write, arguments: \"{oops\" } ]\n    - text: done\n";
    let mut provider = script(text);
    let mut play = |request: &ProviderRequest| provider.answer(request).outcome.expect("a reply");
    let first = request("r-1", "researcher", CallKind::Task, "Your task: look");
    let looks = play(&first);
    assert_eq!((looks.text.as_str(), looks.finish, looks.tool_calls.len()), ("I look.", Finish::ToolCalls, 2));
    assert_eq!(looks.tool_calls[1].arguments["prefix"], "b", "a text with an object is an object");
    assert_ne!(looks.tool_calls[0].id, looks.tool_calls[1].id);
    let second = after_tools(&first, &looks, &["Error: 'a.md' not found.", "b.md"]);
    assert_eq!(play(&second).text, "lost", "the first of two results counts as well as the last");
    let third = after_tools(&first, &looks, &["# A", "b.md"]);
    let writes = play(&third);
    assert_eq!(writes.tool_calls[0].arguments, Value::String("{oops".into()));
    let last = play(&after_tools(&third, &writes, &["Error: no JSON"]));
    assert_eq!((last.text.as_str(), last.finish), ("done", Finish::Stop));
    assert!(last.usage.input_tokens > looks.usage.input_tokens, "calls and results count");
}

#[test]
fn every_instance_of_a_profile_plays_a_long_script_completely() {
    let mut text = "agents:\n  researcher:\n    - { text: aside, when: { contains: never } }\n".to_owned();
    for number in 0..300 {
        text += &format!("    - {{ text: t{number} }}\n");
    }
    let mut provider = script(&text);
    for agent in (0..200).map(|number| format!("r-{number}")) {
        for number in 0..300 {
            assert_eq!(said(&mut provider, &agent, CallKind::Task, "x"), format!("t{number}"));
        }
        assert_eq!(said(&mut provider, &agent, CallKind::Task, "x"), "");
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_a_suggestion() {
    let problem = problem("agents:\n  researcher:\n    - txet: hello\n      text: x\n");
    assert_eq!(problem.line, Some(3));
    assert!(problem.what.contains("`txet`"), "{problem}");
    assert_eq!(problem.remedy, "did you mean `text`?");
}

#[test]
fn every_mistake_has_a_description_and_a_remedy() {
    let mistakes = [
        ("agents: [", "is invalid YAML"),
        ("- text", "not a map"),
        ("agents: 3", "`agents` is not a map"),
        ("default: hello", "not a list"),
        ("default: [ { latency: 1 } ]", "is empty"),
        ("default: [ { text: 3 } ]", "`text` is not text"),
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

#[test]
fn the_documented_script_is_valid() {
    let page = include_str!("../../../../../docs/agents.md");
    let (_, part) = page.split_once("## A script").expect("the page shows a script");
    let (_, rest) = part.split_once("```yaml\n").expect("it should be fenced");
    let (yaml, _) = rest.split_once("```").expect("the fence is closed");
    script(yaml);
}
