//! The explorer: the files of the workspace as a tree, with the status of agents and unseen changes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use egui::{Pos2, Rect, Ui};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::commands::Pending;
use self::dialogs::FileDialog;
use self::status::StatusTracker;
use self::tree::{RowTarget, Tree, ancestor_folders};
use crate::ui::Command;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::{FilesCommand, PaneCommand, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::{Pane, PaneWindow};
use crate::ui::panes::texts as titles;
use crate::ui::state::dock::Tab;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::RoomModel;
use crate::view::theme::SPACE;

mod commands;
mod dialogs;
mod drag_and_drop;
mod filter;
pub mod icons;
mod keyboard;
mod menu;
mod row;
mod rows;
mod status;
pub mod templates;
mod texts;
mod tooltips;
mod tree;

/// Folders that start collapsed: people rarely look for files that the program writes.
const FOLDED_AT_FIRST: [&str; 2] = ["sessions", "storage"];

/// Returns the id under which the tree holds keyboard focus.
pub fn tree_id() -> egui::Id {
    egui::Id::new("files of the workspace")
}

/// Returns the id of the search field.
fn filter_id() -> egui::Id {
    egui::Id::new("find a file of the workspace")
}

/// State of the explorer that is saved with the workspace.
#[derive(Clone, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// Paths of the collapsed folders.
    pub folded: BTreeSet<String>,
    /// Whether the bin is expanded.
    pub is_bin_open: bool,
    /// The last version of each file that the user has seen, by path. `None` before the first listing, whose files all
    /// count as seen.
    pub seen: Option<BTreeMap<String, u64>>,
}

impl Default for Remembered {
    fn default() -> Self {
        Self { folded: FOLDED_AT_FIRST.map(str::to_owned).into(), is_bin_open: false, seen: None }
    }
}

/// The state of the explorer pane.
#[derive(Clone, Debug, Default)]
pub struct Explorer {
    /// The part that is saved with the workspace.
    pub remembered: Remembered,
    filter: String,
    tree: Tree,
    tracker: StatusTracker,
    /// Paths of the selected files.
    selected: BTreeSet<String>,
    /// The row with keyboard focus.
    active: Option<RowTarget>,
    /// The fixed end of a range selection.
    anchor: Option<RowTarget>,
    /// The selected file of the window as of the last frame; used to follow selections made elsewhere.
    last_chosen: Option<String>,
    /// A file selected here that the window has not confirmed yet.
    pending_choice: Option<String>,
    dialog: Option<FileDialog>,
    pending: Vec<Pending>,
    /// Paths of the files being dragged.
    dragged: Option<Vec<String>>,
    /// The rectangle of the pane in the last frame.
    pane: Option<Rect>,
    shown_folders: Vec<(Rect, String)>,
    page_rows: usize,
    rows_drawn: usize,
    /// The position of the active row's context menu when it was opened with the keyboard.
    menu_at: Option<Pos2>,
    scrolls_to_active: bool,
    wants_filter: bool,
    wants_tree: bool,
    wants_menu: bool,
    /// Commands received from the window since the last frame.
    queued: Vec<FilesCommand>,
    /// Commands for the rest of the window, returned at the end of the frame.
    out: Vec<Command>,
}

impl Pane for Explorer {
    fn id(&self) -> &'static str {
        tab::FILES
    }

    fn title(&self) -> &'static str {
        titles::FILES
    }

    fn place(&self) -> DockPlace {
        DockPlace::always_in(DockArea::LeftTop)
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        explorer_ui(ui, cx, self)
    }

    fn apply(&mut self, command: &PaneCommand, _: &mut PaneWindow<'_>) -> Vec<Command> {
        if let Some(command) = command.get::<FilesCommand>() {
            self.ask(command.clone());
        }
        Vec::new()
    }

    fn takes_key(&self, focused: Option<egui::Id>, command: &str) -> bool {
        self.handles_shortcut(focused, command)
    }

    fn focus_widget(&self) -> Option<egui::Id> {
        Some(tree_id())
    }

    fn is_asking(&self) -> bool {
        self.dialog.is_some()
    }

    fn file_targets(&self, room: &RoomModel) -> Option<FileTargets> {
        Some(self.current_targets(room))
    }

    fn drop_folder(&self, pointer: Pos2) -> Option<String> {
        self.folder_at(pointer)
    }

    fn rename_file(&mut self, from: &str, to: &str) {
        self.follow_rename(from, to);
    }

    fn saved(&self) -> Option<Value> {
        serde_json::to_value(&self.remembered).ok()
    }

    fn saved_mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.remembered.hash(&mut hasher);
        hasher.finish()
    }

    fn restore(&mut self, saved: &Value) -> bool {
        let remembered = serde_json::from_value(saved.clone());
        remembered.map(|remembered| self.remembered = remembered).is_ok()
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

/// Draws the explorer and returns the resulting commands.
pub fn explorer_ui(ui: &mut Ui, cx: &ViewerContext<'_>, explorer: &mut Explorer) -> Vec<Command> {
    widgets::apply_style(ui.style_mut(), cx.theme);
    explorer.show(ui, cx)
}

impl Explorer {
    /// Returns how many rows were drawn in the last frame, and how many the tree has.
    pub fn rows_drawn(&self) -> (usize, usize) {
        (self.rows_drawn, self.tree.rows().len())
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        self.pane = Some(ui.available_rect_before_wrap());
        self.tracker.update(cx.room, cx.recent);
        let mut commands = self.run_pending(cx);
        let mut requests = std::mem::take(&mut self.queued);
        let by_key = self.handle_keys(ui, cx);
        self.route_commands(by_key, &mut requests);
        let opens_best = self.filter_ui(ui, cx.theme);
        self.update(cx);
        if opens_best {
            requests.extend(self.best().map(|path| FilesCommand::Open(vec![path])));
        }
        let by_button = self.bar_ui(ui, cx);
        self.route_commands(by_button, &mut requests);
        self.drop_hint_ui(ui, cx);
        ui.add_space(SPACE[0]);
        match &cx.ui.texts.files {
            None => {
                ui.label(widgets::secondary_text(texts::LOADING, cx.theme));
            }
            Some(Err(why)) => widgets::empty(ui, Icon::Warning, texts::COULD_NOT_BE_LOADED, why, cx.theme),
            Some(Ok(_)) => requests.extend(self.tree_ui(ui, cx)),
        }
        requests.extend(self.drag_ui(ui, cx.theme));
        requests.extend(self.open_dialog_ui(ui, cx));
        for request in requests {
            match request {
                FilesCommand::CopyPaths(paths) => ui.copy_text(paths.join("\n")),
                request => commands.extend(self.perform(request, cx)),
            }
        }
        // Selections and notices come before the commands that follow from them.
        let mut out = std::mem::take(&mut self.out);
        out.extend(commands);
        out
    }

    /// Moves commands for the explorer itself into `requests` and queues all others.
    fn route_commands(&mut self, commands: Vec<Command>, requests: &mut Vec<FilesCommand>) {
        for command in commands {
            let request = match &command {
                Command::Window(WindowCommand::Pane(command)) => command.get::<FilesCommand>().cloned(),
                _ => None,
            };
            match request {
                Some(request) => requests.push(request),
                // The list is visible already.
                None if command == Command::Show(Tab::FILES) => {}
                None => self.out.push(command),
            }
        }
    }

    fn update(&mut self, cx: &ViewerContext<'_>) {
        let files = cx.ui.texts.files();
        if !matches!(cx.ui.texts.files, Some(Ok(_))) {
            return;
        }
        let Remembered { folded, is_bin_open, .. } = &self.remembered;
        if self.tree.update(&files, &self.filter, folded, *is_bin_open) {
            self.forget_removed_files(cx);
        }
        if cx.ui.selection.file() != self.last_chosen.as_deref() {
            if self.pending_choice.is_some() && self.pending_choice.as_deref() == cx.ui.selection.file() {
                self.last_chosen = self.pending_choice.take();
            } else {
                self.follow_choice(cx);
            }
        }
    }

    /// Drops the state of files that no longer exist.
    fn forget_removed_files(&mut self, cx: &ViewerContext<'_>) {
        let tree = &self.tree;
        match &mut self.remembered.seen {
            Some(seen) => seen.retain(|path, _| tree.info(path).is_some()),
            seen @ None => {
                let known = tree.files().iter().filter(|file| file.version > 0);
                *seen = Some(known.map(|file| (file.path.clone(), file.version)).collect());
            }
        }
        self.selected.retain(|path| tree.existing(path).is_some());
        // The selected file is on screen, so it counts as seen.
        if let Some(chosen) = cx.ui.selection.file().map(str::to_owned) {
            self.mark_seen(&chosen);
        }
    }

    /// Shows a file that was selected elsewhere in the window.
    fn follow_choice(&mut self, cx: &ViewerContext<'_>) {
        let Some(chosen) = cx.ui.selection.file().map(str::to_owned) else {
            self.last_chosen = None;
            return;
        };
        // A file that is still being created is followed once it exists.
        if self.tree.existing(&chosen).is_none() {
            return;
        }
        self.last_chosen = Some(chosen.clone());
        self.mark_seen(&chosen);
        for folder in ancestor_folders(&chosen) {
            self.remembered.folded.remove(folder);
        }
        self.selected = [chosen.clone()].into();
        self.active = Some(RowTarget::File(chosen));
        self.anchor.clone_from(&self.active);
        self.scrolls_to_active = true;
    }

    /// Selects a file.
    fn choose(&mut self, path: &str) {
        self.out.push(WindowCommand::ChooseFile(Some(path.to_owned())).into());
        self.selected = [path.to_owned()].into();
        self.active = Some(RowTarget::File(path.to_owned()));
        // A file that is still being created is followed once it exists.
        self.pending_choice = self.tree.existing(path).is_some().then(|| path.to_owned());
        self.mark_seen(path);
    }

    fn mark_seen(&mut self, path: &str) {
        let Some(version) = self.tree.info(path).map(|file| file.version) else { return };
        if let Some(seen) = &mut self.remembered.seen {
            seen.insert(path.to_owned(), version);
        }
    }

    fn toggle(&mut self, folder: &str) {
        if !self.remembered.folded.remove(folder) {
            self.remembered.folded.insert(folder.to_owned());
        }
    }

    /// Returns the path of the best match for the search text.
    fn best(&self) -> Option<String> {
        let file = self.tree.file(self.tree.filter().best()?);
        file.is_there.then(|| file.path.clone())
    }

    fn open_dialog_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Option<FilesCommand> {
        let mut dialog = self.dialog.take()?;
        let (stays, answer) = dialogs::dialog_ui(ui, &mut dialog, &self.tree, cx);
        // The tree gets the focus back unless a new file is about to be opened.
        self.wants_tree |= !stays && !matches!(answer, Some(FilesCommand::Make(..)));
        if stays {
            self.dialog = Some(dialog);
        }
        answer
    }
}

#[cfg(test)]
mod tests;
