//! The address of a provider, who set it, and whether the person's key may be sent there. Pure.
//!
//! A key is only sent to its vendor's own host, or to an address that the person set (in the environment or the config
//! folder) or allowed for this workspace; never without TLS beyond this computer. An address that is only set by the
//! workspace is used without a key on this computer, and not at all elsewhere.

use serde::{Deserialize, Serialize};

use crate::gateway::keys::Environment;
use crate::gateway::vendors::vendor::Vendor;
use crate::gateway::web::origin::{Origin, shown};

/// The source of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressSource {
    /// The vendor's default.
    Vendor,
    /// The person: an environment variable, or the config folder.
    Person,
    /// The settings of the workspace or of its scene.
    Workspace,
}

/// The address of a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// The base URL; ends in `/`.
    pub url: String,
    /// The source of the address.
    pub by: AddressSource,
}

/// The owner of the server at an address, for pricing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerOwner {
    /// The vendor.
    Vendor,
    /// This computer, or its network.
    Local,
    /// A third party.
    Elsewhere,
}

impl ServerOwner {
    /// Returns the owner of the server at this base URL.
    pub fn of(vendor: &Vendor, url: &str) -> Self {
        match Origin::of(url) {
            Some(origin) if origin.is_local() => Self::Local,
            Some(origin) if Origin::of(vendor.base_url).is_some_and(|own| own == origin) => Self::Vendor,
            _ => Self::Elsewhere,
        }
    }
}

/// The kind of requests that may be sent to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// Requests with the person's key.
    WithKey,
    /// Requests without a key.
    WithoutKey,
    /// No requests: a person must allow the address first.
    Refused,
}

impl Address {
    /// Returns the address of a vendor: as set by the person, else by the workspace, else the vendor's default.
    pub fn of(vendor: &Vendor, of_workspace: Option<&str>, environment: &Environment) -> Self {
        let of_person = environment.address_of_person(vendor);
        let of_workspace = of_workspace.map(str::trim).filter(|url| !url.is_empty());
        let (url, by) = match (of_person, of_workspace) {
            (Some(url), _) => (url, AddressSource::Person),
            (None, Some(url)) => (url, AddressSource::Workspace),
            (None, None) => (vendor.base_url, AddressSource::Vendor),
        };
        Self { url: vendor.complete_url(url), by }
    }

    /// Returns the kind of requests that may be sent to the address.
    pub fn permission(&self, vendor: &Vendor, environment: &Environment) -> Permission {
        let Some(origin) = Origin::of(&self.url) else { return Permission::Refused };
        let is_vendors = Origin::of(vendor.base_url).is_some_and(|own| own == origin);
        let is_trusted = self.by != AddressSource::Workspace || is_vendors || environment.is_allowed(&origin);
        if !is_trusted {
            // A key is never sent to an address that only the workspace sets.
            rule!("a-workspace-sends-no-key");
            return if origin.is_loopback() { Permission::WithoutKey } else { Permission::Refused };
        }
        if !origin.is_encrypted() && !origin.is_loopback() {
            // A key is never sent without encryption outside this computer.
            rule!("keys-are-sent-encrypted");
            return Permission::WithoutKey;
        }
        Permission::WithKey
    }

    /// Returns the base URL without parts that may be secret.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::vendors::{OPENAI, VENDORS};

    fn permission(of_workspace: Option<&str>, environment: &Environment) -> Permission {
        Address::of(&OPENAI, of_workspace, environment).permission(&OPENAI, environment)
    }

    #[test]
    fn workspace_settings_send_keys_only_to_the_vendor() {
        checks_rule!("a-workspace-sends-no-key");
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
    fn the_persons_address_gets_the_key_but_never_unencrypted() {
        checks_rule!("keys-are-sent-encrypted");
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
            assert!(address.url.starts_with(url) && address.by == AddressSource::Person, "the person's goes first");
        }
    }

    #[test]
    fn every_vendor_is_called_at_its_own_address_with_its_key() {
        for vendor in VENDORS {
            let nobody = Environment::default();
            assert_eq!(Address::of(vendor, None, &nobody).permission(vendor, &nobody), Permission::WithKey);
        }
    }
}
