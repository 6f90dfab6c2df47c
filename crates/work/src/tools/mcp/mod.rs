//! The tools of MCP servers, as agents have them: named (`names`), described and planned (`offered`), registered while
//! their servers are there (`registering`), and called (`executor`).

mod executor;
mod names;
mod offered;
mod registering;

pub use offered::SERVERS;

pub(super) use executor::carry_out;
pub(super) use registering::register;
