//! An hour of each starter scene without a model: nobody repeats itself, and hardly anybody anyone else.

use std::collections::{BTreeSet, HashMap, HashSet};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{folder, json_lines, succeed};

pub fn trials() -> Vec<Trial> {
    cases![nobody_says_a_sentence_twice_and_few_are_much_alike]
}

/// Sentences with fewer pairs of words, such as a name, may be said again.
const PAIRS_AT_LEAST: usize = 3;
/// Of so many in a hundred of its pairs of words that stand in one earlier sentence, a sentence is much like that.
const ALIKE_PERCENT: usize = 60;
/// So many of a hundred sentences may be much like an earlier one of anybody's.
const ALIKE_AT_MOST_PERCENT: usize = 15;

fn pairs(sentence: &str) -> BTreeSet<(String, String)> {
    let words: Vec<String> = sentence
        .split(|letter: char| !letter.is_alphanumeric() && !['\'', '’'].contains(&letter))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(2).map(|two| (two[0].clone(), two[1].clone())).collect()
}

fn said(events: &[Value]) -> Vec<(&str, &str)> {
    let messages = events.iter().filter(|event| event["type"] == "message");
    let texts = messages.filter_map(|event| Some((event["agent"].as_str()?, event["data"]["text"].as_str()?)));
    texts
        .flat_map(|(agent, text)| text.split_inclusive(['.', '!', '?', '…']).map(move |one| (agent, one.trim())))
        .collect()
}

fn nobody_says_a_sentence_twice_and_few_are_much_alike() {
    for scene in ["desk", "newsroom", "studio"] {
        let place = folder();
        succeed(place.path(), &["init", "ws"]);
        let run =
            ["run", "ws", "--scene", scene, "--seed", "11", "--for", "1h", "--speed", "max", "--provider", "offline"];
        succeed(place.path(), &[&run[..], &["--events", "events.jsonl"]].concat());
        let events =
            json_lines(&std::fs::read_to_string(place.path().join("events.jsonl")).expect("they were written"));
        let (mut own, mut earlier, mut alike) = (HashSet::new(), Vec::new(), Vec::new());
        let mut by_pair: HashMap<(String, String), Vec<usize>> = HashMap::new();
        for (agent, sentence) in said(&events) {
            let pairs = pairs(sentence);
            if pairs.len() < PAIRS_AT_LEAST {
                continue;
            }
            assert!(own.insert((agent, sentence)), "{scene}: {agent} says again: {sentence}");
            let mut shared: HashMap<usize, usize> = HashMap::new();
            for before in pairs.iter().filter_map(|pair| by_pair.get(pair)).flatten() {
                *shared.entry(*before).or_default() += 1;
            }
            if shared.values().any(|count| count * 100 >= pairs.len() * ALIKE_PERCENT) {
                alike.push(sentence);
            }
            pairs.into_iter().for_each(|pair| by_pair.entry(pair).or_default().push(earlier.len()));
            earlier.push(sentence);
        }
        let (alike_count, all) = (alike.len(), earlier.len());
        assert!(all >= 40, "{scene}: {all} sentences in an hour");
        assert!(alike_count * 100 < all * ALIKE_AT_MOST_PERCENT, "{scene}: {alike_count} of {all}: {alike:#?}");
    }
}
