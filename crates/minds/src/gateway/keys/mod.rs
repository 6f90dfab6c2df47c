//! Keys of providers and other secrets: where they are read (`environment`) and written ([`key_storage`]), and how they
//! are kept out of the environment ([`private_variables`]) and of everything that is shown or stored ([`redaction`]).

mod environment;
pub(super) mod key_reader;
pub mod key_storage;
pub mod private_variables;
pub mod redaction;

pub(super) use environment::FilesStamp;
pub use environment::{Environment, Keys, SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL, Secret, key_problems};
