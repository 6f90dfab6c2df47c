//! A daemon step (`--pump`) while another process has the room open. It does not act: it waits, up to a timeout, until
//! the other process has loaded the files, and reports what is running and what waits for a person.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy::ecs::world::World;

use super::approval_prompts::asks;
use super::report::{Verdict, describe_unfinished};
use super::waiting_steps::waiting;
use super::{CliError, ExitStatus};
use crate::app::opening::OpenError;
use crate::app::running_elsewhere::{
    LoadStatus, NewestRun, inspect_open_room, is_running, newest_run, owner, stopped_owner,
};
use crate::kernel::{Approval, Kernel};
use crate::orchestration::workflow::{PersonQuestion, WorkflowRuns};

/// How long to wait until the room has loaded the files.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait until a step of another daemon ends.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);
/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of listed files that the room has not loaded.
const MAX_NAMED: usize = 5;

/// The state of a room that another process has open.
#[derive(Debug)]
pub(super) struct Overview {
    pub(super) verdict: Verdict,
    pub(super) approvals: Vec<Approval>,
    pub(super) steps: Vec<PersonQuestion>,
    pub(super) unfinished: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The result of waiting for the process that has the room open.
#[derive(Debug)]
pub(super) enum HandOver {
    /// It has loaded the files, or finished a step of its own.
    HandedOver(Box<Overview>),
    /// It ended before that: the room is free.
    Free,
}

/// Describes the process that has the room open.
pub(super) fn describe_owner(workspace: &Path) -> String {
    owner(workspace).map_or_else(|| "another process".to_owned(), |process| format!("process {process}"))
}

/// Waits until the process that has the room open has loaded the current files.
pub(super) fn hand_over(workspace: &Path, interrupted: &AtomicBool) -> Result<HandOver, CliError> {
    let failed = |error: OpenError| CliError::failed(&error).hint(error.remedy());
    let start = Instant::now();
    let first = newest_run(workspace).map_err(failed)?;
    let mut seen_running: Option<NewestRun> = None;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(HandOver::HandedOver(Box::new(Overview {
                verdict: Verdict::new(ExitStatus::Interrupted, "interrupted"),
                approvals: Vec::new(),
                steps: Vec::new(),
                unfinished: None,
                notes: Vec::new(),
            })));
        }
        // Check the owner before the run, so that a run that ends in between is not mistaken for one without an owner.
        let is_there = owner(workspace).is_none_or(is_running);
        let newest = newest_run(workspace).map_err(failed)?;
        let is_own_run = newest.is_some() && (newest != first || seen_running.is_some());
        // A stopped process is not waited for.
        if let (Some(process), Some(run)) = (stopped_owner(workspace), newest.as_ref()) {
            return handed_over_by_stopped(workspace, run, process).map_err(failed);
        }
        let Some(run) = newest.as_ref() else {
            if !is_there {
                return Ok(HandOver::Free);
            }
            std::thread::sleep(POLL_INTERVAL);
            if start.elapsed() > LOAD_TIMEOUT {
                return Ok(HandOver::HandedOver(Box::new(unknown())));
            }
            continue;
        };
        if run.is_over || !is_there {
            if !is_there {
                return match run.is_over && is_own_run {
                    true => handed_over(workspace, run, None).map_err(failed),
                    // It ended early or never began: the step must still be done.
                    false => Ok(HandOver::Free),
                };
            }
            // The room is being opened or closed.
        } else {
            seen_running = Some(run.clone());
            let inspected = inspect_open_room(workspace, &run.scene, |_| ()).map_err(failed)?;
            let waited = start.elapsed();
            let is_done = match &inspected {
                // Another daemon's step: wait until it has ended.
                Some((load, ())) if load.is_pump => waited > STEP_TIMEOUT,
                Some((load, ())) => load.is_complete() || waited > LOAD_TIMEOUT,
                None => waited > LOAD_TIMEOUT,
            };
            if is_done {
                let load = inspected.map(|(load, ())| load);
                return handed_over(workspace, run, load.as_ref()).map_err(failed);
            }
        }
        if start.elapsed() > STEP_TIMEOUT {
            return handed_over(workspace, run, None).map_err(failed);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn unknown() -> Overview {
    Overview {
        verdict: Verdict::new(ExitStatus::Done, "the room is still being opened"),
        approvals: Vec::new(),
        steps: Vec::new(),
        unfinished: None,
        notes: Vec::new(),
    }
}

fn handed_over(workspace: &Path, run: &NewestRun, load: Option<&LoadStatus>) -> Result<HandOver, OpenError> {
    let mut overview =
        inspect_open_room(workspace, &run.scene, overview)?.map_or_else(unknown, |(_, overview)| overview);
    if let Some(load) = load.filter(|load| !load.is_complete()) {
        let mut named: Vec<String> = load.behind.iter().take(MAX_NAMED).cloned().collect();
        if load.answers > 0 {
            named.push(format!("{} answers", load.answers));
        }
        let named = named.join(", ");
        overview.notes.push(format!("not loaded yet: {named}; check again with: workshop status"));
    }
    Ok(HandOver::HandedOver(Box::new(overview)))
}

/// Reports the last state of a room whose process is stopped.
fn handed_over_by_stopped(workspace: &Path, run: &NewestRun, process: u32) -> Result<HandOver, OpenError> {
    let mut overview =
        inspect_open_room(workspace, &run.scene, overview)?.map_or_else(unknown, |(_, overview)| overview);
    overview.notes.push(format!("process {process} is stopped, so work waits; continue it with: kill -CONT {process}"));
    Ok(HandOver::HandedOver(Box::new(overview)))
}

/// Describes the state of a room as a daemon step reports it.
fn overview(world: &World) -> Overview {
    let kernel = world.resource::<Kernel>();
    let approvals: Vec<Approval> = kernel.approvals().collect();
    let unfinished = describe_unfinished(kernel);
    let steps: Vec<PersonQuestion> = world.resource::<WorkflowRuns>().questions().collect();
    let asked: Vec<String> = approvals.iter().map(|approval| asks(world, approval)).collect();
    let verdict = if !asked.is_empty() {
        let hint = "answer in tasks/approvals.task.md, or with: workshop approvals allow ID";
        Verdict::new(ExitStatus::Waiting, asked.join("; ")).hint(hint)
    } else {
        waiting(&steps).unwrap_or_else(|| match &unfinished {
            Some(words) => Verdict::new(ExitStatus::Done, format!("work continues there: {words}")),
            None => Verdict::done(),
        })
    };
    Overview { verdict, approvals, steps, unfinished, notes: Vec::new() }
}
