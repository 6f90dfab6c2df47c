//! Words by which a key of an agent's file is recognised as a limit, as [`super::limits`] reads them.

/// What follows is forbidden.
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

/// What follows is forbidden, where it is tools.
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

/// Words beside "tools" without an effect: what follows is the complete list of tools.
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

/// What follows is all that is allowed.
pub(super) const ALLOWING: &[&str] =
    &["allow", "allowed", "allowlist", "allows", "permit", "permits", "permitted", "whitelist", "whitelisted"];

/// Looking at files.
pub(super) const READING: &[&str] = &["read", "readable", "reads"];

/// Changing files.
pub(super) const WRITING: &[&str] =
    &["delete", "deletes", "edit", "editable", "edits", "modify", "writable", "write", "writeable", "writes"];

/// Places of files.
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

/// What agents of other products do and those of this one cannot do anyway, or what is no doing at all.
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

/// Whole keys after which a person is asked.
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

/// Whole keys that hold limits of any kind.
pub(super) const CONTAINERS: &[&str] = &["guardrails", "limits", "policy", "policies", "security"];

/// Complete keys that are correct and not misspellings of others.
pub(super) const WHOLE: &[&str] =
    &["permission", "permissions", "permissionmode", "defaultmode", "readonly", "sandbox", "sandboxmode", "safety"];

/// Whole keys that only look as if they limited something.
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

/// Those of [`MISTYPED`] that are a profile's own.
pub(super) const OURS: &[&str] = &["tools", "reads", "writes", "safety_mode", "share_workspace_info"];

/// Keys that limit, each with how many letters another may differ and still be taken for it.
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
