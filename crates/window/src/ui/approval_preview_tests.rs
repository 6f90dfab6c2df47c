//! Tests of the preview on the approval card: nothing of a hostile text is hidden.

use proptest::prelude::*;

#[path = "../../../../benches/figures/trust/hostile_text.rs"]
mod hostile_text;

use super::*;
use crate::base::visible_text::original;
use hostile_text::hostile_text;

/// The text of the card, page by page, without headings and notes, and with the rows of long lines joined.
fn read_back(lines: &[PreviewLine], mark: PreviewLineKind) -> String {
    let mut found: Vec<String> = Vec::new();
    for page in lines.chunks(PAGE_ROWS) {
        for block in page.chunk_by(|one, other| one.mark == other.mark).filter(|block| block[0].mark == mark) {
            for row in text_of(block).split('\n') {
                match row.strip_prefix(CONTINUATION) {
                    Some(more) => found.last_mut().expect("a row continues a line").push_str(more),
                    None => found.push(row.chars().skip(2).collect()),
                }
            }
        }
    }
    original(found.iter().map(String::as_str))
}

proptest! {
    #[test]
    fn nothing_is_hidden_on_the_card(number in any::<u64>()) {
        let text = hostile_text(number);
        let rows = rows_of(Preview::Command { line: text.clone(), folder: None }.lines());
        // The folder is the last line.
        prop_assert_eq!(read_back(&rows, PreviewLineKind::Plain), format!("{text}\nof the workspace"));
        let rows = rows_of(Preview::Write { path: "a.md".into(), text: format!("a\rb{text}") }.lines());
        prop_assert_eq!(read_back(&rows, PreviewLineKind::Added), format!("a\rb{text}"));
        prop_assert!(rows.iter().all(|row| row.text.chars().count() <= ROW_CHARS + 4));
    }
}
