//! Settings under their former names: where files have them, and how one gets its present name when a person changes its
//! value. Nothing else renames them. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::layout::SETTINGS_FILE;
use super::scene_file;
use super::settings::SettingsSections;
use super::settings_choice::{FormerKey, Source, choose};
use super::yaml;
use super::yaml_syntax::{line_of_key, parse_syntax};
use crate::base::settings::{FormerName, SettingKey};

/// A place where a file has a setting under a former name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormerNameUse {
    /// The file.
    pub place: String,
    /// The line, if known.
    pub line: Option<usize>,
    /// The section.
    pub section: &'static str,
    /// The name in the file.
    pub former: &'static str,
    /// The present name.
    pub present: &'static str,
}

/// Returns where `settings.yaml` and the settings of scenes have former names.
pub fn former_names_in(files: &BTreeMap<String, String>, sections: &SettingsSections) -> Vec<FormerNameUse> {
    let known = sections.known();
    let uses = |place: &str, text: &str, found: &Map<String, Value>, is_scene: bool| -> Vec<FormerNameUse> {
        let above: &[&str] = if is_scene { &["settings"] } else { &[] };
        let choice = choose(&known, found, &Source { place, text, path: above }, is_scene);
        let described = |found: &FormerKey| {
            let path: Vec<&str> = above.iter().copied().chain(found.path.iter().map(String::as_str)).collect();
            FormerNameUse {
                place: place.to_owned(),
                line: line_of_key(text, &path),
                section: found.section,
                former: found.former.name,
                present: found.key.name,
            }
        };
        choice.former.iter().map(described).collect()
    };
    let mut found = Vec::new();
    if let Some(text) = files.get(SETTINGS_FILE)
        && let Ok(Value::Object(keys)) = yaml::parse(text)
    {
        found.extend(uses(SETTINGS_FILE, text, &keys, false));
    }
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("scenes/")) {
        if let Some(doc) = scene_file::parse(path, text).0 {
            found.extend(uses(path, text, &doc.settings, true));
        }
    }
    found
}

/// The text of `settings.yaml` with its data, in which settings get their present names.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SettingsText {
    pub(super) text: String,
    /// The data of the text.
    pub(super) data: Value,
}

impl SettingsText {
    /// Gives a setting its present name, at the place where it is written. Unusual YAML may prevent that; then nothing
    /// changes.
    pub(super) fn rename(&mut self, section: &str, former: &str, present: &str) {
        let Some(text) = renamed_text(&self.text, section, former, present) else { return };
        let data = renamed_data(&self.data, section, former, present, Value::clone);
        if yaml::parse(&text).is_ok_and(|found| found == data) {
            (self.text, self.data) = (text, data);
        }
    }
}

/// Returns the text with another name of a key, at exactly that key.
fn renamed_text(text: &str, section: &str, from: &str, to: &str) -> Option<String> {
    let is_windows = text.contains("\r\n");
    let unix = if is_windows { text.replace("\r\n", "\n") } else { text.to_owned() };
    let root = parse_syntax(&unix).ok()?;
    let pair = root.get(section)?.pairs().iter().find(|pair| pair.key == from)?;
    let is_quoted = unix.get(pair.start..)?.starts_with(['"', '\'']);
    let start = pair.start + usize::from(is_quoted);
    let (before, rest) = (unix.get(..start)?, unix.get(start..)?);
    let renamed = format!("{before}{to}{}", rest.strip_prefix(from)?);
    Some(if is_windows { renamed.replace('\n', "\r\n") } else { renamed })
}

/// Returns the data with another name of a key, at the same position, and its value converted.
pub(super) fn renamed_data(
    data: &Value,
    section: &str,
    from: &str,
    to: &str,
    value: impl Fn(&Value) -> Value,
) -> Value {
    let mut renamed = data.clone();
    if let Some(keys) = renamed.get_mut(section).and_then(Value::as_object_mut) {
        let rename = |(key, old): (String, Value)| if key == from { (to.to_owned(), value(&old)) } else { (key, old) };
        *keys = std::mem::take(keys).into_iter().map(rename).collect();
    }
    renamed
}

/// Returns the former name under which a section has a setting, with its value; `None` under its present name.
pub(super) fn written_former<'a>(
    section: &'a Map<String, Value>,
    key: &'static SettingKey,
) -> Option<(FormerName, &'a Value)> {
    if section.contains_key(key.name) {
        return None;
    }
    key.former.iter().find_map(|former| Some((*former, section.get(former.name)?)))
}

/// Gives settings their present names in `theirs`, and in the data of `base`, if `ours` gave them those names since
/// `base`: so the same setting is merged as one. Returns the data of both by present names and in present units.
pub(super) fn follow_renames(
    sections: &SettingsSections,
    mut base: Value,
    ours: &Value,
    theirs: &mut SettingsText,
) -> (Value, Value) {
    let mut their_data = theirs.data.clone();
    for (section, key) in sections.0.iter().flat_map(|section| section.keys.iter().map(|key| (section.name, key))) {
        let section_of = |data: &Value| data.get(section).and_then(Value::as_object).cloned().unwrap_or_default();
        let our_section = section_of(ours);
        let Some(former) = written_former(&section_of(&base), key).map(|(former, _)| former) else { continue };
        if our_section.contains_key(former.name) || !our_section.contains_key(key.name) {
            continue;
        }
        base = renamed_data(&base, section, former.name, key.name, |value| former.present_value(value));
        if written_former(&section_of(&their_data), key).is_some_and(|(theirs, _)| theirs == former) {
            theirs.rename(section, former.name, key.name);
            their_data = renamed_data(&their_data, section, former.name, key.name, |value| former.present_value(value));
        }
    }
    (base, their_data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> String {
        let data = yaml::parse(text).expect("it is YAML");
        let mut settings = SettingsText { text: text.to_owned(), data };
        settings.rename("kernel", "turns_at_most", "max_turns");
        settings.text
    }

    #[test]
    fn a_setting_gets_its_present_name_at_its_place_and_nothing_else_changes() {
        for text in [
            "# a\nkernel: # b\n  turns_at_most: 3 # of them\n  depth_at_most: 2\nother: { turns_at_most: 1 }\n",
            "kernel: { depth_at_most: 2, turns_at_most: 3 }\n",
            "kernel:\n  \"turns_at_most\": 3\n",
            "kernel: { 'turns_at_most': 3 }",
            "kernel:\r\n  # turns_at_most: 4\r\n  turns_at_most: 3\r\n",
            "\u{feff}kernel:\n  turns_at_most: 3\n",
        ] {
            let at = text.rfind("turns_at_most: 3").or_else(|| text.rfind("turns_at_most")).expect("it is there");
            let expected = format!("{}max_turns{}", &text[..at], &text[at + "turns_at_most".len()..]);
            assert_eq!(renamed(text), expected);
        }
        for text in ["turns_at_most: 3\n", "kernel: 3\n", "kernel: { depth_at_most: 1 }\n"] {
            assert_eq!(renamed(text), text);
        }
    }
}
