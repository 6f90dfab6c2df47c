//! The start of every HTTP client: which certificate authorities it believes.
//!
//! Those of the system count, because people and companies add and remove some there. A small machine or container may
//! have none at all: a client could then not even be built for a server on the same computer. There, the authorities of
//! Mozilla's browsers count, which are part of the program.

use std::sync::OnceLock;

use reqwest::{Certificate, Client, ClientBuilder};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

/// Returns the builder of a client.
pub(in crate::gateway) fn builder() -> ClientBuilder {
    match has_system_authorities() {
        true => Client::builder(),
        false => Client::builder().tls_certs_only(built_in_authorities()),
    }
}

/// Whether the system has certificate authorities. Looked up once, because reading them takes milliseconds.
pub fn has_system_authorities() -> bool {
    static HAS_SYSTEM_AUTHORITIES: OnceLock<bool> = OnceLock::new();
    *HAS_SYSTEM_AUTHORITIES.get_or_init(|| {
        let client = Client::builder().no_proxy().build();
        if let Err(error) = &client {
            tracing::info!("the system has no certificate authorities, so those of the program are used: {error}");
        }
        client.is_ok()
    })
}

fn built_in_authorities() -> impl Iterator<Item = Certificate> {
    TLS_SERVER_ROOT_CERTS.iter().filter_map(|authority| Certificate::from_der(authority).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_built_with_the_authorities_of_the_program_alone() {
        assert_eq!(built_in_authorities().count(), TLS_SERVER_ROOT_CERTS.len(), "each can be read");
        assert!(TLS_SERVER_ROOT_CERTS.len() > 50, "{}", TLS_SERVER_ROOT_CERTS.len());
        assert!(Client::builder().tls_certs_only(built_in_authorities()).build().is_ok());
    }

    #[test]
    fn a_client_can_be_built_on_any_machine() {
        assert!(builder().build().is_ok());
    }
}
