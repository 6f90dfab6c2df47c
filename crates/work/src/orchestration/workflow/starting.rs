//! Starts and resumes runs, by a person's command or a trigger.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::access::{RunsAccess, can_run};
use super::check::WorkflowContext;
use super::command::WorkflowCommand;
use super::definition::{Trigger, Workflow};
use super::edit::{self, WorkflowEdit};
use super::format::WorkflowFile;
use super::plan::Plan;
use super::run_record;
use super::run_state::Run;
use super::runs::{Timer, WorkflowRuns, Workflows};
use crate::base::globs;
use crate::base::hash::content_hash;
use crate::base::ids::USER;
use crate::base::{Id, Seq};
use crate::schedule::{TICKS_PER_SEC, ticks};
use crate::workspace::trust::{StartsHeld, Widening};

/// The ticks in an hour of simulated time.
const HOUR_TICKS: u64 = 3_600 * TICKS_PER_SEC;

/// Starts a run of this workflow. The error has the reason and what to do.
fn start_run(
    room: &mut RunsAccess<'_, '_>,
    workflows: &Workflows,
    runs: &mut WorkflowRuns,
    (word, mut variables): (&str, BTreeMap<String, String>),
    by: Id,
) -> Result<(), (String, String)> {
    let there = WorkflowContext { agents: None, workflows: workflows.files() };
    let Some(WorkflowFile { workflow, .. }) = there.workflow(word) else {
        return Err((format!("there is no workflow {word:?}"), "see: workshop workflow list".to_owned()));
    };
    let refused = |why: String| (format!("the workflow {} did not start: {why}", workflow.name), String::new());
    if let Err(problem) = can_run(&workflows.problems(&workflow.path)) {
        return Err((refused(problem.what.clone()).0, problem.remedy.clone()));
    }
    let going_on = runs.iter().filter(|run| run.is_running()).count();
    if going_on >= room.settings.max_runs as usize {
        let why = format!("{going_on} are already running (workflow.max_runs)");
        return Err((refused(why).0, "wait until one ends, or raise the setting".to_owned()));
    }
    for variable in &workflow.variables {
        if let Some(default) = &variable.default {
            variables.entry(variable.name.clone()).or_insert_with(|| default.clone());
        }
    }
    let missing: Vec<&str> = missing(workflow, &variables);
    if !missing.is_empty() {
        let why = format!("{} has no value", missing.join(" and "));
        return Err((refused(why).0, format!("set it, for example with: --var {}=…", missing[0])));
    }
    variables.retain(|name, _| workflow.variables.iter().any(|variable| variable.name == *name));
    let plan = Plan::of(workflow, workflows.files()).map_err(|problem| (problem.what.clone(), problem.remedy))?;
    let key = runs.next_key(room.room());
    let now = room.clock.tick();
    let of = (key, workflow.path.as_str(), workflow.name.as_str());
    let mut run = Run::begin(of, Arc::new(plan), variables, (by, now, Seq(0)));
    room.record_progress(&mut run);
    runs.written.entry(key).or_default().is_behind = true;
    runs.runs.insert(key, run);
    Ok(())
}

/// The variables that have neither a value nor a default.
pub fn missing<'a>(workflow: &'a Workflow, variables: &BTreeMap<String, String>) -> Vec<&'a str> {
    let is_missing = |name: &&str| !variables.contains_key(*name);
    let asked = workflow.variables.iter().filter(|variable| variable.default.is_none());
    asked.map(|variable| variable.name.as_str()).filter(is_missing).collect()
}

/// Applies a person's command about workflows.
pub(super) fn apply_command(
    room: &mut RunsAccess<'_, '_>,
    workflows: &mut Workflows,
    runs: &mut WorkflowRuns,
    command: &WorkflowCommand,
) {
    let (now, limits) = (room.clock.tick(), room.settings.limits());
    match command {
        WorkflowCommand::Start { workflow, variables } => {
            let wanted = (workflow.as_str(), variables.clone());
            if let Err((what, remedy)) = start_run(room, workflows, runs, wanted, USER.into()) {
                room.warn(what, &remedy);
            }
        }
        WorkflowCommand::Resume { run: key, state } => {
            if !runs.runs.contains_key(key)
                && let Some(mut run) =
                    state.as_ref().and_then(|text| run_record::from_yaml(text).ok()).map(|read| read.state)
            {
                run.discard_work();
                // The record of its start is in the log of another room.
                run.cause = Seq(0);
                runs.newest = runs.newest.max(key.number());
                runs.runs.insert(*key, run);
            }
            let Some(run) = runs.runs.get_mut(key) else {
                return room.warn(format!("there is no workflow run {key}"), "see: workshop workflow list");
            };
            if run.resume() {
                (run.result, run.is_written) = (None, false);
                room.record_progress(run);
                runs.written.entry(*key).or_default().is_behind = true;
            } else if !run.is_running() {
                room.warn(format!("{key} is already done"), "run the workflow again");
            }
        }
        WorkflowCommand::Stop { run: key } => match runs.runs.get_mut(key).filter(|run| run.is_running()) {
            Some(run) => {
                run.stop("a person stopped it", now);
                room.record_progress(run);
            }
            None => room.warn(format!("there is no unfinished workflow run {key}"), ""),
        },
        WorkflowCommand::Edit { path, edit } => change_file(room, workflows, path, edit),
        WorkflowCommand::Answer { run: key, step, answer } => {
            let answered = match runs.runs.get_mut(key) {
                Some(run) => run.answered(step, answer, now, &limits),
                None => Err(format!("there is no workflow run {key}")),
            };
            match answered {
                Ok(()) => runs.written.entry(*key).or_default().is_behind = true,
                Err(why) => room.warn(format!("the answer was not accepted: {why}"), "see: workshop workflow show RUN"),
            }
        }
    }
}

/// Applies a person's change in the graph; the file is saved like one that the person edits.
fn change_file(room: &mut RunsAccess<'_, '_>, workflows: &mut Workflows, path: &str, edit: &WorkflowEdit) {
    let known = workflows.text(&room.known, path).map(str::to_owned);
    let changed = match &known {
        Some(text) => edit::apply(text, edit),
        None => Err("there is no such workflow".to_owned()),
    };
    match (changed, known) {
        (Ok(content), Some(text)) if content != text => {
            workflows.edited.insert(path.to_owned(), content.clone());
            room.save(path, content_hash(text.as_bytes()), content);
        }
        (Ok(_), _) => {}
        (Err(why), _) => room.warn(format!("{path} was not changed: {why}"), "change it in the editor"),
    }
}

/// Events that can trigger workflows.
#[derive(Default)]
pub(super) struct TriggerEvents {
    /// Whether the room was opened.
    pub(super) is_opened: bool,
    /// The paths of changed files.
    pub(super) changed: Vec<String>,
}

/// The widening of a workflow that would start by itself; `None` if only a person starts it.
pub fn trigger_widening(path: &str, trigger: &Trigger) -> Option<Widening> {
    let sentence = "starts this workflow, whose agents then work without being told to";
    (*trigger != Trigger::Manual).then(|| Widening::starting(path, trigger.to_string(), sentence))
}

/// Starts workflows that were triggered, as far as the person trusts that they start by themselves.
pub(super) fn start_triggered(
    room: &mut RunsAccess<'_, '_>,
    workflows: &Workflows,
    runs: &mut WorkflowRuns,
    happened: &TriggerEvents,
    held: &StartsHeld,
) {
    let now = room.clock.tick();
    let stale: Vec<String> =
        runs.timers.keys().filter(|path| !workflows.files().contains_key(*path)).cloned().collect();
    stale.iter().for_each(|path| drop(runs.timers.remove(path)));
    for (path, file) in workflows.files() {
        if trigger_widening(path, &file.workflow.trigger).is_some_and(|widening| !held.allows(|| widening)) {
            runs.timers.remove(path);
            continue;
        }
        let why = match &file.workflow.trigger {
            Trigger::Manual => {
                runs.timers.remove(path);
                continue;
            }
            Trigger::Auto => happened.is_opened.then(|| "the room was opened".to_owned()),
            Trigger::Change { glob } => {
                let changed = happened.changed.iter().find(|changed| globs::matches(glob, changed));
                changed.map(|changed| format!("{changed} changed"))
            }
            Trigger::Every { secs } => {
                let every = ticks(*secs as f32);
                let timer = runs.timers.entry(path.clone()).or_default();
                let due = *timer.due.get_or_insert(now + every);
                // The interval in the file was shortened.
                if due > now + every {
                    timer.due = Some(now + every);
                }
                (now >= due).then(|| {
                    timer.due = Some(now + every);
                    format!("{} passed", file.workflow.trigger.to_string().replacen("every ", "", 1))
                })
            }
        };
        let Some(why) = why else { continue };
        // A run does not trigger its own workflow again.
        if runs.iter().any(|run| run.file == *path && run.is_running()) {
            continue;
        }
        if !may_begin(room, runs.timers.entry(path.clone()).or_default(), path, now) {
            continue;
        }
        let by: Id = format!("trigger: {why}").into();
        if let Err((what, remedy)) = start_run(room, workflows, runs, (path, BTreeMap::new()), by) {
            room.warn(format!("{what} ({why})"), &remedy);
        }
    }
}

/// Whether the trigger limit per hour allows another start; warns once if it does not.
fn may_begin(room: &mut RunsAccess<'_, '_>, timer: &mut Timer, path: &str, now: u64) -> bool {
    timer.began.retain(|began| now < began + HOUR_TICKS);
    let most = room.settings.max_triggered_per_hour as usize;
    if timer.began.len() < most {
        timer.began.push_back(now);
        timer.is_told = false;
        return true;
    }
    if !timer.is_told {
        timer.is_told = true;
        let what = format!("{path} is paused: it was triggered {most} times in an hour");
        room.warn(what, "check whether it triggers itself, or raise workflow.max_triggered_per_hour");
    }
    false
}
