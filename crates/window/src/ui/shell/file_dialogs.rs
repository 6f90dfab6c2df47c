//! Asks the person for a file or folder on the computer: what to import, where to export, which workspace to open.

use std::path::PathBuf;

use egui::{Context, Id, LayerId, Order};
use egui_file_dialog::{DialogState, FileDialog};

use crate::ui::Command;
use crate::ui::shell::texts::dialogs as texts;
use crate::ui::state::Purpose;

/// Names the dialog among windows.
const WINDOW: &str = "file dialog";

/// The dialog. It is kept as long as the window, so that it opens where it was left.
#[derive(Default)]
pub struct FileAsking {
    dialog: Option<FileDialog>,
    purpose: Option<Purpose>,
}

impl FileAsking {
    /// Draws the dialog, if it is open. What the person chose comes back.
    pub fn show(&mut self, context: &Context) -> Option<Command> {
        let dialog = self.dialog.as_mut()?;
        // Only what lies above the dialog's own ground is reached by Tab and by the pointer.
        let ground = LayerId::new(Order::Middle, Id::new(WINDOW).with("modal_overlay"));
        context.memory_mut(|memory| memory.set_modal_layer(ground));
        dialog.update(context);
        let picked: Vec<PathBuf> = match dialog.take_picked() {
            Some(path) => vec![path],
            None => dialog.take_picked_multiple()?,
        };
        let command = chosen(self.purpose.take()?, picked);
        self.dialog = None;
        command
    }

    /// Whether the dialog is open.
    pub fn is_open(&self) -> bool {
        self.dialog.as_ref().is_some_and(|dialog| *dialog.state() == DialogState::Open)
    }

    /// Puts the dialog away; nothing was chosen.
    pub fn close(&mut self) {
        (self.dialog, self.purpose) = (None, None);
    }

    /// Asks for something.
    pub fn open(&mut self, purpose: Purpose) {
        let (title, open, name): (_, fn(&mut FileDialog), _) = match &purpose {
            Purpose::ImportFiles(_) => (texts::IMPORT_FILES, FileDialog::pick_multiple, ""),
            Purpose::ImportFolder(_) => (texts::IMPORT_A_FOLDER, FileDialog::pick_directory, ""),
            Purpose::OpenWorkspace => (texts::OPEN_A_WORKSPACE, FileDialog::pick_directory, ""),
            Purpose::ExportZip(name) => (texts::EXPORT_THE_WORKSPACE, FileDialog::save_file, name.as_str()),
            Purpose::ExportLog(name) => (texts::EXPORT_THE_LOG, FileDialog::save_file, name.as_str()),
        };
        let mut dialog = FileDialog::new()
            .id(WINDOW)
            .title(title)
            .default_file_name(name)
            .default_size([640.0, 440.0])
            .anchor(egui::Align2::CENTER_CENTER, [0.0, 0.0]);
        // Its field has a ground on which the text of a light window cannot be read.
        dialog.config_mut().show_search = false;
        // So has the one that a path is written into.
        dialog.config_mut().show_path_edit_button = false;
        // An export never takes the place of another file.
        dialog.config_mut().allow_file_overwrite = false;
        open(&mut dialog);
        self.dialog = Some(dialog);
        self.purpose = Some(purpose);
    }
}

/// What is done with what was chosen.
fn chosen(purpose: Purpose, mut picked: Vec<PathBuf>) -> Option<Command> {
    if picked.is_empty() {
        return None;
    }
    Some(match purpose {
        Purpose::ImportFiles(folder) | Purpose::ImportFolder(folder) => Command::ImportFiles { paths: picked, folder },
        Purpose::OpenWorkspace => Command::OpenWorkspace(picked.remove(0)),
        Purpose::ExportZip(_) => Command::ExportZip(Some(picked.remove(0))),
        Purpose::ExportLog(_) => Command::ExportLog(Some(picked.remove(0))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn what_is_chosen_is_done_for_what_it_was_asked() {
        let path = PathBuf::from("/somewhere");
        let paths = vec![path.clone()];
        let folder = Some("memory".to_owned());
        let import = Command::ImportFiles { paths: paths.clone(), folder: folder.clone() };
        assert_eq!(chosen(Purpose::ImportFiles(folder), paths.clone()), Some(import));
        assert_eq!(chosen(Purpose::OpenWorkspace, paths.clone()), Some(Command::OpenWorkspace(path.clone())));
        assert_eq!(chosen(Purpose::ExportZip("a.zip".into()), paths), Some(Command::ExportZip(Some(path))));
        assert_eq!(chosen(Purpose::OpenWorkspace, Vec::new()), None);
    }

    #[test]
    fn tab_and_enter_stay_in_the_dialog() {
        let mut asking = FileAsking::default();
        asking.open(Purpose::ExportZip("a.zip".into()));
        let pressed = std::rc::Rc::new(std::cell::Cell::new(false));
        let told = pressed.clone();
        let mut window = Harness::builder().with_size(egui::vec2(1000.0, 700.0)).build_ui(move |ui| {
            if ui.button("Behind").clicked() {
                told.set(true);
            }
            let _chosen = asking.show(ui.ctx());
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
    fn the_dialog_opens_and_can_be_left() {
        let mut asking = FileAsking::default();
        asking.open(Purpose::OpenWorkspace);
        let mut window = Harness::new_ui(move |ui| {
            let command = asking.show(ui.ctx());
            assert_eq!(command, None);
            ui.label(if asking.is_open() { "it is open" } else { "it is closed" });
        });
        window.run_steps(4);
        assert!(window.query_by_label("it is open").is_some());
        window.get_by_label_contains("Cancel").click();
        window.run_steps(4);
        assert!(window.query_by_label("it is closed").is_some());
    }
}
