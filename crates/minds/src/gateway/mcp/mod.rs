//! MCP servers, whose tools agents use: started or reached, asked, and ended.
//!
//! In reading order: how patient one is ([`settings`]), what a server offers ([`offer`]) and what a call comes to
//! ([`answer`]), why something does not work ([`failure`]), what the world and the pool tell each other ([`messages`]);
//! then what a person allowed (`consent`), the process of a server (`process`), one connection (`connection`) and all of
//! them (`pool`), and the same without a room (`client`). The world's side is [`servers`](super::servers).
//!
//! Nothing of a server's is believed: its words are cut and are data, its messages are bounded, its time is limited, and
//! what it started ends with it.

pub mod answer;
mod client;
mod connection;
pub(super) mod consent;
mod event_stream;
pub mod failure;
mod handler;
pub(super) mod limited;
mod literal_secrets;
pub mod messages;
pub mod offer;
mod own_files;
mod pool;
pub(super) mod process;
pub mod question;
pub mod settings;
mod sse;
mod variables;
pub mod written;

pub use answer::McpAnswer;
pub(super) use answer::is_kept;
pub use client::{McpClient, allow_server, consent_of, forbid_server};
pub use consent::Consent;
pub use failure::{McpFailure, McpFault};
pub use messages::{McpCommand, McpEvent, McpNews, McpRequest};
pub(super) use offer::plain;
pub use offer::{McpHints, McpListed, McpOffer, McpTool};
pub use own_files::named_paths;
pub(super) use pool::{Pool, Says};
pub use question::{FieldKind, FormField, McpQuestion, McpReply};
pub use settings::{McpServersWritten, McpSettings, McpTerms};
