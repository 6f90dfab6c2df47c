//! Interface texts that several panes share: the approval card, the name of the user and the forms of MCP servers.

// Approval card: head
pub(super) const READ_EVERYTHING: &str = "Read everything";
pub(super) const GO_TO_QUESTION: &str = "Go to approval";
pub(super) const NEXT_QUESTION: &str = "Next approval";
pub(super) const PREVIOUS_QUESTION: &str = "Previous approval";
pub(super) const ALL_QUESTIONS: &str = "All approvals";
pub(super) const ALL_QUESTIONS_HINT: &str = "All approvals waiting for you";

pub(super) fn turn(number: usize, count: usize) -> String {
    format!("{number} of {count}")
}

// Approval card: large view
pub(super) const APPROVAL: &str = "approval";
pub(super) const ANSWER_ON_CARD: &str = "You answer this in the form on the card.";

// Approval card: preview
pub(super) const PREVIOUS_ROWS: &str = "Previous lines";
pub(super) const NEXT_ROWS: &str = "Next lines";

pub(super) fn rows_of(first: usize, last: usize, count: usize) -> String {
    format!("Lines {first} to {last} of {count}")
}

// Approval card: scope of a permission
pub(super) const ONCE: &str = "Once";
pub(super) const ALLOW_ONCE: &str = "Allow only this once";
pub(super) const TASK: &str = "Task";
pub(super) const ALLOW_FOR_TASK: &str = "Allow for this task";
pub(super) const ONE_HOUR: &str = "1 h";
pub(super) const ALLOW_FOR_ONE_HOUR: &str = "Allow for one hour";
pub(super) const TODAY: &str = "Today";
pub(super) const ALLOW_TODAY: &str = "Allow until the end of the day";
pub(super) const PATTERN: &str = "Pattern";
pub(super) const ALLOW_PATTERN: &str = "Allow commands matching this pattern";
pub(super) const EDITED: &str = "Edited";
pub(super) const ALLOW_EDITED: &str = "Allow this command also with edited sources";
pub(super) const ALWAYS: &str = "Always";
pub(super) const ALLOW_ALWAYS: &str = "Allow always";
pub(super) const IS_ALWAYS_ASKED: &str = "This always needs your approval.";

pub(super) fn allow_until(limit: impl std::fmt::Display) -> String {
    format!("Allow until {limit}")
}

// Approval card: answers
pub(super) const REFUSE: &str = "Refuse";
pub(super) const ALLOW: &str = "Allow";
pub(super) const ANSWER: &str = "Answer";

pub(super) fn answer_to(answer: &str, agent: &str) -> String {
    format!("{answer} {agent}")
}

pub(super) const KEYS_HINT: &str = "By key: A allows, Shift+A allows for the task, R refuses, once you have clicked this card or the room, or pressed Q";

pub(super) fn with_key(label: &str, key: &str) -> String {
    format!("{label} ({key})")
}

pub(super) fn approval_of(agent: &str) -> String {
    format!("Approval for {agent}")
}

pub(super) fn message_to(agent: &str) -> String {
    format!("Message {agent}")
}

// Names
pub(super) const YOU: &str = "You";

// Forms
pub(super) const CHOOSE: &str = "Choose";

pub(super) fn title_of_field(title: &str, is_required: bool) -> String {
    if is_required { title.to_owned() } else { format!("{title} (optional)") }
}

pub(super) fn choose_for(title: &str) -> String {
    format!("Choose {title}")
}

pub(super) fn fill_in(title: &str) -> String {
    format!("Fill in {title}")
}
