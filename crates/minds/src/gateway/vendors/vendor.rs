//! A vendor: its address, its key and its wire format.

/// The wire format of a vendor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WireFormat {
    /// Google's `streamGenerateContent`.
    Gemini,
    /// `chat/completions`, as used by OpenAI and compatible servers.
    OpenAi,
    /// Anthropic's `messages`.
    Anthropic,
    /// Ollama's `api/chat`.
    Ollama,
}

impl WireFormat {
    /// Returns its name in saved data.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }
}

/// One vendor.
#[derive(Clone, Copy, Debug)]
pub struct Vendor {
    /// The name in settings and on the command line.
    pub name: &'static str,
    /// The wire format.
    pub wire: WireFormat,
    /// The environment variable for its key; `None` if it needs none.
    pub key_name: Option<&'static str>,
    /// The environment variable for its address.
    pub base_url_name: &'static str,
    /// The default base URL.
    pub base_url: &'static str,
    /// The path that is appended to a base URL without one.
    pub path: &'static str,
    /// The default model.
    pub model: &'static str,
}

impl Vendor {
    /// Returns a base URL with the vendor's path if it has none. Ends in `/`.
    pub fn complete_url(&self, url: &str) -> String {
        let mut url = url.trim_end_matches('/').to_owned();
        url.push('/');
        let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.find('/') != Some(rest.len() - 1));
        if !has_path {
            url.push_str(self.path);
        }
        url
    }

    /// Whether this server requires a key; local servers often do not.
    pub fn needs_key(&self, base_url: &str) -> bool {
        self.key_name.is_some() && base_url.starts_with(self.base_url)
    }
}

#[cfg(test)]
mod tests {
    use crate::gateway::vendors::{ANTHROPIC, OLLAMA, OPENAI};

    #[test]
    fn a_base_url_without_a_path_gets_the_default_one() {
        let table = [
            (&ANTHROPIC, "http://127.0.0.1:1", "http://127.0.0.1:1/v1/"),
            (&ANTHROPIC, "http://127.0.0.1:1/other/", "http://127.0.0.1:1/other/"),
            (&OPENAI, "http://h:8/v1", "http://h:8/v1/"),
            (&OPENAI, OPENAI.base_url, "https://api.openai.com/v1/"),
            (&OLLAMA, OLLAMA.base_url, "http://localhost:11434/"),
        ];
        for (vendor, url, wanted) in table {
            assert_eq!(vendor.complete_url(url), wanted);
        }
    }

    #[test]
    fn keys_are_only_required_at_the_vendors_own_address() {
        assert!(OPENAI.needs_key("https://api.openai.com/v1/"));
        assert!(!OPENAI.needs_key("http://127.0.0.1:8080/v1/"));
        assert!(!OLLAMA.needs_key(OLLAMA.base_url));
    }
}
