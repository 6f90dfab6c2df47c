//! Syntax highlighting: line by line, a bounded amount per frame, and after a change only as far as it has an effect.

use std::sync::Arc;

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::languages::{Language, ink_of};
use super::texts;
use super::token_style::TokenStyle;

/// A line longer than this stays plain.
const LINE_BYTES: usize = 2_000;

/// A stretch of a line: its end in bytes from the line's beginning, and what it is.
pub type Span = (u32, TokenStyle);

/// The parser's state before a line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Reading {
    parse: ParseState,
    scopes: ScopeStack,
    /// Whether this is between the fences of front matter.
    is_front: bool,
}

#[derive(Clone, Debug, Default)]
struct Line {
    bytes: usize,
    /// Whether the spans are those of the present line after the present lines before it.
    is_known: bool,
    spans: Arc<[Span]>,
}

/// The colours of one text.
#[derive(Clone, Debug)]
pub struct Highlights {
    language: Option<Language>,
    text: Arc<String>,
    lines: Vec<Line>,
    /// The parser's state before each line, as far as known; one more than lines.
    before: Vec<Option<Arc<Reading>>>,
    /// No line before this one is unknown.
    known_to: usize,
    /// Changes whenever a colour changed.
    generation: u64,
}

impl Highlights {
    /// The colours of a text in this language, none of which is known yet.
    pub fn of(language: Option<Language>) -> Self {
        let text = Arc::default();
        Self { language, text, lines: Vec::new(), before: vec![None], known_to: 0, generation: 0 }
    }

    /// Changes whenever a colour changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether this text is coloured at all.
    pub fn is_coloured(&self) -> bool {
        self.language.is_some_and(|language| self.text.len() <= language.most_bytes())
    }

    /// Why the text stays plain, where it does although its language is known.
    pub fn why_plain(&self, text: &str) -> Option<String> {
        let most = self.language?.most_bytes();
        (text.len() > most).then(|| texts::too_large_to_highlight(most / 1024))
    }

    /// Takes over a text: lines that stay keep their colours.
    pub fn follow(&mut self, text: &Arc<String>) {
        if Arc::ptr_eq(text, &self.text) || *text == self.text {
            return;
        }
        self.generation += 1;
        if self.language.is_none_or(|language| text.len() > language.most_bytes()) {
            let (language, generation) = (self.language, self.generation);
            *self = Self { generation, text: text.clone(), ..Self::of(language) };
            return;
        }
        let same_until = common_lines(self.lines.iter(), &self.text, text);
        let same_from =
            common_end(&self.lines[same_until.lines..], &self.text[same_until.bytes..], &text[same_until.bytes..]);
        let middle = &text[same_until.bytes..text.len() - same_from.bytes];
        let new = middle.split_inclusive('\n').map(|line| Line { bytes: line.len(), ..Line::default() });
        let count = middle.split_inclusive('\n').count();
        let gone = same_until.lines..self.lines.len() - same_from.lines;
        self.lines.splice(gone.clone(), new);
        // The states before the first changed line stay; those of the lines after it are computed again.
        let old_after = gone.end + 1..self.before.len();
        let mut before: Vec<_> = self.before[..=gone.start].to_vec();
        before.extend(std::iter::repeat_n(None, count));
        before.extend_from_slice(&self.before[old_after]);
        if count == 0 {
            // The line after what was taken away follows another one now.
            if let Some(line) = self.lines.get_mut(gone.start) {
                line.is_known = false;
            }
        } else if let Some(after) = self.lines.get_mut(gone.start + count) {
            after.is_known = false;
        }
        before.truncate(self.lines.len() + 1);
        before.resize(self.lines.len() + 1, None);
        self.before = before;
        self.known_to = self.known_to.min(gone.start);
        self.text = text.clone();
    }

    /// Reads on, about so many bytes as a frame bears. Whether there is more to do.
    pub fn work(&mut self, set: &SyntaxSet) -> bool {
        let Some(language) = self.language.filter(|_| self.known_to < self.lines.len()) else { return false };
        let mut left = language.bytes_per_frame();
        let (mut at, mut offset) = (0, 0);
        loop {
            while at < self.lines.len() && (at < self.known_to || self.lines[at].is_known) {
                offset += self.lines[at].bytes;
                at += 1;
            }
            self.known_to = at;
            if at == self.lines.len() {
                return false;
            }
            if left == 0 {
                return true;
            }
            if at == 0 && self.before[0].is_none() {
                let Some(parse) = language.begin(set) else { return false };
                self.before[0] = Some(Arc::new(Reading { parse, scopes: ScopeStack::new(), is_front: false }));
            }
            // Lines are parsed in order, so that the state before the first unknown one is known.
            let Some(before) = self.before[at].clone() else { return false };
            let bytes = self.lines[at].bytes;
            let line = &self.text[offset..offset + bytes];
            let (spans, after) = read_line(language, set, at, line, before);
            left = left.saturating_sub(bytes.max(16));
            self.generation += u64::from(*self.lines[at].spans != *spans);
            self.lines[at] = Line { bytes, is_known: true, spans: spans.into() };
            if self.before[at + 1].as_deref() != Some(&*after) {
                self.before[at + 1] = Some(after);
                if let Some(next) = self.lines.get_mut(at + 1) {
                    next.is_known = false;
                }
            }
        }
    }

    /// The colours of the lines from this one on, as ends in bytes counted from its beginning, for so many bytes.
    pub fn spans(&self, first_line: usize, bytes: usize) -> Vec<(usize, TokenStyle)> {
        let mut spans: Vec<(usize, TokenStyle)> = Vec::new();
        let mut offset = 0;
        for line in self.lines.iter().skip(first_line) {
            if offset >= bytes {
                break;
            }
            let mut push = |end: usize, ink: TokenStyle| match spans.last_mut() {
                Some(last) if last.1 == ink => last.0 = end,
                _ => spans.push((end, ink)),
            };
            for (end, ink) in line.spans.iter() {
                push(offset + *end as usize, *ink);
            }
            if line.spans.last().is_none_or(|(end, _)| (*end as usize) < line.bytes) {
                push(offset + line.bytes, TokenStyle::Plain);
            }
            offset += line.bytes;
        }
        spans
    }
}

fn read_line(
    language: Language,
    set: &SyntaxSet,
    number: usize,
    line: &str,
    before: Arc<Reading>,
) -> (Vec<Span>, Arc<Reading>) {
    let whole = |ink: TokenStyle| vec![(line.len() as u32, ink)];
    if line.len() > LINE_BYTES {
        return (whole(TokenStyle::Plain), before);
    }
    let is_fence = language == Language::Markdown && line.trim_end() == "---";
    if is_fence && (number == 0 || before.is_front) {
        let next = if before.is_front { Language::Markdown } else { Language::Yaml };
        if let Some(parse) = next.begin(set) {
            let after = Reading { parse, scopes: ScopeStack::new(), is_front: !before.is_front };
            return (whole(TokenStyle::Mark), Arc::new(after));
        }
    }
    let mut after = (*before).clone();
    let Ok(ops) = after.parse.parse_line(line, set) else { return (whole(TokenStyle::Plain), before) };
    let mut spans: Vec<Span> = Vec::new();
    let mut push = |end: usize, ink: TokenStyle| match spans.last_mut() {
        Some(last) if last.1 == ink => last.0 = end as u32,
        _ => spans.push((end as u32, ink)),
    };
    let mut at = 0;
    for (until, op) in ops {
        if until > at {
            push(until, ink_of(&after.scopes));
            at = until;
        }
        if after.scopes.apply(&op).is_err() {
            return (whole(TokenStyle::Plain), before);
        }
    }
    if at < line.len() {
        push(line.len(), ink_of(&after.scopes));
    }
    let after = if after == *before { before } else { Arc::new(after) };
    (spans, after)
}

/// A number of lines and their bytes.
struct Extent {
    lines: usize,
    bytes: usize,
}

/// The lines at the beginning that two texts have in common.
fn common_lines<'a>(lines: impl Iterator<Item = &'a Line>, old: &str, new: &str) -> Extent {
    let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let mut extent = Extent { lines: 0, bytes: 0 };
    for line in lines {
        let end = extent.bytes + line.bytes;
        // A last line without an end may have grown.
        if end > same || !old[..end].ends_with('\n') {
            break;
        }
        extent = Extent { lines: extent.lines + 1, bytes: end };
    }
    extent
}

/// The lines at the end that two texts have in common.
fn common_end(lines: &[Line], old: &str, new: &str) -> Extent {
    let same = old.bytes().rev().zip(new.bytes().rev()).take_while(|(old, new)| old == new).count();
    let mut extent = Extent { lines: 0, bytes: 0 };
    for line in lines.iter().rev() {
        let bytes = extent.bytes + line.bytes;
        // In both texts a line must begin there.
        let begins = |text: &str| text.len() == bytes || text.as_bytes()[text.len() - bytes - 1] == b'\n';
        if bytes > same || !begins(old) || !begins(new) {
            break;
        }
        extent = Extent { lines: extent.lines + 1, bytes };
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::super::languages::grammars_now;
    use super::*;
    use crate::view::theme::{DARK, LIGHT, contrast};
    use proptest::prelude::*;

    fn follow(inks: &mut Highlights, text: &str) -> usize {
        inks.follow(&Arc::new(text.to_owned()));
        let mut frames = 1;
        while inks.work(grammars_now()) {
            frames += 1;
        }
        frames
    }

    fn seen(language: Language, text: &str) -> Vec<(String, TokenStyle)> {
        let mut inks = Highlights::of(Some(language));
        follow(&mut inks, text);
        let mut at = 0;
        let spans = inks.spans(0, text.len()).into_iter();
        spans.map(|(end, ink)| (text[std::mem::replace(&mut at, end)..end].to_owned(), ink)).collect()
    }

    fn has(spans: &[(String, TokenStyle)], text: &str, ink: TokenStyle) {
        assert!(spans.iter().any(|(seen, of)| seen.contains(text) && *of == ink), "{text:?} is no {ink:?}: {spans:?}");
    }

    #[test]
    fn every_ink_can_be_read_by_day_and_in_the_evening() {
        for theme in [LIGHT, DARK] {
            for ink in TokenStyle::ALL {
                let contrast = contrast(ink.colour(&theme), theme.card);
                assert!(contrast >= 4.5, "{ink:?}, dark={}: {contrast:.2}", theme.dark);
            }
        }
    }

    #[test]
    fn markdown_has_front_matter_in_yaml() {
        let spans = seen(Language::Markdown, "---\nname: Ada # her\n---\n# Title\nSome `code` and **more**.\n");
        has(&spans, "name", TokenStyle::Key);
        has(&spans, "# her", TokenStyle::Remark);
        has(&spans, "Title", TokenStyle::Heading);
        has(&spans, "code", TokenStyle::Code);
        has(&spans, "more", TokenStyle::Strong);
    }

    #[test]
    fn every_language_is_coloured() {
        let spans = seen(Language::Yaml, "name: \"x\"\nlist: [1, 2]\n");
        has(&spans, "name", TokenStyle::Key);
        has(&spans, "x", TokenStyle::Text);
        has(&spans, "2", TokenStyle::Number);
        let spans = seen(Language::TypeScript, "export const a: number = 1; // why\n");
        has(&spans, "export", TokenStyle::Word);
        has(&spans, "// why", TokenStyle::Remark);
        let spans = seen(Language::Json, "{\"a\": \"b\", \"c\": 1}\n");
        has(&spans, "a", TokenStyle::Key);
        has(&spans, "b", TokenStyle::Text);
    }

    #[test]
    fn a_change_is_read_only_as_far_as_it_reaches() {
        let mut inks = Highlights::of(Some(Language::Yaml));
        let long: String = (0..1_500).map(|line| format!("key{line}: value of this line\n")).collect();
        assert!(follow(&mut inks, &long) > 5, "a long text takes many frames");
        let before = inks.generation();
        let changed = long.replacen("value of this line", "other", 1);
        assert_eq!(follow(&mut inks, &changed), 1);
        assert!(inks.generation() > before);
        let colours = inks.spans(0, changed.len());
        let mut anew = Highlights::of(Some(Language::Yaml));
        follow(&mut anew, &changed);
        assert_eq!(colours, anew.spans(0, changed.len()));
    }

    #[test]
    fn what_is_too_large_or_unknown_stays_plain_and_says_so() {
        let mut inks = Highlights::of(Some(Language::TypeScript));
        let large = "const a = 1;\n".repeat(10_000);
        follow(&mut inks, &large);
        assert!(inks.spans(0, large.len()).is_empty());
        assert!(inks.why_plain(&large).is_some_and(|why| why.contains("64 kB")));
        assert_eq!(Highlights::of(None).why_plain(&large), None);
        let long = format!("a: {}\n", "x".repeat(5_000));
        assert_eq!(seen(Language::Yaml, &long), [(long, TokenStyle::Plain)]);
    }

    fn part() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("---\n"),
            Just("a: 1\n"),
            Just("# b\n"),
            Just("```\n"),
            Just("\n"),
            Just("*c\n"),
            Just("d"),
            Just("ä `e`\n")
        ];
        proptest::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_is_typed_the_colours_are_those_of_the_text(texts in proptest::collection::vec(part(), 1..5)) {
            let mut inks = Highlights::of(Some(Language::Markdown));
            for (number, text) in texts.iter().enumerate() {
                inks.follow(&Arc::new(text.clone()));
                // Some texts come before the last one was read to its end.
                if number % 2 == 1 {
                    while inks.work(grammars_now()) {}
                }
            }
            while inks.work(grammars_now()) {}
            let last = texts.last().expect("there should be one");
            let mut anew = Highlights::of(Some(Language::Markdown));
            anew.follow(&Arc::new(last.clone()));
            while anew.work(grammars_now()) {}
            prop_assert_eq!(inks.spans(0, last.len()), anew.spans(0, last.len()));
        }
    }
}
