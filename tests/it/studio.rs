//! The studio as used by a newcomer: writes an agent, drops it, gives it a task, sees which agents it started and what
//! they wrote, changes its file while they work, and exports the result. The same input also drives a second window
//! without a display, which knows where everything is. Screenshots of every step are kept in the target folder's
//! `tmp/studio`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use bevy::math::Vec2;
use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, vec2};
use libtest_mimic::Trial;

use crate::screen::{Display, missing, until};
use crate::window::{Running, SIZE, called, contains, copy_workspace, log, place};

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let is_ignored = !required && missing().is_some();
    let case = || {
        from_a_first_agent_to_what_is_taken_along();
        Ok(())
    };
    vec![Trial::test("studio::from_a_first_agent_to_what_is_taken_along", case).with_ignored_flag(is_ignored)]
}

/// A second window without a display, with a copy of the workspace and the same input.
struct Twin {
    room: OpenRoom,
    screen: Screen,
    context: Context,
    widgets: BTreeMap<String, Rect>,
    time_secs: f64,
    _copy: tempfile::TempDir,
}

impl Twin {
    fn of(workspace: &Path) -> Self {
        let copy = tempfile::tempdir().unwrap();
        copy_workspace(workspace, copy.path());
        let options = OpenOptions { folder: copy.path().to_owned(), ..OpenOptions::default() };
        let mut room = OpenRoom::open(options).unwrap();
        room.run_ticks(2);
        let context = Context::default();
        context.enable_accesskit();
        let screen = Screen::new(Some(false));
        let mut twin = Self { room, screen, context, widgets: BTreeMap::new(), time_secs: 0.0, _copy: copy };
        twin.settle();
        twin
    }

    fn frame(&mut self, events: Vec<Event>) {
        self.time_secs += 0.1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(SIZE.0 as f32, SIZE.1 as f32))),
            time: Some(self.time_secs),
            events,
            ..RawInput::default()
        };
        self.room.live();
        let mut output = self.screen.frame(&self.context, &mut self.room, input);
        output.textures_delta.clear();
        let update = output.platform_output.accesskit_update.expect("names are asked for");
        self.widgets = update.nodes.iter().filter_map(|(_, node)| Some((called(node)?, place(node)?))).collect();
    }

    /// Runs until requested files have been read and shown.
    fn settle(&mut self) {
        for _ in 0..12 {
            self.frame(Vec::new());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn middle(&self, name: &str) -> (f32, f32) {
        let found = self.widgets.get(name);
        let rect = found.unwrap_or_else(|| panic!("nothing is called {name:?}: {:#?}", self.widgets.keys()));
        (rect.center().x, rect.center().y)
    }

    fn click(&mut self, (x, y): (f32, f32)) {
        let pos = Pos2::new(x, y);
        let press = |pressed| {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            vec![Event::PointerButton { pos, button, pressed, modifiers }]
        };
        self.frame(vec![Event::PointerMoved(pos)]);
        self.frame(press(true));
        self.frame(press(false));
        self.settle();
    }

    fn key(&mut self, modifiers: Modifiers, key: Key) {
        for pressed in [true, false] {
            self.frame(vec![Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }]);
        }
        self.settle();
    }
}

/// Input for both windows.
struct Hands {
    display: Display,
    twin: Twin,
}

impl Hands {
    fn click(&mut self, name: &str) {
        let at = self.twin.middle(name);
        self.display.click(at);
        self.twin.click(at);
    }

    fn types(&mut self, text: &str) {
        self.display.types(text);
        self.twin.frame(vec![Event::Text(text.to_owned())]);
        self.twin.settle();
    }

    fn key(&mut self, keys: &str, modifiers: Modifiers, key: Key) {
        self.display.keys(keys);
        self.twin.key(modifiers, key);
    }
}

const SCOUT: &str = "You turn one task into a few parts, start a specialist for each with spawn_agent, and answer for \
                     the whole.";

fn from_a_first_agent_to_what_is_taken_along() {
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("studio");
    let display = Display::start(SIZE, &pictures);
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("my-workshop");
    let (agent, artifacts) = (workspace.join("agents/lead-orchestrator.md"), workspace.join("artifacts"));

    let running = Running::start(&display, folder.path());
    until("the starter kit", || workspace.join("scenes/studio.yaml").exists());
    let twin = Twin::of(&workspace);
    let mut hands = Hands { display, twin };
    hands.click("Got it");

    // An agent is written.
    hands.click("New file…");
    hands.display.picture("1-new-file");
    hands.types("lead-orchestrator");
    hands.key("Return", Modifiers::NONE, Key::Enter);
    until("the new agent", || agent.exists());
    hands.twin.settle();
    hands.click("Text of agents/lead-orchestrator.md");
    hands.key("ctrl+End", Modifiers::COMMAND, Key::End);
    hands.types(SCOUT);
    hands.display.picture("2-written");
    hands.key("ctrl+s", Modifiers::COMMAND, Key::S);
    until("what was written", || contains(&agent, "start a specialist"));

    // It is dropped into the room.
    hands.key("ctrl+shift+r", Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
    hands.twin.settle();
    hands.click("Search the shelf");
    hands.types("Lead");
    let (row, floor) =
        (hands.twin.middle("Add Lead Orchestrator"), hands.twin.screen.state.view.camera.to_screen(Vec2::ZERO));
    hands.display.drag(row, (floor.x, floor.y));
    let scene = workspace.join("scenes/studio.yaml");
    until("it in the room", || contains(&scene, "profile: lead-orchestrator"));
    hands.display.picture("3-dropped");

    // It gets a task, and starts others.
    hands.display.click(hands.twin.middle("Task to run"));
    hands.display.types("Plan a launch party");
    hands.display.keys("Return");
    until("it to be at work", || log(&workspace).contains("\"type\":\"spawn\""));
    hands.display.keys("ctrl+shift+g");
    hands.display.picture("4-graph-at-work");

    // Its file is changed while they work; nothing written is lost.
    hands.key("ctrl+k", Modifiers::COMMAND, Key::K);
    hands.types("Open file agents/lead-orchestrator.md");
    hands.key("Return", Modifiers::NONE, Key::Enter);
    hands.click("Text of agents/lead-orchestrator.md");
    hands.key("ctrl+End", Modifiers::COMMAND, Key::End);
    hands.types(" Be brief.");
    hands.display.picture("5-changed-at-work");
    hands.key("ctrl+s", Modifiers::COMMAND, Key::S);
    hands.display.keys("Escape");
    until("something to be written", || std::fs::read_dir(&artifacts).is_ok_and(|files| files.count() > 0));
    until("all work to be over", || {
        let (begun, over) = log(&workspace).lines().fold((0, 0), |(begun, over), event| {
            let is = |kind: &str| usize::from(event.contains(&format!("\"type\":\"{kind}\"")));
            (begun + is("activation"), over + is("complete") + is("error") + is("abort"))
        });
        begun > 2 && over >= begun
    });
    until("the change", || contains(&agent, "Be brief."));
    hands.display.keys("ctrl+shift+g");
    hands.display.picture("6-graph");
    hands.display.keys("ctrl+j");
    std::thread::sleep(Duration::from_secs(1));
    hands.display.picture("7-log");

    // The whole workspace is exported, and opens unchanged elsewhere.
    hands.display.keys("ctrl+k");
    hands.display.types("Export the workspace as a zip");
    hands.display.keys("Return");
    std::thread::sleep(Duration::from_secs(2));
    hands.display.picture("8-export");
    hands.display.keys("Return");
    let zip = folder.path().join("my-workshop.zip");
    until("the zip", || zip.exists());
    hands.display.picture("9-exported");
    hands.display.keys("ctrl+q");
    running.end();
    opens_elsewhere_as_it_was(&zip);
}

/// Unpacks an archive into an empty folder, opens the workspace in it, and checks that it is complete.
fn opens_elsewhere_as_it_was(zip: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(zip).unwrap()).unwrap();
    archive.extract(elsewhere.path()).unwrap();
    let options = OpenOptions { folder: elsewhere.path().to_owned(), watch: false, ..OpenOptions::default() };
    let mut room = OpenRoom::open(options).unwrap();
    let world = room.world().expect("it is open");
    let mut agents = world.query::<&agent_workshop::agent::Agent>();
    let profiles: Vec<String> = agents.iter(world).map(|agent| agent.profile.to_string()).collect();
    assert!(profiles.contains(&"lead-orchestrator".to_owned()), "{profiles:?}");
    assert!(std::fs::read_dir(elsewhere.path().join("artifacts")).is_ok_and(|files| files.count() > 0));
    room.close("looked at");
    assert!(log(elsewhere.path()).contains("\"type\":\"spawn\""), "the history came along");
}
