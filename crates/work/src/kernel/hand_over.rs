//! Rules for tasks that agents delegate to each other: depth, number, no cycles, deadlines in turns, and the check of
//! the result's format. Pure.

use super::activation::{Origin, RunNode};
use super::core::{Kernel, NewWork, request_hash};
use super::hand_over_result::{DelegatedTask, invalid_format_message};
use super::settings::KernelSettings;
use super::spawn_limits::Refusal;
use crate::base::{ActivationKey, Id};
use crate::gate::Authority;
use crate::mind::Ending;
use crate::mind::headings::HANDED_OVER;
use crate::tools::Terms;

/// The verdict on the final text of a piece of work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ResultCheck {
    /// The result is valid, and the work ends.
    Valid,
    /// The result is invalid; the agent gets this message and tries once more.
    Retry(String),
    /// The result is invalid again, and the work fails for this reason.
    Invalid(String),
}

/// Returns the first message of delegated work: the task, followed by a note that says who delegated it, on which
/// terms, and who receives the result.
pub fn task_and_terms(by: &str, task: &str, terms: &Terms) -> String {
    let described = terms.describe("Finish within", "Your final answer is the result. It must be");
    let result = if terms.expected.is_some() { "" } else { "\nYour final answer is the result." };
    let described = if described.is_empty() { String::new() } else { format!("\n{described}") };
    format!("{task}\n\n{HANDED_OVER}{by}, who receives your result.{described}{result}")
}

/// The message in the last turn before the deadline.
fn last_turn(of: u32) -> String {
    format!("This is the last of your {of} turns for this task: give your result now, even if it is incomplete.")
}

impl Kernel {
    /// Checks whether work may delegate a task to this agent. Returns the depth of the delegated work.
    pub fn may_hand_over(
        &self,
        from: ActivationKey,
        agent: &str,
        task: &str,
        settings: &KernelSettings,
    ) -> Result<u32, Refusal> {
        let thread = self.activation(from).map(|one| one.thread).ok_or(Refusal::Over)?;
        let line: Vec<&RunNode> = self.ancestors(thread).filter_map(|key| self.thread(key)).collect();
        if let Some(at) = line.iter().position(|above| *above.agent == *agent) {
            let names = line[..=at].iter().rev().map(|above| &*above.agent).chain([agent]);
            return Err(Refusal::Cycle { way: names.collect::<Vec<_>>().join(" → ") });
        }
        self.may_spawn(from, agent, task, settings)
    }

    /// Queues a delegated task with authority limited to that of `starters`. Returns its depth. `task` is the task
    /// itself; the input of `work` is the complete message for the agent.
    pub fn hand_over(
        &mut self,
        from: ActivationKey,
        work: NewWork,
        (task, terms): (&str, &Terms),
        starters: Vec<Authority>,
        settings: &KernelSettings,
    ) -> Result<u32, Refusal> {
        let depth = self.may_hand_over(from, &work.agent, task, settings)?;
        let request = request_hash(&work.agent, task);
        let handed = Some(Box::new(DelegatedTask::new(task, terms)));
        let node = RunNode { depth, starters, handed, ..RunNode::of(&work) };
        self.queue_child(from, (work, Origin::HandOver), node, request)?;
        Ok(depth)
    }

    /// The agent whose place the next agent of a thread walks to: the one that delegated the task, as long as it
    /// awaits the result, or the one whose result the work continues with.
    pub(super) fn giver(&self, thread: ActivationKey) -> Option<&Id> {
        let thread = self.thread(thread)?;
        match thread.handed {
            Some(_) => Some(&self.thread(thread.parent?)?.agent),
            None => thread.terms.from.as_ref().filter(|from| **from != thread.agent),
        }
    }

    fn handed(&self, key: ActivationKey) -> Option<(&DelegatedTask, u32)> {
        let one = self.activations.get(&key)?;
        Some((self.threads.get(&one.thread)?.handed.as_deref()?, one.turn))
    }

    /// The remaining turns and the total turns before the deadline of delegated work.
    fn turns_left(&self, key: ActivationKey) -> Option<(u32, u32)> {
        let (handed, turn) = self.handed(key)?;
        let most = handed.terms.deadline_turns?;
        Some((most.saturating_sub(handed.turns.saturating_add(turn)), most))
    }

    /// Checks the deadline before a model request. Returns false, and ends the work, if it has passed. Warns the agent
    /// in its last turn.
    pub(super) fn is_in_time(&mut self, key: ActivationKey) -> bool {
        match self.turns_left(key) {
            Some((0, most)) => {
                let turns = if most == 1 { "turn" } else { "turns" };
                let why = format!("the deadline of {most} {turns} passed before there was a result");
                self.end(key, Ending::Aborted { why, by_person: false });
                false
            }
            Some((1, most)) => {
                let words = last_turn(most);
                if let Some(one) = self.activations.get_mut(&key) {
                    let was_warned = one.messages.iter().rev().take(2).any(|message| message.text == words);
                    if !was_warned && !one.mail.contains(&words) {
                        one.mail.push_back(words);
                    }
                }
                true
            }
            _ => true,
        }
    }

    /// Checks whether the final text of an agent has the requested format. The text is not the result yet if the agent
    /// is waiting for its children.
    pub(super) fn check_result(&mut self, key: ActivationKey, said: &str) -> ResultCheck {
        let Some((handed, _)) = self.handed(key) else { return ResultCheck::Valid };
        let Some(expected) = handed.terms.expected.as_ref().filter(|expected| expected.is_checked()) else {
            return ResultCheck::Valid;
        };
        let Err(fault) = expected.fit(said) else { return ResultCheck::Valid };
        let (wanted, was_sent_back) = (expected.description(), handed.was_sent_back);
        let Some(thread) = self.activations.get(&key).map(|one| one.thread) else { return ResultCheck::Valid };
        if self.has_live_children(thread) {
            return ResultCheck::Valid;
        }
        let has_turns = self.turns_left(key).is_none_or(|(left, _)| left > 0);
        if was_sent_back || !has_turns {
            return ResultCheck::Invalid(invalid_format_message(&fault));
        }
        if let Some(handed) = self.threads.get_mut(&thread).and_then(|thread| thread.handed.as_deref_mut()) {
            handed.was_sent_back = true;
        }
        ResultCheck::Retry(format!(
            "Your final answer does not have the required format: {fault}. Give the result again, as {wanted}; if \
             that is not valid either, your work fails."
        ))
    }
}
