//! The meaning of keys that do not belong to a profile itself.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn only(names: &[&str]) -> Vec<Limit> {
    vec![Limit::OnlyTools(list(names))]
}

fn not(names: &[&str]) -> Vec<Limit> {
    vec![Limit::NotTools(list(names))]
}

fn safe() -> Vec<Limit> {
    vec![Limit::Safety("safe".to_owned())]
}

#[test]
fn limits_of_other_products_are_understood() {
    for (key, value, limits) in [
        ("disallowedTools", json!("Write, Edit"), not(&["Write", "Edit"])),
        ("disallowed-tools", json!(["Write"]), not(&["Write"])),
        ("blocked_tools", json!(["Bash"]), not(&["Bash"])),
        ("disabledTools", json!(["Bash"]), not(&["Bash"])),
        ("deny", json!(["Read(./.env)"]), not(&["Read(./.env)"])),
        ("allowed-tools", json!("Read Grep Bash(git *)"), only(&["Read", "Grep", "Bash(git *)"])),
        ("allowed_tools", json!(["Read"]), only(&["Read"])),
        ("whitelist", json!(["Read"]), only(&["Read"])),
        ("available_tools", json!(["Read"]), only(&["Read"])),
        ("permissionMode", json!("plan"), vec![Limit::ReadOnly]),
        ("permission_mode", json!("acceptEdits"), vec![Limit::Safety("balanced".to_owned())]),
        ("permissionMode", json!("default"), safe()),
        ("permissionMode", json!("whatever"), safe()),
        ("permissions", json!("read-only"), vec![Limit::ReadOnly]),
        ("permissions", json!({ "deny": ["Write"], "ask": ["Bash"] }), [not(&["Write"]), safe()].concat()),
        ("permissions", json!({ "allow": ["Read"] }), only(&["Read"])),
        ("permission", json!({ "edit": "deny", "bash": { "git *": "ask" } }), [not(&["edit"]), safe()].concat()),
        ("readonly", json!(true), vec![Limit::ReadOnly]),
        ("read_only", json!("yes"), vec![Limit::ReadOnly]),
        ("sandbox_mode", json!("read-only"), vec![Limit::ReadOnly]),
        ("approval_policy", json!("on-request"), safe()),
        ("allow_delegation", json!(false), not(&["spawn_agent"])),
        ("allowed_agents", json!(["ada"]), not(&["spawn_agent"])),
        ("allow_file_writes", json!(false), vec![Limit::ReadOnly]),
        ("no_tools", json!(true), only(&[])),
        (
            "allowed_directories",
            json!(["docs"]),
            vec![Limit::OnlyReads(list(&["docs", "docs/**"])), Limit::OnlyWrites(list(&["docs", "docs/**"]))],
        ),
        ("writable_paths", json!("docs/**"), vec![Limit::OnlyWrites(list(&["docs/**"]))]),
        ("security", json!({ "tools": ["Read"], "max_tokens": 5 }), only(&["Read"])),
    ] {
        assert_eq!(meaning(key, &value), KeyMeaning::Limits(limits), "{key}: {value}");
    }
}

#[test]
fn a_typo_counts_as_the_intended_key() {
    for (key, value, meant, limits) in [
        ("tols", json!(["vfs_read"]), "tools", only(&["vfs_read"])),
        ("tool", json!("vfs_read"), "tools", only(&["vfs_read"])),
        ("t\u{43e}ols", json!(["vfs_read"]), "tools", only(&["vfs_read"])),
        ("tools\u{200b}", json!(["vfs_read"]), "tools", only(&["vfs_read"])),
        ("tols", json!(null), "tools", only(&[])),
        ("write", json!(["artifacts/**"]), "writes", vec![Limit::OnlyWrites(list(&["artifacts/**"]))]),
        ("wirtes", json!([]), "writes", vec![Limit::OnlyWrites(Vec::new())]),
        ("raeds", json!(["a"]), "reads", vec![Limit::OnlyReads(list(&["a", "a/**"]))]),
        ("saftey_mode", json!("balanced"), "safety_mode", vec![Limit::Safety("balanced".to_owned())]),
        ("share_worksapce_info", json!(false), "share_workspace_info", vec![Limit::NotTheBoards]),
        ("disalowedTools", json!(["Write"]), "disallowedTools", not(&["Write"])),
        ("alowed_tools", json!(["Read"]), "allowedTools", only(&["Read"])),
        ("permisions", json!("readonly"), "permissions", vec![Limit::ReadOnly]),
    ] {
        assert_eq!(meaning(key, &value), KeyMeaning::Mistyped(meant, limits), "{key}: {value}");
    }
}

#[test]
fn unknown_limits_are_unclear() {
    for (key, value) in [
        ("denied_paths", json!(["secrets/**"])),
        ("permissions", json!(["some", "list"])),
        ("permissions", json!({ "network": "maybe" })),
        ("restrictions", json!({ "files": "few" })),
        ("restricted", json!(true)),
        ("guardrails", json!("Never show a key.")),
        ("preferred_tools", json!(["Read"])),
        ("disabled", json!(true)),
        ("access", json!("some")),
        ("allowed_tools", json!({ "Read": { "paths": ["a"] } })),
        ("security", json!({ "security": { "security": { "security": { "tools": [] } } } })),
    ] {
        assert_eq!(meaning(key, &value), KeyMeaning::Unclear, "{key}: {value}");
    }
}

#[test]
fn keys_that_limit_nothing_are_ignored() {
    for (key, value) in [
        ("color", json!("red")),
        ("icon", json!("star")),
        ("version", json!(1.0)),
        ("author", json!("Ann")),
        ("writer", json!("Ann")),
        ("tags", json!(["a", "b"])),
        ("title", json!("Ada")),
        ("goals", json!(["win"])),
        ("role", json!("Analyst")),
        ("rules", json!("be kind")),
        ("temperature", json!(0.2)),
        ("max_tokens", json!(100)),
        ("maxTurns", json!(5)),
        ("max_tool_calls", json!(5)),
        ("tool_choice", json!("auto")),
        ("disable-model-invocation", json!(true)),
        ("argument-hint", json!("[file]")),
        ("mode", json!("subagent")),
        ("isolation", json!("worktree")),
        ("hooks", json!({ "PreToolUse": [{ "matcher": "Bash" }] })),
        ("metadata", json!({ "category": "x" })),
        ("globs", json!("**/*.ts")),
        ("alwaysApply", json!(true)),
        ("allow_delegation", json!(true)),
        ("allowed_commands", json!(["ls"])),
        ("permissionMode", json!("bypassPermissions")),
        ("disallowedTools", json!([])),
        ("disabled", json!(false)),
        ("readonly", json!(false)),
        ("modle", json!("gpt")),
        ("", json!(null)),
    ] {
        assert_eq!(meaning(key, &value), KeyMeaning::NoLimit, "{key}: {value}");
    }
}

#[test]
fn disabled_tools_are_removed() {
    let switched = |value: Value| super::switched(value.as_object().expect("it is a map"));
    assert_eq!(switched(json!({ "write": false, "read": true })), not(&["write"]));
    assert_eq!(switched(json!({ "*": false, "read": true })), only(&["read"]));
    assert_eq!(switched(json!({ "read": true })), []);
}

proptest! {
    #[test]
    fn any_key_with_any_value_has_a_meaning(key in "\\PC{0,24}", text in "\\PC{0,24}", deep in 0..20_usize) {
        let nested = (0..deep).fold(json!([text.clone()]), |value, _| json!({ key.as_str(): value }));
        for value in [json!(text), nested, json!(null), json!(true), json!(7)] {
            meaning(&key, &value);
        }
    }
}
