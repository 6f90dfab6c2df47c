//! The part of a prompt that says which text is to be followed and which is information.

use super::{PartProvider, Privacy, Slot};
use crate::mind::context::CurrentRequest;
use crate::mind::headings;
use crate::mind::prompts::{TEXTS, filled};
use crate::mind::untrusted_text::name;

/// Explains how to read the prompt; for summaries and memories, what the answer must contain.
pub(super) fn part() -> PartProvider {
    let names = ("guide", "What counts as an instruction", headings::GUIDE);
    PartProvider::new(names, Slot::System, |context, out| {
        let text = match context.moment {
            CurrentRequest::Compact => filled(TEXTS.compaction_system, &[("name", &name(&context.who.name))]),
            CurrentRequest::Learn { .. } | CurrentRequest::Weigh { .. } => {
                filled(TEXTS.learning_system, &[("name", &name(&context.who.name))])
            }
            _ => TEXTS.guide.to_owned(),
        };
        out.text(text, 0..0, Vec::new());
    })
    .ranked(200)
    .with_privacy(Privacy::Open)
    .at(|_| true)
}
