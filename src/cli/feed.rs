//! What is going on, a line per event worth telling, for a person at a terminal. Quiet in a pipe.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::agent::{Agent, Roster};
use crate::base::Author;
use crate::base::text::{one_line, truncate};
use crate::element::{Element, Elements};
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
    style: Style,
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
        Self { bar, style: Style::of_terminal(), status_drawn: None }
    }

    /// Prints a line, also where nobody watches: for problems.
    pub(super) fn print(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// Tells what happened in this world.
    pub(super) fn show(&mut self, world: &World, events: &[EventRecord]) {
        let Some(bar) = &self.bar else { return };
        for event in events {
            let Some(Told { who, what }) = told(world, event) else { continue };
            let when = time(event.tick as f64 / TICKS_PER_SEC as f64);
            let what = truncate(&one_line(&what), LINE_CHARS);
            bar.println(format!("{}  {} {what}", self.style.dim(&when), self.style.bold(&who)));
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

/// How terminals show weight. Plain where a person asked for no colours, as <https://no-color.org> has it.
struct Style {
    plain: bool,
}

impl Style {
    fn of_terminal() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self { plain: set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb") }
    }

    fn dim(&self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.plain { text.to_owned() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m") }
    }
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
        EventKind::ApprovalRequested => format!("asks a person: {} ({})", text("what"), text("why")),
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
    let roster = world.resource::<Roster>();
    let agent = roster.key(id).and_then(|key| roster.entity(key)).and_then(|entity| world.get::<Agent>(entity));
    match agent {
        Some(agent) => agent.name.to_string(),
        None if *id == *Author::user().0 => "Somebody".to_owned(),
        None => id.to_owned(),
    }
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
