//! Interface texts of the dialog that adds a coding agent.

pub(crate) const ABOUT: &str = "\
    Your own program that speaks the Agent Client Protocol, with your own login. Its file access and commands \
    follow this workspace's rules when they go through the room; otherwise the program is sandboxed, if this computer \
    supports that.";
pub(crate) const NOT_INSTALLED: &str = "not installed";
pub(crate) const OR_A_COMMAND_LINE: &str = "Or a command line";
pub(crate) const COMMAND_LINE: &str = "Command line";
pub(crate) const COMMAND_LINE_HINT: &str = "node my-agent.js --acp";
pub(crate) const NAME_IN_THE_ROOM: &str = "Name in the room";

// Buttons
pub(crate) const ADD_TO_THE_ROOM: &str = "Add to the room";
pub(crate) const CHOOSE_AND_ALLOW_FIRST: &str = "Choose one and allow it first.";
pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const FORBID: &str = "Forbid";
pub(crate) const FORBID_HINT: &str = "It will not start in this workspace until you allow it again.";
pub(crate) const ALLOW: &str = "Allow";
pub(crate) const ALLOW_HINT: &str =
    "Allows exactly this command line, in this workspace. You are asked again after a change.";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_HINT: &str = "Starts it and sends a short test prompt.";
pub(crate) const ALLOW_FIRST: &str = "Allow it first.";

// The selected coding agent
pub(crate) fn log_in_once(command: &str) -> String {
    format!("Log in once, in a terminal: {command}")
}

pub(crate) fn to_install(command: &str) -> String {
    format!("Not installed. To install it: {command}")
}

pub(crate) fn own_files(places: &[String]) -> String {
    format!("It may read and write its own files: {}", places.join(", "))
}

// Problems
pub(crate) fn problem(place: &str, what: &str) -> String {
    format!("{place}: {what}")
}

pub(crate) fn two_sentences(what: &str, remedy: &str) -> String {
    format!("{what} {remedy}")
}
