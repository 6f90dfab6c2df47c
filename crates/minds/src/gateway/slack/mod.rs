//! Slack, over its Web API or an incoming webhook: posts messages, and reads those of configured channels.
//!
//! Nothing is requested unless the person has set up a key outside the workspace: `SLACK_BOT_TOKEN` for the Web API,
//! `SLACK_WEBHOOK_URL` for a webhook, which can only post. Without either, messages are exchanged through files. In
//! reading order: messages between the world and the worker ([`messages`]), Slack's responses and their meaning
//! (`wire`), one request with its retries (`api_client`), sending (`sending`), reading (`polling`) and the worker's
//! part (`worker`). The systems are in `slack_systems`.

mod api_client;
pub mod messages;
mod names;
mod polling;
mod sending;
pub mod settings;
pub mod trial;
mod wire;
mod worker;

pub use messages::{
    SlackAccess, SlackArrival, SlackMessage, SlackPoll, SlackPost, SlackSends, SlackTerms, SlackTrouble,
};
pub use settings::SlackSettings;
pub use wire::is_newer;

pub use messages::{SlackCommand, SlackEvent};
pub(super) use worker::SlackWork;
