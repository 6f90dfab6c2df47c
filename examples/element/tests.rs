//! What must hold for a kind of element that another crate adds.

use agent_workshop::agent::Roster;
use agent_workshop::base::{Author, Seq};
use agent_workshop::element::kinds::{KindRefusal, kind, kinds, register};
use agent_workshop::element::{ElementAct, ElementCommand, ElementEdit, Elements, HeldContent, Kind, Reader};
use agent_workshop::mind::LastPrompt;
use agent_workshop::schedule::InputJournal;
use agent_workshop::ui::Command;
use agent_workshop::ui::commands::{RoomAct, create};
use agent_workshop::view::model::RoomModel;
use agent_workshop::view::theme;
use agent_workshop::workspace::KnownFiles;
use serde_json::{Value, json};

use crate::workshop::{Setup, Workshop};

const SCENE: &str = "name: Test\nseed: 3\nelements: []\n\
    agents:\n  - { id: ada-1, profile: ada, position: [0, 0], behaviour: stationary }\n";
const ADA: &str = "---\nid: ada\nname: Ada\n---\nYou draw.\n";
const SCRIPT: &str = "latency: 0.2\nagents:\n  ada:\n\
    \x20   - when: { kind: read, contains: a sun }\n      text: \"I draw, too.\\n[DRAW: a cat [grey]]\"\n\
    \x20   - when: { kind: read, contains: a ship }\n      text: \"Again.\\n[draw: a cat [grey]]\"\n\
    default:\n  - text: Fine.\n";

fn keys(more: Value) -> serde_json::Map<String, Value> {
    let mut keys = json!({ "id": "board", "kind": "whiteboard", "label": "Board", "position": [200, 0] });
    keys.as_object_mut().expect("it is a map").extend(more.as_object().expect("it is a map").clone());
    keys.as_object().expect("it is a map").clone()
}

/// Registers the kind.
fn add() {
    example_element::add().expect("the word is free");
}

/// Opens a room and adds a whiteboard as a person does.
fn room() -> Workshop {
    add();
    let mut room = Setup::scene(SCENE).profile("ada", ADA).script(SCRIPT).open();
    room.advance(1.0);
    room.push(ElementCommand::Add { keys: keys(json!({})) });
    room.advance(1.0);
    room
}

fn draw(room: &mut Workshop, text: &str) {
    let act = ElementAct::new("draw", serde_json::Map::from_iter([("text".to_owned(), json!(text))]));
    room.push(ElementEdit { element: "board".into(), act, by: Author::user(), cause: None });
}

fn text(room: &mut Workshop) -> String {
    let elements = room.world().resource::<Elements>();
    let entity = elements.key("board").and_then(|key| elements.entity(key)).expect("the board exists");
    room.world().get::<HeldContent>(entity).expect("the element has content").0.prompt_text(&Reader::of_id("ada-1"))
}

fn prompt(room: &mut Workshop) -> LastPrompt {
    let roster = room.world().resource::<Roster>();
    let entity = roster.key("ada-1").and_then(|key| roster.entity(key)).expect("the agent is in the room");
    room.world().get::<LastPrompt>(entity).expect("the agent has had a prompt").clone()
}

#[test]
fn an_added_kind_is_listed_and_its_word_is_taken() {
    static OTHER: Kind =
        Kind { private: true, ..Kind::new("whiteboard", "x", |_, _| unreachable!(), |_| unreachable!()) };
    add();
    assert_eq!(example_element::add(), Ok(()), "registering it again has no effect");
    assert_eq!(register(&OTHER), Err(KindRefusal::Taken("whiteboard")));
    assert_eq!(kinds().into_iter().filter(|kind| kind.word == "whiteboard").count(), 1);
    assert!(!kind("whiteboard").expect("the kind is registered").private);
    let colour = theme::element_colour("whiteboard");
    assert_eq!(colour.to_array()[..3], example_element::KIND.colour);
    let menu = create::element_at(&RoomModel::default(), "whiteboard", [4.0, 5.0].into());
    let Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(_)) = menu else { panic!("{menu:?}") };
    assert_eq!((&keys["kind"], &keys["position"]), (&json!("whiteboard"), &json!([4.0, 5.0])));
}

#[test]
fn a_person_and_an_agent_use_its_actions_and_the_log_shows_them() {
    let mut room = room();
    draw(&mut room, "a sun");
    let drawn = room.until(1.0, "element_changed", |event| event["data"]["change"] == "line_drawn");
    assert_eq!((&drawn["data"]["by"], &drawn["data"]["said"]), (&json!("user"), &json!("drew on")));
    assert_eq!((&drawn["data"]["kind"], &drawn["data"]["element"]), (&json!("whiteboard"), &json!("board")));
    let queued = room.events("action_queued");
    let woken =
        queued.iter().find(|event| event["data"]["action"] == "readElement").expect("the change wakes the agent");
    assert_eq!((&woken["data"]["target"], &woken["data"]["priority"]), (&json!("board"), &json!("normal")));
    let by_agent = room.until(30.0, "element_changed", |event| event["data"]["by"] == "ada-1");
    assert_eq!(by_agent["data"]["change"], "line_drawn");
    assert_eq!(text(&mut room), "a sun\na cat [grey]");
    let reads: Vec<Value> = room.events("read").into_iter().cloned().collect();
    assert_eq!(reads.last().expect("the agent has read it")["data"]["said"], "I draw, too.");
}

#[test]
fn prompts_describe_it_and_refused_actions_are_reported() {
    let mut room = room();
    draw(&mut room, "a sun");
    room.until(30.0, "element_changed", |event| event["data"]["by"] == "ada-1");
    let last = prompt(&mut room).0;
    assert!(last.moment.contains("Board (whiteboard)") && last.moment.contains("a sun"), "{}", last.moment);
    assert!(last.system_text().contains("- [DRAW: text] draws a line on the whiteboard"), "{}", last.system_text());
    draw(&mut room, "a ship");
    let refused = room.until(30.0, "warning", |event| event["agent"] == "ada-1");
    assert_eq!(refused["data"]["what"], "that is drawn already");
    assert_eq!(text(&mut room), "a sun\na cat [grey]\na ship");
    // Without a whiteboard, prompts do not mention the marker, and writing it has no effect.
    add();
    let mut bare = Setup::scene(
        SCENE
            .replace("elements: []", "elements:\n  - { id: news, kind: messageboard, position: [90, 0], text: a sun }")
            .as_str(),
    )
    .profile("ada", ADA)
    .script(SCRIPT)
    .open();
    bare.advance(100.0);
    let last = prompt(&mut bare).0;
    assert!(!last.system_text().contains("DRAW"));
    let warnings = bare.events("warning");
    assert!(
        warnings.iter().any(|one| one["data"]["what"].as_str().is_some_and(|what| what.contains("[DRAW: …]"))),
        "{warnings:?}"
    );
}

#[test]
fn it_is_saved_in_its_file_merges_edits_and_is_restored() {
    let mut room = room();
    draw(&mut room, "a sun");
    room.until(30.0, "element_changed", |event| event["data"]["by"] == "ada-1");
    room.tick();
    let scene = room.world().resource::<KnownFiles>().text("scenes/test.yaml").expect("the scene exists").to_owned();
    assert!(scene.contains("kind: whiteboard") && scene.contains("a cat [grey]"), "{scene}");
    let before = text(&mut room);
    let mut again = room.reopened();
    assert_eq!(text(&mut again), before);
    again.assert_same_world(&mut room);
    // A whiteboard with a file: lines that a person adds there appear on it, and lines that are removed there are
    // wiped.
    add();
    let scene = SCENE.replace(
        "elements: []",
        "elements:\n  - { id: board, kind: whiteboard, label: Board, position: [200, 0], file: boards/b.md }",
    );
    let mut room = Setup::scene(&scene).file("boards/b.md", "- one\n- two\n").profile("ada", ADA).script(SCRIPT).open();
    room.advance(1.0);
    assert_eq!(text(&mut room), "one\ntwo");
    draw(&mut room, "a sun");
    room.until(60.0, "element_changed", |event| event["data"]["by"] == "ada-1");
    room.tick();
    assert_eq!(text(&mut room), "one\ntwo\na sun\na cat [grey]");
    let written = room.world().resource::<KnownFiles>().text("boards/b.md").expect("the file exists").to_owned();
    room.edit("boards/b.md", &written.replace("- one\n", "- zero\n"));
    room.tick();
    assert_eq!(text(&mut room), "two\na sun\na cat [grey]\nzero");
}

#[test]
fn a_run_with_an_added_kind_replays() {
    let mut live = room();
    draw(&mut live, "a sun");
    live.advance(40.0);
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    again.advance(42.0);
    again.assert_same_world(&mut live);
    assert_eq!(again.log().len(), live.log().len(), "the replay logged different events");
    assert_eq!(text(&mut again), "a sun\na cat [grey]");
}
