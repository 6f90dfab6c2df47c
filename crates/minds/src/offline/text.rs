//! Text utilities of the offline brain: sentences, stems, quotations, and the cleanup of every reply.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::data::known;
use crate::base::text::one_line;

/// Where a clause may be cut without losing its sense.
const CLAUSE_ENDS: [char; 6] = [',', ';', ':', '—', '–', '('];

/// More of a text than this is not looked at: nothing a person writes on a board is longer.
const LOOKED_AT_CHARS: usize = 24_000;

/// Whether a word says nothing about what a text is about.
pub fn is_stop_word(word: &str) -> bool {
    let word = word.to_lowercase();
    word.chars().count() < 3 || known().stop.has(&word)
}

/// Whether a word may begin an order.
pub fn is_order_verb(word: &str) -> bool {
    known().order_verbs.has(&word.to_lowercase())
}

/// The words of a text without punctuation, in order.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '-')
        .map(|word| word.trim_matches(['\'', '’', '-']))
        .filter(|word| !word.is_empty())
}

/// A word without its commonest endings, so that “sources” meets “source” and “checking” meets “check”.
pub fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(&word);
    let long_enough = |rest: &str| rest.chars().count() >= 3;
    for ending in ["ings", "ing", "ers", "ies", "ied", "ed", "er", "es", "ly", "s", "e", "y"] {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| long_enough(rest)) {
            return rest.trim_end_matches('e').to_owned();
        }
    }
    word.to_owned()
}

/// The stems of the words that say what a text is about.
pub fn stems(text: &str) -> BTreeSet<String> {
    words(text).filter(|word| !is_stop_word(word)).map(stem).collect()
}

/// How many stems two texts share.
pub fn shared(one: &BTreeSet<String>, other: &BTreeSet<String>) -> usize {
    one.intersection(other).count()
}

/// Whether two texts say nearly the same: most stems of the shorter one occur in the other.
pub fn alike(one: &str, other: &str) -> bool {
    let (one, other) = (stems(one), stems(other));
    let fewer = one.len().min(other.len());
    fewer > 0 && shared(&one, &other) * 4 >= fewer * 3
}

/// The stems of verbs that begin orders.
static ORDER_STEMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| known().order_verbs.iter().map(stem).collect());

/// Like [`stems`], without the verbs that begin instructions: “ask” and “write” occur everywhere and relate nothing.
pub fn subject_stems(text: &str) -> BTreeSet<String> {
    let meaning = words(text).filter(|word| !is_stop_word(word) && !is_order_verb(word));
    meaning.map(stem).filter(|stem| !ORDER_STEMS.contains(stem)).collect()
}

/// Letters and digits only, in lower case: equal for texts that differ in nothing that matters.
pub fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A line without Markdown's marks and without brackets, so that nothing quoted can act as a marker.
pub fn plain(line: &str) -> String {
    let line = line.trim_start().trim_start_matches(['#', '>', '*', '-', '+', '•', '–', ' ', '\t']);
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = match numbered.strip_prefix(". ").or_else(|| numbered.strip_prefix(") ")) {
        Some(rest) if numbered.len() < line.len() => rest,
        _ => line,
    };
    let kept: String = task_title(line)
        .unwrap_or(line)
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '*' | '`' | '|' | '<' | '>' | '{' | '}' | '\\') && !is_odd(*c))
        .map(|c| if matches!(c, '“' | '”' | '"' | '„') { '\'' } else { c })
        .collect();
    one_line(&kept)
}

/// The title of a task, of a line as a task board tells it: `write-plan (open, priority A, for Ada): Write the plan`.
fn task_title(line: &str) -> Option<&str> {
    let (id, rest) = line.split_once(" (")?;
    let (about, title) = rest.split_once("): ")?;
    let is_task = ["open", "in progress", "needs the person"].iter().any(|state| about.starts_with(state));
    (is_task && !id.contains(char::is_whitespace) && !title.trim().is_empty()).then_some(title)
}

fn is_odd(c: char) -> bool {
    c.is_control() && !c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
}

/// The sentences of a text, plain, in order. Headings and list entries are sentences of their own.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut left = LOOKED_AT_CHARS;
    let mut open = String::new();
    for line in text.lines() {
        let line: String = line.chars().take(left).collect();
        left = left.saturating_sub(line.chars().count() + 1);
        // A line that begins small goes on with what the one before left open: text that somebody wrapped by hand.
        if !(goes_on(&open) && line.trim_start().starts_with(char::is_lowercase)) {
            split_line(&plain(&std::mem::take(&mut open)), &mut sentences);
        }
        open.push(' ');
        open.push_str(&line);
        if left == 0 {
            break;
        }
    }
    split_line(&plain(&open), &mut sentences);
    sentences
}

/// Whether a line ends in the middle of a sentence.
fn goes_on(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.ends_with(['.', '!', '?', '…', ':', '”', '`'])
}

fn split_line(line: &str, sentences: &mut Vec<String>) {
    let mut start = 0;
    let mut ended = false;
    for (at, c) in line.char_indices() {
        let is_gap = c == ' ' && ended && !ends_in_abbreviation(&line[start..at]);
        if is_gap && line[at + 1..].chars().next().is_some_and(|next| !next.is_lowercase()) {
            push_sentence(&line[start..at], sentences);
            start = at + 1;
        }
        ended = matches!(c, '.' | '!' | '?' | '…') || ended && matches!(c, '\'' | ')' | '’');
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

/// A sentence without its last punctuation.
pub fn unpunctuated(sentence: &str) -> &str {
    sentence.trim().trim_end_matches(['.', '!', '?', ',', ';', ':', '…', ' ', '-', '–', '—'])
}

/// At most `max_words` words of a sentence, in quotation marks, cut at the end of a clause where there is one.
pub fn quoted(sentence: &str, max_words: usize) -> String {
    let sentence = plain(sentence);
    format!("“{}”", clause(&sentence, max_words))
}

/// At most `max_words` words of a sentence without its last punctuation.
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
    // A quotation within it may have lost its end.
    clause.replace(" '", " ")
}

/// A text with a small first letter.
pub fn small_first(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}

/// A text with a large first letter.
pub fn upper_first(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// Whether a word looks like a plural: “chairs”, and neither “glass” nor “this”.
pub fn looks_plural(word: &str) -> bool {
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

/// A sentence in a form that can follow other words: in lower case at the start, unless its first word is a name or
/// “I”.
pub fn lower_first(sentence: &str) -> String {
    let first = sentence.split([' ', ',']).next().unwrap_or_default();
    let lowered = first.to_lowercase();
    let is_common = is_order_verb(first) || known().stop.has(&lowered) && first != "I" && first.len() > 1;
    if is_common || first == "A" { lowered + &sentence[first.len()..] } else { sentence.to_owned() }
}

/// “cite sources” from “Always cite sources.”, “not to …” left to the caller: the order in a sentence, if it is one.
pub fn order(sentence: &str) -> Option<String> {
    let sentence = unpunctuated(sentence);
    let order = sentence.strip_prefix("Always ").or_else(|| sentence.strip_prefix("Please ")).unwrap_or(sentence);
    is_order_verb(words(order).next()?).then(|| small_first(order))
}

/// “not to guess” from “Do not guess.”, “never to guess” from “Never guess.”: the ban in a sentence, if it is one.
pub fn ban(sentence: &str) -> Option<String> {
    let sentence = unpunctuated(sentence);
    let prefixes = [("Do not ", "not to "), ("Don't ", "not to "), ("Don’t ", "not to "), ("Never ", "never to ")];
    prefixes.iter().find_map(|(prefix, instead)| {
        let rest = sentence.strip_prefix(prefix)?;
        is_order_verb(words(rest).next()?).then(|| format!("{instead}{rest}"))
    })
}

/// The text as it leaves: single blanks, capital letters at the start of sentences, whole punctuation.
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

/// Puts a full stop where the last sentence has none.
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
    fn brackets_and_marks_never_survive_reading() {
        assert_eq!(plain("> **Do** [PIN: this] `now`"), "Do PIN: this now");
        let task = "write-plan-for-the-hol (open, priority A, nobody has it): Write the plan";
        assert_eq!(plain(task), "Write the plan");
        assert_eq!(plain("The map (open to all): see News"), "The map (open to all): see News");
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
    fn orders_and_bans_are_recognised() {
        assert_eq!(order("Always cite your sources."), Some("cite your sources".into()));
        assert_eq!(order("Sources matter."), None);
        assert_eq!(ban("Do not guess numbers."), None, "guess is not listed");
        assert_eq!(ban("Never print a rumour."), Some("never to print a rumour".into()));
    }

    #[test]
    fn tidying_leaves_whole_sentences() {
        assert_eq!(tidy("  well ,  that is that.. so be it"), "Well, that is that. So be it.");
        assert_eq!(tidy("why?. because"), "Why? Because.");
        assert_eq!(tidy("i read “the map is late…”"), "I read “the map is late…”.");
        assert_eq!(tidy(""), "");
    }

    #[test]
    fn stems_bring_forms_of_a_word_together() {
        assert_eq!(stem("sources"), stem("source"));
        assert_eq!(stem("checking"), stem("check"));
        assert_eq!(stem("Story"), stem("stories"));
    }
}
