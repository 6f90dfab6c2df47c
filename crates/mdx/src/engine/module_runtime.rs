//! A module in its own runtime, which exists as long as the module, on its own thread.
//!
//! Its code runs for an order, or in the background: after it was started, and in its timers. Every order has the
//! limits of a call, and so does the background each time it wakes up. A module that exceeds the time or the memory is
//! ended, because its runtime cannot be trusted any more. Orders do not wait for the background: they are executed
//! while it continues.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use rquickjs::{Ctx, Function, Module, Value};

use super::clock::Pulse;
use super::event_loop::{Beginning, Link, Machine, Session};
use super::failure::Source;
use super::imports::Imports;
use super::limits::{EngineLimits, ORDERS_AT_ONCE, REQUESTS_AT_ONCE};
use super::module_calls::ModuleCalls;
use super::module_orders::{Ended, ModuleLoop};
use super::outcome::{FailureKind, ToolFailure};
use super::program::Program;
use super::running_module::{Ends, ModuleCommand, ModuleDescription, ModuleMessage, RunningModule};

/// The stack size in addition to the engine's own limit.
const THREAD_STACK_BYTES: usize = 1 << 20;

/// A module, ready to be loaded.
#[derive(Clone, Debug)]
pub struct ModuleFiles {
    /// Every file that it may import, by its path in the agent's folder, without types.
    pub programs: Arc<BTreeMap<String, Arc<Program>>>,
    /// The path of the module's own file.
    pub entry: String,
    /// The value of `ctx.agentDir`.
    pub agent_dir: String,
    /// The seed of `Math.random`.
    pub seed: u64,
    /// The initial value of `Date.now`, in milliseconds since 1970.
    pub now_unix_ms: i64,
    /// The limits of each order; the memory limit is that of the whole runtime.
    pub limits: EngineLimits,
}

impl ModuleFiles {
    /// Loads the module on a thread of its own.
    pub fn start(self) -> RunningModule {
        let (requests_in, requests) = bounded(REQUESTS_AT_ONCE);
        // The capacity suffices for the answer to every request, and for the end.
        let (answers, incoming) = bounded(self.limits.host_requests + 1);
        let (orders, ordered) = bounded(ORDERS_AT_ONCE);
        // The bounded queue makes a module that logs without end wait for its reader instead of filling memory.
        let (messages, receiver) = bounded(REQUESTS_AT_ONCE);
        let (pulse, limits) = (Arc::new(Pulse::default()), self.limits);
        let link = Link { requests: requests_in, incoming, pulse: pulse.clone(), logged: None };
        let thread =
            thread::Builder::new().name("module".to_owned()).stack_size(limits.stack_bytes + THREAD_STACK_BYTES);
        let unstarted = messages.clone();
        if let Err(error) = thread.spawn(move || self.run(link, &ordered, &messages)) {
            let failure = ToolFailure::new(FailureKind::Engine, format!("no thread could be started: {error}"));
            let _ = unstarted.try_send(ModuleMessage::Loaded(Err(failure)));
        }
        RunningModule::new(Ends { orders, answers, requests, messages: receiver }, pulse, limits)
    }

    fn run(self, link: Link, ordered: &Receiver<(u64, ModuleCommand)>, messages: &Sender<ModuleMessage>) {
        let beginning = Beginning { limits: self.limits, seed: self.seed, now_unix_ms: self.now_unix_ms };
        let machine = match Machine::new(beginning, link, Imports(self.programs.clone())) {
            Ok(machine) => machine,
            Err(error) => {
                let failure = ToolFailure::new(FailureKind::Engine, error.to_string());
                let _ = messages.send(ModuleMessage::Loaded(Err(failure)));
                return;
            }
        };
        machine.shared.is_module.set(true);
        machine.shared.clock.run();
        machine.context.with(|ctx| self.run_in(&ctx, &machine, ordered, messages));
    }

    fn run_in(
        &self,
        ctx: &Ctx<'_>,
        machine: &Machine,
        ordered: &Receiver<(u64, ModuleCommand)>,
        messages: &Sender<ModuleMessage>,
    ) {
        let session = match Session::new(ctx, machine) {
            Ok(session) => session,
            Err(_) => {
                let failure = ToolFailure::new(FailureKind::Engine, "the module engine could not be started");
                let _ = messages.send(ModuleMessage::Loaded(Err(failure)));
                return;
            }
        };
        session.set_sources(self.programs.iter().map(|(path, program)| {
            let (file, program) = (path.clone(), program.clone());
            Source { file, first_line: 1, program }
        }));
        let loaded = self.load(&session);
        session.log_rejections();
        machine.shared.clock.rest();
        let is_loaded = loaded.is_ok();
        let is_heard = messages.send(ModuleMessage::Loaded(loaded)).is_ok();
        let mut module = ModuleLoop::new(self.limits, &session, messages);
        if is_heard
            && module.send_log(0).is_ok()
            && is_loaded
            && let Err(Ended::Stopped(failure)) = module.serve(ordered)
        {
            let _ = messages.send(ModuleMessage::Ended(failure));
        }
    }

    fn load(&self, session: &Session<'_, '_>) -> Result<ModuleDescription, ToolFailure> {
        let loaded = self.load_text(session)?;
        serde_json::from_str(&loaded).map_err(|error| {
            ToolFailure::new(FailureKind::Code, format!("the module's description cannot be read: {error}"))
        })
    }

    fn load_text(&self, session: &Session<'_, '_>) -> Result<String, ToolFailure> {
        let (ctx, calls) = (&session.ctx, ModuleCalls(self.limits));
        let program = self.programs.get(&self.entry);
        let code = program
            .map(|program| program.code.clone())
            .ok_or_else(|| ToolFailure::new(FailureKind::Code, format!("there is no file {}", self.entry)))?;
        let module = Module::declare(ctx.clone(), &*self.entry, code).and_then(Module::eval);
        let (module, evaluated) = module.map_err(|_| calls.thrown(session))?;
        calls.settled(session, &evaluated)?;
        let exported: Value<'_> = module.get("default").map_err(|_| {
            drop(ctx.catch());
            ToolFailure::new(FailureKind::Code, "the file has no default export")
        })?;
        let context =
            session.world.get::<_, Function<'_>>("moduleContext").and_then(|make| make.call((&*self.agent_dir,)));
        let context: Value<'_> = context.map_err(|_| calls.thrown(session))?;
        let value = calls.begin(session, "load", (exported, context))?;
        let value = match value.try_into_promise() {
            Ok(promise) => calls.settled(session, &promise)?,
            Err(value) => value,
        };
        Ok(calls.text(value))
    }
}
