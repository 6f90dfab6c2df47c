//! All texts of the diff view.

use crate::ui::widgets::text_format;

pub(super) const NO_DIFFERENCES: &str = "No differences";
pub(super) const NO_NEWLINE_AT_END: &str = "No newline at end of file";

pub(super) fn changed_lines(added: usize, removed: usize) -> String {
    format!("{added} added, {removed} removed")
}

pub(super) fn unchanged_lines(count: usize) -> String {
    format!("… {}", text_format::count(count, "unchanged line", "unchanged lines"))
}

pub(super) fn show_from_line(line: usize) -> String {
    format!("Show them, from line {line}")
}
