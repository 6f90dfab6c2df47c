//! Cleans texts of a program or a server for display.

use crate::base::text;
use crate::base::text_normalization::is_invisible;

/// Returns the visible text on a single line, shortened.
pub(in crate::gateway) fn plain(text: &str, chars_at_most: usize) -> String {
    let start: String = text.chars().take(chars_at_most * 4).collect();
    let seen: String = start.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    text::truncate(&text::one_line(&seen), chars_at_most)
}
