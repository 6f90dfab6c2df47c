//! The bounds of an act: the agent's own permissions, and those of all that led to its start.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::allow_rules::AllowRule;
use super::authority::{Authority, ExcessPermission, PROPOSE_CHANGES, WEB_FETCH};
use super::safety::SafetyMode;
use super::touch::TouchKind;
use crate::base::globs;
use crate::gateway::acp::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};
use crate::workspace::vfs::FileRights;

/// The authorities that bound a piece of work: the agent's own first, then those of its starters, nearest first.
/// What one of them forbids is forbidden.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bounds {
    authorities: Vec<Authority>,
    /// What a person allowed this agent permanently, as rules.
    #[serde(default)]
    allowed: Vec<String>,
}

impl Authority {
    /// The bounds of work by an agent with this authority, started by agents with those.
    pub fn chain(own: Self, starters: impl IntoIterator<Item = Self>) -> Bounds {
        let mut all = vec![own];
        for starter in starters {
            // Agents that start each other in turn would make the list longer and say nothing new.
            if !all.contains(&starter) {
                all.push(starter);
            }
        }
        Bounds { authorities: all, allowed: Vec::new() }
    }
}

impl Bounds {
    /// Whom this work may be done for: the bounds of an agent with `own` authority that is started within these.
    pub fn starting(&self, own: Authority) -> Self {
        Authority::chain(own, self.authorities.iter().cloned())
    }

    /// The same, with the rules of what a person allowed this agent for good. Whom it starts has rules of its own.
    pub fn allowing(self, allowed: Vec<String>) -> Self {
        Self { allowed, ..self }
    }

    /// The same for what the code of a tool of the agent's own does: it reads files where its agent does, and asks
    /// servers, each of which is judged.
    pub fn of_own_code(mut self) -> Self {
        for authority in &mut self.authorities {
            // Its paths are those of the workspace already.
            authority.folder = None;
            authority.tools.insert(WEB_FETCH.to_owned());
            if authority.tools.contains("vfs_read") {
                authority.tools.insert(READ_TEXT.to_owned());
            }
        }
        self
    }

    /// Whether a person allowed this agent for good to touch this by this tool.
    pub fn is_allowed(&self, tool: &str, kind: &TouchKind, target: &str) -> bool {
        self.allowed.iter().filter_map(|text| AllowRule::parse(text)).any(|rule| rule.covers(tool, kind, target))
    }

    /// Whether the most careful mode among them is the agent's own.
    pub fn is_own_safety(&self) -> bool {
        self.authorities.first().is_some_and(|own| own.safety == self.safety())
    }

    /// All of them.
    pub fn all(&self) -> &[Authority] {
        &self.authorities
    }

    /// The tools that all of them have.
    pub fn tools(&self) -> BTreeSet<&str> {
        let (own, starters) = self.authorities.split_first().map_or((None, &[][..]), |(own, rest)| (Some(own), rest));
        let tools = own.into_iter().flat_map(|own| own.tools.iter());
        let has = |other: &Authority, tool: &str| match tool {
            // These report what a coding agent is doing, whoever started it; what they touch is checked for all of
            // them.
            PROPOSE_CHANGES | OWN_TOOL | OPEN_TERMINAL => true,
            READ_TEXT => other.tools.contains(tool) || other.tools.contains("vfs_read"),
            _ => other.tools.contains(tool),
        };
        tools.filter(|tool| starters.iter().all(|other| has(other, tool))).map(String::as_str).collect()
    }

    /// Whether files are changed in a copy alone: whoever is started by an agent that works in a copy does so, too.
    pub fn has_worktree(&self) -> bool {
        self.authorities.iter().any(|authority| authority.has_worktree)
    }

    /// The name under which the agent knows a tool: the alias that its file lists, or the tool's own name.
    pub fn called<'a>(&'a self, tool: &'a str) -> &'a str {
        self.authorities.first().and_then(|own| own.called.get(tool)).map_or(tool, String::as_str)
    }

    /// The base of the paths that the agent gives this tool: its own folder if it is a folder agent that gets the tool
    /// in the terms of its document format; otherwise the workspace.
    pub fn folder_for(&self, tool: &str) -> &str {
        self.authorities.first().map(|own| own.folder_for(tool)).unwrap_or_default()
    }

    /// The most careful mode among them.
    pub fn safety(&self) -> SafetyMode {
        self.authorities.iter().map(|authority| authority.safety).min().unwrap_or(SafetyMode::Safe)
    }

    /// Whether `other` is never more than any of them; else everything in which it is more than one.
    pub fn allows(&self, other: &Authority) -> Result<(), Vec<ExcessPermission>> {
        let excess: BTreeSet<ExcessPermission> =
            self.authorities.iter().flat_map(|authority| authority.allows(other).err().unwrap_or_default()).collect();
        if excess.is_empty() { Ok(()) } else { Err(excess.into_iter().collect()) }
    }

    /// The rights with which this work's orders go to the files.
    pub fn file_rights(&self) -> FileRights {
        FileRights {
            reads: self.lists(|authority| authority.reads.as_ref()),
            writes: self.lists(|authority| authority.writes.as_ref()),
            ..FileRights::default()
        }
    }

    /// The rights with which the file of an agent that it starts is written: that file and no other. Starting
    /// agents is a right of its own; who has it need not have the agents' folder among its `writes`.
    pub fn spawn_rights(&self, path: &str) -> FileRights {
        FileRights { writes: vec![vec![path.to_owned()]], ..self.file_rights() }
    }

    /// The list of each that has one, without repetition.
    fn lists<'a>(&'a self, of: impl Fn(&'a Authority) -> Option<&'a Vec<String>>) -> Vec<Vec<String>> {
        let mut lists: Vec<Vec<String>> = Vec::new();
        for list in self.authorities.iter().filter_map(of) {
            if !lists.contains(list) {
                lists.push(list.clone());
            }
        }
        lists
    }

    /// One list of what all of them may read; `None` where none is restricted.
    pub fn reads(&self) -> Option<Vec<String>> {
        meet_all(self.lists(|authority| authority.reads.as_ref()))
    }

    /// One list of what all of them may write; `None` where none is restricted.
    pub fn writes(&self) -> Option<Vec<String>> {
        meet_all(self.lists(|authority| authority.writes.as_ref()))
    }

    /// The model that this work is done with, and that what it starts is done with: its own agent's.
    pub fn model(&self) -> Option<&str> {
        self.authorities.first().and_then(|own| own.model.as_deref())
    }

    /// Whether the prompts of all of them contain the contents of the boards.
    pub fn sees_workspace(&self) -> bool {
        self.authorities.iter().all(|authority| authority.sees_workspace)
    }
}

fn meet_all(lists: Vec<Vec<String>>) -> Option<Vec<String>> {
    lists.into_iter().reduce(|one, other| globs::meet(&one, &other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(reads: Option<&[&str]>) -> Authority {
        let reads = reads.map(|globs| globs.iter().map(ToString::to_string).collect());
        Authority { reads, writes: None, tools: ["a".to_owned()].into(), ..Authority::least() }
    }

    #[test]
    fn each_that_is_restricted_adds_one_list() {
        let bounds = Authority::chain(
            reading(Some(&["a/**"])),
            [reading(None), reading(Some(&["a/**"])), reading(Some(&["**/*.md"]))],
        );
        assert_eq!(bounds.all().len(), 3);
        assert_eq!(bounds.file_rights().reads, [vec!["a/**".to_owned()], vec!["**/*.md".to_owned()]]);
        assert!(bounds.file_rights().writes.is_empty());
        assert_eq!(bounds.reads(), Some(vec!["a/**/*.md".to_owned()]));
        assert_eq!(bounds.writes(), None);
    }

    #[test]
    fn nobody_gets_more_by_starting_another() {
        let more = Authority { tools: ["a", "b"].map(String::from).into(), safety: SafetyMode::Auto, ..reading(None) };
        let bounds = Authority::chain(reading(Some(&["x"])), []).starting(more.clone());
        assert_eq!(bounds.tools(), ["a"].into());
        assert_eq!(bounds.safety(), SafetyMode::Safe);
        assert!(bounds.allows(&more).is_err());
        assert_eq!(bounds.allows(&Authority::least()), Ok(()));
        assert_eq!(bounds.file_rights().reads, [vec!["x".to_owned()]]);
    }

    #[test]
    fn whoever_is_started_by_an_agent_with_a_copy_has_one_too_and_may_propose() {
        let starter = Authority { has_worktree: true, ..reading(None) };
        let own = Authority { tools: ["a", "b", PROPOSE_CHANGES].map(String::from).into(), ..reading(None) };
        assert!(!Authority::chain(own.clone(), []).has_worktree());
        let bounds = Authority::chain(own, [starter]);
        assert!(bounds.has_worktree());
        assert_eq!(bounds.tools(), ["a", PROPOSE_CHANGES].into());
    }

    #[test]
    fn the_file_of_a_new_agent_is_all_that_starting_it_writes() {
        let own = Authority { writes: Some(Vec::new()), ..reading(None) };
        let rights = Authority::chain(own, []).spawn_rights("agents/new.md");
        assert_eq!(rights.writes, [vec!["agents/new.md".to_owned()]]);
    }
}
