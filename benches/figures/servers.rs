//! What the workshop adds to the use of an MCP server, beyond what the server itself takes over plain pipes in the same
//! run.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use agent_workshop::agent::mcp_server;
use agent_workshop::gateway::Environment;
use agent_workshop::gateway::mcp::{McpClient, McpRequest, McpSettings};
use agent_workshop::gateway::peers::allow_peer;
use agent_workshop::gateway::sandbox::watch_with;
use serde_json::{Map, Value, json};

use super::measure::{Figure, timed};

const CALLS: usize = 300;
const STARTS: usize = 15;

/// A server that adds.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "sums", "version": "1"}}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]}
    if asked["method"] == "tools/call":
        given = asked["params"]["arguments"]
        result = {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// The server over plain pipes.
struct Bare {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    id: u64,
}

impl Bare {
    /// Starts the server, initializes it and lists its tools.
    fn start(script: &Path) -> Self {
        let mut command = Command::new("python3");
        let mut child =
            command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut bare = Self { child, lines, id: 0 };
        let client = json!({ "name": "bare", "version": "1" });
        bare.ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        bare.ask("tools/list", json!({}));
        bare
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        writeln!(self.child.stdin.as_mut().expect("it is piped"), "{message}").expect("it listens");
        self.lines.next().expect("it answers").expect("it should be UTF-8 text");
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures starting, initializing and listing, and calls, each in turn with the bare server.
pub fn connect_and_call() -> Vec<Figure> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("mcp: there is no python3, so nothing is measured");
        return Vec::new();
    }
    watch_with(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let (workspace, config) = (folder(), folder());
    let script = workspace.path().join("server.py");
    std::fs::write(&script, SERVER).expect("files can be written");
    let written = json!({ "sums": { "command": "python3", "args": [script] } });
    let server = mcp_server::read(&written).defined().next().expect("a server is defined");
    let environment = Environment::new([], Some(config.path().to_owned())).in_workspace(workspace.path());
    allow_peer(&environment, workspace.path(), &server).expect("it can be kept");
    let connect = || {
        McpClient::connect(server.clone(), McpSettings::default().terms(), &environment)
            .expect("the server should answer")
            .0
    };
    drop((connect(), Bare::start(&script)));
    let (mut bare_starts, mut our_starts) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        let bare = Bare::start(&script);
        bare_starts.push(begun.elapsed());
        drop(bare);
        let begun = Instant::now();
        let ours = connect();
        our_starts.push(begun.elapsed());
        drop(ours);
    }
    let (mut bare, mut ours) = (Bare::start(&script), connect());
    let arguments = Map::from_iter([("a".to_owned(), json!(2)), ("b".to_owned(), json!(3))]);
    let (mut bare_calls, mut our_calls) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let params = json!({ "name": "add", "arguments": arguments });
        bare_calls.push(timed(|| bare.ask("tools/call", params)));
        let request = McpRequest::Tool { name: "add".to_owned(), arguments: arguments.clone() };
        our_calls.push(timed(|| drop(ours.call(request, |_| {}).expect("the server should add"))));
    }
    vec![
        Figure::over_bare(
            "starting an MCP server and listing its tools, beyond the server's own time",
            50.0,
            bare_starts,
            our_starts,
        ),
        Figure::over_bare(
            "a call of its tool, beyond the server's own time over plain pipes",
            2.0,
            bare_calls,
            our_calls,
        ),
    ]
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}
