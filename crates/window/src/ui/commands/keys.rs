//! The keys: one table that says what each does, from which shortcuts and the help are both made.

use bevy::math::Vec2;
use egui::{Context, Event, Key, KeyboardShortcut, Modifiers};

use crate::base::Id;
use crate::schedule::Speed;
use crate::simulation::RelationshipCommand;
use crate::ui::commands::RoomAct;
use crate::ui::panes::canvas;
use crate::ui::state::SpaceBar;
use crate::ui::state::dock::Tab;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::workspace::Relationship;

/// What a key asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the table says what each does")]
pub enum KeyAct {
    TogglePause,
    SpeedOne,
    SpeedFour,
    SpeedSixteen,
    SpeedMax,
    ZoomIn,
    ZoomOut,
    Frame,
    SelectAll,
    Delete,
    Duplicate,
    Copy,
    Paste,
    Undo,
    Redo,
    ToggleOverlay,
    Palette,
    Help,
    ToggleSidebar,
    ToggleFiles,
    ToggleLog,
    ShowGraph,
    ShowRoom,
    CloseTab,
    Settings,
    LargerText,
    SmallerText,
    UsualText,
    Open,
    Menu,
    Previous,
    Next,
    NudgeLeft,
    NudgeRight,
    NudgeUp,
    NudgeDown,
    Quit,
    Escape,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// What it asks for.
    pub act: KeyAct,
    /// The keys that do it; the first is the one that menus show.
    pub keys: &'static [KeyboardShortcut],
    /// What it does, for people.
    pub what: &'static str,
    /// When it works.
    pub when: When,
}

/// When a key works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Always.
    Always,
    /// Unless a text is being written.
    NotWriting,
    /// Unless another widget than the room has the keyboard.
    InRoom,
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn command_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn in_room(act: KeyAct, keys: &'static [KeyboardShortcut], what: &'static str) -> Binding {
    Binding { act, keys, what, when: When::InRoom }
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn binding(act: KeyAct, keys: &'static [KeyboardShortcut], what: &'static str) -> Binding {
    Binding { act, keys, what, when: When::NotWriting }
}

/// Every key. Combinations with more modifiers stand before those with fewer.
pub static KEYS: [Binding; 38] = [
    in_room(KeyAct::TogglePause, &[plain(Key::Space)], "Pause or continue"),
    binding(KeyAct::SpeedOne, &[plain(Key::Num1)], "Speed 1×"),
    binding(KeyAct::SpeedFour, &[plain(Key::Num2)], "Speed 4×"),
    binding(KeyAct::SpeedSixteen, &[plain(Key::Num3)], "Speed 16×"),
    binding(KeyAct::SpeedMax, &[plain(Key::Num4)], "As fast as possible"),
    binding(KeyAct::ZoomIn, &[plain(Key::Plus), plain(Key::Equals)], "Zoom in"),
    binding(KeyAct::ZoomOut, &[plain(Key::Minus)], "Zoom out"),
    in_room(KeyAct::Frame, &[plain(Key::F)], "Show the selection, or everything"),
    in_room(KeyAct::SelectAll, &[command(Key::A)], "Select everything"),
    in_room(KeyAct::Delete, &[plain(Key::Delete), plain(Key::Backspace)], "Delete the selection"),
    in_room(KeyAct::Duplicate, &[command(Key::D)], "Duplicate the selection"),
    in_room(KeyAct::Copy, &[command(Key::C)], "Copy the selection"),
    in_room(KeyAct::Paste, &[command(Key::V)], "Paste"),
    binding(KeyAct::Redo, &[command_shift(Key::Z), command(Key::Y)], "Redo"),
    binding(KeyAct::Undo, &[command(Key::Z)], "Undo"),
    binding(KeyAct::ToggleOverlay, &[plain(Key::F3), plain(Key::Backtick)], "Debug overlay"),
    Binding { when: When::Always, ..binding(KeyAct::Palette, &[command(Key::K)], "Command palette") },
    binding(KeyAct::Help, &[plain(Key::Questionmark), plain(Key::F1)], "These keys"),
    binding(KeyAct::ToggleSidebar, &[plain(Key::T)], "Conversations"),
    Binding { when: When::Always, ..binding(KeyAct::ToggleFiles, &[command(Key::B)], "Files") },
    Binding { when: When::Always, ..binding(KeyAct::ToggleLog, &[command(Key::J)], "Event log") },
    Binding { when: When::Always, ..binding(KeyAct::ShowGraph, &[command_shift(Key::G)], "Graph of who started whom") },
    Binding { when: When::Always, ..binding(KeyAct::ShowRoom, &[command_shift(Key::R)], "The room") },
    Binding { when: When::Always, ..binding(KeyAct::CloseTab, &[command(Key::W)], "Close the file in front") },
    in_room(KeyAct::Open, &[plain(Key::Enter)], "Open what is selected"),
    in_room(KeyAct::Menu, &[shift(Key::F10)], "Menu of what is selected"),
    in_room(KeyAct::Previous, &[shift(Key::Tab)], "The thing before in the room"),
    in_room(KeyAct::Next, &[plain(Key::Tab)], "The next thing in the room"),
    in_room(KeyAct::NudgeLeft, &[plain(Key::ArrowLeft)], "Move elements to the left"),
    in_room(KeyAct::NudgeRight, &[plain(Key::ArrowRight)], "Move elements to the right"),
    in_room(KeyAct::NudgeUp, &[plain(Key::ArrowUp)], "Move elements up"),
    in_room(KeyAct::NudgeDown, &[plain(Key::ArrowDown)], "Move elements down"),
    Binding { when: When::Always, ..binding(KeyAct::Settings, &[command(Key::Comma)], "Settings") },
    Binding {
        when: When::Always,
        ..binding(KeyAct::LargerText, &[command(Key::Plus), command(Key::Equals)], "Larger text")
    },
    Binding { when: When::Always, ..binding(KeyAct::SmallerText, &[command(Key::Minus)], "Smaller text") },
    Binding { when: When::Always, ..binding(KeyAct::UsualText, &[command(Key::Num0)], "Usual text size") },
    Binding {
        when: When::Always,
        ..binding(KeyAct::Quit, &[command(Key::Q)], "Close the window; everything is saved")
    },
    Binding {
        when: When::Always,
        ..binding(KeyAct::Escape, &[plain(Key::Escape)], "Close what is open, then deselect")
    },
];

/// What the keys of this frame ask for, in order. They are used up, so that nobody else sees them.
pub fn pressed(ctx: &Context, state: &mut UiState) -> Vec<KeyAct> {
    let writes = ctx.text_edit_focused();
    let focused = ctx.memory(|memory| memory.focused());
    // What is not seen is not deleted, framed or moved.
    let in_room = state.dock.is_seen(&Tab::Room) && focused.is_none_or(|widget| widget == canvas::widget_id());
    let pause = ctx.input_mut(|input| space_bar(input, in_room, &mut state.space));
    let mut acts = Vec::from_iter(pause.then_some(KeyAct::TogglePause));
    // Only where the room has it is Tab about the room: elsewhere it leads from widget to widget.
    let walks = focused == Some(canvas::widget_id());
    let counts = |binding: &&Binding| {
        let here = match binding.when {
            When::Always => true,
            When::NotWriting => !writes,
            When::InRoom => in_room,
        };
        here && !state.studio.explorer.takes_key(focused, binding.act)
            && match binding.act {
                KeyAct::TogglePause => false,
                KeyAct::Next | KeyAct::Previous => walks,
                _ => true,
            }
    };
    let asked_by = |event: &Event| match event {
        // egui turns these two into events of their own before anybody sees the keys.
        Event::Copy if !writes => Some(KeyAct::Copy),
        Event::Paste(_) if !writes => Some(KeyAct::Paste),
        Event::Key { key, pressed: true, modifiers, .. } => {
            let meant =
                |keys: &KeyboardShortcut| keys.logical_key == *key && modifiers.matches_logically(keys.modifiers);
            KEYS.iter().filter(counts).find(|binding| binding.keys.iter().any(meant)).map(|binding| binding.act)
        }
        _ => None,
    };
    // Several keys may fall into one frame; each does what it does, in the order in which they were pressed.
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            // What is typed after this is meant for the palette.
            if acts.last() == Some(&KeyAct::Palette) {
                return true;
            }
            let act = asked_by(event);
            acts.extend(act);
            act.is_none()
        });
    });
    acts
}

/// Follows the space bar. Whether it was let go without having moved the view: it pauses then, and not before.
fn space_bar(input: &mut egui::InputState, in_room: bool, space: &mut SpaceBar) -> bool {
    let mut pauses = false;
    input.events.retain(|event| {
        let egui::Event::Key { key: Key::Space, pressed, modifiers, .. } = event else { return true };
        if !pressed {
            pauses |= *space == SpaceBar::Down;
            *space = SpaceBar::Up;
        } else if in_room && modifiers.is_none() {
            if *space == SpaceBar::Up {
                *space = SpaceBar::Down;
            }
            // A widget with the focus takes it for a click.
            return false;
        }
        true
    });
    if !input.focused {
        *space = SpaceBar::Up;
    }
    pauses
}

/// The keys of an act as they are shown: `Ctrl+K`.
pub fn shown(ctx: &Context, act: KeyAct) -> String {
    let binding = KEYS.iter().find(|binding| binding.act == act);
    let keys = binding.map_or(&[][..], |binding| binding.keys);
    keys.iter().take(1).map(|keys| shortcut(ctx, keys)).collect()
}

/// One shortcut as it is shown.
pub fn shortcut(ctx: &Context, keys: &KeyboardShortcut) -> String {
    match keys.logical_key {
        Key::Questionmark => "?".to_owned(),
        Key::Backtick => "`".to_owned(),
        Key::Plus if keys.modifiers.is_none() => "+".to_owned(),
        Key::Equals if keys.modifiers.is_none() => "=".to_owned(),
        Key::Minus if keys.modifiers.is_none() => "-".to_owned(),
        _ => ctx.format_shortcut(keys),
    }
}

/// Does what a key asks for, as far as it is a matter of the window or a command.
pub fn apply(act: KeyAct, room: &RoomModel, state: &mut UiState) -> Vec<Command> {
    const ZOOM_STEP: f32 = 1.25;
    let selected: Vec<Thing> = state.selected.iter().cloned().collect();
    let of_selection = |make: fn(Vec<Thing>) -> Command| {
        if selected.is_empty() { Vec::new() } else { vec![make(selected.clone())] }
    };
    match act {
        KeyAct::TogglePause => return vec![Command::SetPaused(!room.paused)],
        KeyAct::SpeedOne => return vec![Command::SetSpeed(Speed::Times(1))],
        KeyAct::SpeedFour => return vec![Command::SetSpeed(Speed::Times(4))],
        KeyAct::SpeedSixteen => return vec![Command::SetSpeed(Speed::Times(16))],
        KeyAct::SpeedMax => return vec![Command::SetSpeed(Speed::Max)],
        KeyAct::ZoomIn => state.camera.zoom_at(state.camera.viewport.center(), ZOOM_STEP),
        KeyAct::ZoomOut => state.camera.zoom_at(state.camera.viewport.center(), 1.0 / ZOOM_STEP),
        KeyAct::Frame => frame(room, state),
        KeyAct::SelectAll => {
            let agents = room.agents.iter().map(|agent| Thing::Agent(agent.id.clone()));
            let elements = room.elements.iter().map(|element| Thing::Element(element.id.clone()));
            state.selected = agents.chain(elements).collect();
        }
        KeyAct::Delete => {
            return match state.rope.take() {
                Some(rope) if selected.is_empty() => vec![end_relationship(rope)],
                _ => of_selection(Command::Delete),
            };
        }
        KeyAct::Duplicate => return of_selection(Command::Duplicate),
        KeyAct::Copy => return of_selection(Command::Copy),
        KeyAct::Paste => return vec![Command::Paste(state.camera.middle)],
        KeyAct::Undo => return vec![Command::Undo],
        KeyAct::Redo => return vec![Command::Redo],
        KeyAct::ToggleOverlay => state.overlay = !state.overlay,
        KeyAct::Palette => {
            state.palette = if state.palette.is_some() { None } else { Some(String::new()) };
            state.palette_line = 0;
        }
        KeyAct::Help => state.help = !state.help,
        KeyAct::ToggleSidebar => state.dock.toggle(&Tab::Talks),
        KeyAct::ToggleFiles => state.dock.toggle(&Tab::Files),
        KeyAct::ToggleLog => state.dock.toggle(&Tab::Log),
        KeyAct::ShowGraph => return vec![Command::Show(Tab::Graph)],
        KeyAct::ShowRoom => return vec![Command::Show(Tab::Room)],
        KeyAct::CloseTab => state.close_front(),
        KeyAct::Settings => {
            if state.settings.take().is_none() {
                state.show_settings(None);
            }
        }
        KeyAct::LargerText => state.look.step_text_size(1),
        KeyAct::SmallerText => state.look.step_text_size(-1),
        KeyAct::UsualText => state.look.set_text_size(1.0),
        KeyAct::Open => open_selected(room, state),
        KeyAct::Menu => state.wants_menu = true,
        KeyAct::Next => walk(room, state, true),
        KeyAct::Previous => walk(room, state, false),
        KeyAct::NudgeLeft => return nudge(state, Vec2::NEG_X),
        KeyAct::NudgeRight => return nudge(state, Vec2::X),
        KeyAct::NudgeUp => return nudge(state, Vec2::Y),
        KeyAct::NudgeDown => return nudge(state, Vec2::NEG_Y),
        KeyAct::Quit => return vec![Command::Quit],
        KeyAct::Escape => escape(state),
    }
    Vec::new()
}

/// Ends a relationship.
pub fn end_relationship(relationship: Relationship) -> Command {
    Command::Act(RoomAct::Relate(RelationshipCommand::Remove { relationship }), None)
}

/// Moves the selected elements a little.
fn nudge(state: &UiState, towards: Vec2) -> Vec<Command> {
    const UNITS: f32 = 10.0;
    let elements: Vec<Id> = state.selected.iter().filter_map(Thing::element).cloned().collect();
    if elements.is_empty() { Vec::new() } else { vec![Command::Nudge(elements, UNITS * towards)] }
}

/// Opens what is selected, if that is one thing.
fn open_selected(room: &RoomModel, state: &mut UiState) {
    if let Some(rope) = state.rope.clone() {
        canvas::rename(rope, state);
    } else if state.selected.len() == 1
        && let Some(thing) = state.selected.first().cloned()
    {
        canvas::open(&thing, room, state);
    }
}

/// Selects the next thing of the room, or the one before; beyond the last the keyboard goes to the next widget.
fn walk(room: &RoomModel, state: &mut UiState, forward: bool) {
    let agents = room.agents.iter().map(|agent| Thing::Agent(agent.id.clone()));
    let things: Vec<Thing> =
        agents.chain(room.elements.iter().map(|element| Thing::Element(element.id.clone()))).collect();
    let last = things.len().wrapping_sub(1);
    let now = state.selected.first().and_then(|selected| things.iter().position(|thing| thing == selected));
    let next = match (now, forward) {
        (None, true) => Some(0),
        (None, false) => Some(last),
        (Some(at), true) => Some(at + 1),
        (Some(at), false) => at.checked_sub(1),
    };
    state.rope = None;
    let Some(thing) = next.and_then(|next| things.get(next)) else {
        state.selected.clear();
        state.leaves_room = Some(forward);
        return;
    };
    state.selected = [thing.clone()].into();
    if let Some(place) = place_of(room, thing)
        && !state.camera.viewport.shrink(40.0).contains(state.camera.to_screen(place))
    {
        state.camera.middle = place;
    }
}

/// Where a thing stands.
pub fn place_of(room: &RoomModel, thing: &Thing) -> Option<Vec2> {
    match thing {
        Thing::Agent(id) => room.agent(id).map(|agent| agent.position),
        Thing::Element(id) => room.element(id).map(|element| element.position),
    }
}

/// From this zoom on, faces can be told apart and words on boards can be read.
const COSY_ZOOM: f32 = 0.7;

/// Shows the selection, or everything where nothing is selected.
pub fn frame(room: &RoomModel, state: &mut UiState) {
    let chosen = |thing: Thing| state.selected.is_empty() || state.selected.contains(&thing);
    let agents = room.agents.iter().filter(|agent| chosen(Thing::Agent(agent.id.clone())));
    let elements = room.elements.iter().filter(|element| chosen(Thing::Element(element.id.clone())));
    let places: Vec<_> = agents.map(|agent| agent.position).chain(elements.map(|element| element.position)).collect();
    let mut furnished = state.camera;
    furnished.frame(places.iter().copied().chain(room.decor.iter().map(|decor| decor.position)));
    let alone = places.is_empty();
    state.camera.frame(places);
    // The whole room with its furniture, unless everyone in it would look too small for that.
    if state.selected.is_empty() && (alone || furnished.zoom >= COSY_ZOOM.min(state.camera.zoom)) {
        state.camera = furnished;
    }
}

/// Closes the topmost thing that is open; deselects where nothing is.
fn escape(state: &mut UiState) {
    if state.holding {
        state.gives_up = true;
        return;
    }
    let closed = state.dragging.take().is_some()
        || state.naming.take().is_some()
        || state.dialog.take().is_some()
        || state.palette.take().is_some()
        || (!state.help && state.settings.take().is_some());
    if closed {
        return;
    }
    if state.help {
        state.help = false;
    } else if state.notices_open {
        state.notices_open = false;
    } else if state.open_element.take().is_none() {
        state.selected.clear();
        state.rope = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{sample_room, stage};
    use std::collections::BTreeSet;

    #[test]
    fn every_act_stands_in_the_table_once_and_no_key_does_two_things() {
        let acts: BTreeSet<KeyAct> = KEYS.iter().map(|binding| binding.act).collect();
        assert_eq!(acts.len(), KEYS.len());
        let keys: Vec<_> = KEYS.iter().flat_map(|binding| binding.keys).map(|keys| format!("{keys:?}")).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }

    #[test]
    fn a_pressed_key_is_heard_once_and_not_while_a_text_is_written() {
        let mut window = stage(UiState::default(), |ui, room, _, _, state| {
            let acts = pressed(ui.ctx(), state);
            let mut commands: Vec<Command> = acts.into_iter().flat_map(|act| apply(act, room, state)).collect();
            let response = ui.text_edit_singleline(state.drafts.entry("a".into()).or_default());
            if state.help {
                response.request_focus();
            }
            commands.truncate(9);
            commands
        });
        window.run_steps(1);
        window.key_press(Key::Space);
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
        window.run_steps(4);
        assert_eq!(window.state().commands, [Command::SetPaused(true), Command::Undo, Command::Redo]);
        window.state_mut().state.help = true;
        window.run_steps(2);
        window.key_press(Key::Num3);
        window.key_press_modifiers(Modifiers::COMMAND, Key::K);
        window.run_steps(3);
        assert_eq!(window.state().commands.len(), 3, "a digit is part of the text");
        assert_eq!(window.state().state.palette.as_deref(), Some(""), "the palette opens from anywhere");
    }

    #[test]
    fn keys_that_fall_into_one_frame_do_their_things_in_order() {
        let context = Context::default();
        let key =
            |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        let events = [Key::Escape, Key::Num3, Key::F3].map(key).to_vec();
        let mut acts = Vec::new();
        let input = egui::RawInput { events, ..egui::RawInput::default() };
        let mut output = context.run_ui(input, |ui| acts.extend(pressed(ui.ctx(), &mut UiState::default())));
        output.textures_delta.clear();
        assert_eq!(acts, [KeyAct::Escape, KeyAct::SpeedSixteen, KeyAct::ToggleOverlay]);
    }

    #[test]
    fn escape_closes_one_thing_at_a_time() {
        let room = sample_room();
        let mut state = UiState { help: true, open_element: Some("rules".into()), ..UiState::default() };
        apply(KeyAct::SelectAll, &room, &mut state);
        assert_eq!(state.selected.len(), 6);
        apply(KeyAct::Escape, &room, &mut state);
        assert!(!state.help && state.open_element.is_some());
        apply(KeyAct::Escape, &room, &mut state);
        assert!(state.open_element.is_none() && !state.selected.is_empty());
        apply(KeyAct::Escape, &room, &mut state);
        assert!(state.selected.is_empty());
        assert!(apply(KeyAct::Delete, &room, &mut state).is_empty(), "nothing selected, nothing deleted");
    }
}
