//! The event loop of a module: executes orders while the module's background work continues, and measures the running
//! time of both.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, never, select};
use rquickjs::Promise;
use rquickjs::promise::PromiseState;

use super::clock::Stop;
use super::event_loop::{Incoming, Session};
use super::host::HostAnswer;
use super::limits::{EngineLimits, ORDERS_AT_ONCE};
use super::module_calls::ModuleCalls;
use super::outcome::{FailureKind, ToolFailure};
use super::running_module::{ModuleCommand, ModuleMessage};

/// The order number for background work.
const BACKGROUND: u64 = 0;

/// The maximum time to wait for an event.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The error for a request that is still open when its call ends.
const CALL_IS_OVER: &str = "the call in which this was requested is over; wait for it before the tool returns";

/// Why a module has stopped executing orders.
pub(super) enum Ended {
    /// The receiver of its messages is gone.
    Disconnected,
    /// It exceeded a limit.
    Stopped(ToolFailure),
}

/// An order whose promise is not settled.
struct OpenOrder<'js> {
    number: u64,
    promise: Promise<'js>,
    kind: OrderKind,
    ran: Duration,
    begun: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderKind {
    Start,
    /// Only one of them runs at a time.
    Tool,
    Other,
}

impl OrderKind {
    fn of(command: &ModuleCommand) -> Self {
        match command {
            ModuleCommand::Start => Self::Start,
            ModuleCommand::Tool { .. } => Self::Tool,
            ModuleCommand::SystemPrompt | ModuleCommand::Stop => Self::Other,
        }
    }
}

impl OpenOrder<'_> {
    /// Whether the limits apply to the order as a whole; started background work may continue indefinitely.
    fn is_limited(&self) -> bool {
        self.kind != OrderKind::Start
    }
}

/// A loaded module that executes orders.
pub(super) struct ModuleLoop<'a, 'js> {
    limits: EngineLimits,
    calls: ModuleCalls,
    session: &'a Session<'a, 'js>,
    messages: &'a Sender<ModuleMessage>,
    open: Vec<OpenOrder<'js>>,
    /// Calls that wait for the previous one.
    waiting: VecDeque<(u64, ModuleCommand)>,
    /// Executed orders that were not reported yet.
    done: Vec<(u64, Result<String, ToolFailure>)>,
}

/// What woke a module up.
enum WakeEvent {
    Order(u64, ModuleCommand),
    Answer(u64, HostAnswer),
    Due,
}

impl<'a, 'js> ModuleLoop<'a, 'js> {
    pub(super) fn new(
        limits: EngineLimits,
        session: &'a Session<'a, 'js>,
        messages: &'a Sender<ModuleMessage>,
    ) -> Self {
        let calls = ModuleCalls(limits);
        Self { limits, calls, session, messages, open: Vec::new(), waiting: VecDeque::new(), done: Vec::new() }
    }

    /// Executes orders until there are no more senders, or until it exceeds a limit.
    pub(super) fn serve(&mut self, ordered: &Receiver<(u64, ModuleCommand)>) -> Result<(), Ended> {
        loop {
            match self.wait(ordered)? {
                WakeEvent::Order(number, command) if OrderKind::of(&command) == OrderKind::Tool => {
                    self.waiting.push_back((number, command));
                }
                WakeEvent::Order(number, command) => self.begin(number, command)?,
                WakeEvent::Answer(id, answer) => {
                    let asker = self.session.shared.unanswered.borrow().get(&id).copied().unwrap_or(BACKGROUND);
                    self.wake(asker, |session| session.answer(id, answer))?;
                }
                WakeEvent::Due => {}
            }
            for timer in self.session.due_timers() {
                self.wake(timer.order, |session| session.fire_timer(timer))?;
            }
            self.end_overdue_orders()?;
            while !self.open.iter().any(|order| order.kind == OrderKind::Tool)
                && let Some((number, command)) = self.waiting.pop_front()
            {
                self.begin(number, command)?;
                self.end_overdue_orders()?;
            }
        }
    }

    /// Waits for the next event.
    fn wait(&self, ordered: &Receiver<(u64, ModuleCommand)>) -> Result<WakeEvent, Ended> {
        let timer = self.session.next_timer().map(|timer| timer.due);
        let limits = self.open.iter().filter(|order| order.is_limited()).map(|order| self.waits_until(order));
        let until = limits.chain(timer).min();
        let left = until.map_or(LONGEST_WAIT, |until| until.saturating_duration_since(Instant::now()));
        let none = never();
        let ordered = if self.waiting.len() < ORDERS_AT_ONCE { ordered } else { &none };
        select! {
            recv(ordered) -> order => {
                order.map(|(number, order)| WakeEvent::Order(number, order)).map_err(|_| Ended::Disconnected)
            }
            recv(self.session.incoming) -> came => match came {
                Ok(Incoming::Answer(id, answer)) => Ok(WakeEvent::Answer(id, answer)),
                Ok(Incoming::Cancel) | Err(_) => Err(Ended::Disconnected),
            },
            recv(after(left)) -> _ => Ok(WakeEvent::Due),
        }
    }

    fn waits_until(&self, order: &OpenOrder<'_>) -> Instant {
        order.begun + self.limits.wait + order.ran
    }

    fn begin(&mut self, number: u64, command: ModuleCommand) -> Result<(), Ended> {
        let kind = OrderKind::of(&command);
        let runs_for = if kind == OrderKind::Start { BACKGROUND } else { number };
        self.run(runs_for, Duration::ZERO, |module| {
            let begun = Instant::now();
            let value = module.calls.begin_order(module.session, command).map(|value| value.try_into_promise());
            match value {
                Ok(Ok(promise)) => module.open.push(OpenOrder { number, promise, kind, ran: Duration::ZERO, begun }),
                Ok(Err(value)) => module.done.push((number, Ok(module.calls.text(value)))),
                Err(failure) => module.done.push((number, Err(failure))),
            }
        })
    }

    /// Continues code of this order, or of the background if the order has ended.
    fn wake(&mut self, order: u64, act: impl FnOnce(&'a Session<'a, 'js>)) -> Result<(), Ended> {
        let open = self.open.iter().find(|open| open.number == order && open.is_limited());
        let (order, ran) = open.map_or((BACKGROUND, Duration::ZERO), |open| (order, open.ran));
        self.run(order, ran, |module| act(module.session))
    }

    /// Runs code until it waits, and reports the results.
    fn run(&mut self, order: u64, ran: Duration, act: impl FnOnce(&mut Self)) -> Result<(), Ended> {
        let (session, shared) = (self.session, self.session.shared);
        shared.order.set(order);
        if order == BACKGROUND {
            shared.requests_of.borrow_mut().remove(&BACKGROUND);
        }
        shared.clock.run_on(ran);
        act(self);
        let stop = session.run_ready().err();
        if let Some(open) = self.open.iter_mut().find(|open| open.number == order) {
            open.ran = shared.clock.ran();
        }
        self.close_settled();
        let stop = stop.or_else(|| shared.clock.stopped());
        shared.clock.rest();
        if let Some(stop) = stop {
            self.close(order, Err(ToolFailure::stopped(stop, &self.limits)));
        }
        self.send_log(order)?;
        for (order, result) in std::mem::take(&mut self.done) {
            self.messages.send(ModuleMessage::Done { order, result }).map_err(|_| Ended::Disconnected)?;
        }
        match stop {
            Some(stop) => Err(self.stopped(stop, order)),
            None if shared.is_out_of_memory.get() => {
                let text = "the module was stopped: in the background, it needs more memory than it may use";
                Err(Ended::Stopped(ToolFailure::new(FailureKind::Memory, text)))
            }
            None => Ok(()),
        }
    }

    /// Sends the lines that were logged for this order.
    pub(super) fn send_log(&self, order: u64) -> Result<(), Ended> {
        let lines = self.session.shared.log.borrow_mut().take();
        lines
            .into_iter()
            .try_for_each(|line| self.messages.send(ModuleMessage::Logged { order, line }))
            .map_err(|_| Ended::Disconnected)
    }

    /// Closes the orders whose promises are settled.
    fn close_settled(&mut self) {
        let is_settled = |open: &OpenOrder<'_>| open.promise.state() != PromiseState::Pending;
        let settled: Vec<(u64, Promise<'js>)> =
            self.open.iter().filter(|open| is_settled(open)).map(|open| (open.number, open.promise.clone())).collect();
        for (_, promise) in &settled {
            self.session.take_rejection(promise);
        }
        for (number, promise) in settled {
            let result = self.calls.result(self.session, &promise).map(|value| self.calls.text(value));
            self.close(number, result);
        }
        self.session.log_rejections();
    }

    /// Closes an order, if it is open.
    fn close(&mut self, number: u64, result: Result<String, ToolFailure>) {
        let Some(at) = self.open.iter().position(|open| open.number == number) else { return };
        self.open.remove(at);
        self.done.push((number, result));
        let shared = self.session.shared;
        shared.requests_of.borrow_mut().remove(&number);
        let requested = shared.unanswered.borrow();
        let left: Vec<u64> = requested.iter().filter(|(_, of)| **of == number).map(|(id, _)| *id).collect();
        drop(requested);
        for id in left {
            self.session.answer(id, HostAnswer::Refused { reason: CALL_IS_OVER.to_owned() });
        }
        // If that code is stopped, the caller notices it.
        let _ = self.session.run_ready();
    }

    /// Ends orders that have waited for too long, or that wait for something that cannot happen.
    fn end_overdue_orders(&mut self) -> Result<(), Ended> {
        let now = Instant::now();
        let can_come = self.session.next_timer().is_some() || !self.session.shared.unanswered.borrow().is_empty();
        let stop_of = |open: &OpenOrder<'_>| match () {
            () if !open.is_limited() => None,
            () if !can_come => Some(Stop::NeverSettles),
            () => (self.waits_until(open) <= now).then_some(Stop::WaitLimit),
        };
        let given_up: Vec<(u64, Stop)> =
            self.open.iter().filter_map(|open| Some((open.number, stop_of(open)?))).collect();
        for (number, stop) in given_up {
            let failure = ToolFailure::stopped(stop, &self.limits);
            self.run(BACKGROUND, Duration::ZERO, |module| module.close(number, Err(failure)))?;
        }
        Ok(())
    }

    /// Returns why the module ends because code of this order was stopped.
    fn stopped(&self, stop: Stop, order: u64) -> Ended {
        let place = if order == BACKGROUND { "in the background" } else { "in a call" };
        match stop {
            Stop::Cancelled => Ended::Disconnected,
            Stop::RunLimit | Stop::WaitLimit | Stop::NeverSettles => {
                let text = format!("the module was stopped: {place}, it ran for more than {:?}", self.limits.run);
                Ended::Stopped(ToolFailure::new(FailureKind::RunLimit, text))
            }
        }
    }
}
