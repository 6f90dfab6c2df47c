//! The studio as a newcomer uses it: writes an agent, drags it into the room, gives it a task, looks at the agents that
//! it started, changes its file while they work, and exports the workspace. The same input also drives a second window
//! without a display, which provides the positions of widgets. Screenshots of every step are saved in the target
//! folder's `tmp/studio`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use bevy::math::Vec2;
use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, vec2};
use libtest_mimic::Trial;

use crate::screen::{Display, missing, until};
use crate::whole_window::{widget_name, widget_rect};
use crate::window::{Running, SIZE, contains, copy_workspace, log};

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let is_ignored = !required && missing().is_some();
    let case = || {
        a_newcomers_first_agent();
        Ok(())
    };
    vec![Trial::test("studio::a_newcomers_first_agent", case).with_ignored_flag(is_ignored)]
}

/// A second window without a display that gets the same input, with a copy of the workspace.
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
        let options = OpenOptions { folder: copy.path().to_owned(), ..OpenOptions::trusted() };
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
        let update = output.platform_output.accesskit_update.expect("AccessKit is enabled");
        self.widgets =
            update.nodes.iter().filter_map(|(_, node)| Some((widget_name(node)?, widget_rect(node)?))).collect();
    }

    /// Draws frames until requested files have been read and shown.
    fn settle(&mut self) {
        for _ in 0..12 {
            self.frame(Vec::new());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn middle(&self, name: &str) -> (f32, f32) {
        let found = self.widgets.get(name);
        let rect = found.unwrap_or_else(|| panic!("there is no widget {name:?}: {:#?}", self.widgets.keys()));
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

/// Sends input to both windows.
struct Inputs {
    display: Display,
    twin: Twin,
}

impl Inputs {
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

fn a_newcomers_first_agent() {
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("studio");
    let display = Display::start(SIZE, &pictures);
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("my-workshop");
    let (agent, artifacts) = (workspace.join("agents/lead-orchestrator.md"), workspace.join("artifacts"));

    let running = Running::start(&display, folder.path());
    until("the starter kit", || workspace.join("scenes/studio.yaml").exists());
    let twin = Twin::of(&workspace);
    let mut inputs = Inputs { display, twin };
    inputs.click("Got it");

    // An agent is written.
    inputs.click("New file…");
    inputs.display.picture("1-new-file");
    inputs.types("lead-orchestrator");
    inputs.key("Return", Modifiers::NONE, Key::Enter);
    until("the new agent", || agent.exists());
    inputs.twin.settle();
    inputs.click("Text of agents/lead-orchestrator.md");
    inputs.key("ctrl+End", Modifiers::COMMAND, Key::End);
    inputs.types(SCOUT);
    inputs.display.picture("2-written");
    inputs.key("ctrl+s", Modifiers::COMMAND, Key::S);
    until("the saved text", || contains(&agent, "start a specialist"));

    // The agent is dragged into the room.
    inputs.key("ctrl+shift+r", Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
    inputs.twin.settle();
    inputs.click("Search the shelf");
    inputs.types("Lead");
    let (row, floor) =
        (inputs.twin.middle("Add Lead Orchestrator"), inputs.twin.screen.state.view.camera.to_screen(Vec2::ZERO));
    inputs.display.drag(row, (floor.x, floor.y));
    let scene = workspace.join("scenes/studio.yaml");
    until("the agent in the scene", || contains(&scene, "profile: lead-orchestrator"));
    inputs.display.picture("3-dropped");

    // The agent gets a task, and starts others.
    inputs.display.click(inputs.twin.middle("Task to run"));
    inputs.display.types("Plan a launch party");
    inputs.display.keys("Return");
    until("the agent to start others", || log(&workspace).contains("\"type\":\"spawn\""));
    inputs.display.keys("ctrl+shift+g");
    inputs.display.picture("4-graph-at-work");

    // The agent's file is changed during the work; no text is lost.
    inputs.key("ctrl+k", Modifiers::COMMAND, Key::K);
    inputs.types("Open file agents/lead-orchestrator.md");
    inputs.key("Return", Modifiers::NONE, Key::Enter);
    inputs.click("Text of agents/lead-orchestrator.md");
    inputs.key("ctrl+End", Modifiers::COMMAND, Key::End);
    inputs.types(" Be brief.");
    inputs.display.picture("5-changed-at-work");
    inputs.key("ctrl+s", Modifiers::COMMAND, Key::S);
    inputs.display.keys("Escape");
    until("an artifact to be written", || std::fs::read_dir(&artifacts).is_ok_and(|files| files.count() > 0));
    until("all work to end", || {
        let (begun, over) = log(&workspace).lines().fold((0, 0), |(begun, over), event| {
            let is = |kind: &str| usize::from(event.contains(&format!("\"type\":\"{kind}\"")));
            (begun + is("activation"), over + is("complete") + is("error") + is("abort"))
        });
        begun > 2 && over >= begun
    });
    until("the change", || contains(&agent, "Be brief."));
    inputs.display.keys("ctrl+shift+g");
    inputs.display.picture("6-graph");
    inputs.display.keys("ctrl+j");
    std::thread::sleep(Duration::from_secs(1));
    inputs.display.picture("7-log");

    // The whole workspace is exported, and can be opened elsewhere.
    inputs.display.keys("ctrl+k");
    inputs.display.types("Export the workspace as a zip");
    inputs.display.keys("Return");
    std::thread::sleep(Duration::from_secs(2));
    inputs.display.picture("8-export");
    inputs.display.keys("Return");
    let zip = folder.path().join("my-workshop.zip");
    until("the zip", || zip.exists());
    inputs.display.picture("9-exported");
    inputs.display.keys("ctrl+q");
    running.end();
    assert_exported_workspace(&zip);
}

/// Unpacks an archive into an empty folder, opens the workspace in it, and checks that it is complete.
fn assert_exported_workspace(zip: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(zip).unwrap()).unwrap();
    archive.extract(elsewhere.path()).unwrap();
    let options = OpenOptions { folder: elsewhere.path().to_owned(), watch: false, ..OpenOptions::trusted() };
    let mut room = OpenRoom::open(options).unwrap();
    let world = room.world().expect("the room is open");
    let mut agents = world.query::<&agent_workshop::agent::Agent>();
    let profiles: Vec<String> = agents.iter(world).map(|agent| agent.profile.to_string()).collect();
    assert!(profiles.contains(&"lead-orchestrator".to_owned()), "{profiles:?}");
    assert!(std::fs::read_dir(elsewhere.path().join("artifacts")).is_ok_and(|files| files.count() > 0));
    room.close("looked at");
    assert!(log(elsewhere.path()).contains("\"type\":\"spawn\""), "the export includes the history");
}
