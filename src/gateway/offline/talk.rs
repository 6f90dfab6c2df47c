//! What an agent says in a conversation.

use std::collections::BTreeSet;

use super::draft::{Draft, fill};
use super::markers::{idea_on, is_person, may};
use super::phrases::{noun_phrases, ranked};
use super::speaker::{QUOTED_WORDS, Speaker, Subject, in_third_person, topic_in};
use super::text::{clause, quoted, sentences, stems, unpunctuated, words};

/// A turn in a conversation.
pub fn turn(
    speaker: &mut Speaker,
    with: &[String],
    topic: Option<&str>,
    said: &[(String, String)],
    concluding: bool,
) -> Draft {
    let me = speaker.reading.name.clone();
    let last = said.iter().rev().find(|(name, _)| *name != me);
    let named = with.iter().find(|name| **name != me);
    let other = match last.map(|(name, _)| name).or(named).map(String::as_str) {
        None => "you",
        Some(name) if is_person(name) => "you",
        Some(name) => name,
    };
    let subject = subject_of(speaker, topic, said);
    if concluding {
        return conclusion(speaker, other, &subject, said);
    }
    match last {
        Some((_, text)) => reaction(speaker, other, &subject, text),
        None => opening(speaker, other, &subject),
    }
}

fn subject_of(speaker: &mut Speaker, topic: Option<&str>, said: &[(String, String)]) -> Subject {
    let recent: Vec<&str> = said.iter().rev().take(3).map(|(_, text)| text.as_str()).collect();
    let whole = format!("{}\n{}", topic.unwrap_or_default(), recent.join("\n"));
    let fallback = speaker.reading.notes.last().cloned().unwrap_or_default();
    let talked = if whole.trim().is_empty() { fallback } else { whole };
    let mut subject = speaker.subject(&talked, "this room");
    // Without a topic it stays with what the first one spoke about, whatever words came up since.
    let first = said.first().and_then(|(_, text)| noun_phrases(&sentences(text), &BTreeSet::new()).into_iter().next());
    if let Some(topic) = topic.and_then(|topic| topic_in(topic, &speaker.reading.interests)).or(first) {
        subject.topic = topic;
    }
    subject
}

fn opening(speaker: &mut Speaker, other: &str, subject: &Subject) -> Draft {
    let mut draft = Draft::default();
    draft.say(speaker.line(speaker.tone.greetings, &[("o", other), ("t", &subject.topic)]));
    draft.say(support(speaker, subject, 0.8));
    draft.say(question(speaker, subject));
    draft.say(speaker.phrase(0.15));
    draft
}

fn reaction(speaker: &mut Speaker, other: &str, subject: &Subject, text: &str) -> Draft {
    let mut draft = Draft::default();
    let spoken = sentences(text);
    let asks = spoken.last().is_some_and(|sentence| sentence.ends_with('?'));
    let heard = heard(speaker, &spoken);
    let values = [("q", heard.as_str()), ("o", other), ("t", subject.topic.as_str())];
    let asks = asks || heard.is_empty();
    if asks && !speaker.dice.chance(0.2) {
        draft.say(speaker.line(speaker.craft.answers, &values));
        draft.say(support(speaker, subject, 0.5));
        let turns_back =
            ["And what would you do about it, {o}?", "Does that help you, {o}?", "Where does that leave you, {o}?"];
        if speaker.dice.chance(0.5) {
            draft.say(speaker.line(&turns_back, &values));
        }
    } else {
        let agrees = speaker.dice.chance(0.65);
        let lines = if agrees { speaker.tone.agreeing } else { speaker.tone.doubting };
        draft.say(speaker.line(lines, &values));
        draft.say(match (agrees, speaker.dice.chance(0.5)) {
            (true, true) => speaker.next_step(subject),
            _ => support(speaker, subject, 0.7),
        });
        if !agrees || speaker.dice.chance(0.6) {
            draft.say(question(speaker, subject));
        }
    }
    draft.say(speaker.phrase(0.2));
    draft
}

/// What to come back to in something said: a statement rather than a question, and rather what matters to me.
fn heard(speaker: &mut Speaker, spoken: &[String]) -> String {
    // What quotes somebody else would come out as a quotation within a quotation.
    let is_own =
        |sentence: &&String| !sentence.ends_with('?') && !sentence.contains(['\'', '“']) && words(sentence).count() > 3;
    let statements: Vec<String> = spoken.iter().filter(is_own).cloned().collect();
    let ranked = ranked(&statements, &speaker.reading.interests, "");
    ranked.first().or(statements.first()).map(|sentence| quoted(sentence, QUOTED_WORDS - 3)).unwrap_or_default()
}

fn question(speaker: &mut Speaker, subject: &Subject) -> String {
    let asked = speaker.line(speaker.craft.questions, &[("t", &subject.topic)]);
    let leads = ["", "", "So: ", "Tell me, ", "What I want to know: "];
    format!("{}{asked}", speaker.dice.line(&leads))
}

/// A note, a memory or a rule that bears on the subject.
fn support(speaker: &mut Speaker, subject: &Subject, chance: f32) -> String {
    if !speaker.dice.chance(chance) {
        return String::new();
    }
    let rule_first = speaker.dice.chance(0.4);
    let found = match rule_first {
        true => speaker.rule_on(&subject.stems).or_else(|| speaker.recall(&subject.stems)),
        false => speaker.recall(&subject.stems).or_else(|| speaker.rule_on(&subject.stems)),
    };
    match found {
        Some(found) => found,
        None => speaker.next_step(subject),
    }
}

fn conclusion(speaker: &mut Speaker, other: &str, subject: &Subject, said: &[(String, String)]) -> Draft {
    let mut draft = Draft::default();
    let theirs: Vec<&str> = said.iter().filter(|(name, _)| name == other).map(|(_, text)| text.as_str()).collect();
    let spoken = sentences(&theirs.join("\n"));
    let common: Vec<String> = spoken
        .iter()
        .filter(|sentence| {
            !sentence.starts_with("I ") && !sentence.contains(" I ") && !sentence.contains("house rules")
        })
        .cloned()
        .collect();
    let gist = Some(heard(speaker, &common)).filter(|gist| !gist.contains('…')).unwrap_or_default();
    let values = [("q", gist.as_str()), ("t", subject.topic.as_str()), ("o", other)];
    let agreed = speaker.line(
        &[
            "Then we agree on {t}: {q} stands.",
            "So let us keep {q} as what we agree on.",
            "To close: on {t} we keep {q}.",
        ],
        &values,
    );
    let plainly = speaker.line(
        &[
            "Then we agree: {t} goes on, in small steps.",
            "That is enough talk about {t} for one day.",
            "So we leave {t} there, with a name on each half.",
        ],
        &values,
    );
    draft.say(if agreed.is_empty() || speaker.dice.chance(0.4) { plainly } else { agreed });
    let their_part = part_of_other(other, &spoken);
    let promise = speaker.line(speaker.craft.promises, &values);
    let parts = match their_part.as_str() {
        "" if other == "you" => fill("I will {p}, and you will hear from me.", &[("p", &promise)]),
        "" => fill("I will {p}, and {o} looks at it from the other side.", &[("p", &promise), ("o", other)]),
        part => fill("{o} {part}, and I will {p}.", &[("o", other), ("part", part), ("p", &promise)]),
    };
    draft.say(&parts);
    draft.say(speaker.phrase(0.2));
    let note = format!("Agreed with {other} about {}: {parts}", subject.topic);
    if may(speaker, "REMEMBER") && !speaker.reading.remembers(unpunctuated(&parts)) {
        draft.mark("REMEMBER", &note.replace(" you ", " the person "));
    }
    idea_on(speaker, subject, 0.12, &mut draft);
    draft
}

/// What the other offered to do, told of them: “will bring their map”.
fn part_of_other(other: &str, spoken: &[String]) -> String {
    if other == "you" {
        return String::new();
    }
    let promise = spoken.iter().rev().find_map(|sentence| {
        let offers = sentence.starts_with("I will ") || sentence.starts_with("I can ");
        let rest = clause(sentence, 14);
        let verb_on = rest.strip_prefix("I ").filter(|_| offers)?.replacen("can ", "will ", 1);
        (!rest.ends_with('…') && stems(&verb_on).len() >= 2).then(|| in_third_person(&verb_on))
    });
    promise.unwrap_or_default()
}
