//! The section `elements` of `settings.yaml`: limits on the content of elements.

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// The limits of elements' content.
#[derive(Resource, Clone, Serialize, Deserialize, Debug)]
#[serde(default)]
pub struct ElementSettings {
    /// Pins on a board; adding another removes the oldest.
    pub pins_per_board: usize,
    /// Pins of one agent on a board; adding another removes its oldest. The person has no limit.
    pub pins_per_author: usize,
    /// A pin whose votes (up minus down) reach this is removed.
    pub pin_removed_at_net: i64,
    /// A pin whose votes (up minus down) reach this is flagged.
    pub pin_flagged_at_net: i64,
    /// Characters of a pin, and of a comment on one.
    pub pin_chars: usize,
    /// Comments on one pin.
    pub comments_per_pin: usize,
    /// Mails in an inbox. Closed mail is dropped, oldest first; an inbox full of open mail refuses new mail.
    pub mail_per_box: usize,
    /// Closed mails that an inbox keeps when another arrives; the oldest is dropped. Open mail never is.
    pub closed_mail_per_box: usize,
    /// Copies of sent mail that an inbox keeps; the oldest is dropped.
    pub sent_per_box: usize,
    /// Characters of a mail.
    pub mail_chars: usize,
    /// Characters of a message board or rulebook.
    pub text_chars: usize,
}

impl Default for ElementSettings {
    fn default() -> Self {
        Self {
            pins_per_board: 50,
            pins_per_author: 5,
            pin_removed_at_net: -3,
            pin_flagged_at_net: -2,
            pin_chars: 2_000,
            comments_per_pin: 50,
            mail_per_box: 100,
            closed_mail_per_box: 50,
            sent_per_box: 100,
            mail_chars: 20_000,
            text_chars: 100_000,
        }
    }
}

impl SettingsSection for ElementSettings {
    const NAME: &'static str = "elements";
    const RANGES: &'static [Range] =
        &[Range::of("pin_removed_at_net", -1_000_000.0, 0.0), Range::of("pin_flagged_at_net", -1_000_000.0, 0.0)];
}

/// Normalizes line ends to `
/// `.
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
