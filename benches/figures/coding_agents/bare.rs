//! A minimal client of the coding agents' protocol, to measure the agent without the workshop.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running agent and a client that does nothing but prompt it.
pub struct Bare {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    number: u64,
}

impl Bare {
    /// Starts the agent.
    pub fn start(script: &Path, folder: &Path) -> Self {
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
        let line = self.lines.next().expect("it answers").expect("it should be UTF-8 text");
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

    /// Measures the time from a prompt in a new session until the first chunk of its answer.
    pub fn first_chunk(&mut self, folder: &Path) -> Duration {
        let begun = Instant::now();
        let opened = self.ask("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        let session = &opened["result"]["sessionId"];
        let prompt = json!([{ "type": "text", "text": "do:1 0 0" }]);
        self.send("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
        while self.next()["method"] != "session/update" {}
        let took = begun.elapsed();
        while self.next()["id"] != self.number {}
        took
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // The agent may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
