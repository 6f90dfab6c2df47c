//! From a [`MindContext`] to a prompt: a pure function. Rules first, always; what changes from call to call last, the
//! moment at the very end; every part keeps where its words came from; nothing exceeds the budget, and what is cut
//! says so.
//!
//! The room's own words are those of [`super::prompts`]. Every word of a person, of another agent or of a file goes
//! through [`super::wording`]: what is not to be followed is data, and nothing can pose as another part.

use super::context::{MindContext, Moment};
use super::question::{Prompt, PromptMessage, PromptOrigin, PromptPart};
use super::wording::{line, name, push_cut, push_fenced};
use super::{headings, known, moments, orders, place};
use crate::base::Id;
use crate::mind::prompts::{TEXTS, filled};

/// How mentions of the person are worded in what an agent remembers, so that they can be found again.
pub const PERSON: &str = "the person";

/// Characters that a single piece of mail, kept pin or utterance takes at most.
pub(super) const ITEM_CHARS: usize = 2_000;
/// Characters that a note, a remark or what is known of an element takes at most.
pub(super) const LINE_CHARS: usize = 1_000;

/// The prompt for this moment.
pub fn render(context: &MindContext) -> Prompt {
    compose(context).0
}

/// The prompt, and the ids of the mail that stands in it.
pub fn compose(context: &MindContext) -> (Prompt, Vec<Id>) {
    let max = context.max_chars;
    let mut mail_shown = Vec::new();
    // What must be there has shares that add up to less than the whole; what is known takes what they leave.
    let moment = moments::moment(context, max / 4, &mut mail_shown);
    let system = system(context, max);
    let mut known = Vec::new();
    let mut now = Vec::with_capacity(8);
    let mut after = Vec::with_capacity(2);
    match context.moment {
        Moment::Compact => {}
        Moment::Work | Moment::Task { .. } => known.push(place::desk(context, max / 24)),
        _ => after.push(place::surroundings(context, max / 24)),
    }
    if !matches!(context.moment, Moment::Compact) {
        after.extend(feedback(context, max / 24));
    }
    let fixed = system.iter().chain(&known).chain(&after).map(|part| part.text.chars().count()).sum::<usize>();
    let mut left = max.saturating_sub(fixed + moment.chars().count());
    if context.who.share_workspace_info {
        known::push(context, &mut left, (&mut known, &mut now), &mut mail_shown);
    }
    now.extend(after);
    let mut prompt = Prompt { system, known, history: history(&context.history, left), now, moment, stable_parts: 0 };
    prompt.mark_stable();
    (prompt, mail_shown)
}

/// The rules, what the agent can do, and who it is: the same from one call to the next.
fn system(context: &MindContext, max: usize) -> Vec<PromptPart> {
    let orders = orders::orders(context, orders::room_for_orders(max));
    let mut system: Vec<PromptPart> = orders.rules.into_iter().collect();
    match context.moment {
        Moment::Compact => {
            let text = filled(TEXTS.compaction_system, &[("name", &name(&context.who.name))]);
            system.push(part(PromptOrigin::Guide, text));
        }
        Moment::Work | Moment::Task { .. } => {
            system.push(part(PromptOrigin::Guide, TEXTS.guide.to_owned()));
            system.push(place::work(context, max / 24));
            system.push(orders.who);
        }
        _ => {
            system.push(part(PromptOrigin::Guide, TEXTS.guide.to_owned()));
            system.push(place::abilities(context, max / 24));
            system.push(orders.who);
        }
    }
    system
}

pub(super) fn part(origin: PromptOrigin, text: String) -> PromptPart {
    PromptPart { origin, text }
}

/// A part in the room's own words.
pub(super) fn section(origin: PromptOrigin, heading: &str, body: &str, max_chars: usize) -> PromptPart {
    let mut text = String::with_capacity(heading.len() + body.len() + 1);
    text.push_str(heading);
    text.push('\n');
    push_cut(&mut text, body, max_chars.saturating_sub(heading.len() + 1));
    part(origin, text)
}

/// A part that holds words of others.
pub(super) fn data(origin: PromptOrigin, heading: &str, body: &str, max_chars: usize) -> PromptPart {
    let mut text = String::with_capacity(heading.len() + body.len() + 32);
    text.push_str(heading);
    text.push('\n');
    push_fenced(&mut text, body, max_chars.saturating_sub(heading.len() + 1));
    part(origin, text)
}

pub(super) fn push_list(out: &mut String, names: &[Id]) {
    for (index, one) in names.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&name(one));
    }
}

fn feedback(context: &MindContext, max_chars: usize) -> Option<PromptPart> {
    if context.feedback.is_empty() {
        return None;
    }
    let mut body = "Your last reply:".to_owned();
    for remark in &context.feedback {
        body.push_str("\n- ");
        body.push_str(&line(remark, LINE_CHARS));
    }
    Some(section(PromptOrigin::Feedback, headings::FEEDBACK, &body, max_chars))
}

/// The newest messages that fit.
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
#[path = "prompt_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "data_tests.rs"]
mod data_tests;
