//! Tests that a read request contains the changes since the agent's last read.

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use bevy::ecs::system::RunSystemOnce;
use serde_json::json;

use super::context::{CurrentRequest, NewItem};
use super::context_builder::RoomParams;
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Author, Behaviour, Seq};
use crate::element::{ElementAct, ElementCommand, ElementEdit, Elements, ItemNews, PinAct};
use crate::memory::{MemoryAct, MemoryEdit};
use crate::schedule::advance;

const ADA: AgentKey = AgentKey(0);

/// Ada, Bo and a pinboard with two pins.
fn room() -> App {
    let mut app = App::empty();
    app.add_plugins((
        crate::schedule::plugin,
        crate::agent::plugin,
        crate::element::plugin,
        crate::memory::plugin,
        crate::simulation::plugin,
        super::plugin,
    ));
    for (key, id) in (0..).map(AgentKey).zip(["ada", "bo"]) {
        let (start, start_behaviour) = (bevy::math::Vec2::new(9_000.0, 0.0), Behaviour::Stationary);
        let name = id.to_uppercase().into();
        let agent = Agent { key, id: id.into(), profile: id.into(), name, start, start_behaviour, added: Seq(1) };
        let entity = app.world_mut().spawn(agent).id();
        app.world_mut().resource_mut::<Roster>().insert(key, id.into(), entity);
    }
    let keys = json!({ "id": "ideas", "kind": "pinboard", "position": [0, 0], "pins": ["Tea", "A map"] });
    say(&mut app, ElementCommand::Add { keys: keys.as_object().expect("a map").clone() });
    app
}

fn say<M: Message>(app: &mut App, message: M) {
    app.world_mut().resource_mut::<Messages<M>>().write(message);
    advance(app.world_mut());
}

fn edit(app: &mut App, by: &str, act: ElementAct) {
    say(app, ElementEdit { element: "ideas".into(), act, by: Author(by.into()), cause: None });
}

/// Lets Ada read the board in its present state.
fn reads(app: &mut App) {
    let element = app.world().resource::<Elements>().key("ideas").expect("it should exist");
    let entity = app.world().resource::<Elements>().entity(element).expect("it should exist");
    let version = app.world().get::<crate::element::Element>(entity).expect("it should exist").version;
    let act = MemoryAct::Saw { element, version, summary: String::new() };
    say(app, MemoryEdit { agent: ADA, act, cause: Seq(1) });
}

/// Returns the changes of the board since Ada's last read.
fn news(app: &mut App) -> Option<Vec<NewItem>> {
    let look = |room: RoomParams| {
        let (agent, _) = room.agent(ADA).expect("she should be in the room");
        let (element, held) = room.element(room.elements.key("ideas")?)?;
        room.news(agent, element, held)
    };
    app.world_mut().run_system_once(look).expect("it can look")
}

/// Returns the text of the changes in Ada's request.
fn new_items_text(app: &mut App) -> Option<String> {
    let look = |room: RoomParams| {
        let (agent, _) = room.agent(ADA).expect("she should be in the room");
        let (element, held) = room.element(room.elements.key("ideas")?)?;
        match room.read_request(agent, element, held) {
            CurrentRequest::Read { new, .. } => new,
            other => panic!("a board is read: {other:?}"),
        }
    };
    app.world_mut().run_system_once(look).expect("it can look")
}

fn item(id: &str, change: ItemNews, by: &str, text: &str) -> NewItem {
    NewItem { id: id.into(), change, by: by.into(), text: text.into() }
}

fn pin(text: &str) -> ElementAct {
    PinAct::AddPin { id: None, text: text.into() }.into()
}

#[test]
fn a_read_lists_the_changes_of_others_since_the_last_one() {
    let mut app = room();
    edit(&mut app, "bo", pin("Before"));
    assert_eq!(news(&mut app), None, "she reads it for the first time");
    reads(&mut app);
    assert_eq!(news(&mut app), Some(vec![]));
    edit(&mut app, "bo", pin("A boat"));
    edit(&mut app, "ada", pin("Her own"));
    edit(&mut app, "user", PinAct::Comment { id: "p1".into(), text: "Which?".into() }.into());
    edit(&mut app, "bo", PinAct::Vote { id: "p2".into(), up: true }.into());
    edit(&mut app, "user", PinAct::Vote { id: "p4".into(), up: true }.into());
    edit(&mut app, "user", PinAct::EditPin { id: "p2".into(), text: "A large map".into() }.into());
    edit(&mut app, "bo", pin("Soon gone"));
    edit(&mut app, "bo", PinAct::RemovePin { id: "p6".into() }.into());
    edit(&mut app, "user", PinAct::RemovePin { id: "p3".into() }.into());
    let expected = [
        item("p4", ItemNews::Added, "BO", "A boat"),
        item("p1", ItemNews::Commented, "the person", "Tea"),
        item("p2", ItemNews::VotedOn, "BO", "A large map"),
        item("p2", ItemNews::Edited, "the person", "A large map"),
        item("p3", ItemNews::Removed, "the person", ""),
    ];
    assert_eq!(news(&mut app), Some(expected.to_vec()));
    let new = new_items_text(&mut app).expect("something is new");
    assert!(["p1 (", "Which?", "p2 (", "p4 ("].iter().all(|part| new.contains(part)), "{new}");
    assert!(!new.contains("Her own") && !new.contains("p3"), "{new}");
    reads(&mut app);
    assert_eq!(news(&mut app), Some(vec![]), "she knows it now");
}

#[test]
fn unread_changes_survive_a_restart() {
    use crate::schedule::saved;
    let mut app = room();
    reads(&mut app);
    edit(&mut app, "bo", pin("A boat"));
    let world = saved::save_world(app.world_mut()).expect("it can be saved");
    let mut again = room();
    saved::load_world(again.world_mut(), &world).expect("it can be loaded");
    assert_eq!(news(&mut again), Some(vec![item("p3", ItemNews::Added, "BO", "A boat")]));
}
