//! The speaker of a reply: an agent's prompt, tone, role and random numbers, and the sentences built from them.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Role, Tone, WordList, lines, persons, roles, tones, word_lists};
use super::draft::fill;
use super::facts::Details;
use super::phrases::{noun_phrases, rank_sentences};
use super::prompt_reader::ParsedPrompt;
use super::text::{
    imperative, lowercase_first_unless_name, normalized, prohibition, quoted, sentences, shared_count, stems,
    subject_stems, unpunctuated, words,
};
use crate::mind::context::{CurrentRequest, Line};

/// Number of words at the start of a profile that weigh more when choosing a role.
const START_WORDS: usize = 25;
/// Weight of each of these words; every other word counts 1.
const START_WEIGHT: usize = 3;
/// Maximum number of words in a quotation.
pub const MAX_QUOTED_WORDS: usize = 20;

/// A deterministic random number generator (SplitMix64).
pub struct Rng(u64);

impl Rng {
    /// Creates a generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number of the sequence.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `count - 1`, or 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next_u64() % count.max(1) as u64).unwrap_or(0)
    }

    /// Returns one of the lines, or an empty string if there are none.
    pub fn choose<'a, T: AsRef<str>>(&mut self, lines: &'a [T]) -> &'a str {
        let index = self.below(lines.len());
        lines.get(index).map(AsRef::as_ref).unwrap_or_default()
    }

    /// Returns `true` with a probability from 0 to 1.
    pub fn chance(&mut self, probability: f32) -> bool {
        (self.next_u64() % 10_000) as f32 / 10_000.0 < probability
    }
}

/// An agent that speaks, with its prompt and its random numbers.
pub struct Speaker<'a> {
    /// The data of the prompt.
    pub prompt: &'a ParsedPrompt,
    /// The tone of the profile.
    pub tone: &'static Tone,
    /// The role in the profile.
    pub role: &'static Role,
    /// The source of random choices.
    pub rng: Rng,
}

/// The analysis of a text from the point of view of a speaker.
pub struct TextAnalysis {
    /// The sentences of the text, the most relevant to the speaker first.
    pub ranked_sentences: Vec<String>,
    /// The topic: a noun phrase (“the harbour map”), or the label of the element with the text.
    pub topic: String,
    /// The stems of the text.
    pub stems: BTreeSet<String>,
    /// The details that fill the placeholders of role lines.
    pub details: Details,
}

impl<'a> Speaker<'a> {
    /// Creates the speaker of a prompt.
    pub fn new(prompt: &'a ParsedPrompt, seed: u64) -> Self {
        let (tone, role) = (tone_of(&prompt.profile), role_of(&prompt.profile));
        Self { prompt, tone, role, rng: Rng::new(seed) }
    }

    /// Analyzes a text. The topic is `fallback` if the text has no noun phrase.
    pub fn analyze(&mut self, text: &str, fallback: &str) -> TextAnalysis {
        let sentences = sentences(text);
        let ranked_sentences = rank_sentences(&sentences, &self.prompt.interests, &self.prompt.name);
        let topic = noun_phrases(&sentences, &self.prompt.interests).into_iter().next();
        let details = ranked_sentences.first().map(|first| Details::of(first, &self.prompt.interests));
        TextAnalysis {
            ranked_sentences,
            topic: topic.unwrap_or_else(|| fallback.to_owned()),
            stems: stems(text),
            details: details.unwrap_or_default(),
        }
    }

    /// Returns a random line with its placeholders filled in.
    pub fn line<T: AsRef<str>>(&mut self, lines: &[T], values: &[(&str, &str)]) -> String {
        let template = self.rng.choose(lines);
        fill(template, values)
    }

    /// Returns a random line of the role about a text that this conversation does not contain yet. Lines that mention a
    /// detail of the text are preferred. Empty if no line is left.
    pub fn role_line<T: AsRef<str>>(&mut self, lines: &[T], analysis: &TextAnalysis) -> String {
        let details = &analysis.details;
        let values = [("n", details.number.as_str()), ("d", details.date.as_str()), ("t", details.thing.as_str())];
        let conversation = normalized(&self.conversation_text());
        let filled = lines.iter().map(|line| (line.as_ref().contains('{'), fill(line.as_ref(), &values)));
        let mut fresh: Vec<(bool, String)> =
            filled.filter(|(_, line)| !line.is_empty() && !conversation.contains(&normalized(line))).collect();
        if self.rng.chance(0.7) && fresh.iter().any(|(has_detail, _)| *has_detail) {
            fresh.retain(|(has_detail, _)| *has_detail);
        }
        let index = self.rng.below(fresh.len());
        fresh.into_iter().nth(index).map(|(_, line)| line).unwrap_or_default()
    }

    /// Returns an opinion of the role.
    pub fn opinion(&mut self, analysis: &TextAnalysis) -> String {
        self.role_line(&self.role.views, analysis)
    }

    /// Returns something the speaker could do, in a form that follows “I will”.
    pub fn commitment(&mut self, analysis: &TextAnalysis) -> String {
        self.role_line(&self.role.deeds, analysis)
    }

    /// Returns one of the profile's phrases with a probability, or an empty string.
    pub fn catchphrase(&mut self, probability: f32) -> String {
        if self.rng.chance(probability) { self.rng.choose(&self.prompt.phrases).to_owned() } else { String::new() }
    }

    /// Returns a sentence on the house rule that shares most stems with `topic`, at least two. `None` if this
    /// conversation already mentions the house rules.
    pub fn relevant_rule(&mut self, topic: &BTreeSet<String>) -> Option<String> {
        if self.conversation_text().contains("house rules") {
            return None;
        }
        let rules = self.prompt.rules.iter();
        let best =
            rules.map(|rule| (shared_count(&subject_stems(rule), topic), rule)).filter(|(common, _)| *common > 1);
        let (_, rule) = best.max_by_key(|(common, _)| *common)?;
        let (asked, banned) = (imperative(rule).unwrap_or_default(), prohibition(rule).unwrap_or_default());
        let whole = quoted(rule, MAX_QUOTED_WORDS);
        let values = [("asked", asked.as_str()), ("banned", banned.as_str()), ("whole", whole.as_str())];
        let templates = match (asked.is_empty(), banned.is_empty()) {
            (false, _) => &lines().rule_asks,
            (true, false) => &lines().rule_bans,
            (true, true) => &lines().rule_says,
        };
        Some(self.line(templates, &values))
    }

    /// Returns a sentence on the speaker's next action: usually a commitment of its role, sometimes a relevant duty.
    pub fn next_action(&mut self, analysis: &TextAnalysis) -> String {
        if self.rng.chance(0.2)
            && let Some(duty) = self.relevant_duty(&analysis.stems)
        {
            return self.line(&lines().next_duty, &[("duty", &duty)]);
        }
        let commitment = self.commitment(analysis);
        // The first line is the most frequent.
        let index = [0, 0, 0, 1, 1, 2][self.rng.below(6)];
        lines().next_deed.get(index).map(|line| fill(line, &[("x", &commitment)])).unwrap_or_default()
    }

    /// Returns the lines of the current conversation; empty outside of one.
    pub fn conversation_text(&self) -> String {
        match &self.prompt.request {
            CurrentRequest::Talk { said, .. } => joined_texts(said),
            _ => String::new(),
        }
    }

    /// Returns the duty that shares most stems with `topic`, in the first person: “check every name”.
    pub fn relevant_duty(&self, topic: &BTreeSet<String>) -> Option<String> {
        let duties = self.prompt.duties.iter();
        let relevant = duties.filter_map(|duty| {
            let common = shared_count(&subject_stems(duty), topic);
            let action = imperative(sentences(duty).first()?)?;
            (common > 0 && action.split(' ').count() <= 16).then(|| (common, with_pronouns(&action, &persons().first)))
        });
        relevant.max_by_key(|(common, _)| *common).map(|(_, duty)| duty)
    }

    /// Returns a sentence that quotes a note, a board or the summary with at least two stems of `topic`, unless this
    /// conversation already quotes it.
    pub fn recall(&mut self, topic: &BTreeSet<String>) -> Option<String> {
        let conversation = normalized(&self.conversation_text());
        let best = |texts: &[String]| {
            let relevant = texts.iter().filter(|line| {
                let is_fresh = !conversation.contains(&normalized(&quoted(strip_label(line), MAX_QUOTED_WORDS)));
                is_fresh && shared_count(&stems(line), topic) >= 2 && !line.starts_with("Worked on")
            });
            relevant.max_by_key(|line| shared_count(&stems(line), topic)).cloned()
        };
        let boards = self.prompt.board_sentences();
        let sources = [
            (&self.prompt.notes, &lines().recall_note),
            (&boards, &lines().recall_board),
            (&self.prompt.summary, &lines().recall_past),
        ];
        let (line, templates) = sources.into_iter().find_map(|(source, templates)| Some((best(source)?, templates)))?;
        let quotation = quoted(strip_label(&line), MAX_QUOTED_WORDS);
        Some(self.line(templates, &[("q", &quotation)]))
    }
}

/// Returns the tone whose words occur most often in a profile; the first tone if none occurs.
pub fn tone_of(profile: &str) -> &'static Tone {
    best_match(tones(), |tone| &tone.words, 1, profile).unwrap_or(&tones()[0])
}

/// Returns the role whose words occur most often in a profile, with more weight at its start; the last role if none
/// occurs.
pub fn role_of(profile: &str) -> &'static Role {
    best_match(roles(), |role| &role.words, START_WEIGHT, profile).unwrap_or(&roles()[roles().len() - 1])
}

/// Returns the entry whose words score highest in a profile, the first among equals; `None` if no word occurs.
fn best_match<T>(
    entries: &'static [T],
    words_of: fn(&T) -> &WordList,
    start_weight: usize,
    profile: &str,
) -> Option<&'static T> {
    let lowered = profile.to_lowercase();
    let weight = |at: usize| if at < START_WORDS { start_weight } else { 1 };
    let score = |entry: &T| -> usize {
        let used = words(&lowered).enumerate().filter(|(_, word)| words_of(entry).has(word));
        used.map(|(at, _)| weight(at)).sum()
    };
    // `max_by_key` returns the last of equal entries, so that reverse order finds the first.
    let (score, best) = entries.iter().rev().map(|entry| (score(entry), entry)).max_by_key(|(score, _)| *score)?;
    (score > 0).then_some(best)
}

/// Returns the texts of a conversation, one per line.
pub fn joined_texts(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns a note without the label of its element: “The fair opens” for “News: The fair opens”.
fn strip_label(note: &str) -> &str {
    match note.split_once(": ") {
        Some((label, rest)) if label.split(' ').count() <= 3 => rest,
        _ => note,
    }
}

/// Returns a topic in a form that can follow “about”: a short topic unchanged, else the most relevant noun phrase.
pub fn topic_phrase(text: &str, interests: &BTreeSet<String>) -> Option<String> {
    let text = unpunctuated(text);
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    let asks = word_lists().asking.has(&first);
    let is_short = !text.is_empty() && text.split(' ').count() <= 5 && !text.contains([':', '?', '“']) && !asks;
    if !is_short {
        return noun_phrases(&[text.to_owned()], interests).into_iter().next();
    }
    Some(if word_lists().naming.has(&first) { lowercase_first_unless_name(text) } else { text.to_owned() })
}

/// Replaces pronouns and verb forms for another speaker or addressee: “bring my map” becomes “bring your map”.
pub fn with_pronouns(text: &str, changes: &BTreeMap<String, String>) -> String {
    let changed = text.split(' ').map(|word| {
        let (core, tail) = word.split_at(word.trim_end_matches([',', '.', ';', ':', '!', '?']).len());
        format!("{}{tail}", changes.get(core).map_or(core, String::as_str))
    });
    changed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tone_follows_from_style_words() {
        assert_eq!(tone_of("You speak in a dry, wry way.").name, "dry");
        assert_eq!(tone_of("Warm and patient.").name, "warm");
        assert_eq!(tone_of("").name, "precise", "the default tone");
    }

    #[test]
    fn the_role_follows_from_the_profile() {
        assert_eq!(role_of("You are Ada. Researcher who looks for sources.").name, "research");
        assert_eq!(role_of("You are Finn. An engineer who builds tools.").name, "building");
        assert_eq!(role_of("You are somebody.").name, "general");
    }

    #[test]
    fn equal_seeds_give_equal_sequences() {
        let numbers = |seed| (0..8).scan(Rng::new(seed), |rng, _| Some(rng.next_u64())).collect::<Vec<_>>();
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert_eq!(Rng::new(1).choose::<&str>(&[]), "");
    }

    #[test]
    fn pronouns_change_with_the_speaker() {
        let (offer, order) = ("will bring my map, and I check it", "keep your notes in order");
        assert_eq!(with_pronouns(order, &persons().first), "keep my notes in order");
        assert_eq!(with_pronouns(offer, &persons().second), "will bring your map, and you check it");
        assert_eq!(with_pronouns(offer, &persons().third), "will bring their map, and they check it");
        assert_eq!(with_pronouns("bring their map", &persons().addressed), "bring your map");
    }

    #[test]
    fn topic_phrases_are_short() {
        let none = BTreeSet::new();
        assert_eq!(topic_phrase("The autumn fair", &none).as_deref(), Some("the autumn fair"));
        assert_eq!(
            topic_phrase("Decide who writes the opening piece for Friday, please", &none).as_deref(),
            Some("the opening piece")
        );
        assert_eq!(topic_phrase("", &none), None);
    }
}
