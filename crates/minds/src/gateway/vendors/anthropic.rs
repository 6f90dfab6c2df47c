//! The vendor Anthropic (Claude).

use super::vendor::{Vendor, WireFormat};

/// Anthropic's Claude.
pub const ANTHROPIC: Vendor = Vendor {
    name: "anthropic",
    wire: WireFormat::Anthropic,
    key_name: Some("ANTHROPIC_API_KEY"),
    base_url_name: "ANTHROPIC_BASE_URL",
    base_url: "https://api.anthropic.com/v1/",
    path: "v1/",
    model: "claude-haiku-4-5",
};
