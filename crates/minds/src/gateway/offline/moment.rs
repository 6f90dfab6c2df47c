//! What an agent is asked now, as the last message of a prompt says it.

use super::text::{contains_word, plain};
use crate::base::text::{one_line, truncate};
use crate::mind::CallKind;
use crate::mind::headings::{self, opened_fence};
use crate::mind::wording::unfenced;

/// Characters of the subject that a letter without one is given.
const SUBJECT_CHARS: usize = 60;

/// How a prompt names the author of the reader's own pins.
pub const YOURS: &str = "yours";

/// A pin as a prompt renders it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PinLine {
    /// Its id.
    pub id: String,
    /// Who put it up.
    pub author: String,
    /// Votes for it.
    pub up: u32,
    /// Whether the reader has voted on it.
    pub voted: bool,
    /// Its text.
    pub text: String,
}

/// A piece of mail as a prompt renders it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MailLine {
    /// Its id.
    pub id: String,
    /// Who sent it.
    pub from: String,
    /// What it is about.
    pub subject: String,
    /// Its text.
    pub text: String,
    /// Whether somebody is done with it.
    pub closed: bool,
}

/// What an agent is asked now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moment {
    /// To read an element.
    Element {
        /// What it is called.
        label: String,
        /// The word of its kind, without blanks: `messageboard`.
        kind: String,
        /// What it holds.
        content: String,
    },
    /// To speak in a conversation.
    Talk {
        /// With whom.
        with: Vec<String>,
        /// About what, where there is something.
        topic: Option<String>,
        /// Who said what in earlier conversations, oldest first.
        earlier: Vec<(String, String)>,
        /// Who said what in this one, oldest first.
        said: Vec<(String, String)>,
        /// Whether this is the last turn.
        concluding: bool,
    },
    /// To sum up.
    Compaction,
    /// To do something.
    Task(String),
    /// To turn to something that called it.
    Woken {
        /// Why, without a full stop.
        why: String,
        /// Who said what about it, oldest first.
        said: Vec<(String, String)>,
    },
}

impl Moment {
    /// Reads a moment; the kind of the call decides where its first words do not.
    pub fn parse(text: &str, kind: CallKind, me: &str) -> Self {
        let text = text.trim_start();
        let first = text.lines().next().unwrap_or_default();
        if let Some(rest) = first.strip_prefix("You are reading ") {
            return element(rest, body(text));
        }
        if let Some(rest) = first.strip_prefix("You are talking with ") {
            return talk(rest, body(text), me);
        }
        if let Some(why) = first.strip_prefix(headings::WOKEN) {
            return woken(why, body(text));
        }
        if let Some(task) = text.strip_prefix("Your task:") {
            return Self::Task(task.trim().to_owned());
        }
        match kind {
            CallKind::Compaction => Self::Compaction,
            _ if text.starts_with("Summarise your recent activity") => Self::Compaction,
            CallKind::Read => element("something", text),
            CallKind::Conversation => talk("", text, me),
            CallKind::Task => Self::Task(text.to_owned()),
            CallKind::Wake => woken(first, body(text)),
        }
    }
}

fn body(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, body)| body)
}

fn element(first: &str, content: &str) -> Moment {
    let first = first.trim().trim_end_matches('.');
    let (called, kind) = match first.rsplit_once(" (") {
        Some((called, kind)) => (called, kind.trim_end_matches(')')),
        None => (first, ""),
    };
    let kind: String = kind.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let content = without_request(content.trim());
    // What is new is told apart where the rest was read before.
    let content = content.strip_prefix("New since you last read it:\n").unwrap_or(content);
    // Of mail the fences are kept: they tell what somebody wrote from what the room says about it.
    let is_mail = kind == "inbox";
    let content = if is_mail { content } else { unfenced(content) };
    let is_remark = content.starts_with("(no ") && content.ends_with(')') && !content.contains('\n');
    let empty = is_remark || ["It is empty.", "There is no open mail.", "(empty)"].contains(&content);
    let kept: Vec<&str> = content.lines().filter(|line| !empty && (is_mail || !is_fence(line))).collect();
    Moment::Element { label: label(called), kind, content: kept.join("\n") }
}

/// A name or label, without the quotation marks that the room puts around odd ones.
pub fn label(text: &str) -> String {
    plain(text.trim().trim_start_matches('“').trim_end_matches('”'))
}

/// The content without the last paragraph, if that is what the room asks about it.
fn without_request(content: &str) -> &str {
    match content.rsplit_once("\n\n") {
        Some((before, last)) if is_request(last) => before.trim_end(),
        None if is_request(content) => "",
        _ => content,
    }
}

fn is_request(paragraph: &str) -> bool {
    ["Say what ", "This is your own mail", "Say in a few sentences"].iter().any(|start| paragraph.starts_with(start))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```")
        || line.starts_with("~~~")
        || line.starts_with("<<<")
        || line.starts_with(">>>")
        || line.len() > 2 && line.chars().all(|c| matches!(c, '-' | '=' | '_'))
        || line.starts_with('<') && line.ends_with('>')
}

fn talk(first: &str, transcript: &str, me: &str) -> Moment {
    let first = first.trim().trim_end_matches(['.', ':']);
    let (names, topic) = match first.split_once(" about ") {
        Some((names, topic)) => (names, Some(label(topic)).filter(|topic| !topic.is_empty())),
        None => (first, None),
    };
    let with: Vec<String> =
        names.replace(" and ", ", ").split(',').map(label).filter(|name| !name.is_empty()).take(8).collect();
    let mut said: Vec<(String, String)> = Vec::new();
    let mut earlier: Vec<(String, String)> = Vec::new();
    let mut is_earlier = false;
    let mut concluding = false;
    let mut fence: Option<&str> = None;
    for line in transcript.lines() {
        if let Some(close) = fence {
            let lines = if is_earlier { &mut earlier } else { &mut said };
            match line.split_once(": ").filter(|_| !line.starts_with("  ")) {
                _ if line == close => fence = None,
                Some((name, text)) => lines.push((label(name), text.to_owned())),
                None => go_on(lines, line.trim_start()),
            }
            continue;
        }
        fence = opened_fence(line);
        if fence.is_some() {
            continue;
        }
        match utterance(line, &with, me) {
            Some(utterance) if is_earlier => earlier.push(utterance),
            Some(utterance) => said.push(utterance),
            None => {
                let lower = line.to_lowercase();
                is_earlier = lower.starts_with("earlier") || is_earlier && !line.trim().is_empty();
                let asks = ["conclusion", "conclude", "last turn", "wrap up", "final turn", "closing words"];
                let is_request = asks.iter().any(|ask| lower.contains(ask));
                concluding |= is_request;
                if !is_request && !line.trim().is_empty() && !is_fence(line) && !looks_like_stage(&lower) {
                    go_on(&mut said, line);
                }
            }
        }
    }
    Moment::Talk { with, topic, earlier, said, concluding }
}

fn woken(why: &str, body: &str) -> Moment {
    let mut said: Vec<(String, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in body.lines() {
        match (fence, line.split_once(": ").filter(|_| !line.starts_with("  "))) {
            (None, _) => fence = opened_fence(line),
            (Some(close), _) if line == close => fence = None,
            (Some(_), Some((name, text))) => said.push((label(name), text.to_owned())),
            (Some(_), None) => go_on(&mut said, line.trim_start()),
        }
    }
    Moment::Woken { why: plain(why.trim().trim_end_matches('.')), said }
}

/// Adds a line to what was said last.
fn go_on(said: &mut [(String, String)], line: &str) {
    if let Some((_, text)) = said.last_mut() {
        text.push('\n');
        text.push_str(line);
    }
}

/// Whether a line speaks to the agent instead of belonging to what somebody said.
fn looks_like_stage(lower: &str) -> bool {
    ["it is your turn", "your turn", "say what you", "answer in", "reply with", "speak now", "earlier"]
        .iter()
        .any(|start| lower.trim().starts_with(start))
}

fn utterance(line: &str, with: &[String], me: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, text) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|name| (name, "")))?;
    let name = plain(name);
    let known = with.contains(&name) || name == me;
    let may_be_a_name = name.split(' ').count() <= 2 && name.chars().next().is_some_and(char::is_uppercase);
    let person = contains_word(" user you person ", &name.to_lowercase()) || name.eq_ignore_ascii_case("the person");
    (known || person || may_be_a_name && with.is_empty()).then(|| (name, text.to_owned()))
}

/// The pins in the text of a pinboard: lines like `p3 (by Ada, +2 −1): text`.
pub fn pins(content: &str) -> Vec<PinLine> {
    content.lines().take(400).filter_map(pin).take(60).collect()
}

fn pin(line: &str) -> Option<PinLine> {
    let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
    let (id, rest) =
        line.split_once(" (by ").or_else(|| line.split_once(" (yours").map(|(id, _)| (id, &line[id.len() + 2..])))?;
    let (byline, text) = rest.split_once("):").or_else(|| rest.split_once(')'))?;
    let id = id.trim().trim_matches(['*', '`', '[', ']']);
    let author = byline.split(',').next().unwrap_or_default().trim();
    let up =
        byline.split_once('+').map(|(_, votes)| votes.chars().take_while(char::is_ascii_digit).collect::<String>());
    let is_id = !id.is_empty() && id.chars().count() <= 40 && !id.contains([' ', '[', ']', ':']);
    is_id.then(|| PinLine {
        id: id.to_owned(),
        author: plain(author),
        up: up.and_then(|votes| votes.parse().ok()).unwrap_or(0),
        voted: byline.contains("you voted"),
        text: plain(text),
    })
}

/// The mail in the text of an inbox, however it is laid out: `m1 from Bram: Chairs`, or keys and values.
pub fn mail(content: &str) -> Vec<MailLine> {
    let mut mail: Vec<MailLine> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in content.lines().take(600) {
        if let (Some(close), Some(last)) = (fence, mail.last_mut()) {
            let subject = line.strip_prefix(headings::SUBJECT).filter(|_| last.text.is_empty());
            match subject {
                _ if line == close => fence = None,
                Some(subject) if last.subject.is_empty() => last.subject = plain(subject),
                _ => {
                    last.text.push_str(line);
                    last.text.push('\n');
                }
            }
            continue;
        }
        if is_fence(line) {
            // A fence belongs to a piece of mail only after its head.
            let has_head = mail.last().is_some_and(|last| !last.from.is_empty() && last.text.is_empty());
            fence = opened_fence(line).filter(|_| has_head);
            continue;
        }
        if line.starts_with("[…") {
            continue;
        }
        if let (true, Some(last)) = (line.starts_with("  "), mail.last_mut()) {
            if last.subject.is_empty() {
                last.subject = plain(&std::mem::take(&mut last.text));
            }
            last.text.push_str(line.trim());
            last.text.push('\n');
            continue;
        }
        let line = line.trim().trim_start_matches(['-', '*', '•', '#', ' ']);
        if let Some(new) = headed(line) {
            mail.push(new);
        } else if let Some((key, value)) = keyed(line) {
            place(key, value, &mut mail);
        } else if let (Some(last), false) = (mail.last_mut(), line.is_empty()) {
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    for item in mail.iter_mut().filter(|item| item.subject.is_empty()) {
        // A letter that begins with its subject says it once.
        item.subject = plain(&truncate(&one_line(&item.text), SUBJECT_CHARS));
    }
    mail.retain(|item| !item.from.is_empty() || !item.text.is_empty());
    mail.truncate(40);
    mail
}

/// `m1 from Bram, “Chairs”:`, `m1 (from Bram, “Chairs”): text`, `m1 from Bram: text`.
fn headed(line: &str) -> Option<MailLine> {
    let (id, rest) = line.split_once(" from ").or_else(|| line.split_once(" (from "))?;
    let (id, closed) = id.trim().strip_suffix(" (pending)").map_or((id, false), |id| (id, true));
    let id = id.trim().trim_matches(['*', '`', '[', ']', '(', ')', ',', ':']);
    if id.is_empty() || id.contains(' ') || id.chars().count() > 40 {
        return None;
    }
    // A head alone on its line may hold colons in its subject.
    let alone = rest.strip_suffix(':').filter(|head| head.ends_with(['”', '"', ')'])).map(|head| (head, ""));
    let split = alone.or_else(|| rest.split_once(": ")).or_else(|| rest.split_once("):"));
    let (head, text) = split.unwrap_or((rest.trim_end_matches(':'), ""));
    let head = head.trim_end_matches(')');
    let (from, about) = head.split_once([',', '(', '·', '—']).unwrap_or((head, ""));
    let about = about.trim().trim_start_matches("subject").trim_matches(['“', '”', '"', ' ', ':', '\'']);
    Some(MailLine { id: id.to_owned(), from: plain(from), subject: plain(about), text: text.to_owned(), closed })
}

fn keyed(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim().trim_matches('*');
    let known = ["id", "from", "to", "subject", "text", "status", "sent", "read"];
    known.iter().find(|known| known.eq_ignore_ascii_case(key)).map(|key| (*key, value.trim()))
}

fn place(key: &str, value: &str, mail: &mut Vec<MailLine>) {
    let starts_new = match key {
        "id" => mail.last().is_none_or(|last| !last.id.is_empty() || !last.from.is_empty()),
        "from" => mail.last().is_none_or(|last| !last.from.is_empty()),
        _ => mail.is_empty(),
    };
    if starts_new {
        mail.push(MailLine::default());
    }
    let Some(last) = mail.last_mut() else { return };
    match key {
        "id" => last.id = plain(value),
        "from" => last.from = plain(value),
        "subject" => last.subject = plain(value),
        "status" => last.closed = matches!(value, "closed" | "pending"),
        "text" => last.text = format!("{value}\n"),
        _ => {}
    }
}

#[cfg(test)]
#[path = "moment_tests.rs"]
mod tests;
