//! The chat of an agent and its model as it streams: messages, and tool calls that can be unfolded.

use egui::{CornerRadius, Frame, Label, Margin, RichText, ScrollArea, TextStyle, Ui, vec2};

use super::{fold, texts};
use crate::base::text;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::chat::{ChatLine, ChatView, LiveAnswer, PieceFacts, ToolLine, ToolOutcome};
use crate::view::model::{AgentDetail, AgentView};
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme};

/// How many lines are shown at first, and how many more with each click.
const LINES_SHOWN: usize = 60;
/// Messages of the room are folded beyond this many characters.
const ROOM_CHARS: usize = 400;
/// Streaming text is laid out as Markdown up to this many characters; of longer text the end is shown.
const LIVE_CHARS: usize = 6_000;

/// How many characters of streaming thoughts are shown, from their end.
const LIVE_THOUGHT_CHARS: usize = 600;

/// What is kept of a chat between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatPane {
    /// Whose lines these are, and at which width.
    of: (String, f32),
    /// How high each line was when it was last drawn: what is out of sight is not laid out again.
    heights: Vec<Option<f32>>,
    /// How many earlier lines were asked for.
    earlier: usize,
    /// Lines that were laid out in the last frame.
    pub(super) drawn: usize,
}

impl ChatPane {
    /// Forgets heights that belong to another chat or to another width.
    fn fit(&mut self, name: &str, width: f32, lines: usize) {
        if self.of.0 != name {
            *self = Self { of: (name.to_owned(), width), ..Self::default() };
        }
        if (self.of.1 - width).abs() > 0.5 {
            self.of.1 = width;
            self.heights.clear();
        }
        self.heights.resize(lines, None);
        self.drawn = 0;
    }
}

/// The live chat of an agent.
pub(super) fn live_chat(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    agent: &AgentView,
    detail: &AgentDetail,
    pane: &mut ChatPane,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    let Some(chat) = &detail.chat else {
        ui.label(widgets::soft(texts::LOADING, theme));
        return;
    };
    let name = match &chat.work {
        Some(work) => format!("{} {}", agent.id, work.activation.id()),
        None => agent.id.to_string(),
    };
    let area = ScrollArea::vertical().id_salt(("chat", &name)).auto_shrink(false).stick_to_bottom(true);
    area.show(ui, |ui| {
        if let Some(work) = &chat.work {
            piece(ui, agent, work, theme);
        }
        if chat.lines.is_empty() && chat.live.is_none() && !agent.thinking {
            widgets::empty(ui, Icon::Chat, texts::NO_MESSAGES_YET, texts::HOW_MESSAGES_COME, theme);
        }
        lines_ui(ui, &name, &agent.name, &chat.lines, pane, theme, commands);
        now_ui(ui, agent, detail, chat, theme, commands);
    });
}

/// What it works at.
fn piece(ui: &mut Ui, agent: &AgentView, work: &PieceFacts, theme: &Theme) {
    let works = texts::works_at(&agent.name, &work.activation.id(), work.turn as usize, work.stage);
    ui.label(widgets::small(works, theme));
    widgets::in_card(ui, theme, |ui| {
        ui.label(widgets::small(texts::TASK, theme));
        ui.add(Label::new(text::truncate(&work.task, ROOM_CHARS)).wrap());
    });
}

/// Lines of a chat, those in sight laid out.
pub(super) fn lines_ui(
    ui: &mut Ui,
    name: &str,
    agent: &str,
    lines: &[ChatLine],
    pane: &mut ChatPane,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    pane.fit(name, ui.available_width(), lines.len());
    let first = lines.len().saturating_sub(LINES_SHOWN + pane.earlier);
    if first > 0 {
        let more = first.min(LINES_SHOWN);
        let button = ui.button(texts::show_earlier(more)).on_hover_text(texts::not_shown(first));
        widgets::name(&button, texts::EARLIER_MESSAGES);
        if button.clicked() {
            pane.earlier += LINES_SHOWN;
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
        ChatLine::Agent(text) => said_ui(ui, agent, text, theme, commands),
        ChatLine::Tool(tool) => tool_ui(ui, tool, theme),
    }
}

/// The background of a message.
fn sheet(ui: &mut Ui, fill: egui::Color32, content: impl FnOnce(&mut Ui)) {
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

/// What the agent was told. Much of it repeats other content, so long text is folded.
fn room_ui(ui: &mut Ui, words: &str, theme: &Theme) {
    sheet(ui, widgets::mix(theme.panel, theme.line, 0.45), |ui| {
        ui.label(widgets::small(texts::THE_ROOM, theme));
        let is_long = words.len() > ROOM_CHARS && words.chars().count() > ROOM_CHARS;
        if !is_long {
            ui.add(Label::new(words).wrap());
            return;
        }
        ui.add(Label::new(text::truncate(words, ROOM_CHARS)).wrap());
        let title = texts::all_characters(words.chars().count());
        fold(ui, "all", widgets::small(&title, theme), &title, theme, |ui| {
            ui.add(Label::new(words).wrap());
        });
    });
}

fn said_ui(ui: &mut Ui, agent: &str, words: &str, theme: &Theme, commands: &mut Vec<Command>) {
    sheet(ui, theme.card, |ui| {
        ui.label(RichText::new(agent).size(TYPE[0]).color(theme.accent));
        markdown(ui, words, theme, commands);
    });
}

/// The agent's reported thoughts: not its answer, and folded.
fn thought_ui(ui: &mut Ui, words: &str, theme: &Theme) {
    let title = texts::thoughts(words.chars().count());
    fold(ui, "thoughts", widgets::small(&title, theme), &title, theme, |ui| {
        ui.add(Label::new(widgets::soft(words, theme)).wrap());
    });
}

fn tool_ui(ui: &mut Ui, tool: &ToolLine, theme: &Theme) {
    let heading = tool.heading();
    let colour = match &tool.outcome {
        _ if tool.has_failed() => theme.bad,
        ToolOutcome::Asked(_) => theme.warn,
        _ => theme.text_soft,
    };
    let line = RichText::new(&heading).text_style(TextStyle::Monospace).size(TYPE[0]).color(colour);
    fold(ui, "tool", line, &heading, theme, |ui| {
        let part = |ui: &mut Ui, title: &str, words: &str| {
            if words.is_empty() {
                return;
            }
            sheet(ui, widgets::mix(theme.card, theme.line, 0.35), |ui| {
                ui.label(widgets::small(title, theme));
                let words =
                    RichText::new(words).text_style(TextStyle::Monospace).size(TYPE[0]).color(theme.bubble_text);
                ui.add(Label::new(words).wrap());
            });
        };
        part(ui, texts::ASKED_FOR, &tool.arguments);
        match &tool.outcome {
            ToolOutcome::Answered { text, .. } => part(ui, texts::RESULT, text),
            ToolOutcome::Asked(why) => part(ui, texts::ASKS_BECAUSE, why),
            ToolOutcome::Waiting | ToolOutcome::Running | ToolOutcome::Unanswered => {}
        }
    });
}

/// What is being said at this moment.
fn now_ui(
    ui: &mut Ui,
    agent: &AgentView,
    detail: &AgentDetail,
    chat: &ChatView,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let Some(LiveAnswer { thought, text, calls }) = &chat.live else {
        if agent.thinking {
            ui.label(widgets::soft(texts::waiting_for(&detail.answered_by), theme));
        }
        return;
    };
    if text.is_empty() && calls.is_empty() && thought.is_empty() {
        ui.label(widgets::soft(texts::waiting_for(&detail.answered_by), theme));
    }
    if !thought.trim().is_empty() {
        ui.label(widgets::small(texts::thinks(&agent.name), theme));
        let surplus = thought.chars().count().saturating_sub(LIVE_THOUGHT_CHARS);
        let end: String = thought.chars().skip(surplus).collect();
        let end = if surplus == 0 { end } else { format!("… {end}") };
        ui.add(Label::new(widgets::soft(end, theme)).wrap());
    }
    if !text.trim().is_empty() {
        sheet(ui, widgets::mix(theme.card, theme.accent, 0.06), |ui| {
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
