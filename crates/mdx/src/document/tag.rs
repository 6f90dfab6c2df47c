//! Parses one element in JSX syntax: `<Tool name="x" description='y' strict={true}>`, over any number of lines.

use serde_json::Value;

use crate::source::ByteRange;
use crate::text::fence::Fence;

/// The maximum size of a tag in bytes.
const MAX_TAG_BYTES: usize = 64 * 1024;

/// The names of tags in documents.
pub(super) const KNOWN: [&str; 2] = ["Tool", "Param"];

/// A tag.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) kind: TagKind,
    pub(super) attributes: Vec<Attribute>,
    pub(super) range: ByteRange,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TagKind {
    Open,
    SelfClosing,
    Close,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    /// Its value; `None` if it is an expression that would have to be evaluated.
    pub(super) value: Option<Value>,
    /// The byte offset of its beginning.
    pub(super) at: usize,
}

/// Why something that looks like a tag is not one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TagFault {
    pub(super) at: usize,
    pub(super) what: &'static str,
    pub(super) remedy: &'static str,
}

/// Returns the name of the tag that begins here, without parsing the rest.
pub(super) fn name_at(text: &str, at: usize) -> Option<&str> {
    let rest = text[at..].strip_prefix('<')?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':')));
    let name = &rest[..end.unwrap_or(rest.len())];
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(name)
}

/// Parses the tag that begins at this `<`.
pub(super) fn scan(text: &str, at: usize) -> Result<Tag, TagFault> {
    let end = text.len().min(at + MAX_TAG_BYTES);
    let end = (at..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(at);
    Scanner { text: &text[..end], at, start: at }.tag()
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    start: usize,
}

impl Scanner<'_> {
    fn tag(mut self) -> Result<Tag, TagFault> {
        let name = name_at(self.text, self.start).unwrap_or_default().to_owned();
        let is_close = self.text[self.start..].starts_with("</");
        self.at = self.start + 1 + usize::from(is_close) + name.len();
        let mut attributes = Vec::new();
        let kind = loop {
            self.skip_space()?;
            let rest = &self.text[self.at..];
            if rest.starts_with("/>") {
                self.at += 2;
                break if is_close { TagKind::Close } else { TagKind::SelfClosing };
            }
            if rest.starts_with('>') {
                self.at += 1;
                break if is_close { TagKind::Close } else { TagKind::Open };
            }
            attributes.push(self.attribute()?);
        };
        Ok(Tag { name, kind, attributes, range: self.start..self.at })
    }

    fn fault(&self, what: &'static str, remedy: &'static str) -> TagFault {
        TagFault { at: self.start, what, remedy }
    }

    fn unclosed(&self) -> TagFault {
        self.fault("the tag is not closed", "close it with > or />")
    }

    /// Skips white space; a blank line, a fence or another tag means that the end of this one is missing.
    fn skip_space(&mut self) -> Result<(), TagFault> {
        let rest = &self.text[self.at..];
        let space = &rest[..rest.len() - rest.trim_start().len()];
        self.at += space.len();
        let rest = &self.text[self.at..];
        let is_new_line = space.contains(['\n', '\r']);
        let has_blank_line = space.replace("\r\n", "\n").matches(['\n', '\r']).count() > 1;
        if rest.is_empty() || has_blank_line || (is_new_line && begins_other(rest)) {
            return Err(self.unclosed());
        }
        Ok(())
    }

    fn attribute(&mut self) -> Result<Attribute, TagFault> {
        let at = self.at;
        let rest = &self.text[at..];
        let ends = |c: char| c.is_whitespace() || matches!(c, '=' | '>' | '"' | '\'' | '{' | '}' | '<' | '/' | '`');
        let name = rest[..rest.find(ends).unwrap_or(rest.len())].to_owned();
        if name.is_empty() {
            return Err(self.fault(
                "the tag contains something that is not an attribute",
                "write attributes as name=\"value\"; write &quot; for a quote inside a value",
            ));
        }
        self.at += name.len();
        let before = self.at;
        self.skip_space()?;
        if !self.text[self.at..].starts_with('=') {
            self.at = before;
            return Ok(Attribute { name, value: Some(Value::Bool(true)), at });
        }
        self.at += 1;
        self.skip_space()?;
        let value = match self.text[self.at..].chars().next() {
            Some(quote @ ('"' | '\'')) => Some(Value::String(self.quoted(quote)?)),
            Some('{') => literal(self.braced()?),
            _ => {
                return Err(self.fault("an attribute value is not quoted", "write attributes as name=\"value\""));
            }
        };
        Ok(Attribute { name, value, at })
    }

    fn quoted(&mut self, quote: char) -> Result<String, TagFault> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find(quote).ok_or_else(|| self.unclosed_quote())?;
        let value = &rest[..end];
        let is_swallowing = |(at, _): (usize, char)| begins_other(value[at + 1..].trim_start());
        if value.char_indices().filter(|(_, c)| matches!(c, '\n' | '\r')).any(is_swallowing) {
            return Err(self.unclosed_quote());
        }
        self.at += end + 2;
        Ok(unescape(&value.replace("\r\n", "\n")))
    }

    fn unclosed_quote(&self) -> TagFault {
        self.fault("a quote in the tag is not closed", "quote each value: name=\"value\"")
    }

    /// Parses the text between braces, which may contain string literals and nested braces.
    fn braced(&mut self) -> Result<&str, TagFault> {
        let start = self.at + 1;
        let (mut depth, mut quote) = (0usize, None);
        for (at, c) in self.text[self.at..].char_indices() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'' | '`') => quote = Some(c),
                (None, '{') => depth += 1,
                (None, '}') if depth == 1 => {
                    let end = self.at + at;
                    if self.text[start..end].contains(['\n', '\r']) {
                        break;
                    }
                    self.at = end + 1;
                    return Ok(self.text[start..end].trim());
                }
                (None, '}') => depth -= 1,
                (None, '\n' | '\r') => break,
                (None, _) => {}
            }
        }
        Err(self.fault("a brace in the tag is not closed on its line", "write attributes as name=\"value\""))
    }
}

/// Whether the text begins with something that cannot be part of a tag.
fn begins_other(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let is_fence = !line.starts_with(char::is_whitespace) && Fence::opening(line).is_some();
    is_fence || name_at_start(rest).is_some_and(|name| KNOWN.contains(&name))
}

fn name_at_start(rest: &str) -> Option<&str> {
    if rest.starts_with('<') { name_at(rest, 0) } else { None }
}

/// Parses a JavaScript literal: a string, a number, true or false.
fn literal(text: &str) -> Option<Value> {
    let quoted = |quote: char| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains([quote, '\\']) && !inner.contains("${")).then(|| Value::String(inner.to_owned()))
    };
    ['"', '\'', '`'].into_iter().find_map(quoted).or_else(|| {
        let value: Value = serde_json::from_str(text).ok()?;
        (value.is_boolean() || value.is_number() || value.is_string()).then_some(value)
    })
}

/// Decodes the character references that are common to HTML and JSX.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, character)) => {
                out.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(reference: &str) -> Option<char> {
    let number = |text: &str, radix| u32::from_str_radix(text, radix).ok().and_then(char::from_u32);
    match reference {
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "nbsp" => Some('\u{a0}'),
        _ => match reference.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => number(&hex[1..], 16),
            decimal => number(decimal, 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attributes(text: &str) -> Vec<(String, Option<Value>)> {
        let tag = scan(text, 0).unwrap();
        assert_eq!(&text[tag.range], text);
        tag.attributes.into_iter().map(|attribute| (attribute.name, attribute.value)).collect()
    }

    fn one(name: &str, value: Value) -> Vec<(String, Option<Value>)> {
        vec![(name.to_owned(), Some(value))]
    }

    #[test]
    fn values_may_contain_the_end_of_a_tag() {
        for (text, value) in [
            (r#"<Tool description="a > b, it's <Tool>">"#, json!("a > b, it's <Tool>")),
            (r#"<Tool description='say "hi"'>"#, json!(r#"say "hi""#)),
            (r#"<Tool description="a &quot;b&quot; &amp; &#x41;&#66; &nope; &">"#, json!(r#"a "b" & AB &nope; &"#)),
            ("<Tool\n  description = \"two\n  lines\"\n>", json!("two\n  lines")),
            ("<Tool description={\"x}\"}>", json!("x}")),
            ("<Tool description={false} />", json!(false)),
            ("<Tool description={12}>", json!(12)),
            ("<Tool description>", json!(true)),
        ] {
            assert_eq!(attributes(text), one("description", value), "{text}");
        }
        assert_eq!(attributes("<Tool description={a + b}>"), vec![("description".to_owned(), None)]);
    }

    #[test]
    fn open_self_closing_and_closing_tags_are_distinguished() {
        for (text, kind) in [
            ("<Tool name=\"x\">", TagKind::Open),
            ("<Param name='x'/>", TagKind::SelfClosing),
            ("</Tool>", TagKind::Close),
            ("</Tool >", TagKind::Close),
        ] {
            assert_eq!(scan(text, 0).unwrap().kind, kind);
        }
    }

    #[test]
    fn an_unclosed_tag_consumes_nothing_else() {
        for text in [
            "<Tool",
            "<Tool name=\"x\"\n\n>",
            "<Tool name=\"x\"\n```ts\n>",
            "<Tool name=\"x\n<Param name=\"y\" />",
            "<Tool name=\"x\n```\n\">",
            "<Tool name=x>",
            "<Tool name=\"x\" \"y\">",
            "<Tool name={{a\n}}>",
            "<Tool a=\"b\"\n</Tool>",
        ] {
            assert!(scan(text, 0).is_err(), "{text:?}");
        }
    }
}
