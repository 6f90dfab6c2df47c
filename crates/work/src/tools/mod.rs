//! The tools that models call: what they are told of each, how a call becomes a plan, and how a result becomes words.
//!
//! In reading order: the list of tools ([`registry`]) and its families ([`files`], [`agents`]), the check of a
//! call's arguments ([`schema`]), what a call comes to ([`plan`]), and the words for results ([`words`]). Whether
//! a plan may be carried out is the gate's to say; carrying it out is for the floors above.

pub mod agents;
pub mod files;
pub mod plan;
pub mod registry;
pub mod schema;
#[cfg(test)]
mod tests;
pub mod words;

pub use plan::{Excerpt, ToolPlan, Work, started};
pub use registry::{TOOLS, Tool, authority, declarations, names, parse};

use std::collections::{BTreeMap, BTreeSet};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentProfile, ProfileChanged, Profiles};
use crate::base::{Id, Problem};
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems};
use crate::workspace::ProblemReport;

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    // Owned by floors below; registered here as well, so that this floor runs without their systems.
    app.add_tick_message::<ProblemReport>().add_tick_message::<ProfileChanged>();
    app.init_resource::<Profiles>();
    app.add_systems(Tick, report_profiles.in_set(InPhase(WorkshopSystems::Ingest, Floor::Tools)));
}

/// The tools that agents ask for and that there are not, by profile.
type Missing = BTreeMap<Id, BTreeSet<String>>;

/// Tells what in a profile grants nothing: tools, globs and safety modes that there are not. Tools of other products
/// are told in one note, for all agents that ask for them.
fn report_profiles(
    profiles: Res<Profiles>,
    mut changed: MessageReader<ProfileChanged>,
    mut reports: MessageWriter<ProblemReport>,
    mut missing: Local<Option<Missing>>,
) {
    if changed.is_empty() {
        return;
    }
    let ask = |(id, profile): (&Id, &AgentProfile)| Some((id.clone(), names().missing(profile)));
    let missing = missing.get_or_insert_with(|| profiles.iter().filter_map(ask).collect());
    for change in changed.read() {
        let id = &change.profile;
        let defined = profiles.get(id).filter(|_| profiles.is_defined(id)).zip(profiles.path(id));
        match defined {
            Some((profile, _)) => missing.insert(id.clone(), names().missing(profile)),
            None => missing.remove(id),
        };
        let problems = defined.map(|(profile, path)| authority(path, profile).1).unwrap_or_default();
        reports.write(ProblemReport { source: format!("authority of {id}"), problems });
    }
    missing.retain(|_, tools| !tools.is_empty());
    let problems = missing_note(missing, &profiles).into_iter().collect();
    reports.write(ProblemReport { source: "tools that are not here".to_owned(), problems });
}

/// So many tools are named in the note, the most wanted first.
const MISSING_NAMED_AT_MOST: usize = 8;

/// Names of tools with how many agents want each: `Bash (127), WebFetch (31)`, the most wanted first.
pub fn most_wanted(mut counts: Vec<(&str, usize)>) -> String {
    counts.sort_by_key(|(tool, count)| (std::cmp::Reverse(*count), *tool));
    let named = counts.iter().take(MISSING_NAMED_AT_MOST).map(|(tool, count)| format!("{tool} ({count})"));
    let named = named.collect::<Vec<_>>().join(", ");
    match counts.len().saturating_sub(MISSING_NAMED_AT_MOST) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn missing_note(missing: &Missing, profiles: &Profiles) -> Option<Problem> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in missing.values().flatten() {
        *counts.entry(tool).or_default() += 1;
    }
    let remedy = "they work without; to remove this note, take those names out of tools:";
    match missing.len() {
        0 => None,
        1 => {
            let (id, tools) = missing.iter().next()?;
            let named: Vec<&str> = tools.iter().take(MISSING_NAMED_AT_MOST).map(String::as_str).collect();
            let more = tools.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let what = format!("this agent asks for tools that are not here: {}{more}", named.join(", "));
            let line = profiles.get(id).and_then(|profile| profile.lines.of("tools"));
            Some(Problem::warning(profiles.path(id)?, what, remedy).at_line(line))
        }
        agents => {
            let named = most_wanted(counts.into_iter().collect());
            let what = format!("{agents} agents ask for tools that are not here: {named}");
            Some(Problem::warning("agents", what, remedy))
        }
    }
}
