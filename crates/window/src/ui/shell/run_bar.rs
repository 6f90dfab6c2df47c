//! The bar below the room: gives tasks to agents, shows the status of work, and pauses, stops and limits it. Approvals
//! are shown above it.

use egui::{Painter, Popup, PopupCloseBehavior, Rect, RichText, TextWrapMode, Ui, Vec2, vec2};

use super::waiting_step;
use crate::base::Id;
use crate::kernel::KernelCommand;
use crate::simulation::TaskCommand;
use crate::ui::approval_card::{CardSize, Turn, approval_card};
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::faces::face_ui;
use crate::ui::panes::canvas::shows_preview;
use crate::ui::shell::texts::run_bar as texts;
use crate::ui::slash_commands;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::ui::{Command, ViewerContext};
use crate::view::model::{ProfileView, RoomModel};
use crate::view::paint;
use crate::view::theme::{MENU, SPACE, Theme};

/// The size of the clock icon on the button of earlier tasks, in points.
const HISTORY_ICON_POINTS: f32 = 14.0;

/// The inputs that have not been sent yet.
#[derive(Clone, Debug, Default)]
pub struct RunBar {
    /// The agent that gets the task.
    agent: Option<Id>,
    task: String,
    /// Whether to focus the task, with the cursor at its end.
    continue_task: bool,
    widths: Widths,
}

/// The widths of the bar's parts in the last frame, in points: they depend on the fonts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Widths {
    /// The choice of the agent.
    assignee: f32,
    /// The earlier tasks and the button that runs the task.
    run: f32,
    /// The buttons that pause, stop and limit work.
    buttons: f32,
}

impl Default for Widths {
    fn default() -> Self {
        Self { assignee: 160.0, run: 104.0, buttons: 230.0 }
    }
}

impl Widths {
    /// Returns the width of everything except the task in a bar of one row: the agent, the buttons of the task, the
    /// status of work, and its buttons. The width of the status does not depend on its text, so that nothing moves when
    /// it changes.
    fn beside_task(self, whole: f32, gap: f32) -> f32 {
        self.assignee + self.run + status_width(whole) + self.buttons + 4.0 * gap
    }

    fn differs(self, other: Self) -> bool {
        let parts = [(self.assignee, other.assignee), (self.run, other.run), (self.buttons, other.buttons)];
        parts.iter().any(|(one, other)| (one - other).abs() > 0.5)
    }
}

impl RunBar {
    /// Begins a task for an agent, for the person to complete.
    pub(super) fn begin(&mut self, agent: Id, task: String) {
        *self = Self { agent: Some(agent), task, continue_task: true, widths: self.widths };
    }
}

/// The minimum width of the task in a bar of one row, in points; if it does not fit, the bar has two rows.
const TASK_POINTS: f32 = 320.0;
/// The minimum width of the task in the narrowest window, in points.
const MIN_TASK_POINTS: f32 = 60.0;
/// The width of the agent's name, in points.
const ASSIGNEE_POINTS: f32 = 150.0;
/// The share of the status in a bar of one row.
const STATUS_SHARE: f32 = 0.2;
/// The range of its width, in points; a longer text is truncated.
const STATUS_POINTS: std::ops::RangeInclusive<f32> = 170.0..=340.0;

/// The maximum number of parallel tasks that can be set in the bar.
const MAX_PARALLEL: u32 = 16;
/// The maximum depth of agents starting agents that can be set in the bar.
const MAX_DEPTH: u32 = 12;
/// The maximum number of earlier tasks in the menu.
const TASKS_SHOWN: usize = 12;
/// The size of the approval card in the bar.
pub const CARD: CardSize = CardSize { head: 54.0, preview: 64.0 };
/// The side of a portrait in the menu of running work, in points.
const FACE_POINTS: f32 = 22.0;
/// The maximum number of tasks in the menu of running work.
const PIECES_SHOWN: usize = 40;

/// Draws the bar.
pub fn run_bar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut RunBar) -> Vec<Command> {
    let ViewerContext { room, theme, .. } = *cx;
    widgets::apply_style(ui.style_mut(), theme);
    let mut commands = Vec::new();
    // Above the approval, whose buttons must keep their places.
    if let Some(blocker) = Blocker::of(room, !own.task.trim().is_empty()) {
        blocker_ui(ui, &blocker, theme, &mut commands);
    }
    waiting_step::waiting_step_ui(ui, cx, &mut commands);
    if let Some((_, question, at, count)) = cx.ui.questions.front(room) {
        // The preview is shown in one place only.
        let size = if shows_preview(cx) { CardSize { preview: 0.0, ..CARD } } else { CARD };
        commands.extend(approval_card(ui, cx, question, ("run bar", size, Some(Turn { at, count }))));
    }
    let known_commands = assignee(cx, own).map_or(&[][..], |agent| slash_commands::known(cx, &agent));
    if slash_commands::has_suggestions(known_commands, &own.task) {
        ui.horizontal_wrapped(|ui| {
            own.continue_task |= slash_commands::suggestions_ui(ui, known_commands, &mut own.task);
        });
    }
    // In the order of Tab: agent, task, run; then the status of work.
    let (before, gap, whole) = (own.widths, ui.spacing().item_spacing.x, ui.available_width());
    let is_one_row = whole - before.beside_task(whole, gap) >= TASK_POINTS;
    let status = if is_one_row { status_width(whole) } else { (whole - before.buttons - gap).max(0.0) };
    ui.horizontal(|ui| {
        own.widths.assignee = ui.scope(|ui| assignee_ui(ui, cx, own)).response.rect.width();
        task_ui(ui, cx, own, if is_one_row { status + before.buttons + 2.0 * gap } else { 0.0 }, &mut commands);
        if is_one_row {
            own.widths.buttons = work_ui(ui, cx, (status, status), &mut commands);
        }
    });
    if !is_one_row {
        own.widths.buttons = ui.horizontal(|ui| work_ui(ui, cx, (0.0, status), &mut commands)).inner;
    }
    if own.widths.differs(before) {
        ui.ctx().request_discard("parts of the run bar have another width");
    }
    commands
}

/// Returns the width of the status in a bar of one row.
fn status_width(whole: f32) -> f32 {
    (whole * STATUS_SHARE).clamp(*STATUS_POINTS.start(), *STATUS_POINTS.end())
}

fn act(command: KernelCommand) -> Command {
    Command::Act(RoomAct::Work(command), None)
}

/// Draws the choice of the agent: one in the room, or a profile, from which a new agent is then created.
fn assignee_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut RunBar) {
    let chosen = assignee(cx, own);
    let shown =
        chosen.as_ref().and_then(|id| find_assignee(cx.room, id)).map_or(texts::NOBODY.to_owned(), |(_, name)| name);
    menu::drop_down(ui, texts::ASSIGN_TO, shown, ASSIGNEE_POINTS, cx.theme, |ui| {
        ui.set_width(MENU[1]);
        for Assignee { id, name, look } in assignees(cx.room) {
            let face = |painter: &Painter, place| paint::portrait(painter, place, &look, cx.art);
            if menu::choice_with_picture(ui, chosen.as_ref() == Some(&id), &name, face).clicked() {
                own.agent = Some(id);
            }
        }
    });
}

/// An agent or profile that can be given a task.
struct Assignee {
    id: Id,
    name: String,
    /// The portrait.
    look: Id,
}

/// Returns the profiles without an agent in the room.
fn absent_profiles(room: &RoomModel) -> impl Iterator<Item = &ProfileView> {
    room.profiles.iter().filter(|profile| profile.agents == 0)
}

/// Returns all agents in the room, followed by the profiles without an agent.
fn assignees(room: &RoomModel) -> Vec<Assignee> {
    let present = room.agents.iter().map(|agent| Assignee {
        id: agent.id.clone(),
        name: agent.name.to_string(),
        look: agent.look.clone(),
    });
    let absent = absent_profiles(room).map(|profile| Assignee {
        id: profile.id.clone(),
        name: texts::not_in_the_room_yet(&profile.name),
        look: profile.look.clone(),
    });
    present.chain(absent).collect()
}

/// Returns the id and name of an agent or profile that can be given a task; the whole list is long, and only an open
/// menu needs it.
fn find_assignee(room: &RoomModel, id: &str) -> Option<(Id, String)> {
    let present = room.agent(id).map(|agent| (agent.id.clone(), agent.name.to_string()));
    present.or_else(|| {
        let profile = absent_profiles(room).find(|profile| &*profile.id == id)?;
        Some((profile.id.clone(), texts::not_in_the_room_yet(&profile.name)))
    })
}

/// Returns the agent that gets the task: the chosen one, the selected one, an orchestrator, or the first.
fn assignee(cx: &ViewerContext<'_>, own: &RunBar) -> Option<Id> {
    let room = cx.room;
    let id_of = |id: &str| find_assignee(room, id).map(|(id, _)| id);
    let chosen = own.agent.as_ref().and_then(|id| id_of(id));
    let selected = || cx.ui.selection.things().iter().find_map(|thing| id_of(thing.agent()?));
    let all = || room.agents.iter().map(|agent| &agent.id).chain(absent_profiles(room).map(|profile| &profile.id));
    let orchestrator = || all().find(|id| id.contains("orchestrator")).cloned();
    chosen.or_else(selected).or_else(orchestrator).or_else(|| all().next().cloned())
}

/// Draws the task and its buttons in the row, with `reserved` points left at the end.
fn task_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut RunBar, reserved: f32, commands: &mut Vec<Command>) {
    let agent = assignee(cx, own);
    let gap = ui.spacing().item_spacing.x;
    let width = (ui.available_width() - gap - own.widths.run - reserved).max(MIN_TASK_POINTS);
    let field = ui.add(
        widgets::text_line(&mut own.task)
            .hint_text(texts::TASK_HINT)
            // Suggestions above appear and disappear; the field keeps its identity.
            .id_salt("task to run")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(width),
    );
    widgets::name(&field, texts::TASK_TO_RUN);
    if std::mem::take(&mut own.continue_task) {
        widgets::focus_at_end(ui, &field, &own.task);
    }
    history_ui(ui, cx, own);
    let can_run = agent.is_some() && !own.task.trim().is_empty();
    let run = widgets::primary(ui, can_run, texts::RUN, cx.theme);
    own.widths.run = run.rect.right() - field.rect.right() - gap;
    if can_run
        && (run.clicked() || widgets::entered(ui, &field))
        && let Some(agent) = agent
    {
        let text = std::mem::take(&mut own.task).trim().to_owned();
        commands.push(WindowCommand::RememberTask(text.clone()).into());
        commands.push(Command::Act(RoomAct::Task(TaskCommand { agent, text }), None));
    }
}

/// Draws the menu of earlier tasks, latest first.
fn history_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut RunBar) {
    let tasks = cx.ui.recents.tasks();
    ui.add_enabled_ui(!tasks.is_empty(), |ui| {
        let button = menu::menu_button(ui, "", texts::EARLIER_TASKS, MENU[2], cx.theme, |ui| {
            ui.label(widgets::small(texts::EARLIER, cx.theme));
            for task in tasks.iter().take(TASKS_SHOWN) {
                if menu::listed(ui, task).clicked() {
                    own.task.clone_from(task);
                }
            }
        });
        let left = Rect::from_min_max(button.rect.min, button.rect.center_bottom() + vec2(SPACE[0], 0.0));
        Icon::Clock.paint(
            ui.painter(),
            Rect::from_center_size(left.center(), Vec2::splat(HISTORY_ICON_POINTS)),
            cx.theme.text_soft,
        );
    });
}

/// Draws the status of work, within these widths, and the buttons that pause, stop and limit all work. Returns the
/// width of the buttons.
fn work_ui(ui: &mut Ui, cx: &ViewerContext<'_>, (least, most): (f32, f32), commands: &mut Vec<Command>) -> f32 {
    ui.scope(|ui| {
        ui.set_max_width(most);
        ui.set_min_width(least);
        ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
        status_ui(ui, cx, commands);
    });
    ui.scope(|ui| buttons_ui(ui, cx, commands)).response.rect.width()
}

fn status_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    let work = &room.work;
    let colour = if work.needs_resume() { theme.warn } else { theme.text_soft };
    let sentence = work.sentence();
    let text = RichText::new(&sentence).color(colour);
    let shown = menu::menu_button(ui, text, &sentence, MENU[2], theme, |ui| pieces_ui(ui, cx, commands));
    shown.on_hover_text(texts::status_hint(&sentence));
}

fn buttons_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    let work = &room.work;
    // The button that resumes work is above, beside the reason for the pause.
    let pause = ui.add_enabled(!work.needs_resume(), egui::Button::new(texts::PAUSE_WORK));
    let pause = pause.on_disabled_hover_text(texts::IS_PAUSED_HINT);
    if pause.on_hover_text(texts::PAUSE_WORK_HINT).clicked() {
        commands.push(act(KernelCommand::Pause));
    }
    ui.add_enabled_ui(!work.pieces.is_empty(), |ui| {
        if widgets::danger(ui, texts::STOP_ALL, theme).on_hover_text(texts::STOP_ALL_HINT).clicked() {
            commands.push(act(KernelCommand::KillAll));
        }
    });
    limits_ui(ui, cx, commands);
}

/// Draws the limits of parallel work and of agents starting agents, behind a gear.
fn limits_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let work = &cx.room.work;
    let gear = widgets::icon_button(ui, Icon::Gear, texts::LIMITS_OF_WORK, false, cx.theme);
    let config = PopupCloseBehavior::CloseOnClickOutside;
    Popup::menu(&gear).close_behavior(config).show(|ui| {
        widgets::apply_style(ui.style_mut(), cx.theme);
        ui.set_width(MENU[1]);
        ui.label(widgets::small(texts::APPLIES_TO_NEW_TASKS, cx.theme));
        let number = |ui: &mut Ui, label: &str, about: &str, now: u32, range| {
            let mut chosen = now;
            let drag = widgets::line(
                ui,
                label,
                |ui| drop(ui.label(label).on_hover_text(about)),
                |ui| ui.add(egui::DragValue::new(&mut chosen).range(range)).on_hover_text(about),
            );
            widgets::name(&drag, label);
            (drag.changed() && chosen != now).then_some(chosen)
        };
        let (label, about) = (texts::IN_PARALLEL, texts::IN_PARALLEL_HINT);
        if let Some(chosen) = number(ui, label, about, work.concurrency.max(1), 1..=MAX_PARALLEL) {
            commands.push(act(KernelCommand::Limits { concurrency: Some(chosen), depth_at_most: None }));
        }
        let (label, about) = (texts::LEVELS, texts::LEVELS_HINT);
        if let Some(chosen) = number(ui, label, about, work.depth_at_most, 0..=MAX_DEPTH) {
            commands.push(act(KernelCommand::Limits { concurrency: None, depth_at_most: Some(chosen) }));
        }
    });
}

/// Why new tasks do not start, and how to end that.
struct Blocker {
    /// The reason as a sentence.
    why: String,
    /// The label of the button that ends it.
    button: &'static str,
    /// The command of the button.
    command: Command,
}

impl Blocker {
    /// Returns why existing work or the drafted task does not run: work is paused, or the room is.
    fn of(room: &RoomModel, has_draft: bool) -> Option<Self> {
        let work = &room.work;
        let resume = |why| Self { why, button: texts::RESUME_WORK, command: act(KernelCommand::Resume) };
        if let Some(why) = &work.stopped_by {
            return Some(resume(texts::work_is_stopped(why)));
        }
        if work.is_paused {
            return Some(resume(texts::WORK_IS_PAUSED.to_owned()));
        }
        let has_tasks = has_draft || !work.pieces.is_empty();
        (room.paused && has_tasks).then(|| Self {
            why: texts::ROOM_IS_PAUSED.to_owned(),
            button: texts::RESUME,
            command: Command::SetPaused(false),
        })
    }
}

fn blocker_ui(ui: &mut Ui, blocker: &Blocker, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::in_card(ui, theme, |ui| {
        let (text, button) = (RichText::new(&blocker.why).color(theme.warn), blocker.button);
        if widgets::beside_button(ui, text, |ui| widgets::primary(ui, true, button, theme).clicked()).1 {
            commands.push(blocker.command.clone());
        }
    });
}

/// Draws every running task with a button to stop it.
fn pieces_ui(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    if room.work.pieces.is_empty() {
        ui.label(widgets::small(texts::NO_ONE_IS_WORKING, theme));
    }
    for piece in room.work.pieces.iter().take(PIECES_SHOWN) {
        let name = room.called(&piece.agent).to_owned();
        widgets::line(
            ui,
            piece.activation,
            |ui| {
                ui.add_space(SPACE[2] * piece.depth.min(8) as f32);
                face_ui(ui, cx, &piece.agent, FACE_POINTS);
                ui.label(RichText::new(&name).strong());
                let details = texts::piece(piece.stage, piece.turn, piece.tokens);
                ui.label(widgets::small(details, theme)).on_hover_text(&piece.task);
            },
            |ui| {
                if widgets::icon_button(ui, Icon::Stop, &texts::stop_agent(&name), false, theme).clicked() {
                    commands.push(act(KernelCommand::Kill { activation: piece.activation }));
                }
            },
        );
    }
    let more = room.work.pieces.len().saturating_sub(PIECES_SHOWN);
    if more > 0 {
        ui.label(widgets::small(texts::and_more(more), theme));
    }
}

#[cfg(test)]
#[path = "run_bar_tests.rs"]
mod tests;
