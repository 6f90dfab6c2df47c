//! Third-party coding agents, called over the Agent Client Protocol: each is started once a person allowed exactly its
//! command line, is sandboxed like any command, and is ended when it is no longer needed.
//!
//! Such an agent has its own tools, session memory and login. For the room it is a provider like any other, with one
//! difference: its answer to one prompt may take many turns of the room's work. What it requests from the room during
//! its answer (a file, a permission) becomes a tool call, so that the gate checks it, a person is asked, files have the
//! agent as their author, and everything is logged; the result of the call is sent to the agent with the next request,
//! and its answer continues.
//!
//! In reading order: the timeouts ([`settings`]), the known agents ([`known_agents`]) and those that a person can
//! choose ([`available`]), the lines of the protocol (`transport`), the process with its connection (`connection`) and
//! the sessions over it (`session`), the agent's options (`options`), its turns with all that it reports, requests and
//! calls in them ([`turns`]), its prompts (`prompt`), the session of an activation (`conversation`) and its start
//! (`session_setup`), a single request (`provider`), how an answer ended (`stop_reason`), and all running agents
//! (`pool`). The log events with its reports about itself are in [`log_events`], and changes that it made directly to
//! files in [`agent_file_changes`].
//!
//! Nothing that it sends is trusted: its texts are cut, its messages are bounded, its time is limited, and everything
//! that it started ends with it.

pub mod agent_file_changes;
pub mod available;
mod connection;
mod conversation;
pub mod known_agents;
pub mod log_events;
mod options;
mod pool;
mod prompt;
mod provider;
mod session;
mod session_setup;
pub mod settings;
mod stop_reason;
mod transport;
pub mod turns;

pub use available::{AvailableAgent, available_agents};
pub use known_agents::{KNOWN, KnownAgent, agent_of};
pub(super) use pool::AgentPool;
pub use settings::{AcpSettings, AcpTerms};
pub use turns::requests::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};

/// The provider's name.
pub const PROVIDER: &str = "acp";
