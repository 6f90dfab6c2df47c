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

/// The maximum number of printed problems; `workshop doctor` lists all.
const MAX_REPORTED: usize = 1_000;

/// Prints problems, and remembers which were already printed.
pub(super) struct ProblemReporter {
    is_quiet: bool,
    reported: HashSet<String>,
    /// The change tick of the world's problems at the last call of [`Self::report_new`].
    problems_changed_at: Option<Tick>,
}

impl ProblemReporter {
    /// Creates a reporter, which prints nothing if `is_quiet`.
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, reported: HashSet::new(), problems_changed_at: None }
    }

    /// Prints a message, unless it was printed before.
    pub(super) fn note(&mut self, text: String) {
        if self.is_quiet || self.reported.len() > MAX_REPORTED || self.reported.contains(&text) {
            return;
        }
        if self.reported.len() == MAX_REPORTED {
            output::note("note: more problems were not printed; list all with: workshop doctor");
        } else {
            output::note(&text);
        }
        self.reported.insert(text);
    }

    /// Prints the problems that were not printed before.
    pub(super) fn report_problems<'a>(&mut self, problems: impl IntoIterator<Item = &'a Problem>) {
        for problem in problems {
            let word = if problem.severity == Severity::Error { "problem" } else { "note" };
            self.note(format!("{word}: {problem}"));
        }
    }

    /// Prints the current problems of the world, and the warnings and errors among `events` that belong to no agent.
    pub(super) fn report_new(&mut self, world: &World, events: &[EventRecord]) {
        let changed = world.get_resource_ref::<Problems>().map(|problems| problems.last_changed());
        if changed.is_some() && changed != self.problems_changed_at {
            self.problems_changed_at = changed;
            self.report_problems(world.resource::<Problems>().iter());
        }
        // A cap that ends the run is reported at its end.
        let ends = world.resource::<RequestQueue>().run_cap_reached().is_some();
        let names = RoomNames(world);
        let narrator = names.narrator();
        for event in events {
            let Some((severity, is_once)) = severity_of(event) else { continue };
            let text = format_problem(severity, narrator.narrate(event));
            if is_once {
                self.note(text);
            } else if !ends && !self.is_quiet {
                output::note(&text);
            }
        }
    }
}

/// The severity of an event that is reported, and whether it is reported only once. A provider is reported each time
/// its state changes.
fn severity_of(event: &EventRecord) -> Option<(Severity, bool)> {
    match event.draft.kind {
        EventKind::Provider => {
            let is_failing = event.read::<Provider>()?.is_failing();
            Some((if is_failing { Severity::Error } else { Severity::Warning }, false))
        }
        EventKind::Warning if event.draft.agent.is_none() => {
            let warning = event.read::<Warning>()?;
            // Warnings for an agent are not for the person, and problems in files are printed from the list.
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

/// Formats a problem and its remedy.
fn format_problem(severity: Severity, Narration { what, remedy }: Narration) -> String {
    let word = if severity == Severity::Error { "problem" } else { "note" };
    if remedy.is_empty() { format!("{word}: {what}") } else { format!("{word}: {what}; {remedy}") }
}
