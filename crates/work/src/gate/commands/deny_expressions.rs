//! Rules for commands that are regular expressions between slashes, such as `/^tree\b.*\s-o\b/: false`. They only forbid
//! or require approval. Pure.

use std::collections::BTreeSet;

use regex::bytes::{Regex, RegexBuilder};

/// The maximum size of a compiled expression in bytes.
const MAX_COMPILED_BYTES: usize = 256 * 1024;

/// A regular expression with its text as written.
#[derive(Clone, Debug)]
pub(super) struct DenyExpression {
    text: String,
    expression: Regex,
}

impl PartialEq for DenyExpression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for DenyExpression {}

impl DenyExpression {
    /// Compiles a rule that is written as an expression. `None` if it is not written as one; the error says why it
    /// cannot be read.
    pub(super) fn parse(text: &str) -> Option<Result<Self, String>> {
        let (source, flags) = parts(text)?;
        let compiled = RegexBuilder::new(source)
            // `\b`, `\s`, `\d` and `\w` mean ASCII, as in JavaScript.
            .unicode(false)
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .size_limit(MAX_COMPILED_BYTES)
            .build();
        let read = compiled.map(|expression| Self { text: text.to_owned(), expression });
        Some(read.map_err(|error| {
            let last = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
            format!("it is no regular expression that can be used here ({last})")
        }))
    }

    /// The rule as written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the expression matches a command.
    pub(super) fn matches(&self, command: &str) -> bool {
        self.expression.is_match(command.as_bytes())
    }
}

/// The source and the flags of an expression between slashes.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (source, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let letters: BTreeSet<char> = flags.chars().collect();
    let are_flags = letters.len() == flags.len() && letters.iter().all(|flag| "dgimsuvy".contains(*flag));
    (!source.is_empty() && are_flags).then_some((source, flags))
}

/// The programs that an unreadable rule could mean: those that its text begins with. `None` if it could mean any.
pub(super) fn programs_meant(text: &str) -> Option<Vec<String>> {
    let source = parts(text).map_or(text, |(source, _)| source);
    let source = source.strip_prefix('^')?.trim_start_matches("\\s*");
    let is_name = |c: char| c.is_alphanumeric() || "-_".contains(c);
    let (names, rest) = match source.strip_prefix("(?:").or_else(|| source.strip_prefix('(')) {
        Some(group) => group.split_once(')')?,
        None => source.split_at(source.find(|c| !is_name(c)).unwrap_or(source.len())),
    };
    // A quantifier would make the last letter or the group optional.
    let ends =
        rest.is_empty() || ["\\b", "\\s", " ", "$", "(?=\\s", "(?:\\s", "(\\s"].iter().any(|end| rest.starts_with(end));
    let names: Vec<String> = names.split('|').map(str::to_owned).collect();
    let are_names = names.iter().all(|name| !name.is_empty() && name.chars().all(is_name));
    (ends && are_names && !rest.contains('|')).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_between_slashes_with_known_flags_is_an_expression() {
        for text in ["rm", "/bin/rm", "/usr/bin/sudo", "//", "a/b/i"] {
            assert_eq!(DenyExpression::parse(text), None, "{text}");
        }
        for text in ["/^rm\\b/", "/a/i", "/^(a|b)\\s+\\/x/s"] {
            assert!(matches!(DenyExpression::parse(text), Some(Ok(_))), "{text}");
        }
        for text in ["/(?=x)/", "/(/", "/a{99999}{99999}/"] {
            assert!(matches!(DenyExpression::parse(text), Some(Err(_))), "{text}");
        }
    }

    #[test]
    fn the_programs_that_an_unreadable_rule_could_mean_are_those_it_begins_with() {
        let meant = |text: &str| programs_meant(text).map(|names| names.join(" "));
        assert_eq!(meant("/^rm(?=\\s)/").as_deref(), Some("rm"));
        assert_eq!(meant("/^(?:rm|dd)\\b(?!x)/i").as_deref(), Some("rm dd"));
        assert_eq!(meant("/^\\s*tree\\s(?=-o)/").as_deref(), Some("tree"));
        for text in ["/(?=x)/", "/rm(?=x)/", "/^rmx?(?=y)/", "/^(a|b)?(?=y)/", "/^rm\\b(?=x)|dd/", "/^.(?=x)/"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }
}
