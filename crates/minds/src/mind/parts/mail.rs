//! The part of a prompt with the agent's own open mail, each item as data.

use std::borrow::Cow;
use std::fmt::Write;

use super::{PartProvider, Share, Slot};
use crate::base::Id;
use crate::base::text::one_line;
use crate::mind::context::{CurrentRequest, MailItem};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::prompts::{TEXTS, push as push_text};
use crate::mind::untrusted_text::{ITEM_CHARS, LINE_CHARS, MIN_CHARS};
use crate::mind::untrusted_text::{name, push_fenced};

/// Maximum number of already read mail repeated in a prompt about something else.
const MAX_SEEN_MAIL: usize = 3;
/// Minimum number of characters for mail; with less room it is omitted.
const MIN_ROOM: usize = (headings::MAIL.len() + MIN_CHARS * 4) / 4;

/// Unread mail, and a little of the rest. It gets its space before message boards, because someone is waiting for an
/// answer.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("mail", "Its mail", headings::MAIL), Slot::Changing, |context, out| {
        if context.mail.is_empty() || out.room() < MIN_ROOM {
            return;
        }
        let unread = context.mail.iter().take_while(|item| !item.read).count();
        let told = &context.mail[..context.mail.len().min(unread + MAX_SEEN_MAIL)];
        let mut text = format!("{}\n", headings::MAIL);
        let (start, mut shown) = (text.len(), Vec::new());
        push_mail(&mut text, (told, context.mail.len()), out.room(), &mut shown);
        let items = told[..shown.len()].iter().map(item).collect();
        out.show_mail(shown);
        let body = start..text.len();
        out.text(text, body, items);
    })
    .ranked(500)
    .with_share(Share::LeftFirst(4))
    .at(|moment| !(moment.is_retrospective() || matches!(moment, CurrentRequest::ReadMail { .. })))
}

fn item(mail: &MailItem) -> PartItem {
    PartItem { id: mail.id.to_string(), name: mail.subject.clone(), by: mail.from.to_string(), text: mail.text.clone() }
}

/// Appends as much mail as fits, each item fenced as data, and how many of `count` are missing. Records the ids of the
/// shown mail.
pub(in super::super) fn push_mail(
    out: &mut String,
    (mail, count): (&[MailItem], usize),
    max_chars: usize,
    shown: &mut Vec<Id>,
) {
    let mut left = max_chars;
    let mut told = 0;
    for (index, item) in mail.iter().enumerate() {
        let mut text = format!("{} from {}:\n", name(&item.id), name(&item.from));
        push_fenced(&mut text, &subject_and_text(item), ITEM_CHARS.min(left.max(MIN_CHARS)));
        let chars = text.chars().count() + 1;
        if index > 0 && chars + MIN_CHARS > left {
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

/// Returns subject and text of mail; only the text if it begins with the subject.
fn subject_and_text(item: &MailItem) -> Cow<'_, str> {
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
