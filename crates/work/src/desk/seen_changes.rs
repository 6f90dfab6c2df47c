//! What agents and workflows of a trusted workspace would do by themselves, or could do outside of it, and whether the
//! person has seen it: heartbeats, triggers, code, coding agents, and agents that reach outside.
//!
//! What is written with this program is trusted at once: the person did it, or an agent whose act the gate checked and
//! that the person has seen itself. Whatever comes in otherwise waits: by a pull, another editor, an import, or an
//! earlier version that is put back. What was trusted once needs no second look when it comes back.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::heartbeats::heartbeat_widening;
use super::modules::code_widening;
use crate::agent::formats::format_of;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::hash::content_hash;
use crate::base::{Author, Problem};
use crate::gate::GatePolicy;
use crate::gate::commands::{ALLOWLIST_FILE, CommandRules};
use crate::gateway::aliases::{MODELS, does_more_than_answer, model_widening};
use crate::gateway::{GatewaySettings, RequestQueue};
use crate::heartbeat;
use crate::orchestration::workflow::format as workflow_format;
use crate::orchestration::workflow::starting::trigger_widening;
use crate::tools::{REACH, UnseenAgents, reach_widening};
use crate::workspace::layout::HEARTBEAT_FILE;
use crate::workspace::trust::{TRUST_REMEDY, TrustAdded, WaitingTexts, Widening};
use crate::workspace::{FileChanged, KnownFiles, ProblemReport, WorkspaceTrust};

/// The source of the problems about what the person has not seen.
const SOURCE: &str = "workspace trust: agents and workflows";
/// How many files a problem names.
const MAX_NAMED: usize = 5;

/// What one file of an agent or a workflow would do by itself, or lets an agent do outside the workspace.
pub fn widenings_of_file(path: &str, text: &str) -> Vec<Widening> {
    let mut found: Vec<Widening> = reach_widening(path, text).into_iter().collect();
    if path.rsplit('/').next() == Some(HEARTBEAT_FILE) {
        found.extend(heartbeat_widening(path, &heartbeat::read(text)));
    }
    if workflow_format::is_workflow(path) {
        found.extend(trigger_widening(path, &workflow_format::read(path, text).workflow.trigger));
    }
    found.extend(code_widening(path, text));
    let models = models_named(path, text).into_iter().filter(|model| does_more_than_answer(model));
    found.extend(models.map(|model| model_widening(&model)));
    found
}

/// The models that a file of an agent or a workflow names.
pub fn models_named(path: &str, text: &str) -> Vec<String> {
    let of_agent = format_of(path).and_then(|format| (format.read)(path, text).profile.model);
    let steps = workflow_format::is_workflow(path).then(|| workflow_format::read(path, text).workflow.steps);
    of_agent.into_iter().chain(steps.into_iter().flatten().filter_map(|step| step.model)).collect()
}

/// What is known of files with widenings. Not saved.
#[derive(Default)]
pub(super) struct Known {
    /// The files by path, as they were before the last change.
    files: BTreeMap<String, KnownFile>,
    /// The texts that waited when they were replaced or deleted.
    replaced: WaitingTexts,
}

/// A file with widenings.
pub(super) struct KnownFile {
    /// The hash of its text.
    text: u64,
    widenings: Vec<Widening>,
}

impl KnownFile {
    /// Whether the person has not seen something of it.
    fn waits(&self, trust: &WorkspaceTrust) -> bool {
        self.widenings.iter().any(|widening| !trust.allows(widening))
    }

    /// Reads a file; `None` if it has no widenings.
    fn read(path: &str, text: &str, room: &SeenContext) -> Option<Self> {
        let mut widenings = widenings_of_file(path, text);
        widenings.extend(models_named(path, text).iter().filter_map(|model| room.acting_model(model)));
        (!widenings.is_empty()).then(|| Self { text: content_hash(text.as_bytes()), widenings })
    }
}

/// The widenings that the person has not seen.
fn waiting<'a>(known: &'a Known, trust: &'a WorkspaceTrust) -> impl Iterator<Item = &'a Widening> {
    known.files.values().flat_map(|file| &file.widenings).filter(|widening| !trust.allows(widening))
}

/// The parts of the room that say what is seen.
#[derive(SystemParam)]
pub(super) struct SeenContext<'w, 's> {
    files: Res<'w, KnownFiles>,
    trust: Option<Res<'w, WorkspaceTrust>>,
    unseen: Option<Res<'w, UnseenAgents>>,
    /// The settings and the queue, which say what a model's name stands for.
    gateway: Option<Res<'w, GatewaySettings>>,
    questions: Option<Res<'w, RequestQueue>>,
    roster: Res<'w, Roster>,
    profiles: Res<'w, Profiles>,
    policy: Option<Res<'w, GatePolicy>>,
    agents: Query<'w, 's, &'static Agent>,
}

/// Trusts what was changed with this program, and reports what waits until the person has seen it.
pub(super) fn trust_seen_changes(
    room: SeenContext,
    mut changes: MessageReader<FileChanged>,
    mut trusted: MessageWriter<TrustAdded>,
    mut reports: MessageWriter<ProblemReport>,
    mut known: Local<Option<Known>>,
) {
    let Some(trust) = room.trust.as_deref().filter(|trust| matches!(trust, WorkspaceTrust::Parts { .. })) else {
        changes.clear();
        if known.take().is_some() {
            reports.write(ProblemReport { source: SOURCE.to_owned(), problems: Vec::new() });
        }
        return;
    };
    let changed: Vec<&FileChanged> = changes.read().collect();
    let is_first = known.is_none();
    let known = known.get_or_insert_with(|| Known { files: room.read_all(), ..Known::default() });
    if !is_first && !changed.is_empty() {
        let added = room.follow(known, &changed, trust);
        if !added.is_empty() {
            trusted.write(TrustAdded(added));
        }
    }
    let has_other_models = !is_first && room.gateway.as_ref().is_some_and(|gateway| gateway.is_changed());
    if has_other_models {
        known.files = room.read_all();
    }
    let is_other_trust = room.trust.as_ref().is_some_and(|trust| trust.is_changed());
    let is_other_policy = room.policy.as_ref().is_some_and(|policy| policy.is_changed());
    if is_first || !changed.is_empty() || is_other_trust || is_other_policy || has_other_models {
        let problems = room.problems(known, trust);
        reports.write(ProblemReport { source: SOURCE.to_owned(), problems });
    }
}

impl SeenContext<'_, '_> {
    /// Reads all files with widenings.
    fn read_all(&self) -> BTreeMap<String, KnownFile> {
        let all = self.files.all().iter();
        all.filter_map(|(path, text)| Some((path.clone(), KnownFile::read(path, text, self)?))).collect()
    }

    /// The widening of what a model's name stands for, if that does more than to answer.
    fn acting_model(&self, named: &str) -> Option<Widening> {
        let provider_override = self.questions.as_ref().and_then(|questions| questions.provider_override());
        let meant = self.gateway.as_ref()?.acting_model(provider_override, named)?;
        Some(model_widening(&meant))
    }

    /// Follows changes of files, and returns what they added with this program.
    fn follow(&self, known: &mut Known, changed: &[&FileChanged], trust: &WorkspaceTrust) -> Vec<Widening> {
        // A file that waits and is renamed, copied or restored goes on waiting.
        let (waiting, seen): (Vec<_>, Vec<_>) = known.files.iter().partition(|(_, file)| file.waits(trust));
        let waiting: BTreeSet<u64> = waiting.into_iter().map(|(_, file)| file.text).collect();
        let seen: BTreeMap<String, u64> = seen.into_iter().map(|(path, file)| (path.clone(), file.text)).collect();
        let is_copy_of_seen = |text: u64| seen.values().any(|other| *other == text);
        let mut added = Vec::new();
        for change in changed {
            let before = known.files.remove(&change.path);
            if let Some(before) = &before {
                known.replaced.note(before.text, &before.widenings, trust);
            }
            let text = self.files.text(&change.path);
            let Some(now) = text.and_then(|text| KnownFile::read(&change.path, text, self)) else { continue };
            let has_waited = known.replaced.contains(now.text, trust) && !is_copy_of_seen(now.text);
            let is_seen = match &change.from {
                // To move a file is not to write it.
                Some(from) => seen.get(from) == Some(&now.text),
                None => change.is_persons() || (change.is_seen && self.is_seen_author(&change.by)),
            };
            if is_seen && !waiting.contains(&now.text) && !has_waited {
                let before = before.map(|file| file.widenings).unwrap_or_default();
                added.extend(now.widenings.iter().filter(|widening| !before.contains(widening)).cloned());
            }
            known.files.insert(change.path.clone(), now);
        }
        added
    }

    /// Whether a change by this agent is one that the gate checked against rights that the person has seen: no agent
    /// gives another one more than it has unless the person allows exactly this change.
    fn is_seen_author(&self, author: &Author) -> bool {
        let entity = self.roster.key(&author.0).and_then(|key| self.roster.entity(key));
        let agent = entity.and_then(|entity| self.agents.get(entity).ok());
        let path = agent.and_then(|agent| self.profiles.path(&agent.profile));
        path.is_some_and(|path| self.unseen.as_ref().is_some_and(|unseen| !unseen.contains(path)))
    }

    /// The problems about what waits.
    fn problems(&self, known: &Known, trust: &WorkspaceTrust) -> Vec<Problem> {
        let (models, others): (Vec<&Widening>, Vec<&Widening>) =
            waiting(known, trust).partition(|widening| widening.place == MODELS);
        let (starting, reaching): (Vec<&Widening>, Vec<&Widening>) =
            others.into_iter().partition(|widening| widening.key != REACH);
        let names: BTreeSet<&str> = models.iter().map(|model| &*model.value).collect();
        let models = (!names.is_empty()).then(|| {
            let names: Vec<&str> = names.into_iter().take(MAX_NAMED).collect();
            let what = format!("{} is not used until you trust it, because you have not seen it yet", names.join(", "));
            Problem::warning(MODELS, what, TRUST_REMEDY)
        });
        let starts = problem(&starting, "does not start by itself");
        // Where everything outside is asked anyway, it makes no difference.
        let reaches =
            problem(&reaching, "asks before it reaches outside the workspace").filter(|_| self.frees_outside());
        starts.into_iter().chain(models).chain(reaches).collect()
    }

    /// Whether a rule lets every agent reach outside without asking.
    fn frees_outside(&self) -> bool {
        let rules = self.files.text(ALLOWLIST_FILE).map(CommandRules::of);
        let is_freed = self.policy.as_ref().is_some_and(|policy| policy.frees_outside());
        is_freed || rules.is_some_and(|rules| rules.widenings().next().is_some())
    }
}

/// The problem with what waits in some files; `None` if there are none.
fn problem(waiting: &[&Widening], what: &str) -> Option<Problem> {
    let first = waiting.first()?;
    let mut others: Vec<&str> = waiting[1..].iter().map(|widening| widening.place.as_str()).collect();
    others.dedup();
    let more = others.len().saturating_sub(MAX_NAMED);
    others.truncate(MAX_NAMED);
    let mut also = if others.is_empty() { String::new() } else { format!("; also: {}", others.join(", ")) };
    if more > 0 {
        also.push_str(&format!(" and {more} more"));
    }
    let what = format!("{what} until you trust it, because you have not seen it yet{also}");
    Some(Problem::warning(first.place.clone(), what, TRUST_REMEDY))
}

#[cfg(test)]
#[path = "seen_changes_tests.rs"]
mod tests;
