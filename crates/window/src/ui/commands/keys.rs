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
        if dock.is_visible(&Tab::ROOM) { Self::WithRoom } else { Self::Window }
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
    let mut frame = KeyFrame::of(ctx, table, reach, &is_taken);
    let mut keyboard = Keyboard::load(ctx);
    frame.has_left_field = keyboard.update_field(ctx);
    let takes_space = frame.in_room() && keyboard.may_command(frame.now_secs);
    let pause = ctx.input_mut(|input| space_bar(input, takes_space, space));
    let mut invoked = Vec::from_iter(table.find(PAUSE).filter(|_| pause));
    let has_keys = ctx.input(|input| input.events.iter().any(is_key));
    // Several keys may be pressed within one frame; each invokes its command, in order.
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            if invoked.last().is_some_and(|last: &&CommandInfo| last.id == PALETTE) {
                return true;
            }
            let command = frame.command_for(event, keyboard);
            // The character of a key comes as an event of its own, before that of the key.
            let is_text = keyboard::is_text(event) && !(has_keys && matches!(event, Event::Text(_)));
            if is_text || (frame.is_typing && is_key(event)) {
                let is_shortcut = command.is_some() || frame.is_too_early(event, keyboard);
                keyboard.note(!frame.is_typing && is_shortcut, frame.now_secs);
            }
            invoked.extend(command);
            command.is_none()
        });
    });
    keyboard.store(ctx);
    if invoked.iter().any(|command| TAB_COMMANDS.contains(&command.id)) {
        keyboard::choose(ctx, room_widget());
    }
    invoked
}

/// Whether an event is that of a key that was pressed.
fn is_key(event: &Event) -> bool {
    matches!(event, Event::Key { pressed: true, .. })
}

/// What decides which commands the keys of a frame invoke.
struct KeyFrame<'a, 't> {
    table: &'t CommandTable,
    reach: ShortcutScope,
    now_secs: f64,
    focused: Option<Id>,
    is_typing: bool,
    /// Whether the person has just left a text field by Escape.
    has_left_field: bool,
    /// Whether a menu is open: it gets the keys alone, and is closed before anything else.
    has_menu: bool,
    is_taken: &'a dyn Fn(Option<Id>, &str) -> bool,
}

impl<'a, 't> KeyFrame<'a, 't> {
    fn of(
        ctx: &Context,
        table: &'t CommandTable,
        reach: ShortcutScope,
        is_taken: &'a dyn Fn(Option<Id>, &str) -> bool,
    ) -> Self {
        Self {
            table,
            reach,
            now_secs: ctx.input(|input| input.time),
            focused: ctx.memory(|memory| memory.focused()),
            is_typing: ctx.text_edit_focused(),
            has_left_field: false,
            has_menu: egui::Popup::is_any_open(ctx),
            is_taken,
        }
    }

    /// Whether the keys may go to the room, whose commands apply only while it is visible.
    fn in_room(&self) -> bool {
        let is_free = self.focused.is_none_or(|widget| widget == room_widget());
        self.reach == ShortcutScope::WithRoom && !self.has_menu && is_free
    }

    fn is_room_focused(&self) -> bool {
        self.focused == Some(room_widget())
    }

    /// The command that an event invokes.
    fn command_for(&self, event: &Event, keyboard: Keyboard) -> Option<&'t CommandInfo> {
        match event {
            // egui turns these two shortcuts into events of their own.
            Event::Copy => self.room_command("room.copy"),
            Event::Paste(_) => self.room_command("room.paste"),
            event => {
                let may_invoke = |command: &&CommandInfo| self.may_invoke(command, event, keyboard);
                self.of_key(event).find(may_invoke)
            }
        }
    }

    /// Whether a key would decide something, were it not for its haste: then it is no text.
    fn is_too_early(&self, event: &Event, keyboard: Keyboard) -> bool {
        keyboard.is_chosen(self.focused) && self.of_key(event).any(|command| command.decides)
    }

    /// The command with this id, if the room gets what is pasted and copied.
    fn room_command(&self, id: &str) -> Option<&'t CommandInfo> {
        let is_covered = self.has_menu || matches!(self.reach, ShortcutScope::Question | ShortcutScope::Panel);
        self.table.find(id).filter(|_| !self.is_typing && !is_covered && self.is_room_focused())
    }

    /// The applicable commands with this key.
    fn of_key(&self, event: &Event) -> impl Iterator<Item = &'t CommandInfo> {
        let matches = move |keys: &KeyboardShortcut| match event {
            Event::Key { key, pressed: true, modifiers, .. } => {
                keys.logical_key == *key && modifiers.matches_logically(keys.modifiers)
            }
            _ => false,
        };
        let applicable = self.table.all().iter().filter(move |command| self.is_applicable(command));
        applicable.filter(move |command| command.keys.iter().any(matches))
    }

    /// Whether the person may invoke a command with this key now, so soon after typing.
    fn may_invoke(&self, command: &CommandInfo, event: &Event, keyboard: Keyboard) -> bool {
        let Event::Key { key, modifiers, .. } = event else { return false };
        let writes_character = keyboard::writes_character(*key, *modifiers);
        match command.decides {
            true => keyboard.may_decide(self.focused, writes_character, self.now_secs),
            false => keyboard.may_command(self.now_secs) || !writes_character,
        }
    }

    /// Whether a command can be invoked here by its keys.
    fn is_applicable(&self, command: &CommandInfo) -> bool {
        self.applies_here(command)
            && command.id != PAUSE
            && (self.is_room_focused() || !TAB_COMMANDS.contains(&command.id))
            && !(self.is_taken)(self.focused, command.id)
    }

    /// Whether the context of a command is what is in front.
    fn applies_here(&self, command: &CommandInfo) -> bool {
        match command.context {
            _ if self.has_menu => false,
            // An open dialog is answered or closed first.
            _ if self.reach == ShortcutScope::Question => command.id == ESCAPE,
            // Escape in a text field only leaves the field.
            KeyContext::Everywhere if command.id == ESCAPE && self.has_left_field => self.reach == ShortcutScope::Panel,
            KeyContext::Everywhere => true,
            KeyContext::NotWriting => !self.is_typing && (self.reach != ShortcutScope::Panel || command.id == KEYS),
            // After a click elsewhere, the keys still look around in the room, but change nothing.
            KeyContext::Room if command.undone != UndoKind::NothingToUndo => self.in_room() && self.is_room_focused(),
            KeyContext::Room => self.in_room(),
            // The code that draws these panes handles their keys itself.
            KeyContext::Files | KeyContext::Editor | KeyContext::Finding | KeyContext::Graph => false,
        }
    }
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
        let zooms = Command::from(crate::ui::commands::CanvasCommand::Zoom(1.25));
        assert_eq!(crate::ui::testing::run_where_it_applies(zoom).1, [zooms]);
    }
}
