//! The approval card: who wants to do what, which rule requires approval, a preview of the effect, the scope of a
//! permission, a comment to the agent, and the two answer buttons, which never move.
//!
//! The buttons ignore clicks for a moment after the card appears or changes, so that a click meant for something else
//! does not allow an unread request.

use std::time::Duration;

use egui::{
    Align, Button, CornerRadius, Id as WidgetId, Label, Layout, Margin, Painter, Rect, ScrollArea, Sense, StrokeKind,
    Ui, WidgetInfo, WidgetType, vec2,
};

use super::{approval_preview, approval_reader, texts};
use crate::base::{AllowScope, TimeLimit};
use crate::kernel::ApprovalId;
use crate::ui::commands::{RoomAct, WindowCommand, keyboard, keys};
use crate::ui::server_form::{FormValues, form_ui};
use crate::ui::state::approvals::InputLock;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::ui::widgets::{card, icon_button, line_parts, name, primary, segments_with_tips, small, text_line};
use crate::ui::{Command, ViewerContext};
use crate::view::paint;
use crate::view::theme::{APPROVAL, RADIUS, SPACE, Theme};
use crate::view::work::QuestionView;

/// The place of the card that takes the keys when they are requested: it is always in view.
const KEYS_PLACE: &str = "run bar";

/// The maximum height of the list of all approvals, in points.
const LIST_POINTS: f32 = 240.0;

/// The height of the scope buttons, in points.
const SCOPES_POINTS: f32 = 28.0;

/// On cards at least this wide (in points), the scope buttons share a row with the answer buttons.
const WIDE_POINTS: f32 = 900.0;
/// The width of the scope buttons in that row, in points.
const SCOPES_WIDTH: f32 = 330.0;
/// The share of that row for the explanation of the chosen scope.
const SCOPE_NOTE_SHARE: f32 = 0.24;

/// The heights of the scrolling parts of a card.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CardSize {
    /// The height of the head, which says who wants what and why, in points.
    pub head: f32,
    /// The height of the preview, in points; 0 hides it.
    pub preview: f32,
}

/// The position of the shown approval among all waiting ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The index, from 0.
    pub at: usize,
    /// The number of waiting approvals.
    pub count: usize,
}

/// Returns the height of a card of this size, in points.
pub fn height_of(size: CardSize) -> f32 {
    let preview = if size.preview > 0.0 { size.preview + 2.0 * approval_preview::MARGIN + SPACE[0] } else { 0.0 };
    2.0 * SPACE[2]
        + size.head
        + SPACE[0]
        + preview
        + SCOPES_POINTS
        + SPACE[0]
        + APPROVAL.scope
        + SPACE[0]
        + APPROVAL.row
}

/// The state that a card keeps between frames.
#[derive(Clone, Debug, Default)]
struct CardMemory {
    of: Option<ApprovalId>,
    input_lock: InputLock,
    scope: AllowScope,
    comment: String,
    form: FormValues,
    /// The index of the shown page of the preview.
    page: usize,
    /// Whether everything is shown in the large view.
    is_read: bool,
    /// The rectangle of the card in the last frame.
    rect: Option<Rect>,
    /// The last request for the keys that the card has followed.
    key_request: Option<u64>,
}

/// How the answer buttons are drawn.
#[derive(Clone, Copy)]
struct AnswerState<'a> {
    agent_name: &'a str,
    /// Whether the card has only just appeared and takes no answer yet.
    is_locked: bool,
    /// Whether the person chose the card for the keys.
    is_chosen: bool,
}

/// Draws the approval card of a question; `place` identifies the card among those in the window.
pub fn approval_card(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    question: &QuestionView,
    (place, size, turn): (&str, CardSize, Option<Turn>),
) -> Vec<Command> {
    let mut commands = Vec::new();
    let id = WidgetId::new(("approval card", place));
    let mut memory: CardMemory = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let approval = &question.approval;
    if memory.of.as_ref() != Some(&approval.id) {
        let CardMemory { input_lock, rect, key_request, .. } = memory;
        let of = Some(approval.id.clone());
        memory = CardMemory { of, input_lock, rect, key_request, ..CardMemory::default() };
    }
    let locked_secs = memory.input_lock.lock_secs(&approval.id, ui.input(|input| input.time));
    if locked_secs > 0.0 {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(locked_secs));
    }
    let agent_name = cx.room.called(&approval.agent).to_owned();
    // Another approval is another widget, so that what was chosen for one does not count for the next.
    let widget = WidgetId::new(("the keys of", place, approval.id.as_str()));
    if let Some(rect) = memory.rect {
        let keys = ui.interact(rect, widget, Sense::focusable_noninteractive());
        keys.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::approval_of(&agent_name)));
    }
    let is_chosen = keyboard::is_chosen(ui.ctx(), widget);
    let shown = card(cx.theme).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.push_id(id, |ui| {
            ui.spacing_mut().item_spacing.y = SPACE[0];
            memory.is_read |= head_ui(ui, cx, question, (&agent_name, size.head, turn), &mut commands);
            if size.preview > 0.0 && !question.approval.fields().is_empty() {
                approval_preview::part(ui, "form", size.preview + 2.0 * approval_preview::MARGIN, |ui| {
                    // The head shows a short question whole.
                    approval_preview::lines_ui(ui, &question.approval.long_question(), cx.theme);
                    form_ui(ui, question.approval.fields(), &mut memory.form, cx.theme);
                });
            } else if size.preview > 0.0 {
                approval_preview::preview_ui(ui, cx, question, (size.preview, &mut memory.page));
            }
            if ui.available_width() < WIDE_POINTS {
                scope_ui(ui, cx.theme, question, &agent_name, &mut memory);
                scope_note_ui(ui, cx.theme, question, &agent_name, &memory);
            }
            let state = AnswerState { agent_name: &agent_name, is_locked: locked_secs > 0.0, is_chosen };
            answers_ui(ui, cx.theme, question, state, &mut memory, &mut commands);
        });
    });
    if memory.is_read && approval_reader::approval_reader_ui(ui.ctx(), cx, question, &mut memory.page) {
        memory.is_read = false;
    }
    let rect = shown.response.rect;
    memory.rect = Some(rect);
    if is_chosen {
        let corners = CornerRadius::same(RADIUS[1]);
        ui.painter().rect_stroke(rect, corners, cx.theme.focus_ring(), StrokeKind::Inside);
    }
    let request = cx.ui.questions.key_request(&approval.id).filter(|_| place == KEYS_PLACE);
    let is_requested = request.is_some() && request != memory.key_request;
    if is_requested || keyboard::is_card_clicked(ui, rect) {
        memory.key_request = request.or(memory.key_request);
        keyboard::choose(ui.ctx(), widget);
        if cx.ui.questions.front(cx.room).is_none_or(|(_, front, ..)| front.approval.id != approval.id) {
            commands.push(WindowCommand::ChooseQuestion(approval.id.clone()).into());
        }
    }
    ui.data_mut(|data| data.insert_temp(id, memory));
    commands
}

/// Draws who wants what and why it needs approval; at the right, the buttons for the large view, for other approvals and
/// for the asking agent. Returns whether the large view is to be opened.
fn head_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    question: &QuestionView,
    (agent_name, height, turn): (&str, f32, Option<Turn>),
    commands: &mut Vec<Command>,
) -> bool {
    let size = vec2(ui.available_width(), height);
    let sentences = |ui: &mut Ui| {
        approval_preview::part(ui, "head", height, |ui| approval_preview::sentences_ui(ui, cx, question, agent_name));
    };
    let head = ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
        line_parts(ui, "head", sentences, |ui| {
            if let Some(turn) = turn.filter(|turn| turn.count > 1) {
                turns_ui(ui, cx, question, turn, commands);
            }
            let is_read = icon_button(ui, Icon::Search, texts::READ_EVERYTHING, false, cx.theme).clicked();
            if turn.is_some() && icon_button(ui, Icon::Fit, texts::GO_TO_QUESTION, false, cx.theme).clicked() {
                commands.push(WindowCommand::ShowQuestion.into());
            }
            is_read
        })
    });
    head.inner
}

/// Draws the buttons for other waiting approvals.
fn turns_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    question: &QuestionView,
    Turn { at, count }: Turn,
    commands: &mut Vec<Command>,
) {
    all_questions_ui(ui, cx, question, texts::turn(at + 1, count), commands);
    if icon_button(ui, Icon::Up, texts::PREVIOUS_QUESTION, false, cx.theme).clicked() {
        commands.push(WindowCommand::StepQuestion { forward: false }.into());
    }
    if icon_button(ui, Icon::Down, texts::NEXT_QUESTION, false, cx.theme).clicked() {
        commands.push(WindowCommand::StepQuestion { forward: true }.into());
    }
}

/// Draws the list of all waiting approvals, oldest first; choosing one moves it to the front.
fn all_questions_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    shown: &QuestionView,
    turn: String,
    commands: &mut Vec<Command>,
) {
    let button = menu::menu_button(ui, turn, texts::ALL_QUESTIONS, APPROVAL.width, cx.theme, |ui| {
        ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| {
            for (piece, question) in cx.room.work.questions() {
                let sentence = question.approval.sentence(cx.room.called(&piece.agent));
                let is_shown = question.approval.id == shown.approval.id;
                let face = |painter: &Painter, place| {
                    if let Some(agent) = cx.room.agent(&piece.agent) {
                        paint::portrait(painter, place, &agent.look, cx.art);
                    }
                };
                if menu::choice_with_picture(ui, is_shown, &sentence, face).clicked() && !is_shown {
                    commands.push(WindowCommand::ChooseQuestion(question.approval.id.clone()).into());
                }
            }
        });
    });
    button.on_hover_text(texts::ALL_QUESTIONS_HINT);
}

/// Draws the scope buttons. A form has no scope, so their place stays empty.
fn scope_ui(ui: &mut Ui, theme: &Theme, question: &QuestionView, agent_name: &str, memory: &mut CardMemory) {
    if question.approval.of_server.is_some() {
        ui.allocate_space(vec2(0.0, SCOPES_POINTS));
        return;
    }
    let scopes = question.approval.scopes(agent_name);
    let chosen = scopes.iter().position(|(scope, _)| *scope == memory.scope);
    let choices: Vec<(String, String)> = scopes
        .iter()
        .map(|(scope, _)| match scope {
            AllowScope::Once => (texts::ONCE.to_owned(), texts::ALLOW_ONCE.to_owned()),
            AllowScope::Task => (texts::TASK.to_owned(), texts::ALLOW_FOR_TASK.to_owned()),
            AllowScope::Until(TimeLimit::HOUR) => (texts::ONE_HOUR.to_owned(), texts::ALLOW_FOR_ONE_HOUR.to_owned()),
            AllowScope::Until(TimeLimit::DAY) => (texts::TODAY.to_owned(), texts::ALLOW_TODAY.to_owned()),
            AllowScope::Until(limit) => (limit.to_string(), texts::allow_until(limit)),
            AllowScope::Pattern => (texts::PATTERN.to_owned(), texts::ALLOW_PATTERN.to_owned()),
            AllowScope::Edited => (texts::EDITED.to_owned(), texts::ALLOW_EDITED.to_owned()),
            AllowScope::Always => (texts::ALWAYS.to_owned(), texts::ALLOW_ALWAYS.to_owned()),
        })
        .collect();
    let tips: Vec<String> = scopes.iter().map(|(_, explanation)| explanation.clone()).collect();
    if let Some(index) = segments_with_tips(ui, &choices, &tips, chosen, theme) {
        memory.scope = scopes[index].0;
    }
}

/// Draws the explanation of the chosen scope.
fn scope_note_ui(ui: &mut Ui, theme: &Theme, question: &QuestionView, agent_name: &str, memory: &CardMemory) {
    let scopes = question.approval.scopes(agent_name);
    let chosen = scopes.iter().position(|(scope, _)| *scope == memory.scope);
    approval_preview::part(ui, "scope", APPROVAL.scope, |ui| {
        let explanation = match scopes.as_slice() {
            _ if question.approval.of_server.is_some() => "",
            [_] => texts::IS_ALWAYS_ASKED,
            _ => chosen.map_or("", |chosen| scopes[chosen].1.as_str()),
        };
        ui.add(Label::new(small(explanation, theme)).wrap());
    });
}

/// Draws the two answer buttons at both ends of the row and the comment field between them; on wide cards, also the
/// scope buttons and their explanation.
fn answers_ui(
    ui: &mut Ui,
    theme: &Theme,
    question: &QuestionView,
    AnswerState { agent_name, is_locked, is_chosen }: AnswerState<'_>,
    memory: &mut CardMemory,
    commands: &mut Vec<Command>,
) {
    let context = ui.ctx().clone();
    let button = vec2(APPROVAL.button, APPROVAL.row);
    let row = vec2(ui.available_width(), APPROVAL.row);
    let answer = ui.allocate_ui_with_layout(row, Layout::left_to_right(Align::Center), |ui| {
        let sized = |ui: &mut Ui, content: &mut dyn FnMut(&mut Ui) -> egui::Response| {
            ui.allocate_ui_with_layout(button, Layout::centered_and_justified(egui::Direction::LeftToRight), |ui| {
                content(ui)
            })
            .inner
        };
        let shown = |label: &str, command: &str| match is_chosen {
            true => texts::with_key(label, &keys::shown(&context, command)),
            false => label.to_owned(),
        };
        let refuse_label = shown(texts::REFUSE, "question.refuse");
        let refuse = sized(ui, &mut |ui| ui.add_enabled(!is_locked, Button::new(&refuse_label)));
        let refuse = refuse.on_hover_text(texts::KEYS_HINT);
        name(&refuse, texts::answer_to(texts::REFUSE, agent_name));
        if row.x >= WIDE_POINTS {
            let scopes = vec2(SCOPES_WIDTH, APPROVAL.row);
            ui.allocate_ui_with_layout(scopes, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_size(scopes);
                scope_ui(ui, theme, question, agent_name, memory);
            });
            let note_size = vec2((row.x * SCOPE_NOTE_SHARE).floor(), APPROVAL.row);
            ui.allocate_ui_with_layout(note_size, Layout::top_down(Align::Min), |ui| {
                ui.set_min_size(note_size);
                scope_note_ui(ui, theme, question, agent_name, memory);
            });
        }
        let field = vec2((ui.available_width() - button.x - ui.spacing().item_spacing.x).max(0.0), button.y);
        let comment =
            text_line(&mut memory.comment).hint_text(texts::message_to(agent_name)).margin(Margin::symmetric(8, 5));
        let comment = ui.add_sized(field, comment);
        name(&comment, texts::message_to(agent_name));
        let misfit =
            question.approval.of_server.as_ref().and_then(|_| question.approval.form_error(&memory.form.values()));
        let label = if question.approval.of_server.is_some() { texts::ANSWER } else { texts::ALLOW };
        let allow_label = if misfit.is_none() { shown(label, "question.allow") } else { label.to_owned() };
        let allow = sized(ui, &mut |ui| primary(ui, !is_locked && misfit.is_none(), &allow_label, theme));
        let allow = allow.on_hover_text(texts::KEYS_HINT).on_disabled_hover_text(misfit.unwrap_or_default());
        name(&allow, texts::answer_to(label, agent_name));
        if keyboard::is_pressed(&allow) { Some(true) } else { keyboard::is_pressed(&refuse).then_some(false) }
    });
    if let Some(allow) = answer.inner {
        let comment = memory.comment.trim();
        let because = (!comment.is_empty()).then(|| comment.to_owned());
        let decide = match allow && question.approval.of_server.is_some() {
            true => question.approval.fill(memory.form.values(), because),
            false => question.approval.answer(allow, memory.scope, because),
        };
        commands.push(Command::Act(RoomAct::Work(decide), None));
    }
}

#[cfg(test)]
#[path = "approval_card_tests.rs"]
mod tests;
