//! What stays of blackboards when their runs are over: a file for each run that shared something, until knowledge has a
//! place of its own.

use bevy::ecs::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::blackboard::{Blackboards, RunBoard};
use super::settings::BlackboardSettings;
use crate::base::ids::ROOM;
use crate::base::{ActivationKey, Author, Seq};
use crate::kernel::Kernel;
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::workspace::vfs::{FileOperation, FileOrder, FileRights};

/// Where they lie.
const KEPT: &str = "memory/knowledge/blackboard/";

/// What is kept of a run's blackboard.
#[derive(Serialize)]
struct Kept<'a> {
    run: String,
    entries: Vec<KeptEntry<'a>>,
}

#[derive(Serialize)]
struct KeptEntry<'a> {
    key: &'a str,
    value: &'a Value,
    by: &'a str,
    secs: u64,
    version: u64,
}

/// Ends the blackboards of runs that are over. After the kernel forgot them, and before files take orders.
pub(super) fn keep(
    mut boards: ResMut<Blackboards>,
    kernel: Res<Kernel>,
    clock: Res<SimClock>,
    settings: Res<BlackboardSettings>,
    mut orders: MessageWriter<FileOrder>,
) {
    let goes_on = |run| kernel.thread(run).is_some();
    if boards.iter().all(|(run, board)| board.ended().is_some() || goes_on(run)) {
        return;
    }
    for run in boards.end_runs(goes_on, clock.tick(), &settings) {
        if let Some(content) = boards.get(run).and_then(|board| to_yaml(run, board)) {
            orders.write(FileOrder {
                key: format!("blackboard/{run}").into(),
                author: Author(ROOM.into()),
                activation: Some(run.id()),
                operation: FileOperation::Write { path: format!("{KEPT}{run}.yaml"), content },
                rights: FileRights::default(),
                cause: Seq(0),
            });
        }
    }
}

/// What is kept of it, if it shared anything.
fn to_yaml(run: ActivationKey, board: &RunBoard) -> Option<String> {
    let entries: Vec<KeptEntry> = board
        .shared()
        .map(|(key, entry)| KeptEntry {
            key,
            value: &entry.now.value,
            by: &entry.now.by,
            secs: entry.now.tick / TICKS_PER_SEC,
            version: entry.now.version,
        })
        .collect();
    if entries.is_empty() {
        return None;
    }
    // Plain data with text keys can always be written.
    serde_yaml::to_string(&Kept { run: run.id().to_string(), entries }).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::blackboard::Change;
    use super::*;
    use crate::tools::Condition;

    #[test]
    fn what_was_shared_is_a_file_that_a_person_can_read() {
        let (run, settings) = (ActivationKey::numbered(7), BlackboardSettings::default());
        let mut boards = Blackboards::default();
        let mut write = |key: &str, value: Value, shared| {
            let (key, only_if) = (key.to_owned(), Condition::Anything);
            let change = Change { key, value, only_if, shared: Some(shared), by: "ada".into(), tick: 90 };
            boards.write(run, change, &settings).map(|_| ()).expect("there is room");
        };
        write("draft", json!("x"), false);
        write("found", json!({ "chairs": 12 }), true);
        let text = to_yaml(run, boards.get(run).expect("it is there")).expect("something is shared");
        assert_eq!(
            text,
            "run: act-7\nentries:\n- key: found\n  value:\n    chairs: 12\n  by: ada\n  secs: 3\n  version: 1\n"
        );
        assert_eq!(to_yaml(run, &RunBoard::default()), None);
    }
}
