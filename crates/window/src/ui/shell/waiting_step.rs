//! A workflow step that waits for the person, shown above the task bar: its question, and the buttons that answer it.

use egui::{Button, CornerRadius, Id as WidgetId, Layout, Rect, RichText, ScrollArea, Sense, StrokeKind, Ui};
use egui::{Margin, WidgetInfo, WidgetType, vec2};

use crate::orchestration::workflow::{PersonAnswer, WorkflowCommand};
use crate::ui::Command;
use crate::ui::commands::{GraphCommand, RoomAct, keyboard, keys, markdown};
use crate::ui::context::ViewerContext;
use crate::ui::shell::texts::run_bar as texts;
use crate::ui::state::approvals::step_name;
use crate::ui::widgets;
use crate::view::model::RoomModel;
use crate::view::theme::{APPROVAL, RADIUS, SPACE};
use crate::view::workflows::{AskedView, RunView};

/// The maximum height of the question, in points; a longer one is scrolled.
const QUESTION_POINTS: f32 = 110.0;

/// The state that the card keeps between frames.
#[derive(Clone, Debug, Default)]
struct CardMemory {
    /// The question that the comment is about.
    of: String,
    comment: String,
    /// The rectangle of the card in the last frame.
    rect: Option<Rect>,
}

/// Returns the id of the card of a question: while the person has chosen it, keys answer the question.
pub(super) fn card_widget(name: &str) -> WidgetId {
    WidgetId::new(("the question of a step", name))
}

/// Draws the oldest question of a workflow step, if one waits. Its buttons do not depend on the length of the question.
pub(super) fn waiting_step_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let Some((run, asked, more)) = first_question(cx.room) else { return };
    let name = step_name(run, asked);
    let (id, widget) = (WidgetId::new("the card of a step"), card_widget(&name));
    let mut memory: CardMemory = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    if memory.of != name {
        memory = CardMemory { of: name, rect: memory.rect, ..CardMemory::default() };
    }
    let title = texts::step_asks_you(&asked.step, more);
    if let Some(rect) = memory.rect {
        let keys = ui.interact(rect, widget, Sense::focusable_noninteractive());
        keys.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::question_of(&asked.step)));
    }
    let shown = widgets::card(cx.theme).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.label(RichText::new(&title).strong());
        let question = ScrollArea::vertical().id_salt("question of a step").max_height(QUESTION_POINTS);
        ui.scope(|ui| {
            // A bar that is always visible shows that there is more.
            ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
            question.auto_shrink([false, true]).show(ui, |ui| markdown(ui, &asked.question, cx.theme, commands));
        });
        ui.add_space(SPACE[0]);
        answers_ui(ui, cx, (run, asked), &mut memory, commands);
    });
    let rect = shown.response.rect;
    memory.rect = Some(rect);
    if keyboard::is_chosen(ui.ctx(), widget) {
        let corners = CornerRadius::same(RADIUS[1]);
        ui.painter().rect_stroke(rect, corners, cx.theme.focus_ring(), StrokeKind::Inside);
    }
    if keyboard::is_card_clicked(ui, rect) {
        keyboard::choose(ui.ctx(), widget);
    }
    ui.data_mut(|data| data.insert_temp(id, memory));
}

/// Draws the answers: the two of an approval, or a button that leads to the form of any other question.
fn answers_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    (run, asked): (&RunView, &AskedView),
    memory: &mut CardMemory,
    commands: &mut Vec<Command>,
) {
    let show = GraphCommand::AnswerStep { path: run.file.clone() };
    if !asked.fields.is_empty() {
        if widgets::primary(ui, true, texts::ANSWER, cx.theme).clicked() {
            commands.push(show.into());
        }
        return;
    }
    let is_chosen = keyboard::is_chosen(ui.ctx(), card_widget(&memory.of));
    let context = ui.ctx().clone();
    let shown = |label: &str, command: &str| match is_chosen {
        true => texts::with_key(label, &keys::shown(&context, command)),
        false => label.to_owned(),
    };
    let is_locked = cx.ui.questions.is_step_new();
    let mut approved = None;
    let row = vec2(ui.available_width(), APPROVAL.row);
    ui.allocate_ui_with_layout(row, Layout::left_to_right(egui::Align::Center), |ui| {
        let label = shown(texts::DO_NOT_APPROVE, "question.refuse");
        let refuse = ui.add_enabled(!is_locked, Button::new(label)).on_hover_text(texts::STEP_KEYS_HINT);
        widgets::name(&refuse, texts::DO_NOT_APPROVE);
        if ui.button(texts::SHOW_IN_GRAPH).clicked() {
            commands.push(show.into());
        }
        let label = shown(texts::APPROVE, "question.allow");
        let width = (ui.available_width() - APPROVAL.button - ui.spacing().item_spacing.x).max(0.0);
        let comment = widgets::text_line(&mut memory.comment).hint_text(texts::COMMENT).margin(Margin::symmetric(8, 5));
        let comment = ui.add_sized(vec2(width, APPROVAL.row), comment);
        widgets::name(&comment, texts::comment_on(&asked.step));
        let approve = ui.allocate_ui(vec2(APPROVAL.button, APPROVAL.row), |ui| {
            widgets::primary(ui, !is_locked, &label, cx.theme).on_hover_text(texts::STEP_KEYS_HINT)
        });
        widgets::name(&approve.inner, texts::APPROVE);
        if keyboard::is_pressed(&approve.inner) {
            approved = Some(true);
        } else if keyboard::is_pressed(&refuse) {
            approved = Some(false);
        }
    });
    if let Some(approved) = approved {
        let answer = PersonAnswer::approval(approved, memory.comment.trim());
        let answer = WorkflowCommand::Answer { run: run.key, step: asked.step.clone(), answer };
        commands.push(Command::Act(RoomAct::Workflow(answer), None));
        memory.comment.clear();
    }
}

/// Returns the oldest waiting question, its run, and the number of further questions.
fn first_question(room: &RoomModel) -> Option<(&RunView, &AskedView, usize)> {
    let mut asked = room.workflows.asked();
    let (run, first) = asked.next()?;
    Some((run, first, asked.count()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::base::RunTag;
    use crate::orchestration::workflow::definition::Output;
    use crate::orchestration::workflow::{RunKey, RunStatus};
    use crate::ui::UiState;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use crate::view::workflows::WorkflowsView;

    fn bar(question: &str, fields: Vec<Output>) -> egui_kittest::Harness<'static, PaneHarness> {
        let mut room = sample_room();
        let asked = AskedView { step: "ok".into(), question: question.into(), fields };
        let run = RunView {
            key: RunKey::new(1, RunTag::of("r-1")),
            file: "workflows/tea.md".into(),
            status: RunStatus::Running,
            why: String::new(),
            result: None,
            steps: Vec::new(),
            asked: vec![asked],
        };
        room.workflows = WorkflowsView { runs: vec![Arc::new(run)], ..WorkflowsView::default() }.into();
        let mut stage = PaneHarness::new(room, UiState::default());
        // It has been visible for a while.
        stage.state.questions.update(&stage.room, -9.0);
        let mut window = pane_of(stage, |ui, cx, _| {
            let mut commands = Vec::new();
            waiting_step_ui(ui, cx, &mut commands);
            commands
        });
        window.run();
        window
    }

    #[test]
    fn an_approval_is_answered_in_the_bar_however_long_its_question_is() {
        for question in ["Is it good?".to_owned(), "# Night trains\n\nMany words. ".repeat(200)] {
            for (button, approved) in [("Approve", true), ("Do not approve", false)] {
                let mut window = bar(&question, Vec::new());
                window.get_by_label("Step ok asks you");
                let place = window.get_by_label(button).rect();
                assert!(place.bottom() < 260.0, "the buttons are in view: {place:?}");
                window.get_by_label("Comment on step ok").click();
                window.run();
                window.get_by_label("Comment on step ok").type_text("Shorter");
                window.run();
                window.get_by_label(button).click();
                window.run();
                let answer = PersonAnswer::approval(approved, "Shorter");
                let run = RunKey::new(1, RunTag::of("r-1"));
                let answer = WorkflowCommand::Answer { run, step: "ok".into(), answer };
                assert_eq!(window.state().commands, [Command::Act(RoomAct::Workflow(answer), None)]);
            }
        }
    }

    #[test]
    fn a_form_is_answered_in_the_graph() {
        let field = Output { name: "title".into(), ..Output::default() };
        let mut window = bar("What is it called?", vec![field]);
        window.get_by_label("Answer").click();
        window.run();
        let show = GraphCommand::AnswerStep { path: "workflows/tea.md".into() };
        assert!(window.state().asked.contains(&show.into()), "{:?}", window.state().asked);
        assert!(window.state().state.dock.is_visible(&crate::ui::state::dock::Tab::GRAPH));
    }
}
