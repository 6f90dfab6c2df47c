//! A tab of the window: the name of the pane that it shows and, if the pane has a tab for each of several items, the
//! item, such as a file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The shelf, from which things are dragged into the room.
pub const SHELF: &str = "shelf";
/// The files of the workspace.
pub const FILES: &str = "files";
/// The room.
pub const ROOM: &str = "room";
/// The graph of which agent started which, and which files each agent read and wrote.
pub const GRAPH: &str = "graph";
/// The editor, with a tab for each open file.
pub const FILE: &str = "file";
/// The inspector, with details of the selection.
pub const INSPECTOR: &str = "inspector";
/// The conversations.
pub const TALKS: &str = "talks";
/// The event log.
pub const LOG: &str = "log";

/// The key under which earlier versions saved the names of some panes.
const FORMER_KEY: &str = "pane";

/// A tab.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tab {
    pane: Cow<'static, str>,
    item: Option<String>,
}

impl Tab {
    /// The shelf.
    pub const SHELF: Self = Self::named(SHELF);
    /// The files of the workspace.
    pub const FILES: Self = Self::named(FILES);
    /// The room.
    pub const ROOM: Self = Self::named(ROOM);
    /// The graph.
    pub const GRAPH: Self = Self::named(GRAPH);
    /// The inspector.
    pub const INSPECTOR: Self = Self::named(INSPECTOR);
    /// The conversations.
    pub const TALKS: Self = Self::named(TALKS);
    /// The event log.
    pub const LOG: Self = Self::named(LOG);

    /// The tab of the pane with this name.
    pub const fn named(pane: &'static str) -> Self {
        Self { pane: Cow::Borrowed(pane), item: None }
    }

    /// The tab of a file in the editor, by path.
    pub fn file(path: impl Into<String>) -> Self {
        Self { pane: Cow::Borrowed(FILE), item: Some(path.into()) }
    }

    /// The name of the pane.
    pub fn pane(&self) -> &str {
        &self.pane
    }

    /// The item that the pane shows in this tab.
    pub fn item(&self) -> Option<&str> {
        self.item.as_deref()
    }

    /// The path of the file, if the tab is that of a file in the editor.
    pub fn file_path(&self) -> Option<&str> {
        self.item().filter(|_| self.pane == FILE)
    }
}

/// A tab as it is saved: `graph`, or `{ file: notes/plan.md }`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SavedTab {
    Pane(String),
    Item(BTreeMap<String, String>),
}

impl Serialize for Tab {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pane = self.pane.clone().into_owned();
        let saved = match &self.item {
            None => SavedTab::Pane(pane),
            Some(item) => SavedTab::Item([(pane, item.clone())].into()),
        };
        saved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tab {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (pane, item) = match SavedTab::deserialize(deserializer)? {
            SavedTab::Pane(pane) => (pane, None),
            SavedTab::Item(items) => match items.into_iter().collect::<Vec<_>>().as_slice() {
                [(key, pane)] if key == FORMER_KEY => (pane.clone(), None),
                [(pane, item)] => (pane.clone(), Some(item.clone())),
                _ => return Err(D::Error::custom("a tab has one pane")),
            },
        };
        Ok(Self { pane: Cow::Owned(pane), item })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tab_is_saved_by_the_names_of_its_pane_and_item_and_read_from_those_of_earlier_versions() {
        for (tab, saved, former) in [
            (Tab::GRAPH, json!("graph"), json!("graph")),
            (Tab::file("a.md"), json!({ "file": "a.md" }), json!({ "file": "a.md" })),
            (Tab::named("knowledge"), json!("knowledge"), json!({ "pane": "knowledge" })),
        ] {
            assert_eq!(serde_json::to_value(&tab).ok(), Some(saved.clone()));
            for text in [saved, former] {
                assert_eq!(serde_json::from_value::<Tab>(text).ok().as_ref(), Some(&tab));
            }
        }
        for broken in [json!({}), json!({ "file": "a", "log": "b" }), json!(3), json!({ "file": 3 })] {
            assert!(serde_json::from_value::<Tab>(broken.clone()).is_err(), "{broken}");
        }
    }
}
