//! What the tests of this floor share: a set of tools, authorities from front matter, and a small workspace.

use std::collections::BTreeMap;

use super::act::Surroundings;
use super::authority::{Authority, ToolName, ToolNames};
use super::bounds::Bounds;
use crate::agent::formats::format_of;
use crate::agent::{AgentProfile, markdown};

/// Tools as they might be.
pub fn names() -> ToolNames {
    let tool = |name, aliases, is_default| ToolName { name, aliases, is_default };
    ToolNames(vec![
        tool("vfs_read", &["Read"], true),
        tool("vfs_write", &["Write"], true),
        tool("vfs_edit", &["Edit"], true),
        tool("vfs_delete", &[], true),
        tool("spawn_agent", &[], true),
        tool("signal_parent", &[], true),
        tool("execute_command", &[], false),
    ])
}

/// The authority of an agent file.
pub fn authority(text: &str) -> Authority {
    Authority::of("agents/new.md", &markdown::read("agents/new.md", text).profile, &names()).0
}

/// Bounds of one agent with this front matter.
pub fn one(front: &str) -> Bounds {
    Authority::chain(authority(&format!("---\n{front}\n---\n")), [])
}

/// A workspace of a few files, those in `agents/` read as the room reads them.
#[derive(Default)]
pub struct Files {
    texts: BTreeMap<String, String>,
    profiles: BTreeMap<String, (String, AgentProfile)>,
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

    /// Takes a file away; its profile is still run.
    pub fn forget_text(&mut self, path: &str) {
        self.texts.remove(path);
    }
}

impl Surroundings for Files {
    fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    fn profile(&self, id: &str) -> Option<(&str, &AgentProfile)> {
        self.profiles.get(id).map(|(path, profile)| (path.as_str(), profile))
    }
}
