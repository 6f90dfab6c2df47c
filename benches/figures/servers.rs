//! The overhead of an MCP server in the workshop, compared in the same run with the bare server over plain pipes, and
//! with the client of the official SDK.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use agent_workshop::agent::mcp_server;
use agent_workshop::gateway::Environment;
use agent_workshop::gateway::mcp::{McpClient, McpRequest, McpSettings};
use agent_workshop::gateway::peers::allow_peer;
use agent_workshop::gateway::sandbox::set_supervisor;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use super::measure::{Figure, timed};

const CALLS: usize = 300;
const STARTS: usize = 15;

/// The script of a server with one tool, which adds numbers.
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

/// The server with the client of the SDK.
struct Sdk {
    service: RunningService<RoleClient, ()>,
    _child: tokio::process::Child,
    // Dropped last, because the other fields need the runtime to shut down.
    runtime: Runtime,
}

impl Sdk {
    /// Starts the server, initializes it and lists its tools.
    fn start(script: &Path) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads start");
        let (service, child) = runtime.block_on(async {
            let mut command = tokio::process::Command::new("python3");
            command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
            let mut child = command.spawn().expect("python3 starts");
            let pipes = (child.stdout.take().expect("it is piped"), child.stdin.take().expect("it is piped"));
            let service = rmcp::serve_client((), pipes).await.expect("it greets");
            service.peer().list_tools(None).await.expect("it lists");
            (service, child)
        });
        Self { service, _child: child, runtime }
    }

    fn add(&self) {
        let params = CallToolRequestParams::new("add").with_arguments(numbers());
        self.runtime.block_on(self.service.peer().call_tool(params)).expect("it adds");
    }
}

/// The arguments of the call.
fn numbers() -> Map<String, Value> {
    Map::from_iter([("a".to_owned(), json!(2)), ("b".to_owned(), json!(3))])
}

fn add_bare(bare: &mut Bare) {
    bare.ask("tools/call", json!({ "name": "add", "arguments": numbers() }));
}

fn add_ours(ours: &mut McpClient) {
    let request = McpRequest::Tool { name: "add".to_owned(), arguments: numbers() };
    ours.call(request, |_| {}).expect("it adds");
}

/// Measures the start up to the first call, and single calls, in turn with the bare server and the SDK.
pub fn connect_and_call() -> Vec<Figure> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("mcp: there is no python3, so nothing is measured");
        return Vec::new();
    }
    set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let (workspace, config) = (folder(), folder());
    let script = workspace.path().join("server.py");
    std::fs::write(&script, SERVER).expect("files can be written");
    let written = json!({ "sums": { "command": "python3", "args": [script] } });
    let server = mcp_server::read(&written).defined().next().expect("a server is defined");
    let environment = Environment::new([], Some(config.path().to_owned())).in_workspace(workspace.path());
    allow_peer(&environment, workspace.path(), &server).expect("it can be kept");
    let connect =
        || McpClient::connect(server.clone(), McpSettings::default().terms(), &environment).expect("it greets").0;
    drop((connect(), Bare::start(&script), Sdk::start(&script)));
    let (mut bare_starts, mut sdk_starts, mut our_starts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        // The servers are stopped outside of the measured time.
        let mut kept = (None, None, None);
        bare_starts.push(timed(|| add_bare(kept.0.insert(Bare::start(&script)))));
        sdk_starts.push(timed(|| kept.1.insert(Sdk::start(&script)).add()));
        our_starts.push(timed(|| add_ours(kept.2.insert(connect()))));
    }
    let (mut bare, sdk, mut ours) = (Bare::start(&script), Sdk::start(&script), connect());
    let (mut bare_calls, mut sdk_calls, mut our_calls) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CALLS {
        bare_calls.push(timed(|| add_bare(&mut bare)));
        sdk_calls.push(timed(|| sdk.add()));
        our_calls.push(timed(|| add_ours(&mut ours)));
    }
    let started = "MCP server: started, greeted, listed and called once";
    let over = |what: &str| format!("{started}, over {what}");
    vec![
        Figure::over_bare(&over("its own time over bare pipes"), 50.0, bare_starts, our_starts.clone()),
        Figure::over_bare(&over("the same with the SDK's client"), 50.0, sdk_starts, our_starts),
        Figure::over_bare(
            "a call of an MCP server, over the same with the SDK's client",
            2.0,
            sdk_calls,
            our_calls.clone(),
        ),
        Figure::over_bare("a call of an MCP server, over its own time over bare pipes", 2.0, bare_calls, our_calls),
    ]
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}
