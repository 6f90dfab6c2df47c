//! Which agent files there are and what each defines: pure bookkeeping over files that come, change and go.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::formats::{AgentFile, format_of};
use super::profile::AgentProfile;
use crate::base::hash::content_hash;
use crate::base::{Id, Problem};
use crate::workspace::files::FileContent;

/// One agent file as the world knows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Source {
    hash: u64,
    has_explicit_id: bool,
    /// The last text could not be used; `profile` is the last good one, or the least that could be made of it.
    malformed: bool,
    /// From its newest usable text.
    profile: AgentProfile,
    problems: Vec<Problem>,
}

/// A file that went, remembered for a while in case it comes back under another name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Gone {
    path: String,
    id: Id,
    hash: u64,
    tick: u64,
}

/// A profile whose file went, kept for the agents that still run it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Withdrawn {
    path: String,
    profile: AgentProfile,
}

/// So many profiles whose files went are remembered; beyond that it is only remembered that there were more.
const FORMER_AT_MOST: usize = 1_000;
/// Unknown keys of a profile whose file went are remembered up to so many bytes.
const FORMER_KEYS_BYTES_AT_MOST: usize = 4 * 1024;

/// What an id could do whose file went and that nobody runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Former<'a> {
    /// There was no such profile.
    Never,
    /// This: what bounds it, without its words.
    Known(&'a AgentProfile),
    /// It may have been among those that are not remembered any more.
    Unknown,
}

/// What every agent is, by profile id. Written by this module only.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Profiles {
    sources: BTreeMap<String, Source>,
    by_id: BTreeMap<Id, String>,
    withdrawn: BTreeMap<Id, Withdrawn>,
    gone: Vec<Gone>,
    /// What bounded profiles whose file went, also when nobody runs them any more: whoever writes such a file again
    /// must not give the agent more than it had.
    former: BTreeMap<Id, AgentProfile>,
    /// Whether there were more of those than are remembered.
    former_is_full: bool,
    /// Whether the files that the room started from were read.
    pub(super) started: bool,
}

/// What became of the profiles when files changed.
#[derive(Default, PartialEq, Debug)]
pub(super) struct Outcome {
    /// Registered, changed, renamed or withdrawn.
    pub(super) changed: BTreeSet<Id>,
    /// Old id and new id of profiles whose file was renamed.
    pub(super) renamed: Vec<(Id, Id)>,
    /// The paths whose problems are to be told anew.
    pub(super) touched: BTreeSet<String>,
}

impl Profiles {
    /// What an agent of this profile is: the last good version, even if its file is gone and an agent still runs it.
    pub fn get(&self, id: &str) -> Option<&AgentProfile> {
        match self.by_id.get(id) {
            Some(path) => self.sources.get(path).map(|source| &source.profile),
            None => self.withdrawn.get(id).map(|withdrawn| &withdrawn.profile),
        }
    }

    /// Whether a file defines this profile now.
    pub fn is_defined(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The file that defines a profile, or defined it last.
    pub fn path(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).or_else(|| self.withdrawn.get(id).map(|withdrawn| &withdrawn.path)).map(String::as_str)
    }

    /// What a profile could do whose file went.
    pub fn former(&self, id: &str) -> Former<'_> {
        match self.former.get(id) {
            Some(profile) => Former::Known(profile),
            None if self.former_is_full => Former::Unknown,
            None => Former::Never,
        }
    }

    /// All that files define now, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &AgentProfile)> {
        self.by_id.iter().filter_map(|(id, path)| Some((id, &self.sources.get(path)?.profile)))
    }

    /// The ids that files define now, in order.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        self.by_id.keys()
    }

    /// The profiles whose files went, with where each was.
    pub(super) fn withdrawn(&self) -> impl Iterator<Item = (&Id, &str)> {
        self.withdrawn.iter().map(|(id, withdrawn)| (id, withdrawn.path.as_str()))
    }

    /// Forgets a withdrawn profile that nobody runs, and files that went long ago.
    pub(super) fn forget(&mut self, unused: &BTreeSet<Id>, gone_before: u64) {
        self.gone.retain(|gone| gone.tick >= gone_before);
        let gone = &self.gone;
        self.withdrawn.retain(|id, _| !unused.contains(id) || gone.iter().any(|gone| gone.id == *id));
    }

    /// The paths of all known agent files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.sources.keys()
    }

    /// What is wrong with a file now.
    pub(super) fn problems(&self, path: &str) -> Vec<Problem> {
        let Some(source) = self.sources.get(path) else { return Vec::new() };
        let mut problems = source.problems.clone();
        let id = &source.profile.id;
        if let Some(first) = self.by_id.get(id).filter(|first| *first != path) {
            let what = format!("{first} and {path} both define the profile {id:?}; {first} is used");
            problems.push(Problem::error(path, what, "give one of them another id in its front matter"));
        }
        problems
    }

    /// Takes in what changed on disk. A file that comes within `window_ticks` after one with the same content
    /// went is that file, renamed.
    pub(super) fn take_in<'a>(
        &mut self,
        changes: impl IntoIterator<Item = (&'a str, &'a FileContent)>,
        tick: u64,
        window_ticks: u64,
    ) -> Outcome {
        let before: BTreeMap<Id, (String, AgentProfile)> = self
            .by_id
            .iter()
            .filter_map(|(id, path)| Some((id.clone(), (path.clone(), self.sources.get(path)?.profile.clone()))))
            .collect();
        let mut outcome = Outcome::default();
        let mut came = BTreeSet::new();
        for (path, content) in changes {
            self.take_in_file(path, content, tick, &mut came, &mut outcome);
        }
        if outcome.touched.is_empty() {
            return outcome;
        }
        self.by_id.clear();
        for (path, source) in &self.sources {
            self.by_id.entry(source.profile.id.clone()).or_insert_with(|| path.clone());
        }
        for (id, (path, profile)) in &before {
            if !self.by_id.contains_key(id) {
                self.remember(id, profile);
                let withdrawn = Withdrawn { path: path.clone(), profile: profile.clone() };
                self.withdrawn.insert(id.clone(), withdrawn);
                outcome.changed.insert(id.clone());
            }
        }
        for (id, path) in &self.by_id {
            self.withdrawn.remove(id);
            self.former.remove(id);
            let same = before.get(id).is_some_and(|(_, old)| self.sources.get(path).is_some_and(|s| s.profile == *old));
            if !same {
                outcome.changed.insert(id.clone());
            }
            // Who was second may be first now, and the other way round.
            if before.get(id).is_none_or(|(old, _)| old != path) {
                let of_id = self.sources.iter().filter(|(_, source)| source.profile.id == *id);
                outcome.touched.extend(of_id.map(|(path, _)| path.clone()));
            }
        }
        self.follow_renames(&came, tick.saturating_sub(window_ticks), &mut outcome);
        outcome
    }

    fn remember(&mut self, id: &Id, profile: &AgentProfile) {
        if self.former.len() >= FORMER_AT_MOST && !self.former.contains_key(id) {
            self.former_is_full = true;
            return;
        }
        let has_room = serde_json::to_string(&profile.extra).is_ok_and(|keys| keys.len() <= FORMER_KEYS_BYTES_AT_MOST);
        let bounds = AgentProfile {
            name: String::new(),
            description: String::new(),
            instructions: String::new(),
            skills: Vec::new(),
            avatar: None,
            // Without them it could do less: that errs on the safe side.
            extra: if has_room { profile.extra.clone() } else { serde_json::Map::new() },
            ..profile.clone()
        };
        self.former.insert(id.clone(), bounds);
    }

    fn take_in_file(
        &mut self,
        path: &str,
        content: &FileContent,
        tick: u64,
        came: &mut BTreeSet<String>,
        outcome: &mut Outcome,
    ) {
        let Some(format) = format_of(path) else { return };
        match content {
            FileContent::Removed => {
                came.remove(path);
                let Some(source) = self.sources.remove(path) else { return };
                self.gone.push(Gone { path: path.into(), id: source.profile.id, hash: source.hash, tick });
            }
            FileContent::Unusable { what, remedy } => {
                // Without a good version there is nothing to register, only something to tell.
                let problem = Problem::error(path, what.clone(), remedy.clone());
                let source = self.sources.entry(path.to_owned()).or_insert_with(|| {
                    let AgentFile { profile, .. } = (format.read)(path, "---");
                    let profile = AgentProfile { instructions: String::new(), ..profile };
                    Source { hash: 0, has_explicit_id: false, malformed: true, profile, problems: Vec::new() }
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
                    // The last good version stays while a person is in the middle of editing.
                    Some(old) if file.malformed && !old.malformed => {
                        old.hash = hash;
                        old.problems = file.problems;
                    }
                    old => {
                        if old.is_none() {
                            came.insert(path.to_owned());
                        }
                        let AgentFile { profile, has_explicit_id, malformed, problems, .. } = file;
                        let source = Source { hash, has_explicit_id, malformed, profile, problems };
                        self.sources.insert(path.to_owned(), source);
                    }
                }
            }
        }
        outcome.touched.insert(path.to_owned());
    }

    fn follow_renames(&mut self, came: &BTreeSet<String>, since: u64, outcome: &mut Outcome) {
        for path in came {
            let Some(source) = self.sources.get(path) else { continue };
            let same = |gone: &Gone| {
                gone.tick >= since
                    && (gone.hash == source.hash || (source.has_explicit_id && gone.id == source.profile.id))
            };
            let Some(index) = self.gone.iter().position(same) else { continue };
            let gone = self.gone.remove(index);
            outcome.touched.insert(gone.path);
            let (from, to) = (gone.id, source.profile.id.clone());
            if from != to && !self.by_id.contains_key(&from) {
                self.withdrawn.remove(&from);
                outcome.renamed.push((from, to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> FileContent {
        FileContent::Text(text.into())
    }

    fn take_in(profiles: &mut Profiles, tick: u64, changes: &[(&str, FileContent)]) -> Outcome {
        profiles.take_in(changes.iter().map(|(path, content)| (*path, content)), tick, 60)
    }

    #[test]
    fn files_come_and_change() {
        let mut profiles = Profiles::default();
        let outcome = take_in(&mut profiles, 1, &[("agents/ada.md", text("# Ada")), ("boards/x.md", text("x"))]);
        assert_eq!(outcome.changed, BTreeSet::from(["ada".into()]));
        assert_eq!(profiles.path("ada"), Some("agents/ada.md"));
        assert!(take_in(&mut profiles, 2, &[("agents/ada.md", text("# Ada"))]).changed.is_empty());
        take_in(&mut profiles, 3, &[("agents/ada.md", text("# Bea"))]);
        assert_eq!(profiles.get("ada").unwrap().name, "Bea");
    }

    #[test]
    fn the_last_good_version_stays_while_the_new_text_is_unusable() {
        let mut profiles = Profiles::default();
        take_in(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
        for bad in
            [text("---\nname: [\n"), FileContent::Unusable { what: "not UTF-8".into(), remedy: "save it so".into() }]
        {
            let outcome = take_in(&mut profiles, 2, &[("agents/ada.md", bad)]);
            assert!(outcome.changed.is_empty());
            assert_eq!(profiles.get("ada").unwrap().name, "Ada");
            assert_eq!(profiles.problems("agents/ada.md").len(), 1);
        }
        take_in(&mut profiles, 3, &[("agents/ada.md", text("# Ada"))]);
        assert_eq!(profiles.problems("agents/ada.md"), []);
    }

    #[test]
    fn the_first_of_two_files_with_one_id_wins_and_the_problem_names_both() {
        let mut profiles = Profiles::default();
        let second = text("---\nid: ada\nname: Second\n---\n");
        take_in(&mut profiles, 1, &[("agents/zoe.md", second), ("agents/ada.md", text("# First"))]);
        assert_eq!(profiles.get("ada").unwrap().name, "First");
        let what = &profiles.problems("agents/zoe.md")[0].what;
        assert!(what.contains("agents/ada.md") && what.contains("agents/zoe.md"), "{what}");
        let outcome = take_in(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed)]);
        assert_eq!(profiles.get("ada").unwrap().name, "Second");
        assert!(outcome.touched.contains("agents/zoe.md") && profiles.problems("agents/zoe.md").is_empty());
    }

    #[test]
    fn a_renamed_file_is_followed() {
        for later in [0, 60] {
            let mut profiles = Profiles::default();
            take_in(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
            let mut renamed = Vec::new();
            if later == 0 {
                let both = [("agents/bea.md", text("# Ada")), ("agents/ada.md", FileContent::Removed)];
                renamed.extend(take_in(&mut profiles, 2, &both).renamed);
            } else {
                renamed.extend(take_in(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed)]).renamed);
                assert!(profiles.get("ada").is_some());
                let outcome = take_in(&mut profiles, 2 + later, &[("agents/bea.md", text("# Ada"))]);
                renamed.extend(outcome.renamed);
            }
            assert_eq!(renamed, [("ada".into(), "bea".into())]);
            assert!(profiles.get("ada").is_none());
        }
    }

    #[test]
    fn a_late_or_different_file_is_another() {
        let mut profiles = Profiles::default();
        take_in(&mut profiles, 1, &[("agents/ada.md", text("# Ada"))]);
        take_in(&mut profiles, 2, &[("agents/ada.md", FileContent::Removed), ("agents/bea.md", text("# B"))]);
        assert!(take_in(&mut profiles, 63, &[("agents/cy.md", text("# Ada"))]).renamed.is_empty());
        assert!(!profiles.is_defined("ada") && profiles.get("ada").is_some());
        profiles.forget(&BTreeSet::from(["ada".into()]), 10);
        assert!(profiles.get("ada").is_none());
    }

    #[test]
    fn what_bounded_a_profile_is_remembered_when_its_file_is_gone_and_after_reopening() {
        let mut profiles = Profiles::default();
        let meek = text("---\ntools: [vfs_read]\nwrites: []\n---\nYou read.");
        take_in(&mut profiles, 1, &[("agents/meek.md", meek.clone())]);
        take_in(&mut profiles, 2, &[("agents/meek.md", FileContent::Removed)]);
        profiles.forget(&BTreeSet::from(["meek".into()]), 1_000);
        assert!(profiles.get("meek").is_none(), "nobody runs it");
        let mut reopened: Profiles =
            serde_json::from_str(&serde_json::to_string(&profiles).expect("it can be saved")).expect("it can be read");
        let Former::Known(bounds) = reopened.former("meek") else { panic!("{:?}", reopened.former("meek")) };
        assert_eq!(bounds.writes, Some(Vec::new()));
        assert_eq!(bounds.tools, Some(vec!["vfs_read".to_owned()]));
        assert!(bounds.instructions.is_empty(), "its words bound nothing");
        assert_eq!(reopened.former("other"), Former::Never);
        take_in(&mut reopened, 2_000, &[("agents/meek.md", meek)]);
        assert_eq!(reopened.former("meek"), Former::Never, "its file says what it may do");
    }

    #[test]
    fn when_too_many_files_went_it_is_not_claimed_that_there_was_none() {
        let mut profiles = Profiles::default();
        for number in 0..=FORMER_AT_MOST {
            profiles.remember(&format!("a{number}").into(), &AgentProfile::default());
        }
        assert_eq!(profiles.former.len(), FORMER_AT_MOST);
        assert!(matches!(profiles.former("a0"), Former::Known(_)));
        assert_eq!(profiles.former("new"), Former::Unknown);
    }
}
