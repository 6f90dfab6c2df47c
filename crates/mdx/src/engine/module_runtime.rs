//! A module in its own runtime, which exists as long as the module, on its own thread.
//!
//! Every order has the limits of a call. A module that exceeds one is ended: its runtime cannot be trusted any more,
//! and later orders fail. Between orders, its timers and the host's answers are processed, each with the time limit of
//! a call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select};
use rquickjs::function::IntoArgs;
use rquickjs::{Ctx, Function, Module, Object, Promise, Value};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::clock::Pulse;
use super::event_loop::{Beginning, Incoming, Link, Machine, Session};
use super::failure::{self, CodePlace};
use super::host::{HostAnswer, HostCall};
use super::imports::Imports;
use super::limits::{EngineLimits, GRACE, REQUESTS_AT_ONCE};
use super::outcome::{FailureKind, LogLine, ToolFailure};
use super::strip::Program;

/// What the engine's own stack does not hold.
const THREAD_STACK_BYTES: usize = 1 << 20;

/// The maximum number of waiting orders.
const ORDERS_AT_ONCE: usize = 16;

/// A module, ready to be loaded.
#[derive(Clone, Debug)]
pub struct ModuleFiles {
    /// Every file of the folder, by its path in it, without its types.
    pub programs: Arc<BTreeMap<String, Arc<Program>>>,
    /// The file that is the module.
    pub entry: String,
    /// `ctx.agentDir`.
    pub agent_dir: String,
    /// What `Math.random` begins with.
    pub seed: u64,
    /// What `Date.now` begins with, in milliseconds since 1970.
    pub now_unix_ms: i64,
    /// What each order may use; the memory is that of the whole runtime.
    pub limits: EngineLimits,
}

/// A command to a module.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleCommand {
    /// Say what it adds to the prompt.
    SystemPrompt,
    /// Begin its work in the background.
    Start,
    /// End it.
    Stop,
    /// Carry out one of its tools.
    Tool {
        /// Its name.
        name: String,
        /// What it is given.
        arguments: Map<String, Json>,
    },
}

/// A module's description of itself after it was loaded and initialized.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ModuleDescription {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its tools.
    pub tools: Vec<ModuleTool>,
}

/// A tool of a module.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ModuleTool {
    /// The name that a model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Json,
}

/// A message of a module.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleMessage {
    /// It is loaded and initialized, or cannot be. This comes first.
    Loaded(Result<ModuleDescription, ToolFailure>),
    /// An order was carried out, or not.
    Done {
        /// The number that the order was given.
        order: u64,
        /// Its result.
        result: Result<String, ToolFailure>,
    },
    /// It asks for something and waits for the answer.
    Asks(HostCall),
    /// It logged something.
    Logged(LogLine),
}

/// Sends what was logged since the last time; whether anybody listens.
fn send_log(session: &Session<'_, '_>, said: &Sender<ModuleMessage>) -> bool {
    let lines = session.shared.log.borrow_mut().take();
    lines.into_iter().all(|line| said.send(ModuleMessage::Logged(line)).is_ok())
}

/// A running module. Dropping it ends it.
#[derive(Debug)]
pub struct RunningModule {
    orders: Sender<(u64, ModuleCommand)>,
    answers: Sender<Incoming>,
    requests: Receiver<HostCall>,
    news: Receiver<ModuleMessage>,
    pulse: Arc<Pulse>,
    limits: EngineLimits,
    ordered: u64,
    /// Orders that are not answered, and whether the module is still being loaded.
    open: Vec<u64>,
    is_loading: bool,
    is_gone: bool,
}

impl ModuleFiles {
    /// Loads the module on a thread of its own.
    pub fn start(self) -> RunningModule {
        let (requests_in, requests) = bounded(REQUESTS_AT_ONCE);
        let (answers, incoming) = bounded(REQUESTS_AT_ONCE + 1);
        let (orders, ordered) = bounded(ORDERS_AT_ONCE);
        // Output waits for its reader: a module that logs without end is slowed down instead of filling memory.
        let (said, news) = bounded(REQUESTS_AT_ONCE);
        let (pulse, limits) = (Arc::new(Pulse::default()), self.limits);
        let link = Link { requests: requests_in, incoming, pulse: pulse.clone() };
        let thread =
            thread::Builder::new().name("module".to_owned()).stack_size(limits.stack_bytes + THREAD_STACK_BYTES);
        let unstarted = said.clone();
        if let Err(error) = thread.spawn(move || self.run(link, &ordered, &said)) {
            let failure = ToolFailure::new(FailureKind::Engine, format!("no thread could be started: {error}"));
            let _ = unstarted.try_send(ModuleMessage::Loaded(Err(failure)));
        }
        RunningModule {
            orders,
            answers,
            requests,
            news,
            pulse,
            limits,
            ordered: 0,
            open: Vec::new(),
            is_loading: true,
            is_gone: false,
        }
    }

    fn run(self, link: Link, ordered: &Receiver<(u64, ModuleCommand)>, said: &Sender<ModuleMessage>) {
        let beginning = Beginning { limits: self.limits, seed: self.seed, now_unix_ms: self.now_unix_ms };
        let machine = match Machine::new(beginning, link, Imports(self.programs.clone())) {
            Ok(machine) => machine,
            Err(error) => {
                let failure = ToolFailure::new(FailureKind::Engine, error.to_string());
                let _ = said.send(ModuleMessage::Loaded(Err(failure)));
                return;
            }
        };
        machine.shared.clock.run();
        machine.context.with(|ctx| self.run_in(&ctx, &machine, ordered, said));
        machine.shared.clock.rest();
    }

    fn run_in(
        &self,
        ctx: &Ctx<'_>,
        machine: &Machine,
        ordered: &Receiver<(u64, ModuleCommand)>,
        said: &Sender<ModuleMessage>,
    ) {
        let session = match Session::new(ctx, machine) {
            Ok(session) => session,
            Err(_) => {
                let failure = ToolFailure::new(FailureKind::Engine, "the module engine could not be started");
                let _ = said.send(ModuleMessage::Loaded(Err(failure)));
                return;
            }
        };
        let loaded = self.load(&session);
        let is_loaded = loaded.is_ok();
        let is_heard = said.send(ModuleMessage::Loaded(loaded)).is_ok();
        if is_loaded && is_heard {
            self.serve(&session, ordered, said);
        }
    }

    fn load(&self, session: &Session<'_, '_>) -> Result<ModuleDescription, ToolFailure> {
        let loaded = self.load_text(session)?;
        serde_json::from_str(&loaded).map_err(|error| {
            ToolFailure::new(FailureKind::Code, format!("the module's description cannot be read: {error}"))
        })
    }

    fn load_text(&self, session: &Session<'_, '_>) -> Result<String, ToolFailure> {
        let ctx = &session.ctx;
        let program = self.programs.get(&self.entry);
        let code = program
            .map(|program| program.code.clone())
            .ok_or_else(|| ToolFailure::new(FailureKind::Code, format!("there is no file {}", self.entry)))?;
        let module = Module::declare(ctx.clone(), &*self.entry, code).and_then(Module::eval);
        let (module, evaluated) = module.map_err(|_| self.thrown(session))?;
        self.settled(session, &evaluated)?;
        let exported: Value<'_> = module.get("default").map_err(|_| {
            drop(ctx.catch());
            ToolFailure::new(FailureKind::Code, "the file has no default export")
        })?;
        let context =
            session.world.get::<_, Function<'_>>("moduleContext").and_then(|make| make.call((&*self.agent_dir,)));
        let context: Value<'_> = context.map_err(|_| self.thrown(session))?;
        self.call(session, "load", (exported, context))
    }

    /// Performs orders until there are none, and runs the module's timers and answers meanwhile.
    fn serve(&self, session: &Session<'_, '_>, ordered: &Receiver<(u64, ModuleCommand)>, said: &Sender<ModuleMessage>) {
        loop {
            if !send_log(session, said) {
                return;
            }
            session.shared.clock.rest();
            let due = session.next_timer().map(|timer| timer.due.saturating_duration_since(Instant::now()));
            let due = crossbeam_channel::after(due.unwrap_or(Duration::from_secs(3600)));
            let order = select! {
                recv(ordered) -> order => match order {
                    Ok(order) => Some(order),
                    Err(_) => return,
                },
                recv(session.incoming) -> came => match came {
                    Ok(Incoming::Answer(id, answer)) => {
                        session.shared.clock.begin_anew();
                        session.shared.clock.run();
                        session.answer(id, answer);
                        None
                    }
                    Ok(Incoming::Cancel) | Err(_) => return,
                },
                recv(due) -> _ => None,
            };
            session.shared.clock.rest();
            session.shared.clock.begin_anew();
            session.shared.clock.run();
            match order {
                Some((number, order)) => {
                    let result = self.carry_out(session, order);
                    // Its log lines come before its result.
                    if !send_log(session, said) || said.send(ModuleMessage::Done { order: number, result }).is_err() {
                        return;
                    }
                }
                None => session.ring_due(),
            }
            if session.run_ready().is_err() {
                return;
            }
        }
    }

    fn carry_out(&self, session: &Session<'_, '_>, order: ModuleCommand) -> Result<String, ToolFailure> {
        match order {
            ModuleCommand::SystemPrompt => self.call(session, "systemPrompt", ()),
            ModuleCommand::Start => self.call(session, "start", ()),
            ModuleCommand::Stop => self.call(session, "stop", ()),
            ModuleCommand::Tool { name, arguments } => {
                let params =
                    session.ctx.json_parse(Json::Object(arguments).to_string()).map_err(|_| self.thrown(session))?;
                self.call(session, "tool", ("1", name, params))
            }
        }
    }

    /// Calls a function of the module's world, and waits for what it promises.
    fn call<'js, A: IntoArgs<'js>>(
        &self,
        session: &Session<'_, 'js>,
        name: &str,
        arguments: A,
    ) -> Result<String, ToolFailure> {
        let called = || -> rquickjs::Result<Value<'js>> {
            let module: Function<'js> = session.world.get("module")?;
            let module: Object<'js> = module.call(())?;
            module.get::<_, Function<'js>>(name)?.call(arguments)
        };
        let value = called().map_err(|_| self.thrown(session))?;
        let value = match value.try_into_promise() {
            Ok(promise) => self.settled(session, &promise)?,
            Err(value) => value,
        };
        let text = value.into_string().map(|text| text.to_string());
        let text = text.and_then(Result::ok).unwrap_or_default();
        Ok(super::call::cut(text, self.limits.output_bytes))
    }

    fn settled<'js>(&self, session: &Session<'_, 'js>, promise: &Promise<'js>) -> Result<Value<'js>, ToolFailure> {
        session.settle(promise).map_err(|stop| ToolFailure::stopped(stop, &self.limits))?;
        let result = promise.result::<Value<'js>>().unwrap_or_else(|| Err(rquickjs::Error::Exception));
        result.map_err(|_| self.thrown(session))
    }

    fn thrown(&self, session: &Session<'_, '_>) -> ToolFailure {
        let ended = || session.shared.clock.stopped().map(|stop| ToolFailure::stopped(stop, &self.limits));
        ended().unwrap_or_else(|| {
            let program = self.programs.get(&self.entry).cloned().unwrap_or_default();
            let place = CodePlace { file: self.entry.clone(), first_line: 1 };
            let caught = failure::caught(&session.ctx, &session.world, (&program, &place));
            ended().unwrap_or(caught)
        })
    }
}

impl RunningModule {
    /// Orders something; the number comes back with what it came to. Nothing where too many orders wait.
    pub fn order(&mut self, order: ModuleCommand) -> Option<u64> {
        let number = self.ordered + 1;
        self.orders.try_send((number, order)).ok()?;
        self.ordered = number;
        self.open.push(number);
        Some(number)
    }

    /// Answers a request.
    pub fn answer(&self, id: u64, answer: HostAnswer) {
        let _ = self.answers.try_send(Incoming::Answer(id, answer));
    }

    /// Whether it is gone: it could not be loaded, exceeded a limit, or was given up.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// The next message of the module, without waiting. Orders to a module that has ended are answered with an error.
    pub fn poll(&mut self) -> Option<ModuleMessage> {
        if let Ok(asked) = self.requests.try_recv() {
            return Some(ModuleMessage::Asks(asked));
        }
        match self.news.try_recv() {
            Ok(news) => {
                self.note(&news);
                Some(news)
            }
            Err(crossbeam_channel::TryRecvError::Disconnected) => {
                self.gone(FailureKind::Cancelled, "the module has ended")
            }
            Err(crossbeam_channel::TryRecvError::Empty) => {
                let is_overdue = self.pulse.due().is_some_and(|due| Instant::now() > due + GRACE);
                if !is_overdue {
                    return None;
                }
                let text = format!("the module did not stop after {:?} and was abandoned", self.limits.run);
                self.gone(FailureKind::GivenUp, &text)
            }
        }
    }

    fn note(&mut self, news: &ModuleMessage) {
        match news {
            ModuleMessage::Loaded(result) => {
                self.is_loading = false;
                self.is_gone |= result.is_err();
            }
            ModuleMessage::Done { order, .. } => self.open.retain(|open| open != order),
            ModuleMessage::Asks(_) | ModuleMessage::Logged(_) => {}
        }
    }

    /// Answers what is open, one at a time.
    fn gone(&mut self, kind: FailureKind, text: &str) -> Option<ModuleMessage> {
        self.is_gone = true;
        self.pulse.cancel();
        let failure = ToolFailure::new(kind, text);
        if std::mem::take(&mut self.is_loading) {
            return Some(ModuleMessage::Loaded(Err(failure)));
        }
        let order = if self.open.is_empty() { None } else { Some(self.open.remove(0)) };
        order.map(|order| ModuleMessage::Done { order, result: Err(failure) })
    }
}

impl Drop for RunningModule {
    fn drop(&mut self) {
        self.pulse.cancel();
        let _ = self.answers.try_send(Incoming::Cancel);
    }
}
