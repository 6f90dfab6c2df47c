//! The explorer: the files of the workspace as a tree, with who is working on them and what has changed.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Pos2, Rect, Ui};
use serde::{Deserialize, Serialize};

use self::commands::Pending;
use self::dialogs::Question;
use self::status::Watch;
use self::tree::{RowTarget, Tree, folders_around};
use crate::ui::Command;
use crate::ui::commands::{FilesCommand, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
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

/// Folders that are folded at first: what the program writes there is seldom looked for.
const FOLDED_AT_FIRST: [&str; 2] = ["sessions", "storage"];

/// The tree as a widget, for the keyboard's focus.
pub fn tree_id() -> egui::Id {
    egui::Id::new("files of the workspace")
}

/// The field that files are looked for with.
fn filter_id() -> egui::Id {
    egui::Id::new("find a file of the workspace")
}

/// What is worth remembering until the workspace is opened again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// Folders of which it is hidden what they hold, by path.
    pub folded: BTreeSet<String>,
    /// Whether it is shown what is gone.
    pub is_bin_open: bool,
    /// The version of each file that the person has seen, by path. Absent before the first look: all that is there
    /// then counts as seen.
    pub seen: Option<BTreeMap<String, u64>>,
}

impl Default for Remembered {
    fn default() -> Self {
        Self { folded: FOLDED_AT_FIRST.map(str::to_owned).into(), is_bin_open: false, seen: None }
    }
}

/// What it keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct Explorer {
    /// What is worth remembering.
    pub remembered: Remembered,
    filter: String,
    tree: Tree,
    watch: Watch,
    /// Files that are selected, by path.
    selected: BTreeSet<String>,
    /// The row that keys are about.
    active: Option<RowTarget>,
    /// The row from which several are selected.
    anchor: Option<RowTarget>,
    /// The last known selected file: a selection made elsewhere is followed.
    last_chosen: Option<String>,
    /// What was chosen here, until the window says so too.
    choosing: Option<String>,
    question: Option<Question>,
    pending: Vec<Pending>,
    /// The dragged files.
    dragged: Option<Vec<String>>,
    /// Where the pane was drawn last, and the folders in it.
    pane: Option<Rect>,
    shown_folders: Vec<(Rect, String)>,
    page_rows: usize,
    rows_drawn: usize,
    /// Where the menu of the active row was opened by key.
    menu_at: Option<Pos2>,
    shows_active: bool,
    wants_filter: bool,
    wants_tree: bool,
    wants_menu: bool,
    /// What commands of the window asked of it since it was drawn last.
    asked: Vec<FilesCommand>,
    /// What is to be done beyond the explorer; it goes out when the frame is drawn.
    out: Vec<Command>,
}

/// Draws it.
pub fn explorer_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut Explorer) -> Vec<Command> {
    widgets::dress(ui.style_mut(), cx.theme);
    own.show(ui, cx)
}

impl Explorer {
    /// How many rows were drawn in the last frame, of how many that there are.
    pub fn rows_drawn(&self) -> (usize, usize) {
        (self.rows_drawn, self.tree.rows().len())
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        self.pane = Some(ui.available_rect_before_wrap());
        self.watch.follow(cx.room, cx.recent);
        let mut commands = self.run_pending(cx);
        let mut asks = std::mem::take(&mut self.asked);
        let by_key = self.take_keys(ui, cx);
        self.sort_out(by_key, &mut asks);
        let opens_best = self.filter_ui(ui, cx.theme);
        self.update(cx);
        if opens_best {
            asks.extend(self.best().map(|path| FilesCommand::Open(vec![path])));
        }
        let by_button = self.bar_ui(ui, cx);
        self.sort_out(by_button, &mut asks);
        self.hanging_ui(ui, cx);
        ui.add_space(SPACE[0]);
        match &cx.ui.texts.files {
            None => {
                ui.label(widgets::soft(texts::LOADING, cx.theme));
            }
            Some(Err(why)) => widgets::empty(ui, Icon::Warning, texts::COULD_NOT_BE_LOADED, why, cx.theme),
            Some(Ok(_)) => asks.extend(self.tree_ui(ui, cx)),
        }
        asks.extend(self.hold(ui, cx.theme));
        asks.extend(self.ask_ui(ui, cx));
        for ask in asks {
            match ask {
                FilesCommand::CopyPaths(paths) => ui.copy_text(paths.join("\n")),
                ask => commands.extend(self.perform(ask, cx)),
            }
        }
        // Selections and messages come before their effects.
        let mut out = std::mem::take(&mut self.out);
        out.extend(commands);
        out
    }

    /// Keeps requests to the explorer itself for this frame; the others are passed on.
    fn sort_out(&mut self, commands: Vec<Command>, asks: &mut Vec<FilesCommand>) {
        for command in commands {
            match command {
                Command::Window(WindowCommand::Files(ask)) => asks.push(ask),
                // The list is visible already.
                Command::Show(Tab::Files) => {}
                command => self.out.push(command),
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
            if self.choosing.is_some() && self.choosing.as_deref() == cx.ui.selection.file() {
                self.last_chosen = self.choosing.take();
            } else {
                self.follow_choice(cx);
            }
        }
    }

    /// Files have changed: the state of deleted ones is forgotten.
    fn forget_removed_files(&mut self, cx: &ViewerContext<'_>) {
        let tree = &self.tree;
        match &mut self.remembered.seen {
            Some(seen) => seen.retain(|path, _| tree.info(path).is_some()),
            seen @ None => {
                let known = tree.files().iter().filter(|file| file.version > 0);
                *seen = Some(known.map(|file| (file.path.clone(), file.version)).collect());
            }
        }
        self.selected.retain(|path| tree.there(path).is_some());
        // What lies before the person's eyes is seen.
        if let Some(chosen) = cx.ui.selection.file().map(str::to_owned) {
            self.mark_seen(&chosen);
        }
    }

    /// Somebody else chose a file: it is shown here as well.
    fn follow_choice(&mut self, cx: &ViewerContext<'_>) {
        let Some(chosen) = cx.ui.selection.file().map(str::to_owned) else {
            self.last_chosen = None;
            return;
        };
        // A file that is only just being made is followed when it is there.
        if self.tree.there(&chosen).is_none() {
            return;
        }
        self.last_chosen = Some(chosen.clone());
        self.mark_seen(&chosen);
        for folder in folders_around(&chosen) {
            self.remembered.folded.remove(folder);
        }
        self.selected = [chosen.clone()].into();
        self.active = Some(RowTarget::File(chosen));
        self.anchor.clone_from(&self.active);
        self.shows_active = true;
    }

    /// Makes a file the one that the person looks at.
    fn choose(&mut self, path: &str) {
        self.out.push(WindowCommand::ChooseFile(Some(path.to_owned())).into());
        self.selected = [path.to_owned()].into();
        self.active = Some(RowTarget::File(path.to_owned()));
        // A file that is only just being made is followed when it is there.
        self.choosing = self.tree.there(path).is_some().then(|| path.to_owned());
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

    /// The file that is probably meant by what was typed.
    fn best(&self) -> Option<String> {
        let file = self.tree.file(self.tree.filter().best()?);
        file.is_there.then(|| file.path.clone())
    }

    fn ask_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Option<FilesCommand> {
        let mut question = self.question.take()?;
        let (stays, answer) = dialogs::question_ui(ui, &mut question, &self.tree, cx);
        // The focus returns to where it was, unless a new file is to get it.
        self.wants_tree |= !stays && !matches!(answer, Some(FilesCommand::Make(..)));
        if stays {
            self.question = Some(question);
        }
        answer
    }
}

#[cfg(test)]
mod tests;
