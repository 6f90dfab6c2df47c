//! The participants of a run: the agents whose results a step uses, and the memories of the whole run for its agents.

use std::collections::{BTreeMap, BTreeSet};

use super::run_state::{Run, RunStatus};
use crate::base::Id;
use crate::base::text::truncate;

/// The maximum number of agents that are named as the source of a step's input.
const MAX_GIVERS: usize = 16;
/// The maximum length of a run's outcome in a memory, in characters.
const WORDS_CHARS: usize = 240;
/// The maximum length of the step names in a memory, in characters.
const STEPS_CHARS: usize = 120;

impl Run {
    /// The ids of the agents whose results a step continues with, the newest last. In a loop, the result of a later
    /// step from the previous round is the newest.
    pub(super) fn givers(&self, step: usize) -> Vec<Id> {
        let used = self.plan.steps[step].placeholders().into_iter().filter_map(|(_, token)| self.plan.output(token));
        let used = used.map(|(at, _)| at).filter(|at| *at != step && !self.is_join(*at));
        let sources: BTreeSet<usize> = self.before(step).into_iter().chain(used).collect();
        let mut sources: Vec<usize> = sources.into_iter().collect();
        sources.sort_by_key(|at| (!self.steps[*at].status.has_ended(), self.steps[*at].ended_tick, *at));
        let mut givers: Vec<Id> = Vec::new();
        for agent in sources.into_iter().flat_map(|at| &self.steps[at].by) {
            givers.retain(|known| known != agent);
            givers.push(agent.clone());
        }
        givers.split_off(givers.len().saturating_sub(MAX_GIVERS))
    }

    /// The direct predecessors of a step; the end of a nested workflow is replaced by its last steps.
    fn before(&self, step: usize) -> Vec<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![step]);
        while let Some(at) = open.pop() {
            for before in &self.plan.graph.before[at] {
                if found.insert(*before) && self.is_join(*before) {
                    open.push(*before);
                }
            }
        }
        found.into_iter().filter(|at| !self.is_join(*at)).collect()
    }

    /// The memory of the run for each participating agent, by id; empty while it is running, or if a person stopped it
    /// and may resume it.
    pub(super) fn memories(&self) -> Vec<(Id, String)> {
        let outcome = match self.status {
            RunStatus::Running | RunStatus::Stopped => return Vec::new(),
            RunStatus::Failed => format!("it failed: {}", self.why),
            RunStatus::Done => format!("result: {}", self.result_text()),
        };
        let mut steps: BTreeMap<&Id, Vec<&str>> = BTreeMap::new();
        for (step, state) in self.plan.steps.iter().zip(&self.steps) {
            for agent in &state.by {
                steps.entry(agent).or_default().push(&step.id);
            }
        }
        let memory = |agent: &Id| {
            let own = truncate(&steps[agent].join(", "), STEPS_CHARS);
            let others: Vec<&str> = steps.keys().filter(|other| **other != agent).map(|other| &***other).collect();
            let with = match others.as_slice() {
                [] => String::new(),
                others => format!(" with {}", truncate(&others.join(", "), STEPS_CHARS)),
            };
            let outcome = truncate(&outcome, WORDS_CHARS);
            format!("did {own} of the workflow {}{with} ({}); {outcome}", self.name, self.key)
        };
        steps.keys().map(|agent| ((*agent).clone(), memory(agent))).collect()
    }
}
