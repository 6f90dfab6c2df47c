//! Workflows in a room: steps run in order and pass on their outputs, survive restarts, and every change to agents and
//! files is logged.

use std::collections::BTreeMap;

use agent_workshop::agent::AgentCommand;
use agent_workshop::base::Seq;
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::learning::Lessons;
use agent_workshop::orchestration::workflow::{
    PersonAnswer, Run, RunStatus, StepStatus, WorkflowCommand, WorkflowRuns,
};
use agent_workshop::schedule::InputJournal;
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::workflow_templates;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_pipeline_passes_outputs_to_later_steps,
        steps_use_agents_of_the_room_and_add_missing_ones,
        a_pipeline_has_the_same_result_if_the_room_is_killed_at_every_tick,
        every_template_has_the_same_result_if_the_room_is_killed_at_every_tick,
        every_kind_of_step_has_the_same_result_if_the_room_is_killed_in_between,
        a_run_with_a_workflow_replays,
        editing_the_file_does_not_change_a_run_in_progress,
        a_step_whose_agent_leaves_or_is_renamed_fails_with_a_reason,
        a_step_without_its_required_output_is_retried_once,
        a_review_is_repeated_until_it_is_approved,
        a_person_answers_a_step,
        a_person_stops_all_work_and_a_run_continues_later,
        invalid_workflows_and_missing_variables_are_reported_before_anything_runs,
        triggers_start_workflows_up_to_a_limit_per_hour,
        a_nested_workflow_runs,
        every_template_completes_with_the_offline_brain,
        every_template_completes_with_a_script,
        a_workflow_run_from_the_command_line_saves_one_result,
        a_failed_run_resumes_from_its_file,
        a_run_that_hits_a_limit_exits_with_3,
        a_persons_step_is_answered_once_through_approvals,
        a_persons_step_is_answered_from_outside_while_the_room_runs,
        an_agent_walks_over_to_the_agent_whose_output_it_continues_from,
        each_participant_gets_one_memory_of_the_whole_run,
        one_lesson_is_learned_from_a_whole_run,
    ]
}

const SCENE: &str =
    "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: researcher-1, profile: researcher, position: [0, 0] }\n";

/// The workflow of the reference documentation, unchanged.
const PIPELINE: &str = include_str!("../../crates/work/src/orchestration/workflow/fixtures/research-pipeline.md");

const SCRIPT: &str = "latency: 0.2
agents:
  researcher:
    - when: { contains: \"Research tea\" }
      repeat: true
      tools: [ { name: give_output, arguments: { name: findings, value: it is hot } } ]
    - { when: { contains: \"Noted: findings\" }, repeat: true, text: I looked at it. }
  reviewer:
    - { when: { contains: \"accuracy: “it is hot”\" }, repeat: true, text: \"Fine.\\n```outputs\\nreview_report: all true\\n```\" }
  writer:
    - { when: { contains: \"addressing: “all true”\" }, repeat: true, text: Tea is hot. }
    - { when: { contains: \"say that all is true\" }, repeat: true, text: Tea is hot. }
default:
  - text: I do not know.
";

fn setup(script: &str) -> Setup {
    let setup = Setup::scene(SCENE).script(script).file("workflows/research-pipeline.md", PIPELINE);
    ["researcher", "reviewer", "writer"].iter().fold(setup, |setup, id| setup.profile(id, "You work.\n"))
}

fn vars(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn start(room: &mut Workshop, workflow: &str, variables: &[(&str, &str)]) {
    room.push(WorkflowCommand::Start { workflow: workflow.into(), variables: vars(variables) });
}

fn run(room: &mut Workshop) -> Run {
    room.world().resource::<WorkflowRuns>().iter().last().expect("a run has started").clone()
}

/// Runs until the newest run of the workflow has ended.
fn run_to_end(room: &mut Workshop) -> Run {
    for _ in 0..6_000 {
        room.tick();
        if room.world().resource::<WorkflowRuns>().iter().last().is_some_and(|run| !run.is_running()) {
            return run(room);
        }
    }
    panic!("the workflow does not end: {:#?}", step_log(room));
}

fn status(run: &Run, step: &str) -> (StepStatus, String) {
    let state = &run.steps[run.plan.places[step]];
    (state.status, state.why.clone())
}

/// Returns the status changes of steps as lines: step, new status and reason.
fn step_log(room: &Workshop) -> Vec<String> {
    let describe = |event: &&serde_json::Value| {
        let data = &event["data"];
        let why = data["why"].as_str().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{} {}{why}", data["step"].as_str().unwrap_or_default(), data["to"].as_str().unwrap_or_default())
    };
    room.events("workflow_step").iter().map(describe).collect()
}

fn a_pipeline_passes_outputs_to_later_steps() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "workflows/research-pipeline.md", &[("topic", "tea")]);
    let run = run_to_end(&mut room);
    assert_eq!((run.status, run.result_text().as_str()), (RunStatus::Done, "Tea is hot."), "{:#?}", step_log(&room));
    assert_eq!(
        step_log(&room),
        [
            " started",
            "research running",
            "research done",
            "review running",
            "review done",
            "synthesize running",
            "synthesize done",
            " done"
        ]
    );
    assert_eq!(room.events("activation").len(), 3);
    assert_eq!(room.events("complete").len(), 3);
    assert!(room.events("warning").is_empty() && room.events("error").is_empty(), "{:#?}", room.events("warning"));
    // The start of the run is the cause of every activation.
    let began = room.events("workflow_step")[0]["seq"].clone();
    assert!(room.events("activation").iter().all(|event| event["cause"] == began));
    for _ in 0..5 {
        room.tick();
    }
    assert!(room.world().resource::<Kernel>().threads().next().is_none(), "no session is kept once the run is over");
    assert!(
        run.result
            .or(self::run(&mut room).result)
            .is_some_and(|path| path.starts_with("artifacts/research-pipeline-wf-1"))
    );
}

fn steps_use_agents_of_the_room_and_add_missing_ones() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    run_to_end(&mut room);
    let by: Vec<&str> = room.events("activation").iter().map(|event| event["agent"].as_str().unwrap()).collect();
    assert_eq!(by, ["researcher-1", "reviewer", "writer"]);
    let came: Vec<&str> = room.events("agent_added").iter().map(|event| event["agent"].as_str().unwrap()).collect();
    assert_eq!(came, ["researcher-1", "reviewer", "writer"]);
}

fn a_pipeline_has_the_same_result_if_the_room_is_killed_at_every_tick() {
    let mut whole = setup(SCRIPT).open();
    start(&mut whole, "research-pipeline", &[("topic", "tea")]);
    let run = run_to_end(&mut whole);
    let ticks = whole.now();
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    let mut step_changes = Vec::new();
    for _ in 0..ticks {
        room.tick();
        step_changes.extend(step_log(&room));
        // A reopened room has exactly what was saved of the run.
        room = room.reopened();
    }
    assert_eq!(step_changes, step_log(&whole));
    assert_eq!(self::run(&mut room), run);
    assert_eq!(
        step_changes.iter().filter(|step_changes| step_changes.ends_with("done")).count(),
        4,
        "no step ran twice"
    );
}

fn a_run_with_a_workflow_replays() {
    let mut live = setup(SCRIPT).open();
    start(&mut live, "research-pipeline", &[("topic", "tea")]);
    live.advance(60.0);
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    again.advance(60.0);
    again.assert_same_world(&mut live);
    assert_eq!(again.log().len(), live.log().len());
}

fn editing_the_file_does_not_change_a_run_in_progress() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.until(30.0, "workflow_step", |event| event["data"]["step"] == "review");
    room.edit("workflows/research-pipeline.md", "---\nsteps:\n  - { id: other, agent: writer, prompt: no }\n---\n");
    assert_eq!(run_to_end(&mut room).result_text(), "Tea is hot.");
    room.push(FileChanged::new("workflows/research-pipeline.md", FileContent::Removed));
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.tick();
    assert!(room.events("warning").iter().any(|event| event["data"]["what"].as_str().unwrap().contains("no workflow")));
}

fn a_step_whose_agent_leaves_or_is_renamed_fails_with_a_reason() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.until(30.0, "workflow_step", |event| event["data"]["step"] == "research" && event["data"]["to"] == "running");
    room.push(AgentCommand::Remove { agent: "researcher-1".into() });
    let run = run_to_end(&mut room);
    assert_eq!(status(&run, "research"), (StepStatus::Failed, "the agent left the room".into()));
    assert_eq!(status(&run, "synthesize").0, StepStatus::Skipped);

    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.until(30.0, "workflow_step", |event| event["data"]["step"] == "research" && event["data"]["to"] == "running");
    room.push(FileChanged::new("agents/reviewer.md", FileContent::Removed));
    room.edit("agents/examiner.md", "You work otherwise.\n");
    let run = run_to_end(&mut room);
    let (reviewed, why) = status(&run, "review");
    assert!(reviewed == StepStatus::Failed && why.contains("no such agent or profile: \"reviewer\""), "{why}");
    assert_eq!(status(&run, "research").0, StepStatus::Done, "finished steps are kept");
    // A person corrects the file, and the run continues with the remaining steps.
    room.edit("agents/reviewer.md", "You work.\n");
    room.push(WorkflowCommand::Resume { run: run.key, state: None });
    room.tick();
    assert_eq!(run_to_end(&mut room).result_text(), "Tea is hot.");
    assert_eq!(room.events("activation").iter().filter(|event| event["agent"] == "researcher-1").count(), 1);
}

fn a_step_without_its_required_output_is_retried_once() {
    let script = "latency: 0.1\nagents:\n  researcher:\n    - text: I looked.\n    - { when: { contains: findings is missing }, text: \"findings: it is hot\" }\n  reviewer: [ { text: Hm., repeat: true } ]\n";
    let mut room = setup(script).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    let run = run_to_end(&mut room);
    assert_eq!(status(&run, "research").0, StepStatus::Done);
    let (reviewed, why) = status(&run, "review");
    assert!(reviewed == StepStatus::Failed && why.contains("review_report is missing"), "{why}");
    assert_eq!(room.events("activation").len(), 4, "each step is retried once: {:#?}", step_log(&room));
    assert_eq!((run.status, run.why.as_str()), (RunStatus::Failed, "step review failed"));
}

const LOOP: &str = "---
steps:
  - id: draft
    agent: writer
    prompt: \"Draft {round}: {review.notes}\"
    outputs: [text]
    repeat_until: {review.approved} at most 3
  - id: review
    agent: reviewer
    prompt: \"Review {draft.text}\"
    depends_on: [draft]
    outputs: [approved, notes]
---
";

fn a_review_is_repeated_until_it_is_approved() {
    let script = "latency: 0.1\nagents:\n  writer:\n    - { when: { contains: \"draft 1:\" }, text: \"text: short\" }\n    - { when: { contains: \"draft 2: longer\" }, text: \"text: a long one\" }\n  reviewer:\n    - { when: { contains: review short }, text: \"approved: no\\nnotes: longer\" }\n    - { when: { contains: review “a long one” }, text: \"approved: yes\\nnotes: good\" }\n";
    let mut room = setup(script).file("workflows/loop.md", LOOP).open();
    start(&mut room, "loop", &[]);
    let run = run_to_end(&mut room);
    assert_eq!(run.status, RunStatus::Done, "{:#?}", step_log(&room));
    assert_eq!(run.steps[0].round, 2);
    assert_eq!(room.events("activation").len(), 4);
}

fn a_person_answers_a_step() {
    let workflow = "---\nsteps:\n  - { id: ok, person: approval, prompt: \"Is {topic} good?\" }\n  - { id: write, agent: writer, prompt: \"Write: {ok.comment}\", depends_on: [ok] }\n---\n";
    let script = "latency: 0.1\nagents:\n  writer:\n    - { when: { contains: \"write: short\" }, text: Done. }\n";
    let mut room = setup(script).file("workflows/ask.md", workflow).open();
    start(&mut room, "ask", &[("topic", "tea")]);
    room.advance(5.0);
    let asking_run = run(&mut room);
    assert_eq!(status(&asking_run, "ok").0, StepStatus::Asked);
    assert!(step_log(&room).contains(&"ok asked: Is tea good?".to_owned()), "{:#?}", step_log(&room));
    let answer = PersonAnswer::approval(true, "short");
    room.push(WorkflowCommand::Answer { run: asking_run.key, step: "ok".into(), answer: answer.clone() });
    room.push(WorkflowCommand::Answer { run: asking_run.key, step: "ok".into(), answer });
    assert_eq!(run_to_end(&mut room).result_text(), "Done.");
    assert_eq!(room.events("warning").len(), 1, "the second answer causes a warning");
}

fn a_person_stops_all_work_and_a_run_continues_later() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.until(30.0, "workflow_step", |event| event["data"]["step"] == "review" && event["data"]["to"] == "running");
    room.push(KernelCommand::KillAll);
    room.advance(2.0);
    let stopped = run(&mut room);
    assert_eq!(stopped.status, RunStatus::Stopped, "{:#?}", step_log(&room));
    assert!(room.world().resource::<Kernel>().is_idle());
    room.push(KernelCommand::Resume);
    room.advance(2.0);
    assert_eq!(run(&mut room).status, RunStatus::Stopped, "the run waits until a person resumes it");
    room.push(WorkflowCommand::Resume { run: stopped.key, state: None });
    room.tick();
    let run = run_to_end(&mut room);
    assert_eq!((run.status, run.result_text().as_str()), (RunStatus::Done, "Tea is hot."), "{:#?}", step_log(&room));
}

fn invalid_workflows_and_missing_variables_are_reported_before_anything_runs() {
    let circle = "---\nsteps:\n  - { id: a, agent: writer, prompt: x, depends_on: [b] }\n  - { id: b, agent: writer, prompt: x, depends_on: [a] }\n---\n";
    let itself = "---\nsteps:\n  - { id: a, workflow: itself }\n---\n";
    let setup = setup(SCRIPT).file("workflows/circle.md", circle).file("workflows/itself.md", itself);
    let mut room = setup.open();
    for (workflow, part) in [
        ("research-pipeline", "topic has no value"),
        ("circle", "in a circle: "),
        ("itself", "includes itself: workflows/itself.md → workflows/itself.md"),
        ("nowhere", "there is no workflow \"nowhere\""),
    ] {
        start(&mut room, workflow, &[]);
        room.tick();
        let warnings: Vec<&str> =
            room.events("warning").iter().map(|event| event["data"]["what"].as_str().unwrap()).collect();
        assert!(warnings.iter().any(|warnings| warnings.contains(part)), "{part} in {warnings:?}");
    }
    room.advance(1.0);
    assert!(room.events("activation").is_empty() && room.events("workflow_step").is_empty());
}

fn triggers_start_workflows_up_to_a_limit_per_hour() {
    let every = "---\ntrigger: every 5s\nsteps:\n  - { id: a, agent: writer, prompt: look }\n---\n";
    let change = "---\ntrigger: on change of boards/*.md\nsteps:\n  - { id: a, agent: reviewer, prompt: look }\n---\n";
    let script = "latency: 0.1\ndefault: [ { text: Looked. } ]\n";
    let settings = "workflow: { max_triggered_per_hour: 3 }\n";
    let setup = setup(script).file("workflows/every.md", every).file("workflows/change.md", change);
    let mut room = setup.file("settings.yaml", settings).open();
    room.advance(12.0);
    let run_count = |room: &mut Workshop, file: &str| {
        room.world().resource::<WorkflowRuns>().iter().filter(|run| run.file == file).count()
    };
    assert_eq!(run_count(&mut room, "workflows/every.md"), 2);
    assert_eq!(run_count(&mut room, "workflows/change.md"), 0);
    room.edit("boards/a.md", "x");
    room.advance(2.0);
    assert_eq!(run_count(&mut room, "workflows/change.md"), 1);
    assert!(run(&mut room).by.contains("boards/a.md changed"));
    room.advance(60.0);
    assert_eq!(run_count(&mut room, "workflows/every.md"), 3);
    let warnings: Vec<&str> =
        room.events("warning").iter().map(|event| event["data"]["what"].as_str().unwrap()).collect();
    assert_eq!(warnings.iter().filter(|warnings| warnings.contains("3 times in an hour")).count(), 1, "{warnings:?}");
}

fn a_nested_workflow_runs() {
    let outer = "---\nsteps:\n  - { id: all, workflow: research-pipeline, with: { topic: \"{what}\" }, outputs: [findings] }\n  - { id: end, agent: writer, prompt: \"Say that all is true: {all.findings}\", depends_on: [all] }\n---\n";
    let mut room = setup(SCRIPT).file("workflows/outer.md", outer).open();
    start(&mut room, "outer", &[("what", "tea")]);
    let run = run_to_end(&mut room);
    assert_eq!((run.status, run.result_text().as_str()), (RunStatus::Done, "Tea is hot."), "{:#?}", step_log(&room));
    assert!(step_log(&room).contains(&"all/review done".to_owned()), "{:#?}", step_log(&room));
}

/// Every answer provides all outputs that the templates ask for.
const SCRIPT_OF_TEMPLATES: &str = "latency: 0.1\ndefault:\n  - text: |\n      Done.\n      ```outputs\n      findings: f\n      text: t\n      parts: [one, two]\n      report: r\n      case: c\n      answer: a\n      verdict: v\n      why: w\n      approved: yes\n      comments: fine\n      ```\n";

/// Returns the status, round and outputs of each step of a run.
fn outcomes(run: &Run) -> Vec<String> {
    let steps = run.steps.iter().enumerate();
    steps.map(|(at, step)| format!("{at} {:?} {} {:?}", step.status, step.round, step.outputs)).collect()
}

fn every_template_has_the_same_result_if_the_room_is_killed_at_every_tick() {
    let variables = [("topic", "the night market"), ("question", "Should the market stay?")];
    for template in workflow_templates::all() {
        let open = || {
            let setup = Setup::starter_kit().script(SCRIPT_OF_TEMPLATES).file(&template.path(), template.text);
            let mut room = setup.open_scene("newsroom");
            start(&mut room, template.name, &variables);
            room
        };
        let mut whole = open();
        let run = run_to_end(&mut whole);
        assert_eq!(run.status, RunStatus::Done, "{}: {}", template.name, run.why);
        let (mut room, mut step_changes) = (open(), Vec::new());
        for _ in 0..6_000 {
            room.tick();
            step_changes.extend(step_log(&room));
            room = room.reopened();
            if room.world().resource::<WorkflowRuns>().iter().last().is_some_and(|run| !run.is_running()) {
                break;
            }
        }
        let ended = self::run(&mut room);
        assert_eq!((ended.status, outcomes(&ended)), (run.status, outcomes(&run)), "{}", template.name);
        let done = |step_changes: &[String]| {
            let mut done: Vec<String> =
                step_changes.iter().filter(|step_changes| step_changes.ends_with(" done")).cloned().collect();
            done.sort();
            done
        };
        assert_eq!(done(&step_changes), done(&step_log(&whole)), "{}: each step ran once", template.name);
    }
}

/// A workflow with every kind of step and every key that a step can have.
const EVERYTHING: &str = "---
steps:
  - { id: plan, agent: writer, prompt: Plan, outputs: [parts], max_turns: 5 }
  - { id: dig, agent: researcher, prompt: \"Dig {item} ({index})\", for_each: \"{plan.parts} at most 3\", depends_on: [plan], outputs: [findings], retry: 1 }
  - { id: ok, person: approval, prompt: \"Is it good? {dig.findings}\", depends_on: [dig] }
  - { id: inner, workflow: research-pipeline, with: { topic: \"{plan.parts}\" }, outputs: [findings], depends_on: [ok], when: \"{ok.approved}\" }
  - { id: draft, agent: writer, prompt: \"Draft {inner.findings} {round}\", depends_on: [inner], outputs: [text], repeat_until: \"{judge.approved} at most 2\" }
  - { id: judge, agent: reviewer, prompt: \"Judge {draft.text}\", depends_on: [draft], outputs: [approved] }
  - { id: refused, agent: writer, prompt: Ask again, depends_on: [ok], when: \"not {ok.approved}\" }
---
";

const SCRIPT_OF_EVERYTHING: &str = "latency: 0.1\ndefault:\n  - text: |\n      Done.\n      ```outputs\n      parts: [one, two]\n      findings: f\n      review_report: r\n      text: t\n      approved: no\n      ```\n";

/// Approves every pending question of the newest run.
fn approve_pending(room: &mut Workshop) {
    let run = run(room);
    for at in run.asked() {
        let (step, answer) = (run.plan.steps[at].id.clone(), PersonAnswer::approval(true, "fine"));
        room.push(WorkflowCommand::Answer { run: run.key, step, answer });
    }
}

fn every_kind_of_step_has_the_same_result_if_the_room_is_killed_in_between() {
    let is_over = |room: &mut Workshop| !run(room).is_running();
    let open = || {
        let mut room = setup(SCRIPT_OF_EVERYTHING).file("workflows/everything.md", EVERYTHING).open();
        start(&mut room, "everything", &[]);
        room.tick();
        room
    };
    let mut whole = open();
    for _ in 0..6_000 {
        whole.tick();
        approve_pending(&mut whole);
        if is_over(&mut whole) {
            break;
        }
    }
    let run = run(&mut whole);
    assert_eq!(run.status, RunStatus::Done, "{}: {:#?}", run.why, step_log(&whole));
    assert_eq!((status(&run, "refused").0, status(&run, "draft").0), (StepStatus::Skipped, StepStatus::Done));
    assert_eq!((run.steps[run.plan.places["draft"]].round, run.steps[run.plan.places["dig"]].parts.len()), (2, 2));
    assert!(status(&run, "draft").1.contains("after 2 rounds"), "{:#?}", step_log(&whole));
    let (mut room, mut step_changes) = (open(), Vec::new());
    for tick in 0..6_000 {
        room.tick();
        if is_over(&mut room) {
            break;
        }
        // The room is killed after every status change, and every five ticks.
        if !step_log(&room).is_empty() || tick % 5 == 0 {
            step_changes.extend(step_log(&room));
            room = room.reopened();
        }
        approve_pending(&mut room);
    }
    step_changes.extend(step_log(&room));
    let ended = self::run(&mut room);
    assert_eq!((ended.status, outcomes(&ended)), (run.status, outcomes(&run)), "{step_changes:#?}");
    let done = |step_changes: &[String]| {
        let mut done: Vec<String> =
            step_changes.iter().filter(|step_changes| step_changes.contains(" done")).cloned().collect();
        done.sort();
        done
    };
    assert_eq!(done(&step_changes), done(&step_log(&whole)), "each step ran once");
}

fn templates_run(setup: impl Fn() -> Setup) -> BTreeMap<&'static str, Run> {
    let runs = workflow_templates::all().into_iter().map(|template| {
        let mut room = setup().file(&template.path(), template.text).open_scene("newsroom");
        start(&mut room, template.name, &[("topic", "the night market"), ("question", "Should the market stay?")]);
        let run = run_to_end(&mut room);
        assert_eq!(run.status, RunStatus::Done, "{}: {} {:#?}", template.name, run.why, step_log(&room));
        assert!(run.steps.iter().all(|state| state.status == StepStatus::Done), "{}", template.name);
        (template.name, run)
    });
    runs.collect()
}

fn every_template_completes_with_the_offline_brain() {
    let runs = templates_run(|| Setup::starter_kit().provider("offline"));
    let review = &runs["review-loop"];
    assert_eq!(review.steps[0].round, 2, "the first draft is sent back once");
    let parts = runs["fan-out"].steps[1].parts.len();
    assert!(parts > 1, "the step runs for each of {parts} parts");
}

fn every_template_completes_with_a_script() {
    let runs = templates_run(|| Setup::starter_kit().script(SCRIPT_OF_TEMPLATES));
    assert_eq!(runs["review-loop"].steps[0].round, 1);
    assert_eq!(runs["fan-out"].steps[1].parts.len(), 2);
}

/// Creates a workspace on disk with the pipeline. Returns its folder and the scripted provider.
fn on_disk() -> (tempfile::TempDir, String) {
    on_disk_with("workflows/research-pipeline.md", PIPELINE, SCRIPT)
}

/// Creates a workspace on disk with this workflow. Returns its folder and the scripted provider.
fn on_disk_with(path: &str, workflow: &str, script: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let agents = ["researcher", "reviewer", "writer"].map(|id| (format!("agents/{id}.md"), "You work.\n"));
    let files = [("settings.yaml", ""), ("scenes/test.yaml", SCENE), (path, workflow)];
    let files = files.map(|(path, text)| (path.to_owned(), text)).into_iter().chain(agents);
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let provider = format!("scripted:{}", crate::workshop::script_file(script).display());
    (folder, provider)
}

fn workshop(folder: &std::path::Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_workshop"));
    let output = command.args(arguments).current_dir(folder).env("WORKSHOP_TRUST", "1").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn a_workflow_run_from_the_command_line_saves_one_result() {
    let (folder, provider) = on_disk();
    let workshop = |arguments: &[&str]| self::workshop(folder.path(), arguments);
    let (code, stdout, _) = workshop(&["workflow", "list"]);
    assert_eq!((code, stdout.as_str()), (0, "workflows/research-pipeline.md  Research Pipeline (3 steps, manual)\n"));
    assert_eq!(workshop(&["workflow", "check"]).0, 0);
    let run = ["workflow", "run", "research-pipeline", "--provider", &provider];
    let (code, _, stderr) = workshop(&run);
    assert!(code == 2 && stderr.contains("--var topic=…"), "{stderr}");
    let (code, stdout, stderr) = workshop(&[&run[..], &["--var", "topic=tea", "--json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((report["ended"].as_str(), report["result"].as_str()), (Some("done"), Some("Tea is hot.")), "{report}");
    let files = report["files_changed"].as_array().unwrap();
    let result = files.iter().find_map(|file| file["path"].as_str().filter(|path| path.starts_with("artifacts/")));
    let text = std::fs::read_to_string(folder.path().join(result.expect("there is a result"))).unwrap();
    for part in ["# Research Pipeline", "- topic: tea", "## research", "it is hot", "## synthesize", "Tea is hot."] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let (code, stdout, _) = workshop(&["workflow", "show", "1"]);
    assert!(code == 0 && stdout.contains("Research Pipeline") && stdout.contains("done     review"), "{stdout}");
    std::fs::write(
        folder.path().join("workflows/broken.md"),
        "---\nsteps:\n  - { id: a, agent: nobody, prompt: x }\n---\n",
    )
    .unwrap();
    let (code, stdout, _) = workshop(&["workflow", "check", "workflows/broken.md"]);
    assert!(
        code == 1 && stdout.starts_with("workflows/broken.md:3: step \"a\": there is no agent \"nobody\""),
        "{stdout}"
    );
    assert_eq!(workshop(&["workflow", "run", "broken"]).0, 2);
    assert_eq!(workshop(&["init", "--workflow", "chain"]).0, 0);
    assert!(folder.path().join("agents/editor.md").exists());
}

fn a_failed_run_resumes_from_its_file() {
    let (folder, provider) = on_disk();
    // The reviewer's model does not exist, so its step fails.
    std::fs::remove_file(folder.path().join("agents/reviewer.md")).unwrap();
    std::fs::write(folder.path().join("agents/reviewer-2.md"), "---\nid: reviewer\nmodel: nobody:nothing\n---\nx\n")
        .unwrap();
    let workshop = |arguments: &[&str]| self::workshop(folder.path(), arguments);
    let script = crate::workshop::script_file(
        "latency: 0.1\nagents:\n  researcher: [ { text: \"findings: it is hot\" } ]\ndefault: [ { text: Hm. } ]\n",
    );
    let failing_provider = format!("scripted:{}", script.display());
    let (code, _, stderr) =
        workshop(&["workflow", "run", "research-pipeline", "--var", "topic=tea", "--provider", &failing_provider]);
    assert!(
        code == 1 && stderr.contains("review_report is missing") && stderr.contains("workshop workflow resume wf-1-"),
        "{stderr}"
    );
    let (_, stdout, _) = workshop(&["status"]);
    assert!(stdout.contains("workflow Research Pipeline: failed"), "{stdout}");
    // No result is lost, although everything that may be deleted is deleted.
    std::fs::remove_dir_all(folder.path().join(".workshop")).unwrap();
    let (code, stdout, stderr) = workshop(&["workflow", "resume", "1", "--provider", &provider]);
    assert_eq!((code, stdout.as_str()), (0, "Tea is hot.\n"), "{stderr}");
    assert_eq!(workshop(&["workflow", "resume", "1"]).0, 2, "the finished run cannot be resumed");
}

fn a_run_that_hits_a_limit_exits_with_3() {
    let workflow = "---\nsteps:\n  - { id: look, agent: writer, prompt: look, max_turns: 1 }\n  - { id: end, agent: reviewer, prompt: end, depends_on: [look] }\n---\n";
    let script = "latency: 0.1\ndefault:\n  - { tools: [ { name: vfs_list, arguments: {} } ], repeat: true }\n";
    let (folder, provider) = on_disk_with("workflows/look.md", workflow, script);
    let (code, stdout, stderr) =
        workshop(folder.path(), &["workflow", "run", "look", "--provider", &provider, "--json"]);
    assert_eq!(code, 3, "{stdout} {stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["ended"], "limited", "{report}");
    assert!(stderr.contains("step look: stopped after 1 turns (max_turns of its step)"), "{stderr}");
    // Exceeding the maximum length of a list counts as a limit; a missing required output does not.
    let list = "---\nsteps:\n  - { id: a, agent: writer, prompt: look, outputs: [parts] }\n  - { id: b, agent: writer, prompt: \"{item}\", for_each: \"{a.parts} at most 1\", depends_on: [a] }\n---\n";
    std::fs::write(folder.path().join("workflows/list.md"), list).unwrap();
    for (answer, expected) in [("parts: [one, two]", 3), ("nothing of it", 1)] {
        let script = format!("latency: 0.1\ndefault:\n  - {{ text: \"{answer}\", repeat: true }}\n");
        let provider = format!("scripted:{}", crate::workshop::script_file(&script).display());
        let (code, _, stderr) = workshop(folder.path(), &["workflow", "run", "list", "--provider", &provider]);
        assert_eq!(code, expected, "{stderr}");
    }
}

const ASKING: &str = "---
name: Ask
steps:
  - { id: ok, person: approval, prompt: \"Is it good?\" }
  - { id: form, person: form, prompt: \"How much?\", outputs: [budget], depends_on: [ok] }
  - { id: write, agent: writer, prompt: \"Write: {ok.comment} for {form.budget}\", depends_on: [form] }
---
";

const ASKED_SCRIPT: &str =
    "latency: 0.1\nagents:\n  writer: [ { when: { contains: \"short for 7\" }, text: Done., repeat: true } ]\n";

/// Returns the ids of the workflow steps that wait for a person.
fn pending_steps(folder: &std::path::Path) -> Vec<String> {
    let (code, stdout, stderr) = workshop(folder, &["approvals", "list", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    let steps = listed["workflow_steps"].as_array().unwrap().iter();
    steps.map(|step| step["id"].as_str().unwrap().to_owned()).collect()
}

fn a_persons_step_is_answered_once_through_approvals() {
    let (folder, provider) = on_disk_with("workflows/ask.md", ASKING, ASKED_SCRIPT);
    let workshop = |arguments: &[&str]| self::workshop(folder.path(), arguments);
    let (code, _, stderr) = workshop(&["workflow", "run", "ask", "--provider", &provider]);
    assert!(code == 4 && stderr.contains("workshop approvals allow wf-1-"), "{code}: {stderr}");
    let [id] = pending_steps(folder.path()).try_into().expect("one step asks");
    let (code, stdout, _) = workshop(&["approvals", "list"]);
    assert!(code == 0 && stdout.contains("step ok of the workflow Ask asks you: Is it good?"), "{stdout}");
    for (arguments, part) in [
        (&["approvals", "allow", &id, "--always"][..], "answered once"),
        (&["approvals", "allow", &id, "--field", "x=1"][..], "has no fields"),
    ] {
        let (code, _, stderr) = workshop(arguments);
        assert!(code == 2 && stderr.contains(part), "{stderr}");
    }
    assert_eq!(workshop(&["approvals", "allow", "wf-1", "--because", "short"]).0, 0, "a prefix of the id is enough");
    let (code, _, stderr) = workshop(&["approvals", "refuse", &id]);
    assert!(code == 2 && stderr.contains("already answered: allowed"), "{stderr}");
    // Another process reads the answer and asks the next question.
    let (code, _, stderr) = workshop(&["run", "--until", "idle", "--provider", &provider]);
    assert!(
        code == 4 && stderr.contains("step form of the workflow Ask asks you for budget: How much?"),
        "{code}: {stderr}"
    );
    let [id] = pending_steps(folder.path()).try_into().expect("another step asks");
    let (code, _, stderr) = workshop(&["approvals", "allow", &id]);
    assert!(
        code == 2 && stderr.contains("the field budget is missing") && stderr.contains("--field budget="),
        "{stderr}"
    );
    let (_, stdout, _) = workshop(&["approvals", "show", &id]);
    assert!(stdout.contains("field budget (a text)") && stdout.contains("How much?"), "{stdout}");
    assert_eq!(workshop(&["approvals", "allow", &id, "--field", "budget=7"]).0, 0);
    let (code, stdout, stderr) = workshop(&["workflow", "resume", "1", "--provider", &provider]);
    assert_eq!((code, stdout.as_str()), (0, "Done.\n"), "{stderr}");
    assert!(pending_steps(folder.path()).is_empty());
}

fn a_persons_step_is_answered_from_outside_while_the_room_runs() {
    let (folder, provider) = on_disk_with("workflows/ask.md", ASKING, ASKED_SCRIPT);
    std::fs::write(folder.path().join("workflows/ask.md"), ASKING.replace("steps:", "trigger: auto\nsteps:")).unwrap();
    let mut running = crate::program::Running::start(
        folder.path(),
        &["run", "--for", "10m", "--speed", "4", "--events", "-", "--provider", &provider],
    );
    running.wait_for("the question", |event| event["data"]["to"] == "asked");
    let looks = std::iter::repeat_with(|| pending_steps(folder.path())).take(500);
    let id = looks.filter_map(|steps| steps.first().cloned()).next().expect("another process lists the question");
    assert_eq!(workshop(folder.path(), &["approvals", "refuse", &id, "--because", "no"]).0, 0);
    let run_to_end =
        running.wait_for("the end", |event| event["data"]["step"] == "ok" && event["data"]["to"] == "failed");
    assert_eq!(run_to_end["data"]["why"], "a person refused it: no");
    assert_eq!(running.interrupt().0, Some(130));
}

fn an_agent_walks_over_to_the_agent_whose_output_it_continues_from() {
    let scene = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: researcher, profile: researcher, position: [-400, 0], behaviour: stationary }\n  - { id: reviewer, profile: reviewer, position: [400, 0], behaviour: stationary }\n";
    // The model takes long enough for the walk.
    let slow = SCRIPT.replace("latency: 0.2", "latency: 15");
    let setup = Setup::scene(scene).script(&slow).file("workflows/research-pipeline.md", PIPELINE);
    let mut room =
        ["researcher", "reviewer", "writer"].iter().fold(setup, |setup, id| setup.profile(id, "You work.\n")).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    let begins =
        |step: &'static str| move |event: &Value| event["data"]["step"] == step && event["data"]["to"] == "running";
    assert!(room.until(120.0, "workflow_step", begins("research"))["data"]["from"].is_null());
    let review = room.until(120.0, "workflow_step", begins("review"));
    assert_eq!(
        review["data"]["from"],
        serde_json::json!(["researcher"]),
        "the event names the agent whose output the step continues from"
    );
    let apart = |room: &mut Workshop| {
        use agent_workshop::agent::Roster;
        use agent_workshop::simulation::Position;
        let world = room.world();
        let place = |id: &str| {
            let roster = world.resource::<Roster>();
            let entity = roster.key(id).and_then(|key| roster.entity(key)).expect("the agent is in the room");
            world.get::<Position>(entity).expect("the agent has a position").0
        };
        place("researcher").distance(place("reviewer"))
    };
    let before = apart(&mut room);
    let mut nearest = before;
    for _ in 0..600 {
        room.tick();
        nearest = nearest.min(apart(&mut room));
    }
    assert!(before > 700.0 && nearest < 150.0, "{before}, then {nearest}");
    let run = run_to_end(&mut room);
    assert_eq!((run.status, run.result_text().as_str()), (RunStatus::Done, "Tea is hot."));
    let ends = room.events("workflow_step");
    let last = ends.iter().find(|event| event["data"]["step"] == "synthesize").expect("the step has started");
    assert_eq!(last["data"]["from"], serde_json::json!(["researcher", "reviewer"]));
}

fn each_participant_gets_one_memory_of_the_whole_run() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    let run = run_to_end(&mut room);
    room.advance(2.0);
    let memories: Vec<(&str, &str)> = room
        .events("memory")
        .iter()
        .filter_map(|event| Some((event["agent"].as_str()?, event["data"]["interaction"].as_str()?)))
        .filter(|(_, text)| text.contains("workflow"))
        .collect();
    let agents: Vec<&str> = memories.iter().map(|(agent, _)| *agent).collect();
    assert_eq!(agents, ["researcher-1", "reviewer", "writer"], "one memory each: {memories:#?}");
    let expected = format!(
        "did review of the workflow Research Pipeline with researcher-1, writer ({}); result: Tea is hot.",
        run.key
    );
    assert_eq!(memories[1].1, expected);
}

fn one_lesson_is_learned_from_a_whole_run() {
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    let run = run_to_end(&mut room);
    let lessons: Vec<(String, Option<String>, Vec<String>)> = room
        .world()
        .resource::<Lessons>()
        .iter()
        .map(|lesson| {
            let lines = lesson.lines.iter().map(|line| format!("{}: {}", line.by, line.text));
            (lesson.id.to_string(), lesson.source.session.as_ref().map(ToString::to_string), lines.collect())
        })
        .collect();
    assert_eq!(lessons.len(), 1, "no lesson of a single step: {lessons:#?}");
    let (agent, session, lines) = &lessons[0];
    assert_eq!(
        (agent.as_str(), session.as_deref()),
        ("writer", Some(run.key.to_string().as_str())),
        "the lesson belongs to the agent of the last step"
    );
    assert_eq!(lines[0], "workflow: Research Pipeline (topic: tea): done");
    assert_eq!(lines[1], "step research: Research tea thoroughly");
    assert!(lines[2].ends_with(": it is hot") && lines[4].ends_with(": all true"), "{lines:#?}");
    assert!(lines[6].ends_with(": Tea is hot.") && lines.len() == 7, "{lines:#?}");
    room.advance(60.0);
    let learning_calls =
        |room: &Workshop| room.events("model_call").iter().filter(|event| event["data"]["kind"] == "learning").count();
    assert_eq!(learning_calls(&room), 1, "one model call for the whole run");
    assert!(room.world().resource::<Lessons>().is_empty());
    // No lesson is learned from a run that a person stopped.
    let mut room = setup(SCRIPT).open();
    start(&mut room, "research-pipeline", &[("topic", "tea")]);
    room.until(30.0, "workflow_step", |event| event["data"]["step"] == "review" && event["data"]["to"] == "running");
    let key = self::run(&mut room).key;
    room.push(WorkflowCommand::Stop { run: key });
    room.advance(2.0);
    assert!(room.world().resource::<Lessons>().is_empty() && learning_calls(&room) == 0);
}
