//! Which agent files exist and what each defines. Pure: tracks files that are added, changed and removed.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::agent_file::{AgentFile, problems_beside_last_good};
use super::claims::{self, Claim};
use super::formats::format_of;
use super::profile::AgentProfile;
use crate::base::hash::content_hash;
use crate::base::{Id, Problem};
use crate::workspace::files::FileContent;

/// One agent file as the world knows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Source {
    hash: u64,
    has_explicit_id: bool,
    /// The id that the file requests; that of `profile` is the one in use.
    #[serde(default)]
    wanted: Option<Id>,
    /// Whether the last text could not be parsed; `profile` is then the last valid one, or a minimal one.
    malformed: bool,
    /// The profile from its newest valid text.
    profile: AgentProfile,
    problems: Vec<Problem>,
}

/// A deleted file, remembered for a while in case it returns under another name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct RemovedFile {
    path: String,
    id: Id,
    hash: u64,
    tick: u64,
}

/// A profile whose file was deleted, kept for the agents that still run it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Withdrawn {
    path: String,
    profile: AgentProfile,
}

/// How many profiles of deleted files are remembered; beyond that only the fact that there were more.
const MAX_FORMER: usize = 1_000;
/// How many bytes of unknown keys are remembered of a profile whose file was deleted.
const MAX_FORMER_KEYS_BYTES: usize = 4 * 1024;

/// The permissions of an id whose file was deleted and that no agent runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RemovedProfile<'a> {
    /// There was no such profile.
    Never,
    /// The limits of the deleted profile, without its texts.
    Known(&'a AgentProfile),
    /// The profile may have been dropped from the remembered ones.
    Unknown,
}

/// All profiles, by id. Written by this module only.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Profiles {
    sources: BTreeMap<String, Source>,
    by_id: BTreeMap<Id, String>,
    /// Longer ids that also refer to a file, with the id in use: `team-two` for `two`.
    #[serde(default)]
    longer: BTreeMap<Id, Id>,
    withdrawn: BTreeMap<Id, Withdrawn>,
    gone: Vec<RemovedFile>,
    /// New files with the tick of their arrival, remembered for a while in case their former path is deleted.
    #[serde(default)]
    came: BTreeMap<String, u64>,
    /// The restrictions of profiles whose file was deleted, even if no agent runs them any more: a new file with that
    /// name must not give the agent more than it had.
    former: BTreeMap<Id, AgentProfile>,
    /// Whether profiles were dropped from `former`.
    former_is_full: bool,
    /// Whether the files that the room started from were read.
    pub(super) started: bool,
}

/// How the profiles changed because of changed files.
#[derive(Default, PartialEq, Debug)]
pub(super) struct Outcome {
    /// The ids of profiles that were registered, changed, renamed or withdrawn.
    pub(super) changed: BTreeSet<Id>,
    /// The old and new ids of profiles whose file was renamed.
    pub(super) renamed: Vec<(Id, Id)>,
    /// The paths whose problems must be reported again.
    pub(super) touched: BTreeSet<String>,
    /// Whether ids were added, removed or reassigned to another file.
    pub(super) is_another_list: bool,
}

impl Profiles {
    /// The last valid profile with this id, even if its file is gone and an agent still runs it.
    pub fn get(&self, id: &str) -> Option<&AgentProfile> {
        match self.by_id.get(id) {
            Some(path) => self.sources.get(path).map(|source| &source.profile),
            None => self.withdrawn.get(id).map(|withdrawn| &withdrawn.profile),
        }
    }

    /// Resolves a longer id to the one in use: `two` if `team-two` refers to agents/team/two.md and no other file has
    /// its name. Any other id is returned unchanged.
    pub fn resolve(&self, id: &Id) -> Id {
        match self.longer.get(id).filter(|_| !self.by_id.contains_key(id) && !self.withdrawn.contains_key(id)) {
            Some(meant) => meant.clone(),
            None => id.clone(),
        }
    }

    /// The id in use of a file's profile.
    pub fn id_at(&self, path: &str) -> Option<&Id> {
        let id = &self.sources.get(path)?.profile.id;
        (self.by_id.get(id)? == path).then_some(id)
    }

    /// Files that have a longer id than they ask for, because another file has that one.
    pub fn with_longer_ids(&self) -> impl Iterator<Item = (&str, &Id, &Id)> {
        self.sources.iter().filter_map(|(path, source)| {
            let wanted = source.wanted.as_ref().filter(|wanted| **wanted != source.profile.id)?;
            if self.is_moving(path) {
                return None;
            }
            Some((path.as_str(), &source.profile.id, wanted))
        })
    }

    /// Whether a file defines this profile now.
    pub fn is_defined(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The file that defines a profile, or defined it last.
    pub fn path(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).or_else(|| self.withdrawn.get(id).map(|withdrawn| &withdrawn.path)).map(String::as_str)
    }

    /// The permissions of a profile whose file was deleted.
    pub fn removed_profile(&self, id: &str) -> RemovedProfile<'_> {
        match self.former.get(id) {
            Some(profile) => RemovedProfile::Known(profile),
            None if self.former_is_full => RemovedProfile::Unknown,
            None => RemovedProfile::Never,
        }
    }

    /// All profiles that files define now, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &AgentProfile)> {
        self.by_id.iter().filter_map(|(id, path)| Some((id, &self.sources.get(path)?.profile)))
    }

    /// The ids that files define now, in order.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.by_id.keys()
    }

    /// The profiles of deleted files, with their former paths.
    pub(super) fn withdrawn(&self) -> impl Iterator<Item = (&Id, &str)> {
        self.withdrawn.iter().map(|(id, withdrawn)| (id, withdrawn.path.as_str()))
    }

    /// Forgets withdrawn profiles that no agent runs, and files that were deleted before this tick.
    pub(super) fn forget(&mut self, unused: &BTreeSet<Id>, gone_before: u64) {
        self.gone.retain(|gone| gone.tick >= gone_before);
        self.came.retain(|_, tick| *tick >= gone_before);
        let gone: BTreeSet<&Id> = self.gone.iter().map(|gone| &gone.id).collect();
        self.withdrawn.retain(|id, _| !unused.contains(id) || gone.contains(id));
    }

    /// The paths of all known agent files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.sources.keys()
    }

    /// Whether a file was just added with the content of the file that has its id, which may be about to be deleted.
    fn is_moving(&self, path: &str) -> bool {
        let source = self.sources.get(path).filter(|_| self.came.contains_key(path));
        let holder = source.and_then(|source| self.by_id.get(source.wanted.as_ref().unwrap_or(&source.profile.id)));
        let holder = holder.filter(|holder| *holder != path).and_then(|holder| self.sources.get(holder));
        source.zip(holder).is_some_and(|(source, holder)| source.hash == holder.hash)
    }

    /// Whether files were added before this tick for which it is not yet decided whether they were moved.
    pub(super) fn has_undecided_moves(&self, oldest: u64) -> bool {
        self.came.values().any(|tick| *tick < oldest)
    }

    /// Treats those files as copies. Returns the paths whose problems must be reported now.
    pub(super) fn copies_to_report(&mut self, oldest: u64) -> Vec<String> {
        let over: Vec<String> =
            self.came.iter().filter(|(_, tick)| **tick < oldest).map(|(path, _)| path.clone()).collect();
        let copies = over.iter().filter(|path| self.is_moving(path)).cloned().collect();
        for path in &over {
            self.came.remove(path);
        }
        copies
    }

    /// The current problems of a file.
    pub(super) fn problems(&self, path: &str) -> Vec<Problem> {
        let Some(source) = self.sources.get(path) else { return Vec::new() };
        let mut problems = source.problems.clone();
        let id = &source.profile.id;
        if let Some(first) = self.by_id.get(id).filter(|first| *first != path && !self.is_moving(path)) {
            let what = format!("{first} and {path} both define the profile {id:?}; {first} is used");
            problems.push(Problem::error(path, what, "give one of them another id in its front matter"));
        }
        problems
    }

    /// Applies the changes on disk. A file that is added within `window_ticks` before or after the deletion of one with
    /// the same content, or with the same explicit id, is that file, renamed.
    pub(super) fn apply_file_changes<'a>(
        &mut self,
        changes: impl IntoIterator<Item = (&'a str, &'a FileContent)>,
        tick: u64,
        window_ticks: u64,
    ) -> Outcome {
        let before = self.by_id.clone();
        let mut outcome = Outcome::default();
        let mut replaced = BTreeMap::new();
        for (path, content) in changes {
            self.load_file(path, content, tick, &mut replaced, &mut outcome);
        }
        if outcome.touched.is_empty() {
            return outcome;
        }
        let renames = self.follow_renames(tick.saturating_sub(window_ticks), &mut outcome);
        self.assign(&before, &mut outcome);
        for (id, path) in &before {
            if !self.by_id.contains_key(id)
                && let Some(profile) = replaced.get(path).or_else(|| Some(&self.sources.get(path)?.profile)).cloned()
            {
                self.remember(id, &profile);
                self.withdrawn.insert(id.clone(), Withdrawn { path: path.clone(), profile });
                outcome.changed.insert(id.clone());
            }
        }
        for (id, path) in &self.by_id {
            self.withdrawn.remove(id);
            self.former.remove(id);
            if before.get(id) == Some(path) && !replaced.contains_key(path) {
                continue;
            }
            let old =
                before.get(id).and_then(|old| replaced.get(old).or_else(|| Some(&self.sources.get(old)?.profile)));
            if old.is_none() || old != self.sources.get(path).map(|source| &source.profile) {
                outcome.changed.insert(id.clone());
            }
        }
        for (from, path) in renames {
            let Some(to) = self.sources.get(&path).map(|source| source.profile.id.clone()) else { continue };
            if from != to && !self.by_id.contains_key(&from) {
                self.withdrawn.remove(&from);
                outcome.renamed.push((from, to));
            }
        }
        outcome
    }

    /// Assigns files to ids again, and adds the files whose problems change because of it to the outcome.
    fn assign(&mut self, before: &BTreeMap<Id, String>, outcome: &mut Outcome) {
        let claims = self.sources.iter().map(|(path, source)| {
            let id = &source.profile.id;
            let wanted = source.wanted.as_ref().unwrap_or(id);
            let held = before.get(id).is_some_and(|holder| holder == path).then_some(id);
            Claim { path, wanted, is_own: source.has_explicit_id, held }
        });
        let claimed = claims::assign(claims.collect());
        let mut asking: BTreeMap<&Id, Vec<&String>> = BTreeMap::new();
        for (path, source) in &self.sources {
            asking.entry(source.wanted.as_ref().unwrap_or(&source.profile.id)).or_default().push(path);
        }
        let ids: BTreeSet<&Id> = before.keys().chain(claimed.by_id.keys()).collect();
        // Files that compete for an id may have changed their order.
        for id in ids.into_iter().filter(|id| before.get(*id) != claimed.by_id.get(*id)) {
            outcome.touched.extend(asking.get(id).into_iter().flatten().map(|path| (*path).clone()));
        }
        for (id, path) in &claimed.by_id {
            let Some(source) = self.sources.get_mut(path).filter(|source| source.profile.id != *id) else { continue };
            let old = std::mem::replace(&mut source.profile.id, id.clone());
            if before.get(&old).is_some_and(|holder| holder == path) {
                // Another file has its id now: agents that run it continue with the same file.
                outcome.renamed.push((old, id.clone()));
            }
        }
        outcome.is_another_list = *before != claimed.by_id;
        (self.by_id, self.longer) = (claimed.by_id, claimed.longer);
    }

    /// Creates the profiles of these files, all read at once.
    pub fn of_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a FileContent)>) -> Self {
        let mut profiles = Self::default();
        profiles.apply_file_changes(files, 1, 60);
        profiles
    }

    fn remember(&mut self, id: &Id, profile: &AgentProfile) {
        if self.former.len() >= MAX_FORMER && !self.former.contains_key(id) {
            self.former_is_full = true;
            return;
        }
        let has_room = serde_json::to_string(&profile.extra).is_ok_and(|keys| keys.len() <= MAX_FORMER_KEYS_BYTES);
        let bounds = AgentProfile {
            name: String::new(),
            description: String::new(),
            instructions: String::new(),
            skills: Vec::new(),
            own_tools: Vec::new(),
            avatar: None,
            // If these keys are dropped, the remembered profile has fewer permissions, which is safe.
            extra: if has_room { profile.extra.clone() } else { serde_json::Map::new() },
            ..profile.clone()
        };
        self.former.insert(id.clone(), bounds);
    }

    fn load_file(
        &mut self,
        path: &str,
        content: &FileContent,
        tick: u64,
        replaced: &mut BTreeMap<String, AgentProfile>,
        outcome: &mut Outcome,
    ) {
        let Some(format) = format_of(path) else { return };
        match content {
            FileContent::Removed => {
                self.came.remove(path);
                let Some(source) = self.sources.remove(path) else { return };
                let id = source.profile.id.clone();
                self.gone.push(RemovedFile { path: path.into(), id, hash: source.hash, tick });
                replaced.entry(path.to_owned()).or_insert(source.profile);
            }
            FileContent::Unusable { what, remedy } => {
                // Without a valid version there is nothing to register, only something to report.
                let problem = Problem::error(path, what.clone(), remedy.clone());
                let source = self.sources.entry(path.to_owned()).or_insert_with(|| {
                    let AgentFile { profile, .. } = (format.read)(path, "---");
                    let profile = AgentProfile { instructions: String::new(), ..profile };
                    let wanted = Some(profile.id.clone());
                    Source { hash: 0, has_explicit_id: false, wanted, malformed: true, profile, problems: Vec::new() }
                });
                source.problems = vec![problem];
            }
            FileContent::Text(text) => {
                let hash = content_hash(text.as_bytes());
                let old = self.sources.get_mut(path);
                if old.as_ref().is_some_and(|old| old.hash == hash && !old.problems.iter().any(|p| p.line.is_none())) {
                    return;
                }
                let file = (format.read)(path, text);
                match old {
                    // The last valid version stays while a person is in the middle of editing.
                    Some(old) if file.malformed && !old.malformed => {
                        old.hash = hash;
                        old.problems = problems_beside_last_good(file.problems);
                    }
                    old => {
                        let AgentFile { mut profile, has_explicit_id, malformed, problems, .. } = file;
                        let wanted = Some(profile.id.clone());
                        match old {
                            // It keeps its assigned id as long as it requests the same one.
                            Some(old) if old.wanted == wanted => profile.id = old.profile.id.clone(),
                            Some(_) => {}
                            None => {
                                self.came.insert(path.to_owned(), tick);
                            }
                        }
                        let source = Source { hash, has_explicit_id, wanted, malformed, profile, problems };
                        if let Some(old) = self.sources.insert(path.to_owned(), source) {
                            replaced.entry(path.to_owned()).or_insert(old.profile);
                        }
                    }
                }
            }
        }
        outcome.touched.insert(path.to_owned());
    }

    /// Finds the files that replaced deleted ones; additions and deletions arrive in any order. A new file then
    /// requests its id again, which is free now. Returns the ids of the deleted files, each with the path of the new
    /// one.
    fn follow_renames(&mut self, since: u64, outcome: &mut Outcome) -> Vec<(Id, String)> {
        self.gone.retain(|gone| gone.tick >= since);
        self.came.retain(|_, tick| *tick >= since);
        let (mut by_hash, mut by_id) = (BTreeMap::<u64, Vec<usize>>::new(), BTreeMap::<Id, usize>::new());
        for (index, gone) in self.gone.iter().enumerate().rev() {
            by_hash.entry(gone.hash).or_default().push(index);
            by_id.insert(gone.id.clone(), index);
        }
        let mut followed = BTreeSet::new();
        let mut renames = Vec::new();
        for path in self.came.keys() {
            let Some(source) = self.sources.get_mut(path) else { continue };
            let wanted = source.wanted.as_ref().unwrap_or(&source.profile.id);
            let of_id = by_id.get(wanted).copied().filter(|_| source.has_explicit_id);
            let of_hash = by_hash.get(&source.hash).into_iter().flatten().rev().copied();
            let Some(index) = of_id.into_iter().chain(of_hash).find(|index| !followed.contains(index)) else {
                continue;
            };
            followed.insert(index);
            outcome.touched.insert(self.gone[index].path.clone());
            if source.profile.id != *wanted {
                renames.push((source.profile.id.clone(), path.clone()));
                source.profile.id = wanted.clone();
            }
            renames.push((self.gone[index].id.clone(), path.clone()));
        }
        for (_, path) in &renames {
            self.came.remove(path);
        }
        let mut index = 0..;
        self.gone.retain(|_| index.next().is_none_or(|index| !followed.contains(&index)));
        renames
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
