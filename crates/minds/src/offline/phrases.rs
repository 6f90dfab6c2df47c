//! What a text is about: the sentence that matters most to a reader, and the noun phrases that can name it.

use std::collections::{BTreeMap, BTreeSet};

use super::data::known;
use super::text::{is_order_verb, is_stop_word, looks_plural, stem, stems, words};

/// Most words of a noun phrase beside its determiner.
const PHRASE_WORDS: usize = 2;
/// No noun phrase reaches over one of these.
const PART_ENDS: [char; 15] = [',', ';', ':', '.', '!', '?', '(', ')', '—', '–', '"', '“', '”', '…', '/'];

/// The noun phrases of a text (“the harbour map”), those that matter most to the reader first.
pub fn noun_phrases(sentences: &[String], interests: &BTreeSet<String>) -> Vec<String> {
    let weights = term_weights(sentences);
    let weigh = |phrase: &[&str]| {
        let weight = |word: &&str| {
            let stem = stem(word);
            let interest = if interests.contains(&stem) { 1.5 } else { 1.0 };
            weights.get(&stem).copied().unwrap_or(0.5) * interest
        };
        phrase.iter().map(weight).sum::<f32>() / (phrase.len() as f32).sqrt()
    };
    let parts = sentences.iter().take(80).flat_map(|sentence| sentence.split(PART_ENDS));
    let phrases = parts.flat_map(phrases_of);
    let mut weighed: Vec<(f32, String)> =
        phrases.map(|(article, words)| (weigh(&words), format!("{article} {}", words.join(" ")))).collect();
    // A stable sort keeps the order of the text among equals.
    weighed.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut seen = BTreeSet::new();
    weighed.retain(|(_, phrase)| seen.insert(stems(phrase)));
    weighed.into_iter().take(8).map(|(_, phrase)| phrase).collect()
}

/// The noun phrases in a part of a sentence: an article, and the words behind it.
fn phrases_of(part: &str) -> Vec<(&'static str, Vec<&str>)> {
    let mut phrases = Vec::new();
    let tokens: Vec<&str> = part.split_whitespace().map(|word| word.trim_matches(['\'', '’'])).collect();
    for (at, token) in tokens.iter().enumerate() {
        let determiner = token.to_lowercase();
        // “How the light falls” names a manner and no thing.
        let is_manner = at > 0 && tokens[at - 1].eq_ignore_ascii_case("how");
        if !known().determiners.has(&determiner) || is_manner {
            continue;
        }
        let run: Vec<&str> = tokens[at + 1..].iter().copied().take_while(|word| belongs(word)).collect();
        let ends_well = run.len() <= PHRASE_WORDS && run.last().is_some_and(|word| is_nounlike(word));
        if !ends_well {
            continue;
        }
        phrases.push((if determiner == "our" { "our" } else { "the" }, run));
    }
    phrases
}

/// Whether a word may stand inside a noun phrase.
fn belongs(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '’' || c == '\'')
        && !is_stop_word(word)
        && !known().not_in_phrases.has(&word.to_lowercase())
}

fn is_nounlike(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_verb =
        ["ed", "ing"].iter().any(|end| word.ends_with(end)) && word.len() > 4 && !known().gerund_nouns.has(&word);
    let is_noun = !word.ends_with("ly") && !looks_plural(&word) && !is_verb && !known().no_nouns.has(&word);
    word.chars().any(char::is_alphabetic) && word.chars().count() >= 3 && is_noun
}

/// How much each stem weighs: more where it stands in several sentences or early.
fn term_weights(sentences: &[String]) -> BTreeMap<String, f32> {
    let mut weights = BTreeMap::new();
    for (at, sentence) in sentences.iter().enumerate().take(200) {
        let early = 1.0 / (1.0 + at as f32 * 0.15);
        for stem in stems(sentence) {
            *weights.entry(stem).or_insert(0.0) += 0.5 + early;
        }
    }
    weights
}

/// The sentences in the order in which they matter to this reader: what names it first, then what meets its
/// interests, then what the text itself dwells on.
pub fn ranked(sentences: &[String], interests: &BTreeSet<String>, name: &str) -> Vec<String> {
    let weights = term_weights(sentences);
    let mut scored: Vec<(f32, &String)> = sentences
        .iter()
        .take(200)
        .filter(|sentence| words(sentence).count() >= 3)
        .map(|sentence| {
            let terms = stems(sentence);
            let dwelt = terms.iter().filter_map(|stem| weights.get(stem)).sum::<f32>();
            let interest = terms.intersection(interests).count() as f32;
            let named = if !name.is_empty() && words(sentence).any(|word| word == name) { 6.0 } else { 0.0 };
            let order = if words(sentence).next().is_some_and(is_order_verb) { 0.4 } else { 0.0 };
            (dwelt / (terms.len() as f32 + 2.0).sqrt() + interest + named + order, sentence)
        })
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().map(|(_, sentence)| sentence.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::sentences;

    #[test]
    fn finds_the_things_a_text_names() {
        let text = "The harbour map is late. We print the autumn issue on Friday, so send the harbour map to Bram.";
        let found = noun_phrases(&sentences(text), &BTreeSet::new());
        assert_eq!(found, ["the harbour map", "the autumn issue"]);
    }

    #[test]
    fn verbs_end_a_phrase() {
        let found = noun_phrases(&sentences("The survey shows results."), &BTreeSet::new());
        assert_eq!(found, ["the survey"]);
    }

    #[test]
    fn what_names_the_reader_comes_first() {
        let text = "The fair opens soon. Bram writes the programme. Chairs arrive by boat this week.";
        assert_eq!(ranked(&sentences(text), &BTreeSet::new(), "Bram")[0], "Bram writes the programme.");
    }

    #[test]
    fn interests_decide_what_matters() {
        let text = "The fair opens soon. Every claim needs a source. Chairs arrive by boat.";
        assert_eq!(ranked(&sentences(text), &stems("sources claims"), "")[0], "Every claim needs a source.");
    }
}
