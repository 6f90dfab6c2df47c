//! Connecting a message board to a channel, and undoing that.

use serde_json::{Map, json};

use super::{House, SCENE};
use crate::base::Id;
use crate::element::ElementCommand;
use crate::orchestration::{CollaborationCommand, Shown};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::view::model::ContentView;

impl House {
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
fn a_board_shows_a_channel_with_one_change_of_the_scene_and_gets_its_text_back() {
    let mut house = House::new();
    let before = house.stands_on("news");
    house.say("12 chairs");
    house.act(set("news", Some("findings"), None));
    house.let_speak();
    let with_channel = SCENE.replace("file: boards/news.md }", "file: boards/news.md, channel: findings }");
    assert_ne!(with_channel, SCENE);
    assert_eq!(house.saved("scenes/test.yaml"), with_channel, "all else stands as it was written");
    assert!(house.stands_on("news").starts_with("#findings") && house.stands_on("news").contains("12 chairs"));
    house.act(Command::Undo);
    house.let_speak();
    assert_eq!(house.saved("scenes/test.yaml"), SCENE);
    assert_eq!(house.stands_on("news"), before);
    house.say("and a table");
    assert_eq!(house.stands_on("news"), before, "it shows no channel any more");
    house.act(Command::Redo);
    house.let_speak();
    assert_eq!(house.saved("scenes/test.yaml"), with_channel);
    assert!(house.stands_on("news").contains("and a table"));
}

#[test]
fn a_new_board_of_a_channel_shows_it_at_once_and_is_taken_away_as_one() {
    let mut house = House::new();
    house.say("12 chairs");
    let keys = Map::from_iter([
        ("kind".to_owned(), json!("messageboard")),
        ("position".to_owned(), json!([0, -200])),
        ("channel".to_owned(), json!("findings")),
    ]);
    house.act(Command::Act(RoomAct::Element(ElementCommand::Add { keys }), None));
    house.let_speak();
    assert!(house.stands_on("messageboard-1").contains("12 chairs"));
    house.act(Command::Undo);
    house.let_speak();
    assert_eq!(house.saved("scenes/test.yaml"), SCENE);
    let shown: Vec<Id> =
        house.room.world().expect("it is open").resource::<Shown>().iter().map(|(id, _)| id.clone()).collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn what_is_no_message_board_shows_no_channel() {
    let mut house = House::new();
    house.act(set("ideas", Some("findings"), None));
    house.let_speak();
    assert_eq!(house.saved("scenes/test.yaml"), SCENE);
}
