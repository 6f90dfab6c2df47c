//! HTTP: the client ([`http_client`]), the relay through which vendors are called (`local_proxy`), the part of an
//! address that decides which server is contacted ([`origin`]), and web requests of agents (`agent_requests`).

mod agent_requests;
pub mod http_client;
pub(super) mod local_proxy;
pub mod origin;

pub use agent_requests::{METHODS, WebAnswer, WebAnswered, WebQuestion, check_header_name, web_address};
