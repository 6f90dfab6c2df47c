//! The section `elements` of `settings.yaml`: limits on the content of elements.

use crate::workspace::SettingsSection;

settings! {
    /// The limits of elements' content.
    pub struct ElementSettings {
        /// Pins on a board; adding another removes the oldest.
        pub max_pins_per_board: usize = 50, in 0.0..=1_000_000.0, once "pins_per_board";
        /// Pins of one agent on a board; adding another removes its oldest. The person has no limit.
        pub max_pins_per_author: usize = 5, in 0.0..=1_000_000.0, once "pins_per_author";
        /// A pin whose votes (up minus down) reach this is removed.
        pub pin_removed_at_net: i64 = -3, in -1_000_000.0..=0.0;
        /// A pin whose votes (up minus down) reach this is flagged.
        pub pin_flagged_at_net: i64 = -2, in -1_000_000.0..=0.0;
        /// Characters of a pin, and of a comment on one.
        pub max_pin_chars: usize = 2_000, in 0.0..=1_000_000_000.0, once "pin_chars";
        /// Comments on one pin.
        pub max_comments_per_pin: usize = 50, in 0.0..=1_000_000.0, once "comments_per_pin";
        /// Mails in an inbox. Closed mail is dropped, oldest first; an inbox full of open mail refuses new mail.
        pub max_mail_per_box: usize = 100, in 0.0..=1_000_000.0, once "mail_per_box";
        /// Closed mails that an inbox keeps when another arrives; the oldest is dropped. Open mail never is.
        pub max_closed_mail_per_box: usize = 50, in 0.0..=1_000_000.0, once "closed_mail_per_box";
        /// Copies of sent mail that an inbox keeps; the oldest is dropped.
        pub max_sent_per_box: usize = 100, in 0.0..=1_000_000.0, once "sent_per_box";
        /// Characters of a mail.
        pub max_mail_chars: usize = 20_000, in 0.0..=1_000_000_000.0, once "mail_chars";
        /// Characters of a message board or rulebook.
        pub max_text_chars: usize = 100_000, in 0.0..=1_000_000_000.0, once "text_chars";
    }
}

impl SettingsSection for ElementSettings {
    const NAME: &'static str = "elements";
}

/// Normalizes line ends to `\n`.
pub(super) fn tidy(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Refuses a text that is too long, with the reason.
pub(super) fn within(text: &str, what: &str, most: usize) -> Result<(), String> {
    let length = text.chars().count();
    if length > most {
        return Err(format!("{what} holds at most {most} characters; this has {length}"));
    }
    Ok(())
}
