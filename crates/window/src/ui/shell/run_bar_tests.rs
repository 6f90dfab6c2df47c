//! Tests of the run bar at every width: the commands of its buttons, its texts, and its layout.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::base::ActivationKey;
use crate::mind::OwnCommand;
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, asking_piece, drawings, stage_pane};
use crate::view::art::Art;
use crate::view::work::PieceView;

fn bar() -> Harness<'static, PaneHarness> {
    stage_pane(UiState::default(), |ui, cx, panes| run_bar_ui(ui, cx, &mut panes.run_bar))
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn piece() -> PieceView {
    PieceView { stage: "thinking", question: None, ..asking_piece(7, "ada-1", "") }
}

fn work_commands(commands: &[Command]) -> Vec<KernelCommand> {
    let work = |command: &Command| match command {
        Command::Act(RoomAct::Work(command), None) => Some(command.clone()),
        _ => None,
    };
    commands.iter().filter_map(work).collect()
}

#[test]
fn run_gives_the_task_to_the_chosen_agent_and_clears_the_field() {
    let mut window = bar();
    window.get_by_label("Task to run").focus();
    window.run_steps(2);
    window.get_by_label("Task to run").type_text("Water the plants");
    window.run_steps(2);
    click(&mut window, "Run");
    let first = window.state().room.agents[0].id.clone();
    let task = TaskCommand { agent: first, text: "Water the plants".into() };
    assert_eq!(window.state().commands, [Command::Act(RoomAct::Task(task), None)]);
    assert_eq!(window.state().parts.run_bar.task, "");
    assert_eq!(window.state().state.recents.tasks(), ["Water the plants"]);
}

#[test]
fn slash_commands_are_suggested_and_typing_continues_after_one() {
    let mut window = bar();
    let first = window.state().room.agents[0].id.clone();
    let review = OwnCommand { name: "review".into(), about: "Looks at what changed".into() };
    window.state_mut().recent.own_commands.insert(first.clone(), vec![review]);
    window.get_by_label("Task to run").focus();
    window.run_steps(2);
    assert!(window.query_by_label("/review").is_none(), "nothing is suggested before a slash");
    window.get_by_label("Task to run").type_text("/re");
    window.run_steps(2);
    click(&mut window, "/review");
    assert_eq!(window.state().parts.run_bar.task, "/review ");
    window.get_by_label("Task to run").type_text("a.md");
    window.run_steps(2);
    click(&mut window, "Run");
    let task = TaskCommand { agent: first, text: "/review a.md".into() };
    assert_eq!(window.state().commands, [Command::Act(RoomAct::Task(task), None)]);
}

#[test]
fn the_task_keeps_its_width_in_narrow_windows_and_limits_are_behind_a_gear() {
    for width in [900.0, 960.0, 1280.0] {
        let mut window = bar();
        window.set_size(egui::vec2(width, 800.0));
        window.run_steps(3);
        let field = window.get_by_label("Task to run").rect().width();
        assert!(field >= TASK_POINTS - 1.0, "{width}: {field}");
        assert!(window.query_all_by_label("In parallel").next().is_none());
    }
    let mut window = bar();
    click(&mut window, texts::LIMITS_OF_WORK);
    assert!(window.query_all_by_label("In parallel").next().is_some());
}

/// The parts of the bar in reading order, with their rectangles.
fn parts(window: &Harness<'static, PaneHarness>) -> Vec<(String, egui::Rect)> {
    let status = window.state().room.work.sentence();
    let named = [texts::ASSIGN_TO, texts::TASK_TO_RUN, texts::EARLIER_TASKS, texts::RUN];
    let controls = [texts::PAUSE_WORK, texts::STOP_ALL, texts::LIMITS_OF_WORK];
    let names = named.into_iter().chain([&*status]).chain(controls);
    names.map(|name| (name.to_owned(), window.get_by_label(name).rect())).collect()
}

#[test]
fn no_part_is_cut_or_covered_at_any_width_and_all_are_in_reading_order() {
    let mut window = bar();
    let why = "the model did not answer three times in a row, and its address says that it is overloaded";
    for has_long_status in [false, true] {
        let work = &mut window.state_mut().room.work;
        if has_long_status {
            work.pieces = (7..9).map(|number| asking_piece(number, "ada-1", "write a.md")).collect();
            work.pieces.iter_mut().for_each(|piece| piece.question = None);
            work.stopped_by = Some(why.into());
        }
        for width in (800..=1_400).step_by(20).map(|width| width as f32) {
            window.set_size(egui::vec2(width, 800.0));
            window.run_steps(3);
            let parts = parts(&window);
            for (index, (name, rect)) in parts.iter().enumerate() {
                assert!(rect.left() >= 0.0 && rect.right() <= width + 0.5, "{name} is cut at {width}: {rect:?}");
                let Some((next, then)) = parts.get(index + 1) else { continue };
                let is_read_after = then.left() >= rect.right() - 0.5 || then.top() >= rect.bottom() - 0.5;
                assert!(is_read_after, "{next} lies on or before {name} at {width}: {rect:?}, {then:?}");
                assert!(then.bottom() > rect.top(), "{next} is above {name} at {width}");
            }
            let rows = |one: &egui::Rect, other: &egui::Rect| one.y_range().intersection(other.y_range()).span() > 0.0;
            for (index, (name, rect)) in parts.iter().enumerate() {
                let covered = parts[index + 1..]
                    .iter()
                    .find(|(_, other)| rows(rect, other) && rect.x_range().intersection(other.x_range()).span() > 0.5);
                assert_eq!(covered, None, "{name} lies on it at {width}: {rect:?}");
            }
            let field = parts[1].1.width();
            assert!(width < 900.0 || field >= TASK_POINTS - 1.0, "the task has {field} at {width}");
        }
    }
}

#[test]
fn changes_of_the_status_move_nothing() {
    for width in [820.0, 1_000.0, 1_080.0, 1_200.0, 1_400.0] {
        let mut window = bar();
        window.set_size(egui::vec2(width, 800.0));
        window.run_steps(3);
        let names = [texts::ASSIGN_TO, texts::TASK_TO_RUN, texts::RUN];
        let places = |window: &Harness<'static, PaneHarness>| names.map(|name| window.get_by_label(name).rect());
        let before = places(&window);
        for (going_on, waiting) in [(1, 0), (12, 3), (1_000, 10_000)] {
            let work = &mut window.state_mut().room.work;
            (work.going_on, work.waiting) = (going_on, waiting);
            work.resumes_in_secs = Some(30.0);
            window.run_steps(3);
            assert_eq!(places(&window), before, "at {width} with {going_on} and {waiting}");
        }
    }
}

#[test]
fn listed_agents_have_portraits() {
    let mut window = bar();
    let art = Art::load(&window.ctx, 1.0).0;
    window.state_mut().art = Some(art);
    window.state_mut().room.work.pieces = vec![piece()];
    window.run_steps(3);
    assert_eq!(drawings(&window), []);
    let status = window.state().room.work.sentence();
    click(&mut window, &status);
    let row = window.get_by_label("Stop Ada").rect().expand2(egui::vec2(MENU[2], 0.0));
    assert!(drawings(&window).iter().any(|drawing| row.contains(drawing.center())), "running tasks");
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    click(&mut window, texts::ASSIGN_TO);
    assert!(drawings(&window).len() >= 2, "agents that can be given a task");
}

#[test]
fn an_empty_task_is_not_run() {
    let mut window = bar();
    click(&mut window, "Run");
    assert!(window.state().commands.is_empty());
}

#[test]
fn work_can_be_paused_resumed_and_stopped() {
    let mut window = bar();
    window.state_mut().room.work.pieces = vec![piece()];
    window.state_mut().room.work.concurrency = 3;
    window.run_steps(2);
    click(&mut window, "Pause work");
    window.state_mut().room.work.is_paused = true;
    window.run_steps(2);
    click(&mut window, "Resume work");
    click(&mut window, "Stop all");
    let expected = [KernelCommand::Pause, KernelCommand::Resume, KernelCommand::KillAll];
    assert_eq!(work_commands(&window.state().commands), expected);
}

#[test]
fn a_task_that_would_wait_shows_why_and_what_to_do() {
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
    assert_eq!(work_commands(&window.state().commands), [KernelCommand::Resume, KernelCommand::Resume]);
    window.state_mut().room.work.stopped_by = None;
    window.state_mut().room.paused = true;
    window.run_steps(2);
    assert!(window.query_by_label("Resume").is_none(), "no task is waiting");
    window.state_mut().parts.run_bar.task = "Water the plants".to_owned();
    window.run_steps(2);
    click(&mut window, "Resume");
    assert_eq!(window.state().commands.last(), Some(&Command::SetPaused(false)));
}

#[test]
fn approvals_are_answered_in_the_bar_and_counted_in_the_status() {
    let mut window = bar();
    window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "delete notes.md")];
    window.run_steps(40);
    assert!(window.query_all_by_label_contains("1 needs you").next().is_some());
    click(&mut window, "Allow Ada");
    click(&mut window, "Refuse Ada");
    let decide = |allow| KernelCommand::decide(ActivationKey::numbered(7), 2, 1, allow);
    assert_eq!(work_commands(&window.state().commands), [decide(true), decide(false)]);
}

#[test]
fn a_blocker_does_not_move_the_answer_buttons() {
    let mut window = bar();
    let from_the_bottom = |window: &Harness<'static, PaneHarness>| {
        let run = window.get_by_label("Run").rect();
        let allow = window.get_by_label("Allow Ada").rect();
        (run.min - allow.min, allow.size())
    };
    window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "delete notes.md")];
    window.run_steps(40);
    let before = from_the_bottom(&window);
    window.state_mut().room.work.is_paused = true;
    window.run_steps(3);
    assert!(window.query_by_label("Resume work").is_some());
    assert_eq!(from_the_bottom(&window), before);
}
