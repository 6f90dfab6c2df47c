//! Kills while an MCP server runs: of the whole room, and half of the time first of the server, of the process that it
//! started, or of both. No process may be left.

use std::time::{Duration, Instant};

use serde_json::json;

use super::plan::{Case, Fault, Plan, Report};

/// Kills in the full loop.
const KILLS: u64 = 200;
/// Kills in one case.
const KILLS_PER_CASE: u64 = 4;
/// How long a server may take to start.
const START: Duration = Duration::from_secs(20);
/// How long its processes may remain after the room is gone.
const END: Duration = Duration::from_secs(5);

const SCENE: &str =
    "name: Servers\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [60, 40] }\n";
const SETTINGS: &str = "kernel: { max_strikes: 500 }\ngate:\n  mcp: { \"mcp:odd:*\": allow }\n";

/// A server that starts two more processes, one of which leaves its process group, as daemons do.
const SERVER: &str = r#"
import json, subprocess, sys
if len(sys.argv) > 1:
    import time
    time.sleep(1000)
subprocess.Popen([sys.executable, sys.argv[0], "child"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
subprocess.Popen([sys.executable, sys.argv[0], "daemon"], start_new_session=True, stdin=subprocess.DEVNULL,
                 stdout=subprocess.DEVNULL)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "odd", "version": "1"}}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]}
    if asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": str(asked["params"]["arguments"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("processes", KILLS / KILLS_PER_CASE, try_case)
}

fn try_case(case: &mut Case) {
    let script = case.at("server.py").display().to_string();
    case.write("settings.yaml", SETTINGS);
    case.write("scenes/room.yaml", SCENE);
    case.write("agents/lead.md", "---\nid: lead\nmcp_servers: [odd]\n---\nYou lead.\n");
    case.write("server.py", SERVER);
    let server = json!({ "mcpServers": { "odd": { "command": "python3", "args": [&script] } } });
    case.write(".mcp.json", server.to_string());
    let calls = (0..400).map(|number| json!({ "tools": [{ "name": "mcp__odd__add", "arguments": { "a": number } }] }));
    let script_of_model = json!({ "latency": 1.0, "agents": { "lead": calls.collect::<Vec<_>>() } });
    case.write("script.yaml", script_of_model.to_string());
    let allowed = case.run(case.launch(&["mcp", "allow", "odd", "--yes"]));
    if !allowed.status.success() {
        return case.found(Fault::Silent, format!("the server was not allowed: {}", allowed.last_words()));
    }
    for number in 0..KILLS_PER_CASE {
        kill_once(case, &script, number);
    }
}

fn kill_once(case: &mut Case, script: &str, number: u64) {
    let theirs_first = number.is_multiple_of(2);
    // The same task is not given twice while it is unfinished.
    let task = format!("Add, for the time {number}.");
    let task = ["run", "--agent", "lead", "--task", &task, "--until", "idle", "--speed", "16"];
    let provider = ["--provider", "scripted:script.yaml"];
    let running = case.launch(&[&task[..], &provider[..]].concat()).start();
    let until = Instant::now() + START;
    // The server, the process that it started, and our supervisor between the server and the room.
    while processes(script).len() < 3 {
        if Instant::now() > until {
            let ended = running.kill();
            return case.found(Fault::Silent, format!("the server never ran: {}", ended.last_words()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let wait = case.chance.up_to(Duration::from_millis(400));
    std::thread::sleep(wait);
    if theirs_first {
        // The server itself, the process that it started, or both.
        let (server, child) = *case.chance.one_of(&[(true, false), (false, true), (true, true)]);
        let meant = |kind: Kind| if kind == Kind::Server { server } else { kind == Kind::Child && child };
        for pid in processes(script).into_iter().filter(|pid| meant(kind_of(*pid, script))) {
            // It may have ended by itself.
            let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
            case.count(if server { "kills of a server" } else { "kills of a child" }, 1);
        }
        let wait = case.chance.up_to(Duration::from_millis(50));
        std::thread::sleep(wait);
    }
    let ended = running.kill();
    case.judge(&ended);
    case.count(if theirs_first { "kills of both" } else { "kills of ours" }, 1);
    let until = Instant::now() + END;
    loop {
        let left = processes(script);
        if left.is_empty() {
            return;
        }
        if Instant::now() > until {
            case.found(Fault::Hung, format!("{} processes of a server are left: {left:?}", left.len()));
            for pid in left {
                let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
            }
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The role of one of the server's processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The server itself.
    Server,
    /// The process that it started.
    Child,
    /// Our supervisor between the server and the room.
    Between,
}

/// The role according to the command line: an interpreter with only the script, or with another word after it.
fn kind_of(pid: u32, script: &str) -> Kind {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [program, first] if program.contains("python") && *first == script => Kind::Server,
        [program, first, _] if program.contains("python") && *first == script => Kind::Child,
        _ => Kind::Between,
    }
}

/// The processes that have this on their command line, oldest first.
fn processes(word: &str) -> Vec<u32> {
    let has_it = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<u32> = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_it).collect();
    found.sort_unstable();
    found
}
