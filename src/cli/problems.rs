//! Problems of a running room on standard error: each once, when it comes up, on a terminal and in a pipe alike.

use std::collections::HashSet;

use bevy::ecs::change_detection::Tick;
use bevy::ecs::prelude::*;
use serde_json::Value;

use super::output;
use crate::base::{Author, Problem, Severity};
use crate::gateway::Questions;
use crate::log::{EventKind, EventRecord};
use crate::workspace::Problems;

/// So many are told; whoever has more has a list to go through.
const TOLD_AT_MOST: usize = 1_000;

/// What a person was told already.
pub(super) struct Reporter {
    is_quiet: bool,
    told: HashSet<String>,
    /// When the world's problems had changed last, as of the last look.
    looked_at: Option<Tick>,
}

impl Reporter {
    /// One that says nothing where it is to be quiet.
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, told: HashSet::new(), looked_at: None }
    }

    /// Says something that a person should know, once.
    pub(super) fn note(&mut self, text: String) {
        if self.is_quiet || self.told.len() > TOLD_AT_MOST || self.told.contains(&text) {
            return;
        }
        if self.told.len() == TOLD_AT_MOST {
            output::note("note: there are more problems, which are not printed; workshop doctor lists all");
        } else {
            output::note(&text);
        }
        self.told.insert(text);
    }

    /// Tells these problems.
    pub(super) fn problems<'a>(&mut self, problems: impl IntoIterator<Item = &'a Problem>) {
        for problem in problems {
            let word = if problem.severity == Severity::Error { "problem" } else { "note" };
            self.note(format!("{word}: {problem}"));
        }
    }

    /// Tells what is wrong in this world now, and what happened in it that is about nobody in particular: that is
    /// meant for the person.
    pub(super) fn look(&mut self, world: &World, events: &[EventRecord]) {
        let changed = world.get_resource_ref::<Problems>().map(|problems| problems.last_changed());
        if changed.is_some() && changed != self.looked_at {
            self.looked_at = changed;
            self.problems(world.resource::<Problems>().iter());
        }
        // A cap that ends the run is said at its end.
        let ends = world.resource::<Questions>().run_cap_reached().is_some();
        for event in events {
            if event.draft.kind == EventKind::Provider && !ends && !self.is_quiet {
                // Said again where it fails again after it had worked.
                provider(event).iter().for_each(|text| output::note(text));
            } else if event.draft.agent.is_none()
                && let Some(text) = warning(event)
            {
                self.note(text);
            }
        }
    }
}

/// A provider began to fail, or works again.
fn provider(event: &EventRecord) -> Option<String> {
    let data: Value = serde_json::from_str(event.draft.data.get()).ok()?;
    let word = if data["state"] == "failing" { "problem" } else { "note" };
    let (what, remedy) = (data["what"].as_str()?, data["remedy"].as_str().unwrap_or_default());
    Some(if remedy.is_empty() { format!("{word}: {what}") } else { format!("{word}: {what}; {remedy}") })
}

/// The words of a warning that is no record of a problem of the list.
fn warning(event: &EventRecord) -> Option<String> {
    let word = match event.draft.kind {
        EventKind::Warning => "note",
        EventKind::Error => "problem",
        _ => return None,
    };
    let data: Value = serde_json::from_str(event.draft.data.get()).ok()?;
    let is_problem = data.get("place").is_some() || data.get("subject").is_some();
    // What an agent is told is no business of the person's.
    let is_agents = data["by"].as_str().is_some_and(|by| by != &*Author::user().0);
    if is_problem || is_agents {
        return None;
    }
    let what = data["what"].as_str()?;
    Some(match data["remedy"].as_str() {
        Some(remedy) => format!("{word}: {what} ({remedy})"),
        None => format!("{word}: {what}"),
    })
}
