//! The real window, used like a person would: opened in an empty folder, filled, edited, closed and opened again.
//! Screenshots of every step are saved in the target folder's `tmp/window`, and side by side as `film.png`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use bevy::math::Vec2;
use egui::{Context, Pos2, RawInput, Rect, vec2};
use libtest_mimic::Trial;

use crate::screen::{Display, missing, until};
use crate::whole_window::{widget_name, widget_rect};

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let ignored = match missing().filter(|_| !required) {
        Some(missing) => {
            eprintln!("the test of the real window is ignored: missing {missing}");
            true
        }
        None => false,
    };
    let case = || {
        a_newcomers_first_half_hour();
        Ok(())
    };
    vec![Trial::test("window::a_newcomers_first_half_hour", case).with_ignored_flag(ignored)]
}

pub const SIZE: (u32, u32) = (1280, 800);

/// The positions of widgets in the window, from the same window without a display.
struct Layout {
    widgets: BTreeMap<String, Rect>,
    screen: Screen,
}

impl Layout {
    /// Computes the layout after `change`, with a copy of the workspace, so that the one in use is not touched.
    fn of(workspace: &Path, change: impl FnOnce(&mut Screen)) -> Self {
        let copy = tempfile::tempdir().unwrap();
        copy_workspace(workspace, copy.path());
        let options = OpenOptions { folder: copy.path().to_owned(), ..OpenOptions::trusted() };
        let mut room = OpenRoom::open(options).unwrap();
        let mut screen = Screen::new(Some(false));
        room.run_ticks(2);
        change(&mut screen);
        let context = Context::default();
        context.enable_accesskit();
        let mut widgets = BTreeMap::new();
        for frame in 0..6 {
            let size = vec2(SIZE.0 as f32, SIZE.1 as f32);
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
                time: Some(f64::from(frame) / 30.0),
                ..RawInput::default()
            };
            let mut output = screen.frame(&context, &mut room, input);
            output.textures_delta.clear();
            let update = output.platform_output.accesskit_update.expect("AccessKit is enabled");
            widgets =
                update.nodes.iter().filter_map(|(_, node)| Some((widget_name(node)?, widget_rect(node)?))).collect();
        }
        room.close("planned");
        Self { widgets, screen }
    }

    /// Returns the center of the widget with this name.
    fn middle(&self, name: &str) -> (f32, f32) {
        let found = self.widgets.get(name);
        let rect = found.unwrap_or_else(|| panic!("there is no widget {name:?}: {:#?}", self.widgets.keys()));
        (rect.center().x, rect.center().y)
    }

    /// Converts a position in the room to one on the display.
    fn point(&self, widget_rect: Vec2) -> (f32, f32) {
        let point = self.screen.state.view.camera.to_screen(widget_rect);
        (point.x, point.y)
    }
}

pub fn copy_workspace(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() && name != ".workshop" {
            std::fs::create_dir_all(to.join(&name)).unwrap();
            copy_workspace(&path, &to.join(&name));
        } else if path.is_file() {
            std::fs::copy(&path, to.join(&name)).unwrap();
        }
    }
}

/// The running program with its window on a display.
pub struct Running {
    child: Child,
}

impl Running {
    pub fn start(display: &Display, folder: &Path) -> Self {
        let mut command = display.command(env!("CARGO_BIN_EXE_workshop"));
        command.current_dir(folder).args(["--light", "--size", "1280x800"]).env("WORKSHOP_TRUST", "1");
        let child = command.stderr(std::fs::File::create(display.folder.join("stderr.log")).unwrap()).spawn().unwrap();
        let running = Self { child };
        display.focus("Agent Workshop");
        until("the first frame", || display.is_lit_in_the_middle());
        running
    }

    /// Waits until the program has ended by itself.
    pub fn end(mut self) {
        until("the program to end", || self.child.try_wait().unwrap().is_some());
        assert!(self.child.wait().unwrap().success(), "the program failed");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn contains(file: &Path, text: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|content| content.contains(text))
}

/// Returns the events of a workspace as JSON lines.
pub fn log(workspace: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workshop"));
    let done = command.arg("export").arg(workspace).args(["--events", "-"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn a_newcomers_first_half_hour() {
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window");
    let display = Display::start(SIZE, &pictures);
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("my-workshop");
    let scene = workspace.join("scenes/studio.yaml");

    let running = Running::start(&display, folder.path());
    until("the starter kit", || scene.exists());
    let layout = Layout::of(&workspace, |_| ());
    display.picture("1-opened");
    display.click(layout.middle("Got it"));

    // An agent is dragged from the shelf onto the boards, and is placed above them.
    display.drag(layout.middle("Add Cleo"), layout.point(Vec2::new(-60.0, 0.0)));
    display.picture("2-dropped");
    until("Cleo in the scene", || contains(&scene, "profile: editor"));

    // While minimized, the room continues; restored, it is visible again.
    display.minimise("Agent Workshop");
    until("an empty display", || !display.shows_something("3-put-away"));
    let events = || log(&workspace).lines().count();
    let before = events();
    until("the room to continue while minimized", || events() > before);
    assert!(!display.shows_something("3-put-away"));
    display.focus("Agent Workshop");
    until("the window to be visible again", || display.shows_something("3-back"));

    // The rules are changed, and an agent in the room walks over to read them.
    display.double_click(layout.point(Vec2::new(0.0, 60.0)));
    let overlay = Layout::of(&workspace, |screen| {
        screen.state.notices.is_hint_closed = true;
        screen.state.front.open_element("rules".into());
    });
    display.click(overlay.middle("Text"));
    display.keys("ctrl+End");
    display.types("- Sweep the floor on Fridays.");
    display.picture("3-rulebook");
    display.click(overlay.middle("Save"));
    until("the new rule in the scene", || contains(&scene, "Sweep the floor on Fridays"));
    display.keys("Escape");
    display.keys("3");
    display.keys("F3");
    until("an agent to read the new rule", || {
        log(&workspace).lines().any(|event| event.contains("\"type\":\"read\"") && event.contains("\"rules\""))
    });
    display.picture("4-overlay");

    // Agents that have read the rules meet and talk.
    display.keys("F3");
    let talks = || log(&workspace).lines().filter(|event| event.contains("\"type\":\"message\"")).count();
    let before = talks();
    until("a message between two agents", || talks() > before);
    display.keys("1");
    display.picture("4-talk");

    // The change is undone and redone.
    display.keys("ctrl+z");
    display.picture("4-undone");
    until("the rule to be removed", || !contains(&scene, "Sweep the floor on Fridays"));
    display.keys("ctrl+shift+z");
    until("the rule to be back", || contains(&scene, "Sweep the floor on Fridays"));

    // An agent gets a task and starts others, which write. If no agent is selected, the planner gets the task.
    display.keys("Escape");
    display.click(layout.middle("Task to run"));
    display.types("Plan a launch party");
    display.keys("Return");
    display.keys("3");
    let artifacts = workspace.join("artifacts");
    until("an artifact to be written", || std::fs::read_dir(&artifacts).is_ok_and(|files| files.count() > 0));
    display.picture("5-work");
    until("all work to end", || {
        let (begun, over) = log(&workspace).lines().fold((0, 0), |(begun, over), event| {
            let is = |kind: &str| usize::from(event.contains(&format!("\"type\":\"{kind}\"")));
            (begun + is("activation"), over + is("complete") + is("error") + is("abort"))
        });
        begun > 2 && over >= begun
    });
    display.keys("1");
    display.keys("space");
    display.keys("t");
    display.picture("5-paused");
    display.keys("ctrl+q");
    running.end();

    // After a restart, everything is as it was left.
    let again = Running::start(&display, folder.path());
    display.picture("6-opened-again");
    assert!(contains(&scene, "profile: editor") && contains(&scene, "Sweep the floor on Fridays"));
    display.keys("ctrl+q");
    again.end();
    let film = ["1-opened", "2-dropped", "3-rulebook", "4-overlay", "4-talk", "5-work", "5-paused", "6-opened-again"];
    display.film(&film);
}
