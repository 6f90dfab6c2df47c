//! Commands that add agents, elements and relationships to the room or remove them, each with its inverse, and that
//! change its furniture.

use bevy::math::Vec2;
use egui::Modifiers;
use serde_json::{Map, Value, json};

use super::{Command, RoomAct, WindowCommand, texts};
use crate::agent::AgentCommand;
use crate::agent::spawn_position::{self, tenths};
use crate::base::{Id, unique_names};
use crate::element::ElementCommand;
use crate::element::kinds::kind;
use crate::simulation::{FurnishCommand, RelationshipCommand};
use crate::view::model::RoomModel;
use crate::workspace::{DecorChange, Relationship};

/// Shown when an agent is added elsewhere than it was dropped.
pub const LIFTED: &str = texts::LIFTED;

/// The kind of element that shows a channel.
pub const CHANNEL_BOARD: &str = "messageboard";

/// Returns where an agent dropped here is added: above all elements, unless `exactly`. The dragged ghost shows this
/// position, and [`add_agent`] uses it.
pub fn spawn_place(room: &RoomModel, place: Vec2, exactly: bool) -> Vec2 {
    let topmost = room.elements.iter().map(|element| element.position.y).reduce(f32::max);
    tenths(spawn_position::spawn_place(place, topmost, room.spawn_above.filter(|_| !exactly)))
}

/// Whether these modifier keys place something exactly where it is dropped.
pub fn is_exact(modifiers: Modifiers) -> bool {
    modifiers.alt || modifiers.ctrl || modifiers.command
}

/// Adds an agent of a profile, under a new id, so that this can be undone. If it is added elsewhere than at `place`, a
/// notice says why.
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

/// Adds an element of this kind, under a new id, so that this can be undone.
pub fn element_at(room: &RoomModel, kind: &str, place: Vec2) -> Command {
    element_with(room, kind, Map::new(), place)
}

/// Adds a rulebook that shows a file.
pub fn rulebook_of(room: &RoomModel, file: &str, place: Vec2) -> Command {
    element_with(room, "rulebook", Map::from_iter([("file".to_owned(), json!(file))]), place)
}

fn element_with(room: &RoomModel, kind: &str, extra: Map<String, Value>, place: Vec2) -> Command {
    let position = tenths(place);
    let id = unique_names::first_free(unique_names::numbered(kind, "", 1), |id| room.element(id).is_some());
    let extra = with_own_file(room, kind, extra);
    let required = [
        ("id".to_owned(), json!(id)),
        ("kind".to_owned(), json!(kind)),
        ("position".to_owned(), json!([position.x, position.y])),
    ];
    let keys = required.into_iter().chain(extra).collect();
    let inverse = RoomAct::Element(ElementCommand::Remove { element: id.as_str().into() });
    Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(inverse))
}

/// Adds a message board that shows a channel.
pub fn board_of_channel(room: &RoomModel, channel: &str, place: Vec2) -> Command {
    let extra = [("label".to_owned(), json!(format!("#{channel}"))), ("channel".to_owned(), json!(channel))];
    element_with(room, CHANNEL_BOARD, Map::from_iter(extra), place)
}

/// Makes a message board show another channel, or none.
pub fn show_channel(room: &RoomModel, board: &Id, channel: Option<&str>) -> Command {
    let set = |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        RoomAct::Element(ElementCommand::SetChannel { element: board.clone(), channel })
    };
    Command::Act(set(channel), Some(set(room.collaboration.shown.get(board).map(String::as_str))))
}

/// Adds a task board that shows a file.
pub fn task_board_of(room: &RoomModel, file: &str, place: Vec2) -> Command {
    element_with(room, "taskboard", Map::from_iter([("file".to_owned(), json!(file))]), place)
}

/// Gives a new element of a kind that shows a task file an unused path.
fn with_own_file(room: &RoomModel, word: &str, mut keys: Map<String, Value>) -> Map<String, Value> {
    let shows_file = kind(word).is_some_and(|kind| kind.task_file);
    if shows_file && !keys.contains_key("file") {
        let is_taken = |path: &str| {
            room.files.iter().any(|file| file == path)
                || room.elements.iter().any(|element| element.file.as_deref() == Some(path))
        };
        keys.insert(
            "file".to_owned(),
            json!(unique_names::first_free(unique_names::candidates("tasks/board.task.md"), is_taken)),
        );
    }
    keys
}

/// Changes the furniture of the room.
pub fn furnish(change: DecorChange) -> Command {
    Command::Act(RoomAct::Furnish(FurnishCommand(change)), None)
}

/// Removes a relationship.
pub fn end_relationship(relationship: Relationship) -> Command {
    Command::Act(RoomAct::Relate(RelationshipCommand::Remove { relationship }), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::sample_room;

    #[test]
    fn a_drop_is_one_command_and_explains_why_it_is_moved_up() {
        let room = sample_room();
        // The topmost element is at 200, and agents are added 120 above it.
        for (y, exactly, actual_y, has_notice) in
            [(0.0, false, 320.0, true), (0.04, true, 0.0, false), (900.0, false, 900.0, false)]
        {
            let commands = add_agent(&room, &"ada".into(), Vec2::new(5.0, y), exactly);
            let acts = commands.iter().filter(|command| matches!(command, Command::Act(..) | Command::Acts(..)));
            assert_eq!(acts.count(), 1);
            let Command::Act(RoomAct::Agent(AgentCommand::Add { position, .. }), _) = &commands[0] else {
                panic!("{commands:?}")
            };
            assert_eq!(*position, Vec2::new(5.0, actual_y));
            assert_eq!(spawn_place(&room, Vec2::new(5.0, y), exactly), *position, "the ghost is at the same position");
            assert_eq!(commands.get(1).is_some(), has_notice);
        }
    }

    #[test]
    fn a_new_task_board_gets_its_own_file_unless_one_is_given() {
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
    fn alt_and_ctrl_place_exactly() {
        let held = [Modifiers::NONE, Modifiers::ALT, Modifiers::CTRL, Modifiers::COMMAND, Modifiers::SHIFT];
        assert_eq!(held.map(is_exact), [false, true, true, true, false]);
    }
}
