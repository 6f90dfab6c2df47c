//! The streaming chat of an agent and its model: messages, and collapsible tool calls.

use egui::{CornerRadius, Frame, Label, Margin, RichText, ScrollArea, TextStyle, Ui, vec2};

use super::log_index::AgentLog;
use super::whole_answers::WholeAnswers;
use super::{collapsible, texts};
use crate::base::text;
use crate::mind::spoken::OFFLINE;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::chat::{ChatLine, ChatView, LiveAnswer, SHOWN_CHARS, ToolLine, ToolLineOutcome, WorkFacts};
use crate::view::model::{AgentDetail, AgentView};
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme};

/// The number of lines shown at first and added by each click on "Show earlier".
const PAGE_LINES: usize = 60;
/// Messages from the room are collapsed beyond this many characters.
const ROOM_CHARS: usize = 400;
/// Streaming text is rendered as Markdown up to this many characters; of longer text only the end is shown.
const LIVE_CHARS: usize = 6_000;

/// The number of characters shown of streaming thoughts, from the end.
const LIVE_THOUGHT_CHARS: usize = 600;

/// The state of a chat view.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatPane {
    /// The name of the chat and the width that the heights belong to.
    of: (String, f32),
    /// The height of each line when it was last drawn, so that lines out of view need no layout.
    heights: Vec<Option<f32>>,
    /// The number of additional earlier lines shown.
    earlier: usize,
    /// The number of lines laid out in the last frame.
    pub(super) drawn: usize,
    /// The whole answers of finished work.
    whole: WholeAnswers,
}

impl ChatPane {
    /// Discards cached heights if the chat or the width changed.
    fn invalidate(&mut self, name: &str, width: f32, lines: usize) {
        if self.of.0 != name {
            let whole = std::mem::take(&mut self.whole);
            *self = Self { of: (name.to_owned(), width), whole, ..Self::default() };
        }
        if (self.of.1 - width).abs() > 0.5 {
            self.of.1 = width;
            self.heights.clear();
        }
        self.heights.resize(lines, None);
        self.drawn = 0;
    }
}

/// Draws the live chat of an agent.
pub(super) fn live_chat(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    (agent, detail, agent_log): (&AgentView, &AgentDetail, Option<&AgentLog>),
    pane: &mut ChatPane,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    let Some(chat) = &detail.chat else {
        ui.label(widgets::secondary_text(texts::LOADING, theme));
        return;
    };
    let name = match &chat.work {
        Some(work) => format!("{} {}", agent.id, work.activation.id()),
        None => agent.id.to_string(),
    };
    let area = ScrollArea::vertical().id_salt(("chat", &name)).auto_shrink(false).stick_to_bottom(true);
    area.show(ui, |ui| {
        if let Some(work) = &chat.work {
            work_ui(ui, agent, work, theme);
        }
        if chat.lines.is_empty() && chat.live.is_none() && !agent.thinking {
            widgets::empty(ui, Icon::Chat, texts::NO_MESSAGES_YET, texts::HOW_MESSAGES_COME, theme);
        }
        let lines = pane.whole.complete(&chat.lines, agent_log, cx);
        lines_ui(ui, &name, &agent.name, &lines, pane, theme, commands);
        if detail.answered_by == OFFLINE && !lines.is_empty() {
            ui.label(widgets::small(texts::SIMULATED, theme));
        }
        live_answer_ui(ui, agent, detail, chat, theme, commands);
    });
}

/// Draws the current task.
fn work_ui(ui: &mut Ui, agent: &AgentView, work: &WorkFacts, theme: &Theme) {
    let works = texts::works_at(&agent.name, &work.activation.id(), work.turn as usize, work.stage);
    ui.label(widgets::small(works, theme));
    widgets::in_card(ui, theme, |ui| {
        ui.label(widgets::small(texts::TASK, theme));
        widgets::long_text(ui, "task", &work.task, ROOM_CHARS, |ui, task| drop(ui.add(Label::new(task).wrap())));
    });
}

/// Draws the lines of a chat; only visible ones are laid out.
pub(super) fn lines_ui(
    ui: &mut Ui,
    name: &str,
    agent: &str,
    lines: &[ChatLine],
    pane: &mut ChatPane,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    pane.invalidate(name, ui.available_width(), lines.len());
    let first = lines.len().saturating_sub(PAGE_LINES + pane.earlier);
    if first > 0 {
        let more = first.min(PAGE_LINES);
        let button = ui.button(texts::show_earlier(more)).on_hover_text(texts::not_shown(first));
        widgets::name(&button, texts::EARLIER_MESSAGES);
        if button.clicked() {
            pane.earlier += PAGE_LINES;
        }
    }
    for (index, line) in lines.iter().enumerate().skip(first) {
        let width = ui.available_width();
        if let Some(height) = pane.heights[index] {
            let rect = egui::Rect::from_min_size(ui.cursor().min, vec2(width, height));
            if !ui.is_rect_visible(rect) {
                ui.allocate_space(vec2(width, height));
                continue;
            }
        }
        let drawn = ui.push_id(index, |ui| line_ui(ui, agent, line, theme, commands));
        pane.heights[index] = Some(drawn.response.rect.height());
        pane.drawn += 1;
    }
}

fn line_ui(ui: &mut Ui, agent: &str, line: &ChatLine, theme: &Theme, commands: &mut Vec<Command>) {
    match line {
        ChatLine::Room(text) => room_ui(ui, text, theme),
        ChatLine::Thought(text) => thought_ui(ui, text, theme),
        ChatLine::Agent(text) => agent_message_ui(ui, agent, text, theme, commands),
        ChatLine::Tool(tool) => tool_ui(ui, tool, theme),
    }
}

/// Draws a message background around `content`.
fn message_frame(ui: &mut Ui, fill: egui::Color32, content: impl FnOnce(&mut Ui)) {
    let frame = Frame::new()
        .fill(fill)
        .corner_radius(CornerRadius::same(RADIUS[1]))
        .inner_margin(Margin::symmetric(SPACE[1] as i8 + 2, 6));
    frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        content(ui);
    });
}

/// Draws a message from the room. These often repeat other content, so long ones are collapsed.
fn room_ui(ui: &mut Ui, words: &str, theme: &Theme) {
    message_frame(ui, widgets::mix(theme.panel, theme.line, 0.45), |ui| {
        ui.label(widgets::small(texts::THE_ROOM, theme));
        let is_long = words.len() > ROOM_CHARS && words.chars().count() > ROOM_CHARS;
        if !is_long {
            ui.add(Label::new(words).wrap());
            return;
        }
        ui.add(Label::new(text::truncate(words, ROOM_CHARS)).wrap());
        let title = texts::all_characters(words.chars().count());
        collapsible(ui, "all", widgets::small(&title, theme), &title, theme, |ui| {
            ui.add(Label::new(words).wrap());
        });
    });
}

fn agent_message_ui(ui: &mut Ui, agent: &str, words: &str, theme: &Theme, commands: &mut Vec<Command>) {
    message_frame(ui, theme.card, |ui| {
        ui.label(RichText::new(agent).size(TYPE[0]).color(theme.accent));
        widgets::long_text(ui, "answer", words, SHOWN_CHARS, |ui, words| markdown(ui, words, theme, commands));
    });
}

/// Draws the agent's reported thoughts, collapsed.
fn thought_ui(ui: &mut Ui, words: &str, theme: &Theme) {
    let title = texts::thoughts(words.chars().count());
    collapsible(ui, "thoughts", widgets::small(&title, theme), &title, theme, |ui| {
        widgets::long_text(ui, "all thoughts", words, SHOWN_CHARS, |ui, words| {
            ui.add(Label::new(widgets::secondary_text(words, theme)).wrap());
        });
    });
}

fn tool_ui(ui: &mut Ui, tool: &ToolLine, theme: &Theme) {
    let heading = tool.heading();
    let colour = match &tool.outcome {
        _ if tool.has_failed() => theme.bad,
        ToolLineOutcome::Asked(_) => theme.warn,
        _ => theme.text_soft,
    };
    let line = RichText::new(&heading).text_style(TextStyle::Monospace).size(TYPE[0]).color(colour);
    collapsible(ui, "tool", line, &heading, theme, |ui| {
        let part = |ui: &mut Ui, title: &str, words: &str| {
            if words.is_empty() {
                return;
            }
            message_frame(ui, widgets::mix(theme.card, theme.line, 0.35), |ui| {
                ui.label(widgets::small(title, theme));
                widgets::long_text(ui, title, words, SHOWN_CHARS, |ui, words| {
                    let words = RichText::new(words).text_style(TextStyle::Monospace).size(TYPE[0]);
                    ui.add(Label::new(words.color(theme.bubble_text)).wrap());
                });
            });
        };
        part(ui, texts::ASKED_FOR, &tool.arguments);
        match &tool.outcome {
            ToolLineOutcome::Answered { text, .. } => part(ui, texts::RESULT, text),
            ToolLineOutcome::Asked(why) => part(ui, texts::ASKS_BECAUSE, why),
            ToolLineOutcome::Waiting | ToolLineOutcome::Running | ToolLineOutcome::Unanswered => {}
        }
    });
}

/// Draws the answer that is being streamed.
fn live_answer_ui(
    ui: &mut Ui,
    agent: &AgentView,
    detail: &AgentDetail,
    chat: &ChatView,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some(LiveAnswer { thought, text, calls }) = &chat.live else {
        if agent.thinking {
            ui.label(widgets::secondary_text(texts::waiting_for(&detail.answered_by), theme));
        }
        return;
    };
    if text.is_empty() && calls.is_empty() && thought.is_empty() {
        ui.label(widgets::secondary_text(texts::waiting_for(&detail.answered_by), theme));
    }
    if !thought.trim().is_empty() {
        ui.label(widgets::small(texts::thinks(&agent.name), theme));
        let surplus = thought.chars().count().saturating_sub(LIVE_THOUGHT_CHARS);
        let end: String = thought.chars().skip(surplus).collect();
        let end = if surplus == 0 { end } else { format!("… {end}") };
        ui.add(Label::new(widgets::secondary_text(end, theme)).wrap());
    }
    if !text.trim().is_empty() {
        message_frame(ui, widgets::mix(theme.card, theme.accent, 0.06), |ui| {
            ui.label(RichText::new(texts::says_now(&agent.name)).size(TYPE[0]).color(theme.accent));
            let surplus = text.chars().count().saturating_sub(LIVE_CHARS);
            if surplus == 0 {
                markdown(ui, text, theme, commands);
            } else {
                let end: String = text.chars().skip(surplus).collect();
                ui.add(Label::new(format!("… {end}")).wrap());
            }
        });
    }
    for (name, about) in calls {
        let line = format!("[{name}] {about} …");
        ui.add(
            Label::new(RichText::new(line).text_style(TextStyle::Monospace).size(TYPE[0]).color(theme.accent)).wrap(),
        );
    }
}
