//! Which keys are meant for the room and which are typed text. A key that decides something counts only while the person
//! has chosen the room or an approval card on purpose, and never within a second of typing.

use egui::{Context, Event, Id, Key, Modifiers};

/// Seconds after typing during which a key alone is taken as more of the same text.
pub const TYPING_SECS: f64 = 1.0;

/// Returns the id of the room's widget: while it has the focus, shortcuts apply to the things in the room.
pub fn room_widget() -> Id {
    Id::new("the room")
}

/// What is known about the keyboard between frames. It is kept with the focus, in `egui`'s memory.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Keyboard {
    /// The room or the card that the person chose.
    chosen: Option<Id>,
    /// When a key was pressed that writes a character, in seconds.
    character_secs: Option<f64>,
    /// When a character was typed that was no shortcut, in seconds.
    text_secs: Option<f64>,
    /// The text field that had the focus in the last frame.
    field: Option<Id>,
}

impl Keyboard {
    pub(super) fn load(ctx: &Context) -> Self {
        ctx.data(|data| data.get_temp(Self::id())).unwrap_or_default()
    }

    pub(super) fn store(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(Self::id(), self));
    }

    fn id() -> Id {
        Id::new("what the keys are for")
    }

    /// Remembers the text field that has the focus now. Returns whether one had it in the last frame and has left it.
    pub(super) fn update_field(&mut self, ctx: &Context) -> bool {
        let field = ctx.memory(|memory| memory.focused()).filter(|_| ctx.text_edit_focused());
        std::mem::replace(&mut self.field, field).is_some() && field.is_none()
    }

    /// Records an event that types text. Text that is no shortcut shows that the person is writing, wherever the focus
    /// is, so that nothing is chosen any more.
    pub(super) fn note(&mut self, is_shortcut: bool, now_secs: f64) {
        self.character_secs = Some(now_secs);
        if !is_shortcut {
            self.text_secs = Some(now_secs);
            self.chosen = None;
        }
    }

    /// Whether a key alone may be a shortcut: the person has not typed text just before.
    pub(super) fn may_command(self, now_secs: f64) -> bool {
        !is_recent(self.text_secs, now_secs)
    }

    /// Whether the person has chosen the widget that has the focus.
    pub(super) fn is_chosen(self, focused: Option<Id>) -> bool {
        self.chosen.is_some() && self.chosen == focused
    }

    /// Whether a key may decide something, given the widget that has the focus. A key that writes a character may not
    /// follow any other closely, so that no word decides.
    pub(super) fn may_decide(self, focused: Option<Id>, writes_character: bool, now_secs: f64) -> bool {
        let last = if writes_character { self.character_secs } else { self.text_secs };
        if is_recent(last, now_secs) {
            // A key within a second of typing decides nothing.
            rule!("keys-after-typing-decide-nothing");
            return false;
        }
        self.is_chosen(focused)
    }
}

fn is_recent(at_secs: Option<f64>, now_secs: f64) -> bool {
    at_secs.is_some_and(|at_secs| (0.0..TYPING_SECS).contains(&(now_secs - at_secs)))
}

/// The person chose this widget for the keys, by a click in it or by its own key: the room, or an approval card.
pub fn choose(ctx: &Context, widget: Id) {
    ctx.memory_mut(|memory| memory.request_focus(widget));
    let keyboard = Keyboard { chosen: Some(widget), ..Keyboard::load(ctx) };
    keyboard.store(ctx);
}

/// Whether the person chose this widget for the keys and it still has the focus.
pub fn is_chosen(ctx: &Context, widget: Id) -> bool {
    Keyboard::load(ctx).chosen == Some(widget) && ctx.memory(|memory| memory.has_focus(widget))
}

/// Whether the person chose an approval card for the keys and it still has the focus.
pub fn is_card_chosen(ctx: &Context) -> bool {
    let chosen = Keyboard::load(ctx).chosen.filter(|chosen| *chosen != room_widget());
    chosen.is_some_and(|chosen| ctx.memory(|memory| memory.has_focus(chosen)))
}

/// Whether text was typed within the last second, so that a key must not press a button that decides something.
pub fn is_typing(ctx: &Context) -> bool {
    let keyboard = Keyboard::load(ctx);
    !keyboard.may_command(ctx.input(|input| input.time))
}

/// Whether a button was pressed on purpose: by the pointer, or by a key that is not part of a text.
pub fn is_pressed(button: &egui::Response) -> bool {
    button.clicked() && (button.clicked_by(egui::PointerButton::Primary) || !is_typing(&button.ctx))
}

/// Whether a card with this rectangle was clicked, other than in a text field, which keeps the keys.
pub fn is_card_clicked(ui: &egui::Ui, rect: egui::Rect) -> bool {
    let (is_clicked, pointer) = ui.input(|input| (input.pointer.primary_clicked(), input.pointer.interact_pos()));
    let is_here = |pointer| rect.contains(pointer) && ui.ctx().layer_id_at(pointer) == Some(ui.layer_id());
    is_clicked && pointer.is_some_and(is_here) && !ui.ctx().text_edit_focused()
}

/// Whether an event writes text: a character, or a part of a word from an input method.
pub(super) fn is_text(event: &Event) -> bool {
    match event {
        Event::Text(_) | Event::Ime(_) => true,
        Event::Key { key, pressed: true, modifiers, .. } => writes_character(*key, *modifiers),
        _ => false,
    }
}

/// Whether a key with these modifiers writes a character.
pub(super) fn writes_character(key: Key, modifiers: Modifiers) -> bool {
    !(modifiers.ctrl || modifiers.alt || modifiers.command || modifiers.mac_cmd)
        && match key {
            Key::Space
            | Key::Colon
            | Key::Comma
            | Key::Backslash
            | Key::Slash
            | Key::Pipe
            | Key::Questionmark
            | Key::Exclamationmark
            | Key::OpenBracket
            | Key::CloseBracket
            | Key::OpenCurlyBracket
            | Key::CloseCurlyBracket
            | Key::Backtick
            | Key::Minus
            | Key::Period
            | Key::Plus
            | Key::Equals
            | Key::Semicolon
            | Key::Quote => true,
            // The names of letters and digits are one character long.
            key => key.name().len() == 1,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_write_a_character_are_text() {
        for key in [Key::A, Key::Z, Key::Num0, Key::Space, Key::Questionmark, Key::Minus, Key::Quote] {
            assert!(writes_character(key, Modifiers::NONE) && writes_character(key, Modifiers::SHIFT), "{key:?}");
            assert!(!writes_character(key, Modifiers::COMMAND) && !writes_character(key, Modifiers::ALT), "{key:?}");
        }
        for key in [Key::Enter, Key::Tab, Key::Escape, Key::Delete, Key::Backspace, Key::ArrowUp, Key::F3, Key::Home] {
            assert!(!writes_character(key, Modifiers::NONE), "{key:?}");
        }
    }

    #[test]
    fn a_key_decides_only_where_it_was_chosen_and_not_after_typing() {
        checks_rule!("keys-after-typing-decide-nothing");
        let (card, room) = (Id::new("card"), Id::new("room"));
        let chosen = Keyboard { chosen: Some(card), ..Keyboard::default() };
        let may_decide = |keyboard: Keyboard, focused, now_secs| keyboard.may_decide(focused, true, now_secs);
        assert!(may_decide(chosen, Some(card), 9.0));
        assert!(!may_decide(chosen, Some(room), 9.0) && !may_decide(chosen, None, 9.0), "the focus went elsewhere");
        assert!(!may_decide(Keyboard::default(), None, 9.0), "nothing was chosen");
        let mut keyboard = chosen;
        keyboard.note(true, 9.0);
        assert!(!may_decide(keyboard, Some(card), 9.9) && may_decide(keyboard, Some(card), 10.0));
        assert!(keyboard.may_decide(Some(card), false, 9.1), "Delete is no part of a word");
        assert!(keyboard.may_command(9.1), "shortcuts may follow each other");
        keyboard.note(false, 11.0);
        assert!(!keyboard.may_command(11.9) && keyboard.may_command(12.0));
        assert!(!may_decide(keyboard, Some(card), 99.0), "text was typed there, so it is to be chosen again");
    }
}
