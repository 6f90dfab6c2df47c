//! The past work of an agent: a list, and the session of the selected piece.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Ui};

use super::chat::{ChatPane, lines_ui};
use super::log_index::{AgentLog, PastWork};
use super::texts;
use crate::base::{Id, text};
use crate::log::events::WorkOutcome;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::chat::{SessionRead, parse_session};
use crate::view::model::AgentView;
use crate::view::theme::{MENU, SPACE, Theme};

/// The number of characters of a task that are shown at first.
const TASK_CHARS: usize = 2_000;

/// The state of this view.
#[derive(Clone, Debug, Default)]
pub(super) struct PastSessionsPane {
    /// The agent and activation of the selected piece of work.
    chosen: Option<(Id, Id)>,
    /// The text of the loaded session and its parse result.
    read: Option<(Arc<str>, Arc<Result<SessionRead, String>>)>,
    chat: ChatPane,
}

impl PastSessionsPane {
    /// Returns the selected activation of this agent.
    pub(super) fn chosen(&self, agent: &Id) -> Option<Id> {
        self.chosen.as_ref().filter(|(of, _)| of == agent).map(|(_, activation)| activation.clone())
    }

    fn session(&mut self, text: &Arc<str>) -> Arc<Result<SessionRead, String>> {
        match &self.read {
            Some((known, read)) if Arc::ptr_eq(known, text) => read.clone(),
            _ => {
                let read = Arc::new(parse_session(text));
                self.read = Some((text.clone(), read.clone()));
                read
            }
        }
    }
}

/// Draws the menu of past work, or the button back to the live chat.
pub(super) fn past_work_menu(
    ui: &mut Ui,
    agent: &AgentView,
    agent_log: Option<&AgentLog>,
    pane: &mut PastSessionsPane,
    cx: &ViewerContext<'_>,
) {
    let theme = cx.theme;
    let chosen = pane.chosen(&agent.id);
    ui.horizontal(|ui| {
        if let Some(activation) = &chosen {
            if ui.button(texts::BACK_TO_NOW).clicked() {
                pane.chosen = None;
            }
            ui.label(widgets::small(activation.to_string(), theme));
        }
        let Some(agent_log) = agent_log.filter(|agent_log| !agent_log.works.is_empty()) else { return };
        menu::menu_button(ui, texts::earlier_works(agent_log.works.len()), texts::EARLIER_WORK, MENU[2], theme, |ui| {
            ui.spacing_mut().item_spacing.y = SPACE[0];
            let works = &agent_log.works;
            let area = ScrollArea::vertical().max_height(360.0);
            area.show_rows(ui, widgets::ChoiceRow::POINTS, works.len(), |ui, rows| {
                // Newest first.
                for work in rows.filter_map(|row| works.get(works.len() - 1 - row)) {
                    if work_row(ui, work, chosen.as_ref(), cx) {
                        pane.chosen = Some((agent.id.clone(), work.activation.clone()));
                        ui.close();
                    }
                }
            });
        });
    });
}

fn work_row(ui: &mut Ui, work: &PastWork, chosen: Option<&Id>, cx: &ViewerContext<'_>) -> bool {
    let theme = cx.theme;
    let task = text::truncate(work.task(), 200);
    let colour = match work.ended.as_ref().map(|ended| ended.outcome) {
        None => theme.accent,
        Some(WorkOutcome::Completed) => theme.good,
        Some(WorkOutcome::Aborted) => theme.warn,
        Some(_) => theme.bad,
    };
    let row = widgets::ChoiceRow {
        name: format!("{} {task}", work.activation),
        title: &task,
        about: format!("{} · {} · {}", work.activation, work.ending(), cx.when(work.began.time_ms)),
        chosen: chosen == Some(&work.activation),
    };
    row.show(ui, theme, |painter, rect| {
        painter.circle_filled(rect.left_center() + egui::vec2(10.0, 0.0), 4.0, colour);
    })
}

/// Draws the session of a past piece of work.
pub(super) fn session_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    activation: &Id,
    pane: &mut PastSessionsPane,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    let text = match cx.ui.texts.session(activation) {
        None => {
            ui.label(widgets::secondary_text(texts::LOADING_SESSION, theme));
            return;
        }
        Some(Err(why)) => return error_ui(ui, texts::SESSION_NOT_LOADED, why, theme),
        Some(Ok(None)) => return error_ui(ui, texts::NO_SESSION, texts::WHY_NO_SESSION, theme),
        Some(Ok(Some(text))) => text.clone(),
    };
    let read = pane.session(&text);
    // The file is named after the session id in it or, in older formats, after its thread.
    let session = read.as_ref().as_ref().ok();
    let named = session.map(|session| session.session_id.as_str()).filter(|id| !id.is_empty());
    let of_thread = session.map(|session| session.thread.as_str()).filter(|thread| !thread.is_empty());
    let path = match named {
        Some(id) => format!("sessions/{id}.session.yaml"),
        None => format!("sessions/{}.{}.session.yaml", text::slug(&agent.id), of_thread.unwrap_or(activation)),
    };
    let session = match &*read {
        Err(why) => {
            error_ui(ui, texts::SESSION_NOT_LOADED, why, theme);
            open_file(ui, path, commands);
            return;
        }
        Ok(session) => session,
    };
    let area = ScrollArea::vertical().id_salt(("session", activation)).auto_shrink(false);
    area.show(ui, |ui| {
        widgets::in_card(ui, theme, |ui| {
            let by = cx.room.called(&session.started_by);
            let about = texts::about_session(&session.status, session.turns as usize, by);
            ui.label(widgets::small(about, theme));
            widgets::long_text(ui, "task", &session.task, TASK_CHARS, |ui, task| drop(ui.add(Label::new(task).wrap())));
            if !session.why.is_empty() {
                ui.add(Label::new(RichText::new(&session.why).color(theme.warn)).wrap());
            }
            open_file(ui, path, commands);
        });
        if session.lines.is_empty() {
            ui.label(widgets::secondary_text(texts::NO_MESSAGES, theme));
        }
        lines_ui(ui, activation, &agent.name, &session.lines, &mut pane.chat, theme, commands);
    });
}

fn error_ui(ui: &mut Ui, title: &str, why: &str, theme: &Theme) {
    widgets::empty(ui, Icon::Note, title, why, theme);
}

fn open_file(ui: &mut Ui, path: String, commands: &mut Vec<Command>) {
    if ui.button(texts::OPEN_SESSION_FILE).on_hover_text(&path).clicked() {
        commands.push(Command::OpenFile(path, None));
    }
}
