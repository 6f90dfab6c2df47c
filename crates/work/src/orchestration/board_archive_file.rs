//! The file with blackboard entries of finished runs: one entry for each name, the oldest first. Later runs read it,
//! and a person may edit it. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::{Id, Problem};
use crate::text::yaml;
use crate::tools::collaboration::name;
use crate::workspace::layout::KEPT_BLACKBOARD;

/// The comment at the top of the file.
const HEAD: &str =
    "# Entries that agents shared on the blackboards of earlier runs. Later runs read them; you can edit them.\n";

/// An archived entry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArchivedEntry {
    /// The name.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The id of the author.
    #[serde(default = "empty_id", skip_serializing_if = "is_empty")]
    pub by: Id,
    /// The activation that began the run; empty if a person added the entry to the file.
    #[serde(default = "empty_id", skip_serializing_if = "is_empty")]
    pub run: Id,
    /// When it was written, in seconds of the room's time.
    #[serde(default)]
    pub secs: u64,
}

fn empty_id() -> Id {
    "".into()
}

fn is_empty(id: &Id) -> bool {
    id.is_empty()
}

/// All archived entries, the oldest first, each name once.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedEntries {
    entries: Vec<ArchivedEntry>,
}

impl ArchivedEntries {
    /// Parses the file. The error says why it cannot be used.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text.lines().all(|line| line.trim().is_empty() || line.starts_with('#')) {
            return Ok(Self::default());
        }
        let remedy = "fix the file, or remove it; until then nothing new is saved in it";
        let problem = |what: String, line| Problem::error(KEPT_BLACKBOARD, what, remedy).at_line(line);
        let read: Self =
            yaml::from_str(text).map_err(|error| problem(format!("cannot be read: {error}"), error.line))?;
        let mut all = Self::default();
        for mut entry in read.entries {
            entry.key = name(&entry.key).map_err(|why| problem(why, None))?;
            if !entry.value.is_null() {
                all.insert(entry, usize::MAX);
            }
        }
        Ok(all)
    }

    /// Renders the file.
    pub fn to_yaml(&self) -> String {
        let entries = if self.entries.is_empty() {
            "entries: []\n".to_owned()
        } else {
            serde_yaml::to_string(self).expect("an entry is plain data with text keys")
        };
        format!("{HEAD}{entries}")
    }

    /// All entries, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ArchivedEntry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The entry with this name.
    pub fn get(&self, key: &str) -> Option<&ArchivedEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Adds or replaces an entry; returns the names of the oldest entries that were dropped beyond the limit `most`.
    pub fn insert(&mut self, entry: ArchivedEntry, most: usize) -> Vec<String> {
        self.entries.retain(|there| there.key != entry.key);
        self.entries.push(entry);
        let surplus = self.entries.len().saturating_sub(most);
        self.entries.drain(..surplus).map(|gone| gone.key).collect()
    }

    /// Removes an entry; returns whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.key != key);
        self.entries.len() < before
    }

    /// A three-way merge: `theirs`, with the changes from `base` to `ours`. If both changed an entry, ours wins: theirs
    /// remains as a version of the file.
    pub fn merge(base: &Self, ours: &Self, theirs: &Self) -> Self {
        let mut merged = theirs.clone();
        for entry in ours.iter().filter(|entry| base.get(&entry.key) != Some(*entry)) {
            merged.insert(entry.clone(), usize::MAX);
        }
        for gone in base.iter().filter(|entry| ours.get(&entry.key).is_none()) {
            if merged.get(&gone.key) == Some(gone) {
                merged.remove(&gone.key);
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(key: &str, value: Value) -> ArchivedEntry {
        ArchivedEntry { key: key.into(), value, by: "ada".into(), run: "act-7".into(), secs: 3 }
    }

    fn all(entries: &[(&str, i64)]) -> ArchivedEntries {
        let mut all = ArchivedEntries::default();
        for (key, value) in entries {
            all.insert(entry(key, json!(value)), 99);
        }
        all
    }

    #[test]
    fn the_file_is_readable_yaml_and_round_trips() {
        let mut kept = all(&[("plan", 1)]);
        kept.insert(entry("found", json!({ "chairs": 12 })), 99);
        let text = kept.to_yaml();
        assert!(text.ends_with(
            "entries:\n- key: plan\n  value: 1\n  by: ada\n  run: act-7\n  secs: 3\n- key: found\n  value:\n    chairs: 12\n  by: ada\n  run: act-7\n  secs: 3\n"
        ), "{text}");
        assert_eq!(ArchivedEntries::parse(&text), Ok(kept));
        assert_eq!(ArchivedEntries::parse(&ArchivedEntries::default().to_yaml()), Ok(ArchivedEntries::default()));
    }

    #[test]
    fn entries_written_by_a_person_are_parsed_leniently() {
        let text =
            "entries:\n- { key: '#Plan', value: count }\n- { key: gone, value: null }\n- { key: plan, value: two }\n";
        let kept = ArchivedEntries::parse(text).expect("it can be read");
        assert_eq!(
            kept.iter().map(|entry| (&*entry.key, entry.value.clone())).collect::<Vec<_>>(),
            [("plan", json!("two"))]
        );
        for broken in ["entries: 3\n", "entries:\n- key: [\n", "- a\n", "entries:\n- { key: '', value: 1 }\n"] {
            assert!(ArchivedEntries::parse(broken).is_err(), "{broken}");
        }
        assert_eq!(ArchivedEntries::parse("# nothing\n\n"), Ok(ArchivedEntries::default()));
    }

    #[test]
    fn the_newest_entry_of_a_name_stays_and_the_oldest_are_dropped() {
        let mut kept = all(&[("a", 1), ("b", 2)]);
        assert_eq!(kept.insert(entry("a", json!(3)), 2), Vec::<String>::new());
        assert_eq!(kept.insert(entry("c", json!(4)), 2), ["b"]);
        assert_eq!(kept.iter().map(|entry| &*entry.key).collect::<Vec<_>>(), ["a", "c"]);
        assert!(kept.remove("a") && !kept.remove("a"));
    }

    #[test]
    fn concurrent_changes_are_merged_by_entry() {
        let base = all(&[("a", 1), ("b", 2), ("c", 3)]);
        let ours = all(&[("a", 1), ("b", 20), ("d", 4)]);
        let theirs = all(&[("a", 10), ("b", 21), ("c", 3), ("e", 5)]);
        let merged = ArchivedEntries::merge(&base, &ours, &theirs);
        let value = |key: &str| merged.get(key).map(|entry| entry.value.as_i64().unwrap_or_default());
        assert_eq!(["a", "b", "c", "d", "e"].map(value), [Some(10), Some(20), None, Some(4), Some(5)]);
    }
}
