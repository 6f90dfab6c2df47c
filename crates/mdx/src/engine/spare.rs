//! A spare runtime, created ahead of the next call, because creating one takes longer than most calls. Each is used for
//! one call and then dropped.

use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::call::{Finish, RunningCall, ToolCall, failed, start_on_thread};
use super::event_loop::{Beginning, Link, Machine, Session};
use super::imports::Imports;
use super::limits::EngineLimits;
use super::outcome::{FailureKind, ToolFailure};

/// The number of spare runtimes, each for calls with other limits.
const SPARES_KEPT: usize = 2;

static SPARES: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

/// A thread with a runtime that waits for its call.
struct Spare {
    limits: EngineLimits,
    call: Sender<ToolCall>,
    running: RunningCall,
}

impl ToolCall {
    /// Starts the call on a thread of its own, in a spare runtime if there is one, and creates the next one.
    pub fn start(self) -> RunningCall {
        run(self)
    }
}

fn run(call: ToolCall) -> RunningCall {
    let limits = call.limits;
    let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
    let ready = spares.iter().position(|spare| spare.limits == limits && !spare.running.has_failed_to_start());
    let spare = ready.map_or_else(|| Spare::make(limits), |at| spares.remove(at));
    spares.retain(|spare| spare.limits != limits);
    spares.truncate(SPARES_KEPT - 1);
    let running = spare.begin(call);
    spares.push(Spare::make(limits));
    running
}

impl Spare {
    fn make(limits: EngineLimits) -> Self {
        let (call, next) = bounded(1);
        let run = move |link: Link, finish: Finish| run_next(limits, link, &next, finish);
        Self { limits, call, running: start_on_thread(limits, limits.stack_bytes, run) }
    }

    fn begin(self, call: ToolCall) -> RunningCall {
        // If this fails, the runtime could not start, and has already reported that.
        let _ = self.call.send(call);
        self.running
    }
}

fn run_next(limits: EngineLimits, link: Link, next: &Receiver<ToolCall>, finish: Finish) {
    let beginning = Beginning { limits, seed: 0, now_unix_ms: 0 };
    let machine = match Machine::new(beginning, link, Imports::default()) {
        Ok(machine) => machine,
        Err(error) => return finish.with(failed(ToolFailure::new(FailureKind::Engine, error.to_string()))),
    };
    machine.context.with(|ctx| {
        let session = Session::new(&ctx, &machine);
        if let Ok(session) = &session {
            session.read_ahead();
        }
        // The sender is dropped without a call when the process ends.
        let Ok(call) = next.recv() else { return };
        let outcome = call.run(&machine, &ctx, session);
        // The runtime's memory is freed after the caller has the result.
        finish.with(outcome);
    });
}
