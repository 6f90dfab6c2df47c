//! The owner's handle to a running module: sends orders and receives messages, without blocking.

use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::clock::Pulse;
use super::event_loop::Incoming;
use super::host::{HostAnswer, HostCall};
use super::limits::{EngineLimits, GRACE};
use super::outcome::{FailureKind, LogLine, ToolFailure};

/// A command to a module.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleCommand {
    /// Return the text that it adds to the prompt.
    SystemPrompt,
    /// Start its background work. The order completes when that ends, which may be never.
    Start,
    /// End the module.
    Stop,
    /// Call one of its tools.
    Tool {
        /// The name of the tool.
        name: String,
        /// The arguments.
        arguments: Map<String, Json>,
    },
}

/// A module's description of itself after it was loaded and initialized.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ModuleDescription {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The tools.
    pub tools: Vec<ModuleTool>,
}

/// A tool of a module.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ModuleTool {
    /// The name for the model.
    pub name: String,
    /// The description.
    pub description: String,
    /// The JSON schema of the arguments.
    pub parameters: Json,
}

/// A message of a module.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleMessage {
    /// It is loaded and initialized, or that failed. This is the first message.
    Loaded(Result<ModuleDescription, ToolFailure>),
    /// An order was executed, or failed.
    Done {
        /// The number of the order.
        order: u64,
        /// The result.
        result: Result<String, ToolFailure>,
    },
    /// It sends a request and waits for the answer.
    Asks(HostCall),
    /// It logged a line.
    Logged {
        /// The number of the order during which it was logged; 0 for the background.
        order: u64,
        /// The line.
        line: LogLine,
    },
    /// It ended after it was loaded, because it exceeded a limit. No further message follows.
    Ended(ToolFailure),
}

/// A running module. Dropping it ends it.
#[derive(Debug)]
pub struct RunningModule {
    pub(super) orders: Sender<(u64, ModuleCommand)>,
    pub(super) answers: Sender<Incoming>,
    pub(super) requests: Receiver<HostCall>,
    pub(super) messages: Receiver<ModuleMessage>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) limits: EngineLimits,
    state: State,
}

/// What was reported to the owner.
#[derive(Debug)]
struct State {
    ordered: u64,
    /// The numbers of the orders without a result.
    open: Vec<u64>,
    is_loading: bool,
    /// Why it has ended, until that is reported.
    ended: Option<ToolFailure>,
    is_gone: bool,
}

/// The owner's ends of a module's channels.
pub(super) struct Ends {
    pub(super) orders: Sender<(u64, ModuleCommand)>,
    pub(super) answers: Sender<Incoming>,
    pub(super) requests: Receiver<HostCall>,
    pub(super) messages: Receiver<ModuleMessage>,
}

impl RunningModule {
    pub(super) fn new(ends: Ends, pulse: Arc<Pulse>, limits: EngineLimits) -> Self {
        let Ends { orders, answers, requests, messages } = ends;
        let state = State { ordered: 0, open: Vec::new(), is_loading: true, ended: None, is_gone: false };
        Self { orders, answers, requests, messages, pulse, limits, state }
    }

    /// Sends an order, and returns its number. `None` if too many orders are waiting, or if the module has ended, which
    /// [`Self::poll`] reports.
    pub fn order(&mut self, order: ModuleCommand) -> Option<u64> {
        let number = self.state.ordered + 1;
        self.orders.try_send((number, order)).ok()?;
        self.state.ordered = number;
        self.state.open.push(number);
        Some(number)
    }

    /// Answers a request.
    pub fn answer(&self, id: u64, answer: HostAnswer) {
        // The capacity suffices for every request that may be open.
        let _ = self.answers.try_send(Incoming::Answer(id, answer));
    }

    /// Returns the next message of the module, without waiting. If a module has ended, every open order gets an error,
    /// and the last message says why it ended.
    pub fn poll(&mut self) -> Option<ModuleMessage> {
        if self.state.is_gone {
            return self.next_final_message();
        }
        if let Ok(asked) = self.requests.try_recv() {
            return Some(ModuleMessage::Asks(asked));
        }
        match self.messages.try_recv() {
            Ok(ModuleMessage::Ended(failure)) => self.end(failure),
            Ok(message) => {
                self.note(&message);
                Some(message)
            }
            Err(TryRecvError::Disconnected) => self.end(ToolFailure::new(FailureKind::Engine, "the module has ended")),
            Err(TryRecvError::Empty) => {
                let is_overdue = self.pulse.due().is_some_and(|due| Instant::now() > due + GRACE);
                if !is_overdue {
                    return None;
                }
                let text = format!("the module did not stop after {:?} and was abandoned", self.limits.run);
                self.end(ToolFailure::new(FailureKind::GivenUp, text))
            }
        }
    }

    fn note(&mut self, message: &ModuleMessage) {
        match message {
            ModuleMessage::Loaded(result) => {
                self.state.is_loading = false;
                self.state.is_gone |= result.is_err();
            }
            ModuleMessage::Done { order, .. } => self.state.open.retain(|open| open != order),
            ModuleMessage::Asks(_) | ModuleMessage::Logged { .. } | ModuleMessage::Ended(_) => {}
        }
    }

    /// Records that the module has ended: its further messages are ignored.
    fn end(&mut self, why: ToolFailure) -> Option<ModuleMessage> {
        self.pulse.cancel();
        self.state.is_gone = true;
        self.state.ended = Some(why);
        self.next_final_message()
    }

    /// Answers the open orders, one at a time, and then reports the end.
    fn next_final_message(&mut self) -> Option<ModuleMessage> {
        let state = &mut self.state;
        if std::mem::take(&mut state.is_loading) {
            return state.ended.take().map(|failure| ModuleMessage::Loaded(Err(failure)));
        }
        let failure = state.ended.clone()?;
        if state.open.is_empty() {
            return state.ended.take().map(ModuleMessage::Ended);
        }
        Some(ModuleMessage::Done { order: state.open.remove(0), result: Err(failure) })
    }
}

impl Drop for RunningModule {
    fn drop(&mut self) {
        self.pulse.cancel();
        let _ = self.answers.try_send(Incoming::Cancel);
    }
}
