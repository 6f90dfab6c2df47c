//! The toolbar above the graph: stops and controls work, and sets how the graph is shown.

use egui::{CornerRadius, Frame, Margin, Rect, RichText, Sense, Slider, Stroke, Ui, UiBuilder, vec2};

use super::layer::Layer;
use super::texts;
use crate::kernel::KernelCommand;
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::ui::menus::keys_tip;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::RoomModel;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};

/// Maximum concurrency that can be set here.
const MAX_CONCURRENCY: u32 = 16;
/// Maximum depth that can be set here.
const MAX_DEPTH: u32 = 32;
/// Distance from the edges of the pane.
const EDGE: f32 = 8.0;

/// The settings and state of the toolbar.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Toolbar {
    /// Whether finished agents are collapsed into their parents.
    pub collapses_finished: bool,
    /// Whether file reads and writes are shown for all agents.
    pub shows_flows: bool,
    /// Whether earlier runs are shown too.
    pub shows_earlier_runs: bool,
    /// Lower edge of the toolbar in the last frame, relative to the top of the pane.
    pub bottom: f32,
    /// Values being dragged, which are applied on release.
    concurrency: Option<u32>,
    depth: Option<u32>,
}

impl Toolbar {
    /// Draws the toolbar. Returns whether the graph should be fitted into view.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        pane: Rect,
        cx: &ViewerContext<'_>,
        layer: &mut Layer,
        commands: &mut Vec<Command>,
    ) -> bool {
        let (room, theme) = (cx.room, cx.theme);
        let space = Rect::from_min_max(pane.min + vec2(EDGE, EDGE), pane.max - vec2(EDGE, EDGE));
        let builder = UiBuilder::new().id_salt("graph bar").max_rect(space);
        let mut bar = ui.new_child(builder);
        bar.set_clip_rect(pane.intersect(ui.clip_rect()));
        let frame = Frame::new()
            .fill(theme.panel)
            .stroke(Stroke::new(LINE[0], theme.line))
            .corner_radius(CornerRadius::same(RADIUS[1]))
            .inner_margin(Margin::symmetric(8, 4));
        let mut should_fit = false;
        let shown = bar.scope_builder(UiBuilder::new().sense(Sense::CLICK | Sense::DRAG), |ui| {
            frame.show(ui, |ui| {
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing = vec2(SPACE[1], SPACE[0]);
                    layer.menu(ui, cx, commands);
                    ui.separator();
                    self.work_controls(ui, room, theme, commands);
                    ui.separator();
                    should_fit = self.view_controls(ui, theme);
                });
            });
        });
        self.bottom = shown.response.rect.bottom() - pane.top();
        should_fit
    }

    fn work_controls(&mut self, ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
        let work = &room.work;
        ui.add_enabled_ui(!work.pieces.is_empty(), |ui| {
            if widgets::danger(ui, texts::STOP_ALL, theme)
                .on_hover_text(texts::STOP_ALL_HINT)
                .on_disabled_hover_text(texts::NOTHING_RUNS)
                .clicked()
            {
                commands.push(work_command(KernelCommand::KillAll));
            }
        });
        let is_halted = work.needs_resume();
        let (icon, label) = if is_halted { (Icon::Play, texts::RESUME_WORK) } else { (Icon::Pause, texts::PAUSE_WORK) };
        if widgets::icon_button(ui, icon, label, is_halted, theme).clicked() {
            commands.push(work_command(if is_halted { KernelCommand::Resume } else { KernelCommand::Pause }));
        }
        let concurrency = work.concurrency.max(1);
        let label_and_hint = (texts::IN_PARALLEL, texts::IN_PARALLEL_HINT);
        let set = number_setting(ui, label_and_hint, concurrency, &mut self.concurrency, theme, |ui, value| {
            ui.spacing_mut().slider_width = 84.0;
            ui.visuals_mut().widgets.inactive.bg_fill = widgets::mix(theme.line, theme.text_soft, 0.25);
            ui.add(Slider::new(value, 1..=MAX_CONCURRENCY).clamping(egui::SliderClamping::Edits))
        });
        if let Some(concurrency) = set {
            commands.push(work_command(KernelCommand::Limits { concurrency: Some(concurrency), depth_at_most: None }));
        }
        let depth = work.depth_at_most;
        let label_and_hint = (texts::LEVELS, texts::LEVELS_HINT);
        let set = number_setting(ui, label_and_hint, depth, &mut self.depth, theme, |ui, value| {
            ui.add(egui::DragValue::new(value).range(0..=MAX_DEPTH).speed(0.05))
        });
        if let Some(depth) = set {
            commands.push(work_command(KernelCommand::Limits { concurrency: None, depth_at_most: Some(depth) }));
        }
    }

    fn view_controls(&mut self, ui: &mut Ui, theme: &Theme) -> bool {
        let mut toggle = |icon, label, on: &mut bool| {
            if widgets::icon_button(ui, icon, label, *on, theme).clicked() {
                *on = !*on;
            }
        };
        toggle(Icon::Fold, texts::COLLAPSE_FINISHED, &mut self.collapses_finished);
        toggle(Icon::Dashes, texts::SHOW_FLOWS, &mut self.shows_flows);
        toggle(Icon::Clock, texts::SHOW_EARLIER_RUNS, &mut self.shows_earlier_runs);
        keys_tip(widgets::icon_button(ui, Icon::Fit, texts::FIT_TO_VIEW, false, theme), "graph.fit").clicked()
    }
}

/// Draws a labelled number. Returns the new value once it is set.
fn number_setting(
    ui: &mut Ui,
    (name, why): (&str, &str),
    current: u32,
    draft: &mut Option<u32>,
    theme: &Theme,
    widget: impl FnOnce(&mut Ui, &mut u32) -> egui::Response,
) -> Option<u32> {
    let text = RichText::new(name).size(TYPE[0]).color(theme.text_soft);
    ui.add(egui::Label::new(text).extend());
    let mut value = draft.unwrap_or(current);
    let response = widget(ui, &mut value).on_hover_text(why);
    widgets::name(&response, name);
    if response.dragged() || response.is_pointer_button_down_on() {
        *draft = Some(value);
        return None;
    }
    let released = draft.take().filter(|_| response.drag_stopped());
    released.or_else(|| response.changed().then_some(value)).filter(|set| *set != current)
}

fn work_command(command: KernelCommand) -> Command {
    Command::Act(RoomAct::Work(command), None)
}
