//! Renders Markdown while it streams: bold text, code and headings are styled while the answer arrives.
//!
//! Why not `pulldown-cmark`, which reads Markdown elsewhere: parsers need the whole text, because a later line can change
//! the meaning of an earlier one; here, each character is shown as soon as its style is clear. So this supports what
//! answers consist of (headings, lists, emphasis, code) and shows the rest unchanged.

/// The style of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Look {
    #[default]
    Plain,
    Strong,
    Emphasised,
    Code,
    Heading,
    /// Markup itself, such as code fences.
    Faint,
}

/// The beginning of a line is held back up to this many bytes, until its kind is clear.
const MAX_HELD_BYTES: usize = 12;

/// A streamed Markdown text.
#[derive(Default)]
pub(super) struct MarkdownStream {
    /// The beginning of a line, or a mark, that is not decided yet.
    held: String,
    line: Line,
    /// The fence of the open code block: its character and its length.
    fence: Option<(char, usize)>,
    inline: Look,
    /// The last character that was shown in this line.
    last: Option<char>,
}

/// Where in a line the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Line {
    #[default]
    Beginning,
    Text,
    Heading,
    /// A line with a code fence.
    Fence,
}

impl MarkdownStream {
    /// Adds text. Returns what can be shown now.
    pub(super) fn push(&mut self, text: &str) -> Vec<(Look, String)> {
        let mut shown = Vec::new();
        for letter in text.chars() {
            self.letter(letter, &mut shown);
        }
        shown
    }

    /// Ends the text. Returns what was held back.
    pub(super) fn end(&mut self) -> Vec<(Look, String)> {
        let mut shown = Vec::new();
        if self.line == Line::Beginning {
            self.begin_line(&mut shown);
        }
        self.resolve_mark('\n', &mut shown);
        *self = Self::default();
        shown
    }

    fn letter(&mut self, letter: char, shown: &mut Vec<(Look, String)>) {
        if letter == '\n' {
            if self.line == Line::Beginning {
                self.begin_line(shown);
            }
            self.resolve_mark('\n', shown);
            self.show(Look::Plain, "\n", shown);
            // Emphasis that does not end in its line is plain text.
            (self.line, self.inline, self.last) = (Line::Beginning, Look::Plain, None);
            return;
        }
        if self.line == Line::Beginning {
            self.held.push(letter);
            if is_decided(&self.held, self.fence) || self.held.len() >= MAX_HELD_BYTES {
                self.begin_line(shown);
            }
            return;
        }
        self.push_inline(letter, shown);
    }

    /// Shows the held beginning of a line, now that its kind is clear.
    fn begin_line(&mut self, shown: &mut Vec<(Look, String)>) {
        let held = std::mem::take(&mut self.held);
        let trimmed = held.trim_start_matches(' ');
        let indent = &held[..held.len() - trimmed.len()];
        if let Some((letter, count)) = fence_of(trimmed) {
            match self.fence {
                None => self.fence = Some((letter, count)),
                Some((open, least)) if open == letter && count >= least => self.fence = None,
                Some(_) => {
                    self.line = Line::Text;
                    return self.show(Look::Code, &held, shown);
                }
            }
            self.line = Line::Fence;
            return self.show(Look::Faint, &held, shown);
        }
        self.line = Line::Text;
        if self.fence.is_some() {
            return self.show(Look::Code, &held, shown);
        }
        if is_heading(trimmed) {
            self.line = Line::Heading;
            return self.show(Look::Faint, &held, shown);
        }
        match trimmed.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' ')) {
            Some(rest) => {
                self.show(Look::Plain, &format!("{indent}• "), shown);
                rest.chars().for_each(|letter| self.push_inline(letter, shown));
            }
            None => held.chars().for_each(|letter| self.push_inline(letter, shown)),
        }
    }

    fn push_inline(&mut self, letter: char, shown: &mut Vec<(Look, String)>) {
        if self.fence.is_some() || self.line == Line::Fence {
            return self.show(self.look(), letter.encode_utf8(&mut [0; 4]), shown);
        }
        match letter {
            '`' if self.inline == Look::Code => self.inline = Look::Plain,
            '`' => {
                self.release(shown);
                self.inline = Look::Code;
            }
            '*' if self.inline != Look::Code => {
                self.held.push('*');
                if self.held.len() > 2 {
                    self.release(shown);
                }
            }
            letter => {
                self.resolve_mark(letter, shown);
                self.show(self.look(), letter.encode_utf8(&mut [0; 4]), shown);
            }
        }
    }

    /// Decides what the held stars mean, now that the next character is known.
    fn resolve_mark(&mut self, next: char, shown: &mut Vec<(Look, String)>) {
        let wanted = match self.held.len() {
            1 => Look::Emphasised,
            2 => Look::Strong,
            _ => return,
        };
        let ends = self.inline == wanted && self.last.is_some_and(|last| !last.is_whitespace());
        let begins = self.inline == Look::Plain
            && !next.is_whitespace()
            && self.last.is_none_or(|last| !last.is_alphanumeric() || wanted == Look::Strong);
        if ends || begins {
            self.inline = if ends { Look::Plain } else { wanted };
            self.held.clear();
        } else {
            self.release(shown);
        }
    }

    /// Shows the held text unchanged.
    fn release(&mut self, shown: &mut Vec<(Look, String)>) {
        let held = std::mem::take(&mut self.held);
        self.show(self.look(), &held, shown);
    }

    fn look(&self) -> Look {
        match self.line {
            Line::Fence => Look::Faint,
            _ if self.fence.is_some() => Look::Code,
            Line::Heading if self.inline == Look::Plain => Look::Heading,
            _ => self.inline,
        }
    }

    fn show(&mut self, look: Look, text: &str, shown: &mut Vec<(Look, String)>) {
        let Some(last) = text.chars().last() else { return };
        self.last = Some(last);
        match shown.last_mut().filter(|(before, _)| *before == look) {
            Some((_, before)) => before.push_str(text),
            None => shown.push((look, text.to_owned())),
        }
    }
}

/// Whether the beginning of a line already determines its kind.
fn is_decided(held: &str, fence: Option<(char, usize)>) -> bool {
    let trimmed = held.trim_start_matches(' ');
    let Some(first) = trimmed.chars().next() else { return false };
    let run = trimmed.chars().take_while(|letter| *letter == first).count();
    let is_open = run == trimmed.chars().count();
    match first {
        '`' | '~' => !is_open,
        _ if fence.is_some() => true,
        '#' => !is_open,
        '-' | '+' | '*' => trimmed.len() > 1 && !(is_open && run < 3),
        _ => true,
    }
}

fn fence_of(trimmed: &str) -> Option<(char, usize)> {
    let letter = trimmed.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let count = trimmed.chars().take_while(|other| *other == letter).count();
    (count >= 3).then_some((letter, count))
}

fn is_heading(trimmed: &str) -> bool {
    let level = trimmed.chars().take_while(|letter| *letter == '#').count();
    (1..=6).contains(&level) && trimmed[level..].starts_with(' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Vec<(Look, String)> {
        joined(std::iter::once(text.to_owned()))
    }

    fn joined(parts: impl Iterator<Item = String>) -> Vec<(Look, String)> {
        let mut stream = MarkdownStream::default();
        let mut all: Vec<(Look, String)> = parts.flat_map(|part| stream.push(&part)).collect();
        all.extend(stream.end());
        all.into_iter().fold(Vec::new(), |mut all: Vec<(Look, String)>, (look, text)| {
            match all.last_mut().filter(|(before, _)| *before == look) {
                Some((_, before)) => before.push_str(&text),
                None => all.push((look, text)),
            }
            all
        })
    }

    fn looks(text: &str) -> Vec<(Look, &'static str)> {
        shown(text).into_iter().map(|(look, text)| (look, &*text.leak())).collect()
    }

    #[test]
    fn headings_lists_emphasis_and_code_are_styled() {
        use Look::{Code, Emphasised, Faint, Heading, Plain, Strong};
        assert_eq!(looks("It is **very** warm"), [(Plain, "It is "), (Strong, "very"), (Plain, " warm")]);
        assert_eq!(looks("**All** of **it**"), [(Strong, "All"), (Plain, " of "), (Strong, "it")]);
        assert_eq!(looks("an *odd* one"), [(Plain, "an "), (Emphasised, "odd"), (Plain, " one")]);
        assert_eq!(looks("run `cargo test` now"), [(Plain, "run "), (Code, "cargo test"), (Plain, " now")]);
        assert_eq!(looks("## Rain\nIt rains"), [(Faint, "## "), (Heading, "Rain"), (Plain, "\nIt rains")]);
        assert_eq!(looks("- one\n- *two*"), [(Plain, "• one\n• "), (Emphasised, "two")]);
        assert_eq!(
            looks("```ts\nlet a = 2 * 3;\n```\nDone"),
            [
                (Faint, "```ts"),
                (Plain, "\n"),
                (Code, "let a = 2 * 3;"),
                (Plain, "\n"),
                (Faint, "```"),
                (Plain, "\nDone")
            ]
        );
    }

    #[test]
    fn text_that_only_looks_like_markup_is_unchanged() {
        for text in ["2 * 3 * 4", "a#b", "#hashtag", "-5 degrees", "a ** b", "snake_case_name", "~ about", "***"] {
            let all: String = shown(text).into_iter().map(|(_, text)| text).collect();
            assert_eq!(all, text);
        }
        let all: String = shown("**never ended\nnext").into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, "never ended\nnext");
        assert_eq!(shown("**never ended\nnext").last().map(|(look, _)| *look), Some(Look::Plain));
    }

    proptest! {
        #[test]
        fn the_output_does_not_depend_on_the_chunks(pieces in proptest::collection::vec("[ab#*`~ \n-]{0,6}|é|漢", 0..12)) {
            let whole = shown(&pieces.concat());
            prop_assert_eq!(&joined(pieces.iter().cloned()), &whole);
            let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
            let all: String = whole.into_iter().map(|(_, text)| text).collect();
            prop_assert_eq!(letters(&all), letters(&pieces.concat()), "no letter is lost");
        }
    }
}
