//! The dialogs of the explorer: new file, rename, and confirmation before several files are deleted.

use egui::{RichText, ScrollArea, Ui};

use super::templates::Template;
use super::tree::{Tree, is_below};
use super::{texts, tree_id};
use crate::base::paths::{file_name, folder_of};
use crate::base::text;
use crate::ui::commands::FilesCommand;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::dialog::DialogFrame;
use crate::view::theme::{SPACE, Theme};
use crate::workspace::vfs::{PathAccess, WorkspacePath};

/// The maximum number of files that the confirmation lists by path.
const MAX_LISTED_FILES: usize = 12;

/// An open dialog.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum FileDialog {
    /// Kind and path of a new file.
    New(NewFile),
    /// A new path for a file or folder.
    Rename(Renaming),
    /// Confirmation before these files are deleted.
    Delete(Vec<String>),
}

/// The cached result of checking a path; recomputed when the path or the tree changes.
#[derive(Clone, PartialEq, Debug, Default)]
struct CachedCheck {
    of: Option<(String, u64)>,
    why_not: Option<String>,
}

impl CachedCheck {
    fn get_or_check(&mut self, tree: &Tree, path: &str, check: impl FnOnce() -> Option<String>) -> Option<String> {
        let is_known = self.of.as_ref().is_some_and(|(known, made)| known == path && *made == tree.revision());
        if !is_known {
            self.of = Some((path.to_owned(), tree.revision()));
            self.why_not = check();
        }
        self.why_not.clone()
    }
}

/// The state of the dialog for a new file.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NewFile {
    folder: String,
    template: Template,
    path: String,
    checked: CachedCheck,
    has_keyboard: bool,
}

impl NewFile {
    pub(super) fn in_folder(folder: &str, is_taken: impl Fn(&str) -> bool) -> Self {
        let template = Template::of_folder(folder);
        let path = template.free_path(folder, template.default_stem(), is_taken);
        Self { folder: folder.to_owned(), template, path, checked: CachedCheck::default(), has_keyboard: false }
    }

    /// Changes the kind: a name typed by the user is kept, folder and extension follow the kind.
    fn set_template(&mut self, template: Template, is_taken: impl Fn(&str) -> bool) {
        let stem = crate::agent::agent_file::stem(&self.path).to_owned();
        let was_own = stem.trim().is_empty() || stem.starts_with(self.template.default_stem());
        let stem = if was_own { template.default_stem() } else { &stem };
        self.path = template.free_path(&self.folder, stem, is_taken);
        self.template = template;
    }
}

/// The state of the dialog for renaming.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Renaming {
    from: String,
    to: String,
    /// Paths of the files in it if it is a folder.
    below: Option<Vec<String>>,
    checked: CachedCheck,
    has_keyboard: bool,
}

impl Renaming {
    pub(super) fn of_file(path: &str) -> Self {
        let (from, to) = (path.to_owned(), path.to_owned());
        Self { from, to, below: None, checked: CachedCheck::default(), has_keyboard: false }
    }

    pub(super) fn of_folder(folder: &str, below: Vec<String>) -> Self {
        Self { below: Some(below), ..Self::of_file(folder) }
    }

    /// Returns the old and new path of each file, or why a path is invalid.
    fn pairs(&self) -> Result<Vec<(String, String)>, String> {
        let normal = |path: &str| WorkspacePath::new(path).map(|path| path.to_string()).map_err(|why| why.to_string());
        match &self.below {
            None => Ok(vec![(self.from.clone(), normal(self.to.trim())?)]),
            Some(below) => {
                let to = self.to.trim().trim_end_matches('/');
                let moved = |path: &String| Ok((path.clone(), normal(&format!("{to}{}", &path[self.from.len()..]))?));
                below.iter().map(moved).collect()
            }
        }
    }
}

/// Returns why no file can be created at `given`. The file at `instead_of` does not count as a conflict.
pub(super) fn path_conflict(tree: &Tree, given: &str, instead_of: Option<&str>) -> Option<String> {
    let path = match WorkspacePath::new(given) {
        Ok(path) => path,
        Err(why) => return Some(format!("{why}.")),
    };
    let path = path.as_str();
    match WorkspacePath::new(path).map(|path| path.reach()) {
        Ok(PathAccess::Closed) => return Some(texts::RESERVED_FOLDER.to_owned()),
        Ok(PathAccess::Records) => {
            return Some(texts::RESERVED_FOR_RECORDS.to_owned());
        }
        _ => {}
    }
    let same = path.to_lowercase();
    let others = tree.files().iter().filter(|file| file.is_there && Some(file.path.as_str()) != instead_of);
    for file in others {
        if file.path == path {
            return Some(texts::FILE_EXISTS.to_owned());
        }
        // Some file systems are case-insensitive.
        if file.path.len() == path.len() && file.path.to_lowercase() == same {
            return Some(texts::differs_only_in_case(&file.path));
        }
        if is_below(&file.path, path) {
            return Some(texts::FOLDER_EXISTS.to_owned());
        }
        if is_below(path, &file.path) {
            return Some(texts::is_not_a_folder(&file.path));
        }
    }
    None
}

/// Draws the open dialog. Returns whether it stays open, and the confirmed command.
pub(super) fn dialog_ui(
    ui: &mut Ui,
    dialog: &mut FileDialog,
    tree: &Tree,
    cx: &ViewerContext<'_>,
) -> (bool, Option<FilesCommand>) {
    let theme = cx.theme;
    let mut answer = None;
    let title = match dialog {
        FileDialog::New(_) => texts::NEW_FILE_TITLE.to_owned(),
        FileDialog::Rename(renaming) if renaming.below.is_some() => texts::RENAME_FOLDER.to_owned(),
        FileDialog::Rename(_) => texts::RENAME_FILE.to_owned(),
        FileDialog::Delete(paths) => texts::delete_question(paths.len()),
    };
    let shown = DialogFrame::question(&title).show(ui.ctx(), theme, |ui| match dialog {
        FileDialog::New(new) => new_ui(ui, new, tree, theme, &mut answer),
        FileDialog::Rename(renaming) => rename_ui(ui, renaming, tree, theme, &mut answer),
        FileDialog::Delete(paths) => delete_ui(ui, paths, cx, &mut answer),
    });
    (!shown.inner && answer.is_none() && !shown.is_closed, answer)
}

/// Draws a path field with its error below. Returns whether Enter was pressed.
fn path_ui(ui: &mut Ui, path: &mut String, has_keyboard: &mut bool, why_not: Option<&str>, theme: &Theme) -> bool {
    let field = widgets::field(ui, path, texts::PATH, "artifacts/plan.md");
    let is_entered = widgets::entered(ui, &field);
    if !*has_keyboard {
        *has_keyboard = true;
        field.request_focus();
        select_stem(ui, &field, path);
    } else if is_entered && why_not.is_some() {
        field.request_focus();
    }
    let message = match why_not {
        Some(why) => widgets::small(text::truncate(why, 300), theme).color(theme.bad),
        None => widgets::small(texts::ABOUT_THE_PATH, theme),
    };
    ui.add(egui::Label::new(message).wrap());
    is_entered
}

/// Selects the file name without its extension, the part that is usually changed.
fn select_stem(ui: &Ui, field: &egui::Response, path: &str) {
    use egui::text::{CCursor, CCursorRange};
    let before = path.len() - file_name(path).len();
    let stem = crate::agent::agent_file::stem(path);
    let (begin, length) = (path[..before].chars().count(), stem.chars().count());
    let mut edit = egui::text_edit::TextEditState::load(ui.ctx(), field.id).unwrap_or_default();
    edit.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(begin), CCursor::new(begin + length))));
    edit.store(ui.ctx(), field.id);
}

fn new_ui(ui: &mut Ui, new: &mut NewFile, tree: &Tree, theme: &Theme, answer: &mut Option<FilesCommand>) -> bool {
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = SPACE[1];
        for template in Template::ALL {
            let is_it = new.template == template;
            let label = ui.selectable_label(is_it, template.name()).on_hover_text(template.description());
            if label.clicked() && !is_it {
                chosen = Some(template);
            }
        }
    });
    if let Some(template) = chosen {
        new.set_template(template, |path| tree.existing(path).is_some());
    }
    ui.label(widgets::small(new.template.description(), theme));
    ui.add_space(SPACE[0]);
    let path = new.path.trim();
    let why_not = new.checked.get_or_check(tree, path, || path_conflict(tree, path, None));
    let is_entered = path_ui(ui, &mut new.path, &mut new.has_keyboard, why_not.as_deref(), theme);
    let is_sound = why_not.is_none();
    ui.add_space(SPACE[2]);
    let (go, cancel) = buttons(ui, texts::CREATE_FILE, is_sound, theme);
    if is_sound && (go || is_entered) {
        let path = WorkspacePath::new(new.path.trim()).map_or_else(|_| new.path.clone(), |path| path.to_string());
        let text = new.template.text(&path);
        *answer = Some(FilesCommand::Make(path, text));
    }
    cancel
}

fn rename_ui(
    ui: &mut Ui,
    renaming: &mut Renaming,
    tree: &Tree,
    theme: &Theme,
    answer: &mut Option<FilesCommand>,
) -> bool {
    let is_same = renaming.to.trim() == renaming.from;
    let mut checked = std::mem::take(&mut renaming.checked);
    let why_not = checked.get_or_check(tree, &renaming.to, || rename_conflict(tree, renaming));
    renaming.checked = checked;
    let place = folder_of(&renaming.from);
    let place = if place.is_empty() { texts::THE_WORKSPACE.to_owned() } else { format!("{place}/") };
    let moving = renaming.below.as_ref().map(Vec::len);
    let about = texts::about_renaming(file_name(&renaming.from), &place, moving);
    ui.add(egui::Label::new(widgets::secondary_text(about, theme)).wrap());
    let is_entered = path_ui(ui, &mut renaming.to, &mut renaming.has_keyboard, why_not.as_deref(), theme);
    ui.add_space(SPACE[2]);
    let is_sound = why_not.is_none() && !is_same;
    let (go, cancel) = buttons(ui, texts::RENAME, is_sound, theme);
    if is_sound && (go || is_entered) {
        *answer = renaming.pairs().ok().map(FilesCommand::GivePaths);
    }
    cancel || (is_same && is_entered)
}

/// Returns why the renaming is not possible, judged by the first conflicting file.
fn rename_conflict(tree: &Tree, renaming: &Renaming) -> Option<String> {
    if renaming.to.trim() == renaming.from {
        return None;
    }
    let pairs = match renaming.pairs() {
        Ok(pairs) => pairs,
        Err(why) => return Some(format!("{why}.")),
    };
    let first = pairs.first().and_then(|(from, to)| path_conflict(tree, to, Some(from)));
    first.or_else(|| {
        let taken = pairs.iter().find(|(_, to)| tree.existing(to).is_some());
        taken.map(|(_, to)| texts::path_exists(to))
    })
}

fn delete_ui(ui: &mut Ui, paths: &[String], cx: &ViewerContext<'_>, answer: &mut Option<FilesCommand>) -> bool {
    let theme = cx.theme;
    let unsaved = paths.iter().filter(|path| cx.is_unsaved(path)).count();
    ui.label(widgets::secondary_text(texts::DELETED_FILES_MOVE_TO_THE_BIN, theme));
    if unsaved > 0 {
        ui.label(RichText::new(texts::unsaved_changes_are_lost(unsaved)).color(theme.warn));
    }
    widgets::in_card(ui, theme, |ui| {
        ScrollArea::vertical().max_height(180.0).show(ui, |ui| {
            for path in paths.iter().take(MAX_LISTED_FILES) {
                ui.add(egui::Label::new(path.as_str()).truncate());
            }
            let more = paths.len().saturating_sub(MAX_LISTED_FILES);
            if more > 0 {
                ui.label(widgets::small(texts::and_more(more), theme));
            }
        });
    });
    ui.add_space(SPACE[1]);
    let mut is_done = false;
    ui.horizontal(|ui| {
        let delete = widgets::danger(ui, &texts::delete_files(paths.len()), theme);
        if ui.memory(|memory| memory.focused().is_none_or(|id| id == tree_id())) {
            delete.request_focus();
        }
        if delete.clicked() {
            *answer = Some(FilesCommand::DeleteSurely(paths.to_vec()));
        }
        is_done = ui.button(texts::CANCEL).clicked();
    });
    is_done
}

/// Draws the confirm and cancel buttons. Returns whether each was clicked.
fn buttons(ui: &mut Ui, go: &str, enabled: bool, theme: &Theme) -> (bool, bool) {
    ui.horizontal(|ui| (widgets::primary(ui, enabled, go, theme).clicked(), ui.button(texts::CANCEL).clicked())).inner
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use crate::ui::panes::explorer::tree::tests::{deleted_file, file};

    fn tree() -> Tree {
        let files = vec![file("agents/ada.md", 1), file("artifacts/plan.md", 2), deleted_file("artifacts/old.md", 3)];
        let mut tree = Tree::default();
        tree.update(&Arc::new(files), "", &BTreeSet::new(), false);
        tree
    }

    #[test]
    fn invalid_and_conflicting_paths_are_explained() {
        let tree = tree();
        let long = "x".repeat(300);
        for (path, refused) in [
            ("artifacts/new.md", None),
            ("artifacts/old.md", None),
            ("neu/ganz/tief/übersicht.md", None),
            ("artifacts/plan.md", Some("A file with this name already exists")),
            ("artifacts/PLAN.md", Some("treat the two as the same")),
            ("artifacts", Some("A folder with this name")),
            ("artifacts/plan.md/more.md", Some("is a file, not a folder")),
            ("", Some("is not a path")),
            ("../out.md", Some("must not use '..'")),
            ("/etc/passwd", Some("is not inside the workspace")),
            ("a/", Some("empty part")),
            ("a\u{202e}b.md", Some("invisible character")),
            ("con.md", Some("a device")),
            (".workshop/history", Some("is reserved for the program")),
            ("sessions/mine.md", Some("reserved for program records")),
            (&long, Some("too long")),
        ] {
            let why = path_conflict(&tree, path, None);
            match refused {
                None => assert_eq!(why, None, "{path}"),
                Some(words) => assert!(why.as_ref().is_some_and(|why| why.contains(words)), "{path}: {why:?}"),
            }
        }
    }

    #[test]
    fn renaming_a_folder_renames_its_files() {
        let tree = tree();
        let mut renaming = Renaming::of_folder("artifacts", tree.files_below("artifacts"));
        renaming.to = "results/2026".to_owned();
        let pairs = renaming.pairs().expect("these are paths");
        assert_eq!(pairs, [("artifacts/plan.md".to_owned(), "results/2026/plan.md".to_owned())]);
        assert_eq!(rename_conflict(&tree, &renaming), None);
        for (to, why) in [("../x", "must not use '..'"), ("agents/ada.md", "is a file, not a folder")] {
            renaming.to = to.to_owned();
            assert!(rename_conflict(&tree, &renaming).is_some_and(|message| message.contains(why)), "{to}");
        }
    }

    #[test]
    fn changing_the_kind_keeps_a_typed_name() {
        let mut new = NewFile::in_folder("artifacts", |_| false);
        assert_eq!((new.template, new.path.as_str()), (Template::Note, "artifacts/note.md"));
        new.set_template(Template::Agent, |_| false);
        assert_eq!(new.path, "agents/new-agent.md", "a default name follows the kind");
        new.path = "agents/vera.md".to_owned();
        new.set_template(Template::Tasks, |path| path == "tasks/vera.task.md");
        assert_eq!(new.path, "tasks/vera-2.task.md");
    }
}
