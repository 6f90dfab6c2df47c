//! What everything shares that goes over the network or starts a program: threads, keys, and the state of Slack.

use bevy::ecs::prelude::*;

use super::network_runtime::NetworkRuntime;
use crate::gateway::keys::key_reader::CurrentKeys;
use crate::gateway::slack::SlackWork;

/// The threads, the keys and the state of Slack. Clones share them.
#[derive(Resource, Clone, Default)]
pub struct Network {
    pub(in crate::gateway) runtime: NetworkRuntime,
    pub(in crate::gateway) keys: CurrentKeys,
    pub(in crate::gateway) slack: SlackWork,
}
