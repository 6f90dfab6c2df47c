//! Test helpers of the gate: a set of tools, authorities from front matter, and a small workspace.

use std::collections::{BTreeMap, BTreeSet};

use super::act::GateContext;
use super::authority::{Authority, Power, ToolName, ToolNames, ToolScope};
use super::bounds::Bounds;
use crate::agent::formats::format_of;
use crate::agent::{AgentProfile, RemovedProfile, markdown};

/// Typical tools.
pub fn names() -> ToolNames {
    let tool = |name: &str, aliases: &[&str], is_default, power| ToolName {
        name: name.into(),
        aliases: aliases.iter().map(|alias| (*alias).into()).collect(),
        offered_as: Vec::new(),
        scope: ToolScope::Everyone,
        is_default,
        power,
    };
    ToolNames(
        vec![
            tool("vfs_read", &["Read"], true, Power::Read),
            tool("vfs_search", &["Grep", "Glob"], true, Power::Find),
            tool("vfs_write", &["Write"], true, Power::Write),
            tool("vfs_edit", &["Edit"], true, Power::Write),
            tool("vfs_delete", &[], true, Power::Delete),
            tool("spawn_agent", &[], true, Power::Spawn),
            tool("signal_parent", &[], true, Power::Signal),
            tool("execute_command", &[], false, Power::Run),
        ],
        BTreeMap::new(),
    )
}

/// The authority of an agent file with this text.
pub fn authority(text: &str) -> Authority {
    Authority::of("agents/new.md", &markdown::read("agents/new.md", text).profile, &names()).0
}

/// The bounds of one agent with this front matter.
pub fn one(front: &str) -> Bounds {
    Authority::chain(authority(&format!("---\n{front}\n---\n")), [])
}

/// A workspace with a few files; those in `agents/` are parsed as in the room.
#[derive(Default)]
pub struct Files {
    texts: BTreeMap<String, String>,
    profiles: BTreeMap<String, (String, AgentProfile)>,
    former: BTreeMap<String, AgentProfile>,
    /// The ids with private memories or sessions.
    pub private_records: BTreeSet<String>,
}

impl Files {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let mut new = Self::default();
        for (path, text) in files {
            new.texts.insert((*path).to_owned(), (*text).to_owned());
            if let Some(format) = format_of(path) {
                let profile = (format.read)(path, text).profile;
                new.profiles.entry(profile.id.to_string()).or_insert_with(|| ((*path).to_owned(), profile));
            }
        }
        new
    }

    /// Removes a file whose profile is still in use.
    pub fn forget_text(&mut self, path: &str) {
        self.texts.remove(path);
    }

    /// Removes a file whose profile no agent uses.
    pub fn forget(&mut self, path: &str) {
        self.texts.remove(path);
        let gone: Vec<String> =
            self.profiles.iter().filter(|(_, (held, _))| held == path).map(|(id, _)| id.clone()).collect();
        for id in gone {
            let (_, profile) = self.profiles.remove(&id).expect("it was there");
            self.former.insert(id, profile);
        }
    }
}

impl GateContext for Files {
    fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        self.profiles.get(id).map(|(path, profile)| (path.as_str(), profile))
    }

    fn has_private_records(&self, id: &str) -> bool {
        self.private_records.contains(id)
    }

    fn former(&self, id: &str) -> RemovedProfile<'_> {
        self.former.get(id).map_or(RemovedProfile::Never, RemovedProfile::Known)
    }
}
