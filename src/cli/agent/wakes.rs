//! Work that an agent starts on its own during a chat, because its heartbeat woke it. It is shown as it happens, above
//! the line that the person is typing.

use bevy::ecs::prelude::*;

use super::super::ExitStatus;
use super::super::report::Verdict;
use super::super::task_goal::Task;
use super::events::AgentEvent;
use super::progress::Progress;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id};
use crate::desk::heartbeats::{BY_HEARTBEAT, summary};
use crate::kernel::Kernel;
use crate::log::EventRecord;
use crate::log::events::{Activation, Warning};

/// The maximum length of the shown reason for a wake-up, in characters.
const WHAT_FOR_CHARS: usize = 200;

/// Output about a wake-up.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum WakeOutput {
    /// A line of text.
    Note(String),
    /// An event of the work.
    Event(AgentEvent),
}

/// A wake-up whose work is not finished.
struct Wake {
    thread: ActivationKey,
    task: Task,
    progress: Progress,
}

/// The unfinished wake-ups, oldest first.
#[derive(Default)]
pub(super) struct Wakes(Vec<Wake>);

impl Wakes {
    /// Whether any wake-up is unfinished.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// The sessions of this work.
    pub(super) fn threads(&self) -> impl Iterator<Item = ActivationKey> {
        self.0.iter().map(|wake| wake.thread)
    }

    /// Adds the unfinished wake-ups from before the room was opened.
    pub(super) fn resume(&mut self, world: &World, agent: &Id, works: impl Iterator<Item = ActivationKey>) {
        let kernel = world.resource::<Kernel>();
        for thread in works.filter(|work| kernel.thread(*work).is_some_and(|thread| thread.agent == *agent)) {
            let live = kernel.thread(thread).and_then(|thread| kernel.activation(thread.live?));
            let (input, seen) = live.map_or((String::new(), &[][..]), |live| (live.input.clone(), &live.messages[..]));
            let (task, progress) = (Task::resumed(agent, input, thread), Progress::new(thread, seen));
            self.0.push(Wake { thread, task, progress });
        }
    }

    /// Updates the wake-ups after a tick with these events, and returns what is new. `agent` and `name` are the id and
    /// name of the chat's agent.
    pub(super) fn update(
        &mut self,
        world: &World,
        (agent, name): (&Id, &str),
        events: &[EventRecord],
    ) -> Vec<WakeOutput> {
        let mut shown = Vec::new();
        for event in events.iter().filter(|event| event.draft.agent.as_ref() == Some(agent)) {
            if let Some(missed) = event.read::<Warning>().filter(|warning| warning.by.as_deref() == Some(BY_HEARTBEAT))
            {
                shown.push(WakeOutput::Note(format!("note: {}", missed.what.replacen("it ", &format!("{name} "), 1))));
            }
            let Some(started) = event.read::<Activation>().filter(|started| *started.by == *BY_HEARTBEAT) else {
                continue;
            };
            let Some(thread) = event.draft.activation.as_deref().and_then(ActivationKey::parse) else { continue };
            let what_for = truncate(&summary(&started.task), WHAT_FOR_CHARS);
            shown.push(WakeOutput::Note(format!("{name} woke up: {what_for}")));
            let (task, progress) = (Task::resumed(agent, started.task, thread), Progress::new(thread, &[]));
            self.0.push(Wake { thread, task, progress });
        }
        self.0.retain_mut(|wake| {
            wake.progress.apply_records(world, events);
            wake.progress.update(world);
            let verdict = wake.task.verdict(world);
            if let Some(verdict) = &verdict {
                wake.progress.finish(verdict.result.as_deref());
            }
            shown.extend(wake.progress.take_events().into_iter().map(WakeOutput::Event));
            // The messages are kept in the session of the wake-up, not in that of the chat.
            wake.progress.take_entries();
            let Some(verdict) = verdict else { return true };
            shown.extend(end_of(name, &verdict).map(WakeOutput::Note));
            false
        });
        shown
    }
}

/// The note about work that did not finish; `None` if it finished, because the agent's own words were shown.
fn end_of(name: &str, verdict: &Verdict) -> Option<String> {
    let because = if verdict.reason.is_empty() { verdict.exit.word().to_owned() } else { verdict.reason.clone() };
    (verdict.exit != ExitStatus::Done).then(|| format!("note: {name} did not finish what it woke up for: {because}"))
}

#[cfg(test)]
mod tests {
    use bevy::ecs::message::Messages;

    use super::*;
    use crate::base::Seq;
    use crate::log::EventDraft;
    use crate::tools::OrderOutcome;

    fn record(draft: EventDraft) -> EventRecord {
        EventRecord { seq: Seq(1), tick: 1, time_ms: 0, run: "run".into(), draft }
    }

    fn world() -> World {
        let mut world = World::new();
        world.init_resource::<Kernel>();
        world.init_resource::<Messages<OrderOutcome>>();
        world
    }

    #[test]
    fn wakes_and_missed_heartbeats_are_shown_for_this_agent_only() {
        let (ada, world) = (Id::from("ada"), world());
        let missed =
            Warning { by: Some(BY_HEARTBEAT.into()), ..Warning::new("it missed 2 heartbeats and now runs once") };
        let task = "Your heartbeat woke you. It is Monday.\n\nDue now:\n- Sum up (Every morning at 09:00)\n";
        let started = Activation { task: task.into(), by: BY_HEARTBEAT.into(), ..Activation::default() };
        let user_task = Activation { task: "Hello".into(), by: "user".into(), ..Activation::default() };
        let key = ActivationKey::numbered(7);
        let of = |agent: &str| {
            [
                record(EventDraft::of(&missed).agent(&agent.into())),
                record(EventDraft::of(&started).agent(&agent.into()).activation(&key.id())),
                record(EventDraft::of(&user_task).agent(&agent.into()).activation(&key.id())),
            ]
        };
        let mut wakes = Wakes::default();
        assert_eq!(wakes.update(&world, (&ada, "Ada"), &of("bo")), []);
        let shown = wakes.update(&world, (&ada, "Ada"), &of("ada"));
        let notes: Vec<&str> = shown
            .iter()
            .filter_map(|shown| match shown {
                WakeOutput::Note(note) => Some(note.as_str()),
                WakeOutput::Event(_) => None,
            })
            .collect();
        assert_eq!(
            notes[..2],
            ["note: Ada missed 2 heartbeats and now runs once", "Ada woke up: Sum up (Every morning at 09:00)"]
        );
    }

    #[test]
    fn a_note_is_shown_only_for_work_that_did_not_finish() {
        assert_eq!(end_of("Ada", &Verdict::done()), None);
        let failed = Verdict::new(ExitStatus::Failed, "the model cannot be reached");
        let note = end_of("Ada", &failed);
        assert_eq!(note.as_deref(), Some("note: Ada did not finish what it woke up for: the model cannot be reached"));
    }
}
