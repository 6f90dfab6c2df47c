//! The graph pane: agents, who started them and which files they read and wrote; or a workflow, step by step.

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

use crate::ui::commands::{GraphCommand, PaneCommand, WindowCommand, keys};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::{Pane, PaneBackground, PaneWindow};
use crate::ui::panes::texts as titles;
use crate::ui::state::dock::Tab;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::recent_events::Recent;
use crate::view::theme::Theme;
use animation::Positions;
use cards::{CardEvents, Cards};
use edges::Arrows;
use layer::Layer;
use layout::LayoutRequest;
use layout_jobs::LayoutJobs;
use live::Live;
use model::{Model, YOU};
use toolbar::Toolbar;
use view::View;
use visibility::{Node, ViewOptions, VisibleGraph};
use workflow::WorkflowLayer;

/// Maximum number of log rows processed per frame.
const ROWS_PER_FRAME: u64 = 2_000;
/// Below this animation time in seconds, animations are off.
const MIN_ANIMATION_SECS: f32 = 0.001;

/// State of the graph pane between frames.
#[derive(Clone, Debug, Default)]
pub struct GraphPane {
    /// The layer that is shown.
    layer: Layer,
    workflow: WorkflowLayer,
    model: Arc<Model>,
    shown: Arc<VisibleGraph>,
    /// The model revision and options from which `shown` was computed.
    shown_key: Option<(u64, ViewOptions)>,
    unfolded: BTreeSet<usize>,
    beginning: u64,
    toolbar: Toolbar,
    positions: Positions,
    layouts: LayoutJobs,
    /// The request of the layout that is applied.
    applied_request: Option<Arc<LayoutRequest>>,
    view: View,
    hovered: Option<Node>,
    focused: Option<Node>,
    /// The clicked node, if it is neither a file nor an agent in the room, which the window's selection would hold.
    chosen: Option<Node>,
    /// Number of cards and arrows drawn in the last frame.
    drawn: (usize, usize),
    /// Number of the last frame in which the pane was drawn.
    last_frame: u64,
}

impl Pane for GraphPane {
    fn id(&self) -> &'static str {
        tab::GRAPH
    }

    fn title(&self) -> &'static str {
        titles::GRAPH
    }

    fn place(&self) -> DockPlace {
        DockPlace::always_in(DockArea::Middle)
    }

    fn background(&self) -> PaneBackground {
        PaneBackground::Edges
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        graph_ui(ui, cx, self)
    }

    fn apply(&mut self, command: &PaneCommand, window: &mut PaneWindow<'_>) -> Vec<Command> {
        match command.get() {
            Some(GraphCommand::ShowWorkflow { path, runs }) => self.show_workflow(path.clone(), *runs),
            Some(GraphCommand::AnswerStep { path }) => self.answer_step(path.clone()),
            None => return Vec::new(),
        }
        window.ui.dock.show(&Tab::GRAPH, |_| true);
        Vec::new()
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

/// Draws the graph pane.
pub fn graph_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut GraphPane) -> Vec<Command> {
    widgets::dressed(ui, cx.theme, |ui| match pane.layer {
        Layer::Agents => pane.show(ui, cx),
        Layer::Workflow(_) => pane.workflow.show(ui, cx, &mut pane.layer),
    })
}

impl GraphPane {
    /// Shows the workflow with this path, or the last one shown. With `runs` it is also started, after asking for its
    /// variables.
    pub fn show_workflow(&mut self, path: Option<String>, runs: bool) {
        if path.is_some() || self.layer == Layer::Agents {
            self.layer = Layer::Workflow(path);
        }
        self.workflow.runs_next |= runs;
    }

    /// Shows the question of a step of a workflow, with the keys in its form.
    pub fn answer_step(&mut self, path: String) {
        self.show_workflow(Some(path), false);
        self.workflow.focuses_answer = true;
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let theme = cx.theme;
        let mut commands = Vec::new();
        let rect = ui.available_rect_before_wrap();
        let background = ui.allocate_rect(rect, Sense::click_and_drag());
        background.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::GRAPH));
        self.view.rect = rect;
        let is_caught_up = self.apply_events(ui, cx.recent, &mut commands);
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        if self.model.is_empty() {
            self.show_empty(&mut inner, is_caught_up, theme);
        } else {
            self.show_graph(&mut inner, &background, cx, &mut commands);
        }
        if self.toolbar.show(&mut inner, rect, cx, &mut self.layer, &mut commands) {
            self.view.is_free = false;
        }
        commands
    }

    fn show_empty(&self, ui: &mut Ui, is_caught_up: bool, theme: &Theme) {
        ui.add_space((ui.available_height() * 0.35).max(self.toolbar.bottom));
        let (title, how) = if is_caught_up {
            (texts::NO_WORK_YET, texts::NO_WORK_HINT)
        } else {
            (texts::LOADING_HISTORY, texts::LOADING_HINT)
        };
        widgets::empty(ui, Icon::Graph, title, how, theme);
    }

    /// Processes new log rows and makes sure that every node has a position. Returns whether all rows are processed.
    fn apply_events(&mut self, ui: &Ui, recent: &Recent, commands: &mut Vec<Command>) -> bool {
        let shows_all_runs = self.toolbar.shows_earlier_runs;
        let is_caught_up = Arc::make_mut(&mut self.model).apply_events(&recent.book, shows_all_runs, ROWS_PER_FRAME);
        if self.beginning != self.model.rebuilds() {
            self.beginning = self.model.rebuilds();
            (self.hovered, self.focused, self.chosen) = (None, None, None);
            self.unfolded.clear();
            self.positions = Positions::default();
            self.view.is_free = false;
        }
        if !is_caught_up {
            ui.request_repaint();
        }
        let frame = ui.ctx().cumulative_frame_nr();
        if frame > self.last_frame + 1 && self.layouts.forget_cancelled() {
            // The pane was closed before the layout was finished.
            self.shown_key = None;
        }
        self.last_frame = frame;
        let options = ViewOptions {
            collapses_finished: self.toolbar.collapses_finished,
            shows_flows: self.toolbar.shows_flows,
            unfolded: self.unfolded.clone(),
        };
        let key = (self.model.revision(), options);
        if is_caught_up && self.shown_key.as_ref() != Some(&key) {
            self.shown = Arc::new(VisibleGraph::of(&self.model, &key.1));
            self.shown_key = Some(key);
            self.lay_out(commands);
        } else if self.shown.blocks.iter().any(|block| block.agent >= self.model.agents.len()) {
            self.shown = Arc::default();
        }
        let (now_secs, still) = (ui.input(|input| input.time), ui.style().animation_time <= MIN_ANIMATION_SECS);
        if let Some(layout) = self.layouts.newest()
            && layout.request.beginning == self.beginning
            && self
                .applied_request
                .as_ref()
                .is_none_or(|applied_request| !Arc::ptr_eq(applied_request, &layout.request))
        {
            self.positions.apply_layout(&layout, now_secs);
            self.applied_request = Some(layout.request);
        }
        if self.positions.advance(now_secs, still) {
            ui.request_repaint();
        }
        is_caught_up
    }

    /// Requests a layout of the visible nodes, unless it was already requested.
    fn lay_out(&mut self, commands: &mut Vec<Command>) {
        let request = self.shown.request(self.beginning);
        if self.layouts.is_asked(&request) {
            return;
        }
        let request = Arc::new(request);
        self.positions.place_new(&self.model, &self.shown, &request);
        commands.extend(self.layouts.ask(&request).map(Command::Run));
    }

    fn show_graph(&mut self, ui: &mut Ui, background: &Response, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let (room, theme) = (cx.room, cx.theme);
        let bounds = self.positions.bounds(&self.shown);
        self.view.pan_and_zoom(ui, background);
        if !self.view.is_free {
            self.view.fit(bounds, self.toolbar.bottom);
        }
        let (model, shown) = (self.model.clone(), self.shown.clone());
        let live = Live::of(room);
        let selected = self.selected(cx.ui);
        self.handle_arrow_keys(ui, &model, &shown);
        let (positions, view) = (&self.positions, self.view);
        let highlighted: BTreeSet<Node> = selected.iter().copied().chain(self.hovered).chain(self.focused).collect();
        let painter = ui.painter().clone();
        let arrows = Arrows {
            painter: &painter,
            model: &model,
            shown: &shown,
            positions,
            view: &view,
            theme,
            highlighted: &highlighted,
        };
        let arrows_drawn = arrows.paint();
        let cards = Cards {
            model: &model,
            shown: &shown,
            positions,
            view: &view,
            live: &live,
            theme,
            art: cx.art,
            selected: &selected,
        };
        let events = cards.show(ui);
        self.drawn = (events.drawn, arrows_drawn);
        if minimap::is_useful(&cards, bounds)
            && let Some(place) = minimap::show(ui, &cards, bounds)
        {
            (self.view.middle, self.view.is_free) = (place, true);
        }
        if background.clicked() {
            self.chosen = None;
        }
        self.handle_card_events(ui, events, room, &live, commands);
    }

    /// Returns the nodes that are selected in the window or only here.
    fn selected(&mut self, state: &UiState) -> BTreeSet<Node> {
        if !state.selection.things().is_empty() || state.selection.file().is_some() {
            self.chosen = None;
        }
        let agents =
            state.selection.things().iter().filter_map(|thing| Some(Node::Agent(self.model.agent(thing.agent()?)?)));
        let file = state.selection.file().and_then(|path| self.model.file(path)).map(Node::File);
        agents.chain(file).chain(self.chosen).collect()
    }

    /// Moves the focus with the arrow keys to the nearest node in that direction.
    fn handle_arrow_keys(&mut self, ui: &Ui, model: &Model, shown: &VisibleGraph) {
        let Some(focused) = self.focused.filter(|_| keys::are_active(ui)) else { return };
        let keys = [
            (Key::ArrowLeft, vec2(-1.0, 0.0)),
            (Key::ArrowRight, vec2(1.0, 0.0)),
            (Key::ArrowUp, vec2(0.0, -1.0)),
            (Key::ArrowDown, vec2(0.0, 1.0)),
        ];
        let pressed = |(key, _): &(Key, egui::Vec2)| ui.input_mut(|input| input.consume_key(Modifiers::NONE, *key));
        let Some((_, direction)) = keys.into_iter().find(pressed) else { return };
        // Otherwise egui would also move the focus to another widget.
        ui.memory_mut(|memory| memory.move_focus(FocusDirection::None));
        let Some(from) = self.rect_of(shown, focused) else { return };
        let candidates =
            shown.blocks.iter().flat_map(|block| block.parts().map(|(node, part)| (block.agent, node, part)));
        let candidates = candidates.filter(|(_, node, _)| *node != focused);
        let candidates =
            candidates.filter_map(|(agent, node, part)| Some((node, self.positions.rect(agent, part)?.center())));
        if let Some(next) = view::nearest(from.center(), direction, candidates) {
            if let Some(rect) = self.rect_of(shown, next) {
                self.view.pan_to(rect);
            }
            self.focused = Some(next);
            ui.memory_mut(|memory| memory.request_focus(cards::widget_id(ui, model, next)));
        }
    }

    fn rect_of(&self, shown: &VisibleGraph, node: Node) -> Option<Rect> {
        let (block, part) = shown.place(node)?;
        self.positions.rect(shown.blocks[block].agent, part)
    }

    /// Handles the user input on cards.
    fn handle_card_events(
        &mut self,
        ui: &Ui,
        events: CardEvents,
        room: &RoomModel,
        live: &Live,
        commands: &mut Vec<Command>,
    ) {
        if self.hovered != events.hovered || self.focused != events.focused {
            ui.request_repaint();
        }
        (self.hovered, self.focused) = (events.hovered, events.focused);
        match events.clicked {
            Some(Node::Agent(agent)) => {
                self.chosen = Some(Node::Agent(agent));
                let in_room = live.in_room(&self.model.agents[agent].id);
                let things = in_room.map(|id| RoomObject::Agent(id.clone())).into_iter().collect();
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
        let path = match events.opened {
            Some(Node::Agent(agent)) if agent != YOU => Some(self.profile_path(agent, room)),
            Some(Node::File(file)) => Some(self.model.files[file].path.to_string()),
            _ => None,
        };
        commands.extend(path.map(|path| Command::OpenFile(path, None)));
    }

    /// Returns the path of the file that defines an agent's profile.
    fn profile_path(&self, agent: usize, room: &RoomModel) -> String {
        let node = &self.model.agents[agent];
        let profile = room.agent(&node.id).map(|agent| agent.profile.to_string());
        let profile = profile.or_else(|| node.profile.as_deref().map(str::to_owned)).unwrap_or_else(|| node.id.clone());
        let defines_profile = |path: &&String| {
            let name = path.strip_prefix("agents/").and_then(|name| name.strip_prefix(&*profile));
            name.is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'))
        };
        let defined = room.profiles.iter().find(|known| *known.id == *profile && !known.file.is_empty());
        let defined = defined.map(|known| known.file.clone());
        let known = defined.or_else(|| room.files.iter().find(defines_profile).cloned());
        known.or_else(|| node.path.as_deref().map(str::to_owned)).unwrap_or_else(|| format!("agents/{profile}.md"))
    }
}
