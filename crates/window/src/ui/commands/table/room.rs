//! Commands about time and about the things in the room.

use bevy::math::Vec2;
use egui::Key;

use super::furniture;
use super::info::{
    CommandContext, CommandInfo, KeyContext, Menu, UndoKind, ctrl, ctrl_shift, of, plain, shift, window,
};
use crate::agent::AgentCommand;
use crate::base::{Behaviour, Id};
use crate::schedule::Speed;
use crate::simulation::State;
use crate::ui::commands::{CanvasCommand, Command, RoomAct, WindowCommand, create};
use crate::ui::state::room_view;
use crate::view::model::AgentView;
use crate::view::pick::RoomObject;

/// The zoom factor of one key press.
const ZOOM_STEP: f32 = 1.25;
/// The distance that elements move with one press of an arrow key, in room units.
const NUDGE_UNITS: f32 = 10.0;

fn is_anything_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.selection.things().is_empty() { Err("Select something in the room first") } else { Ok(()) }
}

fn is_anything_copied(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.transfer.copied.is_empty() { Err("Copy something in the room first") } else { Ok(()) }
}

fn is_element_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if elements(cx).is_empty() { Err("Select an element first") } else { Ok(()) }
}

fn is_anyone_active(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if room_view::active(cx.room).chain(room_view::needing_attention(cx.room)).next().is_some() {
        Ok(())
    } else {
        Err("No one is active")
    }
}

fn is_anyone_in_need(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if room_view::needing_attention(cx.room).next().is_some() { Ok(()) } else { Err("No one needs you") }
}

fn agents<'a>(cx: &CommandContext<'a>) -> impl Iterator<Item = &'a AgentView> {
    let CommandContext { room, ui, .. } = *cx;
    ui.selection.things().iter().filter_map(|thing| room.agent(thing.agent()?))
}

fn can_be_paused(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    match agents(cx).next() {
        None => Err("Select an agent first"),
        Some(_) if agents(cx).all(|agent| agent.state == State::Paused) => Err("It is already paused"),
        Some(_) => Ok(()),
    }
}

fn can_be_resumed(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if agents(cx).any(|agent| agent.state == State::Paused) { Ok(()) } else { Err("It is not paused") }
}

fn is_agent_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if agents(cx).next().is_some() { Ok(()) } else { Err("Select an agent first") }
}

/// Applies an action, with its inverse, to every selected agent.
fn for_agents(
    cx: &CommandContext<'_>,
    act: impl Fn(&AgentView) -> (AgentCommand, Option<AgentCommand>),
) -> Vec<Command> {
    let act = |agent: &AgentView| {
        let (act, inverse) = act(agent);
        (RoomAct::Agent(act), inverse.map(RoomAct::Agent))
    };
    vec![Command::Acts(agents(cx).map(act).collect())]
}

fn set_behaviour(cx: &CommandContext<'_>, behaviour: Behaviour) -> Vec<Command> {
    for_agents(cx, |agent| {
        let set = |behaviour| AgentCommand::SetBehaviour { agent: agent.id.clone(), behaviour };
        (set(behaviour), agent.detail.as_ref().map(|detail| set(detail.behaviour)))
    })
}

fn has_behaviour(cx: &CommandContext<'_>, behaviour: Behaviour) -> Option<bool> {
    Some(agents(cx).all(|agent| agent.detail.as_ref().is_some_and(|detail| detail.behaviour == behaviour)))
}

fn can_be_deleted(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.view.arranging.is_some() {
        return furniture::furniture_chosen(cx);
    }
    if cx.ui.selection.rope().is_some() { Ok(()) } else { is_anything_selected(cx) }
}

fn is_one_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.selection.rope().is_some() || cx.ui.selection.things().len() == 1 {
        Ok(())
    } else {
        Err("Select one thing in the room first")
    }
}

fn selected(cx: &CommandContext<'_>) -> Vec<RoomObject> {
    cx.ui.selection.things().iter().cloned().collect()
}

fn elements(cx: &CommandContext<'_>) -> Vec<Id> {
    cx.ui.selection.things().iter().filter_map(RoomObject::element).cloned().collect()
}

fn nudge(cx: &CommandContext<'_>, towards: Vec2) -> Vec<Command> {
    vec![Command::Nudge(elements(cx), NUDGE_UNITS * towards)]
}

fn delete(cx: &CommandContext<'_>) -> Vec<Command> {
    if cx.ui.view.arranging.is_some() {
        return furniture::remove(cx);
    }
    match cx.ui.selection.rope() {
        Some(rope) if cx.ui.selection.things().is_empty() => {
            vec![create::end_relationship(rope.clone()), WindowCommand::Select(Vec::new()).into()]
        }
        _ => vec![Command::Delete(selected(cx))],
    }
}

/// The room commands, in the order of menus.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("time.pause", "Pause or resume the room", |cx| vec![Command::SetPaused(!cx.room.paused)])
        .keys(KeyContext::Room, &[plain(Key::Space)])
        .undone(UndoKind::ByItsOpposite),
    of("time.speed_1", "Speed 1×", |_| vec![Command::SetSpeed(Speed::Times(1))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num1)])
        .undone(UndoKind::ByItsOpposite),
    of("time.speed_4", "Speed 4×", |_| vec![Command::SetSpeed(Speed::Times(4))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num2)])
        .undone(UndoKind::ByItsOpposite),
    of("time.speed_16", "Speed 16×", |_| vec![Command::SetSpeed(Speed::Times(16))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num3)])
        .undone(UndoKind::ByItsOpposite),
    of("time.speed_max", "As fast as possible", |_| vec![Command::SetSpeed(Speed::Max)])
        .keys(KeyContext::NotWriting, &[plain(Key::Num4)])
        .undone(UndoKind::ByItsOpposite),
    of("room.zoom_in", "Zoom in", |_| window(CanvasCommand::Zoom(ZOOM_STEP)))
        .keys(KeyContext::NotWriting, &[plain(Key::Plus), plain(Key::Equals)]),
    of("room.zoom_out", "Zoom out", |_| window(CanvasCommand::Zoom(1.0 / ZOOM_STEP)))
        .keys(KeyContext::NotWriting, &[plain(Key::Minus)]),
    of("room.open", "Open what is selected", |_| window(CanvasCommand::OpenSelected))
        .keys(KeyContext::Room, &[plain(Key::Enter)])
        .menus(&[(Menu::Element, "Open"), (Menu::Rope, "Rename")])
        .only(is_one_selected),
    of("agent.pause", "Pause the agent", |cx| {
        for_agents(cx, |agent| (AgentCommand::Pause { agent: agent.id.clone() }, None))
    })
    .menus(&[(Menu::Agent, "Pause")])
    .only(can_be_paused)
    .undone(UndoKind::ByItsOpposite),
    of("agent.resume", "Resume the agent", |cx| {
        for_agents(cx, |agent| (AgentCommand::Resume { agent: agent.id.clone() }, None))
    })
    .menus(&[(Menu::Agent, "Resume")])
    .only(can_be_resumed)
    .undone(UndoKind::ByItsOpposite),
    of("agent.undo_work", "Undo agent's work", |cx| {
        agents(cx).take(1).map(|agent| Command::LookBack { agent: agent.id.clone(), since_ms: None }).collect()
    })
    .menus(&[(Menu::Agent, "Undo its work…")])
    .only(is_agent_selected)
    .undone(UndoKind::ByUndo),
    of("agent.stay", "When idle: stay in place", |cx| set_behaviour(cx, Behaviour::Stationary))
        .menus(&[(Menu::WhenIdle, "Stay in place")])
        .only(is_agent_selected)
        .checked(|cx| has_behaviour(cx, Behaviour::Stationary))
        .undone(UndoKind::ByUndo),
    of("agent.wander", "When idle: wander", |cx| set_behaviour(cx, Behaviour::Wander))
        .menus(&[(Menu::WhenIdle, "Wander")])
        .only(is_agent_selected)
        .checked(|cx| has_behaviour(cx, Behaviour::Wander))
        .undone(UndoKind::ByUndo),
    of("agent.patrol", "When idle: patrol", |cx| set_behaviour(cx, Behaviour::Patrol))
        .menus(&[(Menu::WhenIdle, "Patrol")])
        .only(is_agent_selected)
        .checked(|cx| has_behaviour(cx, Behaviour::Patrol))
        .undone(UndoKind::ByUndo),
    of("room.frame", "Show the selection, or everything", |_| window(CanvasCommand::Frame))
        .keys(KeyContext::Room, &[plain(Key::F)])
        .menus(&[(Menu::Thing, "Show")]),
    of("room.show_busy", "Show active agents", |_| window(CanvasCommand::ShowActive))
        .description("Everyone who is working, talking, reading or needs you")
        .keys(KeyContext::NotWriting, &[plain(Key::B)])
        .menus(&[(Menu::Floor, "Show active agents")])
        .only(is_anyone_active),
    of("room.next_in_need", "Next agent that needs you", |_| window(CanvasCommand::NextInNeed))
        .description("Selects the next agent that is waiting for you or stuck")
        .keys(KeyContext::NotWriting, &[plain(Key::N)])
        .menus(&[(Menu::Floor, "Next agent that needs you")])
        .only(is_anyone_in_need),
    of("room.show_everything", "Show everything", |_| {
        vec![WindowCommand::Select(Vec::new()).into(), CanvasCommand::Frame.into()]
    })
    .menus(&[(Menu::Floor, "Show everything")]),
    of("room.select_all", "Select everything", |_| window(WindowCommand::SelectAll))
        .keys(KeyContext::Room, &[ctrl(Key::A)]),
    of("room.duplicate", "Duplicate the selection", |cx| vec![Command::Duplicate(selected(cx))])
        .keys(KeyContext::Room, &[ctrl(Key::D)])
        .menus(&[(Menu::Thing, "Duplicate")])
        .only(is_anything_selected)
        .undone(UndoKind::ByUndo),
    of("room.copy", "Copy the selection", |cx| vec![Command::Copy(selected(cx))])
        .keys(KeyContext::Room, &[ctrl(Key::C)])
        .menus(&[(Menu::Thing, "Copy")])
        .only(is_anything_selected),
    of("room.delete", "Delete the selection", delete)
        .keys(KeyContext::Room, &[plain(Key::Delete), plain(Key::Backspace)])
        .menus(&[(Menu::Thing, "Delete"), (Menu::Rope, "Delete")])
        .only(can_be_deleted)
        .undone(UndoKind::ByUndo)
        .deciding(),
    of("room.paste", "Paste", |cx| vec![Command::Paste(cx.at.unwrap_or(cx.ui.view.camera.middle))])
        .keys(KeyContext::Room, &[ctrl(Key::V)])
        .menus(&[(Menu::Floor, "Paste")])
        .only(is_anything_copied)
        .undone(UndoKind::ByUndo),
    of("edit.redo", "Redo", |_| vec![Command::Redo])
        .keys(KeyContext::NotWriting, &[ctrl_shift(Key::Z), ctrl(Key::Y)])
        .undone(UndoKind::ByUndo),
    of("edit.undo", "Undo", |_| vec![Command::Undo])
        .keys(KeyContext::NotWriting, &[ctrl(Key::Z)])
        .undone(UndoKind::ByItsOpposite),
    of("room.menu", "Selection menu", |_| window(CanvasCommand::OpenMenu))
        .keys(KeyContext::Room, &[shift(Key::F10)])
        .not_in_palette(),
    of("room.previous", "Previous item in the room", |_| window(CanvasCommand::SelectNext { forward: false }))
        .keys(KeyContext::Room, &[shift(Key::Tab)])
        .not_in_palette(),
    of("room.next", "Next item in the room", |_| window(CanvasCommand::SelectNext { forward: true }))
        .keys(KeyContext::Room, &[plain(Key::Tab)])
        .not_in_palette(),
    of("room.nudge_left", "Move elements to the left", |cx| nudge(cx, Vec2::NEG_X))
        .keys(KeyContext::Room, &[plain(Key::ArrowLeft)])
        .only(is_element_selected)
        .undone(UndoKind::ByUndo),
    of("room.nudge_right", "Move elements to the right", |cx| nudge(cx, Vec2::X))
        .keys(KeyContext::Room, &[plain(Key::ArrowRight)])
        .only(is_element_selected)
        .undone(UndoKind::ByUndo),
    of("room.nudge_up", "Move elements up", |cx| nudge(cx, Vec2::Y))
        .keys(KeyContext::Room, &[plain(Key::ArrowUp)])
        .only(is_element_selected)
        .undone(UndoKind::ByUndo),
    of("room.nudge_down", "Move elements down", |cx| nudge(cx, Vec2::NEG_Y))
        .keys(KeyContext::Room, &[plain(Key::ArrowDown)])
        .only(is_element_selected)
        .undone(UndoKind::ByUndo),
];
