//! Lossless lists in Markdown that a person can edit: one `- ` entry for each item, indented lines for more of its
//! text, nested entries for its comments, and an HTML comment at the end of each with its other data.
//!
//! ```text
//! # Ideas
//!
//! - Start with the survey <!-- pin {"id":"p1","author":"ada-1","up":["bo-1"]} -->
//!   - Good. <!-- comment {"author":"bo-1"} -->
//! - a line that a person wrote needs no comment
//! ```
//!
//! Lines that belong to no item are kept where they are, and HTML comments by others are part of the text. A Markdown
//! parser is not used, because it would not preserve how each line was written.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A line of a file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The line number, from 1.
    pub line: usize,
    /// The error.
    pub what: String,
}

/// The word in the HTML comment of a nested item.
const NESTED: &str = "comment";
/// All words with which HTML comments of this program begin.
const WORDS: [&str; 4] = ["pin", "mail", "sent", NESTED];

/// The maximum number of items; a longer file is not read further and has a fault.
const MAX_ITEMS: usize = 20_000;

/// A list with everything around it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ListFile {
    pub(super) items: Vec<ListItem>,
    /// The lines below the last item.
    pub(super) below: Vec<String>,
}

/// One item.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ListItem {
    /// The lines above it that belong to no item.
    pub(super) above: Vec<String>,
    pub(super) text: String,
    /// The word in its comment; empty if it has none.
    pub(super) word: String,
    /// The keys in its comment.
    pub(super) keys: Map<String, Value>,
    /// The text and keys of nested items.
    pub(super) nested: Vec<(String, Map<String, Value>)>,
}

/// Parses a file. `words` are the words that an item's comment can contain. Without `nests`, lines nested in an item
/// that has no comment are part of its text.
pub(super) fn read(text: &str, words: &[&str], nests: bool) -> ListFile {
    let text = super::settings::tidy(text.strip_prefix('\u{feff}').unwrap_or(text));
    let lines: Vec<&str> =
        if text.is_empty() { Vec::new() } else { text.strip_suffix('\n').unwrap_or(&text).split('\n').collect() };
    let mut file = ListFile::default();
    let mut at = 0;
    while at < lines.len() && file.items.len() < MAX_ITEMS {
        let Some((text, word, keys, next)) = read_one(&lines, at, "", words, nests) else {
            file.below.push(lines[at].to_owned());
            at += 1;
            continue;
        };
        let mut item = ListItem { above: std::mem::take(&mut file.below), text, word, keys, nested: Vec::new() };
        at = next;
        while nests
            && at < lines.len()
            && let Some((text, _, keys, next)) = read_one(&lines, at, "  ", &[NESTED], true)
        {
            item.nested.push((text, keys));
            at = next;
        }
        file.items.push(item);
    }
    file
}

type One = (String, String, Map<String, Value>, usize);

/// Parses the item that begins on a line, and returns it with the line after it.
fn read_one(lines: &[&str], at: usize, indent: &str, words: &[&str], nests: bool) -> Option<One> {
    let first = lines[at].strip_prefix(indent)?;
    let first = first.strip_prefix("- ").or_else(|| (first == "-").then_some(""))?;
    let inner = format!("{indent}  ");
    let inside = |line: &str| line.is_empty() || line.starts_with(&inner) || line.trim().is_empty();
    let mut text: Vec<Cow<str>> = Vec::new();
    // With a comment, everything before it is text, whatever it looks like.
    for (index, line) in lines.iter().enumerate().skip(at) {
        let line = if index == at {
            first
        } else if inside(line) {
            line.strip_prefix(&inner).unwrap_or("")
        } else {
            break;
        };
        if let Some((last, word, keys)) = comment(line) {
            if !words.contains(&word) {
                break;
            }
            text.push(last);
            return Some((unescape(&text.join("\n")), word.to_owned(), keys, index + 1));
        }
        text.push(line.into());
    }
    // Without one, the text ends where the indented lines end or a nested item begins.
    let is_nested = |line: &str| nests && line.strip_prefix(&inner).is_some_and(|line| line.starts_with("- "));
    let more = lines[at + 1..].iter().take_while(|line| inside(line) && !is_nested(line));
    let mut text: Vec<&str> =
        std::iter::once(first).chain(more.map(|line| line.strip_prefix(&inner).unwrap_or(""))).collect();
    while text.len() > 1 && text.last().is_some_and(|line| line.trim().is_empty()) {
        text.pop();
    }
    let next = at + text.len();
    Some((unescape(text.join("\n").trim_end()), String::new(), Map::new(), next))
}

/// The lines that end in a damaged comment of this program.
pub(super) fn faults(text: &str, words: &[&str]) -> Vec<Fault> {
    let is_meant = |line: &str| {
        let begins = |rest: &str| {
            let word = rest.trim_start().split([' ', '{', '"', '\t']).next().unwrap_or("");
            (words.contains(&word) || word == NESTED) && rest.contains(['{', '"'])
        };
        line.split("<!--").skip(1).any(begins) && comment(line).is_none()
    };
    let mut faults: Vec<Fault> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_meant(line))
        .map(|(index, _)| Fault {
            line: index + 1,
            what: "the comment at the end of this line is incomplete".to_owned(),
        })
        .collect();
    let mut items = text.lines().enumerate().filter(|(_, line)| line.starts_with("- ") || *line == "-");
    if let Some((index, _)) = items.nth(MAX_ITEMS) {
        let what = format!("there are more than {MAX_ITEMS} items");
        faults.push(Fault { line: index + 1, what });
    }
    faults
}

/// Splits `text <!-- word {…} -->`; a person's own comments after it are text.
fn comment(line: &str) -> Option<(Cow<'_, str>, &str, Map<String, Value>)> {
    let line = line.trim_end();
    let mut end = line.len();
    loop {
        let (before, comment) = line[..end].strip_suffix("-->")?.rsplit_once("<!--")?;
        if let Some((word, keys)) = comment.trim().split_once(' ')
            && WORDS.contains(&word)
            && let Ok(keys) = serde_json::from_str(keys.trim())
        {
            let (text, behind) = (before.strip_suffix(' ').unwrap_or(before), &line[end..]);
            let text = if behind.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}{behind}")) };
            return Some((text, word, keys));
        }
        end = before.trim_end().len();
    }
}

/// Keeps a person's value under another key if the key has another value here, or cannot be used.
pub(super) fn preserve_value(keys: &mut Map<String, Value>, key: &str, value: Value) {
    let mut aside = format!("{key}?");
    while keys.contains_key(&aside) {
        aside.push('?');
    }
    keys.insert(aside, value);
}

/// Writes a file that [`read`] parses to the same content.
pub(super) fn write(file: &ListFile) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for item in &file.items {
        item.above.iter().for_each(|above| line(above));
        line(&one(&item.text, "", &item.word, &item.keys));
        for (nested, keys) in &item.nested {
            line(&one(nested, "  ", NESTED, keys));
        }
    }
    file.below.iter().for_each(|below| line(below));
    text
}

fn one(text: &str, indent: &str, word: &str, keys: &Map<String, Value>) -> String {
    // JSON can escape dashes, so that no comment ends early.
    let keys = Value::Object(keys.clone()).to_string().replace("--", "-\\u002d").replace("->", "-\\u003e");
    let text = escape(text).replace('\n', &format!("\n{indent}  "));
    format!("{indent}- {text} <!-- {word} {keys} -->")
}

/// Escapes `<!--` in a text as `<!\--`, and `<!\--` as `<!\\--`, before one of our words, so that no text looks like a
/// comment of this program.
fn escape(text: &str) -> String {
    shift(text, |slashes| slashes + 1)
}

fn unescape(text: &str) -> String {
    shift(text, |slashes| slashes.saturating_sub(1))
}

fn shift(text: &str, slashes: impl Fn(usize) -> usize) -> String {
    let mut shifted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!") {
        let (before, after) = rest.split_at(at + 2);
        shifted.push_str(before);
        let found = after.len() - after.trim_start_matches('\\').len();
        rest = &after[found..];
        let is_ours = rest.strip_prefix("--").is_some_and(|rest| {
            let rest = rest.trim_start();
            WORDS.iter().any(|word| rest.starts_with(word))
        });
        let kept = if is_ours { slashes(found) } else { found };
        shifted.extend(std::iter::repeat_n('\\', kept));
    }
    shifted.push_str(rest);
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handwritten_file_is_parsed() {
        let file = read("# Ideas\n\n- one\n  more\n\n  and more\n- two\n  - said\n\nfoot\n", &["pin"], true);
        let texts: Vec<&str> = file.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, ["one\nmore\n\nand more", "two"]);
        assert_eq!(file.items[0].above, ["# Ideas", ""]);
        assert_eq!(file.items[1].nested, [("said".to_owned(), Map::new())]);
        assert_eq!(file.below, ["", "foot"]);
    }

    #[test]
    fn a_comment_ends_the_text_whatever_the_text_looks_like() {
        let text = "- a\n  - b <!-- not ours -->\n\n  c <!-- pin {\"id\":\"p1\"} -->\n";
        let file = read(text, &["pin"], true);
        assert_eq!(file.items.len(), 1);
        assert_eq!(file.items[0].text, "a\n- b <!-- not ours -->\n\nc");
        assert_eq!(file.items[0].keys["id"], "p1");
    }

    #[test]
    fn only_damaged_comments_are_faults() {
        let lines = |text: &str| faults(text, &["pin"]).iter().map(|fault| fault.line).collect::<Vec<_>>();
        assert_eq!(lines("- a <!-- pin {\"id\":\"p1\"} -->\n- b <!-- pin {\"id\":\"p2\" -->\n"), [2]);
        assert_eq!(lines("- a <!-- pin {\"id\":\"p1\"}\n  - b <!-- comment \"author\":\"x\"} -->\n"), [1, 2]);
        assert_eq!(lines(&"- a\n".repeat(MAX_ITEMS)), [0; 0]);
        let many = "- a\n".repeat(MAX_ITEMS + 9);
        assert_eq!((lines(&many), read(&many, &["pin"], true).items.len()), (vec![MAX_ITEMS + 1], MAX_ITEMS));
        assert_eq!(lines("- a <!-- mine -->\n<!-- pin this -->\n- b <!\\-- pin {\n- c <!-- todo { -->\n"), [0; 0]);
    }

    #[test]
    fn a_persons_comments_are_text_anywhere() {
        let text =
            "- a <!-- todo --> <!-- pin {\"id\":\"p1\"} --> <!-- why? -->\n- b <!-- note {\"x\":1} -->\n  more\n";
        let file = read(text, &["pin"], true);
        let read_back: Vec<(&str, Option<&Value>)> =
            file.items.iter().map(|item| (item.text.as_str(), item.keys.get("id"))).collect();
        assert_eq!(
            read_back,
            [("a <!-- todo --> <!-- why? -->", Some(&Value::from("p1"))), ("b <!-- note {\"x\":1} -->\nmore", None),]
        );
        let written = write(&file);
        assert!(
            written.contains("- a <!-- todo --> <!-- why? --> <!--") && written.contains("<!-- note {\"x\":1} -->\n")
        );
    }

    #[test]
    fn a_handwritten_item_does_not_include_the_next() {
        let file = read("- mine\n- theirs <!-- pin {\"id\":\"p1\"} -->\n", &["pin"], true);
        assert_eq!(file.items.len(), 2);
    }
}
