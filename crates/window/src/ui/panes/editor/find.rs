//! Finding and replacing in one text: the pattern, its matches, and the resulting text. Pure.

use super::texts;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

/// No more places than this are listed.
pub const MOST_PLACES: usize = 10_000;
/// An expression that would need more memory than this is refused.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// The words, or the expression.
    pub needle: String,
    /// Whether capitals matter.
    pub with_case: bool,
    /// Whether only whole words count.
    pub whole_word: bool,
    /// Whether it is a regular expression.
    pub is_expression: bool,
}

/// What is looked for and where it was found.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Whether the bar is shown.
    pub is_open: bool,
    /// Whether the line for replacing is shown, too.
    pub replaces: bool,
    /// What is looked for.
    pub wanted: Wanted,
    /// What takes its place.
    pub replacement: String,
    /// Where it stands, as bytes of the text, in order.
    pub places: Arc<Vec<Range<usize>>>,
    /// Whether there are more than are listed.
    pub has_more: bool,
    /// Why the expression cannot be used.
    pub error: Option<String>,
    /// Which place was gone to last.
    pub current: Option<usize>,
    /// How many were replaced at once; until something else is looked for.
    pub replaced: Option<usize>,
    /// Whether the field asks for the keyboard.
    pub asks_focus: bool,
    done_for: Option<(u64, Wanted)>,
}

impl Find {
    /// Opens the bar, with what is selected as what is looked for.
    pub fn open(&mut self, replaces: bool, selected: &str) {
        self.is_open = true;
        self.replaces = replaces;
        self.asks_focus = true;
        if !selected.is_empty() && !selected.contains('\n') {
            selected.clone_into(&mut self.wanted.needle);
        }
    }

    /// Closes the bar; what was looked for is remembered.
    pub fn close(&mut self) {
        self.is_open = false;
        self.places = Arc::default();
        self.done_for = None;
    }

    /// Looks again, where the text or what is looked for changed. `generation` tells texts apart.
    pub fn look(&mut self, text: &str, generation: u64) {
        if self.done_for.as_ref().is_some_and(|(at, wanted)| *at == generation && *wanted == self.wanted) {
            return;
        }
        if self.done_for.as_ref().is_none_or(|(_, wanted)| *wanted != self.wanted) {
            self.current = None;
            self.replaced = None;
        }
        self.done_for = Some((generation, self.wanted.clone()));
        match places(&self.wanted, text) {
            Ok(mut found) => {
                self.has_more = found.len() > MOST_PLACES;
                found.truncate(MOST_PLACES);
                self.error = None;
                self.places = Arc::new(found);
            }
            Err(why) => {
                self.error = Some(why);
                self.has_more = false;
                self.places = Arc::default();
            }
        }
        if self.current.is_some_and(|current| current >= self.places.len()) {
            self.current = None;
        }
    }

    /// Goes to the next place after this byte, or the one before it; around the end.
    pub fn step(&mut self, from: usize, forward: bool) -> Option<Range<usize>> {
        let count = self.places.len();
        if count == 0 {
            return None;
        }
        self.replaced = None;
        let index = match (self.current, forward) {
            (Some(current), true) if self.places[current].start == from || self.places[current].end == from => {
                (current + 1) % count
            }
            (Some(current), false) if self.places[current].start == from || self.places[current].end == from => {
                (current + count - 1) % count
            }
            (_, true) => self.places.partition_point(|place| place.start < from) % count,
            (_, false) => (self.places.partition_point(|place| place.end < from) + count - 1) % count,
        };
        self.current = Some(index);
        Some(self.places[index].clone())
    }

    /// The text with the current place replaced, and where the replacement stands.
    pub fn replace_one(&self, text: &str) -> Option<(String, Range<usize>)> {
        let place = self.places.get(self.current?)?.clone();
        let new = self.replacement_of(text, &place, pattern(&self.wanted).ok()?.as_ref()?);
        let end = place.start + new.len();
        let mut replaced = String::with_capacity(text.len() + new.len());
        replaced.push_str(&text[..place.start]);
        replaced.push_str(&new);
        replaced.push_str(&text[place.end..]);
        Some((replaced, place.start..end))
    }

    /// The text with every place replaced, and how many there were. Beyond those that are listed, too.
    pub fn replace_all(&self, text: &str) -> Option<(String, usize)> {
        let pattern = pattern(&self.wanted).ok()??;
        let places = places(&self.wanted, text).ok()?;
        let mut replaced = String::with_capacity(text.len());
        let mut at = 0;
        for place in &places {
            replaced.push_str(&text[at..place.start]);
            replaced.push_str(&self.replacement_of(text, place, &pattern));
            at = place.end;
        }
        replaced.push_str(&text[at..]);
        Some((replaced, places.len()))
    }

    fn replacement_of(&self, text: &str, place: &Range<usize>, pattern: &Regex) -> String {
        let captures = if self.wanted.is_expression { pattern.captures_at(text, place.start) } else { None };
        match captures {
            Some(captures) => {
                let mut new = String::new();
                captures.expand(&self.replacement, &mut new);
                new
            }
            None => self.replacement.clone(),
        }
    }

    /// How many there are, in words.
    pub fn count(&self) -> String {
        if let Some(count) = self.replaced {
            return texts::replaced(count);
        }
        match (self.places.len(), self.current) {
            (0, _) if self.wanted.needle.is_empty() => String::new(),
            (0, _) => texts::NOT_FOUND.to_owned(),
            (count, _) if self.has_more => texts::found_more_than(count),
            (count, Some(current)) => texts::found_at(current + 1, count),
            (count, None) => texts::found(count),
        }
    }
}

/// Nothing where nothing is looked for.
fn pattern(wanted: &Wanted) -> Result<Option<Regex>, String> {
    if wanted.needle.is_empty() {
        return Ok(None);
    }
    let expression = if wanted.is_expression { wanted.needle.clone() } else { regex::escape(&wanted.needle) };
    let built = RegexBuilder::new(&expression)
        .case_insensitive(!wanted.with_case)
        .multi_line(true)
        .size_limit(MOST_PATTERN_BYTES)
        .build();
    built.map(Some).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => texts::EXPRESSION_TOO_LARGE.to_owned(),
        // The last line has the message; those before it show the expression.
        error => {
            let told = error.to_string();
            let what = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
            texts::invalid_expression(what)
        }
    })
}

/// Every place, but one more than can be listed at most where only the list is asked for.
fn places(wanted: &Wanted, text: &str) -> Result<Vec<Range<usize>>, String> {
    let Some(pattern) = pattern(wanted)? else { return Ok(Vec::new()) };
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let is_standalone = |place: &Range<usize>| {
        !text[..place.start].chars().next_back().is_some_and(is_word)
            && !text[place.end..].chars().next().is_some_and(is_word)
    };
    let all = pattern.find_iter(text).map(|found| found.range()).filter(|place| !place.is_empty());
    Ok(all.filter(|place| !wanted.whole_word || is_standalone(place)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(needle: &str, set: impl Fn(&mut Wanted), text: &str) -> Find {
        let mut find = Find::default();
        needle.clone_into(&mut find.wanted.needle);
        set(&mut find.wanted);
        find.look(text, 1);
        find
    }

    fn starts(find: &Find) -> Vec<usize> {
        find.places.iter().map(|place| place.start).collect()
    }

    #[test]
    fn case_words_and_expressions_are_distinguished() {
        let text = "Tea tea teapot a.b aXb";
        assert_eq!(starts(&find("tea", |_| {}, text)), [0, 4, 8]);
        assert_eq!(starts(&find("tea", |wanted| wanted.with_case = true, text)), [4, 8]);
        assert_eq!(starts(&find("tea", |wanted| wanted.whole_word = true, text)), [0, 4]);
        assert_eq!(starts(&find("a.b", |_| {}, text)), [15]);
        assert_eq!(starts(&find("a.b", |wanted| wanted.is_expression = true, text)), [15, 19]);
        assert_eq!(starts(&find(r"\btea\w+", |wanted| wanted.is_expression = true, text)), [8]);
        assert_eq!(starts(&find("ÄRGER", |_| {}, "großer ärger")), [8]);
    }

    #[test]
    fn nothing_to_look_for_and_what_cannot_be_looked_for_are_said() {
        assert_eq!(find("", |_| {}, "text").count(), "");
        assert_eq!(find("x", |_| {}, "text").count(), "1 found");
        assert_eq!(find("y", |_| {}, "text").count(), "not found");
        let broken = find("(", |wanted| wanted.is_expression = true, "text");
        assert!(broken.error.is_some_and(|why| why.contains("unclosed group")));
        let large = find("(a{1000}){1000}", |wanted| wanted.is_expression = true, "text");
        assert!(large.error.is_some());
        assert!(find("x*", |wanted| wanted.is_expression = true, "abc").places.is_empty(), "nothing is no place");
    }

    #[test]
    fn one_goes_from_place_to_place_and_around() {
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
        let mut some = find(r"^name: (\w+)$", |wanted| wanted.is_expression = true, text);
        some.replacement = "id: ${1}-1".into();
        assert_eq!(some.replace_one(text), None, "no place was gone to");
        some.step(0, true);
        assert_eq!(some.replace_one(text), Some(("id: ada-1\nname: bram\n".into(), 0..9)));
        assert_eq!(some.replace_all(text), Some(("id: ada-1\nid: bram-1\n".into(), 2)));
        let mut plain = find("name", |_| {}, text);
        plain.replacement = "$1".into();
        assert_eq!(plain.replace_all(text), Some(("$1: ada\n$1: bram\n".into(), 2)));
    }

    #[test]
    fn the_list_is_bounded_and_replacing_all_is_not() {
        let text = "a ".repeat(MOST_PLACES + 5);
        let mut many = find("a", |_| {}, &text);
        assert_eq!((many.places.len(), many.count()), (MOST_PLACES, format!("more than {MOST_PLACES}")));
        many.replacement = "b".into();
        assert_eq!(many.replace_all(&text).map(|(_, count)| count), Some(MOST_PLACES + 5));
    }

    #[test]
    fn the_same_text_is_not_looked_through_twice() {
        let mut some = find("a", |_| {}, "a");
        some.look("another text of the same name: a a a", 1);
        assert_eq!(some.places.len(), 1);
        some.look("a a", 2);
        assert_eq!(some.places.len(), 2);
    }
}
