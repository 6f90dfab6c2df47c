//! Draws the steps of a workflow as cards from left to right, with arrows between them.

use egui::{
    Align2, Color32, CornerRadius, FontId, Mesh, Rect, Sense, Shape, Stroke, StrokeKind, Ui, UiBuilder, Vec2,
    WidgetInfo, WidgetType, vec2,
};

use super::placing::CARD;
use super::{LayerActions, WorkflowLayer};
use crate::base::text::truncate;
use crate::orchestration::workflow::StepStatus;
use crate::orchestration::workflow::edit::WorkflowEdit;
use crate::simulation::State;
use crate::ui::panes::graph::arrow::arrow;
use crate::ui::panes::graph::texts;
use crate::ui::panes::graph::view::View;
use crate::ui::widgets;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme, state_colour};
use crate::view::workflows::{RunView, StepView, WorkflowView};

/// Maximum number of characters of a line on a card.
const LINE_CHARS: usize = 24;
/// Diameter of the handle from which an arrow is drawn.
const HANDLE: f32 = 14.0;
/// From this zoom on, cards have text and can be clicked; below, they are coloured boxes.
const CARD_MIN_ZOOM: f32 = 0.4;
/// From this zoom on, arrows are drawn.
const ARROW_MIN_ZOOM: f32 = 0.08;
/// A workflow that does not fit at this zoom is shown from its start instead.
const READABLE_ZOOM: f32 = 0.6;
/// Margin around the cards.
const MARGIN: f32 = 20.0;

/// Returns the colour of a step's status.
fn status_colour(status: Option<StepStatus>, theme: &Theme) -> Color32 {
    match status {
        None | Some(StepStatus::Waiting | StepStatus::Skipped) => theme.text_soft,
        Some(StepStatus::Running) => state_colour(State::Working),
        Some(StepStatus::Asked) => state_colour(State::Waiting),
        Some(StepStatus::Done) => theme.good,
        Some(StepStatus::Failed) => theme.bad,
    }
}

/// Fits the whole workflow into view, or its start if the text would be illegible; the chosen card is visible in any
/// case.
fn fit_or_show_start(view: &mut View, bounds: Rect, chosen: Option<&Rect>) {
    view.fit(bounds, 0.0);
    if view.zoom < READABLE_ZOOM && bounds.is_positive() {
        view.zoom = READABLE_ZOOM;
        let half = view.rect.size() / 2.0 / view.zoom;
        view.middle = bounds.center();
        if bounds.width() > 2.0 * half.x {
            view.middle.x = bounds.left() - MARGIN + half.x;
        }
        if let Some(card) = chosen {
            view.middle.x = view.middle.x.max(card.right() + MARGIN - half.x);
        }
    }
}

impl WorkflowLayer {
    /// Draws the steps and handles the mouse input on them.
    pub(super) fn draw(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (file, run): (&WorkflowView, Option<&RunView>),
        actions: &mut LayerActions,
    ) {
        let rect = ui.available_rect_before_wrap();
        let background = ui.allocate_rect(rect, Sense::click_and_drag());
        background.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::WORKFLOW_DRAWING));
        self.view.rect = rect;
        self.positions.update(&file.steps);
        self.view.pan_and_zoom(ui, &background);
        if !self.view.is_free {
            let chosen = file.steps.iter().position(|step| self.chosen.as_ref() == Some(&step.id));
            let chosen = chosen.and_then(|at| self.positions.cards.get(at));
            fit_or_show_start(&mut self.view, self.positions.bounds, chosen);
        }
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        let ui = &mut inner;
        let (view, clip) = (self.view, ui.clip_rect());
        let cards: Vec<Rect> = self.positions.cards.iter().map(|card| view.rect_to_screen(*card)).collect();
        if view.zoom >= ARROW_MIN_ZOOM {
            for (at, step) in file.steps.iter().enumerate() {
                for before in step.before.iter().filter(|before| **before < cards.len()) {
                    let ends = (cards[*before].right_center(), cards[at].left_center());
                    arrow(ui, ends, (CARD.x, view.zoom), Stroke::new(LINE[1], theme.text_soft));
                }
            }
        }
        let mut dots = Mesh::default();
        for (at, (rect, step)) in
            cards.iter().zip(&file.steps).enumerate().filter(|(_, (rect, _))| rect.intersects(clip))
        {
            let state = run.and_then(|run| run.step_at(at, &step.id));
            if view.zoom >= CARD_MIN_ZOOM {
                self.card(ui, theme, (*rect, step), state);
            } else {
                dots.add_colored_rect(*rect, status_colour(state.map(|(status, ..)| status), theme));
            }
        }
        ui.painter().add(Shape::mesh(dots));
        if background.clicked() {
            self.chosen = None;
        }
        self.link(ui, theme, (file, &cards), actions);
    }

    fn card(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (rect, step): (Rect, &StepView),
        state: Option<(StepStatus, &str, Option<&crate::base::Id>)>,
    ) {
        let (zoom, status) = (self.view.zoom, state.map(|(status, ..)| status));
        let word = status.map_or(texts::NOT_RUN_YET, StepStatus::as_str);
        let who = state.and_then(|(.., agent)| agent).map_or(step.who.as_str(), |agent| agent);
        let why = state.map(|(_, why, _)| why).filter(|why| !why.is_empty());
        let response = ui.interact(rect, ui.id().with(("step", &step.id)), Sense::click());
        let is_chosen = self.chosen.as_deref() == Some(step.id.as_str());
        let line = texts::step_label(&step.id, &step.who, word);
        response.widget_info(|| WidgetInfo::selected(WidgetType::Button, true, is_chosen, &line));
        let colour = status_colour(status, theme);
        let painter = ui.painter();
        let corners = CornerRadius::same(RADIUS[1]);
        let is_lit = matches!(status, Some(StepStatus::Running | StepStatus::Asked));
        painter.rect_filled(rect, corners, if is_lit { widgets::mix(theme.card, colour, 0.16) } else { theme.card });
        let stroke = match is_chosen || response.has_focus() || response.hovered() {
            true => Stroke::new(LINE[2], theme.accent),
            false if is_lit => Stroke::new(LINE[2], colour),
            false => Stroke::new(LINE[1], widgets::mix(theme.line, colour, 0.6)),
        };
        painter.rect_stroke(rect, corners, stroke, StrokeKind::Inside);
        let text = |row: f32, line: &str, size: f32, colour: Color32| {
            let place = rect.min + vec2(SPACE[1], SPACE[0] + row) * zoom;
            let font = FontId::proportional((size * zoom * 2.0).round() / 2.0);
            painter.text(place, Align2::LEFT_TOP, truncate(line, LINE_CHARS), font, colour);
        };
        text(0.0, &step.id, TYPE[1], theme.text);
        text(TYPE[1] + SPACE[0], who, TYPE[0], theme.text_soft);
        text(TYPE[1] + TYPE[0] + SPACE[1], word, TYPE[0], colour);
        let response = match why {
            Some(why) => response.on_hover_text(why),
            None => response,
        };
        if response.clicked() {
            self.chosen = if is_chosen { None } else { Some(step.id.clone()) };
        }
        let handle = Rect::from_center_size(rect.right_center(), Vec2::splat(HANDLE));
        let handle_response = ui.interact(handle, ui.id().with(("arrow", &step.id)), Sense::drag());
        let handle_response = handle_response.on_hover_text(texts::ARROW_HINT);
        widgets::name(&handle_response, texts::arrow_from(&step.id));
        let colour = if handle_response.hovered() { theme.accent } else { theme.line };
        ui.painter().circle_filled(handle.center(), HANDLE / 4.0, colour);
        if handle_response.drag_started() {
            self.arrow_start = Some(step.id.clone());
        }
    }

    /// Draws the arrow being dragged. On release, the step at its end depends on the step at its start.
    fn link(&mut self, ui: &Ui, theme: &Theme, (file, cards): (&WorkflowView, &[Rect]), actions: &mut LayerActions) {
        let Some(from) = self.arrow_start.clone() else { return };
        let (pointer, is_down) = ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_down()));
        let start = file.steps.iter().position(|step| step.id == from).and_then(|at| cards.get(at));
        let (Some(pointer), Some(start)) = (pointer, start) else {
            self.arrow_start = None;
            return;
        };
        if is_down {
            arrow(ui, (start.right_center(), pointer), (CARD.x, self.view.zoom), Stroke::new(LINE[1], theme.accent));
            return;
        }
        self.arrow_start = None;
        let over = cards.iter().zip(&file.steps).find(|(card, _)| card.contains(pointer)).map(|(_, step)| step);
        if let Some(step) = over.filter(|step| step.id != from) {
            actions.edit(&file.path, WorkflowEdit::Depend { step: step.id.clone(), on: from });
        }
    }
}
