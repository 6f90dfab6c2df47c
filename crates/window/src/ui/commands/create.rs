//! Commands that add agents, elements and relationships to the room or remove them, each with its inverse.

use bevy::math::Vec2;
use egui::Modifiers;
use serde_json::{Map, Value, json};

use super::{Command, RoomAct, WindowCommand, texts};
use crate::agent::AgentCommand;
use crate::agent::spawn_position::{self, tenths};
use crate::base::{Id, unique_names};
use crate::element::ElementCommand;
use crate::element::kinds::kind;
use crate::simulation::RelationshipCommand;
use crate::view::model::RoomModel;
use crate::workspace::Relationship;

/// Said where an agent does not come to stand where it was put.
pub const LIFTED: &str = texts::LIFTED;

/// The kind of element that shows channels.
pub const CHANNEL_BOARD: &str = "messageboard";

/// Where an agent that is dropped here comes to stand: above all elements, unless it is put there exactly. The ghost
/// that is dragged shows it; [`add_agent`] does it.
pub fn spawn_place(room: &RoomModel, place: Vec2, exactly: bool) -> Vec2 {
    let topmost = room.elements.iter().map(|element| element.position.y).reduce(f32::max);
    tenths(spawn_position::spawn_place(place, topmost, room.spawn_above.filter(|_| !exactly)))
}

/// Whether what is put down with these keys held comes to stand exactly where it is put.
pub fn is_exact(modifiers: Modifiers) -> bool {
    modifiers.alt || modifiers.ctrl || modifiers.command
}

/// Puts an agent of a profile here, under an id of its own so that it can be taken away again. One order; where it
/// comes to stand elsewhere than it was put, the person is told why.
pub fn add_agent(room: &RoomModel, profile: &Id, place: Vec2, exactly: bool) -> Vec<Command> {
    let position = spawn_place(room, place, exactly);
    let ids = unique_names::numbered(profile, "", 1);
    let id: Id = unique_names::first_free(ids, |id| room.agent(id).is_some()).into();
    let add =
        AgentCommand::Add { id: Some(id.clone()), profile: profile.clone(), position, behaviour: None, exactly: true };
    let add = Command::Act(RoomAct::Agent(add), Some(RoomAct::Agent(AgentCommand::Remove { agent: id })));
    let is_lifted = position != tenths(place);
    let why = is_lifted.then(|| WindowCommand::Tell(LIFTED.to_owned(), true).into());
    [add].into_iter().chain(why).collect()
}

/// Puts an element of this kind somewhere, under an id of its own so that it can be taken away again.
pub fn element_at(room: &RoomModel, kind: &str, place: Vec2) -> Command {
    element_with(room, kind, Map::new(), place)
}

/// Puts a rulebook somewhere that shows a file.
pub fn rulebook_of(room: &RoomModel, file: &str, place: Vec2) -> Command {
    element_with(room, "rulebook", Map::from_iter([("file".to_owned(), json!(file))]), place)
}

fn element_with(room: &RoomModel, kind: &str, more: Map<String, Value>, place: Vec2) -> Command {
    let position = tenths(place);
    let id = unique_names::first_free(unique_names::numbered(kind, "", 1), |id| room.element(id).is_some());
    let more = with_own_file(room, kind, more);
    let own = [
        ("id".to_owned(), json!(id)),
        ("kind".to_owned(), json!(kind)),
        ("position".to_owned(), json!([position.x, position.y])),
    ];
    let keys = own.into_iter().chain(more).collect();
    let inverse = RoomAct::Element(ElementCommand::Remove { element: id.as_str().into() });
    Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(inverse))
}

/// Puts a message board somewhere that shows a channel.
pub fn board_of_channel(room: &RoomModel, channel: &str, place: Vec2) -> Command {
    let more = [("label".to_owned(), json!(format!("#{channel}"))), ("channel".to_owned(), json!(channel))];
    element_with(room, CHANNEL_BOARD, Map::from_iter(more), place)
}

/// Lets a message board show a channel, or none, instead of the one that it shows.
pub fn show_channel(room: &RoomModel, board: &Id, channel: Option<&str>) -> Command {
    let set = |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        RoomAct::Element(ElementCommand::SetChannel { element: board.clone(), channel })
    };
    Command::Act(set(channel), Some(set(room.together.shown.get(board).map(String::as_str))))
}

/// Puts a task board somewhere that shows a file.
pub fn task_board_of(room: &RoomModel, file: &str, place: Vec2) -> Command {
    element_with(room, "taskboard", Map::from_iter([("file".to_owned(), json!(file))]), place)
}

/// A new element of a kind that shows task files gets a file that nobody has.
fn with_own_file(room: &RoomModel, word: &str, mut keys: Map<String, Value>) -> Map<String, Value> {
    let shows_file = kind(word).is_some_and(|kind| kind.task_file);
    if shows_file && !keys.contains_key("file") {
        let is_taken = |path: &str| {
            room.files.iter().any(|file| file == path)
                || room.elements.iter().any(|element| element.file.as_deref() == Some(path))
        };
        keys.insert(
            "file".to_owned(),
            json!(unique_names::first_free(unique_names::alike("tasks/board.task.md"), is_taken)),
        );
    }
    keys
}

/// Ends a relationship.
pub fn end_relationship(relationship: Relationship) -> Command {
    Command::Act(RoomAct::Relate(RelationshipCommand::Remove { relationship }), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::sample_room;

    #[test]
    fn a_drop_is_one_order_and_says_why_where_it_is_lifted() {
        let room = sample_room();
        // The topmost element is at 200, and agents are added 120 above it.
        for (y, exactly, stands, is_told) in
            [(0.0, false, 320.0, true), (0.04, true, 0.0, false), (900.0, false, 900.0, false)]
        {
            let commands = add_agent(&room, &"ada".into(), Vec2::new(5.0, y), exactly);
            let acts = commands.iter().filter(|command| matches!(command, Command::Act(..) | Command::Acts(..)));
            assert_eq!(acts.count(), 1);
            let Command::Act(RoomAct::Agent(AgentCommand::Add { position, .. }), _) = &commands[0] else {
                panic!("{commands:?}")
            };
            assert_eq!(*position, Vec2::new(5.0, stands));
            assert_eq!(spawn_place(&room, Vec2::new(5.0, y), exactly), *position, "the ghost shows the same");
            assert_eq!(commands.get(1).is_some(), is_told);
        }
    }

    #[test]
    fn a_new_task_board_has_a_file_of_its_own_and_one_of_a_file_shows_that() {
        let mut room = sample_room();
        let file = |command: Command| match command {
            Command::Act(RoomAct::Element(ElementCommand::Add { keys }), _) => keys["file"].clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(file(element_at(&room, "taskboard", Vec2::ZERO)), json!("tasks/board.task.md"));
        room.files = vec!["tasks/board.task.md".to_owned()].into();
        assert_eq!(file(element_at(&room, "taskboard", Vec2::ZERO)), json!("tasks/board-2.task.md"));
        assert_eq!(file(task_board_of(&room, "tasks/work.task.md", Vec2::ZERO)), json!("tasks/work.task.md"));
    }

    #[test]
    fn alt_and_ctrl_put_it_exactly() {
        let held = [Modifiers::NONE, Modifiers::ALT, Modifiers::CTRL, Modifiers::COMMAND, Modifiers::SHIFT];
        assert_eq!(held.map(is_exact), [false, true, true, true, false]);
    }
}
