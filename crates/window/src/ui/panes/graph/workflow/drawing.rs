//! Draws the steps of a workflow as cards from left to right, with arrows between them.

use egui::{
    Align2, Color32, CornerRadius, FontId, Mesh, Rect, Sense, Shape, Stroke, StrokeKind, Ui, UiBuilder, Vec2,
    WidgetInfo, WidgetType, vec2,
};

use super::placing::CARD;
use super::{Done, WorkflowLayer};
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

/// Characters of a line on a card.
const LINE_CHARS: usize = 24;
/// The width of the handle from which an arrow is drawn.
const HANDLE: f32 = 14.0;
/// From this zoom on cards have words and can be clicked; from afar they are dots of a colour.
const WORDS_ZOOM: f32 = 0.4;
/// From this zoom on arrows are drawn.
const ARROWS_ZOOM: f32 = 0.08;
/// A workflow that does not fit at this zoom is seen from its beginning.
const READABLE_ZOOM: f32 = 0.6;
/// Around the cards.
const AIR: f32 = 20.0;

/// The colour of a step's status.
fn status_colour(status: Option<StepStatus>, theme: &Theme) -> Color32 {
    match status {
        None | Some(StepStatus::Waiting | StepStatus::Skipped) => theme.text_soft,
        Some(StepStatus::Running) => state_colour(State::Working),
        Some(StepStatus::Asked) => state_colour(State::Waiting),
        Some(StepStatus::Done) => theme.good,
        Some(StepStatus::Failed) => theme.bad,
    }
}

/// Shows all of it, or its beginning where all of it could not be read; the card that is looked at in any case.
fn show_from_the_beginning(view: &mut View, bounds: Rect, chosen: Option<&Rect>) {
    view.fit(bounds, 0.0);
    if view.zoom < READABLE_ZOOM && bounds.is_positive() {
        view.zoom = READABLE_ZOOM;
        let half = view.rect.size() / 2.0 / view.zoom;
        view.middle = bounds.center();
        if bounds.width() > 2.0 * half.x {
            view.middle.x = bounds.left() - AIR + half.x;
        }
        if let Some(card) = chosen {
            view.middle.x = view.middle.x.max(card.right() + AIR - half.x);
        }
    }
}

impl WorkflowLayer {
    /// Draws them, and processes what is done with them.
    pub(super) fn draw(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (file, run): (&WorkflowView, Option<&RunView>),
        done: &mut Done,
    ) {
        let rect = ui.available_rect_before_wrap();
        let ground = ui.allocate_rect(rect, Sense::click_and_drag());
        ground.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::THE_WORKFLOW));
        self.view.rect = rect;
        self.placed.update(&file.steps);
        self.view.look_around(ui, &ground);
        if !self.view.is_free {
            let chosen = file.steps.iter().position(|step| self.chosen.as_ref() == Some(&step.id));
            let chosen = chosen.and_then(|at| self.placed.cards.get(at));
            show_from_the_beginning(&mut self.view, self.placed.bounds, chosen);
        }
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        let ui = &mut inner;
        let (view, seen) = (self.view, ui.clip_rect());
        let cards: Vec<Rect> = self.placed.cards.iter().map(|card| view.rect_to_screen(*card)).collect();
        if view.zoom >= ARROWS_ZOOM {
            for (at, step) in file.steps.iter().enumerate() {
                for before in step.before.iter().filter(|before| **before < cards.len()) {
                    let ends = (cards[*before].right_center(), cards[at].left_center());
                    arrow(ui, ends, (CARD.x, view.zoom), Stroke::new(LINE[1], theme.text_soft));
                }
            }
        }
        let mut dots = Mesh::default();
        for (at, (rect, step)) in
            cards.iter().zip(&file.steps).enumerate().filter(|(_, (rect, _))| rect.intersects(seen))
        {
            let state = run.and_then(|run| run.step_at(at, &step.id));
            if view.zoom >= WORDS_ZOOM {
                self.card(ui, theme, (*rect, step), state);
            } else {
                dots.add_colored_rect(*rect, status_colour(state.map(|(status, ..)| status), theme));
            }
        }
        ui.painter().add(Shape::mesh(dots));
        if ground.clicked() {
            self.chosen = None;
        }
        self.link(ui, theme, (file, &cards), done);
    }

    fn card(
        &mut self,
        ui: &mut Ui,
        theme: &Theme,
        (rect, step): (Rect, &StepView),
        state: Option<(StepStatus, &str, Option<&crate::base::Id>)>,
    ) {
        let (zoom, status) = (self.view.zoom, state.map(|(status, ..)| status));
        let word = status.map_or(texts::NOT_RUN_YET, StepStatus::word);
        let who = state.and_then(|(.., agent)| agent).map_or(step.who.as_str(), |agent| agent);
        let why = state.map(|(_, why, _)| why).filter(|why| !why.is_empty());
        let response = ui.interact(rect, ui.id().with(("step", &step.id)), Sense::click());
        let is_chosen = self.chosen.as_deref() == Some(step.id.as_str());
        let line = texts::step_in_one_line(&step.id, &step.who, word);
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
        let text = |row: f32, words: &str, size: f32, colour: Color32| {
            let place = rect.min + vec2(SPACE[1], SPACE[0] + row) * zoom;
            let font = FontId::proportional((size * zoom * 2.0).round() / 2.0);
            painter.text(place, Align2::LEFT_TOP, truncate(words, LINE_CHARS), font, colour);
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
        let drags = ui.interact(handle, ui.id().with(("arrow", &step.id)), Sense::drag());
        let drags = drags.on_hover_text(texts::ARROW_HINT);
        widgets::name(&drags, texts::arrow_from(&step.id));
        let colour = if drags.hovered() { theme.accent } else { theme.line };
        ui.painter().circle_filled(handle.center(), HANDLE / 4.0, colour);
        if drags.drag_started() {
            self.linking = Some(step.id.clone());
        }
    }

    /// The arrow that is being drawn; the step at its end will depend on the step at its start.
    fn link(&mut self, ui: &Ui, theme: &Theme, (file, cards): (&WorkflowView, &[Rect]), done: &mut Done) {
        let Some(from) = self.linking.clone() else { return };
        let (pointer, is_down) = ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_down()));
        let start = file.steps.iter().position(|step| step.id == from).and_then(|at| cards.get(at));
        let (Some(pointer), Some(start)) = (pointer, start) else {
            self.linking = None;
            return;
        };
        if is_down {
            arrow(ui, (start.right_center(), pointer), (CARD.x, self.view.zoom), Stroke::new(LINE[1], theme.accent));
            return;
        }
        self.linking = None;
        let over = cards.iter().zip(&file.steps).find(|(card, _)| card.contains(pointer)).map(|(_, step)| step);
        if let Some(step) = over.filter(|step| step.id != from) {
            done.edit(&file.path, WorkflowEdit::Depend { step: step.id.clone(), on: from });
        }
    }
}
