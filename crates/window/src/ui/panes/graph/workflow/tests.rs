//! Tests of running, answering and editing a workflow in its layer of the graph.

use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::base::RunTag;
use crate::orchestration::workflow::{RunKey, StepStatus};
use crate::ui::UiState;
use crate::ui::panes::graph::{GraphPane, graph_ui};
use crate::ui::testing::{PaneHarness, pane_of, sample_room};
use crate::view::workflows::{StepView, WorkflowsView};

const PATH: &str = "workflows/tea.md";

fn key() -> RunKey {
    RunKey::new(1, RunTag::of("r-1"))
}

fn stage(run: Option<RunView>) -> Harness<'static, PaneHarness> {
    let mut room = sample_room();
    let step = |id: &str, before: &[usize]| StepView {
        id: id.into(),
        who: "ada".into(),
        doer: StepAssignee::Agent("ada".into()),
        prompt: "Look".into(),
        outputs: vec!["found".into()],
        before: before.to_vec(),
        ..StepView::default()
    };
    let file = WorkflowView {
        path: PATH.into(),
        name: "Tea time".into(),
        trigger: "manual".into(),
        variables: vec![("topic".into(), "what it is about".into(), String::new())],
        steps: vec![step("look", &[]), step("write", &[0])],
        ..WorkflowView::default()
    };
    room.workflows = WorkflowsView { files: vec![file].into(), runs: run.into_iter().map(Arc::new).collect() }.into();
    let mut stage = PaneHarness::new(room, UiState::default());
    stage.parts.pane_mut::<GraphPane>().show_workflow(None, false);
    let window = pane_of(stage, |ui, cx, panes| graph_ui(ui, cx, panes.pane_mut::<GraphPane>()));
    window.ctx.all_styles_mut(|style| style.animation_time = 0.0);
    window
}

fn run(status: RunStatus, asked: Vec<AskedView>) -> RunView {
    let steps = vec![
        ("look".into(), StepStatus::Done, String::new(), None),
        ("write".into(), StepStatus::Failed, "no answer".into(), None),
    ];
    RunView { key: key(), file: PATH.into(), status, why: "step write failed".into(), result: None, steps, asked }
}

fn sent_commands(window: &Harness<'static, PaneHarness>) -> Vec<WorkflowCommand> {
    let of = |act: &RoomAct| match act {
        RoomAct::Workflow(command) => Some(command.clone()),
        _ => None,
    };
    let of = |command: &Command| match command {
        Command::Act(act, None) => of(act).into_iter().collect(),
        Command::Acts(acts) => acts.iter().filter_map(|(act, _)| of(act)).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    window.state().commands.iter().flat_map(of).collect()
}

#[test]
fn a_run_asks_for_its_variables_and_starts() {
    let mut window = stage(None);
    window.run();
    assert!(window.query_by_label("Step look, ada, not run yet").is_some());
    window.get_by_label("Run workflow").click();
    window.run();
    window.get_by_label("topic").focus();
    window.run();
    window.get_by_label("topic").type_text("tea");
    window.run();
    window.get_by_label("Run with these values").click();
    window.run();
    let variables = [("topic".to_owned(), "tea".to_owned())].into();
    assert_eq!(sent_commands(&window), [WorkflowCommand::Start { workflow: PATH.into(), variables }]);
}

#[test]
fn typing_after_run_fills_the_first_variable_and_enter_starts() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Run workflow").click();
    window.run();
    window.event(egui::Event::Text("tea".into()));
    window.run();
    window.key_press(egui::Key::Enter);
    window.run();
    let variables = [("topic".to_owned(), "tea".to_owned())].into();
    assert_eq!(sent_commands(&window), [WorkflowCommand::Start { workflow: PATH.into(), variables }]);
    assert!(window.query_by_label("Run with these values").is_none());
}

#[test]
fn step_statuses_are_shown_and_a_failed_run_can_be_resumed() {
    let mut window = stage(Some(run(RunStatus::Failed, Vec::new())));
    window.run();
    for label in ["Step look, ada, done", "Step write, ada, failed"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    window.get_by_label("Resume workflow").click();
    window.run();
    assert_eq!(sent_commands(&window), [WorkflowCommand::Resume { run: key(), state: None }]);
}

#[test]
fn a_step_s_question_can_be_answered() {
    let question = AskedView { step: "ok".into(), question: "Good?".into(), fields: Vec::new() };
    let mut window = stage(Some(run(RunStatus::Running, vec![question])));
    window.run();
    window.get_by_label("Approve").click();
    window.run();
    let answer = PersonAnswer::approval(true, "");
    assert_eq!(sent_commands(&window), [WorkflowCommand::Answer { run: key(), step: "ok".into(), answer }]);
}

#[test]
fn a_form_labels_its_fields_and_can_be_filled_in_or_declined() {
    let field = |name: &str, description: &str, kind: OutputKind| Output {
        name: name.into(),
        description: description.into(),
        kind,
        ..Output::default()
    };
    let fields = vec![
        field("audience", "Who it is for", OutputKind::Text),
        field("wide", "Announce it widely", OutputKind::YesNo),
        field("parts", "", OutputKind::List),
    ];
    let question = AskedView { step: "basics".into(), question: "What is it?".into(), fields };
    let mut window = stage(Some(run(RunStatus::Running, vec![question])));
    window.run();
    for label in ["audience: Who it is for", "wide: Announce it widely", "parts:"] {
        assert!(window.query_by_label(label).is_some(), "{label}");
    }
    window.get_by_label("Send answer").click();
    window.run();
    assert_eq!(sent_commands(&window), [], "nothing is filled in yet");
    for (label, text) in [("audience of basics", "Readers"), ("parts of basics", "one\ntwo")] {
        window.get_by_label(label).focus();
        window.run();
        window.get_by_label(label).type_text(text);
        window.run();
    }
    window.get_by_label("wide: No").click();
    window.run();
    window.get_by_label("Send answer").click();
    window.run();
    let fields = [("audience", "Readers"), ("wide", "no"), ("parts", "one\ntwo")];
    let fields = fields.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let answer = PersonAnswer { fields, ..PersonAnswer::default() };
    let given = WorkflowCommand::Answer { run: key(), step: "basics".into(), answer };
    assert_eq!(sent_commands(&window), std::slice::from_ref(&given));
    window.get_by_label("Decline").click();
    window.run();
    let answer = PersonAnswer::approval(false, "");
    assert_eq!(sent_commands(&window), [given, WorkflowCommand::Answer { run: key(), step: "basics".into(), answer }]);
}

#[test]
fn a_step_can_be_edited_in_the_side_panel() {
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
    let sent = sent_commands(&window);
    let WorkflowCommand::Edit { edit: WorkflowEdit::Set { step, key, text }, .. } = &sent[0] else {
        panic!("{sent:?}")
    };
    assert_eq!((step.as_str(), key.as_str()), ("write", "prompt"));
    assert!(text.contains("again"), "{text}");
    let removed = WorkflowEdit::RemoveStep { step: "write".into() };
    assert_eq!(sent[1], WorkflowCommand::Edit { path: PATH.into(), edit: removed });
}

/// Returns the center of the widget with this label.
fn middle(window: &Harness<'static, PaneHarness>, label: &str) -> egui::Pos2 {
    window.get_by_label(label).rect().center()
}

fn drag(window: &mut Harness<'static, PaneHarness>, from: egui::Pos2, to: egui::Pos2) {
    window.drag_at(from);
    window.step();
    for share in [0.3, 0.7, 1.0] {
        window.hover_at(from.lerp(to, share));
        window.step();
    }
    window.drop_at(to);
    window.run_steps(3);
}

#[test]
fn drawing_an_arrow_adds_a_dependency() {
    let mut window = stage(None);
    window.run();
    let (from, to) = (middle(&window, "Arrow from look"), middle(&window, "Step write, ada, not run yet"));
    drag(&mut window, from, to);
    let edit = WorkflowEdit::Depend { step: "write".into(), on: "look".into() };
    assert_eq!(sent_commands(&window), [WorkflowCommand::Edit { path: PATH.into(), edit }]);
    let (from, to) = (middle(&window, "Arrow from write"), from + egui::vec2(300.0, 300.0));
    drag(&mut window, from, to);
    assert_eq!(sent_commands(&window).len(), 1, "it ended nowhere");
}

#[test]
fn dropping_an_agent_adds_a_step() {
    let mut window = stage(None);
    window.run();
    let place = middle(&window, "The workflow");
    window.state_mut().state.transfer.dragging = Some(ShelfItem::Profile("bram".into()));
    drag(&mut window, place + egui::vec2(40.0, 200.0), place + egui::vec2(80.0, 220.0));
    let edit = WorkflowEdit::AddStep { doer: StepAssignee::Agent("bram".into()), after: None };
    assert_eq!(sent_commands(&window), [WorkflowCommand::Edit { path: PATH.into(), edit }]);
    assert_eq!(window.state().state.transfer.dragging, None);
}

#[test]
fn changes_saved_together_are_undone_together() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Step write, ada, not run yet").click();
    window.run();
    for (field, text) in [("Prompt", " more"), ("Outputs", ", words")] {
        window.get_by_label(field).focus();
        window.run();
        window.get_by_label(field).type_text(text);
        window.run();
    }
    window.get_by_label("Save step").click();
    window.run();
    let changes = window.state().commands.iter().filter(|command| matches!(command, Command::Acts(_))).count();
    assert_eq!((changes, sent_commands(&window).len()), (1, 2), "{:?}", sent_commands(&window));
    let outputs = WorkflowEdit::Outputs { step: "write".into(), names: vec!["found".into(), "words".into()] };
    assert!(sent_commands(&window).contains(&WorkflowCommand::Edit { path: PATH.into(), edit: outputs }));
}

#[test]
fn the_layer_can_be_chosen_and_runs_requested_elsewhere_start_here() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Layer").click();
    window.run();
    window.get_by_label("Agents").click();
    window.run();
    assert!(window.query_by_label("Run workflow").is_none());
    window.state_mut().parts.pane_mut::<GraphPane>().show_workflow(Some(PATH.into()), true);
    window.run();
    assert!(window.query_by_label("Run with these values").is_some(), "it asks for the variables");
    assert!(sent_commands(&window).is_empty());
}

/// Changes the steps of the shown workflow, as if its file had changed.
fn change_steps(window: &mut Harness<'static, PaneHarness>, change: impl Fn(&mut Vec<StepView>)) {
    let room = &mut window.state_mut().room;
    let mut views = (*room.workflows).clone();
    let mut files = (*views.files).clone();
    change(&mut files[0].steps);
    files[0].is_blank = files[0].steps.is_empty();
    views.files = files.into();
    room.workflows = views.into();
    window.run();
}

fn choose(window: &mut Harness<'static, PaneHarness>, list: &str, entry: &str) {
    window.get_by_label(list).click();
    window.run();
    window.get_by_label(entry).click();
    window.run();
}

#[test]
fn an_empty_workflow_shows_a_hint_and_an_added_step_is_chosen() {
    let mut window = stage(None);
    change_steps(&mut window, Vec::clear);
    assert!(window.query_by_label("No steps yet").is_some());
    choose(&mut window, "Add a step", "You approve");
    let doer = StepAssignee::Person(AnswerKind::Approval);
    let edit = WorkflowEdit::AddStep { doer: doer.clone(), after: None };
    assert_eq!(sent_commands(&window), [WorkflowCommand::Edit { path: PATH.into(), edit }]);
    change_steps(&mut window, |steps| {
        steps.push(StepView {
            id: "approval".into(),
            doer: StepAssignee::Person(AnswerKind::Approval),
            ..StepView::default()
        });
    });
    assert!(window.query_by_label("Remove step").is_some(), "the added step is chosen");
    window.state_mut().commands.clear();
    choose(&mut window, "Add a step", "You fill in a form");
    let doer = StepAssignee::Person(AnswerKind::Form);
    let edit = WorkflowEdit::AddStep { doer, after: Some("approval".into()) };
    assert_eq!(sent_commands(&window), [WorkflowCommand::Edit { path: PATH.into(), edit }]);
}

#[test]
fn a_renamed_step_stays_chosen() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Step look, ada, not run yet").click();
    window.run();
    window.get_by_label("Name").focus();
    window.run();
    window.get_by_label("Name").type_text("-again");
    window.run();
    window.get_by_label("Save step").click();
    window.run();
    let sent = sent_commands(&window);
    let [WorkflowCommand::Edit { edit: WorkflowEdit::Rename { step, to }, .. }] = &sent[..] else { panic!("{sent:?}") };
    assert!(step == "look" && to.contains("again"), "{sent:?}");
    let to = to.clone();
    change_steps(&mut window, move |steps| steps[0].id.clone_from(&to));
    assert!(window.query_by_label("Remove step").is_some());
}

#[test]
fn rare_keys_of_a_step_can_be_edited() {
    let mut window = stage(None);
    change_steps(&mut window, |steps| drop(steps[1].keys.insert("retry".into(), "1".into())));
    window.get_by_label("Step write, ada, not run yet").click();
    window.run();
    for (field, text) in [("Model", "small"), ("For each entry of a list", "{look.found} at most 3")] {
        window.get_by_label(field).focus();
        window.run();
        window.get_by_label(field).type_text(text);
        window.run();
    }
    window.get_by_label("Save step").click();
    window.run();
    let set = |key: &str, text: &str| {
        let edit = WorkflowEdit::Set { step: "write".into(), key: key.into(), text: text.into() };
        WorkflowCommand::Edit { path: PATH.into(), edit }
    };
    assert_eq!(sent_commands(&window), [set("for_each", "{look.found} at most 3"), set("model", "small")]);
    window.state_mut().commands.clear();
    choose(&mut window, "Done by", "You fill in a form");
    assert!(window.query_by_label("Model").is_some(), "a value without effect can be removed");
    window.get_by_label("Save step").click();
    window.run();
    let doer = StepAssignee::Person(AnswerKind::Form);
    let edit = WorkflowEdit::Assign { step: "write".into(), doer };
    assert_eq!(sent_commands(&window)[0], WorkflowCommand::Edit { path: PATH.into(), edit });
}

#[test]
fn a_step_can_be_another_workflow_with_its_variables() {
    let mut window = stage(None);
    let room = &mut window.state_mut().room;
    let mut views = (*room.workflows).clone();
    let mut files = (*views.files).clone();
    files.push(WorkflowView { path: "workflows/inner.md".into(), name: "Inner".into(), ..files[0].clone() });
    views.files = files.into();
    room.workflows = views.into();
    window.run();
    window.get_by_label("Step write, ada, not run yet").click();
    window.run();
    choose(&mut window, "Done by", "Another workflow");
    choose(&mut window, "Workflow", "Inner");
    window.get_by_label("topic").focus();
    window.run();
    window.get_by_label("topic").type_text("{look.found}");
    window.run();
    window.get_by_label("Save step").click();
    window.run();
    let edit = |edit: WorkflowEdit| WorkflowCommand::Edit { path: PATH.into(), edit };
    let doer = StepAssignee::Workflow("inner".into());
    let variables = [("topic".to_owned(), "{look.found}".to_owned())].into();
    let expected = [
        edit(WorkflowEdit::Assign { step: "write".into(), doer }),
        edit(WorkflowEdit::With { step: "write".into(), variables }),
    ];
    assert_eq!(sent_commands(&window), expected);
}

#[test]
fn the_details_of_a_workflow_can_be_edited() {
    let mut window = stage(None);
    window.run();
    window.get_by_label("Details").click();
    window.run();
    window.get_by_label("Purpose").focus();
    window.run();
    window.get_by_label("Purpose").type_text("Tea for all");
    window.run();
    window.get_by_label("Save details").click();
    window.run();
    let edit = WorkflowEdit::SetOwn { key: "description".into(), text: "Tea for all".into() };
    assert_eq!(sent_commands(&window), [WorkflowCommand::Edit { path: PATH.into(), edit }]);
}
