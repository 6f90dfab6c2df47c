//! One call of a tool on its own thread, and its caller's handle to it.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, never};
use rquickjs::{CatchResultExt, Ctx, Function, Module, Promise, Value};
use serde_json::{Map, Value as Json};

use super::cache::ProgramCache;
use super::check::unreadable;
use super::clock::Pulse;
use super::event_loop::{Incoming, Link, Machine, Session};
use super::failure::Source;
use super::host::{HostAnswer, HostCall};
use super::limits::{EngineLimits, GRACE, LINES_AT_ONCE, REQUESTS_AT_ONCE};
use super::outcome::{CodeOutcome, FailureKind, LogLine, ToolFailure};
use super::program::Program;

/// The stack size in addition to the engine's own limit: for the native functions that it calls, in any build.
const THREAD_STACK_BYTES: usize = 1 << 20;

/// Appended to the code of a tool: exports `execute` for the engine, however it is defined.
pub(super) const FOOT: &str = "\n;export const $execute = typeof execute === 'undefined' ? undefined : execute;";

/// The error for code that defines no function to call.
pub(super) const NO_EXECUTE: &str = "the code of the tool defines no function execute(params, ctx)";

/// The code of a tool.
#[derive(Clone, Debug)]
pub enum ToolCode {
    /// It was already parsed.
    Ready(Arc<Program>),
    /// Source text, which is parsed on the thread of the call, and cached.
    Written {
        /// The TypeScript source.
        text: Arc<str>,
        /// The cache of parsed programs.
        programs: Arc<ProgramCache>,
    },
}

/// A call of a tool. The arguments must already match the tool's schema: they are not checked here.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The code.
    pub code: ToolCode,
    /// The name of the document in messages, such as `agents/ada/agent.mdx`.
    pub file: String,
    /// The line of the document where the code begins, counted from 1.
    pub first_line: usize,
    /// The value of `params`.
    pub arguments: Map<String, Json>,
    /// The value of `ctx.agentDir`.
    pub agent_dir: String,
    /// The value of `ctx.cwd`.
    pub cwd: String,
    /// The seed of `Math.random` and `crypto.randomUUID`.
    pub seed: u64,
    /// The initial value of `Date.now`, in milliseconds since 1970.
    pub now_unix_ms: i64,
    /// The limits.
    pub limits: EngineLimits,
}

/// A running call. Dropping it stops it.
#[derive(Debug)]
pub struct RunningCall {
    requests: Receiver<HostCall>,
    logged: Receiver<LogLine>,
    finished: Receiver<CodeOutcome>,
    control: Control,
    limits: EngineLimits,
    is_finished: bool,
}

/// Answers and stops a running call whose events another thread follows. Dropping it stops the call.
#[derive(Debug)]
pub struct CallHandle(Control);

/// The way to the code of a call.
#[derive(Clone, Debug)]
struct Control {
    answers: Sender<Incoming>,
    pulse: Arc<Pulse>,
}

/// An event of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallEvent {
    /// It logged a line. The outcome contains the line again; if lines are logged faster than they are read, the later
    /// ones are only in the outcome.
    Logged(LogLine),
    /// It sends a request and waits for the answer.
    Asks(HostCall),
    /// It has ended. No further event follows.
    Finished(CodeOutcome),
}

impl ToolCall {
    /// Returns the code without its types.
    pub(super) fn program(&self) -> Result<Arc<Program>, ToolFailure> {
        match &self.code {
            ToolCode::Ready(program) => Ok(program.clone()),
            ToolCode::Written { text, programs } => programs
                .program(text, self.limits.code_bytes)
                .map_err(|error| unreadable(&error, &self.file, self.first_line)),
        }
    }

    /// Runs the call in a prepared session, or reports why that could not be created.
    pub(super) fn run<'js>(
        &self,
        machine: &Machine,
        ctx: &Ctx<'js>,
        session: rquickjs::Result<Session<'_, 'js>>,
    ) -> CodeOutcome {
        let program = match self.program() {
            Ok(program) => program,
            Err(failure) => return failed(failure),
        };
        machine.shared.begin(self.seed, self.now_unix_ms);
        let result = match session {
            Ok(session) => {
                let (file, first_line) = (self.file.clone(), self.first_line);
                session.set_sources([Source { file, first_line, program: program.clone() }]);
                machine.shared.clock.run();
                let result = self.execute(&session, &program);
                machine.shared.clock.rest();
                result
            }
            Err(_) => {
                let why = Err::<(), _>(rquickjs::Error::Exception).catch(ctx).map_err(|caught| caught.to_string());
                let text = format!("the tool engine could not be started: {}", why.err().unwrap_or_default());
                Err(ToolFailure::new(FailureKind::Engine, text))
            }
        };
        CodeOutcome {
            result,
            log: machine.shared.log.borrow_mut().take(),
            ran: machine.shared.clock.ran(),
            waited: machine.shared.clock.waited(),
        }
    }

    fn execute<'js>(&self, session: &Session<'_, 'js>, program: &Program) -> Result<String, ToolFailure> {
        // Reading the properties of a thrown value may run code, which may be stopped.
        let ended = || session.shared.clock.stopped().map(|stop| ToolFailure::stopped(stop, &self.limits));
        let thrown = || {
            ended().unwrap_or_else(|| {
                let caught = session.caught();
                ended().unwrap_or(caught)
            })
        };
        let stopped = |stop| ToolFailure::stopped(stop, &self.limits);
        let module = Module::declare(session.ctx.clone(), &*self.file, format!("{}{FOOT}", program.code));
        let (module, evaluated) = module.and_then(Module::eval).map_err(|_| thrown())?;
        session.run_until_settled(&evaluated).map_err(stopped)?;
        evaluated.result::<Value<'js>>().unwrap_or_else(|| Err(rquickjs::Error::Exception)).map_err(|_| thrown())?;
        let execute =
            ["$execute", "execute", "default"].into_iter().find_map(|name| module.get::<_, Function<'js>>(name).ok());
        drop(session.ctx.catch());
        let Some(execute) = execute else {
            return Err(ToolFailure::new(FailureKind::Code, NO_EXECUTE));
        };
        let promise = self.begin(session, execute).map_err(|_| thrown())?;
        session.run_until_settled(&promise).map_err(stopped)?;
        let text: rquickjs::String<'js> =
            promise.result().unwrap_or_else(|| Err(rquickjs::Error::Exception)).map_err(|_| thrown())?;
        let text = text.to_string().map_err(|_| thrown())?;
        Ok(cut(text, self.limits.output_bytes))
    }

    fn begin<'js>(&self, session: &Session<'_, 'js>, execute: Function<'js>) -> rquickjs::Result<Promise<'js>> {
        let ctx = &session.ctx;
        let params = ctx.json_parse(Json::Object(self.arguments.clone()).to_string())?;
        let given = rquickjs::Object::new(ctx.clone())?;
        given.set("agentDir", &*self.agent_dir)?;
        given.set("cwd", &*self.cwd)?;
        let start: Function<'js> = session.world.get("start")?;
        start.call((execute, params, given))
    }
}

/// Sends the outcome of a call.
pub(super) struct Finish(Sender<CodeOutcome>);

impl Finish {
    /// Sends the outcome.
    pub(super) fn with(self, outcome: CodeOutcome) {
        // There is no receiver if the call was abandoned.
        let _ = self.0.send(outcome);
    }
}

/// Runs a call on a thread of its own with this stack size.
pub(super) fn start_on_thread(
    limits: EngineLimits,
    stack_bytes: usize,
    run: impl FnOnce(Link, Finish) + Send + 'static,
) -> RunningCall {
    let (requests_in, requests) = bounded(REQUESTS_AT_ONCE);
    // The capacity suffices for the answer to every request, and for the cancellation.
    let (answers, incoming) = bounded(limits.host_requests + 1);
    let (finished_in, finished) = bounded(1);
    let (lines, logged) = bounded(LINES_AT_ONCE);
    let pulse = Arc::new(Pulse::default());
    let link = Link { requests: requests_in, incoming, pulse: pulse.clone(), logged: Some(lines) };
    let thread = thread::Builder::new().name("tool".to_owned()).stack_size(stack_bytes + THREAD_STACK_BYTES);
    let unstarted = finished_in.clone();
    let end = pulse.clone();
    let run = move || {
        run(link, Finish(finished_in));
        end.end();
    };
    if let Err(error) = thread.spawn(run) {
        let failure = ToolFailure::new(FailureKind::Engine, format!("no thread could be started: {error}"));
        let _ = unstarted.send(failed(failure));
    }
    RunningCall { requests, logged, finished, control: Control { answers, pulse }, limits, is_finished: false }
}

/// Returns the outcome of a call that failed before it ran.
pub(super) fn failed(failure: ToolFailure) -> CodeOutcome {
    CodeOutcome { result: Err(failure), log: Vec::new(), ran: Default::default(), waited: Default::default() }
}

/// Shortens a text to `bytes_at_most` bytes, with a mark if it was cut.
pub(super) fn cut(text: String, bytes_at_most: usize) -> String {
    if text.len() <= bytes_at_most {
        return text;
    }
    let end = (0..=bytes_at_most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n… (cut: the result is {} bytes long, {end} are shown)", &text[..end], text.len())
}

impl RunningCall {
    /// Returns the next event of the call, without waiting. A call that does not return within its limit is abandoned
    /// here, together with its thread.
    pub fn poll(&mut self) -> Option<CallEvent> {
        if self.is_finished {
            return None;
        }
        match self.logged.try_recv() {
            Ok(line) => return Some(CallEvent::Logged(line)),
            // A closed channel is always ready, so that nobody could wait for the others.
            Err(TryRecvError::Disconnected) => self.logged = never(),
            Err(TryRecvError::Empty) => {}
        }
        match self.requests.try_recv() {
            Ok(asked) => return Some(CallEvent::Asks(asked)),
            Err(TryRecvError::Disconnected) => self.requests = never(),
            Err(TryRecvError::Empty) => {}
        }
        match self.finished.try_recv() {
            Ok(outcome) => Some(self.finish(outcome)),
            Err(TryRecvError::Disconnected) => {
                let text = "the tool engine stopped without an answer";
                Some(self.finish(failed(ToolFailure::new(FailureKind::Engine, text))))
            }
            Err(TryRecvError::Empty) => {
                let is_overdue = self.control.pulse.due().is_some_and(|due| Instant::now() > due + GRACE);
                is_overdue.then(|| self.finish(failed(ToolFailure::given_up(&self.limits))))
            }
        }
    }

    /// Whether the runtime failed to start.
    pub(super) fn has_failed_to_start(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Returns a function that says whether the thread of the call has ended, which may happen after the call was
    /// abandoned.
    pub fn end(&self) -> impl Fn() -> bool + use<> {
        let pulse = self.control.pulse.clone();
        move || pulse.has_ended()
    }

    fn finish(&mut self, outcome: CodeOutcome) -> CallEvent {
        self.is_finished = true;
        self.control.pulse.cancel();
        CallEvent::Finished(outcome)
    }

    /// Answers a request. An answer to an unknown request is ignored.
    pub fn answer(&self, id: u64, answer: HostAnswer) {
        self.control.answer(id, answer);
    }

    /// Stops the call, which still reports its outcome.
    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// Returns what answers and stops the call while another thread waits for its events.
    pub fn handle(&self) -> CallHandle {
        CallHandle(self.control.clone())
    }

    /// Waits for the next event of the call, on a thread that may block. `None` after its end.
    pub fn next_event(&mut self) -> Option<CallEvent> {
        while !self.is_finished {
            match self.poll() {
                Some(event) => return Some(event),
                None => self.wait_for_event(),
            }
        }
        None
    }

    /// Waits for the end of the call, on a thread that may block.
    pub fn wait(mut self, mut host: impl FnMut(HostCall) -> HostAnswer) -> CodeOutcome {
        loop {
            match self.poll() {
                Some(CallEvent::Asks(asked)) => {
                    let id = asked.id;
                    self.answer(id, host(asked));
                }
                // The outcome contains the line as well.
                Some(CallEvent::Logged(_)) => {}
                Some(CallEvent::Finished(outcome)) => return outcome,
                None => self.wait_for_event(),
            }
        }
    }

    fn wait_for_event(&self) {
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.requests);
        select.recv(&self.logged);
        select.recv(&self.finished);
        let until = self.control.pulse.due().map_or(GRACE, |due| due.saturating_duration_since(Instant::now()) + GRACE);
        let _ = select.ready_timeout(until.min(GRACE));
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Control {
    fn answer(&self, id: u64, answer: HostAnswer) {
        // The capacity suffices for every request that may be open.
        let _ = self.answers.try_send(Incoming::Answer(id, answer));
    }

    fn cancel(&self) {
        self.pulse.cancel();
        let _ = self.answers.try_send(Incoming::Cancel);
    }
}

impl CallHandle {
    /// Answers a request. An answer to an unknown request is ignored.
    pub fn answer(&self, id: u64, answer: HostAnswer) {
        self.0.answer(id, answer);
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
