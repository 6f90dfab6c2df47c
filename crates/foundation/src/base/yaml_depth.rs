//! Estimates how deeply brackets are nested in a YAML text that has no outline (see [`super::yaml_syntax`]): the parser's
//! time grows with the square of that depth.

/// The depth from which a text is not parsed; far more than anybody writes, and parsed in no time.
const MAX_DEPTH: usize = 256;

/// Whether brackets may be nested too deeply. The estimate is never too low, however the text is quoted: an opening
/// bracket always counts, and a closing one only outside of quotes.
pub(super) fn may_be_too_deep(text: &str) -> bool {
    let (mut depth, mut quote) = (0_usize, None);
    let mut before = b'\n';
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'[' | b'{') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            // In double quotes, the next character is escaped.
            (Some(b'"'), b'\\') => drop(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            // Elsewhere a quotation mark is part of a word, like the apostrophe in "don't".
            (None, b'"' | b'\'') if begins_scalar_after(before) => quote = Some(byte),
            _ => {}
        }
        before = byte;
    }
    false
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
        assert!(!may_be_too_deep(&"- \"a \\\" [b] c\" \n- [d]\n".repeat(100)));
    }

    #[test]
    fn closing_brackets_in_quotes_do_not_hide_the_depth() {
        for level in ["[", "{a: ", "[\"]\", ", "['}', ", "{\"]\": ", "[\"\\\"]\", "] {
            assert!(may_be_too_deep(&level.repeat(300)), "{level}");
            assert!(!may_be_too_deep(&level.repeat(100)), "{level}");
        }
    }
}
