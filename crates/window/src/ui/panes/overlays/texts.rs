//! All texts of the overlays of elements.

use crate::ui::widgets::text_format::count;

// The window
pub(super) const CLOSE: &str = "Close";
pub(super) const EMPTY: &str = "Nothing here yet";

pub(super) fn kind_and_file(kind: &str, file: Option<&str>) -> String {
    file.map_or_else(|| kind.to_owned(), |file| format!("{kind}, {file}"))
}

// Shared by several kinds of elements
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const SEARCH: &str = "Search";
pub(super) const OPEN_IN_EDITOR: &str = "Open in editor";

// Message boards and rulebooks
pub(super) const WRITE_VIEW: &str = "Write";
pub(super) const READ_VIEW: &str = "Read";
pub(super) const BOTH_VIEWS: &str = "Both";
pub(super) const TEXT: &str = "Text";
pub(super) const WRITE_MARKDOWN: &str = "Write Markdown here. Agents read it as written.";
pub(super) const PREVIEW_IS_CUT: &str = "The preview ends here; the text continues.";
pub(super) const NOT_SAVED_YET: &str = "Not saved yet";
pub(super) const SAVE: &str = "Save";
pub(super) const DISCARD_DRAFT: &str = "Discard draft";

pub(super) fn view_name(view: &str) -> String {
    format!("{view} view")
}

pub(super) fn length_of_markdown(characters: usize) -> String {
    format!("{}, Markdown", count(characters, "character", "characters"))
}

// A text that someone else changed during editing
pub(super) const CHANGED_BY_SOMEONE_ELSE: &str = "Someone else changed this text while you were editing";
pub(super) const CURRENT_TEXT: &str = "Current text";
pub(super) const MERGE: &str = "Merge";
pub(super) const MERGE_HINT: &str = "Merges both; asks where both changed the same lines";
pub(super) const KEEP_MINE: &str = "Keep mine";
pub(super) const KEEP_MINE_HINT: &str = "Your next save overwrites the other text";
pub(super) const USE_THEIRS: &str = "Use theirs";
pub(super) const USE_THEIRS_HINT: &str = "Discards your changes";

// Inboxes
pub(super) const STATUS_OPEN: &str = "Open";
pub(super) const STATUS_PENDING: &str = "Pending";
pub(super) const STATUS_CLOSED: &str = "Closed";
pub(super) const NO_OWNER: &str = "No owner";
pub(super) const RECEIVED_MAIL: &str = "Received mail";
pub(super) const SENT_MAIL: &str = "Sent mail";
pub(super) const NOTHING_SENT_YET: &str = "Nothing sent yet";
pub(super) const NOTHING_SENT_HINT: &str = "Copies of sent mail appear here.";
pub(super) const NO_MAIL_YET: &str = "No mail yet";
pub(super) const NO_MAIL_HINT: &str = "Write a message here. Agents also write to each other.";
pub(super) const READ_BY_OWNER: &str = "Read by its owner";
pub(super) const NOT_READ_BY_OWNER: &str = "Not read by its owner yet";
pub(super) const DISCARD_MAIL: &str = "Discard mail";
pub(super) const INBOX_WITHOUT_OWNER: &str = "This inbox has no owner, so no one reads it.";
pub(super) const CHOOSE_AN_OWNER: &str = "Choose an owner in the inspector.";
pub(super) const SUBJECT: &str = "Subject";
pub(super) const MESSAGE: &str = "Message";
pub(super) const MESSAGE_HINT: &str = "Write a message";
pub(super) const SEND: &str = "Send";

pub(super) fn received(count: usize) -> String {
    format!("Received {count}")
}

pub(super) fn sent(count: usize) -> String {
    format!("Sent {count}")
}

pub(super) fn of_owner(owner: &str) -> String {
    format!("of {owner}")
}

pub(super) fn sent_to(name: &str) -> String {
    format!("to {name}")
}

pub(super) fn received_from(name: &str, status: &str, is_read: bool) -> String {
    let unread = if is_read { "" } else { ", unread" };
    format!("from {name}, {}{unread}", status.to_lowercase())
}

pub(super) fn mail_name(id: &str, subject: &str) -> String {
    format!("Mail {id}: {subject}")
}

pub(super) fn from_to_when(from: &str, to: &str, when: &str) -> String {
    format!("{from} to {to}, {when} into the run")
}

pub(super) fn status_name(status: &str) -> String {
    format!("Status {}", status.to_lowercase())
}

pub(super) fn write_to(name: &str) -> String {
    format!("Write to {name}")
}

// Pinboards
pub(super) const NEWEST: &str = "Newest";
pub(super) const MAX_VOTES: &str = "Most votes";
pub(super) const SEARCH_PINS: &str = "Search pins";
pub(super) const NO_PINS_YET: &str = "No pins yet";
pub(super) const NO_PINS_HINT: &str = "Add one here. Agents also add pins.";
pub(super) const SELECT_A_PIN: &str = "Select a pin to read it, vote and comment.";
pub(super) const NEW_PIN: &str = "New pin";
pub(super) const NEW_PIN_HINT: &str = "Write a pin";
pub(super) const ADD_PIN: &str = "Add pin";
pub(super) const VOTE_UP: &str = "Vote up";
pub(super) const VOTE_DOWN: &str = "Vote down";
pub(super) const REMOVE_PIN: &str = "Remove pin";
pub(super) const COMMENTS: &str = "Comments";
pub(super) const COMMENT: &str = "Comment";
pub(super) const COMMENT_HINT: &str = "Write a comment";
pub(super) const ADD_COMMENT: &str = "Add comment";

pub(super) fn order_name(order: &str) -> String {
    format!("{order} first")
}

pub(super) fn pins(number: usize) -> String {
    count(number, "pin", "pins")
}

pub(super) fn comments(number: usize) -> String {
    count(number, "comment", "comments")
}

pub(super) fn pin_name(id: &str, text: &str) -> String {
    format!("Pin {id}: {text}")
}

pub(super) fn pinned_by(name: &str, when: &str) -> String {
    format!("{name}, {when} into the run")
}

// Task boards: all tasks
pub(super) const COLUMNS_VIEW: &str = "Columns";
pub(super) const TREE_VIEW: &str = "Tree";
pub(super) const NO_TASKS_YET: &str = "No tasks yet";
pub(super) const NO_TASKS_HINT: &str = "Add one below; name an agent with @ to start it. Agents also add tasks.";
pub(super) const NO_QUESTIONS_HINT: &str = "Approvals that agents need appear here and in the file.";
pub(super) const SEARCH_TASKS: &str = "Search tasks";
pub(super) const SEARCH_TASKS_HINT: &str = "Search, #tag or @name";
pub(super) const NO_TASKS_IN_COLUMN: &str = "None";
pub(super) const NEW_TASK: &str = "New task";
pub(super) const NEW_TASK_HINT: &str = "A @agent #tag Title of a new task";
pub(super) const ADD_TASK: &str = "Add task";

pub(super) fn show_as(view: &str) -> String {
    format!("Show as {}", view.to_lowercase())
}

pub(super) fn open_tasks(open: usize, all: usize) -> String {
    format!("{open} of {} open", count(all, "task", "tasks"))
}

pub(super) fn column_and_number(column: &str, tasks: usize) -> String {
    format!("{column} {tasks}")
}

pub(super) fn show_column(column: &str) -> String {
    format!("Show {column}")
}

pub(super) fn more_tasks(more: usize) -> String {
    format!("and {more} more; search to find them")
}

pub(super) fn task_name(title: &str) -> String {
    format!("Task: {title}")
}

pub(super) fn starts_automatically(agent: &str) -> String {
    format!("{agent} starts this task automatically once nothing blocks it")
}

// Task boards: a task in the list
pub(super) const NEEDS_YOUR_APPROVAL: &str = "Needs your approval to start";
pub(super) const REOPEN: &str = "Reopen";
pub(super) const COMPLETE: &str = "Complete";
pub(super) const TASK_HAS_AN_ERROR: &str = "This task has an error and cannot be changed here";
pub(super) const ANSWER_ON_CARD: &str = "Answer this approval on its card";

pub(super) fn part_of(task: &str) -> String {
    format!("in: {task}")
}

pub(super) fn priority(letter: &str) -> String {
    format!("Priority {letter}")
}

pub(super) fn waits_for(tasks: &[String]) -> String {
    format!("Waits for: {}", tasks.join(", "))
}

pub(super) fn complete_task(title: &str) -> String {
    format!("{COMPLETE} {title}")
}

pub(super) fn reopen_task(title: &str) -> String {
    format!("{REOPEN} {title}")
}

pub(super) fn problem(what: &str, remedy: &str) -> String {
    format!("{what}; {remedy}")
}

pub(super) fn open_line(line: usize) -> String {
    format!("Open line {line}")
}

pub(super) fn open_in_editor_at(line: usize) -> String {
    format!("Open in editor at line {line}")
}

// Task boards: the selected task
pub(super) const CLOSE_TASK: &str = "Close task";
pub(super) const TASK_TITLE: &str = "Title";
pub(super) const TASK_TITLE_HINT: &str = "Task title";
pub(super) const NO_PRIORITY: &str = "No priority";
pub(super) const NOBODY: &str = "Nobody";
pub(super) const WHO_HAS_IT: &str = "Assigned to";
pub(super) const TAGS: &str = "Tags";
pub(super) const TAGS_HINT: &str = "#tags";
pub(super) const DEPENDS_ON: &str = "Depends on";
pub(super) const DESCRIPTION: &str = "Description";
pub(super) const RESULT: &str = "Result";
pub(super) const REASON: &str = "Reason";
pub(super) const NEW_SUBTASK: &str = "New subtask";
pub(super) const NEW_SUBTASK_HINT: &str = "Add a subtask and press Enter";
pub(super) const MOVE_UP: &str = "Move up";
pub(super) const MOVE_DOWN: &str = "Move down";
pub(super) const DELETE_TASK: &str = "Delete task";
pub(super) const ANSWER_IN_WORKFLOW: &str = "Answer in the workflow";

pub(super) fn move_to(column: &str) -> String {
    format!("Move to {column}")
}

pub(super) fn assigned_to(names: &str) -> String {
    format!("Assigned to: {names}")
}

pub(super) fn in_another_file(id: &str) -> String {
    format!("{id} (in another file)")
}

pub(super) fn task_in_column(title: &str, column: &str) -> String {
    format!("{title} ({})", column.to_lowercase())
}

pub(super) fn delete_hint(subtasks: usize) -> String {
    match subtasks {
        0 => "Removes it from the file".to_owned(),
        1 => "Removes it and its subtask from the file".to_owned(),
        many => format!("Removes it and its {many} subtasks from the file"),
    }
}

pub(super) fn state_of_question(state: &str) -> String {
    format!("State: {state}")
}
