//! Slack, over its Web API or an incoming webhook: messages are posted, and those of named channels are read.
//!
//! Nothing is asked unless the person has set up a key outside the workspace: `SLACK_BOT_TOKEN` for the Web API,
//! `SLACK_WEBHOOK_URL` for a webhook, which can only post. Without either, messages go over files. In reading order: what
//! the world and the worker tell each other ([`messages`]), what Slack says and what it means (`wire`), one question with
//! its retries (`api_client`), sending (`sending`), reading (`polling`) and the worker's
//! part (`worker`). The systems are in `slack_calls`.

mod api_client;
pub mod messages;
mod names;
mod polling;
mod sending;
pub mod settings;
mod traffic;
pub mod trial;
mod wire;
mod worker;

pub use messages::{
    SlackAccess, SlackArrival, SlackLook, SlackMessage, SlackPost, SlackSends, SlackTerms, SlackTrouble,
};
pub use settings::SlackSettings;
pub use wire::is_newer;

pub use messages::{SlackCommand, SlackEvent};
pub(super) use traffic::SlackTraffic;
pub(super) use worker::SlackWork;
