//! Labels of agents: the text of each (name, or name and activity), its size and its style.

use std::borrow::Cow;

use bevy::math::Vec2 as World;
use bevy::platform::collections::HashMap;
use egui::{Color32, Context, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

use super::batch::mixed;
use super::label_input::LabelInput;
use super::label_layout::{LabelPlaces, LabelReach, LabelRequest, Owner, PlacedLabel};
use super::text_scaling;
use super::{Detail, body, element, figure_scale, talk};
use crate::base::text::truncate;
use crate::view::activity_text::{ActivityTexts, Importance, label_state};
use crate::view::areas::AreaCache;
use crate::view::camera::Camera;
use crate::view::model::AgentView;
use crate::view::text::fonts;
use crate::view::theme::{RADIUS, Theme, state_colour};

/// Maximum length of a name, in characters.
const MAX_LETTERS: usize = 28;
/// Maximum length of an activity line, in characters.
const LINE_LETTERS: usize = 44;
/// Above this number of visible agents, those that talk or read get no activity line.
const TOLD_IN_FULL: usize = 60;
/// Above this number of visible agents, the name labels are replaced by the cards beside agents.
const NAMED_AND_TOLD: usize = 40;
/// Font size at which texts are measured.
const MEASURED_AT: f32 = 16.0;
/// Maximum number of cached measurements.
const MAX_MEASURED: usize = 4_096;
/// Padding of a label, in points.
const PADDING: Vec2 = vec2(6.0, 1.5);

/// Label state kept between frames, so that labels do not jump and no text is measured twice.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    pub(super) places: LabelPlaces,
    /// Counts of agents by area, for the zoomed-out view.
    pub(super) areas: AreaCache,
    /// Screen rectangles of all labels.
    pub(super) shown: Vec<Rect>,
    /// A screen rectangle that is covered, where no label is placed.
    pub(super) covered: Option<Rect>,
    /// Sizes of texts at a font size of one point.
    measured: HashMap<String, Vec2>,
    /// The value of [`fonts::times_installed`] at which they were measured.
    fonts: u32,
}

impl Labels {
    /// Keeps labels and bubbles out of this part of the screen.
    pub fn reserve(&mut self, covered: Option<Rect>) {
        self.covered = covered;
    }

    /// Screen rectangles of the last frame's labels and of the covered part.
    pub fn shown(&self) -> &[Rect] {
        &self.shown
    }

    /// Discards measurements that were made with other fonts.
    pub(in crate::view) fn begin_frame(&mut self, context: &Context) {
        let fonts = fonts::times_installed(context);
        if self.fonts != fonts {
            self.fonts = fonts;
            self.measured.clear();
        }
    }

    /// Size of a single-line text, at a font size of one point.
    pub(in crate::view) fn measure(&mut self, painter: &Painter, text: &str) -> Vec2 {
        if let Some(size) = self.measured.get(text) {
            return *size;
        }
        let size = text_scaling::measure(painter, text, MEASURED_AT) / MEASURED_AT;
        if self.measured.len() >= MAX_MEASURED {
            self.measured.clear();
        }
        self.measured.insert(text.to_owned(), size);
        size
    }
}

/// The style of a label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Style {
    /// An idle agent.
    Name,
    /// An active agent, in the colour of its state.
    Busy(Color32),
    /// An element.
    Element,
    /// A rope of this colour.
    Rope(Color32),
    /// Something selected.
    Selected,
}

/// The text and style of a label.
#[derive(Clone, Debug)]
pub(super) struct Label<'a> {
    /// The name and its font size.
    name: (Cow<'a, str>, f32),
    /// The activity line and its font size.
    line: Option<(String, f32)>,
    style: Style,
}

/// Returns the size of a text at a font size of one point.
pub(super) type Measure<'a> = &'a mut dyn FnMut(&str) -> Vec2;

impl<'a> Label<'a> {
    pub(super) fn new(name: &'a str, size: f32, style: Style) -> Self {
        Self { name: (shown(name), size), line: None, style }
    }

    /// Like [`Self::new`], for generated text.
    pub(super) fn from_text(words: String, size: f32, style: Style) -> Self {
        Self { name: (Cow::Owned(words), size), line: None, style }
    }

    pub(super) fn with_line(self, line: String, size: f32) -> Self {
        Self { line: Some((truncate(&line, LINE_LETTERS), size)), ..self }
    }

    /// The whole text.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        let line = self.line.iter().map(|(line, _)| line.as_str());
        std::iter::once(&*self.name.0).chain(line).collect::<Vec<_>>().join(" ")
    }

    /// Size, with padding.
    pub(super) fn size(&self, measure: Measure<'_>) -> Vec2 {
        let name = measure(&self.name.0) * self.name.1;
        let line = self.line.as_ref().map_or(Vec2::ZERO, |(line, size)| measure(line) * *size);
        // The width of text does not scale exactly with the font size.
        vec2(1.04 * name.x.max(line.x), name.y + line.y) + 2.0 * PADDING
    }
}

/// Wanted labels, each with its layout request.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub(super) requests: Vec<LabelRequest>,
    pub(super) labels: Vec<Label<'a>>,
}

impl<'a> Wanted<'a> {
    pub(super) fn push(&mut self, request: LabelRequest, label: Label<'a>) {
        self.requests.push(request);
        self.labels.push(label);
    }
}

/// Scale factor of text when zoomed in.
pub(super) fn spread(zoom: f32) -> f32 {
    zoom.sqrt().clamp(0.85, 1.5)
}

/// Font size at a zoom, never too small to be legible.
pub(super) fn type_size(size: f32, zoom: f32) -> f32 {
    (size * spread(zoom)).max(size.min(11.0))
}

/// Adds the labels of agents: those that are always shown, and the others.
pub(super) fn of_agents<'a>(
    input: &LabelInput<'a>,
    doings: &ActivityTexts<'_>,
    measure: Measure<'_>,
    [always, rather]: [&mut Wanted<'a>; 2],
) {
    let LabelInput { seen, detail, scene, .. } = *input;
    let (camera, count) = (scene.camera, seen.agents.len());
    // If there is hardly room for the cards of all agents, there is none for names.
    let are_named = detail == Detail::Names && !(scene.quiet && count > NAMED_AND_TOLD);
    let (name_size, line_size) = (type_size(11.0, camera.zoom), type_size(10.0, camera.zoom));
    for agent in input.agents() {
        let own = Importance::of(agent);
        let is_chosen = input.chosen.agents.contains(&*agent.id);
        let importance = if is_chosen { own.min(Importance::Selected) } else { own };
        // When zoomed out, only the selected and important agents are named.
        let is_sought = detail == Detail::Figures && importance <= Importance::Working;
        if !(are_named || is_chosen || is_sought) {
            continue;
        }
        let body = body(agent, camera, figure_scale(agent, detail));
        let reach = match importance {
            Importance::Rest => LabelReach::Under,
            Importance::Reading => LabelReach::Around,
            _ if scene.quiet => LabelReach::Around,
            _ if camera.viewport.contains(body.center()) => LabelReach::Anywhere,
            _ => LabelReach::Around,
        };
        let label = Label::new(&agent.name, name_size, style(agent, is_chosen));
        let is_short = match importance {
            Importance::Rest => true,
            Importance::Talking | Importance::Reading => count > TOLD_IN_FULL,
            _ => false,
        };
        let label = if is_short || scene.quiet { label } else { label.with_line(doings.line(agent), line_size) };
        let home = camera.to_screen(agent.position - World::new(0.0, 9.0));
        let (size, distance) = (label.size(measure), input.distance(home));
        let request = LabelRequest { owner: Owner::Agent(agent.key), body, home, size, importance, distance, reach };
        if importance.is_always_shown() { always.push(request, label) } else { rather.push(request, label) }
    }
}

fn style(agent: &AgentView, is_chosen: bool) -> Style {
    match Importance::of(agent) {
        _ if is_chosen => Style::Selected,
        Importance::Rest => Style::Name,
        _ => Style::Busy(state_colour(label_state(agent))),
    }
}

/// Adds the labels of elements: below them, or above if an agent stands in front.
pub(super) fn of_elements<'a>(input: &LabelInput<'a>, measure: Measure<'_>, wanted: &mut Wanted<'a>) {
    let camera = input.scene.camera;
    for element in input.seen.elements.iter().map(|index| &input.room.elements[*index]) {
        let is_chosen = input.chosen.elements.contains(&*element.id);
        if input.detail < Detail::Names && !is_chosen {
            continue;
        }
        let body = camera.rect_to_screen(element.position, element::SIZE);
        let home = camera.to_screen(element.position - World::new(0.0, 0.5 * element::SIZE.y + 12.0));
        let (style, importance, reach) = match is_chosen {
            true => (Style::Selected, Importance::Selected, LabelReach::Anywhere),
            false => (Style::Element, Importance::Reading, LabelReach::Around),
        };
        let label = Label::new(&element.label, type_size(12.0, camera.zoom), style);
        let (size, distance) = (label.size(measure), input.distance(home));
        wanted.push(
            LabelRequest { owner: Owner::Element(element.key), body, home, size, importance, distance, reach },
            label,
        );
    }
}

/// Adds the labels of ropes. They can be clicked, so they stay on the rope.
pub(super) fn of_ropes<'a>(input: &LabelInput<'a>, measure: Measure<'_>, wanted: &mut Wanted<'a>) {
    let (camera, theme) = (input.scene.camera, input.scene.theme);
    for (rope, text, home, colour) in talk::tie_labels(input.room, camera, theme) {
        let label = Label::new(text, talk::tie_label_size(camera), Style::Rope(colour));
        let (size, body) = (label.size(measure), Rect::from_center_size(home, Vec2::ZERO));
        let (owner, importance, reach) = (Owner::Rope(rope), Importance::Rest, LabelReach::Home);
        wanted.push(LabelRequest { owner, body, home, size, importance, distance: 0.0, reach }, label);
    }
}

/// Removes line breaks that a file may have put into a name.
fn shown(text: &str) -> Cow<'_, str> {
    let is_plain = text.len() <= MAX_LETTERS && !text.contains(char::is_control);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(truncate(&on_one_line(text), MAX_LETTERS)) }
}

fn on_one_line(text: &str) -> String {
    let end = text.char_indices().nth(2 * MAX_LETTERS).map_or(text.len(), |(end, _)| end);
    text[..end].replace(char::is_control, " ")
}

/// Paints the leader line from a label to its owner.
pub(super) fn paint_leader(painter: &Painter, placed: &PlacedLabel, label: &Label<'_>, theme: Theme) {
    let Some(line) = placed.leader else { return };
    let (ground, colour) = match label.style {
        Style::Selected => (theme.bubble, theme.accent),
        Style::Busy(colour) => (theme.ring_edge(), colour),
        Style::Name | Style::Element | Style::Rope(_) => (theme.bubble, theme.bubble_text),
    };
    painter.line_segment(line, Stroke::new(3.0, ground.gamma_multiply(0.7)));
    painter.line_segment(line, Stroke::new(1.4, colour));
    painter.circle_filled(line[1], 2.2, colour);
}

/// Paints a label.
pub(super) fn paint(painter: &Painter, rect: Rect, label: &Label<'_>, camera: Camera, theme: Theme) {
    let (ground, ink, stroke) = match label.style {
        // Backgrounds are opaque: blending translucent light colours gives grey.
        Style::Name => (mixed(theme.bubble, theme.floor, 0.18), theme.bubble_text, None),
        Style::Busy(colour) => (theme.bubble, theme.bubble_text, Some(colour)),
        Style::Element => (mixed(theme.panel, theme.floor, 0.12), theme.text, None),
        Style::Rope(colour) => (theme.bubble, theme.bubble_text, Some(colour)),
        Style::Selected => (theme.accent, theme.on_accent, None),
    };
    let corners = CornerRadius::same((rect.height() / 2.0).min(f32::from(RADIUS[1])) as u8);
    painter.rect_filled(rect, corners, ground);
    if let Some(colour) = stroke {
        painter.rect_stroke(rect, corners, Stroke::new(1.0, colour), StrokeKind::Inside);
    }
    let inner = rect.shrink2(PADDING);
    let lower = one_line(painter, &label.name, inner.min, inner.width(), (ink, camera));
    if let Some(line) = &label.line {
        let (at, line) = (pos2(inner.left(), lower), (Cow::Borrowed(line.0.as_str()), line.1));
        one_line(painter, &line, at, inner.width(), (ink, camera));
    }
}

/// Paints a centred line of text. Returns where the next one begins.
fn one_line(
    painter: &Painter,
    (text, size): &(Cow<'_, str>, f32),
    at: Pos2,
    width: f32,
    (ink, camera): (Color32, Camera),
) -> f32 {
    let lettering = text_scaling::cut(painter, text.clone().into_owned(), *size, width + 1.0, camera);
    let whole = lettering.size();
    lettering.paint(painter, pos2(at.x + 0.5 * (width - whole.x), at.y), ink);
    at.y + whole.y
}

#[cfg(test)]
#[path = "label_tests.rs"]
mod tests;
