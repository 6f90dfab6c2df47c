//! Reports problems of a running room on standard error: each once, when it appears, on a terminal and in a pipe alike.

use std::collections::HashSet;

use bevy::ecs::change_detection::Tick;
use bevy::ecs::prelude::*;

use super::output;
use crate::app::display_names::RoomNames;
use crate::base::ids::USER;
use crate::base::{Problem, Severity};
use crate::gateway::RequestQueue;
use crate::log::events::{Error, Provider, Warning};
use crate::log::{EventKind, EventRecord, Narration};
use crate::workspace::Problems;

/// How many are printed; the whole list is elsewhere.
const TOLD_AT_MOST: usize = 1_000;

/// The problems that were already reported.
pub(super) struct Reporter {
    is_quiet: bool,
    told: HashSet<String>,
    /// When the world's problems had changed last, as of the last look.
    looked_at: Option<Tick>,
}

impl Reporter {
    /// A reporter that prints nothing if it is to be quiet.
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, told: HashSet::new(), looked_at: None }
    }

    /// Says something that a person should know, once.
    pub(super) fn note(&mut self, text: String) {
        if self.is_quiet || self.told.len() > TOLD_AT_MOST || self.told.contains(&text) {
            return;
        }
        if self.told.len() == TOLD_AT_MOST {
            output::note("note: more problems were not printed; list all with: workshop doctor");
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

    /// Prints the present problems of this world, and events in it that concern no particular agent: these are meant
    /// for the person.
    pub(super) fn look(&mut self, world: &World, events: &[EventRecord]) {
        let changed = world.get_resource_ref::<Problems>().map(|problems| problems.last_changed());
        if changed.is_some() && changed != self.looked_at {
            self.looked_at = changed;
            self.problems(world.resource::<Problems>().iter());
        }
        // A cap that ends the run is said at its end.
        let ends = world.resource::<RequestQueue>().run_cap_reached().is_some();
        let names = RoomNames(world);
        let narrator = names.narrator();
        for event in events {
            let Some((severity, is_once)) = concern(event) else { continue };
            let text = format_problem(severity, narrator.narrate(event));
            if is_once {
                self.note(text);
            } else if !ends && !self.is_quiet {
                output::note(&text);
            }
        }
    }
}

/// How much an event concerns the person, if it does, and whether it is printed only once. The state of a provider is
/// printed again if it fails again after it had worked.
fn concern(event: &EventRecord) -> Option<(Severity, bool)> {
    match event.draft.kind {
        EventKind::Provider => {
            let is_failing = event.read::<Provider>()?.is_failing();
            Some((if is_failing { Severity::Error } else { Severity::Warning }, false))
        }
        EventKind::Warning if event.draft.agent.is_none() => {
            let warning = event.read::<Warning>()?;
            // Messages to an agent do not concern the person, and a problem of a file is in the list.
            let is_agents = warning.by.as_deref().is_some_and(|by| by != USER);
            (!is_agents && !warning.is_problem()).then_some((Severity::Warning, true))
        }
        EventKind::Error if event.draft.agent.is_none() => match event.read::<Error>()? {
            Error::Problem(problem) if problem.is_problem() => None,
            _ => Some((Severity::Error, true)),
        },
        _ => None,
    }
}

/// What happened, with what to do about it.
fn format_problem(severity: Severity, Narration { what, remedy }: Narration) -> String {
    let word = if severity == Severity::Error { "problem" } else { "note" };
    if remedy.is_empty() { format!("{word}: {what}") } else { format!("{word}: {what}; {remedy}") }
}
