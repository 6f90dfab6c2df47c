//! Small, pure functions on text: slugs, truncation, token counts, name suggestions.

/// The assumed number of characters of a token, as in the reference: accurate enough for compaction and reservations.
const CHARS_PER_TOKEN: usize = 4;

/// Estimates the number of tokens of a text, rounded up.
pub fn estimate_tokens(text: &str) -> u32 {
    tokens_of_chars(text.chars().count())
}

/// Estimates the number of tokens of this many characters.
pub fn tokens_of_chars(chars: usize) -> u32 {
    u32::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// Returns lower-case letters and digits joined by single dashes: `Ada Lovelace!` becomes `ada-lovelace`.
pub fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_alphanumeric() {
            slug.extend(character.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// Returns at most `max_chars` characters, ending in `…` if something was cut off.
pub fn truncate(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Returns the text on one line, with every run of white space replaced by one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text with its first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the first paragraph of a text on one line, to be used as its title.
pub fn first_paragraph(text: &str) -> String {
    let lines = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
    one_line(&lines.collect::<Vec<_>>().join(" "))
}

/// Removes user names and passwords from the URLs in a text: `https://user:word@host/` becomes
/// `https://[redacted]@host/`.
pub fn hide_user_info(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        // A password that is not properly escaped may contain `?` or `#`.
        let end = after.find(|c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'));
        let authority = &after[..end.unwrap_or(after.len())];
        let Some(at) = authority.rfind('@') else {
            rest = after;
            continue;
        };
        if let Some(host) = early_host(before, authority).filter(|host| host.end < at) {
            // Not what stands behind the last `@`: that would look like the host.
            shown.push_str(if host.start > 0 { "[redacted]@" } else { "" });
            shown.push_str(&authority[host.start..=host.end]);
        }
        shown.push_str("[redacted]");
        rest = &after[at..];
    }
    shown.push_str(rest);
    shown
}

/// The host that is contacted, if a web address ends its host with `?`, `#` or `\`. `None` if the address has no such
/// sign, or cannot be an address because of what stands before it.
fn early_host(scheme: &str, authority: &str) -> Option<std::ops::Range<usize>> {
    let scheme = scheme.to_ascii_lowercase();
    if !["http://", "https://", "ws://", "wss://"].iter().any(|web| scheme.ends_with(web)) {
        return None;
    }
    let end = authority.find(['?', '#', '\\'])?;
    let start = authority[..end].rfind('@').map_or(0, |at| at + 1);
    let host = &authority[start..end];
    let (name, port) = host.rsplit_once(':').filter(|_| !host.ends_with(']')).unwrap_or((host, ""));
    (!name.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(start..end)
}

/// Returns the candidate most similar to `word`, if any is similar enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_is_the_title() {
        for (text, called) in [
            ("Write  it\ndown", "Write it down"),
            ("\n Write it down\r\n\r\nThis is task 7.", "Write it down"),
            ("Write it down\n \t\nMore", "Write it down"),
            ("", ""),
        ] {
            assert_eq!(first_paragraph(text), called);
        }
    }

    #[test]
    fn the_first_letter_is_capitalised_and_the_others_are_kept() {
        for (text, expected) in [("", ""), ("ada B", "Ada B"), ("ünïcode", "Ünïcode"), ("ß", "SS"), ("1 a", "1 a")]
        {
            assert_eq!(capitalised(text), expected);
        }
    }

    #[test]
    fn slugs_keep_letters_of_any_script() {
        assert_eq!(slug("Ada Lovelace!"), "ada-lovelace");
        assert_eq!(slug("  Ünïcode -- 東京 "), "ünïcode-東京");
        assert_eq!(slug("***"), "");
    }

    #[test]
    fn truncation_counts_characters_and_is_marked() {
        assert_eq!(truncate("short", 10), "short");
        assert_eq!(truncate("äöüäöü", 4), "äöü…");
        assert_eq!(truncate("one two three", 5), "one…");
    }

    #[test]
    fn tokens_are_quarters_of_characters_rounded_up() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abcde"), 2);
    }

    #[test]
    fn passwords_are_removed_from_urls() {
        for (text, shown) in [
            ("asked at http://user:pw@host:8/v1/", "asked at http://[redacted]@host:8/v1/"),
            ("https://token@host", "https://[redacted]@host"),
            ("http://u:p?w@host/a@b and https://x:y@z", "http://[redacted]@host/a@b and https://[redacted]@z"),
            ("db://u:p@w?o#rd@host/a@b", "db://[redacted]@host/a@b"),
            ("{\"a\":\"http://u:p@h\"}", "{\"a\":\"http://[redacted]@h\"}"),
            ("https://host/@user mail me: a@b.c", "https://host/@user mail me: a@b.c"),
            ("nothing :// here", "nothing :// here"),
        ] {
            assert_eq!(hide_user_info(text), shown);
            assert_eq!(hide_user_info(shown), shown, "once is enough");
        }
    }

    #[test]
    fn the_host_that_is_contacted_is_shown_whatever_stands_behind_it() {
        for (text, shown) in [
            ("http://evil.example?x@good.example/", "http://evil.example?[redacted]@good.example/"),
            ("https://evil.example:8443#@good.example", "https://evil.example:8443#[redacted]@good.example"),
            (r"HTTP://evil.example\@good.example/", r"HTTP://evil.example\[redacted]@good.example/"),
            ("http://[::1]?x@good.example", "http://[::1]?[redacted]@good.example"),
            ("http://u:p@evil.example?x@good.example", "http://[redacted]@evil.example?[redacted]@good.example"),
        ] {
            assert_eq!(hide_user_info(text), shown);
            assert_eq!(hide_user_info(shown), shown, "once is enough");
        }
    }

    #[test]
    fn only_similar_names_are_suggested() {
        assert_eq!(nearest("modle", ["model", "name"]), Some("model"));
        assert_eq!(nearest("zzz", ["model", "name"]), None);
    }
}
