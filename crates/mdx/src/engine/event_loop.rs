//! The event loop of a runtime: runs ready code, fires timers, delivers the host's answers, and stops the code at its
//! limits.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Function, IntoJs, Object, Promise, Runtime, TypedArray, Value};

use super::clock::{Clock, Pulse, Stop};
use super::failure::{self, Source};
use super::globals::{self, Log, Shared, Timer};
use super::halt::Halt;
use super::host::{HostAnswer, HostCall};
use super::imports::Imports;
use super::limits::EngineLimits;
use super::outcome::{FailureKind, LogLine, ToolFailure};
use super::random::Random;
use super::rejections;

/// The beginning of the engine's error when memory runs out and enough is left to report it.
const OUT_OF_MEMORY: &str = "InternalError: out of memory";

/// A message from the caller to the thread of a runtime.
pub(super) enum Incoming {
    /// The answer to a request.
    Answer(u64, HostAnswer),
    /// The caller cancelled; this is also recorded in the clock's [`Pulse`].
    Cancel,
}

/// The runtime's ends of the channels.
pub(super) struct Link {
    pub(super) requests: Sender<HostCall>,
    pub(super) incoming: Receiver<Incoming>,
    pub(super) pulse: Arc<Pulse>,
    /// The reader of log lines while a call runs.
    pub(super) logged: Option<Sender<LogLine>>,
}

/// The initial state of a runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    pub(super) limits: EngineLimits,
    pub(super) seed: u64,
    pub(super) now_unix_ms: i64,
}

/// A runtime with its limits, and one context in it.
pub(super) struct Machine {
    pub(super) shared: Rc<Shared>,
    pub(super) incoming: Receiver<Incoming>,
    pub(super) context: Context,
}

/// The engine could not be started because there was not enough memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the tool engine could not be started: there is not enough memory")]
pub(super) struct NoMachine;

impl Machine {
    pub(super) fn new(beginning: Beginning, link: Link, imports: Imports) -> Result<Self, NoMachine> {
        let limits = beginning.limits;
        let shared = Rc::new(Shared {
            clock: Clock::new(link.pulse, &limits),
            limits,
            requests: link.requests,
            random: Random(beginning.seed).into(),
            began_unix_ms: Cell::new(beginning.now_unix_ms as f64),
            log: Log::read_by(link.logged).into(),
            timers: Vec::new().into(),
            is_module: false.into(),
            order: 0.into(),
            asked: 0.into(),
            requests_of: Default::default(),
            unanswered: Default::default(),
            rejections: Default::default(),
            sources: std::cell::RefCell::new(Rc::new([])),
            is_out_of_memory: false.into(),
        });
        let runtime = Runtime::new().map_err(|_| NoMachine)?;
        runtime.set_memory_limit(limits.memory_bytes);
        runtime.set_max_stack_size(limits.stack_bytes);
        imports.install(&runtime);
        // Set before any code runs, because that is impossible inside of a context.
        let (of, halt) = (shared.clone(), Halt::default());
        let at_end = halt.clone();
        let must_stop = move || {
            let must_stop = of.clock.must_stop();
            if must_stop {
                at_end.apply(of.limits.memory_bytes);
            }
            must_stop
        };
        runtime.set_interrupt_handler(Some(Box::new(must_stop)));
        let of = shared.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |_, promise, reason, is_handled| {
            let is_told = !is_handled && !of.clock.must_stop() && of.rejections.borrow().has_room();
            // Describing the reason may run code, which may reject further promises.
            let description = is_told.then(|| rejections::described(&reason));
            if is_handled || description.is_some() {
                of.rejections.borrow_mut().note(&promise, description);
            }
        })));
        let context = Context::full(&runtime).map_err(|_| NoMachine)?;
        halt.set(&context);
        Ok(Self { shared, incoming: link.incoming, context })
    }
}

/// The state of a machine while its context is entered.
pub(super) struct Session<'a, 'js> {
    pub(super) ctx: Ctx<'js>,
    pub(super) shared: &'a Rc<Shared>,
    pub(super) incoming: &'a Receiver<Incoming>,
    pub(super) world: Object<'js>,
}

impl<'a, 'js> Session<'a, 'js> {
    /// Creates the session and its globals. The clock is already running.
    pub(super) fn new(ctx: &Ctx<'js>, machine: &'a Machine) -> rquickjs::Result<Self> {
        let world = globals::make(ctx, &machine.shared)?;
        Ok(Self { ctx: ctx.clone(), shared: &machine.shared, incoming: &machine.incoming, world })
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Runs until the promise is settled, or until it must stop. The clock runs before and after.
    pub(super) fn run_until_settled(&self, promise: &Promise<'js>) -> Result<(), Stop> {
        loop {
            self.run_ready()?;
            if self.is_settled(promise) {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// Whether the promise is settled. Its own rejection is reported to the caller rather than logged; other rejections
    /// in the meantime are logged.
    fn is_settled(&self, promise: &Promise<'js>) -> bool {
        let is_settled = promise.state() != PromiseState::Pending;
        if is_settled {
            self.take_rejection(promise);
        }
        self.log_rejections();
        is_settled
    }

    /// Excludes the rejection of this promise from the log, because it is reported to the caller.
    pub(super) fn take_rejection(&self, promise: &Promise<'js>) {
        self.shared.rejections.borrow_mut().forget(promise.as_value());
    }

    /// Logs the errors of unhandled rejected promises.
    pub(super) fn log_rejections(&self) {
        let rejected = self.shared.rejections.borrow_mut().take();
        for (message, stack) in rejected {
            let sources = self.shared.sources.borrow().clone();
            self.log_failure(&failure::script_failure(&message, &stack, &sources));
        }
    }

    /// Logs an error that is not reported in any other way.
    fn log_failure(&self, failure: &ToolFailure) {
        let is_memory = failure.kind == FailureKind::Memory || failure.text.starts_with(OUT_OF_MEMORY);
        self.shared.is_out_of_memory.set(self.shared.is_out_of_memory.get() || is_memory);
        let text = match failure.kind {
            FailureKind::Memory => failure.text.clone(),
            _ => format!("uncaught {}", failure.text),
        };
        self.shared.log.borrow_mut().add("error".to_owned(), text, self.shared.limits.log_bytes);
    }

    /// Returns the pending exception, for the caller of the code.
    pub(super) fn caught(&self) -> ToolFailure {
        let sources = self.shared.sources.borrow().clone();
        failure::caught(&self.ctx, &self.world, &sources)
    }

    /// Sets the files whose lines are shown in errors.
    pub(super) fn set_sources(&self, sources: impl IntoIterator<Item = Source>) {
        self.shared.sources.replace(sources.into_iter().collect());
    }

    /// Runs everything that can run without waiting.
    pub(super) fn run_ready(&self) -> Result<(), Stop> {
        loop {
            if self.clock().must_stop() {
                return Err(self.clock().stopped().unwrap_or(Stop::Cancelled));
            }
            if !self.ctx.execute_pending_job() {
                return Ok(());
            }
        }
    }

    /// Waits for the host or for a timer, whichever comes first, and passes it to the code.
    fn wait(&self) -> Result<(), Stop> {
        let timer = self.next_timer();
        if timer.is_none() && self.shared.unanswered.borrow().is_empty() {
            return Err(Stop::NeverSettles);
        }
        self.clock().rest();
        let begun = Instant::now();
        let until_timer = timer.map(|timer| timer.due.saturating_duration_since(begun));
        let left = self.clock().wait_left();
        let came = self.incoming.recv_timeout(until_timer.map_or(left, |due| due.min(left)));
        self.clock().add_waited(begun.elapsed());
        self.clock().run();
        match came {
            Ok(Incoming::Answer(id, answer)) => self.answer(id, answer),
            Ok(Incoming::Cancel) | Err(RecvTimeoutError::Disconnected) => return Err(Stop::Cancelled),
            Err(RecvTimeoutError::Timeout) if self.clock().wait_left() == Duration::ZERO => {
                return Err(Stop::WaitLimit);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        self.fire_due();
        Ok(())
    }

    /// Returns the next timer; those that were cleared are dropped.
    pub(super) fn next_timer(&self) -> Option<Timer> {
        let is_running: Option<Function<'js>> = self.world.get("isRunning").ok();
        loop {
            let next = self.shared.timers.borrow().iter().min().copied()?;
            let runs = is_running.as_ref().is_some_and(|runs| runs.call::<_, bool>((next.id,)).unwrap_or(false));
            if runs {
                return Some(next);
            }
            self.forget(next);
        }
    }

    pub(super) fn forget(&self, timer: Timer) {
        self.shared.timers.borrow_mut().retain(|other| *other != timer);
    }

    /// Returns the timers that are due, sorted by time.
    pub(super) fn due_timers(&self) -> Vec<Timer> {
        let now = Instant::now();
        let mut due: Vec<Timer> =
            self.shared.timers.borrow().iter().filter(|timer| timer.due <= now).copied().collect();
        due.sort();
        due
    }

    /// Fires a timer.
    pub(super) fn fire_timer(&self, timer: Timer) {
        self.forget(timer);
        self.call_world("ring", (timer.id,));
    }

    /// Fires the timers that are due.
    fn fire_due(&self) {
        for timer in self.due_timers() {
            self.fire_timer(timer);
            while !self.clock().must_stop() && self.ctx.execute_pending_job() {}
            if self.clock().must_stop() {
                return;
            }
        }
    }

    pub(super) fn answer(&self, id: u64, answer: HostAnswer) {
        self.shared.unanswered.borrow_mut().remove(&id);
        let is_fine = !matches!(answer, HostAnswer::Refused { .. });
        match self.value_of(answer) {
            Ok(value) => self.call_world("settle", (id as f64, is_fine, value)),
            Err(_) => {
                drop(self.ctx.catch());
                self.call_world("settle", (id as f64, false, "the answer is too large for the tool's memory"));
            }
        }
    }

    /// Loads the lazy parts of the prelude ahead of their first use, while no call is waiting.
    pub(super) fn read_ahead(&self) {
        self.call_world("readAhead", ());
    }

    /// Calls a function of the prelude. Exceptions of timers and waiting promises are logged, because they have no
    /// other receiver.
    fn call_world<A: rquickjs::function::IntoArgs<'js>>(&self, name: &str, arguments: A) {
        let function: Option<Function<'js>> = self.world.get(name).ok();
        if let Some(function) = function
            && function.call::<_, Value<'js>>(arguments).is_err()
        {
            let failure = self.caught();
            // If the code was stopped, the reason is reported elsewhere.
            if self.clock().stopped().is_none() {
                self.log_failure(&failure);
            }
        }
    }

    fn value_of(&self, answer: HostAnswer) -> rquickjs::Result<Value<'js>> {
        let ctx = &self.ctx;
        match answer {
            HostAnswer::Response { status, url, headers, body } => {
                let object = Object::new(ctx.clone())?;
                object.set("status", status)?;
                object.set("url", url)?;
                let pairs: Vec<Vec<String>> = headers.into_iter().map(|(name, value)| vec![name, value]).collect();
                object.set("headers", pairs)?;
                object.set("body", TypedArray::<u8>::new(ctx.clone(), body)?)?;
                Ok(object.into_value())
            }
            HostAnswer::Text { text } => {
                let object = Object::new(ctx.clone())?;
                object.set("text", text)?;
                Ok(object.into_value())
            }
            HostAnswer::Done => Ok(Value::new_undefined(ctx.clone())),
            HostAnswer::Refused { reason } => reason.into_js(ctx),
        }
    }
}
