//! Keyboard navigation and shortcuts of the tree.

use egui::{Key, Modifiers, Ui};

use super::tree::{RowKind, RowTarget};
use super::{Explorer, filter_id, tree_id};
use crate::base::paths::folder_of;
use crate::ui::Command;
use crate::ui::commands::{WindowCommand, keys};
use crate::ui::context::ViewerContext;

/// A movement of the active row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyMove {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

const STEPS: [(Key, KeyMove); 6] = [
    (Key::ArrowUp, KeyMove::Up),
    (Key::ArrowDown, KeyMove::Down),
    (Key::PageUp, KeyMove::PageUp),
    (Key::PageDown, KeyMove::PageDown),
    (Key::Home, KeyMove::First),
    (Key::End, KeyMove::Last),
];

impl Explorer {
    /// Whether the explorer handles a window shortcut itself while the widget `focused` has keyboard focus.
    pub(super) fn handles_shortcut(&self, focused: Option<egui::Id>, command: &str) -> bool {
        let in_tree = focused == Some(tree_id());
        match command {
            "window.escape" => in_tree || focused == Some(filter_id()) || self.dialog.is_some(),
            "room.delete" | "room.duplicate" | "room.select_all" => in_tree,
            _ => false,
        }
    }

    /// Handles the keys of this frame; returns the resulting commands.
    pub(super) fn handle_keys(&mut self, ui: &Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let take = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        if keys::consume(ui, "files.find") {
            self.wants_filter = true;
        }
        let has_keys = ui.memory(|memory| memory.has_focus(tree_id()));
        if !has_keys || self.dialog.is_some() || !keys::are_active(ui) {
            return Vec::new();
        }
        for (key, step) in STEPS {
            // `consume_key` ignores extra Shift, so the variant with Shift comes first.
            if take(Modifiers::SHIFT, key) {
                self.step(step, true);
            } else if take(Modifiers::NONE, key) {
                self.step(step, false);
            }
        }
        if keys::consume(ui, "files.select_all") {
            let shown = self.tree.rows().iter().filter_map(|row| match row.kind {
                RowKind::File(file) => Some(self.tree.file(file).path.clone()),
                _ => None,
            });
            self.selected = shown.collect();
        }
        if take(Modifiers::NONE, Key::ArrowLeft) {
            self.collapse_or_go_to_parent();
        }
        if take(Modifiers::NONE, Key::ArrowRight) {
            self.expand_or_go_to_child();
        }
        if keys::consume(ui, "files.menu") {
            self.wants_menu = true;
        }
        if take(Modifiers::NONE, Key::Escape) {
            self.escape(ui);
        }
        let mut commands = Vec::new();
        let enters = keys::consume(ui, "files.open");
        for id in ["files.rename", "files.duplicate", "files.delete"] {
            if keys::consume(ui, id) {
                commands.extend(self.run(id, cx));
            }
        }
        match self.active.clone().filter(|_| enters) {
            Some(RowTarget::File(_)) => commands.extend(self.run("files.open", cx)),
            Some(RowTarget::Folder(folder)) => self.toggle(&folder),
            Some(RowTarget::Bin) => self.remembered.is_bin_open = !self.remembered.is_bin_open,
            Some(RowTarget::Deleted(_)) => commands.extend(self.run("files.restore", cx)),
            None => {}
        }
        commands
    }

    /// Moves the active row.
    fn step(&mut self, step: KeyMove, extends: bool) {
        let last = self.tree.rows().len().wrapping_sub(1);
        if last == usize::MAX {
            return;
        }
        let now = self.active.as_ref().and_then(|active| self.tree.find(active));
        let page = self.page_rows.max(2) - 1;
        let next = match (step, now) {
            (KeyMove::First, _) | (KeyMove::Down | KeyMove::PageDown, None) => 0,
            (KeyMove::Last, _) | (KeyMove::Up | KeyMove::PageUp, None) => last,
            (KeyMove::Up, Some(now)) => now.saturating_sub(1),
            (KeyMove::Down, Some(now)) => now + 1,
            (KeyMove::PageUp, Some(now)) => now.saturating_sub(page),
            (KeyMove::PageDown, Some(now)) => now + page,
        };
        self.go_to(next.min(last), extends);
    }

    /// Makes a row the active one and selects its file, or extends the selection to it.
    pub(super) fn go_to(&mut self, index: usize, extends: bool) {
        let Some(row) = self.tree.rows().get(index).copied() else { return };
        let target = self.tree.target_of(row);
        if extends {
            self.select_up_to(index);
        } else if let RowTarget::File(path) = &target {
            self.choose(&path.clone());
        } else {
            self.selected.clear();
        }
        if !extends {
            self.anchor = Some(target.clone());
        }
        self.active = Some(target);
        self.scrolls_to_active = true;
    }

    fn collapse_or_go_to_parent(&mut self) {
        let parent = match self.active.clone() {
            Some(RowTarget::Folder(folder))
                if !self.remembered.folded.contains(&folder) && !self.tree.filter().is_active() =>
            {
                self.remembered.folded.insert(folder);
                return;
            }
            Some(RowTarget::Folder(path) | RowTarget::File(path)) => RowTarget::Folder(folder_of(&path).to_owned()),
            Some(RowTarget::Bin) => {
                self.remembered.is_bin_open = false;
                return;
            }
            Some(RowTarget::Deleted(_)) => RowTarget::Bin,
            None => return,
        };
        if let Some(index) = self.tree.find(&parent) {
            self.go_to(index, false);
        }
    }

    fn expand_or_go_to_child(&mut self) {
        match self.active.clone() {
            Some(RowTarget::Folder(folder)) if !self.remembered.folded.remove(&folder) => {
                self.step(KeyMove::Down, false)
            }
            Some(RowTarget::Bin) if std::mem::replace(&mut self.remembered.is_bin_open, true) => {
                self.step(KeyMove::Down, false);
            }
            _ => {}
        }
    }

    fn escape(&mut self, ui: &Ui) {
        if self.dragged.take().is_some() {
            self.out.push(WindowCommand::Drag(None).into());
        } else if !self.filter.is_empty() {
            self.filter.clear();
        } else if !self.selected.is_empty() {
            self.selected.clear();
        } else {
            ui.memory_mut(|memory| memory.surrender_focus(tree_id()));
        }
    }
}
