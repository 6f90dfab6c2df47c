//! Finds tags at the beginning of lines, and hides them from the Markdown parser, which would otherwise treat the lines
//! below a tag as part of an HTML block.
//!
//! A tag is replaced by an HTML processing instruction (`<?…?>`) of the same length. The parser ends such a block at the
//! `?>`, so a fence right below a tag still opens a code block. Line breaks are kept, and a tag never extends over a
//! fence, so the content of a fence stays visible to the parser.

use super::tag::{self, KNOWN, Tag, TagFault};
use crate::source::ByteRange;

/// A possible tag at the beginning of a line, or after another tag on it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Candidate {
    /// A tag of a document.
    Tag(Tag),
    /// Text that begins like a tag.
    Fault(TagFault),
    /// A component that documents do not support.
    Unknown(String, usize),
}

impl Candidate {
    pub(super) fn start(&self) -> usize {
        match self {
            Self::Tag(tag) => tag.range.start,
            Self::Fault(fault) => fault.at,
            Self::Unknown(_, at) => *at,
        }
    }
}

/// Returns everything in this part of the text that looks like a tag, in order.
pub(super) fn candidates(text: &str, part: ByteRange) -> Vec<Candidate> {
    let text = &text[..part.end];
    let mut found = Vec::new();
    let mut at = part.start;
    while at < text.len() {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\u{feff}']).len();
        if let Some(name) = name_here(text, at) {
            if KNOWN.contains(&name) {
                match tag::scan(text, at) {
                    Ok(tag) => {
                        at = tag.range.end;
                        found.push(Candidate::Tag(tag));
                        continue;
                    }
                    Err(fault) => found.push(Candidate::Fault(fault)),
                }
            } else if is_component(name) {
                found.push(Candidate::Unknown(name.to_owned(), at));
            }
        }
        at += text[at..].find(['\n', '\r']).map_or(text[at..].len(), |end| end + 1);
    }
    found
}

fn name_here(text: &str, at: usize) -> Option<&str> {
    if text[at..].starts_with('<') { tag::name_at(text, at) } else { None }
}

/// Whether a name is that of a component: it begins with a capital, or differs from a tag only in case.
fn is_component(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) || KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the text with the tags hidden and all byte offsets unchanged.
pub(super) fn hide(text: &str, hidden: impl Iterator<Item = ByteRange>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for range in hidden.filter(|range| range.len() >= "<??>".len()) {
        if range.start < at {
            continue;
        }
        masked.push_str(&text[at..range.start]);
        masked.push_str("<?");
        push_hidden(&mut masked, text, range.start + 2..range.end - 2);
        masked.push_str("?>");
        at = range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Hides a range: line breaks, spaces and the ends of comments are kept; every other byte becomes a letter.
fn push_hidden(masked: &mut String, text: &str, range: ByteRange) {
    let bytes = text.as_bytes();
    let mut at = range.start;
    while at < range.end {
        if bytes[at..range.end].starts_with(b"-->") {
            masked.push_str("-->");
            at += 3;
            continue;
        }
        masked.push(match bytes[at] {
            byte @ (b'\n' | b'\r' | b' ' | b'\t') => byte as char,
            _ => 'x',
        });
        at += 1;
    }
}

/// Returns the MDX comments, `{/* … */}`, that begin a line.
pub(super) fn comments(text: &str, part: ByteRange) -> Vec<ByteRange> {
    let text = &text[..part.end];
    let mut found = Vec::new();
    let mut at = part.start;
    while let Some(start) = text[at..].find("{/*").map(|start| at + start) {
        let line = text[part.start..start].rfind(['\n', '\r']).map_or(part.start, |end| part.start + end + 1);
        let Some(end) = text[start..].find("*/}").map(|end| start + end + 3) else { break };
        if text[line..start].trim().is_empty() {
            found.push(start..end);
            at = end;
        } else {
            at = start + 3;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_at_the_start_of_lines_and_after_each_other() {
        let text = "<Tool name=\"a\"><Param name=\"b\" />\ntext <Tool>\n  </Tool>\n<tool>\n<Card x>\n<div>";
        let told: Vec<String> = candidates(text, 0..text.len())
            .iter()
            .map(|candidate| match candidate {
                Candidate::Tag(tag) => tag.name.clone(),
                Candidate::Fault(_) => "fault".to_owned(),
                Candidate::Unknown(name, _) => format!("unknown {name}"),
            })
            .collect();
        assert_eq!(told, ["Tool", "Param", "Tool", "unknown tool", "unknown Card"]);
    }

    #[test]
    fn hiding_keeps_all_offsets() {
        let text = "é <Tool\n a=\"ü > -->\">\nrest";
        let start = text.find('<').unwrap();
        let end = text.find("\nrest").unwrap();
        let masked = hide(text, std::iter::once(start..end));
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked.find("\nrest"), text.find("\nrest"));
        assert!(masked.contains("-->"), "{masked}");
        assert_eq!(masked.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn a_comment_begins_its_line() {
        let text = "a {/* b */}\n {/* c\nd */}\n{/* never";
        let found: Vec<&str> = comments(text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["{/* c\nd */}"]);
    }
}
