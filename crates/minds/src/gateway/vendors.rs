//! The vendors, one small file each. A new one is a file and a line here.

pub use super::anthropic::ANTHROPIC;
pub use super::gemini::GEMINI;
pub use super::ollama::OLLAMA;
pub use super::openai::OPENAI;
use super::vendor::Vendor;

/// Every vendor.
pub const VENDORS: [&Vendor; 4] = [&GEMINI, &OPENAI, &ANTHROPIC, &OLLAMA];

/// Returns the vendor with this name.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.into_iter().find(|vendor| vendor.name == name)
}
