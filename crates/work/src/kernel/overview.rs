//! A summary of unfinished work, run by run, for use while no room is running. Pure.

use serde::Serialize;

use super::activation::{Activation, Phase};
use super::core::Kernel;
use crate::base::{ActivationKey, Id};
use crate::mind::{headings, task_words};

/// An unfinished task of a person, with all work that it started.
#[derive(Clone, PartialEq, Debug)]
pub struct UnfinishedRun {
    /// The activation that began the run.
    pub root: ActivationKey,
    /// The id of the agent that received the task.
    pub agent: Id,
    /// The task text.
    pub task: String,
    /// The queued and running work of the run, oldest first.
    pub pieces: Vec<UnfinishedActivation>,
    /// The permissions for tasks of this run: agent and description.
    pub granted: Vec<(Id, String)>,
    /// All known activations of the run, including ended ones; the cost of the run is their sum.
    pub activations: Vec<ActivationKey>,
}

/// A queued or running piece of work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnfinishedActivation {
    /// The id of the activation.
    pub activation: Id,
    /// The id of the agent.
    pub agent: Id,
    /// A description of the work's current action, or the reason why it waits.
    pub state: String,
    /// The id of the approval that the work is waiting for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

/// An unfinished task that one agent delegated to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnfinishedHandOver {
    /// The activation that began the run.
    pub run: Id,
    /// The id of the delegating agent.
    pub from: Id,
    /// The id of the agent that received the task.
    pub to: Id,
    /// A short version of the task.
    pub task: String,
    /// A description of the work's current action, or the reason why it waits.
    pub state: String,
    /// The number of turns so far.
    pub turns: u32,
    /// The number of turns in which the task should be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_turns: Option<u32>,
}

impl Kernel {
    /// The unfinished delegated tasks, oldest first.
    pub fn unfinished_hand_overs(&self) -> Vec<UnfinishedHandOver> {
        let all = self.threads().filter_map(|(_, thread)| {
            let (handed, parent) = (thread.handed.as_ref()?, self.thread(thread.parent?)?);
            let live = thread.live.and_then(|live| self.activation(live));
            let state = match (live, &thread.report) {
                (Some(one), _) => self.piece(one).state,
                (None, Some(_)) => "done, delivering its result".to_owned(),
                (None, None) => return None,
            };
            let turns = handed.turns + live.map_or(0, |one| one.turn);
            Some(UnfinishedHandOver {
                run: thread.root.id(),
                from: parent.agent.clone(),
                to: thread.agent.clone(),
                task: handed.task.clone(),
                state,
                turns,
                deadline_turns: handed.terms.deadline_turns,
            })
        });
        all.collect()
    }

    /// The unfinished runs, oldest first.
    pub fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        let roots = self.threads().filter(|(key, thread)| *key == thread.root);
        let runs = roots.filter_map(|(root, thread)| {
            let is_its = |one: &&Activation| self.thread(one.thread).is_some_and(|thread| thread.root == root);
            let live: Vec<&Activation> = self.activations().filter(is_its).collect();
            let over = self.finished().filter(|one| one.root == root).map(|one| one.key);
            let activations = over.chain(live.iter().map(|one| one.key)).collect();
            let pieces: Vec<UnfinishedActivation> = live.into_iter().map(|one| self.piece(one)).collect();
            let task = self.task_of(root).unwrap_or_default();
            let granted = self.granted_in(root);
            let run = UnfinishedRun { root, agent: thread.agent.clone(), task, pieces, granted, activations };
            (!run.pieces.is_empty()).then_some(run)
        });
        runs.collect()
    }

    /// The run in which this agent is working at this exact task, or waiting for agents that it started for the task.
    pub fn activation_for_task(&self, agent: &str, task: &str) -> Option<ActivationKey> {
        let words = task_words(task);
        let runs = self.unfinished_runs().into_iter().map(|run| run.root);
        let mut its = runs.filter(|root| self.thread(*root).is_some_and(|thread| *thread.agent == *agent));
        its.find(|root| self.first_words(*root) == Some(words.as_str()))
    }

    /// The text of a thread's first message.
    fn first_words(&self, thread: ActivationKey) -> Option<&str> {
        let thread = self.thread(thread)?;
        let live = thread.live.and_then(|live| self.activation(live));
        let messages = live.map_or(&thread.messages, |one| &one.messages);
        messages.first().map(|message| message.text.as_str())
    }

    /// The task that began a run.
    pub fn task_of(&self, root: ActivationKey) -> Option<String> {
        if let Some(one) = self.activation(root) {
            return Some(one.input.clone());
        }
        let words = self.first_words(root)?;
        Some(words.strip_prefix(headings::TASK).unwrap_or(words).trim().to_owned())
    }

    fn piece(&self, one: &Activation) -> UnfinishedActivation {
        let approval = one.approval();
        let held_up = match (self.is_paused(), self.stopped_by(), self.resume_tick()) {
            (true, ..) => Some("paused with all work".to_owned()),
            (_, Some(why), _) => Some(format!("stopped with all work: {why}")),
            (.., Some(_)) => Some("waits for a rate limit to pass".to_owned()),
            _ => None,
        };
        let state = match (&approval, &one.cap_hold, &one.phase) {
            (Some(approval), ..) => format!("waits for a person: it wants to {}", approval.what),
            (_, Some(hold), _) => format!("waits: {}", hold.why),
            _ if held_up.is_some() => held_up.unwrap_or_default(),
            (.., Phase::Queued | Phase::Summoned) => "queued".to_owned(),
            (.., Phase::Due) if one.not_before > 0 => "waits to call its model again".to_owned(),
            (.., Phase::Due | Phase::Asking | Phase::Calling { .. }) => format!("at work, turn {}", one.turn.max(1)),
        };
        let approval = approval.map(|approval| approval.id.to_string());
        UnfinishedActivation { activation: one.key.id(), agent: one.agent.clone(), state, approval }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;

    #[test]
    fn unfinished_work_is_listed_by_run_with_its_state() {
        let mut bench = Bench::new();
        let key = bench.start("boss", "Plan\nit");
        let other = bench.start("ada", "Write");
        let child = bench.spawn(key, "kid", "dig").expect("it should be permitted");
        bench.say(key, "I wait.", &[]);
        bench.say(child, "", &["a.md"]);
        bench.kernel.ask_person(child, 1, 0, "read a.md".into());
        let runs = bench.kernel.unfinished_runs();
        let told: Vec<(&str, &str, usize)> =
            runs.iter().map(|run| (&*run.agent, run.task.as_str(), run.activations.len())).collect();
        assert_eq!(told, [("boss", "Plan\nit", 2), ("ada", "Write", 1)]);
        assert_eq!(runs[0].pieces.len(), 1, "the boss waits for the kid");
        assert!(runs[0].pieces[0].state.contains("waits for a person: it wants to read a.md"), "{runs:?}");
        assert!(runs[0].pieces[0].approval.is_some());
        assert_eq!(bench.kernel.activation_for_task("boss", "Plan\nit"), Some(key));
        assert_eq!(bench.kernel.activation_for_task("ada", "Write"), Some(other));
        assert_eq!(bench.kernel.activation_for_task("boss", "Plan"), None);
        bench.say(other, "Written.", &[]);
        bench.kernel.forget_finished_runs();
        assert_eq!(bench.kernel.activation_for_task("ada", "Write"), None, "it is over");
        bench.kernel.set_paused(true);
        bench.kernel.decided((child, 1, 0), Some("no".into()), &bench.settings.clone());
        assert_eq!(bench.kernel.unfinished_runs()[0].pieces[0].state, "paused with all work");
    }
}
