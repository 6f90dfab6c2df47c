//! Grants of MCP tools to agents: how they are stored, narrowed, removed and compared.

use std::collections::BTreeSet;

use super::authority::Authority;
use super::bounds::Bounds;
use super::servers::{Servers, key_of, key_of_grant, parse_tool_name, prohibition, tool_grant};

impl Authority {
    /// Whether this agent may call a tool of the server with this key.
    pub fn may_call(&self, key: &str, tool: &str) -> bool {
        let part = tool_grant(key, tool);
        let is_granted = self.mcp_servers.contains(key) || self.mcp_servers.contains(&part);
        is_granted && !self.mcp_not.contains(&prohibition(&part))
    }

    /// Whether this authority covers everything that a grant allows, except for the prohibitions in `but`.
    pub(super) fn has_grant(&self, grant: &str, but: &BTreeSet<String>) -> bool {
        let is_granted = self.mcp_servers.contains(grant) || self.mcp_servers.contains(key_of_grant(grant));
        let forbids = prohibition(grant);
        let lacks = |not: &&String| **not == forbids || key_of_grant(not) == grant;
        is_granted && self.mcp_not.iter().filter(lacks).all(|not| but.contains(not))
    }

    /// Keeps only the grants that these names stand for.
    pub(super) fn keep_servers(&mut self, only: &[String], nameable: &Servers) {
        let mut kept = BTreeSet::new();
        for (server, tool) in only.iter().filter_map(|name| parse_tool_name(name)) {
            let Some(key) = key_of(nameable, server) else { continue };
            let part = tool.map(|tool| tool_grant(key, tool));
            match part {
                Some(part) if self.has_grant(&part, &BTreeSet::new()) => {
                    kept.insert(part);
                }
                Some(_) => {}
                None => kept.extend(self.mcp_servers.iter().filter(|grant| key_of_grant(grant) == &**key).cloned()),
            }
        }
        self.mcp_servers = kept;
    }

    /// Removes the grants that a name stands for. Returns false if the name does not refer to servers.
    pub(super) fn remove_servers(&mut self, name: &str, nameable: &Servers) -> bool {
        if ["mcp*", "mcp__*", "mcp:*"].contains(&name.trim()) {
            self.mcp_servers.clear();
            return true;
        }
        let Some((server, tool)) = parse_tool_name(name) else { return false };
        let Some(key) = key_of(nameable, server) else { return true };
        match tool {
            // With a wildcard in the tool's name, it is unknown which tools are meant.
            Some(tool) if !tool.contains('*') => {
                let forbids = prohibition(&tool_grant(key, tool));
                self.mcp_servers.retain(|grant| !grant.contains('/') || prohibition(grant) != forbids);
                if self.mcp_servers.contains(&**key) {
                    self.mcp_not.insert(forbids);
                }
            }
            _ => self.mcp_servers.retain(|grant| key_of_grant(grant) != &**key),
        }
        true
    }
}

impl Bounds {
    /// Whether all of these authorities may call this tool of the server with this key.
    pub fn may_call(&self, key: &str, tool: &str) -> bool {
        !self.all().is_empty() && self.all().iter().all(|authority| authority.may_call(key, tool))
    }

    /// The keys of the servers that this work may use.
    pub fn servers(&self) -> BTreeSet<&str> {
        let (own, starters) = self.all().split_first().map_or((None, &[][..]), |(own, rest)| (Some(own), rest));
        let keys = own.into_iter().flat_map(|own| own.mcp_servers.iter().map(|grant| key_of_grant(grant)));
        let has =
            |authority: &Authority, key: &str| authority.mcp_servers.iter().any(|grant| key_of_grant(grant) == key);
        keys.filter(|key| starters.iter().all(|authority| has(authority, key))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::markdown;
    use crate::base::Id;
    use crate::gate::{ExcessPermission, ToolNames};

    fn names() -> ToolNames {
        let mut names = crate::gate::testing::names();
        names.1 = [("git".to_owned(), Id::from("git#1")), ("my-time".to_owned(), Id::from("my-time#2"))].into();
        names
    }

    fn of(front: &str) -> Authority {
        let profile = markdown::read("agents/ada.md", &format!("---\n{front}\n---\n")).profile;
        Authority::of("agents/ada.md", &profile, &names()).0
    }

    fn grants(front: &str) -> Vec<String> {
        of(front).mcp_servers.into_iter().collect()
    }

    #[test]
    fn profiles_get_the_listed_servers_or_those_of_the_workspace_by_default() {
        checks_rule!("server-tools-have-their-servers-name");
        for (front, granted) in [
            ("name: Ada", &["git#1", "my-time#2"][..]),
            ("tools: [vfs_read]", &[]),
            ("mcp_servers: []", &[]),
            ("mcp_servers: [git]", &["git#1"]),
            ("mcp_servers: [none]", &["none"]),
            ("tools: [vfs_read, 'mcp:git:status']", &["git#1/status"]),
            ("tools: [mcp__git__status, mcp__my_time]", &["git#1/status", "my-time#2"]),
            ("tools: [mcp__git__*]", &["git#1"]),
            ("tools: ['mcp:git:status']\nmcp_servers: [git, my-time]", &["git#1/status", "my-time#2"]),
            ("disallowedTools: [mcp__git__*]", &["my-time#2"]),
            ("disallowedTools: [mcp__*]", &[]),
            ("permissionMode: plan", &[]),
            ("allowed_tools: [mcp__git__log]", &["git#1/log"]),
        ] {
            assert_eq!(grants(front), granted, "{front}");
        }
        let own = grants("mcp_servers: [ { name: git, command: other } ]");
        assert!(own.len() == 1 && own[0].starts_with("git#") && own[0] != "git#1", "{own:?}");
    }

    #[test]
    fn a_forbidden_tool_is_forbidden_in_every_spelling() {
        let ada = of("disallowedTools: [mcp__git__force_push]");
        assert!(ada.may_call("git#1", "status") && !ada.may_call("git#1", "force-push"));
        assert!(!ada.may_call("git#9", "status"), "another server of the same name is another");
    }

    #[test]
    fn a_granted_tool_does_not_include_tools_with_similar_names() {
        for (front, may, others) in [
            ("tools: ['mcp:git:log.all']", "log.all", &["log_all", "log-all", "Log.all", "log all"][..]),
            ("tools: [mcp__git__log_all]", "log_all", &["log.all", "log-all", "LOG_ALL"]),
        ] {
            let ada = of(front);
            assert!(ada.may_call("git#1", may), "{front}");
            assert_eq!(others.iter().find(|other| ada.may_call("git#1", other)), None, "{front}");
        }
        let (of_all, of_one) = (of("mcp_servers: [git]\ntools: ['mcp:git:log.all']"), of("tools: ['mcp:git:log_all']"));
        assert!(of_all.allows(&of_one).is_err(), "nobody passes on the other one");
        assert_eq!(grants("tools: ['mcp:git:log.all']\ndisallowedTools: [mcp__git__log_all]"), [] as [&str; 0]);
    }

    #[test]
    fn agents_cannot_grant_more_of_a_server_than_they_have() {
        let fronts = [
            "mcp_servers: [git]",
            "tools: ['mcp:git:status']",
            "mcp_servers: [git]\ndisallowedTools: [mcp__git__push]",
            "mcp_servers: []",
        ];
        let tools = ["status", "push"];
        for (front, other) in fronts.iter().flat_map(|front| fronts.map(|other| (*front, other))) {
            let (own, given) = (of(front), of(other));
            let is_more = tools.iter().any(|tool| given.may_call("git#1", tool) && !own.may_call("git#1", tool));
            let excess = own.allows(&given).err().unwrap_or_default();
            let told = excess.iter().any(|excess| matches!(excess, ExcessPermission::McpServer(_)));
            assert!(!is_more || told, "{front} gives {other}");
            let bounds = Authority::chain(given, [own.clone()]);
            assert!(tools.iter().all(|tool| !bounds.may_call("git#1", tool) || own.may_call("git#1", tool)));
        }
    }
}
