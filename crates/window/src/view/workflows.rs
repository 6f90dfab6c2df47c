//! Snapshot of workflows for the UI: the content of their files, and the progress of their runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::change_detection::Tick;
use bevy::ecs::prelude::*;

use crate::base::{Id, Problem, Severity};
use crate::orchestration::workflow::definition::{AnswerKind, Assignee, Output, Step};
use crate::orchestration::workflow::edit::StepAssignee;
use crate::orchestration::workflow::format::{NO_STEPS, WorkflowFile};
use crate::orchestration::workflow::{Run, RunKey, RunStatus, StepStatus, WorkflowRuns, Workflows};

/// All workflows and their runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkflowsView {
    /// The workflow files, sorted by path.
    pub files: Arc<Vec<WorkflowView>>,
    /// The known runs, newest first.
    pub runs: Vec<Arc<RunView>>,
}

/// A workflow file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkflowView {
    /// The path.
    pub path: String,
    /// The display name.
    pub name: String,
    /// A one-line description.
    pub description: String,
    /// The trigger, in words.
    pub trigger: String,
    /// Errors that keep it from running, with line and remedy.
    pub problems: Vec<String>,
    /// Whether its only error is that it has no steps.
    pub is_blank: bool,
    /// Its variables: name, description, and default value.
    pub variables: Vec<(String, String, String)>,
    /// The steps, in file order.
    pub steps: Vec<StepView>,
}

/// A step as its file defines it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepView {
    /// The step's id.
    pub id: String,
    /// The assignee, in words.
    pub who: String,
    /// The assignee, as in the file.
    pub doer: StepAssignee,
    /// Variables passed to the nested workflow.
    pub with: BTreeMap<String, String>,
    /// The prompt.
    pub prompt: String,
    /// The names of the required outputs.
    pub outputs: Vec<String>,
    /// Other keys and their values, such as `when` and `retry`.
    pub keys: BTreeMap<String, String>,
    /// Indices of the steps it depends on.
    pub before: Vec<usize>,
}

/// A workflow run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunView {
    /// Identifies the run.
    pub key: RunKey,
    /// The path of the workflow file.
    pub file: String,
    /// The status.
    pub status: RunStatus,
    /// The reason for the status, in words.
    pub why: String,
    /// The path of the result file.
    pub result: Option<String>,
    /// The steps: id, status, reason, and the agent working on it.
    pub steps: Vec<(String, StepStatus, String, Option<Id>)>,
    /// Pending questions to the person.
    pub asked: Vec<AskedView>,
}

/// A step that asks the person.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AskedView {
    /// The step's id.
    pub step: String,
    /// The question.
    pub question: String,
    /// The fields of a form; empty for a yes/no question.
    pub fields: Vec<Output>,
}

impl RunView {
    /// Status, reason and agent of a step. `at` is the index at which the step usually is.
    pub fn step_at(&self, at: usize, id: &str) -> Option<(StepStatus, &str, Option<&Id>)> {
        let found = self.steps.get(at).filter(|(step, ..)| step == id);
        found.map(|(_, status, why, agent)| (*status, why.as_str(), agent.as_ref())).or_else(|| self.step(id))
    }

    /// Status, reason and agent of a step.
    pub fn step(&self, id: &str) -> Option<(StepStatus, &str, Option<&Id>)> {
        let found = self.steps.iter().find(|(step, ..)| step == id)?;
        Some((found.1, found.2.as_str(), found.3.as_ref()))
    }
}

/// Cached workflow data; only what changed is read again.
#[derive(Debug, Default)]
pub struct WorkflowReader {
    files: Option<(Tick, Arc<Vec<WorkflowView>>)>,
    runs: BTreeMap<RunKey, (u64, Arc<RunView>)>,
}

impl WorkflowReader {
    /// Reads workflows and runs from the world.
    pub fn read(&mut self, world: &World) -> WorkflowsView {
        let (files, runs) = (world.get_resource_ref::<Workflows>(), world.get_resource_ref::<WorkflowRuns>());
        let (Some(workflows), Some(all)) = (files, runs) else { return WorkflowsView::default() };
        let changed = workflows.last_changed();
        let files = match &self.files {
            Some((seen, files)) if *seen == changed => files.clone(),
            _ => Arc::new(workflows.files().keys().map(|path| workflow_view(&workflows, path)).collect()),
        };
        self.files = Some((changed, files.clone()));
        let mut known = std::mem::take(&mut self.runs);
        let mut read = |run: &Run| {
            let there = known.remove(&run.key).filter(|(revision, _)| *revision == run.revision());
            let (revision, view) = there.unwrap_or_else(|| (run.revision(), Arc::new(run_view(run))));
            self.runs.insert(run.key, (revision, view.clone()));
            view
        };
        let mut runs: Vec<Arc<RunView>> = all.iter().map(&mut read).collect();
        runs.reverse();
        WorkflowsView { files, runs }
    }
}

fn workflow_view(workflows: &Workflows, path: &str) -> WorkflowView {
    let Some(WorkflowFile { workflow, .. }) = workflows.files().get(path) else { return WorkflowView::default() };
    let problems = workflows.problems(path);
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    let places: BTreeMap<&str, usize> =
        workflow.steps.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect();
    let steps = workflow.steps.iter().map(|step| {
        let before = step.depends_on.iter().filter_map(|id| places.get(id.as_str()).copied());
        StepView { before: before.collect(), ..step_view(step) }
    });
    let variables = workflow.variables.iter().map(|variable| {
        let default = variable.default.clone().unwrap_or_default();
        (variable.name.clone(), variable.description.clone(), default)
    });
    WorkflowView {
        path: workflow.path.clone(),
        name: workflow.name.clone(),
        description: workflow.description.clone(),
        trigger: workflow.trigger.to_string(),
        is_blank: matches!(errors[..], [problem] if problem.what == NO_STEPS),
        problems: errors.iter().map(ToString::to_string).collect(),
        variables: variables.collect(),
        steps: steps.collect(),
    }
}

/// A step as its file defines it, without its dependencies.
fn step_view(step: &Step) -> StepView {
    let (doer, with) = match &step.doer {
        Assignee::Agent { agent } => (StepAssignee::Agent(agent.to_string()), None),
        Assignee::Person { wants } => (StepAssignee::Person(*wants), None),
        Assignee::Workflow { workflow, with } => (StepAssignee::Workflow(workflow.clone()), Some(with)),
        Assignee::Join => (StepAssignee::default(), None),
    };
    let optional_keys = [
        ("when", step.when.as_ref().map(ToString::to_string)),
        ("for_each", step.for_each.as_ref().map(ToString::to_string)),
        ("repeat_until", step.repeat_until.as_ref().map(ToString::to_string)),
        ("retry", (step.retry > 0).then(|| step.retry.to_string())),
        ("max_turns", step.max_turns.map(|turns| turns.to_string())),
        ("model", step.model.clone()),
    ];
    let optional_keys = optional_keys.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?)));
    StepView {
        id: step.id.clone(),
        who: who(&step.doer),
        doer,
        with: with.into_iter().flatten().map(|(name, text)| (name.clone(), text.to_string())).collect(),
        prompt: step.prompt.to_string(),
        outputs: step.outputs.iter().map(|output| output.name.clone()).collect(),
        keys: optional_keys.chain(step.unread.clone()).collect(),
        before: Vec::new(),
    }
}

impl WorkflowsView {
    /// Pending questions to the person, oldest run first.
    pub fn asked(&self) -> impl Iterator<Item = (&RunView, &AskedView)> {
        self.runs.iter().rev().flat_map(|run| run.asked.iter().map(move |asked| (&**run, asked)))
    }

    /// The newest run of a workflow.
    pub fn newest(&self, path: &str) -> Option<&RunView> {
        self.runs.iter().find(|run| run.file == path).map(|run| &**run)
    }
}

fn who(doer: &Assignee) -> String {
    match doer {
        Assignee::Agent { agent } => agent.to_string(),
        Assignee::Person { wants: AnswerKind::Approval } => "You approve".to_owned(),
        Assignee::Person { wants: AnswerKind::Form } => "You fill in".to_owned(),
        Assignee::Workflow { workflow, .. } => format!("Workflow {workflow}"),
        Assignee::Join => String::new(),
    }
}

/// The status of an unfinished step that is a nested workflow, derived from its inner steps.
fn nested_status(statuses: impl Iterator<Item = StepStatus>) -> StepStatus {
    let statuses: Vec<StepStatus> = statuses.collect();
    let has = |status: StepStatus| statuses.contains(&status);
    match () {
        () if has(StepStatus::Running) => StepStatus::Running,
        () if has(StepStatus::Asked) => StepStatus::Asked,
        // Between two inner steps it is still running.
        () if has(StepStatus::Done) || has(StepStatus::Failed) => StepStatus::Running,
        () => StepStatus::Waiting,
    }
}

fn run_view(run: &Run) -> RunView {
    let steps = run.plan.steps.iter().zip(&run.steps).map(|(step, state)| {
        let agent = state.parts.iter().filter_map(|part| part.work.as_ref()).next_back().map(|work| work.agent.clone());
        let status = match state.status {
            // The join step marks the end of a nested workflow, whose steps precede it in the list.
            StepStatus::Waiting if step.doer == Assignee::Join => {
                let prefix = format!("{}/", step.id);
                let all = run.plan.steps.iter().zip(&run.steps);
                nested_status(all.filter(|(step, _)| step.id.starts_with(&prefix)).map(|(_, state)| state.status))
            }
            status => status,
        };
        (step.id.clone(), status, state.why.clone(), agent)
    });
    let asked = run.questions().map(|question| AskedView {
        fields: question.fields,
        step: question.step,
        question: question.asks,
    });
    RunView {
        key: run.key,
        file: run.file.clone(),
        status: run.status,
        why: run.why.clone(),
        result: run.result.clone(),
        steps: steps.collect(),
        asked: asked.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_view_has_every_key_of_its_file() {
        let text = "---\nsteps:\n  - id: a\n    agent: x\n    prompt: go\n    retry: 2\n    max_turns: lots\n    model: m\n    \
                    for_each: \"{b.parts} at most 3\"\n    when: \"{b.ok} ==\"\n  - id: b\n    workflow: tea\n    \
                    with: { topic: \"{name}\" }\n---\n";
        let steps = crate::orchestration::workflow::format::read("workflows/t.md", text).workflow.steps;
        let seen = step_view(&steps[0]);
        let optional_keys: Vec<(&str, &str)> =
            seen.keys.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
        let expected = [
            ("for_each", "{b.parts} at most 3"),
            ("max_turns", "lots"),
            ("model", "m"),
            ("retry", "2"),
            ("when", "{b.ok} =="),
        ];
        assert_eq!(optional_keys, expected, "also what nobody understands");
        assert_eq!(seen.doer, StepAssignee::Agent("x".into()));
        let inner = step_view(&steps[1]);
        assert_eq!((inner.doer, inner.with["topic"].as_str()), (StepAssignee::Workflow("tea".into()), "{name}"));
    }

    #[test]
    fn a_nested_workflow_s_status_follows_its_steps() {
        use StepStatus::{Asked, Done, Failed, Running, Skipped, Waiting};
        for (steps, expected) in [
            (vec![], Waiting),
            (vec![Waiting, Waiting], Waiting),
            (vec![Running, Waiting], Running),
            (vec![Done, Waiting], Running),
            (vec![Done, Asked], Asked),
            (vec![Asked, Running], Running),
            (vec![Skipped, Waiting], Waiting),
            (vec![Failed, Waiting], Running),
        ] {
            assert_eq!(nested_status(steps.iter().copied()), expected, "{steps:?}");
        }
    }
}
