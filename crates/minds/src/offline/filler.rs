//! Distinguishes content from filler, so that agents respond to facts and proposals and never quote each other's
//! phrases.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::data::{phrases, roles, tones};
use super::text::{bare, is_order_verb, unpunctuated};

/// A part of a line shorter than this may stand in any sentence.
const TELLING_CHARS: usize = 9;

/// The parts of all lines of tones and roles that stand between their slots, letters only.
static PARTS: LazyLock<BTreeSet<Vec<String>>> = LazyLock::new(|| {
    let of_tones = tones().iter().flat_map(|tone| tone.all()).flat_map(|(_, lines)| lines);
    let of_roles = roles().iter().flat_map(|role| [&role.views, &role.questions, &role.objections]).flatten();
    of_tones
        .chain(of_roles)
        .flat_map(|line| line.split_inclusive(['.', '?', '!']).map(parts).collect::<Vec<_>>())
        .filter(|parts| !parts.is_empty())
        .collect()
});

fn parts(line: &str) -> Vec<String> {
    let literal = line.split(['{', '}']).step_by(2);
    literal.map(bare).filter(|part| part.chars().count() >= TELLING_CHARS).collect()
}

/// Whether a sentence is one of the lines that any agent may say about anything.
pub fn is_filler(sentence: &str) -> bool {
    let said = bare(sentence);
    PARTS.iter().any(|parts| parts.iter().all(|part| said.contains(part.as_str())))
}

/// The texts inside quotation marks, last first.
pub fn quotations(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((quotation, after)) = rest.split_once('“').and_then(|(_, after)| after.split_once('”')) {
        found.insert(0, quotation.to_owned());
        rest = after;
    }
    found
}

/// The offers made in these sentences, last first: “find two sources” from “I will find two sources.”
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
        let is_vague = phrases().vague_offers.iter().any(|start| offer.starts_with(start));
        let is_whole = (2..=22).contains(&count) && !offer.contains(['“', '”', '…', '?']);
        // “I can hear it” is no offer.
        let can_only = sentence.contains("I can ") && !is_order_verb(offer.split(' ').next()?);
        (is_whole && !can_only && !is_vague && !is_filler(sentence)).then(|| offer.to_owned())
    };
    sentences.iter().rev().filter_map(offer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::text::sentences;

    #[test]
    fn phrases_of_any_tone_or_role_are_filler() {
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
