//! Splits a command line into words and joins words into one. Characters with a meaning to a shell are rejected,
//! because no shell reads it.

/// Characters with a meaning to a shell.
const OF_SHELLS: &[char] = &[';', '|', '&', '<', '>', '`', '\n', '\r'];

/// Splits a command line into words. Quotes keep words together, and a backslash outside of single quotes escapes the
/// next character. `$` is unchanged, because `${NAME}` is a variable in server definitions, but `$(` is refused.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.trim().chars().peekable();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some('"') | None, '\\') => {
                let Some(next) = signs.next() else { return Err("ends with a backslash".to_owned()) };
                word.get_or_insert_default().push(next);
            }
            (None, '"' | '\'') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, sign) if OF_SHELLS.contains(&sign) => {
                return Err(format!("contains {sign:?}, which needs a shell"));
            }
            (None | Some('"'), '$') if signs.peek() == Some(&'(') => {
                return Err("contains \"$(\", which needs a shell".to_owned());
            }
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err("has a quote that is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// Joins words to a line that splits into the same words.
pub(super) fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,{}$~".contains(c);
    let quoted = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            return word.to_owned();
        }
        format!("'{}'", word.replace('\'', "'\\''"))
    };
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_line_is_words_and_never_a_shells() {
        let words = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(words(" npx  -y 'a b' \"c d\" e\\ f '' ").as_deref(), Ok("npx|-y|a b|c d|e f|"));
        assert_eq!(words("serve --token ${TOKEN}").as_deref(), Ok("serve|--token|${TOKEN}"));
        for odd in ["a; b", "a | b", "a > b", "a `b`", "a $(b)", "a \"$(b)\"", "a && b", "a\nb", "a 'b", "a \\"] {
            assert!(split(odd).is_err(), "{odd:?}");
        }
    }

    proptest! {
        #[test]
        fn joined_words_split_into_the_same_words(words in proptest::collection::vec("[ -~]{0,12}", 1..6)) {
            let line = join(words.iter().map(String::as_str));
            prop_assert_eq!(split(&line), Ok(words));
        }
    }
}
