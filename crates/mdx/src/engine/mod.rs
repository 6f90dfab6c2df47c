//! Runs the code of tools: TypeScript with its types removed, in a separate JavaScript engine for every call.
//!
//! A call has its own thread, memory, stack and time limit, and can only reach the outside through its caller:
//! addresses and files are [`HostRequest`]s, which the caller checks, answers and records. A call never blocks the
//! caller's thread: [`RunningCall::poll`] returns its events, or a thread of the caller waits for them.
//!
//! ```text
//!   ToolDefinition ── strip ──► Program ── start ──► thread ── HostCall ──► the caller
//!                                                       ▲ └──── ToolOutcome ──►│
//!                                                       └───── HostAnswer ─────┘
//! ```
//!
//! The engine checks its clock while it interprets code, but not inside its built-in functions: those that could run
//! forever are guarded (`prelude/guards.js`), the others end within seconds. A call that does not return in time
//! because of one is abandoned, so that the caller gets an answer.

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
mod links;
mod module_calls;
mod module_orders;
mod module_runtime;
mod outcome;
mod program;
mod random;
mod rejections;
mod running_module;
mod spare;
mod strip;
#[cfg_attr(not(feature = "typescript"), path = "no_typescript.rs")]
mod typescript;

#[cfg(all(test, feature = "typescript"))]
mod hostile_tests;
#[cfg(all(test, feature = "typescript"))]
mod tests;

pub use cache::ProgramCache;
pub use call::{CallEvent, CallHandle, RunningCall, ToolCall, ToolCode};
pub use check::{check_tool, unreadable};
pub use external::{ExternalRuntime, RUNNER_FILE};
pub use host::{HostAnswer, HostCall, HostRequest};
pub use imports::import_candidates;
pub use limits::EngineLimits;
pub use links::FileLinks;
pub use module_runtime::ModuleFiles;
pub use outcome::{CodeOutcome, FailureKind, LogLine, ToolFailure};
pub use program::{Program, StripError};
pub use running_module::{ModuleCommand, ModuleDescription, ModuleMessage, ModuleTool, RunningModule};
pub use strip::strip;
pub use typescript::links_of;
