//! Opening another workspace from the window: in the background, and without losing the current one.

use std::fs;
use std::path::Path;

use super::{PausedRoom, continue_pending, handle_command};
use crate::app::room::OpenOptions;
use crate::app::window::command_handling::Outcome;
use crate::app::window::open_room::OpenRoom;
use crate::ui::Command;
use crate::ui::commands::job::Job;

impl PausedRoom {
    /// Requests another workspace. Returns the job that opens it.
    fn ask_for_workspace(&mut self, folder: &Path) -> Job {
        let model = self.model();
        let command = Command::OpenWorkspace(folder.to_owned());
        match handle_command(&mut self.room, &model, &mut self.state, &mut self.shell, command) {
            Outcome::Service(command) => match *command {
                Command::Run(job) => job,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// The part of a frame that handles jobs. Returns whether another workspace is open now.
    fn go_on(&mut self) -> bool {
        continue_pending(&mut self.room, &mut self.state, &mut self.shell.parts)
    }
}

#[test]
fn the_current_workspace_continues_until_another_is_open() {
    let mut fixture = PausedRoom::new();
    let here = fixture.room.folder().clone();
    let other = tempfile::tempdir().expect("a temporary folder can be made");
    let job = fixture.ask_for_workspace(other.path());
    assert!(!fixture.go_on(), "nothing has opened it yet");
    fixture.act(Command::SetPaused(false));
    assert_eq!(fixture.model().scene, "test");
    assert_eq!(fixture.room.folder(), &here);
    assert!(job.run().is_ok());
    drop(job);
    assert!(fixture.go_on());
    assert_eq!(fixture.room.folder(), other.path());
    assert!(other.path().join("settings.yaml").exists(), "in an empty folder a new one is begun");
    fixture.settle();
    assert!(!fixture.model().agents.is_empty(), "the room is there and lives");
    let old = OpenOptions { folder: here, provider: Some("offline".into()), ..OpenOptions::trusted() };
    assert!(OpenRoom::open(old).is_ok(), "the one before was closed");
}

#[test]
fn a_failed_or_cancelled_opening_keeps_the_current_workspace() {
    let mut fixture = PausedRoom::new();
    let here = fixture.room.folder().clone();
    let full = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(full.path().join("letter.txt"), "Dear Ada").expect("files can be written");
    for (folder, why) in [(full.path().to_owned(), "no settings.yaml"), (here.clone(), "already open")] {
        let job = fixture.ask_for_workspace(&folder);
        let error = job.run().expect_err("it is no other workspace");
        assert!(error.contains(why), "{error}");
        drop(job);
        assert!(!fixture.go_on());
    }
    let empty = tempfile::tempdir().expect("a temporary folder can be made");
    let job = fixture.ask_for_workspace(empty.path());
    job.control.cancel();
    let _given_up = job.run();
    drop(job);
    assert!(!fixture.go_on() && fixture.room.opening_workspace.is_none());
    let job = fixture.ask_for_workspace(empty.path());
    assert!(job.run().is_ok(), "nobody holds it any more");
    job.control.cancel();
    assert!(!fixture.go_on(), "what was given up at last is not gone on in");
    assert_eq!(fixture.model().scene, "test");
    assert_eq!(fixture.room.folder(), &here);
    let options = OpenOptions { folder: empty.path().to_owned(), ..OpenOptions::trusted() };
    assert!(OpenRoom::open(options).is_ok(), "it was closed");
}
