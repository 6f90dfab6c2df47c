//! Previews and sentences for every built-in tool and for external ones.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::agent::{AgentProfile, RemovedProfile, markdown};
use crate::base::ActivationKey;
use crate::base::visible_text::sha256_of;
use crate::gate::{Authority, ToolScope, TouchKind};
use crate::mind::ToolCall;
use crate::tools::{Caller, Planned, PreviewLineKind, builtin};

/// A workspace with some texts and one agent.
struct Texts {
    texts: BTreeMap<&'static str, &'static str>,
    ada: AgentProfile,
}

const ADA: &str = "---\nname: Ada Lovelace\n---\nYou write.\n";

impl Texts {
    fn new() -> Self {
        let texts = [("artifacts/a.md", "one\ntwo\nthree\n"), ("agents/ada.md", ADA), ("settings.yaml", "a: 1\n")];
        Self { texts: texts.into(), ada: markdown::read("agents/ada.md", ADA).profile }
    }
}

impl GateContext for Texts {
    fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).copied()
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        (id == "ada").then_some(("agents/ada.md", &self.ada))
    }

    fn former(&self, _: &str) -> RemovedProfile<'_> {
        RemovedProfile::Never
    }
}

fn plan(tool: &str, arguments: &Value) -> ToolPlan {
    let tools = builtin();
    let all: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let front = format!("---\nagent_type: planner\nworkspace: git\ntools: [{}]\n---\n", all.join(", "));
    let profile = markdown::read("agents/boss.md", &front).profile;
    let bounds = Authority::chain(Authority::of("agents/boss.md", &profile, tools.names()).0, []);
    let caller = Caller { profile: "boss", session: ActivationKey::numbered(1) };
    let call = ToolCall::new("c", tool, arguments.clone());
    tools.parse(&call, caller, &bounds).unwrap_or_else(|error| panic!("{error}"))
}

fn order(kind: TouchKind, target: &str, order: Value) -> ToolPlan {
    Planned::order("elsewhere", order, vec![DeclaredTouch::new(kind, target)], ("using", "it")).of("a_tool")
}

#[test]
fn every_built_in_tool_has_a_sentence_and_a_preview() {
    let cases = [
        ("vfs_read", json!({ "path": "artifacts/a.md" }), "read artifacts/a.md"),
        ("vfs_read", json!({ "path": "artifacts/a.md", "from_line": 2 }), "read artifacts/a.md"),
        ("vfs_write", json!({ "path": "artifacts/b.md", "content": "x" }), "write artifacts/b.md"),
        ("vfs_write", json!({ "path": "settings.yaml", "content": "x" }), "change settings.yaml"),
        (
            "vfs_write",
            json!({ "path": "agents/ada.md", "content": "x" }),
            "change the agent Ada Lovelace (agents/ada.md)",
        ),
        ("vfs_write", json!({ "path": "agents/bea.md", "content": "---\nname: Bea\n---\n" }), "create an agent: Bea"),
        ("vfs_append", json!({ "path": "artifacts/a.md", "text": "x" }), "add to artifacts/a.md"),
        ("vfs_edit", json!({ "path": "artifacts/a.md", "old": "two", "new": "2" }), "change artifacts/a.md"),
        ("vfs_list", json!({}), "list all files"),
        ("vfs_list", json!({ "prefix": "memory/" }), "list the files in memory/"),
        ("vfs_search", json!({ "text": "tea" }), "search all files for \"tea\""),
        ("vfs_search", json!({ "text": "tea", "glob": "memory/**" }), "search for \"tea\" in memory/**"),
        ("vfs_search", json!({ "glob": "*.md" }), "look for files: *.md"),
        ("vfs_rename", json!({ "from": "a.md", "to": "b.md" }), "rename a.md to b.md"),
        ("vfs_delete", json!({ "path": "artifacts/a.md" }), "delete artifacts/a.md"),
        ("vfs_delete", json!({ "path": "agents/ada.md" }), "delete the agent Ada Lovelace (agents/ada.md)"),
        (
            "spawn_agent",
            json!({ "filename": "bea.md", "content": "---\nname: Launch party researcher\n---\nDig.", "task": "Go." }),
            "create an agent: Launch party researcher",
        ),
        ("spawn_agent", json!({ "filename": "ada", "task": "Go." }), "start the agent Ada Lovelace"),
        ("signal_parent", json!({ "message": "Done." }), "report to the agent that started it"),
        ("delegate", json!({ "agent": "ada", "task": "Count." }), "hand a task over to Ada Lovelace"),
        ("publish", json!({ "channel": "#News", "message": "Hi." }), "send a message to channel news"),
        ("subscribe", json!({ "channel": "news" }), "listen to channel news"),
        ("unsubscribe", json!({ "channel": "news" }), "listen to channel news"),
        ("blackboard_write", json!({ "key": "plan", "value": "x" }), "send a message to the blackboard (plan)"),
        ("blackboard_read", json!({}), "listen to the blackboard"),
        ("knowledge_query", json!({ "query": "Which port?" }), "search memories: Which port?"),
        ("knowledge_contribute", json!({ "content": "Port 1 is free." }), "add a shared memory: Port 1 is free."),
        ("knowledge_contribute", json!({ "content": "Be brief.", "private": true }), "remember: Be brief."),
        ("query_tasks", json!({ "query": "SELECT * FROM tasks/*.task.md" }), "look through the task files"),
        ("create_task", json!({ "title": "Count" }), "add a task to tasks/work.task.md: Count"),
        (
            "update_task",
            json!({ "id": "count", "file": "plan.task.md", "status": "completed" }),
            "change the task count in tasks/plan.task.md",
        ),
        ("send_message", json!({ "to": "@ada", "message": "Hi." }), "write to ada"),
        ("list_active_sessions", json!({}), "list the sessions of other agents"),
        ("read_session", json!({ "session": "ada.act-7" }), "read the session ada.act-7"),
        (
            "edit_session",
            json!({ "session": "ada.act-7", "guidance": "Go on." }),
            "add guidance to the session ada.act-7",
        ),
        ("execute_command", json!({ "command": "ls  -l" }), "run `ls -l`"),
        ("web_fetch", json!({ "url": "https://example.org/a#b" }), "fetch https://example.org/a"),
        ("create_directory", json!({ "path": "artifacts/new" }), "create the folder artifacts/new"),
        ("slack_read", json!({}), "read messages from Slack"),
        ("slack_send", json!({ "channel": "#ops", "text": "Hi." }), "send a message to #ops in Slack"),
        ("propose_changes", json!({}), "merge the changes in its copy into the workspace"),
    ];
    for (tool, arguments, expected) in &cases {
        assert_eq!(describe_intent(&plan(tool, arguments), &Texts::new()), *expected, "{tool} {arguments}");
    }
    let named = |tool: &str| cases.iter().any(|(named, ..)| *named == tool);
    let mut tools = builtin().iter().filter(|tool| tool.scope != ToolScope::CodingAgent);
    assert!(tools.all(|tool| named(&tool.name)), "each tool has a sentence here");
}

#[test]
fn no_text_of_a_patch_looks_like_a_heading() {
    let text = "--- a/notes/a.md\n+++ b/notes/a.md\n@@ -1,2 +1,2 @@\n one\n--- a/hidden.md\n+++ b/hidden.md\n--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+new\nnot merged: x.png (it is not text)\n";
    let lines = Preview::Patch { text: text.into() }.lines();
    let marked: Vec<String> = lines.iter().flat_map(|line| line.rows(100)).collect();
    let wanted = [
        "notes/a.md:",
        "  | one",
        "  - -- a/hidden.md",
        "  + ++ b/hidden.md",
        "new.md is new:",
        "  + new",
        "  not merged: x.png (it is not text)",
    ];
    assert_eq!(marked, wanted);
}

#[test]
fn a_gap_in_a_patch_is_a_place_where_lines_are_unchanged() {
    let of = |hunks: &str| {
        let text = format!("--- a/a.md\n+++ b/a.md\n{hunks}");
        let lines = Preview::Patch { text }.lines();
        lines.iter().map(|line| line.mark == PreviewLineKind::Gap).collect::<Vec<_>>()
    };
    assert_eq!(of("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"), [false, false, false, false]);
    assert_eq!(of("@@ -7 +7 @@\n-seven\n+7\n"), [false, true, false, false]);
    assert_eq!(of("@@ -1 +1 @@\n-one\n+1\n@@ -9 +9 @@\n-nine\n+9\n"), [false, false, false, true, false, false]);
}

#[test]
fn all_of_a_long_patch_is_shown_with_its_length_and_hash() {
    let count = 9_000;
    let added: String = (0..count).map(|number| format!("+line {number}\n")).collect();
    let text = format!("--- /dev/null\n+++ b/long.md\n@@ -0,0 +1,{count} @@\n{added}");
    assert!(text.chars().count() > 60_000);
    let lines = Preview::Patch { text: text.clone() }.lines();
    let heading = &lines[0];
    assert_eq!(heading.mark, PreviewLineKind::Heading);
    let size =
        format!("{} characters in {} lines, SHA-256 {}", text.chars().count(), count + 4, &sha256_of(&text)[..16]);
    assert!(heading.text.contains(&size), "{size} in {}", heading.text);
    let shown: Vec<&str> =
        lines.iter().filter(|line| line.mark == PreviewLineKind::Added).map(|line| line.text.as_str()).collect();
    assert!((0..count).all(|number| shown[number] == format!("line {number}")) && shown.len() == count);
}

#[test]
fn external_tools_are_described_by_what_they_touch() {
    for (kind, target, expected) in [
        (TouchKind::PROCESS_RUN, "cargo test", "run `cargo test`"),
        (TouchKind::NET_FETCH, "https://example.org/a", "fetch https://example.org/a"),
        (TouchKind::MCP_CALL, "github/list_issues", "call github/list_issues"),
        (TouchKind::MESSAGE_SEND, "ada", "send a message to ada"),
        (TouchKind::new("radio.send"), "", "use the tool a_tool"),
        (TouchKind::new("radio.send"), "99.9\u{202e}\n", "use the tool a_tool on 99.9‹U+202E›"),
    ] {
        assert_eq!(describe_intent(&order(kind, target, Value::Null), &Texts::new()), expected);
    }
    let touches = ["a", "b", "c", "d"].map(|path| DeclaredTouch::new(TouchKind::FILE_READ, path));
    let many = Planned::order("elsewhere", Value::Null, touches.to_vec(), ("using", "it")).of("a_tool");
    assert_eq!(describe_intent(&many, &Texts::new()), "read a and read b and 2 more");
}

#[test]
fn a_change_is_shown_as_removed_and_added_lines() {
    let shown = |tool: &str, arguments: Value| {
        let lines = Preview::of(&plan(tool, &arguments), &arguments, &Texts::new()).lines();
        let mark = |mark| match mark {
            PreviewLineKind::Heading => "#",
            PreviewLineKind::Plain => " ",
            PreviewLineKind::Added => "+",
            PreviewLineKind::Removed => "-",
            PreviewLineKind::Gap => "~",
        };
        lines.iter().map(|line| format!("{}{}", mark(line.mark), line.text)).collect::<Vec<_>>()
    };
    let edited = ["#artifacts/a.md", " one", "-two", "+2", " three"];
    assert_eq!(shown("vfs_edit", json!({ "path": "artifacts/a.md", "old": "two", "new": "2" })), edited);
    assert_eq!(shown("vfs_write", json!({ "path": "artifacts/a.md", "content": "one\n2\nthree\n" })), edited);
    let elsewhere = json!({ "path": "artifacts/a.md", "old": "four", "new": "4" });
    assert_eq!(shown("vfs_edit", elsewhere), ["#artifacts/a.md", "-four", "+4"], "the passage alone");
    assert_eq!(
        shown("vfs_write", json!({ "path": "b.md", "content": "x\ny" })),
        ["#The whole text of b.md", "+x", "+y"]
    );
    assert_eq!(shown("vfs_append", json!({ "path": "b.md", "text": "x" })), ["#At the end of b.md", "+x"]);
    let deleted = ["#settings.yaml is deleted; its versions are kept", "-a: 1", "-"];
    assert_eq!(shown("vfs_delete", json!({ "path": "settings.yaml" })), deleted);
    assert_eq!(shown("vfs_rename", json!({ "from": "a.md", "to": "b.md" })), ["#The file is called", "-a.md", "+b.md"]);
    let started = json!({ "filename": "ada", "task": "Go\non." });
    assert_eq!(shown("spawn_agent", started), ["#The task for ada", " Go", " on."]);
    assert_eq!(shown("vfs_read", json!({ "path": "a.md" })), ["#path", " a.md"]);
    let spawned = shown("spawn_agent", json!({ "filename": "bea.md", "content": "# Bea", "task": "Go." }));
    assert_eq!(&spawned[..3], ["#Its task", " Go.", "#Its file agents/bea.md"]);
    assert!(spawned.contains(&"+# Bea".to_owned()), "{spawned:?}");
}

#[test]
fn knowing_the_current_text_adds_details() {
    let arguments = json!({ "path": "b.md", "content": "x\ny" });
    let written = Preview::of(&plan("vfs_write", &arguments), &arguments, &Texts::new());
    assert_eq!(written.unknown_file(), Some("b.md"));
    let known = written.with_current_text("x\nz");
    assert_eq!(known.unknown_file(), None);
    let added: Vec<String> =
        known.lines().into_iter().filter(|line| line.mark == PreviewLineKind::Added).map(|line| line.text).collect();
    assert_eq!(added, ["y"]);
}

#[test]
fn commands_and_addresses_are_shown_with_folder_and_details() {
    let run = order(TouchKind::PROCESS_RUN, "cargo test", json!({ "cwd": "crates" }));
    let expected = Preview::Command { line: "cargo test".into(), folder: Some("crates".into()) };
    assert_eq!(Preview::of(&run, &Value::Null, &Texts::new()), expected);
    for arguments in [json!({ "cwd": "" }), Value::Null] {
        let run = order(TouchKind::PROCESS_RUN, "cargo test", arguments);
        let shown: Vec<String> =
            Preview::of(&run, &Value::Null, &Texts::new()).lines().into_iter().map(|line| line.text).collect();
        assert_eq!(shown, ["Command", "cargo test", "In the folder", "of the workspace"]);
    }
    let fetch = order(TouchKind::NET_FETCH, "https://example.org", Value::Null);
    let arguments = json!({ "url": "https://example.org", "method": "POST", "body": { "a": 1 } });
    let details = vec![("method".to_owned(), "POST".to_owned()), ("body".to_owned(), "{\"a\":1}".to_owned())];
    let expected = Preview::Address { address: "https://example.org".into(), details };
    assert_eq!(Preview::of(&fetch, &arguments, &Texts::new()), expected);
}

#[test]
fn long_texts_are_shown_whole_with_their_size_and_hash() {
    let content = format!("{}; sh artifacts/e.sh", "x".repeat(70_000));
    let arguments = json!({ "path": "b.md", "content": content });
    let lines = Preview::of(&plan("vfs_write", &arguments), &arguments, &Texts::new()).lines();
    let hash = &crate::base::visible_text::sha256_of(&content)[..16];
    let heading = format!("The whole text of b.md (70019 characters in one line, SHA-256 {hash}…)");
    assert_eq!((lines[0].text.as_str(), lines[1].text.as_str()), (heading.as_str(), content.as_str()));
    let rows: Vec<String> = lines.iter().flat_map(|line| line.rows(120)).collect();
    assert!(rows.iter().all(|row| row.chars().count() <= 120) && rows[2].starts_with("  ↳ xxx"));
    let arguments = json!({ "path": format!("{}/b.md", "a".repeat(200)), "content": "" });
    let wants = describe_intent(&plan("vfs_write", &arguments), &Texts::new());
    assert!(wants.chars().count() < 140 && wants.ends_with("aaa/b.md"), "both ends are shown: {wants}");
    let command = format!("cargo test {}; sh artifacts/e.sh", "--skip a ".repeat(60));
    let wants = describe_intent(&order(TouchKind::PROCESS_RUN, &command, Value::Null), &Texts::new());
    assert!(wants.starts_with("run `cargo test --skip a") && wants.ends_with("; sh artifacts/e.sh`"), "{wants}");
}

#[test]
fn line_ends_and_blanks_of_a_file_are_shown() {
    let shown = |text: &str| {
        let lines = Preview::Write { path: "b.md".into(), text: text.into() }.lines();
        lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
    };
    assert_eq!(shown("a\r\nb\r\n"), ["The whole text of b.md (all lines end with CR LF)", "a", "b", ""]);
    assert_eq!(shown("a\r\nb\rc\n"), ["The whole text of b.md", "a‹CR›", "b‹CR›c", ""]);
    assert_eq!(shown("a\n\n\n\n\n\tb"), ["The whole text of b.md", "a", "‹4 empty lines›", "‹tab›b"]);
    let lines = Preview::Change { path: "b.md".into(), old: "a\nb".into(), new: "a\nb\n".into() }.lines();
    let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["b.md", "a", "b", "(no line break at the end)", "b"]);
    let lines = Preview::Command { line: "rm שלום 12".into(), folder: None }.lines();
    assert_eq!(lines[2].text, "(in the order in which it is: rm ‹U+05E9›‹U+05DC›‹U+05D5›‹U+05DD› 12)");
}
