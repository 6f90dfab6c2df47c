//! The vendor Google (Gemini).

use super::vendor::{Vendor, WireFormat};

/// Google's Gemini, with a key from its studio.
pub const GEMINI: Vendor = Vendor {
    name: "gemini",
    wire: WireFormat::Gemini,
    key_name: Some("GEMINI_API_KEY"),
    base_url_name: "GEMINI_BASE_URL",
    base_url: "https://generativelanguage.googleapis.com/v1beta/",
    path: "v1beta/",
    model: "gemini-2.5-flash",
};
