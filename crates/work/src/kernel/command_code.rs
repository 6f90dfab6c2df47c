//! The files that commands run: what is known of their contents, and the reasons to ask a person again after a change.
//! Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use crate::base::text::{one_line, truncate};
use crate::gate::{AskRule, AskSource, TouchKind};
use crate::gateway::{SeenCode, SeenFile};

/// The maximum number of files whose contents are kept.
const MAX_FILES: usize = 1_000;
/// The maximum length of a changed line in a question, and the number of such lines.
const LINE_CHARS: usize = 120;
const MAX_LINES: usize = 4;

/// The contents of the files that commands ran, or that a person was asked about, by path. Contents seen first count as
/// those that a rule was written for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KnownCode(BTreeMap<String, Option<SeenFile>>);

impl KnownCode {
    /// Adds the contents of files that were never seen.
    pub(super) fn note(&mut self, seen: &SeenCode) {
        for (path, file) in seen {
            if !self.0.contains_key(path) && self.0.len() < MAX_FILES {
                self.0.insert(path.clone(), file.clone());
            }
        }
    }

    /// Replaces the contents of files whose command is executed, because a person or a rule allowed exactly these.
    pub(super) fn allow(&mut self, seen: &SeenCode) {
        for (path, file) in seen {
            if let Some(known) = self.0.get_mut(path) {
                known.clone_from(file);
            }
        }
        self.note(seen);
    }

    /// The rules that require approval because a file is not as it was when it was last allowed.
    pub(super) fn changes(&self, seen: &SeenCode, target: &str) -> Vec<AskRule> {
        let changed = seen.iter().filter_map(|(path, now)| {
            // A file that was not kept may have changed.
            let before =
                self.0.get(path).cloned().unwrap_or_else(|| (self.0.len() < MAX_FILES).then(|| now.clone())?);
            let hash = |file: &Option<SeenFile>| file.as_ref().map(|file| file.hash.clone());
            (hash(&before) != hash(now)).then(|| described(path, before.as_ref(), now.as_ref()))
        });
        let rule = |why| AskRule {
            source: AskSource::EachTime { why },
            kind: TouchKind::PROCESS_RUN,
            target: target.to_owned(),
        };
        changed.map(rule).collect()
    }
}

/// Describes a change, such as "tools/run.sh changed since it was last allowed or shown (+1 −1: -echo a +echo b)".
fn described(path: &str, before: Option<&SeenFile>, now: Option<&SeenFile>) -> String {
    let (old, new) = (before.map_or("", |file| &file.text), now.map_or("", |file| &file.text));
    let what = match (before, now) {
        (None, _) => "was created",
        (_, None) => "was removed",
        _ => "changed",
    };
    let diff = TextDiff::from_lines(old, new);
    let (mut added, mut removed, mut lines) = (0, 0, Vec::new());
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        (added, removed) = if sign == '+' { (added + 1, removed) } else { (added, removed + 1) };
        if lines.len() < MAX_LINES {
            lines.push(format!("{sign}{}", truncate(&one_line(change.value()), LINE_CHARS)));
        }
    }
    // Only the beginning of a long file is kept.
    let lines = if lines.is_empty() { "beyond its beginning".to_owned() } else { lines.join(" ") };
    format!("{path}, which it runs, {what} since it was last allowed or shown (+{added} \u{2212}{removed}: {lines})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &str, text: Option<&str>) -> SeenCode {
        let file = text.map(|text| SeenFile { hash: format!("hash of {text}"), text: text.to_owned() });
        [(path.to_owned(), file)].into()
    }

    #[test]
    fn a_change_of_a_file_that_a_command_runs_is_described() {
        let mut known = KnownCode::default();
        known.note(&seen("run.sh", Some("set -e\necho one\n")));
        assert_eq!(known.changes(&seen("run.sh", Some("set -e\necho one\n")), "sh run.sh"), []);
        assert_eq!(known.changes(&seen("other.sh", Some("x")), "sh other.sh"), [], "it is seen for the first time");
        let rules = known.changes(&seen("run.sh", Some("set -e\nrm -r x\n")), "sh run.sh");
        let why = rules[0].source.because();
        let lines = "+1 \u{2212}1: -echo one +rm -r x";
        assert!(why.contains("run.sh, which it runs, changed since") && why.contains(lines), "{why}");
        assert!(rules[0].for_task().is_none(), "no earlier permission covers it");
        let rules = known.changes(&seen("run.sh", None), "sh run.sh");
        assert!(rules[0].source.because().contains("was removed"));
    }

    #[test]
    fn only_an_allowed_change_becomes_known() {
        let mut known = KnownCode::default();
        known.note(&seen("a", Some("one")));
        let two = seen("a", Some("two"));
        known.note(&two);
        assert_eq!(known.changes(&two, "a").len(), 1);
        known.allow(&two);
        assert_eq!(known.changes(&two, "a"), []);
        assert_eq!(known.changes(&seen("a", Some("one")), "a").len(), 1, "nor does it change back unasked");
        known.note(&seen("b", None));
        assert!(known.changes(&seen("b", Some("x")), "b")[0].source.because().contains("was created"));
    }
}
