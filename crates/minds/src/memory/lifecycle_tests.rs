//! Tests of memories in a room: when they are recorded, dropped and restored.

use bevy::app::App;
use bevy::ecs::message::Messages;
use bevy::math::Vec2;

use super::*;
use crate::base::Behaviour;
use crate::log::EventKind;
use crate::memory::SeenElement;
use crate::schedule::{self, advance, saved};

fn room() -> App {
    let mut app = App::new();
    app.add_plugins(schedule::plugin);
    app.init_resource::<Roster>().init_resource::<Elements>().init_resource::<EventLog>();
    app.add_plugins(super::super::plugin);
    app
}

fn add_agent(app: &mut App, id: &str) -> AgentKey {
    let world = app.world_mut();
    let key = world.resource::<Roster>().next_key();
    let agent = Agent {
        key,
        id: id.into(),
        profile: "p".into(),
        name: id.into(),
        start: Vec2::ZERO,
        start_behaviour: Behaviour::Wander,
        added: Seq(1),
    };
    let entity = world.spawn(agent).id();
    world.resource_mut::<Roster>().insert(key, id.into(), entity);
    world.flush();
    key
}

fn remove_agent(app: &mut App, key: AgentKey, id: &str) {
    let entity = app.world().resource::<Roster>().entity(key).expect("it should exist");
    app.world_mut().despawn(entity);
    app.world_mut().resource_mut::<Roster>().remove(key, id);
}

fn add_element(app: &mut App, id: &str, kind: &str) -> ElementKey {
    let world = app.world_mut();
    let key = world.resource::<Elements>().next_key();
    let element = Element {
        key,
        id: id.into(),
        kind: kind.into(),
        label: id.into(),
        position: Vec2::ZERO,
        owner: None,
        file: None,
        version: 1,
    };
    let entity = world.spawn(element).id();
    world.resource_mut::<Elements>().insert(key, id.into(), entity);
    key
}

fn memory(app: &App, key: AgentKey) -> Memory {
    let entity = app.world().resource::<Roster>().entity(key).expect("it should exist");
    app.world().get::<Memory>(entity).expect("everyone has one").clone()
}

fn edit(app: &mut App, agent: AgentKey, act: MemoryAct) {
    app.world_mut().resource_mut::<Messages<MemoryEdit>>().write(MemoryEdit { agent, act, cause: Seq(5) });
}

fn change(app: &mut App, element: ElementKey, change: ElementChange, by: &str) {
    if let Some(entity) = app.world().resource::<Elements>().entity(element) {
        app.world_mut().get_mut::<Element>(entity).expect("it should be valid").version += 1;
    }
    let changed = ElementChanged { element, change, by: Author(by.into()), cause: Seq(9) };
    app.world_mut().resource_mut::<Messages<ElementChanged>>().write(changed);
}

fn memory_events(app: &mut App) -> Vec<(Id, Option<Seq>)> {
    let records = app.world_mut().resource_mut::<EventLog>().take();
    let memory = records.into_iter().filter(|record| record.draft.kind == EventKind::Memory);
    memory.filter_map(|record| Some((record.draft.agent?, record.draft.cause))).collect()
}

#[test]
fn edits_are_applied_and_recorded_with_their_cause() {
    let mut app = room();
    let ada = add_agent(&mut app, "ada");
    edit(&mut app, ada, MemoryAct::Note { text: "cite sources".into() });
    advance(app.world_mut());
    assert_eq!(memory(&app, ada).workspace_notes, ["cite sources"]);
    assert_eq!(memory_events(&mut app), [("ada".into(), Some(Seq(5)))]);
}

#[test]
fn new_rules_clear_every_summary_once() {
    let mut app = room();
    let rules = add_element(&mut app, "rules", "rulebook");
    let board = add_element(&mut app, "news", "messageboard");
    let (ada, bob, cleo) = (add_agent(&mut app, "ada"), add_agent(&mut app, "bob"), add_agent(&mut app, "cleo"));
    for agent in [ada, bob] {
        edit(&mut app, agent, MemoryAct::Summary { text: "under the old rules".into() });
    }
    change(&mut app, board, ElementChange::new(ElementChange::TEXT_SET), "user");
    advance(app.world_mut());
    assert!(!memory(&app, ada).context_summary.is_empty(), "a message board clears nothing");
    memory_events(&mut app);
    change(&mut app, rules, ElementChange::new(ElementChange::TEXT_SET), "user");
    change(&mut app, rules, ElementChange::new(ElementChange::TEXT_SET), "user");
    advance(app.world_mut());
    for agent in [ada, bob, cleo] {
        assert_eq!(memory(&app, agent).context_summary, "");
    }
    let events = memory_events(&mut app);
    assert_eq!(events, [("ada".into(), Some(Seq(9))), ("bob".into(), Some(Seq(9)))]);
}

#[test]
fn a_removed_element_is_forgotten_and_not_restored_by_a_late_reply() {
    let mut app = room();
    let board = add_element(&mut app, "ideas", "pinboard");
    let ada = add_agent(&mut app, "ada");
    let saw = MemoryAct::Saw { element: board, version: 1, summary: "pins".into() };
    edit(&mut app, ada, saw.clone());
    edit(&mut app, ada, MemoryAct::KeepPin { element: board, pin: "p1".into() });
    edit(&mut app, ada, MemoryAct::KeepPin { element: board, pin: "p2".into() });
    advance(app.world_mut());
    change(&mut app, board, ElementChange::of_item("pin_removed", &"p1".into()).because("taken down"), "user");
    advance(app.world_mut());
    assert_eq!(memory(&app, ada).kept_pins, [(board, "p2".into())]);
    let entity = app.world().resource::<Elements>().entity(board).expect("it should exist");
    app.world_mut().despawn(entity);
    app.world_mut().resource_mut::<Elements>().remove(board, "ideas");
    change(&mut app, board, ElementChange::new(ElementChange::REMOVED), "user");
    advance(app.world_mut());
    edit(&mut app, ada, saw);
    advance(app.world_mut());
    assert_eq!(memory(&app, ada), Memory::default());
}

#[test]
fn only_changes_of_others_are_news() {
    let mut app = room();
    let board = add_element(&mut app, "ideas", "pinboard");
    let (ada, bob) = (add_agent(&mut app, "ada"), add_agent(&mut app, "bob"));
    change(&mut app, board, ElementChange::of_item("pin_added", &"p0".into()), "user");
    advance(app.world_mut());
    for agent in [ada, bob] {
        edit(&mut app, agent, MemoryAct::Saw { element: board, version: 2, summary: "pins".into() });
    }
    change(&mut app, board, ElementChange::of_item("pin_added", &"p1".into()), "ada");
    advance(app.world_mut());
    let version =
        |app: &App, agent| memory(app, agent).environment_state.get(&board).map(|seen: &SeenElement| seen.version);
    assert_eq!((version(&app, ada), version(&app, bob)), (Some(3), Some(2)));
}

#[test]
fn an_archived_memory_is_restored_and_the_archive_is_bounded() {
    let mut app = room();
    app.world_mut().resource_mut::<MemorySettings>().max_archived_agents = 2;
    for id in ["ada", "bob", "cleo"] {
        let key = add_agent(&mut app, id);
        edit(&mut app, key, MemoryAct::Note { text: format!("of {id}") });
        advance(app.world_mut());
        remove_agent(&mut app, key, id);
    }
    let (ada, cleo) = (add_agent(&mut app, "ada"), add_agent(&mut app, "cleo"));
    assert_eq!(memory(&app, ada), Memory::default(), "who left first was forgotten");
    assert_eq!(memory(&app, cleo).workspace_notes, ["of cleo"]);
}

#[test]
fn memories_survive_a_restart() {
    let mut app = room();
    let board = add_element(&mut app, "ideas", "pinboard");
    let ada = add_agent(&mut app, "ada");
    edit(&mut app, ada, MemoryAct::Saw { element: board, version: 1, summary: "pins".into() });
    edit(&mut app, ada, MemoryAct::KeepPin { element: board, pin: "p1".into() });
    advance(app.world_mut());
    let bob = add_agent(&mut app, "bob");
    edit(&mut app, bob, MemoryAct::Note { text: "gone".into() });
    advance(app.world_mut());
    remove_agent(&mut app, bob, "bob");
    let saved_world = saved::save_world(app.world_mut()).expect("it can be saved");
    let mut loaded = room();
    add_element(&mut loaded, "ideas", "pinboard");
    add_agent(&mut loaded, "ada");
    saved::load_world(loaded.world_mut(), &saved_world).expect("it can be loaded");
    assert_eq!(memory(&loaded, ada), memory(&app, ada));
    assert_eq!(saved::world_hash(loaded.world_mut()), saved::world_hash(app.world_mut()));
}
