//! Runs a call of a tool in an installed runtime, as a separate process, with the interface of the built-in engine: the
//! same parameters and context, the same requests to the caller, the same failures with lines of the document.
//!
//! The caller is responsible for sandboxing the process.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{FOOT, NO_EXECUTE, RunningCall, ToolCall, cut, failed, start_on_thread};
use super::clock::Stop;
use super::event_loop::{Incoming, Link};
use super::failure::{Source, script_failure};
use super::globals::Log;
use super::host::{HostAnswer, HostCall, HostRequest};
use super::limits::{EngineLimits, REQUESTS_AT_ONCE};
use super::outcome::{CodeOutcome, FailureKind, LogLine, ToolFailure};
use super::program::Program;

/// The script that the runtime runs.
const RUNNER: &str = include_str!("prelude/runner.mjs");
/// The name of the script in the folder of the call.
pub const RUNNER_FILE: &str = "runner.mjs";
/// The name of the file with the tool's own code.
const TOOL_FILE: &str = "tool.mjs";

/// How long a call may run. This includes the start of the runtime and its timers, which cannot be measured separately.
pub const MAX_RUNS: Duration = Duration::from_secs(30);

/// The interval at which it is checked whether the call was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum number of lines that wait to be read. Each may be as long as the largest result or file.
const LINES_AT_ONCE: usize = 4;
/// The maximum size of a line in bytes: an escaped character takes six, and a result that is slightly too long should
/// be shortened rather than lost.
const LINE_BYTES: u64 = 8 << 20;

/// The number of bytes of the runtime's standard error that are read.
const STDERR_BYTES: u64 = 4000;

/// How a runtime is started for one call.
#[derive(Clone, Debug)]
pub struct ExternalRuntime {
    /// The name in messages, such as `node`.
    pub name: String,
    /// The command line that starts it with [`RUNNER_FILE`].
    pub words: Vec<OsString>,
    /// Its complete environment.
    pub variables: Vec<(OsString, OsString)>,
    /// A folder for this call, which is deleted afterwards.
    pub folder: PathBuf,
    /// Kills the process with this id, which leads a process group, and everything that it started.
    pub end: fn(u32),
}

/// A line of the program's output.
#[derive(Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
enum ProgramMessage {
    Asks {
        id: u64,
        request: HostRequest,
    },
    Log {
        level: String,
        text: String,
    },
    Done {
        text: String,
    },
    Threw {
        message: String,
        stack: String,
    },
    /// The code defines no `execute`.
    Undefined,
}

impl ToolCall {
    /// Starts the call in an installed runtime, which is searched for on the call's own thread. The error tells the
    /// model why there is none.
    pub fn start_in(self, find: impl FnOnce() -> Result<ExternalRuntime, String> + Send + 'static) -> RunningCall {
        start_on_thread(self.limits, 0, move |link, finish| {
            let runtime = match find() {
                Ok(runtime) => runtime,
                Err(why) => return finish.with(failed(ToolFailure::new(FailureKind::Engine, why))),
            };
            let outcome = self.run_external(&runtime, link);
            // If the folder cannot be deleted, the system will clean it up with its other temporary files.
            let _ = std::fs::remove_dir_all(&runtime.folder);
            finish.with(outcome);
        })
    }

    fn run_external(&self, runtime: &ExternalRuntime, link: Link) -> CodeOutcome {
        let program = match self.program() {
            Ok(program) => program,
            Err(failure) => return failed(failure),
        };
        match self.start_external(runtime, &program, link.logged.clone()) {
            Ok(running) => running.follow(self, runtime, (&program, &link)),
            Err(error) => {
                let text = format!("{} could not be started: {error}", runtime.name);
                failed(ToolFailure::new(FailureKind::Engine, text))
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a runtime that the settings chose")]
    fn start_external(
        &self,
        runtime: &ExternalRuntime,
        program: &Program,
        logged: Option<Sender<LogLine>>,
    ) -> io::Result<Running> {
        std::fs::create_dir_all(&runtime.folder)?;
        std::fs::write(runtime.folder.join(RUNNER_FILE), RUNNER)?;
        std::fs::write(runtime.folder.join(TOOL_FILE), format!("{}{FOOT}", program.code))?;
        let (first, rest) = runtime.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(first);
        command.args(rest).current_dir(&runtime.folder).env_clear().envs(runtime.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut running = Running {
            child,
            end: runtime.end,
            to_send: to_program(input)?,
            is_input_closed: false,
            said: in_lines(output)?,
            last_words: in_one(errors)?,
            open: BTreeSet::new(),
            requests: 0,
            spent: (Duration::ZERO, Duration::ZERO),
            since: Instant::now(),
            log: Log::read_by(logged),
        };
        let given = json!({ "agentDir": self.agent_dir, "cwd": self.cwd });
        running.send(&json!({ "begin": { "params": self.arguments, "given": given } }));
        Ok(running)
    }
}

/// A running program.
struct Running {
    child: Child,
    end: fn(u32),
    /// The lines to send to it.
    to_send: Sender<String>,
    /// Whether it no longer reads its input.
    is_input_closed: bool,
    said: Receiver<String>,
    last_words: Receiver<String>,
    /// The requests without an answer.
    open: BTreeSet<u64>,
    requests: usize,
    /// How long it ran and how long it waited, until `since`.
    spent: (Duration, Duration),
    since: Instant,
    log: Log,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            (self.end)(self.child.id());
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Running {
    fn send(&mut self, to_send: &Value) {
        self.is_input_closed |= self.to_send.try_send(format!("{to_send}\n")).is_err();
    }

    fn follow(
        mut self,
        call: &ToolCall,
        runtime: &ExternalRuntime,
        (program, link): (&Arc<Program>, &Link),
    ) -> CodeOutcome {
        let result = loop {
            self.note_time();
            if let Some(stop) = self.stop(link, call.limits.wait) {
                let limits = EngineLimits { run: MAX_RUNS, ..call.limits };
                break Err(ToolFailure::stopped(stop, &limits));
            }
            if self.is_input_closed {
                let text = format!("{} does not accept the answers to the code's requests", runtime.name);
                break Err(ToolFailure::new(FailureKind::Engine, text));
            }
            crossbeam_channel::select! {
                recv(self.said) -> line => match line {
                    Ok(line) => {
                        if let Some(result) = self.receive_line(&line, call, runtime, (program, link)) {
                            break result;
                        }
                    }
                    Err(_) => break Err(self.ended(runtime)),
                },
                recv(link.incoming) -> come => match come {
                    Ok(Incoming::Answer(id, answer)) => self.answer(id, &answer),
                    Ok(Incoming::Cancel) | Err(_) => {}
                },
                default(POLL_INTERVAL) => {}
            }
        };
        self.note_time();
        let (ran, waited) = self.spent;
        CodeOutcome {
            result: result.map(|text| cut(text, call.limits.output_bytes)),
            log: self.log.take(),
            ran,
            waited,
        }
    }

    /// Updates the times: while a request is open, it waits.
    fn note_time(&mut self) {
        let passed = self.since.elapsed();
        self.since += passed;
        if self.open.is_empty() {
            self.spent.0 += passed;
        } else {
            self.spent.1 += passed;
        }
    }

    fn stop(&self, link: &Link, wait: Duration) -> Option<Stop> {
        match () {
            () if link.pulse.is_cancelled() => Some(Stop::Cancelled),
            () if self.spent.0 > MAX_RUNS => Some(Stop::RunLimit),
            () if self.spent.1 > wait => Some(Stop::WaitLimit),
            () => None,
        }
    }

    /// Processes a line of output; returns the result, if it is one.
    fn receive_line(
        &mut self,
        line: &str,
        call: &ToolCall,
        runtime: &ExternalRuntime,
        (program, link): (&Arc<Program>, &Link),
    ) -> Option<Result<String, ToolFailure>> {
        match serde_json::from_str(line) {
            Ok(ProgramMessage::Done { text }) => Some(Ok(text)),
            Ok(ProgramMessage::Undefined) => Some(Err(ToolFailure::new(FailureKind::Code, NO_EXECUTE))),
            Ok(ProgramMessage::Threw { message, stack }) => {
                let written = runtime.folder.join(TOOL_FILE).display().to_string();
                let stack = stack.replace(&format!("file://{written}"), &call.file).replace(&written, &call.file);
                let (file, first_line) = (call.file.clone(), call.first_line);
                let source = Source { file, first_line, program: program.clone() };
                Some(Err(script_failure(&message, &stack, &[source])))
            }
            Ok(ProgramMessage::Log { level, text }) => {
                self.log.add(level, text, call.limits.log_bytes);
                None
            }
            Ok(ProgramMessage::Asks { id, request }) => {
                self.ask(id, request, call.limits.host_requests, link);
                None
            }
            // Standard output of the code itself is not a message of the runtime.
            Err(_) => None,
        }
    }

    fn ask(&mut self, id: u64, request: HostRequest, at_most: usize, link: &Link) {
        self.requests += 1;
        let refused = |reason: String| HostAnswer::Refused { reason };
        if self.requests > at_most {
            return self.answer(id, &refused(format!("a tool may make at most {at_most} requests")));
        }
        if link.requests.try_send(HostCall { id, order: 0, request }).is_err() {
            return self.answer(id, &refused(format!("a tool may make at most {REQUESTS_AT_ONCE} requests at once")));
        }
        self.open.insert(id);
    }

    fn answer(&mut self, id: u64, answer: &HostAnswer) {
        self.open.remove(&id);
        self.send(&json!({ "answer": { "id": id, "answer": answer } }));
    }

    /// Returns why the output ended without a result.
    fn ended(&mut self, runtime: &ExternalRuntime) -> ToolFailure {
        if self.child.wait().is_ok_and(|status| status.success()) {
            return ToolFailure::stopped(Stop::NeverSettles, &EngineLimits::default());
        }
        let words = self.last_words.recv_timeout(POLL_INTERVAL).unwrap_or_default();
        let text = format!("{} ended without a result: {}", runtime.name, words.trim());
        ToolFailure::new(FailureKind::Engine, text.trim_end_matches([':', ' ']))
    }
}

/// Sends lines to the program, on a thread that may block.
fn to_program(mut input: impl Write + Send + 'static) -> io::Result<Sender<String>> {
    let (to_send, lines) = bounded::<String>(REQUESTS_AT_ONCE + 1);
    thread::Builder::new().name("tool input".to_owned()).spawn(move || {
        // A program that no longer reads its input has ended, as its output shows.
        let _ = lines.iter().try_for_each(|line| input.write_all(line.as_bytes()).and_then(|()| input.flush()));
    })?;
    Ok(to_send)
}

/// Reads its output line by line. A line that is too long ends the output.
fn in_lines(output: impl Read + Send + 'static) -> io::Result<Receiver<String>> {
    let (lines, said) = bounded(LINES_AT_ONCE);
    thread::Builder::new().name("tool output".to_owned()).spawn(move || read_lines(output, &lines))?;
    Ok(said)
}

fn read_lines(output: impl Read, lines: &Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(1..) if line.last() == Some(&b'\n') => {}
            _ => return,
        }
        if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}

/// Reads the beginning of its standard error; the rest is read and dropped, so that it never blocks.
fn in_one(errors: impl Read + Send + 'static) -> io::Result<Receiver<String>> {
    let (words, read) = bounded(1);
    thread::Builder::new().name("tool errors".to_owned()).spawn(move || {
        let (mut errors, mut first) = (errors, Vec::new());
        let _ = errors.by_ref().take(STDERR_BYTES).read_to_end(&mut first);
        let _ = words.send(String::from_utf8_lossy(&first).into_owned());
        let _ = io::copy(&mut errors, &mut io::sink());
    })?;
    Ok(read)
}

#[cfg(all(test, feature = "typescript"))]
#[path = "external_tests.rs"]
mod tests;
