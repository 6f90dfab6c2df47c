//! What can be done with a row, as a menu; and the field and the buttons above the tree.

use egui::{Margin, TextEdit, Ui};

use super::ask::Ask;
use super::tree::{Spot, folder_of};
use super::{Explorer, filter_id};
use crate::agent::agent_file;
use crate::ui::commands::keys;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::{menu, words};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::theme::{MENU, Theme};
use crate::workspace::layout;
use crate::workspace::vfs::FileKind;

/// An entry of a menu, with its keys. Whether it was chosen.
fn entry(ui: &mut Ui, text: &str, keys: &str) -> bool {
    menu::entry(ui, text, keys).clicked()
}

impl Explorer {
    /// The menu of a row; of the workspace where there is none.
    pub(super) fn menu_ui(&self, ui: &mut Ui, on: Option<&Spot>, cx: &ViewerContext<'_>) -> Vec<Ask> {
        menu::content(ui, cx.theme, MENU[1], |ui| self.entries_ui(ui, on, cx))
    }

    fn entries_ui(&self, ui: &mut Ui, on: Option<&Spot>, cx: &ViewerContext<'_>) -> Vec<Ask> {
        let mut asks = Vec::new();
        match on {
            Some(Spot::File(path)) => self.file_menu(ui, path, cx.room, &mut asks),
            Some(Spot::Folder(folder)) => self.folder_menu(ui, folder, &mut asks),
            Some(Spot::Gone(path)) => {
                if entry(ui, "Restore", &keys::shown(ui.ctx(), "files.open")) {
                    asks.push(Ask::Restore(vec![path.clone()]));
                }
                if entry(ui, "Copy path", "") {
                    ui.copy_text(path.clone());
                }
            }
            Some(Spot::Bin) => {
                let gone = self.tree.files().iter().filter(|file| !file.is_there).map(|file| file.path.clone());
                if entry(ui, "Restore everything", "") {
                    asks.push(Ask::Restore(gone.collect()));
                }
            }
            None => self.workspace_menu(ui, &mut asks),
        }
        asks
    }

    fn file_menu(&self, ui: &mut Ui, path: &str, room: &RoomModel, asks: &mut Vec<Ask>) {
        let chosen = self.meant_with(path);
        let one = chosen.len() == 1;
        let file = self.tree.there(path);
        let is_record = file.is_some_and(|file| file.kind == FileKind::Session);
        if entry(ui, "Open", &keys::shown(ui.ctx(), "files.open")) {
            asks.push(Ask::Open(chosen.clone()));
        }
        if entry(ui, "Open in another program", "") {
            asks.push(Ask::OpenOutside(chosen.clone()));
        }
        if one {
            self.room_entries(ui, path, room, asks);
        }
        ui.separator();
        let folder = folder_of(path);
        if entry(ui, "New file…", "") {
            asks.push(Ask::New(folder.to_owned()));
        }
        if !is_record {
            if one && entry(ui, "Rename…", &keys::shown(ui.ctx(), "files.rename")) {
                asks.push(Ask::Rename(path.to_owned()));
            }
            if entry(ui, "Duplicate", &keys::shown(ui.ctx(), "files.duplicate")) {
                asks.push(Ask::Duplicate(chosen.clone()));
            }
        }
        if entry(ui, if one { "Copy path" } else { "Copy paths" }, "") {
            ui.copy_text(chosen.join("\n"));
        }
        if !is_record {
            ui.separator();
            let delete = if one { "Delete".to_owned() } else { format!("Delete {} files…", chosen.len()) };
            if entry(ui, &delete, &keys::shown(ui.ctx(), "files.delete")) {
                asks.push(Ask::Delete(chosen));
            }
        }
    }

    /// What a file has to do with the room.
    fn room_entries(&self, ui: &mut Ui, path: &str, room: &RoomModel, asks: &mut Vec<Ask>) {
        if let Some(profile) = self.watch.profile_of_file(path) {
            match self.watch.agent_of(profile) {
                Some(agent) if entry(ui, "Show in the room", "") => {
                    asks.push(Ask::ShowInRoom(Thing::Agent(agent.clone())));
                }
                Some(_) => {}
                None if entry(ui, "Put into the room", "") => asks.push(Ask::AddToRoom(profile.clone())),
                None => {}
            }
        }
        let element = room.elements.iter().find(|element| element.file.as_deref() == Some(path));
        if let Some(element) = element
            && entry(ui, "Show in the room", "")
        {
            asks.push(Ask::ShowInRoom(Thing::Element(element.id.clone())));
        }
        if element.is_none() && layout::element_file(path).is_ok() && entry(ui, "Put into the room as a rulebook", "") {
            asks.push(Ask::AddRulebook(path.to_owned()));
        }
        let stem = path.strip_prefix("scenes/").map(agent_file::stem);
        if let Some(stem) = stem.filter(|stem| room.scene != *stem && room.scenes.iter().any(|scene| scene == stem))
            && entry(ui, "Open this scene", "")
        {
            asks.push(Ask::OpenScene(stem.to_owned()));
        }
    }

    fn folder_menu(&self, ui: &mut Ui, folder: &str, asks: &mut Vec<Ask>) {
        if entry(ui, "New file here…", "") {
            asks.push(Ask::New(folder.to_owned()));
        }
        if entry(ui, "Import files here…", "") {
            asks.push(Ask::Import(folder.to_owned()));
        }
        ui.separator();
        let is_record = folder.split('/').next() == Some("sessions");
        if !is_record && entry(ui, "Rename folder…", &keys::shown(ui.ctx(), "files.rename")) {
            asks.push(Ask::RenameFolder(folder.to_owned()));
        }
        if entry(ui, "Copy path", "") {
            ui.copy_text(folder.to_owned());
        }
        if !is_record {
            ui.separator();
            if entry(ui, "Delete what is in it…", &keys::shown(ui.ctx(), "files.delete")) {
                asks.push(Ask::Delete(self.tree.below(folder)));
            }
        }
    }

    fn workspace_menu(&self, ui: &mut Ui, asks: &mut Vec<Ask>) {
        if entry(ui, "New file…", "") {
            asks.push(Ask::New(String::new()));
        }
        if entry(ui, "Import files or a folder…", "") {
            asks.push(Ask::Import(String::new()));
        }
        ui.separator();
        if entry(ui, "Fold all folders", "") {
            asks.push(Ask::FoldAll(true));
        }
        if entry(ui, "Unfold all folders", "") {
            asks.push(Ask::FoldAll(false));
        }
    }

    /// The files that are meant when something is asked of this one: all that are selected, if it is.
    pub(super) fn meant_with(&self, path: &str) -> Vec<String> {
        if self.selected.contains(path) { self.selected.iter().cloned().collect() } else { vec![path.to_owned()] }
    }

    /// The folder that something new would come to lie in: that of the row that keys are about.
    pub(super) fn folder_here(&self) -> String {
        match &self.active {
            Some(Spot::Folder(folder)) => folder.clone(),
            Some(Spot::File(path)) => folder_of(path).to_owned(),
            _ => String::new(),
        }
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
                    .hint_text("Find a file")
                    .margin(Margin::symmetric(8, 5))
                    .desired_width(width),
            );
            widgets::name(&field, "Find a file");
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
            if has_text && widgets::icon_button(ui, Icon::Cross, "Find nothing in particular", false, theme).clicked() {
                self.filter.clear();
            }
        });
        opens
    }

    /// How many files there are, and the buttons.
    pub(super) fn bar_ui(&self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Ask> {
        let theme = cx.theme;
        let mut asks = Vec::new();
        let is_read = matches!(cx.ui.texts.files, Some(Ok(_)));
        let (all, shown) = self.tree.count();
        let count = match (is_read, self.tree.filter().is_on()) {
            (false, _) => String::new(),
            (true, false) => words::count(all, "file", "files"),
            (true, true) => format!("{shown} of {all}"),
        };
        widgets::line(
            ui,
            |ui| {
                let label = ui.label(widgets::small(count, theme));
                if self.tree.filter().is_by_letters() && shown > 0 {
                    label.on_hover_text("No path holds these words; these hold their letters in this order.");
                }
            },
            |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                // From right to left.
                let more = widgets::icon_button(ui, Icon::More, "What can be done", false, theme);
                let on = self.active.clone();
                egui::Popup::menu(&more).show(|ui| asks.extend(self.menu_ui(ui, on.as_ref(), cx)));
                if widgets::icon_button(ui, Icon::Fold, "Fold all folders", false, theme).clicked() {
                    asks.push(Ask::FoldAll(true));
                }
                if widgets::icon_button(ui, Icon::Import, "Import files or a folder…", false, theme).clicked() {
                    asks.push(Ask::Import(self.folder_here()));
                }
                if widgets::icon_button(ui, Icon::Plus, "New file…", false, theme).clicked() {
                    asks.push(Ask::New(self.folder_here()));
                }
            },
        );
        asks
    }
}
