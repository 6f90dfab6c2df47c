//! Reading agents from Markdown.

use super::*;
use crate::agent::McpEntry;
use crate::base::Behaviour;
use crate::workspace::vfs::worktrees;

fn ada(text: &str) -> AgentFile {
    read("agents/ada.md", text)
}

#[test]
fn a_file_without_front_matter_is_an_agent() {
    let file = ada("# Countess of Lovelace\n\nYou compute.\n");
    assert_eq!((&*file.profile.id, file.profile.name.as_str()), ("ada", "Countess of Lovelace"));
    assert_eq!(file.profile.instructions, "# Countess of Lovelace\n\nYou compute.");
    assert_eq!(file.profile.tools, None);
    assert!(file.profile.share_workspace_info && !file.profile.share_user_info);
    assert!(file.problems.is_empty() && !file.malformed);
    assert_eq!(ada("").profile.name, "Ada");
}

#[test]
fn every_key_is_read() {
    let file =
        ada("---\nid: The Ada\nname: Ada\ndescription: counts\nmodel: ollama:qwen\ntools: [vfs_read]\nmcp_servers: \
         [git]\nskills: [sums]\nshare_workspace_info: no\nshare_user_info: true\nbehaviour: patrol\navatar: \
         fox\nsafety_mode: balanced\nreads: ['a/**']\nwrites: []\n---\nbody");
    let profile = file.profile;
    assert_eq!(&*profile.id, "the-ada");
    assert_eq!((&*profile.name, &*profile.description, profile.avatar.as_deref()), ("Ada", "counts", Some("fox")));
    assert_eq!(profile.safety_mode.as_deref(), Some("balanced"));
    assert_eq!(profile.tools.as_deref(), Some(&["vfs_read".to_owned()][..]));
    let git = Some(vec![McpEntry::Named("git".to_owned())]);
    assert_eq!((profile.mcp_servers, profile.skills), (git, vec!["sums".to_owned()]));
    assert_eq!(profile.model.as_deref(), Some("ollama:qwen"));
    assert_eq!((profile.share_workspace_info, profile.share_user_info), (false, true));
    assert_eq!(profile.behaviour, Some(Behaviour::Patrol));
    assert_eq!((profile.reads, profile.writes), (Some(vec!["a/**".to_owned()]), Some(Vec::new())));
    assert!(file.has_explicit_id && file.problems.is_empty());
}

#[test]
fn files_for_other_programs_work() {
    let file = ada("---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep , \nmodel: sonnet\nshareUserInfo: \
         true\nmcpServers: git\nsafetyMode: safe\nbehavior: wander\ncolor: red\n---\nReview.");
    let profile = file.profile;
    assert_eq!(profile.tools, Some(vec!["Read".to_owned(), "Grep".to_owned()]));
    assert_eq!(profile.mcp_servers, Some(vec![McpEntry::Named("git".to_owned())]));
    assert_eq!(profile.safety_mode.as_deref(), Some("safe"));
    assert_eq!(profile.behaviour, Some(Behaviour::Wander));
    assert!(profile.share_user_info);
    assert_eq!(profile.extra["color"], "red");
    assert!(file.problems.is_empty(), "{:?}", file.problems);
}

#[test]
fn a_mistyped_key_is_kept_and_reported() {
    let file = ada("---\nname: Ada\nmodle: x\n---\n");
    assert_eq!(file.profile.extra["modle"], "x");
    assert_eq!(file.problems[0].to_string(), "agents/ada.md:3: unknown key \"modle\" (did you mean \"model\"?)");
}

#[test]
fn a_limiting_key_without_a_value_still_limits() {
    let file = ada("---\ntools:\n  # - vfs_write\nreads: ~\nwrites: null\nsafety_mode:\nmodel:\n---\nbody");
    let none = Some(Vec::new());
    assert_eq!((&file.profile.tools, &file.profile.reads, &file.profile.writes), (&none, &none, &none));
    assert_eq!(file.profile.safety_mode.as_deref(), Some(MIN_SAFETY_MODE));
    let lines: Vec<_> = file.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(2), Some(4), Some(5), Some(6)]);
    assert_eq!(ada("---\ntools: {}\n---\n").profile.tools, none, "what it says is not known");
}

#[test]
fn reserved_ids_are_refused() {
    for (path, text, reserved, id) in [
        ("agents/ada.md", "---\nname: A\nid: User\n---\n", "user", "user-agent"),
        ("agents/outside.md", "Hi", "outside", "outside-agent"),
        ("agents/room.md", "---\nname: [\n---\n", "room", "room-agent"),
    ] {
        let file = read(path, text);
        assert_eq!((file.reserved_id.as_deref(), &*file.profile.id), (Some(reserved), id), "{path}");
        assert!(file.problems.iter().any(|problem| problem.what.contains(id)), "{:?}", file.problems);
    }
    assert_eq!(read("agents/ada.md", "---\nname: A\nid: User\n---\n").problems[0].line, Some(3));
}

#[test]
fn a_model_left_open_counts_as_none() {
    for model in ["inherit", "Default", "''", "~"] {
        assert_eq!(ada(&format!("---\nmodel: {model}\n---\n")).profile.model, None, "{model}");
    }
}

#[test]
fn malformed_front_matter_gives_the_least_privileges() {
    for (text, line) in [
        ("---\nname: Ada\nno end", Some(1)),
        ("---\n{name: Ada, tools: [\n---\nbody", Some(3)),
        ("---\njust words\n---\nbody", Some(2)),
    ] {
        let file = ada(text);
        assert!(file.malformed, "{text}");
        assert_eq!(file.profile.instructions, text);
        assert_eq!(file.profile.tools, Some(Vec::new()));
        assert!(!file.profile.share_workspace_info && !file.profile.share_user_info);
        assert_eq!(file.profile.safety_mode.as_deref(), Some(MIN_SAFETY_MODE));
        assert_eq!(file.problems[0].line, line, "{text}: {:?}", file.problems);
    }
}

#[test]
fn front_matter_that_yaml_refuses_is_read_line_by_line_with_one_note() {
    let file = ada(
        "---\nname: rapid-prototyper\ndescription: Use this agent when it counts. Examples:\\n\\n<example>Context: \
         a start\\nuser: \"Go\"</example>\ntools: Read, Write, MultiEdit\nmodel: sonnet\ncolor: green\n---\n\nYou build.",
    );
    let profile = &file.profile;
    assert!(!file.malformed);
    assert_eq!((profile.name.as_str(), profile.instructions.as_str()), ("rapid-prototyper", "You build."));
    assert!(profile.description.starts_with("Use this agent when it counts. Examples: <example>Context: a start"));
    assert_eq!(profile.tools.as_ref().map(Vec::len), Some(3));
    assert_eq!((profile.model.as_deref(), profile.extra["color"].as_str()), (Some("sonnet"), Some("green")));
    assert_eq!(file.problems.len(), 1, "{:?}", file.problems);
    assert_eq!((file.problems[0].severity, file.problems[0].line), (Severity::Warning, Some(3)));
}

#[test]
fn limiting_lines_apply_even_if_the_rest_is_invalid_yaml() {
    let broken = |line: &str| ada(&format!("---\nname: a: b\n{line}\n---\nbody")).profile;
    for line in ["tools: [Read", "tools: none: Write", "tools:", "tools: {a: b}", "\"tools\": [Read"] {
        assert_eq!(broken(line).tools, Some(Vec::new()), "{line}");
    }
    assert_eq!(broken("tools: [Read]\ntools: []").limits, [Limit::OnlyTools(Vec::new())]);
    assert_eq!(broken("disallowedTools: Write, Edit").limits, [Limit::NotTools(vec!["Write".into(), "Edit".into()])]);
    assert_eq!(broken("permissionMode: plan").limits, [Limit::ReadOnly]);
    assert_eq!(broken("readonly: false: x").limits, [Limit::ReadOnly]);
    assert_eq!(broken("restrictions: a: b").limits, [Limit::NotTools(vec!["a:".into(), "b".into()])]);
    assert_eq!(broken("writes: a: b").writes, Some(Vec::new()));
    assert_eq!(broken("safety_mode: [auto").safety_mode.as_deref(), Some(MIN_SAFETY_MODE), "its end is missing");
    assert_eq!(broken("safety_mode: auto: x").safety_mode.as_deref(), Some("auto: x"), "no mode is called so");
    assert!(!broken("share_workspace_info: no: x").share_workspace_info);
    assert!(!broken("share_user_info: yes: x").share_user_info);
}

#[test]
fn limits_in_ambiguous_yaml_apply() {
    let file = ada("---\nname: x\ndescription: it is: so\n  tools: [Read]\n  permissionMode: plan\n---\nbody");
    assert_eq!(file.profile.tools, Some(vec!["Read".to_owned()]));
    assert_eq!(file.profile.limits, [Limit::ReadOnly]);
    let quoted = ada("---\nname: x\ndescription: |\n  it is: so\n  tools: [Read]\n---\nbody");
    assert_eq!(quoted.profile.tools, None, "YAML says that it is text");
}

proptest::proptest! {
    #[test]
    fn a_limiting_line_applies_anywhere_in_any_context(
        lines in proptest::collection::vec(proptest::sample::select(vec![
            "name: a: b", "description: when: now", "  more: words", "- item", "<example>", "user: \"hm\"", "color: [",
            "tags:", "  - a", "", "# remark", "model: sonnet", "'odd", "tools: Read, Write", "x", "\t y: z", "{", "base: &b",
        ]), 0..8),
        at in 0..9_usize,
    ) {
        let mut lines = lines;
        lines.insert(at.min(lines.len()), "disallowedTools: [Write]");
        let file = ada(&format!("---\n{}\n---\nbody", lines.join("\n")));
        let is_nothing = file.malformed && file.profile.tools == Some(Vec::new());
        let forbids = |limit: &Limit| matches!(limit, Limit::NotTools(_) | Limit::OnlyTools(_) | Limit::Nothing);
        proptest::prop_assert!(is_nothing || file.profile.limits.iter().any(forbids), "{lines:?} {:?}", file.profile);
    }
}

#[test]
fn an_invalid_entry_or_key_does_not_affect_the_rest_of_the_file() {
    let file =
        ada("---\nname: [a]\ntools: [vfs_read, {a: b}, Read]\nskills: 3\nshare_user_info: maybe\nwrites: 7\n---\nbody");
    let profile = &file.profile;
    assert!(!file.malformed);
    assert_eq!((profile.name.as_str(), profile.instructions.as_str()), ("Ada", "body"));
    assert_eq!(profile.tools, Some(vec!["vfs_read".to_owned(), "Read".to_owned()]));
    assert_eq!((profile.share_user_info, profile.writes.clone()), (false, Some(Vec::new())));
    let lines: Vec<_> = file.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(2), Some(3), Some(4), Some(5), Some(6)], "{:?}", file.problems);
}

#[test]
fn a_star_means_the_default_tools() {
    for tools in ["'*'", "['*']", "*"] {
        assert_eq!(ada(&format!("---\nname: x\ntools: {tools}\n---\n")).profile.tools, None, "{tools}");
    }
}

#[test]
fn a_tool_with_conditions_is_one_name() {
    let tools = ada("---\ntools: Read, Bash(git status, git diff:*), Grep\n---\n").profile.tools;
    assert_eq!(tools.unwrap(), ["Read", "Bash(git status, git diff:*)", "Grep"]);
}

#[test]
fn headings_in_code_are_not_names() {
    assert_eq!(ada("```\n# no\n```\n# Yes #\n").profile.name, "Yes");
    for shown in ["~~~\n# no\n~~~", "````\n```\n# no\n````", "> # no", "- # no", "<!--\n# no\n-->", "#"] {
        assert_eq!(ada(&format!("{shown}\n\n# *Yes*,  `Ada`\n")).profile.name, "Yes, Ada", "{shown}");
    }
    assert_eq!(ada("#tag\n## Below\n").profile.name, ada("").profile.name, "no heading of the first level");
}

#[test]
fn servers_of_its_own_are_read_and_what_cannot_be_used_says_its_line() {
    let file =
        ada("---\nname: Ada\nmcp_servers:\n  - git\n  - name: vault\n    command: npx vault\n  - name: odd\n    \
                    transport: http\n---\nHi");
    let servers = file.profile.mcp_servers.unwrap_or_default();
    assert_eq!(servers.iter().map(McpEntry::name).collect::<Vec<_>>(), ["git", "vault"]);
    assert!(matches!(&servers[1], McpEntry::Defined(server) if server.shown() == "npx vault"));
    assert_eq!((file.problems.len(), file.problems[0].line), (1, Some(7)), "{:?}", file.problems);
    assert_eq!(ada("---\nmcp_servers: []\n---\n").profile.mcp_servers, Some(Vec::new()));
    assert_eq!(ada("---\nname: Ada\n---\n").profile.mcp_servers, None);
}

#[test]
fn an_agent_works_in_a_copy_of_its_own_where_its_file_says_so_or_cannot_be_understood() {
    // A program without worktrees says so, and the agent's limits stay.
    let missing = usize::from(!worktrees::ARE_BUILT_IN);
    for (front, has_worktree, problems) in [
        ("", false, 0),
        ("workspace: git\n", true, missing),
        ("workspace: Git\n", true, missing),
        ("workspace: shared\n", false, 0),
        ("workspace: svn\n", true, 1),
        ("workspace:\n", true, 1),
    ] {
        let file = read("agents/ada.md", &format!("---\nname: Ada\n{front}---\nYou are Ada.\n"));
        assert_eq!((file.profile.has_worktree, file.problems.len()), (has_worktree, problems), "{front}");
    }
}
