//! A person runs a workflow, answers it and changes it where it is drawn.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::base::RunTag;
use crate::orchestration::workflow::{RunKey, StepStatus};
use crate::ui::UiState;
use crate::ui::testing::{Stage, pane_of, sample_room};
use crate::view::workflows::{StepView, WorkflowsView};

const PATH: &str = "workflows/tea.md";

fn key() -> RunKey {
    RunKey::new(1, RunTag::of("r-1"))
}

fn stage(run: Option<RunView>) -> Harness<'static, Stage> {
    let mut room = sample_room();
    let step = |id: &str, before: &[usize]| StepView {
        id: id.into(),
        who: "ada".into(),
        agent: "ada".into(),
        prompt: "Look".into(),
        outputs: vec!["found".into()],
        when: String::new(),
        before: before.to_vec(),
    };
    let file = WorkflowView {
        path: PATH.into(),
        name: "Tea time".into(),
        trigger: "manual".into(),
        problems: Vec::new(),
        variables: vec![("topic".into(), "what it is about".into(), String::new())],
        steps: vec![step("look", &[]), step("write", &[0])],
    };
    room.workflows = WorkflowsView { files: vec![file], runs: run.into_iter().collect() }.into();
    let pane = std::cell::RefCell::new(WorkflowsPane::default());
    pane_of(Stage::new(room, UiState::default()), move |ui, cx, _| pane.borrow_mut().show(ui, cx))
}

fn run(status: RunStatus, asked: Vec<AskedView>) -> RunView {
    let steps = vec![
        ("look".into(), StepStatus::Done, String::new(), None),
        ("write".into(), StepStatus::Failed, "no answer".into(), None),
    ];
    RunView { key: key(), file: PATH.into(), status, why: "step write failed".into(), result: None, steps, asked }
}

fn asked(window: &Harness<'static, Stage>) -> Vec<WorkflowCommand> {
    let of = |command: &Command| match command {
        Command::Act(RoomAct::Workflow(command), None) => Some(command.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(of).collect()
}

#[test]
fn a_run_is_asked_what_it_is_about_and_begins() {
    let mut window = stage(None);
    window.run();
    assert!(window.query_by_label("Step look, ada, not run yet").is_some());
    window.get_by_label("Run workflow").click();
    window.run();
    window.get_by_label("topic").focus();
    window.run();
    window.get_by_label("topic").type_text("tea");
    window.run();
    window.get_by_label("Run with these").click();
    window.run();
    let variables = [("topic".to_owned(), "tea".to_owned())].into();
    assert_eq!(asked(&window), [WorkflowCommand::Start { workflow: PATH.into(), variables }]);
}

#[test]
fn what_steps_are_at_is_seen_and_a_failed_run_goes_on() {
    let mut window = stage(Some(run(RunStatus::Failed, Vec::new())));
    window.run();
    for label in ["Step look, ada, done", "Step write, ada, failed"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    window.get_by_label("Resume workflow").click();
    window.run();
    assert_eq!(asked(&window), [WorkflowCommand::Resume { run: key(), state: None }]);
}

#[test]
fn a_step_that_asks_is_answered() {
    let question = AskedView { step: "ok".into(), question: "Good?".into(), fields: Vec::new() };
    let mut window = stage(Some(run(RunStatus::Running, vec![question])));
    window.run();
    window.get_by_label("Approve").click();
    window.run();
    let answer = PersonAnswer::approval(true, "");
    assert_eq!(asked(&window), [WorkflowCommand::Answer { run: key(), step: "ok".into(), answer }]);
}

#[test]
fn a_step_is_changed_beside_the_drawing() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Step write, ada, not run yet").click();
    window.run();
    window.get_by_label("Prompt").focus();
    window.run();
    window.get_by_label("Prompt").type_text(" again");
    window.run();
    window.get_by_label("Save step").click();
    window.run();
    window.get_by_label("Remove step").click();
    window.run();
    let told = asked(&window);
    let WorkflowCommand::Edit { edit: WorkflowEdit::Set { step, key, text }, .. } = &told[0] else {
        panic!("{told:?}")
    };
    assert_eq!((step.as_str(), key.as_str()), ("write", "prompt"));
    assert!(text.contains("again"), "{text}");
    let removed = WorkflowEdit::RemoveStep { step: "write".into() };
    assert_eq!(told[1], WorkflowCommand::Edit { path: PATH.into(), edit: removed });
}

#[test]
fn steps_stand_to_the_right_of_what_comes_before_them() {
    let step = |before: &[usize]| StepView { before: before.to_vec(), ..StepView::default() };
    let steps = [step(&[]), step(&[0]), step(&[0]), step(&[1, 2]), step(&[])];
    assert_eq!(drawing::places(&steps), [(0, 0), (1, 0), (1, 1), (2, 0), (0, 1)]);
    let circle = [step(&[1]), step(&[0])];
    assert_eq!(drawing::places(&circle).len(), 2);
}
