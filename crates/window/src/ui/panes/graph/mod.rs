//! The graph pane: who started whom, and who read and wrote which file; or a workflow, step by step.

mod animation;
pub mod arrow;
mod cards;
mod edges;
mod layer;
pub mod layout;
pub mod layout_jobs;
mod layout_request;
mod live;
mod minimap;
mod model;
mod packing;
#[cfg(test)]
mod test_log;
#[cfg(test)]
mod tests;
mod texts;
mod toolbar;
pub mod view;
mod visibility;
mod workflow;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{FocusDirection, Key, Modifiers, Rect, Response, Sense, Ui, UiBuilder, WidgetInfo, WidgetType, vec2};

use crate::ui::commands::{WindowCommand, keys};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::recent_events::Recent;
use crate::view::theme::Theme;
use animation::Places;
use cards::{Cards, Touched};
use edges::Arrows;
use layer::Layer;
use layout::LayoutRequest;
use layout_jobs::LayoutJobs;
use live::Live;
use model::{Model, YOU};
use toolbar::Toolbar;
use view::View;
use visibility::{Node, Shown, ShownAs};
use workflow::WorkflowLayer;

/// How many rows of the log are processed per frame.
const ROWS_PER_FRAME: u64 = 2_000;
/// Who wants less movement than this in seconds wants none.
const STILL_SECS: f32 = 0.001;

/// What it keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct GraphPane {
    /// What of it is seen.
    layer: Layer,
    workflow: WorkflowLayer,
    model: Arc<Model>,
    shown: Arc<Shown>,
    /// What the shown was made of.
    shown_of: Option<(u64, ShownAs)>,
    unfolded: BTreeSet<usize>,
    beginning: u64,
    toolbar: Toolbar,
    places: Places,
    layouts: LayoutJobs,
    /// The layout that is shown.
    followed: Option<Arc<LayoutRequest>>,
    view: View,
    hovered: Option<Node>,
    focused: Option<Node>,
    /// What was clicked that nothing in the room and no file stands for.
    chosen: Option<Node>,
    /// Cards and arrows that were drawn in the last frame.
    drawn: (usize, usize),
    /// The number of that frame.
    last_frame: u64,
}

/// Draws it.
pub fn graph_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut GraphPane) -> Vec<Command> {
    widgets::dressed(ui, cx.theme, |ui| match own.layer {
        Layer::Agents => own.show(ui, cx),
        Layer::Workflow(_) => own.workflow.show(ui, cx, &mut own.layer),
    })
}

impl GraphPane {
    /// Shows a workflow, or that which was shown last; and lets it run, asking first what it is to be about.
    pub fn show_workflow(&mut self, path: Option<String>, runs: bool) {
        if path.is_some() || self.layer == Layer::Agents {
            self.layer = Layer::Workflow(path);
        }
        self.workflow.runs_next |= runs;
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let theme = cx.theme;
        let mut commands = Vec::new();
        let rect = ui.available_rect_before_wrap();
        let background = ui.allocate_rect(rect, Sense::click_and_drag());
        background.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::THE_GRAPH));
        self.view.rect = rect;
        let is_caught_up = self.apply_events(ui, cx.recent, &mut commands);
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        if self.model.is_empty() {
            self.show_nothing(&mut inner, is_caught_up, theme);
        } else {
            self.show_graph(&mut inner, &background, cx, &mut commands);
        }
        if self.toolbar.show(&mut inner, rect, cx, &mut self.layer, &mut commands) {
            self.view.is_free = false;
        }
        commands
    }

    fn show_nothing(&self, ui: &mut Ui, is_caught_up: bool, theme: &Theme) {
        ui.add_space((ui.available_height() * 0.35).max(self.toolbar.covers));
        let (title, how) = if is_caught_up {
            (texts::NO_WORK_YET, texts::NO_WORK_HINT)
        } else {
            (texts::LOADING_HISTORY, texts::LOADING_HINT)
        };
        widgets::empty(ui, Icon::Graph, title, how, theme);
    }

    /// Processes the events, and makes sure that every node has a place. Returns whether everything is processed.
    fn apply_events(&mut self, ui: &Ui, recent: &Recent, commands: &mut Vec<Command>) -> bool {
        let is_whole = self.toolbar.shows_everything;
        let is_caught_up = Arc::make_mut(&mut self.model).apply_events(&recent.book, is_whole, ROWS_PER_FRAME);
        if self.beginning != self.model.beginnings() {
            self.beginning = self.model.beginnings();
            (self.hovered, self.focused, self.chosen) = (None, None, None);
            self.unfolded.clear();
            self.places = Places::default();
            self.view.is_free = false;
        }
        if !is_caught_up {
            ui.request_repaint();
        }
        let frame = ui.ctx().cumulative_frame_nr();
        if frame > self.last_frame + 1 && self.layouts.forget_cancelled() {
            // It was closed before everyone had a place.
            self.shown_of = None;
        }
        self.last_frame = frame;
        let shown_as = ShownAs {
            collapses_finished: self.toolbar.collapses_finished,
            shows_flows: self.toolbar.shows_flows,
            unfolded: self.unfolded.clone(),
        };
        let of = (self.model.revision(), shown_as);
        if is_caught_up && self.shown_of.as_ref() != Some(&of) {
            self.shown = Arc::new(Shown::of(&self.model, &of.1));
            self.shown_of = Some(of);
            self.lay_out(commands);
        } else if self.shown.blocks.iter().any(|block| block.agent >= self.model.agents.len()) {
            self.shown = Arc::default();
        }
        let (now_secs, still) = (ui.input(|input| input.time), ui.style().animation_time <= STILL_SECS);
        if let Some(laid_out) = self.layouts.newest()
            && laid_out.request.beginning == self.beginning
            && self.followed.as_ref().is_none_or(|followed| !Arc::ptr_eq(followed, &laid_out.request))
        {
            self.places.follow(&laid_out, now_secs);
            self.followed = Some(laid_out.request);
        }
        if self.places.glide(now_secs, still) {
            ui.request_repaint();
        }
        is_caught_up
    }

    /// Requests a layout of the visible nodes, unless it exists or was requested already.
    fn lay_out(&mut self, commands: &mut Vec<Command>) {
        let request = self.shown.request(self.beginning);
        if self.layouts.is_asked(&request) {
            return;
        }
        let request = Arc::new(request);
        self.places.fill(&self.model, &self.shown, &request);
        commands.extend(self.layouts.ask(&request).map(Command::Run));
    }

    fn show_graph(&mut self, ui: &mut Ui, background: &Response, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let (room, theme) = (cx.room, cx.theme);
        let bounds = self.places.bounds(&self.shown);
        self.view.look_around(ui, background);
        if !self.view.is_free {
            self.view.fit(bounds, self.toolbar.covers);
        }
        let (model, shown) = (self.model.clone(), self.shown.clone());
        let live = Live::of(room);
        let selected = self.selected(cx.ui);
        self.walk(ui, &model, &shown);
        let (places, view) = (&self.places, self.view);
        let marked: BTreeSet<Node> = selected.iter().copied().chain(self.hovered).chain(self.focused).collect();
        let painter = ui.painter().clone();
        let arrows =
            Arrows { painter: &painter, model: &model, shown: &shown, places, view: &view, theme, marked: &marked };
        let arrows_drawn = arrows.paint();
        let cards = Cards {
            model: &model,
            shown: &shown,
            places,
            view: &view,
            live: &live,
            theme,
            art: cx.art,
            selected: &selected,
        };
        let touched = cards.show(ui);
        self.drawn = (touched.drawn, arrows_drawn);
        if minimap::is_wanted(&cards, bounds)
            && let Some(place) = minimap::show(ui, &cards, bounds)
        {
            (self.view.middle, self.view.is_free) = (place, true);
        }
        if background.clicked() {
            self.chosen = None;
        }
        self.take_hold(ui, touched, room, &live, commands);
    }

    /// What is selected here because it is selected in the window.
    fn selected(&mut self, state: &UiState) -> BTreeSet<Node> {
        if !state.selection.things().is_empty() || state.selection.file().is_some() {
            self.chosen = None;
        }
        let agents =
            state.selection.things().iter().filter_map(|thing| Some(Node::Agent(self.model.agent(thing.agent()?)?)));
        let file = state.selection.file().and_then(|path| self.model.file(path)).map(Node::File);
        agents.chain(file).chain(self.chosen).collect()
    }

    /// Arrow keys lead from what has the keyboard to the nearest in that direction.
    fn walk(&mut self, ui: &Ui, model: &Model, shown: &Shown) {
        let Some(here) = self.focused.filter(|_| keys::are_active(ui)) else { return };
        let keys = [
            (Key::ArrowLeft, vec2(-1.0, 0.0)),
            (Key::ArrowRight, vec2(1.0, 0.0)),
            (Key::ArrowUp, vec2(0.0, -1.0)),
            (Key::ArrowDown, vec2(0.0, 1.0)),
        ];
        let pressed = |(key, _): &(Key, egui::Vec2)| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key));
        let Some((_, direction)) = keys.into_iter().find(pressed) else { return };
        // Otherwise the keyboard focus would move to another widget there.
        ui.memory_mut(|memory| memory.move_focus(FocusDirection::None));
        let Some(from) = self.rect_of(shown, here) else { return };
        let there = shown.blocks.iter().flat_map(|block| block.parts().map(|(node, part)| (block.agent, node, part)));
        let there = there.filter(|(_, node, _)| *node != here);
        let there = there.filter_map(|(agent, node, part)| Some((node, self.places.rect(agent, part)?.center())));
        if let Some(next) = view::nearest(from.center(), direction, there) {
            if let Some(rect) = self.rect_of(shown, next) {
                self.view.lead_to(rect);
            }
            self.focused = Some(next);
            ui.memory_mut(|memory| memory.request_focus(cards::widget_id(ui, model, next)));
        }
    }

    fn rect_of(&self, shown: &Shown, node: Node) -> Option<Rect> {
        let (block, part) = shown.place(node)?;
        self.places.rect(shown.blocks[block].agent, part)
    }

    /// Does what was done with cards.
    fn take_hold(&mut self, ui: &Ui, touched: Touched, room: &RoomModel, live: &Live, commands: &mut Vec<Command>) {
        if self.hovered != touched.hovered || self.focused != touched.focused {
            ui.request_repaint();
        }
        (self.hovered, self.focused) = (touched.hovered, touched.focused);
        match touched.clicked {
            Some(Node::Agent(agent)) => {
                self.chosen = Some(Node::Agent(agent));
                let in_room = live.in_room(&self.model.agents[agent].id);
                let things = in_room.map(|id| Thing::Agent(id.clone())).into_iter().collect();
                commands.push(WindowCommand::ChooseFile(None).into());
                commands.push(WindowCommand::Select(things).into());
            }
            Some(Node::File(file)) => {
                let path = self.model.files[file].path.to_string();
                commands.push(WindowCommand::ChooseFile(Some(path)).into());
            }
            Some(Node::More(agent)) => {
                if !self.unfolded.remove(&agent) {
                    self.unfolded.insert(agent);
                }
                ui.request_repaint();
            }
            None => {}
        }
        let path = match touched.opened {
            Some(Node::Agent(agent)) if agent != YOU => Some(self.file_of(agent, room)),
            Some(Node::File(file)) => Some(self.model.files[file].path.to_string()),
            _ => None,
        };
        commands.extend(path.map(|path| Command::OpenFile(path, None)));
    }

    /// The file that says what an agent is.
    fn file_of(&self, agent: usize, room: &RoomModel) -> String {
        let node = &self.model.agents[agent];
        let profile = room.agent(&node.id).map(|agent| agent.profile.to_string());
        let profile = profile.or_else(|| node.profile.as_deref().map(str::to_owned)).unwrap_or_else(|| node.id.clone());
        let named = |path: &&String| {
            let name = path.strip_prefix("agents/").and_then(|name| name.strip_prefix(&*profile));
            name.is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'))
        };
        let defined = room.profiles.iter().find(|known| *known.id == *profile && !known.file.is_empty());
        let defined = defined.map(|known| known.file.clone());
        let known = defined.or_else(|| room.files.iter().find(named).cloned());
        known.or_else(|| node.path.as_deref().map(str::to_owned)).unwrap_or_else(|| format!("agents/{profile}.md"))
    }
}
