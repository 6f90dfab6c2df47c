//! Archives the shared entries of finished runs' blackboards in a workspace file, and follows external changes of that
//! file.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::blackboard::{Blackboards, RunBoard};
use super::board_archive_file::{ArchivedEntries, ArchivedEntry};
use super::command::CollaborationCommand;
use super::settings::BlackboardSettings;
use crate::base::ActivationKey;
use crate::kernel::Kernel;
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::workspace::files::FileContent;
use crate::workspace::layout::KEPT_BLACKBOARD;
use crate::workspace::{FileChanged, KnownFiles, ProblemReport, SceneWrite};

/// The archived entries of finished runs, as in the file. Written by this module only. Part of the saved world, because
/// the process may be killed before the file was written.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoardArchive {
    entries: ArchivedEntries,
    #[serde(skip)]
    is_read: bool,
    /// Whether the file currently cannot be parsed.
    #[serde(skip)]
    is_broken: bool,
}

impl BoardArchive {
    /// The archived entries.
    pub fn entries(&self) -> &ArchivedEntries {
        &self.entries
    }
}

/// Entries of finished runs that are not in the file yet, because it cannot be read. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct UnarchivedEntries(Vec<ArchivedEntry>);

/// Applies external changes of the file.
pub(super) fn follow_file(
    mut kept: ResMut<BoardArchive>,
    mut unkept: ResMut<UnarchivedEntries>,
    known: Res<KnownFiles>,
    settings: Res<BlackboardSettings>,
    mut changes: MessageReader<FileChanged>,
    (mut reports, mut writes): (MessageWriter<ProblemReport>, MessageWriter<SceneWrite>),
) {
    let changed: Vec<&FileChanged> = changes.read().filter(|change| change.path == KEPT_BLACKBOARD).collect();
    let is_usable = |change: &&FileChanged| !matches!(change.content, FileContent::Unusable { .. });
    let last = changed.into_iter().rfind(is_usable);
    if kept.is_read && last.is_none() {
        return;
    }
    let is_first = !std::mem::replace(&mut kept.is_read, true);
    let text = known.text(KEPT_BLACKBOARD).unwrap_or_default();
    if is_first && text.is_empty() && last.is_none() {
        return;
    }
    let read = ArchivedEntries::parse(text);
    reports.write(ProblemReport {
        source: "kept blackboard".to_owned(),
        problems: read.as_ref().err().cloned().into_iter().collect(),
    });
    kept.is_broken = read.is_err();
    // If someone else wrote the file before our changes were on disk, both are merged.
    let base = last.and_then(|change| change.base.as_deref()).and_then(|base| ArchivedEntries::parse(base).ok());
    let Ok(theirs) = read else {
        let is_new = |entry: &&ArchivedEntry| base.as_ref().is_some_and(|base| base.get(&entry.key) != Some(*entry));
        unkept.0.extend(kept.entries.iter().filter(is_new).cloned());
        return;
    };
    let mut merged = match &base {
        Some(base) => ArchivedEntries::merge(base, &kept.entries, &theirs),
        None => theirs.clone(),
    };
    for entry in std::mem::take(&mut unkept.0) {
        merged.insert(entry, settings.max_kept);
    }
    if merged != theirs {
        writes.write(write_of(&merged));
    }
    kept.entries = merged;
}

/// Ends the blackboards of finished runs and archives their shared entries. After the kernel dropped the runs.
pub(super) fn archive_finished(
    mut boards: ResMut<Blackboards>,
    (mut kept, mut unkept): (ResMut<BoardArchive>, ResMut<UnarchivedEntries>),
    kernel: Res<Kernel>,
    (clock, settings): (Res<SimClock>, Res<BlackboardSettings>),
    mut log: ResMut<EventLog>,
    mut writes: MessageWriter<SceneWrite>,
) {
    let goes_on = |run| kernel.thread(run).is_some();
    if boards.iter().all(|(run, board)| board.ended().is_some() || goes_on(run)) {
        return;
    }
    let mut dropped = Vec::new();
    let mut is_changed = false;
    for run in boards.end_runs(goes_on, clock.tick(), &settings) {
        for entry in boards.get(run).into_iter().flat_map(|board| shared_entries(run, board)) {
            if kept.is_broken {
                unkept.0.push(entry);
                let surplus = unkept.0.len().saturating_sub(settings.max_kept);
                dropped.extend(unkept.0.drain(..surplus).map(|entry| entry.key));
            } else {
                dropped.extend(kept.entries.insert(entry, settings.max_kept));
                is_changed = true;
            }
        }
    }
    if is_changed {
        writes.write(write_of(&kept.entries));
    }
    if !dropped.is_empty() {
        let what =
            format!("at most {} blackboard entries are kept; removed: {}", settings.max_kept, dropped.join(", "));
        let remedy = "raise blackboard.max_kept in the settings, or remove unneeded entries; removed ones are in \
            the versions of the file";
        let warning = Warning { place: Some(KEPT_BLACKBOARD.to_owned()), ..Warning::new(what).with_remedy(remedy) };
        log.write(EventDraft::of(&warning));
    }
}

/// The entries of a run to archive.
fn shared_entries(run: ActivationKey, board: &RunBoard) -> Vec<ArchivedEntry> {
    let kept = board.shared().map(|(key, entry)| ArchivedEntry {
        key: key.to_owned(),
        value: entry.now.value.clone(),
        by: entry.now.by.clone(),
        run: run.id(),
        secs: entry.now.tick / TICKS_PER_SEC,
    });
    kept.collect()
}

/// Applies a person's changes of archived entries.
pub(super) fn apply_commands(
    mut kept: ResMut<BoardArchive>,
    settings: Res<BlackboardSettings>,
    mut commands: MessageReader<CollaborationCommand>,
    mut log: ResMut<EventLog>,
    mut writes: MessageWriter<SceneWrite>,
) {
    for command in commands.read() {
        let CollaborationCommand::WriteKept { key, now, was } = command else { continue };
        let result = write_kept(&mut kept, (key, now.as_deref(), was.as_deref()), settings.max_kept);
        match result {
            Ok(()) => {
                writes.write(write_of(&kept.entries));
            }
            Err(why) => {
                // Without an agent, so that the person is notified.
                log.write(EventDraft::of(&Warning::new(why)));
            }
        }
    }
}

fn write_kept(
    kept: &mut BoardArchive,
    (key, now, was): (&str, Option<&ArchivedEntry>, Option<&ArchivedEntry>),
    most: usize,
) -> Result<(), String> {
    if kept.is_broken {
        return Err(format!("{KEPT_BLACKBOARD} cannot be read; fix it first"));
    }
    if kept.entries.get(key) != was {
        return Err(format!("the kept entry {key:?} has changed in the meantime; check it again"));
    }
    match now {
        Some(entry) if entry.key != key || entry.value.is_null() => {
            return Err(format!("the kept entry {key:?} was not changed: it must keep its name and have a value"));
        }
        Some(_) if was.is_none() && kept.entries.iter().len() >= most => {
            return Err(format!("{most} entries are already kept; remove one first"));
        }
        Some(entry) => drop(kept.entries.insert(entry.clone(), most)),
        None => drop(kept.entries.remove(key)),
    }
    Ok(())
}

fn write_of(entries: &ArchivedEntries) -> SceneWrite {
    SceneWrite::File { path: KEPT_BLACKBOARD.to_owned(), text: entries.to_yaml() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::blackboard::Change;
    use super::*;
    use crate::tools::Condition;

    #[test]
    fn shared_entries_are_archived_with_author_and_time() {
        let (run, settings) = (ActivationKey::numbered(7), BlackboardSettings::default());
        let mut boards = Blackboards::default();
        let mut write = |key: &str, value: Value, shared| {
            let (key, only_if) = (key.to_owned(), Condition::Anything);
            let change = Change { key, value, only_if, shared: Some(shared), by: "ada".into(), tick: 90 };
            boards.write(run, change, &settings).map(|_| ()).expect("there is room");
        };
        write("draft", json!("x"), false);
        write("found", json!({ "chairs": 12 }), true);
        let kept = shared_entries(run, boards.get(run).expect("it should exist"));
        let value = json!({ "chairs": 12 });
        assert_eq!(
            kept,
            [ArchivedEntry { key: "found".into(), value, by: "ada".into(), run: "act-7".into(), secs: 3 }]
        );
        assert_eq!(shared_entries(run, &RunBoard::default()), []);
    }

    #[test]
    fn a_persons_change_is_refused_if_the_entry_changed_meanwhile() {
        let entry = |value: &str| ArchivedEntry {
            key: "plan".into(),
            value: json!(value),
            by: "ada".into(),
            run: "act-7".into(),
            secs: 3,
        };
        let (one, two) = (entry("one"), entry("two"));
        let mut kept = BoardArchive::default();
        let mut write = |now, was| write_kept(&mut kept, ("plan", now, was), 1);
        assert!(write(Some(&two), Some(&one)).is_err(), "there is none");
        assert_eq!(write(Some(&one), None), Ok(()));
        assert_eq!(write(Some(&two), Some(&one)), Ok(()));
        assert!(write(None, Some(&one)).is_err(), "it says two now");
        assert_eq!(write(None, Some(&two)), Ok(()));
        assert_eq!(write(Some(&two), None), Ok(()), "and back");
        assert!(
            write_kept(&mut kept, ("other", Some(&ArchivedEntry { key: "other".into(), ..one }), None), 1).is_err()
        );
    }
}
