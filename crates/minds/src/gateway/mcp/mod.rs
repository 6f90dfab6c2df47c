//! MCP servers, whose tools agents use: starts or connects to them, calls them, and ends them.
//!
//! In reading order: the timeouts ([`settings`]), what a server offers ([`offer`]) and the result of a call
//! ([`answer`]), failures ([`failure`]), a server's questions to a person ([`elicitation`]) or a model ([`sampling`])
//! during a call, messages between the world and the pool ([`messages`]); then the removal of secrets
//! (`redacted_transport`), one connection (`connection`), how often changed lists are read again (`pace`), all
//! connections (`pool`), and a client for use without a room (`client`). The permissions and processes of servers are
//! in [`peers`](super::peers), and the world's side is in [`servers`](crate::gateway::services::servers).
//!
//! Nothing from a server is trusted: its texts are cut and treated as data, its messages are bounded, its time is
//! limited, and everything that it started ends with it.

pub mod answer;
mod client;
pub mod configured_servers;
mod connection;
pub mod elicitation;
mod event_stream;
pub mod failure;
mod handler;
mod literal_secrets;
pub mod messages;
pub mod offer;
mod pace;
mod pool;
mod redacted_transport;
pub mod sampling;
mod session_transport;
pub mod settings;
mod sse;
#[cfg(test)]
mod test_transport;

pub use answer::McpAnswer;
pub(super) use answer::is_kept;
pub use client::McpClient;
pub use elicitation::{FieldKind, FormField, McpElicitation, McpReply};
pub use failure::{McpFailure, McpFault};
pub use messages::{McpCommand, McpEvent, McpRequest, McpStatus};
pub use offer::{McpHints, McpListed, McpOffer, McpTool};
pub use pool::{EmitEvent, Pool};
pub use sampling::{McpSampled, McpSampling, SampledMessage};
pub use settings::{McpServersWritten, McpSettings, McpTerms};
