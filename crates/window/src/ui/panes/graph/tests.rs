//! Tests of the graph in a window, clicked by name.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::test_log::TestLog;
use super::*;
use crate::base::ActivationKey;
use crate::kernel::KernelCommand;
use crate::log::events::{Activation, WorkOutcome};
use crate::ui::commands::RoomAct;
use crate::ui::testing::{PaneHarness, agent, drawings, stage_pane};
use crate::view::art::Art;
use crate::view::work::PieceView;

fn window(log: TestLog) -> Harness<'static, PaneHarness> {
    let mut window = stage_pane(UiState::default(), |ui, cx, panes| graph_ui(ui, cx, panes.pane_mut::<GraphPane>()));
    window.ctx.all_styles_mut(|style| style.animation_time = 0.0);
    window.state_mut().recent.book = log.book;
    run_until_laid_out(&mut window);
    window
}

/// Runs frames until the requested layout is applied.
fn run_until_laid_out(window: &mut Harness<'static, PaneHarness>) {
    window.run_steps(2);
    loop {
        let pane = window.state().parts.pane::<GraphPane>();
        let is_applied = |applied_request: &Arc<LayoutRequest>| {
            pane.layouts.requested().is_some_and(|requested| Arc::ptr_eq(requested, applied_request))
        };
        if pane.model.is_empty() || pane.applied_request.as_ref().is_some_and(is_applied) {
            break;
        }
        window.step();
    }
    window.run_steps(2);
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn pane<'a>(window: &'a Harness<'static, PaneHarness>) -> &'a GraphPane {
    window.state().parts.pane::<GraphPane>()
}

fn press(window: &mut Harness<'static, PaneHarness>, key: Key) {
    window.key_press(key);
    window.run_steps(3);
}

fn work_commands(window: &Harness<'static, PaneHarness>) -> Vec<KernelCommand> {
    let work = |command: &Command| match command {
        Command::Act(RoomAct::Work(command), None) => Some(command.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(work).collect()
}

fn piece(number: u64, agent: &str, stage: &'static str) -> PieceView {
    let (activation, task) = (ActivationKey::numbered(number), String::new());
    PieceView { activation, agent: agent.into(), task, stage, turn: 1, depth: 0, tokens: 0, question: None }
}

#[test]
fn an_empty_graph_shows_a_hint() {
    let window = window(TestLog::new());
    window.get_by_label("No work in this run yet");
    window.get_by_label_contains("press Run");
}

#[test]
fn all_agents_with_work_and_their_files_are_labelled() {
    let mut window = window(TestLog::sample());
    window.state_mut().room.work.pieces = vec![piece(1, "lead", "using a tool")];
    window.run_steps(2);
    for name in [
        "You, gave 1 task",
        "Agent Lead, using a tool, 1.2 k tokens",
        "Agent Finder, done, 700 tokens",
        "Agent Checker, interrupted, 0 tokens",
        "File found.md, by Finder",
        "File text.md, by Writer",
    ] {
        window.get_by_label(name);
    }
}

#[test]
fn cards_of_known_agents_have_a_face() {
    let mut window = window(TestLog::sample());
    let art = Art::load(&window.ctx, 1.0).0;
    let state = window.state_mut();
    state.art = Some(art);
    state.room.agents.extend([agent(8, "lead", "Lena"), agent(9, "finder", "Fred")]);
    window.run_steps(3);
    let drawings = drawings(&window);
    let has_face = |name: &str| {
        let card = window.query_all_by_label_contains(name).next().expect("it has a card").rect();
        drawings.iter().any(|drawing| card.contains(drawing.center()))
    };
    assert!(has_face("Agent Lena") && has_face("Agent Fred"), "{drawings:?}");
    assert!(!has_face("Agent Writer") && !has_face("You, gave 1 task"), "{drawings:?}");
}

#[test]
fn clicks_select_agents_in_the_room_and_files() {
    let mut window = window(TestLog::sample());
    window.state_mut().room.agents.push(agent(9, "finder", "Fred"));
    window.run_steps(2);
    let chosen = |window: &Harness<'static, PaneHarness>| {
        let state = &window.state().state;
        (state.selection.things().iter().cloned().collect::<Vec<_>>(), state.selection.file().map(str::to_owned))
    };
    click(&mut window, "File text.md, by Writer");
    assert_eq!(chosen(&window), (vec![], Some("artifacts/text.md".to_owned())));
    click(&mut window, "Agent Fred, done, 700 tokens");
    assert_eq!(chosen(&window), (vec![RoomObject::Agent("finder".into())], None));
    // Agents that are not in the room are only chosen in the graph.
    click(&mut window, "Agent Writer, done, 700 tokens");
    assert_eq!(chosen(&window), (vec![], None));
    assert_eq!(pane(&window).chosen, pane(&window).model.agent("writer").map(Node::Agent));
    assert!(window.state().commands.is_empty());
}

#[test]
fn the_window_s_selection_shows_reads_and_writes() {
    let mut window = window(TestLog::sample());
    let arrows = |window: &Harness<'static, PaneHarness>| pane(window).drawn.1;
    let before = arrows(&window);
    assert_eq!(before, 4, "only the starts are shown");
    window.state_mut().room.agents.push(agent(9, "writer", "Willa"));
    window.state_mut().state.selection.select([RoomObject::Agent("writer".into())]);
    window.run_steps(2);
    assert_eq!(arrows(&window), before + 2);
    window.state_mut().state.selection.select([]);
    window.state_mut().state.selection.choose_file(Some("artifacts/found.md".to_owned()));
    window.run_steps(2);
    assert_eq!(arrows(&window), before + 2);
    window.state_mut().state.selection.choose_file(Some("no such file".to_owned()));
    window.run_steps(2);
    assert_eq!(arrows(&window), before);
    click(&mut window, "Show who read and wrote what");
    assert_eq!(arrows(&window), before + 4);
}

#[test]
fn double_clicks_and_enter_open_files() {
    let mut window = window(TestLog::sample());
    let opened = |window: &mut Harness<'static, PaneHarness>| {
        let path = |command: &Command| match command {
            Command::OpenFile(path, None) => path.clone(),
            other => format!("{other:?}"),
        };
        std::mem::take(&mut window.state_mut().commands).iter().map(path).collect::<Vec<_>>()
    };
    // Each step of a test takes longer than the double-click delay.
    window.ctx.options_mut(|options| options.input_options.max_double_click_delay = 9.0);
    let file = window.get_by_label("File text.md, by Writer");
    file.click();
    file.click();
    window.run_steps(2);
    assert_eq!(opened(&mut window), ["artifacts/text.md"]);
    window.get_by_label("Agent Finder, done, 700 tokens").focus();
    window.run_steps(2);
    press(&mut window, Key::Enter);
    assert_eq!(opened(&mut window), ["agents/finder.md"]);
    window.state_mut().room.files = vec!["agents/finder.mdx".to_owned()].into();
    press(&mut window, Key::Enter);
    assert_eq!(opened(&mut window), ["agents/finder.mdx"]);
}

#[test]
fn arrow_keys_focus_the_nearest_node_and_tab_the_next() {
    let mut window = window(TestLog::sample());
    window.get_by_label("You, gave 1 task").focus();
    window.run_steps(2);
    let focused = |window: &Harness<'static, PaneHarness>| {
        let pane = pane(window);
        match pane.focused {
            Some(Node::Agent(agent)) => pane.model.agents[agent].id.clone(),
            Some(Node::File(file)) => pane.model.files[file].path.to_string(),
            other => format!("{other:?}"),
        }
    };
    for (key, wanted) in [
        (Key::ArrowRight, "lead"),
        (Key::ArrowRight, "writer"),
        (Key::ArrowDown, "artifacts/text.md"),
        (Key::ArrowUp, "writer"),
        (Key::ArrowLeft, "lead"),
        (Key::ArrowLeft, "user"),
        (Key::ArrowLeft, "user"),
        (Key::Tab, "lead"),
    ] {
        press(&mut window, key);
        assert_eq!(focused(&window), wanted, "{key:?}");
    }
}

#[test]
fn work_can_be_stopped_paused_and_resumed() {
    let mut window = window(TestLog::sample());
    click(&mut window, "Stop all");
    assert!(work_commands(&window).is_empty(), "there is nothing to stop");
    window.state_mut().room.work.pieces = vec![piece(1, "lead", "thinking")];
    window.run_steps(2);
    click(&mut window, "Stop all");
    click(&mut window, "Pause work");
    window.state_mut().room.work.is_paused = true;
    window.run_steps(2);
    click(&mut window, "Resume work");
    assert_eq!(work_commands(&window), [KernelCommand::KillAll, KernelCommand::Pause, KernelCommand::Resume]);
}

#[test]
fn limits_are_sent_once_on_release() {
    let mut window = window(TestLog::sample());
    (window.state_mut().room.work.concurrency, window.state_mut().room.work.depth_at_most) = (3, 5);
    window.run_steps(2);
    window.get_by_role_and_label(Role::Slider, "In parallel").focus();
    window.run_steps(2);
    press(&mut window, Key::ArrowRight);
    let limits = |concurrency, depth_at_most| KernelCommand::Limits { concurrency, depth_at_most };
    assert_eq!(work_commands(&window), [limits(Some(4), None)]);
    let depth = window.get_by_role_and_label(Role::SpinButton, "Levels").rect();
    window.drag_at(depth.center());
    window.run_steps(1);
    for step in 1..=3 {
        window.hover_at(depth.center() + vec2(30.0 * step as f32, 0.0));
        window.run_steps(1);
    }
    assert_eq!(work_commands(&window).len(), 1, "nothing is sent during the drag");
    window.drop_at(depth.center() + vec2(90.0, 0.0));
    window.run_steps(2);
    let commands = work_commands(&window);
    assert_eq!(commands.len(), 2);
    assert!(
        matches!(commands[1], KernelCommand::Limits { concurrency: None, depth_at_most: Some(6..) }),
        "{commands:?}"
    );
    // Dragged back to its old value, nothing is sent.
    window.drag_at(depth.center());
    window.run_steps(1);
    window.drop_at(depth.center());
    window.run_steps(2);
    assert_eq!(work_commands(&window).len(), 2);
}

#[test]
fn finished_agents_collapse_into_their_parent() {
    let mut window = window(TestLog::sample());
    click(&mut window, "Collapse finished agents");
    run_until_laid_out(&mut window);
    window.get_by_label("Agent Lead, interrupted, 1.2 k tokens, 2 finished");
    assert!(window.query_by_label("Agent Finder, done, 700 tokens").is_none());
    assert!(window.query_by_label("File found.md, by Finder").is_none());
    window.get_by_label("Agent Checker, interrupted, 0 tokens");
    click(&mut window, "Collapse finished agents");
    run_until_laid_out(&mut window);
    window.get_by_label("Agent Finder, done, 700 tokens");
}

#[test]
fn an_agent_with_running_descendants_does_not_collapse() {
    let mut log = TestLog::new();
    let lead = ("lead", log.task("lead"));
    let middle = ("middle", log.spawn(lead, "middle", 1));
    let leaf = ("leaf", log.spawn(middle, "leaf", 2));
    for who in [lead, middle] {
        log.end_work(who, WorkOutcome::Completed, 10);
    }
    let folded = |log: &TestLog| {
        let mut model = Model::default();
        model.apply_events(&log.book, false, u64::MAX);
        let shown = VisibleGraph::of(&model, &ViewOptions { collapses_finished: true, ..ViewOptions::default() });
        shown.blocks.iter().map(|block| (model.agents[block.agent].id.clone(), block.folded)).collect::<Vec<_>>()
    };
    let all = [("user", 0), ("lead", 0), ("middle", 0), ("leaf", 0)].map(|(id, count)| (id.to_owned(), count));
    assert_eq!(folded(&log), all);
    log.end_work(leaf, WorkOutcome::Aborted, 10);
    assert_eq!(folded(&log), [("user".to_owned(), 3)]);
}

#[test]
fn earlier_runs_are_shown_on_request() {
    let mut log = TestLog::sample();
    log.run = "run-2".into();
    log.task("bram");
    let mut window = window(log);
    assert!(window.query_by_label_contains("Finder").is_none());
    click(&mut window, "Show earlier runs too");
    run_until_laid_out(&mut window);
    window.get_by_label("Agent Finder, done, 700 tokens");
    window.get_by_label_contains("Agent Bram");
}

#[test]
fn many_files_fold_until_unfolded() {
    let mut log = TestLog::new();
    let ada = ("ada", log.task("ada"));
    for number in 0..20 {
        log.writes(ada, &format!("notes/{number} {}.md", "größer ".repeat(30)), true);
    }
    let mut window = window(log);
    assert_eq!(window.query_all_by_label_contains("File ").count(), 5);
    click(&mut window, "15 more files of Ada");
    run_until_laid_out(&mut window);
    assert_eq!(window.query_all_by_label_contains("File ").count(), 20);
    assert!(window.query_by_label_contains("more files of").is_none());
    click(&mut window, "Show fewer files of Ada");
    run_until_laid_out(&mut window);
    window.get_by_label("15 more files of Ada");
}

#[test]
fn the_view_can_be_panned_zoomed_and_fitted() {
    let mut window = window(TestLog::sample());
    let fitted = pane(&window).view;
    let free = fitted.rect.center() + vec2(0.0, 500.0);
    window.hover_at(free);
    window.event(egui::Event::Zoom(0.5));
    window.run_steps(2);
    assert!(pane(&window).view.zoom < fitted.zoom * 0.6 && pane(&window).view.is_free);
    window.drag_at(free);
    window.run_steps(1);
    window.hover_at(free + vec2(-80.0, -50.0));
    window.run_steps(1);
    let moved = pane(&window).view.middle;
    assert!(moved.x > fitted.middle.x, "{moved:?}");
    window.drop_at(free + vec2(-80.0, -50.0));
    window.run_steps(2);
    press(&mut window, Key::F);
    assert!(pane(&window).view.is_free, "the pointer is elsewhere");
    window.hover_at(free);
    press(&mut window, Key::F);
    assert_eq!(pane(&window).view, fitted);
}

#[test]
fn an_unchanged_graph_is_not_laid_out_again() {
    let mut window = window(TestLog::sample());
    let requested = pane(&window).layouts.requested().cloned().expect("a layout was requested");
    let book = &mut window.state_mut().recent.book;
    let mut log = TestLog::sample();
    std::mem::swap(&mut log.book, book);
    log.model_call(("lead", 1), (5, 5));
    log.end_work(("lead", 1), WorkOutcome::Completed, 5_000);
    std::mem::swap(&mut log.book, &mut window.state_mut().recent.book);
    window.run_steps(3);
    window.get_by_label("Agent Lead, done, 5 k tokens");
    assert!(pane(&window).layouts.requested().is_some_and(|now| Arc::ptr_eq(now, &requested)));
}

#[test]
fn in_a_large_graph_only_visible_cards_are_drawn() {
    let mut log = TestLog::new();
    let lead = ("lead", log.task("lead"));
    for number in 0..1_000 {
        let name = format!("helper-{number}");
        let work = log.work(&name, Activation { by: "lead".into(), depth: Some(1), ..Activation::default() });
        for file in 0..10 {
            log.writes((name.as_str(), work), &format!("artifacts/{number}-{file}.md"), true);
        }
        for file in 0..30 {
            log.reads((name.as_str(), work), &format!("artifacts/{}-{}.md", number / 2, file % 10));
        }
    }
    log.end_work(lead, WorkOutcome::Completed, 1);
    assert!(log.book.count() > 90_000);
    let mut window = window(log);
    while window.state().parts.pane::<GraphPane>().model.agents.len() < 1_002 {
        window.step();
    }
    run_until_laid_out(&mut window);
    click(&mut window, "Show who read and wrote what");
    let shown = pane(&window).shown.clone();
    assert_eq!(shown.blocks.len(), 1_002);
    assert!(!pane(&window).view.is_free);
    click(&mut window, "Minimap of the graph");
    assert!(pane(&window).view.is_free, "the minimap moves the view");
    // At a legible zoom only a few cards fit on screen, and processed records are not visited again.
    let middle = pane(&window).view.middle;
    let view = &mut window.state_mut().parts.pane_mut::<GraphPane>().view;
    (view.zoom, view.middle, view.is_free) = (1.0, middle + vec2(60.0, 0.0), true);
    window.run_steps(3);
    let pane = pane(&window);
    assert!((1..400).contains(&pane.drawn.0), "{:?} of 7000 cards and 40000 arrows", pane.drawn);
    assert!(Arc::ptr_eq(&shown, &pane.shown), "nothing was recomputed");
}
