//! Checks of the code of documents: which documents are checked, and when.

use std::time::{Duration, Instant};

use bevy::app::App;
use bevy::ecs::system::SystemId;

use super::*;
use crate::schedule::outside::{OutsideDriver, OutsideExt, Wakeup, execute};
use crate::schedule::{self, InputJournal, InputQueue, TickMessageExt};
use crate::workspace::files::FileContent;

const NO_TOOLS: &str = "# Agent: Ada\n\n## Purpose\n\nP\n";

/// A document with one tool.
fn document(body: &str) -> String {
    format!(
        "{NO_TOOLS}\n<Tool name=\"add\" description=\"Adds\">\n\n```ts\nfunction execute() {{ {body} }}\n```\n</Tool>\n"
    )
}

struct CheckedRoom {
    world: World,
    execute: SystemId,
}

impl CheckedRoom {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut app = App::new();
        app.add_plugins(schedule::plugin).add_tick_message::<ProfileChanged>().init_resource::<ReadCode>();
        app.add_outside(CodeChecks::default());
        let mut world = std::mem::take(app.world_mut());
        let execute = world.register_system(execute::<CodeChecks>);
        let mut room = Self { world, execute };
        room.files(files);
        room
    }

    fn files(&mut self, files: &[(&str, &str)]) {
        let texts: Vec<(&str, FileContent)> =
            files.iter().map(|(path, text)| (*path, FileContent::Text((*text).to_owned()))).collect();
        self.world.insert_resource(Profiles::of_files(texts.iter().map(|(path, text)| (*path, text))));
    }

    /// Changes the document of Ada.
    fn change(&mut self, text: &str) {
        self.files(&[("agents/ada/agent.mdx", text)]);
        self.world.write_message(ProfileChanged { profile: "ada".into() });
    }

    fn tick(&mut self) {
        self.world.run_system(self.execute).expect("the driver runs");
    }

    fn is_checking(&self) -> bool {
        self.world.resource::<OutsideDriver<CodeChecks>>().is_running()
    }

    /// Waits until nothing is being checked. Returns the profiles that were, each with whether problems were found.
    fn checked(&mut self) -> Vec<(String, bool)> {
        let until = Instant::now() + Duration::from_secs(20);
        self.tick();
        while self.is_checking() {
            assert!(Instant::now() < until, "the check never ended");
            self.world.resource::<Wakeup>().wait(Duration::from_millis(100));
            self.tick();
        }
        let answers = std::mem::take(&mut *self.world.resource_mut::<InputQueue<CodeChecked>>());
        let mut checked: Vec<(String, bool)> =
            answers.waiting().map(|answer| (answer.profile.to_string(), !answer.problems.is_empty())).collect();
        checked.sort();
        checked
    }
}

fn checked(profile: &str, has_problems: bool) -> (String, bool) {
    (profile.to_owned(), has_problems)
}

#[test]
fn documents_with_tools_are_checked_once_and_again_when_they_change() {
    let (good, bad) = (document("return 1;"), document("return 1 +;"));
    let files: Vec<(String, &str)> = (0..9).map(|number| (format!("agents/a{number}/agent.mdx"), &*good)).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    files.extend([
        ("agents/bad/agent.mdx", &*bad),
        ("agents/none/agent.mdx", NO_TOOLS),
        ("agents/cy.md", "You are Cy."),
    ]);
    let mut room = CheckedRoom::new(&files);
    let mut expected: Vec<(String, bool)> = (0..9).map(|number| checked(&format!("a{number}"), false)).collect();
    expected.push(checked("bad", true));
    assert_eq!(room.checked(), expected, "more than run at once");
    assert_eq!(room.checked(), []);

    room.change(&bad);
    assert_eq!(room.checked(), [checked("ada", true)]);
    room.change(&good);
    assert_eq!(room.checked(), [checked("ada", false)]);
    room.change(NO_TOOLS);
    assert_eq!(room.checked(), [checked("ada", false)], "its problems are gone with its tools");
    room.change(NO_TOOLS);
    assert_eq!(room.checked(), []);
}

#[test]
fn a_document_that_changes_while_it_is_checked_is_checked_again() {
    let mut room = CheckedRoom::new(&[("agents/ada/agent.mdx", &document("return 1 +;"))]);
    room.tick();
    assert!(room.is_checking());
    room.change(&document("return 1;"));
    assert_eq!(room.checked(), [checked("ada", false)], "the first check no longer counts");
}

#[test]
fn a_replay_checks_nothing_and_the_room_that_goes_on_checks_everything() {
    let mut room = CheckedRoom::new(&[("agents/ada/agent.mdx", &document("return 1 +;"))]);
    room.world.resource_mut::<InputJournal>().replay([]);
    room.world.write_message(ProfileChanged { profile: "ada".into() });
    assert_eq!(room.checked(), []);
    room.world.resource_mut::<InputJournal>().end_replay();
    assert_eq!(room.checked(), [checked("ada", true)]);
}
