//! Modal dialogs: scene names, restarting a scene, imports, links, unsaved changes.

use egui::{Response, RichText, Ui};

use super::coding_agent_dialog::{CodingAgentChoice, add_coding_agent};
use super::trust_dialog::{self, TrustRows, trust_page};
use super::undo_dialog;
use crate::base::{Id, text};
use crate::ui::commands::{EditorCommand, WindowCommand};
use crate::ui::shell::texts::dialogs as texts;
use crate::ui::state::{Dialog, ImportQuestion};
use crate::ui::widgets;
use crate::ui::widgets::dialog::DialogFrame;
use crate::ui::{Command, ViewerContext};
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::theme::{DIALOG, SPACE, Theme};

/// The maximum length of a scene name: file systems allow 255 bytes, and some of them are needed for suffixes.
pub const LONGEST_STEM_BYTES: usize = 120;
/// The maximum height of the list of files to import, in points.
const SUMMARY_POINTS: f32 = 320.0;
/// The maximum number of unsaved files that are listed.
const UNSAVED_SHOWN: usize = 6;

/// The inputs of the open dialog.
#[derive(Clone, Debug, Default)]
pub struct Dialogs {
    scene_name: String,
    pub(super) coding_agent: CodingAgentChoice,
    trust: TrustRows,
}

impl Dialogs {
    /// Clears the inputs, because another dialog is open.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The result of a dialog: `None` while it stays open, otherwise the resulting commands.
type Answer = Option<Vec<Command>>;

/// Draws the open dialog, if any.
pub fn dialogs_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut Dialogs) -> Vec<Command> {
    let Some(dialog) = cx.ui.front.dialog() else { return Vec::new() };
    let title = match dialog {
        Dialog::NewScene => texts::NEW_SCENE.to_owned(),
        Dialog::SaveSceneAs => texts::SAVE_SCENE_AS.to_owned(),
        Dialog::ResetScene => texts::restart_scene(&cx.room.scene),
        Dialog::OpenLink(_) => texts::OPEN_THIS_LINK.to_owned(),
        Dialog::DeleteWorking(_) => texts::REMOVE_WORKING.to_owned(),
        Dialog::CloseFile(_) => texts::CLOSE_WITHOUT_SAVING.to_owned(),
        Dialog::Import(_) => texts::IMPORT_THESE_FILES.to_owned(),
        Dialog::AddCodingAgent => texts::ADD_YOUR_CODING_AGENT.to_owned(),
        Dialog::UndoWork(question) => {
            let name = cx.room.agent(&question.agent).map_or(&*question.agent, |agent| &*agent.name);
            texts::undo_the_work_of(name)
        }
        Dialog::Trust => trust_dialog::title(&cx.ui.trust).to_owned(),
        Dialog::Close => texts::CLOSE_THE_WINDOW.to_owned(),
    };
    let frame = match dialog {
        Dialog::UndoWork(_) | Dialog::AddCodingAgent | Dialog::Trust => {
            DialogFrame { width: DIALOG[2], ..DialogFrame::question(&title) }
        }
        _ => DialogFrame::question(&title),
    };
    let mut meanwhile = Vec::new();
    let shown = frame.show(ui.ctx(), cx.theme, |ui| match dialog {
        Dialog::NewScene => scene_name(ui, cx, &mut own.scene_name, true),
        Dialog::SaveSceneAs => scene_name(ui, cx, &mut own.scene_name, false),
        Dialog::ResetScene => reset(ui, cx.theme),
        Dialog::OpenLink(url) => open_link(ui, url, cx.theme),
        Dialog::DeleteWorking(things) => delete_working(ui, cx, things),
        Dialog::CloseFile(path) => close_file(ui, path, cx.theme),
        Dialog::Import(question) => import(ui, question, cx.theme),
        Dialog::AddCodingAgent => add_coding_agent(ui, cx, &mut own.coding_agent, &mut meanwhile),
        Dialog::Trust => trust_page(ui, cx, &mut own.trust, &mut meanwhile),
        Dialog::UndoWork(question) => undo_dialog::undo_work(ui, question, cx.theme),
        Dialog::Close => close(ui, cx),
    });
    let is_done = shown.is_closed || shown.inner.is_some();
    let mut commands = meanwhile;
    commands.extend(shown.inner.into_iter().flatten());
    if is_done {
        commands.push(WindowCommand::CloseDialog.into());
        own.clear();
    }
    commands
}

fn about(ui: &mut Ui, text: impl Into<String>, theme: &Theme) {
    ui.add(egui::Label::new(widgets::secondary_text(text, theme)).wrap());
}

/// Draws the row of buttons, each with its result. Returns the result of the clicked one.
fn buttons(ui: &mut Ui, add: impl FnOnce(&mut Ui, &mut dyn FnMut(Response, Vec<Command>))) -> Answer {
    ui.add_space(SPACE[2]);
    let mut answer = None;
    ui.horizontal_wrapped(|ui| {
        add(ui, &mut |button, commands| {
            if button.clicked() {
                answer = Some(commands);
            }
        });
    });
    answer
}

/// Returns why a scene cannot have this name, if it cannot.
fn name_problem(room: &RoomModel, name: &str) -> Option<String> {
    let stem = text::slug(name);
    if stem.is_empty() {
        return Some(texts::NAME_IS_EMPTY.to_owned());
    }
    if stem.len() > LONGEST_STEM_BYTES {
        return Some(texts::NAME_IS_TOO_LONG.to_owned());
    }
    // Some file systems ignore case.
    let same = room.scenes.iter().find(|scene| scene.to_lowercase() == stem);
    same.map(|scene| texts::scene_exists(scene))
}

fn scene_name(ui: &mut Ui, cx: &ViewerContext<'_>, name: &mut String, is_new: bool) -> Answer {
    let ViewerContext { room, theme, .. } = *cx;
    let what = if is_new { texts::NEW_SCENE_ABOUT } else { texts::SAVE_SCENE_ABOUT };
    about(ui, what, theme);
    ui.add_space(SPACE[1]);
    let field = widgets::field(ui, name, texts::SCENE_NAME, texts::SCENE_NAME_HINT);
    let entered = widgets::entered(ui, &field);
    if name.is_empty() && !entered {
        field.request_focus();
    }
    let problem = name_problem(room, name);
    let note = match &problem {
        Some(why) if !name.is_empty() => widgets::small(why.clone(), theme).color(theme.bad),
        _ => widgets::small(format!("scenes/{}.yaml", text::truncate(&text::slug(name), 60)), theme),
    };
    ui.add(egui::Label::new(note).wrap());
    let name = text::one_line(name);
    let create = if is_new { Command::NewScene(name) } else { Command::SaveSceneAs(name) };
    let answer = buttons(ui, |ui, button| {
        let label = if is_new { texts::CREATE_SCENE } else { texts::SAVE_SCENE };
        button(widgets::primary(ui, problem.is_none(), label, theme), vec![create.clone()]);
        button(ui.button(texts::CANCEL), Vec::new());
    });
    answer.or_else(|| (problem.is_none() && entered).then(|| vec![create]))
}

fn reset(ui: &mut Ui, theme: &Theme) -> Answer {
    about(ui, texts::RESTART_ABOUT, theme);
    buttons(ui, |ui, button| {
        button(widgets::danger(ui, texts::RESTART_SCENE, theme), vec![Command::ResetScene]);
        button(ui.button(texts::CANCEL), Vec::new());
    })
}

/// Lists what would be imported, before it is.
fn import(ui: &mut Ui, question: &ImportQuestion, theme: &Theme) -> Answer {
    widgets::in_card(ui, theme, |ui| {
        egui::ScrollArea::vertical().max_height(SUMMARY_POINTS).show(ui, |ui| {
            for line in &question.summary {
                ui.add(egui::Label::new(line).wrap());
            }
        });
    });
    about(ui, texts::IMPORT_ABOUT, theme);
    buttons(ui, |ui, button| {
        button(widgets::primary(ui, true, texts::IMPORT, theme), vec![Command::ImportSeen(question.clone())]);
        button(ui.button(texts::CANCEL), Vec::new());
    })
}

fn open_link(ui: &mut Ui, url: &str, theme: &Theme) -> Answer {
    about(ui, texts::LINK_ABOUT, theme);
    widgets::in_card(ui, theme, |ui| ui.add(egui::Label::new(RichText::new(url).monospace()).wrap()));
    buttons(ui, |ui, button| {
        let open = widgets::primary(ui, true, texts::OPEN_LINK, theme);
        if open.clicked() {
            ui.ctx().open_url(egui::OpenUrl::new_tab(url));
        }
        button(open, Vec::new());
        let copy = ui.button(texts::COPY_ADDRESS);
        if copy.clicked() {
            ui.ctx().copy_text(url.to_owned());
        }
        button(copy, Vec::new());
        button(ui.button(texts::CANCEL), Vec::new());
    })
}

/// Confirms removing agents that work: their work ends, and undoing brings only the agents back.
fn delete_working(ui: &mut Ui, cx: &ViewerContext<'_>, things: &[RoomObject]) -> Answer {
    about(ui, texts::work_ends(&working_among(cx.room, things), things.len()), cx.theme);
    buttons(ui, |ui, button| {
        button(widgets::primary(ui, true, texts::CANCEL, cx.theme), Vec::new());
        let remove = widgets::danger(ui, texts::REMOVE_AND_STOP, cx.theme);
        button(remove, vec![Command::DeleteSurely(things.to_vec())]);
    })
}

/// Returns the names of the agents among these things that work or wait for an approval.
pub fn working_among(room: &RoomModel, things: &[RoomObject]) -> Vec<String> {
    let agents = things.iter().filter_map(RoomObject::agent);
    let works = |agent: &&Id| room.work.pieces.iter().any(|piece| piece.agent == **agent);
    agents.filter(works).map(|agent| room.called(agent).to_owned()).collect()
}

/// Confirms closing a file with unsaved changes.
fn close_file(ui: &mut Ui, path: &str, theme: &Theme) -> Answer {
    about(ui, texts::changes_not_saved(path), theme);
    buttons(ui, |ui, button| {
        button(widgets::primary(ui, true, texts::CANCEL, theme), Vec::new());
        let discard = EditorCommand::DiscardFile(path.to_owned()).into();
        button(widgets::danger(ui, texts::DISCARD_AND_CLOSE, theme), vec![discard]);
    })
}

/// Confirms closing the window while agents work or files have unsaved changes.
fn close(ui: &mut Ui, cx: &ViewerContext<'_>) -> Answer {
    let ViewerContext { room, unsaved, theme, .. } = *cx;
    let working = room.work.pieces.len();
    if working > 0 {
        about(ui, texts::tasks_not_finished(working), theme);
    }
    if !unsaved.is_empty() {
        about(ui, texts::files_not_saved(unsaved.len()), theme);
        for path in unsaved.iter().take(UNSAVED_SHOWN) {
            ui.label(widgets::small(path, theme));
        }
    }
    buttons(ui, |ui, button| {
        if working > 0 {
            let finish = widgets::primary(ui, true, texts::FINISH_THEN_CLOSE, theme);
            button(finish, vec![Command::QuitWhenDone(true)]);
        }
        if !unsaved.is_empty() {
            let save = widgets::primary(ui, true, texts::SAVE_AND_CLOSE, theme);
            button(save, vec![EditorCommand::SaveAll.into(), Command::QuitWhenSaved]);
        }
        // Unsaved changes are kept as drafts, so that only work is interrupted.
        let close =
            if working > 0 { widgets::danger(ui, texts::CLOSE_NOW, theme) } else { ui.button(texts::CLOSE_NOW) };
        button(close, vec![Command::QuitNow]);
        button(ui.button(texts::CANCEL), vec![Command::QuitWhenDone(false)]);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::UiState;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use egui_kittest::kittest::Queryable;

    fn open_dialog(room: RoomModel, dialog: Dialog) -> egui_kittest::Harness<'static, PaneHarness> {
        let mut state = UiState::default();
        state.front.ask(dialog);
        let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, panes| dialogs_ui(ui, cx, &mut panes.dialogs));
        window.run_steps(4);
        window
    }

    #[test]
    fn a_scene_is_restarted_only_after_a_confirmation() {
        let mut window = open_dialog(sample_room(), Dialog::ResetScene);
        window.get_by_label("Cancel").click();
        window.run_steps(4);
        assert!(window.state().commands.is_empty());
        let mut window = open_dialog(sample_room(), Dialog::ResetScene);
        window.get_by_label("Restart scene").click();
        window.run_steps(4);
        assert_eq!(window.state().commands, [Command::ResetScene]);
        assert_eq!(window.state().state.front.dialog(), None);
    }

    fn room_at_work() -> RoomModel {
        let mut room = sample_room();
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
    fn closing_waits_for_work_or_interrupts_it_after_a_confirmation() {
        for (answer, expected) in [
            ("Finish work, then close", Command::QuitWhenDone(true)),
            ("Close now", Command::QuitNow),
            ("Cancel", Command::QuitWhenDone(false)),
        ] {
            let mut window = open_dialog(room_at_work(), Dialog::Close);
            assert!(window.query_by_label_contains("1 task is not finished").is_some());
            window.get_by_label(answer).click();
            window.run_steps(4);
            let PaneHarness { state, commands, .. } = window.state();
            assert_eq!((&commands[..], state.front.dialog()), (&[expected][..], None), "{answer}");
        }
    }

    #[test]
    fn saving_and_closing_says_what_work_is_not_finished_and_saves_before_it_closes() {
        let mut stage = PaneHarness::new(room_at_work(), UiState::default());
        stage.state.front.ask(Dialog::Close);
        let mut window = pane_of(stage, |ui, cx, panes| {
            let unsaved = std::collections::BTreeSet::from(["notes/plan.md".to_owned()]);
            dialogs_ui(ui, &ViewerContext { unsaved: &unsaved, ..*cx }, &mut panes.dialogs)
        });
        window.run_steps(4);
        assert!(window.query_by_label_contains("1 task is not finished").is_some());
        assert!(window.query_by_label_contains("notes/plan.md").is_some());
        window.get_by_label("Save and close").click();
        window.run_steps(4);
        let saves = |command: &Command| *command == Command::from(EditorCommand::SaveAll);
        let PaneHarness { asked, .. } = window.state();
        let (saved, closed) =
            (asked.iter().position(saves), asked.iter().position(|command| *command == Command::QuitWhenSaved));
        assert!(saved.is_some() && saved < closed, "{asked:?}");
        assert!(!asked.contains(&Command::QuitNow), "it does not close before everything is saved");
    }

    #[test]
    fn agents_at_work_are_removed_only_after_a_confirmation() {
        let things = vec![RoomObject::Agent("ada-1".into()), RoomObject::Element("news".into())];
        for (answer, expected) in
            [("Cancel", Vec::new()), (texts::REMOVE_AND_STOP, vec![Command::DeleteSurely(things.clone())])]
        {
            let mut window = open_dialog(room_at_work(), Dialog::DeleteWorking(things.clone()));
            assert!(window.query_by_label_contains("is working").is_some());
            window.get_by_label(answer).click();
            window.run_steps(4);
            assert_eq!(window.state().commands, expected, "{answer}");
        }
    }

    #[test]
    fn a_new_scene_needs_an_unused_name() {
        let mut window = open_dialog(sample_room(), Dialog::NewScene);
        for (typed, created) in [("Morning", false), ("Night Shift", true)] {
            typed.clone_into(&mut window.state_mut().parts.dialogs.scene_name);
            window.run_steps(2);
            window.get_by_label("Create scene").click();
            window.run_steps(2);
            assert_eq!(!window.state().commands.is_empty(), created, "{typed}");
        }
        assert_eq!(window.state().commands, [Command::NewScene("Night Shift".into())]);
    }

    #[test]
    fn names_that_cannot_be_file_names_are_refused() {
        let room = sample_room();
        let long = "a very long name ".repeat(20);
        for (name, problem) in [
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
            assert_eq!(name_problem(&room, name).is_some(), problem, "{name}");
        }
        assert_eq!(text::slug("../../etc"), "etc", "a name never leads out of the folder");
    }
}
