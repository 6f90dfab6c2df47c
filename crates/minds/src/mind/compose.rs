//! Builds a prompt from a [`MindContext`]. Pure. Rules come first, and parts that change with every call come last,
//! with the current request at the very end. Every part keeps its source, the prompt stays within its budget, and every
//! cut is marked.
//!
//! The parts are those of [`PromptParts`]. The room's own texts are in [`super::prompts`]. Text by a person, another
//! agent or a file is inserted as data by [`super::untrusted_text`], unless it is to be followed. No text can pose as
//! another part: see [`super::heading_guard`].

use std::borrow::Cow;

use super::context::{CurrentRequest, MindContext};
use super::current_request;
use super::message::{PromptMessage, Role};
use super::parts::{PartWriter, PromptParts, Share, Slot};
use super::prompt::{Prompt, PromptPart};
use crate::base::Id;
use crate::base::text::truncate;

/// Builds the prompt for the current request.
pub fn render(parts: &PromptParts, context: &MindContext) -> Prompt {
    compose(parts, context).0
}

/// Builds the prompt, and returns the ids of the mail that it contains.
pub fn compose(parts: &PromptParts, context: &MindContext) -> (Prompt, Vec<Id>) {
    let max = context.max_chars;
    let mut mail_shown = Vec::new();
    // The shares of the required parts add up to less than the whole; memories get the rest.
    let headings = parts.headings();
    // Standalone requests have hardly any other content.
    let for_moment = if context.moment.is_standalone() { max / 2 } else { max / 4 };
    let moment = current_request::moment(context, for_moment, &mut mail_shown);
    let moment = headings.escape_headings(&moment).into_owned();
    let mut left = max.saturating_sub(moment.chars().count());
    let wanted: Vec<_> = parts.iter().filter(|provider| provider.belongs(context)).collect();
    let mut written: Vec<Vec<PromptPart>> = vec![Vec::new(); wanted.len()];
    for turn in [is_fixed, is_first_of_rest, is_of_rest] {
        for (provider, written) in wanted.iter().zip(&mut written).filter(|(provider, _)| turn(provider.share)) {
            let mut out = PartWriter::new(provider, headings, (max, left));
            provider.write(context, &mut out);
            let (parts, shown) = out.finish();
            left = left.saturating_sub(parts.iter().map(|part| part.text.chars().count()).sum());
            mail_shown.extend(shown);
            *written = parts;
        }
    }
    let mut prompt = Prompt { moment, asked: Some(Box::new(asked(context, for_moment))), ..Prompt::default() };
    for (provider, written) in wanted.iter().zip(written) {
        let slot = match provider.slot {
            Slot::System => &mut prompt.system,
            Slot::Known => &mut prompt.known,
            // In work prompts the memories come before the task.
            Slot::Changing if matches!(context.moment, CurrentRequest::Work) => &mut prompt.known,
            Slot::Changing | Slot::Now => &mut prompt.now,
        };
        slot.extend(written);
    }
    prompt.stable_parts = prompt.system.len();
    prompt.history = harmless_history(parts, history(&context.history, left));
    (prompt, mail_shown)
}

fn is_fixed(share: Share) -> bool {
    matches!(share, Share::Orders | Share::Whole(_))
}

fn is_first_of_rest(share: Share) -> bool {
    matches!(share, Share::LeftFirst(_))
}

fn is_of_rest(share: Share) -> bool {
    matches!(share, Share::Left(_))
}

/// Returns the current request as data, with its texts cut to the length they may have in the prompt.
fn asked(context: &MindContext, max_chars: usize) -> CurrentRequest {
    let mut asked = context.moment.clone();
    match &mut asked {
        CurrentRequest::Read { text, new, .. } => {
            for text in new.iter_mut().chain([text]) {
                *text = truncate(text, max_chars);
            }
        }
        CurrentRequest::ReadMail { mail, .. } => mail.clone_from(&context.mail),
        CurrentRequest::Talk { earlier: told, .. } | CurrentRequest::Woken { quotes: told, .. } => {
            told.retain(|line| context.who.share_user_info || !line.by_person);
        }
        CurrentRequest::Learn { lines, .. } => lines.retain(|line| context.who.share_user_info || !line.by_person),
        CurrentRequest::Compact | CurrentRequest::Weigh { .. } | CurrentRequest::Work => {}
    }
    asked
}

/// Escapes the messages so that none can pose as a part of the prompt. The agent's own messages are unchanged, and so
/// are tool results, which are between fences.
pub(super) fn harmless_history(parts: &PromptParts, mut messages: Vec<PromptMessage>) -> Vec<PromptMessage> {
    for message in messages.iter_mut().filter(|message| message.role == Role::User) {
        if let Cow::Owned(text) = parts.headings().escape_headings(&message.text) {
            message.text = text;
        }
    }
    messages
}

/// Returns the newest messages that fit into `left` characters.
fn history(messages: &[PromptMessage], mut left: usize) -> Vec<PromptMessage> {
    let fit = messages.iter().rev().take_while(|message| {
        let chars = message.text.chars().count();
        let fits = chars <= left;
        left = left.saturating_sub(chars);
        fits
    });
    let count = fit.count();
    messages[messages.len() - count..].to_vec()
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "data_tests.rs"]
mod data_tests;
