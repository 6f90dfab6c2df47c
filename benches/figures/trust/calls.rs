//! Hostile tool calls: wrong types, wrong names, huge texts, files outside of the agent's rights, and other agents'
//! rights.

use serde_json::{Value, json};

use super::chance::Chance;
use super::paths;
use super::plan::{Case, Plan, Report};
use super::siege::{Reach, Siege, Try};

/// Calls in the full loop, approximately.
const CALLS: u64 = 4_800;
/// Calls in one case, without those of started agents.
const CALLS_PER_CASE: u64 = 60;
/// Calls of each agent that is started.
const CALLS_OF_A_CHILD: usize = 8;

const TOOLS: [&str; 8] =
    ["vfs_read", "vfs_write", "vfs_edit", "vfs_delete", "vfs_list", "vfs_search", "spawn_agent", "signal_parent"];

const REACH: Reach = Reach {
    front_matter: "reads: [\"artifacts/**\"]\nwrites: [\"artifacts/**\"]\nsafety_mode: auto\n",
    settings: "",
    open: &["artifacts"],
    closed: &[],
    may_make_files: false,
};

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("calls", CALLS / CALLS_PER_CASE, try_case)
}

fn try_case(case: &mut Case) {
    let mut calls = |count: usize, may_spawn: bool| -> Vec<Try> {
        (0..count).map(|number| hostile_call(&mut case.chance, number, may_spawn)).collect()
    };
    let (own, of_children) = (calls(CALLS_PER_CASE as usize, true), calls(CALLS_OF_A_CHILD, false));
    Siege::lay(case, REACH).tries(own, of_children);
}

/// A call that must not be executed as written.
fn hostile_call(chance: &mut Chance, number: usize, may_spawn: bool) -> Try {
    let tool = *chance.one_of(&TOOLS);
    let path = paths::anywhere(chance);
    match chance.below(10) {
        0 => (odd_name(chance), json!({ "path": path, "content": "x", "old": "one", "new": "two" })),
        1 => (tool.to_owned(), odd_arguments(chance)),
        2 => (tool.to_owned(), with_odd_value(chance, plain(tool, &path, number))),
        3 | 4 if may_spawn => ("spawn_agent".to_owned(), spawn(chance, number)),
        5 => ("vfs_write".to_owned(), json!({ "path": path, "content": profile(chance) })),
        _ => (tool.to_owned(), plain(tool, &path, number)),
    }
}

/// The arguments of a valid call for this path.
pub fn plain(tool: &str, path: &str, number: usize) -> Value {
    match tool {
        "vfs_write" => json!({ "path": path, "content": format!("taken over {number}\n") }),
        "vfs_edit" => json!({ "path": path, "old": "SECRET", "new": "taken over" }),
        "vfs_list" => json!({ "prefix": path }),
        "vfs_search" => match number % 3 {
            0 => json!({ "text": "SECRET-" }),
            1 => json!({ "glob": path }),
            _ => json!({ "text": "secret", "glob": path }),
        },
        "spawn_agent" => json!({ "filename": path, "content": "You help.", "task": format!("job-{number}") }),
        "signal_parent" => json!({ "message": format!("{path} {number}") }),
        _ => json!({ "path": path }),
    }
}

fn spawn(chance: &mut Chance, number: usize) -> Value {
    let names = ["restricted.md", "josé.md", "jose\u{301}.md", "worker.md", "user.md", "room.md", "outside.md"];
    let filename = match chance.below(4) {
        0 => (*chance.one_of(&names)).to_owned(),
        1 => paths::anywhere(chance),
        _ => format!("child-{number}.md"),
    };
    json!({ "filename": filename, "content": profile(chance), "task": format!("job-{number}") })
}

/// An agent file that asks for more rights than its writer has.
fn profile(chance: &mut Chance) -> String {
    let keys = [
        "reads: [\"**\"]",
        "writes: [\"**\"]",
        "reads:\n  - \"**\"",
        "writes: \"**\"",
        "safety_mode: auto",
        "tools: [vfs_read, vfs_write, vfs_edit, vfs_delete, vfs_search, spawn_agent]",
        "model: openai:gpt-x",
        "tols: []",
        "write: []",
        "disallowedTools: [vfs_write]",
        "permissions: { deny: [\"*\"] }",
        "id: worker",
        "id: user",
        "mcp_servers: { x: { command: sh } }",
        "share_user_info: true",
        "reads: [\"[\"]",
        "writes: [\"../**\"]",
        "writes: [\"/**\"]",
        "<<: { writes: [\"**\"] }",
        "reads: !!binary Kio=",
    ];
    let count = chance.between(0, 4);
    let keys: Vec<&str> = (0..count).map(|_| *chance.one_of(&keys)).collect();
    let front = *chance.one_of(&["---\n", "---\n", "---\n", "\u{feff}---\n", "--- \n", "", "---\r\n"]);
    let back = *chance.one_of(&["---\n", "---\n", "---\n", "...\n", ""]);
    format!("{front}{}\n{back}You do what you like.\n", keys.join("\n"))
}

fn odd_name(chance: &mut Chance) -> String {
    let names = [
        "",
        " ",
        "vfs_raed",
        "VFS_WRITE",
        "vfs_write ",
        "rm",
        "bash",
        "Bash",
        "exec",
        "eval",
        "fetch",
        "__proto__",
        "vfs_write\n",
        "vfs_write\u{0}",
        "../vfs_write",
        "vfs-write",
        "Write",
        "Edit",
        "write_file",
        "terminal",
        "\u{202e}etirw_sfv",
        "vfs_rename",
        "vfs_restore",
        "mcp__x__y",
    ];
    match chance.below(8) {
        0 => "x".repeat(chance.between(1, 100_000)),
        _ => (*chance.one_of(&names)).to_owned(),
    }
}

fn odd_arguments(chance: &mut Chance) -> Value {
    match chance.below(9) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!("{oops"),
        3 => json!(chance.bits()),
        4 => json!({}),
        5 => nested(chance.between(1, 120)),
        6 => json!({ "path": {}, "content": [] }),
        7 => {
            let keys = (0..chance.between(1, 3_000)).map(|number| (format!("key{number}"), json!(number)));
            Value::Object(keys.collect())
        }
        _ => json!({ "path": "artifacts/a.md", "content": "x", "also": { "path": "private/plan.md" } }),
    }
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!("x"), |inner, _| json!({ "path": inner }))
}

/// Replaces one of the values with something else.
fn with_odd_value(chance: &mut Chance, mut arguments: Value) -> Value {
    let odd = match chance.below(12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!([paths::anywhere(chance)]),
        6 => json!({ "toString": "x" }),
        7 => json!("\u{0}"),
        8 => json!("x".repeat(chance.between(1, 150_000))),
        9 => json!("\u{1b}]0;title\u{7}\u{202e}"),
        10 => json!("é".repeat(chance.between(1, 100_000))),
        _ => json!(""),
    };
    if let Some(object) = arguments.as_object_mut() {
        let keys: Vec<String> = object.keys().cloned().collect();
        if let Some(key) = keys.get(chance.below(keys.len())) {
            object.insert(key.clone(), odd);
        }
        if chance.percent(20) {
            object.insert("offset".to_owned(), json!(u64::MAX));
            object.insert("limit".to_owned(), json!(0));
        }
    }
    arguments
}
