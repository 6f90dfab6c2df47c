//! The topic of a conversation: its name, the fact at issue, and what else an agent knows about it, with its source.

use super::data::phrases;
use super::facts::Particulars;
use super::filler::quotations;
use super::phrases::ranked;
use super::prompt_reader::Reading;
use super::speaker::{Speaker, Subject, texts_of, topic_in};
use super::text::{bare, plain, sentences, shared, stems, unpunctuated, words};
use crate::mind::context::{CurrentRequest, Line};

/// A label has at most so many words.
const LABEL_WORDS: usize = 5;
/// Of so many fitting facts one is chosen.
const CHOICE: usize = 3;
/// Most facts that are looked at.
const MOST: usize = 80;
/// Shorter than this nothing is a fact.
const LEAST_WORDS: usize = 4;

/// What a conversation is about.
pub struct Topic {
    /// The label of the element it is about; empty where it is about something else.
    pub place: String,
    /// The fact at issue: what was quoted last, or what the opening brings.
    pub fact: Option<Fact>,
    /// Its particulars and its name.
    pub subject: Subject,
}

/// A topic in its parts: “News: The fair opens” is about “News”, and its note is “The fair opens”.
pub fn parts_of_topic(topic: &str) -> (&str, &str) {
    match topic.split_once(": ") {
        Some((label, note)) if label.split(' ').count() <= LABEL_WORDS && !label.contains(['?', '.']) => (label, note),
        _ => (topic, ""),
    }
}

/// What the conversation is about, for this speaker at this moment.
pub fn topic_of(speaker: &mut Speaker, topic: Option<&str>, said: &[Line]) -> Topic {
    let (named, note) = parts_of_topic(topic.unwrap_or_default());
    let known = facts(speaker.reading);
    let is_name = named.starts_with(char::is_uppercase) && !named.contains(' ') || names_rules(speaker, named);
    let is_place =
        is_name || !note.is_empty() || known.iter().any(|fact| fact.stands_on(named)) || names_element(speaker, named);
    let place = if is_place { named.to_owned() } else { String::new() };
    let fact = match quoted_in(said) {
        Some(text) => Some(Fact { place: place.clone(), text }),
        None if !said.is_empty() => None,
        None if !note.is_empty() => Some(Fact { place: place.clone(), text: plain(note) }),
        None => chosen(speaker, &known, &place, if is_place { "" } else { named }),
    };
    let interests = &speaker.reading.interests;
    let free = if is_place { None } else { topic_in(named, interests) };
    let recent: Vec<&str> = said.iter().rev().take(2).map(|line| line.text.as_str()).collect();
    let text = fact.as_ref().map_or_else(|| format!("{named}\n{}", recent.join("\n")), |fact| fact.text.clone());
    let mut subject = speaker.subject(&text, if place.is_empty() { "our work" } else { &place });
    subject.particulars = Particulars::of(fact.as_ref().map_or("", |fact| &fact.text), interests);
    let thing = subject.particulars.thing.clone();
    subject.topic = match free {
        Some(free) => free,
        None if !thing.is_empty() => thing,
        None if !place.is_empty() => place.clone(),
        None => subject.topic,
    };
    let has_article = ["the ", "our ", "a "].iter().any(|article| subject.topic.starts_with(article));
    if !is_place && !named.is_empty() && has_article {
        subject.particulars.thing.clone_from(&subject.topic);
    }
    Topic { place, fact, subject }
}

/// Whether a topic is the label of rules, which stand in every prompt without it.
fn names_rules(speaker: &Speaker, name: &str) -> bool {
    !speaker.reading.rules.is_empty() && name.to_lowercase().ends_with("rules")
}

/// Whether the speaker has seen an element of that name.
fn names_element(speaker: &Speaker, name: &str) -> bool {
    let name = bare(name);
    !name.is_empty() && speaker.reading.seen.iter().any(|(label, _)| bare(label) == name)
}

/// A fact to open with: from the place the talk is about, or one that shares words with the topic, or the newest.
fn chosen(speaker: &mut Speaker, known: &[Fact], place: &str, free: &str) -> Option<Fact> {
    let about = stems(free);
    let before = bare(&before(speaker));
    let fresh: Vec<&Fact> = known.iter().filter(|fact| !before.contains(&bare(&fact.text))).collect();
    let there: Vec<&Fact> = fresh.iter().copied().filter(|fact| fact.stands_on(place)).collect();
    let fitting: Vec<&Fact> = match (place.is_empty(), free.is_empty()) {
        (_, false) => fresh.into_iter().filter(|fact| shared(&stems(&fact.text), &about) > 0).collect(),
        (false, _) if !there.is_empty() => there,
        _ => fresh,
    };
    pick(speaker, &fitting)
}

/// Something else known that bears on a topic and was not said in this conversation or the last ones.
pub fn unsaid(speaker: &mut Speaker, topic: &Topic) -> Option<Fact> {
    let known = facts(speaker.reading);
    let said = bare(&[speaker.spoken(), before(speaker)].join("\n"));
    let fits = |fact: &&Fact| {
        let common = shared(&stems(&fact.text), &topic.subject.stems);
        !said.contains(&bare(&fact.text)) && (common > 1 || fact.stands_on(&topic.place) && common > 0)
    };
    let fitting: Vec<&Fact> = known.iter().filter(fits).collect();
    pick(speaker, &fitting)
}

/// One of the facts that matter most to the speaker.
fn pick(speaker: &mut Speaker, fitting: &[&Fact]) -> Option<Fact> {
    let texts: Vec<String> = fitting.iter().map(|fact| fact.text.clone()).collect();
    let order = ranked(&texts, &speaker.reading.interests, &speaker.reading.name);
    let text = order.get(speaker.dice.below(order.len().min(CHOICE)))?;
    fitting.iter().find(|fact| fact.text == *text).map(|fact| (*fact).clone())
}

/// What was said in earlier conversations, and by the speaker in this session.
fn before(speaker: &Speaker) -> String {
    let earlier = match &speaker.reading.moment {
        CurrentRequest::Talk { earlier, .. } => texts_of(earlier),
        _ => String::new(),
    };
    let recent: Vec<&str> = speaker.reading.said.iter().rev().take(12).map(String::as_str).collect();
    format!("{earlier}\n{}", recent.join("\n"))
}

/// What was quoted last in a conversation and is long enough to be a fact.
fn quoted_in(said: &[Line]) -> Option<String> {
    let mut quoted = said.iter().rev().flat_map(|line| quotations(&line.text));
    quoted.find(|quotation| words(quotation).count() >= LEAST_WORDS)
}

/// A fact and its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// Where: the label of an element; empty for the agent's own notes.
    pub place: String,
    /// The sentence.
    pub text: String,
}

impl Fact {
    /// Whether it concerns the place that a conversation is about.
    pub fn stands_on(&self, place: &str) -> bool {
        !place.is_empty() && bare(&self.place) == bare(place)
    }
}

/// Everything that the agent knows from boards, pins, mail, rules and its notes, each once, newest sources first.
pub fn facts(reading: &Reading) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |place: &str, text: &str| {
        let text = unpunctuated(text);
        let whole = !text.ends_with('…') && words(text).count() >= LEAST_WORDS;
        let is_new = facts.iter().all(|fact: &Fact| bare(&fact.text) != bare(text));
        if whole && is_new && facts.len() < MOST {
            facts.push(Fact { place: place.trim().to_owned(), text: text.to_owned() });
        }
    };
    for (label, text) in &reading.boards {
        sentences(text).iter().for_each(|sentence| add(label, sentence));
    }
    for pin in &reading.kept {
        add(&plain(&pin.name), &plain(&pin.text));
    }
    for note in reading.notes.iter().rev().filter(|note| !is_record(note)) {
        match note.split_once(": ") {
            Some((place, text)) if place.split(' ').count() <= 4 => add(place, text),
            _ => add("", note),
        }
    }
    for (label, summary) in &reading.seen {
        seen(label, summary, &mut add);
    }
    for letter in &reading.mail {
        let told = sentences(letter).into_iter().filter(|sentence| !sentence.starts_with("Re "));
        told.for_each(|sentence| add("my mail", &sentence));
    }
    for rule in &reading.rules {
        add("", rule);
    }
    facts
}

/// What a prompt says of an element in one line, of which the end may be cut: pins, or entries of a list.
fn seen(label: &str, summary: &str, add: &mut impl FnMut(&str, &str)) {
    if summary.starts_with(|c: char| c.is_ascii_digit())
        && let Some((_, pins)) = summary.split_once(": ").filter(|(count, _)| count.ends_with(['n', 's']))
    {
        pins.split(" · ").for_each(|pin| add(label, pin));
    } else {
        summary.split(" - ").skip(1).flat_map(sentences).for_each(|entry| add(label, &entry));
    }
}

/// Whether a note tells what was done, not what is so.
fn is_record(note: &str) -> bool {
    phrases().records.iter().any(|start| note.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_name_and_the_note_is_what_is_talked_about() {
        assert_eq!(parts_of_topic("House rules: Pin one idea at a time."), ("House rules", "Pin one idea at a time."));
        assert_eq!(parts_of_topic("Who brings chairs? Note: all"), ("Who brings chairs? Note: all", ""));
        assert_eq!(parts_of_topic("the autumn fair"), ("the autumn fair", ""));
    }
}
