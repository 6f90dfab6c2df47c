//! An hour of each starter scene without a model: nobody repeats itself, and hardly anybody anyone else.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{folder, json_lines, succeed};

pub fn trials() -> Vec<Trial> {
    cases![
        what_is_much_like_an_earlier_sentence_is_found_by_its_pairs_of_words,
        nobody_says_a_sentence_twice_at_the_desk,
        nobody_says_a_sentence_twice_in_the_newsroom,
        nobody_says_a_sentence_twice_in_the_studio,
    ]
}

/// Sentences with fewer pairs of words, such as a name, may be said again.
const PAIRS_AT_LEAST: usize = 3;
/// Of so many in a hundred of its pairs of words that stand in one earlier sentence, a sentence is much like that.
const ALIKE_PERCENT: usize = 60;
/// So many of a hundred sentences may be much like an earlier one of anybody's.
const ALIKE_AT_MOST_PERCENT: usize = 15;

/// A sentence, and the id of the agent that said it.
type Said = (String, String);

fn pairs(sentence: &str) -> BTreeSet<(String, String)> {
    let words: Vec<String> = sentence
        .split(|letter: char| !letter.is_alphanumeric() && !['\'', '’'].contains(&letter))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(2).map(|two| (two[0].clone(), two[1].clone())).collect()
}

/// The sentences of a text that are long enough to count.
fn sentences<'a>(agent: &'a str, text: &'a str) -> impl Iterator<Item = Said> + 'a {
    let all = text.split_inclusive(['.', '!', '?', '…']).map(str::trim);
    all.filter(|sentence| pairs(sentence).len() >= PAIRS_AT_LEAST)
        .map(move |sentence| (agent.to_owned(), sentence.to_owned()))
}

/// What agents said, in order, by the events of this type that hold it under this key.
fn said(events: &[Value], kinds: &[(&str, &str)]) -> Vec<Said> {
    let text = |event: &Value| {
        let (_, key) = kinds.iter().find(|(kind, _)| event["type"] == *kind)?;
        Some((event["agent"].as_str()?.to_owned(), event["data"][*key].as_str()?.to_owned()))
    };
    let texts: Vec<(String, String)> = events.iter().filter_map(text).collect();
    texts.iter().flat_map(|(agent, text)| sentences(agent, text)).collect()
}

/// What agents pinned up, by a scene file.
fn pinned(scene: &str) -> Vec<Said> {
    let scene: Value = serde_yaml::from_str(scene).expect("a scene is YAML");
    let elements = scene["elements"].as_array().into_iter().flatten();
    let pins: Vec<&Value> = elements.filter_map(|element| element["pins"].as_array()).flatten().collect();
    let by_agents = pins.into_iter().filter(|pin| pin["author"] != "user");
    let texts = by_agents.filter_map(|pin| Some((pin["author"].as_str()?, pin["text"].as_str()?)));
    texts.flat_map(|(agent, text)| sentences(agent, text)).collect()
}

/// The sentences that their agent has said before, word for word.
fn repeated(said: &[Said]) -> Vec<&Said> {
    let mut before = HashSet::new();
    said.iter().filter(|said| !before.insert(*said)).collect()
}

/// The sentences of which most pairs of words stand in one earlier sentence, whoever said that.
fn near_duplicates(said: &[Said]) -> Vec<&str> {
    let mut by_pair: HashMap<(String, String), Vec<usize>> = HashMap::new();
    let mut alike = Vec::new();
    for (at, (_, sentence)) in said.iter().enumerate() {
        let pairs = pairs(sentence);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for before in pairs.iter().filter_map(|pair| by_pair.get(pair)).flatten() {
            *shared.entry(*before).or_default() += 1;
        }
        if shared.values().any(|count| count * 100 >= pairs.len() * ALIKE_PERCENT) {
            alike.push(sentence.as_str());
        }
        pairs.into_iter().for_each(|pair| by_pair.entry(pair).or_default().push(at));
    }
    alike
}

fn what_is_much_like_an_earlier_sentence_is_found_by_its_pairs_of_words() {
    let text = "I will draw the map today. Then I will draw the map. I will count the lamps and then the chairs.";
    let all: Vec<Said> = sentences("ada-1", text).chain(sentences("bram-1", "Good, Ada. We will see it.")).collect();
    assert_eq!(all.len(), 4, "what is as short as a name does not count: {all:?}");
    // Four of the five pairs of the second stand in the first; one of the seven of the third does.
    assert_eq!(near_duplicates(&all), ["Then I will draw the map."]);
    assert!(repeated(&all).is_empty());
    let again = ("bram-1".to_owned(), all[0].1.clone());
    let all = [&all[..], std::slice::from_ref(&again), std::slice::from_ref(&again)].concat();
    assert_eq!(near_duplicates(&all).len(), 3, "what another one said word for word is like it, too");
    assert_eq!(repeated(&all), [&again], "and it is repeated by who says it a second time");
}

fn assert_varied(scene: &str, what: &str, said: &[Said]) {
    let (repeated, alike) = (repeated(said), near_duplicates(said));
    assert!(repeated.is_empty(), "{scene}, {what}: said again: {repeated:#?}");
    assert!(said.len() >= 40, "{scene}, {what}: {} sentences in an hour", said.len());
    let (count, all) = (alike.len(), said.len());
    assert!(count * 100 < all * ALIKE_AT_MOST_PERCENT, "{scene}, {what}: {count} of {all} are alike: {alike:#?}");
}

/// A simulated hour of a scene of the starter kit.
fn an_hour(scene: &str) {
    let place = folder();
    succeed(place.path(), &["init", "ws"]);
    let run = ["run", "ws", "--scene", scene, "--seed", "11", "--for", "1h", "--speed", "max", "--provider", "offline"];
    succeed(place.path(), &[&run[..], &["--events", "events.jsonl"]].concat());
    let read = |path: &str| fs::read_to_string(place.path().join(path)).expect("it was written");
    let events = json_lines(&read("events.jsonl"));
    // To each other, in conversations and by mail; then also about what they read, and on pins.
    assert_varied(scene, "in talks and mail", &said(&events, &[("message", "text")]));
    let mut all = said(&events, &[("message", "text"), ("read", "said")]);
    all.extend(pinned(&read(&format!("ws/scenes/{scene}.yaml"))));
    assert_varied(scene, "in all", &all);
}

fn nobody_says_a_sentence_twice_at_the_desk() {
    an_hour("desk");
}

fn nobody_says_a_sentence_twice_in_the_newsroom() {
    an_hour("newsroom");
}

fn nobody_says_a_sentence_twice_in_the_studio() {
    an_hour("studio");
}
