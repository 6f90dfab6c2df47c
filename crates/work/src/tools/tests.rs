//! Declarations of tools, and valid and invalid calls as models make them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::desk::PLANNER;
use super::schema::tests::any_json;
use super::*;
use crate::agent::markdown;
use crate::base::ActivationKey;
use crate::gate::{Authority, Bounds, Decision, GatePolicy, decide, inherit};
use crate::log::events::TaskPriority;
use crate::mind::{ToolCall, ToolDeclaration};
use crate::workspace::vfs::FileOperation;

fn bounds(front: &str) -> Bounds {
    let profile = markdown::read("agents/ada.md", &format!("---\n{front}\n---\n")).profile;
    Authority::chain(builtin().authority("agents/ada.md", &profile).0, [])
}

fn free() -> Bounds {
    bounds("name: Ada")
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new("1", name, arguments)
}

const ADA: Caller<'static> = Caller { profile: "ada", session: ActivationKey::numbered(1) };

fn parse(call: &ToolCall, bounds: &Bounds) -> Result<ToolPlan, String> {
    builtin().parse(call, ADA, bounds)
}

fn planned(name: &str, arguments: Value) -> Result<Work, String> {
    parse(&call(name, arguments), &free()).map(|plan| plan.work)
}

fn together(order: &CollaborationOrder) -> Work {
    Work::Order { order: serde_json::to_value(order).unwrap() }
}

fn file(operation: FileOperation) -> Result<Work, String> {
    Ok(Work::File { operation, excerpt: None })
}

/// The declarations of the built-in tools for an agent that may use all of them.
fn built_in_tools() -> Vec<ToolDeclaration> {
    builtin().declarations(ADA, &free())
}

#[test]
fn a_model_gets_the_tools_in_its_profile_in_a_fixed_order() {
    let told = |front: &str| -> Vec<String> {
        builtin().declarations(ADA, &bounds(front)).into_iter().map(|declaration| declaration.name).collect()
    };
    let all = "vfs_read vfs_write vfs_append vfs_edit vfs_list vfs_search vfs_rename vfs_delete spawn_agent \
               signal_parent delegate publish subscribe unsubscribe blackboard_write blackboard_read \
               knowledge_query knowledge_contribute";
    assert_eq!(told("name: Ada").join(" "), all);
    assert_eq!(told("tools: [vfs_write, Read, vfs_write, Bash]"), ["vfs_read", "vfs_write"]);
    let reference = ["read_file", "write_file", "list_directory", "search_files", "query_tasks", "create_task"];
    assert_eq!(told(&format!("tools: [{}]", reference.join(", "))), reference, "by the names that its file has");
    assert_eq!(told("tools: [send_message, read_session]"), ["send_message"]);
    assert_eq!(told("agent_type: planner\ntools: [send_message, read_session]"), ["send_message", "read_session"]);
    assert!(told("tools: []").is_empty() && told("tools: [nothing]").is_empty());
    let spawn = built_in_tools().into_iter().find(|tool| tool.name == "spawn_agent").unwrap();
    assert!(spawn.description.contains("---\nname: Researcher\n"));
}

#[test]
fn the_example_for_starting_an_agent_is_an_agent_without_problems() {
    let spawn = built_in_tools().into_iter().find(|tool| tool.name == "spawn_agent").unwrap();
    let example = spawn.description.split_once("For example:\n").unwrap().1;
    let read = markdown::read("agents/researcher.md", example);
    assert!(read.problems.is_empty() && !read.malformed && read.profile.name == "Researcher");
    assert!(builtin().authority("agents/researcher.md", &read.profile).1.is_empty());
    let arguments = json!({ "filename": "researcher.md", "content": example, "task": "Look." });
    assert!(planned("spawn_agent", arguments).is_ok());
}

#[test]
fn tool_names_are_unique_and_their_schemas_are_supported() {
    let mut seen = BTreeSet::new();
    assert_eq!(built_in_tools().len(), 18, "one was refused");
    // Models do not get the tools behind coding agents' requests.
    let others = [crate::gate::ToolScope::Role(PLANNER.into()), crate::gate::ToolScope::CodingAgent];
    for tool in builtin().iter().filter(|tool| !others.contains(&tool.scope)) {
        for name in [&tool.name].into_iter().chain(&tool.aliases) {
            assert!(seen.insert(name.to_lowercase()), "{name} is taken");
            assert_eq!(builtin().names().resolve(name), Some(tool.name.as_str()));
        }
        let parameters = &tool.parameters;
        assert_eq!(parameters["type"], "object");
        assert_eq!(parameters["additionalProperties"], false);
        let properties = parameters["properties"].as_object().unwrap();
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{} {name}", tool.name);
            let is_bounded = property["type"] != "string" || property["maxLength"].is_u64();
            assert!(is_bounded, "{} {name}", tool.name);
        }
        assert!(
            tool.argument_aliases
                .iter()
                .all(|(alias, meant)| !properties.contains_key(alias) && properties.contains_key(meant))
        );
    }
}

#[test]
fn calls_become_orders() {
    let path = || "a.md".to_owned();
    for (name, arguments, work) in [
        ("vfs_read", json!({ "path": "a.md" }), file(FileOperation::Read { path: path() })),
        ("vfs_read", json!("{\"file_path\":\"a.md\",\"offset\":null}"), file(FileOperation::Read { path: path() })),
        (
            "vfs_read",
            json!({ "path": "a.md", "offset": "3", "limit": 2.0 }),
            Ok(Work::File {
                operation: FileOperation::ReadLines { path: path(), from_line: 3, lines: Some(2) },
                excerpt: Some(Excerpt { first_line: 3, lines: Some(2), as_data: false }),
            }),
        ),
        (
            "vfs_append",
            json!({ "path": "a.md", "content": "\nx" }),
            file(FileOperation::Append { path: path(), text: "\nx".into() }),
        ),
        (
            "vfs_rename",
            json!({ "old_path": "a.md", "to": "./b.md" }),
            file(FileOperation::Rename { from: path(), to: "b.md".into() }),
        ),
        (
            "vfs_write",
            json!({ "path": "a.md", "content": 42 }),
            file(FileOperation::Write { path: path(), content: "42".into() }),
        ),
        (
            "vfs_write",
            json!({ "path": "a.md", "content": "" }),
            file(FileOperation::Write { path: path(), content: String::new() }),
        ),
        (
            "vfs_edit",
            json!({ "file_path": "a.md", "old_string": "x", "new_string": "" }),
            file(FileOperation::Edit { path: path(), old: "x".into(), new: String::new() }),
        ),
        ("vfs_list", json!({}), file(FileOperation::List { prefix: String::new() })),
        ("vfs_list", Value::Null, file(FileOperation::List { prefix: String::new() })),
        ("vfs_list", json!({ "path": "a" }), file(FileOperation::List { prefix: "a".into() })),
        (
            "vfs_search",
            json!({ "text": "", "glob": "**/*.md" }),
            file(FileOperation::Search { text: None, glob: Some("**/*.md".into()) }),
        ),
        ("vfs_delete", json!({ "path": "a.md" }), file(FileOperation::Delete { path: path() })),
        (
            "signal_parent",
            json!({ "message": "done" }),
            Ok(Work::Signal { message: "done".into(), terms: Terms::default() }),
        ),
        (
            "delegate",
            json!({ "to": "bea", "task": "Count.", "context": "The hall is open.", "priority": "high",
                    "deadline_cycles": 3, "expected_format": ["chairs", "tables"] }),
            Ok(Work::Delegate {
                name: "bea".into(),
                agent: None,
                task: "Count.".into(),
                terms: Terms {
                    context: "The hall is open.".into(),
                    haste: TaskPriority::High,
                    deadline_turns: Some(3),
                    expected: Some(Expected::Fields(vec!["chairs".into(), "tables".into()])),
                },
            }),
        ),
        (
            "publish",
            json!({ "channel": "#Findings", "message": "12 chairs" }),
            Ok(together(&CollaborationOrder::Publish { channel: "findings".into(), message: "12 chairs".into() })),
        ),
        (
            "blackboard_write",
            json!({ "key": "plan", "value": { "a": 1 }, "expected": null }),
            Ok(together(&CollaborationOrder::BlackboardWrite {
                key: "plan".into(),
                value: json!({ "a": 1 }),
                only_if: Condition::Value { value: Value::Null },
                shared: false,
            })),
        ),
        (
            "spawn_agent",
            json!({ "filename": "bea", "content": "Hi", "task": "Go." }),
            Ok(Work::Spawn { path: "agents/bea.md".into(), content: "Hi".into(), task: "Go.".into() }),
        ),
        (
            "spawn_agent",
            json!({ "name": "bea", "task": "Go." }),
            Ok(Work::Start { name: "bea".into(), agent: None, task: "Go.".into() }),
        ),
    ] {
        assert_eq!(planned(name, arguments.clone()), work, "{name} {arguments}");
    }
}

#[test]
fn a_wrong_argument_is_named_with_what_was_expected() {
    let long = "x".repeat(files::MAX_CONTENT_CHARS + 1);
    let spawn = |content: &str| json!({ "filename": "bea.md", "content": content, "task": "Go." });
    for (name, arguments, words) in [
        ("vfs_read", json!({}), &["'path' is missing", "such as artifacts/spec.md"][..]),
        ("vfs_read", json!({ "path": "" }), &["'path'", "not empty"]),
        ("vfs_read", json!({ "path": ["a"] }), &["'path'", "a list of 1"]),
        ("vfs_read", json!({ "path": "a", "offset": 0 }), &["'from_line'", "at least 1"]),
        ("vfs_read", json!({ "path": "a", "limit": "all" }), &["'lines'", "a whole number"]),
        ("vfs_read", json!({ "path": "a", "line": 3 }), &["no argument 'line'"]),
        ("vfs_read", json!({ "path": "x".repeat(5_000) }), &["5000 characters; at most 400"]),
        ("vfs_read", json!("path=a"), &["not a JSON object", "path=a"]),
        ("vfs_write", json!({ "path": "a" }), &["'content' is missing", "whole new text"]),
        ("vfs_write", json!({ "path": "a", "content": null }), &["'content' should be a text", "it is null"]),
        ("vfs_write", json!({ "path": "a", "content": { "k": 1 } }), &["'content'", "an object of 1 keys"]),
        ("vfs_write", json!({ "path": "a", "content": 1.5 }), &["'content'", "a text"]),
        ("vfs_write", json!({ "path": "a", "content": long }), &["'content' has 262145 characters"]),
        ("vfs_write", json!({ "path": "a", "contnet": "x" }), &["no argument 'contnet'", "'content'?"]),
        ("vfs_edit", json!({ "path": "a", "old": "", "new": "x" }), &["'old'", "not empty"]),
        ("vfs_edit", json!({ "path": "a", "old": "x" }), &["'new' is missing"]),
        ("vfs_edit", json!({ "path": "a", "old": "x", "new": "x" }), &["the same"]),
        ("vfs_append", json!({ "path": "a", "text": "" }), &["'text'", "not empty"]),
        ("vfs_rename", json!({ "from": "a" }), &["'to' is missing"]),
        ("vfs_rename", json!({ "from": "a", "to": "./a" }), &["the same"]),
        ("vfs_rename", json!({ "from": "a", "to": "../a" }), &["'to'", "must not use '..'"]),
        ("vfs_list", json!({ "prefix": {} }), &["'prefix'", "an object"]),
        ("vfs_search", json!({}), &["a text to find, a glob, or both"]),
        ("vfs_search", json!({ "pattern": "x" }), &["no argument 'pattern'", "text, glob"]),
        ("vfs_delete", json!({ "paht": "a" }), &["no argument 'paht'", "'path'?"]),
        ("signal_parent", json!({}), &["'message' is missing"]),
        ("signal_parent", json!({ "message": " \n" }), &["'message' is empty"]),
        ("delegate", json!({ "agent": "bea" }), &["'task' is missing"]),
        (
            "delegate",
            json!({ "agent": "bea", "task": "x", "expected_format": "{oops" }),
            &["'expected_format'", "JSON"],
        ),
        (
            "delegate",
            json!({ "agent": "bea", "task": "x", "deadline_cycles": 0 }),
            &["'deadline_cycles'", "at least 1"],
        ),
        ("publish", json!({ "channel": "a|b", "message": "x" }), &["'channel'", "such as findings"]),
        ("publish", json!({ "channel": "a", "message": " " }), &["'message' is empty"]),
        ("blackboard_write", json!({ "key": "plan" }), &["'value' is missing"]),
        ("blackboard_write", json!({ "key": "a", "value": 1, "expected": 2, "is_new": true }), &["not both"]),
        ("spawn_agent", json!({ "filename": "bea.md", "content": "Hi" }), &["'task' is missing"]),
        ("spawn_agent", json!({ "filename": "bea.md", "content": "Hi", "task": " " }), &["'task' is empty"]),
        (
            "spawn_agent",
            json!({ "filename": "../x.md", "content": "Hi", "task": "Go." }),
            &["'filename'", "researcher.md"],
        ),
        ("spawn_agent", spawn("---\nname: [\n---\n"), &["invalid front matter", "not valid YAML"]),
        ("spawn_agent", spawn("---\ntools: [vfs_raed]\n---\n"), &["\"vfs_raed\"", "did you mean \"vfs_read\"?"]),
        ("spawn_agent", spawn("---\nsafety_mode: yolo\n---\n"), &["\"yolo\"", "safe, balanced or auto"]),
        ("spawn_agent", spawn("---\nreads: ['[a]']\n---\n"), &["\"[a]\"", "notes/*.md"]),
    ] {
        let error = planned(name, arguments.clone()).unwrap_err();
        assert!(error.starts_with(&format!("Error: {name}: ")), "{error}");
        assert!(words.iter().all(|word| error.contains(word)), "{name}: {error}");
        assert!(error.contains("Its arguments: ") && error.chars().count() < 1_500, "{error}");
    }
}

#[test]
fn a_tool_is_found_by_its_name_and_its_aliases() {
    let (own, reference) = (bounds("tools: [vfs_read]"), bounds("tools: [read_file]"));
    let by = |name: &str, bounds: &Bounds| parse(&call(name, json!({ "path": "a.md" })), bounds);
    let plan = by("vfs_read", &own).unwrap();
    assert_eq!(by("read_file", &reference), Ok(plan.clone()), "one tool, one rule, one name in the log");
    assert_eq!(by("vfs_read", &reference), Ok(plan));
    assert!(by("read_file", &own).unwrap_err().contains("Did you mean 'vfs_read'?"));
}

#[test]
fn a_folder_is_created_only_by_agents_with_the_tool() {
    let make = call("create_directory", json!({ "directory": "./artifacts/new/" }));
    let operation = FileOperation::CreateFolder { path: "artifacts/new".into() };
    let planned = parse(&make, &bounds("tools: [create_directory]")).unwrap();
    assert_eq!(planned.work, Work::File { operation, excerpt: None });
    assert!(parse(&make, &bounds("tools: [vfs_read]")).unwrap_err().contains("you do not have the tool"));
}

#[test]
fn only_planners_have_the_tools_for_sessions() {
    let profile = |front: &str| markdown::read("agents/ada.md", &format!("---\n{front}\n---\n")).profile;
    let told = |front: &str| builtin().authority("agents/ada.md", &profile(front));
    let (authority, problems) = told("agent_type: executor\ntools: [read_session]");
    assert!(authority.tools.is_empty());
    assert!(
        matches!(&problems[..], [problem] if problem.line == Some(3) && problem.what.contains("type planner")),
        "{problems:?}"
    );
    assert_eq!(told("agent_type: planner\ntools: [read_session]").1, []);
    assert!(builtin().names().missing(&profile("tools: [read_session]")).is_empty(), "it is here");
    for tool in builtin().iter() {
        assert!(!tool.is_default || tool.scope == crate::gate::ToolScope::Everyone, "{}", tool.name);
    }
}

#[test]
fn an_unknown_tool_is_answered_with_a_suggestion() {
    let few = bounds("tools: [vfs_read, vfs_write]");
    for (name, words) in [
        ("vfs_raed", "Did you mean 'vfs_read'? Your tools: vfs_read, vfs_write."),
        ("write_file", "Did you mean 'vfs_write'?"),
        ("vfs_delete", "you do not have the tool 'vfs_delete'. Your tools: vfs_read, vfs_write."),
        ("delete_file", "there is no tool 'delete_file'."),
        ("zzz", "there is no tool 'zzz'. Your tools:"),
        ("", "there is no tool ''."),
    ] {
        let error = parse(&call(name, json!({})), &few).unwrap_err();
        assert!(error.contains(words), "{name}: {error}");
        assert!(name == "vfs_delete" || !error.contains("vfs_delete"), "{error}");
    }
    assert!(parse(&call("vfs_read", json!({})), &bounds("tools: []")).unwrap_err().ends_with("You have no tools."));
    assert!(parse(&call(&"x\n".repeat(10_000), json!({})), &few).unwrap_err().chars().count() < 300);
}

#[test]
fn a_started_agent_inherits_from_its_starter_what_its_file_omits() {
    let careful = bounds("tools: [vfs_read, spawn_agent]\nwrites: []\nsafety_mode: balanced");
    let arguments = json!({ "filename": "bea.md", "content": "# Bea", "task": "Go." });
    let plan = parse(&call("spawn_agent", arguments), &careful).unwrap();
    let Work::Spawn { content, .. } = &plan.work else { panic!("{plan:?}") };
    let front = "---\ntools: [spawn_agent, vfs_read]\nwrites: []\nsafety_mode: balanced\n---\n\n# Bea";
    assert_eq!(content, front);
    let act = plan.act(&Empty, builtin().names());
    assert!(
        matches!(decide(&act, &careful, &GatePolicy::default()), Decision::Ask { why, .. } if why.contains("balanced"))
    );
    assert_eq!(decide(&act, &free(), &GatePolicy::default()), Decision::Allow);
}

#[test]
fn plans_round_trip() {
    let arguments = json!({ "path": "a.md", "from_line": 2 });
    let plan = parse(&call("vfs_read", arguments), &free()).unwrap();
    let kept: ToolPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(kept, plan);
}

/// An empty workspace.
struct Empty;

impl crate::gate::GateContext for Empty {
    fn text(&self, _: &str) -> Option<&str> {
        None
    }

    fn profile(&self, _: &str) -> Option<(&str, &crate::agent::AgentProfile)> {
        None
    }

    fn former(&self, _: &str) -> crate::agent::RemovedProfile<'_> {
        crate::agent::RemovedProfile::Never
    }
}

proptest! {
    #[test]
    fn any_call_becomes_a_plan_or_a_bounded_error(
        index in 0..16_usize,
        arguments in any_json(),
        as_text in any::<bool>(),
    ) {
        let arguments = if as_text { Value::String(arguments.to_string()) } else { arguments };
        match parse(&call(&built_in_tools()[index].name, arguments), &free()) {
            Ok(plan) => {
                decide(&plan.act(&Empty, builtin().names()), &free(), &GatePolicy::default());
            }
            Err(error) => prop_assert!(error.chars().count() < 3_000, "{}", error),
        }
    }
}

/// Front matter in forms that mean the same to a reader but differ for code that adds lines to it.
const FORMS: &[&str] = &[
    "name: Helper",
    "{name: Helper}",
    "{ name: Helper, tools: [vfs_read] }",
    "{\n  name: Helper\n}",
    "? name\n: Helper",
    "\"name\": Helper",
    "tools: [vfs_read]",
    "tools:\n- vfs_read",
    "reads: [artifacts/**]",
    "writes: []",
    "model: offline",
    "--- # again",
    "...",
    "# only a comment",
    "share_workspace_info: true",
    "tools: [vfs_read, spawn_agent]",
    "  name: indented",
    "!!map {name: Helper}",
    "&all\nname: Helper",
];

proptest! {
    #[test]
    fn an_agent_is_not_started_if_its_file_cannot_express_what_it_inherits(
        front in prop::collection::vec(prop::sample::select(FORMS), 0..3),
        own in prop::sample::select(&["name: Ada", "tools: [vfs_read, spawn_agent]\nreads: [artifacts/**]\nsafety_mode: safe",
            "tools: [vfs_read, spawn_agent]\nwrites: []\nmodel: openai:gpt-5\nshare_workspace_info: false"][..]),
        end in prop::sample::select(&["\n", "\r\n"][..]),
    ) {
        let bounds = bounds(own);
        let content = format!("---\n{}\n---\nYou help.\n", front.join("\n")).replace('\n', end);
        let arguments = json!({ "filename": "helper.md", "content": content, "task": "Help." });
        let planned = parse(&call("spawn_agent", arguments), &bounds).map(|plan| plan.work);
        match inherit("agents/helper.md", &content, &bounds, builtin().names()) {
            Err(error) => prop_assert!(planned.is_err(), "{error} in {content:?}"),
            Ok(amended) => {
                let is_amended = matches!(&planned, Ok(Work::Spawn { content, .. }) if *content == amended);
                prop_assert!(planned.is_err() || is_amended, "{planned:?} of {content:?}");
            }
        }
    }
}
