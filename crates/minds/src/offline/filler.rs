//! Separates content from filler, so that agents respond to facts and offers and never quote each other's stock lines.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::data::{fragments, roles, tones};
use super::text::{is_imperative_verb, normalized, unpunctuated};

/// Minimum length of a line part to recognize; shorter parts can occur in any sentence.
const MIN_PART_CHARS: usize = 9;

/// For each sentence in the lines of tones and roles, its normalized parts between the placeholders.
static FILLER_PARTS: LazyLock<BTreeSet<Vec<String>>> = LazyLock::new(|| {
    let of_tones = tones().iter().flat_map(|tone| tone.all()).flat_map(|(_, lines)| lines);
    let of_roles = roles().iter().flat_map(|role| [&role.views, &role.questions, &role.objections]).flatten();
    of_tones
        .chain(of_roles)
        .flat_map(|line| line.split_inclusive(['.', '?', '!']).map(literal_parts).collect::<Vec<_>>())
        .filter(|parts| !parts.is_empty())
        .collect()
});

fn literal_parts(line: &str) -> Vec<String> {
    let literal = line.split(['{', '}']).step_by(2);
    literal.map(normalized).filter(|part| part.chars().count() >= MIN_PART_CHARS).collect()
}

/// Whether a sentence comes from the lines of a tone or a role.
pub fn is_filler(sentence: &str) -> bool {
    let sentence = normalized(sentence);
    FILLER_PARTS.iter().any(|parts| parts.iter().all(|part| sentence.contains(part.as_str())))
}

/// Returns the texts inside quotation marks, the last one first.
pub fn quotations(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((quotation, after)) = rest.split_once('“').and_then(|(_, after)| after.split_once('”')) {
        found.insert(0, quotation.to_owned());
        rest = after;
    }
    found
}

/// Returns the offers in sentences, the last one first: “find two sources” for “I will find two sources.”
pub fn offers(sentences: &[String]) -> Vec<String> {
    let offer = |sentence: &String| {
        let after = ["I will ", "I can ", "I would rather "].iter().find_map(|start| {
            let (before, after) = sentence.split_once(start)?;
            let before = before.trim_end();
            let begins = before.is_empty()
                || before.ends_with([',', ':', '.'])
                || ["and", "then", "So", "Then", "First", "Today"].iter().any(|word| before.ends_with(word));
            begins.then_some(after)
        })?;
        let offer = unpunctuated(after.split([':', ';']).next().unwrap_or(after));
        let count = offer.split(' ').count();
        let is_vague = fragments().vague_offers.iter().any(|start| offer.starts_with(start));
        let is_whole = (2..=22).contains(&count) && !offer.contains(['“', '”', '…', '?']);
        // “I can hear it” is not an offer.
        let can_only = sentence.contains("I can ") && !is_imperative_verb(offer.split(' ').next()?);
        (is_whole && !can_only && !is_vague && !is_filler(sentence)).then(|| offer.to_owned())
    };
    sentences.iter().rev().filter_map(offer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::sentences;

    #[test]
    fn lines_of_tones_and_roles_are_filler() {
        assert!(is_filler(
            "I have one source on nothing, and half of this is known and half is assumed, and nobody has drawn the line yet."
        ));
        assert!(is_filler("Bram, what do you make of the map?"));
        assert!(!is_filler("The fair needs forty chairs by noon."));
        assert!(!is_filler("Copy closes at six."));
    }

    #[test]
    fn offers_and_quotations_are_found() {
        let text = "On News I read “We have eleven lamps”. I will count the lamps again. Shall we?";
        assert_eq!(quotations(text), ["We have eleven lamps"]);
        assert_eq!(offers(&sentences(text)), ["count the lamps again"]);
        assert_eq!(
            offers(&sentences("Bram will cut it, and I will draw the map before Friday.")),
            ["draw the map before Friday"]
        );
    }
}
