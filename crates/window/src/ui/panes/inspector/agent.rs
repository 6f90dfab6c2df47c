//! An agent in the inspector: its state with the reason, and the tabs Chat, About, Memory and Prompts.

use std::collections::BTreeMap;

use egui::{Label, RichText, ScrollArea, Sense, Ui, vec2};

use super::log_index::AgentLog;
use super::{Inspector, about, agent_plan, calls, chat, duplicate_and_delete_ui, knowledge, past_sessions, texts};
use crate::agent::AgentCommand;
use crate::kernel::KernelCommand;
use crate::simulation::{State, TaskCommand};
use crate::ui::Command;
use crate::ui::approval_card::{CardSize, approval_card};
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::ui::slash_commands;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::provider_health;
use crate::ui::widgets::text_format;
use crate::view::model::{AgentDetail, AgentView};
use crate::view::paint;
use crate::view::pick::RoomObject;
use crate::view::theme::{SPACE, TYPE, Theme, state_colour};

/// The minimum pane height for an approval card; in lower panes it is shown beside the agent and below the room.
const CARD_PANE_POINTS: f32 = 680.0;
/// The maximum heights of the two parts of an approval card: the request, and the preview of its effect.
const CARD_HEAD_POINTS: f32 = 96.0;
const CARD_PREVIEW_POINTS: f32 = 110.0;

/// A tab of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum AgentTab {
    /// The chat of the agent and its model.
    #[default]
    Chat,
    /// Profile, plan and tasks.
    About,
    /// Memories, and the last ones recalled.
    Memory,
    /// Model calls and their prompts.
    Prompts,
}

const TABS: [(AgentTab, &str); 4] = [
    (AgentTab::Chat, texts::CHAT),
    (AgentTab::About, texts::ABOUT),
    (AgentTab::Memory, texts::MEMORY),
    (AgentTab::Prompts, texts::PROMPTS),
];

pub(super) fn agent_card(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    pane: &mut Inspector,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    header_ui(ui, cx, agent, commands);
    let Some(detail) = &agent.detail else {
        ui.label(widgets::secondary_text(texts::LOADING, theme));
        return;
    };
    let choices = TABS.map(|(_, word)| (word.to_owned(), texts::tab_name(word)));
    let chosen = TABS.iter().position(|(tab, _)| *tab == pane.tab);
    if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
        pane.tab = TABS[index].0;
    }
    let log_index = pane.log_index.clone();
    let agent_log = log_index.agent(&agent.id);
    match pane.tab {
        AgentTab::Chat => {
            let Inspector { earlier, chat, drafts, .. } = pane;
            let mut chat_commands = Vec::new();
            let above = |ui: &mut Ui| {
                past_sessions::past_work_menu(ui, agent, agent_log, earlier, cx);
                match earlier.chosen(&agent.id) {
                    Some(activation) => {
                        past_sessions::session_ui(ui, cx, agent, &activation, earlier, &mut chat_commands)
                    }
                    None => chat::live_chat(ui, cx, (agent, detail, agent_log), chat, &mut chat_commands),
                }
            };
            widgets::with_footer(ui, "what an agent is to do", above, |ui| {
                footer_ui(ui, cx, (agent, detail, agent_log), drafts, commands);
            });
            commands.extend(chat_commands);
        }
        AgentTab::About => {
            ScrollArea::vertical().id_salt(("about", &agent.id)).auto_shrink(false).show(ui, |ui| {
                agent_plan::plan_ui(ui, agent_log.map(|agent_log| &*agent_log.plan).unwrap_or_default(), cx.theme);
                about::about_ui(ui, cx, agent, detail, commands);
                ui.add_space(SPACE[3]);
                duplicate_and_delete_ui(ui, cx, &[RoomObject::Agent(agent.id.clone())], commands);
            });
        }
        AgentTab::Memory => {
            ScrollArea::vertical().id_salt(("knows", &agent.id)).auto_shrink(false).show(ui, |ui| {
                knowledge::memory_ui(ui, cx, agent, agent_log, commands);
            });
        }
        AgentTab::Prompts => calls::calls_ui(ui, cx, agent, detail, agent_log, &mut pane.calls),
    }
}

/// Draws the name, portrait and state of an agent, with buttons to pause it and open its file.
fn header_ui(ui: &mut Ui, cx: &ViewerContext<'_>, agent: &AgentView, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(48.0, 58.0), Sense::hover());
        widgets::portrait_background(ui.painter(), rect, theme);
        paint::portrait(ui.painter(), rect.shrink(4.0), &agent.look, cx.art);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let name = |ui: &mut Ui| {
                ui.add(Label::new(RichText::new(&*agent.name).heading().size(TYPE[3])).truncate());
            };
            widgets::line(ui, "name", name, |ui| actions(ui, agent, theme, commands));
            ui.spacing_mut().interact_size.y = 20.0;
            ui.horizontal(|ui| {
                widgets::badge(ui, text_format::state(agent.state), state_colour(agent.state), theme);
                ui.label(widgets::small(text_format::state_duration(agent), theme));
            });
        });
    });
    if let Some(fault) = room.fault_of(agent.key) {
        provider_health::agent_ui(ui, fault, room, theme);
    }
    if let Some(why) = agent.detail.as_ref().map(|detail| &detail.why).filter(|why| !why.is_empty()) {
        ui.add(Label::new(RichText::new(why)).wrap());
    }
}

/// Draws the buttons to pause the agent and open its file.
fn actions(ui: &mut Ui, agent: &AgentView, theme: &Theme, commands: &mut Vec<Command>) {
    let is_paused = agent.state == State::Paused;
    let id = agent.id.clone();
    let (icon, label, act) = if is_paused {
        (Icon::Play, texts::RESUME_AGENT, AgentCommand::Resume { agent: id })
    } else {
        (Icon::Pause, texts::PAUSE_AGENT, AgentCommand::Pause { agent: id })
    };
    if widgets::icon_button(ui, icon, label, is_paused, theme).clicked() {
        commands.push(Command::Act(RoomAct::Agent(act), None));
    }
    let profile = agent.detail.as_ref().and_then(|detail| detail.profile.clone());
    let path = profile.map_or_else(|| format!("agents/{}.md", agent.profile), |profile| profile.file.clone());
    if widgets::icon_button(ui, Icon::Note, texts::OPEN_ITS_FILE, false, theme).clicked() {
        commands.push(Command::OpenFile(path, None));
    }
}

/// Whether the inspector is high enough for an approval card.
pub fn has_room_for_question(cx: &ViewerContext<'_>) -> bool {
    cx.ui.dock.rect(&Tab::INSPECTOR).is_none_or(|rect| rect.height() >= CARD_PANE_POINTS)
}

/// Draws the pending approval, the model usage, and the field for the next task.
fn footer_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    (agent, detail, agent_log): (&AgentView, &AgentDetail, Option<&AgentLog>),
    drafts: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    let work = detail.chat.as_ref().and_then(|chat| chat.work.as_ref());
    ui.add_space(SPACE[1]);
    let question = work.and_then(|work| work.question.as_ref()).filter(|_| has_room_for_question(cx));
    if let Some(question) = question {
        let size = CardSize { head: CARD_HEAD_POINTS, preview: CARD_PREVIEW_POINTS };
        commands.extend(approval_card(ui, cx, question, ("inspector", size, None)));
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        if let Some(plan) = agent_log.and_then(|agent_log| agent_plan::summary_line(&agent_log.plan)) {
            ui.add(Label::new(widgets::small(plan, theme)).truncate());
        }
        if let Some(work) = work {
            ui.label(widgets::small(texts::spent_in_this_piece(&text_format::tally(&work.spent)), theme));
        }
        ui.label(widgets::small(texts::spent_in_this_run(&text_format::tally(&detail.spent)), theme));
    });
    let draft = drafts.entry(format!("task of {}", agent.id)).or_default();
    let field = widgets::area(ui, draft, texts::TASK, &texts::task_question(&agent.name), 2);
    let known = slash_commands::known(cx, &agent.id);
    if draft.is_empty() && !known.is_empty() {
        ui.label(widgets::small(texts::HOW_TO_COMMAND, theme));
    }
    if slash_commands::suggestions_ui(ui, known, draft) {
        widgets::focus_at_end(ui, &field, draft);
    }
    let text = draft.trim().to_owned();
    let has_work = work.is_some() || !detail.tasks.is_empty();
    ui.horizontal(|ui| {
        let give = widgets::primary(ui, !text.is_empty(), texts::GIVE_TASK, theme);
        let give = give.on_hover_text(if has_work { texts::STARTS_LATER } else { texts::STARTS_NOW });
        if give.clicked() {
            commands.push(Command::Act(RoomAct::Task(TaskCommand { agent: agent.id.clone(), text }), None));
            draft.clear();
        }
        if has_work {
            let stop = widgets::danger(ui, texts::STOP_ITS_WORK, theme).on_hover_text(texts::STOP_ITS_WORK_TIP);
            if stop.clicked() {
                let kill = KernelCommand::KillAgent { agent: agent.id.clone() };
                commands.push(Command::Act(RoomAct::Work(kill), None));
            }
        }
        if agent.thinking {
            let (icon_rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            Icon::Chat.paint(ui.painter(), icon_rect, theme.accent);
            ui.label(widgets::small(texts::THINKING, theme));
        }
    });
}
