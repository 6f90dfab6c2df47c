//! The permissions of a profile, in a form that can be compared with others.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::safety::SafetyMode;
use super::servers;
use crate::agent::AgentProfile;
use crate::agent::agent_file::folder_of_agent;
use crate::base::{ActivationKey, Id, Problem, globs, text};
use crate::document::BUILTIN_TOOLS;

/// Keys that let an agent run or reach something in other programs, or in files of other formats. They are not keys of
/// profiles here, and their values are compared literally.
const COMMAND_KEYS: [&str; 11] = [
    "allowedcommands",
    "allowedtools",
    "allowlist",
    "commandallowlist",
    "commands",
    "env",
    "hooks",
    "modules",
    "permissionmode",
    "permissions",
    "terminalcommands",
];

/// The tool with which an agent proposes the changes of its worktree. It needs approval each time.
pub const PROPOSE_CHANGES: &str = "propose_changes";
/// The tool with which an agent sends a request to a web server.
pub const WEB_FETCH: &str = "web_fetch";

/// The ability that a tool gives to an agent, as far as limits distinguish tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    /// Reading the content of a file.
    Read,
    /// Finding files, or lines in them.
    Find,
    /// Changing the content of a file.
    Write,
    /// Deleting or moving files.
    Delete,
    /// Starting other agents.
    Spawn,
    /// Sending a message to the agent that started this one.
    Signal,
    /// Sending messages to other working agents.
    Talk,
    /// Reading the messages of other working agents.
    Listen,
    /// Running commands.
    Run,
    /// Reaching something else outside the workspace.
    Reach,
}

impl Power {
    /// Whether the ability does not change anything.
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::Read | Self::Find | Self::Signal | Self::Listen)
    }
}

/// The agents that can have a tool.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ToolScope {
    /// Every agent whose profile lists it.
    #[default]
    Everyone,
    /// Agents that run this profile.
    Profile(Id),
    /// Agents of this type, such as `planner`.
    Role(Id),
    /// The agents working in this session.
    Session(ActivationKey),
    /// Coding agents that are used over the Agent Client Protocol. No profile lists the tool.
    CodingAgent,
    /// The agents that may call this tool of an MCP server.
    Server {
        /// The key of the server.
        key: Id,
        /// The name of the tool on the server.
        tool: String,
    },
}

impl ToolScope {
    /// Whether an agent may have tools of both scopes.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Profile(one), Self::Profile(other)) => one == other,
            (Self::Session(one), Self::Session(other)) => one == other,
            _ => true,
        }
    }
}

/// A tool as it can be named in profiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolName {
    /// The tool's name.
    pub name: String,
    /// The names of equivalent tools in other products.
    pub aliases: Vec<String>,
    /// The aliases under which a model gets the tool if its profile lists them.
    pub offered_as: Vec<String>,
    /// The agents that can have the tool.
    pub scope: ToolScope,
    /// Whether it is available to profiles that list no tools.
    pub is_default: bool,
    /// The ability that it gives.
    pub power: Power,
}

/// The names of all tools, and the keys of the workspace's MCP servers by name. Both are owned by the tools layer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolNames(pub Vec<ToolName>, pub BTreeMap<String, Id>);

impl ToolNames {
    /// The tools that this profile can have.
    pub fn of_profile(&self, profile: &str, role: Option<&str>) -> Cow<'_, Self> {
        let is_its = |tool: &&ToolName| match &tool.scope {
            ToolScope::Everyone => true,
            ToolScope::Profile(of) => **of == *profile,
            ToolScope::Role(of) => role == Some(&**of),
            ToolScope::Session(_) | ToolScope::Server { .. } | ToolScope::CodingAgent => false,
        };
        if self.0.iter().all(|tool| is_its(&tool)) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self(self.0.iter().filter(is_its).cloned().collect(), self.1.clone()))
    }

    /// The tools of a session, which no profile lists.
    pub fn of_session(&self, session: ActivationKey) -> impl Iterator<Item = &str> {
        let its = self.0.iter().filter(move |tool| tool.scope == ToolScope::Session(session));
        its.map(|tool| tool.name.as_str())
    }

    /// The name of the tool that a name in a profile stands for, ignoring case and treating dashes as underscores.
    pub fn resolve(&self, name: &str) -> Option<&str> {
        self.tool(name).map(|tool| tool.name.as_str())
    }

    fn tool(&self, name: &str) -> Option<&ToolName> {
        self.0.iter().find(|tool| is_same(&tool.name, name) || tool.aliases.iter().any(|alias| is_same(alias, name)))
    }

    /// The agent types for which tools of this name exist, if they are not for everyone.
    fn roles_of(&self, name: &str) -> Vec<&str> {
        let its = self.0.iter().filter(|tool| is_same(&tool.name, name));
        let roles = its.filter_map(|tool| match &tool.scope {
            ToolScope::Role(role) => Some(&**role),
            _ => None,
        });
        roles.collect()
    }

    /// The tools of a profile that lists none.
    pub fn default_set(&self) -> BTreeSet<String> {
        self.0.iter().filter(|tool| tool.is_default).map(|tool| tool.name.clone()).collect()
    }

    /// The default tools that only this profile has.
    fn own_of<'a>(&'a self, profile: &'a str) -> impl Iterator<Item = String> + 'a {
        let is_own = move |tool: &&ToolName| matches!(&tool.scope, ToolScope::Profile(of) if **of == *profile);
        self.0.iter().filter(|tool| tool.is_default).filter(is_own).map(|tool| tool.name.clone())
    }

    /// The tools of agents with a document, each with its name in that format.
    fn document_tool_names(&self) -> BTreeMap<String, String> {
        let offered = BUILTIN_TOOLS.into_iter().filter_map(|word| {
            let tool = self.0.iter().find(|tool| tool.offered_as.iter().any(|offered| offered == word))?;
            Some((tool.name.clone(), word.to_owned()))
        });
        offered.collect()
    }

    /// The name of the most similar tool.
    fn nearest(&self, name: &str) -> Option<&str> {
        text::nearest(name, self.0.iter().map(|tool| tool.name.as_str()))
    }

    /// The tools of other products in a profile that do not exist here, by the names that they have there: `Bash` for
    /// `Bash(git:*)`.
    pub fn missing(&self, profile: &AgentProfile) -> BTreeSet<String> {
        let names = self.of_profile(&profile.id, profile.role.as_deref());
        let listed = profile.tools.iter().flatten();
        let listed = listed.filter(|name| !servers::is_known(name, profile, &names.1));
        let is_nowhere = |name: &&String| names.resolve(name).is_none() && names.nearest(name).is_none();
        let missing = listed.filter(is_nowhere).filter(|name| self.roles_of(name).is_empty());
        missing.map(|name| names.describe(name)).collect()
    }

    /// Describes an unknown tool name. A tool with conditions counts as unknown.
    fn describe(&self, name: &str) -> String {
        let plain = name.split('(').next().unwrap_or(name).trim();
        let told = if self.resolve(plain).is_some() { format!("{plain}(…)") } else { plain.to_owned() };
        text::truncate(&text::one_line(&told), 60)
    }

    /// What to do about an unknown tool name.
    pub fn remedy(&self, name: &str) -> String {
        match self.nearest(name) {
            Some(near) => format!("did you mean {near:?}?"),
            None => {
                let names: Vec<&str> = self.0.iter().map(|tool| tool.name.as_str()).collect();
                format!("there are {}; without the key an agent has the usual ones", names.join(", "))
            }
        }
    }
}

/// Whether two names are equal, ignoring case and treating dashes as underscores.
fn is_same(one: &str, other: &str) -> bool {
    one.replace('-', "_").eq_ignore_ascii_case(&other.trim().replace('-', "_"))
}

/// The permissions of a profile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Authority {
    /// The tools that the agent may use.
    pub tools: BTreeSet<String>,
    /// The names of tools that the profile lists by an alias.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub called: BTreeMap<String, String>,
    /// The unknown names under `tools`. They grant nothing, but they count when authorities are compared.
    pub unknown_tools: BTreeSet<String>,
    /// Plain globs of readable files; `None` if reading is not restricted.
    pub reads: Option<Vec<String>>,
    /// Plain globs of files that may be written, deleted and renamed; `None` if writing is not restricted.
    pub writes: Option<Vec<String>>,
    /// The safety mode.
    pub safety: SafetyMode,
    /// The grants of MCP servers: a key for a whole server, `key/tool` for a single tool.
    pub mcp_servers: BTreeSet<String>,
    /// The tools of granted servers that may not be called: `key/tool`.
    #[serde(default)]
    pub mcp_not: BTreeSet<String>,
    /// The keys that would let the agent run programs or reach the network, with normalized names, and their values.
    pub commands: BTreeMap<String, Value>,
    /// Whether the agent's prompts contain the contents of the boards.
    pub sees_workspace: bool,
    /// Whether the agent's prompts say who the person is.
    pub sees_user: bool,
    /// The provider, model or both in the agent's file; `None` for the workspace's own. Models are not ranked: another
    /// model is neither more nor less permission, but it is billed differently and reads what the agent reads.
    #[serde(default)]
    pub model: Option<String>,
    /// Whether the agent changes files only in its worktree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_worktree: bool,
    /// The folder of a folder agent with a document. Paths passed to tools that it knows by the names in that format
    /// are relative to this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Whether the person has not seen, since they trusted the workspace, that the agent reaches outside of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unseen: bool,
}

/// A permission that one authority has and another one lacks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum ExcessPermission {
    /// A known or unknown tool.
    Tool(String),
    /// Reading the files of a glob; `None` for all files.
    Reads(Option<String>),
    /// Writing the files of a glob; `None` for all files.
    Writes(Option<String>),
    /// A more lenient safety mode.
    Safety(SafetyMode),
    /// An MCP server.
    McpServer(String),
    /// A key that lets the agent run or reach something.
    Command(String),
    /// Seeing the contents of the boards.
    SeesWorkspace,
    /// Knowing who the person is.
    SeesUser,
}

impl fmt::Display for ExcessPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "the tool {name:?}"),
            Self::Reads(Some(glob)) => write!(f, "reading {glob:?}"),
            Self::Reads(None) => f.write_str("reading everything"),
            Self::Writes(Some(glob)) => write!(f, "writing {glob:?}"),
            Self::Writes(None) => f.write_str("writing everything"),
            Self::Safety(mode) => write!(f, "the safety mode {}", mode.as_str()),
            Self::McpServer(grant) => {
                let (server, tool) =
                    grant.split_once('/').map_or((grant.as_str(), None), |(key, tool)| (key, Some(tool)));
                let name = server.split('#').next().unwrap_or(server);
                match tool {
                    Some(tool) => write!(f, "{tool:?} of the MCP server {name:?}"),
                    None => write!(f, "the MCP server {name:?}"),
                }
            }
            Self::Command(key) => write!(f, "the content of {key:?}"),
            Self::SeesWorkspace => f.write_str("access to the content of the boards"),
            Self::SeesUser => f.write_str("access to who the person is"),
        }
    }
}

impl Authority {
    /// The authority of a profile, and the problems found in it. `place` is the path of its file, for the problems.
    pub fn of(place: &str, profile: &AgentProfile, names: &ToolNames) -> (Self, Vec<Problem>) {
        let all_names = names;
        let names = &*names.of_profile(&profile.id, profile.role.as_deref());
        let mut problems = Vec::new();
        let mut unknown_tools = BTreeSet::new();
        let mut called = BTreeMap::new();
        let tools = match &profile.tools {
            None => {
                if folder_of_agent(place).is_some() {
                    called = names.document_tool_names();
                }
                names.default_set()
            }
            Some(listed) => {
                let mut tools = BTreeSet::new();
                for name in listed.iter().filter(|name| !servers::is_known(name, profile, &names.1)) {
                    match names.tool(name) {
                        Some(known) => {
                            let offered = known.offered_as.iter().find(|offered| is_same(offered, name));
                            called.extend(offered.map(|offered| (known.name.clone(), offered.clone())));
                            tools.insert(known.name.clone());
                        }
                        None if !all_names.roles_of(name).is_empty() => {
                            let roles = all_names.roles_of(name).join(" or ");
                            let what = format!("the tool {name:?} is only for agents of type {roles}; it is ignored");
                            let remedy = format!("remove it, or write agent_type: {roles}");
                            problems.push(Problem::warning(place, what, remedy).at_line(profile.lines.of("tools")));
                            unknown_tools.insert(name.clone());
                        }
                        None => {
                            // A typo is reported with its line; the keys of other products are reported together.
                            if names.nearest(name).is_some() {
                                let what = format!("there is no tool {name:?}; it is ignored");
                                let problem = Problem::warning(place, what, names.remedy(name));
                                problems.push(problem.at_line(profile.lines.of("tools")));
                            }
                            unknown_tools.insert(name.clone());
                        }
                    }
                }
                if folder_of_agent(place).is_some() {
                    // A folder agent that lists tools has its own tools in addition.
                    tools.extend(names.own_of(&profile.id));
                }
                tools
            }
        };
        let safety = match profile.safety_mode.as_deref() {
            None => SafetyMode::default(),
            Some(word) => SafetyMode::from_name(word).unwrap_or_else(|| {
                let what = format!("unknown safety mode {word:?}; every change needs approval");
                let remedy = "write safe, balanced or auto; for a read-only agent, write writes: []";
                problems.push(Problem::warning(place, what, remedy).at_line(profile.lines.of("safety_mode")));
                SafetyMode::Safe
            }),
        };
        let authority = Self {
            tools,
            called,
            unknown_tools,
            reads: plain_globs(place, ("reads", profile), profile.reads.as_deref(), &mut problems),
            writes: plain_globs(place, ("writes", profile), profile.writes.as_deref(), &mut problems),
            safety,
            mcp_servers: servers::granted(profile, &names.1),
            mcp_not: BTreeSet::new(),
            commands: commands(profile),
            sees_workspace: profile.share_workspace_info,
            sees_user: profile.share_user_info,
            model: profile.model.clone(),
            has_worktree: profile.has_worktree,
            folder: folder_of_agent(place).map(str::to_owned),
            is_unseen: false,
        };
        let authority = authority.offering(names);
        (authority.within_limits(place, profile, names, &mut problems), problems)
    }

    /// The folder to which the paths passed to this tool are relative; empty for the workspace.
    pub fn folder_for(&self, tool: &str) -> &str {
        self.folder.as_deref().filter(|_| self.called.contains_key(tool)).unwrap_or_default()
    }

    /// The authority of a profile that cannot be trusted.
    pub fn minimal() -> Self {
        Self {
            tools: BTreeSet::new(),
            called: BTreeMap::new(),
            unknown_tools: BTreeSet::new(),
            reads: Some(Vec::new()),
            writes: Some(Vec::new()),
            safety: SafetyMode::Safe,
            mcp_servers: BTreeSet::new(),
            mcp_not: BTreeSet::new(),
            commands: BTreeMap::new(),
            sees_workspace: false,
            sees_user: false,
            model: None,
            has_worktree: false,
            folder: None,
            is_unseen: false,
        }
    }

    /// Adds the tool for proposing changes if the agent has a worktree, and removes it otherwise.
    fn offering(mut self, names: &ToolNames) -> Self {
        if self.has_worktree && names.0.iter().any(|tool| tool.name == PROPOSE_CHANGES) {
            self.tools.insert(PROPOSE_CHANGES.to_owned());
        } else {
            self.tools.remove(PROPOSE_CHANGES);
        }
        self
    }

    /// Whether this is the authority of a malformed agent file.
    pub fn is_minimal(&self) -> bool {
        *self == Self::minimal()
    }

    /// Checks that `other` does not exceed this authority. The error lists everything in which it does, in order.
    pub fn allows(&self, other: &Self) -> Result<(), Vec<ExcessPermission>> {
        let mut excess = BTreeSet::new();
        // Proposed changes take effect only after a person's approval.
        let tools = other.tools.difference(&self.tools).filter(|tool| *tool != PROPOSE_CHANGES);
        excess.extend(tools.cloned().map(ExcessPermission::Tool));
        excess.extend(other.unknown_tools.difference(&self.unknown_tools).cloned().map(ExcessPermission::Tool));
        excess.extend(
            globs_beyond(self.reads.as_deref(), other.reads.as_deref()).into_iter().map(ExcessPermission::Reads),
        );
        excess.extend(
            globs_beyond(self.writes.as_deref(), other.writes.as_deref()).into_iter().map(ExcessPermission::Writes),
        );
        if other.safety > self.safety {
            excess.insert(ExcessPermission::Safety(other.safety));
        }
        let more = other.mcp_servers.iter().filter(|grant| !self.has_grant(grant, &other.mcp_not));
        excess.extend(more.cloned().map(ExcessPermission::McpServer));
        let more = other.commands.iter().filter(|(key, value)| self.commands.get(*key) != Some(value));
        excess.extend(more.map(|(key, _)| ExcessPermission::Command(key.clone())));
        if other.sees_workspace && !self.sees_workspace {
            excess.insert(ExcessPermission::SeesWorkspace);
        }
        if other.sees_user && !self.sees_user {
            excess.insert(ExcessPermission::SeesUser);
        }
        if excess.is_empty() { Ok(()) } else { Err(excess.into_iter().collect()) }
    }
}

fn plain_globs(
    place: &str,
    (key, profile): (&str, &AgentProfile),
    listed: Option<&[String]>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<String>> {
    let mut plain = Vec::new();
    for text in listed? {
        match globs::plain(text) {
            Ok(globs) => plain.extend(globs),
            Err(error) => {
                let what = format!("the glob {text:?} in {key:?} is invalid: {error}");
                let problem = Problem::warning(place, what, "write it like artifacts/** or notes/*.md");
                problems.push(problem.at_line(profile.lines.of(key)));
            }
        }
    }
    Some(plain)
}

/// The globs of `inner` that `outer` does not certainly cover; `None` stands for all files.
fn globs_beyond(outer: Option<&[String]>, inner: Option<&[String]>) -> Vec<Option<String>> {
    match (outer, inner) {
        (None, _) => Vec::new(),
        (Some(outer), None) if globs::all_within(&["**".to_owned()], outer) => Vec::new(),
        (Some(_), None) => vec![None],
        (Some(outer), Some(inner)) => inner
            .iter()
            .filter(|glob| !globs::all_within(std::slice::from_ref(glob), outer))
            .map(|glob| Some(glob.clone()))
            .collect(),
    }
}

fn commands(profile: &AgentProfile) -> BTreeMap<String, Value> {
    let mut commands = BTreeMap::new();
    for (key, value) in &profile.extra {
        let folded: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if COMMAND_KEYS.contains(&folded.as_str()) {
            // If a key is spelled in two ways, both values count.
            let values = commands.entry(folded).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(values) = values {
                values.push(value.clone());
            }
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::markdown;

    fn names() -> ToolNames {
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
                tool("vfs_read", &["Read", "read_file"], true, Power::Read),
                tool("vfs_write", &["Write"], true, Power::Write),
                tool("publish", &[], false, Power::Run),
            ],
            BTreeMap::new(),
        )
    }

    fn authority(text: &str) -> (Authority, Vec<Problem>) {
        Authority::of("agents/ada.md", &markdown::read("agents/ada.md", text).profile, &names())
    }

    fn of(front: &str) -> Authority {
        authority(&format!("---\n{front}\n---\n")).0
    }

    #[test]
    fn a_profile_that_lists_no_tools_has_the_default_set() {
        let (authority, problems) = authority("# Ada");
        assert_eq!(authority.tools, names().default_set());
        assert_eq!((authority.reads, authority.safety), (None, SafetyMode::Auto));
        assert!(problems.is_empty());
    }

    #[test]
    fn aliases_of_other_products_are_recognized_and_unknown_tools_are_reported_and_not_granted() {
        let (authority, problems) = authority("---\ntools: READ, vfs-write, Bash, vfs_raed, 'Read(docs/**)'\n---\n");
        assert_eq!(authority.tools, ["vfs_read", "vfs_write"].map(String::from).into());
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].remedy.contains("\"vfs_read\""), "{}", problems[0]);
        assert_eq!(authority.unknown_tools.len(), 3);
    }

    #[test]
    fn missing_tools_are_listed_by_their_original_names() {
        let profile =
            markdown::read("agents/a.md", "---\ntools: Read, Bash(git:*), Bash, mcp__x__y, Read(docs/**)\n---\n")
                .profile;
        let missing: Vec<String> = names().missing(&profile).into_iter().collect();
        assert_eq!(missing, ["Bash", "Read(…)", "mcp__x__y"]);
    }

    #[test]
    fn unknown_modes_and_invalid_globs_grant_less_and_are_reported() {
        let (authority, problems) = authority("---\nsafety_mode: yolo\nreads: ['[x]', a/]\nwrites: '!x'\n---\n");
        assert_eq!(authority.safety, SafetyMode::Safe);
        assert_eq!(authority.reads, Some(vec!["a/**".to_owned()]));
        assert_eq!(authority.writes, Some(Vec::new()));
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn a_malformed_file_has_the_least_authority() {
        let malformed = markdown::read("agents/ada.md", "---\ntools: [\n");
        assert!(malformed.malformed);
        assert!(Authority::of("agents/ada.md", &malformed.profile, &names()).0.is_minimal());
        assert!(!of("name: x").is_minimal());
    }

    #[test]
    fn every_excess_permission_is_listed() {
        let own = of("tools: [vfs_read]\nreads: [a/**]\nwrites: []\nsafety_mode: safe\nshare_workspace_info: false");
        let other = of("tools: [vfs_read, publish, Bash]\nsafety_mode: auto\nmcp_servers: [git]\nhooks: {a: b}\n\
                        share_user_info: true\nwrites: [a/**]");
        let excess = own.allows(&other).unwrap_err();
        assert_eq!(
            excess,
            [
                ExcessPermission::Tool("Bash".into()),
                ExcessPermission::Tool("publish".into()),
                ExcessPermission::Reads(None),
                ExcessPermission::Writes(Some("a/**".into())),
                ExcessPermission::Safety(SafetyMode::Auto),
                ExcessPermission::McpServer("git".into()),
                ExcessPermission::Command("hooks".into()),
                ExcessPermission::SeesWorkspace,
                ExcessPermission::SeesUser,
            ]
        );
        for authority in [&own, &other] {
            assert_eq!(authority.allows(authority), Ok(()));
            assert_eq!(authority.allows(&Authority::minimal()), Ok(()));
        }
    }

    #[test]
    fn a_glob_list_that_matches_everything_is_unrestricted() {
        assert_eq!(of("reads: ['**']\nwrites: [.]").allows(&of("name: x")), Ok(()));
    }

    #[test]
    fn a_different_command_is_an_excess_permission() {
        let own = of("commands: [ls]");
        assert_eq!(own.allows(&of("commands: [ls]")), Ok(()));
        assert_eq!(own.allows(&of("name: x")), Ok(()));
        for other in ["commands: [ls, rm]", "commands: ls", "Commands: [ls]\ncommands: [rm]"] {
            assert!(own.allows(&of(other)).is_err(), "{other}");
        }
        for key in ["permission-mode: bypassPermissions", "allowedTools: x", "Hooks: x", "allowed tools: x"] {
            assert!(of("name: x").allows(&of(key)).is_err(), "{key}");
        }
    }
}
