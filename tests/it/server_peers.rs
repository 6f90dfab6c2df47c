//! Third-party MCP servers over stdio and HTTP.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use agent_workshop::agent::{McpServer, mcp_server};
use agent_workshop::gateway::mcp::{
    McpClient, McpCommand, McpElicitation, McpEvent, McpFailure, McpFault, McpOffer, McpReply, McpRequest, McpSettings,
    McpStatus,
};
use agent_workshop::gateway::peers::allow_peer;
use agent_workshop::gateway::{Environment, GatewayEnvironment, McpServers};
use agent_workshop::kernel::{Kernel, sessions_at_rest};
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::{is_ignored, mcp_conformance, mcp_servers};
use crate::program::{PATIENCE, folder};
use crate::servers::SCENE;
use crate::servers_alone::ServersAlone;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        the_everything_server_works,
        a_sampling_request_outside_of_a_room_is_refused_with_a_reason,
        the_everything_server_works_over_http,
        the_everything_server_works_over_the_older_sse_transport,
        the_filesystem_server_reads_and_writes_files,
        the_memory_server_keeps_data,
        a_python_server_works,
        an_agent_uses_a_third_party_server_under_the_gate,
        an_agent_gets_a_prompt_of_its_server,
        a_restarted_http_server_is_reconnected,
    ];
    let ignored = is_ignored("the tests with third-party MCP servers", mcp_servers().err());
    let cases = cases.into_iter().map(|case| case.with_ignored_flag(ignored));
    let suite = cases![the_protocols_client_conformance_scenarios_pass];
    let ignored = is_ignored("the protocol's conformance suite", mcp_conformance().err());
    cases.chain(suite.into_iter().map(|case| case.with_ignored_flag(ignored))).collect()
}

/// The environment variable that turns this test binary into the client of the conformance suite, which passes a URL as
/// the last argument.
const CLIENT: &str = "WORKSHOP_CONFORMANCE_CLIENT";

/// Runs as the client of the conformance suite, if this process was started for that. Returns whether it was.
pub fn is_conformance_client() -> bool {
    if std::env::var_os(CLIENT).is_none() {
        return false;
    }
    let url = std::env::args().next_back().expect("the suite passes a URL");
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace.connect(json!({ "url": url })).expect("the server connects");
    for listed in &offer.tools {
        let given = json!({ "a": 5, "b": 3 });
        let arguments = if listed.parameters["properties"]["a"].is_object() { given } else { json!({}) };
        let accepts = |question: &McpElicitation| match question.content(&serde_json::Map::new()) {
            Ok(content) => McpReply::Given { content },
            Err(_) => McpReply::Declined,
        };
        let answer = client.call_answering(tool(&listed.name, arguments), |_| {}, accepts).expect("the server answers");
        println!("{}", answer.text);
    }
    true
}

fn the_protocols_client_conformance_scenarios_pass() {
    let (node, script) = mcp_conformance().expect("the suite is installed");
    let own = std::env::current_exe().expect("the path of this program is known");
    for scenario in ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"] {
        let results = folder();
        let mut command = Command::new(node);
        command.arg(script).args(["client", "--scenario", scenario, "--command"]).arg(&own);
        let output = command.env(CLIENT, "1").current_dir(results.path()).output().expect("the process starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scenario}: {text}");
    }
}

/// A temporary workspace in which servers run, with a configuration folder of its own.
struct TestWorkspace {
    folder: tempfile::TempDir,
    config: tempfile::TempDir,
}

impl TestWorkspace {
    fn new() -> Self {
        let (workspace, config) = (folder(), folder());
        // A sandboxed server cannot create anything beside the folders of the workspace.
        std::fs::create_dir(workspace.path().join("artifacts")).expect("the folder can be created");
        Self { folder: workspace, config }
    }

    fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(self.folder.path())
    }

    fn connect(&self, definition: Value) -> Result<(McpClient, McpOffer), McpFailure> {
        let server: McpServer =
            mcp_server::read(&json!({ "peer": definition })).defined().next().expect("a server is defined");
        let environment = self.environment();
        allow_peer(&environment, self.folder.path(), &server).expect("the permission can be saved");
        McpClient::connect(server, McpSettings::default().terms(), &environment)
    }
}

fn packages() -> &'static Path {
    mcp_servers().expect("the servers are installed")
}

/// Returns the path of a reference server's script.
fn script(name: &str) -> String {
    packages().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js")).display().to_string()
}

fn tool(name: &str, arguments: Value) -> McpRequest {
    McpRequest::Tool { name: name.to_owned(), arguments: arguments.as_object().cloned().unwrap_or_default() }
}

fn assert_features_work(client: &mut McpClient, offer: &McpOffer) {
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.len() >= 10 && names.contains(&"echo"), "{names:?}");
    assert!(!offer.resources.is_empty() && !offer.prompts.is_empty(), "{offer:?}");
    let echo = client.call(tool("echo", json!({ "message": "grüße 🙂" })), |_| {}).expect("the server echoes");
    assert!(echo.text.contains("grüße 🙂"), "{echo:?}");
    assert!(client.call(tool("echo", json!({})), |_| {}).is_err(), "invalid arguments are refused");
    let uri = offer.resources[0].name.clone();
    let read = client.call(McpRequest::Resource { uri }, |_| {}).expect("the resource is readable");
    assert!(!read.text.is_empty());
    if let Some(template) = offer.templates.iter().find(|template| template.name.contains('{')) {
        let (start, rest) = template.name.split_once('{').expect("the template has a variable");
        let uri = format!("{start}1{}", rest.split_once('}').map_or("", |(_, end)| end));
        let read = client.call(McpRequest::Resource { uri: uri.clone() }, |_| {}).expect("the resource is readable");
        assert!(!read.text.is_empty(), "{uri}");
    }
    let plain =
        offer.prompts.iter().find(|prompt| prompt.arguments.is_empty()).expect("there is a prompt without arguments");
    let request = McpRequest::Prompt { name: plain.name.clone(), arguments: serde_json::Map::new() };
    assert!(client.call(request, |_| {}).expect("the prompt is available").text.starts_with("user: "));
    let image = names.iter().find(|name| name.contains("image") || name.contains("Image"));
    if let Some(image) = image {
        let answer = client.call(tool(image, json!({})), |_| {}).expect("the server has an image");
        assert!(!answer.images.is_empty(), "{answer:?}");
    }
}

fn the_everything_server_works() {
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace
        .connect(json!({ "command": "node", "args": [script("everything"), "stdio"] }))
        .expect("the server connects");
    assert_features_work(&mut client, &offer);
}

fn a_sampling_request_outside_of_a_room_is_refused_with_a_reason() {
    const TOOL: &str = "trigger-sampling-request";
    let workspace = TestWorkspace::new();
    let definition =
        |sampling: bool| json!({ "command": "node", "args": [script("everything"), "stdio"], "sampling": sampling });
    let has_tool = |offer: &McpOffer| offer.tools.iter().any(|tool| tool.name == TOOL);
    let (client, offer) = workspace.connect(definition(false)).expect("the server connects");
    assert!(!has_tool(&offer), "the client does not offer sampling");
    drop(client);
    let (mut client, offer) = workspace.connect(definition(true)).expect("the server connects");
    assert!(has_tool(&offer), "{offer:?}");
    let mut messages = Vec::new();
    let answer = client.call(tool(TOOL, json!({ "prompt": "Say yes." })), |step| messages.push(step.to_owned()));
    let failure = answer.expect_err("sampling is refused");
    assert!(failure.what.contains("no agent is working here"), "{failure:?}");
    assert!(messages.iter().any(|step| step.contains("question to a model was refused")), "{messages:?}");
}

/// An HTTP server that ends when dropped.
struct HttpServer(Child);

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a port that no other test gets: below the ephemeral range, and each only once.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 1_000) as u16 * 10;
    let mut ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed)).take(1_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port is free")
}

/// Starts the everything server over HTTP in this mode. Returns it with its port once it listens.
fn start_http_server(mode: &str) -> (HttpServer, u16) {
    let port = free_port();
    (start_http_server_on(mode, port), port)
}

fn start_http_server_on(mode: &str, port: u16) -> HttpServer {
    let mut command = Command::new("node");
    command.args([script("everything").as_str(), mode]).env("PORT", port.to_string());
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the process starts");
    let start_http_server = HttpServer(child);
    let until = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "the server never listened");
        std::thread::yield_now();
    }
    start_http_server
}

/// Waits for an event of the server for which `is_it` returns a value.
fn wait_for_event<T>(servers: &ServersAlone, what: &str, mut is_it: impl FnMut(McpEvent) -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(event) = servers.next(Duration::from_millis(50))
            && let Some(found) = is_it(event)
        {
            return found;
        }
    }
    panic!("{what} did not happen");
}

fn a_restarted_http_server_is_reconnected() {
    let (first, port) = start_http_server("streamableHttp");
    let workspace = TestWorkspace::new();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let server = mcp_server::read(&json!({ "peer": { "url": url } })).defined().next().expect("a server is defined");
    allow_peer(&workspace.environment(), workspace.folder.path(), &server).expect("the permission can be saved");
    let servers = ServersAlone::new(&workspace.environment());
    let send = |command| servers.send(command);
    let terms = Box::new(McpSettings::default().terms());
    send(McpCommand::Connect { server: Box::new(server.clone()), terms });
    let is_ready = |event| matches!(event, McpEvent::Standing { news: McpStatus::Ready { .. }, .. }).then_some(());
    wait_for_event(&servers, "the connection", is_ready);
    let call = |id: &str| {
        let request = Box::new(tool("echo", json!({ "message": "again" })));
        send(McpCommand::Call { id: id.into(), key: server.key(), request, observer: None });
    };
    let done = |event| match event {
        McpEvent::Done { outcome, .. } => Some(outcome),
        _ => None,
    };
    let echoes = |what: &str| {
        let until = Instant::now() + PATIENCE;
        for number in 0.. {
            call(&format!("{what} {number}"));
            if wait_for_event(&servers, what, done).is_ok() {
                return;
            }
            assert!(Instant::now() < until, "{what} never succeeded");
            // Reconnecting takes a moment.
            let _ = servers.next(Duration::from_millis(200));
        }
    };
    echoes("the first echo");
    drop(first);
    call("two");
    let failure = wait_for_event(&servers, "the failed call", done).expect_err("the server has ended");
    assert!(matches!(failure.fault, McpFault::Gone | McpFault::Protocol), "{failure:?}");
    wait_for_event(&servers, "the report of the failure", |event| {
        matches!(event, McpEvent::Standing { news: McpStatus::Failed { tries_again: true, .. }, .. }).then_some(())
    });
    let second = start_http_server_on("streamableHttp", port);
    echoes("the echo after a restart");
    // The server is restarted between two calls, and does not know the session.
    drop(second);
    let _third = start_http_server_on("streamableHttp", port);
    echoes("the echo after the second restart");
}

/// Opens a room whose agent has this server of its own, allows the server, and gives the agent a task.
fn room(workspace: &TestWorkspace, server: &Value, settings: &str, script: &str) -> Workshop {
    let lead = format!("---\nid: lead\ntools: [vfs_read]\nmcp_servers: [ {server} ]\n---\nYou lead.\n");
    let settings = format!("{settings}knowledge: {{ learns_from_work: false }}\n");
    let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).script(script).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.tick();
    let written = room.world().resource::<McpServers>().configured()[0].server.clone();
    assert_eq!(written.of.as_deref(), Some("lead"));
    allow_peer(&workspace.environment(), workspace.folder.path(), &written).expect("the permission can be saved");
    room.push(TaskCommand { agent: "lead".into(), text: "Do it.".into() });
    room
}

fn an_agent_uses_a_third_party_server_under_the_gate() {
    const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    \
        - tools: [ { name: mcp__memory__create_entities, arguments: { entities: [ { name: Ada, entityType: person, observations: [counts] } ] } } ]\n    \
        - tools: [ { name: mcp__memory__search_nodes, arguments: { query: Ada } } ]\n    \
        - text: It is noted.\n";
    let workspace = TestWorkspace::new();
    let file = workspace.folder.path().join("artifacts/memory.jsonl");
    let server = json!({
        "name": "memory", "command": "node", "args": [script("memory")], "env": { "MEMORY_FILE_PATH": file },
    });
    let mut room = room(&workspace, &server, "gate:\n  mcp: { \"mcp:memory:*(read-only)\": allow }\n", SCRIPT);
    let asked = room.until(60.0, "approval_requested", |_| true);
    assert_eq!(asked["data"]["tool"], "mcp__memory__create_entities", "{asked}");
    assert!(!file.exists(), "nothing is written before the approval");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    room.push(approval.decide(true));
    let is_found = |event: &Value| event["data"]["tool"] == "mcp__memory__search_nodes";
    let found = room.until(60.0, "tool_result", is_found);
    assert!(found["data"]["ok"] == true && found["data"].to_string().contains("counts"), "{found}");
    assert_eq!(room.events("approval_requested").len(), 1, "the rule allows tools that are marked as read-only");
    let session = format!("{:?}", sessions_at_rest(room.world()));
    assert!(session.contains("search_nodes") && session.contains("counts"), "{session}");
    room.until(60.0, "complete", |_| true);
    assert!(std::fs::read_to_string(&file).expect("the connection").contains("Ada"));
}

fn an_agent_gets_a_prompt_of_its_server() {
    const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    \
        - tools: [ { name: mcp__everything__get_prompt, arguments: { name: simple-prompt } } ]\n    \
        - tools: [ { name: mcp__everything__get_prompt, arguments: { name: args-prompt, arguments: { city: Oslo } } } ]\n    \
        - text: I have them.\n";
    let workspace = TestWorkspace::new();
    let server = json!({ "name": "everything", "command": "node", "args": [script("everything"), "stdio"] });
    let mut room = room(&workspace, &server, "gate:\n  mcp: { \"mcp:everything:get_prompt\": allow }\n", SCRIPT);
    room.until(60.0, "complete", |_| true);
    let results: Vec<String> = room.events("tool_result").iter().map(|event| event["data"].to_string()).collect();
    assert!(results[0].contains("user: This is a simple prompt"), "{results:?}");
    assert!(results[1].contains("Oslo"), "{results:?}");
}

fn the_everything_server_works_over_http() {
    let (_listening, port) = start_http_server("streamableHttp");
    let workspace = TestWorkspace::new();
    let (mut client, offer) =
        workspace.connect(json!({ "url": format!("http://127.0.0.1:{port}/mcp") })).expect("the server connects");
    assert_features_work(&mut client, &offer);
}

fn the_everything_server_works_over_the_older_sse_transport() {
    let (_listening, port) = start_http_server("sse");
    let workspace = TestWorkspace::new();
    let definition = json!({ "type": "sse", "url": format!("http://127.0.0.1:{port}/sse") });
    let (mut client, offer) = workspace.connect(definition).expect("the server connects");
    assert_features_work(&mut client, &offer);
}

fn the_filesystem_server_reads_and_writes_files() {
    let workspace = TestWorkspace::new();
    let root = workspace.folder.path().canonicalize().expect("the folder exists");
    let (mut client, offer) = workspace
        .connect(json!({ "command": "node", "args": [script("filesystem"), root.display().to_string()] }))
        .expect("the server connects");
    assert!(offer.tools.len() >= 10, "{}", offer.tools.len());
    let note = root.join("artifacts/note.txt").display().to_string();
    client
        .call(tool("write_file", json!({ "path": note, "content": "written" })), |_| {})
        .expect("the file is written");
    assert_eq!(std::fs::read_to_string(root.join("artifacts/note.txt")).expect("the file exists"), "written");
    let read = client.call(tool("read_text_file", json!({ "path": note })), |_| {}).expect("the file can be read");
    assert!(read.text.contains("written"), "{read:?}");
    let hints = |name: &str| offer.tools.iter().find(|tool| tool.name == name).expect("the tool is offered").hints;
    assert!(hints("read_text_file").read_only && hints("write_file").destructive);
    assert!(client.call(tool("read_text_file", json!({ "path": "/etc/hostname" })), |_| {}).is_err());
}

fn the_memory_server_keeps_data() {
    let workspace = TestWorkspace::new();
    let file = workspace.folder.path().join("artifacts/memory.jsonl").display().to_string();
    let definition = json!({ "command": "node", "args": [script("memory")], "env": { "MEMORY_FILE_PATH": file } });
    let (mut client, _) = workspace.connect(definition.clone()).expect("the server connects");
    let ada = json!({ "entities": [ { "name": "Ada", "entityType": "person", "observations": ["counts"] } ] });
    client.call(tool("create_entities", ada), |_| {}).expect("the entity is saved");
    drop(client);
    let (mut client, _) = workspace.connect(definition).expect("the server connects again");
    let found = client.call(tool("search_nodes", json!({ "query": "Ada" })), |_| {}).expect("the search succeeds");
    assert!(found.text.contains("counts"), "{found:?}");
}

fn a_python_server_works() {
    let workspace = TestWorkspace::new();
    let python = packages().join("python").display().to_string();
    let definition = json!({
        "command": "python3",
        "args": ["-m", "mcp_server_time", "--local-timezone", "Europe/Oslo"],
        "env": { "PYTHONPATH": python },
    });
    let (mut client, offer) = workspace.connect(definition).expect("the server connects");
    assert_eq!(offer.tools.len(), 2);
    let now = client
        .call(tool("get_current_time", json!({ "timezone": "UTC" })), |_| {})
        .expect("the server returns the time");
    assert!(now.text.contains("UTC"), "{now:?}");
}
