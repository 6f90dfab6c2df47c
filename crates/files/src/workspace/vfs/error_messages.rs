//! Error messages for missing or unsuitable files, detailed enough for a model to correct its call.

use super::path::quoted;
use crate::base::paths::{file_name, folder_of};
use crate::base::text::truncate;

/// The maximum number of similar names that are suggested for a missing file.
const MAX_SIMILAR: usize = 3;
/// The maximum number of names that are compared letter by letter; more would take too long.
const MAX_COMPARED: usize = 100_000;
/// The maximum number of lines that are suggested for a missing passage.
const MAX_LINES: usize = 3;
/// The maximum number of lines of a text that are compared.
const MAX_LINES_COMPARED: usize = 5000;
/// The maximum number of characters of a line that are shown or compared.
const LINE_CHARS: usize = 120;

/// Returns `'notes/plan.md' not found. Similar: 'artifacts/plan.md'. Available: [...]`. `paths` are those that the
/// caller may read.
pub(super) fn not_found<'a>(wanted: &str, paths: &[&'a str], named_at_most: usize) -> String {
    let similar = similar(wanted, paths);
    let mut words = format!("{} not found.", quoted(wanted));
    if !similar.is_empty() {
        // The error about a missing file names files with a similar name.
        rule!("missing-files-have-similar-names");
        words.push_str(&format!(" Similar: {}.", list(&similar)));
    }
    if paths.is_empty() {
        words.push_str(" There are no files.");
        return words;
    }
    // Neighbours in the tree are more helpful than the first in the alphabet.
    let folder = folder_of(wanted);
    let is_near = |path: &&&str| !folder.is_empty() && path.starts_with(folder);
    let near = paths.iter().filter(is_near).chain(paths.iter().filter(|path| !is_near(path)));
    let named: Vec<&'a str> = near.take(named_at_most).copied().collect();
    let more = paths.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    words.push_str(&format!(" Available: [{}]{more}", list(&named)));
    words
}

fn list(paths: &[&str]) -> String {
    paths.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(", ")
}

fn similar<'a>(wanted: &str, paths: &[&'a str]) -> Vec<&'a str> {
    let wanted_last = file_name(wanted);
    let wanted_name = wanted_last.to_lowercase();
    let mut found: Vec<(f64, &'a str)> = Vec::new();
    let mut compared = 0;
    for path in paths {
        let is_below = path.starts_with(wanted);
        let last = file_name(path);
        // Most paths are skipped without allocating.
        if (last.len().abs_diff(wanted_name.len()) > 4 && !is_below) || compared >= MAX_COMPARED {
            if last == wanted_last {
                found.push((2.0, path));
            }
            continue;
        }
        let this = last.to_lowercase();
        if this == wanted_name {
            found.push((2.0, path));
            continue;
        }
        compared += 1;
        let names = strsim::normalized_levenshtein(&this, &wanted_name);
        // The whole path counts if the file names alone are similar.
        if names > 0.6 {
            found.push((names + strsim::normalized_levenshtein(path, wanted) / 2.0, path));
        } else if is_below {
            found.push((0.5, path));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.into_iter().take(MAX_SIMILAR).map(|(_, path)| path).collect()
}

/// Replaces `old`, which must occur exactly once, with `new`. The error names similar lines, or says that there are
/// several matches.
pub(super) fn edit(path: &str, text: &str, old: &str, new: &str) -> Result<String, String> {
    let path = quoted(path);
    if old.is_empty() {
        return Err(format!("the passage to replace in {path} is empty; give a passage that occurs exactly once."));
    }
    let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
    match places.as_slice() {
        [at] => Ok([&text[..*at], new, &text[at + old.len()..]].concat()),
        [] => Err(format!("the passage was not found in {path}.{}", nearest_lines(text, old))),
        places => {
            let lines: Vec<String> = places.iter().take(10).map(|at| line_of(text, *at).to_string()).collect();
            let more = if places.len() > lines.len() { ", …" } else { "" };
            Err(format!(
                "the passage occurs {} times in {path} (lines {}{more}); give a longer one that occurs exactly once.",
                places.len(),
                lines.join(", ")
            ))
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}

fn nearest_lines(text: &str, old: &str) -> String {
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let wanted: String = wanted.chars().take(LINE_CHARS).collect();
    let lines = text.lines().take(MAX_LINES_COMPARED).enumerate();
    let mut near: Vec<(f64, usize, &str)> = lines
        .map(|(index, line)| {
            let start: String = line.trim().chars().take(LINE_CHARS).collect();
            (strsim::normalized_levenshtein(&start, &wanted), index + 1, line)
        })
        .filter(|(likeness, ..)| *likeness > 0.4)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    if near.is_empty() {
        let count = text.lines().count();
        return format!(" None of its {count} lines is similar; read the file first.");
    }
    let named: Vec<String> = near
        .iter()
        .take(MAX_LINES)
        .map(|(_, number, line)| format!("line {number}: '{}'", truncate(line, LINE_CHARS)))
        .collect();
    format!(" Nearest: {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_error_names_similar_and_available_ones() {
        checks_rule!("missing-files-have-similar-names");
        let paths = ["agents/ada.md", "artifacts/plan.md", "artifacts/plans.md", "notes/other.md"];
        assert_eq!(
            not_found("notes/plan.md", &paths, 10),
            "'notes/plan.md' not found. Similar: 'artifacts/plan.md', 'artifacts/plans.md'. Available: \
             ['notes/other.md', 'agents/ada.md', 'artifacts/plan.md', 'artifacts/plans.md']"
        );
        assert_eq!(
            not_found("zzz", &paths, 2),
            "'zzz' not found. Available: ['agents/ada.md', 'artifacts/plan.md'] and 2 more"
        );
        assert_eq!(not_found("x\n", &[], 2), "'x\u{fffd}' not found. There are no files.");
    }

    #[test]
    fn a_single_typo_is_found_among_ten_thousand_names() {
        let all: Vec<String> = (0..10_000).map(|number| format!("memory/d{}/f{number}.md", number / 100)).collect();
        let paths: Vec<&str> = all.iter().map(String::as_str).collect();
        for (wanted, meant) in
            [("memory/d42/f4242x.md", "memory/d42/f4242.md"), ("memory/d99/f999.md", "memory/d9/f999.md")]
        {
            let told = not_found(wanted, &paths, 3);
            assert!(told.contains(&format!("Similar: '{meant}'")), "{told}");
        }
    }

    #[test]
    fn a_passage_is_replaced_if_it_occurs_once() {
        assert_eq!(edit("a", "one two three", "two", "2").as_deref(), Ok("one 2 three"));
        let absent = edit("a.md", "# Plan\n- buy milk\n- sleep\n", "- buy milch\n", "x").expect_err("it is absent");
        assert_eq!(absent, "the passage was not found in 'a.md'. Nearest: line 2: '- buy milk'");
        let twice = edit("a.md", "x\ny\nx\n", "x", "z").expect_err("it is there twice");
        assert_eq!(
            twice,
            "the passage occurs 2 times in 'a.md' (lines 1, 3); give a longer one that occurs exactly once."
        );
        assert!(edit("a", "x", "", "z").is_err());
        let far = edit("a", "abc\n", "zzzzzzzz", "z").expect_err("it is absent");
        assert!(far.contains("None of its 1 lines"), "{far}");
    }
}
