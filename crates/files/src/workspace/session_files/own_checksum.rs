//! A checksum of a session's text, stored in the text, by which the room recognises its own text. If it matches, the
//! text was written by the room and not edited since, wherever the file has been in the meantime.

use super::segments::pieces;
use crate::base::hash::content_hash;

/// The beginning of the checksum's line, below `metadata`.
const LINE: &str = "checksum: h";
/// The placeholder for the checksum before a text is sealed.
pub const UNSEALED: &str = "h0000000000000000";

/// Returns the position of the checksum's digits.
fn digits(text: &str) -> Option<std::ops::Range<usize>> {
    let metadata = pieces(text, 0).into_iter().find(|piece| piece.key == "metadata")?;
    let start = metadata.text.as_ptr() as usize - text.as_ptr() as usize;
    let mut at = start;
    for line in metadata.text.split_inclusive('\n') {
        if let Some(rest) = line.trim_start_matches(' ').strip_prefix(LINE).filter(|_| line.starts_with(' ')) {
            let from = at + line.len() - rest.len();
            let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            return (length == 16).then_some(from..from + length);
        }
        at += line.len();
    }
    None
}

fn checksum(text: &str, digits: &std::ops::Range<usize>) -> String {
    // Git or an editor may have changed the line breaks.
    let rest = [&text[..digits.start], &text[digits.end..]].concat().replace('\r', "");
    format!("{:016x}", content_hash(rest.as_bytes()))
}

/// Returns the text with its checksum; unchanged if it has no placeholder.
pub fn sealed(text: String) -> String {
    let Some(place) = digits(&text) else { return text };
    let sum = checksum(&text, &place);
    let mut text = text;
    text.replace_range(place, &sum);
    text
}

/// Whether the room wrote all of this text.
pub fn is_own(text: &str) -> bool {
    digits(text).is_some_and(|place| text[place.clone()] == checksum(text, &place))
}
