//! Person's actions in the window on a real room with files: performed, saved, undone, and reloaded.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bevy::ecs::message::Messages;
use bevy::math::Vec2;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::command_handling::{continue_pending, handle_command};
use super::file_jobs::FileJobDone;
use super::open_room::OpenRoom;
use crate::agent::AgentCommand;
use crate::agent::spawn_position::tenths;
use crate::app::clock_driver::{Driver, Step};
use crate::app::room::OpenOptions;
use crate::base::{Author, Id};
use crate::element::{ElementAct, ElementCommand, ElementEdit, MailAct, MailStatus, PinAct, TextAct};
use crate::log::events::FileChange;
use crate::schedule::{InputQueue, Speed};
use crate::simulation::RelationshipCommand;
use crate::ui::commands::RoomAct;
use crate::ui::commands::create;
use crate::ui::panes::editor::{Draft, Editors};
use crate::ui::shell::Shell;
use crate::ui::state::DropPlace;
use crate::ui::state::file_texts::FileTexts;
use crate::ui::{Command, UiState};
use crate::view::extract::DetailRequest;
use crate::view::model::{ContentView, RoomModel};
use crate::view::pick::RoomObject;
use crate::workspace::vfs::{FileCommand, FileOperation};
use crate::workspace::{Relationship, SceneState, SceneWrite, save_now};

mod brought_in;
mod channels;
mod opening;
mod task_board;
mod undo_files;
mod workflows;

const SCENE: &str = "# My room\nname: Test\nelements:\n  - { id: rules, kind: rulebook, position: [0, 100], text: Be kind }\n  \
                     # Ideas of all\n  - id: ideas\n    kind: pinboard\n    position: [200, 100]\n    pins:\n      - { id: p1, text: Buy tea, author: ada-1, up: [bram-1], comments: [{ author: ada-1, text: Green }] }\n      - { id: p2, text: Sing, author: user, time: 3 }\n  \
                     - { id: post, kind: inbox, position: [400, 100], owner: ada-1, items: [{ id: m1, from: bram-1, to: ada-1, subject: Tea, text: At four }] }\n  \
                     - { id: news, kind: messageboard, position: [600, 100], file: boards/news.md }\n\
                     agents:\n  - { id: ada-1, profile: ada, position: [-900, 900], behaviour: stationary }\n  - { id: bram-1, profile: bram, position: [0, 900], behaviour: stationary }\n  \
                     - { id: cleo-1, profile: ada, position: [900, 900], behaviour: stationary }\n\
                     relationships:\n  - { from: ada-1, to: bram-1, label: mentors }\n  - { from: bram-1, to: cleo-1, label: likes }\n";

/// A paused room in its own folder, so that only the person's actions have an effect.
struct PausedRoom {
    folder: tempfile::TempDir,
    room: OpenRoom,
    state: UiState,
    shell: Shell,
}

impl PausedRoom {
    fn new() -> Self {
        Self::open(false)
    }

    /// Opens a room that watches its files for external changes, or one that is notified by the test.
    fn open(watch: bool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let files = [
            ("settings.yaml", ""),
            ("scenes/test.yaml", SCENE),
            ("scenes/other.yaml", "name: Other\nagents: [{ id: zoe, profile: ada }]\n"),
            ("agents/ada.md", "You are Ada."),
            ("agents/bram.md", "You are Bram."),
            ("boards/news.md", "All is well\n"),
        ];
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            scene: Some("test".into()),
            watch,
            provider: Some("offline".into()),
            ..OpenOptions::trusted()
        };
        let room = OpenRoom::open(options).expect("the room opens");
        let mut fixture = Self { folder, room, state: UiState::default(), shell: Shell::default() };
        fixture.room.world().expect("it is open").resource_mut::<crate::schedule::SimClock>().speed = Speed::Max;
        fixture.settle();
        fixture.perform(Command::SetPaused(true));
        fixture.settle();
        fixture
    }

    /// Processes the inbox, and enough ticks for all results to arrive.
    fn settle(&mut self) {
        let Some(world) = self.room.world() else { return };
        let mut driver = Driver::default();
        let began = Instant::now();
        let mut ticks = 0;
        while ticks < 4 && began.elapsed() < Duration::from_secs(20) {
            match driver.try_step(world) {
                Step::Ticked => ticks += 1,
                Step::Paused => break,
                Step::Owed | Step::Early => std::thread::yield_now(),
            }
        }
    }

    fn model(&mut self) -> RoomModel {
        let everything =
            [RoomObject::Agent("ada-1".into()), RoomObject::Agent("bram-1".into()), RoomObject::Agent("cleo-1".into())];
        let things = everything.into_iter().chain(self.state.selection.things().iter().cloned()).collect();
        let camera = self.state.view.camera;
        self.room.model(&DetailRequest { camera: &camera, things: &things, overlay: false, share: 1.0 })
    }

    fn perform(&mut self, command: Command) {
        let model = self.model();
        handle_command(&mut self.room, &model, &mut self.state, &mut self.shell, command);
    }

    /// Performs a command and waits until it is done.
    fn act(&mut self, command: Command) {
        self.perform(command);
        self.settle();
    }

    fn edit(&mut self, element: &str, act: ElementAct) {
        let edit = ElementEdit { element: element.into(), act, by: Author::user(), cause: None };
        self.act(Command::Act(RoomAct::Edit(edit), None));
    }

    /// Renames a file with this outcome.
    fn rename(&mut self, from: &str, to: &str, outcome: Result<(), String>) {
        let rename = |from: &str, to: &str| FileOperation::Rename { from: from.into(), to: to.into() };
        let order = |operation| RoomAct::File(self.state.file_command(operation));
        let (forth, back) = (order(rename(from, to)), order(rename(to, from)));
        self.until_renamed(Command::Act(forth, Some(back)), outcome);
    }

    /// Runs a command that renames a file, and delivers the outcome before anything else.
    fn until_renamed(&mut self, command: Command, outcome: Result<(), String>) {
        let before = self.files();
        self.perform(command);
        continue_pending(&mut self.room, &mut self.state, &mut self.shell.parts);
        assert_eq!(self.files(), before, "nothing is known yet");
        let order = self.room.renames.last_order().expect("it is waited for how it goes");
        self.room.recent.record_file_outcomes([(order, outcome)]);
        continue_pending(&mut self.room, &mut self.state, &mut self.shell.parts);
    }

    /// The files in tabs, the active one, and the unsaved ones.
    fn files(&self) -> (Vec<String>, Option<String>, Vec<String>) {
        (self.state.dock.files(), self.state.selection.file().map(str::to_owned), self.shell.parts.panes.unsaved())
    }

    fn saved(&mut self, path: &str) -> String {
        assert_eq!(save_now(self.room.world().expect("it is open")), []);
        fs::read_to_string(self.folder.path().join(path)).expect("it should exist")
    }

    /// The saved scene without what undo may change: order of entries, times, and explicit defaults.
    fn scene(&mut self) -> Value {
        let text = self.saved("scenes/test.yaml");
        let known = self.room.world().expect("it is open").resource::<SceneState>().doc.root.clone();
        let read = crate::workspace::yaml::parse(&text).expect("it is YAML");
        assert_eq!(read, known, "what is saved is what the room knows");
        let list = |name: &str| {
            let entries = read.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
            let entry = |entry: &Value| (entry["id"].as_str().unwrap_or_default().to_owned(), timeless(entry));
            entries.iter().map(entry).collect::<BTreeMap<String, Value>>()
        };
        let board = self.saved("boards/news.md");
        json!({ "elements": list("elements"), "agents": list("agents"), "ropes": read["relationships"], "board": board })
    }
}

/// Removes times and message ids: redoing happens later, and a mail sent again is a new message.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let is_kept = |key: &str, value: &Value| {
                !(matches!(key, "time" | "sent" | "message") || key == "status" && value == "open")
            };
            let kept = map.iter().filter(|(key, value)| is_kept(key, value));
            Value::Object(kept.map(|(key, value)| (key.clone(), timeless(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(timeless).collect()),
        other => other.clone(),
    }
}

fn tie(from: &str, to: &str, label: &str) -> Relationship {
    Relationship { from: from.into(), to: to.into(), label: label.into() }
}

fn relate(command: RelationshipCommand) -> Command {
    Command::Act(RoomAct::Relate(command), None)
}

/// An undoable action of a person.
#[derive(Clone, Debug)]
enum Deed {
    Pin(String),
    EditPin,
    TakePinDown(usize),
    Vote(bool),
    Comment(String),
    Write(&'static str, String),
    Mail(String),
    Throw(usize),
    Close,
    MoveElement(usize, i16),
    Relabel(usize, String),
    Nudge(usize),
    Delete(usize),
    DeleteAll,
    Duplicate(usize),
    AddElement(&'static str),
    AddAgent,
    Home(usize, i16),
    Relate(usize, usize, String),
    Unrelate(usize),
    Rename(usize, String),
}

fn deed() -> impl Strategy<Value = Deed> {
    let word = || "[a-z]{1,6}( [a-z]{1,4})?";
    prop_oneof![
        word().prop_map(Deed::Pin),
        Just(Deed::EditPin),
        (0..4_usize).prop_map(Deed::TakePinDown),
        any::<bool>().prop_map(Deed::Vote),
        word().prop_map(Deed::Comment),
        (prop_oneof![Just("rules"), Just("news")], word()).prop_map(|(id, text)| Deed::Write(id, text)),
        word().prop_map(Deed::Mail),
        (0..3_usize).prop_map(Deed::Throw),
        Just(Deed::Close),
        (0..6_usize, any::<i16>()).prop_map(|(index, x)| Deed::MoveElement(index, x)),
        (0..6_usize, word()).prop_map(|(index, label)| Deed::Relabel(index, label)),
        (0..6_usize).prop_map(Deed::Nudge),
        (0..9_usize).prop_map(Deed::Delete),
        Just(Deed::DeleteAll),
        (0..9_usize).prop_map(Deed::Duplicate),
        prop_oneof![Just("pinboard"), Just("inbox")].prop_map(Deed::AddElement),
        Just(Deed::AddAgent),
        (0..4_usize, any::<i16>()).prop_map(|(index, x)| Deed::Home(index, x)),
        (0..4_usize, 0..4_usize, word()).prop_map(|(from, to, label)| Deed::Relate(from, to, label)),
        (0..4_usize).prop_map(Deed::Unrelate),
        (0..4_usize, word()).prop_map(|(index, label)| Deed::Rename(index, label)),
    ]
}

impl Deed {
    /// The command of this action in the current room, if it is possible.
    fn command(&self, room: &RoomModel) -> Option<Command> {
        let edit = |element: &str, act| {
            let edit = ElementEdit { element: element.into(), act, by: Author::user(), cause: None };
            room.element(element).map(|_| Command::Act(RoomAct::Edit(edit), None))
        };
        let pin = |index: usize| match room.element("ideas").map(|element| &*element.content) {
            Some(ContentView::Pins(pins)) if !pins.is_empty() => Some(pins[index % pins.len()].id.clone()),
            _ => None,
        };
        let mail = |index: usize| match room.element("post").map(|element| &*element.content) {
            Some(ContentView::Mail { items, .. }) if !items.is_empty() => Some(items[index % items.len()].id.clone()),
            _ => None,
        };
        let element = |index: usize| room.elements.get(index % room.elements.len().max(1));
        let agent = |index: usize| room.agents.get(index % room.agents.len().max(1));
        let things = || {
            let agents = room.agents.iter().map(|agent| RoomObject::Agent(agent.id.clone()));
            let elements = room.elements.iter().map(|element| RoomObject::Element(element.id.clone()));
            agents.chain(elements).collect::<Vec<_>>()
        };
        let thing = |index: usize| things().get(index).cloned().map(|thing| vec![thing]);
        let tie = |index: usize| room.relationships().nth(index);
        match self.clone() {
            Self::Pin(text) => edit("ideas", PinAct::AddPin { id: None, text }.into()),
            Self::EditPin => edit("ideas", PinAct::EditPin { id: pin(0)?, text: "Other".into() }.into()),
            Self::TakePinDown(index) => edit("ideas", PinAct::RemovePin { id: pin(index)? }.into()),
            Self::Vote(up) => edit("ideas", PinAct::Vote { id: pin(0)?, up }.into()),
            Self::Comment(text) => edit("ideas", PinAct::Comment { id: pin(0)?, text }.into()),
            Self::Write(id, text) => edit(id, TextAct::SetText { text }.into()),
            Self::Mail(text) => {
                let (from, to) = ("user".into(), "ada-1".into());
                let attachments = Vec::new();
                edit("post", MailAct::AddMail { id: None, from, to, subject: "S".into(), text, attachments }.into())
            }
            Self::Throw(index) => edit("post", MailAct::RemoveMail { id: mail(index)? }.into()),
            Self::Close => edit("post", MailAct::SetMailStatus { id: mail(0)?, status: MailStatus::Closed }.into()),
            Self::MoveElement(index, x) => {
                let element = element(index)?;
                let to = |position| RoomAct::Element(ElementCommand::Move { element: element.id.clone(), position });
                let place = tenths(Vec2::new(f32::from(x) / 10.0, 40.0));
                Some(Command::Act(to(place), Some(to(element.position))))
            }
            Self::Relabel(index, label) => {
                let element = element(index)?;
                let called = |label: &str| {
                    RoomAct::Element(ElementCommand::Relabel { element: element.id.clone(), label: label.to_owned() })
                };
                Some(Command::Act(called(&label), Some(called(&element.label))))
            }
            Self::Nudge(index) => Some(Command::Nudge(vec![element(index)?.id.clone()], Vec2::X)),
            Self::Delete(index) => thing(index).map(Command::Delete),
            Self::DeleteAll => Some(Command::Delete(things())),
            Self::Duplicate(index) => thing(index).map(Command::Duplicate),
            Self::AddElement(kind) => Some(create::element_at(room, kind, Vec2::new(7.0, 7.0))),
            Self::AddAgent => create::add_agent(room, &"ada".into(), Vec2::new(0.5, 1_500.0), false).into_iter().next(),
            Self::Home(index, x) => {
                let agent = agent(index)?;
                Some(place(&agent.id, Vec2::new(f32::from(x) / 10.0, 950.0)))
            }
            Self::Relate(from, to, label) => {
                let relationship = Relationship { from: agent(from)?.id.clone(), to: agent(to)?.id.clone(), label };
                Some(relate(RelationshipCommand::Add { relationship, at: None }))
            }
            Self::Unrelate(index) => Some(relate(RelationshipCommand::Remove { relationship: tie(index)? })),
            Self::Rename(index, label) => {
                Some(relate(RelationshipCommand::Relabel { relationship: tie(index)?, label }))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]
    #[test]
    fn every_action_can_be_undone_and_redone(
        deeds in proptest::collection::vec(deed(), 1..26),
    ) {
        let mut fixture = PausedRoom::new();
        let before = fixture.scene();
        let mut commands = Vec::new();
        for deed in &deeds {
            let model = fixture.model();
            if let Some(command) = deed.command(&model) {
                commands.push(format!("{command:?}"));
                fixture.act(command);
            }
        }
        let after = fixture.scene();
        let (steps, _) = fixture.room.history.len();
        for _ in 0..steps {
            fixture.act(Command::Undo);
        }
        prop_assert_eq!(fixture.scene(), before, "taken back: {:#?}", commands);
        for _ in 0..steps {
            fixture.act(Command::Redo);
        }
        prop_assert_eq!(fixture.scene(), after, "done again: {:#?}", commands);
        prop_assert_eq!(fixture.room.history.len(), (steps, 0));
    }
}

#[test]
fn relationships_sync_both_ways_with_the_scene_file() {
    let mut fixture = PausedRoom::new();
    fixture.act(relate(RelationshipCommand::Add { relationship: tie("cleo-1", "ada-1", "fears"), at: None }));
    let text = fixture.saved("scenes/test.yaml");
    assert_eq!(text, format!("{SCENE}  - {{ from: cleo-1, to: ada-1, label: fears }}\n"));
    fixture.act(relate(RelationshipCommand::Add { relationship: tie("cleo-1", "cleo-1", "x"), at: None }));
    assert!(
        fixture
            .state
            .notices
            .outcomes()
            .last()
            .expect("it should be reported")
            .text
            .contains("cannot be related to itself")
    );
    let edited = text.replace("mentors", "teaches");
    fixture.notify_at("scenes/test.yaml", &edited);
    let labels: Vec<String> = fixture.model().relationships().map(|tie| tie.label).collect();
    assert_eq!(labels, ["teaches", "likes", "fears"]);
    fixture.act(Command::Delete(vec![RoomObject::Agent("bram-1".into())]));
    assert_eq!(fixture.model().relationships().count(), 1, "who leaves is related to nobody");
    fixture.act(Command::Undo);
    let labels: Vec<String> = fixture.model().relationships().map(|tie| tie.label).collect();
    assert_eq!(labels, ["teaches", "likes", "fears"], "and comes back with everybody it knew");
}

impl PausedRoom {
    /// An external program writes a workspace file.
    fn notify_at(&mut self, path: &str, text: &str) {
        fs::write(self.folder.path().join(path), text).expect("files can be written");
        let content = crate::workspace::files::FileContent::Text(text.to_owned());
        let change = crate::workspace::FileChanged::new(path, content);
        let world = self.room.world().expect("it is open");
        world.resource_mut::<crate::schedule::InputQueue<crate::workspace::FileChanged>>().push(change);
        self.settle();
    }

    /// Runs frames until nothing is pending.
    fn frames(&mut self) {
        let began = Instant::now();
        while (!self.room.file_jobs.is_idle() || self.room.opening.is_some())
            && began.elapsed() < Duration::from_secs(20)
        {
            continue_pending(&mut self.room, &mut self.state, &mut self.shell.parts);
            std::thread::yield_now();
        }
        self.settle();
    }

    /// The part of a frame that loads content for panes.
    fn read_files(&mut self) {
        let now_secs = self.room.now_secs();
        let OpenRoom { file_cache, recent, .. } = &mut self.room;
        file_cache.update(&mut self.state.texts, &mut recent.book, true, now_secs);
    }

    fn desktop(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(format!("desktop-{}", name.replace('/', "-")));
        fs::create_dir_all(&path).expect("folders can be made");
        let path = path.join(name);
        fs::write(&path, text).expect("files can be written");
        path
    }
}

#[test]
fn edits_are_saved_to_scene_or_board_and_file_edits_appear() {
    let mut fixture = PausedRoom::new();
    fixture.edit("news", TextAct::SetText { text: "The kettle is on".into() }.into());
    assert_eq!(fixture.saved("boards/news.md").trim(), "The kettle is on");
    fixture.edit("ideas", PinAct::AddPin { id: None, text: "Bake".into() }.into());
    let text = fixture.saved("scenes/test.yaml");
    assert!(text.contains("text: Bake") && text.contains("# Ideas of all"), "{text}");
    fixture.act(Command::Undo);
    fixture.act(Command::Undo);
    assert_eq!(fixture.saved("scenes/test.yaml"), SCENE, "to the letter");
    assert_eq!(fixture.saved("boards/news.md").trim(), "All is well");
    fixture.notify_at("boards/news.md", "From outside\n");
    let model = fixture.model();
    let news = model.element("news").expect("it should exist");
    assert_eq!(*news.content, ContentView::Text("From outside".into()));
}

#[test]
fn things_added_in_the_same_frame_get_unique_ids() {
    let mut fixture = PausedRoom::new();
    let model = fixture.model();
    for _ in 0..3 {
        // Three commands from the same model, with no tick in between.
        for add in create::add_agent(&model, &"ada".into(), Vec2::new(0.0, 900.0), false) {
            handle_command(&mut fixture.room, &model, &mut fixture.state, &mut fixture.shell, add);
        }
        let board = create::element_at(&model, "pinboard", Vec2::ZERO);
        handle_command(&mut fixture.room, &model, &mut fixture.state, &mut fixture.shell, board);
        let pin = PinAct::AddPin { id: None, text: "x".into() }.into();
        let edit = ElementEdit { element: "ideas".into(), act: pin, by: Author::user(), cause: None };
        handle_command(
            &mut fixture.room,
            &model,
            &mut fixture.state,
            &mut fixture.shell,
            Command::Act(RoomAct::Edit(edit), None),
        );
    }
    fixture.settle();
    let model = fixture.model();
    let agents: Vec<&Id> = model.agents.iter().map(|agent| &agent.id).skip(3).collect();
    assert_eq!(agents, [&Id::from("ada-2"), &"ada-3".into(), &"ada-4".into()]);
    assert_eq!(model.elements.len(), 7);
    for _ in 0..9 {
        fixture.act(Command::Undo);
    }
    let model = fixture.model();
    assert_eq!((model.agents.len(), model.elements.len()), (3, 4));
    assert_eq!(fixture.saved("scenes/test.yaml"), SCENE);
}

#[test]
fn an_impossible_undo_is_reported_and_changes_nothing_else() {
    let mut fixture = PausedRoom::new();
    let pin = PinAct::AddPin { id: None, text: "Bake".into() }.into();
    fixture.edit("ideas", pin);
    let text = fixture.saved("scenes/test.yaml");
    let line = text.lines().find(|line| line.contains("Bake")).expect("it is pinned up").to_owned();
    fixture.notify_at("scenes/test.yaml", &text.replace(&format!("{line}\n"), ""));
    fixture.act(Command::Undo);
    let notice = &fixture.state.notices.outcomes().last().expect("it should be reported").text;
    assert!(notice.contains("failed") && notice.contains("no pin"), "{notice}");
}

#[test]
fn a_scene_is_created_and_opened_without_blocking_a_frame() {
    let mut fixture = PausedRoom::new();
    fixture.perform(Command::NewScene("Quiet evening".into()));
    fixture.perform(Command::NewScene("Quiet evening".into()));
    fixture.frames();
    assert_eq!(fixture.model().scene, "quiet-evening");
    assert!(fixture.room.notices.is_empty(), "the second click did nothing: {:?}", fixture.room.notices);
    assert!(fixture.model().scenes.contains(&"quiet-evening".to_owned()));
    fixture.perform(Command::NewScene("Other".into()));
    fixture.frames();
    assert_eq!(fixture.model().scene, "quiet-evening", "one that is there is not written over");
    assert!(fixture.room.notices[0].what.contains("with that name"));
    fixture.perform(Command::OpenScene("test".into()));
    continue_pending(&mut fixture.room, &mut fixture.state, &mut fixture.shell.parts);
    let running = |fixture: &PausedRoom| fixture.room.running().map(|job| job.name).collect::<Vec<_>>();
    assert_eq!(running(&fixture), ["Opening test"], "it is shown before it is done");
    fixture.frames();
    assert_eq!((fixture.model().scene.as_str(), running(&fixture)), ("test", vec![]));
    fixture.perform(Command::SaveSceneAs("Copy".into()));
    fixture.frames();
    assert_eq!(fs::read_to_string(fixture.folder.path().join("scenes/copy.yaml")).expect("it should exist"), SCENE);
}

/// The command of a drag when the mouse button is released.
fn place(agent: &Id, position: Vec2) -> Command {
    Command::Acts(vec![(RoomAct::Agent(AgentCommand::Place { agent: agent.clone(), position }), None)])
}

fn at(x: f32, y: f32) -> DropPlace {
    DropPlace { position: Vec2::new(x, y), exactly: false }
}

#[test]
fn a_drag_or_drop_is_one_record_one_save_and_one_undo_step() {
    let mut fixture = PausedRoom::new();
    let model = fixture.model();
    let drop = create::add_agent(&model, &"ada".into(), Vec2::new(0.0, -50.0), false);
    let [drop, told] = <[Command; 2]>::try_from(drop).expect("it is put elsewhere and says why");
    fixture.perform(told);
    assert_eq!(fixture.state.notices.outcomes()[0].text, create::LIFTED);
    for (command, undone) in [(place(&"ada-1".into(), Vec2::new(-300.0, 700.0)), 3), (drop, 3)] {
        let before = fixture.scene();
        let mut writes = fixture.messages().get_cursor_current();
        fixture.perform(command);
        let orders = fixture.room.world().expect("it is open").resource::<InputQueue<AgentCommand>>().waiting().count();
        assert_eq!(orders, 1, "one order, and each is recorded once");
        fixture.settle();
        assert_ne!(fixture.scene(), before);
        assert_eq!(writes.read(fixture.messages()).count(), 1, "one write of the scene");
        fixture.act(Command::Undo);
        assert_eq!((fixture.scene(), fixture.model().agents.len()), (before, undone), "one step back");
    }
}

#[test]
fn undoing_a_removal_restores_the_same_id_every_time() {
    let mut fixture = PausedRoom::new();
    let names = |fixture: &mut PausedRoom| {
        fixture.model().agents.into_iter().map(|agent| (agent.id, agent.name)).collect::<BTreeMap<Id, Id>>()
    };
    fixture.act(Command::Duplicate(vec![RoomObject::Agent("ada-1".into()), RoomObject::Agent("bram-1".into())]));
    let before = names(&mut fixture);
    let all: Vec<RoomObject> = before.keys().map(|id| RoomObject::Agent(id.clone())).collect();
    for things in [all.clone(), all[1..].to_vec(), vec![all[0].clone()], all] {
        fixture.act(Command::Delete(things));
        fixture.act(Command::Undo);
        assert_eq!(names(&mut fixture), before);
        fixture.act(Command::Redo);
        fixture.act(Command::Undo);
        assert_eq!(names(&mut fixture), before);
    }
}

#[test]
fn added_things_are_selected() {
    let mut fixture = PausedRoom::new();
    let model = fixture.model();
    let add = create::add_agent(&model, &"ada".into(), Vec2::new(0.0, 900.0), false).swap_remove(0);
    fixture.act(add);
    assert_eq!(fixture.selected(), ["ada-2"]);
    fixture.act(Command::Duplicate(vec![RoomObject::Agent("bram-1".into()), RoomObject::Element("ideas".into())]));
    assert_eq!(fixture.selected(), ["bram-2", "pinboard-1"]);
    let zoe = fixture.desktop("zoe.md", "---\nname: Zoe\n---\nYou are Zoe.");
    fixture.perform(Command::Import { paths: vec![zoe], place: at(0.0, -900.0) });
    fixture.frames();
    assert_eq!(fixture.selected(), ["zoe-1"]);
    assert!(
        fixture.state.notices.outcomes().iter().any(|notice| notice.text == create::LIFTED),
        "it was lifted, and that is said"
    );
    let zoe = fixture.model().agents.last().map(|agent| agent.position.y);
    assert_eq!(zoe, Some(220.0), "120 above the topmost element");
}

impl PausedRoom {
    fn messages(&mut self) -> &Messages<SceneWrite> {
        self.room.world().expect("it is open").resource::<Messages<SceneWrite>>()
    }

    fn selected(&self) -> Vec<&str> {
        self.state.selection.things().iter().map(|thing| &**thing.id()).collect()
    }
}

#[test]
fn dropped_agent_files_become_agents_and_a_scene_is_opened() {
    let mut fixture = PausedRoom::new();
    let zoe = fixture.desktop("zoe.md", "---\nid: zoe-the-brave\nname: Zoe\n---\nYou are Zoe.");
    let odd = fixture.desktop("odd.png", "# Odd");
    fixture.perform(Command::Import { paths: vec![zoe, odd], place: at(0.0, 900.0) });
    fixture.frames();
    let model = fixture.model();
    let zoe = model.agents.last().expect("there are agents");
    assert_eq!((&*zoe.profile, &*zoe.name), ("zoe-the-brave", "Zoe"));
    assert!(fixture.room.notices.iter().any(|notice| notice.place.ends_with("odd.png")));
    fixture.act(Command::Undo);
    assert_eq!(fixture.model().agents.len(), 3);
    fixture.frames();
    assert!(!fixture.folder.path().join("agents/zoe.md").exists(), "the file goes with its agent");
    fixture.act(Command::Redo);
    fixture.frames();
    let model = fixture.model();
    assert_eq!(model.agents.last().map(|agent| &*agent.name), Some("Zoe"), "and comes with it");
    let scene = fixture.desktop("Garden.yaml", "elements: []\nagents: [{ id: g, profile: bram }]\n");
    fixture.perform(Command::Import { paths: vec![scene], place: at(0.0, 0.0) });
    fixture.frames();
    assert_eq!(fixture.model().scene, "garden");
}

#[test]
fn an_agent_dragged_at_closing_is_put_down_at_opening() {
    let mut fixture = PausedRoom::new();
    fixture.act(Command::Act(RoomAct::Agent(AgentCommand::PickUp { agent: "ada-1".into() }), None));
    assert_eq!(fixture.model().agents[0].state, crate::simulation::State::Dragged);
    fixture.perform(Command::OpenScene("test".into()));
    fixture.frames();
    assert_ne!(fixture.model().agents[0].state, crate::simulation::State::Dragged);
}

#[test]
fn tabs_drafts_and_selection_follow_only_successful_renames() {
    let mut fixture = PausedRoom::new();
    let (plan, idea) = ("artifacts/plan.md", "artifacts/idea.md");
    let taken = || Err("there is such a file already".to_owned());
    fixture.perform(Command::OpenFile(plan.into(), None));
    fixture.state.selection.choose_file(Some(plan.into()));
    let draft = Draft { path: plan.into(), base: None, text: "mine".into(), applies_when_idle: false };
    fixture.shell.parts.panes.get_mut::<Editors>().expect("every window has it").restore(vec![draft]);
    let all_at = |path: &str| (vec![path.to_owned()], Some(path.to_owned()), vec![path.to_owned()]);
    assert_eq!(fixture.files(), all_at(plan));
    fixture.rename(plan, "artifacts/report.md", taken());
    assert_eq!(fixture.files(), all_at(plan), "it did not happen");
    fixture.rename(plan, idea, Ok(()));
    assert_eq!(fixture.files(), all_at(idea));
    fixture.until_renamed(Command::Undo, Ok(()));
    assert_eq!(fixture.files(), all_at(plan), "undone");
    fixture.until_renamed(Command::Redo, Ok(()));
    assert_eq!(fixture.files(), all_at(idea), "done again");
    fixture.until_renamed(Command::Undo, taken());
    assert_eq!(fixture.files(), all_at(idea), "it was not undone");
    fixture.until_renamed(Command::Redo, taken());
    assert_eq!(fixture.files(), all_at(idea), "nor was it done again");
}

#[test]
fn a_copy_of_a_file_backed_element_stores_its_own_content() {
    let mut fixture = PausedRoom::new();
    fixture.act(Command::Duplicate(vec![RoomObject::Element("news".into())]));
    let model = fixture.model();
    let copy = model.elements.last().expect("it was copied");
    assert_eq!((&*copy.content, &copy.file), (&ContentView::Text("All is well".into()), &None));
}

#[test]
fn imports_are_logged_as_the_persons_and_versioned() {
    let mut fixture = PausedRoom::new();
    let text = "---\nid: zoe\nname: Zoe\n---\nYou are Zoe.";
    let paths = vec![fixture.desktop("zoe.md", text), fixture.desktop("plan.md", "# Plan\n")];
    fixture.perform(Command::ImportFiles { paths, folder: None });
    fixture.frames();
    fixture.settle();
    fixture.room.live();
    let book = &fixture.room.recent.book;
    let changes: Vec<FileChange> = book.since(book.first()).filter_map(|(_, row)| row.read()).collect();
    for path in ["agents/zoe.md", "artifacts/plan.md"] {
        let its = changes.iter().filter(|change| &*change.path == path).map(|change| (&*change.by, change.version));
        assert_eq!(its.collect::<Vec<_>>(), [("user", Some(1))], "{path}: {changes:?}");
    }
}

#[test]
fn external_file_changes_appear_by_notification() {
    let mut fixture = PausedRoom::open(true);
    let wanted = |fixture: &mut PausedRoom, what: &str, is_so: &dyn Fn(&mut FileTexts) -> bool| {
        let began = Instant::now();
        while !is_so(&mut fixture.state.texts) {
            assert!(began.elapsed() < Duration::from_secs(20), "{what} never appeared");
            fixture.room.live();
            fixture.read_files();
            std::thread::yield_now();
        }
    };
    let says = |text: &'static str| {
        move |texts: &mut FileTexts| {
            let listed = texts.files().iter().any(|file| file.path == "notes/plan.md" && file.is_there);
            let versions = texts.versions("notes/plan.md").is_some_and(Result::is_ok);
            let read = texts.text("notes/plan.md");
            listed && versions && matches!(read, Some(Ok(Some(read))) if &*read.text == text)
        }
    };
    wanted(&mut fixture, "that there is none", &|texts| matches!(texts.text("notes/plan.md"), Some(Ok(None))));
    wanted(&mut fixture, "the list", &|texts| !texts.files().is_empty());
    fs::create_dir_all(fixture.folder.path().join("notes")).expect("folders can be made");
    fs::write(fixture.folder.path().join("notes/plan.md"), "tea").expect("files can be written");
    wanted(&mut fixture, "a new file", &says("tea"));
    fs::write(fixture.folder.path().join("notes/plan.md"), "coffee").expect("files can be written");
    wanted(&mut fixture, "a change of it", &says("coffee"));
    fs::remove_file(fixture.folder.path().join("notes/plan.md")).expect("it can be removed");
    wanted(&mut fixture, "that it is gone", &|texts| {
        let is_there = texts.files().iter().any(|file| file.path == "notes/plan.md" && file.is_there);
        !is_there && matches!(texts.text("notes/plan.md"), Some(Ok(None)))
    });
}

#[test]
fn file_operations_work_while_the_room_is_paused() {
    let mut fixture = PausedRoom::new();
    let [from, to] = ["agents/bram.md", "agents/bo.md"];
    let operation = FileOperation::Rename { from: from.into(), to: to.into() };
    let rename = RoomAct::File(FileCommand { key: "user-1-1".into(), operation });
    fixture.perform(Command::Act(rename, None));
    let began = Instant::now();
    while !fixture.folder.path().join(to).exists() {
        fixture.room.live();
        assert!(began.elapsed() < Duration::from_secs(20), "it is still called {from}");
        std::thread::yield_now();
    }
    let world = fixture.room.world().expect("it is open");
    assert!(world.resource::<crate::schedule::SimClock>().paused, "nobody let the room go on");
}

#[test]
fn a_failed_job_is_a_notice() {
    let mut fixture = PausedRoom::new();
    fs::remove_dir_all(fixture.folder.path().join("scenes")).expect("it should exist");
    fs::write(fixture.folder.path().join("scenes"), "in the way").expect("files can be written");
    fixture.perform(Command::NewScene("Late".into()));
    fixture.frames();
    assert!(fixture.room.notices[0].what.contains("cannot be written"), "{:?}", fixture.room.notices);
    assert_eq!(fixture.room.file_jobs.take_finished(), Vec::<FileJobDone>::new());
}

#[cfg(unix)]
#[test]
fn history_problems_are_notices_while_they_last() {
    let mut fixture = PausedRoom::new();
    let notices_until = |fixture: &mut PausedRoom, what: &str, is_so: &dyn Fn(&str) -> bool| {
        let began = Instant::now();
        loop {
            fixture.room.live();
            let notices: String = fixture.model().notices.iter().map(ToString::to_string).collect();
            if is_so(&notices) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{what}: {notices}");
            std::thread::yield_now();
        }
    };
    let (database, away) = (fixture.folder.path().join(".workshop/workshop.db"), fixture.folder.path().join("away.db"));
    fs::rename(&database, &away).expect("it can be moved");
    fs::write(&database, "of somebody else").expect("files can be written");
    notices_until(&mut fixture, "another one in its place", &|notices| notices.contains("created a new one"));
    fs::rename(&away, &database).expect("it can be moved back");
    notices_until(&mut fixture, "put back, all is well", &|notices| !notices.contains("created a new one"));
    fs::remove_dir_all(fixture.folder.path().join(".workshop")).expect("it can be removed");
    notices_until(&mut fixture, "written anew", &|notices| notices.contains("was written again"));
}
