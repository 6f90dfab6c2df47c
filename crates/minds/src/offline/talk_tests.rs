//! Tests of conversations of the offline brain: they quote facts instead of stock lines, do not repeat themselves, and
//! end with who does what.

use std::collections::BTreeSet;

use super::OfflineProvider;
use super::examples::{ADA, BRAM, TestContext, read_request, request_for, talking};
use super::filler::quotations;
use super::text::{normalized, sentences, words};
use crate::gateway::provider::{ProviderRequest, SimulatedProvider};
use crate::mind::CallKind;
use crate::mind::context::CurrentRequest;

const BOARD: &str = "The reading corner opens on the first Saturday of December. We have eleven \
                     lamps,\nforty chairs and no sign.\n- The budget for the opening is 400, and nobody has checked the figure.\n\
                     - A map of the building is missing, and visitors get lost on the stairs.";

fn say(profile: (&str, &str), agent: &str, current: CurrentRequest, seed: u64) -> String {
    let context = TestContext::by(profile).board("News", BOARD);
    let asked = ProviderRequest { agent: agent.into(), seed, ..request_for(CallKind::Conversation, context, current) };
    let text = OfflineProvider.answer(&asked).outcome.expect("the offline brain always answers").text;
    text.lines().filter(|line| !line.starts_with('[')).collect::<Vec<_>>().join(" ")
}

/// Four turns between Ada and Bram.
fn talk(topic: &str, seed: u64) -> Vec<String> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for turn in 0..4_u32 {
        let (profile, agent, me, other) =
            if turn % 2 == 0 { (ADA, "ada-1", "Ada", "Bram") } else { (BRAM, "bram-1", "Bram", "Ada") };
        let said: Vec<(&str, &str)> = lines.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let text = say(profile, agent, talking(other, topic, &said, turn + 1), seed * 10 + u64::from(turn));
        lines.push((me, text));
    }
    lines.into_iter().map(|(name, text)| format!("{name}: {text}")).collect()
}

const RULE: &str = "House rules: Pin one idea at a time, in one sentence that anyone can act on.";

#[test]
fn a_rule_as_topic_is_quoted_and_its_words_are_not_the_topic() {
    for seed in 0..40 {
        let lines = talk(RULE, seed);
        assert!(lines[0].contains("“Pin one idea at a time, in one sentence that anyone can act on”"), "{}", lines[0]);
        let topics = ["the anyone", "the time", "the sentence"];
        assert!(!lines.iter().any(|line| topics.iter().any(|topic| line.contains(topic))), "{lines:?}");
    }
}

#[test]
fn nobody_repeats_a_sentence_in_a_conversation() {
    for seed in 0..40 {
        for topic in [RULE, "News", "the autumn fair"] {
            let lines = talk(topic, seed);
            let texts: Vec<String> =
                lines.iter().flat_map(|line| sentences(line.split_once(": ").expect("a name").1)).collect();
            // “Good.” may be said by both.
            let texts: Vec<String> = texts.into_iter().filter(|text| words(text).count() > 1).collect();
            let different: BTreeSet<String> = texts.iter().map(|text| normalized(text)).collect();
            assert_eq!(different.len(), texts.len(), "{lines:#?}");
        }
    }
}

#[test]
fn agents_quote_facts_and_not_each_others_phrases() {
    let facts = normalized(&format!("{BOARD}\n{}\n{RULE}", super::examples::RULES));
    for seed in 0..40 {
        for line in talk("News", seed) {
            for quotation in quotations(&line) {
                assert!(facts.contains(&normalized(&quotation)), "“{quotation}” is not a fact: {line}");
            }
        }
    }
}

#[test]
fn conversations_on_the_same_topic_differ() {
    let talks: BTreeSet<String> = (0..20).map(|seed| talk("News", seed).join("\n")).collect();
    assert!(talks.len() >= 19, "{} different conversations", talks.len());
}

#[test]
fn a_conclusion_says_who_does_what() {
    for seed in 0..40 {
        let end = talk("News", seed).pop().expect("four turns");
        assert!(end.contains("Ada will ") || end.contains("Ada looks over it"), "{end}");
        assert!(end.to_lowercase().contains("i will "), "{end}");
    }
}

#[test]
fn the_next_conversation_asks_about_an_agreement() {
    let note = "Agreed with Bram about the map: Bram will sketch their route, and I will count the lamps.";
    let context = || TestContext::by(ADA).board("News", BOARD).note(note);
    let asked = |seed| {
        let current = talking("Bram", "News", &[], 1);
        ProviderRequest { seed, ..request_for(CallKind::Conversation, context(), current) }
    };
    let replies: Vec<String> =
        (0..40).map(|seed| OfflineProvider.answer(&asked(seed)).outcome.expect("an answer").text).collect();
    assert!(replies.iter().filter(|reply| reply.contains("sketch your route")).count() >= 12, "{replies:#?}");
}

#[test]
fn role_lines_mention_an_amount() {
    let current = || read_request("News", "message board", "The budget for the opening is 400.");
    let asked = |seed| ProviderRequest { seed, ..request_for(CallKind::Read, TestContext::by(ADA), current()) };
    let named = |seed: &u64| {
        let text = OfflineProvider.answer(&asked(*seed)).outcome.expect("an answer").text;
        text.contains("the 400") || text.contains("The 400")
    };
    let count = (0..40u64).filter(named).count();
    assert!(count >= 15, "{count} of 40 speak of the 400");
}
