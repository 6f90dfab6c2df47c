//! Task boards in the room: a task on a board becomes an agent's work, for which the agent walks to the board, and
//! approvals are answered once, in the file or on the card.

use std::fs;

use agent_workshop::agent::Roster;
use agent_workshop::base::{AllowScope, Author};
use agent_workshop::desk::TaskAssignments;
use agent_workshop::element::{ElementAct, ElementEdit, Elements, HeldContent, TaskAct};
use agent_workshop::kernel::Kernel;
use agent_workshop::schedule::InputQueue;
use agent_workshop::simulation::Position;
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::task_files::Column;
use libtest_mimic::Trial;

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        a_task_added_to_a_board_is_done_by_an_agent_at_the_board,
        an_agent_walks_to_the_board_that_shows_its_task,
        edits_on_the_board_and_in_an_editor_are_merged,
        an_approval_on_a_board_is_answered_once_in_the_file_or_on_the_card,
        two_boards_of_one_file_show_the_same_tasks,
        a_reopened_room_with_a_board_continues,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements:\n  - { id: work, kind: taskboard, label: Work, position: [500, 200], file: tasks/work.task.md }\n  - { id: asked, kind: taskboard, label: Questions, position: [-400, 200], file: tasks/approvals.task.md }\nagents:\n  - { id: lead, profile: lead, position: [0, 0], behaviour: stationary }\n  - { id: writer, profile: writer, position: [90, 0], behaviour: stationary }\n";
const LEAD: &str = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
const WRITER: &str = "---\nname: Wanda\nbehaviour: stationary\ntools: [update_task]\n---\nYou write.\n";
const WORK: &str = "tasks/work.task.md";
const APPROVALS: &str = "tasks/approvals.task.md";
const PLAN: &str = "# Plan\r\n\r\n<!-- kept -->\r\n- [ ] Paint   \r\n  odd key: kept\r\n";

fn studio(script: &str, scene: &str) -> Studio {
    studio_with(script, scene, PLAN)
}

fn studio_with(script: &str, scene: &str, plan: &str) -> Studio {
    let approvals = (APPROVALS, "# Approvals\n\n## TODO\n\n");
    let files =
        [("scenes/test.yaml", scene), ("agents/lead.md", LEAD), ("agents/writer.md", WRITER), (WORK, plan), approvals];
    Studio::new(script, &files)
}

fn edit_board(studio: &mut Studio, element: &str, act: impl Into<ElementAct>) {
    let edit = ElementEdit { element: element.into(), act: act.into(), by: Author::user(), cause: None };
    studio.world().resource_mut::<InputQueue<ElementEdit>>().push(edit);
    studio.tick();
    studio.tick();
}

/// Returns the content of a board as Markdown.
fn board_text(studio: &mut Studio, element: &str) -> String {
    let world = studio.world();
    let elements = world.resource::<Elements>();
    let entity = elements.key(element).and_then(|key| elements.entity(key)).expect("the board is in the room");
    world.get::<HeldContent>(entity).expect("the board has content").0.to_markdown()
}

fn edit(studio: &mut Studio, path: &str, text: &str) {
    fs::write(studio.folder.path().join(path), text).unwrap();
    let change = FileChanged::new(path, FileContent::Text(text.to_owned()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.tick();
}

fn run_until_settled(studio: &mut Studio) {
    for _ in 0..3 {
        studio.tick();
    }
    studio.until("no task is in progress", |studio| !studio.world().resource::<TaskAssignments>().is_at_work());
    studio.idle();
}

fn distance_to_work(studio: &mut Studio, agent: &str) -> f32 {
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key)).expect("the agent is in the room");
    world.get::<Position>(entity).expect("the agent has a position").0.distance(bevy::math::Vec2::new(500.0, 200.0))
}

fn a_task_added_to_a_board_is_done_by_an_agent_at_the_board() {
    let mut studio = studio("latency: 12\ndefault: [ { text: There are twelve chairs. } ]\n", SCENE);
    edit_board(&mut studio, "work", TaskAct::AddTask { line: "A @writer \"Count the chairs\"".into(), below: None });
    let activation =
        |studio: &Studio| studio.all("activation").into_iter().find(|one| one["agent"] == "writer").cloned();
    studio.until("the task is the writer's work", |studio| activation(studio).is_some());
    let file = studio.read(WORK);
    assert!(file.starts_with(PLAN) && file.contains("- [ ] A @writer \"Count the chairs\"\r\n"), "{file}");
    assert!(file.contains("  status: working\r\n"), "the file shows the task as in progress: {file}");
    assert_eq!(board_text(&mut studio, "work"), file);
    // The change of the board is the cause of the work.
    let begun = activation(&studio).unwrap();
    let record = |seq: &serde_json::Value| studio.log_of_all().iter().find(|event| event["seq"] == *seq).unwrap();
    let marked = record(&begun["cause"]);
    assert_eq!((&marked["type"], &marked["data"]["path"]), (&"file_change".into(), &WORK.into()), "{marked}");
    let cause = record(&marked["cause"]);
    assert_eq!((&cause["type"], &cause["data"]["element"]), (&"element_changed".into(), &"work".into()), "{cause}");
    studio.until("the writer is at the board", |studio| distance_to_work(studio, "writer") < 110.0);
    assert!(studio.read(WORK).contains("[ ] A @writer"), "the agent arrives before the task is done");
    run_until_settled(&mut studio);
    let done = studio.read(WORK);
    assert!(done.starts_with(PLAN) && done.contains("- [x] A @writer \"Count the chairs\"\r\n"), "{done}");
    assert!(done.contains("  conclusion: There are twelve chairs.\r\n"), "{done}");
    assert_eq!(board_text(&mut studio, "work"), done);
    assert_eq!(studio.all("activation").len(), 1, "{:#?}", studio.log());
}

fn an_agent_walks_to_the_board_that_shows_its_task() {
    // Nobody reads a new board, so an agent walks there only for its task.
    let plan = "- [ ] @writer Count\n";
    let mut studio = studio_with("latency: 12\ndefault: [ { text: Twelve. } ]\n", SCENE, plan);
    let on_its_way = |studio: &Studio| {
        studio.all("state").iter().any(|state| {
            let why = state["data"]["why"].as_str().unwrap_or_default();
            state["agent"] == "writer" && why == "going to Work to start its task"
        })
    };
    studio.until("the writer sets out", |studio| on_its_way(studio));
    assert!(distance_to_work(&mut studio, "writer") > 300.0);
    studio.until("the writer is at the board", |studio| distance_to_work(studio, "writer") < 110.0);
    assert!(studio.read(WORK).contains("- [ ] @writer Count\n"), "the agent arrives before the task is done");
    run_until_settled(&mut studio);
    assert!(studio.read(WORK).contains("- [x] @writer Count\n"));
    // If no board shows the file, the agent stays where it is.
    let scene = SCENE.replace("tasks/work.task.md", "tasks/other.task.md");
    let mut bare = studio_with("latency: 12\ndefault: [ { text: Twelve. } ]\n", &scene, plan);
    bare.until("the task is done", |studio| studio.read(WORK).contains("- [x] @writer Count\n"));
    assert!(!on_its_way(&bare) && distance_to_work(&mut bare, "writer") > 300.0);
}

fn edits_on_the_board_and_in_an_editor_are_merged() {
    let mut studio = studio("default: [ { text: Noted. } ]\n", SCENE);
    let done = |id: &str| TaskAct::MoveTask { id: id.into(), column: Some(Column::Done), place: None };
    edit_board(&mut studio, "work", done("paint"));
    let ticked = PLAN.replace("- [ ] Paint   ", "- [x] Paint   ") + "  id: paint\r\n";
    assert_eq!(board_text(&mut studio, "work"), ticked);
    studio.until("the change is saved", |studio| studio.read(WORK) == ticked);
    // Changed in an editor and on the board at the same time: both changes are kept.
    edit(&mut studio, WORK, &ticked.replace("# Plan", "# Our plan"));
    edit_board(&mut studio, "work", TaskAct::AddTask { line: "Sweep".into(), below: Some("paint".into()) });
    let both = ticked.replace("# Plan", "# Our plan") + "  - [ ] \"Sweep\"\r\n    id: sweep\r\n";
    assert_eq!(board_text(&mut studio, "work"), both);
    studio.until("both are saved", |studio| studio.read(WORK) == both);
    // A task with a syntax error is shown, but cannot be edited.
    edit(&mut studio, WORK, &both.replace("\"Sweep\"", "\"Sweep"));
    let broken = board_text(&mut studio, "work");
    edit_board(&mut studio, "work", done("sweep"));
    assert_eq!(board_text(&mut studio, "work"), broken);
    let warnings = studio.all("warning");
    assert!(
        warnings.iter().any(|one| one["data"]["what"].as_str().is_some_and(|what| what.contains("line 7"))),
        "{warnings:?}"
    );
}

const APPROVAL_SCRIPT: &str = r#"
agents:
  lead:
    - when: { contains: "a person refused" }
      text: "I may not."
      repeat: true
    - when: { contains: "your task" }
      tools: [ { name: vfs_write, arguments: { path: artifacts/a.md, content: "first line" } } ]
      repeat: true
    - when: { kind: task }
      text: "It is written."
      repeat: true
default: [ { text: Noted. } ]
"#;

fn an_approval_on_a_board_is_answered_once_in_the_file_or_on_the_card() {
    for in_file in [true, false] {
        let mut studio = studio(APPROVAL_SCRIPT, SCENE);
        studio.task("lead", "Write it down");
        studio.until("an approval is requested", |studio| !studio.all("approval_requested").is_empty());
        studio.until("the approval is in the file", |studio| studio.read(APPROVALS).contains("status: pending"));
        let asked = studio.read(APPROVALS);
        assert_eq!(board_text(&mut studio, "asked"), asked, "the board shows the approval");
        let id =
            studio.world().resource::<Kernel>().approvals().next().expect("the approval is pending").id.to_string();
        // Moving the card to Done is not an answer.
        edit_board(&mut studio, "asked", TaskAct::MoveTask { id: id.clone(), column: Some(Column::Done), place: None });
        assert_eq!((board_text(&mut studio, "asked"), studio.read(APPROVALS)), (asked.clone(), asked.clone()));
        assert!(studio.all("approval_decided").is_empty() && !studio.exists("artifacts/a.md"));
        if in_file {
            edit(&mut studio, APPROVALS, &asked.replace("- [ ] A @human", "- [x] A @human"));
        } else {
            let answer = studio
                .world()
                .resource::<Kernel>()
                .approvals()
                .next()
                .map(|one| one.answer(true, AllowScope::Once, None));
            studio.command(answer.expect("the approval is pending"));
        }
        studio.until("the task is done", |studio| studio.exists("artifacts/a.md"));
        studio.idle();
        studio.until("the file shows the decision", |studio| studio.read(APPROVALS).contains("status: approved"));
        assert_eq!(board_text(&mut studio, "asked"), studio.read(APPROVALS));
        assert_eq!(studio.all("approval_decided").len(), 1);
        // A later mark changes nothing.
        let decided = studio.read(APPROVALS);
        edit(&mut studio, APPROVALS, &decided.replace("- [x] A @human", "- [-] A @human"));
        studio.idle();
        assert_eq!((studio.all("approval_decided").len(), studio.all("complete").len()), (1, 1), "{:#?}", studio.log());
    }
}

fn two_boards_of_one_file_show_the_same_tasks() {
    let scene = SCENE.replace("tasks/approvals.task.md", "tasks/work.task.md");
    let mut studio = studio("default: [ { text: Noted. } ]\n", &scene);
    // Both boards are changed in the same tick.
    for (board, line) in [("work", "One"), ("asked", "Two")] {
        let act = TaskAct::AddTask { line: line.into(), below: None }.into();
        let edit = ElementEdit { element: board.into(), act, by: Author::user(), cause: None };
        studio.world().resource_mut::<InputQueue<ElementEdit>>().push(edit);
    }
    studio.tick();
    studio.tick();
    let both = board_text(&mut studio, "work");
    assert!(both.starts_with(PLAN) && both.contains("\"One\"") && both.contains("\"Two\""), "{both}");
    assert_eq!(board_text(&mut studio, "asked"), both);
    studio.until("both are saved", |studio| studio.read(WORK) == both);
}

fn a_reopened_room_with_a_board_continues() {
    let mut studio = studio("latency: 6\ndefault: [ { text: Done that. } ]\n", SCENE);
    edit_board(&mut studio, "work", TaskAct::AddTask { line: "@writer Count".into(), below: None });
    studio.until("the task has started", |studio| !studio.all("activation").is_empty());
    for _ in 0..20 {
        studio.tick();
    }
    studio.close();
    // The file is edited while the room is closed.
    let text = studio.read(WORK);
    fs::write(studio.folder.path().join(WORK), text.replace("# Plan", "# Our plan")).unwrap();
    studio.open();
    run_until_settled(&mut studio);
    let done = studio.read(WORK);
    assert!(done.starts_with("# Our plan") && done.contains("- [x] @writer \"Count\""), "{done}");
    assert_eq!(board_text(&mut studio, "work"), done);
    assert_eq!(studio.all("activation").len(), 1, "{:#?}", studio.log());
}
