//! The panes of the window: which exist, where they are, and which are shown. Panes can be dragged next to and onto
//! each other; the layout is saved.

use super::texts;
use std::collections::BTreeSet;

use egui_tiles::{Container, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Files that are open at once; the one that was opened first is closed for another where it has nothing unsaved.
pub const FILES_AT_MOST: usize = 40;
/// The maximum number of added panes in a layout that is read.
const ADDED_AT_MOST: usize = 20;
/// Narrower windows show what is known of the selection only while something is selected.
const ROOMY_POINTS: f32 = 1_000.0;
/// The default shares of the window for panes: left, middle, right; the log below.
const SHARES: [f32; 3] = [0.20, 0.55, 0.25];
const LOG_SHARE: f32 = 0.38;
const FILES_SHARE: f32 = 0.42;

/// A pane.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tab {
    /// What can be dragged into the room.
    Shelf,
    /// The files of the workspace.
    Files,
    /// The room.
    Room,
    /// Who started whom, and who read and wrote what.
    Graph,
    /// A file in the editor, by path.
    File(String),
    /// What is known of the selection.
    Inspector,
    /// A pane that was added, by its word.
    Pane(String),
    /// Conversations.
    Talks,
    /// The event log.
    Log,
}

impl Tab {
    /// Every pane that there is once.
    pub const FIXED: [Self; 7] =
        [Self::Room, Self::Graph, Self::Files, Self::Shelf, Self::Inspector, Self::Talks, Self::Log];

    /// What it is called on the command line; empty for files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Shelf => "shelf",
            Self::Files => "files",
            Self::Room => "room",
            Self::Graph => "graph",
            Self::Inspector => "inspector",
            Self::Talks => "talks",
            Self::Log => "log",
            Self::File(_) | Self::Pane(_) => "",
        }
    }

    /// What it is called on its tab.
    pub fn title(&self) -> String {
        match self {
            Self::Shelf => texts::SHELF.to_owned(),
            Self::Files => texts::FILES.to_owned(),
            Self::Room => texts::ROOM.to_owned(),
            Self::Graph => texts::GRAPH.to_owned(),
            Self::Pane(word) => word.clone(),
            Self::File(path) => path.rsplit('/').next().unwrap_or(path).to_owned(),
            Self::Inspector => texts::INSPECTOR.to_owned(),
            Self::Talks => texts::CONVERSATIONS.to_owned(),
            Self::Log => texts::EVENT_LOG.to_owned(),
        }
    }
}

/// How the panes stand.
#[derive(Clone, PartialEq, Debug)]
pub struct Dock {
    pub(in crate::ui) tree: Tree<Tab>,
    /// Panes that the person put away.
    hidden: BTreeSet<Tab>,
    /// The pane that a narrow window shows.
    pub alone: Tab,
    /// Whether the window was narrow when it was drawn last.
    pub(in crate::ui) is_narrow: bool,
}

impl Default for Dock {
    fn default() -> Self {
        let mut tiles = Tiles::default();
        let mut tabs = |panes: &[Tab]| {
            let panes = panes.iter().cloned().map(|pane| tiles.insert_pane(pane)).collect();
            tiles.insert_tab_tile(panes)
        };
        let (files, shelf) = (tabs(&[Tab::Files]), tabs(&[Tab::Shelf]));
        let middle = tabs(&[Tab::Room, Tab::Graph]);
        let log = tabs(&[Tab::Log]);
        let right = tabs(&[Tab::Inspector, Tab::Talks]);
        let left = tiles.insert_container(Linear::new_binary(LinearDir::Vertical, [files, shelf], FILES_SHARE));
        let centre = tiles.insert_container(Linear::new_binary(LinearDir::Vertical, [middle, log], 1.0 - LOG_SHARE));
        let columns = [left, centre, right];
        let mut row = Linear::new(LinearDir::Horizontal, columns.to_vec());
        for (column, share) in columns.into_iter().zip(SHARES) {
            row.shares.set_share(column, share);
        }
        let root = tiles.insert_container(row);
        let hidden = BTreeSet::from([Tab::Log, Tab::Talks]);
        Self { tree: Tree::new("the studio", root, tiles), hidden, alone: Tab::Room, is_narrow: false }
    }
}

/// Panes of earlier versions, by their words: workflows are a layer of the graph.
const FORMER_PANES: [&str; 1] = ["workflows"];

/// The stored layout of the panes.
#[derive(Serialize, Deserialize)]
struct Written {
    tree: Tree<Tab>,
    hidden: BTreeSet<Tab>,
    alone: Tab,
}

impl Dock {
    /// How the panes stand, to be written down.
    pub fn to_value(&self) -> Value {
        let written = Written { tree: self.tree.clone(), hidden: self.hidden.clone(), alone: self.alone.clone() };
        serde_json::to_value(written).unwrap_or(Value::Null)
    }

    /// Panes as they were written down; nothing where that is no studio.
    pub fn from_value(value: &Value) -> Option<Self> {
        let Written { tree, hidden, alone } = serde_json::from_value(value.clone()).ok()?;
        let dock = Self { tree, hidden, alone, is_narrow: false };
        // Every pane once, each where it is reached from the root.
        let mut reached = Vec::new();
        dock.reach(dock.tree.root()?, &mut reached, 0)?;
        let panes: Vec<&Tab> = reached.iter().filter_map(|id| dock.tree.tiles.get_pane(id)).collect();
        let distinct: BTreeSet<&&Tab> = panes.iter().collect();
        let is_whole = distinct.len() == panes.len() && reached.len() == dock.tree.tiles.len();
        (is_whole
            && Tab::FIXED.iter().all(|tab| panes.contains(&tab))
            && panes.len() <= 7 + FILES_AT_MOST + ADDED_AT_MOST)
            .then_some(dock)
            .map(Self::without_former_panes)
    }

    /// What used to be a pane and is a part of another one now has no tab any more.
    fn without_former_panes(mut self) -> Self {
        for word in FORMER_PANES {
            self.remove(&Tab::Pane(word.to_owned()));
        }
        self
    }

    /// Walks the tiles below one; `None` if it does not end.
    fn reach(&self, tile: TileId, reached: &mut Vec<TileId>, depth: usize) -> Option<()> {
        if depth > 32 || reached.len() > 500 {
            return None;
        }
        reached.push(tile);
        match self.tree.tiles.get(tile)? {
            Tile::Pane(_) => Some(()),
            Tile::Container(container) => {
                container.children().try_for_each(|child| self.reach(*child, reached, depth + 1))
            }
        }
    }

    /// The files that are open, in the order in which they were opened.
    pub fn files(&self) -> Vec<String> {
        // Tiles are numbered in the order in which they were made.
        let mut tiles: Vec<(u64, &String)> = self.tree.tiles.iter().filter_map(file_of).collect();
        tiles.sort_unstable_by_key(|(number, _)| *number);
        tiles.into_iter().map(|(_, path)| path.clone()).collect()
    }

    /// Whether a pane is not put away. A file is either there or not.
    pub fn is_shown(&self, tab: &Tab) -> bool {
        self.tree.tiles.find_pane(tab).is_some() && !self.hidden.contains(tab)
    }

    /// Whether a pane stands in front of those that share its place.
    pub fn is_in_front(&self, tab: &Tab) -> bool {
        let Some(tile) = self.tree.tiles.find_pane(tab) else { return false };
        let in_front = |parent| match self.tree.tiles.get_container(parent) {
            Some(Container::Tabs(tabs)) => tabs.is_active(tile),
            _ => true,
        };
        self.is_shown(tab) && self.tree.tiles.parent_of(tile).is_none_or(in_front)
    }

    /// Whether a pane is seen in this window.
    pub fn is_seen(&self, tab: &Tab) -> bool {
        if self.is_narrow { self.alone == *tab } else { self.is_in_front(tab) }
    }

    /// Where a pane stood when it was drawn last.
    pub fn rect(&self, tab: &Tab) -> Option<egui::Rect> {
        self.tree.tiles.rect(self.tree.tiles.find_pane(tab)?)
    }

    /// Brings a pane to the front. A file is opened for it beside the room; for the first file that has nothing
    /// unsaved another is closed where too many are open.
    pub fn show(&mut self, tab: &Tab, is_unsaved: impl Fn(&str) -> bool) {
        self.hidden.remove(tab);
        self.alone = tab.clone();
        if self.tree.tiles.find_pane(tab).is_none() {
            let files = self.files();
            if files.len() >= FILES_AT_MOST
                && let Some(old) = files.iter().find(|path| !is_unsaved(path))
            {
                self.remove(&Tab::File(old.clone()));
            }
            self.insert(tab.clone());
        }
        self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if pane == tab));
    }

    /// Puts a pane away; closes a file. The room stays.
    pub fn close(&mut self, tab: &Tab) {
        match tab {
            Tab::Room => {}
            Tab::File(_) | Tab::Pane(_) => self.remove(tab),
            _ => drop(self.hidden.insert(tab.clone())),
        }
        if self.alone == *tab {
            self.alone = Tab::Room;
        }
    }

    /// Puts a pane away, or brings it to the front.
    pub fn toggle(&mut self, tab: &Tab) {
        if self.is_in_front(tab) { self.close(tab) } else { self.show(tab, |_| true) }
    }

    /// The file that stands in front, if one does.
    pub fn front_file(&self) -> Option<String> {
        self.files().into_iter().find(|path| self.is_in_front(&Tab::File(path.clone())))
    }

    /// A file has another path, or is to be shown no more.
    pub fn rename(&mut self, from: &str, to: &str) {
        if self.tree.tiles.find_pane(&Tab::File(to.to_owned())).is_some() {
            return self.close(&Tab::File(from.to_owned()));
        }
        for tile in self.tree.tiles.tiles_mut() {
            if let Tile::Pane(Tab::File(path)) = tile
                && path == from
            {
                to.clone_into(path);
            }
        }
    }

    /// Closes all files: another workspace is open.
    pub fn close_files(&mut self) {
        for path in self.files() {
            self.close(&Tab::File(path));
        }
    }

    /// Everything as it stood at first; open files stay open.
    pub fn reset(&mut self) {
        let files = self.files();
        *self = Self::default();
        for path in files {
            self.insert(Tab::File(path));
        }
    }

    fn remove(&mut self, tab: &Tab) {
        if let Some(tile) = self.tree.tiles.find_pane(tab) {
            self.tree.remove_recursively(tile);
        }
    }

    /// Puts a pane among the tabs of the room; where the room has no tabs, at the root's end.
    fn insert(&mut self, tab: Tab) {
        let tile = self.tree.tiles.insert_pane(tab);
        let beside = self.tree.tiles.find_pane(&Tab::Room).and_then(|room| self.tree.tiles.parent_of(room));
        let beside = beside.or_else(|| self.tree.root());
        match beside.and_then(|container| self.tree.tiles.get_mut(container)) {
            Some(Tile::Container(container)) => container.add_child(tile),
            _ => drop(self.tree.tiles.remove(tile)),
        }
    }

    /// Shows and hides panes for this window: `width` in points; what is known of the selection needs one there.
    pub(in crate::ui) fn arrange(&mut self, width: f32, something_selected: bool) {
        for tab in Tab::FIXED {
            let fits = tab != Tab::Inspector || width >= ROOMY_POINTS || something_selected;
            if let Some(tile) = self.tree.tiles.find_pane(&tab) {
                let shown = fits && !self.hidden.contains(&tab);
                self.tree.tiles.set_visible(tile, shown);
            }
        }
    }
}

fn file_of<'a>((id, tile): (&TileId, &'a Tile<Tab>)) -> Option<(u64, &'a String)> {
    match tile {
        Tile::Pane(Tab::File(path)) => Some((id.0, path)),
        _ => None,
    }
}

/// Every pane keeps its tab, so that it can be dragged; empty containers go.
pub(in crate::ui) const SIMPLIFY: SimplificationOptions = SimplificationOptions {
    prune_empty_tabs: true,
    prune_empty_containers: true,
    prune_single_child_tabs: false,
    prune_single_child_containers: true,
    all_panes_must_have_tabs: true,
    join_nested_linear_containers: true,
    flatten_tabs_in_tabs: true,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn never(_: &str) -> bool {
        false
    }

    #[test]
    fn a_file_is_opened_once_beside_the_room_and_closed_again() {
        let mut dock = Dock::default();
        let file = Tab::File("notes/plan.md".into());
        dock.show(&file, never);
        dock.show(&file, never);
        assert_eq!(dock.files(), ["notes/plan.md"]);
        assert!(dock.is_in_front(&file) && !dock.is_in_front(&Tab::Room));
        dock.rename("notes/plan.md", "notes/new.md");
        assert_eq!(dock.files(), ["notes/new.md"]);
        dock.close(&Tab::File("notes/new.md".into()));
        assert!(dock.files().is_empty());
        dock.close(&Tab::Room);
        assert!(dock.is_shown(&Tab::Room), "the room stays");
    }

    #[test]
    fn panes_are_put_away_and_come_back_where_they_were() {
        let mut dock = Dock::default();
        assert!(!dock.is_shown(&Tab::Log), "folded at first");
        dock.toggle(&Tab::Log);
        assert!(dock.is_in_front(&Tab::Log));
        dock.toggle(&Tab::Log);
        assert!(!dock.is_shown(&Tab::Log));
    }

    #[test]
    fn with_too_many_files_open_the_first_that_is_saved_goes() {
        let mut dock = Dock::default();
        for number in 0..=FILES_AT_MOST {
            dock.show(&Tab::File(format!("{number}.md")), |path| path == "0.md");
        }
        let files = dock.files();
        assert_eq!(files.len(), FILES_AT_MOST);
        assert!(files.contains(&"0.md".to_owned()) && !files.contains(&"1.md".to_owned()), "{files:?}");
    }

    #[test]
    fn a_pane_that_became_a_part_of_another_has_no_tab_any_more() {
        let mut dock = Dock::default();
        let [former, added] = ["workflows", "blackboard"].map(|word| Tab::Pane(word.to_owned()));
        dock.show(&former, |_| true);
        dock.show(&added, |_| true);
        let read = Dock::from_value(&dock.to_value()).expect("it is a studio");
        assert!(read.tree.tiles.find_pane(&former).is_none() && read.tree.tiles.find_pane(&added).is_some());
    }

    #[test]
    fn what_is_no_studio_is_not_taken_for_one() {
        let whole = Dock::default().to_value();
        assert!(Dock::from_value(&whole).is_some());
        for broken in [Value::Null, serde_json::json!({}), serde_json::json!({ "tree": 3, "hidden": [] })] {
            assert_eq!(Dock::from_value(&broken), None);
        }
        let mut without_root = whole.clone();
        without_root["tree"]["root"] = Value::Null;
        assert_eq!(Dock::from_value(&without_root), None);
        let mut without_pane = Dock::default();
        without_pane.remove(&Tab::Graph);
        assert_eq!(Dock::from_value(&without_pane.to_value()), None);
    }

    proptest! {
        #[test]
        fn whatever_is_opened_and_closed_every_pane_is_there_and_is_remembered(
            steps in prop::collection::vec((0_usize..4, 0_usize..12), 0..60)
        ) {
            let mut dock = Dock::default();
            for (what, which) in steps {
                let tab = Tab::FIXED.get(which).cloned().unwrap_or_else(|| Tab::File(format!("{which}.md")));
                match what {
                    0 | 1 => dock.show(&tab, never),
                    2 => dock.close(&tab),
                    _ => dock.toggle(&tab),
                }
            }
            prop_assert_eq!(Dock::from_value(&dock.to_value()).map(|read| read.files()), Some(dock.files()));
            prop_assert!(dock.is_shown(&Tab::Room));
        }
    }
}
