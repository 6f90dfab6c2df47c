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

pub use plan::{Excerpt, ToolPlan, Work};
pub use registry::{TOOLS, Tool, authority, declarations, names, parse};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{ProfileChanged, Profiles};
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems};
use crate::workspace::ProblemReport;

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    // Owned by floors below; registered here as well, so that this floor runs without their systems.
    app.add_tick_message::<ProblemReport>().add_tick_message::<ProfileChanged>();
    app.init_resource::<Profiles>();
    app.add_systems(Tick, report_profiles.in_set(InPhase(WorkshopSystems::Ingest, Floor::Tools)));
}

/// Tells what in a profile grants nothing: tools, globs and safety modes that there are not.
fn report_profiles(
    profiles: Res<Profiles>,
    mut changed: MessageReader<ProfileChanged>,
    mut reports: MessageWriter<ProblemReport>,
) {
    for change in changed.read() {
        let id = &change.profile;
        let defined = profiles.get(id).filter(|_| profiles.is_defined(id)).zip(profiles.path(id));
        let problems = defined.map(|(profile, path)| authority(path, profile).1).unwrap_or_default();
        reports.write(ProblemReport { source: format!("authority of {id}"), problems });
    }
}
