//! What a text is about: the sentence that matters most to a reader, and the noun phrases that can name it.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::known;
use super::text::{is_order_verb, is_stop_word, stem, stems, words};

/// Most words of a noun phrase beside its determiner.
const PHRASE_WORDS: usize = 2;

/// A noun phrase and how much it weighs.
struct Candidate {
    phrase: String,
    weight: f32,
}

/// The noun phrases of a text (“the harbour map”), those that matter most to the reader first.
pub fn noun_phrases(sentences: &[String], interests: &BTreeSet<String>) -> Vec<String> {
    let weights = term_weights(sentences);
    let mut candidates: Vec<Candidate> = Vec::new();
    for sentence in sentences.iter().take(80) {
        for part in sentence.split([',', ';', ':', '.', '!', '?', '(', ')', '—', '–', '"', '“', '”', '…', '/'])
        {
            phrases_of(part, &weights, interests, &mut candidates);
        }
    }
    // A stable sort keeps the order of the text among equals.
    candidates.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let mut seen = BTreeSet::new();
    candidates.retain(|candidate| seen.insert(stems(&candidate.phrase)));
    candidates.into_iter().take(8).map(|candidate| candidate.phrase).collect()
}

fn phrases_of(
    part: &str,
    weights: &BTreeMap<String, f32>,
    interests: &BTreeSet<String>,
    candidates: &mut Vec<Candidate>,
) {
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
        let weight = run.iter().map(|word| weigh(word, weights, interests)).sum::<f32>() / (run.len() as f32).sqrt();
        let article = match determiner.as_str() {
            "our" => "our",
            _ => "the",
        };
        candidates.push(Candidate { phrase: format!("{article} {}", run.join(" ")), weight });
    }
}

/// Whether a word may stand inside a noun phrase.
fn belongs(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '’' || c == '\'')
        && !is_stop_word(word)
        && !known().not_in_phrases.has(&word.to_lowercase())
}

fn is_nounlike(word: &str) -> bool {
    let word = word.to_lowercase();
    let is_plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let is_verb =
        ["ed", "ing"].iter().any(|end| word.ends_with(end)) && word.len() > 4 && !known().gerund_nouns.has(&word);
    let is_noun = !word.ends_with("ly") && !is_plural && !is_verb && !known().no_nouns.has(&word);
    word.chars().any(char::is_alphabetic) && word.chars().count() >= 3 && is_noun
}

fn weigh(word: &str, weights: &BTreeMap<String, f32>, interests: &BTreeSet<String>) -> f32 {
    let stem = stem(word);
    let interest = if interests.contains(&stem) { 1.5 } else { 1.0 };
    weights.get(&stem).copied().unwrap_or(0.5) * interest
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
