//! Providers of models: the interface ([`provider`]), the addresses and keys with which they are called ([`address`]),
//! the two implementations ([`genai_client`] for vendors, [`scripted`] for scripts), and how long to wait after a
//! failure ([`retry`], `cooldowns`).
//!
//! Nothing that a server sends is trusted: tool calls are assembled within limits ([`tool_call_assembly`]), and what is
//! sent back to it is made valid first (`vendor_history`).

pub mod address;
pub(super) mod cooldowns;
pub mod genai_client;
pub mod provider;
pub mod retry;
pub mod scripted;
pub mod tool_call_assembly;
mod vendor_history;
