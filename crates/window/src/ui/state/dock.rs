//! The layout of the panes: where they are, and which are shown. Panes can be dragged next to and onto each other; the
//! layout is saved.

use std::collections::BTreeSet;

use egui_tiles::{Container, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dock_place::{DockArea, DockedPane};
pub use super::tab::Tab;

/// The maximum number of open files; beyond it, the one opened first is closed unless it has unsaved changes.
pub const MAX_FILES: usize = 40;
/// The maximum number of added panes in a saved layout.
const MAX_ADDED_PANES: usize = 20;
/// Windows narrower than this, in points, show some panes only while something is selected.
const WIDE_POINTS: f32 = 1_000.0;
/// The default shares of the columns: left, middle, right.
const SHARES: [f32; 3] = [0.20, 0.55, 0.25];
/// The default share of the middle column for the event log.
const LOG_SHARE: f32 = 0.38;
/// The default share of the left column for the files.
const FILES_SHARE: f32 = 0.42;

/// The layout of the panes.
#[derive(Clone, PartialEq, Debug)]
pub struct Dock {
    pub(in crate::ui) tree: Tree<Tab>,
    /// The panes that the person closed.
    hidden: BTreeSet<Tab>,
    /// The pane that a narrow window shows.
    pub alone: Tab,
    /// Whether the window was narrow when it was drawn last.
    pub(in crate::ui) is_narrow: bool,
    /// The panes that always have a tab.
    panes: Vec<DockedPane>,
}

/// The names of panes that earlier versions had: workflows are now a layer of the graph.
const FORMER_PANES: [&str; 1] = ["workflows"];

/// The saved layout.
#[derive(Serialize, Deserialize)]
struct SavedLayout {
    tree: Tree<Tab>,
    hidden: BTreeSet<Tab>,
    alone: Tab,
}

impl Dock {
    /// The layout of these panes before a person moves any of them.
    pub fn of(panes: Vec<DockedPane>) -> Self {
        let mut tiles = Tiles::default();
        let tabs = DockArea::ALL.map(|area| {
            let of_area = panes.iter().filter(|pane| pane.place.area == Some(area));
            let of_area: Vec<TileId> = of_area.map(|pane| tiles.insert_pane(Tab::named(pane.id))).collect();
            (!of_area.is_empty()).then(|| tiles.insert_tab_tile(of_area))
        });
        let [left_top, left_bottom, middle, below, right] = tabs;
        let mut column = |top: Option<TileId>, bottom: Option<TileId>, share| match (top, bottom) {
            (Some(top), Some(bottom)) => {
                Some(tiles.insert_container(Linear::new_binary(LinearDir::Vertical, [top, bottom], share)))
            }
            (top, bottom) => top.or(bottom),
        };
        let (left, centre) = (column(left_top, left_bottom, FILES_SHARE), column(middle, below, 1.0 - LOG_SHARE));
        let columns = [left, centre, right];
        let mut row = Linear::new(LinearDir::Horizontal, columns.into_iter().flatten().collect());
        for (column, share) in columns.into_iter().zip(SHARES) {
            column.into_iter().for_each(|column| row.shares.set_share(column, share));
        }
        let root = tiles.insert_container(row);
        let hidden = panes.iter().filter(|pane| pane.place.is_closed_at_first);
        let hidden = hidden.map(|pane| Tab::named(pane.id)).collect();
        let tree = Tree::new("the studio", root, tiles);
        let panes: Vec<DockedPane> = panes.into_iter().filter(|pane| pane.place.area.is_some()).collect();
        Self { tree, hidden, alone: main_tab(&panes), is_narrow: false, panes }
    }

    /// Adds a pane, unless the layout has it already. One that always has a tab gets it beside another pane of its area.
    pub fn add(&mut self, pane: DockedPane) {
        if pane.place.area.is_none() || self.panes.iter().any(|known| known.id == pane.id) {
            return;
        }
        let tab = Tab::named(pane.id);
        if self.tree.tiles.find_pane(&tab).is_none() {
            let neighbour = self.panes.iter().find(|known| known.place.area == pane.place.area);
            let neighbour = neighbour.map_or_else(|| main_tab(&self.panes), |known| Tab::named(known.id));
            self.insert_beside(&neighbour, tab.clone());
            if pane.place.is_closed_at_first {
                self.hidden.insert(tab);
            }
        }
        self.panes.push(pane);
    }

    /// The tabs that always exist.
    pub fn fixed(&self) -> impl Iterator<Item = Tab> {
        self.panes.iter().map(|pane| Tab::named(pane.id))
    }

    /// The pane of a tab that always exists.
    fn docked(&self, tab: &Tab) -> Option<&DockedPane> {
        self.panes.iter().find(|pane| tab.item().is_none() && tab.pane() == pane.id)
    }

    /// Returns the layout for saving.
    pub fn to_value(&self) -> Value {
        let saved = SavedLayout { tree: self.tree.clone(), hidden: self.hidden.clone(), alone: self.alone.clone() };
        serde_json::to_value(saved).unwrap_or(Value::Null)
    }

    /// Returns a saved layout, or `None` if it is not a complete layout.
    pub fn from_value(value: &Value) -> Option<Self> {
        let SavedLayout { tree, hidden, alone } = serde_json::from_value(value.clone()).ok()?;
        let dock = Self { tree, hidden, alone, ..Self::default() };
        // Every pane must exist once and be reachable from the root.
        let mut reached = Vec::new();
        dock.collect_reachable(dock.tree.root()?, &mut reached, 0)?;
        let panes: Vec<&Tab> = reached.iter().filter_map(|id| dock.tree.tiles.get_pane(id)).collect();
        let distinct: BTreeSet<&&Tab> = panes.iter().collect();
        let is_whole = distinct.len() == panes.len() && reached.len() == dock.tree.tiles.len();
        let may_have_item = |pane: &str| dock.panes.iter().all(|docked| docked.id != pane);
        (is_whole
            && dock.fixed().all(|tab| panes.contains(&&tab))
            && panes.iter().all(|tab| tab.item().is_none() || may_have_item(tab.pane()))
            && panes.len() <= dock.panes.len() + MAX_FILES + MAX_ADDED_PANES)
            .then_some(dock)
            .map(Self::without_former_panes)
    }

    /// Removes the tabs of panes that have become parts of others.
    fn without_former_panes(mut self) -> Self {
        for word in FORMER_PANES {
            self.remove(&Tab::named(word));
        }
        self
    }

    /// Collects the tiles below this one; `None` if they are nested too deeply.
    fn collect_reachable(&self, tile: TileId, reached: &mut Vec<TileId>, depth: usize) -> Option<()> {
        if depth > 32 || reached.len() > 500 {
            return None;
        }
        reached.push(tile);
        match self.tree.tiles.get(tile)? {
            Tile::Pane(_) => Some(()),
            Tile::Container(container) => {
                container.children().try_for_each(|child| self.collect_reachable(*child, reached, depth + 1))
            }
        }
    }

    /// Returns the paths of the open files in the order in which they were opened.
    pub fn files(&self) -> Vec<String> {
        // Tile ids increase with every new tile.
        let mut tiles: Vec<(u64, &str)> = self.tree.tiles.iter().filter_map(file_of).collect();
        tiles.sort_unstable_by_key(|(number, _)| *number);
        tiles.into_iter().map(|(_, path)| path.to_owned()).collect()
    }

    /// Whether a pane is not closed.
    pub fn is_shown(&self, tab: &Tab) -> bool {
        self.tree.tiles.find_pane(tab).is_some() && !self.hidden.contains(tab)
    }

    /// Whether a pane is the active one of its tabs.
    pub fn is_in_front(&self, tab: &Tab) -> bool {
        let Some(tile) = self.tree.tiles.find_pane(tab) else { return false };
        let in_front = |parent| match self.tree.tiles.get_container(parent) {
            Some(Container::Tabs(tabs)) => tabs.is_active(tile),
            _ => true,
        };
        self.is_shown(tab) && self.tree.tiles.parent_of(tile).is_none_or(in_front)
    }

    /// Whether a pane is visible in this window.
    pub fn is_visible(&self, tab: &Tab) -> bool {
        if self.is_narrow { self.alone == *tab } else { self.is_in_front(tab) }
    }

    /// Returns the rectangle of a pane in the last frame.
    pub fn rect(&self, tab: &Tab) -> Option<egui::Rect> {
        self.tree.tiles.rect(self.tree.tiles.find_pane(tab)?)
    }

    /// Brings a pane to the front. Opens a file as a tab beside the room; if too many are open, the first one without
    /// unsaved changes is closed.
    pub fn show(&mut self, tab: &Tab, is_unsaved: impl Fn(&str) -> bool) {
        self.hidden.remove(tab);
        self.alone = tab.clone();
        if self.tree.tiles.find_pane(tab).is_none() {
            let files = self.files();
            if files.len() >= MAX_FILES
                && let Some(old) = files.iter().find(|path| !is_unsaved(path))
            {
                self.remove(&Tab::file(old));
            }
            self.insert(tab.clone());
        }
        self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if pane == tab));
    }

    /// Closes a pane or a file, unless it is the pane that cannot be closed.
    pub fn close(&mut self, tab: &Tab) {
        match self.docked(tab) {
            Some(pane) if pane.place.is_permanent => {}
            Some(_) => drop(self.hidden.insert(tab.clone())),
            None => self.remove(tab),
        }
        if self.alone == *tab {
            self.alone = main_tab(&self.panes);
        }
    }

    /// Closes a pane that is in front; brings any other to the front.
    pub fn toggle(&mut self, tab: &Tab) {
        if self.is_in_front(tab) { self.close(tab) } else { self.show(tab, |_| true) }
    }

    /// Returns the path of the file in front, if a file is.
    pub fn front_file(&self) -> Option<String> {
        self.files().into_iter().find(|path| self.is_in_front(&Tab::file(path)))
    }

    /// Changes the path of an open file; closes it if the new path is already open.
    pub fn rename(&mut self, from: &str, to: &str) {
        if self.tree.tiles.find_pane(&Tab::file(to)).is_some() {
            return self.close(&Tab::file(from));
        }
        for tile in self.tree.tiles.tiles_mut() {
            if let Tile::Pane(tab) = tile
                && tab.file_path() == Some(from)
            {
                *tab = Tab::file(to);
            }
        }
    }

    /// Closes all files, because another workspace is open.
    pub fn close_files(&mut self) {
        for path in self.files() {
            self.close(&Tab::file(path));
        }
    }

    /// Resets the layout; open files stay open.
    pub fn reset(&mut self) {
        let files = self.files();
        *self = Self::of(std::mem::take(&mut self.panes));
        for path in files {
            self.insert(Tab::file(path));
        }
    }

    fn remove(&mut self, tab: &Tab) {
        if let Some(tile) = self.tree.tiles.find_pane(tab) {
            self.tree.remove_recursively(tile);
        }
    }

    /// Inserts a tab beside the pane that cannot be closed.
    fn insert(&mut self, tab: Tab) {
        self.insert_beside(&main_tab(&self.panes), tab);
    }

    /// Inserts a tab beside another one, or into the root if that one has no tabs.
    fn insert_beside(&mut self, neighbour: &Tab, tab: Tab) {
        let tile = self.tree.tiles.insert_pane(tab);
        let beside = self.tree.tiles.find_pane(neighbour).and_then(|found| self.tree.tiles.parent_of(found));
        let beside = beside.or_else(|| self.tree.root());
        match beside.and_then(|container| self.tree.tiles.get_mut(container)) {
            Some(Tile::Container(container)) => container.add_child(tile),
            _ => drop(self.tree.tiles.remove(tile)),
        }
    }

    /// Shows and hides panes for a window of this width, in points; if it is not wide, some are shown only for a selection.
    pub(in crate::ui) fn arrange(&mut self, width: f32, something_selected: bool) {
        for pane in &self.panes {
            let tab = Tab::named(pane.id);
            let fits = !pane.place.follows_selection || width >= WIDE_POINTS || something_selected;
            if let Some(tile) = self.tree.tiles.find_pane(&tab) {
                let shown = fits && !self.hidden.contains(&tab);
                self.tree.tiles.set_visible(tile, shown);
            }
        }
    }
}

fn file_of<'a>((id, tile): (&TileId, &'a Tile<Tab>)) -> Option<(u64, &'a str)> {
    match tile {
        Tile::Pane(tab) => Some((id.0, tab.file_path()?)),
        Tile::Container(_) => None,
    }
}

/// The tab of the pane that cannot be closed.
fn main_tab(panes: &[DockedPane]) -> Tab {
    let main = panes.iter().find(|pane| pane.place.is_permanent).or(panes.first());
    Tab::named(main.map_or("", |pane| pane.id))
}

/// Every pane keeps its tab, so that it can be dragged; empty containers are removed.
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

    fn never_unsaved(_: &str) -> bool {
        false
    }

    #[test]
    fn a_file_is_opened_once_beside_the_room_and_can_be_closed() {
        let mut dock = Dock::default();
        let file = Tab::file("notes/plan.md");
        dock.show(&file, never_unsaved);
        dock.show(&file, never_unsaved);
        assert_eq!(dock.files(), ["notes/plan.md"]);
        assert!(dock.is_in_front(&file) && !dock.is_in_front(&Tab::ROOM));
        dock.rename("notes/plan.md", "notes/new.md");
        assert_eq!(dock.files(), ["notes/new.md"]);
        dock.close(&Tab::file("notes/new.md"));
        assert!(dock.files().is_empty());
        dock.close(&Tab::ROOM);
        assert!(dock.is_shown(&Tab::ROOM), "the room cannot be closed");
    }

    #[test]
    fn panes_can_be_hidden_and_shown_again() {
        let mut dock = Dock::default();
        assert!(!dock.is_shown(&Tab::LOG), "hidden by default");
        dock.toggle(&Tab::LOG);
        assert!(dock.is_in_front(&Tab::LOG));
        dock.toggle(&Tab::LOG);
        assert!(!dock.is_shown(&Tab::LOG));
    }

    #[test]
    fn opening_too_many_files_closes_the_first_saved_one() {
        let mut dock = Dock::default();
        for number in 0..=MAX_FILES {
            dock.show(&Tab::file(format!("{number}.md")), |path| path == "0.md");
        }
        let files = dock.files();
        assert_eq!(files.len(), MAX_FILES);
        assert!(files.contains(&"0.md".to_owned()) && !files.contains(&"1.md".to_owned()), "{files:?}");
    }

    #[test]
    fn a_former_pane_has_no_tab() {
        let mut dock = Dock::default();
        let [former, added] = ["workflows", "blackboard"].map(Tab::named);
        dock.show(&former, |_| true);
        dock.show(&added, |_| true);
        let read = Dock::from_value(&dock.to_value()).expect("it is a layout");
        assert!(read.tree.tiles.find_pane(&former).is_none() && read.tree.tiles.find_pane(&added).is_some());
    }

    #[test]
    fn an_invalid_layout_is_rejected() {
        let saved_layout = Dock::default().to_value();
        assert!(Dock::from_value(&saved_layout).is_some());
        for broken in [Value::Null, serde_json::json!({}), serde_json::json!({ "tree": 3, "hidden": [] })] {
            assert_eq!(Dock::from_value(&broken), None);
        }
        let mut without_root = saved_layout.clone();
        without_root["tree"]["root"] = Value::Null;
        assert_eq!(Dock::from_value(&without_root), None);
        let mut without_pane = Dock::default();
        without_pane.remove(&Tab::GRAPH);
        assert_eq!(Dock::from_value(&without_pane.to_value()), None);
    }

    proptest! {
        #[test]
        fn a_layout_is_saved_and_restored_after_any_changes(
            steps in prop::collection::vec((0_usize..4, 0_usize..12), 0..60)
        ) {
            let mut dock = Dock::default();
            for (what, which) in steps {
                let tab = dock.fixed().nth(which).unwrap_or_else(|| Tab::file(format!("{which}.md")));
                match what {
                    0 | 1 => dock.show(&tab, never_unsaved),
                    2 => dock.close(&tab),
                    _ => dock.toggle(&tab),
                }
            }
            prop_assert_eq!(Dock::from_value(&dock.to_value()).map(|read| read.files()), Some(dock.files()));
            prop_assert!(dock.is_shown(&Tab::ROOM));
        }
    }
}
