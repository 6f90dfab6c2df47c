//! What it costs that a coding agent is used through the workshop: over a client of its protocol that does nothing else, in
//! turn in the same run; twenty of them at once, and what of the memory is ours.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_workshop::base::Seq;
use agent_workshop::gateway::acp::agent_of;
use agent_workshop::gateway::confine::watch_with;
use agent_workshop::gateway::mcp::allow_server;
use agent_workshop::gateway::{Environment, LiveText, RequestQueue, Surroundings, wait_for_reply};
use agent_workshop::log::EventLog;
use agent_workshop::log::events::Complete;
use agent_workshop::schedule::{self, Door};
use agent_workshop::simulation::TaskCommand;
use agent_workshop::workspace::RoomStart;
use bevy::app::App;
use serde_json::{Value, json};

use super::measure::{Figure, Times, digits};

const PROMPTS: usize = 30;
const AGENTS: usize = 20;
const CHUNKS: usize = 300;
const WRITES: usize = 50;
/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent that says so many chunks, and writes so many files through whoever hosts it and by itself.
const AGENT: &str = r#"
import json, os, re, sys, time
sessions = {}
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def say(session, words):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    send({"method": "session/update", "params": {"sessionId": session, "update": update}})
def write(session, path, text):
    send({"id": "w", "method": "fs/write_text_file", "params": {"sessionId": session, "path": path, "content": text}})
    assert "result" in json.loads(sys.stdin.readline())
def by_itself(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)
def median(act, count):
    took = []
    for number in range(count):
        begun = time.perf_counter()
        act(number)
        took.append((time.perf_counter() - begun) * 1000)
    return sorted(took)[count // 2]
while line := sys.stdin.readline():
    asked = json.loads(line)
    number, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    if number is None:
        continue
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        sessions["s" + str(len(sessions))] = params["cwd"]
        send({"id": number, "result": {"sessionId": "s" + str(len(sessions) - 1)}})
    elif method == "session/prompt":
        session = params["sessionId"]
        text = "\n".join(block.get("text", "") for block in params["prompt"])
        chunks, writes = re.search(r"do:(\d+) (\d+)", text).groups()
        for at in range(int(chunks)):
            say(session, f"{at} ")
        if int(writes):
            place = os.path.join(sessions[session], "artifacts")
            own = median(lambda at: by_itself(f"{place}/own.md", str(at)), int(writes))
            ours = median(lambda at: write(session, f"{place}/ours.md", str(at)), int(writes))
            say(session, f"own={own} ours={ours}")
        time.sleep(0.2)
        send({"id": number, "result": {"stopReason": "end_turn"}})
    else:
        send({"id": number, "result": {}})
"#;

/// The agent, and a client that does nothing but ask it.
struct Bare {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    number: u64,
}

impl Bare {
    fn start(script: &Path, folder: &Path) -> Self {
        let mut command = Command::new("python3");
        command.arg(script).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3 starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut bare = Self { child, lines, number: 0 };
        bare.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        bare
    }

    fn send(&mut self, method: &str, params: Value) {
        self.number += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": params });
        writeln!(self.child.stdin.as_mut().expect("it is piped"), "{message}").expect("it listens");
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it answers").expect("in text");
        serde_json::from_str(&line).expect("in JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        loop {
            let message = self.next();
            if message["id"] == self.number {
                return message;
            }
        }
    }

    /// How long it takes until the first chunk of the answer to a prompt in a new session is there.
    fn first_chunk(&mut self, folder: &Path) -> Duration {
        let begun = Instant::now();
        let opened = self.ask("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        let session = &opened["result"]["sessionId"];
        let prompt = json!([{ "type": "text", "text": "do:1 0" }]);
        self.send("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
        while self.next()["method"] != "session/update" {}
        let took = begun.elapsed();
        while self.next()["id"] != self.number {}
        took
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A room whose agents are all that one, each in a process of its own.
struct Hosted {
    app: App,
    said: Vec<String>,
    _config: tempfile::TempDir,
}

impl Hosted {
    fn open(agents: usize, line: &str, workspace: &Path) -> Self {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let environment = Environment::new([], Some(config.path().to_owned())).in_workspace(workspace);
        let agent = agent_of(line, &BTreeMap::new()).expect("it is a command line");
        allow_server(&environment, workspace, &agent).expect("it can be kept");
        let mut scene = String::from("name: Hosted\nseed: 7\nelements: []\nagents:\n");
        for at in 0..agents {
            let _ = writeln!(scene, "  - {{ id: a{at}, profile: lead, position: [{}, 0] }}", at * 120);
        }
        let lead = format!("---\nid: lead\nmodel: {:?}\ntools: [vfs_write]\n---\nYou lead.\n", format!("acp:{line}"));
        let settings = format!(
            "gateway: {{ max_concurrent: {AGENTS} }}\nkernel: {{ concurrency: {AGENTS}, turns_at_most: 1000 }}\n"
        );
        let files = [("settings.yaml", settings), ("agents/lead.md", lead), ("scenes/hosted.yaml", scene)];
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
        let start = RoomStart { scene: "scenes/hosted.yaml".into(), files, seed: None, provider: None, carried: None };
        let mut app = agent_workshop::app::begin(start, "r-figures".into(), Seq(1)).expect("a fresh room begins");
        app.insert_resource(Surroundings(environment));
        Self { app, said: Vec::new(), _config: config }
    }

    fn task(&mut self, agent: usize, text: &str) {
        let task = TaskCommand { agent: format!("a{agent}").into(), text: text.into() };
        self.app.world_mut().resource_mut::<Door<TaskCommand>>().push(task);
    }

    fn tick(&mut self) {
        schedule::advance(self.app.world_mut());
        let events = self.app.world_mut().resource_mut::<EventLog>().take();
        self.said.extend(events.iter().filter_map(|event| event.read::<Complete>()).map(|done| done.text));
    }

    /// Lives at the pace of the answers until something holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < until, "{what}: it never comes to that");
            wait_for_reply(self.app.world_mut(), Duration::from_millis(1));
            self.tick();
        }
    }

    fn is_asked(&self) -> bool {
        self.app.world().resource::<RequestQueue>().in_flight() > 0
    }

    fn is_saying(&self) -> bool {
        self.app.world().resource::<LiveText>().iter().any(|(_, text)| !text.is_empty())
    }

    /// The same as [`Bare::first_chunk`], from the tick in which it is asked.
    fn first_chunk(&mut self) -> Duration {
        let (done, mut begun) = (self.said.len(), Instant::now());
        self.task(0, "do:1 0");
        while !self.is_asked() {
            begun = Instant::now();
            self.tick();
        }
        while !self.is_saying() {
            assert!(begun.elapsed() < PATIENCE, "nothing is said");
            wait_for_reply(self.app.world_mut(), Duration::from_millis(1));
        }
        let took = begun.elapsed();
        self.until("the end of an answer", |room| room.said.len() > done);
        took
    }
}

/// What is resident of a process, in MiB.
fn resident_mib(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// What is resident of the programs of ours that watch over these agents.
fn watchers_mib(script: &Path) -> f64 {
    let script = script.display().to_string();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let is_watcher = line.contains("__watch-over") && line.contains(&script);
        is_watcher.then(|| resident_mib(&entry.file_name().to_string_lossy()))
    });
    ours.sum()
}

/// Everything of it.
pub fn hosted() -> Vec<Figure> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("acp: there is no python3, so nothing is measured");
        return Vec::new();
    }
    watch_with(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let workspace = folder.path().canonicalize().expect("it is there");
    std::fs::create_dir(workspace.join("artifacts")).expect("folders can be made");
    let script = workspace.join("agent.py");
    std::fs::write(&script, AGENT).expect("files can be written");
    let line = format!("python3 {}", script.display());
    let mut figures = vec![first_chunks(&script, &line, &workspace)];
    figures.extend(twenty(&script, &line, &workspace));
    figures.push(writes(&line, &workspace));
    figures
}

fn first_chunks(script: &Path, line: &str, workspace: &Path) -> Figure {
    let (mut bare, mut hosted) = (Bare::start(script, workspace), Hosted::open(1, line, workspace));
    // The process is started by the first, and the interpreter is warm after it.
    bare.first_chunk(workspace);
    hosted.first_chunk();
    let (mut direct, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..PROMPTS {
        direct.push(bare.first_chunk(workspace));
        ours.push(hosted.first_chunk());
    }
    Figure::over_bare("a prompt to a coding agent until its first chunk, over a bare client", 5.0, direct, ours)
}

fn twenty(script: &Path, line: &str, workspace: &Path) -> [Figure; 2] {
    let mut room = Hosted::open(AGENTS, line, workspace);
    room.tick();
    let before = resident_mib("self");
    (0..AGENTS).for_each(|agent| room.task(agent, &format!("do:{CHUNKS} 0")));
    let mut most = 0.0_f64;
    room.until("twenty at once", |room| {
        most = most.max(resident_mib("self") - before + watchers_mib(script));
        room.said.len() == AGENTS
    });
    let wanted: String = (0..CHUNKS).map(|at| format!("{at} ")).collect();
    let whole = room.said.iter().filter(|said| said.trim() == wanted.trim()).count();
    let each = most / AGENTS as f64;
    [
        Figure {
            what: format!("{AGENTS} coding agents at once, {CHUNKS} updates each: answers without a dropped update"),
            limit: format!("{AGENTS} at least"),
            measured: whole.to_string(),
            against: String::new(),
            holds: Some(whole == AGENTS),
        },
        Figure {
            what: "memory of ours for a coding agent".to_owned(),
            limit: "8 MiB".to_owned(),
            measured: format!("{} MiB", digits(each)),
            against: format!("{} MiB for {AGENTS}, with what watches over them", digits(most)),
            holds: Some(each <= 8.0),
        },
    ]
}

fn writes(line: &str, workspace: &Path) -> Figure {
    let mut room = Hosted::open(1, line, workspace);
    room.task(0, &format!("do:0 {WRITES}"));
    room.until("the writes", |room| !room.said.is_empty());
    let said = room.said.concat();
    let of = |name: &str| {
        let after = said.split(name).nth(1).unwrap_or_default();
        let number = after.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
        Duration::from_secs_f64(number.parse::<f64>().unwrap_or(f64::MAX / 1e300) / 1e3)
    };
    let (own, ours) = (of("own="), of("ours="));
    let figure = Figure::over_bare("a file written through the room, over one by itself", 2.0, vec![own], vec![ours]);
    Figure { measured: Times::from_each([ours.saturating_sub(own)]).to_string(), ..figure }
}
