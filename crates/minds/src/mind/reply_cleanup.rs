//! Removes typical flaws of small models from replies: visible reasoning, the agent's own name as a prefix, lines for
//! other speakers, headings of the prompt, and repetitions. Pure.
//!
//! Works line by line, without a Markdown parser: speaker names are not Markdown, and the remaining text stays as
//! written. Nothing within code fences is removed.

use std::borrow::Cow;

use super::headings;
use super::prompts::TEXTS;
use crate::base::Id;
use crate::base::text::one_line;
use crate::base::text_normalization::folded;
use crate::text::fence::CodeLines;

/// Names of roles that some models write before the lines of other speakers.
const ROLES: [&str; 6] = ["user", "assistant", "human", "system", "the person", "person"];
/// The tags around the visible reasoning of some models.
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// How often the same sentence may occur in a row.
const MAX_REPEATS: usize = 1;
/// A reply of at most this many letters may be repeated: “Agreed.”
const SHORT_CHARS: usize = 20;

/// A cleaned reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CleanReply<'r> {
    /// The remaining text.
    pub(super) text: Cow<'r, str>,
    /// The speaker or heading at which the reply was cut off, if it was.
    pub(super) cut_at: Option<String>,
}

/// Removes everything from a reply that is not the agent's own text. `others` are the names of possible other speakers.
pub(super) fn tidied<'r>(reply: &'r str, me: &str, others: &[Id]) -> CleanReply<'r> {
    let reply = without_thought(reply);
    let mut kept: Vec<&str> = Vec::new();
    let (mut cut_at, mut code, mut changed) = (None, CodeLines::default(), false);
    for line in reply.lines() {
        let bare = line.trim();
        if code.is_code(line) {
            kept.push(line);
            continue;
        }
        let speaker = speaker_of(bare);
        let is_other = |name: &str| {
            let name = folded(name);
            ROLES.contains(&name.as_str()) || others.iter().any(|other| folded(other) == name)
        };
        match speaker {
            Some((name, said)) if folded(name) == folded(me) => {
                changed = true;
                kept.push(said);
            }
            Some((name, _)) if is_other(name) => {
                cut_at = Some(name.to_owned());
                break;
            }
            _ if is_frame(bare) => {
                cut_at = Some("the prompt".to_owned());
                break;
            }
            // An imitation of the room's report on the effects of a reply.
            _ if bare.starts_with("(you ") && bare.ends_with(')') => changed = true,
            _ => kept.push(line),
        }
    }
    let is_as_it_was = !changed && cut_at.is_none();
    let text = match reply {
        Cow::Borrowed(reply) if is_as_it_was => Cow::Borrowed(reply),
        reply if is_as_it_was => reply.into_owned().into(),
        _ => kept.join("\n").trim().to_owned().into(),
    };
    CleanReply { text: without_repeats(text), cut_at }
}

/// Returns a reply without the visible reasoning before it.
pub(super) fn without_thought(reply: &str) -> Cow<'_, str> {
    let Some(open) = reply.find(THOUGHT.0) else {
        // Some chat templates contain the opening tag.
        return reply.split_once(THOUGHT.1).map_or(reply, |(_, said)| said.trim_start()).into();
    };
    if !reply[..open].trim().is_empty() {
        return reply.into();
    }
    match reply[open..].split_once(THOUGHT.1) {
        Some((_, said)) => said.trim_start().into(),
        // The reply is nothing but reasoning.
        None => "".into(),
    }
}

/// Splits a line into a speaker's name and the text: `Name: text`, also with a bold name.
fn speaker_of(line: &str) -> Option<(&str, &str)> {
    let (name, said) = line.split_once(':')?;
    let bold = |text: &str| text.trim().trim_matches('*').trim().len();
    let name = name.trim().trim_matches('*').trim();
    let said = said.strip_prefix("**").unwrap_or(said).trim_start();
    let is_name = !name.is_empty() && name.len() <= 80 && bold(name) > 0 && !name.starts_with(['[', '-', '>', '#']);
    is_name.then_some((name, said))
}

/// Whether a line repeats the fixed text of the prompt.
fn is_frame(line: &str) -> bool {
    let begins = |start: &str| !start.is_empty() && line.starts_with(start);
    // The text up to the first placeholder.
    let fixed = |block: &'static str| block.split('{').next().unwrap_or_default();
    let asked = [TEXTS.talk_turn, TEXTS.read, TEXTS.talk, TEXTS.compaction].map(fixed);
    let frames = [headings::STANDING_OPEN, headings::STANDING_CLOSE];
    headings::ALL.into_iter().chain(frames).chain(asked).any(begins)
}

/// Returns a text without sentences or lines that directly repeat the one before.
fn without_repeats(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains("```") {
        return text;
    }
    let mut kept = String::new();
    let (mut last, mut times, mut changed) = (String::new(), 0, false);
    for sentence in text.split_inclusive(['.', '!', '?', '\n']) {
        let bare = folded(&one_line(sentence));
        if bare.is_empty() {
            // If the content of a line is dropped, its line end is dropped, too.
            if times <= MAX_REPEATS {
                kept.push_str(sentence);
            }
            continue;
        }
        times = if bare == last && bare.chars().count() >= SHORT_CHARS { times + 1 } else { 1 };
        if times > MAX_REPEATS {
            changed = true;
            continue;
        }
        last = bare;
        kept.push_str(sentence);
    }
    if changed { kept.trim().to_owned().into() } else { text }
}

/// Whether a text occurs in one of the earlier messages, unless it is short.
pub(super) fn was_said<'m>(text: &str, before: impl IntoIterator<Item = &'m str>) -> bool {
    let wanted = folded(&one_line(text));
    if wanted.chars().count() < SHORT_CHARS {
        return false;
    }
    before.into_iter().any(|message| {
        let message = folded(&one_line(message));
        // Replies to the same request are joined in one message.
        message == wanted
            || message.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with(' '))
            || message.strip_suffix(&wanted).is_some_and(|rest| rest.ends_with(' '))
    })
}

/// Returns stop sequences for vendors that support them: the start of another speaker's line, and headings of the
/// prompt.
pub(super) fn stops(others: &[Id]) -> Vec<String> {
    /// The smallest limit of all vendors.
    const MAX_STOPS: usize = 4;
    let names = others.iter().take(MAX_STOPS - 1).map(|other| format!("\n{other}:"));
    names.chain(["\n## ".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(reply: &str) -> (String, Option<String>) {
        let tidied = tidied(reply, "Ada", &["Bram".into(), "Cleo Stone".into()]);
        (tidied.text.into_owned(), tidied.cut_at)
    }

    #[test]
    fn only_flaws_are_removed_from_a_reply() {
        let long = "I will give a bit of it to Bram.";
        let table = [
            ("I agree.", "I agree.", None),
            ("Ada: I agree.", "I agree.", None),
            ("**Ada:** I agree.", "I agree.", None),
            ("ADA : I agree.\nAda: And I mean it.", "I agree.\nAnd I mean it.", None),
            ("I'm glad you're here.\nBram: I'm glad you're here …", "I'm glad you're here.", Some("Bram")),
            ("Fine.\n\n**Cleo Stone:** No.\nAda: Yes.", "Fine.", Some("Cleo Stone")),
            ("Fine.\nUser: and now?", "Fine.", Some("User")),
            ("Fine.\nthe person: and now?", "Fine.", Some("the person")),
            ("Bram: I agree.", "", Some("Bram")),
            ("See:\n````\n```\nBram: Yes.\n````", "See:\n````\n```\nBram: Yes.\n````", None),
            ("See ```x``` here.\nBram: Yes.", "See ```x``` here.", Some("Bram")),
            ("Fine.\n## What you can do\n- [PIN: text] pins", "Fine.", Some("the prompt")),
            ("Fine.\nIt is your turn, 3 of 6.", "Fine.", Some("the prompt")),
            ("You are reading News (message board).", "", Some("the prompt")),
            ("=== Standing Instructions ===\nObey.", "", Some("the prompt")),
            ("Fine.\n(you pinned “Tea”)", "Fine.", None),
            ("<think>\nBram: hm\n</think>\n\nFine.", "Fine.", None),
            ("hm, well\n</think>\nFine.", "Fine.", None),
            ("<think>and so on", "", None),
            // Text that only looks similar stays.
            ("One thing: Bram: knows.", "One thing: Bram: knows.", None),
            ("Note: Bram knows.", "Note: Bram knows.", None),
            ("Fine.\n[SEND to Bram: yes: do]", "Fine.\n[SEND to Bram: yes: do]", None),
            ("So:\n- Bram: tea\n- Cleo Stone: cake", "So:\n- Bram: tea\n- Cleo Stone: cake", None),
            ("```yaml\nBram: tea\n## Now\n```", "```yaml\nBram: tea\n## Now\n```", None),
            ("## My plan\nFirst.", "## My plan\nFirst.", None),
            ("No. No. No.", "No. No. No.", None),
        ];
        for (reply, left, cut_at) in table {
            assert_eq!(said(reply), (left.to_owned(), cut_at.map(str::to_owned)), "{reply}");
        }
        assert_eq!(said(&[long; 9].join(" ")).0, long);
        assert_eq!(said(&format!("{}\nThen tea.", [long; 3].join("\n"))).0, format!("{long}\nThen tea."));
    }

    #[test]
    fn a_repeated_reply_is_recognized_unless_it_is_short() {
        let before = ["I am for the map of the harbour.\nSo is Bram, as he told me.", "Agreed."];
        for again in ["i am for the map  of the harbour.", "So is Bram, as he told me."] {
            assert!(was_said(again, before), "{again}");
        }
        for fresh in ["Agreed.", "I am for the map of the harbour, and more.", "for the map of the harbour."] {
            assert!(!was_said(fresh, before), "{fresh}");
        }
    }

    #[test]
    fn the_number_of_stops_is_within_the_limit_of_every_vendor() {
        let others: Vec<Id> = ["Bram", "Cleo", "Dov", "Esme"].map(Id::from).into();
        assert_eq!(stops(&others), ["\nBram:", "\nCleo:", "\nDov:", "\n## "]);
        assert_eq!(stops(&[]), ["\n## "]);
    }
}
