//! Runs the code of tools: TypeScript without its types, in a JavaScript engine of its own for every call.
//!
//! A call has a thread, a memory, a stack and a time of its own, and nothing of the outside but what it asks of
//! whoever started it: addresses and files are [`HostRequest`]s, which are judged, answered and recorded there. A
//! call never waits on the caller's thread: [`RunningCall::poll`] tells what is new.
//!
//! ```text
//!   ToolDefinition ── strip ──► Program ── start ──► thread ── HostCall ──► whoever started it
//!                                                       ▲ └──── ToolOutcome ──►│
//!                                                       └───── HostAnswer ─────┘
//! ```
//!
//! The engine looks at its clock while it interprets code. What its own functions do in one go it cannot look into:
//! those that could go on for ever are guarded (`prelude/guards.js`). The others end within seconds; a call that is not
//! back in time because of one is given up, so that whoever waits is told.

mod cache;
mod call;
mod check;
mod clock;
mod event_loop;
mod external;
mod failure;
mod globals;
mod halt;
mod host;
mod imports;
mod limits;
mod module_runtime;
mod outcome;
mod random;
mod spare;
mod strip;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

pub use cache::ProgramCache;
pub use call::{CallEvent, RunningCall, ToolCall, ToolCode};
pub use check::{check_tool, unreadable};
pub use external::{ExternalRuntime, RUNNER_FILE};
pub use host::{HostAnswer, HostCall, HostRequest};
pub use limits::EngineLimits;
pub use module_runtime::{ModuleCommand, ModuleDescription, ModuleFiles, ModuleMessage, ModuleTool, RunningModule};
pub use outcome::{FailureKind, LogLine, ToolFailure, ToolOutcome};
pub use strip::{Program, StripError, strip};
