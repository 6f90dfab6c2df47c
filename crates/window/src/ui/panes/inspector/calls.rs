//! The model calls of an agent: a list, and the prompt of the selected one, coloured by source.

use egui::{Label, RichText, ScrollArea, Ui};

use super::log_index::{AgentLog, CallFacts};
use super::{prompt, texts};
use crate::base::{Id, Seq};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::{AgentDetail, AgentView};
use crate::view::theme::SPACE;

/// The state of the tab.
#[derive(Clone, Debug, Default)]
pub(super) struct CallsPane {
    /// The agent and record of the selected call.
    chosen: Option<(Id, Seq)>,
    /// The number of rows drawn in the last frame.
    pub(super) drawn: usize,
}

/// Draws the list of calls, or the selected one.
pub(super) fn calls_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    detail: &AgentDetail,
    agent_log: Option<&AgentLog>,
    pane: &mut CallsPane,
) {
    if let Some((_, call)) = pane.chosen.clone().filter(|(of, _)| *of == agent.id) {
        if ui.button(texts::BACK_TO_ALL_CALLS).clicked() {
            pane.chosen = None;
        }
        let area = ScrollArea::vertical().id_salt(("prompt", call)).auto_shrink(false);
        area.show(ui, |ui| call_ui(ui, cx, call, agent_log));
        return;
    }
    let theme = cx.theme;
    if let Some(last) = &detail.last_prompt {
        let title = texts::last_prompt(&text_format::compact(prompt::tokens(last)));
        super::collapsible(ui, "last prompt", RichText::new(&title).color(theme.accent), &title, theme, |ui| {
            let half = (ui.available_height() * 0.6).max(160.0);
            ScrollArea::vertical().id_salt("last prompt").max_height(half).show(ui, |ui| {
                prompt::prompt_parts(ui, cx.room, last, theme);
            });
        });
    }
    pane.drawn = 0;
    let Some(calls) = agent_log.map(|agent_log| &agent_log.calls).filter(|calls| !calls.is_empty()) else {
        widgets::empty(ui, Icon::Question, texts::NO_CALLS, texts::WHEN_CALLS_APPEAR, theme);
        return;
    };
    ui.label(widgets::small(texts::calls(calls.len()), theme));
    ui.spacing_mut().item_spacing.y = SPACE[0];
    let area = ScrollArea::vertical().id_salt(("calls", &agent.id)).auto_shrink(false);
    area.show_rows(ui, widgets::ChoiceRow::POINTS, calls.len(), |ui, rows| {
        for row in rows.filter_map(|row| calls.get(calls.len() - 1 - row)) {
            let facts = CallFacts::of(row);
            let failed = !facts.error.is_empty();
            let about = if failed { &facts.error } else { &facts.about };
            let shown = widgets::ChoiceRow {
                name: texts::call_name(row.seq),
                title: &facts.title,
                about: format!("{} · {about}", cx.when(row.time_ms)),
                chosen: false,
            };
            let colour = if failed { theme.bad } else { theme.good };
            let is_clicked = shown.show(ui, theme, |painter, rect| {
                painter.circle_filled(rect.left_center() + egui::vec2(10.0, 0.0), 4.0, colour);
            });
            pane.drawn += 1;
            if is_clicked {
                pane.chosen = Some((agent.id.clone(), row.seq));
            }
        }
    });
}

/// Draws a call with what its reply did and its prompt.
fn call_ui(ui: &mut Ui, cx: &ViewerContext<'_>, call: Seq, agent_log: Option<&AgentLog>) {
    let theme = cx.theme;
    if let Some(row) = cx.recent.book.find(call) {
        let facts = CallFacts::of(row);
        widgets::in_card(ui, theme, |ui| {
            ui.label(RichText::new(&facts.title).strong());
            ui.label(widgets::small(format!("{}, {}", facts.about, cx.when(row.time_ms)), theme));
            if !facts.error.is_empty() {
                ui.add(Label::new(RichText::new(&facts.error).color(theme.bad)).wrap());
            }
            for acts in agent_log.into_iter().flat_map(|agent_log| agent_log.acts_of(row)) {
                ui.add(Label::new(widgets::small(acts, theme)).wrap());
            }
        });
    }
    match cx.ui.texts.prompt(call) {
        None => {
            ui.label(widgets::secondary_text(texts::LOADING_PROMPT, theme));
        }
        Some(Err(why)) => widgets::empty(ui, Icon::Note, texts::PROMPT_NOT_LOADED, why, theme),
        Some(Ok(None)) => {
            widgets::empty(ui, Icon::Note, texts::PROMPT_NOT_KEPT, texts::WHY_PROMPT_NOT_KEPT, theme);
        }
        Some(Ok(Some(prompt))) => {
            let prompt = prompt.clone();
            prompt::legend(ui, cx.room, &prompt, theme);
            prompt::prompt_parts(ui, cx.room, &prompt, theme);
        }
    }
}
