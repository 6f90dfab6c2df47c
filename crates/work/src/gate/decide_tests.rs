//! The decision, rule by rule.

use serde_json::json;

use super::testing::{Files, authority, names, one};
use super::*;
use crate::workspace::vfs::{FileOperation, WorkspacePath};

fn decided(front: &str, policy: &GatePolicy, tool: &str, operation: &FileOperation) -> Decision {
    decide(&Act::of_files(tool, operation, &Files::default(), &names()), &one(front), policy)
}

fn write(path: &str) -> FileOperation {
    FileOperation::Write { path: path.into(), content: "x".into() }
}

fn policy(keys: serde_json::Value) -> GatePolicy {
    serde_json::from_value(keys).unwrap()
}

fn verdict(decision: &Decision) -> Verdict {
    match decision {
        Decision::Allow => Verdict::Allow,
        Decision::Ask { .. } => Verdict::Ask,
        Decision::Deny { .. } => Verdict::Deny,
    }
}

fn why(decision: Decision) -> String {
    match decision {
        Decision::Allow => String::new(),
        Decision::Ask { why, .. } | Decision::Deny { why } => why,
    }
}

#[test]
fn by_default_agents_do_their_work_unasked() {
    let policy = GatePolicy::default();
    for (tool, operation) in [
        ("vfs_write", write("artifacts/a.md")),
        ("vfs_read", FileOperation::Read { path: "memory/a.md".into() }),
        ("vfs_read", FileOperation::List { prefix: String::new() }),
        ("vfs_delete", FileOperation::Delete { path: "memory/a.md".into() }),
        ("vfs_write", write("agents/new.md")),
    ] {
        assert_eq!(decided("name: x", &policy, tool, &operation), Decision::Allow, "{operation:?}");
    }
    let signal = Act::of_signal("signal_parent");
    assert_eq!(decide(&signal, &one("name: x"), &policy), Decision::Allow);
}

#[test]
fn whoever_writes_what_the_command_of_a_server_names_is_asked_about_each_time() {
    let mut policy = GatePolicy::default();
    policy.server_paths.insert("tools/server.py".to_owned());
    let path = || "tools/server.py".to_owned();
    for (tool, operation) in [
        ("vfs_write", write("tools/server.py")),
        ("vfs_delete", FileOperation::Delete { path: path() }),
        ("vfs_write", FileOperation::Append { path: path(), text: "x".into() }),
        ("vfs_write", FileOperation::Rename { from: "a.py".into(), to: path() }),
    ] {
        let Decision::Ask { rules, .. } = decided("name: x", &policy, tool, &operation) else {
            panic!("it is not asked: {operation:?}")
        };
        assert!(rules.iter().any(|rule| matches!(rule.source, AskSource::EachTime { .. })), "{operation:?}: {rules:?}");
    }
    assert_eq!(decided("name: x", &policy, "vfs_write", &write("tools/other.py")), Decision::Allow);
}

#[test]
fn a_tool_that_the_profile_does_not_list_is_denied() {
    let decision = decided("tools: [vfs_read]", &GatePolicy::default(), "vfs_write", &write("a.md"));
    assert!(matches!(&decision, Decision::Deny { why } if why.contains("vfs_write")), "{decision:?}");
    let of_other = Authority::chain(authority("# x"), [authority("---\ntools: [vfs_read]\n---\n")]);
    let act = Act::of_files("vfs_write", &write("a.md"), &Files::default(), &names());
    assert_eq!(verdict(&decide(&act, &of_other, &GatePolicy::default())), Verdict::Deny);
}

#[test]
fn reads_and_writes_hold_for_every_path_of_an_act() {
    let front = "reads: [artifacts/**]\nwrites: [memory/**]";
    let path = |path: &str| path.to_owned();
    for (operation, expected) in [
        (FileOperation::Read { path: path("./artifacts/a.md") }, Verdict::Allow),
        // What the files' own door does not take is not judged as something else.
        (FileOperation::Read { path: path("artifacts/./a.md") }, Verdict::Deny),
        (FileOperation::Read { path: path("artifacts/../memory/a.md") }, Verdict::Deny),
        (FileOperation::Read { path: path("../artifacts/a.md") }, Verdict::Deny),
        (write("memory/a/b.md"), Verdict::Allow),
        (write("artifacts/a.md"), Verdict::Deny),
        (FileOperation::Delete { path: path("artifacts/a.md") }, Verdict::Deny),
        (FileOperation::Rename { from: path("memory/a"), to: path("memory/b") }, Verdict::Allow),
        (FileOperation::Rename { from: path("memory/a"), to: path("b") }, Verdict::Deny),
        (FileOperation::Rename { from: path("a"), to: path("memory/b") }, Verdict::Deny),
        // Replacing a passage would tell whether it stands there.
        (FileOperation::Edit { path: path("memory/a"), old: path("x"), new: path("y") }, Verdict::Deny),
        (FileOperation::Search { text: None, glob: None }, Verdict::Allow),
        (FileOperation::Record { path: path("memory/a"), content: path("x") }, Verdict::Deny),
        (FileOperation::Restore { path: path("memory/a"), version: 1 }, Verdict::Allow),
    ] {
        let decision = decided(front, &GatePolicy::default(), "vfs_edit", &operation);
        assert_eq!(verdict(&decision), expected, "{operation:?}: {decision:?}");
    }
}

#[test]
fn safety_modes_ask_as_their_table_says() {
    let (delete, read) = (FileOperation::Delete { path: "a".into() }, FileOperation::Read { path: "a".into() });
    for (mode, asked) in [
        ("safe", [false, true, true, true]),
        ("balanced", [false, false, true, true]),
        ("auto", [false; 4]),
        ("whatever", [false, true, true, true]),
    ] {
        let acts = [read.clone(), write("a"), delete.clone(), write("agents/a.md")];
        for (operation, is_asked) in acts.iter().zip(asked) {
            let front = format!("safety_mode: {mode}");
            let decision = decided(&front, &GatePolicy::default(), "vfs_edit", operation);
            // The file of the new agent says nothing of its mode, which is more than a careful writer has.
            assert_eq!(verdict(&decision) == Verdict::Ask, is_asked, "{mode} {operation:?} {decision:?}");
        }
    }
}

#[test]
fn the_policy_asks_and_denies_by_class_and_by_path() {
    let strict = policy(json!({ "file_delete": "deny", "file_write": "ask", "ask": ["memory/**"], "deny": ["x/**"] }));
    let delete = |path: &str| FileOperation::Delete { path: path.into() };
    for (operation, expected, word) in [
        (delete("a"), Verdict::Deny, "file_delete: deny"),
        (write("a"), Verdict::Ask, "file_write: ask"),
        (write("X/a"), Verdict::Deny, "x/** under deny"),
        (FileOperation::Rename { from: "a".into(), to: "memory/a".into() }, Verdict::Ask, "memory/** under ask"),
        (FileOperation::Read { path: "x/a".into() }, Verdict::Allow, ""),
    ] {
        let decision = decided("name: x", &strict, "vfs_edit", &operation);
        assert_eq!(verdict(&decision), expected, "{operation:?}");
        assert!(why(decision).contains(word), "{operation:?}");
    }
}

#[test]
fn reasons_are_gathered_and_stay_short() {
    let strict = policy(json!({ "file_write": "ask" }));
    let reasons = why(decided("safety_mode: safe", &strict, "vfs_write", &write("scenes/studio.yaml")));
    for word in ["file_write: ask", "safety mode is safe", "a scene says"] {
        assert!(reasons.contains(word), "{reasons}");
    }
    let long = format!("writes: [{}]", vec!["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b"; 200].join(", "));
    let reasons = why(decided(&long, &strict, "vfs_write", &write(&"x\n".repeat(5_000))));
    assert!(reasons.chars().count() <= 600 && !reasons.contains('\n'));
}

#[test]
fn an_act_that_touches_nothing_known_or_writes_a_profile_unjudged_is_denied() {
    let path = |path: &str| WorkspacePath::new(path).unwrap_or_else(|refusal| panic!("{refusal}"));
    for touches in [
        Vec::new(),
        vec![Touch::Write { path: path("agents/X.MD") }],
        vec![Touch::Rename { from: path("a"), to: path("agents/x.md") }],
        vec![Touch::NoPath { why: "it is none".into() }],
        vec![Touch::Forbidden],
    ] {
        let act = Act { tool: "vfs_write".into(), touches };
        assert_eq!(verdict(&decide(&act, &one("name: x"), &GatePolicy::default())), Verdict::Deny, "{act:?}");
    }
}

#[test]
fn code_in_an_agents_file_needs_a_person() {
    let change = ProfileChange {
        path: WorkspacePath::new("agents/x/agent.mdx").unwrap_or_else(|refusal| panic!("{refusal}")),
        id: "x".into(),
        reserved_id: None,
        authority: Authority::least(),
        current: None,
        may_be_forgotten: false,
        holder: None,
        holds_code: true,
        defines_servers: false,
    };
    let act = Act { tool: "vfs_write".into(), touches: vec![Touch::Profile(Box::new(change))] };
    assert_eq!(verdict(&decide(&act, &one("name: x"), &GatePolicy::default())), Verdict::Ask);
}

#[test]
fn a_person_is_told_each_reason_once_as_a_clause_about_the_agent() {
    let asked = why(decided("safety_mode: safe", &GatePolicy::default(), "vfs_write", &write("artifacts/a.md")));
    assert_eq!(asked, "its safety mode is safe");
    let rename = FileOperation::Rename { from: "scenes/a.yaml".into(), to: "scenes/b.yaml".into() };
    let asked = why(decided("safety_mode: safe", &GatePolicy::default(), "vfs_write", &rename));
    assert_eq!(asked, "its safety mode is safe, and a scene says which agents there are and carries settings");
    let of_other = Authority::chain(authority("# x"), [authority("---\nsafety_mode: safe\n---\n")]);
    let act = Act::of_files("vfs_write", &write("a.md"), &Files::default(), &names());
    let asked = why(decide(&act, &of_other, &GatePolicy::default()));
    assert_eq!(asked, "the safety mode is safe for an agent that started it");
}

#[test]
fn what_a_person_allowed_for_good_is_asked_no_more_and_nothing_else_is_allowed_by_it() {
    let rules = ["vfs_write(docs/**)", "vfs_write(scenes/**)", "vfs_write(secret/**)", "vfs_write(agents/**)"];
    let allowing = one("safety_mode: safe").allowing(rules.map(str::to_owned).to_vec());
    let listed = policy(json!({ "ask": ["docs/**"], "deny": ["secret/**"], "file_write": "ask" }));
    let more = "---\nsafety_mode: auto\n---\n# More";
    for (tool, path, content, expected) in [
        ("vfs_write", "docs/a.md", "x", Verdict::Allow),
        ("vfs_write", "artifacts/a.md", "x", Verdict::Ask),
        ("vfs_edit", "docs/a.md", "x", Verdict::Ask),
        ("vfs_write", "secret/a.md", "x", Verdict::Deny),
        // What is asked each time is asked.
        ("vfs_write", "scenes/a.yaml", "x", Verdict::Ask),
        ("vfs_write", "agents/more.md", more, Verdict::Ask),
    ] {
        let operation = FileOperation::Write { path: path.into(), content: content.into() };
        let act = Act::of_files(tool, &operation, &Files::default(), &names());
        let decision = decide(&act, &allowing, &listed);
        assert_eq!(verdict(&decision), expected, "{tool} {path}: {decision:?}");
    }
    let act = Act::of_files("vfs_write", &write("docs/a.md"), &Files::default(), &names());
    let started = allowing.starting(authority("# x"));
    assert_eq!(verdict(&decide(&act, &started, &listed)), Verdict::Ask, "whom it starts has rules of its own");
}
