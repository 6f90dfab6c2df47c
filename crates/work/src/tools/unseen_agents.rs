//! Agents that can reach outside the workspace and that the person has not seen since they trusted it, for instance
//! because a pull brought them. Until the person has seen them, what they do outside needs approval, whatever the rules
//! allow everybody.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;

use super::registry::builtin;
use crate::agent::AgentProfile;
use crate::agent::formats::format_of;
use crate::gate::{Authority, Power, SafetyMode, ToolNames};
use crate::workspace::trust::Widening;
use crate::workspace::{FileChanged, KnownFiles, WorkspaceTrust};

/// The key of the widening of an agent that can reach outside.
pub const REACH: &str = "safety_mode";

/// The agents that reach outside, by path, and those among them that the person has not seen. Not saved: it follows from
/// the files and from what is trusted. Written by this module only.
#[derive(Resource, Default)]
pub struct UnseenAgents {
    reaching: BTreeMap<String, Widening>,
    unseen: BTreeSet<String>,
}

impl UnseenAgents {
    /// Whether the person has not seen that the agent of this file reaches outside.
    pub fn contains(&self, path: &str) -> bool {
        self.unseen.contains(path)
    }
}

/// The widening of an agent's file that lets the agent reach outside the workspace without asking as soon as a rule
/// allows it: its safety mode, with the tools and servers. `None` if it has none, or is asked before everything.
pub fn reach_widening(path: &str, text: &str) -> Option<Widening> {
    let profile = (format_of(path)?.read)(path, text).profile;
    let names = builtin().names();
    let (authority, _) = Authority::of(path, &profile, names);
    let reached = reached(&profile, &authority, names);
    if reached.is_empty() || authority.safety == SafetyMode::Safe {
        return None;
    }
    let reached = reached.into_iter().collect::<Vec<_>>().join(", ");
    let sentence = "lets this agent reach outside the workspace without asking where your rules allow that";
    Some(Widening::new(path, REACH, format!("{}: {reached}", authority.safety.as_str()), sentence))
}

/// The names of what an agent reaches outside with.
fn reached(profile: &AgentProfile, authority: &Authority, names: &ToolNames) -> BTreeSet<String> {
    let reaches = |name: &&String| {
        let tool = names.0.iter().find(|tool| tool.name == **name);
        tool.is_some_and(|tool| matches!(tool.power, Power::Run | Power::Reach))
    };
    let mut reached: BTreeSet<String> = authority.tools.iter().filter(reaches).cloned().collect();
    // Which servers exist is known in the room only, so every name that can mean one counts.
    let listed = profile.tools.iter().flatten().filter(|name| names.resolve(name).is_none());
    reached.extend(listed.filter(|name| name.to_lowercase().contains("mcp")).cloned());
    reached.extend(profile.mcp_servers.iter().flatten().map(|entry| format!("MCP server {}", entry.name())));
    reached.extend(profile.own_tools.iter().map(|tool| format!("code of {}", tool.name)));
    reached
}

/// Notes which agents the person has not seen, when files or trust change.
pub(super) fn note_unseen_agents(
    (known, trust): (Option<Res<KnownFiles>>, Option<Res<WorkspaceTrust>>),
    mut changes: MessageReader<FileChanged>,
    mut agents: ResMut<UnseenAgents>,
    mut has_looked: Local<bool>,
) {
    let (Some(known), Some(trust)) = (known, trust) else { return };
    if !matches!(*trust, WorkspaceTrust::Parts { .. }) {
        changes.clear();
        if std::mem::take(&mut *has_looked) {
            *agents = UnseenAgents::default();
        }
        return;
    }
    let is_first = !std::mem::replace(&mut *has_looked, true);
    let changed: BTreeSet<String> = changes.read().map(|change| change.path.clone()).collect();
    if is_first {
        let all = known.all().iter();
        agents.reaching = all.filter_map(|(path, text)| Some((path.clone(), reach_widening(path, text)?))).collect();
    } else {
        for path in &changed {
            match known.text(path).and_then(|text| reach_widening(path, text)) {
                Some(widening) => drop(agents.reaching.insert(path.clone(), widening)),
                None => drop(agents.reaching.remove(path)),
            }
        }
    }
    if is_first || !changed.is_empty() || trust.is_changed() {
        let unseen = agents.reaching.iter().filter(|(_, widening)| !trust.allows(widening));
        agents.unseen = unseen.map(|(path, _)| path.clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(front: &str) -> Option<String> {
        let text = format!("---\n{front}\n---\nYou help.\n");
        reach_widening("agents/ada.md", &text).map(|widening| widening.value)
    }

    #[test]
    fn an_agent_that_reaches_outside_widens_with_its_mode_and_what_it_reaches_with() {
        let table = [
            ("tools: [execute_command, vfs_read]", Some("auto: execute_command")),
            ("tools: [execute_command, web_fetch]\nsafety_mode: auto", Some("auto: execute_command, web_fetch")),
            ("tools: [web_fetch]\nsafety_mode: balanced", Some("balanced: web_fetch")),
            ("tools: [WebFetch]\nsafety_mode: AUTO", Some("auto: web_fetch")),
            ("tools: [execute_command]\nsafety_mode: safe", None),
            ("tools: [execute_command]\nsafety_mode: yolo", None),
            ("tools: [vfs_read, vfs_write]\nsafety_mode: auto", None),
            ("name: Ada", None),
            ("mcp_servers: [git]\ntools: [vfs_read]", Some("auto: MCP server git")),
            ("tools: ['mcp:git:push']", Some("auto: mcp:git:push")),
        ];
        for (front, expected) in table {
            assert_eq!(value(front).as_deref(), expected, "{front}");
        }
        assert_eq!(reach_widening("boards/rules.md", "---\ntools: [execute_command]\n---\n"), None);
    }

    #[test]
    fn other_instructions_are_the_same_widening_and_another_file_is_not() {
        let of = |path, text| reach_widening(path, text).expect("it reaches outside").hash();
        let text = "---\ntools: [execute_command]\n---\nOne.\n";
        assert_eq!(of("agents/a.md", text), of("agents/a.md", "---\ntools: [execute_command]\n---\nOther.\n"));
        assert_ne!(of("agents/a.md", text), of("agents/b.md", text));
    }
}
