//! The gate: decides whether an act is allowed, needs a person's approval or is denied, given its touches, the
//! permissions that bound it, and the workspace's policy.
//!
//! In reading order: the permissions of a profile ([`authority`]) and the bounds of a piece of work ([`bounds`]), the
//! touches of an act as declared by a tool ([`touch`]) and as checked ([`act`]), the workspace's policy ([`policy`])
//! and the agent's safety mode ([`safety`]), permanent permissions ([`allow_rules`]) and the rules for commands
//! ([`commands`]), the rules that require approval ([`ask_rules`]) and the risk ([`risk`]), and the decision
//! ([`decide`](decide::decide)). An agent never gives others more permissions than it has: raising a profile's
//! permissions needs a person, and the file of an agent that it starts states what that agent inherits
//! ([`mod@inherit`]).

pub mod act;
pub mod allow_rules;
pub mod ask_rules;
pub mod authority;
pub mod bounds;
pub mod commands;
pub mod decide;
#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod escalation_tests;
mod grants;
pub mod inherit;
mod limits;
pub mod paths;
pub mod policy;
pub mod risk;
pub mod safety;
pub mod servers;
#[cfg(test)]
mod spelling_tests;
#[cfg(test)]
mod testing;
pub mod touch;
pub mod verdict;

pub use act::{Act, GateContext, ProfileChange, RoomGateContext, Touch, file_touches};
pub use allow_rules::AllowRule;
pub use ask_rules::{AskRule, AskSource};
pub use authority::{Authority, ExcessPermission, PROPOSE_CHANGES, Power, ToolName, ToolNames, ToolScope, WEB_FETCH};
pub use bounds::Bounds;
pub use commands::CommandRules;
pub use decide::{Decision, decide, decide_reading};
pub use inherit::{InheritError, inherit};
pub use policy::{GatePolicy, Rule, VerdictSource};
pub use risk::{Risk, RiskLevel};
pub use safety::SafetyMode;
pub use servers::called;
pub use touch::{DeclaredTouch, TouchEffect, TouchKind};
pub use verdict::Verdict;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::base::hash::content_hash;
use crate::gateway::McpServers;
use crate::gateway::peers::named_paths;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems};
use crate::workspace::trust::{TrustAdded, WaitingTexts, Widening};
use crate::workspace::{FileChanged, KnownFiles, ProblemReport, SettingsExt, UnreadableFiles, WorkspaceTrust};

/// Registers the gate's settings, messages and systems.
pub fn plugin(app: &mut App) {
    app.add_settings::<GatePolicy>();
    // Owned by a lower layer; registered here as well, so that this layer runs without its systems.
    app.add_tick_message::<ProblemReport>().add_tick_message::<TrustAdded>();
    app.add_tick_message::<FileChanged>().init_resource::<KnownFiles>().init_resource::<McpServers>();
    app.init_resource::<UnreadableFiles>().init_resource::<WorkspaceTrust>();
    app.add_systems(
        Tick,
        (report_policy, report_commands, note_servers, note_command_files)
            .chain()
            .in_set(InPhase(WorkshopSystems::Ingest, Layer::Gate)),
    );
}

/// Reports the problems of the command allow list when it changes, and notes whether it can be read.
fn report_commands(
    (known, unreadable, trust): (Res<KnownFiles>, Res<UnreadableFiles>, Res<WorkspaceTrust>),
    mut changes: MessageReader<FileChanged>,
    mut reports: MessageWriter<ProblemReport>,
    mut policy: ResMut<GatePolicy>,
    mut trusted: MessageWriter<TrustAdded>,
    (mut has_looked, mut before): (Local<bool>, Local<(u64, Vec<Widening>)>),
    mut waiting: Local<WaitingTexts>,
) {
    let is_first = !std::mem::replace(&mut *has_looked, true);
    let changed: Vec<&FileChanged> = changes.read().filter(|change| change.path == commands::ALLOWLIST_FILE).collect();
    let is_persons = changed.iter().any(|change| change.is_persons());
    let is_changed = !changed.is_empty();
    if !is_changed && !is_first && !policy.is_changed() && !trust.is_changed() {
        return;
    }
    let text = known.text(commands::ALLOWLIST_FILE);
    let (rules, mut problems) = CommandRules::parse(text.unwrap_or_default());
    let now: Vec<Widening> = rules.widenings().collect();
    let hash = content_hash(text.unwrap_or_default().as_bytes());
    if hash != before.0 {
        waiting.note(before.0, &before.1, &trust);
    }
    if is_persons && !waiting.contains(hash, &trust) {
        trusted.write(TrustAdded(now.iter().filter(|widening| !before.1.contains(widening)).cloned().collect()));
    }
    *before = (hash, now);
    let failure = unreadable.failure(commands::ALLOWLIST_FILE).filter(|_| text.is_none());
    problems.extend(failure.map(|failure| failure.problem(commands::ALLOWLIST_FILE)));
    problems.extend(rules.untrusted_problem(&trust));
    policy.bypass_change_detection().are_command_rules_unread = rules.is_unread() || failure.is_some();
    reports.write(ProblemReport { source: "rules for commands".to_owned(), problems });
}

/// Records the paths that occur in the command lines of MCP servers, and whether the workspace is trusted.
fn note_servers(servers: Res<McpServers>, trust: Res<WorkspaceTrust>, mut policy: ResMut<GatePolicy>) {
    policy.bypass_change_detection().is_restricted = trust.is_restricted();
    if servers.is_changed() || policy.is_changed() {
        let paths = servers.configured().iter().flat_map(|written| named_paths(&written.server)).collect();
        policy.bypass_change_detection().server_paths = paths;
    }
}

/// Records the files that commands would run which a rule or a permanent permission allows.
fn note_command_files(
    known: Res<KnownFiles>,
    mut changes: MessageReader<FileChanged>,
    mut policy: ResMut<GatePolicy>,
    mut has_looked: Local<bool>,
) {
    let is_first = !std::mem::replace(&mut *has_looked, true);
    let has_changed = changes.read().filter(|change| change.path == commands::ALLOWLIST_FILE).count() > 0;
    if !is_first && !has_changed && !policy.is_changed() {
        return;
    }
    let (rules, _) = CommandRules::parse(known.text(commands::ALLOWLIST_FILE).unwrap_or_default());
    let of_rules = rules.allowed().flat_map(|(words, folder)| commands::code_files(words, folder));
    let permanent = policy.allow.values().flatten().filter_map(|text| AllowRule::parse(text));
    let of_permissions = permanent.filter_map(|rule| rule.command()).flat_map(|target| {
        let located = commands::line_and_folder(target);
        located.map_or_else(Default::default, |(line, folder)| commands::code_files_of_line(line, folder))
    });
    let files = of_rules.chain(of_permissions).collect();
    policy.bypass_change_detection().command_files = files;
}

/// Reports the problems of the policy when it changes.
fn report_policy(policy: Res<GatePolicy>, mut reports: MessageWriter<ProblemReport>) {
    if policy.is_changed() {
        reports.write(ProblemReport { source: "gate".to_owned(), problems: policy.problems() });
    }
}
