//! Finds and pairs the brackets in a reply that could open or close a marker, and its quotation marks.
//!
//! Code (fenced or inline) and quoted lines (`> …`) are skipped, because markers in them are only examples. The time is
//! linear in the length of the reply.

use std::collections::HashMap;

use crate::text::fence::CodeLines;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `[`
    Open,
    /// `]`
    Close,
    /// A `]` that more likely belongs to a smiley or to an interval: `:]`, `(0, 1]`.
    SoftClose,
    /// A quotation mark that opens or closes a quotation.
    Quote,
    /// The end of a line.
    LineEnd,
    /// The end of a line before a blank line, code or a quoted line.
    ParagraphEnd,
}

/// A token and its byte position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: Kind,
    /// For an opening bracket or quotation mark, the token that closes it; for a closing one, the token that opens it.
    /// `None` if it has no partner.
    pub(super) partner: Option<usize>,
}

/// Kinds of quotation marks; a mark is closed by one of the same kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Curly,
    Angle,
    Straight,
}

/// Returns the tokens of a reply, in order, with their partners.
pub(super) fn tokens(reply: &str) -> Vec<Token> {
    let (mut tokens, marks) = Scan::new(reply).run();
    pair_quotes(&mut tokens, &marks);
    pair_brackets(&mut tokens);
    tokens
}

fn pair_brackets(tokens: &mut [Token]) {
    let mut open: Vec<usize> = Vec::new();
    for index in 0..tokens.len() {
        match tokens[index].kind {
            Kind::Open => open.push(index),
            Kind::Close => {
                if let Some(opened) = open.pop() {
                    tokens[opened].partner = Some(index);
                    tokens[index].partner = Some(opened);
                }
            }
            _ => {}
        }
    }
}

/// Quotation marks: token index, kind, and whether the mark can open and close a quotation.
type Marks = Vec<(usize, Mark, bool, bool)>;

/// Pairs each opening quotation mark with the next closing one in its paragraph, a straight one in its line.
fn pair_quotes(tokens: &mut [Token], marks: &Marks) {
    let mut next: [Option<usize>; 3] = [None; 3];
    let mut marks = marks.iter().rev().peekable();
    for index in (0..tokens.len()).rev() {
        match tokens[index].kind {
            Kind::ParagraphEnd => next = [None; 3],
            Kind::LineEnd => next[Mark::Straight as usize] = None,
            Kind::Quote => {
                let Some((_, mark, opens, closes)) = marks.next_if(|(of, ..)| *of == index) else { continue };
                if *opens {
                    tokens[index].partner = next[*mark as usize];
                }
                if *closes {
                    next[*mark as usize] = Some(index);
                }
            }
            _ => {}
        }
    }
}

/// Returns the byte ranges of fenced code and quoted lines.
fn literal_lines(reply: &str) -> Vec<(usize, usize)> {
    let mut literal: Vec<(usize, usize)> = Vec::new();
    let mut code = CodeLines::default();
    let mut start = 0;
    for line in reply.split_inclusive('\n') {
        let end = start + line.len();
        let is_literal = code.is_code(line) || line.trim_start().starts_with('>');
        match literal.last_mut() {
            Some((_, before)) if is_literal && *before == start => *before = end,
            _ if is_literal => literal.push((start, end)),
            _ => {}
        }
        start = end;
    }
    literal
}

/// Returns the code spans outside literal lines: from the start of a run of backticks to the end of the next run of the
/// same length in its paragraph.
fn code_spans(reply: &str, literal: &[(usize, usize)]) -> HashMap<usize, usize> {
    let bytes = reply.as_bytes();
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    let (mut at, mut paragraph) = (0, 0);
    let mut literal = literal.iter().peekable();
    while at < bytes.len() {
        if let Some((_, end)) = literal.next_if(|(start, _)| *start == at) {
            paragraph += 1;
            at = *end;
            continue;
        }
        match bytes[at] {
            b'`' => {
                let long = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                runs.push((at, long, paragraph));
                at += long;
            }
            b'\n' if is_blank_next(bytes, at) => {
                paragraph += 1;
                at += 1;
            }
            _ => at += 1,
        }
    }
    let mut next: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut spans = HashMap::new();
    for (at, long, paragraph) in runs.into_iter().rev() {
        if let Some((close, _)) = next.get(&long).filter(|(_, of)| *of == paragraph) {
            spans.insert(at, close + long);
        }
        next.insert(long, (at, paragraph));
    }
    spans
}

/// Whether the line after a line end is blank or missing.
fn is_blank_next(bytes: &[u8], line_end: usize) -> bool {
    let rest = &bytes[line_end + 1..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    matches!(rest.get(blanks), None | Some(b'\n'))
}

struct Scan<'r> {
    reply: &'r str,
    literal: Vec<(usize, usize)>,
    spans: HashMap<usize, usize>,
    tokens: Vec<Token>,
    marks: Marks,
}

impl<'r> Scan<'r> {
    fn new(reply: &'r str) -> Self {
        let literal = literal_lines(reply);
        let spans = if reply.contains('`') { code_spans(reply, &literal) } else { HashMap::new() };
        Self { reply, literal, spans, tokens: Vec::new(), marks: Vec::new() }
    }

    fn push(&mut self, at: usize, kind: Kind) {
        self.tokens.push(Token { at, kind, partner: None });
    }

    fn mark(&mut self, at: usize, mark: Mark, opens: bool, closes: bool) {
        if opens || closes {
            self.marks.push((self.tokens.len(), mark, opens, closes));
            self.push(at, Kind::Quote);
        }
    }

    fn run(mut self) -> (Vec<Token>, Marks) {
        let bytes = self.reply.as_bytes();
        let literal = std::mem::take(&mut self.literal);
        let mut literal = literal.iter().peekable();
        let mut at = 0;
        while at < bytes.len() {
            if let Some((start, end)) = literal.next_if(|(start, _)| *start == at) {
                self.push(*start, Kind::ParagraphEnd);
                at = *end;
                continue;
            }
            match bytes[at] {
                b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
                b'`' => match self.spans.get(&at) {
                    Some(end) => at = end - 1,
                    None => at += bytes[at..].iter().take_while(|byte| **byte == b'`').count() - 1,
                },
                b'\n' => {
                    let kind = if is_blank_next(bytes, at) { Kind::ParagraphEnd } else { Kind::LineEnd };
                    self.push(at, kind);
                }
                b'[' if bytes.get(at + 1) != Some(&b':') && !opens_interval(bytes, at) => self.push(at, Kind::Open),
                b']' => {
                    let is_soft = ends_smiley(bytes, at) || closes_interval(bytes, at);
                    self.push(at, if is_soft { Kind::SoftClose } else { Kind::Close });
                }
                b'"' => {
                    let (before, after) = (bytes[..at].last(), bytes.get(at + 1));
                    let opens = before.is_none_or(|byte| byte.is_ascii_whitespace() || b"([{".contains(byte))
                        && after.is_some_and(|byte| !byte.is_ascii_whitespace());
                    let closes = before.is_some_and(|byte| !byte.is_ascii_whitespace())
                        && after.is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_punctuation());
                    self.mark(at, Mark::Straight, opens, closes);
                }
                // In some languages “ closes a quotation that „ opens.
                0xE2 if bytes[at..].starts_with("“".as_bytes()) => self.mark(at, Mark::Curly, true, true),
                0xE2 if bytes[at..].starts_with("„".as_bytes()) => self.mark(at, Mark::Curly, true, false),
                0xE2 if bytes[at..].starts_with("”".as_bytes()) => self.mark(at, Mark::Curly, false, true),
                0xC2 if bytes[at..].starts_with("«".as_bytes()) => self.mark(at, Mark::Angle, true, false),
                0xC2 if bytes[at..].starts_with("»".as_bytes()) => self.mark(at, Mark::Angle, false, true),
                _ => {}
            }
            at += 1;
        }
        (self.tokens, self.marks)
    }
}

/// The maximum length of an interval in bytes.
const INTERVAL_BYTES: usize = 40;
/// The maximum length of a name in an interval, in bytes.
const NAME_BYTES: usize = 3;

/// Whether the bracket opens a half-open interval: `[0, 1)`.
fn opens_interval(bytes: &[u8], at: usize) -> bool {
    is_interval(bytes[at + 1..].iter(), b')')
}

/// Whether the bracket closes a half-open interval: `(0, 1]`.
fn closes_interval(bytes: &[u8], at: usize) -> bool {
    is_interval(bytes[..at].iter().rev(), b'(')
}

/// Whether two short values with a comma between them precede the bracket `until`.
fn is_interval<'b>(bytes: impl Iterator<Item = &'b u8>, until: u8) -> bool {
    let (mut has_comma, mut letters) = (false, 0);
    for byte in bytes.take(INTERVAL_BYTES) {
        letters = if byte.is_ascii_alphabetic() { letters + 1 } else { 0 };
        match byte {
            b',' | b';' => has_comma = true,
            byte if *byte == until => return has_comma,
            b'[' | b']' | b'(' | b')' | b'\n' | b':' => return false,
            _ if letters > NAME_BYTES => return false,
            _ => {}
        }
    }
    false
}

/// Whether the bracket ends a smiley: `:]`, `:-]`, `=]`, `;]`.
fn ends_smiley(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].strip_suffix(b"-").unwrap_or(&bytes[..at]);
    matches!(before.last(), Some(b':' | b';' | b'='))
}
