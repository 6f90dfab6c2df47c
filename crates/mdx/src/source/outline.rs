//! The Markdown outline of a text: headings, list entries and code, each with its position.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::ByteRange;
use crate::text::fence::Fence;

/// The blocks of a text that are relevant to a document, each in text order.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) headings: Vec<Heading>,
    /// The list entries that are not nested in another entry.
    pub(crate) items: Vec<ByteRange>,
    pub(crate) code_blocks: Vec<CodeBlock>,
    /// The ranges in which text does not count as a tag: inline code, comments, block quotes, code blocks.
    pub(crate) shown: Vec<ByteRange>,
    /// The comments, which no model reads.
    pub(crate) comments: Vec<ByteRange>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Heading {
    /// The level, from 1 to 6.
    pub(crate) level: usize,
    pub(crate) text: String,
    pub(crate) range: ByteRange,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CodeBlock {
    /// The text after the opening fence; `None` for an indented block.
    pub(crate) language: Option<String>,
    pub(crate) text: String,
    pub(crate) range: ByteRange,
    /// The code without its fences.
    pub(crate) content: ByteRange,
    /// Whether a closing fence ends it.
    pub(crate) is_closed: bool,
}

/// Parses a part of the text. Tags are hidden in `masked`, and MDX comments are passed in as well.
pub(crate) fn read(text: &str, masked: &str, part: ByteRange, mdx_comments: Vec<ByteRange>) -> Outline {
    let mut reader =
        Reader { text, masked, outline: Outline::default(), quotes: 0, items: 0, heading: None, code: None };
    for (event, range) in Parser::new_ext(&masked[part.clone()], Options::empty()).into_offset_iter() {
        reader.event(event, range.start + part.start..range.end + part.start);
    }
    let mut outline = reader.outline;
    outline.shown.extend(mdx_comments.iter().cloned());
    outline.comments.extend(mdx_comments);
    outline.shown.sort_by_key(|range| range.start);
    outline.comments.sort_by_key(|range| range.start);
    outline
}

/// Returns the text of the first non-empty heading of level 1, outside of block quotes and lists: the title of a text.
pub fn first_heading(text: &str) -> Option<String> {
    let headings = read(text, text, 0..text.len(), Vec::new()).headings.into_iter();
    headings.filter(|heading| heading.level == 1).map(|heading| heading.text).find(|text| !text.trim().is_empty())
}

/// Whether a byte offset is in one of these ranges, which are sorted by their starts. Few ranges are nested, such as a
/// block quote and its content.
pub(crate) fn is_in(ranges: &[ByteRange], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    ranges[..before].iter().rev().take(64).any(|range| range.contains(&at))
}

struct Reader<'a> {
    /// The original text. Code is taken from here, because tags in it must not be masked.
    text: &'a str,
    masked: &'a str,
    outline: Outline,
    quotes: usize,
    items: usize,
    heading: Option<Heading>,
    code: Option<CodeBlock>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: ByteRange) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if self.quotes == 0 && self.items == 0 => {
                self.heading = Some(Heading { level: level as usize, text: String::new(), range });
            }
            Event::End(TagEnd::Heading(_)) => self.outline.headings.extend(self.heading.take()),
            Event::Start(Tag::BlockQuote(_)) => {
                if self.quotes == 0 {
                    self.outline.shown.push(range);
                }
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => self.quotes = self.quotes.saturating_sub(1),
            Event::Start(Tag::Item) => {
                if self.items == 0 && self.quotes == 0 {
                    self.outline.items.push(range);
                }
                self.items += 1;
            }
            Event::End(TagEnd::Item) => self.items = self.items.saturating_sub(1),
            Event::Start(Tag::CodeBlock(kind)) => self.begin_code(kind, range),
            Event::End(TagEnd::CodeBlock) => self.end_code(),
            Event::Start(Tag::HtmlBlock) => self.comment(range),
            Event::InlineHtml(_) => self.comment(range),
            Event::Code(code) => {
                if let Some(heading) = &mut self.heading {
                    heading.text.push_str(&code);
                }
                self.outline.shown.push(range);
            }
            Event::Text(text) => self.text(&text, range),
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut self.heading {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, range: ByteRange) {
        if let Some(code) = &mut self.code {
            if code.text.is_empty() {
                code.content = range.clone();
            }
            code.content.end = range.end;
            let is_as_written = self.masked[range.clone()] == *text;
            code.text.push_str(if is_as_written { &self.text[range] } else { text });
        } else if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        }
    }

    fn comment(&mut self, range: ByteRange) {
        if self.masked[range.clone()].trim_start().starts_with("<!--") {
            let end = self.masked[range.clone()].rfind("-->").map_or(range.end, |end| range.start + end + 3);
            self.outline.comments.push(range.start..end);
            self.outline.shown.push(range.start..end);
        }
    }

    fn begin_code(&mut self, kind: CodeBlockKind<'_>, range: ByteRange) {
        let language = match kind {
            CodeBlockKind::Fenced(info) => Some(info.trim().to_owned()),
            CodeBlockKind::Indented => None,
        };
        self.outline.shown.push(range.clone());
        let is_closed = language.is_none() || self.has_closing_fence(&range);
        self.code = Some(CodeBlock { language, text: String::new(), content: range.end..range.end, range, is_closed });
    }

    /// Whether the last line of a block is a fence like its first.
    fn has_closing_fence(&self, range: &ByteRange) -> bool {
        let block = self.masked[range.clone()].trim_end();
        let Some(fence) = block.lines().next().and_then(Fence::opening) else { return false };
        let Some((_, last)) = block.rsplit_once(['\n', '\r']) else { return false };
        fence.is_closed_by(last.trim_start_matches([' ', '\t', '>']))
    }

    /// Ends a code block. Code in a block quote is an example, and is ignored.
    fn end_code(&mut self) {
        if let Some(mut code) = self.code.take().filter(|_| self.quotes == 0) {
            code.text = code.text.replace("\r\n", "\n");
            self.outline.code_blocks.push(code);
        }
    }
}
