//! Ranks the noun phrases and the sentences of a text by their relevance to a reader.

use std::collections::{BTreeMap, BTreeSet};

use super::data::word_lists;
use super::text::{is_imperative_verb, is_stop_word, looks_plural, stem, stems, words};

/// Maximum number of words of a noun phrase after its determiner.
const PHRASE_WORDS: usize = 2;
/// Punctuation that ends a noun phrase.
const PART_ENDS: [char; 15] = [',', ';', ':', '.', '!', '?', '(', ')', '—', '–', '"', '“', '”', '…', '/'];

/// Returns up to eight distinct noun phrases of a text (“the harbour map”), the most relevant to the reader first.
pub fn noun_phrases(sentences: &[String], interests: &BTreeSet<String>) -> Vec<String> {
    let weights = term_weights(sentences);
    let weight_of = |phrase: &[&str]| {
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
        phrases.map(|(article, words)| (weight_of(&words), format!("{article} {}", words.join(" ")))).collect();
    // The sort is stable: equal phrases keep their order in the text.
    weighed.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut seen = BTreeSet::new();
    weighed.retain(|(_, phrase)| seen.insert(stems(phrase)));
    weighed.into_iter().take(8).map(|(_, phrase)| phrase).collect()
}

/// Returns the noun phrases in a part of a sentence: an article and the words after it.
fn phrases_of(part: &str) -> Vec<(&'static str, Vec<&str>)> {
    let mut phrases = Vec::new();
    let tokens: Vec<&str> = part.split_whitespace().map(|word| word.trim_matches(['\'', '’'])).collect();
    for (at, token) in tokens.iter().enumerate() {
        let determiner = token.to_lowercase();
        // “How the light falls” describes a manner and names no thing.
        let is_manner = at > 0 && tokens[at - 1].eq_ignore_ascii_case("how");
        if !word_lists().determiners.has(&determiner) || is_manner {
            continue;
        }
        let run: Vec<&str> = tokens[at + 1..].iter().copied().take_while(|word| is_phrase_word(word)).collect();
        let ends_well = run.len() <= PHRASE_WORDS && run.last().is_some_and(|word| is_nounlike(word));
        if !ends_well {
            continue;
        }
        phrases.push((if determiner == "our" { "our" } else { "the" }, run));
    }
    phrases
}

/// Whether a word can be part of a noun phrase.
fn is_phrase_word(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '’' || c == '\'')
        && !is_stop_word(word)
        && !word_lists().not_in_phrases.has(&word.to_lowercase())
}

fn is_nounlike(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_verb =
        ["ed", "ing"].iter().any(|end| word.ends_with(end)) && word.len() > 4 && !word_lists().gerund_nouns.has(&word);
    let is_noun = !word.ends_with("ly") && !looks_plural(&word) && !is_verb && !word_lists().no_nouns.has(&word);
    word.chars().any(char::is_alphabetic) && word.chars().count() >= 3 && is_noun
}

/// Returns the weight of each stem: higher if it occurs in more sentences or earlier.
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

/// Returns the sentences of at least three words by relevance to a reader: those that contain its `name`, then those
/// that share stems with its `interests`, then those with the most frequent stems of the text.
pub fn rank_sentences(sentences: &[String], interests: &BTreeSet<String>, name: &str) -> Vec<String> {
    let weights = term_weights(sentences);
    let mut scored: Vec<(f32, &String)> = sentences
        .iter()
        .take(200)
        .filter(|sentence| words(sentence).count() >= 3)
        .map(|sentence| {
            let terms = stems(sentence);
            let frequency = terms.iter().filter_map(|stem| weights.get(stem)).sum::<f32>();
            let interest = terms.intersection(interests).count() as f32;
            let named = if !name.is_empty() && words(sentence).any(|word| word == name) { 6.0 } else { 0.0 };
            let instruction = if words(sentence).next().is_some_and(is_imperative_verb) { 0.4 } else { 0.0 };
            (frequency / (terms.len() as f32 + 2.0).sqrt() + interest + named + instruction, sentence)
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
    fn noun_phrases_are_ranked_by_frequency() {
        let text = "The harbour map is late. We print the autumn issue on Friday, so send the harbour map to Bram.";
        let found = noun_phrases(&sentences(text), &BTreeSet::new());
        assert_eq!(found, ["the harbour map", "the autumn issue"]);
    }

    #[test]
    fn a_verb_ends_a_noun_phrase() {
        let found = noun_phrases(&sentences("The survey shows results."), &BTreeSet::new());
        assert_eq!(found, ["the survey"]);
    }

    #[test]
    fn a_sentence_that_names_the_reader_comes_first() {
        let text = "The fair opens soon. Bram writes the programme. Chairs arrive by boat this week.";
        assert_eq!(rank_sentences(&sentences(text), &BTreeSet::new(), "Bram")[0], "Bram writes the programme.");
    }

    #[test]
    fn interests_raise_the_rank_of_a_sentence() {
        let text = "The fair opens soon. Every claim needs a source. Chairs arrive by boat.";
        assert_eq!(rank_sentences(&sentences(text), &stems("sources claims"), "")[0], "Every claim needs a source.");
    }
}
