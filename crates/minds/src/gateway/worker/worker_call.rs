//! The kinds of external calls that the worker makes for agents (programs and web requests): how one starts, its
//! outcome without a worker, and its messages.

use super::messages::GatewayCommand;
use crate::base::Id;
use crate::gateway::outside_traffic::{OutsideTraffic, Reported};
use crate::gateway::programs::{ProgramCommand, ProgramEnded};
use crate::gateway::web::{WebAnswered, WebCommand};

/// A command for one kind of call.
pub trait WorkerCall: Clone + Send + Sync + 'static {
    /// The result of a call.
    type Answer: Send + Sync + 'static;

    /// Returns the id of the call that this command starts; `None` if it stops one.
    fn begins(&self) -> Option<&Id>;

    /// Returns the result if there is no worker, with the reason; `None` if it stops a call, because stopping a call
    /// has no answer of its own.
    fn refused(self, why: &str) -> Option<Self::Answer>;
}

/// A kind of call that the bridge supports.
pub(in crate::gateway) trait BridgedCall: WorkerCall<Answer: Reported> {
    fn command(self) -> GatewayCommand;
    fn traffic(all: &mut CallTraffic) -> &mut OutsideTraffic<Self::Answer>;
}

/// The calls of every kind without a result, and the results that were not admitted yet.
#[derive(Default)]
pub(in crate::gateway) struct CallTraffic {
    programs: OutsideTraffic<ProgramEnded>,
    web: OutsideTraffic<WebAnswered>,
}

impl CallTraffic {
    /// Records that the worker has ended, and with it every running call.
    pub(in crate::gateway) fn lost(&mut self) {
        self.programs.lost();
        self.web.lost();
    }

    /// Whether any result is still to come.
    pub(in crate::gateway) fn has_pending(&self) -> bool {
        self.programs.has_pending() || self.web.has_pending()
    }

    /// Whether every result was admitted.
    pub(in crate::gateway) fn is_quiet(&self) -> bool {
        self.programs.is_quiet() && self.web.is_quiet()
    }
}

impl WorkerCall for ProgramCommand {
    type Answer = ProgramEnded;

    fn begins(&self) -> Option<&Id> {
        match self {
            Self::Run(order) => Some(&order.id),
            Self::Stop { .. } => None,
        }
    }

    fn refused(self, why: &str) -> Option<ProgramEnded> {
        self.begins().cloned().map(|id| ProgramEnded::not_started(id, why.to_owned()))
    }
}

impl BridgedCall for ProgramCommand {
    fn command(self) -> GatewayCommand {
        GatewayCommand::Program(self)
    }

    fn traffic(all: &mut CallTraffic) -> &mut OutsideTraffic<ProgramEnded> {
        &mut all.programs
    }
}

impl WorkerCall for WebCommand {
    type Answer = WebAnswered;

    fn begins(&self) -> Option<&Id> {
        match self {
            Self::Ask(question) => Some(&question.id),
            Self::Stop { .. } => None,
        }
    }

    fn refused(self, why: &str) -> Option<WebAnswered> {
        self.begins().cloned().map(|id| WebAnswered { id, result: Err(why.to_owned()) })
    }
}

impl BridgedCall for WebCommand {
    fn command(self) -> GatewayCommand {
        GatewayCommand::Web(self)
    }

    fn traffic(all: &mut CallTraffic) -> &mut OutsideTraffic<WebAnswered> {
        &mut all.web
    }
}
