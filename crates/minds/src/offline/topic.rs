//! Finds the topic of a conversation: its name, the fact at issue, and further facts that the agent knows, with source.

use super::data::fragments;
use super::facts::Details;
use super::filler::quotations;
use super::phrases::rank_sentences;
use super::prompt_reader::ParsedPrompt;
use super::speaker::{Speaker, TextAnalysis, joined_texts, topic_phrase};
use super::text::{normalized, sentences, shared_count, stems, strip_markup, unpunctuated, words};
use crate::mind::context::{CurrentRequest, Line};

/// Maximum number of words in the label of a topic.
const MAX_LABEL_WORDS: usize = 5;
/// Number of most relevant facts to choose from at random.
const PICK_FROM: usize = 3;
/// Maximum number of facts collected from a prompt.
const MAX_FACTS: usize = 80;
/// Minimum number of words of a fact.
const MIN_FACT_WORDS: usize = 4;

/// The topic of a conversation.
pub struct Topic {
    /// The label of the element that the topic names; empty if it names none.
    pub label: String,
    /// The fact at issue: the last quotation, or the fact to open with.
    pub fact: Option<Fact>,
    /// The topic phrase and the details of the fact.
    pub analysis: TextAnalysis,
}

/// Splits a topic into label and note: “News: The fair opens” into “News” and “The fair opens”.
pub fn split_topic(topic: &str) -> (&str, &str) {
    match topic.split_once(": ") {
        Some((label, note)) if label.split(' ').count() <= MAX_LABEL_WORDS && !label.contains(['?', '.']) => {
            (label, note)
        }
        _ => (topic, ""),
    }
}

/// Determines the topic of a conversation from its given topic and its lines so far.
pub fn resolve_topic(speaker: &mut Speaker, topic: Option<&str>, conversation: &[Line]) -> Topic {
    let (named, note) = split_topic(topic.unwrap_or_default());
    let facts = collect_facts(speaker.prompt);
    let is_name = named.starts_with(char::is_uppercase) && !named.contains(' ') || is_rulebook_name(speaker, named);
    let names_element =
        is_name || !note.is_empty() || facts.iter().any(|fact| fact.is_from(named)) || is_known_element(speaker, named);
    let label = if names_element { named.to_owned() } else { String::new() };
    let fact = match last_quotation(conversation) {
        Some(text) => Some(Fact { label: label.clone(), text }),
        None if !conversation.is_empty() => None,
        None if !note.is_empty() => Some(Fact { label: label.clone(), text: strip_markup(note) }),
        None => choose_fact(speaker, &facts, &label, if names_element { "" } else { named }),
    };
    let interests = &speaker.prompt.interests;
    let free_topic = if names_element { None } else { topic_phrase(named, interests) };
    let recent: Vec<&str> = conversation.iter().rev().take(2).map(|line| line.text.as_str()).collect();
    let text = fact.as_ref().map_or_else(|| format!("{named}\n{}", recent.join("\n")), |fact| fact.text.clone());
    let mut analysis = speaker.analyze(&text, if label.is_empty() { "our work" } else { &label });
    analysis.details = Details::of(fact.as_ref().map_or("", |fact| &fact.text), interests);
    let thing = analysis.details.thing.clone();
    analysis.topic = match free_topic {
        Some(phrase) => phrase,
        None if !thing.is_empty() => thing,
        None if !label.is_empty() => label.clone(),
        None => analysis.topic,
    };
    let has_article = ["the ", "our ", "a "].iter().any(|article| analysis.topic.starts_with(article));
    if !names_element && !named.is_empty() && has_article {
        analysis.details.thing.clone_from(&analysis.topic);
    }
    Topic { label, fact, analysis }
}

/// Whether a topic names a rulebook; prompts contain the rules without the label of their element.
fn is_rulebook_name(speaker: &Speaker, name: &str) -> bool {
    !speaker.prompt.rules.is_empty() && name.to_lowercase().ends_with("rules")
}

/// Whether the speaker has read an element of that name.
fn is_known_element(speaker: &Speaker, name: &str) -> bool {
    let name = normalized(name);
    !name.is_empty() && speaker.prompt.elements.iter().any(|(label, _)| normalized(label) == name)
}

/// Chooses a fact to open with, not yet mentioned: one that shares words with a free topic, or one from the labelled
/// element, or any.
fn choose_fact(speaker: &mut Speaker, facts: &[Fact], label: &str, free_topic: &str) -> Option<Fact> {
    let topic_stems = stems(free_topic);
    let mentioned = normalized(&earlier_text(speaker));
    let fresh: Vec<&Fact> = facts.iter().filter(|fact| !mentioned.contains(&normalized(&fact.text))).collect();
    let on_element: Vec<&Fact> = fresh.iter().copied().filter(|fact| fact.is_from(label)).collect();
    let candidates: Vec<&Fact> = match (label.is_empty(), free_topic.is_empty()) {
        (_, false) => fresh.into_iter().filter(|fact| shared_count(&stems(&fact.text), &topic_stems) > 0).collect(),
        (false, _) if !on_element.is_empty() => on_element,
        _ => fresh,
    };
    pick_ranked(speaker, &candidates)
}

/// Chooses a known fact that is related to a topic and was not mentioned in this or earlier conversations.
pub fn unmentioned_fact(speaker: &mut Speaker, topic: &Topic) -> Option<Fact> {
    let facts = collect_facts(speaker.prompt);
    let mentioned = normalized(&[speaker.conversation_text(), earlier_text(speaker)].join("\n"));
    let fits = |fact: &&Fact| {
        let common = shared_count(&stems(&fact.text), &topic.analysis.stems);
        !mentioned.contains(&normalized(&fact.text)) && (common > 1 || fact.is_from(&topic.label) && common > 0)
    };
    let candidates: Vec<&Fact> = facts.iter().filter(fits).collect();
    pick_ranked(speaker, &candidates)
}

/// Chooses one of the facts that are most relevant to the speaker.
fn pick_ranked(speaker: &mut Speaker, candidates: &[&Fact]) -> Option<Fact> {
    let texts: Vec<String> = candidates.iter().map(|fact| fact.text.clone()).collect();
    let order = rank_sentences(&texts, &speaker.prompt.interests, &speaker.prompt.name);
    let text = order.get(speaker.rng.below(order.len().min(PICK_FROM)))?;
    candidates.iter().find(|fact| fact.text == *text).map(|fact| (*fact).clone())
}

/// Returns the lines of earlier conversations and the speaker's recent replies.
fn earlier_text(speaker: &Speaker) -> String {
    let earlier = match &speaker.prompt.request {
        CurrentRequest::Talk { earlier, .. } => joined_texts(earlier),
        _ => String::new(),
    };
    let recent: Vec<&str> = speaker.prompt.own_replies.iter().rev().take(12).map(String::as_str).collect();
    format!("{earlier}\n{}", recent.join("\n"))
}

/// Returns the last quotation in a conversation that is long enough to be a fact.
fn last_quotation(conversation: &[Line]) -> Option<String> {
    let mut quoted = conversation.iter().rev().flat_map(|line| quotations(&line.text));
    quoted.find(|quotation| words(quotation).count() >= MIN_FACT_WORDS)
}

/// A fact and its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The label of the element with the fact; “my mail” for mail; empty for notes without a label and rules.
    pub label: String,
    /// The sentence without its final punctuation.
    pub text: String,
}

impl Fact {
    /// Whether the fact comes from the element with this label.
    pub fn is_from(&self, label: &str) -> bool {
        !label.is_empty() && normalized(&self.label) == normalized(label)
    }
}

/// Collects the distinct facts in boards, kept pins, notes, element summaries, mail and rules.
pub fn collect_facts(prompt: &ParsedPrompt) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |label: &str, text: &str| {
        let text = unpunctuated(text);
        let is_whole = !text.ends_with('…') && words(text).count() >= MIN_FACT_WORDS;
        let is_new = facts.iter().all(|fact: &Fact| normalized(&fact.text) != normalized(text));
        if is_whole && is_new && facts.len() < MAX_FACTS {
            facts.push(Fact { label: label.trim().to_owned(), text: text.to_owned() });
        }
    };
    for (label, text) in &prompt.boards {
        sentences(text).iter().for_each(|sentence| add(label, sentence));
    }
    for pin in &prompt.kept_pins {
        add(&strip_markup(&pin.name), &strip_markup(&pin.text));
    }
    for note in prompt.notes.iter().rev().filter(|note| !is_record(note)) {
        match note.split_once(": ") {
            Some((label, text)) if label.split(' ').count() <= 4 => add(label, text),
            _ => add("", note),
        }
    }
    for (label, summary) in &prompt.elements {
        add_summary_facts(label, summary, &mut add);
    }
    for item in &prompt.mail {
        let statements = sentences(item).into_iter().filter(|sentence| !sentence.starts_with("Re "));
        statements.for_each(|sentence| add("my mail", &sentence));
    }
    for rule in &prompt.rules {
        add("", rule);
    }
    facts
}

/// Adds the pins or list entries in the one-line summary of an element, whose end may be cut.
fn add_summary_facts(label: &str, summary: &str, add: &mut impl FnMut(&str, &str)) {
    if summary.starts_with(|c: char| c.is_ascii_digit())
        && let Some((_, pins)) = summary.split_once(": ").filter(|(count, _)| count.ends_with(['n', 's']))
    {
        pins.split(" · ").for_each(|pin| add(label, pin));
    } else {
        summary.split(" - ").skip(1).flat_map(sentences).for_each(|entry| add(label, &entry));
    }
}

/// Whether a note records an action instead of a fact.
fn is_record(note: &str) -> bool {
    fragments().records.iter().any(|start| note.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_split_into_label_and_note() {
        assert_eq!(split_topic("House rules: Pin one idea at a time."), ("House rules", "Pin one idea at a time."));
        assert_eq!(split_topic("Who brings chairs? Note: all"), ("Who brings chairs? Note: all", ""));
        assert_eq!(split_topic("the autumn fair"), ("the autumn fair", ""));
    }
}
