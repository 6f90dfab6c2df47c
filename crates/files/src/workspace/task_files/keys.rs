//! Recognises keys with their colon, after a title and on lines of their own.

/// Returns the length of the key at the beginning of a text, without its colon; `None` if there is no key. The colon
/// must be followed by a space or nothing, so that URLs and times are not keys.
pub(super) fn key_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    bytes.first().filter(|byte| is_first(byte))?;
    let length = bytes.iter().position(|byte| !is_letter(byte))?;
    let is_key = bytes[length] == b':' && bytes.get(length + 1).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    is_key.then_some(length)
}

/// Whether a word is a key with its colon.
pub(super) fn is_key_word(word: &str) -> bool {
    key_length(word).is_some_and(|length| length + 1 == word.len())
}

/// Whether a text can be written as a key.
pub fn is_key(key: &str) -> bool {
    key_length(&format!("{key}:")) == Some(key.len())
}

/// Whether a name can be written after `@` or `#`.
pub fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':' | '+');
    !name.is_empty() && name.chars().all(is_letter)
}
