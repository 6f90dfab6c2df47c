//! Encodes a text as one line, and a value as one word, so that both are decoded unchanged.

/// The encoding of a line break in a memory's line, as usual in Markdown lists.
const BREAK: &str = "<br>";
/// The start of the part of a line that is meant for the program.
const COMMENT: &str = "<!--";

/// Encodes a text as one line. A person's text hardly ever changes: only line breaks, text that looks like an encoded
/// one, and the beginning of a comment are escaped.
pub(super) fn to_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let rest = &text[at..];
        match character {
            '\n' => line.push_str(BREAK),
            '<' if rest.starts_with(BREAK) || rest.starts_with(COMMENT) => line.push_str("&lt;"),
            '&' if rest.starts_with("&lt;") || rest.starts_with("&amp;") => line.push_str("&amp;"),
            other => line.push(other),
        }
    }
    line
}

/// Decodes the text of a line.
pub(super) fn from_line(line: &str) -> String {
    if !line.contains(['<', '&']) {
        return line.to_owned();
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = [(BREAK, '\n'), ("&lt;", '<'), ("&amp;", '&')];
        match known.iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, character)) => {
                text.push(*character);
                rest = &rest[word.len()..];
            }
            None => {
                text.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

/// Encodes a value as one word without `=`, `,`, `:`, `<` and `>`: forbidden characters are written as `%` and their
/// bytes.
pub(super) fn to_word(value: &str) -> String {
    let mut word = String::with_capacity(value.len());
    for character in value.chars() {
        if character.is_whitespace() || character.is_control() || "%=,:<>".contains(character) {
            let mut bytes = [0; 4];
            character.encode_utf8(&mut bytes).bytes().for_each(|byte| word.push_str(&format!("%{byte:02X}")));
        } else {
            word.push(character);
        }
    }
    word
}

/// Decodes the value of a word; `None` if a `%` is not followed by a byte, or the bytes are not UTF-8.
pub(super) fn from_word(word: &str) -> Option<String> {
    if !word.contains('%') {
        return Some(word.to_owned());
    }
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_persons_text_is_not_changed() {
        for text in ["AT&T < 5 > 3 && <b>bold</b>", "C:\\new\\table", "100 % — *sure*", "&copy;"] {
            assert_eq!((to_line(text), from_line(text)), (text.to_owned(), text.to_owned()));
        }
        assert_eq!(to_line("a\nb <br> &lt; <!-- c"), "a<br>b &lt;br> &amp;lt; &lt;!-- c");
        assert_eq!(from_word("%4"), None);
        assert_eq!(from_word("%ff"), None);
        assert_eq!(from_word("%é1"), None);
    }

    proptest! {
        #[test]
        fn encoding_round_trips(text in "(<br>|<!--|-->|&lt;|&amp;|&|<|[a-z é\n]){0,12}", any in ".*") {
            for text in [text, any] {
                prop_assert!(!to_line(&text).contains('\n') && !to_line(&text).contains(COMMENT));
                prop_assert_eq!(from_line(&to_line(&text)), text.clone());
                let word = to_word(&text);
                prop_assert!(!word.contains([' ', '=', ',', '>', '\n']));
                prop_assert_eq!(from_word(&word), Some(text));
            }
        }
    }
}
