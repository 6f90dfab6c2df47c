//! The tools of MCP servers, as agents have them: named (`names`), described and planned (`declarations`), registered
//! while their servers are there (`registration`), and called (`executor`).

mod declarations;
mod executor;
mod names;
mod registration;

pub use declarations::SERVERS;

pub(super) use executor::carry_out;
pub(super) use registration::register;
