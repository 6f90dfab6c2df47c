//! Delegates tasks in the room: finds the agent that is named, and queues the task.

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::Activation;
use super::core::{Kernel, NewWork};
use super::hand_over::task_and_terms;
use super::spawn_limits::Refusal;
use super::spawning::work_event;
use crate::base::text::truncate;
use crate::base::{Id, Seq};
use crate::gate::Bounds;
use crate::gateway::ExchangeKind;
use crate::log::events;
use crate::log::events::TaskPriority;
use crate::tools::result_text::{self, HandOverOutcome};
use crate::tools::{Terms, started};

impl RoomAccess<'_, '_> {
    /// The agent in the room with this id, name or file name, and its profile. The error is the result text for the
    /// model.
    pub(super) fn agent_in_room(&self, one: &Activation, name: &str) -> Result<(Id, Id), String> {
        let name = name.trim().trim_start_matches('@');
        let all = || self.all_agents().map(|(_, agent)| agent);
        let others = || all().filter(|agent| agent.id != one.agent);
        let profile = started(name, &self.gate_context());
        let meant = self
            .agent(name)
            .or_else(|| {
                others().find(|agent| agent.name.eq_ignore_ascii_case(name) || agent.id.eq_ignore_ascii_case(name))
            })
            .or_else(|| others().find(|agent| profile.as_deref() == Some(&*agent.profile)))
            .or_else(|| all().find(|agent| agent.name.eq_ignore_ascii_case(name)));
        match meant {
            Some(agent) if agent.id == one.agent => {
                Err(result_text::hand_over_result(name, &HandOverOutcome::Itself).words)
            }
            Some(agent) => Ok((agent.id.clone(), agent.profile.clone())),
            None => {
                let there = result_text::suggested_agents(name, others().map(|agent| &agent.id), None);
                Err(result_text::hand_over_result(name, &HandOverOutcome::Unknown { there }).words)
            }
        }
    }

    /// Queues a task for an agent in the room. Returns the result of the delegating call.
    pub(super) fn hand_over(
        &mut self,
        kernel: &mut Kernel,
        one: &Activation,
        (agent, profile): (Id, Id),
        (task, terms): (&str, &Terms),
        bounds: Bounds,
        cause: Seq,
    ) -> result_text::Outcome {
        let depth = match kernel.may_hand_over(one.key, &agent, task, &self.settings) {
            Ok(depth) => depth,
            Err(refusal) => return result_text::hand_over_result(&agent, &refused(refusal)),
        };
        let by = self.agent(&one.agent).map_or_else(|| one.agent.clone(), |agent| agent.name.clone());
        let input = task_and_terms(&by, task, terms);
        let given = work_event(one, task, &profile, depth);
        let key = kernel.next_key(self.run());
        let queued = self.record_queued(key, &agent, &given, Some(cause));
        let handed = events::HandOver {
            to: agent.clone(),
            task: truncate(task, LOGGED_CHARS),
            activation: key.id(),
            depth,
            deadline_turns: terms.deadline_turns,
            priority: Some(terms.haste).filter(|haste| *haste != TaskPriority::Normal),
        };
        self.record(one, queued, &handed);
        let work = NewWork {
            key,
            agent: agent.clone(),
            file_name: self.file_name(&profile),
            profile,
            input,
            priority: terms.rank(),
            now: self.clock.tick(),
            cause: queued,
        };
        let is_busy = kernel.has_work(&agent);
        let outcome = match kernel.hand_over(one.key, work, (task, terms), bounds.all().to_vec(), &self.settings) {
            Err(refusal) => refused(refusal),
            Ok(_) => {
                self.count_exchange(kernel, one, ExchangeKind::HandOver);
                match kernel.stopped_by() {
                    Some(_) => HandOverOutcome::Deferred { why: "token budget reached".to_owned() },
                    None => HandOverOutcome::Queued { is_busy },
                }
            }
        };
        result_text::hand_over_result(&agent, &outcome)
    }
}

fn refused(refusal: Refusal) -> HandOverOutcome {
    HandOverOutcome::Refused { why: refusal.to_string() }
}
