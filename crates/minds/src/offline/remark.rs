//! What an agent says about an element that it reads.

use super::data::lines;
use super::draft::{Draft, fill};
use super::facts::Particulars;
use super::markers;
use super::speaker::{QUOTED_WORDS, Speaker, Subject, texts_of};
use super::text::{bare, is_order_verb, is_stop_word, quoted, sentences, unpunctuated, words};
use crate::mind::context::{Line, MailItem, PinView};

/// A reply to the reading of an element of this kind, written as one word.
pub fn on_element(speaker: &mut Speaker, label: &str, kind: &str, content: &str, pins: &[PinView]) -> Draft {
    let label = shown(label);
    match kind {
        _ if sentences(content).is_empty() => say(speaker, &lines().empty, label),
        "rulebook" => on_rules(speaker, label, content),
        "pinboard" => on_pins(speaker, label, content, pins),
        _ => on_text(speaker, label, content),
    }
}

/// What an element is called.
fn shown(label: &str) -> &str {
    if label.is_empty() { "this" } else { label }
}

/// A reply to what called an agent.
pub fn on_call(speaker: &mut Speaker, why: &str, said: &[Line]) -> Draft {
    let mut draft = Draft::default();
    let why = quoted(why, QUOTED_WORDS);
    draft.say(speaker.line(&lines().called, &[("w", &why)]));
    let subject = match said.last() {
        Some(last) => {
            let (name, q) = (called(&last.by, "somebody"), quoted(&last.text, QUOTED_WORDS));
            draft.say(speaker.line(&lines().called_by, &[("n", name), ("q", &q)]));
            speaker.subject(&texts_of(said), &why)
        }
        None => speaker.subject(&why, &why),
    };
    draft.say(speaker.view(&subject));
    draft.say(speaker.next_step(&subject));
    draft
}

/// One line about an element, and nothing else.
fn say(speaker: &mut Speaker, about: &[String], label: &str) -> Draft {
    let mut draft = Draft::default();
    draft.say(speaker.line(about, &[("l", label)]));
    draft
}

fn on_text(speaker: &mut Speaker, label: &str, content: &str) -> Draft {
    let subject = speaker.subject(content, label);
    let mut draft = Draft::default();
    let (words, subject) = remark(speaker, subject, label);
    draft.say(words);
    draft.say(speaker.view(&subject));
    let rule = if speaker.dice.chance(0.4) { speaker.rule_on(&subject.stems) } else { None };
    draft.say(rule.unwrap_or_default());
    draft.say(speaker.next_step(&subject));
    draft.say(speaker.phrase(0.25));
    markers::note_of(speaker, label, &subject, &mut draft);
    markers::idea_on(speaker, &subject, 0.45, &mut draft);
    draft
}

fn on_rules(speaker: &mut Speaker, label: &str, content: &str) -> Draft {
    let subject = speaker.subject(content, label);
    let mut draft = Draft::default();
    // The same rule is not everybody's.
    let at = [0, 0, 1, 2][speaker.dice.below(4)].min(subject.ranked.len().saturating_sub(1));
    let Some(rule) = subject.ranked.get(at).cloned() else { return on_text(speaker, label, content) };
    let whole = quoted(&rule, QUOTED_WORDS);
    draft.say(speaker.line(&lines().rules_read, &[("l", label), ("q", &whole)]));
    match speaker.duty_on(&subject.stems) {
        Some(duty) if speaker.dice.chance(0.7) => {
            draft.say(speaker.line(&lines().rules_fit, &[("d", &duty)]));
        }
        _ => draft.say(speaker.line(&lines().rules_else, &[])),
    }
    draft.say(speaker.phrase(0.35));
    if !speaker.reading.remembers(unpunctuated(&rule)) {
        draft.mark("REMEMBER", &format!("{label}: {rule}"));
    }
    draft
}

fn on_pins(speaker: &mut Speaker, label: &str, content: &str, pins: &[PinView]) -> Draft {
    let choice = markers::choose_pin(speaker, pins);
    let Some((pin, is_against)) = choice else { return on_text_of_pins(speaker, label, content, pins) };
    let subject = speaker.subject(&pin.text, &quoted(&pin.text, 6));
    let q = quoted(&pin.text, QUOTED_WORDS);
    let values = [("l", label), ("q", q.as_str()), ("a", called(&pin.author, "somebody")), ("p", &*pin.id)];
    let mut draft = Draft::default();
    let (said, marker) = if is_against { (&lines().vote_against, "VOTE_DOWN") } else { (&lines().vote_for, "VOTE_UP") };
    draft.say(speaker.line(said, &values));
    if !is_against {
        let rule = if speaker.dice.chance(0.4) { speaker.rule_on(&subject.stems) } else { None };
        let reason = speaker.view(&subject);
        draft.say(rule.unwrap_or(reason));
        if speaker.dice.chance(0.5) {
            draft.say(speaker.next_step(&subject));
        }
    }
    draft.say(speaker.phrase(0.25));
    draft.mark_id(marker, &pin.id);
    markers::keep(speaker, pin, is_against, &mut draft);
    markers::idea_on_board(speaker, &subject, pins, &mut draft);
    draft
}

/// What somebody is called; the person is not named.
fn called<'a>(name: &'a str, person: &'a str) -> &'a str {
    if markers::is_person(name) { person } else { name }
}

/// On a pinboard on which there is nothing to vote on.
fn on_text_of_pins(speaker: &mut Speaker, label: &str, content: &str, pins: &[PinView]) -> Draft {
    let others = pins.iter().filter(|pin| !markers::is_mine(speaker, pin));
    let texts: Vec<&str> = others.map(|pin| pin.text.as_str()).collect();
    if pins.is_empty() {
        return on_text(speaker, label, content);
    }
    if texts.is_empty() {
        return say(speaker, &lines().only_mine, label);
    }
    let mut draft = Draft::default();
    let subject = speaker.subject(&texts.join("\n"), label);
    let (words, subject) = remark(speaker, subject, label);
    draft.say(words);
    draft.say(if speaker.dice.chance(0.5) { speaker.view(&subject) } else { String::new() });
    draft.say(speaker.of_role(&speaker.role.questions, &subject));
    markers::idea_on_board(speaker, &subject, pins, &mut draft);
    draft
}

/// A reply to the reading of one's own mail.
pub fn on_mail(speaker: &mut Speaker, label: &str, mail: &[MailItem]) -> Draft {
    let label = shown(label);
    if mail.is_empty() {
        return say(speaker, &lines().empty, label);
    }
    let is_open = |item: &&MailItem| {
        let subject = markers::about_mail(item);
        !speaker.reading.remembers(&markers::answered_note(&item.from, &subject))
    };
    let Some(item) = mail.iter().find(is_open).cloned() else {
        return say(speaker, &lines().mail_answered, label);
    };
    let item = MailItem { text: without_reference(&item.text).to_owned(), ..item };
    let title = item.subject.trim_start_matches("Re '").split('\'').next().unwrap_or_default().to_owned();
    let whole = format!("{title}\n{}", item.text);
    let named = if item.subject.is_empty() { label.to_owned() } else { quoted(&item.subject, 8) };
    let mut subject = speaker.subject(&whole, &named);
    if let Some(topic) = thing_in(&title) {
        subject.particulars.thing.clone_from(&topic);
        subject.topic = topic;
    }
    let from = called(&item.from, "Somebody");
    let heart =
        subject.ranked.iter().find(|line| bare(line) != bare(&item.subject)).map_or(item.subject.as_str(), |line| line);
    let q = quoted(heart, QUOTED_WORDS);
    let mut draft = Draft::default();
    draft.say(speaker.line(&lines().mail_from, &[("a", from), ("q", &q)]));
    draft.say(speaker.view(&subject));
    draft.say(speaker.next_step(&subject));
    draft.say(speaker.phrase(0.2));
    markers::answer_mail(speaker, &item, &subject, &mut draft);
    draft
}

/// An answer without what it answers: “Re 'Chairs': I have forty” says “I have forty”.
fn without_reference(text: &str) -> &str {
    let start = text.trim_start();
    match start.strip_prefix("Re ").and_then(|rest| rest.split_once(": ")) {
        Some((_, answer)) => answer,
        None => text,
    }
}

/// What a short subject line names: “Lamp order” is about the lamp order.
fn thing_in(subject: &str) -> Option<String> {
    let count = words(subject).count();
    let names = words(subject).all(|word| !is_stop_word(word)) && !words(subject).next().is_some_and(is_order_verb);
    let plain = subject.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '-');
    let is_title = subject.chars().filter(|c| c.is_uppercase()).count() > 1;
    ((1..=3).contains(&count) && names && plain && !is_title).then(|| format!("the {}", subject.to_lowercase()))
}

/// A sentence about a sentence that matters to the speaker, quoting it, and the subject as seen through that one: what is
/// said of it is said of this sentence.
fn remark(speaker: &mut Speaker, mut subject: Subject, label: &str) -> (String, Subject) {
    let me = &speaker.reading.name;
    let names_me = |line: &&String| words(line).any(|word| word == me);
    let few: Vec<String> = subject.ranked.iter().take(4).cloned().collect();
    // What concerns the speaker by name comes first; otherwise not every reader stops at the same sentence.
    let at = speaker.dice.below(few.len());
    let quiet = speaker.dice.chance(0.5);
    let first = few.first().filter(|line| names_me(line) || quiet);
    let sentence = first.or(few.get(at)).cloned().unwrap_or_else(|| subject.topic.clone());
    let q = quoted(&sentence, QUOTED_WORDS);
    subject.particulars = Particulars::of(&sentence, &speaker.reading.interests);
    if !subject.particulars.thing.is_empty() {
        subject.topic.clone_from(&subject.particulars.thing);
    }
    let values = [("q", q.as_str()), ("t", subject.topic.as_str()), ("l", label)];
    let template = speaker.dice.line(&speaker.tone.remarks);
    (fill(template, &values), subject)
}
