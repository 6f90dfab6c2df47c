//! The widenings of settings, and the settings without those that are not trusted. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::layout::SETTINGS_FILE;
use super::settings::{SettingsSection, SettingsSections};
use super::settings_choice::{Chosen, choose_from};
use super::trust::settings_keys::{Widens, widens};
use super::trust::{Widening, WorkspaceTrust};
use super::{scene_file, yaml};
use crate::base::settings::{SettingKey, find_setting};
use crate::base::text::{hide_user_info, truncate};

/// The maximum number of characters of a shown value; a longer one ends with its length.
const MAX_VALUE_CHARS: usize = 200;

/// The defaults of all settings by section, with which limits are compared.
pub(super) type Defaults = BTreeMap<&'static str, SectionDefaults>;

/// The defaults of a section.
pub(super) struct SectionDefaults {
    /// The defaults by key.
    values: Value,
    /// What is known of the keys.
    keys: &'static [SettingKey],
}

/// The defaults of the registered sections.
pub(super) fn defaults_of(sections: &SettingsSections) -> Defaults {
    let described = sections.described().into_iter();
    described.map(|section| (section.name, SectionDefaults { values: section.defaults, keys: section.keys })).collect()
}

/// Every widening of `settings.yaml` and of the settings of all scenes.
pub fn widenings_of_files(files: &BTreeMap<String, String>, sections: &SettingsSections) -> Vec<Widening> {
    let defaults = defaults_of(sections);
    let keys = |text: Option<&String>| match text.map(|text| yaml::parse(text)) {
        Some(Ok(Value::Object(keys))) => keys,
        _ => Map::new(),
    };
    let of_file = choose_from(sections, &keys(files.get(SETTINGS_FILE)), false);
    let mut found = widenings(SETTINGS_FILE, &of_file, None, &defaults);
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("scenes/")) {
        let Some(doc) = scene_file::parse(path, text).0 else { continue };
        let of_scene = choose_from(sections, &doc.settings, true);
        found.extend(widenings(path, &of_scene, Some(&of_file), &defaults));
    }
    found
}

/// A section as `settings.yaml` sets it, and as it would be in each scene, whether or not it is trusted. Values that do
/// not fit are left out.
pub fn section_of_files<S: SettingsSection>(files: &BTreeMap<String, String>, sections: &SettingsSections) -> Vec<S> {
    let of_file = match files.get(SETTINGS_FILE).map(|text| yaml::parse(text)) {
        Some(Ok(Value::Object(keys))) => choose_from(sections, &keys, false),
        _ => Chosen::new(),
    };
    let of_file = of_file.get(S::NAME).cloned().unwrap_or_default();
    let scenes = files.iter().filter(|(path, _)| path.starts_with("scenes/"));
    let of_scenes = scenes.filter_map(|(path, text)| {
        let doc = scene_file::parse(path, text).0?;
        let mut keys = of_file.clone();
        keys.extend(choose_from(sections, &doc.settings, true).remove(S::NAME)?);
        Some(keys)
    });
    let fits = |key: &String, value: &Value| {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        serde_json::from_value::<S>(Value::Object(alone)).is_ok()
    };
    let read = |mut keys: Map<String, Value>| {
        keys.retain(|key, value| fits(key, value));
        serde_json::from_value(Value::Object(keys)).unwrap_or_default()
    };
    std::iter::once(of_file.clone()).chain(of_scenes).map(read).collect()
}

/// The widenings of the settings in one file. `below` are the settings that a scene overrides.
pub(super) fn widenings(place: &str, chosen: &Chosen, below: Option<&Chosen>, defaults: &Defaults) -> Vec<Widening> {
    let mut chosen = chosen.clone();
    hold_back(place, &mut chosen, below, defaults, |_| false)
}

/// Removes the widenings that are not trusted from the settings of one file, and returns them. Of a list that would
/// replace a stricter one, both remain.
pub(super) fn hold_back_untrusted(
    place: &str,
    chosen: &mut Chosen,
    below: Option<&Chosen>,
    defaults: &Defaults,
    trust: &WorkspaceTrust,
) -> Vec<Widening> {
    if trust.is_everything() {
        return Vec::new();
    }
    hold_back(place, chosen, below, defaults, |widening| trust.allows(widening))
}

fn hold_back(
    place: &str,
    chosen: &mut Chosen,
    below: Option<&Chosen>,
    defaults: &Defaults,
    is_trusted: impl Fn(&Widening) -> bool,
) -> Vec<Widening> {
    let mut held = Vec::new();
    for (section, keys) in chosen.iter_mut() {
        let mut kept = Map::new();
        for (key, value) in std::mem::take(keys) {
            let (how, sentence) = widens(section, &key);
            let known = defaults.get(section);
            let default = known.and_then(|known| known.values.get(&key)).unwrap_or(&Value::Null);
            let former = known.map(|known| former_names(section, &key, known.keys)).unwrap_or_default();
            let lower = below.and_then(|below| below.get(section)?.get(&key)).filter(|value| !value.is_null());
            let name = format!("{section}.{key}");
            let widening = |name: &str, value: &Value| Widening {
                is_asked_elsewhere: how == Widens::AskedElsewhere,
                // Only an entry of a mapping has a longer name.
                former_keys: if name.matches('.').count() == 1 { former.clone() } else { Vec::new() },
                ..Widening::new(place, name, one_line(value), sentence)
            };
            let mut refuse = |name: &str, value: &Value| {
                let widening = widening(name, value);
                let is_refused = !is_trusted(&widening);
                if is_refused {
                    held.push(widening);
                }
                is_refused
            };
            let is_default = value == *default && lower.is_none_or(|lower| *lower == value);
            match (how, value) {
                (Widens::Never, value) => drop(kept.insert(key, value)),
                (_, value) if is_default => drop(kept.insert(key, value)),
                (Widens::Entries | Widens::AllowingEntries, Value::Object(mut entries)) => {
                    entries.retain(|entry, value| {
                        let name = format!("{name}.{entry}");
                        match value {
                            _ if how == Widens::AllowingEntries => !allows(value) || !refuse(&name, value),
                            // Each rule of a list is decided about separately, because rules are added to it.
                            Value::Array(rules) => {
                                let before = rules.len();
                                rules.retain(|rule| !refuse(&name, rule));
                                !rules.is_empty() || before == 0
                            }
                            value => !refuse(&name, value),
                        }
                    });
                    kept.insert(key, Value::Object(entries));
                }
                (Widens::AskedElsewhere, value) => {
                    match &value {
                        Value::Object(entries) if key == "agents" => entries.iter().for_each(|(entry, value)| {
                            refuse(&format!("{name}.{entry}"), value);
                        }),
                        _ => drop(refuse(&name, &value)),
                    }
                    kept.insert(key, value);
                }
                (Widens::WhenReplacing, value) => {
                    let lost = lower.map(|lower| missing_from(lower, &value)).unwrap_or_default();
                    let value = if !lost.is_empty() && refuse(&name, &value) { with_all(value, lost) } else { value };
                    kept.insert(key, value);
                }
                (how, value) => {
                    if !is_widening(how, &value, default, lower) || !refuse(&name, &value) {
                        kept.insert(key, value);
                    }
                }
            }
        }
        *keys = kept;
    }
    held
}

/// The former names of a setting, with its section. One with another unit had other values.
fn former_names(section: &str, key: &str, keys: &'static [SettingKey]) -> Vec<String> {
    let former = find_setting(keys, key).map_or(&[][..], |(key, _)| key.former).iter();
    former.filter(|former| former.factor.is_none()).map(|former| format!("{section}.{}", former.name)).collect()
}

/// Whether one value widens, apart from mappings and lists.
fn is_widening(how: Widens, value: &Value, default: &Value, lower: Option<&Value>) -> bool {
    match how {
        Widens::Never | Widens::AskedElsewhere => false,
        Widens::WhenTrue => !matches!(value, Value::Bool(false) | Value::Null),
        Widens::WhenAllowing => {
            allows(value) || lower.is_some_and(|lower| lower != value && value.as_str() != Some("deny"))
        }
        Widens::WhenHigher => match (value.as_f64(), lower.unwrap_or(default).as_f64()) {
            (Some(number), Some(limit)) => number > limit,
            // A text that is no number allows nothing; without a limit, anything is lower.
            (None, Some(_)) => value.is_null(),
            (_, None) => false,
        },
        Widens::Always | Widens::Entries | Widens::AllowingEntries | Widens::WhenReplacing => !value.is_null(),
    }
}

/// Whether the word of a rule may allow something.
fn allows(value: &Value) -> bool {
    match value {
        Value::String(word) => word.trim().eq_ignore_ascii_case("allow"),
        Value::Bool(allows) => *allows,
        Value::Null | Value::Number(_) => false,
        Value::Array(values) => values.iter().any(allows),
        Value::Object(keys) => keys.values().any(allows),
    }
}

/// The entries of a list, or a single word, that another does not have.
fn missing_from(lower: &Value, value: &Value) -> Vec<Value> {
    let entries = |value: &Value| match value {
        Value::Array(entries) => entries.clone(),
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    };
    let there = entries(value);
    entries(lower).into_iter().filter(|entry| !there.contains(entry)).collect()
}

fn with_all(value: Value, lost: Vec<Value>) -> Value {
    match value {
        Value::Array(mut entries) => {
            entries.extend(lost);
            Value::Array(entries)
        }
        Value::Null => Value::Array(lost),
        other => Value::Array(std::iter::once(other).chain(lost).collect()),
    }
}

/// A value as one line, without passwords of addresses. A long value ends with its length and hash, so that no two
/// values look the same.
fn one_line(value: &Value) -> String {
    let line = hide_user_info(&yaml::inline(value));
    let chars = line.chars().count();
    if chars <= MAX_VALUE_CHARS {
        return line;
    }
    let hash = blake3::hash(line.as_bytes()).to_hex();
    format!("{} ({chars} characters, {})", truncate(&line, MAX_VALUE_CHARS), &hash[..16])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::settings::FormerName;

    fn chosen(section: &'static str, keys: Value) -> Chosen {
        [(section, keys.as_object().cloned().unwrap_or_default())].into_iter().collect()
    }

    const COMMANDS: &[SettingKey] = &[SettingKey {
        name: "max_memory_mib",
        doc: &[],
        range: None,
        former: &[FormerName { name: "memory_mb", factor: None }],
    }];

    fn defaults() -> Defaults {
        let of = |values: Value, keys| SectionDefaults { values, keys };
        let gate = json!({ "file_write": "allow", "ask": [], "deny": [], "allow": {}, "mcp": {}, "touches": {} });
        Defaults::from([
            ("budget", of(json!({ "cost_per_run_usd": 5.0, "calls_per_run": null }), &[])),
            ("commands", of(json!({ "network": false, "max_memory_mib": 4096 }), COMMANDS)),
            ("gate", of(gate, &[])),
            ("gateway", of(json!({ "provider": "offline", "model": null, "base_urls": {} }), &[])),
        ])
    }

    fn held(section: &'static str, keys: Value, below: Option<Value>) -> (Vec<String>, Value) {
        let defaults = defaults();
        let below = below.map(|below| chosen(section, below));
        let mut all = chosen(section, keys);
        let held = hold_back_untrusted("f", &mut all, below.as_ref(), &defaults, &WorkspaceTrust::Nothing);
        (held.into_iter().map(|widening| widening.key).collect(), all.remove(section).unwrap_or_default().into())
    }

    #[test]
    fn what_widens_is_held_back_and_what_restricts_counts() {
        for (section, keys, held_keys, kept) in [
            (
                "commands",
                json!({ "network": true, "max_memory_mib": 10 }),
                vec!["commands.network"],
                json!({ "max_memory_mib": 10 }),
            ),
            ("commands", json!({ "network": "yes" }), vec!["commands.network"], json!({})),
            ("budget", json!({ "cost_per_run_usd": 500 }), vec!["budget.cost_per_run_usd"], json!({})),
            ("budget", json!({ "cost_per_run_usd": null }), vec!["budget.cost_per_run_usd"], json!({})),
            (
                "budget",
                json!({ "cost_per_run_usd": 1, "calls_per_run": 9 }),
                vec![],
                json!({ "cost_per_run_usd": 1, "calls_per_run": 9 }),
            ),
            (
                "gate",
                json!({ "touches": { "process.run": "Allow ", "net.fetch": "deny" }, "mcp": { "mcp:*:*": true } }),
                vec!["gate.touches.process.run", "gate.mcp.mcp:*:*"],
                json!({ "touches": { "net.fetch": "deny" }, "mcp": {} }),
            ),
            ("gate", json!({ "touches": ["allow"] }), vec!["gate.touches"], json!({})),
            ("gate", json!({ "allow": { "lead": ["x"] } }), vec!["gate.allow.lead"], json!({ "allow": {} })),
            (
                "gate",
                json!({ "deny": ["a"], "file_write": "ask" }),
                vec![],
                json!({ "deny": ["a"], "file_write": "ask" }),
            ),
            ("gateway", json!({ "provider": "scripted:x" }), vec!["gateway.provider"], json!({})),
            ("gateway", json!({ "provider": "offline" }), vec![], json!({ "provider": "offline" })),
            (
                "gateway",
                json!({ "base_urls": { "openai": "http://u:p@h/" } }),
                vec!["gateway.base_urls.openai"],
                json!({ "base_urls": {} }),
            ),
            ("new", json!({ "x": 1 }), vec!["new.x"], json!({})),
        ] {
            let (found, left) = held(section, keys.clone(), None);
            assert_eq!(found, held_keys, "{keys}");
            assert_eq!(left, kept, "{keys}");
        }
    }

    #[test]
    fn a_scene_does_not_loosen_what_the_settings_say() {
        let lists = Some(json!({ "deny": ["a", "b"], "file_write": "deny" }));
        let (found, left) = held("gate", json!({ "deny": ["c"], "file_write": "ask" }), lists.clone());
        assert_eq!(found, ["gate.deny", "gate.file_write"]);
        assert_eq!(left, json!({ "deny": ["c", "a", "b"] }));
        let (found, _) = held("gate", json!({ "deny": ["b", "a", "c"], "file_write": "deny" }), lists);
        assert!(found.is_empty(), "{found:?}");
        let (found, _) = held("budget", json!({ "calls_per_run": 5 }), Some(json!({ "calls_per_run": 3 })));
        assert_eq!(found, ["budget.calls_per_run"]);
        let (found, _) = held("budget", json!({ "cost_per_run_usd": 4 }), Some(json!({ "cost_per_run_usd": 1 })));
        assert_eq!(found, ["budget.cost_per_run_usd"]);
    }

    #[test]
    fn trusted_widenings_apply() {
        let defaults = Defaults::new();
        let all = chosen("commands", json!({ "network": true }));
        let mut trust = WorkspaceTrust::Parts { parts: Default::default() };
        trust.add(widenings("settings.yaml", &all, None, &defaults));
        let mut kept = all.clone();
        assert!(hold_back_untrusted("settings.yaml", &mut kept, None, &defaults, &trust).is_empty());
        assert_eq!(kept, all);
        assert_eq!(hold_back_untrusted("scenes/a.yaml", &mut kept, None, &defaults, &trust).len(), 1);
    }

    #[test]
    fn what_was_trusted_under_a_former_name_is_trusted_under_the_present_one() {
        let seen = Widening::new("settings.yaml", "commands.memory_mb", "8192", "");
        let mut trust = WorkspaceTrust::Parts { parts: Default::default() };
        trust.add([seen]);
        let held = |mib: u32| {
            let mut all = chosen("commands", json!({ "max_memory_mib": mib }));
            hold_back_untrusted("settings.yaml", &mut all, None, &defaults(), &trust).len()
        };
        assert_eq!((held(8192), held(8193)), (0, 1));
    }

    #[test]
    fn long_values_that_differ_do_not_look_the_same() {
        let long = |end: &str| one_line(&json!(format!("{}{end}", "x".repeat(1_000))));
        assert_ne!(long("a"), long("b"));
    }
}
