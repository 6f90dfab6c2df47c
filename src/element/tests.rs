//! Elements in a room: edits through the door, files that persons write, and a restart.

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use bevy::math::Vec2;
use serde_json::{Value, json};

use super::pinboard::Pinboard;
use super::*;
use crate::base::{Author, Id};
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{Door, advance};
use crate::store::{EventKind, EventLog};
use crate::workspace::files::FileContent;
use crate::workspace::{ElementEntry, FileChanged, ProblemReport, SceneEdit, SceneWrite};

fn room() -> App {
    let mut app = App::new();
    crate::schedule::plugin(&mut app);
    app.init_resource::<EventLog>();
    crate::agent::plugin(&mut app);
    plugin(&mut app);
    app
}

fn entry(id: &str, kind: &str, rest: Value) -> ElementEntry {
    let word = |key: &str| rest.get(key).and_then(Value::as_str);
    ElementEntry {
        id: id.into(),
        kind: kind.into(),
        label: word("label").map(str::to_owned),
        position: Vec2::new(0.0, rest.get("y").and_then(Value::as_f64).unwrap_or(0.0) as f32),
        owner: word("owner").map(Id::from),
        file: word("file").map(str::to_owned),
        keys: rest.as_object().unwrap().clone(),
        line: Some(3),
    }
}

fn scene(app: &mut App, now: ElementEntry, before: Option<ElementEntry>) {
    app.world_mut().write_message(SceneEdit::Element { now, before });
    advance(app.world_mut());
}

fn edit(app: &mut App, element: &str, by: &str, act: ElementAct) {
    let edit = ElementEdit { element: element.into(), act, by: Author(by.into()), cause: None };
    app.world_mut().resource_mut::<Door<ElementEdit>>().push(edit);
    advance(app.world_mut());
}

fn pin(text: &str) -> ElementAct {
    ElementAct::AddPin { id: None, text: text.into() }
}

fn told<M: Message + Clone>(app: &App) -> Vec<M> {
    let messages = app.world().resource::<Messages<M>>();
    messages.get_cursor().read(messages).cloned().collect()
}

fn element<'a>(app: &'a App, id: &str) -> (&'a Element, &'a dyn Content) {
    let elements = app.world().resource::<Elements>();
    let entity = elements.entity(elements.key(id).unwrap()).unwrap();
    (app.world().get::<Element>(entity).unwrap(), &*app.world().get::<Held>(entity).unwrap().0)
}

fn pins(app: &App, id: &str) -> Vec<String> {
    let board = element(app, id).1.as_any().downcast_ref::<Pinboard>().unwrap();
    board.pins.iter().map(|pin| pin.text.clone()).collect()
}

fn agent(app: &mut App, id: &str) {
    let content = FileContent::Text("# Ada".into());
    app.world_mut().write_message(FileChanged { path: "agents/ada.md".into(), content });
    app.world_mut().resource_mut::<Door<crate::agent::AgentCommand>>().push(crate::agent::AgentCommand::Add {
        id: Some(id.into()),
        profile: "ada".into(),
        position: Vec2::ZERO,
        behaviour: None,
        exactly: false,
    });
    advance(app.world_mut());
}

#[test]
fn an_edit_is_applied_once_told_once_and_written_once() {
    let mut app = room();
    scene(&mut app, entry("ideas", "pinboard", json!({ "y": 90 })), None);
    assert_eq!(app.world().resource::<crate::agent::TopmostElement>().0, Some(90.0));
    edit(&mut app, "ideas", "ada-1", pin("one"));
    advance(app.world_mut());
    assert_eq!(pins(&app, "ideas"), ["one"]);
    assert_eq!(element(&app, "ideas").0.version, 1);
    let log = app.world_mut().resource_mut::<EventLog>().take();
    assert_eq!(log.iter().filter(|record| record.draft.kind == EventKind::ElementChanged).count(), 2);
    edit(&mut app, "ideas", "ada-1", pin("two"));
    let changes = told::<ElementChanged>(&app);
    assert!(matches!(&changes[..], [ElementChanged { change: ElementChange::PinAdded { id }, .. }] if &**id == "p2"));
    let [SceneWrite::Element { id, keys }] = &told::<SceneWrite>(&app)[..] else { panic!("one write") };
    assert_eq!((&**id, keys["pins"].as_array().unwrap().len()), ("ideas", 2));
}

#[test]
fn what_cannot_be_done_is_told_to_whoever_tried() {
    let mut app = room();
    scene(&mut app, entry("ideas", "pinboard", json!({ "pins": ["mine"] })), None);
    for act in [
        ElementAct::RemovePin { id: "p1".into() },
        ElementAct::SetText { text: "x".into() },
        pin(" "),
        pin(&"x".repeat(2001)),
        ElementAct::Vote { id: "p9".into(), up: true },
    ] {
        edit(&mut app, "ideas", "ada-1", act);
        let refused = told::<ElementRefused>(&app);
        assert_eq!(refused.last().unwrap().by, Author("ada-1".into()));
    }
    edit(&mut app, "idees", "ada-1", pin("x"));
    assert!(told::<ElementRefused>(&app).last().unwrap().why.contains("did you mean ideas?"));
    assert_eq!(element(&app, "ideas").0.version, 0);
}

#[test]
fn a_persons_file_is_never_cut_behind_their_back() {
    let many: Vec<String> = (0..5000).map(|index| format!("pin {index}")).collect();
    let mut app = room();
    scene(&mut app, entry("ideas", "pinboard", json!({ "pins": many })), None);
    assert_eq!(pins(&app, "ideas").len(), 5000);
    edit(&mut app, "ideas", "ada-1", pin("new"));
    let now = pins(&app, "ideas");
    assert_eq!((now.len(), now[0].as_str(), now[4999].as_str()), (5000, "pin 1", "new"));
}

#[test]
fn a_changed_entry_joins_what_agents_did_meanwhile() {
    let mut app = room();
    let before = entry("ideas", "pinboard", json!({ "pins": [{ "id": "p1", "text": "a" }] }));
    scene(&mut app, before.clone(), None);
    edit(&mut app, "ideas", "ada-1", pin("from ada"));
    let mut now =
        entry("ideas", "pinboard", json!({ "label": "Plans", "pins": ["mine", { "id": "p1", "text": "b" }] }));
    now.position = Vec2::new(5.0, 6.0);
    scene(&mut app, now, Some(before));
    assert_eq!(pins(&app, "ideas"), ["mine", "b", "from ada"]);
    let (element, _) = element(&app, "ideas");
    assert_eq!((&*element.label, element.position), ("Plans", Vec2::new(5.0, 6.0)));
    assert!(told::<SceneWrite>(&app).iter().any(|write| matches!(write, SceneWrite::Element { .. })));
}

#[test]
fn an_element_holds_what_its_file_says() {
    let mut app = room();
    scene(&mut app, entry("ideas", "pinboard", json!({ "file": "boards/ideas.md" })), None);
    assert_eq!(told::<ProblemReport>(&app)[0].source, "element ideas");
    edit(&mut app, "ideas", "ada-1", pin("one"));
    let writes = told::<SceneWrite>(&app);
    let [SceneWrite::File { path, text }] = &writes[..] else { panic!("one write: {writes:?}") };
    assert_eq!(path, "boards/ideas.md");
    let text = format!("# Ideas\n\n{text}- two\n");
    let content = FileContent::Text(text);
    advance(app.world_mut());
    app.world_mut().write_message(FileChanged { path: path.clone(), content });
    advance(app.world_mut());
    assert_eq!(pins(&app, "ideas"), ["one", "two"]);
    assert!(told::<SceneWrite>(&app).is_empty());
    assert!(told::<ProblemReport>(&app).last().unwrap().problems.is_empty());
    edit(&mut app, "ideas", "ada-1", pin("three"));
    let writes = told::<SceneWrite>(&app);
    let [SceneWrite::File { text, .. }] = &writes[..] else { panic!("one write: {writes:?}") };
    assert!(text.starts_with("# Ideas\n\n- one <!-- pin"), "{text}");
}

#[test]
fn mail_reaches_its_owner_only_and_the_sender_keeps_a_copy() {
    let mut app = room();
    scene(&mut app, entry("hers", "inbox", json!({ "owner": "ada-1" })), None);
    scene(&mut app, entry("theirs", "inbox", json!({ "owner": "ada" })), None);
    agent(&mut app, "ada-1");
    agent(&mut app, "ada-2");
    let mail = ElementAct::AddMail {
        id: None,
        from: "ada-1".into(),
        to: "ada-2".into(),
        subject: "Hello".into(),
        text: "You?".into(),
        attachments: Vec::new(),
    };
    edit(&mut app, "theirs", "ada-1", mail.clone());
    let (_, theirs) = element(&app, "theirs");
    assert_eq!(theirs.prompt_text("ada-2"), "m1 from ada-1: Hello\n  You?");
    assert_eq!(theirs.prompt_text("bo-1"), "");
    assert_eq!(element(&app, "hers").1.prompt_text("ada-2"), "");
    assert_eq!(element(&app, "hers").1.to_scene()["outbox"][0]["subject"], "Hello");
    let version = element(&app, "theirs").0.version;
    edit(&mut app, "theirs", "bo-1", ElementAct::RemoveMail { id: "m1".into() });
    assert_eq!(told::<ElementRefused>(&app).len(), 1);
    edit(&mut app, "theirs", "ada-2", ElementAct::MarkMailRead { ids: vec!["m1".into()] });
    assert_eq!(element(&app, "theirs").0.version, version);
    for _ in 0..100 {
        edit(&mut app, "theirs", "ada-1", mail.clone());
    }
    assert!(told::<ElementRefused>(&app).last().unwrap().why.contains("came back: the box is full"));
}

#[test]
fn persons_arrange_elements() {
    let mut app = room();
    let command = |app: &mut App, command| {
        app.world_mut().resource_mut::<Door<ElementCommand>>().push(command);
        advance(app.world_mut());
        told::<SceneWrite>(app).len()
    };
    let keys = json!({ "kind": "pinboard", "position": [1, 2] }).as_object().unwrap().clone();
    assert_eq!(command(&mut app, ElementCommand::Add { keys: keys.clone() }), 1);
    let SceneWrite::AddElement { keys: written } = &told::<SceneWrite>(&app)[0] else { panic!("an added element") };
    assert_eq!(written.iter().next().unwrap().1, "pinboard-1");
    let id: Id = "pinboard-1".into();
    command(&mut app, ElementCommand::Move { element: id.clone(), position: Vec2::new(3.0, f32::NAN) });
    assert_eq!(told::<ElementRefused>(&app).len(), 1);
    command(&mut app, ElementCommand::Move { element: id.clone(), position: Vec2::new(3.0, 4.0) });
    command(&mut app, ElementCommand::Relabel { element: id.clone(), label: "Plans".into() });
    assert_eq!((element(&app, &id).0.position, &*element(&app, &id).0.label), (Vec2::new(3.0, 4.0), "Plans"));
    command(&mut app, ElementCommand::Remove { element: id });
    assert_eq!(app.world().resource::<Elements>().ids().count(), 0);
}

#[test]
fn an_unknown_kind_is_a_problem_with_a_suggestion() {
    let mut app = room();
    scene(&mut app, entry("x", "pinbord", json!({})), None);
    let problem = &told::<ProblemReport>(&app)[0].problems[0];
    assert_eq!((problem.remedy.as_str(), problem.line), ("did you mean \"pinboard\"?", Some(3)));
    assert!(told::<SceneWrite>(&app).is_empty());
}

#[test]
fn a_loaded_room_goes_on_as_the_saved_one() {
    let mut app = room();
    scene(&mut app, entry("ideas", "pinboard", json!({ "pins": ["a"] })), None);
    scene(&mut app, entry("mail", "inbox", json!({ "owner": "ada", "items": [{ "text": "hi" }] })), None);
    scene(&mut app, entry("x", "nothing", json!({})), None);
    agent(&mut app, "ada-1");
    edit(&mut app, "ideas", "ada-1", pin("b"));
    edit(&mut app, "ideas", "user", ElementAct::RemovePin { id: "p2".into() });
    app.world_mut().resource_mut::<Door<ElementCommand>>().push(ElementCommand::Remove { element: "x".into() });
    advance(app.world_mut());
    let saved = save_world(app.world_mut()).unwrap();
    let mut other = room();
    load_world(other.world_mut(), &saved).unwrap();
    assert_eq!(world_hash(app.world_mut()), world_hash(other.world_mut()));
    assert!(element(&other, "mail").1.prompt_text("ada-1").contains("hi"));
    for app in [&mut app, &mut other] {
        edit(app, "ideas", "ada-1", pin("c"));
    }
    assert_eq!(element(&other, "ideas").1.prompt_text(""), "p1 (by user, +0 −0): a\np3 (by ada-1, +0 −0): c");
    assert_eq!(world_hash(app.world_mut()), world_hash(other.world_mut()));
}
