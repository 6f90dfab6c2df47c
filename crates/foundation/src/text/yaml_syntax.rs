//! The structure of a YAML text: a parse tree of byte ranges, so that one value can be changed, or a line named,
//! without touching anything else. It covers what people write in scene and settings files; a text with rarer YAML
//! (complex keys, several documents) has no outline, and readers work without one. The data parser (`yaml_serde`)
//! reports no positions, and `tree-sitter-yaml` is a parser in C.

/// The maximum depth of nesting. A deeper text has no outline, and is rejected by the parsers of scenes and settings.
const MAX_DEPTH: usize = 64;

/// A value and its position in the text.
#[derive(Clone, PartialEq, Debug)]
pub struct YamlNode {
    /// The first byte of the value, including its anchor or tag.
    pub start: usize,
    /// The end of the value, excluding trailing spaces, comments and the line break.
    pub end: usize,
    /// The structure of the value.
    pub shape: YamlShape,
}

/// The structure of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum YamlShape {
    /// No value.
    Absent,
    /// A scalar or an alias.
    Scalar,
    /// A mapping.
    Map {
        /// Whether it is in flow style (in braces).
        flow: bool,
        /// The keys and values, in order.
        pairs: Vec<YamlPair>,
    },
    /// A list.
    Seq {
        /// Whether it is in flow style (in brackets).
        flow: bool,
        /// The entries, in order.
        items: Vec<YamlItem>,
    },
}

/// A key and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct YamlPair {
    /// The key, without quotes.
    pub key: String,
    /// The first byte of the key.
    pub start: usize,
    /// The value.
    pub value: YamlNode,
}

/// An entry of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct YamlItem {
    /// The first byte of the dash, or of the value in flow style.
    pub start: usize,
    /// The value.
    pub value: YamlNode,
}

/// Why a text has no outline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YamlSyntaxError {
    /// The nesting is too deep.
    TooDeep,
    /// It uses YAML that the outline does not support, or is not YAML.
    Unknown,
}

/// Parses the outline of a text.
pub fn parse_syntax(text: &str) -> Result<YamlNode, YamlSyntaxError> {
    let mut scan = Scan { bytes: text.as_bytes(), text, at: 0, depth: 0, origin: 0 };
    if text.starts_with('\u{feff}') {
        scan.at = 3;
        scan.origin = 3;
    }
    scan.skip_blank_lines();
    if scan.rest().starts_with("---") && scan.column() == 0 {
        scan.at += 3;
        scan.skip_blank_lines();
    }
    let root = scan.block(-1)?;
    scan.skip_blank_lines();
    if scan.at < text.len() {
        return Err(YamlSyntaxError::Unknown);
    }
    Ok(root)
}

impl YamlNode {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.pairs().iter().find(|pair| pair.key == key).map(|pair| &pair.value)
    }

    /// Returns the pairs of a mapping; empty for other values.
    pub fn pairs(&self) -> &[YamlPair] {
        match &self.shape {
            YamlShape::Map { pairs, .. } => pairs,
            _ => &[],
        }
    }

    /// Returns the entries of a list; empty for other values.
    pub fn items(&self) -> &[YamlItem] {
        match &self.shape {
            YamlShape::Seq { items, .. } => items,
            _ => &[],
        }
    }
}

/// Returns the line of a byte offset, counted from 1.
pub fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes()[..byte.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the line of a key, given the keys that lead to it from the top of the text.
pub fn line_of_key(text: &str, path: &[&str]) -> Option<usize> {
    let root = parse_syntax(text).ok()?;
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(&root, |node, key| node.get(key))?;
    let pair = parent.pairs().iter().find(|pair| pair.key == *last)?;
    Some(line_of(text, pair.start))
}

struct Scan<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    depth: usize,
    /// The start of the first line, after a byte order mark.
    origin: usize,
}

type Found<T> = Result<T, YamlSyntaxError>;

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Returns the distance of the current byte from the start of its line.
    fn column(&self) -> isize {
        let line = self.bytes[..self.at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        (self.at - line.max(if line == 0 { self.origin } else { 0 })) as isize
    }

    fn skip_blanks(&mut self) {
        while !self.done() && matches!(self.peek(0), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while !self.done() && self.peek(0) != b'\n' {
            self.at += 1;
        }
    }

    fn at_comment(&self) -> bool {
        self.peek(0) == b'#'
            && (self.at == self.origin || matches!(self.bytes[self.at - 1], b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Skips white space and comments.
    fn skip_blank_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.done() {
                return;
            }
            if self.at_comment() {
                self.skip_line();
            } else if self.peek(0) == b'\n' {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Found<T>) -> Found<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(YamlSyntaxError::TooDeep);
        }
        let found = inner(self);
        self.depth -= 1;
        found
    }

    fn is_dash(&self) -> bool {
        self.peek(0) == b'-' && !self.done() && matches!(self.peek(1), b' ' | b'\t' | b'\n' | b'\r')
    }

    /// Parses the block value that starts here or on a later line, indented more than `parent`.
    fn block(&mut self, parent: isize) -> Found<YamlNode> {
        let before = self.at;
        self.skip_blank_lines();
        let column = self.column();
        if self.done() || column <= parent {
            self.at = before;
            return Ok(YamlNode { start: before, end: before, shape: YamlShape::Absent });
        }
        if column == 0 && (self.rest().starts_with("---") || self.rest().starts_with("...")) {
            return Err(YamlSyntaxError::Unknown);
        }
        self.deeper(
            |scan| if scan.is_dash() { scan.block_list(column) } else { scan.block_map_or_scalar(column, parent) },
        )
    }

    fn block_list(&mut self, column: isize) -> Found<YamlNode> {
        let start = self.at;
        let mut items = Vec::new();
        let mut end = self.at;
        loop {
            let dash = self.at;
            self.at += 1;
            let value = self.value_after(column, column)?;
            end = end.max(dash + 1).max(if value.shape == YamlShape::Absent { 0 } else { value.end });
            items.push(YamlItem { start: dash, value });
            self.at = end;
            self.skip_blank_lines();
            if self.done() || self.column() != column || !self.is_dash() {
                self.at = end;
                return Ok(YamlNode { start, end, shape: YamlShape::Seq { flow: false, items } });
            }
        }
    }

    /// Parses the value after a dash or a colon: on this line, or on following lines that are indented more than
    /// `parent`.
    fn value_after(&mut self, parent: isize, list_parent: isize) -> Found<YamlNode> {
        let absent = YamlNode { start: self.at, end: self.at, shape: YamlShape::Absent };
        self.skip_blanks();
        let start = self.at;
        let with_properties = self.skip_properties();
        if self.done() || self.peek(0) == b'\n' || self.at_comment() {
            let empty = self.at;
            let mut value = self.next_lines(parent, list_parent)?;
            if with_properties {
                if value.shape == YamlShape::Absent {
                    return Ok(YamlNode { start, end: trim_end(self.bytes, start, empty), shape: YamlShape::Scalar });
                }
                value.start = start;
            } else if value.shape == YamlShape::Absent {
                return Ok(absent);
            }
            return Ok(value);
        }
        let column = self.column();
        let mut value = if list_parent == parent {
            // A dash may be followed by a mapping or another list on the same line.
            self.deeper(|scan| {
                if scan.is_dash() { scan.block_list(column) } else { scan.block_map_or_scalar(column, parent) }
            })?
        } else {
            self.scalar_or_flow(parent)?
        };
        value.start = start;
        Ok(value)
    }

    fn next_lines(&mut self, parent: isize, list_parent: isize) -> Found<YamlNode> {
        let before = self.at;
        self.skip_blank_lines();
        let column = self.column();
        if !self.done() && column > list_parent && column <= parent && self.is_dash() {
            return self.deeper(|scan| scan.block_list(column));
        }
        self.at = before;
        self.block(parent)
    }

    fn skip_properties(&mut self) -> bool {
        let mut any = false;
        while matches!(self.peek(0), b'&' | b'!') && !self.done() {
            while !self.done() && !self.peek(0).is_ascii_whitespace() {
                self.at += 1;
            }
            self.skip_blanks();
            any = true;
        }
        any
    }

    fn block_map_or_scalar(&mut self, column: isize, parent: isize) -> Found<YamlNode> {
        let start = self.at;
        if self.peek(0) == b'?' && matches!(self.peek(1), b' ' | b'\n') {
            return Err(YamlSyntaxError::Unknown);
        }
        let is_map = self.key_here()?.is_some();
        self.at = start;
        if !is_map {
            return self.scalar_or_flow(parent);
        }
        let mut pairs = Vec::new();
        let mut end;
        loop {
            let key_start = self.at;
            let Some(key) = self.key_here()? else { return Err(YamlSyntaxError::Unknown) };
            let colon = self.at;
            // A list may have the same indentation as its key.
            let value = self.value_after(column, column - 1)?;
            end = if value.shape == YamlShape::Absent { colon } else { value.end };
            pairs.push(YamlPair { key, start: key_start, value });
            self.at = end;
            self.skip_blank_lines();
            if self.done() || self.column() != column {
                self.at = end;
                return Ok(YamlNode { start, end, shape: YamlShape::Map { flow: false, pairs } });
            }
            if self.is_dash() {
                return Err(YamlSyntaxError::Unknown);
            }
        }
    }

    /// Parses a key and its colon on this line. `None` if there is no key here.
    fn key_here(&mut self) -> Found<Option<String>> {
        let start = self.at;
        match self.peek(0) {
            quote @ (b'"' | b'\'') => {
                let line_end = self.rest().find('\n').map_or(self.bytes.len(), |length| start + length);
                self.quoted(quote)?;
                let key = self.text[start + 1..self.at - 1].to_owned();
                self.skip_blanks();
                if self.at > line_end || self.done() || self.peek(0) != b':' {
                    self.at = start;
                    return Ok(None);
                }
                self.at += 1;
                if key.contains(['\\', '\'']) { Err(YamlSyntaxError::Unknown) } else { Ok(Some(key)) }
            }
            b'{' | b'[' | b'|' | b'>' | b'*' | b'&' | b'!' | b'%' | b'@' | b'`' => Ok(None),
            _ => {
                while !self.done() && self.peek(0) != b'\n' && !self.at_comment() {
                    if self.peek(0) == b':' && matches!(self.peek(1), b' ' | b'\t' | b'\n' | b'\r') {
                        let key = self.text[start..self.at].trim_end().to_owned();
                        self.at += 1;
                        return Ok(Some(key));
                    }
                    self.at += 1;
                }
                self.at = start;
                Ok(None)
            }
        }
    }

    fn scalar_or_flow(&mut self, parent: isize) -> Found<YamlNode> {
        let start = self.at;
        let node = match self.peek(0) {
            b'{' | b'[' => self.flow()?,
            b'|' | b'>' => return self.block_text(parent),
            quote @ (b'"' | b'\'') => {
                self.quoted(quote)?;
                YamlNode { start, end: self.at, shape: YamlShape::Scalar }
            }
            _ => return Ok(self.plain_lines(parent)),
        };
        self.skip_blanks();
        if self.done() || self.peek(0) == b'\n' || self.at_comment() { Ok(node) } else { Err(YamlSyntaxError::Unknown) }
    }

    fn quoted(&mut self, quote: u8) -> Found<()> {
        self.at += 1;
        while !self.done() {
            match self.peek(0) {
                b'\\' if quote == b'"' => self.at += 2,
                byte if byte == quote => {
                    self.at += 1;
                    if quote == b'"' || self.peek(0) != b'\'' || self.done() {
                        return Ok(());
                    }
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        Err(YamlSyntaxError::Unknown)
    }

    /// Parses a plain scalar, which may continue on lines that are indented more than `parent`.
    fn plain_lines(&mut self, parent: isize) -> YamlNode {
        let start = self.at;
        let mut end = self.plain_line();
        loop {
            let before = self.at;
            if self.at_comment() {
                break;
            }
            while !self.done() && self.peek(0).is_ascii_whitespace() {
                self.at += 1;
            }
            if self.done() || self.column() <= parent || self.at_comment() {
                self.at = before;
                break;
            }
            end = self.plain_line();
        }
        self.at = end;
        YamlNode { start, end, shape: YamlShape::Scalar }
    }

    fn plain_line(&mut self) -> usize {
        let start = self.at;
        while !self.done() && self.peek(0) != b'\n' && !self.at_comment() {
            self.at += 1;
        }
        trim_end(self.bytes, start, self.at)
    }

    /// Parses a block scalar after `|` or `>`: all lines that are indented more than `parent`, and blank lines between
    /// them.
    fn block_text(&mut self, parent: isize) -> Found<YamlNode> {
        let start = self.at;
        let header = self.at;
        self.skip_line();
        let mut end = trim_end(self.bytes, header, self.at);
        while !self.done() {
            let line = self.at + 1;
            self.at = line;
            while self.peek(0) == b' ' && !self.done() {
                self.at += 1;
            }
            let column = (self.at - line) as isize;
            let blank = self.done() || matches!(self.peek(0), b'\n' | b'\r');
            if !blank && column <= parent {
                break;
            }
            self.skip_line();
            if !blank {
                end = self.at;
                if self.bytes[end - 1] == b'\r' {
                    end -= 1;
                }
            }
        }
        self.at = end;
        Ok(YamlNode { start, end, shape: YamlShape::Scalar })
    }

    fn flow(&mut self) -> Found<YamlNode> {
        let start = self.at;
        let braces = self.peek(0) == b'{';
        self.at += 1;
        self.deeper(|scan| if braces { scan.flow_map(start) } else { scan.flow_list(start) })
    }

    fn flow_map(&mut self, start: usize) -> Found<YamlNode> {
        let mut pairs = Vec::new();
        loop {
            self.skip_blank_lines();
            if self.done() {
                return Err(YamlSyntaxError::Unknown);
            }
            if self.peek(0) == b'}' {
                self.at += 1;
                return Ok(YamlNode { start, end: self.at, shape: YamlShape::Map { flow: true, pairs } });
            }
            let key_start = self.at;
            let key_node = self.flow_value()?;
            if key_node.shape != YamlShape::Scalar {
                return Err(YamlSyntaxError::Unknown);
            }
            let written = &self.text[key_start..key_node.end];
            let key = written.trim_matches(['"', '\'']).to_owned();
            if key.contains(['\\', '\'']) {
                return Err(YamlSyntaxError::Unknown);
            }
            self.skip_blank_lines();
            let mut value = YamlNode { start: key_node.end, end: key_node.end, shape: YamlShape::Absent };
            if self.peek(0) == b':' {
                self.at += 1;
                value = YamlNode { start: self.at, end: self.at, shape: YamlShape::Absent };
                self.skip_blank_lines();
                if !matches!(self.peek(0), b',' | b'}') {
                    value = self.flow_value()?;
                }
            }
            pairs.push(YamlPair { key, start: key_start, value });
            self.comma_or(b'}')?;
        }
    }

    fn flow_list(&mut self, start: usize) -> Found<YamlNode> {
        let mut items = Vec::new();
        loop {
            self.skip_blank_lines();
            if self.done() {
                return Err(YamlSyntaxError::Unknown);
            }
            if self.peek(0) == b']' {
                self.at += 1;
                return Ok(YamlNode { start, end: self.at, shape: YamlShape::Seq { flow: true, items } });
            }
            let value = self.flow_value()?;
            items.push(YamlItem { start: value.start, value });
            self.comma_or(b']')?;
        }
    }

    fn comma_or(&mut self, close: u8) -> Found<()> {
        self.skip_blank_lines();
        match self.peek(0) {
            b',' if !self.done() => {
                self.at += 1;
                Ok(())
            }
            byte if byte == close => Ok(()),
            _ => Err(YamlSyntaxError::Unknown),
        }
    }

    fn flow_value(&mut self) -> Found<YamlNode> {
        let start = self.at;
        self.skip_properties();
        self.skip_blank_lines();
        let mut node = match self.peek(0) {
            b'{' | b'[' => self.flow()?,
            quote @ (b'"' | b'\'') => {
                self.quoted(quote)?;
                YamlNode { start, end: self.at, shape: YamlShape::Scalar }
            }
            _ => {
                while !self.done() && !self.at_comment() {
                    match self.peek(0) {
                        b',' | b'{' | b'}' | b'[' | b']' => break,
                        b':' if matches!(
                            self.peek(1),
                            b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']' | b'{' | b'['
                        ) =>
                        {
                            break;
                        }
                        _ => self.at += 1,
                    }
                }
                let end = trim_end(self.bytes, start, self.at);
                if end == start {
                    return Err(YamlSyntaxError::Unknown);
                }
                YamlNode { start, end, shape: YamlShape::Scalar }
            }
        };
        node.start = start;
        Ok(node)
    }
}

fn trim_end(bytes: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && bytes[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice<'a>(text: &'a str, path: &[&str]) -> &'a str {
        let root = parse_syntax(text).expect("the text has an outline");
        let node = path.iter().fold(&root, |node, key| match key.parse::<usize>() {
            Ok(index) => &node.items()[index].value,
            Err(_) => node.get(key).expect("the key is there"),
        });
        &text[node.start..node.end]
    }

    #[test]
    fn finds_values_in_every_style() {
        let text = "\u{feff}# top\nname: Studio # why\nlist:\n- { id: a, text: \"x, y: } #\", p: [0, -2.5] }\n- id: 'b'\n  \
                    note: |\n    one\n\n    two # not a comment\n  more: plain\n    goes on\n# end\nempty:\nlast: { }\n";
        assert_eq!(slice(text, &["name"]), "Studio");
        assert_eq!(slice(text, &["list", "0", "text"]), "\"x, y: } #\"");
        assert_eq!(slice(text, &["list", "0", "p", "1"]), "-2.5");
        assert_eq!(slice(text, &["list", "1", "note"]), "|\n    one\n\n    two # not a comment");
        assert_eq!(slice(text, &["list", "1", "more"]), "plain\n    goes on");
        assert_eq!(slice(text, &["empty"]), "");
        assert_eq!(line_of_key(text, &["last"]), Some(14));
    }

    #[test]
    fn windows_line_breaks_are_not_part_of_values() {
        let text = "a: 1\r\nb:\r\n  - x\r\n  - |\r\n    t\r\nc: \"q\"\r\n";
        assert_eq!(slice(text, &["a"]), "1");
        assert_eq!(slice(text, &["b", "0"]), "x");
        assert_eq!(slice(text, &["b", "1"]), "|\r\n    t");
        assert_eq!(slice(text, &["c"]), "\"q\"");
    }

    #[test]
    fn deep_nesting_is_refused_and_rare_yaml_is_unsupported() {
        assert_eq!(parse_syntax(&"[".repeat(100_000)), Err(YamlSyntaxError::TooDeep));
        assert_eq!(parse_syntax(&"- ".repeat(100_000)), Err(YamlSyntaxError::TooDeep));
        assert_eq!(parse_syntax("? a\n: b\n"), Err(YamlSyntaxError::Unknown));
        assert_eq!(parse_syntax("a: \"never closed"), Err(YamlSyntaxError::Unknown));
        assert_eq!(parse_syntax("a: 1\n---\nb: 2\n"), Err(YamlSyntaxError::Unknown));
    }
}
