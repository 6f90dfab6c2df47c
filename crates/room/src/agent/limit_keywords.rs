//! Words by which a key of an agent's file is recognised as a limit, as [`super::limits`] reads them.

/// The values are forbidden.
pub(super) const DENYING: &[&str] = &[
    "blacklist",
    "blacklisted",
    "blocked",
    "blocklist",
    "denied",
    "denies",
    "deny",
    "denylist",
    "disallow",
    "disallowed",
    "disallows",
    "exclude",
    "excluded",
    "excludes",
    "forbid",
    "forbidden",
    "forbids",
    "prohibit",
    "prohibited",
    "prohibits",
    "restrict",
    "restricted",
    "restriction",
    "restrictions",
    "restricts",
    "revoked",
    "without",
];

/// The values are forbidden if they are tools.
pub(super) const TAKING_AWAY: &[&str] = &[
    "avoid",
    "ban",
    "banned",
    "dangerous",
    "disable",
    "disabled",
    "except",
    "hidden",
    "ignore",
    "ignored",
    "minus",
    "remove",
    "removed",
    "unavailable",
    "unsafe",
];

/// Words beside "tools" without an effect: the value is the complete list of tools.
pub(super) const NEUTRAL: &[&str] = &[
    "active",
    "agent",
    "available",
    "builtin",
    "default",
    "enabled",
    "list",
    "my",
    "names",
    "only",
    "set",
    "tool",
    "tools",
    "usable",
    "use",
];

/// Only the values are allowed.
pub(super) const ALLOWING: &[&str] =
    &["allow", "allowed", "allowlist", "allows", "permit", "permits", "permitted", "whitelist", "whitelisted"];

/// Reading files.
pub(super) const READING: &[&str] = &["read", "readable", "reads"];

/// Changing files.
pub(super) const WRITING: &[&str] =
    &["delete", "deletes", "edit", "editable", "edits", "modify", "writable", "write", "writeable", "writes"];

/// Paths of files.
pub(super) const PATHS: &[&str] = &[
    "dir",
    "directories",
    "directory",
    "dirs",
    "file",
    "files",
    "filesystem",
    "folder",
    "folders",
    "glob",
    "globs",
    "path",
    "paths",
];

/// Other agents.
pub(super) const SPAWNING: &[&str] =
    &["agent", "agents", "delegate", "delegation", "spawn", "spawning", "subagent", "subagents"];

/// Capabilities of other products that agents of this program do not have, or words that are no capability.
pub(super) const ELSEWHERE: &[&str] = &[
    "bash",
    "browser",
    "channels",
    "code",
    "command",
    "commands",
    "domains",
    "execution",
    "hosts",
    "internet",
    "ips",
    "languages",
    "mcp",
    "models",
    "network",
    "origins",
    "ports",
    "servers",
    "shell",
    "terminal",
    "topics",
    "urls",
    "users",
    "web",
    "words",
];

/// Complete keys that require asking a person.
pub(super) const ASKING: &[&str] = &[
    "approval",
    "approvalmode",
    "approvalpolicy",
    "approvals",
    "askforapproval",
    "confirm",
    "confirmation",
    "humanintheloop",
    "requireapproval",
    "requireconfirmation",
    "requiresapproval",
    "requiresconfirmation",
];

/// Complete keys that contain limits of any kind.
pub(super) const CONTAINERS: &[&str] = &["guardrails", "limits", "policy", "policies", "security"];

/// Complete keys that are correct and not misspellings of others.
pub(super) const WHOLE: &[&str] =
    &["permission", "permissions", "permissionmode", "defaultmode", "readonly", "sandbox", "sandboxmode", "safety"];

/// Complete keys that only look as if they limited something.
pub(super) const HARMLESS: &[&str] = &[
    "disablemodelinvocation",
    "heads",
    "leads",
    "loads",
    "paralleltoolcalls",
    "ready",
    "roads",
    "toolcallid",
    "toolchoice",
    "writer",
];

/// The keys of [`MISTYPED`] that belong to our format.
pub(super) const OURS: &[&str] = &["tools", "reads", "writes", "safety_mode", "share_workspace_info"];

/// Limiting keys, each with the number of letters in which a misspelling may differ.
pub(super) const MISTYPED: &[(&str, usize)] = &[
    ("tools", 1),
    ("reads", 1),
    ("writes", 1),
    ("safety_mode", 2),
    ("share_workspace_info", 3),
    ("permissions", 2),
    ("permissionMode", 2),
    ("readonly", 1),
    ("allowedTools", 2),
    ("disallowedTools", 2),
    ("blockedTools", 2),
    ("deniedTools", 1),
    ("excludedTools", 2),
];
