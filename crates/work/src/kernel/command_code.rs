//! The files that commands run: what is known of their contents, and the reasons to ask a person again after a change.
//! Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use crate::base::text::{one_line, truncate};
use crate::gate::{AskRule, AskSource, TouchKind};
use crate::gateway::{CodeConcern, MAX_TEXT_BYTES, SeenCode, SeenFile};
use crate::tools::{Preview, PreviewLine, PreviewLineKind};
use crate::workspace::vfs::worktrees::{FILES as COPY, WORKTREES};

/// The maximum number of files whose contents are kept.
const MAX_FILES: usize = 2_000;
/// The maximum length of a changed line in a question, and the number of such lines of a file.
const LINE_CHARS: usize = 120;
const MAX_LINES: usize = 4;
/// The number of changed files of which lines are shown; of more files, their names are.
const MAX_SHOWN: usize = 8;
/// The number of changed files that are named.
const MAX_NAMED: usize = 40;
/// The number of bytes of changed files that are shown whole.
const MAX_SHOWN_BYTES: usize = 128 * 1024;
/// What a kept text may lack of [`MAX_TEXT_BYTES`] because a letter was cut at its end.
const CUT_LETTER_BYTES: usize = 3;

/// The contents of the files that commands ran, or that a person was asked about, by path. Contents seen first count as
/// those that a rule was written for, unless they are of some concern.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KnownCode(BTreeMap<String, Option<SeenFile>>);

/// The files of a look that the command would run. In an agent's copy of the workspace, the files of the workspace itself
/// are only there to compare.
fn run_files(seen: &SeenCode) -> impl Iterator<Item = (&String, Option<&SeenFile>)> {
    let has_copies = seen.keys().any(|path| original_of(path).is_some());
    let files = seen.iter().filter(move |(path, _)| original_of(path).is_some() == has_copies);
    files.map(|(path, file)| (path, file.as_ref()))
}

/// The path in the workspace of a file in an agent's copy; `None` for other files.
fn original_of(path: &str) -> Option<&str> {
    let below = path.strip_prefix(".workshop/")?.strip_prefix(WORKTREES)?.strip_prefix('/')?;
    below.split_once('/')?.1.strip_prefix(COPY)?.strip_prefix('/')
}

impl KnownCode {
    /// Whether no more files fit in, so that others are asked about each time.
    fn is_full(&self) -> bool {
        self.0.len() >= MAX_FILES
    }

    /// Adds the contents of files that were never seen, unless a person has to know something about them first. What a
    /// known file loads for the first time may have been created to be loaded, so a person has to see that as well.
    pub(super) fn note(&mut self, seen: &SeenCode) {
        let is_named = |file: &SeenFile| !file.is_loaded && file.concern.is_none();
        let is_known = |path: &str| self.0.get(path).is_some_and(Option::is_some);
        let files: Vec<(&String, &Option<SeenFile>)> =
            seen.iter().filter(|(path, _)| original_of(path).is_none()).collect();
        let has_run = files.iter().any(|(path, file)| (*file).as_ref().is_some_and(is_named) && is_known(path));
        for (path, file) in files {
            let is_open = file.as_ref().is_some_and(|file| file.concern.is_some() || file.is_loaded && has_run);
            if !is_open && !self.0.contains_key(path) && !self.is_full() {
                self.0.insert(path.clone(), file.clone());
            }
        }
    }

    /// Replaces the contents of files whose command is executed, because a person or a rule allowed exactly these.
    pub(super) fn allow(&mut self, seen: &SeenCode) {
        for (path, file) in run_files(seen).filter(|(_, file)| !file.is_some_and(is_not_followed)) {
            if self.0.contains_key(path) || !self.is_full() {
                self.0.insert(path.clone(), file.cloned());
            }
        }
        self.note(seen);
    }

    /// The files that are not as they were when they were last allowed, as a person sees them.
    pub(super) fn changed_files(&self, seen: &SeenCode) -> Vec<ChangedFile> {
        shown_files(&self.changed(seen)).into_iter().flatten().collect()
    }

    /// The rules that require approval because a file is not as it was when it was last allowed.
    pub(super) fn changes(&self, seen: &SeenCode, target: &str) -> Vec<AskRule> {
        let changed = self.changed(seen);
        // The lines of a file that a person sees whole below the reasons are not said here as well.
        let files = shown_files(&changed);
        let named = changed.iter().zip(&files).enumerate().take(MAX_NAMED).map(|(index, (change, file))| {
            let is_whole = file.as_ref().is_some_and(|file| !file.is_cut);
            change.described(if is_whole { LinesInReason::Count } else { LinesInReason::from_index(index) })
        });
        let more = changed.len().saturating_sub(MAX_NAMED);
        let more = (more > 0).then(|| format!("{more} more files that it runs are not as they were"));
        let rule = |why| AskRule {
            source: AskSource::EachTime { why },
            kind: TouchKind::PROCESS_RUN,
            target: target.to_owned(),
        };
        let is_crowded = self.is_full() && changed.iter().any(|change| change.before.is_none());
        let crowded =
            is_crowded.then(|| format!("it is not remembered, because commands ran more than {MAX_FILES} files"));
        named.chain(more).chain(crowded).map(rule).collect()
    }

    fn changed<'a>(&'a self, seen: &'a SeenCode) -> Vec<Change<'a>> {
        let hash = |file: Option<&SeenFile>| file.map(|file| file.hash.clone());
        let mut changed: Vec<Change<'_>> = Vec::new();
        for (path, now) in run_files(seen) {
            let known = [self.0.get(path), original_of(path).and_then(|original| self.0.get(original))];
            let mut known = known.into_iter().flatten().map(Option::as_ref).peekable();
            let newest = known.peek().copied();
            let is_new = now.is_some_and(|now| now.is_loaded || now.concern.is_some());
            let is_same = match newest {
                // A repository that names no programs any more.
                Some(Some(SeenFile { concern: Some(CodeConcern::NamesPrograms), .. })) if now.is_none() => true,
                Some(_) => known.any(|before| hash(before) == hash(now)),
                // A file that was not kept may have changed.
                None => now.is_none() || !is_new && !self.is_full(),
            };
            if !is_same {
                changed.push(Change { path: original_of(path).unwrap_or(path), before: newest, now });
            }
        }
        // What could not be followed is the first reason.
        changed.sort_by_key(|change| !change.now.is_some_and(is_not_followed));
        changed
    }
}

/// Whether a file stands for code that could not be followed whole.
fn is_not_followed(file: &SeenFile) -> bool {
    file.concern == Some(CodeConcern::NotFollowed)
}

/// A file that a call would run and that is not as it was when it was last allowed, with its texts as far as they are
/// kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The path of the file.
    pub path: String,
    /// What was allowed; empty if nothing was.
    pub old: String,
    /// What it is.
    pub new: String,
    /// Whether there is more in the file than these texts.
    pub is_cut: bool,
}

impl ChangedFile {
    /// All lines that changed, as shown to a person, with a note if there can be more.
    pub fn lines(&self) -> Vec<PreviewLine> {
        let heading = format!("{}, which it runs", self.path);
        let (path, old, new) = (heading, self.old.clone(), self.new.clone());
        let mut lines = Preview::Change { path, old, new }.lines();
        if self.is_cut {
            let text = "(not all of this file is shown here: look at it in the workspace)".to_owned();
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text });
        }
        lines
    }

    /// The number of changed lines and the first of them, for a place that does not show all; `None` for a file that is
    /// not shown whole, of which the reason for the question says them.
    pub fn summary(&self) -> Option<String> {
        (!self.is_cut).then(|| format!("{}: {}", self.path, changed_lines(&self.old, &self.new, true)))
    }
}

/// Each changed file as a person sees it; `None` for what is no file. Together they have a bounded size.
fn shown_files(changed: &[Change<'_>]) -> Vec<Option<ChangedFile>> {
    let mut bytes = 0;
    let shown = |change: &Change<'_>| {
        if change.now.is_some_and(is_not_followed) {
            return None;
        }
        let mut file = change.shown();
        bytes += file.old.len() + file.new.len();
        if bytes > MAX_SHOWN_BYTES {
            file = ChangedFile { path: file.path, is_cut: true, ..ChangedFile::default() };
        }
        Some(file)
    };
    changed.iter().map(shown).collect()
}

/// What the reason says about the changed lines of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinesInReason {
    /// How many there are, because all are shown elsewhere.
    Count,
    /// The first of them.
    First,
    /// Nothing.
    None,
}

impl LinesInReason {
    /// What is said about a file that is not shown whole, by its index among the changed files.
    fn from_index(index: usize) -> Self {
        if index < MAX_SHOWN { Self::First } else { Self::None }
    }
}

/// A file that is not as it was when it was last allowed.
struct Change<'a> {
    path: &'a str,
    /// What was allowed; `None` if nothing was.
    before: Option<Option<&'a SeenFile>>,
    now: Option<&'a SeenFile>,
}

impl Change<'_> {
    fn shown(&self) -> ChangedFile {
        let (path, before, now) = (self.path.to_owned(), self.before.flatten(), self.now);
        let mut files = [before, now].into_iter().flatten();
        if files.clone().any(|file| file.is_text_left_out) {
            return ChangedFile { path, is_cut: true, ..ChangedFile::default() };
        }
        let is_cut = files.any(|file| file.text.len() + CUT_LETTER_BYTES >= MAX_TEXT_BYTES);
        let text = |file: Option<&SeenFile>| file.map(|file| file.text.clone()).unwrap_or_default();
        ChangedFile { path, old: text(before), new: text(now), is_cut }
    }

    /// Describes the change, such as "tools/run.sh, which it runs, changed since it was last allowed or shown (+1 −1)", or
    /// with the first lines: "(+1 −1: -echo a +echo b)".
    fn described(&self, shown: LinesInReason) -> String {
        let Self { path, before, now } = self;
        let how = if now.or(before.flatten()).is_some_and(|file| file.is_loaded) { "loads" } else { "runs" };
        let since = "since it was last allowed or shown";
        let concern = now.and_then(|now| now.concern.as_ref());
        let what = match (before, concern) {
            (_, Some(CodeConcern::NamesPrograms)) => {
                let what = "the repository's own settings name programs that git may run";
                if shown == LinesInReason::Count {
                    return format!("{what} ({})", lines_of(before.flatten(), *now, false));
                }
                let lines = now.map_or("", |now| &now.text);
                let lines: Vec<&str> = lines.lines().take(MAX_NAMED).collect();
                return format!("{what}: {}", lines.join("; "));
            }
            (_, Some(CodeConcern::NotFollowed)) => {
                return format!("its code could not be followed whole: {}", now.map_or("", |now| &now.text));
            }
            (None, Some(CodeConcern::WrittenBy(agent))) => format!("was written by {agent} and not allowed yet"),
            (None, None) => format!("is loaded for the first time {since}"),
            (Some(None), _) => format!("was created {since}"),
            (Some(_), _) if now.is_none() => format!("was removed {since}"),
            (Some(_), _) => format!("changed {since}"),
        };
        let lines = match shown {
            LinesInReason::None => String::new(),
            _ => format!(" ({})", lines_of(before.flatten(), *now, shown == LinesInReason::First)),
        };
        format!("{path}, which it {how}, {what}{lines}")
    }
}

/// The number of changed lines of a file, and the first of them if `has_text`, as far as its text is kept.
fn lines_of(before: Option<&SeenFile>, now: Option<&SeenFile>, has_text: bool) -> String {
    if [before, now].into_iter().flatten().any(|file| file.is_text_left_out) {
        return "its text is not shown".to_owned();
    }
    changed_lines(before.map_or("", |file| &file.text), now.map_or("", |file| &file.text), has_text)
}

fn changed_lines(before: &str, now: &str, has_text: bool) -> String {
    let diff = TextDiff::from_lines(before, now);
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
    if !has_text {
        return format!("+{added} \u{2212}{removed}");
    }
    // Only the beginning of a long file is kept.
    let lines = if lines.is_empty() { "beyond its beginning".to_owned() } else { lines.join(" ") };
    format!("+{added} \u{2212}{removed}: {lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &str, text: Option<&str>) -> SeenCode {
        [(path.to_owned(), text.map(file))].into()
    }

    fn file(text: &str) -> SeenFile {
        SeenFile { hash: format!("hash of {text}"), text: text.to_owned(), ..SeenFile::default() }
    }

    fn loaded(path: &str, text: &str) -> SeenCode {
        [(path.to_owned(), Some(SeenFile { is_loaded: true, ..file(text) }))].into()
    }

    fn both(one: SeenCode, other: SeenCode) -> SeenCode {
        one.into_iter().chain(other).collect()
    }

    fn reasons(known: &KnownCode, seen: &SeenCode) -> Vec<String> {
        known.changes(seen, "x").iter().map(|rule| rule.source.because()).collect()
    }

    #[test]
    fn a_change_of_a_file_that_a_command_runs_is_described() {
        let mut known = KnownCode::default();
        known.note(&seen("run.sh", Some("set -e\necho one\n")));
        assert_eq!(known.changes(&seen("run.sh", Some("set -e\necho one\n")), "sh run.sh"), []);
        assert_eq!(known.changes(&seen("other.sh", Some("x")), "sh other.sh"), [], "it is seen for the first time");
        let rules = known.changes(&seen("run.sh", Some("set -e\nrm -r x\n")), "sh run.sh");
        let why = rules[0].source.because();
        assert!(why.contains("run.sh, which it runs, changed since") && why.contains("(+1 \u{2212}1)"), "{why}");
        assert!(rules[0].for_task().is_none(), "no earlier permission covers it");
        let rules = known.changes(&seen("run.sh", None), "sh run.sh");
        assert!(rules[0].source.because().contains("was removed"));
    }

    #[test]
    fn every_changed_line_is_shown_before_a_person_allows_the_call() {
        let mut known = KnownCode::default();
        let old: String = (0..40).map(|line| format!("echo {line}\n")).collect();
        known.note(&seen("run.sh", Some(&old)));
        let hostile = seen("run.sh", Some(&format!("{}rm -r \u{202e}x\n", old.replace("echo", "printf"))));
        let rows = |seen: &SeenCode| -> Vec<String> {
            let files = known.changed_files(seen);
            files.iter().flat_map(ChangedFile::lines).flat_map(|line| line.rows(100)).collect()
        };
        let shown = rows(&hostile);
        for line in (0..40).map(|line| format!("  + printf {line}")).chain(["  + rm -r ‹U+202E›x".to_owned()]) {
            assert!(shown.contains(&line), "{line} in {shown:?}");
        }
        assert!(shown[0].starts_with("run.sh, which it runs"), "{shown:?}");
        assert_eq!(rows(&seen("run.sh", Some(&old))), [""; 0], "an unchanged file is not shown");
        let long = seen("run.sh", Some(&"x".repeat(MAX_TEXT_BYTES)));
        assert!(rows(&long).last().is_some_and(|last| last.contains("not all of this file is shown")));
        assert!(reasons(&known, &long)[0].contains(": -echo 0 -echo 1"), "{:?}", reasons(&known, &long));
        let left_out = SeenFile { is_text_left_out: true, ..file("") };
        let left_out = [("run.sh".to_owned(), Some(left_out))].into();
        let shown = rows(&left_out);
        assert!(shown.len() == 2 && shown[1].contains("not all of this file is shown"), "{shown:?}");
        let many: SeenCode = (0..40)
            .map(|number| (format!("{number}.sh"), Some(SeenFile { is_loaded: true, ..file(&"y\n".repeat(4_000)) })))
            .collect();
        let shown = known.changed_files(&many);
        let bytes: usize = shown.iter().map(|file| file.old.len() + file.new.len()).sum();
        assert!(shown.len() == 40 && bytes <= MAX_SHOWN_BYTES && shown[39].is_cut, "{bytes}");
    }

    #[test]
    fn a_changed_line_that_is_shown_whole_is_not_repeated_in_a_reason() {
        let mut known = KnownCode::default();
        let names = SeenFile { concern: Some(CodeConcern::NamesPrograms), ..file("diff.external = mark") };
        let first =
            both(both(seen("run.sh", Some("echo old mark\n")), seen("gone.sh", Some("mark"))), seen("new.sh", None));
        known.note(&first);
        let now = both(
            both(both(seen("run.sh", Some("echo mark\n")), seen("gone.sh", None)), seen("new.sh", Some("mark\n"))),
            both(loaded("lib.sh", "mark\n"), [(".git".to_owned(), Some(names))].into()),
        );
        known.note(&now);
        let reasons = reasons(&known, &now);
        assert!(reasons.len() == 5 && reasons.iter().all(|why| !why.contains("mark")), "{reasons:?}");
        let rows: Vec<String> =
            known.changed_files(&now).iter().flat_map(ChangedFile::lines).flat_map(|line| line.rows(100)).collect();
        for row in ["  - echo old mark", "  + echo mark", "  - mark", "  + mark", "  + diff.external = mark"] {
            assert!(rows.iter().any(|shown| shown == row), "{row} in {rows:?}");
        }
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

    #[test]
    fn what_a_known_script_loads_later_is_asked_about() {
        let mut known = KnownCode::default();
        let script = || seen("run.sh", Some(". lib.sh"));
        let first = both(script(), loaded("lib.sh", "echo one"));
        known.note(&first);
        assert_eq!(known.changes(&first, "x"), [], "what was there first is what the rule was written for");
        let changed = both(script(), loaded("lib.sh", "echo two"));
        assert!(reasons(&known, &changed)[0].contains("lib.sh, which it loads, changed since"));
        let more = both(first.clone(), loaded("json.py", "print()"));
        known.note(&more);
        assert!(reasons(&known, &more)[0].contains("json.py, which it loads, is loaded for the first time"));
        // Nor does a new argument make it new.
        let argument = both(more.clone(), seen("out.txt", None));
        known.note(&argument);
        assert_eq!(known.changes(&argument, "x").len(), 1);
        known.allow(&argument);
        assert_eq!(known.changes(&argument, "x"), []);
    }

    #[test]
    fn what_an_agent_wrote_before_it_ever_ran_is_asked_about_once() {
        let mut known = KnownCode::default();
        let written = SeenFile { is_loaded: true, concern: Some(CodeConcern::WrittenBy("ada".into())), ..file("x") };
        let all = both(seen("run.sh", Some(". lib.sh")), [("lib.sh".to_owned(), Some(written))].into());
        known.note(&all);
        assert!(reasons(&known, &all)[0].contains("was written by ada"), "{:?}", reasons(&known, &all));
        known.allow(&all);
        assert_eq!(known.changes(&all, "x"), []);
    }

    #[test]
    fn programs_that_a_repository_names_are_asked_about_once() {
        let mut known = KnownCode::default();
        let names = |text: &str| -> SeenCode {
            let concern = Some(CodeConcern::NamesPrograms);
            [(".git".to_owned(), Some(SeenFile { concern, ..file(text) }))].into()
        };
        known.note(&seen(".git", None));
        assert_eq!(known.changes(&seen(".git", None), "x"), [], "an ordinary repository asks nothing");
        let one = names(".git/config: diff.external = x");
        known.note(&one);
        assert!(reasons(&known, &one)[0].ends_with("programs that git may run (+1 \u{2212}0)"));
        let rows: Vec<String> = known.changed_files(&one)[0].lines().iter().flat_map(|line| line.rows(100)).collect();
        assert!(rows.contains(&"  + .git/config: diff.external = x".to_owned()), "{rows:?}");
        known.allow(&one);
        assert_eq!(known.changes(&one, "x"), []);
        assert_eq!(known.changes(&names("diff.external = y"), "x").len(), 1);
    }

    #[test]
    fn code_that_could_not_be_followed_whole_is_asked_about_each_time() {
        let reason = "more than 500 files are loaded";
        let unfollowed = |path: &str| -> SeenCode {
            let concern = Some(CodeConcern::NotFollowed);
            [(path.to_owned(), Some(SeenFile { concern, ..file(reason) }))].into()
        };
        let copy = ".workshop/worktrees/ada/files";
        let here = both(seen("run.sh", Some("x")), unfollowed("."));
        let in_copy = both(
            both(seen("run.sh", Some("x")), seen(&format!("{copy}/run.sh"), Some("x"))),
            unfollowed(&format!("{copy}/.")),
        );
        for all in [here, in_copy] {
            let mut known = KnownCode::default();
            for _ in 0..3 {
                known.note(&all);
                let expected = format!("its code could not be followed whole: {reason}");
                assert_eq!(reasons(&known, &all), [expected]);
                assert_eq!(known.changed_files(&all), [], "it is no file");
                known.allow(&all);
            }
            assert_eq!(known.changes(&seen("run.sh", Some("x")), "x"), [], "once it can be followed, it is not asked");
        }
    }

    #[test]
    fn what_is_not_remembered_because_there_is_too_much_is_said() {
        let mut known = KnownCode::default();
        for number in 0..MAX_FILES {
            known.note(&seen(&format!("{number}.sh"), Some("x")));
        }
        assert_eq!(known.changes(&seen("0.sh", Some("x")), "x"), []);
        let more = seen("more.sh", Some("x"));
        known.note(&more);
        known.allow(&more);
        assert!(reasons(&known, &more).iter().any(|why| why.contains("it is not remembered")), "it is asked each time");
    }

    #[test]
    fn code_in_a_copy_is_that_of_the_workspace_or_was_allowed_there() {
        let copy = ".workshop/worktrees/ada/files/run.sh";
        let look = |original: &str, text: &str| both(seen("run.sh", Some(original)), seen(copy, Some(text)));
        let mut known = KnownCode::default();
        known.note(&look("one", "one"));
        assert_eq!(known.changes(&look("one", "one"), "x"), []);
        let changed = look("one", "two");
        known.note(&changed);
        let why = reasons(&known, &changed);
        assert!(why.len() == 1 && why[0].starts_with("run.sh, which it runs, changed"), "{why:?}");
        let [file] = &known.changed_files(&changed)[..] else { panic!("{why:?}") };
        assert_eq!((file.old.as_str(), file.new.as_str()), ("one", "two"));
        known.allow(&changed);
        assert_eq!(known.changes(&changed, "x"), []);
        assert_eq!(known.changes(&look("one", "one"), "x"), []);
        assert_eq!(known.changes(&seen("run.sh", Some("two")), "x").len(), 1, "it holds in the copy only");
        let mut unknown = KnownCode::default();
        unknown.note(&changed);
        assert_eq!(unknown.changes(&changed, "x").len(), 1, "what the agent changed first was never allowed");
    }

    proptest::proptest! {
        #[test]
        fn only_what_was_allowed_or_seen_first_runs_unasked(
            steps in proptest::collection::vec((0..3usize, 0..3usize, proptest::bool::ANY), 1..40),
        ) {
            let mut known = KnownCode::default();
            let mut allowed: BTreeMap<usize, usize> = BTreeMap::new();
            for (path, text, is_allowed) in steps {
                let look = seen(&format!("{path}.sh"), Some(&text.to_string()));
                known.note(&look);
                let last = *allowed.entry(path).or_insert(text);
                proptest::prop_assert_eq!(known.changes(&look, "x").is_empty(), last == text);
                if is_allowed {
                    known.allow(&look);
                    allowed.insert(path, text);
                }
            }
        }
    }
}
