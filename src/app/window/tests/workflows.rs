//! Editing a workflow in the graph: its file keeps comments and order, and every change can be undone.

use std::fs;

use super::PausedRoom;
use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::orchestration::workflow::{WorkflowCommand, Workflows};
use crate::schedule::InputQueue;
use crate::ui::Command;
use crate::ui::commands::RoomAct;

const PATH: &str = "workflows/tea.md";
const TEXT: &str = "---
# A pipeline of ours.
name: Tea
colour: green
steps:
  # First we look.
  - id: look
    agent: ada
    prompt: \"Look at {topic}\"   # at all of it
    outputs: [found]

  - { id: write, agent: bram, prompt: \"{look.found}\", depends_on: [look] }
---

# Tea

Words of ours.
";

impl PausedRoom {
    fn draw(&mut self, edits: Vec<WorkflowEdit>) {
        let acts = edits.into_iter().map(|edit| WorkflowCommand::Edit { path: PATH.into(), edit });
        self.act(Command::Acts(acts.map(|act| (RoomAct::Workflow(act), None)).collect()));
        self.settle_files();
    }

    /// Runs the room until the change is saved and reloaded.
    fn settle_files(&mut self) {
        self.perform(Command::SetPaused(false));
        for _ in 0..40 {
            self.settle();
        }
    }

    fn on_disk(&self) -> String {
        fs::read_to_string(self.folder.path().join(PATH)).expect("it should exist")
    }

    fn notices(&self) -> String {
        format!("{:?}", self.state.notices)
    }
}

fn added(agent: &str) -> WorkflowEdit {
    WorkflowEdit::AddStep { doer: StepAssignee::Agent(agent.into()), after: None }
}

fn fixture() -> PausedRoom {
    let mut fixture = PausedRoom::new();
    let path = fixture.folder.path().join(PATH);
    fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
    fs::write(&path, TEXT).expect("files can be written");
    let world = fixture.room.world().expect("it is open");
    let content = crate::workspace::files::FileContent::Text(TEXT.into());
    world
        .resource_mut::<InputQueue<crate::workspace::FileChanged>>()
        .push(crate::workspace::FileChanged::new(PATH, content));
    fixture.settle_files();
    assert!(fixture.room.world().expect("it is open").resource::<Workflows>().files().contains_key(PATH));
    fixture
}

#[test]
fn workflow_edits_keep_comments_and_undo_exactly() {
    let mut fixture = fixture();
    let set = WorkflowEdit::Set { step: "look".into(), key: "prompt".into(), text: "Look again".into() };
    let outputs = WorkflowEdit::Outputs { step: "look".into(), names: vec!["found".into(), "more".into()] };
    fixture.draw(vec![set, outputs]);
    let changed = fixture.on_disk();
    for part in
        ["# A pipeline of ours.\nname: Tea\ncolour: green\n", "  # First we look.\n", "# at all of it", "Look again"]
    {
        assert!(changed.contains(part), "{part} in {changed}");
    }
    assert!(changed.contains("outputs: [found, more]") && changed.ends_with("# Tea\n\nWords of ours.\n"), "{changed}");
    fixture.draw(vec![added("bram")]);
    fixture.draw(vec![WorkflowEdit::Depend { step: "bram".into(), on: "write".into() }]);
    assert!(fixture.on_disk().contains("id: bram"), "{}", fixture.on_disk());
    for _ in 0..3 {
        fixture.act(Command::Undo);
        fixture.settle_files();
    }
    assert_eq!(fixture.on_disk(), TEXT, "what was changed at once is taken back at once");
    fixture.act(Command::Redo);
    fixture.settle_files();
    assert_eq!(fixture.on_disk(), changed);
}

#[test]
fn a_cyclic_dependency_is_refused_with_a_reason() {
    let mut fixture = fixture();
    fixture.draw(vec![WorkflowEdit::Depend { step: "look".into(), on: "write".into() }]);
    assert_eq!(fixture.on_disk(), TEXT);
    assert!(fixture.notices().contains("they would wait for each other"), "{}", fixture.notices());
}

#[test]
fn undo_never_overwrites_an_external_change() {
    let mut fixture = fixture();
    fixture.draw(vec![added("bram")]);
    let other = format!("{}More words.\n", fixture.on_disk());
    fs::write(fixture.folder.path().join(PATH), &other).expect("files can be written");
    let content = crate::workspace::files::FileContent::Text(other.clone());
    let world = fixture.room.world().expect("it is open");
    world
        .resource_mut::<InputQueue<crate::workspace::FileChanged>>()
        .push(crate::workspace::FileChanged::new(PATH, content));
    fixture.settle_files();
    fixture.act(Command::Undo);
    fixture.settle_files();
    assert_eq!(fixture.on_disk(), other);
    assert!(fixture.notices().contains("changed in the meantime"), "{}", fixture.notices());
}
