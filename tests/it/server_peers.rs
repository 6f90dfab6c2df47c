//! Third-party MCP servers, over standard input and output and over HTTP, as the program uses them.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use agent_workshop::agent::{McpServer, mcp_server};
use agent_workshop::gateway::mcp::{
    McpClient, McpCommand, McpElicitation, McpEvent, McpFailure, McpFault, McpNews, McpOffer, McpReply, McpRequest,
    McpSettings,
};
use agent_workshop::gateway::messages::{GatewayCommand, GatewayEvent};
use agent_workshop::gateway::peers::allow_peer;
use agent_workshop::gateway::worker::Worker;
use agent_workshop::gateway::{Environment, GatewayEnvironment, McpServers};
use agent_workshop::kernel::{Kernel, sessions_at_rest};
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::{is_ignored, mcp_conformance, mcp_servers};
use crate::program::{PATIENCE, folder};
use crate::servers::SCENE;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        the_server_that_has_everything_is_understood,
        a_server_that_asks_a_model_is_told_why_none_answers,
        the_same_over_http,
        the_same_over_the_older_http_with_events,
        files_are_read_and_written_by_a_server,
        a_server_remembers,
        a_server_of_another_language_tells_the_time,
        an_agent_uses_a_server_that_nobody_here_wrote_under_the_gate,
        an_agent_gets_a_prompt_of_its_server,
        a_server_over_http_that_was_started_anew_is_connected_again,
    ];
    let ignored = is_ignored("the cases of MCP servers that nobody here wrote", mcp_servers().err());
    let cases = cases.into_iter().map(|case| case.with_ignored_flag(ignored));
    let suite = cases![the_protocol_s_own_scenarios_for_clients_pass];
    let ignored = is_ignored("the protocol's conformance suite", mcp_conformance().err());
    cases.chain(suite.into_iter().map(|case| case.with_ignored_flag(ignored))).collect()
}

/// The variable that turns this program into the client that the conformance suite starts, with an address as its last
/// argument.
const CLIENT: &str = "WORKSHOP_CONFORMANCE_CLIENT";

/// Performs a scenario of the conformance suite, if this program was started for that.
pub fn is_conformance_client() -> bool {
    if std::env::var_os(CLIENT).is_none() {
        return false;
    }
    let url = std::env::args().next_back().expect("the suite says where its server is");
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace.connect(json!({ "url": url })).expect("it should work");
    for listed in &offer.tools {
        let given = json!({ "a": 5, "b": 3 });
        let arguments = if listed.parameters["properties"]["a"].is_object() { given } else { json!({}) };
        let accepts = |question: &McpElicitation| match question.content(&serde_json::Map::new()) {
            Ok(content) => McpReply::Given { content },
            Err(_) => McpReply::Declined,
        };
        let answer = client.call_answering(tool(&listed.name, arguments), |_| {}, accepts).expect("it answers");
        println!("{}", answer.text);
    }
    true
}

fn the_protocol_s_own_scenarios_for_clients_pass() {
    let (node, script) = mcp_conformance().expect("it should exist");
    let own = std::env::current_exe().expect("it runs");
    for scenario in ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"] {
        let results = folder();
        let mut command = Command::new(node);
        command.arg(script).args(["client", "--scenario", scenario, "--command"]).arg(&own);
        let output = command.env(CLIENT, "1").current_dir(results.path()).output().expect("the process starts");
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{scenario}: {told}");
    }
}

/// A workspace in which servers run, and the person's configuration.
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
    mcp_servers().expect("they should exist")
}

/// The script of one of the protocol's own servers.
fn script(name: &str) -> String {
    packages().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js")).display().to_string()
}

fn tool(name: &str, arguments: Value) -> McpRequest {
    McpRequest::Tool { name: name.to_owned(), arguments: arguments.as_object().cloned().unwrap_or_default() }
}

fn understood(client: &mut McpClient, offer: &McpOffer) {
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.len() >= 10 && names.contains(&"echo"), "{names:?}");
    assert!(!offer.resources.is_empty() && !offer.prompts.is_empty(), "{offer:?}");
    let echo = client.call(tool("echo", json!({ "message": "grüße 🙂" })), |_| {}).expect("it echoes");
    assert!(echo.text.contains("grüße 🙂"), "{echo:?}");
    assert!(client.call(tool("echo", json!({})), |_| {}).is_err(), "arguments that do not fit are refused");
    let uri = offer.resources[0].name.clone();
    let read = client.call(McpRequest::Resource { uri }, |_| {}).expect("it can be read");
    assert!(!read.text.is_empty());
    if let Some(template) = offer.templates.iter().find(|template| template.name.contains('{')) {
        let (start, rest) = template.name.split_once('{').expect("it has a variable");
        let uri = format!("{start}1{}", rest.split_once('}').map_or("", |(_, end)| end));
        let read = client.call(McpRequest::Resource { uri: uri.clone() }, |_| {}).expect("it can be read");
        assert!(!read.text.is_empty(), "{uri}");
    }
    let plain = offer.prompts.iter().find(|prompt| prompt.arguments.is_empty()).expect("one needs nothing");
    let request = McpRequest::Prompt { name: plain.name.clone(), arguments: serde_json::Map::new() };
    assert!(client.call(request, |_| {}).expect("it has it ready").text.starts_with("user: "));
    let image = names.iter().find(|name| name.contains("image") || name.contains("Image"));
    if let Some(image) = image {
        let answer = client.call(tool(image, json!({})), |_| {}).expect("it should have one");
        assert!(!answer.images.is_empty(), "{answer:?}");
    }
}

fn the_server_that_has_everything_is_understood() {
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace
        .connect(json!({ "command": "node", "args": [script("everything"), "stdio"] }))
        .expect("it should work");
    understood(&mut client, &offer);
}

fn a_server_that_asks_a_model_is_told_why_none_answers() {
    const TOOL: &str = "trigger-sampling-request";
    let workspace = TestWorkspace::new();
    let definition =
        |sampling: bool| json!({ "command": "node", "args": [script("everything"), "stdio"], "sampling": sampling });
    let has_tool = |offer: &McpOffer| offer.tools.iter().any(|tool| tool.name == TOOL);
    let (client, offer) = workspace.connect(definition(false)).expect("it should work");
    assert!(!has_tool(&offer), "it is not told that it may");
    drop(client);
    let (mut client, offer) = workspace.connect(definition(true)).expect("it should work");
    assert!(has_tool(&offer), "{offer:?}");
    let mut told = Vec::new();
    let answer = client.call(tool(TOOL, json!({ "prompt": "Say yes." })), |step| told.push(step.to_owned()));
    let failure = answer.expect_err("nobody is here to be asked");
    assert!(failure.what.contains("no agent is working here"), "{failure:?}");
    assert!(told.iter().any(|step| step.contains("question to a model was refused")), "{told:?}");
}

/// A server over HTTP that ends when dropped.
struct Listening(Child);

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody else gets: below the range from which concurrent tests get theirs, and each only once.
fn own_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 1_000) as u16 * 10;
    let mut ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed)).take(1_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("one is free")
}

/// The server with all features, over HTTP in this mode, once it listens.
fn listening(mode: &str) -> (Listening, u16) {
    let port = own_port();
    (listening_on(mode, port), port)
}

fn listening_on(mode: &str, port: u16) -> Listening {
    let mut command = Command::new("node");
    command.args([script("everything").as_str(), mode]).env("PORT", port.to_string());
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the process starts");
    let listening = Listening(child);
    let until = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "it never listened");
        std::thread::yield_now();
    }
    listening
}

/// Waits for what a worker has heard of its server.
fn heard<T>(worker: &Worker, what: &str, mut is_it: impl FnMut(McpEvent) -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Some(GatewayEvent::Mcp(event)) = worker.next(Duration::from_millis(50))
            && let Some(found) = is_it(event)
        {
            return found;
        }
    }
    panic!("{what}: it did not happen");
}

fn a_server_over_http_that_was_started_anew_is_connected_again() {
    let (first, port) = listening("streamableHttp");
    let workspace = TestWorkspace::new();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let server = mcp_server::read(&json!({ "peer": { "url": url } })).defined().next().expect("a server is defined");
    allow_peer(&workspace.environment(), workspace.folder.path(), &server).expect("the permission can be saved");
    let worker = Worker::start(workspace.environment(), BTreeMap::new()).expect("the process starts");
    let send = |command| worker.send(GatewayCommand::Mcp(command)).expect("it listens");
    let terms = Box::new(McpSettings::default().terms());
    send(McpCommand::Connect { server: Box::new(server.clone()), terms });
    let is_ready = |event| matches!(event, McpEvent::Standing { news: McpNews::Ready { .. }, .. }).then_some(());
    heard(&worker, "it is there", is_ready);
    let call = |id: &str| {
        let request = Box::new(tool("echo", json!({ "message": "again" })));
        send(McpCommand::Call { id: id.into(), key: server.key(), request });
    };
    let done = |event| match event {
        McpEvent::Done { outcome, .. } => Some(outcome),
        _ => None,
    };
    let echoes = |what: &str| {
        let until = Instant::now() + PATIENCE;
        for number in 0.. {
            call(&format!("{what} {number}"));
            if heard(&worker, what, done).is_ok() {
                return;
            }
            assert!(Instant::now() < until, "{what}: it never did");
            // It takes a moment until it is there again.
            let _ = worker.next(Duration::from_millis(200));
        }
    };
    echoes("it echoes");
    drop(first);
    call("two");
    let failure = heard(&worker, "it is gone", done).expect_err("nobody is there");
    assert!(matches!(failure.fault, McpFault::Gone | McpFault::Protocol), "{failure:?}");
    heard(&worker, "it says so", |event| {
        matches!(event, McpEvent::Standing { news: McpNews::Failed { tries_again: true, .. }, .. }).then_some(())
    });
    let second = listening_on("streamableHttp", port);
    echoes("it echoes again");
    // It was away while nobody called it, and knows nothing of the session.
    drop(second);
    let _third = listening_on("streamableHttp", port);
    echoes("it echoes once more");
}

/// A room whose agent has this server of its own, which is allowed, and is asked something.
fn room(workspace: &TestWorkspace, server: &Value, settings: &str, script: &str) -> Workshop {
    let lead = format!("---\nid: lead\ntools: [vfs_read]\nmcp_servers: [ {server} ]\n---\nYou lead.\n");
    let settings = format!("{settings}knowledge: {{ learns_from_work: false }}\n");
    let mut room = Setup::scene(SCENE).profile("lead", &lead).file("settings.yaml", &settings).script(script).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.tick();
    let written = room.world().resource::<McpServers>().written()[0].server.clone();
    assert_eq!(written.of.as_deref(), Some("lead"));
    allow_peer(&workspace.environment(), workspace.folder.path(), &written).expect("the permission can be saved");
    room.push(TaskCommand { agent: "lead".into(), text: "Do it.".into() });
    room
}

fn an_agent_uses_a_server_that_nobody_here_wrote_under_the_gate() {
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
    assert!(!file.exists(), "nothing is done before a person has said yes");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("it asks");
    room.push(approval.decide(true));
    let is_found = |event: &Value| event["data"]["tool"] == "mcp__memory__search_nodes";
    let found = room.until(60.0, "tool_result", is_found);
    assert!(found["data"]["ok"] == true && found["data"].to_string().contains("counts"), "{found}");
    assert_eq!(room.events("approval_requested").len(), 1, "what the server says is read-only is allowed by the rule");
    let session = format!("{:?}", sessions_at_rest(room.world()));
    assert!(session.contains("search_nodes") && session.contains("counts"), "{session}");
    room.until(60.0, "complete", |_| true);
    assert!(std::fs::read_to_string(&file).expect("it is there").contains("Ada"));
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

fn the_same_over_http() {
    let (_listening, port) = listening("streamableHttp");
    let workspace = TestWorkspace::new();
    let (mut client, offer) =
        workspace.connect(json!({ "url": format!("http://127.0.0.1:{port}/mcp") })).expect("it should work");
    understood(&mut client, &offer);
}

fn the_same_over_the_older_http_with_events() {
    let (_listening, port) = listening("sse");
    let workspace = TestWorkspace::new();
    let definition = json!({ "type": "sse", "url": format!("http://127.0.0.1:{port}/sse") });
    let (mut client, offer) = workspace.connect(definition).expect("it should work");
    understood(&mut client, &offer);
}

fn files_are_read_and_written_by_a_server() {
    let workspace = TestWorkspace::new();
    let root = workspace.folder.path().canonicalize().expect("it should exist");
    let (mut client, offer) = workspace
        .connect(json!({ "command": "node", "args": [script("filesystem"), root.display().to_string()] }))
        .expect("it should work");
    assert!(offer.tools.len() >= 10, "{}", offer.tools.len());
    let note = root.join("artifacts/note.txt").display().to_string();
    client.call(tool("write_file", json!({ "path": note, "content": "written" })), |_| {}).expect("it writes");
    assert_eq!(std::fs::read_to_string(root.join("artifacts/note.txt")).expect("it should exist"), "written");
    let read = client.call(tool("read_text_file", json!({ "path": note })), |_| {}).expect("it reads");
    assert!(read.text.contains("written"), "{read:?}");
    let hints = |name: &str| offer.tools.iter().find(|tool| tool.name == name).expect("it has it").hints;
    assert!(hints("read_text_file").read_only && hints("write_file").destructive);
    assert!(client.call(tool("read_text_file", json!({ "path": "/etc/hostname" })), |_| {}).is_err());
}

fn a_server_remembers() {
    let workspace = TestWorkspace::new();
    let file = workspace.folder.path().join("artifacts/memory.jsonl").display().to_string();
    let definition = json!({ "command": "node", "args": [script("memory")], "env": { "MEMORY_FILE_PATH": file } });
    let (mut client, _) = workspace.connect(definition.clone()).expect("it should work");
    let ada = json!({ "entities": [ { "name": "Ada", "entityType": "person", "observations": ["counts"] } ] });
    client.call(tool("create_entities", ada), |_| {}).expect("it notes");
    drop(client);
    let (mut client, _) = workspace.connect(definition).expect("it works again");
    let found = client.call(tool("search_nodes", json!({ "query": "Ada" })), |_| {}).expect("it finds");
    assert!(found.text.contains("counts"), "{found:?}");
}

fn a_server_of_another_language_tells_the_time() {
    let workspace = TestWorkspace::new();
    let python = packages().join("python").display().to_string();
    let definition = json!({
        "command": "python3",
        "args": ["-m", "mcp_server_time", "--local-timezone", "Europe/Oslo"],
        "env": { "PYTHONPATH": python },
    });
    let (mut client, offer) = workspace.connect(definition).expect("it should work");
    assert_eq!(offer.tools.len(), 2);
    let now = client.call(tool("get_current_time", json!({ "timezone": "UTC" })), |_| {}).expect("it tells");
    assert!(now.text.contains("UTC"), "{now:?}");
}
