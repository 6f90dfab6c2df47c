//! OpenAI and compatible servers: OpenRouter, vLLM, llama.cpp, LM Studio, Copilot.

use super::vendor::{Vendor, WireFormat};

/// OpenAI, or a server with its protocol: set its base URL.
pub const OPENAI: Vendor = Vendor {
    name: "openai",
    wire: WireFormat::OpenAi,
    key_name: Some("OPENAI_API_KEY"),
    base_url_name: "OPENAI_BASE_URL",
    base_url: "https://api.openai.com/v1/",
    path: "v1/",
    model: "gpt-4o-mini",
};
