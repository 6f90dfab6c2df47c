//! The event feed on a terminal: one line per notable event. Silent if standard error is not a terminal.

use std::time::{Duration, Instant};

use super::output;
use crate::app::display_names::{RoomNames, name_of};
use crate::base::ids::USER;
use crate::base::text::truncate;
use crate::gateway::RequestQueue;
use crate::log::events::{ElementChangeKind, Knowledge, Memory};
use crate::log::{Event, EventKind, EventRecord, Narrator};
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::simulation;
use bevy::ecs::prelude::*;

/// The minimum time between two updates of the status line.
const STATUS_EVERY: Duration = Duration::from_millis(100);

/// The maximum length of a line, in characters.
const LINE_CHARS: usize = 160;

/// Prints event lines above a status line.
pub(super) struct Feed {
    is_on: bool,
    drawn_at: Option<Instant>,
}

impl Feed {
    /// Creates a feed that prints only to a terminal.
    pub(super) fn for_terminal() -> Self {
        Self { is_on: output::stderr_is_terminal(), drawn_at: None }
    }

    /// Creates a feed that prints nothing.
    pub(super) fn silent() -> Self {
        Self { is_on: false, drawn_at: None }
    }

    /// Prints the notable events.
    pub(super) fn show(&mut self, world: &World, events: &[EventRecord]) {
        if !self.is_on {
            return;
        }
        let names = RoomNames(world);
        let narrator = names.narrator();
        for event in events.iter().filter(|event| is_notable(event, &narrator)) {
            let when = format_time(event.tick as f64 / TICKS_PER_SEC as f64);
            let what = truncate(&narrator.sentence(event), LINE_CHARS);
            let who = event.draft.agent.as_ref().map(|agent| name_of(world, agent)).unwrap_or_default();
            output::feed_line(&when, &who, &what);
        }
    }

    /// Updates the status line.
    pub(super) fn status(&mut self, world: &mut World) {
        if !self.is_on || self.drawn_at.is_some_and(|drawn| drawn.elapsed() < STATUS_EVERY) {
            return;
        }
        self.drawn_at = Some(Instant::now());
        let secs = world.resource::<SimClock>().secs();
        let busy = simulation::busy_counts(world);
        let spent = world.resource::<RequestQueue>().ledger().run();
        output::show_status(&format!(
            "{}  {} reading, {} talking, {} working, {} actions queued, {} calls, {} tokens, {}",
            format_time(secs),
            busy.reading,
            busy.conversing,
            busy.working,
            busy.queued,
            spent.calls,
            spent.tokens,
            spent.cost()
        ));
    }
}

fn format_time(secs: f64) -> String {
    let whole = secs as u64;
    format!("{:02}:{:02}", whole / 60, whole % 60)
}

/// Whether an event gets a line in the feed; others are in the log only. Events of extensions always get one.
fn is_notable(event: &EventRecord, narrator: &Narrator<'_>) -> bool {
    match event.event() {
        Event::AgentAdded(_) | Event::AgentRemoved(_) | Event::ConversationStart(_) | Event::Message(_) => true,
        // Elements that come with the scene, and their positions, are not notable.
        Event::ElementChanged(change) => !matches!(
            change.change,
            ElementChangeKind::Added | ElementChangeKind::Removed | ElementChangeKind::Rearranged
        ),
        Event::Read(read) => read.said.is_some(),
        Event::Memory(memory) => matches!(memory, Memory::Noted { .. }),
        Event::Knowledge(knowledge) => !matches!(knowledge, Knowledge::Recalled { .. } | Knowledge::Known { .. }),
        Event::Compaction(_) | Event::Warning(_) | Event::Error(_) | Event::Budget(_) | Event::FileChange(_) => true,
        Event::Activation(work) => *work.by == *USER,
        Event::Spawn(_) | Event::Signal(_) | Event::ApprovalRequested(_) => true,
        Event::HandOver(_) | Event::TaskResultReturned(_) | Event::Publish(_) | Event::Blackboard(_) => true,
        Event::ToolResult(result) => !result.ok,
        Event::Complete(_) | Event::Abort(_) | Event::WorkflowStep(_) => true,
        Event::Unknown(unknown) => matches!(unknown.kind(), EventKind::Other(_)) && narrator.describes(unknown.kind()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Seq;
    use crate::log::events::{Activation, ElementChanged, ModelCall, Read, State, ToolResult};
    use crate::log::narration::NarrationContext;
    use crate::log::{AddedEvents, EventData, EventDraft, Names, Word};

    #[test]
    fn actions_of_agents_and_people_are_notable_and_internals_are_not() {
        let names = Names::default();
        let is_notable = |event: Event| {
            let draft = EventDraft::from(event);
            let record = EventRecord { seq: Seq(1), tick: 0, time_ms: 0, run: "r".into(), draft };
            super::is_notable(&record, &names.narrator())
        };
        let change = |change| Event::from(ElementChanged { change, ..ElementChanged::default() });
        let result = |ok| Event::from(ToolResult { ok, ..ToolResult::default() });
        let task = |by: &str| Event::from(Activation { by: by.into(), ..Activation::default() });
        let read = |said: Option<&str>| Event::from(Read { said: said.map(str::to_owned), ..Read::default() });
        for news in [change(ElementChangeKind::PinAdded), result(false), task("user"), read(Some("Nice."))] {
            assert!(is_notable(news.clone()), "{news:?}");
        }
        let others =
            [change(ElementChangeKind::Added), result(true), task("ada-1"), read(None), State::default().into()];
        for other in others.into_iter().chain([ModelCall::default().into()]) {
            assert!(!is_notable(other.clone()), "{other:?}");
        }
    }

    #[test]
    fn registered_extension_events_are_notable_and_unknown_ones_are_not() {
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        struct TeaBreak {
            biscuits: u32,
        }

        impl EventData for TeaBreak {
            const KIND: EventKind = EventKind::Other(Word::Borrowed("tea_break"));

            fn narrate(&self, telling: &NarrationContext<'_>) -> String {
                format!("{} had {} biscuits", telling.who(), self.biscuits)
            }
        }

        let draft = EventDraft::of(&TeaBreak { biscuits: 3 }).agent(&"ada-1".into());
        let record = EventRecord { seq: Seq(1), tick: 0, time_ms: 0, run: "r".into(), draft };
        let (mut names, mut added) = (Names::default(), AddedEvents::default());
        assert!(!super::is_notable(&record, &names.narrator()));
        added.add::<TeaBreak>();
        names.learn_events(&added);
        names.learn_agent(&"ada-1".into(), &"Ada".into());
        assert!(super::is_notable(&record, &names.narrator()));
        assert_eq!(names.narrator().sentence(&record), "Ada had 3 biscuits");
    }
}
