//! The dialog for files and folders of the computer: what to import, where to export, which workspace to open.

use std::path::PathBuf;

use egui::{Context, Id, LayerId, Order};
use egui_file_dialog::{DialogState, FileDialog};

use crate::ui::Command;
use crate::ui::shell::texts::dialogs as texts;
use crate::ui::state::FileDialogPurpose;

/// The id of the dialog window.
const WINDOW: &str = "file dialog";

/// The file dialog. It is kept as long as the window, so that it opens in the folder where it was closed.
#[derive(Default)]
pub struct FilePicker {
    dialog: Option<FileDialog>,
    purpose: Option<FileDialogPurpose>,
}

impl FilePicker {
    /// Draws the dialog, if it is open. Returns the command once a file or folder is chosen.
    pub fn show(&mut self, context: &Context) -> Option<Command> {
        let dialog = self.dialog.as_mut()?;
        // Tab and the pointer reach only layers above the dialog's own overlay.
        let overlay = LayerId::new(Order::Middle, Id::new(WINDOW).with("modal_overlay"));
        context.memory_mut(|memory| memory.set_modal_layer(overlay));
        dialog.update(context);
        let picked: Vec<PathBuf> = match dialog.take_picked() {
            Some(path) => vec![path],
            None => dialog.take_picked_multiple()?,
        };
        let command = command_for(self.purpose.take()?, picked);
        self.dialog = None;
        command
    }

    /// Whether the dialog is open.
    pub fn is_open(&self) -> bool {
        self.dialog.as_ref().is_some_and(|dialog| *dialog.state() == DialogState::Open)
    }

    /// Closes the dialog without a choice.
    pub fn close(&mut self) {
        (self.dialog, self.purpose) = (None, None);
    }

    /// Opens the dialog.
    pub fn open(&mut self, purpose: FileDialogPurpose) {
        let (title, open, name): (_, fn(&mut FileDialog), _) = match &purpose {
            FileDialogPurpose::ImportFiles(_) => (texts::IMPORT_FILES, FileDialog::pick_multiple, ""),
            FileDialogPurpose::ImportFolder(_) => (texts::IMPORT_A_FOLDER, FileDialog::pick_directory, ""),
            FileDialogPurpose::OpenWorkspace => (texts::OPEN_A_WORKSPACE, FileDialog::pick_directory, ""),
            FileDialogPurpose::ExportZip(name) => (texts::EXPORT_THE_WORKSPACE, FileDialog::save_file, name.as_str()),
            FileDialogPurpose::ExportLog(name) => (texts::EXPORT_THE_LOG, FileDialog::save_file, name.as_str()),
        };
        let mut dialog = FileDialog::new()
            .id(WINDOW)
            .title(title)
            .default_file_name(name)
            .default_size([640.0, 440.0])
            .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0]);
        // The search field has a background on which the text of the light theme is illegible.
        dialog.config_mut().show_search = false;
        // So does the field for editing the path.
        dialog.config_mut().show_path_edit_button = false;
        // An export never overwrites a file.
        dialog.config_mut().allow_file_overwrite = false;
        open(&mut dialog);
        self.dialog = Some(dialog);
        self.purpose = Some(purpose);
    }
}

/// Returns the command for the chosen files or folder.
fn command_for(purpose: FileDialogPurpose, mut picked: Vec<PathBuf>) -> Option<Command> {
    if picked.is_empty() {
        return None;
    }
    Some(match purpose {
        FileDialogPurpose::ImportFiles(folder) | FileDialogPurpose::ImportFolder(folder) => {
            Command::ImportFiles { paths: picked, folder }
        }
        FileDialogPurpose::OpenWorkspace => Command::OpenWorkspace(picked.remove(0)),
        FileDialogPurpose::ExportZip(_) => Command::ExportZip(Some(picked.remove(0))),
        FileDialogPurpose::ExportLog(_) => Command::ExportLog(Some(picked.remove(0))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn a_choice_becomes_the_command_of_its_purpose() {
        let path = PathBuf::from("/somewhere");
        let paths = vec![path.clone()];
        let folder = Some("memory".to_owned());
        let import = Command::ImportFiles { paths: paths.clone(), folder: folder.clone() };
        assert_eq!(command_for(FileDialogPurpose::ImportFiles(folder), paths.clone()), Some(import));
        assert_eq!(
            command_for(FileDialogPurpose::OpenWorkspace, paths.clone()),
            Some(Command::OpenWorkspace(path.clone()))
        );
        assert_eq!(
            command_for(FileDialogPurpose::ExportZip("a.zip".into()), paths),
            Some(Command::ExportZip(Some(path)))
        );
        assert_eq!(command_for(FileDialogPurpose::OpenWorkspace, Vec::new()), None);
    }

    #[test]
    fn tab_and_enter_stay_in_the_dialog() {
        let mut picker = FilePicker::default();
        picker.open(FileDialogPurpose::ExportZip("a.zip".into()));
        let pressed = std::rc::Rc::new(std::cell::Cell::new(false));
        let log = pressed.clone();
        let mut window = Harness::builder().with_size(egui::vec2(1000.0, 700.0)).build_ui(move |ui| {
            if ui.button("Behind").clicked() {
                log.set(true);
            }
            let _command = picker.show(ui.ctx());
        });
        window.run_steps(4);
        for _ in 0..30 {
            window.key_press(egui::Key::Tab);
            window.run_steps(1);
            assert!(!window.get_by_label("Behind").is_focused());
        }
        assert!(!pressed.get());
    }

    #[test]
    fn the_dialog_opens_and_can_be_cancelled() {
        let mut picker = FilePicker::default();
        picker.open(FileDialogPurpose::OpenWorkspace);
        let mut window = Harness::new_ui(move |ui| {
            let command = picker.show(ui.ctx());
            assert_eq!(command, None);
            ui.label(if picker.is_open() { "it is open" } else { "it is closed" });
        });
        window.run_steps(4);
        assert!(window.query_by_label("it is open").is_some());
        window.get_by_label_contains("Cancel").click();
        window.run_steps(4);
        assert!(window.query_by_label("it is closed").is_some());
    }
}
