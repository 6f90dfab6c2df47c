//! The preview of a bounded part of a Markdown text.

use egui::{ScrollArea, Ui};

use super::texts;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// No more of a text is shown as it is read: all of it is laid out in every frame.
const MOST_BYTES: usize = 16 * 1024;

/// The part of a text that is shown, and whether it is all of it. Front matter is not for reading.
pub fn part(text: &str) -> (&str, bool) {
    let body = body(text);
    if body.len() <= MOST_BYTES {
        return (body, true);
    }
    let cut = &body[..body.floor_char_boundary(MOST_BYTES)];
    // Better the end of a paragraph, or of a line, than the middle of a word.
    let end = cut.rfind("\n\n").or_else(|| cut.rfind('\n')).filter(|end| *end > 0).unwrap_or(cut.len());
    (&cut[..end], false)
}

fn body(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return text };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if line.trim_end() == "---" {
            return text[at..].trim_start_matches('\n');
        }
    }
    text
}

/// Draws it. `of` is the text of the part that is open, `is_all` whether that is the whole file.
pub fn preview_ui(ui: &mut Ui, path: &str, of: &str, is_all: bool, theme: &Theme, commands: &mut Vec<Command>) {
    let (shown, is_whole) = part(of);
    if !is_whole || !is_all {
        let size = shown.len().div_ceil(1024);
        ui.label(widgets::small(texts::preview_is_cut(size), theme));
    }
    if shown.trim().is_empty() {
        ui.label(widgets::soft(texts::NOTHING_TO_PREVIEW, theme));
        return;
    }
    ScrollArea::vertical().id_salt(("preview", path)).auto_shrink(false).show(ui, |ui| {
        markdown(ui, shown, theme, commands);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_not_previewed_and_a_rule_is_no_front_matter() {
        assert_eq!(part("---\nname: Ada\n---\n\n# Hi\n"), ("# Hi\n", true));
        assert_eq!(part("# Hi\n---\n"), ("# Hi\n---\n", true));
        assert_eq!(part("---\nnever ends"), ("---\nnever ends", true));
        assert_eq!(part(""), ("", true));
    }

    #[test]
    fn what_is_long_is_cut_at_a_paragraph() {
        let long = "ä words\nmore\n\n".repeat(5_000);
        let (shown, is_whole) = part(&long);
        assert!(!is_whole && shown.len() <= MOST_BYTES);
        assert!(shown.ends_with("more"));
        let line = "ä".repeat(MOST_BYTES);
        assert_eq!(part(&line).0.len(), MOST_BYTES);
    }
}
