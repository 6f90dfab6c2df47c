//! The bounds of a piece of work: the permissions of its agent and of all agents that led to its start.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::allow_rules::AllowRule;
use super::authority::{Authority, ExcessPermission, PROPOSE_CHANGES, WEB_FETCH};
use super::safety::SafetyMode;
use super::touch::TouchKind;
use crate::base::globs;
use crate::gateway::acp::{OPEN_TERMINAL, OWN_TOOL, READ_TEXT};
use crate::workspace::vfs::FileRights;

/// The authorities that bound a piece of work: that of the agent itself first, then those of the agents that started
/// it, nearest first. Anything that one of them forbids is forbidden.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bounds {
    authorities: Vec<Authority>,
    /// The permanent permissions of the agent, as rules.
    #[serde(default)]
    allowed: Vec<String>,
    /// The files that commands would run which a person allowed for a time, or is asked about.
    #[serde(skip)]
    command_files: BTreeSet<String>,
}

impl Authority {
    /// The bounds of work by an agent with this authority that was started by agents with those.
    pub fn chain(own: Self, starters: impl IntoIterator<Item = Self>) -> Bounds {
        let mut all = vec![own];
        for starter in starters {
            // Agents that start each other repeatedly would only add duplicates.
            if !all.contains(&starter) {
                all.push(starter);
            }
        }
        Bounds { authorities: all, allowed: Vec::new(), command_files: BTreeSet::new() }
    }
}

impl Bounds {
    /// The bounds of an agent with `own` authority that is started within these bounds.
    pub fn starting(&self, own: Authority) -> Self {
        Authority::chain(own, self.authorities.iter().cloned())
    }

    /// Sets the permanent permissions of the agent. They do not apply to agents that it starts.
    pub fn allowing(self, allowed: Vec<String>) -> Self {
        Self { allowed, ..self }
    }

    /// Sets the files that commands would run which a person allowed for a time, or is asked about.
    pub fn guarding(self, command_files: BTreeSet<String>) -> Self {
        Self { command_files, ..self }
    }

    /// Whether a command that a person allowed for a time, or is asked about, would run this file.
    pub fn runs_file(&self, path: &str) -> bool {
        self.command_files.contains(path)
    }

    /// The bounds of code in the agent's own tools: it may read the files that the agent may read, and send requests to
    /// servers, which are checked individually.
    pub fn for_own_code(mut self) -> Self {
        for authority in &mut self.authorities {
            // The code uses paths relative to the workspace.
            authority.folder = None;
            authority.tools.insert(WEB_FETCH.to_owned());
            if authority.tools.contains("vfs_read") {
                authority.tools.insert(READ_TEXT.to_owned());
            }
        }
        self
    }

    /// Whether the agent has a permanent permission for this touch by this tool.
    pub fn is_allowed(&self, tool: &str, kind: &TouchKind, target: &str) -> bool {
        self.allowed.iter().filter_map(|text| AllowRule::parse(text)).any(|rule| rule.covers(tool, kind, target))
    }

    /// Whether the strictest safety mode is the agent's own.
    pub fn is_own_safety(&self) -> bool {
        self.authorities.first().is_some_and(|own| own.safety == self.safety())
    }

    /// Whether the person has not seen, since they trusted the workspace, that the agent or one that started it reaches
    /// outside of it.
    pub fn is_unseen(&self) -> bool {
        self.authorities.iter().any(|authority| authority.is_unseen)
    }

    /// All authorities, the agent's own first.
    pub fn all(&self) -> &[Authority] {
        &self.authorities
    }

    /// The tools that all authorities have.
    pub fn tools(&self) -> BTreeSet<&str> {
        let (own, starters) = self.authorities.split_first().map_or((None, &[][..]), |(own, rest)| (Some(own), rest));
        let tools = own.into_iter().flat_map(|own| own.tools.iter());
        let has = |other: &Authority, tool: &str| match tool {
            // These tools represent actions of a coding agent, so the agents that started it need not have them. Their
            // touches are checked against all authorities.
            PROPOSE_CHANGES | OWN_TOOL | OPEN_TERMINAL => true,
            READ_TEXT => other.tools.contains(tool) || other.tools.contains("vfs_read"),
            _ => other.tools.contains(tool),
        };
        tools.filter(|tool| starters.iter().all(|other| has(other, tool))).map(String::as_str).collect()
    }

    /// Whether files are changed in a worktree, which is also the case if any agent above works in one.
    pub fn has_worktree(&self) -> bool {
        self.authorities.iter().any(|authority| authority.has_worktree)
    }

    /// The name by which the agent knows a tool: the alias in its file, or the tool's own name.
    pub fn called<'a>(&'a self, tool: &'a str) -> &'a str {
        self.authorities.first().and_then(|own| own.called.get(tool)).map_or(tool, String::as_str)
    }

    /// The base of the paths that the agent passes to this tool: its own folder, if it is a folder agent that knows
    /// the tool by the name in its document format; otherwise the workspace.
    pub fn folder_for(&self, tool: &str) -> &str {
        self.authorities.first().map(|own| own.folder_for(tool)).unwrap_or_default()
    }

    /// The strictest safety mode.
    pub fn safety(&self) -> SafetyMode {
        self.authorities.iter().map(|authority| authority.safety).min().unwrap_or(SafetyMode::Safe)
    }

    /// Checks that `other` does not exceed any of these authorities. The error lists everything in which it does.
    pub fn allows(&self, other: &Authority) -> Result<(), Vec<ExcessPermission>> {
        let excess: BTreeSet<ExcessPermission> =
            self.authorities.iter().flat_map(|authority| authority.allows(other).err().unwrap_or_default()).collect();
        if excess.is_empty() { Ok(()) } else { Err(excess.into_iter().collect()) }
    }

    /// The rights for file operations of this work.
    pub fn file_rights(&self) -> FileRights {
        FileRights {
            reads: self.lists(|authority| authority.reads.as_ref()),
            writes: self.lists(|authority| authority.writes.as_ref()),
            ..FileRights::default()
        }
    }

    /// The rights for writing the file of an agent to be started, which cover only that file. Starting agents is a
    /// permission of its own and does not require the agents' folder to be in `writes`.
    pub fn spawn_rights(&self, path: &str) -> FileRights {
        FileRights { writes: vec![vec![path.to_owned()]], ..self.file_rights() }
    }

    /// The distinct lists of all authorities that have one.
    fn lists<'a>(&'a self, of: impl Fn(&'a Authority) -> Option<&'a Vec<String>>) -> Vec<Vec<String>> {
        let mut lists: Vec<Vec<String>> = Vec::new();
        for list in self.authorities.iter().filter_map(of) {
            if !lists.contains(list) {
                lists.push(list.clone());
            }
        }
        lists
    }

    /// The intersection of all `reads` lists; `None` if reading is not restricted.
    pub fn reads(&self) -> Option<Vec<String>> {
        intersect_all(self.lists(|authority| authority.reads.as_ref()))
    }

    /// The intersection of all `writes` lists; `None` if writing is not restricted.
    pub fn writes(&self) -> Option<Vec<String>> {
        intersect_all(self.lists(|authority| authority.writes.as_ref()))
    }

    /// The model of the agent, which agents that it starts inherit.
    pub fn model(&self) -> Option<&str> {
        self.authorities.first().and_then(|own| own.model.as_deref())
    }

    /// Whether the prompts of all authorities contain the contents of the boards.
    pub fn sees_workspace(&self) -> bool {
        self.authorities.iter().all(|authority| authority.sees_workspace)
    }
}

fn intersect_all(lists: Vec<Vec<String>>) -> Option<Vec<String>> {
    lists.into_iter().reduce(|one, other| globs::intersect(&one, &other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(reads: Option<&[&str]>) -> Authority {
        let reads = reads.map(|globs| globs.iter().map(ToString::to_string).collect());
        Authority { reads, writes: None, tools: ["a".to_owned()].into(), ..Authority::minimal() }
    }

    #[test]
    fn each_restricted_authority_adds_one_list() {
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
    fn starting_another_agent_never_gains_permissions() {
        let more = Authority { tools: ["a", "b"].map(String::from).into(), safety: SafetyMode::Auto, ..reading(None) };
        let bounds = Authority::chain(reading(Some(&["x"])), []).starting(more.clone());
        assert_eq!(bounds.tools(), ["a"].into());
        assert_eq!(bounds.safety(), SafetyMode::Safe);
        assert!(bounds.allows(&more).is_err());
        assert_eq!(bounds.allows(&Authority::minimal()), Ok(()));
        assert_eq!(bounds.file_rights().reads, [vec!["x".to_owned()]]);
    }

    #[test]
    fn agents_started_by_one_with_a_worktree_have_a_worktree_and_can_propose_changes() {
        let starter = Authority { has_worktree: true, ..reading(None) };
        let own = Authority { tools: ["a", "b", PROPOSE_CHANGES].map(String::from).into(), ..reading(None) };
        assert!(!Authority::chain(own.clone(), []).has_worktree());
        let bounds = Authority::chain(own, [starter]);
        assert!(bounds.has_worktree());
        assert_eq!(bounds.tools(), ["a", PROPOSE_CHANGES].into());
    }

    #[test]
    fn starting_an_agent_permits_writing_only_its_file() {
        let own = Authority { writes: Some(Vec::new()), ..reading(None) };
        let rights = Authority::chain(own, []).spawn_rights("agents/new.md");
        assert_eq!(rights.writes, [vec!["agents/new.md".to_owned()]]);
    }
}
