//! Distributes key presses over frames. `bevy_egui` applies the modifiers that are held at the end of a frame to every
//! key in it, so Ctrl and a key that are pressed and released within one frame would lose the Ctrl. Therefore a frame
//! only gets keys up to the next change of a modifier; the rest come with the next frame.

use std::collections::VecDeque;

use bevy::ecs::message::{MessageCursor, MessageReader, Messages};
use bevy::ecs::prelude::*;
use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardFocusLost, KeyboardInput};

/// Key events that wait for the next frame.
#[derive(Resource, Default)]
pub(super) struct WaitingKeys {
    keys: VecDeque<KeyboardInput>,
    seen: MessageCursor<KeyboardInput>,
}

impl WaitingKeys {
    /// Whether the next frame should be drawn immediately.
    pub(super) fn are_waiting(&self) -> bool {
        !self.keys.is_empty()
    }
}

/// Releases the events of this frame, before other systems read them.
pub(super) fn distribute_keys(
    mut messages: ResMut<Messages<KeyboardInput>>,
    mut lost: MessageReader<KeyboardFocusLost>,
    mut waiting: ResMut<WaitingKeys>,
) {
    let is_focus_lost = lost.read().count() > 0;
    let WaitingKeys { keys, seen } = waiting.bypass_change_detection();
    if keys.is_empty() && seen.is_empty(&messages) {
        return;
    }
    keys.extend(seen.read(&messages).cloned());
    // All keys are released when the window loses the focus.
    let count = if is_focus_lost { keys.len() } else { keys_of_one_frame(keys.iter()) };
    messages.clear();
    messages.write_batch(keys.drain(..count));
    seen.clear(&messages);
}

/// The number of leading events that belong to one frame: those up to a modifier change that follows a key press.
fn keys_of_one_frame<'a>(keys: impl Iterator<Item = &'a KeyboardInput>) -> usize {
    let (mut count, mut is_one_pressed) = (0, false);
    for key in keys {
        let is_modifier = matches!(key.logical_key, Key::Shift | Key::Control | Key::Alt | Key::Super | Key::Meta);
        if is_modifier && is_one_pressed {
            break;
        }
        is_one_pressed |= !is_modifier && key.state == ButtonState::Pressed;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use bevy::app::{App, Update};
    use bevy::input::keyboard::KeyCode;
    use bevy_egui::input::{ModifierKeysState, write_modifiers_keys_state_system};

    use super::*;

    #[derive(Resource, Default)]
    struct Heard {
        keys: Vec<String>,
        seen: MessageCursor<KeyboardInput>,
    }

    /// Reads key events like `bevy_egui`.
    fn hear(messages: Res<Messages<KeyboardInput>>, held: Res<ModifierKeysState>, mut heard: ResMut<Heard>) {
        let Heard { keys, seen } = &mut *heard;
        for key in seen.read(&messages).filter(|key| key.state.is_pressed()) {
            let Key::Character(word) = &key.logical_key else { continue };
            let signs = [(held.ctrl, "Ctrl+"), (held.shift, "Shift+")];
            let signs: String = signs.into_iter().filter(|(is_held, _)| *is_held).map(|(_, sign)| sign).collect();
            keys.push(format!("{signs}{word}"));
        }
    }

    fn key(logical_key: Key, state: ButtonState) -> KeyboardInput {
        KeyboardInput {
            key_code: KeyCode::KeyK,
            logical_key,
            state,
            text: None,
            repeat: false,
            window: Entity::PLACEHOLDER,
        }
    }

    fn down(key_down: Key) -> KeyboardInput {
        key(key_down, ButtonState::Pressed)
    }

    fn up(key_up: Key) -> KeyboardInput {
        key(key_up, ButtonState::Released)
    }

    fn letter(letter: &str) -> Key {
        Key::Character(letter.into())
    }

    fn window() -> App {
        let mut app = App::new();
        app.add_message::<KeyboardInput>().add_message::<KeyboardFocusLost>();
        app.init_resource::<WaitingKeys>().init_resource::<ModifierKeysState>().init_resource::<Heard>();
        app.add_systems(Update, (distribute_keys, write_modifiers_keys_state_system, hear).chain());
        app
    }

    fn press(app: &mut App, keys: impl IntoIterator<Item = KeyboardInput>) {
        app.world_mut().resource_mut::<Messages<KeyboardInput>>().write_batch(keys);
        app.update();
    }

    fn heard(app: &mut App) -> Vec<String> {
        let mut frames = 0;
        while app.world().resource::<WaitingKeys>().are_waiting() {
            app.update();
            frames += 1;
            assert!(frames < 20, "what waits comes with the next frames");
        }
        std::mem::take(&mut app.world_mut().resource_mut::<Heard>().keys)
    }

    #[test]
    fn a_shortcut_within_one_frame_is_recognised() {
        let mut app = window();
        press(&mut app, [down(Key::Control), down(letter("k")), up(letter("k")), up(Key::Control)]);
        assert_eq!(heard(&mut app), ["Ctrl+k"]);
        assert!(!app.world().resource::<ModifierKeysState>().ctrl, "it was let go");
        press(&mut app, [down(letter("k")), up(letter("k"))]);
        assert_eq!(heard(&mut app), ["k"]);
    }

    #[test]
    fn keys_of_one_frame_keep_their_order_and_modifiers() {
        let mut app = window();
        let ctrl_shift_z = [down(Key::Control), down(Key::Shift), down(letter("z")), up(letter("z")), up(Key::Shift)];
        let then_z = [down(letter("z")), up(letter("z")), up(Key::Control), down(letter("a")), up(letter("a"))];
        press(&mut app, ctrl_shift_z.into_iter().chain(then_z));
        press(&mut app, [down(letter("b"))]);
        assert_eq!(heard(&mut app), ["Ctrl+Shift+z", "Ctrl+z", "a", "b"]);
    }

    #[test]
    fn keys_without_modifier_changes_are_not_delayed() {
        let mut app = window();
        press(&mut app, [down(Key::Shift), down(letter("A")), up(letter("A")), down(letter("B")), up(letter("B"))]);
        assert!(!app.world().resource::<WaitingKeys>().are_waiting());
        assert_eq!(heard(&mut app), ["Shift+A", "Shift+B"]);
    }

    #[test]
    fn losing_the_focus_releases_queued_keys() {
        let mut app = window();
        app.world_mut().write_message(KeyboardFocusLost);
        press(&mut app, [down(Key::Control), down(letter("k")), up(letter("k")), up(Key::Control)]);
        assert!(!app.world().resource::<WaitingKeys>().are_waiting());
    }
}
