//! What of a prompt an agent knows of the workspace: boards and its summary, which seldom change, and the rest.

use std::borrow::Cow;
use std::fmt::Write;

use super::context::{MailItem, MindContext, Moment};
use super::headings;
use super::prompt::{ITEM_CHARS, LINE_CHARS, PERSON, data, part};
use super::prompts::{TEXTS, push as push_text};
use super::question::{PromptOrigin, PromptPart};
use super::wording::{name, push_cut, push_fenced};
use crate::base::Id;
use crate::base::text::one_line;

/// The least that a part is given; with less there is nothing worth saying.
const LEAST_CHARS: usize = 80;
/// Mail that was seen before and stands in a prompt all the same, where the moment is another.
const SEEN_MAIL_AT_MOST: usize = 3;

/// Appends parts 3 to 7 of a prompt: what seldom changes to the first list, the rest to the second. Of work all goes to
/// the first, because it is told once.
pub(super) fn push(
    context: &MindContext,
    left: &mut usize,
    (known, now): (&mut Vec<PromptPart>, &mut Vec<PromptPart>),
    mail_shown: &mut Vec<Id>,
) {
    let memory = &context.memory;
    if matches!(context.moment, Moment::Compact) {
        return add(known, left, PromptOrigin::Summary, headings::SUMMARY, &memory.summary);
    }
    let mail = mail(context, *left, mail_shown);
    *left = left.saturating_sub(mail.iter().map(|part| part.text.chars().count()).sum());
    for board in &context.boards {
        let heading = format!("{} {}", headings::BOARD, name(&board.label));
        add(known, left, PromptOrigin::Board { element: board.id.clone() }, &heading, board.text.trim());
    }
    add(known, left, PromptOrigin::Summary, headings::SUMMARY, &memory.summary);
    let now = if matches!(context.moment, Moment::Work | Moment::Task { .. }) { known } else { now };
    add(now, left, PromptOrigin::Notes, headings::NOTES, &bullets(&memory.notes));
    let concerns_person = |line: &&String| line.contains(PERSON);
    let interactions = memory.interactions.iter();
    let interactions = interactions.filter(|line| context.who.share_user_info || !concerns_person(line));
    add(now, left, PromptOrigin::Interactions, headings::INTERACTIONS, &bullets(interactions));
    let seen = memory.seen.iter().map(|(label, summary)| format!("{}: {summary}", name(label)));
    add(now, left, PromptOrigin::Environment, headings::SEEN, &bullets(seen));
    let pins = context.kept_pins.iter().map(|pin| {
        let mut line = format!("{} (by {}) on {}: ", name(&pin.id), name(&pin.author), name(&pin.board));
        push_cut(&mut line, &one_line(&pin.text), ITEM_CHARS);
        line
    });
    add(now, left, PromptOrigin::KeptPins, headings::PINS, &bullets(pins));
    now.extend(mail);
}

/// Mail that is unread, and a little of the rest. It has its room before boards have theirs: somebody waits for an answer.
fn mail(context: &MindContext, left: usize, mail_shown: &mut Vec<Id>) -> Option<PromptPart> {
    let is_moment = matches!(context.moment, Moment::ReadMail { .. });
    if is_moment || context.mail.is_empty() || left < headings::MAIL.len() + LEAST_CHARS * 4 {
        return None;
    }
    let unread = context.mail.iter().take_while(|item| !item.read).count();
    let shown = &context.mail[..context.mail.len().min(unread + SEEN_MAIL_AT_MOST)];
    let mut text = format!("{}\n", headings::MAIL);
    push_mail(&mut text, (shown, context.mail.len()), left / 4, mail_shown);
    Some(part(PromptOrigin::Mail, text))
}

fn add(parts: &mut Vec<PromptPart>, left: &mut usize, origin: PromptOrigin, heading: &str, body: &str) {
    if body.trim().is_empty() || *left < heading.len() + LEAST_CHARS {
        return;
    }
    // No part takes more than half of what is left, so that one huge board leaves room for the rest.
    let part = data(origin, heading, body, (*left / 2).max(heading.len() + LEAST_CHARS));
    *left = left.saturating_sub(part.text.chars().count());
    parts.push(part);
}

/// One line each, for a fence.
fn bullets(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(if text.is_empty() { "- " } else { "\n- " });
        push_one_line(&mut text, line.as_ref());
    }
    text
}

fn push_one_line(out: &mut String, text: &str) {
    if text.contains('\n') { out.push_str(&one_line(text)) } else { out.push_str(text) }
}

/// Appends mail, each piece fenced as data, as far as the room goes, and tells which pieces were shown. Says how many
/// of `count` pieces were not.
pub(super) fn push_mail(out: &mut String, (mail, count): (&[MailItem], usize), max_chars: usize, shown: &mut Vec<Id>) {
    let mut left = max_chars;
    let mut told = 0;
    for (index, item) in mail.iter().enumerate() {
        let mut text = format!("{} from {}:\n", name(&item.id), name(&item.from));
        push_fenced(&mut text, &letter(item), ITEM_CHARS.min(left.max(LEAST_CHARS)));
        let chars = text.chars().count() + 1;
        if index > 0 && chars + LEAST_CHARS > left {
            break;
        }
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&text);
        left = left.saturating_sub(chars);
        shown.push(item.id.clone());
        told += 1;
    }
    if told < count {
        out.push('\n');
        push_text(out, TEXTS.mail_more, &[("count", &(count - told).to_string())]);
    }
}

/// The subject, unless the text begins with it, and the text.
fn letter(item: &MailItem) -> Cow<'_, str> {
    let subject = one_line(&item.subject);
    let start = subject.trim_end_matches('…');
    let end = item.text.char_indices().nth(LINE_CHARS).map_or(item.text.len(), |(index, _)| index);
    if one_line(&item.text[..end]).starts_with(start) {
        return Cow::Borrowed(&item.text);
    }
    let mut letter = String::with_capacity(item.text.len() + subject.len() + 16);
    let _ = write!(letter, "{}{subject}\n{}", headings::SUBJECT, item.text);
    letter.into()
}
