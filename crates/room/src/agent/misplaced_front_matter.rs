//! Finds what was meant as the front matter of a file but is none, because something stands above it or its first line
//! is odd: a comment, a heading, `----`, `+++`, a fence of code. A reader of the file takes its limits for valid, so
//! they hold; nothing else in it counts.

use serde_json::Value;

use super::front_matter::refused;
use super::keys::{KEYS, LIMITING_KEYS, our_spelling};
use super::lenient_front_matter;
use super::limits::{self, KeyMeaning, Limit};
use crate::base::Problem;
use crate::base::text_normalization::is_invisible;
use crate::workspace::yaml;

/// How many lines with text may stand above it; further down, keys between rules belong to the instructions.
const MAX_LINES_ABOVE: usize = 10;
/// How many lines of it are read.
const MAX_LINES: usize = 400;

/// Limits that a file states where they are not read.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MisplacedLimits {
    /// The limits, which are never empty.
    pub(super) limits: Vec<Limit>,
    /// The line of the text where they begin, from 1.
    pub(super) line: usize,
}

impl MisplacedLimits {
    /// The problem of the file, whose text begins `lines_above` lines below its first line.
    pub(super) fn problem(&self, path: &str, lines_above: usize) -> Problem {
        let what = "these keys limit the agent but are not front matter, which begins in the first line with ---";
        let remedy = "move them to the top, between two lines ---; until then only their limits count";
        Problem::warning(path, what, remedy).at_line(Some(self.line + lines_above))
    }
}

/// Finds limits near the top of a [normalised](super::front_matter::normalise) text that has no front matter.
pub(super) fn find(text: &str) -> Option<MisplacedLimits> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut lines_with_text, mut is_in_comment) = (0, false);
    for (index, line) in lines.iter().enumerate() {
        let bare = visible(line);
        if is_in_comment || bare.starts_with("<!--") {
            is_in_comment = !bare.contains("-->");
            continue;
        }
        if bare.is_empty() {
            continue;
        }
        if lines_with_text >= MAX_LINES_ABOVE {
            return None;
        }
        // Keys without a line above them are only meant as such at the very beginning.
        if let Some(start) = Start::of(&bare).or((lines_with_text == 0).then_some(Start::Keys))
            && let Some(limits) = limits_of(&block(&lines, index, &start))
        {
            return Some(MisplacedLimits { limits, line: index + 1 });
        }
        lines_with_text += 1;
    }
    None
}

/// How a block of keys may begin.
#[derive(PartialEq)]
enum Start {
    /// With a line of its own, such as `---` or a fence of code.
    Opener,
    /// With a line that is followed by the first key: `--- tools: [Read]`.
    OpenerWithKey(String),
    /// With the first key itself.
    Keys,
}

impl Start {
    fn of(line: &str) -> Option<Self> {
        let rest = line.trim_start_matches(is_mark);
        // Word processors turn `---` into one long dash.
        let is_long = line.starts_with(is_long_dash);
        if line.chars().take_while(|c| is_mark(*c)).count() < if is_long { 1 } else { 2 } {
            return None;
        }
        let rest = rest.trim();
        let is_label = rest.is_empty() || rest.starts_with('#') || rest.chars().all(|c| c.is_alphanumeric());
        if is_label {
            return Some(Self::Opener);
        }
        rest.contains([':', '=']).then(|| Self::OpenerWithKey(rest.to_owned()))
    }
}

/// Whether a line of this character is used as a rule or fence, in one of its many forms.
fn is_mark(c: char) -> bool {
    matches!(c, '-' | '+' | '=' | '~' | '_' | '*' | ';' | '`' | '\u{2010}'..='\u{2012}' | '\u{2212}') || is_long_dash(c)
}

fn is_long_dash(c: char) -> bool {
    matches!(c, '\u{2013}'..='\u{2015}' | '\u{2500}' | '\u{2501}')
}

/// The line without what cannot be seen and the space around it.
fn visible(line: &str) -> String {
    line.chars().filter(|c| *c == '\t' || !is_invisible(*c)).collect::<String>().trim().to_owned()
}

/// The lines of a block: up to a closing line, or, without one, up to a blank line.
fn block(lines: &[&str], start: usize, begin: &Start) -> String {
    let below = if *begin == Start::Keys { start } else { start + 1 };
    let below = &lines[below.min(lines.len())..lines.len().min(below + MAX_LINES)];
    let is_closing = |line: &&str| {
        let bare = visible(line);
        bare == "..." || (bare.len() > 1 && bare.chars().all(is_mark))
    };
    let blank = || below.iter().position(|line| visible(line).is_empty());
    let end = below.iter().position(is_closing).or_else(blank).unwrap_or(below.len());
    let first = if let Start::OpenerWithKey(key) = begin { vec![key.as_str()] } else { Vec::new() };
    first.into_iter().chain(below[..end].iter().copied()).collect::<Vec<_>>().join("\n")
}

/// The limits that the keys of a block state; `None` if there are none.
fn limits_of(block: &str) -> Option<Vec<Limit>> {
    let parsed = refused(block).ok().and_then(|()| yaml::parse(block).ok());
    let entries: Vec<(String, Value)> = match parsed {
        Some(Value::Object(keys)) => keys.into_iter().collect(),
        // Words that are no keys in any notation.
        _ if !block.lines().any(names_a_limit) => return None,
        _ => match lenient_front_matter::entries(block) {
            Some(entries) => entries.into_iter().map(|entry| (entry.key, entry.value)).collect(),
            None => return Some(vec![Limit::Nothing]),
        },
    };
    let limits: Vec<Limit> = entries.iter().flat_map(|(key, value)| limits_of_key(key, value)).collect();
    (!limits.is_empty()).then_some(limits)
}

fn limits_of_key(key: &str, value: &Value) -> Vec<Limit> {
    let ours = our_spelling(key);
    if LIMITING_KEYS.contains(&ours.as_str()) || ours == "share_workspace_info" {
        return limits::of_own(&ours, value);
    }
    if KEYS.contains(&ours.as_str()) {
        return Vec::new();
    }
    match limits::meaning(key, value) {
        KeyMeaning::NoLimit => Vec::new(),
        KeyMeaning::Limits(limits) | KeyMeaning::Mistyped(_, limits) => limits,
        KeyMeaning::Unclear => vec![Limit::Nothing],
    }
}

/// Whether a line looks like a key that limits something: `tools: …`, `"tools": …`, `tools = …`.
fn names_a_limit(line: &str) -> bool {
    let Some((key, _)) = line.split_once([':', '=']) else { return false };
    let key = key.trim().trim_matches(['"', '\'', '{', '[', ']', '>', '-', ' ']);
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_word && (LIMITING_KEYS.contains(&our_spelling(key).as_str()) || limits::limits_by_its_name(key))
}

#[cfg(test)]
mod tests {
    use super::super::markdown::read;
    use super::*;

    const KEYS: &str = "name: Scout\ntools: [Read, Grep]\nwrites: []";

    fn limits_at(text: &str) -> Option<usize> {
        let file = read("agents/scout.md", text);
        let has = |limit: &Limit| matches!(limit, Limit::OnlyTools(tools) if tools == &["Read", "Grep"]);
        let problem = file.problems.iter().find(|problem| problem.what.contains("not front matter"))?;
        let is_limited =
            file.profile.limits.iter().any(has) && file.profile.limits.contains(&Limit::OnlyWrites(vec![]));
        assert!(is_limited, "{text:?}: {:?}", file.profile.limits);
        problem.line
    }

    #[test]
    fn limits_hold_whatever_stands_above_or_opens_them_and_the_line_is_reported() {
        for (text, line) in [
            (format!("<!-- generated -->\n---\n{KEYS}\n---\nHi"), 2),
            (format!("<!-- generated\nby x -->\n\n---\n{KEYS}\n---\nHi"), 4),
            (format!("\n---\n{KEYS}\n---\nHi"), 2),
            (format!("# Scout\n\n---\n{KEYS}\n---\nHi"), 3),
            (format!("```\n---\n{KEYS}\n---\n```\nHi"), 2),
            (format!("```yaml\n{KEYS}\n```\nHi"), 1),
            (format!("~~~ yaml\n{KEYS}\n~~~\nHi"), 1),
            (format!(" ---\n{KEYS}\n---\nHi"), 1),
            (format!("\t---\n{KEYS}\n---\nHi"), 1),
            (format!("----\n{KEYS}\n----\nHi"), 1),
            (format!("--\n{KEYS}\n--\nHi"), 1),
            (format!("\u{2014}\u{2014}\n{KEYS}\n---\nHi"), 1),
            (format!("===\n{KEYS}\n===\nHi"), 1),
            (format!("\u{feff}\u{feff}---\n{KEYS}\n---\nHi"), 1),
            (format!("\u{200b}---\n{KEYS}\n---\nHi"), 1),
            (format!("--- # x\n{KEYS}\n---\nHi"), 1),
            (format!("---yaml\n{KEYS}\n---\nHi"), 1),
            (format!("--- name: x\n{KEYS}\n---\nHi").replace("name: Scout\n", ""), 1),
            (format!("{KEYS}\n---\nHi"), 1),
            (format!("{KEYS}\n\nHi"), 1),
            (format!("---\n---\n---\n{KEYS}\n---\nHi"), 3),
            ("{ \"tools\": [\"Read\", \"Grep\"], \"writes\": [] }\n\nHi".to_owned(), 1),
            (format!("\n---\n{KEYS}\n\nHi"), 2),
        ] {
            assert_eq!(limits_at(&text), Some(line), "{text:?}");
        }
    }

    #[test]
    fn limits_that_cannot_be_read_leave_nothing() {
        for text in [
            "+++\ntools = [\"Read\"]\n+++\nHi",
            "# A\n---\ntools: [Read\n  x: {\n---\nHi",
            "# A\n---\npermissions: { what: { is: { this: 1 } } }\n---\nHi",
        ] {
            let file = read("agents/scout.md", text);
            assert!(!file.problems.is_empty(), "{text:?}");
            let is_limited = file.profile.limits.iter().any(|limit| match limit {
                Limit::Nothing => true,
                Limit::OnlyTools(tools) => tools.len() <= 1 || tools.iter().all(|tool| tool != "Write"),
                _ => false,
            });
            assert!(is_limited, "{text:?}: {:?}", file.profile.limits);
        }
    }

    #[test]
    fn misplaced_keys_give_nothing() {
        let file = read(
            "agents/scout.md",
            "# Scout\n---\ntools: [execute_command]\nmodel: acp:x\nshare_user_info: true\n---\nHi",
        );
        assert_eq!(file.profile.tools, None);
        assert_eq!(file.profile.model, None);
        assert!(!file.profile.share_user_info);
        assert_eq!(file.profile.limits, [Limit::OnlyTools(vec!["execute_command".to_owned()])]);
    }

    #[test]
    fn ordinary_texts_have_no_misplaced_limits() {
        let long = "A line.\n".repeat(MAX_LINES_ABOVE);
        for text in [
            "Hi".to_owned(),
            String::new(),
            "# Scout\n\n---\n\nNote: be kind.\n\n---\n\nMore.".to_owned(),
            format!("{long}---\n{KEYS}\n---\n"),
            format!("---\nname: x\n---\n# A\n\n---\n{KEYS}\n---\n"),
            "Dear agent: read the files.\n\nThanks".to_owned(),
            "- tools are below\n- name: x\n".to_owned(),
            "name: Scout\ndescription: x\n\nHi".to_owned(),
            "```js\nlet tools = 1;\n```\n".replace("tools", "colour"),
        ] {
            let file = read("agents/scout.md", &text);
            assert_eq!(file.profile.limits, [], "{text:?}");
        }
    }
}
