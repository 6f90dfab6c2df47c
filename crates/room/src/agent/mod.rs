//! Agents: what an agent is (its profile, from a file) and which agents are in the room (the roster).
//!
//! A file format is one file with a reader and one line in [`formats::FORMATS`].

pub mod agent_file;
mod claims;
pub mod formats;
pub mod front_matter;
mod keys;
mod lenient_front_matter;
pub mod lifecycle;
mod limit_keywords;
pub mod limits;
pub mod markdown;
pub mod mcp_server;
pub mod mdx_file;
mod misplaced_front_matter;
pub mod profile;
pub mod registry;
pub mod roster;
mod saved;
pub mod skills;
pub mod spawn_position;
#[cfg(test)]
mod tests;
pub mod yaml_file;

pub use keys::MIN_SAFETY_MODE;
pub use lifecycle::{TopElementHeight, TopmostElement};
pub use limits::Limit;
pub use mcp_server::{McpEntry, McpServer, McpTransport};
pub use profile::AgentProfile;
pub use registry::{Profiles, RemovedProfile};
pub use roster::{Agent, AgentAdded, AgentCommand, AgentRemoved, BehaviourFollows, ProfileChanged, Roster};
pub use skills::KnownSkills;

use std::collections::{BTreeMap, BTreeSet};

use bevy::app::App;
use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;

use crate::base::{Id, Problem};
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, SimClock, Tick, TickMessageExt, WorkshopSystems, saved as sections, ticks};
use crate::workspace::files::FileContent;
use crate::workspace::{FileChanged, KnownFiles, ProblemReport, SceneEdit, SceneWrite, SettingsExt, SettingsSection};

settings! {
    /// Where new agents are placed, and when a file counts as renamed.
    pub struct AgentSettings {
        /// Whether an agent that is dropped among or below the elements is moved above them.
        pub spawn_above_elements: bool = true;
        /// How far above the topmost element it is placed.
        pub spawn_margin_units: f32 = 120.0, in 0.0..=100_000.0;
        /// The distance between agents that were assigned a place.
        pub side_by_side_units: f32 = 80.0, in 0.0..=100_000.0;
        /// A file that appears within this time of an identical one disappearing counts as renamed.
        pub rename_window_secs: f32 = 2.0, in 0.0..=604_800.0;
    }
}

impl AgentSettings {
    /// Returns how far above the topmost element new agents are placed; `None` if they stay where they are dropped.
    pub fn spawn_margin(&self) -> Option<f32> {
        self.spawn_above_elements.then_some(self.spawn_margin_units)
    }
}

impl SettingsSection for AgentSettings {
    const NAME: &'static str = "agents";
}

/// The file of a profile was renamed, and its id with it.
#[derive(Message, Clone, Debug)]
pub(crate) struct ProfileRenamed {
    from: Id,
    to: Id,
}

/// Registers the systems, resources and messages of agents.
pub fn plugin(app: &mut App) {
    app.add_settings::<AgentSettings>();
    app.add_input::<AgentCommand>();
    app.add_tick_message::<AgentAdded>()
        .add_tick_message::<AgentRemoved>()
        .add_tick_message::<ProfileChanged>()
        .add_tick_message::<BehaviourFollows>()
        .add_tick_message::<ProfileRenamed>()
        .add_tick_message::<TopElementHeight>()
        // Owned by lower layers, which also register them.
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<SceneWrite>()
        .add_tick_message::<FileChanged>();
    app.init_resource::<Profiles>()
        .init_resource::<Roster>()
        .init_resource::<KnownSkills>()
        .init_resource::<lifecycle::RosterState>()
        .init_resource::<TopmostElement>();
    app.add_systems(
        Tick,
        (
            skills::follow,
            register_profiles,
            lifecycle::follow_profiles,
            lifecycle::apply_scene_edits,
            lifecycle::apply_commands,
            report_withdrawn,
        )
            .chain()
            .in_set(InPhase(WorkshopSystems::Ingest, Layer::Agent)),
    );
    app.add_systems(Tick, lifecycle::store_topmost.in_set(InPhase(WorkshopSystems::Simulate, Layer::Agent)));
    sections::register::<saved::ProfilesSaved>(app);
    sections::register::<saved::AgentsSaved>(app);
}

/// Keeps the profiles in sync with the agent files.
fn register_profiles(
    mut changes: MessageReader<FileChanged>,
    known: Option<Res<KnownFiles>>,
    clock: Res<SimClock>,
    settings: Res<AgentSettings>,
    mut profiles: ResMut<Profiles>,
    mut reports: MessageWriter<ProblemReport>,
    mut changed: MessageWriter<ProfileChanged>,
    mut renamed: MessageWriter<ProfileRenamed>,
) {
    let window = ticks(settings.rename_window_secs);
    let oldest = clock.tick().saturating_sub(window);
    if profiles.has_undecided_moves(oldest) {
        let copies = profiles.copies_to_report(oldest);
        if !copies.is_empty() {
            reports.write(longer_ids(profiles.with_longer_ids()));
        }
        for path in copies {
            let problems = profiles.problems(&path);
            reports.write(ProblemReport { source: path, problems });
        }
    }
    if profiles.started && changes.is_empty() {
        return;
    }
    let mut take_in = |news: Vec<(&str, &FileContent)>| {
        let outcome = profiles.apply_file_changes(news, clock.tick(), window);
        for path in outcome.touched {
            let problems = profiles.problems(&path);
            reports.write(ProblemReport { source: path, problems });
        }
        if outcome.is_another_list {
            reports.write(longer_ids(profiles.with_longer_ids()));
        }
        renamed.write_batch(outcome.renamed.into_iter().map(|(from, to)| ProfileRenamed { from, to }));
        changed.write_batch(outcome.changed.into_iter().map(|profile| ProfileChanged { profile }));
        std::mem::replace(&mut profiles.started, true)
    };
    let news = changes.read().map(|change| (change.path.as_str(), &change.content)).collect();
    let started = take_in(news);
    if !started && let Some(known) = known {
        let all: Vec<_> = known.all().iter().map(|(path, text)| (path, FileContent::Text(text.clone()))).collect();
        take_in(all.iter().map(|(path, content)| (path.as_str(), content)).collect());
    }
}

/// Reports in one problem the files that have a longer id than their name, because another file has that one.
fn longer_ids<'a>(files: impl Iterator<Item = (&'a str, &'a Id, &'a Id)>) -> ProblemReport {
    let files: Vec<_> = files.collect();
    let remedy = "to choose another id, add id: NAME to the front matter of the file";
    let problems = match files.as_slice() {
        [] => Vec::new(),
        [(path, id, wanted)] => {
            let what = format!("another file has the id {wanted:?}; this agent is now {id:?}");
            vec![Problem::warning(*path, what, remedy)]
        }
        files => {
            let named: Vec<String> = files.iter().take(5).map(|(path, id, _)| format!("{id} ({path})")).collect();
            let more = if files.len() > 5 { format!(" and {} more", files.len() - 5) } else { String::new() };
            let what = format!(
                "{} agents have their folder name in the id, because another file has the same id: {}{more}",
                files.len(),
                named.join(", ")
            );
            vec![Problem::warning("agents", what, remedy)]
        }
    };
    ProblemReport { source: "agents with a longer id".to_owned(), problems }
}

/// Reports which agents run a profile whose file was deleted; forgets such profiles once no agent runs them.
fn report_withdrawn(
    agents: Query<&Agent>,
    roster: Res<Roster>,
    clock: Res<SimClock>,
    settings: Res<AgentSettings>,
    mut profiles: ResMut<Profiles>,
    mut reports: MessageWriter<ProblemReport>,
    mut changed: MessageReader<ProfileChanged>,
    mut removed: MessageReader<AgentRemoved>,
) {
    let news = changed.read().count() + removed.read().count();
    if profiles.withdrawn().next().is_none() || (news == 0 && !clock.tick().is_multiple_of(30)) {
        return;
    }
    let mut unused = BTreeSet::new();
    let mut running_of: BTreeMap<&Id, Vec<&str>> = profiles.withdrawn().map(|(id, _)| (id, Vec::new())).collect();
    for agent in roster.agents(&agents) {
        if let Some(running) = running_of.get_mut(&agent.profile) {
            running.push(&agent.id);
        }
    }
    for (id, path) in profiles.withdrawn() {
        let running = running_of.remove(id).unwrap_or_default();
        let mut problems = Vec::new();
        if running.is_empty() {
            unused.insert(id.clone());
        } else {
            let (named, more) = running.split_at(running.len().min(5));
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let what = format!("the file was deleted; agents {}{more} still use it", named.join(", "));
            problems.push(Problem::warning(path, what, "restore the file, or remove the agents"));
        }
        if news > 0 {
            reports.write(ProblemReport { source: path.to_owned(), problems });
        }
    }
    let oldest = clock.tick().saturating_sub(ticks(settings.rename_window_secs));
    profiles.forget(&unused, oldest);
}
