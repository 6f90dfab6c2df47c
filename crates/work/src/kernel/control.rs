//! Pauses and stops work, by a person's command or because of limits on models.

use std::collections::BTreeMap;

use super::activation::{Activation, CapHold, CapWait, Phase};
use super::core::{Kernel, KernelAction};
use crate::base::{ActivationKey, Id, Seq};
use crate::mind::{CapScope, Ending};
use crate::schedule::ticks;

impl Kernel {
    /// Turns on single-step mode: each piece of work takes one more turn with its tool calls and then waits. A running
    /// turn counts.
    pub fn enable_single_step(&mut self) {
        let under_way = self.activations().filter(|one| one.phase == Phase::Asking).map(|one| one.key);
        self.had_turn = Some(under_way.collect());
        self.is_unsettled = true;
    }

    /// Turns off single-step mode.
    pub(super) fn give_all_turns(&mut self) {
        self.had_turn = None;
        self.is_unsettled = true;
    }

    /// Whether single-step mode is on.
    pub fn is_single_step(&self) -> bool {
        self.had_turn.is_some()
    }

    /// Whether any work is waiting for its next turn in single-step mode.
    pub fn waits_for_turn(&self) -> bool {
        let Some(had) = &self.had_turn else { return false };
        self.activations().any(|one| one.phase == Phase::Due && had.contains(&one.key))
    }

    /// Whether any work can continue without another turn being granted and without a person.
    pub fn can_continue_unattended(&self, is_paused: impl Fn(&Id) -> bool) -> bool {
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

    /// Pauses or resumes all work. Work stopped by a cap resumes when the cap allows it.
    pub fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        self.is_unsettled = true;
    }

    /// Resumes the work that was stopped by a cap of the run, because no such cap is exceeded any more.
    pub fn resume_capped_work(&mut self) {
        if self.stopped_by.take().is_some() {
            self.is_unsettled = true;
        }
    }

    /// Records the hash of the current caps. If it changed, work that waits for a cap is retried.
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

    /// Counts down hourly caps by one minute of real time.
    pub fn minute_passed(&mut self) {
        for hold in self.activations.values_mut().filter_map(|one| one.cap_hold.as_mut()) {
            hold.outside_minutes = hold.outside_minutes.saturating_sub(1);
            self.is_unsettled |= hold.outside_minutes == 0;
        }
    }

    /// The message of the hourly cap for which all work of this run, or of all runs, is waiting. `None` if any of it
    /// could continue.
    pub fn waits_for_cap(&self, run: Option<ActivationKey>) -> Option<&str> {
        let root = |one: &Activation| self.threads.get(&one.thread).map(|thread| thread.root);
        let is_of_run = |one: &&Activation| run.is_none() || root(one) == run;
        let mut why = None;
        for activation in self.activations.values().filter(is_of_run) {
            why = Some(activation.cap_hold.as_ref()?.why.as_str());
        }
        why
    }

    /// Sets the concurrency and the depth limit for work that begins from now on.
    pub fn set_limits(&mut self, concurrency: Option<u32>, depth_at_most: Option<u32>) {
        self.concurrency = concurrency.or(self.concurrency);
        self.depth_at_most = depth_at_most.or(self.depth_at_most);
        self.is_unsettled = true;
    }

    /// Stops a piece of work for a person. Returns false if there is no such work.
    pub fn kill(&mut self, key: ActivationKey, why: &str, cause: Option<Seq>) -> bool {
        self.end_because(key, Ending::Aborted { why: why.to_owned(), by_person: true }, cause)
    }

    /// Stops all work of an agent for a person, including work that only waits for its children.
    pub fn kill_agent(&mut self, agent: &Id, why: &str, cause: Option<Seq>) {
        let its = self.activations.values().filter(|one| one.agent == *agent).map(|one| one.key);
        for key in its.collect::<Vec<_>>() {
            self.kill(key, why, cause);
        }
        for thread in self.threads.values_mut().filter(|thread| thread.agent == *agent) {
            thread.is_stopped = true;
            // The delegating agent is still notified that there is no result.
            thread.report.take_if(|report| report.given.is_none());
        }
    }

    /// Stops all work, and starts none until a person resumes it.
    pub fn kill_all(&mut self, why: &str, cause: Option<Seq>) {
        for key in self.activations.keys().copied().collect::<Vec<_>>() {
            self.kill(key, why, cause);
        }
        self.is_paused = true;
    }

    /// Handles a request that exceeded a cap: the work in the cap's scope waits or ends.
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
            // Waiting does not help if a single request exceeds the hourly cap.
            (CapScope::Hour | CapScope::AgentHour, None) | (CapScope::AgentRun | CapScope::Activation, _) => {
                self.end(key, Ending::Aborted { why, by_person: false });
            }
        }
    }
}
