//! An hour of each starter scene without a model: no agent repeats a sentence, and near-duplicates are rare.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::{folder, json_lines, succeed};

pub fn trials() -> Vec<Trial> {
    cases![
        near_duplicates_are_found_by_word_pairs,
        no_agent_repeats_a_sentence_in_the_desk_scene,
        no_agent_repeats_a_sentence_in_the_newsroom,
        no_agent_repeats_a_sentence_in_the_studio,
    ]
}

/// Sentences with fewer word pairs, such as a name, may be repeated.
const MIN_PAIRS: usize = 3;
/// The percentage of a sentence's word pairs that must occur in one earlier sentence for a near-duplicate.
const SIMILAR_PERCENT: usize = 60;
/// The maximum percentage of near-duplicates.
const MAX_NEAR_DUPLICATES_PERCENT: usize = 15;

/// The id of an agent, and a sentence that it said.
type Utterance = (String, String);

fn word_pairs(sentence: &str) -> BTreeSet<(String, String)> {
    let words: Vec<String> = sentence
        .split(|letter: char| !letter.is_alphanumeric() && !['\'', '’'].contains(&letter))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(2).map(|two| (two[0].clone(), two[1].clone())).collect()
}

/// Returns the sentences of a text that are long enough to count.
fn sentences<'a>(agent: &'a str, text: &'a str) -> impl Iterator<Item = Utterance> + 'a {
    let all = text.split_inclusive(['.', '!', '?', '…']).map(str::trim);
    all.filter(|sentence| word_pairs(sentence).len() >= MIN_PAIRS)
        .map(move |sentence| (agent.to_owned(), sentence.to_owned()))
}

/// Returns the sentences that agents said, in order; `kinds` are event types with the key of the text.
fn spoken(events: &[Value], kinds: &[(&str, &str)]) -> Vec<Utterance> {
    let text = |event: &Value| {
        let (_, key) = kinds.iter().find(|(kind, _)| event["type"] == *kind)?;
        Some((event["agent"].as_str()?.to_owned(), event["data"][*key].as_str()?.to_owned()))
    };
    let texts: Vec<(String, String)> = events.iter().filter_map(text).collect();
    texts.iter().flat_map(|(agent, text)| sentences(agent, text)).collect()
}

/// Returns the sentences that agents pinned, from a scene file.
fn pinned(scene: &str) -> Vec<Utterance> {
    let scene: Value = serde_yaml::from_str(scene).expect("the scene is valid YAML");
    let elements = scene["elements"].as_array().into_iter().flatten();
    let pins: Vec<&Value> = elements.filter_map(|element| element["pins"].as_array()).flatten().collect();
    let by_agents = pins.into_iter().filter(|pin| pin["author"] != "user");
    let texts = by_agents.filter_map(|pin| Some((pin["author"].as_str()?, pin["text"].as_str()?)));
    texts.flat_map(|(agent, text)| sentences(agent, text)).collect()
}

/// Returns the sentences that the same agent has said before.
fn repeated(utterances: &[Utterance]) -> Vec<&Utterance> {
    let mut before = HashSet::new();
    utterances.iter().filter(|utterance| !before.insert(*utterance)).collect()
}

/// Returns the sentences that share most of their word pairs with one earlier sentence of any agent.
fn near_duplicates(utterances: &[Utterance]) -> Vec<&str> {
    let mut by_pair: HashMap<(String, String), Vec<usize>> = HashMap::new();
    let mut similar = Vec::new();
    for (at, (_, sentence)) in utterances.iter().enumerate() {
        let word_pairs = word_pairs(sentence);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for before in word_pairs.iter().filter_map(|pair| by_pair.get(pair)).flatten() {
            *shared.entry(*before).or_default() += 1;
        }
        if shared.values().any(|count| count * 100 >= word_pairs.len() * SIMILAR_PERCENT) {
            similar.push(sentence.as_str());
        }
        word_pairs.into_iter().for_each(|pair| by_pair.entry(pair).or_default().push(at));
    }
    similar
}

fn near_duplicates_are_found_by_word_pairs() {
    let text = "I will draw the map today. Then I will draw the map. I will count the lamps and then the chairs.";
    let all: Vec<Utterance> =
        sentences("ada-1", text).chain(sentences("bram-1", "Good, Ada. We will see it.")).collect();
    assert_eq!(all.len(), 4, "a short sentence does not count: {all:?}");
    // Four of the five word pairs of the second sentence occur in the first, and one of the seven of the third.
    assert_eq!(near_duplicates(&all), ["Then I will draw the map."]);
    assert!(repeated(&all).is_empty());
    let again = ("bram-1".to_owned(), all[0].1.clone());
    let all = [&all[..], std::slice::from_ref(&again), std::slice::from_ref(&again)].concat();
    assert_eq!(near_duplicates(&all).len(), 3, "a sentence repeated by another agent is a near-duplicate");
    assert_eq!(repeated(&all), [&again], "it is a repetition when the same agent says it again");
}

fn assert_varied(scene: &str, what: &str, utterances: &[Utterance]) {
    let (repeated, similar) = (repeated(utterances), near_duplicates(utterances));
    assert!(repeated.is_empty(), "{scene}, {what}: repeated: {repeated:#?}");
    assert!(utterances.len() >= 40, "{scene}, {what}: {} sentences in an hour", utterances.len());
    let (count, all) = (similar.len(), utterances.len());
    assert!(
        count * 100 < all * MAX_NEAR_DUPLICATES_PERCENT,
        "{scene}, {what}: {count} of {all} are alike: {similar:#?}"
    );
}

/// Runs a scene of the starter kit for a simulated hour, and checks what agents say.
fn run_an_hour(scene: &str) {
    let parent = folder();
    succeed(parent.path(), &["init", "ws"]);
    let run = ["run", "ws", "--scene", scene, "--seed", "11", "--for", "1h", "--speed", "max", "--provider", "offline"];
    succeed(parent.path(), &[&run[..], &["--events", "events.jsonl"]].concat());
    let read = |path: &str| fs::read_to_string(parent.path().join(path)).expect("the file was written");
    let events = json_lines(&read("events.jsonl"));
    // First conversations and mail, and then also comments on reading and pins.
    assert_varied(scene, "in talks and mail", &spoken(&events, &[("message", "text")]));
    let mut all = spoken(&events, &[("message", "text"), ("read", "said")]);
    all.extend(pinned(&read(&format!("ws/scenes/{scene}.yaml"))));
    assert_varied(scene, "in all", &all);
}

fn no_agent_repeats_a_sentence_in_the_desk_scene() {
    run_an_hour("desk");
}

fn no_agent_repeats_a_sentence_in_the_newsroom() {
    run_an_hour("newsroom");
}

fn no_agent_repeats_a_sentence_in_the_studio() {
    run_an_hour("studio");
}
