//! The options of an agent, including its modes and models, and which of them the person's settings choose. Modes in
//! which it asks less often are recognised, and it is never put into one without the person's consent.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOptions, SessionModeState,
};

use super::super::peers::plain;
use crate::mind::{AgentOption, AgentOptionValue};

/// The maximum number of options of an agent, and of values of an option.
const MAX_OPTIONS: usize = 40;
const MAX_VALUES: usize = 100;
/// The maximum length of a name in characters.
const NAME_CHARS: usize = 120;
/// The name of the option for modes, here and in settings.
pub(super) const MODE: &str = "mode";

/// A command to set an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// Set a mode, by its id.
    Mode(String),
    /// Set another option to a value, by the ids of both.
    Value(String, String),
    /// Turn an option on or off.
    Flag(String, bool),
}

/// The options of an agent in a session.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Offer {
    options: Vec<AgentOption>,
    /// The ids of options with a known role, such as `model`, if they differ from it.
    meant: BTreeMap<String, String>,
    has_modes: bool,
    flags: Vec<String>,
}

impl Offer {
    /// Reads the modes and options that were reported with a session.
    pub(super) fn of(modes: Option<SessionModeState>, options: Option<Vec<SessionConfigOption>>) -> Self {
        let mut offer = Self::default();
        if let Some(modes) = modes {
            let values = modes.available_modes.iter().take(MAX_VALUES);
            offer.has_modes = true;
            offer.options.push(AgentOption {
                id: MODE.to_owned(),
                name: "Mode".to_owned(),
                current: plain(&modes.current_mode_id.0, NAME_CHARS),
                values: values.map(|mode| value(&mode.id.0, &mode.name, true)).collect(),
            });
        }
        for option in options.unwrap_or_default().iter().take(MAX_OPTIONS) {
            offer.add(option);
        }
        offer
    }

    fn add(&mut self, option: &SessionConfigOption) {
        let id = plain(&option.id.0, NAME_CHARS);
        let word = match &option.category {
            Some(SessionConfigOptionCategory::Mode) => Some(MODE),
            Some(SessionConfigOptionCategory::Model) => Some("model"),
            Some(SessionConfigOptionCategory::ThoughtLevel) => Some("thought_level"),
            _ => None,
        };
        let is_mode = word == Some(MODE) || id == MODE;
        if is_mode && self.has_modes {
            // The option is a duplicate.
            return;
        }
        let (current, values) = match &option.kind {
            SessionConfigKind::Select(select) => {
                let all: Vec<_> = match &select.options {
                    SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect(),
                    SessionConfigSelectOptions::Grouped(groups) => {
                        groups.iter().flat_map(|group| group.options.iter()).collect()
                    }
                    _ => Vec::new(),
                };
                let values = all.into_iter().take(MAX_VALUES);
                let values = values.map(|one| value(&one.value.0, &one.name, is_mode)).collect();
                (plain(&select.current_value.0, NAME_CHARS), values)
            }
            SessionConfigKind::Boolean(flag) => {
                self.flags.push(id.clone());
                (flag.current_value.to_string(), ["true", "false"].map(|word| value(word, word, false)).to_vec())
            }
            _ => return,
        };
        if let Some(word) = word {
            self.meant.insert(word.to_owned(), id.clone());
        }
        self.options.push(AgentOption { id, name: plain(&option.name, NAME_CHARS), current, values });
    }

    /// Returns all options for the log.
    pub(super) fn own_options(&self) -> Vec<AgentOption> {
        self.options.clone()
    }

    fn option(&self, name: &str) -> Option<&AgentOption> {
        let id = self.meant.get(name).map_or(name, String::as_str);
        self.options.iter().find(|option| option.id == id)
    }

    /// Returns the present mode.
    pub(super) fn mode(&self) -> Option<AgentOptionValue> {
        let option = self.option(MODE)?;
        let found = option.values.iter().find(|value| value.id == option.current);
        Some(found.cloned().unwrap_or_else(|| value(&option.current, &option.current, true)))
    }

    /// Finds a mode by its id or its name.
    pub(super) fn mode_named(&self, wanted: &str) -> Option<AgentOptionValue> {
        self.option(MODE)?.values.iter().find(|value| is_named(value, wanted)).cloned()
    }

    /// Returns a mode in which the agent asks as often as possible: the present one if it is such a mode, otherwise the
    /// first.
    pub(super) fn careful_mode(&self) -> Option<AgentOptionValue> {
        let current = self.mode().filter(|mode| !mode.asks_less);
        current.or_else(|| self.option(MODE)?.values.iter().find(|value| !value.asks_less).cloned())
    }

    /// Records that the agent switched to another mode.
    pub(super) fn set_mode(&mut self, id: &str) {
        let (id, meant) = (plain(id, NAME_CHARS), self.meant.get(MODE).cloned());
        let wanted = meant.unwrap_or_else(|| MODE.to_owned());
        if let Some(option) = self.options.iter_mut().find(|option| option.id == wanted) {
            option.current = id;
        }
    }

    /// Records the options that the agent reports again; its modes are kept.
    pub(super) fn set_options(&mut self, options: Vec<SessionConfigOption>) {
        let modes = self.options.iter().find(|_| self.has_modes).cloned();
        let has_modes = self.has_modes;
        *self = Self { has_modes, options: modes.into_iter().collect(), ..Self::default() };
        for option in options.iter().take(MAX_OPTIONS) {
            self.add(option);
        }
    }

    /// Returns the command that sets an option to a value. The error lists the available values.
    pub(super) fn choice(&self, name: &str, wanted: &str) -> Result<Choice, String> {
        let Some(option) = self.option(name) else {
            let all: Vec<&str> = self.options.iter().map(|option| option.id.as_str()).collect();
            let all = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
            return Err(format!("it has no option {name:?}; its options are: {all}"));
        };
        let Some(found) = option.values.iter().find(|value| is_named(value, wanted)) else {
            let all: Vec<&str> = option.values.iter().map(|value| value.id.as_str()).collect();
            return Err(format!("its {name} cannot be {wanted:?}; the choices are: {}", all.join(", ")));
        };
        Ok(match () {
            () if self.has_modes && option.id == MODE => Choice::Mode(found.id.clone()),
            () if self.flags.contains(&option.id) => Choice::Flag(option.id.clone(), found.id == "true"),
            () => Choice::Value(option.id.clone(), found.id.clone()),
        })
    }
}

fn is_named(value: &AgentOptionValue, wanted: &str) -> bool {
    value.id == wanted || value.name.eq_ignore_ascii_case(wanted)
}

fn value(id: &str, name: &str, is_mode: bool) -> AgentOptionValue {
    let (id, name) = (plain(id, NAME_CHARS), plain(name, NAME_CHARS));
    let asks_less = is_mode && asks_less(&id, &name);
    AgentOptionValue { id, name, asks_less }
}

/// Parts of the names of modes in which an agent asks less often than it could.
const LESS: [&str; 21] = [
    "bypass",
    "yolo",
    "accept",
    "autoedit",
    "autoapprove",
    "fullauto",
    "fullaccess",
    "dontask",
    "neverask",
    "noask",
    "noconfirm",
    "noprompt",
    "noreview",
    "alwaysallow",
    "allowall",
    "approveall",
    "skippermission",
    "unrestricted",
    "danger",
    "smart",
    "withoutask",
];

/// Words in the names of modes in which an agent asks before it acts, or does not act.
const CAREFUL: [&str; 17] = [
    "ask",
    "default",
    "plan",
    "readonly",
    "manual",
    "architect",
    "chat",
    "review",
    "normal",
    "safe",
    "approve",
    "suggest",
    "untrusted",
    "confirm",
    "strict",
    "careful",
    "prompt",
];

/// Whether an agent asks less often than it could in a mode with this id and name. This is what a mode does whose name
/// says nothing, such as Codex's `agent` and OpenCode's `build`: they run commands without asking. A wrong guess only
/// causes one more question to the person.
fn asks_less(id: &str, name: &str) -> bool {
    let word = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let joined = [word(id), word(name)];
    let is_less = joined.iter().any(|joined| LESS.iter().any(|part| joined.contains(part)));
    // As whole words only: "unsafe" is not "safe", and "task" is not "ask".
    let words = [id, name].into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric())).map(word);
    let is_careful = words.chain(joined.iter().cloned()).any(|word| CAREFUL.contains(&word.as_str()));
    is_less || !is_careful
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offer() -> Offer {
        let modes = json!({ "currentModeId": "default", "availableModes": [
            { "id": "default", "name": "Always Ask" },
            { "id": "acceptEdits", "name": "Accept Edits" },
            { "id": "plan", "name": "Plan Mode" },
            { "id": "bypassPermissions", "name": "Bypass Permissions" },
        ] });
        let options = json!([
            { "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "default", "options": [] },
            { "id": "llm", "name": "Model", "category": "model", "type": "select", "currentValue": "big", "options": [
                { "value": "big", "name": "Big" }, { "value": "small", "name": "Small one" },
            ] },
            { "id": "loud", "name": "Loud", "type": "boolean", "currentValue": true },
        ]);
        let read = "it is of the protocol";
        Offer::of(serde_json::from_value(modes).expect(read), serde_json::from_value(options).expect(read))
    }

    #[test]
    fn options_can_be_chosen_by_id_name_or_role() {
        let offer = offer();
        assert_eq!(offer.choice("mode", "plan"), Ok(Choice::Mode("plan".into())));
        assert_eq!(offer.choice("mode", "plan mode"), Ok(Choice::Mode("plan".into())));
        assert_eq!(offer.choice("model", "small one"), Ok(Choice::Value("llm".into(), "small".into())));
        assert_eq!(offer.choice("llm", "big"), Ok(Choice::Value("llm".into(), "big".into())));
        assert_eq!(offer.choice("loud", "false"), Ok(Choice::Flag("loud".into(), false)));
        let why = offer.choice("mode", "fast").expect_err("there is none");
        assert!(why.contains("default, acceptEdits, plan"), "{why}");
        assert!(offer.choice("colour", "red").expect_err("there is none").contains("mode, llm, loud"));
    }

    #[test]
    fn modes_that_ask_less_are_recognised() {
        let mut offer = offer();
        let less: Vec<String> =
            offer.own_options()[0].values.iter().filter(|mode| mode.asks_less).map(|mode| mode.id.clone()).collect();
        assert_eq!(less, ["acceptEdits", "bypassPermissions"]);
        assert!(!offer.mode().expect("it is in one").asks_less);
        offer.set_mode("bypassPermissions");
        assert!(offer.mode().expect("it is in one").asks_less);
        assert_eq!(offer.careful_mode().map(|mode| mode.id).as_deref(), Some("default"));
        for (id, name, is_less) in [
            ("yolo", "Yolo", true),
            ("auto", "Auto", true),
            ("autoEdit", "Auto Edit", true),
            ("smart_approve", "Smart", true),
            ("code", "Code", true),
            ("read-only", "Read Only", false),
            ("agent", "Agent", true),
            ("agent-full-access", "Agent (full access)", true),
            ("build", "build", true),
            ("plan", "plan", false),
            ("architect", "Architect", false),
            ("approve", "Approve", false),
            ("1", "Ask before edits", false),
            ("default", "Always Ask", false),
            ("unsafe", "Unsafe", true),
            ("task", "Multi Task", true),
            ("x", "No prompt", true),
        ] {
            assert_eq!(asks_less(id, name), is_less, "{id}");
        }
    }
}
