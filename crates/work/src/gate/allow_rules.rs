//! Permanent permissions: the rules of `gate.allow` in the settings, each of which is a tool with its permitted
//! targets, such as `vfs_write(artifacts/plan.md)`. Pure.
//!
//! A rule removes the need for approval, but never a denial, and never an approval that is required each time.

use super::authority::WEB_FETCH;
use super::commands::{Command, words};
use super::touch::TouchKind;
use crate::base::globs;
use crate::base::text_normalization::is_invisible;
use crate::gateway::acp::OPEN_TERMINAL;

/// The maximum length of a rule in characters.
const MAX_RULE_CHARS: usize = 300;

/// The tools that run commands.
const COMMAND_TOOLS: [&str; 3] = ["execute_command", "bash", OPEN_TERMINAL];

/// A tool with its permitted targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllowRule<'a> {
    tool: &'a str,
    target: &'a str,
}

impl<'a> AllowRule<'a> {
    /// Parses a rule; `None` if it is invalid.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let (tool, rest) = text.split_once('(')?;
        let target = rest.strip_suffix(')')?;
        let (tool, target) = (tool.trim(), target.trim());
        let is_plain = !tool.is_empty() && !target.is_empty() && !text.contains(is_invisible);
        (is_plain && text.chars().count() <= MAX_RULE_CHARS).then_some(Self { tool, target })
    }

    /// Whether the rule covers this touch by this tool. Files are matched by glob. An address is matched exactly, or
    /// by its server if the rule ends with `/**`. Everything else is matched exactly.
    pub fn covers(&self, tool: &str, kind: &TouchKind, target: &str) -> bool {
        if self.tool != tool {
            return false;
        }
        match kind.as_str() {
            _ if is_of_paths(kind) && target.is_empty() => self.target == "**",
            _ if is_of_paths(kind) => globs::plain(self.target).is_ok_and(|globs| globs::any_matches(&globs, target)),
            "agent.signal" => true,
            "net.fetch" => {
                let server = self.target.strip_suffix("/**");
                self.target == target || server.is_some_and(|server| server_of(target) == Some(server))
            }
            _ => self.target == target,
        }
    }

    /// The command that the rule allows, if it is about one.
    pub fn command(&self) -> Option<&'a str> {
        COMMAND_TOOLS.contains(&self.tool).then_some(self.target)
    }

    /// The reason why the rule can never cover anything; `None` if it can.
    pub fn why_void(&self) -> Option<String> {
        if self.command().is_some() {
            let started = words::join(&Command::parse(self.target).started_as(self.target));
            let is_located = self.target.ends_with("/)");
            return (started != self.target && !is_located)
                .then(|| format!("commands are matched exactly, and this one would be {started:?}"));
        }
        if self.tool == WEB_FETCH || self.target.contains("://") {
            let Some(server) = server_of(self.target) else {
                return Some("it names no address, such as https://example.org/**".to_owned());
            };
            let is_exact = !self.target.contains('*');
            let is_whole = self.target.strip_suffix("/**") == Some(server) && !server.contains('*');
            return (!is_exact && !is_whole)
                .then(|| format!("a rule is for one exact address or for a whole server: {server}/**"));
        }
        let error = self.tool.starts_with("vfs_").then(|| globs::plain(self.target).err()).flatten();
        error.map(|error| error.to_string())
    }

    /// The narrowest useful rule for this touch by this tool; `None` if no rule could express it, or if the effect of
    /// such a touch is unknown here.
    pub(super) fn narrowest(tool: &str, kind: &TouchKind, target: &str) -> Option<String> {
        let target = match kind.as_str() {
            // An agent is new only once.
            "agent.spawn" => {
                let (folder, name) = target.rsplit_once('/')?;
                format!("{folder}/*.{}", name.rsplit_once('.')?.1)
            }
            "agent.signal" => "**".to_owned(),
            _ if is_of_paths(kind) && target.is_empty() => "**".to_owned(),
            _ if is_of_paths(kind) && target.contains(['*', '?', '{', '}']) => return None,
            "net.fetch" => format!("{}/**", server_of(target)?),
            _ if TouchKind::KNOWN.contains(kind) => target.to_owned(),
            _ => return None,
        };
        let rule = format!("{tool}({target})");
        // The target could be read differently, for example if it ends with a space.
        let reads_back = AllowRule::parse(&rule).is_some_and(|read| (read.tool, read.target) == (tool, &*target));
        (reads_back && !target.contains(is_invisible)).then_some(rule)
    }
}

/// The server of an address, such as `https://example.org:8080`.
pub(super) fn server_of(address: &str) -> Option<&str> {
    let host = address.find("://")? + 3;
    let length = address[host..].find(['/', '?', '#', '\\']).unwrap_or(address.len() - host);
    // The user name before an @ is not the host.
    let server = &address[..host + length];
    (length > 0 && !server.contains('@')).then_some(server)
}

/// Whether targets of this kind are paths.
fn is_of_paths(kind: &TouchKind) -> bool {
    matches!(
        kind.as_str(),
        "file.read"
            | "file.find"
            | "file.write"
            | "file.delete"
            | "file.rename"
            | "profile.write"
            | "agent.spawn"
            | "agent.start"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(rule: &str, tool: &str, kind: TouchKind, target: &str) -> bool {
        AllowRule::parse(rule).is_some_and(|rule| rule.covers(tool, &kind, target))
    }

    #[test]
    fn a_rule_consists_of_a_tool_and_its_targets() {
        assert!(covers("vfs_write(docs/**)", "vfs_write", TouchKind::FILE_WRITE, "docs/a/b.md"));
        assert!(!covers("vfs_write(docs/**)", "vfs_write", TouchKind::FILE_WRITE, "artifacts/a.md"));
        assert!(!covers("vfs_write(docs/**)", "vfs_delete", TouchKind::FILE_DELETE, "docs/a.md"));
        assert!(!covers("vfs_write(docs/[a])", "vfs_write", TouchKind::FILE_WRITE, "docs/a"), "it cannot be read");
        for none in ["", "vfs_write", "vfs_write()", "(docs/**)", "vfs_write(docs/**", "vfs_write(a\u{202e}b)"] {
            assert_eq!(AllowRule::parse(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_rule_that_can_never_match_is_recognized() {
        let is_void = |rule: &str| AllowRule::parse(rule).is_some_and(|rule| rule.why_void().is_some());
        for rule in [
            "web_fetch(http://h/public/**)",
            "web_fetch(http://h/*)",
            "web_fetch(http://*.h/**)",
            "web_fetch(**)",
            "web_fetch(example.org)",
            "get(https://a.org/x/**)",
            "execute_command(git *)",
            "execute_command(**)",
            "execute_command(git  status)",
            "vfs_write(docs/[a])",
        ] {
            assert!(is_void(rule), "{rule}");
        }
        for rule in [
            "web_fetch(http://h/**)",
            "web_fetch(http://h/a?b)",
            "execute_command(git status)",
            "execute_command(sh -c 'ls | wc')",
            "execute_command(npm test (in web/))",
            "vfs_write(docs/**)",
            "mcp__git(git/status)",
            "radio(x)",
        ] {
            assert!(!is_void(rule), "{rule}");
        }
    }

    #[test]
    fn commands_are_matched_exactly_and_addresses_by_server() {
        let run = |line: &str| covers("sh(cargo test)", "sh", TouchKind::PROCESS_RUN, line);
        assert!(run("cargo test") && !run("cargo test; rm -r .") && !run("cargo"));
        let run_all = |line: &str| covers("sh(**)", "sh", TouchKind::PROCESS_RUN, line);
        assert!(!run_all("rm -r ."), "no rule allows every command");
        let fetch = |address: &str| covers("get(https://a.org/**)", "get", TouchKind::NET_FETCH, address);
        assert!(fetch("https://a.org/x") && fetch("https://a.org"));
        assert!(!fetch("https://a.org.evil.net/x") && !fetch("https://a.org@evil.net/") && !fetch("http://a.org/x"));
    }

    #[test]
    fn the_narrowest_rule_covers_its_own_touch() {
        for (kind, target) in [
            (TouchKind::FILE_WRITE, "artifacts/plan.md"),
            (TouchKind::FILE_WRITE, "artifacts/plan (2).md"),
            (TouchKind::FILE_FIND, ""),
            (TouchKind::AGENT_SPAWN, "agents/new one.md"),
            (TouchKind::AGENT_START, "agents/ada.md"),
            (TouchKind::AGENT_SIGNAL, ""),
            (TouchKind::NET_FETCH, "https://example.org/a?b#c"),
            (TouchKind::PROCESS_RUN, "git commit -m '(x)'"),
            (TouchKind::MCP_CALL, "server/tool"),
        ] {
            let rule = AllowRule::narrowest("tool", &kind, target).unwrap_or_else(|| panic!("{kind} {target}"));
            assert!(covers(&rule, "tool", kind.clone(), target), "{rule} for {kind} {target}");
        }
        for (kind, target) in [
            (TouchKind::FILE_WRITE, "notes/*.md"),
            (TouchKind::NET_FETCH, "https://user@example.org/"),
            (TouchKind::PROCESS_RUN, "two\nlines"),
            (TouchKind::new("radio.send"), "x"),
        ] {
            assert_eq!(AllowRule::narrowest("tool", &kind, target), None, "{kind} {target}");
        }
    }
}
