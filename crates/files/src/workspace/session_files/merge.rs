//! Merges a person's edits of a session's messages with messages that the room appended in the meantime. Nothing of
//! either side is lost.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::model::{MessageRole, SessionMessage};

/// A message of the merged session, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergedMessage {
    /// The room's, by its place among them.
    Ours(usize),
    /// The room's in other words, as the person wrote it.
    Edited {
        /// Its place among the room's.
        ours: usize,
        /// Its place among the person's.
        theirs: usize,
    },
    /// The person's, by its place among theirs.
    Theirs(usize),
}

/// The result of merging both sides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// The messages up to the new ones.
    pub messages: Vec<MergedMessage>,
    /// What the person wrote behind everything that they knew: places among theirs.
    pub new: Vec<usize>,
    /// Whether messages were put in between, taken out, or are not a person's to say: that cannot be done while a turn
    /// goes on.
    pub is_rebuilt: bool,
    /// Whether a message says something else.
    pub is_edited: bool,
}

/// Joins both. `written` is how many of the person's first messages the room had written when they began.
///
/// Messages that say the same are the same. Of those between, the ones that the person knew are edited where a message
/// of the same kind stands in the same place, and taken out where none does; what the person did not know of stays.
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

/// Messages between those that are the same.
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
            // Messages of the room meanwhile come after what the person saw.
            merged.messages.extend(put_in.iter().copied().map(MergedMessage::Theirs));
            merged.messages.extend(kept);
        }
    }
}
