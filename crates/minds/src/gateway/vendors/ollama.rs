//! Ollama, on this computer or another.

use super::vendor::{Vendor, WireFormat};

/// Ollama: models on one's own computer.
pub const OLLAMA: Vendor = Vendor {
    name: "ollama",
    wire: WireFormat::Ollama,
    key_name: None,
    base_url_name: "OLLAMA_BASE_URL",
    base_url: "http://localhost:11434/",
    path: "",
    model: "llama3.2",
};
