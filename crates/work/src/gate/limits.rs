//! Translates restrictions from other products and mistyped keys to the tools available here.

use std::collections::BTreeSet;

use super::authority::{Authority, Power, ToolNames};
use super::safety::SafetyMode;
use super::servers;
use crate::agent::{AgentProfile, Limit};
use crate::base::text_normalization::skeleton;
use crate::base::{Problem, globs};

/// The maximum number of comparisons between two glob lists; longer lists are assumed to be disjoint.
const MAX_COMPARISONS: usize = 20_000;

/// Normalized names of tools in other products, with the abilities that they give. Abilities that no tool here has are
/// included, so that their names are recognized.
const OTHER_PRODUCT_TOOLS: &[(&[&str], &[Power])] = &[
    (
        &["cat", "fileread", "notebookread", "open", "read", "readfile", "readfiles", "view", "viewfile"],
        &[Power::Read, Power::Find],
    ),
    (
        &["codebase", "find", "glob", "grep", "list", "listdirectory", "listfiles", "ls", "search", "searchfiles"],
        &[Power::Find],
    ),
    (
        &[
            "applypatch",
            "create",
            "createfile",
            "edit",
            "editfile",
            "editfiles",
            "edits",
            "filewrite",
            "modify",
            "multiedit",
            "notebookedit",
            "patch",
            "replace",
            "strreplace",
            "strreplaceeditor",
            "update",
            "write",
            "writefile",
            "writefiles",
        ],
        &[Power::Write, Power::Delete],
    ),
    (&["delete", "deletefile", "move", "remove", "removefile", "rename", "rm"], &[Power::Delete]),
    // Some products delete files only by commands.
    (
        &[
            "bash",
            "command",
            "commands",
            "computer",
            "exec",
            "execute",
            "executecommand",
            "powershell",
            "run",
            "runcommand",
            "runcommands",
            "runinterminal",
            "shell",
            "terminal",
        ],
        &[Power::Run, Power::Delete],
    ),
    (&["agent", "agents", "delegate", "dispatchagent", "spawn", "subagent", "subagents", "task"], &[Power::Spawn]),
    (&["sendmessage", "signal"], &[Power::Signal, Power::Talk]),
    (&["file", "files", "filesystem", "fs"], &[Power::Read, Power::Find, Power::Write, Power::Delete]),
    (
        &[
            "askuserquestion",
            "bashoutput",
            "browser",
            "exitplanmode",
            "fetch",
            "image",
            "killbash",
            "killshell",
            "skill",
            "slashcommand",
            "todo",
            "todoread",
            "todowrite",
            "web",
            "webfetch",
            "websearch",
        ],
        &[],
    ),
];

impl ToolNames {
    /// The tools that a restriction with this name removes; `None` if that is unclear.
    fn removed_tools(&self, name: &str) -> Option<BTreeSet<&str>> {
        // `Bash(rm *)` removes a part of a tool; tools here have no parts.
        let name = name.split('(').next().unwrap_or(name).trim();
        let own = |is_taken: &dyn Fn(&str) -> bool| -> BTreeSet<&str> {
            self.0.iter().map(|tool| tool.name.as_str()).filter(|tool| is_taken(tool)).collect()
        };
        if let Some(start) = name.strip_suffix('*') {
            let taken: BTreeSet<&str> = own(&|tool| tool.starts_with(start));
            return (!taken.is_empty()).then_some(taken).or_else(|| is_of_server(start).then(BTreeSet::new));
        }
        if self.0.iter().any(|tool| tool.name == name) {
            return Some(own(&|tool| tool == name));
        }
        let folded: String = skeleton(name).chars().filter(|c| c.is_alphanumeric()).collect();
        if matches!(folded.as_str(), "all" | "any" | "every" | "everything") {
            return Some(own(&|_| true));
        }
        if let Some((_, powers)) = OTHER_PRODUCT_TOOLS.iter().find(|(names, _)| names.contains(&folded.as_str())) {
            let taken = self.0.iter().filter(|tool| powers.contains(&tool.power)).map(|tool| tool.name.as_str());
            // Also include a tool that was registered here under its name in another product.
            return Some(taken.chain(self.resolve(name)).collect());
        }
        match self.resolve(name) {
            Some(tool) => Some([tool].into()),
            None => is_of_server(name).then(BTreeSet::new),
        }
    }
}

/// Whether a name is that of an MCP server's tool.
fn is_of_server(name: &str) -> bool {
    name.to_lowercase().starts_with("mcp")
}

impl Authority {
    /// Applies the restrictions of a profile, and reports those that could not be understood.
    pub(super) fn within_limits(
        mut self,
        place: &str,
        profile: &AgentProfile,
        names: &ToolNames,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let had_tools = !self.tools.is_empty();
        let nameable = servers::nameable(profile, &names.1);
        for limit in &profile.limits {
            match limit {
                Limit::OnlyTools(only) => {
                    self.keep_servers(only, &nameable);
                    let only: BTreeSet<&str> = only.iter().filter_map(|name| names.resolve(name)).collect();
                    self.tools.retain(|tool| only.contains(tool.as_str()));
                }
                Limit::NotTools(not) => {
                    for name in not {
                        if self.remove_servers(name, &nameable) {
                            continue;
                        }
                        match names.removed_tools(name) {
                            Some(taken) => {
                                // Removing everything also removes servers.
                                if taken.len() == names.0.len() {
                                    self.mcp_servers.clear();
                                }
                                self.tools.retain(|tool| !taken.contains(tool.as_str()));
                            }
                            None => {
                                self.mcp_servers.clear();
                                self.tools.clear();
                                let what =
                                    format!("there is no tool {name:?} to forbid; until then all tools are forbidden");
                                problems.push(Problem::warning(place, what, names.remedy(name)));
                            }
                        }
                    }
                }
                Limit::OnlyReads(only) => self.reads = Some(intersection(self.reads.take(), only)),
                Limit::OnlyWrites(only) => self.writes = Some(intersection(self.writes.take(), only)),
                Limit::ReadOnly => {
                    // The hints of servers are not verified.
                    self.mcp_servers.clear();
                    let looks = |name: &str| names.0.iter().any(|tool| tool.name == name && tool.power.is_read_only());
                    self.tools.retain(|tool| looks(tool));
                    self.writes = Some(Vec::new());
                }
                Limit::Safety(word) => {
                    self.safety = self.safety.min(SafetyMode::from_name(word).unwrap_or(SafetyMode::Safe))
                }
                Limit::NotTheBoards => self.sees_workspace = false,
                Limit::Nothing => self = Self { model: self.model, ..Self::minimal() },
            }
        }
        // A restriction that was not understood is reported with its line.
        if had_tools && self.tools.is_empty() && !profile.limits.contains(&Limit::Nothing) && problems.is_empty() {
            let what = "its limits leave it without tools";
            problems.push(Problem::warning(place, what, "list existing tools, or write tools: []"));
        }
        self
    }
}

/// The intersection of two glob lists.
fn intersection(globs: Option<Vec<String>>, only: &[String]) -> Vec<String> {
    let only: Vec<String> = only.iter().filter_map(|glob| globs::plain(glob).ok()).flatten().collect();
    match globs {
        None => only,
        Some(globs) if globs.len().saturating_mul(only.len()) <= MAX_COMPARISONS => globs::intersect(&globs, &only),
        Some(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::markdown;
    use crate::gate::testing::{authority, names};

    fn of(front: &str) -> Authority {
        authority(&format!("---\n{front}\n---\nHi"))
    }

    fn tools(front: &str) -> Vec<String> {
        of(front).tools.into_iter().collect()
    }

    #[test]
    fn restrictions_of_other_products_remove_the_equivalent_tools() {
        let looking = ["signal_parent", "vfs_read", "vfs_search"];
        for (front, left) in [
            ("disallowedTools: Write, Edit, Bash", &["signal_parent", "spawn_agent", "vfs_read", "vfs_search"][..]),
            (
                "disallowedTools: [vfs_write]",
                &["signal_parent", "spawn_agent", "vfs_delete", "vfs_edit", "vfs_read", "vfs_search"],
            ),
            ("disallowedTools: [vfs_*, Task]", &["signal_parent"]),
            ("blocked_tools: [Read, Task]", &["signal_parent", "vfs_delete", "vfs_edit", "vfs_write"]),
            ("disallowedTools: [mcp__github__*, WebFetch, Task, Write]", &looking),
            ("allowed_tools: Read, Bash(git *)", &["vfs_read"]),
            ("tools: [Read, Write]\nallowed_tools: [Read, Grep]", &["vfs_read"]),
            ("permissions: { deny: [Write, Task] }", &looking),
            ("permission: { edit: deny, task: deny }", &looking),
            ("permissionMode: plan", &looking),
            ("readonly: true", &looking),
            ("tools: { write: false, task: false }", &looking),
            ("tols: [vfs_read]", &["vfs_read"]),
            ("tools: [vfs_read, vfs_write]\nTools: [vfs_read]", &["vfs_read"]),
            ("disallowedTools: all", &[]),
            ("disallowedTools: [Wrte]", &[]),
            ("permissions: whatever", &[]),
            ("tools:", &[]),
        ] {
            assert_eq!(tools(front), left, "{front}");
        }
        assert_eq!(of("permissionMode: default").safety, SafetyMode::Safe);
        assert_eq!(of("permissionMode: acceptEdits").safety, SafetyMode::Balanced);
        assert_eq!(of("write: [artifacts/**]").writes, Some(vec!["artifacts/**".to_owned()]));
        let file_or_folder = Some(vec!["a/b".to_owned(), "a/b/**".to_owned()]);
        assert_eq!(of("writes: [a/**]\nwritable_paths: [a/b, c]").writes, file_or_folder);
        assert_eq!(of("writes:").writes, Some(Vec::new()));
        assert!(!of("share_worksapce_info: false").sees_workspace);
    }

    #[test]
    fn an_unreadable_restriction_removes_everything_and_is_reported_with_its_line() {
        let file = markdown::read("agents/ada.md", "---\nname: Ada\nrestrictions: { files: few }\n---\nHi");
        let (authority, _) = Authority::of("agents/ada.md", &file.profile, &names());
        assert!(authority.is_minimal(), "{authority:?}");
        assert_eq!((file.problems.len(), file.problems[0].line), (1, Some(3)), "{:?}", file.problems);
        let file = markdown::read("agents/ada.md", "---\nname: Ada\ndisallowedTools: Wrte\n---\nHi");
        let (_, problems) = Authority::of("agents/ada.md", &file.profile, &names());
        assert!(problems[0].what.contains("Wrte"), "{problems:?}");
    }

    #[test]
    fn restrictions_never_grant_permissions() {
        let own = ["tools: [vfs_read]", "reads: [a/**]", "writes: []", "safety_mode: safe", "name: x"];
        let limits = [
            "allowed_tools: [vfs_write, execute_command]",
            "tols: [execute_command]",
            "allowed_paths: ['**']",
            "permissionMode: bypassPermissions",
            "permissions: { allow: [Bash] }",
            "saftey_mode: auto",
            "tools_list: [execute_command]",
        ];
        for front in own {
            for limit in limits {
                let (without, with) = (of(front), of(&format!("{front}\n{limit}")));
                let is_more: Vec<_> = without.allows(&with).err().unwrap_or_default();
                // What would be a power elsewhere is compared as it stands, and gives none here.
                let is_power = |excess: &super::super::ExcessPermission| {
                    matches!(excess, super::super::ExcessPermission::Command(_))
                };
                assert!(is_more.iter().all(is_power), "{front} {limit}: {is_more:?}");
            }
        }
    }
}
