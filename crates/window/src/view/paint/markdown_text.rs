//! Reduces Markdown to plain text, for bubbles and boards.
//!
//! `pulldown-cmark`, which parses Markdown elsewhere, is not used, because this runs for every bubble in every frame: a
//! thousand bubbles of one sentence take 2 ms instead of 4, of the 5 that such a frame may take. Besides, the text is
//! often truncated or a single line, and a parser would show the markup of unclosed spans.

use crate::base::text;
use crate::text::fence::Fence;
use crate::view::bubble;

/// Number of characters that are read; the displayed text is much shorter.
const READ_CHARS: usize = 800;

/// The text of a bubble: plain, on one line, truncated.
pub(super) fn bubble_text(markdown: &str) -> String {
    bubble::truncated(&plain_text(markdown))
}

/// The text on one line, without the markup of headings, lists, quotes, emphasis, code and links.
pub(super) fn plain_text(markdown: &str) -> String {
    let end = markdown.char_indices().nth(READ_CHARS).map_or(markdown.len(), |(end, _)| end);
    let mut plain = String::with_capacity(end);
    for line in markdown[..end].lines() {
        let line = without_block_marks(line.trim());
        if line.is_empty() {
            continue;
        }
        if !plain.is_empty() {
            plain.push(' ');
        }
        push_inline(line, &mut plain);
    }
    text::one_line(&plain)
}

/// A line without its block markup; empty if it is only markup (rules, fences, heading underlines).
fn without_block_marks(mut line: &str) -> &str {
    if Fence::opening(line).is_some() {
        return "";
    }
    let mark_only = |marks: &[char]| line.len() >= 3 && line.chars().all(|letter| marks.contains(&letter));
    if mark_only(&['-', ' ']) || mark_only(&['*', ' ']) || mark_only(&['=']) || mark_only(&['|', '-', ':', ' ']) {
        return "";
    }
    loop {
        let before = line;
        line = line.trim_start_matches(['#', '>']).trim_start();
        for mark in ["- ", "* ", "+ ", "[ ] ", "[x] ", "[X] "] {
            line = line.strip_prefix(mark).unwrap_or(line).trim_start();
        }
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        if (1..=3).contains(&digits) && (line[digits..].starts_with(". ") || line[digits..].starts_with(") ")) {
            line = line[digits + 2..].trim_start();
        }
        if line == before {
            return line;
        }
    }
}

fn push_inline(line: &str, plain: &mut String) {
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if let Some(beyond) = rest.strip_prefix("~~") {
            rest = beyond;
            continue;
        }
        let word_before = plain.chars().next_back().is_some_and(char::is_alphanumeric);
        let word_after = after.chars().next().is_some_and(char::is_alphanumeric);
        match letter {
            // An asterisk between spaces is literal.
            '*' if after.starts_with(' ') && plain.ends_with(' ') => {
                plain.push(letter);
                rest = after;
            }
            '*' | '`' => rest = after,
            // An underscore within a word is literal: `snake_case`.
            '_' if !(word_before && word_after) => rest = after,
            '|' => {
                plain.push(' ');
                rest = after;
            }
            '!' if after.starts_with('[') => rest = after,
            '[' => match link(after) {
                Some((words, beyond)) => {
                    push_inline(words, plain);
                    rest = beyond;
                }
                None => {
                    plain.push(letter);
                    rest = after;
                }
            },
            '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                plain.push_str(&after[..1]);
                rest = &after[1..];
            }
            _ => {
                plain.push(letter);
                rest = after;
            }
        }
    }
}

/// Splits `words](address)rest` into words and rest.
fn link(text: &str) -> Option<(&str, &str)> {
    let (words, rest) = text.split_once("](")?;
    let (_, rest) = rest.split_once(')')?;
    (!words.contains('[')).then_some((words, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markdown_is_reduced_to_plain_text() {
        for (markdown, plain) in [
            ("# A *title*\n\nand **more** of `it`", "A title and more of it"),
            ("- one\n- [x] two\n3. three", "one two three"),
            ("> so he [said](https://example.org/a_b)", "so he said"),
            ("![a plan](plan.png) of snake_case, _really_", "a plan of snake_case, really"),
            ("```rust\nlet x = 1;\n```\n---\ndone", "let x = 1; done"),
            ("```let x``` is code", "let x is code"),
            ("2 \\* 3 * 4 [not a link]", "2 * 3 * 4 [not a link]"),
            ("~~never~~ in ~5 minutes", "never in ~5 minutes"),
        ] {
            assert_eq!(plain_text(markdown), plain, "{markdown}");
        }
    }

    #[test]
    fn bubbles_end_after_120_characters() {
        let long = "word ".repeat(100);
        let cut = bubble_text(&long);
        assert!(cut.chars().count() <= 120);
        assert!(cut.ends_with('…'));
        assert_eq!(bubble_text("Short and *sweet*."), "Short and sweet.");
    }

    proptest! {
        #[test]
        fn any_text_can_be_reduced(text in any::<String>()) {
            prop_assert!(bubble_text(&text).chars().count() <= 120);
        }
    }
}
