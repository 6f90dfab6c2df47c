//! Two texts that grew from the same one are made into one again, line by line: what only one side changed is taken
//! over, what both changed differently is left to a person. Pure; nothing is thrown away unasked.

use std::collections::BTreeMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A stretch of the merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Nobody disagrees about this.
    Agreed(String),
    /// Both changed it, each in another way.
    Conflict {
        /// What stood there before.
        base: String,
        /// What I made of it.
        mine: String,
        /// What somebody else made of it.
        theirs: String,
    },
}

/// How a conflict is settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// What I wrote.
    Mine,
    /// What somebody else wrote.
    Theirs,
    /// Both, mine first.
    Both,
}

/// A stretch of lines that one side changed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Hunk {
    base: Range<usize>,
    side: Range<usize>,
}

/// Joins `mine` and `theirs`, which both grew from `base`.
pub fn merge(base: &str, mine: &str, theirs: &str) -> Vec<Piece> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (base, mine, theirs) = (lines(base), lines(mine), lines(theirs));
    let (my_hunks, their_hunks) = (hunks(&base, &mine), hunks(&base, &theirs));
    let (mut my_next, mut their_next) = (0, 0);
    let mut pieces = Vec::new();
    let mut done = 0;
    loop {
        let (my_first, their_first) = (my_next, their_next);
        let starts = [my_hunks.get(my_next), their_hunks.get(their_next)];
        let Some(start) = starts.into_iter().flatten().map(|hunk| hunk.base.start).min() else { break };
        let mut stretch = start..start;
        // Whatever touches the stretch belongs to it and widens it; the first hunk always does.
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
        let my_lines = side(&mine, &my_hunks[my_first..my_next], &stretch);
        let their_lines = side(&theirs, &their_hunks[their_first..their_next], &stretch);
        match (my_lines, their_lines) {
            (Some(lines), None) | (None, Some(lines)) => agree(&mut pieces, lines),
            (Some(one), Some(other)) if one == other => agree(&mut pieces, one),
            (Some(mine), Some(theirs)) => pieces.push(Piece::Conflict {
                base: base[stretch].concat(),
                mine: mine.concat(),
                theirs: theirs.concat(),
            }),
            (None, None) => agree(&mut pieces, &base[stretch]),
        }
    }
    agree(&mut pieces, &base[done..]);
    pieces
}

/// How many conflicts there are.
pub fn conflicts(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| matches!(piece, Piece::Conflict { .. })).count()
}

/// The merged text once every conflict is settled; conflicts are named by their place among the pieces.
pub fn join(pieces: &[Piece], choices: &BTreeMap<usize, Choice>) -> Option<String> {
    let mut text = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let settled = match piece {
            Piece::Agreed(lines) => vec![lines],
            Piece::Conflict { mine, theirs, .. } => match choices.get(&index)? {
                Choice::Mine => vec![mine],
                Choice::Theirs => vec![theirs],
                Choice::Both => vec![mine, theirs],
            },
        };
        for lines in settled {
            // The last line of a file may have no end: what follows must not be glued to it.
            if !lines.is_empty() && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(lines);
        }
    }
    Some(text)
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

/// Whether two changes are about the same place. Lines put between two lines are about both of them.
fn touch(one: &Range<usize>, other: &Range<usize>) -> bool {
    if one.is_empty() || other.is_empty() {
        one.start <= other.end && other.start <= one.end
    } else {
        one.start < other.end && other.start < one.end
    }
}

/// What a side made of a stretch of the base; nothing where it left it alone.
fn side<'a, 'b>(lines: &'b [&'a str], hunks: &[Hunk], stretch: &Range<usize>) -> Option<&'b [&'a str]> {
    let (first, last) = (hunks.first()?, hunks.last()?);
    let start = first.side.start - (first.base.start - stretch.start);
    let end = last.side.end + (stretch.end - last.base.end);
    Some(&lines[start..end])
}

fn agree(pieces: &mut Vec<Piece>, lines: &[&str]) {
    if lines.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Agreed(text)) => text.extend(lines.iter().copied()),
        _ => pieces.push(Piece::Agreed(lines.concat())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(base: &str, mine: &str, theirs: &str) -> Option<String> {
        join(&merge(base, mine, theirs), &BTreeMap::new())
    }

    #[test]
    fn what_only_one_side_changed_is_taken_over() {
        let base = "a\nb\nc\nd\n";
        assert_eq!(clean(base, "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
        assert_eq!(clean(base, "a\nb\nc\n", "x\na\nb\nc\nd\n").as_deref(), Some("x\na\nb\nc\n"));
        assert_eq!(clean(base, "A\nb\nc\nd\n", "a\nB\nc\nd\n").as_deref(), Some("A\nB\nc\nd\n"), "neighbours");
        assert_eq!(clean(base, "A\nb\nc\nd\n", "A\nb\nc\nd\n").as_deref(), Some("A\nb\nc\nd\n"), "the same twice");
    }

    #[test]
    fn what_both_changed_is_left_to_a_person() {
        let pieces = merge("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
        let conflict = Piece::Conflict { base: "b\n".into(), mine: "mine\n".into(), theirs: "theirs\n".into() };
        assert_eq!(pieces, [Piece::Agreed("a\n".into()), conflict, Piece::Agreed("c\n".into())]);
        assert_eq!(join(&pieces, &BTreeMap::new()), None);
        for (choice, text) in
            [(Choice::Mine, "a\nmine\nc\n"), (Choice::Theirs, "a\ntheirs\nc\n"), (Choice::Both, "a\nmine\ntheirs\nc\n")]
        {
            assert_eq!(join(&pieces, &BTreeMap::from([(1, choice)])).as_deref(), Some(text));
        }
    }

    #[test]
    fn lines_put_at_the_same_place_are_a_conflict_and_nothing_is_glued_together() {
        let pieces = merge("a", "a\nmine", "a\ntheirs");
        assert_eq!(conflicts(&pieces), 1);
        assert_eq!(join(&pieces, &BTreeMap::from([(0, Choice::Both)])).as_deref(), Some("a\nmine\na\ntheirs"));
        assert_eq!(conflicts(&merge("a\nb\n", "a\nx\nb\n", "a\ny\nb\n")), 1);
        assert_eq!(conflicts(&merge("a\nb\n", "a\nb\nx\n", "a\n")), 1, "put after a line that is gone");
    }

    #[test]
    fn empty_texts_are_texts() {
        assert_eq!(clean("", "", "").as_deref(), Some(""));
        assert_eq!(clean("", "mine\n", "").as_deref(), Some("mine\n"));
        assert_eq!(clean("a\n", "", "a\n").as_deref(), Some(""));
        assert_eq!(conflicts(&merge("a\n", "", "b\n")), 1);
    }

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(prop_oneof!["[a-d]\n", "[a-d]", Just("\n".to_owned())], 0..12)
            .prop_map(|all| all.concat())
    }

    /// What happens to a line: nothing, mine or theirs replace it or take it away.
    fn fates() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(0..5_u8, 0..30)
    }

    proptest! {
        #[test]
        fn merging_with_what_did_not_change_is_the_other(base in text(), mine in text()) {
            prop_assert_eq!(clean(&base, &mine, &base), Some(mine.clone()));
            prop_assert_eq!(clean(&base, &base, &mine), Some(mine.clone()));
            prop_assert_eq!(clean(&base, &mine, &mine), Some(mine));
        }

        #[test]
        fn no_line_is_lost(base in text(), mine in text(), theirs in text()) {
            let pieces = merge(&base, &mine, &theirs);
            let all: String = pieces.iter().map(|piece| match piece {
                Piece::Agreed(text) => format!("{text}\n"),
                Piece::Conflict { mine, theirs, .. } => format!("{mine}\n{theirs}\n"),
            }).collect();
            for (side, what) in [(&mine, "mine"), (&theirs, "theirs")] {
                for line in side.lines().filter(|line| !base.lines().any(|old| old == *line)) {
                    prop_assert!(all.lines().any(|kept| kept == line), "{what}: {line:?} is lost in {pieces:?}");
                }
            }
        }

        #[test]
        fn edits_of_different_lines_merge_without_questions(fates in fates()) {
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
            prop_assert_eq!(clean(&base, &side(true), &side(false)), Some(merged));
        }
    }
}
