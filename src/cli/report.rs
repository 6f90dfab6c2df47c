//! The report at the end of a run: the result on standard output and everything else on standard error, or all of it as
//! one JSON object.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::step_report::ActionLog;
use super::{CliError, ExitStatus, output};
use crate::base::ids::USER;
use crate::base::text::{one_line, truncate};
use crate::base::{Id, Problem};
use crate::gateway::ExchangeCounts;
use crate::gateway::health::ProviderFault;
use crate::gateway::ledger::{Tally, Traffic};
use crate::gateway::price_source;
use crate::kernel::{Approval, Kernel};
use crate::log::EventRecord;
use crate::log::events::FileChange;
use crate::orchestration::workflow::PersonQuestion;
use crate::schedule::TICKS_PER_SEC;
use crate::workspace::vfs::OUTSIDE;

/// The maximum length of a shown task, in characters.
const TASK_CHARS: usize = 80;
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
    /// The providers that fail, and why.
    pub(super) provider_faults: Vec<ProviderFault>,
    /// The open approvals.
    pub(super) approvals: Vec<Approval>,
    /// The workflow steps that wait for a person.
    pub(super) steps: Vec<PersonQuestion>,
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
            verdict,
            ticks: 0,
            took: Duration::ZERO,
            spent: Tally::default(),
            exchanged: ExchangeCounts::default(),
            traffic: BTreeMap::new(),
            files: FilesChanged::default(),
            problems: Vec::new(),
            provider_faults: Vec::new(),
            approvals: Vec::new(),
            steps: Vec::new(),
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
            "unfinished": self.unfinished,
        });
        if let Some(actions) = &self.actions {
            all["acts"] = actions.list().into();
            let waits = |approval: &Approval| json!({ "for": "person", "id": approval.id, "agent": approval.agent, "tool": approval.tool });
            let step = |step: &PersonQuestion| json!({ "for": "person", "id": step.id, "workflow": step.run, "step": step.step });
            all["waits_for"] = self.approvals.iter().map(waits).chain(self.steps.iter().map(step)).collect();
        }
        if let Some(owner) = &self.owner {
            all["owner"] = owner.as_str().into();
        }
        all
    }
}
