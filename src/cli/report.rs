//! The report at the end of a run: the result on standard output and everything else on standard error, or all of it as
//! one JSON object.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::step_report::Acts;
use super::{Complaint, Ending, output};
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

/// How many characters of a task are shown.
const TASK_CHARS: usize = 80;
/// How many changed files are listed.
const FILES_AT_MOST: usize = 10_000;

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Verdict {
    /// The exit code and the word for programs.
    pub(super) ending: Ending,
    /// Why, in words; empty if it did what it was asked to.
    pub(super) reason: String,
    /// What a person can do.
    pub(super) hint: Option<String>,
    /// The result of the task.
    pub(super) result: Option<String>,
}

impl Verdict {
    /// It did what it was asked to.
    pub(super) fn done() -> Self {
        Self { ending: Ending::Done, reason: String::new(), hint: None, result: None }
    }

    /// It ended otherwise, and why.
    pub(super) fn new(ending: Ending, reason: impl Into<String>) -> Self {
        Self { ending, reason: reason.into(), hint: None, result: None }
    }

    /// With what a person can do.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        self
    }
}

impl From<Complaint> for Verdict {
    fn from(complaint: Complaint) -> Self {
        let reason = complaint.what.unwrap_or_default();
        Self { ending: complaint.ending, reason, hint: complaint.hint, result: None }
    }
}

/// The files that agents changed, by path.
#[derive(Default)]
pub(super) struct FilesChanged(BTreeMap<String, Value>);

impl FilesChanged {
    /// Notes what these events say.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        for event in events {
            let Some(change) = event.read::<FileChange>() else { continue };
            let by = event.draft.agent.as_ref().unwrap_or(&change.by);
            let is_agents = **by != *USER && **by != *OUTSIDE;
            if is_agents && (self.0.len() < FILES_AT_MOST || self.0.contains_key(&*change.path)) {
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
    /// Its name in the log.
    pub(super) run: Option<Id>,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// How many ticks it had.
    pub(super) ticks: u64,
    /// How long it took.
    pub(super) took: Duration,
    /// What models were asked and what that cost.
    pub(super) spent: Tally,
    /// What agents exchanged with each other.
    pub(super) exchanged: ExchangeCounts,
    /// What each provider was sent and said.
    pub(super) traffic: BTreeMap<String, Traffic>,
    /// What agents changed.
    pub(super) files: FilesChanged,
    /// What is wrong in the workspace.
    pub(super) problems: Vec<Problem>,
    /// Which providers fail, and why.
    pub(super) provider_faults: Vec<ProviderFault>,
    /// What a person is asked.
    pub(super) approvals: Vec<Approval>,
    /// What workflows ask a person.
    pub(super) steps: Vec<PersonQuestion>,
    /// The work that continues when the room is opened again, in words.
    pub(super) unfinished: Option<String>,
    /// What was done, where it was one step.
    pub(super) acts: Option<Acts>,
    /// The owner of the room, if another process has it.
    pub(super) owner: Option<String>,
}

/// The unfinished work, in words.
pub(super) fn unfinished_words(kernel: &Kernel) -> Option<String> {
    let mut work = kernel.activations();
    let first = work.next()?;
    let words = format!("{}: “{}”", first.agent, truncate(&one_line(&first.input), TASK_CHARS));
    Some(match work.count() {
        0 => words,
        more => format!("{words}, and {more} more"),
    })
}

impl Report {
    /// The report on a run that never began.
    pub(super) fn on(complaint: &Complaint) -> Self {
        let verdict = Verdict {
            ending: complaint.ending,
            reason: complaint.what.clone().unwrap_or_default(),
            hint: complaint.hint.clone(),
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
            acts: None,
            owner: None,
        }
    }

    /// Prints it. `result_in_events` means that standard output contains the events, which include the result.
    pub(super) fn print(&self, as_json: bool, is_quiet: bool, result_in_events: bool) -> Result<(), Complaint> {
        let verdict = &self.verdict;
        if verdict.ending == Ending::ReaderGone {
            return Ok(());
        }
        if as_json {
            output::json(&self.to_json())?;
        } else if let Some(result) = verdict.result.as_ref().filter(|_| !result_in_events) {
            output::result(result)?;
        }
        self.print_summary(is_quiet);
        let word = match verdict.ending {
            Ending::Done | Ending::ReaderGone => None,
            Ending::Limited => Some("stopped"),
            Ending::Waiting => Some("waiting"),
            Ending::Failed | Ending::BadUsage => Some("error"),
            Ending::Interrupted => None,
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
        let Some(run) = self.run.as_ref().filter(|_| !is_quiet && output::is_watched()) else { return };
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

    /// All of it for programs.
    pub(super) fn to_json(&self) -> Value {
        let mut all = json!({
            "run": self.run,
            "ended": self.verdict.ending.as_str(),
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
        if let Some(acts) = &self.acts {
            all["acts"] = acts.list().into();
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
