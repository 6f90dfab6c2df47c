//! Tests of the gate's decisions, rule by rule.

use serde_json::json;

use super::testing::{Files, authority, names, one};
use super::*;
use crate::agent::{AgentProfile, RemovedProfile};
use crate::gate::act::GateContext;
use crate::gate::commands::{self, ALLOWLIST_FILE, Command, CommandRules, pattern_for, with_rule, words};
use crate::gate::touch::DeclaredTouch;
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
fn by_default_ordinary_work_needs_no_approval() {
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
fn in_a_restricted_workspace_every_change_is_asked_whatever_the_rules_allow() {
    checks_rule!("restricted-workspaces-ask-each-time");
    let mut restricted = policy(json!({ "file_write": "allow", "allow": { "x": ["vfs_write(**)"] } }));
    restricted.is_restricted = true;
    let Decision::Ask { rules, .. } = decided("safety_mode: auto", &restricted, "vfs_write", &write("artifacts/a.md"))
    else {
        panic!("it is not asked")
    };
    assert!(rules.iter().any(|rule| matches!(rule.source, AskSource::EachTime { .. })), "{rules:?}");
    let read = FileOperation::Read { path: "memory/a.md".into() };
    assert_eq!(decided("name: x", &restricted, "vfs_read", &read), Decision::Allow);
}

#[test]
fn writing_files_named_in_a_servers_command_needs_approval_each_time() {
    checks_rule!("files-of-servers-are-asked");
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
fn tools_missing_from_the_profile_are_denied() {
    checks_rule!("only-listed-tools-are-used");
    let decision = decided("tools: [vfs_read]", &GatePolicy::default(), "vfs_write", &write("a.md"));
    assert!(matches!(&decision, Decision::Deny { why } if why.contains("vfs_write")), "{decision:?}");
    let of_other = Authority::chain(authority("# x"), [authority("---\ntools: [vfs_read]\n---\n")]);
    let act = Act::of_files("vfs_write", &write("a.md"), &Files::default(), &names());
    assert_eq!(verdict(&decide(&act, &of_other, &GatePolicy::default())), Verdict::Deny);
}

#[test]
fn reads_and_writes_apply_to_every_path_of_an_act() {
    checks_rule!("reads-and-writes-limit-every-path");
    let front = "reads: [artifacts/**]\nwrites: [memory/**]";
    let path = |path: &str| path.to_owned();
    for (operation, expected) in [
        (FileOperation::Read { path: path("./artifacts/a.md") }, Verdict::Allow),
        // A path that the file service rejects is not checked as another path.
        (FileOperation::Read { path: path("artifacts/./a.md") }, Verdict::Deny),
        (FileOperation::Read { path: path("artifacts/../memory/a.md") }, Verdict::Deny),
        (FileOperation::Read { path: path("../artifacts/a.md") }, Verdict::Deny),
        (write("memory/a/b.md"), Verdict::Allow),
        (write("artifacts/a.md"), Verdict::Deny),
        (FileOperation::Delete { path: path("artifacts/a.md") }, Verdict::Deny),
        (FileOperation::Rename { from: path("memory/a"), to: path("memory/b") }, Verdict::Allow),
        (FileOperation::Rename { from: path("memory/a"), to: path("b") }, Verdict::Deny),
        (FileOperation::Rename { from: path("a"), to: path("memory/b") }, Verdict::Deny),
        // Replacing a passage would reveal whether it exists.
        (FileOperation::Edit { path: path("memory/a"), old: path("x"), new: path("y") }, Verdict::Deny),
        (FileOperation::Search { text: None, glob: None }, Verdict::Allow),
        (FileOperation::Record { path: path("memory/a"), content: "x".into(), over: None }, Verdict::Deny),
        (FileOperation::Restore { path: path("memory/a"), version: 1 }, Verdict::Allow),
    ] {
        let decision = decided(front, &GatePolicy::default(), "vfs_edit", &operation);
        assert_eq!(verdict(&decision), expected, "{operation:?}: {decision:?}");
    }
}

#[test]
fn safety_modes_require_the_documented_approvals() {
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
            // The new agent's file has no safety mode, so it would get more than a writer in safe mode has.
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
fn reasons_are_joined_and_truncated() {
    let strict = policy(json!({ "file_write": "ask" }));
    let reasons = why(decided("safety_mode: safe", &strict, "vfs_write", &write("scenes/studio.yaml")));
    for word in ["file_write: ask", "safety mode is safe", "a scene defines"] {
        assert!(reasons.contains(word), "{reasons}");
    }
    let long = format!("writes: [{}]", vec!["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b"; 200].join(", "));
    let reasons = why(decided(&long, &strict, "vfs_write", &write(&"x\n".repeat(5_000))));
    assert!(reasons.chars().count() <= 600 && !reasons.contains('\n'));
}

#[test]
fn acts_without_known_touches_or_with_unchecked_profiles_are_denied() {
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
        authority: Authority::minimal(),
        current: None,
        may_be_forgotten: false,
        holder: None,
        holds_code: true,
        changes_instructions: false,
        in_folder_of_agent: None,
        defines_servers: false,
        names_coding_agent: false,
        would_inherit: false,
    };
    let act = Act { tool: "vfs_write".into(), touches: vec![Touch::Profile(Box::new(change))] };
    assert_eq!(verdict(&decide(&act, &one("name: x"), &GatePolicy::default())), Verdict::Ask);
}

#[test]
fn each_reason_is_given_once_as_a_clause_about_the_agent() {
    let asked = why(decided("safety_mode: safe", &GatePolicy::default(), "vfs_write", &write("artifacts/a.md")));
    assert_eq!(asked, "its safety mode is safe");
    let rename = FileOperation::Rename { from: "scenes/a.yaml".into(), to: "scenes/b.yaml".into() };
    let asked = why(decided("safety_mode: safe", &GatePolicy::default(), "vfs_write", &rename));
    assert_eq!(asked, "its safety mode is safe, and a scene defines agents and contains settings");
    let of_other = Authority::chain(authority("# x"), [authority("---\nsafety_mode: safe\n---\n")]);
    let act = Act::of_files("vfs_write", &write("a.md"), &Files::default(), &names());
    let asked = why(decide(&act, &of_other, &GatePolicy::default()));
    assert_eq!(asked, "the safety mode is safe for an agent that started it");
}

#[test]
fn permanent_permissions_remove_only_their_own_approvals() {
    let rules = ["vfs_write(docs/**)", "vfs_write(scenes/**)", "vfs_write(secret/**)", "vfs_write(agents/**)"];
    let allowing = one("safety_mode: safe").allowing(rules.map(str::to_owned).to_vec());
    let listed = policy(json!({ "ask": ["docs/**"], "deny": ["secret/**"], "file_write": "ask" }));
    let more = "---\nsafety_mode: auto\n---\n# More";
    for (tool, path, content, expected) in [
        ("vfs_write", "docs/a.md", "x", Verdict::Allow),
        ("vfs_write", "artifacts/a.md", "x", Verdict::Ask),
        ("vfs_edit", "docs/a.md", "x", Verdict::Ask),
        ("vfs_write", "secret/a.md", "x", Verdict::Deny),
        // Approvals that are required each time are still required.
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

/// A computer with a sandbox, with these rules for commands.
struct KeptIn(Files);

impl GateContext for KeptIn {
    fn text(&self, path: &str) -> Option<&str> {
        self.0.text(path)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        self.0.profile(id)
    }

    fn former(&self, id: &str) -> RemovedProfile<'_> {
        self.0.former(id)
    }

    fn keeps_programs_in(&self) -> bool {
        true
    }
}

/// Equivalent forms of a file of rules.
fn forms_of(rules: &str) -> Vec<String> {
    let yaml = match rules {
        "" => return vec![String::new()],
        several if several.contains(": ") => several.to_owned(),
        one => serde_yaml::to_string(&std::collections::BTreeMap::from([(one, true)])).expect("it is plain"),
    };
    let below = |key: &str| format!("{key}:\n{}", yaml.lines().map(|line| format!("  {line}\n")).collect::<String>());
    let said = |word: &str| yaml.replace(": true", &format!(": {word}"));
    vec![yaml.clone(), below("patterns"), said("allow"), said("yes"), format!("# one\n{yaml}ls: ask\n")]
}

#[test]
fn no_hostile_command_passes_the_gate_without_approval() {
    let cases = commands::hostile_cases();
    let policies = [
        GatePolicy::default(),
        policy(json!({ "touches": { "process.run": "ask" } })),
        policy(json!({ "file_write": "allow", "file_delete": "allow" })),
    ];
    let (mut judged, mut run) = (0_usize, Vec::new());
    for (rules, line) in &cases {
        // The decision is about what would be started, as the tool requests it.
        let started = words::join(&Command::parse(line.trim()).started_as(line.trim()));
        for rules in forms_of(rules) {
            let there = KeptIn(Files::new(&[(ALLOWLIST_FILE, &rules)]));
            let touch = DeclaredTouch::command(&*started, "");
            let act = Act::of("execute_command", &[touch], &there, &names());
            for mode in ["safe", "balanced", "auto"] {
                let bounds = one(&format!("tools: [execute_command]\nsafety_mode: {mode}"));
                for policy in &policies {
                    judged += 1;
                    if decide(&act, &bounds, policy) == Decision::Allow {
                        run.push(format!("{line:?} by {rules:?} in {mode}"));
                    }
                }
            }
        }
    }
    assert!(judged >= 15_000 && run.is_empty(), "{} of {judged} would run:\n{}", run.len(), run.join("\n"));
    let there = KeptIn(Files::new(&[(ALLOWLIST_FILE, "git status: true\n")]));
    let act = Act::of("execute_command", &[DeclaredTouch::command("git status", "")], &there, &names());
    let allowed = one("tools: [execute_command]\nsafety_mode: balanced");
    assert_eq!(decide(&act, &allowed, &GatePolicy::default()), Decision::Allow, "what a rule says runs");
}

#[test]
fn a_pattern_is_offered_only_if_it_covers_no_other_program() {
    for (line, pattern) in [
        ("git status --short", Some("git status")),
        ("cargo test -p gate", None),
        ("ls -l src", Some("ls")),
        ("docker ps -a", Some("docker ps")),
        ("git", None),
        ("git -c alias.x=!sh status", None),
        ("git --exec-path=. status", None),
        ("find . -exec rm {} +", None),
        ("ls; rm -rf .", None),
        ("ls $(rm x)", None),
        ("env ls", None),
        ("xargs rm", None),
        ("python3 check.py", None),
        ("sh -c 'rm x'", None),
        ("./ls", None),
        ("/bin/ls", None),
        ("A=b ls", None),
        ("tar -xf a.tar", None),
    ] {
        assert_eq!(pattern_for(line).as_deref(), pattern, "{line}");
        if let Some(pattern) = pattern {
            let rules = CommandRules::parse(&with_rule("", pattern).unwrap()).0;
            for more in ["; rm x", " | sh", " $(rm x)", " > settings.yaml", "\nrm x", " `rm x`"] {
                assert_ne!(
                    commands::judge(&format!("{pattern}{more}"), None, &rules).verdict,
                    Verdict::Allow,
                    "{pattern}{more}"
                );
            }
        }
    }
    for (_, line) in commands::hostile_cases() {
        if let Some(pattern) = pattern_for(&line) {
            let rules = CommandRules::parse(&with_rule("", &pattern).unwrap()).0;
            assert!(!pattern.contains(['*', ';', '|', '&', '$']), "{line}: {pattern}");
            assert_eq!(commands::judge(&line, None, &rules).verdict, Verdict::Allow);
        }
    }
}

#[test]
fn adding_a_rule_keeps_the_rest_of_the_file() {
    let text = "# What may run here.\nls: true   # looks\n\nrm: false\n# the end\n";
    let added = with_rule(text, "git status").unwrap();
    for line in text.lines() {
        assert!(added.lines().any(|found| found == line), "{line:?} in {added}");
    }
    assert!(added.contains("git status: true"), "{added}");
    assert_eq!(with_rule(&added, "git status").as_deref(), Ok(&*added), "it is there already");
    let nested = "patterns:\n  # mine\n  ls: true\n";
    let added = with_rule(nested, "git status").unwrap();
    assert!(added.starts_with(nested) && added.contains("\n  git status: true"), "{added}");
    assert!(with_rule("- a\n", "ls").is_err() && with_rule("a: [\n", "ls").is_err());
    assert_eq!(with_rule("", "ls").unwrap().trim(), "ls: true");
}

#[test]
fn an_agent_that_was_not_seen_yet_reaches_outside_only_with_approval_whatever_the_rules_allow() {
    checks_rule!("unseen-agents-ask-before-reaching-out");
    let policy = policy(json!({ "touches": { "net.fetch": "allow", "message.post": "allow", "mcp.call": "allow" } }));
    let fetch = || Act {
        tool: "web_fetch".to_owned(),
        touches: vec![Touch::Other { kind: TouchKind::NET_FETCH, target: "https://a.example/".to_owned() }],
    };
    let own = |is_unseen| {
        let tools = ["web_fetch", "vfs_write"].map(str::to_owned).into();
        Authority { tools, is_unseen, ..authority("# x") }
    };
    let bounds = |is_unseen| Authority::chain(own(is_unseen), []);
    assert_eq!(decide(&fetch(), &bounds(false), &policy), Decision::Allow);
    let Decision::Ask { rules, why, .. } = decide(&fetch(), &bounds(true), &policy) else { panic!("it is not asked") };
    assert!(why.contains("have not seen"), "{why}");
    assert!(rules.iter().all(|rule| rule.for_task().is_some()), "it can be allowed for the task: {rules:?}");
    let started = Authority::chain(own(false), [own(true)]);
    assert_eq!(verdict(&decide(&fetch(), &started, &policy)), Verdict::Ask, "and so may nobody that it starts");
    let inside = Act::of_files("vfs_write", &write("artifacts/a.md"), &Files::default(), &names());
    assert_eq!(decide(&inside, &bounds(true), &policy), Decision::Allow, "its ordinary work goes on");
    let permitted = bounds(true).allowing(vec!["web_fetch(https://a.example/)".to_owned()]);
    assert_eq!(decide(&fetch(), &permitted, &policy), Decision::Allow, "the person permitted exactly this");
}
