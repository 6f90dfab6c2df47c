//! MCP servers, well-behaved and not: what agents and people get from them, which permissions they need, and that none
//! of their processes are left running.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agent_workshop::agent::{McpServer, mcp_server};
use agent_workshop::base::Seq;
use agent_workshop::gateway::mcp::{McpClient, McpFailure, McpFault, McpOffer, McpRequest, McpSettings, McpTerms};
use agent_workshop::gateway::peers::{allow_peer, forbid_peer};
use agent_workshop::gateway::sandbox::{Level, SUPERVISOR_ARGUMENT};
use agent_workshop::gateway::{
    Environment, GatewayEnvironment, McpServerStatus, McpServers, McpTry, server_status_text,
};
use agent_workshop::kernel::{Approval, Kernel};
use agent_workshop::orchestration::workflow::WorkflowCommand;
use agent_workshop::schedule::InputJournal;
use agent_workshop::simulation::TaskCommand;
use libtest_mimic::Trial;
use serde_json::{Map, Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::{folder, succeed};
use crate::sandbox_modes::{in_each, use_supervisor};
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        a_server_connects_lists_its_tools_runs_calls_and_exits,
        a_server_runs_only_if_exactly_this_definition_was_allowed,
        forbidding_a_running_server_ends_it,
        a_working_server_can_be_tried_again_and_reports_ready,
        misbehaving_servers_are_reported_in_time_and_leave_no_process,
        a_server_that_exits_at_once_is_reported_with_its_output_and_a_remedy,
        a_server_reports_progress,
        a_resource_at_a_template_address_is_read_like_any_other,
        redirects_credential_requests_and_wrong_content_types_are_reported,
        an_endless_http_response_is_cut_off,
        a_misbehaving_event_stream_is_reported,
        a_server_that_is_killed_leaves_no_process,
        an_agent_uses_the_tools_of_its_server_under_the_gate,
        a_run_with_server_calls_replays_without_servers,
        a_workflow_with_server_calls_replays_without_servers,
        a_person_answers_a_question_that_a_server_asks_during_a_call,
        a_person_may_decline_a_servers_question_and_the_call_continues,
        a_servers_question_is_declined_where_nobody_can_answer,
        a_server_that_asks_for_a_model_is_refused_where_no_person_allowed_it,
        data_and_images_of_results_are_in_the_session_file,
        a_confined_server_writes_only_in_the_workspace_and_has_network_only_if_allowed,
        the_watcher_can_confine_a_program_by_itself,
        the_command_line_lists_allows_checks_and_calls,
        the_client_adds_little_latency,
    ];
    use_supervisor();
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the MCP server tests", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// Returns the path of the mock server's script, `odd_server.py`, written to the temporary folder once per process.
pub fn script() -> &'static Path {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        // Sandboxed servers have a temporary folder of their own.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = place.join(format!("odd_server-{}.py", std::process::id()));
        std::fs::write(&file, include_str!("odd_server.py")).expect("the file can be written");
        file
    })
}

pub fn mock_server(mode: &str) -> McpServer {
    let command = json!({ "odd": { "command": "python3", "args": [script(), mode], "network": true } });
    mcp_server::read(&command).defined().next().expect("a server is defined")
}

pub fn terms() -> McpTerms {
    McpTerms { connect: Duration::from_secs(3), call: Duration::from_secs(6), ..McpSettings::default().terms() }
}

/// A temporary workspace with a configuration folder of its own.
pub struct TestWorkspace {
    pub folder: tempfile::TempDir,
    config: tempfile::TempDir,
}

impl TestWorkspace {
    pub fn new() -> Self {
        let (workspace, config) = (folder(), folder());
        // A sandboxed server cannot create anything beside the folders of the workspace.
        std::fs::create_dir(workspace.path().join("artifacts")).expect("the folder can be created");
        Self { folder: workspace, config }
    }

    pub fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(self.folder.path())
    }

    pub fn allow(&self, server: &McpServer) {
        allow_peer(&self.environment(), self.folder.path(), server).expect("the permission can be saved");
    }

    pub fn connect(&self, server: McpServer) -> Result<(McpClient, McpOffer), McpFailure> {
        McpClient::connect(server, terms(), &self.environment())
    }

    pub fn allowed(&self, mode: &str) -> Result<(McpClient, McpOffer), McpFailure> {
        self.allow(&mock_server(mode));
        self.connect(mock_server(mode))
    }
}

pub fn tool(name: &str, arguments: Value) -> McpRequest {
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    McpRequest::Tool { name: name.to_owned(), arguments }
}

/// Returns the ids of the processes whose command line contains `word`.
pub fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(word)
    };
    all.filter(has_it).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits up to five seconds until no process of the mock server in this mode is left. Returns whether that happened.
pub fn is_gone(mode: &str) -> bool {
    let word = format!("{} {mode}", script().display());
    let until = Instant::now() + Duration::from_secs(5);
    while !processes(&word).is_empty() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

fn a_server_connects_lists_its_tools_runs_calls_and_exits() {
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace.allowed("good").expect("the server connects");
    assert_eq!(offer.server, "odd 1");
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["add", "log.all", "picture", "slow", "environment"]);
    assert!(offer.tools[0].hints.read_only && offer.tools[1].hints.destructive);
    let sum = client.call(tool("add", json!({ "a": 2, "b": 3 })), |_| {}).expect("the server should add");
    assert_eq!((sum.text.as_str(), sum.data), ("The sum is 5.", Some(json!({ "sum": 5 }))));
    let picture = client.call(tool("picture", json!({})), |_| {}).expect("the server has a picture");
    assert_eq!(picture.images, [("image/png".to_owned(), "iVBORw0KGgo=".to_owned())]);
    let log_result = client.call(tool("log.all", json!({ "text": "hi" })), |_| {}).expect("the server logs it");
    assert_eq!(log_result.text, "noted");
    let written =
        std::fs::read_to_string(workspace.folder.path().join("artifacts/noted.txt")).expect("the file exists");
    assert_eq!(written, "hi\n", "the server runs in the workspace");
    let variables = client.call(tool("environment", json!({})), |_| {}).expect("the server answers").text;
    assert!(variables.contains("PATH") && !variables.contains("CARGO"), "{variables}");
    drop(client);
    assert!(is_gone("good"));
}

fn a_server_runs_only_if_exactly_this_definition_was_allowed() {
    let workspace = TestWorkspace::new();
    let refused = |outcome: Result<(McpClient, McpOffer), McpFailure>| {
        let failure = outcome.err().expect("the server is not allowed");
        assert_eq!(failure.fault, McpFault::NotAllowed, "{failure:?}");
        failure
    };
    let failure = refused(workspace.connect(mock_server("trusted")));
    assert!(failure.remedy.contains("workshop mcp allow odd --workspace"), "{failure:?}");
    assert!(processes(&format!("{} trusted", script().display())).is_empty());
    workspace.allow(&mock_server("trusted"));
    drop(workspace.connect(mock_server("trusted")).expect("the server is allowed"));
    let failure = refused(workspace.connect(mock_server("good")));
    assert!(failure.what.contains("changed since you allowed it"), "{failure:?}");
    let folder_outside = TestWorkspace { folder: folder(), config: TestWorkspace::new().config };
    refused(folder_outside.connect(mock_server("trusted")));
}

fn forbidding_a_running_server_ends_it() {
    let workspace = TestWorkspace::new();
    let (mut client, _) = workspace.allowed("forbidden").expect("the server works");
    client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect("the server adds");
    forbid_peer(&workspace.environment(), workspace.folder.path(), &mock_server("forbidden"))
        .expect("the permission can be saved");
    assert!(is_gone("forbidden"));
    let failure = client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect_err("the server is not allowed");
    assert!(matches!(failure.fault, McpFault::NotAllowed | McpFault::Gone), "{failure:?}");
}

fn a_working_server_can_be_tried_again_and_reports_ready() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, "tried", "gate:\n  mcp: { \"mcp:odd:*\": allow }\n");
    room.until(60.0, "complete", |_| true);
    let key = room.world().resource::<McpServers>().configured()[0].key.clone();
    let stands = |room: &mut Workshop| room.world().resource::<McpServers>().status(&key).clone();
    for _ in 0..2 {
        room.push(McpTry { key: key.clone() });
        room.tick();
        assert_eq!(stands(&mut room), McpServerStatus::Connecting);
        let until = Instant::now() + Duration::from_secs(20);
        while !matches!(stands(&mut room), McpServerStatus::Ready(_)) {
            assert!(Instant::now() < until, "the server never became ready: {:?}", stands(&mut room));
            room.tick();
            std::thread::yield_now();
        }
    }
    drop(room);
    assert!(is_gone("tried"));
}

fn a_server_that_exits_at_once_is_reported_with_its_output_and_a_remedy() {
    let workspace = TestWorkspace::new();
    let command = json!({ "odd": { "command": "python3", "args": ["/nowhere/server.py"] } });
    let server = mcp_server::read(&command).defined().next().expect("a server is defined");
    workspace.allow(&server);
    let failure = workspace.connect(server).err().expect("there is no such server");
    assert!(failure.what.contains("/nowhere/server.py"), "{failure:?}");
    assert!(
        failure.remedy.contains("outside the workspace") && failure.remedy.contains("unconfined.yaml"),
        "{failure:?}"
    );
}

fn misbehaving_servers_are_reported_in_time_and_leave_no_process() {
    let workspace = TestWorkspace::new();
    let begun = Instant::now();
    for (mode, fault) in
        [("silent", McpFault::Timeout), ("garbage", McpFault::Timeout), ("wrong-id", McpFault::Protocol)]
    {
        let failure = workspace.allowed(mode).err().expect("the connection fails");
        assert_eq!(failure.fault, fault, "{mode}: {failure:?}");
        assert!(is_gone(mode), "{mode} is still running");
    }
    for (mode, fault) in [("huge", McpFault::Protocol), ("dies", McpFault::Gone), ("mute", McpFault::Timeout)] {
        let (mut client, _) = workspace.allowed(mode).expect("the server should answer");
        let failure = client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect_err("the call fails");
        assert_eq!(failure.fault, fault, "{mode}: {failure:?}");
        drop(client);
        assert!(is_gone(mode), "{mode} is still running");
    }
    let (mut client, _) = workspace.allowed("flood").expect("the server connects in spite of the flood");
    assert!(client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).is_ok());
    drop(client);
    let (client, offer) = workspace.allowed("many").expect("the server connects");
    assert_eq!((offer.tools.len(), offer.left_out.len()), (100, 1));
    drop(client);
    let (client, offer) = workspace.allowed("sly").expect("the server should answer");
    assert_eq!((offer.tools.len(), offer.left_out.len()), (1, 2), "{:?}", offer.left_out);
    assert!(!offer.tools[0].description.contains('\u{1b}'));
    drop(client);
    let (client, _) = workspace.allowed("stays").expect("the server should answer");
    drop(client);
    for mode in ["flood", "many", "sly", "stays"] {
        assert!(is_gone(mode), "{mode} is still running");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

fn a_server_reports_progress() {
    let workspace = TestWorkspace::new();
    let (mut client, _) = workspace.allowed("progress").expect("the server should answer");
    let mut steps = Vec::new();
    let answer = client.call(tool("slow", json!({})), |step| steps.push(step.to_owned())).expect("the call succeeds");
    assert_eq!(answer.text, "done at last");
    assert_eq!(steps, ["25 %", "50 %", "75 %"]);
}

fn a_resource_at_a_template_address_is_read_like_any_other() {
    let workspace = TestWorkspace::new();
    let (mut client, offer) = workspace.allowed("resources").expect("the server should answer");
    let listed: Vec<(&str, &str)> =
        offer.templates.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
    assert_eq!(listed, [("note:///{day}", "What was noted on a day."), ("note:///words/{word}{?lang}", "word")]);
    assert_eq!(server_status_text::offer(&offer), "odd 1, 5 tools, 2 resource templates");
    let read = |client: &mut McpClient, uri: &str| client.call(McpRequest::Resource { uri: uri.into() }, |_| {});
    let answer = read(&mut client, "note:///monday").expect("the resource is readable");
    assert_eq!(answer.text, "what stands at note:///monday");
    // The server defines which addresses exist.
    let failure = read(&mut client, "other:///monday").expect_err("there is no such resource");
    assert_eq!((failure.fault, failure.what.as_str()), (McpFault::Refused, "there is no other:///monday"));
    drop(client);
    let (client, offer) =
        workspace.allowed("resources-without-templates").expect("the server connects without templates");
    assert!(offer.templates.is_empty() && offer.tools.len() == 5, "{offer:?}");
    drop(client);
    // An agent needs only the general permission to read resources.
    let script = script_of_a_call("read_resource", "{ uri: \"note:///monday\" }");
    let gate = "gate:\n  mcp: { \"mcp:odd:read_resource\": allow }\n";
    let mut room = room_with(&workspace, "resources", gate, &script);
    room.until(60.0, "complete", |_| true);
    assert!(results(&room)[0].to_string().contains("what stands at note:///monday"), "{:?}", results(&room));
}

/// Starts a server that sends `answer` to every HTTP request, on a thread that ends with the process. Returns its URL.
fn serve_http(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("the listener is bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

fn redirects_credential_requests_and_wrong_content_types_are_reported() {
    let workspace = TestWorkspace::new();
    for (answer, fault) in [
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            McpFault::Setup,
        ),
        (
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            McpFault::Credentials,
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi",
            McpFault::Protocol,
        ),
    ] {
        let server = mcp_server::read(&json!({ "far": { "url": serve_http(answer) } }))
            .defined()
            .next()
            .expect("the definition is valid");
        workspace.allow(&server);
        let failure = workspace.connect(server).err().expect("the connection fails");
        assert_eq!(failure.fault, fault, "{failure:?}");
    }
}

/// Starts a server that answers every HTTP request with this head and an endless body. Returns its URL and the count of
/// sent bytes.
fn serve_endlessly(head: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("the listener is bound"));
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(head.as_bytes());
            let words = [b'x'; 64 * 1024];
            // 100 MiB, unless the client disconnects first.
            for _ in 0..1_600 {
                if stream.write_all(&words).is_err() {
                    break;
                }
                count.fetch_add(words.len(), Ordering::Relaxed);
            }
        }
    });
    (url, sent)
}

fn an_endless_http_response_is_cut_off() {
    let workspace = TestWorkspace::new();
    let json_head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"x\":\"";
    let events_head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ";
    for (kind, head) in [("http", json_head), ("http", events_head), ("sse", events_head)] {
        let (url, sent) = serve_endlessly(head);
        let defined = json!({ "far": { "type": kind, "url": url } });
        let server = mcp_server::read(&defined).defined().next().expect("the definition is valid");
        workspace.allow(&server);
        let failure = workspace.connect(server).err().expect("the connection fails");
        assert!(matches!(failure.fault, McpFault::Protocol | McpFault::Timeout), "{kind}: {failure:?}");
        // The count includes what is still in the two sockets' buffers.
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent < 40 * 1024 * 1024, "{kind}: {sent} bytes were read: {failure:?}");
    }
}

fn a_misbehaving_event_stream_is_reported() {
    let workspace = TestWorkspace::new();
    let fails = |answer: &'static str| {
        let defined = json!({ "far": { "type": "sse", "url": serve_http(answer) } });
        let server = mcp_server::read(&defined).defined().next().expect("the definition is valid");
        workspace.allow(&server);
        workspace.connect(server).err().expect("the connection fails")
    };
    let folder_outside = fails(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: endpoint\r\ndata: http://127.0.0.1:9/steal\r\n\r\n",
    );
    assert!(folder_outside.what.contains("another server"), "{folder_outside:?}");
    let nowhere =
        fails("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: hello\r\n\r\n");
    assert!(nowhere.what.contains("where to send messages"), "{nowhere:?}");
    let page = fails("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
    assert!(page.what.contains("event stream"), "{page:?}");
    let refused = fails("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    assert_eq!(refused.fault, McpFault::Credentials, "{refused:?}");
}

fn a_server_that_is_killed_leaves_no_process() {
    let workspace = TestWorkspace::new();
    workspace.allow(&mock_server("killed"));
    let times = std::env::var("WORKSHOP_KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(6);
    let word = format!("{} killed", script().display());
    for time in 0..times {
        let (client, _) = workspace.connect(mock_server("killed")).expect("the server should answer");
        if time % 2 == 0 {
            // In every other round, it is killed from outside first.
            let _ = Command::new("sh").args(["-c", "kill -KILL \"$@\"", "sh"]).args(processes(&word)).status();
        }
        drop(client);
    }
    assert!(is_gone("killed"));
}

pub const SCENE: &str =
    "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
pub const LEAD: &str = "---\nid: lead\ntools: [vfs_read]\nmcp_servers: [odd]\n---\nYou lead.\n";

pub fn script_of_two_calls() -> String {
    script_of_a_call("add", "{ a: 2, b: 3 }")
}

pub fn script_of_a_call(tool: &str, arguments: &str) -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {{ name: mcp__odd__{tool}, arguments: {arguments} }} ]\n    - text: It is five.\n"
    )
}

/// Opens a room whose agent has the mock server, which is allowed.
pub fn room(workspace: &TestWorkspace, mode: &str, gate: &str) -> Workshop {
    room_with(workspace, mode, gate, &script_of_two_calls())
}

/// Returns the files of such a room.
fn setup(workspace: &TestWorkspace, mode: &str, gate: &str, script_of_model: &str) -> Setup {
    workspace.allow(&mock_server(mode));
    files(mode, "", gate, script_of_model)
}

/// Returns the files of a room whose agent has the mock server; `more` is appended to the server's settings.
pub fn files(mode: &str, more: &str, gate: &str, script_of_model: &str) -> Setup {
    let settings = format!(
        "mcp_servers:\n  odd: {{ command: python3, args: [{:?}, {mode}], network: true{more} }}\n{gate}",
        script().display().to_string()
    );
    Setup::scene(SCENE).profile("lead", LEAD).file("settings.yaml", &settings).script(script_of_model)
}

pub fn room_with(workspace: &TestWorkspace, mode: &str, gate: &str, script_of_model: &str) -> Workshop {
    let mut room = setup(workspace, mode, gate, script_of_model).open();
    room.world().insert_resource(GatewayEnvironment(workspace.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "What is two and three?".into() });
    room
}

pub fn results(room: &Workshop) -> Vec<&Value> {
    room.events("tool_result").into_iter().map(|event| &event["data"]).collect()
}

fn an_agent_uses_the_tools_of_its_server_under_the_gate() {
    let workspace = TestWorkspace::new();
    let mut room = room(&workspace, "gated", "");
    let asked = room.until(60.0, "approval_requested", |_| true);
    assert_eq!(asked["data"]["tool"], "mcp__odd__add", "{asked}");
    assert!(asked["data"]["wants"].as_str().is_some_and(|wants| wants.contains("call mcp:odd:add")), "{asked}");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    room.push(approval.decide(true));
    room.until(60.0, "complete", |_| true);
    let call = room.events("tool_call")[0].clone();
    assert_eq!(call["data"]["touches"][0]["kind"], "mcp.call", "{call}");
    assert!(results(&room)[0].to_string().contains("The sum is 5."), "{:?}", results(&room));
    drop(room);
    assert!(is_gone("gated"));
}

fn a_run_with_server_calls_replays_without_servers() {
    let workspace = TestWorkspace::new();
    let mut live = room(&workspace, "replayed", "gate:\n  mcp: { \"mcp:odd:*(read-only)\": allow }\n");
    live.until(60.0, "complete", |_| true);
    assert!(live.events("approval_requested").is_empty(), "a rule allows tools that are marked as read-only");
    let again = live.replayed();
    assert_eq!(results(&again), results(&live));
    drop(live);
    assert!(is_gone("replayed"));
}

fn a_workflow_with_server_calls_replays_without_servers() {
    const WORKFLOW: &str = "---\nsteps:\n  - { id: add, agent: lead, prompt: What is two and three?, outputs: [sum] }\n  \
        - { id: say, agent: lead, prompt: \"Say {add.sum}\", depends_on: [add] }\n---\n";
    const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    \
        - tools: [ { name: mcp__odd__add, arguments: { a: 2, b: 3 } } ]\n    \
        - text: \"It is five.\\n```outputs\\nsum: five\\n```\"\n    \
        - { when: { contains: Say five }, text: Five! }\n";
    let place = TestWorkspace::new();
    let mode = "replayed-in-a-workflow";
    let gate = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";
    let mut live = setup(&place, mode, gate, SCRIPT).file("workflows/sum.md", WORKFLOW).open();
    live.world().insert_resource(GatewayEnvironment(place.environment()));
    live.push(WorkflowCommand::Start { workflow: "sum".into(), variables: std::collections::BTreeMap::new() });
    let is_over = |event: &Value| event["data"]["step"].as_str().unwrap_or_default().is_empty();
    live.until(120.0, "workflow_step", |event| is_over(event) && event["data"]["to"] == "done");
    assert!(results(&live)[0].to_string().contains("The sum is 5."), "{:?}", results(&live));
    let again = live.replayed();
    assert_eq!(results(&again), results(&live));
    drop(live);
    assert!(is_gone(mode));
}

/// Creates a workspace on disk whose agent has the mock server in this mode, and allows the server. Returns the
/// temporary folders of the workspace and the configuration, and the workspace's path.
pub fn workspace_on_disk(mode: &str, gate: &str) -> (tempfile::TempDir, tempfile::TempDir, PathBuf) {
    let (parent, config) = (folder(), folder());
    let workspace = parent.path().join("w");
    std::fs::create_dir_all(workspace.join("artifacts")).expect("the folder can be created");
    succeed(&workspace, &["init", "--bare", "."]);
    let file = json!({ "mcpServers": { "odd": { "command": "python3", "args": [script(), mode] } } });
    let settings = std::fs::read_to_string(workspace.join("settings.yaml")).expect("the settings exist");
    for (path, text) in
        [("agents/lead.md", LEAD), (".mcp.json", &file.to_string()), ("settings.yaml", &format!("{settings}\n{gate}"))]
    {
        std::fs::create_dir_all(workspace.join(path).parent().expect("the path has a parent"))
            .expect("the folder can be created");
        std::fs::write(workspace.join(path), text).expect("the file can be written");
    }
    let allowed = run_in(&workspace, config.path(), &["mcp", "allow", "odd", "--yes"]);
    assert_eq!(allowed.0, Some(0), "{}", allowed.1);
    (parent, config, workspace)
}

/// Runs the program. Returns its exit code, and stdout followed by stderr.
pub fn run_in(place: &Path, config: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = crate::program::workshop(place, arguments);
    let output = command.env("WORKSHOP_CONFIG_DIR", config).output().expect("the process starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

fn data_and_images_of_results_are_in_the_session_file() {
    let (_folder, config, workspace) = workspace_on_disk("kept", "gate:\n  mcp: { \"mcp:odd:*\": allow }\n");
    let script = crate::workshop::script_file(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ { name: mcp__odd__add, arguments: { a: 2, b: 3 } }, { name: mcp__odd__picture, arguments: {} }, { name: mcp__odd__refuse, arguments: {} } ]\n    - text: It is five.\n",
    );
    let provider = format!("scripted:{}", script.display());
    let (code, output) = run_in(
        &workspace,
        config.path(),
        &["run", "--agent", "lead", "--task", "What is it?", "--provider", &provider, "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{output}");
    let file = std::fs::read_dir(workspace.join("sessions"))
        .expect("the sessions folder exists")
        .flatten()
        .next()
        .expect("at least one exists");
    let text = std::fs::read_to_string(file.path()).expect("the resource is readable");
    let session: Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let results =
        session["messages"].as_array().expect("it is a list").iter().filter(|message| message["role"] == "tool");
    let results: Vec<&Value> = results.collect();
    assert_eq!(results[0]["metadata"]["data"], json!({ "sum": 5 }), "{text}");
    assert_eq!(
        results[1]["metadata"]["images"],
        json!([{ "media_type": "image/png", "base64": "iVBORw0KGgo=" }]),
        "{text}"
    );
    // Results that the server marks as errors keep their data, too.
    assert!(results[2]["content"].to_string().contains("Error: no"), "{text}");
    assert_eq!(results[2]["metadata"]["data"], json!({ "code": 7 }), "{text}");
    assert_eq!(results[2]["metadata"]["images"], results[1]["metadata"]["images"], "{text}");
    assert!(is_gone("kept"));
}

/// Runs a room until the mock server's `ask` tool asks a person. Returns the room and the pending approval.
fn asking_room(workspace: &TestWorkspace) -> (Workshop, Approval) {
    let gate = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";
    let mut room = room_with(workspace, "asks", gate, &script_of_a_call("ask", "{}"));
    let asked = room.until(60.0, "approval_requested", |_| true);
    assert!(asked["data"]["wants"].as_str().is_some_and(|wants| wants.contains("Which branch?")), "{asked}");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    let names: Vec<&str> = approval.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["branch", "depth"]);
    (room, approval)
}

fn a_person_answers_a_question_that_a_server_asks_during_a_call() {
    let workspace = TestWorkspace::new();
    let (mut live, approval) = asking_room(&workspace);
    let form = |branch: &str| json!({ "branch": branch }).as_object().cloned().unwrap_or_default();
    assert!(approval.form_error(&form("")).is_some() && approval.form_error(&form("main")).is_none());
    live.push(approval.fill(form(""), None));
    live.until(10.0, "warning", |event| event["data"]["what"].to_string().contains("does not match"));
    live.push(approval.fill(form("main"), None));
    live.until(60.0, "complete", |_| true);
    assert!(
        results(&live)[0].to_string().contains(r#"accept {\"branch\": \"main\", \"depth\": 3}"#),
        "{:?}",
        results(&live)
    );
    let ticks = live.now();
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    while again.now() < ticks {
        again.tick();
    }
    again.assert_same_world(&mut live);
    assert_eq!(results(&again), results(&live));
    drop(live);
    assert!(is_gone("asks"));
}

fn a_person_may_decline_a_servers_question_and_the_call_continues() {
    let workspace = TestWorkspace::new();
    let (mut room, approval) = asking_room(&workspace);
    room.push(approval.decide(false));
    room.until(60.0, "complete", |_| true);
    assert!(results(&room)[0].to_string().contains("decline null"), "{:?}", results(&room));
}

fn a_servers_question_is_declined_where_nobody_can_answer() {
    let workspace = TestWorkspace::new();
    let (mut client, _) = workspace.allowed("asks").expect("the server should answer");
    let mut messages = Vec::new();
    let answer =
        client.call(tool("ask", json!({})), |step| messages.push(step.to_owned())).expect("the call continues");
    assert_eq!((answer.text.as_str(), messages.len()), ("decline null", 1), "{messages:?}");
    assert!(messages[0].contains("declined: Which branch?"), "{messages:?}");
}

fn a_server_that_asks_for_a_model_is_refused_where_no_person_allowed_it() {
    let workspace = TestWorkspace::new();
    let (mut client, _) = workspace.allowed("asks").expect("the server should answer");
    let mut messages = Vec::new();
    let answer = client.call(tool("sample", json!({ "times": 3 })), |step| messages.push(step.to_owned()));
    let answer = answer.expect("the call continues");
    // JSON-RPC's code for an unknown method.
    assert_eq!(answer.text.matches("refused -32601: servers may ask models only where a person allows it").count(), 3);
    assert_eq!(messages.len(), 1, "a person gets one message: {messages:?}");
    let capabilities = client.call(tool("can", json!({})), |_| {}).expect("the server answers");
    assert_eq!(capabilities.text, "elicitation", "the client did not offer sampling");
}

/// Creates a folder in which no sandboxed process may write. It is outside the system's temporary folder, which is
/// writable.
fn folder_outside() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the folder can be created")
}

fn a_confined_server_writes_only_in_the_workspace_and_has_network_only_if_allowed() {
    let name = "servers::a_confined_server_writes_only_in_the_workspace_and_has_network_only_if_allowed";
    in_each(name, a_confined_server_in);
}

fn a_confined_server_in(level: Level) {
    if level == Level::None {
        return;
    }
    let (place, folder_outside) = (TestWorkspace::new(), folder_outside());
    std::fs::create_dir(place.folder.path().join("agents")).expect("the folder can be created");
    // The server could not create it; it is made before the server starts.
    std::fs::remove_dir(place.folder.path().join("artifacts")).expect("it is empty");
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener.local_addr().expect("the listener is bound").port();
    let server = |network: bool| {
        let command = json!({ "odd": { "command": "python3", "args": [script(), "confined"], "network": network } });
        let server = mcp_server::read(&command).defined().next().expect("a server is defined");
        place.allow(&server);
        place.connect(server).expect("the server should answer").0
    };
    let text_of = |client: &mut McpClient, name: &str, arguments: Value| {
        client.call(tool(name, arguments), |_| {}).expect("the server answers").text
    };
    let mut client = server(false);
    let inside = place.folder.path().join("artifacts/inside.txt");
    assert_eq!(text_of(&mut client, "write", json!({ "path": inside })), "written");
    assert!(inside.is_file());
    let permissions = (level == Level::Bubblewrap).then(|| place.config.path().join("allowed-servers.yaml"));
    // Protected files, and new files at the top level, cannot be written by any server.
    let guarded = ["agents/forged.md", "settings.yaml", "new.txt"].map(|path| place.folder.path().join(path));
    for outside in std::iter::once(folder_outside.path().join("outside.txt")).chain(permissions).chain(guarded) {
        let before = std::fs::read_to_string(&outside).ok();
        text_of(&mut client, "write", json!({ "path": outside }));
        assert_eq!(std::fs::read_to_string(&outside).ok(), before, "{:?}: {}", level, outside.display());
    }
    let refused = text_of(&mut client, "reach", json!({ "port": port }));
    assert!(refused.starts_with("refused: "), "{:?}: {refused}", level);
    drop(client);
    let mut client = server(true);
    assert_eq!(text_of(&mut client, "reach", json!({ "port": port })), "reached", "{:?}", level);
    drop(client);
    assert!(is_gone("confined"));
}

fn the_watcher_can_confine_a_program_by_itself() {
    let (place, folder_outside) = (TestWorkspace::new(), folder_outside());
    let writes = |file: &Path| {
        let mut watcher = Command::new(env!("CARGO_BIN_EXE_workshop"));
        watcher.arg(SUPERVISOR_ARGUMENT).arg("--within").arg(place.folder.path()).args(["--", "touch"]).arg(file);
        let output = watcher.stdin(Stdio::null()).output().expect("the process starts");
        (output.status.code(), file.is_file())
    };
    let inside = writes(&place.folder.path().join("artifacts/inside.txt"));
    if inside.0 == Some(127) {
        eprintln!("not tested here: this system has no Landlock");
        return;
    }
    assert_eq!(inside, (Some(0), true));
    assert_eq!(writes(&folder_outside.path().join("outside.txt")), (Some(1), false));
}

fn the_command_line_lists_allows_checks_and_calls() {
    let (parent, config) = (folder(), folder());
    let workspace = parent.path().join("w");
    std::fs::create_dir(&workspace).expect("the folder can be created");
    succeed(&workspace, &["init", "--bare", "."]);
    // The token causes a warning, which does not make the check fail.
    let env = json!({ "ODD_TOKEN": "sk-0123456789abcdef0123456789" });
    let file = json!({ "mcpServers": { "odd": { "command": "python3", "args": [script(), "typed"], "env": env } } });
    std::fs::write(workspace.join(".mcp.json"), file.to_string()).expect("the file can be written");
    let run = |arguments: &[&str]| {
        let mut command = crate::program::workshop(&workspace, arguments);
        let output = command.env("WORKSHOP_CONFIG_DIR", config.path()).output().expect("the process starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    let (code, listed) = run(&["mcp", "list"]);
    assert!(code == Some(0) && listed.contains("not allowed yet; .mcp.json"), "{listed}");
    let (code, checked) = run(&["mcp", "check"]);
    assert!(code == Some(4) && checked.contains("workshop mcp allow odd"), "{checked}");
    let (code, output) = run(&["mcp", "allow", "odd"]);
    assert!(code == Some(0) && output.contains("allowed in"), "{output}");
    let (code, checked) = run(&["mcp", "check", "--json"]);
    let checked: Value = serde_json::from_str(checked.trim()).unwrap_or_else(|error| panic!("{error}: {checked}"));
    assert!(code == Some(0) && checked["servers"][0]["works"] == true, "{checked}");
    assert_eq!(checked["problems"][0]["severity"], "warning", "{checked}");
    let (code, sum) = run(&["mcp", "call", "odd", "add", r#"{"a": 2, "b": 3}"#]);
    assert_eq!((code, sum.trim()), (Some(0), "The sum is 5."));
    let (code, output) = run(&["mcp", "call", "odd", "ad"]);
    assert!(code == Some(2) && output.contains("did you mean add?"), "{output}");
    let (code, output) = run(&["doctor"]);
    assert!(output.contains("MCP server odd") && output.contains("confinement"), "{code:?} {output}");
    assert_eq!(run(&["mcp", "forbid", "odd"]).0, Some(0));
    assert_eq!(run(&["mcp", "call", "odd", "add"]).0, Some(4));
    assert!(is_gone("typed"));
}

/// Measures the mock server over plain pipes: the time until it has listed its tools, and the average time of a call.
fn bare_latencies(calls: u32) -> (Duration, Duration) {
    let start = Instant::now();
    let mut child = Command::new("python3")
        .arg(script())
        .arg("bare")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the process starts");
    let mut stdin = child.stdin.take().expect("the stream is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("the stream is piped")).lines();
    let mut ask = |message: Value| {
        writeln!(stdin, "{message}").expect("the server reads");
        lines.next().expect("the server answers").expect("the line is UTF-8")
    };
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let startup = start.elapsed();
    let start = Instant::now();
    for id in 0..calls {
        let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
        ask(json!({ "jsonrpc": "2.0", "id": id + 3, "method": "tools/call", "params": params }));
    }
    let call = start.elapsed() / calls;
    let _ = child.kill();
    let _ = child.wait();
    (startup, call)
}

fn the_client_adds_little_latency() {
    const CALLS: u32 = 200;
    let workspace = TestWorkspace::new();
    workspace.allow(&mock_server("timed"));
    let (bare_startup, bare_call) = bare_latencies(CALLS);
    let start = Instant::now();
    let (mut client, _) = workspace.connect(mock_server("timed")).expect("the server should answer");
    let startup = start.elapsed();
    let start = Instant::now();
    for _ in 0..CALLS {
        client.call(tool("add", json!({ "a": 1, "b": 2 })), |_| {}).expect("the server should add");
    }
    let call = start.elapsed() / CALLS;
    eprintln!("server alone: startup {bare_startup:?}, call {bare_call:?}; through the client: {startup:?}, {call:?}");
    // Generous limits for a debug build that runs beside other tests; the real targets hold for a release build.
    assert!(startup < bare_startup * 4 + Duration::from_secs(2), "{startup:?} over {bare_startup:?}");
    assert!(call < bare_call * 10 + Duration::from_millis(30), "{call:?} over {bare_call:?}");
}
