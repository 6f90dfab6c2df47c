//! Writes the end of a prompt: the current request to the agent.

use std::fmt::Write;

use super::context::{CurrentRequest, Line, MindContext};
use super::instructions::{order_text, person_name};
use super::parts::push_mail;
use super::prompts::{Blocks, TEXTS, push};
use super::untrusted_text::{ITEM_CHARS, clean, name, push_cut, push_fenced, push_list, quoted};
use crate::base::Id;
use crate::knowledge::consolidation::{consolidation_question, extraction_question};

/// Maximum length of a conversation topic in characters.
pub(super) const TOPIC_CHARS: usize = 500;
/// Maximum number of lines repeated from earlier conversations.
const MAX_EARLIER_LINES: usize = 4;
/// Maximum length of the reason for a wake-up in characters.
const REASON_CHARS: usize = 300;
/// Characters of a request besides the quoted texts in it.
const OVERHEAD_CHARS: usize = 400;

/// Returns the text of the current request, at most about `max_chars` long, and records the mail that it contains.
pub(super) fn moment(context: &MindContext, max_chars: usize, mail_shown: &mut Vec<Id>) -> String {
    let mut text = String::with_capacity(512);
    let texts: &Blocks = &TEXTS;
    let room = max_chars.saturating_sub(OVERHEAD_CHARS);
    match &context.moment {
        CurrentRequest::Read { label, kind, text: content, new, .. } => {
            push(&mut text, texts.read, &[("label", &name(label)), ("kind", kind)]);
            text.push_str("\n\n");
            push_content(&mut text, content.trim(), new.as_deref().map(str::trim), room);
            text.push_str("\n\n");
            text.push_str(texts.read_ask);
        }
        CurrentRequest::ReadMail { label, kind, .. } => {
            push(&mut text, texts.read, &[("label", &name(label)), ("kind", kind)]);
            text.push_str("\n\n");
            if context.mail.is_empty() {
                text.push_str(texts.mail_none);
            }
            push_mail(&mut text, (&context.mail, context.mail.len()), room, mail_shown);
            text.push_str("\n\n");
            text.push_str(if context.calls_acts { texts.functions_mail } else { texts.mail_ask });
        }
        CurrentRequest::Talk { .. } => push_talk(&mut text, context, max_chars),
        CurrentRequest::Woken { .. } => push_reason(&mut text, context, room),
        CurrentRequest::Compact => {
            let is_again = context.who.share_workspace_info && !context.memory.summary.trim().is_empty();
            let block = if is_again { texts.compaction_again } else { texts.compaction };
            push(&mut text, block, &[("tokens", &context.summary_tokens.to_string())]);
        }
        CurrentRequest::Learn { today, lines } => {
            let told = lines.iter().filter(|line| context.who.share_user_info || !line.by_person);
            let told: Vec<String> = told.map(|line| format!("{}: {}", name(&line.by), line.text.trim())).collect();
            text.push_str(&extraction_question(&name(&context.who.name), today, &newest(&told, room)));
        }
        // Cases that do not fit are added without a decision of the model.
        CurrentRequest::Weigh { cases } => push_cut(&mut text, &consolidation_question(cases), room),
        CurrentRequest::Work => {}
    }
    text
}

/// Returns the newest lines that fit, in order, with a note on the number left out.
fn newest(lines: &[String], max_chars: usize) -> String {
    let mut left = max_chars;
    let fit = lines.iter().rev().take_while(|line| {
        let chars = line.chars().count() + 1;
        let fits = chars <= left;
        left = left.saturating_sub(chars);
        fits
    });
    let shown = &lines[lines.len() - fit.count()..];
    let before = lines.len() - shown.len();
    let left_out = if before > 0 { format!("[{before} earlier left out]\n") } else { String::new() };
    left_out + &shown.join("\n")
}

/// Appends the reason for a wake-up, the related statements of others, and the task.
fn push_reason(text: &mut String, context: &MindContext, max_chars: usize) {
    let CurrentRequest::Woken { why, ask, quotes, left_out } = &context.moment else { return };
    push(text, TEXTS.wake, &[("why", &quoted(why, REASON_CHARS))]);
    let quotes: Vec<&Line> = quotes.iter().filter(|quote| context.who.share_user_info || !quote.by_person).collect();
    if *left_out > 0 {
        let _ = write!(text, "\n\n[… cut, {left_out} earlier messages]");
    }
    if !quotes.is_empty() {
        text.push_str("\n\n");
        push_lines(text, &quotes, &person_name(&context.who), max_chars / 2);
    }
    if !ask.trim().is_empty() {
        text.push_str("\n\n");
        push_cut(text, &order_text(ask.trim()), max_chars / 4);
    }
    text.push_str("\n\n");
    text.push_str(TEXTS.wake_ask);
}

/// Appends the new text of an element, or all of it.
fn push_content(text: &mut String, content: &str, new: Option<&str>, max_chars: usize) {
    match (content, new) {
        ("", _) => text.push_str(TEXTS.read_empty),
        (_, Some(new)) if !new.is_empty() && new.len() < content.len() => {
            text.push_str(TEXTS.read_new);
            text.push('\n');
            push_fenced(text, new, max_chars);
        }
        (content, _) => {
            push_fenced(text, content, max_chars);
        }
    }
}

fn push_talk(text: &mut String, context: &MindContext, max_chars: usize) {
    let CurrentRequest::Talk { with, topic, earlier, said, turn, turns } = &context.moment else { return };
    let texts: &Blocks = &TEXTS;
    let mut names = String::new();
    push_list(&mut names, with);
    match topic {
        Some(topic) => {
            let topic = quoted(topic, TOPIC_CHARS.min(max_chars / 8));
            push(text, texts.talk_about, &[("names", &names), ("topic", &topic)]);
        }
        None => push(text, texts.talk, &[("names", &names)]),
    }
    let person = person_name(&context.who);
    let share_person = context.who.share_user_info;
    // The session contains most of these lines as well.
    let earlier = &earlier[earlier.len().saturating_sub(MAX_EARLIER_LINES)..];
    let earlier: Vec<&Line> = earlier.iter().filter(|line| share_person || !line.by_person).collect();
    if !earlier.is_empty() {
        text.push_str("\n\n");
        text.push_str(texts.talk_earlier);
        text.push('\n');
        push_lines(text, &earlier, &person, max_chars / 4);
    }
    if !said.is_empty() {
        text.push_str("\n\n");
        push_lines(text, &said.iter().collect::<Vec<_>>(), &person, max_chars / 4);
    }
    let block = match said.is_empty() {
        _ if turn >= turns => texts.talk_last,
        true => texts.talk_begin,
        false if context.calls_acts => texts.functions_talk,
        false => texts.talk_turn,
    };
    text.push_str("\n\n");
    let (turn, turns) = (turn.to_string(), turns.to_string());
    push(text, block, &[("turn", &turn), ("turns", &turns), ("me", &name(&context.who.name))]);
    if said.iter().any(|line| line.by_person) {
        text.push(' ');
        push(text, texts.talk_person, &[("person", &person)]);
    }
}

/// Appends the newest lines that fit, oldest first, between fences, and the number left out. Each begins with its
/// speaker; continuation lines are indented, so that no text can pose as another speaker's line.
fn push_lines(out: &mut String, lines: &[&Line], person: &str, max_chars: usize) {
    let mut left = max_chars;
    let mut texts = Vec::new();
    for line in lines.iter().rev() {
        let mut text = match line.by_person {
            true => format!("{person}: "),
            false => format!("{}: ", name(&line.by)),
        };
        let said = clean(line.text.trim()).replace('\n', "\n  ");
        push_cut(&mut text, &said, ITEM_CHARS.min(max_chars));
        let chars = text.chars().count() + 1;
        if !texts.is_empty() && chars > left {
            break;
        }
        left = left.saturating_sub(chars);
        texts.push(text);
    }
    if texts.len() < lines.len() {
        let _ = writeln!(out, "[… cut, {} earlier messages]", lines.len() - texts.len());
    }
    texts.reverse();
    push_fenced(out, &texts.join("\n"), usize::MAX);
}
