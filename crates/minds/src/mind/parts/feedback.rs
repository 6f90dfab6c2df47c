//! The part of a prompt with remarks on refused or unknown parts of the agent's last reply.

use super::{PartProvider, Privacy, Slot};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::untrusted_text::LINE_CHARS;
use crate::mind::untrusted_text::line;

/// The remarks not delivered yet.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("feedback", "What was last refused", headings::FEEDBACK), Slot::Now, |context, out| {
        if context.feedback.is_empty() {
            return;
        }
        let mut body = "Your last reply:".to_owned();
        for remark in &context.feedback {
            body.push_str("\n- ");
            body.push_str(&line(remark, LINE_CHARS));
        }
        out.own_text(&body, context.feedback.iter().map(|remark| PartItem::text(remark)).collect());
    })
    .ranked(200)
    .with_privacy(Privacy::Open)
}
