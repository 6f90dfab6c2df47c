//! The Memory tab of an agent: the memories that it recalled last and the reason, and its own memories.

use std::sync::Arc;

use egui::{Ui, WidgetInfo, WidgetType};

use super::log_index::AgentLog;
use super::{ago, fact, texts};
use crate::log::events::Knowledge;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::panes::knowledge::{self, memory_words, score_words};
use crate::ui::state::dock::Tab;
use crate::ui::state::memories::KnownMemories;
use crate::ui::widgets;
use crate::view::event_list::EventRow;
use crate::view::model::AgentView;
use crate::view::theme::SPACE;

/// The maximum number of its own memories shown; the knowledge pane has the others.
const SHOWN: usize = 20;

/// Draws the tab.
pub(super) fn memory_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    agent_log: Option<&AgentLog>,
    commands: &mut Vec<Command>,
) {
    let known = cx.ui.known_memories();
    let (own, shared) = known.counts_of(&agent.id);
    fact(ui, texts::ITS_OWN, &texts::memories(own), cx.theme);
    fact(ui, texts::SHARED, &texts::shared_memories(shared), cx.theme);
    let all = ui.button(texts::OPEN_KNOWLEDGE);
    all.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, texts::OPEN_KNOWLEDGE_PANE));
    if all.clicked() {
        commands.push(Command::Show(Tab::named(knowledge::WORD)));
    }
    ui.add_space(SPACE[1]);
    recalled_ui(ui, cx, agent_log.and_then(|agent_log| agent_log.last_recalled.as_ref()));
    ui.add_space(SPACE[1]);
    own_ui(ui, cx, agent, &known);
}

/// Draws the memories that it recalled last, with the occasion and scores.
fn recalled_ui(ui: &mut Ui, cx: &ViewerContext<'_>, row: Option<&Arc<EventRow>>) {
    ui.label(widgets::heading(texts::LAST_REMINDED_OF, cx.theme));
    let recalled = row.and_then(|row| Some((row, row.read::<Knowledge>()?)));
    let Some((row, Knowledge::Recalled { about, memories })) = recalled else {
        ui.label(widgets::small(texts::NOT_REMINDED_YET, cx.theme));
        return;
    };
    let ago = ago(cx.room, row.tick);
    let by = if about.is_empty() { ago } else { texts::reminded_by(&ago, &about) };
    ui.label(widgets::small(by, cx.theme));
    for memory in memories {
        widgets::in_card(ui, cx.theme, |ui| {
            ui.label(&memory.text);
            if let Some(from) = &memory.shared_by {
                ui.label(widgets::small(texts::shared_by(cx.room.called(from)), cx.theme));
            }
            ui.label(widgets::small(score_words(&memory), cx.theme));
        });
    }
}

/// Lists its own memories, newest first.
fn own_ui(ui: &mut Ui, cx: &ViewerContext<'_>, agent: &AgentView, known: &KnownMemories) {
    ui.label(widgets::heading(texts::ITS_OWN_MEMORIES, cx.theme));
    if !known.is_whole {
        ui.label(widgets::small(texts::LOADING_MEMORIES, cx.theme));
        return;
    }
    let mut count = 0;
    for row in known.of_agent(&agent.id).take(SHOWN) {
        count += 1;
        widgets::in_card(ui, cx.theme, |ui| {
            ui.label(&row.memory.content);
            ui.label(widgets::small(memory_words(row, cx), cx.theme));
        });
    }
    if count == 0 {
        ui.label(widgets::small(texts::NO_OWN_MEMORIES, cx.theme));
    }
    let left = known.of_agent(&agent.id).count().saturating_sub(SHOWN);
    if left > 0 {
        ui.label(widgets::small(texts::and_more_in_knowledge(left), cx.theme));
    }
}
