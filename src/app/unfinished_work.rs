//! Work that is unfinished according to its session file, but unknown to the room: because the room starts fresh,
//! because `.workshop/` is gone, or because the process was stopped before the work was committed. It is reported and
//! logged, and its file marks it as dropped. It is not restarted automatically: a workspace created by somebody else
//! could otherwise start model calls without being asked.

use std::path::Path;

use bevy::ecs::prelude::*;

use crate::base::Problem;
use crate::base::text::{first_paragraph, truncate};
use crate::kernel::session::{SessionHead, continued, dropped};
use crate::kernel::{Kernel, WorkDropped};
use crate::schedule::InputQueue;
use crate::workspace::vfs::records::{RecordHead, change_record, is_unfinished};

/// Maximum length of a task in a report, in characters.
const TASK_CHARS: usize = 80;

/// The state from which a room continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    /// The scene file, as the person requested.
    Fresh,
    /// The scene file, because there is no saved room.
    Nothing,
    /// The saved room.
    Carried,
}

impl Before {
    fn why_dropped(self) -> &'static str {
        match self {
            Self::Fresh => "--fresh starts over from the scene file",
            Self::Nothing => "its state was in .workshop/, which is missing or unusable",
            Self::Carried => "the room was interrupted before the task was acknowledged",
        }
    }
}

/// Finds work that session files list as unfinished and that the room of this scene does not know. Notifies the room,
/// marks the files, and returns the problems to report.
pub(super) fn drop_unknown(
    world: &mut World,
    (workspace, records): (&Path, &[RecordHead]),
    scene: &str,
    before: Before,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for record in records {
        let Some(head) = SessionHead::read(&record.head).filter(|head| is_unfinished(&head.status)) else { continue };
        let Some(activation) = head.key() else { continue };
        // Work of another scene continues when that scene is opened.
        let is_elsewhere = !head.scene.is_empty() && head.scene != scene;
        let kernel = world.resource::<Kernel>();
        let is_known = kernel.activation(activation).is_some() || kernel.finished().any(|one| one.key == activation);
        let place = kernel.activation(activation).map(|one| kernel.session_path(one));
        if let Some(place) = place.filter(|place| *place != record.path) {
            // An older version wrote it to its own file; it continues in the file of its thread.
            change(workspace, record, |text| continued(text, &place));
            continue;
        }
        if is_elsewhere || is_known {
            continue;
        }
        let task = truncate(&first_paragraph(&head.task), TASK_CHARS);
        let since = record.modified.map(|time| humantime::format_rfc3339_seconds(time).to_string());
        let since = since.map(|time| format!(", last active {time}")).unwrap_or_default();
        let why = before.why_dropped();
        let what =
            format!("unfinished work was dropped: {} on “{task}” ({}{since}); {why}", head.agent, head.activation);
        let remedy = format!("assign the task again; its progress so far is in {}", record.path);
        change(workspace, record, |text| dropped(text, why));
        let notification =
            WorkDropped { agent: head.agent.as_str().into(), what: what.clone(), remedy: remedy.clone() };
        world.resource_mut::<InputQueue<WorkDropped>>().push(notification);
        problems.push(Problem::warning(record.path.clone(), what, remedy));
    }
    problems
}

fn change(workspace: &Path, record: &RecordHead, change: impl FnOnce(&str) -> String) {
    if let Err(error) = change_record(workspace, &record.path, change) {
        tracing::warn!("{} still says that its work is running: {error}", record.path);
    }
}
