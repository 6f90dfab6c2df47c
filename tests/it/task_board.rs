//! A task board in the room: what a person writes on it becomes an agent's work, the agent walks there first, and
//! agents' questions are answered once, in the file or on the card.

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
        a_task_written_on_the_board_is_done_by_an_agent_at_the_board,
        an_agent_goes_to_the_board_that_shows_its_task,
        edits_of_the_board_an_editor_and_agents_meet_in_the_file,
        a_question_on_a_board_is_answered_once_in_the_file_or_on_the_card,
        two_boards_of_one_file_show_the_same,
        a_room_with_a_board_continues_and_comes_back,
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

fn on_board(studio: &mut Studio, element: &str, act: impl Into<ElementAct>) {
    let edit = ElementEdit { element: element.into(), act: act.into(), by: Author::user(), cause: None };
    studio.world().resource_mut::<InputQueue<ElementEdit>>().push(edit);
    studio.tick();
    studio.tick();
}

/// The content of a board, as the text of its file.
fn held(studio: &mut Studio, element: &str) -> String {
    let world = studio.world();
    let elements = world.resource::<Elements>();
    let entity = elements.key(element).and_then(|key| elements.entity(key)).expect("it is in the room");
    world.get::<HeldContent>(entity).expect("it should contain something").0.to_markdown()
}

fn edit(studio: &mut Studio, path: &str, text: &str) {
    fs::write(studio.folder.path().join(path), text).unwrap();
    let change = FileChanged::new(path, FileContent::Text(text.to_owned()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.tick();
}

fn settled(studio: &mut Studio) {
    for _ in 0..3 {
        studio.tick();
    }
    studio.until("the desk is settled", |studio| !studio.world().resource::<TaskAssignments>().is_at_work());
    studio.idle();
}

fn distance_to_work(studio: &mut Studio, agent: &str) -> f32 {
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key(agent).and_then(|key| roster.entity(key)).expect("it is in the room");
    world.get::<Position>(entity).expect("it is somewhere").0.distance(bevy::math::Vec2::new(500.0, 200.0))
}

fn a_task_written_on_the_board_is_done_by_an_agent_at_the_board() {
    let mut studio = studio("latency: 12\ndefault: [ { text: There are twelve chairs. } ]\n", SCENE);
    on_board(&mut studio, "work", TaskAct::AddTask { line: "A @writer \"Count the chairs\"".into(), below: None });
    let activation =
        |studio: &Studio| studio.all("activation").into_iter().find(|one| one["agent"] == "writer").cloned();
    studio.until("the task is the writer's work", |studio| activation(studio).is_some());
    let file = studio.read(WORK);
    assert!(file.starts_with(PLAN) && file.contains("- [ ] A @writer \"Count the chairs\"\r\n"), "{file}");
    assert!(file.contains("  status: working\r\n"), "the board and the file say who is at it: {file}");
    assert_eq!(held(&mut studio, "work"), file);
    // The change of the board is the cause of the work.
    let begun = activation(&studio).unwrap();
    let record = |seq: &serde_json::Value| studio.log_of_all().iter().find(|event| event["seq"] == *seq).unwrap();
    let marked = record(&begun["cause"]);
    assert_eq!((&marked["type"], &marked["data"]["path"]), (&"file_change".into(), &WORK.into()), "{marked}");
    let cause = record(&marked["cause"]);
    assert_eq!((&cause["type"], &cause["data"]["element"]), (&"element_changed".into(), &"work".into()), "{cause}");
    studio.until("the writer is at the board", |studio| distance_to_work(studio, "writer") < 110.0);
    assert!(studio.read(WORK).contains("[ ] A @writer"), "it is there before it is done");
    settled(&mut studio);
    let done = studio.read(WORK);
    assert!(done.starts_with(PLAN) && done.contains("- [x] A @writer \"Count the chairs\"\r\n"), "{done}");
    assert!(done.contains("  conclusion: There are twelve chairs.\r\n"), "{done}");
    assert_eq!(held(&mut studio, "work"), done);
    assert_eq!(studio.all("activation").len(), 1, "{:#?}", studio.log());
}

fn an_agent_goes_to_the_board_that_shows_its_task() {
    // A new board is not read by anybody: an agent goes there for its task.
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
    assert!(studio.read(WORK).contains("- [ ] @writer Count\n"), "it is there before it is done");
    settled(&mut studio);
    assert!(studio.read(WORK).contains("- [x] @writer Count\n"));
    // If no board shows the file, nobody goes anywhere.
    let scene = SCENE.replace("tasks/work.task.md", "tasks/other.task.md");
    let mut bare = studio_with("latency: 12\ndefault: [ { text: Twelve. } ]\n", &scene, plan);
    bare.until("it is done", |studio| studio.read(WORK).contains("- [x] @writer Count\n"));
    assert!(!on_its_way(&bare) && distance_to_work(&mut bare, "writer") > 300.0);
}

fn edits_of_the_board_an_editor_and_agents_meet_in_the_file() {
    let mut studio = studio("default: [ { text: Noted. } ]\n", SCENE);
    let done = |id: &str| TaskAct::MoveTask { id: id.into(), column: Some(Column::Done), place: None };
    on_board(&mut studio, "work", done("paint"));
    let ticked = PLAN.replace("- [ ] Paint   ", "- [x] Paint   ") + "  id: paint\r\n";
    assert_eq!(held(&mut studio, "work"), ticked);
    studio.until("it is saved", |studio| studio.read(WORK) == ticked);
    // Changed in an editor and on the board at the same time: both changes are kept.
    edit(&mut studio, WORK, &ticked.replace("# Plan", "# Our plan"));
    on_board(&mut studio, "work", TaskAct::AddTask { line: "Sweep".into(), below: Some("paint".into()) });
    let both = ticked.replace("# Plan", "# Our plan") + "  - [ ] \"Sweep\"\r\n    id: sweep\r\n";
    assert_eq!(held(&mut studio, "work"), both);
    studio.until("both are saved", |studio| studio.read(WORK) == both);
    // Text that cannot be read as a task is shown, and edits of it are refused.
    edit(&mut studio, WORK, &both.replace("\"Sweep\"", "\"Sweep"));
    let broken = held(&mut studio, "work");
    on_board(&mut studio, "work", done("sweep"));
    assert_eq!(held(&mut studio, "work"), broken);
    let warnings = studio.all("warning");
    assert!(
        warnings.iter().any(|one| one["data"]["what"].as_str().is_some_and(|what| what.contains("line 7"))),
        "{warnings:?}"
    );
}

const ASKING: &str = r#"
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

fn a_question_on_a_board_is_answered_once_in_the_file_or_on_the_card() {
    for in_file in [true, false] {
        let mut studio = studio(ASKING, SCENE);
        studio.task("lead", "Write it down");
        studio.until("it is asked", |studio| !studio.all("approval_requested").is_empty());
        studio.until("the file asks it", |studio| studio.read(APPROVALS).contains("status: pending"));
        let asked = studio.read(APPROVALS);
        assert_eq!(held(&mut studio, "asked"), asked, "the board shows it");
        let id = studio.world().resource::<Kernel>().approvals().next().expect("it waits").id.to_string();
        // Ticking the task without answering the question is not an answer.
        on_board(&mut studio, "asked", TaskAct::MoveTask { id: id.clone(), column: Some(Column::Done), place: None });
        assert_eq!((held(&mut studio, "asked"), studio.read(APPROVALS)), (asked.clone(), asked.clone()));
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
            studio.command(answer.expect("it waits"));
        }
        studio.until("it is done", |studio| studio.exists("artifacts/a.md"));
        studio.idle();
        studio.until("the file says so", |studio| studio.read(APPROVALS).contains("status: approved"));
        assert_eq!(held(&mut studio, "asked"), studio.read(APPROVALS));
        assert_eq!(studio.all("approval_decided").len(), 1);
        // A later mark changes nothing.
        let decided = studio.read(APPROVALS);
        edit(&mut studio, APPROVALS, &decided.replace("- [x] A @human", "- [-] A @human"));
        studio.idle();
        assert_eq!((studio.all("approval_decided").len(), studio.all("complete").len()), (1, 1), "{:#?}", studio.log());
    }
}

fn two_boards_of_one_file_show_the_same() {
    let scene = SCENE.replace("tasks/approvals.task.md", "tasks/work.task.md");
    let mut studio = studio("default: [ { text: Noted. } ]\n", &scene);
    // Both are changed in the same tick.
    for (board, line) in [("work", "One"), ("asked", "Two")] {
        let act = TaskAct::AddTask { line: line.into(), below: None }.into();
        let edit = ElementEdit { element: board.into(), act, by: Author::user(), cause: None };
        studio.world().resource_mut::<InputQueue<ElementEdit>>().push(edit);
    }
    studio.tick();
    studio.tick();
    let both = held(&mut studio, "work");
    assert!(both.starts_with(PLAN) && both.contains("\"One\"") && both.contains("\"Two\""), "{both}");
    assert_eq!(held(&mut studio, "asked"), both);
    studio.until("both are saved", |studio| studio.read(WORK) == both);
}

fn a_room_with_a_board_continues_and_comes_back() {
    let mut studio = studio("latency: 6\ndefault: [ { text: Done that. } ]\n", SCENE);
    on_board(&mut studio, "work", TaskAct::AddTask { line: "@writer Count".into(), below: None });
    studio.until("it is work", |studio| !studio.all("activation").is_empty());
    for _ in 0..20 {
        studio.tick();
    }
    studio.close();
    // Somebody writes while the room is closed.
    let text = studio.read(WORK);
    fs::write(studio.folder.path().join(WORK), text.replace("# Plan", "# Our plan")).unwrap();
    studio.open();
    settled(&mut studio);
    let done = studio.read(WORK);
    assert!(done.starts_with("# Our plan") && done.contains("- [x] @writer \"Count\""), "{done}");
    assert_eq!(held(&mut studio, "work"), done);
    assert_eq!(studio.all("activation").len(), 1, "{:#?}", studio.log());
}
