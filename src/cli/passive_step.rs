//! One step of a daemon while another process has the room open: it does not act. The other process loads the files;
//! this one waits for that within reason, and reports what is running and what waits for a person.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy::ecs::world::World;

use super::approval_prompts::asks;
use super::report::{Verdict, unfinished_words};
use super::waiting_steps::waiting;
use super::{Complaint, Ending};
use crate::app::opening::OpenError;
use crate::app::running_elsewhere::{FilesLoaded, NewestRun, newest_run, owner, read_committed_state, runs};
use crate::kernel::{Approval, Kernel};
use crate::orchestration::workflow::{PersonQuestion, WorkflowRuns};

/// How long to wait until a room has loaded the files.
const TAKES_IN_WITHIN: Duration = Duration::from_secs(10);
/// How long to wait until another step ends.
const STEP_WITHIN: Duration = Duration::from_secs(120);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(100);
/// How many files that the room has not loaded are named.
const NAMED_AT_MOST: usize = 5;

/// What there is to report about a room that another process has open.
#[derive(Debug)]
pub(super) struct Overview {
    pub(super) verdict: Verdict,
    pub(super) approvals: Vec<Approval>,
    pub(super) steps: Vec<PersonQuestion>,
    pub(super) unfinished: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The result of waiting next to a room.
#[derive(Debug)]
pub(super) enum Beside {
    /// The owner applied the files, or finished a step of its own.
    HandedOver(Box<Overview>),
    /// The owner is gone without having done so: the room is free.
    Free,
}

/// Who has the room, in words.
pub(super) fn owner_words(workspace: &Path) -> String {
    owner(workspace).map_or_else(|| "another process".to_owned(), |process| format!("process {process}"))
}

/// Waits until the process that owns the room has loaded the present files.
pub(super) fn hand_over(workspace: &Path, interrupted: &AtomicBool) -> Result<Beside, Complaint> {
    let failed = |error: OpenError| Complaint::failed(&error).hint(error.remedy());
    let begun = Instant::now();
    let first = newest_run(workspace).map_err(failed)?;
    let mut seen_at_work: Option<NewestRun> = None;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Beside::HandedOver(Box::new(Overview {
                verdict: Verdict::new(Ending::Interrupted, "interrupted"),
                approvals: Vec::new(),
                steps: Vec::new(),
                unfinished: None,
                notes: Vec::new(),
            })));
        }
        // Who is there first: a run that ends after this is not taken for one that nobody has.
        let is_there = owner(workspace).is_none_or(runs);
        let newest = newest_run(workspace).map_err(failed)?;
        let is_its_own = newest.is_some() && (newest != first || seen_at_work.is_some());
        let Some(run) = newest.as_ref() else {
            if !is_there {
                return Ok(Beside::Free);
            }
            std::thread::sleep(LOOK);
            if begun.elapsed() > TAKES_IN_WITHIN {
                return Ok(Beside::HandedOver(Box::new(unknown())));
            }
            continue;
        };
        if run.is_over || !is_there {
            if !is_there {
                return match run.is_over && is_its_own {
                    true => handed_over(workspace, run, None).map_err(failed),
                    // It ended in the middle, or never began: what is due is still to be done.
                    false => Ok(Beside::Free),
                };
            }
            // It is being opened or closed.
        } else {
            seen_at_work = Some(run.clone());
            let looked = read_committed_state(workspace, &run.scene, |_| ()).map_err(failed)?;
            let waited = begun.elapsed();
            let is_done = match &looked {
                // A step ends, and then everything about it is known.
                Some((taken, ())) if taken.is_pump => waited > STEP_WITHIN,
                Some((taken, ())) => taken.is_all() || waited > TAKES_IN_WITHIN,
                None => waited > TAKES_IN_WITHIN,
            };
            if is_done {
                let taken = looked.map(|(taken, ())| taken);
                return handed_over(workspace, run, taken.as_ref()).map_err(failed);
            }
        }
        if begun.elapsed() > STEP_WITHIN {
            return handed_over(workspace, run, None).map_err(failed);
        }
        std::thread::sleep(LOOK);
    }
}

fn unknown() -> Overview {
    Overview {
        verdict: Verdict::new(Ending::Done, "the room is still being opened"),
        approvals: Vec::new(),
        steps: Vec::new(),
        unfinished: None,
        notes: Vec::new(),
    }
}

fn handed_over(workspace: &Path, run: &NewestRun, taken: Option<&FilesLoaded>) -> Result<Beside, OpenError> {
    let mut overview =
        read_committed_state(workspace, &run.scene, overview)?.map_or_else(unknown, |(_, overview)| overview);
    if let Some(taken) = taken.filter(|taken| !taken.is_all()) {
        let mut named: Vec<String> = taken.behind.iter().take(NAMED_AT_MOST).cloned().collect();
        if taken.answers > 0 {
            named.push(format!("{} answers", taken.answers));
        }
        let named = named.join(", ");
        overview.notes.push(format!("not loaded yet: {named}; check again with: workshop status"));
    }
    Ok(Beside::HandedOver(Box::new(overview)))
}

/// What a step would report about a room in this state.
fn overview(world: &World) -> Overview {
    let kernel = world.resource::<Kernel>();
    let approvals: Vec<Approval> = kernel.approvals().collect();
    let unfinished = unfinished_words(kernel);
    let steps: Vec<PersonQuestion> = world.resource::<WorkflowRuns>().questions().collect();
    let asked: Vec<String> = approvals.iter().map(|approval| asks(world, approval)).collect();
    let verdict = if !asked.is_empty() {
        let hint = "answer in tasks/approvals.task.md, or with: workshop approvals allow ID";
        Verdict::new(Ending::Waiting, asked.join("; ")).hint(hint)
    } else {
        waiting(&steps).unwrap_or_else(|| match &unfinished {
            Some(words) => Verdict::new(Ending::Done, format!("work continues there: {words}")),
            None => Verdict::done(),
        })
    };
    Overview { verdict, approvals, steps, unfinished, notes: Vec::new() }
}
