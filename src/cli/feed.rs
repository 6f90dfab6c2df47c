//! What is going on, a line per event worth telling, for a person at a terminal. Quiet in a pipe.

use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use serde_json::Value;

use super::output;
use crate::app::approvals;
use crate::base::Author;
use crate::base::text::{one_line, truncate};
use crate::element::{Element, Elements};
use crate::gateway::Questions;
use crate::log::{EventKind, EventRecord};
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::simulation;

/// The status line is drawn no more often than this.
const STATUS_EVERY: Duration = Duration::from_millis(100);

/// Lines of text are cut at so many characters.
const LINE_CHARS: usize = 160;

/// Prints lines above a status line; does nothing where standard error is no terminal.
pub(super) struct Feed {
    is_on: bool,
    status_drawn: Option<Instant>,
}

impl Feed {
    /// A feed that speaks only to a terminal.
    pub(super) fn for_terminal() -> Self {
        Self { is_on: output::is_watched(), status_drawn: None }
    }

    /// A feed that says nothing.
    pub(super) fn silent() -> Self {
        Self { is_on: false, status_drawn: None }
    }

    /// Tells what happened in this world.
    pub(super) fn show(&mut self, world: &World, events: &[EventRecord]) {
        if !self.is_on {
            return;
        }
        for event in events {
            let Some(Told { who, what }) = told(world, event) else { continue };
            let when = time(event.tick as f64 / TICKS_PER_SEC as f64);
            output::feed_line(&when, &who, &truncate(&one_line(&what), LINE_CHARS));
        }
    }

    /// Says in one sentence how things stand.
    pub(super) fn status(&mut self, world: &mut World) {
        if !self.is_on || self.status_drawn.is_some_and(|drawn| drawn.elapsed() < STATUS_EVERY) {
            return;
        }
        self.status_drawn = Some(Instant::now());
        let secs = world.resource::<SimClock>().secs();
        let busy = simulation::busy_counts(world);
        let spent = world.resource::<Questions>().ledger().run();
        output::show_status(&format!(
            "{}  {} reading, {} talking, {} working, {} actions queued, {} calls, {} tokens, {}",
            time(secs),
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

fn time(secs: f64) -> String {
    let whole = secs as u64;
    format!("{:02}:{:02}", whole / 60, whole % 60)
}

/// One event for a reader: who, and what.
struct Told {
    who: String,
    what: String,
}

/// One event in one line; nothing for those that only a log reader wants.
fn told(world: &World, event: &EventRecord) -> Option<Told> {
    let data: Value = serde_json::from_str(event.draft.data.get()).ok()?;
    let text = |key: &str| data[key].as_str().map(one_line).unwrap_or_default();
    let agent = event.draft.agent.as_deref();
    let what = match event.draft.kind {
        EventKind::AgentAdded => "comes in".to_owned(),
        EventKind::AgentRemoved => "leaves".to_owned(),
        EventKind::ElementChanged => changed(world, &data)?,
        EventKind::Read if data["said"].is_string() => format!("reads {}: {}", text("label"), text("said")),
        EventKind::ConversationStart => {
            let (who, about) = (names(world, &data["participants"]), text("topic"));
            let what = if about.is_empty() { "begin to talk".into() } else { format!("begin to talk about {about}") };
            return Some(Told { who, what });
        }
        EventKind::Message => format!("says: {}", text("text")),
        EventKind::Memory if data["note"].is_string() => format!("notes: {}", text("note")),
        EventKind::Compaction => "sums up what it knows".to_owned(),
        EventKind::Complete => format!("is done: {}", text("text")),
        EventKind::Warning | EventKind::Error | EventKind::Budget => {
            format!("is told: {}", [text("what"), text("remedy")].join(" ").trim_end())
        }
        EventKind::Activation if data["by"] == "user" => format!("is given a task: {}", text("task")),
        EventKind::Spawn => format!("starts {}", text("child")),
        EventKind::Signal => format!("tells {}: {}", text("to"), text("message")),
        EventKind::ToolResult if data["ok"] == false => format!("could not use {}: {}", text("tool"), text("text")),
        EventKind::ApprovalRequested => format!("asks a person before {} ({})", text("what"), text("why")),
        EventKind::Abort => format!("is stopped: {}", text("what")),
        EventKind::FileChange if agent.is_some() && data["gone"] == true => format!("deletes {}", text("path")),
        EventKind::FileChange if agent.is_some() => format!("writes {}", text("path")),
        EventKind::FileChange => format!("reloads {}", text("path")),
        _ => return None,
    };
    let by = data["by"].as_str();
    let who = agent.or(by).map_or_else(|| "The room".to_owned(), |id| name_of(world, id));
    Some(Told { who, what })
}

/// What was done to an element; nothing for what comes with the scene.
fn changed(world: &World, data: &Value) -> Option<String> {
    let elements = world.resource::<Elements>();
    let id = data["element"].as_str().unwrap_or_default();
    let element = elements.key(id).and_then(|key| elements.entity(key)).and_then(|entity| world.get::<Element>(entity));
    let label = element.map_or(id, |element| &element.label);
    let part = data["id"].as_str().unwrap_or_default();
    Some(match data["change"].as_str()? {
        "text_set" => format!("edits {label}"),
        "pin_added" => format!("pins {part} to {label}"),
        "pin_voted" => format!("votes on {part} of {label}"),
        "pin_commented" => format!("comments on {part} of {label}"),
        "pin_removed" => format!("takes {part} down from {label}"),
        "mail_added" => format!("sends {part} to {label}"),
        _ => return None,
    })
}

/// What someone is called: by the name in the profile while in the room, by id afterwards.
fn name_of(world: &World, id: &str) -> String {
    if *id == *Author::user().0 { "Somebody".to_owned() } else { approvals::name_of(world, id) }
}

fn names(world: &World, list: &Value) -> String {
    let names: Vec<String> = list
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).map(|id| name_of(world, id)).collect())
        .unwrap_or_default();
    match names.as_slice() {
        [] => "Agents".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
