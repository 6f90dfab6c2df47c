//! The speaker: an agent's tone, role, duties and luck, and the sentences of which its replies are made.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Role, Tone, WordList, known, lines, persons, roles, tones};
use super::draft::fill;
use super::facts::Particulars;
use super::phrases::{noun_phrases, ranked};
use super::prompt_reader::Reading;
use super::text::{
    ban, bare, lower_first, order, quoted, sentences, shared, stems, subject_stems, unpunctuated, words,
};
use crate::mind::context::{CurrentRequest, Line};

/// So many words at the start of a profile say what somebody is.
const START_WORDS: usize = 25;
/// So much more each of them says of a role than one behind them.
const START_WEIGHT: usize = 3;
/// Most words of a quotation.
pub const QUOTED_WORDS: usize = 20;

/// Deterministic random numbers that only depend on their seed.
pub struct Dice(u64);

impl Dice {
    /// The same seed throws the same.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number (SplitMix64).
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of the first so many numbers from 0; 0 of none.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.throw() % count.max(1) as u64).unwrap_or(0)
    }

    /// One of these lines, or no words.
    pub fn line<'a, T: AsRef<str>>(&mut self, from: &'a [T]) -> &'a str {
        let at = self.below(from.len());
        from.get(at).map(AsRef::as_ref).unwrap_or_default()
    }

    /// Whether something with this chance (0 to 1) happens.
    pub fn chance(&mut self, chance: f32) -> bool {
        (self.throw() % 10_000) as f32 / 10_000.0 < chance
    }
}

/// A speaker with what it has read and its own random numbers.
pub struct Speaker<'a> {
    /// The prompt.
    pub reading: &'a Reading,
    /// How it sounds.
    pub tone: &'static Tone,
    /// What it does.
    pub role: &'static Role,
    /// Its luck.
    pub dice: Dice,
}

/// What a text is about, for this speaker.
pub struct Subject {
    /// Its sentences, those that matter most to the speaker first.
    pub ranked: Vec<String>,
    /// What to call it: a noun phrase (“the harbour map”), or the name of its place.
    pub topic: String,
    /// What it is about, by stem.
    pub stems: BTreeSet<String>,
    /// The particulars that the role's lines speak of.
    pub particulars: Particulars,
}

impl<'a> Speaker<'a> {
    /// A speaker for a prompt.
    pub fn new(reading: &'a Reading, seed: u64) -> Self {
        let (tone, role) = (tone_of(&reading.profile), role_of(&reading.profile));
        Self { reading, tone, role, dice: Dice::new(seed) }
    }

    /// What a text is about; named by `otherwise` where it names nothing itself.
    pub fn subject(&mut self, text: &str, otherwise: &str) -> Subject {
        let sentences = sentences(text);
        let ranked = ranked(&sentences, &self.reading.interests, &self.reading.name);
        let topic = noun_phrases(&sentences, &self.reading.interests).into_iter().next();
        let particulars = ranked.first().map(|first| Particulars::of(first, &self.reading.interests));
        Subject {
            ranked,
            topic: topic.unwrap_or_else(|| otherwise.to_owned()),
            stems: stems(text),
            particulars: particulars.unwrap_or_default(),
        }
    }

    /// One of the lines, filled in.
    pub fn line<T: AsRef<str>>(&mut self, lines: &[T], values: &[(&str, &str)]) -> String {
        let template = self.dice.line(lines);
        fill(template, values)
    }

    /// One of the lines of the role about something: one that names a particular of it where there is one, and
    /// none whose words were used in this conversation.
    pub fn of_role<T: AsRef<str>>(&mut self, lines: &[T], subject: &Subject) -> String {
        let about = &subject.particulars;
        let values = [("n", about.number.as_str()), ("d", about.date.as_str()), ("t", about.thing.as_str())];
        let spoken = bare(&self.spoken());
        let filled = lines.iter().map(|line| (line.as_ref().contains('{'), fill(line.as_ref(), &values)));
        let mut fresh: Vec<(bool, String)> =
            filled.filter(|(_, line)| !line.is_empty() && !spoken.contains(&bare(line))).collect();
        if self.dice.chance(0.7) && fresh.iter().any(|(is_special, _)| *is_special) {
            fresh.retain(|(is_special, _)| *is_special);
        }
        let at = self.dice.below(fresh.len());
        fresh.into_iter().nth(at).map(|(_, line)| line).unwrap_or_default()
    }

    /// The opinion of someone with this role.
    pub fn view(&mut self, subject: &Subject) -> String {
        self.of_role(&self.role.views, subject)
    }

    /// What the speaker could do about it: what follows “I will”.
    pub fn deed(&mut self, subject: &Subject) -> String {
        self.of_role(&self.role.deeds, subject)
    }

    /// Now and then one of the speaker's own phrases, word for word.
    pub fn phrase(&mut self, chance: f32) -> String {
        if self.dice.chance(chance) { self.dice.line(&self.reading.phrases).to_owned() } else { String::new() }
    }

    /// What the rules of the house say about something, if any of them does.
    pub fn rule_on(&mut self, about: &BTreeSet<String>) -> Option<String> {
        if self.spoken().contains("house rules") {
            return None;
        }
        let rules = self.reading.rules.iter();
        let best = rules.map(|rule| (shared(&subject_stems(rule), about), rule)).filter(|(common, _)| *common > 1);
        let (_, rule) = best.max_by_key(|(common, _)| *common)?;
        let (asked, banned) = (order(rule).unwrap_or_default(), ban(rule).unwrap_or_default());
        let whole = quoted(rule, QUOTED_WORDS);
        let values = [("asked", asked.as_str()), ("banned", banned.as_str()), ("whole", whole.as_str())];
        let said = match (asked.is_empty(), banned.is_empty()) {
            (false, _) => &lines().rule_asks,
            (true, false) => &lines().rule_bans,
            (true, true) => &lines().rule_says,
        };
        Some(self.line(said, &values))
    }

    /// What the speaker does next about something: a duty that fits, or what its role would do.
    pub fn next_step(&mut self, subject: &Subject) -> String {
        if self.dice.chance(0.2)
            && let Some(duty) = self.duty_on(&subject.stems)
        {
            return self.line(&lines().next_duty, &[("duty", &duty)]);
        }
        let deed = self.deed(subject);
        // The first most often.
        let at = [0, 0, 0, 1, 1, 2][self.dice.below(6)];
        lines().next_deed.get(at).map(|line| fill(line, &[("x", &deed)])).unwrap_or_default()
    }

    /// Everything said in the conversation.
    pub fn spoken(&self) -> String {
        match &self.reading.moment {
            CurrentRequest::Talk { said, .. } => texts_of(said),
            _ => String::new(),
        }
    }

    /// The duty that has most in common with something, in the first person: “check every name”.
    pub fn duty_on(&self, about: &BTreeSet<String>) -> Option<String> {
        let duties = self.reading.duties.iter();
        let fitting = duties.filter_map(|duty| {
            let common = shared(&subject_stems(duty), about);
            let doing = order(sentences(duty).first()?)?;
            (common > 0 && doing.split(' ').count() <= 16).then(|| (common, in_person(&doing, &persons().first)))
        });
        fitting.max_by_key(|(common, _)| *common).map(|(_, duty)| duty)
    }

    /// Something the speaker knows about a subject, from its notes, its past or a board.
    pub fn recall(&mut self, about: &BTreeSet<String>) -> Option<String> {
        let spoken = bare(&self.spoken());
        let known = |known: &[String]| {
            let fitting = known.iter().filter(|line| {
                let is_fresh = !spoken.contains(&bare(&quoted(without_place(line), QUOTED_WORDS)));
                is_fresh && shared(&stems(line), about) >= 2 && !line.starts_with("Worked on")
            });
            fitting.max_by_key(|line| shared(&stems(line), about)).cloned()
        };
        let boards = self.reading.board_sentences();
        let sources = [
            (&self.reading.notes, &lines().recall_note),
            (&boards, &lines().recall_board),
            (&self.reading.knows, &lines().recall_past),
        ];
        let (line, said) = sources.into_iter().find_map(|(source, said)| Some((known(source)?, said)))?;
        let quotation = quoted(without_place(&line), QUOTED_WORDS);
        Some(self.line(said, &[("q", &quotation)]))
    }
}

/// The tone whose words the profile uses most; the first where it uses none.
pub fn tone_of(profile: &str) -> &'static Tone {
    most_named(tones(), |tone| &tone.words, 1, profile).unwrap_or(&tones()[0])
}

/// The role whose words the profile uses most; words at its start weigh more. The last where it uses none.
pub fn role_of(profile: &str) -> &'static Role {
    most_named(roles(), |role| &role.words, START_WEIGHT, profile).unwrap_or(&roles()[roles().len() - 1])
}

/// That of which a profile uses most words, the first among equals.
fn most_named<T>(all: &'static [T], of: fn(&T) -> &WordList, start_weight: usize, profile: &str) -> Option<&'static T> {
    let lowered = profile.to_lowercase();
    let weight = |at: usize| if at < START_WORDS { start_weight } else { 1 };
    let score = |one: &T| -> usize {
        let used = words(&lowered).enumerate().filter(|(_, word)| of(one).has(word));
        used.map(|(at, _)| weight(at)).sum()
    };
    // Of equals the last is the greatest, so they are gone through from the end.
    let (score, best) = all.iter().rev().map(|one| (score(one), one)).max_by_key(|(score, _)| *score)?;
    (score > 0).then_some(best)
}

/// What was said, a line each.
pub fn texts_of(said: &[Line]) -> String {
    said.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// A note without the element that it names first: “News: The fair opens” is about the fair.
fn without_place(note: &str) -> &str {
    match note.split_once(": ") {
        Some((place, rest)) if place.split(' ').count() <= 3 => rest,
        _ => note,
    }
}

/// A topic in a form that can follow “about”: short ones unchanged, others reduced to their noun phrase.
pub fn topic_in(text: &str, interests: &BTreeSet<String>) -> Option<String> {
    let text = unpunctuated(text);
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    let asks = known().asking.has(&first);
    let is_short = !text.is_empty() && text.split(' ').count() <= 5 && !text.contains([':', '?', '“']) && !asks;
    if !is_short {
        return noun_phrases(&[text.to_owned()], interests).into_iter().next();
    }
    Some(if known().naming.has(&first) { lower_first(text) } else { text.to_owned() })
}

/// What somebody says as it is said by or to another, by the words that change: “bring my map” becomes “bring your map”.
pub fn in_person(text: &str, changes: &BTreeMap<String, String>) -> String {
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
    fn style_words_choose_the_tone() {
        assert_eq!(tone_of("You speak in a dry, wry way.").name, "dry");
        assert_eq!(tone_of("Warm and patient.").name, "warm");
        assert_eq!(tone_of("").name, "precise", "without such words an agent is matter-of-fact");
    }

    #[test]
    fn a_profile_finds_its_role() {
        assert_eq!(role_of("You are Ada. Researcher who looks for sources.").name, "research");
        assert_eq!(role_of("You are Finn. An engineer who builds tools.").name, "building");
        assert_eq!(role_of("You are somebody.").name, "general");
    }

    #[test]
    fn dice_throw_the_same_for_the_same_seed() {
        let throws = |seed| (0..8).scan(Dice::new(seed), |dice, _| Some(dice.throw())).collect::<Vec<_>>();
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
        assert_eq!(Dice::new(1).line::<&str>(&[]), "");
    }

    #[test]
    fn persons_change_with_the_speaker() {
        let (offer, order) = ("will bring my map, and I check it", "keep your notes in order");
        assert_eq!(in_person(order, &persons().first), "keep my notes in order");
        assert_eq!(in_person(offer, &persons().second), "will bring your map, and you check it");
        assert_eq!(in_person(offer, &persons().third), "will bring their map, and they check it");
        assert_eq!(in_person("bring their map", &persons().addressed), "bring your map");
    }

    #[test]
    fn topics_are_short() {
        let none = BTreeSet::new();
        assert_eq!(topic_in("The autumn fair", &none).as_deref(), Some("the autumn fair"));
        assert_eq!(
            topic_in("Decide who writes the opening piece for Friday, please", &none).as_deref(),
            Some("the opening piece")
        );
        assert_eq!(topic_in("", &none), None);
    }
}
