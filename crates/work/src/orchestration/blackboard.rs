//! Blackboards: named values shared by all agents of a run, each with its author, time and earlier values. Pure.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::settings::BlackboardSettings;
use crate::base::{ActivationKey, Id};
use crate::tools::Condition;

/// The maximum length of a value in an error, in characters.
const SHOWN_CHARS: usize = 400;

/// One version of an entry's value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntryVersion {
    /// The value; null if the entry was removed.
    pub value: Value,
    /// The id of its author.
    pub by: Id,
    /// The tick in which it was written.
    pub tick: u64,
    /// The version number of the entry, from 1.
    pub version: u64,
}

/// An entry of a blackboard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The current version; its value is null if the entry was removed.
    pub now: EntryVersion,
    /// Earlier versions, the newest last.
    #[serde(default)]
    pub before: VecDeque<EntryVersion>,
    /// Whether it is archived when the run ends.
    #[serde(default)]
    pub shared: bool,
}

impl Entry {
    /// The current value, unless the entry was removed.
    pub fn value(&self) -> Option<&Value> {
        Some(&self.now.value).filter(|value| !value.is_null())
    }
}

/// The blackboard of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunBoard {
    entries: BTreeMap<String, Entry>,
    /// The tick in which its run ended.
    ended: Option<u64>,
}

impl RunBoard {
    /// All entries by name, including removed ones.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry))
    }

    /// The entry with this name, unless it was removed.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key).filter(|entry| entry.value().is_some())
    }

    /// The tick in which its run ended, if it did.
    pub fn ended(&self) -> Option<u64> {
        self.ended
    }

    /// The entries to archive when the run ends.
    pub fn shared(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries().filter(|(_, entry)| entry.shared && entry.value().is_some())
    }
}

/// A change of an entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The name of the entry.
    pub key: String,
    /// The new value; null removes the entry.
    pub value: Value,
    /// The condition for the change.
    pub only_if: Condition,
    /// Whether it is archived when the run ends; `None` leaves this as it is.
    pub shared: Option<bool>,
    /// The id of the author.
    pub by: Id,
    /// The current tick.
    pub tick: u64,
}

/// Why an entry was not changed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WriteRefusal {
    /// Its value is not the one that the writer expected.
    #[error("the entry {key:?} is now {value} (version {version}, written by {by}), not what you expected; reconsider")]
    Other {
        /// The name of the entry.
        key: String,
        /// The current value, truncated.
        value: String,
        /// The current version.
        version: u64,
        /// The author of the current version.
        by: Id,
    },
    /// There is no such entry.
    #[error("there is no entry {key:?}, which is not what you expected; reconsider")]
    Nothing {
        /// The name of the entry.
        key: String,
    },
    /// The blackboard is full.
    #[error("there are already {most} entries on the blackboard; remove one first by writing null")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// The run has ended, or there is none.
    #[error("the run is over, and so is its blackboard")]
    Over,
}

/// The blackboards of all runs. Written by this layer only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Blackboards(BTreeMap<ActivationKey, RunBoard>);

impl Blackboards {
    /// All blackboards, by the activation that began the run.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ActivationKey, &RunBoard)> {
        self.0.iter().map(|(run, board)| (*run, board))
    }

    /// The blackboard of a run.
    pub fn get(&self, run: ActivationKey) -> Option<&RunBoard> {
        self.0.get(&run)
    }

    /// Changes an entry and returns it.
    pub fn write(
        &mut self,
        run: ActivationKey,
        change: Change,
        settings: &BlackboardSettings,
    ) -> Result<&Entry, WriteRefusal> {
        let Change { key, value, only_if, shared, by, tick } = change;
        let board = self.0.entry(run).or_default();
        if board.ended.is_some() {
            return Err(WriteRefusal::Over);
        }
        let there = board.entries.get(&key).filter(|entry| entry.value().is_some());
        let is_expected = match (&only_if, there.and_then(Entry::value)) {
            (Condition::Anything, _) => true,
            (Condition::Absent, value) => value.is_none(),
            (Condition::Value { value: expected }, None) => expected.is_null(),
            (Condition::Value { value: expected }, Some(value)) => same(value, expected),
        };
        if !is_expected {
            return Err(match there {
                Some(entry) => WriteRefusal::Other {
                    key,
                    value: crate::base::text::truncate(&entry.now.value.to_string(), SHOWN_CHARS),
                    version: entry.now.version,
                    by: entry.now.by.clone(),
                },
                None => WriteRefusal::Nothing { key },
            });
        }
        if value.is_null() && there.is_none() {
            return Err(WriteRefusal::Nothing { key });
        }
        if !board.entries.contains_key(&key) && board.entries.len() >= settings.max_entries {
            // The oldest removed entry makes room.
            let gone = board.entries.iter().filter(|(_, entry)| entry.value().is_none());
            let oldest = gone.min_by_key(|(_, entry)| entry.now.tick).map(|(key, _)| key.clone());
            match oldest {
                Some(gone) => board.entries.remove(&gone),
                None => return Err(WriteRefusal::TooMany { most: settings.max_entries }),
            };
        }
        let written = |version| EntryVersion { value, by, tick, version };
        let entry = match board.entries.entry(key) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Entry { now: written(1), before: VecDeque::new(), shared: shared.unwrap_or_default() })
            }
            std::collections::btree_map::Entry::Occupied(place) => {
                let entry = place.into_mut();
                let newer = written(entry.now.version + 1);
                entry.before.push_back(std::mem::replace(&mut entry.now, newer));
                let surplus = entry.before.len().saturating_sub(settings.max_history);
                entry.before.drain(..surplus);
                entry.shared = shared.unwrap_or(entry.shared);
                entry
            }
        };
        Ok(entry)
    }

    /// Ends the blackboards of runs that are over, and drops the oldest that ended before. Returns the runs that ended
    /// now.
    pub fn end_runs(
        &mut self,
        goes_on: impl Fn(ActivationKey) -> bool,
        tick: u64,
        settings: &BlackboardSettings,
    ) -> Vec<ActivationKey> {
        let mut ended = Vec::new();
        for (run, board) in self.0.iter_mut().filter(|(run, board)| board.ended.is_none() && !goes_on(**run)) {
            board.ended = Some(tick);
            ended.push(*run);
        }
        let mut over: Vec<(u64, ActivationKey)> =
            self.0.iter().filter_map(|(run, board)| Some((board.ended?, *run))).collect();
        over.sort_unstable();
        // Blackboards that ended just now still have to be archived.
        let surplus = over.len().saturating_sub(settings.max_ended.max(ended.len()));
        for (_, run) in over.into_iter().take(surplus) {
            self.0.remove(&run);
        }
        ended
    }
}

/// Whether two JSON values are equal; numbers are compared by value, not by notation.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| others.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
#[path = "blackboard_tests.rs"]
mod tests;
