//! Editing a workflow in the graph: its file keeps comments and order, and every change can be undone.

use std::fs;

use super::House;
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

impl House {
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

    fn told(&self) -> String {
        format!("{:?}", self.state.notices)
    }
}

fn added(agent: &str) -> WorkflowEdit {
    WorkflowEdit::AddStep { doer: StepAssignee::Agent(agent.into()), after: None }
}

fn house() -> House {
    let mut house = House::new();
    let path = house.folder.path().join(PATH);
    fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
    fs::write(&path, TEXT).expect("files can be written");
    let world = house.room.world().expect("it is open");
    let content = crate::workspace::files::FileContent::Text(TEXT.into());
    world
        .resource_mut::<InputQueue<crate::workspace::FileChanged>>()
        .push(crate::workspace::FileChanged::new(PATH, content));
    house.settle_files();
    assert!(house.room.world().expect("it is open").resource::<Workflows>().files().contains_key(PATH));
    house
}

#[test]
fn changes_of_a_workflow_keep_comments_and_are_undone_to_the_letter() {
    let mut house = house();
    let set = WorkflowEdit::Set { step: "look".into(), key: "prompt".into(), text: "Look again".into() };
    let outputs = WorkflowEdit::Outputs { step: "look".into(), names: vec!["found".into(), "more".into()] };
    house.draw(vec![set, outputs]);
    let changed = house.on_disk();
    for part in
        ["# A pipeline of ours.\nname: Tea\ncolour: green\n", "  # First we look.\n", "# at all of it", "Look again"]
    {
        assert!(changed.contains(part), "{part} in {changed}");
    }
    assert!(changed.contains("outputs: [found, more]") && changed.ends_with("# Tea\n\nWords of ours.\n"), "{changed}");
    house.draw(vec![added("bram")]);
    house.draw(vec![WorkflowEdit::Depend { step: "bram".into(), on: "write".into() }]);
    assert!(house.on_disk().contains("id: bram"), "{}", house.on_disk());
    for _ in 0..3 {
        house.act(Command::Undo);
        house.settle_files();
    }
    assert_eq!(house.on_disk(), TEXT, "what was changed at once is taken back at once");
    house.act(Command::Redo);
    house.settle_files();
    assert_eq!(house.on_disk(), changed);
}

#[test]
fn an_arrow_that_closes_a_circle_is_refused_in_words() {
    let mut house = house();
    house.draw(vec![WorkflowEdit::Depend { step: "look".into(), on: "write".into() }]);
    assert_eq!(house.on_disk(), TEXT);
    assert!(house.told().contains("they would wait for each other"), "{}", house.told());
}

#[test]
fn a_change_is_not_undone_over_what_somebody_else_wrote_since() {
    let mut house = house();
    house.draw(vec![added("bram")]);
    let other = format!("{}More words.\n", house.on_disk());
    fs::write(house.folder.path().join(PATH), &other).expect("files can be written");
    let content = crate::workspace::files::FileContent::Text(other.clone());
    let world = house.room.world().expect("it is open");
    world
        .resource_mut::<InputQueue<crate::workspace::FileChanged>>()
        .push(crate::workspace::FileChanged::new(PATH, content));
    house.settle_files();
    house.act(Command::Undo);
    house.settle_files();
    assert_eq!(house.on_disk(), other);
    assert!(house.told().contains("changed in the meantime"), "{}", house.told());
}
