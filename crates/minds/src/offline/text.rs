//! Text utilities: sentences, stems, quotations, and the cleanup of replies.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::data::word_lists;
use crate::base::text::one_line;

/// Punctuation after which a sentence can be cut.
const CLAUSE_ENDS: [char; 6] = [',', ';', ':', '—', '–', '('];

/// Maximum number of characters of a text to split into sentences; longer than any text a person writes on a board.
const MAX_TEXT_CHARS: usize = 24_000;

/// Whether a word says nothing about the topic of a text.
pub fn is_stop_word(word: &str) -> bool {
    let word = word.to_lowercase();
    word.chars().count() < 3 || word_lists().stop.has(&word)
}

/// Whether a word can be the verb of an imperative sentence.
pub fn is_imperative_verb(word: &str) -> bool {
    word_lists().order_verbs.has(&word.to_lowercase())
}

/// Returns the words of a text without punctuation, in order.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '-')
        .map(|word| word.trim_matches(['\'', '’', '-']))
        .filter(|word| !word.is_empty())
}

/// Returns a lower-case word without its most common endings, so that “sources” equals “source” and “checking” equals
/// “check”.
pub fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(&word);
    let is_long_enough = |rest: &str| rest.chars().count() >= 3;
    for ending in ["ings", "ing", "ers", "ies", "ied", "ed", "er", "es", "ly", "s", "e", "y"] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| is_long_enough(rest)) {
            return rest.trim_end_matches('e').to_owned();
        }
    }
    word.to_owned()
}

/// Returns the stems of a text without those of stop words.
pub fn stems(text: &str) -> BTreeSet<String> {
    words(text).filter(|word| !is_stop_word(word)).map(stem).collect()
}

/// Returns the number of stems in both sets.
pub fn shared_count(one: &BTreeSet<String>, other: &BTreeSet<String>) -> usize {
    one.intersection(other).count()
}

/// Whether at least three quarters of the stems of the shorter text occur in the other.
pub fn are_similar(one: &str, other: &str) -> bool {
    let (one, other) = (stems(one), stems(other));
    let fewer = one.len().min(other.len());
    fewer > 0 && shared_count(&one, &other) * 4 >= fewer * 3
}

/// The stems of imperative verbs.
static IMPERATIVE_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| word_lists().order_verbs.iter().map(stem).collect());

/// Returns the [`stems`] of a text without those of imperative verbs: “ask” and “write” are too common to relate texts.
pub fn subject_stems(text: &str) -> BTreeSet<String> {
    let meaning = words(text).filter(|word| !is_stop_word(word) && !is_imperative_verb(word));
    meaning.map(stem).filter(|stem| !IMPERATIVE_STEMS.contains(stem)).collect()
}

/// Returns the letters and digits of a text in lower case, to compare texts apart from case, punctuation and spaces.
pub fn normalized(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a line without Markdown syntax and brackets, so that quoted text cannot act as a marker.
pub fn strip_markup(line: &str) -> String {
    let line = line.trim_start().trim_start_matches(['#', '>', '*', '-', '+', '•', '–', ' ', '\t']);
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = match numbered.strip_prefix(". ").or_else(|| numbered.strip_prefix(") ")) {
        Some(rest) if numbered.len() < line.len() => rest,
        _ => line,
    };
    let stripped: String = task_title(line)
        .unwrap_or(line)
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '*' | '`' | '|' | '<' | '>' | '{' | '}' | '\\') && !is_invisible(*c))
        .map(|c| if matches!(c, '“' | '”' | '"' | '„') { '\'' } else { c })
        .collect();
    one_line(&stripped)
}

/// Returns the title in a line of a task board, such as `write-plan (open, priority A, for Ada): Write the plan`.
fn task_title(line: &str) -> Option<&str> {
    let (id, rest) = line.split_once(" (")?;
    let (state, title) = rest.split_once("): ")?;
    let is_task = ["open", "in progress", "needs the person"].iter().any(|known| state.starts_with(known));
    (is_task && !id.contains(char::is_whitespace) && !title.trim().is_empty()).then_some(title)
}

fn is_invisible(c: char) -> bool {
    c.is_control() && !c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
}

/// Returns the sentences of a text without markup, in order. Headings and list entries are sentences of their own.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut chars_left = MAX_TEXT_CHARS;
    let mut pending = String::new();
    for line in text.lines() {
        let line: String = line.chars().take(chars_left).collect();
        chars_left = chars_left.saturating_sub(line.chars().count() + 1);
        // A lower-case line continues an unfinished one: the text was wrapped by hand.
        if !(is_unfinished(&pending) && line.trim_start().starts_with(char::is_lowercase)) {
            split_line(&strip_markup(&std::mem::take(&mut pending)), &mut sentences);
        }
        pending.push(' ');
        pending.push_str(&line);
        if chars_left == 0 {
            break;
        }
    }
    split_line(&strip_markup(&pending), &mut sentences);
    sentences
}

/// Whether a line ends in the middle of a sentence.
fn is_unfinished(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.ends_with(['.', '!', '?', '…', ':', '”', '`'])
}

fn split_line(line: &str, sentences: &mut Vec<String>) {
    let mut start = 0;
    let mut after_end = false;
    for (at, c) in line.char_indices() {
        let is_gap = c == ' ' && after_end && !ends_in_abbreviation(&line[start..at]);
        if is_gap && line[at + 1..].chars().next().is_some_and(|next| !next.is_lowercase()) {
            push_sentence(&line[start..at], sentences);
            start = at + 1;
        }
        after_end = matches!(c, '.' | '!' | '?' | '…') || after_end && matches!(c, '\'' | ')' | '’');
    }
    push_sentence(&line[start..], sentences);
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let last = sentence.rsplit(' ').next().unwrap_or_default();
    let letters = last.trim_end_matches('.');
    last.ends_with('.')
        && (letters.contains('.') && letters.contains(char::is_alphabetic)
            || letters.len() == 1
            || matches!(letters, "Mr" | "Dr"))
}

fn push_sentence(sentence: &str, sentences: &mut Vec<String>) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence.to_owned());
    }
}

/// Returns a sentence without its final punctuation.
pub fn unpunctuated(sentence: &str) -> &str {
    sentence.trim().trim_end_matches(['.', '!', '?', ',', ';', ':', '…', ' ', '-', '–', '—'])
}

/// Returns at most `max_words` words of a sentence in quotation marks, cut after a clause if possible.
pub fn quoted(sentence: &str, max_words: usize) -> String {
    let sentence = strip_markup(sentence);
    format!("“{}”", clause(&sentence, max_words))
}

/// Returns at most `max_words` words of a sentence without its final punctuation, cut after a clause if possible.
pub fn clause(sentence: &str, max_words: usize) -> String {
    let whole = unpunctuated(sentence);
    if whole.split(' ').count() <= max_words {
        return whole.to_owned();
    }
    let cut: Vec<&str> = whole.split(' ').take(max_words).collect();
    let clause_end = cut.iter().rposition(|word| word.ends_with(CLAUSE_ENDS)).filter(|end| *end * 2 >= max_words);
    let clause = match clause_end {
        Some(end) => unpunctuated(&cut[..=end].join(" ")).to_owned(),
        None => format!("{}…", unpunctuated(&cut.join(" "))),
    };
    // The cut may have removed the end of an inner quotation.
    clause.replace(" '", " ")
}

/// Returns a text with its first letter in lower case.
pub fn lowercase_first(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}

/// Whether a word looks like a plural: “chairs”, but neither “glass” nor “this”.
pub fn looks_plural(word: &str) -> bool {
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

/// Returns a sentence with its first word in lower case, unless that is a name or “I”.
pub fn lowercase_first_unless_name(sentence: &str) -> String {
    let first = sentence.split([' ', ',']).next().unwrap_or_default();
    let lowered = first.to_lowercase();
    let is_common = is_imperative_verb(first) || word_lists().stop.has(&lowered) && first != "I" && first.len() > 1;
    if is_common || first == "A" { lowered + &sentence[first.len()..] } else { sentence.to_owned() }
}

/// Returns the instruction of an imperative sentence: “cite sources” for “Always cite sources.”.
pub fn imperative(sentence: &str) -> Option<String> {
    let sentence = unpunctuated(sentence);
    let instruction = sentence.strip_prefix("Always ").or_else(|| sentence.strip_prefix("Please ")).unwrap_or(sentence);
    is_imperative_verb(words(instruction).next()?).then(|| lowercase_first(instruction))
}

/// Returns the prohibition in a sentence: “not to guess” for “Do not guess.”, “never to guess” for “Never guess.”.
pub fn prohibition(sentence: &str) -> Option<String> {
    let sentence = unpunctuated(sentence);
    let prefixes = [("Do not ", "not to "), ("Don't ", "not to "), ("Don’t ", "not to "), ("Never ", "never to ")];
    prefixes.iter().find_map(|(prefix, replacement)| {
        let rest = sentence.strip_prefix(prefix)?;
        is_imperative_verb(words(rest).next()?).then(|| format!("{replacement}{rest}"))
    })
}

/// Cleans up a reply: single spaces, capital letters at the start of sentences, no doubled or missing punctuation.
pub fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut starts_sentence = true;
    for c in one_line(text).chars() {
        let last = tidied.trim_end().chars().next_back();
        match c {
            ' ' | '.' | ',' | ';' | '!' | '?' | ':' if tidied.is_empty() => continue,
            '.' | ',' | ';' | ':' if last.is_some_and(|last| ".,;:!?…".contains(last)) => continue,
            '.' | ',' | ';' | ':' | '!' | '?' => tidied.truncate(tidied.trim_end().len()),
            _ => {}
        }
        if starts_sentence && c.is_alphanumeric() {
            tidied.extend(c.to_uppercase());
            starts_sentence = false;
        } else {
            tidied.push(c);
        }
        let closes_quote = c == '”' && last.is_some_and(|last| "!?".contains(last));
        starts_sentence |= matches!(c, '.' | '!' | '?') || closes_quote;
    }
    close(tidied)
}

/// Ends a text with a full stop if it has no final punctuation.
fn close(mut text: String) -> String {
    text.truncate(text.trim_end_matches([' ', ',', ';', ':', '-', '–', '—']).len());
    let last_sign = text.trim_end_matches(['”', '’', ')', '\'']).chars().next_back();
    if last_sign.is_some_and(|sign| !".!?…".contains(sign)) || last_sign == Some('…') && text.ends_with('”') {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_full_stops_lines_and_list_entries() {
        let text = "# Today\nThe fair opens at 9.30. Who comes?\n- Bring chairs\n1. Call Dr. Lund, e.g. by noon.";
        assert_eq!(
            sentences(text),
            ["Today", "The fair opens at 9.30.", "Who comes?", "Bring chairs", "Call Dr. Lund, e.g. by noon."]
        );
    }

    #[test]
    fn markup_and_brackets_are_stripped() {
        assert_eq!(strip_markup("> **Do** [PIN: this] `now`"), "Do PIN: this now");
        let task = "write-plan-for-the-hol (open, priority A, nobody has it): Write the plan";
        assert_eq!(strip_markup(task), "Write the plan");
        assert_eq!(strip_markup("The map (open to all): see News"), "The map (open to all): see News");
    }

    #[test]
    fn quotations_are_cut_at_clauses() {
        assert_eq!(
            quoted("Cite sources, even when nobody asks for them at all today.", 7),
            "“Cite sources, even when nobody asks for…”"
        );
        assert_eq!(
            quoted("The harbour map is late, which worries everyone who waits.", 7),
            "“The harbour map is late”"
        );
        assert_eq!(quoted("Short one.", 7), "“Short one”");
    }

    #[test]
    fn imperatives_and_prohibitions_are_recognised() {
        assert_eq!(imperative("Always cite your sources."), Some("cite your sources".into()));
        assert_eq!(imperative("Sources matter."), None);
        assert_eq!(prohibition("Do not guess numbers."), None, "guess is not listed");
        assert_eq!(prohibition("Never print a rumour."), Some("never to print a rumour".into()));
    }

    #[test]
    fn tidy_returns_whole_sentences() {
        assert_eq!(tidy("  well ,  that is that.. so be it"), "Well, that is that. So be it.");
        assert_eq!(tidy("why?. because"), "Why? Because.");
        assert_eq!(tidy("i read “the map is late…”"), "I read “the map is late…”.");
        assert_eq!(tidy(""), "");
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        assert_eq!(stem("sources"), stem("source"));
        assert_eq!(stem("checking"), stem("check"));
        assert_eq!(stem("Story"), stem("stories"));
    }
}
