//! Interface texts of the menu of providers and of the notices about failing ones.

// The list
pub(crate) fn provider_name(provider: &str) -> String {
    format!("Provider {provider}")
}

pub(crate) fn needs_key(key: &str) -> String {
    format!("needs {key}")
}

// An override from the command line
pub(crate) const USE_SETTINGS: &str = "Use settings";

pub(crate) fn provider_override(provider: &str) -> String {
    format!(
        "{provider} answers for everyone in this run, overriding settings and agents. Choosing another one here \
         replaces it until the workshop is closed."
    )
}

// Requirements of the selected provider
pub(crate) const MODEL: &str = "Model";
pub(crate) const IS_OFFLINE: &str = "Answers from the room itself: no network, no key, no cost.";
pub(crate) const IS_SCRIPTED: &str = "Plays a script: no network, no key, no cost.";
pub(crate) const IS_LOCAL: &str = "Calls a server on this machine. Nothing leaves it.";
pub(crate) const SAVE_KEY: &str = "Save key";
pub(crate) const SAVE_KEY_HINT: &str = "Saved to keys.env in your config folder, never in the workspace";

pub(crate) fn needs_a_key(key: &str) -> String {
    format!("Needs an API key. Paste it here, or set {key}.")
}

pub(crate) fn needs_key_in_environment(key: &str, provider: &str) -> String {
    format!("Needs {key} in the environment. What agents read is sent to {provider}.")
}

pub(crate) fn to_do(what: &str, remedy: &str) -> String {
    format!("{what}. What to do: {remedy}.")
}

pub(crate) fn sends_what_agents_read(detail: &str, provider: &str) -> String {
    format!("{detail}. What agents read is sent to {provider}.")
}

pub(crate) fn key_name(key: &str) -> String {
    format!("Key for {key}")
}

// Applying and testing it
pub(crate) const USE: &str = "Use";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_HINT: &str = "Sends a short test prompt. It counts towards usage and limits.";
pub(crate) const STOP_TEST: &str = "Stop test";

pub(crate) fn asking_for(provider: &str, duration: &str) -> String {
    format!("Waiting for {provider}, {duration} so far")
}

// Notices about failing providers
pub(crate) const CHANGE_PROVIDER: &str = "Change provider";

pub(crate) fn dismiss_fault(fault: &str) -> String {
    format!("Dismiss: {fault}")
}

pub(crate) fn agents_concerned(agents: usize) -> String {
    match agents {
        0 => "No agent here uses it.".to_owned(),
        1 => "1 agent here uses it and cannot think until it works.".to_owned(),
        many => format!("{many} agents here use it and cannot think until it works."),
    }
}
