//! Descriptions of an MCP server in lists, shared by the window and the command line. Pure.

use super::servers::McpServerStatus;
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::mcp::{McpHints, McpOffer};
use crate::gateway::peers::Consent;

/// Describes where a server is configured and its owner: `agents/ada.md, of ada`.
pub fn place(written: &ConfiguredServer) -> String {
    let of = written.server.of.as_ref().map(|agent| format!(", of {agent}")).unwrap_or_default();
    format!("{}{of}", written.place)
}

/// Describes the person's decision about a server.
pub fn consent(consent: Consent) -> &'static str {
    match consent {
        Consent::Given => "allowed",
        Consent::None => "not allowed yet",
        Consent::OfAnother => "changed since you allowed it",
    }
}

/// Returns the person's decision as a word for data.
pub fn consent_word(consent: Consent) -> &'static str {
    match consent {
        Consent::Given => "yes",
        Consent::None => "no",
        Consent::OfAnother => "changed",
    }
}

/// Describes the status of a server in one or two words.
pub fn status(standing: &McpServerStatus) -> &'static str {
    match standing {
        McpServerStatus::Off => "Off",
        McpServerStatus::Connecting => "Connecting",
        McpServerStatus::Ready(_) => "Ready",
        McpServerStatus::Failed(_) => "Failed",
    }
}

/// Summarises the offer of a server: `everything 1.0, 13 tools, 7 resources, 2 resource templates, 4 prompts`.
pub fn offer(offer: &McpOffer) -> String {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let others = [
        (offer.resources.len(), "resource"),
        (offer.templates.len(), "resource template"),
        (offer.prompts.len(), "prompt"),
    ];
    let name = Some(offer.server.clone()).filter(|name| !name.is_empty());
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
    let all = name.into_iter().chain([counted(offer.tools.len(), "tool")]).chain(others);
    all.collect::<Vec<_>>().join(", ")
}

/// Describes a server's hints about a tool; empty for the default, which is the worst case.
pub fn hints(hints: McpHints) -> &'static str {
    match hints {
        McpHints { read_only: true, .. } => "read-only, according to the server",
        McpHints { destructive: true, .. } => "",
        _ => "not destructive, according to the server",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::mcp::{McpListed, McpTool};

    #[test]
    fn an_offer_is_summarised_by_its_counts() {
        let tool = McpTool {
            name: "add".into(),
            description: String::new(),
            parameters: serde_json::json!({}),
            hints: McpHints::default(),
        };
        let named = McpOffer { server: "sums 1".into(), tools: vec![tool], ..McpOffer::default() };
        assert_eq!(offer(&named), "sums 1, 1 tool");
        let templates = vec![McpListed::default(), McpListed::default()];
        let more = McpOffer { templates, prompts: vec![McpListed::default()], ..named };
        assert_eq!(offer(&more), "sums 1, 1 tool, 2 resource templates, 1 prompt");
        assert_eq!(offer(&McpOffer::default()), "0 tools");
    }
}
