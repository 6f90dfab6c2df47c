//! The description of an MCP server in lists: one text for the window and the command line. Pure.

use super::mcp::configured_servers::ConfiguredServer;
use super::mcp::{McpHints, McpOffer};
use super::peers::Consent;
use super::servers::McpServerStatus;

/// Where a server is written down, and whose own it is: `agents/ada.md, of ada`.
pub fn place(written: &ConfiguredServer) -> String {
    let of = written.of.as_ref().map(|agent| format!(", of {agent}")).unwrap_or_default();
    format!("{}{of}", written.place)
}

/// What the person said of a server.
pub fn consent(consent: Consent) -> &'static str {
    match consent {
        Consent::Given => "allowed",
        Consent::None => "not allowed yet",
        Consent::OfAnother => "changed since you allowed it",
    }
}

/// The same in data.
pub fn consent_word(consent: Consent) -> &'static str {
    match consent {
        Consent::Given => "yes",
        Consent::None => "no",
        Consent::OfAnother => "changed",
    }
}

/// The status of a server in one or two words.
pub fn standing(standing: &McpServerStatus) -> &'static str {
    match standing {
        McpServerStatus::Off => "Off",
        McpServerStatus::Connecting => "Connecting",
        McpServerStatus::Ready(_) => "Ready",
        McpServerStatus::Failed(_) => "Failed",
    }
}

/// What a server offers, by numbers: `everything 1.0, 13 tools`.
pub fn offer(offer: &McpOffer) -> String {
    let tools = match offer.tools.len() {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    if offer.server.is_empty() { tools } else { format!("{}, {tools}", offer.server) }
}

/// What a server says of a tool beside its description; empty where it says the worst.
pub fn hints(hints: McpHints) -> &'static str {
    match hints {
        McpHints { read_only: true, .. } => "says that it changes nothing",
        McpHints { destructive: true, .. } => "",
        _ => "says that it destroys nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::mcp::McpTool;

    #[test]
    fn an_offer_is_told_by_its_tools() {
        let tool = McpTool {
            name: "add".into(),
            description: String::new(),
            parameters: serde_json::json!({}),
            hints: McpHints::default(),
        };
        let named = McpOffer { server: "sums 1".into(), tools: vec![tool], ..McpOffer::default() };
        assert_eq!(offer(&named), "sums 1, 1 tool");
        assert_eq!(offer(&McpOffer::default()), "0 tools");
    }
}
