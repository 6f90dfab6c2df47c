//! Chooses the markers of a reply. They are deliberately rare, so that a room without new input becomes idle.

use super::data::{lines, sentences};
use super::draft::{Draft, fill};
use super::speaker::{Speaker, TextAnalysis};
use super::text::{are_similar, clause, normalized, quoted, shared_count, stems, strip_markup, unpunctuated, words};
use crate::base::hash::content_hash;
use crate::mind::context::{MailItem, PinView};

/// Number of pins from which a pinboard counts as full; reading it adds no further pin.
const FULL_PINBOARD: usize = 4;
/// Maximum number of pins that an agent keeps in its memory.
const MAX_KEPT_PINS: usize = 4;
/// Number of recent replies without a pin before the agent pins again.
const RECENT_REPLIES: usize = 3;
/// The prefix of a reply to mail; mail with it is not answered.
const REPLY_PREFIX: &str = "Re";

/// Adds a `REMEMBER` marker for the most relevant sentence of a text, unless the agent remembers it.
pub fn remember_text(speaker: &Speaker, label: &str, analysis: &TextAnalysis, draft: &mut Draft) {
    let Some(sentence) = analysis.ranked_sentences.first() else { return };
    if is_offered(speaker, "REMEMBER") && !speaker.prompt.remembers(unpunctuated(&clause(sentence, 24))) {
        draft.push_marker("REMEMBER", &format!("{label}: {}", clause(sentence, 24)));
    }
}

/// Adds a `PIN` marker with an idea about a text, with a probability, unless the agent pinned something recently.
pub fn pin_idea(speaker: &mut Speaker, analysis: &TextAnalysis, chance: f32, draft: &mut Draft) {
    let pinned_recently =
        speaker.prompt.own_replies.iter().rev().take(RECENT_REPLIES).any(|reply| reply.contains("on the pinboard"));
    let was_refused = speaker.prompt.feedback.to_lowercase().contains("pin");
    if pinned_recently || was_refused || !is_offered(speaker, "PIN") || !speaker.rng.chance(chance) {
        return;
    }
    let idea = speaker.role_line(&speaker.role.pins, analysis);
    if idea.is_empty() || is_already_pinned(speaker, &idea) {
        return;
    }
    let thing = &analysis.details.thing;
    let thing = if thing.is_empty() { "it" } else { thing };
    draft.say(speaker.line(&lines().idea_pinned, &[("t", thing)]));
    draft.push_marker("PIN", &idea);
}

/// Whether the speaker knows a pin with nearly the same text.
fn is_already_pinned(speaker: &Speaker, idea: &str) -> bool {
    let start: String = normalized(idea).chars().take(40).collect();
    let kept = speaker.prompt.kept_pins.iter().map(|pin| &pin.text);
    let mut pin_texts = speaker.prompt.elements.iter().map(|(_, summary)| summary).chain(kept);
    let matches = |text: &str| {
        let mut parts = text.split([':', '·']);
        normalized(text).contains(&start) || parts.any(|part| words(part).count() > 3 && are_similar(part, idea))
    };
    speaker.prompt.remembers(idea) || pin_texts.any(|text| matches(text))
}

/// Adds a `PIN` marker for the pinboard that was read, if it is nearly empty and has no pin of the speaker.
pub fn add_idea_to_board(speaker: &mut Speaker, analysis: &TextAnalysis, pins: &[PinView], draft: &mut Draft) {
    if pins.len() >= FULL_PINBOARD || pins.iter().any(|pin| is_own_pin(speaker, pin)) || !is_offered(speaker, "PIN") {
        return;
    }
    let chance = 0.4 / (1.0 + pins.len() as f32);
    let idea = speaker.role_line(&speaker.role.pins, analysis);
    let is_on_board =
        pins.iter().any(|pin| normalized(&pin.text) == normalized(&idea) || are_similar(&pin.text, &idea));
    if idea.is_empty() || is_on_board || speaker.prompt.remembers(&idea) || !speaker.rng.chance(chance) {
        return;
    }
    draft.say(speaker.line(&lines().idea_added, &[]));
    draft.push_marker("PIN", &idea);
}

/// Returns the pin to vote on, and whether to vote against it because it repeats an earlier one. The speaker never
/// votes on its own pins and never twice.
pub fn choose_pin<'p>(speaker: &Speaker, pins: &'p [PinView]) -> Option<(&'p PinView, bool)> {
    let open = |pin: &&PinView| !is_own_pin(speaker, pin) && !has_voted(speaker, pin) && !pin.text.is_empty();
    let is_repeat = |pin: &PinView| {
        let mut earlier = pins.iter().take_while(|other| other.id != pin.id);
        words(&pin.text).count() >= 3 && earlier.any(|other| normalized(&other.text) == normalized(&pin.text))
    };
    let repeated = pins.iter().filter(open).find(|pin| is_repeat(pin));
    if let Some(pin) = repeated.filter(|pin| is_offered(speaker, "VOTE_DOWN") && bias(speaker, pin) == 0) {
        return Some((pin, true));
    }
    let score = |pin: &PinView| -> (usize, u64) {
        (shared_count(&stems(&pin.text), &speaker.prompt.interests), bias(speaker, pin))
    };
    let liked = pins.iter().filter(|pin| open(pin) && !is_repeat(pin)).map(|pin| (score(pin), pin));
    let liked = liked.filter(|((common, bias), _)| *common > 1 || *common == 1 && *bias > 0 || *bias == 2);
    // The bias of an agent toward a pin is constant, so that it does not change its mind between visits.
    let best = liked.filter(|_| is_offered(speaker, "VOTE_UP")).max_by_key(|(score, _)| *score);
    best.map(|(_, pin)| (pin, false))
}

/// Adds a `KEEP_PIN` marker at random, if at least two agents voted for the pin.
pub fn keep_pin(speaker: &mut Speaker, pin: &PinView, is_against: bool, draft: &mut Draft) {
    let kept = &speaker.prompt.kept_pins;
    let is_kept = kept.iter().any(|kept| *kept.id == *pin.id);
    let is_eligible =
        pin.up.len() >= 2 && !is_against && !is_kept && kept.len() < MAX_KEPT_PINS && is_offered(speaker, "KEEP_PIN");
    if is_eligible && speaker.rng.chance(0.3) {
        draft.push_id_marker("KEEP_PIN", &pin.id);
    }
}

/// Adds markers that answer mail or forward it to the right colleague. A reply is never answered.
pub fn answer_mail(speaker: &mut Speaker, item: &MailItem, analysis: &TextAnalysis, draft: &mut Draft) {
    let about = mail_topic(item);
    let is_reply = [&item.subject, &item.text].iter().any(|text| {
        let start = text.trim_start();
        let rest = start.strip_prefix(REPLY_PREFIX).or_else(|| start.strip_prefix("RE"));
        rest.is_some_and(|rest| rest.starts_with([':', ' ']))
    });
    let from = &*item.from;
    if !is_reply && !is_person(from) && from != speaker.prompt.name && can_reach(speaker, from) {
        let (answer, promise) = (speaker.opinion(analysis), speaker.commitment(analysis));
        let text = format!("{REPLY_PREFIX} “{}”: {answer} I will {promise}.", unpunctuated(&about));
        draft.push_marker(&format!("SEND to {from}"), &text);
    } else {
        if !is_reply && !item.text.trim_start().starts_with("Passed on") {
            forward_mail(speaker, item, analysis, draft);
        }
        // A reply closes the mail by itself; other mail needs the marker.
        if is_offered(speaker, "DONE") {
            draft.push_id_marker("DONE", &item.id);
        }
    }
    draft.push_marker("REMEMBER", &format!("{}.", answered_mail_note(from, &about)));
}

/// Returns the topic of mail: its subject, or for a reply only the reference to the original.
pub fn mail_topic(item: &MailItem) -> String {
    let subject = if item.subject.is_empty() { clause(item.text.trim(), 6) } else { item.subject.clone() };
    match subject.strip_prefix("Re '").and_then(|rest| rest.split_once('\'')) {
        Some((title, _)) => format!("Re '{title}'"),
        None => subject,
    }
}

/// Forwards mail to the nearby agent whose profile has most stems in common with it, if any.
fn forward_mail(speaker: &mut Speaker, item: &MailItem, analysis: &TextAnalysis, draft: &mut Draft) {
    let nearby = speaker.prompt.nearby.iter();
    let scored = nearby.map(|(name, about)| (shared_count(&stems(about), &analysis.stems), name));
    let best = scored.filter(|(common, _)| *common > 0).max_by_key(|(common, _)| *common);
    let Some((_, person)) = best.filter(|(_, person)| can_reach(speaker, person)) else { return };
    let quote = analysis.ranked_sentences.first().map(|sentence| quoted(sentence, 20)).unwrap_or_default();
    let from = if is_person(&item.from) { "outside" } else { &*item.from };
    let text = fill(&sentences().passed_on, &[("f", from), ("q", &quote)]);
    if !text.is_empty() {
        draft.say(fill(&sentences().pass_on, &[("p", person)]));
        draft.push_marker(&format!("SEND to {person}"), &text);
    }
}

/// Whether the agent can send mail to a name: it has an inbox, and the last attempt did not fail.
pub fn can_reach(speaker: &Speaker, name: &str) -> bool {
    let refused = words(&speaker.prompt.feedback).any(|word| word == name.split(' ').next().unwrap_or_default());
    let addressees = &speaker.prompt.addressees;
    let has_inbox = addressees.is_empty() || addressees.iter().any(|addressee| addressee == name);
    !refused && has_inbox && is_offered(speaker, "SEND") && !name.is_empty()
}

/// Returns the note that marks mail as answered.
pub fn answered_mail_note(from: &str, subject: &str) -> String {
    let from = if from.is_empty() { "somebody" } else { from };
    format!("Dealt with mail from {from} about {}", unpunctuated(&strip_markup(subject)))
}

/// Whether the prompt offers a marker; a prompt that lists none offers all.
pub fn is_offered(speaker: &Speaker, marker: &str) -> bool {
    speaker.prompt.markers.as_ref().is_none_or(|offered| offered.contains(marker))
}

/// Returns a constant from 0 to 2: how inclined the agent is to like a pin.
fn bias(speaker: &Speaker, pin: &PinView) -> u64 {
    content_hash(format!("{}\n{}", speaker.prompt.name, pin.id).as_bytes()) % 3
}

/// Whether a name stands for the person at the keyboard.
pub fn is_person(name: &str) -> bool {
    let name = name.to_lowercase();
    matches!(name.as_str(), "" | "user" | "you" | "the person") || name.ends_with("(the person)")
}

/// Whether the speaker wrote a pin.
pub fn is_own_pin(speaker: &Speaker, pin: &PinView) -> bool {
    *pin.author == *speaker.prompt.name || *pin.author == *speaker.prompt.id
}

fn has_voted(speaker: &Speaker, pin: &PinView) -> bool {
    let mentions_pin = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == &*pin.id);
    let votes = |text: &&String| text.to_lowercase().contains("vote") && mentions_pin(text);
    let before = speaker.prompt.own_replies.iter().chain(&speaker.prompt.notes).chain(&speaker.prompt.summary);
    let has_voted = pin.up.iter().chain(&pin.down).any(|voter| **voter == *speaker.prompt.id);
    has_voted || before.into_iter().any(|text| votes(&text)) || mentions_pin(&speaker.prompt.feedback)
}
