//! The tools that models call: their declarations, how a call becomes a plan, and how a result becomes text.
//!
//! In reading order: a tool ([`tool`]), the registry ([`registry`]) and the families of built-in tools ([`files`],
//! `agents`, [`collaboration`], [`desk`]), the terms of a task ([`hand_over`]), the check of a call's arguments
//! ([`schema`]), the plan of a call ([`plan`]) and its preview for the person who decides ([`proposal`]), the order to
//! an executor and its outcome ([`order`], `file_executor`), and the texts of results ([`result_text`]). The gate
//! decides whether a plan may be executed; the kernel issues the order.

mod agents;
mod coding_agent_tools;
pub mod collaboration;
mod commands;
pub mod desk;
pub(crate) mod document_calls;
mod document_checks;
pub mod document_runtime;
pub(crate) mod document_tools;
pub(crate) mod executor;
mod file_executor;
pub mod files;
pub mod hand_over;
pub mod knowledge;
mod mcp;
pub mod order;
pub mod plan;
pub mod preview_lines;
pub mod proposal;
pub mod registry;
pub mod result_text;
pub mod schema;
mod schema_rules;
mod slack;
#[cfg(test)]
mod tests;
pub mod tool;
mod unseen_agents;
mod web;

pub use coding_agent_tools::OWN_TOOLS;
pub use collaboration::{COLLABORATION, CollaborationOrder, Condition};
pub use commands::{COMMANDS, EXECUTE_COMMAND, checking_code, is_look, looking_at_code};
pub use desk::{DESK, DeskOrder, PLANNER, TaskDraft, TaskUpdate};
pub use document_tools::DOCUMENT_TOOLS;
pub use hand_over::{Expected, Terms};
pub use knowledge::{KNOWLEDGE, KnowledgeOrder};
pub use mcp::SERVERS;
pub use order::{
    CallAnswer, CallAnswered, OrderAnswered, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolImage,
    ToolOrder, ToolOrdersWithdrawn, ToolOutput, call_hash,
};
pub use plan::{
    AGENTS, CallDescription, Excerpt, FILES, Planned, REPLACES_WORKSPACE, ToolPlan, Work, agent_file_name, started,
};
pub use preview_lines::{PreviewLine, PreviewLineKind};
pub use proposal::{Preview, describe_intent};
pub use registry::{Caller, ToolRefusal, Tools, builtin};
pub use slack::{SLACK_INBOX, SLACK_OUTBOX};
pub use tool::{Arguments, Planner, Planning, Tool};
pub use unseen_agents::{REACH, UnseenAgents, reach_widening};
pub use web::WEB;

use std::collections::{BTreeMap, BTreeSet};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentProfile, ProfileChanged, Profiles};
use crate::base::{Id, Problem};
use crate::element::ElementRefused;
use crate::gateway::{AttributesPutBack, McpServers, Network, ProgramSettings, ServerMessagesReceived, ServerPool};
use crate::schedule::inputs::InputExt;
use crate::schedule::outside::{NoticesExt, OutsideExt, OutsideSystems};
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::workspace::vfs::{FileOrder, FileOutcome, FileReportsReceived};
use crate::workspace::{FileChanged, ProblemReport, SettingsExt};
use executor::ToolOutside;

/// The set of systems in which executors within the room answer: they read [`PendingToolOrders`], and the kernel
/// processes their answers in the same tick.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AnswerOrders;

/// The set of the system that closes answered calls.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CloseOrders;

/// The set of systems that apply results of external servers and programs.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExternalResultsReceived;

/// The part of that set in this layer: executors of higher layers with external results run after it.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ToolResultsReceived;

/// Registers the systems, resources and messages of tools.
pub fn plugin(app: &mut App) {
    // Owned by lower layers; also registered here, so that this layer runs without their systems.
    app.add_tick_message::<ProblemReport>()
        .add_tick_message::<ProfileChanged>()
        .add_tick_message::<FileOrder>()
        .add_tick_message::<FileOutcome>()
        .add_tick_message::<FileChanged>()
        .add_tick_message::<ElementRefused>();
    app.init_resource::<UnseenAgents>();
    app.add_tick_message::<OrderAnswered>().add_tick_message::<CallAnswered>();
    app.add_tick_message::<ToolOrder>().add_tick_message::<ToolOrdersWithdrawn>().add_input::<OrderOutcome>();
    app.init_resource::<McpServers>().init_resource::<ServerPool>();
    app.init_resource::<Network>().init_resource::<ProgramSettings>();
    app.add_notices::<AttributesPutBack>();
    app.init_resource::<Profiles>().insert_resource(builtin().clone());
    app.init_resource::<PendingToolOrders>();
    app.add_outside(ToolOutside(commands::Commands::default()));
    app.add_outside(ToolOutside(mcp::ServerCalls::default()));
    app.add_outside(ToolOutside(web::WebRequests::default()));
    app.add_settings::<document_runtime::DocumentSettings>();
    app.init_resource::<document_tools::ReadCode>();
    app.add_outside(ToolOutside(document_tools::DocumentCalls::default()));
    app.add_outside(document_checks::CodeChecks::default());
    let answering = AnswerOrders.in_set(InPhase(WorkshopSystems::Ingest, Layer::Tools));
    let answering = answering.after(commands::keep_copies).before(order::close);
    app.configure_sets(Tick, answering);
    app.add_systems(
        Tick,
        (
            (
                unseen_agents::note_unseen_agents,
                mcp::register,
                file_executor::answer,
                coding_agent_tools::answer,
                commands::keep_copies,
                order::close.in_set(CloseOrders),
                document_tools::register,
                document_checks::report,
                report_profiles,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Tools)),
            // The kernel has issued its orders by now; the file service receives its orders in the last phase.
            (order::take_up, file_executor::order, commands::open_copies)
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Layer::Tools)),
        ),
    );
    let outsides = OutsideSystems.in_set(ToolResultsReceived).in_set(ExternalResultsReceived);
    app.configure_sets(Tick, outsides.after(FileReportsReceived).after(ServerMessagesReceived));
    sections::register::<PendingToolOrders>(app);
}

/// The tools that profiles list and that do not exist, by profile.
type Missing = BTreeMap<Id, BTreeSet<String>>;

/// Reports entries of profiles that have no effect: tools, globs and safety modes that do not exist. Tools of other
/// products are reported in one problem for all agents that list them.
fn report_profiles(
    tools: Res<Tools>,
    profiles: Res<Profiles>,
    mut changed: MessageReader<ProfileChanged>,
    mut reports: MessageWriter<ProblemReport>,
    mut missing: Local<Option<Missing>>,
) {
    let has_known = missing.is_some();
    let has_new_tools = tools.is_changed() && has_known;
    if changed.is_empty() && !has_new_tools {
        return;
    }
    let names = tools.names();
    let of = |(id, profile): (&Id, &AgentProfile)| (id.clone(), names.missing(profile));
    let missing = missing.get_or_insert_with(|| profiles.iter().map(of).collect());
    let mut ids: BTreeSet<Id> = changed.read().map(|change| change.profile.clone()).collect();
    if has_new_tools {
        ids.extend(profiles.iter().map(|(id, _)| id.clone()));
    }
    for id in &ids {
        let defined = profiles.get(id).filter(|_| profiles.is_defined(id)).zip(profiles.path(id));
        match defined {
            Some((profile, _)) => missing.insert(id.clone(), names.missing(profile)),
            None => missing.remove(id),
        };
        let problems = defined.map(|(profile, path)| tools.authority(path, profile).1).unwrap_or_default();
        reports.write(ProblemReport { source: format!("authority of {id}"), problems });
    }
    missing.retain(|_, wanted| !wanted.is_empty());
    let problems = missing_note(missing, &profiles).into_iter().collect();
    reports.write(ProblemReport { source: "tools that are not available".to_owned(), problems });
}

/// The maximum number of missing tools that are named, those listed by most agents first.
const MAX_MISSING_NAMED: usize = 8;

/// The problem that names missing tools with the number of agents that list each: `Bash (127), WebFetch (31)`.
pub fn most_wanted(mut counts: Vec<(&str, usize)>) -> String {
    counts.sort_by_key(|(tool, count)| (std::cmp::Reverse(*count), *tool));
    let named = counts.iter().take(MAX_MISSING_NAMED).map(|(tool, count)| format!("{tool} ({count})"));
    let named = named.collect::<Vec<_>>().join(", ");
    match counts.len().saturating_sub(MAX_MISSING_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn missing_note(missing: &Missing, profiles: &Profiles) -> Option<Problem> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in missing.values().flatten() {
        *counts.entry(tool).or_default() += 1;
    }
    let remedy = "they work without these; to remove this note, remove the names from tools:";
    match missing.len() {
        0 => None,
        1 => {
            let (id, tools) = missing.iter().next()?;
            let named: Vec<&str> = tools.iter().take(MAX_MISSING_NAMED).map(String::as_str).collect();
            let more = tools.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let what = format!("this agent lists tools that are not available: {}{more}", named.join(", "));
            let line = profiles.get(id).and_then(|profile| profile.lines.of("tools"));
            Some(Problem::warning(profiles.path(id)?, what, remedy).at_line(line))
        }
        agents => {
            let named = most_wanted(counts.into_iter().collect());
            let what = format!("{agents} agents list tools that are not available: {named}");
            Some(Problem::warning("agents", what, remedy))
        }
    }
}
