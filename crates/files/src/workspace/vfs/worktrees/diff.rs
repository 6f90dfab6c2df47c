//! The diff of one file for a person who decides about it, as a patch. Pure.
//!
//! Only `\n` ends a line, as for everyone who reads a patch: a carriage return is a character of its line, so that the
//! line counts of hunks are right whatever a text contains, and no text can pass for the header of another file.

use std::fmt::Write;

use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, TextDiff};

/// The number of unchanged lines around each change.
const LINES_AROUND: usize = 3;

/// The diff of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FileDiff {
    /// The patch, with the headers of the file.
    pub(super) patch: String,
    /// The number of added lines.
    pub(super) added: usize,
    /// The number of removed lines.
    pub(super) removed: usize,
}

/// Compares two texts of the file at `path`; `None` where there is no file.
pub(super) fn diff_of(path: &str, old: Option<&str>, new: Option<&str>) -> FileDiff {
    let side = |side: &str, is_there: bool| if is_there { format!("{side}/{path}") } else { "/dev/null".to_owned() };
    let mut diff = FileDiff {
        patch: format!("--- {}\n+++ {}\n", side("a", old.is_some()), side("b", new.is_some())),
        ..FileDiff::default()
    };
    let old: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    let lines = TextDiff::from_slices(&old, &new);
    for hunk in lines.grouped_ops(LINES_AROUND).iter().filter(|hunk| !hunk.is_empty()) {
        let _ = writeln!(diff.patch, "{}", UnifiedHunkHeader::new(hunk));
        for change in hunk.iter().flat_map(|part| lines.iter_changes(part)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => {
                    diff.removed += 1;
                    '-'
                }
                ChangeTag::Insert => {
                    diff.added += 1;
                    '+'
                }
            };
            let line = change.value();
            diff.patch.push(sign);
            diff.patch.push_str(line);
            if !line.ends_with('\n') {
                diff.patch.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies the hunks of a patch to a text. Returns `None` if they do not fit it.
    fn applied(patch: &str, old: &str) -> Option<String> {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut new, mut at) = (String::new(), 0);
        let lines: Vec<&str> = patch.split_inclusive('\n').skip(2).collect();
        for (number, line) in lines.iter().enumerate() {
            let has_end = lines.get(number + 1).is_none_or(|next| !next.starts_with('\\'));
            let text =
                |line: &str| if has_end { line[1..].to_owned() } else { line[1..].trim_end_matches('\n').to_owned() };
            match line.chars().next()? {
                '@' => {
                    let start = line.strip_prefix("@@ -")?.split([',', ' ']).next()?.parse::<usize>().ok()?;
                    let is_empty = line.starts_with(&format!("@@ -{start},0 "));
                    let start = if is_empty { start } else { start - 1 };
                    new.extend(old.get(at..start)?.iter().copied());
                    at = start;
                }
                '\\' => {}
                '+' => new.push_str(&text(line)),
                sign => {
                    if *old.get(at)? != text(line) {
                        return None;
                    }
                    at += 1;
                    if sign == ' ' {
                        new.push_str(&text(line));
                    }
                }
            }
        }
        new.extend(old.get(at..)?.iter().copied());
        Some(new)
    }

    #[test]
    fn a_missing_line_break_at_the_end_is_named() {
        let diff = diff_of("a.md", Some("one\n"), Some("one"));
        assert_eq!(diff.patch, "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-one\n+one\n\\ No newline at end of file\n");
        assert_eq!((diff.added, diff.removed), (1, 1));
        assert_eq!(diff_of("a.md", None, Some("")).patch, "--- /dev/null\n+++ b/a.md\n");
    }

    proptest! {
        /// With the old text, a patch is the whole new text, and each of its lines has a sign of its own.
        #[test]
        fn a_patch_contains_everything_that_changes(
            old in "([ab\r+\u{2028}-]{0,3}\n){0,12}[a\r]{0,2}",
            new in "([ab\r+\u{2028}-]{0,3}\n){0,12}[a\r]{0,2}",
        ) {
            let diff = diff_of("a.md", Some(&old), Some(&new));
            prop_assert_eq!(applied(&diff.patch, &old), Some(new), "{}", diff.patch);
        }
    }
}
