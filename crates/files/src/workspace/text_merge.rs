//! Three-way merge of texts, line by line; the only one in the program. Changes by only one side are applied; for lines
//! that both sides changed differently, a person decides ([`TextMerge`]) or, if no person can be asked, both versions
//! are kept ([`merge_keeping_both`]). No text is discarded without asking.
//!
//! Differences are computed by `similar`. `diffy`, which also merges, is not used: in 0.5.2, each of its merges still
//! returns `Result<String, String>` (or bytes), where the error is the whole text with conflict markers like `<<<<<<<`.
//! The positions of the conflicts, which are needed to ask a person about each, are private, and a text may contain
//! such markers itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A piece of the merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergePiece {
    /// A piece without a conflict.
    Agreed(String),
    /// A piece that both sides changed differently.
    Conflict(Conflict),
}

/// A piece that both sides changed differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The text before both changes.
    pub base: String,
    /// My version.
    pub mine: String,
    /// The other party's version.
    pub theirs: String,
}

/// How a conflict is resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// My version.
    Mine,
    /// The other party's version.
    Theirs,
    /// Both versions, mine first.
    Both,
}

/// A merge whose conflicts a person resolves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextMerge {
    pieces: Arc<Vec<MergePiece>>,
    /// The choices made so far, by the index of the piece.
    choices: BTreeMap<usize, Choice>,
}

impl TextMerge {
    /// Merges `mine` and `theirs`, which are both based on `base`.
    pub fn new(base: &str, mine: &str, theirs: &str) -> Self {
        Self { pieces: merge(base, mine, theirs).into(), choices: BTreeMap::new() }
    }

    /// Iterates over the conflicts, each with its index and the choice made, if any.
    pub fn conflicts(&self) -> impl Iterator<Item = (usize, &Conflict, Option<Choice>)> {
        self.pieces.iter().enumerate().filter_map(|(place, piece)| match piece {
            MergePiece::Agreed(_) => None,
            MergePiece::Conflict(conflict) => Some((place, conflict, self.choices.get(&place).copied())),
        })
    }

    /// Resolves the conflict with this index.
    pub fn choose(&mut self, place: usize, choice: Choice) {
        self.choices.insert(place, choice);
    }

    /// Returns the merged text, once every conflict is resolved.
    pub fn text(&self) -> Option<String> {
        let mut text = String::new();
        for (place, piece) in self.pieces.iter().enumerate() {
            match piece {
                MergePiece::Agreed(lines) => push(&mut text, lines),
                MergePiece::Conflict(Conflict { mine, theirs, .. }) => match self.choices.get(&place)? {
                    Choice::Mine => push(&mut text, mine),
                    Choice::Theirs => push(&mut text, theirs),
                    Choice::Both => {
                        push(&mut text, mine);
                        push(&mut text, theirs);
                    }
                },
            }
        }
        Some(text)
    }
}

/// Merges two texts without asking: if both changed the same lines, the new lines of both are kept, mine first.
pub fn merge_keeping_both(base: &str, mine: &str, theirs: &str) -> String {
    let mut text = String::new();
    for piece in merge(base, mine, theirs) {
        match piece {
            MergePiece::Agreed(lines) => push(&mut text, &lines),
            MergePiece::Conflict(conflict) => push_new_lines(&mut text, &conflict),
        }
    }
    text
}

/// Merges two versions of a file; a deleted file is `None`. Returns `None` if both changed the same lines, if one
/// deleted the file and the other changed it, or if both created it with different texts.
pub fn merge_files<'a>(
    base: Option<&'a str>,
    mine: Option<&'a str>,
    theirs: Option<&'a str>,
) -> Option<Option<Cow<'a, str>>> {
    if mine == theirs || mine == base {
        return Some(theirs.map(Cow::Borrowed));
    }
    if theirs == base {
        return Some(mine.map(Cow::Borrowed));
    }
    let (base, mine, theirs) = (base?, mine?, theirs?);
    TextMerge::new(base, mine, theirs).text().map(|text| Some(Cow::Owned(text)))
}

/// Appends the lines that both sides have, once, and the new lines of either side. A line that one side removed is
/// removed.
fn push_new_lines(text: &mut String, Conflict { base, mine, theirs }: &Conflict) {
    let (base, mine, theirs) = (lines(base), lines(mine), lines(theirs));
    let of_mine = |line: &&&str| !base.contains(line) || theirs.contains(line);
    let of_theirs = |line: &&&str| !base.contains(line) && !mine.contains(line);
    for op in capture_diff_slices(Algorithm::Myers, &mine, &theirs) {
        match op {
            DiffOp::Equal { .. } => op.old_range().for_each(|at| push(text, mine[at])),
            _ => {
                mine[op.old_range()].iter().filter(of_mine).for_each(|line| push(text, line));
                theirs[op.new_range()].iter().filter(of_theirs).for_each(|line| push(text, line));
            }
        }
    }
}

/// Appends lines. A missing line break at the end of the text is added first.
fn push(text: &mut String, lines: &str) {
    if !lines.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(lines);
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A range of lines that one side changed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Hunk {
    base: Range<usize>,
    side: Range<usize>,
}

/// Merges `mine` and `theirs`, which are both based on `base`. Whether the last line has a line break is merged
/// separately: it does not make the line different.
fn merge(base: &str, mine: &str, theirs: &str) -> Vec<MergePiece> {
    let [before, my_end, their_end] = [base, mine, theirs].map(|text| text.chars().last().map(|last| last == '\n'));
    let is_ended = match (my_end, their_end) {
        (Some(mine), Some(theirs)) if my_end == before || their_end == before => {
            if my_end == before {
                theirs
            } else {
                mine
            }
        }
        // Both sides changed it, or one side has no lines.
        _ => my_end == Some(true) || their_end == Some(true),
    };
    let [base, mine, theirs] = [base, mine, theirs].map(with_end);
    let mut pieces = merge_lines(&lines(&base), &lines(&mine), &lines(&theirs));
    if !is_ended {
        match pieces.last_mut() {
            Some(MergePiece::Agreed(text)) => without_end(text),
            Some(MergePiece::Conflict(conflict)) => {
                [&mut conflict.base, &mut conflict.mine, &mut conflict.theirs].into_iter().for_each(without_end);
            }
            None => {}
        }
    }
    pieces
}

fn with_end(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n").into() }
}

/// Removes the line break of the last line, unless that line is empty.
fn without_end(text: &mut String) {
    if text.ends_with('\n') && !text.ends_with("\n\n") && text != "\n" {
        text.pop();
    }
}

fn merge_lines(base: &[&str], mine: &[&str], theirs: &[&str]) -> Vec<MergePiece> {
    let (my_hunks, their_hunks) = (hunks(base, mine), hunks(base, theirs));
    let (mut my_next, mut their_next) = (0, 0);
    let mut pieces = Vec::new();
    let mut done = 0;
    loop {
        let (my_first, their_first) = (my_next, their_next);
        let starts = [my_hunks.get(my_next), their_hunks.get(their_next)];
        let Some(start) = starts.into_iter().flatten().map(|hunk| hunk.base.start).min() else { break };
        let mut stretch = start..start;
        // Hunks that touch the range belong to it and extend it; the first one always does.
        let mut is_first = true;
        loop {
            let belongs = |hunk: &&Hunk| if is_first { hunk.base.start == start } else { touch(&stretch, &hunk.base) };
            if let Some(hunk) = my_hunks.get(my_next).filter(belongs) {
                stretch.end = stretch.end.max(hunk.base.end);
                my_next += 1;
            } else if let Some(hunk) = their_hunks.get(their_next).filter(belongs) {
                stretch.end = stretch.end.max(hunk.base.end);
                their_next += 1;
            } else {
                break;
            }
            is_first = false;
        }
        agree(&mut pieces, &base[done..stretch.start]);
        done = stretch.end;
        let my_lines = side(mine, &my_hunks[my_first..my_next], &stretch);
        let their_lines = side(theirs, &their_hunks[their_first..their_next], &stretch);
        match (my_lines, their_lines) {
            (Some(lines), None) | (None, Some(lines)) => agree(&mut pieces, lines),
            (Some(one), Some(other)) if one == other => agree(&mut pieces, one),
            (Some(mine), Some(theirs)) => pieces.push(MergePiece::Conflict(Conflict {
                base: base[stretch].concat(),
                mine: mine.concat(),
                theirs: theirs.concat(),
            })),
            (None, None) => agree(&mut pieces, &base[stretch]),
        }
    }
    agree(&mut pieces, &base[done..]);
    pieces
}

fn hunks(base: &[&str], side: &[&str]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut goes_on = false;
    for op in capture_diff_slices(Algorithm::Myers, base, side) {
        let is_change = !matches!(op, DiffOp::Equal { .. });
        if is_change {
            let (from, to) = (op.old_range(), op.new_range());
            match hunks.last_mut() {
                Some(last) if goes_on => {
                    last.base.end = last.base.end.max(from.end);
                    last.side.end = last.side.end.max(to.end);
                }
                _ => hunks.push(Hunk { base: from, side: to }),
            }
        }
        goes_on = is_change;
    }
    hunks
}

/// Whether two changes overlap. An insertion touches the lines before and after it.
fn touch(one: &Range<usize>, other: &Range<usize>) -> bool {
    if one.is_empty() || other.is_empty() {
        one.start <= other.end && other.start <= one.end
    } else {
        one.start < other.end && other.start < one.end
    }
}

/// Returns one side's version of a range of the base; `None` if it is unchanged.
fn side<'a, 'b>(lines: &'b [&'a str], hunks: &[Hunk], stretch: &Range<usize>) -> Option<&'b [&'a str]> {
    let (first, last) = (hunks.first()?, hunks.last()?);
    let start = first.side.start - (first.base.start - stretch.start);
    let end = last.side.end + (stretch.end - last.base.end);
    Some(&lines[start..end])
}

fn agree(pieces: &mut Vec<MergePiece>, lines: &[&str]) {
    if lines.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(MergePiece::Agreed(text)) => text.extend(lines.iter().copied()),
        _ => pieces.push(MergePiece::Agreed(lines.concat())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(base: &str, mine: &str, theirs: &str) -> Option<String> {
        TextMerge::new(base, mine, theirs).text()
    }

    fn settled(base: &str, mine: &str, theirs: &str, choice: Choice) -> String {
        let mut merge = TextMerge::new(base, mine, theirs);
        let places: Vec<usize> = merge.conflicts().map(|(place, ..)| place).collect();
        assert!(!places.is_empty() && merge.text().is_none(), "a person is asked");
        places.into_iter().for_each(|place| merge.choose(place, choice));
        merge.text().expect("everything is settled")
    }

    #[test]
    fn changes_by_one_side_are_applied() {
        let base = "a\nb\nc\nd\n";
        assert_eq!(clean(base, "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
        assert_eq!(clean(base, "a\nb\nc\n", "x\na\nb\nc\nd\n").as_deref(), Some("x\na\nb\nc\n"));
        assert_eq!(clean(base, "A\nb\nc\nd\n", "a\nB\nc\nd\n").as_deref(), Some("A\nB\nc\nd\n"), "neighbours");
        assert_eq!(clean(base, "A\nb\nc\nd\n", "A\nb\nc\nd\n").as_deref(), Some("A\nb\nc\nd\n"), "the same twice");
    }

    #[test]
    fn conflicts_are_left_to_a_person() {
        let (base, mine, theirs) = ("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
        let conflict = Conflict { base: "b\n".into(), mine: "mine\n".into(), theirs: "theirs\n".into() };
        let merge = TextMerge::new(base, mine, theirs);
        assert_eq!(merge.conflicts().collect::<Vec<_>>(), [(1, &conflict, None)]);
        for (choice, text) in [(Choice::Mine, mine), (Choice::Theirs, theirs), (Choice::Both, "a\nmine\ntheirs\nc\n")] {
            assert_eq!(settled(base, mine, theirs, choice), text);
        }
    }

    #[test]
    fn insertions_at_the_same_position_conflict_and_lines_stay_separate() {
        assert_eq!(settled("a", "a\nmine", "a\ntheirs", Choice::Both), "a\nmine\ntheirs");
        assert_eq!(settled("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", Choice::Mine), "a\nx\nb\n");
        assert_eq!(settled("a\nb\n", "a\nb\nx\n", "a\n", Choice::Mine), "a\nb\nx\n", "put after a line that is gone");
        assert_eq!(clean("a\nb", "a\nb\nmine", "theirs\na\nb").as_deref(), Some("theirs\na\nb\nmine"));
    }

    #[test]
    fn empty_texts_can_be_merged() {
        assert_eq!(clean("", "", "").as_deref(), Some(""));
        assert_eq!(clean("", "mine\n", "").as_deref(), Some("mine\n"));
        assert_eq!(clean("a\n", "", "a\n").as_deref(), Some(""));
        assert_eq!(settled("a\n", "", "b\n", Choice::Theirs), "b\n");
    }

    #[test]
    fn merging_without_asking_keeps_new_lines_of_both_and_applies_removals() {
        let base = "# Rules\n- one\n- two";
        let merged = |mine, theirs| merge_keeping_both(base, mine, theirs);
        assert_eq!(
            merged("# Rules\n- one\n- two\n- ours", "# Rules\n- one\n- theirs\n- two"),
            "# Rules\n- one\n- theirs\n- two\n- ours"
        );
        assert_eq!(merged("# Rules\n- two", "# Rules!\n- one\n- two"), "# Rules!\n- two");
        assert_eq!(merged("# Rules\n- mine\n- two", "# Rules\n- theirs\n- two"), "# Rules\n- mine\n- theirs\n- two");
        assert_eq!(
            merged("# Rules\n- x\n- y", "# Rules\n- x\n- z"),
            "# Rules\n- x\n- y\n- z",
            "the same is put in once"
        );
        assert_eq!(
            merged("# Rules\n- mine", "# Rules\n- one\n- theirs"),
            "# Rules\n- mine\n- theirs",
            "taken out by one"
        );
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(prop_oneof!["[a-d]\n", "[a-d]", Just("\n".to_owned())], 0..12)
            .prop_map(|all| all.concat())
    }

    /// Generates the fate of each line: unchanged, or replaced or removed by mine or theirs.
    fn fates() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0..5_u8, 0..30)
    }

    proptest! {
        #[test]
        fn merging_with_an_unchanged_side_returns_the_other(base in text(), mine in text()) {
            for (mine, theirs) in [(&mine, &base), (&base, &mine), (&mine, &mine)] {
                let other = if *mine == base { theirs } else { mine };
                prop_assert_eq!(clean(&base, mine, theirs), Some(other.clone()));
                prop_assert_eq!(&merge_keeping_both(&base, mine, theirs), other);
            }
        }

        #[test]
        fn no_line_is_lost(base in text(), mine in text(), theirs in text()) {
            let mut merge = TextMerge::new(&base, &mine, &theirs);
            let places: Vec<usize> = merge.conflicts().map(|(place, ..)| place).collect();
            places.into_iter().for_each(|place| merge.choose(place, Choice::Both));
            let all = [merge.text().unwrap_or_default(), merge_keeping_both(&base, &mine, &theirs)];
            for (side, what) in [(&mine, "mine"), (&theirs, "theirs")] {
                for line in side.lines().filter(|line| !base.lines().any(|old| old == *line)) {
                    let is_kept = all.iter().all(|text| text.lines().any(|kept| kept == line));
                    prop_assert!(is_kept, "{what}: {line:?} is lost in {all:?}");
                }
            }
        }

        #[test]
        fn conflicts_are_symmetric(base in text(), mine in text(), theirs in text()) {
            let turned = |conflict: &Conflict| {
                let Conflict { base, mine, theirs } = conflict.clone();
                Conflict { base, mine: theirs, theirs: mine }
            };
            let one = TextMerge::new(&base, &mine, &theirs);
            let other = TextMerge::new(&base, &theirs, &mine);
            let theirs: Vec<_> = other.conflicts().map(|(place, conflict, _)| (place, turned(conflict))).collect();
            let mine: Vec<_> = one.conflicts().map(|(place, conflict, _)| (place, conflict.clone())).collect();
            prop_assert_eq!(mine, theirs);
            prop_assert!(one.text() == other.text());
        }

        #[test]
        fn edits_of_different_lines_merge_without_conflicts(fates in fates()) {
            let side = |is_mine: bool| -> String {
                fates.iter().enumerate().map(|(line, fate)| match (fate, is_mine) {
                    (1, true) => format!("mine {line}\n"),
                    (2, false) => format!("theirs {line}\n"),
                    (3, true) | (4, false) => String::new(),
                    _ => format!("line {line}\n"),
                }).collect()
            };
            let base: String = (0..fates.len()).map(|line| format!("line {line}\n")).collect();
            let merged: String = fates.iter().enumerate().map(|(line, fate)| match fate {
                1 => format!("mine {line}\n"),
                2 => format!("theirs {line}\n"),
                3 | 4 => String::new(),
                _ => format!("line {line}\n"),
            }).collect();
            prop_assert_eq!(clean(&base, &side(true), &side(false)), Some(merged.clone()));
            prop_assert_eq!(merge_keeping_both(&base, &side(true), &side(false)), merged);
        }
    }
}
