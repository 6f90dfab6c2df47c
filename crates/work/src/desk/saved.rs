//! The saved state of the desk, such as task assignments, pending edits and the positions in streams.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::checkin_systems::CheckIns;
use super::heartbeats::Heartbeats;
use super::message_answers::Hops;
use super::modules::ModulePrompts;
use super::session_edits::SessionVersions;
use super::session_files::SessionEdits;
use super::streams::delivery::Streams;
use super::streams::slack_import::SlackChannels;
use super::streams::slack_outbox::SlackSending;
use super::task_assignments::TaskAssignments;
use super::task_writes::TaskWrites;
use crate::schedule::Section;
use crate::workspace::vfs::PendingFileOrders;

/// The desk's section of the saved world.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct DeskSaved {
    duties: TaskAssignments,
    writes: TaskWrites,
    hops: Hops,
    streams: Streams,
    sessions: SessionEdits,
    #[serde(skip_serializing_if = "SessionVersions::is_empty")]
    session_versions: SessionVersions,
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
            session_versions: world.resource::<SessionVersions>().clone(),
            checkins: world.resource::<CheckIns>().clone(),
            heartbeats: world.resource::<Heartbeats>().clone(),
            module_prompts: world.resource::<ModulePrompts>().clone(),
            slack_sending: world.resource::<SlackSending>().clone(),
            slack_channels: world.resource::<SlackChannels>().clone(),
        }
    }

    fn load(mut self, world: &mut World) {
        if let Some(under_way) = world.get_resource::<PendingFileOrders>() {
            self.session_versions.adopt(under_way);
            self.slack_sending.adopt(under_way);
        }
        world.insert_resource(self.duties);
        world.insert_resource(self.writes);
        world.insert_resource(self.hops);
        world.insert_resource(self.streams);
        world.insert_resource(self.sessions);
        world.insert_resource(self.session_versions);
        world.insert_resource(self.checkins);
        world.insert_resource(self.heartbeats);
        world.insert_resource(self.module_prompts);
        world.insert_resource(self.slack_sending);
        world.insert_resource(self.slack_channels);
    }
}

#[cfg(test)]
mod tests {
    use bevy::app::App;
    use serde_json::{Value, json};

    use super::*;
    use crate::schedule::saved::{self, load_world};

    #[test]
    fn file_orders_under_way_in_a_room_that_was_saved_without_their_owners_find_them() {
        let key = "act-7-3kq9x2mf/1/0/0123456789abcdef";
        let order = |lead: &str, operation: Value| {
            json!({
                "key": format!("{lead}{key}"), "author": "room", "activation": "act-7-3kq9x2mf", "operation": operation,
                "rights": { "reads": [], "writes": [] }, "cause": 0,
            })
        };
        let session = json!({ "do": "keep_record", "path": "sessions/ada.act-3-3kq9x2mf.session.yaml" });
        let post = json!({ "do": "append", "path": "outbox/slack-messages.jsonl", "text": "{}\n" });
        let under_way = [
            order("edit-session/", session),
            order("slack/", post),
            order("", json!({ "do": "read", "path": "a.md" })),
        ];
        let mut app = App::empty();
        crate::schedule::plugin(&mut app);
        crate::workspace::plugin(&mut app);
        saved::register::<DeskSaved>(&mut app);
        let older = json!({ "files": { "under_way": under_way }, "desk": { "slack_sending": { "sending": {}, "posted": {} } } });
        load_world(app.world_mut(), &older).expect("it can be loaded");
        let now = serde_json::to_value(DeskSaved::save(app.world_mut())).expect("it can be saved");
        let owner = |lead: &str| json!({ (format!("{lead}{key}")): key });
        assert_eq!(now["session_versions"], owner("edit-session/"));
        assert_eq!(now["slack_sending"]["writing"], owner("slack/"));
        // Such a room goes on as one that was saved with the owners.
        let both = json!({ "files": { "under_way": under_way }, "desk": now });
        load_world(app.world_mut(), &both).expect("it can be loaded");
        assert_eq!(serde_json::to_value(DeskSaved::save(app.world_mut())).expect("it can be saved"), now);
    }
}
