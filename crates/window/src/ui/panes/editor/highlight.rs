//! Syntax highlighting, line by line with a bounded amount of work per frame. After a change, lines are parsed again
//! only as far as it has an effect.

use std::sync::Arc;

use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};

use super::languages::{Language, style_for_scopes};
use super::texts;
use super::token_style::TokenStyle;
use crate::base::common_parts::{common_prefix, common_suffix};

/// Longer lines are not highlighted.
const LINE_BYTES: usize = 2_000;

/// A span of a line: its end in bytes from the start of the line, and its style.
pub type Span = (u32, TokenStyle);

/// The parser state before a line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LineState {
    parse: ParseState,
    scopes: ScopeStack,
    /// Whether the line is inside YAML front matter.
    in_front_matter: bool,
}

#[derive(Clone, Debug, Default)]
struct Line {
    bytes: usize,
    /// Whether `spans` is up to date.
    is_current: bool,
    spans: Arc<[Span]>,
}

/// The syntax highlighting of one text.
#[derive(Clone, Debug)]
pub struct Highlights {
    language: Option<Language>,
    text: Arc<String>,
    lines: Vec<Line>,
    /// The parser state before each line and after the last one, where known.
    before: Vec<Option<Arc<LineState>>>,
    /// All lines before this index are up to date.
    first_unknown: usize,
    /// Changes whenever a span does.
    generation: u64,
}

impl Highlights {
    /// Creates the highlighting for a language, without text.
    pub fn of(language: Option<Language>) -> Self {
        let text = Arc::default();
        Self { language, text, lines: Vec::new(), before: vec![None], first_unknown: 0, generation: 0 }
    }

    /// Returns a number that changes whenever a span does.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether this text is highlighted at all.
    pub fn is_highlighted(&self) -> bool {
        self.language.is_some_and(|language| self.text.len() <= language.max_bytes())
    }

    /// Returns why a text in a known language is not highlighted.
    pub fn plain_reason(&self, text: &str) -> Option<String> {
        let max_bytes = self.language?.max_bytes();
        (text.len() > max_bytes).then(|| texts::too_large_to_highlight(max_bytes))
    }

    /// Sets the text. Lines that have not changed keep their spans.
    pub fn set_text(&mut self, text: &Arc<String>) {
        if Arc::ptr_eq(text, &self.text) || *text == self.text {
            return;
        }
        self.generation += 1;
        if self.language.is_none_or(|language| text.len() > language.max_bytes()) {
            let (language, generation) = (self.language, self.generation);
            *self = Self { generation, text: text.clone(), ..Self::of(language) };
            return;
        }
        let prefix = common_lines(self.lines.iter(), &self.text, text);
        let suffix = common_end(&self.lines[prefix.lines..], &self.text[prefix.bytes..], &text[prefix.bytes..]);
        let middle = &text[prefix.bytes..text.len() - suffix.bytes];
        let new = middle.split_inclusive('\n').map(|line| Line { bytes: line.len(), ..Line::default() });
        let count = middle.split_inclusive('\n').count();
        let replaced = prefix.lines..self.lines.len() - suffix.lines;
        self.lines.splice(replaced.clone(), new);
        // The states up to the first changed line stay; those after it are computed again.
        let old_after = replaced.end + 1..self.before.len();
        let mut before: Vec<_> = self.before[..=replaced.start].to_vec();
        before.extend(std::iter::repeat_n(None, count));
        before.extend_from_slice(&self.before[old_after]);
        if count == 0 {
            // The line after the removed ones has another predecessor now.
            if let Some(line) = self.lines.get_mut(replaced.start) {
                line.is_current = false;
            }
        } else if let Some(after) = self.lines.get_mut(replaced.start + count) {
            after.is_current = false;
        }
        before.truncate(self.lines.len() + 1);
        before.resize(self.lines.len() + 1, None);
        self.before = before;
        self.first_unknown = self.first_unknown.min(replaced.start);
        self.text = text.clone();
    }

    /// Parses lines up to the limit for one frame. Returns whether more lines remain.
    pub fn advance(&mut self, set: &SyntaxSet) -> bool {
        let Some(language) = self.language.filter(|_| self.first_unknown < self.lines.len()) else { return false };
        let mut left = language.bytes_per_frame();
        let (mut at, mut offset) = (0, 0);
        loop {
            while at < self.lines.len() && (at < self.first_unknown || self.lines[at].is_current) {
                offset += self.lines[at].bytes;
                at += 1;
            }
            self.first_unknown = at;
            if at == self.lines.len() {
                return false;
            }
            if left == 0 {
                return true;
            }
            if at == 0 && self.before[0].is_none() {
                let Some(parse) = language.new_parser(set) else { return false };
                self.before[0] = Some(Arc::new(LineState { parse, scopes: ScopeStack::new(), in_front_matter: false }));
            }
            // Lines are parsed in order, so the state before the first outdated line is known.
            let Some(before) = self.before[at].clone() else { return false };
            let bytes = self.lines[at].bytes;
            let line = &self.text[offset..offset + bytes];
            let (spans, after) = highlight_line(language, set, at, line, before);
            left = left.saturating_sub(bytes.max(16));
            self.generation += u64::from(*self.lines[at].spans != *spans);
            self.lines[at] = Line { bytes, is_current: true, spans: spans.into() };
            if self.before[at + 1].as_deref() != Some(&*after) {
                self.before[at + 1] = Some(after);
                if let Some(next) = self.lines.get_mut(at + 1) {
                    next.is_current = false;
                }
            }
        }
    }

    /// Returns the spans of `bytes` bytes from this line on, with their ends relative to its start.
    pub fn spans(&self, first_line: usize, bytes: usize) -> Vec<(usize, TokenStyle)> {
        let mut spans: Vec<(usize, TokenStyle)> = Vec::new();
        let mut offset = 0;
        for line in self.lines.iter().skip(first_line) {
            if offset >= bytes {
                break;
            }
            let mut push = |end: usize, style: TokenStyle| match spans.last_mut() {
                Some(last) if last.1 == style => last.0 = end,
                _ => spans.push((end, style)),
            };
            for (end, style) in line.spans.iter() {
                push(offset + *end as usize, *style);
            }
            if line.spans.last().is_none_or(|(end, _)| (*end as usize) < line.bytes) {
                push(offset + line.bytes, TokenStyle::Plain);
            }
            offset += line.bytes;
        }
        spans
    }
}

fn highlight_line(
    language: Language,
    set: &SyntaxSet,
    number: usize,
    line: &str,
    before: Arc<LineState>,
) -> (Vec<Span>, Arc<LineState>) {
    let whole = |style: TokenStyle| vec![(line.len() as u32, style)];
    if line.len() > LINE_BYTES {
        return (whole(TokenStyle::Plain), before);
    }
    let is_fence = language == Language::Markdown && line.trim_end() == "---";
    if is_fence && (number == 0 || before.in_front_matter) {
        let next = if before.in_front_matter { Language::Markdown } else { Language::Yaml };
        if let Some(parse) = next.new_parser(set) {
            let after = LineState { parse, scopes: ScopeStack::new(), in_front_matter: !before.in_front_matter };
            return (whole(TokenStyle::Markup), Arc::new(after));
        }
    }
    let mut after = (*before).clone();
    let Ok(ops) = after.parse.parse_line(line, set) else { return (whole(TokenStyle::Plain), before) };
    let mut spans: Vec<Span> = Vec::new();
    let mut push = |end: usize, style: TokenStyle| match spans.last_mut() {
        Some(last) if last.1 == style => last.0 = end as u32,
        _ => spans.push((end as u32, style)),
    };
    let mut at = 0;
    for (until, op) in ops {
        if until > at {
            push(until, style_for_scopes(&after.scopes));
            at = until;
        }
        if after.scopes.apply(&op).is_err() {
            return (whole(TokenStyle::Plain), before);
        }
    }
    if at < line.len() {
        push(line.len(), style_for_scopes(&after.scopes));
    }
    let after = if after == *before { before } else { Arc::new(after) };
    (spans, after)
}

/// A number of lines, and their size in bytes.
struct Extent {
    lines: usize,
    bytes: usize,
}

/// Returns the common lines at the start of two texts.
fn common_lines<'a>(lines: impl Iterator<Item = &'a Line>, old: &str, new: &str) -> Extent {
    let same = common_prefix(old.as_bytes(), new.as_bytes());
    let mut extent = Extent { lines: 0, bytes: 0 };
    for line in lines {
        let end = extent.bytes + line.bytes;
        // A last line without a line break may have grown.
        if end > same || !old[..end].ends_with('\n') {
            break;
        }
        extent = Extent { lines: extent.lines + 1, bytes: end };
    }
    extent
}

/// Returns the common lines at the end of two texts.
fn common_end(lines: &[Line], old: &str, new: &str) -> Extent {
    let same = common_suffix(old.as_bytes(), new.as_bytes());
    let mut extent = Extent { lines: 0, bytes: 0 };
    for line in lines.iter().rev() {
        let bytes = extent.bytes + line.bytes;
        // A line must start there in both texts.
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

    fn set_text(highlights: &mut Highlights, text: &str) -> usize {
        highlights.set_text(&Arc::new(text.to_owned()));
        let mut frames = 1;
        while highlights.advance(grammars_now()) {
            frames += 1;
        }
        frames
    }

    fn highlighted(language: Language, text: &str) -> Vec<(String, TokenStyle)> {
        let mut highlights = Highlights::of(Some(language));
        set_text(&mut highlights, text);
        let mut at = 0;
        let spans = highlights.spans(0, text.len()).into_iter();
        spans.map(|(end, style)| (text[std::mem::replace(&mut at, end)..end].to_owned(), style)).collect()
    }

    fn has(spans: &[(String, TokenStyle)], text: &str, style: TokenStyle) {
        assert!(
            spans.iter().any(|(span, of)| span.contains(text) && *of == style),
            "{text:?} is no {style:?}: {spans:?}"
        );
    }

    #[test]
    fn every_style_has_enough_contrast_in_both_themes() {
        for theme in [LIGHT, DARK] {
            for style in TokenStyle::ALL {
                let contrast = contrast(style.colour(&theme), theme.card);
                assert!(contrast >= 4.5, "{style:?}, dark={}: {contrast:.2}", theme.dark);
            }
        }
    }

    #[test]
    fn markdown_has_front_matter_in_yaml() {
        let spans = highlighted(Language::Markdown, "---\nname: Ada # her\n---\n# Title\nSome `code` and **more**.\n");
        has(&spans, "name", TokenStyle::Key);
        has(&spans, "# her", TokenStyle::Comment);
        has(&spans, "Title", TokenStyle::Heading);
        has(&spans, "code", TokenStyle::Code);
        has(&spans, "more", TokenStyle::Strong);
    }

    #[test]
    fn every_language_is_highlighted() {
        let spans = highlighted(Language::Yaml, "name: \"x\"\nlist: [1, 2]\n");
        has(&spans, "name", TokenStyle::Key);
        has(&spans, "x", TokenStyle::String);
        has(&spans, "2", TokenStyle::Number);
        let spans = highlighted(Language::TypeScript, "export const a: number = 1; // why\n");
        has(&spans, "export", TokenStyle::Keyword);
        has(&spans, "// why", TokenStyle::Comment);
        let spans = highlighted(Language::Json, "{\"a\": \"b\", \"c\": 1}\n");
        has(&spans, "a", TokenStyle::Key);
        has(&spans, "b", TokenStyle::String);
    }

    #[test]
    fn a_change_is_parsed_only_as_far_as_it_has_an_effect() {
        let mut highlights = Highlights::of(Some(Language::Yaml));
        let long: String = (0..1_500).map(|line| format!("key{line}: value of this line\n")).collect();
        assert!(set_text(&mut highlights, &long) > 5, "a long text takes many frames");
        let before = highlights.generation();
        let changed = long.replacen("value of this line", "other", 1);
        assert_eq!(set_text(&mut highlights, &changed), 1);
        assert!(highlights.generation() > before);
        let colours = highlights.spans(0, changed.len());
        let mut fresh = Highlights::of(Some(Language::Yaml));
        set_text(&mut fresh, &changed);
        assert_eq!(colours, fresh.spans(0, changed.len()));
    }

    #[test]
    fn large_or_unknown_texts_stay_plain_with_a_reason() {
        let mut highlights = Highlights::of(Some(Language::TypeScript));
        let large = "const a = 1;\n".repeat(10_000);
        set_text(&mut highlights, &large);
        assert!(highlights.spans(0, large.len()).is_empty());
        assert!(highlights.plain_reason(&large).is_some_and(|why| why.contains("64.0 KiB")));
        assert_eq!(Highlights::of(None).plain_reason(&large), None);
        let long = format!("a: {}\n", "x".repeat(5_000));
        assert_eq!(highlighted(Language::Yaml, &long), [(long, TokenStyle::Plain)]);
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
        fn incremental_highlighting_equals_highlighting_from_scratch(texts in proptest::collection::vec(part(), 1..5)) {
            let mut highlights = Highlights::of(Some(Language::Markdown));
            for (number, text) in texts.iter().enumerate() {
                highlights.set_text(&Arc::new(text.clone()));
                // Set every other text before the previous one is fully highlighted.
                if number % 2 == 1 {
                    while highlights.advance(grammars_now()) {}
                }
            }
            while highlights.advance(grammars_now()) {}
            let last = texts.last().expect("there should be one");
            let mut fresh = Highlights::of(Some(Language::Markdown));
            fresh.set_text(&Arc::new(last.clone()));
            while fresh.advance(grammars_now()) {}
            prop_assert_eq!(highlights.spans(0, last.len()), fresh.spans(0, last.len()));
        }
    }
}
