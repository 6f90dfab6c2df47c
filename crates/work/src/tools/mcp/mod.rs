//! The tools of MCP servers for agents: their names (`names`), declarations and plans (`declarations`), registration
//! while their servers are available (`registration`), and calls (`executor`).

mod declarations;
mod executor;
mod names;
mod registration;

pub use declarations::SERVERS;

pub(super) use executor::ServerCalls;
pub(super) use registration::register;
