//! The saved state of the desk, such as task assignments, pending edits and the positions in streams.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::checkin_systems::CheckIns;
use super::heartbeats::Heartbeats;
use super::message_answers::Hops;
use super::modules::ModulePrompts;
use super::session_files::SessionEdits;
use super::streams::delivery::Streams;
use super::streams::slack_import::SlackChannels;
use super::streams::slack_outbox::SlackSending;
use super::task_assignments::TaskAssignments;
use super::task_writes::TaskWrites;
use crate::schedule::Section;

/// The desk's section of the saved world.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct DeskSaved {
    duties: TaskAssignments,
    writes: TaskWrites,
    hops: Hops,
    streams: Streams,
    sessions: SessionEdits,
    checkins: CheckIns,
    #[serde(skip_serializing_if = "has_no_heartbeats")]
    heartbeats: Heartbeats,
    #[serde(skip_serializing_if = "has_no_prompts")]
    module_prompts: ModulePrompts,
    slack_sending: SlackSending,
    slack_channels: SlackChannels,
}

fn has_no_heartbeats(heartbeats: &Heartbeats) -> bool {
    *heartbeats == Heartbeats::default()
}

fn has_no_prompts(prompts: &ModulePrompts) -> bool {
    *prompts == ModulePrompts::default()
}

impl Section for DeskSaved {
    const NAME: &'static str = "desk";

    fn save(world: &mut World) -> Self {
        Self {
            duties: world.resource::<TaskAssignments>().clone(),
            writes: world.resource::<TaskWrites>().clone(),
            hops: world.resource::<Hops>().clone(),
            streams: world.resource::<Streams>().clone(),
            sessions: world.resource::<SessionEdits>().clone(),
            checkins: world.resource::<CheckIns>().clone(),
            heartbeats: world.resource::<Heartbeats>().clone(),
            module_prompts: world.resource::<ModulePrompts>().clone(),
            slack_sending: world.resource::<SlackSending>().clone(),
            slack_channels: world.resource::<SlackChannels>().clone(),
        }
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self.duties);
        world.insert_resource(self.writes);
        world.insert_resource(self.hops);
        world.insert_resource(self.streams);
        world.insert_resource(self.sessions);
        world.insert_resource(self.checkins);
        world.insert_resource(self.heartbeats);
        world.insert_resource(self.module_prompts);
        world.insert_resource(self.slack_sending);
        world.insert_resource(self.slack_channels);
    }
}
