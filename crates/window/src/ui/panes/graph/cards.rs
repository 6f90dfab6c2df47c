//! Draws agents and files of the graph as cards: coloured by status, with as much text as is legible at this zoom, each
//! with a name for screen readers.

use std::collections::BTreeSet;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, CornerRadius, FontId, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2,
    vec2,
};

use super::animation::Positions;
use super::live::{Live, tasks_given};
use super::model::{Model, Status, YOU};
use super::texts;
use super::view::View;
use super::visibility::{Block, Node, VisibleGraph};
use crate::base::paths::file_name;
use crate::simulation::State;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::art::Art;
use crate::view::paint;
use crate::view::text::fonts;
use crate::view::theme::{LINE, MARK_RADIUS, RADIUS, TYPE, Theme, state_colour};

/// From this zoom on, all text of a card is shown.
const FULL_TEXT_ZOOM: f32 = 0.62;
/// Below this zoom, cards are plain boxes.
const MIN_CARD_ZOOM: f32 = 0.28;

/// The width of an agent's face on its card.
const FACE_UNITS: f32 = 26.0;

/// Draws the cards of the graph; the fields are its input.
pub struct Cards<'a> {
    /// The data of the graph.
    pub model: &'a Model,
    /// The visible part of the graph.
    pub shown: &'a VisibleGraph,
    /// Positions of the cards.
    pub positions: &'a Positions,
    /// The view onto the graph.
    pub view: &'a View,
    /// Names and current work status from the room.
    pub live: &'a Live<'a>,
    /// The theme of the window.
    pub theme: &'a Theme,
    /// Art for the faces.
    pub art: &'a Art,
    /// Selected nodes.
    pub selected: &'a BTreeSet<Node>,
}

/// User input on the cards in this frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CardEvents {
    /// The node under the pointer.
    pub hovered: Option<Node>,
    /// The node with the keyboard focus.
    pub focused: Option<Node>,
    /// The node that was clicked.
    pub clicked: Option<Node>,
    /// The node that was double-clicked, or activated with Enter.
    pub opened: Option<Node>,
    /// Number of cards drawn.
    pub drawn: usize,
}

/// Returns the colour of a status.
pub fn status_colour(status: Status, theme: &Theme) -> Color32 {
    match status {
        Status::Queued | Status::Interrupted => theme.text_soft,
        Status::Thinking => state_colour(State::Idle),
        Status::UsingTool => state_colour(State::Working),
        Status::AsksYou => state_colour(State::Waiting),
        Status::Done => theme.good,
        Status::Failed => theme.bad,
        Status::Aborted => theme.warn,
    }
}

impl Cards<'_> {
    /// Draws the visible cards and returns the user input on them.
    pub fn show(&self, ui: &mut Ui) -> CardEvents {
        let mut events = CardEvents::default();
        let visible = self.view.visible();
        for block in &self.shown.blocks {
            let Some(corner) = self.positions.corner(block.agent) else { continue };
            if !Rect::from_min_size(corner, block.size()).intersects(visible) {
                continue;
            }
            self.show_block(ui, block, visible, &mut events);
        }
        events
    }

    fn show_block(&self, ui: &mut Ui, block: &Block, visible: Rect, events: &mut CardEvents) {
        for (node, part) in block.parts() {
            let Some(rect) = self.positions.rect(block.agent, part) else { continue };
            if !rect.intersects(visible) {
                continue;
            }
            let is_far = self.view.zoom < MIN_CARD_ZOOM;
            if is_far && !matches!(node, Node::Agent(_)) {
                // Zoomed out, the files of an agent are drawn as one shaded box.
                let files =
                    self.positions.rect(block.agent, Rect::from_min_size(part.min, block.size() - part.min.to_vec2()));
                if let Some(files) = files {
                    let fill = widgets::mix(self.theme.panel, self.theme.text_soft, 0.25);
                    ui.painter().rect_filled(self.view.rect_to_screen(files), CornerRadius::same(MARK_RADIUS), fill);
                }
                return;
            }
            let rect = self.view.rect_to_screen(rect);
            let response = ui.interact(rect, widget_id(ui, self.model, node), Sense::click());
            let is_selected = self.selected.contains(&node);
            response.widget_info(|| {
                WidgetInfo::selected(WidgetType::Button, true, is_selected, self.accessible_label(node, block))
            });
            match node {
                Node::Agent(agent) => self.paint_agent(ui, rect, block, agent, &response),
                Node::File(file) => self.paint_file(ui, rect, file, &response),
                Node::More(_) => self.paint_more(ui, rect, block, &response),
            }
            self.handle_response(ui, node, response, events);
        }
    }

    fn handle_response(&self, ui: &Ui, node: Node, response: Response, events: &mut CardEvents) {
        events.drawn += 1;
        if response.hovered() {
            events.hovered = Some(node);
        }
        if response.has_focus() {
            events.focused = Some(node);
            if ui.input(|input| input.key_pressed(egui::Key::Enter)) {
                events.opened = Some(node);
            }
        }
        if response.clicked() {
            events.clicked = Some(node);
        }
        if response.double_clicked() {
            events.opened = Some(node);
        }
        response.on_hover_ui(|ui| {
            let tooltip = match node {
                Node::Agent(agent) => self.live.agent_tooltip(self.model, agent),
                Node::File(file) => self.live.file_tooltip(self.model, &self.model.files[file]),
                Node::More(_) => texts::MORE_FILES_HINT.to_owned(),
            };
            ui.label(tooltip);
        });
    }

    fn accessible_label(&self, node: Node, block: &Block) -> String {
        match node {
            Node::Agent(agent) => self.live.agent_label(self.model, agent, block.folded),
            Node::File(file) => self.live.file_label(&self.model.files[file]),
            Node::More(agent) => {
                let name = self.live.name(&self.model.agents[agent].id);
                match block.is_unfolded {
                    true => texts::fewer_files_of(&name),
                    false => texts::more_files_of(block.more, &name),
                }
            }
        }
    }

    /// Paints the background and border of a card.
    fn paint_background(&self, ui: &Ui, rect: Rect, colour: Color32, is_selected: bool, response: &Response) {
        let (theme, zoom) = (self.theme, self.view.zoom);
        let share = if response.hovered() { 0.20 } else { 0.12 };
        let radius = CornerRadius::same((f32::from(RADIUS[1]) * zoom).clamp(1.0, 12.0) as u8);
        let stroke = if is_selected {
            Stroke::new(LINE[2], theme.accent)
        } else {
            Stroke::new(LINE[0], widgets::mix(theme.line, colour, 0.45))
        };
        ui.painter().rect(rect, radius, widgets::mix(theme.card, colour, share), stroke, StrokeKind::Inside);
    }

    fn paint_agent(&self, ui: &Ui, rect: Rect, block: &Block, agent: usize, response: &Response) {
        let (theme, zoom) = (self.theme, self.view.zoom);
        let node = &self.model.agents[agent];
        let status = self.live.status(node);
        let colour = if agent == YOU { theme.accent } else { status_colour(status, theme) };
        let is_selected = self.selected.contains(&Node::Agent(agent));
        if zoom < MIN_CARD_ZOOM {
            let fill = widgets::mix(theme.card, colour, if response.hovered() { 0.9 } else { 0.7 });
            ui.painter().rect_filled(rect, CornerRadius::same(MARK_RADIUS), fill);
            if is_selected {
                let ring = Stroke::new(LINE[2], theme.accent);
                ui.painter().rect_stroke(rect, CornerRadius::same(MARK_RADIUS), ring, StrokeKind::Outside);
            }
            return;
        }
        self.paint_background(ui, rect, colour, is_selected, response);
        let bar = Rect::from_min_size(rect.min + vec2(5.0, 8.0) * zoom, vec2(4.0 * zoom, rect.height() - 16.0 * zoom));
        ui.painter().rect_filled(bar, CornerRadius::same(MARK_RADIUS), colour);
        let inner = Rect::from_min_max(rect.min + vec2(16.0, 6.0) * zoom, rect.max - vec2(9.0, 6.0) * zoom);
        let inner = match self.live.look(&node.id) {
            Some(look) => {
                let (face, rest) = inner.split_left_right_at_x(inner.left() + FACE_UNITS * zoom);
                paint::portrait(ui.painter(), face, look, self.art);
                rest.with_min_x(rest.left() + 6.0 * zoom)
            }
            None => inner,
        };
        let name = self.live.name(&node.id);
        if zoom < FULL_TEXT_ZOOM {
            let font = strong(ui, size(TYPE[1] * zoom * 1.35).max(8.0));
            paint_text(ui, inner, Align2::LEFT_CENTER, &name, font, theme.text);
            return;
        }
        let (strong_font, small) = (strong(ui, size(TYPE[1] * zoom)), FontId::proportional(size(TYPE[0] * zoom)));
        let (upper, lower) = inner.split_top_bottom_at_fraction(0.54);
        let tokens = if node.tokens > 0 { texts::tokens(node.tokens) } else { String::new() };
        let left = paint_text(ui, upper, Align2::RIGHT_CENTER, &tokens, small.clone(), theme.text_soft);
        paint_text(ui, upper.with_max_x(left - 6.0 * zoom), Align2::LEFT_CENTER, &name, strong_font, theme.text);
        let subtitle = match agent {
            YOU => texts::tasks_given(&tasks_given(self.model)),
            _ => texts::status_and_depth(status.label(), node.depth),
        };
        let folded = if block.folded > 0 { texts::finished_below(block.folded) } else { String::new() };
        let left = paint_text(ui, lower, Align2::RIGHT_CENTER, &folded, small.clone(), theme.text);
        paint_text(ui, lower.with_max_x(left - 6.0 * zoom), Align2::LEFT_CENTER, &subtitle, small, theme.text);
    }

    fn paint_file(&self, ui: &Ui, rect: Rect, number: usize, response: &Response) {
        let (theme, zoom) = (self.theme, self.view.zoom);
        let file = &self.model.files[number];
        self.paint_background(ui, rect, theme.text_soft, self.selected.contains(&Node::File(number)), response);
        if zoom < FULL_TEXT_ZOOM {
            return;
        }
        let colour = if file.is_deleted { theme.text_soft } else { theme.text };
        let icon_rect =
            Rect::from_center_size(pos2(rect.left() + 12.0 * zoom, rect.center().y), vec2(11.0, 11.0) * zoom);
        Icon::Note.paint(ui.painter(), icon_rect, theme.text_soft);
        let inner = Rect::from_min_max(pos2(rect.left() + 22.0 * zoom, rect.top()), rect.max - vec2(7.0 * zoom, 0.0));
        let small = FontId::proportional(size(TYPE[0] * zoom));
        let made_by = if file.is_deleted { texts::FILE_DELETED.to_owned() } else { self.live.made_by(file) };
        let right = inner.with_min_x(inner.left() + inner.width() * 0.6);
        let left = paint_text(ui, right, Align2::RIGHT_CENTER, &made_by, small.clone(), theme.text_soft);
        let name_rect = inner.with_max_x(left - 6.0 * zoom);
        paint_text(ui, name_rect, Align2::LEFT_CENTER, file_name(&file.path), small, colour);
    }

    fn paint_more(&self, ui: &Ui, rect: Rect, block: &Block, response: &Response) {
        self.paint_background(ui, rect, self.theme.text_soft, false, response);
        if self.view.zoom >= FULL_TEXT_ZOOM {
            let font = FontId::proportional(size(TYPE[0] * self.view.zoom));
            let text = match block.is_unfolded {
                true => texts::SHOW_FEWER_FILES.to_owned(),
                false => texts::and_more_files(block.more),
            };
            paint_text(ui, rect.shrink(4.0), Align2::CENTER_CENTER, &text, font, self.theme.text);
        }
    }
}

/// Returns the widget id of a node.
pub fn widget_id(ui: &Ui, model: &Model, node: Node) -> egui::Id {
    ui.id().with(("graph", model.rebuilds(), node))
}

/// Rounds font sizes, so that zooming does not rasterize every glyph in a hundred sizes.
fn size(points: f32) -> f32 {
    ((points * 2.0).round() / 2.0).max(6.0)
}

fn strong(ui: &Ui, size: f32) -> FontId {
    fonts::semibold(ui.ctx(), size)
}

/// Paints one line, truncated if necessary. Returns the left edge of the text.
fn paint_text(ui: &Ui, rect: Rect, align: Align2, text: &str, font: FontId, colour: Color32) -> f32 {
    if text.is_empty() || rect.width() <= 0.0 {
        return rect.right();
    }
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(rect.width());
    let galley = ui.painter().layout_job(job);
    let place = align.align_size_within_rect(galley.size(), rect);
    ui.painter().galley(place.min, galley, colour);
    place.left()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{DARK, LIGHT, contrast};

    #[test]
    fn card_text_has_enough_contrast_for_every_status() {
        for theme in [LIGHT, DARK] {
            for status in [
                Status::Queued,
                Status::Thinking,
                Status::UsingTool,
                Status::AsksYou,
                Status::Done,
                Status::Failed,
                Status::Aborted,
                Status::Interrupted,
            ] {
                let colour = status_colour(status, &theme);
                for (text_colour, share) in [(theme.text, 0.12), (theme.text, 0.20), (theme.text_soft, 0.12)] {
                    let contrast = contrast(text_colour, widgets::mix(theme.card, colour, share));
                    assert!(contrast >= 4.5, "{status:?}, dark={}, {share}: {contrast:.2}", theme.dark);
                }
            }
        }
    }
}
