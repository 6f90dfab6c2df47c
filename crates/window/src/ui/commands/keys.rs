//! Keyboard shortcuts: which commands the keys of a frame invoke, and how shortcuts are displayed.

use egui::{Context, Event, Id, Key, KeyboardShortcut, Ui};

pub use super::keyboard::room_widget;

use super::keyboard::{self, Keyboard};
use super::table::{CommandInfo, CommandTable, KeyContext, UndoKind};
use crate::ui::state::SpaceBar;
use crate::ui::state::dock::{Dock, Tab};

/// The command that pauses when the space bar is released, unless it was held to move the view.
const PAUSE: &str = "time.pause";
/// The command that shows and hides the shortcuts.
const KEYS: &str = "window.keys";
/// The command that closes the topmost dialog or panel.
const ESCAPE: &str = "window.escape";
/// The command that opens the palette; keys typed after it in the same frame go into the palette.
const PALETTE: &str = "window.palette";
/// The commands on Tab, which apply only while the room has the focus: elsewhere Tab moves between widgets.
const TAB_COMMANDS: [&str; 2] = ["room.next", "room.previous"];

/// The scope in which shortcuts apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShortcutScope {
    /// A dialog is open: only the shortcut that closes it applies.
    Question,
    /// A panel is in front: only global shortcuts apply, and the one that closes it.
    Panel,
    /// The window without the room, which is not visible.
    Window,
    /// The window and the room.
    WithRoom,
}

impl ShortcutScope {
    /// Returns the scope when neither a dialog nor a panel is open.
    pub fn of(dock: &Dock) -> Self {
        if dock.is_visible(&Tab::Room) { Self::WithRoom } else { Self::Window }
    }
}

/// Returns the commands that the keys of this frame invoke, in order, and consumes those keys. A command for which
/// `is_taken` is true, given the focused widget, is left to that widget. Text is never a shortcut, and keys that decide
/// something count only where the person has chosen them to.
pub fn pressed<'t>(
    ctx: &Context,
    table: &'t CommandTable,
    reach: ShortcutScope,
    space: &mut SpaceBar,
    is_taken: impl Fn(Option<Id>, &str) -> bool,
) -> Vec<&'t CommandInfo> {
    let is_typing = ctx.text_edit_focused();
    let focused = ctx.memory(|memory| memory.focused());
    let now_secs = ctx.input(|input| input.time);
    let mut keyboard = Keyboard::load(ctx);
    let has_left_field = keyboard.update_field(ctx);
    // An open menu gets the keys alone; it is closed before anything else.
    let menu_open = egui::Popup::is_any_open(ctx);
    // The room's commands apply only while it is visible.
    let in_room =
        reach == ShortcutScope::WithRoom && !menu_open && focused.is_none_or(|widget| widget == room_widget());
    let takes_space = in_room && keyboard.may_command(now_secs);
    let pause = ctx.input_mut(|input| space_bar(input, takes_space, space));
    let mut invoked = Vec::from_iter(table.find(PAUSE).filter(|_| pause));
    let is_room_focused = focused == Some(room_widget());
    let is_applicable = |command: &&CommandInfo| {
        let applies_here = match command.context {
            _ if menu_open => false,
            // An open dialog is answered or closed first.
            _ if reach == ShortcutScope::Question => command.id == ESCAPE,
            // Escape in a text field only leaves the field.
            KeyContext::Everywhere if command.id == ESCAPE && has_left_field => reach == ShortcutScope::Panel,
            KeyContext::Everywhere => true,
            KeyContext::NotWriting => !is_typing && (reach != ShortcutScope::Panel || command.id == KEYS),
            // After a click elsewhere, the keys still look around in the room, but change nothing.
            KeyContext::Room if command.undone != UndoKind::NothingToUndo => in_room && is_room_focused,
            KeyContext::Room => in_room,
            // The code that draws these panes handles their keys itself.
            KeyContext::Files | KeyContext::Editor | KeyContext::Finding | KeyContext::Graph => false,
        };
        applies_here
            && command.id != PAUSE
            && (is_room_focused || !TAB_COMMANDS.contains(&command.id))
            && !is_taken(focused, command.id)
    };
    let is_covered = menu_open || matches!(reach, ShortcutScope::Question | ShortcutScope::Panel);
    let of_id = |id: &str| table.find(id).filter(|_| !is_typing && !is_covered && is_room_focused);
    let command_for = |event: &Event, keyboard: Keyboard| match event {
        // egui turns these two shortcuts into events of their own.
        Event::Copy => of_id("room.copy"),
        Event::Paste(_) => of_id("room.paste"),
        Event::Key { key, pressed: true, modifiers, .. } => {
            let matches =
                |keys: &KeyboardShortcut| keys.logical_key == *key && modifiers.matches_logically(keys.modifiers);
            let writes_character = keyboard::writes_character(*key, *modifiers);
            let may_invoke = |command: &&CommandInfo| match command.decides {
                true => keyboard.may_decide(focused, writes_character, now_secs),
                false => keyboard.may_command(now_secs) || !writes_character,
            };
            let mut applicable = table.all().iter().filter(is_applicable).filter(may_invoke);
            applicable.find(|command| command.keys.iter().any(matches))
        }
        _ => None,
    };
    // A key that would decide something, were it not for its haste, is no text.
    let is_too_early = |event: &Event, keyboard: Keyboard| match event {
        Event::Key { key, pressed: true, modifiers, .. } if keyboard.is_chosen(focused) => {
            let matches =
                |keys: &KeyboardShortcut| keys.logical_key == *key && modifiers.matches_logically(keys.modifiers);
            let mut deciding = table.all().iter().filter(is_applicable).filter(|command| command.decides);
            deciding.any(|command| command.keys.iter().any(matches))
        }
        _ => false,
    };
    let mut walks_the_room = false;
    let has_keys =
        ctx.input(|input| input.events.iter().any(|event| matches!(event, Event::Key { pressed: true, .. })));
    // Several keys may be pressed within one frame; each invokes its command, in order.
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            if invoked.last().is_some_and(|last: &&CommandInfo| last.id == PALETTE) {
                return true;
            }
            let command = command_for(event, keyboard);
            let is_key = matches!(event, Event::Key { pressed: true, .. });
            // The character of a key comes as an event of its own, before that of the key.
            let is_text = keyboard::is_text(event) && !(has_keys && matches!(event, Event::Text(_)));
            if is_text || (is_typing && is_key) {
                let is_shortcut = command.is_some() || is_too_early(event, keyboard);
                keyboard.note(!is_typing && is_shortcut, now_secs);
            }
            if command.is_some_and(|command| TAB_COMMANDS.contains(&command.id)) {
                walks_the_room = true;
            }
            invoked.extend(command);
            command.is_none()
        });
    });
    keyboard.store(ctx);
    if walks_the_room {
        keyboard::choose(ctx, room_widget());
    }
    invoked
}

/// Whether shortcuts reach the widget that is being drawn: no menu is open over it and no dialog is in front of it.
pub fn are_active(ui: &Ui) -> bool {
    !egui::Popup::is_any_open(ui.ctx()) && ui.memory(|memory| memory.is_above_modal_layer(ui.layer_id()))
}

/// Whether the shortcut of this command is pressed, which is consumed; for panes that handle it while they have the
/// focus.
pub fn consume(ui: &Ui, id: &str) -> bool {
    if !are_active(ui) {
        return false;
    }
    let Some(command) = CommandTable::standard().find(id) else { return false };
    if command.decides && !Keyboard::load(ui.ctx()).may_command(ui.input(|input| input.time)) {
        return false;
    }
    let pressed = |keys: &&KeyboardShortcut| ui.input_mut(|input| input.consume_shortcut(keys));
    // Every shortcut is tested, so that two pressed in one frame are both consumed.
    command.keys.iter().filter(pressed).count() > 0
}

/// Tracks the space bar. Returns whether it was released without having moved the view, which pauses the room.
fn space_bar(input: &mut egui::InputState, in_room: bool, space: &mut SpaceBar) -> bool {
    let mut is_pause = false;
    input.events.retain(|event| {
        let egui::Event::Key { key: Key::Space, pressed, modifiers, .. } = event else { return true };
        if !pressed {
            is_pause |= *space == SpaceBar::Down;
            *space = SpaceBar::Up;
        } else if in_room && modifiers.is_none() {
            if *space == SpaceBar::Up {
                *space = SpaceBar::Down;
            }
            // A focused widget would treat it as a click.
            return false;
        }
        true
    });
    if !input.focused {
        *space = SpaceBar::Up;
    }
    is_pause
}

/// Returns the first shortcut of a command as it is displayed (`Ctrl+K`); empty if it has none.
pub fn shown(ctx: &Context, id: &str) -> String {
    CommandTable::standard().find(id).map_or_else(String::new, |command| first_shown(ctx, command))
}

/// Returns the first shortcut of a command as it is displayed; empty if it has none.
pub fn first_shown(ctx: &Context, command: &CommandInfo) -> String {
    command.keys.iter().take(1).map(|keys| shortcut(ctx, keys)).collect()
}

/// Returns a shortcut as it is displayed.
pub fn shortcut(ctx: &Context, keys: &KeyboardShortcut) -> String {
    symbol(keys).map_or_else(|| ctx.format_shortcut(keys), str::to_owned)
}

/// Returns how a key is displayed that is known by its symbol rather than its name.
pub fn symbol(keys: &KeyboardShortcut) -> Option<&'static str> {
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
    fn a_shortcut_is_handled_once_and_not_while_typing() {
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
    fn keys_pressed_in_one_frame_are_handled_in_order() {
        let context = Context::default();
        let key =
            |key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        let events = [Key::Escape, Key::Num3, Key::F3].map(key).to_vec();
        let mut ids = Vec::new();
        let input = egui::RawInput { events, ..egui::RawInput::default() };
        let table = CommandTable::standard();
        let mut output = context.run_ui(input, |ui| {
            let invoked = pressed(ui.ctx(), table, ShortcutScope::WithRoom, &mut SpaceBar::default(), |_, _| false);
            ids.extend(invoked.into_iter().map(|command| command.id));
        });
        output.textures_delta.clear();
        assert_eq!(ids, ["window.escape", "time.speed_16", "view.debug_overlay"]);
    }

    #[test]
    fn every_listed_shortcut_invokes_its_command() {
        // Each command is tested in a room where something is selected and copied, with the focus in the room.
        for command in CommandTable::standard().all() {
            let is_of_window =
                matches!(command.context, KeyContext::Everywhere | KeyContext::NotWriting | KeyContext::Room);
            let is_by_space_bar = command.id == PAUSE;
            for keys in command.keys.iter().filter(|_| is_of_window && !is_by_space_bar) {
                let (state, expected) = crate::ui::testing::run_where_it_applies(command);
                let mut window = stage_keys(state, |ui, _| {
                    let response = ui.interact(ui.max_rect(), room_widget(), egui::Sense::click());
                    keyboard::choose(ui.ctx(), response.id);
                });
                window.state_mut().room = crate::ui::testing::room_for(command);
                window.run_steps(2);
                window.key_press_modifiers(keys.modifiers, keys.logical_key);
                window.run_steps(1);
                assert_eq!(window.state().asked, expected, "{} by {keys:?}", command.id);
            }
        }
        let speed = CommandTable::standard().find("time.speed_4").expect("it is in the table");
        assert_eq!(crate::ui::testing::run_where_it_applies(speed).1, [Command::SetSpeed(Speed::Times(4))]);
        let zoom = CommandTable::standard().find("room.zoom_in").expect("it is in the table");
        assert_eq!(crate::ui::testing::run_where_it_applies(zoom).1, [Command::Window(WindowCommand::Zoom(1.25))]);
    }
}
