//! The scheduler: decides which agents are called to work, which work gets a slot, and the next step of work that has
//! one.

use std::collections::{BTreeMap, BTreeSet};

use super::activation::{Activation, CallProgress, Phase, current};
use super::core::{Kernel, KernelAction};
use super::settings::KernelSettings;
use crate::base::{ActivationKey, AgentKey, Id};
use crate::mind::{Ending, PromptMessage, Role};

/// The time to wait for an agent to join the room before its work fails: 10 s in ticks.
const ARRIVAL_TICKS: u64 = 300;

impl Kernel {
    /// Schedules work: calls free agents to their work, assigns slots by priority and age, and advances the work that
    /// has a slot. `is_held` returns whether an agent is paused.
    pub fn step(
        &mut self,
        now: u64,
        settings: &KernelSettings,
        is_held: impl Fn(AgentKey) -> bool,
    ) -> Vec<KernelAction> {
        self.end_rate_limit(now);
        let is_late = |one: &Activation| one.phase == Phase::Due && !one.has_slot && one.not_before != 0;
        let timers = self.activations.values().any(|one| is_late(one) && one.not_before <= now);
        if !(self.is_unsettled || timers) {
            return Vec::new();
        }
        self.is_unsettled = false;
        self.fail_absent(now);
        if self.is_paused || self.stopped_by.is_some() || self.resume_tick.is_some() {
            // All of these mark the kernel as unsettled when they end.
            return Vec::new();
        }
        let mut effects = self.summon();
        self.note_held(now, is_held);
        self.assign_slots(now, settings);
        let going_on = self.activations.values().filter(|one| one.has_slot && !one.is_held).map(|one| one.key);
        for key in going_on.collect::<Vec<_>>() {
            self.advance(key, now, settings, &mut effects);
        }
        effects
    }

    /// Records which agents are paused. Their work releases its slot if it could otherwise continue.
    fn note_held(&mut self, now: u64, is_held: impl Fn(AgentKey) -> bool) {
        for activation in self.activations.values_mut() {
            let had_turn = self.had_turn.as_ref().is_some_and(|had| had.contains(&activation.key));
            let waits_for_turn = had_turn && activation.phase == Phase::Due;
            activation.is_held = waits_for_turn || activation.agent_key.is_some_and(&is_held);
            if activation.is_held && activation.wants_slot(now) {
                activation.has_slot = false;
                // There is no event when the agent is resumed, so this is checked again.
                self.is_unsettled = true;
            }
        }
    }

    fn end_rate_limit(&mut self, now: u64) {
        if self.resume_tick.is_some_and(|tick| tick <= now) {
            self.resume_tick = None;
            self.is_unsettled = true;
        }
    }

    fn fail_absent(&mut self, now: u64) {
        let absent = self.activations.values().filter(|activation| activation.agent_key.is_none());
        let (late, early): (Vec<_>, Vec<_>) =
            absent.map(|one| (one.key, one.queued_tick)).partition(|(_, queued)| now >= queued + ARRIVAL_TICKS);
        self.is_unsettled |= !early.is_empty();
        for (key, _) in late {
            self.end(key, Ending::Failed { why: "its agent did not join the room".into() });
        }
    }

    /// Calls each free agent to its most urgent work, or to the oldest of equally urgent ones.
    fn summon(&mut self) -> Vec<KernelAction> {
        let mut taken: BTreeSet<Id> = BTreeSet::new();
        let mut first: BTreeMap<&Id, (i32, ActivationKey)> = BTreeMap::new();
        for activation in self.activations.values() {
            if activation.has_begun() {
                taken.insert(activation.agent.clone());
            } else if activation.agent_key.is_some() {
                let rank = (activation.priority, activation.key);
                let best = first.entry(&activation.agent).or_insert(rank);
                *best = rank.min(*best);
            }
        }
        let called: Vec<ActivationKey> =
            first.into_iter().filter(|(agent, _)| !taken.contains(*agent)).map(|(_, (_, key))| key).collect();
        called
            .into_iter()
            .filter_map(|key| {
                self.activations.get_mut(&key)?.phase = Phase::Summoned;
                Some(KernelAction::Summon { activation: key })
            })
            .collect()
    }

    fn assign_slots(&mut self, now: u64, settings: &KernelSettings) {
        let slots = self.concurrency(settings) as usize;
        let free = slots.saturating_sub(self.slots_in_use());
        if free == 0 {
            return;
        }
        let mut wanting: Vec<(i32, ActivationKey)> = self
            .activations
            .values()
            .filter(|one| !one.has_slot && one.wants_slot(now) && !one.is_held)
            .map(|one| (one.priority, one.key))
            .collect();
        wanting.sort_unstable();
        for (_, key) in wanting.into_iter().take(free) {
            if let Some(activation) = self.activations.get_mut(&key) {
                activation.has_slot = true;
            }
        }
    }

    /// Takes the next step of work that has a slot.
    fn advance(&mut self, key: ActivationKey, now: u64, settings: &KernelSettings, effects: &mut Vec<KernelAction>) {
        let asks = self.activations.get(&key).is_some_and(|one| one.is_at_turn() && now >= one.not_before);
        if asks && !self.is_in_time(key) {
            return;
        }
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let own = self.threads.get(&activation.thread).and_then(|thread| thread.terms.turns_at_most);
        let (most, which) = match own.filter(|own| *own < settings.max_turns) {
            Some(own) => (own, "max_turns of its step"),
            None => (settings.max_turns, "kernel.max_turns"),
        };
        match &mut activation.phase {
            Phase::Due if now >= activation.not_before => {
                if activation.turn >= most {
                    // Work ends after 50 turns, unless the settings or its step say otherwise.
                    rule!("work-has-a-turn-limit");
                    let why = format!("stopped after {most} turns ({which})");
                    self.end(key, Ending::Aborted { why, by_person: false });
                    return;
                }
                for text in activation.mail.drain(..) {
                    activation.messages.push(PromptMessage::plain(Role::User, text));
                }
                activation.turn += 1;
                activation.phase = Phase::Asking;
                activation.not_before = 0;
                activation.cap_hold = None;
                activation.told.clear();
                activation.is_unwritten = true;
                effects.push(KernelAction::Ask { activation: key, turn: activation.turn });
                if let Some(had) = &mut self.had_turn {
                    had.insert(key);
                }
            }
            Phase::Calling { calls } => {
                let turn = activation.turn;
                let Some(index) = current(calls) else { return };
                let Some(call) = calls.get_mut(index) else { return };
                if call.progress == CallProgress::Pending {
                    call.progress = CallProgress::Running;
                    effects.push(KernelAction::Perform { activation: key, turn, index });
                } else if call.take_sample() {
                    effects.push(KernelAction::Sample { activation: key, turn, index });
                }
            }
            _ => {}
        }
    }
}
