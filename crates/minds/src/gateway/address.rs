//! Where a provider is asked, who said so, and whether the person's key may go there. Pure.
//!
//! A key goes to its vendor's own host, or to an address that the person named (in the environment or in the config
//! folder) or allowed for this workspace; never without TLS beyond this computer. An address that only the workspace
//! names is asked without a key on this computer, and not at all elsewhere.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::keys::Environment;
use super::vendor::Vendor;

/// Who named an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedBy {
    /// It is the vendor's own.
    Vendor,
    /// The person: a variable, or the config folder.
    Person,
    /// The settings of the workspace or of its scene.
    Workspace,
}

/// Where a provider is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// The base URL; ends in `/`.
    pub url: String,
    /// Who named it.
    pub by: NamedBy,
}

/// Whose place an address is, for what is paid there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// The vendor's own.
    Vendor,
    /// This computer, or its network.
    Local,
    /// Somebody else's.
    Elsewhere,
}

impl Site {
    /// Whose place this base URL of a vendor is.
    pub fn of(vendor: &Vendor, url: &str) -> Self {
        match Origin::of(url) {
            Some(origin) if origin.is_local() => Self::Local,
            Some(origin) if Origin::of(vendor.base_url).is_some_and(|own| own == origin) => Self::Vendor,
            _ => Self::Elsewhere,
        }
    }
}

/// What may go to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// Questions, with the person's key.
    WithKey,
    /// Questions, without a key.
    WithoutKey,
    /// Nothing: a person must allow it first.
    Refused,
}

impl Address {
    /// Where a vendor is asked: as the person says, else as the workspace says, else at its own place.
    pub fn of(vendor: &Vendor, of_workspace: Option<&str>, environment: &Environment) -> Self {
        let of_person = environment.address_of_person(vendor);
        let of_workspace = of_workspace.map(str::trim).filter(|url| !url.is_empty());
        let (url, by) = match (of_person, of_workspace) {
            (Some(url), _) => (url, NamedBy::Person),
            (None, Some(url)) => (url, NamedBy::Workspace),
            (None, None) => (vendor.base_url, NamedBy::Vendor),
        };
        Self { url: vendor.complete_url(url), by }
    }

    /// What may go there.
    pub fn permission(&self, vendor: &Vendor, environment: &Environment) -> Permission {
        let Some(origin) = Origin::of(&self.url) else { return Permission::Refused };
        let is_vendors = Origin::of(vendor.base_url).is_some_and(|own| own == origin);
        let is_trusted = self.by != NamedBy::Workspace || is_vendors || environment.is_allowed(&origin);
        if !is_trusted {
            return if origin.is_loopback() { Permission::WithoutKey } else { Permission::Refused };
        }
        if origin.is_encrypted() || origin.is_loopback() { Permission::WithKey } else { Permission::WithoutKey }
    }

    /// The base URL without what may be secret in it.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }
}

/// A URL without the name and the password before its host, and without what follows its path.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// Scheme, host and port of a URL: what a key is given to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// That of a URL, as a browser reads it; `None` where it is no URL of a server.
    pub fn of(url: &str) -> Option<Self> {
        let url = reqwest::Url::parse(url.trim()).ok()?;
        let scheme = url.scheme().to_owned();
        if !matches!(scheme.as_str(), "http" | "https") {
            return None;
        }
        let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        Some(Self { scheme, host, port: url.port_or_known_default()? })
    }

    /// Whether what goes there is encrypted on the way.
    pub fn is_encrypted(&self) -> bool {
        self.scheme == "https"
    }

    /// Whether it is this computer.
    pub fn is_loopback(&self) -> bool {
        let is_named = self.host == "localhost" || self.host.ends_with(".localhost");
        is_named || self.host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// Whether it is this computer or one on the same network, as far as that can be told by its address.
    pub fn is_local(&self) -> bool {
        const LOCAL_NAMES: [&str; 4] = [".local", ".lan", ".internal", ".home.arpa"];
        if self.is_loopback() {
            return true;
        }
        match self.host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
            // A name without a dot is one of the network's own.
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

/// Whether a URL points at this computer, where no proxy belongs in between.
pub fn is_loopback(url: &str) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_loopback())
}

/// Whether a URL points at this computer or its network.
pub fn is_local(url: &str) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_local())
}

#[cfg(test)]
mod tests {
    use super::super::openai::OPENAI;
    use super::super::vendor::VENDORS;
    use super::*;

    fn permission(of_workspace: Option<&str>, environment: &Environment) -> Permission {
        Address::of(&OPENAI, of_workspace, environment).permission(&OPENAI, environment)
    }

    #[test]
    fn a_workspace_alone_sends_no_key_anywhere_but_to_the_vendor() {
        let nobody = Environment::default();
        let table = [
            (None, Permission::WithKey),
            (Some("https://api.openai.com/v1/"), Permission::WithKey),
            (Some("https://API.openai.com:443/other/"), Permission::WithKey),
            (Some("http://api.openai.com/v1/"), Permission::Refused),
            (Some("https://api.openai.com.evil.example/v1/"), Permission::Refused),
            (Some("https://api.openai.com@evil.example/v1/"), Permission::Refused),
            (Some("https://api.openai.com:8443/v1/"), Permission::Refused),
            (Some("https://evil.example/https://api.openai.com/"), Permission::Refused),
            (Some("https:\\\\evil.example\\@api.openai.com/"), Permission::Refused),
            (Some("http://127.0.0.1:8080/v1/"), Permission::WithoutKey),
            (Some("http://localhost:8080"), Permission::WithoutKey),
            (Some("http://[::1]:8080"), Permission::WithoutKey),
            (Some("http://[::ffff:127.0.0.1]:8080"), Permission::WithoutKey),
            (Some("http://127.0.0.1.evil.example/"), Permission::Refused),
            (Some("http://192.168.1.7:8000/v1"), Permission::Refused),
            (Some("file:///etc/passwd"), Permission::Refused),
            (Some("no address at all"), Permission::Refused),
        ];
        for (of_workspace, wanted) in table {
            assert_eq!(permission(of_workspace, &nobody), wanted, "{of_workspace:?}");
        }
    }

    #[test]
    fn what_the_person_names_gets_the_key_but_never_in_the_clear() {
        let table = [
            ("https://router.example/v1", Permission::WithKey),
            ("http://127.0.0.1:8080/v1", Permission::WithKey),
            ("http://router.example/v1", Permission::WithoutKey),
            ("http://192.168.1.7:8000/v1", Permission::WithoutKey),
        ];
        for (url, wanted) in table {
            let person = Environment::new([("OPENAI_BASE_URL", url.into())], None);
            assert_eq!(permission(Some("https://evil.example/"), &person), wanted, "{url}");
            let address = Address::of(&OPENAI, Some("https://evil.example/"), &person);
            assert!(address.url.starts_with(url) && address.by == NamedBy::Person, "the person's goes first");
        }
    }

    #[test]
    fn every_vendor_is_asked_at_its_own_place_with_its_key() {
        for vendor in VENDORS {
            let nobody = Environment::default();
            assert_eq!(Address::of(vendor, None, &nobody).permission(vendor, &nobody), Permission::WithKey);
        }
    }

    #[test]
    fn what_is_near_is_known_in_every_form() {
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
    fn a_password_in_an_address_is_never_shown() {
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
