//! The state machine of a run. Pure: it receives events and returns actions; the same run and events give the same
//! steps, however often it was saved and loaded in between.
//!
//! Actions are only returned by [`Run::step`], so no decision is lost between two ticks: events only change the state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::definition::{Assignee, ForEach, RESULT, Repeat};
use super::limits::Limits;
use super::plan::Plan;
use super::run_events::FailedBy;
use super::run_key::RunKey;
use super::run_state::{Change, LoopState, Part, PartAt, PartStage, PartWork, Run, RunStatus, StepState, StepStatus};
use super::{step_prompt, value};
use crate::base::{ActivationKey, Id, Seq};

/// An action to execute for a run.
#[derive(Clone, PartialEq, Debug)]
pub enum WorkflowAction {
    /// An agent starts a part of a step.
    Begin {
        /// The part.
        at: PartAt,
        /// The permanent key of the work.
        order: Id,
        /// The agent, as named in the workflow.
        agent: Id,
        /// The task.
        task: String,
        /// The model to use instead of the agent's own.
        model: Option<String>,
        /// The maximum number of model requests.
        turns_at_most: Option<u32>,
        /// Whether it must provide outputs.
        gives: bool,
        /// The id of the agent whose result it continues with; the starting agent walks there.
        from: Option<Id>,
    },
    /// The agent gets a further message in the same session.
    Continue {
        /// The part.
        at: PartAt,
        /// The permanent key of the work.
        order: Id,
        /// The session.
        thread: ActivationKey,
        /// The message.
        text: String,
    },
    /// A session is no longer needed.
    Release {
        /// The session.
        thread: ActivationKey,
    },
    /// Work is aborted.
    End {
        /// The work.
        activation: ActivationKey,
    },
    /// A file that contains an output is read.
    Read {
        /// The part.
        at: PartAt,
        /// The name of the output.
        output: String,
        /// The permanent key of the order.
        order: Id,
        /// The path of the file.
        path: String,
        /// The id of the agent that wrote it, with whose rights it is read.
        agent: Id,
        /// The session in which it wrote it.
        thread: ActivationKey,
    },
}

impl Run {
    /// Creates a run at its start.
    pub fn begin(
        (key, file, name): (RunKey, &str, &str),
        plan: Arc<Plan>,
        variables: BTreeMap<String, String>,
        (by, now, cause): (Id, u64, Seq),
    ) -> Self {
        let first = plan.graph.before.iter().enumerate().filter(|(_, before)| before.is_empty());
        let mut run = Self {
            key,
            file: file.to_owned(),
            name: name.to_owned(),
            by,
            status: RunStatus::Running,
            why: String::new(),
            variables,
            began_tick: now,
            ended_tick: None,
            cause,
            result: None,
            is_written: false,
            steps: vec![StepState::default(); plan.steps.len()],
            loops: vec![LoopState::default(); plan.loops.len()],
            ready: first.map(|(at, _)| at).collect(),
            open: BTreeSet::new(),
            active: BTreeSet::new(),
            asked: BTreeSet::new(),
            let_go: Vec::new(),
            to_end: Vec::new(),
            begun: 0,
            changes: Vec::new(),
            revision: 0,
            plan,
        };
        run.log_progress(None, "started", "", None);
        run
    }

    pub(super) fn log_progress(&mut self, step: Option<usize>, to: &str, why: &str, agent: Option<Id>) {
        self.revision += 1;
        // The ends of nested workflows are not reported, because their last steps are.
        if step.is_none_or(|step| !self.is_join(step)) {
            let from = Vec::new();
            self.changes.push(Change { step, to: to.to_owned(), why: why.to_owned(), agent, from });
        }
    }

    /// Returns the changes since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Returns the actions that are due, each once.
    pub fn step(&mut self, now: u64, limits: &Limits) -> Vec<WorkflowAction> {
        let mut effects: Vec<WorkflowAction> =
            self.let_go.drain(..).map(|thread| WorkflowAction::Release { thread }).collect();
        effects.extend(self.to_end.drain(..).map(|activation| WorkflowAction::End { activation }));
        if self.status != RunStatus::Running {
            return effects;
        }
        self.ask_again(&mut effects);
        loop {
            while let Some(at) = self.ready.pop_first() {
                self.admit(at, now, limits);
            }
            while self.active.len() < limits.parallel.max(1)
                && let Some(at) = self.open.pop_first()
            {
                self.begin_part(at, now, &mut effects);
            }
            if self.ready.is_empty() {
                break;
            }
        }
        if self.active.is_empty() && self.open.is_empty() && self.asked.is_empty() {
            self.finish(now);
        }
        effects
    }

    /// Asks agents for missing outputs, and reads files that contain outputs.
    fn ask_again(&mut self, effects: &mut Vec<WorkflowAction>) {
        for at in self.active.iter().copied().collect::<Vec<_>>() {
            let names = self.order(at);
            let plan = self.plan.clone();
            let files: BTreeMap<String, String> = plan.steps[at.0]
                .outputs
                .iter()
                .filter_map(|output| Some((output.name.clone(), output.file.as_ref()?)))
                .map(|(name, file)| (name, file.render(|token| self.text(token, at)).trim().to_owned()))
                .collect();
            let Some(part) = self.part_mut(at) else { continue };
            let Some(work) = part.work.clone() else { continue };
            match &mut part.stage {
                PartStage::Missing { what } => {
                    let text = step_prompt::missing(what);
                    part.stage = PartStage::Begun;
                    effects.push(WorkflowAction::Continue {
                        at,
                        order: format!("{names}/again").into(),
                        thread: work.thread,
                        text,
                    });
                }
                PartStage::Reading { left, is_ordered: is_ordered @ false, .. } => {
                    *is_ordered = true;
                    let again = if part.was_asked_again { "/again" } else { "" };
                    effects.extend(left.iter().filter_map(|output| {
                        let order = format!("{names}/{output}{again}").into();
                        let (path, agent, thread) = (files.get(output)?.clone(), work.agent.clone(), work.thread);
                        Some(WorkflowAction::Read { at, output: output.clone(), order, path, agent, thread })
                    }));
                }
                _ => {}
            }
        }
    }

    /// The permanent key of the current attempt at a part.
    fn order(&self, at: PartAt) -> String {
        format!("{}/{}", self.key, self.part(at).map_or(0, |part| part.number))
    }

    /// Finds the part with this work order.
    pub fn part_for_order(&self, order: &str) -> Option<PartAt> {
        let mut parts = order.split('/');
        RunKey::parse(parts.next()?).filter(|key| *key == self.key)?;
        self.part_of_attempt(parts.next()?.parse().ok()?)
    }

    /// Finds the active part whose current attempt has this number.
    pub fn part_of_attempt(&self, number: u64) -> Option<PartAt> {
        self.active.iter().copied().find(|at| self.part(*at).is_some_and(|part| part.number == number))
    }

    /// Starts or skips a step whose dependencies have ended.
    fn admit(&mut self, at: usize, now: u64, limits: &Limits) {
        let plan = self.plan.clone();
        let step = &plan.steps[at];
        let before = &plan.graph.before[at];
        let failed = before.iter().find(|before| {
            let state = &self.steps[**before];
            state.status == StepStatus::Failed || state.is_blocked
        });
        if let Some(failed) = failed {
            let id = &plan.steps[*failed].id;
            let what = if self.steps[*failed].status == StepStatus::Failed { "failed" } else { "was not done" };
            self.steps[at].is_blocked = true;
            return self.end_step(at, StepStatus::Skipped, format!("{id} {what}"), now);
        }
        if !before.is_empty() && before.iter().all(|before| self.steps[*before].status == StepStatus::Skipped) {
            return self.end_step(at, StepStatus::Skipped, "no step before it was done".to_owned(), now);
        }
        if let Some(when) = &step.when
            && !when.holds(|token| self.value(token, (at, 0)))
        {
            return self.end_step(at, StepStatus::Skipped, format!("{when} is not true"), now);
        }
        let round = plan.loops_of[at].first().map_or(1, |inner| self.loops[*inner].rounds);
        let state = &mut self.steps[at];
        (state.round, state.began_tick, state.ended_tick) = (round.max(1), Some(now), None);
        match &step.doer {
            Assignee::Agent { .. } => match &step.for_each {
                None => self.open_parts(at, vec![Value::Null]),
                Some(each) => match self.entries(at, each, limits) {
                    Ok(entries) if entries.is_empty() => {
                        // The parts of an earlier round are not those of this one.
                        self.steps[at].parts.clear();
                        self.done(at, now);
                    }
                    Ok(entries) => self.open_parts(at, entries),
                    Err(why) => {
                        self.steps[at].is_limited = true;
                        self.end_step(at, StepStatus::Failed, why, now);
                    }
                },
            },
            Assignee::Person { .. } => {
                self.steps[at].status = StepStatus::Asked;
                self.asked.insert(at);
                let asks = step.prompt.render(|token| self.text(token, (at, 0)));
                self.log_progress(Some(at), "asked", &asks, None);
            }
            Assignee::Join | Assignee::Workflow { .. } => self.join(at, now),
        }
    }

    fn entries(&self, at: usize, each: &ForEach, limits: &Limits) -> Result<Vec<Value>, String> {
        let Some(token) = each.token() else { return Ok(Vec::new()) };
        let value = self.value(token, (at, 0));
        let entries = match &value {
            Value::Null => Vec::new(),
            other => value::list(other).unwrap_or_default(),
        };
        let most = each.at_most.map_or(limits.for_each, |most| (most as usize).min(limits.for_each));
        if entries.len() > most {
            let which = if most < limits.for_each { "its at most" } else { "workflow.for_each_at_most" };
            return Err(format!("{token} has {} entries, more than {most} ({which})", entries.len()));
        }
        Ok(entries)
    }

    fn open_parts(&mut self, at: usize, entries: Vec<Value>) {
        let state = &mut self.steps[at];
        // Parts that were done before the run was stopped stay done.
        let mut known = std::mem::take(&mut state.parts);
        known.resize_with(entries.len(), Part::default);
        for (part, item) in known.iter_mut().zip(entries) {
            if part.stage != PartStage::Done || part.item != item {
                *part = Part { item, ..Part::default() };
            }
        }
        let due = known.iter().enumerate().filter(|(_, part)| part.stage == PartStage::Open);
        self.open.extend(due.map(|(part, _)| (at, part)));
        state.parts = known;
    }

    /// Completes the end of a nested workflow with the outputs of its steps.
    fn join(&mut self, at: usize, now: u64) {
        let plan = self.plan.clone();
        let step = &plan.steps[at];
        let before = plan.graph.before[at].iter();
        let words: Vec<String> =
            before.map(|before| self.output_text(*before)).filter(|words| !words.is_empty()).collect();
        let outputs = step.outputs.iter().filter_map(|output| {
            let token = output.from.as_ref()?.tokens().next()?;
            Some((output.name.clone(), self.value(token, (at, 0))))
        });
        let mut outputs: BTreeMap<String, Value> = outputs.collect();
        outputs.insert(RESULT.to_owned(), words.join("\n\n").into());
        self.steps[at].outputs = outputs;
        self.end_step(at, StepStatus::Done, String::new(), now);
    }

    fn begin_part(&mut self, at: PartAt, now: u64, effects: &mut Vec<WorkflowAction>) {
        let plan = self.plan.clone();
        let step = &plan.steps[at.0];
        let Assignee::Agent { agent } = &step.doer else { return };
        let task = step_prompt::task_text(self, at);
        let from = self.givers(at.0).pop();
        self.begun += 1;
        let number = self.begun;
        let Some(part) = self.part_mut(at) else { return };
        part.number = number;
        part.tries += 1;
        part.stage = PartStage::Begun;
        part.work = None;
        self.active.insert(at);
        if self.steps[at.0].status == StepStatus::Waiting {
            self.steps[at.0].status = StepStatus::Running;
            self.steps[at.0].began_tick = Some(now);
        }
        effects.push(WorkflowAction::Begin {
            at,
            order: self.order(at).into(),
            agent: agent.clone(),
            task,
            model: step.model.clone(),
            turns_at_most: step.max_turns,
            gives: !step.outputs.is_empty(),
            from,
        });
    }

    /// An agent has started a part.
    pub fn begun(&mut self, at: PartAt, work: PartWork) {
        let is_first = self.part(at).is_some_and(|part| part.tries == 1 && !part.was_asked_again);
        let agent = work.agent.clone();
        let (parts, round) = (self.steps[at.0].parts.len(), self.steps[at.0].round);
        self.revision += 1;
        let Some(part) = self.part_mut(at) else { return };
        part.work = Some(work);
        let tries = part.tries;
        let why = match (parts, round, tries) {
            (.., 2..) => format!("try {tries}"),
            (2.., ..) => format!("entry {} of {parts}", at.1 + 1),
            (_, 2.., _) => format!("round {round}"),
            _ => String::new(),
        };
        if is_first || tries > 1 {
            let mut from = self.givers(at.0);
            from.retain(|giver| *giver != agent);
            self.log_progress(Some(at.0), "running", &why, Some(agent));
            if let Some(change) = self.changes.last_mut() {
                change.from = from;
            }
        }
    }

    /// No agent can execute a part.
    pub fn refused(&mut self, at: PartAt, why: String, now: u64) {
        self.part_failed(at, why, FailedBy::Itself, now);
    }

    /// Completes or fails a step if all its parts are over.
    pub(super) fn check_parts(&mut self, at: usize, now: u64) {
        let parts = &self.steps[at].parts;
        if !parts.iter().all(|part| matches!(part.stage, PartStage::Done | PartStage::Failed)) {
            return;
        }
        let failed: Vec<usize> = (0..parts.len()).filter(|part| parts[*part].stage == PartStage::Failed).collect();
        match failed.as_slice() {
            [] => self.done(at, now),
            [first, more @ ..] => {
                let why = parts[*first].why.clone();
                let why = match (parts.len(), more.len()) {
                    (1, _) => why,
                    (_, 0) => format!("entry {}: {why}", first + 1),
                    (_, more) => format!("entry {} and {more} more: {why}", first + 1),
                };
                self.steps[at].is_limited = failed.iter().all(|part| self.steps[at].parts[*part].is_limited);
                self.end_step(at, StepStatus::Failed, why, now);
            }
        }
    }

    /// Completes a step with the outputs of its parts.
    pub(super) fn done(&mut self, at: usize, now: u64) {
        let plan = self.plan.clone();
        let step = &plan.steps[at];
        let state = &mut self.steps[at];
        let mut outputs: BTreeMap<String, Value> = BTreeMap::new();
        match &step.for_each {
            None => {
                let part = state.parts.first().cloned().unwrap_or_default();
                outputs = part.given;
                outputs.insert(RESULT.to_owned(), part.words.into());
            }
            Some(_) => {
                for output in &step.outputs {
                    let all = state.parts.iter().map(|part| part.given.get(&output.name).cloned().unwrap_or_default());
                    outputs.insert(output.name.clone(), all.collect());
                }
                let words = state.parts.iter().map(|part| Value::from(part.words.as_str()));
                outputs.insert(RESULT.to_owned(), words.collect());
            }
        }
        state.outputs = outputs;
        self.end_step(at, StepStatus::Done, String::new(), now);
    }

    /// Ends a step in this round with this status, and examines the steps after it.
    pub(super) fn end_step(&mut self, at: usize, status: StepStatus, why: String, now: u64) {
        let state = &mut self.steps[at];
        (state.status, state.why, state.ended_tick) = (status, why.clone(), Some(now));
        self.log_progress(Some(at), status.as_str(), &why, None);
        let plan = self.plan.clone();
        let mut candidates: BTreeSet<usize> = plan.graph.after[at].iter().copied().collect();
        for index in &plan.loops_of[at] {
            let body = &plan.loops[*index].body;
            let is_open = |at: &usize| !self.steps[*at].status.has_ended();
            if self.loops[*index].is_over || body.iter().any(is_open) {
                continue;
            }
            if self.decide_loop(*index) {
                candidates.extend(body.iter().flat_map(|at| plan.graph.after[*at].iter().copied()));
            } else {
                candidates.extend(body);
                break;
            }
        }
        for candidate in candidates {
            self.examine(candidate);
        }
    }

    /// Ends a loop, or resets its steps for another round. Returns whether the loop ended.
    fn decide_loop(&mut self, index: usize) -> bool {
        let plan = self.plan.clone();
        let one = &plan.loops[index];
        let Some(Repeat { until, at_most }) = &plan.steps[one.head].repeat_until else { return true };
        let has_failed = one.body.iter().any(|at| {
            let state = &self.steps[*at];
            state.status == StepStatus::Failed || state.is_blocked
        });
        let rounds = self.loops[index].rounds;
        if has_failed || until.holds(|token| self.value(token, (one.head, 0))) {
            self.loops[index].is_over = true;
            return true;
        }
        if rounds >= *at_most {
            self.loops[index].is_over = true;
            let why = format!(
                "{until} is still not true after {rounds} rounds, which is the limit; the workflow \
                continues"
            );
            self.steps[one.head].why.clone_from(&why);
            self.log_progress(Some(one.head), "done", &why, None);
            return true;
        }
        self.loops[index].rounds = rounds + 1;
        for (inner, state) in self.loops.iter_mut().enumerate() {
            if inner != index && plan.loops[inner].body.is_subset(&one.body) {
                *state = LoopState::default();
            }
        }
        for at in &one.body {
            let state = &mut self.steps[*at];
            // Earlier steps in the loop can use its outputs in the next round.
            let (outputs, by) = (std::mem::take(&mut state.outputs), std::mem::take(&mut state.by));
            *state = StepState { outputs, by, ..StepState::default() };
        }
        self.log_progress(
            Some(one.head),
            "waiting",
            &format!("round {} of at most {at_most}: {until} is not true", rounds + 1),
            None,
        );
        false
    }

    /// Marks a waiting step as ready if all its dependencies are over.
    fn examine(&mut self, at: usize) {
        // An admitted step only waits for a free slot.
        if self.steps[at].status != StepStatus::Waiting || self.steps[at].began_tick.is_some() {
            return;
        }
        let plan = self.plan.clone();
        // Dependencies that are listed last usually end last.
        let mut before = plan.graph.before[at].iter().rev();
        if before.all(|before| self.is_over_for(*before, at)) {
            self.ready.insert(at);
        }
    }

    /// Whether a step has ended as far as a dependent step is concerned.
    pub(super) fn is_over_for(&self, step: usize, waits: usize) -> bool {
        let mut loops = self.plan.loops_of[step].iter();
        let is_done = |index: &usize| self.loops[*index].is_over || self.plan.loops[*index].body.contains(&waits);
        self.steps[step].status.has_ended() && loops.all(is_done)
    }

    fn finish(&mut self, now: u64) {
        let failed: Vec<&str> = (0..self.steps.len())
            .filter(|at| self.steps[*at].status == StepStatus::Failed && !self.is_join(*at))
            .map(|at| self.plan.steps[at].id.as_str())
            .collect();
        let why = match failed.as_slice() {
            [] => String::new(),
            [only] => format!("step {only} failed"),
            [first, more @ ..] => format!("step {first} and {} more failed", more.len()),
        };
        self.status = if failed.is_empty() { RunStatus::Done } else { RunStatus::Failed };
        self.why.clone_from(&why);
        self.ended_tick = Some(now);
        self.log_progress(None, self.status.as_str(), &why, None);
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
