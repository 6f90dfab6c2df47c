//! The names of settings: each says what it limits in the same words, every number has a range, and a file with the
//! former names gives exactly the same values.

use std::collections::BTreeMap;

use agent_workshop::app;
use agent_workshop::base::{Problem, Seq};
use agent_workshop::schedule::{InputJournal, advance};
use agent_workshop::workspace::settings::SectionDescription;
use agent_workshop::workspace::{Problems, RoomStart, SettingsSections, yaml};
use libtest_mimic::Trial;
use serde_json::{Map, Value};

use crate::cases;

/// Every setting with a value other than its default if it is a number, by its present name.
const PRESENT: &str = include_str!("settings_present_names.yaml");
/// The same settings with the same values, as the version before the present names wrote them.
const FORMER: &str = include_str!("settings_former_names.yaml");

/// Words for a limit, and units of bytes, that no name has.
const FORMER_WORDS: [&str; 8] = ["at_most", "at_least", "most", "least", "longest", "mb", "kib", "once"];

pub fn trials() -> Vec<Trial> {
    cases![
        a_file_with_every_former_name_gives_the_same_values,
        every_setting_is_in_both_files,
        every_number_has_a_range,
        numbers_out_of_their_range_are_refused,
        limits_are_called_max_and_min
    ]
}

/// The sections in effect in a room with these settings, and the problems.
fn room(settings: &str) -> (BTreeMap<&'static str, Value>, Vec<Problem>) {
    let files = [("settings.yaml", settings), ("scenes/a.yaml", "name: A\nseed: 1\n")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    let start = RoomStart { scene: "scenes/a.yaml".into(), files, ..RoomStart::default() };
    let mut app = app::begin(start, "r-test".into(), Seq(1)).expect("it can be opened");
    // As the replay of an empty recording, it sends nothing.
    app.world_mut().resource_mut::<InputJournal>().replay([]);
    advance(app.world_mut());
    let world = app.world();
    let problems = world.resource::<Problems>().iter().filter(|problem| problem.place == "settings.yaml");
    (world.resource::<SettingsSections>().in_effect(world).into_iter().collect(), problems.cloned().collect())
}

fn described() -> Vec<SectionDescription> {
    app::headless().world().resource::<SettingsSections>().described()
}

fn sections_of(text: &str) -> BTreeMap<String, Map<String, Value>> {
    let Ok(Value::Object(sections)) = yaml::parse(text) else { panic!("it is a mapping of sections") };
    sections.into_iter().map(|(name, keys)| (name, keys.as_object().cloned().unwrap_or_default())).collect()
}

fn a_file_with_every_former_name_gives_the_same_values() {
    let ((present, present_problems), (former, former_problems)) = (room(PRESENT), room(FORMER));
    assert_eq!((present_problems, former_problems), (Vec::new(), Vec::new()));
    for (section, values) in &present {
        assert_eq!(former.get(section), Some(values), "{section}");
    }
    // The values are those of the file.
    for (section, keys) in sections_of(PRESENT) {
        for (key, value) in keys {
            let found = &present[section.as_str()][&key];
            match (found.as_f64(), value.as_f64()) {
                (Some(found), Some(value)) => assert_eq!(found as f32, value as f32, "{section}.{key}"),
                _ => assert_eq!(*found, value, "{section}.{key}"),
            }
        }
    }
}

fn every_setting_is_in_both_files() {
    let (present, former) = (sections_of(PRESENT), sections_of(FORMER));
    for section in described() {
        let (present, former) = (&present[section.name], &former[section.name]);
        assert_eq!(present.len(), section.keys.len(), "{}", section.name);
        assert_eq!(former.len(), section.keys.len(), "{}", section.name);
        for key in section.keys {
            assert!(present.contains_key(key.name), "{}.{}", section.name, key.name);
            if let Some(number) = present[key.name].as_f64() {
                let default = section.defaults[key.name].as_f64();
                assert_ne!(Some(number), default, "{}.{}", section.name, key.name);
            }
            let first = key.former.first().map_or(key.name, |former| former.name);
            assert!(former.contains_key(first), "{}.{first}", section.name);
        }
    }
}

fn every_number_has_a_range() {
    let values = sections_of(PRESENT);
    for section in described() {
        for key in section.keys {
            let is_number = values[section.name][key.name].is_number();
            assert_eq!(key.range.is_some(), is_number, "{}.{}", section.name, key.name);
            assert!(key.range.is_none_or(|range| range.min < range.max), "{}.{}", section.name, key.name);
        }
    }
}

fn numbers_out_of_their_range_are_refused() {
    for is_above in [true, false] {
        let mut text = String::new();
        let mut expected = Vec::new();
        for section in described().iter().filter(|section| !section.keys.is_empty()) {
            text.push_str(&format!("{}:\n", section.name));
            for (key, range) in section.keys.iter().filter_map(|key| Some((key, key.range?))) {
                let value = if is_above { range.max + 1.0 } else { range.min - 1.0 };
                text.push_str(&format!("  {}: {value}\n", key.name));
                expected.push(format!("\"{}\" of \"{}\" cannot be used: ", key.name, section.name));
            }
        }
        let (_, problems) = room(&text);
        for expected in expected {
            let is_found = |problem: &Problem| problem.what.contains(&expected) && problem.what.contains("not between");
            assert!(problems.iter().any(is_found), "{expected}");
        }
    }
}

fn limits_are_called_max_and_min() {
    for section in described() {
        for key in section.keys {
            let words: Vec<&str> = key.name.split('_').collect();
            for former in FORMER_WORDS {
                let is_in = format!("_{}_", key.name).contains(&format!("_{former}_"));
                assert!(!is_in, "{}.{} says {former:?}", section.name, key.name);
            }
            let limits = words.iter().filter(|word| ["max", "min"].contains(word)).count();
            assert!(limits == 0 || ["max", "min"].contains(&words[0]), "{}.{}", section.name, key.name);
        }
    }
}
