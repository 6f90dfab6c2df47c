//! The roles of the starter kit: which tools each may call, and the tools that find tasks and files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agent_workshop::kernel::{Kernel, KernelCommand};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        each_role_of_the_starter_kit_may_use_exactly_its_tools,
        task_queries_find_tasks_in_readable_files,
        listing_and_searching_respect_read_permissions,
    ]
}

/// Returns every tool of the reference documentation with valid arguments.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": "memory/a.md" })),
        ("write_file", json!({ "path": "artifacts/a.md", "content": "# A" })),
        ("list_directory", json!({ "path": "memory/" })),
        ("search_files", json!({ "query": "chairs" })),
        ("create_directory", json!({ "path": "artifacts/new" })),
        ("query_tasks", json!({ "query": "SELECT id FROM tasks/*.task.md" })),
        ("create_task", json!({ "title": "Rest", "assignee": "human" })),
        ("update_task", json!({ "id": "count", "note": "Seen." })),
        ("execute_command", json!({ "command": "true" })),
        ("send_message", json!({ "to": "other", "message": "Hello." })),
        ("list_active_sessions", json!({})),
        ("read_session", json!({ "session": "other" })),
        ("edit_session", json!({ "session": "other", "guidance": "Go on." })),
        ("slack_read", json!({})),
        ("slack_send", json!({ "channel": "#ops", "text": "Hello." })),
    ]
}

fn template(role: &str) -> String {
    fs::read_to_string(format!("{}/templates/{role}.agent.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Calls every tool in that role, with every approval refused. Returns the results by tool.
fn call_results(role: &str) -> BTreeMap<String, String> {
    let id = format!("{role}-001");
    let all: Vec<String> =
        calls().iter().map(|(name, arguments)| format!("{{ name: {name}, arguments: {arguments} }}")).collect();
    let script = format!(
        "latency: 0.1\nagents:\n  {id}:\n    - tools: [ {} ]\n    - text: Done.\ndefault: [ {{ text: Noted. }} ]\n",
        all.join(", ")
    );
    let scene = format!(
        "name: Test\nelements: []\nagents:\n  - {{ id: {id}, profile: {id}, position: [0, 0] }}\n  - {{ id: other, profile: lead, position: [90, 0] }}\n"
    );
    let mut studio = Studio::new(
        &script,
        &[
            ("settings.yaml", "tasks: { planner_checkins: false, begin: false }\n"),
            ("scenes/test.yaml", &scene),
            ("templates/role.agent.yaml", &template(role)),
            ("memory/a.md", "Twelve chairs.\n"),
            ("tasks/work.task.md", "- [ ] @human Count\n  id: count\n"),
        ],
    );
    studio.task(&id, "Try everything.");
    for _ in 0..2_000 {
        studio.tick();
        let pending =
            studio.world().resource::<Kernel>().approvals().next().map(|one| (one.activation, one.turn, one.call));
        if let Some((activation, turn, call)) = pending {
            studio.command(KernelCommand::decide(activation, turn, call, false));
        }
        if studio.world().resource::<Kernel>().is_idle() {
            break;
        }
    }
    let results = studio.all("tool_result");
    let own_results = results.iter().filter(|event| event["agent"] == *id);
    let by_tool = own_results.map(|event| {
        (event["data"]["tool"].as_str().unwrap().to_owned(), event["data"]["text"].as_str().unwrap().to_owned())
    });
    by_tool.collect()
}

fn each_role_of_the_starter_kit_may_use_exactly_its_tools() {
    let roles: [(&str, &[&str], &[&str]); 4] = [
        (
            "planner",
            &[
                "read_file",
                "list_directory",
                "search_files",
                "query_tasks",
                "create_task",
                "update_task",
                "send_message",
                "list_active_sessions",
                "read_session",
                "edit_session",
            ],
            &["edit_session"],
        ),
        ("retriever", &["read_file", "search_files", "list_directory", "send_message", "update_task"], &[]),
        (
            "executor",
            &["read_file", "write_file", "execute_command", "send_message", "update_task"],
            &["execute_command"],
        ),
        ("evaluator", &["read_file", "send_message", "update_task"], &[]),
    ];
    for (role, may, asks) in roles {
        let results = call_results(role);
        let (may, asks): (BTreeSet<&str>, BTreeSet<&str>) =
            (may.iter().copied().collect(), asks.iter().copied().collect());
        for (tool, _) in calls() {
            let text = results.get(tool).unwrap_or_else(|| panic!("{role} got no result of {tool}: {results:#?}"));
            let is_unknown =
                text.contains(&format!("there is no tool '{tool}'")) || text.contains("you do not have the tool");
            assert_eq!(is_unknown, !may.contains(tool), "{role} {tool}: {text}");
            let is_refused = text.contains("a person refused") || text.contains("refused by a person");
            assert_eq!(is_refused, asks.contains(tool), "{role} {tool}: {text}");
        }
    }
}

const READER: &str =
    "---\ntools: [query_tasks, list_directory, search_files]\nreads: [\"tasks/**\", \"memory/**\"]\n---\nYou look.\n";

fn results_of(all: &[(&str, Value)], files: &[(&str, &str)]) -> Vec<String> {
    let turns: Vec<String> = all
        .iter()
        .map(|(name, arguments)| format!("    - tools: [ {{ name: {name}, arguments: {arguments} }} ]\n"))
        .collect();
    let script = format!("latency: 0.1\nagents:\n  lead:\n{}    - text: Done.\n", turns.concat());
    let own = [("settings.yaml", "tasks: { begin: false }\n"), ("agents/lead.md", READER)];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    let mut studio = Studio::new(&script, &all);
    studio.task("lead", "Look.");
    studio.idle();
    studio.results()
}

fn task_queries_find_tasks_in_readable_files() {
    let tasks = "## TODO\n\n- [ ] A @ada #red \"Count the chairs\"\n  id: one\n- [x] @bob Rest\n  id: two\n- [ ] C @ada Paint\n  id: three\n  depends_on: one\n";
    let query = |query: &str| ("query_tasks", json!({ "query": query }));
    let results = results_of(
        &[
            query(
                "SELECT id, title, priority FROM tasks/*.task.md WHERE status = open AND stakeholders CONTAINS ada ORDER BY priority",
            ),
            query("SELECT id FROM tasks/work.task.md WHERE tags CONTAINS blue"),
            query("SELECT id FROM tasks/none.task.md"),
            query("SELECT id FROM"),
            query("DELETE FROM tasks/work.task.md WHERE id = one"),
            query("SELECT * FROM tasks/work.task.md WHERE id = three INTO tasks/new.task.md"),
        ],
        &[("tasks/work.task.md", tasks)],
    );
    assert!(results[0].starts_with("2 tasks\n"), "{}", results[0]);
    let (one, three) = (results[0].find("Count the chairs").unwrap(), results[0].find("Paint").unwrap());
    assert!(one < three && !results[0].contains("Rest"), "{}", results[0]);
    assert_eq!(results[1], "No tasks match.");
    assert!(results[2].contains("no task file matches") && results[2].contains("tasks/work.task.md"), "{}", results[2]);
    assert!(
        results[3].starts_with("Error") && results[3].contains('^'),
        "the error points into the query: {}",
        results[3]
    );
    assert!(results[4].contains("only SELECT finds tasks"), "{}", results[4]);
    assert!(results[5].contains("INTO is not available for tools"), "{}", results[5]);
}

fn listing_and_searching_respect_read_permissions() {
    let results = results_of(
        &[
            ("list_directory", json!({ "path": "memory/" })),
            ("list_directory", json!({ "path": "artifacts/" })),
            ("search_files", json!({ "query": "TWELVE" })),
            ("search_files", json!({ "query": "nothing like it" })),
        ],
        &[
            ("memory/chairs.md", "# Chairs\nThere are twelve chairs.\n"),
            ("memory/deep/tables.md", "Two tables.\n"),
            ("artifacts/secret.md", "Twelve secrets.\n"),
        ],
    );
    assert!(results[0].contains("memory/chairs.md") && results[0].contains("memory/deep/tables.md"), "{}", results[0]);
    assert!(!results[1].contains("secret.md"), "unreadable files are not listed: {}", results[1]);
    assert!(
        results[2].contains("memory/chairs.md") && results[2].contains("There are twelve chairs."),
        "{}",
        results[2]
    );
    assert!(!results[2].contains("secret"), "{}", results[2]);
    assert!(results[3].contains("Nothing found"), "{}", results[3]);
}
