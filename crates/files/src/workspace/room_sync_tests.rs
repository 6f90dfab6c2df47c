//! The workspace in a room: incoming changes, outgoing changes, and concurrent ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bevy::app::App;
use serde_json::{Map, Value, json};

use super::*;
use crate::log::events::FileChange;
use crate::log::{Event, EventRecord};
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{self, InputQueue, advance};
use crate::workspace::files::FileContent;
use crate::workspace::vfs::{FileService, FileServiceOptions};
use crate::workspace::{Problems, SaveReport, SceneEdit, SettingsExt, SettingsSection};

const SCENE: &str = "scenes/s.yaml";
const TEXT: &str = "# mine\nseed: 7\nelements:\n  - id: ideas\n    kind: pinboard\n    position: [0, 0]\n    pins:\n      - { id: p1, text: one }\nsettings: { most: 3 }\n";
const RULES: &str = "boards/rules.md";

settings! {
    /// How much agents talk.
    struct Banter {
        /// How many may talk.
        most: u32 = 1, in 0.0..=1_000_000.0;
        /// How long they pause.
        pause_secs: f32 = 2.0, in 0.0..=604_800.0;
    }
}

impl SettingsSection for Banter {
    const NAME: &'static str = "banter";
}

fn start(files: &[(&str, &str)]) -> RoomStart {
    let files: BTreeMap<_, _> = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    RoomStart { scene: SCENE.into(), files, ..RoomStart::default() }
}

fn app() -> App {
    let mut app = App::empty();
    schedule::plugin(&mut app);
    crate::workspace::plugin(&mut app);
    app.add_settings::<Banter>();
    app
}

fn room(files: &[(&str, &str)]) -> App {
    let mut app = app();
    begin(app.world_mut(), start(files));
    advance(app.world_mut());
    app
}

fn change(path: &str, text: &str) -> FileChanged {
    FileChanged::new(path, FileContent::Text(text.into()))
}

fn outside(app: &mut App, path: &str, text: &str) -> Vec<SceneEdit> {
    app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change(path, text));
    tick(app)
}

/// One tick. Returns the scene edits that it reported.
fn tick(app: &mut App) -> Vec<SceneEdit> {
    let mut cursor = app.world().resource::<Messages<SceneEdit>>().get_cursor_current();
    advance(app.world_mut());
    cursor.read(app.world().resource::<Messages<SceneEdit>>()).cloned().collect()
}

fn pins(ids: &[&str]) -> Map<String, Value> {
    let pins: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "text": id })).collect();
    [("pins".to_owned(), Value::Array(pins))].into_iter().collect()
}

fn pin(app: &mut App, ids: &[&str]) {
    app.world_mut().write_message(SceneWrite::Element { id: "ideas".into(), keys: pins(ids) });
}

fn pin_ids(app: &App) -> Vec<String> {
    let doc = &app.world().resource::<SceneState>().doc;
    let pins = doc.elements[0].keys["pins"].as_array().cloned().unwrap_or_default();
    pins.iter().map(|pin| pin["id"].as_str().unwrap_or("?").to_owned()).collect()
}

fn known(app: &App, path: &str) -> String {
    app.world().resource::<KnownFiles>().text(path).unwrap_or("").to_owned()
}

fn problems(app: &App) -> Vec<String> {
    app.world().resource::<Problems>().iter().map(ToString::to_string).collect()
}

fn events(app: &App) -> Vec<Event> {
    app.world().resource::<EventLog>().unwritten().iter().map(EventRecord::event).collect()
}

#[test]
fn a_fresh_room_gets_everything_once() {
    let mut app = app();
    begin(
        app.world_mut(),
        start(&[(SCENE, TEXT), ("settings.yaml", "banter: { pause_secs: 9 }\n"), ("agents/ada.md", "hi")]),
    );
    assert_eq!(app.world().resource::<RoomSeed>().0, 7);
    let messages = app.world().resource::<Messages<FileChanged>>();
    let paths: Vec<&str> = messages.iter_current_update_messages().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["agents/ada.md"]);
    assert_eq!(app.world().resource::<Messages<SceneEdit>>().len(), 1);
    advance(app.world_mut());
    assert_eq!(*app.world().resource::<Banter>(), Banter { most: 3, pause_secs: 9.0 });
    assert_eq!(events(&app), []);
    assert_eq!(problems(&app), Vec::<String>::new());
}

#[test]
fn an_external_edit_is_reported_as_its_changes() {
    let mut app = room(&[(SCENE, TEXT)]);
    let edits = outside(&mut app, SCENE, &TEXT.replace("one", "eins").replace("most: 3", "most: 4"));
    assert!(
        matches!(&edits[..], [SceneEdit::Element { now, before: Some(_), .. }] if now.keys["pins"][0]["text"] == "eins")
    );
    assert_eq!(app.world().resource::<Banter>().most, 4);
    assert_eq!(events(&app), [FileChange::new("scenes/s.yaml", "outside").into()]);
    let same = known(&app, SCENE);
    assert_eq!(outside(&mut app, SCENE, &same), []);
    assert_eq!(events(&app).len(), 1);
}

#[test]
fn a_broken_scene_keeps_the_last_good_one_and_the_rooms_changes() {
    let mut app = room(&[(SCENE, TEXT)]);
    assert_eq!(outside(&mut app, SCENE, "elements: [\n"), []);
    assert!(problems(&app)[0].contains("scenes/s.yaml:"), "{:?}", problems(&app));
    assert!(events(&app).iter().any(|event| matches!(event, Event::Error(_))));
    pin(&mut app, &["p1", "p2"]);
    tick(&mut app);
    assert_eq!(known(&app, SCENE), "elements: [\n");
    let edits = outside(&mut app, SCENE, &TEXT.replace("one", "eins"));
    assert_eq!(edits.len(), 1);
    assert_eq!(pin_ids(&app), ["p1", "p2"]);
    assert!(known(&app, SCENE).contains("# mine") && known(&app, SCENE).contains("p2"));
    assert_eq!(problems(&app), Vec::<String>::new());
}

#[test]
fn a_mistyped_key_keeps_the_last_good_scene_even_after_reopening() {
    let mut app = room(&[(SCENE, TEXT)]);
    let typo = TEXT.replace("elements:", "elementz:");
    assert_eq!(outside(&mut app, SCENE, &typo), [], "nothing leaves the room");
    let shown = problems(&app).join("\n");
    assert!(shown.contains("scenes/s.yaml:3: the scene has \"elementz\" where it had \"elements\""), "{shown}");
    pin(&mut app, &["p1", "meanwhile"]);
    tick(&mut app);
    assert_eq!(known(&app, SCENE), typo, "the person's text is left alone");
    let saved = save_world(app.world_mut()).expect("it can be saved");
    let files = app.world().resource::<KnownFiles>().all().clone();
    let mut app = self::app();
    load_world(app.world_mut(), &saved).expect("it can be loaded");
    begin(app.world_mut(), RoomStart { files, carried: Some(saved), ..start(&[]) });
    assert_eq!(tick(&mut app), []);
    assert_eq!(pin_ids(&app), ["p1", "meanwhile"]);
    assert!(problems(&app).join("\n").contains("elementz"), "it is still shown");
    outside(&mut app, SCENE, TEXT);
    assert_eq!(problems(&app), Vec::<String>::new());
    assert_eq!(pin_ids(&app), ["p1", "meanwhile"]);
    assert!(known(&app, SCENE).contains("meanwhile"));
}

#[test]
fn writes_change_the_known_text_and_preserve_the_rest() {
    let mut app = room(&[(SCENE, TEXT)]);
    pin(&mut app, &["p1", "p2"]);
    tick(&mut app);
    assert_eq!(known(&app, SCENE), TEXT.replace("one }\n", "p1 }\n      - { id: p2, text: p2 }\n"));
    assert_eq!(tick(&mut app), []);
    assert_eq!(events(&app), []);
}

#[test]
fn concurrent_changes_of_the_room_and_a_person_are_merged() {
    let mut app = room(&[(SCENE, TEXT), (RULES, "- a\n")]);
    pin(&mut app, &["p1", "ours"]);
    app.world_mut().write_message(SceneWrite::File { path: RULES.into(), text: "- a\n- ours\n".into() });
    tick(&mut app);
    // The person's editor had loaded the files before the room's change.
    let theirs = TEXT.replace(
        "      - { id: p1, text: one }\n",
        "      - { id: p1, text: one }\n      - { id: theirs, text: t } # t\n",
    );
    outside(&mut app, SCENE, &theirs);
    assert_eq!(pin_ids(&app), ["p1", "theirs", "ours"]);
    assert!(known(&app, SCENE).contains("# t\n"));
    outside(&mut app, RULES, "- theirs\n- a\n");
    let mut cursor = MessageCursor::<FileChanged>::default();
    let changes: Vec<FileChanged> = cursor.read(app.world().resource::<Messages<FileChanged>>()).cloned().collect();
    let mut expected = change(RULES, "- theirs\n- a\n");
    expected.base = Some("- a\n".into());
    expected.cause = changes.last().and_then(|change| change.cause);
    assert_eq!(changes.last(), Some(&expected), "whoever holds the file joins both");
    outside(&mut app, RULES, "- a\n");
    let again: Vec<FileChanged> = cursor.read(app.world().resource::<Messages<FileChanged>>()).cloned().collect();
    assert_eq!(
        again.last().expect("it should be reported").base,
        None,
        "an edit of what is on disk crosses with nothing"
    );
}

#[test]
fn a_person_can_remove_saved_content() {
    let mut app = room(&[(SCENE, TEXT)]);
    pin(&mut app, &["p1", "ours"]);
    tick(&mut app);
    let report = SaveReport { path: SCENE.into(), saved: Some(1), problem: None };
    app.world_mut().resource_mut::<InputQueue<SaveReport>>().push(report);
    let edits = outside(&mut app, SCENE, TEXT);
    assert_eq!(edits.len(), 1);
    assert_eq!(pin_ids(&app), ["p1"]);
}

#[test]
fn content_that_a_person_adds_and_removes_before_a_save_is_removed() {
    let mut app = room(&[(SCENE, TEXT)]);
    pin(&mut app, &["p1", "ours"]);
    tick(&mut app);
    let with_theirs = TEXT.replace("text: one }", "text: one }\n      - { id: theirs, text: theirs }");
    outside(&mut app, SCENE, &with_theirs);
    assert!(pin_ids(&app).contains(&"theirs".to_owned()), "{:?}", pin_ids(&app));
    outside(&mut app, SCENE, TEXT);
    assert_eq!(pin_ids(&app), ["p1", "ours"]);
}

#[test]
fn invalid_settings_are_reported_and_the_rest_applies() {
    let mut app = room(&[(SCENE, &TEXT.replace("{ most: 3 }", "{ mosst: 3, banter: { pause_secs: 5 } }"))]);
    outside(
        &mut app,
        "settings.yaml",
        "\u{feff}banter:\r\n  most: many\r\n  pause_secs: 4\r\n  puase_secs: 4\r\nbantr: 1\r\n",
    );
    assert_eq!(*app.world().resource::<Banter>(), Banter { most: 1, pause_secs: 5.0 });
    let found = problems(&app).join("\n");
    for expected in [
        "settings.yaml:2: \"most\" of \"banter\"",
        "settings.yaml:4: unknown setting \"puase_secs\"",
        "settings.yaml:5: unknown section",
        "did you mean \"banter\"?",
        "scenes/s.yaml:9: unknown section or setting \"mosst\" (did you mean \"most\"?)",
    ] {
        assert!(found.contains(expected), "{expected} in {found}");
    }
    outside(&mut app, "settings.yaml", "banter: [\n");
    assert!(problems(&app).join("\n").contains("until then the previous settings stay in use"));
    assert_eq!(app.world().resource::<Banter>().pause_secs, 5.0);
    let removed = FileChanged::new("settings.yaml", FileContent::Removed);
    app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(removed);
    tick(&mut app);
    assert!(!problems(&app).join("\n").contains("settings.yaml:"));
}

#[test]
fn numbers_out_of_range_are_refused_everywhere() {
    let mut app = room(&[(SCENE, TEXT), ("settings.yaml", "banter:\n  pause_secs: -50\n  most: 2\n")]);
    assert_eq!(*app.world().resource::<Banter>(), Banter { most: 3, pause_secs: 2.0 });
    let found = problems(&app).join("\n");
    assert!(
        found.contains("settings.yaml:2: \"pause_secs\" of \"banter\" cannot be used: -50 is not between 0"),
        "{found}"
    );
    outside(&mut app, SCENE, &TEXT.replace("most: 3", "pause_secs: .inf"));
    assert_eq!(app.world().resource::<Banter>().pause_secs, 2.0);
    let chosen = crate::workspace::SettingsEdit::set("banter", "pause_secs", json!(-1));
    app.world_mut().resource_mut::<InputQueue<crate::workspace::SettingsEdit>>().push(chosen);
    tick(&mut app);
    assert!(problems(&app).join("\n").contains("was not changed: -1 is not between"), "{:?}", problems(&app));
    assert!(!known(&app, "settings.yaml").contains("-1"));
}

#[test]
fn problems_are_logged_once_and_removed_when_fixed() {
    let mut app = room(&[(SCENE, TEXT)]);
    let unusable = FileContent::Unusable { what: "is not UTF-8".into(), remedy: "save it as UTF-8".into() };
    for _ in 0..2 {
        let change = FileChanged::new("agents/a.md", unusable.clone());
        app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change);
        tick(&mut app);
    }
    assert_eq!(events(&app).len(), 1);
    assert_eq!(problems(&app).len(), 1);
    outside(&mut app, "agents/a.md", "fine");
    assert_eq!(problems(&app), Vec::<String>::new());
    app.world_mut().write_message(SceneWrite::File { path: "../x.md".into(), text: "x".into() });
    tick(&mut app);
    tick(&mut app);
    assert!(problems(&app)[0].contains("not a valid place"));
}

#[test]
fn a_loaded_room_continues_like_the_saved_one() {
    let mut app = room(&[(SCENE, TEXT), (RULES, "- a\n")]);
    pin(&mut app, &["p1", "ours"]);
    app.world_mut().write_message(SceneWrite::File { path: RULES.into(), text: "- a\n- ours\n".into() });
    tick(&mut app);
    let saved = save_world(app.world_mut()).expect("it can be saved");
    let files = app.world().resource::<KnownFiles>().all().clone();
    let mut loaded = self::app();
    load_world(loaded.world_mut(), &saved).expect("it can be loaded");
    begin(loaded.world_mut(), RoomStart { files, carried: Some(saved), ..start(&[]) });
    assert_eq!(world_hash(app.world_mut()), world_hash(loaded.world_mut()));
    let theirs = TEXT.replace("one", "eins");
    for app in [&mut app, &mut loaded] {
        outside(app, SCENE, &theirs);
        outside(app, RULES, "- b\n- a\n");
        let mut cursor = MessageCursor::<FileChanged>::default();
        let last = cursor.read(app.world().resource::<Messages<FileChanged>>()).last().cloned();
        assert_eq!(last.expect("it should be reported").base.as_deref(), Some("- a\n"));
    }
    assert_eq!(known(&app, SCENE), known(&loaded, SCENE));
    assert_eq!(world_hash(app.world_mut()), world_hash(loaded.world_mut()));
}

#[test]
fn a_missing_scene_is_reported_with_the_existing_ones() {
    let app = room(&[("scenes/other.yaml", TEXT)]);
    assert!(problems(&app)[0].contains("use one of scenes/other.yaml"));
}

#[test]
fn a_conflict_on_disk_loses_nothing_with_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let root = folder.path().canonicalize().expect("it should exist");
    for path in ["scenes", "agents", "boards"] {
        fs::create_dir_all(root.join(path)).expect("folders can be made");
    }
    fs::write(root.join(SCENE), TEXT).expect("files can be written");
    let (files, _) = layout::read_folder(&root);
    let open = |files: &BTreeMap<String, String>, watch| {
        let options = FileServiceOptions { room: Some(files.clone()), watch, ..FileServiceOptions::new(&root) };
        FileBridge::new(FileService::open(options).expect("it can be opened"))
    };
    let mut app = app();
    begin(app.world_mut(), RoomStart { files: files.clone(), ..start(&[]) });
    app.insert_resource(open(&files, false));
    tick(&mut app);
    fs::write(root.join(SCENE), TEXT.replace("one }", "one }\n      - { id: theirs, text: t }"))
        .expect("files can be written");
    pin(&mut app, &["p1", "ours"]);
    tick(&mut app);
    assert_eq!(save_now(app.world_mut()).len(), 1, "what the person wrote is not written over");
    app.insert_resource(FileBridge::default());
    app.insert_resource(open(&files, true));
    let began = std::time::Instant::now();
    while !save_now(app.world_mut()).is_empty() || pin_ids(&app).len() < 3 {
        tick(&mut app);
        assert!(began.elapsed().as_secs() < 10, "the two edits were not joined");
    }
    assert_eq!(pin_ids(&app), ["p1", "theirs", "ours"]);
    let on_disk = fs::read_to_string(root.join(SCENE)).expect("it should exist");
    assert_eq!(on_disk, known(&app, SCENE));
    assert!(on_disk.starts_with("# mine\n"));
}

/// A room in a workspace that the person trusts, and in which nothing wants to be allowed anything.
fn trusting_room() -> App {
    let mut app = app();
    let trust = Some(WorkspaceTrust::Parts { parts: BTreeSet::new() });
    begin(app.world_mut(), RoomStart { trust, ..start(&[(SCENE, "name: S\n")]) });
    advance(app.world_mut());
    app
}

fn write_as_person(app: &mut App, path: &str, text: Option<&str>, from: Option<&str>) {
    let by = Author::user();
    let order = WrittenByOrder { by: &by, cause: None, restores: false, from };
    apply_written_file(app.world_mut(), path, text.map(str::to_owned), &order);
    tick(app);
}

fn trusted_parts(app: &App) -> usize {
    match app.world().resource::<WorkspaceTrust>() {
        WorkspaceTrust::Parts { parts } => parts.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_that_come_as_a_copy_wait_and_those_that_a_person_writes_count() {
    const WIDE: &str = "banter: { most: 9 }\n";
    let written =
        || FileChanged { is_ordered: true, is_seen: true, version: Some(1), ..change(layout::SETTINGS_FILE, WIDE) };
    for (what, change, expected) in [
        ("written in the program", written(), 9),
        ("edited elsewhere", change(layout::SETTINGS_FILE, WIDE), 1),
        ("imported", FileChanged { is_seen: false, is_copy: true, ..written() }, 1),
        ("moved to where it counts", FileChanged { from: Some("notes/s.yaml".into()), ..written() }, 1),
    ] {
        let mut app = trusting_room();
        app.world_mut().resource_mut::<InputQueue<FileChanged>>().push(change);
        tick(&mut app);
        assert_eq!(app.world().resource::<Banter>().most, expected, "{what}");
    }
    // A person's edit of what was pulled, and its undo.
    let mut app = trusting_room();
    outside(&mut app, layout::SETTINGS_FILE, WIDE);
    write_as_person(&mut app, layout::SETTINGS_FILE, Some("banter: {}\n"), None);
    write_as_person(&mut app, layout::SETTINGS_FILE, Some(WIDE), None);
    assert_eq!((app.world().resource::<Banter>().most, trusted_parts(&app)), (1, 0));
    write_as_person(&mut app, layout::SETTINGS_FILE, Some("banter: { most: 8 }\n"), None);
    assert_eq!((app.world().resource::<Banter>().most, trusted_parts(&app)), (8, 1));
}

#[test]
fn an_earlier_version_of_settings_waits_unless_it_was_trusted() {
    let mut app = trusting_room();
    let by = Author::user();
    let restore = |app: &mut App, text: &str| {
        let order = WrittenByOrder { by: &by, cause: None, restores: true, from: None };
        apply_written_file(app.world_mut(), layout::SETTINGS_FILE, Some(text.to_owned()), &order);
        tick(app);
        app.world().resource::<Banter>().most
    };
    assert_eq!(restore(&mut app, "banter: { most: 9 }\n"), 1);
    write_as_person(&mut app, layout::SETTINGS_FILE, Some("banter: { most: 8 }\n"), None);
    write_as_person(&mut app, layout::SETTINGS_FILE, Some("banter: {}\n"), None);
    assert_eq!(restore(&mut app, "banter: { most: 8 }\n"), 8, "the person wrote it");
}

#[test]
fn a_scene_under_another_name_is_trusted_as_far_as_it_was() {
    let scene = |most: u32| format!("name: B\nelements: []\nagents: []\nsettings: {{ most: {most} }}\n");
    let mut app = trusting_room();
    outside(&mut app, "scenes/b.yaml", &scene(7));
    assert_eq!(trusted_parts(&app), 0, "it was pulled");
    write_as_person(&mut app, "scenes/copy.yaml", Some(&format!("{}# mine\n", scene(7))), None);
    assert_eq!(trusted_parts(&app), 0, "it was saved under another name");
    write_as_person(&mut app, "scenes/b.yaml", None, None);
    write_as_person(&mut app, "scenes/c.yaml", Some(&scene(7)), Some("scenes/b.yaml"));
    assert_eq!(trusted_parts(&app), 0, "it was renamed");
    write_as_person(&mut app, "scenes/own.yaml", Some(&scene(6)), None);
    assert_eq!(trusted_parts(&app), 1, "the person wrote it");
    write_as_person(&mut app, "scenes/own.yaml", None, None);
    write_as_person(&mut app, "scenes/mine.yaml", Some(&scene(6)), Some("scenes/own.yaml"));
    assert_eq!(trusted_parts(&app), 2, "and renamed it");
}
