//! All texts of the conversations pane.

use crate::ui::widgets::text_format;

// The list

pub(super) const AGENTS_MAY_TALK: &str = "Allow conversations";
pub(super) const NO_CONVERSATIONS: &str = "No conversations yet";
pub(super) const HOW_CONVERSATIONS_BEGIN: &str = "Agents talk when they meet, or when you start a conversation above.";

/// “Ada and Bram”, “Ada, Bram and Cleo”.
pub(super) fn names(called: &[&str]) -> String {
    match called {
        [] => "Nobody".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

pub(super) fn conversation_of(names: &str, session: &str) -> String {
    format!("Conversation between {names}, {session}")
}

// The open conversation

pub(super) const STOP_CONVERSATION: &str = "Stop conversation";
pub(super) const YOUR_TURN: &str = "Your turn";
pub(super) const WRITE_A_MESSAGE: &str = "Write a message";
pub(super) const SEND: &str = "Send";
pub(super) const ENTER_SENDS: &str = "Enter sends";

pub(super) fn about(topic: &str) -> String {
    format!("About {topic}")
}

pub(super) fn earlier_turns(count: usize) -> String {
    format!("{} in the log", text_format::count(count, "earlier turn", "earlier turns"))
}

pub(super) fn speaks_next(agent: &str, taken: u32, most: u32) -> String {
    format!("{agent} speaks next; {taken} of {most} turns")
}

pub(super) fn ended(why: &str) -> String {
    if why.is_empty() { "Ended".to_owned() } else { format!("Ended: {why}") }
}

// A new conversation

pub(super) const NEW_CONVERSATION: &str = "New conversation";
pub(super) const NEEDS_TWO_AGENTS: &str = "A conversation needs two agents. Drag some into the room first.";
pub(super) const CHOOSE_AGENTS: &str = "Choose two or more agents.";
pub(super) const TOPIC: &str = "Topic";
pub(super) const START_CONVERSATION: &str = "Start conversation";
pub(super) const CONVERSATIONS_ARE_OFF: &str = "Conversations are turned off.";

pub(super) fn with(agent: &str) -> String {
    format!("With {agent}")
}
