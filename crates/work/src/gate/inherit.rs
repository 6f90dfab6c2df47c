//! Writes inherited restrictions into the file of a new agent: missing keys for which the agent that starts it is
//! restricted, and that agent's model. The rest of the text does not change.

use serde_json::{Value, json};
use thiserror::Error;

use super::authority::ToolNames;
use super::bounds::Bounds;
use super::safety::SafetyMode;
use crate::agent::agent_file::AgentFile;
use crate::agent::formats::format_of;
use crate::agent::front_matter;
use crate::agent::markdown::leaves_model_open;
use crate::agent::{AgentProfile, McpEntry};
use crate::workspace::yaml;

/// The reason why inherited restrictions cannot be written into a file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InheritError {
    /// The path is not that of an agent's file.
    #[error("'{0}' is not the path of an agent's file; an agent's file is agents/NAME.md")]
    NotAnAgent(String),
    /// The keys cannot be added without changing the meaning of the text.
    #[error("its front matter does not consist of lines of the form key: value; write it that way, or omit {0:?}")]
    OtherForm(String),
}

/// Adds the restrictions that a new agent inherits from these bounds to the text of its file. A malformed text is
/// returned unchanged, because it gives the least authority anyway.
pub fn inherit(path: &str, text: &str, bounds: &Bounds, names: &ToolNames) -> Result<String, InheritError> {
    let format = format_of(path).ok_or_else(|| InheritError::NotAnAgent(path.to_owned()))?;
    let before = (format.read)(path, text);
    if before.malformed {
        return Ok(text.to_owned());
    }
    let keys = absent_keys(&before.profile, text, bounds, names);
    if keys.is_empty() {
        return Ok(text.to_owned());
    }
    let amended = with_keys(text, &keys)?;
    let after = (format.read)(path, &amended);
    if defines_same_agent(&before, &after, &keys) {
        Ok(amended)
    } else {
        Err(InheritError::OtherForm(keys[0].0.to_owned()))
    }
}

/// The keys that the file leaves out, with their inherited values.
fn absent_keys(profile: &AgentProfile, text: &str, bounds: &Bounds, names: &ToolNames) -> Vec<(&'static str, Value)> {
    let mut keys = Vec::new();
    let tools = bounds.tools();
    if profile.tools.is_none() && names.default_set().iter().any(|tool| !tools.contains(tool.as_str())) {
        keys.push(("tools", json!(tools)));
    }
    // An agent that lists neither tools nor servers has all of the workspace's servers.
    let lists_tools = profile.tools.is_some() || !keys.is_empty();
    if profile.mcp_servers.is_none() && !lists_tools {
        let has = |key: &str| bounds.servers().contains(key);
        if names.1.values().any(|key| !has(key)) {
            let had: Vec<&String> = names.1.iter().filter(|(_, key)| has(key)).map(|(name, _)| name).collect();
            keys.push(("mcp_servers", json!(had)));
        }
    }
    if let (None, Some(reads)) = (&profile.reads, bounds.reads()) {
        keys.push(("reads", json!(reads)));
    }
    if let (None, Some(writes)) = (&profile.writes, bounds.writes()) {
        keys.push(("writes", json!(writes)));
    }
    if profile.safety_mode.is_none() && bounds.safety() != SafetyMode::default() {
        keys.push(("safety_mode", json!(bounds.safety().as_str())));
    }
    if let (None, Some(model)) = (&profile.model, bounds.model()) {
        keys.push(("model", json!(model)));
    }
    if profile.share_workspace_info && !bounds.sees_workspace() && !has_key(text, "shareworkspaceinfo") {
        keys.push(("share_workspace_info", json!(false)));
    }
    keys
}

/// Whether the front matter has a value for this key, in any spelling.
fn has_key(text: &str, folded: &str) -> bool {
    let text = front_matter::normalise(text);
    let folds =
        |key: &str| -> String { key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    front_matter::split(&text)
        .is_ok_and(|front| front.keys.iter().any(|(key, value)| !value.is_null() && folds(key) == folded))
}

/// Inserts these keys into the front matter, or adds front matter if there is none.
fn with_keys(text: &str, keys: &[(&'static str, Value)]) -> Result<String, InheritError> {
    let (bom, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let end = line_end(body);
    let line = |key: &str, value: &Value| format!("{key}: {}{end}", yaml::inline(value));
    let first_line = body.split(['\n', '\r']).next().unwrap_or_default();
    if first_line.trim_end() != "---" {
        let lines: String = keys.iter().map(|(key, value)| line(key, value)).collect();
        return Ok(format!("{bom}---{end}{lines}---{end}{end}{body}"));
    }
    let mut amended = body.to_owned();
    let mut lines = String::new();
    for (key, value) in keys {
        match empty_key(&amended, key)? {
            Some((start, stop)) => amended.replace_range(start..stop, &format!(" {}", yaml::inline(value))),
            None => lines += &line(key, value),
        }
    }
    amended.insert_str(first_line.len() + end.len(), &lines);
    Ok(format!("{bom}{amended}"))
}

/// The line ending of a text.
fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']).map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// The range of the value of a key that is present but empty, which counts as missing.
fn empty_key(text: &str, key: &str) -> Result<Option<(usize, usize)>, InheritError> {
    let other_form = || InheritError::OtherForm(key.to_owned());
    let normal = front_matter::normalise(text);
    let front = front_matter::split(&normal).map_err(|_| other_form())?;
    if !front.keys.contains_key(key) {
        return Ok(None);
    }
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        if let Some(rest) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) {
            let value = rest.trim_end_matches(['\n', '\r']);
            let value = value.find(" #").map_or(value, |comment| &value[..comment]);
            let from = start + key.len() + 1;
            return match value.trim() {
                "" | "~" | "null" | "Null" | "NULL" => Ok(Some((from, from + value.trim_end().len()))),
                word if key == "model" && leaves_model_open(word.trim_matches(['"', '\''])) => {
                    Ok(Some((from, from + value.trim_end().len())))
                }
                _ => Err(other_form()),
            };
        }
        start += line.len();
    }
    Err(other_form())
}

/// Whether the amended file defines the same agent, apart from the added keys.
fn defines_same_agent(before: &AgentFile, after: &AgentFile, keys: &[(&'static str, Value)]) -> bool {
    let words = |value: &Value| serde_json::from_value::<Vec<String>>(value.clone()).ok();
    let mut wanted = before.profile.clone();
    for (key, value) in keys {
        match *key {
            "tools" => wanted.tools = words(value),
            "mcp_servers" => {
                wanted.mcp_servers = words(value).map(|names| names.into_iter().map(McpEntry::Named).collect());
            }
            "reads" => wanted.reads = words(value),
            "writes" => wanted.writes = words(value),
            "safety_mode" => wanted.safety_mode = value.as_str().map(str::to_owned),
            "model" => wanted.model = value.as_str().map(str::to_owned),
            _ => wanted.share_workspace_info = false,
        }
    }
    // Blank lines above a text without front matter do not belong to the instructions.
    let trimmed = |profile: &AgentProfile| profile.instructions.trim().to_owned();
    let same_words = trimmed(&wanted) == trimmed(&after.profile);
    wanted.instructions.clone_from(&after.profile.instructions);
    same_words && wanted == after.profile && !after.malformed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gate::testing::{authority, names, one};

    fn inherited(front: &str, text: &str) -> Result<String, InheritError> {
        inherit("agents/new.md", text, &one(front), &names())
    }

    #[test]
    fn missing_keys_are_written_with_inherited_values() {
        let front = "tools: [vfs_read, spawn_agent]\nreads: [artifacts/**]\nwrites: []\nsafety_mode: balanced";
        let written = "tools: [spawn_agent, vfs_read]\nreads: [\"artifacts/**\"]\nwrites: []\nsafety_mode: balanced\n";
        for (text, amended) in [
            ("# Hi\n", format!("---\n{written}---\n\n# Hi\n")),
            ("", format!("---\n{written}---\n\n")),
            ("---\nname: X # mine\n---\nHi", format!("---\n{written}name: X # mine\n---\nHi")),
            ("---\n---\nHi", format!("---\n{written}---\nHi")),
            ("--- \r\nname: X\r\n---\r\nHi", format!("--- \r\n{}name: X\r\n---\r\nHi", written.replace('\n', "\r\n"))),
            ("\u{feff}Hi", format!("\u{feff}---\n{written}---\n\nHi")),
            ("\u{feff}---\nname: X\n---\n", format!("\u{feff}---\n{written}name: X\n---\n")),
        ] {
            assert_eq!(inherited(front, text), Ok(amended), "{text:?}");
        }
    }

    #[test]
    fn keys_in_the_file_are_kept() {
        let front = "tools: [vfs_read]\nsafety_mode: safe\nshare_workspace_info: false";
        let text = "---\nTools: [vfs_write]\nsafetyMode: auto\nshareWorkspaceInfo: true\n---\nHi";
        assert_eq!(inherited(front, text), Ok(text.to_owned()));
        assert_eq!(inherited("name: free", "Hi"), Ok("Hi".to_owned()));
    }

    #[test]
    fn an_empty_key_is_filled_in_place() {
        let text = "---\nname: X\nmodel: ~ # whatever\nshare_workspace_info:\n---\nHi";
        let amended = "---\nname: X\nmodel: \"ollama:qwen\" # whatever\nshare_workspace_info: false\n---\nHi";
        let front = "model: 'ollama:qwen'\nshare_workspace_info: false";
        assert_eq!(
            inherited(front, text).map(|text| text.replace("model: ollama:qwen", "model: \"ollama:qwen\"")),
            Ok(amended.to_owned())
        );
    }

    #[test]
    fn an_agent_without_a_model_inherits_its_starters_model() {
        let read = |text: &str| crate::agent::markdown::read("agents/new.md", text).profile.model;
        for text in [
            "Hi",
            "---\nname: X\n---\nHi",
            "---\nmodel:\n---\nHi",
            "---\nmodel: inherit\n---\nHi",
            "---\nmodel: \"default\"\n---\nHi",
        ] {
            let amended = inherited("model: 'openai:gpt-4o'", text);
            assert_eq!(amended.map(|amended| read(&amended)), Ok(Some("openai:gpt-4o".to_owned())), "{text}");
        }
        assert_eq!(inherited("name: free", "Hi"), Ok("Hi".to_owned()), "the workspace's own is inherited by itself");
        let own = "---\nmodel: ollama\n---\nHi";
        assert_eq!(inherited("model: openai", own), Ok(own.to_owned()));
    }

    #[test]
    fn front_matter_of_another_form_is_refused_rather_than_changed() {
        for text in ["---\n{name: X}\n---\nHi", "---\n  name: X\n---\nHi"] {
            assert!(matches!(inherited("tools: [vfs_read]", text), Err(InheritError::OtherForm(_))), "{text}");
        }
        let malformed = "---\nname: [\nHi";
        assert_eq!(inherited("tools: []", malformed), Ok(malformed.to_owned()));
        let nowhere = inherit("artifacts/x.md", "Hi", &one("tools: []"), &names());
        assert!(matches!(nowhere, Err(InheritError::NotAnAgent(_))));
    }

    proptest! {
        #[test]
        fn files_with_missing_keys_never_exceed_their_starter(
            body in "[-a-z#:\\n\\r {}~]{0,40}",
            fenced in any::<bool>(),
        ) {
            let front = "tools: [vfs_read]\nreads: [a/**]\nwrites: []\nsafety_mode: safe\nshare_workspace_info: no";
            let text = if fenced { format!("---\n{body}\n---\nHi") } else { body };
            if let Ok(amended) = inherited(front, &text) {
                prop_assert_eq!(one(front).allows(&authority(&amended)), Ok(()), "{:?}", amended);
            }
        }
    }
}
