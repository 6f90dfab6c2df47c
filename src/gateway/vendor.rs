//! The vendors that can be asked: what each needs, in one small file each. A new one is a file and a line here.

use super::anthropic::ANTHROPIC;
use super::gemini::GEMINI;
use super::keys::Environment;
use super::ollama::OLLAMA;
use super::openai::OPENAI;

/// The wire format that a vendor speaks.
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

/// Every vendor.
pub const VENDORS: [&Vendor; 4] = [&GEMINI, &OPENAI, &ANTHROPIC, &OLLAMA];

/// The vendor of this name.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.into_iter().find(|vendor| vendor.name == name)
}

impl Vendor {
    /// Where it is asked: as the settings say, else the environment, else at its own place. Ends in `/`.
    pub fn resolve_base_url(&self, setting: Option<&str>, environment: &Environment) -> String {
        let chosen = setting.map(str::trim).filter(|url| !url.is_empty());
        let url = chosen.or_else(|| environment.var(self.base_url_name)).unwrap_or(self.base_url);
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

/// Whether a URL points at this computer, where no proxy belongs in between.
pub fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_without_a_path_gets_the_usual_one() {
        let nowhere = Environment::default();
        let table = [
            (&ANTHROPIC, Some("http://127.0.0.1:1"), "http://127.0.0.1:1/v1/"),
            (&ANTHROPIC, Some("http://127.0.0.1:1/other/"), "http://127.0.0.1:1/other/"),
            (&OPENAI, Some("http://h:8/v1"), "http://h:8/v1/"),
            (&OPENAI, None, "https://api.openai.com/v1/"),
            (&GEMINI, Some("  "), "https://generativelanguage.googleapis.com/v1beta/"),
            (&OLLAMA, None, "http://localhost:11434/"),
        ];
        for (vendor, setting, wanted) in table {
            assert_eq!(vendor.resolve_base_url(setting, &nowhere), wanted);
        }
        let environment = Environment::new([("OPENAI_BASE_URL", "http://e/v2".into())], None);
        assert_eq!(OPENAI.resolve_base_url(None, &environment), "http://e/v2/");
        assert_eq!(OPENAI.resolve_base_url(Some("http://s/v3"), &environment), "http://s/v3/");
    }

    #[test]
    fn keys_are_needed_only_where_the_vendor_is() {
        assert!(OPENAI.needs_key("https://api.openai.com/v1/"));
        assert!(!OPENAI.needs_key("http://127.0.0.1:8080/v1/"));
        assert!(!OLLAMA.needs_key(OLLAMA.base_url));
    }

    #[test]
    fn loopback_is_known_in_every_form() {
        for url in ["http://127.0.0.1:80/v1", "http://localhost/", "http://[::1]:9/", "http://u@127.0.0.9"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://localhost.example/", "https://api.openai.com/v1/", "http://127.0.0.1.example/"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
