//! What is going on, a line per event worth telling, for a person at a terminal. Quiet in a pipe.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::base::text::{one_line, truncate};
use crate::gateway::Questions;
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::simulation;
use crate::store::{EventKind, EventRecord};

/// The status line is drawn no more often than this.
const STATUS_EVERY: Duration = Duration::from_millis(100);

/// Lines of text are cut at so many characters.
const LINE_CHARS: usize = 160;

/// Prints lines above a status line; does nothing where standard error is no terminal.
pub(super) struct Feed {
    bar: Option<ProgressBar>,
    status_drawn: Option<Instant>,
}

impl Feed {
    /// A feed that speaks only to a terminal.
    pub(super) fn for_terminal() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        Self { bar, status_drawn: None }
    }

    /// Prints a line, also where nobody watches: for problems.
    pub(super) fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Tells what happened.
    pub(super) fn show(&mut self, events: &[EventRecord]) {
        let Some(bar) = &self.bar else { return };
        for line in events.iter().filter_map(line) {
            bar.println(line);
        }
    }

    /// Says in one sentence how things stand.
    pub(super) fn status(&mut self, world: &mut World) {
        let Some(bar) = &self.bar else { return };
        if self.status_drawn.is_some_and(|drawn| drawn.elapsed() < STATUS_EVERY) {
            return;
        }
        self.status_drawn = Some(Instant::now());
        let secs = world.resource::<SimClock>().secs();
        let busy = simulation::busy_counts(world);
        let spent = world.resource::<Questions>().ledger().run();
        bar.set_message(format!(
            "{}  {} reading, {} talking, {} working, {} actions queued, {} calls, {} tokens, ${:.2}",
            time(secs),
            busy.reading,
            busy.conversing,
            busy.working,
            busy.queued,
            spent.calls,
            spent.tokens,
            spent.cost_usd()
        ));
    }

    /// Takes the status line away.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn time(secs: f64) -> String {
    let whole = secs as u64;
    format!("{:02}:{:02}", whole / 60, whole % 60)
}

/// One event in one line; nothing for those that only a log reader wants.
fn line(event: &EventRecord) -> Option<String> {
    let data: Value = serde_json::from_str(event.draft.data.get()).ok()?;
    let text = |key: &str| data[key].as_str().map(one_line).unwrap_or_default();
    let agent = event.draft.agent.as_deref().unwrap_or("the room");
    let told = match event.draft.kind {
        EventKind::AgentAdded => format!("{agent} comes in"),
        EventKind::AgentRemoved => format!("{agent} leaves"),
        EventKind::ElementChanged => format!("{} changed by {}: {}", text("element"), text("by"), text("change")),
        EventKind::Read => format!("{agent} reads {}: {}", text("element"), text("said")),
        EventKind::ConversationStart => {
            format!("{} begin to talk about {}", names(&data["participants"]), text("topic"))
        }
        EventKind::Message => format!("{agent}: {}", text("text")),
        EventKind::ConversationEnd => format!("the talk ends: {}", text("why")),
        EventKind::Memory => format!("{agent} remembers: {}", text("text")),
        EventKind::Compaction => format!("{agent} sums up what it knows"),
        EventKind::Complete => format!("{agent} is done: {}", text("text")),
        EventKind::Warning | EventKind::Error => format!("{agent}: {} {}", text("what"), text("remedy")),
        EventKind::Budget => format!("{agent}: {}", text("what")),
        EventKind::FileChange => format!("{} was edited", text("path")),
        _ => return None,
    };
    Some(truncate(&format!("{}  {told}", time(event.tick as f64 / TICKS_PER_SEC as f64)), LINE_CHARS))
}

fn names(list: &Value) -> String {
    let names: Vec<&str> =
        list.as_array().map(|names| names.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
    match names.as_slice() {
        [] => "agents".to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
