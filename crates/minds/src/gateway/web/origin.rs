//! The part of a URL that decides which server is contacted, and whether that server is local. Pure.

use std::net::IpAddr;

/// Returns a URL without user name, password, query and fragment.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// The scheme, host and port of a URL: the unit to which a key is granted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Parses a URL like a browser; `None` if it is not the URL of a server.
    pub fn of(url: &str) -> Option<Self> {
        let url = reqwest::Url::parse(url.trim()).ok()?;
        let scheme = url.scheme().to_owned();
        if !matches!(scheme.as_str(), "http" | "https") {
            return None;
        }
        let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        Some(Self { scheme, host, port: url.port_or_known_default()? })
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.scheme == "https"
    }

    /// Whether the host is this computer.
    pub fn is_loopback(&self) -> bool {
        let is_named = self.host == "localhost" || self.host.ends_with(".localhost");
        is_named || self.host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// Whether the host is this computer or one on the same network, judging by its address.
    pub fn is_local(&self) -> bool {
        const LOCAL_NAMES: [&str; 4] = [".local", ".lan", ".internal", ".home.arpa"];
        if self.is_loopback() {
            return true;
        }
        match self.host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
            // A name without a dot belongs to the local network.
            Err(_) => !self.host.contains('.') || LOCAL_NAMES.iter().any(|name| self.host.ends_with(name)),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (scheme, port) = (&self.scheme, self.port);
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (scheme.as_str(), port) {
            ("https", 443) | ("http", 80) => write!(f, "{scheme}://{host}"),
            _ => write!(f, "{scheme}://{host}:{port}"),
        }
    }
}

/// Whether a URL points to this computer, which is reached without a proxy.
pub fn is_loopback(url: &str) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_loopback())
}

/// Whether a URL points to this computer or its network.
pub fn is_local(url: &str) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_recognised_in_every_form() {
        let near = ["http://127.0.0.1:80/v1", "http://localhost/", "http://[::1]:9/", "http://u@127.0.0.9"];
        for url in near {
            assert!(is_loopback(url) && is_local(url), "{url}");
        }
        let private = ["http://10.1.2.3/", "http://172.20.0.1/", "http://192.168.0.5:8000/v1", "http://[fd00::1]/"];
        let named = ["http://gpu-box:8000/v1", "http://studio.local/", "http://169.254.1.1/", "http://[fe80::1]/"];
        for url in private.into_iter().chain(named) {
            assert!(!is_loopback(url) && is_local(url), "{url}");
        }
        for url in ["http://localhost.example/", "https://api.openai.com/v1/", "http://127.0.0.1.example/", "?"] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn passwords_in_addresses_are_never_shown() {
        let table = [
            ("http://user:pass@host:8/v1/", "http://host:8/v1/"),
            ("https://h/v1/?key=secret", "https://h/v1/"),
            ("https://h/v1/", "https://h/v1/"),
            ("user:pass@host/x", "host/x"),
        ];
        for (url, wanted) in table {
            assert_eq!(shown(url), wanted);
        }
    }
}
