//! Interface texts of the page on which a person decides whether they trust a workspace.

use crate::ui::widgets::text_format::count;

pub(crate) const TITLE: &str = "Trust this workspace?";
pub(crate) const TITLE_WHEN_TRUSTED: &str = "You trust this workspace";
pub(crate) const TITLE_OF_DIFFERENCE: &str = "New in this workspace";
pub(crate) const READING: &str = "Reading the workspace…";

pub(crate) const RESTRICTED: &str = "\
    It is restricted until you trust it: agents ask before everything, it names no model, and nothing starts by \
    itself. Below is everything that it wants to be allowed and what would start by itself.";
pub(crate) const WANTS_NOTHING: &str = "\
    It is restricted until you trust it: agents ask before everything, it names no model, and nothing starts by \
    itself. It wants nothing to be allowed.";
pub(crate) const SETTLED: &str = "It wants nothing that you have not allowed.";

pub(crate) const SAVED_ROOM: &str = "\
    It has a saved room that was not begun here since you trusted it. It is not opened until you trust it, too: its \
    unfinished work would go on.";

/// What is new, and how much was trusted before.
pub(crate) fn difference(new: usize, before: usize) -> String {
    let wishes = count(new, "wish", "wishes");
    let had = match before {
        0 => "You had trusted none before.".to_owned(),
        before => format!("You have trusted {} before.", count(before, "other wish", "other wishes")),
    };
    format!("{wishes} came in since you trusted it, and will have no effect until you trust this, too. {had}")
}

pub(crate) fn trusted_wishes(number: usize) -> String {
    match number {
        0 => "You trust it. It wants nothing to be allowed.".to_owned(),
        number => format!("You trust {} of it.", count(number, "wish", "wishes")),
    }
}

// Buttons
pub(crate) fn trust(wishes: usize) -> String {
    match wishes {
        0 => "Trust this workspace".to_owned(),
        1 => "Trust this wish".to_owned(),
        wishes => format!("Trust these {wishes} wishes"),
    }
}

pub(crate) const TRUST_SAVED_ROOM: &str = "Trust the saved room";
pub(crate) const TRUST_ALL: &str = "Trust all of this";
pub(crate) const LEAVE_CLOSED: &str = "Leave it closed";
pub(crate) const KEEP_RESTRICTED: &str = "Keep it restricted";
pub(crate) const LEAVE_WITHOUT_EFFECT: &str = "Leave them without effect";
pub(crate) const REVOKE: &str = "Revoke trust";
pub(crate) const REVOKE_HINT: &str = "Restricts the workspace again. What is running goes on, but asks.";
pub(crate) const CLOSE: &str = "Close page";
pub(crate) const SAVING: &str = "Saving…";
pub(crate) const READ_AGAIN: &str = "Read again";

// The list
/// The name of the list for screen readers.
pub(crate) const LIST: &str = "What it wants";
/// The sign of a further row of a long line.
pub(crate) const CONTINUED: &str = "↳ ";

// Elsewhere in the window
pub(crate) const SHOW_WHAT_IT_WANTS: &str = "Show what it wants";

pub(crate) fn show_what_wants(place: &str) -> String {
    format!("{SHOW_WHAT_IT_WANTS}: {place}")
}

pub(crate) const PROVIDER_OF_RESTRICTED: &str = "\
    The offline model answers, because this workspace is restricted and names no model. Choosing one here uses it until \
    the workshop is closed.";
