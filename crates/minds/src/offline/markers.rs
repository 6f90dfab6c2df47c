//! Chooses the markers of a reply. Deliberately limited, so that a room without new input settles instead of answering
//! itself forever.

use super::data::{lines, sentences};
use super::draft::{Draft, fill};
use super::speaker::{Speaker, Subject};
use super::text::{alike, bare, clause, plain, quoted, shared, stems, unpunctuated, words};
use crate::base::hash::content_hash;
use crate::mind::context::{MailItem, PinView};

/// A pinboard with so many pins is full enough; nobody adds to it for having read it.
const PINS_ENOUGH: usize = 4;
/// So many kept pins are enough.
const KEPT_ENOUGH: usize = 4;
/// Replies looked back on for a pin that was just put up.
const REPLIES_BACK: usize = 3;
/// How an answer to mail begins; mail that begins so is not answered again.
const ANSWER_PREFIX: &str = "Re";

/// Notes what was read, unless it is noted.
pub fn note_of(speaker: &Speaker, label: &str, subject: &Subject, draft: &mut Draft) {
    let Some(heart) = subject.ranked.first() else { return };
    if may(speaker, "REMEMBER") && !speaker.reading.remembers(unpunctuated(&clause(heart, 24))) {
        draft.mark("REMEMBER", &format!("{label}: {}", clause(heart, 24)));
    }
}

/// Puts an idea about what was read on the nearest pinboard, with this chance, unless it lately did.
pub fn idea_on(speaker: &mut Speaker, subject: &Subject, chance: f32, draft: &mut Draft) {
    let just_did = speaker.reading.said.iter().rev().take(REPLIES_BACK).any(|said| said.contains("on the pinboard"));
    let was_refused = speaker.reading.feedback.to_lowercase().contains("pin");
    if just_did || was_refused || !may(speaker, "PIN") || !speaker.dice.chance(chance) {
        return;
    }
    let idea = speaker.of_role(&speaker.role.pins, subject);
    if idea.is_empty() || hangs_already(speaker, &idea) {
        return;
    }
    let thing = &subject.particulars.thing;
    let thing = if thing.is_empty() { "it" } else { thing };
    draft.say(speaker.line(&lines().idea_pinned, &[("t", thing)]));
    draft.mark("PIN", &idea);
}

/// Whether the speaker knows of a pin that says nearly the same.
fn hangs_already(speaker: &Speaker, idea: &str) -> bool {
    let start: String = bare(idea).chars().take(40).collect();
    let kept = speaker.reading.kept.iter().map(|pin| &pin.text);
    let mut known = speaker.reading.seen.iter().map(|(_, summary)| summary).chain(kept);
    let says_it = |text: &str| {
        let mut parts = text.split([':', '·']);
        bare(text).contains(&start) || parts.any(|part| words(part).count() > 3 && alike(part, idea))
    };
    speaker.reading.remembers(idea) || known.any(|text| says_it(text))
}

/// Adds an idea to a pinboard that was read: only while it is nearly empty and holds nothing of the speaker's.
pub fn idea_on_board(speaker: &mut Speaker, subject: &Subject, pins: &[PinView], draft: &mut Draft) {
    if pins.len() >= PINS_ENOUGH || pins.iter().any(|pin| is_mine(speaker, pin)) || !may(speaker, "PIN") {
        return;
    }
    let chance = 0.4 / (1.0 + pins.len() as f32);
    let idea = speaker.of_role(&speaker.role.pins, subject);
    let stands_there = pins.iter().any(|pin| bare(&pin.text) == bare(&idea) || alike(&pin.text, &idea));
    if idea.is_empty() || stands_there || speaker.reading.remembers(&idea) || !speaker.dice.chance(chance) {
        return;
    }
    draft.say(speaker.line(&lines().idea_added, &[]));
    draft.mark("PIN", &idea);
}

/// The pin that the speaker votes on, and whether it votes against it, because it repeats an earlier one: never its own,
/// never one it voted on before.
pub fn choose_pin<'p>(speaker: &Speaker, pins: &'p [PinView]) -> Option<(&'p PinView, bool)> {
    let open = |pin: &&PinView| !is_mine(speaker, pin) && !has_voted(speaker, pin) && !pin.text.is_empty();
    let is_repeat = |pin: &PinView| {
        let mut earlier = pins.iter().take_while(|other| other.id != pin.id);
        words(&pin.text).count() >= 3 && earlier.any(|other| bare(&other.text) == bare(&pin.text))
    };
    let repeated = pins.iter().filter(open).find(|pin| is_repeat(pin));
    if let Some(pin) = repeated.filter(|pin| may(speaker, "VOTE_DOWN") && taste(speaker, pin) == 0) {
        return Some((pin, true));
    }
    let liking = |pin: &PinView| -> (usize, u64) {
        (shared(&stems(&pin.text), &speaker.reading.interests), taste(speaker, pin))
    };
    let liked = pins.iter().filter(|pin| open(pin) && !is_repeat(pin)).map(|pin| (liking(pin), pin));
    let liked = liked.filter(|((common, taste), _)| *common > 1 || *common == 1 && *taste > 0 || *taste == 2);
    // Taste is the agent's own and stays the same, so it does not change its mind from one walk to the next.
    let best = liked.filter(|_| may(speaker, "VOTE_UP")).max_by_key(|(liking, _)| *liking);
    best.map(|(_, pin)| (pin, false))
}

/// Keeps a pin, now and then, if others like it too.
pub fn keep(speaker: &mut Speaker, pin: &PinView, is_against: bool, draft: &mut Draft) {
    let kept = &speaker.reading.kept;
    let keeps_it = kept.iter().any(|kept| *kept.id == *pin.id);
    let worth_it =
        pin.up.len() >= 2 && !is_against && !keeps_it && kept.len() < KEPT_ENOUGH && may(speaker, "KEEP_PIN");
    if worth_it && speaker.dice.chance(0.3) {
        draft.mark_id("KEEP_PIN", &pin.id);
    }
}

/// Answers a piece of mail, or forwards it to a colleague whose job it is. An answer is never answered.
pub fn answer_mail(speaker: &mut Speaker, item: &MailItem, subject: &Subject, draft: &mut Draft) {
    let about = about_mail(item);
    let is_answer = [&item.subject, &item.text].iter().any(|text| {
        let start = text.trim_start();
        let rest = start.strip_prefix(ANSWER_PREFIX).or_else(|| start.strip_prefix("RE"));
        rest.is_some_and(|rest| rest.starts_with([':', ' ']))
    });
    let from = &*item.from;
    if !is_answer && !is_person(from) && from != speaker.reading.name && can_reach(speaker, from) {
        let (answer, promise) = (speaker.view(subject), speaker.deed(subject));
        let text = format!("{ANSWER_PREFIX} “{}”: {answer} I will {promise}.", unpunctuated(&about));
        draft.mark(&format!("SEND to {from}"), &text);
    } else {
        if !is_answer && !item.text.trim_start().starts_with("Passed on") {
            pass_on(speaker, item, subject, draft);
        }
        // What is answered is closed by the answer.
        if may(speaker, "DONE") {
            draft.mark_id("DONE", &item.id);
        }
    }
    draft.mark("REMEMBER", &format!("{}.", answered_note(from, &about)));
}

/// What a piece of mail is about, in few words: its subject, of an answer only what it answers.
pub fn about_mail(item: &MailItem) -> String {
    let subject = if item.subject.is_empty() { clause(item.text.trim(), 6) } else { item.subject.clone() };
    match subject.strip_prefix("Re '").and_then(|rest| rest.split_once('\'')) {
        Some((title, _)) => format!("Re '{title}'"),
        None => subject,
    }
}

/// Hands mail from outside to the colleague nearby whose work it meets best, if it meets anybody's.
fn pass_on(speaker: &mut Speaker, item: &MailItem, subject: &Subject, draft: &mut Draft) {
    let near = speaker.reading.near.iter();
    let fitting = near.map(|(name, about)| (shared(&stems(about), &subject.stems), name));
    let best = fitting.filter(|(common, _)| *common > 0).max_by_key(|(common, _)| *common);
    let Some((_, person)) = best.filter(|(_, person)| can_reach(speaker, person)) else { return };
    let heart = subject.ranked.first().map(|line| quoted(line, 20)).unwrap_or_default();
    let from = if is_person(&item.from) { "outside" } else { &*item.from };
    let text = fill(&sentences().passed_on, &[("f", from), ("q", &heart)]);
    if !text.is_empty() {
        draft.say(fill(&sentences().pass_on, &[("p", person)]));
        draft.mark(&format!("SEND to {person}"), &text);
    }
}

/// Whether mail to this name can arrive: not if the last attempt was refused.
pub fn can_reach(speaker: &Speaker, name: &str) -> bool {
    let refused = words(&speaker.reading.feedback).any(|word| word == name.split(' ').next().unwrap_or_default());
    let known = &speaker.reading.addressees;
    let has_inbox = known.is_empty() || known.iter().any(|known| known == name);
    !refused && has_inbox && may(speaker, "SEND") && !name.is_empty()
}

/// How an answered piece of mail is remembered.
pub fn answered_note(from: &str, subject: &str) -> String {
    let from = if from.is_empty() { "somebody" } else { from };
    format!("Dealt with mail from {from} about {}", unpunctuated(&plain(subject)))
}

/// Whether the prompt offers a marker; one that says nothing of markers offers all.
pub fn may(speaker: &Speaker, marker: &str) -> bool {
    speaker.reading.markers.as_ref().is_none_or(|offered| offered.contains(marker))
}

/// What an agent thinks of a pin before it has a reason, 0 to 2; its own, and always the same.
fn taste(speaker: &Speaker, pin: &PinView) -> u64 {
    content_hash(format!("{}\n{}", speaker.reading.name, pin.id).as_bytes()) % 3
}

/// Whether a name means the person at the keyboard.
pub fn is_person(name: &str) -> bool {
    let name = name.to_lowercase();
    matches!(name.as_str(), "" | "user" | "you" | "the person") || name.ends_with("(the person)")
}

/// Whether a pin is the speaker's own.
pub fn is_mine(speaker: &Speaker, pin: &PinView) -> bool {
    *pin.author == *speaker.reading.name || *pin.author == *speaker.reading.id
}

fn has_voted(speaker: &Speaker, pin: &PinView) -> bool {
    let names_it = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == &*pin.id);
    let votes = |text: &&String| text.to_lowercase().contains("vote") && names_it(text);
    let before = speaker.reading.said.iter().chain(&speaker.reading.notes).chain(&speaker.reading.knows);
    let has_voted = pin.up.iter().chain(&pin.down).any(|voter| **voter == *speaker.reading.id);
    has_voted || before.into_iter().any(|text| votes(&text)) || names_it(&speaker.reading.feedback)
}
