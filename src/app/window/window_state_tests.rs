//! Saving and loading the window's state: invalid files, files written by others, and what stays unchanged.

use std::fs;

use super::*;
use crate::ui::panes::explorer;
use crate::ui::shell::parts::WindowParts;
use crate::ui::state::ThemeChoice;
use crate::ui::state::dock::Tab;
use crate::view::dates::DateLanguage;

struct Place {
    config: tempfile::TempDir,
    workspace: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder can be made");
        Self { config: folder(), workspace: folder() }
    }

    fn open(&self) -> (WindowStateFile, SavedWindowState, Vec<Problem>) {
        WindowStateFile::open(self.config.path(), self.workspace.path())
    }

    /// Writes the workspace's file, as a person would.
    fn put(&self, text: &str) -> PathBuf {
        let path = self.open().0.path;
        fs::create_dir_all(path.parent().unwrap()).expect("folders can be made");
        fs::write(&path, text).expect("files can be written");
        path
    }
}

fn some_dock() -> Dock {
    let mut dock = Dock::default();
    dock.show(&Tab::file("notes/plan.md"), |_| false);
    dock.toggle(&Tab::LOG);
    dock
}

fn some_panes() -> SavedPanes {
    let remembered = explorer::Remembered { is_bin_open: true, ..Default::default() };
    SavedPanes([("files", json!(remembered).into())].into())
}

fn some() -> SavedWindowState {
    let view = |x: f32, zoom: f32| View { middle: [x, -20.5], zoom };
    SavedWindowState {
        window: Some((1500, 900)),
        look: AppearancePreferences {
            light: ThemeChoice::Evening,
            text_size: 1.3,
            calm: true,
            dates: DateLanguage::German,
        },
        dock: some_dock(),
        panes: some_panes(),
        tasks: vec!["Plan a party".into()],
        overlay: true,
        story_folded: true,
        hint_closed: true,
        views: vec![("zoo: at night".into(), view(10.0, 0.5)), ("a".into(), view(300.0, 2.25))],
    }
}

#[test]
fn saved_state_is_restored() {
    let place = Place::new();
    let (mut file, first, problems) = place.open();
    assert_eq!((first, problems), (SavedWindowState::default(), Vec::new()));
    file.write(&some()).expect("it can be written");
    let (_, again, problems) = place.open();
    assert_eq!((again, problems), (some(), Vec::new()));
    let text = fs::read_to_string(&file.path).expect("it should exist");
    assert!(text.starts_with(HEADER) && text.contains("light: evening"), "{text}");
    // Without changes, nothing is written.
    let written = fs::metadata(&file.path).unwrap().modified().unwrap();
    file.write(&some()).expect("it can be written");
    assert_eq!(fs::metadata(&file.path).unwrap().modified().unwrap(), written);
}

#[test]
fn each_workspace_has_its_own_state_file_and_starts_with_the_person_s_look() {
    let (one, other) = (Place::new(), Place::new());
    let (mut file, ..) = one.open();
    file.write(&some()).expect("it can be written");
    let (other_file, remembered, _) = WindowStateFile::open(one.config.path(), other.workspace.path());
    assert_ne!(file.path, other_file.path);
    let expected = SavedWindowState { look: some().look, hint_closed: true, ..SavedWindowState::default() };
    assert_eq!(remembered, expected, "the first steps are for the first workspace");
}

#[test]
fn a_broken_file_is_reported_and_set_aside() {
    for broken in ["look: [\n", "- a list\n", "workspace: /somewhere/else\nhint_closed: true\n"] {
        let place = Place::new();
        let path = place.put(broken);
        let (mut file, remembered, problems) = place.open();
        assert_eq!(remembered, SavedWindowState::default(), "{broken}");
        assert_eq!(problems.len(), 1, "{broken}");
        file.write(&some()).expect("it can be written");
        assert_eq!(fs::read_to_string(path.with_extension("yaml.unusable")).expect("it was kept"), broken);
        assert_eq!(place.open().1, some());
    }
    let place = Place::new();
    let path = place.put("");
    fs::write(&path, [0xff, 0xfe, 0x00]).expect("files can be written");
    assert_eq!(place.open().2.len(), 1, "no text at all");
    fs::write(&path, vec![b'#'; 300 * 1024]).expect("files can be written");
    assert!(place.open().2[0].what.contains("too large"));
}

#[test]
fn invalid_values_are_replaced_by_defaults_and_others_kept() {
    let place = Place::new();
    place.put(
        "window: wide\nlook: { text_size: 40 }\npanes: { tree: 7 }\ndebug_overlay: 7\nhint_closed: true\nscenes:\n  a: { middle: [1, .nan], zoom: 1 }\n  b: { middle: [1, 2], zoom: 99 }\n  c: 4\n",
    );
    let (_, remembered, problems) = place.open();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].what.contains("window, panes, debug_overlay"), "{}", problems[0].what);
    assert_eq!((remembered.window, remembered.look.text_size, remembered.hint_closed), (None, 2.0, true));
    assert_eq!(remembered.dock, Dock::default());
    assert_eq!(remembered.views, [("b".into(), View { middle: [1.0, 2.0], zoom: 3.0 })]);
}

#[test]
fn unknown_keys_and_comments_are_kept() {
    let place = Place::new();
    let path = place.put("# mine\nhint_closed: false # not yet\nfrom_the_future: { a: [1, 2] }\n");
    let (mut file, remembered, problems) = place.open();
    assert_eq!((remembered, problems), (SavedWindowState::default(), Vec::new()));
    file.write(&some()).expect("it can be written");
    let text = fs::read_to_string(path).expect("it should exist");
    for kept in ["# mine\n", "hint_closed: true # not yet\n", "from_the_future: { a: [1, 2] }\n"] {
        assert!(text.contains(kept), "{kept:?} is not in {text}");
    }
    assert_eq!(place.open().1, some());
}

#[test]
fn an_unwritable_folder_is_reported() {
    let place = Place::new();
    fs::write(place.config.path().join(FOLDER), "a file where a folder should be").expect("files can be written");
    let (mut file, ..) = place.open();
    let problem = file.write(&some()).expect_err("there is no folder");
    assert!(problem.what.contains("state cannot be saved") && !problem.remedy.is_empty());
}

#[test]
fn the_window_and_the_view_of_each_scene_are_restored() {
    let mut state = UiState::default();
    some().restore(&mut state, &mut WindowParts::default());
    assert!(state.view.debug_overlay && state.view.is_story_folded && state.notices.is_hint_closed);
    assert_eq!((state.appearance.look, &state.dock), (some().look, &some().dock));
    some().restore_view("elsewhere", &mut state);
    assert!(!state.view.is_framed, "a scene that was never seen is framed as usual");
    some().restore_view("a", &mut state);
    assert_eq!(
        (state.view.camera.middle, state.view.camera.zoom, state.view.is_framed),
        (Vec2::new(300.0, -20.5), 2.25, true)
    );
    let mut remembered = some();
    state.view.camera.zoom = 1.0;
    remembered.note("zoo: at night", None, &state, &WindowParts::default());
    assert_eq!(remembered.window, Some((1500, 900)));
    let scenes: Vec<&str> = remembered.views.iter().map(|(scene, _)| scene.as_str()).collect();
    assert_eq!(scenes, ["a", "zoo: at night"], "the one seen last stands last");
    for number in 0..500 {
        remembered.note(&format!("s{number}"), None, &state, &WindowParts::default());
    }
    assert_eq!(remembered.views.len(), SCENES_KEPT);
}

/// The files of a window that older versions saved: with the standard panes moved, open files, and an added pane.
const SAVED_BY_AN_OLDER_VERSION: &str = include_str!("window_state_fixture.yaml");

#[test]
fn the_layout_of_an_older_version_opens_as_it_was_and_is_saved_again() {
    let place = Place::new();
    let path = place.put(SAVED_BY_AN_OLDER_VERSION);
    for _ in 0..2 {
        let (mut file, remembered, problems) = place.open();
        assert_eq!(problems, []);
        let dock = &remembered.dock;
        assert_eq!(dock.files(), ["notes/plan.md", "agents/ada.md"]);
        assert!(dock.is_in_front(&Tab::file("notes/plan.md")) && !dock.is_in_front(&Tab::ROOM));
        assert!(dock.is_shown(&Tab::named("knowledge")) && dock.is_shown(&Tab::LOG));
        assert!(!dock.is_shown(&Tab::TALKS) && !dock.is_shown(&Tab::SHELF), "they were closed");
        assert_eq!(dock.alone, Tab::named("knowledge"));
        let mut parts = WindowParts::default();
        remembered.restore(&mut UiState::default(), &mut parts);
        let explorer = parts.panes.get::<explorer::Explorer>().expect("every window has it");
        assert_eq!(explorer.remembered.folded, ["sessions".to_owned()].into());
        assert_eq!(explorer.remembered.seen.as_ref().map(|seen| seen["settings.yaml"]), Some(4));
        // What this version saves is read in the same way.
        file.write(&SavedWindowState { overlay: true, ..remembered }).expect("it can be written");
        assert!(fs::read_to_string(&path).expect("it should exist").contains("debug_overlay: true"));
    }
}

#[test]
fn what_a_pane_saves_is_noted_once_it_changes_and_an_invalid_value_is_reported() {
    let (mut remembered, state, mut parts) = (SavedWindowState::default(), UiState::default(), WindowParts::default());
    remembered.note("", None, &state, &parts);
    assert_eq!(remembered.panes, SavedPanes::default(), "nothing was changed yet");
    let first = remembered.panes.0["files"].value.clone();
    remembered.note("", None, &state, &parts);
    assert!(Arc::ptr_eq(&first, &remembered.panes.0["files"].value), "it is not computed again");
    parts.panes.get_mut::<explorer::Explorer>().expect("every window has it").remembered.is_bin_open = true;
    remembered.note("", None, &state, &parts);
    assert_eq!(remembered.panes.0["files"].value["is_bin_open"], json!(true));
    let place = Place::new();
    place.put("files: { folded: 7 }\nhint_closed: true\n");
    let (_, remembered, problems) = place.open();
    assert!(problems.len() == 1 && problems[0].what.starts_with("files is invalid"), "{problems:?}");
    assert_eq!((remembered.panes, remembered.hint_closed), (SavedPanes::default(), true));
}
