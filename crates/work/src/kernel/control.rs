//! Pauses and stops work from outside: by a person, and by limits on models.

use std::collections::BTreeMap;

use super::activation::{Activation, CapHold, CapWait, Phase};
use super::core::{Kernel, KernelAction};
use crate::base::{ActivationKey, Id, Seq};
use crate::mind::{CapScope, Ending};
use crate::schedule::ticks;

impl Kernel {
    /// From now on every piece of work has one more turn, with what it calls in it, and then waits. One that is under
    /// way counts.
    pub fn give_one_turn_each(&mut self) {
        let under_way = self.activations().filter(|one| one.phase == Phase::Asking).map(|one| one.key);
        self.had_turn = Some(under_way.collect());
        self.is_unsettled = true;
    }

    /// Work continues for as many turns as it takes.
    pub(super) fn give_all_turns(&mut self) {
        self.had_turn = None;
        self.is_unsettled = true;
    }

    /// Whether work goes on by one turn of each piece.
    pub fn gives_one_turn_each(&self) -> bool {
        self.had_turn.is_some()
    }

    /// Whether a piece of work waits for another turn to be given to it.
    pub fn waits_for_turn(&self) -> bool {
        let Some(had) = &self.had_turn else { return false };
        self.activations().any(|one| one.phase == Phase::Due && had.contains(&one.key))
    }

    /// Whether any work goes on, or could, before other turns are given or a person does something.
    pub fn goes_on_by_itself(&self, is_paused: impl Fn(&Id) -> bool) -> bool {
        let had_turn = |key: ActivationKey| self.had_turn.as_ref().is_some_and(|had| had.contains(&key));
        let begun: BTreeMap<&Id, ActivationKey> =
            self.activations().filter(|one| one.has_begun()).map(|one| (&one.agent, one.key)).collect();
        self.activations().any(|one| {
            let is_behind = !one.has_begun() && begun.get(&one.agent).is_some_and(|first| *first != one.key);
            let can_go_on = match one.phase {
                Phase::Due => !had_turn(one.key) && !is_paused(&one.agent),
                _ => one.approval().is_none() && (one.is_under_way() || one.wants_slot(u64::MAX)),
            };
            !is_behind && can_go_on
        })
    }

    /// A person pauses all work, or lets it go on. What a cap stopped goes on when the cap leaves room.
    pub fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        self.is_unsettled = true;
    }

    /// No cap of the run is reached any more: work that one stopped goes on.
    pub fn lift_stop(&mut self) {
        if self.stopped_by.take().is_some() {
            self.is_unsettled = true;
        }
    }

    /// These are the caps now, by hash: where they are others than before, work that waits for one asks again.
    pub fn note_caps(&mut self, caps: u64) {
        if std::mem::replace(&mut self.caps, caps) == caps {
            return;
        }
        for activation in self.activations.values_mut() {
            if activation.cap_hold.take().is_some() {
                activation.not_before = 0;
                self.is_unsettled = true;
            }
        }
    }

    /// A minute of the world outside has passed: some of the last hour's use may not count any more.
    pub fn minute_passed(&mut self) {
        for hold in self.activations.values_mut().filter_map(|one| one.cap_hold.as_mut()) {
            hold.outside_minutes = hold.outside_minutes.saturating_sub(1);
            self.is_unsettled |= hold.outside_minutes == 0;
        }
    }

    /// The cap by the hour that everything waits for that goes on in this run, or in all of them, in words; none
    /// where something could go on.
    pub fn waits_for_cap(&self, run: Option<ActivationKey>) -> Option<&str> {
        let root = |one: &Activation| self.threads.get(&one.thread).map(|thread| thread.root);
        let is_of_run = |one: &&Activation| run.is_none() || root(one) == run;
        let mut why = None;
        for activation in self.activations.values().filter(is_of_run) {
            why = Some(activation.cap_hold.as_ref()?.why.as_str());
        }
        why
    }

    /// A person sets how much goes on at once, and how deep agents may start agents. For what begins from now on.
    pub fn set_limits(&mut self, concurrency: Option<u32>, depth_at_most: Option<u32>) {
        self.concurrency = concurrency.or(self.concurrency);
        self.depth_at_most = depth_at_most.or(self.depth_at_most);
        self.is_unsettled = true;
    }

    /// A person stops a piece of work. Whether there was such a one.
    pub fn kill(&mut self, key: ActivationKey, why: &str, cause: Option<Seq>) -> bool {
        self.end_because(key, Ending::Aborted { why: why.to_owned(), by_person: true }, cause)
    }

    /// A person stops all that an agent works at: also what only waits for agents that it started.
    pub fn kill_agent(&mut self, agent: &Id, why: &str, cause: Option<Seq>) {
        let its = self.activations.values().filter(|one| one.agent == *agent).map(|one| one.key);
        for key in its.collect::<Vec<_>>() {
            self.kill(key, why, cause);
        }
        for thread in self.threads.values_mut().filter(|thread| thread.agent == *agent) {
            thread.is_stopped = true;
            // The agent that handed it over is still told that it has no result.
            thread.report.take_if(|report| report.given.is_none());
        }
    }

    /// A person stops everything, and nothing new begins until work is let go on.
    pub fn kill_all(&mut self, why: &str, cause: Option<Seq>) {
        for key in self.activations.keys().copied().collect::<Vec<_>>() {
            self.kill(key, why, cause);
        }
        self.is_paused = true;
    }

    /// A budget refused the request: whatever it applies to waits or ends, and nothing else.
    pub(super) fn over_budget(
        &mut self,
        key: ActivationKey,
        (scope, wait): (CapScope, Option<CapWait>),
        why: String,
        now: u64,
    ) {
        match (scope, wait) {
            (CapScope::Run | CapScope::Outside, _) => {
                self.outgoing
                    .push_back(KernelAction::Warn { activation: key, what: format!("all work stopped: {why}") });
                self.stopped_by = Some(why);
            }
            (CapScope::Hour | CapScope::AgentHour, Some(wait)) => {
                let Some(activation) = self.activations.get_mut(&key) else { return };
                let minute = ticks(60.0);
                if !wait.is_outside {
                    activation.not_before = (now / minute).saturating_add(u64::from(wait.minutes)) * minute;
                }
                let outside_minutes = if wait.is_outside { wait.minutes } else { 0 };
                let what = format!("{why}; this work waits and then continues by itself");
                activation.cap_hold = Some(CapHold { why, outside_minutes });
                self.outgoing.push_back(KernelAction::Warn { activation: key, what });
            }
            // Waiting does not help what alone is larger than an hour's cap.
            (CapScope::Hour | CapScope::AgentHour, None) | (CapScope::AgentRun | CapScope::Activation, _) => {
                self.end(key, Ending::Aborted { why, by_person: false });
            }
        }
    }
}
