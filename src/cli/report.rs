//! The report at the end of a run: the result on standard output and everything else on standard error, or all of it as
//! one JSON object.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::step_report::ActionLog;
use super::{CliError, ExitStatus, output};
use crate::base::ids::USER;
use crate::base::text::{one_line, truncate};
use crate::base::{Id, Problem};
use crate::desk::person_tasks::PersonTask;
use crate::gateway::ExchangeCounts;
use crate::gateway::health::ProviderFault;
use crate::gateway::ledger::{Tally, Traffic};
use crate::gateway::price_source;
use crate::kernel::{Approval, Kernel};
use crate::log::EventRecord;
use crate::log::events::{CallFailure, FileChange, ModelCall, enum_name};
use crate::mind::FailureKind;
use crate::mind::spoken::OFFLINE;
use crate::orchestration::workflow::PersonQuestion;
use crate::schedule::TICKS_PER_SEC;
use crate::workspace::vfs::OUTSIDE;

/// The maximum length of a shown task, in characters.
const TASK_CHARS: usize = 80;
/// What is said with a result that the offline brain gave.
pub(super) const SIMULATED: &str =
    "note: simulated (offline): no model answered; choose one with --provider, or see: workshop doctor";
/// The maximum number of changed files that are listed.
const MAX_FILES: usize = 10_000;

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Verdict {
    /// The exit status.
    pub(super) exit: ExitStatus,
    /// Why, as text; empty if the run did what it was asked to do.
    pub(super) reason: String,
    /// What a person can do next.
    pub(super) hint: Option<String>,
    /// The result of the task.
    pub(super) result: Option<String>,
}

impl Verdict {
    /// The verdict of a run that did what it was asked to do.
    pub(super) fn done() -> Self {
        Self { exit: ExitStatus::Done, reason: String::new(), hint: None, result: None }
    }

    /// A verdict with a reason.
    pub(super) fn new(exit: ExitStatus, reason: impl Into<String>) -> Self {
        Self { exit, reason: reason.into(), hint: None, result: None }
    }

    /// Adds a hint on what a person can do next.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        self
    }
}

impl From<CliError> for Verdict {
    fn from(error: CliError) -> Self {
        let reason = error.what.unwrap_or_default();
        Self { exit: error.exit, reason, hint: error.hint, result: None }
    }
}

/// Work of an agent that failed although the run's own work may have ended well.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct FailedWork {
    /// The id of the agent.
    pub(super) agent: Id,
    /// Why it failed.
    pub(super) why: String,
}

impl FailedWork {
    /// As a problem of the run.
    pub(super) fn problem(&self) -> Problem {
        let what = format!("its work for the task failed: {}", one_line(&self.why));
        Problem::error(&*self.agent, what, "fix the cause, and give the task again")
    }
}

/// Counts the model calls of a run and keeps the latest failure.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct CallOutcomes {
    answered: u64,
    /// How many of the answers came from the offline brain instead of a model.
    simulated: u64,
    failed: u64,
    last: Option<CallFailure>,
}

impl CallOutcomes {
    /// Counts the model calls among these events; a person's test of a provider is none.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        let not_sent = [FailureKind::Cancelled, FailureKind::PutOff].map(enum_name);
        for call in events.iter().filter_map(|event| event.read::<ModelCall>()).filter(|call| call.kind != "trial") {
            match call.error {
                Some(error) if error.kind.as_ref().is_some_and(|kind| not_sent.contains(kind)) => {}
                Some(error) => (self.failed, self.last) = (self.failed + 1, Some(error)),
                None => {
                    self.answered += 1;
                    self.simulated += u64::from(call.provider == OFFLINE);
                }
            }
        }
    }

    /// Whether the offline brain gave answers.
    pub(super) fn are_simulated(&self) -> bool {
        self.simulated > 0
    }

    /// The verdict of a run in which every call failed; `None` if there was no call, or if one was answered.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let last = self.last.as_ref().filter(|_| self.answered == 0)?;
        let is_limit = last.kind.as_ref() == Some(&enum_name(FailureKind::OverBudget));
        let exit = if is_limit { ExitStatus::Limited } else { ExitStatus::Failed };
        let what = match self.failed {
            1 => format!("the only model call failed: {}", last.what),
            count => format!("all {count} model calls failed, the last one because: {}", last.what),
        };
        Some(Verdict::new(exit, what).hint(last.remedy.clone().unwrap_or_default()))
    }
}

/// The files that agents changed, by path.
#[derive(Default)]
pub(super) struct FilesChanged(BTreeMap<String, Value>);

impl FilesChanged {
    /// Records the file changes among these events.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        for event in events {
            let Some(change) = event.read::<FileChange>() else { continue };
            let by = event.draft.agent.as_ref().unwrap_or(&change.by);
            let is_agents = **by != *USER && **by != *OUTSIDE;
            if is_agents && (self.0.len() < MAX_FILES || self.0.contains_key(&*change.path)) {
                let done = if change.gone { "deleted" } else { "written" };
                let listed = json!({ "path": change.path, "change": done, "by": by });
                self.0.insert(change.path.to_string(), listed);
            }
        }
    }

    fn list(&self) -> Vec<&Value> {
        self.0.values().collect()
    }
}

/// The complete report at the end of a run.
pub(super) struct Report {
    /// The id of the run in the log.
    pub(super) run: Option<Id>,
    /// Whether the person has not trusted the workspace.
    pub(super) is_restricted: bool,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// The number of simulated ticks.
    pub(super) ticks: u64,
    /// The real time that it took.
    pub(super) took: Duration,
    /// The number of model calls and tokens, and their cost.
    pub(super) spent: Tally,
    /// The messages between agents, by kind.
    pub(super) exchanged: ExchangeCounts,
    /// The traffic with each provider.
    pub(super) traffic: BTreeMap<String, Traffic>,
    /// The files that agents changed.
    pub(super) files: FilesChanged,
    /// The current problems of the workspace.
    pub(super) problems: Vec<Problem>,
    /// The work of other agents that failed below the run's own.
    pub(super) failed_work: Vec<FailedWork>,
    /// The providers that fail, and why.
    pub(super) provider_faults: Vec<ProviderFault>,
    /// The open approvals.
    pub(super) approvals: Vec<Approval>,
    /// The workflow steps that wait for a person.
    pub(super) steps: Vec<PersonQuestion>,
    /// The tasks in files that only a person can continue, and that work of agents waits for.
    pub(super) person_tasks: Vec<PersonTask>,
    /// Whether the offline brain gave answers, instead of a model.
    pub(super) is_simulated: bool,
    /// A description of the work that continues when the room is opened again.
    pub(super) unfinished: Option<String>,
    /// The actions, for a single step of a daemon.
    pub(super) actions: Option<ActionLog>,
    /// The process that has the room open, if it is another one.
    pub(super) owner: Option<String>,
}

/// Describes the unfinished work; `None` if there is none.
pub(super) fn describe_unfinished(kernel: &Kernel) -> Option<String> {
    let mut work = kernel.activations();
    let first = work.next()?;
    let words = format!("{}: “{}”", first.agent, truncate(&one_line(&first.input), TASK_CHARS));
    Some(match work.count() {
        0 => words,
        more => format!("{words}, and {more} more"),
    })
}

impl Report {
    /// The report of a run that failed before it began.
    pub(super) fn of_error(error: &CliError) -> Self {
        let verdict = Verdict {
            exit: error.exit,
            reason: error.what.clone().unwrap_or_default(),
            hint: error.hint.clone(),
            result: None,
        };
        Self {
            run: None,
            is_restricted: false,
            verdict,
            ticks: 0,
            took: Duration::ZERO,
            spent: Tally::default(),
            exchanged: ExchangeCounts::default(),
            traffic: BTreeMap::new(),
            files: FilesChanged::default(),
            problems: Vec::new(),
            failed_work: Vec::new(),
            provider_faults: Vec::new(),
            approvals: Vec::new(),
            steps: Vec::new(),
            person_tasks: Vec::new(),
            is_simulated: false,
            unfinished: None,
            actions: None,
            owner: None,
        }
    }

    /// Prints the report. If `result_in_events`, the result is not printed, because it is in the events on standard
    /// output or in the file of `--out`.
    pub(super) fn print(&self, as_json: bool, is_quiet: bool, result_in_events: bool) -> Result<(), CliError> {
        let verdict = &self.verdict;
        if verdict.exit == ExitStatus::ReaderGone {
            return Ok(());
        }
        if as_json {
            output::json(&self.to_json())?;
        } else if let Some(result) = verdict.result.as_ref().filter(|_| !result_in_events) {
            output::result(result)?;
        }
        self.print_summary(is_quiet);
        let word = match verdict.exit {
            ExitStatus::Done | ExitStatus::ReaderGone => None,
            ExitStatus::Limited => Some("stopped"),
            ExitStatus::Waiting => Some("waiting"),
            ExitStatus::Failed | ExitStatus::BadUsage => Some("error"),
            ExitStatus::Interrupted => None,
        };
        if let Some(word) = word {
            output::note(&format!("{word}: {}", verdict.reason));
        }
        if let Some(hint) = &verdict.hint {
            output::note(&format!("hint: {hint}"));
        }
        if let Some(unfinished) = self.unfinished.as_ref().filter(|_| !is_quiet && self.owner.is_none()) {
            output::note(&format!("note: unfinished work continues when this workspace is next opened: {unfinished}"));
        }
        Ok(())
    }

    fn print_summary(&self, is_quiet: bool) {
        let Some(run) = self.run.as_ref().filter(|_| !is_quiet && output::stderr_is_terminal()) else { return };
        let cached: u64 = self.traffic.values().map(|traffic| traffic.cached_tokens).sum();
        let cached = if cached > 0 { format!(" ({cached} from the cache)") } else { String::new() };
        let exchanged = if self.exchanged.is_empty() { String::new() } else { format!("; {}", self.exchanged) };
        output::note(&format!(
            "{run}: {:.0} simulated seconds in {:.1} s; {} model calls, {} tokens{cached}, {}{exchanged}",
            self.ticks as f64 / TICKS_PER_SEC as f64,
            self.took.as_secs_f64(),
            self.spent.calls,
            self.spent.tokens,
            self.spent.cost()
        ));
    }

    /// The report as JSON.
    pub(super) fn to_json(&self) -> Value {
        let mut all = json!({
            "run": self.run,
            "ended": self.verdict.exit.word(),
            "reason": self.verdict.reason,
            "hint": self.verdict.hint,
            "result": self.verdict.result,
            "simulated": self.is_simulated,
            "restricted": self.is_restricted,
            "files_changed": self.files.list(),
            "ticks": self.ticks,
            "simulated_secs": self.ticks as f64 / TICKS_PER_SEC as f64,
            "seconds": self.took.as_secs_f64(),
            "calls": self.spent.calls,
            "tokens": self.spent.tokens,
            "cost_usd": self.spent.cost().known(),
            "cost_known_usd": self.spent.cost_usd(),
            "unpriced_tokens": self.spent.unpriced_tokens,
            "prices": price_source(),
            "exchanged": self.exchanged,
            "providers": self.traffic,
            "problems": self.problems,
            "provider_faults": self.provider_faults,
            "approvals": self.approvals,
            "tasks_for_people": self.person_tasks,
            "failed_work": self.failed_work,
            "unfinished": self.unfinished,
        });
        if let Some(actions) = &self.actions {
            all["acts"] = actions.list().into();
            let waits = |approval: &Approval| json!({ "for": "person", "id": approval.id, "agent": approval.agent, "tool": approval.tool });
            let step = |step: &PersonQuestion| json!({ "for": "person", "id": step.id, "workflow": step.run, "step": step.step });
            let task = |task: &PersonTask| json!({ "for": "person", "id": task.id, "file": task.file, "line": task.line, "title": task.title, "why": task.why });
            let approvals = self.approvals.iter().map(waits);
            let waits_for = approvals.chain(self.steps.iter().map(step)).chain(self.person_tasks.iter().map(task));
            all["waits_for"] = waits_for.collect();
        }
        if let Some(owner) = &self.owner {
            all["owner"] = owner.as_str().into();
        }
        all
    }
}
