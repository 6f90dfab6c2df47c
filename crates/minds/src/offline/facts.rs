//! Finds the details of a sentence that a reply can refer to: an amount, a day or an hour, and a thing.

use std::collections::BTreeSet;

use super::data::word_lists;
use super::phrases::noun_phrases;
use super::text::{is_stop_word, looks_plural, words};

/// The details of a sentence that a reply can refer to; each is empty if there is none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Details {
    /// An amount: “the eleven lamps”, “the 400”.
    pub number: String,
    /// A day or an hour: “Friday”, “six o’clock”.
    pub date: String,
    /// A noun phrase: “the harbour bridge”.
    pub thing: String,
}

impl Details {
    /// Returns the details of a sentence; its thing is the most relevant to the reader's interests.
    pub fn of(sentence: &str, interests: &BTreeSet<String>) -> Self {
        let words: Vec<&str> = words(sentence).collect();
        let thing = noun_phrases(&[sentence.to_owned()], interests).into_iter().next().unwrap_or_default();
        let number = digits_in(sentence).or_else(|| counted_in(&words)).unwrap_or_default();
        Self { number, date: date_in(&words), thing }
    }
}

fn is_number(word: &str) -> bool {
    word_lists().numbers.has(&word.to_lowercase())
}

fn is_plural(word: &str) -> bool {
    let has_end = word.len() > 3 && looks_plural(word);
    let is_thing = !word_lists().no_things.has(&word.to_lowercase()) && !is_stop_word(word);
    (has_end || word == "people") && word.chars().all(char::is_alphabetic) && is_thing
}

/// Returns the first amount in digits that is no year, hour or part of a name: “the 2,300 passengers”, “the 400”.
fn digits_in(sentence: &str) -> Option<String> {
    let tokens: Vec<&str> = sentence.split_whitespace().collect();
    tokens.iter().enumerate().find_map(|(at, token)| {
        let core = token.trim_matches(|c: char| !c.is_alphanumeric());
        let digits: String = core.chars().filter(char::is_ascii_digit).collect();
        let plain = core.chars().all(|c| c.is_ascii_digit() || c == ',') && !core.is_empty();
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|word| word.to_lowercase());
        let is_time = before.is_some_and(|word| word_lists().before_hours.has(&word) || word == "in");
        let is_year = digits.len() == 4 && !core.contains(',') && digits.starts_with(['1', '2']);
        if !plain || digits.len() > 9 || is_year || is_time {
            return None;
        }
        let ends = !token.ends_with(core);
        let next = tokens.get(at + 1).filter(|_| !ends).map(|word| word.trim_end_matches(['.', ',', ';', ':', '?']));
        Some(match next {
            Some(next) if is_plural(next) => format!("the {core} {next}"),
            _ => format!("the {core}"),
        })
    })
}

/// Returns the first amount in words that is followed by a plural: “the eleven lamps”, “the four hundred words”.
fn counted_in(words: &[&str]) -> Option<String> {
    (0..words.len()).find_map(|at| {
        let starts = is_number(words[at]) && (at == 0 || !is_number(words[at - 1]));
        if !starts {
            return None;
        }
        let count = words[at..].iter().take_while(|word| is_number(word)).count();
        let number = words[at..at + count].join(" ").to_lowercase();
        let rest = &words[at + count..];
        let direct = rest.first().filter(|word| is_plural(word)).map(|word| (*word).to_owned());
        let described = || {
            let [first, second, ..] = rest else { return None };
            let describes = !is_stop_word(first) && !is_number(first) && first.chars().all(char::is_lowercase);
            (describes && is_plural(second)).then(|| format!("{first} {second}"))
        };
        direct.or_else(described).map(|things| format!("the {number} {things}"))
    })
}

fn date_in(words: &[&str]) -> String {
    let day = words.iter().find(|word| word_lists().days.has(&word.to_lowercase()));
    if let Some(day) = day {
        return (*day).to_owned();
    }
    let hour = words.windows(2).enumerate().find(|(at, pair)| {
        let names_things = words.get(at + 2).is_some_and(|next| is_plural(next) || is_number(next));
        let hours = word_lists().hours.has(&pair[1].to_lowercase());
        word_lists().before_hours.has(&pair[0].to_lowercase()) && hours && !names_things
    });
    hour.map(|(_, pair)| format!("{} o’clock", pair[1].to_lowercase())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sentence: &str) -> (String, String, String) {
        let found = Details::of(sentence, &BTreeSet::new());
        (found.number, found.date, found.thing)
    }

    #[test]
    fn amounts_days_and_hours_are_found() {
        let cases = [
            ("The budget for the opening is 400, and nobody has checked the figure.", "the 400", ""),
            ("We have eleven lamps, forty chairs and no sign.", "the eleven lamps", ""),
            ("The council says 2,300 passengers a day.", "the 2,300 passengers", ""),
            ("Four hundred words, and a map.", "", ""),
            ("Find two independent sources.", "the two independent sources", ""),
            ("It closes on Monday for eleven weeks.", "", "Monday"),
            ("Copy closes at six.", "", "six o’clock"),
            ("Whether the music may go on until ten.", "", "ten o’clock"),
            ("The bridge was closed in 1998.", "", ""),
            ("Two of them came by ten trains.", "the ten trains", ""),
            ("No one knows anyone here.", "", ""),
        ];
        for (sentence, number, date) in cases {
            let found = of(sentence);
            assert_eq!((found.0.as_str(), found.1.as_str()), (number, date), "{sentence}");
        }
    }

    #[test]
    fn pronouns_and_clauses_name_no_thing() {
        let nothing = [
            "Pin one idea at a time, in one sentence that anyone can act on.",
            "Let people hear their quotations before they are printed.",
            "What the shops on the far side expect from it.",
            "Write down how the woman breaks, then fix only that.",
            "How the light falls.",
            "The anyone, the everybody and the other.",
        ];
        for sentence in nothing {
            assert_eq!(of(sentence).2, "", "{sentence}");
        }
        assert_eq!(of("The lead is the harbour bridge: it closes on Monday.").2, "the harbour bridge");
        assert_eq!(of("The page about the night market is free.").2, "the night market");
    }
}
