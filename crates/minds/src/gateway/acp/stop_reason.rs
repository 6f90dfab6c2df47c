//! Converts the end of a coding agent's answer and its usage to the room's terms.

use agent_client_protocol::v1::schema::{PromptResponse, StopReason};

use crate::agent::McpServer;
use crate::gateway::providers::provider::{AgentFault, ProviderError};
use crate::mind::{Finish, Usage};

/// Returns how the answer ended; an error for an agent that stopped for an unknown reason.
pub(super) fn finish(response: &PromptResponse, program: &McpServer) -> Result<Finish, ProviderError> {
    let stopped = |what: &str, remedy: &str| {
        let what = format!("{} stopped by itself: {what}", program.shown());
        Err(ProviderError::of_agent(AgentFault::Stopped, what, remedy.to_owned()))
    };
    match response.stop_reason {
        StopReason::EndTurn => Ok(Finish::Stop),
        StopReason::MaxTokens => Ok(Finish::Length),
        StopReason::Refusal => Ok(Finish::Filtered),
        StopReason::MaxTurnRequests => stopped(
            "it reached its own limit of requests in one turn",
            "give the task in smaller parts, or raise its limit",
        ),
        StopReason::Cancelled => stopped("it says that it was cancelled, but not by the room", "give the task again"),
        _ => stopped("it gives an unknown reason", "give the task again"),
    }
}

pub(super) fn usage_of(response: &PromptResponse) -> Usage {
    let tokens = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let Some(usage) = &response.usage else { return Usage::default() };
    let cached = tokens(usage.cached_read_tokens.unwrap_or_default());
    let written = tokens(usage.cached_write_tokens.unwrap_or_default());
    Usage {
        input_tokens: tokens(usage.input_tokens).saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        cache_written_tokens: written,
        output_tokens: tokens(usage.output_tokens),
    }
}

pub(super) fn micro_usd(usd: f64) -> u64 {
    (usd * 1_000_000.0).ceil() as u64
}
