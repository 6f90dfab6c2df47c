//! Stops a run at a person's command, and resumes its remaining steps.

use std::collections::BTreeSet;

use super::run_state::{Part, PartStage, Run, RunStatus, StepState, StepStatus};

impl Run {
    /// Stops the run: its work is aborted, and nothing new starts.
    pub fn stop(&mut self, why: &str, now: u64) {
        if !self.is_running() {
            return;
        }
        for at in std::mem::take(&mut self.active) {
            let Some(part) = self.part_mut(at) else { continue };
            let work = part.work.take();
            *part = Part { item: part.item.clone(), ..Part::default() };
            self.to_end.extend(work.as_ref().map(|work| work.activation));
            self.let_go.extend(work.map(|work| work.thread));
        }
        (self.status, self.why, self.ended_tick) = (RunStatus::Stopped, why.to_owned(), Some(now));
        self.log_progress(None, "stopped", why, None);
    }

    /// Discards the work of a run that the room no longer knows, so that the run can be resumed.
    pub fn discard_work(&mut self) {
        for at in std::mem::take(&mut self.active) {
            if let Some(part) = self.part_mut(at) {
                *part = Part { item: part.item.clone(), ..Part::default() };
            }
        }
        self.let_go.clear();
        self.to_end.clear();
        if self.status == RunStatus::Running {
            self.status = RunStatus::Stopped;
        }
    }

    /// Resumes a stopped or failed run; finished steps stay done. Returns whether there was anything to resume.
    pub fn resume(&mut self) -> bool {
        if matches!(self.status, RunStatus::Running | RunStatus::Done) {
            return false;
        }
        let plan = self.plan.clone();
        (self.status, self.ended_tick) = (RunStatus::Running, None);
        self.why.clear();
        (self.open, self.ready) = (BTreeSet::new(), BTreeSet::new());
        let mut again: BTreeSet<usize> = BTreeSet::new();
        for (at, state) in self.steps.iter_mut().enumerate() {
            let is_lost = state.status == StepStatus::Failed || state.is_blocked;
            if !is_lost && state.status.has_ended() || state.status == StepStatus::Asked {
                continue;
            }
            again.insert(at);
            let parts = std::mem::take(&mut state.parts);
            let kept = parts.into_iter().map(|part| match part.stage {
                PartStage::Done => part,
                _ => Part { item: part.item, ..Part::default() },
            });
            let kept: Vec<Part> = kept.collect();
            let outputs = std::mem::take(&mut state.outputs);
            *state =
                StepState { outputs, by: std::mem::take(&mut state.by), round: state.round, ..StepState::default() };
            // Examined again when the step is admitted: only finished parts of a list count then.
            if kept.iter().any(|part| part.stage == PartStage::Done) {
                state.parts = kept;
            }
        }
        for (index, state) in self.loops.iter_mut().enumerate() {
            state.is_over &= plan.loops[index].body.is_disjoint(&again);
        }
        for at in again {
            let state = &self.steps[at];
            let is_free = plan.graph.before[at].iter().all(|before| self.is_over_for(*before, at));
            if state.status == StepStatus::Waiting && is_free {
                self.ready.insert(at);
            }
        }
        self.log_progress(None, "resumed", "", None);
        true
    }
}
