//! Recent changes of each element, so that a prompt can contain only the changes since the agent last read it.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::change::ElementChange;
use super::content::Element;
use crate::base::{Author, ElementKey};

/// How many changes of one element are kept. An agent that missed more reads all of it again.
const CHANGES_KEPT: usize = 200;

/// One change of an element's content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecentChange {
    /// The version of the element after the change.
    pub version: u32,
    /// The change.
    pub change: ElementChange,
    /// The author.
    pub by: Author,
}

/// The changes of one element, oldest first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct ElementHistory {
    /// All changes after this version are included.
    complete_from: u32,
    changes: VecDeque<RecentChange>,
}

/// The last changes of every element. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecentChanges(BTreeMap<ElementKey, ElementHistory>);

impl RecentChanges {
    /// All changes after this version, oldest first; `None` if they are no longer known.
    pub fn since(&self, element: ElementKey, version: u32) -> Option<impl Iterator<Item = &RecentChange>> {
        let kept = self.0.get(&element).filter(|kept| kept.complete_from <= version)?;
        Some(kept.changes.iter().filter(move |change| change.version > version))
    }

    pub(super) fn note(&mut self, element: &Element, change: &ElementChange, by: &Author) {
        match change.as_str() {
            ElementChange::REMOVED => drop(self.0.remove(&element.key)),
            ElementChange::ADDED | ElementChange::REARRANGED => {}
            _ => self.push(element, change, by),
        }
    }

    fn push(&mut self, element: &Element, change: &ElementChange, by: &Author) {
        let version = element.version;
        let first = || ElementHistory { complete_from: version.saturating_sub(1), changes: VecDeque::new() };
        let kept = self.0.entry(element.key).or_insert_with(first);
        kept.changes.push_back(RecentChange { version, change: change.clone(), by: by.clone() });
        while kept.changes.len() > CHANGES_KEPT {
            let gone = kept.changes.pop_front();
            kept.complete_from = gone.map_or(version, |gone| gone.version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(version: u32) -> Element {
        Element {
            key: ElementKey(1),
            id: "ideas".into(),
            kind: "pinboard".into(),
            label: "Ideas".into(),
            position: bevy::math::Vec2::ZERO,
            owner: None,
            file: None,
            version,
        }
    }

    fn ids(recent: &RecentChanges, version: u32) -> Option<Vec<String>> {
        let since = recent.since(ElementKey(1), version)?;
        Some(since.filter_map(|change| change.change.item()).map(ToString::to_string).collect())
    }

    #[test]
    fn a_reader_gets_all_changes_after_its_version_or_none_if_they_are_unknown() {
        let mut recent = RecentChanges::default();
        let by = Author::user();
        assert_eq!(ids(&recent, 0), None, "nothing was noted yet");
        for version in 5..8 {
            let change = ElementChange::of_item("pin_added", &format!("p{version}").into());
            recent.note(&element(version), &change, &by);
            recent.note(&element(version), &ElementChange::new(ElementChange::REARRANGED), &by);
        }
        assert_eq!(ids(&recent, 3), None, "what came before the first is not known");
        assert_eq!(ids(&recent, 4), Some(vec!["p5".into(), "p6".into(), "p7".into()]));
        assert_eq!(ids(&recent, 7), Some(vec![]));
        for version in 8..8 + u32::try_from(CHANGES_KEPT).expect("a small number") {
            recent.note(&element(version), &ElementChange::of_item("pin_voted", &"p5".into()), &by);
        }
        assert_eq!((ids(&recent, 6), ids(&recent, 7).map(|all| all.len())), (None, Some(CHANGES_KEPT)));
        recent.note(&element(300), &ElementChange::new(ElementChange::REMOVED), &by);
        assert_eq!(recent, RecentChanges::default());
    }
}
