//! A list as Markdown that a person can edit, without loss: one `- ` item for each thing, indented lines for
//! more of its text, nested items for what is said about it, and a comment at the end of each that holds the rest.
//!
//! ```text
//! # Ideas
//!
//! - Start with the survey <!-- pin {"id":"p1","author":"ada-1","up":["bo-1"]} -->
//!   - Good. <!-- comment {"author":"bo-1"} -->
//! - a line that a person wrote needs no comment
//! ```
//!
//! Lines that belong to no item are kept where they stand.

use serde_json::{Map, Value};

use super::kind::Fault;

/// The word in the comment behind a nested item.
const NESTED: &str = "comment";

/// A file with more items than this is not read any further, and has a fault.
const ITEMS_AT_MOST: usize = 20_000;

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
    /// The word that stands in its comment; empty where it has none.
    pub(super) word: String,
    /// The keys in its comment.
    pub(super) keys: Map<String, Value>,
    /// Text and keys of what is nested in it.
    pub(super) nested: Vec<(String, Map<String, Value>)>,
}

/// Reads a file. `words` are those that may stand in an item's comment.
pub(super) fn read(text: &str, words: &[&str]) -> ListFile {
    let text = super::settings::tidy(text.strip_prefix('\u{feff}').unwrap_or(text));
    let lines: Vec<&str> =
        if text.is_empty() { Vec::new() } else { text.strip_suffix('\n').unwrap_or(&text).split('\n').collect() };
    let mut file = ListFile::default();
    let mut at = 0;
    while at < lines.len() && file.items.len() < ITEMS_AT_MOST {
        let Some((text, word, keys, next)) = read_one(&lines, at, "", words) else {
            file.below.push(lines[at].to_owned());
            at += 1;
            continue;
        };
        let mut item = ListItem { above: std::mem::take(&mut file.below), text, word, keys, nested: Vec::new() };
        at = next;
        while at < lines.len()
            && let Some((text, _, keys, next)) = read_one(&lines, at, "  ", &[NESTED])
        {
            item.nested.push((text, keys));
            at = next;
        }
        file.items.push(item);
    }
    file
}

type One = (String, String, Map<String, Value>, usize);

/// The item that begins on a line, and the line after it.
fn read_one(lines: &[&str], at: usize, indent: &str, words: &[&str]) -> Option<One> {
    let first = lines[at].strip_prefix(indent)?;
    let first = first.strip_prefix("- ").or_else(|| (first == "-").then_some(""))?;
    let inner = format!("{indent}  ");
    let inside = |line: &str| line.is_empty() || line.starts_with(&inner) || line.trim().is_empty();
    let mut text = Vec::new();
    // With a comment, everything up to it is text, whatever it looks like.
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
        text.push(line);
    }
    // Without one, it ends where the indented lines end or a nested item begins.
    let more = lines[at + 1..]
        .iter()
        .take_while(|line| inside(line) && line.strip_prefix(&inner).is_none_or(|line| !line.starts_with("- ")));
    let mut text: Vec<&str> =
        std::iter::once(first).chain(more.map(|line| line.strip_prefix(&inner).unwrap_or(""))).collect();
    while text.len() > 1 && text.last().is_some_and(|line| line.trim().is_empty()) {
        text.pop();
    }
    let next = at + text.len();
    Some((unescape(text.join("\n").trim_end()), String::new(), Map::new(), next))
}

/// The lines that end in a comment of this program's making which cannot be read any more.
pub(super) fn faults(text: &str, words: &[&str]) -> Vec<Fault> {
    let is_meant = |line: &str| {
        let Some((_, rest)) = line.rsplit_once("<!--") else { return false };
        let word = rest.trim_start().split([' ', '{', '"', '\t']).next().unwrap_or("");
        (words.contains(&word) || word == NESTED) && rest.contains(['{', '"']) && comment(line).is_none()
    };
    let mut faults: Vec<Fault> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_meant(line))
        .map(|(index, _)| Fault {
            line: index + 1,
            what: "the comment at the end of this line is not whole any more".to_owned(),
        })
        .collect();
    let mut items = text.lines().enumerate().filter(|(_, line)| line.starts_with("- ") || *line == "-");
    if let Some((index, _)) = items.nth(ITEMS_AT_MOST) {
        let what = format!("there are more than {ITEMS_AT_MOST} items");
        faults.push(Fault { line: index + 1, what });
    }
    faults
}

/// Splits `text <!-- word {…} -->`.
fn comment(line: &str) -> Option<(&str, &str, Map<String, Value>)> {
    let line = line.trim_end().strip_suffix("-->")?;
    let (text, comment) = line.rsplit_once("<!--")?;
    let (word, keys) = comment.trim().split_once(' ')?;
    let keys = serde_json::from_str(keys.trim()).ok()?;
    Some((text.strip_suffix(' ').unwrap_or(text), word, keys))
}

/// Writes a file that [`read`] reads back as it was.
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
    // Within a JSON text a dash may be written as its number; so no comment ends before its end.
    let keys = Value::Object(keys.clone()).to_string().replace("--", "-\\u002d").replace("->", "-\\u003e");
    let text = escape(text).replace('\n', &format!("\n{indent}  "));
    format!("{indent}- {text} <!-- {word} {keys} -->")
}

/// `<!--` in a text becomes `<!\--`, and `<!\--` becomes `<!\\--`, so that no text looks like a comment.
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
        let kept = if rest.starts_with("--") { slashes(found) } else { found };
        shifted.extend(std::iter::repeat_n('\\', kept));
    }
    shifted.push_str(rest);
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_written_by_hand_is_understood() {
        let file = read("# Ideas\n\n- one\n  more\n\n  and more\n- two\n  - said\n\nfoot\n", &["pin"]);
        let texts: Vec<&str> = file.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, ["one\nmore\n\nand more", "two"]);
        assert_eq!(file.items[0].above, ["# Ideas", ""]);
        assert_eq!(file.items[1].nested, [("said".to_owned(), Map::new())]);
        assert_eq!(file.below, ["", "foot"]);
    }

    #[test]
    fn a_comment_ends_the_text_whatever_the_text_looks_like() {
        let text = "- a\n  - b <!-- not ours -->\n\n  c <!-- pin {\"id\":\"p1\"} -->\n";
        let file = read(text, &["pin"]);
        assert_eq!(file.items.len(), 1);
        assert_eq!(file.items[0].text, "a\n- b <!-- not ours -->\n\nc");
        assert_eq!(file.items[0].keys["id"], "p1");
    }

    #[test]
    fn a_comment_that_is_not_whole_is_a_fault_and_any_other_is_not() {
        let lines = |text: &str| faults(text, &["pin"]).iter().map(|fault| fault.line).collect::<Vec<_>>();
        assert_eq!(lines("- a <!-- pin {\"id\":\"p1\"} -->\n- b <!-- pin {\"id\":\"p2\" -->\n"), [2]);
        assert_eq!(lines("- a <!-- pin {\"id\":\"p1\"}\n  - b <!-- comment \"author\":\"x\"} -->\n"), [1, 2]);
        assert_eq!(lines(&"- a\n".repeat(ITEMS_AT_MOST)), [0; 0]);
        let many = "- a\n".repeat(ITEMS_AT_MOST + 9);
        assert_eq!((lines(&many), read(&many, &["pin"]).items.len()), (vec![ITEMS_AT_MOST + 1], ITEMS_AT_MOST));
        assert_eq!(lines("- a <!-- mine -->\n<!-- pin this -->\n- b <!\\-- pin {\n- c <!-- todo { -->\n"), [0; 0]);
    }

    #[test]
    fn an_item_by_hand_does_not_swallow_the_next() {
        let file = read("- mine\n- theirs <!-- pin {\"id\":\"p1\"} -->\n", &["pin"]);
        assert_eq!(file.items.len(), 2);
    }
}
