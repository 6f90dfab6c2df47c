//! The vendors, one small file each. A new one is a file and a line here.
//!
//! What they have in common is in [`vendor`], and which of their models reason in `reasoning_models`.

pub mod anthropic;
pub mod gemini;
pub mod ollama;
pub mod openai;
pub(super) mod reasoning_models;
pub mod vendor;

pub use anthropic::ANTHROPIC;
pub use gemini::GEMINI;
pub use ollama::OLLAMA;
pub use openai::OPENAI;
use vendor::Vendor;

/// Every vendor.
pub const VENDORS: [&Vendor; 4] = [&GEMINI, &OPENAI, &ANTHROPIC, &OLLAMA];

/// Returns the vendor with this name.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.into_iter().find(|vendor| vendor.name == name)
}
