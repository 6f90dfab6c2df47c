//! The story strip: the highlights of the log, newest last, grouped by cause. Clicking an entry goes to its place in
//! the room and shows its cause.

mod card;
mod departures;
pub mod story_model;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::emath::GuiRounding;
use egui::text::LayoutJob;
use egui::{
    Align, CornerRadius, FontId, Frame, Galley, Layout, Margin, Panel, Popup, PopupCloseBehavior, Rect, Response,
    ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2,
};

use self::story_model::{Step, Story};
use crate::base::{AgentKey, Id, Seq};
use crate::simulation::State;
use crate::ui::Command;
use crate::ui::commands::WindowCommand;
use crate::ui::context::ViewerContext;
use crate::ui::menus::{self, command_tip};
use crate::ui::panes::event_log;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::event_text::{Names, learn_room};
use crate::view::model::{AgentView, RoomModel};
use crate::view::paint;
use crate::view::pick::RoomObject;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme, state_colour};

/// The command that collapses or expands the strip.
const TOGGLE: &str = "view.story";
/// The height of the strip, expanded and collapsed.
const POINTS: [f32; 2] = [40.0, 22.0];
/// The maximum number of storylines that the strip shows.
const MAX_STORYLINES_SHOWN: usize = 12;
/// The height of an entry, and the maximum width of its text.
const ENTRY_POINTS: f32 = 26.0;
const WORDS_POINTS: f32 = 200.0;
const FACE_POINTS: f32 = 20.0;
const ARROW_POINTS: f32 = 18.0;

/// The state of the strip.
#[derive(Clone, Debug, Default)]
pub struct StoryPane {
    story: Story,
    /// The texts of the entries drawn in the last frame, by the first record of each step.
    cached_words: BTreeMap<Seq, CachedWords>,
    faces: Faces,
}

/// A cache of the positions of agents in the room's list, which is too long to be searched in every frame.
#[derive(Clone, Debug, Default)]
struct Faces {
    /// The position in the list (`None` if there was no such agent), with the number of agents and the last agent at
    /// that time.
    cache: BTreeMap<Id, (Option<usize>, (usize, Option<AgentKey>))>,
}

impl Faces {
    /// The maximum number of cached agents.
    const CAPACITY: usize = 1_000;

    fn agent<'a>(&mut self, room: &'a RoomModel, id: &Id) -> Option<&'a AgentView> {
        let moment = (room.agents.len(), room.agents.last().map(|agent| agent.key));
        match self.cache.get(id) {
            Some((Some(place), _)) if room.agents.get(*place).is_some_and(|agent| agent.id == *id) => {
                return room.agents.get(*place);
            }
            Some((None, of)) if *of == moment => return None,
            _ => {}
        }
        if self.cache.len() >= Self::CAPACITY {
            self.cache.clear();
        }
        let place = room.agents.iter().position(|agent| agent.id == *id);
        self.cache.insert(id.clone(), (place, moment));
        place.and_then(|place| room.agents.get(place))
    }
}

#[derive(Clone, Debug)]
struct CachedWords {
    by: (Seq, u64),
    words: Arc<str>,
}

impl StoryPane {
    /// Processes new records. Returns whether some are left for the next frame.
    fn update(&mut self, cx: &ViewerContext<'_>) -> bool {
        learn_room(&mut self.story.names, cx.room);
        self.story.update(&cx.recent.book);
        !self.story.is_done(&cx.recent.book)
    }
}

/// Returns the text of a step, from the cache if it has not changed.
fn words(step: &Step, names: &Names, before: &mut BTreeMap<Seq, CachedWords>) -> CachedWords {
    let by = (step.row.seq, names.version());
    match before.remove(&step.first).filter(|cached_words| cached_words.by == by) {
        Some(cached_words) => cached_words,
        None => CachedWords { by, words: step.describe(names).into() },
    }
}

/// Returns the area above the strip. The room is drawn there before the strip, so that Tab reaches the strip after the
/// room.
pub fn above_strip(ui: &mut Ui, cx: &ViewerContext<'_>) -> Ui {
    let left = ui.available_rect_before_wrap();
    let strip = POINTS[usize::from(cx.ui.view.is_story_folded)].min(left.height().max(0.0));
    let above = left.with_max_y((left.bottom() - strip).round_ui());
    ui.new_child(UiBuilder::new().id_salt("above the story").max_rect(above))
}

/// Draws the strip along the lower edge of the room.
pub fn story_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut StoryPane) -> Vec<Command> {
    let is_folded = cx.ui.view.is_story_folded;
    let mut commands = Vec::new();
    if pane.update(cx) {
        ui.ctx().request_repaint();
    }
    let margin = Margin::symmetric(SPACE[1] as i8, 0);
    let panel = Panel::bottom("story").exact_size(POINTS[usize::from(is_folded)]).resizable(false);
    panel.frame(Frame::NONE.fill(cx.theme.panel).inner_margin(margin)).show(ui, |ui| {
        widgets::apply_style(ui.style_mut(), cx.theme);
        ui.horizontal_centered(|ui| {
            fold_ui(ui, cx, is_folded, &mut commands);
            if !is_folded {
                entries_ui(ui, cx, pane, &mut commands);
            }
        });
    });
    commands
}

fn fold_ui(ui: &mut Ui, cx: &ViewerContext<'_>, is_folded: bool, commands: &mut Vec<Command>) {
    let theme = cx.theme;
    let size = vec2(if is_folded { 58.0 } else { 20.0 }, POINTS[1]);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Button, true, !is_folded, texts::STORY_STRIP));
    let colour = if response.hovered() || response.has_focus() { theme.accent } else { theme.text_soft };
    let icon_rect = Rect::from_center_size(pos2(rect.left() + 8.0, rect.center().y), vec2(9.0, 9.0));
    let icon = if is_folded { Icon::Up } else { Icon::Down };
    icon.paint(ui.painter(), icon_rect, colour);
    if is_folded {
        let at = pos2(rect.left() + 18.0, rect.center().y);
        ui.painter().text(at, egui::Align2::LEFT_CENTER, texts::STORY, FontId::proportional(TYPE[0]), colour);
    }
    if command_tip(response, cx, TOGGLE).clicked() {
        commands.extend(menus::run(cx, TOGGLE));
    }
}

fn entries_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut StoryPane, commands: &mut Vec<Command>) {
    if pane.story.storylines().len() == 0 {
        ui.label(widgets::small(texts::NO_EVENTS, cx.theme));
        return;
    }
    let StoryPane { story, cached_words: before, faces } = pane;
    let mut before = std::mem::take(before);
    let mut cached_words = BTreeMap::new();
    let skipped = story.storylines().len().saturating_sub(MAX_STORYLINES_SHOWN);
    ScrollArea::horizontal().id_salt("story").stick_to_right(true).auto_shrink(false).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (index, storyline) in story.storylines().skip(skipped).enumerate() {
                if index > 0 {
                    gap(ui, cx.theme);
                }
                for (index, step) in storyline.steps.iter().enumerate() {
                    if index > 0 {
                        arrow(ui, index == 1 && storyline.omitted_steps > 0, cx.theme);
                    }
                    let words = words(step, &story.names, &mut before);
                    let response = entry_ui(ui, cx, step, &words.words, faces);
                    cached_words.insert(step.first, words);
                    handle_response(&response, cx, step, &story.names, commands);
                }
            }
        });
    });
    pane.cached_words = cached_words;
}

/// Handles a click on an entry: the view moves to its place, and its card opens.
fn handle_response(
    response: &Response,
    cx: &ViewerContext<'_>,
    step: &Step,
    names: &Names,
    commands: &mut Vec<Command>,
) {
    if response.clicked()
        && let Some(place) = step.place.clone().filter(|place| is_here(cx, place))
    {
        commands.push(WindowCommand::GoTo(place).into());
    }
    let popup = Popup::menu(response).close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let popup = popup.frame(widgets::window(cx.theme)).layout(Layout::top_down(Align::Min));
    popup.show(|ui| card::card_ui(ui, cx, step, names, commands));
}

fn is_here(cx: &ViewerContext<'_>, place: &RoomObject) -> bool {
    match place {
        RoomObject::Agent(id) => cx.room.agent(id).is_some(),
        RoomObject::Element(id) => cx.room.element(id).is_some(),
    }
}

/// Draws an entry: a portrait or the picture of an element, and what happened.
fn entry_ui(ui: &mut Ui, cx: &ViewerContext<'_>, step: &Step, words: &str, faces: &mut Faces) -> Response {
    let theme = cx.theme;
    let repeats = if step.times > 1 && step.actors.len() < 2 { format!("{}× ", step.times) } else { String::new() };
    let galley = one_line(ui, format!("{repeats}{words}"), theme);
    let has_face = !step.actors.is_empty() || step.place.is_some();
    let face = if has_face { FACE_POINTS + SPACE[0] } else { 0.0 };
    let size = vec2(galley.size().x + face + 2.0 * SPACE[1], ENTRY_POINTS);
    let (_, place) = ui.allocate_space(size);
    let response = ui.interact(place, ui.id().with(("step", step.first)), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, texts::entry(words)));
    if ui.is_rect_visible(place) {
        let share = if response.hovered() { 0.12 } else { 0.0 };
        let line = match step.row.severity {
            Some(severity) => event_log::severity_icon(severity, theme).1,
            None if response.has_focus() => theme.accent,
            None => theme.line,
        };
        let fill = widgets::mix(theme.card, theme.accent, share);
        let round = CornerRadius::same(RADIUS[1]);
        ui.painter().rect(place, round, fill, Stroke::new(LINE[0], line), StrokeKind::Inside);
        let left = place.left() + SPACE[1];
        let middle = pos2(left + FACE_POINTS / 2.0, place.center().y);
        picture(ui, cx, step, Rect::from_center_size(middle, vec2(FACE_POINTS, FACE_POINTS)), faces);
        let at = pos2(left + face, place.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, theme.text);
    }
    response.on_hover_text(words)
}

fn one_line(ui: &Ui, text: String, theme: &Theme) -> Arc<Galley> {
    let mut job = LayoutJob::simple(text, FontId::proportional(TYPE[1] - 1.0), theme.text, WORDS_POINTS);
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    ui.painter().layout_job(job)
}

/// Paints the picture of an entry: the portrait of the last agent involved or the element; nothing if it has left.
fn picture(ui: &Ui, cx: &ViewerContext<'_>, step: &Step, rect: Rect, faces: &mut Faces) {
    let agent = step.actors.last().or_else(|| step.place.as_ref()?.agent());
    if let Some(agent) = agent {
        if let Some(agent) = faces.agent(cx.room, agent) {
            paint::portrait(ui.painter(), rect, &agent.look, cx.art);
        }
    } else if let Some(element) = step.place.as_ref().and_then(|place| cx.room.element(place.element()?)) {
        paint::element_picture(ui.painter(), rect, &element.kind, cx.art);
    }
}

/// Draws the arrow from a cause to its effect, with an ellipsis if steps in between are left out.
fn arrow(ui: &mut Ui, has_omitted_steps: bool, theme: &Theme) {
    let width = if has_omitted_steps { 2.0 * ARROW_POINTS } else { ARROW_POINTS };
    let (rect, response) = ui.allocate_exact_size(vec2(width, ENTRY_POINTS), Sense::hover());
    let stroke = Stroke::new(LINE[0], theme.text_soft);
    let (from, to) = (rect.left_center() + vec2(4.0, 0.0), rect.right_center() - vec2(4.0, 0.0));
    ui.painter().line_segment([from, to], stroke);
    for side in [-3.0, 3.0] {
        ui.painter().line_segment([to, to + vec2(-3.5, side)], stroke);
    }
    if has_omitted_steps {
        for step in [-4.0, 0.0, 4.0] {
            ui.painter().circle_filled(rect.center() + vec2(step, 0.0), 1.4, theme.text);
        }
        response.on_hover_text(texts::STEPS_NOT_SHOWN);
    }
}

/// Draws the gap between two storylines.
fn gap(ui: &mut Ui, theme: &Theme) {
    let (rect, _) = ui.allocate_exact_size(vec2(SPACE[4], ENTRY_POINTS), Sense::hover());
    let colour = widgets::mix(theme.line, state_colour(State::Paused), 0.4);
    let half = vec2(0.0, ENTRY_POINTS / 2.0 - 4.0);
    ui.painter().line_segment([rect.center() - half, rect.center() + half], Stroke::new(LINE[0], colour));
}
