//! The bar below the room: gives an agent a task, says how work stands, and stops, pauses and steers it. What a
//! person must decide stands above it.

use egui::{Align, Layout, RichText, Ui};

use crate::base::{ActivationKey, Id};
use crate::kernel::KernelCommand;
use crate::simulation::TaskCommand;
use crate::ui::commands::RoomAct;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, Theme};
use crate::view::work::{PieceView, QuestionView};

/// The drafts of the bar: who is to do it, and what.
const ENTRY: &str = "run.agent";
const TASK: &str = "run.task";
/// Narrower windows have the bar in two rows.
const ONE_ROW_POINTS: f32 = 760.0;
/// No more than so many pieces go on at once by the bar.
const MOST_AT_ONCE: u32 = 16;
/// Agents start agents no deeper than this by the bar.
const DEEPEST: u32 = 12;
/// So many tasks that were given before are offered again.
const TASKS_OFFERED: usize = 12;
/// A question takes no press for so long after it came: a double click on the one before is not an answer to it.
const QUESTION_REST_SECS: f64 = 0.3;
/// Agents are named in the menu of what goes on up to so many.
const PIECES_SHOWN: usize = 40;

/// Draws the bar.
pub fn run_bar_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    widgets::dress(ui.style_mut(), theme);
    let mut commands = Vec::new();
    for (piece, question) in room.work.questions() {
        question_ui(ui, room, theme, piece, question, &mut commands);
    }
    let has_draft = state.drafts.get(TASK).is_some_and(|draft| !draft.trim().is_empty());
    if let Some(hold) = Hold::of(room, has_draft) {
        hold_ui(ui, &hold, theme, &mut commands);
    }
    let is_wide = ui.available_width() >= ONE_ROW_POINTS;
    ui.horizontal(|ui| {
        entry_ui(ui, room, state);
        let right = if is_wide { 500.0 } else { 0.0 };
        let width = (ui.available_width() - right - 110.0).max(90.0);
        task_ui(ui, room, theme, state, width, &mut commands);
        if is_wide {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| steer_ui(ui, room, theme, &mut commands));
        }
    });
    if !is_wide {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| steer_ui(ui, room, theme, &mut commands));
        });
    }
    commands
}

fn act(command: KernelCommand) -> Command {
    Command::Act(RoomAct::Work(command), None)
}

/// Who is to do it: an agent in the room, or a profile, of which one then comes in.
fn entry_ui(ui: &mut Ui, room: &RoomModel, state: &mut UiState) {
    let chosen = entry(room, state);
    let shown = chosen.as_ref().and_then(|id| known(room, id)).map_or("nobody".to_owned(), |(_, name)| name);
    let menu = egui::ComboBox::from_id_salt("run entry").selected_text(shown).width(120.0).show_ui(ui, |ui| {
        for (id, name) in entries(room) {
            let is_chosen = chosen.as_ref() == Some(&id);
            if ui.selectable_label(is_chosen, name).clicked() {
                state.drafts.insert(ENTRY.to_owned(), id.to_string());
            }
        }
    });
    widgets::name(&menu.response, "Who does it");
}

/// Everyone who can be given a task: those in the room, then the profiles that nobody runs.
fn entries(room: &RoomModel) -> Vec<(Id, String)> {
    let here = room.agents.iter().map(|agent| (agent.id.clone(), agent.name.to_string()));
    let absent = room.profiles.iter().filter(|profile| profile.agents == 0);
    here.chain(absent.map(|profile| (profile.id.clone(), format!("{} (comes in)", profile.name)))).collect()
}

/// Someone who can be given a task, by id: looked up, because the whole list is long and needed in an open menu only.
fn known(room: &RoomModel, id: &str) -> Option<(Id, String)> {
    let here = room.agent(id).map(|agent| (agent.id.clone(), agent.name.to_string()));
    here.or_else(|| {
        let profile = room.profiles.iter().find(|profile| &*profile.id == id && profile.agents == 0)?;
        Some((profile.id.clone(), format!("{} (comes in)", profile.name)))
    })
}

/// Whom the bar gives its task to: who was chosen, who is selected, an orchestrator, or the first there is.
fn entry(room: &RoomModel, state: &UiState) -> Option<Id> {
    let id_of = |id: &str| known(room, id).map(|(id, _)| id);
    let chosen = state.drafts.get(ENTRY).and_then(|id| id_of(id));
    let selected = || state.selected.iter().find_map(|thing| id_of(thing.agent()?));
    let all = || {
        let absent = room.profiles.iter().filter(|profile| profile.agents == 0).map(|profile| &profile.id);
        room.agents.iter().map(|agent| &agent.id).chain(absent)
    };
    let leads = || all().find(|id| id.contains("orchestrator")).cloned();
    chosen.or_else(selected).or_else(leads).or_else(|| all().next().cloned())
}

fn task_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, width: f32, commands: &mut Vec<Command>) {
    let agent = entry(room, state);
    let draft = state.drafts.entry(TASK.to_owned()).or_default();
    let field = ui.add(
        egui::TextEdit::singleline(draft)
            .hint_text("What should be done?")
            .margin(egui::Margin::symmetric(8, 5))
            .desired_width(width),
    );
    widgets::name(&field, "Task to run");
    history_ui(ui, theme, state);
    let draft = state.drafts.entry(TASK.to_owned()).or_default();
    let can_run = agent.is_some() && !draft.trim().is_empty();
    let run = widgets::primary(ui, can_run, "Run", theme);
    if can_run
        && (run.clicked() || widgets::entered(ui, &field))
        && let Some(agent) = agent
    {
        let text = std::mem::take(draft).trim().to_owned();
        state.remember_task(&text);
        commands.push(Command::Act(RoomAct::Task(TaskCommand { agent, text }), None));
    }
}

/// The tasks that were given before, the last one first.
fn history_ui(ui: &mut Ui, theme: &Theme, state: &mut UiState) {
    let mut chosen = None;
    let menu = ui.add_enabled_ui(!state.tasks_given.is_empty(), |ui| {
        ui.menu_button("   ", |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_min_width(320.0);
            ui.label(widgets::small("Given before", theme));
            for task in state.tasks_given.iter().take(TASKS_OFFERED) {
                let row = ui.add(egui::Button::new(task).frame(false).truncate().min_size(egui::vec2(320.0, 26.0)));
                if row.clicked() {
                    chosen = Some(task.clone());
                    ui.close();
                }
            }
        })
    });
    let button = menu.inner.response;
    widgets::caret(ui, &button, theme);
    widgets::name(&button, "Tasks given before");
    if let Some(task) = chosen {
        state.drafts.insert(TASK.to_owned(), task);
    }
}

/// Right to left: how many at once, stop all, pause, and how work stands.
fn steer_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    let work = &room.work;
    ui.spacing_mut().item_spacing.x = SPACE[1];
    let mut concurrency = work.concurrency.max(1);
    let drag = egui::DragValue::new(&mut concurrency).range(1..=MOST_AT_ONCE).prefix("at once ");
    let drag = ui.add(drag).on_hover_text("How many agents work at the same time; for what begins from now on");
    widgets::name(&drag, "At once");
    if drag.changed() && concurrency != work.concurrency {
        commands.push(act(KernelCommand::Limits { concurrency: Some(concurrency), depth_at_most: None }));
    }
    let mut depth = work.depth_at_most;
    let drag = egui::DragValue::new(&mut depth).range(0..=DEEPEST).prefix("depth ");
    let drag = ui.add(drag).on_hover_text("How deep agents may start agents; for what begins from now on");
    widgets::name(&drag, "Depth");
    if drag.changed() && depth != work.depth_at_most {
        commands.push(act(KernelCommand::Limits { concurrency: None, depth_at_most: Some(depth) }));
    }
    let has_work = !work.pieces.is_empty();
    ui.add_enabled_ui(has_work, |ui| {
        if widgets::danger(ui, "Stop all", theme).on_hover_text("Ends all work now").clicked() {
            commands.push(act(KernelCommand::KillAll));
        }
    });
    let is_held = work.is_paused || work.stopped_by.is_some();
    let (icon, label) = if is_held { (Icon::Play, "Continue work") } else { (Icon::Pause, "Pause work") };
    if widgets::icon_button(ui, icon, label, is_held, theme).clicked() {
        commands.push(act(if is_held { KernelCommand::Resume } else { KernelCommand::Pause }));
    }
    let colour = if is_held { theme.warn } else { theme.text_soft };
    let sentence = RichText::new(work.sentence()).color(colour);
    ui.menu_button(sentence, |ui| pieces_ui(ui, room, theme, commands)).response.on_hover_text("What goes on");
}

/// Why a task that is given now does not begin.
struct Hold {
    /// In a sentence.
    why: String,
    /// The button that ends it.
    button: &'static str,
    /// What the button does.
    command: Command,
}

impl Hold {
    /// What holds work up that somebody waits for or is about to give: work itself, or all time.
    fn of(room: &RoomModel, has_draft: bool) -> Option<Self> {
        let work = &room.work;
        let resume = |why| Self { why, button: "Resume work", command: act(KernelCommand::Resume) };
        if let Some(why) = &work.stopped_by {
            return Some(resume(format!("Work is stopped: {why}. Tasks that you give wait until it is resumed.")));
        }
        if work.is_paused {
            return Some(resume("Work is paused. Tasks that you give wait until it is resumed.".to_owned()));
        }
        let is_waited_for = has_draft || !work.pieces.is_empty();
        (room.paused && is_waited_for).then(|| Self {
            why: "The room is paused. Tasks that you give begin when time goes on.".to_owned(),
            button: "Resume the room",
            command: Command::SetPaused(false),
        })
    }
}

fn hold_ui(ui: &mut Ui, hold: &Hold, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::in_card(ui, theme, |ui| {
        let (text, button) = (RichText::new(&hold.why).color(theme.warn), hold.button);
        if beside_buttons(ui, text, |ui| widgets::primary(ui, true, button, theme).clicked()).1 {
            commands.push(hold.command.clone());
        }
    });
}

/// A text that wraps, and buttons at the right edge, which keep their place whatever the text is.
fn beside_buttons<R>(
    ui: &mut Ui,
    text: impl Into<egui::WidgetText>,
    buttons: impl FnOnce(&mut Ui) -> R,
) -> (egui::Response, R) {
    let inner = ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
        let pressed = buttons(ui);
        let rest = ui.available_width();
        let label = ui.allocate_ui_with_layout(egui::vec2(rest, 0.0), Layout::top_down(Align::Min), |ui| {
            ui.add(egui::Label::new(text).wrap())
        });
        (label.inner, pressed)
    });
    inner.inner
}

/// Every piece of work, with a way to stop it.
fn pieces_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::dress(ui.style_mut(), theme);
    ui.set_min_width(340.0);
    if room.work.pieces.is_empty() {
        ui.label(widgets::small("Nothing waits and nothing goes on. Give somebody a task.", theme));
    }
    for piece in room.work.pieces.iter().take(PIECES_SHOWN) {
        let name = room.called(&piece.agent).to_owned();
        widgets::line(
            ui,
            |ui| {
                ui.add_space(SPACE[2] * piece.depth.min(8) as f32);
                ui.label(RichText::new(&name).strong());
                let told = format!("{} · turn {} · {} tokens", piece.stage, piece.turn, words::compact(piece.tokens));
                ui.label(widgets::small(told, theme)).on_hover_text(&piece.task);
            },
            |ui| {
                if widgets::icon_button(ui, Icon::Stop, &format!("Stop {name}"), false, theme).clicked() {
                    commands.push(act(KernelCommand::Kill { activation: piece.activation }));
                }
            },
        );
    }
    let more = room.work.pieces.len().saturating_sub(PIECES_SHOWN);
    if more > 0 {
        ui.label(widgets::small(format!("and {more} more"), theme));
    }
}

/// What a person is asked. The buttons keep their place whatever is asked, and a card that has just come or changed
/// takes no press yet: nobody allows what they have not seen.
fn question_ui(
    ui: &mut Ui,
    room: &RoomModel,
    theme: &Theme,
    piece: &PieceView,
    question: &QuestionView,
    commands: &mut Vec<Command>,
) {
    let name = room.called(&piece.agent).to_owned();
    let is_fresh = is_fresh(ui, piece, question);
    widgets::in_card(ui, theme, |ui| {
        let asked = format!("{name} asks before {}", question.what);
        let (label, decision) = beside_buttons(ui, RichText::new(asked).color(theme.text), |ui| {
            ui.add_enabled_ui(!is_fresh, |ui| {
                let allow = widgets::primary(ui, !is_fresh, "Allow", theme);
                widgets::name(&allow, format!("Allow {name}"));
                let refuse = ui.button("Refuse");
                widgets::name(&refuse, format!("Refuse {name}"));
                if allow.clicked() { Some(true) } else { refuse.clicked().then_some(false) }
            })
            .inner
        });
        label.on_hover_text(format!("{}\n{}", question.tool, piece.task));
        if let Some(allow) = decision {
            let (activation, turn, call) = (piece.activation, question.turn, question.call);
            commands.push(act(KernelCommand::Decide { activation, turn, call, allow }));
        }
    });
}

/// Whether another question stood in this place until a moment ago.
fn is_fresh(ui: &Ui, piece: &PieceView, question: &QuestionView) -> bool {
    let place = ui.next_auto_id().with("question");
    let shown = (piece.activation, question.turn, question.call);
    let now_secs = ui.input(|input| input.time);
    let since_secs = ui.data_mut(|data| {
        let known: &mut ((ActivationKey, u32, usize), f64) =
            data.get_temp_mut_or_insert_with(place, || (shown, now_secs));
        if known.0 != shown {
            *known = (shown, now_secs);
        }
        known.1
    });
    let left_secs = since_secs + QUESTION_REST_SECS - now_secs;
    if left_secs > 0.0 {
        ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(left_secs));
    }
    left_secs > 0.0
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT, Queryable};

    use super::*;
    use crate::ui::testing::{Stage, stage};

    fn bar() -> Harness<'static, Stage> {
        stage(UiState::default(), |ui, room, _, theme, state| run_bar_ui(ui, room, theme, state))
    }

    fn click(window: &mut Harness<'static, Stage>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    fn piece(question: Option<QuestionView>) -> PieceView {
        let (activation, task) = (ActivationKey::numbered(7), "count".to_owned());
        PieceView { activation, agent: "ada-1".into(), task, stage: "thinking", turn: 1, depth: 0, tokens: 0, question }
    }

    fn works(commands: &[Command]) -> Vec<KernelCommand> {
        let work = |command: &Command| match command {
            Command::Act(RoomAct::Work(command), None) => Some(command.clone()),
            _ => None,
        };
        commands.iter().filter_map(work).collect()
    }

    #[test]
    fn a_task_is_given_to_whoever_is_chosen_and_the_field_is_empty_then() {
        let mut window = bar();
        window.get_by_label("Task to run").focus();
        window.run_steps(2);
        window.get_by_label("Task to run").type_text("Water the plants");
        window.run_steps(2);
        click(&mut window, "Run");
        let first = window.state().room.agents[0].id.clone();
        let task = TaskCommand { agent: first, text: "Water the plants".into() };
        assert_eq!(window.state().commands, [Command::Act(RoomAct::Task(task), None)]);
        assert_eq!(window.state().state.drafts.get(TASK).map(String::as_str), Some(""));
    }

    #[test]
    fn nothing_to_do_is_not_given() {
        let mut window = bar();
        click(&mut window, "Run");
        assert!(window.state().commands.is_empty());
    }

    #[test]
    fn work_is_paused_continued_and_stopped() {
        let mut window = bar();
        window.state_mut().room.work.pieces = vec![piece(None)];
        window.state_mut().room.work.concurrency = 3;
        window.run_steps(2);
        click(&mut window, "Pause work");
        window.state_mut().room.work.is_paused = true;
        window.run_steps(2);
        click(&mut window, "Continue work");
        click(&mut window, "Stop all");
        let wanted = [KernelCommand::Pause, KernelCommand::Resume, KernelCommand::KillAll];
        assert_eq!(works(&window.state().commands), wanted);
    }

    #[test]
    fn a_task_that_would_wait_says_so_and_what_to_do() {
        let mut window = bar();
        assert!(window.query_by_label("Resume work").is_none());
        window.state_mut().room.work.is_paused = true;
        window.run_steps(2);
        click(&mut window, "Resume work");
        window.state_mut().room.work.is_paused = false;
        window.state_mut().room.work.stopped_by = Some("the cap of 9 calls a run is reached".into());
        window.run_steps(2);
        assert!(window.query_all_by_label_contains("9 calls a run").next().is_some());
        click(&mut window, "Resume work");
        assert_eq!(works(&window.state().commands), [KernelCommand::Resume, KernelCommand::Resume]);
        window.state_mut().room.work.stopped_by = None;
        window.state_mut().room.paused = true;
        window.run_steps(2);
        assert!(window.query_by_label("Resume the room").is_none(), "nobody waits for anything");
        window.state_mut().state.drafts.insert(TASK.to_owned(), "Water the plants".to_owned());
        window.run_steps(2);
        click(&mut window, "Resume the room");
        assert_eq!(window.state().commands.last(), Some(&Command::SetPaused(false)));
    }

    #[test]
    fn a_question_that_takes_the_place_of_another_is_not_answered_by_the_same_press() {
        let mut window = bar();
        let question = |call, what: &str| QuestionView { turn: 2, call, tool: "vfs_delete".into(), what: what.into() };
        window.state_mut().room.work.pieces = vec![piece(Some(question(0, "deleting notes.md")))];
        window.run_steps(3);
        let name = window.state().room.called("ada-1").to_owned();
        let place = |window: &Harness<'static, Stage>, label: &str| window.get_by_label(label).rect();
        let allow = format!("Allow {name}");
        let before = place(&window, &allow);
        let long = "deleting the whole of what was written since the morning ".repeat(9);
        window.state_mut().room.work.pieces = vec![piece(Some(question(1, &long)))];
        window.step();
        assert_eq!(place(&window, &allow).right_top(), before.right_top(), "the button stays where it was");
        let is_off = |window: &Harness<'static, Stage>| window.get_by_label(&allow).accesskit_node().is_disabled();
        assert!(is_off(&window), "it rests for a moment");
        window.run_steps(3);
        assert!(!is_off(&window));
    }

    #[test]
    fn what_a_person_must_decide_is_decided_there() {
        let mut window = bar();
        let what = "deleting notes.md: the safety mode is safe".to_owned();
        let question = QuestionView { turn: 2, call: 1, tool: "vfs_delete".into(), what };
        window.state_mut().room.work.pieces = vec![piece(Some(question))];
        window.run_steps(2);
        let name = window.state().room.called("ada-1").to_owned();
        click(&mut window, &format!("Allow {name}"));
        click(&mut window, &format!("Refuse {name}"));
        let decide = |allow| KernelCommand::Decide { activation: ActivationKey::numbered(7), turn: 2, call: 1, allow };
        assert_eq!(works(&window.state().commands), [decide(true), decide(false)]);
    }
}
