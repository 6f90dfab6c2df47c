//! Splits a text into searchable words: case-folded, in every script. Scripts without spaces are split into pairs of
//! characters.

use crate::base::text_normalization::folded;

/// The maximum length of a word in characters; the rest is cut off.
const MAX_CHARS: usize = 40;

/// Returns the words of a text in order, with repetitions.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let folded = folded(text);
    let mut words = Vec::new();
    for run in folded.split(|character: char| !character.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let is_paired = writes_no_blanks(first);
            let end = rest.find(|character| writes_no_blanks(character) != is_paired).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            rest = after;
            if is_paired {
                pairs(part, &mut words);
            } else {
                words.push(part.chars().take(MAX_CHARS).collect());
            }
        }
    }
    words
}

fn pairs(part: &str, words: &mut Vec<String>) {
    let signs: Vec<char> = part.chars().collect();
    match signs.as_slice() {
        [one] => words.push(one.to_string()),
        signs => words.extend(signs.windows(2).map(|pair| pair.iter().collect())),
    }
}

/// Whether words are not separated by spaces in this script: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
fn writes_no_blanks(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_unspaced_scripts_are_split_into_pairs() {
        assert_eq!(words_of("It's MAX_RETRY, ＺＸ-19!"), ["it", "s", "max", "retry", "zx", "19"]);
        assert_eq!(words_of("会議室 の予約v2"), ["会議", "議室", "の予", "予約", "v2"]);
        assert_eq!(words_of("東"), ["東"]);
        assert_eq!(words_of("\"; DROP (NEAR* --"), ["drop", "near"]);
        assert_eq!(words_of(" … "), Vec::<String>::new());
        assert_eq!(words_of(&"x".repeat(1000))[0].len(), MAX_CHARS);
    }
}
