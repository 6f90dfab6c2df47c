//! A vendor: its address, its key and its wire format.

/// The wire format of a vendor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wire {
    /// Google's `streamGenerateContent`.
    Gemini,
    /// `chat/completions`, as OpenAI and everyone who imitates it.
    OpenAi,
    /// Anthropic's `messages`.
    Anthropic,
    /// Ollama's `api/chat`.
    Ollama,
}

impl Wire {
    /// Its word, as it is saved.
    pub fn word(self) -> &'static str {
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
    /// Its name in settings and on the command line.
    pub name: &'static str,
    /// What it speaks.
    pub wire: Wire,
    /// The variable that holds its key; none where it wants none.
    pub key_name: Option<&'static str>,
    /// The variable that says where it is asked.
    pub base_url_name: &'static str,
    /// Where it is asked unless someone says otherwise.
    pub base_url: &'static str,
    /// What is put behind a base URL that has no path of its own.
    pub path: &'static str,
    /// The model that is asked unless someone says otherwise.
    pub model: &'static str,
}

impl Vendor {
    /// A base URL with what belongs behind it. Ends in `/`.
    pub fn complete_url(&self, url: &str) -> String {
        let mut url = url.trim_end_matches('/').to_owned();
        url.push('/');
        let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.find('/') != Some(rest.len() - 1));
        if !has_path {
            url.push_str(self.path);
        }
        url
    }

    /// Whether it must have a key there: a server of one's own often has none.
    pub fn needs_key(&self, base_url: &str) -> bool {
        self.key_name.is_some() && base_url.starts_with(self.base_url)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vendors::{ANTHROPIC, OLLAMA, OPENAI};

    #[test]
    fn a_base_url_without_a_path_gets_the_usual_one() {
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
    fn keys_are_needed_only_where_the_vendor_is() {
        assert!(OPENAI.needs_key("https://api.openai.com/v1/"));
        assert!(!OPENAI.needs_key("http://127.0.0.1:8080/v1/"));
        assert!(!OLLAMA.needs_key(OLLAMA.base_url));
    }
}
