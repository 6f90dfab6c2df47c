//! The preview of a bounded part of a Markdown text.

use egui::{ScrollArea, Ui};

use super::texts;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Maximum size of the previewed text, which is laid out again in every frame.
const MAX_BYTES: usize = 16 * 1024;

/// Returns the part of a text that is previewed, without front matter, and whether that is all of it.
pub fn excerpt(text: &str) -> (&str, bool) {
    let body = body(text);
    if body.len() <= MAX_BYTES {
        return (body, true);
    }
    let cut = &body[..body.floor_char_boundary(MAX_BYTES)];
    // Preferably cuts at the end of a paragraph or line.
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

/// Draws the preview of `text`, the open part of the file. `is_whole_file` is whether the file has no other parts.
pub fn preview_ui(
    ui: &mut Ui,
    path: &str,
    text: &str,
    is_whole_file: bool,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let (shown, is_complete) = excerpt(text);
    if !is_complete || !is_whole_file {
        ui.label(widgets::small(texts::preview_is_cut(shown.len()), theme));
    }
    if shown.trim().is_empty() {
        ui.label(widgets::secondary_text(texts::NOTHING_TO_PREVIEW, theme));
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
    fn front_matter_is_not_previewed_but_a_horizontal_rule_is() {
        assert_eq!(excerpt("---\nname: Ada\n---\n\n# Hi\n"), ("# Hi\n", true));
        assert_eq!(excerpt("# Hi\n---\n"), ("# Hi\n---\n", true));
        assert_eq!(excerpt("---\nnever ends"), ("---\nnever ends", true));
        assert_eq!(excerpt(""), ("", true));
    }

    #[test]
    fn a_long_text_is_cut_at_a_paragraph() {
        let long = "ä words\nmore\n\n".repeat(5_000);
        let (shown, is_complete) = excerpt(&long);
        assert!(!is_complete && shown.len() <= MAX_BYTES);
        assert!(shown.ends_with("more"));
        let line = "ä".repeat(MAX_BYTES);
        assert_eq!(excerpt(&line).0.len(), MAX_BYTES);
    }
}
