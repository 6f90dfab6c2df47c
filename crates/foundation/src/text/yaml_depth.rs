//! Estimates how deeply brackets are nested in a YAML text that has no outline (see [`super::yaml_syntax`]): the parser's
//! time grows with the square of that depth.

/// The depth from which a text is not parsed; as deep as an outline may be.
const MAX_DEPTH: usize = 64;

/// Whether brackets may be nested too deeply. The estimate is never too low, however the text is quoted: an opening
/// bracket counts wherever it is, and a closing one only outside of quotes.
pub(super) fn may_be_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut depth, mut quote) = (0_usize, None);
    let (mut at, mut before) = (0, b'\n');
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (quote, byte) {
            (_, b'[' | b'{') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            // In double quotes, the next character is escaped.
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            // Elsewhere a quotation mark is part of a word, like the apostrophe in "don't".
            (None, b'"' | b'\'') if begins_scalar_after(before) => match length_of_plain_quote(&bytes[at..], byte) {
                Some(length) => at += length,
                None => quote = Some(byte),
            },
            _ => {}
        }
        before = byte;
    }
    false
}

/// Returns the length of a quoted text up to its closing mark, if its brackets come to nothing whether it is really
/// quoted or not: they are balanced, and nothing in it could hide one of them.
fn length_of_plain_quote(rest: &[u8], quote: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            _ if byte == quote => return (depth == 0).then_some(at + 1),
            b'\n' | b'\\' | b'#' | b'"' | b'\'' => return None,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Whether a scalar can begin after this character.
fn begins_scalar_after(before: u8) -> bool {
    matches!(before, b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':' | b'-' | b'?' | b'"' | b'\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_that_are_closed_do_not_count() {
        assert!(!may_be_too_deep(&"- [a, {b: c}]\n".repeat(10_000)));
        assert!(!may_be_too_deep(&"it isn't [one] of 'them'\n".repeat(10_000)));
        assert!(!may_be_too_deep(&"- \"a [b] c\"\n- '{d}: [e]'\n- [\"f\"]\n".repeat(10_000)));
    }

    #[test]
    fn closing_brackets_in_quotes_do_not_hide_the_depth() {
        for level in ["[", "{a: ", "[\"]\", ", "['}', ", "{\"]\": ", "[\"\\\"]\", ", "['x', \"}\", "] {
            // A mark that is not closed, or not a mark, may precede them.
            for before in ["", "\"", "'", "a: b \"c\n", "- 'd\n", "\"[#\"\n"] {
                assert!(may_be_too_deep(&format!("{before}{}", level.repeat(80))), "{before:?} {level}");
            }
            assert!(!may_be_too_deep(&level.repeat(50)), "{level}");
        }
    }
}
