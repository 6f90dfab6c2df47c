//! The steps of a workflow as cards from left to right, with arrows between them.

use egui::{
    Align2, Color32, CornerRadius, FontId, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    WidgetType, vec2,
};

use super::{Done, WorkflowsPane};
use crate::base::text::truncate;
use crate::orchestration::workflow::StepStatus;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::simulation::State;
use crate::ui::widgets;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme, state_colour};
use crate::view::workflows::{RunView, StepView, WorkflowView};

/// The size of a card.
const CARD: Vec2 = vec2(176.0, 62.0);
/// Between columns and rows.
const GAP: Vec2 = vec2(56.0, 18.0);
/// Characters of a line on a card.
const LINE_CHARS: usize = 24;
/// What an arrow is drawn from is so wide.
const HANDLE: f32 = 14.0;

/// The colour of what a step is at.
fn status_colour(status: Option<StepStatus>, theme: &Theme) -> Color32 {
    match status {
        None | Some(StepStatus::Waiting | StepStatus::Skipped) => theme.text_soft,
        Some(StepStatus::Running) => state_colour(State::Working),
        Some(StepStatus::Asked) => state_colour(State::Waiting),
        Some(StepStatus::Done) => theme.good,
        Some(StepStatus::Failed) => theme.bad,
    }
}

/// Column and row of each step: a column further than all that come before it.
pub(super) fn places(steps: &[StepView]) -> Vec<(usize, usize)> {
    let mut columns = vec![0_usize; steps.len()];
    // As often as there are steps at most: where they go in a circle, the rest stands where it is.
    for _ in 0..steps.len() {
        let mut is_settled = true;
        for (at, step) in steps.iter().enumerate() {
            let after = step.before.iter().filter(|before| **before != at).map(|before| columns[*before] + 1).max();
            let column = after.unwrap_or(0).min(steps.len());
            is_settled &= columns[at] == column;
            columns[at] = column;
        }
        if is_settled {
            break;
        }
    }
    let mut rows = std::collections::BTreeMap::new();
    let place = |column: usize| {
        let row = rows.entry(column).or_insert(0_usize);
        *row += 1;
        (column, *row - 1)
    };
    columns.into_iter().map(place).collect()
}

impl WorkflowsPane {
    /// Draws them, and takes in what is done with them.
    pub(super) fn draw(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (file, run): (&WorkflowView, Option<&RunView>),
        done: &mut Done,
    ) {
        let places = places(&file.steps);
        let corner = |(column, row): (usize, usize)| {
            vec2(column as f32 * (CARD.x + GAP.x), row as f32 * (CARD.y + GAP.y)) + vec2(SPACE[1], SPACE[1])
        };
        let size = places.iter().fold(Vec2::ZERO, |size, place| size.max(corner(*place) + CARD));
        ScrollArea::both().auto_shrink(false).show(ui, |ui| {
            let (area, _) = ui.allocate_exact_size(size + vec2(GAP.x, GAP.y), Sense::hover());
            let rects: Vec<Rect> =
                places.iter().map(|place| Rect::from_min_size(area.min + corner(*place), CARD)).collect();
            let seen = ui.clip_rect();
            for (at, step) in file.steps.iter().enumerate() {
                for before in step.before.iter().filter(|before| **before < rects.len()) {
                    arrow(ui, (rects[*before].right_center(), rects[at].left_center()), seen, theme.text_soft);
                }
            }
            for (rect, step) in rects.iter().zip(&file.steps).filter(|(rect, _)| rect.intersects(seen)) {
                self.card(ui, theme, (*rect, step), run);
            }
            self.link(ui, theme, (file, &rects), done);
        });
    }

    fn card(&mut self, ui: &mut Ui, theme: &Theme, (rect, step): (Rect, &StepView), run: Option<&RunView>) {
        let state = run.and_then(|run| run.step(&step.id));
        let status = state.map(|(status, ..)| status);
        let word = status.map_or("not run yet", StepStatus::word);
        let why = state.map(|(_, why, _)| why).filter(|why| !why.is_empty());
        let response = ui.interact(rect, ui.id().with(("step", &step.id)), Sense::click());
        let is_chosen = self.chosen.as_deref() == Some(step.id.as_str());
        let line = format!("Step {}, {}, {word}", step.id, step.who);
        response.widget_info(|| WidgetInfo::selected(WidgetType::Button, true, is_chosen, &line));
        let colour = status_colour(status, theme);
        let painter = ui.painter();
        let corners = CornerRadius::same(RADIUS[1]);
        painter.rect_filled(rect, corners, theme.card);
        let stroke = match is_chosen || response.has_focus() || response.hovered() {
            true => Stroke::new(LINE[2], theme.accent),
            false => Stroke::new(LINE[1], widgets::mix(theme.line, colour, 0.6)),
        };
        painter.rect_stroke(rect, corners, stroke, StrokeKind::Inside);
        let text = |row: f32, words: &str, size: f32, colour: Color32| {
            let place = rect.min + vec2(SPACE[1], SPACE[0] + row);
            painter.text(place, Align2::LEFT_TOP, truncate(words, LINE_CHARS), FontId::proportional(size), colour);
        };
        text(0.0, &step.id, TYPE[1], theme.text);
        text(TYPE[1] + SPACE[0], &step.who, TYPE[0], theme.text_soft);
        text(TYPE[1] + TYPE[0] + SPACE[1], word, TYPE[0], colour);
        let response = match why {
            Some(why) => response.on_hover_text(why),
            None => response,
        };
        if response.clicked() {
            self.chosen = if is_chosen { None } else { Some(step.id.clone()) };
        }
        let handle = Rect::from_center_size(rect.right_center(), Vec2::splat(HANDLE));
        let drags = ui.interact(handle, ui.id().with(("arrow", &step.id)), Sense::drag());
        let drags = drags.on_hover_text("Drag to a step that comes after this one");
        widgets::name(&drags, format!("Arrow from {}", step.id));
        let colour = if drags.hovered() { theme.accent } else { theme.line };
        ui.painter().circle_filled(handle.center(), HANDLE / 4.0, colour);
        if drags.drag_started() {
            self.linking = Some(step.id.clone());
        }
    }

    /// The arrow that is being drawn; where it ends on a step, that comes after the one that it begins at.
    fn link(&mut self, ui: &Ui, theme: &Theme, (file, rects): (&WorkflowView, &[Rect]), done: &mut Done) {
        let Some(from) = self.linking.clone() else { return };
        let (pointer, is_down) = ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_down()));
        let start = file.steps.iter().position(|step| step.id == from).and_then(|at| rects.get(at));
        let (Some(pointer), Some(start)) = (pointer, start) else {
            self.linking = None;
            return;
        };
        if is_down {
            arrow(ui, (start.right_center(), pointer), ui.clip_rect(), theme.accent);
            return;
        }
        self.linking = None;
        let over = rects.iter().zip(&file.steps).find(|(rect, _)| rect.contains(pointer)).map(|(_, step)| step);
        if let Some(step) = over.filter(|step| step.id != from) {
            done.edit(&file.path, WorkflowEdit::Depend { step: step.id.clone(), on: from });
        }
    }
}

fn arrow(ui: &Ui, (from, to): (Pos2, Pos2), seen: Rect, colour: Color32) {
    if Rect::from_two_pos(from, to).intersects(seen) {
        ui.painter().arrow(from, to - from, Stroke::new(LINE[1], colour));
    }
}
