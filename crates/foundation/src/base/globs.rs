//! Globs over paths: one normal form, matching, and containment of globs. This is the only glob engine: permissions are
//! decided, inherited and enforced with it.
//!
//! In the normal form, a component consists of letters, `?` (any one) and `*` (any number), or is `**` alone (any
//! number of components, including none; at the end at least one, so that `a/**` matches what is inside `a`). Anything
//! else that people write is converted to this form or rejected, so that all code that reads globs matches the same set
//! of paths. Letters are composed (NFC), as in every path of a workspace.

use thiserror::Error;

use super::text_normalization::{folded, is_invisible, nfc};

/// The maximum length of a glob in characters.
const MAX_CHARS: usize = 512;
/// The maximum number of alternatives that the braces of one glob may expand to.
const MAX_ALTERNATIVES: usize = 64;

/// Why a text is not a valid glob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum GlobError {
    /// The glob is empty.
    #[error("it is empty")]
    Empty,
    /// The glob is too long.
    #[error("it is longer than {MAX_CHARS} characters")]
    TooLong,
    /// Its braces are not closed, or expand to too many globs.
    #[error("its braces are not closed, or expand to more than {MAX_ALTERNATIVES} globs")]
    Braces,
    /// It contains a character whose meaning differs between glob engines.
    #[error("it contains one of ! [ ] \\ or an invisible character")]
    Character,
    /// It leads out of the workspace.
    #[error("it points outside the workspace")]
    Outside,
    /// `**` is not a component of its own.
    #[error("** must be between slashes, as in artifacts/**")]
    DoubleStar,
}

/// Expands a text to plain globs: `{a,b}/` becomes `a/**` and `b/**`.
pub fn plain(text: &str) -> Result<Vec<String>, GlobError> {
    let text = nfc(text.trim());
    if text.chars().count() > MAX_CHARS {
        return Err(GlobError::TooLong);
    }
    if text.contains(['!', '[', ']', '\\']) || text.contains(is_invisible) {
        return Err(GlobError::Character);
    }
    let mut globs = Vec::new();
    for alternative in alternatives(&text)? {
        // A brace may be between a letter and its accent.
        let glob = plain_path(&nfc(&alternative))?;
        if !globs.contains(&glob) {
            globs.push(glob);
        }
    }
    Ok(globs)
}

/// Expands a glob that forbids, over [folded] paths: if it is invalid, to globs for everything that it could mean. A
/// glob for the content of a folder also forbids replacing the folder by a file.
pub fn expand_deny(text: &str) -> Vec<String> {
    let seen: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let seen = folded(&seen);
    if seen.trim().is_empty() {
        return Vec::new();
    }
    let named = plain(&seen).unwrap_or_else(|_| widen(&seen));
    let folders = named.iter().filter_map(|glob| glob.strip_suffix("/**")).map(str::to_owned);
    let mut all: Vec<String> = folders.filter(|folder| !named.contains(folder)).collect();
    all.extend(named.iter().cloned());
    all
}

/// Returns a glob for everything that starts like this invalid glob, up to its invalid part. A glob that leads outside
/// of the workspace could mean anything.
pub fn widen(text: &str) -> Vec<String> {
    let everything = || vec!["**".to_owned()];
    if text.contains("..") || text.trim_start().starts_with('!') {
        return everything();
    }
    let text: String = text.trim().chars().take(MAX_CHARS / 2).collect();
    let end = text.find(['!', '[', ']', '\\', '{', '}']).unwrap_or(text.len());
    let end = text[..end].find("**").unwrap_or(end);
    let end = if text[end..].is_ascii() { end } else { before_last_letter(&text[..end]) };
    let (folder, start) = text[..end].rsplit_once('/').unwrap_or(("", &text[..end]));
    let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let begins = |rest: &str| {
        let start = format!("{}*", start.trim_end_matches('*'));
        folder
            .iter()
            .copied()
            .chain([start.as_str()])
            .chain((!rest.is_empty()).then_some(rest))
            .collect::<Vec<_>>()
            .join("/")
    };
    match (start, folder.as_slice()) {
        ("" | ".", []) => everything(),
        ("" | ".", folder) => vec![folder.join("/"), format!("{}/**", folder.join("/"))],
        _ => vec![begins(""), begins("**")],
    }
}

/// Returns the position of the last letter that a following accent could still change. An ASCII character begins a new
/// letter.
fn before_last_letter(text: &str) -> usize {
    match text.rfind(|c: char| c.is_ascii()) {
        Some(at) if text[at..].starts_with('/') => at + 1,
        Some(at) => at,
        None => 0,
    }
}

fn plain_path(text: &str) -> Result<String, GlobError> {
    let mut parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if text.ends_with('/') || (text.ends_with('.') && parts.is_empty()) {
        // A folder stands for its content.
        parts.push("**");
    }
    parts.dedup_by(|a, b| *a == "**" && *b == "**");
    if parts.is_empty() {
        return Err(GlobError::Empty);
    }
    if parts.contains(&"..") {
        return Err(GlobError::Outside);
    }
    if parts.iter().any(|part| part.contains("**") && *part != "**") {
        return Err(GlobError::DoubleStar);
    }
    Ok(parts.join("/"))
}

/// Expands the braces of a text, which may be nested.
fn alternatives(text: &str) -> Result<Vec<String>, GlobError> {
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let Some(end) = text.find('}') else {
            if text.contains('{') {
                return Err(GlobError::Braces);
            }
            done.push(text);
            continue;
        };
        // The innermost pair of braces contains no braces.
        let start = text[..end].rfind('{').ok_or(GlobError::Braces)?;
        let inner: Vec<&str> = text[start + 1..end].split(',').collect();
        if inner.len() + open.len() + done.len() > MAX_ALTERNATIVES {
            return Err(GlobError::Braces);
        }
        open.extend(inner.iter().rev().map(|word| format!("{}{word}{}", &text[..start], &text[end + 1..])));
    }
    Ok(done)
}

/// Whether a plain glob matches a path (relative, with `/` between its components).
pub fn matches(glob: &str, path: &str) -> bool {
    covers(parts(glob), path.split('/'), |part| part == "**", part_matches)
}

fn part_matches(part: &str, name: &str) -> bool {
    covers(part.chars(), name.chars(), |c| c == '*', |c, letter| c == '?' || c == letter)
}

/// Returns the components of a plain glob; a final `**` is followed by `*`, so that it matches at least one component.
fn parts(glob: &str) -> impl Iterator<Item = &str> + Clone {
    let is_open = glob == "**" || glob.ends_with("/**");
    glob.split('/').chain(is_open.then_some("*"))
}

/// Whether one of these plain globs matches a path.
pub fn any_matches(globs: &[String], path: &str) -> bool {
    globs.iter().any(|glob| matches(glob, path))
}

/// Whether `outer` matches every path that the plain glob `inner` matches. If that is uncertain, false.
pub fn contains(outer: &str, inner: &str) -> bool {
    let holds = |wide: &str, narrow: &str| narrow != "**" && part_contains(wide, narrow);
    covers(parts(outer), parts(inner), |part| part == "**", holds)
}

fn part_contains(outer: &str, inner: &str) -> bool {
    let holds = |wide, narrow| narrow != '*' && (wide == '?' || wide == narrow);
    covers(outer.chars(), inner.chars(), |c| c == '*', holds)
}

/// Whether each glob of `inner` is contained in one of `outer`.
pub fn all_within(inner: &[String], outer: &[String]) -> bool {
    inner.iter().all(|inner| outer.iter().any(|outer| contains(outer, inner)))
}

/// Returns globs that only match what both lists match: as much of the intersection as plain globs can express.
pub fn intersect(one: &[String], other: &[String]) -> Vec<String> {
    let mut both: Vec<String> = Vec::new();
    for a in one {
        for b in other {
            if let Some(glob) = meet_of(a, b).or_else(|| meet_of(b, a))
                && !both.iter().any(|there| contains(there, &glob))
            {
                both.retain(|there| !contains(&glob, there));
                both.push(glob);
            }
        }
    }
    both
}

fn meet_of(a: &str, b: &str) -> Option<String> {
    if contains(a, b) {
        return Some(b.to_owned());
    }
    // `artifacts/**` and `**/*.md` meet in `artifacts/**/*.md`.
    let folder = a.strip_suffix("/**").filter(|folder| !folder.contains(['*', '?']))?;
    b.starts_with("**/").then(|| format!("{folder}/{b}"))
}

/// Whether a pattern covers a whole row: entries that are `many` match any number of the row's items, every other
/// exactly one that it fits.
fn covers<P: Copy, R: Copy>(
    mut pattern: impl Iterator<Item = P> + Clone,
    mut row: impl Iterator<Item = R> + Clone,
    many: impl Fn(P) -> bool,
    one: impl Fn(P, R) -> bool,
) -> bool {
    // The pattern after the last `many`, and where it started in the row: if the rest does not match from there, that
    // `many` matches one more item. Earlier ones need not be retried.
    let mut retry = None;
    loop {
        let (mut pattern_rest, mut row_rest) = (pattern.clone(), row.clone());
        match (pattern_rest.next(), row_rest.next()) {
            (None, None) => return true,
            (Some(entry), _) if many(entry) => {
                retry = Some((pattern_rest.clone(), row.clone()));
                pattern = pattern_rest;
            }
            (Some(entry), Some(covered)) if one(entry, covered) => (pattern, row) = (pattern_rest, row_rest),
            _ => {
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, row) = (after.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn globs_are_converted_to_the_plain_form() {
        for (text, globs) in [
            ("artifacts/**", &["artifacts/**"][..]),
            (" ./artifacts/ ", &["artifacts/**"]),
            ("/a//b/./c.md", &["a/b/c.md"]),
            ("{memory,artifacts}/*.md", &["memory/*.md", "artifacts/*.md"]),
            ("a{b,{c,d}}", &["ab", "ac", "ad"]),
            ("a/**/**/b", &["a/**/b"]),
            ("caf{e\u{301},e{\u{301}}}", &["café"]),
            (".", &["**"]),
            ("./", &["**"]),
        ] {
            assert_eq!(plain(text), Ok(globs.iter().map(ToString::to_string).collect()), "{text}");
        }
    }

    #[test]
    fn ambiguous_globs_are_refused() {
        for (text, error) in [
            ("", GlobError::Empty),
            ("../x", GlobError::Outside),
            ("a/../b", GlobError::Outside),
            ("a**", GlobError::DoubleStar),
            ("a/***", GlobError::DoubleStar),
            ("!a", GlobError::Character),
            ("[ab]", GlobError::Character),
            ("a\\b", GlobError::Character),
            ("{a", GlobError::Braces),
            ("a}", GlobError::Braces),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", GlobError::Braces),
        ] {
            assert_eq!(plain(text), Err(error), "{text}");
        }
        assert_eq!(plain(&"x".repeat(600)), Err(GlobError::TooLong));
    }

    #[test]
    fn an_invalid_limit_matches_everything_it_could_mean() {
        for (text, globs) in [
            ("Secret/Gehe\u{301}im/**", &["secret/gehéim", "secret/gehéim/**"][..]),
            ("sec\u{200b}ret/", &["secret", "secret/**"]),
            ("artifacts/[a-z]*.md", &["artifacts", "artifacts/**"]),
            ("artifacts/plan-[ab].md", &["artifacts/plan-*", "artifacts/plan-*/**"]),
            ("secret\\keys", &["secret*", "secret*/**"]),
            ("docs/{a,b", &["docs", "docs/**"]),
            ("docs/a**", &["docs/a*", "docs/a*/**"]),
            ("docs/a{\u{301},b", &["docs", "docs/**"]),
            ("docs/ba{\u{301},b", &["docs/b*", "docs/b*/**"]),
            ("!artifacts/**", &["**"]),
            ("../x", &["**"]),
            ("[x", &["**"]),
            (" ", &[]),
        ] {
            assert_eq!(expand_deny(text), globs, "{text}");
        }
        assert!(any_matches(
            &expand_deny(&format!("deep/{}", "x".repeat(600))),
            &format!("deep/{}/y", "x".repeat(600))
        ));
    }

    #[test]
    fn stars_match_within_a_component_and_double_stars_across_them() {
        for (glob, path, is_match) in [
            ("artifacts/**", "artifacts/a/b.md", true),
            ("artifacts/*", "artifacts/a/b.md", false),
            ("artifacts/**", "artifacts", false),
            ("a/**/b/**", "a/b", false),
            ("a/**/b/**", "a/b/b/c", true),
            ("**/*.md", "a.md", true),
            ("**/*.md", "x/y/a.md", true),
            ("a/**/b", "a/b", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("Artifacts/**", "artifacts/a", false),
            ("**", "anything/at/all", true),
            ("a*c*e", "abcde", true),
        ] {
            assert_eq!(matches(glob, path), is_match, "{glob} {path}");
        }
    }

    #[test]
    fn containment_is_true_only_if_it_is_certain() {
        for (outer, inner, is_within) in [
            ("**", "a/*/b?", true),
            ("artifacts/**", "artifacts/x/*.md", true),
            ("artifacts/**", "artifacts/**/x", true),
            ("artifacts/*", "artifacts/**", false),
            ("artifacts/**", "artifact/x", false),
            ("artifacts/**", "**", false),
            ("artifacts/**", "artifacts", false),
            ("artifacts/**", "artifacts/**/*", true),
            ("artifacts/**/*", "artifacts/**", true),
            ("**/*.md", "a/**/b.md", true),
            ("*.md", "?.md", true),
            ("?.md", "*.md", false),
            ("a/*/c", "a/b/c", true),
            ("a/b", "a/B", false),
        ] {
            assert_eq!(contains(outer, inner), is_within, "{outer} {inner}");
        }
    }

    #[test]
    fn the_intersection_matches_what_both_lists_match() {
        let list = |globs: &[&str]| globs.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(intersect(&list(&["a/**", "b/**"]), &list(&["a/x", "c"])), list(&["a/x"]));
        assert_eq!(intersect(&list(&["a/**"]), &list(&["**/*.md"])), list(&["a/**/*.md"]));
        assert_eq!(intersect(&list(&["a*"]), &list(&["*b"])), list(&[]));
        assert_eq!(intersect(&list(&["**"]), &list(&["a", "b/**"])), list(&["a", "b/**"]));
    }

    fn glob() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            2 => "[ab?*]{1,3}".prop_filter("two stars are another thing", |part| !part.contains("**")),
            1 => Just("**".to_owned()),
        ];
        prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"))
    }

    fn path() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]{1,3}", 1..5).prop_map(|parts| parts.join("/"))
    }

    /// Whether a glob matches by definition: tries every way of matching it to the path.
    fn named(glob: &[&str], path: &[&str]) -> bool {
        fn part(glob: &[char], name: &[char]) -> bool {
            match glob.split_first() {
                None => name.is_empty(),
                Some(('*', rest)) => (0..=name.len()).any(|at| part(rest, &name[at..])),
                Some((c, rest)) => {
                    name.split_first().is_some_and(|(letter, name)| (*c == '?' || c == letter) && part(rest, name))
                }
            }
        }
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        match glob.split_first() {
            None => path.is_empty(),
            Some((&"**", [])) => !path.is_empty(),
            Some((&"**", rest)) => (0..=path.len()).any(|at| named(rest, &path[at..])),
            Some((first, rest)) => path
                .split_first()
                .is_some_and(|(name, path)| part(&letters(first), &letters(name)) && named(rest, path)),
        }
    }

    proptest! {
        #[test]
        fn a_glob_matches_by_its_definition(glob in glob(), paths in prop::collection::vec(path(), 20)) {
            let glob_parts: Vec<&str> = glob.split('/').collect();
            for path in &paths {
                let path_parts: Vec<&str> = path.split('/').collect();
                prop_assert_eq!(matches(&glob, path), named(&glob_parts, &path_parts), "{} {}", glob, path);
            }
        }

        #[test]
        fn a_contained_glob_never_matches_more(
            outer in prop::collection::vec(glob(), 0..4),
            inner in prop::collection::vec(glob(), 0..3),
            paths in prop::collection::vec(path(), 30),
        ) {
            let is_within = all_within(&inner, &outer);
            let both = intersect(&inner, &outer);
            for path in &paths {
                let (by_inner, by_outer) = (any_matches(&inner, path), any_matches(&outer, path));
                prop_assert!(!is_within || !by_inner || by_outer, "{outer:?} {inner:?} {path}");
                prop_assert!(!any_matches(&both, path) || (by_inner && by_outer), "{both:?} {path}");
            }
        }

        #[test]
        fn a_glob_is_contained_in_itself_and_in_everything(glob in glob()) {
            prop_assert!(contains(&glob, &glob) && contains("**", &glob));
        }

        #[test]
        fn a_limit_is_in_plain_form_and_matches_its_own_glob(
            text in "[ab{},./*?!\\\\é\u{301}]{0,24}",
            path in prop::collection::vec("[abáé]{1,3}", 1..5).prop_map(|parts| parts.join("/")),
        ) {
            let (limit, widest) = (expand_deny(&text), widen(&folded(&text)));
            prop_assert!(!widest.is_empty());
            for glob in limit.iter().chain(&widest) {
                prop_assert_eq!(plain(glob), Ok(vec![glob.clone()]));
            }
            if let Ok(globs) = plain(&text) {
                prop_assert!(!any_matches(&globs, &path) || any_matches(&limit, &path));
                prop_assert!(!any_matches(&globs, &path) || any_matches(&widest, &path), "{:?} {}", widest, path);
            }
        }

        #[test]
        fn any_text_is_a_glob_or_an_error_and_the_plain_form_is_stable(text in "[ab{},./*?!\\\\é\u{301}]{0,24}") {
            for glob in plain(&text).unwrap_or_default() {
                prop_assert_eq!(plain(&glob), Ok(vec![glob.clone()]));
            }
        }
    }
}
