//! Find and replace in one text: the pattern, its matches, and the text after replacing.

use super::texts;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

/// Maximum number of matches that are listed.
pub const MAX_MATCHES: usize = 10_000;
/// Maximum memory in bytes for a compiled regular expression.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A search query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// The text or regular expression to search for.
    pub needle: String,
    /// Whether the case must match.
    pub match_case: bool,
    /// Whether only whole words match.
    pub whole_word: bool,
    /// Whether `needle` is a regular expression.
    pub is_expression: bool,
}

/// The state of the find bar: the query and its matches.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Whether the find bar is shown.
    pub is_open: bool,
    /// Whether the row for replacing is shown too.
    pub shows_replace: bool,
    /// The query.
    pub query: Query,
    /// The text that replaces a match; it may refer to groups of a regular expression, such as `$1`.
    pub replacement: String,
    /// Byte ranges of the matches, in order.
    pub matches: Arc<Vec<Range<usize>>>,
    /// Whether there are more matches than are listed.
    pub has_more: bool,
    /// Why the regular expression is invalid.
    pub error: Option<String>,
    /// Index of the current match.
    pub current: Option<usize>,
    /// Number of matches that were just replaced, until the query changes.
    pub replaced: Option<usize>,
    /// Whether the find field takes the keyboard focus in the next frame.
    pub wants_focus: bool,
    searched: Option<(u64, Query)>,
}

impl Find {
    /// Opens the find bar. A selection within one line becomes the query.
    pub fn open(&mut self, shows_replace: bool, selected: &str) {
        self.is_open = true;
        self.shows_replace = shows_replace;
        self.wants_focus = true;
        if !selected.is_empty() && !selected.contains('\n') {
            selected.clone_into(&mut self.query.needle);
        }
    }

    /// Closes the find bar and keeps the query.
    pub fn close(&mut self) {
        self.is_open = false;
        self.matches = Arc::default();
        self.searched = None;
    }

    /// Searches again if the query or the text, identified by `generation`, has changed.
    pub fn update(&mut self, text: &str, generation: u64) {
        if self.searched.as_ref().is_some_and(|(at, query)| *at == generation && *query == self.query) {
            return;
        }
        if self.searched.as_ref().is_none_or(|(_, query)| *query != self.query) {
            self.current = None;
            self.replaced = None;
        }
        self.searched = Some((generation, self.query.clone()));
        match matches(&self.query, text) {
            Ok(mut found) => {
                self.has_more = found.len() > MAX_MATCHES;
                found.truncate(MAX_MATCHES);
                self.error = None;
                self.matches = Arc::new(found);
            }
            Err(why) => {
                self.error = Some(why);
                self.has_more = false;
                self.matches = Arc::default();
            }
        }
        if self.current.is_some_and(|current| current >= self.matches.len()) {
            self.current = None;
        }
    }

    /// Makes the next match after the byte `from` current, or the previous one, and returns it. Wraps around at the
    /// ends.
    pub fn step(&mut self, from: usize, forward: bool) -> Option<Range<usize>> {
        let count = self.matches.len();
        if count == 0 {
            return None;
        }
        self.replaced = None;
        let index = match (self.current, forward) {
            (Some(current), true) if self.matches[current].start == from || self.matches[current].end == from => {
                (current + 1) % count
            }
            (Some(current), false) if self.matches[current].start == from || self.matches[current].end == from => {
                (current + count - 1) % count
            }
            (_, true) => self.matches.partition_point(|place| place.start < from) % count,
            (_, false) => (self.matches.partition_point(|place| place.end < from) + count - 1) % count,
        };
        self.current = Some(index);
        Some(self.matches[index].clone())
    }

    /// Returns the text with the current match replaced, and the byte range of the replacement.
    pub fn replace_one(&self, text: &str) -> Option<(String, Range<usize>)> {
        let place = self.matches.get(self.current?)?.clone();
        let new = self.replacement_of(text, &place, pattern(&self.query).ok()?.as_ref()?);
        let end = place.start + new.len();
        let mut replaced = String::with_capacity(text.len() + new.len());
        replaced.push_str(&text[..place.start]);
        replaced.push_str(&new);
        replaced.push_str(&text[place.end..]);
        Some((replaced, place.start..end))
    }

    /// Returns the text with all matches replaced, even those that are not listed, and their number.
    pub fn replace_all(&self, text: &str) -> Option<(String, usize)> {
        let pattern = pattern(&self.query).ok()??;
        let matches = matches(&self.query, text).ok()?;
        let mut replaced = String::with_capacity(text.len());
        let mut at = 0;
        for place in &matches {
            replaced.push_str(&text[at..place.start]);
            replaced.push_str(&self.replacement_of(text, place, &pattern));
            at = place.end;
        }
        replaced.push_str(&text[at..]);
        Some((replaced, matches.len()))
    }

    fn replacement_of(&self, text: &str, place: &Range<usize>, pattern: &Regex) -> String {
        let captures = if self.query.is_expression { pattern.captures_at(text, place.start) } else { None };
        match captures {
            Some(captures) => {
                let mut new = String::new();
                captures.expand(&self.replacement, &mut new);
                new
            }
            None => self.replacement.clone(),
        }
    }

    /// Returns the text that describes the number of matches.
    pub fn count(&self) -> String {
        if let Some(count) = self.replaced {
            return texts::replaced(count);
        }
        match (self.matches.len(), self.current) {
            (0, _) if self.query.needle.is_empty() => String::new(),
            (0, _) => texts::NOT_FOUND.to_owned(),
            (count, _) if self.has_more => texts::found_more_than(count),
            (count, Some(current)) => texts::found_at(current + 1, count),
            (count, None) => texts::found(count),
        }
    }
}

/// Compiles the query; `None` if it is empty.
fn pattern(query: &Query) -> Result<Option<Regex>, String> {
    if query.needle.is_empty() {
        return Ok(None);
    }
    let expression = if query.is_expression { query.needle.clone() } else { regex::escape(&query.needle) };
    let built = RegexBuilder::new(&expression)
        .case_insensitive(!query.match_case)
        .multi_line(true)
        .size_limit(MAX_PATTERN_BYTES)
        .build();
    built.map(Some).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => texts::EXPRESSION_TOO_LARGE.to_owned(),
        // The last line contains the message; those before it show the expression.
        error => {
            let message = error.to_string();
            let what = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            texts::invalid_expression(what)
        }
    })
}

/// Returns all non-empty matches.
fn matches(query: &Query, text: &str) -> Result<Vec<Range<usize>>, String> {
    let Some(pattern) = pattern(query)? else { return Ok(Vec::new()) };
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let is_standalone = |place: &Range<usize>| {
        !text[..place.start].chars().next_back().is_some_and(is_word)
            && !text[place.end..].chars().next().is_some_and(is_word)
    };
    let all = pattern.find_iter(text).map(|found| found.range()).filter(|place| !place.is_empty());
    Ok(all.filter(|place| !query.whole_word || is_standalone(place)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(needle: &str, set: impl Fn(&mut Query), text: &str) -> Find {
        let mut find = Find::default();
        needle.clone_into(&mut find.query.needle);
        set(&mut find.query);
        find.update(text, 1);
        find
    }

    fn starts(find: &Find) -> Vec<usize> {
        find.matches.iter().map(|place| place.start).collect()
    }

    #[test]
    fn case_words_and_expressions_are_distinguished() {
        let text = "Tea tea teapot a.b aXb";
        assert_eq!(starts(&find("tea", |_| {}, text)), [0, 4, 8]);
        assert_eq!(starts(&find("tea", |query| query.match_case = true, text)), [4, 8]);
        assert_eq!(starts(&find("tea", |query| query.whole_word = true, text)), [0, 4]);
        assert_eq!(starts(&find("a.b", |_| {}, text)), [15]);
        assert_eq!(starts(&find("a.b", |query| query.is_expression = true, text)), [15, 19]);
        assert_eq!(starts(&find(r"\btea\w+", |query| query.is_expression = true, text)), [8]);
        assert_eq!(starts(&find("ÄRGER", |_| {}, "großer ärger")), [8]);
    }

    #[test]
    fn empty_and_invalid_queries_are_reported() {
        assert_eq!(find("", |_| {}, "text").count(), "");
        assert_eq!(find("x", |_| {}, "text").count(), "1 found");
        assert_eq!(find("y", |_| {}, "text").count(), "not found");
        let broken = find("(", |query| query.is_expression = true, "text");
        assert!(broken.error.is_some_and(|why| why.contains("unclosed group")));
        let large = find("(a{1000}){1000}", |query| query.is_expression = true, "text");
        assert!(large.error.is_some());
        assert!(
            find("x*", |query| query.is_expression = true, "abc").matches.is_empty(),
            "an empty match does not count"
        );
    }

    #[test]
    fn stepping_visits_the_matches_and_wraps_around() {
        let mut find = find("a", |_| {}, "a b a b a");
        assert_eq!(find.step(1, true), Some(4..5));
        assert_eq!(find.step(5, true), Some(8..9));
        assert_eq!(find.step(9, true), Some(0..1));
        assert_eq!(find.step(1, false), Some(8..9));
        assert_eq!(find.step(9, false), Some(4..5));
        assert_eq!(find.count(), "2 of 3");
    }

    #[test]
    fn replacing_keeps_everything_else() {
        let text = "name: ada\nname: bram\n";
        let mut some = find(r"^name: (\w+)$", |query| query.is_expression = true, text);
        some.replacement = "id: ${1}-1".into();
        assert_eq!(some.replace_one(text), None, "there is no current match");
        some.step(0, true);
        assert_eq!(some.replace_one(text), Some(("id: ada-1\nname: bram\n".into(), 0..9)));
        assert_eq!(some.replace_all(text), Some(("id: ada-1\nid: bram-1\n".into(), 2)));
        let mut plain = find("name", |_| {}, text);
        plain.replacement = "$1".into();
        assert_eq!(plain.replace_all(text), Some(("$1: ada\n$1: bram\n".into(), 2)));
    }

    #[test]
    fn the_list_of_matches_is_bounded_but_replace_all_is_not() {
        let text = "a ".repeat(MAX_MATCHES + 5);
        let mut many = find("a", |_| {}, &text);
        assert_eq!((many.matches.len(), many.count()), (MAX_MATCHES, format!("more than {MAX_MATCHES}")));
        many.replacement = "b".into();
        assert_eq!(many.replace_all(&text).map(|(_, count)| count), Some(MAX_MATCHES + 5));
    }

    #[test]
    fn the_same_generation_is_not_searched_again() {
        let mut some = find("a", |_| {}, "a");
        some.update("another text of the same name: a a a", 1);
        assert_eq!(some.matches.len(), 1);
        some.update("a a", 2);
        assert_eq!(some.matches.len(), 2);
    }
}
