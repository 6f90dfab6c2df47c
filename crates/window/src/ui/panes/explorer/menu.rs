//! The context menu of a row, generated from the table of commands; and the search field and buttons above the tree.

use egui::{Margin, Ui};

use super::tree::RowTarget;
use super::{Explorer, filter_id, texts};
use crate::agent::agent_file;
use crate::base::paths::folder_of;
use crate::ui::Command;
use crate::ui::commands::file_targets::{FileTargets, FileUse, FilesRow};
use crate::ui::commands::keys;
use crate::ui::commands::table::{CommandContext, Menu};
use crate::ui::context::ViewerContext;
use crate::ui::menus::{command_tip, entries_for, keys_tip};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::model::RoomModel;
use crate::view::theme::{MENU, Theme};
use crate::workspace::layout;
use crate::workspace::vfs::FileKind;

/// Buttons above the tree from right to left: icon, label and command id.
const BUTTONS: [(Icon, &str, &str); 3] = [
    (Icon::Plus, texts::NEW_FILE, "files.new"),
    (Icon::Import, texts::IMPORT_FILES, "files.import"),
    (Icon::Fold, texts::COLLAPSE_ALL_FOLDERS, "files.fold_all"),
];

impl Explorer {
    /// Draws the context menu of a row, or of the whole list if `on` is `None`.
    pub(super) fn menu_ui(&self, ui: &mut Ui, on: Option<&RowTarget>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let targets = self.targets_of(on, cx.room);
        let context = CommandContext { files: &targets, ..cx.commands() };
        let mut commands = Vec::new();
        menu::content(ui, cx.theme, MENU[1], |ui| {
            let mut entries = |ui: &mut Ui, menu: Menu| entries_for(ui, cx.table, &context, menu, &mut commands);
            match targets.row {
                FilesRow::Ground => {
                    menu::submenu(ui, texts::NEW_WORKFLOW, MENU[0], cx.theme, |ui| entries(ui, Menu::NewWorkflow));
                    entries(ui, Menu::FilesGround);
                }
                FilesRow::Folder => {
                    if targets.path.split('/').next() == Some("workflows") {
                        menu::submenu(ui, texts::NEW_WORKFLOW, MENU[0], cx.theme, |ui| entries(ui, Menu::NewWorkflow));
                    }
                    entries(ui, Menu::Folder);
                }
                FilesRow::Gone => entries(ui, Menu::GoneFile),
                FilesRow::Bin => entries(ui, Menu::Bin),
                FilesRow::File => {
                    if targets.paths.len() > 1 {
                        ui.label(widgets::small(texts::files(targets.paths.len()), cx.theme));
                    }
                    entries(ui, Menu::File);
                    match targets.used {
                        FileUse::None => {}
                        FileUse::Agent { .. } => entries(ui, Menu::AgentFile),
                        FileUse::Element(_) => entries(ui, Menu::ElementFile),
                        FileUse::Scene(_) => entries(ui, Menu::SceneFile),
                        FileUse::Workflow => entries(ui, Menu::WorkflowFile),
                    }
                    ui.separator();
                    entries(ui, Menu::Files);
                }
            }
        });
        commands
    }

    /// Runs the file command with this id on the active row. Notifies the user if it does not apply.
    pub(super) fn run(&mut self, id: &str, cx: &ViewerContext<'_>) -> Vec<Command> {
        let targets = self.targets_of(self.active.as_ref(), cx.room);
        let context = CommandContext { files: &targets, ..cx.commands() };
        let Some(command) = cx.table.find(id) else { return Vec::new() };
        if let Err(why) = (command.applies)(&context) {
            self.notify(format!("{why}."), false);
        }
        command.run(&context)
    }

    /// Returns the targets of file commands: the active row and the selection.
    pub(super) fn current_targets(&self, room: &RoomModel) -> FileTargets {
        self.targets_of(self.active.as_ref(), room)
    }

    /// Returns the targets of file commands on a row.
    fn targets_of(&self, on: Option<&RowTarget>, room: &RoomModel) -> FileTargets {
        let targets = match on {
            None => FileTargets::default(),
            Some(RowTarget::File(path)) => {
                let paths = self.paths_with_selection(path);
                let is_alone = paths.len() == 1;
                FileTargets {
                    row: FilesRow::File,
                    is_record: self.tree.existing(path).is_some_and(|file| file.kind == FileKind::Session),
                    used: if is_alone { self.used(path, room) } else { FileUse::None },
                    path: path.clone(),
                    paths,
                    ..FileTargets::default()
                }
            }
            Some(RowTarget::Folder(folder)) => FileTargets {
                row: FilesRow::Folder,
                is_record: folder.split('/').next() == Some("sessions"),
                path: folder.clone(),
                paths: self.tree.files_below(folder),
                ..FileTargets::default()
            },
            Some(RowTarget::Deleted(path)) => FileTargets {
                row: FilesRow::Gone,
                path: path.clone(),
                paths: vec![path.clone()],
                ..FileTargets::default()
            },
            Some(RowTarget::Bin) => {
                let gone = self.tree.files().iter().filter(|file| !file.is_there).map(|file| file.path.clone());
                FileTargets { row: FilesRow::Bin, paths: gone.collect(), ..FileTargets::default() }
            }
        };
        FileTargets { folder: folder_at(on), ..targets }
    }

    /// Returns how the room uses a file.
    fn used(&self, path: &str, room: &RoomModel) -> FileUse {
        if let Some(profile) = self.tracker.profile_of_file(path) {
            return FileUse::Agent { profile: profile.clone(), agent: self.tracker.agent_of(profile).cloned() };
        }
        if room.workflows.files.iter().any(|file| file.path == path) {
            return FileUse::Workflow;
        }
        let element = room.elements.iter().find(|element| element.file.as_deref() == Some(path));
        if element.is_some() || layout::element_file(path).is_ok() {
            return FileUse::Element(element.map(|element| element.id.clone()));
        }
        let stem = path.strip_prefix("scenes/").map(agent_file::stem);
        match stem.filter(|stem| room.scenes.iter().any(|scene| scene == stem)) {
            Some(stem) => FileUse::Scene(stem.to_owned()),
            None => FileUse::None,
        }
    }

    /// Returns the files that an action on `path` applies to: the whole selection if `path` is part of it.
    pub(super) fn paths_with_selection(&self, path: &str) -> Vec<String> {
        if self.selected.contains(path) { self.selected.iter().cloned().collect() } else { vec![path.to_owned()] }
    }

    /// Draws the search field. Returns whether to open the best match.
    pub(super) fn filter_ui(&mut self, ui: &mut Ui, theme: &Theme) -> bool {
        let mut opens = false;
        ui.horizontal(|ui| {
            let has_text = !self.filter.is_empty();
            let width = ui.available_width() - if has_text { 28.0 + ui.spacing().item_spacing.x } else { 0.0 };
            let field = ui.add(
                widgets::text_line(&mut self.filter)
                    .id(filter_id())
                    .hint_text(texts::FIND_A_FILE)
                    .margin(Margin::symmetric(8, 5))
                    .desired_width(width),
            );
            widgets::name(&field, texts::FIND_A_FILE);
            let field = keys_tip(field, "files.find");
            if std::mem::take(&mut self.wants_filter) {
                field.request_focus();
                // What is typed replaces the last search.
                widgets::select_all(ui, &field, &self.filter);
            }
            opens = widgets::entered(ui, &field);
            let (escapes, goes_down) =
                ui.input(|input| (input.key_pressed(egui::Key::Escape), input.key_pressed(egui::Key::ArrowDown)));
            if field.lost_focus() && escapes {
                self.filter.clear();
            }
            if field.has_focus() && goes_down {
                self.wants_tree = true;
            }
            if has_text && widgets::icon_button(ui, Icon::Cross, texts::CLEAR_SEARCH, false, theme).clicked() {
                self.filter.clear();
            }
        });
        opens
    }

    /// Draws the number of files and the buttons.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let theme = cx.theme;
        let mut commands = Vec::new();
        let is_read = matches!(cx.ui.texts.files, Some(Ok(_)));
        let (all, shown) = self.tree.count();
        let count = match (is_read, self.tree.filter().is_active()) {
            (false, _) => String::new(),
            (true, false) => texts::files(all),
            (true, true) => texts::files_found(shown, all),
        };
        let is_fuzzy = self.tree.filter().is_fuzzy() && shown > 0;
        widgets::line(
            ui,
            "count and buttons",
            |ui| {
                let label = ui.label(widgets::small(count, theme));
                if is_fuzzy {
                    label.on_hover_text(texts::SIMILAR_PATHS);
                }
            },
            |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                for (icon, label, id) in BUTTONS {
                    let button = widgets::icon_button(ui, icon, label, false, theme);
                    if command_tip(button, cx, id).clicked() {
                        commands.extend(self.run(id, cx));
                    }
                }
                let more = widgets::icon_button(ui, Icon::More, texts::ACTIONS, false, theme);
                let more = more.on_hover_text(keys::shown(ui.ctx(), "files.menu"));
                let on = self.active.clone();
                egui::Popup::menu(&more).show(|ui| commands.extend(self.menu_ui(ui, on.as_ref(), cx)));
            },
        );
        commands
    }
}

/// Returns the folder in which a new file would be created from a row.
fn folder_at(on: Option<&RowTarget>) -> String {
    match on {
        Some(RowTarget::Folder(folder)) => folder.clone(),
        Some(RowTarget::File(path)) => folder_of(path).to_owned(),
        _ => String::new(),
    }
}
