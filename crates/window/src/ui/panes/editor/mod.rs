//! The editor: files in tabs that are edited, checked, compared and saved.

mod banners;
mod check;
mod chunks;
mod document_preview;
mod field;
mod find;
mod find_bar;
mod highlight;
mod history;
mod languages;
mod pane;
mod preview;
mod tab;
#[cfg(test)]
mod tab_tests;
mod task_context;
#[cfg(test)]
mod tests;
mod texts;
mod token_style;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use egui::Ui;
use serde::{Deserialize, Serialize};

use self::check::Check;
use self::document_preview::DocumentPreview;
use self::field::{FieldView, JumpTarget};
use self::find::Find;
use self::history::HistoryView;
use self::languages::{Language, grammars, grammars_job};
use self::tab::{DraftStatus, Tab};
use crate::agent::formats::format_of;
use crate::base::Id;
use crate::base::paths::file_name;
use crate::ui::commands::{EditorCommand, PaneCommand};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::{Pane, PaneFrame, PaneWindow};
use crate::ui::panes::texts as titles;
use crate::ui::state::{Dialog, dock, tab as tabs};
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;

/// The open files and their unsaved changes.
#[derive(Clone, Debug, Default)]
pub struct Editors {
    open: BTreeMap<String, OpenFile>,
    /// Whether the job that prepares the grammars was started.
    requested_grammars: bool,
}

/// Unsaved changes of a file, as stored when the window closes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Draft {
    /// The path of the file.
    pub path: String,
    /// The file's text before the changes, or `None` if there was no file.
    pub base: Option<String>,
    /// The changed text.
    pub text: String,
    /// Whether it is saved automatically once no agent of this file is working.
    pub applies_when_idle: bool,
}

/// The view of a file: its text, a comparison or its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// The text for editing.
    #[default]
    Text,
    /// The file on disk and the unsaved text, side by side.
    Compare,
    /// The versions.
    History,
}

/// An open file and the state of its view.
#[derive(Clone, Debug)]
struct OpenFile {
    tab: Tab,
    field: FieldView,
    find: Find,
    check: Check,
    history: HistoryView,
    mode: Mode,
    /// Whether a preview is shown too.
    shows_preview: bool,
    /// The preview of an agent document.
    document: DocumentPreview,
    /// The profile that the file defines, cached by the hash of its text.
    profile: Option<(u64, Id)>,
}

impl OpenFile {
    fn of(path: &str, tab: Tab) -> Self {
        Self {
            tab,
            field: FieldView::of(path),
            find: Find::default(),
            check: Check::default(),
            history: HistoryView::default(),
            mode: Mode::default(),
            shows_preview: false,
            document: DocumentPreview::default(),
            profile: None,
        }
    }

    /// Returns the profile that the saved file defines.
    fn profile(&mut self, path: &str) -> Option<Id> {
        let format = format_of(path)?;
        let base = || self.tab.draft.as_ref().and_then(|draft| draft.base.as_ref());
        let file = self.tab.file().or_else(base)?;
        if self.profile.as_ref().is_none_or(|(hash, _)| *hash != file.hash) {
            self.profile = Some((file.hash, (format.read)(path, &file.text).profile.id));
        }
        self.profile.as_ref().map(|(_, id)| id.clone())
    }
}

impl Pane for Editors {
    fn id(&self) -> &'static str {
        tabs::FILE
    }

    fn title(&self) -> &'static str {
        titles::EDITOR
    }

    fn has_items(&self) -> bool {
        true
    }

    fn item_title(&self, path: &str) -> String {
        file_name(path).to_owned()
    }

    fn item_mark(&self, path: &str) -> &'static str {
        if self.is_unsaved(path) { " •" } else { "" }
    }

    fn close_item(&self, path: &str) -> Option<Command> {
        Some(EditorCommand::CloseFile(Some(path.to_owned())).into())
    }

    fn show_tab(&mut self, ui: &mut Ui, item: Option<&str>, frame: &mut PaneFrame<'_, '_>) -> Vec<Command> {
        item.map(|path| editor_ui(ui, path, &frame.context(), self)).unwrap_or_default()
    }

    fn update(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        update_tabs(cx, self)
    }

    fn apply(&mut self, command: &PaneCommand, window: &mut PaneWindow<'_>) -> Vec<Command> {
        match command.get() {
            Some(EditorCommand::CloseFile(path)) => self.close_file(path.clone(), window.ui),
            Some(EditorCommand::SaveAll) => return self.save_all(window.ui),
            Some(EditorCommand::DiscardFile(path)) => {
                self.discard(path);
                window.ui.dock.close(&dock::Tab::file(path));
            }
            Some(EditorCommand::GoToLine(path, line)) => self.go_to_line(path, *line),
            None => {}
        }
        Vec::new()
    }

    fn unsaved(&self) -> Vec<String> {
        self.open.iter().filter(|(_, file)| file.tab.draft.is_some()).map(|(path, _)| path.clone()).collect()
    }

    fn is_saving(&self) -> bool {
        self.open.values().any(|file| file.tab.is_saving())
    }

    fn rename_file(&mut self, from: &str, to: &str) {
        self.rename(from, to);
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

impl Editors {
    /// Closes a file, or the one in front; asks first if it has unsaved changes.
    fn close_file(&mut self, path: Option<String>, ui: &mut UiState) {
        let Some(path) = path.or_else(|| ui.dock.front_file()) else { return };
        if self.is_unsaved(&path) {
            ui.front.ask(Dialog::CloseFile(path));
        } else {
            self.close(&path);
            ui.dock.close(&dock::Tab::file(path));
        }
    }

    /// Whether the file has unsaved changes.
    pub fn is_unsaved(&self, path: &str) -> bool {
        self.open.get(path).is_some_and(|file| file.tab.draft.is_some())
    }

    /// Returns the commands that save all unsaved changes, as far as they can be saved as they are.
    pub fn save_all(&mut self, state: &UiState) -> Vec<Command> {
        let can_save = |file: &&mut OpenFile| !file.tab.is_saving() && file.tab.draft_status() == DraftStatus::Unsaved;
        let files = self.open.iter_mut().filter(|(_, file)| can_save(file));
        files.map(|(path, file)| file.tab.save(path, state)).collect()
    }

    /// Moves the cursor to a line, counted from 1, when the file is drawn next.
    pub fn go_to_line(&mut self, path: &str, line: usize) {
        let file = self.file(path);
        file.mode = Mode::Text;
        file.field.jump = Some(JumpTarget::Line(line));
    }

    /// Returns all unsaved changes.
    pub fn drafts(&self) -> Vec<Draft> {
        let draft = |(path, file): (&String, &OpenFile)| {
            let draft = file.tab.draft.as_ref()?;
            Some(Draft {
                path: path.clone(),
                base: draft.base.as_ref().map(|base| base.text.to_string()),
                text: file.tab.file_content(),
                applies_when_idle: draft.applies_when_idle,
            })
        };
        self.open.iter().filter_map(draft).collect()
    }

    /// Returns a hash that changes whenever [`Editors::drafts`] does. It is cheap enough for every frame.
    pub fn drafts_mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (path, file) in &self.open {
            if let Some(draft) = &file.tab.draft {
                let base = draft.base.as_ref().map(|base| base.hash);
                (path, file.tab.generation, base, draft.applies_when_idle).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Restores unsaved changes of an earlier window, except for files that already have unsaved changes in this one.
    pub fn restore(&mut self, drafts: Vec<Draft>) {
        for Draft { path, base, text, applies_when_idle } in drafts {
            if !self.is_unsaved(&path) {
                let tab = Tab::with_draft(base, &text, applies_when_idle);
                let file = OpenFile::of(&path, tab);
                self.open.insert(path, file);
            }
        }
    }

    /// Discards the unsaved changes of a file.
    pub fn discard(&mut self, path: &str) {
        self.open.remove(path);
    }

    /// Closes the tab of a file. Unsaved changes are kept.
    pub fn close(&mut self, path: &str) {
        if !self.is_unsaved(path) {
            self.open.remove(path);
        }
    }

    /// Renames a file and keeps its unsaved changes.
    pub fn rename(&mut self, from: &str, to: &str) {
        if self.is_unsaved(to) {
            return;
        }
        if let Some(file) = self.open.remove(from) {
            self.open.insert(to.to_owned(), OpenFile::of(to, file.tab));
        }
    }

    fn file(&mut self, path: &str) -> &mut OpenFile {
        self.open.entry(path.to_owned()).or_insert_with(|| OpenFile::of(path, Tab::default()))
    }
}

/// Updates tabs with unsaved changes, even those that are not drawn: processes the results of saving, and saves drafts
/// whose agents have stopped working. Must be called in every frame.
pub fn update_tabs(cx: &ViewerContext<'_>, editors: &mut Editors) -> Vec<Command> {
    let mut commands = Vec::new();
    let now_secs = cx.ui.time.now_secs;
    for (path, file) in &mut editors.open {
        if file.tab.draft.is_none() && !file.tab.is_saving() {
            continue;
        }
        file.tab.apply_results(cx.recent, now_secs);
        file.tab.update_from_file(cx.ui.texts.text(path), now_secs);
        let is_pending = file.tab.draft.as_ref().is_some_and(|draft| draft.applies_when_idle);
        let can_save = is_pending
            && file.tab.draft_status() == DraftStatus::Unsaved
            && !file.tab.is_saving()
            && is_file_known(&file.tab);
        if can_save && at_work(cx.room, file.profile(path)).is_none() {
            commands.push(file.tab.save(path, cx.ui));
        }
    }
    commands
}

/// Whether the file's content on disk is known. If not, the file is not saved automatically.
fn is_file_known(tab: &Tab) -> bool {
    matches!(tab.status, tab::FileStatus::Text(_) | tab::FileStatus::Absent)
}

/// Returns the working agents of this profile as text, such as `Ada is working`.
fn at_work(room: &RoomModel, profile: Option<Id>) -> Option<String> {
    let profile = profile?;
    if room.work.pieces.is_empty() {
        return None;
    }
    let by_it = room.agents.iter().filter(|agent| agent.profile == profile);
    let mut names: Vec<&str> = by_it
        .filter(|agent| room.work.pieces.iter().any(|piece| piece.agent == agent.id))
        .map(|agent| &*agent.name)
        .collect();
    names.dedup();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    (!names.is_empty()).then(|| texts::agents_working(&names, more))
}

/// Draws the editor of one file.
pub fn editor_ui(ui: &mut Ui, path: &str, cx: &ViewerContext<'_>, editors: &mut Editors) -> Vec<Command> {
    let mut commands = update_tabs(cx, editors);
    let is_coloured = Language::of(path).is_some();
    if is_coloured && grammars().is_none() && !std::mem::replace(&mut editors.requested_grammars, true) {
        commands.push(Command::Run(grammars_job()));
    }
    let file = editors.file(path);
    file.tab.update_from_file(cx.ui.texts.text(path), cx.ui.time.now_secs);
    pane::pane_ui(ui, path, file, cx, &mut commands);
    commands
}
