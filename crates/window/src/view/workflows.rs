//! Workflows as a screen sees them at one moment: what their files say, and how far their runs are.

use bevy::ecs::prelude::*;

use crate::base::{Id, Severity};
use crate::orchestration::workflow::definition::{Doer, PersonWants};
use crate::orchestration::workflow::{Run, RunKey, RunStatus, StepStatus, WorkflowRuns, Workflows};

/// All workflows and their runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkflowsView {
    /// The files, by path.
    pub files: Vec<WorkflowView>,
    /// The runs that are known, the newest first.
    pub runs: Vec<RunView>,
}

/// A workflow's file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkflowView {
    /// Its path.
    pub path: String,
    /// What it is called.
    pub name: String,
    /// When it begins.
    pub trigger: String,
    /// What keeps it from running, with line and remedy.
    pub problems: Vec<String>,
    /// What it is asked about: name, what that is, and what it is where nobody says.
    pub variables: Vec<(String, String, String)>,
    /// Its steps, in the order of the file.
    pub steps: Vec<StepView>,
}

/// A step as its file defines it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepView {
    /// Names it.
    pub id: String,
    /// Who does it, in words.
    pub who: String,
    /// The agent that does it, by id; empty where none does.
    pub agent: String,
    /// What is to be done.
    pub prompt: String,
    /// What it must give.
    pub outputs: Vec<String>,
    /// Without which it is passed over.
    pub when: String,
    /// The places of the steps that come before it.
    pub before: Vec<usize>,
}

/// A run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunView {
    /// Names it.
    pub key: RunKey,
    /// The file of its workflow.
    pub file: String,
    /// What it is at.
    pub status: RunStatus,
    /// Why, in words.
    pub why: String,
    /// The file with what it came to.
    pub result: Option<String>,
    /// Its steps: which, what each is at, why, and who is at it.
    pub steps: Vec<(String, StepStatus, String, Option<Id>)>,
    /// What it asks the person.
    pub asked: Vec<AskedView>,
}

/// A step that asks the person.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AskedView {
    /// Which.
    pub step: String,
    /// What.
    pub question: String,
    /// The fields of a form; none where yes or no is asked.
    pub fields: Vec<String>,
}

impl RunView {
    /// What a step of it is at, and why.
    pub fn step(&self, id: &str) -> Option<(StepStatus, &str, Option<&Id>)> {
        let found = self.steps.iter().find(|(step, ..)| step == id)?;
        Some((found.1, found.2.as_str(), found.3.as_ref()))
    }
}

impl WorkflowsView {
    /// Reads them out of the world.
    pub fn read(world: &World) -> Self {
        let (Some(workflows), Some(runs)) = (world.get_resource::<Workflows>(), world.get_resource::<WorkflowRuns>())
        else {
            return Self::default();
        };
        let files = workflows.files().values().map(|file| {
            let workflow = &file.workflow;
            let problems = workflows.problems(&workflow.path);
            let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
            let place = |id: &String| workflow.steps.iter().position(|step| step.id == *id);
            let steps = workflow.steps.iter().map(|step| StepView {
                id: step.id.clone(),
                who: who(&step.doer),
                agent: match &step.doer {
                    Doer::Agent { agent } => agent.to_string(),
                    _ => String::new(),
                },
                prompt: step.prompt.to_string(),
                outputs: step.outputs.iter().map(|output| output.name.clone()).collect(),
                when: step.when.as_ref().map(ToString::to_string).unwrap_or_default(),
                before: step.depends_on.iter().filter_map(place).collect(),
            });
            let variables = workflow.variables.iter().map(|variable| {
                let default = variable.default.clone().unwrap_or_default();
                (variable.name.clone(), variable.description.clone(), default)
            });
            WorkflowView {
                path: workflow.path.clone(),
                name: workflow.name.clone(),
                trigger: workflow.trigger.to_string(),
                problems: errors.map(ToString::to_string).collect(),
                variables: variables.collect(),
                steps: steps.collect(),
            }
        });
        let mut runs: Vec<RunView> = runs.iter().map(run_view).collect();
        runs.reverse();
        Self { files: files.collect(), runs }
    }

    /// The newest run of a workflow.
    pub fn newest(&self, path: &str) -> Option<&RunView> {
        self.runs.iter().find(|run| run.file == path)
    }
}

fn who(doer: &Doer) -> String {
    match doer {
        Doer::Agent { agent } => agent.to_string(),
        Doer::Person { wants: PersonWants::Approval } => "You approve".to_owned(),
        Doer::Person { wants: PersonWants::Form } => "You fill in".to_owned(),
        Doer::Workflow { workflow, .. } => format!("Workflow {workflow}"),
        Doer::Join => String::new(),
    }
}

fn run_view(run: &Run) -> RunView {
    let steps = run.plan.steps.iter().zip(&run.steps).map(|(step, state)| {
        let agent = state.parts.iter().filter_map(|part| part.work.as_ref()).next_back().map(|work| work.agent.clone());
        (step.id.clone(), state.status, state.why.clone(), agent)
    });
    let asked = run.asked().map(|at| {
        let step = &run.plan.steps[at];
        let fields = match step.doer {
            Doer::Person { wants: PersonWants::Form } => {
                step.outputs.iter().map(|output| output.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        AskedView { step: step.id.clone(), question: run.question(at), fields }
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
