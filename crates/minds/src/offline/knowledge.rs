//! What an agent can contribute to a conversation: facts with their source.

use super::prompt_reader::Reading;
use super::text::{bare, plain, sentences, unpunctuated, words};

/// Most facts that are looked at.
const MOST: usize = 80;
/// Shorter than this nothing is a fact.
const LEAST_WORDS: usize = 4;

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
        let standing = sentences(text);
        standing.iter().for_each(|sentence| add(label, sentence));
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
    for item in &reading.mail {
        let standing = sentences(&item.text);
        standing.iter().filter(|sentence| !sentence.starts_with("Re ")).for_each(|sentence| add("my mail", sentence));
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
    ["Agreed", "Dealt with", "Worked on", "My "].iter().any(|start| note.starts_with(start))
}
