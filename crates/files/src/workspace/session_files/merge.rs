//! Merges a person's edits of a session's messages with messages that the room appended in the meantime. Changes of
//! both sides are kept.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::model::{MessageRole, SessionMessage};

/// A message of the merged session, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergedMessage {
    /// A message of the room, by its index.
    Ours(usize),
    /// A message of the room that the person edited.
    Edited {
        /// Its index among the room's messages.
        ours: usize,
        /// Its index among the person's messages.
        theirs: usize,
    },
    /// A message of the person, by its index.
    Theirs(usize),
}

/// The result of merging both sides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// All messages except the new ones.
    pub messages: Vec<MergedMessage>,
    /// The indexes of the person's messages after everything that they had seen.
    pub new: Vec<usize>,
    /// Whether messages were inserted, removed, or have a role that a person cannot write: such an edit cannot be
    /// applied while a turn is running.
    pub is_rebuilt: bool,
    /// Whether the content of a message changed.
    pub is_edited: bool,
}

/// Merges both sides. `written` is the number of the person's first messages that the room had written when the edit
/// began.
///
/// Messages with the same content match. Of the messages between matches, those that the person had seen are edited if
/// a message of the same role is at the same position, and removed otherwise; those that the person had not seen are
/// kept.
pub fn merge(ours: &[SessionMessage], theirs: &[SessionMessage], written: usize) -> Merged {
    let mut merged = Merged::default();
    let keys = |all: &[SessionMessage]| all.iter().map(SessionMessage::identity).collect::<Vec<_>>();
    let mut gap = Gap::default();
    for op in capture_diff_slices(Algorithm::Myers, &keys(ours), &keys(theirs)) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                std::mem::take(&mut gap).close(&mut merged, (ours, theirs), written, false);
                merged.messages.extend((old_index..old_index + len).map(MergedMessage::Ours));
            }
            op => {
                gap.ours.extend(op.old_range());
                gap.theirs.extend(op.new_range());
            }
        }
    }
    gap.close(&mut merged, (ours, theirs), written, true);
    merged
}

/// The messages between two matches.
#[derive(Default)]
struct Gap {
    ours: Vec<usize>,
    theirs: Vec<usize>,
}

impl Gap {
    fn close(
        self,
        merged: &mut Merged,
        (ours, theirs): (&[SessionMessage], &[SessionMessage]),
        written: usize,
        is_last: bool,
    ) {
        let is_edit = |(our, their): &(&usize, &usize)| {
            let (one, other) = (&ours[**our], &theirs[**their]);
            let is_known = **our < written && **their < written;
            is_known
                && one.role == other.role
                && one.tool_call_id == other.tool_call_id
                && one.tool_calls == other.tool_calls
        };
        let edits = self.ours.iter().zip(&self.theirs).take_while(is_edit).count();
        merged.is_edited |= edits > 0;
        let pairs = self.ours.iter().zip(&self.theirs).take(edits);
        merged.messages.extend(pairs.map(|(ours, theirs)| MergedMessage::Edited { ours: *ours, theirs: *theirs }));
        let (known, newer): (Vec<usize>, Vec<usize>) = self.ours[edits..].iter().partition(|ours| **ours < written);
        merged.is_rebuilt |= !known.is_empty();
        let put_in = &self.theirs[edits..];
        let is_said = |their: &usize| matches!(theirs[*their].role, MessageRole::User | MessageRole::System);
        let kept = newer.into_iter().map(MergedMessage::Ours);
        if is_last && put_in.iter().all(is_said) {
            merged.messages.extend(kept);
            merged.new = put_in.to_vec();
        } else {
            merged.is_rebuilt |= !put_in.is_empty();
            // Messages that the room added meanwhile come after those that the person had seen.
            merged.messages.extend(put_in.iter().copied().map(MergedMessage::Theirs));
            merged.messages.extend(kept);
        }
    }
}
