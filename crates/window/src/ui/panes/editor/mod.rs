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
use self::field::{FieldView, Lead};
use self::find::Find;
use self::history::HistoryView;
use self::languages::{Language, grammars, grammars_job};
use self::tab::{DraftStatus, Tab};
use crate::agent::formats::format_of;
use crate::base::Id;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::view::model::RoomModel;

/// The open files.
#[derive(Clone, Debug, Default)]
pub struct Editors {
    open: BTreeMap<String, OpenFile>,
    /// Whether the grammars were asked for.
    asked_grammars: bool,
}

/// Something that was written and not saved, as it outlives the window.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Draft {
    /// The file.
    pub path: String,
    /// The text that it began from; nothing where there was no file.
    pub base: Option<String>,
    /// The text as it was left.
    pub text: String,
    /// Whether it is to be saved as soon as the agent of this file is not at work.
    pub applies_when_idle: bool,
}

/// What a tab shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    /// The text, to be written.
    #[default]
    Text,
    /// The file and what was written, beside each other.
    Compare,
    /// The versions.
    History,
}

/// One open file, and how it is shown.
#[derive(Clone, Debug)]
struct OpenFile {
    tab: Tab,
    field: FieldView,
    find: Find,
    check: Check,
    history: HistoryView,
    mode: Mode,
    /// Whether the text is also shown as it is read.
    previews: bool,
    /// The same of a document that is an agent.
    document: DocumentPreview,
    /// The profile that the file defines, by the hash of the text that says so.
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
            previews: false,
            document: DocumentPreview::default(),
            profile: None,
        }
    }

    /// The profile that the file defines as it is now, where it defines one.
    fn profile(&mut self, path: &str) -> Option<Id> {
        let format = format_of(path)?;
        let base = || self.tab.begun.as_ref().and_then(|begun| begun.base.as_ref());
        let file = self.tab.file().or_else(base)?;
        if self.profile.as_ref().is_none_or(|(hash, _)| *hash != file.hash) {
            self.profile = Some((file.hash, (format.read)(path, &file.text).profile.id));
        }
        self.profile.as_ref().map(|(_, id)| id.clone())
    }
}

impl Editors {
    /// Whether something was written into this file that is not saved.
    pub fn is_unsaved(&self, path: &str) -> bool {
        self.open.get(path).is_some_and(|file| file.tab.begun.is_some())
    }

    /// The files into which something was written that is not saved.
    pub fn unsaved(&self) -> Vec<String> {
        self.open.iter().filter(|(_, file)| file.tab.begun.is_some()).map(|(path, _)| path.clone()).collect()
    }

    /// Leads to this line of a file, counted from 1, when it is drawn next.
    pub fn lead_to(&mut self, path: &str, line: usize) {
        let file = self.file(path);
        file.mode = Mode::Text;
        file.field.lead = Some(Lead::Line(line));
    }

    /// Everything that was written and not saved.
    pub fn drafts(&self) -> Vec<Draft> {
        let draft = |(path, file): (&String, &OpenFile)| {
            let begun = file.tab.begun.as_ref()?;
            Some(Draft {
                path: path.clone(),
                base: begun.base.as_ref().map(|base| base.text.to_string()),
                text: file.tab.as_file(),
                applies_when_idle: begun.applies_when_idle,
            })
        };
        self.open.iter().filter_map(draft).collect()
    }

    /// Changes whenever [`Editors::drafts`] would say something else: cheap enough to be asked in every frame.
    pub fn drafts_mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (path, file) in &self.open {
            if let Some(begun) = &file.tab.begun {
                let base = begun.base.as_ref().map(|base| base.hash);
                (path, file.tab.generation, base, begun.applies_when_idle).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Takes up what was written in an earlier window. What is written in this one already stays.
    pub fn restore(&mut self, drafts: Vec<Draft>) {
        for Draft { path, base, text, applies_when_idle } in drafts {
            if !self.is_unsaved(&path) {
                let tab = Tab::begun(base, &text, applies_when_idle);
                let file = OpenFile::of(&path, tab);
                self.open.insert(path, file);
            }
        }
    }

    /// Gives up what was written into this file and not saved.
    pub fn discard(&mut self, path: &str) {
        self.open.remove(path);
    }

    /// The tab of this file was closed: all but what is not saved is forgotten.
    pub fn close(&mut self, path: &str) {
        if !self.is_unsaved(path) {
            self.open.remove(path);
        }
    }

    /// A file has another path now: what was written into it goes along.
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

/// Brings what was written and not saved up to date, in tabs that are not drawn, too: hears how saving went, and saves
/// what was to be saved once an agent's work is over. To be called in every frame.
pub fn update_tabs(cx: &ViewerContext<'_>, own: &mut Editors) -> Vec<Command> {
    let mut commands = Vec::new();
    let now_secs = cx.ui.time.now_secs;
    for (path, file) in &mut own.open {
        if file.tab.begun.is_none() && !file.tab.is_saving() {
            continue;
        }
        file.tab.apply_results(cx.recent, now_secs);
        file.tab.follow(cx.ui.texts.text(path), now_secs);
        let waits = file.tab.begun.as_ref().is_some_and(|begun| begun.applies_when_idle);
        let can_save =
            waits && file.tab.draft_status() == DraftStatus::Written && !file.tab.is_saving() && is_read(&file.tab);
        if can_save && at_work(cx.room, file.profile(path)).is_none() {
            commands.push(file.tab.save(path, cx.ui));
        }
    }
    commands
}

/// Whether the file's content is known: without that, nothing is saved automatically.
fn is_read(tab: &Tab) -> bool {
    matches!(tab.seen, tab::FileStatus::Text(_) | tab::FileStatus::Absent)
}

/// Who is at work by this profile, in words: `Ada is working`.
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
    (!names.is_empty()).then(|| texts::working(&names, more))
}

/// Draws one file.
pub fn editor_ui(ui: &mut Ui, path: &str, cx: &ViewerContext<'_>, own: &mut Editors) -> Vec<Command> {
    let mut commands = update_tabs(cx, own);
    let is_coloured = Language::of(path).is_some();
    if is_coloured && grammars().is_none() && !std::mem::replace(&mut own.asked_grammars, true) {
        commands.push(Command::Run(grammars_job()));
    }
    let file = own.file(path);
    file.tab.follow(cx.ui.texts.text(path), cx.ui.time.now_secs);
    pane::pane_ui(ui, path, file, cx, &mut commands);
    commands
}
