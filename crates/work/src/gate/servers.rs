//! The names of MCP servers and their tools in profiles, and the workspace's rules for calls. Pure.
//!
//! A server is identified by its key, which stands for exactly one definition: permission for one server is no
//! permission for another server of the same name.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::Verdict;
use crate::agent::{AgentProfile, McpEntry};
use crate::base::Id;
use crate::gateway::mcp::McpHints;

/// The keys of servers, by server name.
pub type Servers = BTreeMap<String, Id>;

/// The name of a server's tool in rules and profiles: `mcp:SERVER:TOOL`.
pub fn called(server: &str, tool: &str) -> String {
    format!("mcp:{server}:{tool}")
}

/// Normalizes a name so that the spellings of different products are equal. This is used to find servers by name and
/// to remove tools, but never to grant one, because a server may have both `log.all` and `log_all`.
fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// The grant of exactly this tool.
pub(super) fn tool_grant(key: &str, tool: &str) -> String {
    format!("{key}/{tool}")
}

/// The prohibition of a grant's tool and of all tools with the same normalized name; for the grant of a whole server,
/// the grant itself.
pub(super) fn prohibition(grant: &str) -> String {
    grant.split_once('/').map_or_else(|| grant.to_owned(), |(key, tool)| tool_grant(key, &folded(tool)))
}

/// Parses the name of a server or its tool: `mcp:git:status`, `mcp__git__status`, `mcp:git` or `mcp__git__*`. The tool
/// is `None` if all tools are meant. Returns `None` for other names.
pub(super) fn parse_tool_name(name: &str) -> Option<(&str, Option<&str>)> {
    let name = name.trim();
    let (server, tool) = match name.strip_prefix("mcp:") {
        Some(rest) => {
            // A tool of an MCP server is written `mcp:SERVER:TOOL`, or `mcp__SERVER__TOOL` as in other products.
            rule!("server-tools-have-their-servers-name");
            rest.split_once(':').map_or((rest, None), |(server, tool)| (server, Some(tool)))
        }
        None => {
            let rest = name.strip_prefix("mcp__")?;
            rest.split_once("__").map_or((rest, None), |(server, tool)| (server, Some(tool)))
        }
    };
    (!server.is_empty()).then_some((server, tool.filter(|tool| !tool.is_empty() && *tool != "*")))
}

/// The key of the server with this name.
pub(super) fn key_of<'a>(servers: &'a Servers, name: &str) -> Option<&'a Id> {
    let same = |known: &str| folded(known) == folded(name);
    servers.get(name).or_else(|| servers.iter().find(|(known, _)| same(known)).map(|(_, key)| key))
}

/// The servers that a profile lists, by name. Unknown servers have their name as the key, which has no effect. An
/// agent that lists neither servers nor tools has the servers of the workspace.
fn listed(profile: &AgentProfile, workspace: &Servers) -> Servers {
    match &profile.mcp_servers {
        None if profile.tools.is_none() => workspace.clone(),
        None => BTreeMap::new(),
        Some(entries) => {
            let key = |entry: &McpEntry| match entry {
                McpEntry::Named(name) => key_of(workspace, name).cloned().unwrap_or_else(|| name.as_str().into()),
                McpEntry::Defined(server) => server.key(),
            };
            entries.iter().map(|entry| (entry.name().to_owned(), key(entry))).collect()
        }
    }
}

/// All servers that a profile can name: its own and those of the workspace.
pub(super) fn nameable(profile: &AgentProfile, workspace: &Servers) -> Servers {
    let mut all = workspace.clone();
    all.extend(listed(profile, workspace));
    all
}

/// The grants of a profile: a key for a whole server, `key/tool` for a single tool.
pub(super) fn granted(profile: &AgentProfile, workspace: &Servers) -> BTreeSet<String> {
    let (listed, nameable) = (listed(profile, workspace), nameable(profile, workspace));
    let mut parts: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut whole: BTreeSet<&str> = BTreeSet::new();
    for (server, tool) in profile.tools.iter().flatten().filter_map(|name| parse_tool_name(name)) {
        let Some(key) = key_of(&nameable, server) else { continue };
        match tool {
            Some(tool) => {
                parts.entry(key).or_default().insert(tool_grant(key, tool));
            }
            None => {
                whole.insert(key);
            }
        }
    }
    whole.extend(listed.values().map(|key| &**key).filter(|key| !parts.contains_key(key)));
    let parts = parts.iter().filter(|(key, _)| !whole.contains(*key)).flat_map(|(_, tools)| tools.iter().cloned());
    parts.chain(whole.iter().map(|key| (*key).to_owned())).collect()
}

/// Whether this name in a profile stands for a known server or its tool.
pub(super) fn is_known(name: &str, profile: &AgentProfile, workspace: &Servers) -> bool {
    parse_tool_name(name).is_some_and(|(server, _)| key_of(&nameable(profile, workspace), server).is_some())
}

/// The server key of a grant.
pub(super) fn key_of_grant(grant: &str) -> &str {
    grant.split_once('/').map_or(grant, |(key, _)| key)
}

/// A rule in the settings for calls of servers, such as `mcp:git:*` or `mcp:*:*(read-only)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CallRule<'a> {
    server: &'a str,
    tool: &'a str,
    /// Restricts the rule to calls with this hint.
    of: Option<Hint>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hint {
    ReadOnly,
    Destructive,
}

impl<'a> CallRule<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let (names, of) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            None => (text, None),
            Some((names, "read-only" | "read_only")) => (names, Some(Hint::ReadOnly)),
            Some((names, "destructive")) => (names, Some(Hint::Destructive)),
            Some(_) => return None,
        };
        let rest = names.trim().strip_prefix("mcp:")?;
        let (server, tool) = rest.split_once(':').unwrap_or((rest, "*"));
        (!server.is_empty() && !tool.is_empty()).then_some(Self { server, tool, of })
    }

    /// How specifically the rule matches this call; `None` if it does not match.
    fn names(&self, server: &str, tool: &str, hints: McpHints) -> Option<(usize, usize, bool)> {
        let fits = match self.of {
            None => true,
            Some(Hint::ReadOnly) => hints.read_only,
            Some(Hint::Destructive) => hints.destructive,
        };
        let exact =
            |pattern: &str| pattern.chars().filter(|c| *c != '*').count() * 2 + usize::from(!pattern.contains('*'));
        let is_named = fits && fits_pattern(self.server, server) && fits_pattern(self.tool, tool);
        is_named.then(|| (exact(self.server), exact(self.tool), self.of.is_some()))
    }
}

/// Whether a text matches a pattern in which `*` matches anything.
pub(super) fn fits_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let parts: Vec<&str> = parts.collect();
    let (last, middle) = parts.split_last().map_or(("", &[][..]), |(last, middle)| (*last, middle));
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The verdict of the rules on a call. The most specific rule applies, and the strictest of equally specific ones. An
/// unreadable rule allows nothing, and applies to every call if it does more than allow.
pub(super) fn verdict<'a>(
    rules: impl Iterator<Item = (&'a str, Verdict)>,
    (server, tool): (&str, &str),
    hints: McpHints,
) -> Option<(Verdict, &'a str)> {
    let said = rules.filter_map(|(text, verdict)| {
        let exact = match CallRule::parse(text) {
            Some(parsed) => parsed.names(server, tool, hints)?,
            None if verdict == Verdict::Allow => return None,
            None => (usize::MAX, 0, false),
        };
        Some((exact, verdict, text))
    });
    said.max().map(|(_, verdict, text)| (verdict, text))
}

/// Whether a rule for calls can be parsed.
pub(super) fn is_valid_rule(text: &str) -> bool {
    CallRule::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_rule_for_a_call_applies() {
        let rules = [
            ("mcp:*:*(read-only)", Verdict::Allow),
            ("mcp:git:*", Verdict::Ask),
            ("mcp:git:push*", Verdict::Deny),
            ("mcp:git:status", Verdict::Allow),
        ];
        let says = |server: &str, tool: &str, read_only| {
            let hints = McpHints { read_only, destructive: !read_only };
            verdict(rules.into_iter(), (server, tool), hints).map(|(verdict, ..)| verdict)
        };
        assert_eq!(says("time", "now", true), Some(Verdict::Allow));
        assert_eq!(says("time", "set", false), None);
        assert_eq!(says("git", "log", true), Some(Verdict::Ask));
        assert_eq!(says("git", "push_force", false), Some(Verdict::Deny));
        assert_eq!(says("git", "status", false), Some(Verdict::Allow));
        let odd = |rule| verdict([("git:*", rule)].into_iter(), ("x", "y"), McpHints::default());
        assert_eq!((odd(Verdict::Deny).is_some(), odd(Verdict::Allow)), (true, None));
    }

    #[test]
    fn a_star_matches_anything() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acd", false),
            ("a", "ab", false),
            ("*b*", "abc", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }
}
