//! MCP servers, well-behaved and not: what agents and persons get from them, what is asked before they run, and that
//! none of their processes remain.

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
use agent_workshop::gateway::sandbox::{Confinement, Level, WATCH_WORD, watch_with};
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
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        a_server_is_connected_listed_called_and_gone,
        nothing_runs_that_no_person_allowed_exactly_so,
        a_server_that_is_forbidden_while_it_runs_is_ended,
        a_server_that_works_is_tried_again_and_says_so,
        servers_that_misbehave_are_reported_in_time_and_leave_nothing,
        a_server_that_ends_at_once_is_reported_with_its_words_and_what_it_may_lack,
        a_server_says_how_far_it_is,
        what_stands_at_an_address_of_a_template_is_read_as_other_resources_are,
        a_server_that_sends_elsewhere_or_asks_for_credentials_is_reported,
        an_answer_over_http_without_end_is_cut,
        a_stream_of_events_that_misbehaves_is_reported,
        nothing_of_a_server_stays_however_often_it_is_killed,
        an_agent_has_the_tools_of_its_server_under_the_gate,
        a_run_with_calls_of_servers_replays_without_them,
        a_workflow_with_calls_of_servers_replays_without_them,
        a_person_answers_what_a_server_asks_in_the_middle_of_a_call,
        a_person_may_decline_what_a_server_asks_and_the_call_continues,
        where_nobody_can_answer_a_server_it_is_told_so,
        a_server_that_asks_for_the_use_of_a_model_is_told_that_there_is_none,
        what_a_server_gives_beside_words_stands_in_the_session_file,
        a_server_writes_only_in_the_workspace_and_reaches_the_network_only_where_it_may,
        what_watches_over_a_program_can_keep_it_in_by_itself,
        the_command_line_lists_allows_checks_and_calls,
        little_is_added_to_what_a_server_takes_itself,
    ];
    watch_with(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the cases of MCP servers", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// The script of the odd server; `None` where it cannot be started.
pub fn script() -> &'static Path {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        // Sandboxed servers have a temporary folder of their own.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = place.join(format!("odd_server-{}.py", std::process::id()));
        std::fs::write(&file, include_str!("odd_server.py")).expect("files can be written");
        file
    })
}

pub fn odd(mode: &str) -> McpServer {
    let command = json!({ "odd": { "command": "python3", "args": [script(), mode], "network": true } });
    mcp_server::read(&command).defined().next().expect("a server is defined")
}

pub fn terms() -> McpTerms {
    McpTerms { connect: Duration::from_secs(3), call: Duration::from_secs(6), ..McpSettings::default().terms() }
}

/// A workspace, and the person's configuration.
pub struct Place {
    pub folder: tempfile::TempDir,
    config: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let (workspace, config) = (folder(), folder());
        // A sandboxed server cannot create anything beside the folders of the workspace.
        std::fs::create_dir(workspace.path().join("artifacts")).expect("folders can be made");
        Self { folder: workspace, config }
    }

    pub fn environment(&self) -> Environment {
        Environment::new([], Some(self.config.path().to_owned())).in_workspace(self.folder.path())
    }

    pub fn allow(&self, server: &McpServer) {
        allow_peer(&self.environment(), self.folder.path(), server).expect("it can be kept");
    }

    pub fn connect(&self, server: McpServer) -> Result<(McpClient, McpOffer), McpFailure> {
        McpClient::connect(server, terms(), &self.environment())
    }

    pub fn allowed(&self, mode: &str) -> Result<(McpClient, McpOffer), McpFailure> {
        self.allow(&odd(mode));
        self.connect(odd(mode))
    }
}

pub fn tool(name: &str, arguments: Value) -> McpRequest {
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    McpRequest::Tool { name: name.to_owned(), arguments }
}

/// The ids of the processes with this word on their command line.
pub fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_it = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(word)
    };
    all.filter(has_it).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether no process of the odd server in this mode is left, after a short wait.
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

fn a_server_is_connected_listed_called_and_gone() {
    let place = Place::new();
    let (mut client, offer) = place.allowed("good").expect("it should work");
    assert_eq!(offer.server, "odd 1");
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["add", "log.all", "picture", "slow", "environment"]);
    assert!(offer.tools[0].hints.read_only && offer.tools[1].hints.destructive);
    let sum = client.call(tool("add", json!({ "a": 2, "b": 3 })), |_| {}).expect("the server should add");
    assert_eq!((sum.text.as_str(), sum.data), ("The sum is 5.", Some(json!({ "sum": 5 }))));
    let picture = client.call(tool("picture", json!({})), |_| {}).expect("it should have one");
    assert_eq!(picture.images, [("image/png".to_owned(), "iVBORw0KGgo=".to_owned())]);
    let noted = client.call(tool("log.all", json!({ "text": "hi" })), |_| {}).expect("it notes");
    assert_eq!(noted.text, "noted");
    let written = std::fs::read_to_string(place.folder.path().join("artifacts/noted.txt")).expect("it should exist");
    assert_eq!(written, "hi\n", "it runs in the workspace");
    let variables = client.call(tool("environment", json!({})), |_| {}).expect("it says").text;
    assert!(variables.contains("PATH") && !variables.contains("CARGO"), "{variables}");
    drop(client);
    assert!(is_gone("good"));
}

fn nothing_runs_that_no_person_allowed_exactly_so() {
    let place = Place::new();
    let refused = |outcome: Result<(McpClient, McpOffer), McpFailure>| {
        let failure = outcome.err().expect("it is not allowed");
        assert_eq!(failure.fault, McpFault::NotAllowed, "{failure:?}");
        failure
    };
    let failure = refused(place.connect(odd("trusted")));
    assert!(failure.remedy.contains("workshop mcp allow odd --workspace"), "{failure:?}");
    assert!(processes(&format!("{} trusted", script().display())).is_empty());
    place.allow(&odd("trusted"));
    drop(place.connect(odd("trusted")).expect("it is allowed"));
    let failure = refused(place.connect(odd("good")));
    assert!(failure.what.contains("changed since you allowed it"), "{failure:?}");
    let elsewhere = Place { folder: folder(), config: Place::new().config };
    refused(elsewhere.connect(odd("trusted")));
}

fn a_server_that_is_forbidden_while_it_runs_is_ended() {
    let place = Place::new();
    let (mut client, _) = place.allowed("forbidden").expect("it works");
    client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect("it adds");
    forbid_peer(&place.environment(), place.folder.path(), &odd("forbidden")).expect("it can be kept");
    assert!(is_gone("forbidden"));
    let failure = client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect_err("it is not allowed");
    assert!(matches!(failure.fault, McpFault::NotAllowed | McpFault::Gone), "{failure:?}");
}

fn a_server_that_works_is_tried_again_and_says_so() {
    let place = Place::new();
    let mut room = room(&place, "tried", "gate:\n  mcp: { \"mcp:odd:*\": allow }\n");
    room.until(60.0, "complete", |_| true);
    let key = room.world().resource::<McpServers>().configured()[0].key.clone();
    let stands = |room: &mut Workshop| room.world().resource::<McpServers>().status(&key).clone();
    for _ in 0..2 {
        room.push(McpTry { key: key.clone() });
        room.tick();
        assert_eq!(stands(&mut room), McpServerStatus::Connecting);
        let until = Instant::now() + Duration::from_secs(20);
        while !matches!(stands(&mut room), McpServerStatus::Ready(_)) {
            assert!(Instant::now() < until, "it never said so: {:?}", stands(&mut room));
            room.tick();
            std::thread::yield_now();
        }
    }
    drop(room);
    assert!(is_gone("tried"));
}

fn a_server_that_ends_at_once_is_reported_with_its_words_and_what_it_may_lack() {
    let place = Place::new();
    let command = json!({ "odd": { "command": "python3", "args": ["/nowhere/server.py"] } });
    let server = mcp_server::read(&command).defined().next().expect("a server is defined");
    place.allow(&server);
    let failure = place.connect(server).err().expect("there is no such server");
    assert!(failure.what.contains("/nowhere/server.py"), "{failure:?}");
    assert!(failure.remedy.contains("outside the workspace") && failure.remedy.contains("mcp.confined"), "{failure:?}");
}

fn servers_that_misbehave_are_reported_in_time_and_leave_nothing() {
    let place = Place::new();
    let begun = Instant::now();
    for (mode, fault) in
        [("silent", McpFault::Timeout), ("garbage", McpFault::Timeout), ("wrong-id", McpFault::Protocol)]
    {
        let failure = place.allowed(mode).err().expect("it does not work");
        assert_eq!(failure.fault, fault, "{mode}: {failure:?}");
        assert!(is_gone(mode), "{mode} stays");
    }
    for (mode, fault) in [("huge", McpFault::Protocol), ("dies", McpFault::Gone), ("mute", McpFault::Timeout)] {
        let (mut client, _) = place.allowed(mode).expect("the server should answer");
        let failure = client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).expect_err("it does not answer");
        assert_eq!(failure.fault, fault, "{mode}: {failure:?}");
        drop(client);
        assert!(is_gone(mode), "{mode} stays");
    }
    let (mut client, _) = place.allowed("flood").expect("it greets while it floods");
    assert!(client.call(tool("add", json!({ "a": 1, "b": 1 })), |_| {}).is_ok());
    drop(client);
    let (client, offer) = place.allowed("many").expect("it has many");
    assert_eq!((offer.tools.len(), offer.left_out.len()), (100, 1));
    drop(client);
    let (client, offer) = place.allowed("sly").expect("the server should answer");
    assert_eq!((offer.tools.len(), offer.left_out.len()), (1, 2), "{:?}", offer.left_out);
    assert!(!offer.tools[0].description.contains('\u{1b}'));
    drop(client);
    let (client, _) = place.allowed("stays").expect("the server should answer");
    drop(client);
    for mode in ["flood", "many", "sly", "stays"] {
        assert!(is_gone(mode), "{mode} stays");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

fn a_server_says_how_far_it_is() {
    let place = Place::new();
    let (mut client, _) = place.allowed("progress").expect("the server should answer");
    let mut steps = Vec::new();
    let answer = client.call(tool("slow", json!({})), |step| steps.push(step.to_owned())).expect("it is done");
    assert_eq!(answer.text, "done at last");
    assert_eq!(steps, ["25 %", "50 %", "75 %"]);
}

fn what_stands_at_an_address_of_a_template_is_read_as_other_resources_are() {
    let place = Place::new();
    let (mut client, offer) = place.allowed("resources").expect("the server should answer");
    let listed: Vec<(&str, &str)> =
        offer.templates.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
    assert_eq!(listed, [("note:///{day}", "What was noted on a day."), ("note:///words/{word}{?lang}", "word")]);
    assert_eq!(server_status_text::offer(&offer), "odd 1, 5 tools, 2 resource templates");
    let read = |client: &mut McpClient, uri: &str| client.call(McpRequest::Resource { uri: uri.into() }, |_| {});
    let answer = read(&mut client, "note:///monday").expect("it can be read");
    assert_eq!(answer.text, "what stands at note:///monday");
    // The server defines which addresses exist.
    let failure = read(&mut client, "other:///monday").expect_err("there is none");
    assert_eq!((failure.fault, failure.what.as_str()), (McpFault::Refused, "there is no other:///monday"));
    drop(client);
    let (client, offer) = place.allowed("resources-without-templates").expect("it greets all the same");
    assert!(offer.templates.is_empty() && offer.tools.len() == 5, "{offer:?}");
    drop(client);
    // An agent reads it under the rule for all resources.
    let script = script_of_a_call("read_resource", "{ uri: \"note:///monday\" }");
    let gate = "gate:\n  mcp: { \"mcp:odd:read_resource\": allow }\n";
    let mut room = room_with(&place, "resources", gate, &script);
    room.until(60.0, "complete", |_| true);
    assert!(results(&room)[0].to_string().contains("what stands at note:///monday"), "{:?}", results(&room));
}

/// Answers every HTTP request with this, on a thread that ends with the process.
fn http(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

fn a_server_that_sends_elsewhere_or_asks_for_credentials_is_reported() {
    let place = Place::new();
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
        let server =
            mcp_server::read(&json!({ "far": { "url": http(answer) } })).defined().next().expect("it should be valid");
        place.allow(&server);
        let failure = place.connect(server).err().expect("it does not work");
        assert_eq!(failure.fault, fault, "{failure:?}");
    }
}

/// Answers every HTTP request with this head and then with endless words, and counts them.
fn endless(head: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(head.as_bytes());
            let words = [b'x'; 64 * 1024];
            // A hundred MiB, unless the reader goes away before.
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

fn an_answer_over_http_without_end_is_cut() {
    let place = Place::new();
    let json_head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"x\":\"";
    let events_head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ";
    for (kind, head) in [("http", json_head), ("http", events_head), ("sse", events_head)] {
        let (url, sent) = endless(head);
        let defined = json!({ "far": { "type": kind, "url": url } });
        let server = mcp_server::read(&defined).defined().next().expect("it should be valid");
        place.allow(&server);
        let failure = place.connect(server).err().expect("it does not work");
        assert!(matches!(failure.fault, McpFault::Protocol | McpFault::Timeout), "{kind}: {failure:?}");
        // The contents of two sockets' buffers are sent as well.
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent < 40 * 1024 * 1024, "{kind}: {sent} bytes were taken: {failure:?}");
    }
}

fn a_stream_of_events_that_misbehaves_is_reported() {
    let place = Place::new();
    let fails = |answer: &'static str| {
        let defined = json!({ "far": { "type": "sse", "url": http(answer) } });
        let server = mcp_server::read(&defined).defined().next().expect("it should be valid");
        place.allow(&server);
        place.connect(server).err().expect("it does not work")
    };
    let elsewhere = fails(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: endpoint\r\ndata: http://127.0.0.1:9/steal\r\n\r\n",
    );
    assert!(elsewhere.what.contains("another server"), "{elsewhere:?}");
    let nowhere =
        fails("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: hello\r\n\r\n");
    assert!(nowhere.what.contains("where to send messages"), "{nowhere:?}");
    let page = fails("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
    assert!(page.what.contains("event stream"), "{page:?}");
    let refused = fails("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    assert_eq!(refused.fault, McpFault::Credentials, "{refused:?}");
}

fn nothing_of_a_server_stays_however_often_it_is_killed() {
    let place = Place::new();
    place.allow(&odd("killed"));
    let times = std::env::var("WORKSHOP_KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(6);
    let word = format!("{} killed", script().display());
    for time in 0..times {
        let (client, _) = place.connect(odd("killed")).expect("the server should answer");
        if time % 2 == 0 {
            // It is killed from outside first.
            let _ = Command::new("kill").arg("-KILL").args(processes(&word)).status();
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

/// A room whose agent has the odd server, which is allowed.
pub fn room(place: &Place, mode: &str, gate: &str) -> Workshop {
    room_with(place, mode, gate, &script_of_two_calls())
}

/// The files of such a room.
fn setup(place: &Place, mode: &str, gate: &str, script_of_model: &str) -> Setup {
    place.allow(&odd(mode));
    files(mode, "", gate, script_of_model)
}

/// The files of a room whose agent has the odd server, with these additional settings of it.
pub fn files(mode: &str, more: &str, gate: &str, script_of_model: &str) -> Setup {
    let settings = format!(
        "mcp_servers:\n  odd: {{ command: python3, args: [{:?}, {mode}], network: true{more} }}\n{gate}",
        script().display().to_string()
    );
    Setup::scene(SCENE).profile("lead", LEAD).file("settings.yaml", &settings).script(script_of_model)
}

pub fn room_with(place: &Place, mode: &str, gate: &str, script_of_model: &str) -> Workshop {
    let mut room = setup(place, mode, gate, script_of_model).open();
    room.world().insert_resource(GatewayEnvironment(place.environment()));
    room.push(TaskCommand { agent: "lead".into(), text: "What is two and three?".into() });
    room
}

pub fn results(room: &Workshop) -> Vec<&Value> {
    room.events("tool_result").into_iter().map(|event| &event["data"]).collect()
}

fn an_agent_has_the_tools_of_its_server_under_the_gate() {
    let place = Place::new();
    let mut room = room(&place, "gated", "");
    let asked = room.until(60.0, "approval_requested", |_| true);
    assert_eq!(asked["data"]["tool"], "mcp__odd__add", "{asked}");
    assert!(asked["data"]["wants"].as_str().is_some_and(|wants| wants.contains("call mcp:odd:add")), "{asked}");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("it should ask");
    room.push(approval.decide(true));
    room.until(60.0, "complete", |_| true);
    let call = room.events("tool_call")[0].clone();
    assert_eq!(call["data"]["touches"][0]["kind"], "mcp.call", "{call}");
    assert!(results(&room)[0].to_string().contains("The sum is 5."), "{:?}", results(&room));
    drop(room);
    assert!(is_gone("gated"));
}

fn a_run_with_calls_of_servers_replays_without_them() {
    let place = Place::new();
    let mut live = room(&place, "replayed", "gate:\n  mcp: { \"mcp:odd:*(read-only)\": allow }\n");
    live.until(60.0, "complete", |_| true);
    assert!(live.events("approval_requested").is_empty(), "a rule allows what says that it only reads");
    let again = live.replayed();
    assert_eq!(results(&again), results(&live));
    drop(live);
    assert!(is_gone("replayed"));
}

fn a_workflow_with_calls_of_servers_replays_without_them() {
    const WORKFLOW: &str = "---\nsteps:\n  - { id: add, agent: lead, prompt: What is two and three?, outputs: [sum] }\n  \
        - { id: say, agent: lead, prompt: \"Say {add.sum}\", depends_on: [add] }\n---\n";
    const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    \
        - tools: [ { name: mcp__odd__add, arguments: { a: 2, b: 3 } } ]\n    \
        - text: \"It is five.\\n```outputs\\nsum: five\\n```\"\n    \
        - { when: { contains: Say five }, text: Five! }\n";
    let place = Place::new();
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

/// A workspace on disk whose agent has the odd server in this mode, allowed for a person with this config folder.
pub fn workspace_on_disk(mode: &str, gate: &str) -> (tempfile::TempDir, tempfile::TempDir, PathBuf) {
    let (workspace, config) = (folder(), folder());
    let place = workspace.path().join("w");
    std::fs::create_dir_all(place.join("artifacts")).expect("folders can be made");
    succeed(&place, &["init", "--bare", "."]);
    let file = json!({ "mcpServers": { "odd": { "command": "python3", "args": [script(), mode] } } });
    let settings = std::fs::read_to_string(place.join("settings.yaml")).expect("it should exist");
    for (path, text) in
        [("agents/lead.md", LEAD), (".mcp.json", &file.to_string()), ("settings.yaml", &format!("{settings}\n{gate}"))]
    {
        std::fs::create_dir_all(place.join(path).parent().expect("it has a folder")).expect("folders can be made");
        std::fs::write(place.join(path), text).expect("files can be written");
    }
    let allowed = run_in(&place, config.path(), &["mcp", "allow", "odd", "--yes"]);
    assert_eq!(allowed.0, Some(0), "{}", allowed.1);
    (workspace, config, place)
}

/// Runs the program. Returns its exit code and its whole output.
pub fn run_in(place: &Path, config: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = crate::program::workshop(place, arguments);
    let output = command.env("WORKSHOP_CONFIG_DIR", config).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

fn what_a_server_gives_beside_words_stands_in_the_session_file() {
    let (_workspace, config, place) = workspace_on_disk("kept", "gate:\n  mcp: { \"mcp:odd:*\": allow }\n");
    let script = crate::workshop::script_file(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ { name: mcp__odd__add, arguments: { a: 2, b: 3 } }, { name: mcp__odd__picture, arguments: {} }, { name: mcp__odd__refuse, arguments: {} } ]\n    - text: It is five.\n",
    );
    let provider = format!("scripted:{}", script.display());
    let (code, told) = run_in(
        &place,
        config.path(),
        &["run", "--agent", "lead", "--task", "What is it?", "--provider", &provider, "--until", "idle"],
    );
    assert_eq!(code, Some(0), "{told}");
    let file = std::fs::read_dir(place.join("sessions"))
        .expect("there are some")
        .flatten()
        .next()
        .expect("there should be one");
    let text = std::fs::read_to_string(file.path()).expect("it can be read");
    let session: Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let results = session["messages"].as_array().expect("a list").iter().filter(|message| message["role"] == "tool");
    let results: Vec<&Value> = results.collect();
    assert_eq!(results[0]["metadata"]["data"], json!({ "sum": 5 }), "{text}");
    assert_eq!(
        results[1]["metadata"]["images"],
        json!([{ "media_type": "image/png", "base64": "iVBORw0KGgo=" }]),
        "{text}"
    );
    // Also of a call that did not work, as the server itself says.
    assert!(results[2]["content"].to_string().contains("Error: no"), "{text}");
    assert_eq!(results[2]["metadata"]["data"], json!({ "code": 7 }), "{text}");
    assert_eq!(results[2]["metadata"]["images"], results[1]["metadata"]["images"], "{text}");
    assert!(is_gone("kept"));
}

/// A room whose agent calls the odd server's tool that asks a person, at the moment of the question.
fn asking_room(place: &Place) -> (Workshop, Approval) {
    let gate = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";
    let mut room = room_with(place, "asks", gate, &script_of_a_call("ask", "{}"));
    let asked = room.until(60.0, "approval_requested", |_| true);
    assert!(asked["data"]["wants"].as_str().is_some_and(|wants| wants.contains("Which branch?")), "{asked}");
    let approval = room.world().resource::<Kernel>().approvals().next().expect("it should ask");
    let names: Vec<&str> = approval.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["branch", "depth"]);
    (room, approval)
}

fn a_person_answers_what_a_server_asks_in_the_middle_of_a_call() {
    let place = Place::new();
    let (mut live, approval) = asking_room(&place);
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

fn a_person_may_decline_what_a_server_asks_and_the_call_continues() {
    let place = Place::new();
    let (mut room, approval) = asking_room(&place);
    room.push(approval.decide(false));
    room.until(60.0, "complete", |_| true);
    assert!(results(&room)[0].to_string().contains("decline null"), "{:?}", results(&room));
}

fn where_nobody_can_answer_a_server_it_is_told_so() {
    let place = Place::new();
    let (mut client, _) = place.allowed("asks").expect("the server should answer");
    let mut told = Vec::new();
    let answer = client.call(tool("ask", json!({})), |step| told.push(step.to_owned())).expect("it should continue");
    assert_eq!((answer.text.as_str(), told.len()), ("decline null", 1), "{told:?}");
    assert!(told[0].contains("declined: Which branch?"), "{told:?}");
}

fn a_server_that_asks_for_the_use_of_a_model_is_told_that_there_is_none() {
    let place = Place::new();
    let (mut client, _) = place.allowed("asks").expect("the server should answer");
    let mut told = Vec::new();
    let answer = client.call(tool("sample", json!({ "times": 3 })), |step| told.push(step.to_owned()));
    let answer = answer.expect("it should continue");
    // JSON-RPC's code for an unknown method.
    assert_eq!(answer.text.matches("refused -32601: servers may ask models only where a person allows it").count(), 3);
    assert_eq!(told.len(), 1, "a person is told once: {told:?}");
    let can = client.call(tool("can", json!({})), |_| {}).expect("it says so");
    assert_eq!(can.text, "elicitation", "it was not told that it could");
}

/// A folder in which no sandboxed process may write: the system's temporary folder is open to everybody.
fn elsewhere() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made")
}

fn a_server_writes_only_in_the_workspace_and_reaches_the_network_only_where_it_may() {
    let found = Confinement::of_this_computer();
    if found.level() == Level::None {
        eprintln!("not proved here: {}", found.summary());
        return;
    }
    let (place, elsewhere) = (Place::new(), elsewhere());
    std::fs::create_dir(place.folder.path().join("agents")).expect("folders can be made");
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let server = |network: bool| {
        let command = json!({ "odd": { "command": "python3", "args": [script(), "confined"], "network": network } });
        let server = mcp_server::read(&command).defined().next().expect("a server is defined");
        place.allow(&server);
        place.connect(server).expect("the server should answer").0
    };
    let says = |client: &mut McpClient, name: &str, arguments: Value| {
        client.call(tool(name, arguments), |_| {}).expect("it answers").text
    };
    let mut client = server(false);
    let inside = place.folder.path().join("artifacts/inside.txt");
    assert_eq!(says(&mut client, "write", json!({ "path": inside })), "written");
    assert!(inside.is_file());
    let kept = (found.level() == Level::Bubblewrap).then(|| place.config.path().join("allowed-servers.yaml"));
    // Protected files, and new files at the top level, cannot be written by any server.
    let guarded = ["agents/forged.md", "settings.yaml", "new.txt"].map(|path| place.folder.path().join(path));
    for outside in std::iter::once(elsewhere.path().join("outside.txt")).chain(kept).chain(guarded) {
        let before = std::fs::read_to_string(&outside).ok();
        says(&mut client, "write", json!({ "path": outside }));
        assert_eq!(std::fs::read_to_string(&outside).ok(), before, "{:?}: {}", found.level(), outside.display());
    }
    let refused = says(&mut client, "reach", json!({ "port": port }));
    assert!(refused.starts_with("refused: "), "{:?}: {refused}", found.level());
    drop(client);
    let mut client = server(true);
    assert_eq!(says(&mut client, "reach", json!({ "port": port })), "reached", "{:?}", found.level());
    drop(client);
    assert!(is_gone("confined"));
}

fn what_watches_over_a_program_can_keep_it_in_by_itself() {
    let (place, elsewhere) = (Place::new(), elsewhere());
    let writes = |file: &Path| {
        let mut watcher = Command::new(env!("CARGO_BIN_EXE_workshop"));
        watcher.arg(WATCH_WORD).arg("--within").arg(place.folder.path()).args(["--", "touch"]).arg(file);
        let output = watcher.stdin(Stdio::null()).output().expect("it starts");
        (output.status.code(), file.is_file())
    };
    let inside = writes(&place.folder.path().join("artifacts/inside.txt"));
    if inside.0 == Some(127) {
        eprintln!("not proved here: this system has no Landlock");
        return;
    }
    assert_eq!(inside, (Some(0), true));
    assert_eq!(writes(&elsewhere.path().join("outside.txt")), (Some(1), false));
}

fn the_command_line_lists_allows_checks_and_calls() {
    let (workspace, config) = (folder(), folder());
    let place = workspace.path().join("w");
    std::fs::create_dir(&place).expect("folders can be made");
    succeed(&place, &["init", "--bare", "."]);
    // The token causes a warning, with which no check fails.
    let env = json!({ "ODD_TOKEN": "sk-0123456789abcdef0123456789" });
    let file = json!({ "mcpServers": { "odd": { "command": "python3", "args": [script(), "typed"], "env": env } } });
    std::fs::write(place.join(".mcp.json"), file.to_string()).expect("files can be written");
    let run = |arguments: &[&str]| {
        let mut command = crate::program::workshop(&place, arguments);
        let output = command.env("WORKSHOP_CONFIG_DIR", config.path()).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    let (code, listed) = run(&["mcp", "list"]);
    assert!(code == Some(0) && listed.contains("not allowed yet; .mcp.json"), "{listed}");
    let (code, checked) = run(&["mcp", "check"]);
    assert!(code == Some(4) && checked.contains("workshop mcp allow odd"), "{checked}");
    let (code, told) = run(&["mcp", "allow", "odd"]);
    assert!(code == Some(0) && told.contains("allowed in"), "{told}");
    let (code, checked) = run(&["mcp", "check", "--json"]);
    let checked: Value = serde_json::from_str(checked.trim()).unwrap_or_else(|error| panic!("{error}: {checked}"));
    assert!(code == Some(0) && checked["servers"][0]["works"] == true, "{checked}");
    assert_eq!(checked["problems"][0]["severity"], "warning", "{checked}");
    let (code, sum) = run(&["mcp", "call", "odd", "add", r#"{"a": 2, "b": 3}"#]);
    assert_eq!((code, sum.trim()), (Some(0), "The sum is 5."));
    let (code, told) = run(&["mcp", "call", "odd", "ad"]);
    assert!(code == Some(2) && told.contains("did you mean add?"), "{told}");
    let (code, told) = run(&["doctor"]);
    assert!(told.contains("MCP server odd") && told.contains("confinement"), "{code:?} {told}");
    assert_eq!(run(&["mcp", "forbid", "odd"]).0, Some(0));
    assert_eq!(run(&["mcp", "call", "odd", "add"]).0, Some(4));
    assert!(is_gone("typed"));
}

/// The server's own time over plain pipes: until its list of tools is there, and for each of some calls.
fn bare(calls: u32) -> (Duration, Duration) {
    let begun = Instant::now();
    let mut child = Command::new("python3")
        .arg(script())
        .arg("bare")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut ask = |message: Value| {
        writeln!(stdin, "{message}").expect("it listens");
        lines.next().expect("it answers").expect("it should be UTF-8 text")
    };
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let there = begun.elapsed();
    let begun = Instant::now();
    for id in 0..calls {
        let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
        ask(json!({ "jsonrpc": "2.0", "id": id + 3, "method": "tools/call", "params": params }));
    }
    let each = begun.elapsed() / calls;
    let _ = child.kill();
    let _ = child.wait();
    (there, each)
}

fn little_is_added_to_what_a_server_takes_itself() {
    const CALLS: u32 = 200;
    let place = Place::new();
    place.allow(&odd("timed"));
    let (own_there, own_each) = bare(CALLS);
    let begun = Instant::now();
    let (mut client, _) = place.connect(odd("timed")).expect("the server should answer");
    let there = begun.elapsed();
    let begun = Instant::now();
    for _ in 0..CALLS {
        client.call(tool("add", json!({ "a": 1, "b": 2 })), |_| {}).expect("the server should add");
    }
    let each = begun.elapsed() / CALLS;
    eprintln!("server: there after {own_there:?}, each call {own_each:?}; ours: {there:?}, {each:?}");
    // As built for tests and beside other tests; the targets hold for a release build.
    assert!(there < own_there * 4 + Duration::from_secs(2), "{there:?} over {own_there:?}");
    assert!(each < own_each * 10 + Duration::from_millis(30), "{each:?} over {own_each:?}");
}
