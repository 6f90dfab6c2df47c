//! `workshop workflow`: lists and checks workflows, runs and resumes them without a window, and shows their progress.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::approval_prompts::OnAsk;
use super::resume_arguments::{chosen_run, resumed};
use super::run::{self, parse_speed};
use super::task_goal::Task;
use super::workflow_goal::WorkflowGoal;
use super::workspace_argument::{self, IfMissing, InWorkspace};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::workflows::{self, RunHead, WorkspaceWorkflows};
use crate::base::Severity;
use crate::base::text::nearest;
use crate::orchestration::workflow::WorkflowCommand;
use crate::orchestration::workflow::definition::{Assignee, Workflow};
use crate::orchestration::workflow::format::{self, WorkflowFile};
use crate::orchestration::workflow::run_record;
use crate::orchestration::workflow::starting::missing;
use crate::schedule::Speed;
use crate::workspace::layout::is_workspace;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List workflows and unfinished runs
    List(ListArguments),
    /// Check a workflow, or all of them, for problems
    Check(CheckArguments),
    /// Run a workflow and print its result
    Run(Box<RunArguments>),
    /// Resume a run that failed, was stopped, or waits for you
    Resume(Box<ResumeArguments>),
    /// Show the progress of a run, step by step
    Show(ShowArguments),
}

#[derive(Args)]
struct ListArguments {
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct CheckArguments {
    /// The workflow's file or name; defaults to all
    file: Option<String>,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct RunArguments {
    /// The workflow's file or name
    file: String,
    /// The value of a {variable}; asked on the terminal if missing
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_pair)]
    variables: Vec<(String, String)>,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Args)]
struct ResumeArguments {
    /// The run's id or number from `list`
    run: String,
    /// Your answer to a step: STEP=yes, STEP=no, STEP.comment=TEXT, STEP.FIELD=VALUE
    #[arg(long = "answer", value_name = "STEP=VALUE", value_parser = parse_pair)]
    answers: Vec<(String, String)>,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Args)]
struct ShowArguments {
    /// The run's id or number from `list`
    run: String,
    #[command(flatten)]
    place: InWorkspace,
}

/// The options of a workflow run.
#[derive(Args)]
struct RunOptions {
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The scene: its file name without .yaml
    #[arg(long)]
    scene: Option<String>,
    /// Override every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Override every agent's model: a model of the provider, or PROVIDER:MODEL
    #[arg(long)]
    model: Option<String>,
    /// 1, 4, 16, or max
    #[arg(long, default_value = "max", value_parser = parse_speed)]
    speed: Speed,
    /// How to handle approvals; by default asks on the terminal, or stops if there is none
    #[arg(long, value_name = "ACTION")]
    on_ask: Option<OnAsk>,
    /// Let all other agents rest: they do not read, talk or call models
    #[arg(long)]
    only: bool,
    /// Continue work that was paused before the room was closed
    #[arg(long)]
    unpause: bool,
    /// Write the result to a file instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write events as they happen, as JSON Lines: to a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON object on standard output: how it ended, why, the result, files, cost, problems, approvals
    #[arg(long)]
    json: bool,
    /// On standard error, print only why the run failed, if it did
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    match name.trim() {
        "" => Err("expected NAME=VALUE".to_owned()),
        name => Ok((name.to_owned(), value.to_owned())),
    }
}

pub(super) fn workflow(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        Command::List(listing) => list(listing),
        Command::Check(checking) => check(checking),
        Command::Run(running) => run_workflow(running),
        Command::Resume(resuming) => resume(resuming),
        Command::Show(showing) => show(showing),
    }
}

/// The workspace: the given one, the one that contains the file, or the default.
fn workspace_of(named: Option<&Path>, file: Option<&str>) -> Result<PathBuf, CliError> {
    let around = || {
        let path = Path::new(file?);
        let folder = path.ancestors().find(|folder| folder.ends_with("workflows"))?.parent()?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        is_workspace(folder).then(|| folder.to_owned())
    };
    match named.map(Path::to_owned).or_else(around) {
        Some(folder) => workspace_argument::workspace(Some(&folder), IfMissing::Fail),
        None => workspace_argument::workspace(None, IfMissing::Fail),
    }
}

/// Finds a workflow by its path, its path in the workspace, or its name.
fn choose<'a>(known: &'a WorkspaceWorkflows, word: &str) -> Result<&'a WorkflowFile, CliError> {
    let inside = word.rfind("workflows/").map(|at| &word[at..]);
    let found = inside.and_then(|path| known.workflows.get(path)).or_else(|| known.check_context().workflow(word));
    found.ok_or_else(|| {
        let names: Vec<&str> = known.workflows.keys().map(|path| format::stem(path)).collect();
        let error = CliError::usage(format!("there is no workflow {word:?}"));
        match (nearest(word, names.iter().copied()), names.is_empty()) {
            (Some(near), _) => error.hint(format!("did you mean {near:?}?")),
            (None, true) => error.hint("create one with: workshop init --workflow chain"),
            (None, false) => error.hint(format!("available: {}", names.join(", "))),
        }
    })
}

fn list(listing: &ListArguments) -> CliResult {
    let folder = workspace_argument::workspace(listing.place.workspace.as_deref(), IfMissing::Fail)?;
    let known = WorkspaceWorkflows::of(&folder);
    let runs: Vec<RunHead> = workflows::runs(&folder).into_iter().filter(|run| run.status != "done").collect();
    if listing.place.json {
        let workflows: Vec<Value> = known.workflows.values().map(|file| to_json(&known, file)).collect();
        let runs: Vec<Value> = runs.iter().map(run_to_json).collect();
        output::json(&json!({ "workflows": workflows, "runs": runs }))?;
        return Ok(ExitStatus::Done);
    }
    if known.workflows.is_empty() && runs.is_empty() {
        output::note("no workflows; create one with: workshop init --workflow chain");
        return Ok(ExitStatus::Done);
    }
    let mut lines: Vec<String> = known.workflows.values().map(|file| line(&known, file)).collect();
    lines.extend(runs.iter().map(|run| format!("{}  {}: {}", run.key, run.name, run.status)));
    output::result(&lines.join("\n"))?;
    Ok(ExitStatus::Done)
}

fn line(known: &WorkspaceWorkflows, file: &WorkflowFile) -> String {
    let workflow = &file.workflow;
    let wrong = known.problems(file).iter().filter(|problem| problem.severity == Severity::Error).count();
    let wrong = match wrong {
        0 => String::new(),
        1 => ", cannot run: 1 problem".to_owned(),
        count => format!(", cannot run: {count} problems"),
    };
    let steps = if workflow.steps.len() == 1 { "1 step".to_owned() } else { format!("{} steps", workflow.steps.len()) };
    format!("{}  {} ({steps}, {}{wrong})", workflow.path, workflow.name, workflow.trigger)
}

fn to_json(known: &WorkspaceWorkflows, file: &WorkflowFile) -> Value {
    let workflow = &file.workflow;
    let steps = workflow.steps.iter().map(|step| {
        let outputs: Vec<&str> = step.outputs.iter().map(|output| output.name.as_str()).collect();
        let agent = match &step.doer {
            Assignee::Agent { agent } => Some(agent),
            _ => None,
        };
        json!({ "id": step.id, "agent": agent, "depends_on": step.depends_on, "outputs": outputs })
    });
    json!({
        "file": workflow.path,
        "name": workflow.name,
        "description": workflow.description,
        "trigger": workflow.trigger.to_string(),
        "variables": workflow.variables,
        "steps": steps.collect::<Vec<_>>(),
        "problems": known.problems(file),
    })
}

fn run_to_json(run: &RunHead) -> Value {
    json!({ "run": run.key, "workflow": run.name, "status": run.status, "file": run.path })
}

fn check(checking: &CheckArguments) -> CliResult {
    let folder = workspace_of(checking.place.workspace.as_deref(), checking.file.as_deref())?;
    let known = WorkspaceWorkflows::of(&folder);
    let chosen: Vec<&WorkflowFile> = match &checking.file {
        Some(word) => vec![choose(&known, word)?],
        None => known.workflows.values().collect(),
    };
    let problems: Vec<_> = chosen.iter().flat_map(|file| known.problems(file)).collect();
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    if checking.place.json {
        output::json(&json!({ "problems": problems }))?;
    } else if problems.is_empty() {
        output::note(if chosen.is_empty() { "no workflows" } else { "no problems" });
    } else {
        output::result(&problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if has_errors { ExitStatus::Failed } else { ExitStatus::Done })
}

fn run_workflow(running: &RunArguments) -> CliResult {
    let folder = workspace_of(running.options.workspace.as_deref(), Some(&running.file))?;
    let known = WorkspaceWorkflows::of(&folder);
    let file = choose(&known, &running.file)?;
    let workflow = &file.workflow;
    let errors: Vec<String> = known
        .problems(file)
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(ToString::to_string)
        .collect();
    if !errors.is_empty() {
        return Err(CliError::usage(format!("{} cannot run:\n{}", workflow.path, errors.join("\n"))));
    }
    let variables = variables(workflow, &running.variables)?;
    let command = WorkflowCommand::Start { workflow: workflow.path.clone(), variables };
    drive(&running.options, &folder, None, WorkflowGoal::new(command, Vec::new()))
}

/// The values of the workflow's variables: the given ones, and missing ones as asked on the terminal.
fn variables(workflow: &Workflow, given: &[(String, String)]) -> Result<BTreeMap<String, String>, CliError> {
    let names: Vec<&str> = workflow.variables.iter().map(|variable| variable.name.as_str()).collect();
    let mut variables = BTreeMap::new();
    for (name, value) in given {
        if !names.contains(&name.as_str()) {
            let error = CliError::usage(format!("{} has no variable {name:?}", workflow.path));
            return Err(match (nearest(name, names.iter().copied()), names.is_empty()) {
                (Some(near), _) => error.hint(format!("did you mean {near:?}?")),
                (None, true) => error.hint("it has no variables"),
                (None, false) => error.hint(format!("its variables are: {}", names.join(", "))),
            });
        }
        variables.insert(name.clone(), value.clone());
    }
    for name in missing(workflow, &variables) {
        if !output::is_interactive() {
            let error = CliError::usage(format!("{} needs a value for {{{name}}}", workflow.path));
            return Err(error.hint(format!("set it with: --var {name}=…")));
        }
        let about = workflow.variables.iter().find(|one| one.name == *name).map(|one| one.description.as_str());
        let about = about.filter(|about| !about.is_empty()).map(|about| format!(" ({about})")).unwrap_or_default();
        let value = output::answer(&format!("{name}{about}: "))?;
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

fn resume(resuming: &ResumeArguments) -> CliResult {
    let folder = workspace_of(resuming.options.workspace.as_deref(), None)?;
    let (goal, scene) = resumed(&folder, &resuming.run, &resuming.answers)?;
    drive(&resuming.options, &folder, Some(scene), goal)
}

/// Runs the room until the workflow run ends.
fn drive(options: &RunOptions, folder: &Path, scene: Option<String>, goal: WorkflowGoal) -> CliResult {
    let arguments = run::Arguments {
        workspace: Some(folder.to_owned()),
        scene: options.scene.clone().or(scene),
        provider: options.provider.clone(),
        model: options.model.clone(),
        speed: options.speed,
        on_ask: options.on_ask,
        unpause: options.unpause,
        out: options.out.clone(),
        events: options.events.clone(),
        json: options.json,
        quiet: options.quiet,
        ..run::Arguments::empty()
    };
    run::run_for(&arguments, Some(Task::workflow(goal)), options.only)
}

fn show(showing: &ShowArguments) -> CliResult {
    let folder = workspace_of(showing.place.workspace.as_deref(), None)?;
    let head = chosen_run(&folder, &showing.run)?;
    let (found, _) =
        workflows::run(&head).map_err(|why| CliError::failed(format!("{}: {why}", head.path.display())))?;
    if showing.place.json {
        output::json(&found.state)?;
    } else {
        output::result(&run_record::summary(&found.state))?;
    }
    Ok(ExitStatus::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_value_pairs_are_parsed() {
        assert_eq!(parse_pair("topic=a=b"), Ok(("topic".into(), "a=b".into())));
        assert!(parse_pair("topic").is_err() && parse_pair("=x").is_err());
    }
}
