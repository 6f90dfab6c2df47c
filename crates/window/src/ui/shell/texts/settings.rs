//! Interface texts of the settings.

pub(crate) const SETTINGS: &str = "Settings";
/// Follows “Close”.
pub(crate) const CLOSES_SETTINGS: &str = "settings";

pub(crate) fn overridden_by_scene(scene: &str) -> String {
    format!("scenes/{scene}.yaml sets this and overrides your choice here.")
}

pub(crate) fn field_name(label: &str) -> String {
    format!("Set {label}")
}

// Invalid numbers
pub(crate) const NOT_AN_AMOUNT: &str = "An amount in dollars, like 2.50.";
pub(crate) const NOT_A_LIMIT: &str = "A whole number, or empty for no limit.";

pub(crate) fn not_within(least: u64, most: u64) -> String {
    format!("A whole number, {least} to {most}.")
}

// Provider and model
pub(crate) const PROVIDER_AND_MODEL: &str = "Provider and model";
pub(crate) const PROVIDER_AND_MODEL_ABOUT: &str =
    "Used unless an agent's own file says otherwise. Saved in settings.yaml.";
pub(crate) const CALLS_IN_PARALLEL: &str = "Calls in parallel";
pub(crate) const CALLS_IN_PARALLEL_ABOUT: &str =
    "How many calls a provider gets at the same time. Fewer are easier on small servers.";

// Conversations
pub(crate) const CONVERSATIONS: &str = "Conversations";
pub(crate) const CONVERSATIONS_ABOUT: &str =
    "Whether agents talk to each other, and how many conversations run in parallel.";
pub(crate) const BETWEEN_AGENTS: &str = "Between agents";
pub(crate) const BETWEEN_AGENTS_ABOUT: &str = "Off ends all conversations; tasks and reading continue.";
pub(crate) const ALLOW_CONVERSATIONS: &str = "Allow conversations";
pub(crate) const CONVERSATIONS_IN_PARALLEL: &str = "Conversations in parallel";
pub(crate) const CONVERSATIONS_IN_PARALLEL_ABOUT: &str = "Others wait until one ends.";

// Limits
pub(crate) const LIMITS: &str = "Limits";
pub(crate) const LIMITS_ABOUT: &str = "How much models may use. Empty fields mean no limit. Saved in settings.yaml.";
pub(crate) const NO_LIMIT: &str = "no limit";
pub(crate) const NO_LIMIT_IN_DOLLARS: &str = "no limit, in dollars";

pub(crate) fn with_used(about: &str, used: &str) -> String {
    format!("{about} Used: {used}.")
}

// Limits of all agents together
pub(crate) const ALL_AGENTS: &str = "All agents, until you close the workshop";
pub(crate) const COST: &str = "Cost";
pub(crate) const COST_ABOUT: &str = "Total cost of answers.";
pub(crate) const TOKENS: &str = "Tokens";
pub(crate) const TOKENS_ABOUT: &str = "Input and output, at all providers.";
pub(crate) const PAID_TOKENS: &str = "Tokens at external providers";
pub(crate) const PAID_TOKENS_ABOUT: &str = "Excludes the offline brain, scripts and local servers.";
pub(crate) const UNPRICED_TOKENS: &str = "Tokens without a price";
pub(crate) const UNPRICED_TOKENS_ABOUT: &str = "For models without a known price; cost limits do not cover them.";
pub(crate) const CALLS: &str = "Calls";
pub(crate) const CALLS_ABOUT: &str = "Number of model calls.";
pub(crate) const ALL_AGENTS_PER_HOUR: &str = "All agents, per hour";
pub(crate) const COST_PER_HOUR: &str = "Cost per hour";
pub(crate) const COST_PER_HOUR_ABOUT: &str = "What answers may cost in any 60 minutes.";
pub(crate) const TOKENS_PER_HOUR: &str = "Tokens per hour";
pub(crate) const TOKENS_PER_HOUR_ABOUT: &str = "Input and output in any 60 minutes.";
pub(crate) const CALLS_PER_HOUR: &str = "Calls per hour";
pub(crate) const CALLS_PER_HOUR_ABOUT: &str = "Number of model calls in any 60 minutes.";

// Limits of each agent
pub(crate) const EACH_AGENT: &str = "Each agent, until you close the workshop";
pub(crate) const COST_PER_AGENT: &str = "Cost per agent";
pub(crate) const COST_PER_AGENT_ABOUT: &str = "What one agent's answers may cost.";
pub(crate) const TOKENS_PER_AGENT: &str = "Tokens per agent";
pub(crate) const TOKENS_PER_AGENT_ABOUT: &str = "Input and output of one agent.";
pub(crate) const CALLS_PER_AGENT: &str = "Calls per agent";
pub(crate) const CALLS_PER_AGENT_ABOUT: &str = "Number of one agent's model calls.";
pub(crate) const EACH_AGENT_PER_HOUR: &str = "Each agent, per hour";
pub(crate) const COST_PER_AGENT_PER_HOUR: &str = "Cost per agent per hour";
pub(crate) const TOKENS_PER_AGENT_PER_HOUR: &str = "Tokens per agent per hour";
pub(crate) const CALLS_PER_AGENT_PER_HOUR: &str = "Calls per agent per hour";
pub(crate) const SAME_PER_HOUR: &str = "The same in any 60 minutes.";

// Limits of each task
pub(crate) const EACH_TASK: &str = "Each task, from start to end";
pub(crate) const COST_PER_TASK: &str = "Cost per task";
pub(crate) const COST_PER_TASK_ABOUT: &str = "What the answers to one task may cost.";
pub(crate) const TOKENS_PER_TASK: &str = "Tokens per task";
pub(crate) const TOKENS_PER_TASK_ABOUT: &str = "Input and output for one task.";
pub(crate) const CALLS_PER_TASK: &str = "Calls per task";
pub(crate) const CALLS_PER_TASK_ABOUT: &str = "Number of model calls for one task.";

// MCP servers
pub(crate) const MCP_SERVERS: &str = "MCP servers";
pub(crate) const MCP_SERVERS_ABOUT: &str = "\
    Programs and addresses whose tools agents use. Listed under mcp_servers in settings.yaml, in .mcp.json, or in \
    an agent's file. None is used before you allow it.";
pub(crate) const NO_MCP_SERVERS: &str = "No MCP servers in this workspace.";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_HINT: &str = "Connects now and lists its tools.";
pub(crate) const ALLOW_FIRST: &str = "Allow it first.";
pub(crate) const ALLOW: &str = "Allow";
pub(crate) const ALLOW_HINT: &str =
    "Allows exactly what is shown below, in this workspace. You are asked again after a change.";
pub(crate) const FORBID: &str = "Forbid";
pub(crate) const FORBID_HINT: &str = "Stops it. No agent can use it until you allow it again.";
pub(crate) const RESOURCE: &str = "resource";
pub(crate) const RESOURCE_TEMPLATE: &str = "resource template";
pub(crate) const PROMPT: &str = "prompt";

pub(crate) fn test_server(name: &str) -> String {
    format!("{TEST} {name}")
}

pub(crate) fn allow_server(name: &str) -> String {
    format!("{ALLOW} {name}")
}

pub(crate) fn forbid_server(name: &str) -> String {
    format!("{FORBID} {name}")
}

pub(crate) fn consent_and_place(consent: Option<&str>, place: &str) -> String {
    consent.map_or_else(|| place.to_owned(), |consent| format!("{consent}; {place}"))
}

pub(crate) fn tool_and_hints(tool: &str, hints: &str) -> String {
    if hints.is_empty() { tool.to_owned() } else { format!("{tool} ({hints})") }
}

pub(crate) fn kind_and_name(kind: &str, name: &str) -> String {
    format!("{kind} {name}")
}

pub(crate) fn left_out(what: impl std::fmt::Display) -> String {
    format!("left out: {what}")
}

// Appearance
pub(crate) const APPEARANCE: &str = "Appearance";
pub(crate) const APPEARANCE_ABOUT: &str = "Saved in your personal config, not in the workspace.";
pub(crate) const THEME: &str = "Theme";
pub(crate) const THEME_ABOUT: &str = "Light, dark, or the same as the system.";
pub(crate) const SYSTEM: &str = "System";
pub(crate) const SYSTEM_NAME: &str = "Theme of the system";
pub(crate) const LIGHT: &str = "Light";
pub(crate) const LIGHT_NAME: &str = "Always light";
pub(crate) const DARK: &str = "Dark";
pub(crate) const DARK_NAME: &str = "Always dark";
pub(crate) const TEXT_SIZE: &str = "Text size";
pub(crate) const TEXT_SIZE_ABOUT: &str = "Scales the whole window. Also Ctrl and plus, minus or 0.";
pub(crate) const SMALLER_TEXT: &str = "Smaller text";
pub(crate) const LARGER_TEXT: &str = "Larger text";
pub(crate) const RESET: &str = "Reset";
pub(crate) const DATES: &str = "Dates";
pub(crate) const DATES_ABOUT: &str = "The language of dates. Times follow this computer's time zone.";
pub(crate) const LANGUAGE_OF_DATES: &str = "Language of dates";
pub(crate) const MOVEMENT: &str = "Movement";
pub(crate) const MOVEMENT_ABOUT: &str = "Panels and switches change without animation.";
pub(crate) const REDUCE_MOTION: &str = "Reduce motion";

pub(crate) fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}
