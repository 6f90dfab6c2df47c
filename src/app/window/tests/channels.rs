//! Connecting a message board to a channel, and undoing that.

use serde_json::{Map, json};

use super::{PausedRoom, SCENE};
use crate::base::Id;
use crate::element::ElementCommand;
use crate::orchestration::{BoardChannels, CollaborationCommand};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::view::model::ContentView;

impl PausedRoom {
    /// Runs the room until a message is shown on the board.
    fn let_speak(&mut self) {
        self.perform(Command::SetPaused(false));
        for _ in 0..10 {
            self.settle();
        }
        self.perform(Command::SetPaused(true));
        self.settle();
    }

    fn say(&mut self, message: &str) {
        let say = CollaborationCommand::Publish { channel: "findings".into(), message: message.into() };
        self.perform(Command::Act(RoomAct::Together(say), None));
        self.let_speak();
    }

    fn stands_on(&mut self, board: &str) -> String {
        match &*self.model().element(board).expect("it should exist").content {
            ContentView::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

fn set(board: &str, channel: Option<&str>, before: Option<&str>) -> Command {
    let set = |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        RoomAct::Element(ElementCommand::SetChannel { element: board.into(), channel })
    };
    Command::Act(set(channel), Some(set(before)))
}

#[test]
fn showing_a_channel_is_one_scene_change_and_undo_restores_the_text() {
    let mut fixture = PausedRoom::new();
    let before = fixture.stands_on("news");
    fixture.say("12 chairs");
    fixture.act(set("news", Some("findings"), None));
    fixture.let_speak();
    let with_channel = SCENE.replace("file: boards/news.md }", "file: boards/news.md, channel: findings }");
    assert_ne!(with_channel, SCENE);
    assert_eq!(fixture.saved("scenes/test.yaml"), with_channel, "all else stands as it was written");
    assert!(fixture.stands_on("news").starts_with("#findings") && fixture.stands_on("news").contains("12 chairs"));
    fixture.act(Command::Undo);
    fixture.let_speak();
    assert_eq!(fixture.saved("scenes/test.yaml"), SCENE);
    assert_eq!(fixture.stands_on("news"), before);
    fixture.say("and a table");
    assert_eq!(fixture.stands_on("news"), before, "it shows no channel any more");
    fixture.act(Command::Redo);
    fixture.let_speak();
    assert_eq!(fixture.saved("scenes/test.yaml"), with_channel);
    assert!(fixture.stands_on("news").contains("and a table"));
}

#[test]
fn a_new_channel_board_is_added_and_undone_in_one_step() {
    let mut fixture = PausedRoom::new();
    fixture.say("12 chairs");
    let keys = Map::from_iter([
        ("kind".to_owned(), json!("messageboard")),
        ("position".to_owned(), json!([0, -200])),
        ("channel".to_owned(), json!("findings")),
    ]);
    fixture.act(Command::Act(RoomAct::Element(ElementCommand::Add { keys }), None));
    fixture.let_speak();
    assert!(fixture.stands_on("messageboard-1").contains("12 chairs"));
    fixture.act(Command::Undo);
    fixture.let_speak();
    assert_eq!(fixture.saved("scenes/test.yaml"), SCENE);
    let shown: Vec<Id> = fixture
        .room
        .world()
        .expect("it is open")
        .resource::<BoardChannels>()
        .iter()
        .map(|(id, _)| id.clone())
        .collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn only_message_boards_show_channels() {
    let mut fixture = PausedRoom::new();
    fixture.act(set("ideas", Some("findings"), None));
    fixture.let_speak();
    assert_eq!(fixture.saved("scenes/test.yaml"), SCENE);
}
