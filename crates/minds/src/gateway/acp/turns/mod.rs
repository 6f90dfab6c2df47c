//! The turn of a coding agent: what it reports ([`turn`], `agent_tool_calls`) and requests (`requests`), the programs
//! that the room runs for it (`terminals`), and the room's tools that it may call (`room_tools`), through a server
//! (`tool_server`) and a program that forwards to it ([`mcp_forwarder`]). The context of an answer is in
//! `answer_context`.

pub(super) mod agent_tool_calls;
pub(super) mod answer_context;
pub mod mcp_forwarder;
pub(super) mod requests;
pub(super) mod room_tools;
pub(super) mod terminals;
pub(super) mod tool_server;
pub(super) mod turn;
