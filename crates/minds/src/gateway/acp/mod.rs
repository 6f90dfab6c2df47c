//! People's own coding agents, over the Agent Client Protocol: started once a person allowed exactly their command
//! lines, kept in as commands are, asked, and ended.
//!
//! Such an agent has tools, a memory of its session and a login of its own. For the room it is a provider like any
//! other, with one difference: its answer to one prompt may take many turns of the room's work. What it wants of the
//! room in the middle of its answer (a file, a permission) comes back as a tool call, so that the gate judges it, a
//! person is asked, the files have its author and the log has all of it; what came of the call goes back to the agent
//! with the next question, and its answer goes on.
//!
//! In reading order: how patient one is ([`settings`]), which agents are known ([`known_agents`]) and which a person
//! can choose ([`available`]), the lines that it speaks (`transport`), the process with its connection (`connection`)
//! and the sessions over it (`session`), what it lets be chosen (`options`), what it tells and asks in a turn (`turn`,
//! `agent_tool_calls`, `requests`), what it has run (`terminals`), which of the room's tools it may call (`room_tools`)
//! and where (`tool_server`), what it is sent (`prompt`), its session for a piece of work (`conversation`), how that
//! begins (`session_setup`), one question to it (`provider`), how an answer ended (`stop_reason`), and all of them
//! (`pool`). What it tells of itself in the log is in [`log_events`], and what it was seen to change by itself in
//! [`agent_file_changes`](super::agent_file_changes).
//!
//! Nothing that it says is believed: its words are cut, its messages are bounded, its time is limited, and what it
//! started ends with it.

mod agent_tool_calls;
mod answer_context;
pub mod available;
mod connection;
mod conversation;
pub mod known_agents;
pub mod log_events;
mod options;
mod pool;
mod prompt;
mod provider;
mod requests;
mod room_tools;
mod session;
mod session_setup;
pub mod settings;
mod stop_reason;
mod terminals;
mod tool_server;
mod transport;
mod turn;

pub use available::{AvailableAgent, available_agents};
pub use known_agents::{KNOWN, KnownAgent, agent_of};
pub(super) use pool::AgentPool;
pub use requests::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};
pub use settings::{AcpSettings, AcpTerms};

/// The provider's name.
pub const PROVIDER: &str = "acp";
