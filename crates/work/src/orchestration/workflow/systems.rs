//! The systems of workflows: they pass events to the runs, and execute the actions that the runs return.

use bevy::ecs::prelude::*;

use super::access::RunsAccess;
use super::command::WorkflowCommand;
use super::format;
use super::run_files::RunFile;
use super::run_key::RunKey;
use super::run_state::PartWork;
use super::runs::{WorkflowRuns, Workflows};
use super::settings::WorkflowSettings;
use super::starting::{TriggerEvents, apply_command, start_triggered};
use super::step_prompt::GIVE_OUTPUT;
use crate::base::ids::ROOM;
use crate::kernel::WorkAnswer;
use crate::mind::Ending;
use crate::schedule::{RoomOpened, RoomPaused};
use crate::tools::{OrderOutcome, OrderReport, PendingToolOrders, Work};
use crate::workspace::FileChanged;
use crate::workspace::trust::StartsHeld;
use crate::workspace::vfs::{FileAnswer, FileOutcome, FileResult, OutsideChange};

/// Follows the files of workflows, and reports their problems.
pub(super) fn follow_files(
    mut room: RunsAccess,
    mut workflows: ResMut<Workflows>,
    mut changes: MessageReader<FileChanged>,
) {
    let mut is_other = false;
    let paths: Vec<String> = if workflows.is_read {
        let paths = changes.read().map(|change| change.path.clone());
        paths.filter(|path| format::is_workflow(path)).collect()
    } else {
        changes.clear();
        workflows.is_read = true;
        room.known.all().keys().filter(|path| format::is_workflow(path)).cloned().collect()
    };
    for path in paths {
        is_other = true;
        match room.known.text(&path) {
            Some(text) => {
                let file = format::read(&path, text);
                workflows.files.insert(path.clone(), file);
            }
            None => drop(workflows.files.remove(&path)),
        }
        workflows.problems.remove(&path);
        workflows.edited.remove(&path);
        if !workflows.files.contains_key(&path) {
            room.report(&path, Vec::new());
        }
    }
    if (is_other || room.have_agents_changed()) && !workflows.files.is_empty() {
        room.check_all(&mut workflows);
    }
}

/// Lets people and events start workflows, and advances the running ones.
pub(super) fn advance_runs(
    mut room: RunsAccess,
    mut workflows: ResMut<Workflows>,
    mut runs: ResMut<WorkflowRuns>,
    mut commands: MessageReader<WorkflowCommand>,
    mut opened: MessageReader<RoomOpened>,
    (mut changes, mut others, mut outcomes): (
        MessageReader<FileChanged>,
        MessageReader<OutsideChange>,
        MessageReader<FileOutcome>,
    ),
    (standstill, held): (Option<Res<RoomPaused>>, StartsHeld),
) {
    let mut happened = TriggerEvents { is_opened: opened.read().count() > 0, changed: Vec::new() };
    happened.changed.extend(changes.read().filter(|change| change.by.is_user()).map(|change| change.path.clone()));
    happened.changed.extend(others.read().map(|change| change.path.clone()));
    for outcome in outcomes.read() {
        // Views must not see a change with every outcome.
        let owner = runs.bypass_change_detection().file_orders.take(outcome);
        if let Some(RunFile::Output { run, attempt, output }) = owner {
            was_read(&mut room, &mut runs, (run, attempt, &output), outcome);
        } else if let Some(RunFile::Result { run }) = owner {
            was_written(&mut runs, run);
        } else if let Some((done, _)) = outcome.result.as_ref().ok().and_then(FileAnswer::change)
            && *outcome.author.0 != *ROOM
        {
            let (FileResult::Written { path, .. }
            | FileResult::Deleted { path, .. }
            | FileResult::Renamed { to: path, .. }) = done;
            happened.changed.push(path.clone());
        }
    }
    for command in commands.read() {
        apply_command(&mut room, &mut workflows, &mut runs, command);
    }
    // Views must not see a change in every tick.
    let (count, goes_on) = (runs.runs.len(), runs.is_running());
    advance_all_runs(&mut room, &workflows, runs.bypass_change_detection(), &happened, (standstill.as_deref(), &held));
    if goes_on || runs.runs.len() != count {
        runs.set_changed();
    }
}

fn advance_all_runs(
    room: &mut RunsAccess,
    workflows: &Workflows,
    runs: &mut WorkflowRuns,
    happened: &TriggerEvents,
    (standstill, held): (Option<&RoomPaused>, &StartsHeld),
) {
    if standstill.is_some_and(|standstill| standstill.holds()) {
        return;
    }
    let has_triggers = !workflows.files().is_empty() || !runs.timers.is_empty();
    if has_triggers && !held.holds() {
        start_triggered(room, workflows, runs, happened, held);
    }
    if runs.runs.is_empty() {
        return;
    }
    let WorkflowRuns { runs: all, written, file_orders, .. } = runs;
    for (key, run) in all.iter_mut() {
        let (before, written) = ((run.status, run.active.len()), written.entry(*key).or_default());
        if run.is_running() || !run.let_go.is_empty() || !run.to_end.is_empty() {
            // While all work is paused, nothing new needs to be queued.
            if !room.kernel.is_paused() || run.active.is_empty() {
                room.advance(run, file_orders);
            }
        }
        written.is_behind |= before != (run.status, run.active.len());
        room.write(run, written, file_orders);
    }
    let known = room.settings.finished_known as usize;
    runs.forget(known);
}

/// The file with an output of the current attempt at a part was read, or could not be.
fn was_read(
    room: &mut RunsAccess,
    runs: &mut WorkflowRuns,
    (key, attempt, output): (RunKey, u64, &str),
    outcome: &FileOutcome,
) {
    let (now, limits) = (room.clock.tick(), room.settings.limits());
    let Some(run) = runs.runs.get_mut(&key) else { return };
    let Some(at) = run.part_of_attempt(attempt) else { return };
    let text = match &outcome.result {
        Ok(FileAnswer::Text { content, .. }) => Ok(content.clone()),
        Ok(_) => Err("is not text".to_owned()),
        Err(failure) => Err(format!("cannot be read: {}", failure.what)),
    };
    run.was_read(at, output, text, now, &limits);
    room.record_progress(run);
    runs.written.entry(key).or_default().is_behind = true;
}

/// The result of a run was written to its file, or could not be.
fn was_written(runs: &mut WorkflowRuns, key: RunKey) {
    let Some(run) = runs.runs.get_mut(&key) else { return };
    // Failed writes are reported and retried by the code that owns the files.
    run.is_written = true;
}

/// Applies the results of the steps' work.
pub(super) fn apply_work_answers(
    mut room: RunsAccess,
    mut runs: ResMut<WorkflowRuns>,
    mut news: MessageReader<WorkAnswer>,
) {
    if news.is_empty() || runs.runs.is_empty() {
        news.clear();
        return;
    }
    let (now, limits) = (room.clock.tick(), room.settings.limits());
    let is_paused = room.kernel.is_paused();
    let WorkflowRuns { runs: all, written, .. } = &mut *runs;
    for news in news.read() {
        for (key, run) in all.iter_mut().filter(|(_, run)| run.is_running()) {
            let is_its = match news {
                WorkAnswer::Begun { order, activation, thread, agent } => {
                    let at = run.part_for_order(order);
                    let work = PartWork { activation: *activation, thread: *thread, agent: agent.clone() };
                    at.map(|at| run.begun(at, work)).is_some()
                }
                WorkAnswer::Refused { order, why } => {
                    let at = run.part_for_order(order);
                    at.map(|at| run.refused(at, why.clone(), now)).is_some()
                }
                WorkAnswer::Ended { activation, ending, .. } => {
                    let is_its = run.ended(*activation, ending, now, &limits);
                    if is_its && is_paused && matches!(ending, Ending::Aborted { by_person: true, .. }) {
                        run.stop("a person stopped all work", now);
                    }
                    is_its
                }
            };
            if is_its {
                room.record_progress(run);
                written.entry(*key).or_default().is_behind = true;
                break;
            }
        }
    }
}

/// Answers calls of the output tool. Runs before all systems that read the answer in the same tick.
pub(super) fn answer_calls(
    settings: Res<WorkflowSettings>,
    orders: Res<PendingToolOrders>,
    mut runs: ResMut<WorkflowRuns>,
    mut outcomes: MessageWriter<OrderOutcome>,
) {
    let limits = settings.limits();
    for order in orders.of(GIVE_OUTPUT) {
        let Work::Order { order: arguments } = &order.plan.work else { continue };
        let name = arguments.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        let value = arguments.get("value").cloned().unwrap_or_default();
        let run = runs.runs.values_mut().find(|run| run.at_work(order.key.activation).is_some());
        let given = match run {
            Some(run) => run.store_output(order.key.activation, name, value, &limits),
            None => Err("this work is not a step of a running workflow".to_owned()),
        };
        outcomes.write(OrderOutcome { key: order.key, news: OrderReport::ended(given) });
    }
}
