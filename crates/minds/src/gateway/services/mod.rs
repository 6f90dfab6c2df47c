//! What the room knows of everything outside besides models, and asks of it: MCP servers ([`servers`],
//! `server_connections`, `server_pool`, [`server_status_text`]), Slack (`slack_systems`), programs, web requests and requests to Slack (`external_calls`), the person's file about
//! the workspace (`trust_following`), and guarded files that were put back (`attribute_notices`).

pub(super) mod attribute_notices;
pub(super) mod external_calls;
pub(super) mod server_connections;
pub(super) mod server_pool;
pub mod server_status_text;
pub mod servers;
pub(super) mod slack_systems;
pub(super) mod trust_following;
