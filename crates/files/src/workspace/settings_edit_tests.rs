//! Changing settings from within the program: the text, the values in effect, rejected edits, and the disk.

use std::fs;

use bevy::app::App;
use proptest::prelude::*;

use super::*;
use crate::base::settings::DescribedSettings;
use crate::schedule::saved::world_hash;
use crate::schedule::{self, InputJournal, InputQueue, advance};
use crate::workspace::files::FileContent;
use crate::workspace::settings_choice::{self, Known, Source};
use crate::workspace::settings_former::former_names_in;
use crate::workspace::vfs::{FileBridge, FileService, FileServiceOptions};
use crate::workspace::{FileChanged, Problems, RoomStart, SettingsExt, SettingsSection, begin, save_now};
use serde_json::json;

const COMMENTED: &str = "# what this room may spend\nbanter: # talk\n  most: 3 # of them\n\nother: { a: 1 }\n";

settings! {
    /// How much agents talk.
    struct Banter {
        /// How many may talk.
        most: u32 = 1, in 0.0..=1_000_000.0, once "most_of_all";
        /// Its name.
        name: Option<String> = None;
        /// Its size.
        max_size_mib: f64 = 1.0, in 0.0..=1_000.0, once "size_kib" * 0.0009765625;
        /// Words for it.
        words: Vec<String> = Vec::new(), once "terms";
    }
}

impl SettingsSection for Banter {
    const NAME: &'static str = "banter";
}

fn room(settings: Option<&str>) -> App {
    room_of(settings, "seed: 1\n")
}

fn room_of(settings: Option<&str>, scene: &str) -> App {
    let mut app = App::empty();
    schedule::plugin(&mut app);
    crate::workspace::plugin(&mut app);
    app.add_settings::<Banter>();
    let mut files = std::collections::BTreeMap::from([("scenes/s.yaml".to_owned(), scene.to_owned())]);
    files.extend(settings.map(|text| (SETTINGS_FILE.to_owned(), text.to_owned())));
    let start = RoomStart { scene: "scenes/s.yaml".into(), files, ..RoomStart::default() };
    begin(app.world_mut(), start);
    advance(app.world_mut());
    app
}

fn choose(app: &mut App, section: &str, key: &str, value: Value) {
    app.world_mut().resource_mut::<InputQueue<SettingsEdit>>().push(SettingsEdit::set(section, key, value));
    advance(app.world_mut());
}

fn reset(app: &mut App, key: &str) {
    app.world_mut().resource_mut::<InputQueue<SettingsEdit>>().push(SettingsEdit::reset("banter", key));
    advance(app.world_mut());
}

fn add(app: &mut App, key: &str, value: Value) {
    app.world_mut().resource_mut::<InputQueue<SettingsEdit>>().push(SettingsEdit::add("banter", key, value));
    advance(app.world_mut());
}

fn text(app: &App) -> String {
    app.world().resource::<KnownFiles>().text(SETTINGS_FILE).unwrap_or("").to_owned()
}

fn problems(app: &App) -> Vec<String> {
    app.world().resource::<Problems>().iter().map(ToString::to_string).collect()
}

#[test]
fn a_setting_applies_at_once_and_comments_are_kept() {
    let mut app = room(Some(COMMENTED));
    choose(&mut app, "banter", "most", json!(7));
    choose(&mut app, "banter", "name", json!("tea: with \"milk\""));
    assert_eq!(
        *app.world().resource::<Banter>(),
        Banter { most: 7, name: Some("tea: with \"milk\"".into()), ..Banter::default() }
    );
    let wanted = COMMENTED.replace("most: 3 ", "most: 7 ");
    let written = text(&app);
    for line in wanted.lines() {
        assert!(written.contains(line), "{line:?} is not in {written:?}");
    }
    choose(&mut app, "banter", "name", Value::Null);
    assert!(text(&app).contains("name: null"), "none at all is said too: {}", text(&app));
    assert_eq!(app.world().resource::<Banter>().name, None);
    reset(&mut app, "name");
    assert_eq!(text(&app), wanted);
}

#[test]
fn empty_or_missing_files_get_their_first_section() {
    for settings in [None, Some(""), Some("# nothing yet\n")] {
        let mut app = room(settings);
        reset(&mut app, "name");
        assert_eq!(text(&app), settings.unwrap_or(""), "a default that holds is not written down");
        choose(&mut app, "banter", "most", json!(4));
        assert!(text(&app).starts_with(settings.unwrap_or("")) && text(&app).ends_with("banter:\n  most: 4\n"));
        assert_eq!(app.world().resource::<Banter>().most, 4);
    }
}

#[test]
fn a_failed_change_is_a_problem_and_changes_nothing() {
    let mut app = room(Some(COMMENTED));
    choose(&mut app, "banter", "mots", json!(7));
    assert!(problems(&app).iter().any(|problem| problem.contains("no setting \"mots\"")));
    choose(&mut app, "bantre", "most", json!(7));
    assert!(problems(&app).iter().any(|problem| problem.contains("no section \"bantre\"")));
    assert_eq!(text(&app), COMMENTED);
    let broken = "banter: [\n";
    let change = FileChanged::new(SETTINGS_FILE, FileContent::Text(broken.into()));
    app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change);
    choose(&mut app, "banter", "most", json!(7));
    assert_eq!(text(&app), broken, "a text that is not understood is not touched");
    assert!(problems(&app).iter().any(|problem| problem.contains("settings cannot be changed here")));
}

#[test]
fn a_setting_replays_to_the_same_world() {
    let mut live = room(Some(COMMENTED));
    choose(&mut live, "banter", "most", json!(7));
    let inputs = live.world_mut().resource_mut::<InputJournal>().take_recorded();
    let mut again = App::empty();
    schedule::plugin(&mut again);
    crate::workspace::plugin(&mut again);
    again.add_settings::<Banter>();
    let files =
        [("scenes/s.yaml".to_owned(), "seed: 1\n".to_owned()), (SETTINGS_FILE.to_owned(), COMMENTED.to_owned())].into();
    let start = RoomStart { scene: "scenes/s.yaml".into(), files, ..RoomStart::default() };
    begin(again.world_mut(), start);
    again.world_mut().resource_mut::<InputJournal>().replay(inputs);
    advance(again.world_mut());
    advance(again.world_mut());
    assert_eq!(world_hash(live.world_mut()), world_hash(again.world_mut()));
    assert_eq!(text(&live), text(&again));
}

#[test]
fn a_setting_is_saved_and_our_own_write_is_not_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join(SETTINGS_FILE), COMMENTED).expect("files can be written");
    let mut app = room(Some(COMMENTED));
    let room = Some([(SETTINGS_FILE.to_owned(), COMMENTED.to_owned())].into());
    let service = FileService::open(FileServiceOptions { room, ..FileServiceOptions::new(folder.path()) });
    app.insert_resource(FileBridge::new(service.expect("it can be opened")));
    choose(&mut app, "banter", "most", json!(7));
    assert_eq!(save_now(app.world_mut()), []);
    let written = fs::read_to_string(folder.path().join(SETTINGS_FILE)).expect("it should exist");
    assert_eq!(written, COMMENTED.replace("most: 3 ", "most: 7 "));
    advance(app.world_mut());
    assert_eq!(app.world().resource::<Banter>().most, 7);
    assert_eq!(problems(&app).iter().filter(|problem| !problem.contains("other")).count(), 0);
}

#[test]
fn concurrent_edits_of_settings_are_merged_by_key() {
    let outside = |app: &mut App, text: &str| {
        let change = FileChanged::new(SETTINGS_FILE, FileContent::Text(text.to_owned()));
        app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change);
        advance(app.world_mut());
    };
    let mut app = room(Some(COMMENTED));
    choose(&mut app, "banter", "name", json!("tea"));
    outside(&mut app, &COMMENTED.replace("most: 3 ", "most: 5 "));
    assert_eq!(*app.world().resource::<Banter>(), Banter { most: 5, name: Some("tea".into()), ..Banter::default() });
    assert!(text(&app).contains("most: 5 # of them\n"), "{}", text(&app));
    // If both changed a value, the one in the file is kept, and the key exists once.
    choose(&mut app, "banter", "most", json!(7));
    outside(&mut app, &COMMENTED.replace("most: 3 ", "most: 9 "));
    assert_eq!(app.world().resource::<Banter>().most, 9);
    assert_eq!(text(&app).matches("most:").count(), 1, "{}", text(&app));
    // If one of them cannot be read, no line of either is lost.
    choose(&mut app, "banter", "most", json!(2));
    outside(&mut app, "banter: [\n");
    assert!(text(&app).contains("banter: [\n") && text(&app).contains("most: 2 "), "{}", text(&app));
}

#[test]
fn additions_are_merged_with_existing_values_without_duplicates() {
    let old = json!({ "gate": { "allow": { "lead": ["a"] } } });
    let add = |old: &Value, value| with(old, &SettingsEdit::add("gate", "allow", value));
    let new = add(&old, json!({ "lead": ["a", "b"], "ada": ["c"] }));
    assert_eq!(new, json!({ "gate": { "allow": { "lead": ["a", "b"], "ada": ["c"] } } }));
    assert_eq!(add(&new, json!({ "lead": ["b"] })), new, "nothing is said twice");
    assert_eq!(add(&Value::Null, json!({ "lead": ["a"] })), old, "where there is no file yet, too");
    let odd = json!({ "gate": { "allow": "yes" } });
    assert_eq!(add(&odd, json!({ "lead": ["a"] })), odd, "what a person wrote in another shape stays");
}

const FORMER: &str = "# mine\nbanter:\n  most_of_all: 3 # of them\n  size_kib: 512\n  terms: [tea] # and more\n";

#[test]
fn a_former_name_is_read_as_the_present_one() {
    let app = room(Some(FORMER));
    let expected = Banter { most: 3, name: None, max_size_mib: 0.5, words: vec!["tea".into()] };
    assert_eq!(*app.world().resource::<Banter>(), expected);
    assert_eq!(problems(&app), [] as [String; 0]);
    assert_eq!(text(&app), FORMER, "nothing renames it");
}

#[test]
fn a_former_name_is_replaced_at_its_place_when_its_value_is_changed_and_only_then() {
    let mut app = room(Some(FORMER));
    choose(&mut app, "banter", "most", json!(3));
    choose(&mut app, "banter", "max_size_mib", json!(0.5));
    choose(&mut app, "banter", "most", json!(3.0));
    add(&mut app, "words", json!(["tea"]));
    assert_eq!(text(&app), FORMER, "these are the values that it has");
    choose(&mut app, "banter", "most", json!(7));
    let expected = FORMER.replace("most_of_all: 3", "most: 7");
    assert_eq!(text(&app), expected);
    choose(&mut app, "banter", "max_size_mib", json!(2));
    let expected = expected.replace("size_kib: 512", "max_size_mib: 2");
    assert_eq!(text(&app), expected);
    add(&mut app, "words", json!(["tea", "milk"]));
    let expected = expected.replace("terms: [tea]", "words: [tea, milk]");
    assert_eq!(text(&app), expected);
    let banter = app.world().resource::<Banter>();
    assert_eq!((banter.most, banter.max_size_mib, banter.words.join(" ")), (7, 2.0, "tea milk".to_owned()));
}

#[test]
fn a_setting_under_a_former_name_is_reset_and_changed_in_any_style() {
    for (before, after) in [
        ("banter: { most_of_all: 3, name: tea }\n", "banter: { most: 7, name: tea }\n"),
        ("banter:\r\n  most_of_all: 3\r\n  name: tea\r\n", "banter:\r\n  most: 7\r\n  name: tea\r\n"),
        ("banter:\n  \"most_of_all\": 3\n  name: tea\n", "banter:\n  \"most\": 7\n  name: tea\n"),
        ("banter:\n  most_of_all: 3\n", "banter:\n  most: 7\n"),
        // The present name counts and is changed; the other one is the person's.
        ("banter:\n  most_of_all: 3\n  most: 4\n", "banter:\n  most_of_all: 3\n  most: 7\n"),
    ] {
        let mut app = room(Some(before));
        choose(&mut app, "banter", "most", json!(7));
        assert_eq!(text(&app), after);
        assert_eq!(app.world().resource::<Banter>().most, 7);
        let mut app = room(Some(before));
        reset(&mut app, "most");
        assert!(!text(&app).contains("most"), "{}", text(&app));
        assert_eq!(app.world().resource::<Banter>().most, 1);
    }
}

#[test]
fn of_a_former_and_a_present_name_the_present_one_counts_and_the_other_is_reported() {
    for text in ["banter:\n  most: 4\n  most_of_all: 3\n", "banter:\n  most_of_all: 3\n  most: 4\n"] {
        let app = room(Some(text));
        assert_eq!(app.world().resource::<Banter>().most, 4);
        let line = if text.starts_with("banter:\n  most: ") { 3 } else { 2 };
        let expected = format!("settings.yaml:{line}: \"most_of_all\" of \"banter\" has no effect");
        let found = problems(&app);
        assert!(found.len() == 1 && found[0].contains(&expected), "{found:?}");
    }
}

#[test]
fn a_value_or_name_that_is_wrong_is_reported_by_the_name_in_the_file() {
    let found = |text: &str| problems(&room(Some(text))).join("\n");
    let range = found("banter:\n  size_kib: 9000000\n");
    assert!(range.contains("settings.yaml:2: \"size_kib\" of \"banter\" cannot be used"), "{range}");
    let typo = found("banter:\n  most_of_al: 3\n");
    assert!(typo.contains("unknown setting \"most_of_al\"") && typo.contains("did you mean \"most\"?"), "{typo}");
    let mut app = room(None);
    choose(&mut app, "banter", "most_of_all", json!(9));
    assert_eq!(text(&app), "banter:\n  most: 9\n", "an edit that an earlier version recorded");
}

#[test]
fn a_scene_may_use_former_names_with_or_without_their_section() {
    for settings in ["settings: { banter: { most_of_all: 6 } }\n", "settings: { most_of_all: 6 }\n"] {
        let app = room_of(Some("banter: { most: 2 }\n"), &format!("seed: 1\n{settings}"));
        assert_eq!(app.world().resource::<Banter>().most, 6);
        let sections = app.world().resource::<SettingsSections>();
        let scene = app.world().resource::<crate::workspace::SceneState>();
        assert_eq!(sections.names_in_scene(&scene.doc.settings), ["banter.most"]);
        let found = former_names_in(app.world().resource::<KnownFiles>().all(), sections);
        let [found] = found.as_slice() else { panic!("one former name: {found:?}") };
        assert_eq!((found.place.as_str(), found.line), ("scenes/s.yaml", Some(2)));
        assert_eq!((found.section, found.former, found.present), ("banter", "most_of_all", "most"));
    }
}

#[test]
fn a_former_name_that_both_sides_have_is_merged_as_one_setting() {
    let outside = |app: &mut App, text: &str| {
        let change = FileChanged::new(SETTINGS_FILE, FileContent::Text(text.to_owned()));
        app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change);
        advance(app.world_mut());
    };
    let mut app = room(Some(FORMER));
    choose(&mut app, "banter", "most", json!(7));
    let theirs = FORMER.replace("size_kib: 512", "size_kib: 1024");
    outside(&mut app, &theirs);
    assert_eq!(text(&app), theirs.replace("most_of_all: 3", "most: 7"));
    let banter = app.world().resource::<Banter>();
    assert_eq!((banter.most, banter.max_size_mib), (7, 1.0));
}

/// The values of the section that a text gives, by present names.
fn values(text: &str) -> Map<String, Value> {
    let Ok(Value::Object(found)) = yaml::parse(text) else { panic!("it is a mapping: {text:?}") };
    let known = [Known { name: "banter", keys: Banter::KEYS }];
    let mut choice = settings_choice::choose(&known, &found, &Source { place: "", text, path: &[] }, false);
    assert_eq!(choice.problems, []);
    choice.chosen.remove("banter").unwrap_or_default()
}

/// The text after one edit.
fn edited(text: &str, edit: &SettingsEdit) -> String {
    let data = yaml::parse(text).expect("it is YAML");
    let (written, new) = changed(SettingsText { text: text.to_owned(), data: data.clone() }, edit, Banter::KEYS);
    if new == data { text.to_owned() } else { scene_patch::patch(&written.text, &written.data, &new) }
}

proptest! {
    #[test]
    fn edits_give_the_chosen_values_and_leave_every_line_that_they_do_not_change(
        most in prop::option::of((0..9_u64, prop::bool::ANY)),
        size in prop::option::of((1..9_u64, prop::bool::ANY)),
        edits in prop::collection::vec((0..3_usize, 0..9_u64), 0..6),
    ) {
        let mut text = "banter: # talk\n  name: tea # kept\n".to_owned();
        let line_of_most = most.map(|(most, is_former)| {
            format!("  {}: {most} # of them\n", if is_former { "most_of_all" } else { "most" })
        });
        let line_of_size = size.map(|(mib, is_former)| match is_former {
            true => format!("  size_kib: {} # in all\n", mib * 1024),
            false => format!("  max_size_mib: {mib} # in all\n"),
        });
        text.extend(line_of_most.iter().chain(&line_of_size).map(String::as_str));
        let (mut most, mut size) = (most.map(|(most, _)| most), size.map(|(mib, _)| mib));
        let (is_most_same, is_size_same) = (
            edits.iter().all(|(which, value)| *which == 1 || (*which == 0 && most == Some(*value))),
            edits.iter().all(|(which, value)| *which != 1 || size == Some(*value)),
        );
        for (which, value) in edits {
            let edit = match which {
                0 => SettingsEdit::set("banter", "most", json!(value)),
                1 => SettingsEdit::set("banter", "max_size_mib", json!(value)),
                _ => SettingsEdit::reset("banter", "most"),
            };
            match which {
                0 => most = Some(value),
                1 => size = Some(value),
                _ => most = None,
            }
            text = edited(&text, &edit);
            let values = values(&text);
            prop_assert_eq!(values.get("most").and_then(Value::as_u64), most);
            let mib = values.get("max_size_mib").and_then(Value::as_f64);
            prop_assert_eq!(mib, size.map(|mib| mib as f64));
            prop_assert!(text.matches("most").count() <= 1 && text.matches("size").count() <= 1, "{}", text);
        }
        prop_assert!(text.starts_with("banter: # talk\n  name: tea # kept\n"), "{}", text);
        for (line, is_same) in [(line_of_most, is_most_same), (line_of_size, is_size_same)] {
            prop_assert!(!is_same || line.is_none_or(|line| text.contains(&line)), "{}", text);
        }
    }
}
