//! Questions that stand in front of everything: names of scenes, beginning again, opening a link.

use std::collections::BTreeSet;

use egui::{Id, Modal, RichText, Ui};

use crate::base::text;
use crate::ui::commands::WindowCommand;
use crate::ui::state::{Dialog, ImportQuestion};
use crate::ui::widgets;
use crate::ui::widgets::words;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// The draft that holds the name of a scene to be.
const NAME: &str = "scene name";

/// No scene has a longer name: file systems allow 255 bytes, and some room is needed beside the name.
pub const LONGEST_STEM_BYTES: usize = 120;

/// Draws the question that is open, if one is.
pub fn dialogs_ui(
    ui: &mut Ui,
    room: &RoomModel,
    unsaved: &BTreeSet<String>,
    theme: &Theme,
    state: &mut UiState,
) -> Vec<Command> {
    let Some(dialog) = state.dialog.clone() else { return Vec::new() };
    let mut commands = Vec::new();
    let mut done = false;
    let modal = Modal::new(Id::new("question")).frame(widgets::window(theme)).show(ui.ctx(), |ui| {
        widgets::dress(ui.style_mut(), theme);
        ui.set_width(360.0);
        done = match &dialog {
            Dialog::NewScene => scene_name(ui, room, theme, state, &mut commands, true),
            Dialog::SaveSceneAs => scene_name(ui, room, theme, state, &mut commands, false),
            Dialog::ResetScene => reset(ui, room, theme, &mut commands),
            Dialog::OpenLink(url) => open_link(ui, url, theme),
            Dialog::CloseFile(path) => close_file(ui, path, theme, &mut commands),
            Dialog::Import(question) => import(ui, question, theme, &mut commands),
            Dialog::Close => close(ui, room, unsaved, theme, &mut commands),
        };
    });
    if done || modal.should_close() {
        state.dialog = None;
        state.drafts.remove(NAME);
    }
    commands
}

fn title(ui: &mut Ui, text: &str, theme: &Theme) {
    ui.label(RichText::new(text).size(TYPE[3]).color(theme.text));
    ui.add_space(SPACE[0]);
}

/// What stops a scene from having this name, in words.
fn why_not(room: &RoomModel, name: &str) -> Option<String> {
    let stem = text::slug(name);
    if stem.is_empty() {
        return Some("Give it a name of letters or digits.".to_owned());
    }
    if stem.len() > LONGEST_STEM_BYTES {
        return Some("That is too long for the name of a file. A few words are enough.".to_owned());
    }
    // Some systems take two spellings of a name for one.
    let same = room.scenes.iter().find(|scene| scene.to_lowercase() == stem);
    same.map(|scene| format!("There is a scene “{scene}” already."))
}

fn scene_name(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
    new: bool,
) -> bool {
    title(ui, if new { "New scene" } else { "Save scene as" }, theme);
    let about = if new {
        "An empty room in this workspace. Its agents are those you put into it."
    } else {
        "The same room under another name. You go on in that one."
    };
    ui.label(widgets::soft(about, theme));
    ui.add_space(SPACE[1]);
    let name = state.drafts.entry(NAME.to_owned()).or_default();
    let field = widgets::field(ui, name, "Scene name", "evening-shift");
    let entered = widgets::entered(ui, &field);
    if name.is_empty() && !entered {
        field.request_focus();
    }
    let refused = why_not(room, name);
    let said = match &refused {
        Some(why) if !name.is_empty() => widgets::small(why.clone(), theme).color(theme.bad),
        _ => widgets::small(format!("scenes/{}.yaml", text::truncate(&text::slug(name), 60)), theme),
    };
    ui.add(egui::Label::new(said).wrap());
    ui.add_space(SPACE[2]);
    let mut done = false;
    ui.horizontal(|ui| {
        let go = widgets::primary(ui, refused.is_none(), if new { "Make scene" } else { "Save scene" }, theme);
        if refused.is_none() && (go.clicked() || entered) {
            let name = text::one_line(name);
            commands.push(if new { Command::NewScene(name) } else { Command::SaveSceneAs(name) });
            done = true;
        }
        done |= ui.button("Cancel").clicked();
    });
    done
}

fn reset(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) -> bool {
    title(ui, &format!("Begin “{}” again?", room.scene), theme);
    ui.label(widgets::soft(
        "Everyone goes back to where the scene's file puts them, and all memories and conversations of this \
         scene are forgotten. This cannot be undone.",
        theme,
    ));
    ui.add_space(SPACE[2]);
    let mut done = false;
    ui.horizontal(|ui| {
        if widgets::danger(ui, "Begin again", theme).clicked() {
            commands.push(Command::ResetScene);
            done = true;
        }
        done |= ui.button("Keep it as it is").clicked();
    });
    done
}

/// What would come in is shown before it does.
fn import(ui: &mut Ui, question: &ImportQuestion, theme: &Theme, commands: &mut Vec<Command>) -> bool {
    title(ui, "Import this?", theme);
    widgets::in_card(ui, theme, |ui| {
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for line in &question.summary {
                ui.add(egui::Label::new(line).wrap());
            }
        });
    });
    ui.label(widgets::soft("Files that are there already stay as they are.", theme));
    ui.add_space(SPACE[2]);
    let mut done = false;
    ui.horizontal(|ui| {
        if widgets::primary(ui, true, "Import", theme).clicked() {
            commands.push(Command::ImportSeen(question.clone()));
            done = true;
        }
        done |= ui.button("Cancel").clicked();
    });
    done
}

fn open_link(ui: &mut Ui, url: &str, theme: &Theme) -> bool {
    title(ui, "Open this link?", theme);
    ui.label(widgets::soft("It was written by somebody else, and opens in your browser:", theme));
    widgets::in_card(ui, theme, |ui| ui.add(egui::Label::new(RichText::new(url).monospace()).wrap()));
    ui.add_space(SPACE[1]);
    let mut done = false;
    ui.horizontal(|ui| {
        if widgets::primary(ui, true, "Open link", theme).clicked() {
            ui.ctx().open_url(egui::OpenUrl::new_tab(url));
            done = true;
        }
        if ui.button("Copy address").clicked() {
            ui.ctx().copy_text(url.to_owned());
            done = true;
        }
        done |= ui.button("Cancel").clicked();
    });
    done
}

/// Something was written into a file that is not saved.
fn close_file(ui: &mut Ui, path: &str, theme: &Theme, commands: &mut Vec<Command>) -> bool {
    title(ui, "Close without saving?", theme);
    ui.label(widgets::soft(format!("What you wrote into {path} is not saved."), theme));
    ui.add_space(SPACE[2]);
    let mut done = false;
    ui.horizontal(|ui| {
        if widgets::primary(ui, true, "Keep it open", theme).clicked() {
            done = true;
        }
        if widgets::danger(ui, "Throw away and close", theme).clicked() {
            commands.push(WindowCommand::DiscardFile(path.to_owned()).into());
            done = true;
        }
    });
    done
}

/// The window is to be closed while work goes on, or while something is not saved.
fn close(
    ui: &mut Ui,
    room: &RoomModel,
    unsaved: &BTreeSet<String>,
    theme: &Theme,
    commands: &mut Vec<Command>,
) -> bool {
    let at_work = room.work.pieces.len();
    title(ui, "Close the window?", theme);
    if at_work > 0 {
        let work = words::count(at_work, "piece of work goes on", "pieces of work go on");
        let what = format!("{work}. It can be finished first, or it goes on when this workspace is opened next.");
        ui.add(egui::Label::new(widgets::soft(what, theme)).wrap());
    }
    if !unsaved.is_empty() {
        let files = words::count(unsaved.len(), "file is not saved", "files are not saved");
        ui.add(egui::Label::new(widgets::soft(format!("{files}; what you wrote is kept as a draft:"), theme)).wrap());
        for path in unsaved.iter().take(6) {
            ui.label(widgets::small(path, theme));
        }
    }
    ui.add_space(SPACE[2]);
    let mut done = false;
    ui.horizontal_wrapped(|ui| {
        if at_work > 0 && widgets::primary(ui, true, "Finish the work, then close", theme).clicked() {
            commands.push(Command::QuitWhenDone(true));
            done = true;
        }
        if widgets::danger(ui, "Close now", theme).clicked() {
            commands.push(Command::QuitNow);
            done = true;
        }
        if ui.button("Stay").clicked() {
            commands.push(Command::QuitWhenDone(false));
            done = true;
        }
    });
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{Stage, stage};
    use egui_kittest::kittest::Queryable;

    fn asking(dialog: Dialog) -> egui_kittest::Harness<'static, crate::ui::testing::Stage> {
        let state = UiState { dialog: Some(dialog), ..UiState::default() };
        let mut window = stage(state, |ui, room, _, theme, state| dialogs_ui(ui, room, &BTreeSet::new(), theme, state));
        window.run_steps(4);
        window
    }

    #[test]
    fn a_scene_begins_again_only_after_a_yes() {
        let mut window = asking(Dialog::ResetScene);
        window.get_by_label("Keep it as it is").click();
        window.run_steps(4);
        assert!(window.state().commands.is_empty());
        let mut window = asking(Dialog::ResetScene);
        window.get_by_label("Begin again").click();
        window.run_steps(4);
        assert_eq!(window.state().commands, [Command::ResetScene]);
        assert_eq!(window.state().state.dialog, None);
    }

    fn at_work() -> crate::view::model::RoomModel {
        let mut room = crate::ui::testing::sample_room();
        room.work.pieces = vec![crate::view::work::PieceView {
            activation: crate::base::ActivationKey::numbered(7),
            agent: "ada-1".into(),
            task: "count".into(),
            stage: "thinking",
            turn: 1,
            depth: 0,
            tokens: 0,
            question: None,
        }];
        room
    }

    #[test]
    fn work_is_finished_first_or_cut_off_only_after_a_yes() {
        for (answer, wanted) in [
            ("Finish the work, then close", Command::QuitWhenDone(true)),
            ("Close now", Command::QuitNow),
            ("Stay", Command::QuitWhenDone(false)),
        ] {
            let state = UiState { dialog: Some(Dialog::Close), ..UiState::default() };
            let draw = |ui: &mut Ui, room: &RoomModel, _: &_, theme: &Theme, state: &mut UiState| {
                dialogs_ui(ui, room, &BTreeSet::new(), theme, state)
            };
            let mut window = crate::ui::testing::stage_in(at_work(), state, draw);
            window.run_steps(4);
            assert!(window.query_by_label_contains("1 piece of work goes on").is_some());
            window.get_by_label(answer).click();
            window.run_steps(4);
            let Stage { state, commands, .. } = window.state();
            assert_eq!((&commands[..], &state.dialog), (&[wanted][..], &None), "{answer}");
        }
    }

    #[test]
    fn a_new_scene_needs_a_name_of_its_own() {
        let mut window = asking(Dialog::NewScene);
        for (typed, made) in [("Morning", false), ("Night Shift", true)] {
            window.state_mut().state.drafts.insert(NAME.to_owned(), typed.to_owned());
            window.run_steps(2);
            window.get_by_label("Make scene").click();
            window.run_steps(2);
            assert_eq!(!window.state().commands.is_empty(), made, "{typed}");
        }
        assert_eq!(window.state().commands, [Command::NewScene("Night Shift".into())]);
    }

    #[test]
    fn names_that_make_no_file_are_refused_in_words() {
        let room = crate::ui::testing::sample_room();
        let long = "a very long name ".repeat(20);
        for (name, refused) in [
            ("", true),
            ("///", true),
            ("../../etc", false),
            ("  Abend in Köln  ", false),
            ("夜", false),
            ("🌙", true),
            ("MORNING", true),
            ("morning!", true),
            (long.as_str(), true),
        ] {
            assert_eq!(why_not(&room, name).is_some(), refused, "{name}");
        }
        assert_eq!(text::slug("../../etc"), "etc", "a name never leads out of the folder");
    }
}
