//! Keys that limit an agent but do not belong to this program's format: those of other products, and mistyped ones.
//! Such a key is applied as a limit; if it cannot be understood, as the strictest one.
//!
//! Nothing here ever gives an agent more permissions. Keys that clearly limit nothing (`color`, `version`,
//! `temperature`) are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limit_keywords::{
    ALLOWING, ASKING, CONTAINERS, DENYING, ELSEWHERE, HARMLESS, MISTYPED, NEUTRAL, OURS, PATHS, READING, SPAWNING,
    TAKING_AWAY, WHOLE, WRITING,
};
use crate::base::text_normalization::skeleton;

/// The maximum nesting depth of containers.
const MAX_DEPTH: usize = 3;
/// The maximum number of paths in such a key; with more, it counts as not understood.
const MAX_GLOBS: usize = 400;

/// Something that an agent may not do, in addition to the keys of its profile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It has only these tools.
    OnlyTools(Vec<String>),
    /// It has none of these tools, in any product's names.
    NotTools(Vec<String>),
    /// It reads only files that these globs match.
    OnlyReads(Vec<String>),
    /// It writes only files that these globs match.
    OnlyWrites(Vec<String>),
    /// It changes nothing.
    ReadOnly,
    /// Its safety mode is at least this strict.
    Safety(String),
    /// It does not see the boards.
    NotTheBoards,
    /// The limit is not understood, so it may do nothing.
    Nothing,
}

/// How the reader of an agent's file treats a key.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyMeaning {
    /// It limits nothing.
    NoLimit,
    /// It has these limits.
    Limits(Vec<Limit>),
    /// It counts as this key of ours, mistyped, with these limits.
    Mistyped(&'static str, Vec<Limit>),
    /// It looks like a limit and is not understood.
    Unclear,
}

/// The meaning of a key that does not belong to our format.
pub fn meaning(key: &str, value: &Value) -> KeyMeaning {
    let words = key_words(key);
    let whole = words.concat();
    if value.is_null() && !limits_by_name(&words, &whole) {
        return KeyMeaning::NoLimit;
    }
    match limits(key, value, MAX_DEPTH) {
        None => KeyMeaning::Unclear,
        Some(limits) if limits.is_empty() => KeyMeaning::NoLimit,
        Some(limits) => match mistyped(&whole).filter(|(meant, distance)| is_slip(meant, *distance, &words, &whole)) {
            Some((meant, _)) => KeyMeaning::Mistyped(meant, limits),
            None => KeyMeaning::Limits(limits),
        },
    }
}

/// Whether a key that is similar to a known one is a misspelling of it, and not a word of its own.
fn is_slip(meant: &str, distance: usize, words: &[String], whole: &str) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // Our correctly spelt keys are never passed to this function.
    OURS.contains(&meant) || (distance > 0 && !has(DENYING) && !has(ALLOWING) && !WHOLE.contains(&whole))
}

/// Splits a key into words: `disallowedTools`, `disallowed-tools` and `DISALLOWED_TOOLS` give the same words, with
/// similar letters of other alphabets as Latin ones.
fn key_words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            words.last_mut().expect("there is always one").push(c);
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).map(|word| skeleton(&word)).collect()
}

/// Whether the name of a key looks like a limit.
pub(super) fn limits_by_its_name(key: &str) -> bool {
    let words = key_words(key);
    let whole = words.concat();
    limits_by_name(&words, &whole)
}

fn limits_by_name(words: &[String], whole: &str) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(DENYING) || has(ALLOWING) || mistyped(whole).is_some() || WHOLE.contains(&whole)
}

/// The known key that is most similar to a misspelling, and the distance.
fn mistyped(whole: &str) -> Option<(&'static str, usize)> {
    let near = MISTYPED.iter().filter_map(|(meant, most)| {
        let target: String = meant.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let distance = strsim::osa_distance(whole, &target);
        (distance <= *most).then_some((*meant, distance))
    });
    near.min_by_key(|(_, distance)| *distance)
}

/// The effect of a restricting key; an empty list if it restricts nothing, `None` if that is unclear.
fn limits(key: &str, value: &Value, depth: usize) -> Option<Vec<Limit>> {
    let words = key_words(key);
    let whole = words.concat();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if HARMLESS.contains(&whole.as_str()) {
        return Some(Vec::new());
    }
    if let Some(limits) = by_whole_name(&whole, value, depth) {
        return limits;
    }
    let is_of_tools = has(&["tool", "tools"]);
    if words.first().is_some_and(|first| ["no", "not", "never"].contains(&first.as_str())) {
        return forbidden(is_of_tools, has(WRITING), has(READING), has(SPAWNING), value);
    }
    let (reads, writes, of_paths) = (has(READING), has(WRITING), has(PATHS));
    if has(DENYING) || (is_of_tools && has(TAKING_AWAY)) {
        return match value {
            Value::Bool(true) => forbidden(is_of_tools, writes, reads, has(SPAWNING), value),
            _ => denied(value, is_of_tools, has(ELSEWHERE), has(SPAWNING), of_paths || reads || writes),
        };
    }
    if has(ALLOWING) {
        return match value {
            Value::Bool(true) => Some(Vec::new()),
            Value::Bool(false) if has(ELSEWHERE) => Some(Vec::new()),
            Value::Bool(false) => forbidden(is_of_tools, writes, reads, has(SPAWNING), &Value::Bool(true)),
            _ if is_of_tools => only_tools(value),
            _ if has(SPAWNING) => Some(vec![Limit::NotTools(vec!["spawn_agent".to_owned()])]),
            _ if of_paths || reads || writes => only_paths(value, reads || !writes, writes || !reads),
            _ if has(ELSEWHERE) => Some(Vec::new()),
            _ => only_tools(value),
        };
    }
    if let Some((meant, _)) = mistyped(&whole) {
        return limits_of_meant(meant, value, depth);
    }
    if has(&["tools"]) || (is_of_tools && (value.is_array() || value.is_object())) {
        let is_plain = words.iter().all(|word| NEUTRAL.contains(&word.as_str()));
        return match value {
            Value::Number(_) | Value::Bool(_) => Some(Vec::new()),
            _ if is_plain => only_tools(value),
            // It is unclear whether only these are allowed, or all except these.
            _ => None,
        };
    }
    if (reads || writes) && (of_paths || has(&["access", "can", "may", "only", "list", "to", "from"])) {
        return match value {
            Value::Bool(true) => Some(Vec::new()),
            Value::Bool(false) => forbidden(false, writes, reads, false, &Value::Bool(true)),
            _ => only_paths(value, reads, writes),
        };
    }
    Some(Vec::new())
}

/// Keys with a meaning as a whole; `None` for others.
fn by_whole_name(whole: &str, value: &Value, depth: usize) -> Option<Option<Vec<Limit>>> {
    let word = skeleton(&plain(value).unwrap_or_default()).replace(['-', '_', ' '], "");
    let is_off = matches!(word.as_str(), "false" | "none" | "off" | "no" | "never");
    Some(match whole {
        "permissionmode" | "defaultmode" => Some(permission_mode(&word)),
        "permissions" | "permission" => permissions(value, depth),
        "readonly" | "isreadonly" | "onlyread" => Some(if is_off { Vec::new() } else { vec![Limit::ReadOnly] }),
        "mode" => Some(match word.as_str() {
            "plan" | "readonly" | "ask" => vec![Limit::ReadOnly],
            _ => Vec::new(),
        }),
        "sandbox" | "sandboxmode" | "access" | "accesslevel" | "privileges" => match word.as_str() {
            "readonly" | "read" | "view" => Some(vec![Limit::ReadOnly]),
            _ if is_off && whole.starts_with("sandbox") => Some(Vec::new()),
            "full" | "all" | "write" | "readwrite" | "workspacewrite" | "dangerfullaccess" => Some(Vec::new()),
            _ => None,
        },
        "disabled" | "disable" => {
            if is_off {
                Some(Vec::new())
            } else {
                None
            }
        }
        "enabled" => {
            if is_off {
                None
            } else {
                Some(Vec::new())
            }
        }
        "safety" | "safetylevel" => Some(vec![Limit::Safety(plain(value).unwrap_or_default())]),
        _ if ASKING.contains(&whole) => {
            Some(if is_off || word == "auto" { Vec::new() } else { vec![Limit::Safety("safe".to_owned())] })
        }
        _ if CONTAINERS.contains(&whole) => contained(value, depth),
        _ => return None,
    })
}

/// The permission modes of other products, as strict here as there.
fn permission_mode(word: &str) -> Vec<Limit> {
    match word {
        "bypasspermissions" | "auto" => Vec::new(),
        "acceptedits" => vec![Limit::Safety("balanced".to_owned())],
        "plan" => vec![Limit::ReadOnly],
        // The default mode asks before every change, and so does an unknown one.
        _ => vec![Limit::Safety("safe".to_owned())],
    }
}

/// Reads `permissions: { allow: […], ask: […], deny: […] }`, `permission: { edit: deny, bash: ask }`, or a word.
fn permissions(value: &Value, depth: usize) -> Option<Vec<Limit>> {
    let Value::Object(keys) = value else {
        return match skeleton(&plain(value).unwrap_or_default()).replace(['-', '_', ' '], "").as_str() {
            "readonly" | "read" => Some(vec![Limit::ReadOnly]),
            _ => None,
        };
    };
    let mut all = Vec::new();
    for (key, value) in keys {
        let word = key_words(key).concat();
        all.extend(match word.as_str() {
            "allow" | "tools" => only_tools(value)?,
            "deny" => not_tools(value)?,
            "ask" => names(value)?.first().map(|_| Limit::Safety("safe".to_owned())).into_iter().collect(),
            "additionaldirectories" => Vec::new(),
            "reads" | "read" if value.is_array() => only_paths(value, true, false)?,
            "writes" | "write" if value.is_array() => only_paths(value, false, true)?,
            "defaultmode" | "mode" => limits("permissionMode", value, depth.checked_sub(1)?)?,
            _ => verdict(key, value)?,
        });
    }
    Some(all)
}

/// The limits for `allow`, `ask` or `deny` after a tool's name, also for only some of its uses.
fn verdict(tool: &str, value: &Value) -> Option<Vec<Limit>> {
    match value {
        Value::Object(uses) => {
            let each: Option<Vec<Vec<Limit>>> = uses.values().map(|value| verdict(tool, value)).collect();
            Some(each?.concat())
        }
        _ => match plain(value)?.trim().to_lowercase().as_str() {
            "allow" | "true" => Some(Vec::new()),
            "ask" => Some(vec![Limit::Safety("safe".to_owned())]),
            "deny" | "false" => Some(vec![Limit::NotTools(vec![tool.to_owned()])]),
            _ => None,
        },
    }
}

fn contained(value: &Value, depth: usize) -> Option<Vec<Limit>> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(keys) => {
            let each: Option<Vec<Vec<Limit>>> =
                keys.iter().map(|(key, value)| own_or_other(key, value, depth)).collect();
            Some(each?.concat())
        }
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}

/// The limits of a key in a container of limits, where keys have their usual meaning.
fn own_or_other(key: &str, value: &Value, depth: usize) -> Option<Vec<Limit>> {
    match key_words(key).concat().as_str() {
        own @ ("tools" | "reads" | "writes" | "safetymode") => limits_of_meant(own, value, depth),
        _ => limits(key, value, depth),
    }
}

/// The limits of a repeated key of our format, in another spelling.
pub(super) fn of_own(key: &str, value: &Value) -> Vec<Limit> {
    limits_of_meant(key, value, MAX_DEPTH).unwrap_or_else(|| vec![Limit::Nothing])
}

/// The limits of a mistyped key in its intended meaning.
fn limits_of_meant(meant: &str, value: &Value, depth: usize) -> Option<Vec<Limit>> {
    match meant {
        "tools" => only_tools(value),
        "reads" => only_paths(value, true, false),
        "writes" => only_paths(value, false, true),
        "safety_mode" | "safetymode" => Some(vec![Limit::Safety(plain(value).unwrap_or_default())]),
        "share_workspace_info" => {
            let word = plain(value).unwrap_or_default().trim().to_lowercase();
            let is_shared = matches!(word.as_str(), "true" | "yes" | "on");
            Some(if is_shared { Vec::new() } else { vec![Limit::NotTheBoards] })
        }
        other => limits(other, value, depth.checked_sub(1)?),
    }
}

fn forbidden(tools: bool, writes: bool, reads: bool, spawning: bool, value: &Value) -> Option<Vec<Limit>> {
    match value {
        Value::Bool(false) => Some(Vec::new()),
        Value::Bool(true) | Value::Null => match (tools, writes, reads, spawning) {
            (true, ..) => Some(vec![Limit::OnlyTools(Vec::new())]),
            (_, true, false, _) => Some(vec![Limit::ReadOnly]),
            (_, _, true, _) => Some(vec![Limit::OnlyReads(Vec::new()), Limit::NotTools(vec!["read".to_owned()])]),
            (.., true) => Some(vec![Limit::NotTools(vec!["spawn_agent".to_owned()])]),
            _ => None,
        },
        _ if tools => not_tools(value),
        // `never: "say hello"` is an instruction to the model.
        _ => Some(Vec::new()),
    }
}

fn denied(value: &Value, tools: bool, elsewhere: bool, spawning: bool, paths: bool) -> Option<Vec<Limit>> {
    match value {
        Value::Bool(false) | Value::Null => Some(Vec::new()),
        _ if tools => not_tools(value),
        // Capabilities of other products (commands, hosts) do not exist here, so forbidding them has no effect.
        _ if elsewhere => Some(Vec::new()),
        _ if spawning => Some(vec![Limit::NotTools(vec!["spawn_agent".to_owned()])]),
        // A profile cannot express "everything except some paths".
        _ if paths => None,
        _ => not_tools(value),
    }
}

fn not_tools(value: &Value) -> Option<Vec<Limit>> {
    let names = names(value)?;
    Some(if names.is_empty() { Vec::new() } else { vec![Limit::NotTools(names)] })
}

fn only_tools(value: &Value) -> Option<Vec<Limit>> {
    if let Value::Object(keys) = value
        && !keys.is_empty()
        && keys.values().all(Value::is_boolean)
    {
        return Some(switched(keys));
    }
    names(value).map(|names| vec![Limit::OnlyTools(names)])
}

/// Reads `{ write: false, edit: true }`: disabled tools are removed; with `*` disabled, only enabled ones remain.
pub(super) fn switched(keys: &serde_json::Map<String, Value>) -> Vec<Limit> {
    let with =
        |on: bool| keys.iter().filter(|(_, value)| **value == Value::Bool(on)).map(|(key, _)| key.clone()).collect();
    let (on, off): (Vec<String>, Vec<String>) = (with(true), with(false));
    match off.as_slice() {
        [] => Vec::new(),
        off if off.iter().any(|name| name == "*") => vec![Limit::OnlyTools(on)],
        _ => vec![Limit::NotTools(off)],
    }
}

fn only_paths(value: &Value, reads: bool, writes: bool) -> Option<Vec<Limit>> {
    // The plain name of a folder also includes its content.
    let globs: Vec<String> = names(value)?.iter().flat_map(|path| [path.clone(), format!("{path}/**")]).collect();
    let globs: Vec<String> = globs.into_iter().filter(|glob| !glob.contains("**/**")).collect();
    if globs.len() > MAX_GLOBS {
        return None;
    }
    let mut limits = Vec::new();
    if reads {
        limits.push(Limit::OnlyReads(globs.clone()));
    }
    if writes {
        limits.push(Limit::OnlyWrites(globs));
    }
    Some(limits)
}

/// Names in a list, or in a text with commas or spaces between them; text in parentheses belongs to the name before it.
/// `None` if it is something else.
fn names(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(split_names(text, |c| c == ',' || c.is_whitespace())),
        Value::Array(values) => {
            let names: Option<Vec<String>> = values.iter().map(plain).collect();
            Some(names?.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
        }
        _ => None,
    }
}

/// Names in a text with commas between them.
pub(super) fn names_between_commas(text: &str) -> Vec<String> {
    split_names(text, |c| c == ',')
}

fn split_names(text: &str, is_between: impl Fn(char) -> bool) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_between(c)
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A text, number or flag as text: YAML parses `name: 42` as a number.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
