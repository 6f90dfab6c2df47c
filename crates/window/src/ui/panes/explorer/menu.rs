//! The context menu of a row, generated from the table of commands; and the search field and buttons above the tree.

use egui::{Margin, TextEdit, Ui};

use super::tree::{RowTarget, folder_of};
use super::{Explorer, filter_id, texts};
use crate::agent::agent_file;
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

/// Buttons above the tree from right to left, and the commands that they do.
const BUTTONS: [(Icon, &str, &str); 3] = [
    (Icon::Plus, texts::NEW_FILE, "files.new"),
    (Icon::Import, texts::IMPORT_FILES, "files.import"),
    (Icon::Fold, texts::COLLAPSE_ALL_FOLDERS, "files.fold_all"),
];

impl Explorer {
    /// The menu of a row; of the list of files itself where there is none.
    pub(super) fn menu_ui(&self, ui: &mut Ui, on: Option<&RowTarget>, cx: &ViewerContext<'_>) -> Vec<Command> {
        let meant = self.meant(on, cx.room);
        let context = CommandContext { files: &meant, ..cx.commands() };
        let mut commands = Vec::new();
        menu::content(ui, cx.theme, MENU[1], |ui| {
            let mut entries = |ui: &mut Ui, menu: Menu| entries_for(ui, cx.table, &context, menu, &mut commands);
            match meant.row {
                FilesRow::Ground => {
                    menu::submenu(ui, texts::NEW_WORKFLOW, MENU[0], cx.theme, |ui| entries(ui, Menu::NewWorkflow));
                    entries(ui, Menu::FilesGround);
                }
                FilesRow::Folder => {
                    if meant.path.split('/').next() == Some("workflows") {
                        menu::submenu(ui, texts::NEW_WORKFLOW, MENU[0], cx.theme, |ui| entries(ui, Menu::NewWorkflow));
                    }
                    entries(ui, Menu::Folder);
                }
                FilesRow::Gone => entries(ui, Menu::GoneFile),
                FilesRow::Bin => entries(ui, Menu::Bin),
                FilesRow::File => {
                    if meant.paths.len() > 1 {
                        ui.label(widgets::small(texts::files(meant.paths.len()), cx.theme));
                    }
                    entries(ui, Menu::File);
                    match meant.used {
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

    /// The commands of a file command for the focused row. The person is told why it does nothing.
    pub(super) fn run(&mut self, id: &str, cx: &ViewerContext<'_>) -> Vec<Command> {
        let meant = self.meant(self.active.as_ref(), cx.room);
        let context = CommandContext { files: &meant, ..cx.commands() };
        let Some(command) = cx.table.find(id) else { return Vec::new() };
        if let Err(why) = (command.applies)(&context) {
            self.notify(format!("{why}."), false);
        }
        command.run(&context)
    }

    /// What commands about files are about now.
    pub fn meant_now(&self, room: &RoomModel) -> FileTargets {
        self.meant(self.active.as_ref(), room)
    }

    /// What commands about a row are about.
    fn meant(&self, on: Option<&RowTarget>, room: &RoomModel) -> FileTargets {
        let meant = match on {
            None => FileTargets::default(),
            Some(RowTarget::File(path)) => {
                let paths = self.meant_with(path);
                let is_alone = paths.len() == 1;
                FileTargets {
                    row: FilesRow::File,
                    is_record: self.tree.there(path).is_some_and(|file| file.kind == FileKind::Session),
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
                paths: self.tree.below(folder),
                ..FileTargets::default()
            },
            Some(RowTarget::Gone(path)) => FileTargets {
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
        FileTargets { folder: folder_at(on), ..meant }
    }

    /// What a file is to the room.
    fn used(&self, path: &str, room: &RoomModel) -> FileUse {
        if let Some(profile) = self.watch.profile_of_file(path) {
            return FileUse::Agent { profile: profile.clone(), agent: self.watch.agent_of(profile).cloned() };
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

    /// The files that an action on this one applies to: all selected ones, if it is selected.
    pub(super) fn meant_with(&self, path: &str) -> Vec<String> {
        if self.selected.contains(path) { self.selected.iter().cloned().collect() } else { vec![path.to_owned()] }
    }

    /// The field that files are looked for with. Whether the best that was found is to be opened.
    pub(super) fn filter_ui(&mut self, ui: &mut Ui, theme: &Theme) -> bool {
        let mut opens = false;
        ui.horizontal(|ui| {
            let has_text = !self.filter.is_empty();
            let width = ui.available_width() - if has_text { 28.0 + ui.spacing().item_spacing.x } else { 0.0 };
            let field = ui.add(
                TextEdit::singleline(&mut self.filter)
                    .id(filter_id())
                    .hint_text(texts::FIND_A_FILE)
                    .margin(Margin::symmetric(8, 5))
                    .desired_width(width),
            );
            widgets::name(&field, texts::FIND_A_FILE);
            let field = keys_tip(field, "files.find");
            if std::mem::take(&mut self.wants_filter) {
                field.request_focus();
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

    /// How many files there are, and the buttons.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let theme = cx.theme;
        let mut commands = Vec::new();
        let is_read = matches!(cx.ui.texts.files, Some(Ok(_)));
        let (all, shown) = self.tree.count();
        let count = match (is_read, self.tree.filter().is_on()) {
            (false, _) => String::new(),
            (true, false) => texts::files(all),
            (true, true) => texts::files_found(shown, all),
        };
        let is_by_letters = self.tree.filter().is_by_letters() && shown > 0;
        widgets::line(
            ui,
            "count and buttons",
            |ui| {
                let label = ui.label(widgets::small(count, theme));
                if is_by_letters {
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

/// The folder that something new would come to lie in: that of the row.
fn folder_at(on: Option<&RowTarget>) -> String {
    match on {
        Some(RowTarget::Folder(folder)) => folder.clone(),
        Some(RowTarget::File(path)) => folder_of(path).to_owned(),
        _ => String::new(),
    }
}
