//! Interface texts of the notices: the cards in the corner and the list.

// Buttons that open the place of a notice
pub(crate) const OPEN_FILE: &str = "Open file";
pub(crate) const SHOW_SETTING: &str = "Show setting";
pub(crate) const SHOW_AGENT: &str = "Show agent";
pub(crate) const SHOW_ELEMENT: &str = "Show element";

pub(crate) fn open_file(file: &str) -> String {
    format!("{OPEN_FILE} {file}")
}

pub(crate) fn show_setting(setting: &str) -> String {
    format!("{SHOW_SETTING} {setting}")
}

pub(crate) fn show_agent(id: &str) -> String {
    format!("{SHOW_AGENT} {id}")
}

pub(crate) fn show_element(id: &str) -> String {
    format!("{SHOW_ELEMENT} {id}")
}

// Cards of problems
pub(crate) const DISMISS_ALL: &str = "Dismiss all";
pub(crate) const SHOW_ALL: &str = "Show all";

pub(crate) fn more_problems(more: usize) -> String {
    match more {
        1 => "and 1 more problem".to_owned(),
        more => format!("and {more} more problems"),
    }
}

pub(crate) fn dismiss(place: &str) -> String {
    format!("Dismiss {place}")
}

pub(crate) fn more_here(more: usize) -> String {
    format!("{more} more here")
}

pub(crate) fn show_all_of(place: &str) -> String {
    format!("Show all of {place}")
}

// Cards of limits
pub(crate) const A_LIMIT_WAS_REACHED: &str = "A limit was reached";
pub(crate) const LIMIT_ABOUT: &str = "No model is called until it is raised.";
pub(crate) const CHANGE_LIMIT: &str = "Change limit";
pub(crate) const DISMISS_LIMIT: &str = "Dismiss limit";

pub(crate) fn limit_was_reached(setting: &str) -> String {
    format!("Limit {setting} was reached")
}

// Cards of jobs
pub(crate) const CANCEL: &str = "Cancel";

pub(crate) fn cancel_job(job: &str) -> String {
    format!("Cancel {job}")
}

// Cards of results
pub(crate) const DONE: &str = "Done";
pub(crate) const NOTHING_WAS_DONE: &str = "Nothing was done";
pub(crate) const SOMETHING_WENT_WRONG: &str = "Something went wrong";

pub(crate) fn dismiss_outcome(outcome: &str) -> String {
    format!("Dismiss: {outcome}")
}

// The list
pub(crate) const NOTICES: &str = "Notices";
/// Follows “Close”.
pub(crate) const CLOSES_NOTICES: &str = "notices";
pub(crate) const NO_PROBLEMS: &str = "No problems. Errors in files and settings appear here.";
pub(crate) const RECENT: &str = "Recent";
pub(crate) const NO_NOTICES_YET: &str = "No notices yet. Results of your actions appear here.";

pub(crate) fn problems(number: usize) -> String {
    format!("Problems ({number})")
}

pub(crate) fn done_ago(ago: &str) -> String {
    format!("Done, {ago} ago")
}

pub(crate) fn failed_ago(ago: &str) -> String {
    format!("Failed, {ago} ago")
}
