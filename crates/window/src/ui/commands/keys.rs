//! Keyboard shortcuts: which commands of the table the keys of a frame invoke, and how keys are shown.

use egui::{Context, Event, Id, Key, KeyboardShortcut, Ui};

use super::table::{CommandInfo, CommandTable, KeyContext};
use crate::ui::state::SpaceBar;
use crate::ui::state::dock::{Dock, Tab};

/// Pauses when the space bar is released, unless it was held to move the view.
const PAUSE: &str = "time.pause";
/// Shows and hides the keys.
const KEYS: &str = "window.keys";
/// Closes what is open.
const ESCAPE: &str = "window.escape";
/// What is typed after this is meant for the palette.
const PALETTE: &str = "window.palette";
/// Only where the room has the keyboard is Tab about the room: elsewhere it leads from widget to widget.
const WALKING: [&str; 2] = ["room.next", "room.previous"];

/// How far keys reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyReach {
    /// A dialog is open: nothing behind it gets them.
    Question,
    /// A panel lies in front: what works everywhere does, and what closes the panel.
    Panel,
    /// The window, without the room, which is not seen.
    Window,
    /// The window and the room.
    WithRoom,
}

impl KeyReach {
    /// How far they reach where nothing is asked.
    pub fn of(dock: &Dock) -> Self {
        if dock.is_seen(&Tab::Room) { Self::WithRoom } else { Self::Window }
    }
}

/// The widget that the room is: while it has the keyboard's focus, keys are about what is in the room.
pub fn room_widget() -> Id {
    Id::new("the room")
}

/// The commands that the keys of this frame ask for, in order. The keys are used up, so that nobody else sees them.
/// What `is_taken` says of the widget with the keyboard and a command is left to whoever has the keyboard.
pub fn pressed<'t>(
    ctx: &Context,
    table: &'t CommandTable,
    reach: KeyReach,
    space: &mut SpaceBar,
    is_taken: impl Fn(Option<Id>, &str) -> bool,
) -> Vec<&'t CommandInfo> {
    let writes = ctx.text_edit_focused();
    let focused = ctx.memory(|memory| memory.focused());
    // An open menu gets the keys alone; it is closed before anything else.
    let menu_open = egui::Popup::is_any_open(ctx);
    // What is not seen is not deleted, framed or moved.
    let in_room = reach == KeyReach::WithRoom && !menu_open && focused.is_none_or(|widget| widget == room_widget());
    let pause = ctx.input_mut(|input| space_bar(input, in_room, space));
    let mut asked = Vec::from_iter(table.find(PAUSE).filter(|_| pause));
    let walks = focused == Some(room_widget());
    let counts = |command: &&CommandInfo| {
        let here = match command.context {
            _ if menu_open => false,
            // An open question is answered or closed first.
            _ if reach == KeyReach::Question => command.id == ESCAPE,
            KeyContext::Everywhere => true,
            KeyContext::NotWriting => !writes && (reach != KeyReach::Panel || command.id == KEYS),
            KeyContext::Room => in_room,
            // The code that draws these handles its keys itself.
            KeyContext::Files | KeyContext::Editor | KeyContext::Finding | KeyContext::Graph => false,
        };
        here && command.id != PAUSE && (walks || !WALKING.contains(&command.id)) && !is_taken(focused, command.id)
    };
    let is_behind = menu_open || matches!(reach, KeyReach::Question | KeyReach::Panel);
    let of_id = |id: &str| table.find(id).filter(|_| !writes && !is_behind);
    let asked_by = |event: &Event| match event {
        // egui turns these two into events of its own before keys are seen.
        Event::Copy => of_id("room.copy"),
        Event::Paste(_) => of_id("room.paste"),
        Event::Key { key, pressed: true, modifiers, .. } => {
            let meant =
                |keys: &KeyboardShortcut| keys.logical_key == *key && modifiers.matches_logically(keys.modifiers);
            table.all().iter().filter(counts).find(|command| command.keys.iter().any(meant))
        }
        _ => None,
    };
    // Several keys may fall into one frame; each does what it does, in the order in which they were pressed.
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            if asked.last().is_some_and(|last: &&CommandInfo| last.id == PALETTE) {
                return true;
            }
            let command = asked_by(event);
            asked.extend(command);
            command.is_none()
        });
    });
    asked
}

/// Whether what is drawn here hears keys: no menu is open over it and no dialog lies before it.
pub fn are_active(ui: &Ui) -> bool {
    !egui::Popup::is_any_open(ui.ctx()) && ui.memory(|memory| memory.is_above_modal_layer(ui.layer_id()))
}

/// Whether the keys of this command of the house are pressed; they are used up. For panes that have the keyboard.
pub fn take(ui: &Ui, id: &str) -> bool {
    if !are_active(ui) {
        return false;
    }
    let keys = CommandTable::standard().find(id).map_or(&[][..], |command| command.keys);
    let pressed = |keys: &&KeyboardShortcut| ui.input_mut(|input| input.consume_shortcut(keys));
    // Each is looked for, so that two that fall into one frame are both used up.
    keys.iter().filter(pressed).count() > 0
}

/// Follows the space bar. Returns whether it was released without having moved the view: it pauses only then.
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
            // A focused widget takes it for a click.
            return false;
        }
        true
    });
    if !input.focused {
        *space = SpaceBar::Up;
    }
    pauses
}

/// The keys of a command of the house as they are shown: `Ctrl+K`; empty where it has none.
pub fn shown(ctx: &Context, id: &str) -> String {
    CommandTable::standard().find(id).map_or_else(String::new, |command| first_shown(ctx, command))
}

/// The first keys of a command as they are shown; empty where it has none.
pub fn first_shown(ctx: &Context, command: &CommandInfo) -> String {
    command.keys.iter().take(1).map(|keys| shortcut(ctx, keys)).collect()
}

/// One shortcut as it is shown.
pub fn shortcut(ctx: &Context, keys: &KeyboardShortcut) -> String {
    spelled(keys).map_or_else(|| ctx.format_shortcut(keys), str::to_owned)
}

/// How keys are written that are known by their sign rather than by a name.
pub fn spelled(keys: &KeyboardShortcut) -> Option<&'static str> {
    match keys.logical_key {
        Key::Questionmark => Some("?"),
        Key::Backtick => Some("`"),
        Key::Plus if keys.modifiers.is_none() => Some("+"),
        Key::Equals if keys.modifiers.is_none() => Some("="),
        Key::Minus if keys.modifiers.is_none() => Some("-"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;
    use crate::schedule::Speed;
    use crate::ui::commands::WindowCommand;
    use crate::ui::state::FrontPanel;
    use crate::ui::testing::stage_keys;
    use crate::ui::{Command, UiState};

    #[test]
    fn a_pressed_key_is_heard_once_and_not_while_a_text_is_written() {
        let mut window = stage_keys(UiState::default(), |ui, stage| {
            let mut text = String::new();
            let response = ui.text_edit_singleline(&mut text);
            if stage.state.front.is_open(FrontPanel::Keys) {
                response.request_focus();
            }
        });
        window.run_steps(1);
        window.key_press(Key::Space);
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
        window.run_steps(4);
        assert_eq!(window.state().commands, [Command::SetPaused(true), Command::Undo, Command::Redo]);
        window.state_mut().state.front.open(FrontPanel::Keys);
        window.run_steps(2);
        window.key_press(Key::Num3);
        window.key_press_modifiers(Modifiers::COMMAND, Key::K);
        window.run_steps(3);
        assert_eq!(window.state().commands.len(), 3, "a digit is part of the text");
        assert!(window.state().state.front.is_open(FrontPanel::Palette), "the palette opens from anywhere");
    }

    #[test]
    fn keys_that_fall_into_one_frame_do_their_things_in_order() {
        let context = Context::default();
        let key =
            |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        let events = [Key::Escape, Key::Num3, Key::F3].map(key).to_vec();
        let mut ids = Vec::new();
        let input = egui::RawInput { events, ..egui::RawInput::default() };
        let table = CommandTable::standard();
        let mut output = context.run_ui(input, |ui| {
            let asked = pressed(ui.ctx(), table, KeyReach::WithRoom, &mut SpaceBar::default(), |_, _| false);
            ids.extend(asked.into_iter().map(|command| command.id));
        });
        output.textures_delta.clear();
        assert_eq!(ids, ["window.escape", "time.speed_16", "view.debug_overlay"]);
    }

    #[test]
    fn what_is_listed_is_what_happens() {
        // Each in a room where something is selected and copied, with the keyboard in the room.
        for command in CommandTable::standard().all() {
            let is_of_window =
                matches!(command.context, KeyContext::Everywhere | KeyContext::NotWriting | KeyContext::Room);
            let is_by_space_bar = command.id == PAUSE;
            for keys in command.keys.iter().filter(|_| is_of_window && !is_by_space_bar) {
                let (state, made) = crate::ui::testing::run_where_it_applies(command);
                let mut window = stage_keys(state, |ui, _| {
                    let response = ui.interact(ui.max_rect(), room_widget(), egui::Sense::click());
                    ui.memory_mut(|memory| memory.request_focus(response.id));
                });
                window.state_mut().room = crate::ui::testing::room_for(command);
                window.run_steps(2);
                window.key_press_modifiers(keys.modifiers, keys.logical_key);
                window.run_steps(1);
                assert_eq!(window.state().asked, made, "{} by {keys:?}", command.id);
            }
        }
        let speed = CommandTable::standard().find("time.speed_4").expect("it is in the table");
        assert_eq!(crate::ui::testing::run_where_it_applies(speed).1, [Command::SetSpeed(Speed::Times(4))]);
        let zoom = CommandTable::standard().find("room.zoom_in").expect("it is in the table");
        assert_eq!(crate::ui::testing::run_where_it_applies(zoom).1, [Command::Window(WindowCommand::Zoom(1.25))]);
    }
}
